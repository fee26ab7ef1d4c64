# Prediction intervals and quantile residuals of many rows, by likelihood: seconds for 10,000 rows.
# Rscript bench/expect.R [library]

library(sparsegp, lib.loc = commandArgs(TRUE)[1L][length(commandArgs(TRUE)) > 0L])
set.seed(1)
n <- 200
x <- sort(runif(n, 0, 6))
f <- sin(x)
trials <- rep_len(c(5, 20), n)
won <- rbinom(n, trials, plogis(f))
cases <- list(
  poisson = list(y = rpois(n, exp(2 + f)), lik = lik_poisson()),
  negbin = list(y = rnbinom(n, 3, mu = exp(2 + f)), lik = lik_negbin(size = 3)),
  binomial = list(y = cbind(won, trials - won), lik = lik_binomial()),
  student = list(y = f + 0.2 * rt(n, 4), lik = lik_student()),
  laplace = list(y = f + 0.2 * rexp(n), lik = lik_laplace()),
  heteroscedastic = list(y = f + exp(-1 + f) * rnorm(n), lik = lik_heteroscedastic()),
  gaussian = list(y = f + 0.2 * rnorm(n), lik = lik_gaussian())
)
new <- seq(0, 7, length.out = 1e4)
for (name in names(cases)) {
  case <- cases[[name]]
  fit <- sparsegp(x, case$y, case$lik, learn = FALSE)
  weights <- if (name == "binomial") rep(20, length(new))
  mean <- system.time(predict(fit, new))[["elapsed"]]
  all <- system.time(band <- predict(fit, new, interval = "prediction", weights = weights))
  residuals <- system.time(residuals(fit, "quantile"))[["elapsed"]]
  cat(sprintf("%-16s mean %6.3f  interval %8.3f  residuals of %d %6.3f  sum %.9g\n", name, mean,
              all[["elapsed"]], n, residuals, sum(band)))
}
