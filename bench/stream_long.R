# A stream of 10^7 rows in constant memory, and what rounding has done to it at the end:
#   - "matern": one input, Matern 1/2, 50 predefined points, Gaussian noise. The same posterior from
#     sums of k k' and k y over all rows, in plain R;
#   - "rbf": one input, an rbf kernel, whose kernel matrix is nearly singular; a basis that stops
#     growing by itself. A second stream takes the same rows in other chunks;
#   - "rows": the first 20000 rows of both, one call per row, against one call.
# Predictive means and variances are compared at 200 points, in units of the prior's standard
# deviation and variance. Usage: Rscript bench/stream_long.R [rows]
library(sparsegp)

arguments <- commandArgs(TRUE)
ROWS <- if (length(arguments)) as.numeric(arguments) else 1e7
CHUNK <- 1e5
NOISE <- 0.01
NEW <- data.frame(x = seq(-10, 10, length.out = 200))

# Any rows of the stream again: chunk i has its own seed.
chunk <- function(i, rows = CHUNK) {
  set.seed(i)
  x <- runif(CHUNK, -10, 10)
  d <- data.frame(x = x, y = sin(x) / x + sqrt(NOISE) * rnorm(CHUNK))
  d[seq_len(rows), ]
}

METHOD <- method_online(size = 50, pilot = 1000)
GRID <- data.frame(x = seq(-10, 10, length.out = 50))

begin <- function(name, rows) {
  kernel <- if (name == "rbf") kernel_rbf(1, 2) else kernel_matern12(1, 2)
  sparsegp(y ~ x, chunk(1, rows), likelihood = lik_gaussian(NOISE), kernel = kernel, scale = FALSE,
           learn = FALSE, method = METHOD, basis = if (name == "matern") GRID)
}

moments <- function(fit) {
  latent <- predict(fit, NEW, type = "latent", se.fit = TRUE)
  list(mean = latent$fit, var = latent$se.fit^2)
}

difference <- function(a, b) {
  c(mean = max(abs(a$mean - b$mean)), variance = max(abs(a$var - b$var)))
}

megabytes <- function() sum(gc(full = TRUE)[, 2L])

run <- function(name, per_call = CHUNK) {
  fit <- begin(name, CHUNK)
  used <- megabytes()
  seconds <- 0
  for (i in seq_len(ROWS / CHUNK)[-1L]) {
    d <- chunk(i)
    for (rows in split(seq_len(CHUNK), ceiling(seq_len(CHUNK) / per_call))) {
      seconds <- seconds + system.time(fit <- update(fit, d[rows, ]))[["elapsed"]]
    }
  }
  cat(sprintf("%s: %.0f rows, %d points, %.2f million rows a second; ", name, nobs(fit),
              nrow(basis(fit)), (ROWS - CHUNK) / seconds / 1e6))
  cat(sprintf("memory %+.1f MB after the first chunk\n", megabytes() - used))
  fit
}

# The projected-process posterior from sums over all rows.
from_sums <- function(fit) {
  k <- function(x) exp(-abs(outer(x, GRID$x, "-")) / 2)
  S <- t <- 0
  for (i in seq_len(ROWS / CHUNK)) {
    d <- chunk(i)
    K <- k(d$x)
    S <- S + crossprod(K) / NOISE
    t <- t + crossprod(K, d$y - fit$response$centre) / NOISE
  }
  E <- solve(k(GRID$x) + S)
  at <- k(NEW$x)
  gamma <- 1 - rowSums((at %*% solve(k(GRID$x))) * at)
  list(mean = drop(at %*% E %*% t) + fit$response$centre, var = gamma + rowSums((at %*% E) * at))
}

one_by_one <- function(name) {
  whole <- begin(name, 20000)
  fit <- begin(name, 1000)
  d <- chunk(1, 20000)
  for (i in 1001:20000) fit <- update(fit, d[i, ])
  difference(moments(fit), moments(whole))
}

cat(extSoftVersion()[["BLAS"]], "\n")
fit <- run("matern")
print(signif(difference(moments(fit), from_sums(fit)), 2))
fit <- run("rbf")
print(signif(difference(moments(fit), moments(run("rbf", 12345))), 2))
cat("rows, one by one\n")
print(signif(rbind(matern = one_by_one("matern"), rbf = one_by_one("rbf")), 2))
