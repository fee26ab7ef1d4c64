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

# Returns moments at points x after the rows as site_moments() has them.
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
  stop_sparsegp("object", "has no proper posterior at these hyperparameters", "Fit again")
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
