# What every likelihood promises, for every likelihood that C reports. A new one is found here by
# itself; it needs its entry in helper-reference.R, and a constructor lik_<name>() with traits whose
# draw() and data_rows() make the sample responses.

# Two settings of each likelihood's hyperparameters (in the quick tier one): theta on C's scale,
# `values` on the natural one; and for each, up to four (or two) different data rows: responses
# drawn at low, middling and high latent values, of uneven weight. `along` and `across`: numbers mu
# and s2 stand for the latent values mu * along and the variances s2 * across, one per latent
# function.
cases <- function() {
  set.seed(1)
  all <- list()
  for (type in likelihood_names()) {
    lik <- get(paste0("lik_", type))()
    of_classes <- lik_traits(lik)$response == "classes"
    along <- if (of_classes) c(1, -0.3, 0.4) else 1
    across <- if (of_classes) c(1, 0.2, 3) else 1
    for (setting in of_tier(c(-0.7, 1.2), 1L)) {
      theta <- rep(setting, length(lik$params))
      values <- as.list(natural_values(lik, theta))
      if (of_classes) theta <- values$bias <- theta * c(1, -0.5, 0.1)
      f <- rep(c(-2, 0.3, 1.8), 4L)
      f <- if (of_classes) outer(f, along) else f
      weights <- rep(c(1, 0.25, 4), 4L)
      y <- lik_traits(lik)$draw(f, if (of_classes) values$bias else unlist(values),
                                ceiling(weights)) # which may count something
      rows <- lik_traits(lik)$data_rows(y, weights)
      rows <- unique(rows, MARGIN = 2L)
      more <- REFERENCE_LIKELIHOODS[[type]]$rows # what is not drawn, such as censored times
      if (!is.null(more)) rows <- cbind(rows[, 1L], more)
      all[[length(all) + 1L]] <- list(
        type = type, lik = lik, theta = as.double(theta), values = values, classes = of_classes,
        rows = rows[, of_tier(seq_len(min(4L, ncol(rows))), 2L), drop = FALSE], along = along,
        across = across, turn = length(all),
        label = paste0(type, "(", toString(theta), ")")
      )
    }
  }
  all
}

for_all <- function(check) for (case in cases()) check(case)

# A fallback by quadrature exists where there is one latent function, and means the same where log Z
# is that integral.
by_quadrature <- function(case) is.null(REFERENCE_LIKELIHOODS[[case$type]]$tilt)
ways <- function(case) if (by_quadrature(case)) c(FALSE, TRUE) else FALSE

# A data frame whose columns mu and s2 are matrices with a column per latent function
marginals <- function(case, mu, s2, row = 1L) {
  grid <- data.frame(row = row, size = s2)
  grid$mu <- outer(rep_len(mu, nrow(grid)), case$along)
  grid$s2 <- outer(rep_len(s2, nrow(grid)), case$across)
  grid
}

# C's tilts for all pairs of means and variances, each with one data row, and another for the
# other setting: a data frame; column `row` says which data row; d1, d2 and dpar are matrices.
tilts <- function(case, mu, s2, quadrature = FALSE, theta = case$theta) {
  rows <- seq_len(ncol(case$rows))
  at <- expand.grid(row = rows, mu = seq_along(mu), s2 = seq_along(s2))
  at <- at[rowSums(at) %% length(rows) == case$turn %% length(rows), ]
  grid <- data.frame(row = at$row, mu = mu[at$mu], s2 = s2[at$s2])
  grid <- grid[of_tier(seq_len(nrow(grid)), 5L), ] # prime: each value has a turn
  tilt_at(case, marginals(case, grid$mu, grid$s2, grid$row), quadrature, theta)
}

# Every second row, and the others for the other setting: in the whole suite, which has all of them.
alternate <- function(grid, case) {
  if (whole_suite()) grid[seq(1L + case$turn %% 2L, nrow(grid), by = 2L), ] else grid
}

tilt_at <- function(case, grid, quadrature = FALSE, theta = case$theta) {
  z <- .Call(sg_lik_tilt, c_lik(case$lik, theta), theta, case$rows[, grid$row, drop = FALSE],
             grid$mu, grid$s2, quadrature)
  grid$logz <- z$logz
  grid$d1 <- as.matrix(z$d1)
  grid$d2 <- as.matrix(z$d2)
  grid$dpar <- t(z$dpar)
  grid
}

reference_at <- function(case, grid) {
  for (i in seq_len(nrow(grid))) {
    z <- reference_tilt(case$type, case$rows[, grid$row[i]], grid$mu[i, ], grid$s2[i, ],
                        case$values)
    grid$logz[i] <- z$logz
    grid$d1[i, ] <- z$d1
    grid$d2[i, ] <- z$d2
  }
  grid
}

# log Z to `tolerance`, relative where it is large; derivatives relative to their natural size, that
# of a likelihood as narrow as the marginal: 1 / sd and 1 / s2, or their own where that is larger.
expect_same_tilt <- function(found, wanted, tolerance, label) {
  sd <- sqrt(wanted$s2)
  expect_lt(max(abs(found$logz - wanted$logz) / pmax(1, abs(wanted$logz))), tolerance,
            label = paste("log Z of", label))
  expect_lt(max(abs(found$d1 - wanted$d1) / pmax(1 / sd, abs(wanted$d1))), tolerance,
            label = paste("d1 of", label))
  expect_lt(max(abs(found$d2 - wanted$d2) / pmax(1 / wanted$s2, abs(wanted$d2))), tolerance,
            label = paste("d2 of", label))
}

# log p at latent values f * along, or at a matrix of them
logp <- function(case, f, row = 1L) {
  f <- if (is.matrix(f)) f else outer(f, case$along)
  y <- case$rows[, rep(row, nrow(f)), drop = FALSE]
  .Call(sg_lik_eval, c_lik(case$lik, case$theta), case$theta, y, f)$logp
}

# C's answer for latent values or marginals of a likelihood of one latent function comes in vectors.
as_columns <- function(x) lapply(x[lengths(x) > 0L], as.matrix)

test_that("every likelihood of the catalogue has a reference formula and a constructor", {
  expect_setequal(names(REFERENCE_LIKELIHOODS), likelihood_names())
  for (type in likelihood_names()) {
    expect_s3_class(get(paste0("lik_", type))(), "sparsegp_likelihood")
  }
})

test_that("log p and the moments of a response equal the reference formulas", {
  for_all(function(case) {
    f <- outer(c(-40, -3, -0.2, 0, 1e-8, 2.5, 40), case$along)
    reference <- REFERENCE_LIKELIHOODS[[case$type]]
    tolerance <- if (case$classes) 1e-9 else 1e-14 # of classes log p may be an integral itself
    for (row in seq_len(ncol(case$rows))) {
      wanted <- reference$logp(case$rows[, row], f, case$values)
      expect_equal(logp(case, f, row), drop(wanted), tolerance = tolerance, label = case$label)
    }
    found <- as_columns(.Call(sg_lik_eval, c_lik(case$lik, case$theta), case$theta, NULL, f))
    expect_equal(found$mean, as.matrix(reference$mean(f, case$values)), tolerance = tolerance,
                 label = case$label)
    expect_equal(found$var, as.matrix(reference$var(f, case$values)), tolerance = tolerance,
                 label = case$label)
  })
})

# What is drawn as mean() has it: shares of trials, probabilities of the second of two labels, where
# one is there, and of each of several.
drawn_means <- function(case, y) {
  if (case$classes) return(tabulate(y, length(case$along)) / length(y))
  if (codec_named(lik_traits(case$lik)$response)$labelled && all(y %in% -1:1)) y <- y[y != 0] > 0
  mean(y)
}

test_that("responses are drawn with the mean that the moments have", {
  slow_tier()
  draws <- 4000L
  for_all(function(case) {
    set.seed(2)
    for (at in c(-1.3, 0.4)) {
      f <- outer(rep(at, draws), case$along)
      value <- if (case$classes) case$values$bias else unlist(case$values)
      y <- lik_traits(case$lik)$draw(if (case$classes) f else f[, 1L], value, rep(1, draws))
      moments <- .Call(sg_lik_eval, c_lik(case$lik, case$theta), case$theta, NULL,
                       f[1L, , drop = FALSE])
      # half the labels of the null category are missing; 4.5 standard errors
      error <- sqrt(c(moments$var) / (draws / 3)) * 4.5 + 1e-12
      expect_true(all(abs(drawn_means(case, y) - c(moments$mean)) < error), label = case$label)
    }
  })
})

test_that("log p is finite for every finite latent value", {
  f <- c(-1e150, -1e8, -1e3, 1e3, 1e8, 1e150)
  for_all(function(case) {
    for (row in seq_len(ncol(case$rows))) {
      expect_true(all(is.finite(logp(case, f, row))), label = case$label)
    }
  })
})

test_that("tilts equal the reference integral", {
  for_all(function(case) {
    found <- alternate(tilts(case, c(-6, -0.5, 0, 2, 15), c(0.01, 0.5, 4, 100, 1e4)), case)
    wanted <- reference_at(case, found)
    # the quadrature promises 1e-9 in log Z
    expect_same_tilt(found, wanted, if (case$classes) 1e-8 else 1e-9, case$label)
    if (!by_quadrature(case)) return()
    integral <- tilt_at(case, found[c("row", "mu", "s2")], quadrature = TRUE)
    expect_same_tilt(integral, wanted, 1e-9, paste(case$label, "by quadrature"))
  })
})

test_that("closed forms equal the quadrature", {
  memory_tier()
  for_all(function(case) {
    if (!by_quadrature(case)) return()
    mu <- c(-30, -3, 0, 0.7, 8, 40)
    closed <- tilts(case, mu, 10^c(-12, -6, -4, -2, 0, 2, 4, 8))
    integral <- tilt_at(case, closed[c("row", "mu", "s2")], quadrature = TRUE)
    expect_same_tilt(integral, closed, 1e-9, case$label)
    # dlogp/dtheta is a difference with step 1e-3, whose rounding is that of log p over the step
    size <- pmax(1, abs(closed$dpar), 1e-5 * abs(closed$logz))
    expect_lt(max(0, abs(integral$dpar - closed$dpar) / size), 1e-8,
              label = paste("dpar of", case$label))
  })
})

test_that("d1 and d2 are the derivatives of log Z in mu", {
  slow_tier()
  for_all(function(case) {
    at <- alternate(tilts(case, c(-8, -1, 0.4, 3), c(0.05, 1, 30)), case)
    for (i in seq_len(nrow(at))) {
      for (c in seq_along(case$along)) {
        moved <- function(mu, what) {
          here <- at[i, c("row", "mu", "s2")]
          here$mu[, c] <- mu
          z <- tilt_at(case, here)
          if (what == "logz") z$logz else z$d1[, c]
        }
        # steps of a tenth to an eightieth of the marginal's width; log Z has ten digits or more
        h <- 0.1 * sqrt(at$s2[i, c])
        d1 <- numeric_gradient(function(mu) moved(mu, "logz"), at$mu[i, c], h)
        d2 <- numeric_gradient(function(mu) moved(mu, "d1"), at$mu[i, c], h)
        label <- paste(case$label, toString(at[i, c("row", "mu", "s2")]))
        expect_lt(abs(at$d1[i, c] - d1), 1e-7 * max(1, abs(d1)), label = paste("d1 of", label))
        expect_lt(abs(at$d2[i, c] - d2), 1e-7 * max(1, abs(d2)), label = paste("d2 of", label))
      }
    }
  })
})

test_that("dpar is the derivative of log Z in the hyperparameters", {
  slow_tier()
  for_all(function(case) {
    at <- alternate(tilts(case, c(-8, -1, 0.4, 3), c(0, 0.05, 1, 30, 1e4)), case)
    for (i in seq_len(nrow(at))) {
      dpar <- numeric_gradient(function(theta) {
        tilt_at(case, at[i, c("row", "mu", "s2")], theta = theta)$logz
      }, case$theta, h = 0.02)
      # log Z has ten digits or more, divided by a step of 0.0025
      expect_lt(max(0, abs(at$dpar[i, ] - dpar) / pmax(1, abs(dpar))), 1e-7,
                label = paste("dpar of", case$label, toString(at[i, c("row", "mu", "s2")])))
    }
  })
})

# How far mu is from where log p of a row, or without one the mean response, is not smooth.
from_corner <- function(case, mu, row = NULL) {
  corner <- REFERENCE_LIKELIHOODS[[case$type]]$corner
  if (is.null(corner)) return(rep(Inf, length(mu)))
  abs(mu - corner(if (!is.null(row)) case$rows[, row], case$values))
}

expect_limit <- function(case, row, mu) {
  away <- from_corner(case, mu, row)
  if (away < 0.2) return() # differences would reach across
  sizes <- c(1e-2, 1e-6, 1e-12, 0)
  sizes <- sizes[sqrt(sizes) < away / 9] # nor may the marginal
  at_point <- logp(case, mu, row)
  place <- outer(mu, case$along)
  # a step of 0.05 in f loses too much where log p itself is an integral
  h <- if (case$classes) 0.4 else 0.05
  along_one <- function(c, f) logp(case, replace(place, c, f), row)
  slopes <- function(c, f) numeric_gradient(function(f) along_one(c, f), f, h = h)
  slope <- vapply(seq_along(place), function(c) slopes(c, place[c]), 0)
  bend <- vapply(seq_along(place), function(c) {
    numeric_gradient(function(f) slopes(c, f), place[c], h = h)
  }, 0)
  # to first order in s2, log Z = log p + s2 (slope^2 + bend) / 2; d1 and d2 alike: a few s2 of the
  # size of the powers of slope and bend. 1e-8: two differentiations of log p.
  size <- length(place) * max(case$across) * (1 + max(abs(slope)) + max(abs(bend)))^3
  floor <- if (case$classes) c(1e-9, 1e-8, 1e-6) else c(1e-13, 1e-10, 1e-8)
  for (quadrature in ways(case)) {
    found <- tilt_at(case, marginals(case, mu, sizes, row), quadrature)
    label <- paste(case$label, "row", row, "at", mu)
    expect_true(all(abs(found$logz - at_point) <= size * (found$size + floor[1L])),
                label = paste("log Z of", label))
    each <- function(x) rep(x, each = length(sizes))
    expect_true(all(abs(found$d1 - each(slope)) <= size * (found$size + floor[2L])),
                label = paste("d1 of", label))
    expect_true(all(abs(found$d2 - each(bend)) <= size * (found$size + floor[3L])),
                label = paste("d2 of", label))
  }
}

test_that("as s2 vanishes tilts become log p and its derivatives", {
  slow_tier()
  for_all(function(case) {
    # a fourth of all pairs, with each row and each mean, and others for the other setting
    pairs <- expand.grid(row = seq_len(ncol(case$rows)), mu = c(-20, -2, 0.1, 3, 20))
    pairs <- pairs[(pairs$row + match(pairs$mu, unique(pairs$mu)) + case$turn) %% 4L == 0L, ]
    for (i in seq_len(nrow(pairs))) expect_limit(case, pairs$row[i], pairs$mu[i])
  })
})

test_that("tilts are finite and sane for any marginal", {
  slow_tier()
  for_all(function(case) {
    for (quadrature in ways(case)) {
      at <- tilts(case, c(-40, -5, 0, 5, 40), c(0, 10^seq(-14, 8, by = 2)), quadrature)
      expect_true(all(is.finite(unlist(at))), label = case$label)
      # 1 + s2 d2 is the tilted variance in units of the marginal's
      expect_true(all(1 + at$s2 * at$d2 > 0), label = paste("tilted variance of", case$label))
      if (REFERENCE_LIKELIHOODS[[case$type]]$log_concave) {
        # never wider than the marginal; 1e-9: second differences of log p, for s2 small
        expect_true(all(at$d2 <= 1e-9), label = paste("d2 of", case$label))
      }
    }
  })
})

test_that("NaN is never turned into a number", {
  memory_tier()
  all_nan <- function(...) all(is.nan(rowSums(cbind(...))))
  for_all(function(case) {
    for (quadrature in ways(case)) {
      for (what in c("mu", "s2")) {
        grid <- marginals(case, c(0.3, -8), c(0, 2))
        grid[[what]][, 1L] <- NaN
        at <- tilt_at(case, grid, quadrature)
        label <- paste(case$label, "at", what)
        # EP asks whether the sum is finite
        expect_true(all_nan(at$logz, at$d1, at$d2), label = label)
        if (length(case$theta) > 0L) expect_true(all_nan(at$dpar), label = paste("dpar of", label))
        new <- .Call(sg_lik_predict, c_lik(case$lik, case$theta), case$theta, grid$mu, grid$s2,
                     quadrature)
        expect_true(all_nan(new$mean, new$var), label = paste("prediction of", label))
      }
      if (length(case$theta) == 0L) next
      at <- tilts(case, 0.3, c(0, 2), quadrature, theta = case$theta + NaN)
      expect_true(all_nan(at$logz, at$d1, at$d2), label = paste("theta of", case$label))
    }
  })
})

test_that("a marginal far wider than the likelihood is no obstacle", {
  slow_tier()
  for_all(function(case) {
    found <- tilts(case, c(-40, 0, 40), if (case$classes) 1e4 else c(1e6, 1e8))
    tolerance <- if (case$classes) 1e-8 else 1e-9
    expect_same_tilt(found, reference_at(case, found), tolerance, case$label)
  })
})

test_that("predictions equal the reference integral, spread included", {
  for_all(function(case) {
    grid <- expand.grid(mu = c(-5, -0.4, 0, 1, 12), s2 = c(1e-4, 0.3, 2, 50, 1e4))
    grid <- alternate(grid[of_tier(seq_len(nrow(grid)), 5L), ], case)
    if (case$classes) grid <- grid[grid$s2 < 1e4, ] # three classes take the reference long
    widest <- REFERENCE_LIKELIHOODS[[case$type]]$widest
    if (!is.null(widest)) grid <- grid[grid$s2 <= widest, ]
    grid <- marginals(case, grid$mu, grid$s2)
    wanted <- lapply(seq_len(nrow(grid)), function(i) {
      reference_predict(case$type, case$rows[, 1L], grid$mu[i, ], grid$s2[i, ], case$values)
    })
    column <- function(what) do.call(rbind, lapply(wanted, `[[`, what))
    for (quadrature in ways(case)) {
      found <- as_columns(.Call(sg_lik_predict, c_lik(case$lik, case$theta), case$theta, grid$mu,
                                grid$s2, quadrature))
      for (what in names(found)) {
        size <- pmax(1, abs(column(what)))
        expect_lt(max(abs(found[[what]] - column(what)) / size), 1e-9,
                  label = paste(what, "of", case$label))
      }
    }
  })
})

test_that("predictions without variance are the moments at the mean", {
  slow_tier()
  for_all(function(case) {
    mu <- outer(c(-40, -1, 0, 2, 40), case$along)
    lik <- c_lik(case$lik, case$theta)
    at <- .Call(sg_lik_eval, lik, case$theta, NULL, mu)
    # the variance of the mean response: s2 times its squared slope in f
    steep <- if (case$classes) 1 else {
      mean_at <- function(f) .Call(sg_lik_eval, lik, case$theta, NULL, f)$mean
      pmax(1, vapply(mu, function(f) numeric_gradient(mean_at, f)^2, 0))
    }
    tolerance <- if (case$classes) 1e-9 else 1e-12
    smooth <- from_corner(case, mu[, 1L]) > 1e-5
    for (s2 in c(0, 1e-13)) {
      for (quadrature in ways(case)) {
        found <- .Call(sg_lik_predict, lik, case$theta, mu, 0 * mu + s2, quadrature)
        expect_equal(found$mean, at$mean, tolerance = tolerance, label = case$label)
        close <- abs(found$var - at$var) <= tolerance * pmax(1, at$var) + 2 * s2 * steep
        expect_true(all(close), label = case$label)
      }
      small <- found$spread >= 0 & (found$spread <= 2 * s2 * steep | !smooth)
      expect_true(all(small), label = case$label)
    }
  })
})

test_that("the probabilities of all classes sum to one and are what predict() gives", {
  mu <- rep(c(-40, -2, 0, 0.3, 9), 4L)
  s2 <- rep(c(0, 0.1, 7, 1e6), each = 5L)
  for_all(function(case) {
    response <- lik_traits(case$lik)$response
    if (!lik_codec(case$lik)$labelled || lik_codec(case$lik)$missing) return()
    if (isTRUE(REFERENCE_LIKELIHOODS[[case$type]]$joint)) return()
    # labels as C has them, and the mean response when their probabilities are one
    labels <- switch(response, labels = c(-1, 1), classes = seq_along(case$along),
                     ordered = seq_len(length(case$theta) + 1L))
    score <- switch(response, labels = rbind(0, 1), classes = diag(length(labels)),
                    ordered = cbind(labels))
    grid <- marginals(case, mu, s2)
    lik <- c_lik(case$lik, case$theta)
    prob <- function(class) {
      rows <- lik_traits(case$lik)$data_rows(rep(class, 20L), NULL)
      exp(.Call(sg_lik_tilt, lik, case$theta, rows, grid$mu, grid$s2, FALSE)$logz)
    }
    found <- vapply(labels, prob, numeric(20L))
    mean <- .Call(sg_lik_predict, lik, case$theta, grid$mu, grid$s2, FALSE)$mean
    expect_equal(rowSums(found), rep(1, 20L), tolerance = 1e-9, label = case$label)
    if (case$classes) expect_equal(rowSums(mean), rep(1, 20L), tolerance = 1e-12)
    expect_equal(drop(mean), drop(found %*% score), tolerance = 1e-9, label = case$label)
    expect_true(all(mean >= min(score) & mean <= max(score)), label = case$label)
  })
})

test_that("random tilts are finite, and closed form and quadrature agree", {
  slow_tier()
  for_all(function(case) {
    set.seed(20)
    n <- 60L
    at <- data.frame(row = sample(ncol(case$rows), n, TRUE))
    at$mu <- at$s2 <- matrix(0, n, length(case$along))
    at$mu[] <- rnorm(length(at$mu)) * 10^runif(length(at$mu), -2, 2.3)
    at$s2[] <- 10^runif(length(at$s2), -14, 9)
    theta <- case$theta + rnorm(length(case$theta))
    found <- tilt_at(case, at, theta = theta)
    expect_true(all(is.finite(unlist(found))), label = case$label)
    predicted <- .Call(sg_lik_predict, c_lik(case$lik, theta), theta, at$mu, at$s2, FALSE)
    expect_true(all(is.finite(unlist(predicted))) && all(predicted$var >= 0), label = case$label)
    if (!by_quadrature(case)) return()
    integral <- tilt_at(case, at, quadrature = TRUE, theta = theta)
    expect_true(all(is.finite(unlist(integral))), label = paste(case$label, "by quadrature"))
    # where log Z is -1e5, logp itself has rounding of 1e-11 that the moments see in full
    expect_same_tilt(integral, found, 1e-8, case$label)
  })
})

test_that("the reference EP and its evidence are exact for Gaussian noise", {
  # the other tests of EP lean on reference_ep(): here it has to show that it is right
  set.seed(21)
  x <- cbind(1:5)
  kernel <- resolve_kernel(kernel_rbf(), list(names = "x", terms = "x", kept = TRUE))
  K <- reference_kernel(kernel, log(c(1.3, 0.8)), x)
  rows <- rbind(rnorm(5L), c(1, 2, 1, 0.5, 1))
  offset <- rnorm(5L)
  v <- list(noise = 0.2)
  ep <- reference_ep(K, reference_ep_tilt("gaussian", rows, v), offset)
  noise <- v$noise / rows[2L, ]
  expect_equal(ep$log_evidence, reference_gaussian_evidence(K, rows[1L, ], noise, offset),
               tolerance = 1e-10)
  expect_equal(ep$mean, drop(K %*% solve(K + diag(noise), rows[1L, ] - offset)), tolerance = 1e-10)
})

test_that("smooth likelihoods take a fraction of what adaptive quadrature takes", {
  slow_tier()
  set.seed(22)
  n <- 200L
  mean <- rnorm(n)
  var <- runif(n, 0.05, 0.5)
  for_all(function(case) {
    if (!case$type %in% c("logit", "poisson", "negbin", "binomial", "student")) return()
    rows <- case$rows[, sample(ncol(case$rows), n, TRUE), drop = FALSE]
    seconds <- function(quadrature) {
      # collecting garbage takes a hundred times as long
      system.time(.Call(sg_lik_tilt, c_lik(case$lik, case$theta), case$theta, rows, mean, var,
                        quadrature), gcFirst = FALSE)[["user.self"]]
    }
    # a tenth, as a rule; of three turns the best, where the machine is busy in the first
    share <- Inf
    for (turn in 1:3) if (share >= 0.4) share <- seconds(FALSE) / max(seconds(TRUE), 1e-3)
    expect_lt(share, 0.4, label = case$label)
  })
})
