# Answers of labels, and of two of them with one latent function.

#' @export
to_response.response_labels <- function(object, mean) {
  if (is.null(object$power)) return(mean)
  temper(log(cbind(1 - c(mean), c(mean))), object$power)[, 2L]
}

#' @export
standard_deviation.response_labels <- function(object, latent, type) {
  if (is.null(object$power) || type %in% c("link", "latent")) NextMethod()
  else tempered_sd(object, latent)
}

#' @export
response_moments.response_labels <- function(object, latent) {
  if (is.null(object$power)) NextMethod() else indicator_moments(object, latent)
}

# Moments of indicators of labels
indicator_moments <- function(object, latent) {
  mean <- mean_response(object, latent)
  list(mean = mean, sd = sqrt(mean * (1 - mean)))
}

#' @export
class_probabilities.response_labels <- function(object, latent) {
  second <- engine_lik_predict(object, seen_mean(object, latent), latent$var,
                               weights = latent$weights)$mean
  prob <- if (is.null(object$power)) cbind(1 - second, second)
          else temper(log_scores(object, latent), object$power)
  colnames(prob) <- object$response$levels
  prob
}

label_table <- function(object, latent) table_of_labels(class_probabilities(object, latent))

log_scores <- function(object, latent) {
  label_scores(engine_lik_predict(object, seen_mean(object, latent), latent$var,
                                  weights = latent$weights)$mean)
}

# Standard deviation, over the posterior of the latent function, of a label's probability to the
# fit's power: by Gauss-Hermite quadrature, which link functions need some 30 nodes of for 1e-3.
tempered_sd <- function(object, latent) {
  NODES <- 30L
  off <- sqrt(seq_len(NODES - 1L))
  jacobi <- matrix(0, NODES, NODES)
  jacobi[cbind(1:(NODES - 1L), 2:NODES)] <- jacobi[cbind(2:NODES, 1:(NODES - 1L))] <- off
  rule <- eigen(jacobi, symmetric = TRUE)
  weight <- rule$vectors[1L, ]^2
  values <- vapply(rule$values, function(z) median_response(object, latent, z * sqrt(latent$var)),
                   numeric(length(latent$mean)))
  node_moments(matrix(values, ncol = NODES), weight)$sd # of one row, too
}

#' @export
draw_response.response_labels <- function(object, f, weights, prob) {
  y <- lik_traits(object$likelihood)$draw(f, lik_values(object), weights)
  if (!is.null(object$power)) y <- flip_labels_to_match(y, prob$own, prob$wanted)
  codec_of(object)$back(y, object$response)
}

# Labels of the second of two with probability `wanted`, of labels y (-1 and 1) drawn with
# probability `own`: as few labels as possible are flipped, so they go together as they did.
flip_labels_to_match <- function(y, own, wanted) {
  turn <- ifelse(y > 0, (own - wanted) / own, (wanted - own) / (1 - own))
  ifelse(stats::runif(length(y)) < turn, -y, y)
}

# ---- Rows of the fit ----

loo_probabilities <- function(object) class_probabilities(object, loo_latent(object))

#' @export
response_tails.response_factor <- function(object, y, latent) {
  c(table_tails(label_table(object, latent), as.integer(y)), jumps = TRUE)
}

# log Z includes no power, and is not always the label's own: it may be that of a number, or include
# the probability that a row is outside of a margin.
#' @export
lpd_of_rows.response_labels <- function(object) {
  of_labels <- !lik_traits(object$likelihood)$normalised || !is.null(object$power)
  if (of_labels) label_lpd(loo_probabilities(object), object$y)
  else NextMethod()
}

# log probability of the label of each row
label_lpd <- function(prob, y) log(own_label(prob, y))

#' @export
loo_table.response_factor <- function(object) {
  prob <- loo_probabilities(object)
  own <- own_label(prob, object$y)
  predicted <- predicted_class(object, prob)
  dimnames(prob) <- list(NULL, paste0("prob.", colnames(prob)))
  data.frame(observed = with_all_levels(object$y, object$response), predicted = predicted,
             prob = own, prob, check.names = FALSE)
}
