# Posteriors that are the sites of all rows, and no factors: of a Markov process
# (posterior-markov.R), or by nearest neighbours (posterior-neighbours.R). Both answer here.

OWN_POSTERIORS <- c("markov", "neighbours") # their fields

is_of_sites <- function(posterior) is_markov(posterior) || is_of_neighbours(posterior)

# Is the posterior of a fit one?
is_site_fit <- function(fit) {
  is_of_sites(fit$posterior) || any(vapply(fit$posterior$each, is_of_sites, NA))
}

is_neighbour_fit <- function(fit) is_of_neighbours(fit$posterior)

# Moments of one latent function and, along v, of its derivative, at points x.
# parts: which parts of a sum of kernels the values are of; NULL: all, and the mean.
# Returns list(mean, var): with v 2 and 4 numbers a point; joint: the covariance matrix of all
# values, or of all values and then all derivatives.
site_moments <- function(spec, theta, posterior, x, v = NULL, parts = NULL, joint = FALSE) {
  moments <- if (is_markov(posterior)) markov_moments else neighbour_moments
  moments(spec, theta, posterior, x, v, parts, joint)
}

# Covariances of the values, or of derivatives along v, at points x with the values at points z.
site_covariances <- function(spec, theta, posterior, x, v, z) {
  both <- rbind(unname(x), unname(z))
  along <- if (!is.null(v)) rbind(unname(v), 0 * unname(z))
  joint <- site_moments(spec, theta, posterior, both, along, joint = TRUE)$var
  n <- nrow(x)
  from <- if (is.null(v)) seq_len(n) else nrow(both) + seq_len(n)
  joint[from, n + seq_len(nrow(z)), drop = FALSE]
}

# Moments of the values and derivatives along v as slope_moments() has them: of each point 2 means
# and a block of 4.
site_slopes <- function(spec, theta, posterior, x, v) {
  found <- site_moments(spec, theta, posterior, x, v)
  lapply(found, function(values) matrix(values, ncol = 1L))
}

# Variance of the sum of the values at points x and the derivatives along v there, times `weights`:
# those of all values, then of all derivatives.
site_variance_of_sum <- function(spec, theta, posterior, x, v, weights) {
  joint <- site_moments(spec, theta, posterior, x, v, joint = TRUE)$var
  max(sum(weights * (joint %*% weights)), 0)
}
