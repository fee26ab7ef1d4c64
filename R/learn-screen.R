# Screening of many inputs: a forward selection of those that matter, in an additive model of smooth
# functions of single inputs and of products of two. It is a model in its own right, with a marginal
# likelihood of its own, whose every step takes one Cholesky factor: so it finds few of hundreds of
# inputs in the time of a few evaluations of the evidence, and from no inputs at all, where a search
# over all length scales at once begins with every input of equal weight. What it finds is a
# candidate of the race for structure (strategy-sparse.R), which judges it by the evidence.
#
#   seen    observations of f: list(y, variance, exact); exact: variances are known but
#           for a common factor, over which the marginal likelihood is maximised
#   shapes  list(columns, owner, order): functions of single inputs, a column each, of mean square
#           1; whose they are, and which of their input's
#   parts   functions of the model so far: list(columns, scale), scale their coefficients' variance
#           in units of that of the noise

# Returns the variances of coefficients that are tried.
screen_scales <- function() 10^seq(-2.5, 1.5, by = 0.5)

# Returns the columns of x that matter, in the order in which they were found: none if these are
# more than `most`, for then the model is not sparse. least: nats that each has to gain; a pair of
# inputs, of which there are more, as much more as the best of these seems to gain by chance.
screened_inputs <- function(x, levels, seen, mean, least, most) {
  shapes <- shapes_of_inputs(x, levels)
  parts <- list()
  found <- integer()
  repeat {
    root <- screen_root(seen, mean, parts)
    best <- best_addition(root, seen, shapes, found)
    if (best$gain < least) {
      best <- best_pair(root, seen, shapes, found)
      if (best$gain < least + log((length(levels) - 1) / 2)) return(found)
    }
    if (length(found) + length(best$input) > most) return(integer())
    found <- c(found, best$input)
    parts <- rescaled_parts(c(parts, list(best[c("columns", "scale")])), seen, mean)
  }
}

# ---- Functions of inputs ----

shapes_of_inputs <- function(x, levels) {
  degree <- fewer_of_many(policy$screened_degree, ncol(x))
  each <- lapply(seq_len(ncol(x)), function(j) shapes_of_input(x[, j], levels[j] > 0, degree))
  count <- vapply(each, ncol, 0L)
  list(columns = do.call(cbind, each), owner = rep(seq_along(each), count), order = sequence(count))
}

# Returns orthogonal polynomials of a number, of which values far out are cut, or indicators of
# levels, divided by the square root of their proportion.
shapes_of_input <- function(x, is_factor, degree) {
  FAR <- 2.5 # standard deviations, of the middle half
  if (is_factor) return(level_shapes(match(x, sort(unique(x)))))
  spread <- stats::IQR(x) / (2 * stats::qnorm(0.75))
  if (spread == 0) spread <- stats::sd(x)
  if (spread == 0) return(matrix(0, length(x), 0L))
  z <- pmin(pmax((x - stats::median(x)) / spread, -FAR), FAR)
  powers <- outer(z, seq_len(degree), "^")
  basis <- qr(sweep(powers, 2L, colMeans(powers)))
  sqrt(length(z)) * qr.Q(basis)[, seq_len(basis$rank), drop = FALSE]
}

level_shapes <- function(level) {
  shown <- diag(max(level))[level, , drop = FALSE]
  sweep(shown, 2L, sqrt(colMeans(shown)), "/") / sqrt(ncol(shown))
}

# Returns fewer functions of each input where there are more of these than max_ard_inputs.
fewer_of_many <- function(count, inputs) {
  max(1, floor(count * min(1, policy$max_ard_inputs / inputs)))
}

# Returns how the coefficients of functions vary: the first ones of an input most.
shape_weights <- function(order) sqrt(policy$screened_smoothness^(order - 1L))

# ---- Steps of the selection ----

# Returns the Cholesky factor of the observations' covariance, in units of the noise.
screen_root <- function(seen, mean, parts) {
  VAGUE <- 1e4 # variance of a mean's coefficients
  covariance <- diag(seen$variance) + VAGUE * tcrossprod(mean)
  for (part in parts) covariance <- covariance + part$scale * tcrossprod(part$columns)
  chol(covariance)
}

# Returns list(input, gain, columns, scale) of the input that gains most, as a line, a smooth
# function, or one with products with the inputs found before.
best_addition <- function(root, seen, shapes, found) {
  response <- backsolve(root, seen$y, transpose = TRUE)
  fit <- sum(response^2)
  first <- shapes$order == 1L
  smooth <- sweep(shapes$columns, 2L, shape_weights(shapes$order), "*")
  lines <- shapes$columns[, first, drop = FALSE]
  owners <- shapes$owner[first]
  most <- fewer_of_many(policy$screened_partners, length(owners))
  partners <- intersect(utils::head(found, most), owners)
  products <- do.call(cbind, lapply(match(partners, owners), function(at) lines[, at] * lines))
  columns <- cbind(smooth, products)
  owner <- c(shapes$owner, rep(owners, length(partners)))
  white <- backsolve(root, columns, transpose = TRUE)
  along <- drop(crossprod(white, response))
  candidates <- ways_to_add(owner, seq_len(ncol(smooth)), first, setdiff(owners, found))
  gains <- vapply(candidates, function(at) {
    screen_gain(white[, at, drop = FALSE], along[at], fit, seen)
  }, numeric(2L))
  best <- which.max(gains[1L, ])
  if (length(best) == 0L) return(list(gain = -Inf))
  at <- candidates[[best]]
  list(input = owner[at[1L]], gain = gains[1L, best], scale = gains[2L, best],
       columns = columns[, at, drop = FALSE])
}

# Returns the same of the two inputs whose product gains most, if they do not matter but together.
# All pairs are compared by two products of matrices: what each explains of the residuals, as if it
# were the only function. The best of them is judged as others are.
best_pair <- function(root, seen, shapes, found) {
  first <- shapes$order == 1L & !shapes$owner %in% found
  owner <- shapes$owner[first]
  if (length(owner) < 2L) return(list(gain = -Inf))
  lines <- scale(shapes$columns[, first, drop = FALSE], scale = FALSE)
  response <- backsolve(root, seen$y, transpose = TRUE)
  residuals <- drop(backsolve(root, response))
  explained <- crossprod(lines * residuals, lines)^2 / crossprod(lines^2 / seen$variance, lines^2)
  explained[!upper.tri(explained) | is.nan(explained)] <- 0
  pair <- arrayInd(which.max(explained), dim(explained))
  column <- lines[, pair[1L]] * lines[, pair[2L]]
  white <- backsolve(root, column, transpose = TRUE)
  gain <- screen_gain(matrix(white), sum(white * response), sum(response^2), seen)
  list(input = owner[pair], gain = gain[1L], scale = gain[2L], columns = matrix(column))
}

# Returns the columns of each way in which one of `inputs` may join: its line, its smooth function,
# its products with others, both of these. own: columns of functions of one input
ways_to_add <- function(owner, own, first, inputs) {
  ways <- lapply(inputs, function(input) {
    of_input <- which(owner == input)
    alone <- of_input[of_input %in% own]
    products <- setdiff(of_input, alone)
    c(list(alone[first[alone]], alone), if (length(products)) list(products, of_input))
  })
  unlist(ways, recursive = FALSE)
}

# Returns the log marginal likelihood that functions gain, and the scale of their coefficients at
# which they gain most. white: the functions in units in which the observations are independent
screen_gain <- function(white, along, fit, seen) {
  scales <- screen_scales()
  at <- eigen(crossprod(white), symmetric = TRUE)
  values <- pmax(at$values, 0)
  share <- drop(crossprod(at$vectors, along))^2
  factor <- 1 + outer(scales, values)
  taken <- drop((scales / factor) %*% share)
  n <- length(seen$y)
  likelihood <- if (seen$exact) -(n - 1) / 2 * log(pmax(1 - taken / fit, .Machine$double.eps))
                else taken / 2
  gain <- likelihood - rowSums(log(factor)) / 2
  best <- which.max(gain)
  c(gain[best], scales[best])
}

# Returns the parts with their scales moved towards those of most marginal likelihood, where what
# the coefficients are and what is not known of them make up the prior's variance. As the noise,
# their unit, becomes less with every part, scales become larger.
rescaled_parts <- function(parts, seen, mean) {
  ROUNDS <- 2L
  MOST <- 5 # factor of a round
  for (round in seq_len(ROUNDS)) {
    inverse <- chol2inv(screen_root(seen, mean, parts))
    dual <- drop(inverse %*% seen$y)
    noise <- if (seen$exact) sum(seen$y * dual) / (length(seen$y) - 1) else 1
    parts <- lapply(parts, function(part) {
      explained <- sum(crossprod(part$columns, dual)^2) / noise
      expected <- sum((inverse %*% part$columns) * part$columns)
      ratio <- sqrt(explained / expected)
      part$scale <- part$scale * min(max(ratio, 1 / MOST), MOST)
      part
    })
  }
  parts
}

# ---- Observations ----

# Returns sites as observations of f at some rows, and these rows: those with a precision. Where
# sites are the likelihood itself the noise is not known yet, and y has variance 1.
seen_of_run <- function(run, rows, exact) {
  LEAST <- 1e-6
  tau <- run$tau[rows]
  kept <- is.finite(tau) & tau > LEAST * max(tau)
  rows <- rows[kept]
  tau <- run$tau[rows]
  y <- run$nu[rows] / tau
  if (exact) {
    tau <- tau / mean(tau)
    y <- y / stats::sd(y)
  }
  list(y = y - stats::weighted.mean(y, tau), variance = 1 / tau, exact = exact, rows = rows)
}
