# Saved fits and values of kernels, likelihoods and methods, with values changed inside the shapes
# that they have: numbers that are none, negative, huge or not whole, names of other things,
# indices in another order or twice. Then something is asked of them. For tools/fuzz.R.

# ---- What is changed ----

NAMES <- c("rbf", "matern12", "linear", "constant", "sum", "product", "divfree", "curlfree",
           "coregion", "periodic", "trig", "factor", "gaussian", "probit", "softmax", "mprobit",
           "mixture", "mvnormal", "heteroscedastic", "poisson", "ordinal", "labels", "classes",
           "rest", "ordered", "numbers", "vectors", "mixtures", "spreads", "counts", "online",
           "ivm", "ep", "default", "kl", "moment", "base", "system", "x", "", NA)

other_number <- function(x) {
  one_of(NaN, NA, Inf, -Inf, -1, 0, 0.5, 2, 1e9, 1e300, -1e300, 5e-324, -x, x + 1, x * 1e8, x / 3)
}

# Values of the same kind and length
changed_numbers <- function(x) {
  n <- length(x)
  whole <- is.integer(x)
  y <- switch(sample.int(5L, 1L), replace(x, sample.int(n, 1L), NA), x[sample.int(n)],
              rep(x[1L], n), rep(NA, n), x)
  at <- if (chance(0.3)) seq_len(n) else sample.int(n, one_of(1L, min(n, 3L)))
  for (i in at) if (chance(0.9)) y[i] <- other_number(x[i])
  if (whole && chance(0.8)) y <- suppressWarnings(as.integer(y))
  attributes(y) <- attributes(x)
  y
}

changed_words <- function(x) {
  n <- length(x)
  y <- switch(sample.int(3L, 1L), x[sample.int(n)], rep(x[1L], n),
              replace(x, sample.int(n, 1L), sample(NAMES, 1L)))
  attributes(y) <- attributes(x)
  y
}

changed_value <- function(x) {
  if (length(x) == 0L) return(one_of(NULL, 1, "x", TRUE, list()))
  if (is.numeric(x) && !is.object(x)) return(changed_numbers(x))
  if (is.character(x)) return(changed_words(x))
  if (is.logical(x)) return(one_of(!x, replace(x, 1L, NA), x[sample.int(length(x))]))
  if (is.factor(x)) return(one_of(x[sample.int(length(x))], factor(rep("x", length(x)))))
  if (is.call(x)) return(one_of(quote(a + b), quote(sparsegp()), stats::terms(y ~ b), ~ a))
  one_of(NULL, NA, "x", 1, list(), -1L)
}

# The same with one value changed somewhere in it, or in its attributes.
with_change <- function(x, depth = 0L) {
  kept <- attributes(x)
  inside <- setdiff(names(kept), c("names", "class", "dim", "row.names", "srcref", ".Environment"))
  if (length(inside) && chance(0.15)) {
    name <- sample(inside, 1L)
    kept[[name]] <- with_change(kept[[name]], depth + 1L)
    attributes(x) <- kept
    return(x)
  }
  if (!is.list(x) || length(x) == 0L || depth > 0L && chance(0.05)) return(changed_value(x))
  plain <- unclass(x)
  at <- sample.int(length(plain), 1L)
  if (is.environment(plain[[at]]) || is.function(plain[[at]])) return(x)
  plain[at] <- list(with_change(plain[[at]], depth + 1L))
  attributes(plain) <- kept
  plain
}

# ---- What is asked ----

FIT_USES <- list(
  predict = function(f, s) predict(f, s$new, type = one_of("response", "latent", "link", "median")),
  spread = function(f, s) predict(f, s$new, se.fit = TRUE),
  interval = function(f, s) predict(f, s$new, interval = one_of("confidence", "prediction")),
  prob = function(f, s) predict(f, s$new, type = one_of("prob", "class", "terms")),
  own = function(f, s) predict(f, mode = one_of(1, 2, "all")),
  mode = function(f, s) predict(f, s$new, mode = one_of(2, "all")),
  fitted = function(f, s) fitted(f), loo = function(f, s) utils::capture.output(print(loo(f))),
  lpd = function(f, s) loo_lpd(f), sites = function(f, s) sites(f), basis = function(f, s) basis(f),
  residuals = function(f, s) residuals(f, one_of("response", "pearson", "quantile")),
  simulate = function(f, s) simulate(f, 2, seed = 1), draws = function(f, s) draws(f, s$new, n = 2),
  print = function(f, s) utils::capture.output(print(f)),
  summary = function(f, s) utils::capture.output(print(summary(f))),
  coef = function(f, s) list(coef(f), nobs(f), family(f), labels(f)),
  terms = function(f, s) list(formula(f), terms(f), variable.names(f)),
  frame = function(f, s) model.frame(f), matrix = function(f, s) model.matrix(f),
  evidence = function(f, s) list(logLik(f), deviance(f)), sigma = function(f, s) sigma(f),
  vcov = function(f, s) list(vcov(f), confint(f)),
  update = function(f, s) update(f, s$rows), update = function(f, s) update(f, s$rows),
  again = function(f, s) update(f, learn = FALSE, evaluate = FALSE),
  merge = function(f, s) merge(f, f, onto = one_of("x", "both")),
  like = function(f, s) sparsegp(control = gp_control(like = f), data = s$rows),
  kl = function(f, s) kl(f, f), modes = function(f, s) modes(f),
  next_rows = function(f, s) next_rows(f, s$new, 2),
  next_points = function(f, s) next_points(f, list(a = c(-1, 1), b = c(-1, 1)), 1, n = 3),
  ask = function(f, s) ask(f, s$new, 0.3), importance = function(f, s) importance(f),
  calibration = function(f, s) utils::capture.output(print(calibration(f))),
  compare = function(f, s) compare(f, f), shard = function(f, s) shard(f),
  plot = function(f, s) drawn(f), plot = function(f, s) drawn(f, "a"),
  types = function(f, s) {
    drawn(f, type = one_of("residuals", "calibration", "trace", "terms", "rows"))
  }
)

DENSITY_USES <- list(
  predict = function(f, s) predict(f, 3), print = function(f, s) utils::capture.output(print(f)),
  summary = function(f, s) utils::capture.output(print(summary(f))), plot = function(f, s) drawn(f),
  simulate = function(f, s) simulate(f, 1, seed = 1), nobs = function(f, s) list(nobs(f), logLik(f))
)

# A picture on no paper
drawn <- function(...) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(...)
}

# ---- Cases ----

# The fits that the tests keep, and some more
saved_fits <- function() {
  found <- readRDS(file.path("tests", "testthat", "fits-1.0.0.rds"))
  d <- rbind(found$rows, found$rows, found$rows)
  d[c("a", "b", "y", "v")] <- d[c("a", "b", "y", "v")] + 0.1 * stats::rnorm(4L * nrow(d))
  fit <- function(formula, ...) sparsegp(formula, d, ..., learn = FALSE)
  more <- list(
    coregion = fit(cbind(y, v) ~ a + b, kernel = kernel_coregion()),
    noises = fit(cbind(y, v) ~ a + b, lik_gaussian(covariance = "full"), basis = 1:4),
    periodic = fit(y ~ a, kernel = kernel_periodic() * kernel_rbf() + kernel_trig(2)),
    fields = fit(cbind(y, v) ~ a + b, kernel = kernel_helmholtz(),
                 method = method_online(4, pilot = 8)),
    forgets = fit(y ~ a + b, method = method_online(4, pilot = 8, forget = 10)),
    density = gp_density(d$y, k0 = 1:2)
  )
  list(fits = c(found$fits, more), new = found$new, rows = found$rows)
}

kept <- new.env()

damaged_fit_case <- function() {
  if (is.null(kept$saved)) kept$saved <- saved_fits()
  saved <- kept$saved
  fit <- saved$fits[[sample(length(saved$fits), 1L)]]
  for (times in seq_len(one_of(1L, 1L, 2L, 5L))) {
    fit <- tryCatch(with_change(fit), error = function(e) fit)
  }
  uses <- if (inherits(fit, "gp_density")) DENSITY_USES else FIT_USES
  kept$use <- sample(names(uses), 1L)
  uses[[kept$use]](fit, saved)
  NULL
}

KERNEL_VALUES <- function() {
  list(kernel_divfree(), kernel_helmholtz(), kernel_coregion(), kernel_rbf(ard = TRUE),
       kernel_rbf() + kernel_linear(), kernel_periodic() * kernel_poly(), kernel_trig(2),
       kernel_factor())
}

METHOD_VALUES <- function() {
  list(method_ep(), method_ep(4), method_ivm(4), method_online(4, pilot = 8),
       method_ep(starts = 2))
}

LIK_VALUES <- function() {
  list(lik_gaussian(), lik_student(df = fixed(4)), lik_gaussian(covariance = "full"),
       lik_softmax(), lik_probit(), lik_ordinal(), lik_heteroscedastic(), lik_poisson())
}

# A value of a kernel, method or likelihood, changed and given to sparsegp().
damaged_value_case <- function() {
  if (is.null(kept$saved)) kept$saved <- saved_fits()
  part <- one_of("kernel", "method", "likelihood")
  values <- switch(part, kernel = KERNEL_VALUES(), method = METHOD_VALUES(), LIK_VALUES())
  given <- list(tryCatch(with_change(sample(values, 1L)[[1L]]), error = function(e) NULL))
  names(given) <- part
  kept$use <- part
  rows <- kept$saved$rows
  rows <- rbind(rows, rows)
  rows$a <- rows$a + 0.1 * stats::rnorm(nrow(rows))
  formula <- one_of(y ~ a + b, cbind(y, v) ~ a + b, g ~ a, two ~ a, n ~ a, y ~ a + g)
  fit <- do.call(sparsegp, c(list(formula, rows, learn = FALSE), given))
  predict(fit, rows[1:2, ])
  NULL
}
