# More rows for a fit on a basis, as update() reads them.

#' @export
feed.sparsegp <- function(fit, chunk) {
  if (!is_site_fit(fit)) refuse_no_state(fit)
  rows <- with_data_rows(fit, chunk)
  n <- NROW(rows$y)
  if (n == 0L) return(fit)
  fit <- with_new_levels(fit, rows)
  if (is.null(rows$names)) rows$names <- as.character(fit$n + seq_len(n))
  take <- if (is_site_fit(fit)) take_more_sites else take_more
  take(fit, problem_of_new_rows(fit, rows$x, rows$data_rows, rows$offset), rows)
}

# Returns rows that were read by the fit's recipe with what C sees of responses, `data_rows`.
with_data_rows <- function(fit, rows) {
  check_constant(fit$scaling, rows$x)
  refuse_if(!is.null(rows$weights) && !lik_traits(fit$likelihood)$weighted,
            "weights", paste0("are not defined for the ", fit$likelihood$type, " likelihood"))
  y <- read_more(fit, rows$y, chunk_size(rows), rows$weights)
  rows$data_rows <- data_rows_of(fit, y, rows$weights)
  rows$y <- y
  rows["weights"] <- list(if (!is.null(fit$weights)) weights_or_ones(rows$weights, NROW(y)))
  rows
}

refuse_no_state <- function(fit, argument = "object") UseMethod("refuse_no_state")

#' @export
refuse_no_state.sparsegp <- function(fit, argument = "object") {
  refuse_if(has_members(fit),
            argument, "is a mixture of fits, and rows can be added to a single fit only",
            "Fit with gp_control(integrate = \"none\"), or fit all rows again")
  if (has_state(fit)) return(invisible())
  stop_sparsegp(argument, "has no sums of sites on a basis, to which rows could be added",
                "Use a fit by method_ep(size =), method_ivm() or on a `basis`")
}

#' @export
refuse_no_state.sparsegp_stream <- function(fit, argument = "object") {
  stop_sparsegp(argument, "is a stream, which reads rows only by update()",
                "Use a fit by method_ep(size =), method_ivm() or on a `basis`")
}
