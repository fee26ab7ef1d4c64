# Answers of an ensemble (posterior-ensemble.R): each member answers by the methods of its own kind
# of response, and the answers are combined to those of the mixture. With weights w_k,
#   mean and probability  sum_k w_k m_k
#   variance              sum_k w_k (v_k + (m_k - m)^2), the law of total variance
#   quantile of p         the root q of sum_k w_k F_k(q) = p, which is between the smallest and
#                         the largest of the members' quantiles
# Leave-one-out: let w_k be proportional to p(y | k) p(k), so that without row i, by p(y | k) =
# p(y_i | y_-i, k) p(y_-i | k), they are proportional to w_k / p_k(y_i | y_-i). The mixture's
# density is then
#   p(y_i | y_-i) = sum_k w_k / sum_k (w_k / p_k(y_i | y_-i)),
# Gelfand, Dey and Chang's (1992) harmonic mean, over the members instead of draws. Weights that are
# fixed do not change, and densities are averaged.

# Returns what `what` gives for each member and its own latent moments.
over_members <- function(object, latent, what) {
  lapply(seq_along(latent$members), function(k) {
    what(as_member(object, k), member_latent(latent, k))
  })
}

mixed_over <- function(object, latent, what) {
  mixed(over_members(object, latent, what), latent$shares)
}

# ---- Means, probabilities and spreads ----

#' @export
mean_response.response_ensemble <- function(object, latent) {
  mixed_over(object, latent, mean_response)
}

#' @export
class_probabilities.response_ensemble <- function(object, latent) {
  mixed_over(object, latent, class_probabilities)
}

#' @export
centre_answer.response_ensemble <- function(object, latent, type) {
  if (type == "median" && has_median_of_mixture(object)) {
    return(confidence_bound(object, latent, type, 0))
  }
  mixed_over(object, latent, function(object, latent) centre_answer(object, latent, type))
}

# Is the median of a mixture found, or the mean of the members' medians, as of components?
has_median_of_mixture <- function(object) {
  inherits(codec_of(object), "response_transformed") || n_outputs(object) == 1L ||
    !has_components(object)
}

# Mean and standard deviation of the mixture, from those of its members
total_moments <- function(each, shares) {
  mean <- mixed(lapply(each, `[[`, "mean"), shares)
  var <- mixed(lapply(each, function(one) one$sd^2 + (one$mean - mean)^2), shares)
  list(mean = mean, sd = sqrt(var))
}

#' @export
standard_deviation.response_ensemble <- function(object, latent, type) {
  each <- over_members(object, latent, function(object, latent) {
    list(mean = centre_answer(object, latent, type), sd = standard_deviation(object, latent, type))
  })
  total_moments(each, latent$shares)$sd
}

#' @export
response_moments.response_ensemble <- function(object, latent) {
  total_moments(over_members(object, latent, response_moments), latent$shares)
}

#' @export
log_unit.response_ensemble <- function(object, latent) mixed_over(object, latent, log_unit)

# ---- Quantiles ----

# Returns where the distribution functions of the members, averaged, are p; members that are
# ensembles are replaced by theirs. member(object, latent) gives of each the function `below` of q,
# and its own quantile of p, `end`.
mixed_quantile <- function(object, latent, p, member) {
  leaves <- leaves_of(object, latent)
  each <- over_leaves(leaves, member)
  shares <- shares_of(leaves)
  ends <- lapply(each, `[[`, "end")
  excess <- function(q) mixed(lapply(each, function(one) one$below(q)), shares) - p
  increasing_root(excess, do.call(pmin, ends), do.call(pmax, ends))
}

# Inverts the tails of the mixture of new responses: from the quantiles of the member with the
# largest weight, or, where that is too far from others, between the quantiles of all. Points that
# were seen have no tails, and quantiles are those of their density.
#' @export
response_quantile.response_ensemble <- function(object, p, latent) {
  leaves <- leaves_of(object, latent)
  if (have_normal_responses(leaves)) return(normal_response_quantile(leaves, p))
  if (!has_tails(object, latent)) {
    return(confidence_bound(object, latent, "response", stats::qnorm(p)))
  }
  p <- rep_len(p, latent_count(latent, n_outputs(object)))
  step <- step_of_response(object, latent)
  shared <- shared_scale(leaves)
  fitted <- function(one) replace(one, "object", list(on_fitted_scale(one$object)))
  if (!is.null(shared)) leaves <- lapply(leaves, fitted)
  found <- root_by_guess(curve_of_mixture(leaves), p, step)
  open <- which(found$open)
  if (length(open)) {
    few <- leaves_of(object, latent_of_rows(object, latent, open))
    if (!is.null(shared)) few <- lapply(few, fitted)
    found$q[open] <- quantile_between(few, p[open], step)
  }
  if (is.null(shared)) found$q else SCALES[[shared$name]]$from(found$q, shared$record)
}

# Returns the scale of responses that all members have, list(name, record), or NULL. Quantiles are
# found on it, where digits do not end as those of the responses may.
shared_scale <- function(leaves) {
  each <- unique(lapply(leaves, function(one) {
    codec <- codec_of(one$object)
    if (!is.null(codec[["fitted"]])) {
      list(name = codec[["scale"]], record = one$object$response$scale)
    }
  }))
  if (length(each) == 1L) each[[1L]]
}

# Returns what quantiles are multiples of, 0 where they are any numbers.
step_of_response <- function(object, latent) {
  codec <- codec_of(object)
  if (codec$jumps) codec$unit_of_count(weights_or_ones(latent$weights, 1L)) else 0
}

# Returns the curve of a mixture, and its guess, for root_by_guess().
curve_of_mixture <- function(leaves) {
  leaves <- lapply(leaves, function(one) replace(one, "object", list(with_memory(one$object))))
  shares <- shares_of(leaves)
  first <- leaves[[which.max(if (is.matrix(shares)) colMeans(shares) else shares)]]
  jumps <- codec_of(first$object)$jumps
  list(quantile = function(p) response_quantile(first$object, p, first$latent),
       odds = function(q) {
    each <- over_leaves(leaves, function(object, latent) response_tails(object, q, latent))
    above <- mixed(lapply(each, `[[`, "above"), shares)
    below <- if (jumps) 1 - above else mixed(lapply(each, `[[`, "below"), shares)
    log(below) - log(above)
  })
}

# Finds the root of log odds, which have digits at both ends.
quantile_between <- function(leaves, p, step) {
  BEYOND <- 800 # log odds of what is below all numbers
  ends <- over_leaves(leaves, function(object, latent) response_quantile(object, p, latent))
  odds <- curve_of_mixture(leaves)$odds
  excess <- function(q) pmax(pmin(odds(q), BEYOND), -BEYOND) - stats::qlogis(p)
  root <- if (any(step > 0)) function(...) first_whole(..., step) else increasing_root
  root(excess, do.call(pmin, ends), do.call(pmax, ends))
}

has_tails <- function(object, latent) {
  if (codec_of(object)$tails) return(TRUE)
  one <- some_latent(expand_latent(latent, n_outputs(object)), 1L, n_outputs(object))
  !is.null(response_tails(object, 0, one))
}

#' @export
response_tails.response_ensemble <- function(object, y, latent) {
  each <- over_members(object, latent, function(object, latent) response_tails(object, y, latent))
  if (is.null(each[[1L]])) return(NULL)
  mixed_tails <- function(side) mixed(lapply(each, `[[`, side), latent$shares)
  list(below = mixed_tails("below"), above = mixed_tails("above"), jumps = each[[1L]]$jumps)
}

# Returns a bound of a function of the latent values, over their posterior. The function increases,
# so a member's distribution function at q is that of the standard normal z whose quantile is q.
#' @export
confidence_bound.response_ensemble <- function(object, latent, type, z) {
  mixture_bound(object, latent, type, z)
}

mixture_bound <- function(object, latent, type, z) UseMethod("mixture_bound", codec_of(object))

# The mean of numbers on no scale of their own is the latent function.
#' @export
mixture_bound.response <- function(object, latent, type, z) {
  codec <- codec_of(object)
  normal <- type %in% c("link", "latent") || codec$scaled && is.null(codec[["scale"]])
  if (normal) normal_bound(object, latent, type, z)
  else bound_by_predictor(object, latent, type, z)
}

# Returns bounds of what is normal for each member: its mean and spread are those of its own bounds.
normal_bound <- function(object, latent, type, z) {
  leaves <- leaves_of(object, latent)
  each <- over_leaves(leaves, function(object, latent) {
    mean <- confidence_bound(object, latent, type, 0)
    list(mean = mean, sd = confidence_bound(object, latent, type, 1) - mean)
  })
  mixed_normal_quantile(each, shares_of(leaves), stats::pnorm(z))
}

#' @export
mixture_bound.response_transformed <- mixture_bound.response

# Mean and bounds of the first of two latent functions are no shifts of the other's answers.
#' @export
mixture_bound.response_components <- function(object, latent, type, z) {
  bound_by_roots(object, latent, type, z)
}

# Certain, and slow: roots of distribution functions that are roots themselves
bound_by_roots <- function(object, latent, type, z) {
  mixed_quantile(object, latent, stats::pnorm(z), function(object, latent) {
    at <- function(z) confidence_bound(object, latent, type, z)
    list(below = below_by_quantiles(at), end = at(z))
  })
}

# With f the linear predictor and g_k(f) the mean (or median) response of member k, the
# quantile q has sum_k w_k P_k(g_k^-1(q)) = p, P_k the distribution function of f. Steps of Newton's
# for q and each f_k = g_k^-1(q) at once, with slopes of g_k by the steps before, begin at
# common_start(), and of rows where these do not converge, as between far members or where g_k are
# flat, at tabulated_start(). Rows where neither start converges use root finding. Cost: some four
# values of each g_k, and where there is a table some eighty.
bound_by_predictor <- function(object, latent, type, z) {
  w <- n_outputs(object)
  latent <- expand_latent(latent, w)
  q <- numeric(latent_count(latent, w))
  z <- rep_len(z, length(q))
  open <- seq_along(q)
  for (start in list(common_start, tabulated_start)) {
    leaves <- leaves_of(object, some_latent(latent, open, w))
    found <- newton_bounds(leaves, shares_of(leaves), type, z[open], start)
    q[open] <- found$q
    open <- open[found$open]
    if (length(open) == 0L) return(q)
  }
  replace(q, open, bound_by_roots(object, some_latent(latent, open, w), type, z[open]))
}

# Returns list(q, open): the quantiles, and which of them are not found.
newton_bounds <- function(leaves, shares, type, z, start) {
  STEPS <- 8L
  EQUAL <- 1e-7 # relative to the distances of the members' quantiles and their spreads
  REACHED <- 1e-4 # the same: where a member is not that near to q, its g_k was flat on the way
  answer <- if (type == "median") median_response else response_at
  members <- Map(function(one, own) {
    c(own, list(g = function(f) answer(one$object, one$latent, f - own$mean)))
  }, leaves, over_leaves(leaves, normal_predictor))
  state <- first_bounds(members, shares, z, start(leaves, members, shares, z))
  q <- state$q
  open <- rep(TRUE, length(q))
  for (step in seq_len(STEPS)) {
    before <- state$q
    state <- next_bounds(state, shares, z)
    away <- do.call(pmax, lapply(state$each, function(one) abs(one$at - state$q)))
    found <- open & abs(state$q - before) <= EQUAL * state$size & away <= REACHED * state$size
    q[which(found)] <- state$q[which(found)] # further steps may lead away where g_k is flat
    open <- open & !(found %in% TRUE)
    if (!any(open)) break
  }
  list(q = q, open = open)
}

# Returns list(q, size, each): the first quantiles, and of each member its distribution, f, g(f) and
# the inverse of the slope there (0: flat). start: f of each member
first_bounds <- function(members, shares, z, start) {
  each <- Map(function(own, f) {
    at <- own$g(f)
    slope <- (own$g(f + own$sd / 10) - at) * 10 / own$sd
    c(own, list(f = f, at = at, flat = ifelse(slope > 0, 1 / slope, 0)))
  }, members, start)
  at <- lapply(each, `[[`, "at")
  # the slope at the end of a scale is not informative about the spread
  spread <- lapply(members, function(own) own$g(own$mean + own$sd) - own$g(own$mean))
  size <- do.call(pmax, at) - do.call(pmin, at) + do.call(pmax, spread)
  q <- quantile_step(each, shares, mixed(at, shares), z)
  list(q = between_ends(q, at), size = size, each = each)
}

# Returns where each member begins: where g_k is the same function for all at the quantile f of the
# mixture of the P_k, which is exact, and else at the members' own quantiles.
common_start <- function(leaves, members, shares, z) {
  if (!is_on_one_scale(leaves)) return(lapply(members, function(own) own$mean + z * own$sd))
  rep(list(mixed_normal_quantile(members, shares, stats::pnorm(z))), length(members))
}

# The same, from values of g_k at nodes, between which it is taken to be linear.
tabulated_start <- function(leaves, members, shares, z) {
  nodes <- seq(-8, 8, by = 0.25) # standard deviations
  tables <- lapply(members, function(own) {
    values <- lapply(nodes, function(node) own$g(own$mean + node * own$sd))
    t(apply(do.call(cbind, values), 1L, cummax))
  })
  ends <- lapply(members, function(own) own$g(own$mean + z * own$sd))
  below <- function(q) {
    mixed(lapply(tables, function(table) stats::pnorm(node_of(q, table, nodes))), shares)
  }
  q <- increasing_root(function(q) below(q) - stats::pnorm(z), do.call(pmin, ends),
                       do.call(pmax, ends))
  Map(function(own, table) own$mean + node_of(q, table, nodes) * own$sd, members, tables)
}

# Returns where a table's rows, increasing from node to node, are q.
node_of <- function(q, table, nodes) {
  at <- pmin(pmax(rowSums(table <= q), 1), length(nodes) - 1)
  low <- table[cbind(seq_along(q), at)]
  rise <- table[cbind(seq_along(q), at + 1)] - low
  part <- ifelse(rise > 0, (q - low) / rise, 0)
  nodes[at] + pmin(pmax(part, 0), 1) * (nodes[at + 1] - nodes[at])
}

# Moves each f to where g(f) is about q, and q to the quantile by these.
next_bounds <- function(state, shares, z) {
  CLOSE <- 1e-4 # standard deviations, below which a slope by differences is noise
  each <- lapply(state$each, function(one) {
    move <- pmin(pmax((state$q - one$at) * one$flat, -4 * one$sd), 4 * one$sd)
    at <- one$g(one$f + move)
    slope <- (at - one$at) / move
    better <- abs(move) > CLOSE * one$sd & is.finite(slope) & slope > 0
    replace(one, c("f", "at", "flat"),
            list(one$f + move, at, ifelse(better, 1 / slope, one$flat)))
  })
  list(q = quantile_step(each, shares, state$q, z), size = state$size, each = each)
}

between_ends <- function(q, at) pmin(pmax(q, do.call(pmin, at)), do.call(pmax, at))

# Returns the root of sum_k w_k P_k(f_k + (q - g_k) / g_k') = pnorm(z), linear in q about `near`.
quantile_step <- function(each, shares, near, z) {
  reached <- lapply(each, function(one) one$f + (near - one$at) * one$flat)
  below <- mixed(Map(function(one, f) stats::pnorm(f, one$mean, one$sd), each, reached), shares)
  density <- mixed(Map(function(one, f) stats::dnorm(f, one$mean, one$sd) * one$flat, each,
                       reached), shares)
  # beyond what a response can reach nothing changes
  ifelse(density > 0, near - (below - stats::pnorm(z)) / density, near)
}

# Mean and standard deviation of the linear predictor, or of the part of it that is a location.
normal_predictor <- function(object, latent) {
  own <- location(object, latent)
  list(mean = own$mean + latent_bias(object), sd = sqrt(own$var))
}

# Have all members one likelihood, and the response on the same scale and in the same unit?
is_on_one_scale <- function(leaves) {
  of <- function(fit, latent) list(fit$likelihood$type, fit$response[c("centre", "unit", "scale")])
  length(unique(over_leaves(leaves, of))) == 1L
}

# Returns the distribution function whose quantiles at pnorm(z) are at(z). Where these are linear in
# z it follows from two of them.
below_by_quantiles <- function(at) {
  FAR <- 8 # standard deviations, beyond which it is 0 or 1
  EQUAL <- 1e-10
  middle <- at(0)
  slope <- at(1) - middle
  function(q) {
    z <- pmin(pmax((q - middle) / slope, -FAR), FAR)
    linear <- abs(z) == FAR | abs(at(z) - q) <= EQUAL * slope
    if (!isTRUE(all(linear & slope > 0))) { # nor where they are infinite
      far <- rep(FAR, length(q))
      z <- increasing_root(function(z) at(z) - q, -far, far)
    }
    stats::pnorm(z)
  }
}

#' @export
vector_bound.response_ensemble <- function(object, latent, prediction, p) {
  leaves <- leaves_of(object, latent)
  each <- over_leaves(leaves, function(object, latent) {
    list(mean = vector_means(object, latent), sd = spread_of_kind(object, latent, prediction))
  })
  bounds <- each[[1L]]$mean # of rows and components
  bounds[] <- mixed_normal_quantile(each, shares_of(leaves), p)
  bounds
}

# ---- Rows of the fit ----

#' @export
lpd_of_rows.response_ensemble <- function(object) {
  lpd <- lpd_of_members(object)
  weights <- object$ensemble$weights
  if (object$ensemble$fixed) log_mean_exp(lpd, weights) else -log_mean_exp(-lpd, weights)
}

# A mixture with fixed weights is not a model whose evidence the data give.
#' @export
evidence_of.response_ensemble <- function(object) {
  if (object$ensemble$fixed) NA_real_ else NextMethod()
}

# Returns log sum_k w_k exp(scores[, k]).
log_mean_exp <- function(scores, weights) {
  most <- do.call(pmax, as.data.frame(scores))
  most + log(drop(exp(scores - most) %*% weights))
}
