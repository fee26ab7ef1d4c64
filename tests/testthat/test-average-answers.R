# Answers that an average of fits has, has not, or has of each fit; and requests that are refused in
# time and with a remedy that helps.

r_code_alone()

refused <- function(expr, pattern) expect_error(expr, pattern, class = "sparsegp_error")

delayedAssign("BY_WT", sparsegp(mpg ~ wt, mtcars, control = gp_control(integrate = "none")))
delayedAssign("BY_HP", sparsegp(mpg ~ hp, mtcars, control = gp_control(integrate = "none")))
delayedAssign("MIXED", average(BY_WT, BY_HP))

test_that("an average has no basis, noise or points to be measured next", {
  slow_tier()
  for (of in list(basis, sigma, rstandard, cooks.distance)) refused(of(MIXED), "average of fits")
  refused(next_rows(MIXED, mtcars), "`fit` is an average")
  refused(next_points(MIXED, list(wt = 2:3)), "`fit` is an average")
  refused(ask(MIXED, mtcars, 0.5), "`fit` is an average")
  for (type in c("trace", "choices")) refused(plot(MIXED, type), "average of fits")
})

test_that("an average of classes has no quantile residuals, as its members have none", {
  one <- function(kernel) {
    sparsegp(Species ~ Sepal.Length, iris, lik_mprobit(), kernel, method = method_ep(size = 5),
             learn = FALSE)
  }
  refused(residuals(average(one("rbf"), one("matern32")), "quantile"), "have an order")
})

test_that("leverages of an average are slopes of its mean", {
  slow_tier()
  weights <- c(0.3, 0.7)
  at <- function(shift) {
    moved <- replace(mtcars, "mpg", list(mtcars$mpg + replace(numeric(32L), 3L, shift)))
    one <- function(formula, scale) {
      sparsegp(formula, moved, lik_gaussian(7), kernel_rbf(100, scale), learn = FALSE)
    }
    new_ensemble(list(one(mpg ~ wt, 2), one(mpg ~ hp, 80)), weights, fixed = TRUE)
  }
  expect_equal((fitted(at(0.01)) - fitted(at(-0.01)))[[3L]] / 0.02, hatvalues(at(0))[[3L]],
               tolerance = 1e-4) # the vague prior of the constant is in units of the response
  expect_false(identical(hatvalues(at(0)), hatvalues(as_member(at(0), 1L))))
})

test_that("studentised residuals are by the mixture's moments", {
  table <- loo(MIXED)
  expect_equal(unname(rstudent(MIXED)), (table$observed - table$mean) / table$sd,
               tolerance = 1e-10)
})

test_that("tidy() has a row for each hyperparameter of each fit, glance() no noise", {
  slow_tier()
  skip_if_not_installed("generics")
  table <- generics::tidy(MIXED)
  made <- summary(MIXED)
  expect_identical(unique(table$fit), rownames(made)[made$weight > 0])
  own <- generics::tidy(BY_HP)
  expect_equal(table[table$fit == "BY_HP", names(own)], own, ignore_attr = TRUE)
  ends <- generics::tidy(MIXED, conf.int = TRUE)
  expect_true(all(ends$conf.low < ends$estimate & ends$estimate < ends$conf.high))
  expect_null(generics::glance(MIXED)$sigma)
  nested <- average(MIXED, BY_WT)
  expect_true(all(grepl("^(MIXED:BY_|BY_WT)", generics::tidy(nested)$fit)))
  expect_true(is.list(coef(nested)[[1L]]) || rownames(summary(nested))[1L] == "BY_WT")
})

test_that("draws of an average are of all members of fits that are integrated", {
  slow_tier()
  one <- sparsegp(dist ~ speed, cars, control = gp_control(integrate = "ccd"))
  other <- sparsegp(dist ~ speed, cars, kernel = "matern32",
                    control = gp_control(integrate = "none"))
  both <- average(one, other)
  thetas <- function(fit) {
    set.seed(1)
    found <- draws_by_member(fit, 50L, function(fit, n) rep(list(fit$hyper$theta), n),
                             function(each, order) unlist(unname(each), FALSE)[order])
    expect_length(found, 50L)
    length(unique(found))
  }
  expect_identical(thetas(other), 1L)
  expect_gt(thetas(one), 2L)
  expect_gt(thetas(both), 2L) # but for the weight of `one`
  set.seed(1)
  expect_identical(dim(simulate(both, 3)), c(50L, 3L))
})

test_that("fits without rows are refused as those that were given", {
  stream <- sparsegp(mpg ~ wt, mtcars, method = method_online(5, pilot = 20), learn = FALSE)
  for (mix in list(average, compare)) {
    refused(mix(BY_WT, stream), "`...` is a stream's fit.*\n.*method_ep")
    refused(mix(stream, BY_WT), "`...` is a stream's fit")
  }
})

# ---- Means of all inputs ----

test_that("a dot in `mean` is all inputs", {
  slow_tier()
  fit <- function(mean, formula = mpg ~ wt + log(hp)) {
    sparsegp(formula, mtcars, lik_gaussian(5), kernel_rbf(10, 1), mean = mean, learn = FALSE)
  }
  same <- function(a, b) expect_equal(predict(a, mtcars[1:3, ]), predict(b, mtcars[1:3, ]))
  same(fit(~ .), fit(~ wt + log(hp)))
  same(fit(~ . - wt), fit(~ log(hp)))
  same(fit(~ ., mpg ~ wt), fit(~ wt, mpg ~ wt))
  x <- as.matrix(mtcars[c("wt", "hp")])
  by <- function(mean) {
    sparsegp(x, mtcars$mpg, lik_gaussian(5), kernel_rbf(10, 1), mean = mean, learn = FALSE)
  }
  expect_equal(fitted(by(~ .)), fitted(by(~ wt + hp)))
  refused(fit(~ .^2), "mean")
  refused(fit(~ . + nothing), "nothing")
  cars2 <- transform(mtcars, cyl = factor(cyl))
  refused(sparsegp(mpg ~ wt + cyl, cars2, mean = ~ ., learn = FALSE), "factor.*\n.*Name the others")
})

# ---- Refused in time ----

test_that("integrals over hyperparameters that are all fixed have their own remedy", {
  d <- data.frame(x = 1:9, y = sin(1:9))
  refused(sparsegp(y ~ x, d, lik_gaussian(fixed(0.1)), kernel_rbf(fixed(1), fixed(1)),
                   control = gp_control(integrate = "ccd")), "fixed\\(\\).*\n.*at least one")
})

test_that("classes that cannot be coupled are refused before anything is learned", {
  slow_tier()
  set.seed(1)
  d <- data.frame(a = runif(600), b = runif(600))
  d$y <- factor(1 + floor(d$a * 4) + 4 * floor(d$b * 2))
  coupled <- lik_mprobit(coupled = TRUE)
  seconds <- system.time({
    refused(sparsegp(y ~ a + b, d, coupled), "full EP.*\n.*method_ep\\(size = Inf\\)")
    refused(sparsegp(y ~ a + b, d, coupled, method = method_ep(size = 20)), "full EP")
    refused(sparsegp(y ~ a + b, d, coupled, method = method_ivm(20)), "full EP")
  })
  expect_lt(sum(seconds[1:2]), 3) # it took 15 until learning ended
})

test_that("members on scales with a domain have all of their tails where others reach beyond it", {
  slow_tier()
  set.seed(3)
  d <- data.frame(x = runif(60L, -2, 2))
  d$p <- exp(sin(2 * d$x) + 0.2 * rnorm(60L)) + 0.3 * rexp(60L)
  new <- data.frame(x = c(-3, 0, 3))
  on_scale <- function(transform) {
    sparsegp(p ~ x, d, kernel = kernel_matern12(), likelihood = lik_gaussian(transform = transform),
             learn = FALSE)
  }
  plain <- on_scale("identity")
  for (transform in c("log", "sqrt", "boxcox")) {
    both <- average(on_scale(transform), plain)
    both$ensemble$weights[] <- c(0.5, 0.5)
    bounds <- predict(both, new, "quantile", at = c(0.001, 0.5, 0.999))
    expect_true(all(is.finite(bounds)) && all(bounds[, 1L] < bounds[, 2L]))
    # below 0 there is nothing of the other member, and half of what this one has
    below <- c(predict(plain, new, "quantile", at = 0.002))
    expect_equal(c(bounds[below < 0, 1L]), below[below < 0], tolerance = 1e-6, ignore_attr = TRUE)
    expect_true(any(below < 0))
    expect_s3_class(calibration(both), "sparsegp_calibration")
  }
})
