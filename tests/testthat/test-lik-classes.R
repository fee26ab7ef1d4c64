# Likelihoods of several classes beyond the contract: closed forms, symmetries, many classes, Monte
# Carlo, and the constructors.

TYPES <- c("mprobit", "softmax")

tilt <- function(type, y, mu, s2, bias = numeric(ncol(mu))) {
  .Call(sg_lik_tilt, c_lik(type, bias), bias, rbind(as.double(y)), mu, s2, FALSE)
}

probabilities <- function(type, mu, s2, bias = numeric(ncol(mu))) {
  .Call(sg_lik_predict, c_lik(type, bias), bias, mu, s2, FALSE)$mean
}

# n random marginals of C classes
random_marginals <- function(n, C, spread = 2, widest = 10) {
  list(mu = matrix(rnorm(n * C, sd = spread), n), s2 = matrix(widest * runif(n * C)^2, n),
       y = sample(C, n, TRUE))
}

test_that("two classes of mprobit are the binary probit of the difference", {
  set.seed(1)
  mu <- rbind(matrix(rnorm(60, sd = 3), 30L), c(1e4, -1e4), c(-1e4, 1e4), c(0, 0), c(3, -3))
  s2 <- rbind(matrix(10^runif(60, -8, 8), 30L), c(0, 0), c(0.3, 2), c(0, 1e8), c(1e8, 0))
  bias <- c(0.7, -0.4)
  found <- tilt("mprobit", rep(1, 34L), mu, s2, bias)
  sd <- sqrt(2 + rowSums(s2))
  z <- (mu[, 1L] + bias[1L] - mu[, 2L] - bias[2L]) / sd
  h <- exp(dnorm(z, log = TRUE) - pnorm(z, log.p = TRUE))
  expect_equal(found$logz, pnorm(z, log.p = TRUE), tolerance = 1e-10)
  expect_lt(min(found$logz), -9e7 / 2)
  expect_lt(max(abs(found$d1 - cbind(h, -h) / sd) * sqrt(1 + s2) / pmax(1, h)), 1e-8)
  bend <- -h * (h + z)
  known <- z > -1e3 # h + z has lost its digits beyond
  expect_lt(max(abs(found$d2 - bend / sd^2)[known, ] * (1 + s2[known, ])), 1e-8)
  expect_equal(found$d2[32L, ], rep(-1, 2L) / sd[32L]^2, tolerance = 1e-6)
})

test_that("narrow steps among wide ones are seen", {
  memory_tier()
  # the search for the integrand's end used to run in circles here, and that for its peak to stop on
  # the last one's narrow steps, far from it
  cases <- list(
    list(mu = c(-3.2583, 4.91, 6.459, 4.5018), s2 = c(780.8, 354.8, 1.379, 0.06581)),
    list(mu = c(-2.77, -10.14, -4.08, -6.502), s2 = c(668.9, 19.25, 2242, 0.01862)),
    list(mu = c(1.826, -2.811, 2.95, 1.635, 7.671), s2 = c(9864, 65.57, 6.504, 0.8412, 19.22)),
    list(mu = c(0.7018, 2.298, -4.206, 5.732), s2 = c(546.6, 5.585, 0.5832, 429.1)),
    list(mu = c(-3.946, 2.602, -0.2389, -5.92, -0.4253), s2 = c(2648, 4.946, 0.211, 59.19, 0.1467)),
    list(mu = c(-3.717, 119632.0, -3.815, -1.541), s2 = c(7.866e8, 5.591e7, 1e-200, 0.11))
  )
  for (case in cases) {
    for (wider in c(0.97, 1, 1.02, 1.1)) {
      s2 <- case$s2 * wider
      found <- tilt("mprobit", 1, t(case$mu), t(s2))
      wanted <- reference_mprobit(1, case$mu, s2, list(bias = 0))
      expect_lt(abs(found$logz - wanted$logz), 1e-9)
      expect_lt(max(abs(found$d1 - wanted$d1) * sqrt(1 + s2)), 1e-8)
      expect_lt(max(abs(found$d2 - wanted$d2) * (1 + s2)), 1e-8)
    }
  }
})

test_that("tilts of many classes equal the reference", {
  slow_tier()
  set.seed(2)
  for (type in TYPES) {
    for (C in of_tier(c(3L, 10L, 50L), 1L)) { # 50 take the reference long
      for (widest in if (C == 50L) 1000 else c(0.1, 10, 1000)) {
        m <- random_marginals(2L, C, spread = sqrt(1 + widest), widest = widest)
        m$s2[1L, sample(C, C %/% 2L)] <- 1e-4 # narrow ones among the wide
        bias <- rnorm(C)
        found <- tilt(type, m$y, m$mu, m$s2, bias)
        for (i in seq_len(if (C == 50L) 1L else 2L)) {
          wanted <- reference_tilt(type, m$y[i], m$mu[i, ], m$s2[i, ], list(bias = bias))
          label <- paste(type, "of", C, "classes, s2 to", widest)
          size <- max(1, abs(wanted$logz))
          expect_lt(abs(found$logz[i] - wanted$logz) / size, 1e-9, label = label)
          sd <- sqrt(1 + m$s2[i, ])
          expect_lt(max(abs(found$d1[i, ] - wanted$d1) * sd), 1e-8, label = paste("d1,", label))
          expect_lt(max(abs(found$d2[i, ] - wanted$d2) * sd^2), 1e-8, label = paste("d2,", label))
        }
      }
    }
  }
})

test_that("softmax equals brute force in two and three dimensions", {
  slow_tier()
  n <- seq(-9, 9, by = 0.2) # a trapezoid rule, 1e-12 for what is no narrower than the normal
  brute <- function(y, mu, s2) {
    grid <- as.matrix(expand.grid(rep(list(n), length(mu))))
    f <- sweep(sweep(grid, 2L, sqrt(s2), "*"), 2L, mu, "+")
    top <- do.call(pmax, as.data.frame(f))
    log(sum(exp(f[, y] - top) / rowSums(exp(f - top)) * exp(-rowSums(grid^2) / 2)) *
          (0.2 / sqrt(2 * pi))^length(mu))
  }
  for (y in 1:2) {
    mu <- c(-0.4, 1.1)
    s2 <- c(0.8, 2)
    expect_equal(tilt("softmax", y, rbind(mu), rbind(s2))$logz, brute(y, mu, s2), tolerance = 1e-9)
  }
  mu <- c(1, -2, 0.5)
  s2 <- c(0.2, 1.5, 1)
  expect_equal(tilt("softmax", 2L, rbind(mu), rbind(s2))$logz, brute(2L, mu, s2), tolerance = 1e-9)
})

test_that("predictions are what drawn classes do", {
  slow_tier()
  set.seed(3)
  draws <- 40000L
  for (type in TYPES) {
    for (C in of_tier(c(3L, 10L, 50L), 1L)) {
      m <- random_marginals(1L, C, widest = 4)
      bias <- rnorm(C)
      f <- matrix(rnorm(draws * C, rep(m$mu, each = draws), rep(sqrt(m$s2), each = draws)), draws)
      y <- lik_traits(get(paste0("lik_", type))())$draw(f, bias, 1)
      p <- drop(probabilities(type, m$mu, m$s2, bias))
      error <- sqrt(p * (1 - p) / draws)
      # 50 classes: the largest of 126 normal errors
      expect_true(all(abs(tabulate(y, C) / draws - p) < 4.5 * error + 1e-4), label = type)
    }
  }
})

test_that("a new order of the classes is a new order of the answers", {
  memory_tier()
  set.seed(4)
  for (type in TYPES) {
    m <- random_marginals(20L, 5L)
    bias <- rnorm(5L)
    order <- c(3L, 1L, 5L, 4L, 2L)
    first <- tilt(type, m$y, m$mu, m$s2, bias)
    second <- tilt(type, match(m$y, order), m$mu[, order], m$s2[, order], bias[order])
    expect_equal(second$logz, first$logz, tolerance = 1e-13)
    expect_equal(second$d1, first$d1[, order], tolerance = 1e-12)
    expect_equal(second$d2, first$d2[, order], tolerance = 1e-12)
    expect_equal(probabilities(type, m$mu[, order], m$s2[, order], bias[order]),
                 probabilities(type, m$mu, m$s2, bias)[, order], tolerance = 1e-13)
  }
})

test_that("only differences of latent values matter, and a bias moves log Z as they do", {
  memory_tier()
  set.seed(5)
  for (type in TYPES) {
    m <- random_marginals(20L, 4L)
    bias <- rnorm(4L)
    first <- tilt(type, m$y, m$mu, m$s2, bias)
    expect_equal(tilt(type, m$y, m$mu + 3, m$s2, bias)$logz, first$logz, tolerance = 1e-11)
    expect_equal(tilt(type, m$y, m$mu + rep(bias, each = 20L), m$s2)$logz, first$logz,
                 tolerance = 1e-11)
    expect_lt(max(abs(rowSums(first$d1))), 1e-14)
    expect_identical(t(first$dpar), first$d1)
  }
})

test_that("every marginal has finite derivatives and a site", {
  memory_tier()
  set.seed(6)
  for (type in TYPES) {
    for (C in c(2L, 3L, 10L)) {
      n <- 200L
      mu <- matrix(rnorm(n * C) * 10^runif(n * C, -2, 4), n)
      s2 <- matrix(10^runif(n * C, -14, 8) * (runif(n * C) > 0.1), n)
      found <- tilt(type, sample(C, n, TRUE), mu, s2)
      expect_true(all(is.finite(unlist(found))), label = type)
      expect_true(all(found$logz <= 0), label = type)
      expect_true(all(found$d2 <= 1e-12), label = type) # log-concave, up to rounding
      expect_true(all(1 + s2 * found$d2 > 0), label = type)
    }
  }
})

test_that("softmax of classes far apart, of which means are below all numbers, stays finite", {
  set.seed(9)
  for (C in c(2L, 3L, 7L)) {
    n <- 200L
    mu <- matrix(15 * rnorm(n * C), n)
    s2 <- matrix(10^runif(n * C, -6, 1.39), n) # such as one grid takes
    found <- tilt("softmax", sample(C, n, TRUE), mu, s2)
    expect_true(all(is.finite(unlist(found))))
    p <- probabilities("softmax", mu, s2)
    expect_equal(rowSums(p), rep(1, n), tolerance = 1e-12)
    # log Z of a class is the logarithm of its probability, by another grid: small ones keep their
    # digits
    of_first <- tilt("softmax", rep(1L, n), mu, s2)$logz
    some <- of_first > -400
    expect_lt(max(abs(log(p[some, 1L]) - of_first[some])), 1e-9)
  }
})

test_that("softmax does not know the order of its classes", {
  memory_tier()
  # the last class in the first row: what would be looked for before that row is not there
  mu <- rbind(c(1, -2, 0.5))
  s2 <- rbind(c(0.2, 1.5, 1))
  bias <- c(0.3, -0.1, 0.8)
  last <- tilt("softmax", 3L, mu, s2, bias)
  turned <- c(3L, 1L, 2L)
  first <- tilt("softmax", 1L, mu[, turned, drop = FALSE], s2[, turned, drop = FALSE], bias[turned])
  expect_equal(last$logz, first$logz, tolerance = 1e-12)
  for (slope in c("d1", "d2")) {
    expect_equal(last[[slope]][turned], c(first[[slope]]), tolerance = 1e-10, label = slope)
  }
})

test_that("without variance softmax is what it says", {
  mu <- rbind(c(1, -2, 0.5), c(0, 0, 0), c(800, 0, -800))
  p <- exp(mu - apply(mu, 1L, max))
  p <- p / rowSums(p)
  found <- tilt("softmax", c(2, 1, 3), mu, 0 * mu)
  expect_equal(found$logz, c(log(p[1L, 2L]), log(1 / 3), -1600), tolerance = 1e-11)
  expect_equal(found$d1, diag(3L)[c(2, 1, 3), ] - p, tolerance = 1e-10)
  expect_equal(found$d2, -p * (1 - p), tolerance = 1e-9)
  expect_equal(probabilities("softmax", mu, 0 * mu), p, tolerance = 1e-10)
})

test_that("a small probability keeps its digits in predictions", {
  mu <- rbind(c(0, 30, 1))
  s2 <- rbind(c(0.5, 1, 2))
  for (type in TYPES) {
    p <- probabilities(type, mu, s2)
    expect_equal(log(p[1L]), tilt(type, 1L, mu, s2)$logz, tolerance = 1e-9)
  }
})

test_that("constructors take no, one or several biases", {
  memory_tier()
  for (constructor in list(lik_mprobit, lik_softmax)) {
    expect_null(constructor()$params$bias)
    expect_identical(constructor(0.5)$params$bias, 0.5)
    expect_identical(constructor(fixed(c(1, 0, 2)))$params$bias, fixed(c(1, 0, 2)))
    for (bad in list(Inf, c(1, NA), "a", numeric(), numeric(257), fixed(numeric(257)))) {
      error <- expect_error(constructor(bad), class = "sparsegp_error")
      expect_identical(error$argument, "bias")
    }
  }
  expect_identical(format(lik_mprobit(c(1, -0.5))), "mprobit(bias = c(1.0, -0.5))")
  expect_identical(format(lik_softmax(fixed(0))), "softmax(bias = fixed(0))")
})

test_that("biases start centred, where they alone nearly give the classes' frequencies", {
  rows <- rbind(rep(c(1, 2, 3), c(70L, 20L, 10L)))
  for (type in TYPES) {
    start <- traits_of(type)$about$bias$start(rows, 0)
    expect_equal(sum(start), 0, tolerance = 1e-12)
    p <- drop(probabilities(type, rbind(start), matrix(0, 1L, 3L)))
    # softmax exactly, with half a row added to each; mprobit roughly
    expect_equal(p, c(70.5, 20.5, 10.5) / 101.5, tolerance = if (type == "softmax") 1e-9 else 0.05)
  }
})
