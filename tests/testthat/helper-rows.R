# Rows for tests of sources: uneven chunks, missing values, a level that comes in the last chunk.

source_data <- function(n = 300L) {
  at <- seq_len(n)
  d <- data.frame(a = round(4 * (at * 0.7548777) %% 1 - 2, 6),
                  b = round(2 + 6 * (at * 0.5698403) %% 1, 6),
                  g = c("v", "w")[at %% 2L + 1L])
  d$g[at > n - 5L] <- "u" # the first of the alphabet, and so the baseline of the contrasts
  f <- sin(2 * d$a) + 0.2 * d$b + (d$g == "v")
  d$y <- f + round(0.3 * cos(17 * at), 6)
  d$k <- floor(exp(f / 3) + 0.5 * (1 + cos(5 * at)))
  d$c <- ifelse(f + cos(13 * at) > 1, "yes", "no")
  d$w <- 1 + at %% 3
  d$a[c(5L, 17L, 150L)] <- NA
  d$y[8L] <- NA
  d
}

ENDS <- c(0L, 1L, 25L, 26L, 100L, 185L, 290L, 300L)

chunks_of <- function(d, ends = ENDS, ...) {
  row_source(function(i) d[seq(ends[i] + 1L, ends[i + 1L]), ], chunks = length(ends) - 1L, ...)
}

# Far enough from each other that their kernel matrix loses few digits
source_points <- function(d) d[c(20:28, 299L), ]

# Hyperparameters given, and few rows kept, so that all others are only read.
source_fit <- function(formula, data, likelihood = NULL, ..., learn = learn_control(rows = 60),
                       method = method_ep(tol = 1e-12, sweeps = 1000),
                       kernel = kernel_rbf(fixed(1.5), fixed(1))) {
  sparsegp(formula, data, likelihood = likelihood, kernel = kernel, method = method, learn = learn,
           ...)
}

# The same sums of sites, evidence and posterior: two folds of the same rows at fixed points to
# 1e-12 in cavity standard deviations.
expect_same_fold <- function(one, two, tolerance = 1e-10) {
  expect_identical(nobs(one), nobs(two))
  expect_equal(coef(one), coef(two), tolerance = 1e-13)
  expect_lt(abs(one$log_evidence - two$log_evidence), tolerance * max(1, abs(one$log_evidence)))
  for (g in seq_along(one$state)) {
    for (field in c("R", "S", "t")) {
      wanted <- one$state[[g]][[field]]
      expect_lt(max(abs(wanted - two$state[[g]][[field]])), tolerance * max(1, abs(wanted)),
                label = field)
    }
  }
  # alpha is R^-1 a, which has fewer digits than what is predicted from it
  expect_lt(max(abs(unlist(one$posterior$alpha) - unlist(two$posterior$alpha))),
            10 * tolerance * max(1, abs(unlist(one$posterior$alpha))))
}

expect_same_answers <- function(one, two, new, tolerance = 1e-10) {
  a <- predict(one, new, type = "latent", se.fit = TRUE)
  b <- predict(two, new, type = "latent", se.fit = TRUE)
  expect_lt(max(abs(a$fit - b$fit)), tolerance * max(1, abs(a$fit)))
  expect_lt(max(abs(a$se.fit - b$se.fit)), tolerance * max(1, abs(a$se.fit)))
}
