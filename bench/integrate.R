# Hyperparameters integrated out: what it is worth, and what it costs.
#
#   Rscript bench/integrate.R coverage [repetitions]   functions drawn from the prior
#   Rscript bench/integrate.R mcmc                     against Markov chains, small sets of R
#   Rscript bench/integrate.R zoo                      sets of at most 300 rows of SPARSEGP_DATA
#   Rscript bench/integrate.R loo                      leave-one-out against refits
#   Rscript bench/integrate.R ard                      32 inputs, 300 rows
#   Rscript bench/integrate.R cost                     evaluations and time
#
# Several may be named; without names all are run, in some hour of a core.
#
# Tables go to stdout; bench/results/integrate.md has what came of it.

library(sparsegp)

internal <- asNamespace("sparsegp")

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

DRAWS <- 800L # that each of two chains keeps, of every other sweep

# Returns mean and standard deviation of predictions at the rows, on the scale of the link, over
# draws of hyperparameters by a Markov chain.
chain_of <- function(fit, seed) {
  set.seed(seed)
  shape <- internal$posterior_shape(fit)
  theta_at <- function(x) internal$theta_at(shape, rbind(x))[1L, ]
  density <- function(x) shape$surface$run(theta_at(x))$value
  z <- internal$slice_draws(density, length(shape$effects), DRAWS, 50L, 2L)
  each <- lapply(seq_len(nrow(z)), function(k) {
    run <- shape$surface$run(theta_at(z[k, ]), posterior = TRUE)
    predict(internal$member_of_run(run, fit), type = "link", se.fit = TRUE)
  })
  mean <- vapply(each, function(one) c(one$fit), numeric(nobs(fit)))
  sd <- vapply(each, function(one) c(one$se.fit), numeric(nobs(fit)))
  list(fit = rowMeans(mean), se.fit = sqrt(rowMeans(sd^2) + apply(mean, 1L, stats::var)))
}

# Differences of means in standard deviations, and ratios of standard deviations. The two chains,
# compared likewise, say how far the reference itself is known.
against_chains <- function() {
  for (name in names(SMALL)) {
    fits <- lapply(c(none = "none", ccd = "ccd"), function(rule) {
      suppressWarnings(do.call(sparsegp, c(SMALL[[name]], list(
        structure = "fixed", control = gp_control(integrate = rule)))))
    })
    chains <- lapply(1:2, function(seed) chain_of(fits$none, seed))
    reference <- list(fit = (chains[[1L]]$fit + chains[[2L]]$fit) / 2,
                      se.fit = sqrt((chains[[1L]]$se.fit^2 + chains[[2L]]$se.fit^2) / 2))
    line <- function(label, found, reference) {
      off <- abs(found$fit - reference$fit) / reference$se.fit
      ratio <- found$se.fit / reference$se.fit
      cat(sprintf("%-10s %-8s mean off %.3f sd (largest %.3f); sd ratio %.3f (%.3f to %.3f)\n",
                  name, label, mean(off), max(off), mean(ratio), min(ratio), max(ratio)))
    }
    line("chains", chains[[1L]], chains[[2L]])
    for (rule in names(fits)) {
      line(rule, predict(fits[[rule]], type = "link", se.fit = TRUE), reference)
    }
  }
}

# ---- Real sets ----

# Log predictive density of new rows: of numbers by differences of the distribution function
log_density <- function(fit, new, y, spread = stats::sd(y)) {
  if (internal$codec_of(fit)$labelled) {
    prob <- predict(fit, new, type = "prob")
    return(log(prob[cbind(seq_along(y), match(as.character(y), colnames(prob)))]))
  }
  sd <- spread * 1e-4
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

# Four of 32 inputs matter, or all by the same amount.
FUNCTIONS <- list(
  four = function(x) sin(2 * x[, 1L]) + x[, 2L] * x[, 3L] + 0.5 * x[, 4L],
  all = function(x) sin(2 * rowSums(x) / sqrt(ncol(x)))
)

many_inputs <- function() {
  for (name in names(FUNCTIONS)) for (seed in 1:3) {
    set.seed(seed)
    x <- matrix(stats::rnorm(800 * 32), ncol = 32)
    d <- data.frame(y = FUNCTIONS[[name]](x) + 0.3 * stats::rnorm(800), x)
    for (ard in c(FALSE, TRUE)) for (rule in c("none", "ccd")) {
      time <- sum(system.time(fit <- suppressWarnings(
        sparsegp(y ~ ., d[1:300, ], kernel = kernel_rbf(ard = ard),
                 control = gp_control(integrate = rule))))[1:2])
      lpd <- log_density(fit, d[-(1:300), ], d$y[-(1:300)])
      cat(sprintf("%-4s seed %d %-9s %-4s test log density %.3f a row, %.1f s\n", name, seed,
                  if (ard) "32 scales" else "one", rule, mean(lpd), time))
    }
  }
}

# Leave-one-out densities by the formulas, and of refits without each row.
against_refits <- function() {
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "zoo_sets.R"))
  sets <- zoo_table()
  for (name in c("MASS/UScereal", "rpart/kyphosis")) {
    set <- sets[sets$name == name, ]
    d <- zoo_rows(set)
    formula <- stats::reformulate(".", as.name(set$response))
    for (rule in c("none", "ccd")) {
      quiet <- function(rows) {
        suppressMessages(suppressWarnings(sparsegp(formula, rows,
                                                   control = gp_control(integrate = rule))))
      }
      by_formula <- loo_lpd(quiet(d))
      refit <- vapply(seq_len(nrow(d)), function(i) {
        fit <- quiet(droplevels(d[-i, ]))
        new <- d[i, , drop = FALSE]
        y <- d[[set$response]]
        spread <- if (is.numeric(y)) stats::sd(y)
        suppressMessages(suppressWarnings(log_density(fit, new, y[i], spread)))
      }, 0)
      off <- by_formula - refit
      cat(sprintf("%-15s %-5s by formula %.3f, refits %.3f nats a row: %+.3f (se %.3f)\n", name,
                  rule, mean(by_formula), mean(refit), mean(off),
                  stats::sd(off) / sqrt(length(off))))
    }
  }
}

# CPU time of an integral, that of the fit with it less that without, in evaluations with gradient
# as the search for the mode makes them; medians of interleaved repetitions.
costs <- function() {
  REPETITIONS <- 7L
  for (lik in c("gaussian", "probit")) for (inputs in c(1, 4, 8)) for (n in c(60, 300)) {
    set.seed(1)
    x <- matrix(stats::rnorm(n * inputs), n)
    y <- sin(2 * x[, 1L]) + 0.3 * stats::rnorm(n)
    if (lik == "probit") y <- factor(y > 0)
    cpu <- function(expr) sum(system.time(expr)[1:2])
    fit_by_rule <- function(rule) {
      suppressMessages(suppressWarnings(sparsegp(x, y, lik, kernel_rbf(ard = TRUE),
                                                 control = gp_control(integrate = rule))))
    }
    fits <- lapply(c("none", "ccd"), fit_by_rule)
    problem <- internal$problem_of_fit(fits[[1L]])
    problem$options$tol <- 1e-6
    table <- fits[[1L]]$hyper
    theta <- ifelse(table$free, table$theta + 0.05, table$theta)
    times <- vapply(seq_len(REPETITIONS), function(k) {
      c(cpu(fit_by_rule("none")), cpu(fit_by_rule("ccd")), cpu(for (i in 1:10) {
        internal$engine_run(problem, theta, fits[[1L]]$sites[c("tau", "nu")], gradient = TRUE)
      }) / 10)
    }, numeric(3L))
    time <- apply(times, 1L, stats::median)
    cat(sprintf("| %s | %d | %d | %d | %d | %.1f | %.0f | %.0f |\n", lik, n, sum(table$free),
                length(fits[[2L]]$ensemble$made$integrated), length(fits[[2L]]$ensemble$weights),
                1000 * time[3L], 1000 * time[1L], (time[2L] - time[1L]) / time[3L]))
  }
}

arguments <- commandArgs(TRUE)
numbers <- suppressWarnings(as.numeric(arguments))
parts <- list(coverage = function() run_coverage(c(numbers[!is.na(numbers)], 60)[1L]),
              mcmc = against_chains, zoo = against_mode, loo = against_refits, ard = many_inputs,
              cost = costs)
asked <- arguments[is.na(numbers)]
for (part in if (length(asked)) asked else names(parts)) parts[[part]]()
