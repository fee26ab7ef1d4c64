# Model frames of rows: the only place that evaluates stats::model.frame().

# Returns the model frame of rows by a recipe, checked. data: a data frame, or for inputs alone also
# a list or environment of variables; NULL: they are where the formula was written. The first frame
# of a recipe notes in its terms what later ones must be like.
read_frame <- function(recipe, data = NULL) {
  first <- !inherits(recipe$terms, "terms")
  if (inherits(data, POINTS)) data <- with_coordinates(data, recipe$terms, recipe$argument)
  data <- plain_data(data, recipe$argument, if (!first) recipe$terms)
  frames <- is.data.frame(data) || !recipe$response && (is.list(data) || is.environment(data))
  refuse_if(!first && !frames, recipe$argument, "must be a data frame",
            "The model was fitted by a formula")
  if (first) refuse_same_names(recipe, data) else refuse_workspace(recipe, data)
  timed <- !is.null(recipe$arguments$clock)
  if (timed) data <- with_clock(recipe, data)
  frame <- tryCatch(model_frame(recipe, data), error = function(e) refuse_frame(e, recipe, data))
  weights <- plain_weights(stats::model.weights(frame), recipe$likelihood)
  if (!is.null(weights)) {
    check_frame_weights(weights, nrow(frame))
    frame[["(weights)"]] <- weights
  }
  if (first) {
    noted <- noted_variables(attr(frame, "terms"), data)
    if (length(c(noted, dressed(frame)))) frame <- note_variables(frame, noted)
    return(if (timed) note_clock(frame, recipe, data) else frame)
  }
  if (!recipe$response && is.data.frame(data) && nrow(frame) != nrow(data)) {
    refuse_frame(simpleError("a variable has other rows"), recipe) # only a part came from `data`
  }
  if (length(dressed(frame))) refuse_integer64(frame)
  in_classes(frame, recipe$terms, recipe$argument)
}

# Of columns with one name a formula reads the first, as in R, but the dot stands for all of them.
refuse_same_names <- function(recipe, data) {
  twice <- if ("." %in% all.vars(recipe$terms)) unique(names(data)[duplicated(names(data))])
  refuse_if(length(twice) > 0L, recipe$argument,
            paste("has several columns of the same name:", toString(twice)), "Rename them")
}

model_frame <- function(recipe, data) {
  arguments <- recipe$arguments
  arguments$na.action <- na_action_of(recipe)
  arguments$data <- data
  frame <- eval(as.call(c(list(quote(stats::model.frame), formula = recipe$terms), arguments)),
                recipe$env)
  terms <- attr(frame, "terms")
  response <- attr(terms, "response")
  at <- dressed(frame)
  timed <- response && !is.null(recipe$likelihood)
  if (timed && is_of_times(recipe$likelihood, frame[[response]])) at <- union(response, at)
  for (i in at[at <= length(attr(terms, "variables")) - 1L]) {
    frame <- with_plain_variable(frame, i, recipe)
  }
  frame
}

# Returns the frame with one of its variables as models read it: survival's times, and any response
# of a likelihood of times, as this package's times, which need no other package; a matrix of one
# column, as scale() makes it, as a vector; a factor without levels that have no rows.
with_plain_variable <- function(frame, i, recipe) {
  terms <- attr(frame, "terms")
  written <- attr(terms, "variables")[[i + 1L]]
  response <- i == attr(terms, "response")
  column <- frame[[i]]
  if (is.factor(column) && !response && recipe$drop) return(without_unused_levels(frame, i))
  plain <- if (inherits(column, "Surv") || response && is_of_times(recipe$likelihood, column)) {
    as_times(column)
  } else if (is.symbol(written) && is.matrix(column) && ncol(column) == 1L) column[, 1L]
  lost <- response && is.matrix(column) && !is.object(column)
  if (lost) refuse_lost_times(column, written, recipe$env)
  if (is.null(plain)) return(frame)
  frame[[i]] <- plain
  attr(terms, "dataClasses")[[names(frame)[i]]] <- stats::.MFclass(plain)
  attr(frame, "terms") <- terms
  frame
}

# Returns the frame without those levels of an input that have no rows; predicted classes have those
# of the response (response-labels.R).
without_unused_levels <- function(frame, i) {
  column <- frame[[i]]
  if (all(levels(column) %in% column)) return(frame)
  frame[[i]] <- column[, drop = TRUE]
  if (!identical(attr(frame[[i]], "contrasts"), attr(column, "contrasts"))) {
    warn_sparsegp("The contrasts of ", names(frame)[i], " are left out, as some of its levels ",
                  "have no rows.")
  }
  frame
}

# Refuses times whose kind of censoring is unknown: without package survival, a variable beside the
# data loses its class when na.action or `subset` leaves out rows.
refuse_lost_times <- function(column, variable, env) {
  if (!is.symbol(variable)) return(invisible())
  before <- tryCatch(eval(variable, env), error = function(e) NULL)
  if (!inherits(before, "Surv") || identical(attr(before, "type"), "right")) return(invisible())
  stop_sparsegp("y", paste0("was a Surv object of type \"", attr(before, "type"),
                            "\", and the new rows have lost this"),
                "Make it a column of `data`, or load package survival")
}

# Is this a column of numbers, and the likelihood one of times to an event? Without package survival
# rows of its objects have lost their class.
is_of_times <- function(likelihood, column) {
  is.numeric(column) && inherits(likelihood, "sparsegp_likelihood") &&
    inherits(lik_codec(likelihood), "response_times")
}

refuse_frame <- function(e, recipe, data) {
  if (inherits(e, "sparsegp_error")) stop(e)
  variances <- recipe$likelihood$variances
  if (!is.null(variances) && grepl("(weights)", conditionMessage(e), fixed = TRUE)) {
    recipe$arguments <- list(na.action = NULL)
    refuse_wrong_count(variances, nrow(model_frame(recipe, data)))
  }
  constants <- recipe$likelihood$custom$constants
  if (!is.null(constants) && grepl("(weights)", conditionMessage(e), fixed = TRUE)) {
    recipe$arguments <- list(na.action = NULL)
    refuse_wrong_constants(constants, nrow(model_frame(recipe, data)))
  }
  said <- sub("(clock)", clock_name(recipe)[1L], conditionMessage(e), fixed = TRUE)
  remedy <- if (grepl("could not find function", said)) {
    "Attach the package of that function, such as library(survival) for Surv()"
  }
  stop_sparsegp(recipe$argument, paste0("and the formula do not make a model frame: ", said),
                remedy %||% paste("The variables of `formula`, `subset` and `weights` must exist,",
                                  "with one value per row"))
}

# Returns the function that leaves rows out: na.action, but for responses and components that the
# likelihood allows to be missing; which likelihood that is shows when the response is there. NULL
# in the call lets all rows through.
na_action_of <- function(recipe) {
  given <- recipe$arguments$na.action
  if (is.null(given) && "na.action" %in% names(recipe$arguments)) return(stats::na.pass)
  given <- eval(given, recipe$env)
  function(frame) {
    lik <- resolve_likelihood(recipe$likelihood, frame_response(frame))
    if (!lik_codec(lik)$missing) {
      left <- apply_na_action(frame, given)
      weights <- stats::model.weights(frame)
      return(if (is.null(weights)) left else without_weightless(left, weights, nrow(frame)))
    }
    response <- attr(attr(frame, "terms"), "response")
    labels <- frame[[response]]
    frame[[response]] <- labelled_rows(labels)
    frame <- apply_na_action(frame, given)
    frame[[response]] <- some_rows(labels, frame[[response]])
    frame
  }
}

# Returns the formula with an offset that was given beside it, which new rows then bring along.
with_offset <- function(formula, offset) {
  if (is.null(offset)) return(formula)
  right <- length(formula)
  formula[[right]] <- call("+", formula[[right]], call("offset", offset))
  formula
}

# Returns numbers of rows, but NA for those of several components none of which is there.
labelled_rows <- function(y) {
  rows <- seq_len(NROW(y))
  if (!is.matrix(y)) return(rows)
  missing <- is.na(y) # an entry for each row where these are no components
  replace(rows, if (is.matrix(missing)) rowSums(!missing) == 0 else missing, NA)
}

# Applies na.action to a frame with missing values; na.omit() would copy others, too.
apply_na_action <- function(frame, na.action) {
  if (is.null(na.action)) na.action <- getOption("na.action")
  if (is.null(na.action)) return(frame)
  # from the namespace of stats, as model.frame() does: stats need not be on the search path
  if (is.character(na.action)) na.action <- get0(na.action, asNamespace("stats"), mode = "function")
  if (!is.function(na.action)) stop_sparsegp("na.action", "is not a function", "Use na.omit")
  if (!anyNA(frame, recursive = TRUE)) return(frame)
  tryCatch(na.action(frame), error = function(e) {
    stop_sparsegp("na.action", paste0("refused the data: ", conditionMessage(e)),
                  "Remove the rows with missing values, or use na.action = na.omit")
  })
}

# Returns what na.action has left of n rows, without those of weight 0, which do not count; they are
# recorded as na.action records others. weights: of all n rows; NULL, or a list or matrix of
# constants: there is none
without_weightless <- function(frame, weights, n) {
  if (!is.numeric(weights) || is.matrix(weights) || length(weights) != n) return(frame)
  omitted <- attr(frame, "na.action")
  at <- if (is.null(omitted)) seq_len(n) else seq_len(n)[-omitted]
  nought <- weights[at] == 0 & !is.na(weights[at])
  if (length(at) != nrow(frame) || !any(nought)) return(frame)
  left <- frame[!nought, , drop = FALSE]
  attr(left, "na.action") <- structure(sort(c(omitted, at[nought])),
                                       class = class(omitted %||% structure(1L, class = "omit")))
  left
}

# Refuses data without a complete row, and names the columns that miss most values. columns: the
# variables with the rows that were left out, if they are known; response: the name of that one.
stop_incomplete <- function(argument, columns = list(), response = NULL) {
  rows <- max(0L, vapply(columns, NROW, 0L))
  refuse_if(rows > 0L && !is.null(response) && all(is.na(columns[[response]])), argument,
            paste0("has no complete rows: the response `", response, "` is missing in all ", rows),
            "Give rows with a response")
  if (rows > 0L && all(is.na(columns[["(weights)"]]))) refuse_missing_weights(columns)
  missing <- vapply(columns, function(column) NROW(column) - sum(stats::complete.cases(column)), 0)
  missing <- utils::head(sort(missing[missing > 0], decreasing = TRUE), 3L)
  counts <- paste0("`", names(missing), "` (", missing, " of ", rows, " rows)", recycle0 = TRUE)
  remedy <- if (length(counts)) paste("Leave out inputs that are often missing:", toString(counts))
            else "Give rows that `subset` leaves in and in which no variable is missing"
  stop_sparsegp(argument, "has no complete rows", remedy)
}

# Refuses weights that are all missing, unless they stand for something else: for known variances,
# and for the constants of a likelihood.
refuse_missing_weights <- function(columns) {
  weights <- columns[["(weights)"]]
  if (is.null(weights) || !is.null(dim(weights))) return(invisible())
  stop_sparsegp("weights", paste("are missing in all", length(weights), "rows"),
                "Give a positive number for each row")
}

# Refuses a `subset` of rows that are not there: model.frame() has rows of NA for these.
refuse_rows_beyond <- function(recipe, whole) {
  if (is.null(recipe$arguments$subset) || nrow(whole) == 0L) return(invisible())
  if (!all(grepl("^NA([.][0-9]+)?$", row.names(whole)))) return(invisible())
  stop_sparsegp("subset", "selects only rows that do not exist, or are NA",
                "Give numbers of rows of `data`, or TRUE and FALSE for each")
}

# Refuses such data after reading them again, with missing values, for the columns to name.
refuse_empty <- function(recipe, data) {
  recipe$arguments["na.action"] <- list(NULL)
  whole <- read_frame(recipe, data)
  refuse_rows_beyond(recipe, whole)
  stop_incomplete("data", as.list(whole), names(whole)[attr(attr(whole, "terms"), "response")])
}

# Returns the response as model.response() does, but without names of all rows.
frame_response <- function(frame) {
  attr(frame, "row.names") <- integer()
  plain_column(stats::model.response(frame, "any"), "y")
}

# Returns the columns of a frame that are dates or times, without rows, by name: their class and
# zone make them again from numbers.
clocks_of <- function(frame) {
  clocks <- Filter(function(column) inherits(column, c("Date", "POSIXct")), as.list(frame))
  lapply(clocks, function(column) column[0L])
}

# Returns the variables of terms by the names that a model frame gives them: without backticks.
variable_names <- function(terms) {
  vapply(as.list(attr(terms, "variables"))[-1L], function(variable) {
    deparse1(variable, backtick = !is.symbol(variable))
  }, "")
}

# Returns the variables of a model frame that the terms use as inputs.
used_inputs <- function(terms, frame) {
  as.list(frame)[intersect(variable_names(stats::delete.response(terms)), names(frame))]
}

# ---- Later frames ----

# Refuses data that lack variables: model.frame() looks for these where the formula was written, and
# would use the rows it finds there. Constants of a term, such as knots, may come from there.
refuse_workspace <- function(recipe, data) {
  if (is.environment(data)) return(invisible())
  absent <- function(names) length(names) > 0L && !any(names %in% names(data))
  variables <- lapply(as.list(attr(recipe$terms, "variables"))[-1L], all.vars)
  lacking <- unlist(Filter(absent, variables))
  refuse_if(length(lacking), recipe$argument, paste0("lacks ", toString(unique(lacking))),
            "It needs the variables of the formula")
  constants <- setdiff(recipe$likelihood$custom$data, names(data))
  refuse_if(is.call(recipe$arguments$weights) && length(constants),
            recipe$argument, paste("lacks", toString(constants)),
            "It needs the constants of lik_custom(data =), or update(weights = list(...))")
  refuse_if(absent(all.vars(recipe$arguments$weights)), "weights", "are not in the new rows",
            paste("Give them as a column that the first call names, or as",
                  "update(fit, newdata, weights =)"))
}

# Returns the terms of a frame. A logical column without rows may have been nothing but NA, which
# stands for anything: its class is not known yet.
terms_of_frame <- function(frame) {
  terms <- attr(frame, "terms")
  if (NROW(frame) > 0L) return(terms)
  classes <- attr(terms, "dataClasses")
  attr(terms, "dataClasses") <- classes[classes != "logical"]
  terms
}

# Returns terms with the classes of those columns that a frame with rows has and they lack.
learn_classes <- function(terms, frame) {
  known <- attr(terms, "dataClasses")
  found <- vapply(as.list(frame), stats::.MFclass, "")
  attr(terms, "dataClasses") <- c(known, found[setdiff(names(found), names(known))])
  terms
}

# Returns a later frame whose variables have the classes of the fit.
in_classes <- function(frame, terms, argument) {
  before <- attr(terms, "dataClasses")
  now <- vapply(as.list(frame)[intersect(names(before), names(frame))], stats::.MFclass, "")
  for (name in names(now)[now != before[names(now)]]) {
    frame[[name]] <- in_class(frame[[name]], before[[name]])
    check_class_again(frame[[name]], name, terms, argument)
  }
  frame
}

# Returns a variable in the class of the fit where it holds the same values in another: numbers and
# others for nothing but NA, which is logical, 0 and 1 for logical values, logical values for 0 and
# 1 or for text, text for logical values.
in_class <- function(column, before) {
  texts <- if (kind_of_variable(column) == "factor") as.character(column)
  switch(
    paste(kind_of_class(before), kind_of_variable(column)), "numeric logical" = as.double(column),
    "other logical" = if (is.null(dim(column)) && all(is.na(column))) as.double(column) else column,
    "logical numeric" = if (all(column %in% c(0, 1, NA))) as.logical(column) else column,
    "logical factor" = if (all(texts %in% c("TRUE", "FALSE", NA))) as.logical(texts) else column,
    "factor logical" = as.character(column), column
  )
}

# Returns a class by the one that it stands for: text for a factor, an ordered factor for a plain
# one, a matrix of one column for a vector.
kind_of_class <- function(class) {
  switch(class, character = , ordered = "factor", nmatrix.1 = "numeric", class)
}

kind_of_variable <- function(column) kind_of_class(stats::.MFclass(column))

# Refuses a variable of another class than before. Plain numbers stand for differences of time, in
# the unit of the fit; NA, which is logical, for anything, and na.action may have left it out.
check_class_again <- function(column, name, terms, argument) {
  unknown <- if (length(column)) anyNA(column) && all(is.na(column)) else is.logical(column)
  before <- kind_of_class(attr(terms, "dataClasses")[[name]])
  now <- kind_of_variable(column)
  measure <- as.list(attr(terms, "measures"))[[name]]
  counted <- now == "numeric" && startsWith(c(measure, "")[1L], IN_DIFFTIME)
  if (unknown || now == before || counted) return(invisible())
  was <- c(measure, before)[[1L]]
  stop_sparsegp(argument, paste0("has ", name, " of class ", class(column)[1L],
                                 ", which was of class ", was), conversion_to(was))
}
