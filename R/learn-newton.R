# Newton's method for the hyperparameters of many rows, where an evaluation takes long: from the end
# of a search on a sample of them (the pilot), whose curvature in proportion to the number of rows
# stands for that of all. Gradients are of all rows; each corrects the curvature (BFGS).

# Returns the symmetric matrix of an objective's second derivatives, by differences of its gradient.
curvature_by_differences <- function(objective, par) {
  STEP <- 0.05 # logarithms
  at <- objective$gradient(par)
  columns <- lapply(seq_along(par), function(k) {
    (objective$gradient(replace(par, k, par[k] + STEP)) - at) / STEP
  })
  found <- matrix(unlist(columns), length(par))
  (found + t(found)) / 2
}

# Returns the nearest point of a box.
within_box <- function(par, box) pmax(pmin(par, box$value + box$reach), box$lower)

# Returns the Newton step of a minimum. A direction in which nothing is known, or which is not
# convex, counts as one of curvature 1; no number moves by more than an e-fold.
newton_step <- function(curvature, gradient) {
  at <- eigen(curvature, symmetric = TRUE)
  along <- crossprod(at$vectors, gradient) / pmax(abs(at$values), 1)
  step <- -drop(at$vectors %*% along)
  step / max(1, abs(step))
}

# Returns the curvature corrected by a step s over which the gradient changed by y.
corrected_curvature <- function(curvature, s, y) {
  along <- sum(s * y)
  if (along <= 1e-8 * sqrt(sum(s^2) * sum(y^2))) return(curvature)
  Hs <- drop(curvature %*% s)
  curvature - tcrossprod(Hs) / sum(s * Hs) + tcrossprod(y) / along
}

# Returns the free values at which an objective is least, found with at most policy$newton_rounds
# evaluations: a step that is to gain less than `gain` is taken without one, or not at all if only
# evaluated points count (`evaluated`), as they do after a failure. Where a step leads to no better
# value a shorter one is tried. NULL: the objective has no value at `par`.
newton_search <- function(objective, par, curvature, box, gain = policy$newton_gain,
                          evaluated = FALSE) {
  best <- NULL
  failures <- 0L
  for (round in seq_len(policy$newton_rounds)) {
    value <- objective$value(par)
    gradient <- objective$gradient(par)
    failed <- value >= IMPOSSIBLE
    failures <- failures + failed
    if (failed && is.null(best)) return(NULL)
    if (!failed && !is.null(best)) {
      curvature <- corrected_curvature(curvature, par - best$par, gradient - best$gradient)
    }
    better <- is.null(best) || !failed && value < best$value
    if (better) best <- list(par = par, value = value, gradient = gradient)
    step <- if (failed) (par - best$par) / 2 else newton_step(curvature, best$gradient)
    par <- within_box(best$par + step, box)
    if (-sum((par - best$par) * best$gradient) / 2 < gain) break
  }
  if (better && failures == 0L && !evaluated) par else best$par
}
