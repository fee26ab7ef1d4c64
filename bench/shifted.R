# Tests that are not drawn as the training observations were: later times, other places, other
# groups, beyond the range of an input. Default fits beside tuned peers (bench/zoo_peers.R): mean
# log density or log probability of the test observations, error, and how many of 90 % hold.
#
# Usage: Rscript bench/shifted.R [SET]...     of the sets below; all by default
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  for (name in c("common.R", "zoo_sets.R", "zoo_peers.R", "zoo_scores.R")) {
    source(file.path(dirname(self), name))
  }
})

# A set of all observations of which `is_new` are the test; the columns `drop` are no inputs.
shifted <- function(d, response, is_new, drop = character(), note) {
  is_new <- eval(substitute(is_new), d)
  d <- as.data.frame(d)[setdiff(names(d), drop)]
  whole <- stats::complete.cases(d)
  numbers <- is.numeric(d[[response]])
  list(kind = if (numbers) "number" else "class", response = response, note = note,
       formula = stats::reformulate(".", as.name(response)),
       train = d[whole & !is_new, ], test = d[whole & is_new, ])
}
plain_frame <- function(d) { # without classes of package nlme
  data.frame(lapply(d, function(x) if (is.factor(x)) factor(as.character(x)) else c(x)))
}

SETS <- list(
  air = function() shifted(airquality, "Ozone", Month >= 8, "Month", "later months"),
  drivers = function() {
    d <- as.data.frame(unclass(Seatbelts))
    d <- data.frame(d[c("drivers", "kms", "PetrolPrice")], month = factor(cycle(Seatbelts)),
                    year = floor(as.numeric(time(Seatbelts))))
    shifted(d, "drivers", year >= 1980, character(), "later years")
  },
  quakes = function() shifted(quakes, "mag", long > 182, character(), "other places"),
  boston = function() shifted(MASS::Boston, "medv", rad == 24, c("rad", "tax"), "other places"),
  chicks = function() {
    shifted(plain_frame(ChickWeight), "weight", Chick %in% as.character(seq(5, 50, 5)), "Chick",
            "other chicks")
  },
  growth = function() {
    shifted(plain_frame(ChickWeight), "weight", Time > 16, "Chick", "later times")
  },
  schools = function() {
    d <- plain_frame(nlme::bdf)[c("schoolNR", "langPOST", "IQ.verb", "IQ.perf", "sex", "ses",
                                  "Minority", "aritPRET", "langPRET")]
    shifted(d, "langPOST", as.integer(factor(schoolNR)) %% 4 == 0, "schoolNR", "other schools")
  },
  teeth = function() {
    shifted(plain_frame(nlme::Orthodont), "distance", age > 12, "Subject", "later ages")
  },
  sleep = function() {
    shifted(lme4::sleepstudy, "Reaction", Days > 6, "Subject", "later days")
  },
  claims = function() {
    d <- data.frame(MASS::Insurance)
    d$Group <- factor(d$Group, ordered = FALSE)
    d$Age <- factor(d$Age, ordered = FALSE)
    shifted(d, "Claims", District == "4", "District", "another district")
  },
  pima = function() {
    shifted(rbind(MASS::Pima.tr, MASS::Pima.te), "type", age > 40, character(), "older women")
  },
  births = function() {
    d <- transform(MASS::birthwt, low = factor(low), race = factor(race))
    shifted(d, "low", age >= 28, "bwt", "older mothers")
  },
  car90 = function() {
    d <- rpart::car.test.frame[c("Price", "Mileage", "Weight", "Disp.", "HP", "Type")]
    shifted(d, "Mileage", Price > 15000, character(), "dearer cars")
  },
  kyphosis = function() {
    shifted(rpart::kyphosis, "Kyphosis", Age > 120, character(), "older children")
  }
)

WHO <- c("ours", "mgcv", "ranger", "e1071")

# Scores of the scale of the response that the peer itself prefers by held-out observations.
one_score <- function(set, who) {
  set.seed(1)
  found <- list()
  failed <- tryCatch({
    score_set(set, who, function(part, values) {
      found[[part]] <<- utils::modifyList(as.list(found[[part]]), values)
    })
    NULL
  }, error = conditionMessage)
  if (!is.null(failed)) cat(who, "stopped:", failed, "\n")
  if (is.null(found$plain)) return(NULL)
  on_log <- isTRUE(mean(found$log$held) > mean(found$plain$held))
  best <- if (on_log) found$log else found$plain
  y <- set$test[[set$response]]
  error <- if (set$kind == "number") sqrt(mean((best$mean - y)^2)) else mean(best$wrong)
  list(each = best$density,
       row = data.frame(density = mean(pmax(best$density, -20)), error = error,
                        inside = if (set$kind == "number") mean(best$inside) else NA,
                        seconds = best$seconds))
}

asked <- commandArgs(TRUE)
for (name in if (length(asked)) asked else names(SETS)) {
  set <- SETS[[name]]()
  scores <- Filter(Negate(is.null), sapply(WHO, one_score, set = set, simplify = FALSE))
  for (who in names(scores)) {
    gap <- pmax(scores$ours$each, -20) - pmax(scores[[who]]$each, -20)
    bench_row("Test data that differ from the training data", set = name, test = set$note,
              rows = nrow(set$train), new = nrow(set$test), who = who, scores[[who]]$row,
              ahead = mean(gap), se = stats::sd(gap) / sqrt(length(gap)))
  }
  cat("\n", name, ": ", set$note, ", ", nrow(set$train), " and ", nrow(set$test), " rows\n",
      sep = "")
  print(do.call(rbind, lapply(scores, `[[`, "row")), digits = 3)
}
