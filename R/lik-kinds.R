# Kinds of the fields of a likelihood, which may come from a file (util-kinds.R).

# Names what noise of several components may be like.
COVARIANCES <- c("spherical", "diagonal", "full")

likelihood_kinds <- function() list(
  extension = optional(is_lik_extension),
  shared = optional(is_flag), coupled = optional(is_flag), or_trials = optional(is_flag),
  open_error = optional(is_flag), noiseless = optional(is_flag),
  covariance = optional(function(x) is_word(x, COVARIANCES)),
  variances = optional(function(x) are_finite(x) && is.null(dim(x)) && all(x > 0)),
  transform = optional(is_transform), custom = optional(is_custom_likelihood)
)
