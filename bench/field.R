# Ambiguous winds on a lattice of 10 x 10 locations, each seen as itself or its opposite (weights
# 0.55 and 0.45, the former right as often as it says; errors of variance 0.1): which modes EP finds
# from several starts, how they are ranked, whether their error bars hold, and what a basis of some
# of the locations loses. The field is drawn from the prior of the fit: stream function 0.8,
# potential 0.2, length scale 3 (and 4 with Matern kernels where bases are compared). The mode of
# the truth is the one that EP ends at from the right part of every row; a mode is taken for it
# where no more than 5 % of the rows are taken for another part. Seconds are of the processor.
# Usage: Rscript bench/field.R [fields [fields for bases]]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

FIELDS <- argument(1, 50)
ON_BASES <- argument(2, 20)

hidden <- asNamespace("sparsegp")
lattice <- expand.grid(x = 0:9, y = 0:9)

helmholtz <- function(base, lengthscale) {
  kernel_helmholtz(base(0.8, lengthscale), base(0.2, lengthscale))
}

fit_winds <- function(d, kernel, method, ...) {
  suppressWarnings(sparsegp(z ~ x + y, d, kernel = kernel, method = method, learn = FALSE,
                            scale = FALSE, ...))
}

# One column for each component, drawn from a kernel's prior at the lattice
draw_wind <- function(kernel) {
  d <- transform(lattice, z = mixture(1, list(matrix(1, 100L, 2L)), 1))
  fit <- fit_winds(d, kernel, method_ep(sweeps = 1))
  x <- hidden$stack_components(as.matrix(lattice), 2L)
  K <- hidden$kernel_matrix(fit$spec, hidden$kernel_theta(fit), x, x) * fit$response$unit^2
  matrix(crossprod(chol(K + diag(1e-9, 200L)), rnorm(200L)), 100L, byrow = TRUE,
         dimnames = list(NULL, c("u", "v")))
}

winds <- function(seed, kernel) {
  set.seed(seed)
  truth <- draw_wind(kernel)
  seen <- truth + rnorm(200L, sd = sqrt(0.1))
  likelier <- runif(100L) < 0.55
  shown <- ifelse(likelier, 1, -1) * seen
  d <- lattice
  d$z <- mixture(c(0.55, 0.45), list(shown, -shown), 0.1)
  list(d = d, truth = truth, right = ifelse(likelier, 1L, 2L), heavy = shown)
}

# Parts that the mode of the truth takes the rows for.
parts_of_truth <- function(fit, right) {
  problem <- hidden$problem_of_kept_rows(fit)
  run <- hidden$mode_from(problem, fit$hyper$theta, hidden$part_sites(problem, right))
  max.col(hidden$part_probabilities(problem, fit$hyper$theta, run$cav_mean, run$cav_var), "first")
}

rms <- function(found, truth) sqrt(mean(rowSums((found - truth)^2)))

# Share of locations whose true vector lies in the ellipse of probability 0.9.
inside <- function(found, truth) {
  away <- found$fit - truth
  far <- vapply(seq_len(nrow(away)), function(i) {
    sum(away[i, ] * solve(found$covariance[, , i], away[i, ]))
  }, 0)
  mean(far < qchisq(0.9, 2))
}

# ---- Modes ----

one_field <- function(seed, kernel) {
  case <- winds(seed, kernel)
  seconds <- system.time(fit <- fit_winds(case$d, kernel, method_ep(starts = 4)))[["user.self"]]
  table <- modes(fit)
  wanted <- parts_of_truth(fit, case$right)
  is_truth <- colMeans(attr(table, "parts") != wanted) <= 0.05
  each <- lapply(seq_len(nrow(table)), function(mode) predict(fit, mode = mode, se.fit = TRUE))
  errors <- vapply(each, function(found) rms(found$fit, case$truth), 0)
  by_weight <- which.max(table$relative_weight)
  stream <- fit_winds(case$d, kernel, method_online(100, pilot = 100, order = "random"))
  c(found = any(is_truth), right = is_truth[1L], weight = table$weight[1L], modes = nrow(table),
    right_by_5.41 = is_truth[by_weight], rms_best = errors[1L], rms_nearest = min(errors),
    rms_all = rms(predict(fit, mode = "all"), case$truth),
    rms_online = rms(predict(stream, case$d), case$truth),
    rms_heavier = rms(case$heavy, case$truth),
    inside_best = inside(each[[1L]], case$truth),
    inside_nearest = inside(each[[which.min(errors)]], case$truth), seconds = seconds)
}

fields <- t(vapply(seq_len(FIELDS), one_field, numeric(13L), helmholtz(kernel_rbf, 3)))
mean_of <- function(column) mean(fields[, column])
cat(sprintf("%d fields, 4 passes and the runners-up: %.1f modes, %.2f s a field\n", FIELDS,
            mean_of("modes"), mean_of("seconds")))
cat(sprintf("  mode of the truth: found in %.0f %%, ranked best in %.0f %% (by 5.41 in %.0f %%)\n",
            100 * mean_of("found"), 100 * mean_of("right"), 100 * mean_of("right_by_5.41")))
band <- cut(fields[, "weight"], c(0, 0.5, 0.8, 0.95, 1))
cat("  best of them right, by its weight:",
    toString(paste0(levels(band), " ", tapply(fields[, "right"], band, sum), "/", table(band))),
    sprintf("; the weights say %.1f %%\n", 100 * mean_of("weight")))
cat(sprintf("  90 %% ellipses hold %.1f %% at the nearest mode, %.1f %% at the best\n",
            100 * mean_of("inside_nearest"), 100 * mean_of("inside_best")))
errors <- fields[, grepl("^rms", colnames(fields))]
bench_table(rbind(median = apply(errors, 2L, median),
                  root_mean_square = sqrt(colMeans(errors^2))), "Errors of modes", 3L)
bench_row("Modes of ambiguous winds", fields = FIELDS, "mode of the truth found" = mean_of("found"),
          "ranked best" = mean_of("right"), "weight of the best" = mean_of("weight"),
          "90 % ellipses hold, nearest" = mean_of("inside_nearest"),
          "seconds a field" = mean_of("seconds"))

# ---- Bases ----

spread <- function(count) {
  chosen <- 1L
  far <- function(i) (lattice$x - lattice$x[i])^2 + (lattice$y - lattice$y[i])^2
  least <- far(1L)
  while (length(chosen) < count) {
    chosen <- c(chosen, which.max(least))
    least <- pmin(least, far(chosen[length(chosen)]))
  }
  chosen
}

nearest_rms <- function(fit, truth) {
  count <- if (inherits(fit, "sparsegp_stream")) 1L else nrow(modes(fit))
  min(vapply(seq_len(count), function(mode) rms(predict(fit, lattice, mode = mode), truth), 0))
}

on_bases <- function(seed, kernel) {
  case <- winds(seed, kernel)
  fit <- function(...) nearest_rms(fit_winds(case$d, kernel, ...), case$truth)
  sizes <- c(15, 30, 50)
  out <- lapply(sizes, function(size) {
    c(online = fit(method_online(size, pilot = 100, order = "random")),
      chosen = fit(method_ep(size)), spread = fit(method_ep(), basis = spread(size)))
  })
  found <- unlist(out)
  c(setNames(found, paste(names(found), rep(sizes, each = 3L))), all = fit(method_ep()))
}

for (name in c("rbf", "matern52")) {
  kernel <- if (name == "rbf") helmholtz(kernel_rbf, 3) else helmholtz(kernel_matern52, 4)
  found <- vapply(seq_len(ON_BASES), on_bases, numeric(10L), kernel)
  cat(sprintf("\n%s, rms error at the nearest mode, medians of %d fields\n", name, ON_BASES))
  print(round(apply(found, 1L, median), 3))
}

# ---- Streams ----

set.seed(1)
many <- data.frame(x = runif(6000, 0, 9), y = runif(6000, 0, 9))
wind <- cbind(u = sin(many$y), v = cos(many$x)) + rnorm(12000, sd = 0.3)
many$z <- mixture(c(0.55, 0.45), list(wind, -wind), 0.1)
kernel <- helmholtz(kernel_rbf, 3)
stream <- fit_winds(many[1:1000, ], kernel, method_online(50))
took <- replicate(3, system.time(update(stream, many[1001:6000, ]))[["user.self"]])
cat(sprintf("\na stream on 50 locations: %.0f locations a second\n", 5000 / median(took)))
