# A length scale for each input, of labels: tied to the common one, and kept where the evidence
# under that prior is clear.

r_code_alone()

# Labels of `classes` classes that depend on the first two of p inputs, or on all of them.
relevant <- function(n, p, classes = 2L, all = FALSE) {
  set.seed(28)
  x <- matrix(rnorm(n * p), n, dimnames = list(NULL, paste0("x", seq_len(p))))
  f <- if (all) rowSums(x) / sqrt(p) else 2 * x[, 1L] * x[, 2L]
  f <- f + 0.3 * rnorm(n)
  list(x = x, y = factor(findInterval(f, quantile(f, seq_len(classes - 1L) / classes))))
}

lengthscales <- function(fit) coef(fit)[grepl("^lengthscale", names(coef(fit)))]

gain_of_relevance <- function(fit) {
  tried <- choices_of_stage(fit, "kernel")
  tried$gain[tried$candidate == "rbf(ard = TRUE)"]
}

test_that("inputs that act only together are found among others, for two classes and for three", {
  slow_tier()
  for (classes in 2:3) {
    d <- relevant(150, 8, classes)
    fit <- sparsegp(d$x, d$y, control = gp_control(integrate = "none"))
    expect_true(fit$kernel$ard)
    expect_length(lengthscales(fit), 8L) # one set for all classes
    expect_gt(min(lengthscales(fit)[-(1:2)]), 3 * max(lengthscales(fit)[1:2]))
    expect_gt(gain_of_relevance(fit), policy$min_relevance_gain)
  }
})

test_that("inputs that matter alike keep one length scale", {
  slow_tier()
  d <- relevant(120, 10, all = TRUE)
  fit <- sparsegp(d$x, d$y, control = gp_control(integrate = "none"))
  expect_false(fit$kernel$ard)
  # a search that ends within search_tolerance of where it begins loses no more
  expect_gt(gain_of_relevance(fit), -2)
  expect_lt(gain_of_relevance(fit), policy$min_relevance_gain)
  # what the maximum alone would have said, by the default prior of a kernel that is given
  maximum <- function(...) sparsegp(d$x, d$y, ...,
                                    control = gp_control(integrate = "none"))$log_evidence
  expect_gt(maximum(kernel = kernel_rbf(ard = TRUE)), maximum(kernel = kernel_rbf()))
})

test_that("the prior is around the common length scale, and costs nothing there", {
  slow_tier()
  d <- relevant(60, 4)
  common <- common_lengthscale(sparsegp(d$x, d$y, kernel = kernel_rbf())$hyper)
  prior <- tied_lengthscales(list(prior = list(bias = prior_flat())), common)
  expect_named(prior, c("lengthscale", "bias"))
  common <- exp(prior$lengthscale$par[["location"]])
  fit <- sparsegp(d$x, d$y, kernel = kernel_rbf(ard = TRUE, lengthscale = common),
                  control = gp_control(prior = prior["lengthscale"]), learn = FALSE)
  table <- fit$hyper
  expect_identical(sum(is_tied(table)), 4L)
  expect_equal(exp(common_lengthscale(table)), common)
  others <- table
  others$free[is_tied(table)] <- FALSE
  # sums of the same numbers
  beyond <- function(table) hyper_log_prior(table, table$theta)$value - hyper_log_constant(table)
  expect_equal(beyond(table), beyond(others), tolerance = 1e-12)
})

test_that("a prior that was given replaces the tie", {
  slow_tier()
  d <- relevant(100, 4)
  prior <- list(lengthscale = prior_lognormal(0, 0.5))
  expect_identical(tied_lengthscales(list(prior = prior), NULL), prior)
  fit <- sparsegp(d$x, d$y, control = gp_control(prior = prior))
  expect_true(all(vapply(fit$hyper$prior[fit$hyper$base == "lengthscale"], identical, NA,
                         prior$lengthscale)))
})

test_that("a search that goes on under the tie finds an input that an earlier one switched off", {
  slow_tier()
  d <- relevant(150, 6)
  fit <- sparsegp(d$x, d$y, control = gp_control(integrate = "none"))
  problem <- problem_of_fit(fit)
  at <- which(fit$hyper$name[fit$hyper$free] == "lengthscale.x1")
  from <- fit$hyper$theta[fit$hyper$free]
  control <- list(inner = 100L, restarts = 0L, within = policy$search_tolerance)
  off <- replace(from, at, from[at] + 4)
  again <- learn_hyper(evidence(problem), fit$hyper, control, SILENT, off)
  best <- learn_hyper(evidence(problem), fit$hyper, control, SILENT, from)
  # each search ends within about search_tolerance of its optimum
  expect_gt(max(again$record$objective), max(best$record$objective) - 0.5)
})

test_that("a pilot has to gain its share, and one-vs-rest models each", {
  model <- function(type, processes) {
    list(lik = list(type = type), response = list(processes = processes))
  }
  few <- policy$min_relevance_gain
  expect_identical(min_relevance_gain(model("probit", 1L), 100, 100), few)
  expect_identical(min_relevance_gain(model("probit", 1L), 400, 100), few / 4)
  expect_identical(min_relevance_gain(model("probit", 4L), 400, 100), 4 * few)
  # one model of all classes
  expect_identical(min_relevance_gain(model("softmax", 4L), 100, 100), few)
  expect_identical(min_relevance_gain(model("probit", 4L), 4000, 1500),
                   4 * 1500 * policy$min_relevance_rate)
})

test_that("many inputs keep one length scale", {
  slow_tier()
  d <- relevant(60, 6)
  fit <- with_policy(max_ard_inputs = 5, code = sparsegp(d$x, d$y))
  expect_false(fit$kernel$ard)
  expect_identical(gain_of_relevance(fit), numeric())
})
