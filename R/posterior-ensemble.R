# A fit may be several: its hyperparameters integrated over some points, its modes, or an average
# of fits. It is then an ensemble. The fit itself is one of the members, mostly (of hyperparameters
# that at their mode), and fit$ensemble has
#   weights   of the members, which sum to one
#   members   a list for each of the fields in which it differs from the fit, by name (NULL: it has
#             none); of `hyper` perhaps theta alone. The member that the fit is may differ, too, as
#             in its own log evidence where that of the fit is the ensemble's
#   fixed     are the weights the same whatever the rows? Otherwise they are the members' posterior
#             probabilities, to which each row contributes its density
#   made      how the points were found, for those who made it
# A function without a method for ensembles answers for the fit's own fields.
# Latent moments of an ensemble have `members`, the moments of each, `shares`, their weights, a
# vector or a matrix with a row for each row, and mean and variance of the mixture; answers that
# depend on more than these are combined in predictive-ensemble.R.

has_members <- function(fit) !is.null(fit$ensemble)

count_members <- function(fit) length(fit$ensemble$weights)

# Returns one member as if it were the only one. It may be an ensemble itself.
as_member <- function(fit, k) {
  own <- fit$ensemble$members[[k]]
  fit <- without_members(fit)
  if (!is.null(own$theta)) fit$hyper$theta <- own$theta
  own$theta <- NULL
  if (!is.null(own$posterior)) own$posterior <- joined_fields(fit$posterior, own$posterior)
  joined_fields(fit, own)
}

# Sets fields, also to NULL.
joined_fields <- function(x, fields) {
  x[names(fields)] <- fields
  x
}

# Returns the fit itself, for what is defined of one fit alone.
without_members <- function(fit) {
  fit$ensemble <- NULL
  fit
}

each_member <- function(fit, what, ...) {
  lapply(seq_len(count_members(fit)), function(k) what(as_member(fit, k), ...))
}

# Returns what one(fit, x) answers of a fit at scaled inputs; of an ensemble what mix(answers, fit)
# makes of its members'.
by_member <- function(fit, one, mix, x = NULL) {
  if (!has_members(fit)) return(one(fit, x))
  mix(each_member(fit, function(own) by_member(own, one, mix, inputs_as(x, fit, own))), fit)
}

# Makes an ensemble of members, fits, which may be ensembles themselves. Its own fields are those
# of `fit` as one fit, but for `changes`: a member that is an ensemble differs in this field.
new_ensemble <- function(members, weights, changes = list(), fixed = FALSE, made = NULL,
                         fit = members[[1L]]) {
  fit <- joined_fields(without_members(fit), changes)
  fit$ensemble <- list(weights = weights / sum(weights),
                       members = lapply(members, differing_fields, fit), fixed = fixed,
                       made = made)
  fit
}

# Returns the fields of a member that the fit does not have.
differing_fields <- function(member, fit) {
  own <- differing_parts(member, fit)
  others <- setdiff(names(fit$hyper), "theta")
  if (!is.null(own$hyper) && identical(own$hyper[others], fit$hyper[others])) {
    own$theta <- own$hyper$theta
    own$hyper <- NULL
  }
  if (!is.null(own$posterior)) own$posterior <- differing_parts(own$posterior, fit$posterior)
  own
}

differing_parts <- function(own, of_fit) {
  names <- union(names(own), names(of_fit))
  differs <- vapply(names, function(name) !identical(own[[name]], of_fit[[name]]), NA)
  stats::setNames(lapply(names[differs], function(name) own[[name]]), names[differs])
}

# ---- Moments of mixtures ----

# Returns the weighted sum of values of the members: vectors, or matrices and arrays whose first
# dimension the rows are. shares: a vector of weights, or a matrix with a row for each row.
mixed <- function(each, shares) {
  Reduce(`+`, Map(function(one, k) one * share_of(shares, k), each, seq_along(each)))
}

share_of <- function(shares, k) if (is.matrix(shares)) shares[, k] else shares[k]

# Moments of the mixture of the members' latent moments, `each` in its own units, in those of the
# fit: by the law of total variance, sum_k w_k (V_k + (m_k - m)(m_k - m)'), where a row has w means
# and w x w covariances. shares: weights, a vector or a matrix with a row for each row
mixed_moments <- function(fit, each, shares, w = n_outputs(fit)) {
  seen <- members_in_units(each, fit)
  stacked <- function(times) {
    if (is.matrix(shares)) shares[rep(seq_len(nrow(shares)), each = times), , drop = FALSE]
    else shares
  }
  mean <- mixed(lapply(seen, `[[`, "mean"), stacked(w))
  squares <- function(from) if (w == 1L) from^2 else c(own_products(cbind(c(from)), w))
  var <- mixed(lapply(seen, function(one) one$var + squares(one$mean - mean)), stacked(w * w))
  list(mean = mean, var = var, members = each, shares = shares)
}

# Returns latent moments of the members in the units of the fit.
members_in_units <- function(each, fit) {
  Map(function(one, k) in_units_of(one, as_member(fit, k)$response, fit$response), each,
      seq_along(each))
}

# Returns latent moments of a response's units in those of another; constants are of components.
in_units_of <- function(moments, own, response) {
  if (identical(own[c("unit", "centre")], response[c("unit", "centre")])) return(moments)
  ratio <- own$unit / response$unit
  list(mean = moments$mean * ratio + (own$centre - response$centre) / response$unit,
       var = moments$var * ratio^2)
}

# Returns scaled inputs of a fit as those of one of its members.
inputs_as <- function(x, fit, member) {
  if (is.null(x) || identical(fit$scaling, member$scaling)) return(x)
  if (identical(fit$scaling[c("names", "kept")], member$scaling[c("names", "kept")])) {
    w <- n_outputs(fit)
    own <- scale_kept(unscale_kept(row_inputs(x, w), fit$scaling), member$scaling)
    return(stack_components(own, w))
  }
  stop_sparsegp("object", "has members with different inputs", "Use predict(object, newdata)")
}

# Returns latent moments of a member, with what is the same for all.
member_latent <- function(latent, k) {
  own <- latent$members[[k]]
  latent[c("members", "shares")] <- NULL
  joined_fields(latent, own)
}

# ---- Ensembles of ensembles ----

# Returns the fits that an ensemble and the ensembles in it are of: a list of list(object, latent,
# share), with the products of the weights.
leaves_of <- function(object, latent, share = 1) {
  if (is.null(latent$members)) return(list(list(object = object, latent = latent, share = share)))
  each <- lapply(seq_along(latent$members), function(k) {
    leaves_of(as_member(object, k), member_latent(latent, k), share * share_of(latent$shares, k))
  })
  unlist(each, recursive = FALSE)
}

over_leaves <- function(leaves, what) lapply(leaves, function(one) what(one$object, one$latent))

# Returns the weights as mixed() takes them.
shares_of <- function(leaves) {
  shares <- do.call(cbind, lapply(leaves, `[[`, "share"))
  if (nrow(shares) == 1L) c(shares) else shares
}

# ---- Latent functions ----

# Returns the fit that answers for a type of latent functions. Where the members' have different
# scales, that of an average is an error; of a fit that is integrated over the scale of the response
# it is the fit at the mode, with a message.
fit_of_latent_type <- function(object, type, covariance = FALSE) {
  if (!covariance && !type %in% c("link", "latent", "terms")) return(object)
  if (has_one_latent_scale(object, type)) return(object)
  refuse_if(object$ensemble$fixed, "type",
            paste("is of latent functions, and those of the averaged fits have",
                  "different scales or terms"),
            "Use type = \"response\" or \"median\", or predict from the fits one by one")
  message("Latent functions are given at the mode of the hyperparameters, because the learned ",
          "scale of the response differs between members. type = \"response\" averages over them")
  without_members(object)
}

# Have the latent functions of all members one scale, and for terms the same parts?
has_one_latent_scale <- function(object, type) {
  scales <- by_member(object, function(object, x) {
    list(list(latent_scale(object), if (type == "terms") format(object$kernel)))
  }, function(each, object) unlist(each, FALSE))
  length(unique(scales)) == 1L
}

# Numbers have the latent function in their own units, but for the scale of the response.
latent_scale <- function(fit) {
  codec <- codec_of(fit)
  if (codec$scaled) list(codec$name, fit$response$scale) else fit$likelihood$type
}
