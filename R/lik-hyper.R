# The hyperparameters of a likelihood, and the whole table of a model.

# Returns parts of the table. Likelihood hyperparameters come with their own starts and priors
# (`about`, lik-contract.R). With a latent function for each class they have them class by class.
likelihood_hyper <- function(lik, rows, offset, response, classes) {
  levels <- response$levels
  components <- response$components
  traits <- lik_traits(lik)
  parts <- lapply(names(lik$params), function(base) {
    about <- traits$about[[base]]
    own <- if (!is.null(about$each)) about$each(lik, components)
    suffix <- if (is.null(about$between)) c(classes, own) else between_levels(levels, about)
    name <- if (is.null(suffix)) base else paste(base, suffix, sep = ".", recycle0 = TRUE)
    start <- if (is.null(about$each)) lik_start(lik, about, rows, offset, classes, levels)
             else about$start(rows, offset, own)
    prior <- if (is.null(about$around)) function(unit) about$prior(unit, offset)
             else lapply(start, about$around)
    hyper_rows(name, base, "likelihood", about$log, response$unit^about$unit_power, start,
               lik$params[[base]], prior, range = hyper_range(about), reach = about$reach %||% BOX,
               adds_to = if (is.null(about$adds_to)) "" else about$adds_to,
               whose = if (is.null(components)) "class" else "component, or pair of them")
  })
  if (is.null(classes) || length(parts) < 2L) return(parts)
  # C needs all of a class's together
  list(stacked_table(parts)[order(rep(seq_along(classes), length(parts))), ])
}

# "low|medium" for each of the cut points it is for, as others write it
between_levels <- function(levels, about) {
  at <- about$between(length(levels))
  paste(levels[at], levels[at + 1L], sep = "|", recycle0 = TRUE)
}

# A class against the rest, where two labels are more, sees 1 for its own rows and -1 for the
# others.
lik_start <- function(lik, about, rows, offset, classes, levels) {
  if (!is.null(about$between)) return(about$start(rows, offset, length(levels)))
  if (is.null(classes)) return(about$start(rows, offset))
  if (is.null(lik_codec(lik)$more)) return(about$start(rows, offset, length(classes)))
  vapply(seq_along(classes), function(class) about$start(ifelse(rows == class, 1, -1), offset), 0)
}

# Returns the table of a model: of its kernel, its likelihood, and the scale of its response. rows,
# offset: what C sees of the response, see read_model().
hyper_table <- function(kernel, lik, env, rows, offset, prior, response) {
  classes <- class_names(response)
  suffixes <- if (own_kernels(lik)) paste0(".", classes) else ""
  of_kernel <- unlist(lapply(suffixes, kernel_hyper, kernel = kernel, env = env), FALSE)
  of_lik <- likelihood_hyper(lik, rows, offset, response, classes)
  of_scale <- scale_hyper(lik, response$scale)
  apply_priors(stacked_table(c(of_kernel, of_lik, list(of_scale))), prior)
}
