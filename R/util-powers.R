# Log scores of several things in the rows of a matrix, and what they are as shares of one.

# Probabilities from scores to a power, which makes them more sure or less; NULL: unchanged.
temper <- function(scores, power = NULL) exp(log_tempered(scores, power))

log_tempered <- function(scores, power) {
  if (!is.null(power)) scores <- power * scores
  scores <- below_largest(scores)
  scores - log(rowSums(exp(scores)))
}

# Returns scores less the largest of their row, so that a power of them may be summed.
below_largest <- function(scores) {
  scores - scores[cbind(seq_len(nrow(scores)), max.col(scores, "first"))]
}

# Scores of labels from the probability that each label's own latent function, or the second of two
# labels' one, is yes: the logarithm of what a label's probability is proportional to. Two labels
# share a latent function. Of more each has its own, and given that just one answer is yes a label's
# probability is proportional to the odds of its own.
label_scores <- function(own) {
  scores <- if (is.matrix(own)) log(own) - log1p(-own) else log(cbind(1 - own, own))
  scores[] <- pmin(pmax(scores, -MOST_LOG), MOST_LOG)
  scores
}

MOST_LOG <- 745 # a probability below exp(-745) is 0

# Returns each row's own entry among columns for labels.
own_label <- function(values, y) values[cbind(seq_along(y), as.integer(y))]
