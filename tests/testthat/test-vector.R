# Responses of several components against dense Gaussian algebra, and what every fit has to answer.

currents <- function(n = 24L, seed = 1) {
  set.seed(seed)
  d <- data.frame(x = runif(n, 0, 3), y = runif(n, 0, 3))
  d$u <- sin(d$y) + 0.3 * d$x + 0.2 * rnorm(n)
  d$v <- cos(d$x) + 2 + 0.3 * rnorm(n)
  d
}

some_missing <- function(d) {
  d$u[3:4] <- NA
  d$v[c(6L, 8L)] <- NA
  d
}

AT <- list(stream = kernel_rbf(0.8, 2.5), potential = kernel_matern52(0.3, 2))

NOISE <- lik_gaussian(c(0.05, 0.08), "full", 0.4)

field_fit <- function(d, ..., kernel = do.call(kernel_helmholtz, AT), likelihood = NOISE) {
  sparsegp(cbind(u, v) ~ x + y, d, kernel = kernel, likelihood = likelihood, scale = FALSE,
           learn = FALSE, mean = "average", ...)
}

# The regression that such a fit is: values that are there, their noise, prior covariances
dense_field <- function(d, new = d[c("x", "y")], kernel = do.call(kernel_helmholtz, AT),
                        theta = log(c(0.8, 2.5, 0.3, 2)),
                        centre = colMeans(d[c("u", "v")], na.rm = TRUE),
                        noise = mvnormal_covariance(c(log(c(0.05, 0.08)), 2 * atanh(0.4)), 2L)) {
  resolved <- resolved_field(kernel)
  y <- as.matrix(d[c("u", "v")])
  there <- !is.na(c(t(y)))
  x <- tall(as.matrix(d[c("x", "y")]), 1:2)
  z <- tall(as.matrix(new), 1:2)
  k <- function(a, b) reference_kernel(resolved, theta, a, b)
  total <- (k(x, x) + kronecker(diag(nrow(d)), noise))[there, there]
  away <- c(t(sweep(y, 2L, centre)))[there]
  cross <- k(z, x)[, there]
  noises <- kronecker(diag(nrow(d)), noise)[there, there]
  list(logz = reference_gaussian_evidence(total, away, 0), free = sum(noises * solve(total)),
       mean = rep(unname(centre), nrow(new)) + drop(cross %*% solve(total, away)),
       cov = k(z, z) - cross %*% solve(total, t(cross)), noise = noise)
}

pairs_of <- function(values) matrix(values, ncol = 2L, byrow = TRUE)

test_that("full EP of two components is dense regression: evidence, moments, intervals", {
  memory_tier()
  d <- some_missing(currents())
  fit <- field_fit(d)
  new <- data.frame(x = c(0.5, 2, NA, 1), y = c(1, 2.5, 1, 0.3), row.names = letters[1:4])
  exact <- dense_field(d, new[-3L, ])
  expect_equal(fit$log_evidence, exact$logz, tolerance = 1e-10)
  found <- predict(fit, new, se.fit = TRUE)
  expect_identical(dimnames(found$fit), list(letters[1:4], c("u", "v")))
  expect_true(all(is.na(found$fit[3L, ])))
  expect_equal(c(t(found$fit[-3L, ])), exact$mean, tolerance = 1e-10)
  expect_equal(unname(found$se.fit[-3L, ]), pairs_of(sqrt(diag(exact$cov))), tolerance = 1e-10)
  expect_equal(c(found$covariance[, , -3L]), blocks_of(exact$cov), tolerance = 1e-10)
  expect_identical(dimnames(found$covariance), list(c("u", "v"), c("u", "v"), letters[1:4]))
  for (kind in c("confidence", "prediction")) {
    band <- predict(fit, new, interval = kind, level = 0.8)
    sd <- sqrt(diag(exact$cov) + if (kind == "prediction") diag(exact$noise) else 0)
    expect_equal(c(t(band[-3L, "upr", ])), exact$mean + qnorm(0.9) * sd, tolerance = 1e-10)
    expect_equal(c(t(band[-3L, "lwr", ])), exact$mean - qnorm(0.9) * sd, tolerance = 1e-10)
    expect_identical(dimnames(band), list(letters[1:4], c("fit", "lwr", "upr"), c("u", "v")))
  }
  expect_equal(predict(fit, type = "latent"), predict(fit, d), tolerance = 1e-12)
  expect_equal(unname(sigma(fit)), sqrt(c(0.05, 0.08)), tolerance = 1e-12)
  expect_identical(names(coef(fit)), c("k1.variance", "k1.lengthscale", "k2.variance",
                                       "k2.lengthscale", "noise.u", "noise.v", "correlation.u.v"))
  expect_equal(unname(coef(fit)), c(0.8, 2.5, 0.3, 2, 0.05, 0.08, 0.4), tolerance = 1e-12)
})

test_that("a row left out is predicted by the others: its density, its residuals", {
  slow_tier()
  d <- some_missing(currents(12L))
  fit <- field_fit(d)
  centre <- colMeans(d[3:4], na.rm = TRUE) # of all rows
  exact <- dense_field(d)
  rows <- of_tier(1:12, 3)
  alone <- vapply(rows, function(i) {
    exact$logz - dense_field(d[-i, ], d[1L, 1:2], centre = centre)$logz
  }, 0)
  expect_equal(unname(loo_lpd(fit)[rows]), alone, tolerance = 1e-9)
  away <- as.matrix(d[3:4]) - pairs_of(exact$mean)
  expect_equal(residuals(fit), away, tolerance = 1e-10, ignore_attr = TRUE)
  total <- pairs_of(diag(exact$cov)) + rep(diag(exact$noise), each = 12L)
  expect_equal(residuals(fit, "pearson"), away / sqrt(total), tolerance = 1e-10,
               ignore_attr = TRUE)
  quantiles <- residuals(fit, "quantile")
  table <- loo(fit)
  expect_identical(names(table), c("observed.u", "observed.v", "mean.u", "mean.v", "sd.u", "sd.v",
                                   "lpd"))
  expect_equal((table$observed.v - table$mean.v) / table$sd.v, unname(quantiles[, "v"]))
  wrong <- c(table$observed.u - table$mean.u, table$observed.v - table$mean.v)
  expect_equal(summary(fit)$loo_sd, sqrt(mean(wrong^2, na.rm = TRUE)))
  expect_identical(rownames(compare(fit, again = fit)), c("fit", "again"))
  expect_equal(is.na(quantiles), is.na(away), ignore_attr = TRUE)
  expect_equal(df.residual(fit), exact$free, tolerance = 1e-9)
  one <- dense_field(d[-6L, ], d[6L, 1:2], centre = centre)
  expect_equal(unname(quantiles[6L, "u"]),
               unname(d$u[6L] - one$mean[1L]) / sqrt(one$cov[1L, 1L] + one$noise[1L, 1L]),
               tolerance = 1e-9)
})

test_that("the gradient of the evidence is that of differences, of every kernel and noise", {
  memory_tier()
  d <- some_missing(currents(10L))
  for (kernel in list(kernel_helmholtz(), kernel_coregion(), kernel_coregion(rank = 0),
                      kernel_divfree() * kernel_rbf(vars = "x") +
                        kernel_coregion(kernel_constant()))) {
    for (covariance in c("spherical", "diagonal", "full")) {
      fit <- sparsegp(cbind(u, v) ~ x + y, d, kernel = kernel, learn = FALSE,
                      likelihood = lik_gaussian(covariance = covariance))
      problem <- problem_of_kept_rows(fit)
      problem$options <- method_ep(tol = 1e-12)
      theta <- fit$hyper$theta + seq(-0.3, 0.3, length.out = nrow(fit$hyper))
      run <- engine_run(problem, theta, gradient = TRUE)
      wanted <- numeric_gradient(function(theta) engine_run(problem, theta)$logz, theta)
      # differences with small steps, extrapolated
      expect_equal(run$gradient, wanted, tolerance = 1e-6,
                   label = paste(format(kernel), covariance))
    }
  }
})

test_that("numbers of the design: six locations, noise of a full covariance", {
  memory_tier()
  x <- as.matrix(expand.grid(c(0, 1), c(0, 1, 2)))
  c <- 1.6 * rbind(c(0.9, 0.5), c(0.7, 0.8), c(0.2, 0.9), c(-0.1, 1), c(-0.6, 0.7), c(-0.8, 0.2))
  model <- list(lik = list(type = "mvnormal"),
                spec = spec_for_c(resolved_field(kernel_helmholtz())), nkernel = 4L,
                response = list(unit = 1, processes = 1L, width = 2L))
  problem <- new_problem(model, tall(x, 1:2), t(c), numeric(12L), method_ep(tol = 1e-12))
  theta <- c(log(c(0.8, 2.5, 0.2, 2)), log(c(0.1, 0.2)), 2 * atanh(0.03 / sqrt(0.02)))
  run <- engine_run(problem, theta, posterior = TRUE)
  expect_equal(run$logz, -11.8047027569, tolerance = 1e-11)
  at <- engine_latent(problem, theta, run, tall(cbind(0.5, 0.5), 1:2))
  expect_equal(at$mean, c(0.688444374179, 1.25668475898), tolerance = 1e-11)
  problem[c("size", "frozen", "options")] <- list(12L, FALSE, method_online(12))
  stream <- engine_online(problem, theta, empty_state(3L))
  expect_equal(stream$count[7L], run$logz, tolerance = 1e-11)
  K <- kernel_matrix(problem$spec, theta[1:4], problem$x, problem$x)
  post <- list(alpha = drop(stream$alpha), E = tcrossprod(stream$H), Q = solve(K))
  # of kernel matrices of condition number 1e3
  expect_equal(wide_scores(post, rep(1:6, each = 2L), "kl"),
               c(0.335124129396, 0.285596854522, 0.0921134887886, 0.133684954346, 0.280110018571,
                 0.475914591562), tolerance = 1e-9)
})

test_that("predictions turn and move with the field; one scale for inputs and one for components", {
  memory_tier()
  d <- currents(15L)
  turn <- matrix(c(cos(0.7), sin(0.7), -sin(0.7), cos(0.7)), 2L)
  turned <- as.data.frame(cbind(as.matrix(d[1:2]) %*% t(turn), as.matrix(d[3:4]) %*% t(turn)))
  names(turned) <- names(d)
  turned <- transform(turned, x = 10 * x + 100, y = 10 * y - 7, u = 100 * u + 3, v = 100 * v - 20)
  fit <- function(d, formula = cbind(u, v) ~ x + y) {
    sparsegp(formula, d, kernel = kernel_helmholtz(), mean = "constant", learn = FALSE)
  }
  one <- fit(d)
  two <- fit(turned)
  expect_identical(unname(one$scaling$sd[1L]), unname(one$scaling$sd[2L]))
  expect_length(unique(two$scaling$sd), 1L)
  back <- sweep(sweep(fitted(two), 2L, c(3, -20)) / 100, 2L, 0) %*% turn
  expect_equal(unname(back), unname(fitted(one)), tolerance = 1e-10)
  # each unit of a density of 30 numbers is 100 of the other's
  expect_equal(two$log_evidence, one$log_evidence - 30 * log(100), tolerance = 1e-10)
  swapped <- fit(d, cbind(v, u) ~ y + x)
  expect_equal(fitted(swapped)[, c("u", "v")], fitted(one), tolerance = 1e-12)
  expect_equal(swapped$log_evidence, one$log_evidence, tolerance = 1e-12)
})

test_that("independent components are independent fits", {
  memory_tier()
  d <- currents(20L)
  both <- field_fit(d, kernel = kernel_coregion(kernel_rbf(lengthscale = 1.2), rank = 0,
                                                variance = c(0.5, 0.7)),
                    likelihood = lik_gaussian(c(0.05, 0.08), "diagonal"))
  each <- lapply(c("u", "v"), function(name) {
    sparsegp(reformulate(c("x", "y"), name), d, scale = FALSE, learn = FALSE, mean = "average",
             kernel = kernel_rbf(if (name == "u") 0.5 else 0.7, 1.2),
             likelihood = lik_gaussian(if (name == "u") 0.05 else 0.08))
  })
  expect_equal(both$log_evidence, each[[1L]]$log_evidence + each[[2L]]$log_evidence,
               tolerance = 1e-10)
  expect_equal(unname(fitted(both)[, "v"]), unname(fitted(each[[2L]])), tolerance = 1e-10)
  expect_equal(unname(loo_lpd(both)), unname(loo_lpd(each[[1L]]) + loo_lpd(each[[2L]])),
               tolerance = 1e-9)
})

test_that("every method with room for all locations is the full fit", {
  memory_tier()
  d <- some_missing(currents(16L))
  full <- field_fit(d)
  new <- data.frame(x = c(0.5, 2), y = c(1, 2.5))
  wanted <- predict(full, new, se.fit = TRUE)
  fits <- list(
    basis = field_fit(d, basis = 1:16),
    points = field_fit(d, basis = d[c("x", "y")]),
    kl = field_fit(d, method = method_ep(16, projection = "kl", freeze = Inf)),
    ivm = field_fit(d, method = method_ivm(16)),
    stream = field_fit(d, method = method_online(16, pilot = 16))
  )
  for (name in names(fits)) {
    expect_equal(predict(fits[[name]], new, se.fit = TRUE), wanted, tolerance = 1e-6, label = name)
    expect_equal(fits[[name]]$log_evidence, full$log_evidence, tolerance = 1e-6, label = name)
    expect_equal(nrow(basis(fits[[name]])), 16L, label = name)
  }
  expect_identical(attr(basis(full), "rows"), 1:16)
  expect_equal(unname(basis(full)), unname(as.matrix(d[1:2])), tolerance = 1e-12,
               ignore_attr = TRUE)
})

test_that("smaller bases: of whole locations, with the evidence of block FITC", {
  memory_tier()
  d <- currents(30L)
  fit <- field_fit(d, basis = c(2, 7, 11, 20, 25))
  resolved <- resolved_field(do.call(kernel_helmholtz, AT))
  x <- tall(as.matrix(d[1:2]), 1:2)
  K <- reference_kernel(resolved, log(c(0.8, 2.5, 0.3, 2)), x, x)
  at <- stacked_rows(c(2, 7, 11, 20, 25), 2)
  low <- K[, at] %*% solve(K[at, at], K[at, ])
  total <- low + block_diagonal(K - low) +
    kronecker(diag(30L), mvnormal_covariance(c(log(c(0.05, 0.08)), 2 * atanh(0.4)), 2L))
  y <- c(t(sweep(as.matrix(d[3:4]), 2L, colMeans(d[3:4]))))
  expect_equal(fit$log_evidence, reference_gaussian_evidence(total, y, 0), tolerance = 1e-9)
  expect_identical(attr(basis(fit), "rows"), c(2L, 7L, 11L, 20L, 25L))
  for (method in list(method_ep(6), method_ivm(6))) {
    few <- field_fit(d, method = method)
    expect_gt(few$log_evidence, fit$log_evidence - 30)
    expect_lte(nrow(few$posterior$basis), 12L)
    expect_output(print(few), "2 inputs; gaussian likelihood")
  }
  expect_identical(nrow(basis(few)), 6L)
})

test_that("rows come in chunks, by update(), like and merge()", {
  memory_tier()
  d <- some_missing(currents(40L))
  all <- field_fit(d, basis = d[1:6, 1:2], control = gp_control(keep_x = TRUE))
  grown <- update(field_fit(d[1:15, ], basis = d[1:6, 1:2]), d[16:40, ])
  expect_identical(nobs(grown), 40L)
  centre <- field_fit(d[1:15, ], basis = d[1:6, 1:2])$response$centre
  expect_equal(grown$response$centre, centre)
  other <- merge(field_fit(d[1:15, ], basis = d[1:6, 1:2]),
                 sparsegp(control = gp_control(like = field_fit(d[1:15, ], basis = d[1:6, 1:2])),
                          data = d[16:40, ]))
  expect_equal(other$log_evidence, grown$log_evidence, tolerance = 1e-10)
  expect_equal(predict(other, d), predict(grown, d), tolerance = 1e-10)
  expect_equal(loo_lpd(other), loo_lpd(grown), tolerance = 1e-10)
  no_inputs <- update(field_fit(d[1:15, ], basis = d[1:6, 1:2],
                                control = gp_control(keep_x = FALSE)), d[16:40, ])
  expect_equal(no_inputs$log_evidence, grown$log_evidence, tolerance = 1e-10)
  stream <- function(chunks) {
    fit <- field_fit(d[0L, ], method = method_online(8, pilot = 10))
    for (rows in chunks) fit <- update(fit, d[rows, ])
    fit
  }
  one <- stream(list(1:40))
  many <- stream(split(1:40, rep(1:8, 5)[order(rep(1:8, 5))]))
  expect_equal(many$log_evidence, one$log_evidence, tolerance = 1e-10)
  expect_equal(basis(many), basis(one), tolerance = 1e-12)
  expect_lt(kl(one, many), 1e-9)
  expect_true(all(attr(basis(one), "rows") %in% 1:40))
  rows <- attr(basis(one), "rows")
  expect_equal(unname(basis(one)), unname(as.matrix(d[rows, 1:2])), tolerance = 1e-12,
               ignore_attr = TRUE)
  random <- field_fit(d, method = method_online(8, pilot = 10, order = "random"))
  rows <- attr(basis(random), "rows")
  expect_equal(unname(basis(random)), unname(as.matrix(d[rows, 1:2])), tolerance = 1e-12,
               ignore_attr = TRUE)
})

test_that("fields that follow are derivatives of the mean, and so are their deviations", {
  memory_tier()
  d <- currents(20L)
  fit <- sparsegp(cbind(u, v) ~ x + y, d, kernel = do.call(kernel_helmholtz, AT), learn = FALSE,
                  mean = "constant")
  at <- c(1.2, 0.7)
  mean_at <- function(component) {
    function(at) predict(fit, data.frame(x = at[1L], y = at[2L]))[, component]
  }
  slope <- lapply(c("u", "v"), function(component) numeric_gradient(mean_at(component), at))
  new <- data.frame(x = c(at[1L], NA), y = at[2L])
  derived <- function(type, ...) vector_field(fit, new, type = type, ...)
  # differences with small steps, extrapolated
  expect_equal(derived("divergence")[[1L]], slope[[1L]][1L] + slope[[2L]][2L], tolerance = 1e-7)
  expect_equal(derived("vorticity")[[1L]], slope[[2L]][1L] - slope[[1L]][2L], tolerance = 1e-7)
  expect_true(is.na(derived("divergence")[[2L]]))
  source <- function(type) {
    numeric_gradient(function(at) {
      vector_field(fit, data.frame(x = at[1L], y = at[2L]), type = type)[[1L]]
    }, at)
  }
  less_constant <- mean_at("u")(at) - summary(fit)$mean["constant.u", "estimate"]
  expect_equal(source("potential")[1L] - source("stream")[2L], less_constant[[1L]],
               tolerance = 1e-7)
  h <- 1e-3
  steps <- data.frame(x = at[1L] + c(h, -h, 0, 0), y = at[2L] + c(0, 0, h, -h))
  weights <- c(1, 0, -1, 0, 0, 1, 0, -1) / (2 * h)
  joint <- joint_moments(fit, stack_components(scaled_inputs(as.matrix(steps), fit$scaling), 2L))
  sd <- sqrt(sum(weights * (joint$var %*% weights))) * fit$response$unit
  # an error of h
  expect_equal(derived("divergence", se.fit = TRUE)$se.fit[[1L]], sd, tolerance = 1e-2)
  band <- derived("stream", interval = "confidence", level = 0.9, se.fit = TRUE)
  expect_equal(unname(band$fit[1L, "upr"] - band$fit[1L, "fit"]),
               qnorm(0.95) * band$se.fit[[1L]], tolerance = 1e-12)
  expect_equal(unname(vector_field(fit, type = "vorticity")),
               unname(vector_field(fit, d, type = "vorticity")), tolerance = 1e-10)
  refused <- function(kernel, type) {
    fit <- field_fit(d, kernel = kernel)
    expect_error(vector_field(fit, new, type = type), "`type`", class = "sparsegp_error")
  }
  refused(kernel_coregion(), "divergence")
  refused(kernel_helmholtz(kernel_matern32(), kernel_matern32()), "vorticity")
  refused(kernel_helmholtz() + kernel_coregion(), "stream")
  fine <- field_fit(d, kernel = kernel_divfree() + kernel_coregion(kernel_constant()))
  expect_equal(vector_field(fine, d[1:2, ], type = "divergence", se.fit = TRUE)$se.fit,
               c("1" = 0, "2" = 0))
  expect_error(vector_field(sparsegp(u ~ x, d, learn = FALSE), type = "divergence"), "field",
               class = "sparsegp_error")
})

test_that("draws are of every component, and of rows that are complete", {
  memory_tier()
  d <- currents(6L)
  fit <- field_fit(d)
  drawn <- draws(fit, data.frame(x = c(0.5, NA), y = 1), n = 3)
  expect_identical(dimnames(drawn), list(c("1", "2"), paste0("draw_", 1:3), c("u", "v")))
  expect_true(all(is.na(drawn[2L, , ])) && !anyNA(drawn[1L, , ]))
  answer <- predict(fit, d, se.fit = TRUE)
  set.seed(1)
  errors <- apply(draws(fit, d, n = 100), c(1L, 3L), mean) - answer$fit
  expect_lt(max(abs(errors) / answer$se.fit), 4.5 / sqrt(100))
})

test_that("draws and simulations have the posterior's moments", {
  slow_tier()
  d <- currents(12L)
  fit <- field_fit(d)
  new <- data.frame(x = c(0.5, NA, 2), y = c(1, 1, 2.5))
  set.seed(5)
  drawn <- draws(fit, new, n = 1500)
  expect_identical(dim(drawn), c(3L, 1500L, 2L))
  expect_true(all(is.na(drawn[2L, , ])))
  exact <- dense_field(d, new[-2L, ])
  values <- rbind(drawn[1L, , "u"], drawn[1L, , "v"], drawn[3L, , "u"], drawn[3L, , "v"])
  # four standard errors of 1500 draws
  expect_lt(max(abs(rowMeans(values) - exact$mean) / sqrt(diag(exact$cov) / 1500)), 4)
  expect_lt(max(abs(cov(t(values)) - exact$cov)), 4 * max(diag(exact$cov)) * sqrt(2 / 1500))
  responses <- simulate(fit, nsim = 800, seed = 3)
  expect_identical(dim(responses), c(12L, 800L))
  expect_identical(colnames(responses$sim_1), c("u", "v"))
  errors <- vapply(responses, function(y) y[1L, ], c(u = 0, v = 0)) - dense_field(d)$mean[1:2]
  total <- dense_field(d)$cov[1:2, 1:2] + exact$noise
  expect_lt(max(abs(cov(t(errors)) - total)), 4 * max(total) * sqrt(2 / 800))
  expect_lt(max(abs(rowMeans(errors)) / sqrt(diag(total) / 800)), 4)
})

test_that("offsets are known means: one for all components, or a column for each", {
  memory_tier()
  d <- currents(14L)
  d$a <- 3 * d$x
  d$b <- d$y^2
  shifted <- transform(d, u = u + a, v = v + b)
  plain <- field_fit(d)
  with <- function(formula, data) {
    sparsegp(formula, data, kernel = do.call(kernel_helmholtz, AT), likelihood = NOISE,
             scale = FALSE, learn = FALSE, mean = "average")
  }
  both <- with(cbind(u, v) ~ x + y + offset(cbind(a, b)), shifted)
  expect_equal(both$log_evidence, plain$log_evidence, tolerance = 1e-10)
  expect_equal(predict(both, shifted[1:3, ]), predict(plain, d[1:3, ]) + as.matrix(d[1:3, 5:6]),
               tolerance = 1e-10)
  one <- with(cbind(u, v) ~ x + y + offset(a), transform(d, u = u + a, v = v + a))
  expect_equal(one$log_evidence, plain$log_evidence, tolerance = 1e-10)
  by_matrix <- sparsegp(as.matrix(d[1:2]), as.matrix(shifted[3:4]), NOISE,
                        do.call(kernel_helmholtz, AT), offset = as.matrix(d[5:6]), scale = FALSE,
                        learn = FALSE, mean = "average")
  expect_equal(by_matrix$log_evidence, plain$log_evidence, tolerance = 1e-10)
  expect_equal(unname(predict(by_matrix, as.matrix(d[1:2]), offset = as.matrix(d[5:6]))),
               unname(fitted(both)), tolerance = 1e-10)
})

test_that("which rows and columns are responses, and what is missing of them", {
  memory_tier()
  d <- some_missing(currents(12L))
  d[9L, 3:4] <- NA
  fit <- field_fit(d)
  expect_identical(nobs(fit), 11L)
  expect_output(print(summary(fit)), "missing values of components: 4")
  expect_output(print(summary(fit)), "rows with missing values left out: 1")
  expect_identical(rownames(fitted(field_fit(d, na.action = na.exclude))), as.character(1:12))
  matrix_fit <- sparsegp(as.matrix(d[1:2]), unname(as.matrix(d[3:4])), NOISE,
                         do.call(kernel_helmholtz, AT), scale = FALSE, learn = FALSE,
                         mean = "average")
  expect_equal(matrix_fit$log_evidence, fit$log_evidence, tolerance = 1e-12)
  expect_identical(colnames(fitted(matrix_fit)), c("y1", "y2"))
  three <- sparsegp(cbind(u, v, w = u - v) ~ x + y, d, learn = FALSE)
  expect_identical(dim(fitted(three)), c(11L, 3L))
  expect_identical(format(three$kernel), "coregion() * rbf(variance = fixed(1))")
  expect_identical(three$likelihood$covariance, "spherical")
  default <- sparsegp(cbind(u, v) ~ x + y, d, learn = FALSE)
  expect_identical(default$n, 11L)
})

test_that("what cannot be is refused by name", {
  memory_tier()
  d <- currents(10L)
  refused <- function(code, argument) {
    expect_identical(tryCatch(code, sparsegp_error = function(e) e$argument), argument)
  }
  fit <- function(...) sparsegp(cbind(u, v) ~ x + y, d, learn = FALSE, ...)
  refused(fit(kernel = kernel_rbf()), "kernel")
  refused(fit(weights = d$x + 1), "weights")
  refused(fit(likelihood = lik_gaussian(d$x + 1)), "variance")
  refused(fit(likelihood = "student"), "y")
  refused(fit(method = method_ivm(4, refine = "none")), "method")
  refused(sparsegp(cbind(u, v) ~ x + y, d, method = method_ivm(4), learn = learn_control("ivm")),
          "learn")
  refused(sparsegp(u ~ x, d, likelihood = lik_gaussian(covariance = "full")), "y")
  refused(lik_gaussian(correlation = 0.3), "correlation")
  refused(lik_gaussian(covariance = "block"), "covariance")
  refused(lik_gaussian(covariance = "full", correlation = 2), "correlation")
  refused(sparsegp(cbind(u, v) ~ x + y, transform(d, v = NA_real_), learn = FALSE), "y")
  refused(sparsegp(cbind(u, v) ~ x + y, transform(d, v = Inf), learn = FALSE), "y")
  refused(sparsegp(matrix(1:20, 10L), matrix(rnorm(90L), 10L)), "y")
  refused(fit(likelihood = lik_gaussian(c(1, 2, 3), "diagonal")), "noise")
  one <- fit()
  refused(predict(one, type = "class"), "type")
  refused(predict(one, type = "terms"), "type")
  refused(predict(one, covariance = TRUE), "covariance")
  refused(plot(one, type = "loo"), "x")
  refused(calibration(one, type = "probabilities"), "type")
  refused(update(fit(basis = 1:4), transform(d[1:2, ], u = Inf)), "y")
})

test_that("fits are plain data: saved, looked at, printed", {
  slow_tier()
  d <- some_missing(currents(12L))
  fits <- list(field_fit(d), field_fit(d, basis = 1:4), field_fit(d, method = method_online(5)))
  for (fit in fits) {
    file <- tempfile()
    saveRDS(fit, file)
    expect_equal(predict(readRDS(file), d), predict(fit, d))
    for (field in c("width", "components", "centre")) {
      broken <- fit
      broken$response[[field]] <- broken$response[[field]][-1L]
      expect_error(predict(broken, d), "response", class = "sparsegp_error")
    }
    broken <- fit
    broken$spec$parts[[1L]]$vars <- 7L
    expect_error(predict(broken, d), "spec", class = "sparsegp_error")
  }
  expect_output(print(fits[[1L]]), "components: u, v; prior means: ")
  expect_output(print(fits[[1L]]), "noise: u 0.2236, v 0.2828", fixed = TRUE)
  expect_output(print(summary(fits[[1L]])), "correlation.u.v")
  expect_output(print(NOISE), paste0("gaussian(noise = c(0.05, 0.08), correlation = 0.4, ",
                                     "covariance = \"full\")"), fixed = TRUE)
  sites <- sites(fits[[1L]])
  expect_identical(names(sites), c("row", "precision.u.u", "precision.u.v", "precision.v.v",
                                   "shift.u", "shift.v"))
  expect_identical(unname(unlist(sites[3L, c(2L, 3L, 5L)])), c(0, 0, 0))
  expect_equal(sites[6L, "precision.u.u"], 1 / 0.05, tolerance = 1e-10)
})

test_that("learning finds the noise and the structure", {
  slow_tier()
  set.seed(4)
  n <- 150L
  d <- data.frame(x = runif(n, 0, 4), y = runif(n, 0, 4))
  L <- t(chol(matrix(c(0.04, 0.018, 0.018, 0.02), 2L)))
  d[c("u", "v")] <- cbind(-sin(d$x) * sin(d$y), -cos(d$x) * cos(d$y)) +
    t(L %*% matrix(rnorm(2 * n), 2L))
  full <- sparsegp(cbind(u, v) ~ x + y, d, lik_gaussian(covariance = "full"),
                   kernel_helmholtz())
  # standard errors of 150 rows
  expect_lt(abs(log(coef(full)[["noise.u"]] / 0.04)), 0.4)
  expect_lt(abs(coef(full)[["correlation.u.v"]] - 0.018 / sqrt(0.0008)), 0.2)
  # psi = -sin(x) cos(y): the stream function carries it
  expect_gt(coef(full)[["k1.variance"]], 5 * coef(full)[["k2.variance"]])
  spherical <- sparsegp(cbind(u, v) ~ x + y, d, kernel = kernel_helmholtz())
  expect_gt(full$log_evidence, spherical$log_evidence + 10)
})

test_that("components of many rows learn on some of them, and are fitted to all", {
  slow_tier()
  set.seed(4)
  d <- data.frame(x = runif(300), z = runif(300))
  d$a <- sin(6 * d$x) + 0.1 * rnorm(300)
  d$b <- d$a + cos(4 * d$z) + 0.2 * rnorm(300)
  fits <- lapply(list(some = 60, all = 150), function(rows) {
    with_policy(pilot_rows = rows, full_ep_flops = 1, code = {
      sparsegp(cbind(a, b) ~ x + z, d, kernel = kernel_coregion(kernel_rbf()), mean = "zero",
               control = gp_control(integrate = "none"))
    })
  })
  expect_true(all(fits$some$choices$rows == 120L))
  expect_true(all(vapply(fits, nobs, 0L) == 300L))
  # 120 rows see what 300 do, within a fifth of the noise of b
  apart <- predict(fits$some, d) - predict(fits$all, d)
  expect_lt(max(abs(apart)), 0.2)
  expect_lt(sqrt(mean(apart^2)), 0.04)
  # the part of a problem is that of its rows: two values of each
  problem <- problem_of_fit(fits$all)
  some <- part_of_problem(problem, c(7L, 3L))
  expect_identical(some$x, problem$x[c(13, 14, 5, 6), ])
  expect_identical(some$rows, problem$rows[, c(7, 3)])
})

test_that("full EP of several components keeps its inputs, which its basis and pictures need", {
  memory_tier()
  d <- data.frame(x = c(1, 2, 4, 5), y = c(0, 1, 1, 3))
  d$u <- c(0.1, 0.4, -0.2, 0.3)
  d$v <- c(1, 0.7, 0.6, 0.2)
  fit <- sparsegp(cbind(u, v) ~ x + y, d, learn = FALSE, control = gp_control(keep_x = FALSE))
  expect_equal(unname(basis(fit)[, 1:2]), unname(as.matrix(d[1:2])), tolerance = 1e-12) # rounding
  expect_silent(rows_of(fit, NULL))
})

test_that("a field without a mean has zero, or a constant that is worth its evidence", {
  slow_tier()
  set.seed(3)
  d <- data.frame(x = runif(10, 0, 1.6), y = runif(10, 0, 4))
  d$u <- -sin(d$y) * cos(d$x) + 0.1 * rnorm(10)
  d$v <- cos(d$y) * sin(d$x) + 0.1 * rnorm(10)
  d$w <- d$u + 5
  mean_of <- function(fit) fit$choices$candidate[fit$choices$stage == "prior mean" &
                                                   fit$choices$taken]
  for (kernel in list(kernel_helmholtz(), kernel_divfree())) {
    own <- sparsegp(cbind(u, v) ~ x + y, d, kernel = kernel)
    expect_identical(mean_of(own), "zero")
    expect_identical(unname(own$response$centre), c(0, 0))
    # far away predictions are 0
    far <- predict(own, data.frame(x = 1e3, y = 1e3))
    expect_lt(max(abs(far)), 1e-6)
    drift <- sparsegp(cbind(w, v) ~ x + y, d, kernel = kernel)
    expect_identical(mean_of(drift), "constant")
    known <- sapply(c("zero", "constant"), function(mean) {
      logLik(sparsegp(cbind(w, v) ~ x + y, d, kernel = kernel, mean = mean))
    })
    expect_gt(known[["constant"]], known[["zero"]] + 1)
    # another search may end a little apart
    expect_equal(as.double(logLik(drift)), known[["constant"]], tolerance = 0.1)
  }
  expect_null(sparsegp(cbind(u, v) ~ x + y, d, kernel = kernel_helmholtz(),
                       mean = "zero")$choices$stage)
  fixed <- sparsegp(cbind(w, v) ~ x + y, d, kernel = kernel_helmholtz(), learn = FALSE)
  expect_identical(unname(fixed$response$centre), c(0, 0))
  stream <- sparsegp(cbind(w, v) ~ x + y, d, kernel = kernel_helmholtz(), learn = FALSE,
                     method = method_online(4, pilot = 8))
  expect_identical(unname(stream$response$centre), c(0, 0))
  numbers <- sparsegp(cbind(w, v) ~ x + y, d, kernel = kernel_coregion(), learn = FALSE)
  expect_gt(abs(numbers$response$centre[[1L]]), 1)
})
