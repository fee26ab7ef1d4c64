# Evaluates `code` while the package has another value of one name, such as a function.
with_internal <- function(name, value, code) {
  namespace <- asNamespace("sparsegp")
  before <- namespace[[name]]
  set <- function(value) {
    unlockBinding(name, namespace)
    assign(name, value, namespace)
    lockBinding(name, namespace)
  }
  on.exit(set(before))
  set(value)
  force(code)
}

# Evaluates `code` while numbers that steer default fits (R/policy.R) have other values.
with_policy <- function(..., code) {
  changes <- list(...)
  before <- asNamespace("sparsegp")$policy
  stopifnot(names(changes) %in% names(before))
  with_internal("policy", utils::modifyList(before, changes), code)
}

# All numbers in an expression.
numbers_in <- function(x) {
  if (is.numeric(x)) return(x[is.finite(x)])
  if (is.call(x) || is.pairlist(x)) unlist(lapply(as.list(x)[-1L], numbers_in))
}
