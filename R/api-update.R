#' Update a fit: more rows, or a refit with changes
#'
#' `update(fit, newdata)`, or `update(fit, x, y)` for fits of a matrix, takes more rows into a fit
#' by [method_online()], for every likelihood and in constant memory, where rows are never seen
#' again; or into a fit of all rows on a basis, see below. `update(fit, formula)` and `update(fit,
#' argument = value)` fit again with the call changed, as for other models in R. Full EP, whose
#' basis is all rows, needs them all again; fits by [method_markov()] keep what they need, and EP
#' goes on with all rows, or in constant memory with those of a `window` and later ones.
#'
#' A refit has the rows of the first call only, not those that updates brought; there is a warning
#' then. `update(fit, data = )` is such a refit.
#'
#' @section More rows on a basis:
#' Fits by `method_ep(size =)`, by `method_ivm()` with `refine = "basis"` or on a given `basis` take
#' rows too. Basis, hyperparameters, scaling and removed constant stay. If the fit keeps its inputs
#' (`gp_control(keep_x = TRUE)`), EP goes on with all rows, and the result is the fit of all rows on
#' this basis. If not, EP finds the new rows' sites with the old ones' standing; with Gaussian noise
#' that is the same, with other likelihoods nearly so; and `fitted()`, `residuals()`, `sites()` and
#' `loo_lpd()`, which would need the old rows, are errors from then on. The log evidence is that of
#' all rows. Fits with copies of rows ([copies]) are as if they had kept no inputs. See also
#' [merge][merge.sparsegp].
#'
#' @section Streams:
#' A stream's scaling, the constant removed from its response, the starting values and what is
#' learned come from its first `pilot` complete rows and are frozen then. Until there are that many,
#' the rows are only kept, and a model of those that are there is made, and learned, when something
#' is asked of it. Where those rows have one class only, one level of a factor, or one value of a
#' response of numbers, rows wait until there is another, for up to ten times `pilot`. An input that
#' is constant in them is kept, with scale 1; there is a warning when it varies later. So the same
#' rows in the same order give the same fit, to rounding, in whatever
#' chunks they come (with `order = "given"`). A stream may begin empty: `sparsegp(y ~ x, data[0, ],
#' method = method_online())`.
#'
#' A factor that is one input (`coding = "levels"` of [gp_control()]) learns new levels, which are
#' numbered in the order in which they come. The distance of levels stays as it was.
#'
#' If an update fails the old fit is as it was. Errors, of class `sparsegp_error`: responses, or
#' levels of factors coded by contrasts, that were unseen so far; for fits on a basis other values
#' of an input that was constant; values that are not finite; variables that are missing or of
#' another class. `weights` and `na.action`
#' are those of the first call, evaluated in the new rows; its `subset` is not applied to them.
#' Terms such as `I(x - mean(x))` are computed in each chunk by itself: such columns are better
#' computed beforehand.
#'
#' @section Many rows:
#' The rows of a source, `update(fit, row_source(...))`, are taken chunk by chunk. With
#' `checkpoint = "file"` the fit so far and the number of chunks in it are written to that file
#' every 30 seconds (`options(sparsegp.checkpoint =)`), whole or not at all. When the process is
#' killed, the same call goes on after the last chunk that was noted, and ends with the same
#' numbers; chunks that it passes over must be the same as before, which is checked. At the end the
#' file is removed. With `verbose = TRUE` the number of rows and the log evidence are shown every
#' five seconds.
#'
#' @param object A fit of [sparsegp()].
#' @param formula. New rows: a data frame with the variables of the formula, the
#'   response among them (also by the name `newdata`), or for fits of a matrix a matrix, vector or
#'   data frame of inputs (also by the name `x`), or a source of rows ([row_source()]).
#'   Else a formula, with `.` for what was there; missing: unchanged.
#' @param ... For new rows: `checkpoint` and `verbose`, where they are a source, see below;
#'   `weights` where the fit has them, one per row; for rows of a matrix also `y`, one response per
#'   row, and `offset`. Otherwise arguments of [sparsegp()] to add or replace; `NULL` removes one.
#'   Arguments of a `gp_control()` that is written in the call are replaced one by one.
#' @param evaluate Evaluate the new call, or return it?
#' @return A fit, or the call.
#' @references Csató, L. (2002). *Gaussian Processes -- Iterative Sparse Approximations*, chapters
#'   2 and 3.
#' @examples
#' fit <- sparsegp(mpg ~ wt, mtcars)
#' fit2 <- update(fit, . ~ . + hp)
#' fit3 <- update(fit, kernel = kernel_matern52())
#' c(logLik(fit), logLik(fit2), logLik(fit3))
#'
#' set.seed(1)
#' d <- data.frame(x = runif(3000, -10, 10))
#' d$y <- sin(d$x) / d$x + 0.1 * rnorm(3000)
#' fit <- sparsegp(y ~ x, d[1:1000, ], method = method_online(size = 20))
#' fit <- update(fit, d[1001:3000, ])
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
  if (!missing(formula.) && is.null(object$terms)) {
    stop_sparsegp("formula.", "cannot change a fit of a matrix", "Call sparsegp() again")
  }
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
  if (!takes_rows(object)) {
    stop_sparsegp("formula.", "must be a formula",
                  paste("This fit cannot take more rows; fit all rows again with sparsegp(), on a",
                        "basis, which can, or begin a stream with method_online()"))
  }
  object$grown <- TRUE
  source <- as_source(rows)
  packed_fit(if (!is.null(source)) feed_more(object, source, ...)
             else feed(object, read_rows(recipe_of(object), rows, ...)))
}

# Returns a call with arguments added, replaced or, by NULL, removed; those of gp_control() one by
# one.
changed_call <- function(call, changes) {
  if (length(changes) && (is.null(names(changes)) || any(names(changes) == ""))) {
    stop_sparsegp("...", "holds an unnamed argument", "Name what should change")
  }
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
