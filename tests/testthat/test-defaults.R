# What is done where the user says nothing of kernel, scaling, method or basis.

r_code_alone()

small <- function() {
  set.seed(16)
  d <- data.frame(x = rnorm(20), z = runif(20))
  d$y <- sin(d$x) + rnorm(20, sd = 0.2)
  d
}

test_that("a choice of rows is the same each time, nested, and has every class", {
  rows <- spread_rows(1000)
  expect_identical(sort(rows), 1:1000)
  for (count in c(7, 50, 333)) {
    # gaps between multiples of the golden ratio are of three lengths, the longest under three means
    expect_lt(max(diff(sort(c(0, rows[seq_len(count)], 1001)))), 3 * 1000 / count)
  }
  y <- rep(c("a", "b", "c"), c(900, 90, 10))
  strata <- strata_of(y)
  rows <- spread_rows(1000, strata)
  expect_identical(sort(rows), 1:1000)
  expect_setequal(y[rows[1:3]], c("a", "b", "c"))
  shares <- table(y[rows[1:200]])
  expect_true(all(abs(shares - c(180, 18, 2)) <= 1))
  expect_null(strata_of(rnorm(100)))
  expect_identical(strata_of(c(2, 5, 2)), c(1L, 2L, 1L))
})

test_that("the evidence chooses kernel and scaling, and the fit says what was tried", {
  slow_tier()
  set.seed(1)
  x <- matrix(runif(600), 100, dimnames = list(NULL, paste0("x", 1:6)))
  y <- sin(6 * x[, 1]) + 0.1 * rnorm(100)
  fit <- sparsegp(x, y)
  expect_true(fit$kernel$ard)
  lengths <- coef(fit)[paste0("lengthscale.x", 1:6)]
  expect_gt(min(lengths[-1]), 5 * lengths[[1]])
  tried <- choices_of_stage(fit, "kernel")
  expect_named(tried, c("stage", "candidate", "rows", "points", "score", "gain", "se", "needed",
                         "taken"))
  expect_identical(unique(tried$rows), 100L)
  # the chosen one is best but for what a simpler one is let have
  expect_identical(tried$candidate[tried$taken], format(fit$kernel))
  expect_gte(tried$score[tried$taken], max(tried$score) - policy$min_evidence_gain)
  expect_output(print(summary(fit, details = TRUE)), "Choice of kernel, by log evidence")
  # it is the fit that asks for that kernel
  asked <- sparsegp(x, y, kernel = kernel_rbf(ard = TRUE))
  expect_equal(fit$log_evidence, asked$log_evidence, tolerance = 0.1 / abs(asked$log_evidence))
  expect_identical(NROW(choices_of_stage(asked, "kernel")), 0L)
  rough <- sparsegp(x[, 1], cumsum(rnorm(100))[rank(x[, 1])])
  expect_match(format(rough$kernel), "matern32")
})

test_that("what is given is obeyed, and without learning there is nothing to choose", {
  slow_tier()
  d <- small()
  expect_identical(format(sparsegp(y ~ x + z, d, learn = FALSE)$kernel), "rbf()")
  expect_identical(format(sparsegp(y ~ x + z, d, kernel = kernel_matern12())$kernel), "matern12()")
  own <- sparsegp(y ~ x + z, d, scale = FALSE)
  expect_false(own$scaling$scale)
  expect_false("input scale" %in% own$choices$stage)
  expect_true("kernel" %in% own$choices$stage)
})

test_that("one scale for all inputs is the root of their mean variance", {
  slow_tier()
  x <- cbind(a = c(1, 2, 3, 6), b = c(0, 10, 20, 10), k = 1)
  scaling <- scaling_of(input_moments(x), "common")
  variance <- colMeans(sweep(x[, 1:2], 2, colMeans(x[, 1:2]))^2)
  expect_equal(unname(scaling$sd), rep(sqrt(mean(variance)), 2), tolerance = 1e-14)
  expect_equal(unname(scaling$centre), c(3, 10))
  d <- data.frame(x, y = c(1, 3, 2, 4))
  fit <- sparsegp(y ~ a + b, d, scale = "common", learn = FALSE)
  # the kernel sees distances as they are, in units of that scale
  same <- sparsegp(y ~ a + b, d, scale = FALSE, learn = FALSE,
                   kernel = kernel_rbf(lengthscale = sqrt(2) * scaling$sd[[1]]))
  expect_equal(fitted(fit), fitted(same), tolerance = 1e-10)
})

test_that("a prior has to fit the simplest kernel", {
  slow_tier()
  d <- small()
  # a prior of one input's length scale is none of an isotropic kernel's, which has to be
  refused(sparsegp(y ~ x + z, d,
                   control = gp_control(prior = list(lengthscale.x = prior_gamma(2, 1)))), "prior")
})

# Many rows, by less work: the plan as it is for 60 000 of them.
grown <- function(x, y, ...) sparsegp(x, y, kernel = kernel_rbf(),
                                      control = gp_control(effort = "quick"), ...)

test_that("a basis grows for as long as rows that are not in it gain", {
  slow_tier()
  set.seed(3)
  x <- runif(3000, -10, 10)
  y <- sin(x) / x + 0.1 * rnorm(3000)
  fit <- grown(x, y)
  growth <- choices_of_stage(fit, "inducing points")
  expect_identical(growth$points[nrow(growth)], nrow(basis(fit)))
  expect_true(all(growth$gain[-c(1L, nrow(growth))] >= policy$min_gain))
  expect_lt(growth$gain[nrow(growth)], policy$min_gain)
  # the gain is of rows in neither basis, from the fits one by one
  at <- lapply(utils::tail(growth$points, 2L), function(size) {
    values <- coef(fit)
    sparsegp(x, y, kernel = kernel_rbf(values[["variance"]], values[["lengthscale"]]),
             likelihood = lik_gaussian(values[["noise"]]),
             basis = spread_rows(3000)[seq_len(size)], learn = FALSE)
  })
  last <- nrow(growth)
  out <- -spread_rows(3000)[seq_len(growth$points[last])]
  gain <- mean((loo_lpd(at[[2L]]) - loo_lpd(at[[1L]]))[out])
  expect_equal(gain, growth$gain[last], tolerance = 1e-6)
  expect_equal(fit$log_evidence, at[[2L]]$log_evidence, tolerance = 1e-9)
  expect_lt(sqrt(mean((predict(fit, x) - sin(x) / x)^2)), 0.02)
  expect_identical(coef(grown(x, y)), coef(fit)) # no chance
})

test_that("hyperparameters come from stages of more and more rows", {
  slow_tier()
  set.seed(4)
  x <- matrix(runif(3600), 1800)
  y <- sin(9 * x[, 1]) + x[, 2] + 0.2 * rnorm(1800)
  fit <- grown(x, y)
  stages <- choices_of_stage(fit, "learning")
  expect_identical(stages$rows[1], stages$points[1]) # full EP of a few
  expect_false(is.unsorted(stages$rows))
  expect_true(all(stages$points[-1] < stages$rows[-1]))
  evaluations <- as.integer(sub(" .*", "", stages$candidate))
  expect_identical(fit$learning$evaluations, sum(evaluations))
  expect_equal(coef(fit)[["noise"]], 0.04, tolerance = 0.1) # sd of the estimate: 3.3 %
})

test_that("few and many rows are fitted alike on both sides of the bound", {
  slow_tier()
  set.seed(5)
  bound <- rows_of_work(policy$full_ep_flops / 8, lik_gaussian(), 1L)
  x <- matrix(runif(3 * (bound + 1)), ncol = 3)
  f <- 3 * sin(5 * x[, 1]) * x[, 2]
  y <- f + 0.3 * rnorm(bound + 1)
  error <- vapply(c(bound, bound + 1), function(n) {
    fit <- grown(x[seq_len(n), ], y[seq_len(n)])
    sqrt(mean((predict(fit, x) - f)^2))
  }, 0)
  expect_lt(abs(diff(error)), 0.1 * error[1])
})

# ---- Labels ----

test_that("classes each against the rest have the odds of their answers, to the fit's power", {
  slow_tier()
  set.seed(11)
  x <- matrix(rnorm(120), 60)
  class <- cut(x[, 1] + 0.5 * x[, 2]^2 + 0.4 * rnorm(60), c(-Inf, -0.3, 0.8, Inf),
               labels = c("low", "mid", "high"))
  d <- list(x = x, class = class, new = x[1:9, ] + 0.3)
  fit <- sparsegp(d$x, d$class, likelihood = lik_probit(), kernel = kernel_rbf(3, 1.1),
                  learn = FALSE)
  latent <- predict(fit, d$new, type = "link", se.fit = TRUE)
  own <- pnorm(latent$fit / sqrt(1 + latent$se.fit^2))
  expect_equal(unname(predict(fit, d$new, type = "prob")), by_odds(own), tolerance = 1e-10)
  fit$power <- 0.6
  expect_equal(unname(predict(fit, d$new, type = "prob")), by_odds(own, 0.6), tolerance = 1e-10)
  two <- sparsegp(d$x, d$class == "low", kernel = kernel_rbf(3, 1.1), learn = FALSE)
  p <- predict(two, d$new)
  two$power <- 1.7
  expect_equal(predict(two, d$new), p^1.7 / (p^1.7 + (1 - p)^1.7), tolerance = 1e-12)
  expect_equal(unname(predict(two, d$new, type = "prob")[, 2L]), unname(predict(two, d$new)),
               tolerance = 1e-12)
  # leave-one-out densities are of the same probabilities
  own <- loo(two)
  expect_equal(unname(loo_lpd(two)), log(own$prob), tolerance = 1e-12)
})

test_that("a gain is more than so many standard errors", {
  expect_true(beats(c(1, 3), standard_errors(1))) # a mean of 2, whose standard error is 1
  expect_false(beats(c(1, 3), standard_errors(2)))
  expect_false(beats(c(-1, 2), standard_errors(1)))
  expect_false(beats(c(-1, -3), standard_errors(1)))
  expect_true(beats(-0.5, nats(-1)))
  expect_false(beats(NA, nats(-1)))
})

test_that("a power of probabilities is one of their odds", {
  p <- rbind(c(0.2, 0.3, 0.5), c(1e-300, 1e-290, 1 - 1e-16))
  expect_equal(temper(log(p)), p, tolerance = 1e-12)
  expect_equal(temper(log(p), 3), p^3 / rowSums(p^3), tolerance = 1e-12)
  expect_equal(log_tempered(log(p), 1.5)[2L, 1L], 1.5 * log(1e-300), tolerance = 1e-12)
})

test_that("labels that are all told apart do not make probabilities sure without end", {
  slow_tier()
  # eight of each label, each right with probability p: by the rule of succession the next is right
  # with 9/10, and so it is at the power of the odds of p that are 9
  y <- factor(rep(c("a", "b"), each = 8))
  for (p in c(0.8, 0.95)) {
    own <- cbind(ifelse(y == "a", p, 1 - p), ifelse(y == "b", p, 1 - p))
    best <- best_temper(log(own), y)
    # a line search to a relative 1e-4
    expect_equal(best$power, log(9) / log(p / (1 - p)), tolerance = 1e-3)
    expect_equal(best$lpd, rep(log(0.9), 16), tolerance = 1e-3)
  }
  # of three labels the next one is any of the others; each label has its own number
  set.seed(1)
  y <- factor(sample(3, 40, TRUE, c(0.6, 0.3, 0.1)))
  scores <- matrix(rnorm(120), 40)
  right <- (tabulate(y) + 1) / (tabulate(y) + 2)
  expected <- vapply(1:40, function(i) {
    k <- as.integer(y[i])
    right[k] * scores[i, k] + (1 - right[k]) * mean(scores[i, -k])
  }, 0)
  expect_equal(next_score(scores, y), expected, tolerance = 1e-12)
})

test_that("many labels: informative vectors, length scales and a power by leave-one-out", {
  slow_tier()
  set.seed(6)
  n <- 1200
  x <- matrix(runif(2 * n, -2, 2), n)
  class <- factor(c("in", "out")[1 + (rowSums(x^2) + 0.4 * rnorm(n) > 2)])
  fit <- sparsegp(x, class, kernel = kernel_rbf(), control = gp_control(effort = "quick"))
  expect_identical(fit$options$label, "the IVM")
  plain <- choices_of_stage(fit, "length scale")
  # shorter ones first, until one was no better; the one learned where that was the second
  expect_identical(plain$candidate, paste("length scales x", c(0.7, 0.5, 1)))
  # a margin was tried at the best, too, and of labels that overlap so much it was no better
  margin <- choices_of_stage(fit, "likelihood")
  expect_identical(margin$candidate, c("probit", "margin"))
  expect_identical(margin$taken, c(TRUE, FALSE))
  expect_identical(fit$likelihood$type, "probit")
  # which all observations are fitted with
  last <- choices_of_stage(fit, "all observations")
  expect_lte(last$points, fit$options$size)
  expect_identical(last$candidate, plain$candidate[plain$taken])
  truth <- mean(predict(fit, x, type = "class") == ifelse(rowSums(x^2) > 2, "out", "in"))
  expect_gt(truth, 0.95)
  # the power is within two standard errors of the best one, and no nearer to 1 than that takes
  power <- if (is.null(fit$power)) 1 else fit$power
  plain <- fit
  plain$power <- NULL
  p <- loo(plain)$prob
  n_own <- table(class)[as.character(class)]
  lpd <- function(a) { # with the label of the next observation like each
    right <- p^a / (p^a + (1 - p)^a)
    c((n_own + 1) / (n_own + 2) * log(right) + log(1 - right) / (n_own + 2))
  }
  best <- exp(optimize(function(b) mean(lpd(exp(b))), log(policy$temper_range),
                       maximum = TRUE)$maximum)
  loss <- lpd(best) - lpd(power)
  expect_lt(mean(loss), 1.02 * 2 * sd(loss) / sqrt(n) + 1e-12)
  three <- factor(cut(x[, 1] + 0.2 * rnorm(n), 3, labels = FALSE))
  joint <- sparsegp(x, three, kernel = kernel_rbf(), control = gp_control(effort = "quick"))
  expect_identical(joint$likelihood$type, "probit")
  expect_identical(sparsegp(x[1:60, ], three[1:60], kernel = kernel_rbf())$likelihood$type,
                   "coupled_mprobit")
  expect_gt(mean(predict(joint, x, type = "class") == three), 0.8)
})

test_that("labels that hardly overlap have a margin, unless something else was asked for", {
  slow_tier()
  set.seed(8)
  n <- 700
  x <- matrix(runif(4 * n, -2, 2), n)
  height <- x[, 2] + sin(2 * x[, 1])
  x[, 2] <- x[, 2] + 0.2 * sign(height) # a gap
  class <- height > 0
  asked <- function(...) sparsegp(x[1:600, ], class[1:600], ...,
                                  control = gp_control(effort = "quick"))
  fit <- asked(kernel = kernel_rbf())
  expect_identical(fit$likelihood$type, "margin")
  expect_output(print(summary(fit)), "chosen by leave-one-out log probability: margin")
  plain <- asked(lik_probit(), kernel_rbf())
  expect_identical(plain$likelihood$type, "probit")
  expect_identical(asked(kernel = kernel_rbf(fixed(2)))$likelihood$type, "probit")
  expect_gt(mean(loo_lpd(fit)), mean(loo_lpd(plain)))
})

test_that("the margin's model is the probit's, steeper", {
  slow_tier()
  set.seed(8)
  x <- matrix(rnorm(60), 30, dimnames = list(NULL, c("a", "b")))
  class <- x[, 1] + 0.5 * rnorm(30) > 0
  fit <- sparsegp(x, class, lik_probit(), kernel_rbf())
  setup <- check_setup(NULL, kernel_rbf(), NULL, TRUE, NULL, TRUE)
  chunk <- list(x = x, y = class, offset = numeric(30))
  model <- read_model(chunk, setup)
  plan <- list(problem = list(), sites = list(tau = 9, nu = 6))
  data <- list(chunk = chunk, setup = setup, input_terms = c("a", "b"))
  probit <- new_candidate(model, fit$hyper, plan, data)
  wide <- with_policy(margin_width = 12, code = with_margin(probit))
  # nothing else is tried if the likelihood was given
  probit$data$setup$likelihood <- lik_probit()
  expect_null(with_margin(probit))
  # a width of 4 stands for probit's own slope: three times as much here
  expect_equal(wide$table$theta, c(fit$hyper$theta + c(2 * log(3), 0, 0), log(12)) *
                 c(1, 1, 3, 1), tolerance = 1e-15)
  expect_identical(wide$plan$sites, list(tau = 1, nu = 2))
  expect_identical(wide$plan$problem$lik$type, "margin")
})

test_that("the first search of labels is on a third of each, whatever the order of the rows", {
  label <- rep(c("a", "b", "c"), c(30, 60, 90))
  problem <- list(x = matrix(0, 180, 1), strata = strata_of(factor(label)))
  expect_equal(c(table(label[pilot_third(problem)])), c(a = 10, b = 20, c = 30), tolerance = 0.1)
})

test_that("classes one by one are classes side by side", {
  slow_tier()
  set.seed(3)
  n <- 150
  x <- matrix(runif(2 * n, -2, 2), n, dimnames = list(NULL, c("a", "b")))
  class <- factor(cut(x[, 1] + 0.3 * rnorm(n), 3, labels = FALSE))
  setup <- check_setup(lik_probit(), kernel_rbf(), NULL, FALSE, NULL, TRUE)
  chunk <- list(x = x, y = class, offset = numeric(n))
  model <- read_model(chunk, setup)
  plan <- plan_classification(problem_of(model, chunk), "quick")
  plan$problem$options$tol <- 1e-10 # far from where rounding shows in 1e-8
  run <- run_plan(plan, model$table$theta)
  together <- plan$problem
  together$basis <- basis_of_rows(together, NULL, run$basis_rows_of)
  side <- engine_run(together, model$table$theta, posterior = TRUE)
  for (field in c("logz", OF_ONE_CLASS, "lpd", "state")) {
    expect_equal(run[[field]], side[[field]], tolerance = 1e-8, ignore_attr = TRUE, label = field)
  }
  expect_equal(run$each, side$each, tolerance = 1e-8, ignore_attr = TRUE)
  expect_true(all(c(RUN, "sweeps", "change", "converged", "trace", "jitter") %in% names(run)))
})

test_that("where rows are many, length scales are looked for on some of them", {
  slow_tier()
  set.seed(4)
  n <- 1500
  x <- matrix(runif(2 * n, -2, 2), n)
  class <- sin(3 * x[, 1]) + x[, 2] + 0.3 * rnorm(n) > 0
  fit <- function() sparsegp(x, class, lik_probit(), kernel_rbf(),
                             control = gp_control(effort = "quick"))
  all <- fit()
  some <- with_policy(compare_rows = 400L, code = fit())
  expect_false(identical(all$choices$score, some$choices$score))
  expect_length(some$y, n)
  expect_equal(mean(loo_lpd(some)), mean(loo_lpd(all)), tolerance = 0.1)
})

test_that("two labels of few rows have a power where leave-one-out asks for one", {
  slow_tier()
  set.seed(2)
  n <- 75
  class <- factor(rep(c("wide", "narrow"), each = n))
  # twenty normal inputs of different spread: evidence leaves the posterior too unsure of itself
  x <- rbind(matrix(2 * rnorm(20 * n), n), matrix(rnorm(20 * n), n) + 2 / sqrt(20))
  fit <- sparsegp(x, class, kernel = kernel_rbf())
  expect_gt(fit$power, 1)
  expect_output(print(summary(fit)), "odds raised to the power")
  # asked for by name, EP is as it is
  plain <- sparsegp(x, class, kernel = kernel_rbf(), method = method_ep())
  expect_null(plain$power)
  expect_gt(mean(loo_lpd(fit)), mean(loo_lpd(plain)))
  expect_null(sparsegp(x, class, learn = FALSE)$power)
  # what is drawn has the power that is predicted
  drawn <- simulate(fit, 400, seed = 1)
  often <- rowMeans(as.matrix(drawn) == fit$response$levels[2L])
  expect_lt(max(abs(often - predict(fit))), 5 * 0.5 / sqrt(400))
  at <- predict(fit, x[1:3, ], se.fit = TRUE)
  set.seed(1)
  by_draws <- apply(draws(fit, x[1:3, ], 4000, type = "response"), 1, sd)
  expect_equal(unname(by_draws), unname(at$se.fit), tolerance = 0.06) # of 4000
  p <- predict(fit)
  expect_equal(residuals(fit, "pearson"), residuals(fit) / sqrt(p * (1 - p)), tolerance = 1e-10)
})

test_that("as few labels are turned as make the frequencies that are wanted", {
  y <- rep(c(-1, 1), c(3000, 7000))
  set.seed(3)
  for (wanted in c(0, 0.5, 0.7, 0.9, 1)) {
    turned <- flip_labels_to_match(y, rep(0.7, 10000), rep(wanted, 10000))
    expect_lt(abs(mean(turned > 0) - wanted), 0.02) # four standard errors
    expect_true(all(turned[y > 0] > 0) || all(turned[y < 0] < 0)) # one way only
  }
})
