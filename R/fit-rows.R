# The rows that a fit has seen: what they observed.

# What a likelihood has to know of the fit's rows (engine.R), without their inputs.
rows_without_inputs <- function(fit) {
  fit <- checked_rows(fit)
  list(lik = fit$likelihood, processes = processes(fit), width = width(fit), rows = fit$data_rows,
       offset = tall_values(fit$offset / fit$response$unit),
       nkernel = sum(fit$hyper$part == "kernel"))
}

fit_part_probabilities <- function(fit) {
  part_probabilities(rows_without_inputs(fit), fit$hyper$theta, fit$cavity$mean, fit$cavity$var)
}

most_probable_parts <- function(fit) max.col(fit_part_probabilities(fit), "first")

# What the rows observed, as residuals have it: of parts the one that the fit takes them for.
observed_values <- function(fit) {
  if (is_modal_fit(fit)) part_values(fit$y, most_probable_parts(fit))
  else codec_of(fit)$observed(fit$y)
}

# Variances of the errors of the fit's rows, of parts those of the one that it takes them for.
noise_of_rows <- function(fit) {
  if (!is_modal_fit(fit)) return(diag(component_noise(fit)))
  part_variances(fit$y, most_probable_parts(fit)) / fit$response$unit^2
}
