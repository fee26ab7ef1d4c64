# Test error and mean test log likelihood of default settings on small two-class sets, beside other
# kernels and the hyperpriors of the IVM paper (6.1), and the sonar data at the thesis's fixed
# parameters (5.2: noise nearly 0, lengthscale^2 = 60 sigma_K^2).
# Usage: Rscript bench/accuracy.R; the data folder is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

set <- function(d, inputs, class, train) {
  list(x = as.matrix(d[inputs]), y = factor(d[[class]]), train = train)
}
crabs <- read_data("crabs")
sonar <- read_data("sonar")
pima <- read_data("pima")
synth <- read_data("synth")
sets <- list(
  crabs = set(crabs, 4:8, "sex", crabs$index %% 5 %in% c(1, 3)),
  sonar = set(sonar, 2:61, "class", sonar$set == "train"),
  pima = set(pima, 1:7, "type", pima$set == "train"),
  synth = set(synth, 1:2, "yc", synth$set == "train")
)

score <- function(d, ...) {
  fit <- suppressWarnings(sparsegp(d$x[d$train, ], d$y[d$train], ...))
  prob <- predict(fit, d$x[!d$train, ], type = "prob")
  truth <- as.integer(d$y[!d$train])
  c(wrong = sum(max.col(prob, "first") != truth), rows = length(truth),
    log_lik = mean(log(prob[cbind(seq_along(truth), truth)])))
}

report <- function(what, scores) {
  text <- vapply(scores, function(s) {
    sprintf("%3d of %4d (%4.1f %%) %6.3f", as.integer(s[["wrong"]]), as.integer(s[["rows"]]),
            100 * s[["wrong"]] / s[["rows"]], s[["log_lik"]])
  }, "")
  cat(sprintf("%-22s", what), paste(names(scores), text, collapse = " | "), "\n")
}

report("default", lapply(sets, score))
of_paper <- gp_control(prior = list(variance = prior_lognormal(-1, 1)))
report("IVM paper's variance", lapply(sets, score, control = of_paper))
report("rbf, ARD", lapply(sets, score, kernel = kernel_rbf(ard = TRUE)))
report("Matern 5/2", lapply(sets, score, kernel = kernel_matern52()))
report("Matern 3/2", lapply(sets, score, kernel = kernel_matern32()))
report("rbf + linear", lapply(sets, score, kernel = kernel_rbf() + kernel_linear()))
# a step likelihood with noise 1e-4 is the probit one (noise 1) and a kernel 1e4 times as large
for (sigma2 in c(0.25^2, 0.25)) {
  report(paste("thesis, sigma_K^2 =", sigma2),
         list(sonar = score(sets$sonar, kernel = kernel_rbf(1e4, sqrt(60 * sigma2)),
                            likelihood = lik_probit(fixed(0)), learn = FALSE)))
}
