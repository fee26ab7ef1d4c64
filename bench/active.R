# Labels that are asked for against labels at random: how many are needed until the test error is
# within half a point of that of all training rows' labels? Two classes: image and waveform of
# Raetsch's sets (split1), digit 3 of USPS against the rest.
#
# Model: probit, one kernel (image: a length scale for each input), hyperparameters learned by the
# evidence on the labels that are there, from where the round before ended; inputs are scaled by all
# training rows, whose inputs are known. Each run begins with 20 random labels, and 5 more where one
# class is missing; a round adds a tenth of the labels that are there, at least 5, by
# next_rows(score = "information") or at random. The error of all labels is that of the same model
# on the training rows (USPS: on a basis of 500 of them). Test rows decide nothing but where the
# counting ends.
#
# Last, batches: by how much 100 labels, asked for one at a time and in batches of 10, make the
# latent function at 200 rows less uncertain, in nats of its joint distribution beside noise of
# variance 1; the kernel is that learned from the first 40 labels.
#
# Usage: Rscript bench/active.R [seeds, 20 with FULL=1, else 2] [sets, as image,waveform,usps3]
# [picture.png: the curves, or ""] [information, or what is to fall elsewhere: variance, error,
# entropy, by score = "integrated" with all rows that have no label as target]; the data folder is
# SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

FULL <- Sys.getenv("FULL") == "1"
SEEDS <- argument(1L, if (FULL) 20 else 2)
SETS <- if (length(commandArgs(TRUE)) < 2L) c("image", "waveform", "usps3") else
  strsplit(commandArgs(TRUE)[[2L]], ",")[[1L]]
PICTURE <- if (length(commandArgs(TRUE)) > 2L && nzchar(commandArgs(TRUE)[[3L]])) {
  commandArgs(TRUE)[[3L]]
}
ASK_BY <- if (length(commandArgs(TRUE)) > 3L) commandArgs(TRUE)[[4L]] else "information"

BESIDE_CHANCE <- ASK_BY == "information" # the labels at random are the same whatever is asked by

ask_rows <- function(fit, rows, k) {
  if (ASK_BY == "information") next_rows(fit, rows, k)
  else next_rows(fit, rows, k, score = "integrated", measure = ASK_BY)
}
POINTS <- 0.5
BEGIN <- 20
MOST <- 1500 # labels a run ends with in any case

raetsch <- function(name) {
  rows <- read_data("raetsch", name)
  inputs <- as.matrix(rows[, grep("^x", names(rows))])
  train <- rows$split1 == "train"
  inputs <- scaled_by(inputs, inputs[train, ])
  y <- factor(rows$label)
  list(x = inputs[train, ], y = y[train], new_x = inputs[!train, ], new_y = y[!train])
}

usps3 <- function() {
  train <- read_usps("train")
  test <- read_usps("test")
  three <- function(digit) factor(digit == 3)
  # one scale for all pixels, so that a length scale of 1 is that of the first principal directions
  unit <- sqrt(sum(apply(train$x, 2L, var))) / 4
  list(x = train$x / unit, y = three(train$digit), new_x = test$x / unit, new_y = three(test$digit))
}

read_set <- function(name) if (name == "usps3") usps3() else raetsch(name)

# start: a fit whose hyperparameters the search begins at, or NULL
fit_labels <- function(set, rows, ard, start = NULL, ...) {
  value <- if (!is.null(start)) coef(start)
  part <- function(name, count) { # an input that is constant so far has no length scale
    found <- unname(value[grepl(paste0("^", name), names(value))])
    if (length(found) == count) found
  }
  moves <- sum(apply(set$x[rows, ], 2L, function(x) min(x) < max(x)))
  scales <- part("lengthscale", if (ard) moves else 1L)
  kernel <- kernel_rbf(part("variance", 1L), scales, ard = ard)
  sparsegp(set$x[rows, ], set$y[rows], likelihood = "probit", scale = FALSE, kernel = kernel, ...)
}

error_of <- function(fit, set) 100 * mean(predict(fit, set$new_x, type = "class") != set$new_y)

# Labels and test errors of one run.
run <- function(set, ard, seed, asks, enough) {
  set.seed(seed)
  order <- sample.int(length(set$y))
  labelled <- order[seq_len(BEGIN)]
  while (length(unique(set$y[labelled])) < 2L) labelled <- order[seq_len(length(labelled) + 5L)]
  fit <- NULL
  labels <- error <- numeric()
  repeat {
    fit <- fit_labels(set, labelled, ard, fit)
    labels <- c(labels, length(labelled))
    error <- c(error, error_of(fit, set))
    done <- length(error) > 1L && all(utils::tail(error, 2L) <= enough)
    if (done || length(labelled) >= min(MOST, length(order))) return(data.frame(labels, error))
    left <- setdiff(order, labelled)
    k <- min(max(5L, length(labelled) %/% 10L), length(left))
    new <- if (asks) left[ask_rows(fit, set$x[left, ], k)] else left[seq_len(k)]
    labelled <- c(labelled, new)
  }
}

# The number of labels from which two rounds in a row have an error of at most `enough`: a single
# one may be luck. Between the round before and the first of them by a line.
needed <- function(course, enough) {
  good <- course$error <= enough
  at <- which(good & c(good[-1L], FALSE))[1L]
  if (is.na(at)) return(Inf)
  if (at == 1L) return(course$labels[1L])
  two <- course[at - 1:0, ]
  two$labels[1L] + (two$error[1L] - enough) / (two$error[1L] - two$error[2L]) * diff(two$labels)
}

compare_on <- function(name) {
  set <- read_set(name)
  ard <- name == "image"
  basis <- if (length(set$y) > 2000) method_ep(size = 500)
  all <- fit_labels(set, seq_along(set$y), ard, method = basis)
  enough <- error_of(all, set) + POINTS
  cat(sprintf("%s: %d rows, %d to test; error of all labels %.2f %%, enough %.2f %%\n", name,
              length(set$y), length(set$new_y), enough - POINTS, enough))
  runs <- do.call(rbind, lapply(seq_len(SEEDS), function(seed) {
    do.call(rbind, lapply(c(TRUE, if (BESIDE_CHANCE) FALSE), function(asks) {
      course <- run(set, ard, seed, asks, enough)
      count <- needed(course, enough)
      cat(sprintf("  seed %2d %-8s %6.0f labels\n", seed, if (asks) "asked" else "random", count))
      data.frame(set = name, seed = seed, asks = asks, needed = count, course)
    }))
  }))
  median_of <- function(asks) {
    median(tapply(runs$needed[runs$asks == asks], runs$seed[runs$asks == asks], `[`, 1L))
  }
  cat(sprintf("%s: median asked %.0f, random %.0f: a share of %.2f\n", name, median_of(TRUE),
              median_of(FALSE), median_of(TRUE) / median_of(FALSE)))
  bench_row(paste0("Labels needed for an error within ", POINTS, " percentage points of that of ",
                   "all labels, chosen by ", ASK_BY, ", median of ", SEEDS, " seeds"),
            data = name, "error of all" = enough - POINTS, asked = median_of(TRUE),
            random = if (BESIDE_CHANCE) median_of(FALSE) else "")
  runs$enough <- enough
  runs
}

# ---- Batches ----

# Returns the information of 100 labels; batch: how many come in at a time.
gathered <- function(set, ard, seed, batch, count = 100) {
  set.seed(seed)
  order <- sample.int(length(set$y))
  first <- fit_labels(set, order[1:40], ard)
  labelled <- order[1:40]
  fit <- first
  while (length(labelled) < 40 + count) {
    left <- setdiff(order, labelled)
    labelled <- c(labelled, left[next_rows(fit, set$x[left, ], batch)])
    fit <- fit_labels(set, labelled, ard, first, learn = FALSE)
  }
  probe <- set$x[utils::tail(order, 200L), ]
  log_volume <- function(fit) {
    joint <- predict(fit, probe, type = "latent", covariance = TRUE)$covariance
    as.double(determinant(diag(200) + joint)$modulus) / 2
  }
  log_volume(first) - log_volume(fit)
}

batches <- function(name) {
  set <- read_set(name)
  gain <- vapply(seq_len(SEEDS), function(seed) {
    ard <- name == "image"
    c(one = gathered(set, ard, seed, 1L), ten = gathered(set, ard, seed, 10L))
  }, c(one = 0, ten = 0))
  mean <- rowMeans(gain)
  cat(sprintf("%s: 100 labels have %.2f nats one at a time, %.2f in batches of 10, %.1f %% less\n",
              name, mean[["one"]], mean[["ten"]], 100 * (1 - mean[["ten"]] / mean[["one"]])))
  bench_row(paste("Information of 100 labels in nats, mean of", SEEDS, "seeds"), data = name,
            "one at a time" = mean[["one"]], "by ten" = mean[["ten"]])
}

# ---- Picture ----

draw <- function(all) {
  png(PICTURE, 330 * length(SETS), 330)
  par(mfrow = c(1L, length(SETS)), mar = c(4, 4, 2, 1))
  for (name in SETS) {
    runs <- all[all$set == name, ]
    plot(runs$labels, runs$error, type = "n", log = "x", xlab = "labels", ylab = "test error, %",
         main = name)
    for (asks in c(FALSE, TRUE)) {
      some <- runs[runs$asks == asks, ]
      col <- if (asks) "#0072B2" else "grey50"
      for (seed in unique(some$seed)) {
        lines(error ~ labels, some[some$seed == seed, ], col = adjustcolor(col, 0.35))
      }
    }
    abline(h = runs$enough[1L], lty = 2)
    legend("topright", c("asked", "random"), col = c("#0072B2", "grey50"), lwd = 2, bty = "n")
  }
  dev.off()
}

all <- do.call(rbind, lapply(SETS, compare_on))
if (!is.null(PICTURE)) draw(all)
if (ASK_BY == "information") for (name in SETS) batches(name)
