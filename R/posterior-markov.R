# The posterior of a Markov process of one input: `basis`, the rows' times, and `markov`,
# list(tau, nu, from), their sites and, if there were rows before that are forgotten, the state
# behind these, list(t, m, P): its moments at the time t. C filters and smooths again for every
# question, O(n + points). alpha and the J of a mean are what they are in other posteriors; there
# are no factors G and H, whose place the sites take.

is_markov <- function(posterior) !is.null(posterior$markov)

# Is the posterior of a fit one?
is_markov_fit <- function(fit) {
  is_markov(fit$posterior) || any(vapply(fit$posterior$each, is_markov, NA))
}

# Moments of one latent function and, along v, of its derivative, at points x after the rows.
# parts: which parts of a sum of kernels the values are of; NULL: all, and the mean.
# Returns list(mean, var): with v 2 and 4 numbers a point; joint: the covariance matrix of all
# values, or of all values and then all derivatives.
markov_moments <- function(spec, theta, posterior, x, v = NULL, parts = NULL, joint = FALSE) {
  points <- nrow(x)
  trend <- posterior$trend
  if (joint) refuse_many_points(points, 1 + !is.null(v))
  refuse_forgotten(posterior$markov$from, x[, 1L])
  all <- rbind(unname(posterior$basis), unname(x))
  given <- c(posterior$markov[c("tau", "nu")], list(from = posterior$markov$from))
  given["trend"] <- list(if (!is.null(trend)) {
    c(trend[c("coef", "root")], list(phi = rbind(mean_functions(trend, posterior$basis),
                                                 mean_functions(trend, x))))
  })
  query <- list(order = order(all), points = points, along = if (!is.null(v)) as.double(v),
                phi_slope = if (!is.null(v) && !is.null(trend)) mean_slopes(trend, x, v),
                parts = parts, joint = joint)
  found <- .Call(sg_markov_predict, spec, theta, all, given, query)
  if (found$status != 0L) refuse_no_posterior()
  if (joint && !is.null(v)) {
    values_first <- c(seq(1L, by = 2L, length.out = points), seq(2L, by = 2L, length.out = points))
    found$mean <- found$mean[values_first]
    found$var <- found$var[values_first, values_first]
  }
  found[c("mean", "var")]
}

refuse_no_posterior <- function() {
  stop_sparsegp("object", "has sites that leave no posterior at these hyperparameters", "Fit again")
}

# Refuses times before those that a posterior goes back to; from: the state it begins with, or NULL.
refuse_forgotten <- function(from, times, remedy = "Predict for later times, or fit") {
  if (is.null(from) || !any(times < from$t)) return(invisible())
  stop_sparsegp("newdata", paste("has times before the last observations, which are all that a fit",
                                 "by method_markov(window =) keeps"),
                paste(remedy, "all observations with a longer `window`, or without one"))
}

MOST_JOINT_VALUES <- 5000L # of which a Markov posterior gives a covariance matrix

# each: values of a point, with its derivative 2
refuse_many_points <- function(points, each) {
  if (points * each <= MOST_JOINT_VALUES) return(invisible())
  stop_sparsegp("newdata", paste0("has ", points, " rows, and a joint covariance by ",
                                  "method_markov() is of at most ", MOST_JOINT_VALUES %/% each),
                "Give `newdata` with fewer rows")
}

# Covariances of the values, or of derivatives along v, at points x with the values at points z.
markov_covariances <- function(spec, theta, posterior, x, v, z) {
  both <- rbind(unname(x), unname(z))
  along <- if (!is.null(v)) rbind(unname(v), 0 * unname(z))
  joint <- markov_moments(spec, theta, posterior, both, along, joint = TRUE)$var
  n <- nrow(x)
  from <- if (is.null(v)) seq_len(n) else nrow(both) + seq_len(n)
  joint[from, n + seq_len(nrow(z)), drop = FALSE]
}

# Moments of the values and derivatives along v as slope_moments() has them: of each point 2 means
# and a block of 4.
markov_slopes <- function(spec, theta, posterior, x, v) {
  found <- markov_moments(spec, theta, posterior, x, v)
  lapply(found, function(values) matrix(values, ncol = 1L))
}

# Variance of the sum of the values at points x and the derivatives along v there, times `weights`:
# those of all values, then of all derivatives.
markov_variance_of_sum <- function(spec, theta, posterior, x, v, weights) {
  joint <- markov_moments(spec, theta, posterior, x, v, joint = TRUE)$var
  max(sum(weights * (joint %*% weights)), 0)
}
