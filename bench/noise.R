# The noise that a default fit finds by itself (R/strategy-noise.R), beside Gaussian noise:
# responses whose noise is known, of 100 and 300 observations. Error of the mean response against
# the truth, log density (of counts: of the unit interval) and 90 % intervals of new observations,
# of those where the noise is small and where it is large.
# Usage: Rscript bench/noise.R [SEEDS]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

SEEDS <- argument(1, 3)
NEW <- 150L
DRAWS <- 4000L
DEVIATES <- seq(-4.5, 4.5, 0.5) # a Student quantile takes its time

bend <- function(x) sin(8 * x)
rate <- function(x) exp(1 + 2 * sin(5 * x))
added <- function(draw) list(mean = bend, draw = function(x) bend(x) + draw(x))
counted <- function(draw) list(mean = rate, draw = draw, counts = TRUE)
SITUATIONS <- list(
  "Gaussian" = added(function(x) rnorm(length(x), 0, 0.3)),
  "8 % outliers" = added(function(x) {
    rnorm(length(x), 0, 0.1) + ifelse(runif(length(x)) < 0.08, rnorm(length(x), 0, 4), 0)
  }),
  "Student, 3 degrees" = added(function(x) 0.3 * rt(length(x), 3)),
  "Laplace" = added(function(x) 0.3 * rexp(length(x)) * sample(c(-1, 1), length(x), TRUE)),
  "spread .05 to .85" = added(function(x) rnorm(length(x), 0, 0.05 + 0.8 * x)),
  "quiet half, loud half" = added(function(x) rnorm(length(x), 0, ifelse(x < 0.5, 0.1, 0.6))),
  "Poisson" = counted(function(x) rpois(length(x), rate(x))),
  "negative binomial" = counted(function(x) rnbinom(length(x), 2, mu = rate(x))),
  "Poisson, 30 % zeros" = list(mean = function(x) 0.7 * rate(x), counts = TRUE, draw = function(x) {
    (runif(length(x)) > 0.3) * rpois(length(x), rate(x))
  })
)

# Returns log densities; of counts log probabilities of the unit intervals around them, by draws.
log_density <- function(fit, new, counts) {
  if (!counts) {
    quantiles <- predict(fit, new, type = "quantile", at = pnorm(DEVIATES))
    return(pmax(quantile_density(quantiles, new$y, DEVIATES), -20))
  }
  drawn <- as.matrix(simulate(fit, DRAWS, seed = 1, newdata = new))
  log((rowSums(abs(drawn - new$y) <= 0.5) + 0.5) / (DRAWS + 1))
}

scores <- function(fit, new, situation, seconds) {
  edges <- predict(fit, new, type = "quantile", at = c(0.05, 0.95))
  inside <- new$y >= edges[, 1L] & new$y <= edges[, 2L]
  small <- new$x < 0.5
  c(sqrt(mean((predict(fit, new) - situation$mean(new$x))^2)),
    mean(log_density(fit, new, isTRUE(situation$counts))), mean(inside[small]),
    mean(inside[!small]), seconds)
}

one <- function(name, n, seed) {
  set.seed(seed)
  situation <- SITUATIONS[[name]]
  rows <- function(n) {
    x <- runif(n)
    data.frame(x = x, y = situation$draw(x))
  }
  d <- rows(n)
  new <- rows(NEW)
  found <- lapply(list(NULL, "gaussian"), function(likelihood) {
    took <- system.time(fit <- suppressWarnings(sparsegp(y ~ x, d, likelihood = likelihood)))
    list(type = fit$likelihood$type, scores = scores(fit, new, situation, sum(took[1:2])))
  })
  list(type = found[[1L]]$type, scores = c(found[[1L]]$scores, found[[2L]]$scores))
}

for (name in names(SITUATIONS)) {
  for (n in c(100, 300)) {
    all <- lapply(seq_len(SEEDS), function(seed) one(name, n, seed))
    middle <- rowMeans(vapply(all, `[[`, numeric(10), "scores"))
    cat(name, n, vapply(all, `[[`, "", "type"), format(middle, digits = 3L), "\n")
    bench_row("Default fits compared with fits that assume Gaussian noise", noise = name, n = n,
              "taken" = toString(unique(vapply(all, `[[`, "", "type"))),
              "error" = middle[1L], "Gaussian" = middle[6L], "log density" = middle[2L],
              "Gaussian " = middle[7L], "90 % hold, x < .5" = middle[3L], "x > .5" = middle[4L],
              "Gaussian, x < .5" = middle[8L], "Gaussian, x > .5" = middle[9L],
              "CPU s" = middle[5L], "CPU s, Gaussian" = middle[10L])
  }
}
