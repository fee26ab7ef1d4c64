# Accessors of a fitted model.

#' @export
coef.sparsegp <- function(object, ...) {
  if (called_from(sys.parent(), graphics::abline)) {
    stop_sparsegp("a", "is a fit, which is not a straight line", "Draw its mean with lines()")
  }
  object <- ready(object)
  shown_values(object$hyper)
}

#' @export
formula.sparsegp <- function(x, ...) {
  x <- check_fit_or_waiting(x, "x")
  if (!is.null(x$terms)) return(stats::formula(x$terms))
  stop_sparsegp("x", "was fitted to a matrix and has no formula",
                "Fit by a formula, or use model.matrix() for the inputs")
}

#' @export
nobs.sparsegp <- function(object, ...) ready(object)$n

#' @export
fitted.sparsegp <- function(object, ...) predict(object, type = "response")

#' Sites and leave-one-out log predictive densities
#'
#' `sites()` gives the Gaussian factor \eqn{\exp(-\tau u^2/2 + \nu u)}{exp(-tau u^2/2 + nu u)} that
#' stands for each row's likelihood in the posterior, as a function of the latent function less its
#' known mean (offset and, for regression, the removed constant).
#'
#' `loo_lpd()` gives, for each row, the log predictive density of its response given all other rows.
#' It is read off what EP keeps of each row without its own site (its cavity): \eqn{\log
#' Z_i}{log Z_i} at that mean and variance (formulas 78-79), without refitting and at the fitted
#' hyperparameters; exact for Gaussian noise.
#'
#' @param object A fit of [sparsegp()].
#' @param ... Nothing.
#' @return `sites()`: a data frame with columns `row` (row of the data), `precision` (tau; below 0
#'   where a likelihood that is not log-concave widens the posterior) and `shift` (nu), and with a
#'   latent function for each class, `class`. Several components, and classes that one process has
#'   all latent functions of (few observations), have columns for the entries of the site's
#'   precision matrix and shift, `precision.a.a`, `precision.a.b`, ..., `shift.a`, ..., and no
#'   `class`. `loo_lpd()`: a named vector, in natural logarithms of
#'   the response's density or probability.
#' @references Minka, T. P. *Gaussian EP* (update formulas), eqs 71-94.
#' @examples
#' fit <- sparsegp(am ~ wt, mtcars, likelihood = "probit")
#' head(sites(fit))
#' sum(loo_lpd(fit))
#' @export
sites <- function(object, ...) UseMethod("sites")

#' @rdname sites
#' @export
sites.sparsegp <- function(object, ...) {
  check_no_dots(...)
  site_table(with_rows(object))
}

#' @rdname sites
#' @export
loo_lpd <- function(object, ...) UseMethod("loo_lpd")

#' @rdname sites
#' @export
loo_lpd.sparsegp <- function(object, ...) {
  check_no_dots(...)
  object <- with_rows(object)
  per_row(object, lpd_of_rows(object))
}

#' The basis of a fit
#'
#' The points whose kernels carry the posterior: every training row for full EP, what was given as
#' `basis` to [sparsegp()], without repetitions, or what the method chose.
#'
#' @param object A fit of [sparsegp()].
#' @param ... Nothing.
#' @return A matrix with a row per point and a column per input (of the model matrix; constant ones
#'   left out), in the units of the inputs. Attribute `rows`: which of the rows used they are (for a
#'   stream: of all rows so far), in order of inclusion, or `NULL` when points were given or
#'   learned. Where classes have bases of their own it has all their points, and attribute `each`
#'   the rows of each. Where points are copies of rows ([copies]) attribute `copies` says which
#'   copy, 0 for the row.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars, basis = c(5, 20, 35, 50))
#' basis(fit)
#' @export
basis <- function(object, ...) UseMethod("basis")

#' @rdname basis
#' @export
basis.sparsegp <- function(object, ...) {
  check_no_dots(...)
  object <- ready(object)
  points <- unscale_kept(basis_points_of(object), object$scaling)
  rows <- object$basis_rows
  if (every_row_in_basis(object)) {
    points <- points[order(rows), , drop = FALSE]
    rows <- sort(rows)
  }
  names <- if (is.null(object$row_names)) rows else object$row_names[rows]
  rownames(points) <- if (!is.null(rows)) make.unique(as.character(names))
  structure(points, rows = rows, each = object$basis_rows_of, copies = object$copies$points)
}
