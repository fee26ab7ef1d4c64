# Accessors of a fitted model.

#' @export
coef.sparsegp <- function(object, ...) {
  refuse_if(called_from(sys.parent(), graphics::abline), "a",
            "is a fitted model, and abline() needs a straight line", "Draw its mean with lines()")
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
#' represents the likelihood of each row in the posterior, as a function of the latent function
#' minus its known mean (offset and, for regression, the removed constant).
#'
#' `loo_lpd()` gives, for each row, the log predictive density of its response given all other rows:
#' \eqn{\log Z_i}{log Z_i} at the mean and variance of its cavity, the posterior without its site
#' (formulas 78-79), without refitting and at the fitted hyperparameters; exact for Gaussian noise.
#'
#' @param object A fit of [sparsegp()] that keeps its rows.
#' @param ... Not used; unknown arguments are an error.
#' @return `sites()`: a data frame with columns `row` (row of the data), `precision` (tau; negative
#'   if a likelihood that is not log-concave widens the posterior) and `shift` (nu), and with a
#'   latent function for each class, `class`. Several components, and classes whose latent functions
#'   form one process (few observations), have columns for the entries of the precision matrix and
#'   shift of the site, `precision.a.a`, `precision.a.b`, ..., `shift.a`, ..., and no `class`.
#'   `loo_lpd()`: a named vector, one number per row, the natural logarithm of the density or
#'   probability of the response.
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

#' Inducing points of a fit
#'
#' Returns the inducing points (the *basis*): every training row for full EP, the distinct points
#' given as `basis` to [sparsegp()], or the points chosen by the method.
#'
#' @param object A fit of [sparsegp()].
#' @param ... Not used; unknown arguments are an error.
#' @return A matrix with a row per point and a column per input (of the model matrix, without
#'   constant inputs), in the units of the inputs. Attribute `rows`: row numbers of the points among
#'   the rows used (for a stream among all rows so far), in order of inclusion, or `NULL` if points
#'   were given or learned. If classes have bases of their own, the matrix has all their points, and
#'   attribute `each` the rows of each. If points are virtual copies of rows ([copies]), attribute
#'   `copies` is the number of the copy, 0 for the row.
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
