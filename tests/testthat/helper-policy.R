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

# All constants and names in an expression.
leaves_of <- function(x) {
  if (is.call(x) || is.pairlist(x)) lapply(as.list(x), function(part) {
    if (missing(part)) NULL else leaves_of(part)
  }) else list(x)
}
