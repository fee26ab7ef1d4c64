# The types of kernels, one entry each: all that depends on the type alone. The table is made once
# (util-registry.R) and read by `registered("kernels", type)`. An entry is a list:
#   like          a value, as the constructor makes it
#   aliases       names that other packages have for it
#   parts         is it made of no other kernels, of "some", or of one "scalar" kernel?
#   reads         what of a point: "inputs", "one" of them, "none" of them, their "levels", or the
#                 "component" of the response it is of; kernels made of "some" read what these do
#   resolve       (kernel, inputs) -> the kernel that has met its inputs (kernel-resolve.R)
#   hyper         where hyperparameters start that do not do so as KERNEL_HYPER has it
#   each          (leaf, base) -> what there is a value of the hyperparameter each for: inputs,
#                 components, pairs of components; NULL: one for all
#   degrees       (degree, width) -> are these numbers those of a specification for C?
#   count         (spec) -> its hyperparameters
#   extrapolates  are there functions that do not return to their mean at once beyond the rows?
#   gradient      is it differentiable, so fields are made of it?
#   slopes        does C have its derivatives along its inputs (the slot jet of src/kernel.h)?
kernel_table <- function() {
  types <- list(
    kernel_type(kernel_rbf(), c("gaussian", "se", "squared_exponential", "rbfdot", "radial"),
                gradient = TRUE),
    kernel_type(kernel_matern12(), "exponential", extrapolates = TRUE, slopes = FALSE),
    kernel_type(kernel_matern32(), gradient = TRUE),
    kernel_type(kernel_matern52(), gradient = TRUE),
    kernel_type(kernel_rq(), gradient = TRUE),
    kernel_type(kernel_linear(), "vanilladot", extrapolates = TRUE, hyper = list(
      variance = function(leaf, env) {
        size <- log(length(leaf$vars))
        variance_start(leaf, env, -log(env$share) - size - 2 * per_input_scale(leaf, env))
      }
    )),
    kernel_type(kernel_poly(), "polynomial", extrapolates = TRUE, hyper = list(
      lengthscale = function(leaf, env) ratio_start(leaf, 2 * per_input_scale(leaf, env))
    )),
    kernel_type(kernel_constant(), reads = "none"),
    kernel_type(kernel_factor(), reads = "levels", slopes = FALSE),
    kernel_type(kernel_periodic(), reads = "one", extrapolates = TRUE, hyper = list(
      lengthscale = function(leaf, env) ratio_start(leaf, 0)
    )),
    kernel_type(kernel_trig(), reads = "one", extrapolates = TRUE, hyper = list(
      variance = function(leaf, env) { # of so many coefficients
        variance_start(leaf, env, -log(env$share) - log(2 * leaf$degree[[1L]] + 1))
      }
    )),
    kernel_type(kernel_rbf() + kernel_rbf(), parts = "some", resolve = resolve_sum),
    kernel_type(kernel_rbf() * kernel_rbf(), parts = "some", resolve = resolve_sum),
    kernel_type(kernel_divfree(), parts = "scalar", reads = "component", resolve = resolve_field,
                slopes = FALSE),
    kernel_type(kernel_curlfree(), parts = "scalar", reads = "component", resolve = resolve_field,
                slopes = FALSE),
    kernel_type(kernel_coregion()$parts[[1L]], reads = "component", resolve = resolve_coregion,
                hyper = list(variance = component_variances), each = each_component,
                degrees = are_coregion_degrees, count = count_coregion),
    kernel_type(kernel_custom(function(x, z, theta) NULL), resolve = resolve_custom,
                count = function(spec) 1 + length(spec$custom$names), slopes = FALSE),
    kernel_type(extension_kernel("", "", NULL, NULL, FALSE, NULL, NULL), count = count_extension,
                slopes = FALSE)
  )
  stats::setNames(types, vapply(types, function(type) type$like$type, ""))
}

kernel_type <- function(like, aliases = character(), parts = "none", reads = "inputs",
                        resolve = resolve_leaf, hyper = list(), each = each_input,
                        degrees = function(degree, width) is_one(degree, 0),
                        count = count_leaf, extrapolates = FALSE, gradient = FALSE,
                        slopes = TRUE) {
  list(like = like, aliases = aliases, parts = parts, reads = reads, resolve = resolve,
       hyper = utils::modifyList(KERNEL_HYPER, hyper), each = each, degrees = degrees,
       count = count, extrapolates = extrapolates, gradient = gradient,
       slopes = slopes)
}

# Returns the type of a part of a specification that has no derivative along some of these columns
# (0-based), which it reads, or NULL. Parts of a field have none of their own.
part_without_slope <- function(spec, columns) {
  type <- registered("kernels", spec$type)
  if (!type$slopes && any(spec_columns(spec) %in% columns)) return(spec$type)
  for (part in spec$parts) {
    found <- part_without_slope(part, columns)
    if (!is.null(found)) return(found)
  }
}

# Returns the columns that a specification and its parts read.
spec_columns <- function(spec) c(spec$vars, unlist(lapply(spec$parts, spec_columns)))
