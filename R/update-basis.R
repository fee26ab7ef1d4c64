# More rows into a fit on a basis.

# More rows by update(): a chunk as streams have it.
#' @export
feed.sparsegp <- function(fit, chunk) {
  refuse_no_state(fit)
  rows <- coded_rows(fit, chunk)
  if (NROW(rows$y) == 0L) return(fit)
  rows$names <- chunk$names
  if (is.null(rows$names)) rows$names <- as.character(fit$n + seq_len(NROW(rows$y)))
  take_more(fit, problem_of_new_rows(fit, rows$x, rows$data_rows, rows$offset), rows)
}

# A chunk coded as the rows of the fit: inputs, response, offset, weights, and what C sees of
# responses, `data_rows`.
coded_rows <- function(fit, chunk) {
  chunk$x <- code_inputs(fit_coder(fit), chunk$x)
  check_columns(chunk$x, fit$scaling)
  check_constant(fit$scaling, chunk$x)
  check_chunk(chunk, codec_of(fit)$missing)
  refuse_weights(fit, chunk)
  y <- read_more(fit, chunk$y, chunk_size(chunk), chunk$weights)
  list(x = chunk$x, y = y, offset = chunk$offset,
       weights = if (!is.null(fit$weights)) weights_or_ones(chunk$weights, NROW(y)),
       data_rows = data_rows_of(fit, y, chunk$weights))
}

refuse_no_state <- function(fit, argument = "object") {
  if (is_stream(fit)) {
    stop_sparsegp(argument, "is a stream, which takes rows by update() alone",
                  "Use a fit by method_ep(size =), method_ivm() or on a `basis`")
  }
  if (has_state(fit)) return(invisible())
  stop_sparsegp(argument, "has no sums of sites on a basis, which rows could be added to",
                "Use a fit by method_ep(size =), method_ivm() or on a `basis`")
}

refuse_weights <- function(fit, chunk) {
  if (is.null(chunk$weights) || lik_traits(fit$likelihood)$weighted) return(invisible())
  stop_sparsegp("weights", paste0("are not defined for the ", fit$likelihood$type, " likelihood"))
}

# What codes new inputs as those of the fit.
fit_coder <- function(fit) {
  if (is.null(fit$terms)) return(NULL)
  list(terms = fit$terms, xlevels = fit$xlevels, contrasts = fit$contrasts)
}
