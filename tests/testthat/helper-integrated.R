# What score = "integrated" is tested against: falls of variances by explicit inverses, and means
# over labels by dense sums over the latent function at the row that is labelled.

# Expected fall of the variance at targets once a row is measured with this noise: covariance matrix
# `joint` of the row, which is first, and the targets.
plain_fall <- function(joint, noise, weights) {
  after <- joint - tcrossprod(joint[, 1L]) / (joint[1L, 1L] + noise)
  sum(weights * (diag(joint) - diag(after))[-1L])
}

# Means and variances of all values given each label of the first, exactly: mean and covariance of
# the latent values at the row and the targets; given(f): probabilities of the labels, a row for
# each value f at the row. A list of list(prob, mean, var) for each label, of the targets.
plain_moments_given <- function(mean, joint, given, nodes = 4001L) {
  z <- seq(-8.5, 8.5, length.out = nodes)
  w <- stats::dnorm(z) / sum(stats::dnorm(z))
  p <- w * given(mean[1L] + sqrt(joint[1L, 1L]) * z)
  slope <- joint[-1L, 1L] / sqrt(joint[1L, 1L])
  lapply(seq_len(ncol(p)), function(label) {
    own <- p[, label] / sum(p[, label])
    centre <- sum(own * z)
    list(prob = sum(p[, label]), mean = mean[-1L] + slope * centre,
         var = diag(joint)[-1L] - slope^2 * (1 - sum(own * (z - centre)^2)))
  })
}

# Expected fall of a loss of probabilities over the targets, by equal weights.
# probabilities(mean, var): of all labels, a row for each
plain_fall_of_loss <- function(mean, joint, given, probabilities, loss) {
  before <- mean(loss(probabilities(mean[-1L], diag(joint)[-1L])))
  each <- plain_moments_given(mean, joint, given)
  before - sum(vapply(each, function(label) {
    label$prob * mean(loss(probabilities(label$mean, label$var)))
  }, 0))
}

wrong_labels <- function(prob) 1 - apply(prob, 1L, max)
entropy_of_labels <- function(prob) -rowSums(ifelse(prob > 0, prob * log(prob), 0))

# The score of the first of some rows, of targets that are the others.
score_elsewhere <- function(fit, rows, measure, weights = NULL) {
  found <- next_rows(fit, rows[1L, , drop = FALSE], score = "integrated", measure = measure,
                     target = rows[-1L, , drop = FALSE], target_weights = weights)
  attr(found, "gain")
}

# Derivatives of a score by the variables of a point, by central differences of sixth order.
plain_gradient <- function(batch, point, step = 2e-3) {
  rate <- function(point) {
    scores_of(beside(batch, candidate_rows(batch$fit, point, NULL, NULL)), "integrated", 1L)
  }
  vapply(names(point), function(name) {
    at <- function(k) rate(replace(point, name, point[[name]] + k * step))
    sum(c(45, -9, 1) * vapply(1:3, function(k) at(k) - at(-k), 0)) / (60 * step)
  }, 0)
}
