# Questions by what they tell elsewhere, next_points(score = "integrated"): the root mean squared
# error over the unit cube after 40 evaluations of four functions, beside next_points(score =
# "variance"), a Latin hypercube of all 40, the ALC of laGP and the IMSPE of hetGP, where they are
# installed. Labels needed by these questions are counted by bench/active.R.
#
# All begin with the same Latin hypercube of 10 points, are fitted anew after each
# evaluation and choose one point at a time. laGP chooses among 200 random candidates by reference
# points of as many, as its alcGPsep() has it, and has a Gaussian kernel; the others have a Matern
# 5/2 kernel, and all a length scale for each input. Errors of all designs are those of the same
# model: sparsegp's default fit of the points that were chosen, with the kernel, at 1000 points.
# Values have noise of a hundredth of their standard deviation. The regret is how much larger the
# function is where the design's model has its least mean, among the 1000 points, than its minimum
# there.
#
# Usage: Rscript bench/integrated.R [seeds, 20 with FULL=1, else 2] [functions] [by]
#   [evaluations, 40]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

SEEDS <- argument(1L, if (Sys.getenv("FULL") == "1") 20 else 2)
words <- function(i, default) {
  if (length(commandArgs(TRUE)) < i) default else strsplit(commandArgs(TRUE)[[i]], ",")[[1L]]
}
EVALUATIONS <- as.integer(words(4L, "40"))

FUNCTIONS <- list(
  branin = list(inputs = 2L, f = function(x) {
    u <- 15 * x[1L] - 5
    v <- 15 * x[2L]
    (v - 5.1 / (4 * pi^2) * u^2 + 5 / pi * u - 6)^2 + 10 * (1 - 1 / (8 * pi)) * cos(u) + 10
  }),
  corner = list(inputs = 2L, f = function(x) { # Gramacy and Lee: all that happens is in a corner
    u <- 8 * x - 2
    u[1L] * exp(-sum(u^2))
  }),
  waves = list(inputs = 1L, f = function(x) sin(20 * x^2) + x),
  friedman = list(inputs = 5L, f = function(x) {
    10 * sin(pi * x[1L] * x[2L]) + 20 * (x[3L] - 0.5)^2 + 10 * x[4L] + 5 * x[5L]
  })
)

hypercube <- function(inputs, n) {
  x <- vapply(seq_len(inputs), function(j) (sample.int(n) - runif(n)) / n, numeric(n))
  colnames(x) <- paste0("x", seq_len(inputs))
  x
}

fitted_to <- function(x, y) sparsegp(x, y, kernel = kernel_matern52(ard = TRUE))

by_score <- function(score) function(x, y) {
  box <- lapply(as.data.frame(x), function(column) c(0, 1))
  unlist(next_points(fitted_to(x, y), box, score = score, n = 200))
}

# What chooses the next point
CHOICES <- list(
  integrated = by_score("integrated"),
  variance = by_score("variance"),
  hypercube = NULL,
  laGP = function(x, y) {
    fit <- laGP::newGPsep(x, (y - mean(y)) / sd(y), d = 0.1, g = 1e-4, dK = TRUE)
    on.exit(laGP::deleteGPsep(fit))
    laGP::mleGPsep(fit, param = "d", tmin = 1e-3, tmax = 10)
    candidates <- hypercube(ncol(x), 200L)
    candidates[which.max(laGP::alcGPsep(fit, candidates, hypercube(ncol(x), 200L))), ]
  },
  hetGP = function(x, y) {
    fit <- hetGP::mleHomGP(x, (y - mean(y)) / sd(y), covtype = "Matern5_2")
    c(hetGP::IMSPE_optim(fit, h = 0, control = list(multi.start = 5L))$par)
  }
)
PACKAGES <- intersect(c("laGP", "hetGP"), rownames(utils::installed.packages()))

run <- function(about, by, seed) {
  set.seed(seed)
  p <- about$inputs
  sd <- stats::sd(apply(hypercube(p, 1000L), 1L, about$f))
  measure <- function(x) about$f(x) + sd / 100 * stats::rnorm(1L)
  x <- hypercube(p, 10L)
  new <- hypercube(p, 1000L)
  if (is.null(CHOICES[[by]])) x <- hypercube(p, EVALUATIONS)
  y <- apply(x, 1L, measure)
  while (length(y) < EVALUATIONS) {
    point <- CHOICES[[by]](x, y)
    x <- rbind(x, point, deparse.level = 0)
    y <- c(y, measure(point))
  }
  mean <- unname(predict(fitted_to(x, y), new))
  true <- apply(new, 1L, about$f)
  c(error = sqrt(mean((mean - true)^2)), regret = true[which.min(mean)] - min(true)) / sd
}

cat("root mean squared error and regret after", EVALUATIONS,
    "evaluations, in standard deviations\n")
for (name in words(2L, names(FUNCTIONS))) {
  for (by in setdiff(words(3L, names(CHOICES)), setdiff(c("laGP", "hetGP"), PACKAGES))) {
    time <- system.time(
      found <- vapply(seq_len(SEEDS), function(seed) run(FUNCTIONS[[name]], by, seed),
                      c(error = 0, regret = 0))
    )
    time <- sum(time[c(1L, 4L)], na.rm = TRUE) / SEEDS
    error <- found["error", ]
    regret <- median(found["regret", ])
    cat(sprintf("%-10s %-12s %9.3g (%.3g to %.3g) regret %.3g %7.1f s a run\n", name, by,
                median(error), min(error), max(error), regret, time))
    bench_row(paste("Error and regret after", EVALUATIONS, "evaluations, of", SEEDS, "runs"),
              "function" = name, by = by, "median error" = median(error), least = min(error),
              most = max(error), "median regret" = regret, "CPU seconds a run" = time)
  }
}
