# Fits by method_online(): pilots, chunks, updates, and what a fit without rows can be asked.

sinc <- function(n = 1000) {
  set.seed(4)
  d <- data.frame(x = runif(n, -10, 10), z = runif(n), g = factor(sample(c("a", "b"), n, TRUE)))
  d$y <- sin(d$x) / d$x + 0.3 * (d$g == "b") + 0.1 * rnorm(n)
  d$class <- factor(ifelse(d$y + 0.1 * rnorm(n) > 0.2, "high", "low"))
  d
}

in_chunks <- function(fit, d, size) {
  for (rows in split(seq_len(nrow(d)), ceiling(seq_len(nrow(d)) / size))) {
    fit <- update(fit, d[rows, ])
  }
  fit
}

expect_same_fit <- function(found, expected, new) {
  for (part in c("n", "basis_rows", "scaling", "response", "hyper", "xlevels", "contrasts")) {
    expect_equal(found[[part]], expected[[part]], tolerance = 1e-10, label = part)
  }
  expect_equal(logLik(found), logLik(expected), tolerance = 1e-10)
  expect_equal(predict(found, new, type = "latent", se.fit = TRUE),
               predict(expected, new, type = "latent", se.fit = TRUE), tolerance = 1e-10)
  expect_equal(found$convergence, expected$convergence, tolerance = 1e-10)
}

test_that("any chunking equals one call, learning and scaling included, from an empty start", {
  slow_tier()
  d <- sinc(220)
  method <- method_online(size = 20, pilot = 80)
  formulas <- list(y ~ x + z + g, class ~ x + z, I(y > 0.2) ~ x + offset(z))
  sizes <- c(1, 97, 1)
  for (k in seq_along(formulas)) {
    formula <- formulas[[k]]
    whole <- sparsegp(formula, d, method = method)
    empty <- sparsegp(formula, d[0L, ], method = method)
    expect_same_fit(in_chunks(empty, d, sizes[k]), whole, d[1:20, ])
    begun <- sparsegp(formula, d[1:110, ], method = method)
    expect_same_fit(in_chunks(begun, d[111:220, ], 50), whole, d[1:20, ])
  }
})

test_that("fits of a matrix take x and y, offsets and weights", {
  slow_tier()
  d <- sinc(300)
  x <- as.matrix(d[c("x", "z")])
  method <- method_online(size = 20, pilot = 100)
  whole <- sparsegp(x, d$y, offset = d$z, weights = d$z + 0.5, method = method)
  fit <- sparsegp(x[1:60, ], d$y[1:60], offset = d$z[1:60], weights = d$z[1:60] + 0.5,
                  method = method)
  for (rows in list(61:150, 151:300)) {
    fit <- update(fit, x[rows, ], d$y[rows], offset = d$z[rows], weights = d$z[rows] + 0.5)
  }
  expect_same_fit(fit, whole, x[1:10, ])
  frame <- data.frame(d, w = d$z + 0.5)
  by_formula <- sparsegp(y ~ x + z + offset(z), frame[1:60, ], weights = w, method = method)
  by_formula <- update(by_formula, frame[61:300, ])
  expect_equal(logLik(by_formula), logLik(whole), tolerance = 1e-10)
})

test_that("until the pilot is there the fit is that of the rows so far", {
  memory_tier()
  d <- sinc(120)
  method <- method_online(size = 20, pilot = 100)
  fit <- sparsegp(y ~ x, d[1:30, ], method = method)
  expect_output(print(fit), "provisional until 100 rows")
  more <- update(fit, d[31:60, ])
  once <- sparsegp(y ~ x, d[1:60, ], method = method)
  expect_identical(predict(more, d[1:5, ]), predict(once, d[1:5, ]))
  expect_identical(coef(more), coef(once))
  expect_identical(nobs(more), 60)
  settled <- update(more, d[61:120, ])
  expect_identical(settled$stream$waiting, NULL)
  expect_false(any(grepl("provisional", capture.output(print(settled)))))
})

test_that("the model of the waiting rows is fitted once, and not before it is asked for", {
  slow_tier()
  d <- sinc(60)
  method <- method_online(size = 20, pilot = 100, order = "random")
  set.seed(1)
  fit <- update(sparsegp(y ~ x, d[1:30, ], method = method), d[31:60, ])
  expect_s3_class(fit, "sparsegp_waiting")
  expect_null(fit$stream$model$fit)
  expect_identical(nobs(fit), 60)
  fit$stream$model$fit$log_evidence <- 12345 # what a second fit would not have
  expect_identical(c(logLik(fit)), 12345)
  # nothing of it is left over when more rows come, and the old one is as it was
  more <- update(fit, d[1:3, ])
  expect_null(more$stream$model$fit)
  expect_identical(nobs(more), 63)
  expect_identical(nobs(fit), 60)
  expect_warning(update(more, kernel = kernel_matern52()), "rows that update")
  kept <- unserialize(serialize(more, NULL))
  expect_identical(predict(kept, d), predict(more, d))
  begun <- update(more, d)
  expect_false(inherits(begun, "sparsegp_waiting"))
  expect_null(begun$stream$model)
  expect_warning(update(begun, kernel = kernel_matern52()), "rows that update")
})

test_that("the trace ends with the log evidence of the stream, in units of the response", {
  d <- sinc(60)
  d$y <- 20 * d$y - 3
  fit <- sparsegp(y ~ x, d, method = method_online(size = 10, pilot = 20), learn = FALSE)
  trace <- fit$convergence$trace
  expect_identical(trace$row, as.double(1:60))
  expect_equal(trace$log_evidence[60L], fit$log_evidence, tolerance = 1e-12)
  expect_equal(cumsum(trace$lpd), trace$log_evidence, tolerance = 1e-12)
})

test_that("memory and fit do not grow with the stream", {
  slow_tier()
  d <- sinc(3000)
  fit <- sparsegp(y ~ x, d[1:1000, ], method = method_online(size = 20))
  size <- function(fit) length(serialize(fit, NULL))
  small <- size(fit)
  for (i in 1:5) fit <- update(fit, d)
  expect_lt(size(fit), small + 1e4) # a trace of at most 256 entries
  expect_identical(nobs(fit), 16000)
})

test_that("an empty stream says what it waits for", {
  memory_tier()
  d <- sinc(50)
  fit <- sparsegp(class ~ x, d[0L, ], method = method_online())
  expect_output(print(fit), "0 rows so far")
  expect_error(predict(fit, d), "no rows yet", class = "sparsegp_error")
  expect_error(summary(fit), "no rows yet", class = "sparsegp_error")
  one <- update(fit, d[which(d$class == "low")[1:3], ]) # the factor names both classes
  expect_true(all(predict(one, d[1:3, ]) < 1))
  text <- transform(d, class = as.character(class))
  fit <- sparsegp(class ~ x, text[text$class == "low", ], method = method_online())
  expect_error(coef(fit), "one class only", class = "sparsegp_error")
  fit <- update(fit, text[text$class == "high", ])
  expect_named(coef(fit), c("variance", "lengthscale", "bias"))
})

test_that("a failed update leaves the old fit intact", {
  slow_tier()
  d <- sinc(200)
  fit <- sparsegp(y ~ x + g, d, method = method_online(size = 15, pilot = 100),
                  control = gp_control(coding = "contrasts"))
  deep_copy <- function(x) unserialize(serialize(x, NULL))
  plain <- c("stream", "posterior", "hyper", "n", "log_evidence")
  before <- deep_copy(fit[plain])
  bad <- list(
    transform(d[1:3, ], y = Inf), transform(d[1:3, ], x = -Inf), transform(d[1:3, ], g = "c"),
    d[1:3, c("x", "g")], d[1:3, c("y", "g")], transform(d[1:3, ], y = "a"), as.list(d[1:3, ]), 7
  )
  for (rows in bad) expect_error(update(fit, rows), class = "sparsegp_error")
  update(fit, d[1:3, ]) # a good one does not change it either
  expect_true(isTRUE(all.equal(fit[plain], before, tolerance = 0)))
  expect_error(update(fit, transform(d[1:3, ], g = "c")), "new levels \\(g: c")
  classes <- sparsegp(class ~ x, d, method = method_online(size = 15, pilot = 100))
  expect_error(update(classes, transform(d[1:3, ], class = "middle")), "new levels of the response",
               class = "sparsegp_error")
})

test_that("an input constant in the pilot stays in the model", {
  memory_tier()
  d <- sinc(300)
  d$late <- c(rep(1, 150), rnorm(150))
  d$g <- factor(rep(c("a", "b"), c(150, 150)))
  method <- method_online(size = 15, pilot = 100)
  for (formula in list(y ~ x + late, y ~ late)) {
    fit <- sparsegp(formula, d[1:120, ], method = method, learn = FALSE)
    expect_identical(fit$scaling$dropped, character())
    expect_equal(fit$scaling$sd[["late"]], 1)
    expect_warning(more <- update(fit, d[121:300, ]), "scale is 1: late",
                   class = "sparsegp_warning")
    expect_silent(update(more, d[121:300, ])) # once is enough
    suppressWarnings(whole <- sparsegp(formula, d, method = method, learn = FALSE))
    expect_equal(logLik(more), logLik(whole), tolerance = 1e-10) # sums in another order
  }
  # until it varies, predictions at other values say that no row has shown them
  waiting <- sparsegp(y ~ x + late, d[1:50, ], method = method, learn = FALSE)
  for (fit in list(waiting, update(waiting, d[51:120, ]))) {
    new <- data.frame(x = 0, late = c(1, 7))
    expect_warning(predict(fit, new), "constant at the fit (late: 7)", fixed = TRUE)
    expect_silent(predict(fit, new[1L, ]))
    expect_error(predict(fit, new, unseen = "error"), "late: 7", class = "sparsegp_error")
  }
  # the columns of a factor have that scale anyhow
  expect_silent(fit <- sparsegp(y ~ x + g, d, method = method, learn = FALSE))
  low <- predict(fit, transform(d[200:203, ], g = "a"))
  expect_gt(max(abs(low - predict(fit, d[200:203, ]))), 1e-3)
  # a matrix, and a kernel with a length scale for each input
  x <- as.matrix(d[c("x", "late")])
  fit <- sparsegp(x[1:120, ], d$y[1:120], kernel = kernel_rbf(ard = TRUE), method = method)
  expect_warning(update(fit, x[121:300, ], y = d$y[121:300]), "scale is 1: late")
})

test_that("a pilot is as long as it takes to see two classes, levels or values", {
  memory_tier()
  d <- sinc(300)
  at <- seq_len(300)
  d$text <- ifelse(at > 70 & at %% 2, "b", "a")
  d$flat <- ifelse(at > 70, d$y, 3)
  method <- method_online(size = 15, pilot = 20)
  fit_in <- function(formula, ends, likelihood = NULL) {
    fit <- sparsegp(formula, d[seq_len(ends[1L]), ], likelihood, method = method, learn = FALSE)
    for (k in seq_along(ends)[-1L]) fit <- update(fit, d[seq(ends[k - 1L] + 1L, ends[k]), ])
    fit
  }
  for (case in list(list(text ~ x, "probit"), list(y ~ x + text, NULL), list(flat ~ x, NULL))) {
    whole <- fit_in(case[[1L]], 300L, case[[2L]])
    expect_identical(whole$stream$pilot, 71L)
    parts <- fit_in(case[[1L]], c(5L, 30L, 69L, 72L, 300L), case[[2L]])
    expect_identical(parts$stream$pilot, whole$stream$pilot)
    expect_equal(logLik(parts), logLik(whole), tolerance = 1e-10)
    one_by_one <- Reduce(function(fit, i) update(fit, d[i, ]), 70:75,
                         fit_in(case[[1L]], 69L, case[[2L]]))
    expect_identical(one_by_one$stream$pilot, whole$stream$pilot)
  }
  # not for ever: no second class in ten times the pilot
  d$text <- "a"
  expect_error(fit_in(text ~ x, c(190L, 200L), "probit"), "only one class",
               class = "sparsegp_error")
  d$flat <- 3
  expect_warning(fit <- fit_in(flat ~ x, 300L), "does not vary")
  expect_identical(fit$stream$pilot, 200L)
  # counts of 0 are as good as others
  d$none <- 0
  expect_warning(fit <- fit_in(none ~ x, 300L, "poisson"), "nothing but zeros")
  expect_identical(fit$stream$pilot, 20L)
})

test_that("a likelihood by which no row can begin a stream is named, and so is an offset", {
  memory_tier()
  d <- data.frame(x = seq(-2, 2, length.out = 60), seen = 1, name = "a", z = 0.3)
  even <- lik_custom(function(y, f, theta) 2 * log(abs(f)), response = "count", check = FALSE)
  fit <- function(..., likelihood = even) {
    sparsegp(..., likelihood = likelihood, learn = FALSE, kernel = kernel_rbf(1, 1),
             method = method_online(size = 8, pilot = 20))
  }
  expect_error(fit(seen ~ x, d), "is custom, which gives the first rows negative",
               class = "sparsegp_error")
  expect_error(fit(seen ~ x, d), "offset")
  expect_s3_class(fit(seen ~ x + offset(z), d), "sparsegp")
  # text for an offset, by name, as a column, and in rows that come later
  online <- method_online(size = 8, pilot = 20)
  for (data in list(d, d[0L, ], d[1L, ])) {
    expect_error(sparsegp(z ~ x, data, offset = "z", method = online), "`offset` is text",
                 class = "sparsegp_error")
    expect_error(sparsegp(z ~ x, data, offset = name, method = online), "`offset`",
                 class = "sparsegp_error")
  }
  good <- sparsegp(z ~ x, d, offset = seen, method = online, learn = FALSE)
  expect_error(update(good, transform(d, seen = "a")), class = "sparsegp_error")
  expect_error(predict(good, transform(d, seen = "a")), class = "sparsegp_error")
})

test_that("terms that depend on all rows are refused", {
  d <- sinc(50)
  expect_error(sparsegp(y ~ poly(x, 2), d, method = method_online()), "poly(x, 2)", fixed = TRUE,
               class = "sparsegp_error")
  fit <- sparsegp(y ~ log(z) + I(x^2), d, method = method_online(pilot = 20), learn = FALSE)
  whole <- predict(fit, d[1:3, ])
  fit <- sparsegp(y ~ log(z) + I(x^2), d[1:10, ], method = method_online(pilot = 20), learn = FALSE)
  expect_equal(predict(update(fit, d[11:50, ]), d[1:3, ]), whole, tolerance = 1e-10)
})

test_that("rows with missing values are left out, counted, and change nothing else", {
  slow_tier()
  d <- sinc(300)
  holes <- d
  holes$y[c(3, 150, 299)] <- NA
  holes$x[40] <- NA
  method <- method_online(size = 20, pilot = 100)
  found <- in_chunks(sparsegp(y ~ x, holes[0L, ], method = method), holes, 60)
  whole <- sparsegp(y ~ x, d[-c(3, 40, 150, 299), ], method = method)
  expect_same_fit(found, whole, d[1:5, ])
  expect_output(print(summary(found)), "missing values left out: 4")
  matrix_fit <- sparsegp(holes["x"], holes$y, method = method)
  expect_output(print(summary(matrix_fit)), "missing values left out: 4")
  expect_equal(logLik(matrix_fit), logLik(whole), tolerance = 1e-10)
})

test_that("a fit that keeps no rows says so where rows are asked for", {
  memory_tier()
  d <- sinc(200)
  fit <- sparsegp(y ~ x, d, method = method_online(size = 15, pilot = 100))
  for (ask in list(fitted, residuals, sites, loo_lpd, predict, draws, simulate)) {
    expect_error(ask(fit), "keeps no rows", class = "sparsegp_error")
  }
  for (type in c("fit", "reliability")) {
    expect_error(plot(fit, type = type), "`newdata`", class = "sparsegp_error")
  }
  expect_length(predict(fit, d), 200L)
  expect_identical(dim(draws(fit, d[1:3, ], n = 2)), c(3L, 2L))
  expect_identical(nrow(simulate(fit, newdata = d[1:3, ])), 3L)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_named(plot(fit, type = "trace"), c("row", "size", "log_evidence", "lpd", "kl_new_old",
                                            "kl_old_new"))
  expect_silent(plot(fit, newdata = d))
  expect_silent(plot(fit, newdata = d, type = "reliability"))
  expect_output(print(summary(fit, details = TRUE)),
                "projected, .* declined, 15 added, .* exchanged")
})

test_that("random and informative orders report rows by their place in the data", {
  memory_tier()
  d <- sinc(200)
  for (order in c("random", "informative")) {
    set.seed(9)
    fit <- sparsegp(y ~ x, d, method = method_online(size = 15, pilot = 100, order = order))
    expect_equal(unname(basis(fit)[, 1]), d$x[attr(basis(fit), "rows")], tolerance = 1e-12)
    set.seed(9)
    again <- sparsegp(y ~ x, d, method = method_online(size = 15, pilot = 100, order = order))
    expect_identical(predict(again, d), predict(fit, d))
  }
})

test_that("a basis can be given to a stream, as rows, matrix or data frame", {
  memory_tier()
  d <- sinc(300)
  method <- method_online(pilot = 100)
  by_rows <- sparsegp(y ~ x, d, basis = seq(1, 96, 5), method = method)
  expect_lte(nrow(basis(by_rows)), 20L)
  by_frame <- sparsegp(y ~ x, d[1:50, ], basis = d[seq(1, 96, 5), ], method = method)
  by_frame <- update(by_frame, d[51:300, ])
  expect_equal(predict(by_frame, d[1:9, ]), predict(by_rows, d[1:9, ]), tolerance = 1e-10)
  expect_identical(sum(by_rows$convergence$fates[c("added", "exchanged", "declined")]), 0)
})

test_that("a saved stream goes on where it was", {
  memory_tier()
  d <- sinc(300)
  fit <- sparsegp(class ~ x, d[1:150, ], method = method_online(size = 15, pilot = 100))
  file <- tempfile()
  saveRDS(fit, file)
  expect_identical(predict(update(readRDS(file), d[151:300, ]), d),
                   predict(update(fit, d[151:300, ]), d))
})

test_that("kl() is zero of a fit and itself, that of (3.16) for one row, and additive in none", {
  memory_tier()
  d <- sinc(200)
  fit <- sparsegp(class ~ x, d[1:150, ], method = method_online(size = 40, pilot = 100))
  expect_equal(kl(fit, fit), 0, tolerance = 1e-10)
  for (row in 151:156) {
    after <- update(fit, d[row, ])
    step <- utils::tail(update(fit, d[row, ])$convergence$trace, 1L)
    # gamma below the novelty of 1e-6, or a point exchanged whose weight hardly matters
    expect_equal(kl(after, fit), step$kl_new_old, tolerance = 1e-3)
    expect_equal(kl(fit, after), step$kl_old_new, tolerance = 1e-3)
    fit <- after
  }
  full <- sparsegp(d["x"], d$y, kernel = kernel_matern12(1, 1), learn = FALSE, mean = "average")
  half <- sparsegp(d["x"], d$y, kernel = kernel_matern12(1, 1), learn = FALSE, basis = 1:100,
                   mean = "average")
  K <- class_kernel(full, full$posterior$basis, full$posterior$basis, 1L)
  cov <- function(fit) joint_moments(fit, full$posterior$basis)
  f <- cov(full)
  g <- cov(half)
  ratio <- solve(g$var, f$var)
  dense <- (sum((g$mean - f$mean) * solve(g$var, g$mean - f$mean)) + sum(diag(ratio)) - 200 -
              as.numeric(determinant(ratio)$modulus)) / 2
  expect_equal(kl(full, half), dense, tolerance = 1e-5) # dense: condition number of 1e5
  other <- sparsegp(d["x"], d$y, kernel = kernel_matern12(2, 1), learn = FALSE)
  expect_error(kl(full, other), "`g`", class = "sparsegp_error")
  expect_error(kl(full, 1), "`g`", class = "sparsegp_error")
})

test_that("more than two classes: each against the rest, in chunks, in any labelling", {
  slow_tier()
  set.seed(2)
  flowers <- iris[sample(150L), ]
  method <- method_online(size = 30, pilot = 100)
  fit <- sparsegp(Species ~ ., flowers, likelihood = lik_probit(), method = method)
  expect_named(coef(fit), c("variance", "lengthscale", "bias.setosa", "bias.versicolor",
                            "bias.virginica"))
  chunks <- in_chunks(sparsegp(Species ~ ., flowers[0L, ], likelihood = "probit", method = method),
                      flowers, 35)
  prob <- predict(fit, flowers, type = "prob")
  expect_equal(predict(chunks, flowers, type = "prob"), prob, tolerance = 1e-10)
  expect_identical(colnames(prob), levels(flowers$Species))
  expect_equal(rowSums(prob), rep(1, 150), tolerance = 1e-12, ignore_attr = TRUE)
  expect_gt(mean(predict(fit, flowers, type = "class") == flowers$Species), 0.93)
  expect_identical(is.na(predict(fit, flowers, type = "class", reject = 0.9)),
                   apply(prob, 1L, max) < 0.9)
  expect_identical(predict(fit, flowers), prob)
  other <- transform(flowers, Species = factor(Species, rev(levels(Species))))
  relabelled <- sparsegp(Species ~ ., other, likelihood = "probit", method = method)
  # the search stops elsewhere within its tolerance when sums are in another order: as relative
  # differences some 1e-4 in a probability, and 1e-6 in their sum
  expect_equal(predict(relabelled, other, type = "prob")[, colnames(prob)], prob, tolerance = 1e-5)
  before <- fit
  after <- update(fit, flowers[1:2, ])
  expect_equal(kl(after, before) >= 0, TRUE)
  expect_output(print(summary(fit)), "3 classes, one-vs-rest: setosa, versicolor")
})

test_that("what classes against the rest cannot give is refused with the reason", {
  memory_tier()
  method <- method_online(size = 20, pilot = 100)
  fit <- sparsegp(Species ~ ., iris, likelihood = "logit", method = method, learn = FALSE)
  refusals <- list(
    function() logLik(fit), function() simulate(fit, newdata = iris[1:2, ]),
    function() predict(fit, iris, se.fit = TRUE),
    function() predict(fit, iris, interval = "confidence")
  )
  for (refuse in refusals) expect_error(refuse(), class = "sparsegp_error")
  expect_identical(dim(predict(fit, iris[1:4, ], type = "latent", se.fit = TRUE)$se.fit), c(4L, 3L))
  expect_error(update(fit, transform(iris[1:2, ], Species = "rosa")), "rosa",
               class = "sparsegp_error")
})

test_that("a variable that changes its kind is refused, before and after the pilot", {
  memory_tier()
  d <- sinc(60)
  for (pilot in c(20, 100)) {
    fit <- sparsegp(y ~ x + z, d[1:30, ], method = method_online(pilot = pilot), learn = FALSE)
    bad <- list(transform(d[31:33, ], x = as.character(x)), transform(d[31:33, ], x = factor(x)),
                transform(d[31:33, ], y = as.character(y)))
    for (rows in bad) {
      expect_error(update(fit, rows), "of class", class = "sparsegp_error")
    }
  }
  fit <- sparsegp(y ~ g, d[1:30, ], method = method_online(pilot = 20), learn = FALSE)
  text <- transform(d[31:60, ], g = as.character(g))
  expect_identical(predict(update(fit, text), d), predict(update(fit, d[31:60, ]), d))
})

test_that("weights come for all rows or for none, and never from the workspace", {
  memory_tier()
  d <- sinc(60)
  x <- cbind(x = d$x)
  method <- method_online(pilot = 30)
  fit <- sparsegp(x[1:10, , drop = FALSE], d$y[1:10], method = method)
  expect_error(update(fit, x[11:20, , drop = FALSE], d$y[11:20], weights = d$z[11:20]), "`weights`",
               class = "sparsegp_error")
  fit <- sparsegp(x[1:10, , drop = FALSE], d$y[1:10], weights = d$z[1:10], method = method)
  expect_error(update(fit, x[11:20, , drop = FALSE], d$y[11:20]), "`weights`",
               class = "sparsegp_error")
  w <- d$z + 1
  by_formula <- sparsegp(y ~ x, d[c("x", "y")], weights = w, method = method)
  expect_error(update(by_formula, d[1:60, c("x", "y")]), "`weights` are not in the new rows",
               class = "sparsegp_error")
  more <- update(by_formula, d[c("x", "y")], weights = w)
  expect_identical(nobs(more), 120)
})

test_that("new rows may come by name, and a refit that forgets rows warns", {
  slow_tier()
  d <- sinc(80)
  fit <- sparsegp(y ~ x, d[1:40, ], method = method_online(pilot = 30))
  more <- update(fit, d[41:80, ])
  expect_identical(predict(update(fit, newdata = d[41:80, ]), d), predict(more, d))
  matrix_fit <- sparsegp(cbind(d$x[1:40]), d$y[1:40], method = method_online(pilot = 30))
  expect_identical(nobs(update(matrix_fit, x = cbind(d$x[41:80]), y = d$y[41:80])), 80)
  expect_silent(again <- update(fit, method = method_online(size = 5, pilot = 30)))
  expect_identical(nrow(basis(again)), 5L)
  expect_warning(again <- update(more, . ~ . + z), "not in it", class = "sparsegp_warning")
  expect_identical(nobs(again), 40)
})

test_that("a basis without points predicts the prior", {
  for (y in list(3, TRUE)) {
    first <- data.frame(x = 1, y = if (is.logical(y)) factor(y, c(FALSE, TRUE)) else y)
    fit <- sparsegp(y ~ x, first, kernel = kernel_linear(), method = method_online(), learn = FALSE)
    expect_identical(nrow(basis(fit)), 0L)
    found <- predict(fit, data.frame(x = c(1, 3)), type = "latent", se.fit = TRUE)
    expect_equal(unname(found$fit), if (is.logical(y)) c(0, 0) else c(3, 3))
    expect_equal(unname(found$se.fit[1L]), 0)
    expect_equal(kl(fit, fit), 0)
    expect_identical(dim(draws(fit, data.frame(x = 1:3), n = 2)), c(3L, 2L))
  }
})

test_that("a stream starts once its basis has come, and leaves out a level that is alone", {
  memory_tier()
  d <- sinc(60)
  one_level <- transform(d[d$g == "a", ], g = as.character(g))
  start <- function(rows, ...) {
    sparsegp(y ~ g + x, rows, method = method_online(...),
             control = gp_control(coding = "contrasts"), learn = FALSE)
  }
  fit <- start(one_level[1:10, ], pilot = 40)
  # as long as rows wait a level is what a constant number is
  without <- sparsegp(y ~ I(0 * x + 1) + x, one_level[1:10, ],
                      method = method_online(pilot = 40), learn = FALSE)
  expect_identical(predict(fit, d), predict(without, d))
  fit <- update(fit, transform(d[d$g == "b", ], g = as.character(g)))
  expect_length(predict(fit, d), 60L)
  expect_identical(variable.names(fit), c("gb", "x"))
  # and for good once the pilot has shown no other
  begun <- update(start(one_level, 10, pilot = 5), one_level[1:25, ])
  expect_identical(begun$xlevels$g, "a")
  expect_error(update(begun, transform(d, g = as.character(g))), "new levels \\(g: b",
               class = "sparsegp_error")
  fit <- sparsegp(y ~ x, d[1:10, ], basis = c(1, 20), method = method_online(pilot = 40))
  expect_error(predict(fit, d), "the rows of `basis`", class = "sparsegp_error")
  expect_identical(nrow(basis(update(fit, d[11:60, ]))), 2L)
  own <- d
  stats::contrasts(own$g) <- stats::contr.sum(2)
  whole <- sparsegp(y ~ g + x, own, method = method_online(pilot = 30), learn = FALSE)
  parts <- update(sparsegp(y ~ g + x, own[1:10, ], method = method_online(pilot = 30),
                           learn = FALSE), own[11:60, ])
  expect_equal(predict(parts, d), predict(whole, d), tolerance = 1e-10)
  expect_identical(sort(unique(round(basis(parts)[, 1L], 9))), c(-1, 1))
})

test_that("what waits is the same model at every call, whatever is drawn", {
  memory_tier()
  d <- sinc(60)
  fit <- sparsegp(y ~ x, d[1:20, ], method = method_online(size = 5, order = "random"))
  fit <- update(fit, d[21:30, ])
  before <- .Random.seed
  expect_identical(predict(fit, d), predict(fit, d))
  expect_identical(.Random.seed, before)
})

test_that("sizes beyond memory, missing values under na.pass, huge responses", {
  memory_tier()
  d <- sinc(60)
  fit <- sparsegp(y ~ x, d, method = method_online(size = 1e6, pilot = 30), learn = FALSE)
  expect_lte(nrow(basis(fit)), 60L)
  pass <- sparsegp(y ~ x, d[1:40, ], method = method_online(pilot = 30), na.action = stats::na.pass,
                   learn = FALSE)
  expect_error(update(pass, transform(d[41:43, ], x = c(1, NA, 2))), "missing values",
               class = "sparsegp_error")
  shifted <- update(pass, data.frame(x = 1, y = 1e20))
  expect_equal(predict(shifted, d[1:3, ], se.fit = TRUE)$se.fit,
               predict(shifted, d[1:3, ], type = "latent", se.fit = TRUE)$se.fit)
})

test_that("points are matched by name, and are never looked up in the workspace", {
  d <- sinc(60)
  x <- c(9, 8)
  expect_error(sparsegp(y ~ x + z, d, basis = data.frame(z = 1:2)), "`basis` lacks x",
               class = "sparsegp_error")
  fit <- sparsegp(y ~ x + z, d, basis = cbind(z = 1:3, x = 11:13), learn = FALSE)
  expect_equal(unname(basis(fit)[, "x"]), 11:13)
  expect_error(sparsegp(y ~ x + z, d, basis = cbind(a = 1:3, x = 1:3)), "`basis`",
               class = "sparsegp_error")
  expect_error(sparsegp(y ~ x, d, basis = d$x > 0), "`basis` is logical", class = "sparsegp_error")
})

test_that("rows that wait are refused what the likelihood cannot read, as all rows are", {
  memory_tier()
  for (lik in list(lik_gaussian(), lik_poisson(), lik_negbin(), lik_binomial(), lik_density())) {
    for (bad in list(letters[1:3], factor(1:3), 1i * 1:3, Sys.Date() + 1:3)) {
      expect_error(sparsegp(1:3, bad, lik, method = method_online(2)), "^`y`",
                   class = "sparsegp_error")
    }
  }
})

test_that("streams of any response may begin with few rows, and go on with one", {
  memory_tier()
  skip_if_not_installed("survival")
  set.seed(4)
  n <- 12L
  d <- data.frame(x = seq_len(n) / 4, time = rexp(n), count = rpois(n, 3), part = runif(n),
                  z = rnorm(n), label = rnorm(n) > 0)
  d$label[1:2] <- c(TRUE, FALSE)
  d$class <- factor(rep_len(c("a", "b", "c"), n))
  d$rank <- factor(d$class, ordered = TRUE)
  d$text <- as.character(d$class)
  d$surv <- survival::Surv(d$time, d$label)
  d$trials <- cbind(d$count, 2)
  d$vector <- cbind(u = d$z, v = replace(d$part, 3, NA))
  d$mixed <- mixture(c(0.5, 0.5), list(d$vector[, c(1, 1)], -d$vector[, c(1, 1)]), 0.5)
  kinds <- list(z = NULL, z = lik_student(), z = lik_heteroscedastic(), label = NULL, text = NULL,
                class = NULL, rank = NULL, rank = "ordinal", surv = NULL, surv = "lognormal",
                time = "weibull", time = lik_gaussian(transform = "log"), time = lik_gamma(),
                part = lik_beta(), count = "poisson", count = "negbin", trials = "binomial",
                vector = NULL, mixed = NULL)
  new <- d[4:6, ]
  for (i in of_tier(seq_along(kinds), 8L)) {
    formula <- reformulate("x", names(kinds)[i])
    begin <- function(rows) {
      sparsegp(formula, d[rows, ], kinds[[i]], method = method_online(5, pilot = 50), learn = FALSE)
    }
    stream <- update(update(begin(1:3), d[4, ]), d[5:n, ])
    expect_equal(predict(stream, new), predict(begin(1:n), new), tolerance = 1e-12, info = i)
  }
  d$time[2] <- 0
  refused(sparsegp(survival::Surv(time, label) ~ x, d, method = method_online(5)), "y")
})

test_that("a changed class is named, and a chunk without responses is left out", {
  memory_tier()
  d <- data.frame(x = c(1, 3, 2, 5), y = c(2, 1, 4, 3))
  fit <- sparsegp(y ~ x, d, method = method_online(3, pilot = 3), learn = FALSE)
  expect_error(update(fit, data.frame(x = "a", y = 1)), class = "sparsegp_error",
               "x of class character, which was of class numeric")
  expect_identical(predict(update(fit, data.frame(x = 1:2, y = NA)), d), predict(fit, d))
})

test_that("one input that is constant in the pilot is known by its name", {
  memory_tier()
  d <- data.frame(x = c(rep(3, 20), 1:20), y = sin(1:40))
  stream <- sparsegp(y ~ x, d[1:20, ], method = method_online(size = 5, pilot = 10), learn = FALSE)
  expect_identical(names(stream$stream$constant), "x")
  expect_warning(stream <- update(stream, d[21:40, ]), "Constant in the first 10 rows.*x")
  expect_length(predict(stream, d), 40L)
})

test_that("a stream that forgets or drifts may begin with fewer rows than its pilot", {
  memory_tier()
  set.seed(3)
  d <- data.frame(x = seq(0, 3, length.out = 30L), time = 1:30)
  d$y <- sin(2 * d$x) + 0.1 * rnorm(30L)
  for (method in list(method_online(pilot = 20, forget = 10),
                      method_online(pilot = 20, forget = c(time = 10)),
                      method_online(pilot = 20, drift = c(time = 10)))) {
    begun <- function(rows) sparsegp(y ~ x, d[rows, ], method = method, learn = FALSE)
    first <- begun(1:5)
    pieces <- update(update(first, d[6:11, ]), d[12:30, ])
    expect_identical(predict(pieces, d), predict(begun(1:30), d))
  }
  # what could not be read later is refused while it waits, too
  refused(update(first, data.frame(x = Inf, y = 1, time = 6)), "x")
  refused(update(first, transform(d[6, ], time = -9)), "newdata")
  expect_identical(predict(update(first, d[6:30, ]), d), predict(begun(1:30), d))
})

test_that("a row far from all others does not take the digits of those in its call", {
  set.seed(1)
  d <- data.frame(x = runif(150L, -3, 3))
  d$y <- sin(2 * d$x) + 0.2 * rnorm(150L)
  far <- replace(d, "x", replace(d$x, 120L, 1e30))
  method <- method_online(size = 15, pilot = 50)
  begun <- function(rows) sparsegp(y ~ x, far[rows, ], kernel = kernel_rbf(), method = method)
  alone <- update(update(begun(1:119), far[120L, ]), far[121:150, ])
  # 0.3 standard deviations apart when a call's rows had the mean for their origin
  expect_equal(predict(begun(1:150), d), predict(alone, d), tolerance = 1e-10)
  full <- sparsegp(y ~ x, d, kernel = kernel_rbf(), learn = FALSE)
  covariances <- function(rows) {
    predict(full, far[rows, ], "link", covariance = TRUE)$covariance[1:5, 1:5]
  }
  expect_equal(covariances(c(1:5, 120L)), covariances(1:6), tolerance = 1e-12)
})

test_that("a factor's labels have to differ before a stream begins, as text has", {
  set.seed(1)
  d <- data.frame(x = sort(runif(80L, -3, 3)))
  d$text <- ifelse(d$x > 0.5, "yes", "no")
  d$factor <- factor(d$text)
  method <- method_online(size = 10, pilot = 30)
  begun <- function(formula) sparsegp(formula, d, method = method, learn = FALSE)
  expect_identical(begun(factor ~ x)$stream$pilot, begun(text ~ x)$stream$pilot)
  expect_identical(predict(begun(factor ~ x), d), predict(begun(text ~ x), d))
})
