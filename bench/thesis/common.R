# What the scripts in this folder share. Each of them repeats an experiment of Csató's thesis
# (2002) and prints the thesis's numbers beside those of the package. The thesis's rbf kernel is
# exp(-|x - x'|^2 / (2 p sigma_K^2)) of p inputs (5.2): lengthscale^2 = p sigma_K^2.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "..", "common.R"))
})

thesis_rbf <- function(sigma2, p, variance = 1) {
  kernel_rbf(variance = variance, lengthscale = sqrt(p * sigma2))
}

# Friedman #1 (thesis 5.5): ten inputs, of which five matter.
friedman <- function(n, noise = 1) {
  x <- matrix(runif(10 * n), n, dimnames = list(NULL, paste0("x", 1:10)))
  clean <- 10 * sin(pi * x[, 1] * x[, 2]) + 20 * (x[, 3] - 0.5)^2 + 10 * x[, 4] + 5 * x[, 5]
  list(x = x, clean = clean, y = clean + rnorm(n, sd = sqrt(noise)))
}

# run(i) under set.seed(i) for i = 1 .. times: a row per repetition.
repeated <- function(times, run) {
  rows <- lapply(seq_len(times), function(i) {
    set.seed(i)
    run(i)
  })
  do.call(rbind, rows)
}

# Mean, standard deviation over repetitions and standard error of the mean, of each column.
summarised <- function(values) {
  values <- as.matrix(values)
  sd <- apply(values, 2L, stats::sd)
  data.frame(mean = colMeans(values), sd = sd, se = sd / sqrt(nrow(values)),
             max = apply(values, 2L, max))
}

# Test errors of a binary fit, and the mean log probability of the right class.
classified <- function(fit, x, y) {
  prob <- predict(fit, x, type = "prob")
  right <- prob[cbind(seq_along(y), match(as.character(y), colnames(prob)))]
  c(wrong = sum(right < 0.5), log_lik = mean(log(right)))
}

# The thesis's sweeps never stop by themselves, and the package says so.
sweeps_of <- function(...) {
  withCallingHandlers(sparsegp(...), sparsegp_warning = function(w) {
    if (grepl("did not converge", conditionMessage(w))) invokeRestart("muffleWarning")
  })
}

show_table <- function(title, table) bench_table(table, title, 3L)
