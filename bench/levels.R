# What effects of levels are worth to the default fit (R/strategy-levels.R): fits with the axis and
# without it, as policy$many_levels = Inf has them, of simulated random effects and of sets of lme4,
# nlme and mlmRev with factors of many levels; packages that are missing are left out.
#
# Usage: Rscript bench/levels.R [SEED]: of the simulations (3) and of the split. Two thirds of the
# observations, at most 4000, are for training; of the others at most 1500 of levels that were seen
# there are the test.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  for (name in c("common.R", "zoo_sets.R")) source(file.path(dirname(self), name))
})

MOST_TESTED <- 1500L

seed <- c(as.integer(commandArgs(TRUE)), 3L)[1L]
internal <- asNamespace("sparsegp")

# ---- Sets: list(formula, train, test) ----

split_rows <- function(rows, formula) {
  rows <- as.data.frame(rows)[all.vars(formula)]
  set.seed(seed)
  order <- sample.int(nrow(rows))
  n <- min(MOST_TRAINING, round(2 / 3 * nrow(rows)))
  train <- droplevels(rows[order[seq_len(n)], ])
  test <- rows[utils::head(order[-seq_len(n)], MOST_TESTED), ]
  list(formula = formula, train = train, test = without_new_levels(test, train))
}

# sds: standard deviation of the effects of each factor, named by its number of levels; slope: that
# of each level's own slope of x.
simulated <- function(sds, slope = 0) {
  set.seed(seed)
  n <- MOST_TRAINING + MOST_TRAINING %/% 2L
  d <- data.frame(x = stats::runif(n, -2, 2), z = stats::rnorm(n),
                  k = factor(sample(letters[1:4], n, TRUE)))
  y <- sin(2 * d$x) + d$z / 2 + c(-0.5, 0, 0.2, 0.4)[d$k] + stats::rnorm(n)
  for (levels in names(sds)) {
    count <- as.integer(levels)
    level <- sample.int(count, n, TRUE, stats::rexp(count))
    intercepts <- stats::rnorm(count, 0, sds[[levels]])
    y <- y + intercepts[level] + stats::rnorm(count, 0, slope)[level] * d$x
    d[[paste0("g", levels)]] <- factor(level)
  }
  split_rows(cbind(d, y), stats::reformulate(names(d), "y"))
}

of_package <- function(package, data, formula) {
  if (!requireNamespace(package, quietly = TRUE)) return(NULL)
  split_rows(zoo_object(package, data), formula)
}

SETS <- list(
  "50 levels" = function() simulated(c("50" = 0.7)),
  "300 levels" = function() simulated(c("300" = 0.7)),
  "2000 levels" = function() simulated(c("2000" = 0.7)),
  "50 and 600 levels, crossed" = function() simulated(c("50" = 0.5, "600" = 0.7)),
  "40 levels with slopes" = function() simulated(c("40" = 0.7), 1),
  "100 levels without effect" = function() simulated(c("100" = 0)),
  "3000 levels without effect" = function() simulated(c("3000" = 0)),
  "lme4/InstEval" = function() {
    of_package("lme4", "InstEval", y ~ s + d + studage + lectage + service + dept)
  },
  "nlme/MathAchieve" = function() {
    of_package("nlme", "MathAchieve", MathAch ~ School + Minority + Sex + SES)
  },
  "nlme/bdf" = function() {
    of_package("nlme", "bdf", langPOST ~ schoolNR + sex + IQ.verb + IQ.perf + ses)
  },
  "nlme/Milk" = function() of_package("nlme", "Milk", protein ~ Time + Cow + Diet),
  "mlmRev/Exam" = function() {
    of_package("mlmRev", "Exam", normexam ~ standLRT + sex + school + type)
  },
  "mlmRev/ScotsSec" = function() {
    of_package("mlmRev", "ScotsSec", attain ~ verbal + social + primary + second + sex)
  }
)

# ---- Fits ----

# Log predictive density of each test observation, CPU seconds and inducing points.
fitted_set <- function(set) {
  took <- system.time(fit <- suppressWarnings(suppressMessages(sparsegp(set$formula, set$train))))
  y <- set$test[[all.vars(set$formula)[1L]]]
  quantiles <- suppressMessages(predict(fit, set$test, type = "quantile", at = QUANTILES))
  tried <- fit$choices[fit$choices$stage == "effects of levels", ]
  list(lpd = quantile_density(quantiles, y), seconds = sum(took[1:2]), points = nrow(basis(fit)),
       effects = if (nrow(tried)) tried$candidate[tried$taken] else "not tried")
}

for (name in names(SETS)) {
  set <- SETS[[name]]()
  if (is.null(set)) next
  before <- with_internal("policy", replace(internal$policy, "many_levels", Inf), fitted_set(set))
  now <- fitted_set(set)
  gain <- now$lpd - before$lpd
  bench_row("Default fits without and with effects of levels: log density of test observations",
            set = name, rows = nrow(set$train), effects = now$effects, without = mean(before$lpd),
            with = mean(now$lpd), gain = mean(gain),
            "standard error" = stats::sd(gain) / sqrt(length(gain)),
            points = paste(before$points, now$points, sep = ", "),
            "CPU s" = paste(round(c(before$seconds, now$seconds), 1L), collapse = ", "))
  print(utils::tail(bench_found$tables[[1L]], 1L), row.names = FALSE)
}
