# Fits that released versions wrote, with their predictions, log evidences and updates, are read by
# this version: fits-<version>.rds, written by tools/saved.R. Predictions are sums over stored
# numbers, the same except for rounding.

r_code_alone()

saved_fits <- function(version = "1.0.0") {
  readRDS(test_path(paste0("fits-", version, ".rds")))
}

saved_versions <- function() {
  gsub("^fits-|[.]rds$", "", list.files(test_path(), "^fits-.*[.]rds$"))
}

tested <- of_tier(saved_versions(), 2L, memory = Inf)
for (version in tested) test_that(paste("fits do what they did:", version), {
  saved <- saved_fits(version)
  for (name in names(saved$fits)) {
    fit <- saved$fits[[name]]
    expect_null(invalid_field(ready(fit)), label = name)
    found <- unlist(predict(fit, saved$new, type = "latent", se.fit = TRUE), use.names = FALSE)
    expect_equal(found, saved$latent[[name]], tolerance = 1e-10, label = name)
    evidence <- tryCatch(as.numeric(logLik(fit)), sparsegp_error = function(e) NA_real_)
    expect_equal(evidence, saved$logLik[[name]], tolerance = 1e-10, label = name)
    if (is.null(saved$updated[[name]])) next
    more <- update(fit, saved$rows)
    moments <- unlist(predict(more, saved$new, type = "latent", se.fit = TRUE), use.names = FALSE)
    # EP stops where sites change by less than 1e-6
    expect_equal(moments, utils::head(saved$updated[[name]], length(moments)), tolerance = 1e-5,
                 label = name)
  }
})

test_that("the form of a fit has golden fits of its own: tools/saved.R", {
  newest <- as.character(max(numeric_version(saved_versions())))
  saved <- readRDS(test_path(paste0("fits-", newest, ".rds")))$fits
  for (name in names(saved)) {
    expect_identical(saved[[name]]$format, FIT_FORMAT, label = name)
  }
})

# What R writes for all machines alike: numbers, words, calls and R's own functions; no pointers
# into a process, no bytes in the order of one machine.
test_that("fits are plain R values, and the same after either byte order and text", {
  slow_tier()
  portable <- c("NULL", "list", "double", "integer", "logical", "character", "language", "symbol",
                "closure", "environment", "builtin", "special")
  strangers <- function(x) {
    own <- setdiff(typeof(x), portable)
    parts <- c(if (is.list(x)) lapply(unclass(x), identity), attributes(x))
    c(own, unlist(lapply(parts, strangers)))
  }
  saved <- saved_fits()
  trips <- list(big = function(fit) serialize(fit, NULL, xdr = TRUE),
                little = function(fit) serialize(fit, NULL, xdr = FALSE),
                text = function(fit) serialize(fit, NULL, ascii = NA))
  for (name in names(saved$fits)) {
    fit <- saved$fits[[name]]
    expect_length(strangers(fit), 0L)
    for (trip in trips) {
      expect_identical(predict(unserialize(trip(fit)), saved$new), predict(fit, saved$new),
                       label = name)
    }
  }
})

test_that("rows are counted beyond the integers", {
  expect_identical(row_count(c(2, 3), 4L), 9L)
  many <- saved_fits()$fits$basis
  many$n <- row_count(2e9, 2e9)
  for (part in c("y", "latent", "sites", "cavity", "offset", "data_rows", "x", "frame")) {
    many[part] <- list(NULL)
  }
  expect_identical(many$n, 4e9)
  expect_output(print(many), "4e+09 rows", fixed = TRUE)
  expect_identical(nobs(merge(many, many)), 8e9)
})
