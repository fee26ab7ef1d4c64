# Streams that forget: their sites decay with a half-life.

reached_elsewhere()

forget_data <- function(n = 150L) {
  at <- seq_len(n)
  d <- data.frame(a = 4 * (at * 0.7548777) %% 1 - 2, time = 7 * at + (at %% 7))
  d$y <- sin(2 * d$a) + at / 100 + 0.3 * cos(17 * at)
  d
}

forget_fit <- function(d, forget, formula = y ~ a) {
  sparsegp(formula, d, lik_gaussian(0.1), kernel = kernel_rbf(1, 1), learn = FALSE,
           basis = data.frame(a = seq(-2, 2, by = 0.5)),
           method = method_online(forget = forget, pilot = 40))
}

# Weighted regression on the stream's basis, in its units, with the noise over the weights.
expect_weighted <- function(fit, d, weights) {
  x <- scaled_inputs(cbind(a = d$a), fit$scaling)
  theta <- kernel_theta(fit)
  B <- fit$posterior$basis
  R <- chol(kernel_matrix(fit$spec, theta, B, B))
  V <- t(backsolve(R, kernel_matrix(fit$spec, theta, B, x), transpose = TRUE))
  noise <- coef(fit)[["noise"]] / fit$response$unit^2
  y <- (d$y - fit$response$centre) / fit$response$unit
  S <- crossprod(V, weights / noise * V)
  t <- crossprod(V, weights / noise * y)
  z <- solve(diag(ncol(V)) + S, t)
  new <- data.frame(a = c(-1.7, 0.2, 1.1))
  v <- backsolve(R, kernel_matrix(fit$spec, theta, B, scaled_inputs(as.matrix(new), fit$scaling)),
                 transpose = TRUE)
  found <- predict(fit, new, type = "latent")
  expect_lt(max(abs(found - drop(t(v) %*% z) * fit$response$unit - fit$response$centre)), 1e-9)
  expect_lt(max(abs(fit$state[[1L]]$S - S)), 1e-9 * max(S))
}

test_that("a stream that forgets is the weighted fit, by rows or by times, in any chunks", {
  memory_tier()
  d <- forget_data()
  n <- nrow(d)
  for (half_life in c(32, 640)) { # more than one step a row, and rows that share one
    age <- floor(64 * (seq_len(n) - 1) / half_life)
    expect_weighted(forget_fit(d, half_life), d, 2^((age - age[n]) / 64))
  }
  age <- floor(64 * d$time / 100)
  whole <- forget_fit(d, c(time = 100))
  expect_weighted(whole, d, 2^((age - age[n]) / 64))
  parts <- update(update(forget_fit(d[1:77, ], c(time = 100)), d[78, ]), d[79:n, ])
  expect_lt(max(abs(parts$state[[1L]]$S - whole$state[[1L]]$S)), 1e-9 * max(whole$state[[1L]]$S))
  source <- row_source(function(i) d[seq(50L * i - 49L, 50L * i), ], chunks = 3L)
  expect_equal(forget_fit(source, c(time = 100))$state, whole$state, tolerance = 1e-9)
})

test_that("nothing is forgotten in a half-life without end, and all where no rows come", {
  memory_tier()
  d <- forget_data()
  expect_equal(forget_fit(d, 1e12)$state, forget_fit(d, NULL)$state, tolerance = 1e-12)
  late <- transform(d[1L, ], time = 1e7)
  gone <- update(forget_fit(d, c(time = 100)), late)
  expect_lt(max(abs(gone$state[[1L]]$S)), 1.01 * gone$state[[1L]]$R[1L]^2 / 0.01)
  far <- predict(gone, data.frame(a = -d$a[1L]), type = "latent", se.fit = TRUE)
  expect_gt(far$se.fit, 0.5 * gone$response$unit) # the prior's, nearly
})

test_that("a stream that forgets follows what drifts", {
  memory_tier()
  d <- forget_data(600L)
  late <- d[541:600, ]
  error <- function(fit) mean(abs(predict(fit, late) - late$y))
  # the last rows are at 6 in the mean, all of them at 3
  expect_lt(error(forget_fit(d, 60)), 0.6 * error(forget_fit(d, NULL)))
})

test_that("what cannot be forgotten by is said", {
  memory_tier()
  d <- forget_data()
  refuse <- function(call, message) expect_error(call, message, class = "sparsegp_error")
  refuse(method_online(forget = 0), "`forget`")
  refuse(method_online(forget = c(1, 2)), "`forget`")
  refuse(forget_fit(d, c(nowhere = 3)), "lacks nowhere")
  refuse(forget_fit(d[rev(seq_len(nrow(d))), ], c(time = 3)), "go back")
  refuse(update(forget_fit(d, c(time = 3)), d[1:3, ]), "go back")
  refuse(sparsegp(as.matrix(d["a"]), d$y, method = method_online(forget = c(time = 3))), "matrix")
})

test_that("a clock is numbers or times, and stays what it was", {
  slow_tier()
  d <- forget_data(80L)
  refuse <- function(call, message) expect_error(call, message, class = "sparsegp_error")
  as_text <- transform(d, time = as.character(time))
  refuse(forget_fit(as_text, c(time = 30)),
         "`data` has time of class character, which is not a time")
  refuse(forget_fit(transform(d, time = factor(time)), c(time = 30)), "has time of class factor")
  refuse(forget_fit(d, c(t = 30)), "`data` lacks t") # not R's function t()
  infinite <- transform(d, time = replace(time, 3L, Inf))
  refuse(forget_fit(infinite, c(time = 30)), "not finite, in time")
  times <- list(
    numbers = d$time,
    Date = as.Date("2024-01-01") + d$time,
    POSIXct = as.POSIXct("2024-01-01", tz = "UTC") + 86400 * d$time,
    difftime = as.difftime(d$time, units = "days")
  )
  half_lives <- c(30, 30, 30 * 86400, 30)
  wanted <- forget_fit(d, c(time = 30))
  halves <- list(1:50, 51:80)
  chunk <- function(kind, half) {
    at <- halves[[half]]
    replace(d[at, ], "time", list(times[[kind]][at]))
  }
  for (k in seq_along(times)) {
    first <- forget_fit(chunk(k, 1L), c(time = half_lives[k]))
    more <- update(first, chunk(k, 2L))
    if (names(times)[k] %in% c("numbers", "difftime")) {
      expect_equal(more$log_evidence, wanted$log_evidence, tolerance = 1e-10)
    }
    for (other in setdiff(seq_along(times), k)) {
      refuse(update(first, chunk(other, 2L)), paste0("has time as .*, which was ", names(times)[k]))
    }
    refuse(update(first, as_text[51:80, ]), "time of class character")
    refuse(update(first, d[51:80, c("a", "y")]), "`newdata` lacks time")
  }
  first <- forget_fit(chunk("difftime", 1L), c(time = 30))
  hours <- chunk("difftime", 2L)
  units(hours$time) <- "hours"
  expect_equal(update(first, hours)$log_evidence, wanted$log_evidence, tolerance = 1e-10)
  # as a source gives them
  source <- row_source(function(i) chunk(c("Date", "POSIXct")[i], i), chunks = 2L)
  refuse(forget_fit(source, c(time = 30)), "`data` has time as POSIXct, which was Date")
})
