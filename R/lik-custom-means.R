# Means over the latent values under likelihoods that are R functions: nodes, densities of responses
# averaged over them, and blocks of rows.
#
# own: list(custom, value, constants), what functions of responses are asked with: hyperparameters
# on their natural scale, and constants with a column for each row, or NULL. Latent values f are a
# list of a matrix for each latent function, a row for each observation.

asked_with <- function(custom, theta, constants) {
  list(custom = custom, value = natural_custom(custom, theta), constants = constants)
}

# Returns the same of some of its rows, or of each of them several times.
asked_at <- function(own, at) {
  if (!is.null(own$constants)) own$constants <- own$constants[, at, drop = FALSE]
  own
}

# Nodes half a standard deviation apart
FIRST_NODES <- seq(-8, 8, length.out = 33L)

# Returns nodes f and their weights: 33 half a standard deviation apart, or so many `times` as
# dense, or 25 x 25 of two latent functions; var has the blocks of these.
latent_nodes <- function(custom, mean, var, times = 1L) {
  if (!is.null(custom$components)) return(pair_nodes(mean, var))
  z <- if (times == 1L) FIRST_NODES else seq(-8, 8, length.out = 32L * times + 1L)
  weight <- stats::dnorm(z)
  list(f = list(c(mean) + outer(sqrt(c(var)), z)), weight = weight / sum(weight))
}

# Returns means of some rows and their blocks; of one latent function numbers.
some_means <- function(custom, mean, at) {
  if (is.null(custom$components)) mean[at] else means_of_pairs(mean)[at, , drop = FALSE]
}

some_vars <- function(custom, var, at) {
  if (is.null(custom$components)) c(var)[at] else matrix(var, 4L)[, at, drop = FALSE]
}

# Means as a matrix with a column for each latent function; C has those of a row side by side.
means_of_pairs <- function(mean) {
  if (is.matrix(mean) && ncol(mean) == 2L) unname(mean) else matrix(mean, ncol = 2L, byrow = TRUE)
}

# Lower bound on a variance, as C has it.
LEAST_VARIANCE <- 1e-9

# Returns the normal distribution as that of the second, N(m2, sd2^2), and that of the first given
# it, N(m1 + b (f2 - m2), sd1^2).
given_second <- function(mean, var) {
  var <- matrix(var, 4L)
  least <- LEAST_VARIANCE * (1 + mean^2)
  second <- pmax(var[4L, ], least[, 2L])
  b <- var[2L, ] / second
  list(m1 = mean[, 1L], m2 = mean[, 2L], b = b, sd2 = sqrt(second),
       sd1 = sqrt(pmax(var[1L, ] - b * var[2L, ], least[, 1L])))
}

# Returns 25 x 25 nodes half a standard deviation apart, see latent_nodes(): densities are narrower
# in a logarithm of a spread than its distribution is.
pair_nodes <- function(mean, var) {
  at <- given_second(mean, var)
  z <- seq(-6, 6, by = 0.5)
  z1 <- rep(z, length(z))
  z2 <- rep(z, each = length(z))
  away <- outer(at$sd2, z2)
  weight <- stats::dnorm(z1) * stats::dnorm(z2)
  list(f = list(at$m1 + at$b * away + outer(at$sd1, z1), at$m2 + away),
       weight = weight / sum(weight))
}

# Returns how many rows means are of.
count_means <- function(custom, mean) length(mean) %/% max(1L, length(custom$components))

# Calls fun for blocks of rows: some 3 million densities at once take 24 megabytes each. fun returns
# `each` numbers a row; those of a row that has no mean, which may not be left out, are NaN.
by_blocks <- function(custom, mean, each, fun) {
  n <- count_means(custom, mean)
  there <- which(!is.nan(mean[seq_len(n)]))
  rows <- if (is.null(custom$components)) 200L else 10L
  blocks <- split(there, (seq_along(there) - 1L) %/% rows)
  answer <- matrix(NaN, each, n)
  answer[, there] <- unlist(lapply(unname(blocks), fun))
  answer
}

# The density of responses y[points x k], of weight 1, each row at the latent values f[points x m]
# of its point; its mean under the weights of the m nodes.
mixed_density <- function(own, y, f, weight) {
  k <- ncol(y)
  each <- rep(seq_len(nrow(y)), k)
  rows <- rbind(c(y), 1, asked_at(own, each)$constants, deparse.level = 0L)
  at <- lapply(f, function(x) x[each, , drop = FALSE])
  p <- exp(custom_log_density(own$custom, own$value, rows, at))
  matrix(p %*% weight, nrow(y), k)
}
