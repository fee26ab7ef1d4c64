# average() of one fit: the alternatives that its race for structure left, made again.

r_code_alone()

refused <- function(expr, pattern) expect_error(expr, pattern, class = "sparsegp_error")

AT_MODE <- gp_control(integrate = "none")

# What a fit's race took, as a known structure
taken_structure <- function(fit) {
  taken <- fit$choices[fit$choices$taken & fit$choices$stage %in% STRUCTURE_STAGES, ]
  new_known_structure(stats::setNames(taken$candidate, taken$stage),
                      if (lik_codec(fit$likelihood)$labelled) common_lengthscale(fit$hyper))
}

# The structure that was taken is made again without a race: the same model, learned from another
# start, so that the same optimum is found to the search's tolerance.
expect_made_again <- function(fit) {
  again <- fit_of_structure(taken_structure(fit), fit, parent.frame())
  expect_false(any(STRUCTURE_STAGES %in% again$choices$stage))
  expect_identical(format(again$kernel), format(fit$kernel))
  expect_identical(again$likelihood$transform$name, fit$likelihood$transform$name)
  expect_identical(again$scaling, fit$scaling)
  expect_equal(again$log_evidence, fit$log_evidence, tolerance = 0.05 / abs(fit$log_evidence))
}

test_that("every kind of structure is made again from its words", {
  slow_tier()
  expect_made_again(sparsegp(mpg ~ wt + hp, mtcars, control = AT_MODE))
  expect_made_again(sparsegp(as.matrix(mtcars[c("wt", "hp")]), mtcars$mpg, control = AT_MODE))
  kernels <- list(kernel_rbf(), kernel_matern32(ard = TRUE) + kernel_linear(),
                  kernel_rbf() + kernel_linear() + kernel_matern12(ard = TRUE))
  for (kernel in kernels) expect_identical(kernel_of_label(format(kernel)), kernel)
  refused(kernel_of_label("rbf() + periodic()"), "no race has")
})

test_that("factors whose names have commas are read from the words of their effects", {
  expect_identical(factors_of_label("a, `b, c`, `d`"), c("a", "`b, c`", "`d`"))
  expect_identical(factors_of_label("none"), character())
  expect_identical(factors_of_label(""), character())
  inputs <- c("x", "`g, h`") # as a formula names them
  known <- list(structure = new_known_structure(c("effects of levels" = "`g, h`")))
  expect_identical(with_known_structure(known, inputs)$kernel,
                   kernel_rbf(vars = "x") + kernel_factor("`g, h`"))
})

test_that("scales, codings and errors of times are made again from their words", {
  slow_tier()
  expect_made_again(sparsegp(Volume ~ Girth + Height, trees, control = AT_MODE))
  set.seed(1)
  d <- data.frame(x = exp(rnorm(60)), o = factor(rep(1:6, 10), ordered = TRUE))
  d$y <- log(d$x) + c(0, 6, -4, 5, -3, 4)[d$o] + 0.1 * rnorm(60)
  fit <- sparsegp(y ~ x + o, d, control = AT_MODE)
  expect_true(all(c(ORDERED_AS_FACTORS, "1 skewed input on a log scale") %in%
                    fit$choices$candidate[fit$choices$taken]))
  expect_made_again(fit)
  d$t <- exp(d$y + rlogis(60, 0, 0.3))
  expect_made_again(sparsegp(survival::Surv(t, rep(1, 60)) ~ x, d, control = AT_MODE))
  expect_made_again(sparsegp(y ~ x, d, kernel = kernel_poly(), control = AT_MODE))
  d$z <- rnorm(60)
  d$label <- factor(d$x + 0.1 * d$z > 1)
  expect_made_again(sparsegp(label ~ x + z, d, control = AT_MODE))
})

test_that("structures within a few nats are averaged with the fit", {
  slow_tier()
  fit <- sparsegp(mpg ~ wt + hp, mtcars, control = AT_MODE)
  both <- average(fit)
  expect_s3_class(both, "sparsegp_average")
  table <- summary(both)
  close <- close_structures(choices_of_stage(fit, STRUCTURE_STAGES), fit)
  expect_setequal(rownames(table), c("fit", names(close)))
  expect_lte(nrow(table), 1L + policy$averaged_alternatives)
  # as by hand
  kernels <- sub("^kernel: ", "", grep("^kernel", names(close), value = TRUE))
  expect_gt(length(kernels), 0L)
  by_hand <- update(fit, kernel = kernel_of_label(kernels[1L]),
                    likelihood = lik_gaussian(transform = fit$likelihood$transform$name))
  expect_equal(sum(loo_lpd(by_hand)), table[paste("kernel:", kernels[1L]), "lpd"],
               tolerance = 1e-2)
  expect_equal(attr(table, "lpd"), sum(loo_lpd(both)), tolerance = 1e-10)
})

test_that("scores of a pilot count for all rows, and failed candidates are left out", {
  slow_tier()
  tried <- data.frame(stage = rep(c("response scale", "kernel"), c(2L, 4L)),
                      candidate = c("identity", "log", "rbf()", "matern52()", "matern32()",
                                    "rbf() + linear()"),
                      rows = 100L, points = 100L, score = c(10, 12, 20, 19, 17, NA),
                      gain = NA_real_, se = NA_real_,
                      taken = c(TRUE, FALSE, TRUE, FALSE, FALSE, FALSE))
  fit <- sparsegp(mpg ~ wt, mtcars, learn = FALSE)
  fit$n <- 100L
  close <- close_structures(tried, fit)
  expect_identical(close[[1L]]$labels, c("response scale" = "log", kernel = "rbf()"))
  expect_identical(close[[2L]]$labels, c("response scale" = "identity", kernel = "matern52()"))
  within <- function(n) {
    fit$n <- n
    names(close_structures(tried, fit))
  }
  expect_identical(within(10000L), "response scale: log")
})

test_that("variables of a call are looked up where update() does, and else are named", {
  slow_tier()
  fit <- local({
    hidden <- mtcars
    fit <- sparsegp(mpg ~ wt, hidden, control = AT_MODE)
    expect_s3_class(average(fit), "sparsegp_average")
    fit
  })
  refused(average(fit), "hidden")
  fit <- local({
    settings <- AT_MODE
    sparsegp(mpg ~ wt, mtcars, control = settings)
  })
  refused(average(fit), "`...` cannot be fitted again.*settings.*\n.*where the variables")
})

test_that("a fit with no close alternative is averaged alone", {
  slow_tier()
  fit <- sparsegp(dist ~ speed, cars, control = AT_MODE)
  fit$choices$score[!fit$choices$taken] <- -1e6
  expect_message(alone <- average(fit), "contains the fit alone")
  expect_identical(rownames(summary(alone)), "fit")
  new <- data.frame(speed = c(5, 20))
  expect_equal(predict(alone, new), predict(fit, new), tolerance = 1e-8)
})

test_that("what has no alternatives is refused", {
  given <- sparsegp(mpg ~ wt, mtcars, kernel = "rbf", learn = FALSE)
  refused(average(given), "compared no structures.*\n.*update")
  refused(average(), "missing")
  refused(average(average(given, given)), "average of fits")
  stream <- sparsegp(mpg ~ wt, mtcars, method = method_online(5, pilot = 20), learn = FALSE)
  refused(average(stream), "keeps no rows")
  grown <- given
  grown$grown <- TRUE
  refused(average(grown), "update")
  refused(sparsegp(mpg ~ wt, mtcars, structure = "log"), "structure")
})
