# Kernels of other packages: the twin of src/glue_extension.c.

#' Kernels and likelihoods in C from another package
#'
#' @description `kernel_extension()` and `lik_extension()` use compiled functions that another
#' package has registered. They run at the speed of those of sparsegp, on its threads.
#'
#' *Experimental: arguments may change in a minor version, see [stability].*
#'
#' @details The package has `LinkingTo: sparsegp` in its `DESCRIPTION`; its C code includes
#' `sparsegp.h`, whose comments are the contract, fills in a struct for each likelihood or kernel,
#' and registers a function that returns it by `R_RegisterCCallable()`, under its name after
#' `SPARSEGP_PREFIX`. A kernel is two functions of squared distances (three with a shape): length
#' scales, one for each input or one for all, the variance, factors and gradients are handled by
#' sparsegp. A likelihood is the log density, the mean and variance of a response, and the position
#' and width of the density in the latent value; more is optional and makes it faster. A complete
#' package with one of each is in `tools/example-extension` of sparsegp's sources.
#'
#' A fit keeps the names of the package and of what it registered. Whoever loads a saved fit needs
#' the package to predict. A package that does not link to sparsegp is neither loaded nor called,
#' whatever a saved fit names. The struct begins with a magic number and has a version: a package
#' that was built for another one gives an error, whose remedy is to reinstall it. All of this is
#' checked at every call.
#'
#' @param package,name The package's name, and the name that it registered the kernel or likelihood
#'   by. The package is loaded.
#' @param variance,lengthscale,ard,vars,shape As in [kernels]; `shape` is for kernels that have one.
#' @return `kernel_extension()`: a value of class `sparsegp_kernel`; `lik_extension()`: one of class
#'   `sparsegp_likelihood`. Errors are of class `sparsegp_error`: a package that cannot be loaded or
#'   does not link to sparsegp, a name that it has not registered, another version.
#' @seealso [kernel_custom()] for kernels in R.
#' @examples
#' # errors name what is missing
#' try(kernel_extension("notInstalled", "cauchy"))
#' \dontrun{
#' # after R CMD INSTALL tools/example-extension
#' sparsegp(dist ~ speed, cars, kernel = kernel_extension("sparsegpexample", "rq"))
#' lik <- lik_extension("sparsegpexample", "student", start = c(scale = 0.2, df = 5),
#'                      range = list(df = c(2, Inf)), unit = c(scale = 1))
#' sparsegp(dist ~ speed, cars, likelihood = lik)
#' }
#' @name extensions
NULL

#' @rdname extensions
#' @export
kernel_extension <- function(package, name, variance = NULL, lengthscale = NULL, ard = FALSE,
                             vars = NULL, shape = NULL) {
  facts <- extension_facts(package, name, "kernel")
  refuse_if(facts$count == 0L && !is.null(shape),
            "shape", paste0("is given, and the kernel ", name, " has none"), "Leave it out")
  extension_kernel(package, name, variance, lengthscale, ard, vars,
                   if (facts$count > 0L) list(shape = shape))
}

# Returns the value; more: list(shape) of a kernel that has one.
extension_kernel <- function(package, name, variance, lengthscale, ard, vars, more) {
  params <- c(list(variance = variance, lengthscale = lengthscale), more)
  kernel <- new_kernel("extension", params, ard, vars, per_input = "lengthscale")
  kernel$extension <- c(package = package, name = name)
  kernel
}

# Counts hyperparameters of a specification for C.
count_extension <- function(spec) {
  1 + (if (spec$ard) length(spec$vars) else 1) + isTRUE(spec$shaped)
}
