# Fits that earlier versions wrote, in the form that this one has: a reader for each form.
#
#   0   sparsegp 0.1.0: no number says so. Methods had no class of their own; the response did not
#       name its codec; a stream kept sums and record in one list, with one row less in the trace;
#       other fits on a basis kept no sums, so that they take no more rows.
#   1   this version
FIT_FORMAT <- 1L # what new_fit() makes; a version that changes it counts on

as_written_now <- function(fit) {
  fit <- with_taken_steps(fit)
  if (!is_first_form(fit)) return(fit)
  tryCatch(from_first_form(fit), error = function(e) fit) # what is wrong is said by its check
}

# Version 0.2.0 took every step to a larger basis, and did not note it.
with_taken_steps <- function(fit) {
  if (!is.list(fit) || !is.list(fit$convergence)) return(fit) # what is wrong is said by its check
  growth <- fit$convergence$growth
  if (is.data.frame(growth) && is.null(growth$taken)) fit$convergence$growth$taken <- TRUE
  fit
}

is_first_form <- function(fit) {
  is.list(fit) && is.null(fit$format) && is.list(fit$response) && "latents" %in% names(fit$response)
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
  fit$format <- FIT_FORMAT
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
