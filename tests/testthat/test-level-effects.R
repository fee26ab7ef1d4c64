# Effects of levels, of factors that have many: the last axis of the race for structure, its pilot,
# and inducing points of levels.

r_code_alone()

# Responses of n rows: a function of x, and a random effect of each of L levels, of sd `effect`.
levels_data <- function(n, L, effect) {
  set.seed(6)
  d <- data.frame(x = runif(n, -2, 2), g = factor(sample.int(L, n, TRUE)))
  d$y <- sin(2 * d$x) + rnorm(L, 0, effect)[d$g] + 0.5 * rnorm(n)
  d
}

# Rows by a formula, and the setup of a fit that leaves all open.
read_levels <- function(formula, data) {
  setup <- check_setup(NULL, NULL, NULL, TRUE, NULL, NULL)
  recipe <- new_recipe(formula, quote(f()), environment(), NULL, drop = TRUE)
  first <- first_rows(recipe, data, setup)
  recipe <- with_coding(first$recipe, first$rows$x, first$setup$coded)
  list(rows = code_rows(recipe, first$rows), setup = first$setup)
}

test_that("effects of levels are chosen where there are some, and else not", {
  slow_tier()
  choose <- function(effect, alternatives) {
    read <- read_levels(y ~ x + g, levels_data(300L, 40L, effect))
    choose_structure(read$rows, read$setup, c("x", "g"),
                     list(structure_axis("kernel", alternatives)))
  }
  some <- choose(1, function(...) NULL)
  expect_identical(some$choices$stage, rep("effects of levels", 2L))
  expect_identical(some$choices$candidate, c("none", "g"))
  expect_identical(some$choices$taken, c(FALSE, TRUE))
  expect_identical(format(some$setup$kernel), "rbf(vars = x) + factor(vars = g)")
  expect_length(some$from, sum(some$model$table$free))
  # of none, beside a length scale for each input
  none <- choose(0, lengthscale_each)
  expect_identical(none$choices$taken, c(FALSE, TRUE, TRUE, FALSE))
  expect_identical(none$setup$kernel, kernel_rbf(ard = TRUE))
})

test_that("a fit with effects answers for new levels, and is the fit of its kernel", {
  slow_tier()
  d <- levels_data(400L, 60L, 1)
  fit <- sparsegp(y ~ x + g, d, likelihood = lik_gaussian(transform = "identity"),
                  control = gp_control(integrate = "none"))
  expect_match(capture.output(print(summary(fit))), "^  effects of levels: ", all = FALSE)
  again <- sparsegp(y ~ x + g, d, kernel = fit$kernel,
                    control = gp_control(integrate = "none", coding = "levels"))
  expect_equal(logLik(again), logLik(fit), tolerance = 1e-3) # within search_tolerance
  kernel <- kernel_rbf(vars = "x") + kernel_factor("g")
  known <- list(structure = new_known_structure(list(effects = "g")))
  expect_identical(with_known_structure(known, c("x", "g"))$kernel, kernel)
  new <- suppressMessages(predict(fit, data.frame(x = 0, g = c("1", "new")), se.fit = TRUE))
  expect_lt(new$se.fit[[1L]], 0.5) # some seven rows of noise 0.5
  expect_gt(new$se.fit[[2L]], 0.7) # a draw of variance 1
})

test_that("factors of few levels, of as many levels as rows, and labels have no such axis", {
  slow_tier()
  d <- levels_data(120L, 30L, 1)
  d$few <- factor(seq_len(120L) %% 19L)
  d$own <- factor(seq_len(120L))
  d$`many levels` <- d$g
  many <- function(formula) {
    read <- read_levels(formula, d)
    setup <- replace(read$setup, "kernel", list(kernel_rbf()))
    factors_of_many_levels(read_model(read$rows, setup), setup)
  }
  expect_length(many(y ~ x + few + own), 0L)
  fit <- sparsegp(y ~ x + few + `many levels`, d, likelihood = lik_gaussian(transform = "identity"))
  expect_identical(choices_of_stage(fit, "effects of levels")$candidate, c("none", "`many levels`"))
  d$label <- d$y > 0
  expect_false("effects of levels" %in% sparsegp(label ~ x + g, d)$choices$stage)
  expect_false("effects of levels" %in% sparsegp(y ~ x + g, d, structure = "fixed")$choices$stage)
})

test_that("a pilot of levels has several rows of some, each of them once", {
  chunk <- list(x = cbind(x = runif(1000), g = rep(1:100, each = 10)), y = numeric(1000))
  rows <- rows_of_levels(chunk, "g", 100L)
  expect_identical(rows, sort(unique(rows)))
  expect_identical(unname(c(table(chunk$x[rows, "g"]))), rep(10L, 10L))
  # at most as many of a level as there are levels
  chunk$x[, "g"] <- rep(1:20, each = 50)
  expect_identical(unname(c(table(chunk$x[rows_of_levels(chunk, "g", 100L), "g"]))), rep(10L, 10L))
  expect_length(rows_of_levels(chunk, "g", 1000L), 1000L)
})

test_that("inducing points begin with a row of each level, those of most rows first", {
  slow_tier()
  d <- levels_data(200L, 40L, 1)
  fit <- sparsegp(y ~ x + g, d, kernel = kernel_rbf() + kernel_factor(), learn = FALSE)
  expect_identical(effect_columns(fit$spec), 1L)
  order <- spread_rows(200L)
  problem <- list(x = cbind(d$x, as.integer(d$g)), spec = fit$spec)
  rows <- inducing_rows(problem, order)
  first <- d$g[rows[seq_len(nlevels(droplevels(d$g)))]]
  expect_false(anyDuplicated(first) > 0L)
  expect_false(is.unsorted(-table(d$g)[as.character(first)]))
  expect_setequal(rows, order)
  problem$x <- problem$x[c(1:200, 1:5), ] # copies
  expect_length(inducing_rows(problem, c(order, 201:205)), 200L)
  # a factor that another part reads has points of its own choice
  within <- sparsegp(y ~ x + g, d, kernel = kernel_rbf(vars = "x") * kernel_factor("g"),
                     learn = FALSE)
  expect_length(effect_columns(within$spec), 0L)
  problem$spec <- within$spec
  expect_identical(inducing_rows(problem, order), order)
})
