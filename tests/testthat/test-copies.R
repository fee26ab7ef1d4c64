# Virtual informative vectors: copies of the rows that carry a fit.

r_code_alone()

copies_data <- function(n = 40) {
  set.seed(5)
  x <- matrix(rnorm(2 * n), n, dimnames = list(NULL, c("a", "b")))
  f <- x[, 1] + 0.5 * x[, 2]^2 + 0.3 * rnorm(n)
  list(x = x, f = f, two = f > 0.4, new = x[1:9, ] + 0.3,
       three = cut(f, c(-Inf, -0.2, 0.8, Inf), labels = c("low", "mid", "high")))
}

# Reflected at 0 in the first input, and moved a little up in the second.
reflected <- function(x) list(cbind(-x[, 1], x[, 2]), cbind(a = x[, 1], b = x[, 2] + 0.2))

fit_given <- function(x, y, likelihood, method, ...) {
  sparsegp(x, y, likelihood = likelihood, kernel = kernel_rbf(3, 1.1), method = method,
           learn = FALSE, scale = FALSE, ...)
}

# Rows of d, and after them the copies of some of them: inputs, and which row each is.
by_hand <- function(d, rows, transform = reflected) {
  list(x = rbind(d$x, unname(do.call(rbind, transform(d$x[rows, ])))),
       of = c(seq_len(nrow(d$x)), rows, rows))
}

# The same numbers: the very same calls of C are made of the same rows.
expect_same_latent <- function(fit, hand, d, tolerance = 1e-12) {
  a <- predict(fit, d$new, type = "latent", se.fit = TRUE)
  b <- predict(hand, d$new, type = "latent", se.fit = TRUE)
  expect_equal(a, b, tolerance = tolerance)
  expect_equal(fit$latent$mean, some_rows(hand$latent$mean, seq_len(nrow(d$x))),
               tolerance = tolerance)
}

test_that("two classes: a fit of rows and copies made by hand, by every method", {
  memory_tier()
  d <- copies_data()
  methods <- list(method_ivm(8), method_ep(), method_ep(size = 8), method_ivm(8, refine = "none"),
                  method_ivm(8, refine = "active"), method_ep(size = 8, projection = "kl"))
  for (method in of_tier(methods, 2L)) {
    plain <- fit_given(d$x, d$two, lik_probit(0.2), method)
    fit <- fit_given(d$x, d$two, lik_probit(0.2), method, control = gp_control(augment = reflected))
    vectors <- plain$basis_rows
    all <- by_hand(d, vectors)
    hand <- fit_given(all$x, d$two[all$of], lik_probit(0.2), method)
    expect_same_latent(fit, hand, d)
    expect_equal(fit$sites$tau, hand$sites$tau[1:40], tolerance = 1e-12)
    expect_identical(fit$basis_rows, all$of[hand$basis_rows])
    expect_identical(fit$copies$points > 0, hand$basis_rows > 40L)
    expect_identical(as.double(logLik(fit)), as.double(logLik(plain)))
    others <- setdiff(1:40, vectors) # nothing is left out with them but their own site
    expect_equal(fit$cavity$mean[others], hand$cavity$mean[others], tolerance = 1e-12)
    expect_equal(fit$cavity$lpd[others], hand$cavity$lpd[others], tolerance = 1e-12)
  }
})

test_that("each class against the rest has copies of its own rows", {
  memory_tier()
  d <- copies_data()
  plain <- fit_given(d$x, d$three, lik_probit(0.2), method_ivm(8))
  fit <- fit_given(d$x, d$three, lik_probit(0.2), method_ivm(8),
                   control = gp_control(augment = reflected))
  for (class in 1:3) {
    all <- by_hand(d, plain$basis_rows_of[[class]])
    own <- (d$three == levels(d$three)[class])[all$of]
    hand <- fit_given(all$x, own, lik_probit(0.2), method_ivm(8))
    expect_equal(unname(fit$latent$mean[, class]), hand$latent$mean[1:40], tolerance = 1e-12)
    expect_equal(unname(predict(fit, d$new, type = "link")[, class]),
                 unname(predict(hand, d$new, type = "link")), tolerance = 1e-12)
  }
  expect_identical(fit$copies$made$vectors, rep(8L, 3L))
  expect_identical(fit$copies$made$class, levels(d$three))
  points <- basis(fit)
  row <- attr(points, "rows")
  is_row <- attr(points, "copies") == 0
  expect_equal(unname(points[is_row, ]), unname(d$x[row[is_row], ]), tolerance = 1e-12)
  first <- attr(points, "copies") == 1
  expect_equal(unname(points[first, 1]), -unname(d$x[row[first], 1]), tolerance = 1e-12)
  expect_lt(max(abs(rowSums(predict(fit, d$new, type = "prob")) - 1)), 1e-12)
})

test_that("joint classes: copies of the rows of all classes, in one fit", {
  slow_tier()
  d <- copies_data()
  for (method in list(method_ivm(8), method_ep(size = 8), method_ep())) {
    plain <- fit_given(d$x, d$three, lik_mprobit(0, coupled = FALSE), method)
    fit <- fit_given(d$x, d$three, lik_mprobit(0, coupled = FALSE), method,
                     control = gp_control(augment = reflected))
    all <- by_hand(d, plain$basis_rows)
    hand <- fit_given(all$x, d$three[all$of], lik_mprobit(0, coupled = FALSE), method)
    expect_same_latent(fit, hand, d)
  }
  soft <- fit_given(d$x, d$three, lik_softmax(0), method_ivm(8),
                    control = gp_control(augment = reflected))
  expect_true(all(is.finite(loo_lpd(soft))))
})

test_that("regression: a row and its copies share the row's weight", {
  memory_tier()
  d <- copies_data()
  w <- rep(c(1, 2), 20)
  for (method in list(method_ivm(8), method_ep())) {
    plain <- fit_given(d$x, d$f, lik_gaussian(0.1), method, weights = w, mean = "average")
    fit <- fit_given(d$x, d$f, lik_gaussian(0.1), method, weights = w,
                     control = gp_control(augment = reflected))
    all <- by_hand(d, plain$basis_rows)
    shared <- ifelse(all$of %in% plain$basis_rows, w[all$of] / 3, w[all$of])
    hand <- fit_given(all$x, d$f[all$of], lik_gaussian(0.1), method, weights = shared,
                      mean = "average")
    # by hand the response has another spread, so that its units differ: to rounding, the same
    expect_equal(predict(fit, d$new, se.fit = TRUE), predict(hand, d$new, se.fit = TRUE),
                 tolerance = 1e-8)
  }
})

test_that("copies that are hardly moved leave a regression as it was", {
  memory_tier()
  d <- copies_data()
  plain <- fit_given(d$x, d$f, lik_gaussian(0.1), NULL, mean = "average")
  fit <- fit_given(d$x, d$f, lik_gaussian(0.1), NULL,
                   control = gp_control(augment = jitter_rows(1e-7)))
  expect_equal(predict(fit, d$new, interval = "prediction"),
               predict(plain, d$new, interval = "prediction"), tolerance = 1e-6)
  expect_equal(loo_lpd(fit), loo_lpd(plain), tolerance = 1e-5)
  expect_identical(as.double(logLik(fit)), as.double(logLik(plain)))
})

test_that("leaving a row out leaves its copies out", {
  memory_tier()
  d <- copies_data(15)
  fit <- fit_given(d$x, d$f, lik_gaussian(0.1), method_ep(),
                   control = gp_control(augment = reflected))
  all <- by_hand(d, 1:15)
  K <- 3 * exp(-as.matrix(dist(all$x))^2 / (2 * 1.1^2))
  noise <- 0.1 * 3 # three of each row
  centred <- d$f[all$of] - mean(d$f)
  for (i in 1:15) {
    rest <- all$of != i
    weight <- solve(K[rest, rest] + noise * diag(sum(rest)), K[rest, i])
    expect_equal(loo(fit)$mean[i], mean(d$f) + sum(weight * centred[rest]), tolerance = 1e-9)
    expect_equal(loo(fit)$sd[i]^2, K[i, i] - sum(weight * K[rest, i]) + 0.1, tolerance = 1e-9)
  }
})

test_that("cavities without copies are those of EP where there are none, for every posterior", {
  memory_tier()
  d <- copies_data()
  methods <- list(method_ep(), method_ep(size = 8), method_ivm(8), method_ivm(8, refine = "none"),
                  method_ep(size = 8, projection = "kl"))
  for (y in list(d$two, d$three)) {
    for (method in of_tier(methods, 2L)) {
      setup <- check_setup(NULL, kernel_rbf(3, 1.1), method, FALSE, NULL, FALSE)
      chunk <- list(x = d$x, y = y, offset = numeric(40))
      model <- read_model(chunk, setup)
      problem <- problem_of(model, chunk)
      theta <- model$table$theta
      plan <- plan_unlearned(plan_for(method, problem, list(rows = 1:40)), model$table)$plan
      run <- run_plan(plan, theta)
      for (class in seq_len(problem$processes)) {
        found <- class_cavities(run, problem, theta, class, as.list(1:40))
        expect_equal(unname(found["mean", ]), matrix(run$cav_mean, 40)[, class],
                     tolerance = 1e-9)
        expect_equal(unname(found["var", ]), matrix(run$cav_var, 40)[, class], tolerance = 1e-9)
      }
    }
  }
})

test_that("labels of many rows: by default copies of informative vectors, and the same base rate", {
  slow_tier()
  set.seed(1)
  n <- 700
  x <- matrix(runif(2 * n, -2, 2), n, dimnames = list(NULL, c("a", "b")))
  rare <- x[, 1]^2 + x[, 2] + rnorm(n) / 3 > 3
  flip <- function(x) cbind(-x[, 1], x[, 2])
  labels <- function(...) {
    sparsegp(x, rare, kernel = kernel_rbf(), control = gp_control(effort = "quick", ...))
  }
  plain <- labels()
  fit <- labels(augment = flip)
  expect_s3_class(fit, "sparsegp")
  expect_identical(coef(fit), coef(plain))
  expect_identical(fit$tuning, plain$tuning)
  expect_identical(fit$copies$made$vectors, length(plain$basis_rows))
  # copies are of points of both labels, so that the rare one is less rare among them
  times <- nrow(basis(fit)) / length(plain$basis_rows)
  expect_gt(times, 1.74)
  expect_lt(times, 2)
  p <- predict(fit, x, type = "prob")
  p <- if (is.matrix(p)) p[, 2] else p
  expect_lt(abs(mean(p) - mean(rare)), 0.01)
  expect_output(print(summary(fit)), "virtual informative vectors: ")
})

# ---- What makes copies ----

test_that("shift_images() moves pixels, and puts the background where they were", {
  image <- c(t(rbind(1:3, 4:6))) # row by row
  made <- shift_images(2, 3, background = 0)(rbind(image, image + 10))
  expected <- list(up = c(4, 5, 6, 0, 0, 0), down = c(0, 0, 0, 1, 2, 3),
                   left = c(2, 3, 0, 5, 6, 0), right = c(0, 1, 2, 0, 4, 5))
  expect_length(made, 4L)
  for (k in 1:4) expect_identical(unname(made[[k]][1, ]), expected[[k]])
  expect_identical(unname(made[[1]][2, ]), c(14, 15, 16, 0, 0, 0))
  diagonal <- shift_images(2, 3, directions = 8, background = 0)(rbind(image))
  expect_identical(unname(c(diagonal[[5]])), c(5, 6, 0, 0, 0, 0)) # up and left
  expect_identical(unname(c(diagonal[[8]])), c(0, 0, 0, 0, 1, 2)) # down and right
  by_column <- shift_images(2, 3, background = 0, byrow = FALSE)(rbind(c(rbind(1:3, 4:6))))
  expect_identical(c(by_column[[1]]), c(rbind(4:6, 0)))
  far <- shift_images(2, 3, by = 2, background = 0)(rbind(image))
  expect_identical(unname(c(far[[1]])), numeric(6))
  expect_identical(unname(c(far[[4]])), c(0, 0, 1, 0, 0, 4))
  ring <- replace(rep(7, 9), 5, 1)
  expect_identical(shift_images(3, 3)(rbind(ring))[[1]][7:9], c(7, 7, 7))
})

test_that("jitter_rows() makes the same copies of the same rows, and leaves the generator alone", {
  x <- cbind(a = 1:5, b = 0)
  set.seed(3)
  before <- .Random.seed
  made <- jitter_rows(0.1)(x)
  expect_identical(.Random.seed, before)
  expect_identical(made, jitter_rows(0.1)(x))
  expect_length(made, 4L)
  expect_false(any(made[[1]] == made[[2]]))
  expect_false(identical(made, jitter_rows(0.1, seed = 2)(x)))
  one <- jitter_rows(c(1, 0), copies = 1)(x)[[1]]
  expect_identical(one[, "b"], x[, "b"])
  free <- jitter_rows(0.1, seed = NULL)
  expect_false(identical(free(x), free(x)))
  many <- jitter_rows(0.5, copies = 2000)(x)
  expect_equal(sd(vapply(many, `[`, 0, 1L)), 0.5, tolerance = 0.06) # 4 standard errors
})

test_that("copies come as sets, data frames, or rows that say whose they are", {
  memory_tier()
  d <- copies_data()
  as_list <- fit_given(d$x, d$two, lik_probit(0), method_ivm(5),
                       control = gp_control(augment = function(x) list(cbind(-x[, 1], x[, 2]))))
  others <- list(
    function(x) cbind(-x[, 1], x[, 2]),
    function(x) data.frame(b = x[, "b"], a = -x[, "a"]),
    function(x) structure(cbind(-x[5:1, 1], x[5:1, 2]), row = 5:1),
    function(x) list(cbind(-x[, 1], x[, 2]), x) # a row is no copy of itself
  )
  for (other in others) {
    fit <- fit_given(d$x, d$two, lik_probit(0), method_ivm(5),
                     control = gp_control(augment = other))
    expect_equal(predict(fit, d$new), predict(as_list, d$new), tolerance = 1e-10)
    expect_identical(fit$copies$made$copies, 5L)
  }
  framed <- data.frame(d$x, y = d$two)
  fit <- sparsegp(y ~ a + b, framed, lik_probit(0), kernel_rbf(3, 1.1), method = method_ivm(5),
                  learn = FALSE, scale = FALSE, control = gp_control(augment = others[[1]]))
  expect_equal(unname(predict(fit, data.frame(d$new))), unname(predict(as_list, d$new)),
               tolerance = 1e-12)
})

# ---- What a fit with copies can, and cannot ----

test_that("a fit with copies takes more rows, and its answers have the rows' number", {
  memory_tier()
  d <- copies_data()
  fit <- sparsegp(d$x, d$f, kernel = kernel_rbf(), method = method_ivm(8),
                  control = gp_control(augment = reflected))
  expect_identical(nobs(fit), 40L)
  for (answer in list(fitted(fit), loo_lpd(fit), residuals(fit))) expect_length(answer, 40L)
  expect_identical(nrow(loo(fit)), 40L)
  more <- update(fit, d$new, d$f[1:9])
  expect_identical(nobs(more), 49L)
  expect_lt(mean((predict(more, d$new) - d$f[1:9])^2), mean((predict(fit, d$new) - d$f[1:9])^2))
  again <- update(fit, control = gp_control(augment = NULL))
  expect_null(again$copies)
  like <- sparsegp(d$x, d$f, control = gp_control(like = fit))
  expect_null(like$copies)
  expect_output(print(summary(fit)),
                "virtual informative vectors: 16 copies of 8 rows; [0-9] of 8 points")
  expect_output(print(summary(fit)), "virtual informative vectors")
  trace <- fit$convergence$selection$trace
  expect_identical(trace$copy, fit$copies$points)
  expect_identical(trace$row, fit$basis_rows)
  expect_no_error(check_fit(unserialize(serialize(fit, NULL))))
})

test_that("what augment cannot be is refused by name", {
  memory_tier()
  d <- copies_data(20)
  ask <- function(augment, ..., y = d$two) {
    sparsegp(d$x, y, kernel = kernel_rbf(3, 1), learn = FALSE,
             control = gp_control(augment = augment), ...)
  }
  refused(ask("shift"), "augment")
  refused(ask(1), "augment")
  refused(ask(function(x) stop("no such file")), "augment")
  expect_error(ask(function(x) stop("no such file")), "no such file")
  refused(ask(function(x) x[, 1, drop = FALSE]), "augment")
  refused(ask(function(x) x[-1, ]), "augment")
  refused(ask(function(x) structure(x, row = rep(99, nrow(x)))), "augment")
  refused(ask(function(x) x + NA), "augment")
  refused(ask(function(x) list()), "augment")
  refused(ask(function(x) NULL), "augment")
  refused(ask(function(x) x), "augment")
  refused(ask(shift_images(3, 3)), "augment")
  refused(ask(jitter_rows(c(1, 2, 3))), "augment")
  refused(ask(reflected, method = method_online()), "augment")
  refused(ask(reflected, basis = 1:5), "basis")
  refused(ask(reflected, y = rpois(20, 2), likelihood = lik_poisson()), "augment")
  refused(sparsegp(cbind(f, g) ~ a + b, data.frame(d$x, f = d$f, g = d$f),
                   control = gp_control(augment = reflected),
                   learn = FALSE), "augment")
  like <- sparsegp(d$x, d$two, basis = 1:5, learn = FALSE)
  refused(sparsegp(d$x, d$two, control = gp_control(like = like, augment = reflected)), "augment")
  whole <- data.frame(d$x, f = d$f)
  refused(sparsegp(f ~ a, chunks_of(whole, c(0, 10, 20)),
                   control = gp_control(augment = reflected)), "augment")
  refused(shift_images(0, 3), "nrow")
  refused(shift_images(3, 3, by = 3), "by")
  refused(shift_images(3, 3, directions = 6), "directions")
  refused(shift_images(3, 3, background = NA), "background")
  refused(jitter_rows(-1), "sd")
  refused(jitter_rows(0), "sd")
  refused(jitter_rows(1, copies = 0), "copies")
  refused(jitter_rows(1, seed = 0.5), "seed")
})
