# Thesis fig. 3.4: omission rates of the simple score. Online learning of Friedman #1 on n rows; how
# often is the point of least score "mean" (3.26) not the one of least exact KL score (3.24)?
#   (a) every row in the basis;  (b) size 0.9 n, and size 50.
# The text names no parameters: those of fig. 3.2 are taken, and nothing is standardised (then the
# courses agree). It gives no numbers either, only the course: (a) goes up with n; (b) at 90 % goes
# up and levels off beyond 120, at 50 falls to about zero. Beside it, standardised inputs and
# responses, as they are in a fit by default.
# Usage: Rscript bench/thesis/omission.R [repetitions]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

REPEATS <- argument(1, 500)
ROWS <- c(30, 50, 70, 90, 120, 150)

# Both scores of every point of a stream, from its state: K_B = R'R, and S and t, the sites' sums in
# coordinates whitened by R.
scores <- function(fit) {
  state <- fit$state[[1L]]
  d <- nrow(state$R)
  inverse <- backsolve(state$R, diag(d))
  S <- matrix(state$S, d)
  M <- solve(diag(d) + S)
  alpha <- drop(inverse %*% M %*% state$t)
  E <- rowSums((inverse %*% M) * inverse)
  Q <- rowSums(inverse^2)
  P <- rowSums((inverse %*% S) * inverse)
  mean_score <- alpha^2 / E
  list(mean = mean_score, kl = mean_score + log(E / Q) + P / Q)
}

omitted <- function(n, size, standardise) {
  d <- friedman(n)
  fit <- sparsegp(d$x, if (standardise) drop(scale(d$y)) else d$y, kernel = thesis_rbf(2, 10),
                  likelihood = lik_gaussian(0.02), scale = standardise, learn = FALSE,
                  method = method_online(size = size, score = "mean", novelty = 1e-10,
                                         pilot = n))
  both <- scores(fit)
  which.min(both$mean) != which.min(both$kl)
}

rate <- function(...) 100 * mean(repeated(REPEATS, function(i) omitted(...)))

rates <- function(standardise) {
  rows <- lapply(ROWS, function(n) {
    data.frame(n = n, full = rate(n, n, standardise),
               size_90 = rate(n, ceiling(0.9 * n), standardise),
               size_50 = if (n >= 50) rate(n, 50, standardise) else NA)
  })
  do.call(rbind, rows)
}

cat("Thesis: full rises with n; 90 % rises, level beyond 120; 50 falls to about 0.\n")
show_table("Omissions in %, nothing standardised", rates(FALSE))
show_table("Omissions in %, inputs and responses standardised", rates(TRUE))
