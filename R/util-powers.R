# Log scores of several things in the rows of a matrix, and what they are as shares of one.

# Probabilities from scores to a power, which makes them more sure or less; NULL: as they are.
temper <- function(scores, power = NULL) exp(log_tempered(scores, power))

log_tempered <- function(scores, power) {
  if (!is.null(power)) scores <- power * scores
  scores <- scores - scores[cbind(seq_len(nrow(scores)), max.col(scores, "first"))]
  scores - log(rowSums(exp(scores)))
}
