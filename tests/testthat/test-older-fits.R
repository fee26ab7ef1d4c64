# Fits that sparsegp 0.1.0 wrote, with its predictions, log evidences and an update of its stream,
# are read by this version: fits-0.1.0.rds. Predictions are sums over stored numbers, the same but
# for rounding.

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
    expect_output(print(fit), "Log evidence", label = name)
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
  expect_error(sparsegp(like = saved$fits$classes, data = saved$new), class = "sparsegp_error")
  old <- saved$fits$full
  old$posterior$alpha <- 1
  expect_error(predict(old, saved$new), "posterior", class = "sparsegp_error")
  old$response <- list(latents = "x")
  expect_error(predict(old, saved$new), "response", class = "sparsegp_error")
})
