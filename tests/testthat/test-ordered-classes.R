# Ordered categories by likelihoods of classes: what is answered for an ordinal likelihood follows
# from the probabilities of any other, and the model is that of the same labels without an order.

r_code_alone()

graded <- function(n = 32) {
  set.seed(4)
  d <- data.frame(x = seq(-2, 2, length.out = n))
  d$grade <- cut(sin(2 * d$x) + 0.5 * rnorm(n), c(-Inf, -0.6, 0.2, 0.8, Inf),
                 c("poor", "fair", "good", "best"), ordered_result = TRUE)
  d$plain <- factor(d$grade, ordered = FALSE)
  d
}

classifiers <- function() {
  list(ordinal = lik_ordinal(), mprobit = lik_mprobit(coupled = FALSE), coupled = lik_mprobit(),
       softmax = lik_softmax(coupled = FALSE), probit = lik_probit(), squares = lik_squares())
}

graded_fit <- function(likelihood, d = graded(), formula = grade ~ x, ...) {
  sparsegp(formula, d, likelihood, kernel_rbf(2, 0.7), learn = FALSE, ...)
}

# Mean, standard deviation, quantiles and both tails of y, of the probabilities of a row.
by_hand <- function(prob, y) {
  numbers <- seq_along(prob)
  mean <- sum(numbers * prob)
  list(mean = mean, sd = sqrt(sum((numbers - mean)^2 * prob)),
       quantile = function(p) numbers[cumsum(prob) >= p][1L],
       below = sum(prob[numbers < y]), above = sum(prob[numbers > y]))
}

test_that("means, quantiles and residuals follow from the probabilities, by any likelihood", {
  slow_tier()
  d <- graded()
  y <- as.integer(d$grade)
  for (name in names(classifiers())) {
    fit <- graded_fit(classifiers()[[name]], d)
    prob <- predict(fit, type = "prob")
    own <- lapply(seq_along(y), function(i) by_hand(prob[i, ], y[i]))
    each <- function(field) vapply(own, `[[`, 0, field)
    quantiles <- function(p) vapply(own, function(row) row$quantile(p), 0L)
    expect_equal(unname(predict(fit)), each("mean"), tolerance = 1e-12, label = name)
    expect_equal(unname(residuals(fit)), y - each("mean"), tolerance = 1e-12, label = name)
    expect_equal(unname(residuals(fit, "pearson")), (y - each("mean")) / each("sd"),
                 tolerance = 1e-9, label = name)
    expect_equal(unname(predict(fit, type = "quantile", at = c(0.1, 0.5, 0.8))),
                 cbind(quantiles(0.1), quantiles(0.5), quantiles(0.8)), label = name)
    band <- predict(fit, interval = "prediction", level = 0.8)
    expect_equal(unname(band), cbind(each("mean"), quantiles(0.1), quantiles(0.9)),
                 tolerance = 1e-12, label = name)
    expect_identical(unname(predict(fit, type = "class")),
                     factor(levels(d$grade)[max.col(prob, "first")], levels(d$grade),
                            ordered = TRUE), label = name)
    # leave-one-out
    left_out <- as.matrix(loo(fit)[paste0("prob.", levels(d$grade))])
    own <- lapply(seq_along(y), function(i) by_hand(left_out[i, ], y[i]))
    pit <- attr(calibration(fit), "pit")
    expect_equal(pit$lower, each("below"), tolerance = 1e-12, label = name)
    expect_equal(pit$upper, 1 - each("above"), tolerance = 1e-12, label = name)
    set.seed(1)
    z <- residuals(fit, "quantile")
    set.seed(1)
    u <- each("below") + runif(length(y)) * (1 - each("below") - each("above"))
    expect_equal(pnorm(unname(z)), u, tolerance = 1e-9, label = name)
  }
})

test_that("the model is that of the same labels without an order, whose answers stay", {
  slow_tier()
  d <- graded()
  for (name in setdiff(names(classifiers()), "ordinal")) {
    ordered <- graded_fit(classifiers()[[name]], d)
    plain <- graded_fit(classifiers()[[name]], d, plain ~ x)
    expect_identical(coef(ordered), coef(plain), label = name)
    prob <- predict(plain, type = "prob")
    expect_identical(predict(ordered, type = "prob"), prob, label = name)
    expect_identical(predict(plain), prob, label = name)
    expect_identical(dim(predict(plain, d[1:2, ], "median")), c(2L, 4L), label = name)
    for (type in c("link", "latent")) {
      expect_identical(predict(ordered, type = type), predict(plain, type = type), label = name)
    }
    expect_identical(loo(ordered)$lpd, loo(plain)$lpd, label = name)
    expect_identical(unclass(ordered$y)[], unclass(plain$y)[], ignore_attr = TRUE)
    expect_error(residuals(plain, "quantile"), class = "sparsegp_error")
    expect_error(predict(plain, type = "quantile"), class = "sparsegp_error")
    expect_output(print(ordered), "poor < fair < good < best", fixed = TRUE)
    expect_output(print(plain), "poor, fair, good, best", fixed = TRUE)
  }
  two <- sparsegp(factor(grade > "fair", ordered = TRUE) ~ x, d, lik_mprobit(), learn = FALSE)
  expect_identical(dim(predict(two)), c(32L, 2L))
})

# A lattice of 2046 points has standard deviations within 3 % and 5 % tails within one; of 4000
# draws two standard errors are 2 % and 0.7 %.
test_that("medians, bounds and standard errors are those of draws of the mean number", {
  slow_tier()
  d <- graded()
  new <- d[c(3, 16, 29), "x", drop = FALSE]
  for (name in of_tier(c("mprobit", "coupled", "probit"), 1L)) {
    fit <- graded_fit(classifiers()[[name]], d)
    set.seed(2)
    drawn <- draws(fit, new, 4000, "response")
    expect_identical(dim(drawn), c(3L, 4000L))
    expect_identical(dim(draws(fit, new, 5)), c(3L, 5L, 4L))
    below <- function(bound) rowMeans(drawn < bound)
    band <- predict(fit, new, interval = "confidence", level = 0.9)
    expect_lt(max(abs(below(band[, "lwr"]) - 0.05)), 0.017)
    expect_lt(max(abs(below(band[, "upr"]) - 0.95)), 0.017)
    median <- predict(fit, new, "median", interval = "confidence", level = 0.9)
    expect_identical(median[, "fit"], predict(fit, new, "median"))
    expect_identical(median[, -1L], band[, -1L])
    expect_equal(unname(band[, "upr"]),
                 confidence_bound(fit, new_latent(fit, new), "response", qnorm(0.95)))
    expect_lt(max(abs(below(median[, "fit"]) - 0.5)), 0.042)
    spread <- predict(fit, new, se.fit = TRUE)$se.fit
    expect_equal(unname(spread), unname(apply(drawn, 1L, sd)), tolerance = 0.06, label = name)
    # differences of the mean number; the error is of h^2
    h <- 1e-3
    moved <- function(h) predict(fit, new + h)
    slope <- slopes(fit, new, vars = "x")
    expect_equal(slope$estimate, unname(moved(h) - moved(-h)) / (2 * h), tolerance = 1e-4)
    expect_identical(dim(slope_arrays(fit, new, vars = "x", scale = "link")), c(3L, 4L))
  }
})

test_that("mixtures of fits, streams, sources and files keep the order", {
  slow_tier()
  d <- graded()
  new <- d[c(3, 16, 29), ]
  means_of <- function(fit) {
    expect_equal(predict(fit, new), drop(predict(fit, new, "prob") %*% 1:4), tolerance = 1e-12)
  }
  lik <- lik_mprobit(coupled = FALSE)
  first <- graded_fit(lik, d)
  mixed <- average(first, sparsegp(grade ~ x, d, lik, kernel_rbf(1, 2), learn = FALSE))
  means_of(mixed)
  prob <- predict(mixed, new, "prob")
  expect_equal(unname(predict(mixed, new, "quantile", at = 0.3)[, 1L]),
               unname(apply(prob, 1L, function(p) which(cumsum(p) >= 0.3)[1L])))
  band <- predict(mixed, new, "median", interval = "confidence")
  expect_true(all(band[, "lwr"] < band[, "fit"] & band[, "fit"] < band[, "upr"]))
  stream <- graded_fit(lik, d[1:25, ], method = method_online(10, pilot = 20))
  stream <- update(stream, d[26:32, ])
  means_of(stream)
  source <- row_source(function(i) d[16 * (i - 1) + 1:16, ], chunks = 2)
  chunked <- graded_fit(lik, source, basis = d[1:8 * 4, ])
  expect_equal(predict(chunked, new), predict(graded_fit(lik, d, basis = d[1:8 * 4, ]), new),
               tolerance = 1e-6)
  file <- tempfile()
  for (each in list(first, graded_fit(lik_mprobit(), d), graded_fit("probit", d))) {
    saveRDS(each, file)
    expect_identical(predict(readRDS(file), new), predict(each, new))
  }
  expect_identical(rownames(compare(classes = first, ordinal = graded_fit("ordinal", d)))[1:2] %in%
                     c("classes", "ordinal"), c(TRUE, TRUE))
})

test_that("pictures are those of ordered categories", {
  slow_tier()
  fit <- graded_fit(lik_mprobit(coupled = FALSE))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_named(plot(fit, type = "loo"), c("observed", "fit", "lwr", "upr", "inside"))
  expect_named(plot(fit), c("x", "class", paste0("prob.", levels(fit$y))))
  expect_named(plot(fit, type = "slope", n = 5)[[1L]], c("x", "fit", "lwr", "upr"))
  expect_identical(palette_of(fit), ordered_colours(4L))
})
