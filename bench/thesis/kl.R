# Thesis fig. 3.2: how the two KL divergences between the process before and after a row (3.16) go
# together as online learning proceeds. Friedman #1, 150 rows, every row may join the basis; rbf
# kernel of sigma_K^2 = 2, noise variance 0.02 in the likelihood, inputs in [0, 1] and responses as
# they are; other scalings beside that.
# Usage: Rscript bench/thesis/kl.R [repetitions]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

REPEATS <- argument(1, 50)
AT <- c(1, 10, 50, 100, 150)

# Both divergences of every row.
divergences <- function(scale_x, scale_y) {
  d <- friedman(150)
  fit <- sparsegp(d$x, if (scale_y) drop(scale(d$y)) else d$y, kernel = thesis_rbf(2, 10),
                  likelihood = lik_gaussian(0.02), scale = scale_x, learn = FALSE,
                  method = method_online(size = 150, pilot = 150))
  as.matrix(fit$convergence$trace[c("kl_new_old", "kl_old_new")])
}

# Means over repetitions at the rows AT, averaged with their neighbours within 5 rows but for the
# first two.
averages <- function(scale_x, scale_y) {
  runs <- lapply(seq_len(REPEATS), function(i) {
    set.seed(i)
    divergences(scale_x, scale_y)
  })
  mean_run <- Reduce(`+`, runs) / REPEATS
  near <- lapply(AT, function(t) if (t <= 10) t else seq(t - 5, min(150, t + 5)))
  table <- t(vapply(near, function(rows) colMeans(mean_run[rows, , drop = FALSE]), c(0, 0)))
  data.frame(row = AT, table, ratio = table[, 2] / table[, 1])
}

cat("Thesis: different at first, then ever closer. Ours meet where the ratio comes near 1.\n")
show_table("KL(new || old) and KL(old || new)", averages(FALSE, FALSE))
show_table("Responses standardised", averages(FALSE, TRUE))
show_table("Inputs and responses standardised", averages(TRUE, TRUE))
