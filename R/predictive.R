# From latent moments in C's units to what a user asked for, and back to the rows asked for. What
# depends on the kind of response is a generic, dispatched on the class of the fit's codec
# (response_class() in response-codec.R), so who calls it does not ask for the kind. Methods
# are in predictive-<kind>.R; response_*.default is called `response`:
#   seen_mean(object, latent)        what the likelihood sees: latent function and offset, C's units
#   to_response(object, mean)        a mean response in the user's units, from C's
#   mean_response(object, latent)    of classes their probabilities
#   median_response(object, latent, shift)   the median at a quantile of the latent function, and
#   response_at(object, latent, shift)       the mean response there; they differ on a scale
#   known_response(object, f, offset)   the mean response at known latent values, a row of f each
#   standard_deviation(object, latent, type) of what `type` predicts, over the posterior
#   confidence_bound(object, latent, type, z)  its quantile of pnorm(z), and
#   confidence_bounds(object, latent, type, z)   a list of several
#   response_moments(object, latent)    mean and sd of a new response; not of several classes
#   interval_width(object, latent, p)   of the central interval of content p; of components, as
#                                       response_tails(), a matrix
#   class_probabilities(object, latent) of labels only
#   centre_answer(object, latent, type)   what `type` predicts, without an interval
#   response_quantile(object, p, latent)  a quantile of new responses; p: one, or one for each row
#   vector_bound(object, latent, prediction, p)  a quantile of each component
#   point_moments(object, latent)    point prediction (predictive-point.R) and sd of a new response
#   predicted(object, latent, request)  what predict() answers; request: its arguments
#   draws_of(object, latent, n, type)   what draws() answers
#   draw_response(object, f, weights, prob)   new responses at latent values f
#   observed_values(object)          what residuals are taken of
#   quantile_residuals(object)       a vector or matrix of all rows, from response_tails()
#   response_tails(object, y, latent)   probabilities of less than each response and of more, at
#                                    latent moments of the rows, and whether quantiles jump at a
#                                    response; NULL where responses have none
#   lpd_of_rows(object)              leave-one-out log predictive densities
#   loo_table(object)                the columns of loo() before these
#   noise_sds(object)                standard deviation of the errors, NULL where rows differ
#   evidence_of(object)              log evidence, NA where the responses have no joint one
#   log_unit(object, latent)         mean logarithm of what a code's unit is in the response's
#   site_table(object)               what sites() answers
# Latent moments of an ensemble (posterior-ensemble.R) have those of its members, whose answers are
# combined (predictive-ensemble.R); everything else sees the moments of the mixture.
# In other rooms augmented() (api-tidy.R) and pictures are dispatched alike.

# Returns the codec on whose class an answer from latent moments is dispatched.
kind_of <- function(object, latent) {
  codec <- codec_of(object)
  if (!is.null(latent$members)) class(codec) <- c("response_ensemble", class(codec))
  codec
}

seen_mean <- function(object, latent) UseMethod("seen_mean", codec_of(object))
to_response <- function(object, mean) UseMethod("to_response", codec_of(object))
mean_response <- function(object, latent) UseMethod("mean_response", kind_of(object, latent))
median_response <- function(object, latent, shift = 0) {
  UseMethod("median_response", codec_of(object))
}
response_at <- function(object, latent, shift = 0) UseMethod("response_at", codec_of(object))
known_response <- function(object, f, offset) UseMethod("known_response", codec_of(object))
standard_deviation <- function(object, latent, type) {
  UseMethod("standard_deviation", kind_of(object, latent))
}
confidence_bound <- function(object, latent, type, z) {
  UseMethod("confidence_bound", kind_of(object, latent))
}
confidence_bounds <- function(object, latent, type, z) {
  UseMethod("confidence_bounds", codec_of(object))
}
response_moments <- function(object, latent) {
  UseMethod("response_moments", kind_of(object, latent))
}
class_probabilities <- function(object, latent) {
  UseMethod("class_probabilities", kind_of(object, latent))
}
centre_answer <- function(object, latent, type) {
  UseMethod("centre_answer", kind_of(object, latent))
}
response_quantile <- function(object, p, latent) {
  UseMethod("response_quantile", kind_of(object, latent))
}
response_tails <- function(object, y, latent) UseMethod("response_tails", kind_of(object, latent))
vector_bound <- function(object, latent, prediction, p) {
  UseMethod("vector_bound", kind_of(object, latent))
}
interval_width <- function(object, latent, p) UseMethod("interval_width", codec_of(object))
point_moments <- function(object, latent) UseMethod("point_moments", codec_of(object))
predicted <- function(object, latent, request) UseMethod("predicted", codec_of(object))
draws_of <- function(object, latent, n, type) UseMethod("draws_of", codec_of(object))
draw_response <- function(object, f, weights, prob) UseMethod("draw_response", codec_of(object))
observed_values <- function(object) UseMethod("observed_values", codec_of(object))
quantile_residuals <- function(object) UseMethod("quantile_residuals", codec_of(object))
lpd_of_rows <- function(object) UseMethod("lpd_of_rows", kind_of(object, object$ensemble))
loo_table <- function(object) UseMethod("loo_table", codec_of(object))
noise_sds <- function(object) UseMethod("noise_sds", codec_of(object))
evidence_of <- function(object) UseMethod("evidence_of", kind_of(object, object$ensemble))
log_unit <- function(object, latent) UseMethod("log_unit", kind_of(object, latent))
site_table <- function(object) UseMethod("site_table", codec_of(object))

# ---- Labels ----

# The most probable label of each row, NA where its probability is below `reject`
most_probable <- function(prob, reject = 0) {
  at <- max.col(prob, "first")
  at[prob[cbind(seq_along(at), at)] < reject] <- NA
  factor(colnames(prob)[at], colnames(prob))
}

# The same as a response of the fit, which may be ordered
predicted_class <- function(object, prob, reject = 0) {
  codec <- codec_of(object)
  labels <- codec$back(codec$codes(most_probable(prob, reject)), object$response)
  with_all_levels(labels, object$response)
}

# ---- One latent function, whatever the response ----

# Latent values in C's units, and the mean response at them, as the user sees them.
to_latent <- function(object, f, offset) f * object$response$unit + object$response$centre + offset

# Returns the bias that the likelihood adds to each latent function, or 0.
latent_bias <- function(object) {
  bias <- object$hyper$theta[object$hyper$base == "bias"]
  if (length(bias)) bias else rep(0, processes(object))
}

# Returns f plus bias (and offset); f: a vector, or with several latent functions a matrix.
to_link <- function(object, f, offset) {
  to_latent(object, f, offset) + rep(latent_bias(object), each = NROW(f))
}

# Mean and covariance matrix of the linear predictor, latent function and bias, of a fit of one
# latent function at x, in C's units. Members of an ensemble have biases of their own.
joint_predictor <- function(fit, x) {
  by_member(fit, function(fit, x) {
    joint <- joint_moments(fit, x)
    joint$mean <- joint$mean + latent_bias(fit) / fit$response$unit
    joint
  }, mixed_joint, x)
}

# Returns predictions of a type without an interval.
#' @export
centre_answer.response <- function(object, latent, type) {
  switch(type,
         link = to_link(object, latent$mean, latent$offset),
         latent = to_latent(object, latent$mean, latent$offset),
         median = median_response(object, latent),
         mean_response(object, latent))
}

# Returns the moments of some of the rows.
some_latent <- function(latent, rows, w) {
  few <- list(mean = some_rows(latent$mean, stacked_rows(rows, w)),
              var = some_rows(latent$var, stacked_rows(rows, w * w)),
              offset = some_rows(latent$offset, rows))
  few$weights <- latent$weights[rows]
  if (!is.null(latent$members)) {
    few$members <- lapply(latent$members, function(own) {
      own <- some_latent(own, rows, w)
      own[lengths(own) > 0L]
    })
    few$shares <- if (is.matrix(latent$shares)) some_rows(latent$shares, rows) else latent$shares
  }
  few
}

# Calls fun(lik, theta, rows, mean, var, ...) of the engine at responses y, in C's units, under the
# moments of the rows.
of_responses <- function(fun, object, y, latent, ...) {
  weights <- rep_len(weights_or_ones(latent$weights, length(y)), length(y))
  fun(lik_of_fit(object), lik_theta(object), lik_traits(object$likelihood)$data_rows(y, weights),
      stacked_values(seen_mean(object, latent)), c(latent$var), ...)
}

latent_count <- function(latent, w) NROW(latent$mean) %/% w

# Returns the moments with an offset for each row, and a weight where there are some.
expand_latent <- function(latent, w) {
  n <- latent_count(latent, w)
  offset <- latent$offset
  latent$offset <- if (is.matrix(offset)) some_rows(offset, rep_len(seq_len(nrow(offset)), n))
                   else rep_len(offset, n)
  if (!is.null(latent$weights)) latent$weights <- rep_len(latent$weights, n)
  latent
}

# C counts successes, of which a proportion is a jump.
#' @export
response_quantile.response <- function(object, p, latent) {
  unit <- codec_of(object)$unit_of_count(weights_or_ones(latent$weights, 1L))
  y <- numeric(latent_count(latent, n_outputs(object)))
  to_response(object, unit * of_responses(engine_lik_quantile, object, y, latent, p))
}

quantile_answer <- function(object, latent, probs) {
  each <- response_quantiles(object, latent, probs)
  colnames(each) <- quantile_names(probs)
  each
}

# Returns quantiles of new responses, a column for each probability. They are found together, each
# row's after each other, as what one of them has shown of its distribution serves the next. find:
# response_quantile(), or the like
response_quantiles <- function(object, latent, probs, find = response_quantile) {
  w <- n_outputs(object)
  latent <- expand_latent(latent, w)
  times <- length(probs)
  size <- times * max(1L, length(latent$members))
  each <- lapply(row_blocks(latent_count(latent, w), max(1L, MOST_QUANTILES %/% size)),
                 function(rows) {
    some <- some_latent(latent, rep(rows, each = times), w)
    matrix(find(object, rep(probs, length(rows)), some), ncol = times, byrow = TRUE)
  })
  in_order(do.call(rbind, each), probs)
}

# Returns quantiles that increase with p, as far as rounding has not let them.
in_order <- function(quantiles, probs) {
  columns <- order(probs)
  for (k in seq_along(columns)[-1L]) {
    quantiles[, columns[k]] <- pmax(quantiles[, columns[k]], quantiles[, columns[k - 1L]])
  }
  quantiles
}

MOST_QUANTILES <- 1000000L # at hand, times members

# As stats::quantile() names them
quantile_names <- function(probs) {
  paste0(formatC(100 * probs, format = "fg", width = 1L, digits = 7L), "%")
}

#' @export
confidence_bounds.response <- function(object, latent, type, z) {
  lapply(z, confidence_bound, object = object, latent = latent, type = type)
}

# Latent moments in C's units at the fit's rows; `complete` and `names` put answers back in place;
# `na` is the na.action whose rows napredict() restores; `weights` those of new responses, where
# they are known.
rows_latent <- function(object) {
  c(own_moments(object, "latent", function(object) object$ensemble$weights),
    list(offset = object$offset, complete = rep(TRUE, object$n), names = object$row_names,
         na = object$na.action, weights = own_weights(object)))
}

# The same without their own sites. object: a fit that has its rows, see with_rows().
loo_latent <- function(object) {
  c(own_moments(object, "cavity", loo_shares), list(offset = object$offset,
                                                    weights = own_weights(object)))
}

# field: "latent" or "cavity"; shares(object): weights of the members, where there are some
own_moments <- function(object, field, shares) {
  by_member(object, function(object, x) object[[field]][c("mean", "var")],
            function(each, object) mixed_moments(object, each, shares(object)))
}

# Returns the weights of the members without each row; see
# predictive-ensemble.R. Those without a response do not count.
loo_shares <- function(object) {
  weights <- object$ensemble$weights
  if (object$ensemble$fixed) return(weights)
  lpd <- lpd_of_members(object)
  lpd[is.na(lpd)] <- 0
  exp(log_tempered(rep(log(weights), each = nrow(lpd)) - lpd, NULL))
}

# A column for each member
lpd_of_members <- function(object) {
  matrix(unlist(each_member(object, lpd_of_rows)), object$n)
}

# Mean and variance of the latent value that responses scatter about, in C's units: of mean and
# spread the first.
location <- function(object, latent) {
  list(mean = unname(cbind(seen_mean(object, latent))[, 1L]),
       var = location_variance(object, latent))
}

location_variance <- function(object, latent) matrix(latent$var, n_outputs(object)^2)[1L, ]

# ---- Moments over nodes ----

normal_nodes <- function(step, sds) {
  REACH <- 9 # standard deviations
  MOST <- 37 # beyond these a density is no number
  far <- step * ceiling(min(REACH + max(sds, 0), MOST) / step)
  seq(-far, far, by = step)
}

# Weights of equidistant nodes of a standard normal variable
normal_weights <- function(t) stats::dnorm(t) / sum(stats::dnorm(t))

# Mean and standard deviation of each row of values at nodes, which may be infinite: then so are
# these.
node_moments <- function(values, weight) {
  mean <- drop(values %*% weight)
  list(mean = mean, sd = ifelse(is.finite(mean), sqrt(drop((values - mean)^2 %*% weight)), Inf))
}

# ---- Back to the rows asked for ----

# answer: a vector, a matrix, an array whose first dimension the rows are, or a list of these
restore_rows <- function(answer, latent) {
  if (is.list(answer)) return(lapply(answer, restore_rows, latent))
  at <- asked_rows(latent)
  if (is.null(dim(answer))) return(stats::setNames(answer[at], names(at)))
  out <- if (is.matrix(answer)) answer[at, , drop = FALSE] else answer[at, , , drop = FALSE]
  dimnames(out) <- c(list(names(at)), dimnames(out)[-1L])
  out
}

# Returns for every requested row its number among the complete ones, or NA; by name.
asked_rows <- function(latent) {
  at <- match(seq_along(latent$complete), which(latent$complete))
  names(at) <- latent$names
  if (is.null(latent$na)) at else stats::napredict(latent$na, at)
}
