# Quantiles of ensembles whose members' distributions are normal, on the scale that each was fitted
# on: roots of sum_k w_k Phi((g_k(q) - m_k) / s_k) = p. Where all members have one scale g, C finds
# g(q). Others, of a scale whose parameter is integrated over, take Newton steps of all rows here.

# Are new responses normal on the fitted scale of each of the leaves, and are these of one kind?
have_normal_responses <- function(leaves) {
  normal <- function(object, latent) {
    lik_traits(object$likelihood)$exact && n_outputs(object) == 1L &&
      inherits(codec_of(object), "response_numbers")
  }
  all(unlist(over_leaves(leaves, normal))) &&
    length(unique(over_leaves(leaves, function(object, latent) codec_of(object)$name))) == 1L
}

# Returns quantiles of p of new responses of such leaves.
normal_response_quantile <- function(leaves, p) {
  scale <- SCALES[[codec_of(leaves[[1L]]$object)[["scale"]] %||% "identity"]]
  each <- over_leaves(leaves, function(object, latent) {
    at <- normal_moments(object, latent)
    unit <- object$response$unit
    list(mean = at$mean * unit + object$response$centre[[1L]], sd = sqrt(at$var) * unit,
         record = object$response$scale)
  })
  shares <- shares_of(leaves)
  one <- length(unique(lapply(each, `[[`, "record"))) == 1L
  if (!one) return(quantile_on_scales(each, shares, p, scale))
  q <- mixed_normal_quantile(each, shares, p)
  if (is.null(scale)) q else scale$from(q, each[[1L]]$record)
}

# Returns quantiles of p of mixtures of normals. each: list(mean, sd) of each member: of all rows,
# or matrices with a column for each component
mixed_normal_quantile <- function(each, shares, p) {
  columns <- function(field) do.call(cbind, lapply(each, function(own) as.double(own[[field]])))
  mean <- columns("mean")
  shares <- if (!is.matrix(shares)) t(shares)
            else shares[rep_len(seq_len(nrow(shares)), nrow(mean)), , drop = FALSE]
  engine_mixed_quantile(mean, columns("sd"), shares, p)
}

# Returns the roots where g_k differ in a parameter. They are sought on the scale of the first
# member, on which the others' are nearly straight.
quantile_on_scales <- function(each, shares, p, scale) {
  first <- each[[1L]]$record
  value <- function(u) scale$from(u, first)
  sides <- function(u) {
    q <- value(u)
    slope <- scale$log_slope(q, first)
    of_members <- lapply(each, function(own) {
      z <- (scale$to(q, own$record) - own$mean) / own$sd
      density <- stats::dnorm(z) * exp(scale$log_slope(q, own$record) - slope) / own$sd
      list(below = stats::pnorm(z), density = density)
    })
    list(below = mixed(lapply(of_members, `[[`, "below"), shares),
         density = mixed(lapply(of_members, `[[`, "density"), shares))
  }
  ends <- lapply(each, function(own) {
    scale$to(scale$from(own$mean + stats::qnorm(p) * own$sd, own$record), first)
  })
  value(newton_root(sides, p, do.call(pmin, ends), do.call(pmax, ends)))
}
