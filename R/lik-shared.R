# Defines what several likelihoods have in common: two classes, several, counts, a scale of noise.

# ---- Two classes ----

# Returns what is known of a bias that starts where it and the mean offset give start(rows), and
# whose default prior does not mind a constant in the offset.
bias_of_odds <- function(start) {
  list(argument = "bias", log = FALSE, unit_power = 0,
       start = function(rows, offset) start(rows) - mean(offset),
       prior = function(unit, offset) prior_normal(-mean(offset), 5))
}

# Two classes: rows are -1 and 1. The bias starts at the classes' frequencies.
binary_traits <- function(inverse_link, link) {
  c(lik_code("labels"), lik_hyper(
    about = list(bias = bias_of_odds(function(rows) {
      link((sum(rows > 0) + 0.5) / (length(rows) + 1))
    }))
  ), lik_sample(
    draw = function(f, value, weights) {
      ifelse(stats::runif(length(f)) < inverse_link(f + value[["bias"]]), 1, -1)
    }
  ))
}

# ---- Several classes ----

# Several classes: rows are 1..C. There is a bias per class: hyperparameters, offset and draw()'s f
# have a column or an entry for each, and value[["bias"]] of the other traits is all of value here.
# Only differences of biases matter; they start centred, where they alone give the classes'
# frequencies (nearly), and the default prior holds their mean there.
class_traits <- function(link, noise) {
  c(lik_code(
    response = "classes", weighted = FALSE,
    data_rows = function(y, weights) rbind(as.double(y))
  ), lik_hyper(
    about = list(bias = list(
      argument = "bias", log = FALSE, unit_power = 0,
      start = function(rows, offset, classes = max(rows)) {
        start <- link((tabulate(rows, classes) + 0.5) / (length(rows) + 0.5 * classes))
        start - mean(start)
      },
      prior = function(unit, offset) prior_normal(0, 5)
    ))
  ), lik_sample(
    draw = function(f, value, weights) {
      f <- rbind(f) # one row may come as a vector
      v <- f + rep(value, each = nrow(f)) + noise(length(f))
      max.col(v, "first")
    }
  ))
}

# coupled: NULL leaves it to the fit (strategy-coupled.R)
new_class_likelihood <- function(type, bias, shared, coupled) {
  lik <- new_likelihood(type, list(bias = bias))
  if (!check_flag(shared, "shared")) lik$shared <- FALSE
  if (!is.null(coupled)) lik$coupled <- check_flag(coupled, "coupled")
  refuse_if(isTRUE(coupled) && !shared, "coupled", "= TRUE is for classes that share a kernel",
            "Use shared = TRUE")
  lik
}

# ---- Counts, and numbers with a scale of noise ----

# Counts: rows are as given. The bias starts where it and the offset give their sum.
log_rate_bias <- list(
  argument = "bias", log = FALSE, unit_power = 0,
  start = function(rows, offset) {
    weights <- count_weights(rows)
    log(sum(weights * rows[1L, ]) + 0.5) - max(offset) -
      log(sum(weights * exp(offset - max(offset))))
  },
  prior = function(unit, offset) prior_normal(-mean(offset), 10)
)

# The count, and minus its weight
count_rows <- function(y, weights = 1) {
  rbind(as.double(y), -rep_len(weights, length(y)), deparse.level = 0L)
}

# As sg_count_weight() (lik.h) has them
count_weights <- function(rows) ifelse(rows[2L, ] < 0, -rows[2L, ], 1)

# A rule for sums over all counts (`outcomes`, lik-contract.R) under a rate whose logarithm is
# N(eta, var), times a gamma variable of mean 1 and that shape: the whole numbers while they are
# few, and beyond an integral along their logarithms. A smooth step leads from one to the other, by
# which both are right to rounding; steps are 0.7 of what is narrowest, where the trapezoid rule is.
# Beyond 1e8, where terms of log p are too large for their difference to be one, the rates are those
# of that count times a unit: counts there vary, relative to their rate, as that one does.
count_outcomes <- function(eta, var, shape = Inf) {
  LAST <- 127
  VAST <- 1e8
  REACH <- 8.5
  TAIL <- 1e-16
  STEP <- list(at = 64, width = 6)
  gamma <- function(p) if (is.finite(shape)) pmax(stats::qgamma(p, shape) / shape, TAIL) else 1
  sd <- sqrt(var)
  unit <- function(count) pmax(count / VAST, 1)
  noise <- function(rate) sqrt(rate * unit(rate))
  least <- exp(pmin(eta - REACH * sd, 300)) * gamma(TAIL)
  most <- exp(pmin(eta + REACH * sd, 300)) * gamma(1 - TAIL)
  from <- log(pmax(least - 9 * noise(least), STEP$at - 8 * STEP$width))
  to <- pmax(log(most + 9 * noise(most) + 40), from)
  narrow <- pmin(sqrt(var + pmax(exp(-to), 1 / VAST) + 1 / shape),
                 ifelse(from < log(LAST), STEP$width / STEP$at, Inf))
  few <- outer(rep(1, length(eta)), 0:LAST)
  above <- max(ceiling((to - from) / (0.7 * narrow)), 1)
  dv <- (to - from) / above
  many <- exp(from + outer(dv, 0:above))
  by_step <- function(y, up) stats::pnorm((y - STEP$at) / STEP$width, lower.tail = up)
  units <- unit(many)
  list(y = cbind(few, many / units), log_unit = cbind(0 * few, log(units)),
       size = cbind(by_step(few, FALSE), many * dv * by_step(many, TRUE)))
}

# Such a rule for integrals over numbers about `mean`, of a likelihood of that scale or more: to
# either side along the logarithm of the distance, as long tails and a corner at the mean require.
number_outcomes <- function(mean, var, scale) {
  STEP <- 0.25
  v <- seq(-18, 12, by = STEP)
  away <- outer(sqrt(var + scale^2), exp(v))
  list(y = cbind(mean - away, mean + away), size = cbind(away, away) * STEP)
}

# A scale of noise, in units of the response. It starts where the Gaussian's standard deviation
# does, and its search ends where that of noise near none does, at 1e-4 of the response's standard
# deviation: beside a smooth function with outliers a smaller scale would gain evidence without end.
noise_scale <- list(
  argument = "scale", log = TRUE, unit_power = 1, start = function(rows, offset) log(0.22),
  reach = log(0.22 / 1e-4),
  prior = function(unit, offset) default_lognormal(-1.35, 1)(unit)
)

# Its square, of normal noise
noise_variance <- list(
  argument = "variance", log = TRUE, unit_power = 2, start = function(rows, offset) log(0.1),
  prior = function(unit, offset) default_lognormal(-2, 2)(unit)
)

# The same of a response that is nearly a function of its inputs, as the result of a computer
# experiment is: a standard deviation of some 0.003 of the response's. The search, which stays
# within BOX of the start, ends at 1e-4 of it, where a factorisation keeps half of its digits.
noise_near_none <- utils::modifyList(noise_variance, list(
  start = function(rows, offset) -8,
  prior = function(unit, offset) default_lognormal(-12, 3)(unit)
))
