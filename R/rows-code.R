# The matrix of inputs that the terms of a formula make of a model frame.

MOST_SCORES <- 95L # levels of an ordered factor that R has polynomial contrasts for

# Returns contrasts for the ordered factors of more levels: those of a factor without an order.
contrasts_of_many <- function(variables, contrasts) {
  many <- Filter(function(column) is.ordered(column) && nlevels(column) > MOST_SCORES, variables)
  names <- setdiff(names(many), names(contrasts))
  stats::setNames(rep(list("contr.treatment"), length(names)), names)
}

# Returns the model matrix without the intercept column, coded as if there were one, and for each
# column the variable or term it came from. contrasts: of some factors, BY_LEVEL and BY_SCORE among
# them; xlev: levels of all.
model_inputs <- function(terms, frame, contrasts = NULL, xlev = NULL) {
  terms <- stats::delete.response(terms)
  coded <- if (length(xlev)) coded_by_number(contrasts)
  single <- if (length(xlev)) setdiff(single_levels(xlev), coded)
  if (length(coded)) frame <- number_levels(frame, coded, xlev)
  # 1, whatever level new rows have: as for a constant number, only a missing value stays missing
  for (name in single) frame[[name]] <- replace(rep(1, nrow(frame)), is.na(frame[[name]]), NA)
  attr(frame, "terms") <- terms # else model.matrix() would make the variables anew
  plain <- plain_columns(terms, frame)
  if (!is.null(plain)) {
    attr(plain, "contrasts") <- contrasts[coded]
    return(list(x = plain, terms = colnames(plain)))
  }
  others <- contrasts[setdiff(names(contrasts), c(coded, single))]
  x <- tryCatch(
    stats::model.matrix(terms, frame, contrasts.arg = if (length(others)) others),
    error = function(e) {
      stop_sparsegp("formula", paste0("and data do not make a model matrix: ", conditionMessage(e)),
                    "Make numbers or factors of the variables in `formula`")
    }
  )
  assign <- attr(x, "assign")
  if (length(single)) x[] <- without_contrasts(x, assign, terms, single)
  coding <- c(attr(x, "contrasts"), contrasts[coded])
  x <- x[, assign > 0L, drop = FALSE]
  refuse_if(ncol(x) == 0L, "formula", "has no inputs", "Write it as response ~ inputs")
  dimnames(x) <- list(NULL, make.unique(colnames(x))) # level 2 of V1 beside a variable V12
  attr(x, "contrasts") <- coding
  list(x = x, terms = attr(terms, "term.labels")[assign[assign > 0L]])
}

# Returns it if every term is a variable of plain numbers, else NULL. model.matrix() gives all rows
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
