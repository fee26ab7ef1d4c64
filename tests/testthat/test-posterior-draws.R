# Draws with a row for each, as the generics of rstantools have them.

r_code_alone()

test_that("draws are those of draws() and simulate(), turned", {
  slow_tier()
  d <- data.frame(x = 1:20 / 5)
  d$y <- sin(d$x)
  d$two <- factor(ifelse(sin(3 * d$x) > 0, "b", "a"))
  d$three <- factor(c("a", "b", "c")[1 + 1:20 %% 3])
  d$hits <- 1:20 %% 5
  new <- data.frame(x = c(0.5, 2, 7))
  fit <- function(formula, ...) sparsegp(formula, d, kernel = kernel_rbf(), learn = FALSE, ...)
  fits <- list(fit(y ~ x), fit(two ~ x), fit(hits ~ x, likelihood = "poisson"))
  for (one in fits) {
    set.seed(4)
    found <- posterior_epred.sparsegp(one, new, ndraws = 5)
    set.seed(4)
    expect_identical(found, unname(t(draws(one, new, n = 5, type = "response"))))
    set.seed(4)
    linear <- posterior_linpred.sparsegp(one, newdata = new, draws = 5)
    set.seed(4)
    expect_identical(linear, unname(t(draws(one, new, n = 5, type = "link"))))
    set.seed(4)
    expect_identical(posterior_linpred.sparsegp(one, TRUE, new, ndraws = 5), found)
    made <- posterior_predict.sparsegp(one, new, ndraws = 6, seed = 2)
    expect_identical(dim(made), c(6L, 3L))
    whole <- simulate(one, 6, seed = 2, newdata = new)
    expect_equal(made[4, ], as.numeric(whole[[4L]]))
    expect_identical(dim(posterior_predict.sparsegp(one, ndraws = 2)), c(2L, 20L))
  }
  classes <- fit(three ~ x)
  expect_identical(dim(posterior_epred.sparsegp(classes, new, ndraws = 5)), c(5L, 3L, 3L))
  expect_true(all(posterior_predict.sparsegp(classes, new, ndraws = 5) %in% 1:3))
  trials <- fit(cbind(hits, 9 - hits) ~ x)
  made <- posterior_predict.sparsegp(trials, ndraws = 4)
  expect_identical(dim(made), c(4L, 20L))
  expect_true(all(made >= 0 & made <= 9))
  pair <- sparsegp(cbind(y, hits) ~ x, d, learn = FALSE)
  expect_identical(dim(posterior_predict.sparsegp(pair, new, ndraws = 4)), c(4L, 3L, 2L))
  expect_error(posterior_epred.sparsegp(classes, new, ndraws = 0), "ndraws",
               class = "sparsegp_error")
})

test_that("rstantools finds them", {
  skip_if_not_installed("rstantools")
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  expect_identical(dim(rstantools::posterior_predict(fit, ndraws = 3)), c(3L, 50L))
  expect_identical(dim(rstantools::posterior_epred(fit, cars[1:2, ], ndraws = 3)), c(3L, 2L))
  expect_identical(dim(rstantools::posterior_linpred(fit, newdata = cars[1:2, ])), c(1000L, 2L))
})
