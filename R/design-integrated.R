# Computes the score "integrated": the fall of uncertainty elsewhere that a label is expected to
# bring, of latent functions or of labels. With c the covariance of a row's values with those of a
# target t, and B the row's curvature (design-information.R), the variance at t is expected to fall
# by c'B c (for Gaussian noise c^2 / (v + noise), exactly: active learning by Cohn, Ghahramani and
# Jordan, 1996). The score is the mean over the target of a measure's fall, by weights.
#
# A target is a list with the fields fit, x, latent, covariances and downdate of a lookahead, and
#   weights   of each row of it, which add up to one
#   measure   an entry of MEASURES: list(by_label, fall, gradient). by_label: does it go through
#             the labels that a row may have? fall: (lookahead, rows) -> a number for each of these
#             rows. gradient: NULL, or as in ACQUISITIONS (design-acquisition.R)

MEASURES <- list(
  variance = list(by_label = FALSE,
                  fall = function(lookahead, rows) fall_of_variance(lookahead, rows),
                  gradient = function(batch, point, vars) {
                    gradient_of_variance(batch, point, vars)
                  }),
  error = list(by_label = TRUE, gradient = NULL,
               fall = function(lookahead, rows) fall_of_error(lookahead$fit, lookahead, rows)),
  entropy = list(by_label = TRUE, gradient = NULL,
                 fall = function(lookahead, rows) fall_of_entropy(lookahead$fit, lookahead, rows))
)

fall_of_entropy <- function(fit, lookahead, rows) UseMethod("fall_of_entropy", codec_of(fit))
fall_of_error <- function(fit, lookahead, rows) UseMethod("fall_of_error", codec_of(fit))

# Adds a target to a lookahead, and to its rows, where there are some, their covariances with it.
with_target <- function(lookahead, target) {
  lookahead$target <- with_covariances(target)
  if (is.null(lookahead$x)) lookahead else with_cross(lookahead)
}

with_cross <- function(lookahead) {
  if (!is.null(lookahead$cross)) return(lookahead)
  lookahead <- with_covariances(lookahead)
  lookahead$cross <- Map(covariances_between, lookahead$covariances,
                         lookahead$target$covariances)
  lookahead
}

# Returns the expected covariances of the points of some rows with all of the target, for each
# latent function.
covariances_with_target <- function(lookahead, rows) {
  at <- stacked_rows(rows, n_outputs(lookahead$fit))
  Map(function(cross, own, target) {
    cross[at, , drop = FALSE] - tcrossprod(own[at, , drop = FALSE], target)
  }, lookahead$cross, lookahead$downdate, lookahead$target$downdate)
}

# ---- Falls of variances ----

# Returns the expected falls c'B c of the variances of all values of the target, a row for each row,
# of one latent function.
falls_of_variances <- function(cross, B, w) {
  part <- lapply(seq_len(w), function(a) cross[seq(a, nrow(cross), by = w), , drop = FALSE])
  pairs <- expand.grid(a = seq_len(w), b = seq_len(w))
  Reduce(`+`, Map(function(a, b) part[[a]] * part[[b]] * B[(b - 1L) * w + a, ],
                  pairs$a, pairs$b))
}

# Returns the sum over latent functions of by(falls, class) for some rows, in blocks of rows.
summed_falls <- function(lookahead, rows, by) {
  w <- n_outputs(lookahead$fit)
  in_blocks(length(rows), function(some) {
    few <- rows[some]
    B <- lookahead$model$curvature(latent_of(lookahead, few))
    cross <- covariances_with_target(lookahead, few)
    each <- lapply(seq_along(cross), function(class) {
      by(falls_of_variances(cross[[class]], B[[class]], w), class)
    })
    Reduce(`+`, each)
  })
}

# Returns the weights of all values of the target: its rows', times the squared units of components.
value_weights <- function(target) {
  c(outer(component_units(target$fit$response)^2, target$weights))
}

fall_of_variance <- function(lookahead, rows) {
  weights <- value_weights(lookahead$target)
  summed_falls(lookahead, rows, function(falls, class) falls %*% weights)
}

# For numbers this is the entropy of each latent value, with the expected covariances.
#' @export
fall_of_entropy.response <- function(fit, lookahead, rows) {
  w <- n_outputs(fit)
  target <- lookahead$target
  weights <- rep(target$weights, each = w)
  var <- matrix(block_diagonals(target$latent$var, w), ncol = processes(fit))
  summed_falls(lookahead, rows, function(falls, class) {
    -log1p(-pmin(sweep(falls, 2L, var[, class], "/"), 1 - 1e-15)) %*% weights / 2
  })
}

#' @export
fall_of_error.response <- function(fit, lookahead, rows) {
  stop_sparsegp("measure", "= \"error\" is the proportion of wrong labels, which only classes have",
                "Use measure = \"variance\"")
}

# ---- Labels ----

#' @export
fall_of_entropy.response_factor <- function(fit, lookahead, rows) {
  fall_of_loss(fit, lookahead, rows, entropies)
}

#' @export
fall_of_error.response_factor <- function(fit, lookahead, rows) {
  fall_of_loss(fit, lookahead, rows, function(prob) 1 - prob[cbind(seq_len(nrow(prob)),
                                                                  max.col(prob, "first"))])
}

# Returns the expected fall of a loss, a function of probabilities, over the labels that rows may
# have: the mean over the target of the loss now, less that with each label by its probability.
fall_of_loss <- function(fit, lookahead, rows, loss) {
  AT_ONCE <- 2e5 # probabilities
  fit$power <- NULL
  target <- lookahead$target
  size <- length(target$weights)
  now <- sum(target$weights * loss(class_probabilities(fit, target$latent)))
  blocks <- row_blocks(length(rows), max(1L, floor(AT_ONCE / size)))
  unlist(lapply(blocks, function(some) {
    few <- rows[some]
    cross <- covariances_with_target(lookahead, few)
    outcomes <- label_outcomes(fit, latent_of(lookahead, few))
    now - Reduce(`+`, lapply(outcomes, function(label) {
      prob <- class_probabilities(fit, target_given(fit, target, cross, label))
      label$prob * drop(matrix(loss(prob), length(few)) %*% target$weights)
    }))
  }))
}

# Returns the moments of the target given a label of each of some rows: those of all rows at its
# first point, then at its second.
target_given <- function(fit, target, cross, label) {
  UseMethod("target_given", codec_of(fit))
}

#' @export
target_given.response_factor <- function(fit, target, cross, label) {
  n <- nrow(cross[[1L]])
  size <- length(target$weights)
  mean <- as.matrix(target$latent$mean)
  var <- as.matrix(target$latent$var)
  moved <- lapply(seq_along(cross), function(class) {
    before <- rep(var[, class], each = n)
    list(mean = rep(mean[, class], each = n) + c(cross[[class]] * c(label$d1[[class]])),
         var = pmax(before + c(cross[[class]]^2 * c(label$d2[[class]])),
                    .Machine$double.eps * before))
  })
  shaped <- function(field) {
    out <- do.call(cbind, lapply(moved, `[[`, field))
    if (is.matrix(target$latent$mean)) `colnames<-`(out, colnames(target$latent$mean)) else c(out)
  }
  list(mean = shaped("mean"), var = shaped("var"),
       offset = rep(rep_len(target$latent$offset, size), each = n))
}

# The w values of a row have a joint covariance.
#' @export
target_given.response_coupled <- function(fit, target, cross, label) {
  w <- n_outputs(fit)
  n <- nrow(cross[[1L]]) %/% w
  size <- length(target$weights)
  mean <- array(0, c(w, n, size))
  var <- array(0, c(w * w, n, size))
  for (row in seq_len(n)) {
    C <- t(cross[[1L]][stacked_rows(row, w), , drop = FALSE])
    mean[, row, ] <- target$latent$mean + c(C %*% label$d1[[1L]][, row])
    change <- block_products(C %*% matrix(label$d2[[1L]][, row], w), C, w)
    var[, row, ] <- c(target$latent$var) + c(change)
  }
  list(mean = c(mean), var = c(var), offset = 0)
}

# ---- The gradient ----

# Returns the derivatives of the fall of variances by variables of one point, a data frame of one
# row, given the labels of a batch.
gradient_of_variance <- function(batch, point, vars) {
  fit <- batch$fit
  rows <- rows_with_slopes(fit, point, vars)
  latent <- c(engine_predict(fit, rows$x), list(offset = rows$offset, weights = NULL))
  here <- with_cross(beside(batch, list(x = rows$x, latent = latent)))
  weights <- value_weights(here$target)
  cross <- covariances_with_target(here, 1L)
  B <- here$model$curvature(here$latent)
  vapply(rows$along, function(along) {
    change <- change_along(batch, here, along)
    dB <- curvature_change(here, change)
    sum(vapply(seq_along(cross), function(class) {
      of_cross <- 2 * B[[class]] * block_of(cross[[class]], change$cross[[class]], weights)
      sum(of_cross, dB[[class]] * block_of(cross[[class]], cross[[class]], weights))
    }, 0))
  }, 0)
}

block_of <- function(a, b, weights) c(tcrossprod(sweep(a, 2L, weights, "*"), b))

# Returns the derivatives along a direction of what a score is of: mean and var of a point's values,
# and their covariances with the target.
change_along <- function(batch, here, along) {
  fit <- here$fit
  w <- n_outputs(fit)
  moments <- row_slopes(fit, here$x, along$v, here$latent$offset, along$shift)
  var <- moments$between + transposed_blocks(moments$between, w)
  cross <- list()
  for (class in seq_len(processes(fit))) {
    known <- covariances_with(fit, here$x, class, along$v)
    D <- here$downdate[[class]]
    dD <- batch_downdate(batch, known, class) %||% D
    change <- tcrossprod(dD, D)
    var <- less_block(var, change + t(change), class, w)
    cross[[class]] <- covariances_between(known, here$target$covariances[[class]]) -
      tcrossprod(dD, here$target$downdate[[class]])
  }
  list(mean = moments$slope$mean, offset = along$shift, var = var, cross = cross)
}

# Subtracts a block of w x w numbers from those of one latent function, of one row.
less_block <- function(var, block, class, w) {
  at <- (class - 1L) * w * w + seq_len(w * w)
  var[at] <- var[at] - c(block)
  var
}

# Returns the derivative of a row's curvature along a change of its moments: where the model has
# none by central differences of fourth order, over a hundredth of the distance in which they change
# by their own size.
curvature_change <- function(here, change) {
  latent <- here$latent
  if (!is.null(here$model$curvature_change)) return(here$model$curvature_change(latent, change))
  spread <- max(abs(latent$var))
  distance <- c(sqrt(spread) / max(abs(change$mean + change$offset)), spread / max(abs(change$var)))
  h <- 0.01 * min(distance, 1e3)
  at <- function(h) {
    here$model$curvature(list(mean = latent$mean + h * change$mean,
                              var = latent$var + h * change$var,
                              offset = latent$offset + h * change$offset,
                              weights = latent$weights))
  }
  steps <- lapply(c(1, -1, 2, -2) * h, at)
  lapply(seq_along(steps[[1L]]), function(class) {
    own <- lapply(steps, `[[`, class)
    c(8 * (own[[1L]] - own[[2L]]) - own[[3L]] + own[[4L]]) / (12 * h)
  })
}
