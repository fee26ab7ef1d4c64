# Noise of other kinds than Gaussian, which a default fit asks its residuals for (strategy-noise.R).
# Each has a cheap fit to leave-one-out residuals: the predicted means stay, and what else the noise
# has is fitted to these alone. What is learned along with a function gains more.

# Returns whether responses are whole numbers from 0. Large measurements in a small unit are, too.
are_counts <- function(y) all(y >= 0 & y == round(y)) && max(y) <= MOST_COUNTED

MOST_COUNTED <- 1e6

# Returns the likelihood with noise of a type, on the same scale if it can have one.
with_noise <- function(lik, type) {
  other <- as_likelihood(type)
  if (takes_transform(other)) other$transform <- lik$transform
  other
}

# Returns log(Phi(upper) - Phi(lower)), from the side where the difference has its digits.
log_between <- function(lower, upper) {
  swap <- lower > 0
  below <- stats::pnorm(ifelse(swap, -upper, lower))
  above <- stats::pnorm(ifelse(swap, -lower, upper))
  log(pmax(above - below, .Machine$double.xmin))
}

# ---- Noise that is added to the mean ----

# Returns which residuals are far from the others, in units that the far ones do not widen: median
# absolute deviations, as those of a normal distribution. A few such rows may have moved the means,
# and hidden the function from Gaussian noise. None if they are more than a few, as of two groups.
far_residuals <- function(rest) {
  from_median <- abs(rest$z - stats::median(rest$z))
  far <- from_median > policy$far_residual * stats::mad(rest$z)
  far & mean(far) <= policy$few_far
}

# Returns the gain of Student's t over a normal distribution, each of the best width. 0 if most
# responses have one value, around which that width could shrink, and the density grow, without end,
# or if no response is outside of what was predicted: errors of interpolation are no outliers.
# As the means stay those of Gaussian noise, far rows that have moved these hide most of the gain.
gain_of_tails <- function(rest) {
  if (max(ties_of(rest$y)) > length(rest$y) / 2) return(0)
  z <- rest$z
  width <- sqrt(mean(z^2))
  if (max(abs(z)) < policy$far_predicted) return(0) # one row, or constant responses, too
  log_density <- function(log_width) {
    stats::dt(z / exp(log_width), given_value(lik_student()$params$df), log = TRUE) - log_width
  }
  best <- stats::optimize(function(log_width) sum(log_density(log_width)), log(width) + c(-5, 1),
                          maximum = TRUE)
  best$objective - sum(stats::dnorm(z, sd = width, log = TRUE))
}

# Returns the gain of a spread that is log-linear in predicted mean and inputs, a linear model of
# the squares, less what as many coefficients gain by chance. 0 if the spread could shrink to
# nothing around tied responses: if it falls below the step between these, or one is an atom; or if
# it does not show without the few rows that are far from the others, as these are outliers then,
# unless it explains them better than Student's t does.
gain_of_spread <- function(rest) {
  gain <- gain_of_loglinear_spread(rest)
  far <- far_residuals(rest)
  if (gain <= 0 || !any(far)) return(gain)
  without <- gain_of_loglinear_spread(rows_of_residuals(rest, !far))
  if (without > 0 || gain > gain_of_tails(rest)) gain else 0
}

gain_of_loglinear_spread <- function(rest) {
  squares <- pmax(rest$z^2, 1e-8)
  level <- stats::qnorm(stats::ppoints(length(squares)))[rank(rest$mean)]
  inputs <- utils::head(seq_len(ncol(rest$x)), MOST_OF_SPREAD)
  columns <- cbind(1, level, rest$x[, inputs, drop = FALSE])
  columns <- columns[, colSums(!is.finite(columns)) == 0L, drop = FALSE]
  fit <- tryCatch(suppressWarnings(stats::glm.fit(columns, squares, family = stats::Gamma("log"))),
                  error = function(e) NULL)
  if (is.null(fit)) return(0)
  predicted_sd <- exp(stats::dnorm(rest$z, log = TRUE) - rest$log_density) # in the user's units
  sd <- sqrt(fit$fitted.values) * predicted_sd
  if (min(sd) < step_of_ties(rest$y) || has_atom(rest$y, rest$mean, sd)) return(0)
  log_density <- function(var) -(log(var) + squares / var) / 2
  sum(log_density(fit$fitted.values) - log_density(mean(squares))) - fit$rank
}

MOST_OF_SPREAD <- 10L # inputs

rows_of_residuals <- function(rest, rows) {
  lapply(rest, function(field) if (is.matrix(field)) field[rows, , drop = FALSE] else field[rows])
}

# Returns how many responses have each response's value.
ties_of <- function(y) tabulate(match(y, y))[match(y, y)]

# Do many more responses have the commonest value than normal densities, in a gap as wide as those
# beside it, explain? Then that is no rounding: zeros where there is no rain, or a limit. Where a
# quarter have it these densities have become narrow around it, and explain too much.
has_atom <- function(y, mean, sd) {
  ties <- ties_of(y)
  if (max(ties) == 1L) return(FALSE)
  if (max(ties) > length(y) / 4) return(TRUE)
  value <- y[which.max(ties)]
  gaps <- c(min(value - y[y < value], Inf), min(y[y > value] - value, Inf))
  gap <- mean(gaps[is.finite(gaps)])
  max(ties) > MOST_TIES * gap * sum(stats::dnorm(value, mean, sd))
}

MOST_TIES <- 5 # of the number that rounding explains

# Returns the smallest difference of responses, 0 if no two are equal.
step_of_ties <- function(y) if (anyDuplicated(y)) min(diff(sort(unique(y))), Inf) else 0

# ---- Noise that has a law of its own ----

# Returns the gain of counts with these means over probabilities of unit intervals. size: of the
# negative binomial; zero: probability of a zero besides. NULL: the best
gain_of_counts <- function(rest, size = NULL, zero = 0) {
  at <- function(par) {
    log_counts(rest, if (is.null(size)) exp(par[1L]) else size,
               if (is.null(zero)) stats::plogis(par[length(par)]) else zero)
  }
  start <- c(if (is.null(size)) log(5), if (is.null(zero)) -2)
  best <- sum(at(start))
  if (length(start)) {
    best <- -stats::nlminb(start, function(par) -sum(at(par)), lower = -9, upper = 9)$objective
  }
  best - length(start) - sum(rest$log_interval)
}

# Returns log probabilities of the responses.
log_counts <- function(rest, size, zero) {
  least <- max(mean(rest$y) / 100, 1e-3) # a Gaussian mean may be below 0
  mean <- pmax(rest$mean, least) / (1 - zero)
  p <- if (is.finite(size)) stats::dnbinom(rest$y, size, mu = mean)
       else stats::dpois(rest$y, mean)
  log(pmax(zero * (rest$y == 0) + (1 - zero) * p, .Machine$double.xmin))
}

# Returns the gain of a beta distribution about the predicted means, of the best precision.
gain_of_shares <- function(rest) {
  mean <- pmin(pmax(rest$mean, 1e-3), 1 - 1e-3)
  log_density <- function(log_precision) {
    precision <- exp(log_precision)
    stats::dbeta(rest$y, precision * mean, precision * (1 - mean), log = TRUE)
  }
  best <- stats::optimize(function(par) sum(log_density(par)), c(-2, 12), maximum = TRUE)
  best$objective - sum(rest$log_density)
}

# ---- The table ----

# Kinds of noise, the simplest first.
#   label    in the record
#   fits     (y): could these be responses with such noise, whose mean is on another scale? NULL:
#            the noise is added to the mean, as the Gaussian one is
#   gain     (rest): nats that the residuals gain, see residuals_of()
NOISES <- list(
  beta = list(label = "beta", fits = function(y) all(y > 0 & y < 1),
              gain = gain_of_shares),
  poisson = list(label = "Poisson", fits = are_counts,
                 gain = function(rest) gain_of_counts(rest, size = Inf)),
  negbin = list(label = "negative binomial", fits = are_counts,
                gain = gain_of_counts),
  zip = list(label = "zero-inflated Poisson", fits = are_counts,
             gain = function(rest) gain_of_counts(rest, size = Inf, zero = NULL)),
  zinb = list(label = "zero-inflated negative binomial", fits = are_counts,
              gain = function(rest) gain_of_counts(rest, zero = NULL)),
  student = list(label = "Student", gain = gain_of_tails),
  heteroscedastic = list(label = "spread that varies", gain = gain_of_spread)
)
