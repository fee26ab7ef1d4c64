# Fits of rows that stay where they are: merged on one basis, on several, and what they hold.

reached_elsewhere()

shard_fits <- function(formula = y ~ a + b, lik = lik_gaussian(fixed(0.1)), second = 30:38,
                       ...) {
  d <- source_data()
  first <- source_fit(formula, d[1:100, ], lik, basis = source_points(d)[1:9, ],
                      control = gp_control(keep_x = FALSE),
                      mean = "average", ...)
  list(d = d, first = first, points = d[second, ],
       other = sparsegp(control = gp_control(like = first), data = d[101:300, ],
                        basis = d[second, ]))
}

# Sums of a fit's sites as a function of the latent values at `points`: precision and shift.
sums_at <- function(fit, points) {
  x <- scaled_inputs(model_inputs(fit$terms, points)$x, fit$scaling)
  K <- kernel_matrix(fit$spec, kernel_theta(fit), x, x)
  KB <- kernel_matrix(fit$spec, kernel_theta(fit), fit$posterior$basis, x)
  # u_B = K_Bx K_xx^-1 u_x where the basis is among the points
  P <- backsolve(fit$state[[1L]]$R, KB, transpose = TRUE) %*% solve(K)
  list(K = K, precision = crossprod(P, fit$state[[1L]]$S %*% P),
       shift = crossprod(P, fit$state[[1L]]$t))
}

test_that("fits on different bases merge exactly on the points of both", {
  memory_tier()
  made <- shard_fits()
  both <- merge(made$first, made$other, onto = "both")
  expect_identical(nobs(both), nobs(made$first) + nobs(made$other))
  # the product of both factors and the prior, by plain algebra at the points of both
  points <- rbind(source_points(made$d)[1:9, ], made$points)
  one <- sums_at(made$first, points)
  two <- sums_at(made$other, points)
  S <- solve(solve(one$K) + one$precision + two$precision)
  found <- predict(both, points, type = "latent", covariance = TRUE)
  mean <- drop(S %*% (one$shift + two$shift)) * both$response$unit + both$response$centre
  expect_lt(max(abs(found$fit - mean)), 1e-7)
  expect_lt(max(abs(found$covariance / both$response$unit^2 - S)), 1e-7)
  expect_identical(both$merged, list(fits = 2L, kl_lost = 0))
  # in either order, evidence and all
  back <- merge(made$other, made$first, onto = "both")
  expect_equal(as.numeric(logLik(both)), as.numeric(logLik(back)), tolerance = 1e-9)
  expect_same_answers(both, back, made$d[c(7L, 120L), ], 1e-8)
})

test_that("projection keeps mean and covariance at its points, and loses what it says", {
  made <- shard_fits()
  both <- merge(made$first, made$other, onto = "both")
  one <- merge(made$first, made$other)
  expect_identical(bases_of(one), bases_of(made$first))
  at <- source_points(made$d)[1:9, ]
  kept <- predict(one, at, type = "latent", covariance = TRUE)
  whole <- predict(both, at, type = "latent", covariance = TRUE)
  expect_lt(max(abs(kept$fit - whole$fit)), 1e-8)
  expect_lt(max(abs(kept$covariance - whole$covariance)), 1e-8)
  expect_gt(one$merged$kl_lost, 0.01)
  expect_equal(one$merged$kl_lost, kl(both, one), tolerance = 1e-10)
  # no other posterior on these points is nearer
  for (shift in c(-0.02, 0.02)) {
    moved <- one
    moved$state[[1L]]$S <- moved$state[[1L]]$S * (1 + shift)
    expect_gt(kl(both, with_posterior(moved)), one$merged$kl_lost)
  }
  expect_output(print(summary(one)), "2 fits merged; .* nats lost")
})

test_that("bases of several classes are joined class by class", {
  slow_tier()
  made <- shard_fits(c ~ a + b, lik_probit(fixed(0.1)))
  expect_gt(merge(made$first, made$other)$merged$kl_lost, 0)
  d <- made$d
  d$three <- factor(c("p", "q", "r")[1L + (d$a > 0 & !is.na(d$a)) + (d$b > 6)])
  d <- d[!is.na(d$a), ]
  first <- source_fit(three ~ a + b, d[1:100, ], lik_probit(fixed(c(0.1, 0, -0.2))),
                      basis = d[20:28, ])
  other <- sparsegp(control = gp_control(like = first), data = d[101:290, ],
                    basis = d[c(20:24, 40:44), ])
  both <- merge(first, other, onto = "both")
  expect_identical(nrow(both$posterior$basis), 14L)
  expect_lt(max(abs(rowSums(predict(both, d[1:5, ], type = "prob")) - 1)), 1e-12)
  # with the sums of the first alone, on more points, nothing has changed
  empty <- sparsegp(control = gp_control(like = first), data = d[1:2, ], basis = d[40:44, ])
  empty$state <- no_rows_state(empty$state)
  empty <- with_posterior(empty)
  expect_same_answers(merge(first, empty, onto = "both"), first, d[c(7L, 120L), ], 1e-8)
})

test_that("a shard holds no rows, and does all that needs none", {
  memory_tier()
  d <- source_data()
  secret <- 123456.789
  d$b[77L] <- secret
  local_fit <- function() {
    hidden <- d # what the formula's environment holds
    do.call(sparsegp, list(y ~ a + b, d, kernel = kernel_rbf(fixed(1.5), fixed(1)),
                           basis = source_points(d)[1:9, ], control = gp_control(keep_x = TRUE)))
  }
  fit <- local_fit()
  bare <- shard(fit)
  holds <- function(object) {
    found <- FALSE
    look <- function(part) {
      if (is.environment(part)) {
        if (identical(part, globalenv()) || isNamespace(part)) return(NULL)
        part <- as.list(part)
      }
      if (is.numeric(part)) found <<- found || any(abs(unclass(part) - secret) < 1e-6, na.rm = TRUE)
      else if (is.recursive(part)) lapply(as.list(part), look)
      lapply(attributes(part), look)
      NULL
    }
    look(object)
    found
  }
  expect_true(holds(fit))
  expect_false(holds(bare))
  expect_same_answers(bare, fit, d[1:3, ])
  more <- sparsegp(control = gp_control(like = fit), data = d[200:300, ])
  without <- sparsegp(data = d[200:300, ], control = gp_control(keep_x = FALSE, like = fit))
  expect_same_fold(merge(bare, shard(more)), merge(fit, without))
  # as text, as ?shards has it for Spark
  text <- paste(serialize(bare, NULL), collapse = "")
  bytes <- substring(text, seq(1, nchar(text), 2), seq(2, nchar(text), 2))
  expect_identical(unserialize(as.raw(strtoi(bytes, 16L)))$state, bare$state)
  expect_error(fitted(bare), "rows", class = "sparsegp_error")
  expect_silent(capture.output(print(bare), print(summary(bare))))
  exact <- sparsegp(y ~ a, d[30:60, ], kernel = kernel_rbf())
  expect_error(shard(exact), "sums of sites", class = "sparsegp_error")
  stream <- sparsegp(y ~ a, d[1:10, ], method = method_online())
  expect_error(shard(stream), "first rows", class = "sparsegp_error")
})

test_that("points beside `like` are points", {
  made <- shard_fits()
  expect_error(sparsegp(control = gp_control(like = made$first), data = made$d, basis = 1:5),
               "points",
               class = "sparsegp_error")
  expect_error(sparsegp(control = gp_control(like = made$first), data = made$d,
                        basis = data.frame(a = 1)), "basis|lacks",
               class = "sparsegp_error")
  twice <- sparsegp(control = gp_control(like = made$first), data = made$d,
                    basis = made$d[c(30:38, 30L), ])
  expect_identical(nrow(twice$posterior$basis), 9L)
})

test_that("sites that leave no posterior together are told of", {
  fit <- sparsegp(1:5, c(1, 3, 2, 5, 4), lik_student(), basis = cbind(3), learn = FALSE)
  # each for itself widens the posterior, as rows with long tails may, and both do beyond bounds
  fit$state[[1L]]$S[] <- -0.6 / fit$state[[1L]]$R^2
  bare <- shard(fit)
  expect_error(merge(bare, bare), "no proper posterior", class = "sparsegp_error")
})
