# Few inputs that matter among many, and choices of the race for structure that are tried twice.

r_code_alone()

AT_MODE <- gp_control(integrate = "none")

# n observations of p normal inputs, of which the first three matter, and as many new ones
many_inputs <- function(n, p, f, seed = 1, noise = 0.3) {
  set.seed(seed)
  x <- matrix(rnorm(2 * n * p), 2 * n, dimnames = list(NULL, paste0("x", seq_len(p))))
  y <- f(x) + noise * rnorm(2 * n)
  old <- seq_len(n)
  list(x = x[old, ], y = y[old], new = x[-old, ], new_y = y[-old])
}

line <- function(x) x[, 1] - 2 * x[, 2] + x[, 3] / 2

bent <- function(x) sin(2 * x[, 1]) + x[, 2]^2 + x[, 1] * x[, 3]

test_that("what functions gain is a difference of log marginal likelihoods", {
  set.seed(1)
  n <- 20
  phi <- matrix(rnorm(3 * n), n)
  variance <- runif(n, 0.5, 2)
  y <- drop(phi %*% c(1, -1, 0.5)) + rnorm(n)
  known <- list(list(columns = matrix(rnorm(n), n), scale = 0.7))
  # log density of y under covariance M, the noise's variance maximised over if `exact`: with a mean
  # of vague prior n - 1 observations are left
  density <- function(M, exact) {
    q <- sum(y * solve(M, y))
    -determinant(M)$modulus / 2 - if (exact) (n - 1) / 2 * log(q) else q / 2
  }
  for (exact in c(TRUE, FALSE)) {
    seen <- list(y = y, variance = variance, exact = exact)
    M <- diag(variance) + 1e4 + 0.7 * tcrossprod(known[[1L]]$columns)
    root <- screen_root(seen, cbind(rep(1, n)), known)
    expect_equal(crossprod(root), M, tolerance = 1e-12)
    white <- backsolve(root, phi, transpose = TRUE)
    response <- backsolve(root, y, transpose = TRUE)
    found <- screen_gain(white, drop(crossprod(white, response)), sum(response^2), seen)
    gains <- vapply(screen_scales(), function(scale) {
      c(density(M + scale * tcrossprod(phi), exact) - density(M, exact))
    }, 0)
    # M has eigenvalues up to 1e4 n, which cost as many digits
    expect_equal(found, c(max(gains), screen_scales()[which.max(gains)]), tolerance = 1e-8)
  }
})

test_that("functions of an input are orthogonal, and those of factors are of levels", {
  set.seed(2)
  shapes <- shapes_of_input(c(rnorm(49), 1e6), FALSE, 5)
  expect_equal(crossprod(shapes) / 50, diag(5), tolerance = 1e-10)
  expect_identical(ncol(shapes_of_input(rep(0:1, 25), FALSE, 5)), 1L)
  expect_identical(ncol(shapes_of_input(rep(c(0, 0, 0, 0, 1), 10), FALSE, 5)), 1L)
  expect_identical(ncol(shapes_of_input(rep(3, 50), FALSE, 5)), 0L)
  levels <- shapes_of_input(rep(c(1, 2, 5), c(10, 20, 20)), TRUE, 5)
  expect_equal(colMeans(levels^2), rep(1 / 3, 3))
  expect_identical(fewer_of_many(5, 60L), 5)
  expect_identical(fewer_of_many(5, policy$max_ard_inputs), 5)
  expect_identical(fewer_of_many(5, 2 * policy$max_ard_inputs), 2)
  expect_identical(fewer_of_many(5, 1e5), 1)
})

test_that("few inputs of many are found, lines, bends and products", {
  slow_tier()
  for (f in list(line, bent)) {
    d <- many_inputs(100, 60, f)
    fit <- sparsegp(d$x, d$y)
    expect_match(format(fit$kernel), "rbf(ard = TRUE, vars = x1, x2, x3)", fixed = TRUE)
    error <- sqrt(mean((predict(fit, d$new) - d$new_y)^2))
    # the noise's standard deviation is .3, and that of f about 2: three inputs of 100 observations
    # leave some .1 beside it, all of 60 leave from .5 to 1.8
    expect_lt(error, 0.45)
    inside <- predict(fit, d$new, interval = "prediction", level = 0.9)
    # 90 % of 100 have a standard error of .03, and more as all are of one fit
    expect_gt(mean(d$new_y > inside[, "lwr"] & d$new_y < inside[, "upr"]), 0.8)
  }
})

test_that("pairs of inputs that matter by their product alone are found", {
  slow_tier()
  set.seed(7)
  n <- 150
  x <- cbind(matrix(rnorm(20 * n), n), matrix(sample(1:2, 2 * n, TRUE), n), 1)
  levels <- c(rep(0, 20), 2, 2, 1)
  found <- function(f, y = f + 0.3 * rnorm(n)) {
    seen <- list(y = (y - mean(y)) / sd(y), variance = rep(1, n), exact = TRUE)
    sort(screened_inputs(x, levels, seen, cbind(rep(1, n)), log(22) + policy$min_screened_gain, 10))
  }
  expect_identical(found(x[, 3] * x[, 8]), c(3L, 8L))
  expect_identical(found(x[, 3] * x[, 8] + x[, 1] * x[, 5]), c(1L, 3L, 5L, 8L))
  expect_identical(found(sign(x[, 3] * x[, 8])), c(3L, 8L))
  expect_identical(found(as.numeric(x[, 21] == x[, 22])), 21:22)
  expect_identical(found(x[, 2] + ifelse(x[, 21] == 1, x[, 8], -x[, 8])), c(2L, 8L, 21L))
  expect_identical(found(0), integer())
})

test_that("a kernel of all inputs is compared with that of the two of a product", {
  slow_tier()
  d <- many_inputs(200, 30, function(x) x[, 1] * x[, 2] + x[, 3] * x[, 4], seed = 2)
  fit <- sparsegp(d$x, d$y, control = AT_MODE)
  expect_match(format(fit$kernel), "vars = x1, x2, x3, x4", fixed = TRUE)
  expect_true("rbf(ard = TRUE)" %in% fit$choices$candidate)
  # the noise's standard deviation is .3, and that of f 1.4: a kernel of all inputs has .41
  expect_lt(sqrt(mean((predict(fit, d$new) - d$new_y)^2)), 0.36)
})

test_that("inputs that matter by a product of three are kept beside one that is found", {
  slow_tier()
  product <- function(x) 2 * sin(1.5 * x[, 1]) + x[, 2] * x[, 3] * x[, 4]
  for (seed in 6:7) { # the inputs found besides x1 are wrong ones, or none
    d <- many_inputs(200, 20, product, seed)
    fit <- sparsegp(d$x, d$y, control = AT_MODE)
    expect_identical(format(fit$kernel), "rbf(ard = TRUE)")
    # the noise's standard deviation is .3, and that of f 1.8; from wrong inputs it was 1.1
    expect_lt(sqrt(mean((predict(fit, d$new) - d$new_y)^2)), 0.8)
  }
})

test_that("nothing is left out where nothing matters, or all do", {
  slow_tier()
  every <- function(x) drop(x %*% rep(c(1, -1), length.out = ncol(x))) / sqrt(ncol(x))
  for (f in list(function(x) 0, every)) {
    d <- many_inputs(80, 30, f)
    fit <- sparsegp(d$x, d$y, control = AT_MODE)
    expect_none(grep("vars", format(fit$kernel), value = TRUE), "a kernel of some inputs")
  }
  two <- cbind(every(d$x), d$y)
  expect_none(grep("vars", sparsegp(d$x, two, learn = FALSE)$choices$candidate, value = TRUE),
              "a kernel of some inputs")
})

test_that("inputs that matter for counts are found, and factors among others", {
  slow_tier()
  d <- many_inputs(150, 40, function(x) 0)
  set.seed(3)
  counts <- rpois(150, exp(1 + 0.7 * d$x[, 1] - 0.7 * d$x[, 2]))
  fit <- sparsegp(d$x, counts, "poisson", control = AT_MODE)
  expect_match(format(fit$kernel), "vars = x1, x2", fixed = TRUE)
  frame <- data.frame(d$x[, 1:30], g = factor(rep(letters[1:5], 30)))
  frame$y <- c(0, 2, -1, 1, -2)[frame$g] + frame$x2 + 0.3 * rnorm(150)
  fit <- sparsegp(y ~ ., frame, control = AT_MODE)
  expect_match(format(fit$kernel), "vars = x2, g", fixed = TRUE)
})

test_that("a kernel of some inputs is made again, whatever their names", {
  slow_tier()
  d <- many_inputs(60, 12, line)
  colnames(d$x)[1:3] <- c("a, b", "c + d)", "poly(x, 2)1")
  fit <- sparsegp(d$x, d$y, control = AT_MODE)
  both <- average(fit)
  expect_true(any(grepl("vars = a, b, c + d), poly(x, 2)1", rownames(summary(both)), fixed = TRUE)))
})

# A ratio is smooth on its own scale. With one length scale the logarithm is better by far, as it
# makes the inputs more alike; with one each the response itself is.
test_that("the scale of the response is tried again with the kernel that was taken", {
  slow_tier()
  set.seed(1)
  n <- 70
  u <- vapply(1:3, function(j) (sample(n) - runif(n)) / n, numeric(n))
  f <- function(u) 1 + 5 * u[, 1] / (1 + 4 * u[, 2]) + 0.3 * u[, 3]
  fit <- sparsegp(u, f(u), control = AT_MODE)
  tried <- choices_of_stage(fit, "response scale")
  expect_identical(sum(tried$candidate == "identity"), 2L)
  first <- tried[seq_len(which(duplicated(tried$candidate))[1L] - 1L), ]
  expect_identical(first$candidate[which.max(first$score)], "log")
  taken <- tried$candidate[tried$taken]
  expect_false(taken == "log")
  logs <- sparsegp(u, f(u), likelihood = lik_gaussian(transform = "log"), control = AT_MODE)
  expect_gt(fit$log_evidence, logs$log_evidence + policy$min_transform_gain)
  gained <- gained_on_stage(tried, which(tried$taken))
  expect_output(print(summary(fit)), paste0("response scale: ", taken, ", better by ",
                                            signif(gained, 3L)))
})

test_that("alternatives are tried again if later choices have gained as much as they were behind", {
  offered <- list(list(label = "plain"), list(label = "near"), list(label = "far"))
  verdict <- list(offered = offered, taken = "near", value = -100, changes = 0L,
                  behind = c(plain = 30, near = 0, far = 12))
  axis <- structure_axis("response scale", function(...) offered)
  again <- function(value) {
    labels <- lapply(offered_again(axis, list(best = list(value = value), changes = 0L), verdict),
                     `[[`, "label")
    unlist(labels)
  }
  expect_null(again(-100))
  expect_identical(again(-75), "near") # nothing to compare it with
  expect_identical(again(-65), c("near", "plain")) # "far" is beyond reopened_within
  verdict$behind[["far"]] <- policy$reopened_within - 1
  expect_identical(again(-65), c("near", "plain", "far"))
  axis$of_problem <- TRUE
  expect_null(again(-65))
  # a kernel lacks what it was behind and what another part has to gain
  axis <- structure_axis("kernel", function(...) offered)
  verdict$behind <- c(plain = 3, near = 0, far = -2)
  verdict$asked <- c(plain = 5, near = 0, far = 5)
  now <- list(best = list(value = -98, candidate = list(data = list())), changes = 0L)
  expect_null(offered_again(axis, now, verdict))
  now$best$value <- -96 # "far" lacks 3
  expect_length(offered_again(axis, now, verdict), 3L)
})

test_that("the words on a stage that was tried twice leave out what others have gained between", {
  tried <- data.frame(candidate = c("a", "b", "c", "b", "a"), score = c(0, 5, 3, 105, 107),
                      gain = c(NA, 5, -2, NA, 2))
  expect_identical(gained_on_stage(tried, 5L), 7)
  expect_identical(gained_on_stage(tried[1:3, ], 2L), 5)
})
