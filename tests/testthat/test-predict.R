r_code_alone()

toy <- function(n = 24L) {
  set.seed(12)
  d <- data.frame(x = rnorm(n), z = runif(n), g = factor(sample(c("low dose", "high"), n, TRUE)),
                  l = runif(n) > 0.5)
  d$y <- sin(d$x) + d$z + rnorm(n, sd = 0.2) + 10
  d$class <- factor(ifelse(d$x + rnorm(n, sd = 0.7) > 0, "yes it is", "no"), c("no", "yes it is"))
  d
}

regression <- function(d = toy(), ...) sparsegp(y ~ x + z + g, d, learn = FALSE, ...)

classes <- function(d = toy(), likelihood = "probit") {
  sparsegp(class ~ x + z, d, likelihood = likelihood, learn = FALSE)
}

gap <- function(a, b) max(abs(unname(a) - unname(b)))

refused <- function(code, argument) {
  expect_error(code, paste0("`", argument, "`"), fixed = TRUE, class = "sparsegp_error")
}

# ---- Every combination ----

test_that("every type, se.fit and interval gives the documented shape or an error in words", {
  slow_tier()
  d <- toy()
  fits <- list(regression = regression(d), classes = classes(d))
  options <- expand.grid(
    fit = names(fits), type = c("response", "latent", "prob", "class"), se.fit = c(FALSE, TRUE),
    interval = c("none", "confidence", "prediction"), rows = c(0, 1, 5), stringsAsFactors = FALSE
  )
  legal <- with(options, {
    value <- type %in% c("response", "latent")
    (value & (interval != "prediction" | (type == "response" & fit == "regression"))) |
      (!value & fit == "classes" & !se.fit & interval == "none")
  })
  for (i in seq_len(nrow(options))) {
    case <- options[i, ]
    ask <- function() {
      predict(fits[[case$fit]], d[seq_len(case$rows), ], case$type, se.fit = case$se.fit,
              interval = case$interval)
    }
    what <- paste(unlist(case), collapse = " ")
    if (!legal[i]) {
      expect_error(ask(), "`(type|se.fit|interval)`", class = "sparsegp_error", label = what)
      next
    }
    answer <- ask()
    if (case$se.fit && case$interval != "none") {
      expect_named(answer, c("fit", "se.fit"), label = what)
      expect_length(answer$se.fit, case$rows)
      answer <- answer$fit
    }
    rows <- rownames(d)[seq_len(case$rows)]
    if (case$type == "prob") {
      expect_identical(dimnames(answer)[[2]], c("no", "yes it is"), label = what)
      expect_equal(dim(answer), c(case$rows, 2), label = what)
    } else if (case$type == "class") {
      expect_identical(levels(answer), c("no", "yes it is"), label = what)
      expect_length(answer, case$rows)
    } else if (case$interval != "none") {
      expect_equal(dim(answer), c(case$rows, 3), label = what)
      expect_identical(colnames(answer), c("fit", "lwr", "upr"), label = what)
      expect_true(all(answer[, "lwr"] < answer[, "fit"] & answer[, "fit"] < answer[, "upr"]))
    } else if (case$se.fit) {
      expect_named(answer, c("fit", "se.fit"))
      expect_identical(names(answer$se.fit), names(answer$fit), label = what)
      expect_true(all(answer$se.fit > 0), label = what)
    } else {
      expect_true(is.double(answer) && is.null(dim(answer)), label = what)
      if (case$rows > 0) expect_named(answer, rows)
    }
  }
})

test_that("without newdata the answer is for the training rows", {
  d <- toy()
  for (fit in list(regression(d), classes(d))) {
    expect_lt(gap(predict(fit), predict(fit, d)), 1e-9)
    expect_lt(gap(predict(fit, type = "latent", se.fit = TRUE)$se.fit,
                  predict(fit, d, type = "latent", se.fit = TRUE)$se.fit), 1e-7) # sqrt of rounding
    expect_identical(predict(fit), predict(fit, NULL))
    expect_identical(predict(fit), fitted(fit))
  }
})

# ---- Meaning ----

test_that("probabilities are averages over the latent function, which is without the bias", {
  d <- toy()
  sigmoid_mean <- function(mu, sd) {
    integrate(function(t) plogis(mu + sd * t) * dnorm(t), -12, 12, rel.tol = 1e-11)$value
  }
  links <- list(probit = function(mu, sd) pnorm(mu / sqrt(1 + sd^2)),
                logit = function(mu, sd) mapply(sigmoid_mean, mu, sd))
  for (likelihood in names(links)) {
    fit <- classes(d, likelihood)
    latent <- predict(fit, d, type = "latent", se.fit = TRUE)
    expected <- links[[likelihood]](latent$fit + coef(fit)[["bias"]], latent$se.fit)
    # the quadrature of the logit likelihood promises 1e-9
    expect_lt(gap(predict(fit, d), expected), 1e-9)
    prob <- predict(fit, d, type = "prob")
    expect_identical(prob[, "yes it is"], predict(fit, d))
    expect_lt(gap(rowSums(prob), 1), 1e-15)
    expect_identical(predict(fit, d, type = "class"),
                     setNames(factor(ifelse(prob[, 2] > 0.5, "yes it is", "no")), rownames(d)))
  }
})

test_that("the confidence interval of a probability is the latent interval's ends transformed", {
  d <- toy()
  fit <- classes(d)
  latent <- predict(fit, d, type = "latent", interval = "confidence", level = 0.8)
  response <- predict(fit, d, interval = "confidence", level = 0.8)
  bias <- coef(fit)[["bias"]]
  expect_lt(gap(response[, "lwr"], pnorm(latent[, "lwr"] + bias)), 1e-12)
  expect_lt(gap(response[, "upr"], pnorm(latent[, "upr"] + bias)), 1e-12)
})

test_that("se.fit of a probability is its standard deviation over the latent posterior", {
  d <- toy()[1:3, ]
  fit <- classes()
  latent <- predict(fit, d, type = "latent", se.fit = TRUE)
  mu <- latent$fit + coef(fit)[["bias"]]
  moment <- function(i, power) {
    density <- function(t) pnorm(mu[i] + latent$se.fit[i] * t)^power * dnorm(t)
    integrate(density, -12, 12, rel.tol = 1e-11)$value
  }
  expected <- vapply(1:3, function(i) sqrt(moment(i, 2) - moment(i, 1)^2), 0)
  expect_lt(gap(predict(fit, d, se.fit = TRUE)$se.fit, expected), 1e-8) # square root of 1e-9
})

test_that("intervals of a regression are normal, with the noise in the one for new responses", {
  d <- toy()
  fit <- regression(d)
  answer <- predict(fit, d, se.fit = TRUE)
  noise <- coef(fit)[["noise"]]
  for (level in c(0.5, 0.95, 0.999)) {
    half <- qnorm((1 + level) / 2)
    mean <- predict(fit, d, interval = "confidence", level = level)
    new <- predict(fit, d, interval = "prediction", level = level)
    expect_lt(gap(mean[, "upr"] - mean[, "fit"], half * answer$se.fit), 1e-12)
    expect_lt(gap(mean[, "fit"] - mean[, "lwr"], half * answer$se.fit), 1e-12)
    expect_lt(gap(new[, "upr"] - new[, "lwr"], 2 * half * sqrt(answer$se.fit^2 + noise)), 1e-12)
  }
  expect_identical(predict(fit, d, interval = "confidence"),
                   predict(fit, d, type = "latent", interval = "confidence"))
})

test_that("reject leaves out the rows whose larger probability is below it, and no others", {
  d <- toy()
  fit <- classes(d)
  larger <- apply(predict(fit, d, type = "prob"), 1, max)
  for (reject in c(0, 0.5, 0.7, 0.9, 1)) {
    expect_identical(is.na(predict(fit, d, type = "class", reject = reject)), larger < reject)
  }
})

test_that("posterior standard deviations lie between 0 and the prior's, near-duplicates included", {
  slow_tier()
  set.seed(3)
  x <- c(rnorm(8), rep(0.5, 3), 0.5 + 1e-9 * (1:3), 0.5 + 1e-13 * (1:2), 3)
  y <- sin(x) + rnorm(length(x), sd = 1e-3)
  new <- c(x, x + 1e-8, rnorm(20, sd = 3), 50)
  v <- 2
  prior_variance <- list(
    rbf = rep(v, length(new)), linear = v * new^2, poly = v * (1 + new^2 / 1.2)^3,
    sum = v + v * new^2, product = v * v * new^2
  )
  kernels <- list(
    rbf = list(kernel_rbf(v, 0.9), kernel_matern12(v, 0.9), kernel_matern32(v, 0.9),
               kernel_matern52(v, 0.9), kernel_rq(v, 0.9, shape = 0.5), kernel_constant(v),
               kernel_periodic(v, 0.9, 2)),
    linear = list(kernel_linear(v)), poly = list(kernel_poly(3, v, 1.2)),
    sum = list(kernel_rbf(v, 0.9) + kernel_linear(v)),
    product = list(kernel_matern52(v, 0.9) * kernel_linear(v))
  )
  check <- function(fit, prior) {
    sd <- predict(fit, new, type = "latent", se.fit = TRUE)$se.fit
    expect_true(all(is.finite(sd)), label = format(fit$kernel))
    expect_true(all(sd >= 0), label = format(fit$kernel))
    expect_true(all(sd <= sqrt(prior) * (1 + 1e-12)), label = format(fit$kernel)) # rounding
  }
  for (form in names(kernels)) {
    for (kernel in kernels[[form]]) {
      for (noise in c(1, 1e-8)) {
        check(sparsegp(x, y, lik_gaussian(noise), kernel, learn = FALSE, scale = FALSE,
                       mean = "average"),
              prior_variance[[form]])
      }
      check(sparsegp(x, y > 0.3, lik_probit(0), kernel, learn = FALSE, scale = FALSE),
            prior_variance[[form]])
    }
  }
})

# ---- New data ----

test_that("rows are answered one by one: any split and order of newdata gives the same", {
  d <- toy()
  new <- d[rep(1:24, 30), ] # more rows than were trained on, and than one block holds
  new$x <- new$x + seq_len(nrow(new)) / 1000
  for (fit in list(regression(d), classes(d))) {
    all <- predict(fit, new, type = "latent", se.fit = TRUE)
    expect_length(all$fit, 720)
    # BLAS may sum one row and many in another order: the last digit
    for (i in c(1, 17, 512, 513, 720)) {
      one <- predict(fit, new[i, ], type = "latent", se.fit = TRUE)
      expect_lt(gap(one$fit, all$fit[i]), 1e-12)
      expect_lt(gap(one$se.fit, all$se.fit[i]), 1e-12)
    }
    expect_lt(gap(predict(fit, new[720:1, ]), rev(predict(fit, new))), 1e-12)
  }
})

test_that("rows with missing values are NA in an answer of full length", {
  d <- toy()
  holes <- d[1:4, ]
  holes$x[2] <- NA
  holes$z[4] <- NaN
  kept <- c(1, 3)
  for (fit in list(regression(d), classes(d))) {
    expect_identical(unname(is.na(predict(fit, holes))), c(FALSE, TRUE, FALSE, TRUE))
    expect_identical(predict(fit, holes)[kept], predict(fit, d[kept, ]))
    expect_true(all(is.na(predict(fit, holes, interval = "confidence")[-kept, ])))
    expect_true(all(is.na(predict(fit, holes, se.fit = TRUE)$se.fit[-kept])))
  }
  expect_true(all(is.na(predict(classes(d), holes, type = "class")[-kept])))
  expect_true(all(is.na(predict(classes(d), holes, type = "prob")[-kept, ])))
  holes$g[1] <- NA
  expect_identical(unname(is.na(predict(regression(d), holes))), c(TRUE, TRUE, FALSE, TRUE))
  only <- transform(d[1:2, ], x = NA_real_)
  expect_identical(unname(predict(regression(d), only)), c(NA_real_, NA_real_))
  vector <- sparsegp(d$x, d$y, learn = FALSE)
  expect_identical(unname(is.na(predict(vector, c(1, NA, 2)))), c(FALSE, TRUE, FALSE))
})

test_that("columns of newdata are found by name, and others are ignored", {
  slow_tier()
  d <- toy()
  fit <- regression(d)
  expect_identical(predict(fit, rev(d)), predict(fit, d))
  numbers <- d[c("x", "z")]
  for (fit in list(sparsegp(as.matrix(numbers), d$y, learn = FALSE),
                   sparsegp(numbers, d$y, learn = FALSE))) {
    expected <- predict(fit, numbers)
    expect_identical(predict(fit, rev(numbers)), expected)
    expect_identical(predict(fit, as.matrix(rev(numbers))), expected)
    expect_identical(predict(fit, d), expected) # columns that are not numbers are not needed
    expect_identical(predict(fit, unname(as.matrix(numbers))), setNames(expected, 1:24))
    expect_identical(unname(predict(fit, unlist(numbers[3, ]))), unname(predict(fit, numbers[3, ])))
    refused(predict(fit, data.frame(a = 1, b = 2)), "newdata")
    refused(predict(fit, cbind(a = 1, b = 2)), "newdata")
    refused(predict(fit, numbers["x"]), "newdata")
    refused(predict(fit, c(1, 2, 3)), "newdata")
    refused(predict(fit, "a"), "newdata")
  }
})

test_that("matrix columns of one name are kept apart", {
  d <- toy()
  x <- cbind(a = d$x, a = d$z)
  fit <- sparsegp(x, d$y, kernel = kernel_rbf(ard = TRUE), learn = FALSE)
  expect_lt(gap(predict(fit, x), fitted(fit)), 1e-10)
  expect_s3_class(summary(fit), "summary.sparsegp")
  expect_equal(nrow(summary(fit)$hyperparameters), 4)
})

test_that("newdata that does not fit the formula is refused in words", {
  d <- toy()
  fit <- regression(d)
  refused(predict(fit, d["x"]), "newdata")
  refused(predict(fit, transform(d[1:2, ], x = "a")), "newdata")
  refused(predict(fit, transform(d[1:2, ], x = factor(1:2))), "newdata")
  refused(predict(fit, transform(d[1:2, ], g = 1)), "newdata")
  refused(predict(fit, transform(d[1:2, ], x = c(1, Inf))), "newdata")
  refused(predict(fit, as.matrix(d[c("x", "z")])), "newdata")
  refused(predict(fit, 3), "newdata")
  refused(predict(fit, mean), "newdata")
  refused(predict(fit, data.frame()), "newdata")
})

test_that("a variable missing from newdata is not taken from the workspace", {
  x <- toy()$x
  y <- toy()$y
  fit <- sparsegp(y ~ x, learn = FALSE)
  expect_lt(gap(predict(fit, data.frame(x = x)), fitted(fit)), 1e-10)
  # the answer would be for the 24 training rows
  refused(predict(fit, data.frame(speed = 1)), "newdata")
  refused(predict(fit, data.frame(speed = 1:100)), "newdata")
  # nor when the workspace has other rows than the fit
  fit <- sparsegp(y ~ x, subset = x > 0, learn = FALSE)
  refused(predict(fit, data.frame(speed = 1)), "newdata")
})

test_that("constants of a formula, such as breaks and knots, may live in the workspace", {
  slow_tier()
  d <- toy()
  breaks <- c(-Inf, -0.5, 0.5, Inf)
  knots <- c(-0.5, 0.5)
  fit <- sparsegp(y ~ cut(x, breaks) + splines::ns(x, knots = knots), d, learn = FALSE)
  expect_lt(gap(predict(fit, d), fitted(fit)), 1e-9)
  expect_lt(gap(predict(fit, d[3, "x", drop = FALSE]), fitted(fit)[3]), 1e-9)
})

test_that("offsets at new rows come from the formula, or from the argument for matrices", {
  d <- toy()
  fit <- sparsegp(y ~ x + offset(z), d, learn = FALSE)
  new <- data.frame(x = 0.3, z = c(0, 2))
  expect_lt(abs(diff(predict(fit, new)) - 2), 1e-12)
  expect_identical(unname(is.na(predict(fit, transform(new, z = c(NA, 1))))), c(TRUE, FALSE))
  refused(predict(fit, new["x"]), "newdata")
  # the mean of a regression is its latent function with the offset
  expect_equal(predict(fit, new, type = "latent"), predict(fit, new), tolerance = 1e-12)
  refused(predict(fit, new, offset = 1:2), "offset")
  expect_error(predict(fit, transform(new, z = c(1, Inf))), "`(newdata|offset)`",
               class = "sparsegp_error")
  matrix_fit <- sparsegp(d$x, d$y, offset = d$z, learn = FALSE)
  expect_identical(unname(predict(matrix_fit, new$x, offset = new$z)), unname(predict(fit, new)))
  refused(predict(matrix_fit, new$x, offset = 1), "offset")
  refused(predict(matrix_fit, new$x, offset = c(0, Inf)), "offset")
})

test_that("newdata may be a list, and an empty one gives an empty answer", {
  d <- toy()
  fit <- regression(d)
  expect_identical(unname(predict(fit, as.list(d[1:3, ]))), unname(predict(fit, d[1:3, ])))
  expect_length(predict(fit, d[0, ]), 0)
  matrix_fit <- sparsegp(as.matrix(d[c("x", "z")]), d$y, learn = FALSE)
  expect_length(predict(matrix_fit, matrix(0, 0, 2)), 0)
  expect_length(predict(sparsegp(d$x, d$y, learn = FALSE), numeric()), 0)
})

test_that("wrong arguments of predict() are refused by name", {
  d <- toy()
  fit <- classes(d)
  refused(predict(fit, d, type = "prop"), "type")
  refused(predict(fit, d, type = NA), "type")
  refused(predict(fit, d, interval = "credible"), "interval")
  refused(predict(fit, d, se.fit = NA), "se.fit")
  refused(predict(fit, d, interval = "confidence", level = 95), "level")
  refused(predict(fit, d, interval = "confidence", level = c(0.5, 0.9)), "level")
  refused(predict(fit, d, type = "class", reject = 2), "reject")
  expect_error(predict(fit, d, se = TRUE, foo = 3), "foo", class = "sparsegp_error")
})

test_that("a prediction is finite or refused, however far from the data", {
  slow_tier()
  d <- toy()
  for (kernel in list(kernel_rbf(), kernel_linear(), kernel_poly(3))) {
    for (fit in list(sparsegp(d$x, d$y, kernel = kernel, learn = FALSE),
                     sparsegp(d$x, d$class, kernel = kernel, learn = FALSE))) {
      for (far in c(1e10, 1e100, -1e300)) {
        answer <- tryCatch(unlist(predict(fit, far, se.fit = TRUE)), sparsegp_error = function(e) 0)
        expect_true(all(is.finite(answer)), label = paste(format(kernel), far))
      }
    }
  }
})

test_that("a variance that rounding has eaten is the bound of the rounding, not 0", {
  x <- seq(-3, 3, length.out = 80)
  se_at <- function(variance) {
    f <- sparsegp(x, sin(2 * x), lik_gaussian(0.1), kernel = kernel_rbf(variance, 1e3),
                  learn = FALSE)
    predict(f, x, type = "latent", se.fit = TRUE)$se.fit
  }
  # the prior is flat already: a hundred million times the variance is no news to the rows
  expect_equal(se_at(1e8), se_at(1e4), tolerance = 0.1)
  # K(x,x) - |G'k|^2 has no digit left, d rounding units of K(x,x) bound what it may be
  bound <- sqrt(80 * .Machine$double.eps * 1e12)
  expect_gt(min(se_at(1e12)), bound * (1 - 1e-12))
})

test_that("a mode that a fit does not have is refused, also by a fit of one", {
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  expect_error(predict(fit, cars[1:2, ], mode = 2), "`mode` is 2", class = "sparsegp_error")
  expect_error(predict(fit, mode = "no"), "`mode`", class = "sparsegp_error")
  expect_equal(predict(fit, mode = "all"), predict(fit))
})
