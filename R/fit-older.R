# Fits that earlier versions wrote, in the form that this one has: a reader for each form.
#
#   0   sparsegp 0.1.0: it has no number. Methods had no class of their own; the response did not
#       name its codec; a stream kept sums and record in one list, with one row less in the trace;
#       other fits on a basis kept no sums, so they take no more rows.
#   1   0.2.0, 0.2.1: the options that EP ran with stood in `method`, whether they were given or
#       chosen; choices were in records of their own.
#   2   0.3.0: no input of a kernel was a factor, but for factor kernels; triangular factors and
#       sums on a basis were whole matrices (fit-pack.R).
#   3   0.4.0: a constant of the response was known, its average.
#   4   this version
FIT_FORMAT <- 4L # of what new_fit() makes; a version that changes it counts on

# A fit that cannot be read is returned unchanged: its check gives the reason.
as_written_now <- function(fit) {
  first <- is.list(fit) && is.null(fit$format) && is.list(fit$response) &&
    "latents" %in% names(fit$response)
  if (first) fit <- tryCatch(from_first_form(fit), error = function(e) fit)
  for (read in list(from_second_form, from_third_form, from_fourth_form)) {
    fit <- tryCatch(read(fit), error = function(e) fit)
  }
  fit
}

# Makes numbers of all inputs: factors were columns by contrasts.
from_third_form <- function(fit) {
  if (!is.list(fit) || !identical(fit$format, 2L)) return(fit)
  fit$scaling$levels <- numeric(sum(fit$scaling$kept))
  fit$spec <- spec_of_numbers(fit$spec)
  if (!is.null(fit$stream)) {
    setup <- fit$stream$setup
    setup$coded <- setup$coding
    setup$coding <- "contrasts"
    fit$stream$setup <- setup
  }
  fit$format <- FIT_FORMAT
  fit
}

# Its posterior has no coefficients of a mean.
from_fourth_form <- function(fit) {
  if (is.list(fit) && identical(fit$format, 3L)) fit$format <- FIT_FORMAT
  fit
}

# Returns a specification for C with the inputs of all its parts as numbers.
spec_of_numbers <- function(spec) {
  spec$levels <- numeric(length(spec$vars))
  spec$parts <- lapply(spec$parts, spec_of_numbers)
  spec
}

from_second_form <- function(fit) {
  if (!is.list(fit) || !identical(fit$format, 1L)) return(fit)
  fit["options"] <- list(fit$method)
  fit$choices <- tryCatch(older_choices(fit), error = function(e) NULL) # its check says what
  fit$learning <- without_fields(fit$learning, c("structure", "stages", "rounds"))
  fit$convergence <- without_fields(fit$convergence, "growth")
  fit$tuning <- NULL
  fit$format <- 2L
  fit
}

without_fields <- function(x, fields) if (is.list(x)) x[setdiff(names(x), fields)] else x

# The records of choices in one, with what they had in common.
older_choices <- function(fit) {
  kernels <- fit$learning$structure
  growth <- fit$convergence$growth
  tuned <- fit$tuning$tried
  rbind(
    if (!is.null(kernels)) {
      older_stage("kernel", kernels$kernel, attr(kernels, "rows"), NA, kernels$log_posterior)
    },
    if (!is.null(growth)) {
      older_stage("inducing points", paste(growth$points, "points"), fit$n, growth$points,
                  growth$loo_lpd, nrow(growth))
    },
    if (!is.null(tuned)) {
      older_stage("length scale", paste0(tuned$likelihood, ", length scales x ", tuned$factor),
                  tuned$rows, tuned$points, tuned$lpd)
    }
  )
}

older_stage <- function(stage, candidate, rows, points, score, taken = which.max(score)) {
  data.frame(stage, candidate, rows = as.integer(rows), points = as.integer(points), score,
             gain = NA_real_, se = NA_real_, taken = seq_along(score) == taken)
}

# Likelihoods whose data rows have got what depends on the response alone.
COUNTED <- c("poisson", "negbin", "binomial")

from_first_form <- function(fit) {
  response <- fit$response
  codec <- lik_codec(fit$likelihood)
  against_rest <- response$latents > 1L && !is.null(codec$more)
  fit$response <- list(codec = if (against_rest) codec$more()$name else codec$name,
                       levels = response$levels, centre = response$centre, unit = response$unit,
                       processes = response$latents, width = 1L, components = NULL)[RESPONSE]
  fit$scaling$alike <- FALSE
  fit$method <- method_of_first_form(fit$method)
  fit$modes <- list()
  if (fit$likelihood$type %in% COUNTED) {
    fit$data_rows <- lik_traits(fit$likelihood)$data_rows(fit$y, fit$weights)
  }
  if (!is.null(fit$stream)) fit <- stream_from_first_form(fit)
  fit$format <- 1L
  fit
}

stream_from_first_form <- function(fit) {
  stream <- fit$stream
  if (!is.null(stream$waiting)) stop("rows that wait have no model to be converted")
  old <- stream$state
  stream$record <- old[c("points", "id", "count", "trace")]
  stream$record$trace <- rbind(old$trace, old$trace[1L, ]) # rows counted: all so far
  counted <- stats::setNames(old$count, record_names())
  each <- log(fit$response$unit)
  stream$shift <- counted[["logz"]] + counted[["skipped"]] * each - fit$log_evidence
  stream$setup$method <- method_of_first_form(stream$setup$method)
  stream$setup["coding"] <- list(NULL)
  stream$pilot <- pilot_of(stream$setup$method)
  fit$state <- list(old[SUMS])
  fit$stream <- stream[setdiff(names(stream), c("state", "waiting", "grown"))]
  class(fit) <- c("sparsegp_stream", "sparsegp")
  fit
}
