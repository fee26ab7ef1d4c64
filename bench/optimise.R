# Bayesian optimisation by next_points(score = "improvement"): how far from the minimum is the best
# of 40 evaluations of Branin (2 inputs), Hartmann 3 and Hartmann 6? Beside DiceOptim (max_EI()) and
# GauPro (maxEI()), where they are installed. All begin with the same Latin hypercube of 10 points
# (of 6 inputs 14), have a Matern 5/2 kernel with a length scale for each input, are fitted anew
# after each evaluation, and choose one point at a time; all else is as each package has it by
# default. "sparsegp prior" has the prior on length scales and the constant that ?next_rows advises
# for few rows. The functions have no noise: DiceOptim takes none by default, GauPro finds that out,
# and sparsegp is told (a millionth of the values' variance).
#
# DiceOptim's own loop, EGO.nsteps(), begins each search of the likelihood where the last one ended.
# Of Hartmann 6 it was stuck with length scales at their lower bound, a median regret of 2.0 over
# 8 runs. So km() is called for each fit, which begins at random, and does far better.
#
# Usage: Rscript bench/optimise.R [seeds, 20 with FULL=1, else 3] [functions, as
# branin,hartmann3,hartmann6] [by, as "sparsegp,sparsegp prior,DiceOptim,GauPro"]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

SEEDS <- argument(1L, if (Sys.getenv("FULL") == "1") 20 else 3)
EVALUATIONS <- 40
words <- function(i, default) {
  if (length(commandArgs(TRUE)) < i) default else strsplit(commandArgs(TRUE)[[i]], ",")[[1L]]
}

hartmann <- function(A, P) {
  alpha <- c(1, 1.2, 3, 3.2)
  function(x) -sum(alpha * exp(-rowSums(A * sweep(P, 2L, x)^2)))
}

# On the unit cube, with their minima
FUNCTIONS <- list(
  branin = list(inputs = 2L, least = 0.3978873577, f = function(x) {
    u <- 15 * x[1L] - 5
    v <- 15 * x[2L]
    (v - 5.1 / (4 * pi^2) * u^2 + 5 / pi * u - 6)^2 + 10 * (1 - 1 / (8 * pi)) * cos(u) + 10
  }),
  hartmann3 = list(inputs = 3L, least = -3.8627797869, f = hartmann(
    cbind(c(3, 0.1, 3, 0.1), 10, c(30, 35, 30, 35)),
    1e-4 * cbind(c(3689, 4699, 1091, 381), c(1170, 4387, 8732, 5743), c(2673, 7470, 5547, 8828))
  )),
  hartmann6 = list(inputs = 6L, least = -3.3223680115, f = hartmann(
    rbind(c(10, 3, 17, 3.5, 1.7, 8), c(0.05, 10, 17, 0.1, 8, 14), c(3, 3.5, 1.7, 10, 17, 8),
          c(17, 8, 0.05, 10, 0.1, 14)),
    1e-4 * rbind(c(1312, 1696, 5569, 124, 8283, 5886), c(2329, 4135, 8307, 3736, 1004, 9991),
                 c(2348, 1451, 3522, 2883, 3047, 6650), c(4047, 8828, 8732, 5743, 1091, 381))
  ))
)

begin_at <- function(inputs, seed) {
  set.seed(seed)
  n <- if (inputs > 3L) 14L else 10L
  x <- vapply(seq_len(inputs), function(j) (sample.int(n) - runif(n)) / n, numeric(n))
  colnames(x) <- paste0("x", seq_len(inputs))
  x
}

# A loop that evaluates the point `choose` takes; it gives all values in the order of evaluation.
loop <- function(choose) {
  function(x, y, f) {
    while (length(y) < EVALUATIONS) {
      new <- choose(x, y)
      x <- rbind(x, new)
      y <- c(y, f(new))
    }
    y
  }
}

by_sparsegp <- function(kernel, prior = function(p) list()) {
  loop(function(x, y) {
    fit <- sparsegp(x, y, kernel = kernel, likelihood = lik_gaussian(fixed(1e-6 * var(y))),
                    control = gp_control(prior = prior(ncol(x))))
    box <- lapply(as.data.frame(x), function(column) c(0, 1))
    unlist(next_points(fit, box, score = "improvement"))
  })
}

OPTIMISERS <- list(
  sparsegp = by_sparsegp(kernel_matern52(ard = TRUE)),
  "sparsegp prior" = by_sparsegp(kernel_matern52(ard = TRUE) + kernel_constant(), function(p) {
    list(lengthscale = prior_lognormal(log(0.3 * sqrt(p)), 1))
  }),
  DiceOptim = loop(function(x, y) {
    model <- DiceKriging::km(design = as.data.frame(x), response = y, covtype = "matern5_2",
                             control = list(trace = FALSE))
    utils::capture.output(found <- DiceOptim::max_EI(
      model, lower = rep(0, ncol(x)), upper = rep(1, ncol(x)), control = list(print.level = 0)
    ))
    c(found$par)
  }),
  GauPro = loop(function(x, y) {
    kernel <- GauPro::Matern52$new(D = ncol(x))
    model <- suppressMessages(GauPro::gpkm(x, y, kernel = kernel, parallel = FALSE))
    c(model$maxEI(minimize = TRUE, lower = rep(0, ncol(x)), upper = rep(1, ncol(x)))$par)
  })
)
is_there <- function(name) startsWith(name, "sparsegp") || requireNamespace(name, quietly = TRUE)
INSTALLED <- Filter(is_there, intersect(words(3L, names(OPTIMISERS)), names(OPTIMISERS)))

cat("regret after", EVALUATIONS, "evaluations, median (quartiles) of", SEEDS, "runs; CPU time\n")
for (name in words(2L, names(FUNCTIONS))) {
  about <- FUNCTIONS[[name]]
  for (by in INSTALLED) {
    regret <- numeric()
    time <- system.time(for (seed in seq_len(SEEDS)) {
      x <- begin_at(about$inputs, seed)
      regret[seed] <- tryCatch({
        min(OPTIMISERS[[by]](x, apply(x, 1L, about$f), about$f)) - about$least
      }, error = function(e) {
        cat("  ", by, "failed with seed", seed, ":", conditionMessage(e), "\n")
        NA
      })
    })
    q <- quantile(regret, c(0.25, 0.5, 0.75), na.rm = TRUE)
    time <- sum(time[c(1L, 4L)], na.rm = TRUE) / SEEDS
    cat(sprintf("%-10s %-14s %9.2g (%.2g to %.2g) %7.1f s a run\n", name, by, q[2], q[1], q[3],
                time))
    bench_row(paste("Regret after", EVALUATIONS, "evaluations, of", SEEDS, "runs"),
              "function" = name, by = by, median = q[[2L]], "lower quartile" = q[[1L]],
              "upper quartile" = q[[3L]], "CPU seconds a run" = time)
  }
}
