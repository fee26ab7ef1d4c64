# Remarks on the rows of a fit, made once for each fit: what a user may not have meant.

FEW_ROWS <- 3L # with fewer a length scale cannot be learned

# Gives a message where numbers, of which a likelihood was not given, are probably labels or counts.
remark_on_counts <- function(values, offset) {
  if (setequal(values, 0:1)) {
    message("The response is only 0 and 1, and is treated as numeric.\n",
            "For the probability of 1 give likelihood = \"probit\", or make it a factor.")
  } else if (any(offset != 0) && are_counts(values) && length(unique(values)) > 1L) {
    message("The response holds counts, and the offset is added to their mean.\n",
            "For a logarithm of exposure give likelihood = \"poisson\".")
  }
}

# Gives a message or a warning where response or inputs are probably not what was meant. chunk: the
# rows, with the response as it was given. Where a model is in the units of more rows, what is known
# of them counts (chunked-scan.R). Returns TRUE where the warning was that there is nothing to
# learn.
remark_on_rows <- function(model, setup, chunk) {
  y <- chunk$y
  known <- setup$known$response
  values <- if (is.null(known)) y else known$few
  if (is.null(setup$likelihood) && is.numeric(values)) remark_on_counts(values, chunk$offset)
  warn_of_codes(c(response_columns(y), columns_of_matrix(chunk$x)))
  n <- NROW(y)
  if (model$scaling$alike && n > 1L) {
    named <- toString(model$scaling$names)
    if (is.null(setup$known) && nrow(unique(chunk$x)) > 1L) {
      warn_sparsegp("No input varies by more than its rounding error (", named, "). Subtract a ",
                    "constant before the values are stored.")
    } else {
      warn_sparsegp("No input varies (", named, "): the fit is a constant.")
    }
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
  warn_sparsegp("The response ", constant, ": these rows contain no information about the inputs.")
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

# Refuses inputs with values that stand so far from all others that these are one number beside
# them: a code, or a slip.
refuse_lost_values <- function(x) {
  lost <- vapply(seq_len(ncol(x)), function(j) is_lost_among(x[, j]), NA)
  if (!any(lost)) return(invisible())
  j <- which(lost)[1L]
  stop_sparsegp("x", paste0("has values in ", colnames(x)[j], ", up to ",
                            signif(max(abs(x[, j])), 3L),
                            ", compared with which all others are equal"),
                "Correct them, or make them NA: rows with missing values are left out")
}

# Is there a gap in the distances from the median that leaves no digits of the smaller ones? Some of
# the rows tell whether all have to be sorted.
is_lost_among <- function(x) {
  GAP <- 1e12
  some <- x[unique(round(seq(1, length(x), length.out = min(length(x), 1000L))))]
  unit <- max(abs(x)) # whose difference from another is a number
  middle <- stats::median(some) / unit
  far <- max(abs(x / unit - middle))
  if (!isTRUE(far > GAP * stats::median(abs(some / unit - middle)))) return(FALSE)
  distance <- sort(unique(abs(x - stats::median(x))))
  distance <- distance[distance > 0]
  length(distance) > 1L && any(distance[-1L] / GAP > distance[-length(distance)])
}
