# Starting values come from the data: nothing that a hand start finds is missed by a default fit.

r_code_alone()

rmse <- function(a, b) sqrt(mean((a - b)^2))

test_that("the distance between rows is that of neighbours", {
  r_code_alone()
  expect_equal(spacing_of_rows(cbind(c(1, 1, 3, 5, 5))), 2)
  grid <- as.matrix(expand.grid(1:12, 1:12))
  expect_equal(spacing_of_rows(grid), 1)
  expect_equal(spacing_of_rows(rbind(grid, grid)), 1) # copies are no neighbours
  expect_equal(spacing_of_rows(matrix(0, 10, 6)), Inf)
  expect_equal(spacing_of_rows(cbind(rep(1, 4))), Inf)
})

test_that("starts go down to that distance, and parts of the same inputs start apart", {
  r_code_alone()
  table <- function(finest, turn) {
    data.frame(free = TRUE, scan = TRUE, start = 0, finest = finest, turn = turn)
  }
  usual <- log(c(1, 0.4, 0.15))
  expect_equal(unlist(table_starts(table(0, 1L))), usual)
  finest <- min(unlist(table_starts(table(log(1e-3), 1L))))
  expect_gte(finest, log(1e-3))
  expect_lt(finest, log(1e-3 / 0.375)) # the next one would be below it
  two <- do.call(rbind, table_starts(table(0, 1:2)))
  expect_true(all(abs(two[, 1] - two[, 2]) > log(5)))
  expect_true(any(two[, 1] > two[, 2]) && any(two[, 1] < two[, 2]))
})

test_that("a pilot sample is made of windows where a spread one would miss the function", {
  memory_tier()
  r_code_alone()
  set.seed(1)
  t <- seq_len(2000)
  fast <- window_order(cbind(t), sin(2 * pi * t / 12) + 0.2 * rnorm(2000), 100)
  expect_setequal(fast, t)
  near <- diff(sort(fast[1:100]))
  expect_lte(stats::median(near), 3)
  expect_null(window_order(cbind(t), sin(2 * pi * t / 1000) + 0.2 * rnorm(2000), 100))
  expect_null(window_order(cbind(t), rnorm(2000), 100)) # nothing to see
  expect_null(window_order(cbind(t), sin(t), 2000)) # all rows
  x <- matrix(runif(6000), ncol = 2)
  expect_false(is.null(window_order(x, sin(60 * x[, 1]) * sin(60 * x[, 2]), 150)))
})

test_that("series of many cycles are no noise", {
  slow_tier()
  d <- data.frame(t = as.numeric(time(nottem)), y = as.numeric(nottem))
  short <- sparsegp(y ~ t, d, kernel = kernel_rbf(lengthscale = 0.05))
  expect_gt(logLik(sparsegp(y ~ t, d)), logLik(short))
  # without a rhythm to choose, too: the same optimum from either start
  expect_equal(c(logLik(sparsegp(y ~ t, d, kernel = kernel_rbf()))), c(logLik(short)),
               tolerance = 1e-3)
  set.seed(2)
  x <- sort(runif(200)) # labels and counts of a fast function, off any grid
  f <- 2.5 * sin(2 * pi * 14 * x)
  y <- factor(rbinom(200, 1, plogis(f)))
  hand <- sparsegp(x, y, kernel = kernel_rbf(lengthscale = 0.06))
  expect_gt(logLik(sparsegp(x, y)), logLik(hand) - 3)
  counts <- rpois(200, exp(f))
  hand <- sparsegp(x, counts, "poisson", kernel = kernel_rbf(lengthscale = 0.06))
  expect_gt(logLik(sparsegp(x, counts, "poisson")), logLik(hand) - 3)
})

test_that("parts of one kind in a sum end where they differ", {
  slow_tier()
  set.seed(1)
  x <- seq(0, 10, length.out = 150)
  y <- 3 * sin(x / 2) + 0.8 * sin(9 * x) + 0.1 * rnorm(150)
  for (kernel in list(kernel_rbf() + kernel_rbf(), kernel_matern52() + kernel_rbf())) {
    fit <- sparsegp(x, y, kernel = kernel)
    scale <- sort(coef(fit)[c("k1.lengthscale", "k2.lengthscale")])
    expect_gt(scale[[2]], 4 * scale[[1]])
    expect_gt(logLik(fit), 0) # equal parts end at -141
  }
  # 8 points chosen for equal parts end at -141, too
  expect_gt(logLik(sparsegp(x, y, kernel = kernel_rbf() + kernel_rbf(), method = method_ep(60))), 0)
  set.seed(60)
  x <- seq(0, 10, length.out = 60)
  f <- 3 * sin(x / 2) + 0.8 * sin(9 * x)
  fit <- sparsegp(x, f + 0.1 * rnorm(60), kernel = kernel_rbf() + kernel_rbf())
  expect_lt(sqrt(mean((fitted(fit) - f)^2)), 0.2) # 0.57, which is the wave's deviation, if equal
  hours <- seq(2, 720, by = 2)
  y <- 2 * sin(2 * pi * hours / 24) + cos(2 * pi * hours / 168) + rnorm(360)
  fit <- sparsegp(hours, y, kernel = kernel_rbf() + kernel_periodic() + kernel_periodic())
  # four turns of the longer one, whose peak a cubic trend moves by half a turn
  expect_equal(sort(unname(coef(fit)[c("k2.period", "k3.period")])), c(24, 168), tolerance = 0.15)
})

test_that("so do those of several inputs with a length scale each", {
  slow_tier()
  set.seed(1)
  d <- data.frame(a = runif(200, 0, 10), b = runif(200))
  d$y <- 3 * sin(d$a / 2) + 0.8 * sin(7 * d$a) + d$b + 0.1 * rnorm(200)
  each <- kernel_rbf(ard = TRUE)
  fit <- sparsegp(y ~ a + b, d, kernel = each + each)
  expect_gt(logLik(fit), 0) # equal parts end some 200 nats below
})

test_that("rhythms of calendars are found, and structures with them are made again", {
  slow_tier()
  set.seed(1)
  day <- 1:500
  week <- c(0, 0.5, 1, 0.2, -0.5, 2, -1)
  d <- data.frame(day = as.Date("2024-01-01") + day, y = sin(day / 60) + week[day %% 7 + 1] +
                    0.4 * rnorm(500))
  fit <- sparsegp(y ~ day, d)
  periods <- unlist(periods_of_kernel(fit$kernel))
  expect_true(any(abs(periods - 7) < 0.01))
  new <- data.frame(day = max(d$day) + 1:14)
  truth <- sin((501:514) / 60) + week[501:514 %% 7 + 1]
  expect_lt(rmse(predict(fit, new), truth), 0.35) # without the rhythm 1
  kernels <- Filter(length, lapply(raced_structures(fit)$fields, `[[`, "kernel"))
  expect_true(any(vapply(kernels, identical, NA, fit$kernel)))
})

test_that("a period is offered if the rows span it, the weaker one beside the stronger one", {
  memory_tier()
  set.seed(2)
  hours <- 1:5000 / 24 # in days: half a year and a month
  day <- 2 * sin(2 * pi * hours)
  week <- 0.7 * sin(2 * pi * hours / 7)
  year <- 3 * cos(2 * pi * hours / 365.25)
  y <- year + day + week + 0.3 * rnorm(5000)
  offered <- rhythms_seen(hours, y, numeric())
  expect_true(all(max(hours) / offered >= policy$rhythm_cycles))
  expect_equal(offered[1], 1, tolerance = 0.01)
  expect_true(any(abs(rhythms_seen(hours, y, 1) - 7) < 0.05))
})

test_that("few cycles of a calendar are a rhythm, whatever the unit of time", {
  slow_tier()
  n <- 48
  set.seed(1)
  gone <- c(sample(36, 8), 37:48)
  y <- sin(2 * pi * seq_len(n) / 12) + 2 * (seq_len(n) / n)^2
  noisy <- y + 0.1 * rnorm(n)
  units <- list(1:n, 1990 + 0:(n - 1) / 12,
                as.double(seq(as.Date("2001-01-01"), by = "month", length.out = n)))
  for (t in units) {
    fit <- sparsegp(t[-gone], noisy[-gone])
    expect_lt(rmse(predict(fit, t[37:48]), y[37:48]), 0.4) # without the rhythm 1
  }
})

test_that("a rhythm of a calendar shows beside a wandering level, and noise has none", {
  memory_tier()
  set.seed(4)
  month <- 1:96
  y <- cumsum(rnorm(96)) + 1.5 * cos(2 * pi * month / 12)
  expect_true(any(abs(rhythms_seen(month, y, numeric()) - 12) < 0.5))
  seen <- vapply(1:40, function(seed) {
    set.seed(seed)
    length(rhythms_seen(1:60, rnorm(60), numeric()))
  }, 0L)
  expect_lt(mean(seen > 0L), 0.2)
})

test_that("irregular times show rhythms that are faster than they follow each other", {
  slow_tier()
  set.seed(1)
  days <- as.Date("2015-01-01") + sort(sample(700, 160))
  few <- as.Date("2015-01-01") + sort(sample(2500, 100)) # a day in 25
  hours <- sort(sample(8760, 240))
  any_time <- sort(runif(160, 0, 200))
  periods <- c(7, 7, 24, 1.1)
  for (k in seq_along(periods)) {
    t <- list(days, few, hours, any_time)[[k]]
    wave <- function(t) sin(2 * pi * as.double(t) / periods[k])
    new <- t[1] + seq(0.5, 60.5) * if (k > 2L) 1 else round(periods[k]) / 7
    fit <- sparsegp(y ~ t, data.frame(t, y = wave(t) + 0.4 * rnorm(length(t))))
    expect_lt(rmse(predict(fit, data.frame(t = new)), wave(new)), 0.3) # a flat line has 0.7
  }
  seen <- vapply(1:40, function(seed) {
    set.seed(seed)
    length(rhythms_seen(sort(runif(100)), rnorm(100), numeric(), timed = FALSE))
  }, 0L)
  expect_lt(mean(seen > 0L), 0.1)
})

test_that("few cycles of a calendar in a long grid show without a peak that rises above noise", {
  set.seed(1)
  n <- 2600 # days, more than the rows that calendars are looked for in
  day <- seq_len(n)
  y <- 2 * (day / n)^2 + 0.07 * sin(2 * pi * day / 365.25 + 1) + 0.5 * rnorm(n)
  expect_lt(max(seen_periods(day, y, 3L)$share), share_of_noise(n, TRUE))
  expect_equal(rhythms_seen(day, y, numeric()), 365.25)
})

test_that("a known structure with noise near none has no other noise", {
  expect_null(with_known_noise(NULL, list(noiseless = TRUE)))
  expect_identical(with_known_noise(NULL, list(noise = "student"))$type, "student")
})

test_that("deterministic responses have noise near none, noisy ones do not", {
  slow_tier()
  set.seed(3)
  x <- sort(runif(12, 0, 6))
  fit <- sparsegp(x, sin(x))
  at <- seq(min(x), max(x), length.out = 50)
  expect_lt(rmse(predict(fit, at), sin(at)), 0.005)
  tried <- fit$choices[fit$choices$stage == "noise", ]
  expect_identical(tried$candidate[tried$taken], "near none")
  noisy <- sparsegp(x, sin(x) + 0.3 * rnorm(12))
  expect_false("near none" %in% noisy$choices$candidate[noisy$choices$taken])
  # rows with the same inputs that differ contradict it
  copies <- sparsegp(c(x, x[1]), c(sin(x), sin(x[1]) + 1e-4))
  expect_false("near none" %in% copies$choices$candidate)
  expect_error(lik_gaussian(variance = fixed(0)), "1e-8", class = "sparsegp_error")
})

test_that("a deterministic function of two inputs is found where it takes a length scale each", {
  slow_tier()
  set.seed(102)
  # the Branin function, of which 20 rows tell the inputs apart only if there is no noise
  branin <- function(x) {
    a <- 15 * x[, 1] - 5
    b <- 15 * x[, 2]
    (b - 5.1 / (4 * pi^2) * a^2 + 5 / pi * a - 6)^2 + 10 * (1 - 1 / (8 * pi)) * cos(a) + 10
  }
  x <- matrix(runif(40), 20)
  fit <- sparsegp(x, branin(x))
  tried <- fit$choices[fit$choices$stage == "noise", ]
  expect_identical(tried$candidate[tried$taken], "near none, rbf(ard = TRUE)")
  at <- matrix(runif(400), 200)
  expect_lt(rmse(predict(fit, at), branin(at)), 0.25 * sd(branin(at))) # .19; with noise .47
})

test_that("a fit that calls noise what neighbours share gives a warning", {
  slow_tier()
  set.seed(1)
  t <- sort(runif(400))
  y <- sin(2 * pi * 25 * t) + 0.1 * rnorm(400)
  long <- kernel_rbf(lengthscale = fixed(1))
  expect_warning(sparsegp(t, y, kernel = long), "neighbouring rows are alike")
  expect_no_warning(sparsegp(t, rnorm(400), kernel = long))
})

test_that("replicated controls stay near other doses", {
  slow_tier()
  for (seed in of_tier(1:6, 2)) {
    set.seed(seed)
    d <- data.frame(dose = rep(c(0, 1, 2, 5, 10, 50, 100), each = 4))
    response <- function(dose) 10 + 40 * dose / (5 + dose)
    d$y <- response(d$dose) + rnorm(28, 0, 2)
    at <- data.frame(dose = seq(0, 1, 0.1))
    expect_lt(rmse(predict(sparsegp(y ~ dose, d), at), response(at$dose)), 2) # one sd of the noise
  }
})

test_that("an input at irregular places has a rhythm if it shows in several cycles", {
  slow_tier()
  set.seed(1)
  d <- data.frame(x = runif(200))
  d$f <- sin(2 * pi * 25 * d$x)
  d$number <- d$f + 0.3 * rnorm(200)
  d$count <- rpois(200, exp(1 + d$f))
  d$label <- factor(2 * d$f + 0.3 * rnorm(200) > 0)
  periods <- function(y) {
    unlist(periods_of_kernel(sparsegp(stats::reformulate("x", y), d)$kernel))
  }
  for (y in c("number", "count", "label")) {
    expect_equal(periods(y), 1 / 25, tolerance = 0.02, label = y) # half a turn of 25
  }
  d$smooth <- sin(2 * pi * 2 * d$x) + 0.3 * rnorm(200) # two cycles are no rhythm
  expect_null(periods("smooth"))
})

test_that("a function without noise is not made to pass through outliers", {
  slow_tier()
  curve <- function(seed, code) {
    set.seed(seed)
    d <- data.frame(a = runif(60, -2, 2))
    d$y <- sin(2 * d$a) + 0.1 * rnorm(60)
    d$y[sample(60, 4)] <- code
    fit <- suppressWarnings(sparsegp(y ~ a, d)) # of the code
    at <- data.frame(a = seq(-1.9, 1.9, 0.1))
    expect_lt(sqrt(mean((predict(fit, at) - sin(2 * at$a))^2)), 0.1) # 109 and 272 before
  }
  curve(6, -999)
  curve(3, 50) # no code for missing values
  expect_true(stand_apart(c(1:20, -99)))
  expect_true(stand_apart(c(rnorm(50), 1e3, -1e3)))
  expect_false(stand_apart(exp(seq(0, 20, length.out = 30))))
  expect_false(stand_apart(c(0, 0, 0, 1, 0)))
})

test_that("distinct rows are those of unique(), in their order", {
  set.seed(8)
  for (x in list(matrix(sample(0:3, 60, TRUE), 30), matrix(stats::runif(20), 10), diag(1),
                 matrix(1, 5, 3))) {
    expect_identical(distinct_rows(x), unique(x))
  }
})

test_that("a search for noise near none that begins above the noise found goes on to its end", {
  noise <- function(start, theta) data.frame(base = "noise", start = start, theta = theta)
  is_far <- function(before) is_noise_far(list(table = noise(-8, -8), before = before))
  expect_true(is_far(noise(-2, -12)))
  expect_false(is_far(noise(-2, -5)))
  expect_false(is_far(noise(-8, -12))) # not another start
  expect_false(is_far(noise(-2, -12)[0L, ]))
  slow_tier()
  set.seed(120)
  x <- matrix(stats::runif(240), 120)
  first <- 15 * x[, 1L] - 5
  branin <- (15 * x[, 2L] - 5.1 / (4 * pi^2) * first^2 + 5 / pi * first - 6)^2 +
    10 * (1 - 1 / (8 * pi)) * cos(first) + 10
  # -29 where the search was ended as one that cannot win
  expect_gt(as.numeric(logLik(sparsegp(x, branin))), 190)
})

test_that("inputs that act only together are found among many, if no polynomial shows them", {
  slow_tier()
  errors <- vapply(c(2, 4, 5, 6), function(seed) {
    set.seed(seed)
    x <- matrix(stats::runif(700 * 30, -1, 1), 700)
    y <- 2 * x[, 1L] * sin(1.6 * pi * x[, 2L])
    d <- data.frame(x, y = y + 0.2 * stats::rnorm(700))
    sqrt(mean((predict(sparsegp(y ~ ., d[1:200, ]), d[201:700, ]) - y[201:700])^2))
  }, 0)
  # a deviation of .88 is found as noise where searches that begin anew are ended by their slope
  expect_lt(max(errors), 0.25)
})
