# The names that code takes from elsewhere: what it uses before it has certainly set it. Code is
# walked in its order; `bound` are the names that are set by then. What may be set or not (a branch,
# an argument of a call) counts as not set, so that no name is missed; formulas and quoted code
# count as used.

# Returns list(variables, calls, set): names used as values, those of functions that are called, and
# those that `<<-` sets. code: a function or an expression.
names_taken <- function(code) {
  taken <- list2env(list(variables = character(), calls = character(), set = character()))
  if (is.function(code)) walk_function(formals(code), body(code), character(), taken)
  else walk_code(code, character(), taken)
  lapply(as.list(taken)[c("variables", "calls", "set")], unique)
}

# Notes in `taken` what an expression takes; returns the names that are bound after it.
walk_code <- function(code, bound, taken) {
  if (is.symbol(code)) note_name(as.character(code), "variables", bound, taken)
  if (is.expression(code)) for (k in seq_along(code)) bound <- walk_code(code[[k]], bound, taken)
  if (!is.call(code)) return(bound)
  head <- code[[1L]]
  if (!is.symbol(head)) {
    walk_code(head, bound, taken)
    return(walk_arguments(code, bound, taken))
  }
  head <- as.character(head)
  note_name(head, "calls", bound, taken)
  walk <- if (head %in% bound) walk_arguments else WALKS[[head]] %||% walk_arguments
  walk(code, bound, taken)
}

note_name <- function(name, kind, bound, taken) {
  if (nzchar(name) && !name %in% bound) taken[[kind]] <- c(taken[[kind]], name)
}

# Arguments may never be evaluated.
walk_arguments <- function(code, bound, taken) {
  for (k in seq_along(code)[-1L]) walk_code(code[[k]], bound, taken)
  bound
}

walk_each <- function(code, bound, taken) {
  for (k in seq_along(code)[-1L]) bound <- walk_code(code[[k]], bound, taken)
  bound
}

walk_function <- function(formals, body, bound, taken) {
  bound <- c(bound, names(formals))
  for (k in seq_along(formals)) walk_code(formals[[k]], bound, taken)
  walk_code(body, bound, taken)
}

# A function that is set may call itself.
walk_assignment <- function(code, bound, taken) {
  to <- code[[2L]]
  if (is.character(to)) to <- as.name(to)
  own <- is.symbol(to) && is.call(code[[3L]]) && identical(code[[3L]][[1L]], quote(`function`))
  bound <- walk_code(code[[3L]], c(bound, if (own) as.character(to)), taken)
  c(bound, walk_target(to, bound, taken))
}

# Returns the name of what is changed by f(x) <- value, which uses f(), `f<-`() and x.
walk_target <- function(to, bound, taken) {
  if (is.symbol(to)) return(as.character(to))
  walk_code(to, bound, taken)
  while (is.call(to)) {
    if (is.symbol(to[[1L]])) note_name(paste0(to[[1L]], "<-"), "calls", bound, taken)
    to <- to[[2L]]
  }
  as.character(to)
}

walk_superassignment <- function(code, bound, taken) {
  bound <- walk_code(code[[3L]], bound, taken)
  to <- code[[2L]]
  taken$set <- c(taken$set, walk_target(if (is.character(to)) as.name(to) else to, bound, taken))
  bound
}

walk_first <- function(code, bound, taken) {
  bound <- walk_code(code[[2L]], bound, taken)
  walk_arguments(code[-2L], bound, taken)
}

walk_branches <- function(code, bound, taken) {
  bound <- walk_code(code[[2L]], bound, taken)
  yes <- walk_code(code[[3L]], bound, taken)
  if (length(code) == 3L) return(bound)
  intersect(yes, walk_code(code[[4L]], bound, taken))
}

walk_loop <- function(code, bound, taken) {
  bound <- c(walk_code(code[[3L]], bound, taken), as.character(code[[2L]]))
  walk_code(code[[4L]], bound, taken)
  bound
}

# Calls that are not walked as others are.
WALKS <- list(
  "{" = walk_each, "(" = walk_each, suppressWarnings = walk_each, suppressMessages = walk_each,
  invisible = walk_each,
  "<-" = walk_assignment, "=" = walk_assignment, "<<-" = walk_superassignment,
  "if" = walk_branches, "for" = walk_loop, "while" = walk_first, "switch" = walk_first,
  "&&" = walk_first, "||" = walk_first,
  "function" = function(code, bound, taken) {
    walk_function(code[[2L]], code[[3L]], bound, taken)
    bound
  },
  "$" = function(code, bound, taken) walk_code(code[[2L]], bound, taken),
  "@" = function(code, bound, taken) walk_code(code[[2L]], bound, taken),
  "::" = function(code, bound, taken) bound,
  ":::" = function(code, bound, taken) bound
)
