# What the response of a row is expected to tell of the latent function, before it is known. Rows
# are latent moments: list(mean, var, offset, weights) as predict() has them (C's units).
#
# An information model is a list of three functions of such rows:
#   entropy      of the response, in nats; of numbers in units of C's, densities' entropies
#   information  the mutual information of response and latent values, in nats
#   curvature    of one row: E d1 d1' over its response, d1 of the tilt (lik.h), a block of w x w
#                for each latent function. The law of total variance has it that the posterior
#                covariance S of any values, of which c is that with the row's, is expected to
#                become S - c E(d1 d1') c', exactly; for Gaussian noise it will be.

information_model <- function(fit) {
  if (is_modal_fit(fit)) refuse_information()
  if (has_classes(fit)) return(label_model(fit))
  precision <- response_precision(fit, list(mean = numeric(n_outputs(fit)), weights = 1))
  if (length(precision)) return(gaussian_information(fit))
  if (is.null(lik_traits(fit$likelihood)$outcomes)) refuse_information()
  outcome_model(fit)
}

refuse_information <- function() {
  stop_sparsegp("fit", "has a likelihood under which there is no new response to ask for",
                "Ask by score = \"variance\", for one row at a time")
}

# Some of the rows.
some_latent <- function(latent, rows, w) {
  at <- stacked_rows(rows, w)
  few <- list(mean = if (w == 1L) some_rows(latent$mean, rows) else latent$mean[at],
              var = if (w == 1L) some_rows(latent$var, rows)
                    else c(matrix(latent$var, w * w)[, rows]),
              offset = some_rows(latent$offset, rows))
  few$weights <- latent$weights[rows]
  few
}

latent_count <- function(latent, w) NROW(latent$mean) %/% w

# ---- Noise that is normal: sites are exact ----

# The blocks of the sites' precisions, end to end; nothing where sites are not exact.
response_precision <- function(fit, latent) {
  n <- latent_count(latent, n_outputs(fit))
  y <- if (n_outputs(fit) > 1L) matrix(0, n, n_outputs(fit)) else numeric(n)
  rows <- lik_traits(fit$likelihood)$data_rows(y, weights_or_ones(latent$weights, n))
  engine_exact_precision(fit, rows)
}

gaussian_information <- function(fit) {
  w <- n_outputs(fit)
  by_row <- function(fun) function(latent) {
    S <- matrix(latent$var, w * w)
    tau <- matrix(response_precision(fit, latent), w * w)
    if (w == 1L) return(fun(drop(S), drop(tau)))
    vapply(seq_len(ncol(S)), function(i) fun(matrix(S[, i], w), matrix(tau[, i], w)), 0)
  }
  list(
    entropy = by_row(function(S, tau) {
      if (w == 1L) return(log(2 * pi * exp(1) * (S + 1 / tau)) / 2)
      log_det(2 * pi * exp(1) * (S + solve(tau))) / 2
    }),
    information = by_row(function(S, tau) {
      if (w == 1L) log1p(tau * S) / 2 else log_det(diag(w) + tau %*% S) / 2
    }),
    curvature = function(latent) {
      tau <- matrix(response_precision(fit, latent), w)
      list(solve(diag(w) + tau %*% matrix(latent$var, w), tau))
    }
  )
}

log_det <- function(A) as.double(determinant(A)$modulus)

# ---- Labels ----

# Of the model as fitted: a power of probabilities (methods) is in the entropy alone.
label_model <- function(fit) {
  plain <- fit
  plain$power <- NULL
  list(entropy = function(latent) entropies(class_probabilities(fit, latent)),
       information = if (processes(fit) == 1L) function(latent) label_information(plain, latent)
                     else function(latent) class_information(plain, latent),
       curvature = function(latent) label_curvature(plain, latent))
}

# Of the probabilities of each row, in nats.
entropies <- function(prob) {
  terms <- prob * log(prob)
  terms[prob <= 0] <- 0
  -rowSums(terms)
}

# One latent function (Houlsby et al., 2011): its probabilities are had in closed form or by C's
# quadrature, the entropy given it by the trapezoid rule.
label_information <- function(fit, latent) {
  given <- function(f) entropies(class_probabilities(fit, list(mean = f, var = 0 * f, offset = 0)))
  expected <- normal_mean(given, seen_mean(fit, latent), sqrt(latent$var))
  pmax(entropies(class_probabilities(fit, latent)) - expected, 0)
}

# One for each class: at NODES values of all of them, the same for both entropies, so that none is
# negative.
class_information <- function(fit, latent) {
  NODES <- 512L
  z <- even_normal(NODES, processes(fit))
  n <- nrow(latent$mean)
  offset <- rep_len(latent$offset, n)
  in_blocks(n, function(rows) {
    mean <- given <- 0
    for (j in seq_len(NODES)) {
      f <- latent$mean[rows, , drop = FALSE] +
        sweep(sqrt(latent$var[rows, , drop = FALSE]), 2L, z[j, ], "*")
      prob <- class_probabilities(fit, list(mean = f, var = 0 * f, offset = offset[rows]))
      mean <- mean + prob / NODES
      given <- given + entropies(prob) / NODES
    }
    pmax(entropies(mean) - given, 0)
  })
}

# d1 of a label is the slope of its log probability in the mean: by central differences of fourth
# order, good to some 1e-8.
label_curvature <- function(fit, latent) {
  at <- function(class, shift) {
    if (processes(fit) == 1L) latent$mean <- latent$mean + shift
    else latent$mean[, class] <- latent$mean[, class] + shift
    drop(class_probabilities(fit, latent))
  }
  prob <- at(1L, 0)
  lapply(seq_len(processes(fit)), function(class) {
    h <- 1e-3 * sqrt(1 + as.matrix(latent$var)[1L, class])
    slope <- (8 * (at(class, h) - at(class, -h)) - at(class, 2 * h) + at(class, -2 * h)) / (12 * h)
    as.matrix(sum((slope^2 / prob)[prob > 0]))
  })
}

# ---- Numbers and counts ----

outcome_model <- function(fit) {
  # y - f does not know where f is: all depends on the variance alone
  moved <- codec_of(fit)$scaled && n_outputs(fit) == 1L
  entropy <- if (moved) function(latent) located_entropy(fit, latent$var)
             else function(latent) outcome_entropy(fit, latent)
  list(entropy = entropy,
       information = function(latent) pmax(entropy(latent) - given_entropy(fit, latent), 0),
       curvature = function(latent) {
         told <- outcomes_at(fit, latent)
         d1 <- matrix(told$d1, n_outputs(fit)) * rep(sqrt(told$share), each = n_outputs(fit))
         list(tcrossprod(d1))
       })
}

# Of every response of the rules: its row, log density, share of all and slope d1.
outcomes_at <- function(fit, latent) {
  w <- n_outputs(fit)
  n <- latent_count(latent, w)
  traits <- lik_traits(fit$likelihood)
  weights <- rep_len(weights_or_ones(latent$weights, n), n)
  rule <- traits$outcomes(seen_mean(fit, latent), latent$var, lik_values(fit), weights)
  kept <- which(rule$size > 0)
  row <- (kept - 1L) %% n + 1L
  at <- some_latent(list(mean = stacked_values(seen_mean(fit, latent)), var = latent$var,
                         offset = numeric(n)), row, w)
  log_unit <- if (is.null(rule$log_unit)) 0 else rule$log_unit[kept]
  told <- engine_lik_tilt(fit, traits$data_rows(rule$y[kept], weights[row]), at$mean - log_unit,
                          at$var)
  logz <- told$logz - log_unit
  list(row = row, n = n, logz = logz, share = rule$size[kept] * exp(logz), d1 = told$d1)
}

outcome_entropy <- function(fit, latent) {
  w <- n_outputs(fit)
  n <- latent_count(latent, w)
  in_blocks(n, function(rows) {
    told <- outcomes_at(fit, some_latent(latent, rows, w))
    terms <- ifelse(told$share > 0, -told$share * told$logz, 0)
    out <- numeric(told$n)
    sums <- rowsum(terms, told$row)
    out[as.integer(rownames(sums))] <- sums
    out
  })
}

# At many variances by a spline along their logarithms.
located_entropy <- function(fit, var) {
  KNOTS <- 100L
  own <- function(var) {
    outcome_entropy(fit, list(mean = 0 * var, var = var, offset = 0 * var))
  }
  known <- unique(var)
  if (length(known) <= KNOTS) return(own(known)[match(var, known)])
  var <- pmax(var, 1e-9 * max(var))
  knots <- seq(log(min(var)), log(max(var)), length.out = KNOTS)
  stats::splinefun(knots, own(exp(knots)))(log(var))
}

# Mean entropy of the responses given the latent values.
given_entropy <- function(fit, latent) {
  entropy <- lik_traits(fit$likelihood)$entropy
  if (!is.null(entropy)) {
    mean <- unname(seen_mean(fit, latent))
    return(entropy(mean, latent$var, lik_values(fit), latent$weights))
  }
  at <- function(f, weight) {
    outcome_entropy(fit, list(mean = f, var = 0 * f, offset = 0 * f, weights = 0 * f + weight))
  }
  if (codec_of(fit)$scaled) return(at(0, 1))
  FAR <- 60 # there are no counts there, or far more than 1e8, and shares are sure: straight lines
  mean <- seen_mean(fit, latent)
  sd <- sqrt(latent$var)
  weights <- rep_len(weights_or_ones(latent$weights, length(mean)), length(mean))
  out <- numeric(length(mean))
  for (weight in unique(weights)) {
    rows <- which(weights == weight)
    given <- tabulated(function(f) at(f, weight), min(max(min((mean - 9 * sd)[rows]), -FAR), FAR),
                       min(max((mean + 9 * sd)[rows]), FAR))
    out[rows] <- normal_mean(given, mean[rows], sd[rows])
  }
  out
}

# ---- Means over a normal variable ----

# Rows at a time, so that rows x nodes stay in bounds
BLOCK_ROWS <- 500L

in_blocks <- function(n, block) {
  from <- seq(1L, by = BLOCK_ROWS, length.out = ceiling(n / BLOCK_ROWS))
  as.double(unlist(lapply(from, function(at) block(at:min(at + BLOCK_ROWS - 1L, n)))))
}

# Mean of fun(f), vectorised, over f ~ N(mean, sd^2) by the trapezoid rule, for a function that
# moves over distances of 1 or more: to some 1e-12 of its size.
normal_mean <- function(fun, mean, sd) {
  REACH <- 8.5
  out <- numeric(length(mean))
  steps <- 2^pmax(ceiling(log2(pmax(sd, 1) / 4)), 0) # so that wide ones have steps as short
  for (fine in unique(steps)) {
    t <- REACH * seq(-1, 1, length.out = 2 * 68 * fine + 1)
    w <- stats::dnorm(t) / sum(stats::dnorm(t))
    rows <- which(steps == fine)
    blocks <- split(rows, (seq_along(rows) - 1L) %/% max(1L, BLOCK_ROWS %/% fine))
    for (at in blocks) {
      f <- mean[at] + outer(sd[at], t)
      out[at] <- matrix(fun(c(f)), length(at)) %*% w
    }
  }
  out
}

# A smooth function where many of its values between two places are wanted: a spline by steps of a
# sixteenth, and a straight line beyond.
tabulated <- function(fun, from, to) {
  at <- seq(from, max(to, from + 1), length.out = ceiling(16 * max(to - from, 1)) + 1)
  spline <- stats::splinefun(at, fun(at))
  function(x) {
    inside <- pmin(pmax(x, at[1L]), at[length(at)])
    spline(inside) + (x - inside) * spline(inside, deriv = 1L)
  }
}

# Points of a standard normal in d dimensions, a row each and symmetric about 0, that are more even
# than random ones: multiples of roots of primes.
even_normal <- function(n, d) {
  primes <- 2L
  candidate <- 3L
  while (length(primes) < d) {
    if (all(candidate %% primes != 0L)) primes <- c(primes, candidate)
    candidate <- candidate + 2L
  }
  u <- (0.5 + outer(seq_len(n / 2), sqrt(primes))) %% 1
  z <- stats::qnorm(u)
  rbind(z, -z)
}
