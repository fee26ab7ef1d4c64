# Package marginaleffects asks a model for coefficients and their covariance matrix, predicts with
# each coefficient moved a little, and propagates the covariance (the delta method). A Gaussian
# process has a value at every point in the place of coefficients. The predictions p at all points
# of one call of marginaleffects, linear in the latent functions about the posterior, are
#   p = E p + L z,   z ~ N(0, I),   L L' = sum_k w_k (J_k Cov_k f J_k' + (p_k - E p)(p_k - E p)'),
# with p_k those of each member of an ensemble and J_k their derivatives in its latent functions.
# 1 + z are the coefficients, 1 in the fit itself: as many as the numerical rank of L L'. So the
# standard error of any function of predictions is that of its best linear approximation, exact for
# the latent function. The points become known as they are predicted, before coefficients are asked
# for: MARGINS remembers
#   fit, type  the fit, and the type of prediction
#   points     inputs, as scaled for C, and offsets: a row for each place
#   root       L, once it was asked for: the places of an output after those of the one before
#   used       have coefficients been moved? The next predictions are those of another call
MARGINS <- new.env(parent = emptyenv())

MOST_MARGINS <- 2000L # coefficients

margin_coefs <- function(count) {
  stats::setNames(rep(1, count), paste0("z", seq_len(count), recycle0 = TRUE))
}

#' @exportS3Method marginaleffects::get_vcov
get_vcov.sparsegp <- function(model, vcov = NULL, ...) {
  if (isFALSE(vcov)) {
    forget_margins()
    return(NULL)
  }
  if (!is.null(vcov) && !isTRUE(vcov)) {
    stop_sparsegp("vcov", "cannot be chosen for a Gaussian process, whose posterior has its own",
                  "Leave it out, or give vcov = FALSE")
  }
  refuse_margins(ready(model))
  names <- names(margin_coefs(MOST_MARGINS))
  structure(diag(MOST_MARGINS), dimnames = list(names, names))
}

refuse_margins <- function(model) {
  if (!has_components(model)) return(invisible())
  stop_sparsegp("model", "has several components, which marginaleffects does not support",
                "Use slopes(), predict(se.fit = TRUE) or draws()")
}

forget_margins <- function(model = NULL, type = NULL) {
  MARGINS$fit <- model
  MARGINS$type <- type
  MARGINS$points <- MARGINS$root <- NULL
  MARGINS$used <- FALSE
}

# Are the points of this fit, and of this type, remembered?
is_margin_of <- function(model) identical(MARGINS$fit$posterior, model$posterior)

#' @exportS3Method marginaleffects::get_coef
get_coef.sparsegp <- function(model, ...) {
  if (is.null(MARGINS$points) || !is_margin_of(model)) return(margin_coefs(MOST_MARGINS))
  if (is.null(MARGINS$root)) MARGINS$root <- margin_root(MARGINS$fit, MARGINS$points, MARGINS$type)
  count <- ncol(MARGINS$root)
  if (count > MOST_MARGINS) {
    stop_sparsegp("newdata", paste0("has points of which ", count, " are independent"),
                  paste("Give fewer rows, or use slopes(average = TRUE) of this package, which",
                        "takes any number"))
  }
  margin_coefs(count)
}

#' @exportS3Method marginaleffects::set_coef
set_coef.sparsegp <- function(model, coefs, ...) {
  model[["margin"]] <- unname(coefs) - 1
  model
}

#' @exportS3Method marginaleffects::get_predict
get_predict.sparsegp <- function(model, newdata, type = "response", ...) {
  moved <- model[["margin"]]
  model[["margin"]] <- NULL
  model <- ready(model)
  newdata <- as.data.frame(newdata)
  answer <- predict.sparsegp(model, newdata, type = type)
  if (is.null(moved)) remember_points(model, newdata, type)
  else answer <- answer + moved_by(model, newdata, type, moved, NCOL(answer))
  rowid <- newdata$rowid %||% seq_len(nrow(newdata))
  if (!is.matrix(answer)) return(data.frame(rowid = rowid, estimate = unname(answer)))
  data.frame(rowid = rep(rowid, ncol(answer)),
             group = factor(rep(colnames(answer), each = nrow(answer)), colnames(answer)),
             estimate = c(answer))
}

# Returns the rows of the points of new data: inputs and offsets, with the complete rows.
margin_points <- function(model, newdata) {
  new <- complete_inputs(model, newdata)
  points <- cbind(row_inputs(new$x, n_outputs(model)), as.matrix(new$offset), deparse.level = 0L)
  list(points = unname(points), complete = new$complete)
}

remember_points <- function(model, newdata, type) {
  same <- is_margin_of(model) && identical(MARGINS$type, type)
  if (isTRUE(MARGINS$used) || !same) forget_margins(model, type)
  MARGINS$points <- unique(rbind(MARGINS$points, margin_points(model, newdata)$points))
  MARGINS$root <- NULL
}

# Returns L z at the rows of new data, as predictions are.
moved_by <- function(model, newdata, type, z, outputs) {
  MARGINS$used <- TRUE
  new <- margin_points(model, newdata)
  at <- match(point_keys(new$points), point_keys(MARGINS$points))
  if (anyNA(at) || !identical(MARGINS$type, type)) {
    stop_sparsegp("newdata", "has points that were not predicted before", "Call again")
  }
  by <- matrix(MARGINS$root %*% z, ncol = outputs)[at, , drop = FALSE]
  out <- matrix(NA_real_, length(new$complete), outputs)
  out[new$complete, ] <- by
  if (outputs == 1L) drop(out) else out
}

# ---- Covariances of predictions ----

# Returns L, of as many columns as its rank.
margin_root <- function(model, points, type) {
  inputs <- seq_len(ncol(points) - n_outputs(model))
  offset <- points[, -inputs, drop = FALSE]
  x <- stack_components(`colnames<-`(points[, inputs, drop = FALSE],
                                     point_names(model$scaling)), n_outputs(model))
  pivoted_root(tcrossprod(spread_of_predictions(model, x, offset, type)$root))
}

# Returns a root of a covariance matrix by a Cholesky factor with pivots, which ends at the
# numerical rank.
pivoted_root <- function(cov) {
  root <- suppressWarnings(chol(cov, pivot = TRUE, tol = 1e-14 * max(diag(cov))))
  rank <- attr(root, "rank")
  t(root[seq_len(rank), order(attr(root, "pivot")), drop = FALSE])
}

# Returns the predictions at scaled inputs, and a matrix whose product with its transpose is their
# covariance: the outputs one after the other.
spread_of_predictions <- function(model, x, offset, type) {
  by_member(model, function(model, x) spread_of_one(model, x, offset, type),
            function(each, model) {
    weights <- model$ensemble$weights
    mean <- mixed(lapply(each, `[[`, "mean"), weights)
    parts <- Map(function(own, w) sqrt(w) * cbind(own$root, own$mean - mean), each, weights)
    list(mean = mean, root = do.call(cbind, parts))
  }, x)
}

spread_of_one <- function(model, x, offset, type) {
  CLOSE <- 1e-4 # differences of predictions in the mean of a latent function
  w <- n_outputs(model)
  n <- nrow(x) %/% w
  latent <- c(engine_predict(model, x), list(offset = offset, complete = rep(TRUE, n)))
  request <- list(type = type, se.fit = FALSE, interval = "none", level = 0.95, reject = 0)
  answer <- function(mean) c(predicted(model, replace(latent, "mean", list(mean)), request))
  parts <- lapply(seq_len(processes(model)), function(class) {
    root <- pivoted_root(joint_moments(model, x, class)$var)
    Reduce(`+`, lapply(seq_len(w), function(part) {
      step <- CLOSE * (rep(seq_len(w), n) == part)
      step <- drop(outer(step, seq_len(processes(model)) == class))
      slope <- (answer(latent$mean + step) - answer(latent$mean - step)) / (2 * CLOSE)
      own <- root[seq(part, by = w, length.out = n), , drop = FALSE]
      slope * own[rep(seq_len(n), length(slope) %/% n), , drop = FALSE]
    }))
  })
  list(mean = answer(latent$mean), root = do.call(cbind, parts))
}
