# Gaussian noise of known variance, one for each row of the data: lik_gaussian(variance = <vector>).
# The geometric mean of the variances (chosen to avoid extreme weights) is the
# noise, fixed, and each row's weight is the noise divided by its variance. Code that supports
# weights therefore supports known variances; this file has the rest.

has_variances <- function(likelihood) {
  inherits(likelihood, "sparsegp_likelihood") && !is.null(likelihood$variances)
}

weights_of_variances <- function(likelihood, variances = likelihood$variances) {
  likelihood$params$noise$value / variances
}

# Refuses variances of 0, which would be without noise.
refuse_no_variance <- function(variances) {
  at <- which(variances == 0)
  if (length(at) == 0L) return(invisible())
  rows <- paste0(toString(utils::head(at, 5L)), if (length(at) > 5L) ", ...")
  stop_sparsegp("variance", paste0("is 0 in ", ngettext(length(at), "row ", "rows "), rows),
                paste("Give the variance of the measurement's error, such as the square of its",
                      "last digit"))
}

format_variances <- function(variances) {
  if (length(variances) > 5L) return(paste0("<", length(variances), " known values>"))
  paste0("c(", toString(format(variances, digits = 4L, trim = TRUE)), ")")
}

#' @export
weights_of_fit.weights_variances <- function(likelihood, given, rows = NULL) {
  refuse_if(!is.null(given), "weights", "and known variances exclude each other",
            "Leave the weights out, and divide the variances by them")
  refuse_wrong_count(likelihood$variances, rows %||% length(likelihood$variances))
  weights_of_variances(likelihood)
}

refuse_wrong_count <- function(variances, rows) {
  if (length(variances) == rows) return(invisible())
  stop_sparsegp("variance", paste0("has ", length(variances), " values for ", rows, " rows"),
                "Give one for each row of the data, also for rows that are left out later")
}

refuse_variances_of_stream <- function(likelihood) {
  if (!has_variances(likelihood)) return(invisible())
  stop_sparsegp("variance", "has variances for these rows only, and a stream continues",
                paste("Use lik_gaussian(fixed(1)) with weights = 1 / variance, here and in",
                      "update()"))
}

#' @export
weights_at.weights_variances <- function(object, latent, weights, needed = TRUE) {
  rows <- length(latent$complete)
  if (is.null(weights) && !is.null(latent$weights)) return(latent$weights)
  if (is.null(weights) && !needed) {
    warn_sparsegp("Means on this scale depend on the noise variances of new rows, for which the ",
                  "average of the fit is used: give `weights` = 1 / variance, or use ",
                  "type = \"median\".")
    return(1)
  }
  if (is.null(weights)) {
    refuse_unknown_variances(object$likelihood, "weights", "Give weights = 1 / variance")
  }
  if (length(weights) == 1L) weights <- rep(weights, rows)
  variance <- 1 / check_per_row(weights, rows, "weights", positive = TRUE)
  weights <- weights_of_variances(object$likelihood, variance)
  lost <- weights < .Machine$double.xmin | is.infinite(variance / object$response$unit^2)
  refuse_if(any(lost, na.rm = TRUE),
            "weights", "are so small that the variance is infinite in units of the fit",
            "Give 1 / variance, in squared units of the response")
  weights[latent$complete]
}

#' @export
check_new_responses.weights_variances <- function(object, of_noise, weights) {
  if (is.null(weights) || of_noise) return(invisible())
  stop_sparsegp("weights", "are for prediction intervals, after known variances", "Leave them out")
}

# Refuses new rows, whose noise variances are not part of the fit.
refuse_unknown_variances <- function(likelihood, argument, remedy) {
  refuse_if(has_variances(likelihood),
            argument, "is missing: the noise variances of new rows are not part of the fit", remedy)
}
