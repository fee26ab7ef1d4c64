# average() of one fit: the alternatives that its race for structure left, made again.

r_code_alone()

refused <- function(expr, pattern) expect_error(expr, pattern, class = "sparsegp_error")

AT_MODE <- gp_control(integrate = "none")

# What a fit's race took, as a known structure
taken_structure <- function(fit) {
  tried <- raced_structures(fit)
  new_known_structure(unlist(tried$fields[tried$taken], recursive = FALSE),
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

test_that("every kind of structure is made again from its fields", {
  slow_tier()
  expect_made_again(sparsegp(mpg ~ wt + hp, mtcars, control = AT_MODE))
  expect_made_again(sparsegp(as.matrix(mtcars[c("wt", "hp")]), mtcars$mpg, control = AT_MODE))
  expect_made_again(sparsegp(cbind(mpg, qsec) ~ wt + hp, mtcars, control = AT_MODE))
})

test_that("every candidate of the record has its fields, and the chosen ones are the fit's", {
  slow_tier()
  fit <- sparsegp(mpg ~ wt + hp, mtcars, control = AT_MODE)
  expect_length(fit$choice_fields, nrow(fit$choices))
  tried <- raced_structures(fit)
  of_kernel <- tried$stage == "kernel"
  kernels <- vapply(tried$fields[of_kernel], function(fields) format(fields$kernel), "")
  expect_identical(kernels, tried$candidate[of_kernel])
  expect_identical(tried$fields[of_kernel & tried$taken][[1L]]$kernel, fit$kernel)
  scales <- vapply(tried$fields[tried$stage == "response scale"], `[[`, "", "transform")
  expect_identical(scales, tried$candidate[tried$stage == "response scale"])
  damaged <- fit
  damaged$choice_fields[[1L]] <- list(kernel = "rbf()")
  refused(average(damaged), "its `choice_fields` does not fit the rest")
  damaged$choice_fields <- fit$choice_fields[-1L]
  refused(average(damaged), "its `choice_fields` does not fit the rest")
})

test_that("effects are of factors whose names have commas, too", {
  inputs <- c("x", "`g, h`", "k") # as a formula names them
  known <- function(...) {
    with_known_structure(list(structure = new_known_structure(list(...))), inputs)$kernel
  }
  expect_identical(known(effects = c("`g, h`", "k")),
                   kernel_rbf(vars = "x") + kernel_factor("`g, h`") + kernel_factor("k"))
  expect_identical(known(effects = "`g, h`", kernel = kernel_linear()),
                   kernel_linear(vars = c("x", "k")) + kernel_factor("`g, h`"))
  expect_null(known(effects = NULL))
})

test_that("scales, codings and errors of times are made again from their fields", {
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
  close <- close_structures(fit)
  expect_setequal(rownames(table), c("fit", names(close)))
  expect_lte(nrow(table), 1L + policy$averaged_alternatives)
  # as by hand
  kernels <- sub("^kernel: ", "", grep("^kernel", names(close), value = TRUE))
  expect_gt(length(kernels), 0L)
  by_hand <- update(fit, kernel = close[[paste("kernel:", kernels[1L])]]$fields$kernel,
                    likelihood = lik_gaussian(transform = fit$likelihood$transform$name))
  expect_equal(sum(loo_lpd(by_hand)), table[paste("kernel:", kernels[1L]), "lpd"],
               tolerance = 1e-2)
  expect_equal(attr(table, "lpd"), sum(loo_lpd(both)), tolerance = 1e-10)
})

test_that("a fit with noise of two functions is averaged with what has two", {
  slow_tier()
  set.seed(12)
  d <- data.frame(x = seq(0, 6, length.out = 50))
  d$y <- sin(d$x) + exp(d$x / 2 - 3) * rnorm(50)
  fit <- sparsegp(y ~ x, d, control = AT_MODE)
  expect_identical(fit$likelihood$type, "heteroscedastic")
  both <- average(fit)
  given <- nrow(summary(both))
  expect_gt(given, 1L)
  expect_true(all(summary(both)$likelihood == summary(both)["fit", "likelihood"]))
  # noise of one function is left out, however close it came
  noise <- which(fit$choices$stage == "noise")
  fit$choices$score[noise] <- max(fit$choices$score[noise])
  again <- average(fit)
  expect_none(grep("^noise", rownames(summary(again)), value = TRUE), "noise of one function")
})

test_that("scores of a pilot count for all rows, and failed candidates are left out", {
  slow_tier()
  tried <- data.frame(stage = rep(c("response scale", "kernel"), c(2L, 4L)),
                      candidate = c("identity", "log", "rbf()", "matern52()", "matern32()",
                                    "rbf() + linear()"),
                      rows = 100L, points = 100L, score = c(10, 12, 20, 19, 17, NA),
                      gain = NA_real_, se = NA_real_,
                      taken = c(TRUE, FALSE, TRUE, FALSE, FALSE, FALSE))
  kernels <- list(kernel_rbf(), kernel_matern52(), kernel_matern32(),
                  kernel_rbf() + kernel_linear())
  tried$fields <- c(list(list(transform = "identity"), list(transform = "log")),
                    lapply(kernels, function(kernel) list(kernel = kernel)))
  fit <- sparsegp(mpg ~ wt, mtcars, learn = FALSE)
  fit$n <- 100L
  close <- close_structures(fit, tried)
  expect_identical(names(close)[1:2], c("response scale: log", "kernel: matern52()"))
  by_name <- function(fields) fields[order(names(fields))]
  expect_identical(by_name(close[[1L]]$fields), list(kernel = kernel_rbf(), transform = "log"))
  expect_identical(by_name(close[[2L]]$fields),
                   list(kernel = kernel_matern52(), transform = "identity"))
  within <- function(n) {
    fit$n <- n
    names(close_structures(fit, tried))
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
