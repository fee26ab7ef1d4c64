# The analyses a newcomer does first, on data that come with R: what the default fit predicts of
# rows it has not seen, beside the models people come from.
#   Rscript bench/newcomer.R [NAME...]
# One line each: CPU seconds of one fit of all rows, what is measured (smaller is better), ours, and
# the others'; `cover`: share of the unseen responses in 95 % prediction intervals. Regressions are
# by ten folds, labels and counts by the log loss of ten folds (or of the test set there is); series
# by what comes after, with 90 % intervals, and "co2 origins" and "air origins" by six such ends.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})
has <- function(package) requireNamespace(package, quietly = TRUE)
stopifnot(has("MASS"), has("mgcv"), has("survival"))

folds <- function(n, count = 10) {
  set.seed(1)
  sample(rep_len(seq_len(count), n))
}

# Means of unseen rows by ten folds: fit is a function of rows, ask one of a fit and new rows whose
# answer is a number or a row of numbers each.
unseen <- function(data, fit, ask = predict, by = folds(nrow(data))) {
  out <- NULL
  for (fold in unique(by)) {
    at <- which(by == fold)
    answer <- as.matrix(ask(fit(data[-at, , drop = FALSE]), data[at, , drop = FALSE]))
    if (is.null(out)) out <- matrix(NA_real_, nrow(data), ncol(answer))
    out[at, ] <- answer
  }
  out
}

rmse <- function(a, b) sqrt(mean((a - b)^2))
inside <- function(interval, y) mean(y >= interval[, 2L] & y <= interval[, 3L])
with_interval <- function(fit, new) predict(fit, new, interval = "prediction")
plain <- function(fit, new) as.double(predict(fit, new))
response <- function(fit, new) as.double(predict(fit, new, type = "response"))

seconds <- function(run) system.time(run)[["user.self"]]
result <- function(time, measure, ours, others, cover = NA) {
  list(time = time, measure = measure, ours = ours, others = others, cover = cover)
}

# A regression: rmse by folds of ours and of other fits of rows.
regression <- function(data, y, ours, others, ask = list(), by = folds(nrow(data))) {
  time <- seconds(ours(data))
  mine <- unseen(data, ours, with_interval, by)
  theirs <- vapply(names(others), function(name) {
    rmse(unseen(data, others[[name]], if (is.null(ask[[name]])) plain else ask[[name]], by), y)
  }, 0)
  result(time, "rmse", rmse(mine[, 1L], y), theirs, inside(mine, y))
}

# The log density of counts in mgcv's ziP(): given that there may be counts, with the probability
# 1 - exp(-exp(theta[1] + theta[2] eta)), they are Poisson counts that are not 0.
mgcv_zip <- function(y, eta, theta) {
  zero <- -exp(theta[1L] + theta[2L] * eta)
  ifelse(y == 0, zero, log1p(-exp(zero)) + dpois(y, exp(eta), log = TRUE) -
           log1p(-exp(-exp(eta))))
}

# Minus the mean log predictive density of unseen responses, by ten folds
unseen_loss <- function(data, name, fit) {
  -mean(unseen(data, fit, function(fit, new) log_predictive(fit, new, new[[name]])))
}

# The log predictive density of responses of new rows, by the distribution function: of numbers a
# difference over a ten-thousandth of the predictive standard deviation.
log_predictive <- function(fit, new, y) {
  ask <- asNamespace("sparsegp")
  latent <- ask$new_latent(fit, new, NULL)
  latent$weights <- rep(1, nrow(new))
  tails <- function(y) ask$response_tails(fit, y, latent)
  if (ask$codec_of(fit)$jumps) {
    at <- tails(y)
    return(log(pmax(1 - at$below - at$above, 1e-300)))
  }
  h <- 1e-4 * ask$response_moments(fit, latent)$sd
  lower <- tails(y - h)
  upper <- tails(y + h)
  mass <- ifelse(upper$below < 0.5, upper$below - lower$below, lower$above - upper$above)
  log(mass / (2 * h))
}

log_loss <- function(prob, y) {
  y <- as.integer(y)
  if (ncol(prob) == 1L) prob <- cbind(1 - prob, prob)
  prob <- pmax(prob / rowSums(prob), 1e-9)
  -mean(log(prob[cbind(seq_along(y), y)]))
}

ranger_fit <- function(formula, ...) function(d) ranger::ranger(formula, d, seed = 1, ...)
ranger_mean <- function(fit, new) predict(fit, new)$predictions
svm_prob <- function(fit, new) {
  prob <- attr(predict(fit, new, probability = TRUE), "probabilities")
  prob[, fit$levels, drop = FALSE]
}

# A classification by folds: log loss.
classes <- function(data, y, ours, others, ask, prob = function(fit, new) {
  predict(fit, new, type = "prob")
}) {
  time <- seconds(ours(data))
  mine <- log_loss(unseen(data, ours, prob), y)
  result(time, "log loss", mine, vapply(names(others), function(name) {
    log_loss(unseen(data, others[[name]], ask[[name]]), y)
  }, 0))
}

analyses <- list(
  mcycle = function() {
    d <- MASS::mcycle
    regression(d, d$accel, function(d) sparsegp(accel ~ times, d), list(
      gam = function(d) mgcv::gam(accel ~ s(times, k = 20), data = d, method = "REML"),
      loess = function(d) loess(accel ~ times, d, span = 0.3,
                                control = loess.control(surface = "direct"))
    ))
  },
  Boston = function() {
    d <- MASS::Boston
    smooth <- medv ~ s(crim) + s(zn, k = 5) + s(indus) + chas + s(nox) + s(rm) + s(age) + s(dis) +
      s(rad, k = 5) + s(tax) + s(ptratio) + s(black) + s(lstat)
    regression(d, d$medv, function(d) sparsegp(medv ~ ., d), list(
      lm = function(d) lm(medv ~ ., d),
      gam = function(d) mgcv::gam(smooth, data = d, method = "REML"),
      ranger = ranger_fit(medv ~ .), svm = function(d) e1071::svm(medv ~ ., d)
    ), list(ranger = ranger_mean))
  },
  Pima = function() {
    d <- MASS::Pima.tr
    new <- MASS::Pima.te
    fit <- function(d) sparsegp(type ~ ., d)
    prob <- cbind(predict(fit(d), new, type = "prob"))
    forest <- ranger::ranger(type ~ ., d, probability = TRUE, seed = 1)
    set.seed(1)
    svm <- e1071::svm(type ~ ., d, probability = TRUE)
    result(seconds(fit(d)), "log loss", log_loss(prob, new$type), c(
      glm = log_loss(cbind(response(glm(type ~ ., binomial, d), new)), new$type),
      ranger = log_loss(predict(forest, new)$predictions, new$type),
      svm = log_loss(svm_prob(svm, new), new$type)
    ))
  },
  fgl = function() {
    d <- MASS::fgl
    classes(d, d$type, function(d) sparsegp(type ~ ., d), list(
      "sparsegp, ard" = function(d) sparsegp(type ~ ., d, kernel = kernel_rbf(ard = TRUE)),
      ranger = ranger_fit(type ~ ., probability = TRUE),
      svm = function(d) {
        set.seed(1)
        e1071::svm(type ~ ., d, probability = TRUE)
      },
      multinom = function(d) nnet::multinom(type ~ ., d, trace = FALSE, maxit = 500)
    ), list("sparsegp, ard" = function(fit, new) predict(fit, new, type = "prob"),
            ranger = ranger_mean, svm = svm_prob,
            multinom = function(fit, new) predict(fit, new, type = "probs")))
  },
  birthwt = function() {
    d <- transform(MASS::birthwt, low = factor(low), race = factor(race), smoke = factor(smoke),
                   bwt = NULL)
    classes(d, d$low, function(d) sparsegp(low ~ ., d), list(
      glm = function(d) glm(low ~ ., binomial, d),
      gam = function(d) mgcv::gam(low ~ s(age) + s(lwt) + race + smoke + ptl + ht + ui + ftv,
                                  binomial, d, method = "REML"),
      ranger = ranger_fit(low ~ ., probability = TRUE)
    ), list(glm = response, gam = response, ranger = ranger_mean))
  },
  airquality = function() {
    d <- na.omit(airquality) # folds of the same rows for all
    regression(d, d$Ozone, function(d) sparsegp(Ozone ~ Solar.R + Wind + Temp + Month, d), list(
      lm = function(d) lm(Ozone ~ Solar.R + Wind + Temp + Month, d),
      gam = function(d) mgcv::gam(Ozone ~ s(Solar.R) + s(Wind) + s(Temp) + Month, data = d,
                                  method = "REML"),
      ranger = ranger_fit(Ozone ~ Solar.R + Wind + Temp + Month)
    ), list(ranger = ranger_mean))
  },
  ToothGrowth = function() {
    d <- ToothGrowth
    regression(d, d$len, function(d) sparsegp(len ~ dose + supp, d), list(
      lm = function(d) lm(len ~ factor(dose) * supp, d),
      "lm additive" = function(d) lm(len ~ dose + supp, d)
    ))
  },
  ChickWeight = function() {
    d <- as.data.frame(ChickWeight)
    d$Chick <- factor(as.character(d$Chick))
    own <- kernel_rbf(vars = "Time") +
      kernel_rbf(vars = "Time") * kernel_factor("Chick", fixed(1))
    regression(d, d$weight, function(d) sparsegp(weight ~ Time + Chick, d), list(
      "sparsegp, curves of groups" = function(d) {
        sparsegp(weight ~ Time + Chick, d, kernel = own)
      },
      gam = function(d) mgcv::gam(weight ~ s(Time, Chick, bs = "fs", k = 5), data = d,
                                  method = "REML"),
      lmer = function(d) lme4::lmer(weight ~ Time + (Time | Chick), d)
    ))
  },
  warpbreaks = function() {
    d <- warpbreaks
    own <- function(d) sparsegp(breaks ~ wool + tension, d, "negbin")
    other <- function(d) MASS::glm.nb(breaks ~ wool * tension, d)
    # the mean log predictive density of counts of unseen rows
    density_of <- function(mean, size) -mean(dnbinom(d$breaks, size, mu = mean, log = TRUE))
    mine <- own(d)
    held <- unseen(d, other, function(fit, new) cbind(response(fit, new), fit$theta))
    result(seconds(own(d)), "log loss", -mean(loo(mine)$lpd),
           c(glm.nb = density_of(held[, 1L], held[, 2L]),
             "sparsegp, poisson" = -mean(loo(sparsegp(breaks ~ wool + tension, d,
                                                      "poisson"))$lpd)))
  },
  "airquality, gamma" = function() {
    d <- na.omit(airquality)
    loss <- function(mean, shape) -mean(dgamma(d$Ozone, shape, shape / mean, log = TRUE))
    formula <- Ozone ~ Temp + Wind + Solar.R
    held <- unseen(d, function(d) mgcv::gam(Ozone ~ s(Temp) + s(Wind) + s(Solar.R), Gamma("log"), d,
                                            method = "REML"),
                   function(fit, new) cbind(response(fit, new), 1 / summary(fit)$dispersion))
    result(seconds(mine <- sparsegp(formula, d, "gamma")), "log loss",
           unseen_loss(d, "Ozone", function(d) sparsegp(formula, d, "gamma")),
           c("gam, Gamma" = loss(held[, 1L], held[, 2L]),
             "sparsegp, default" = unseen_loss(d, "Ozone", function(d) sparsegp(formula, d))))
  },
  "swiss, beta" = function() {
    d <- transform(swiss, y = Agriculture / 100)
    formula <- y ~ Fertility + Education + Catholic
    held <- unseen(d, function(d) {
      mgcv::gam(y ~ s(Fertility, k = 5) + s(Education, k = 5) + s(Catholic, k = 5),
                mgcv::betar(), d, method = "REML")
    }, function(fit, new) cbind(response(fit, new), fit$family$getTheta(TRUE)))
    loss <- -mean(dbeta(d$y, held[, 1L] * held[, 2L], (1 - held[, 1L]) * held[, 2L], log = TRUE))
    result(seconds(sparsegp(formula, d, "beta")), "log loss",
           unseen_loss(d, "y", function(d) sparsegp(formula, d, "beta")),
           c("gam, betar" = loss,
             "sparsegp, default" = unseen_loss(d, "y", function(d) sparsegp(formula, d))))
  },
  "made zeros" = function() {
    set.seed(1)
    d <- data.frame(x = runif(300, -2, 2), z = runif(300, -2, 2))
    d$n <- rpois(300, exp(0.7 + sin(2 * d$x) + d$z / 2)) * rbinom(300, 1, 0.65)
    of_gam <- function(family, log_density) {
      held <- unseen(d, function(d) mgcv::gam(n ~ s(x) + s(z), family, d, method = "REML"),
                     function(fit, new) log_density(fit, new, predict(fit, new)))
      -mean(held)
    }
    zip <- of_gam(mgcv::ziP(), function(fit, new, eta) {
      theta <- fit$family$getTheta(TRUE)
      mgcv_zip(new$n, eta, theta)
    })
    nb <- of_gam(mgcv::nb(), function(fit, new, eta) {
      dnbinom(new$n, fit$family$getTheta(TRUE), mu = exp(eta), log = TRUE)
    })
    of_ours <- function(likelihood) {
      unseen_loss(d, "n", function(d) sparsegp(n ~ x + z, d, likelihood))
    }
    result(seconds(sparsegp(n ~ x + z, d, "zip")), "log loss", of_ours("zip"),
           c("gam, ziP" = zip, "gam, nb" = nb, "sparsegp, zinb" = of_ours("zinb"),
             "sparsegp, negbin" = of_ours("negbin"), "sparsegp, poisson" = of_ours("poisson")))
  },
  "lung, times" = function() {
    d <- na.omit(survival::lung[c("time", "status", "age", "sex", "ph.ecog", "wt.loss")])
    formula <- survival::Surv(time, status) ~ age + sex + ph.ecog + wt.loss
    wrong <- function(fit, ask) {
      later <- unseen(d, fit, ask)
      1 - survival::concordance(survival::Surv(time, status) ~ later, d)$concordance
    }
    ours <- function(likelihood) {
      wrong(function(d) sparsegp(formula, d, likelihood),
            function(fit, new) predict(fit, new, type = "median"))
    }
    theirs <- function(dist) {
      wrong(function(d) survival::survreg(formula, d, dist = dist), predict)
    }
    result(seconds(sparsegp(formula, d, "weibull")), "1 - concordance", ours("weibull"),
           c("survreg, Weibull" = theirs("weibull"),
             "sparsegp, loglogistic" = ours("loglogistic"),
             "survreg, loglogistic" = theirs("loglogistic"),
             "sparsegp, lognormal" = ours("lognormal"),
             "survreg, lognormal" = theirs("lognormal"),
             coxph = wrong(function(d) survival::coxph(formula, d, x = TRUE, model = TRUE),
                           function(fit, new) -predict(fit, new))))
  },
  esoph = function() {
    d <- transform(esoph, agegp = factor(agegp, ordered = FALSE),
                   alcgp = factor(alcgp, ordered = FALSE), tobgp = factor(tobgp, ordered = FALSE))
    n <- d$ncases + d$ncontrols
    loss <- function(p) -mean(dbinom(d$ncases, n, p, log = TRUE))
    own <- function(d) sparsegp(cbind(ncases, ncontrols) ~ agegp + alcgp + tobgp, d)
    result(seconds(own(d)), "log loss", loss(unseen(d, own, plain)), c(
      glm = loss(unseen(d, function(d) glm(cbind(ncases, ncontrols) ~ agegp + alcgp + tobgp,
                                           binomial, d), response))
    ))
  },
  quakes = function() {
    d <- quakes
    regression(d, d$depth, function(d) sparsegp(depth ~ long + lat, d), list(
      gam = function(d) mgcv::gam(depth ~ s(long, lat, k = 60), data = d, method = "REML"),
      ranger = ranger_fit(depth ~ long + lat)
    ), list(ranger = ranger_mean))
  },
  volcano = function() {
    all <- data.frame(expand.grid(x = seq_len(nrow(volcano)), y = seq_len(ncol(volcano))),
                      z = c(volcano))
    set.seed(1)
    at <- sample(nrow(all), 500)
    own <- function(d) sparsegp(z ~ x + y, d)
    mine <- predict(own(all[at, ]), all[-at, ], interval = "prediction")
    gam <- mgcv::gam(z ~ s(x, y, k = 200), data = all[at, ], method = "REML")
    result(seconds(own(all[at, ])), "rmse", rmse(mine[, 1L], all$z[-at]),
           c(gam = rmse(plain(gam, all[-at, ]), all$z[-at])), inside(mine, all$z[-at]))
  },
  faithful = function() {
    y <- faithful$eruptions
    by <- folds(length(y))
    held <- function(estimate) {
      -mean(log(unlist(lapply(1:10, function(k) estimate(y[by != k])(y[by == k])))))
    }
    own <- function(y) {
      fit <- gp_density(y, range = c(1, 6))
      function(x) predict(fit, x)
    }
    kernel <- function(y) {
      found <- density(y, bw = "SJ", n = 2048)
      function(x) approx(found$x, found$y, x, rule = 2)$y
    }
    result(seconds(own(y)), "log loss", held(own), c(density = held(kernel)))
  },
  co2 = function() series(co2, 1990, identity, 0.9),
  "co2 origins" = function() origins(co2, c(1976, 1979, 1982, 1984, 1987, 1990), 8, identity),
  AirPassengers = function() series(AirPassengers, 1958, log, 0.9),
  "air origins" = function() origins(AirPassengers, 1953:1958, 3, log),
  nhtemp = function() {
    d <- data.frame(year = c(time(nhtemp)), y = c(nhtemp))
    regression(d, d$y, function(d) sparsegp(y ~ year, d), list(
      gam = function(d) mgcv::gam(y ~ s(year), data = d, method = "REML"),
      lm = function(d) lm(y ~ year, d)
    ))
  },
  housing = function() {
    h <- MASS::housing
    d <- h[rep(seq_len(nrow(h)), h$Freq), c("Sat", "Infl", "Type", "Cont")]
    classes(d, d$Sat, function(d) sparsegp(Sat ~ Infl + Type + Cont, d), list(
      polr = function(d) MASS::polr(Sat ~ Infl + Type + Cont, d)
    ), list(polr = function(fit, new) predict(fit, new, type = "probs")))
  },
  "quakes counts" = function() {
    cells <- expand.grid(lat = seq(-39, -9, 2), long = seq(165, 189, 2))
    number <- function(x, at) findInterval(x, at - 1)
    cells$n <- c(table(factor(number(quakes$lat, seq(-39, -9, 2)), 1:16),
                       factor(number(quakes$long, seq(165, 189, 2)), 1:13)))
    near <- vapply(seq_len(nrow(cells)), function(i) {
      any(cells$n[abs(cells$lat - cells$lat[i]) <= 2 & abs(cells$long - cells$long[i]) <= 2] > 0)
    }, NA)
    d <- cells[near, ]
    own <- function(d) sparsegp(n ~ long + lat, d, "negbin")
    mine <- unseen(d, own, function(fit, new) {
      cbind(plain(fit, new), predict(fit, new, interval = "prediction")[, 2:3],
            predict(fit, new, type = "median"))
    })
    smooth <- function(family) function(d) mgcv::gam(n ~ s(long, lat, k = 40), family, d,
                                                     method = "REML")
    result(seconds(own(d)), "rmse", rmse(mine[, 1L], d$n), c(
      "our median" = rmse(mine[, 4L], d$n),
      "gam, poisson" = rmse(unseen(d, smooth(poisson()), response), d$n),
      "gam, nb" = rmse(unseen(d, smooth(mgcv::nb()), response), d$n)
    ), inside(mine, d$n))
  },
  stream = function() {
    set.seed(1)
    x <- runif(80000, -4, 4)
    d <- data.frame(x = x, y = sin(2 * x) + x / 4 + 0.2 * rnorm(80000))
    old <- d[1:60000, ]
    new <- d[-(1:60000), ]
    own <- function() {
      fit <- sparsegp(y ~ x, old[0, ], method = method_online(size = 50))
      for (at in split(seq_len(60000), rep(1:60, each = 1000))) fit <- update(fit, old[at, ])
      fit
    }
    time <- seconds(fit <- own())
    mine <- with_interval(fit, new)
    bam <- mgcv::bam(y ~ s(x, k = 30), data = old)
    result(time, "rmse", rmse(mine[, 1L], new$y), c(bam = rmse(plain(bam, new), new$y)),
           inside(mine, new$y))
  }
)

decomposed <- function() kernel_linear() + kernel_rbf() + kernel_matern12() + kernel_periodic()

# The same series from several years on, for `ahead` years each: rmse on the scale of the fit and
# the share of responses in 90 % intervals, means over the ends.
origins <- function(x, from, ahead, scale) {
  d <- data.frame(time = c(time(x)), y = c(scale(x)))
  each <- vapply(from, function(until) {
    old <- d[d$time < until - 0.01, ]
    new <- d[d$time > until - 0.01 & d$time < until + ahead - 0.01, ]
    time <- seconds(fit <- sparsegp(y ~ time, old, kernel = decomposed()))
    mine <- predict(fit, new, interval = "prediction", level = 0.9)
    guess <- predict(arima(window(scale(x), end = c(until - 1, 12)), c(0, 1, 1), c(0, 1, 1)),
                     nrow(new))
    c(time, rmse(mine[, 1L], new$y), inside(mine, new$y), rmse(guess$pred, new$y),
      mean(abs(new$y - guess$pred) < qnorm(0.95) * guess$se))
  }, numeric(5))
  mean <- rowMeans(each)
  result(mean[1L], "rmse", mean[2L], c(arima = mean[4L], "arima's cover" = mean[5L]), mean[3L])
}

# A monthly series forecast from `until` on: the sum of kernels of vignette("time-series") and the
# default kernel; arima and Holt-Winters. `cover` is of 90 % intervals.
series <- function(x, until, scale, level) {
  d <- data.frame(time = c(time(x)), y = c(scale(x)))
  old <- d[d$time < until - 0.01, ]
  new <- d[d$time > until - 0.01, ]
  back <- if (identical(scale, log)) exp else identity
  time <- seconds(fit <- sparsegp(y ~ time, old, kernel = decomposed()))
  mine <- predict(fit, new, interval = "prediction", level = level)
  known <- window(scale(x), end = c(until - 1, 12))
  error <- function(guess) rmse(back(guess), back(new$y))
  holt <- HoltWinters(known)
  result(time, "rmse", error(mine[, 1L]), c(
    arima = error(c(predict(arima(known, c(0, 1, 1), c(0, 1, 1)), nrow(new))$pred)),
    "Holt-Winters" = error(c(predict(holt, nrow(new)))),
    "our default kernel" = error(predict(sparsegp(y ~ time, old), new))
  ), inside(mine, new$y))
}

wanted <- commandArgs(TRUE)
if (length(wanted) == 0L) wanted <- names(analyses)
cat(sprintf("%-13s %7s  %-8s %9s %6s   others\n", "data", "seconds", "measure", "ours", "cover"))
for (name in wanted) {
  found <- analyses[[name]]()
  others <- paste(names(found$others), signif(found$others, 4L), collapse = ", ")
  cat(sprintf("%-13s %7.2f  %-8s %9.4g %6s   %s\n", name, found$time, found$measure, found$ours,
              if (is.na(found$cover)) "" else format(round(found$cover, 3L)), others))
  bench_row("Errors on held-out rows, and coverage of 95 % intervals (90 % for series)",
            data = name,
            "CPU seconds" = round(found$time, 2), measure = found$measure, ours = found$ours,
            others = others, "intervals hold" = found$cover)
}
