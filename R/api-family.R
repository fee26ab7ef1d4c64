# What generalised linear models have, and what they have that this has not.

#' @rdname frames
#' @importFrom stats family
#' @export
family.sparsegp <- function(object, ...) {
  check_no_dots(...)
  named <- FAMILIES[[ready(object)$likelihood$type]]
  link <- stats::make.link(named[2L])
  structure(c(list(family = named[1L], link = link$name),
              link[c("linkfun", "linkinv", "mu.eta", "valideta")]), class = "family")
}

#' @rdname frames
#' @importFrom stats terms
#' @export
terms.sparsegp <- function(x, ...) {
  check_no_dots(...)
  if (!is.null(x$terms)) return(x$terms)
  stop_sparsegp("x", "was fitted to a matrix and has no terms")
}

# step(), drop1() and add1() ask for an AIC of every model.

#' @rdname logLik.sparsegp
#' @param fit,scale,scope As for [stats::extractAIC()] and [stats::drop1()]; not used.
#' @importFrom stats extractAIC
#' @export
extractAIC.sparsegp <- function(fit, scale, k = 2, ...) refuse_penalty("step()")

#' @rdname logLik.sparsegp
#' @importFrom stats drop1
#' @export
drop1.sparsegp <- function(object, scope, ...) refuse_penalty("drop1()")

#' @rdname logLik.sparsegp
#' @importFrom stats add1
#' @export
add1.sparsegp <- function(object, scope, ...) refuse_penalty("add1()")
