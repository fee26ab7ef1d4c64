# Which rows to ask for: scores, batches, costs, streams.

r_code_alone()

MEANS <- c(-3, 0, 0.4, 2)
VARS <- c(0.01, 1, 4, 0.3)

two_inputs <- local({
  set.seed(1)
  d <- data.frame(x = runif(25), z = runif(25))
  d$y <- sin(5 * d$x) + d$z + 0.1 * rnorm(25)
  d$w <- rep(c(1, 3, 0.5, 1, 2), 5)
  d
})
some_candidates <- local({
  set.seed(2)
  data.frame(x = runif(40, -0.3, 1.3), z = runif(40))
})

test_that("gains of a batch add up to the information of all its labels, by every method", {
  slow_tier()
  methods <- list(NULL, method_ep(size = 10), method_ivm(size = 10), method_online(size = 10))
  for (method in of_tier(methods, 2)) {
    fit <- sparsegp(y ~ x + z, two_inputs, method = method, learn = FALSE)
    asked <- next_rows(fit, some_candidates, k = 6)
    joint <- predict(fit, some_candidates[asked, ], covariance = TRUE)$covariance
    all <- determinant(diag(6) + joint / coef(fit)[["noise"]])$modulus / 2
    expect_equal(sum(attr(asked, "gain")), as.double(all), tolerance = 1e-9)
  }
})

test_that("rows are those a naive search finds, with weights and costs, too", {
  slow_tier()
  fit <- sparsegp(y ~ x + z, two_inputs, weights = w, learn = FALSE)
  weights <- rep(c(4, 1), 20)
  cost <- rep(c(1, 3, 2, 1), 10)
  joint <- predict(fit, some_candidates, covariance = TRUE)$covariance
  naive <- integer()
  for (j in 1:5) {
    gain <- log1p(diag(joint) * weights / coef(fit)[["noise"]]) / 2 / cost
    naive[j] <- which.max(replace(gain, naive, -1))
    p <- naive[j]
    joint <- joint - tcrossprod(joint[, p]) / (joint[p, p] + coef(fit)[["noise"]] / weights[p])
  }
  expect_identical(as.integer(next_rows(fit, some_candidates, 5, weights = weights, cost = cost)),
                   naive)
  expect_warning(next_rows(fit, some_candidates), "weight 1", class = "sparsegp_warning")
})

test_that("information on two labels and on ordered ones is that of dense sums", {
  slow_tier()
  y <- two_inputs$y > 1
  links <- list(
    probit = function(value) function(f) stats::pnorm(f + value[["bias"]]),
    logit = function(value) function(f) stats::plogis(f + value[["bias"]]),
    flip = function(value) function(f) {
      value[["flip"]] + (1 - 2 * value[["flip"]]) * stats::pnorm(f + value[["bias"]])
    },
    margin = function(value) function(f) {
      z <- f + value[["bias"]]
      own <- stats::pnorm(z - value[["width"]] / 2)
      own / (own + stats::pnorm(-z - value[["width"]] / 2))
    }
  )
  for (link in of_tier(names(links), 2)) {
    lik <- if (link == "flip") lik_flip(flip = 0.1) else link
    fit <- sparsegp(cbind(two_inputs$x), y, likelihood = lik, learn = FALSE)
    p <- links[[link]](lik_values(fit))
    brute <- brute_information(function(f) cbind(p(f), 1 - p(f)), MEANS, VARS)
    # probabilities of labels with a margin are by a rule of fewer nodes
    expect_lt(max(abs(information_at(fit, MEANS, VARS) - brute)),
              if (link == "margin") 2e-5 else 1e-6, label = link)
  }
  level <- cut(two_inputs$y, 3, ordered_result = TRUE)
  fit <- sparsegp(cbind(two_inputs$x), level, learn = FALSE)
  cuts <- c(-Inf, cut_points(lik_values(fit)), Inf)
  brute <- brute_information(function(f) {
    t(vapply(f, function(f) diff(stats::pnorm(cuts - f)), numeric(3)))
  }, MEANS, VARS)
  expect_lt(max(abs(information_at(fit, MEANS, VARS) - brute)), 1e-6)
})

test_that("a label that flips tells nothing where it flips half of the time", {
  fit <- sparsegp(cbind(two_inputs$x), two_inputs$y > 1, likelihood = "step", learn = FALSE)
  e <- lik_values(fit)[["noise"]]
  entropy <- function(p) -p * log(p) - (1 - p) * log(1 - p)
  p <- e + (1 - 2 * e) * stats::pnorm(MEANS / sqrt(VARS))
  # the trapezoid rule has the latent function at 0, where the label is anything, in one node
  expect_lt(max(abs(information_at(fit, MEANS, VARS) - (entropy(p) - entropy(e)))), 0.03)
})

test_that("information on counts and shares is that of dense sums", {
  slow_tier()
  counts <- rep(c(0, 1, 2, 5, 3), 5)
  x <- cbind(two_inputs$x)
  mean <- c(-2, 0.5, 1)
  var <- c(0.01, 0.5, 0.2)
  for (type in of_tier(c("poisson", "negbin"), 1)) {
    fit <- sparsegp(x, counts, likelihood = type, learn = FALSE)
    value <- lik_values(fit)
    given <- function(f) outer(exp(f + value[["bias"]]), 0:600, function(mu, y) {
      if (type == "poisson") stats::dpois(y, mu) else stats::dnbinom(y, value[["size"]], mu = mu)
    })
    expect_lt(max(abs(information_at(fit, mean, var) -
                        brute_information(given, mean, var, nodes = 401L))), 1e-6, label = type)
  }
  fit <- sparsegp(x, cbind(counts, 6 - counts), likelihood = "binomial", learn = FALSE)
  bias <- lik_values(fit)[["bias"]]
  trials <- c(1, 6, 20)
  brute <- mapply(function(m, v, n) {
    given <- function(f) outer(stats::plogis(f + bias), 0:n, function(p, y) stats::dbinom(y, n, p))
    brute_information(given, m, v)
  }, mean, var, trials)
  expect_lt(max(abs(information_at(fit, mean, var, trials) - brute)), 1e-6)
})

test_that("where whole numbers end and the integral over counts begins nothing is lost", {
  slow_tier()
  fit <- sparsegp(cbind(two_inputs$x), rep(c(40, 60, 90, 50, 70), 5), likelihood = "poisson",
                  learn = FALSE)
  bias <- lik_values(fit)[["bias"]]
  mean <- c(-0.5, 0, 0.5, 3)
  var <- c(0.1, 0.01, 0.3, 0.05)
  given <- function(f) outer(exp(f + bias), 0:5000, function(mu, y) stats::dpois(y, mu))
  brute <- brute_information(given, mean, var, nodes = 201L)
  expect_lt(max(abs(information_at(fit, mean, var) - brute)), 1e-6)
})

test_that("counts beyond all that can be counted tell what their noise leaves", {
  slow_tier()
  x <- cbind(two_inputs$x)
  fits <- lapply(c("poisson", "negbin"), function(type) {
    sparsegp(x, rep(c(0, 1, 2, 5, 3), 5), likelihood = type, learn = FALSE)
  })
  # relative to its rate a count varies by 1e-4: both are normal to that
  expect_equal(information_at(fits[[1L]], c(25, 30, 60), rep(1, 3)), rep(log1p(1e8) / 2, 3),
               tolerance = 1e-5)
  # a gamma variable's logarithm does not know where it is
  above <- information_at(fits[[2L]], c(25, 45, 60), rep(1, 3))
  expect_equal(above, rep(above[1L], 3), tolerance = 1e-5)
  at <- seq(-40, 15, by = 0.01)
  size <- lik_values(fits[[2L]])[["size"]]
  gamma <- function(f) outer(f, at, function(f, v) {
    0.01 * exp(v - f) * stats::dgamma(exp(v - f), size, size)
  })
  expect_equal(above[1L], unname(brute_information(gamma, 0, 1, nodes = 101L)), tolerance = 1e-5)
})

test_that("information on counts is finite however little is known of their rates", {
  slow_tier()
  fits <- lapply(c("poisson", "negbin"), function(type) {
    sparsegp(cbind(two_inputs$x), rep(c(0, 1, 2, 5, 3), 5), likelihood = type, learn = FALSE)
  })
  expect_true(all(is.finite(information_at(fits[[2L]], c(0, 40), c(20, 8)))))
  # a table over some 1e4 logarithms of rates would be one of days
  far <- information_at(fits[[1L]], c(0, -1e4, 1e4), c(1e6, 1, 1))
  expect_true(all(is.finite(far) & far >= 0))
  expect_lt(far[2L], 1e-10)
})

test_that("information on numbers with long tails is that of dense sums", {
  slow_tier()
  x <- cbind(two_inputs$x)
  y <- two_inputs$y
  for (type in c("laplace", "student")) {
    fit <- sparsegp(x, y, likelihood = type, learn = FALSE)
    value <- lik_values(fit)
    scale <- value[["scale"]]
    density <- if (type == "laplace") function(r) exp(-abs(r) / scale) / (2 * scale)
               else function(r) stats::dt(r / scale, value[["df"]]) / scale
    # a Laplace variable and a normal one, added: in closed form, as there is a corner
    tail <- function(y, sd) {
      exp(sd^2 / scale^2 / 2 + y / scale + stats::pnorm(-y / sd - sd / scale, log.p = TRUE))
    }
    # entropies by integrals of integrals
    entropy_of <- function(p, sd) {
      term <- function(y) ifelse(p(y) > 0, -p(y) * log(p(y)), 0)
      steps <- c(0, sd * 4^(-8:9))
      2 * sum(mapply(function(a, b) {
        stats::integrate(term, a, b, rel.tol = 1e-7, stop.on.error = FALSE)$value
      }, steps[-length(steps)], steps[-1L]))
    }
    brute <- vapply(c(0.05, 1), function(var) {
      z <- seq(-9, 9, length.out = 301L)
      w <- stats::dnorm(z) / sum(stats::dnorm(z))
      sd <- sqrt(var)
      mixed <- if (type == "laplace") function(y) (tail(y, sd) + tail(-y, sd)) / (2 * scale)
               else function(y) vapply(y, function(y) sum(w * density(y - sd * z)), 0)
      entropy_of(mixed, sd + scale) - entropy_of(density, scale)
    }, 0)
    # the sums over z are of a smooth density, of steps of 0.06 sd
    expect_lt(max(abs(information_at(fit, c(3, -1), c(0.05, 1)) - brute)), 1e-5, label = type)
    if (type == "student") next # whose hundred knots of a spline take long
    many <- seq(0.01, 2, length.out = 150)
    few <- match(c(0.01, 2), many)
    expect_equal(information_at(fit, 0 * many, many)[few], information_at(fit, c(0, 0), many[few]),
                 tolerance = 1e-7)
  }
})

test_that("information on a spread and a mean is that of dense sums", {
  slow_tier()
  fit <- sparsegp(cbind(two_inputs$x), two_inputs$y, likelihood = lik_heteroscedastic(),
                  learn = FALSE)
  noise <- lik_values(fit)[["noise"]]
  S <- matrix(c(0.3, 0.1, 0.1, 0.4), 2)
  mean <- c(0.5, -0.2)
  z <- seq(-8, 8, length.out = 401L)
  w <- stats::dnorm(z) / sum(stats::dnorm(z))
  log_sd <- mean[2] + sqrt(S[2, 2]) * z
  slope <- S[1, 2] / S[2, 2]
  at <- mean[1] + slope * (log_sd - mean[2])
  sd <- sqrt(S[1, 1] - slope * S[1, 2] + noise * exp(2 * log_sd))
  y <- seq(-60, 60, by = 0.01)
  p <- rowSums(vapply(seq_along(z), function(i) w[i] * stats::dnorm(y, at[i], sd[i]),
                      numeric(length(y))))
  marginal <- 0.01 * plain_entropy(p)
  brute <- marginal - (log(2 * pi * exp(1) * noise) / 2 + mean[2])
  latent <- list(mean = mean, var = c(S), offset = matrix(0, 1, 2))
  expect_equal(information_model(fit)$information(latent), brute, tolerance = 1e-6)
})

test_that("information on several classes is that of a tensor rule", {
  slow_tier()
  y <- cut(two_inputs$y, 3)
  levels(y) <- c("a", "b", "c")
  z <- seq(-6, 6, length.out = 17L)
  w <- stats::dnorm(z) / sum(stats::dnorm(z))
  grid <- as.matrix(expand.grid(z, z, z))
  weight <- c(outer(c(outer(w, w)), w))
  mean <- rbind(c(0, 0.5, -1), c(2, 0, 0))
  var <- rbind(c(1, 0.5, 2), c(0.1, 0.2, 0.1))
  likelihoods <- list(softmax = lik_softmax(coupled = FALSE),
                      mprobit = lik_mprobit(coupled = FALSE), probit = lik_probit())
  for (type in names(likelihoods)) {
    fit <- sparsegp(cbind(two_inputs$x), y, likelihood = likelihoods[[type]], learn = FALSE)
    brute <- vapply(1:2, function(i) {
      f <- sweep(sweep(grid, 2L, sqrt(var[i, ]), "*"), 2L, mean[i, ], "+")
      p <- class_probabilities(fit, list(mean = f, var = 0 * f, offset = 0))
      plain_entropy(colSums(weight * p)) - sum(weight * apply(p, 1L, plain_entropy))
    }, 0)
    latent <- list(mean = mean, var = var, offset = c(0, 0))
    expect_lt(max(abs(information_model(fit)$information(latent) - brute)), 0.01, label = type)
  }
})

test_that("covariances are what they are on average over the label", {
  slow_tier()
  fit <- sparsegp(cbind(two_inputs$x), rep(c(0, 1, 2, 5, 3), 5), likelihood = "poisson",
                  learn = FALSE)
  bias <- lik_values(fit)[["bias"]]
  new <- cbind(c(0.2, 0.5))
  joint <- predict(fit, new, type = "latent", covariance = TRUE)
  z <- seq(-8.5, 8.5, length.out = 2001L)
  w <- stats::dnorm(z) / sum(stats::dnorm(z))
  f <- joint$fit[[1]] + sqrt(joint$covariance[1, 1]) * z
  p <- w * outer(exp(f + bias), 0:300, function(mu, y) stats::dpois(y, mu))
  marginal <- colSums(p)
  shift <- colSums(p * (f - joint$fit[[1]])) / marginal # of the first mean, by each label
  slope <- joint$covariance[, 1] / joint$covariance[1, 1]
  expected <- joint$covariance - tcrossprod(slope) * sum((marginal * shift^2)[marginal > 0])
  given <- candidate_rows(fit, new, NULL, NULL)
  lookahead <- condition_on(new_lookahead(fit, given), 1L)
  expect_equal(lookahead$latent$var, unname(diag(expected)), tolerance = 1e-7)
})

test_that("a label of classes makes covariances smaller by the slopes of its probability", {
  slow_tier()
  y <- cut(two_inputs$y, 3)
  fit <- sparsegp(cbind(two_inputs$x), y, likelihood = lik_mprobit(coupled = FALSE),
                  learn = FALSE)
  latent <- at_moments(rbind(c(0.3, -0.2, 0.5)), rbind(c(1, 0.4, 2)))
  latent$offset <- 0
  curvature <- information_model(fit)$curvature(latent)
  byhand <- Reduce(`+`, lapply(1:3, function(label) {
    told <- engine_lik_tilt(fit, rbind(as.double(label)), latent$mean, latent$var)
    exp(told$logz) * c(told$d1)^2
  }))
  expect_equal(unlist(curvature), byhand, tolerance = 1e-6)
})

test_that("a label makes covariances of every class smaller, each with a kernel of its own", {
  slow_tier()
  y <- cut(two_inputs$y, 3)
  fit <- sparsegp(cbind(two_inputs$x), y, likelihood = lik_mprobit(shared = FALSE), learn = FALSE)
  given <- candidate_rows(fit, cbind(c(0.1, 0.4, 0.8)), NULL, NULL)
  before <- new_lookahead(fit, given)
  after <- condition_on(before, 2L)
  curvature <- unlist(information_model(fit)$curvature(some_latent(given$latent, 2L, 1L)))
  byhand <- vapply(1:3, function(class) {
    joint <- joint_moments(fit, given$x, class)$var
    diag(joint) - joint[, 2]^2 * curvature[class]
  }, numeric(3))
  expect_equal(unname(after$latent$var), byhand, tolerance = 1e-9)
})

test_that("a batch of vectors is told by the determinant of all components' covariance", {
  slow_tier()
  g <- expand.grid(x = 1:4, y = 1:4)
  g <- transform(g, u = sin(y), v = cos(x))
  fit <- sparsegp(cbind(u, v) ~ x + y, g, kernel = kernel_helmholtz(), learn = FALSE)
  candidates <- expand.grid(x = c(0.5, 2.5, 4.5), y = c(0.5, 2.5, 5))
  asked <- next_rows(fit, candidates, k = 3)
  given <- candidate_rows(fit, candidates[asked, ], NULL, NULL)
  joint <- joint_moments(fit, given$x)$var
  noise <- component_noise(fit)
  all <- log_det(diag(6) + joint %*% kronecker(diag(3), solve(noise))) / 2
  expect_equal(sum(attr(asked, "gain")), all, tolerance = 1e-9)
  expect_equal(next_rows(fit, candidates, score = "variance")[1], asked[1])
})

test_that("entropies are those of predictions, and variances are", {
  slow_tier()
  fit <- sparsegp(y ~ x + z, two_inputs, learn = FALSE)
  variance <- predict(fit, some_candidates, type = "latent", se.fit = TRUE)$se.fit^2
  asked <- next_rows(fit, some_candidates, score = "variance")
  expect_equal(attr(asked, "first"), unname(variance), tolerance = 1e-9)
  entropy <- attr(next_rows(fit, some_candidates, score = "entropy"), "first")
  expect_equal(entropy, unname(log(2 * pi * exp(1) * (variance + coef(fit)[["noise"]])) / 2),
               tolerance = 1e-9)
  labels <- sparsegp(y > 1 ~ x + z, two_inputs, likelihood = "probit", learn = FALSE)
  p <- predict(labels, some_candidates, type = "prob")
  expect_equal(attr(next_rows(labels, some_candidates, score = "entropy"), "first"),
               unname(apply(p, 1L, plain_entropy)), tolerance = 1e-9)
})

test_that("expected improvement is its integral, and has a logarithm far below the best", {
  slow_tier()
  fit <- sparsegp(y ~ x + z, two_inputs, learn = FALSE)
  moments <- predict(fit, some_candidates, type = "latent", se.fit = TRUE)
  for (goal in c("min", "max")) {
    asked <- next_rows(fit, some_candidates, score = "improvement", goal = goal)
    sign <- if (goal == "min") -1 else 1
    best <- sign * max(sign * fitted(fit))
    brute <- mapply(function(m, s) {
      gap <- sign * (m - best)
      stats::integrate(function(u) u * stats::dnorm(u, gap, s), 0, max(gap, 0) + 10 * s,
                       rel.tol = 1e-10)$value
    }, moments$fit, moments$se.fit)
    seen <- brute > 1e-8
    expect_gt(sum(seen), 3)
    expect_equal(exp(attr(asked, "first"))[seen], unname(brute[seen]), tolerance = 1e-6)
    expect_identical(as.integer(asked), unname(which.max(brute)))
  }
  z <- c(-200, -40, -26, -25.0001, -24.9999, -10, -1)
  scaled <- vapply(z, function(z) {
    stats::integrate(function(t) t * exp(-t^2 / 2 + z * t), 0, 40 / (1 - z), rel.tol = 1e-10)$value
  }, 0)
  expect_equal(log_excess(z), stats::dnorm(z, log = TRUE) + log(scaled), tolerance = 1e-9)
  expect_equal(exp(log_excess(c(0.5, 50))), c(stats::dnorm(0.5) + 0.5 * stats::pnorm(0.5), 50),
               tolerance = 1e-12)
})

test_that("a row of the kriging believer leaves means, and raises what is to be improved on", {
  slow_tier()
  fit <- sparsegp(y ~ x + z, two_inputs, learn = FALSE)
  given <- candidate_rows(fit, some_candidates, NULL, NULL)
  lookahead <- lookahead_for(fit, given, "improvement", "max", best = -5)
  after <- condition_on(lookahead, 3L)
  expect_identical(after$latent$mean, lookahead$latent$mean)
  expect_equal(after$aim$best, predict(fit, some_candidates[3, ])[[1]])
})

test_that("rows are of the candidates given: allowed ones, complete ones, the first of equals", {
  slow_tier()
  fit <- sparsegp(y ~ x + z, two_inputs, learn = FALSE)
  free <- next_rows(fit, some_candidates, 3)
  expect_identical(some_candidates[free, ], some_candidates[as.integer(free), ])
  holes <- some_candidates
  holes$x[free[1]] <- NA
  expect_false(free[1] %in% next_rows(fit, holes, 39))
  inside <- next_rows(fit, some_candidates, 3, allowed = function(rows) rows$x < 0.5)
  expect_true(all(some_candidates$x[inside] < 0.5))
  flags <- rep(FALSE, 40)
  flags[c(9, 12)] <- TRUE
  expect_setequal(as.integer(next_rows(fit, some_candidates, 2, allowed = flags)), c(9, 12))
  twice <- rbind(some_candidates, some_candidates)
  expect_identical(as.integer(next_rows(fit, twice)), as.integer(free)[1])
  expect_error(next_rows(fit, some_candidates, 3, allowed = flags), class = "sparsegp_error")
  expect_error(next_rows(fit, some_candidates, allowed = TRUE), "allowed", class = "sparsegp_error")
  expect_error(next_rows(fit, some_candidates, cost = 0), "cost", class = "sparsegp_error")
  expect_error(next_rows(fit, some_candidates, cost = rep(c(1, NA), 20)), "cost",
               class = "sparsegp_error")
  expect_error(next_rows(fit, some_candidates["x"]), "`candidates`", class = "sparsegp_error")
  expect_error(next_rows(fit), "candidates", class = "sparsegp_error")
  expect_error(next_rows(fit, some_candidates, score = "entropy", cost = rep(1, 40)), "cost",
               class = "sparsegp_error")
})

test_that("what has no new response is asked for by its variance alone", {
  slow_tier()
  at <- cbind(1:8)
  winds <- cbind(sin(1:8), cos(1:8))
  fit <- sparsegp(at, mixture(c(0.6, 0.4), list(winds, -winds), 0.1), learn = FALSE)
  new <- cbind(c(2.5, 9, 5.5))
  asked <- next_rows(fit, new, score = "variance")
  expect_identical(as.integer(asked), 2L)
  expect_equal(attr(asked, "first"), unname(rowSums(predict(fit, new, se.fit = TRUE)$se.fit^2)))
  expect_error(next_rows(fit, new), "without a distribution", class = "sparsegp_error")
  expect_error(next_rows(fit, new, k = 2, score = "variance"), "without a distribution",
               class = "sparsegp_error")
  expect_error(next_rows(gp_density(sin(1:40)), new), "`fit`", class = "sparsegp_error")
})

test_that("print(), as.data.frame() and plot() show what was chosen", {
  slow_tier()
  fit <- sparsegp(y ~ x + z, two_inputs, learn = FALSE)
  asked <- next_rows(fit, some_candidates, 2, cost = rep(2, 40))
  expect_output(print(asked), "2 of 40 by information .* per unit of cost")
  frame <- as.data.frame(asked)
  expect_named(frame, c("row", "name", "gain", "cost"))
  expect_identical(frame$row, as.integer(asked))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (drawn in list(plot(asked), plot(asked, "x", main = "x"))) {
    expect_equal(drawn$order[asked], 1:2)
    expect_equal(drawn$score, attr(asked, "first"))
  }
  stream <- sparsegp(y ~ x, two_inputs, method = method_online(size = 5), learn = FALSE)
  expect_named(plot(next_rows(stream, some_candidates)), c("row", "score", "order"))
})

test_that("points of a box are inside it, better than all tried, and apart from each other", {
  slow_tier()
  set.seed(3)
  fit <- sparsegp(y ~ x + z, two_inputs, learn = FALSE)
  box <- list(x = c(0, 1), z = c(0, 1))
  found <- next_points(fit, box, k = 2, n = 50)
  expect_named(found, c("x", "z"))
  expect_true(all(found >= 0 & found <= 1))
  grid <- expand.grid(x = seq(0, 1, 0.1), z = seq(0, 1, 0.1))
  expect_gt(attr(found, "gain")[1], max(attr(next_rows(fit, grid), "first")) - 1e-6)
  expect_gt(max(abs(found[1, ] - found[2, ])), 0.1)
  inside <- next_points(fit, box, n = 50, allowed = function(d) d$x + d$z < 1)
  expect_lt(sum(inside), 1)
  mixed <- sparsegp(len ~ dose + supp, ToothGrowth, learn = FALSE)
  new <- next_points(mixed, list(dose = c(0.5, 2), supp = factor(c("OJ", "VC"))), n = 20,
                     score = "improvement", goal = "max")
  expect_true(new$supp %in% c("OJ", "VC"))
  expect_error(next_points(fit, list(c(0, 1))), "within", class = "sparsegp_error")
  expect_error(next_points(fit, list(x = 1, z = c(0, 1))), "range", class = "sparsegp_error")
  expect_error(next_points(fit, box, n = 20, allowed = function(d) d$x > 2), "allowed",
               class = "sparsegp_error")
})

test_that("a narrow peak of the improvement in six dimensions is found beside the best row", {
  slow_tier()
  top <- seq(0.25, 0.75, length.out = 6)
  set.seed(4)
  near <- sweep(matrix(runif(240, -0.05, 0.05), ncol = 6), 2, top, "+")
  x <- rbind(matrix(runif(60), ncol = 6), near)
  colnames(x) <- names(top) <- letters[1:6]
  fit <- sparsegp(x, rowSums(sweep(x, 2, top)^2), lik_gaussian(fixed(1e-8)), kernel_rbf(1, 1.5),
                  scale = FALSE, learn = FALSE)
  found <- next_points(fit, rbind(0 * top, 0 * top + 1), score = "improvement", n = 50)
  # as near as the surrogate is true; rows are 0.03 or more away
  expect_lt(sqrt(sum((unlist(found) - top)^2)), 0.01)
})

# A stream of labels, of which only those asked for are learned from
asked_share <- function(budget, rows = NULL, chunk = 10) {
  set.seed(1)
  stream <- data.frame(x = runif(420, -4, 4))
  truth <- function(d) transform(d, y = factor(sin(2 * x) > 0))
  fit <- sparsegp(y ~ x, truth(stream[1:20, , drop = FALSE]), likelihood = "probit",
                  method = method_online(pilot = 20))
  asked <- NULL
  for (i in seq_len(400 / chunk)) {
    new <- stream[20 + chunk * (i - 1) + seq_len(chunk), , drop = FALSE]
    asked <- ask(fit, new, budget, rows = rows, after = asked)
    if (any(asked)) fit <- update(fit, truth(new[asked, , drop = FALSE]))
  }
  attr(asked, "state")
}

test_that("a stream asks for the share of rows that the budget has", {
  slow_tier()
  state <- asked_share(0.1, chunk = 20)
  expect_identical(state$seen, 400L)
  expect_lt(abs(state$asked / 400 - 0.1), 0.03)
  expect_lt(abs(asked_share(0.3)$asked / 400 - 0.3), 0.03)
  expect_lt(abs(asked_share(0.1, chunk = 1)$asked / 400 - 0.1), 0.03)
  counted <- asked_share(30, rows = 400)
  expect_lte(counted$asked, 30)
  expect_gt(counted$asked, 25)
})

test_that("the threshold of a stream that is not learned from asks for the share, too", {
  slow_tier()
  fit <- sparsegp(y > 1 ~ x, two_inputs, likelihood = "probit", learn = FALSE)
  set.seed(1)
  asked <- NULL
  for (i in 1:3) asked <- ask(fit, data.frame(x = runif(50)), 0.2, after = asked)
  state <- attr(asked, "state")
  expect_identical(state$seen, 150L)
  expect_lt(abs(state$asked / 150 - 0.2), 0.06)
  spent <- ask(fit, data.frame(x = runif(50)), 3, rows = 50)
  expect_lte(sum(spent), 3)
})

test_that("ask() skips rows that are not complete, and refuses what it cannot count", {
  fit <- sparsegp(y > 1 ~ x, two_inputs, likelihood = "probit", learn = FALSE)
  rows <- data.frame(x = c(NA, 0.5, 3))
  asked <- ask(fit, rows, 0.5)
  expect_false(asked[1])
  expect_identical(is.na(attr(asked, "score")), c(TRUE, FALSE, FALSE))
  expect_identical(attr(asked, "state")$seen, 2L)
  expect_output(print(asked), "so far")
  expect_error(ask(fit, rows, 10), "rows", class = "sparsegp_error")
  expect_error(ask(fit, rows, 0.1, rows = 10), "rows", class = "sparsegp_error")
  expect_error(ask(fit, rows, 0), "budget", class = "sparsegp_error")
  for (budget in c(5, 1.5, Inf)) {
    expect_error(ask(fit, rows, budget), "`budget`", class = "sparsegp_error")
  }
  expect_error(ask(fit, rows, 40, rows = 30), "`budget`", class = "sparsegp_error")
  expect_error(ask(fit, rows, 0.1, after = TRUE), "after", class = "sparsegp_error")
})

test_that("points beside rows with labels know as much as among them", {
  slow_tier()
  y <- cut(two_inputs$y, 3)
  fits <- list(
    sparsegp(cbind(two_inputs$x), two_inputs$y, learn = FALSE),
    sparsegp(cbind(two_inputs$x), y, likelihood = lik_mprobit(shared = FALSE), learn = FALSE),
    sparsegp(cbind(two_inputs$x), cbind(a = two_inputs$y, b = two_inputs$y^2), learn = FALSE)
  )
  taken <- cbind(c(0.2, 0.9, 0.25))
  new <- cbind(c(0.1, 0.4, 0.8, 0.22))
  for (fit in fits) {
    given <- function(x) candidate_rows(fit, x, NULL, NULL)
    all <- given(rbind(taken, new))
    among <- new_lookahead(fit, all)
    for (row in 1:3) among <- condition_on(among, row)
    found <- beside(batch_of(fit, taken, "information", "min", NULL), given(new))
    wanted <- some_latent(among$latent, 4:7, n_outputs(fit))
    expect_equal(unname(found$latent$var), unname(wanted$var), tolerance = 1e-9)
  }
})
