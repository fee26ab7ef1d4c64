# The API for plumber in inst/plumber.

test_that("the API answers as predict() does, and refuses wrong rows in words", {
  slow_tier()
  skip_if_not_installed("plumber")
  fit <- sparsegp(Fertility ~ Agriculture + Education, swiss, learn = FALSE)
  file <- tempfile(fileext = ".rds")
  saveRDS(fit, file)
  before <- Sys.getenv("SPARSEGP_FIT", NA)
  Sys.setenv(SPARSEGP_FIT = file)
  on.exit(if (is.na(before)) Sys.unsetenv("SPARSEGP_FIT")
          else Sys.setenv(SPARSEGP_FIT = before))
  api <- plumber::plumb(system.file("plumber", "predict", "plumber.R", package = "sparsegp"))
  ask <- function(rows, query = "") {
    body <- charToRaw(rows)
    answer <- api$call(list2env(list(
      REQUEST_METHOD = "POST", PATH_INFO = "/predict", QUERY_STRING = query,
      HTTP_CONTENT_TYPE = "application/json", CONTENT_TYPE = "application/json",
      rook.input = list(read = function(...) body, rewind = function() NULL,
                        read_lines = function() rows),
      bodyRaw = body
    )))
    list(status = answer$status, body = jsonlite::fromJSON(as.character(answer$body)))
  }
  found <- ask('[{"Agriculture": 40, "Education": 10}]', "?level=0.5")
  expect_identical(found$status, 200L)
  new <- data.frame(Agriculture = 40, Education = 10)
  expect_equal(unlist(found$body),
               drop(predict(fit, new, interval = "prediction", level = 0.5)), tolerance = 1e-12)
  wrong <- ask('[{"Agriculture": 40}]')
  expect_identical(wrong$status, 400L)
  expect_match(wrong$body$error, "lacks Education")
})
