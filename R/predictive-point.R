# Point predictions, type "response": the mean, unless it is far from most responses. Where
# a link grows without bound, as exp() does, means are integrals over the tails of what is known,
# and may be larger than nearly all responses, or infinite. So
# * a fit whose responses, given the latent function, have no mean, or one outside of their central
#   95 %, predicts medians, and its type "response" is "median" (point_type()): wide noise on scales
#   with an exponential tail, noise there whose spread is a function, negative powers near their
#   pole, times whose errors have such tails, and all on the asinh scale, where two exponential
#   tails cancel at best;
# * in other fits of an unbounded link a mean outside of the central 95 % of its own posterior is
#   replaced by the posterior's median, row by row.
# Means of bounded responses (probabilities, proportions) always exist, and are outside of that
# interval by .025 at most.

# Returns the type that is predicted when `type` is asked for.
point_type <- function(object, type) {
  if (type == "response" && !has_usable_mean(object)) "median" else type
}

# Have responses given the latent function, of all members, a mean to predict?
has_usable_mean <- function(object) {
  by_member(object, function(object, x) noise_has_mean(object),
            function(each, object) all(unlist(each)))
}

# Is the response fitted on another scale, so that its mean depends on the noise? Times, which are
# fitted as logarithms, have a likelihood of their own.
is_transformed <- function(object) {
  codec <- codec_of(object)
  inherits(codec, "response_transformed") && !inherits(codec, "response_times")
}

noise_has_mean <- function(object) UseMethod("noise_has_mean", codec_of(object))

#' @export
noise_has_mean.response <- function(object) TRUE

# Looks at responses at the constant and three units of the response to both sides of it.
#' @export
noise_has_mean.response_transformed <- function(object) {
  tails <- SCALES[[codec_of(object)$scale]]$tails %||% 0L
  if (tails != 1L) return(tails == 0L)
  # an exponential of noise whose log sd is normal has no mean
  if (n_outputs(object) > 1L) return(FALSE)
  known <- list(mean = c(-3, 0, 3), var = numeric(3L), offset = numeric(3L))
  ends <- response_quantiles(object, known, c(0.025, 0.975))
  all(is_between(mean_response(object, known), ends[, 1L], ends[, 2L]))
}

# Returns predictions of a type, point predictions among them, without an interval.
point_answer <- function(object, latent, type) {
  type <- point_type(object, type)
  if (type == "response") usable_mean(object, latent) else centre_answer(object, latent, type)
}

# Bounds of pairs of latent functions are about the mean itself.
usable_mean <- function(object, latent) {
  if (codec_of(object)$unbounded) mean_or_median(object, latent) else mean_response(object, latent)
}

# Returns means, and medians where these are outside of the central 95 % of their posterior.
mean_or_median <- function(object, latent) {
  mean <- mean_response(object, latent)
  at <- rows_to_check(object, latent)
  at <- at[!is.na(mean[at])] # a row that cannot be left out has no prediction
  if (length(at) == 0L) return(mean)
  open <- at[!is_within_members(object, latent_of_rows(object, latent, at), mean[at])]
  if (length(open) == 0L) return(mean)
  few <- latent_of_rows(object, latent, open)
  ends <- lapply(CENTRAL, confidence_bound, object = object, latent = few, type = "response")
  out <- open[!is_between(mean[open], ends[[1L]], ends[[2L]])]
  if (length(out) == 0L) return(mean)
  replace(mean, out, confidence_bound(object, latent_of_rows(object, latent, out), "response", 0))
}

CENTRAL <- stats::qnorm(c(0.025, 0.975))

# Is a mean within the intervals of all members? Then it is within that of their mixture, whose
# quantiles are between theirs and take longer to find.
is_within_members <- function(object, latent, mean) {
  leaves <- leaves_of(object, latent)
  ends <- lapply(CENTRAL, function(z) {
    over_leaves(leaves, function(object, latent) confidence_bound(object, latent, "response", z))
  })
  is_between(mean, do.call(pmax, ends[[1L]]), do.call(pmin, ends[[2L]]))
}

# Returns the rows whose means may be far out.
rows_to_check <- function(object, latent) UseMethod("rows_to_check", codec_of(object))

#' @export
rows_to_check.response <- function(object, latent) {
  seq_len(latent_count(latent, n_outputs(object)))
}

# On a scale, where answers take longer, only rows are checked where members differ, or are
# uncertain, by more than a unit: elsewhere an exponential varies by a factor of e at most.
#' @export
rows_to_check.response_transformed <- function(object, latent) {
  each <- over_leaves(leaves_of(object, latent), function(object, latent) {
    at <- location(object, latent)
    unit <- object$response$unit
    middle <- at$mean * unit + object$response$centre[[1L]]
    list(low = middle, high = middle + at$var * unit^2 / 2)
  })
  far <- do.call(pmax, lapply(each, `[[`, "high")) - do.call(pmin, lapply(each, `[[`, "low"))
  which(!(far < 1))
}

is_between <- function(x, low, high) (is.finite(x) & x >= low & x <= high) %in% TRUE

# Returns the moments of some rows, whose offsets and weights may be one number for all.
latent_of_rows <- function(object, latent, rows) {
  w <- n_outputs(object)
  some_latent(expand_latent(latent, w), rows, w)
}

# Returns what type "response" predicts at each row.
point_response <- function(object, latent) point_answer(object, latent, "response")

interval_answer <- function(object, latent, type, interval, level) {
  p <- (1 + c(-1, 1) * level) / 2
  bounds <- if (interval == "prediction") response_quantiles(object, latent, p)
            else do.call(cbind, confidence_bounds(object, latent, type, stats::qnorm(p)))
  cbind(fit = point_answer(object, latent, type), lwr = bounds[, 1L], upr = bounds[, 2L])
}

# Returns the standard deviation of what `type` predicts, over the posterior: of medians, whose
# variance the tails have as well, half the width of their central 68.3 %, as it is of a normal
# distribution.
point_spread <- function(object, latent, type) {
  if (type != "median") return(standard_deviation(object, latent, type))
  bound <- function(z) confidence_bound(object, latent, type, z)
  (bound(1) - bound(-1)) / 2
}

# Returns point prediction and standard deviation of a new response, or half the width of its
# central 68.3 % where the prediction is a median.
#' @export
point_moments.response <- function(object, latent) {
  if (has_usable_mean(object)) {
    moments <- response_moments(object, latent)
    return(list(mean = usable_mean(object, latent), sd = moments$sd))
  }
  list(mean = centre_answer(object, latent, "median"),
       sd = interval_width(object, latent, 1 - 2 * stats::pnorm(-1)) / 2)
}

# Returns words for print() where predictions are medians.
point_words <- function(object) {
  if (has_usable_mean(object)) return(NULL)
  "predictions are medians: the tails dominate means on this scale"
}
