# How hyperparameters are learned: the user's choices.

#' @rdname methods
#' @export
learn_control <- function(criterion = c("evidence", "ivm"), inner = NULL, outer = NULL,
                          strategy = c("constant", "hybrid", "exact"), restarts = 0,
                          rows = 10000) {
  criterion <- check_choice(criterion, names(LEARN_DEFAULTS), "criterion")
  default <- LEARN_DEFAULTS[[criterion]]
  strategy <- check_choice(strategy, names(STRATEGIES), "strategy")
  structure(list(criterion = criterion,
                 inner = check_count(if (is.null(inner)) default[["inner"]] else inner, "inner"),
                 outer = check_count(if (is.null(outer)) default[["outer"]] else outer, "outer"),
                 strategy = strategy, restarts = check_count(restarts, "restarts", 0L),
                 rows = check_count_or_inf(rows, "rows")),
            class = "sparsegp_learn")
}

# For "ivm" those of the IVM paper's section 6.1.
LEARN_DEFAULTS <- list(evidence = c(inner = 200, outer = 2), ivm = c(inner = 8, outer = 15))

#' @export
print.sparsegp_learn <- function(x, ...) {
  shown <- x[x$criterion == "ivm" | names(x) != "strategy"] # the evidence has no strategies
  cat("<learning> ", toString(paste(names(shown), shown, sep = " = ")), "\n", sep = "")
  invisible(x)
}

# learn = TRUE, FALSE or a learn_control(); FALSE becomes NULL
as_learn <- function(learn) {
  if (inherits(learn, "sparsegp_learn")) return(learn)
  if (is.logical(learn) && length(learn) == 1L && !is.na(learn)) {
    return(if (learn) learn_control())
  }
  stop_sparsegp("learn", "must be TRUE, FALSE or a learn_control()")
}

# Before there are rows.
check_criterion <- function(control, method, basis) {
  if (is.null(control) || control$criterion == "evidence") return(invisible())
  if (!control$criterion %in% criteria(method)) {
    stop_sparsegp("learn", "has criterion = \"ivm\", which only method_ivm() can be learned by",
                  "Use method = method_ivm(), or learn_control(criterion = \"evidence\")")
  }
  if (!is.null(basis)) {
    stop_sparsegp("learn", "has criterion = \"ivm\", which chooses its rows itself",
                  "Leave out `basis`, or use learn_control(criterion = \"evidence\")")
  }
}
