# What must not change an answer: the order of rows, columns and levels, units, chunks, threads.
# Models and changes are those of helper-invariances.R. Where the hyperparameters are fixed only
# rounding is left: at most 1e-12 was seen, mostly from inputs whose origin was moved. A search adds
# its own: it ends where the slope is nearly 0, and rounding moves that point; 1e-11 was seen. The
# other digits are for other versions of BLAS.
FIXED <- 1e-11
LEARNED <- 1e-8

INVARIANT_CHANGES <- list(
  "order of rows" = invariant_change(
    rows = function(d) d[c(seq(2L, nrow(d), 2L), seq(1L, nrow(d), 2L)), ], new = identity
  ),
  "order of columns" = invariant_change(
    changed = c("b", "a"), applies = function(model) !model$field
  ),
  "order of the response's levels" = invariant_change(
    rows = change_columns(c("two", "three"), in_reverse), applies = function(model) model$labels
  ),
  # Contrasts, the default, put the first level nearer to all others.
  "order of an input's levels" = invariant_change(
    rows = change_columns("g", in_reverse), inputs = c("a", "b", "g"),
    given = function(model) {
      kernel <- kernel_rbf(vars = c("a", "b")) * kernel_factor("g")
      list(kernel = if (model$components) kernel_coregion(kernel, rank = 0) else kernel)
    }
  ),
  "units of all inputs" = invariant_change(
    rows = change_columns(c("a", "b"), function(x) 1000 * x + 5)
  ),
  # Under the default the evidence may choose one scale for all inputs.
  "units of each input, scale = TRUE" = invariant_change(
    rows = function(d) transform(d, a = 1000 * a + 5, b = b / 1000 - 5),
    given = function(model) list(scale = TRUE), applies = function(model) !model$field
  ),
  "unit and origin of the response" = invariant_change(
    rows = change_columns(c("y", "u", "v"), function(y) 1000 * y + 5), log_unit = log(1000),
    back = function(p) {
      means <- seq_len(ncol(p) / 2L)
      cbind((p[, means] - 5) / 1000, p[, -means] / 1000)
    }, applies = function(model) model$numbers,
    # a field has an origin, unless its mean is a constant
    given = function(model) if (model$field) list(mean = "constant") else list()
  )
)

# Fixed hyperparameters are cheap enough for all models, but in the quick tier, where two models are
# all that a change has. Learned ones are for two models, and in the whole suite for a quarter of
# the pairs, so that each change has a quarter of the models.
learned_too <- function(name, model) {
  pair <- match(name, names(INVARIANT_CHANGES)) + match(model, names(INVARIANT_MODELS))
  plain <- model %in% c("gaussian", "probit")
  whole_suite() && (plain || pair %% 4L == 0L)
}

for (name in names(INVARIANT_CHANGES)) {
  test_that(paste("no answer depends on:", name), {
    reached_elsewhere()
    change <- INVARIANT_CHANGES[[name]]
    models <- Filter(change$applies, INVARIANT_MODELS)
    for (model in of_tier(names(models), 2L)) {
      label <- paste0(model, ", ", name)
      expect_no_change(models[[model]], change, FALSE, FIXED, label)
      if (learned_too(name, model)) {
        expect_no_change(models[[model]], change, TRUE, LEARNED, paste0(label, ", learned"))
      }
    }
  })
}

test_that("ordered categories in reverse are the same probabilities", {
  # Not when learned: the prior is on the lowest cut point and on the gaps above it.
  change <- invariant_change(rows = change_columns("rank", in_reverse))
  expect_no_change(INVARIANT_MODELS$ordinal, change, FALSE, FIXED, "ordinal, reversed")
})

test_that("the number of threads changes no bit of an answer", {
  slow_tier()
  models <- of_tier(names(INVARIANT_MODELS), 2L)
  one_step <- if (whole_suite()) learn_control(inner = 1, outer = 1) else FALSE
  for (model in models) {
    runs <- lapply(1:2, function(threads) with_threads(threads, {
      fit <- suppressWarnings( # learning of one step has not converged
        invariant_fit(INVARIANT_MODELS[[model]], invariant_rows(), one_step, structure = "fixed")
      )
      list(answers_of(fit), fit$log_evidence, coef(fit))
    }))
    expect_identical(runs[[2L]], runs[[1L]], label = paste(model, "by 2 threads"))
  }
})

test_that("rows predicted one by one, or in blocks, are those predicted at once", {
  memory_tier()
  new <- invariant_new()
  blocks <- list(as.list(seq_len(nrow(new))), split(seq_len(nrow(new)), rep(1:3, each = 4L)))
  for (model in of_tier(names(INVARIANT_MODELS), 3L)) {
    fit <- invariant_fit(INVARIANT_MODELS[[model]], invariant_rows())
    for (rows in blocks) {
      parts <- lapply(rows, function(at) answers_of(fit, new[at, ]))
      # products of matrices of other shapes are rounded in another order
      expect_equal(do.call(rbind, parts), answers_of(fit, new), tolerance = 1e-13,
                   ignore_attr = TRUE, label = paste(model, "in blocks of", length(rows[[1L]])))
    }
  }
})

test_that("a stream is the same one by one, in chunks and at once", {
  slow_tier()
  d <- invariant_rows()
  pilot <- seq_len(10L)
  in_parts <- function(model, ends) {
    online <- method_online(12, pilot = length(pilot))
    fit <- invariant_fit(model, d[seq_len(ends[1L]), ], method = online)
    for (k in seq_along(ends)[-1L]) fit <- update(fit, d[seq(ends[k - 1L] + 1L, ends[k]), ])
    fit
  }
  for (model in of_tier(names(INVARIANT_MODELS), 4L)) {
    at_once <- in_parts(INVARIANT_MODELS[[model]], nrow(d))
    for (ends in list(3:48, c(7L, 30L, 48L))) {
      expect_same_fit(in_parts(INVARIANT_MODELS[[model]], ends), at_once, FIXED,
                      paste(model, "in", length(ends), "parts"))
    }
  }
})

# More rows than are kept, so that EP goes over chunks; sweeps end at a change of 1e-12 of a
# cavity's standard deviation.
test_that("a source of 3 chunks, one of 7 and their data frame are one fit", {
  slow_tier()
  d <- invariant_rows()
  points <- d[seq(3L, 48L, by = 4L), ]
  short <- learn_control(rows = 30, inner = 1, outer = 1)
  for (model in of_tier(names(INVARIANT_MODELS), 2L)) {
    fit <- function(chunks) {
      ends <- as.integer(round(seq(0, nrow(d), length.out = chunks + 1L)))
      suppressWarnings(invariant_fit( # learning of one step has not converged
        INVARIANT_MODELS[[model]], chunks_of(d, ends), short, basis = points,
        method = method_ep(tol = 1e-12, sweeps = 1000), structure = "fixed"
      ))
    }
    three <- fit(3L)
    expect_identical(three$source$kept, 30L)
    expect_same_fit(fit(7L), three, FIXED, paste(model, "of 7 chunks"))
    # EP in memory ends where its residual falls no further, chunks go on to `tol`; of a likelihood
    # that is not log-concave that moves the fit by its curvature
    expect_same_fit(sparsegp(control = gp_control(like = three), data = d), three,
                    if (model == "student") 1e-6 else FIXED, paste(model, "in memory"))
  }
})

# Hyperparameters and scaling are given: standard deviations of inputs and response, where they come
# from otherwise, count rows. Log evidences differ: an observation of half the variance is not two.
test_that("weight 2 is a row that comes twice, with Gaussian noise", {
  d <- invariant_rows()
  d$w <- rep(1:2, 24L)
  fit <- function(rows, ...) {
    sparsegp(y ~ a + b, rows, lik_gaussian(fixed(0.1)), kernel_rbf(fixed(1), fixed(1.5)),
             scale = FALSE, mean = "average", ...)
  }
  weighted <- answers_of(fit(d, weights = d$w))
  copied <- answers_of(fit(d[rep(seq_len(48L), d$w), ]))
  expect_equal(weighted, copied, tolerance = FIXED)
})

# interval = of a matrix n x 3, or of each component n x 3 x w, as n w x 2
limits_of <- function(fit, interval, level) {
  p <- predict(fit, invariant_new(), interval = interval, level = level)
  if (is.matrix(p)) return(p[, c("lwr", "upr")])
  do.call(rbind, lapply(seq_len(dim(p)[3L]), function(k) p[, c("lwr", "upr"), k]))
}

test_that("intervals are nested by level, and those of the mean within those of responses", {
  slow_tier()
  # limits are quantiles found to about 1e-8 of their spread
  within <- function(inner, outer) all(inner[, 1L] >= outer[, 1L] - 1e-7,
                                       inner[, 2L] <= outer[, 2L] + 1e-7)
  models <- Filter(function(model) model$response != "three", INVARIANT_MODELS)
  for (name in names(models)) {
    fit <- invariant_fit(models[[name]], invariant_rows())
    asked <- c("confidence", if (!models[[name]]$labels) "prediction")
    limits <- lapply(asked, function(interval) {
      lapply(c(0.5, 0.9, 0.99), limits_of, fit = fit, interval = interval)
    })
    for (of_kind in limits) {
      expect_true(within(of_kind[[1L]], of_kind[[2L]]), label = name)
      expect_true(within(of_kind[[2L]], of_kind[[3L]]), label = name)
    }
    if (!models[[name]]$numbers) next # whole numbers need not contain a mean of 0.4
    for (k in 1:3) expect_true(within(limits[[1L]][[k]], limits[[2L]][[k]]), label = name)
  }
})

test_that("probabilities are within 0 and 1 and sum to 1", {
  slow_tier()
  models <- Filter(function(model) model$labels || model$response == "rank", INVARIANT_MODELS)
  for (name in names(models)) {
    p <- answers_of(invariant_fit(models[[name]], invariant_rows()))
    expect_true(all(p >= 0, p <= 1), label = name)
    expect_lte(max(abs(rowSums(p) - 1)), 1e-14, label = name) # a few roundings
  }
})
