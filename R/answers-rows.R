# The rows that a fit answers for: its own, or new data.

# Returns a fit that keeps its rows, or stops: streams keep none, nor do fits grown without inputs.
# argument: of the fit, "..." if there are several to be compared.
with_rows <- function(object, argument = "object") {
  object <- ready(object)
  if (has_rows(object)) return(checked_rows(object))
  stop_sparsegp(argument, no_rows_words(object),
                if (argument == "...") "Compare fits that keep their rows, as by method_ep()"
                else "Predict for the rows in question: predict(object, newdata)")
}

no_rows_words <- function(object) UseMethod("no_rows_words")

#' @export
no_rows_words.sparsegp_stream <- function(object) "is a stream's fit, which keeps no rows"

#' @export
no_rows_words.sparsegp <- function(object) {
  if (is_windowed(object)) return("keeps the rows of its window alone, method_markov(window =)")
  if (!is.null(object$source)) return("has read its rows in chunks and has not kept them")
  paste("was given more rows, or merged, without the inputs of all rows",
        "(gp_control(keep_x = TRUE) keeps them)")
}

# Returns scaled inputs of new rows or else of the training rows, with the fields of restore_rows().
rows_asked <- function(object, newdata, offset = NULL) {
  if (!is.null(newdata)) return(complete_inputs(object, newdata, offset))
  c(training_latent(object), list(x = training_inputs(object)))
}

# Returns latent moments in C's units at the training rows.
training_latent <- function(object) rows_latent(with_rows(object))

new_latent <- function(object, newdata, offset = NULL) {
  if (!is_read_once(object)) return(latent_by_recipes(object, newdata, offset))
  new <- complete_inputs(object, newdata, offset)
  moments <- engine_predict(object, new$x)
  refuse_if(!all(is.finite(moments$mean), is.finite(moments$var)),
            "newdata", "is so far from the data that the prediction is not finite")
  c(moments, new[names(new) != "x"])
}

# Do all members of a fit, and theirs, read new rows as it does itself?
is_read_once <- function(object) {
  own <- fields_of_members(object$ensemble)
  !any(c(CODING, "scaling") %in% own)
}

fields_of_members <- function(ensemble) {
  unlist(lapply(ensemble$members, function(own) c(names(own), fields_of_members(own$ensemble))))
}

# Reads the rows by each member's own recipe; those are complete that are so for all.
latent_by_recipes <- function(object, newdata, offset) {
  each <- each_member(object, new_latent, newdata, offset)
  complete <- Reduce(`&`, lapply(each, `[[`, "complete"))
  own <- lapply(each, function(one) {
    some_latent(one, which(complete[one$complete]), n_outputs(object))
  })
  first <- replace(each[[1L]], "complete", list(complete))
  c(mixed_moments(object, own, object$ensemble$weights),
    own[[1L]]["offset"], first[c("complete", "names", "na")])
}

# Returns scaled inputs of the training rows, or stops.
training_inputs <- function(object) {
  if (!is.null(object[["x"]])) return(points_of_rows(object[["x"]], object))
  if (every_row_in_basis(object)) {
    return(object$posterior$basis[order(object$basis_rows), , drop = FALSE])
  }
  stop_sparsegp("newdata", "is missing, and the fit has not kept its inputs, which are many",
                "Give `newdata`, or fit with gp_control(keep_x = TRUE)")
}

per_row <- function(model, values) {
  values <- stats::setNames(c(values), model$row_names)
  if (is.null(model$na.action)) values else stats::naresid(model$na.action, values)
}

# Builds the problem of a fit's rows, which it has (with_rows()), at the basis it has, to more
# digits.
problem_of_fit <- function(object) {
  lacking <- lacking_for_problem(object)
  if (!is.null(lacking)) stop_sparsegp("object", lacking[1L], lacking[2L])
  problem <- new_problem(model_of_fit(object), training_inputs(object), object$data_rows,
                         object$offset, batch_settings(object$options, tol = 1e-9),
                         if (has_state(object)) basis_for_c(object))
  problem <- as_fitted(problem, object)
  with_open_scale(problem, object$response, object$y)
}

# Returns a problem with what makes its runs those of the fit's method.
as_fitted <- function(problem, fit) {
  if (is_markov_fit(fit)) problem$states <- markov_form(problem$spec)$states
  if (is_neighbour_fit(fit)) problem$neighbours <- fit$posterior$neighbours["k"]
  problem
}

# Returns why a fit's rows make no problem, and what to do, or NULL.
lacking_for_problem <- function(object) {
  if (every_row_in_basis(object)) return(NULL)
  if (is_windowed(object)) {
    return(c("keeps the rows of its window alone", "Fit with method_markov(), without `window`"))
  }
  if (is.null(object[["x"]])) {
    return(c("has not kept its inputs", "Fit with gp_control(keep_x = TRUE)"))
  }
  if (has_state(object)) return(NULL)
  c("has a posterior of some rows only, not of all by EP",
    "Use full EP, method_ep(size =), or method_ivm(refine = \"basis\")")
}

# Refuses one-vs-rest fits: C separate models, whose evidences do not add up to one for the labels.
refuse_without_evidence <- function(object, lack) {
  UseMethod("refuse_without_evidence", codec_of(object))
}

#' @export
refuse_without_evidence.response <- function(object, lack) invisible()

#' @export
refuse_without_evidence.response_rest <- function(object, lack) {
  stop_sparsegp("object", paste0("is one-vs-rest, which has ", lack),
                "Fit one model of all classes: likelihood = lik_mprobit()")
}

# Returns the standard error of a sum over rows.
sum_error <- function(x) sqrt(length(x) * stats::var(x))
