# Labels learned from as numbers: lik_squares(), and several classes that share points.

r_code_alone()

rings <- function(n, seed = 5) {
  set.seed(seed)
  x <- matrix(runif(2 * n, -2, 2), n, dimnames = list(NULL, c("a", "b")))
  list(x = x, class = factor(cut(rowSums(x^2), c(-1, 1, 2.5, 9), labels = c("in", "mid", "out"))))
}

test_that("two labels by least squares are a regression on -1 and 1", {
  slow_tier()
  d <- rings(60)
  up <- d$class == "out"
  fit <- sparsegp(d$x, up, lik_squares(bias = 0.2, noise = 0.05), kernel_rbf(1.3, 0.9),
                  scale = FALSE, learn = FALSE)
  new <- d$x[1:7, ] + 0.1
  K <- function(x, z) 1.3 * exp(-0.5 * (outer(x[, 1], z[, 1], "-")^2 +
                                          outer(x[, 2], z[, 2], "-")^2) / 0.9^2)
  x <- sweep(d$x, 2, colMeans(d$x))
  z <- sweep(new, 2, colMeans(d$x))
  A <- K(x, x) + diag(0.05, 60)
  r <- 2 * up - 1 - 0.2
  mean <- drop(K(z, x) %*% solve(A, r)) + 0.2
  var <- 1.3 - rowSums((K(z, x) %*% solve(A)) * K(z, x))
  latent <- predict(fit, new, type = "link", se.fit = TRUE)
  # A has a condition of some 1e3
  expect_equal(unname(latent$fit), unname(mean), tolerance = 1e-11)
  expect_equal(unname(latent$se.fit)^2, unname(var), tolerance = 1e-10)
  p <- function(m, v) {
    integrate(function(u) stats::plogis(4 * u) * stats::dnorm(u, m, sqrt(v)), m - 9 * sqrt(v),
              m + 9 * sqrt(v), rel.tol = 1e-11)$value
  }
  # integrals to 1e-9 either way
  expect_equal(unname(predict(fit, new)), unname(mapply(p, mean, var)), tolerance = 1e-8)
  wanted <- -0.5 * (60 * log(2 * pi) + determinant(A)$modulus[1] + sum(r * solve(A, r)))
  expect_equal(fit$log_evidence, wanted, tolerance = 1e-11)
  expect_identical(fit$convergence$sweeps, 1L)
  # what leave-one-out says is of labels, not of numbers
  expect_equal(unname(loo_lpd(fit)), log(loo(fit)$prob), tolerance = 1e-12)
  expect_true(all(loo_lpd(fit) < 0))
  # what is of a density may be above 0, where a probability has run away
  expect_false(is_impossible(lik_squares(), 5, 2))
  expect_true(is_impossible(lik_probit(), 5, 2))
})

test_that("classes that share points are classes side by side on the same basis", {
  slow_tier()
  d <- rings(150)
  setup <- check_setup(lik_squares(noise = fixed(0.05)), kernel_rbf(1, 0.8), NULL, FALSE, NULL,
                       TRUE)
  chunk <- list(x = d$x, y = d$class, offset = sin(1:150) / 10)
  model <- read_model(chunk, setup)
  problem <- problem_of(model, chunk)
  problem$options <- method_ep()
  points <- c(3, 9, 40, 77, 101, 130, 12)
  theta <- model$table$theta
  run <- run_plan(plan_least_squares(problem, points), theta)
  problem$basis <- problem$x[points, ]
  side <- run_plan(new_plan("plan_batch", problem, rows = points), theta)
  # sums of 150 rows in another order
  for (field in c("logz", "alpha", "G", OF_ONE_CLASS, "lpd")) {
    expect_equal(run[[field]], side[[field]], tolerance = 1e-11, ignore_attr = TRUE, label = field)
  }
  # one factor for all classes, and predictions by it
  expect_identical(dim(run$H), c(7L, 7L))
  expect_equal(side$H, cbind(run$H, run$H, run$H), tolerance = 1e-12)
  new <- problem$x[1:20, ] + 0.2
  expect_equal(engine_latent(problem, theta, run, new), engine_latent(problem, theta, side, new),
               tolerance = 1e-11)
  # what the points carry of each row's variance, found from cavities
  V <- tcrossprod(kernel_matrix(problem$spec, theta[seq_len(problem$nkernel)], problem$x,
                                problem$basis), t(run$H))
  one <- lapply(run[c("var", "cav_var", "tau")], function(values) values[, 1L])
  expect_equal(carried_variance(one), rowSums(V^2), tolerance = 1e-9)
  expect_equal(carried_variance(list(var = c(1, 2), cav_var = c(1, 2), tau = c(0.5, 0))), c(0, 0))
  # biases that are not the start's
  moved <- theta + c(0.1, -0.2, 0.3, 0, -0.1, 0, 0.2, 0)
  run <- run_plan(plan_least_squares(problem, points), moved)
  side <- run_plan(new_plan("plan_batch", problem, rows = points), moved)
  expect_equal(run$logz, side$logz, tolerance = 1e-11)
  expect_equal(run$cav_mean, side$cav_mean, tolerance = 1e-11, ignore_attr = TRUE)
})

test_that("points are shared in the order that classes chose them in", {
  rows <- list(c(1L, 2L, 3L), c(4L, 1L, 5L), c(6L, 7L, 1L))
  expect_identical(shared_points(rows, 3), c(1L, 4L, 6L, 2L, 7L)) # sqrt(3) * 3 is 5.2
  expect_identical(shared_points(rows, 99), c(1L, 4L, 6L, 2L, 7L, 3L, 5L))
})

# Classes on surfaces of three dimensions among many, with noise
surfaces <- function(n, inputs, classes, noise) {
  set.seed(1)
  class <- rep_len(seq_len(classes), n)
  along <- lapply(seq_len(classes), function(c) matrix(rnorm(3 * inputs), 3))
  centre <- matrix(0.3 * rnorm(classes * inputs), classes)
  x <- vapply(class, function(c) {
    u <- rnorm(3)
    drop(centre[c, ] + tanh(u %*% along[[c]]) + noise * rnorm(inputs))
  }, numeric(inputs))
  list(x = t(x), class = factor(letters[class]))
}

test_that("classes that hardly overlap are fitted by least squares where that was left open", {
  slow_tier()
  d <- surfaces(1000, 30, 6, 0.5)
  x <- d$x[1:600, ]
  class <- d$class[1:600]
  new <- d$x[601:1000, ]
  fit <- sparsegp(x, class, kernel = kernel_rbf(), control = gp_control(effort = "quick"))
  expect_identical(fit$likelihood$type, "squares")
  # compared on the same observations, which neither fit has seen
  held <- choices_of_stage(fit, "least squares")
  expect_identical(held$candidate[1L], PROBIT_BEFORE)
  expect_true(all(held$rows == 480))
  # length scales on half of the shared points, and the best one once more on all of them
  last <- nrow(held)
  tried <- held[2:(last - 1L), ]
  expect_gt(held$score[last], held$score[1L])
  expect_identical(which(held$taken), last)
  expect_identical(held$candidate[last], tried$candidate[which.max(tried$score)])
  expect_lt(max(tried$points), held$points[last])
  expect_output(print(summary(fit)), "least-squares classification")
  expect_output(print(summary(fit)), "held out")
  expect_lt(mean(predict(fit, new, type = "class") != d$class[601:1000]), 0.02)
  # what a fit can be asked
  expect_equal(unname(predict(fit, x, type = "latent")), unname(fit$latent$mean), tolerance = 1e-8)
  expect_equal(unname(predict(fit, x, type = "latent", se.fit = TRUE)$se.fit^2),
               unname(fit$latent$var), tolerance = 1e-6)
  expect_identical(dim(draws(fit, new[1:3, ], 5, type = "latent")), c(3L, 5L, 6L))
  path <- tempfile()
  saveRDS(fit, path)
  expect_identical(predict(readRDS(path), new), predict(fit, new))
  expect_error(sparsegp(control = gp_control(like = fit), x = new, y = d$class[601:1000]),
               class = "sparsegp_error")
  # it is not tried where something else was asked for
  probit <- sparsegp(x, class, lik_probit(), kernel_rbf(), control = gp_control(effort = "quick"))
  expect_false("least squares" %in% probit$choices$stage)
})

test_that("least squares are tried, and left, where classes overlap", {
  slow_tier()
  d <- surfaces(600, 20, 6, 0.6)
  fit <- sparsegp(d$x, d$class, kernel = kernel_rbf(), control = gp_control(effort = "quick"))
  tried <- choices_of_stage(fit, "least squares")
  expect_identical(tried$candidate[tried$taken], PROBIT_BEFORE)
  expect_identical(fit$likelihood$type, "probit")
})

test_that("of many rows some are held out, with as many points to a row as among all of them", {
  strata <- rep(1:3, length.out = 90)
  problem <- list(x = matrix(0, 90, 1), strata = strata, processes = 3L)
  all <- split_holdout(problem)
  expect_identical(all$share, 1)
  expect_identical(sort(c(all$trained, all$held)), 1:90)
  expect_length(all$held, 18L)
  some <- with_policy(compare_rows = 30L, code = split_holdout(problem))
  expect_identical(some$share, 1 / 3)
  expect_identical(lengths(some)[1:2], c(trained = 24L, held = 6L))
  expect_identical(as.vector(table(strata[c(some$trained, some$held)])), rep(10L, 3))
  # many classes take the time of a few: fewer rows, and fewer points that they share
  problem$processes <- 30L
  many <- with_policy(compare_rows = 60L, code = split_holdout(problem))
  expect_length(c(many$trained, many$held), 20L)
  expect_length(shared_points(as.list(1:400), 2), 6L) # sqrt(10) * 2 is 6.3
})
