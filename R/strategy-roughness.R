# A rougher kernel for many labels. The log evidence of a pilot prefers smooth functions, as its few
# inducing points carry no others. So Matern 3/2 of the race for structure, with the hyperparameters
# that it learned there, is compared once more, by leave-one-out log probabilities of all
# observations with all points. It has to gain min_standard_errors. Length scales that were learned
# on few points are too long for it, more so than for a smooth kernel, so they are shortened by the
# first of lengthscale_factors; another factor gains little, and takes as long as a fit.

# Returns what a rougher kernel changes of the best candidate of the race for structure: its model,
# table, data and record. NULL if none was compared, or if it won.
rougher_of_race <- function(best) {
  kernel <- best$candidate$data$setup$kernel
  rough <- format(kernel_matern32(ard = isTRUE(kernel$ard)))
  learned <- best$learned[[rough]]
  if (is.null(learned$record) || format(kernel) == rough) return(NULL)
  learned[c("model", "table", "data", "record")]
}

# Returns the better of the score of a fit of all observations, and one with a rougher kernel.
with_rougher <- function(best) {
  rough <- rougher_candidate(best$candidate)
  if (is.null(rough)) return(best)
  kernels <- lapply(list(best$candidate, rough), function(candidate) candidate$data$setup$kernel)
  entry <- shorter(rough, policy$lengthscale_factors[1L])
  names(entry) <- paste0(format(kernels[[2L]]), ", ", names(entry))
  race("roughness", entry, score_by_loo, gain_in_lpd, standard_errors(policy$min_standard_errors),
       best = best, incumbent = format(kernels[[1L]]))
}

# Returns the candidate with its rougher kernel, on the same points, with the same factor of length
# scales and likelihood. NULL if there is none, or if the observations are so many that candidates
# are compared on some of them: another fit of all would take too long.
rougher_candidate <- function(candidate) {
  rougher <- candidate$rougher
  problem <- candidate$plan$problem
  if (is.null(rougher) || compared_rows(problem) < nrow(problem$x)) return(NULL)
  rough <- with_model(candidate, rougher$model)
  rough[c("table", "data", "record")] <- rougher[c("table", "data", "record")]
  rough$record$choices <- candidate$record$choices
  rough$factor <- 1
  rough <- with_lengthscale(rough, candidate$factor)
  if (rougher$model$lik$type == candidate$model$lik$type) rough else with_margin(rough)
}
