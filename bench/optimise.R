# Bayesian optimisation by next_points(score = "improvement"): how far from the minimum is the best
# of 40 evaluations of Branin (2 inputs), Hartmann 3 and Hartmann 6? Beside DiceOptim (EGO.nsteps())
# and GauPro (maxEI()), where they are installed. All begin with the same Latin hypercube of 10
# points (of 6 inputs 14), have a Matern 5/2 kernel with a length scale for each input, and choose
# one point at a time; all else is as each package has it by default. The functions have no noise:
# DiceOptim takes none by default, GauPro finds that out, and sparsegp is told (a millionth of the
# values' variance).
#
# Usage: Rscript bench/optimise.R [seeds, 20 with FULL=1, else 3] [functions, as
# branin,hartmann3,hartmann6] [peers, as DiceOptim,GauPro; none: no peers]
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

# Each takes the first points and values, and gives all values in the order of evaluation.
OPTIMISERS <- list(
  sparsegp = function(x, y, f) {
    box <- lapply(as.data.frame(x), function(column) c(0, 1))
    while (length(y) < EVALUATIONS) {
      fit <- sparsegp(x, y, kernel = kernel_matern52(ard = TRUE),
                      likelihood = lik_gaussian(fixed(1e-6 * var(y))))
      new <- unlist(next_points(fit, box, score = "improvement"))
      x <- rbind(x, new)
      y <- c(y, f(new))
    }
    y
  },
  DiceOptim = function(x, y, f) {
    model <- DiceKriging::km(design = as.data.frame(x), response = y, covtype = "matern5_2",
                             control = list(trace = FALSE))
    p <- ncol(x)
    utils::capture.output(found <- DiceOptim::EGO.nsteps(
      model, f, EVALUATIONS - length(y), rep(0, p), rep(1, p), control = list(print.level = 0)
    ))
    c(y, found$value)
  },
  GauPro = function(x, y, f) {
    while (length(y) < EVALUATIONS) {
      kernel <- GauPro::Matern52$new(D = ncol(x))
      model <- suppressMessages(GauPro::gpkm(x, y, kernel = kernel, parallel = FALSE))
      new <- model$maxEI(minimize = TRUE, lower = rep(0, ncol(x)), upper = rep(1, ncol(x)))$par
      x <- rbind(x, c(new))
      y <- c(y, f(c(new)))
    }
    y
  }
)
INSTALLED <- Filter(function(name) name == "sparsegp" || requireNamespace(name, quietly = TRUE),
                    c("sparsegp", words(3L, c("DiceOptim", "GauPro"))))
INSTALLED <- intersect(INSTALLED, names(OPTIMISERS))

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
    cat(sprintf("%-10s %-10s %9.2g (%.2g to %.2g) %7.1f s a run\n", name, by, q[2], q[1], q[3],
                time))
    bench_row(paste("Regret after", EVALUATIONS, "evaluations, of", SEEDS, "runs"),
              "function" = name, by = by, median = q[[2L]], "lower quartile" = q[[1L]],
              "upper quartile" = q[[3L]], "CPU seconds a run" = time)
  }
}
