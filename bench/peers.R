# The default fit beside other packages of Gaussian processes and smooths, each as its help has it,
# hyperparameters learned, on the same rows in the same run: root mean squared error and mean log
# density of new responses and how often 90 % intervals hold them (where a package tells a standard
# deviation of new responses), or error and mean log likelihood of labels; CPU seconds. Peers that
# are not installed are left out; one that fails says so.
#
#   friedman  Friedman #1, ten inputs of which five matter, unit noise; ROWS and 1000 rows
#   volcano   heights of a volcano, two inputs, noise of 3 metres; ROWS points, all others test
#   boston    housing; ROWS rows and the rest
#   pima      diabetes, 200 and 332 rows; synth: Ripley's two classes, 250 and 1000 rows
#
# Usage: Rscript bench/peers.R [rows = 200]; the data folder is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

ROWS <- argument(1, 200)

# ---- Numbers: each peer is given standardised inputs and responses; list(mean, sd) ----

ours <- function(x, y, new) {
  answer <- predict(sparsegp(x, y), new, interval = "prediction", level = 0.9)
  list(mean = answer[, 1L], sd = (answer[, 3L] - answer[, 2L]) / (2 * qnorm(0.95)))
}

by_lagp <- function(x, y, new) {
  d <- laGP::darg(list(mle = TRUE), x)
  g <- laGP::garg(list(mle = TRUE), y)
  gp <- laGP::newGPsep(x, y, d = rep(d$start, ncol(x)), g = g$start, dK = TRUE)
  laGP::mleGPsep(gp, param = "both", tmin = c(d$min, g$min), tmax = c(d$max, g$max),
                 ab = c(d$ab, g$ab))
  answer <- laGP::predGPsep(gp, new, lite = TRUE)
  laGP::deleteGPsep(gp)
  list(mean = answer$mean, sd = sqrt(answer$s2))
}

by_dicekriging <- function(x, y, new) {
  model <- DiceKriging::km(~1, as.data.frame(x), y, covtype = "matern5_2", nugget.estim = TRUE,
                           control = list(trace = FALSE))
  DiceKriging::predict(model, as.data.frame(new), type = "UK", checkNames = FALSE)[c("mean", "sd")]
}

by_gpgp <- function(x, y, new) {
  covariance <- if (ncol(x) > 2L) "matern25_scaledim" else "matern25_isotropic"
  fit <- GpGp::fit_model(y, x, matrix(1, nrow(x), 1L), covariance, silent = TRUE)
  list(mean = GpGp::predictions(fit, new, matrix(1, nrow(new), 1L)))
}

by_gaupro <- function(x, y, new) {
  fit <- GauPro::gpkm(x, y, kernel = "matern52", parallel = FALSE)
  answer <- fit$pred(new, se.fit = TRUE)
  list(mean = answer$mean, sd = answer$se)
}

by_kernlab <- function(x, y, new) {
  fit <- kernlab::gausspr(x, y, variance.model = TRUE, scaled = FALSE)
  list(mean = kernlab::predict(fit, new)[, 1L])
}

by_gplite <- function(x, y, new) {
  model <- gplite::gp_init(gplite::cf_matern52(), gplite::lik_gaussian())
  fit <- gplite::gp_optim(model, x, y, verbose = FALSE)
  answer <- gplite::gp_pred(fit, new, var = TRUE)
  noise <- exp(2 * gplite::get_param(fit)[["lik_gaussian.sigma"]])
  list(mean = answer$mean, sd = sqrt(answer$var + noise))
}

smooth_terms <- function(x) {
  if (ncol(x) == 2L) return(y ~ s(x1, x2, k = 60))
  smooths <- vapply(colnames(x), function(name) {
    size <- min(10, length(unique(x[, name])))
    if (size > 4) sprintf("s(%s, k = %d)", name, size) else name
  }, "")
  reformulate(smooths, "y")
}

by_mgcv <- function(x, y, new, family = stats::gaussian()) {
  named <- function(x) as.data.frame(`colnames<-`(x, paste0("x", seq_len(ncol(x)))))
  fit <- mgcv::gam(smooth_terms(as.matrix(named(x))), family, cbind(y = y, named(x)),
                   method = "REML")
  answer <- stats::predict(fit, named(new), type = "response", se.fit = TRUE)
  list(mean = c(answer$fit), sd = sqrt(c(answer$se.fit)^2 + fit$sig2))
}

# Two inputs only. Its variance is that of the function: what it learned of the noise is not told.
by_psgp <- function(x, y, new) {
  place <- function(rows) sp::SpatialPoints(`colnames<-`(rows, c("x", "y")))
  known <- sp::SpatialPointsDataFrame(place(x), data.frame(value = y))
  object <- intamap::createIntamapObject(observations = known, predictionLocations = place(new),
                                         formulaString = value ~ 1, class = "psgp")
  requireNamespace("psgp") # its methods
  utils::capture.output({
    object <- intamap::spatialPredict(intamap::estimateParameters(object))
  })
  list(mean = object$predictions$var1.pred)
}

by_ranger <- function(x, y, new) {
  fit <- ranger::ranger(x = x, y = y, num.threads = 1, seed = 1)
  list(mean = stats::predict(fit, new, num.threads = 1)$predictions)
}

NUMBERS <- list(sparsegp = ours, laGP = by_lagp, DiceKriging = by_dicekriging, GpGp = by_gpgp,
                GauPro = by_gaupro, kernlab = by_kernlab, gplite = by_gplite, mgcv = by_mgcv,
                psgp = by_psgp, ranger = by_ranger)

# ---- Labels: probabilities of the second level ----

labels_by_kernlab <- function(x, y, new) {
  kernlab::predict(kernlab::gausspr(x, y, scaled = FALSE), new, type = "probabilities")[, 2L]
}

labels_by_gplite <- function(x, y, new) {
  model <- gplite::gp_init(gplite::cf_sexp(), gplite::lik_bernoulli(link = "probit"),
                           approx = gplite::approx_ep())
  fit <- gplite::gp_optim(model, x, as.numeric(y) - 1, verbose = FALSE)
  gplite::gp_pred(fit, new, transform = TRUE, var = TRUE)$mean
}

labels_by_ranger <- function(x, y, new) {
  fit <- ranger::ranger(x = x, y = y, probability = TRUE, num.threads = 1, seed = 1)
  stats::predict(fit, new, num.threads = 1)$predictions[, levels(y)[2L]]
}

LABELS <- list(
  sparsegp = function(x, y, new) predict(sparsegp(x, y), new, type = "prob")[, 2L],
  kernlab = labels_by_kernlab, gplite = labels_by_gplite,
  e1071 = function(x, y, new) svm_prob(tuned_svm(x, y), new)[, levels(y)[2L]],
  mgcv = function(x, y, new) by_mgcv(x, as.numeric(y) - 1, new, stats::binomial())$mean,
  ranger = labels_by_ranger
)

# ---- Sets ----

made_friedman <- function() {
  set.seed(1)
  x <- matrix(runif(10 * (ROWS + 1000)), ncol = 10)
  f <- 10 * sin(pi * x[, 1] * x[, 2]) + 20 * (x[, 3] - 0.5)^2 + 10 * x[, 4] + 5 * x[, 5]
  list(x = x, y = f + rnorm(nrow(x)), train = seq_len(nrow(x)) <= ROWS)
}

made_volcano <- function() {
  set.seed(2)
  x <- cbind(c(row(volcano)), c(col(volcano)))
  list(x = x, y = c(volcano) + rnorm(nrow(x), sd = 3),
       train = seq_len(nrow(x)) %in% sample(nrow(x), ROWS))
}

read_boston <- function() {
  d <- read_data("boston")
  set.seed(3)
  list(x = as.matrix(d[names(d) != "medv"]), y = d$medv,
       train = seq_len(nrow(d)) %in% sample(nrow(d), ROWS))
}

read_pima <- function() {
  d <- read_data("pima")
  list(x = as.matrix(d[1:7]), y = factor(d$type), train = d$set == "train")
}

read_synth <- function() {
  d <- read_data("synth")
  list(x = as.matrix(d[1:2]), y = factor(d$yc), train = d$set == "train")
}

# ---- Scores ----

# A peer's answer and its CPU seconds; NULL where it is not installed, fails or has no answer.
asked <- function(name, peer, d) {
  if (!requireNamespace(name, quietly = TRUE)) return(NULL)
  x <- scaled_by(d$x, d$x[d$train, , drop = FALSE])
  colnames(x) <- paste0("x", seq_len(ncol(x)))
  took <- system.time({
    answer <- tryCatch(suppressWarnings(suppressMessages(
      peer(x[d$train, ], d$y[d$train], x[!d$train, ])
    )), error = function(e) {
      cat(name, "fails:", conditionMessage(e), "\n")
      NULL
    })
  })
  if (!is.null(answer)) list(answer = answer, seconds = sum(took[1:2]))
}

numbers <- function(what, d) {
  unit <- sd(d$y[d$train])
  centre <- mean(d$y[d$train])
  d$y <- (d$y - centre) / unit
  for (name in names(NUMBERS)) {
    if (name == "psgp" && ncol(d$x) != 2L) next
    peer <- asked(name, NUMBERS[[name]], d)
    if (is.null(peer)) next
    error <- unit * (d$y[!d$train] - peer$answer$mean)
    sd <- if (is.null(peer$answer$sd)) NA_real_ else unit * peer$answer$sd
    scores <- list(RMSE = sqrt(mean(error^2)),
                   "log density" = mean(dnorm(error, 0, sd, log = TRUE)),
                   "90 % holds" = mean(abs(error) < qnorm(0.95) * sd))
    note(sprintf("Numbers: %d training rows", sum(d$train)), what, name, scores, peer$seconds)
  }
}

classes <- function(what, d) {
  for (name in names(LABELS)) {
    peer <- asked(name, LABELS[[name]], d)
    if (is.null(peer)) next
    second <- pmin(pmax(peer$answer, 1e-3), 1 - 1e-3) # a share of trees may be 0
    prob <- `colnames<-`(cbind(1 - second, second), levels(d$y))
    note("Labels", what, name, as.list(class_scores(prob, d$y[!d$train])), peer$seconds)
  }
}

note <- function(caption, what, name, scores, seconds) {
  cat(sprintf("%-9s %-12s %7.2f s  %s\n", what, name, seconds,
              paste(names(scores), signif(unlist(scores), 4), collapse = "  ")))
  do.call(bench_row, c(list(caption, data = what, by = name), scores,
                       list("CPU seconds" = round(seconds, 2))))
}

numbers("friedman", made_friedman())
numbers("volcano", made_volcano())
numbers("boston", read_boston())
classes("pima", read_pima())
classes("synth", read_synth())
