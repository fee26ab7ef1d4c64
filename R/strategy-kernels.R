# Kernels as alternatives on an axis of the race for structure (strategy-axes.R): sums, whose first
# part is a smooth function.

# Returns kernels as alternatives, each once. simpler: are those after the first simpler than it?
alternative_kernels <- function(kernels, simpler = FALSE) {
  kernels <- kernels[!duplicated(vapply(kernels, format, ""))]
  lapply(kernels, function(kernel) {
    list(label = format(kernel), setup = list(kernel = kernel), simpler = simpler)
  })
}

# Returns the kernel with one of the parts besides, or if it has one of their type after its first,
# smooth function, without it.
alternatives_of_part <- function(kernel, added) {
  own <- kernel_parts(kernel)
  has <- vapply(own, function(part) part$type == added[[1L]]$type, NA) & seq_along(own) > 1L
  if (any(has)) return(alternative_kernels(list(kernel, Reduce(`+`, own[!has])), simpler = TRUE))
  alternative_kernels(c(list(kernel), lapply(added, function(part) kernel + part)))
}

kernel_parts <- function(kernel) if (kernel$type == "sum") kernel$parts else list(kernel)

# The smooth function, which every kernel of the race has
first_part <- function(kernel) kernel_parts(kernel)[[1L]]

# Returns the kernel of a setup with its first part of another type, with other length scales, or of
# other inputs.
with_first <- function(setup, type = first$type, ard = first$ard, vars = first$vars) {
  parts <- kernel_parts(setup$kernel)
  first <- parts[[1L]]
  make <- list(rbf = kernel_rbf, matern52 = kernel_matern52, matern32 = kernel_matern32,
               matern12 = kernel_matern12)[[type]]
  parts[[1L]] <- make(ard = ard, vars = vars)
  Reduce(`+`, parts)
}
