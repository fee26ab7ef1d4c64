# Checks what the prior mean asks of a response.

# Returns how many components of a response have coefficients of a mean; 0: it has none.
mean_width <- function(response) UseMethod("mean_width", codec_named(response$codec))

#' @export
mean_width.response <- function(response) 0L

#' @export
mean_width.response_numbers <- function(response) 1L

#' @export
mean_width.response_vectors <- function(response) response$width

# The parts of a mixture have no response of their own that a constant could be of.
#' @export
mean_width.response_mixtures <- function(response) 0L

# Is the bias of a likelihood to be integrated out, as a constant of its one latent function?
integrates_bias <- function(mean, lik, response) {
  identical(mean, "constant") && "bias" %in% names(lik$params) &&
    count_latent_values(response) == 1L && mean_width(response) == 0L
}

# Returns the model with its bias at the mean of its prior, and a constant with its variance.
with_integrated_bias <- function(model) {
  at <- which(model$table$base == "bias")
  prior <- model$table$prior[[at]]
  refuse_if(!model$table$free[at] || prior$family != "normal", "mean",
            paste("= \"constant\" integrates the bias out, which",
                  if (model$table$free[at]) "has a prior that is not normal"
                  else "is fixed"),
            "Leave `mean` out, or give the bias prior_normal() and no value")
  model$table$theta[at] <- model$table$start[at] <- prior$par[["mean"]]
  model$table$free[at] <- FALSE
  model$mean[c("variance", "vague")] <- list(prior$par[["sd"]]^2, FALSE)
  model
}

# Returns a response of prior mean 0 in its own unit: nothing is subtracted, and the unit is the
# root of the mean square. chunk: what it was read from; moments: of all rows, or NULL
at_zero <- function(response, chunk, moments) {
  codec <- codec_named(response$codec)
  refuse_if(!inherits(codec, "response_numbers") || inherits(codec, "response_mixtures"),
            "mean", paste0("= \"zero\" is for a response of numbers, and this is ", codec$called),
            "Fix the bias of the likelihood: fixed(0)")
  refuse_if(!is.null(response$reference),
            "mean", "= \"zero\" is not defined on a scale whose parameter is learned",
            "Fix the parameter, or leave `transform` out")
  if (is.null(moments)) moments <- codec$moments(chunk)
  rescale_response(codec, response, moments, 0 * response$centre,
                   moments$m2 + moments$n * moments$mean^2)
}
