# Distribution-free prediction intervals by jackknife+ from the leave-one-out predictions of a fit.
#
# With m_-i and s_-i mean and standard deviation of a new response without row i, the score of row i
# is r_i = |y_i - m_-i(x_i)| / s_-i(x_i), and the interval at x is between the a-th smallest of
# m_-i(x) - r_i s_-i(x) and the a-th largest of m_-i(x) + r_i s_-i(x), where a is
# floor((1 - level) (n + 1)).
# Scores divided by spreads are those of nested intervals (Gupta, Kuchibhotla and Ramdas, 2022), to
# which the theorem of Barber and others (2021) extends. Moments are of numbers on the fitted scale
# and of counts as they are; those of an ensemble are of the mixture without the row.
#
# Removing a row's site moves the moments at x by what they share with the row: with c the posterior
# covariance of f(x) and f_i, v the variance of f_i, and m_i - m, v_i - v the change of its own
# moments to those of its cavity, the mean changes by (c / v) (m_i - m), the variance by
# (c / v)^2 (v_i - v). On a basis c and v are of the parts that it carries.

# Stops where these intervals are not defined for a type or a response.
check_jackknife <- function(object, type) {
  refuse_if(!type %in% c("response", "median"),
            "interval", "= \"jackknife+\" is for types \"response\" and \"median\"",
            "Use interval = \"prediction\"")
  several <- functions_of(object) > 1L || n_outputs(object) > 1L
  refuse_if(several || is.null(calibrated_as(object)),
            "interval", paste("= \"jackknife+\" is not defined for", codec_of(object)$called),
            "Use another interval")
  refuse_if(inherits(weighting(object$likelihood), "weights_constants"),
            "interval", "= \"jackknife+\" is not defined for likelihoods with `data` of their own",
            "Use another interval")
}

# Returns a function of bounds and weights that gives the ends of the intervals, from values that
# scores are of; NULL: the response has no such intervals.
calibrated_as <- function(object) UseMethod("calibrated_as", codec_of(object))

#' @export
calibrated_as.response <- function(object) NULL

#' @export
calibrated_as.response_numbers <- function(object) function(ends, weights) ends

#' @export
calibrated_as.response_reals <- calibrated_as.response_numbers

#' @export
calibrated_as.response_times <- calibrated_as.response

#' @export
calibrated_as.response_transformed <- function(object) {
  from <- SCALES[[codec_of(object)$scale]]$from
  function(ends, weights) lapply(ends, from, object$response$scale)
}

#' @export
calibrated_as.response_counts <- function(object) {
  function(ends, weights) whole_ends(ends, codec_of(object)$unit_of_count(weights))
}

#' @export
calibrated_as.response_trials <- function(object) {
  whole <- NextMethod()
  function(ends, weights) lapply(whole(ends, weights), pmin, 1)
}

#' @export
calibrated_as.response_seen <- calibrated_as.response

#' @export
calibrated_as.response_positive <- function(object) {
  function(ends, weights) lapply(ends, pmax, 0)
}

#' @export
calibrated_as.response_proportions <- function(object) {
  function(ends, weights) lapply(ends, function(end) pmin(pmax(end, 0), 1))
}

# Returns the first and the last of the counts, multiples of `step`, in each interval: where there
# is none in it, the nearest.
whole_ends <- function(ends, step) {
  lower <- pmax(ceiling(ends[[1L]] / step), 0)
  upper <- pmax(floor(ends[[2L]] / step), 0)
  empty <- lower > upper
  nearest <- pmax(round((ends[[1L]] + ends[[2L]]) / (2 * step)), 0)
  list(ifelse(empty, nearest, lower) * step, ifelse(empty, nearest, upper) * step)
}

# Returns what predict() answers: intervals, with the spread of what is predicted where it is asked
# for. object: a fit that check_jackknife() has passed; latent: moments at the rows.
jackknife_answer <- function(object, newdata, offset, latent, request) {
  own <- with_rows(object)
  rows <- rows_asked(own, newdata, offset)
  ends <- jackknife_ends(scored_fit(own), rows, latent$weights, request$level)
  ends <- calibrated_as(object)(ends, weights_or_ones(latent$weights, 1L))
  type <- point_type(object, request$type)
  fit <- cbind(fit = point_answer(object, latent, type), lwr = ends[[1L]], upr = ends[[2L]])
  answer <- if (!request$se.fit) fit
            else list(fit = fit, se.fit = point_spread(object, latent, type))
  restore_rows(answer, latent)
}

# Returns the fit whose leave-one-out moments scores are made of. Members that read rows in their
# own way, or have scales of the response of their own, have no score in common: a fit that is
# integrated over these is then that at the mode.
scored_fit <- function(object) {
  shared <- !has_members(object) || is_read_once(object) && has_one_latent_scale(object, "link")
  refuse_if(!shared && object$ensemble$fixed,
            "interval", "= \"jackknife+\" is not defined for averages of fits on different scales",
            "Call predict() for each fit")
  if (shared) object else without_members(object)
}

# Returns both ends at each row, on the scale that scores are on.
jackknife_ends <- function(object, rows, weights, level) {
  PAIRS <- 1e6 # of rows of the fit and new rows at a time
  score <- loo_scores_of_rows(object)
  known <- is.finite(score)
  rank <- floor((1 - level) * (sum(known) + 1) * (1 + 1e-12))
  if (rank == 0) warn_few_rows(sum(known), level)
  x <- inputs_of_rows(object)
  count <- nrow(rows$x)
  weights <- rep_len(weights_or_ones(weights, count), count)
  ends <- lapply(if (count) row_blocks(count, max(1L, PAIRS %/% object$n)), function(some) {
    given <- list(x = rows$x[some, , drop = FALSE], weights = weights[some],
                  offset = rep_len(rows$offset, count)[some])
    without <- moments_without_rows(object, x, given)
    reach <- rep(score[known], each = length(some)) * without$sd[, known]
    list(ranked_value(without$mean[, known] - reach, length(some), rank),
         -ranked_value(-without$mean[, known] - reach, length(some), rank))
  })
  lapply(1:2, function(side) as.double(unlist(lapply(ends, `[[`, side))))
}

# Returns scaled inputs of the rows of the fit, or stops.
inputs_of_rows <- function(object) {
  if (!is.null(object[["x"]]) || every_row_in_basis(object)) return(training_inputs(object))
  stop_sparsegp("interval", "= \"jackknife+\" needs the inputs of the rows of the fit",
                "Fit with gp_control(keep_x = TRUE)")
}

warn_few_rows <- function(n, level) {
  warn_sparsegp("Jackknife+ intervals of level ", level, " need at least ",
                ceiling((1 - 1e-12) / (1 - level)) - 1, " rows, and the fit has ", n,
                ": their ends are infinite. Use a lower `level`.")
}

# Returns the number of this rank in each of the rows of a matrix, from below; rank 0: -Inf.
ranked_value <- function(values, rows, rank) {
  if (rank == 0) return(rep(-Inf, rows))
  apply(matrix(values, rows), 1L, function(own) sort(own, partial = rank)[rank])
}

# Returns |y - m| / s of each row of a fit without it; NA where it has no cavity.
loo_scores_of_rows <- function(object) {
  moments <- by_member(object, function(fit, x) {
    spread_of_responses(fit, c(fit$cavity[c("mean", "var")],
                               list(offset = object$offset, weights = object$weights)))
  }, function(each, fit) total_moments(each, loo_shares(fit)))
  abs(fitted_values_of(object, observed_values(object)) - moments$mean) / moments$sd
}

# Returns list(mean, sd), matrices: of a new response at new rows, by row, without each of the rows
# of the fit, by column. x: inputs of these; given: x, offset, weights of the new rows
moments_without_rows <- function(object, x, given) {
  count <- nrow(given$x)
  pairs <- by_member(object, function(fit, inputs) {
    own <- seq_len(nrow(x))
    moments <- latent_without_rows(fit, inputs[own, , drop = FALSE], inputs[-own, , drop = FALSE])
    spread_of_responses(fit, c(moments, list(offset = rep(given$offset, nrow(x)),
                                             weights = rep(given$weights, nrow(x)))))
  }, function(each, fit) {
    shares <- loo_shares(fit)
    if (is.matrix(shares)) shares <- shares[rep(seq_len(nrow(shares)), each = count), ]
    total_moments(each, shares)
  }, rbind(x, given$x))
  lapply(pairs, matrix, nrow = count)
}

# Returns mean and variance of the latent function at z without each of the rows x of a fit, no
# ensemble: those of all points of z for one row after the other.
latent_without_rows <- function(fit, x, z) {
  LEAST <- .Machine$double.eps # of a variance
  here <- engine_predict(fit, z)
  with <- covariances_with(fit, x)
  carried <- covariances_on_basis(fit, covariances_with(fit, z), with)
  part <- sweep(carried$between, 2L, carried$own, "/")
  part[!is.finite(part)] <- 0 # a row without any variance of its own moves nothing
  columns <- function(values) rep(c(values), each = nrow(z))
  before <- rep(c(here$var), nrow(x))
  var <- before + c(part)^2 * columns(fit$cavity$var - fit$latent$var)
  list(mean = rep(c(here$mean), nrow(x)) + c(part) * columns(fit$cavity$mean - fit$latent$mean),
       var = pmax(var, LEAST * before))
}

# Returns the covariances of points with the rows of a fit, and the rows' variances, of the parts
# of both that the basis carries; known, rows: as covariances_with() has them.
covariances_on_basis <- function(fit, known, rows) {
  H <- fit$posterior$H
  if (is.null(H)) { # of a full matrix, or a Markov process
    return(list(between = covariances_between(known, rows), own = c(fit$latent$var)))
  }
  shared <- function(side) cbind(side$Kx %*% full_factor(H, ncol(side$Kx)), side$u)
  own <- shared(rows)
  list(between = tcrossprod(shared(known), own), own = rowSums(own^2))
}

# Returns mean and standard deviation of new responses on the scale that scores are on.
spread_of_responses <- function(object, latent) {
  response_moments(on_fitted_scale(object), latent)
}

# Returns responses on that scale, in its units.
fitted_values_of <- function(object, y) {
  codec <- codec_of(object)
  if (is.null(codec$fitted)) y
  else codec$codes(y, object$response) * object$response$unit + object$response$centre
}
