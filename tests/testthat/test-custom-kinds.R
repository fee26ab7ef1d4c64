# Likelihoods that are R functions: ordered categories, constants of observations, two latent
# functions, and the IVM. Where there is a twin in C, numbers are those of the twin.

reached_elsewhere()

own_ordered <- function(...) {
  lik_custom(function(y, f, theta) {
    cuts <- c(-Inf, theta[["first"]], theta[["first"]] + theta[["gap"]], Inf)
    edge <- function(k) matrix(cuts[k], nrow(f))
    low <- edge(y) - f
    high <- edge(y + 1) - f
    flip <- low > 0 # the smaller tails, so that nothing cancels
    log(pmax(pnorm(ifelse(flip, -low, high)) - pnorm(ifelse(flip, -high, low)), 1e-300))
  }, theta = c(first = -0.3, gap = 1), response = "ordered", ...)
}

own_exposed <- function(data, ...) {
  lik_custom(function(y, f, theta, data) {
    dpois(y, data$exposure * exp(f + theta[["bias"]]), log = TRUE)
  }, theta = c(bias = 0.5), range = list(bias = c(-Inf, Inf)), response = "count", data = data, ...)
}

# A number with a log standard deviation that is a function, too, of noise 0.3^2 where that is 0
own_spread <- function(...) {
  lik_custom(function(y, f, theta) {
    dnorm(y, f$mean, theta[["sd"]] * exp(f$log_sd), log = TRUE)
  }, theta = c(sd = 0.3), width = 2, components = c("mean", "log_sd"), ...)
}

# Counts that are 0 with the probability plogis(gate) beside those of the rate
own_gate <- function(gate = function(f) plogis(f$gate, log.p = TRUE),
                     open = function(f) plogis(-f$gate, log.p = TRUE), theta = NULL, ...) {
  lik_custom(function(y, f, theta) {
    shut <- gate(f, theta)
    count <- open(f, theta) + dpois(y, exp(f$rate), log = TRUE)
    top <- pmax(shut, count)
    ifelse(y > 0, count, top + log(exp(shut - top) + exp(count - top)))
  }, theta = theta, width = 2, components = c("rate", "gate"), response = "count", ...)
}

kinds_data <- function(n = 40) {
  set.seed(8)
  d <- data.frame(x = seq(0, 3, length.out = n), exposure = exp(runif(n, -1, 1)))
  d$y <- sin(2 * d$x) + exp(0.7 * d$x - 2.5) * rnorm(n)
  d$rank <- cut(sin(2 * d$x) + rnorm(n), c(-Inf, -0.3, 0.7, Inf), c("low", "middle", "high"),
                ordered_result = TRUE)
  d$count <- rpois(n, d$exposure * exp(1 + sin(2 * d$x)))
  d$zeros <- ifelse(runif(n) < 0.3, 0, rpois(n, exp(1 + sin(2 * d$x))))
  d
}

kinds_error <- function(expr, pattern) expect_error(expr, pattern, class = "sparsegp_error")

kinds_fit <- function(formula, d, likelihood, ...) {
  sparsegp(formula, d, likelihood, kernel = kernel_rbf(1, 1), learn = FALSE, ...)
}

# ---- Ordered categories ----

# Both quadratures are good to 1e-7 or better.
test_that("ordered categories are those of lik_ordinal()", {
  memory_tier()
  d <- kinds_data()
  own <- kinds_fit(rank ~ x, d, own_ordered())
  twin <- kinds_fit(rank ~ x, d, lik_ordinal(c(-0.3, 0.7)))
  expect_equal(as.numeric(logLik(own)), as.numeric(logLik(twin)), tolerance = 1e-7)
  new <- d[c(1, 9, 30), ]
  expect_equal(predict(own, new, type = "prob"), predict(twin, new, type = "prob"),
               tolerance = 1e-6)
  expect_equal(predict(own, new), predict(twin, new), tolerance = 1e-6)
  expect_equal(predict(own, new, interval = "prediction"),
               predict(twin, new, interval = "prediction"), tolerance = 1e-6)
  expect_identical(predict(own, new, type = "class"), predict(twin, new, type = "class"))
  expect_equal(loo(own)$lpd, loo(twin)$lpd, tolerance = 1e-6)
  expect_equal(residuals(own, "pearson"), residuals(twin, "pearson"), tolerance = 1e-5)
  drawn <- simulate(own, 2, seed = 1)
  expect_identical(levels(drawn[[1L]]), levels(d$rank))
  # cut points that leave room below 0 and above
  expect_warning(kinds_fit(rank ~ x, d, lik_custom(function(y, f, theta) log(0.5) + 0 * f,
                                                   response = "ordered")), "not to 1")
})

# ---- Constants ----

test_that("constants go with their rows: exposures are those of an offset", {
  slow_tier()
  d <- kinds_data()
  d$exposure[5] <- NA # this row is left out, whichever way
  whole <- suppressWarnings(kinds_fit(count ~ x, d, own_exposed(~exposure)))
  expect_equal(nobs(whole), 39)
  values <- kinds_fit(count ~ x, d, own_exposed(list(exposure = d$exposure)))
  twin <- kinds_fit(count ~ x + offset(log(exposure)), d, lik_poisson(0.5))
  expect_identical(as.numeric(logLik(whole)), as.numeric(logLik(values)))
  expect_equal(as.numeric(logLik(whole)), as.numeric(logLik(twin)), tolerance = 1e-7)
  new <- d[c(1, 8, 20), ]
  expect_equal(predict(whole, new), predict(twin, new), tolerance = 1e-6)
  expect_equal(predict(values, new[, "x", drop = FALSE], weights = list(exposure = new$exposure)),
               predict(twin, new), tolerance = 1e-6)
  expect_equal(predict(whole, new, interval = "prediction"),
               predict(twin, new, interval = "prediction"), tolerance = 1e-6)
  expect_equal(residuals(whole, "pearson"), residuals(twin, "pearson"), tolerance = 1e-5)
  expect_equal(loo(whole)$lpd, loo(twin)$lpd, tolerance = 1e-6)
  # some rows alone
  half <- kinds_fit(count ~ x, d, own_exposed(list(exposure = d$exposure)), subset = x > 1)
  expect_equal(as.numeric(logLik(half)),
               as.numeric(logLik(kinds_fit(count ~ x + offset(log(exposure)), d, lik_poisson(0.5),
                                           subset = x > 1))), tolerance = 1e-7)
  expect_identical(dim(simulate(whole, 3, newdata = new)), c(3L, 3L))
  expect_true(all(is.finite(simulate(whole, 1)[[1L]])))
})

test_that("constants are read again with later rows, of streams and sources, too", {
  slow_tier()
  d <- kinds_data(60)
  basis <- d[1:8 * 7, ]
  whole <- kinds_fit(count ~ x, d, own_exposed(~exposure), basis = basis)
  first <- kinds_fit(count ~ x, d[1:40, ], own_exposed(~exposure), basis = basis)
  more <- update(first, d[41:60, ])
  expect_equal(nobs(more), 60)
  twin <- function(rows) {
    kinds_fit(count ~ x + offset(log(exposure)), rows, lik_poisson(0.5), basis = basis)
  }
  expect_equal(predict(more, d[1:5, ]), predict(update(twin(d[1:40, ]), d[41:60, ]), d[1:5, ]),
               tolerance = 1e-5)
  read <- row_source(function(i) d[20 * (i - 1) + 1:20, ], chunks = 3)
  chunked <- kinds_fit(count ~ x, read, own_exposed(~exposure), basis = basis)
  expect_equal(predict(chunked, d[1:5, ]), predict(whole, d[1:5, ]), tolerance = 1e-5)
  stream <- sparsegp(count ~ x, d[1:30, ], own_exposed(~exposure), kernel = kernel_rbf(1, 1),
                     learn = FALSE, method = method_online(10))
  stream <- update(stream, d[31:60, ])
  expect_equal(nobs(stream), 60)
  expect_true(all(is.finite(predict(stream, d[1:3, ]))))
  other <- sparsegp(control = gp_control(like = first), data = d[41:60, ])
  expect_true(all(is.finite(predict(merge(first, other), d[1:3, ]))))
  file <- tempfile()
  saveRDS(more, file)
  expect_identical(predict(readRDS(file), d[1:3, ]), predict(more, d[1:3, ]))
  # of a matrix
  x <- matrix(d$x, dimnames = list(NULL, "x"))
  plain <- sparsegp(x, d$count, likelihood = own_exposed(list(exposure = d$exposure)),
                    kernel = kernel_rbf(1, 1), learn = FALSE, basis = matrix(basis$x))
  expect_equal(unname(predict(plain, x[1:5, , drop = FALSE],
                              weights = list(exposure = d$exposure[1:5]))),
               unname(predict(whole, d[1:5, ])), tolerance = 1e-6)
})

# The likelihood is a variable of the call, so that its constants are named nowhere in it.
test_that("constants are read from a table that has other columns, too", {
  memory_tier()
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  d <- kinds_data()
  DBI::dbWriteTable(con, "rows", transform(d, rank = NULL, idle = 1))
  own <- own_exposed(~exposure)
  fit <- kinds_fit(count ~ x, row_source(con, "rows", size = 25), own, basis = d[1:8 * 5, ])
  found <- numeric()
  predict(fit, row_source(con, "rows", size = 25), to = function(answer, i) {
    found <<- c(found, answer)
  })
  expect_equal(unname(found), unname(predict(fit, d)), tolerance = 1e-12) # the same sums
})

test_that("what is wrong with constants is said in words", {
  memory_tier()
  d <- kinds_data(20)
  kinds_error(own_exposed(~log(exposure)), "names of columns")
  kinds_error(own_exposed(list(1:3)), "no names")
  kinds_error(own_exposed(list(exposure = letters)), "finite numbers")
  kinds_error(lik_custom(function(y, f, theta) 0, data = ~exposure), "no argument `data`")
  kinds_error(kinds_fit(count ~ x, d, own_exposed(list(exposure = 1:3))), "3 values for 20")
  kinds_error(kinds_fit(count ~ x, d, own_exposed(~exposure), weights = exposure), "exclude")
  kinds_error(kinds_fit(count ~ x, d, own_exposed(list(exposure = d$exposure)),
                        method = method_online(5)), "a stream continues")
  kinds_error(kinds_fit(count ~ x, d, own_exposed(~exposure),
                        control = gp_control(augment = function(x) -x)),
              "has constants")
  fit <- kinds_fit(count ~ x, d, own_exposed(~exposure), basis = d[1:8, ])
  bare <- d[1:3, c("x", "count")]
  kinds_error(predict(fit, bare), "lacks constants")
  kinds_error(predict(fit, bare, interval = "prediction"), "lacks constants.*exposure")
  kinds_error(predict(fit, bare, type = "quantile"), "lacks constants.*exposure")
  kinds_error(predict(fit, bare, weights = list(exposure = 1:2)), "`weights` have .* 2 rows for 3")
  expect_true(all(is.finite(predict(fit, bare, type = "latent"))))
  kinds_error(update(fit, bare), "lacks exposure")
  expect_true(all(is.finite(predict(fit, d[1:3, ]))))
})

# ---- Two latent functions ----

# C's rule is good to 1e-10, ours to the square of 3e-7; derivatives in units of the marginal.
test_that("tilts of two latent functions are those of C, for narrow marginals and wide", {
  slow_tier()
  grid <- expand.grid(y = c(-2, 0.1, 3), mean = c(-1, 0.5), log_sd = c(-1, 0.4),
                      size = c(1e-4, 0.1, 1), rho = c(-0.7, 0, 0.6))
  n <- nrow(grid)
  mean <- rbind(grid$mean, grid$log_sd)
  var <- rbind(2 * grid$size, sqrt(2) * grid$rho * grid$size, sqrt(2) * grid$rho * grid$size,
               grid$size)
  twin <- .Call(sg_lik_tilt, lik_for_c(list(type = "heteroscedastic"), 1L, 2L), log(0.09),
                rbind(grid$y), c(mean), c(var), FALSE)
  found <- .Call(sg_lik_tilt, lik_for_c(own_spread(), 1L, 2L), log(0.3), rbind(grid$y, 1),
                 c(mean), c(var), FALSE)
  scale <- sqrt(rbind(2 * grid$size, grid$size))
  expect_lt(max(abs(found$logz - twin$logz)), 1e-8)
  expect_lt(max(abs(matrix(found$d1 - twin$d1, 2L) * scale)), 1e-7)
  expect_lt(max(abs(matrix(found$d2 - twin$d2, 4L) * scale[c(1, 1, 2, 2), ] *
                      scale[c(1, 2, 1, 2), ])), 1e-6)
  # theta of the twin is the logarithm of a variance, of which ours is a half
  # and differences are good to 1e-9 of their third, which grows as they do
  expect_lt(max(abs(found$dpar / 2 - twin$dpar) / (1 + abs(twin$dpar))), 1e-6)
})

test_that("a fit with a spread that is a function is that of lik_heteroscedastic()", {
  slow_tier()
  d <- kinds_data(12)
  # in units of C, where the twin's are the same
  d$y <- (d$y - mean(d$y))
  d$y <- d$y / sqrt(mean(d$y^2))
  fit <- function(likelihood) {
    kernel <- kernel_coregion(kernel_rbf(lengthscale = 1), 0, c(1, 1))
    sparsegp(y ~ x, d, likelihood, kernel = kernel,
             learn = FALSE, mean = if (identical(likelihood$type, "heteroscedastic")) "zero")
  }
  own <- fit(own_spread())
  twin <- fit(lik_heteroscedastic(0.09, transform = "identity"))
  # the quadratures of sites agree to some 1e-7
  expect_equal(as.numeric(logLik(own)), as.numeric(logLik(twin)), tolerance = 1e-7)
  new <- d[c(1, 6, 11), ]
  latent <- predict(own, new, type = "latent")
  expect_identical(colnames(latent), c("mean", "log_sd"))
  theirs <- predict(twin, new, type = "latent") # its log_sd includes that of the noise
  expect_equal(latent[, "mean"], theirs[, "mean"], tolerance = 1e-6)
  expect_equal(latent[, "log_sd"] + log(0.3), theirs[, "log_sd"], tolerance = 1e-6)
  # 25 x 25 nodes are good to some 1e-5 of a standard deviation in the tails
  expect_equal(predict(own, new, interval = "prediction"),
               predict(twin, new, interval = "prediction"), tolerance = 1e-4)
  expect_equal(loo(own)$lpd, loo(twin)$lpd, tolerance = 1e-5)
  expect_length(residuals(own, "pearson"), 12)
  expect_length(residuals(own, "quantile"), 12)
  expect_true(all(is.finite(simulate(own, 1, seed = 1)[[1L]])))
  expect_identical(dim(draws(own, new, 4, type = "response")), c(3L, 4L))
})

# A gate that does not depend on its latent function: the likelihood of lik_zip() of the rate alone.
test_that("a gate beside a rate is that of lik_zip() where it is constant", {
  slow_tier()
  grid <- expand.grid(y = c(0, 1, 6), mean = c(-1, 1.5), size = c(0.01, 1))
  shut <- 0.3
  flat <- own_gate(function(f, theta) log(theta[["zero"]]) + 0 * f$gate,
                   function(f, theta) log1p(-theta[["zero"]]) + 0 * f$gate, c(zero = shut),
                   range = list(zero = c(0, 1)))
  found <- .Call(sg_lik_tilt, lik_for_c(flat, 1L, 2L), qlogis(shut), rbind(grid$y, 1),
                 c(rbind(grid$mean, 0.2)), c(rbind(grid$size, 0, 0, 0.5)), FALSE)
  lik <- lik_zip(0, shut)
  theta <- c(0, qlogis(shut))
  twin <- .Call(sg_lik_tilt, lik_for_c(lik, 1L), theta, lik_traits(lik)$data_rows(grid$y, NULL),
                grid$mean, grid$size, FALSE)
  expect_lt(max(abs(found$logz - twin$logz)), 1e-8)
  expect_lt(max(abs(matrix(found$d1, 2L)[1L, ] - twin$d1) * sqrt(grid$size)), 1e-7)
  expect_lt(max(abs(matrix(found$d1, 2L)[2L, ])), 1e-7)
  expect_lt(max(abs(matrix(found$d2, 4L)[1L, ] - twin$d2) * grid$size), 1e-6)
  expect_lt(max(abs(c(found$dpar) - twin$dpar[2L, ])), 1e-6)
})

test_that("counts with a gate that is a function are fitted and predicted", {
  slow_tier()
  d <- kinds_data(12)
  gate <- own_gate(function(f, theta) plogis(f$gate, log.p = TRUE),
                   function(f, theta) plogis(-f$gate, log.p = TRUE))
  kernel <- kernel_coregion(kernel_rbf(lengthscale = 1), 0, c(1, 1))
  fit <- sparsegp(zeros ~ x, d, gate, kernel = kernel,
                  learn = FALSE)
  expect_true(is.finite(logLik(fit)))
  answer <- predict(fit, d[1:2, ], interval = "prediction")
  expect_true(all(answer[, "lwr"] >= 0 & answer[, "lwr"] <= answer[, "upr"]))
  zero <- predict(fit, d[1:2, ], type = "zero")
  expect_true(all(zero > 0 & zero < 1))
  expect_error(predict(fit, d[1:2, ], type = "median"), class = "sparsegp_error")
  kinds_error(lik_custom(function(y, f, theta) 0, width = 3), "not 1 or 2")
  kinds_error(lik_custom(function(y, f, theta) 0, width = 2, response = "label"), "not for")
  kinds_error(lik_custom(function(y, f, theta) 0, components = c("a", "b")), "width = 2")
})

# ---- The IVM ----

# The scores of all candidates are one call; a call for each would be some 20 times as many.
test_that("the IVM calls R once for all candidates", {
  memory_tier()
  d <- kinds_data(60)
  calls <- 0
  own <- lik_custom(function(y, f, theta) {
    calls <<- calls + 1
    dnorm(y, f, 0.5, log = TRUE)
  }, check = FALSE)
  kinds_fit(y ~ x, d, own, method = method_ivm(6))
  expect_lt(calls, 6 * 60) # a look for nodes is a few calls, of 6 inclusions and the criterion
})

test_that("predictions of no rows and of missing inputs are answers", {
  d <- data.frame(x = 1:12 / 3, y = c(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8))
  counts <- lik_custom(function(y, f, theta) dpois(y, exp(f), log = TRUE), response = "count")
  fit <- sparsegp(y ~ x, d, counts, learn = FALSE)
  expect_length(predict(fit, d[0L, ]), 0L)
  expect_identical(dim(predict(fit, d[0L, ], interval = "prediction")), c(0L, 3L))
  expect_true(is.na(predict(fit, data.frame(x = NA_real_))))
})
