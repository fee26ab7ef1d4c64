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
    structure_axis("kernel", with_linear, worth_a_part),
    structure_axis("kernel", with_rough, worth_a_part),
    structure_axis("kernel", rough_each, worth_a_part)
  )
}

# Returns what another part of a sum has to gain: it costs time, as more inducing points do.
worth_a_part <- function(n) max(policy$min_evidence_gain, policy$min_gain * n)

# One scale for all inputs: where they have a unit in common.
shared_scales <- function(model, chunk, setup, table) {
  if (!is.null(setup$scale) || !can_share_scale(scaling_of(model$moments, TRUE))) return(NULL)
  list(list(label = EACH_SCALED), list(label = ONE_SCALE, setup = list(scale = "common")))
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

# A rough function besides.
with_rough <- function(model, chunk, setup, table) {
  if (lik_codec(model$lik)$labelled) return(NULL)
  alternative_kernels(list(setup$kernel, setup$kernel + kernel_matern12()))
}

# A length scale for each input of the rough function, if there is one, and the smooth one has them.
rough_each <- function(model, chunk, setup, table) {
  parts <- setup$kernel$parts
  last <- length(parts)
  if (last == 0L || parts[[last]]$type != "matern12" || !parts[[1L]]$ard) return(NULL)
  parts[[last]] <- kernel_matern12(ard = TRUE)
  alternative_kernels(list(setup$kernel, Reduce(`+`, parts)))
}

# Returns kernels as alternatives.
alternative_kernels <- function(kernels) {
  lapply(kernels, function(kernel) list(label = format(kernel), setup = list(kernel = kernel)))
}
