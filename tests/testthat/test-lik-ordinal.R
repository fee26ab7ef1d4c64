# Ordered categories beyond the contract: narrow and far ones, many of them, and all the way from an
# ordered factor to probabilities.

tilt <- function(theta, y, mu, s2, quadrature = FALSE) {
  y <- rbind(rep_len(as.double(y), length(mu)))
  .Call(sg_lik_tilt, c_lik("ordinal", theta), theta, y, as.double(mu),
        rep_len(as.double(s2), length(mu)), quadrature)
}

ratings <- function(n = 150, cuts = c(-1.2, 0.1, 0.8), labels = c("low", "fair", "good", "top")) {
  set.seed(4)
  x <- sort(runif(n, -3, 3))
  f <- 1.5 * sin(1.5 * x)
  y <- factor(labels[findInterval(f + rnorm(n), cuts) + 1L], labels, ordered = TRUE)
  data.frame(x, f, y)
}

refused <- function(code, argument) {
  error <- expect_error(code, class = "sparsegp_error")
  expect_identical(error$argument, argument)
}

test_that("narrow categories and far ones keep their digits", {
  memory_tier()
  # lower bound, width, mu, s2; log Z, d1, d2, dlogZ / dlog width: 17 digits, from 60-digit
  # arithmetic (mpmath)
  exact <- rbind(
    c(-1, 1e-12, 0, 0, -29.049959649132721, -0.9999999999995, -1.0, 1.0000000000005),
    c(3, 1e-12, -20, 3, -95.368106829696041, 5.750000000000125, -0.25, 0.999999999997125),
    c(0, 1e-9, 1e4, 0.25, -40000021.753772146, -7999.9999999996, -0.8, 1.0000040000053333),
    c(0, 0.5, -300, 0, -45006.622732118663, 300.00333325926337, -0.99998888962956105,
      9.498105489085006e-64),
    c(0, 2.0625, 0, 0, -0.73309472164769186, 0.73141927222184039, -0.73912867658505223,
      0.20415452480752558),
    c(0, 1.9375, 0, 0, -0.74727000416418972, 0.71334584390750049, -0.7586301981540773,
      0.24976790513397325),
    c(0, 0.25, 8.25, 0, -35.14960875387032, -8.0854063117885834, -0.9957184372335082,
      2.3265252827786584),
    c(0, 0.25, 8, 0, -33.159372876620405, -7.8364827014928127, -0.99567055146434706,
      2.2770710326107565),
    c(0, 0.25, -7.75, 0, -33.159372876620405, 7.8364827014928127, -0.99567055146434706,
      0.3179503572375533),
    c(-4, 8, 0, 0, -6.3344489886078092e-5, 0.0, -0.0010707096275261757, 0.0010707096275261757),
    c(-40, 80, 3, 0, 0, -2.1200065515246056e-298, -7.8440242406410408e-297,
      1.6960052412196845e-296),
    c(0, 0.001, 1e6, 0, -499999999014.73445, -999999.999001, -0.999999999999, 999.999999001),
    c(0, 3, -50, 8, -142.62480633300247, 5.5754140697944806, -0.11071950482084744,
      5.8615137843347076e-7),
    c(5, 1, 0, 1e8, -10.12927906184752, 5.4999999404166673e-8, -9.9999998916666678e-9,
      0.99999997166666723)
  )
  for (i in seq_len(nrow(exact))) {
    at <- exact[i, ]
    found <- tilt(c(at[1L], log(at[2L])), 2, at[3L], at[4L])
    got <- c(found$logz, found$d1, found$d2, found$dpar[2L])
    size <- ifelse(at[5:8] == 0, 1, abs(at[5:8]))
    # the last digit of a bound 37 away is 1e-12 of exp(-37^2 / 2)
    expect_lt(max(abs(got - at[5:8]) / size), 1e-11, label = toString(at))
  }
})

test_that("probabilities equal brute force and sum to one, for 2 to 256 categories", {
  memory_tier()
  set.seed(1)
  for (K in c(2L, 3L, 7L, 256L)) {
    theta <- c(-2, log(rexp(K - 2L, K / 4)))
    v <- list(cut = theta[1L], gap = exp(theta[-1L]))
    mu <- c(-3, 0.4, 2, 30)
    s2 <- c(0.01, 2, 50, 1)
    found <- vapply(seq_len(K), function(y) exp(tilt(theta, y, mu, s2)$logz), numeric(4L))
    expect_lt(max(abs(rowSums(found) - 1)), 1e-12)
    n <- seq(-12, 12, by = 0.01) # a trapezoid rule: rounding is what is left of the error
    w <- dnorm(n) * 0.01
    for (i in seq_along(mu)) {
      f <- mu[i] + sqrt(s2[i]) * n
      brute <- drop(w %*% ordinal_probabilities(f, v))
      expect_lt(max(abs(found[i, ] - brute)), 1e-13, label = paste(K, "categories at", mu[i]))
    }
    moments <- .Call(sg_lik_predict, c_lik("ordinal", theta), theta, mu, s2, FALSE)
    mean <- drop(found %*% seq_len(K))
    expect_equal(moments$mean, mean, tolerance = 1e-12)
    expect_equal(moments$var, rowSums(found * outer(-mean, seq_len(K), "+")^2), tolerance = 1e-9)
  }
})

test_that("derivatives in many cut points are exact, and those by quadrature agree", {
  memory_tier()
  set.seed(2)
  theta <- c(-1.5, log(rexp(18L, 6)))
  for (y in c(1, 2, 9, 19, 20)) {
    found <- tilt(theta, y, 0.3, 0.7)
    slope <- numeric_gradient(function(theta) tilt(theta, y, 0.3, 0.7)$logz, theta, h = 0.02)
    expect_lt(max(abs(found$dpar - slope)), 1e-9)
    # more hyperparameters than one quadrature takes; dlogp/dtheta is a difference of step 1e-3
    expect_lt(max(abs(found$dpar - tilt(theta, y, 0.3, 0.7, TRUE)$dpar)), 1e-8)
  }
})

test_that("the gradient of the evidence is exact in all cut points", {
  d <- ratings(40)
  fit <- sparsegp(y ~ x, d, learn = FALSE, method = method_ep(tol = 1e-11))
  problem <- list(x = fit$posterior$basis, spec = fit$spec, nkernel = 2L, processes = 1L,
                  lik = fit$likelihood, rows = fit$data_rows, offset = numeric(40),
                  options = fit$options)
  theta <- fit$hyper$theta + 0.1
  exact <- engine_run(problem, theta, gradient = TRUE)$gradient
  approx <- numeric_gradient(function(theta) engine_run(problem, theta)$logz, theta)
  expect_lt(max(abs(exact - approx)), 1e-6 * max(1, abs(approx)))
})

test_that("two categories are the probit model", {
  memory_tier()
  d <- ratings()
  d$two <- factor(d$y > "fair", ordered = TRUE)
  expect_identical(sparsegp(two ~ x, d, learn = FALSE)$likelihood$type, "probit")
  one <- sparsegp(two ~ x, d, lik_ordinal(0.4), learn = FALSE)
  other <- sparsegp(two ~ x, d, lik_probit(-0.4), learn = FALSE)
  expect_equal(as.numeric(logLik(one)), as.numeric(logLik(other)), tolerance = 1e-10)
  expect_equal(predict(one, d, "prob"), predict(other, d, "prob"), tolerance = 1e-7)
  expect_equal(fitted(one), 1 + fitted(other), tolerance = 1e-7)
  expect_named(coef(one), c("variance", "lengthscale", "cut.FALSE|TRUE"))
})

test_that("an ordered factor is fitted by default, with cut points near the truth", {
  slow_tier()
  d <- ratings(400)
  fit <- sparsegp(y ~ x, d)
  expect_identical(fit$likelihood$type, "ordinal")
  expect_output(print(fit), "4 ordered categories: low < fair < good < top", fixed = TRUE)
  cuts <- coef(fit)[c("cut.low|fair", "cut.fair|good", "cut.good|top")]
  # the level of the latent function and its scale are not known exactly, their gaps nearly
  expect_lt(max(abs(cuts - c(-1.2, 0.1, 0.8))), 0.5)
  expect_lt(max(abs(diff(cuts) - c(1.3, 0.7))), 0.3)
  expect_identical(rownames(summary(fit)$hyperparameters), names(coef(fit)))
  expect_identical(dim(summary(fit)$confusion), c(4L, 4L))
  prob <- predict(fit, d[c(10, 300), ], type = "prob")
  expect_identical(dimnames(prob), list(c("10", "300"), levels(d$y)))
  expect_equal(rowSums(prob), c(`10` = 1, `300` = 1), tolerance = 1e-12)
  expect_equal(predict(fit, d[c(10, 300), ]), drop(prob %*% 1:4), tolerance = 1e-12)
  expect_identical(dim(predict(fit, d[0, ], type = "prob")), c(0L, 4L))
  class <- predict(fit, d[c(10, 300), ], type = "class")
  expect_identical(class, setNames(factor(levels(d$y)[max.col(prob)], levels(d$y), ordered = TRUE),
                                   c("10", "300")))
  loo <- loo_probabilities(fit)[cbind(1:400, as.integer(d$y))]
  expect_equal(unname(loo_lpd(fit)), log(loo), tolerance = 1e-12)
  expect_equal(residuals(fit), as.integer(d$y) - fitted(fit), ignore_attr = TRUE)
  expect_lt(abs(mean(residuals(fit, "pearson")^2) - 1), 0.3)
  drawn <- simulate(fit, 20, seed = 1)
  expect_true(is.ordered(drawn$sim_1))
  expect_lt(max(abs(tabulate(unlist(lapply(drawn, as.integer)), 4L) / 8000 -
                      tabulate(d$y, 4L) / 400)), 0.05)
})

test_that("prediction intervals are numbers of categories and cover", {
  slow_tier()
  d <- ratings(400)
  fit <- sparsegp(y ~ x, d)
  band <- predict(fit, d, interval = "prediction", level = 0.8)
  expect_true(all(band[, c("lwr", "upr")] %in% 1:4))
  # of whole categories: at least the level
  expect_gt(mean(as.integer(d$y) >= band[, "lwr"] & as.integer(d$y) <= band[, "upr"]), 0.77)
  sure <- predict(fit, d, interval = "confidence")
  expect_true(all(sure[, "lwr"] <= sure[, "fit"] & sure[, "fit"] <= sure[, "upr"]))
})

test_that("ordered categories are fitted by every method", {
  memory_tier()
  d <- ratings()
  lik <- lik_ordinal(fixed(c(-1.2, 0.1, 0.8)))
  for (method in list(method_ep(), method_ep(size = 12), method_online(size = 12),
                      method_ivm(size = 25), method_ivm(size = 25, refine = "none"))) {
    fit <- sparsegp(y ~ x, d, lik, kernel_rbf(2, 0.5), method = method, learn = FALSE)
    expect_gt(cor(predict(fit, d, type = "latent"), d$f), 0.85, label = method$label)
    expect_equal(unname(rowSums(predict(fit, d, type = "prob"))), rep(1, 150L), tolerance = 1e-12)
    expect_true(is.finite(logLik(fit)))
  }
})

test_that("the IVM's own criterion learns cut points", {
  slow_tier()
  d <- ratings()
  fit <- sparsegp(y ~ x, d, method = method_ivm(size = 40, refine = "none"),
                  learn = learn_control("ivm"))
  expect_named(coef(fit)[-(1:2)], c("cut.low|fair", "cut.fair|good", "cut.good|top"))
  expect_gt(cor(predict(fit, d, type = "latent"), d$f), 0.85)
})

test_that("an offset moves the cut points", {
  memory_tier()
  d <- ratings()
  plain <- sparsegp(y ~ x, d, learn = FALSE)
  moved <- sparsegp(y ~ x + offset(0 * x + 3), d, learn = FALSE)
  expect_equal(coef(moved)[-(1:2)], coef(plain)[-(1:2)] + 3, tolerance = 1e-12)
  expect_equal(as.numeric(logLik(moved)), as.numeric(logLik(plain)), tolerance = 1e-10)
})

test_that("unused levels are left out, but a stream waits for their rows", {
  memory_tier()
  d <- ratings()
  few <- d[d$y != "good", ]
  expect_named(coef(sparsegp(y ~ x, few, learn = FALSE))[-(1:2)], c("cut.low|fair", "cut.fair|top"))
  stream <- function(...) {
    sparsegp(y ~ x, ..., kernel = kernel_rbf(2, 0.5), learn = FALSE,
             method = method_online(size = 12, pilot = 60))
  }
  # none of the pilot's rows is good
  d <- rbind(few[1:60, ], d[setdiff(rownames(d), rownames(few)[1:60]), ])
  whole <- stream(d)
  expect_named(coef(whole)[-(1:2)], c("cut.low|fair", "cut.fair|good", "cut.good|top"))
  parts <- update(update(stream(d[1:30, ]), d[31:70, ]), d[71:150, ])
  expect_equal(predict(parts, d, "prob"), predict(whole, d, "prob"), tolerance = 1e-10)
  expect_identical(parts$likelihood$type, "ordinal")
  more <- d[1:2, ]
  more$y <- factor(c("low", "superb"), c("low", "superb"), ordered = TRUE)
  refused(update(stream(d[1:30, ]), more), "y")
  refused(update(whole, more), "newdata")
})

test_that("whole numbers, a plain factor and a logical are categories when asked for", {
  memory_tier()
  d <- ratings()
  fit <- function(y, lik = "ordinal") sparsegp(d$x, y, lik, learn = FALSE)
  wanted <- as.numeric(logLik(fit(d$y)))
  for (y in list(as.integer(d$y), 10 * as.integer(d$y), factor(d$y, ordered = FALSE))) {
    expect_equal(as.numeric(logLik(fit(y))), wanted, tolerance = 1e-12)
  }
  expect_named(coef(fit(10 * as.integer(d$y)))[-(1:2)], c("cut.10|20", "cut.20|30", "cut.30|40"))
  expect_named(coef(fit(d$y > "fair")), c("variance", "lengthscale", "cut.FALSE|TRUE"))
  refused(fit(as.character(d$y)), "y")
  refused(fit(d$x), "y")
  refused(fit(rep("a", 150)), "y")
  refused(sparsegp(d$x, d$y, weights = rep(1, 150)), "weights")
})

test_that("cut points are given in increasing order, one less than categories", {
  slow_tier()
  d <- ratings()
  fit <- sparsegp(y ~ x, d, lik_ordinal(fixed(c(-1, 0, 1.5))))
  expect_equal(unname(coef(fit)[-(1:2)]), c(-1, 0, 1.5), tolerance = 1e-14)
  start <- sparsegp(y ~ x, d, lik_ordinal(c(-1, 0, 1.5)), learn = FALSE)
  expect_equal(unname(coef(start)[-(1:2)]), c(-1, 0, 1.5), tolerance = 1e-14)
  expect_identical(format(lik_ordinal(c(-1, 0, 1.5))), "ordinal(cut = -1, gap = c(1.0, 1.5))")
  for (bad in list(c(1, 1), c(2, 1), c(0, NA), Inf, "a", numeric(), fixed(c(1, 0)), 1:300)) {
    refused(lik_ordinal(bad), "cuts")
  }
  refused(sparsegp(y ~ x, d, lik_ordinal(0)), "cuts")
  refused(sparsegp(y ~ x, d, lik_ordinal(c(0, 1, 2, 3))), "cuts")
  tight <- sparsegp(y ~ x, d, control = gp_control(prior = list(gap = prior_lognormal(log(0.5),
                                                                                      0.01),
                                           cut = prior_normal(-1, 0.01))))
  expect_equal(unname(coef(tight)[-(1:2)]), c(-1, -0.5, 0), tolerance = 0.05)
})

test_that("panels of ordered categories show every one", {
  memory_tier()
  d <- ratings()
  fit <- sparsegp(y ~ x, d, learn = FALSE)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  drawn <- plot(fit)
  expect_identical(names(drawn), c("x", "class", paste0("prob.", levels(d$y))))
  expect_identical(names(plot(fit, type = "reject"))[1:2], c("threshold", "rejected"))
  expect_identical(sum(plot(fit, type = "reliability")$rows), 4L * 150L)
})

test_that("a quantile is the first category up to which probabilities add up to as much", {
  cuts <- c(-0.8, 0.1, 1.4)
  fit <- sparsegp(y ~ x, ratings(), lik_ordinal(fixed(cuts)), kernel_rbf(2, 0.5), learn = FALSE)
  new <- data.frame(x = seq(-4, 4, length.out = 50))
  latent <- predict(fit, new, "latent", se.fit = TRUE)
  up_to <- function(k) pnorm((c(-Inf, cuts, Inf)[k + 1] - latent$fit) / sqrt(1 + latent$se.fit^2))
  for (p in c(0.05, 0.5, 0.9)) {
    found <- predict(fit, new, "quantile", at = p)
    expect_true(all(up_to(found) >= p & up_to(found - 1) < p))
  }
})
