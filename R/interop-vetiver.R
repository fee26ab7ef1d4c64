# Methods by which package vetiver describes a fit, strips it and serves it.

#' @exportS3Method vetiver::vetiver_create_description
vetiver_create_description.sparsegp <- function(model) {
  paste0("A Gaussian-process model (", lik_label(model$likelihood), " likelihood)")
}

# Leaves out what predictions do not need, as vetiver does for other models.
#' @exportS3Method vetiver::vetiver_prepare_model
vetiver_prepare_model.sparsegp <- function(model) axe_env.sparsegp(axe_data.sparsegp(model))

# Returns a data frame without rows that has the variables of the inputs, as predict() reads them.
#' @exportS3Method vetiver::vetiver_ptype
vetiver_ptype.sparsegp <- function(model, ...) {
  if (is.null(model$terms)) {
    none <- matrix(0, 0L, length(model$scaling$names), dimnames = list(NULL, model$scaling$names))
    return(as.data.frame(none))
  }
  formula <- stats::formula(stats::delete.response(model$terms))
  formula[[2L]] <- Reduce(function(a, b) call("+", a, b), lapply(all.vars(formula), as.name))
  frame <- frame_again(model, formula)
  out <- lapply(frame, function(column) column[0L])
  structure(out, class = "data.frame", row.names = integer())
}

# Returns the function that answers a request of a server with predictions of its rows. predict()
# reads the types of JSON itself: text for factors, whole numbers for others. Rows that it refuses
# are the client's fault, so the answer is the message with status 400, not a failure of the server.
#' @exportS3Method vetiver::handler_predict
handler_predict.sparsegp <- function(vetiver_model, ...) {
  function(req, res = NULL) {
    tryCatch(list(.pred = stats::predict(vetiver_model$model, req$body, ...)),
             sparsegp_error = function(e) {
               if (is.null(res)) stop(e)
               res$status <- 400L
               list(error = conditionMessage(e))
             })
  }
}
