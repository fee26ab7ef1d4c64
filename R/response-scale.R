# Scales of a response: monotone functions g, on whose values noise has the likelihood's form. A
# table of functions; what a scale knows of a response is plain numbers, its record:
#   value    of the parameter, if it has one: the exponent of Box and Cox, the scale of asinh
#   middle   of the responses it was read off: their geometric mean (Box and Cox), or what they are
#            drawn in to (asinh)
#   spread   their interquartile range in units of a normal distribution's standard deviation
#   least    the smallest positive one
# Each entry has
#   called   the scale in words
#   wrong    (y) -> what is wrong with these numbers, or NULL
#   to, from     (y, s), (z, s): g and its inverse, s a record. Beyond its domain g is infinite,
#            beyond its range the inverse is the bound of its domain
#   log_slope    (y, s) -> log g'(y)
#   d_to, d_log_slope   (y, s) -> derivatives of both in the parameter, of scales that have one
#   middle, start   (y), (spread) -> the middle, and where the search for the parameter starts
#   tails        how many of the inverse's ends grow as fast as exp() or faster; none: left out
SCALES <- list(
  log = list(
    called = "the log scale",
    wrong = function(y) if (any(y <= 0)) "has values of 0 or less, which have no logarithm",
    to = function(y, s) log(pmax(y, 0)), from = function(z, s) exp(z),
    log_slope = function(y, s) -log(y), tails = 1L
  ),
  # At 0 the slope is infinite: there it is that of the chord to the smallest positive response, as
  # if 0 said that a response is less than that.
  sqrt = list(
    called = "the square-root scale",
    wrong = function(y) if (any(y < 0)) "has values below 0, which have no square root",
    to = function(y, s) ifelse(y < 0, -Inf, sqrt(pmax(y, 0))), from = function(z, s) pmax(z, 0)^2,
    log_slope = function(y, s) {
      ifelse(y > 0, -log(2) - log(y) / 2, -log(s[["least"]]) / 2)
    }
  ),
  # In units of the geometric mean, so that the unit of the response changes nothing.
  boxcox = list(
    called = "the Box-Cox scale",
    middle = function(y) exp(mean(log(y))),
    start = function(spread) 0.5, # half way from the logarithm to the identity
    wrong = function(y) if (any(y <= 0)) "has values of 0 or less, which Box and Cox's scale lacks",
    to = function(y, s) {
      v <- log(pmax(y, 0)) - log(s[["middle"]])
      ifelse(y <= 0, -Inf, v * exprel(s[["value"]] * v))
    },
    from = function(z, s) {
      grown <- pmax(s[["value"]] * z, -1)
      s[["middle"]] * exp(ifelse(abs(grown) < 1e-300, z, log1p(grown) / s[["value"]]))
    },
    log_slope = function(y, s) {
      v <- log(y) - log(s[["middle"]])
      (s[["value"]] - 1) * v - log(s[["middle"]])
    },
    d_to = function(y, s) {
      v <- log(y) - log(s[["middle"]])
      v^2 * d_exprel(s[["value"]] * v)
    },
    d_log_slope = function(y, s) log(y) - log(s[["middle"]]), tails = 1L
  ),
  logit = list(
    called = "the logit scale",
    wrong = function(y) if (any(y <= 0 | y >= 1)) "has values that are not between 0 and 1",
    to = function(y, s) stats::qlogis(pmin(pmax(y, 0), 1)), from = function(z, s) stats::plogis(z),
    log_slope = function(y, s) -log(y) - log1p(-y)
  ),
  asinh = list(
    called = "the asinh scale", wrong = function(y) NULL, middle = function(y) drawn_to(y),
    start = function(spread) spread, # half of the responses lie where it is nearly straight
    to = function(y, s) asinh(y / s[["value"]] - s[["middle"]] / s[["value"]]),
    from = function(z, s) s[["middle"]] + s[["value"]] * sinh(z),
    log_slope = function(y, s) {
      z <- abs(asinh(y / s[["value"]] - s[["middle"]] / s[["value"]]))
      log(2) - z - log1p(exp(-2 * z)) - log(s[["value"]]) # 1 / cosh
    },
    d_to = function(y, s) {
      -tanh(asinh(y / s[["value"]] - s[["middle"]] / s[["value"]])) / s[["value"]]
    },
    d_log_slope = function(y, s) {
      (tanh(asinh(y / s[["value"]] - s[["middle"]] / s[["value"]]))^2 - 1) / s[["value"]]
    },
    tails = 2L
  )
)

# (exp(u) - 1) / u and its derivative, by series where they cancel.
exprel <- function(u) ifelse(abs(u) < 1e-5, 1 + u / 2 + u^2 / 6, expm1(u) / u)

d_exprel <- function(u) {
  ifelse(abs(u) < 1e-2, 1 / 2 + u / 3 + u^2 / 8 + u^3 / 30 + u^4 / 144,
         (exp(u) * (u - 1) + 1) / u^2)
}

# Returns the record of a scale, read off responses. value: of the parameter, where it is given.
scale_record <- function(name, y, value = NULL) {
  positive <- y[y > 0]
  quarters <- stats::quantile(y, c(0.25, 0.75), names = FALSE)
  spread <- (quarters[2L] - quarters[1L]) / diff(stats::qnorm(c(0.25, 0.75)))
  if (!is.finite(spread) || spread <= 0) spread <- max(abs(y - stats::median(y)), 0)
  if (spread == 0) spread <- 1
  scale <- SCALES[[name]]
  c(value = value %||% if (has_parameter(name)) scale$start(spread) else 1,
    middle = if (has_parameter(name)) scale$middle(y) else 1, spread = spread,
    least = if (length(positive)) min(positive) else 1)
}

is_scale_record <- function(x) {
  identical(names(x), c("value", "middle", "spread", "least")) && are_finite(x) &&
    all(x[c("value", "spread", "least")] > 0)
}

# Is a parameter of the scale to be learned or given? Others are fixed functions.
has_parameter <- function(name) !is.null(SCALES[[name]]$d_to)

# ---- Which of them make sense ----

# Returns the scales that make sense for responses of numbers, by name, identity first: powers and
# the logarithm where all are positive, logit where all lie between 0 and 1, asinh where both tails
# are heavy, or one is and not all are positive. The density of a 0 on the square-root scale depends
# on the smallest positive response, so that scale is not compared with others where there is a 0.
response_scales <- function(y) {
  y <- y[is.finite(y)]
  if (length(unique(y)) < 3L) return("identity")
  positive <- all(y > 0)
  heavy <- heavy_tails(y)
  c("identity", if (positive) c("sqrt", "log", "boxcox"), if (positive && all(y < 1)) "logit",
    if (all(heavy) || !positive && any(heavy) && !ends_tied(y)) "asinh")
}

# Returns those scales whose domain a next response may well lie outside of: where all are multiples
# of the smallest, as counts are, a next one may be 0, and proportions may be 1.
scales_at_risk <- function(y) {
  y <- y[is.finite(y)]
  are_multiples <- function(x) {
    ROUNDING <- 1e-6
    ratio <- x / min(x)
    all(abs(ratio - round(ratio)) < ROUNDING * ratio)
  }
  if (any(y <= 0)) return(character())
  ends <- c(are_multiples(y), all(y < 1) && are_multiples(1 - y))
  c("log", "boxcox", "logit")[c(ends[1L], ends[1L], any(ends))]
}

# Returns whether the lower and the upper tail are heavy: by how far the outer quantile is from the
# median, in units of the quartile on its side; 3.4 of a normal distribution.
heavy_tails <- function(y) {
  at <- stats::quantile(y, c(0.01, 0.25, 0.5, 0.75, 0.99), names = FALSE)
  far <- c(at[3L] - at[1L], at[5L] - at[3L])
  near <- c(at[3L] - at[2L], at[4L] - at[3L])
  near > 0 & far > policy$heavy_tail_ratio * near
}

# Returns the value that asinh draws responses in to: the median, or if only one tail is heavy the
# end of the other one, so that the scale is about the logarithm of the distance to this.
drawn_to <- function(y) {
  heavy <- heavy_tails(y)
  stats::quantile(y, if (heavy[1L] == heavy[2L]) 0.5 else if (heavy[1L]) 0.99 else 0.01,
                  names = FALSE)
}

# Are many responses the same at an end, as zeros may be? A scale that is steep there would give
# them any density, and others none.
ends_tied <- function(y) {
  at <- stats::quantile(y, c(0.01, 0.05, 0.95, 0.99), names = FALSE)
  at[1L] == at[2L] || at[3L] == at[4L]
}
