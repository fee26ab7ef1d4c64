# Would a mixture of Gaussian processes pay (the thesis's sections 5.4 and 6.1: "an EM-like
# algorithm")? Two regressions, each with its own function and noise, are fitted by EM: an
# observation's weights are the probabilities that it is of the one or of the other. Their
# proportions are constant, or depend on the input by a Gaussian-process classifier of the likelier
# part. Beside them the default fit and one with noise that depends on the input: mean log density
# of held-out observations, five folds, and the standard error of the difference from the default.
#
# Usage: Rscript bench/experts.R [folds, of five]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

FOLDS <- argument(1, 5)
SWEEPS <- 6L
STARTS <- 2L
PLAIN <- gp_control(integrate = "none")

geyser <- MASS::geyser$duration
SETS <- list(
  "geyser, next duration" = data.frame(x = geyser[-299], y = geyser[-1]),
  "faithful, next eruption" = data.frame(x = faithful$eruptions[-272], y = faithful$eruptions[-1]),
  mcycle = data.frame(x = MASS::mcycle$times, y = MASS::mcycle$accel)
)

# ---- The mixture ----

# Densities of d$y under each part, a column each.
part_densities <- function(parts, d) {
  vapply(parts, function(fit) {
    latent <- predict(fit, d, type = "latent", se.fit = TRUE)
    dnorm(d$y, latent$fit, sqrt(latent$se.fit^2 + coef(fit)[["noise"]]))
  }, numeric(nrow(d)))
}

# Returns a function of new rows: the probability of each part.
proportions <- function(d, r, by_input) {
  likelier <- factor(max.col(r, "first"), 1:2)
  if (!by_input || min(table(likelier)) < 3) {
    return(function(new) matrix(colMeans(r), nrow(new), 2L, byrow = TRUE))
  }
  gate <- sparsegp(likelier ~ x, data.frame(x = d$x, likelier), kernel = kernel_rbf(),
                   control = PLAIN)
  function(new) predict(gate, new, type = "prob")
}

part_of <- function(d, weight) {
  sparsegp(y ~ x, data.frame(d, weight = pmax(weight, 1e-3)), weights = weight,
           kernel = kernel_rbf(), control = PLAIN)
}

# From responsibilities r; the sweeps end early where they have settled.
by_em <- function(d, r, by_input) {
  value <- -Inf
  for (sweep in seq_len(SWEEPS)) {
    parts <- lapply(1:2, function(k) part_of(d, r[, k]))
    share <- proportions(d, r, by_input)
    joint <- share(d) * part_densities(parts, d)
    r <- joint / rowSums(joint)
    before <- value
    value <- sum(log(rowSums(joint)))
    if (abs(value - before) < 1e-4 * nrow(d)) break
  }
  list(parts = parts, share = share, value = value)
}

# The best of a start by the size of the response and random ones.
mixture <- function(d, by_input) {
  low <- ifelse(rank(d$y) <= nrow(d) / 2, 0.9, 0.1)
  starts <- c(list(low), replicate(STARTS - 1L, runif(nrow(d)), simplify = FALSE))
  runs <- lapply(starts, function(low) by_em(d, cbind(low, 1 - low), by_input))
  runs[[which.max(vapply(runs, `[[`, 0, "value"))]]
}

of_mixture <- function(d, new, by_input) {
  fit <- mixture(d, by_input)
  log(rowSums(fit$share(new) * part_densities(fit$parts, new)))
}

# ---- Beside one process ----

# By differences of the distribution function
of_fit <- function(fit, new) {
  h <- 1e-4 * sd(new$y)
  below <- function(shift) {
    attr(calibration(fit, transform(new, y = y + shift), nominal = 0.5), "pit")$lower
  }
  log(pmax((below(h) - below(-h)) / (2 * h), 1e-9))
}

one_fold <- function(d, test) {
  train <- d[!test, ]
  new <- d[test, ]
  cbind(default = of_fit(sparsegp(y ~ x, train), new),
        "noise by the input" = of_fit(sparsegp(y ~ x, train, lik_heteroscedastic()), new),
        "mixture, constant" = of_mixture(train, new, FALSE),
        "mixture by the input" = of_mixture(train, new, TRUE))
}

CAPTION <- "Mean log density of held-out observations; se: standard errors of gains over default"
for (name in names(SETS)) {
  d <- SETS[[name]]
  set.seed(5)
  fold <- sample(rep(1:5, length.out = nrow(d)))
  seconds <- system.time({
    own <- do.call(rbind, lapply(seq_len(FOLDS), function(k) {
      suppressWarnings(one_fold(d, fold == k))
    }))
  })
  gains <- own[, -1L] - own[, 1L]
  errors <- apply(gains, 2L, sd) / sqrt(nrow(own))
  bench_row(CAPTION, set = name, observations = nrow(own), t(colMeans(own)),
            t(stats::setNames(errors, paste("se,", names(errors)))),
            "CPU seconds" = sum(seconds[1:2]))
}
bench_table(bench_found$tables[[CAPTION]], CAPTION)
