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
    structure_axis("kernel", lengthscale_each),
    structure_axis("kernel", kernel_shapes),
    structure_axis("kernel", with_linear),
    structure_axis("kernel", with_rough)
  )
}

# One scale for all inputs: where they have a unit in common.
shared_scales <- function(model, chunk, setup, table) {
  if (!is.null(setup$scale) || !can_share_scale(scaling_of(model$moments, TRUE))) return(NULL)
  list(list(label = "each input by its sd"),
       list(label = "one scale for all inputs", setup = list(scale = "common")))
}

# A length scale for each input.
lengthscale_each <- function(model, chunk, setup, table) {
  inputs <- sum(model$scaling$kept)
  if (inputs == 1L || inputs > policy$max_ard_inputs || model$response$processes > 1L) {
    return(NULL)
  }
  alternative_kernels(list(setup$kernel, kernel_rbf(ard = TRUE)))
}

# Rougher functions.
kernel_shapes <- function(model, chunk, setup, table) {
  ard <- setup$kernel$ard
  alternative_kernels(list(setup$kernel, kernel_matern52(ard = ard), kernel_matern32(ard = ard)))
}

# A trend besides. Labels have one variance, which a margin and least squares are made for.
with_linear <- function(model, chunk, setup, table) {
  if (lik_codec(model$lik)$labelled) return(NULL)
  alternative_kernels(list(setup$kernel, setup$kernel + kernel_linear()))
}

# A rough function besides, of few inputs maybe.
with_rough <- function(model, chunk, setup, table) {
  if (lik_codec(model$lik)$labelled) return(NULL)
  smooth <- if (setup$kernel$type == "sum") setup$kernel$parts[[1L]] else setup$kernel
  alternative_kernels(list(setup$kernel, setup$kernel + kernel_matern12(),
                           if (smooth$ard) setup$kernel + kernel_matern12(ard = TRUE)))
}

# Returns kernels as alternatives. NULL stands for none.
alternative_kernels <- function(kernels) {
  lapply(kernels[lengths(kernels) > 0L], function(kernel) {
    list(label = format(kernel), setup = list(kernel = kernel))
  })
}
