# Evaluates `code` while numbers that steer default fits (R/policy.R) have other values.
with_policy <- function(..., code) {
  changes <- list(...)
  namespace <- asNamespace("sparsegp")
  before <- namespace$policy
  set <- function(value) {
    unlockBinding("policy", namespace)
    assign("policy", value, namespace)
    lockBinding("policy", namespace)
  }
  on.exit(set(before))
  stopifnot(names(changes) %in% names(before))
  set(utils::modifyList(before, changes))
  force(code)
}

# All numbers in an expression.
numbers_in <- function(x) {
  if (is.numeric(x)) return(x[is.finite(x)])
  if (is.call(x) || is.pairlist(x)) unlist(lapply(as.list(x)[-1L], numbers_in))
}
