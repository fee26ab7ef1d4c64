# Expectation propagation against the truth: log evidence by annealed importance sampling, posterior
# of the latent function and probabilities of new rows by elliptical slice sampling (ess.R), for a
# fit of every likelihood to real data, at the hyperparameters that it has learned. Every fifth row
# is a new one. Likelihoods are written down here anew, in plain R, in the units of the fit.
# Usage: Rscript bench/truth.R [likelihood] [FULL]: FULL for chains ten times as long. The data
# folder is SPARSEGP_DATA. Writes a table in Markdown to standard output.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
  source(file.path(dirname(self), "ess.R"))
})
FULL <- "FULL" %in% commandArgs(TRUE)
CHAINS <- if (FULL) 250 else 100 # side by side
TEMPERATURES <- if (FULL) 400 else 100
STEPS <- if (FULL) 600 else 300 # of each chain, of which a sixth is left out
SHARE <- 0.8 # of the fit's sites in what is sampled from first

# ---- log p(y | f): rows x chains; y: the data rows, v: hyperparameters ----

log_sigmoid <- function(z) plogis(z, log.p = TRUE)

log_add <- function(a, b) pmax(a, b) + log1p(exp(-abs(a - b)))

log_softmax <- function(f, own) {
  top <- do.call(pmax, f)
  f[[own]] - top - log(Reduce(`+`, lapply(f, function(one) exp(one - top))))
}

# By Gauss-Hermite quadrature over the own value, good to some 1e-5 for latent values that are a few
# apart.
log_mprobit <- function(f, own) {
  parts <- Map(function(at, weight) {
    weight * Reduce(`*`, lapply(f[-own], function(other) pnorm(f[[own]] + at - other)))
  }, MPROBIT$nodes, MPROBIT$weights)
  log(Reduce(`+`, parts))
}

gauss_hermite <- function(count) {
  off <- sqrt(seq_len(count - 1L))
  jacobi <- matrix(0, count, count)
  jacobi[cbind(1:(count - 1L), 2:count)] <- jacobi[cbind(2:count, 1:(count - 1L))] <- off
  rule <- eigen(jacobi, symmetric = TRUE)
  list(nodes = rule$values, weights = rule$vectors[1L, ]^2)
}

MPROBIT <- gauss_hermite(24L)

# log_class(f, class): log probability of a class, from latent functions of all at some rows
of_own_class <- function(y, f, log_class) {
  out <- f[[1L]]
  for (class in seq_along(f)) {
    at <- y == class
    out[at, ] <- log_class(lapply(f, function(one) one[at, , drop = FALSE]), class)
  }
  out
}

# Counts of a Poisson distribution, or where there is a `size` of a negative binomial one
part_logs <- function(y, f, v) {
  if (is.null(v$size)) return(dpois(y[1L, ], exp(f + v$bias), log = TRUE))
  dnbinom(y[1L, ], v$size, mu = exp(f + v$bias), log = TRUE)
}

is_none <- function(y, f) matrix(y[1L, ] == 0, NROW(f), NCOL(f))

with_excess <- function(y, f, v, logs) {
  ifelse(is_none(y, f), log_add(log(v$zero), log1p(-v$zero) + logs), log1p(-v$zero) + logs)
}

with_hurdle <- function(y, f, v) {
  positive <- log1p(-exp(part_logs(0 * y, f, v)))
  ifelse(is_none(y, f), log(v$zero), log1p(-v$zero) + part_logs(y, f, v) - positive)
}

# Times to an event, of which those of kind 0 are censored. event, after: log densities and log
# survival probabilities of the error
times <- function(event, after) {
  list(logs = function(y, f, v) {
    z <- (y[1L, ] - f) / v[["scale"]]
    ifelse(matrix(y[3L, ] == 1, NROW(f), NCOL(f)), event(z) - log(v[["scale"]]), after(z))
  })
}

several_labels <- function(log_class) {
  list(logs = function(y, f, v) of_own_class(c(y), Map(`+`, f, v), log_class),
       prob = function(f, v) exp(log_class(Map(`+`, f, v), 1L)))
}

# Probabilities of the two classes either side of a null category
log_sides <- function(f, v) {
  m <- f + v[["bias"]]
  lapply(c(-1, 1), function(side) pnorm(side * m - v[["width"]] / 2, log.p = TRUE))
}

nullcat_logs <- function(y, f, v) {
  sides <- log_sides(f, v)
  missing <- unlist(v[c("missing1", "missing2")])
  out <- log_add(sides[[1L]] + log(missing[1L]), sides[[2L]] + log(missing[2L]))
  for (k in 1:2) {
    own <- c(y) == 2 * k - 3
    out[own, ] <- sides[[k]][own, ] + log(1 - missing[k])
  }
  out
}

log_ordinal <- function(y, f, cuts) {
  ends <- c(-Inf, cuts, Inf)
  log(pnorm(ends[c(y) + 1] - f) - pnorm(ends[c(y)] - f))
}

# list(logs (y, f, v), prob (f, v): probabilities of labels, or NULL) each; f: a matrix, or of
# several latent functions a list of them
two_labels <- function(log_p) {
  list(logs = function(y, f, v) log_p(c(y) * (f + v[["bias"]]), v),
       prob = function(f, v) exp(log_p(f + v[["bias"]], v)))
}

MODELS <- list(
  gaussian = list(logs = function(y, f, v) {
    dnorm(y[1L, ], f, sqrt(v[["noise"]] / y[2L, ]), log = TRUE)
  }),
  probit = two_labels(function(z, v) pnorm(z, log.p = TRUE)),
  logit = two_labels(function(z, v) log_sigmoid(z)),
  flip = two_labels(function(z, v) log(v[["flip"]] + (1 - 2 * v[["flip"]]) * pnorm(z))),
  step = list(
    logs = function(y, f, v) log(ifelse(c(y) * f > 0, 1 - v[["noise"]], v[["noise"]])),
    prob = function(f, v) ifelse(f > 0, 1 - v[["noise"]], v[["noise"]])
  ),
  margin = list(
    logs = function(y, f, v) pnorm(c(y) * (f + v[["bias"]]) - v[["width"]] / 2, log.p = TRUE),
    prob = function(f, v) {
      sides <- log_sides(f, v)
      plogis(sides[[2L]] - sides[[1L]])
    }
  ),
  nullcat = list(logs = nullcat_logs, prob = function(f, v) {
    sides <- log_sides(f, v)
    plogis(sides[[2L]] - sides[[1L]])
  }),
  mprobit = several_labels(log_mprobit),
  softmax = several_labels(log_softmax),
  ordinal = list(logs = function(y, f, v) log_ordinal(y, f, cumsum(v)),
                 prob = function(f, v) pnorm(v[[1L]] - f)),
  poisson = list(logs = function(y, f, v) dpois(y[1L, ], exp(f + v[["bias"]]), log = TRUE)),
  negbin = list(logs = function(y, f, v) {
    dnbinom(y[1L, ], v[["size"]], mu = exp(f + v[["bias"]]), log = TRUE)
  }),
  zip = list(logs = function(y, f, v) with_excess(y, f, v, part_logs(y, f, v))),
  zinb = list(logs = function(y, f, v) with_excess(y, f, v, part_logs(y, f, v))),
  hurdle_poisson = list(logs = function(y, f, v) with_hurdle(y, f, v)),
  hurdle_negbin = list(logs = function(y, f, v) with_hurdle(y, f, v)),
  gamma = list(logs = function(y, f, v) {
    dgamma(y[1L, ], v[["gamma_shape"]], v[["gamma_shape"]] / exp(f + v[["bias"]]), log = TRUE)
  }),
  beta = list(logs = function(y, f, v) {
    dbeta(y[1L, ], v[["precision"]] * plogis(f + v[["bias"]]),
          v[["precision"]] * plogis(-f - v[["bias"]]), log = TRUE)
  }),
  weibull = times(function(z) z - exp(z), function(z) -exp(z)),
  loglogistic = times(function(z) dlogis(z, log = TRUE), function(z) plogis(-z, log.p = TRUE)),
  lognormal = times(function(z) dnorm(z, log = TRUE), function(z) pnorm(-z, log.p = TRUE)),
  binomial = list(
    logs = function(y, f, v) dbinom(y[1L, ], y[2L, ], plogis(f + v[["bias"]]), log = TRUE),
    prob = function(f, v) plogis(f + v[["bias"]])
  ),
  student = list(logs = function(y, f, v) {
    dt((c(y) - f) / v[["scale"]], v[["df"]], log = TRUE) - log(v[["scale"]])
  }),
  laplace = list(logs = function(y, f, v) {
    -abs(c(y) - f) / v[["scale"]] - log(2 * v[["scale"]])
  }),
  heteroscedastic = list(logs = function(y, f, v) {
    odd <- seq(1L, nrow(f), 2L)
    dnorm(c(y), f[odd, ], sqrt(v[["noise"]]) * exp(f[odd + 1L, ]), log = TRUE)
  }),
  density = list(logs = function(y, f, v) 2 * log(abs(f)))
)

# ---- Data ----

pima <- function(rows) {
  d <- MASS::Pima.tr
  names(d)[names(d) == "type"] <- "y"
  d[rows, ]
}

unlabelled <- function(d) {
  d$y[seq_len(nrow(d)) %% 5 %in% 1:3] <- NA
  d
}

crabs <- function() {
  d <- MASS::crabs[seq(1, 200, 2), c("sex", "FL", "RW", "CL")]
  names(d)[1L] <- "y"
  d
}

flowers <- function() {
  d <- iris[seq(1, 150, 2), c("Species", "Sepal.Length", "Sepal.Width")]
  names(d)[1L] <- "y"
  d
}

ozone <- function() {
  d <- na.omit(airquality)[c("Ozone", "Temp", "Wind")]
  names(d)[1L] <- "y"
  d
}

calls <- function() data.frame(y = MASS::phones$calls, year = MASS::phones$year)

tenants <- function() {
  d <- MASS::housing
  d <- d[rep(seq_len(nrow(d)), d$Freq), c("Sat", "Infl", "Type", "Cont")]
  names(d)[1L] <- "y"
  d[round(seq(1, nrow(d), length.out = 120)), ]
}

absences <- function() {
  d <- MASS::quine
  names(d)[names(d) == "Days"] <- "y"
  d
}

# Counts of which a third is an excess zero
infected <- function() {
  set.seed(4)
  x <- runif(120, -2, 2)
  data.frame(y = rpois(120, exp(1 + sin(2 * x))) * rbinom(120, 1, 2 / 3), x = x)
}

fertile <- function() {
  d <- swiss[c("Fertility", "Agriculture", "Education")]
  d$y <- d$Agriculture / 100
  d$Agriculture <- NULL
  d
}

patients <- function() {
  d <- na.omit(survival::lung[c("time", "status", "age", "sex", "ph.ecog", "wt.loss")])[1:120, ]
  d$y <- survival::Surv(d$time, d$status)
  d[c("y", "age", "sex", "ph.ecog", "wt.loss")]
}

discovered <- function() {
  data.frame(y = as.double(discoveries), year = as.double(time(discoveries)))
}

cancers <- function() {
  d <- esoph
  d$y <- cbind(d$ncases, d$ncontrols)
  d$ncases <- d$ncontrols <- NULL
  for (name in c("agegp", "alcgp", "tobgp")) d[[name]] <- as.integer(d[[name]])
  d
}

blows <- function() {
  d <- MASS::mcycle[seq(1, 133, 2), ]
  data.frame(y = d$accel, times = d$times)
}

# Where the points were seen, on the interval that gp_density() would take; the prior mean is 1.
velocities <- function() {
  x <- sort(MASS::galaxies) / 1000
  data.frame(y = 1, x = (x - 8) / 28, mean = 1)
}

# Everything but the likelihood as sparsegp() would have it, but that all rows are in the basis.
CASES <- list(
  gaussian = list(data = ozone(), name = "airquality", lik = lik_gaussian()),
  laplace = list(data = ozone(), name = "airquality", lik = lik_laplace()),
  student = list(data = ozone(), name = "airquality", lik = lik_student()),
  "student, outliers" = list(data = calls(), name = "phones", lik = lik_student()),
  heteroscedastic = list(data = blows(), name = "mcycle", lik = lik_heteroscedastic()),
  poisson = list(data = discovered(), name = "discoveries", lik = lik_poisson()),
  negbin = list(data = absences(), name = "quine", lik = lik_negbin()),
  zip = list(data = infected(), name = "made counts", lik = lik_zip()),
  zinb = list(data = infected(), name = "made counts", lik = lik_zinb()),
  hurdle_poisson = list(data = infected(), name = "made counts", lik = lik_zip(hurdle = TRUE)),
  hurdle_negbin = list(data = infected(), name = "made counts", lik = lik_zinb(hurdle = TRUE)),
  gamma = list(data = ozone(), name = "airquality", lik = lik_gamma()),
  beta = list(data = fertile(), name = "swiss", lik = lik_beta()),
  weibull = list(data = patients(), name = "lung", lik = lik_weibull()),
  loglogistic = list(data = patients(), name = "lung", lik = lik_loglogistic()),
  lognormal = list(data = patients(), name = "lung", lik = lik_lognormal()),
  binomial = list(data = cancers(), name = "esoph", lik = lik_binomial()),
  probit = list(data = pima(1:120), name = "Pima.tr", lik = lik_probit()),
  logit = list(data = pima(1:120), name = "Pima.tr", lik = lik_logit()),
  flip = list(data = pima(1:120), name = "Pima.tr", lik = lik_flip()),
  step = list(data = crabs(), name = "crabs", lik = lik_step()),
  margin = list(data = crabs(), name = "crabs", lik = lik_margin()),
  nullcat = list(data = unlabelled(crabs()), name = "crabs", lik = lik_nullcat()),
  ordinal = list(data = tenants(), name = "housing", lik = lik_ordinal()),
  # classes that are independent in the posterior; coupled ones are measured by coupled.R
  mprobit = list(data = flowers(), name = "iris", lik = lik_mprobit(coupled = FALSE)),
  softmax = list(data = flowers(), name = "iris", lik = lik_softmax(coupled = FALSE)),
  density = list(data = velocities(), name = "galaxies", lik = lik_density(),
                 kernel = kernel_trig(5, variance = fixed(0.3), period = fixed(1)),
                 formula = y ~ x + offset(mean), offset = 1)
)

# Likelihoods whose constant would be integrated out: here it is known, as the samplers have it.
INTEGRATED <- c("gaussian", "laplace", "student", "heteroscedastic", "weibull", "loglogistic",
                "lognormal")

fitted_case <- function(case, train) {
  formula <- if (is.null(case$formula)) y ~ . else case$formula
  own <- is.null(case$kernel)
  suppressMessages(sparsegp(formula, train, likelihood = case$lik, kernel = case$kernel,
                            method = method_ep(), learn = own, scale = own,
                            mean = if (case$lik$type %in% INTEGRATED) "average"))
}

# ---- What the samplers are given ----

# The prior at all rows, those of the fit first, and its sites; tall where a row has several values.
model_of <- function(fit, new) {
  w <- sparsegp:::n_outputs(fit)
  rows <- sparsegp:::training_inputs(fit)
  x <- rbind(rows, sparsegp:::rows_asked(fit, new)$x)
  K <- sparsegp:::kernel_matrix(fit$spec, sparsegp:::kernel_theta(fit), x, x)
  count <- sparsegp:::processes(fit)
  tau <- matrix(fit$sites$tau, ncol = count)
  nu <- matrix(fit$sites$nu, ncol = count)
  list(K = K, n = nrow(rows), width = w, precisions = lapply(seq_len(count), function(class) {
    site_matrix(tau[, class], w)
  }), shifts = lapply(seq_len(count), function(class) nu[, class]))
}

site_matrix <- function(tau, w) {
  if (w == 1L) return(diag(tau))
  n <- length(tau) / w^2
  out <- matrix(0, n * w, n * w)
  for (i in seq_len(n)) {
    at <- (i - 1L) * w + seq_len(w)
    out[at, at] <- tau[(i - 1L) * w^2 + seq_len(w^2)]
  }
  out
}

# log likelihood of every chain's latent values at the rows of the fit
chain_logs <- function(case, fit, model) {
  values <- as.list(sparsegp:::lik_values(fit))
  if (length(model$shifts) > 1L || fit$likelihood$type == "ordinal") values <- unlist(values)
  offset <- if (is.null(case$offset)) 0 else case$offset
  known <- MODELS[[fit$likelihood$type]]
  of_one <- function(f) if (length(f) == 1L) f[[1L]] + offset else f
  list(logs = function(f) {
    each <- known$logs(fit$data_rows, of_one(f), values)
    colSums(matrix(each, ncol = ncol(f[[1L]]))) # of one chain it may be a vector
  },
       prob = if (!is.null(known$prob)) function(f) known$prob(of_one(f), values))
}

# ---- The comparison ----

compare_case <- function(name) {
  case <- CASES[[name]]
  out <- seq_len(nrow(case$data)) %% 5 == 0
  train <- case$data[!out, , drop = FALSE]
  new <- case$data[out, , drop = FALSE]
  fit <- fitted_case(case, train)
  model <- model_of(fit, new)
  known <- chain_logs(case, fit, model)
  set.seed(1)
  start <- gaussian_of_sites(model, SHARE)
  annealed <- annealed_sampling(start, known$logs, CHAINS, TEMPERATURES)
  chains <- slice_chains(annealed, start, known, STEPS)
  problem <- sparsegp:::problem_of_fit(fit)
  ep <- gaussian_of_sites(model, 1)
  c(list(likelihood = name, data = case$name, rows = nrow(train), new = nrow(new),
         found = sparsegp:::engine_run(problem, fit$hyper$theta)$logz),
    annealed[c("log_evidence", "error")],
    moment_errors(ep, chains, model),
    probability_errors(fit, new, chains))
}

# Of the latent functions at new rows: root mean square of the error of the mean in standard
# deviations, beside what chance makes of it, and how much too wide the standard deviation is in the
# mean over rows, as a logarithm.
moment_errors <- function(ep, chains, model) {
  at <- -seq_len(model$n)
  found <- unlist(lapply(ep$each, function(one) one$mean[at]))
  width <- sqrt(unlist(lapply(ep$each, function(one) rowSums(one$root[at, , drop = FALSE]^2))))
  true <- rowMeans(chains$mean)
  true_width <- sqrt(rowMeans(chains$square) - true^2)
  away <- (found - true) / true_width
  squares <- (chains$square - 2 * true * chains$mean + true^2) / true_width^2 # of each chain
  list(mean = sqrt(mean(away^2)), mean_error = sqrt(mean((error_of(chains$mean) / true_width)^2)),
       sd = mean(log(width / true_width)),
       sd_error = sd(colMeans(squares)) / 2 / sqrt(ncol(squares)))
}

# Standard errors over chains, row by row
error_of <- function(values) apply(values, 1L, sd) / sqrt(ncol(values))

# The largest error of a probability, and its own Monte Carlo error
probability_errors <- function(fit, new, chains) {
  if (is.null(chains$prob)) return(list(prob = NA_real_, prob_error = NA_real_))
  found <- predict(fit, new, type = if (is.null(fit$response$levels)) "response" else "prob")
  if (is.matrix(found)) found <- found[, if (ncol(found) == 2L) 2L else 1L]
  away <- found - rowMeans(chains$prob)
  list(prob = max(abs(away)), prob_error = error_of(chains$prob)[which.max(abs(away))])
}

CAPTION <- paste(
  "EP minus the truth, with the Monte Carlo standard error in brackets. Log evidence in nats; for",
  "the latent function at new rows, the error of the mean in standard deviations (root mean",
  "square) and the excess width of EP's standard deviation (mean logarithm of the ratio); the",
  "largest error of a probability"
)

found_row <- function(r) {
  number <- function(value, error, digits) {
    if (is.na(value)) "" else sprintf(paste0("%.", digits, "f (%.", digits, "f)"), value, error)
  }
  list(likelihood = r$likelihood, data = r$data, rows = r$rows,
       "log evidence" = sprintf("%.3f", r$found),
       "its error" = number(r$found - r$log_evidence, r$error, 3),
       "mean" = number(r$mean, r$mean_error, 3), "width" = number(r$sd, r$sd_error, 3),
       "probability" = number(r$prob, r$prob_error, 4))
}

asked <- setdiff(commandArgs(TRUE), "FULL")
for (name in if (length(asked)) asked else names(CASES)) {
  row <- found_row(compare_case(name))
  cat(sprintf("%-16s", unlist(row)), "\n")
  do.call(bench_row, c(list(CAPTION), row))
}
