#' Refit with changes
#'
#' `update(fit, formula)` and `update(fit, argument = value)` fit again with the call changed, as
#' for other models in R. New rows are not added to a full EP fit: that needs all rows again.
#'
#' @param object A fit of [sparsegp()].
#' @param formula. A formula, with `.` for what was there; missing: unchanged.
#' @param ... Arguments of [sparsegp()] to add or replace; `NULL` removes one.
#' @param evaluate Evaluate the new call, or return it?
#' @return A fit, or the call.
#' @examples
#' fit <- sparsegp(mpg ~ wt, mtcars)
#' fit2 <- update(fit, . ~ . + hp)
#' fit3 <- update(fit, kernel = kernel_matern52())
#' c(logLik(fit), logLik(fit2), logLik(fit3))
#' @export
update.sparsegp <- function(object, formula., ..., evaluate = TRUE) {
  if (!missing(formula.) && !inherits(formula., "formula")) {
    stop_sparsegp("formula.", "must be a formula",
                  paste("This fit used every row at once and cannot take more; fit all rows again",
                        "with sparsegp()"))
  }
  if (!missing(formula.) && is.null(object$terms)) {
    stop_sparsegp("formula.", "cannot change a fit of a matrix", "Call sparsegp() again")
  }
  call <- object$call
  if (!missing(formula.)) call$formula <- stats::update.formula(stats::formula(object), formula.)
  changes <- as.list(substitute(list(...)))[-1L]
  if (length(changes) && (is.null(names(changes)) || any(names(changes) == ""))) {
    stop_sparsegp("...", "holds an unnamed argument", "Name what should change")
  }
  call <- as.list(call)
  call[names(changes)] <- changes
  call[intersect(names(call), names(Filter(is.null, changes)))] <- NULL # NULL removes
  call <- as.call(call)
  if (check_flag(evaluate, "evaluate")) eval(call, parent.frame()) else call
}
