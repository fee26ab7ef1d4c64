# Responses on a scale of their own: densities, gradients and predictions against definitions.

r_code_alone()

scaled_rows <- function(n = 40L) {
  wave <- sin(6 * seq_len(n) / n) + 0.3 * sin(97 * seq_len(n)^2)
  data.frame(x = seq_len(n) / n, y = exp(wave), share = stats::plogis(wave),
             tails = sinh(2 * wave), known = seq_len(n) %% 3 / 10, weight = 0.5 + seq_len(n) %% 2)
}

response_for <- function(scale) switch(scale, logit = "share", asinh = "tails", "y")

LIKS_OF_NUMBERS <- list(gaussian = lik_gaussian, student = lik_student, laplace = lik_laplace,
                        heteroscedastic = lik_heteroscedastic)

# g of each scale, written down a second time; s: c(value, middle)
REFERENCE_SCALES <- list(
  log = function(y, s) log(y), sqrt = function(y, s) sqrt(y),
  boxcox = function(y, s) ((y / s[["middle"]])^s[["value"]] - 1) / s[["value"]],
  logit = function(y, s) log(y / (1 - y)),
  asinh = function(y, s) {
    x <- (y - s[["middle"]]) / s[["value"]]
    log(x + sqrt(x^2 + 1))
  }
)

slope_of <- function(g, y, s) {
  h <- 1e-6 * pmax(abs(y), 1e-2)
  (g(y + h, s) - g(y - h, s)) / (2 * h)
}

test_that("a scale, its inverse and its slopes are those of its definition", {
  slow_tier()
  d <- scaled_rows()
  for (name in names(SCALES)) {
    y <- d[[response_for(name)]]
    s <- scale_record(name, y)
    scale <- SCALES[[name]]
    g <- REFERENCE_SCALES[[name]]
    expect_equal(scale$to(y, s), g(y, s), tolerance = 1e-12, label = name)
    expect_equal(scale$from(scale$to(y, s), s), y, tolerance = 1e-12, label = name)
    # central differences are good to some 1e-9
    expect_equal(exp(scale$log_slope(y, s)), slope_of(g, y, s), tolerance = 1e-7, label = name)
    if (!has_parameter(name)) next
    at <- function(step) replace(s, "value", s[["value"]] + step)
    expect_equal(scale$d_to(y, s), (scale$to(y, at(1e-5)) - scale$to(y, at(-1e-5))) / 2e-5,
                 tolerance = 1e-8, label = name)
    expect_equal(scale$d_log_slope(y, s),
                 (scale$log_slope(y, at(1e-5)) - scale$log_slope(y, at(-1e-5))) / 2e-5,
                 tolerance = 1e-8, label = name)
  }
})

test_that("Box and Cox's scale is the logarithm's near 0, and ends where its range does", {
  y <- c(1e-3, 0.5, 1, 2, 1e3)
  s <- replace(scale_record("boxcox", y), "value", 1e-9)
  expect_equal(SCALES$boxcox$to(y, s), log(y / s[["middle"]]), tolerance = 1e-7)
  expect_equal(SCALES$boxcox$from(log(y), s), y * s[["middle"]], tolerance = 1e-7)
  s[["value"]] <- 0.5
  expect_equal(SCALES$boxcox$from(c(-1e9, -2, -1.9999), s) > 0, c(FALSE, FALSE, TRUE))
  u <- c(-0.02, -0.01, 0.0099, 0.0101) # both branches
  expect_equal(d_exprel(u), (exprel(u + 1e-5) - exprel(u - 1e-5)) / 2e-5, tolerance = 1e-6)
})

test_that("a fit on the log scale is that of the logarithms", {
  slow_tier()
  d <- scaled_rows()
  d$z <- log(d$y)
  for (name in of_tier(names(LIKS_OF_NUMBERS), 2L)) {
    lik <- LIKS_OF_NUMBERS[[name]]
    own <- sparsegp(y ~ x + offset(known), d, likelihood = lik(transform = "log"),
                    control = gp_control(integrate = "none"))
    logs <- sparsegp(z ~ x + offset(known), d, likelihood = lik(),
                     control = gp_control(integrate = "none"))
    expect_equal(coef(own), coef(logs), tolerance = 1e-10, label = name)
    expect_equal(own$log_evidence, logs$log_evidence - sum(d$z), tolerance = 1e-10, label = name)
    expect_equal(loo_lpd(own), loo_lpd(logs) - d$z, tolerance = 1e-10, label = name)
    expect_equal(predict(own, d, type = "link"), predict(logs, d, type = "link"),
                 tolerance = 1e-10, label = name)
    expect_equal(predict(own, d, type = "quantile"), exp(predict(logs, d, type = "quantile")),
                 tolerance = 1e-10, label = name)
    expect_equal(log(unname(predict(own, d, type = "median"))),
                 unname(as.matrix(predict(logs, d, type = "link"))[, 1L]), tolerance = 1e-10,
                 label = name)
    expect_equal(residuals(own, "quantile"), residuals(logs, "quantile"), tolerance = 1e-8,
                 label = name)
  }
})

test_that("the log evidence integrates to one over the responses", {
  slow_tier()
  # of two rows, by the midpoint rule: densities in the response's own units
  for (transform in c("log", "sqrt", "logit", "boxcox", "asinh")) {
    fit <- suppressWarnings(sparsegp(x = c(0, 1), y = c(0.4, 0.6), learn = FALSE, scale = FALSE,
                                     kernel = kernel_rbf(fixed(0.02), fixed(1)),
                                     likelihood = lik_gaussian(fixed(0.01), transform = transform),
                                     mean = "average"))
    s <- fit$response$scale
    range <- SCALES[[transform]]$from(fit$response$centre + c(-2.2, 2.2), s)
    at <- range[1L] + diff(range) * (seq_len(400L) - 0.5) / 400
    K <- 0.02 * exp(-0.5 * outer(c(0, 1), c(0, 1), "-")^2) + diag(0.01, 2L)
    g <- REFERENCE_SCALES[[transform]]
    z <- g(at, s) - fit$response$centre
    grid <- as.matrix(expand.grid(z, z))
    log_p <- -rowSums((grid %*% solve(K)) * grid) / 2 - log(det(2 * pi * K)) / 2
    slopes <- log(slope_of(g, at, s))
    mass <- exp(log_p + rowSums(as.matrix(expand.grid(slopes, slopes)))) * (diff(range) / 400)^2
    expect_equal(sum(mass), 1, tolerance = 1e-2, label = transform) # what the grid leaves out
    own <- g(c(0.4, 0.6), s) - fit$response$centre
    expect_equal(fit$log_evidence, -drop(own %*% solve(K, own)) / 2 - log(det(2 * pi * K)) / 2 +
                   sum(log(slope_of(g, c(0.4, 0.6), s))), tolerance = 1e-7, label = transform)
  }
})

# The log evidence as learning sees it, and its gradient, at theta.
criterion_of <- function(d, lik, weights = NULL) {
  chunk <- list(x = cbind(x = d$x), y = d$y, offset = d$known, weights = weights)
  setup <- list(likelihood = lik, scale = TRUE, streams = FALSE, kernel = kernel_rbf(),
                method = as_method(NULL, "normal"))
  if (lik$type == "heteroscedastic") setup$kernel <- kernel_coregion(rank = 0)
  chunk <- lik_codec(lik)$gather(chunk)
  model <- read_model(chunk, setup)
  problem <- problem_of(model, chunk)
  problem$options <- method_ep(tol = 1e-10, sweeps = 500)
  list(at = evidence_criterion(problem), theta = model$table$theta + 0.1)
}

test_that("the gradient in a scale's parameter is that of the evidence with its Jacobian", {
  slow_tier()
  d <- scaled_rows(24L)
  for (transform in c("boxcox", "asinh")) for (name in names(LIKS_OF_NUMBERS)) {
    weights <- if (name == "gaussian") d$weight
    found <- criterion_of(d, LIKS_OF_NUMBERS[[name]](transform = transform), weights)
    last <- length(found$theta)
    at <- function(step) found$at(replace(found$theta, last, found$theta[last] + step))
    numerical <- (at(1e-4)$logz - at(-1e-4)$logz) / 2e-4
    expect_equal(at(0)$gradient[last], numerical, tolerance = 1e-5,
                 label = paste(transform, name))
  }
})

test_that("slopes of log Z in the mean are those of the cavities, also where these are singular", {
  run <- list(mean = c(1, 2), cav_mean = c(0.4, 1.7), cav_var = c(2, 0.5, 0.5, 1))
  C <- matrix(run$cav_var, 2)
  tau <- matrix(c(3, -0.2, -0.2, 0.1), 2)
  nu <- solve(C, run$mean - run$cav_mean) + tau %*% run$mean # V^-1 mean = C^-1 cav_mean + nu
  run$tau <- c(tau)
  run$nu <- c(nu)
  expect_equal(slopes_in_mean(run, 2L), solve(C, run$mean - run$cav_mean)[1L], tolerance = 1e-12)
  run$cav_var <- c(1, 1, 1, 1)
  expect_true(is.finite(slopes_in_mean(run, 2L)))
})

test_that("the exponent that is learned is at the top of the evidence", {
  slow_tier()
  d <- scaled_rows()
  fit <- sparsegp(y ~ x, d, likelihood = lik_gaussian(transform = "boxcox"), kernel = "rbf",
                  control = gp_control(prior = list(variance = prior_flat(),
                                                    lengthscale = prior_flat(),
                               noise = prior_flat())))
  lambda <- coef(fit)[["lambda"]]
  evidence <- function(value) {
    again <- update(fit, likelihood = lik_gaussian(transform = response_scale("boxcox",
                                                                              fixed(value))))
    c(logLik(again))
  }
  expect_gt(c(logLik(fit)), max(evidence(lambda + 0.05), evidence(max(lambda - 0.05, 1e-3))))
  expect_equal(evidence(lambda), c(logLik(fit)), tolerance = 1e-5)
  expect_named(coef(fit), c("variance", "lengthscale", "noise", "lambda"))
  expect_true(is.finite(vcov(fit)["lambda", "lambda"]))
  # its unit changes nothing but the density
  large <- sparsegp(I(1e100 * y) ~ x, d, likelihood = lik_gaussian(transform = "boxcox"),
                    kernel = "rbf")
  small <- sparsegp(y ~ x, d, likelihood = lik_gaussian(transform = "boxcox"), kernel = "rbf")
  expect_equal(coef(large), coef(small), tolerance = 1e-4)
  expect_equal(predict(large) / 1e100, predict(small), tolerance = 1e-5)
})

test_that("means, medians and quantiles are those of simulated responses", {
  slow_tier()
  d <- scaled_rows(60L)
  new <- data.frame(x = c(0.2, 0.6, 1.3))
  set.seed(1)
  cases <- expand.grid(name = names(LIKS_OF_NUMBERS), transform = names(SCALES),
                       stringsAsFactors = FALSE)
  # every scale with every second kind of noise, and every kind with some scales
  turn <- match(cases$name, names(LIKS_OF_NUMBERS)) + match(cases$transform, names(SCALES))
  cases <- cases[turn %% 2L == 0L, ]
  for (i in seq_len(nrow(cases))) {
    name <- cases$name[i]
    transform <- cases$transform[i]
    lik <- LIKS_OF_NUMBERS[[name]](transform = transform)
    fit <- sparsegp(stats::reformulate("x", response_for(transform)), d, likelihood = lik,
                    learn = FALSE)
    drawn <- as.matrix(simulate(fit, 2000, newdata = new))
    label <- paste(transform, name)
    probs <- c(0.1, 0.5, 0.9)
    below <- vapply(1:3, function(i) {
      q <- predict(fit, new, type = "quantile", at = probs)[i, ]
      vapply(q, function(q) mean(drawn[i, ] <= q), 0)
    }, numeric(3))
    # three standard errors of 2000 draws, and a little
    expect_lt(max(abs(below - probs)), 0.04, label = label)
    expect_lt(max(abs(rowMeans(drawn <= predict(fit, new, type = "median")) - 0.5)), 0.05,
              label = label)
    found <- predict(fit, new, se.fit = TRUE)
    expect_true(all(is.finite(unlist(found))), label = label)
    if (name == "student") next # has too few moments
    if (!has_usable_mean(fit)) {
      expect_identical(found$fit, predict(fit, new, type = "median"), label = label)
      next
    }
    error <- (rowMeans(drawn) - found$fit) / (apply(drawn, 1L, sd) / sqrt(2000))
    expect_lt(max(abs(error)), 4.5, label = label)
  }
})

test_that("the mean and its standard error on the log scale are the lognormal's", {
  slow_tier()
  d <- scaled_rows()
  fit <- sparsegp(y ~ x, d, likelihood = lik_gaussian(transform = "log"))
  link <- predict(fit, d, type = "link", se.fit = TRUE)
  found <- predict(fit, d, se.fit = TRUE)
  v <- link$se.fit^2
  expect_equal(found$fit, exp(link$fit + (v + sigma(fit)^2) / 2), tolerance = 1e-12)
  # the rule's error, with a step of one standard deviation
  expect_equal(found$se.fit, found$fit * sqrt(expm1(v)), tolerance = 1e-6)
  wide <- sparsegp(x = 1:3, y = c(1e-300, 1, 1e300), likelihood = lik_gaussian(transform = "log"),
                   learn = FALSE)
  expect_true(all(is.finite(predict(wide, matrix(4), type = "median"))))
  # where the mean is infinite the median is predicted
  expect_identical(predict(wide, matrix(1e6)), predict(wide, matrix(1e6), type = "median"))
})

test_that("streams, sources, updates and merged fits are on the scale of the first rows", {
  slow_tier()
  d <- scaled_rows(300L)
  d$z <- log(d$y)
  again <- function(formula, ...) {
    fit <- sparsegp(formula, d[1:150, ], method = method_online(size = 20, pilot = 100), ...)
    update(fit, d[151:300, ])
  }
  own <- again(y ~ x, likelihood = lik_gaussian(transform = "log"))
  logs <- again(z ~ x)
  expect_equal(own$log_evidence, logs$log_evidence - sum(d$z), tolerance = 1e-8)
  expect_equal(predict(own, d, type = "median"), exp(predict(logs, d)), tolerance = 1e-8)
  learned <- again(y ~ x, likelihood = lik_gaussian(transform = "boxcox"))
  expect_equal(unname(learned$response$scale[["value"]]), coef(learned)[["lambda"]])

  chunks <- row_source(function(i) d[100 * (i - 1) + 1:100, ], chunks = 3)
  of_chunks <- function(formula, ...) {
    sparsegp(formula, chunks, method = method_ep(size = 20), learn = learn_control(rows = 90), ...)
  }
  own <- of_chunks(y ~ x, likelihood = lik_gaussian(transform = "log"))
  logs <- of_chunks(z ~ x)
  expect_equal(own$log_evidence, logs$log_evidence - sum(d$z), tolerance = 1e-8)
  expect_equal(predict(own, d[1:5, ], type = "median"), exp(predict(logs, d[1:5, ])),
               tolerance = 1e-8)
  learned <- of_chunks(y ~ x, likelihood = lik_gaussian(transform = "boxcox"))
  slopes <- slope_of(REFERENCE_SCALES$boxcox, d$y, learned$response$scale)
  whole <- sparsegp(control = gp_control(like = learned), data = d)
  expect_equal(learned$log_evidence, whole$log_evidence, tolerance = 1e-8)

  size <- method_ep(size = 15)
  for (transform in c("log", "boxcox")) {
    first <- sparsegp(y ~ x, d[1:150, ], method = size,
                      likelihood = lik_gaussian(transform = transform),
                      control = gp_control(keep_x = TRUE))
    second <- sparsegp(control = gp_control(like = first), data = d[151:300, ])
    both <- merge(first, second)
    grown <- update(first, d[151:300, ])
    expect_equal(both$log_evidence, grown$log_evidence, tolerance = 1e-8, label = transform)
    whole <- problem_of_kept_rows(grown)
    shift <- sum(log(slope_of(REFERENCE_SCALES[[transform]], d$y, grown$response$scale))) -
      300 * log(grown$response$unit) + mean_normalisation(grown$posterior$trend)
    expect_equal(grown$log_evidence, run_on_state(grown, whole)$logz + shift, tolerance = 1e-7,
                 label = transform)
  }
})

test_that("responses outside of a scale's domain are refused, with a remedy", {
  slow_tier()
  d <- scaled_rows()
  refused <- function(expression, argument) {
    found <- tryCatch(expression, sparsegp_error = identity)
    expect_s3_class(found, "sparsegp_error")
    expect_match(conditionMessage(found), argument, fixed = TRUE)
  }
  d$zero <- replace(d$y, 3L, 0)
  d$label <- factor(d$y > 1)
  refused(sparsegp(zero ~ x, d, likelihood = lik_gaussian(transform = "log")), "no logarithm")
  refused(sparsegp(zero ~ x, d, likelihood = lik_gaussian(transform = "boxcox")), "0 or less")
  refused(sparsegp(I(-zero) ~ x, d, likelihood = lik_gaussian(transform = "sqrt")), "below 0")
  refused(sparsegp(y ~ x, d, likelihood = lik_gaussian(transform = "logit")), "between 0 and 1")
  refused(sparsegp(label ~ x, d, likelihood = lik_gaussian(transform = "log")), "factor")
  refused(sparsegp(cbind(y, share) ~ x, d, likelihood = lik_gaussian(transform = "log")),
          "components")
  refused(sparsegp(y ~ x, d, likelihood = lik_gaussian(transform = "cube")), "transform")
  refused(response_scale("log", 1), "value")
  refused(response_scale("boxcox", -1), "value")
  refused(sparsegp(y ~ x, d, likelihood = lik_gaussian(fixed(0.1), transform = "boxcox")),
          "transform")
  fit <- sparsegp(y ~ x, d, likelihood = lik_gaussian(transform = "log"),
                  method = method_ep(size = 10))
  refused(update(fit, data.frame(x = 1, y = 0)), "no logarithm")
  stream <- sparsegp(y ~ x, d, likelihood = lik_gaussian(transform = "log"),
                     method = method_online(size = 9, pilot = 20))
  refused(update(stream, data.frame(x = 1, y = -1)), "no logarithm")
})

test_that("a response of 0 has a finite density on the square-root scale", {
  slow_tier()
  d <- scaled_rows()
  d$y[5L] <- 0
  fit <- sparsegp(y ~ x, d, likelihood = lik_gaussian(transform = "sqrt"))
  expect_true(is.finite(fit$log_evidence) && all(is.finite(loo_lpd(fit))))
  expect_identical(residuals(fit)[[5L]], -fitted(fit)[[5L]])
  expect_true(all(predict(fit, d, type = "quantile", at = 1e-6) >= 0))
})

test_that("scales that make sense are offered, the identity first", {
  d <- scaled_rows(200L)
  expect_identical(response_scales(d$y), c("identity", "sqrt", "log", "boxcox"))
  expect_identical(response_scales(replace(d$y, 1L, 0)), "identity")
  expect_true("logit" %in% response_scales(d$share))
  heavy <- stats::qcauchy(stats::ppoints(200))
  expect_identical(response_scales(heavy), c("identity", "asinh"))
  expect_identical(response_scales(stats::qnorm(stats::ppoints(200))), "identity")
  expect_identical(response_scales(c(1, 1, 2)), "identity")
})

test_that("one heavy tail is drawn in to the other end, unless responses are tied there", {
  slow_tier()
  skewed <- exp(stats::qnorm(stats::ppoints(400)))
  expect_identical(response_scales(skewed - 0.5), c("identity", "asinh"))
  expect_identical(response_scales(0.5 - skewed), c("identity", "asinh"))
  expect_false("asinh" %in% response_scales(skewed)) # there is the logarithm
  expect_identical(response_scales(pmax(skewed - 0.5, 0)), "identity") # a quarter are 0
  expect_identical(response_scales(-pmax(skewed - 0.5, 0)), "identity")
  expect_identical(drawn_to(skewed - 0.5), quantile(skewed - 0.5, 0.01, names = FALSE))
  expect_identical(drawn_to(0.5 - skewed), quantile(0.5 - skewed, 0.99, names = FALSE))
  expect_identical(drawn_to(sinh(3 * stats::qnorm(stats::ppoints(400)))),
                   median(sinh(3 * stats::qnorm(stats::ppoints(400)))))
})

test_that("a skewed response of both signs is fitted on the asinh scale, and better for it", {
  slow_tier()
  set.seed(31)
  rows <- data.frame(x = runif(300))
  rows$y <- exp(sin(6 * rows$x) + 0.5 * rnorm(300)) - 1
  fit <- sparsegp(y ~ x, rows)
  expect_output(print(summary(fit)), "response scale: asinh", fixed = TRUE)
  plain <- update(fit, likelihood = lik_gaussian(transform = "identity"))
  expect_gt(fit$log_evidence, plain$log_evidence + policy$min_transform_gain)
  # shifted responses are as well described: the scale has no zero of its own
  rows$y <- rows$y - 100
  expect_equal(sparsegp(y ~ x, rows)$log_evidence, fit$log_evidence, tolerance = 1e-4)
})

test_that("a fit says its scale, and is the same on the identity", {
  slow_tier()
  d <- scaled_rows()
  fit <- sparsegp(y ~ x, d, likelihood = lik_gaussian(transform = "log"))
  expect_output(print(fit), "response on the log scale", fixed = TRUE)
  plain <- sparsegp(y ~ x, d, lik_gaussian(transform = "identity"))
  same <- update(fit, likelihood = lik_gaussian(transform = "identity"))
  expect_equal(coef(same), coef(plain))
  expect_equal(same$log_evidence, plain$log_evidence)
  expect_equal(predict(same), predict(plain))
  expect_s3_class(compare(fit, plain), "sparsegp_compare")
  expect_error(kl(fit, plain), class = "sparsegp_error")
  saved <- unserialize(serialize(fit, NULL))
  expect_identical(predict(saved, d), predict(fit, d))
  expect_false(any(rapply(unclass(saved)[c("response", "likelihood", "hyper")], is.function,
                          how = "unlist")))
})

test_that("log_jacobian() of a part of a model is that of its rows", {
  d <- scaled_rows()
  lik <- lik_gaussian(transform = "boxcox")
  chunk <- list(x = cbind(x = d$x), y = d$y, offset = 0 * d$y)
  model <- read_model(chunk, list(likelihood = lik, scale = TRUE, streams = FALSE,
                                  kernel = kernel_rbf(), method = as_method(NULL, "normal")))
  some <- part_of_model(model, 5:9)
  slopes <- slope_of(REFERENCE_SCALES$boxcox, d$y, model$response$scale)
  expect_equal(log_jacobian(some$response), sum(log(slopes[5:9] / model$response$unit)),
               tolerance = 1e-8)
})

test_that("means of weighted rows on a scale are those of their weights", {
  slow_tier()
  set.seed(4)
  d <- data.frame(x = seq(0, 3, length.out = 30), w = runif(30, 0.3, 3))
  d$y <- exp(sin(2 * d$x) + rnorm(30) / 3 / sqrt(d$w))
  fits <- list(
    sparsegp(y ~ x, d, lik_gaussian(transform = "log"), weights = w, learn = FALSE),
    sparsegp(y ~ x, d, lik_gaussian(variance = 1 / d$w, transform = "log"), learn = FALSE)
  )
  for (fit in fits) {
    own <- predict(fit, se.fit = TRUE, interval = "confidence")
    expect_equal(predict(fit, d, weights = ~ w, se.fit = TRUE, interval = "confidence"), own,
                 tolerance = 1e-10) # the same products of matrices in another order
    expect_warning(away <- predict(fit, d), "give `weights`")
    expect_gt(max(abs(away - own$fit[, "fit"])), 0.01)
    expect_no_warning(predict(fit, d, type = "median"))
    expect_error(predict(fit, d, type = "median", weights = d$w), "`weights`",
                 class = "sparsegp_error")
  }
})
