# Remarks on the rows of a fit, made once for each fit: what a user may not have meant.

FEW_ROWS <- 3L # with fewer a length scale cannot be learned

# Gives a message or a warning where response or inputs are probably not what was meant. chunk: the
# rows, with the response as it was given. Where a model is in the units of more rows, what is known
# of them counts (chunked-scan.R). Returns TRUE where the warning was that there is nothing to
# learn.
remark_on_rows <- function(model, setup, chunk) {
  y <- chunk$y
  known <- setup$known$response
  values <- if (is.null(known)) y else known$few
  if (is.null(setup$likelihood) && is.numeric(values) && setequal(values, 0:1)) {
    message("The response is only 0 and 1, and is treated as numeric.\n",
            "For the probability of 1 give likelihood = \"probit\", or make it a factor.")
  }
  warn_of_codes(c(response_columns(y), columns_of_matrix(chunk$x)))
  n <- NROW(y)
  if (model$scaling$alike && n > 1L) {
    warn_sparsegp("No input varies (", toString(model$scaling$names), "): the fit is a constant.")
  }
  if (n < FEW_ROWS) {
    if (is.null(setup$control)) return(invisible(FALSE))
    warn_sparsegp("There ", if (n == 1L) "is" else "are", " only ", counted(n, "row"),
                  ": hyperparameters come from their priors, not from the data.")
    return(invisible(TRUE))
  }
  check_custom(model$lik$custom, theta_of_likelihood(model), model$rows)
  codec <- codec_named(model$response$codec)
  constant <- codec$constant(model$response$y)
  elsewhere <- !is.null(known) && length(known$few) != 1L # rows that were not kept vary
  departs <- codec$scaled && nrow(unique(as.matrix(chunk$offset))) > 1L # from what was expected
  if (is.null(constant) || elsewhere || departs) return(invisible(FALSE))
  warn_sparsegp("The response ", constant, ": there is nothing to learn from these rows but that.")
  invisible(TRUE)
}

# Returns the numeric columns of a response, by name.
response_columns <- function(y) {
  if (!is.numeric(y) || is.object(y)) return(NULL)
  if (is.null(dim(y))) list("the response" = y) else columns_of_matrix(y)
}

columns_of_matrix <- function(x) {
  names <- colnames(x) %||% paste("column", seq_len(ncol(x)), recycle0 = TRUE)
  stats::setNames(lapply(seq_len(ncol(x)), function(k) x[, k]), names)
}
