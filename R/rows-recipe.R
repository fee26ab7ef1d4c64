# Recipes: how a model reads rows. The first call makes one, recipe_of() gives that of a fit, and
# read_rows() (rows-read.R) makes rows by it of a data frame, a matrix or a chunk of a source. A
# recipe is a list of class formula_recipe or matrix_recipe:
#   terms        a formula, or its terms once rows have been read; NULL for a matrix
#   arguments    of the call, evaluated among the rows: subset, weights, clock; and na.action
#   env          environment of the call
#   likelihood   NULL while it is open
#   drop         are levels without rows dropped?
#   argument     what users call the rows, for errors
#   response     are responses read, too?
#   names        of the inputs, once they are known
#   coded        is it settled how inputs become numbers? Else rows of a formula stay model frames
#   xlevels, contrasts   levels and contrasts of the factors, once they are
#   learns       names of factors that are one input, read as levels: new levels are numbered on
#   any_level    names of factors that may have other levels

new_recipe <- function(terms, call, env, likelihood, clock = NULL, drop = FALSE) {
  arguments <- call_arguments(call, c("subset", "weights", "na.action"), clock)
  arguments$weights <- weights_of_fit(likelihood, arguments$weights)
  structure(list(terms = terms, arguments = arguments, env = env, likelihood = likelihood,
                 drop = drop, argument = "data", response = TRUE, coded = FALSE),
            class = "formula_recipe")
}

# Fields of a fit of a formula that say how its inputs are coded.
CODING <- c("terms", "xlevels", "contrasts")

call_arguments <- function(call, names, clock) {
  c(as.list(call)[intersect(names, names(call))], list(clock = clock)[!is.null(clock)])
}

# na.action: itself, not as it stands in the call.
new_matrix_recipe <- function(na.action, likelihood, names = NULL) {
  structure(list(na.action = na.action, likelihood = likelihood, argument = "x", response = TRUE,
                 names = names, coded = !is.null(names)), class = "matrix_recipe")
}

# Returns the recipe for more rows of a fit. Those of a stream that waits stay model frames, as
# more of them may change the coding.
recipe_of <- function(fit) {
  likelihood <- if (is.null(fit$stream)) fit$likelihood else fit$stream$setup$likelihood
  names <- if (is.null(fit$scaling)) colnames(fit$stream$waiting$x) else fit$scaling$names
  if (is.null(fit$terms)) {
    return(new_matrix_recipe(fit$stream$setup$na.action, likelihood, names))
  }
  recipe <- new_recipe(NULL, NULL, environment(fit$terms), NULL)
  recipe["likelihood"] <- list(likelihood)
  time <- if (!is.null(fit$stream)) time_column(fit$method)
  recipe$arguments <- call_arguments(fit$call, c("weights", "na.action"), time)
  if (has_constants(likelihood)) recipe$arguments$weights <- constants_call(likelihood)
  recipe$argument <- "newdata"
  recipe[CODING] <- fit[CODING]
  recipe$names <- names
  recipe$coded <- !inherits(fit, "sparsegp_waiting")
  recipe$learns <- if (recipe$coded && length(recipe$contrasts)) factors_read(fit)
  recipe
}

# Returns the names of the factors that kernels of a fit read as levels, by distance.
factors_read <- function(fit) {
  read <- fit$scaling$names[fit$scaling$kept][fit$scaling$levels > 0]
  intersect(coded_by_level(fit$contrasts), without_backticks(read))
}

# Returns the recipe for inputs alone, in which values may be missing.
without_response <- function(recipe, argument = "newdata") {
  if (!is.null(recipe$terms)) recipe$terms <- stats::delete.response(recipe$terms)
  recipe$arguments <- list(na.action = NULL)
  if (length(recipe$xlevels)) recipe$any_level <- any_levels(recipe$xlevels, recipe$contrasts)
  recipe$response <- FALSE
  recipe$coded <- TRUE
  recipe$argument <- argument
  recipe
}

# Returns the recipe with what rows show of the inputs: their names, `input_terms`, the term that
# each came from, and levels and contrasts of factors. x: a model frame, or a matrix; contrasts: of
# some factors, as they are asked for. Columns depend on levels alone, so that one row shows them.
with_coding <- function(recipe, x, contrasts = NULL) {
  recipe$coded <- TRUE
  if (is.null(recipe$terms)) {
    recipe$names <- recipe$input_terms <- colnames(x)
    return(recipe)
  }
  recipe$xlevels <- stats::.getXlevels(recipe$terms, x)
  inputs <- variable_names(stats::delete.response(recipe$terms))
  first <- x[seq_len(min(1L, nrow(x))), intersect(inputs, names(x)), drop = FALSE]
  if (length(recipe$xlevels)) {
    first <- with_levels(first, recipe$xlevels)
    contrasts <- c(contrasts, contrasts_of_many(first, contrasts))
  }
  made <- model_inputs(recipe$terms, first, contrasts, recipe$xlevels)
  coding <- attr(made$x, "contrasts")
  recipe["contrasts"] <- list(if (length(coding)) coding)
  recipe$names <- colnames(made$x)
  recipe$input_terms <- made$terms
  recipe
}

# Returns the setup with the likelihood that is meant, once the response is there. A kernel that is
# not given stays open.
complete_setup <- function(setup, y, weights) {
  lik <- resolve_likelihood(setup$likelihood, y, weights)
  setup["likelihood"] <- list(lik)
  if (is.null(lik_codec(lik)$coregion) || is.null(setup$kernel)) return(setup)
  # by a kernel of one component all responses would be the same function
  refuse_if(length(component_parts(setup$kernel)) == 0L, "kernel",
            paste0("is ", format(setup$kernel), ", which is a kernel of one component"),
            "Use kernel_coregion() of it, or kernel_helmholtz() for a field")
  setup
}

# Returns that setup, of the rows of a model frame, whose factors a kernel may see by level.
setup_for_frame <- function(setup, frame) {
  open <- is.null(setup$kernel)
  setup <- complete_setup(setup, frame_response(frame), stats::model.weights(frame))
  terms <- attr(frame, "terms")
  see_factors(setup, terms, used_inputs(terms, frame), open)
}

# poly(), scale() and their like depend on all rows, which a stream never has.
refuse_data_dependent <- function(terms) {
  if (is.null(terms)) return(invisible())
  variables <- as.list(attr(terms, "variables"))
  changed <- !mapply(identical, variables, as.list(attr(terms, "predvars")))
  if (!any(changed)) return(invisible())
  stop_sparsegp("formula", paste0("has terms that depend on all rows: ",
                                  toString(vapply(variables[changed], deparse1, ""))),
                "A stream does not have all rows; compute such columns beforehand")
}
