#' Importance of inputs
#'
#' Measures the importance of each term of the formula (each column of a matrix) by the loss of
#' leave-one-out log predictive density when the term is held constant, with the other terms and the
#' hyperparameters unchanged. If every input has its own length scale (`ard = TRUE`), the inverse
#' length scale is shown as well.
#'
#' Correlated inputs share their importance: each may have a small loss although the response
#' depends strongly on both. A length scale is the distance over which the function varies, not the
#' size of its change: a strong linear trend has a long one.
#'
#' @param object A fit of [sparsegp()], with its inputs (`gp_control(keep_x = TRUE)`); not a stream,
#'   and not of several components or [lik_heteroscedastic()].
#' @param ... Not used; unknown arguments are an error.
#' @return A data frame with a row for each term, the largest loss first: `loss`, the sum over the
#'   observations of the lost leave-one-out log predictive density, in nats (negative if predictions
#'   improve without the term), `se`, its standard error, from the losses of the observations, and
#'   `relevance`, one over the length scale in standard deviations of the input (the largest, for
#'   several columns or kernels; `NA` for a common length scale). Errors of class `sparsegp_error`:
#'   the fit keeps no rows or inputs.
#' @seealso [loo()], and `compare(fit, update(fit, . ~ . - term))`, which learns again without it.
#' @examples
#' fit <- sparsegp(mpg ~ wt + hp + qsec, mtcars, kernel = kernel_rbf(ard = TRUE))
#' importance(fit)
#' @export
importance <- function(object, ...) UseMethod("importance")

#' @export
importance.default <- function(object, ...) pass_on("importance", object, ...)

#' @rdname importance
#' @rawNamespace S3method(ranger::importance, sparsegp)
#' @rawNamespace S3method(randomForest::importance, sparsegp)
#' @export
importance.sparsegp <- function(object, ...) {
  check_no_dots(...)
  object <- ready(object)
  check_measured(codec_of(object), "importance", "object", INSTEAD_OF_IMPORTANCE)
  problem <- problem_of_fit(with_rows(object))
  terms <- terms_of_inputs(object)[object$scaling$kept]
  lpd <- function(problem) engine_run(problem, object$hyper$theta, posterior = TRUE)$lpd
  all <- lpd(problem)
  lost <- vapply(unique(terms), function(term) {
    without <- hold_constant(problem, which(terms == term), object$scaling)
    all - lpd(without)
  }, numeric(object$n))
  lost <- matrix(lost, object$n)
  known <- !is.na(object$y)
  out <- data.frame(loss = colSums(lost[known, , drop = FALSE]),
                    se = apply(lost[known, , drop = FALSE], 2L, sum_error),
                    relevance = relevance_of(object, terms), row.names = unique(terms))
  out[order(-out$loss), ]
}

INSTEAD_OF_IMPORTANCE <- "Compare it with a fit without the input: compare(fit, update(fit, ...))"

# Returns of each input the term of the formula that it is of. Rows of a source may have no frame.
terms_of_inputs <- function(object) {
  if (is.null(object$terms)) return(object$scaling$names)
  frame <- tryCatch(model.frame.sparsegp(object), sparsegp_error = function(e) NULL)
  if (!is.null(frame)) {
    return(model_inputs(object$terms, frame, object$contrasts, object$xlevels)$terms)
  }
  if (has_plain_inputs(object) && length(object$xlevels) == 0L) return(object$scaling$names)
  stop_sparsegp("object", "was fitted to rows that no longer exist, and to terms of these",
                INSTEAD_OF_IMPORTANCE)
}

# Sets all rows, and all points of the basis, to one value in some columns.
hold_constant <- function(problem, columns, scaling) {
  places <- sphere_places(scaling)
  held <- function(x) {
    x[, columns] <- rep(problem$x[1L, columns], each = nrow(x))
    if (length(places)) {
      x[, places] <- scale_kept(unscale_kept(x, scaling), scaling)[, places]
    }
    x
  }
  if (is.list(problem$basis)) problem$basis <- lapply(problem$basis, held)
  else if (!is.null(problem$basis)) problem$basis <- held(problem$basis)
  problem$x <- held(problem$x)
  problem
}

relevance_of <- function(object, terms) {
  table <- object$hyper[object$hyper$base == "lengthscale", ]
  inputs <- sub("^(k[0-9]+[.])?lengthscale[.]?", "", table$name)
  names <- object$scaling$names[object$scaling$kept]
  relevance <- object$scaling$seen / vapply(names, function(name) {
    min(hyper_value(table)[inputs == name], Inf)
  }, 0)
  relevance[!names %in% inputs] <- NA
  vapply(unique(terms), function(term) max(relevance[terms == term]), 0)
}
