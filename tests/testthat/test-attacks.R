# Values that a saved fit, or a kernel, method or likelihood, could hold if somebody wrote to it:
# each ends in an answer or in an error of this package, never in a crash or an error of R's own.

# The saved fits of every kind, their rows, and a few more
attacked_fits <- function() {
  saved <- readRDS(test_path("fits-1.0.0.rds"))
  rows <- saved$rows
  d <- rbind(rows, rows, rows)
  d$a <- d$a + seq(0, 1, length.out = nrow(d))
  fit <- function(formula, ...) sparsegp(formula, d, ..., learn = FALSE)
  own <- list(
    fields = fit(cbind(y, v) ~ a + b, kernel = kernel_helmholtz(), basis = 1:4),
    coregion = fit(cbind(y, v) ~ a + b, kernel = kernel_coregion(), basis = 1:4),
    vectors = fit(cbind(y, v) ~ a + b, kernel = kernel_helmholtz(),
                  method = method_online(4, pilot = 8)),
    periodic = fit(y ~ a, kernel = kernel_periodic()), trig = fit(y ~ a, kernel = kernel_trig(2)),
    spread = saved$fits$spread
  )
  list(fits = c(saved$fits[setdiff(names(saved$fits), "spread")], own), new = saved$new,
       rows = rows, d = d)
}

# What is asked of each: those that read most of a fit.
attack_uses <- function(made) {
  new <- made$new
  list(
    function(f) predict(f, new, type = "latent"), function(f) update(f, made$rows),
    function(f) utils::capture.output(print(f), print(summary(f))), function(f) loo(f),
    function(f) formula(f), function(f) merge(f, f), function(f) draws(f, new),
    function(f) predict(f, mode = "all"), function(f) next_rows(f, new, 1)
  )
}

# Passes where every use of it ends in an answer, or in an error of this package; damaged: each that
# looks at the damage says that there is some.
expect_in_words <- function(fit, uses, label, damaged = TRUE) {
  said <- vapply(uses, function(use) {
    tryCatch({
      suppressMessages(suppressWarnings(use(fit)))
      ""
    }, error = function(e) {
      paste(if (!inherits(e, "sparsegp_error")) "RAW", conditionMessage(e))
    })
  }, "")
  expect_none(grep("^RAW", said, value = TRUE), label)
  if (damaged) {
    expect_match(said[[1L]], "is damaged: its `|is damaged: a row's label", label = label)
  }
}

# The fit with an expression of it, `f`, changed.
attacked <- function(f, change) {
  eval(change)
  f
}

test_that("what C reads as an index or a count is refused by name", {
  memory_tier()
  made <- attacked_fits()
  uses <- attack_uses(made)
  fields <- list(
    quote(f$spec$parts[[1]]$parts[[1]]$type <- "matern12"),
    quote(f$spec$parts[[1]]$parts[[1]]$vars <- rep(0L, 17L)),
    quote(f$spec$parts[[1]]$parts[[1]]$vars <- rep(0L, 2L)),
    quote(f$spec$parts[[1]]$vars <- integer()), quote(f$spec$parts[[1]]$vars <- 0L),
    quote(f$spec$parts[[1]]$parts <- list()),
    quote(f$posterior$basis[, 3] <- 1e9), quote(f$posterior$basis[, 3] <- NaN),
    quote(f$posterior$basis[, 3] <- 1e300), quote(f$posterior$basis[, 3] <- -3),
    quote(f$posterior$basis[, 3] <- 1.5), quote(f$posterior$basis[1, 3] <- 3),
    quote(f$posterior$basis[1, 1] <- Inf), quote(f$state[[1]]$R[1, 1] <- NaN),
    quote(f$hyper$theta[1] <- NaN), quote(f$hyper$theta[1] <- 1e9),
    quote(f$method$size <- -7L), quote(f$method$sweeps <- 0.5), quote(f$method$mixing <- 1e9)
  )
  for (change in fields) {
    expect_in_words(attacked(made$fits$fields, change), uses, deparse1(change))
  }
  across <- list(
    quote(f$posterior$basis[, 3] <- 1e8), quote(f$posterior$basis[, 3] <- 100),
    quote(f$spec$parts[[1]]$degree <- c(8L, 7L)), quote(f$spec$parts[[1]]$degree <- c(2L, 2L)),
    quote(f$spec$parts[[1]]$vars <- integer()), quote(f$spec$parts[[2]]$vars <- c(0L, 0L)),
    quote(f$spec$parts[[2]]$vars <- 2L)
  )
  for (change in across) {
    expect_in_words(attacked(made$fits$coregion, change), uses, deparse1(change))
  }
  for (kind in c("periodic", "trig")) {
    for (change in list(quote(f$spec$vars <- integer()), quote(f$spec$vars <- c(0L, 0L)))) {
      expect_in_words(attacked(made$fits[[kind]], change), uses, paste(kind, deparse1(change)))
    }
  }
  mode <- quote(f$modes[[1]]$posterior$basis <- f$modes[[1]]$posterior$basis[, 1, drop = FALSE])
  for (change in list(mode, quote(f$modes[[1]]$posterior$alpha <- 1), quote(f$modes <- list(1)),
                      quote(f$modes[[1]]$latent$mean <- 1), quote(f$modes[[1]]$state <- "x"))) {
    expect_in_words(attacked(made$fits$modes, change), uses, deparse1(change))
  }
})

test_that("the record of a stream is what C resumes from, or is refused by name", {
  memory_tier()
  made <- attacked_fits()
  uses <- attack_uses(made)
  at <- function(name) which(record_names() == name)
  record <- list(
    quote(f$stream$record$points[3, ] <- 1e9), quote(f$stream$record$points[3, ] <- NaN),
    quote(f$stream$record$points[1, ] <- Inf), quote(f$stream$record$id[] <- 1),
    quote(f$stream$record$id[] <- -1e300), quote(f$stream$record$id[1] <- 1.5),
    quote(f$stream$record$id[1] <- NaN), quote(f$stream$size <- -1L),
    quote(f$stream$record$count[1] <- -1), quote(f$stream$record$trace[1, 1] <- 0.5),
    quote(f$stream$omitted <- NA), quote(f$stream$clock <- "x")
  )
  for (change in record) {
    expect_in_words(attacked(made$fits$vectors, change), uses, deparse1(change))
  }
  for (entries in c(255L, 256L, 257L)) {
    fit <- made$fits$vectors
    fit$stream$record$trace <- matrix(0, 6L, entries)
    fit$stream$record$count[at("traced")] <- entries
    expect_in_words(fit, uses, paste(entries, "entries"))
  }
})

test_that("labels of classes that are none are refused where C would take them for places", {
  memory_tier()
  made <- attacked_fits()
  for (kind in c("classes", "softmax")) {
    for (label in c(1e6, NaN, 0, -1, 1.5, 4, Inf)) {
      fit <- made$fits[[kind]]
      fit$data_rows[1L, 1L] <- label
      rows <- matrix(fit$data_rows, 1L)
      expect_error(engine_lik_tilt(fit, rows, fit$cavity$mean, fit$cavity$var), "is damaged",
                   class = "sparsegp_error")
      if (has_state(fit)) {
        expect_error(update(fit, made$rows), "is damaged", class = "sparsegp_error")
      }
    }
  }
})

test_that("what R's own functions read of a fit is refused by name", {
  slow_tier()
  made <- attacked_fits()
  uses <- attack_uses(made)
  changes <- list(
    quote(f$terms <- mean), quote(f$terms <- quote(a + b)), quote(f$terms <- y ~ a),
    quote(attr(f$terms, "variables") <- NULL), quote(attr(f$terms, "factors") <- 1),
    quote(attr(f$terms, "predvars") <- "x"), quote(attr(f$terms, "term.labels") <- 1),
    quote(f$learning <- "x"), quote(f$learning <- list(converged = NA)),
    quote(f$convergence <- NULL), quote(f$convergence$converged <- NA),
    quote(f$convergence$trace <- 1), quote(f$convergence$sweeps <- NaN),
    quote(f$convergence$change <- "x"), quote(f$convergence$selection <- 3),
    quote(f$jitter <- "x"), quote(f$jitter <- NaN), quote(f$n <- NA), quote(f$n <- -1),
    quote(f$n <- 2.5), quote(f$row_names <- "x"), quote(f$row_names <- NA_character_),
    quote(f$method$tol <- NaN), quote(f$method$tol <- -1), quote(f$method$damping <- 7),
    quote(class(f$method) <- "x"), quote(f$call <- quote(x)), quote(f$likelihood$type <- "base"),
    quote(f$likelihood$type <- NA), quote(f$likelihood$params <- NULL),
    quote(f$response$codec <- "lik"), quote(f$response$unit <- Inf),
    quote(f$response$centre <- NaN), quote(f$response$levels <- c("a", "b")),
    quote(f$scaling$sd[] <- NaN), quote(f$scaling$names[] <- NA), quote(f$scaling$alike <- NA),
    quote(f$kernel <- 1), quote(f$kernel$type <- "none"), quote(f$kernel$params <- 3),
    quote(f$hyper$part <- rev(f$hyper$part)), quote(f$hyper$prior[] <- list(1)),
    quote(f$hyper$name[] <- "x"), quote(f$hyper$unit[] <- -1), quote(f$posterior$alpha[1] <- NaN),
    quote(f$na.action <- "x"), quote(f$basis_rows <- -1), quote(f$merged <- 1),
    quote(f$power <- NaN), quote(f$source <- 1), quote(f$choices <- "x"), quote(f$xlevels <- 3)
  )
  for (change in changes) {
    expect_in_words(attacked(made$fits$basis, change), uses, deparse1(change))
  }
})

test_that("rows whose numbers are none are refused where they are read", {
  slow_tier()
  made <- attacked_fits()
  uses <- attack_uses(made)
  for (change in list(quote(f$latent$mean[1] <- NaN), quote(f$offset[2] <- Inf),
                      quote(f$y[1] <- NA), quote(f$x[1, 1] <- NaN), quote(f$cavity$var[3] <- NA),
                      quote(f$cavity$lpd[] <- NaN),
                      quote(f$row_names[] <- "1"))) {
    fit <- attacked(made$fits$basis, change)
    expect_in_words(fit, uses, deparse1(change), damaged = FALSE)
    expect_error(loo(fit), "is damaged", class = "sparsegp_error", label = deparse1(change))
  }
})

test_that("densities are refused by the name of the field", {
  fit <- gp_density(faithful$eruptions, k0 = 2)
  uses <- list(function(f) predict(f, 3), function(f) utils::capture.output(print(f)),
               summary, nobs, stats::logLik, function(f) simulate(f, 1))
  for (change in list(quote(f$evidence <- 1), quote(f$evidence$k0 <- "x"), quote(f$chosen <- NA),
                      quote(f$n <- NA), quote(f$converged <- NA), quote(f$convergence <- NULL),
                      quote(f$cov[1] <- NaN), quote(f$mean[1] <- 1e300), quote(f$x[1] <- -1e9),
                      quote(f$range[1] <- NaN), quote(f$call <- y ~ a))) {
    expect_in_words(attacked(fit, change), uses, deparse1(change))
  }
})

test_that("values that were written to are refused before they are used", {
  memory_tier()
  d <- data.frame(a = sin(1:20), b = cos(1:20))
  d$y <- d$a + d$b
  d$v <- d$a - d$b
  field <- kernel_divfree()
  kernels <- list(
    replace(field, "parts", list(list(kernel_matern12()))),
    replace(field, "parts", list(list(kernel_linear()))), replace(field, "parts", list(list())),
    replace(field, "parts", list(list(kernel_rbf(ard = TRUE)))),
    replace(kernel_rbf(), "type", "none"), replace(kernel_rbf(), "params", list(list())),
    replace(kernel_rbf(), "ard", list(NA)), replace(kernel_rbf(), "vars", list(c("a", "a"))),
    replace(kernel_poly(), "degree", list(c(degree = -1))),
    replace(kernel_rbf() + kernel_linear(), "parts", list(list(1)))
  )
  for (kernel in kernels) {
    expect_error(sparsegp(cbind(y, v) ~ a + b, d, kernel = kernel, learn = FALSE),
                 class = "sparsegp_error")
  }
  for (method in list(replace(method_online(6), "size", list(-7L)),
                      replace(method_ep(8), "size", list(-7L)),
                      replace(method_ep(8), "projection", "x"),
                      replace(method_ivm(8), "type", "ep"), replace(method_ep(), "tol", "x"))) {
    expect_error(sparsegp(y ~ a, d, method = method, learn = FALSE), class = "sparsegp_error")
  }
  for (lik in list(replace(lik_gaussian(), "type", "base"), replace(lik_gaussian(), "params", "x"),
                   replace(lik_gaussian(), "params", list(list(noise = -1))))) {
    expect_error(sparsegp(y ~ a, d, lik, learn = FALSE), class = "sparsegp_error")
  }
})

test_that("names of a file are looked up in the package's own tables", {
  local_traits <- function() stop("this function is not the package's")
  assign("stranger_traits", local_traits, globalenv())
  on.exit(rm("stranger_traits", envir = globalenv()))
  expect_error(traits_of("stranger"), "is damaged", class = "sparsegp_error")
  for (name in list("lik", NULL, NA, 1, mean, c("labels", "rest"))) {
    expect_error(codec_named(name), "is damaged", class = "sparsegp_error")
    expect_error(traits_of(name), "is damaged", class = "sparsegp_error")
  }
  expect_identical(traits_of("gaussian"), traits_of("gaussian"))
})
