# Refuses by name the terms that formulas of neighbouring packages have and these have not:
# model.frame() would make a logical OR of `x | g`, and a smooth term a column that is not there.

# Packages whose s(), te(), ... are marks in a formula, not columns
SMOOTHERS <- c("mgcv", "gam", "brms", "gamlss")

SMOOTH_MARKS <- c("s", "te", "ti", "t2")

# Operators of formulas, below which terms stand
JOINTS <- c("+", "-", "*", ":", "/", "^", "%in%", "(")

check_foreign_terms <- function(formula) {
  terms <- terms_within(formula[[length(formula)]])
  response <- formula[[2L]]
  if (any(vapply(terms, identical, NA, response))) { # the fit would be perfect
    stop_sparsegp("formula", paste0("has its response among the inputs: ", deparse1(response)),
                  "Leave it out of the right-hand side")
  }
  for (term in terms) refuse_foreign_term(term, environment(formula))
}

terms_within <- function(expression) {
  joined <- is.call(expression) && as.character(expression[[1L]])[1L] %in% JOINTS
  if (!joined) return(list(expression))
  unlist(lapply(as.list(expression)[-1L], terms_within), recursive = FALSE)
}

refuse_foreign_term <- function(term, env) {
  if (!is.call(term)) return(invisible())
  mark <- as.character(term[[1L]])[1L]
  refuse_if(mark %in% BARS, "formula", paste0("has the term ", deparse1(term), " with a bar"),
            paste("Write group terms as y ~ x + (1 | g), in parentheses and added; a logical",
                  "OR is I(a | b)"))
  refuse_if(is_smooth_mark(mark, env), "formula",
            paste0("has the smooth term ", deparse1(term), ", which other packages define"),
            paste("Write y ~ x + z: every input is smooth; for a sum of functions give",
                  "kernel_rbf(vars = \"x\") + kernel_rbf(vars = \"z\")"))
}

# s() of the user's own is a function like any other.
is_smooth_mark <- function(mark, env) {
  if (!mark %in% SMOOTH_MARKS) return(FALSE)
  found <- get0(mark, env, mode = "function")
  is.null(found) || environmentName(environment(found)) %in% SMOOTHERS
}
