# Power EP: EP with a power of each likelihood term, and what is done where EP finds no fixed point.
#
# A power p of a term leaves its cavity, is in its tilt, and 1 / p of the result is its site (Minka
# 2004). p = 1 is EP; in the limit p = 0 the posterior is the normal distribution of least
# Kullback-Leibler divergence from it, and log Z a lower bound of the log evidence. A bound has a
# maximum, and each step raises it (ep_loop.c): the limit always ends, with a log evidence that
# responses can have.

# Can the terms be raised to a power? Their quadratures are over one latent value.
has_powers <- function(problem) {
  known <- catalogue()$likelihoods[[problem$lik$type]]
  problem_width(problem) == 1L && !isTRUE(known$classes)
}

# Returns the problem as variational inference sees it.
variational <- function(problem) {
  problem$options$power <- 0
  problem
}

# Returns a function of theta that gives theta for the limit, in which no label is impossible: a
# label noise of 0 is replaced by the least that is not (`least` of lik_code()). NULL: theta stays.
limit_theta <- function(problem) {
  least <- if (is_at_limit(problem)) lik_traits(problem$lik)$least
  if (!is.null(least)) function(theta) replace(theta, theta == -Inf, least)
}

theta_at_limit <- function(problem, theta) {
  at_limit <- limit_theta(problem)
  if (is.null(at_limit)) theta else at_limit(theta)
}

# Does the problem's method ask for the limit?
is_at_limit <- function(problem) identical(as.double(problem$options$power), 0)

# Returns the problem in the limit that a fit goes to where EP has no fixed point, or NULL: EP is
# there already, or exact.
limit_of <- function(problem) {
  exact <- lik_traits(problem$lik)$exact
  if (has_powers(problem) && !exact && !is_at_limit(problem)) variational(problem)
}
