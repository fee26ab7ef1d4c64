# Regression with Gaussian noise on pumadyn-32nm by the protocol of the IVM paper's section 6.3:
# inputs and response standardised and a linear fit subtracted, all by the training rows, then one
# length scale per input, learned by default settings on a basis of 200 random training rows (FITC).
# Test rows are by the file's column `fold`. Scores are of linear fit plus GP, in units of the
# standardised response; only x4, x5, x15 and x16 matter. A second table has the paper's own method,
# method_ivm(refine = "none") learned by its criterion in 15 rounds of 8 steps, beside its figures.
# Usage: Rscript bench/pumadyn.R [folds] [folds of each size by the paper's method]; the data folder
# is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

FOLDS <- argument(1, 10)
PAPER_FOLDS <- argument(2, 10)
BASIS <- 200
RELEVANT <- c("x4", "x5", "x15", "x16")

puma <- read_data("pumadyn32nm")
inputs <- paste0("x", 1:32)

prepare <- function(test) {
  columns <- puma[c(inputs, "y")]
  train <- scale(columns[!test, ])
  test <- scale(columns[test, ], attr(train, "scaled:center"), attr(train, "scaled:scale"))
  linear <- lm(y ~ ., as.data.frame(train))
  list(x = train[, inputs], residual = residuals(linear), test_x = test[, inputs],
       test_y = test[, "y"], test_linear = predict(linear, as.data.frame(test)))
}

measure <- function(k) {
  d <- prepare(puma$fold == k)
  set.seed(k)
  basis <- sample(nrow(d$x), BASIS)
  took <- system.time(
    fit <- suppressWarnings(sparsegp(d$x, d$residual, kernel = kernel_rbf(ard = TRUE),
                                     basis = basis))
  )[["elapsed"]]
  scores <- score(fit, d)
  lengths <- coef(fit)[paste0("lengthscale.", inputs)]
  shortest <- inputs[order(lengths)[1:4]]
  cat(sprintf("%4d %7.4f %8.3f %9.1f %6d %6.1f  %s\n", k, scores[["mse"]], scores[["lpd"]],
              fit$log_evidence, fit$learning$evaluations, took,
              paste0(shortest, " ", signif(sort(lengths)[1:4], 2), collapse = ", ")))
  c(scores, seconds = took, found = setequal(shortest, RELEVANT))
}

score <- function(fit, d) {
  latent <- predict(fit, d$test_x, type = "latent", se.fit = TRUE)
  error <- d$test_y - d$test_linear - latent$fit
  sd <- sqrt(latent$se.fit^2 + coef(fit)[["noise"]])
  c(mse = mean(error^2), lpd = mean(dnorm(error, 0, sd, log = TRUE)))
}

cat("fold     MSE log dens.  evidence evals      s  shortest length scales\n")
results <- vapply(seq_len(FOLDS), measure, numeric(4L))
cat(sprintf("mean %7.4f %8.3f; standard deviations %.4f, %.3f; %.1f s a fold\n",
            mean(results["mse", ]), mean(results["lpd", ]), sd(results["mse", ]),
            sd(results["lpd", ]), mean(results["seconds", ])))
bench_row("pumadyn-32nm, means over folds; the paper's IVM with 200 points 0.0544, 0.034",
          folds = FOLDS, MSE = mean(results["mse", ]), "log density" = mean(results["lpd", ]),
          "seconds a fold" = mean(results["seconds", ]), "inputs found" = sum(results["found", ]))
cat("found", toString(RELEVANT), "in", sum(results["found", ]), "of", FOLDS, "folds\n")

# ---- The paper's own method ----

PAPER <- data.frame(points = c(200, 300, 500), MSE = c(0.0544, 0.0478, 0.0464),
                    "log density" = c(0.0338, 0.0991, 0.1067), check.names = FALSE)

measure_paper <- function(k, size) {
  d <- prepare(puma$fold == k)
  took <- system.time(
    fit <- suppressWarnings(sparsegp(d$x, d$residual, kernel = kernel_rbf(ard = TRUE),
                                     likelihood = lik_gaussian(transform = "identity"),
                                     mean = "zero",
                                     method = method_ivm(size, refine = "none"),
                                     learn = learn_control("ivm", inner = 8, outer = 15)))
  )
  shortest <- inputs[order(coef(fit)[paste0("lengthscale.", inputs)])[1:4]]
  c(score(fit, d), seconds = sum(took[1:2]), found = setequal(shortest, RELEVANT))
}

for (size in if (PAPER_FOLDS) PAPER$points) {
  found <- vapply(seq_len(PAPER_FOLDS), measure_paper, numeric(4L), size = size)
  at <- PAPER$points == size
  cat(sprintf("IVM %d: %7.4f %8.3f\n", size, mean(found["mse", ]), mean(found["lpd", ])))
  bench_row("The paper's own method, means over folds", points = size, folds = PAPER_FOLDS,
            MSE = mean(found["mse", ]), "sd of MSE" = sd(found["mse", ]),
            "MSE, paper" = PAPER$MSE[at], "log density" = mean(found["lpd", ]),
            "log density, paper" = PAPER[["log density"]][at],
            "CPU seconds a fold" = mean(found["seconds", ]), "inputs found" = sum(found["found", ]))
}
