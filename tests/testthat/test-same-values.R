# The same values in another class, at the fit and in new data; weights of 0; inputs that were
# constant at the fit; and what other packages call.

r_code_alone()

same_rows <- function(n = 20L) {
  x <- sin(seq_len(n) * 2.1)
  data.frame(a = x, flag = rep(c(FALSE, TRUE, TRUE), length.out = n), y = x^2 + seq_len(n) / n)
}

fit_same <- function(data, formula = y ~ a + flag) sparsegp(formula, data, learn = FALSE)

expect_same <- function(fit, before, after) {
  expect_identical(predict(fit, after), predict(fit, before))
}

test_that("a variable may be a matrix of one column, at the fit or later", {
  d <- same_rows()
  wide <- nested <- d
  wide$a <- scale(d$a, FALSE, FALSE)
  nested$a <- d["a"]
  plain <- fit_same(d, y ~ a)
  expect_same(plain, d[1:3, ], wide[1:3, ])
  expect_same(plain, d[1:3, ], nested[1:3, ])
  expect_same(fit_same(wide, y ~ a), wide[1:3, ], d[1:3, ])
  expect_identical(predict(fit_same(nested, y ~ a), d[1:3, ]), predict(plain, d[1:3, ]))
  a <- scale(d$a, FALSE, FALSE)
  y <- d$y
  expect_identical(predict(sparsegp(y ~ a, learn = FALSE), d[1:3, ]), predict(plain, d[1:3, ]))
  d$own <- I(d$a)
  expect_same(fit_same(d, y ~ own), d[1:3, ], transform(d[1:3, ], own = as.double(own)))
})

test_that("logical values, 0 and 1, and text stand for each other", {
  memory_tier()
  d <- same_rows()
  fit <- fit_same(d)
  for (as in list(as.integer, as.double, as.character, factor)) {
    expect_same(fit, d[1:3, ], transform(d[1:3, ], flag = as(flag)))
  }
  refused(predict(fit, transform(d[1:3, ], flag = 2)), "newdata")
  refused(predict(fit, transform(d[1:3, ], flag = "maybe")), "newdata")
  numbers <- transform(d, flag = as.integer(flag))
  expect_same(fit_same(numbers), numbers[1:3, ], d[1:3, ])
  text <- transform(d, flag = as.character(flag))
  expect_same(fit_same(text), text[1:3, ], d[1:3, ])
  refused(predict(fit_same(numbers), text[1:3, ]), "newdata")
})

test_that("numbers stand for differences of time in the fit's unit, and for dates they do not", {
  d <- same_rows()
  d$when <- as.difftime(1:20, units = "hours")
  fit <- fit_same(d, y ~ when)
  expect_same(fit, d[1:3, ], transform(d[1:3, ], when = as.numeric(when)))
  d$when <- as.Date("2020-01-01") + 1:20
  refused(predict(fit_same(d, y ~ when), transform(d[1:3, ], when = as.numeric(when))), "newdata")
})

test_that("the matrix methods take a data frame of one column", {
  d <- same_rows()
  whole <- sparsegp(d["a"], d$y, learn = FALSE)
  expect_identical(predict(sparsegp(d["a"], d["y"], learn = FALSE)), predict(whole))
})

test_that("a matrix of times and status is read as right-censored times", {
  d <- same_rows()
  d$t <- cbind(time = exp(d$y), status = rep(1:0, 10))
  fit <- sparsegp(t ~ a, d, "weibull", basis = d[1:5, ], learn = FALSE)
  expect_identical(unclass(fit$y)[, 3L], as.double(rep(1:0, 10)))
  expect_equal(as.double(nobs(update(fit, d[1:4, ]))), 24)
  expect_equal(as.double(nobs(update(fit, transform(d[1:4, ], t = exp(y))))), 24)
  counting <- structure(cbind(start = 0, stop = exp(d$y), status = rep(1:0, 10)),
                        type = "counting", class = "Surv")
  expect_identical(as_times(counting), as_times(unclass(d$t))) # an entry at 0 is none
})

test_that("observations of weight 0 are left out, and variances of 0 named by row", {
  d <- same_rows()
  d$w <- replace(rep(1, 20), c(2, 7), 0)
  without <- sparsegp(y ~ a, d[-c(2, 7), ], learn = FALSE)
  by_frame <- sparsegp(y ~ a, d, weights = w, learn = FALSE)
  by_matrix <- sparsegp(d["a"], d$y, weights = d$w, learn = FALSE)
  for (fit in list(by_frame, by_matrix)) {
    expect_equal(as.double(nobs(fit)), 18)
    expect_identical(predict(fit, d["a"]), predict(without, d["a"]))
  }
  gap <- replace(d, cbind(5, 1), NA)
  fit <- sparsegp(y ~ a, gap, weights = w, na.action = na.exclude, learn = FALSE)
  expect_identical(unname(which(is.na(fitted(fit)))), c(2L, 5L, 7L))
  refused(sparsegp(y ~ a, d, weights = -w, learn = FALSE), "weights")
  refused(sparsegp(d["a"], d$y, weights = -d$w), "weights")
  expect_error(lik_gaussian(replace(rep(1, 20), 3, 0)), "row 3", class = "sparsegp_error")
})

test_that("other values of inputs that were constant at the fit are reported", {
  d <- data.frame(same_rows()["a"], n = 5, l = TRUE, s = "u", g = factor("q"))
  d$y <- d$a
  fit <- sparsegp(y ~ ., d, learn = FALSE)
  new <- d[1:2, ]
  expect_silent(predict(fit, new, unseen = "error"))
  other <- list(n = 6, l = FALSE, s = "v", g = factor("z"))
  for (name in names(other)) {
    new <- replace(d[1:2, ], name, other[[name]])
    says <- if (name %in% c("n", "l")) expect_warning else expect_message
    says(found <- predict(fit, new), paste0("do not depend .*", name), class = "sparsegp_unseen")
    expect_identical(found, predict(fit, d[1:2, ]))
    refused(predict(fit, new, unseen = "error"), "newdata")
  }
})

test_that("the rows of a default fit are there for verbs without newdata", {
  slow_tier()
  d <- data.frame(matrix(sin(seq_len(4L * 2000L)^1.1), ncol = 4L))
  d$y <- d$X1 + d$X2
  fit <- sparsegp(y ~ ., d, basis = d[1:20, ], learn = FALSE)
  expect_identical(dim(simulate(fit, 1)), c(2000L, 1L))
  expect_identical(nrow(model.matrix(fit)), 2000L)
  expect_true(are_few_inputs(c(250000, 4)) && !are_few_inputs(c(250001, 4)))
  lean <- sparsegp(y ~ ., d, basis = d[1:20, ], learn = FALSE,
                   control = gp_control(keep_x = FALSE))
  expect_error(draws(lean), "keep_x = TRUE", class = "sparsegp_error")
})

test_that("methods of other packages' generics ignore arguments that they do not know", {
  memory_tier()
  fit <- sparsegp(dist ~ speed, cars, control = gp_control(integrate = "none"))
  expect_identical(vcov(fit, complete = TRUE), vcov(fit))
  expect_identical(confint(fit, type = "Wald"), confint(fit))
  expect_identical(sigma(fit, use = 1), sigma(fit))
  refused(loo(fit, nosuch = 1), "nosuch")
  skip_if_not_installed("generics")
  expect_identical(generics::tidy(fit, exponentiate = TRUE), generics::tidy(fit))
  expect_identical(generics::glance(fit, nosuch = 1), generics::glance(fit))
  expect_identical(generics::augment(fit, nosuch = 1), generics::augment(fit))
})

test_that("loo objects are those of package loo", {
  memory_tier()
  fit <- sparsegp(dist ~ speed, cars, control = gp_control(integrate = "none"))
  other <- sparsegp(dist ~ speed, cars, lik_student(), control = gp_control(integrate = "none"))
  table <- loo(fit)
  expect_identical(unname(table$pointwise[, "elpd_loo"]), table$lpd)
  expect_identical(dim(table), c(50L, 4L))
  expect_identical(table[["estimates"]]["elpd_loo", "Estimate"], sum(table$lpd))
  skip_if_not_installed("loo")
  compared <- loo::loo_compare(table, loo(other))
  expect_equal(sort(unname(compared[, "elpd_diff"])),
               c(-abs(sum(table$lpd) - sum(loo(other)$lpd)), 0), tolerance = 1e-12)
})

test_that("car's Anova() compares a fit with those without each term", {
  skip_if_not_installed("car")
  d <- same_rows()
  d$b <- cos(1:20)
  fit <- sparsegp(y ~ a + b, d, learn = FALSE)
  table <- car::Anova(fit)
  expect_setequal(rownames(table), c("fit", "without a", "without b"))
  expect_equal(table["without b", "lpd"], sum(loo_lpd(update(fit, . ~ . - b))), tolerance = 1e-12)
  refused(car::Anova(sparsegp(y ~ a, d, learn = FALSE)), "mod")
})
