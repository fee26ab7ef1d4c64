# The null category beyond the contract: what its terms are, rows without a label on their way
# through every door, and what they do to the boundary.

tilt <- function(y, mu, s2, theta = c(0.3, 0.1, -1, 0.5)) {
  y <- rbind(rep_len(as.double(y), length(mu)))
  .Call(sg_lik_tilt, c_lik("nullcat", theta), theta, y, as.double(mu),
        rep_len(as.double(s2), length(mu)), FALSE)
}

refused <- function(code, argument) {
  error <- expect_error(code, class = "sparsegp_error")
  expect_identical(error$argument, argument)
}

# Two long clouds, one above the other; three labels in the left half of the upper one, and three in
# the right half of the lower, so that a boundary between those alone cuts through both.
clouds <- function(n = 160) {
  set.seed(11)
  upper <- rep(c(TRUE, FALSE), n / 2)
  d <- data.frame(a = runif(n, -2, 2), b = rnorm(n, ifelse(upper, 1, -1), 0.3),
                  truth = factor(ifelse(upper, "up", "down"), c("down", "up")))
  keep <- c(sample(which(upper & d$a < 0), 3L), sample(which(!upper & d$a > 0), 3L))
  d$y <- d$truth
  d$y[-keep] <- NA
  d
}

short <- kernel_rbf(6, 0.6)

test_that("the labels, their lack and the null category have probability one", {
  mu <- c(-30, -1, 0, 0.4, 8)
  for (s2 in c(0, 0.5, 100)) {
    p <- rowSums(vapply(c(-1, 0, 1), function(y) exp(tilt(y, mu, s2)$logz), numeric(5L)))
    sd <- sqrt(1 + s2)
    null <- pnorm((mu + 0.3 + exp(0.1) / 2) / sd) - pnorm((mu + 0.3 - exp(0.1) / 2) / sd)
    expect_equal(p + null, rep(1, 5L), tolerance = 1e-14)
  }
  # with missing1 = missing2 there is no side
  even <- tilt(0, c(-3, -0.3, 2.4), 0.7, c(0.3, 0.1, -1, -1))
  expect_equal(even$logz[1L], even$logz[3L], tolerance = 1e-14)
  expect_equal(even$d1, c(-even$d1[3L], 0, even$d1[3L]), tolerance = 1e-14)
  expect_gt(even$d2[2L], 0) # pushed away to both
})

test_that("a margin is the null category where every row has a label", {
  grid <- expand.grid(y = c(-1, 1), mu = c(-20, -2, 0, 0.3, 9), s2 = c(0, 0.4, 30))
  for (width in log(c(1e-6, 1, 8))) {
    nullcat <- tilt(grid$y, grid$mu, grid$s2, c(0.3, width, 0, 0))
    margin <- .Call(sg_lik_tilt, c_lik("margin", c(0.3, width)), c(0.3, width), rbind(grid$y),
                    grid$mu, grid$s2, FALSE)
    # labels are there with probability 1/2
    expect_equal(margin$logz, nullcat$logz + log(2), tolerance = 1e-12)
    expect_equal(margin[c("d1", "d2")], nullcat[c("d1", "d2")], tolerance = 1e-12)
    expect_equal(margin$dpar, nullcat$dpar[1:2, ], tolerance = 1e-12)
  }
})

test_that("probabilities outside of the null category are means of shares", {
  memory_tier()
  # trapezoid rules of two kinds, either side of where the posterior is as wide as the boundary:
  # errors of 1e-12 before the rounding of integrate()'s pieces
  for (width in c(1e-6, 1, 8)) {
    at <- expand.grid(mu = c(-3, -0.4, 0, 1), sd = c(1e-3, 0.1, 0.13, 0.6, 3, 20))
    share <- function(m) nullcat_share(m, list(width = width))
    exact <- mapply(function(mu, sd) {
      ends <- sort(pmin(pmax(c(-9, 9, (c(-2, -0.3, 0, 0.3, 2) - mu - 0.2) / sd), -9), 9))
      sum(mapply(function(from, to) {
        integrate(function(t) share(mu + 0.2 + sd * t) * dnorm(t), from, to, rel.tol = 1e-10,
                  abs.tol = 1e-14)$value
      }, ends[-1L * length(ends)], ends[-1L]))
    }, at$mu, at$sd)
    found <- .Call(sg_lik_predict, c_lik("margin", c(0.2, log(width))), c(0.2, log(width)), at$mu,
                   at$sd^2, FALSE)
    expect_equal(found$mean, exact, tolerance = 1e-10)
    expect_equal(found$var, exact * (1 - exact), tolerance = 1e-10)
  }
})

test_that("terms far out are finite and have their limits", {
  far <- tilt(c(-1, 0, 1, -1, 0, 1), rep(c(-1e150, 1e150), each = 3L), 0.5)
  expect_true(all(is.finite(unlist(far[c("logz", "dpar")]))))
  at <- tilt(0, c(-1e8, 1e8), 0.5)
  expect_equal(at$logz, plogis(c(-1, 0.5), log.p = TRUE), tolerance = 1e-14)
  expect_identical(c(at$d1, at$d2), numeric(4L))
})

test_that("without a null category and with all labels it is the probit model", {
  memory_tier()
  d <- clouds()[1:40, ]
  one <- sparsegp(truth ~ a + b, d, lik_nullcat(fixed(0.2), width = fixed(1e-12)), short,
                  learn = FALSE)
  other <- sparsegp(truth ~ a + b, d, lik_probit(fixed(0.2)), short, learn = FALSE)
  # the labels that are there are there with probability 1/2
  expect_equal(as.numeric(logLik(one)), as.numeric(logLik(other)) - 40 * log(2), tolerance = 1e-9)
  expect_equal(predict(one, d), predict(other, d), tolerance = 1e-7)
})

test_that("rows without a label are kept, and those without inputs are not", {
  slow_tier()
  d <- clouds()
  lost <- which(is.na(d$y))[c(3, 50)]
  d$a[lost] <- NA
  fit <- function(...) sparsegp(y ~ a + b, d, "nullcat", short, learn = FALSE, ...)
  plain <- fit()
  expect_identical(nobs(plain), 158L)
  expect_output(print(summary(plain)), "rows without a label: 152")
  expect_output(print(summary(plain)), "rows with missing values left out: 2")
  expect_identical(as.integer(plain$na.action), lost)
  excluding <- fit(na.action = na.exclude)
  expect_length(fitted(excluding), 160L)
  expect_identical(unname(which(is.na(fitted(excluding)))), lost)
  expect_equal(fitted(excluding)[-lost], fitted(plain), tolerance = 1e-14)
  expect_identical(nobs(update(plain, . ~ . - b)), 158L)
  upper <- sparsegp(y ~ a + b, d, "nullcat", subset = b > -1, learn = FALSE)
  expect_identical(nobs(upper), sum(d$b > -1 & !is.na(d$a)))
  refused(fit(na.action = na.fail), "na.action")
  refused(fit(na.action = na.pass), "data")
  matrix <- sparsegp(as.matrix(d[c("a", "b")]), d$y, lik_nullcat, short, learn = FALSE)
  expect_equal(unname(fitted(matrix)), unname(fitted(plain)), tolerance = 1e-12)
  numbers <- sparsegp(as.matrix(d[c("a", "b")]), ifelse(is.na(d$y), NA, d$y == "up") + 0, "nullcat",
                      short, learn = FALSE)
  expect_equal(fitted(numbers), fitted(matrix), tolerance = 1e-12)
  expect_identical(nobs(sparsegp(y ~ a + b, d, "probit", learn = FALSE)), 6L) # as ever
})

test_that("answers for rows without a label are missing where there is nothing to compare", {
  slow_tier()
  d <- clouds()
  fit <- sparsegp(y ~ a + b, d, "nullcat", short, learn = FALSE)
  unlabelled <- is.na(d$y)
  expect_identical(unname(is.na(residuals(fit))), unlabelled)
  expect_identical(unname(is.na(residuals(fit, "pearson"))), unlabelled)
  expect_identical(unname(is.na(loo_lpd(fit))), unlabelled)
  expect_identical(sum(summary(fit)$confusion), 6L)
  prob <- predict(fit, type = "prob")
  expect_identical(colnames(prob), c("down", "up"))
  expect_equal(unname(rowSums(prob)), rep(1, 160L), tolerance = 1e-14)
  drawn <- simulate(fit, 20, seed = 1)
  # labels are missing with probability 1/2
  expect_lt(abs(mean(is.na(drawn)) - 0.5), 5 * 0.5 / sqrt(3200))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(names(plot(fit)), c("a", "b", "fit", "se", "known"))
  expect_identical(names(plot(fit, "b"))[1:2], c("b", "fit"))
  expect_identical(sum(plot(fit, type = "reliability")$rows), 6L)
  expect_identical(max(plot(fit, type = "reject")$accepted), 6L)
})

test_that("the boundary goes where there are few rows", {
  slow_tier()
  d <- clouds()
  alone <- sparsegp(y ~ a + b, d, lik_probit(fixed(0)), short, learn = FALSE)
  expect_lt(mean(predict(alone, d, type = "class") == d$truth), 0.8)
  methods <- list(full = method_ep(), sparse = method_ep(size = 40), ivm = method_ivm(size = 60),
                  machine = method_ivm(size = 60, refine = "none"),
                  online = method_online(size = 60))
  for (name in names(methods)) {
    fit <- sparsegp(y ~ a + b, d, lik_nullcat(fixed(0)), short, method = methods[[name]],
                    learn = FALSE)
    expect_true(fit$convergence$converged, label = name)
    expect_gt(mean(predict(fit, d, type = "class") == d$truth), 0.97, label = name)
  }
})

test_that("the gradient of the evidence is exact where no row widens the posterior", {
  memory_tier()
  d <- clouds(60)
  d$y <- d$truth
  d$y[seq(5, 60, by = 5)] <- NA
  fit <- sparsegp(y ~ a + b, d, lik_nullcat(missing = NULL), kernel_rbf(30, 1), learn = FALSE,
                  method = method_ep(tol = 1e-11))
  problem <- list(x = fit$posterior$basis, spec = fit$spec, nkernel = 2L, processes = 1L,
                  lik = fit$likelihood, rows = fit$data_rows, offset = numeric(60),
                  options = fit$options)
  exact <- engine_run(problem, fit$hyper$theta, gradient = TRUE)
  expect_true(all(exact$tau > 0))
  approx <- numeric_gradient(function(theta) engine_run(problem, theta)$logz, fit$hyper$theta)
  expect_lt(max(abs(exact$gradient - approx)), 1e-6 * max(1, abs(approx)))
})

test_that("a stream takes rows without a label, in any chunks", {
  memory_tier()
  d <- clouds()
  d <- d[order(is.na(d$y)), ][c(7:20, 1:6, 21:160), ] # the labels come late,
  d$y <- as.character(d$y)                            # and no factor announces them
  stream <- function(...) {
    sparsegp(y ~ a + b, ..., likelihood = "nullcat", kernel = short, learn = FALSE,
             method = method_online(size = 60, pilot = 30))
  }
  begun <- stream(d[1:10, ])
  expect_output(print(begun), "too few to begin")
  parts <- update(update(update(begun, d[11:25, ]), d[26:90, ]), d[91:160, ])
  expect_equal(predict(parts, d), predict(stream(d), d), tolerance = 1e-10)
  none <- d[91:160, ]
  none$y <- NA # of no type
  expect_equal(predict(update(update(stream(d[1:60, ]), d[61:90, ]), none), d), predict(parts, d),
               tolerance = 1e-10)
  none$a[1:5] <- NA
  expect_identical(nobs(update(parts, none)), 225)
  x <- as.matrix(d[c("a", "b")])
  by_matrix <- sparsegp(x[1:10, ], d$y[1:10], "nullcat", short, learn = FALSE,
                        method = method_online(size = 60, pilot = 30))
  by_matrix <- update(by_matrix, x[11:160, ], d$y[11:160])
  expect_equal(unname(predict(by_matrix, x)), unname(predict(parts, d)), tolerance = 1e-10)
  refused(update(stream(d), data.frame(a = 1, b = 1, y = "left")), "newdata")
})

test_that("probabilities of a missing label start at its share and may differ", {
  memory_tier()
  d <- clouds()
  start <- coef(sparsegp(y ~ a + b, d, lik_nullcat(missing = NULL), learn = FALSE))
  expect_equal(unname(start[c("missing1", "missing2")]), rep(154.5 / 161, 2L), tolerance = 1e-12)
  two <- coef(sparsegp(y ~ a + b, d, lik_nullcat(missing = c(0.2, 0.9)), learn = FALSE))
  expect_equal(unname(two[c("missing1", "missing2")]), c(0.2, 0.9), tolerance = 1e-12)
  expect_identical(format(lik_nullcat(width = 2, missing = fixed(c(0.2, 0.9)))),
                   "nullcat(width = 2, missing1 = fixed(0.2), missing2 = fixed(0.9))")
  # where only labels of "down" are ever missing, rows without one are down
  only <- d
  only$y[d$truth == "up"] <- "up"
  fit <- sparsegp(y ~ a + b, only, lik_nullcat(fixed(0), missing = fixed(c(0.9, 0.01))), short,
                  learn = FALSE)
  expect_true(all(fitted(fit)[is.na(only$y)] < 0.5))
})

test_that("what it cannot be is refused", {
  memory_tier()
  d <- clouds()
  for (bad in list(0, 1, -0.1, NA_real_, "a", c(0.1, 0.2, 0.3), numeric())) {
    refused(lik_nullcat(missing = bad), "missing")
    refused(lik_nullcat(missing = fixed(0.5 * NA)), "value")
  }
  refused(lik_nullcat(width = 0), "width")
  refused(lik_nullcat(bias = Inf), "bias")
  three <- iris
  three$Species[c(1, 60)] <- NA
  refused(sparsegp(Species ~ ., three, "nullcat"), "y")
  refused(sparsegp(y ~ a, d, "nullcat", weights = rep(1, 160)), "weights")
  refused(sparsegp(I(b * NA) ~ a, d, "nullcat"), "y")
  expect_error(sparsegp(1:4, factor(rep(NA, 4L)), "nullcat"), "has no labels")
  expect_error(sparsegp(1:4, factor(c(NA, NA, "left", "left")), "nullcat"), "only one class, left")
})

test_that("where every row has a label it compares as the margin that it is", {
  memory_tier()
  fixed_kernel <- kernel_rbf(1, 1)
  by <- function(likelihood) {
    sparsegp(factor(am) ~ wt + hp, mtcars, likelihood, fixed_kernel, learn = FALSE)
  }
  null <- by(lik_nullcat(0))
  margin <- by(lik_margin(0, 1))
  expect_equal(predict(null, mtcars), predict(margin, mtcars), tolerance = 1e-10)
  # log Z has the probability that the label is there, too: 29.8 nats for 32 rows
  expect_equal(loo_lpd(null), loo_lpd(margin), tolerance = 1e-8)
})
