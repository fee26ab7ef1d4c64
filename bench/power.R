# Powers of EP beside long MCMC: EP, power 0.5 and the variational limit, at given hyperparameters.
# Elliptical slice sampling gives the exact latent means.
# Usage: Rscript bench/power.R [seeds] [draws]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})
SEEDS <- argument(1, 3)
DRAWS <- argument(2, 20000)
NOISE <- 0.05 # of labels
N <- 40L

x <- seq(-2, 2, length.out = N)
K <- 2 * exp(-outer(x, x, "-")^2 / 2 / 0.49) + diag(1e-8, N)

CASES <- list(
  probit = list(lik = lik_probit(fixed(0)), draw = function(f) rbinom(N, 1, pnorm(f)),
                logp = function(y, f) pnorm((2 * y - 1) * f, log.p = TRUE)),
  step = list(lik = lik_step(fixed(NOISE)),
              draw = function(f) ifelse(runif(N) < 0.2, f <= 0, f > 0) + 0,
              logp = function(y, f) log(ifelse((2 * y - 1) * f > 0, 1 - NOISE, NOISE))),
  poisson = list(lik = lik_poisson(fixed(0)), draw = function(f) rpois(N, exp(f)),
                 logp = function(y, f) dpois(y, exp(f), log = TRUE))
)

# Draws of the latent values by elliptical slice sampling (Murray, Adams and MacKay 2010).
sampled <- function(case, y) {
  root <- t(chol(K))
  f <- numeric(N)
  kept <- matrix(0, N, DRAWS)
  for (draw in seq_len(DRAWS + 1000L)) {
    other <- drop(root %*% rnorm(N))
    level <- sum(case$logp(y, f)) + log(runif(1))
    angle <- runif(1, 0, 2 * pi)
    low <- angle - 2 * pi
    high <- angle
    repeat {
      to <- f * cos(angle) + other * sin(angle)
      if (sum(case$logp(y, to)) > level) break
      if (angle < 0) low <- angle else high <- angle
      angle <- runif(1, low, high)
    }
    f <- to
    if (draw > 1000L) kept[, draw - 1000L] <- f
  }
  kept
}

errors <- function(name, seed) {
  set.seed(seed)
  case <- CASES[[name]]
  f <- drop(t(chol(K)) %*% rnorm(N))
  y <- case$draw(f)
  given <- if (name == "poisson") y else factor(y, 0:1)
  draws <- sampled(case, y)
  vapply(c(1, 0.5, 0), function(power) {
    fit <- suppressWarnings(sparsegp(matrix(x), given, case$lik, kernel_rbf(fixed(2), fixed(0.7)),
                                     method = method_ep(power = power), learn = FALSE,
                                     scale = FALSE))
    mean <- as.double(fit$latent$mean)
    sd <- sqrt(as.double(fit$latent$var))
    exact <- apply(draws, 1, stats::sd)
    c(mean = sqrt(mean((mean - rowMeans(draws))^2)), ratio = mean(sd / exact),
      evidence = fit$log_evidence, power = fit$options$power)
  }, numeric(4))
}

for (name in names(CASES)) {
  all <- vapply(seq_len(SEEDS), function(seed) errors(name, seed), matrix(0, 4, 3))
  average <- t(apply(all, 1:2, mean))
  rownames(average) <- paste("power", c(1, 0.5, 0))
  colnames(average) <- c("RMSE of latent means", "sd / sd of MCMC", "log evidence", "power used")
  bench_table(average, sprintf("Power EP compared with MCMC: %s, %g rows, %g seeds, %g draws",
                               name, N, SEEDS, DRAWS))
}
