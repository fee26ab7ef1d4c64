# A fit that answers over HTTP: plumber::plumb_api("sparsegp", "predict"). The fit is the file that
# the environment variable SPARSEGP_FIT names, or "fit.rds" in the working directory.

library(sparsegp)

fit <- readRDS(Sys.getenv("SPARSEGP_FIT", "fit.rds"))

# An answer with the status of a request that was wrong
refuse <- function(res, problem) {
  res$status <- 400L
  list(error = conditionMessage(problem))
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

#* Predictions of rows, which are the body: [{"x": 1, "group": "a"}, ...]
#* @param level Of the intervals for new responses, between 0 and 1
#* @post /predict
#* @parser json
#* @serializer json list(digits = NA, dataframe = "rows")
function(req, res, level = 0.95) {
  tryCatch({
    rows <- as.data.frame(req$body)
    as.data.frame(predict(fit, rows, interval = "prediction", level = as.numeric(level)))
  }, error = function(e) refuse(res, e))
}
