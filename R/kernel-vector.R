#' Kernels of several responses
#'
#' These kernels are covariances between the components of a response of several columns, `cbind(u,
#' v) ~ x + y`. They describe velocities and other vectors by the structure of the field, or any
#' related numbers. They combine with each other and with other [kernels] by `+` and `*`: a kernel
#' without components treats them alike, so `kernel_helmholtz() * kernel_matern32(vars = "time")`,
#' with the `vars` of space given to the first, is a field that changes with time.
#'
#' `kernel_divfree()` and `kernel_curlfree()` make a field of as many components as inputs, 2 or 3,
#' component by component in the order of the inputs, out of a scalar kernel \eqn{k}{k} of the
#' distance:
#'
#' | constructor | field | kernel |
#' |---|---|---|
#' | `kernel_divfree` | without divergence; in the plane \eqn{(-\psi_y, \psi_x)}{(-psi_y, psi_x)} of a stream function | \eqn{(\nabla\nabla' - \Delta I) k}{(grad grad' - Laplacian I) k} |
#' | `kernel_curlfree` | without rotation: \eqn{\nabla\chi}{grad chi} of a potential | \eqn{-\nabla\nabla' k}{-grad grad' k} |
#' | `kernel_helmholtz` | any: the sum of the two | |
#' | `kernel_coregion` | any components, \eqn{B_{cc'}}{B[c, c']} times the base | |
#'
#' Their unit is such that `variance` is the variance of one component at a point. That of the
#' stream function or potential is `variance * lengthscale^2` for `kernel_rbf`. A field's structure
#' holds where distances mean the same in all directions and speeds the same in all components:
#' project longitudes and latitudes first. [sparsegp()] gives the inputs of such a kernel one scale,
#' and one to all components.
#'
#' Velocities have a natural zero, so where `mean` of [sparsegp()] is not given the prior mean of a
#' field is 0, unless a constant for each component, such as a drift of all of the region, raises
#' the log evidence by `r policy$min_drift_gain` for each of them (stage `"prior mean"` of
#' `fit$choices`). In simulations of five kinds of fields (`bench/field_mean.R`) errors are largest
#' where drifters are few and on one side; there a constant makes them larger by a quarter or more
#' without a drift, and smaller by a fifth with one. `kernel_coregion()` is for any numbers and has
#' a constant.
#'
#' @param base,stream,potential For fields `kernel_rbf()`, `kernel_matern32()`, `kernel_matern52()`
#'   or `kernel_rq()` with one length scale; for `kernel_coregion()` any kernel without components.
#'   Hyperparameters are given there.
#' @param vars The inputs of space: column names or numbers as in [kernels], one for each component
#'   in their order. `NULL`: those of the base, by default all inputs.
#' @param rank Columns of \eqn{B}{B} besides a diagonal, a whole number of at least 0. 0: the
#'   components are independent; `NULL`: any covariance.
#' @param variance Prior variances of the components (times that of the base, which is 1 unless it
#'   is a sum or a product): positive, one number for all or one for each; as in [kernels] `NULL` to
#'   be learned, [fixed()] to be kept.
#' @param correlation Between -1 and 1, one for all pairs or for (1, 2), (1, 3), ..., (2, 3), ...:
#'   correlations of two components given those before the first, which for two components is their
#'   correlation. For `rank` r only pairs with one of the first r components have one.
#' @return A value of class `sparsegp_kernel`. Errors are of class `sparsegp_error`: a base without
#'   a gradient, such as `kernel_matern12()`, or with `ard = TRUE`, which would break the structure.
#'   [sparsegp()] refuses them for a response of one column, or if the numbers of inputs and
#'   components differ.
#' @references Csató, L. (2002). *Gaussian Processes -- Iterative Sparse Approximations*. PhD
#'   thesis, Aston University, section 5.4.
#'
#'   Narcowich, F. J. and Ward, J. D. (1994). Generalized Hermite interpolation via matrix-valued
#'   conditionally positive definite functions. *Mathematics of Computation* 63, 661-687.
#'
#'   Berlinghieri, R. et al. (2023). Gaussian processes at the Helm(holtz): a more fluid model for
#'   ocean currents. *ICML*.
#'
#'   Álvarez, M. A., Rosasco, L. and Lawrence, N. D. (2012). Kernels for vector-valued functions: a
#'   review. *Foundations and Trends in Machine Learning* 4, 195-266.
#' @seealso [lik_gaussian()] for the noise of the components.
#' @concept multi-output
#' @concept co-kriging
#' @concept coregionalisation
#' @concept coregionalization
#' @concept divergence-free and curl-free fields
#' @concept semiparametric latent factor model
#' @concept multi-task
#' @examples
#' kernel_helmholtz()
#' kernel_helmholtz(kernel_matern52(lengthscale = 2), vars = c("x", "y")) *
#'   kernel_matern32(vars = "time")
#' kernel_coregion(kernel_rbf(), rank = 0)
#' @name kernels_of_vectors
NULL

#' @rdname kernels_of_vectors
#' @export
kernel_divfree <- function(base = kernel_rbf(), vars = NULL) new_field("divfree", base, vars)

#' @rdname kernels_of_vectors
#' @export
kernel_curlfree <- function(base = kernel_rbf(), vars = NULL) new_field("curlfree", base, vars)

#' @rdname kernels_of_vectors
#' @export
kernel_helmholtz <- function(stream = kernel_rbf(), potential = kernel_rbf(), vars = NULL) {
  new_field("divfree", stream, vars, "stream") +
    new_field("curlfree", potential, vars, "potential")
}

#' @rdname kernels_of_vectors
#' @export
kernel_coregion <- function(base = kernel_rbf(), rank = NULL, variance = NULL,
                            correlation = NULL) {
  base <- check_base(base, "base")
  refuse_if(length(component_parts(base)), "base", "is itself a kernel of several components",
            "Give a kernel such as kernel_rbf()")
  if (!is.null(rank)) rank <- c(rank = check_count(rank, "rank", 0L))
  if (length(base$parts) == 0L) {
    refuse_if(!is.null(base$params$variance),
              "base", "has a variance, and the components have their own",
              "Give kernel_coregion(variance = )")
    base$params$variance <- fixed(1)
  }
  new_kernel("coregion", list(variance = variance, correlation = correlation), degree = rank) *
    base
}

FIELDS <- c("divfree", "curlfree")

new_field <- function(type, base, vars, argument = "base") {
  base <- check_base(base, argument)
  refuse_if(!base$type %in% c("rbf", "matern32", "matern52", "rq"),
            argument, paste0("is ", format(base), ", which cannot be the kernel of a field"),
            "Use kernel_rbf(), kernel_matern32(), kernel_matern52() or kernel_rq()")
  refuse_if(base$ard, argument, "has ard = TRUE, with which a field would lose its structure",
            "Use one length scale for all inputs")
  if (!is.null(vars)) base["vars"] <- list(check_vars(vars))
  new_kernel(type, list(), parts = list(base))
}

check_base <- function(base, argument) {
  base <- called(base)
  check_class(base, "sparsegp_kernel", argument, "Give a kernel_*() value such as kernel_rbf()")
  base
}

# Is a part of a kernel, which may be NULL, a vector field of space?
is_field <- function(kernel) {
  any(vapply(component_parts(kernel), function(part) part$type %in% FIELDS, NA))
}

# The parts of a kernel that read components.
component_parts <- function(kernel) {
  if (identical(registered("kernels", kernel$type)$reads, "component")) return(list(kernel))
  unlist(lapply(kernel$parts, component_parts), recursive = FALSE)
}

# Pairs of components with a correlation, in C's order (correlation.h): rows (first, second).
correlated_pairs <- function(components, rank = components - 1L) {
  first <- seq_len(min(rank, components - 1L))
  cbind(rep(first, components - first), unlist(lapply(first, function(j) {
    seq(j + 1L, length.out = components - j)
  })))
}

pair_names <- function(components, rank = length(components) - 1L) {
  pairs <- correlated_pairs(length(components), rank)
  paste(components[pairs[, 1L]], components[pairs[, 2L]], sep = ".", recycle0 = TRUE)
}
