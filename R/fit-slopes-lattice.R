# Slopes of mean responses that depend on several latent values of a row, by integration over the
# points of a lattice (fit-slopes.R).

#' @export
response_slopes.response_classes <- function(object, moments) lattice_slopes(object, moments)

#' @export
response_slopes.response_transformed <- function(object, moments) {
  if (n_outputs(object) > 1L) lattice_slopes(object, moments)
  else response_slopes.response(object, moments)
}

LATTICE <- 511L # points, and as many reflections

# Integrates over f and f' of a row at the points of a lattice and their reflections, a thousand
# values. Standard deviations and quantiles are known to about one hundredth.
lattice_slopes <- function(object, moments) {
  w <- n_outputs(object)
  count <- count_latent_values(object$response)
  half <- normal_lattice(LATTICE, 2L * count)
  z <- rbind(half, -half)
  each <- lapply(seq_along(moments$shift), function(row) {
    lattice_of_row(object, joint_of_row(moments, row, w), z, some_rows(moments$offset, row),
                   moments$shift[row])
  })
  mean <- mean_slopes_of_response(object, moments)
  outputs <- NCOL(mean)
  numbers <- function(name) as.double(unlist(lapply(each, `[[`, name)))
  field <- function(name) array(numbers(name), c(outputs, count, length(each)))
  of <- function(array, output) t(matrix(array[output, , ], count))
  value <- field("value")
  slope <- field("slope")
  sd <- t(matrix(numbers("sd"), outputs))
  list(mean = mean, sd = if (is.matrix(mean)) sd else drop(sd),
       below = function(q) lattice_below(each, q),
       value = lapply(seq_len(outputs), of, array = value),
       slope = lapply(seq_len(outputs), of, array = slope))
}

# Returns mean and covariance of the values of a row, followed by their derivatives.
joint_of_row <- function(moments, row, w) {
  of_class <- function(values, size) {
    at <- (row - 1L) * size + seq_len(size)
    if (is.matrix(values)) values[at, ] else cbind(values[at])
  }
  mean <- c(of_class(moments$value$mean, w), of_class(moments$slope$mean, w))
  blocks <- lapply(list(moments$value$var, moments$between, moments$slope$var), function(values) {
    diagonal_blocks(matrix(of_class(values, w * w), w * w), w)
  })
  cov <- rbind(cbind(blocks[[1L]], t(blocks[[2L]])), cbind(blocks[[2L]], blocks[[3L]]))
  list(mean = mean, cov = cov)
}

# Returns the matrix with w x w blocks, columns of a matrix, on its diagonal.
diagonal_blocks <- function(blocks, w) {
  out <- matrix(0, w * ncol(blocks), w * ncol(blocks))
  for (c in seq_len(ncol(blocks))) {
    at <- (c - 1L) * w + seq_len(w)
    out[at, at] <- blocks[, c]
  }
  out
}

# Returns the slopes of one row at the points z, with their standard deviations and the coefficients
# of their best linear predictors from f and f' (a row for each output). The lattice is turned by
# the symmetric root of the covariance: that of its eigenvectors alone would be another one with
# another rounding, as their signs, and those of equal eigenvalues, are up to it.
lattice_of_row <- function(object, joint, z, offset, shift) {
  count <- ncol(z) %/% 2L
  own <- eigen(joint$cov, TRUE)
  size <- sqrt(pmax(own$values, 0))
  z <- z %*% own$vectors
  f <- rep(joint$mean, each = nrow(z)) + z %*% (size * t(own$vectors))
  slopes <- slopes_at(object, f[, seq_len(count), drop = FALSE],
                      f[, count + seq_len(count), drop = FALSE], offset, shift)
  centred <- sweep(slopes, 2L, colMeans(slopes))
  kept <- size > 1e-6 * max(size)
  linear <- crossprod(centred, z[, kept, drop = FALSE]) / nrow(z)
  linear <- linear %*% (t(own$vectors[, kept, drop = FALSE]) / size[kept])
  list(values = apply(slopes, 2L, sort), sd = sqrt(colMeans(centred^2)),
       value = linear[, seq_len(count), drop = FALSE],
       slope = linear[, count + seq_len(count), drop = FALSE])
}

# Returns slopes of the mean response at known latent values f whose derivatives are `along`, a row
# each, by differences over CLOSE: the error is about 1e-8 of the slope.
slopes_at <- function(object, f, along, offset, shift) {
  CLOSE <- 1e-4
  own <- cbind(along, shift / object$response$unit)
  h <- CLOSE / pmax(do.call(pmax, as.data.frame(abs(own))), 1e-150)
  few <- function(h) {
    known_response(object, f + h * along, offset_of_points(offset, h * shift, nrow(f)))
  }
  as.matrix((few(h) - few(-h)) / (2 * h))
}

offset_of_points <- function(offset, shift, n) {
  if (is.matrix(offset)) offset[rep_len(seq_len(nrow(offset)), n), , drop = FALSE] + shift
  else rep_len(offset, n) + shift
}

# Returns the proportion of a row's values below q, linear between them.
lattice_below <- function(each, q) {
  q <- as.matrix(q)
  out <- q
  for (row in seq_len(nrow(q))) {
    for (output in seq_len(ncol(q))) {
      values <- as.matrix(each[[row]]$values)[, output]
      out[row, output] <- findInterval(q[row, output], values) / length(values)
    }
  }
  if (ncol(out) == 1L) drop(out) else out
}
