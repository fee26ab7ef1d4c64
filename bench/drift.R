# Streams whose function drifts: method_online(drift = ) beside forget = and neither. The half-life
# of each is the one with the best log predictive density in the first half of the stream; the table
# has the densities in the second half, each row predicted from all before it, in nats a row.
#   - taylor: electricity demand of half-hours, as a function of the place in the week (package
#     forecast); economics: savings rate by unemployment (ggplot2); and of R indices: the DAX by the
#     FTSE, both logarithms; returns: their daily differences; co2 and nottem: CO2 and temperature
#     by month;
#   - wanders: a draw from the model that drift = assumes; turns: a curve that moves steadily;
#     jumps: three curves one after the other; stays: one curve.
#
# Usage: Rscript bench/drift.R
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

HALF_LIVES <- c(5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000)

one_of <- function(package, name) {
  home <- new.env()
  utils::data(list = name, package = package, envir = home)
  home[[name]]
}

taylor <- function() {
  y <- as.numeric(one_of("forecast", "taylor"))
  list(data = data.frame(y = y / 1000, x = (seq_along(y) - 1) %% 336 / 48), pilot = 672,
       kernel = kernel_rbf() * kernel_periodic(period = fixed(7)))
}

economics <- function() {
  e <- as.data.frame(one_of("ggplot2", "economics"))
  list(data = data.frame(y = e$psavert, x = 100 * e$unemploy / e$pop), pilot = 60,
       kernel = kernel_rbf())
}

of_indices <- function(kernel, change) {
  prices <- change(100 * log(EuStockMarkets))
  list(data = data.frame(y = prices[, "DAX"], x = prices[, "FTSE"]), pilot = 250, kernel = kernel)
}

by_month <- function(series) {
  list(data = data.frame(y = as.numeric(series), x = as.numeric(stats::cycle(series))),
       pilot = 60, kernel = kernel_periodic(period = fixed(12)))
}

# A stream of 4000 rows of f(x, i) with noise of standard deviation 0.2.
simulated <- function(f) {
  n <- 4000L
  set.seed(1)
  x <- round(runif(n, -2, 2), 2)
  list(data = data.frame(y = f(x, seq_len(n)) + 0.2 * rnorm(n), x), pilot = 200,
       kernel = kernel_rbf())
}

# An Ornstein-Uhlenbeck process of functions with half-life 500, on waves that make up the kernel.
wandering <- function(x, i) {
  rho <- 2^(-1 / 500)
  w <- rnorm(100)
  b <- matrix(rnorm(200), 100)
  vapply(i, function(i) {
    f <- sqrt(2 / 100) * sum(b[, 1] * cos(w * x[i] + b[, 2] * 10))
    b[, 1] <<- rho * b[, 1] + sqrt(1 - rho^2) * rnorm(100)
    f
  }, 0)
}

SETS <- list(
  taylor = taylor, economics = economics,
  indices = function() of_indices(kernel_rbf(), identity),
  returns = function() of_indices(kernel_linear() + kernel_rbf(), diff),
  co2 = function() by_month(co2), nottem = function() by_month(nottem),
  wanders = function() simulated(wandering),
  turns = function() simulated(function(x, i) sin(2 * x + i / 300)),
  jumps = function() simulated(function(x, i) sin(2 * x + 2 * (i %/% 1334))),
  stays = function() simulated(function(x, i) sin(2 * x))
)

# Returns log predictive densities of the halves, a row, and CPU seconds.
halves <- function(set, ...) {
  n <- nrow(set$data)
  first <- seq_len(n %/% 2)
  seconds <- system.time({
    fit <- sparsegp(y ~ x, set$data[first, ], kernel = set$kernel,
                    likelihood = lik_gaussian(transform = "identity"),
                    method = method_online(pilot = set$pilot, ...))
    before <- c(logLik(fit))
    fit <- update(fit, set$data[-first, ])
  })
  c(before / length(first), (c(logLik(fit)) - before) / (n - length(first)),
    sum(seconds[1:2]))
}

# Returns the half-life that the first half of the stream prefers, and what it gives.
best_of <- function(set, argument) {
  found <- vapply(HALF_LIVES, function(half_life) {
    do.call(halves, c(list(set), stats::setNames(list(half_life), argument)))
  }, numeric(3))
  at <- which.max(found[1L, ])
  list(half_life = HALF_LIVES[at], second = found[2L, at], seconds = found[3L, at])
}

CAPTION <- "Log predictive density in the second half of a stream, nats a row"
for (name in names(SETS)) {
  set <- SETS[[name]]()
  plain <- halves(set)
  forget <- best_of(set, "forget")
  drift <- best_of(set, "drift")
  bench_row(CAPTION, stream = name, rows = nrow(set$data), neither = plain[2L],
            forget = forget$second, drift = drift$second, "half-life, forget" = forget$half_life,
            "half-life, drift" = drift$half_life, "s, neither" = plain[3L],
            "s, forget" = forget$seconds, "s, drift" = drift$seconds)
}
bench_table(bench_found$tables[[CAPTION]], CAPTION)
