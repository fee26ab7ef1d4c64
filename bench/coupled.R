# Classes that are coupled in the posterior against classes that are independent in it, at the same
# hyperparameters, and the truth: log evidence by annealed importance sampling, posterior of the
# latent functions and probabilities of new rows by elliptical slice sampling (ess.R). Every fifth
# row is a new one. Besides, what the two kinds of fits learn, how they predict, and what they cost.
# Usage: Rscript bench/coupled.R [data set ...]. Writes tables in Markdown to standard output.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
  source(file.path(dirname(self), "ess.R"))
})
CHAINS <- 60 # side by side
TEMPERATURES <- 100
STEPS <- 200 # of each chain, of which a sixth is left out
SHARE <- 0.8 # of the coupled fit's sites in what is sampled from first

overlapping <- function() {
  set.seed(7)
  n <- 100
  d <- data.frame(a = runif(n, -2, 2), b = runif(n, -2, 2))
  f <- cbind(2 * sin(d$a + d$b), 2 * cos(d$a), 1.5 * d$b)
  d$y <- factor(max.col(f + matrix(rnorm(3 * n), n)))
  d
}

some <- function(d, y, by, inputs = setdiff(names(d), y)) {
  d <- d[seq(1, nrow(d), by), c(y, inputs)]
  names(d)[1L] <- "y"
  d$y <- factor(d$y)
  d
}

crabs <- function() {
  d <- transform(MASS::crabs, kind = interaction(sp, sex))
  some(d, "kind", 2, c("FL", "RW", "CL", "BD"))
}

SETS <- list(
  "iris" = list(data = some(iris, "Species", 2, c("Sepal.Length", "Sepal.Width"))),
  "crabs" = list(data = crabs()),
  "Cushings" = list(data = transform(some(MASS::Cushings, "Type", 1),
                                     Tetrahydrocortisone = log(Tetrahydrocortisone),
                                     Pregnanetriol = log(Pregnanetriol))),
  "fgl" = list(data = some(MASS::fgl, "type", 2)),
  "overlapping" = list(data = overlapping())
)

# ---- log p(y | f) of stacked latent values: rows x chains ----

HERMITE <- local({
  off <- sqrt(seq_len(19L))
  jacobi <- matrix(0, 20L, 20L)
  jacobi[cbind(1:19, 2:20)] <- jacobi[cbind(2:20, 1:19)] <- off
  rule <- eigen(jacobi, symmetric = TRUE)
  list(nodes = rule$values, weights = rule$vectors[1L, ]^2)
})

log_class <- list(
  softmax = function(f, own) {
    top <- do.call(pmax, f)
    f[[own]] - top - log(Reduce(`+`, lapply(f, function(one) exp(one - top))))
  },
  mprobit = function(f, own) {
    parts <- Map(function(at, weight) {
      weight * Reduce(`*`, lapply(f[-own], function(other) pnorm(f[[own]] + at - other)))
    }, HERMITE$nodes, HERMITE$weights)
    log(Reduce(`+`, parts))
  }
)

by_class <- function(f, bias) {
  C <- length(bias)
  lapply(seq_len(C), function(c) f[seq(c, nrow(f), C), , drop = FALSE] + bias[c])
}

samplers <- function(fit, type) {
  bias <- sparsegp:::lik_theta(fit)
  y <- as.integer(fit$y)
  list(logs = function(f) {
    each <- by_class(f[[1L]], bias)
    total <- 0
    for (class in seq_along(bias)) {
      at <- y == class
      if (!any(at)) next
      own <- lapply(each, function(one) one[at, , drop = FALSE])
      total <- total + colSums(log_class[[type]](own, class))
    }
    total
  }, prob = function(f) {
    each <- by_class(f[[1L]], bias)
    do.call(rbind, lapply(seq_along(bias), function(c) exp(log_class[[type]](each, c))))
  })
}

site_matrix <- function(tau, w) {
  n <- length(tau) / w^2
  out <- matrix(0, n * w, n * w)
  for (i in seq_len(n)) {
    at <- (i - 1L) * w + seq_len(w)
    out[at, at] <- tau[(i - 1L) * w^2 + seq_len(w^2)]
  }
  out
}

model_of <- function(fit, new) {
  rows <- sparsegp:::training_inputs(fit)
  x <- rbind(rows, sparsegp:::rows_asked(fit, new)$x)
  list(K = sparsegp:::kernel_matrix(fit$spec, sparsegp:::kernel_theta(fit), x, x), n = nrow(rows),
       precisions = list(site_matrix(fit$sites$tau, sparsegp:::n_outputs(fit))),
       shifts = list(fit$sites$nu))
}

# ---- The comparison ----

seconds <- function(fit) {
  time <- system.time(value <- suppressWarnings(fit))
  list(value = value, seconds = time[["user.self"]] + time[["sys.self"]])
}

# A fit at hyperparameters that another one has learned.
at_same <- function(fit, train, type, coupled) {
  value <- sparsegp:::hyper_value(fit$hyper)
  base <- fit$hyper$base
  lik <- get(paste0("lik_", type))(unname(value[base == "bias"]), coupled = coupled)
  suppressWarnings(sparsegp(y ~ ., train, lik, learn = FALSE, method = method_ep(tol = 1e-6),
                            kernel = kernel_rbf(variance = value[base == "variance"],
                                                lengthscale = value[base == "lengthscale"])))
}

errors_of <- function(fit, new, truth) {
  link <- predict(fit, new, type = "latent", se.fit = TRUE)
  width <- c(t(link$se.fit))
  prob <- c(predict(fit, new))
  list(evidence = fit$log_evidence - truth$evidence,
       mean = sqrt(mean(((c(t(link$fit)) - truth$mean) / truth$sd)^2)),
       width = mean(log(width / truth$sd)), prob = max(abs(prob - truth$prob)),
       typical = sqrt(mean((prob - truth$prob)^2)))
}

truth_of <- function(fit, new, type) {
  set.seed(1)
  model <- model_of(fit, new)
  known <- samplers(fit, type)
  start <- gaussian_of_sites(model, SHARE)
  annealed <- annealed_sampling(start, known$logs, CHAINS, TEMPERATURES)
  chains <- slice_chains(annealed, start, known, STEPS)
  mean <- rowMeans(chains$mean)
  error <- function(values) apply(values, 1L, sd) / sqrt(ncol(values))
  list(evidence = annealed$log_evidence, error = annealed$error, mean = mean,
       sd = sqrt(rowMeans(chains$square) - mean^2), prob = rowMeans(chains$prob),
       prob_error = sqrt(mean(error(chains$prob)^2)))
}

CAPTION <- paste(
  "EP minus the truth, at the same hyperparameters: log evidence in nats (Monte Carlo standard",
  "error in brackets); at new rows, the error of the latent means in standard deviations (root",
  "mean square), the excess width of the standard deviations (mean logarithm of the ratio), and",
  "the error of probabilities: the largest, the root mean square, and the latter's Monte Carlo",
  "error"
)

compare_set <- function(name, type) {
  d <- SETS[[name]]$data
  out <- seq_len(nrow(d)) %% 5 == 0
  train <- d[!out, ]
  new <- d[out, ]
  lik <- get(paste0("lik_", type))
  learned <- suppressWarnings(sparsegp(y ~ ., train, lik(coupled = FALSE), kernel = kernel_rbf()))
  fits <- lapply(c(FALSE, TRUE), function(coupled) at_same(learned, train, type, coupled))
  truth <- truth_of(fits[[2L]], new, type)
  for (k in 1:2) {
    e <- errors_of(fits[[k]], new, truth)
    bench_row(CAPTION, likelihood = type, data = name, rows = nrow(train), classes = nlevels(d$y),
              coupled = c("no", "yes")[k],
              "log evidence" = sprintf("%.2f (%.2f)", e$evidence, truth$error),
              mean = sprintf("%.3f", e$mean), width = sprintf("%.3f", e$width),
              "probability, largest" = sprintf("%.4f", e$prob),
              "root mean square" = sprintf("%.4f", e$typical),
              "its error" = sprintf("%.4f", truth$prob_error))
  }
}

asked <- commandArgs(TRUE)
for (type in c("mprobit", "softmax")) {
  for (name in if (length(asked)) asked else names(SETS)) compare_set(name, type)
}
