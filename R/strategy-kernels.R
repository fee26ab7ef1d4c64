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
  if (any(has)) {
    return(alternative_kernels(list(kernel, with_parts(kernel, own[!has])), simpler = TRUE))
  }
  alternative_kernels(c(list(kernel), lapply(added, function(part) {
    with_parts(kernel, c(own, list(part)))
  })))
}

# Returns a kernel as a likelihood needs it: for each of its latent functions, if these are several.
kernel_for <- function(kernel, lik) {
  components <- lik_codec(lik)$coregion
  if (is.null(components)) kernel else do.call(kernel_coregion, c(list(kernel), components))
}

# Returns the parts of a kernel, of several latent functions those of each.
kernel_parts <- function(kernel) {
  if (is_of_each(kernel)) kernel <- kernel$parts[[2L]]
  if (kernel$type == "sum") kernel$parts else list(kernel)
}

# Returns the kernel with other parts.
with_parts <- function(kernel, parts) {
  if (!is_of_each(kernel)) return(Reduce(`+`, parts))
  kernel$parts[[2L]] <- Reduce(`+`, parts)
  kernel
}

# Is it a kernel_coregion()?
is_of_each <- function(kernel) kernel$type == "product" && kernel$parts[[1L]]$type == "coregion"

# The smooth function, which every kernel of the race has
first_part <- function(kernel) kernel_parts(kernel)[[1L]]

# Returns the kernel of a setup with its first part of another type, with other length scales, or of
# other inputs.
with_first <- function(setup, type = first$type, ard = first$ard, vars = first$vars) {
  parts <- kernel_parts(setup$kernel)
  first <- parts[[1L]]
  make <- list(rbf = kernel_rbf, matern52 = kernel_matern52, matern32 = kernel_matern32,
               matern12 = kernel_matern12)[[type]]
  parts[[1L]] <- make(variance = first$params$variance, ard = ard, vars = vars)
  with_parts(setup$kernel, parts)
}
