r_code_alone()

# Numbers, a factor whose levels have spaces, characters, a logical, and responses of all kinds.
toy <- function(n = 24L) {
  set.seed(11)
  d <- data.frame(
    x = rnorm(n), z = runif(n), g = factor(sample(c("low dose", "high", "b-2"), n, TRUE)),
    ch = sample(c("u", "v"), n, TRUE), l = runif(n) > 0.5, w = sample(1:4, n, TRUE)
  )
  d$y <- sin(d$x) + d$z + (d$g == "high") + rnorm(n, sd = 0.2) + 10
  d$class <- factor(ifelse(d$x + rnorm(n, sd = 0.7) > 0, "yes it is", "no"),
                    c("no", "yes it is", "never seen"))
  d
}

# sparsegp(..., learn = FALSE), evaluated where it is written: `weights`, `subset` are found there
fast <- function(...) {
  call <- sys.call()
  call[[1L]] <- quote(sparsegp)
  call$learn <- FALSE
  eval(call, parent.frame())
}

gap <- function(a, b) max(abs(unname(a) - unname(b)))

# Both answers of a regression at new rows
moments <- function(fit, newdata) predict(fit, newdata, se.fit = TRUE)

warnings_of <- function(code) {
  seen <- character()
  withCallingHandlers(code, warning = function(w) {
    seen <<- c(seen, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  seen
}

# The exact Gaussian process on one input with an rbf kernel: noise variances s2 / w, mean m.
exact_gp <- function(x, y, new, v, ell, s2, w = rep(1, length(y)), m = sum(w * y) / sum(w)) {
  k <- function(a, b) v * exp(-outer(a, b, "-")^2 / (2 * ell^2))
  C <- k(x, x) + diag(s2 / w)
  C_inverse <- solve(C)
  alpha <- solve(C, y - m)
  cross <- k(x, new)
  loo_sd <- 1 / sqrt(diag(C_inverse))
  list(
    mean = m + drop(crossprod(cross, alpha)), sd = sqrt(v - colSums(cross * solve(C, cross))),
    log_evidence = -0.5 * (sum((y - m) * alpha) + as.numeric(determinant(C)$modulus) +
                             length(y) * log(2 * pi)),
    loo = dnorm(y, y - alpha * loo_sd^2, loo_sd, log = TRUE)
  )
}

# ---- Formula and matrix ----

test_that("a formula and a matrix give the same fit", {
  slow_tier()
  d <- toy()
  by_formula <- sparsegp(y ~ x + z, d)
  by_matrix <- sparsegp(as.matrix(d[c("x", "z")]), d$y)
  by_frame <- sparsegp(d[c("x", "z")], d$y)
  expect_identical(coef(by_matrix), coef(by_formula))
  expect_identical(fitted(by_matrix), fitted(by_formula))
  expect_identical(fitted(by_frame), fitted(by_formula))
  expect_identical(as.numeric(logLik(by_matrix)), as.numeric(logLik(by_formula)))
  expect_identical(predict(by_matrix, d[c("x", "z")]), predict(by_formula, d))
  by_formula <- fast(class ~ x, d)
  by_vector <- fast(d$x, d$class)
  expect_identical(fitted(by_vector), fitted(by_formula))
})

test_that("a vector, a matrix of one column and a data frame of one column are the same inputs", {
  memory_tier()
  d <- toy()
  expected <- fitted(fast(d$x, d$y))
  expect_identical(fitted(fast(matrix(d$x), d$y)), expected)
  expect_identical(fitted(fast(d["x"], d$y)), expected)
  expect_identical(fitted(fast(d$x, matrix(d$y))), expected)
  expect_identical(fitted(fast(as.integer(d$w), d$y)), fitted(fast(as.double(d$w), d$y)))
  expect_identical(fitted(fast(d$l, d$y)), fitted(fast(as.numeric(d$l), d$y)))
})

test_that("subset, weights and offset mean in a formula what they mean in lm()", {
  d <- toy()
  chosen <- fast(y ~ x + offset(z), d, subset = x > -1 & g != "high", weights = w)
  rows <- d$x > -1 & d$g != "high"
  by_hand <- fast(d$x[rows], d$y[rows], weights = d$w[rows], offset = d$z[rows])
  expect_equal(nobs(chosen), sum(rows))
  expect_identical(unname(fitted(chosen)), unname(fitted(by_hand)))
  expect_named(fitted(chosen), rownames(d)[rows])
  expect_equal(nobs(fast(y ~ x, d, subset = 1:7)), 7)
  expect_equal(nobs(fast(y ~ x, d, subset = -(1:7))), nrow(d) - 7)
})

test_that("an offset is taken from the response before and added to the mean after", {
  memory_tier()
  d <- toy()
  with_offset <- fast(y ~ x + offset(10 * z) + offset(x), d)
  by_hand <- fast(I(y - 10 * z - x) ~ x, d)
  expect_lt(gap(fitted(with_offset), fitted(by_hand) + 10 * d$z + d$x), 1e-11) # rounding
  expect_lt(abs(logLik(with_offset) - logLik(by_hand)), 1e-10)
  new <- data.frame(x = c(0, 1), z = c(5, -5))
  expect_lt(gap(predict(with_offset, new), predict(by_hand, new) + 10 * new$z + new$x), 1e-11)
  # for classes: a known part of the latent function, as a bias is
  shifted <- fast(class ~ x + offset(rep(0.4, 24)), d, lik_probit(0))
  biased <- fast(class ~ x, d, lik_probit(0.4))
  expect_lt(gap(fitted(shifted), fitted(biased)), 1e-12)
  expect_lt(gap(predict(shifted, type = "latent"), predict(biased, type = "latent") + 0.4), 1e-12)
})

test_that("a constant in the offset is taken up by the bias, as it is by a regression's mean", {
  slow_tier()
  d <- toy()
  base <- sparsegp(class ~ x, d)
  for (constant in c(1, 20)) {
    shifted <- sparsegp(class ~ x + offset(rep(constant, 24)), d)
    # two searches that end within their tolerance
    expect_lt(gap(fitted(shifted), fitted(base)), 1e-3)
    expect_lt(abs(coef(shifted)[["bias"]] + constant - coef(base)[["bias"]]), 0.01)
  }
  base <- fast(y ~ x, d)
  shifted <- fast(y ~ x + offset(rep(50, 24)), d)
  expect_lt(gap(fitted(shifted), fitted(base)), 1e-10)
})

test_that("a weight of w counts as w copies of the row", {
  memory_tier()
  d <- toy()
  copies <- d[rep(seq_len(nrow(d)), d$w), ]
  # without scaling of inputs, whose standard deviation copies would change
  fit <- function(data, by = NULL) {
    fast(y ~ x, data, lik_gaussian(0.3), kernel_rbf(0.8, 1.1), scale = FALSE, weights = by,
         mean = "average")
  }
  new <- data.frame(x = c(-2, 0.3, d$x[1], 9))
  weighted <- moments(fit(d, d$w), new)
  copied <- moments(fit(copies), new)
  expect_lt(gap(weighted$fit, copied$fit), 1e-8) # the two solve different systems
  expect_lt(gap(weighted$se.fit, copied$se.fit), 1e-8)
  expect_error(fast(class ~ x, d, weights = w), "`weights`", class = "sparsegp_error")
  expect_identical(fitted(fit(d, rep(1, 24))), fitted(fit(d)))
})

test_that("na.omit drops rows with missing values, na.exclude pads them, na.fail refuses", {
  d <- toy()
  holes <- d
  holes$x[2] <- NA
  holes$y[5] <- NaN
  holes$z[7] <- NA # in the offset
  kept <- setdiff(1:24, c(2, 5, 7))
  expected <- fitted(fast(y ~ x + offset(z), d[kept, ]))
  omitted <- fast(y ~ x + offset(z), holes)
  expect_identical(fitted(omitted), expected)
  excluded <- fast(y ~ x + offset(z), holes, na.action = na.exclude)
  expect_identical(which(is.na(fitted(excluded))), c("2" = 2L, "5" = 5L, "7" = 7L))
  expect_identical(fitted(excluded)[kept], expected)
  expect_length(residuals(excluded), 24)
  expect_length(loo_lpd(excluded), 24)
  expect_equal(dim(predict(excluded, interval = "prediction")), c(24, 3))
  expect_length(predict(excluded, se.fit = TRUE)$se.fit, 24)
  expect_equal(nobs(excluded), 21)
  by_matrix <- fast(holes$x, holes$y, offset = holes$z, na.action = na.exclude)
  expect_identical(fitted(by_matrix), fitted(excluded))
  expect_error(fast(y ~ x, holes, na.action = na.fail), class = "sparsegp_error")
  expect_error(fast(holes$x, holes$y, na.action = na.fail), "`na.action`",
               class = "sparsegp_error")
  holes$class[1] <- NA
  class_fit <- fast(class ~ x, holes, na.action = na.exclude)
  expect_true(all(is.na(predict(class_fit, type = "class")[1:2])))
  expect_length(predict(class_fit, type = "class"), 24)
})

test_that("missing values that an na.action lets through are an error, not NaN", {
  holes <- toy()
  holes$x[2] <- holes$z[3] <- holes$class[4] <- NA
  expect_error(fast(y ~ x, holes, na.action = na.pass), class = "sparsegp_error")
  expect_error(fast(y ~ x, holes, na.action = NULL), class = "sparsegp_error")
  expect_error(fast(holes$x, holes$y, na.action = na.pass), class = "sparsegp_error")
  expect_error(fast(class ~ w, holes, na.action = na.pass), "missing", class = "sparsegp_error")
  expect_error(fast(y ~ w + offset(z), holes, na.action = na.pass), "missing",
               class = "sparsegp_error")
  expect_error(fast(y ~ w, holes, weights = z, na.action = na.pass), "missing",
               class = "sparsegp_error")
})

# ---- Terms ----

test_that("factors, interactions and data-dependent bases predict what was fitted", {
  slow_tier()
  d <- toy()
  d$o <- factor(sample(1:3, 24, TRUE), ordered = TRUE)
  d[["a name"]] <- rnorm(24)
  d$m <- matrix(rnorm(48), 24)
  formulas <- list(
    y ~ g, y ~ g:x, y ~ g * x + o, y ~ ch * l, y ~ `a name`, y ~ m,
    y ~ I(x^2) + log(z), y ~ poly(x, 2), y ~ poly(x, 2, raw = TRUE), y ~ scale(x) + scale(z),
    y ~ splines::ns(x, 3), y ~ splines::bs(x, 4), y ~ x - 1, y ~ 0 + g:x, log(y) ~ (x + z)^2
  )
  for (formula in formulas) {
    fit <- fast(formula, d)
    # posterior means at training rows are reached by two routes; both end at rounding level
    expect_lt(gap(predict(fit, d), fitted(fit)), 1e-8, label = deparse1(formula))
    rows <- vapply(c(3L, 17L), function(i) unname(predict(fit, d[i, ])), 0)
    # one row and a batch may differ in the last digit, as BLAS sums them in another order
    expect_lt(gap(rows, predict(fit, d)[c(3, 17)]), 1e-12 * max(abs(d$y)),
              label = deparse1(formula))
  }
})

test_that("a dot stands for all other variables, and formula() shows them", {
  memory_tier()
  d <- toy()[c("x", "z", "y")]
  fit <- fast(y ~ ., d)
  expect_identical(fitted(fit), fitted(fast(y ~ x + z, d)))
  expect_equal(deparse(formula(fit)), "y ~ x + z")
  expect_identical(fitted(fast(y ~ . - z, d)), fitted(fast(y ~ x, d)))
})

test_that("contrasts are those of the fit, whatever the options say later", {
  memory_tier()
  d <- toy()
  old <- options(contrasts = c("contr.sum", "contr.poly"))
  fit <- fast(y ~ g + x, d)
  options(old)
  expect_lt(gap(predict(fit, d), fitted(fit)), 1e-10)
})

test_that("variables are found where lm() finds them", {
  memory_tier()
  d <- toy()
  expected <- fitted(fast(y ~ x, d, subset = z > 0.3, weights = w))
  inside <- function(frame) {
    counts <- frame$w
    keep <- frame$z > 0.3
    fast_formula <- y ~ x
    sparsegp(fast_formula, frame, learn = FALSE, subset = keep, weights = counts)
  }
  expect_identical(fitted(inside(d)), expected)
  env <- list2env(d)
  expect_identical(unname(fitted(fast(y ~ x, env))), unname(fitted(fast(y ~ x, d))))
  expect_identical(unname(fitted(fast(y ~ x, as.list(d)))), unname(fitted(fast(y ~ x, d))))
  expect_identical(unname(fitted(with(d, fast(y ~ x)))), unname(fitted(fast(y ~ x, d))))
  called <- do.call("sparsegp", list(y ~ x, quote(d), learn = FALSE))
  expect_identical(fitted(called), fitted(fast(y ~ x, d)))
  named <- sparsegp(formula = y ~ x, data = d, learn = FALSE)
  expect_identical(fitted(named), fitted(fast(y ~ x, d)))
})

# ---- Responses ----

test_that("two classes may be a factor, characters, a logical, 0/1 or -1/1", {
  memory_tier()
  d <- toy()
  second <- d$class == "yes it is"
  expected <- unname(fitted(fast(d$x, d$class)))
  probit <- function(y) fast(d$x, y, likelihood = "probit")
  responses <- list(
    logical = second, character = ifelse(second, "yes", "no"), zero_one = as.integer(second),
    minus_one_one = 2 * second - 1, factor = factor(second)
  )
  levels <- list(c("FALSE", "TRUE"), c("no", "yes"), c("0", "1"), c("-1", "1"), c("FALSE", "TRUE"))
  for (i in seq_along(responses)) {
    fit <- probit(responses[[i]])
    expect_identical(unname(fitted(fit)), expected, label = names(responses)[i])
    expect_equal(colnames(predict(fit, type = "prob")), levels[[i]])
  }
  expect_equal(colnames(predict(fast(class ~ x, d), type = "prob")), c("no", "yes it is"))
  # chosen without being named
  for (y in responses[c("logical", "character", "factor")]) {
    expect_identical(unname(fitted(fast(d$x, y))), expected)
  }
})

test_that("a likelihood may be a value, a constructor, a name or an R family", {
  d <- toy()
  type <- function(likelihood, formula = class ~ x) fast(formula, d, likelihood)$likelihood$type
  expect_equal(type("probit"), "probit")
  expect_equal(type(lik_logit), "logit")
  expect_equal(type(lik_logit()), "logit")
  expect_equal(type(binomial), "logit")
  expect_equal(type(binomial("probit")), "probit")
  expect_equal(type(gaussian(), y ~ x), "gaussian")
  expect_equal(type("gaussian", l ~ x), "gaussian")
  expect_error(type(Gamma), "`likelihood`", class = "sparsegp_error")
  expect_error(type(binomial("cauchit")), "`likelihood`", class = "sparsegp_error")
})

test_that("a response of several columns is refused in words where it is not of components", {
  d <- toy()
  expect_error(fast(cbind(y, x) ~ z, d, "student"), "`(y|formula)`", class = "sparsegp_error")
  expect_error(fast(cbind(w, 5 - w) ~ z, d, "logit"), "`(y|formula)`", class = "sparsegp_error")
  expect_error(fast(d$x, cbind(d$y, d$y), "laplace"), "`y`", class = "sparsegp_error")
  one_column <- fast(scale(y) ~ x, d)
  expect_lt(gap(fitted(one_column) * sd(d$y) + mean(d$y), fitted(fast(y ~ x, d))), 1e-10)
})

# ---- What must not change the answer ----

test_that("adding to y, or multiplying it, does the same to the answer and nothing else", {
  slow_tier()
  d <- toy()
  base <- sparsegp(y ~ x + z, d)
  at_base <- predict(base, d[1:5, ], se.fit = TRUE)
  shifted <- sparsegp(y ~ x + z, transform(d, y = y + 100))
  answer <- predict(shifted, d[1:5, ], se.fit = TRUE)
  # y + 100 is rounded at 1e-14, which learning turns into 1e-13 relative
  expect_lt(gap(answer$fit - 100, at_base$fit), 1e-10)
  expect_lt(gap(answer$se.fit / at_base$se.fit, 1), 1e-10)
  for (factor in c(1e150, 1e-150)) {
    scaled <- sparsegp(y ~ x + z, transform(d, y = y * factor))
    answer <- predict(scaled, d[1:5, ], se.fit = TRUE)
    expect_lt(gap(answer$fit / factor / at_base$fit, 1), 1e-10)
    expect_lt(gap(answer$se.fit / factor / at_base$se.fit, 1), 1e-10)
    expect_lt(abs(logLik(scaled) + 24 * log(factor) - logLik(base)), 1e-8)
    expect_lt(gap(loo_lpd(scaled) + log(factor), loo_lpd(base)), 1e-8)
    expect_lt(gap(residuals(scaled, "pearson"), residuals(base, "pearson")), 1e-8)
  }
})

test_that("the units of inputs do not matter", {
  slow_tier()
  d <- toy()
  base <- sparsegp(y ~ x + z, d, scale = TRUE)
  plain <- sparsegp(d$x, d$y, kernel = kernel_rbf(), scale = FALSE)
  for (factor in c(1e150, 1e-150)) {
    scaled <- sparsegp(y ~ x + z, transform(d, x = x * factor), scale = TRUE)
    expect_lt(gap(coef(scaled) / coef(base), 1), 1e-8)
    expect_lt(gap(predict(scaled, transform(d[1:4, ], x = x * factor)), fitted(base)[1:4]), 1e-8)
    unscaled <- sparsegp(d$x * factor, d$y, kernel = kernel_rbf(), scale = FALSE)
    expect_lt(gap(fitted(unscaled), fitted(plain)), 1e-8)
  }
  # 1e6 leaves inputs ten digits
  moved <- sparsegp(y ~ x + z, transform(d, x = x + 1e6), scale = TRUE)
  expect_lt(gap(fitted(moved), fitted(base)), 1e-6)
})

test_that("responses too large or small for their squares are refused in words", {
  d <- toy()
  expect_error(sparsegp(d$x, d$y * 1e160), "`y`", class = "sparsegp_error")
  expect_error(sparsegp(d$x, d$y * 1e-170), "`y`", class = "sparsegp_error")
})

test_that("duplicated rows, constant columns and more columns than rows are no obstacle", {
  slow_tier()
  d <- toy()
  twice <- sparsegp(y ~ x + z, d[c(1:24, 1:24), ],
                    control = gp_control(prior = list(noise = prior_lognormal(-2, 0.5))))
  expect_true(all(is.finite(fitted(twice))))
  constant <- fast(y ~ x + k, transform(d, k = 5))
  expect_identical(fitted(constant), fitted(fast(y ~ x, d)))
  expect_identical(unname(predict(constant, data.frame(x = 1, k = 7))),
                   unname(predict(fast(y ~ x, d), data.frame(x = 1))))
  set.seed(5)
  wide <- matrix(rnorm(300), 6)
  for (kernel in list(kernel_rbf(), kernel_rbf(ard = TRUE), kernel_linear(ard = TRUE))) {
    expect_true(all(is.finite(fitted(fast(wide, 1:6, kernel = kernel)))))
  }
  expect_true(all(is.finite(fitted(fast(wide, rep(0:1, 3), likelihood = "probit")))))
})

test_that("one row, two rows, a constant response and one distinct input are fitted", {
  slow_tier()
  finite <- function(fit) {
    new <- unlist(predict(fit, c(-3, 0.5), se.fit = TRUE))
    all(is.finite(c(fitted(fit), new, coef(fit), logLik(fit))))
  }
  warned <- function(code, pattern) {
    expect_warning(fit <- code, pattern, class = "sparsegp_warning")
    expect_true(finite(fit))
  }
  warned(sparsegp(1, 5), "only 1 row:")
  warned(sparsegp(0, 0, scale = FALSE), "only 1 row:")
  warned(sparsegp(1:2, c(1, 3)), "only 2 rows:")
  warned(sparsegp(1:2, c(FALSE, TRUE)), "only 2 rows:")
  warned(sparsegp(1:6, rep(3, 6)), "does not vary")
  warned(sparsegp(1:6, rep(0, 6)), "does not vary")
  expect_warning(same <- sparsegp(rep(2, 5), c(1, 2, 4, 3, 1)), "No input varies")
  expect_true(finite(same))
  expect_true(finite(sparsegp(c(-1L, 0L, 1L) * .Machine$integer.max, .Machine$integer.max - 0:2)))
})

# ---- The right answer ----

test_that("regression at given hyperparameters is the closed form", {
  set.seed(4)
  x <- sample(12) + runif(12, -0.2, 0.2) # apart, so that solve() itself has all digits
  y <- 3 + sin(x) + rnorm(12, sd = 0.1)
  new <- c(x[3], 2.5, 40)
  for (noise in c(0.1, 1e-4, 1e-8)) {
    fit <- fast(x, y, lik_gaussian(1.3 * noise), kernel_rbf(1.3, 0.6), scale = FALSE,
                mean = "average")
    exact <- exact_gp(x, y, new, 1.3, 0.6, 1.3 * noise)
    answer <- predict(fit, new, se.fit = TRUE)
    expect_lt(gap(answer$fit, exact$mean), 1e-10)
    # at a training row the variance is the noise: 1e-8 of what it is the difference of
    expect_lt(gap(answer$se.fit^2, exact$sd^2), 1e-10)
    expect_lt(abs(logLik(fit) - exact$log_evidence), 1e-10 * max(1, abs(exact$log_evidence)))
    expect_lt(gap(loo_lpd(fit), exact$loo), 1e-8)
  }
})

test_that("weighted regression at given hyperparameters is the closed form", {
  d <- toy()
  fit <- fast(y ~ x, d, lik_gaussian(0.2), kernel_rbf(1.3, 0.7), scale = FALSE, weights = w,
              mean = "average")
  exact <- exact_gp(d$x, d$y, c(0, 5), 1.3, 0.7, 0.2, d$w)
  answer <- moments(fit, data.frame(x = c(0, 5)))
  expect_lt(gap(answer$fit, exact$mean), 1e-10)
  expect_lt(gap(answer$se.fit, exact$sd), 1e-10)
  expect_lt(abs(logLik(fit) - exact$log_evidence), 1e-10)
  expect_lt(gap(loo_lpd(fit), exact$loo), 1e-8)
})

test_that("leave-one-out densities are those of refits without the row", {
  set.seed(6)
  x <- sort(runif(9, 0, 4))
  y <- cos(x) + rnorm(9, sd = 0.3)
  y <- y - mean(y)
  fit <- fast(x, y, lik_gaussian(0.1), kernel_rbf(1, 1), scale = FALSE, mean = "average")
  refitted <- vapply(1:9, function(i) {
    rest <- exact_gp(x[-i], y[-i], x[i], 1, 1, 0.1, m = mean(y))
    dnorm(y[i], rest$mean, sqrt(rest$sd^2 + 0.1), log = TRUE)
  }, 0)
  expect_lt(gap(loo_lpd(fit), refitted), 1e-8)
})

# ---- Learning ----

test_that("learn = FALSE keeps what was given, and fixed() is kept always", {
  d <- toy()
  given <- c(variance = 2, lengthscale = 0.7, noise = 0.3)
  kept <- fast(y ~ x, d, lik_gaussian(0.3), kernel_rbf(2, 0.7))
  expect_equal(coef(kept), given, tolerance = 1e-14) # through a logarithm and back
  some <- sparsegp(y ~ x, d, lik_gaussian(fixed(0.3)), kernel_rbf(2, fixed(0.7)))
  expect_equal(coef(some)[c("lengthscale", "noise")], given[-1], tolerance = 1e-14)
  expect_false(isTRUE(all.equal(coef(some)[["variance"]], 2, tolerance = 1e-3)))
  all <- sparsegp(y ~ x, d, lik_gaussian(fixed(0.3)), kernel_rbf(fixed(2), fixed(0.7)))
  expect_equal(coef(all), given, tolerance = 1e-14)
  expect_identical(fitted(all), fitted(kept))
  bias <- sparsegp(class ~ x, d, lik_probit(fixed(0)))
  expect_identical(coef(bias)[["bias"]], 0)
})

test_that("a number given with learning is where the search starts", {
  slow_tier()
  d <- toy()
  fit <- sparsegp(y ~ x, d, lik_gaussian(0.3), kernel_rbf(2, 0.7))
  expect_equal(summary(fit)$hyperparameters$start, c(2, 0.7, 0.3), tolerance = 1e-14)
  # and it ends where other starts end
  expect_equal(coef(fit), coef(sparsegp(y ~ x, d)), tolerance = 1e-2)
})

test_that("the evidence learned is not below the evidence at the start", {
  slow_tier()
  d <- toy()
  flat <- function(...) setNames(rep(list(prior_flat()), ...length()), c(...))
  for (kernel in list(kernel_rbf(), kernel_rbf(ard = TRUE), kernel_matern32() + kernel_linear())) {
    start <- fast(y ~ x + z, d, kernel = kernel)
    learned <- sparsegp(y ~ x + z, d, kernel = kernel,
                        control = gp_control(prior = flat("variance", "lengthscale", "noise")))
    expect_gte(as.numeric(logLik(learned)), as.numeric(logLik(start)))
  }
  start <- fast(class ~ x, d)
  learned <- sparsegp(class ~ x, d, control = gp_control(prior = flat("variance", "lengthscale",
                                                                      "bias")))
  expect_gte(as.numeric(logLik(learned)), as.numeric(logLik(start)))
})

test_that("set.seed() fixes restarts, and a fit without them leaves the generator alone", {
  memory_tier()
  d <- toy()
  set.seed(1)
  before <- .Random.seed
  single <- sparsegp(y ~ x, d, kernel = kernel_rbf())
  sparsegp(y ~ x, d)
  expect_identical(.Random.seed, before)
  restarted <- lapply(c(7, 7), function(seed) {
    set.seed(seed)
    sparsegp(y ~ x, d, kernel = kernel_rbf(), learn = learn_control(restarts = 2))
  })
  expect_identical(coef(restarted[[1]]), coef(restarted[[2]]))
  expect_length(restarted[[1]]$learning$objective, length(single$learning$objective) + 2L)
  best <- function(fit) max(fit$learning$objective)
  expect_gte(best(restarted[[1]]), best(single))
})

test_that("verbose reports every evaluation, and is silent otherwise", {
  d <- toy()
  expect_message(sparsegp(y ~ x, d, control = gp_control(verbose = TRUE)), "log evidence")
  expect_silent(sparsegp(y ~ x, d))
  expect_silent(sparsegp(class ~ x, d, control = gp_control(verbose = FALSE)))
})

test_that("a fit warns at most once, of what did not converge", {
  memory_tier()
  d <- toy()
  for (sweeps in 1:3) {
    seen <- warnings_of(sparsegp(class ~ x + z, d, method = method_ep(sweeps = sweeps)))
    expect_length(seen, 1)
    expect_match(seen, "converge")
  }
  seen <- warnings_of(sparsegp(y ~ x + z, d, learn = learn_control(inner = 1)))
  expect_length(seen, 1)
  expect_match(seen, "lengthscale|variance|noise")
})

test_that("a logit fit with an offset of 8 or a bias of 40 ends", {
  slow_tier()
  skip_on_cran() # a new process
  # in a process of its own, as a tilt that never ends cannot be interrupted
  code <- paste(
    sprintf(".libPaths(%s); library(sparsegp)", deparse1(.libPaths())),
    "x <- seq(-2, 2, length.out = 20); y <- rep(c(0, 1, 0, 1), c(8, 2, 2, 8))",
    "a <- sparsegp(x, y, lik_logit(), offset = rep(8, 20))",
    "b <- sparsegp(x, y, lik_logit(40), learn = FALSE)",
    "cat(all(is.finite(c(fitted(a), fitted(b), logLik(a), logLik(b)))))", sep = "; "
  )
  rscript <- file.path(R.home("bin"), "Rscript")
  out <- suppressWarnings(system2(rscript, c("-e", shQuote(code)), stdout = TRUE, stderr = FALSE,
                                  timeout = 10))
  expect_equal(as.vector(out), "TRUE")
})

test_that("columns of one name are refused where the dot stands for them", {
  d <- data.frame(a = 1:9, b = sin(1:9), a = cos(1:9), y = (1:9) / 9, check.names = FALSE)
  expect_error(sparsegp(y ~ ., d), "several columns of the same name: a", class = "sparsegp_error")
  expect_s3_class(sparsegp(y ~ a + b, d, learn = FALSE), "sparsegp")
  names(d)[3L] <- "y"
  expect_error(sparsegp(y ~ ., d), "same name: y", class = "sparsegp_error")
})
