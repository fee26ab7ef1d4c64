# Labels of several classes whose latent values are those of one process, a component for each: one
# site sees all values of a row, and the posterior couples them.

coupled_codec <- function() {
  codec_like(classes_codec(), c("coupled", "classes", "factor"),
             processes = function(levels) 1L, read = read_coupled, known_means = wide_offset,
             shape = shape_of(are_labels,
                              components = function(x, whole) identical(x, whole$levels),
                              width = function(x, whole) x == length(whole$levels)),
             how = ", coupled")
}

read_coupled <- function(codec, y, lik, offset, weights, streams) {
  out <- read_labels(codec, y, lik, offset, weights, streams)
  out$width <- length(out$levels)
  out$components <- out$levels
  out
}

# Returns the kernel as C has it: of coupled classes independent functions of the same covariance, a
# component each; `inputs` are the columns before that of the component.
coupled_spec <- function(spec, components, inputs) {
  apart <- list(type = "coregion", vars = inputs, levels = 0, ard = FALSE,
                degree = c(components = components, rank = IDENTITY), parts = list())
  list(type = "product", vars = integer(), levels = numeric(), ard = FALSE, degree = 0L,
       parts = list(apart, spec))
}

IDENTITY <- -1L # the rank of a coregion without parameters (kern_vector.c)

# Returns the kernel of a fit as the user gave it, of a specification for C.
own_spec <- function(fit) {
  if (inherits(codec_of(fit), "response_coupled")) fit$spec$parts[[2L]] else fit$spec
}
