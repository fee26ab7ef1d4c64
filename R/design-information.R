# The information that the response of a row is expected to give on the latent function. Rows
# are latent moments: list(mean, var, offset, weights) as predict() has them (C's units).
#
# An information model is a list of three functions of such rows:
#   entropy      of the response, in nats; of numbers in units of C's, densities' entropies
#   information  the mutual information of response and latent values, in nats
#   curvature    E d1 d1' over a row's response, d1 of the tilt (lik.h): for each latent function a
#                matrix with a column of w x w numbers for each row. The law of total variance
#                has it that the posterior covariance S of any values, of which c is that with
#                the row's, is expected to become S - c E(d1 d1') c', exactly; for Gaussian noise
#                it will be.
#   curvature_change   its derivative where a row's moments change by list(mean, var); left out: by
#                differences

information_model <- function(fit) UseMethod("information_model", codec_of(fit))

#' @export
information_model.response_mixtures <- function(fit) refuse_information()

#' @export
information_model.response <- function(fit) {
  precision <- response_precision(fit, list(mean = numeric(n_outputs(fit)), weights = 1))
  if (length(precision)) return(gaussian_information(fit))
  if (is.null(lik_traits(fit$likelihood)$outcomes)) refuse_information()
  outcome_model(fit)
}

refuse_information <- function() {
  stop_sparsegp("fit", "has a likelihood without a distribution of new responses",
                "Use score = \"variance\", for one row at a time")
}

# ---- Noise that is normal: sites are exact ----

# The blocks of the sites' precisions, end to end; nothing where sites are not exact.
response_precision <- function(fit, latent) {
  n <- latent_count(latent, n_outputs(fit))
  weights <- weights_or_ones(latent$weights, n)
  rows <- lik_traits(fit$likelihood)$data_rows(zero_codes(fit, n), weights)
  engine_exact_precision(fit, rows)
}

# Returns n responses of which each number is 0, in C's units.
zero_codes <- function(fit, n) UseMethod("zero_codes", codec_of(fit))

#' @export
zero_codes.response <- function(fit, n) numeric(n)

#' @export
zero_codes.response_components <- function(fit, n) matrix(0, n, n_outputs(fit))

gaussian_information <- function(fit) UseMethod("gaussian_information", codec_of(fit))

#' @export
gaussian_information.response <- function(fit) {
  precision <- function(latent) response_precision(fit, latent)
  list(entropy = function(latent) {
         log(2 * pi * exp(1) * (c(latent$var) + 1 / c(precision(latent)))) / 2
       },
       information = function(latent) log1p(c(precision(latent)) * c(latent$var)) / 2,
       curvature = function(latent) gaussian_curvature(fit, latent),
       curvature_change = function(latent, change) gaussian_bend(fit, latent, change))
}

#' @export
gaussian_information.response_components <- function(fit) {
  w <- n_outputs(fit)
  by_row <- function(fun) function(latent) {
    S <- matrix(latent$var, w * w)
    tau <- matrix(response_precision(fit, latent), w * w)
    block <- function(of, i) matrix(of[, i], w)
    vapply(seq_len(ncol(S)), function(i) log_det(fun(block(S, i), block(tau, i))), 0) / 2
  }
  list(entropy = by_row(function(S, tau) 2 * pi * exp(1) * (S + solve(tau))),
       information = by_row(function(S, tau) diag(w) + tau %*% S),
       curvature = function(latent) gaussian_curvature(fit, latent),
       curvature_change = function(latent, change) gaussian_bend(fit, latent, change))
}

gaussian_curvature <- function(fit, latent) {
  w <- n_outputs(fit)
  tau <- matrix(response_precision(fit, latent), w * w)
  if (w == 1L) return(list(tau / (1 + tau * latent$var)))
  S <- matrix(latent$var, w * w)
  own <- vapply(seq_len(ncol(S)), function(i) {
    c(solve(diag(w) + matrix(tau[, i], w) %*% matrix(S[, i], w), matrix(tau[, i], w)))
  }, numeric(w * w))
  list(matrix(own, w * w))
}

# Returns the change of B = (S + tau^-1)^-1, -B dS B, of one row.
gaussian_bend <- function(fit, latent, change) {
  w <- n_outputs(fit)
  B <- matrix(gaussian_curvature(fit, latent)[[1L]], w)
  list(-c(B %*% matrix(change$var, w) %*% B))
}

log_det <- function(A) as.double(determinant(A)$modulus)

# ---- Labels ----

# The model is that fitted: a power of probabilities (methods) is in the entropy alone.
#' @export
information_model.response_factor <- function(fit) {
  plain <- fit
  plain$power <- NULL
  list(entropy = function(latent) entropies(class_probabilities(fit, latent)),
       information = function(latent) label_information(plain, latent),
       curvature = function(latent) label_curvature(plain, latent))
}

# Returns the entropy of the probabilities of each row, in nats.
entropies <- function(prob) {
  terms <- prob * log(prob)
  terms[prob <= 0] <- 0
  -rowSums(terms)
}

label_information <- function(fit, latent) UseMethod("label_information", codec_of(fit))

# One latent function (Houlsby et al., 2011): its probabilities are had in closed form or by C's
# quadrature, the entropy given it by the trapezoid rule.
#' @export
label_information.response_factor <- function(fit, latent) {
  given <- function(f) entropies(class_probabilities(fit, list(mean = f, var = 0 * f, offset = 0)))
  expected <- normal_mean(given, seen_mean(fit, latent), sqrt(latent$var))
  pmax(entropies(class_probabilities(fit, latent)) - expected, 0)
}

# One for each class: at NODES values of all of them, the same for both entropies, so none is
# negative.
#' @export
label_information.response_classes <- function(fit, latent) {
  NODES <- 512L
  z <- even_normal(NODES, functions_of(fit))
  in_blocks(latent_count(latent, n_outputs(fit)), function(rows) {
    at <- probabilities_along(fit, latent_of_rows(fit, latent, rows))
    mean <- given <- 0
    for (j in seq_len(NODES)) {
      prob <- at(z[j, ])
      mean <- mean + prob / NODES
      given <- given + entropies(prob) / NODES
    }
    pmax(entropies(mean) - given, 0)
  })
}

# Returns a function of standard normal z, of the probabilities at the latent functions that have
# the moments of the rows.
probabilities_along <- function(fit, latent) UseMethod("probabilities_along", codec_of(fit))

#' @export
probabilities_along.response_classes <- function(fit, latent) {
  sd <- sqrt(latent$var)
  function(z) {
    f <- latent$mean + sweep(sd, 2L, z, "*")
    class_probabilities(fit, list(mean = f, var = 0 * f, offset = latent$offset))
  }
}

# Returns E d1 d1' over the labels.
label_curvature <- function(fit, latent) {
  outcomes <- label_outcomes(fit, latent)
  w <- n_outputs(fit)
  lapply(seq_len(processes(fit)), function(class) {
    Reduce(`+`, lapply(outcomes, function(label) {
      d1 <- matrix(label$d1[[class]], w)
      rep(label$prob, each = w * w) * own_products(matrix(d1), w)
    }))
  })
}

# Returns for each label its probability at every row, and d1 and d2, the derivatives of the
# logarithm of that by the means: for each latent function a matrix with a column for each row, of w
# and of w x w numbers. Given the label, a value whose covariance with the row's is c has mean
# m + c d1 and variance s2 + c d2 c', exactly.
label_outcomes <- function(fit, latent) UseMethod("label_outcomes", codec_of(fit))

# Uses central differences of fourth order, accurate to 1e-8: a probability changes on the scale of
# the latent standard deviation, or of 1.
#' @export
label_outcomes.response_factor <- function(fit, latent) {
  at <- function(class, shift) {
    moved <- as.matrix(latent$mean)
    moved[, class] <- moved[, class] + shift
    class_probabilities(fit, replace(latent, "mean", list(if (is.matrix(latent$mean)) moved
                                                          else c(moved))))
  }
  prob <- class_probabilities(fit, latent)
  each <- lapply(seq_len(processes(fit)), function(class) {
    var <- as.matrix(latent$var)[, class]
    h <- pmax(0.02 * sqrt(var), 1e-3 * sqrt(1 + var))
    one <- list(at(class, h), at(class, -h))
    two <- list(at(class, 2 * h), at(class, -2 * h))
    d1 <- (8 * (one[[1L]] - one[[2L]]) - two[[1L]] + two[[2L]]) / (12 * h) / prob
    d2 <- (16 * (one[[1L]] + one[[2L]]) - two[[1L]] - two[[2L]] - 30 * prob) / (12 * h^2) / prob
    list(d1 = d1, d2 = d2 - d1^2)
  })
  lapply(seq_len(ncol(prob)), function(label) {
    own <- function(field) {
      lapply(each, function(class) rbind(ifelse(prob[, label] > 1e-12, class[[field]][, label], 0)))
    }
    list(prob = unname(prob[, label]), d1 = own("d1"), d2 = own("d2"))
  })
}

# ---- Classes that are coupled ----

# Values of a row are correlated.
#' @export
probabilities_along.response_coupled <- function(fit, latent) {
  w <- n_outputs(fit)
  roots <- apply(matrix(latent$var, w * w), 2L, function(block) root_of(matrix(block, w)))
  function(z) {
    away <- apply(roots, 2L, function(root) matrix(root, w) %*% z)
    known_probabilities(fit, by_component(latent$mean + c(away), components(fit)), 0)
  }
}

# Returns B with B B' = A, of a small matrix that may be singular.
root_of <- function(A) {
  parts <- eigen(A, symmetric = TRUE)
  parts$vectors %*% diag(sqrt(pmax(parts$values, 0)), nrow(A))
}

#' @export
label_outcomes.response_coupled <- function(fit, latent) {
  w <- n_outputs(fit)
  n <- latent_count(latent, w)
  lapply(seq_len(w), function(label) {
    own <- engine_lik_tilt(fit, matrix(label, 1L, n) + 0, latent$mean, latent$var)
    list(prob = exp(own$logz), d1 = list(matrix(own$d1, w)), d2 = list(matrix(own$d2, w * w)))
  })
}

# ---- Numbers and counts ----

outcome_model <- function(fit) {
  own <- lik_traits(fit$likelihood)$entropy
  given <- function(latent) {
    if (is.null(own)) given_entropy(fit, latent)
    else own(unname(seen_mean(fit, latent)), latent$var, lik_values(fit), latent$weights)
  }
  list(entropy = function(latent) outcome_entropy(fit, latent),
       information = function(latent) pmax(outcome_entropy(fit, latent) - given(latent), 0),
       curvature = function(latent) {
         told <- outcomes_at(fit, latent)
         w <- n_outputs(fit)
         d1 <- matrix(told$d1, w) * rep(sqrt(told$share), each = w)
         sums <- rowsum(t(own_products(matrix(d1), w)), told$row)
         out <- matrix(0, w * w, told$n)
         out[, as.integer(rownames(sums))] <- t(sums)
         list(out)
       })
}

# Returns of every response of the rules its row, log density, proportion of all and slope d1.
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

outcome_entropy <- function(fit, latent) UseMethod("outcome_entropy", codec_of(fit))

#' @export
outcome_entropy.response <- function(fit, latent) {
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

#' @export
outcome_entropy.response_components <- outcome_entropy.response

# y - f does not depend on f, so the variance decides alone: where there are many of them by a
# spline along their logarithms.
#' @export
outcome_entropy.response_numbers <- function(fit, latent) {
  KNOTS <- 100L
  own <- function(var) {
    outcome_entropy.response(fit, list(mean = 0 * var, var = var, offset = 0 * var))
  }
  var <- latent$var
  known <- unique(var)
  if (length(known) <= KNOTS) return(own(known)[match(var, known)])
  var <- pmax(var, 1e-9 * max(var))
  knots <- seq(log(min(var)), log(max(var)), length.out = KNOTS)
  stats::splinefun(knots, own(exp(knots)))(log(var))
}

# Returns the mean entropy of the responses given the latent values.
given_entropy <- function(fit, latent) UseMethod("given_entropy", codec_of(fit))

#' @export
given_entropy.response_numbers <- function(fit, latent) {
  outcome_entropy(fit, list(var = 0))
}

#' @export
given_entropy.response <- function(fit, latent) {
  at <- function(f, weight) {
    outcome_entropy(fit, list(mean = f, var = 0 * f, offset = 0 * f, weights = 0 * f + weight))
  }
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

# Mean of fun(f), vectorised, over f ~ N(mean, sd^2) by the trapezoid rule, for a function that
# moves over distances of 1 or more: to some 1e-12 of its size.
normal_mean <- function(fun, mean, sd) {
  REACH <- 8.5
  out <- numeric(length(mean))
  steps <- 2^pmax(ceiling(log2(pmax(sd, 1) / 4)), 0) # so that wide ones have steps as short
  for (fine in unique(steps)) {
    t <- REACH * seq(-1, 1, length.out = 2 * 68 * fine + 1)
    w <- normal_weights(t)
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
  u <- (0.5 + outer(seq_len(n / 2), sqrt(first_primes(d)))) %% 1
  z <- stats::qnorm(u)
  rbind(z, -z)
}
