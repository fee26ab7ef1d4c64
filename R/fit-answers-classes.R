# Answers of classes with a latent function for each: latent moments are matrices.

#' @export
mean_response.response_classes <- function(object, latent) class_probabilities(object, latent)

#' @export
class_probabilities.response_classes <- function(object, latent) {
  own <- engine_lik_predict(object, seen_mean(object, latent), latent$var)$mean
  own[rowSums(own) == 0, ] <- 1 # all underflowed
  prob <- own / rowSums(own)
  colnames(prob) <- object$response$levels
  prob
}

# One-vs-rest, where the odds of a likelihood's probabilities are what they are made of.
#' @export
class_probabilities.response_rest <- function(object, latent) {
  if (!lik_traits(object$likelihood)$tempered) return(NextMethod())
  prob <- temper(log_scores(object, latent), object$power)
  colnames(prob) <- object$response$levels
  prob
}

#' @export
draws_of.response_classes <- function(object, latent, n, type) {
  f <- vapply(latent$values, c, numeric(length(latent$values[[1L]])))
  f <- matrix(f, ncol = processes(object))
  offset <- rep(latent$offset, length.out = nrow(f))
  drawn <- centre_answer(object, list(mean = f, var = 0 * f, offset = offset), type)
  by_class(object, lapply(seq_len(ncol(drawn)), function(class) {
    restore_rows(drawn_matrix(drawn[, class], n), latent)
  }))
}

# A matrix of each latent function: of one alone itself, of several in an array.
by_class <- function(object, each) {
  if (length(each) == 1L) return(each[[1L]])
  array(unlist(each), c(dim(each[[1L]]), length(each)),
        c(dimnames(each[[1L]]), list(object$response$levels)))
}

# ---- Rows of the fit ----

#' @export
plain_residuals.response_classes <- function(object, pearson) {
  observed <- observed_values(object)
  prob <- class_probabilities(object, rows_latent(object))
  scale <- if (pearson) sqrt(prob * (1 - prob)) else 1
  known_residuals((observed - prob) / scale, observed)
}

#' @export
quantile_residuals.response_classes <- function(object) refuse_quantiles()

# log Z is that of the indicators of all classes, not of the row's class.
#' @export
lpd_of_rows.response_rest <- function(object) label_lpd(loo_probabilities(object), object$y)

# The evidences of separate models do not add up to one for the labels.
#' @export
evidence_of.response_rest <- function(object) NA_real_

#' @export
site_table.response_classes <- function(object) {
  levels <- object$response$levels
  data.frame(NextMethod(), class = factor(rep(levels, each = object$n), levels))
}
