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
  if (type == "median" && n_outputs(object) == 1L) {
    return(confidence_bound(object, latent, type, 0))
  }
  mixed_over(object, latent, function(object, latent) centre_answer(object, latent, type))
}

#' @export
standard_deviation.response_ensemble <- function(object, latent, type) {
  centre <- function(object, latent) centre_answer(object, latent, type)
  mean <- mixed_over(object, latent, centre)
  sqrt(mixed_over(object, latent, function(object, latent) {
    standard_deviation(object, latent, type)^2 + (centre(object, latent) - mean)^2
  }))
}

#' @export
response_moments.response_ensemble <- function(object, latent) {
  each <- over_members(object, latent, response_moments)
  mean <- mixed(lapply(each, `[[`, "mean"), latent$shares)
  var <- mixed(lapply(each, function(one) one$sd^2 + (one$mean - mean)^2), latent$shares)
  list(mean = mean, sd = sqrt(var))
}

#' @export
log_unit.response_ensemble <- function(object, latent) mixed_over(object, latent, log_unit)

# ---- Quantiles ----

# Returns where the members' distribution functions, averaged, are p. member(object, latent) gives
# of each the function `below` of q, and its own quantile of p, `end`. root: increasing_root(), or
# the like
mixed_quantile <- function(object, latent, p, member, root = increasing_root) {
  each <- over_members(object, latent, member)
  ends <- lapply(each, `[[`, "end")
  excess <- function(q) mixed(lapply(each, function(one) one$below(q)), latent$shares) - p
  root(excess, do.call(pmin, ends), do.call(pmax, ends))
}

# Of new responses, by their tails
#' @export
response_quantile.response_ensemble <- function(object, p, latent) {
  jumps <- response_jumps(object)
  step <- codec_of(object)$unit_of_count(weights_or_ones(latent$weights, 1L))
  member <- function(object, latent) {
    below <- function(q) {
      tails <- response_tails(object, q, latent)
      if (!jumps) tails$below else 1 - tails$above
    }
    list(below = below, end = response_quantile(object, p, latent))
  }
  root <- if (!jumps) increasing_root else function(f, lower, upper) {
    first_whole(f, lower, upper, step)
  }
  mixed_quantile(object, latent, p, member, root)
}

#' @export
response_tails.response_ensemble <- function(object, y, latent) {
  each <- over_members(object, latent, function(object, latent) response_tails(object, y, latent))
  mixed_tails <- function(side) mixed(lapply(each, `[[`, side), latent$shares)
  list(below = mixed_tails("below"), above = mixed_tails("above"), jumps = each[[1L]]$jumps)
}

# Of a function of the latent values, over their posterior. It increases with the latent function,
# so a member's distribution function at q is that of the standard normal z whose quantile q is.
#' @export
confidence_bound.response_ensemble <- function(object, latent, type, z) {
  mixture_bound(object, latent, type, z)
}

mixture_bound <- function(object, latent, type, z) UseMethod("mixture_bound", codec_of(object))

#' @export
mixture_bound.response <- function(object, latent, type, z) {
  if (!type %in% c("link", "latent") && is_on_one_scale(object)) {
    return(bound_by_predictor(object, latent, type, z))
  }
  mixed_quantile(object, latent, stats::pnorm(z), function(object, latent) {
    at <- function(z) confidence_bound(object, latent, type, z)
    list(below = below_by_quantiles(at), end = at(z))
  })
}

# With f the latent function plus bias and g_k(f) the mean (or median) response of member k, the
# quantile q has sum_k w_k P_k(g_k^-1(q)) = p, P_k the distribution function of f. Two steps of
# Newton's from the quantile f of the mixture of the P_k: where all g_k are one function, as those
# of most likelihoods, the first is exact, and else they differ little.
bound_by_predictor <- function(object, latent, type, z) {
  f <- mixed_quantile(object, latent, stats::pnorm(z), function(object, latent) {
    own <- normal_predictor(object, latent)
    list(below = function(f) stats::pnorm(f, own$mean, own$sd), end = own$mean + z * own$sd)
  })
  answer <- if (type == "median") median_response else response_at
  each <- over_members(object, latent, function(object, latent) {
    own <- normal_predictor(object, latent)
    g <- function(f) answer(object, latent, f - own$mean)
    at <- g(f)
    slope <- (g(f + own$sd / 10) - at) * 10 / own$sd
    c(own, list(g = g, at = at, flat = ifelse(slope > 0, 1 / slope, 0), f = f))
  })
  at <- lapply(each, `[[`, "at")
  q <- quantile_step(each, latent$shares, mixed(at, latent$shares), z)
  q <- pmin(pmax(q, do.call(pmin, at)), do.call(pmax, at))
  each <- lapply(each, function(one) {
    one$f <- one$f + (q - one$at) * one$flat
    replace(one, "at", list(one$g(one$f)))
  })
  quantile_step(each, latent$shares, q, z)
}

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
is_on_one_scale <- function(object) {
  of <- function(fit) list(fit$likelihood$type, fit$response[c("centre", "unit", "scale")])
  all(unlist(each_member(object, function(one) identical(of(one), of(object)))))
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
    if (!all(linear & slope > 0)) {
      far <- rep(FAR, length(q))
      z <- increasing_root(function(z) at(z) - q, -far, far)
    }
    stats::pnorm(z)
  }
}

#' @export
vector_bound.response_ensemble <- function(object, latent, prediction, p) {
  mixed_quantile(object, latent, p, function(object, latent) {
    mean <- vector_means(object, latent)
    spread <- spread_of_kind(object, latent, prediction)
    list(below = function(q) stats::pnorm(q, mean, spread), end = mean + stats::qnorm(p) * spread)
  })
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

# ---- Latent functions ----

# Stops if the type is one of latent functions, and those of the members have different scales.
check_latent_type <- function(object, type, covariance = FALSE) {
  if (!covariance && !type %in% c("link", "latent", "terms")) return(invisible())
  if (!has_members(object)) return(invisible())
  own <- each_member(object, function(fit) {
    list(latent_scale(fit), if (type == "terms") format(fit$kernel))
  })
  if (length(unique(own)) == 1L) return(invisible())
  stop_sparsegp("type", "is of latent functions, and the fits have different scales or terms",
                "Use type = \"response\", or ask the fits one by one")
}

# Numbers have the latent function in their own units, but for the scale of the response.
latent_scale <- function(fit) {
  codec <- codec_of(fit)
  if (codec$scaled) list(codec$name, fit$response$scale) else fit$likelihood$type
}
