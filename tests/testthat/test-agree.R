# What a fit answers agrees with itself: standard errors, covariances, intervals, draws, quantiles,
# medians, and what other functions and packages say, over likelihoods and kinds of fit
# (helper-agree.R). tools/zoo.R applies the same walk to the fits of its sample.

r_code_alone()

agree_rows <- local({
  set.seed(1)
  n <- 40L
  d <- data.frame(x = seq(0, 3, length.out = n), z = rep(c(0, 1), n / 2))
  d$number <- sin(2 * d$x) + rnorm(n) / 9 + d$z / 5
  d$other <- cos(d$x) + rnorm(n) / 9
  d$count <- rpois(n, exp(1 + d$number))
  d$zeros <- d$count * (runif(n) > 0.3)
  d$amount <- exp(d$number)
  d$part <- plogis(d$number)
  d$hits <- rbinom(n, 9, d$part)
  d$event <- as.integer(runif(n) > 0.2)
  d$label <- factor(ifelse(d$number + rnorm(n) / 5 > 0.4, "u", "v"))
  d$some <- replace(d$label, c(3, 9, 17), NA)
  d$class <- factor(c("a", "b", "c")[1 + (d$number > 0) + (d$x > 2)])
  d$rank <- factor(as.character(d$class), ordered = TRUE)
  d$seen <- 1
  d$heavy <- replace(d$number, c(5, 22), c(-40, 30))
  d$either <- mixture(c(0.6, 0.4), list(cbind(d$number, d$other), -cbind(d$number, d$other)), 0.01)
  d
})

# Among the rows, between them, and far away, where means and intervals come apart
AGREE_AT <- data.frame(x = c(0.2, 1.55, 2.9, 4, 9), z = c(0, 1, 0, 1, 0.5))

# Response and likelihood, by name; those of one number may be compared with residuals.
AGREE_CASES <- list(
  gaussian = list("number", "gaussian"), student = list("number", "student"),
  laplace = list("number", "laplace"), heteroscedastic = list("number", "heteroscedastic"),
  vectors = list("cbind(number, other)", NULL), mixtures = list("either", NULL),
  poisson = list("count", "poisson"), negbin = list("count", "negbin"),
  zip = list("zeros", "zip"), zinb = list("zeros", "zinb"),
  hurdle = list("zeros", lik_zip(hurdle = TRUE)),
  hurdle_nb = list("zeros", lik_zinb(hurdle = TRUE)),
  gamma = list("amount", "gamma"), beta = list("part", "beta"),
  trials = list("cbind(hits, 9 - hits)", "binomial"),
  weibull = list("Surv(amount, event)", "weibull"),
  loglogistic = list("Surv(amount, event)", "loglogistic"),
  lognormal = list("Surv(amount, event)", "lognormal"), probit = list("label", "probit"),
  logit = list("label", "logit"), mackay = list("label", "mackay"), flip = list("label", "flip"),
  margin = list("label", "margin"), squares = list("label", "squares"),
  nullcat = list("some", "nullcat"), ordinal = list("rank", "ordinal"),
  classes = list("class", lik_mprobit(coupled = FALSE)), coupled = list("class", "mprobit"),
  softmax = list("class", lik_softmax(coupled = FALSE)), rest = list("class", "probit"),
  ranks = list("rank", lik_mprobit(coupled = FALSE)), ranks_coupled = list("rank", "mprobit"),
  ranks_rest = list("rank", "probit"), log = list("amount", lik_gaussian(transform = "log")),
  sqrt = list("amount", lik_gaussian(transform = "sqrt")),
  boxcox = list("amount", lik_gaussian(transform = "boxcox")),
  logit_scale = list("part", lik_gaussian(transform = "logit")),
  asinh = list("heavy", lik_gaussian(transform = "asinh")),
  log_laplace = list("amount", lik_laplace(transform = "log")),
  log_spreads = list("amount", lik_heteroscedastic(transform = "log")),
  custom = list("number", lik_custom(function(y, f, theta) dnorm(y, f, 0.2, log = TRUE))),
  density = list("seen", "density", "offset(1 + 0 * x)")
)

# What fits of a case refuse (helper-agree.R): no more, and no less. Nothing has a prediction
# interval of a latent function, nor a standard error of a median, as quantiles of it are asked for.
REFUSED <- local({
  all <- c("latent+prediction", "link+prediction", "median+se.fit", "median+se.fit+covariance")
  joint <- c("latent+se.fit+covariance", "link+se.fit+covariance")
  number <- c(all, "prob", "survival")
  positive <- c(number, "response+se.fit+covariance")
  label <- c(all, "median+prediction", "quantile", "response+prediction",
             "response+se.fit+covariance")
  ordinal <- c(all, "response+se.fit+covariance", "survival")
  class <- c(label, joint, "latent+confidence", "link+confidence", "median+confidence",
             "response+confidence", "response+se.fit")
  ranks <- c(ordinal, joint, "latent+confidence", "link+confidence")
  list(number = number, positive = positive, spread = c(positive, joint),
       time = setdiff(positive, "survival"), vector = c(setdiff(positive, "survival"), joint),
       mixture = c(label, joint, "prob"), label = label, ordinal = ordinal, class = class,
       ranks = ranks, ranks_rest = c(ranks, "simulate"))
})

AGREE_GROUPS <- list(
  number = c("gaussian", "student", "laplace"), spread = c("heteroscedastic", "log_spreads"),
  vector = "vectors", mixture = "mixtures", time = c("weibull", "loglogistic", "lognormal"),
  label = c("probit", "logit", "mackay", "flip", "margin", "squares", "nullcat"),
  ordinal = "ordinal", class = c("classes", "coupled", "softmax", "rest"),
  ranks = c("ranks", "ranks_coupled"), ranks_rest = "ranks_rest"
)

# augment() has no rows of several components or of mixtures.
expected_refusals <- function(name, kind) {
  own <- Filter(function(group) name %in% AGREE_GROUPS[[group]], names(AGREE_GROUPS))
  c(REFUSED[[c(own, "positive")[1L]]],
    if (name %in% c("vectors", "mixtures") && kind != "stream") "augment")
}

# Kinds of fit that do not take a likelihood of their cases
AGREE_UNTAKEN <- list(ivm = c("heteroscedastic", "mixtures", "log_spreads", "density"),
                      average = c("vectors", "mixtures", "heteroscedastic", "log_spreads"))

# Kinds of fit: a function of a formula and a likelihood
AGREE_KINDS <- local({
  fit <- function(...) {
    function(formula, likelihood) {
      suppressWarnings(sparsegp(formula, agree_rows, likelihood = likelihood, ...))
    }
  }
  full <- fit(learn = FALSE)
  list(
    full = full, sparse = fit(learn = FALSE, method = method_ep(size = 12)),
    ivm = fit(learn = FALSE, method = method_ivm(size = 12)),
    stream = fit(learn = FALSE, method = method_online(size = 12, pilot = 20)),
    average = function(formula, likelihood) {
      rough <- fit(learn = FALSE, kernel = kernel_matern12(lengthscale = 0.4, variance = 3))
      average(full(formula, likelihood), rough(formula, likelihood))
    }
  )
})

agree_formula <- function(case) {
  inputs <- c(if (case[[1L]] == "either") "x" else "x + z", case[-(1:2)])
  env <- list2env(list(Surv = survival::Surv), parent = environment(agree_formula))
  stats::as.formula(paste(case[[1L]], "~", paste(inputs, collapse = " + ")), env)
}

# Returns what does not agree in a fit of one case, with its name.
walk_case <- function(name, kind, make = AGREE_KINDS[[kind]], draws = 100L) {
  case <- AGREE_CASES[[name]]
  fit <- tryCatch(suppressMessages(make(agree_formula(case), case[[2L]])),
                  sparsegp_error = function(e) NULL)
  untaken <- name %in% AGREE_UNTAKEN[[kind]]
  if (is.null(fit)) return(if (!untaken) paste0(name, ", ", kind, ": is refused"))
  if (untaken) return(paste0(name, ", ", kind, ": is no longer refused"))
  AGREE_LOG$refused <- character()
  new <- AGREE_AT[intersect(names(AGREE_AT), all.vars(agree_formula(case)[[3L]]))]
  y <- agree_rows[[case[[1L]]]]
  rows <- if (kind != "stream") agree_rows
  set.seed(3)
  found <- c(disagreements(fit, new, rows, if (is.numeric(y) && is.null(dim(y))) y, draws),
             unexpected_refusals(expected_refusals(name, kind)))
  if (length(found)) paste0(name, ", ", kind, ": ", found)
}

test_that("answers of every likelihood agree", {
  skip_if_not_installed("survival")
  for (name in of_tier(names(AGREE_CASES), 2L)) {
    expect_identical(walk_case(name, "full", draws = 200L), NULL, label = name)
  }
})

test_that("answers of every kind of fit agree", {
  slow_tier()
  skip_if_not_installed("survival")
  kinds <- setdiff(names(AGREE_KINDS), "full")
  for (k in seq_along(kinds)) {
    # every second likelihood, and the others for the next kind: above they are all walked over,
    # with many draws
    turn <- seq_along(AGREE_CASES) %% 2L == k %% 2L
    names <- union(names(AGREE_CASES)[turn], AGREE_UNTAKEN[[kinds[k]]])
    if (kinds[k] != "stream") names <- setdiff(names, "custom") # R code, which is slow
    for (name in names) expect_identical(walk_case(name, kinds[k]), NULL)
  }
})

test_that("answers of default fits, integrated over hyperparameters, agree", {
  slow_tier()
  default <- function(formula, likelihood) sparsegp(formula, agree_rows, likelihood = likelihood)
  for (name in c("negbin", "boxcox", "probit")) { # two and one of noise, and none
    expect_identical(walk_case(name, "default", default), NULL)
  }
})

test_that("modes answer as one, and each by itself", {
  slow_tier()
  fit <- sparsegp(either ~ x, agree_rows, learn = FALSE)
  for (mode in list(1, "all")) {
    found <- predict(fit, AGREE_AT["x"], se.fit = TRUE, interval = "confidence", mode = mode)
    expect_equal(found$se.fit^2, t(apply(found$covariance, 3L, diag)), ignore_attr = TRUE,
                 tolerance = 1e-10)
    middle <- found$fit[, "fit", ]
    expect_true(all(middle >= found$fit[, "lwr", ] & middle <= found$fit[, "upr", ]))
  }
})

# ---- Covariances and marginal means ----

test_that("emmeans of default fits of counts are those of a negative binomial model", {
  slow_tier()
  skip_if_not_installed("emmeans")
  fit <- sparsegp(breaks ~ wool + tension, warpbreaks, "negbin")
  means <- as.data.frame(emmeans::emmeans(fit, "wool", type = "response"))
  own <- unlist(means[means$wool == "A", c("response", "asymp.LCL", "asymp.UCL")])
  # those of MASS::glm.nb(); the prior draws means together by some 1 %
  expect_equal(unname(own), c(30.1, 26.2, 34.5), tolerance = 0.02)
  at <- expand.grid(wool = "A", tension = levels(warpbreaks$tension))
  link <- predict(fit, at, type = "link", se.fit = TRUE, covariance = TRUE)
  expect_equal(unname(means$SE[1L] / means$response[1L]), sqrt(mean(link$covariance)),
               tolerance = 1e-6)
})

test_that("emmeans has the responses and intervals of predict(), and an offset once", {
  slow_tier()
  skip_if_not_installed("emmeans")
  skip_if_not_installed("survival")
  d <- transform(agree_rows, g = factor(z), e = 1 + (seq_along(x) %% 4))
  new <- data.frame(x = 1, g = levels(d$g), e = 3)
  cases <- AGREE_CASES[c("gaussian", "student", "poisson", "negbin", "zip", "zinb", "hurdle",
                         "hurdle_nb", "gamma", "beta", "trials", "weibull", "loglogistic",
                         "lognormal", "probit", "logit", "mackay", "flip", "margin", "squares",
                         "nullcat", "ordinal", "custom")]
  for (name in names(cases)) {
    case <- cases[[name]]
    formula <- stats::update(agree_formula(case), . ~ x + g + offset(log(e)))
    fit <- sparsegp(formula, d, likelihood = case[[2L]], learn = FALSE)
    means <- emmeans::emmeans(fit, "g", at = list(x = 1), offset = log(3), data = d)
    found <- as.matrix(summary(means, type = "response")[c(2L, 5L, 6L)])
    wanted <- predict(fit, new, interval = "confidence")
    expect_equal(found[, 2:3], wanted[, 2:3], ignore_attr = TRUE, tolerance = 1e-6, label = name)
    expect_no_match(attr(summary(means), "mesg"), "Unknown", label = name)
    # emmeans before 1.8.5 compares links that are lists with names of links, and warns
    contrast <- suppressWarnings(summary(pairs(means), type = "link")$estimate)
    link <- predict(fit, new, type = "link")
    expect_equal(contrast, link[[1L]] - link[[2L]], tolerance = 1e-8, label = name)
  }
})

test_that("emmeans goes back from the response's scale", {
  slow_tier()
  skip_if_not_installed("emmeans")
  d <- transform(agree_rows, g = factor(z))
  for (scale in names(SCALES)) {
    y <- switch(scale, logit = "part", asinh = "heavy", "amount")
    fit <- sparsegp(stats::reformulate(c("x", "g"), y), d, lik_gaussian(transform = scale),
                    learn = FALSE)
    grid <- emmeans::emmeans(fit, "g", at = list(x = 1))
    found <- as.data.frame(summary(grid, type = "response"))
    wanted <- predict(fit, data.frame(x = 1, g = levels(d$g)), type = "median",
                      interval = "confidence")
    expect_equal(as.matrix(found[c("response", "asymp.LCL", "asymp.UCL")]), wanted,
                 ignore_attr = TRUE, tolerance = 1e-8, label = scale)
    expect_match(attr(summary(grid), "mesg")[1L], "not the response", label = scale)
  }
})

test_that("the family of a fit has the link of the response's scale", {
  eta <- c(0.1, 0.4, 0.9)
  for (scale in names(SCALES)) {
    y <- switch(scale, logit = "part", asinh = "heavy", "amount")
    fit <- sparsegp(stats::reformulate("x", y), agree_rows, lik_gaussian(transform = scale),
                    learn = FALSE)
    own <- family(fit)
    expect_equal(own$linkfun(own$linkinv(eta)), eta, tolerance = 1e-12, label = scale)
    slope <- (own$linkinv(eta + 1e-5) - own$linkinv(eta - 1e-5)) / 2e-5
    expect_equal(own$mu.eta(eta), slope, tolerance = 1e-8, label = scale)
    link <- predict(fit, AGREE_AT["x"], type = "link")
    expect_equal(own$linkinv(link), predict(fit, AGREE_AT["x"], type = "median"),
                 tolerance = 1e-10, label = scale)
  }
})

# ---- Point predictions ----

predict_loo_medians <- function(fit) {
  fit <- with_rows(fit)
  centre_answer(fit, loo_latent(fit), "median")
}

test_that("means stay within their intervals, or medians are predicted", {
  slow_tier()
  set.seed(2)
  d <- data.frame(a = runif(40, -2, 2))
  d$y <- replace(sin(2 * d$a) + 0.1 * rnorm(40), 5, -99)
  fit <- suppressWarnings(sparsegp(y ~ a, d))
  expect_identical(codec_of(fit)$scale, "asinh")
  far <- data.frame(a = c(3, 4, 10))
  expect_identical(predict(fit, far), predict(fit, far, type = "median"))
  expect_true(all(abs(predict(fit, far)) < 2)) # the range of the others
  expect_output(print(fit), "predictions are medians")
  expect_identical(loo(fit)$mean, predict_loo_medians(fit))
  # a standard error of a median is half of its central 68.3 %
  found <- predict(fit, far, se.fit = TRUE)
  ends <- predict(fit, far, interval = "confidence", level = 2 * pnorm(1) - 1)
  expect_equal(found$se.fit, (ends[, "upr"] - ends[, "lwr"]) / 2, ignore_attr = TRUE,
               tolerance = 1e-6)
})

test_that("a mean beyond its central 95 % is replaced by the median, row by row", {
  counts <- sparsegp(count ~ x, agree_rows, "poisson", kernel_rbf(fixed(25), fixed(0.3)),
                     learn = FALSE)
  new <- data.frame(x = c(1, 40))
  link <- predict(counts, new, type = "link", se.fit = TRUE)
  expect_gt(link$se.fit[[2L]], 2 * qnorm(0.975)) # where exp(s^2 / 2) is above exp(1.96 s)
  # the mean of a lognormal variable near the rows, its median far from them
  wanted <- exp(link$fit + c(1, 0) * link$se.fit^2 / 2)
  expect_equal(predict(counts, new), wanted, tolerance = 1e-8)
})

test_that("wide noise on the log scale, and times without a mean, have medians", {
  wide <- sparsegp(number ~ x, transform(agree_rows, number = exp(9 * number)),
                   lik_gaussian(fixed(30), transform = "log"), learn = FALSE)
  expect_false(has_usable_mean(wide))
  narrow <- sparsegp(amount ~ x, agree_rows, lik_gaussian(transform = "log"), learn = FALSE)
  expect_true(has_usable_mean(narrow))
  skip_if_not_installed("survival")
  times <- sparsegp(survival::Surv(amount, event) ~ x, agree_rows, learn = FALSE,
                    lik_loglogistic(scale = fixed(1.5)))
  expect_true(all(is.finite(predict(times, AGREE_AT["x"]))))
  expect_identical(predict(times, AGREE_AT["x"]), predict(times, AGREE_AT["x"], type = "median"))
})

# ---- Codes for missing values ----

test_that("codes for missing values that stand alone are named", {
  expect_identical(lone_codes(c(1:20, -99)), c("1" = -99))
  expect_identical(lone_codes(c(1:20, 999, 999, 777)), c("2" = 999, "1" = 777))
  expect_identical(lone_codes(c(seq(0, 5e4, 500), -999)), c("1" = -999)) # the only one below 0
  expect_identical(lone_codes(c(0, 1, 0, 1, 1, 99)), c("1" = 99))
  expect_identical(lone_codes(c(1:9 / 10, 99.99, -9, 1e30)), c("1" = 99.99, "1" = -9, "1" = 1e30))
  for (x in list(numeric(), NA_real_, c(1:98, 99), c(sin(1:20), 7.7), c(1:1000, 999), -20:20 * 9,
                 c(-99, 99, -50:50), 99, rep(99, 20), c(1:3, 999), c(1:20, 1000))) {
    expect_length(lone_codes(x), 0L)
  }
})

test_that("so are repeated values that are in no list of codes", {
  slow_tier()
  expect_identical(lone_codes(c(sin(1:57), rep(1e6, 3))), c("3" = 1e6))
  expect_identical(lone_codes(c(-123456, 5:25, -123456)), c("2" = -123456))
  expect_identical(lone_codes(c(0, 0, 1990 + 1:12 / 4)), c("2" = 0))
  for (x in list(c(sin(1:57), 1e6), c(1:20, 150, 150), rep(c(1, 2, 5, 1e6), 6), rep(0:1, c(50, 10)),
                 c(1e6 + 1:9, 0, 0), c(1e6 + 1:20, rep(0, 9)), rep(0:1e3, 3), c(1, 1))) {
    expect_length(lone_codes(x), 0L)
  }
  d <- data.frame(x = 1:30, y = replace(sin(1:30 / 5), c(4, 22), 5e5))
  expect_warning(sparsegp(y ~ x, d), "response has 5e[+]05 \\(2 rows\\)")
})

test_that("so are dates, in days and in seconds", {
  days <- as.Date("2024-01-01") + 0:20
  for (code in c("9999-12-31", "1900-01-01")) {
    day <- replace(days, 5, as.Date(code))
    words <- paste0("day has -?[0-9]+, as a date ", code, " \\(1 row\\)")
    for (day in list(day, as.POSIXct(day))) {
      d <- data.frame(day, y = sin(0:20))
      expect_warning(sparsegp(y ~ day, d, learn = FALSE), words, class = "sparsegp_warning")
    }
  }
  expect_no_warning(sparsegp(y ~ day, data.frame(day = days, y = sin(0:20)), learn = FALSE))
})

test_that("a fit warns of them by column, value and count", {
  d <- transform(mtcars[c("mpg", "wt", "hp")], mpg = replace(mpg, 3, -99),
                 hp = replace(hp, c(1, 7), 9999))
  expect_warning(sparsegp(mpg ~ wt + hp, d, learn = FALSE),
                 "the response has -99 \\(1 row\\); hp has 9999 \\(2 rows\\)",
                 class = "sparsegp_warning")
  expect_warning(sparsegp(cbind(a = d$wt, b = d$hp), mtcars$mpg, learn = FALSE), "b has 9999")
  expect_warning(sparsegp(cbind(mpg, wt) ~ qsec, transform(mtcars, wt = replace(wt, 2, 99)),
                          learn = FALSE), "wt has 99")
  expect_no_warning(sparsegp(mpg ~ ., mtcars, learn = FALSE))
})
