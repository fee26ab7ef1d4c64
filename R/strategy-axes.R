# The axes of the race for structure (strategy-structure.R), in their order.

structure_axis <- function(stage, alternatives, least = function(n) policy$min_evidence_gain) {
  list(stage = stage, alternatives = alternatives, least = least)
}

# Returns the axes that the user left open. With a kernel that was given, inputs and response are as
# they are.
open_axes <- function(setup) {
  if (!is.null(setup$kernel) || identical(setup$structure, "fixed")) return(list())
  list(
    structure_axis("input scale", shared_scales),
    structure_axis("kernel", length_scales),
    structure_axis("kernel", kernel_shapes),
    structure_axis("kernel", with_linear),
    structure_axis("kernel", with_rough)
  )
}

# One scale for all inputs: where they have a unit in common.
shared_scales <- function(model, chunk, setup) {
  if (!is.null(setup$scale) || !can_share_scale(scaling_of(model$moments, TRUE))) return(NULL)
  list("each input by its sd" = list(), "one scale for all inputs" = list(scale = "common"))
}

# A length scale for each input.
length_scales <- function(model, chunk, setup) {
  inputs <- sum(model$scaling$kept)
  if (inputs == 1L || inputs > policy$max_ard_inputs || model$response$processes > 1L) return(NULL)
  labelled_kernels(list(setup$kernel, kernel_rbf(ard = TRUE)))
}

# Rougher functions.
kernel_shapes <- function(model, chunk, setup) {
  ard <- setup$kernel$ard
  labelled_kernels(list(setup$kernel, kernel_matern52(ard = ard), kernel_matern32(ard = ard)))
}

# A trend besides.
with_linear <- function(model, chunk, setup) {
  labelled_kernels(list(setup$kernel, setup$kernel + kernel_linear()))
}

# A rough function besides, of few inputs maybe.
with_rough <- function(model, chunk, setup) {
  smooth <- if (setup$kernel$type == "sum") setup$kernel$parts[[1L]] else setup$kernel
  labelled_kernels(list(setup$kernel, setup$kernel + kernel_matern12(ard = smooth$ard)))
}

# Changes of the kernel, by labels. The first is the one there is.
labelled_kernels <- function(kernels) {
  changes <- lapply(kernels, function(kernel) list(kernel = kernel))
  stats::setNames(c(list(list()), changes[-1L]), vapply(kernels, format, ""))
}
