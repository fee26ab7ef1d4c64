#' Update a fit: more rows, or a refit with changes
#'
#' `update(fit, newdata)`, or `update(fit, x, y)` for fits of a matrix, adds rows to a fit by
#' [method_online()], for every likelihood, in constant memory, visiting each row once; or to a fit
#' of all rows on a basis, see below. `update(fit, formula)` and `update(fit, argument = value)` fit
#' again with the call changed, as for other models in R. Full EP needs all rows again. Fits by
#' [method_markov()] continue EP with all rows, or in constant memory with those of a `window` and
#' later ones.
#'
#' A refit uses only the rows of the first call, without those of updates, and warns about it.
#' `update(fit, data = )` is such a refit.
#'
#' @section More rows on a basis:
#' Fits by `method_ep(size =)`, by `method_ivm()` with `refine = "basis"`, or on a given `basis`
#' accept further rows. Inducing points (the *basis*), hyperparameters, scaling and the constant
#' removed from the response stay the same. If the fit keeps its inputs (`gp_control(keep_x =
#' TRUE)`), EP continues with all rows, and the result is the fit of all rows on this basis. If not,
#' EP finds the sites of the new rows and keeps the old sites; for Gaussian noise this is the same,
#' for other likelihoods nearly so. `fitted()`, `residuals()`, `sites()` and `loo_lpd()` need the
#' old rows and are errors from then on. The log evidence is that of all rows. Fits with virtual
#' copies ([copies]) are updated as fits without inputs. See also [merge][merge.sparsegp].
#'
#' @section Streams:
#' The first `pilot` complete rows of a stream determine its scaling, the constant removed from the
#' response, the starting values and everything that is learned. Until then rows are stored, and a
#' provisional model of the stored rows is fitted on demand. Rows with only one class, one level of
#' a factor, or one value of a numeric response are stored until a second value arrives, at most ten
#' times `pilot` rows. An input that is constant in them is kept, with scale 1, and a warning
#' follows when it varies later. The same rows in the same order therefore give the same fit, to
#' rounding, for any division into chunks (with `order = "given"`). A stream may begin empty:
#' `sparsegp(y ~ x, data[0, ], method = method_online())`.
#'
#' A factor that is one input (`coding = "levels"` of [gp_control()]) accepts new levels, numbered
#' in the order of their arrival. The distance of levels stays the same.
#'
#' A failed update leaves the old fit unchanged. Errors, of class `sparsegp_error`: new responses of
#' a factor, or new levels of factors coded by contrasts; for fits on a basis other values of an
#' input that was constant; values that are not finite; variables that are missing or of another
#' class. `weights` and `na.action` are those of the first call, evaluated in the new rows; its
#' `subset` does not apply to them. Terms such as `I(x - mean(x))` are computed within each chunk:
#' compute such columns beforehand.
#'
#' @section Many rows:
#' `update(fit, row_source(...))` reads the rows of a source chunk by chunk. With `checkpoint =
#' "file"` the fit so far and the number of chunks are written to that file every 30 seconds
#' (`options(sparsegp.checkpoint =)`), atomically. If the process is killed, the same call continues
#' after the last chunk on record and ends with the same numbers; earlier chunks must be unchanged,
#' which is checked. The file is removed at the end. `verbose = TRUE` shows the number of rows and
#' the log evidence every five seconds.
#'
#' @param object A fit of [sparsegp()].
#' @param formula. New rows: a data frame with the variables of the formula, including the response
#'   (also by the name `newdata`); for fits of a matrix a matrix, vector or data frame of inputs
#'   (also by the name `x`); or a [row_source()]. Otherwise a formula, in which `.` stands for the
#'   old one; missing: unchanged.
#' @param ... For new rows: `weights` if the fit has them, one positive number per row; for rows of
#'   a matrix `y`, one response per row, and `offset`, one number per row; for a source `checkpoint`
#'   and `verbose`. Otherwise arguments of [sparsegp()] to add or replace; `NULL` removes one.
#'   Arguments of a `gp_control()` that is written in the call are replaced one by one.
#' @param evaluate `TRUE` to evaluate the new call, `FALSE` to return it.
#' @return A fit of class `sparsegp`, or the call.
#' @references Csató, L. (2002). *Gaussian Processes -- Iterative Sparse Approximations*, chapters
#'   2 and 3.
#' @examples
#' fit <- sparsegp(mpg ~ wt, mtcars)
#' fit2 <- update(fit, . ~ . + hp)
#' fit3 <- update(fit, kernel = kernel_matern52())
#' c(logLik(fit), logLik(fit2), logLik(fit3))
#'
#' set.seed(1)
#' d <- data.frame(x = runif(900, -10, 10))
#' d$y <- sin(d$x) / d$x + 0.1 * rnorm(900)
#' fit <- sparsegp(y ~ x, d[1:200, ], method = method_online(size = 20, pilot = 150))
#' fit <- update(fit, d[201:900, ])
#' fit
#' @export
update.sparsegp <- function(object, formula., ..., evaluate = TRUE) {
  object <- check_fit_or_waiting(object)
  if (!missing(formula.) && !inherits(formula., "formula")) {
    return(add_rows(object, formula., ...))
  }
  if (takes_rows(object) && missing(formula.)) {
    given <- names(substitute(list(...)))
    if ("newdata" %in% given) return(add_named_rows(object, "newdata", ...))
    if (all(c("x", "y") %in% given)) return(add_named_rows(object, "x", ...))
  }
  if (isTRUE(object$grown)) {
    warn_sparsegp("This fits again what the first call names; rows that update() took later are ",
                  "not in it.")
  }
  refuse_if(!missing(formula.) && is.null(object$terms),
            "formula.", "cannot change a fit of a matrix", "Call sparsegp() again")
  call <- call_again(object)
  if (!missing(formula.)) call$formula <- stats::update.formula(stats::formula(object), formula.)
  call <- changed_call(call, as.list(substitute(list(...)))[-1L])
  if (!check_flag(evaluate, "evaluate")) return(call)
  fit_again(call, parent.frame(), "object",
            paste("Give update() the arguments whose variables are not here, such as `data`,",
                  "or call sparsegp() again"))
}

# Returns the call of a fit, which has its formula where that was a wrapper's argument.
call_again <- function(fit) {
  call <- fit$call
  if (is.symbol(call$formula)) call$formula <- stats::formula(fit)
  call
}

# Evaluates the call of a fit. Errors of sparsegp() pass; others are that variables are not in
# `frame`.
fit_again <- function(call, frame, argument, remedy) {
  if (identical(call[[1L]], quote(sparsegp))) {
    call[[1L]] <- quote(sparsegp::sparsegp) # the package need not be attached
  }
  tryCatch(eval(call, frame), error = function(e) {
    if (inherits(e, "sparsegp_error")) stop(e)
    stop_sparsegp(argument, paste0("cannot be fitted again by its call: ", conditionMessage(e)),
                  remedy)
  })
}

# update(fit, newdata = rows), update(fit, x = rows, y = )
add_named_rows <- function(object, name, ...) {
  arguments <- list(...)
  others <- arguments[names(arguments) != name]
  do.call(add_rows, c(list(object, arguments[[name]]), others))
}

add_rows <- function(object, rows, ...) {
  refuse_if(!takes_rows(object), "formula.", "must be a formula",
            paste("This fit cannot take more rows; fit all rows again with sparsegp(), on a",
                  "basis, which can, or begin a stream with method_online()"))
  object$grown <- TRUE
  source <- as_source(rows)
  packed_fit(if (!is.null(source)) feed_more(object, source, ...)
             else feed(object, read_rows(recipe_of(object), rows, ...)))
}

# Returns a call with arguments added, replaced or, by NULL, removed; those of gp_control() one by
# one.
changed_call <- function(call, changes) {
  refuse_if(length(changes) && (is.null(names(changes)) || any(names(changes) == "")),
            "...", "holds an unnamed argument", "Name what should change")
  call <- as.list(call)
  if (is_control_call(call$control) && is_control_call(changes$control)) {
    changes$control <- changed_control(call$control, changes$control)
  }
  call[names(changes)] <- changes
  call[intersect(names(call), names(Filter(is.null, changes)))] <- NULL
  as.call(call)
}

is_control_call <- function(x) {
  is.call(x) && (identical(x[[1L]], quote(gp_control)) ||
                 identical(x[[1L]], quote(sparsegp::gp_control)))
}

# Returns the first of two calls of gp_control() with the arguments of the second in it.
changed_control <- function(old, new) {
  named <- function(call) as.list(match.call(gp_control, call))[-1L]
  given <- named(old)
  new_given <- named(new)
  given[names(new_given)] <- new_given
  as.call(c(new[[1L]], given))
}
