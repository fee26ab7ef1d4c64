# What R has to know of each likelihood.

# A likelihood value is plain data: its C type and what was given for its hyperparameters. What R
# has to know of a type stands in LIKELIHOODS:
#   response   "numeric", "binary", "classes" or "ordered": how sparsegp() reads y and how predict()
#              words the answer
#   legal      (y, weights) -> what is wrong with these numbers, or NULL; left out: any finite ones
#   unlabelled may rows have no label? They are 0 for C, and a label's probability is one of being
#              there at all, too
#   trials     are responses shares of successes, and weights the numbers of trials?
#   scales     does y -> c y + b map the model to itself? then y is standardised for C
#   weighted   do weights mean anything?
#   learns     is log Z that of an integral, so that there is an evidence? left out: yes
#   about      per hyperparameter: the constructor's argument, whether it is searched as a
#              logarithm (between what bounds, `range`, if not 0 and Inf), which power of the
#              response's unit it has, where it starts (on C's scale, from the data rows and
#              offsets), and its default prior (from the unit and the offsets). Of ordered
#              categories, from whose number it starts, too: which cut points it is for, `between`,
#              and whether coef() adds its values up from those of another, `adds_to`
#   data_rows  (y, weights) -> the q x n matrix C wants
#   draw       (f, value, weights) random responses given latent values; value: named, in C's units
#   quantile   (p, mean, var, value, weights) of a response under N(mean, var); NULL for classes
#   cdf        (y, mean, var, value, weights, lower) its distribution function, or where lower is
#              FALSE what is above; not of labels, whose probabilities add up to it, nor where the
#              response says nothing
#   jump       (weights) from a response to the next that there can be; left out: all numbers can be
#   extra_var  (value, weights, within) what a row's response varies beyond one of weight 1; within:
#              the part of that one's variance that is not about the latent function
# Numbers that do not scale are for C as they are, and so is the latent function.
gaussian_traits <- list(
  response = "numeric", scales = TRUE, weighted = TRUE,
  about = list(noise = list(
    argument = "variance", log = TRUE, unit_power = 2, start = function(rows, offset) log(0.1),
    prior = function(unit, offset) default_lognormal(-2, 2)(unit)
  )),
  data_rows = function(y, weights) rbind(y, weights),
  draw = function(f, value, weights) {
    stats::rnorm(length(f), f, sqrt(value[["noise"]] / weights))
  },
  quantile = function(p, mean, var, value, weights) {
    stats::qnorm(p, mean, sqrt(var + value[["noise"]] / weights))
  },
  cdf = function(y, mean, var, value, weights, lower) {
    stats::pnorm(y, mean, sqrt(var + value[["noise"]] / weights), lower.tail = lower)
  },
  extra_var = function(value, weights, within) value[["noise"]] * (1 / weights - 1)
)

# A scale of noise, in units of the response. It starts where the Gaussian's standard deviation
# does.
noise_scale <- list(
  argument = "scale", log = TRUE, unit_power = 1, start = function(rows, offset) log(0.22),
  prior = function(unit, offset) default_lognormal(-1.35, 1)(unit)
)

laplace_traits <- list(
  response = "numeric", scales = TRUE, weighted = FALSE, about = list(scale = noise_scale),
  data_rows = function(y, weights) rbind(y),
  draw = function(f, value, weights) {
    side <- ifelse(stats::runif(length(f)) < 0.5, -1, 1)
    f + side * value[["scale"]] * stats::rexp(length(f))
  },
  quantile = function(p, mean, var, value, weights) {
    scale <- value[["scale"]]
    mean + crossing(p, function(r) laplace_cdf(r, sqrt(var), scale), 0 * mean, scale + sqrt(var))
  },
  cdf = function(y, mean, var, value, weights, lower) {
    laplace_cdf(if (lower) y - mean else mean - y, sqrt(var), value[["scale"]])
  },
  extra_var = function(value, weights, within) 0
)

student_traits <- list(
  response = "numeric", scales = TRUE, weighted = FALSE,
  about = list(scale = noise_scale, df = list(
    argument = "df", log = TRUE, unit_power = 0, range = c(2, Inf),
    start = function(rows, offset) log(5 - 2),
    prior = function(unit, offset) prior_gamma(2, 0.1)
  )),
  data_rows = function(y, weights) rbind(y),
  draw = function(f, value, weights) {
    f + value[["scale"]] * stats::rt(length(f), value[["df"]])
  },
  quantile = function(p, mean, var, value, weights) {
    mixed_quantile(p, mean, sqrt(var), student_cdf(value), value[["scale"]])
  },
  cdf = function(y, mean, var, value, weights, lower) {
    mixed_tail(y, mean, sqrt(var), student_cdf(value, lower), function(y) value[["scale"]])
  },
  extra_var = function(value, weights, within) 0
)

student_cdf <- function(value, lower = TRUE) {
  function(y, f) stats::pt((y - f) / value[["scale"]], value[["df"]], lower.tail = lower)
}

# Counts: rows are as given. The bias starts where it and the offset give their sum.
log_rate_bias <- list(
  argument = "bias", log = FALSE, unit_power = 0,
  start = function(rows, offset) {
    log(sum(rows[1L, ]) + 0.5) - max(offset) - log(sum(exp(offset - max(offset))))
  },
  prior = function(unit, offset) prior_normal(-mean(offset), 10)
)

poisson_traits <- list(
  response = "numeric", scales = FALSE, weighted = FALSE,
  legal = function(y, weights) illegal_counts(y),
  about = list(bias = log_rate_bias),
  data_rows = function(y, weights) rbind(y),
  draw = function(f, value, weights) {
    as.double(stats::rpois(length(f), exp(f + value[["bias"]])))
  },
  quantile = function(p, mean, var, value, weights) {
    log_rate <- mean + value[["bias"]]
    whole_quantile(p, log_rate, sqrt(var), function(y, f) stats::ppois(y, exp(f)),
                   width = count_width, start = function(p, f) count_quantile(p, exp(f)))
  },
  cdf = function(y, mean, var, value, weights, lower) {
    mixed_tail(y, mean + value[["bias"]], sqrt(var),
               function(y, f) stats::ppois(y, exp(f), lower.tail = lower), count_width)
  },
  jump = function(weights) 1,
  extra_var = function(value, weights, within) 0
)

# Beyond 1e15 all doubles are whole, and qpois() has none to give.
count_quantile <- function(p, rate) stats::qpois(p, pmin(rate, 1e15))

# Counts that vary more than a rate alone explains.
negbin_traits <- list(
  response = "numeric", scales = FALSE, weighted = FALSE,
  legal = function(y, weights) illegal_counts(y),
  about = list(bias = log_rate_bias, size = list(
    argument = "size", log = TRUE, unit_power = 0, start = function(rows, offset) log(5),
    prior = function(unit, offset) prior_lognormal(log(5), 2)
  )),
  data_rows = function(y, weights) rbind(y),
  draw = function(f, value, weights) {
    as.double(stats::rnbinom(length(f), value[["size"]], mu = exp(f + value[["bias"]])))
  },
  quantile = function(p, mean, var, value, weights) {
    size <- negbin_size(value)
    whole_quantile(p, mean + value[["bias"]], sqrt(var), negbin_cdf(value), negbin_width(value),
                   # a gamma variable's quantile, then a Poisson's: beyond p, and far faster than
                   # qnbinom(), which counts
                   start = function(p, f) {
                     count_quantile(p, negbin_mean(f) * stats::qgamma(p, size) / size)
                   })
  },
  cdf = function(y, mean, var, value, weights, lower) {
    mixed_tail(y, mean + value[["bias"]], sqrt(var), negbin_cdf(value, lower), negbin_width(value))
  },
  jump = function(weights) 1,
  extra_var = function(value, weights, within) 0
)

negbin_size <- function(value) min(value[["size"]], 1e15) # a Poisson count by then

negbin_mean <- function(f) exp(pmin(f, 300)) # as in C

negbin_cdf <- function(value, lower = TRUE) {
  function(y, f) stats::pnbinom(y, negbin_size(value), mu = negbin_mean(f), lower.tail = lower)
}

negbin_width <- function(value) {
  function(y) pmin(sqrt(count_width(y)^2 + 1 / negbin_size(value)), 1)
}

# Over which width of its logarithmic rate a count's distribution function moves
count_width <- function(y) 1 / sqrt(y + 1)

# Successes of trials: the response is their share, the weights are the trials.
binomial_traits <- list(
  response = "numeric", scales = FALSE, weighted = TRUE, trials = TRUE,
  legal = function(y, weights) {
    if (any(y < 0 | y > 1)) "has shares of successes that are not between 0 and 1"
    else illegal_counts(as_whole(y * weights))
  },
  about = list(bias = list(
    argument = "bias", log = FALSE, unit_power = 0,
    start = function(rows, offset) {
      log(sum(rows[1L, ]) + 0.5) - log(sum(rows[2L, ] - rows[1L, ]) + 0.5) - mean(offset)
    },
    prior = function(unit, offset) prior_normal(-mean(offset), 5)
  )),
  data_rows = function(y, weights) rbind(as_whole(y * weights), weights, deparse.level = 0L),
  draw = function(f, value, weights) {
    stats::rbinom(length(f), weights, stats::plogis(f + value[["bias"]])) / weights
  },
  quantile = function(p, mean, var, value, weights) {
    by_trials(weights, mean, function(at, trials) {
      cdf <- function(y, f) stats::pbinom(y, trials, stats::plogis(f))
      whole_quantile(p, mean[at] + value[["bias"]], sqrt(var[at]), cdf,
                     width = function(y) 1 / sqrt(trials),
                     start = function(p, f) stats::qbinom(p, trials, stats::plogis(f))) / trials
    })
  },
  cdf = function(y, mean, var, value, weights, lower) {
    by_trials(weights, mean, function(at, trials) {
      cdf <- function(y, f) stats::pbinom(y, trials, stats::plogis(f), lower.tail = lower)
      mixed_tail(round(y[at] * trials), mean[at] + value[["bias"]], sqrt(var[at]), cdf,
                 width = function(y) 1 / sqrt(trials))
    })
  },
  jump = function(weights) 1 / weights,
  extra_var = function(value, weights, within) within * (1 / weights - 1)
)

# fun(at, trials) of the rows `at` of as many trials each, for all of them
by_trials <- function(weights, mean, fun) {
  weights <- rep_len(weights, length(mean))
  out <- numeric(length(mean))
  for (trials in unique(weights)) {
    at <- weights == trials
    out[at] <- fun(at, trials)
  }
  out
}

# Points that were seen, and nothing else: the response is 1. What is predicted is f^2.
density_traits <- list(
  response = "numeric", scales = FALSE, weighted = FALSE, about = list(),
  legal = function(y, weights) {
    if (any(y != 1)) "has other values than 1, which says that a point was seen"
  },
  data_rows = function(y, weights) rbind(rep(1, length(y)), deparse.level = 0L),
  draw = function(f, value, weights) f^2,
  quantile = function(p, mean, var, value, weights) {
    sd <- sqrt(var)
    cdf <- function(root) {
      below <- ifelse(sd > 0, stats::pnorm((root - mean) / sd), root >= mean)
      ifelse(root < 0, 0, below - ifelse(sd > 0, stats::pnorm((-root - mean) / sd), -root > mean))
    }
    pmax(crossing(p, cdf, abs(mean), sd), 0)^2
  },
  extra_var = function(value, weights, within) 0
)

# What whole numbers have become in a division and a multiplication
as_whole <- function(x) ifelse(abs(x - round(x)) < 1e-8 * pmax(1, abs(x)), round(x), x)

illegal_counts <- function(y) {
  if (any(y < 0)) "has negative values, which are no counts"
  else if (any(y != round(y))) "has values that are not whole numbers"
}

# Two classes: rows are -1 and 1. The bias starts where it and the mean offset give the classes'
# frequencies, and its default prior does not mind a constant in the offset.
binary_traits <- function(inverse_link, link) {
  list(
    response = "binary", scales = FALSE, weighted = FALSE,
    about = list(bias = list(
      argument = "bias", log = FALSE, unit_power = 0,
      start = function(rows, offset) {
        link((sum(rows > 0) + 0.5) / (length(rows) + 1)) - mean(offset)
      },
      prior = function(unit, offset) prior_normal(-mean(offset), 5)
    )),
    data_rows = function(y, weights) rbind(y),
    draw = function(f, value, weights) {
      ifelse(stats::runif(length(f)) < inverse_link(f + value[["bias"]]), 1, -1)
    },
    quantile = NULL,
    extra_var = function(value, weights, within) 0
  )
}

# The same with labels that are wrong with a probability, a hyperparameter `name`. step: the latent
# function's sign decides, and there is no bias.
noisy_traits <- function(name, step) {
  plain <- binary_traits(stats::pnorm, stats::qnorm)
  flipped <- list(
    argument = name, log = TRUE, unit_power = 0, range = c(0, 0.5),
    start = function(rows, offset) to_search(0.05, 0, 0.5),
    prior = function(unit, offset) prior_lognormal(log(0.05), 1)
  )
  plain$about <- c(if (!step) plain$about, stats::setNames(list(flipped), name))
  plain$draw <- function(f, value, weights) {
    p <- if (step) (sign(f) + 1) / 2 else stats::pnorm(f + value[["bias"]])
    p <- value[[name]] + (1 - 2 * value[[name]]) * p
    ifelse(stats::runif(length(f)) < p, 1, -1)
  }
  plain
}

# Several classes: rows are 1..C. There is a bias per class: hyperparameters, offset and draw()'s f
# have a column or an entry for each, and value[["bias"]] of the other traits is all of value here.
# Only differences of biases matter; they start centred, where they alone give the classes'
# frequencies (nearly), and the default prior holds their mean there.
class_traits <- function(link, noise) {
  list(
    response = "classes", scales = FALSE, weighted = FALSE,
    about = list(bias = list(
      argument = "bias", log = FALSE, unit_power = 0,
      start = function(rows, offset, classes = max(rows)) {
        start <- link((tabulate(rows, classes) + 0.5) / (length(rows) + 0.5 * classes))
        start - mean(start)
      },
      prior = function(unit, offset) prior_normal(0, 5)
    )),
    data_rows = function(y, weights) rbind(as.double(y)),
    draw = function(f, value, weights) {
      f <- rbind(f) # one row may come as a vector
      v <- f + rep(value, each = nrow(f)) + noise(length(f))
      max.col(v, "first")
    },
    quantile = NULL,
    extra_var = function(value, weights, within) 0
  )
}

LIKELIHOODS <- list(
  gaussian = gaussian_traits,
  probit = binary_traits(stats::pnorm, stats::qnorm),
  logit = binary_traits(stats::plogis, stats::qlogis),
  mackay = c(binary_traits(stats::plogis, stats::qlogis), learns = FALSE),
  step = noisy_traits("noise", step = TRUE),
  flip = noisy_traits("flip", step = FALSE),
  # normal noise is much like Gumbel noise of its variance, for which the start would be exact
  mprobit = class_traits(function(p) log(p) * sqrt(6) / pi, stats::rnorm),
  softmax = class_traits(log, function(n) -log(stats::rexp(n))), # Gumbel noise
  poisson = poisson_traits,
  negbin = negbin_traits,
  binomial = binomial_traits,
  laplace = laplace_traits,
  student = student_traits,
  ordinal = ordinal_traits,
  nullcat = nullcat_traits(),
  density = density_traits
)
