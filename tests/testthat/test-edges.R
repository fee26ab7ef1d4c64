# What is legal, or nearly so, and was once an error of R's own, a warning or a wrong number.

fifteen <- iris[c(1:5, 51:55, 101:105), ]

test_that("no row is a row of no answers, with a kernel or a basis for each class, too", {
  own_bases <- sparsegp(Species ~ Petal.Width, fifteen, method = method_ivm(3), learn = FALSE)
  own_kernels <- sparsegp(Species ~ Petal.Width, fifteen, lik_mprobit(shared = FALSE),
                          learn = FALSE)
  for (fit in list(own_bases, own_kernels)) {
    expect_identical(dim(predict(fit, iris[0L, ])), c(0L, 3L))
    expect_identical(colnames(predict(fit, iris[0L, ])), levels(iris$Species))
    latent <- predict(fit, iris[0L, ], type = "latent", se.fit = TRUE)
    expect_identical(lapply(latent, dim), list(fit = c(0L, 3L), se.fit = c(0L, 3L)))
    missing <- predict(fit, data.frame(Petal.Width = NA_real_))
    expect_identical(dim(missing), c(1L, 3L))
    expect_true(all(is.na(missing)))
  }
})

test_that("kernels of their own are refused where sweeps see all classes by one", {
  fit <- function(...) {
    sparsegp(Species ~ Petal.Width, fifteen, lik_mprobit(shared = FALSE), learn = FALSE, ...)
  }
  expect_error(fit(method = method_ep(projection = "kl"), basis = 1:5), "shared = FALSE",
               class = "sparsegp_error")
  expect_error(fit(method = method_ep(freeze = Inf)), "shared = FALSE", class = "sparsegp_error")
  expect_error(fit(method = method_ep(size = 5)), "shared = FALSE", class = "sparsegp_error")
  expect_error(fit(method = method_online()), "shared = FALSE", class = "sparsegp_error")
  expect_s3_class(fit(method = method_ep(freeze = Inf), basis = 1:5), "sparsegp")
})

test_that("a product of rows and points beyond the integers is a number", {
  problem <- list(x = matrix(0, 1e6, 0L), processes = 3L, options = method_ivm(2200, pool = 3e6))
  expect_identical(stub_count(problem), 6.6e9)
  problem$options$pool <- 6.6e9
  expect_identical(selection_order(problem)[1:3], c(1, 2, 3)) # nothing is left to chance
})

test_that("offsets however large do not make starts that are no numbers", {
  memory_tier()
  y <- factor(c(1, 2, 1, 2, 3, 3), ordered = TRUE)
  table <- sparsegp(1:6, y, offset = (1:6) * 1e10, learn = FALSE)$hyper
  expect_equal(table$start[table$base == "gap"],
               sparsegp(1:6, y, learn = FALSE)$hyper$start[table$base == "gap"])
  # at 1e20 rounding, which is the BLAS's, decides whether EP has a fixed point
  fit <- tryCatch(
    suppressWarnings(sparsegp(1:6, y, offset = (1:6) * 1e20, learn = learn_control(inner = 2))),
    sparsegp_error = identity
  )
  if (inherits(fit, "error")) expect_match(conditionMessage(fit), "less extreme")
  else expect_true(all(is.finite(predict(fit, 1:2, offset = c(1e20, 2e20), type = "prob"))))
})

test_that("a search is not handed a gradient that is no number", {
  table <- data.frame(theta = 0, free = TRUE, log = FALSE, lower = 0, upper = Inf, unit = 1)
  table$prior <- list(prior_flat())
  run <- list(status = 0L, logz = -1, gradient = NaN)
  objective <- make_objective(function(theta) run, table, SILENT)
  expect_identical(objective$value(0), IMPOSSIBLE)
  expect_identical(objective$gradient(0), 0)
  run$gradient <- 1
  table$prior <- list(structure(list(family = "normal", par = c(mean = 0, sd = 1e-200)),
                                class = "sparsegp_prior"))
  objective <- make_objective(function(theta) run, table, SILENT)
  expect_identical(objective$value(1e-150), IMPOSSIBLE) # the prior's slope is infinite
})

test_that("columns that are matrices, or complex, are refused by name", {
  d <- data.frame(a = 1:6)
  d$m <- matrix(c(1:6, 6:1), 6L)
  expect_error(sparsegp(d, 1:6), "not numeric vectors: m", class = "sparsegp_error")
  fit <- sparsegp(data.frame(a = 1:6, m = c(2, 1, 4, 3, 6, 5)), 1:6, learn = FALSE)
  expect_error(predict(fit, d), "not numeric vectors: m", class = "sparsegp_error")
  complex <- data.frame(a = 1:6 + 0i, y = 1:6)
  expect_error(sparsegp(complex["a"], 1:6), "not numeric vectors: a", class = "sparsegp_error")
  expect_error(sparsegp(y ~ a, complex), "complex", class = "sparsegp_error")
  by_formula <- sparsegp(a ~ m, d, learn = FALSE) # a formula takes the matrix
  expect_length(predict(by_formula, d), 6L)
})

test_that("fits of a kernel that is zero at every point do not differ", {
  fit <- sparsegp(matrix(0, 1L, 3L), 1, kernel = kernel_linear(), learn = FALSE)
  expect_identical(kl(fit, fit), 0)
})

test_that("quantile residuals of counts are finite and give no warning", {
  for (seed in 1:3) {
    set.seed(seed)
    x <- rnorm(150)
    y <- rpois(150, exp(2 * x))
    fit <- sparsegp(x, y, "poisson", kernel = kernel_constant(), learn = FALSE)
    expect_silent(residual <- residuals(fit, "quantile"))
    expect_true(all(is.finite(residual)))
  }
})

test_that("tails that add up to more than 1 by rounding are no warning", {
  # Student's t has given a tail of 1 + 2e-16
  expect_silent(at <- tail_quantiles(list(below = c(0, 1 + 2^-52), above = c(1 + 2^-52, 0)), 0))
  expect_equal(at, qnorm(.Machine$double.xmin) * c(1, -1), tolerance = 1e-12)
})

test_that("simulated counts are counts, where rates pass all numbers, too", {
  for (type in c("poisson", "negbin")) {
    value <- list(bias = 0, size = 5)
    set.seed(1)
    expect_silent(y <- traits_of(type)$draw(c(-1e150, 0, 710, 1e150), value, 1))
    expect_true(all(is.finite(y)) && all(y == round(y)), label = type)
    expect_identical(y[1L], 0)
  }
})

test_that("trials are refused where doubles cannot count them", {
  expect_error(sparsegp(1:4, c(0, 1, 1, 0), "binomial", weights = rep(1e149, 4)), "can be counted",
               class = "sparsegp_error")
})

test_that("a stream's trace counts the densities of the rows that were not skipped", {
  set.seed(1)
  x <- runif(60, -3, 3)
  y <- 100 * sin(2 * x) + rnorm(60)
  y[c(31, 45)] <- 1e200 # whose density is no number
  fit <- sparsegp(x, y, lik_gaussian(1), method = method_online(10, pilot = 20), learn = FALSE)
  expect_identical(fit$convergence$skipped, 2)
  trace <- fit$convergence$trace
  expect_equal(trace$log_evidence[60L], c(logLik(fit)), tolerance = 1e-12)
  expect_identical(which(is.na(trace$lpd)), c(31L, 45L))
  expect_equal(sum(trace$lpd, na.rm = TRUE), c(logLik(fit)), tolerance = 1e-12)
})

test_that("classes can be compared with a response that has levels without rows, or two in order", {
  memory_tier()
  x <- 1:9
  of <- function(labels, levels, ...) factor(labels[1 + c(0, 0, 1, 0, 2, 1, 0, 2, 1)], levels, ...)
  two <- of(c("a", "b", "b"), c("a", "m", "b"), ordered = TRUE)
  three <- of(c("a", "b", "c"), c("a", "b", "m", "c"))
  cases <- list(list(two), list(factor(two, ordered = FALSE)), list(droplevels(two)), list(three),
                list(three, method = method_ivm(5)), list(factor(three, ordered = TRUE)),
                list(factor(three, ordered = TRUE), likelihood = "mprobit"))
  for (case in cases) {
    y <- case[[1L]]
    fit <- do.call(sparsegp, c(list(y ~ x, list(x = x, y = y), learn = FALSE), case[-1L]))
    class <- predict(fit, list(x = x), type = "class")
    expect_identical(class, predict(do.call(sparsegp, c(list(x, learn = FALSE), case)), x,
                                    type = "class"))
    held_out <- as.data.frame(loo(fit))
    for (labels in list(class, held_out$observed, held_out$predicted, simulate(fit, 1)[[1L]])) {
      expect_identical(levels(labels), levels(y))
      expect_identical(is.ordered(labels), is.ordered(y))
    }
    expect_identical(unname(held_out$observed), y)
    expect_silent(class == y)
    expect_identical(colnames(predict(fit, type = "prob")), levels(droplevels(y)))
  }
  fit$response$all_levels <- c("a", "b")
  expect_error(predict(fit), "is damaged", class = "sparsegp_error")
})

test_that("messages and tables call a likelihood by the name that its user knows", {
  fit <- sparsegp(1:9, factor(rep(c("a", "b", "c"), 3)), learn = FALSE)
  expect_error(sigma(fit), "the likelihood mprobit under which", class = "sparsegp_error")
  skip_if_not_installed("generics")
  expect_identical(generics::glance(fit)$likelihood, "mprobit")
})

test_that("inputs whose powers are no numbers are refused by name if they are not to be scaled", {
  memory_tier()
  x <- 1:20
  y <- sin(x)
  for (kernel in list(kernel_rbf(), kernel_linear(), kernel_periodic())) {
    for (size in c(1e160, 1e-160)) {
      d <- data.frame(far = x * size, near = x, y = y)
      expect_match(refused(sparsegp(y ~ far + near, d, kernel = kernel, scale = FALSE), "x"),
                   "scaled: far", fixed = TRUE)
    }
    for (size in c(1e90, 1e-90)) {
      fit <- sparsegp(data.frame(x = x * size), y, kernel = kernel, scale = FALSE, learn = FALSE)
      expect_true(is.finite(logLik(fit)))
    }
  }
  d <- data.frame(a = x * 1e200, b = sqrt(x) * 1e200, y = y)
  expect_true(is.finite(logLik(sparsegp(y ~ a + b, d, scale = "common", learn = FALSE))))
})
