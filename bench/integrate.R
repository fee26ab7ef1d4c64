# Hyperparameters integrated out: what it is worth, and what it costs.
#
#   Rscript bench/integrate.R coverage [repetitions]   functions drawn from the prior
#   Rscript bench/integrate.R mcmc                     against Markov chains, small sets of R
#   Rscript bench/integrate.R zoo                      sets of at most 300 rows of SPARSEGP_DATA
#   Rscript bench/integrate.R ard                      32 inputs, 300 rows
#   Rscript bench/integrate.R cost                     evaluations and time
#
# Several may be named; without names all are run, in some two hours of a core.
#
# Tables go to stdout; bench/results/integrate.md has what came of it.

library(sparsegp)

RULES <- c("none", "default", "ccd")

fit_by <- function(rule, ...) {
  if (rule == "default") sparsegp(...) else sparsegp(..., control = gp_control(integrate = rule))
}

# ---- Coverage ----

# A function of `inputs` inputs on the unit cube drawn from the prior: length scale 0.4 in the first
# two, 20 in the others, sd 1, noise 0.3; n rows and 100 more.
drawn_rows <- function(n, inputs) {
  x <- matrix(stats::runif((n + 100) * inputs), ncol = inputs)
  scale <- c(0.4, 0.4, rep(20, 3))[seq_len(inputs)]
  K <- exp(-as.matrix(stats::dist(t(t(x) / scale)))^2 / 2)
  y <- drop(t(chol(K + 1e-8 * diag(nrow(K)))) %*% stats::rnorm(nrow(K))) +
    0.3 * stats::rnorm(nrow(K))
  data.frame(y, x)
}

SETTINGS <- data.frame(n = c(15, 30, 30, 60), inputs = c(1, 1, 5, 5))

coverage_of <- function(n, inputs, repetitions) {
  kernel <- if (inputs > 1) kernel_rbf(ard = TRUE)
  each <- lapply(seq_len(repetitions), function(repetition) {
    set.seed(1000 * n + 100 * inputs + repetition)
    d <- drawn_rows(n, inputs)
    new <- d[-seq_len(n), ]
    t(vapply(RULES, function(rule) {
      fit <- suppressWarnings(fit_by(rule, y ~ ., d[seq_len(n), ], kernel = kernel))
      p <- predict(fit, new, interval = "prediction", level = 0.9)
      inside <- new$y >= p[, "lwr"] & new$y <= p[, "upr"]
      tails <- predict(fit, new, interval = "prediction", level = 0.98)
      c(inside = mean(inside), width = mean(p[, "upr"] - p[, "lwr"]),
        inside98 = mean(new$y >= tails[, "lwr"] & new$y <= tails[, "upr"]),
        rmse = sqrt(mean((p[, "fit"] - new$y)^2)))
    }, numeric(4L)))
  })
  mean <- Reduce(`+`, each) / repetitions
  spread <- apply(vapply(each, function(one) one[, "inside"], numeric(length(RULES))), 1L,
                  stats::sd) / sqrt(repetitions)
  data.frame(n, inputs, rule = RULES, mean, se = spread, row.names = NULL)
}

run_coverage <- function(repetitions = 60) {
  out <- do.call(rbind, Map(coverage_of, SETTINGS$n, SETTINGS$inputs, repetitions))
  print(format(out, digits = 3), row.names = FALSE)
}

# ---- Against Markov chains ----

SMALL <- list(
  cars = list(dist ~ speed, cars), women = list(weight ~ height, women),
  mtcars = list(mpg ~ wt + hp, mtcars), trees = list(Volume ~ Girth + Height, trees),
  faithful = list(waiting ~ eruptions, faithful[seq(1, 272, by = 7), ]),
  pressure = list(log(pressure) ~ temperature, pressure),
  stackloss = list(stack.loss ~ Air.Flow + Water.Temp, stackloss),
  swiss = list(Fertility ~ Education + Catholic, swiss),
  nile = list(y ~ t, data.frame(y = c(Nile)[1:40], t = 1:40)),
  am = list(am ~ wt, transform(mtcars, am = factor(am)), likelihood = "probit"),
  carb = list(carb ~ wt, mtcars, likelihood = "poisson"),
  attitude = list(rating ~ complaints + learning, attitude)
)

# Predictions at the rows, and at these moved by half the distance between neighbours: differences
# of means in standard deviations, ratios of standard deviations, on the scale of the link. Draws of
# two chains, compared likewise, say how far the reference itself is known.
against_chains <- function() {
  for (name in names(SMALL)) {
    set <- SMALL[[name]]
    predicted <- function(rule, seed = 1) {
      set.seed(seed)
      fit <- suppressWarnings(do.call(sparsegp, c(set, integrate = rule, structure = "fixed")))
      predict(fit, type = "link", se.fit = TRUE)
    }
    chains <- list(predicted("mcmc", 1), predicted("mcmc", 2))
    reference <- list(fit = (chains[[1L]]$fit + chains[[2L]]$fit) / 2,
                      se.fit = sqrt((chains[[1L]]$se.fit^2 + chains[[2L]]$se.fit^2) / 2))
    line <- function(label, found, reference) {
      off <- abs(found$fit - reference$fit) / reference$se.fit
      ratio <- found$se.fit / reference$se.fit
      cat(sprintf("%-10s %-8s mean off %.3f sd (largest %.3f); sd ratio %.3f (%.3f to %.3f)\n",
                  name, label, mean(off), max(off), mean(ratio), min(ratio), max(ratio)))
    }
    line("chains", chains[[1L]], chains[[2L]])
    for (rule in c("none", "ccd")) line(rule, predicted(rule), reference)
  }
}

# ---- Real sets ----

internal <- asNamespace("sparsegp")

# Log predictive density of new rows: of numbers by differences of the distribution function
log_density <- function(fit, new, y) {
  if (internal$codec_of(fit)$labelled) {
    prob <- predict(fit, new, type = "prob")
    return(log(prob[cbind(seq_along(y), match(as.character(y), colnames(prob)))]))
  }
  sd <- stats::sd(y) * 1e-4
  latent <- internal$new_latent(fit, new)
  below <- function(y) internal$response_tails(fit, y, latent)$below
  log(pmax((below(y + sd) - below(y - sd)) / (2 * sd), 1e-300))
}

# Fits of the rows at the mode and by default, or NULL where the default is the mode.
both_fits <- function(formula, rows) {
  fits <- lapply(list("none", NULL), function(rule) {
    suppressMessages(suppressWarnings(sparsegp(formula, rows,
                                               control = gp_control(integrate = rule))))
  })
  if (internal$has_members(fits[[2L]])) fits
}

# By how much the default's log densities are higher, row by row: leave-one-out of all rows, and of
# a quarter of them as a test, in two splits.
gains_of <- function(d, response) {
  formula <- stats::reformulate(".", as.name(response))
  fits <- both_fits(formula, d)
  loo <- if (!is.null(fits)) loo_lpd(fits[[2L]]) - loo_lpd(fits[[1L]])
  test <- unlist(lapply(1:2, function(split) {
    set.seed(split)
    held <- sample(nrow(d), nrow(d) %/% 4L)
    fits <- both_fits(formula, d[-held, ])
    if (is.null(fits)) return(NULL)
    each <- lapply(fits, function(fit) {
      suppressWarnings(log_density(fit, d[held, ], d[[response]][held]))
    })
    each[[2L]] - each[[1L]]
  }))
  list(loo = loo, test = test)
}

gain_words <- function(gain) {
  if (is.null(gain)) return("not integrated | ")
  gain <- gain[is.finite(gain)]
  sprintf("%+.3f | %.3f", mean(gain), stats::sd(gain) / sqrt(length(gain)))
}

against_mode <- function() {
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "zoo_sets.R"))
  sets <- zoo_table()
  sums <- c(loo = 0, test = 0)
  cat("| set | rows | inputs | leave-one-out, nats a row | se | test, nats a row | se |\n",
      "|---|---:|---:|---:|---:|---:|---:|\n", sep = "")
  for (i in seq_len(nrow(sets))) {
    set <- sets[i, ]
    d <- tryCatch(zoo_rows(set), error = function(e) NULL)
    if (is.null(d) || nrow(d) > 300L) next
    gains <- tryCatch(gains_of(d, set$response), error = function(e) {
      message(set$name, ": ", conditionMessage(e))
    })
    if (is.null(gains)) next
    sums <- sums + vapply(gains, function(gain) sum(gain[is.finite(gain)]), 0)
    cat(sprintf("| %s | %d | %d | %s | %s |\n", set$name, nrow(d), ncol(d) - 1L,
                gain_words(gains$loo), gain_words(gains$test)))
  }
  cat(sprintf("\nSums: %.1f nats leave-one-out, %.1f of test observations.\n", sums[["loo"]],
              sums[["test"]]))
}

# ---- 32 inputs, cost ----

many_inputs <- function() {
  for (seed in 1:3) {
    set.seed(seed)
    x <- matrix(stats::rnorm(800 * 32), ncol = 32)
    f <- sin(2 * x[, 1]) + x[, 2] * x[, 3] + 0.5 * x[, 4]
    d <- data.frame(y = f + 0.3 * stats::rnorm(800), x)
    for (ard in c(FALSE, TRUE)) for (rule in c("none", "ccd")) {
      time <- system.time(fit <- suppressWarnings(
        sparsegp(y ~ ., d[1:300, ], kernel = kernel_rbf(ard = ard),
                 control = gp_control(integrate = rule))))[[3L]]
      lpd <- log_density(fit, d[-(1:300), ], d$y[-(1:300)])
      cat(sprintf("seed %d %-8s %-5s test log density %.3f a row, %.1f s\n", seed,
                  if (ard) "32 scales" else "one", rule, mean(lpd), time))
    }
  }
}

# CPU seconds of a fit at its mode and integrated, and of an evaluation with gradient.
costs <- function() {
  for (lik in c("gaussian", "probit")) for (inputs in c(1, 3, 8)) for (n in c(60, 300)) {
    set.seed(1)
    x <- matrix(stats::rnorm(n * inputs), n)
    y <- sin(2 * x[, 1L]) + 0.3 * stats::rnorm(n)
    if (lik == "probit") y <- factor(y > 0)
    fit_time <- function(rule) {
      sum(system.time(fit <<- suppressWarnings(
        sparsegp(x, y, lik, kernel_rbf(ard = TRUE), control = gp_control(integrate = rule))
      ))[1:2])
    }
    fit <- NULL
    mode <- fit_time("none")
    surface <- internal$hyper_surface(fit)
    runs <- system.time(for (i in 1:5) surface$run(surface$at + 0.05, gradient = TRUE))
    one <- sum(runs[1:2]) / 5
    ccd <- fit_time("ccd")
    cat(sprintf(paste("%-8s %3d rows %2d hyperparameters: mode %.2f s, with ccd %.2f s:",
                      "%.0f evaluations\n"), lik, n, sum(fit$hyper$free), mode, ccd,
                (ccd - mode) / one))
  }
}

arguments <- commandArgs(TRUE)
numbers <- suppressWarnings(as.numeric(arguments))
parts <- list(coverage = function() run_coverage(c(numbers[!is.na(numbers)], 60)[1L]),
              mcmc = against_chains, zoo = against_mode, ard = many_inputs, cost = costs)
asked <- arguments[is.na(numbers)]
for (part in if (length(asked)) asked else names(parts)) parts[[part]]()
