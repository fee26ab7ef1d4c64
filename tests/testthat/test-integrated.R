# What a label is expected to tell elsewhere: score = "integrated".

r_code_alone()

measured <- local({
  set.seed(1)
  d <- data.frame(x = runif(25), z = runif(25))
  d$y <- sin(5 * d$x) + d$z + 0.1 * rnorm(25)
  d
})
places <- local({
  set.seed(2)
  data.frame(x = runif(12, -0.2, 1.2), z = runif(12))
})
unit_box <- list(x = c(0, 1), z = c(0, 1))
two <- data.frame(x = c(0.3, 0.9), z = c(0.6, 0.1))

test_that("falls of the variance are those of explicit inverses, by every method", {
  slow_tier()
  methods <- list(NULL, method_ep(size = 8), method_ivm(size = 8), method_online(size = 8))
  weights <- c(2, 0, rep(1, 9))
  for (method in of_tier(methods, 2)) {
    fit <- sparsegp(y ~ x + z, measured, method = method, learn = FALSE)
    joint <- predict(fit, places, covariance = TRUE)$covariance
    byhand <- plain_fall(joint, coef(fit)[["noise"]], weights / sum(weights))
    # the same products in another order
    expect_equal(score_elsewhere(fit, places, "variance", weights), byhand, tolerance = 1e-9)
    entropy <- -mean(log1p(-joint[-1, 1]^2 / diag(joint)[-1] /
                             (joint[1, 1] + coef(fit)[["noise"]]))) / 2
    expect_equal(score_elsewhere(fit, places, "entropy"), entropy, tolerance = 1e-9)
  }
})

test_that("a fit that has measured a row is as sure elsewhere as was expected", {
  slow_tier()
  kernel <- kernel_rbf(fixed(1), fixed(0.4)) + kernel_constant(fixed(2))
  refit <- function(rows, mean = NULL) {
    sparsegp(y ~ x + z, rows, lik_gaussian(fixed(0.01)), kernel, mean = mean, scale = FALSE,
             learn = FALSE)
  }
  target <- places[-(1:3), ]
  variance <- function(fit) mean(predict(fit, target, type = "latent", se.fit = TRUE)$se.fit^2)
  for (mean in list(NULL, ~ x)) {
    fit <- refit(measured, mean)
    asked <- next_rows(fit, places[1:3, ], k = 3, score = "integrated", target = target)
    falls <- numeric()
    for (j in 1:3) {
      new <- transform(places[asked[seq_len(j)], ], y = 17) # the variance does not depend on it
      falls[j] <- variance(fit) - variance(refit(rbind(measured, new), mean))
    }
    expect_equal(cumsum(attr(asked, "gain")), falls, tolerance = 1e-7)
  }
})

test_that("rows of a batch are those a naive search finds, with weights, costs and noise", {
  slow_tier()
  fit <- sparsegp(y ~ x + z, measured, learn = FALSE)
  trials <- rep(c(4, 1), 6)
  cost <- rep(c(1, 3, 2), 4)
  joint <- predict(fit, places, covariance = TRUE)$covariance
  where <- function(rows) exp(-3 * rows$x)
  w <- where(places) / sum(where(places))
  naive <- integer()
  for (j in 1:4) {
    noise <- coef(fit)[["noise"]] / trials
    gain <- vapply(1:12, function(i) sum(w * joint[, i]^2) / (joint[i, i] + noise[i]), 0) / cost
    naive[j] <- which.max(replace(gain, naive, -1))
    p <- naive[j]
    joint <- joint - tcrossprod(joint[, p]) / (joint[p, p] + noise[p])
  }
  fit <- suppressWarnings(sparsegp(y ~ x + z, measured, weights = rep(1, 25), learn = FALSE))
  found <- next_rows(fit, places, 4, score = "integrated", weights = trials, cost = cost,
                     target_weights = where)
  expect_identical(as.integer(found), naive)
})

test_that("expected error and entropy of two labels are those of dense sums", {
  links <- list(
    probit = function(value) function(f) stats::pnorm(f + value[["bias"]]),
    logit = function(value) function(f) stats::plogis(f + value[["bias"]])
  )
  for (link in of_tier(names(links), 1)) {
    fit <- sparsegp(y > 1 ~ x + z, measured, likelihood = link, learn = FALSE)
    p <- links[[link]](lik_values(fit))
    latent <- predict(fit, places, type = "latent", covariance = TRUE)
    probabilities <- function(mean, var) {
      each <- mapply(function(m, v) {
        stats::integrate(function(z) p(m + sqrt(v) * z) * stats::dnorm(z), -9, 9,
                         rel.tol = 1e-10)$value
      }, mean, var)
      cbind(1 - each, each)
    }
    losses <- list(error = wrong_labels, entropy = entropy_of_labels)
    for (measure in names(losses)) {
      byhand <- plain_fall_of_loss(latent$fit, latent$covariance, function(f) cbind(1 - p(f), p(f)),
                                   probabilities, losses[[measure]])
      # derivatives of probabilities are by differences; logit probabilities by a rule in C
      expect_equal(score_elsewhere(fit, places, measure), byhand, tolerance = 1e-5,
                   label = paste(link, measure))
    }
  }
})

test_that("expected error of ordered labels is that of dense sums", {
  slow_tier()
  level <- cut(measured$y, 3, ordered_result = TRUE)
  fit <- sparsegp(cbind(x = measured$x), level, learn = FALSE)
  cuts <- c(-Inf, cut_points(lik_values(fit)), Inf)
  given <- function(f, v = 0) {
    t(mapply(function(f, v) diff(stats::pnorm(cuts, f, sqrt(1 + v))), f, v))
  }
  rows <- cbind(x = c(0.45, 0.1, 0.5, 0.8))
  latent <- predict(fit, rows, type = "latent", covariance = TRUE)
  byhand <- plain_fall_of_loss(latent$fit, latent$covariance, given, given, wrong_labels)
  expect_equal(score_elsewhere(fit, rows, "error"), byhand, tolerance = 1e-5)
})

test_that("expected entropy of coupled classes is that of refits by each label", {
  slow_tier()
  y <- cut(measured$y, 3)
  lik <- lik_mprobit(coupled = TRUE)
  kernel <- kernel_rbf(fixed(1), fixed(0.4))
  refit <- function(rows, y) {
    sparsegp(as.matrix(rows), y, likelihood = lik, kernel = kernel, scale = FALSE, learn = FALSE)
  }
  fit <- refit(measured[1:2], y)
  target <- as.matrix(places[-1, ])
  entropy <- function(fit) mean(entropy_of_labels(predict(fit, target, type = "prob")))
  prob <- predict(fit, as.matrix(places[1, ]), type = "prob")
  after <- vapply(levels(y), function(label) {
    entropy(refit(rbind(measured[1:2], places[1, ]), factor(c(as.character(y), label), levels(y))))
  }, 0)
  byhand <- entropy(fit) - sum(prob * after)
  # a refit moves other sites, too, which one step does not
  expect_equal(score_elsewhere(fit, as.matrix(places), "entropy"), byhand, tolerance = 0.1)
})

test_that("two labels, as a refit by each has it", {
  slow_tier()
  refit <- function(rows, y) {
    sparsegp(as.matrix(rows), y, likelihood = "probit", kernel = kernel_rbf(fixed(1), fixed(0.4)),
             scale = FALSE, learn = FALSE)
  }
  y <- factor(measured$y > 1)
  fit <- refit(measured[1:2], y)
  target <- as.matrix(places[-1, ])
  entropy <- function(fit) mean(entropy_of_labels(predict(fit, target, type = "prob")))
  prob <- predict(fit, as.matrix(places[1, ]), type = "prob")
  after <- vapply(levels(y), function(label) {
    entropy(refit(rbind(measured[1:2], places[1, ]), factor(c(as.character(y), label))))
  }, 0)
  # a refit moves other sites, too, which one step does not
  expect_equal(score_elsewhere(fit, as.matrix(places), "entropy"), entropy(fit) - sum(prob * after),
               tolerance = 0.1)
})

test_that("several classes, independent: each label moves the moments of all functions", {
  slow_tier()
  y <- cut(measured$y, 3)
  fit <- sparsegp(as.matrix(measured[1:2]), y, likelihood = lik_mprobit(shared = FALSE,
                                                                        coupled = FALSE),
                  learn = FALSE)
  rows <- as.matrix(places[1:4, ])
  given <- candidate_rows(fit, rows, NULL, NULL)
  own <- some_latent(given$latent, 1L, 1L)
  prob <- class_probabilities(fit, own)
  joint <- lapply(1:3, function(class) joint_moments(fit, given$x, class)$var)
  after <- vapply(1:3, function(label) {
    told <- engine_lik_tilt(fit, rbind(as.double(label)), own$mean, own$var)
    moved <- some_latent(given$latent, 2:4, 1L)
    for (class in 1:3) {
      c <- joint[[class]][-1, 1]
      moved$mean[, class] <- moved$mean[, class] + c * told$d1[class]
      moved$var[, class] <- moved$var[, class] + c^2 * told$d2[class]
    }
    mean(wrong_labels(class_probabilities(fit, moved)))
  }, 0)
  before <- mean(wrong_labels(class_probabilities(fit, some_latent(given$latent, 2:4, 1L))))
  expect_equal(score_elsewhere(fit, rows, "error"), before - sum(prob * after), tolerance = 1e-5)
})

test_that("several responses are measured at once, in their units", {
  slow_tier()
  fit <- sparsegp(cbind(u = y, v = 1000 * y^2) ~ x + z, measured, learn = FALSE)
  given <- candidate_rows(fit, places[1:4, ], NULL, NULL)
  joint <- joint_moments(fit, given$x)$var
  c <- joint[-(1:2), 1:2]
  # noise of scaled responses
  noise <- component_noise(fit)
  falls <- diag(c %*% solve(joint[1:2, 1:2] + noise, t(c)))
  byhand <- sum(falls * rep(component_units(fit$response)^2, 3)) / 3
  expect_equal(score_elsewhere(fit, places[1:4, ], "variance"), byhand, tolerance = 1e-9)
  variances <- diag(joint)[-(1:2)]
  expect_equal(score_elsewhere(fit, places[1:4, ], "entropy"),
               -sum(log1p(-falls / variances)) / 2 / 3, tolerance = 1e-9)
})

test_that("gradients are those of differences, beside a batch, too", {
  slow_tier()
  counts <- rep(0:4, 5)
  fits <- list(
    sparsegp(y ~ x + z, measured, mean = ~ x, learn = FALSE),
    sparsegp(y ~ x + log(z + 1), measured, method = method_ep(size = 8), learn = FALSE),
    sparsegp(y > 1 ~ x + z, measured, likelihood = "probit", learn = FALSE),
    sparsegp(counts ~ x + z, measured, likelihood = "poisson", learn = FALSE),
    sparsegp(cbind(y, y^2) ~ x + z, measured, learn = FALSE),
    sparsegp(cut(y, 3) ~ x + z, measured, likelihood = lik_mprobit(coupled = TRUE), learn = FALSE),
    sparsegp(cut(y, 3) ~ x + z, measured, likelihood = lik_softmax(shared = FALSE), learn = FALSE)
  )
  point <- data.frame(x = 0.33, z = 0.7)
  for (fit in of_tier(fits, 3)) {
    target <- target_for(fit, "integrated", places, NULL, "variance", NULL)
    for (taken in list(NULL, two)) {
      batch <- batch_of(fit, taken, "integrated", "min", NULL, target)
      found <- gradient_beside(batch, unit_box, "integrated")(point)
      byhand <- plain_gradient(batch, point)
      expect_lt(max(abs(found - byhand)) / max(abs(byhand)), 1e-6)
    }
  }
})

test_that("points that are found are no worse than all of a lattice, whatever slopes are by", {
  slow_tier()
  smooth <- sparsegp(y ~ x, measured, learn = FALSE)
  rough <- sparsegp(y ~ x, measured, kernel = kernel_matern12(), learn = FALSE)
  at <- data.frame(x = seq(0, 2, by = 0.05))
  for (fit in list(smooth, rough)) {
    set.seed(1)
    found <- next_points(fit, list(x = c(0, 2)), score = "integrated", n = 20,
                         target = list(x = c(1, 1.5)))
    best <- next_rows(fit, at, score = "integrated", target = list(x = c(1, 1.5)))
    expect_gte(attr(found, "gain"), attr(best, "gain") * (1 - 1e-6))
    # the interest is on one side
    expect_gt(found$x, 0.8)
  }
  expect_null(gradient_beside(batch_of(rough, NULL, "variance", "min", NULL), list(x = 0:1),
                              "variance"))
})

test_that("a target is candidates, rows or a region, and weights are numbers or a function", {
  slow_tier()
  fit <- sparsegp(y ~ x + z, measured, learn = FALSE)
  gain <- function(...) attr(next_rows(fit, places, score = "integrated", ...), "first")
  expect_equal(gain(), gain(target = places))
  expect_equal(gain(target_weights = places$x + 1),
               gain(target = places, target_weights = function(rows) rows$x + 1))
  expect_equal(gain(target_weights = rep(c(1, 0), 6)), gain(target = places[c(TRUE, FALSE), ]))
  box <- even_points(list(x = c(2, 4), z = c("a", "b")), 100)
  expect_true(all(box$x > 2 & box$x < 4))
  expect_equal(mean(box$x), 3, tolerance = 0.01)
  expect_lte(abs(diff(table(box$z))), 4)
  # a lattice of many points, and as many points that are even: integrals of a smooth function
  lattice <- expand.grid(x = (1:20 - 0.5) / 20, z = (1:20 - 0.5) / 20)
  expect_equal(gain(target = list(x = 0:1, z = 0:1)), gain(target = lattice), tolerance = 0.02)
  holes <- rbind(places, data.frame(x = NA, z = 1))
  expect_equal(gain(target = holes), gain(target = places))
})

test_that("errors name the argument and what to do", {
  fit <- sparsegp(y ~ x + z, measured, learn = FALSE)
  ask <- function(..., score = "integrated") next_rows(fit, places, score = score, ...)
  expect_error(ask(measure = "error"), "measure", class = "sparsegp_error")
  expect_error(ask(measure = "risk"), "measure", class = "sparsegp_error")
  expect_error(ask(target_weights = -1:10), "target_weights", class = "sparsegp_error")
  expect_error(ask(target_weights = 1:3), "target_weights", class = "sparsegp_error")
  expect_error(ask(target_weights = 0 * (1:12)), "target", class = "sparsegp_error")
  expect_error(ask(target = data.frame(x = 1)), "target", class = "sparsegp_error")
  expect_error(ask(target = list(x = c(0, 0))), "target", class = "sparsegp_error")
  expect_error(ask(target = places, score = "variance"), "target", class = "sparsegp_error")
  expect_error(next_points(fit, unit_box, score = "variance", target_weights = 1),
               "target_weights", class = "sparsegp_error")
  expect_output(print(ask()), "elsewhere")
})

test_that("points of a box are chosen by what they tell per unit of cost", {
  slow_tier()
  set.seed(4)
  fit <- sparsegp(y ~ x + z, measured, learn = FALSE)
  cost <- function(points) 0.2 + points$x
  grid <- expand.grid(x = 0:20 / 20, z = 0:20 / 20)
  for (score in c("integrated", "variance", "improvement")) {
    found <- next_points(fit, unit_box, score = score, n = 60, cost = cost, target = if (
      score == "integrated") places)
    at <- function(rows) {
      attr(next_rows(fit, rows, score = score, cost = cost(rows), target = if (
        score == "integrated") places), "first")
    }
    expect_identical(attr(found, "cost"), cost(found))
    expect_equal(attr(found, "gain"), at(found), tolerance = 1e-9) # the same sums
    expect_gt(attr(found, "gain"), max(at(grid)) - 1e-9) # climbing ends above a grid of 0.05
  }
  expect_error(next_points(fit, unit_box, cost = 2), "cost", class = "sparsegp_error")
  expect_error(next_points(fit, unit_box, cost = function(p) 0 * p$x), "positive number",
               class = "sparsegp_error")
})
