# Several classes whose latent values depend on each other in the posterior, too: the twin of
# src/lik_coupled.c. lik_mprobit() and lik_softmax() ask for them, strategy-coupled.R makes them.

coupled_mprobit_traits <- function() coupled_traits(mprobit_traits(), "mprobit")

coupled_softmax_traits <- function() coupled_traits(softmax_traits(), "softmax")

# One process of as many values as there are classes, hence biases as of components.
coupled_traits <- function(traits, label) {
  bias <- traits$about$bias
  start <- bias$start
  bias$each <- function(lik, components) components
  bias$start <- function(rows, offset, own) start(rows, offset, length(own))
  traits_like(traits, response = "coupled", label = label, about = list(bias = bias))
}

# Returns the likelihood that couples the classes of this one, or NULL: there is none.
coupled_likelihood <- function(lik) {
  type <- paste0("coupled_", lik$type)
  if (is.null(catalogue()$likelihoods[[type]])) return(NULL)
  out <- new_likelihood(type, lik$params)
  out$coupled <- TRUE
  out
}

# Refuses what was asked for where it lacks this.
refuse_coupled <- function(lik, lacking, remedy = NULL) {
  refuse_if(isTRUE(lik$coupled), "coupled", paste("= TRUE needs", lacking),
            remedy %||% "Leave it out, or give coupled = FALSE")
}

# Returns the likelihood that a fit was asked for: fits of coupled classes begin as others do.
uncoupled_likelihood <- function(lik) {
  if (!inherits(lik_codec(lik), "response_coupled")) return(lik)
  lik$type <- lik_label(lik)
  lik
}
