# The curvature of the log posterior density of hyperparameters at its mode, H, from gradients that
# the search has left. Gradients g at points a step s from the mode differ from that at the mode by
# y, about H s: H is the symmetric matrix with the smallest
#   sum of w |H s - y|^2 + RIDGE |H - H0|^2,
# w smaller for farther points, lengths in standard deviations of the posterior as H0, the H found
# before, has them. The solution is that of H M + M H = B + B', M = sum w s s' + RIDGE I,
# B = sum w y s' + RIDGE H0.

RIDGE <- 0.01 # weight of H0, where a step of one standard deviation has about 1

# Returns list(curvature, unseen): H in units of `spreads`, those of the priors, no less than the
# prior's own in any direction; and the direction in which fewest steps went (free values, one
# standard deviation long, with the sign that fix_signs() gives it) with what they weigh. steps:
# list(s, y), matrices with a column for each
secant_curvature <- function(steps, spreads, positive = rep(TRUE, length(spreads))) {
  ROUNDS <- 5L
  STEEPEST <- 1e16 # of offsets of 1e20, say, beside which nothing can be learned
  s <- steps$s / spreads
  y <- steps$y * spreads
  root <- diag(length(spreads)) # of the inverse of H
  for (round in seq_len(ROUNDS)) {
    fitted <- secant_equation(solve(root, s), root %*% y)
    inverse <- solve(root)
    at <- eigen(inverse %*% fitted$H %*% inverse, symmetric = TRUE)
    values <- pmin(pmax(at$values, 1), STEEPEST)
    root <- at$vectors %*% (t(at$vectors) / sqrt(values))
  }
  far <- eigen(fitted$M, symmetric = TRUE)
  least <- length(spreads)
  unseen <- fix_signs(root %*% far$vectors[, least], positive)
  list(curvature = at$vectors %*% (t(at$vectors) * at$values),
       unseen = spreads * drop(unseen), seen = far$values[least] - RIDGE)
}

# Returns H where H0 is the identity, and M. The distance of a step in standard deviations is its
# own length or, where the gradient has changed by more, by that.
secant_equation <- function(s, y) {
  NEAR_STEP <- 0.55 # beyond which a step counts less: terms of third order are a half of it
  far <- pmax(colSums(s^2), colSums(s * y))
  weight <- 1 / (1 + (far / NEAR_STEP^2)^2) / colSums(s^2)
  M <- tcrossprod(s %*% diag(weight, ncol(s)), s) + diag(RIDGE, nrow(s))
  B <- tcrossprod(y %*% diag(weight, ncol(s)), s) + diag(RIDGE, nrow(s))
  at <- eigen(M, symmetric = TRUE)
  H <- crossprod(at$vectors, (B + t(B)) %*% at$vectors) / outer(at$values, at$values, "+")
  list(H = at$vectors %*% H %*% t(at$vectors), M = M)
}

# Returns the steps of a search from the point that it has nearest to the mode, without those too
# short to know a difference by.
steps_of_search <- function(past, at, spreads) {
  SHORT <- 1e-4
  if (is.null(past) || ncol(past$par) == 0L) return(list(s = NULL, y = NULL))
  nearest <- which.min(colSums(((past$par - at) / spreads)^2))
  s <- past$par - past$par[, nearest]
  long <- sqrt(colSums((s / spreads)^2)) > SHORT
  list(s = s[, long, drop = FALSE],
       y = (past$gradient - past$gradient[, nearest])[, long, drop = FALSE])
}

# Returns the curvature, in units of the priors' spreads. Where the search has hardly been along
# some direction a gradient is evaluated there, beside the one at the mode.
curvature_at_mode <- function(surface, past, spreads, positive = rep(TRUE, length(spreads))) {
  SEEN <- 0.03
  STEP <- 0.02 # standard deviations, of the prior where nothing else is known yet
  steps <- steps_of_search(past, surface$at, spreads)
  middle <- NULL
  for (more in seq_len(2L * length(spreads) + 1L)) {
    found <- if (length(steps$s)) secant_curvature(steps, spreads, positive)
             else list(unseen = spreads, seen = 0)
    if (found$seen > SEEN || more > 2L * length(spreads)) break
    middle <- middle %||% surface$run(surface$at, gradient = TRUE)
    step <- gradient_step(surface, middle, STEP * found$unseen / max(1, abs(found$unseen)))
    if (is.null(step)) break
    steps <- list(s = cbind(steps$s, step$s), y = cbind(steps$y, step$y))
  }
  found$curvature %||% diag(length(spreads))
}

# Returns a step to one side or, where EP fails there, to the other, or NULL.
gradient_step <- function(surface, middle, step) {
  for (s in list(step, -step)) {
    run <- surface$run(surface$at + s, gradient = TRUE)
    if (!is.null(run$slope) && !is.null(middle$slope)) {
      return(list(s = s, y = middle$slope - run$slope))
    }
  }
}
