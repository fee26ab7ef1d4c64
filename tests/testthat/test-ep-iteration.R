# The steps of EP from the residuals of its sweeps, and their sites and sums in chunks.

step_after <- function(changes, settings = list(), state = NULL, status = 0L, ...) {
  settings <- utils::modifyList(list(sweeps = 100L, mixing = 0L, damping = 1, tol = 1e-6), settings)
  for (change in changes) {
    swept <- utils::modifyList(list(status = status, change = change, widening = 0,
                                    products = diag(3)), list(...))
    step <- engine_iterate(settings, FALSE, state, swept)
    state <- step$state
  }
  step
}

test_that("a step is shortened where the residual has grown, and no step is below a sixteenth", {
  expect_identical(step_after(0.5)[c("step", "length", "converged")],
                   list(step = "plain", length = 1, converged = FALSE))
  expect_identical(step_after(c(0.5, 0.9))$length, 1)
  expect_identical(step_after(c(0.5, 1.1))$length, 0.5)
  # a quarter longer with every sweep that helps, up to four fifths of what was too long once more
  expect_identical(step_after(c(0.5, 1.1, 1))$length, 0.625)
  expect_equal(step_after(c(0.5, 1.1, 1, 3, 2, 1.9, 1.8, 1.7))$length, 0.8 * 0.625)
  expect_identical(step_after(2^(1:40))$length, 1 / 16)
  # to and fro without coming nearer
  expect_identical(step_after(c(0.5, rep(0.6, 7L)))$length, 1)
  expect_identical(step_after(c(0.5, rep(0.6, 8L)))$length, 0.5)
})

test_that("an iteration ends, is mixed near its end, and goes back to its best sites", {
  memory_tier()
  expect_identical(step_after(1e-7)$step, "done")
  expect_true(step_after(1e-7)$converged)
  late <- step_after(c(1, 0.9), list(sweeps = 2L))
  expect_identical(late[c("step", "converged")], list(step = "done", converged = FALSE))
  mixing <- list(mixing = 2L)
  expect_identical(step_after(0.5, mixing)$step, "plain")
  first <- step_after(c(0.5, 0.05), mixing)
  expect_identical(first[c("step", "gamma", "best")],
                   list(step = "mixed", gamma = numeric(), best = TRUE))
  astray <- step_after(2, mixing, first$state)
  expect_identical(astray[c("step", "best")], list(step = "best", best = FALSE))
})

test_that("an iteration that is far from any fixed point ten times ends", {
  memory_tier()
  expect_identical(step_after(c(5, rep(2e3, 9L)))$step, "plain")
  ended <- step_after(c(5, rep(2e3, 10L)))
  expect_identical(ended[c("step", "converged")], list(step = "done", converged = FALSE))
  # also where it comes near in between, but not nearer than before
  expect_identical(step_after(c(5, rep(c(2e3, 6), 10L)))$step, "done")
  expect_identical(step_after(c(5, rep(2e3, 9L), 3, rep(2e3, 9L)))$step, "plain")
  expect_identical(step_after(2000 * 0.8^(0:50))$step, "plain") # from far, but steadily
})

test_that("gamma of a mixed step is that of least squares", {
  set.seed(1)
  f <- rnorm(30)
  past <- matrix(rnorm(60), 30)
  settings <- list(mixing = 2L)
  state <- step_after(c(0.05, 0.04), settings, products = crossprod(cbind(f, past[, 1L])))$state
  step <- step_after(0.03, settings, state, products = crossprod(cbind(f, past)))
  expect_equal(step$gamma, unname(coef(lm(f ~ past - 1))), tolerance = 1e-10)
})

test_that("a step to where there is no posterior is halved ten times, and then taken back", {
  memory_tier()
  state <- step_after(0.5)$state
  steps <- vapply(1:12, function(k) {
    step <- step_after(NA, state = state, status = -1L)
    state <<- step$state
    step$step
  }, "")
  expect_identical(steps, c(rep("halve", 10L), "retreat", "done"))
  start <- step_after(NA, status = -1L)
  expect_identical(start$step, "clip")
  expect_identical(step_after(NA, state = start$state, status = -1L)$step, "done")
})

test_that("after a third of the sweeps negative precisions are given up, and no step is mixed", {
  memory_tier()
  swept <- function(state, widening) {
    engine_iterate(list(sweeps = 6L, mixing = 3L, damping = 1, tol = 1e-6), FALSE, state,
                   list(status = 0L, change = 0.05, widening = widening, products = diag(4)))
  }
  state <- swept(swept(NULL, 1)$state, 1)$state
  expect_identical(swept(state, 0)[c("step", "narrow")], list(step = "mixed", narrow = FALSE))
  clipped <- swept(state, 1)
  expect_identical(clipped[c("step", "narrow")], list(step = "clip", narrow = TRUE))
  expect_identical(swept(clipped$state, 1)$step, "plain")
})

# Rows in chunks, the settings of its iteration, and theta.
in_chunks <- function(formula, d, lik, method, kernel = kernel_rbf(fixed(4), fixed(0.5))) {
  fit <- source_fit(formula, d, lik, basis = source_points(source_data()), kernel = kernel)
  scan <- scan_source(chunks_of(d, c(0L, 7L, 100L, nrow(d))), recipe_of(fit))
  list(chunked = new_chunked(scan, without_rows(fit, FALSE), sites_in_memory()), fit = fit,
       theta = fit$hyper$theta, control = batch_settings(method))
}

test_that("sums of every step are those of its sites, read from nothing", {
  slow_tier()
  d <- source_data()
  d <- d[!is.na(d$a) & !is.na(d$y), ]
  d$y <- d$y + ifelse(seq_len(nrow(d)) %% 9 == 0, 6, 0)
  case <- in_chunks(y ~ a + b, d, lik_student(df = fixed(2.5), scale = fixed(0.05)),
                  method_ep(tol = 1e-8, mixing = 2))
  mixed <- 0L
  chunked_run(case$chunked, case$theta, case$control, after = function(it) {
    found <- point_of(case$chunked, it, it$weights)
    mixed <<- mixed + (length(it$weights) > 2L)
    wanted <- chunked_read(case$chunked, list(theta = case$theta, point = found, stage = "collect",
                                              seen = TRUE))$state
    expect_equal(lapply(found$sums, `[`, c("S", "t")), lapply(wanted, `[`, c("S", "t")),
                 tolerance = 1e-10)
  })
  expect_gt(mixed, 2L)
})

test_that("log Z of exact sites is had by one read, and is that of a sweep", {
  memory_tier()
  d <- source_data()
  d <- d[!is.na(d$a) & !is.na(d$y), ]
  case <- in_chunks(y ~ a + g, d, lik_gaussian(fixed(0.1)), method_ep())
  reads <- 0L
  case$chunked$progress <- function(part) reads <<- reads + (part == 1)
  sweep <- chunked_run(case$chunked, case$theta, case$control)
  expect_identical(reads, 2L)
  one <- chunked_run(case$chunked, case$theta, case$control, answers = FALSE)
  expect_identical(reads, 3L)
  expect_equal(one$logz, sweep$logz, tolerance = 1e-11)
})
