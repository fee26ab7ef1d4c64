# A fit that answers over HTTP: plumber::plumb_api("sparsegp", "predict"). The fit is the file that
# the environment variable SPARSEGP_FIT names, or "fit.rds" in the working directory. A body may be
# of as many bytes as SPARSEGP_BODY says, by default 10 million.

library(sparsegp)

fit <- readRDS(Sys.getenv("SPARSEGP_FIT", "fit.rds"))

most <- as.numeric(Sys.getenv("SPARSEGP_BODY", "1e7"))

# Leaves bodies to /predict, whose answer says what is wrong with one.
plumber::register_parser("unread", function(...) function(...) list(), regex = ".*",
                         verbose = FALSE)

# Returns an answer with the status of a request that was wrong.
refuse <- function(res, problem, status = 400L) {
  res$status <- status
  list(error = conditionMessage(problem))
}

# Returns the rows of a body: an array of objects, or one object. A missing value is null. The text
# is parsed as JSON alone, as jsonlite::fromJSON() would read a file or an address.
read_body <- function(body) {
  rows <- tryCatch(jsonlite::parse_json(rawToChar(as.raw(body)), simplifyVector = TRUE),
                   error = function(e) {
    stop("the body is no JSON: ", conditionMessage(e), call. = FALSE)
  })
  if (is.list(rows) && !is.data.frame(rows)) {
    rows <- lapply(rows, function(value) if (is.null(value)) NA else value)
    flat <- all(vapply(rows, is.atomic, NA)) && length(unique(lengths(rows))) == 1L
    if (flat) rows <- as.data.frame(rows, optional = TRUE)
  }
  nested <- is.data.frame(rows) && !all(vapply(rows, is.atomic, NA))
  if (!is.data.frame(rows) || nested || nrow(rows) == 0L) {
    stop("the body is no rows: send [{\"x\": 1}, ...]", call. = FALSE)
  }
  rows
}

# The variables of a row, and whether they are columns of a matrix.
of_matrix <- is.null(fit$terms)
variables <- if (of_matrix) fit$scaling$names else all.vars(delete.response(terms(fit)))

# Stops where a row lacks a value: null, or the text "NA", which is not a number either.
refuse_missing <- function(rows) {
  used <- rows[intersect(variables, names(rows))]
  lacks <- vapply(used, function(value) any(is.na(value) | value %in% "NA"), NA)
  if (any(lacks)) stop("missing values (null or \"NA\") in ", toString(names(used)[lacks]),
                       call. = FALSE)
}

# Returns probabilities of classes, or else predictions with intervals.
answer <- function(rows, level) {
  if (of_matrix) {
    absent <- setdiff(variables, names(rows))
    if (length(absent)) stop("the rows lack ", toString(absent), call. = FALSE)
    rows <- as.matrix(rows[variables])
  }
  as.data.frame(if (is.null(fit$response$levels)) {
    predict(fit, rows, interval = "prediction", level = level)
  } else predict(fit, rows, type = "prob"))
}

# Returns the level of the query, and of nothing else: an input may have that name.
read_level <- function(query) {
  level <- suppressWarnings(as.numeric(if (is.null(query$level)) "0.95" else query$level))
  if (length(level) == 1L && !is.na(level)) return(level)
  stop("`level` of the query is no number", call. = FALSE)
}

#* @apiTitle Predictions with intervals
#* @apiDescription A Gaussian process fitted by the R package sparsegp.

#* What is served
#* @get /model
#* @serializer unboxedJSON
function() {
  list(formula = if (!of_matrix) deparse1(formula(fit)), inputs = variables,
       observations = nobs(fit),
       version = as.character(packageVersion("sparsegp")))
}

#* Predictions of rows, which are the body: [{"x": 1, "group": "a"}, ...]. The query may have
#* `level`, of the intervals for new responses, between 0 and 1. Of classes: probabilities.
#* @post /predict
#* @parser unread
#* @serializer json list(digits = NA, dataframe = "rows")
function(...) {
  given <- list(...)
  req <- given$req
  res <- given$res
  if (length(req$bodyRaw) > most) {
    return(refuse(res, simpleError(paste("the body has more than", most, "bytes")), 413L))
  }
  tryCatch({
    rows <- read_body(req$bodyRaw)
    refuse_missing(rows)
    answer(rows, read_level(req$argsQuery))
  }, error = function(e) refuse(res, e))
}
