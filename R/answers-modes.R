#' Modes of a fit of ambiguous measurements
#'
#' Rows of [mixture()] may agree in more than one way: all winds in one direction, or all reversed.
#' Expectation propagation finds one such mode at a time, which depends on where it starts, and its
#' evidence is the mass of that mode. [method_ep()] looks for them from several starts; `modes()`
#' lists what it found.
#'
#' The fit itself is at the mode of largest log evidence. [predict][predict.sparsegp] has `mode` for
#' another or the mixture of all, `plot(fit, type = "modes")` a panel for each. Where modes compete,
#' error bars of one of them do not cover the others: compare the weights.
#'
#' EP starts from online passes, one in the order of the rows and the others in random orders
#' (reproducible by `set.seed()`), each with the first row at one of its parts, which breaks the
#' symmetry of a field and its opposite; and from every row at the first part, at the second, and so
#' on. From each mode so found, the heaviest first, it starts again at the rows' second most
#' probable parts, and at the parts nearest to minus the mode's mean. A fixed point that EP leaves
#' when it is nudged lies between two modes and is not listed. Nor is a mode whose means are all
#' within two standard deviations of a heavier one's: its evidence would count the same mass twice.
#' Hyperparameters are learned at the heaviest mode.
#'
#' In 12 fields of six locations with four parts each (the wind, its opposite and two perpendicular
#' ones, of weights 0.36, 0.32, 0.17 and 0.15) both of the opposite fields are found in all 12, and
#' their weights are within 0.01 of enumeration of all 4096 choices in most, where parts do not
#' overlap.
#'
#' @param object A fit of [sparsegp()] with [lik_mixture()], not of a stream.
#' @param mode `NULL`: list all modes. A whole number from 1 to the number of modes: return the fit
#'   at that mode.
#' @param ... Not used; unknown arguments are an error.
#' @return A data frame with a row for each mode, the best first: `log_evidence`, `weight` (its
#'   proportion of the sum of their evidences, from 0 to 1), `differs` (the proportion of rows that
#'   it assigns to another part than the best mode does), and `relative_weight`, the thesis's log
#'   gamma (eq. 5.41): the log mass that a normal distribution with the mode's covariance has if it
#'   is as high as the posterior density at the mode's mean. That differs from the evidence where a
#'   row's parts overlap. Attribute `parts`: a matrix with a row for each row of the data and a
#'   column for each mode, of the number of the part that the row is assigned to.
#'
#'   With `mode` a fit of class `sparsegp`. Errors of class `sparsegp_error`: fits without such
#'   modes, and of streams, which keep no rows.
#' @references Csató, L. (2002). *Gaussian Processes -- Iterative Sparse Approximations*. PhD
#'   thesis, Aston University, section 5.4.3, eqs 5.39-5.41.
#' @seealso [mixture()], [method_ep()]
#' @examples
#' set.seed(2)
#' d <- expand.grid(x = 1:4, y = 1:4)
#' wind <- cbind(u = 1 + 0 * d$x, v = cos(d$x / 2)) + 0.1 * rnorm(32)
#' d$z <- mixture(c(0.55, 0.45), list(wind, -wind), 0.01)
#' fit <- sparsegp(z ~ x + y, d, kernel = kernel_helmholtz(), method = method_ep(starts = 3))
#' modes(fit)
#' predict(fit, d[1, ], mode = 2)
#' predict(fit, d[1, ], mode = "all", se.fit = TRUE)$se.fit
#' @export
modes <- function(object, ...) UseMethod("modes")

#' @rdname modes
#' @export
modes.sparsegp <- function(object, mode = NULL, ...) {
  check_no_dots(...)
  object <- ready(object)
  check_measured(codec_of(object), "modes", "object", "Use the fit as it is")
  object <- with_rows(object)
  if (!is.null(mode)) return(as_mode(object, check_mode(mode, object)))
  parts <- matrix(unlist(each_mode(object, most_probable_parts)), object$n,
                  dimnames = list(object$row_names, NULL))
  structure(data.frame(log_evidence = mode_evidences(object), weight = mode_weights(object),
                       differs = colMeans(parts != parts[, 1L]),
                       relative_weight = unlist(each_mode(object, relative_weight))),
            parts = parts)
}
