# Plain R definitions that the C code must reproduce: slow, short, and written from the papers, not
# from the C code. A new kernel or likelihood adds one entry to REFERENCE_KERNELS or
# REFERENCE_LIKELIHOODS, under the name that C's catalogue gives it; the contract tests do the rest.

# ---- Kernels ----

# One pair of inputs x, z (vectors of the p inputs the kernel sees). v: list of hyperparameters on
# the natural scale by the names of the R constructor. A composite gets its parts' values instead.
REFERENCE_KERNELS <- list(
  rbf = function(x, z, v, kernel) v$variance * exp(-distance(x, z, v, kernel)^2 / 2),
  matern12 = function(x, z, v, kernel) v$variance * exp(-distance(x, z, v, kernel)),
  matern32 = function(x, z, v, kernel) {
    s <- sqrt(3) * distance(x, z, v, kernel)
    v$variance * (1 + s) * exp(-s)
  },
  matern52 = function(x, z, v, kernel) {
    s <- sqrt(5) * distance(x, z, v, kernel)
    v$variance * (1 + s + s^2 / 3) * exp(-s)
  },
  rq = function(x, z, v, kernel) {
    v$variance * (1 + distance(x, z, v, kernel)^2 / (2 * v$shape))^-v$shape
  },
  linear = function(x, z, v, kernel) sum(v$variance * products(x, z, kernel)),
  poly = function(x, z, v, kernel) {
    v$variance * (1 + sum(products(x, z, kernel)) / (length(x) * v$lengthscale))^kernel$degree
  },
  constant = function(x, z, v, kernel) v$variance,
  periodic = function(x, z, v, kernel) {
    v$variance * exp(-2 * sin(pi * (x - z) / v$period)^2 / v$lengthscale^2)
  },
  trig = function(x, z, v, kernel) { # thesis 5.29, the sign mended
    t <- (x - z) / v$period
    k0 <- kernel$degree
    if (abs(t - round(t)) < 1e-9) return(v$variance * (2 * k0 + 1))
    v$variance * (cos(2 * pi * k0 * t) + sin(2 * pi * k0 * t) / tan(pi * t))
  },
  factor = function(x, z, v, kernel) v$variance * all(abs(x - z) <= 1e-10),
  # one that is written in R is taken at a pair of points
  custom = function(x, z, v, kernel) {
    v$variance * drop(kernel$custom$fun(rbind(x), rbind(z), unlist(v[kernel$custom$names])))
  },
  sum = function(parts) sum(parts),
  product = function(parts) prod(parts),
  divfree = function(x, z, theta, kernel) reference_field(x, z, theta, kernel),
  curlfree = function(x, z, theta, kernel) reference_field(x, z, theta, kernel),
  coregion = function(x, z, v, kernel) coregion_matrix(v, kernel$degree)[x, z]
)

# Of a factor two levels are at squared distance kernel$levels; as indicators, each with half of it
# for its square, they have inner products of half of it within a level and 0 between levels.
distance <- function(x, z, v, kernel) {
  apart <- ifelse(kernel$levels > 0, sqrt(kernel$levels) * (x != z), x - z)
  sqrt(sum((apart / v$lengthscale)^2))
}

products <- function(x, z, kernel) {
  ifelse(kernel$levels > 0, kernel$levels / 2 * (x == z), x * z)
}

# Hyperparameters a resolved kernel has, in C's order.
kernel_theta_length <- function(kernel) {
  if (length(kernel$parts)) return(sum(vapply(kernel$parts, kernel_theta_length, 0)))
  sum(kernel_sizes(kernel))
}

# How many values a leaf has of each hyperparameter
kernel_sizes <- function(kernel) {
  if (kernel$type == "coregion") {
    w <- kernel$degree[["components"]]
    return(c(w, sum(w - seq_len(min(kernel$degree[["rank"]], w - 1L)))))
  }
  each <- kernel$ard & names(kernel$params) == kernel$per_input
  ifelse(each, length(kernel$vars), 1)
}

# theta (logarithms, of a correlation z log((1 + z) / (1 - z))) cut up for a leaf: list by name,
# natural scale.
kernel_values <- function(kernel, theta) {
  name <- factor(rep(names(kernel$params), kernel_sizes(kernel)), names(kernel$params))
  split(ifelse(name == "correlation", tanh(theta / 2), exp(theta)), name)
}

# The naive Gram matrix of a resolved kernel between the rows of x and of z.
reference_kernel <- function(kernel, theta, x, z = x) {
  K <- matrix(0, nrow(x), nrow(z))
  for (i in seq_len(nrow(x))) {
    for (j in seq_len(nrow(z))) K[i, j] <- reference_pair(kernel, theta, x[i, ], z[j, ])
  }
  K
}

reference_pair <- function(kernel, theta, x, z) {
  formula <- REFERENCE_KERNELS[[kernel$type]]
  if (kernel$type %in% c("divfree", "curlfree")) return(formula(x, z, theta, kernel))
  if (length(kernel$parts) == 0L) {
    at <- kernel$vars + 1L
    return(formula(x[at], z[at], kernel_values(kernel, theta), kernel))
  }
  parts <- numeric()
  for (part in kernel$parts) {
    mine <- seq_len(kernel_theta_length(part))
    parts <- c(parts, reference_pair(part, theta[mine], x, z))
    theta <- theta[-mine]
  }
  formula(parts)
}

# ---- Likelihoods ----

# Times to an event: log time = f + scale e. A data row is (first bound, second bound, kind, entry):
# the event was at the first (1), after it (0), before it (2), or between both (3), given that it
# was after the entry, of which -1e300 is none. Distributions of e by plain formulas: log density,
# log P(e > z), log P(e <= z).
REFERENCE_ERRORS <- list(
  weibull = list(density = function(z) z - exp(pmin(z, 300)),
                 above = function(z) -exp(pmin(z, 300)),
                 below = function(z) ifelse(z < -30, z, log(-expm1(-exp(pmin(z, 300))))),
                 mean = digamma(1), var = trigamma(1)),
  loglogistic = list(density = function(z) -abs(z) - 2 * log1p(exp(-abs(z))),
                     above = function(z) stats::plogis(-z, log.p = TRUE),
                     below = function(z) stats::plogis(z, log.p = TRUE),
                     mean = 0, var = pi^2 / 3),
  lognormal = list(density = function(z) -z^2 / 2 - log(2 * pi) / 2,
                   above = function(z) stats::pnorm(-z, log.p = TRUE),
                   below = function(z) stats::pnorm(z, log.p = TRUE), mean = 0, var = 1)
)

# log(exp(high) - exp(low)) from the side on which both are small
reference_log_difference <- function(high, low) high + log(-expm1(pmin(low - high, -1e-300)))

reference_times <- function(type) {
  error <- REFERENCE_ERRORS[[type]]
  list(
    logp = function(y, f, v) {
      late <- y[4L] > -1e300
      from <- if (y[3L] == 2 && late) y[4L] else y[1L]
      a <- (from - f) / v$scale
      b <- (y[2L] - f) / v$scale
      between <- function() {
        ifelse(a + b > 0, reference_log_difference(error$above(a), error$above(b)),
               reference_log_difference(error$below(b), error$below(a)))
      }
      out <- if (y[3L] == 1) error$density(a) - log(v$scale)
      else if (y[3L] == 0) error$above(a)
      else if (y[3L] == 2 && !late) error$below(a)
      else between()
      if (late) out - error$above((y[4L] - f) / v$scale) else out
    },
    mean = function(f, v) f + v$scale * error$mean,
    var = function(f, v) rep(v$scale^2 * error$var, length(f)),
    places = function(y, v) unique(c(y[1:2], y[4L][y[4L] > -1e300])),
    rows = cbind(c(0.7, 0.7, 0, -1e300), c(-0.4, -0.4, 2, -1e300), c(-0.2, 1.3, 3, -1e300)),
    log_concave = TRUE,
    ep_error = 0.05 # censored rows of normal errors, too
  )
}

# y: one data row as C sees it; f: vector of latent values; v: hyperparameters on the natural scale.
#   logp         log p(y|f)
#   mean, var    of a new response given f (classes: of 0/1)
#   places       where in f the likelihood has its mode, kinks, jumps or transitions
#   log_concave  is logp concave in f for every y?
#   corner       (y, v) -> where logp has a corner or jumps; left out: nowhere
#   ep_error     how far EP's log evidence of two or three neighbouring rows may be from that of the
#                integral; left out: 0.005, as it is for smooth log-concave ones. More where the
#                tilted distributions are less normal (corners, jumps, outliers), where the
#                posterior is factorised (classes), or where tilts are approximate themselves
#   widest       largest s2 at which a response under N(mu, s2) has moments that are numbers one can
#                integrate for; left out: any
#   tilt         log Z, and its derivatives d1, d2 in mu, under (independent) marginals, where that
#                is not to be the integral of logp in one dimension
# Of several classes: f is a matrix with a column per class, mean and var are such matrices, v$bias
# has an entry per class; tilt stands in place of places.
# zip, zinb: with probability v$zero a count is 0, else it is one of `part`, another entry.
reference_excess <- function(part, widens = TRUE) {
  own <- function(what, ...) REFERENCE_LIKELIHOODS[[part]][[what]](...)
  list(
    logp = function(y, f, v) {
      counted <- log1p(-v$zero) + own("logp", y, f, v)
      if (y[1L] > 0) return(counted)
      top <- pmax(counted, log(v$zero))
      top + log(exp(counted - top) + exp(log(v$zero) - top))
    },
    mean = function(f, v) (1 - v$zero) * own("mean", f, v),
    var = function(f, v) (1 - v$zero) * (own("var", f, v) + v$zero * own("mean", f, v)^2),
    places = function(y, v) c(own("places", y, v), log(-log(v$zero)) - v$bias),
    log_concave = FALSE,
    widens = widens,
    widest = 2
  )
}

# The same where a count is 0 with probability v$zero, and else one of `part` that is not 0.
reference_hurdle <- function(part, log_concave, widens = !log_concave) {
  own <- function(what, ...) REFERENCE_LIKELIHOODS[[part]][[what]](...)
  # log(1 - p0), by what it is where the rate vanishes
  log_positive <- function(f, v) {
    log_p0 <- own("logp", c(0, -1), f, v)
    ifelse(f + v$bias < -200, f + v$bias,
           ifelse(log_p0 > -log(2), log(-expm1(log_p0)), log1p(-exp(log_p0))))
  }
  list(
    logp = function(y, f, v) {
      if (y[1L] == 0) return(log(v$zero) + 0 * f)
      log1p(-v$zero) + own("logp", y, f, v) - log_positive(f, v)
    },
    mean = function(f, v) (1 - v$zero) * own("mean", f, v) / exp(log_positive(f, v)),
    var = function(f, v) {
      positive <- exp(log_positive(f, v))
      one <- own("mean", f, v) / positive
      spread <- own("var", f, v) / positive - exp(own("logp", c(0, -1), f, v)) * one^2
      (1 - v$zero) * (spread + v$zero * one^2)
    },
    places = function(y, v) own("places", y, v),
    log_concave = log_concave,
    widens = widens,
    widest = 2
  )
}

REFERENCE_LIKELIHOODS <- list(
  gaussian = list(
    logp = function(y, f, v) stats::dnorm(y[1L], f, sqrt(v$noise / y[2L]), log = TRUE),
    mean = function(f, v) f,
    var = function(f, v) rep(v$noise, length(f)),
    places = function(y, v) y[1L],
    log_concave = TRUE,
    ep_error = 1e-8
  ),
  probit = list(
    logp = function(y, f, v) stats::pnorm(y * (f + v$bias), log.p = TRUE),
    mean = function(f, v) stats::pnorm(f + v$bias),
    var = function(f, v) stats::pnorm(f + v$bias) * stats::pnorm(-f - v$bias),
    places = function(y, v) -v$bias,
    log_concave = TRUE
  ),
  logit = list(
    logp = function(y, f, v) stats::plogis(y * (f + v$bias), log.p = TRUE),
    mean = function(f, v) stats::plogis(f + v$bias),
    var = function(f, v) stats::plogis(f + v$bias) * stats::plogis(-f - v$bias),
    places = function(y, v) -v$bias,
    log_concave = TRUE
  ),
  mackay = list(
    logp = function(y, f, v) stats::plogis(y * (f + v$bias), log.p = TRUE),
    mean = function(f, v) stats::plogis(f + v$bias),
    var = function(f, v) stats::plogis(f + v$bias) * stats::plogis(-f - v$bias),
    tilt = function(y, mu, s2, v) {
      shrink <- 1 / sqrt(1 + pi * s2 / 8)
      z <- y[[1L]] * shrink * (mu + v$bias)
      list(logz = stats::plogis(z, log.p = TRUE), d1 = y[[1L]] * shrink * stats::plogis(-z),
           d2 = -shrink^2 * stats::plogis(z) * stats::plogis(-z))
    },
    log_concave = TRUE,
    ep_error = 0.03
  ),
  step = list(
    logp = function(y, f, v) log(v$noise + (1 - 2 * v$noise) * (sign(y * f) + 1) / 2),
    mean = function(f, v) v$noise + (1 - 2 * v$noise) * (sign(f) + 1) / 2,
    var = function(f, v) {
      p <- v$noise + (1 - 2 * v$noise) * (sign(f) + 1) / 2
      p * (1 - p)
    },
    places = function(y, v) 0,
    corner = function(y, v) 0,
    log_concave = FALSE,
    ep_error = 0.03
  ),
  flip = list(
    logp = function(y, f, v) log(v$flip + (1 - 2 * v$flip) * stats::pnorm(y * (f + v$bias))),
    mean = function(f, v) v$flip + (1 - 2 * v$flip) * stats::pnorm(f + v$bias),
    var = function(f, v) {
      p <- v$flip + (1 - 2 * v$flip) * stats::pnorm(f + v$bias)
      p * (1 - p)
    },
    places = function(y, v) -v$bias,
    log_concave = FALSE
  ),
  mprobit = list(
    logp = function(y, f, v) {
      apply(rbind(f), 1L, function(f) reference_mprobit(y, f, 0 * f, v)$logz)
    },
    mean = function(f, v) reference_probabilities("mprobit", f, v),
    var = function(f, v) {
      p <- reference_probabilities("mprobit", f, v)
      p * (1 - p)
    },
    tilt = function(y, mu, s2, v) reference_mprobit(y, mu, s2, v),
    log_concave = TRUE,
    ep_error = 0.04
  ),
  softmax = list(
    logp = function(y, f, v) {
      apply(rbind(f), 1L, function(f) {
        m <- f + v$bias
        m[y] - max(m) - log(sum(exp(m - max(m))))
      })
    },
    mean = function(f, v) reference_probabilities("softmax", f, v),
    var = function(f, v) {
      p <- reference_probabilities("softmax", f, v)
      p * (1 - p)
    },
    tilt = function(y, mu, s2, v) reference_softmax(y, mu, s2, v),
    log_concave = TRUE,
    ep_error = 0.04
  ),
  poisson = list(
    # dpois(log = TRUE) itself loses digits far out
    logp = function(y, f, v) { # of as many counts as the weight, -y[2]
      -y[2L] * (y[1L] * (f + v$bias) - exp(pmin(f + v$bias, 300)) - lfactorial(y[1L]))
    },
    mean = function(f, v) exp(f + v$bias),
    var = function(f, v) exp(f + v$bias),
    places = function(y, v) log(max(y[1L], 1)) - v$bias,
    log_concave = TRUE,
    widest = 2
  ),
  negbin = list(
    # gamma functions of moderate sizes alone; the C code must do for all
    logp = function(y, f, v) {
      w <- -y[2L]
      y <- y[1L]
      t <- f + v$bias - log(v$size)
      w * (lgamma(y + v$size) - lgamma(v$size) - lfactorial(y) +
             y * stats::plogis(t, log.p = TRUE) + v$size * stats::plogis(-t, log.p = TRUE))
    },
    mean = function(f, v) exp(f + v$bias),
    var = function(f, v) exp(f + v$bias) + exp(2 * (f + v$bias)) / v$size,
    places = function(y, v) c(log(max(y[1L], 1)), log(v$size)) - v$bias,
    log_concave = TRUE,
    widest = 2
  ),
  binomial = list(
    logp = function(y, f, v) {
      lgamma(y[2L] + 1) - lgamma(y[1L] + 1) - lgamma(y[2L] - y[1L] + 1) +
        y[1L] * stats::plogis(f + v$bias, log.p = TRUE) +
        (y[2L] - y[1L]) * stats::plogis(-f - v$bias, log.p = TRUE)
    },
    mean = function(f, v) stats::plogis(f + v$bias),
    var = function(f, v) stats::plogis(f + v$bias) * stats::plogis(-f - v$bias),
    places = function(y, v) -v$bias,
    log_concave = TRUE
  ),
  ordinal = list(
    logp = function(y, f, v) log_normal_mass(ordinal_bounds(v)[y], ordinal_bounds(v)[y + 1L], f),
    mean = function(f, v) drop(ordinal_probabilities(f, v) %*% seq_len(length(v$gap) + 2L)),
    var = function(f, v) {
      p <- ordinal_probabilities(f, v)
      k <- matrix(seq_len(ncol(p)), nrow(p), ncol(p), byrow = TRUE)
      rowSums(p * (k - drop(p %*% seq_len(ncol(p))))^2)
    },
    places = function(y, v) cumsum(c(v$cut, v$gap)),
    log_concave = TRUE
  ),
  nullcat = list(
    logp = function(y, f, v) {
      first <- stats::pnorm(-f - v$bias - v$width / 2, log.p = TRUE)
      second <- stats::pnorm(f + v$bias - v$width / 2, log.p = TRUE)
      if (y != 0) return(if (y < 0) log1p(-v$missing1) + first else log1p(-v$missing2) + second)
      top <- pmax(first, second)
      top + log(v$missing1 * exp(first - top) + v$missing2 * exp(second - top))
    },
    mean = function(f, v) nullcat_share(f + v$bias, v),
    var = function(f, v) nullcat_share(f + v$bias, v) * nullcat_share(-f - v$bias, v),
    places = function(y, v) -v$bias + c(-0.5, 0, 0.5) * v$width,
    log_concave = FALSE
  ),
  margin = list(
    logp = function(y, f, v) stats::pnorm(y * (f + v$bias) - v$width / 2, log.p = TRUE),
    mean = function(f, v) nullcat_share(f + v$bias, v),
    var = function(f, v) nullcat_share(f + v$bias, v) * nullcat_share(-f - v$bias, v),
    places = function(y, v) -v$bias + c(-0.5, 0, 0.5) * v$width,
    joint = TRUE, # p(y) is with being outside of the margin
    log_concave = TRUE
  ),
  squares = list(
    logp = function(y, f, v) stats::dnorm(y, f + v$bias, sqrt(v$noise), log = TRUE),
    mean = function(f, v) stats::plogis(4 * (f + v$bias)),
    var = function(f, v) stats::plogis(4 * (f + v$bias)) * stats::plogis(-4 * (f + v$bias)),
    places = function(y, v) c(y, 0) - v$bias,
    joint = TRUE, # p(y) is of a number
    log_concave = TRUE,
    ep_error = 1e-8
  ),
  laplace = list(
    logp = function(y, f, v) -abs(y - f) / v$scale - log(2 * v$scale),
    mean = function(f, v) f,
    var = function(f, v) rep(2 * v$scale^2, length(f)),
    places = function(y, v) y,
    corner = function(y, v) y,
    log_concave = TRUE,
    ep_error = 0.01
  ),
  student = list(
    logp = function(y, f, v) {
      q <- (y - f) / (v$scale * sqrt(v$df))
      lgamma((v$df + 1) / 2) - lgamma(v$df / 2) - log(pi * v$df) / 2 - log(v$scale) -
        (v$df + 1) / 2 * ifelse(abs(q) > 1e8, 2 * log(abs(q)), log1p(q^2))
    },
    mean = function(f, v) f,
    var = function(f, v) rep(v$scale^2 * v$df / (v$df - 2), length(f)),
    places = function(y, v) y,
    log_concave = FALSE,
    ep_error = 0.01
  ),
  gamma = list(
    logp = function(y, f, v) {
      k <- v$gamma_shape
      z <- pmin(y[2L] - f - v$bias, 300) # as in C
      k * log(k) - lgamma(k) + k * (z - exp(z)) - y[2L]
    },
    mean = function(f, v) exp(f + v$bias),
    var = function(f, v) exp(2 * (f + v$bias)) / v$gamma_shape,
    places = function(y, v) y[2L] - v$bias,
    log_concave = TRUE,
    widest = 2
  ),
  beta = list(
    # log Gamma(a) as log Gamma(1 + a) - log a, and log a itself where a underflows
    logp = function(y, f, v) {
      log_m <- stats::plogis(f + v$bias, log.p = TRUE)
      log_n <- stats::plogis(-f - v$bias, log.p = TRUE)
      a <- v$precision * exp(log_m)
      b <- v$precision * exp(log_n)
      lgamma(v$precision) - lgamma(1 + a) - lgamma(1 + b) + 2 * log(v$precision) + log_m + log_n +
        (a - 1) * stats::plogis(y[2L], log.p = TRUE) + (b - 1) * stats::plogis(-y[2L], log.p = TRUE)
    },
    mean = function(f, v) stats::plogis(f + v$bias),
    var = function(f, v) {
      stats::plogis(f + v$bias) * stats::plogis(-f - v$bias) / (1 + v$precision)
    },
    places = function(y, v) c(y[2L], 0) - v$bias,
    log_concave = FALSE
  ),
  zip = reference_excess("poisson", widens = FALSE), # in the rows of test-evidence.R
  zinb = reference_excess("negbin"),
  hurdle_poisson = reference_hurdle("poisson", log_concave = TRUE),
  hurdle_negbin = reference_hurdle("negbin", log_concave = FALSE, widens = FALSE), # there

  weibull = reference_times("weibull"),
  loglogistic = reference_times("loglogistic"),
  lognormal = reference_times("lognormal"),
  density = list(
    logp = function(y, f, v) 2 * log(pmax(abs(f), 1e-150)), # the pole is cut off
    mean = function(f, v) f^2,
    var = function(f, v) 0 * f,
    places = function(y, v) 0,
    corner = function(y, v) 0,
    log_concave = FALSE,
    ep_error = 0.5 # of the posterior's two mirror images EP sees one, or one hill over both
  )
)

# Ordered categories: v$cut is the first cut point, v$gap has the gaps after it.
ordinal_bounds <- function(v) c(-Inf, cumsum(c(v$cut, v$gap)), Inf)

# log of Phi(b - f) - Phi(a - f), from the side where both are small
log_normal_mass <- function(a, b, f) {
  flip <- a + b - 2 * f > 0
  low <- stats::pnorm(ifelse(flip, f - b, a - f), log.p = TRUE)
  high <- stats::pnorm(ifelse(flip, f - a, b - f), log.p = TRUE)
  high + log1p(-exp(low - high))
}

ordinal_probabilities <- function(f, v) {
  bounds <- ordinal_bounds(v)
  exp(vapply(seq_len(length(bounds) - 1L), function(y) {
    log_normal_mass(bounds[y], bounds[y + 1L], f)
  }, numeric(length(f))))
}

# Of the two classes beside a null category the one on m's side
nullcat_share <- function(m, v) {
  stats::plogis(stats::pnorm(m - v$width / 2, log.p = TRUE) -
                  stats::pnorm(-m - v$width / 2, log.p = TRUE))
}

# Hyperparameters on the natural scale, by name, from what C takes.
natural_values <- function(lik, theta) {
  about <- lik_traits(lik)$about[names(lik$params)]
  mapply(function(at, theta) {
    range <- hyper_range(at)
    if (at$log) from_search(theta, range[1L], range[2L]) else theta
  }, about, theta)
}

# n x C: exp(log p) of every class
reference_probabilities <- function(type, f, v) {
  logp <- REFERENCE_LIKELIHOODS[[type]]$logp
  exp(vapply(seq_len(ncol(f)), function(y) logp(y, f, v), numeric(nrow(f))))
}

# IVM paper, appendix D: Z is the mean of prod_j Phi((v - m_j) / sd_j) over v ~ N(m_y, sd_y^2).
# d1 and d2 by differentiating the integrand.
reference_mprobit <- function(y, mu, s2, v) {
  m <- mu + v$bias
  sd <- sqrt(1 + s2)
  others <- setdiff(seq_along(m), y)
  z <- function(t, j) (m[y] + sd[y] * t - m[j]) / sd[j]
  hazard <- function(z) {
    exp(stats::dnorm(z, log = TRUE) - stats::pnorm(z, log.p = TRUE))
  }
  of_t <- reference_integral(function(t) {
    Reduce(`+`, lapply(others, function(j) stats::pnorm(z(t, j), log.p = TRUE)))
  }, 0, 1, (m[others] - m[y]) / sd[y])
  d1 <- d2 <- numeric(length(m))
  d1[y] <- of_t$d1 / sd[y]
  d2[y] <- of_t$d2 / sd[y]^2
  for (j in others) {
    h <- of_t$expect(function(t) hazard(z(t, j)))
    second <- of_t$expect(function(t) {
      here <- hazard(z(t, j))
      (here - h)^2 - here * (here + z(t, j))
    })
    d1[j] <- -h / sd[j]
    d2[j] <- second / sd[j]^2
  }
  list(logz = of_t$logz, d1 = d1, d2 = d2)
}

# Softmax is the largest of m_c + normal + Gumbel: Z is the integral over v of y's density times the
# others' distribution functions, and those are integrals over the Gumbel variable (or, where the
# normal is narrow, over it). Trapezoid rules; steps of 1/4 resolve a Gumbel density to 1e-15.
reference_softmax <- function(y, mu, s2, v) {
  m <- mu + v$bias
  step <- 0.25 * sqrt(1 + min(s2)) # what is added makes smoother
  widest <- sqrt(max(s2))
  at <- seq(min(m) - 9 * widest - 5, max(m) + 9 * widest + 45, by = step)
  parts <- lapply(seq_along(m), function(c) gumbel_sum(at - m[c], sqrt(s2[c]), own = c == y))
  log_integrand <- Reduce(`+`, lapply(parts, function(p) log(p$value)))
  w <- exp(log_integrand - max(log_integrand))
  seen <- w > 0
  w <- w[seen] / sum(w)
  first <- vapply(parts, function(p) sum(w * (p$slope / p$value)[seen]), 0)
  second <- vapply(parts, function(p) sum(w * (p$curve / p$value)[seen]), 0)
  list(logz = max(log_integrand) + log(sum(exp(log_integrand - max(log_integrand))) * step),
       d1 = first, d2 = second - first^2)
}

# Distribution function (own: density) at x of a Gumbel plus a normal variable of deviation sd, with
# first and second derivative in -x.
gumbel_sum <- function(x, sd, own) {
  if (sd > 0.5) {
    g <- seq(-4, if (own) 200 else 42, by = 0.25) # y may win by its Gumbel tail alone
    z <- outer(x, g, "-") / sd
    w <- exp(-g - exp(-g)) * 0.25
    phi <- stats::dnorm(z)
    list(value = drop((if (own) phi / sd else stats::pnorm(z)) %*% w),
         slope = drop((if (own) z * phi / sd^2 else -phi / sd) %*% w),
         curve = drop((if (own) (z^2 - 1) * phi / sd^3 else -z * phi / sd^2) %*% w))
  } else {
    n <- seq(-9, 9, by = 0.25)
    z <- outer(x, sd * n, "-")
    w <- stats::dnorm(n) * 0.25
    q <- exp(-z)
    density <- exp(-z - q)
    list(value = drop((if (own) density else exp(-q)) %*% w),
         slope = drop((if (own) density * (1 - q) else -density) %*% w),
         curve = drop((if (own) density * ((1 - q)^2 - q) else density * (q - 1)) %*% w))
  }
}

# ---- Integrals against a Gaussian ----

# Gauss-Legendre on [-1, 1] from the eigenvalues of the Jacobi matrix (Golub and Welsch).
gauss_legendre <- function(n) {
  k <- seq_len(n - 1L)
  jacobi <- matrix(0, n, n)
  jacobi[cbind(k, k + 1L)] <- jacobi[cbind(k + 1L, k)] <- k / sqrt(4 * k^2 - 1)
  e <- eigen(jacobi, symmetric = TRUE)
  list(x = e$values, w = 2 * e$vectors[1L, ]^2)
}

GAUSS_LEGENDRE <- gauss_legendre(20L)

# Nodes and weights of the 20-point rule on every interval of a mesh that doubles away from each
# place: whatever happens near a place, on whatever scale from 1e-9 to 1e9, is resolved.
reference_mesh <- function(places, rule = GAUSS_LEGENDRE) {
  steps <- 2^(-30:30)
  breaks <- sort(unique(c(outer(places, c(-steps, 0, steps), "+"))))
  half <- diff(breaks) / 2
  middle <- breaks[-1L] - half
  list(t = c(outer(rule$x, half) + rep(middle, each = length(rule$x))), w = c(outer(rule$w, half)))
}

# log Z = log of the integral of exp(logp(f)) N(f; mu, s2) over f, and its derivatives d1, d2 in mu
# from the moments of t = (f - mu) / sd; `expect(g)` is the mean of g(f) under the integrand.
# Accurate to about 1e-13 in log Z, 1e-13 / sd in d1, 1e-13 / s2 in d2.
reference_integral <- function(logp, mu, s2, places) {
  sd <- sqrt(s2)
  log_integrand <- function(t) logp(mu + sd * t) - t^2 / 2 - log(2 * pi) / 2
  places <- c(0, (places - mu) / sd)
  first <- reference_mesh(places)$t
  at <- which.max(log_integrand(first))
  around <- first[c(max(at - 1L, 1L), min(at + 1L, length(first)))]
  peak <- stats::optimize(log_integrand, around, maximum = TRUE)$maximum
  mesh <- reference_mesh(c(places, peak))
  values <- log_integrand(mesh$t)
  top <- max(values)
  weight <- mesh$w * exp(values - top)
  total <- sum(weight)
  weight <- weight / total
  shift <- sum(weight * (mesh$t - peak))
  var <- sum(weight * (mesh$t - peak)^2) - shift^2
  expect <- function(g) {
    at <- weight > 0
    sum(weight[at] * g(mu + sd * mesh$t[at]))
  }
  list(logz = top + log(total), d1 = (peak + shift) / sd, d2 = (var - 1) / s2, expect = expect)
}

reference_tilt <- function(type, y, mu, s2, v) {
  lik <- REFERENCE_LIKELIHOODS[[type]]
  if (!is.null(lik$tilt)) return(lik$tilt(y, mu, s2, v))
  reference_integral(function(f) lik$logp(y, f, v), mu, s2, lik$places(y, v))
}

# Mean and variance of a new response under f ~ N(mu, s2), and the variance of its mean. y is any
# data row: it only says where to look.
reference_predict <- function(type, y, mu, s2, v) {
  lik <- REFERENCE_LIKELIHOODS[[type]]
  if (!is.null(lik$tilt)) {
    p <- vapply(seq_along(mu), function(y) exp(lik$tilt(y, mu, s2, v)$logz), 0)
    return(list(mean = p, var = p * (1 - p)))
  }
  expect <- reference_integral(function(f) 0 * f, mu, s2, lik$places(y, v))$expect
  mean <- expect(function(f) lik$mean(f, v))
  spread <- expect(function(f) (lik$mean(f, v) - mean)^2)
  list(mean = mean, var = expect(function(f) lik$var(f, v)) + spread, spread = spread)
}

# ---- Likelihoods of several values of a process at once ----

# y: one data row; f: a matrix with a row per place and w columns; theta on C's scale.
#   logp         log p(y|f), for every row of f
#   mean, var    of a new response given one f: w numbers, w x w
#   theta        (w) hyperparameters to try, a list by name
#   row          (w) a data row to try
#   width, tilt  where there is but one width, and another rule for log Z
# log Z is had from logp by a product rule, which asks that p be no narrower than a marginal of
# covariance around I.
REFERENCE_WIDE <- list(
  mvnormal = list(
    logp = function(y, f, theta) {
      Sigma <- mvnormal_covariance(theta, length(y))
      away <- y - t(f)
      -(length(y) * log(2 * pi) + log(det(Sigma)) + colSums(away * solve(Sigma, away))) / 2
    },
    mean = function(f, theta) f,
    var = function(f, theta) mvnormal_covariance(theta, length(f)),
    theta = function(w) list(full = seq(0.5, -0.3, length.out = w * (w + 1) / 2),
                             diagonal = seq(0.4, -0.2, length.out = w), spherical = 0.3),
    row = function(w) seq(-1, 1.5, length.out = w)
  ),
  # tilts are those of EP (reference_coupled()), with every other node: six digits; their d2 are not
  # quite the derivatives of d1
  coupled_mprobit = list(
    width = 2:3, tolerance = 1e-4, bends = 0.02,
    logp = function(y, f, theta) reference_class_logp("mprobit", y, f, theta),
    mean = function(f, theta) reference_class_prob("mprobit", f, theta),
    var = function(f, theta) reference_class_var("mprobit", f, theta),
    theta = function(w) list(biases = seq(0.3, -0.2, length.out = w)), row = function(w) 2
  ),
  coupled_softmax = list(
    width = 2L, tolerance = 1e-4, bends = 0.02,
    logp = function(y, f, theta) reference_class_logp("softmax", y, f, theta),
    mean = function(f, theta) reference_class_prob("softmax", f, theta),
    var = function(f, theta) reference_class_var("softmax", f, theta),
    theta = function(w) list(biases = seq(0.3, -0.2, length.out = w)), row = function(w) 2
  ),
  # two values, whatever w: the mean, and the logarithm of the errors' size
  heteroscedastic = list(
    width = 2L,
    logp = function(y, f, theta) stats::dnorm(y, f[, 1L], exp(theta / 2 + f[, 2L]), log = TRUE),
    mean = function(f, theta) f,
    var = function(f, theta) diag(c(exp(theta + 2 * f[2L]), 0)),
    theta = function(w) list(noise = 0.7),
    row = function(w) 1.4,
    # the mean integrated in closed form given the other, that by the trapezoid rule
    tilt = function(y, mu, S, theta) {
      t <- seq(-10, 10, length.out = 4001L)
      g <- mu[2L] + sqrt(S[2L, 2L]) * t
      b <- S[1L, 2L] / S[2L, 2L]
      left <- S[1L, 1L] - b * S[1L, 2L]
      v <- left + exp(theta + 2 * g)
      e <- y - mu[1L] - b * (g - mu[2L])
      r <- stats::dnorm(e, 0, sqrt(v)) * stats::dnorm(t) * (t[2L] - t[1L])
      total <- sum(r)
      r <- r / total
      f <- cbind(mu[1L] + b * (g - mu[2L]) + left / v * e, g)
      mean <- colSums(r * f)
      away <- sweep(f, 2L, mean)
      cov <- crossprod(away, r * away) + diag(c(sum(r * left * exp(theta + 2 * g) / v), 0))
      list(logz = log(total), d1 = solve(S, mean - mu), d2 = solve(S, cov - S) %*% solve(S))
    }
  ),
  # a data row: of each part c, h and the lower triangle of P; sum of exp(c - f'Pf / 2 + h'f). The
  # third is wider than flat along one direction, as one divided by a prior may be.
  mixture = list(
    logp = function(y, f, theta) {
      parts <- matrix(y, ncol = 3L)
      log(rowSums(apply(parts, 2L, function(part) exp(reference_part(part, f)))))
    },
    mean = function(f, theta) f,
    var = function(f, theta) 0 * diag(length(f)),
    theta = function(w) list(without = numeric()),
    row = function(w) {
      at <- lower.tri(diag(w), diag = TRUE)
      P <- diag(c(0.6, 0.9, 0.7)[seq_len(w)], w) + 0.1
      wider <- diag(c(-0.1, 0.3, 0.2)[seq_len(w)], w)
      h <- c(0.8, -0.5, 0.3)[seq_len(w)]
      c(-0.4, h, P[at], -0.7, -h, 0.8 * P[at], -1, 0.2 * h, wider[at])
    }
  )
)

# c - f'P f / 2 + h'f of one part, for every row of f
reference_part <- function(part, f) {
  w <- ncol(f)
  P <- matrix(0, w, w)
  P[lower.tri(P, diag = TRUE)] <- part[-seq_len(1L + w)]
  P <- P + t(P) - diag(diag(P), w)
  part[1L] - rowSums(f * (f %*% P)) / 2 + drop(f %*% part[1L + seq_len(w)])
}

# theta: the log variance of all, those of each, or these and log((1 + z) / (1 - z)) of correlations
mvnormal_covariance <- function(theta, w) {
  if (length(theta) == 1L) theta <- rep(theta, w)
  own <- list(variance = exp(theta[seq_len(w)]), correlation = tanh(theta[-seq_len(w)] / 2))
  coregion_matrix(own, c(w, if (length(theta) > w) w - 1L else 0L))
}

# Nodes and weights of Gauss and Hermite for N(0, 1) (Golub and Welsch)
normal_rule <- function(n) {
  off <- sqrt(seq_len(n - 1L))
  J <- matrix(0, n, n)
  J[cbind(1:(n - 1L), 2:n)] <- J[cbind(2:n, 1:(n - 1L))] <- off
  own <- eigen(J, symmetric = TRUE)
  list(x = own$values, w = own$vectors[1L, ]^2)
}

# At known latent values, of a row each of f, classes are as the factorised likelihoods have them.
reference_class_logp <- function(type, y, f, theta) {
  drop(REFERENCE_LIKELIHOODS[[type]]$logp(y, f, list(bias = theta)))
}

reference_class_prob <- function(type, f, theta) {
  c(REFERENCE_LIKELIHOODS[[type]]$mean(rbind(f), list(bias = theta)))
}

reference_class_var <- function(type, f, theta) {
  p <- reference_class_prob(type, f, theta)
  diag(p) - p %o% p
}

# ---- Coupled classes: nested EP at each value v of the winner, on a plain grid ----

# log E t(z), z ~ N(m, s2), and its derivatives in m, of the winner's factor (own) and the others'.
REFERENCE_FACTORS <- list(
  mprobit = function(own, m, s2) {
    sd <- sqrt(1 + s2)
    if (own) return(c(dnorm(m, 0, sd, log = TRUE), -m / sd^2, -1 / sd^2))
    h <- exp(dnorm(m / sd, log = TRUE) - pnorm(-m / sd, log.p = TRUE))
    c(pnorm(-m / sd, log.p = TRUE), -h / sd, -h * (h - m / sd) / sd^2)
  },
  softmax = function(own, m, s2) { # by the trapezoid rule about the mode
    slope <- function(z) own - exp(z) - (z - m) / s2
    mode <- uniroot(slope, m + c(-1, 1) * (2 + s2 * (1 + exp(min(m, 50)))), tol = 1e-10)$root
    z <- mode + seq(-12, 12, by = 0.05) / sqrt(exp(mode) + 1 / max(s2, 1e-12))
    z <- c(seq(mode - 12 * sqrt(s2), min(z), length.out = 400L), z[-1L])
    value <- own * z - exp(z) + dnorm(z, m, sqrt(s2), log = TRUE)
    width <- diff(z)
    p <- exp(value - max(value)) * (c(width, 0) + c(0, width)) / 2
    mean <- sum(p * z) / sum(p)
    c(max(value) + log(sum(p)), (mean - m) / s2, (sum(p * (z - mean)^2) / sum(p) / s2 - 1) / s2)
  }
)

# EP inside the tilt where v is known: log Z, d1 and d2 in the means m of f + bias - v.
reference_race <- function(factor, y, m, S) {
  w <- length(m)
  tau <- as.double(seq_len(w) == y)
  nu <- numeric(w)
  for (sweep in 1:500) {
    B <- diag(w) + S %*% diag(tau)
    Sigma <- solve(B, S)
    mean <- drop(solve(B, m + S %*% nu))
    s2 <- 1 / (1 / diag(Sigma) - tau)
    at <- s2 * (mean / diag(Sigma) - nu)
    told <- vapply(seq_len(w), function(k) factor(k == y, at[k], s2[k]), numeric(3L))
    now <- -told[3L, ] / (1 + s2 * told[3L, ])
    move <- max(abs(now - tau))
    tau <- now
    nu <- (told[2L, ] - at * told[3L, ]) / (1 + s2 * told[3L, ])
    if (move < 1e-9) break
  }
  B <- diag(w) + S %*% diag(tau)
  mean <- drop(solve(B, m + S %*% nu))
  of_sites <- (2 * at * nu - tau * at^2 + nu^2 * s2) / (1 + tau * s2) / 2 - log1p(tau * s2) / 2
  shift <- nu - tau * m
  joint <- sum(nu * m - tau * m^2 / 2) - log(det(B)) / 2 + sum(shift * solve(B, S %*% shift)) / 2
  list(logz = joint + sum(told[1L, ] - of_sites), d1 = nu - tau * mean,
       d2 = -diag(tau) %*% solve(B))
}

reference_coupled <- function(type) {
  function(y, mu, S, theta) {
    m <- mu + theta
    w <- length(m)
    P <- diag(w) - 1 / w # a shift of all classes has no effect, and the mean variance of the others
    S <- P %*% S %*% P
    S <- S + sum(diag(S)) / (w * (w - 1))
    reach <- 10 * sqrt(max(diag(S)) + 2)
    v <- seq(min(m) - reach, max(m) + reach, by = 0.25)
    each <- lapply(v, function(v) reference_race(REFERENCE_FACTORS[[type]], y, m - v, S))
    logz <- vapply(each, `[[`, 0, "logz")
    weight <- exp(logz - max(logz))
    share <- weight / sum(weight)
    slopes <- vapply(each, `[[`, m, "d1")
    d1 <- drop(slopes %*% share)
    bend <- matrix(vapply(each, function(one) c(one$d2), numeric(length(S))) %*% share, length(m))
    d2 <- bend + slopes %*% (share * t(slopes)) - d1 %o% d1
    list(logz = max(logz) + log(0.25 * sum(weight)), d1 = d1,
         d2 = P %*% d2 %*% P + sum(d2) / (w * (w - 1)) * P)
  }
}

# log Z and its derivatives in mu from the moments of the tilted distribution
reference_wide_tilt <- function(type, y, mu, S, theta, nodes = 50L) {
  w <- length(mu)
  own <- REFERENCE_WIDE[[type]]$tilt
  if (startsWith(type, "coupled_")) own <- reference_coupled(sub("coupled_", "", type))
  if (!is.null(own)) return(own(y, mu, S, theta))
  rule <- normal_rule(nodes)
  z <- as.matrix(expand.grid(rep(list(rule$x), w)))
  weight <- Reduce(`*`, expand.grid(rep(list(rule$w), w)))
  f <- sweep(z %*% chol(S), 2L, mu, `+`)
  p <- weight * exp(REFERENCE_WIDE[[type]]$logp(y, f, theta))
  away <- sweep(f, 2L, mu)
  mean <- colSums(p * away) / sum(p)
  cov <- crossprod(away, p / sum(p) * away) - mean %o% mean
  list(logz = log(sum(p)), d1 = drop(solve(S, mean)), d2 = solve(S, cov - S) %*% solve(S))
}

# ---- Expectation propagation ----

# Plain sequential EP (Minka's formulas 71-88) with explicit inverses, run until no site moves by
# more than tol. tilt(i, mu, s2) gives logz, d1, d2 of row i at a cavity; offset: known prior means.
# K must be well conditioned.
reference_ep <- function(K, tilt, offset = numeric(nrow(K)), tol = 1e-12, sweeps = 1000L) {
  n <- nrow(K)
  tau <- nu <- cav_mean <- cav_var <- logz <- d1 <- d2 <- numeric(n)
  K_inverse <- solve(K)
  for (sweep in seq_len(sweeps)) {
    before <- c(tau, nu)
    for (i in seq_len(n)) {
      Sigma <- solve(K_inverse + diag(tau, n))
      mean <- drop(Sigma %*% nu)
      cav_var[i] <- 1 / (1 / Sigma[i, i] - tau[i])
      cav_mean[i] <- cav_var[i] * (mean[i] / Sigma[i, i] - nu[i])
      z <- tilt(i, cav_mean[i] + offset[i], cav_var[i])
      logz[i] <- z$logz
      d1[i] <- z$d1
      d2[i] <- z$d2
      tau[i] <- -z$d2 / (1 + cav_var[i] * z$d2)
      nu[i] <- (z$d1 - cav_mean[i] * z$d2) / (1 + cav_var[i] * z$d2)
    }
    if (max(abs(c(tau, nu) - before)) <= tol * max(abs(c(tau, nu)))) break
  }
  Sigma <- solve(K_inverse + diag(tau, n))
  mean <- drop(Sigma %*% nu)
  # formulas 16, 87 and 88 without a division by tau: log Z less that of the site in place of the
  # likelihood, both at the cavity
  g <- 1 - tau * diag(Sigma)
  of_sites <- (log(g) - (tau * mean^2 - 2 * mean * nu + diag(Sigma) * nu^2) / g) / 2
  log_det <- as.numeric(determinant(diag(n) + K * rep(tau, each = n))$modulus)
  list(
    tau = tau, nu = nu, mean = mean, var = diag(Sigma), cav_mean = cav_mean,
    cav_var = cav_var, sweeps = sweep,
    log_evidence = sum(logz - of_sites) - log_det / 2 + sum(mean * nu) / 2
  )
}

# The tilt of reference_ep() for a likelihood of the list above; rows: q x n.
reference_ep_tilt <- function(type, rows, v) {
  function(i, mu, s2) reference_tilt(type, rows[, i], mu, s2, v)
}

# Universal kriging (Rasmussen and Williams 2006, section 2.7): moments of the latent function at
# new points under a linear mean of flat prior, its coefficients and their covariance matrix. K[n x
# n] among the rows, k[n x m] with the points, functions of the mean at both, prior: k(x, x).
reference_kriging <- function(K, functions, y, noise, k, at, prior) {
  factor <- chol(K + diag(noise, length(y)))
  seen <- function(b) backsolve(factor, b, transpose = TRUE)
  cov <- solve(crossprod(seen(functions)))
  coef <- drop(cov %*% crossprod(seen(functions), seen(y)))
  left <- at - t(crossprod(seen(functions), seen(k)))
  list(mean = drop(at %*% coef + crossprod(seen(k), seen(y - functions %*% coef))),
       sd = sqrt(prior - colSums(seen(k)^2) + rowSums((left %*% cov) * left)),
       coef = coef, cov = cov)
}

# Exact log evidence with Gaussian noise: the log density of y under N(offset, K + diag(noise)).
reference_gaussian_evidence <- function(K, y, noise, offset = 0) {
  C <- K + diag(noise, nrow(K))
  r <- y - offset
  log_det <- as.numeric(determinant(C)$modulus)
  -0.5 * (length(y) * log(2 * pi) + log_det + sum(r * solve(C, r)))
}

# ---- Functions that drift ----

# The Gaussian process with kernel k(x, x') rho^|u - u'| of inputs and clocks, exactly: moments at
# new inputs at the last clock, and the log evidence. K[n x n] among the rows' inputs, k[n x m]
# with new ones, prior: k(x, x) of these.
reference_drifting <- function(K, clock, rho, y, noise, k, prior) {
  n <- length(y)
  K <- K * rho^abs(outer(clock, clock, "-"))
  k <- k * rho^(clock[n] - clock)
  C <- solve(K + noise * diag(n))
  list(mean = drop(crossprod(k, C %*% y)), var = prior - colSums(k * (C %*% k)),
       logz = reference_gaussian_evidence(K, y, noise))
}

# Mean and covariance of the function's values at d points after rows that each see one of them,
# by assumed-density filtering: before a row the values move, m = rho m, V = rho^2 V + (1 - rho^2)
# K, with the rho of the step from the row before. tilt(i, mu, s2): list(logz, d1, d2).
reference_drifting_filter <- function(K, seen, rho, tilt) {
  g <- list(m = numeric(nrow(K)), V = K, logz = 0)
  for (i in seq_along(seen)) {
    g$m <- rho[i] * g$m
    g$V <- rho[i]^2 * g$V + (1 - rho[i]^2) * K
    at <- seen[i]
    z <- tilt(i, g$m[at], g$V[at, at])
    g$m <- g$m + z$d1 * g$V[, at]
    g$V <- g$V + z$d2 * tcrossprod(g$V[, at])
    g$logz <- g$logz + z$logz
  }
  g
}

# ---- Derivatives ----

# Gradient of f at x by central differences with steps h, h/2, h/4, ..., extrapolated to step 0
# (Richardson): the error is of order h^(2 levels), plus rounding of f times 2^levels / h.
numeric_gradient <- function(f, x, h = 0.005, levels = 4L) {
  slope <- function(k) {
    steps <- h / 2^(seq_len(levels) - 1L)
    table <- vapply(steps, function(step) {
      (f(replace(x, k, x[k] + step)) - f(replace(x, k, x[k] - step))) / (2 * step)
    }, 0)
    for (level in seq_len(levels - 1L)) {
      table <- table[-1L] + diff(table) / (4^level - 1)
    }
    table
  }
  vapply(seq_along(x), slope, 0)
}

# ---- The informative vector machine ----

# Greedy inclusions (IVM paper, Algorithm 1) with the dense covariance. criterion: "information"
# (eq. 5) or "entropy". evidence: log Z of every inclusion given those before it, and of the rest.
reference_ivm <- function(K, tilt, size, criterion) {
  n <- nrow(K)
  mean <- numeric(n)
  out <- list(rows = integer(), tau = numeric(), nu = numeric(), gain = numeric(),
              evidence = numeric())
  included <- 0
  for (step in seq_len(size)) {
    z <- lapply(seq_len(n), function(i) tilt(i, mean[i], K[i, i]))
    d1 <- vapply(z, `[[`, 0, "d1")
    d2 <- vapply(z, `[[`, 0, "d2")
    s2 <- diag(K)
    m <- 1 / (1 + s2 * d2) # paper: 1 + a pi
    moved <- s2 * d1       # h' - h
    gain <- if (criterion == "entropy") log(m) / 2 else (log(m) + 1 / m + moved^2 / s2 - 1) / 2
    gain[out$rows] <- -Inf
    i <- which(gain > max(gain) - 1e-10 * abs(max(gain)))[1L]
    out$rows <- c(out$rows, i)
    out$tau <- c(out$tau, -d2[i] * m[i])
    out$nu <- c(out$nu, (d1[i] - mean[i] * d2[i]) * m[i])
    out$gain <- c(out$gain, gain[i])
    included <- included + z[[i]]$logz
    mean <- mean + d1[i] * K[, i]
    K <- K + d2[i] * outer(K[, i], K[, i])
    rest <- setdiff(seq_len(n), out$rows)
    out$evidence <- c(out$evidence, included +
                        sum(vapply(rest, function(j) tilt(j, mean[j], K[j, j])$logz, 0)))
  }
  c(out, list(mean = mean, var = diag(K)))
}

# phi of an active set (IVM paper eq. 11 and the formulas before it), with the dense posterior.
# rows, tau, nu: the active set; at_hand: all rows that count.
reference_phi <- function(K, tilt, rows, tau, nu, at_hand = seq_len(nrow(K))) {
  C <- K[rows, rows] + diag(1 / tau, length(rows))
  a <- diag(K - K[, rows] %*% solve(C, K[rows, ]))
  h <- drop(K[, rows] %*% solve(C, nu / tau))
  pi <- b <- numeric(nrow(K))
  pi[rows] <- tau
  b[rows] <- nu
  left <- 1 - pi * a
  log_z <- vapply(at_hand, function(i) {
    tilt(i, (h[i] - a[i] * b[i]) / left[i], a[i] / left[i])$logz
  }, 0)
  log_z_site <- (log(left) - (pi * h^2 - 2 * h * b + a * b^2) / left) / 2
  log_det_B <- as.numeric(determinant(C)$modulus) + sum(log(tau))
  -sum(log_z) + sum(log_z_site[rows]) + (log_det_B - sum(h[rows] * nu)) / 2
}

# ---- The sparse online algorithm, in the thesis's own letters ----

# One pass over rows (thesis 3.6): alpha, C, Q by (2.46), (3.5), (3.28) and (3.19-22), scores by
# (3.26), (3.24) and |alpha|/q, and beside them every row's site with its projection c on the basis.
# kernel(a, b): matrix between the rows of a and of b; tilt(i, mu, s2): list(logz, d1, d2).
# projection "kl" or "moment"; frozen: row numbers of a predefined basis, or NULL.
reference_online <- function(kernel, x, tilt, size, projection = "kl", score = "mean",
                             novelty = 1e-6, frozen = NULL) {
  d <- length(frozen)
  points <- x[frozen, , drop = FALSE]
  g <- list(B = frozen, alpha = numeric(d), C = matrix(0, d, d),
            Q = if (d > 0L) solve(kernel(points, points)) else matrix(0, 0, 0),
            c = matrix(0, 0, d), tau = NULL, nu = NULL, logz = 0)
  for (i in seq_len(nrow(x))) {
    k <- drop(kernel(x[g$B, , drop = FALSE], x[i, , drop = FALSE]))
    kk <- drop(kernel(x[i, , drop = FALSE], x[i, , drop = FALSE]))
    e <- drop(g$Q %*% k)
    gamma <- max(kk - sum(k * e), 0)
    mu <- sum(k * g$alpha)
    s2 <- kk + sum(k * (g$C %*% k))
    z <- tilt(i, mu, s2)
    g$logz <- g$logz + z$logz
    whole <- function(g) {
      s <- c(g$C %*% k, 1)
      g$C <- bordered(g$C) + z$d2 * outer(s, s)
      g$alpha <- c(g$alpha, 0) + z$d1 * s
      g$Q <- bordered(g$Q) + outer(c(e, -1), c(e, -1)) / gamma
      D <- 1 + s2 * z$d2
      g$c <- rbind(cbind(g$c, g$c %*% e), c(k, kk))
      g$tau <- c(g$tau, -z$d2 / D)
      g$nu <- c(g$nu, (z$d1 - mu * z$d2) / D)
      g$B <- c(g$B, i)
      g
    }
    least <- NULL
    if (is.null(frozen) && gamma > novelty * kk) {
      grown <- whole(g)
      if (length(grown$B) <= size) {
        g <- grown
        next
      }
      least <- which.min(reference_scores(grown, score))
      if (least <= length(g$B)) {
        g <- reference_remove(grown, least)
        next
      }
    }
    s <- drop(g$C %*% k) + e
    eta <- if (projection == "kl") 1 / (1 + gamma * z$d2) else 1
    g$C <- g$C + z$d2 * eta * outer(s, s)
    g$alpha <- g$alpha + z$d1 * eta * s
    D <- 1 + (if (projection == "kl") s2 else s2 - gamma) * z$d2
    g$c <- rbind(g$c, k)
    g$tau <- c(g$tau, -z$d2 / D)
    g$nu <- c(g$nu, (z$d1 - mu * z$d2) / D)
  }
  g
}

# A row and a column of zeros more
bordered <- function(A) {
  n <- nrow(A)
  out <- matrix(0, n + 1L, n + 1L)
  out[seq_len(n), seq_len(n)] <- A
  out
}

reference_scores <- function(g, score) {
  q <- diag(g$Q)
  E <- diag(g$C) + q
  # (K + C^-1)^-1 = -C + ... has no inverse of C when written with E: Q - Q E^-1 Q
  s <- diag(g$Q - g$Q %*% solve(g$C + g$Q, g$Q))
  switch(score, mean = g$alpha^2 / E, error = abs(g$alpha) / q,
         kl = g$alpha^2 / E - s / q + log1p(diag(g$C) / q))
}

# Thesis (3.19-22), with the sites' projections
reference_remove <- function(g, j) {
  q <- g$Q[-j, j]
  E <- q + g$C[-j, j]
  Ejj <- g$C[j, j] + g$Q[j, j]
  alpha <- g$alpha[-j] - g$alpha[j] * E / Ejj
  C <- g$C[-j, -j] + outer(q, q) / g$Q[j, j] - outer(E, E) / Ejj
  Q <- g$Q[-j, -j] - outer(q, q) / g$Q[j, j]
  utils::modifyList(g, list(alpha = alpha, C = C, Q = Q, c = g$c[, -j, drop = FALSE], B = g$B[-j]))
}

# The same for several latent functions with the kernel matrix K each (IVM paper, 4.2):
# tilt(mean, var) of all rows at n x C marginals. Sets of `size` rows.
reference_ivm_classes <- function(K, C, tilt, size, criterion) {
  n <- nrow(K)
  cov <- rep(list(K), C)
  mean <- matrix(0, n, C)
  used <- matrix(FALSE, n, C)
  out <- list(row = integer(), class = integer(), gain = numeric())
  for (step in seq_len(size * C)) {
    s2 <- sapply(cov, diag)
    z <- tilt(mean, s2)
    m <- 1 / (1 + s2 * z$d2)
    moved <- s2 * z$d1
    gain <- if (criterion == "entropy") log(m) / 2 else (log(m) + 1 / m + moved^2 / s2 - 1) / 2
    gain[used] <- -Inf
    gain[, colSums(used) == size] <- -Inf
    by_row <- t(gain) # ties to the earliest row, then the earliest class
    at <- which(by_row > max(gain) - 1e-10 * abs(max(gain)))[1L]
    c <- (at - 1L) %% C + 1L
    i <- (at - 1L) %/% C + 1L
    out$row <- c(out$row, i)
    out$class <- c(out$class, c)
    out$gain <- c(out$gain, gain[i, c])
    used[i, c] <- TRUE
    column <- cov[[c]][, i]
    mean[, c] <- mean[, c] + z$d1[i, c] * column
    cov[[c]] <- cov[[c]] + z$d2[i, c] * outer(column, column)
  }
  c(out, list(mean = mean, var = sapply(cov, diag)))
}

# A likelihood as C takes it. Likelihoods of classes have a bias for each; q: numbers in a data row
# where the type leaves them open.
c_lik <- function(lik, theta, width = 1L, q = 0L) {
  type <- if (is.list(lik)) lik$type else lik
  lik_for_c(list(type = type), if (type %in% c("mprobit", "softmax")) length(theta) else 1L, width,
            q)
}

# ---- Pairs of responses with Gaussian noise of a full covariance ----

# n pairs; the rows of x are those of component 1 and 2 in turn, the component being an input like
# any other, so that the kernel couples the two.
pair_problem <- function(n = 12L, basis = NULL) {
  at <- seq(-2, 2, length.out = n)
  x <- cbind(at = rep(at, each = 2L), component = rep(c(0, 0.8), n))
  resolved <- resolve_kernel(kernel_rbf(ard = TRUE), list(names = colnames(x), terms = colnames(x),
                                                          kept = c(TRUE, TRUE)))
  y <- rbind(sin(2 * at), cos(2 * at) + 0.3 * at)
  theta <- c(log(1.3), log(0.8), log(1.1), log(0.16), log(0.11), 0.8) # kernel; noise, correlation
  list(problem = list(x = x, spec = spec_for_c(resolved), nkernel = 3L, processes = 1L, width = 2L,
                      lik = list(type = "mvnormal"), rows = y, offset = rep(c(0.2, -0.1), n),
                      options = method_ep(tol = 1e-12), basis = basis),
       theta = theta)
}

pair_kernel <- function(case, theta, x, z) {
  kernel_matrix(case$problem$spec, theta[1:3], x, z)
}

# blocks of 2 x 2 on the diagonal, everything else 0
block_diagonal <- function(A) {
  pair <- (seq_len(nrow(A)) + 1L) %/% 2L
  A * outer(pair, pair, "==")
}

# Prior covariance of the latent values: the kernel's, or on a basis what it carries and the blocks
# of what it leaves.
pair_prior <- function(case, theta, basis) {
  x <- case$problem$x
  K <- pair_kernel(case, theta, x, x)
  if (is.null(basis)) return(list(carried = K, left = 0 * K))
  Kb <- pair_kernel(case, theta, x, basis)
  carried <- Kb %*% solve(pair_kernel(case, theta, basis, basis), t(Kb))
  list(carried = carried, left = block_diagonal(K - carried))
}

pair_reference <- function(case, theta = case$theta) {
  prior <- pair_prior(case, theta, case$problem$basis)
  n <- ncol(case$problem$rows)
  noise <- kronecker(diag(n), mvnormal_covariance(theta[4:6], 2L))
  total <- prior$carried + prior$left + noise
  y <- c(case$problem$rows) - case$problem$offset
  away <- solve(total, y)
  u <- prior$carried + prior$left
  list(logz = -(length(y) * log(2 * pi) + as.numeric(determinant(total)$modulus) +
                  sum(y * away)) / 2,
       mean = drop(prior$carried %*% away), # what the sites are on
       cov = u - u %*% solve(total, u), site = solve(prior$left + noise))
}

# var is a vector of 2 x 2 blocks
blocks_of <- function(A) {
  unlist(lapply(seq_len(nrow(A) / 2L), function(i) A[2L * i - 1:0, 2L * i - 1:0]))
}

few_pairs <- function() cbind(rep(c(-1.5, -0.5, 0.4, 1.7), each = 2L), rep(c(0.1, 0.7), 4L))

pair_reference_total <- function(case) {
  prior <- pair_prior(case, case$theta, case$problem$basis)
  prior$carried + prior$left +
    kronecker(diag(ncol(case$problem$rows)), mvnormal_covariance(case$theta[4:6], 2L))
}

# Whatever a user types, the error is ours, and names the argument. Returns its message, invisibly.
refused <- function(code, argument = NULL) {
  label <- deparse1(substitute(code))
  error <- tryCatch({
    force(code)
    NULL
  }, error = function(e) e)
  expect_s3_class(error, "sparsegp_error")
  message <- if (is.null(error)) "no error" else conditionMessage(error)
  pattern <- if (is.null(argument)) "`[^`]+`" else paste0("`", argument, "`")
  expect_match(message, pattern, label = paste(label, "says:", message))
  invisible(message)
}

# Classes by independent answers to "this one?", a column of probabilities each, given that just one
# is yes; to a power.
by_odds <- function(own, power = 1) {
  odds <- unname(own / (1 - own))^power
  odds / rowSums(odds)
}

# One value on the log scale of a skewed input (R/data-warp.R).
reference_warp <- function(x, side, origin, unit) {
  d <- side * (x - origin) / unit
  side * if (d > 0) log(1 + d) else -log(1 - d)
}

# ---- Slopes ----

# K and its derivatives along directions v of the rows of x and w of those of z, by extrapolated
# differences of reference_kernel(): list(K, dx, dz, dxdz).
reference_jet <- function(kernel, theta, x, v, z, w) {
  pairs <- expand.grid(i = seq_len(nrow(x)), j = seq_len(nrow(z)))
  at <- function(i, j, s, t) {
    reference_pair(kernel, theta, x[i, ] + s * v[i, ], z[j, ] + t * w[j, ])
  }
  along <- function(f) numeric_gradient(f, 0, h = 0.02, levels = 5L)
  shaped <- function(value) matrix(mapply(value, pairs$i, pairs$j), nrow(x))
  list(K = shaped(function(i, j) at(i, j, 0, 0)),
       dx = shaped(function(i, j) along(function(s) at(i, j, s, 0))),
       dz = shaped(function(i, j) along(function(t) at(i, j, 0, t))),
       dxdz = shaped(function(i, j) along(function(s) along(function(t) at(i, j, s, t)))))
}

# Posterior mean and standard deviation of the derivative along input k at the rows of `new`, of a
# regression with this noise (Rasmussen and Williams 2006, sections 2.2 and 9.4).
reference_slopes <- function(kernel, theta, x, y, noise, new, k) {
  unit <- matrix(0, nrow(new), ncol(new))
  unit[, k] <- 1
  K <- reference_kernel(kernel, theta, x)
  jet <- reference_jet(kernel, theta, new, unit, x, 0 * x)
  own <- reference_jet(kernel, theta, new, unit, new, unit)$dxdz
  C <- solve(K + noise * diag(nrow(x)))
  list(mean = drop(jet$dx %*% C %*% y),
       sd = sqrt(diag(own) - rowSums((jet$dx %*% C) * jet$dx)))
}

# ---- Integrals over hyperparameters ----

# The symmetric H with the smallest sum of w |H s - y|^2 + ridge |H - I|^2, over the entries of its
# lower triangle: plain linear least squares. s, y: a column for each step; w: weights
reference_secant <- function(s, y, w, ridge) {
  p <- nrow(s)
  at <- which(lower.tri(diag(p), diag = TRUE), arr.ind = TRUE)
  unit <- function(e) {
    E <- matrix(0, p, p)
    E[at[e, 1L], at[e, 2L]] <- E[at[e, 2L], at[e, 1L]] <- 1
    E
  }
  design <- vapply(seq_len(nrow(at)), function(e) {
    c(unit(e) %*% s %*% diag(sqrt(w), length(w)), sqrt(ridge) * unit(e))
  }, numeric(p * (length(w) + p)))
  target <- c(y %*% diag(sqrt(w), length(w)), sqrt(ridge) * diag(p))
  found <- qr.solve(design, target)
  Reduce(`+`, lapply(seq_along(found), function(e) found[e] * unit(e)))
}

# E x^k of a density by the trapezoid rule, on [-reach, reach]
reference_moment <- function(log_density, reach, k) {
  x <- seq(-reach, reach, length.out = 200001L)
  p <- exp(log_density(x))
  sum(p * x^k) / sum(p)
}

# ---- A Markov process of one input ----

# Posterior marginals of a Matern 3/2 process at increasing times t under sites (tau, nu), and
# log|I + K diag(tau)|: filter and smoother with full covariances (Rauch, Tung and Striebel 1965).
# Where tau is negative, covariances on the way may be indefinite.
reference_markov <- function(t, tau, nu, variance, lengthscale) {
  n <- length(t)
  lambda <- sqrt(3) / lengthscale
  stationary <- diag(c(variance, lambda^2 * variance))
  before <- after <- step <- vector("list", n)
  log_det <- 0
  state <- list(m = c(0, 0), P = stationary)
  for (i in seq_len(n)) {
    if (i > 1) {
      d <- lambda * (t[i] - t[i - 1])
      A <- exp(-d) * matrix(c(1 + d, -lambda * d, d / lambda, 1 - d), 2)
      state <- list(m = drop(A %*% state$m),
                    P = A %*% (state$P - stationary) %*% t(A) + stationary)
      step[[i]] <- A
    }
    before[[i]] <- state
    gain <- state$P[, 1]
    c <- 1 + tau[i] * gain[1]
    after[[i]] <- state <- list(m = state$m + gain * (nu[i] - tau[i] * state$m[1]) / c,
                                P = state$P - tau[i] / c * tcrossprod(gain))
    log_det <- log_det + log(abs(c))
  }
  for (i in rev(seq_len(n - 1))) {
    G <- after[[i]]$P %*% t(step[[i + 1]]) %*% solve(before[[i + 1]]$P)
    after[[i]] <- list(m = after[[i]]$m + drop(G %*% (after[[i + 1]]$m - before[[i + 1]]$m)),
                       P = after[[i]]$P + G %*% (after[[i + 1]]$P - before[[i + 1]]$P) %*% t(G))
  }
  list(mean = vapply(after, function(own) own$m[1], 0),
       var = vapply(after, function(own) own$P[1, 1], 0), log_det = log_det)
}
