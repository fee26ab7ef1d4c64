# How many inducing points a class of a default fit has.

reached_elsewhere()

binary_problem <- function(rare, n = 1000, size = 400) {
  list(rows = matrix(rep(c(1, -1), c(rare, n - rare)), 1L), options = method_ivm(size))
}

test_that("a rare label has fewer points, whichever of the two it is", {
  size <- function(rare, ...) vectors_of_labels(binary_problem(rare, ...))$size
  expect_identical(size(500), 400)
  expect_identical(size(250), 400)
  expect_identical(size(1000 - 25), 200)
  expect_identical(size(25), 200) # the root of a quarter
  # and at least a fifth
  expect_identical(size(1), 80)
  expect_identical(size(1, size = 1), 1)
  expect_identical(with_policy(rare_label = c(0.5, 0.5), code = size(125)), 200)
  # many classes together take the time of ten: the sum of squares does not grow with their number
  work <- function(classes) classes * size(1000 / classes)^2
  expect_equal(work(40), work(10), tolerance = 0.01) # whole points
})

test_that("a gain too small ends the selection", {
  set.seed(2)
  x <- matrix(runif(160), 80, dimnames = list(NULL, c("a", "b")))
  y <- x[, 1] > 0.5
  fit <- sparsegp(x, y, kernel = kernel_rbf(9, 0.5), learn = FALSE, method = method_ivm(40))
  problem <- list(x = x, spec = fit$spec, nkernel = 2L, processes = 1L, lik = fit$likelihood,
                  rows = fit$data_rows, offset = numeric(80), options = method_ivm(40),
                  tie_break = as.double(1:80))
  theta <- fit$hyper$theta
  chosen <- function(...) {
    problem$options[names(list(...))] <- list(...)
    engine_ivm(problem, theta)$id
  }
  all <- chosen()
  expect_length(all, 40L)
  gained <- chosen(min_gain = 0.05)
  expect_lt(length(gained), 20L)
  expect_identical(gained, all[seq_along(gained)])
})

test_that("labels that inputs say nothing of have a fit, and few points", {
  slow_tier()
  set.seed(3)
  n <- 900
  x <- matrix(rnorm(2 * n), n, dimnames = list(NULL, c("a", "b")))
  rare <- factor(rep(c("a", "b"), c(n - 3, 3)))
  fit <- sparsegp(x, rare, kernel = kernel_rbf(), control = gp_control(effort = "quick"))
  expect_lt(nrow(basis(fit)), n / 4)
  expect_equal(mean(predict(fit, x, type = "prob")[, "b"]), 3 / n, tolerance = 0.5) # of three rows
})

# Two lines between three classes in one of two inputs: a few points carry all functions.
three_bands <- function(n) {
  set.seed(5)
  x <- matrix(runif(2 * n, -2, 2), n, dimnames = list(NULL, c("a", "b")))
  list(x = x, class = cut(x[, "a"] + 0.4 * rnorm(n), c(-Inf, -0.6, 0.6, Inf), c("i", "j", "k")))
}

classes_candidate <- function(d, size, likelihood = lik_probit()) {
  setup <- check_setup(likelihood, kernel_rbf(), NULL, FALSE, NULL, TRUE)
  chunk <- list(x = d$x, y = d$class, offset = numeric(nrow(d$x)))
  model <- read_model(chunk, setup)
  plan <- plan_classification(problem_of(model, chunk), "quick")
  with_size(new_candidate(model, model$table, plan, list(chunk = chunk, setup = setup)), size)
}

test_that("of many observations a class has as many points as pay, more if more is asked of few", {
  candidate <- classes_candidate(three_bands(300), 180)
  points <- function(...) with_policy(compare_rows = 200, ..., code = with_enough_points(candidate))
  few <- points()
  expect_identical(size_of(few), 60)
  tried <- few$choices
  expect_identical(unique(tried$stage), "points of a class")
  expect_identical(tried$candidate, c("60 points", "180 points"))
  expect_identical(tried$rows, c(160L, 160L))
  expect_lte(tried$gain[2L], -policy$min_class_gain * tried$score[1L])
  expect_identical(tried$taken, c(TRUE, FALSE))
  expect_match(class_points_words(few), "60 points, 180 points .* 60 points taken")
  # any gain counts
  all <- points(min_class_gain = -1)
  expect_identical(size_of(all), 180)
  expect_identical(all$choices$taken, c(FALSE, TRUE))
  # of two labels, which have one function
  two <- within(three_bands(300), class <- class == "i")
  candidate <- classes_candidate(two, 180)
  expect_lt(size_of(points()), 180)
  # where candidates are compared on all observations nothing is decided by some of them
  expect_identical(with_enough_points(candidate), candidate)
})

test_that("EP from foreseen sites ends where EP from none does, sooner", {
  memory_tier()
  for (d in list(three_bands(300), within(three_bands(300), class <- class == "i"))) {
    candidate <- classes_candidate(d, 20)
    rows <- which(seq_len(300) %% 3 > 0)
    found <- score_by_loo(with_subset(candidate, rows))
    sites <- foreseen_sites(candidate, found)
    shape <- dim(found$run$tau)
    expect_identical(dim(sites$tau), if (!is.null(shape)) c(300L, shape[2L]))
    some <- function(x) if (is.null(shape)) x[rows] else x[rows, ]
    expect_identical(lapply(sites, some), found$run[c("tau", "nu")])
    run <- function(candidate, ...) checked_run(with_options(candidate, ...))
    scratch <- run(candidate, tol = 1e-9)
    foreseen <- run(with_sites(candidate, sites), tol = 1e-9)
    for (field in c("logz", "tau", "nu", "mean", "var")) {
      expect_equal(foreseen[[field]], scratch[[field]], tolerance = 1e-7, label = field)
    }
    sweeps <- function(candidate) run(candidate, tol = 0.02)$sweeps
    expect_lt(sweeps(with_sites(candidate, sites)), sweeps(candidate))
  }
})
