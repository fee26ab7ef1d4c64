# Learning hyperparameters.

r_code_alone()

wiggly <- function() {
  set.seed(1)
  x <- seq(0, 20, length.out = 120)
  list(x = x, y = sin(2 * pi * x / 3) + 0.1 * x + 0.2 * rnorm(120))
}

test_that("learning raises log evidence + log prior above the start, and ends where it is flat", {
  memory_tier()
  d <- wiggly()
  fit <- sparsegp(d$x, d$y, kernel = kernel_rbf())
  start <- sparsegp(d$x, d$y, kernel = kernel_rbf(), learn = FALSE)
  prior <- function(f) hyper_log_prior(fit$hyper, f$hyper$theta)$value
  expect_gt(fit$log_evidence + prior(fit), start$log_evidence + prior(start))
  # optim's own tolerance is relative, 1e8 times rounding: far below one unit of log evidence
  expect_lt(max(abs(fit$learning$gradient)), 0.05)
  expect_true(fit$learning$converged)
})

test_that("a function wigglier than the default length scale is not explained as noise", {
  memory_tier()
  d <- wiggly()
  noise <- coef(sparsegp(d$x, d$y))[["noise"]]
  # the truth is 0.04; the optimum that calls the wiggles noise has 0.5
  expect_lt(noise, 0.06)
})

test_that("the gradient handed to optim is that of the value handed to optim", {
  memory_tier()
  d <- wiggly()
  fit <- sparsegp(d$x, d$y, kernel = kernel_rq(), learn = FALSE)
  problem <- list(x = fit$posterior$basis, spec = fit$spec, nkernel = 3L, processes = 1L,
                  lik = fit$likelihood,
                  rows = fit$data_rows, offset = fit$offset, options = fit$options)
  objective <- make_objective(evidence_criterion(problem), fit$hyper, SILENT)
  at <- fit$hyper$theta + 0.1
  # exact GP: both are accurate to about 1e-8
  expect_equal(objective$gradient(at), numeric_gradient(objective$value, at), tolerance = 1e-6)
})

test_that("fixed() hyperparameters stay, to the last bit, and the others are learned", {
  d <- wiggly()
  fit <- sparsegp(d$x, d$y, kernel = kernel_rbf(lengthscale = fixed(0.3)))
  expect_equal(coef(fit)[["lengthscale"]], 0.3, tolerance = 1e-15)
  expect_false("lengthscale" %in% names(fit$learning$gradient))
  expect_length(fit$learning$gradient, 2L)
  all_fixed <- sparsegp(d$x, d$y, kernel = kernel_rbf(fixed(1), fixed(1)),
                        likelihood = lik_gaussian(fixed(0.1)))
  expect_null(all_fixed$learning)
})

test_that("ARD finds the inputs that matter", {
  memory_tier()
  set.seed(3)
  x <- matrix(runif(600), 100)
  y <- sin(6 * x[, 2]) + 2 * x[, 5]^2 + 0.1 * rnorm(100)
  fit <- sparsegp(x, y, kernel = kernel_rbf(ard = TRUE))
  lengths <- coef(fit)[grepl("lengthscale", names(coef(fit)))]
  expect_setequal(order(lengths)[1:2], c(2, 5))
})

test_that("ARD finds inputs that act only together, though the search first switches them off", {
  slow_tier()
  set.seed(3)
  x <- matrix(runif(5000, -1.7, 1.7), 500)
  y <- 3 * sin(2 * x[, 1]) + x[, 3] * sin(2 * x[, 4] + x[, 1]) + 0.1 * rnorm(500)
  fit <- sparsegp(x, y, kernel = kernel_rbf(ard = TRUE), basis = sample(500, 60))
  lengths <- coef(fit)[grepl("lengthscale", names(coef(fit)))]
  expect_setequal(order(lengths)[1:3], c(1, 3, 4))
  # with 3 and 4 switched off the log evidence is -534
  expect_gt(fit$log_evidence, 100)
})

test_that("inputs are switched on again from default starts only, and never lower the evidence", {
  memory_tier()
  set.seed(3)
  x <- matrix(runif(600), 100)
  y <- sin(6 * x[, 2]) + 2 * x[, 5]^2 + 0.1 * rnorm(100)
  fit <- sparsegp(x, y, kernel = kernel_rbf(ard = TRUE), learn = FALSE,
                  control = gp_control(keep_x = TRUE))
  problem <- list(x = fit$posterior$basis, spec = fit$spec, nkernel = 7L, processes = 1L,
                  lik = fit$likelihood,
                  rows = fit$data_rows, offset = fit$offset, options = fit$options)
  objective <- make_objective(evidence_criterion(problem), fit$hyper, SILENT)
  start <- fit$hyper$start
  control <- learn_control()
  centre <- list(value = start, reach = 10, lower = start - 10)
  first <- search_from(objective, list(start), centre, control)[[1L]]
  again <- reactivate_inputs(objective, fit$hyper, first, centre, control)
  expect_lte(again$value, first$value)
  short <- first # all of them, as if to fit noise
  short$par[fit$hyper$base == "lengthscale"] <- log(0.02)
  short$value <- objective$value(short$par)
  out <- reactivate_inputs(objective, fit$hyper, short, centre, control, stuck = TRUE)
  expect_lt(out$value, short$value - 10)
  given <- fit$hyper
  given$scan <- FALSE
  expect_identical(reactivate_inputs(objective, given, first, centre, control), first)
})

test_that("priors pull, and prior_flat() lets go", {
  slow_tier()
  d <- wiggly()
  near <- sparsegp(d$x, d$y, control = gp_control(prior = list(noise = prior_lognormal(log(0.5),
                                                                                       0.01))))
  free <- sparsegp(d$x, d$y, control = gp_control(prior = list(noise = prior_flat())))
  # the pull of a prior this narrow moves the mode by a few hundredths in the log at most
  expect_lt(abs(log(coef(near)[["noise"]] / 0.5)), 0.05)
  expect_lt(coef(free)[["noise"]], 0.06)
})

test_that("restarts never end worse than the first search, and set.seed() fixes them", {
  memory_tier()
  d <- wiggly()
  fit <- function() {
    set.seed(11)
    sparsegp(d$x, d$y, kernel = kernel_rbf(), learn = learn_control(restarts = 3))
  }
  a <- fit()
  b <- fit()
  expect_identical(coef(a), coef(b))
  once <- sparsegp(d$x, d$y, kernel = kernel_rbf())
  expect_length(a$learning$objective, length(once$learning$objective) + 3L)
  expect_gte(max(a$learning$objective), a$learning$objective[1L])
})

test_that("a search that is cut short says so once, with the name of what was still moving", {
  memory_tier()
  d <- wiggly()
  expect_warning(fit <- sparsegp(d$x, d$y, learn = learn_control(inner = 1), structure = "fixed"),
                 "steepest in (variance|lengthscale|noise)", class = "sparsegp_warning")
  expect_false(fit$learning$converged)
  expect_output(print(fit), "learning did NOT converge")
})

test_that("separable classes have a maximum, because of the prior", {
  memory_tier()
  x <- c(-3:-1, 1:3)
  expect_silent(fit <- sparsegp(x, x > 0))
  expect_lt(coef(fit)[["variance"]], 1e4)
})

test_that("a bias has no box, and evaluations count all rounds", {
  memory_tier()
  set.seed(1)
  x <- seq(-3, 3, length.out = 60)
  y <- x > 2.8
  fit <- sparsegp(x, y, control = gp_control(prior = list(bias = prior_flat())),
                  kernel = kernel_rbf(fixed(1), fixed(1)),
                  likelihood = lik_probit(-15))
  expect_identical(fit$learning$at_bound, character())
  once <- sparsegp(x, sin(x), method = method_ep(10), learn = learn_control(outer = 1))
  twice <- sparsegp(x, sin(x), method = method_ep(10), learn = learn_control(outer = 2))
  expect_gt(twice$learning$evaluations, once$learning$evaluations)
})

# Data and start from a search that once ended, content, at an evidence of EP that was 20 nats off.
test_that("the evidence of EP that has not converged is not learned from", {
  memory_tier()
  X <- cbind(c(.6778, -.1364, 1.6715, -.0311, -1.7778, -.7568, .6874, -.5063, -.0442, .7406),
             c(-1.6664, .3778, -.8423, 1.0287, -.238, -1.3023, -1.0555, -.9295, .7434, -.3456),
             c(-2.7076, .8854, .3028, -.9894, -.0409, -.3236, -1.2125, .2264, -.0872, -1.6342),
             c(.9071, -.2665, 1.2235, .9963, .9924, 1.1784, 1.6862, .6059, .9831, -1.1205))
  y <- factor(c(2, 2, 2, 2, 1, 2, 1, 1, 2, 2))
  for (start in c(100, 3000, 1e6)) {
    said <- FALSE
    found <- tryCatch(withCallingHandlers(
      sparsegp(X, y, kernel = kernel_linear(start), likelihood = lik_mprobit(coupled = FALSE)),
      sparsegp_warning = function(w) {
        said <<- TRUE
        invokeRestart("muffleWarning")
      }
    ), sparsegp_error = function(e) if (start < 1e6) stop(e))
    # EP hardly converges at large variances: that is said, or the search has left them behind and
    # found the optimum, which learning from 1 finds, too. How far it comes depends on the rounding
    # of the BLAS; from 1e6 it may end where there is no fit
    if (is.null(found)) next
    expect_true(said || abs(coef(found)[["variance"]] - 0.2314) < 0.01,
                label = paste("from", start))
    expect_identical(found$learning$converged, !said)
    expect_true(!said || start > 100)
  }
})

test_that("a search goes on after a place where EP fails", {
  memory_tier()
  # a paraboloid with a wall behind its bottom, into which the second step runs
  objective <- list(
    value = function(par) if (par > 1.2) IMPOSSIBLE else 20 * (par - 1)^2 - par,
    gradient = function(par) if (par > 1.2) 0 else 40 * (par - 1) - 1
  )
  box <- list(value = -0.5, reach = 10, lower = -10.5)
  found <- search_from(objective, list(-0.5), box, learn_control(inner = 50))[[1L]]
  expect_equal(found$par, 1.025, tolerance = 1e-4) # L-BFGS-B stops at 1e8 roundings of the value
  walls <- cap_failed_values(objective$value)
  expect_identical(walls(2), IMPOSSIBLE) # nothing to compare with
  expect_identical(c(walls(0), walls(2), walls(1), walls(2)), c(20, 21, -1, 21))
})

test_that("the first step of a search is an e-fold at most, however steep it is", {
  tried <- numeric()
  objective <- list(value = function(par) {
    tried <<- c(tried, par)
    300 * (par - 5)^2
  }, gradient = function(par) 600 * (par - 5))
  box <- list(value = 0, reach = 10, lower = -10)
  found <- search_from(objective, list(0), box, learn_control(inner = 50))[[1L]]
  expect_lte(max(abs(tried[tried != 0][[1L]])), 1 + 1e-12) # rounding
  expect_equal(found$par, 5, tolerance = 1e-3)
})

test_that("where the evidence has several optima, a wiggly function is not settled for", {
  memory_tier()
  # the search from the default length scale ends 5.4 nats below this
  fit <- sparsegp(mpg ~ hp, mtcars, kernel = kernel_rbf())
  set.seed(5)
  many <- sparsegp(mpg ~ hp, mtcars, kernel = kernel_rbf(), learn = learn_control(restarts = 10))
  expect_gt(max(fit$learning$objective), max(many$learning$objective) - 0.1)
  expect_gt(length(fit$learning$objective), 1L)
  # a start that was given is the only one
  given <- sparsegp(mpg ~ hp, mtcars, kernel = kernel_rbf(lengthscale = 0.1))
  expect_length(given$learning$objective, 1L)
})

test_that("searches end when two of them agree on the best value", {
  # wells at -1, the deeper one, and at 1
  well <- list(value = function(p) (p^2 - 1)^2 + 0.3 * p,
               gradient = function(p) 4 * p * (p^2 - 1) + 0.3)
  box <- list(value = 0, reach = 10, lower = -10)
  ends <- function(starts) {
    found <- search_from(well, as.list(starts), box, list(inner = 100))
    sign(vapply(found, `[[`, 0, "par"))
  }
  expect_identical(ends(c(1.05, -1.1, -1, 1)), c(1, -1, -1))
  expect_identical(ends(c(1.05, 0.95, -1)), c(1, 1))
  expect_identical(ends(c(1.05, -1.1)), c(1, -1))
})

test_that("a search ends after as many failures as the policy has, and says so", {
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  table <- fit$hyper
  table$free <- TRUE
  asked <- 0L
  # it rises towards where every evaluation fails
  criterion <- function(theta) {
    asked <<- asked + 1L
    failed <- theta[[1L]] > table$start[[1L]] + 0.1
    list(status = if (failed) NOT_CONVERGED else 0L, logz = 50 * theta[[1L]],
         gradient = c(50, 0, 0), sites = NULL)
  }
  aim <- list(criterion = criterion, rows = 50, cheap = TRUE, limit = NULL)
  learned <- learn_hyper(aim, table, learn_control(restarts = 30), SILENT)
  expect_identical(learned$record$failures, as.integer(policy$failed_evaluations))
  expect_lte(asked, 200L) # many more without the bound
  expect_false(learned$record$converged)
  expect_true(all(is.finite(learned$table$theta)))
  expect_warning(warn_about_search(learned$record), "no fixed point in 30 of them",
                 class = "sparsegp_warning")
})

test_that("EP of several classes ends earlier while they are learned, but not that of the fit", {
  slow_tier()
  set.seed(3)
  d <- data.frame(x = rnorm(45))
  d$class <- factor(max.col(cbind(d$x, 0, -d$x) + rnorm(135)))
  d$count <- rpois(45, exp(d$x))
  tolerance <- function(formula, likelihood) {
    fit <- sparsegp(formula, d, likelihood = likelihood, learn = FALSE)
    environment(evidence(problem_of_fit(fit))$criterion)$problem$options$tol
  }
  own <- tolerance(count ~ x, lik_poisson())
  expect_equal(tolerance(class ~ x, lik_softmax(coupled = FALSE)), 100 * own)
  expect_equal(tolerance(class ~ x, lik_softmax(coupled = TRUE)), 100 * own)
  expect_equal(tolerance(class == "1" ~ x, lik_logit()), own)
  problem <- problem_of_fit(sparsegp(class ~ x, d, likelihood = lik_softmax(coupled = FALSE),
                                     learn = FALSE))
  of_problem <- function(tol) {
    problem$options$tol <- tol
    learned_loosely(problem)$options$tol
  }
  expect_equal(vapply(c(1e-8, 1e-4, 1e-3, 1e-2), of_problem, 0), c(1e-6, 1e-3, 1e-3, 1e-2))
  fits <- lapply(c(1, 100), function(ratio) {
    with_policy(class_search_tolerance = ratio, code = sparsegp(class ~ x, d))
  })
  # Evidences are of second order in the residuals of EP, and the search ends within .1 nats
  expect_lt(abs(logLik(fits[[1]])[1] - logLik(fits[[2]])[1]), 0.1)
  for (fit in fits) expect_lte(fit$convergence$change, 1e-6)
})

test_that("a search that returns to one of its last places does not evaluate it again", {
  table <- data.frame(theta = 0, free = TRUE, log = FALSE, lower = -Inf, upper = Inf, unit = 1)
  table$prior <- list(prior_flat())
  calls <- 0L
  criterion <- function(theta) {
    calls <<- calls + 1L
    if (theta > 900) return(list(status = -1L, logz = 0, gradient = 0))
    list(status = 0L, logz = -theta^2, gradient = -2 * theta)
  }
  objective <- make_objective(criterion, table, SILENT)
  places <- seq_len(RECENT)
  first <- vapply(places, objective$value, 0)
  expect_identical(vapply(rev(places), objective$value, 0), rev(first))
  expect_identical(vapply(places, objective$gradient, 0), 2 * places)
  expect_identical(c(calls, objective$state$evaluations), c(RECENT, RECENT))
  expect_identical(objective$state$last$par, RECENT)
  objective$value(0) # the place that was evaluated first is forgotten
  expect_identical(objective$value(1), first[1])
  expect_identical(calls, RECENT + 2L)
  expect_identical(c(objective$value(1000), objective$value(0), objective$value(1000)),
                   c(IMPOSSIBLE, 0, IMPOSSIBLE))
  expect_identical(calls, RECENT + 4L) # failures count
})

test_that("a search ends early where it cannot reach what is wanted, and nowhere else", {
  table <- data.frame(theta = c(4, -3), free = TRUE, log = TRUE, lower = 0, upper = Inf, unit = 1)
  table$prior <- rep(list(prior_flat()), 2L)
  search <- function(wanted) {
    criterion <- function(theta) {
      list(status = 0L, logz = -20 - sum(c(1, 9) * theta^2), gradient = -2 * c(1, 9) * theta)
    }
    objective <- make_objective(criterion, table, SILENT)
    box <- list(value = c(0, 0), reach = c(10, 10), lower = c(-10, -10))
    found <- search_from(objective, list(table$theta), box, list(inner = 200, wanted = wanted))
    c(found[[1L]][c("par", "value")], evaluations = objective$state$evaluations)
  }
  best <- search(NULL)
  expect_equal(best$value, 20, tolerance = 1e-6)
  expect_identical(search(-21), best) # less than it finds
  expect_identical(search(-19.9)$value < 20.5, TRUE) # little more: near the end
  lost <- search(200)
  expect_lt(lost$evaluations, best$evaluations)
  expect_gte(lost$value, best$value)
})

# 600 rows, of which the first search sees 200
test_that("a search that begins on a third of the rows ends at the optimum of all", {
  slow_tier()
  set.seed(3)
  d <- data.frame(a = runif(600), b = runif(600), c = runif(600))
  responses <- list(strong = sin(6 * d$a) * d$b + 0.2 * rnorm(600),
                    weak = 0.2 * sin(6 * d$a) + rnorm(600), # which 200 rows do not show
                    wiggly = sin(30 * d$c) + 0.5 * rnorm(600))
  for (y in responses) {
    d$y <- y
    fit <- sparsegp(y ~ ., d, kernel = kernel_rbf(ard = TRUE), learn = FALSE)
    aim <- evidence(problem_of_fit(fit))
    expect_equal(aim$every, 3)
    found <- lapply(list(aim, replace(aim, "every", list(NULL))), learn_hyper, fit$hyper,
                    learn_control(), SILENT)
    best <- vapply(found, function(one) max(one$record$objective), 0)
    expect_gt(best[1L], best[2L] - 0.1) # nats, by which searches that are refined end
    expect_lt(max(abs(found[[1L]]$record$gradient)), 0.5) # so that the optimum is 0.1 nats away
  }
})
