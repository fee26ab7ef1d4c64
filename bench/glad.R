# Surface drifters of the GLAD experiment (Gulf of Mexico, 2012): positions and velocities, as
# vectors by kernel_helmholtz() and by each of its parts, against components that are independent
# given their hyperparameters. Random rows train, all others test; scores are the root mean square
# error of the velocities and the mean log density of a test row's two components, each by itself
# and both together. Then one fit of most rows on a basis.
# Usage: Rscript bench/glad.R [number of splits [training rows]]; the data folder is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

SPLITS <- argument(1, 20)
ROWS <- argument(2, 100)

drifters <- read_data("glad")

rough <- kernel_matern52()

KERNELS <- list(
  helmholtz = kernel_helmholtz(rough, rough), divfree = kernel_divfree(rough),
  curlfree = kernel_curlfree(rough), coregion = kernel_coregion(rough),
  independent = kernel_coregion(rough, rank = 0), helmholtz_rbf = kernel_helmholtz(),
  independent_rbf = kernel_coregion(rank = 0)
)

score <- function(fit, test) {
  found <- predict(fit, test, se.fit = TRUE)
  away <- as.matrix(test[c("u", "v")]) - found$fit
  noise <- diag(rep_len(sigma(fit)^2, 2L))
  joint <- vapply(seq_len(nrow(test)), function(i) {
    total <- found$covariance[, , i] + noise
    -log(2 * pi) - (log(det(total)) + sum(away[i, ] * solve(total, away[i, ]))) / 2
  }, 0)
  single <- dnorm(away, 0, sqrt(found$se.fit^2 + rep(diag(noise), each = nrow(test))), log = TRUE)
  inside <- abs(away) < qnorm(0.95) * sqrt(found$se.fit^2 + rep(diag(noise), each = nrow(test)))
  c(rms = sqrt(mean(away^2)), lpd = mean(single), joint = mean(joint), inside = mean(inside),
    evidence = fit$log_evidence)
}

measure <- function(train, test, method = NULL) {
  t(vapply(KERNELS, function(kernel) {
    took <- system.time({
      fit <- suppressWarnings(sparsegp(cbind(u, v) ~ x + y, train, kernel = kernel,
                                       method = method))
    })[["user.self"]]
    c(score(fit, test), seconds = took)
  }, numeric(6L)))
}

cat(sprintf("%d splits of %d rows, the other %d test\n", SPLITS, ROWS, nrow(drifters) - ROWS))
all <- lapply(seq_len(SPLITS), function(split) {
  set.seed(split)
  rows <- sample(nrow(drifters), ROWS)
  measure(drifters[rows, ], drifters[-rows, ])
})
bench_table(Reduce(`+`, all) / SPLITS, "Drifters of GLAD: means over splits")

better <- function(one, than, column, sign) {
  gain <- vapply(all, function(split) sign * (split[one, column] - split[than, column]), 0)
  cat(sprintf("%s against %s, %s: better by %.4f (standard error %.4f), in %d of %d\n", one, than,
              column, mean(gain), sd(gain) / sqrt(SPLITS), sum(gain > 0), SPLITS))
}
for (pair in list(c("helmholtz", "independent"), c("helmholtz", "divfree"),
                  c("helmholtz_rbf", "independent_rbf"))) {
  better(pair[1L], pair[2L], "rms", -1)
  better(pair[1L], pair[2L], "lpd", 1)
}

set.seed(1)
rows <- sample(nrow(drifters), nrow(drifters) - 100L)
cat(sprintf("\n%d rows on a basis of 200, the other 100 test\n", length(rows)))
bench_table(measure(drifters[rows, ], drifters[-rows, ], method_ep(200)),
            "Most rows, on a basis of 200")
