# The race for the structure of a model.

r_code_alone()

steps <- function(n = 150) {
  set.seed(4)
  x <- matrix(runif(3 * n, -2, 2), n, dimnames = list(NULL, c("a", "b", "c")))
  data.frame(x, y = sin(2 * x[, 1]) + 0.5 * x[, 2] + 0.1 * rnorm(n))
}

test_that("a structure is worth its evidence and prior, less a price for each hyperparameter", {
  slow_tier()
  d <- steps(60)
  fit <- sparsegp(y ~ ., d, likelihood = lik_gaussian(transform = "identity"), scale = TRUE)
  tried <- choices_of_stage(fit, "kernel")
  expect_identical(unique(tried$rows), 60L)
  price <- policy$overfit_nats + policy$parameter_nats # of all rows
  for (kernel in list(kernel_rbf(), kernel_rbf(ard = TRUE))) {
    alone <- sparsegp(y ~ ., d, kernel = kernel, control = gp_control(integrate = "none"))
    table <- alone$hyper
    # a log-normal prior less its constant: a parabola in the logarithm
    far <- vapply(which(table$free), function(i) {
      par <- table$prior[[i]]$par
      (log(hyper_value(table)[i]) - par[["meanlog"]]) / par[["sdlog"]]
    }, 0)
    worth <- alone$log_evidence - sum(far^2) / 2 - price * length(far)
    # searches end within search_tolerance of the best
    expect_equal(tried$score[tried$candidate == format(kernel)], worth,
                 tolerance = 2 * policy$search_tolerance / abs(worth))
  }
  expect_identical(tried$candidate[tried$taken], format(fit$kernel))
})

test_that("the price of a hyperparameter is less on a pilot of many rows", {
  setup <- list(method = as_method(NULL, "normal"), control = learn_control())
  model <- list(response = list(processes = 1L), lik = lik_gaussian())
  few <- structure_pilot(setup, model, 100L)
  many <- structure_pilot(setup, model, 6300L)
  expect_identical(few$count, 100L)
  expect_equal(few$price, policy$overfit_nats + policy$parameter_nats)
  expect_equal(many$price, policy$overfit_nats + policy$parameter_nats * many$count / 6300)
})

test_that("an axis is raced from the best so far, and says what was better", {
  slow_tier()
  d <- steps()
  chunk <- list(x = as.matrix(d[1:3]), y = d$y, offset = numeric(150))
  setup <- check_setup(NULL, NULL, NULL, TRUE, NULL, NULL)
  setup$kernel <- kernel_rbf()
  model <- read_model(chunk, setup)
  pilot <- structure_pilot(setup, model, 150L)
  pilot$rows <- 1:150
  plain <- learn_plain(model, list(chunk = chunk, setup = setup), pilot)
  expect_null(plain$choices)
  axis <- structure_axis("kernel", function(model, chunk, setup, table) {
    expect_identical(setup$kernel, kernel_rbf())
    expect_identical(table, plain$candidate$table)
    alternative <- function(label, kernel) list(label = label, setup = list(kernel = kernel))
    list(list(label = "now"), alternative("worse", kernel_constant()),
         alternative("failing", kernel_rbf(1e300, 1e-300)),
         alternative("ard", kernel_rbf(ard = TRUE)))
  })
  found <- choose_structure(chunk, setup, colnames(chunk$x), list(axis))
  expect_identical(found$choices$candidate, c("now", "worse", "failing", "ard"))
  expect_identical(found$choices$taken, c(FALSE, FALSE, FALSE, TRUE))
  expect_identical(found$setup$kernel, kernel_rbf(ard = TRUE))
  # a margin that is too large
  dear <- structure_axis("kernel", axis$alternatives, function(model, n, m) 1e6)
  kept <- choose_structure(chunk, setup, colnames(chunk$x), list(dear))
  expect_identical(kept$setup$kernel, kernel_rbf())
  expect_identical(which(kept$choices$taken), 1L)
  # nothing to choose
  none <- structure_axis("kernel", function(...) NULL)
  alone <- choose_structure(chunk, setup, colnames(chunk$x), list(none))
  expect_null(alone$choices)
  expect_identical(alone$from, plain$candidate$table$theta[plain$candidate$table$free])
})

test_that("a search goes on from what the best so far has", {
  slow_tier()
  d <- steps()
  table <- function(kernel) sparsegp(y ~ ., d, kernel = kernel, learn = FALSE)$hyper
  one <- table(kernel_rbf(2, 3))
  ard <- table(kernel_matern32(ard = TRUE))
  expect_equal(exp(carried_over(one, ard)[2:4]), rep(3, 3))
  expect_identical(rows_known(one, ard), c(1L, 2L, 2L, 2L, 3L))
  sum <- table(kernel_rbf() + kernel_linear())
  expect_identical(rows_known(one, sum), c(1L, 2L, NA, 3L))
  expect_equal(carried_over(one, sum)[c(1, 2)], one$theta[1:2])
  more <- table(kernel_rbf() + kernel_linear() + kernel_matern12(ard = TRUE))
  expect_identical(rows_known(sum, more), c(1:3, NA, NA, NA, NA, 4L))
  split <- table(kernel_rbf() + kernel_matern12(ard = TRUE))
  expect_identical(rows_known(table(kernel_rbf() + kernel_matern12()), split),
                   c(1:3, 4L, 4L, 4L, 5L))
})

test_that("a rough function is found, and a sum is one kernel as any other", {
  slow_tier()
  set.seed(3)
  n <- 250
  x <- matrix(runif(2 * n, -2, 2), n, dimnames = list(NULL, letters[1:2]))
  rough <- drop(crossprod(chol(exp(-as.matrix(dist(x)) / 2)), rnorm(n)))
  d <- data.frame(x, y = 3 * sin(x[, 1]) * cos(x[, 2]) + rough)
  fit <- sparsegp(y ~ ., d)
  expect_match(format(fit$kernel), " + matern12", fixed = TRUE)
  tried <- choices_of_stage(fit, "kernel")
  expect_identical(tried$candidate[tried$taken], format(fit$kernel))
  expect_output(print(summary(fit)), "kernel: .* better by .* evidence; [0-9]+ tried on 250 rows")
  parts <- predict(fit, d[1:5, ], type = "terms")
  expect_identical(ncol(parts), length(fit$kernel$parts))
  expect_equal(unname(rowSums(parts) + attr(parts, "constant")),
               unname(predict(fit, d[1:5, ], type = "link")), tolerance = 1e-8)
})

test_that("a trend is found", {
  slow_tier()
  set.seed(3)
  n <- 200
  x <- matrix(runif(6 * n, -2, 2), n, dimnames = list(NULL, letters[1:6]))
  wander <- cumsum(rnorm(n))[rank(x[, 1])]
  fit <- sparsegp(x, drop(x %*% c(3, 2, 1, 1, 1, 1)) + wander / sd(wander) + 0.1 * rnorm(n))
  expect_match(format(fit$kernel), " + linear()", fixed = TRUE)
})

test_that("labels that full EP takes may have a trend, which average() makes again", {
  slow_tier()
  set.seed(3)
  n <- 300
  x <- matrix(runif(4 * n, -2, 2), n, dimnames = list(NULL, letters[1:4]))
  f <- drop(x %*% c(0, 1.5, 1, 1)) + 2.5 * sin(3 * x[, 1])
  y <- factor(f + rnorm(n) > 0)
  fit <- sparsegp(x, y, control = gp_control(integrate = "none"))
  expect_identical(format(fit$kernel), "rbf(ard = TRUE) + linear()")
  tie <- common_lengthscale(fit$hyper)
  known <- new_known_structure(list(kernel = fit$kernel), tie)
  known <- with_known_structure(list(structure = known))
  expect_identical(known$kernel, fit$kernel)
  expect_identical(known$prior$lengthscale, prior_logcauchy(tie, policy$relevance_spread))
  twice <- rep(seq_len(n), length.out = 800) # of so many, inducing points of each class
  many <- sparsegp(x[twice, ], y[twice], control = gp_control(effort = "quick"))
  expect_none(grep("linear", many$choices$candidate, value = TRUE), "a trend")
})

# One of six inputs matters, along which the function varies fast: one length scale for all either
# misses it, or is so short that the evidence is flat.
test_that("a length scale for each input finds one that a common one misses", {
  slow_tier()
  wave <- function(x) 4 * sin(4 * x[, 3])
  steep <- function(x) drop(x %*% c(0, 1.5, 1, 1, 0, 0)) + 2.5 * sin(3 * x[, 1])
  drawn <- function(f, seed, n = 200) {
    set.seed(seed)
    x <- matrix(runif(6 * n, -2, 2), n, dimnames = list(NULL, letters[1:6]))
    list(x = x, f = f(x), e = rnorm(n))
  }
  shortest <- function(fit) {
    own <- fit$hyper[fit$hyper$base == "lengthscale", ]
    sub(".*[.]", "", own$name[which.min(own$theta)])
  }
  at_mode <- gp_control(integrate = "none")
  d <- drawn(wave, 2)
  labels <- sparsegp(d$x, factor(d$f + d$e > 0), control = at_mode)
  expect_match(format(labels$kernel), "ard = TRUE", fixed = TRUE)
  expect_identical(shortest(labels), "c")
  d <- drawn(steep, 1)
  numbers <- sparsegp(d$x, d$f + 0.7 * sd(d$f) * d$e, control = at_mode)
  expect_match(format(numbers$kernel), "ard = TRUE", fixed = TRUE)
  expect_identical(shortest(numbers), "a")
})

test_that("nothing is chosen with structure = \"fixed\", or with a kernel", {
  slow_tier()
  d <- steps(60)
  fit <- sparsegp(y ~ ., d, structure = "fixed")
  expect_identical(format(fit$kernel), "rbf()")
  expect_false(any(STRUCTURE_STAGES %in% fit$choices$stage))
  expect_equal(coef(fit), coef(sparsegp(y ~ ., d, kernel = kernel_rbf())), tolerance = 1e-10)
  expect_identical(format(update(fit, structure = NULL)$kernel), format(sparsegp(y ~ ., d)$kernel))
  for (wrong in list("free", TRUE, NA, 1, c("fixed", "fixed"), kernel_rbf())) {
    refused(sparsegp(y ~ ., d, structure = wrong), "structure")
  }
  like <- sparsegp(y ~ ., d, method = method_ep(size = 20))
  refused(sparsegp(y ~ ., data = d, control = gp_control(like = like), structure = "fixed"),
          "structure")
})

# A polynomial of that degree along a.
bent <- function(degree, n = 120) {
  d <- steps(n)
  d$y <- outer(d$a, 0:degree, "^") %*% c(0.5, -1, 0.5, 1, 0.5)[seq_len(degree + 1L)] +
    0.3 * sin(17 * seq_len(n))
  d
}

test_that("an open degree of a polynomial is that with the most evidence", {
  slow_tier()
  for (degree in 1:4) {
    fit <- sparsegp(y ~ a, bent(degree), kernel = kernel_poly())
    expect_identical(format(fit$kernel), sprintf("poly(degree = %d)", degree))
  }
  d <- bent(3)
  fit <- sparsegp(y ~ a, d, kernel = kernel_poly())
  tried <- choices_of_stage(fit, "kernel")
  expect_identical(tried$candidate, sprintf("poly(degree = %d)", seq_len(policy$most_degree)))
  # the scores differ by what the evidences of the fits with each degree do: price and prior's
  # constant are the same, and searches end within search_tolerance of the best
  given <- vapply(seq_len(policy$most_degree), function(degree) {
    alone <- sparsegp(y ~ a, d, kernel = kernel_poly(degree),
                      control = gp_control(integrate = "none"))
    table <- alone$hyper[alone$hyper$free, ]
    far <- vapply(seq_len(nrow(table)), function(i) {
      par <- table$prior[[i]]$par
      (log(hyper_value(table)[i]) - par[["meanlog"]]) / par[["sdlog"]]
    }, 0)
    alone$log_evidence - sum(far^2) / 2
  }, 0)
  expect_equal(tried$score - tried$score[3L], given - given[3L],
               tolerance = 2 * policy$search_tolerance / mean(abs(given - given[3L])))
  expect_identical(which(tried$taken), which.max(given))
  expect_output(print(summary(fit)), "poly\\(degree = 3\\), better by .* evidence; 5 tried")
  by_name <- sparsegp(y ~ a, d, kernel = "polynomial")
  expect_identical(format(by_name$kernel), format(fit$kernel))
})

test_that("the degree of a part is open, too, and labels and streams choose it", {
  slow_tier()
  d <- bent(3)
  fit <- sparsegp(y ~ a + b, d, kernel = kernel_poly(vars = "a") + kernel_rbf(vars = "b"))
  expect_identical(format(fit$kernel), "poly(degree = 3, vars = a) + rbf(vars = b)")
  labels <- sparsegp(factor(y > 0) ~ a, d, kernel = kernel_poly())
  expect_identical(nrow(choices_of_stage(labels, "kernel")), 5L)
  stream <- sparsegp(y ~ a, d, kernel = kernel_poly(), method = method_online(pilot = 100))
  expect_identical(format(stream$kernel), "poly(degree = 3)")
  expect_identical(nrow(basis(stream)), 4L) # so many functions it spans
})

test_that("an open degree is 2 where nothing is compared, and one that is given stays", {
  slow_tier()
  d <- bent(3, 40)
  degree_of <- function(...) format(sparsegp(y ~ a, d, ...)$kernel)
  expect_identical(degree_of(kernel = kernel_poly(), learn = FALSE), "poly(degree = 2)")
  expect_identical(degree_of(kernel = kernel_poly(), structure = "fixed"), "poly(degree = 2)")
  expect_identical(degree_of(kernel = kernel_poly(1)), "poly(degree = 1)")
})

test_that("a stream's pilot is raced as a fit is", {
  slow_tier()
  d <- steps()
  fit <- sparsegp(y ~ ., d[1:100, ], mean = "average")
  stream <- sparsegp(y ~ ., d, method = method_online(size = 30, pilot = 100))
  expect_identical(format(stream$kernel), format(fit$kernel))
  expect_equal(choices_of_stage(stream, "kernel"), choices_of_stage(fit, "kernel"),
               tolerance = 1e-6)
})

test_that("several functions have the length scales, trend and shape that one would have", {
  slow_tier()
  at_mode <- gp_control(integrate = "none")
  d <- steps(80)
  d$z <- cos(2 * d$a) + 0.1 * cos(seq_len(80))
  fit <- sparsegp(cbind(y, z) ~ a + b + c, d, control = at_mode)
  each <- sparsegp(cbind(y, z) ~ a + b + c, d, control = at_mode,
                   kernel = kernel_coregion(kernel_rbf(ard = TRUE)))
  expect_match(format(fit$kernel), "coregion() * ", fixed = TRUE)
  expect_match(format(fit$kernel), "ard = TRUE", fixed = TRUE)
  # what is chosen has at least the evidence of one of its alternatives
  expect_gt(fit$log_evidence, each$log_evidence - policy$search_tolerance)
  expect_gt(each$log_evidence, update(fit, structure = "fixed")$log_evidence + 30)
  expect_true(all(fit$choices$stage == "kernel"))
  expect_null(each$choices)
  spread <- sparsegp(y ~ a + b + c, d, likelihood = "heteroscedastic", control = at_mode)
  expect_match(format(spread$kernel), "coregion(rank = 0) * ", fixed = TRUE)
  expect_match(format(spread$kernel), "ard = TRUE", fixed = TRUE)
})

test_that("parts of a kernel of several functions change within it", {
  kernel <- kernel_for(kernel_rbf(), lik_heteroscedastic())
  expect_identical(kernel, kernel_coregion(rank = 0))
  expect_identical(kernel_for(kernel_rbf(), lik_gaussian()), kernel_rbf())
  each <- with_first(list(kernel = kernel), type = "matern32", ard = TRUE)
  expect_identical(each, kernel_coregion(kernel_matern32(ard = TRUE), rank = 0))
  trend <- alternatives_of_part(each, list(kernel_linear()))[[2L]]$setup$kernel
  expect_identical(lapply(kernel_parts(trend), `[[`, "type"), list("matern32", "linear"))
  expect_identical(alternatives_of_part(trend, list(kernel_linear()))[[2L]]$setup$kernel, each)
})

test_that("one input of several functions, and a kernel that is given, are not compared", {
  slow_tier()
  d <- steps(40)
  expect_null(sparsegp(cbind(y, b) ~ a, d)$choices)
  given <- sparsegp(cbind(y, a) ~ b + c, d, kernel = kernel_coregion())
  expect_null(given$choices)
  expect_identical(given$kernel, kernel_coregion())
})

test_that("the typical log density of a prior is its constant", {
  table <- list(free = c(TRUE, TRUE, FALSE, TRUE),
                prior = list(prior_lognormal(1, 2), prior_gamma(3, 2), prior_normal(0, 1),
                             prior_flat()))
  expect_equal(hyper_log_constant(table),
               -log(2 * sqrt(2 * pi)) + dgamma(1.5, 3, 2, log = TRUE), tolerance = 1e-12)
})

test_that("a source has the scale of the rows in memory, if all of its rows are in its domain", {
  slow_tier()
  set.seed(1)
  d <- data.frame(x = runif(150, 0, 4))
  d$y <- exp(sin(2 * d$x) + 0.2 * rnorm(150))
  source <- function(d) row_source(function(i) d[seq(50 * i - 49, 50 * i), ], chunks = 3)
  fit <- sparsegp(y ~ x, source(d), method = method_ep(size = 20))
  expect_identical(fit$likelihood$transform$name, "log")
  # the same rows in memory, on the same basis; EP stops where sites change by less than 1e-6
  whole <- sparsegp(control = gp_control(like = fit), data = d)
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(whole)), tolerance = 1e-5)
  expect_equal(predict(fit, d[1:5, ]), predict(whole, d[1:5, ]), tolerance = 1e-5)
  # a 0 in a chunk that is not kept in memory
  d$y[120] <- 0
  few <- sparsegp(y ~ x, source(d), learn = learn_control(rows = 60), method = method_ep(size = 20))
  expect_false(identical(few$likelihood$transform$name, "log"))
})

lognormal_rows <- function(n) {
  set.seed(1)
  d <- data.frame(x = runif(n, 0, 4))
  transform(d, y = exp(sin(2 * x) + 0.4 * rnorm(n)), w = 0.5 + seq_len(n) %% 2)
}

test_that("a stream has the scale that its pilot chose, and refuses what lies outside", {
  slow_tier()
  d <- lognormal_rows(160)
  online <- method_online(size = 12, pilot = 100)
  stream <- sparsegp(y ~ x, d[1:120, ], method = online)
  expect_identical(stream$likelihood$transform$name, "log")
  expect_output(print(summary(stream)), "response scale: log", fixed = TRUE)
  # any chunking of the same rows is the same fit, and that with the scale given
  chunked <- update(sparsegp(y ~ x, d[1:60, ], method = online), d[61:120, ])
  expect_equal(predict(chunked, d[1:5, ]), predict(stream, d[1:5, ]), tolerance = 1e-8)
  given <- sparsegp(y ~ x, d[1:120, ], method = online,
                    likelihood = lik_gaussian(transform = "log"))
  expect_equal(predict(given, d[1:5, ]), predict(stream, d[1:5, ]), tolerance = 0.02)
  plain <- update(stream, likelihood = lik_gaussian(transform = "identity"))
  expect_gt(c(logLik(stream)), c(logLik(plain)) + 20)
  before <- predict(stream, d[1:5, ])
  for (wrong in c(0, -1)) {
    expect_match(refused(update(stream, replace(d[121:160, ], "y", wrong)), "newdata"), "transform")
  }
  expect_identical(predict(stream, d[1:5, ]), before)
  expect_equal(nobs(stream), 120L)
  expect_equal(nobs(update(stream, d[121:160, ])), 160L)
})

test_that("a stream of counts is not fitted on a scale that a 0 would end", {
  expect_setequal(scales_at_risk(c(1, 3, 2, 7)), c("log", "boxcox", "logit"))
  expect_setequal(scales_at_risk(0.1 * c(1, 3, 2, 7)), c("log", "boxcox", "logit"))
  expect_identical(scales_at_risk(c(0.1, 0.35, 0.8, 0.9)), character())
  expect_identical(scales_at_risk(c(0.93, 0.8, 0.9)), character())
  expect_identical(scales_at_risk(c(0.75, 0.5)), "logit")
  expect_identical(scales_at_risk(c(12, 13, 17)), character())
  expect_identical(scales_at_risk(c(0, 1, 2)), character())
})

test_that("weights and priors that are not in units of the response leave its scale open", {
  slow_tier()
  d <- lognormal_rows(80)
  scale_of <- function(..., prior = NULL) {
    control <- gp_control(integrate = "none", prior = prior)
    sparsegp(y ~ x, d, ..., control = control)$likelihood$transform$name
  }
  expect_identical(scale_of(weights = w), "log")
  expect_identical(scale_of(prior = list(lengthscale = prior_lognormal(0, 1))), "log")
  expect_null(scale_of(prior = list(noise = prior_lognormal(-1, 1))))
  expect_null(scale_of(prior = list(variance = prior_lognormal(0, 1))))
  expect_null(scale_of(offset = x))
  expect_null(scale_of(likelihood = lik_gaussian(0.1)))
  weighted <- sparsegp(y ~ x, d, weights = w, control = gp_control(integrate = "none"))
  logs <- sparsegp(log(y) ~ x, d, weights = w, control = gp_control(integrate = "none"))
  expect_equal(weighted$log_evidence, logs$log_evidence - sum(log(d$y)), tolerance = 1e-3)
})

test_that("inputs whose units differ by far do not share a scale", {
  slow_tier()
  shared <- function(...) can_share_scale(list(sd = c(...), levels = rep(0, ...length())))
  expect_true(shared(1, 50))
  expect_true(shared(1e-3, 1, 2)) # one hardly varies
  expect_false(shared(1, 1))      # that is the scale of each
  for (far in c(200, 1e12)) {
    expect_false(shared(1, far))
    expect_false(shared(1, 1, far, far))
  }
})
