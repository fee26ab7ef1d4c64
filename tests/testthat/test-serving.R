# The API for plumber in inst/plumber.

served <- function(fit) {
  file <- tempfile(fileext = ".rds")
  saveRDS(fit, file)
  before <- Sys.getenv("SPARSEGP_FIT", NA)
  Sys.setenv(SPARSEGP_FIT = file)
  on.exit(if (is.na(before)) Sys.unsetenv("SPARSEGP_FIT")
          else Sys.setenv(SPARSEGP_FIT = before))
  api <- plumber::plumb(system.file("plumber", "predict", "plumber.R", package = "sparsegp"))
  function(rows, query = "") {
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
}

test_that("inputs may be called as what a request has", {
  slow_tier()
  skip_if_not_installed("plumber")
  d <- data.frame(level = 1:20 / 7, req = sin(1:20), res = cos(1:20), interval = 20:1 %% 7,
                  type = 1:20 %% 3)
  d$y <- d$level + d$req
  fit <- sparsegp(y ~ ., d, learn = FALSE)
  ask <- served(fit)
  found <- ask(jsonlite::toJSON(d[3, ], digits = NA), "?level=0.5")
  expect_identical(found$status, 200L)
  expect_equal(unlist(found$body),
               drop(predict(fit, d[3, ], interval = "prediction", level = 0.5)), tolerance = 1e-12)
  one <- ask(jsonlite::toJSON(as.list(d[3, ]), digits = NA, auto_unbox = TRUE))
  expect_equal(unlist(one$body), drop(predict(fit, d[3, ], interval = "prediction")),
               tolerance = 1e-12)
})

test_that("the API answers as predict() does, and refuses wrong rows in words", {
  slow_tier()
  skip_if_not_installed("plumber")
  fit <- sparsegp(Fertility ~ Agriculture + Education, swiss, learn = FALSE)
  ask <- served(fit)
  found <- ask('[{"Agriculture": 40, "Education": 10}]', "?level=0.5")
  expect_identical(found$status, 200L)
  new <- data.frame(Agriculture = 40, Education = 10)
  expect_equal(unlist(found$body),
               drop(predict(fit, new, interval = "prediction", level = 0.5)), tolerance = 1e-12)
  wrong <- ask('[{"Agriculture": 40}]')
  expect_identical(wrong$status, 400L)
  expect_match(wrong$body$error, "lacks Education")
  for (body in c('[{"Agriculture": 40, "Educ', "", "3", "[]",
                 '[{"Agriculture": 40, "Education": null}]',
                 '[{"Agriculture": 40, "Education": "NA"}]')) {
    expect_identical(ask(body)$status, 400L, label = body)
  }
  expect_match(ask('[{"Agriculture": null, "Education": 1}]')$body$error, "missing.*Agriculture")
  expect_match(ask('[{"Agriculture": 40, "Education": 10}]', "?level=high")$body$error, "level")
  long <- paste0('[{"Agriculture": 40, "Education": 10}', strrep(" ", 1.1e7), "]")
  expect_identical(ask(long)$status, 413L)
})

test_that("names that R would change, matrices and classes are served", {
  slow_tier()
  skip_if_not_installed("plumber")
  d <- data.frame(`my input` = 1:20 / 7, `if` = sin(1:20), check.names = FALSE)
  fit <- sparsegp(y ~ `my input` + `if`, cbind(d, y = cos(1:20)), learn = FALSE)
  expected <- drop(predict(fit, d[3, ], interval = "prediction"))
  one <- jsonlite::toJSON(as.list(d[3, ]), digits = NA, auto_unbox = TRUE)
  expect_equal(unlist(served(fit)(one)$body), expected, tolerance = 1e-12)
  x <- as.matrix(d)
  fit <- sparsegp(x, cos(1:20), learn = FALSE)
  expect_equal(unlist(served(fit)(one)$body),
               drop(predict(fit, x[3, , drop = FALSE], interval = "prediction")),
               tolerance = 1e-12)
  expect_match(served(fit)('{"if": 1}')$body$error, "lack my input")
  for (classes in 2:3) {
    d$class <- factor(letters[1:20 %% classes + 1])
    fit <- sparsegp(class ~ `my input`, d, learn = FALSE)
    expect_equal(unlist(served(fit)(one)$body), drop(predict(fit, d[3, ], type = "prob")),
                 tolerance = 1e-12)
  }
})

test_that("a body is neither a file nor an address, and has no nested values", {
  slow_tier()
  skip_if_not_installed("plumber")
  ask <- served(sparsegp(dist ~ speed, cars, learn = FALSE))
  file <- tempfile(fileext = ".json")
  writeLines('[{"speed": 10}]', file)
  for (body in c(file, paste0("file://", file), '[{"speed": {"a": 10}}]', '{"speed": {"a": 10}}',
                 '[{"speed": [10, 11]}]', '{"speed": []}', "[null]", "{}", "[[]]")) {
    found <- ask(body)
    expect_identical(found$status, 400L, label = body)
    expect_match(found$body$error, "the body is no")
  }
})
