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
#   seen       for each data frame that was predicted: itself, `newdata`, and its predictions,
#              `answer`; the same frames are predicted again for each coefficient
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
  refuse_if(!is.null(vcov) && !isTRUE(vcov),
            "vcov", "cannot be chosen for a Gaussian process, whose posterior has its own",
            "Leave it out, or give vcov = FALSE")
  refuse_if(has_components(ready(model)), "model",
            "has several components, which marginaleffects does not support",
            "Use slopes(), predict(se.fit = TRUE) or draws()")
  names <- names(margin_coefs(MOST_MARGINS))
  structure(diag(MOST_MARGINS), dimnames = list(names, names))
}

forget_margins <- function(model = NULL, type = NULL) {
  MARGINS$fit <- model
  MARGINS$type <- type
  MARGINS$points <- MARGINS$root <- MARGINS$seen <- NULL
  MARGINS$used <- FALSE
}

# Are the points of this fit, and of this type, remembered?
is_margin_of <- function(model) identical(MARGINS$fit$posterior, model$posterior)

#' @exportS3Method marginaleffects::get_coef
get_coef.sparsegp <- function(model, ...) {
  if (is.null(MARGINS$points) || !is_margin_of(model)) return(margin_coefs(MOST_MARGINS))
  if (is.null(MARGINS$root)) MARGINS$root <- margin_root(MARGINS$fit, MARGINS$points, MARGINS$type)
  count <- ncol(MARGINS$root)
  refuse_if(count > MOST_MARGINS, "newdata",
            paste0("has ", count, " linearly independent points, too many for this interface"),
            paste("Give fewer rows, or use slopes(average = TRUE) of this package, which",
                  "takes any number"))
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
  newdata <- as.data.frame(newdata)
  if (is.null(moved)) {
    model <- ready(model)
    answer <- predict.sparsegp(model, newdata, type = type)
    refuse_if(!is.numeric(answer),
              "type", paste0("= \"", type, "\" gives no numbers to take differences of"),
              "Use type = \"response\", which has the probability of each class")
    remember_points(model, newdata, type, answer)
  } else {
    answer <- moved_predictions(newdata, type, moved)
  }
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

remember_points <- function(model, newdata, type, answer) {
  same <- is_margin_of(model) && identical(MARGINS$type, type)
  if (isTRUE(MARGINS$used) || !same) forget_margins(model, type)
  frame <- c(margin_points(model, newdata), list(newdata = newdata, answer = answer))
  MARGINS$points <- unique(rbind(MARGINS$points, frame$points))
  MARGINS$seen <- c(MARGINS$seen, list(frame))
  MARGINS$root <- NULL
}

# Returns the predictions with moved coefficients: those of the fit, plus L z at the rows.
moved_predictions <- function(newdata, type, z) {
  MARGINS$used <- TRUE
  frame <- known_frame(newdata, type)
  by <- matrix(MARGINS$root %*% z, ncol = NCOL(frame$answer))[frame$at, , drop = FALSE]
  moved <- as.matrix(frame$answer)
  moved[frame$complete, ] <- moved[frame$complete, , drop = FALSE] + by
  if (is.matrix(frame$answer)) moved else drop(moved)
}

# Returns what is known of a data frame that was predicted before, with the places of its points.
known_frame <- function(newdata, type) {
  same <- vapply(MARGINS$seen, function(frame) identical(frame$newdata, newdata), NA)
  refuse_if(!any(same) || !identical(MARGINS$type, type),
            "newdata", "has points that were not predicted before", "Call again")
  i <- which(same)[1L]
  if (is.null(MARGINS$seen[[i]]$at)) {
    MARGINS$seen[[i]]$at <- match(point_keys(MARGINS$seen[[i]]$points), point_keys(MARGINS$points))
  }
  MARGINS$seen[[i]]
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
