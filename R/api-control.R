# How a fit is computed, kept and shown, apart from the model: gp_control().

#' Further settings of a fit
#'
#' `gp_control()` collects the arguments of [sparsegp()] that few fits need: `sparsegp(y ~ x, data,
#' control = gp_control(effort = "quick"))`. In [update()][update.sparsegp] its arguments replace
#' those of the first call one by one.
#'
#' @param effort Computational budget for large data: `"quick"`, `"normal"` or `"thorough"`; each
#'   level allows eight times the work of the previous one.
#' @param prior Named list of [priors], an element for each hyperparameter whose default they
#'   replace; `NULL`: the defaults.
#' @param integrate How hyperparameters are integrated out: `"none"` (not at all), `"ccd"`,
#'   `"laplace"`, `"grid"` or `"mcmc"`, see [integration]. `NULL`: in default fits of few rows, if
#'   it widens intervals by more than 3 %.
#' @param coding How factors become inputs: `"levels"`, one input each; `"contrasts"`, columns as in
#'   [lm()]; `NULL`: levels unless a kernel, contrasts or interactions need columns. See
#'   "Factors" of [sparsegp_details].
#' @param like A fit on inducing points (the *basis*). The new fit has its formula, likelihood,
#'   kernel, hyperparameters, scaling and points, and learns nothing; such fits can be
#'   [merged][merge.sparsegp]. Only `data` (or `x`, `y`, `offset`), `weights`, `basis` and
#'   `control` may be given with it.
#' @param augment `NULL`, or a function that makes virtual copies of rows, such as [shift_images()]
#'   or [jitter_rows()], see [copies]. Not with points that are learned.
#' @param keep_x `TRUE` to keep the inputs in the fit, or `FALSE`. `NULL`: inputs of up to 10^6
#'   numbers, or two columns, are kept, and always if the posterior needs all rows, as under full
#'   EP; never for streams.
#' @param checkpoint For a source of rows ([row_source()]): a string, the name of a file in which
#'   the fit saves its progress, see [sparsegp_details], "Checkpoints". `NULL`: it is not saved.
#' @param verbose `TRUE` to show progress: in an interactive session a line with the stage of the
#'   fit (which appears after five seconds in any case), otherwise a line for each evaluation.
#'   `FALSE`: no lines.
#' @return A list of class `sparsegp_control` with these elements, for the argument `control` of
#'   [sparsegp()]. Other values are errors of class `sparsegp_error`.
#' @seealso [learn_control()] on how hyperparameters are learned.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars, control = gp_control(integrate = "ccd"))
#' predict(fit, data.frame(speed = 10), interval = "prediction")
#' update(fit, control = gp_control(integrate = "none"))
#' @export
gp_control <- function(effort = "normal", prior = NULL, integrate = NULL, coding = NULL,
                       like = NULL, augment = NULL, keep_x = NULL, checkpoint = NULL,
                       verbose = FALSE) {
  if (!is.null(keep_x)) check_flag(keep_x, "keep_x")
  if (!is.null(checkpoint)) check_checkpoint(checkpoint)
  if (!is.null(coding)) coding <- check_choice(coding, c("levels", "contrasts"), "coding")
  if (!is.null(like)) check_class(like, "sparsegp", "like", "Give a fit of sparsegp()")
  structure(class = "sparsegp_control",
            list(effort = check_choice(effort, names(EFFORT), "effort"), prior = prior,
                 integrate = if (!is.null(integrate)) check_choice(integrate, RULES, "integrate"),
                 coding = coding, like = like, augment = augment, keep_x = keep_x,
                 checkpoint = checkpoint, verbose = check_flag(verbose, "verbose")))
}

#' @export
print.sparsegp_control <- function(x, ...) {
  shown <- function(value) {
    if (is.null(value) || is.atomic(value)) deparse(value) else paste0("<", class(value)[1L], ">")
  }
  values <- vapply(Filter(Negate(is.null), unclass(x)), shown, "")
  cat("gp_control(", paste(names(values), "=", values, collapse = ", "), ")\n", sep = "")
  invisible(x)
}

# Stops if `control` is not a gp_control(), or if other arguments of sparsegp() are given.
check_control <- function(control, ...) {
  known <- names(formals(gp_control))
  check_class(control, "sparsegp_control", "control", "Give gp_control()")
  refuse_if(!holds(is_made(control, "sparsegp_control") && all(names(control) %in% known)),
            "control", "was not made by gp_control(), or was changed afterwards",
            "Give gp_control()")
  do.call(gp_control, unclass(control), quote = TRUE) # stops where it would
  unknown <- ...names()
  own <- intersect(unknown, known)
  if (length(own)) {
    stop_unknown(own, paste0("Write control = gp_control(",
                             paste(own, "= ...", collapse = ", "), ")"))
  }
  elsewhere <- intersect(unknown, names(ELSEWHERE))
  if (length(elsewhere)) stop_unknown(elsewhere, ELSEWHERE[elsewhere[1L]])
  check_no_dots(...)
}

# Names what to write in place of arguments that other packages have.
ELSEWHERE <- c(
  transform = "Write likelihood = lik_gaussian(transform = ...)"
)
