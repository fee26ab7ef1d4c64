# Plain twins of src/expect.c: distribution functions and quantiles of new responses, by dense sums
# over the latent function and by bisection.

# By type: the distribution function of a response given f, (y, f, v, weight, lower), which is
# averaged over f; or that under N(mean, var) itself, (y, mean, var, v, weight, lower).
REFERENCE_GIVEN <- list(
  poisson = function(y, f, v, weight, lower) {
    stats::ppois(y, exp(f + v$bias), lower.tail = lower)
  },
  negbin = function(y, f, v, weight, lower) {
    stats::pnbinom(y, v$size, mu = exp(f + v$bias), lower.tail = lower)
  },
  binomial = function(y, f, v, weight, lower) {
    stats::pbinom(y, weight, stats::plogis(f + v$bias), lower.tail = lower)
  },
  gamma = function(y, f, v, weight, lower) {
    stats::pgamma(y, v$gamma_shape, v$gamma_shape / exp(f + v$bias), lower.tail = lower)
  },
  beta = function(y, f, v, weight, lower) {
    stats::pbeta(y, v$precision * stats::plogis(f + v$bias),
                 v$precision * stats::plogis(-f - v$bias), lower.tail = lower)
  },
  zip = function(y, f, v, weight, lower) reference_excess_cdf("poisson", y, f, v, lower),
  zinb = function(y, f, v, weight, lower) reference_excess_cdf("negbin", y, f, v, lower),
  hurdle_poisson = function(y, f, v, weight, lower) {
    reference_hurdle_cdf("poisson", y, f, v, lower)
  },
  hurdle_negbin = function(y, f, v, weight, lower) reference_hurdle_cdf("negbin", y, f, v, lower),
  student = function(y, f, v, weight, lower) {
    stats::pt((y - f) / v$scale, v$df, lower.tail = lower)
  },
  weibull = function(y, f, v, weight, lower) {
    stats::pweibull(exp(y), 1 / v$scale, exp(f), lower.tail = lower)
  },
  loglogistic = function(y, f, v, weight, lower) {
    stats::plogis(y, f, v$scale, lower.tail = lower)
  }
)

# With excess zeros, and with a hurdle before the counts of a `part` that are not 0.
reference_excess_cdf <- function(part, y, f, v, lower) {
  if (y < 0) return(0 * f + !lower)
  (if (lower) v$zero else 0) + (1 - v$zero) * REFERENCE_GIVEN[[part]](y, f, v, 1, lower)
}

reference_hurdle_cdf <- function(part, y, f, v, lower) {
  given <- function(y) REFERENCE_GIVEN[[part]](y, f, v, 1, FALSE)
  above <- if (y < 0) 0 * f + 1 else (1 - v$zero) * given(y) / given(0)
  if (lower) 1 - above else above
}

REFERENCE_MIXED <- list(
  lognormal = function(y, mean, var, v, weight, lower) {
    stats::pnorm(y, mean, sqrt(var + v$scale^2), lower.tail = lower)
  },
  gaussian = function(y, mean, var, v, weight, lower) {
    stats::pnorm(y, mean, sqrt(var + v$noise / weight), lower.tail = lower)
  },
  laplace = function(y, mean, var, v, weight, lower) {
    reference_laplace_cdf(if (lower) y - mean else mean - y, sqrt(var), v$scale)
  },
  ordinal = function(y, mean, var, v, weight, lower) {
    cut <- c(-Inf, cumsum(unlist(v)), Inf)[pmin(pmax(y, 0), length(v) + 1) + 1]
    stats::pnorm((cut - mean) / sqrt(1 + var), lower.tail = lower)
  },
  density = function(y, mean, var, v, weight, lower) {
    z <- (c(-1, 1) * sqrt(y) - mean) / sqrt(var)
    if (lower) diff(stats::pnorm(z)) else stats::pnorm(z[1L]) + stats::pnorm(-z[2L])
  }
)

# Normal plus Laplace noise: distribution function at r from the mean. Half a tail is
# exp(r / scale + (sd / scale)^2 / 2) Phi(-a), a = r / sd + sd / scale; for a > 0 squares
# cancel.
reference_laplace_cdf <- function(r, sd, scale) {
  sd <- pmax(sd, 1e-9 * scale)
  tail <- function(r) {
    a <- r / sd + sd / scale
    far <- r / scale + (sd / scale)^2 / 2 + stats::pnorm(-a, log.p = TRUE)
    0.5 * exp(ifelse(a > 0, reference_log_mills(pmax(a, 0)) - (r / sd)^2 / 2, far))
  }
  stats::pnorm(r / sd) + tail(r) - tail(-r)
}

# log(Phi(-a) exp(a^2 / 2)) for a >= 0
reference_log_mills <- function(a) {
  ifelse(a < 1000, stats::pnorm(-a, log.p = TRUE) + a^2 / 2,
         -log(a) - log1p(1 / a^2) - log(2 * pi) / 2) # to 1e-12
}

# Mean of fun(t) over t ~ N(0, 1) by the trapezoid rule, which is exact to rounding once its steps
# are shorter than a quarter of what is smooth, of which there are `sharpest` to a unit.
reference_mean <- function(fun, sharpest) {
  REACH <- 8.5
  half <- ceiling(4 * REACH * max(sharpest, 1))
  t <- REACH * seq(-1, 1, length.out = 2 * half + 1)
  w <- stats::dnorm(t)
  sum(w * fun(t)) / sum(w)
}

# The distribution function of one response; width: over which of f it moves.
reference_cdf <- function(type, y, mean, var, v, weight = 1, lower = TRUE, width = 0.1) {
  if (!is.null(REFERENCE_MIXED[[type]])) {
    return(REFERENCE_MIXED[[type]](y, mean, var, v, weight, lower))
  }
  sd <- sqrt(var)
  given <- REFERENCE_GIVEN[[type]]
  reference_mean(function(t) given(y, mean + sd * t, v, weight, lower), sd / width)
}

# Of a spread: given its logarithm g the response is normal. S: the covariance of mean and g.
reference_spread_cdf <- function(y, mean, S, v, lower = TRUE) {
  sd <- sqrt(S[4L])
  slope <- if (sd > 0) S[2L] / sd else 0
  reference_mean(function(t) {
    total <- max(S[1L] - slope^2, 0) + v$noise * exp(2 * (mean[2L] + sd * t))
    stats::pnorm(y, mean[1L] + slope * t, sqrt(total), lower.tail = lower)
  }, 50)
}

# Where an increasing function crosses 0, by bisection from a bracket that is widened.
reference_root <- function(fun, low, high) {
  while (fun(low) >= 0) low <- low - 2 * (high - low)
  while (fun(high) < 0) high <- high + 2 * (high - low)
  for (i in 1:100) {
    at <- (low + high) / 2
    if (fun(at) >= 0) high <- at else low <- at
  }
  (low + high) / 2
}

# Quantiles and tails as R has them of C, of responses under N(mean, var); value: named, in C's
# units, as data_rows() and C's theta have them.
response_entry <- function(entry, lik, theta, y, mean, var, weights, ...) {
  w <- if (is.matrix(mean)) ncol(mean) else 1L
  rows <- lik_traits(lik)$data_rows(y, rep_len(weights, length(y)))
  entry(c_lik(lik, theta, w), theta, rows, stacked_values(mean), as.double(var), ...)
}

response_tails_at <- function(lik, theta, y, mean, var, weights = 1) {
  response_entry(engine_lik_tails, lik, theta, y, mean, var, weights)
}

response_quantile_at <- function(lik, theta, p, mean, var, weights = 1) {
  n <- NROW(mean)
  weights <- rep_len(weights, n)
  unit <- if (lik_codec(lik)$trials) 1 / weights else 1
  unit * response_entry(engine_lik_quantile, lik, theta, numeric(n), mean, var, weights, p)
}

# Returns the value of code that draws, into nothing.
drawing <- function(code) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  force(code)
}
