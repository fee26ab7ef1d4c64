# A sweep of EP on a basis is a fold over rows: parts of them, in R, give what all at once do.

# Rows of a problem, `width` of them for each
part_of <- function(problem, rows) {
  w <- problem_width(problem)
  tall <- rep((rows - 1L) * w, each = w) + seq_len(w)
  problem$x <- problem$x[tall, , drop = FALSE]
  problem$offset <- problem$offset[tall]
  problem$rows <- problem$rows[, rows, drop = FALSE]
  problem
}

# Seven uneven parts, one of them a single row
in_parts <- function(problem, n = ncol(problem$rows)) {
  ends <- c(0L, 1L, 5L, 17L, 20L, 41L, n - 8L, n)
  lapply(seq_len(7L), function(k) part_of(problem, seq(ends[k] + 1L, ends[k + 1L])))
}

fold_problem <- function(lik, rows, processes = 1L, basis = NULL) {
  n <- ncol(rows)
  x <- cbind(a = sin(3 * seq_len(n)), b = cos(5 * seq_len(n)))
  resolved <- resolve_kernel(kernel_rbf(ard = TRUE), list(names = c("a", "b"), terms = c("a", "b"),
                                                          kept = c(TRUE, TRUE)))
  if (is.null(basis)) basis <- x[seq(1L, n, by = 6L), ]
  list(x = x, spec = spec_for_c(resolved), nkernel = 3L, processes = processes, lik = lik,
       rows = rows, offset = if (processes == 1L) 0.1 * cos(seq_len(n)) else numeric(n),
       options = method_ep(tol = 1e-12, sweeps = 2000L), basis = basis)
}

expect_fold <- function(problem, theta, label) {
  whole <- engine_run(problem, theta, gradient = TRUE, posterior = TRUE)
  folded <- parts_run(in_parts(problem), theta, problem$options, gradient = TRUE)
  expect_true(whole$converged && folded$converged, label = label)
  # both stand within 1e-12 of the fixed point, in cavity standard deviations
  expect_lt(abs(folded$logz - whole$logz), 1e-10 * max(1, abs(whole$logz)), label = label)
  expect_lt(max(abs(folded$gradient - whole$gradient)), 1e-10 * max(1, abs(whole$gradient)),
            label = label)
  posterior <- state_posterior(folded$state[[1L]])
  wanted <- state_posterior(whole$state[[1L]])
  for (field in c("alpha", "G", "H")) {
    expect_lt(max(abs(posterior[[field]] - wanted[[field]])), 1e-10 * max(1, abs(wanted[[field]])),
              label = paste(label, field))
  }
}

test_that("a fold over seven uneven parts is the fit of all rows", {
  memory_tier()
  n <- 60L
  counts <- rbind(rep(c(0, 2, 1, 5), length.out = n))
  expect_fold(fold_problem(lik_gaussian(), rbind(sin(seq_len(n)), 1)), log(c(1, 0.7, 0.9, 0.2)),
              "gaussian")
  expect_fold(fold_problem(lik_probit(), rbind(ifelse(sin(seq_len(n)) > 0, 1, -1))),
              c(log(c(2, 0.7, 0.9)), 0.1), "probit")
  expect_fold(fold_problem(lik_probit(), rbind(as.double(seq_len(n) %% 3L + 1L)), 3L),
              c(log(c(2, 0.7, 0.9)), 0.1, 0, -0.2), "each class against the rest")
})

test_that("classes with a likelihood in common need no reread to get there, only more sweeps", {
  memory_tier()
  n <- 60L
  problem <- fold_problem(lik_mprobit(), rbind(as.double(seq_len(n) %% 3L + 1L)), 3L)
  theta <- c(log(c(1, 0.7, 0.9)), 0.1, 0, -0.1)
  problem$options$tol <- 1e-11
  expect_fold(problem, theta, "mprobit")
})

test_that("a basis for each class is folded, too", {
  n <- 60L
  problem <- fold_problem(lik_probit(), rbind(as.double(seq_len(n) %% 2L + 1L)), 2L)
  problem$basis <- list(problem$x[1:9, ], problem$x[21:35, ])
  theta <- c(log(c(2, 0.7, 0.9)), 0.1, -0.2)
  whole <- engine_run(problem, theta, gradient = TRUE)
  folded <- parts_run(in_parts(problem), theta, problem$options, gradient = TRUE)
  expect_lt(abs(folded$logz - whole$logz), 1e-10 * abs(whole$logz))
  expect_lt(max(abs(folded$gradient - whole$gradient)), 1e-10 * max(abs(whole$gradient)))
})

test_that("pairs of responses with a common noise are folded, too", {
  case <- pair_problem(60L, few_pairs())
  expect_fold(case$problem, case$theta, "pairs")
})

test_that("a pass that is given gamma does without the product that finds it", {
  n <- 60L
  problem <- fold_problem(lik_probit(), rbind(ifelse(sin(seq_len(n)) > 0, 1, -1)))
  each <- fold_problem(lik_probit(), rbind(as.double(seq_len(n) %% 2L + 1L)), 2L)
  each$basis <- list(each$x[1:9, ], each$x[21:35, ])
  pairs <- pair_problem(60L, few_pairs())
  cases <- list(list(problem, c(log(c(2, 0.7, 0.9)), 0.1)),
                list(each, c(log(c(2, 0.7, 0.9)), 0.1, -0.2)), list(pairs$problem, pairs$theta))
  for (case in cases) {
    problem <- case[[1L]]
    start <- parts_start(list(problem), case[[2L]])
    pass <- function(gamma, gradient = FALSE) {
      engine_pass(problem, case[[2L]], start$sums, start$sites[[1L]],
                  list(gradient = gradient, own = TRUE, narrow = FALSE, collect = FALSE, rows = n),
                  gamma)
    }
    found <- pass(NULL, TRUE)
    again <- pass(found$gamma, TRUE)
    # the products are taken in another order
    expect_equal(again, found, tolerance = 1e-11)
    # and gamma is not had anew
    expect_gt(max(abs(pass(found$gamma + 0.1)$cav_var - found$cav_var)), 0.01)
  }
})

test_that("sharp sites have a product of their own, unless rows are so many that digits suffice", {
  n <- 60L
  problem <- fold_problem(lik_gaussian(), rbind(sin(seq_len(n)), 1))
  theta <- log(c(1, 0.7, 0.9, 1e-11))
  start <- parts_start(list(problem), theta)
  pass <- function(rows, gamma) {
    engine_pass(problem, theta, start$sums, start$sites[[1L]],
                list(gradient = FALSE, own = TRUE, narrow = FALSE, collect = FALSE, rows = rows),
                gamma)
  }
  first <- pass(n, NULL)
  few <- pass(n, first$gamma)
  many <- pass(1e8, first$gamma)
  # with 1e-8 nats a row to spare the product is spared, and less than that is lost
  expect_false(identical(many$logz, few$logz))
  expect_lt(abs(many$logz - few$logz), 1e-8 * 1e8)
  expect_identical(few$logz, first$logz)
})
