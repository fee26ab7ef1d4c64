# Group terms of mixed models, `(1 | g)` and `(x | g)`, read as parts of the kernel: a random
# intercept is kernel_factor("g"), a random slope kernel_linear() of x times kernel_factor("g").

# Returns list(formula, kernel) without group terms, or NULL if there are none. kernel: NULL, or
# what sparsegp() was given
read_group_terms <- function(formula, kernel) {
  if (!any(BARS %in% all.names(formula[[3L]]))) return(NULL)
  split <- split_groups(formula[[3L]])
  if (length(split$groups) == 0L) return(NULL)
  groups <- lapply(split$groups, read_group)
  added <- unlist(lapply(groups, `[[`, "variables"))
  names <- vapply(added, deparse1, "")
  factors <- unlist(lapply(groups, `[[`, "factors"))
  own <- c(rhs_labels(split$rest), names)
  added <- added[!duplicated(names) & !names %in% rhs_labels(split$rest)]
  formula[[3L]] <- Reduce(function(a, b) call("+", a, b),
                          c(if (!is.null(split$rest)) list(split$rest), added))
  others <- length(setdiff(own, factors)) > 0L || "." %in% all.names(split$rest)
  smooth <- if (others) list(kernel %||% quote(kernel_rbf()))
  parts <- c(smooth, unlist(lapply(groups, `[[`, "parts")))
  report_groups(split$groups, formula, kernel, parts)
  list(formula = formula, kernel = Reduce(function(a, b) call("+", a, b), parts))
}

# Returns the group terms of a sum, calls of `|` or `||` in parentheses, and the rest of it.
split_groups <- function(expression) {
  if (is_group_term(expression)) return(list(groups = list(expression[[2L]]), rest = NULL))
  sum <- is.call(expression) && identical(expression[[1L]], quote(`+`)) && length(expression) == 3L
  if (!sum) return(list(groups = list(), rest = expression))
  sides <- lapply(as.list(expression)[-1L], split_groups)
  rest <- Filter(Negate(is.null), lapply(sides, `[[`, "rest"))
  list(groups = c(sides[[1L]]$groups, sides[[2L]]$groups),
       rest = if (length(rest)) Reduce(function(a, b) call("+", a, b), rest))
}

is_group_term <- function(expression) {
  is.call(expression) && identical(expression[[1L]], quote(`(`)) &&
    is.call(expression[[2L]]) && as.character(expression[[2L]][[1L]])[1L] %in% BARS
}

BARS <- c("|", "||")

rhs_labels <- function(expression) {
  if (is.null(expression) || "." %in% all.names(expression)) return(character())
  attr(stats::terms(eval(call("~", expression))), "term.labels")
}

# Returns list(factors, variables, parts) of a group term: names of its factors, what it needs as
# inputs, and calls that make its parts of the kernel.
read_group <- function(term) {
  left <- stats::terms(eval(call("~", term[[2L]])))
  slopes <- attr(left, "term.labels")
  if (any(attr(left, "order") > 1L)) refuse_group(term)
  sets <- group_sets(term[[3L]], term)
  of_set <- function(names) {
    intercept <- if (attr(left, "intercept") == 1L) list(call("kernel_factor", names))
    c(intercept, lapply(slopes, function(name) {
      call("*", call("kernel_linear", vars = name),
           call("kernel_factor", names, variance = quote(fixed(1))))
    }))
  }
  factors <- unique(unlist(sets))
  list(factors = factors, parts = unlist(lapply(sets, of_set)),
       variables = c(as.list(attr(left, "variables"))[-1L], lapply(factors, as.name)))
}

# Returns the factors whose levels, or combinations of levels, have effects: `g`, `a:b` or `a/b`.
group_sets <- function(expression, term) {
  if (is.symbol(expression)) return(list(as.character(expression)))
  mark <- if (is.call(expression)) as.character(expression[[1L]])[1L] else ""
  plain <- length(expression) == 3L && is.symbol(expression[[2L]]) && is.symbol(expression[[3L]])
  names <- if (plain) vapply(as.list(expression)[-1L], as.character, "")
  if (plain && mark == ":") return(list(names))
  if (plain && mark == "/") return(list(names[1L], names))
  refuse_group(term)
}

refuse_group <- function(term) {
  stop_sparsegp("formula", paste0("has the group term (", deparse1(term),
                                  "), which is not supported"),
                paste("Write (1 | g), (x | g), (1 | a:b) or (1 | a/b), or give",
                      "kernel = kernel_rbf() + kernel_factor(\"g\")"))
}

# Gives a message on what group terms are read as.
report_groups <- function(groups, formula, kernel, parts) {
  if (!is.null(kernel)) parts[[1L]] <- quote(kernel)
  words <- vapply(parts, deparse1, "")
  message("Group terms ", toString(paste0("(", vapply(groups, deparse1, ""), ")")),
          " are read as parts of the kernel:\n  ", deparse1(formula), ", kernel = ",
          paste(words, collapse = " + "))
}
