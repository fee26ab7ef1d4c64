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

# Returns the rows of a body: an array of objects, or one object. A missing value is null.
read_body <- function(body) {
  text <- rawToChar(body)
  rows <- tryCatch(jsonlite::fromJSON(text), error = function(e) {
    stop("the body is no JSON: ", conditionMessage(e), call. = FALSE)
  })
  if (is.list(rows) && !is.data.frame(rows)) {
    rows <- as.data.frame(lapply(rows, function(value) if (is.null(value)) NA else value))
  }
  if (!is.data.frame(rows) || nrow(rows) == 0L) {
    stop("the body is no rows: send [{\"x\": 1}, ...]", call. = FALSE)
  }
  rows
}

# Stops where a row lacks a value: null, or the text "NA", which is not a number either.
refuse_missing <- function(rows) {
  used <- rows[intersect(all.vars(delete.response(terms(fit))), names(rows))]
  lacks <- vapply(used, function(value) any(is.na(value) | value %in% "NA"), NA)
  if (any(lacks)) stop("missing values (null or \"NA\") in ", toString(names(used)[lacks]),
                       call. = FALSE)
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
  list(formula = deparse1(formula(fit)), observations = nobs(fit),
       version = as.character(packageVersion("sparsegp")))
}

#* Predictions of rows, which are the body: [{"x": 1, "group": "a"}, ...]. The query may have
#* `level`, of the intervals for new responses, between 0 and 1.
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
    as.data.frame(predict(fit, rows, interval = "prediction", level = read_level(req$argsQuery)))
  }, error = function(e) refuse(res, e))
}
