# Model frames, and the matrix of inputs that the terms of a formula make of one.

# A na.action for model frames that does what na.action says, but as if the response were known.
but_for_labels <- function(na.action) {
  force(na.action)
  function(frame) {
    response <- attr(attr(frame, "terms"), "response")
    labels <- frame[[response]]
    frame[[response]] <- told_rows(labels)
    frame <- apply_na_action(frame, na.action)
    frame[[response]] <- some_rows(labels, frame[[response]])
    frame
  }
}

# The formula with an offset that was given apart, so that new rows bring theirs.
with_offset <- function(formula, offset) {
  if (is.null(offset)) return(formula)
  if (is.character(offset)) {
    stop_sparsegp("offset", paste0("is the text \"", offset[1L], "\""),
                  "Give numbers, or the name of a column without quotes")
  }
  right <- length(formula)
  formula[[right]] <- call("+", formula[[right]], call("offset", offset))
  formula
}

# Numbers of rows, but NA where a row has several components and none of them is there.
told_rows <- function(y) {
  rows <- seq_len(NROW(y))
  if (!is.matrix(y)) return(rows)
  missing <- is.na(y) # an entry for each row where these are no components
  replace(rows, if (is.matrix(missing)) rowSums(!missing) == 0 else missing, NA)
}

# A frame without missing values is left alone: na.omit() would copy it.
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

# Refuses data of which no row is complete, and names the columns that miss most values. columns:
# the variables with the rows that were left out, where they are at hand; response: the name of the
# one that is no input.
stop_incomplete <- function(argument, columns = list(), response = NULL) {
  rows <- max(0L, vapply(columns, NROW, 0L))
  if (rows > 0L && !is.null(response) && all(is.na(columns[[response]]))) {
    stop_sparsegp(argument, paste0("has no complete rows: the response `", response,
                                   "` is missing in all ", rows), "Give rows with a response")
  }
  missing <- vapply(columns, function(column) NROW(column) - sum(stats::complete.cases(column)), 0)
  missing <- utils::head(sort(missing[missing > 0], decreasing = TRUE), 3L)
  counts <- paste0("`", names(missing), "` (", missing, " of ", rows, " rows)", recycle0 = TRUE)
  remedy <- if (length(counts)) paste("Leave out inputs that are often missing:", toString(counts))
            else "Give rows that `subset` leaves in and in which no variable is missing"
  stop_sparsegp(argument, "has no complete rows", remedy)
}

MOST_SCORES <- 95L # levels of an ordered factor that R has polynomial contrasts for

# Returns contrasts for the ordered factors of more levels: those of a factor without an order.
contrasts_of_many <- function(variables, contrasts) {
  many <- vapply(variables, function(column) {
    is.ordered(column) && nlevels(column) > MOST_SCORES
  }, NA)
  names <- setdiff(names(variables)[many], names(contrasts))
  stats::setNames(rep(list("contr.treatment"), length(names)), names)
}

# Model matrix without the intercept column, coded as if there were one, and for each column the
# variable or term it came from. contrasts: of some factors, BY_LEVEL among them.
model_inputs <- function(terms, frame, contrasts = NULL, xlev = NULL) {
  terms <- stats::delete.response(terms)
  coded <- coded_by_level(contrasts)
  single <- setdiff(single_levels(terms, frame, xlev), coded)
  frame <- ones_for(number_levels(frame, coded, xlev), single)
  plain <- plain_columns(terms, frame)
  if (!is.null(plain)) {
    attr(plain, "contrasts") <- contrasts[coded]
    return(list(x = plain, terms = colnames(plain)))
  }
  others <- contrasts[setdiff(names(contrasts), c(coded, single))]
  others <- c(others, contrasts_of_many(used_inputs(terms, frame), contrasts))
  x <- tryCatch(
    stats::model.matrix(terms, frame, contrasts.arg = if (length(others)) others,
                        xlev = xlev[setdiff(names(xlev), c(coded, single))]),
    error = function(e) {
      stop_sparsegp("formula", paste0("and data do not make a model matrix: ", conditionMessage(e)),
                    "Make numbers or factors of the variables in `formula`")
    }
  )
  assign <- attr(x, "assign")
  if (length(single)) x[] <- without_contrasts(x, assign, terms, single)
  coding <- c(attr(x, "contrasts"), contrasts[coded])
  x <- x[, assign > 0L, drop = FALSE]
  if (ncol(x) == 0L) {
    stop_sparsegp("formula", "has no inputs", "Write it as response ~ inputs")
  }
  rownames(x) <- NULL
  attr(x, "contrasts") <- coding
  list(x = x, terms = attr(terms, "term.labels")[assign[assign > 0L]])
}

# The same where every term is a variable of plain numbers, else NULL. model.matrix() gives all rows
# names, which takes longer than all it does besides.
plain_columns <- function(terms, frame) {
  labels <- attr(terms, "term.labels")
  columns <- as.list(frame)[labels]
  plain <- vapply(columns, function(column) {
    is.numeric(column) && !is.object(column) && is.null(dim(column))
  }, NA)
  if (length(labels) == 0L || any(attr(terms, "order") > 1L) || !all(plain)) return(NULL)
  x <- as.double(unlist(columns, use.names = FALSE))
  dim(x) <- c(nrow(frame), length(labels))
  colnames(x) <- labels
  x
}

# What model.response() gives, but without names of all rows.
frame_response <- function(frame) {
  attr(frame, "row.names") <- integer()
  plain_column(stats::model.response(frame, "any"), "y")
}

# Which columns of a frame are dates or times, and how to make them again from numbers: a named
# list.
clocks_of <- function(frame) {
  clocks <- Filter(function(column) inherits(column, c("Date", "POSIXct")), as.list(frame))
  lapply(clocks, function(column) column[0L])
}

# The variables of terms by the names that a model frame gives them: without backticks.
variable_names <- function(terms) {
  vapply(as.list(attr(terms, "variables"))[-1L], function(variable) {
    deparse1(variable, backtick = !is.symbol(variable))
  }, "")
}

# The variables of a model frame that the terms use as inputs.
used_inputs <- function(terms, frame) {
  as.list(frame)[intersect(variable_names(stats::delete.response(terms)), names(frame))]
}

# ---- The frame of new rows ----

# model.frame() looks for what newdata lacks where the formula was written, and would predict for
# the rows it finds there. Constants of a term, such as knots, may come from there; whole variables
# may not.
refuse_workspace <- function(terms, newdata, argument = "newdata") {
  if (is.environment(newdata)) return(invisible())
  names <- lapply(as.list(attr(terms, "variables"))[-1L], all.vars)
  lacking <- vapply(names, function(name) length(name) > 0L && !any(name %in% names(newdata)), NA)
  if (!any(lacking)) return(invisible())
  stop_sparsegp(argument, paste0("lacks ", toString(unique(unlist(names[lacking])))),
                "It needs the variables of the formula")
}

# The frame of new rows, missing values and all, with the levels of the fit; see with_fit_levels().
new_frame <- function(terms, newdata, xlev, coded) {
  frame <- stats::model.frame(terms, newdata, na.action = stats::na.pass)
  with_fit_levels(with_missing_numbers(frame, terms), xlev, coded)
}

# Makes numbers of columns of nothing but NA, which are logical, where the fit had numbers.
with_missing_numbers <- function(frame, terms) {
  classes <- attr(terms, "dataClasses")
  for (name in intersect(names(classes)[classes %in% c("numeric", "other")], names(frame))) {
    column <- frame[[name]]
    if (is.logical(column) && is.null(dim(column)) && all(is.na(column))) {
      frame[[name]] <- as.double(column)
    }
  }
  frame
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

# Returns terms with the classes of those columns that a frame with rows knows and they do not.
learn_classes <- function(terms, frame) {
  known <- attr(terms, "dataClasses")
  found <- vapply(as.list(frame), stats::.MFclass, "")
  attr(terms, "dataClasses") <- c(known, found[setdiff(names(found), names(known))])
  terms
}

# A term of which only a part came from newdata may have other rows.
check_rows <- function(frame, newdata) {
  if (is.data.frame(newdata) && nrow(frame) != nrow(newdata)) stop("a variable has other rows")
  frame
}

# Text may stand for a factor, an ordered factor for a plain one; else a variable stays of its kind.
check_classes <- function(terms, frame) {
  plain <- function(class) replace(class, class %in% c("character", "ordered"), "factor")
  before <- attr(terms, "dataClasses")
  # NA, which is logical, may stand for anything, and na.action may have left it out
  known <- vapply(frame, function(column) {
    if (length(column)) !anyNA(column) || !all(is.na(column)) else !is.logical(column)
  }, NA)
  shared <- intersect(names(before), names(frame)[known])
  now <- plain(vapply(frame[shared], stats::.MFclass, ""))
  before <- plain(before[shared])
  changed <- shared[now != before]
  if (length(changed) == 0L) return(invisible())
  changed <- changed[1L]
  was <- c(attr(terms, "measures")[changed], before[changed])
  stop_sparsegp("newdata", paste0("has ", changed, " of class ", class(frame[[changed]])[1L],
                                  ", which was of class ", was[!is.na(was)][1L]),
                "Convert it as it was in the first rows")
}
