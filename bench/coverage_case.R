# One case of bench/coverage_cases.R and one method, in a process of its own: bench/coverage.R
# starts it.
#
#   Rscript bench/coverage_case.R CASE WHO FILE
#
# WHO is sparsegp, mgcv, DiceKriging or dbarts. FILE takes a data frame with a row for each repeat,
# part ("inside", "outside") and nominal coverage: observed coverage, mean width, rows, CPU seconds.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  for (name in c("common.R", "zoo_peers.R", "coverage_cases.R")) {
    source(file.path(dirname(self), name))
  }
})

NOMINAL <- c(0.5, 0.8, 0.9, 0.95, 0.99)

`%||%` <- function(a, b) if (is.null(a)) b else a

# ---- Transforms and widths ----

# Returns the table of one part: lower, upper: P(less) and P(no more) of each response; widths: a
# column for each nominal coverage. Jumps count by their part, as calibration() has it.
part_table <- function(lower, upper, widths) {
  observed <- vapply(NOMINAL, function(p) {
    inside <- pmin(upper, (1 + p) / 2) - pmax(lower, (1 - p) / 2)
    mean(ifelse(upper > lower, pmax(inside / (upper - lower), 0),
                lower >= (1 - p) / 2 & lower < (1 + p) / 2))
  }, 0)
  data.frame(nominal = NOMINAL, observed, width = colMeans(widths), rows = length(lower))
}

# A mixture of normals of equal weights: means and sds are matrices with a column for each.
of_normals <- function(mean, sd, y) {
  below <- rowMeans(pnorm((y - mean) / sd))
  widths <- if (ncol(mean) == 1L) outer(c(sd), 2 * qnorm((1 + NOMINAL) / 2)) else {
    draws <- mean + sd * rnorm(length(mean))
    edges <- apply(draws, 1L, quantile, c((1 - NOMINAL) / 2, (1 + NOMINAL) / 2))
    t(edges[-seq_along(NOMINAL), ] - edges[seq_along(NOMINAL), ])
  }
  part_table(below, below, widths)
}

# Values of a linear predictor that is normal: cdf(q, f) is that of the response at f, which jumps
# by 1 from 0 on, of at most `most`.
of_counts <- function(mean, se, cdf, y, most) {
  t <- seq(-4, 4, by = 0.25)
  weight <- dnorm(t) / sum(dnorm(t))
  mixed <- function(q) rowSums(vapply(seq_along(t), function(k) {
    weight[k] * cdf(q, mean + t[k] * se)
  }, 0 * mean))
  upto <- vapply(0:most, function(q) mixed(rep(q, length(mean))), 0 * mean)
  at <- function(p) rowSums(upto < p)
  widths <- vapply(NOMINAL, function(p) at((1 + p) / 2) - at((1 - p) / 2), 0 * mean)
  part_table(mixed(y - 1), mixed(y), widths)
}

# ---- Methods: function(case, data) -> function(test) that returns the table of a part ----

inputs_of <- function(rows) setdiff(names(rows), c(".y", ".trials"))

by_sparsegp <- function(case, data) {
  formula <- stats::reformulate(sprintf("`%s`", inputs_of(data$train)), ".y", env = globalenv())
  fit <- suppressMessages(suppressWarnings({
    if (is.null(data$train$.trials)) sparsegp(formula, data$train, case$likelihood)
    else sparsegp(formula, data$train, case$likelihood, weights = .trials)
  }))
  function(test) {
    table <- calibration(fit, test, nominal = NOMINAL)
    data.frame(table[c("nominal", "observed", "width")], rows = nrow(attr(table, "pit")))
  }
}

of_mgcv_family <- function(fit, test, family) {
  answer <- stats::predict(fit, test, se.fit = TRUE)
  mean <- c(answer$fit)
  se <- c(answer$se.fit)
  y <- test$.y
  name <- fit$family$family
  if (name == "gaussian") return(of_normals(cbind(mean), cbind(sqrt(se^2 + fit$sig2)), y))
  most <- max(y * (test$.trials %||% 1), 3 * exp(max(pmin(mean + 2 * se, 8))))
  most <- min(most, 20000)
  if (name == "poisson") {
    return(of_counts(mean, se, function(q, f) ppois(q, exp(f)), y, most))
  }
  if (name == "binomial") {
    trials <- test$.trials[1L] # the same of all
    table <- of_counts(mean, se, function(q, f) pbinom(q, trials, plogis(f)), y * trials, trials)
    return(transform(table, width = width / trials))
  }
  if (startsWith(name, "Negative")) {
    size <- fit$family$getTheta(TRUE)
    return(of_counts(mean, se, function(q, f) pnbinom(q, size, mu = exp(f)), y, most))
  }
  scaled <- fit$family$getTheta(TRUE) # of scat(): degrees of freedom and scale
  n <- length(mean) * 1000L
  draws <- matrix(mean + se * rnorm(n) + scaled[2L] * rt(n, scaled[1L]), length(mean))
  edges <- apply(draws, 1L, quantile, c((1 - NOMINAL) / 2, (1 + NOMINAL) / 2))
  widths <- t(edges[-seq_along(NOMINAL), ] - edges[seq_along(NOMINAL), ])
  below <- rowMeans(draws < y)
  part_table(below, below, widths)
}

by_mgcv_family <- function(case, data) {
  if (is.null(case$family)) stop("no such family")
  trials <- data$train$.trials
  formula <- stats::reformulate(gam_terms(data$train[inputs_of(data$train)]), ".y")
  environment(formula) <- environment()
  rows <- without_order(data$train)
  weights <- trials %||% rep(1, nrow(rows))
  large <- nrow(rows) > 2000L
  fit <- suppressWarnings((if (large) mgcv::bam else mgcv::gam)(
    formula, case$family, rows, weights = weights, method = if (large) "fREML" else "REML"))
  function(test) of_mgcv_family(fit, without_order(test), case$family)
}

by_dicekriging <- function(case, data) {
  inputs <- inputs_of(data$train)
  if (!all(vapply(data$train[inputs], is.numeric, NA))) stop("numbers only")
  if (nrow(data$train) > 400L) stop("at most 400 observations")
  set.seed(1)
  model <- DiceKriging::km(~1, data$train[inputs], data$train$.y, covtype = "matern5_2",
                           nugget.estim = TRUE, control = list(trace = FALSE))
  function(test) {
    answer <- DiceKriging::predict(model, test[inputs], type = "UK", checkNames = FALSE)
    of_normals(cbind(answer$mean), cbind(answer$sd), test$.y)
  }
}

by_bart <- function(case, data) {
  inputs <- inputs_of(data$train)
  function(test) {
    answer <- by_dbarts(data$train[inputs], data$train$.y, test[inputs])
    of_normals(answer$mean, answer$sd, test$.y)
  }
}

METHODS <- list(sparsegp = by_sparsegp, mgcv = by_mgcv_family, DiceKriging = by_dicekriging,
                dbarts = by_bart)

# ---- One case ----

# Without categories that no training observation has.
with_seen <- function(test, train) {
  if (is.factor(test$.y)) test[test$.y %in% train$.y, ] else test
}

run_repeat <- function(case, who, seed) {
  data <- case$make(seed)
  took <- system.time({
    answer <- METHODS[[who]](case, data)
    parts <- lapply(Filter(Negate(is.null), data[c("inside", "outside")]), function(test) {
      answer(with_seen(test, data$train))
    })
  })
  tables <- Map(cbind, part = names(parts), parts)
  cbind(repeated = seed, do.call(rbind, tables), seconds = sum(took[1:2]), row.names = NULL)
}

MOST_REPEATS <- 8L # of peers

asked <- commandArgs(TRUE)
case <- all_cases()[[asked[[1L]]]]
rows <- NULL
repeats <- if (asked[[2L]] == "sparsegp") case$repeats else min(case$repeats, MOST_REPEATS)
for (seed in seq_len(repeats)) {
  rows <- rbind(rows, run_repeat(case, asked[[2L]], seed))
  attr(rows, "version") <- as.character(utils::packageVersion(asked[[2L]]))
  saveRDS(rows, asked[[3L]])
}
