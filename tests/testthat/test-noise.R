# The noise that a default fit finds by itself (strategy-noise.R).

r_code_alone()

noisy_rows <- function(n, respond, seed = 1) {
  set.seed(seed)
  x <- runif(n)
  data.frame(x, y = respond(x, n))
}

band_width <- function(table) table[, "upr"] - table[, "lwr"]

with_outliers <- function(x, n) {
  y <- sin(8 * x) + rnorm(n, 0, 0.1)
  at <- seq(5, n, by = 12)
  replace(y, at, y[at] + rnorm(length(at), 0, 4))
}

test_that("outliers are told from a function, unless Gaussian noise is asked for", {
  slow_tier()
  d <- noisy_rows(80, with_outliers)
  fit <- sparsegp(y ~ x, d)
  expect_identical(fit$likelihood$type, "student")
  truth <- function(fit) sqrt(mean((predict(fit, d, type = "median") - sin(8 * d$x))^2))
  gaussian <- sparsegp(y ~ x, d, likelihood = "gaussian")
  expect_identical(gaussian$likelihood$type, "gaussian")
  expect_lt(truth(fit), 0.08) # 80 rows of noise .1 leave about .04
  expect_gt(truth(gaussian), 2 * truth(fit))
  stage <- choices_of_stage(fit, "noise")
  expect_identical(stage$candidate[stage$taken], "Student")
  expect_match(capture_output(print(fit)), "student likelihood", fixed = TRUE)
  for (given in list(list(kernel = kernel_rbf()), list(method = method_ep()),
                     list(weights = rep(1, 80)))) {
    other <- do.call(sparsegp, c(list(y ~ x, d), given))
    expect_identical(other$likelihood$type, "gaussian", info = names(given))
  }
})

test_that("a spread that varies is found", {
  slow_tier()
  d <- noisy_rows(100, function(x, n) sin(6 * x) + rnorm(n, 0, 0.05 + 0.8 * x), seed = 3)
  fit <- sparsegp(y ~ x, d)
  expect_identical(fit$likelihood$type, "heteroscedastic")
  width <- band_width(predict(fit, data.frame(x = c(0.1, 0.9)), interval = "prediction"))
  expect_gt(width[2L] / width[1L], 2) # true ratio: .77 / .13
})

test_that("counts are found, on the measure of counts, and not where a mean is shifted", {
  slow_tier()
  d <- noisy_rows(80, function(x, n) rpois(n, exp(0.5 + 2 * sin(5 * x))))
  fit <- sparsegp(y ~ x, d)
  expect_identical(fit$likelihood$type, "poisson")
  expect_true(all(predict(fit, d, interval = "prediction")[, "lwr"] >= 0))
  shifted <- sparsegp(y ~ x, d, offset = rep(1, 80))
  expect_false(inherits(codec_of(shifted), "response_counts"))
  d <- noisy_rows(80, function(x, n) rbinom(n, 1, x))
  expect_identical(suppressMessages(sparsegp(y ~ x, d))$likelihood$type, "gaussian")
})

test_that("Gaussian noise stays Gaussian", {
  slow_tier()
  types <- vapply(1:8, function(seed) {
    d <- noisy_rows(60, function(x, n) 2 * sin(4 * x) + rnorm(n, 0, 0.4), seed)
    sparsegp(y ~ x, d)$likelihood$type
  }, "")
  expect_identical(types, rep("gaussian", 8L))
})

test_that("two values are labels, whose proportion is the mean", {
  slow_tier()
  set.seed(22) # Student's t would gain on these labels, as it becomes narrow
  x <- stats::rnorm(100)
  d <- data.frame(x, y = stats::rbinom(100, 1, stats::plogis(6 * x)))
  for (values in list(0:1, c(-1, 1), c(3, 7))) {
    d$z <- values[d$y + 1L]
    fit <- suppressMessages(sparsegp(z ~ x, d))
    expect_identical(fit$likelihood$type, "gaussian")
  }
  expect_message(sparsegp(y ~ x, d), "only 0 and 1")
})

test_that("a fit with other noise is updated, saved, averaged and asked as others are", {
  slow_tier()
  d <- noisy_rows(60, with_outliers)
  fit <- sparsegp(y ~ x, d, control = gp_control(integrate = "none"))
  expect_identical(fit$likelihood$type, "student")
  again <- update(fit, data = d[-1L, ])
  expect_identical(again$n, 59L)
  expect_equal(predict(unserialize(serialize(fit, NULL)), d), predict(fit, d), tolerance = 0)
  mixed <- average(fit)
  expect_equal(predict(mixed, d), predict(fit, d), tolerance = 0.2) # of members within 5 nats
  expect_length(residuals(fit), 60L)
  known <- with_known_structure(list(structure = new_known_structure(
    list(transform = "asinh", noise = "student")
  )))
  expect_identical(format(known$likelihood), format(lik_student(transform = "asinh")))
})

# ---- What residuals alone gain ----

test_that("gains of residuals are those of their densities, summed", {
  set.seed(2)
  y <- c(0, 0, 3, 1, 7, 0, 2)
  mean <- c(0.5, 0.2, 2, 1.5, 5, 1, 2)
  sd <- 1.2
  place <- function(y) (y - mean) / sd
  rest <- list(z = place(y), y = y, mean = mean, x = cbind(seq_along(y) / 7),
               log_interval = log_between(ifelse(y == 0, -Inf, place(y - 0.5)), place(y + 0.5)))
  interval <- pnorm(place(y + 0.5)) - ifelse(y == 0, 0, pnorm(place(y - 0.5)))
  expect_equal(exp(rest$log_interval), interval, tolerance = 1e-12) # rounding
  expect_equal(gain_of_counts(rest, size = Inf), sum(dpois(y, mean, log = TRUE)) -
                 sum(log(interval)), tolerance = 1e-10)
  grid <- vapply(exp(seq(-4, 9, 0.01)), function(size) {
    sum(dnbinom(y, size, mu = mean, log = TRUE))
  }, 0)
  expect_equal(gain_of_counts(rest), max(grid) - 1 - sum(log(interval)),
               tolerance = 1e-4) # a grid
  width <- exp(seq(-4, 2, 0.001))
  student <- vapply(width, function(w) sum(dt(rest$z / w, 4, log = TRUE) - log(w)), 0)
  normal <- sum(dnorm(rest$z, sd = sqrt(mean(rest$z^2)), log = TRUE))
  rest$z <- 10 * rest$z # which no tails are looked for within two of
  expect_equal(gain_of_tails(rest), max(student) - normal, tolerance = 1e-4) # a grid
})

test_that("probabilities of an interval keep their digits in both tails", {
  expect_equal(log_between(10, 11), pnorm(10, lower.tail = FALSE, log.p = TRUE),
               tolerance = 1e-5) # the upper end takes 3e-5 of it
  expect_equal(log_between(-11, -10), log_between(10, 11), tolerance = 1e-12)
  expect_true(is.finite(log_between(50, 51)))
})

test_that("a spread that is log-linear in an input is worth its log density", {
  set.seed(5)
  x <- runif(300)
  z <- rnorm(300, 0, exp(2 * x - 1))
  rest <- list(z = z, y = z, mean = rnorm(300), x = cbind(x), log_density = dnorm(z, log = TRUE))
  gain <- gain_of_spread(rest)
  true <- sum(dnorm(rest$z, 0, exp(2 * x - 1), log = TRUE)) -
    sum(dnorm(rest$z, 0, sqrt(mean(rest$z^2)), log = TRUE))
  expect_lt(abs(gain - true), 5) # 3 coefficients: half a chi-squared of 3, less 3
  rest$z <- rest$y <- rnorm(300)
  rest$log_density <- dnorm(rest$z, log = TRUE)
  expect_lt(gain_of_spread(rest), 3)
})

test_that("a value that many rows share brings no noise that shrinks around it", {
  slow_tier()
  shares <- list(constant = function(x, n) c(rnorm(5), numeric(n - 5)),
                 most = function(x, n) ifelse(x < 0.7, 0, rnorm(n)),
                 capped = function(x, n) pmin(5, 3 + 6 * x + rnorm(n)),
                 steps = function(x, n) round(3 * x))
  for (name in names(shares)) {
    d <- noisy_rows(60, shares[[name]])
    expect_identical(sparsegp(y ~ x, d)$likelihood$type, "gaussian", label = name)
  }
})

test_that("ties are rounding, or an atom that a density cannot explain", {
  expect_identical(ties_of(c(0, 3, 0, 2)), c(2L, 1L, 2L, 1L))
  expect_identical(step_of_ties(c(3, 1, 3, 1.5)), 0.5)
  expect_identical(step_of_ties(c(3, 1, 1.5)), 0)
  expect_identical(step_of_ties(c(2, 2)), Inf)
  d <- noisy_rows(200, function(x, n) rnorm(n, 3 * x, exp(2 * x - 2)))
  sd <- exp(2 * d$x - 2)
  expect_false(has_atom(d$y, 3 * d$x, sd))
  expect_false(has_atom(round(d$y, 1), 3 * d$x, sd)) # some values are there ten times
  expect_true(has_atom(pmax(d$y, 1), 3 * d$x, sd))
  expect_true(has_atom(ifelse(d$x < 0.1, 0, d$y), 3 * d$x, sd))
})

test_that("a spread below the step of ties, and tails around one value, gain nothing", {
  d <- noisy_rows(200, function(x, n) rnorm(n, 3 * x, exp(3 * x - 3)))
  rest <- list(z = d$y - 3 * d$x, y = d$y, mean = 3 * d$x, x = cbind(d$x),
               log_density = dnorm(d$y, 3 * d$x, log = TRUE))
  expect_gt(gain_of_spread(rest), 20)
  rest$y <- round(rest$y) # the spread begins at exp(-3)
  expect_identical(gain_of_spread(rest), 0)
  expect_identical(gain_of_tails(rest), 0) # all within two predicted standard deviations
  rest$z <- 10 * rest$z
  expect_gt(gain_of_tails(rest), 5)
  rest$y[1:101] <- 0
  expect_identical(gain_of_tails(rest), 0)
})

# ---- Outliers that hide the function, and with it themselves ----

rest_of <- function(z) {
  list(z = z, y = z, mean = cos(seq_along(z)), x = cbind(seq_along(z)),
       log_density = dnorm(z, log = TRUE))
}

test_that("a smooth function without noise has no Student noise, and stops no fit", {
  slow_tier()
  wave <- function(seed, n) {
    set.seed(seed)
    x <- sort(runif(n))
    data.frame(x, y = sin(12 * x))
  }
  at <- data.frame(x = seq(0.1, 0.9, 0.05))
  error <- function(fit) max(abs(predict(fit, at) - sin(12 * at$x)))
  fit <- sparsegp(y ~ x, wave(3, 40))
  expect_true(any(fit$choices$candidate[fit$choices$taken] == "near none"))
  expect_lt(error(fit), 1e-3)
  slow_tier()
  expect_lt(error(sparsegp(y ~ x, wave(2, 35))), 1e-3)
  for (outlier in c(0.02, 2)) { # the noise ends at 1e-4 of the response, with a warning or not
    d <- wave(2, 40)
    d$y[7] <- d$y[7] + outlier
    fit <- suppressWarnings(sparsegp(y ~ x, d))
    expect_identical(fit$likelihood$type, "student")
    expect_lt(error(fit), 1e-3)
  }
})

test_that("far residuals are few, whatever their number is beside a standard deviation", {
  set.seed(1)
  z <- rnorm(25, sd = 0.1)
  expect_identical(which(far_residuals(rest_of(replace(z, 7, 1)))), 7L)
  masked <- rest_of(replace(z, c(3, 8, 21), 2.5) - 0.3)
  expect_lt(max(abs(masked$z)) / sd(masked$z), 3) # by which they would not stand out
  expect_identical(which(far_residuals(masked)), c(3L, 8L, 21L))
  expect_true(may_hide_tails(masked))
  expect_identical(with_hidden_tails(c(student = 2, heteroscedastic = 9), 5),
                   c(student = 5, heteroscedastic = 9))
  even <- qnorm(ppoints(25))
  expect_false(any(far_residuals(rest_of(even))))
  expect_false(may_hide_tails(rest_of(even)))
  expect_false(any(far_residuals(rest_of(replace(z, 1:8, 3))))) # two groups
  mixed <- even[order(sin(1:25))]
  expect_identical(gain_of_spread(rest_of(replace(mixed, 25, 9))), 0) # one row is no spread
})

test_that("one to four outliers among few rows leave the function as it is", {
  slow_tier()
  error <- function(fit, d, truth) sqrt(mean((predict(fit, d, type = "median") - truth)^2))
  set.seed(1)
  x <- sort(runif(25, 0, 10))
  truth <- 10 + 3 * sin(x)
  y <- truth + rnorm(25, 0, 0.3)
  rows <- sample(25, 4)
  for (case in list(list(-99, 3), list(30, 2), list(9999, 4))) {
    d <- data.frame(x, y = replace(y, head(rows, case[[2L]]), case[[1L]]))
    fit <- suppressWarnings(sparsegp(y ~ x, d))
    expect_identical(fit$likelihood$type, "student", info = toString(case))
    # of four among 25 the scale's logarithm is learned by their side: 1000 with Gaussian noise
    expect_lt(error(fit, d, truth), if (case[[2L]] == 4) 2.5 else 0.6)
  }
  two <- data.frame(a = runif(40), b = runif(40)) # one value 12 sd of the noise off
  truth <- sin(4 * two$a) + two$b
  two$y <- truth + rnorm(40, 0, 0.1)
  two$y[5] <- two$y[5] + 1.2
  expect_lt(error(sparsegp(y ~ a + b, two), two, truth), 0.1) # .2 with Gaussian noise
})

test_that("an outlier that a scale, wide noise or a short length scale explain is found", {
  slow_tier()
  # of 12 to 25 rows: errors of 1.1 to 3.5 without Student noise, .05 to .25 with it
  for (case in list(c(1202, 30), c(1504, 15), c(2503, 5))) {
    set.seed(case[1L])
    n <- case[1L] %/% 100
    x <- sort(runif(n, 0, 6))
    y <- 2 * sin(x) + 0.1 * rnorm(n)
    row <- sample(n, 1L)
    y[row] <- y[row] + case[2L] * sample(c(-1, 1), 1L, TRUE)
    at <- seq(0.2, 5.8, length.out = 50)
    fit <- sparsegp(y ~ x, data.frame(x, y))
    expect_identical(fit$likelihood$type, "student", info = toString(case))
    expect_lt(sqrt(mean((predict(fit, data.frame(x = at)) - 2 * sin(at))^2)), 0.35)
  }
  # spread that grows, and no row that is far, has to gain as much as before
  d <- data.frame(t = as.numeric(time(ldeaths)), y = as.numeric(ldeaths))
  expect_identical(sparsegp(y ~ t, d)$likelihood$type, "gaussian")
})

test_that("an outlier among values without noise is found, and noise near none kept without it", {
  slow_tier()
  set.seed(1)
  d <- data.frame(a = runif(40), b = runif(40))
  truth <- sin(5 * d$a) * cos(3 * d$b)
  d$y <- replace(truth, 11, truth[11] + 4 * sd(truth))
  fit <- sparsegp(y ~ a + b, d)
  expect_identical(fit$likelihood$type, "student")
  expect_lt(sqrt(mean((predict(fit, d, type = "median") - truth)[-11]^2)), 0.02)
  d$y <- truth
  expect_identical(sparsegp(y ~ a + b, d)$likelihood$type, "gaussian")
})

test_that("a noise under which all rows do not converge gives way to the one before it", {
  slow_tier()
  set.seed(2)
  d <- data.frame(x = runif(40, -2, 2))
  d$y <- replace(sin(2 * d$x) + 0.1 * rnorm(40), 5L, 6)
  noises <- function(fit) fit$choices[fit$choices$stage == "noise", ]
  other <- suppressWarnings(sparsegp(y ~ x, d))
  expect_identical(other$likelihood$type, "student")
  gaussian_only <- function(tuned) tuned$candidate$model$lik$type == "gaussian"
  fit <- with_internal("has_converged", gaussian_only, suppressWarnings(sparsegp(y ~ x, d)))
  expect_identical(fit$likelihood$type, "gaussian")
  expect_identical(which(noises(fit)$taken), 1L)
  expect_true("Student: no convergence with all rows" %in% noises(fit)$candidate)
  fit <- with_internal("has_converged", function(tuned) FALSE,
                       suppressWarnings(sparsegp(y ~ x, d)))
  expect_identical(fit$likelihood$type, "student") # none is better
})

test_that("counts with more zeros have their law, whatever the unit in which they are fitted", {
  slow_tier()
  set.seed(2)
  d <- data.frame(a = runif(200, -2, 2))
  d$y <- ifelse(runif(200) < 0.3, 0, rnbinom(200, mu = exp(1.5 + sin(2 * d$a)), size = 3))
  expect_identical(sparsegp(y ~ a, d)$lik$type, "zinb")
})

test_that("spread that differs among the levels of a factor, in any order, is found", {
  x <- cbind(c(0.5, 0.1, 0.7, 0.2), c(1, 3, 2, 3))
  expect_identical(with_indicators(x, c(FALSE, TRUE)),
                   cbind(c(0, 0, 1, 0), c(0, 1, 0, 1), x[, 1L]))
  expect_identical(with_indicators(x, c(FALSE, FALSE)), x)
  slow_tier()
  for (seed in c(24, 64)) { # the widest in the middle; Student or Gaussian noise without it
    set.seed(seed)
    d <- data.frame(h = factor(rep(c("a", "b", "c"), 12)))
    d$y <- c(1, 2, 3)[d$h] + c(0.1, 1, 0.3)[d$h] * rnorm(36)
    fit <- sparsegp(y ~ h, d)
    expect_identical(fit$likelihood$type, "heteroscedastic")
    at <- predict(fit, d[1:3, "h", drop = FALSE], interval = "prediction", level = 0.9)
    width <- (at[, "upr"] - at[, "lwr"]) / 3.29 / c(0.1, 1, 0.3)
    expect_true(all(width > 0.5 & width < 2))
  }
})
