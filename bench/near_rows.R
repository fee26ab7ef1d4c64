# Rows that predictions by nearest neighbours are given (R/posterior-nearest.R): how many candidates
# for each, and how many times fewer rows in each part of the maximin order than in the one before.
# Differences from the full posterior at given hyperparameters (Matern 3/2 of range .2 to .3), in
# its standard deviations, over designs of 1000 rows; seconds of a Gaussian fit of 50 000 rows, each
# of which is left out once. `gaussian`: each place is given responses; at the end beside the
# posterior of latent values (policy$known_factor), for three standard deviations of the noise.
#
# Usage: Rscript bench/near_rows.R [k]...     k: neighbours, 10 and 20 by default
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

ROWS <- 1000L

clusters <- function(sd) {
  centres <- matrix(runif(40), 20L)
  centres[sample(20L, ROWS, TRUE), ] + sd * matrix(rnorm(2L * ROWS), ROWS)
}
pairs <- function(apart) {
  one <- matrix(runif(ROWS), ROWS / 2)
  rbind(one, one + apart * rnorm(ROWS))
}

DESIGNS <- list(
  plain = function() matrix(runif(2L * ROWS), ROWS),
  lines = function() cbind(runif(ROWS), sample(8L, ROWS, TRUE) / 8),
  "pairs 1e-5" = function() pairs(1e-5),
  "pairs 1e-3" = function() pairs(1e-3),
  "clusters .01" = function() clusters(.01),
  "clusters .001" = function() clusters(.001),
  "one large cluster" = function() {
    rbind(.5 + .05 * matrix(rnorm(2L * (ROWS - 60L)), ROWS - 60L), matrix(runif(120L), 60L))
  },
  "three inputs" = function() matrix(runif(3L * ROWS), ROWS)
)

SETTINGS <- list("5, a third" = c(5, 3), "5, a ninth" = c(5, 9), "3, a third" = c(3, 3),
                 "3, a ninth" = c(3, 9), "3, 27" = c(3, 27), "8, a ninth" = c(8, 9))

home <- asNamespace("sparsegp")
POLICY <- home$policy
set_value <- function(name, value) {
  unlockBinding(name, home)
  assign(name, value, home)
}
with_setting <- function(setting) {
  set_value("CANDIDATES", setting[1L])
  set_value("THINNED", setting[2L])
  give_responses(TRUE)
}
give_responses <- function(all) {
  set_value("policy", if (all) utils::modifyList(POLICY, list(known_factor = 1)) else POLICY)
}

fit_by <- function(d, likelihood, method, lengthscale) {
  kernel <- kernel_matern32(lengthscale = fixed(lengthscale), variance = fixed(1))
  sparsegp(z ~ ., d, likelihood, kernel = kernel, method = method, learn = FALSE, scale = FALSE,
           mean = if (is.numeric(d$z)) "zero")
}

# Rows x (a column an input) with responses of a function of the prior, and 300 new places: half of
# them near rows.
simulate_rows <- function(x, lengthscale, likelihood) {
  new <- rbind(matrix(runif(150L * ncol(x)), 150L),
               x[sample(ROWS, 150L), ] + .02 * matrix(rnorm(150L * ncol(x)), 150L))
  r <- sqrt(3) * as.matrix(dist(x)) / lengthscale
  f <- drop(crossprod(chol((1 + r) * exp(-r) + diag(1e-8, ROWS)), rnorm(ROWS)))
  z <- if (likelihood == "probit") factor(f + rnorm(ROWS) > 0) else f + .3 * rnorm(ROWS)
  list(d = data.frame(x, z = z), new = data.frame(new))
}

latent_of <- function(fit, new) predict(fit, new, type = "latent", se.fit = TRUE)

# Largest and root mean square difference, of means and of log standard deviations, at new places
# and at rows.
differences <- function(fit, full, places) {
  unlist(lapply(places, function(at) {
    a <- latent_of(fit, at)
    b <- latent_of(full, at)
    e <- pmax(abs(a$fit - b$fit) / b$se.fit, abs(log(a$se.fit / b$se.fit)))
    c(max = max(e), rms = sqrt(mean(e^2)))
  }))
}

compare <- function(design, likelihood, k) {
  set.seed(7)
  x <- DESIGNS[[design]]()
  lengthscale <- if (ncol(x) == 2L) .2 else .3
  case <- simulate_rows(x, lengthscale, likelihood)
  noise <- if (likelihood == "gaussian") lik_gaussian(variance = fixed(.09))
           else lik_probit(bias = fixed(0))
  full <- fit_by(case$d, noise, method_ep(), lengthscale)
  vapply(SETTINGS, function(setting) {
    with_setting(setting)
    fit <- fit_by(case$d, noise, method_neighbours(k), lengthscale)
    differences(fit, full, list(new = case$new, row = case$d))
  }, numeric(4L))
}

seconds_of <- function(k) {
  set.seed(8)
  d <- data.frame(a = runif(5e4), b = runif(5e4))
  d$z <- sin(9 * d$a) * cos(7 * d$b) + .3 * rnorm(5e4)
  vapply(SETTINGS, function(setting) {
    with_setting(setting)
    sum(system.time(fit_by(d, lik_gaussian(variance = fixed(.09)), method_neighbours(k),
                           .2))[1:2])
  }, 0)
}

# Responses beside latent values: rows of a table.
compare_posteriors <- function(k, sd, design) {
  set.seed(7)
  x <- DESIGNS[[design]]()
  lengthscale <- if (ncol(x) == 2L) .2 else .3
  case <- simulate_rows(x, lengthscale, "gaussian")
  noise <- lik_gaussian(variance = fixed(sd^2))
  full <- fit_by(case$d, noise, method_ep(), lengthscale)
  found <- lapply(c(TRUE, FALSE), function(responses) {
    give_responses(responses)
    fit <- fit_by(case$d, noise, method_neighbours(k), lengthscale)
    differences(fit, full, list(new = case$new, row = case$d))[c("new.max", "new.rms", "row.rms")]
  })
  bench_row(paste0(k, " neighbours, noise ", sd), design = design,
            t(c(responses = found[[1L]], latent = found[[2L]])))
}

asked <- as.integer(commandArgs(TRUE))
for (k in if (length(asked)) asked else c(10L, 20L)) {
  for (likelihood in c("gaussian", "probit")) {
    for (what in names(DESIGNS)) {
      found <- compare(what, likelihood, k)
      for (at in colnames(found)) {
        bench_row(paste0(k, " neighbours, ", likelihood), design = what, candidates = at,
                  t(found[, at]))
      }
      cat("\n", k, likelihood, what, "\n")
      print(t(found), digits = 2)
    }
  }
  for (sd in c(.3, 1, .05)) for (design in names(DESIGNS)) compare_posteriors(k, sd, design)
  bench_table(cbind(seconds = seconds_of(k)), paste0(k, " neighbours, CPU seconds of 50 000 rows"))
}
