# predict(type = "terms"): parts of a sum of kernels against the Gaussian written out.

r_code_alone()

two_parts <- function() kernel_rbf(vars = "wt") + kernel_linear(vars = "hp") + kernel_constant()

# Mean and covariance of the effects of parts 1 and 2 (at x, one after the other) given y, centred
# over the training rows: f = M y with all matrices formed.
reference_effects <- function(fit, x, new) {
  theta <- split(kernel_theta(fit), c(1, 1, 2, 3))
  n <- nrow(x)
  part <- function(k, a, b) reference_kernel(resolved(fit)$parts[[k]], theta[[k]], a, b)
  mean_off <- rbind(cbind(diag(nrow(new)), matrix(-1 / n, nrow(new), n))) # effect of c(new, rows)
  all <- rbind(new, x)
  prior <- lapply(1:2, function(k) mean_off %*% part(k, all, all) %*% t(mean_off))
  cross <- rbind(mean_off %*% part(1, all, x), mean_off %*% part(2, all, x))
  K <- part(1, x, x) + part(2, x, x) + part(3, x, x)
  noise <- coef(fit)[["noise"]] / fit$response$unit^2
  y <- (fit$y - fit$response$centre) / fit$response$unit
  joint <- block_diagonal(prior) - cross %*% solve(K + noise * diag(n), t(cross))
  list(mean = cross %*% solve(K + noise * diag(n), y) * fit$response$unit,
       cov = joint * fit$response$unit^2)
}

block_diagonal <- function(two) {
  none <- matrix(0, nrow(two[[1L]]), ncol(two[[2L]]))
  rbind(cbind(two[[1L]], none), cbind(t(none), two[[2L]]))
}

resolved <- function(fit) {
  resolve_kernel(fit$kernel, list(names = fit$scaling$names, terms = fit$scaling$names,
                                  kept = fit$scaling$kept))
}

test_that("terms, their standard errors and those of sums are the Gaussian's", {
  slow_tier()
  fit <- sparsegp(mpg ~ wt + hp, mtcars, kernel = two_parts(), mean = "average",
                  control = gp_control(integrate = "none"))
  new <- mtcars[c(1, 9, 20), ]
  new$wt <- new$wt + 1
  scaled <- function(data) scaled_inputs(as.matrix(data[c("wt", "hp")]), fit$scaling)
  wanted <- reference_effects(fit, scaled(mtcars), scaled(new))
  got <- predict(fit, new, type = "terms", se.fit = TRUE)
  expect_identical(dimnames(got$fit), list(rownames(new), c("rbf(wt)", "linear(hp)")))
  # 1e-8: variances by differences of numbers a thousand times as large
  expect_equal(as.vector(got$fit), as.vector(wanted$mean), tolerance = 1e-8)
  expect_equal(as.vector(got$se.fit), sqrt(diag(wanted$cov)), tolerance = 1e-8)
  both <- predict(fit, new, type = "terms", terms = list(both = 1:2), se.fit = TRUE)
  total <- cbind(diag(3), diag(3))
  expect_equal(as.vector(both$se.fit), sqrt(diag(total %*% wanted$cov %*% t(total))),
               tolerance = 1e-8)
  expect_gt(max(abs(both$se.fit^2 - rowSums(got$se.fit^2))), 1e-3) # not as if independent
})

test_that("terms, constant and offset are the mean of the latent function plus bias", {
  slow_tier()
  cars <- transform(mtcars, o = wt)
  fits <- list(
    sparsegp(mpg ~ wt + hp + offset(o), cars, kernel = two_parts()),
    sparsegp(am ~ wt + hp, mtcars, "probit", kernel = two_parts()),
    sparsegp(carb ~ wt + hp, mtcars, "poisson", kernel = two_parts(), basis = seq(1, 32, 4))
  )
  for (fit in fits) {
    terms <- predict(fit, cars[1:5, ], type = "terms")
    latent <- predict(fit, cars[1:5, ], type = "link")
    offset <- if (any(fit$offset != 0)) cars$o[1:5] else 0
    expect_equal(rowSums(terms) + attr(terms, "constant") + offset, latent, tolerance = 1e-10)
  }
})

test_that("all terms together vary as the latent function less its mean, in any posterior", {
  slow_tier()
  # Student noise leaves sites of negative precision, so that the posterior has both factors
  cars <- transform(mtcars, mpg = replace(mpg, 3, 60))
  fit <- sparsegp(mpg ~ wt + hp, cars, "student", kernel = two_parts(), learn = FALSE)
  expect_false(is.null(fit$posterior$H))
  new <- cars[1:4, ]
  x <- rbind(scaled_inputs(as.matrix(new[c("wt", "hp")]), fit$scaling), rows_to_centre(fit))
  # the constant's kernel has no part in a difference
  effect <- cbind(diag(4), matrix(-1 / 32, 4, 32))
  wanted <- effect %*% joint_moments(fit, x)$var %*% t(effect)
  got <- predict(fit, new, type = "terms", terms = list(1:2), se.fit = TRUE)
  expect_identical(colnames(got$fit), "rbf(wt) + linear(hp)")
  expect_equal(as.vector(got$se.fit), sqrt(diag(wanted)) * fit$response$unit, tolerance = 1e-8)
})

test_that("terms keep rows with missing values and refuse what is none", {
  slow_tier()
  fit <- sparsegp(Ozone ~ Wind + Temp, airquality, na.action = na.exclude,
                  kernel = kernel_rbf(vars = "Wind") + kernel_rbf(vars = "Wind") *
                    kernel_rbf(vars = "Temp"))
  expect_identical(dim(predict(fit, type = "terms")), c(153L, 2L))
  expect_identical(colnames(predict(fit, airquality[1, ], type = "terms")),
                   c("rbf(Wind)", "rbf(Wind) * rbf(Temp)"))
  row <- data.frame(Wind = c(8, NA), Temp = 70)
  expect_identical(is.na(predict(fit, row, type = "terms")[, 1L]), c("1" = FALSE, "2" = TRUE))
  expect_error(predict(fit, row, type = "terms", terms = "rbf(x)"), "The parts are rbf.Wind.",
               class = "sparsegp_error")
  expect_error(predict(fit, row, type = "terms", interval = "confidence"), "se.fit",
               class = "sparsegp_error")
  expect_error(predict(fit, row, terms = 1), "type = \"terms\"", class = "sparsegp_error")
})

test_that("every class has terms of its own latent function, by its own kernel if there is one", {
  slow_tier()
  few <- iris[seq(1, 150, 5), ]
  kernel <- kernel_rbf(vars = "Sepal.Width") + kernel_linear(vars = "Petal.Width")
  liks <- list(lik_mprobit(coupled = FALSE), lik_softmax(coupled = FALSE),
               lik_mprobit(shared = FALSE), lik_probit())
  for (lik in liks) {
    fit <- sparsegp(Species ~ Sepal.Width + Petal.Width, few, lik, kernel = kernel, learn = FALSE)
    # kernels that differ, where there may be some
    own <- which(fit$hyper$base == "lengthscale")
    if (length(own) > 1L) fit$hyper$theta[own] <- log(c(0.5, 1, 2))
    terms <- predict(fit, few[1:4, ], type = "terms", se.fit = TRUE)
    expect_identical(dimnames(terms$fit), list(rownames(few)[1:4], names(fit_parts(fit)),
                                               levels(iris$Species)))
    constant <- attr(terms$fit, "constant")
    expect_named(constant, levels(iris$Species))
    expect_equal(apply(terms$fit, c(1, 3), sum) + rep(constant, each = 4),
                 predict(fit, few[1:4, ], type = "link"), tolerance = 1e-10)
    all <- predict(fit, few[1:4, ], type = "terms", terms = list(1:2), se.fit = TRUE)$se.fit
    x <- rbind(scaled_inputs(as.matrix(few[1:4, c(2, 4)]), fit$scaling), rows_to_centre(fit))
    effect <- cbind(diag(4), matrix(-1 / 30, 4, 30))
    for (class in 1:3) {
      wanted <- effect %*% joint_moments(fit, x, class)$var %*% t(effect)
      expect_equal(unname(all[, 1L, class]), sqrt(diag(wanted)), tolerance = 1e-7)
    }
  }
})

test_that("terms of no rows, and of a kernel without inputs, are tables without rows or columns", {
  slow_tier()
  d <- data.frame(a = 1:9 / 3, y = sin(1:9))
  fit <- sparsegp(y ~ a, d, kernel = kernel_rbf() + kernel_constant(), learn = FALSE)
  none <- predict(fit, d[0L, ], type = "terms", se.fit = TRUE)
  expect_identical(lapply(none, dim), list(fit = 0:1, se.fit = 0:1))
  fit <- sparsegp(y ~ a, d, kernel = kernel_constant(), learn = FALSE)
  flat <- predict(fit, d[1:3, ], type = "terms")
  expect_identical(dim(flat), c(3L, 0L))
  expect_equal(rep(attr(flat, "constant"), 3), predict(fit, d[1:3, ], type = "link"),
               ignore_attr = TRUE)
})
