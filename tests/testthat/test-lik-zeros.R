# Gamma, beta, zero-inflated and hurdle likelihoods: what they mean, beyond the contract.

# Data of x from a likelihood, with latent values sin(2 x).
zeros_data <- function(lik, value, n = 60L, seed = 3) {
  set.seed(seed)
  x <- runif(n, -2, 2)
  y <- lik_traits(lik)$draw(sin(2 * x), value, rep(1, n))
  data.frame(x = x, y = y)
}

ZEROS_CASES <- list(
  gamma = list(lik = function(...) lik_gamma(...), value = c(bias = 1, gamma_shape = 4)),
  beta = list(lik = function(...) lik_beta(...), value = c(bias = 0.3, precision = 10)),
  zip = list(lik = function(...) lik_zip(...), value = c(bias = 1, zero = 0.3)),
  zinb = list(lik = function(...) lik_zinb(...), value = c(bias = 1.5, size = 3, zero = 0.3)),
  hurdle_poisson = list(lik = function(...) lik_zip(..., hurdle = TRUE),
                        value = c(bias = 1, zero = 0.4)),
  hurdle_negbin = list(lik = function(...) lik_zinb(..., hurdle = TRUE),
                       value = c(bias = 1.5, size = 3, zero = 0.4))
)

fixed_lik <- function(case) do.call(case$lik, lapply(unname(case$value), fixed))

# log p of rows at a latent value
logp_of <- function(lik, theta, rows, f) {
  storage.mode(rows) <- "double"
  .Call(sg_lik_eval, c_lik(lik, theta), theta, rows, rep(f, ncol(rows)))$logp
}

test_that("rest terms of gamma functions are those of R's", {
  memory_tier()
  # through the likelihoods: densities are R's own
  for (shape in c(1e-6, 0.3, 4, 1e3)) {
    for (f in c(-3, 0, 2)) {
      y <- c(1e-5, 0.2, 3)
      found <- logp_of(lik_gamma(), c(0.1, log(shape)), rbind(y, log(y)), f)
      expect_equal(found, dgamma(y, shape, shape / exp(f + 0.1), log = TRUE), tolerance = 1e-10)
    }
  }
  for (precision in c(0.01, 0.7, 9, 1e4)) {
    y <- c(1e-4, 0.3, 0.9)
    found <- logp_of(lik_beta(), c(0.1, log(precision)), rbind(y, qlogis(y)), 0.4)
    m <- plogis(0.5)
    expect_equal(found, dbeta(y, precision * m, precision * (1 - m), log = TRUE), tolerance = 1e-9)
  }
})

test_that("probabilities of all counts sum to one", {
  memory_tier()
  for (name in c("zip", "zinb", "hurdle_poisson", "hurdle_negbin")) {
    case <- ZEROS_CASES[[name]]
    size <- if ("size" %in% names(case$value)) log(case$value[["size"]])
    theta <- c(case$value[["bias"]], size, qlogis(case$value[["zero"]]))
    y <- 0:400
    p <- exp(logp_of(fixed_lik(case), theta, count_rows(y), 0.4))
    expect_equal(sum(p), 1, tolerance = 1e-12, label = name)
    moments <- .Call(sg_lik_eval, c_lik(fixed_lik(case), theta), theta, NULL, 0.4)
    expect_equal(moments$mean, sum(p * y), tolerance = 1e-12, label = name)
    expect_equal(moments$var, sum(p * y^2) - sum(p * y)^2, tolerance = 1e-11, label = name)
  }
})

test_that("EP ends, and its answers go together", {
  slow_tier()
  for (name in names(ZEROS_CASES)) {
    case <- ZEROS_CASES[[name]]
    lik <- fixed_lik(case)
    d <- zeros_data(lik, case$value)
    fit <- sparsegp(y ~ x, d, lik, kernel_rbf(0.5, 0.7), learn = FALSE)
    expect_true(fit$convergence$converged, label = name)
    new <- data.frame(x = c(-1, 0.8))
    bounds <- predict(fit, new, interval = "prediction", level = 0.8)
    quantiles <- predict(fit, new, type = "quantile", at = c(0.1, 0.9))
    expect_equal(unname(bounds[, 2:3]), unname(quantiles), label = name)
    expect_true(all(is.finite(residuals(fit, "quantile"))), label = name)
    expect_true(all(is.finite(loo(fit)$lpd)), label = name)
    expect_equal(predict(fit, d, type = "response"), fitted(fit), ignore_attr = TRUE)
    if (!codec_of(fit)$name %in% "counts") next
    zero <- predict(fit, new, type = "zero")
    drawn <- replicate(400L, draw_response(fit, c(draws(fit, new, 1, type = "latent")), NULL, NULL))
    error <- 4.5 * sqrt(zero * (1 - zero) / 400)
    expect_true(all(abs(rowMeans(drawn == 0) - zero) < error), label = name)
  }
})

test_that("hyperparameters are found", {
  slow_tier()
  for (name in names(ZEROS_CASES)) {
    case <- ZEROS_CASES[[name]]
    d <- zeros_data(fixed_lik(case), case$value, 300L)
    fit <- sparsegp(y ~ x, d, case$lik(), kernel_rbf(0.5, 0.7),
                    control = gp_control(integrate = "none"))
    found <- coef(fit)[setdiff(names(case$value), "bias")]
    wanted <- case$value[names(found)]
    bounded <- names(found) == "zero"
    expect_true(all(ifelse(bounded, abs(found - wanted) < 0.12, abs(log(found / wanted)) < 0.8)),
                label = name)
  }
})

test_that("an exposure is an offset", {
  case <- ZEROS_CASES$zip
  d <- zeros_data(fixed_lik(case), case$value)
  d$exposure <- rep(c(1, 3), 30)
  kernel <- kernel_rbf(0.5, 0.7)
  fit <- sparsegp(y ~ x + offset(log(exposure)), d, fixed_lik(case), kernel, learn = FALSE)
  at <- predict(fit, data.frame(x = 0.3, exposure = c(1, 5)))
  expect_equal(at[[2L]] / at[[1L]], 5, tolerance = 1e-10)
})

test_that("responses that there cannot be are refused, with the remedy", {
  memory_tier()
  refused <- function(code, argument) {
    expect_error(code, paste0("`", argument, "`"), class = "sparsegp_error")
  }
  refused(sparsegp(1:6, c(1, 2, 0, 3, 1, 2), "gamma"), "y")
  refused(sparsegp(1:6, c(1, 0.2, 0.1, 0.3, 0.5, 0.7), "beta"), "y")
  expect_error(sparsegp(1:6, c(0, 0.2, 0.1, 0.3, 0.5, 0.7), "beta"), "inwards")
  refused(sparsegp(1:6, c(1, 2.5, 0, 3, 1, 2), "zip"), "y")
  refused(sparsegp(1:6, c(1, -1, 0, 3, 1, 2), "zinb"), "y")
  for (bad in list(-1, 0, 1, 2, NA, "a")) refused(lik_zip(zero = bad), "zero")
  refused(lik_zip(hurdle = NA), "hurdle")
  refused(lik_gamma(shape = 0), "shape")
  refused(lik_beta(precision = -1), "precision")
  fit <- sparsegp(1:6, c(1, 2, 4, 3, 1, 2), "gamma", learn = FALSE)
  refused(predict(fit, 3, type = "zero"), "type")
})

test_that("they go through streams, updates and files", {
  slow_tier()
  for (name in names(ZEROS_CASES)) {
    case <- ZEROS_CASES[[name]]
    lik <- fixed_lik(case)
    d <- zeros_data(lik, case$value, 200L)
    fit <- sparsegp(y ~ x, d[1:100, ], lik, kernel_rbf(0.5, 0.7), learn = FALSE,
                    method = method_ep(size = 25))
    more <- update(fit, d[101:200, ])
    stream <- sparsegp(y ~ x, d[1:100, ], lik, kernel_rbf(0.5, 0.7), learn = FALSE,
                       method = method_online(25))
    stream <- update(stream, d[101:200, ])
    both <- merge(fit, sparsegp(y ~ x, d[101:200, ], control = gp_control(like = fit)))
    truth <- predict(sparsegp(y ~ x, d, lik, kernel_rbf(0.5, 0.7), learn = FALSE), d)
    scale <- 0.25 * stats::sd(truth)
    for (other in list(more, stream, both)) {
      expect_lt(sqrt(mean((predict(other, d) - truth)^2)), scale, label = name)
    }
    file <- tempfile()
    saveRDS(fit, file)
    expect_identical(predict(readRDS(file), d), predict(fit, d))
  }
})
