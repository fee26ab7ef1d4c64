# Default fits of ordered categories: one latent function, or one for each (strategy-categories.R).

r_code_alone()

# The middle category where x is positive, the outer two mixed where it is not: no order fits that.
with_outer_categories <- function(n = 90) {
  set.seed(1)
  d <- data.frame(x = runif(n, -1, 1))
  outer <- ifelse(runif(n) < 0.5, "low", "high")
  d$y <- factor(ifelse(d$x > 0, "middle", outer), c("low", "middle", "high"), ordered = TRUE)
  d
}

with_cuts <- function(n = 90) {
  set.seed(2)
  d <- data.frame(x = runif(n, -1, 1))
  d$y <- cut(2 * sin(3 * d$x) + rnorm(n), c(-Inf, -1, 1, Inf), c("low", "middle", "high"),
             ordered_result = TRUE)
  d
}

functions_tried <- function(fit) choices_of_stage(fit, "latent functions")

test_that("categories that no single function orders have one each", {
  slow_tier()
  d <- with_outer_categories()
  fit <- sparsegp(y ~ x, d)
  tried <- functions_tried(fit)
  expect_identical(tried$candidate, c("one of all categories", "one of each category"))
  expect_identical(tried$taken, c(FALSE, TRUE))
  expect_gt(tried$gain[2L], policy$min_standard_errors * tried$se[2L])
  expect_identical(fit$likelihood$type, "coupled_mprobit")
  expect_s3_class(predict(fit, type = "class"), "ordered")
  expect_output(print(summary(fit)),
                "latent functions: one of each category, better by .* per observation")
  # the model is that of the same factor without an order
  plain <- sparsegp(factor(y, ordered = FALSE) ~ x, d)
  expect_equal(coef(fit), coef(plain), tolerance = 1e-6)
  expect_equal(predict(fit, type = "prob"), predict(plain, type = "prob"), tolerance = 1e-6)
  # made again without the race, as for average()
  known <- new_known_structure(list(each_category = TRUE, kernel = kernel_rbf()))
  again <- fit_of_structure(known, fit, environment())
  expect_identical(again$likelihood$type, "coupled_mprobit")
  expect_identical(NROW(functions_tried(again)), 0L)
  expect_identical(update(fit, structure = "fixed")$likelihood$type, "ordinal")
})

test_that("categories in an order keep the ordinal model, as it was", {
  slow_tier()
  d <- with_cuts()
  fit <- sparsegp(y ~ x, d, control = gp_control(integrate = "none"))
  expect_identical(functions_tried(fit)$taken, c(TRUE, FALSE))
  expect_output(print(summary(fit)), "latent functions: one of all categories; 2 tried on 90 rows")
  given <- sparsegp(y ~ x, d, "ordinal", control = gp_control(integrate = "none"))
  expect_identical(fit$hyper, given$hyper)
  expect_identical(fit$log_evidence, given$log_evidence)
})

test_that("nothing is compared where something that was given makes a model of its own", {
  slow_tier()
  d <- with_outer_categories(60)
  d$shift <- d$x / 10
  ordinal <- function(...) {
    fit <- sparsegp(y ~ x, d, ...)
    expect_identical(fit$likelihood$type, "ordinal")
    expect_identical(NROW(functions_tried(fit)), 0L)
  }
  ordinal("ordinal")
  ordinal(kernel = kernel_rbf())
  ordinal(structure = "fixed")
  ordinal(learn = FALSE)
  ordinal(basis = 1:10)
  ordinal(method = method_ep(size = 10))
  ordinal(control = gp_control(prior = list(cut = prior_normal(0, 1))))
  ordinal(control = gp_control(prior = list(lengthscale = prior_lognormal(0, 1),
                                            gap = prior_lognormal(0, 1))))
  ordinal(control = gp_control(integrate = "laplace"))
  ordinal(method = method_online(size = 10))
  shifted <- sparsegp(y ~ x + offset(shift), d)
  expect_identical(shifted$likelihood$type, "ordinal")
  many <- transform(d, y = factor(rep(1:12, 5), ordered = TRUE))
  expect_identical(sparsegp(y ~ x, many)$likelihood$type, "ordinal")
})

test_that("a prior that both models have leaves the choice open", {
  slow_tier()
  fit <- sparsegp(y ~ x, with_outer_categories(45),
                  control = gp_control(integrate = "none",
                                       prior = list(lengthscale = prior_lognormal(0, 1))))
  expect_identical(NROW(functions_tried(fit)), 2L)
})

test_that("a model by which EP fails on the pilot has no score and is not taken", {
  d <- with_outer_categories(60)
  chunk <- list(x = as.matrix(d["x"]), y = d$y, offset = numeric(60))
  known <- function(kernel) {
    setup <- check_setup(NULL, NULL, NULL, TRUE, NULL, NULL)
    setup$kernel <- kernel
    function(best) list(model = read_model(chunk, setup), setup = setup)
  }
  nothing <- kernel_rbf(variance = fixed(1e-320)) # no row says anything of another
  models <- list(fine = known(kernel_rbf()), failing = known(nothing))
  tried <- race("latent functions", models, function(known) score_categories(known, chunk, 1:60),
                gain_in_lpd)$choices
  expect_identical(is.na(tried$score), c(FALSE, TRUE))
  expect_identical(tried$taken, c(TRUE, FALSE))
  # what is no failure of EP is an error
  broken <- list(model = list(), setup = list())
  expect_error(score_categories(broken, chunk, 1:60))
})

test_that("rows of a source are compared as those of a data frame are", {
  slow_tier()
  d <- with_outer_categories()
  source <- row_source(function(i) d[45 * (i - 1) + 1:45, ], chunks = 2)
  fit <- sparsegp(y ~ x, source)
  expect_equal(functions_tried(fit)[c("candidate", "gain", "taken")],
               functions_tried(sparsegp(y ~ x, d))[c("candidate", "gain", "taken")],
               tolerance = 1e-6)
  expect_s3_class(predict(fit, d, type = "class"), "ordered")
})
