# Fits that released versions wrote, with their predictions, log evidences and updates, are read by
# this version: fits-<version>.rds, of which tools/saved.R writes the newest. Predictions are sums
# over stored numbers, the same but for rounding.

of_first_version <- function() readRDS(test_path("fits-0.1.0.rds"))

test_that("fits of version 0.1.0 predict what they did then", {
  saved <- of_first_version()
  for (name in names(saved$fits)) {
    fit <- saved$fits[[name]]
    expect_null(fit$format)
    expect_null(flaw_of(ready(fit)), label = name)
    found <- unlist(predict(fit, saved$new, type = "latent", se.fit = TRUE), use.names = FALSE)
    expect_equal(found, saved$latent[[name]], tolerance = 1e-10, label = name)
    expect_identical(as.numeric(logLik(fit)), saved$logLik[[name]], label = name)
    expect_output(print(summary(fit)), "Log evidence", label = name)
    for (use in list(summary, coef, nobs, function(fit) predict(fit, saved$new))) {
      expect_error(use(fit), NA, label = name)
    }
  }
  expect_identical(nrow(loo(saved$fits$counts)), 20L)
})

test_that("a stream of version 0.1.0 goes on, and fits that kept no sums say so", {
  saved <- of_first_version()
  more <- update(saved$fits$stream, saved$rows)
  found <- unlist(predict(more, saved$new, type = "latent", se.fit = TRUE), use.names = FALSE)
  expect_equal(found, saved$updated, tolerance = 1e-10)
  expect_equal(as.numeric(logLik(more)), saved$updated_logLik, tolerance = 1e-10)
  expect_equal(nobs(more), 24)
  expect_error(merge(saved$fits$full, saved$fits$full), class = "sparsegp_error")
  expect_error(sparsegp(control = gp_control(like = saved$fits$classes), data = saved$new),
               class = "sparsegp_error")
  old <- saved$fits$full
  old$posterior$alpha <- 1
  expect_error(predict(old, saved$new), "posterior", class = "sparsegp_error")
  old$response <- list(latents = "x")
  expect_error(predict(old, saved$new), "response", class = "sparsegp_error")
})

saved_fits <- function(version = "0.2.0") {
  readRDS(test_path(paste0("fits-", version, ".rds")))
}

saved_versions <- function() {
  gsub("^fits-|[.]rds$", "", list.files(test_path(), "^fits-.*[.]rds$"))
}

later <- of_tier(setdiff(saved_versions(), "0.1.0"), 2L, memory = Inf)
for (version in later) test_that(paste("fits do what they did:", version), {
  saved <- saved_fits(version)
  for (name in names(saved$fits)) {
    fit <- saved$fits[[name]]
    expect_null(flaw_of(ready(fit)), label = name)
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
  memory_tier()
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

test_that("what a fit of version 0.2.0 chose is read into one record", {
  chosen <- as_written_now(saved_fits()$fits$chosen)
  expect_identical(chosen$options, chosen$method)
  expect_identical(unique(chosen$choices$stage), "kernel")
  expect_true(any(chosen$choices$taken))
  expect_null(chosen$learning$structure)
  expect_output(print(summary(chosen, details = TRUE)), "Choice of kernel")
  new <- saved_fits("0.3.0")$fits$chosen
  expect_identical(names(chosen$choices), names(new$choices))
})
