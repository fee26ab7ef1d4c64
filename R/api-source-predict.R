# Predictions of the rows of a source, and the columns that a call needs of it.

# Returns the names of all variables that a call with a formula may take from its data; NULL: any.
variables_of_call <- function(formulas, call, others = NULL) {
  call[c("data", "newdata")] <- NULL
  named <- unlist(lapply(Filter(function(x) inherits(x, "formula"), formulas), all.vars))
  if (!"." %in% named) c(named, all.vars(call), others)
}

# Returns the same for predictions of a fit. Members of an average have formulas of their own.
variables_of_fit <- function(object, call) {
  if (is.null(object$terms) || !is.null(object$ensemble)) return(NULL)
  terms <- stats::delete.response(object$terms)
  others <- c(variables_of_call(NULL, object$call), object$likelihood$custom$data)
  variables_of_call(list(terms), call, others)
}

# Predicts every chunk that has rows. call: of predict(), evaluated in env.
predict_source <- function(object, call, env, source, to) {
  give <- predictions_to(to)
  refuse_if(!is.function(to) && isTRUE(eval(call$covariance, env)),
            "covariance", "is a matrix of pairs of rows, and a file has a line for each row",
            "Give `to` a function, or leave it out")
  source <- narrowed_to(source, variables_of_fit(object, call))
  call[[1L]] <- quote(stats::predict)
  call$to <- NULL
  count <- 0
  warn_once(each_chunk(source, function(i, chunk) {
    call$newdata <<- chunk
    give(eval(call, env), i)
    count <<- count + nrow(chunk)
  }))
  invisible(count)
}

# Returns the user's function of predictions, whose errors name the chunk.
user_receiver <- function(to) {
  force(to)
  function(answer, i) {
    tryCatch(to(answer, i), error = function(e) {
      if (inherits(e, "sparsegp_error")) stop(e)
      stop_sparsegp("to", paste0("stops at chunk ", i, ": ", conditionMessage(e)),
                    "Give a function of the predictions and the chunk's number")
    })
  }
}

predictions_to <- function(to) {
  if (is.function(to)) return(user_receiver(to))
  refuse_if(!is.character(to) || length(to) != 1L || is.na(to),
            "to", "is missing, and predictions for a source need a destination",
            "Give a function of the predictions and the chunk's number, or a CSV file")
  begun <- FALSE
  function(answer, i) {
    table <- as.data.frame(with_covariance_columns(answer))
    if (ncol(table) == 1L) names(table) <- "fit"
    tryCatch(suppressWarnings(
      utils::write.table(table, to, append = begun, col.names = !begun, row.names = FALSE,
                         sep = ",", qmethod = "double")
    ), error = function(e) {
      stop_sparsegp("to", paste0("cannot be written: ", to, " (", conditionMessage(e), ")"),
                    "Name a file in a folder that you may write to, on a disk that is not full")
    })
    begun <<- TRUE
  }
}

# Returns an answer whose w x w x n covariances of the components of each row, if it has some, are
# w(w + 1) / 2 columns, "u.v" of u and v, each pair once.
with_covariance_columns <- function(answer) {
  each <- if (is.list(answer)) answer$covariance
  if (length(dim(each)) != 3L) return(answer)
  pairs <- which(upper.tri(each[, , 1L], diag = TRUE), arr.ind = TRUE)
  columns <- apply(pairs, 1L, function(pair) each[pair[1L], pair[2L], ])
  names <- rownames(each)
  answer$covariance <- matrix(columns, dim(each)[3L], dimnames = list(NULL, paste(
    names[pairs[, 1L]], names[pairs[, 2L]], sep = ".")))
  answer
}
