# Subsets of the rows: an input that hardly ever varies is an input of every model that learns on
# some of the rows.

r_code_alone()

# An indicator that is 1 in five rows, none of which an even spread would take early.
rare_column <- function(n) {
  set.seed(1)
  d <- data.frame(a = rnorm(n), b = rnorm(n), r = 0)
  late <- tail(spread_rows(n), n %/% 4L)
  d$r[sample(late, 5L)] <- 1
  d$y <- sin(2 * d$a) + d$b + d$r + 0.1 * rnorm(n)
  d$two <- factor(d$y + rnorm(n) > 0)
  d$few <- cut(d$y + rnorm(n), c(-Inf, -1, 1, Inf), c("low", "mid", "high"))
  d$count <- rpois(n, exp(d$y / 2))
  d
}

test_that("an order of rows begins with rows that tell inputs apart, as many as it takes", {
  n <- 2000
  set.seed(4)
  x <- cbind(a = rnorm(n), none = 1, matrix(0, n, 8, dimnames = list(NULL, paste0("r", 1:8))))
  late <- tail(spread_rows(n), 400)
  for (j in 3:10) x[sample(late, 2), j] <- 1
  order <- spread_rows(n, NULL, x)
  expect_setequal(order, seq_len(n))
  for (count in c(sparsegp:::policy$min_points, 400)) {
    start <- x[order[seq_len(count)], ]
    expect_identical(unname(which(apply(start, 2, sd) == 0)), 2L) # the one that never varies
  }
  # one row serves several inputs, and the order of all others is what it was
  x[, 4:10] <- x[, 3]
  again <- spread_rows(n, NULL, x)
  early <- seq_len(policy$min_points)
  moved <- setdiff(again[early], spread_rows(n)[early])
  expect_length(moved, 1L)
  expect_identical(setdiff(again, moved), setdiff(spread_rows(n), moved))
  # rows that vary are left alone, and so are few rows
  expect_identical(spread_rows(n, NULL, x[, 1:2]), spread_rows(n))
  expect_identical(spread_rows(100, NULL, x[1:100, ]), spread_rows(100))
  # every class is in the beginning, rare inputs or not
  strata <- rep(1:5, c(n - 4, 1, 1, 1, 1))
  expect_setequal(strata[spread_rows(n, strata, x)[1:10]], 1:5)
})

test_that("kernels are tried on some of the rows as models of all inputs", {
  slow_tier()
  d <- rare_column(300)
  d$r[] <- 0
  d$r[tail(spread_rows(300), 1L)] <- 1 # constant in the subset, but for the row that was moved up
  fit <- with_policy(structure_flops = 40^3, code = sparsegp(y ~ a + b + r, d))
  expect_identical(unique(choices_of_stage(fit, "kernel")$rows), 40L)
  expect_identical(fit$scaling$names[fit$scaling$kept], c("a", "b", "r"))
  # where no row is moved up the model is of all inputs still
  fit <- with_policy(min_points = 1e6, code =
                     with_policy(structure_flops = 40^3, code = sparsegp(y ~ a + b + r, d)))
  expect_identical(fit$scaling$names[fit$scaling$kept], c("a", "b", "r"))
  expect_true(all(is.finite(coef(fit))))
  expect_true(all(c("rbf()", "rbf(ard = TRUE)") %in% choices_of_stage(fit, "kernel")$candidate))
})

test_that("default fits of every kind have a rare indicator among their inputs", {
  slow_tier()
  d <- rare_column(1000)
  for (response in c("y", "two", "few", "count")) {
    likelihood <- if (response == "count") "poisson"
    # few rows in the subsets that kernels and hyperparameters come from
    fit <- with_policy(structure_flops = 100^3, class_pilot_rows = 400, class_pilot_flops = 1e8,
                       code = sparsegp(reformulate(c("a", "b", "r"), response), d, likelihood,
                                       control = gp_control(effort = "quick")))
    expect_lt(min(fit$choices$rows), 1000, label = response)
    expect_identical(fit$scaling$names[fit$scaling$kept], c("a", "b", "r"), label = response)
    expect_true(all(is.finite(unlist(predict(fit, d[1:20, ], type = "latent")[1:2]))))
  }
})

test_that("methods, candidates and bootstraps of a rare indicator are fits", {
  slow_tier()
  d <- rare_column(160)
  for (method in list(method_ep(size = 20), method_ep(), method_ivm(20), NULL)) {
    fit <- sparsegp(two ~ a + b + r, d, method = method, kernel = kernel_rbf(ard = TRUE))
    expect_length(grep("^lengthscale", names(coef(fit))), 3L)
  }
  # a sample by hand in which it does not vary leaves it out, says so, and predicts all rows
  few <- d[d$r == 0, ]
  fit <- sparsegp(two ~ a + b + r, few)
  expect_identical(fit$scaling$dropped, "r")
  expect_true(all(is.finite(predict(fit, d, type = "prob"))))
})

test_that("a fit is evaluated again by the problem that it was made by, whatever its response", {
  slow_tier()
  set.seed(2)
  n <- 24
  d <- data.frame(a = rnorm(n), b = rnorm(n), o = rnorm(n))
  d$u <- sin(d$a) + 3 * d$o + 0.1 * rnorm(n)
  d$v <- cos(d$b) - 2 * d$o + 0.1 * rnorm(n)
  d$class <- factor(d$u > 0)
  d$count <- rpois(n, 2)
  offsets <- cbind(d$o * 3, d$o * -2)
  fits <- list(
    vector = sparsegp(cbind(u, v) ~ a + b + offset(offsets), d,
                      control = gp_control(integrate = "none")),
    numbers = sparsegp(u ~ a + b + offset(3 * o), d, control = gp_control(integrate = "none")),
    class = sparsegp(class ~ a + b + offset(o), d, "probit",
                     control = gp_control(integrate = "none")),
    count = sparsegp(count ~ a + b + offset(o / 5), d, "poisson",
                     control = gp_control(integrate = "none")),
    basis = sparsegp(cbind(u, v) ~ a + b + offset(offsets), d, basis = 1:10),
    spread = sparsegp(u ~ a + b + offset(3 * o), d, lik_heteroscedastic(),
                      control = gp_control(integrate = "none"))
  )
  for (name in names(fits)) {
    fit <- fits[[name]]
    run <- engine_run(problem_of_fit(fit), fit$hyper$theta)
    # EP ends at 1e-6 in the fit and at 1e-9 here; the evidence is stationary there
    shift <- evidence_shift(fit, fit$y)
    expect_equal(run$logz - shift, fit$log_evidence, tolerance = 1e-6, label = name)
  }
  expect_true(all(is.finite(sqrt(diag(vcov(fits$vector))))))
  ends <- confint(fits$vector)
  expect_true(all(ends[, 1] < coef(fits$vector)[rownames(ends)]))
})

# A race between runs that are at hand.
race_of_runs <- function(...) {
  runs <- list(...)
  entries <- lapply(seq_along(runs), function(k) function(best) runs[[k]])
  names(entries) <- seq_along(runs)
  race("inducing points", entries, function(run) {
    list(run = run, value = if (run$status == 0L) mean(run$lpd) else NA, rows = 10, points = 2)
  }, gain_outside)
}

test_that("a larger basis is kept only if rows outside of it are predicted better", {
  slow_tier()
  before <- list(status = 0L, lpd = rep(-1, 10), logz = 1, basis_rows = 1:2, basis = diag(2))
  after <- list(status = 0L, lpd = rep(-1.5, 10), logz = 2, basis_rows = 1:4, basis = diag(4))
  worse <- race_of_runs(before, after)$choices
  expect_identical(worse$taken, c(TRUE, FALSE))
  expect_equal(worse$gain, c(NA, -0.5))
  expect_identical(race_of_runs(after, before)$choices$taken, c(FALSE, TRUE))
  failed <- race_of_runs(before, list(status = -1L))
  expect_identical(failed$choices$taken, c(TRUE, FALSE))
  expect_identical(failed$choices$score, c(-1, NA))
  expect_identical(failed$run, before)
  # nothing comes after one that is not better, and the first may fail
  expect_identical(nrow(race_of_runs(before, after, before)$choices), 2L)
  expect_identical(race_of_runs(list(status = -1L), before)$run$status, -1L)
})

test_that("of bases that grow the better one is the fit", {
  slow_tier()
  # Noise alone, but for copies: no larger basis predicts it better.
  set.seed(8)
  x <- matrix(rnorm(6000), 3000)
  fit <- sparsegp(x, rnorm(3000), kernel = kernel_rbf(fixed(1), fixed(0.3)),
                  control = gp_control(effort = "quick"),
                  likelihood = lik_gaussian(fixed(1)))
  growth <- choices_of_stage(fit, "inducing points")
  expect_identical(nrow(basis(fit)), growth$points[growth$taken])
  expect_false(any(growth$gain[-1L][!growth$taken[-1L]] > policy$min_gain))
})

test_that("method_ep(size = NULL) chooses for several responses and classes, too", {
  slow_tier()
  set.seed(1)
  d <- data.frame(a = rnorm(40), u = rnorm(40), v = rnorm(40), k = factor(rep(1:4, 10)))
  for (n in c(12, 40)) {
    open <- sparsegp(cbind(u, v) ~ a, d[seq_len(n), ], method = method_ep(size = NULL))
    expect_identical(coef(open), coef(sparsegp(cbind(u, v) ~ a, d[seq_len(n), ])))
  }
  for (likelihood in c("softmax", "mprobit", "probit")) {
    fit <- sparsegp(k ~ a, d, likelihood, method = method_ep(size = NULL), learn = FALSE)
    expect_identical(nrow(basis(fit)), 40L)
  }
  open <- with_policy(full_ep_flops = 1e4, code =
                      sparsegp(cbind(u, v) ~ a, d, method = method_ep(size = NULL)))
  expect_lt(nrow(basis(open)), 80)
})

# The pool of chunks of a data frame's rows, which end at `ends`.
pool_of_chunks <- function(formula, d, size, ends, chunks = seq_len(length(ends) - 1L)) {
  pool <- new_pool(size)
  for (i in chunks) {
    frame <- model.frame(formula, d[seq(ends[i] + 1, ends[i + 1L]), ])
    pool <- join_pools(pool, pool_of_frame(frame, ends[i]))
  }
  pool
}

rows_kept <- function(...) pooled(pool_of_chunks(...))$at

test_that("rows of a source that are kept vary in every input that varies in any row", {
  slow_tier()
  n <- 900
  set.seed(6)
  d <- data.frame(a = rnorm(n), r = 0, g = "often", f = FALSE)
  d$y <- sin(d$a) + 0.1 * rnorm(n)
  d$r[777] <- 1
  d$g[c(20, 888)] <- c("once", "twice")
  d$f[555] <- TRUE
  read <- row_source(function(i) d[300 * (i - 1) + 1:300, ], chunks = 3)
  kept <- rows_kept(y ~ a + r + g + f, d, 40, c(0, 300, 600, n))
  expect_true(all(c(20, 555, 777, 888) %in% kept))
  # the others are an even spread
  expect_true(all(setdiff(kept, spread_rows(n)[1:40]) %in% c(20, 555, 777, 888)))
  fit <- sparsegp(y ~ a + r + g + f, read, basis = d[c(1, 20, 500, 777), ],
                  learn = learn_control(rows = 40))
  all_rows <- sparsegp(y ~ a + r + g + f, d, learn = FALSE)
  expect_identical(fit$scaling$names, all_rows$scaling$names)
  expect_true(all(fit$scaling$kept))
})

test_that("what is kept of a source is bounded, spread, and the same by any chunks", {
  slow_tier()
  n <- 6000
  d <- data.frame(y = sin(1:n), a = cos(1:n), id = factor(rep(1:3000, 2)), r = 0)
  d$r[4321] <- 1
  by_step <- function(formula, size, step) rows_kept(formula, d, size, c(seq(0, n - 1, step), n))
  rows <- by_step(y ~ a + id + r, 500, 1000)
  expect_length(rows, 500L)
  expect_gt(sum(rows > 3000), 100L)
  for (step in c(70, 1000)) {
    rows <- by_step(y ~ a + r, 200, step)
    expect_true(4321 %in% rows)
    expect_length(rows, 200L)
    expect_setequal(rows, by_step(y ~ a + r, 200, n))
  }
  expect_length(by_step(y ~ a + id + r, 1, 1000), 1L)
  # chunks of any size
  rows <- by_step(y ~ a + r, 200, n)
  expect_true(all(tabulate(ceiling(rows / 600)) %in% 15:25))
  for (ends in list(c(0, 1, n), c(0, 10, 3000, 3001, n), c(0, 4000, n))) {
    expect_identical(rows_kept(y ~ a + r, d, 200, ends), rows)
  }
})

test_that("a pool of shares is the pool of all chunks, whatever shows where", {
  slow_tier()
  n <- 3000
  at <- seq_len(n)
  set.seed(7)
  d <- data.frame(y = sample(c("p", "q"), n, TRUE), a = cos(at), r = 0, s = 0, u = 1)
  d$y[2700] <- "rare"
  d$id <- factor(sample(60, n, TRUE)) # more levels than half of a pool of 50 has room for
  d$g <- c("often", "once")[1 + (at %in% c(1500, 2500))]
  d$r[2222] <- 1 # shows within a share
  d$s[at > 1500] <- 2 # with its first row
  d$u[c(1, 2999)] <- 0 # the first of all differs from the others
  chunks <- c(0, 100, 700, 702, 1500, 1800, 2650, n)
  for (formula in list(y ~ a + r + s + u + g, y ~ a + id + r + s, y ~ r)) {
    for (size in c(20, 50, 400, n)) {
      pool_of <- function(chunk) pool_of_chunks(formula, d, size, chunks, chunk)
      whole <- pooled(pool_of(1:7))
      for (cut in list(4, c(2, 5), 1:6)) {
        shares <- split(1:7, findInterval(1:7, cut + 1))
        pools <- lapply(unname(shares), function(own) whole_pool(pool_of(own)))
        expect_identical(pooled(Reduce(join_pools, pools)), whole)
      }
      expect_true("rare" %in% whole$frame$y)
    }
  }
})

test_that("a step to a larger basis whose gain is no number is not taken", {
  before <- list(status = 0L, lpd = c(-1, -1, -Inf, -1), logz = 1, basis_rows = 1L, basis = diag(1))
  same <- utils::modifyList(before, list(basis_rows = 1:2))
  expect_identical(race_of_runs(before, same)$choices[2L, c("gain", "taken")],
                   data.frame(gain = 0, taken = FALSE), ignore_attr = TRUE)
})
