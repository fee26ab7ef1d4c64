#' Divergence, vorticity and sources of a vector field
#'
#' Derives scalar fields from a fit of a vector field, such as a current or a wind: its divergence,
#' its vorticity, its stream function and its potential, with standard errors and intervals.
#'
#' | `type` | value | unit |
#' |---|---|---|
#' | `"divergence"` | \eqn{u_x + v_y}{u_x + v_y} (in space \eqn{u_x + v_y + w_z}{u_x + v_y + w_z}) | response / input |
#' | `"vorticity"` | \eqn{v_x - u_y}{v_x - u_y}, in the plane | response / input |
#' | `"stream"` | stream function \eqn{\psi}{psi} of the part without divergence, which is \eqn{(-\psi_y, \psi_x)}{(-psi_y, psi_x)}; in the plane | response x input |
#' | `"potential"` | potential \eqn{\chi}{chi} of the part without vorticity, which is \eqn{\nabla\chi}{grad chi} | response x input |
#'
#' All are linear in the field, so their posterior is normal and follows from that of the fit. They
#' describe the field about its constant mean.
#'
#' An error results if the kernel has no part for a field ([kernel_helmholtz()],
#' [kernel_divfree()], [kernel_curlfree()]), if another part of the kernel reads the same inputs, or
#' for derivatives of fields by [kernel_matern32()], which do not exist.
#'
#' @param object A fit of [sparsegp()] to two or three components, by the kernel of a field.
#' @param newdata Data frame with the variables of the formula, or a matrix of inputs; one row per
#'   prediction. Missing: the training rows. Rows with missing values give `NA`.
#' @param type `"divergence"`, `"vorticity"`, `"stream"` or `"potential"`.
#' @param se.fit `TRUE` to return posterior standard deviations, too.
#' @param interval `"confidence"` for intervals of the field, or `"none"`.
#' @param level Nominal coverage of the interval, a number in (0, 1).
#' @param mode Number of one of the [modes()] of ambiguous measurements, or `"all"` for their
#'   mixture.
#' @param ... Not used; unknown arguments are an error.
#' @return A vector with one number per row of `newdata`, in the units of the table. With `se.fit` a
#'   list of `fit` and `se.fit`; with `interval` the fit is a matrix with columns `fit`, `lwr` and
#'   `upr`. Errors are of class `sparsegp_error`.
#' @seealso [predict.sparsegp()] for the components of the field.
#' @concept curl
#' @concept streamlines
#' @examples
#' at <- expand.grid(x = 1:4, y = 1:4)
#' wind <- transform(at, u = -sin(y) + 0.1 * cos(5 * x * y), v = sin(x))
#' fit <- sparsegp(cbind(u, v) ~ x + y, wind, kernel = kernel_helmholtz())
#' vector_field(fit, data.frame(x = 2.5, y = 2:3), type = "vorticity", se.fit = TRUE)
#' @export
vector_field <- function(object, ...) UseMethod("vector_field")

#' @rdname vector_field
#' @export
vector_field.sparsegp <- function(object, newdata,
                                  type = c("divergence", "vorticity", "stream", "potential"),
                                  se.fit = FALSE, interval = c("none", "confidence"),
                                  level = 0.95, mode = 1, ...) {
  check_no_dots(...)
  type <- check_choice(type, names(DERIVED), "type")
  check_flag(se.fit, "se.fit")
  interval <- check_choice(interval, c("none", "confidence"), "interval")
  check_number(level, "level", 0, 1)
  object <- ready(object)
  check_derived(object, type)
  object <- at_mode(object, check_mode(mode, object, all = TRUE))
  rows <- warn_once(rows_asked(object, if (!missing(newdata)) newdata))
  moments <- derived_moments(object, type, rows$x)
  ends <- c((1 - level) / 2, (1 + level) / 2)
  fit <- if (interval == "none") moments$mean
         else cbind(fit = moments$mean, lwr = derived_bound(moments, ends[1L]),
                    upr = derived_bound(moments, ends[2L]))
  restore_rows(if (se.fit) list(fit = fit, se.fit = sqrt(moments$var)) else fit, rows)
}
