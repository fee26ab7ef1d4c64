# Likelihoods in R of two latent functions: tilts by a product of trapezoid rules, one for the first
# value within one for the second. The inner integral is over the first given the second, so each
# of both rules looks for its own nodes (lik-custom-tilts.R): a density may be narrow in the first
# for some values of the second.

PAIR_ROWS <- 64L # at once: 33 x 33 nodes each take half a megabyte for a matrix

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

# Returns the normal distribution as that of the second, N(m2, sd2^2), and that of the first given
# it, N(m1 + b (f2 - m2), sd1^2).
given_second <- function(mean, var) {
  var <- matrix(var, 4L)
  least <- LEAST_TILT_VARIANCE * (1 + mean^2)
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

# Returns log Z, d1 (2), d2 (4) and, if `slopes`, derivatives in theta: a column for each row.
tilts_of_pairs <- function(custom, theta, rows, mean, var, slopes) {
  value <- natural_custom(custom, theta)
  mean <- means_of_pairs(mean)
  n <- nrow(mean)
  var <- matrix(var, 4L)
  blocks <- split(seq_len(n), (seq_len(n) - 1L) %/% PAIR_ROWS)
  each <- lapply(unname(blocks), function(at) {
    own <- rows[, at, drop = FALSE]
    normal <- given_second(mean[at, , drop = FALSE], var[, at, drop = FALSE])
    inner <- function(row, f2) inner_rule(custom, value, own, normal, row, f2)
    rule <- tilt_rule(function(row, f2) inner_moments(inner(row, f2), f2), normal$m2, normal$sd2)
    answer <- pair_moments(rule, normal)
    if (!slopes) return(answer)
    rbind(answer, rule_slopes(rule, function(row, f2) {
      inner_slopes(custom, theta, own, inner(row, f2), f2)
    }, length(theta), length(at)), deparse.level = 0L)
  })
  do.call(cbind, each)
}

# Returns the rule over the first value at each of the second's values f2[rows x nodes]: its parts,
# and of each integral row and second value, one after another by column.
inner_rule <- function(custom, value, rows, normal, row, f2) {
  row <- rep(row, ncol(f2))
  second <- c(f2)
  mean <- normal$m1[row] + normal$b[row] * (second - normal$m2[row])
  parts <- tilt_rule(function(at, f) {
    custom_log_density(custom, value, rows[, row[at], drop = FALSE],
                       list(f, matrix(second[at], length(at), ncol(f))))
  }, mean, normal$sd1[row])
  list(parts = parts, row = row, second = second, mean = mean, sd = normal$sd1[row])
}

# Returns the inner integrals' logarithms in the shape of f2, and mean and variance of z1 = (f1 -
# mean) / sd as their attribute.
inner_moments <- function(inner, f2) {
  logz <- shift <- spread <- numeric(length(f2))
  for (part in inner$parts) {
    at <- part$rows
    sum <- rowSums(part$weight)
    z <- (part$f - inner$mean[at]) / inner$sd[at]
    logz[at] <- part$top + log(sum * part$step)
    some <- ifelse(sum > 0, sum, 1)
    shift[at] <- rowSums(part$weight * z) / some
    spread[at] <- rowSums(part$weight * (z - shift[at])^2) / some
  }
  shaped <- function(x) matrix(x, nrow(f2), ncol(f2))
  structure(shaped(logz), inner = list(shift = shaped(shift), spread = shaped(spread)))
}

# Returns the means of derivatives in theta over the first value, in the shape of f2.
inner_slopes <- function(custom, theta, rows, inner, f2) {
  found <- rule_slopes(inner$parts, function(at, f) {
    density_slopes(custom, theta, rows[, inner$row[at], drop = FALSE],
                   list(f, matrix(inner$second[at], length(at), ncol(f))))
  }, length(theta), length(f2))
  lapply(seq_along(theta), function(j) matrix(found[j, ], nrow(f2), ncol(f2)))
}

# Returns log Z and its derivatives from mean e and covariance C of z under the tilted distribution,
# f = mean + L z: d1 = L^-T e and d2 = L^-T (C - I) L^-1, with L' = (sd1, 0; b sd2, sd2).
pair_moments <- function(rule, normal) {
  answer <- matrix(0, 7L, length(normal$m1))
  for (part in rule) {
    at <- part$rows
    sum <- rowSums(part$weight)
    mean_of <- function(x) rowSums(part$weight * x) / sum
    z1 <- part$inner$shift
    z2 <- (part$f - normal$m2[at]) / normal$sd2[at]
    e1 <- mean_of(z1)
    e2 <- mean_of(z2)
    c11 <- mean_of(part$inner$spread + (z1 - e1)^2) - 1
    c12 <- mean_of((z1 - e1) * (z2 - e2))
    c22 <- mean_of((z2 - e2)^2) - 1
    p <- 1 / normal$sd1[at]
    q <- -normal$b[at] * p
    r <- 1 / normal$sd2[at]
    cross <- p * (q * c11 + r * c12)
    answer[, at] <- rbind(part$top + log(sum * part$step), p * e1, q * e1 + r * e2, p^2 * c11,
                          cross, cross, q^2 * c11 + 2 * q * r * c12 + r^2 * c22)
  }
  answer
}
