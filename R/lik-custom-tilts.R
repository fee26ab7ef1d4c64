# Tilts of likelihoods that are R functions, for all rows at once: the trapezoid rule on equidistant
# nodes, as smooth.c has it for one row. Where the integrand is smooth its error falls exponentially
# with the number of nodes, so that the rule with every second node left out measures it.

# Nodes of a first look, and the most; how far below its largest value the integrand's logarithm is
# left out; agreement with half the nodes, whose square is about the error.
TILT_NODES <- 33L
MOST_TILT_NODES <- 1025L
TILT_NEGLECT <- 33
TILT_AGREE <- 3e-7
# Lower bound on the marginal variance: below it the second derivative would be rounding.
LEAST_TILT_VARIANCE <- 1e-9

# Returns the hyperparameters on their natural scale, by name.
natural_custom <- function(custom, theta) {
  natural <- from_search(c(theta), replace(custom$lower, !custom$log, 0), custom$upper)
  stats::setNames(ifelse(custom$log, natural, c(theta)), custom$names)
}

# Returns the log density of data rows at latent values f, a list of a matrix [rows x nodes] for
# each latent function. What is wrong with it is an error in words; -Inf is a density of 0.
custom_log_density <- function(custom, value, rows, f) {
  answer <- call_user(custom$fun, "log_density", row_arguments(custom, custom$fun, rows, f, value))
  check_answer(answer, f[[1L]], "log_density")
}

# Returns the arguments of a user's function of data rows, y, weights and constants in the shape of
# f; weights only where it takes them.
row_arguments <- function(custom, fun, rows, f, value) {
  alike <- function(x) matrix(x, nrow(f[[1L]]), ncol(f[[1L]]))
  c(list(alike(rows[1L, ])), latent_arguments(custom, fun, f, value, rows[-(1:2), , drop = FALSE]),
    if ("weights" %in% names(formals(args(fun)))) list(weights = alike(rows[2L, ])))
}

# Returns the arguments of a user's function of latent values: f, theta and, where the function
# takes them, constants, of which there is a column for each row of f.
latent_arguments <- function(custom, fun, f, value, constants) {
  seen <- if (is.null(custom$components)) f[[1L]] else stats::setNames(f, custom$components)
  out <- list(seen, value)
  if (length(custom$data) == 0L || !takes_data(fun)) return(out)
  if (NROW(constants) < length(custom$data)) refuse_lacking_constants(custom)
  each <- lapply(seq_along(custom$data), function(k) {
    matrix(constants[k, ], nrow(f[[1L]]), ncol(f[[1L]]))
  })
  c(out, list(data = stats::setNames(each, custom$data)))
}

takes_data <- function(fun) any(c("data", "...") %in% names(formals(args(fun))))

call_user <- function(fun, name, arguments) {
  force(arguments) # whose errors are not the function's
  tryCatch(do.call(fun, arguments, quote = TRUE), error = function(e) {
    stop_sparsegp("likelihood", paste0("has a `", name, "` that stops: ", conditionMessage(e)),
                  "See ?lik_custom for its arguments")
  })
}

check_answer <- function(answer, f, name) {
  if (!is.numeric(answer) || length(answer) != length(f)) {
    stop_sparsegp("likelihood", paste0("has a `", name, "` that returns ", length(answer),
                                       " values of class ", class(answer)[1L], " for ",
                                       nrow(f), " x ", ncol(f), " latent values"),
                  "Return a matrix of numbers in the shape of `f`")
  }
  if (anyNA(answer) || any(answer == Inf)) {
    at <- which(is.na(answer) | answer == Inf)[1L]
    stop_sparsegp("likelihood", paste0("has a `", name, "` that returns ", answer[at],
                                       " at f = ", signif(f[at], 4L)),
                  "Return finite numbers, or -Inf where the density is 0")
  }
  dim(answer) <- dim(f)
  answer
}

# ---- Nodes ----

# Nodes of the first look in standard deviations, half a one apart: the integrand of most rows is
# not much narrower than its marginal.
FIRST_NODES <- seq(-8, 8, length.out = TILT_NODES)
# At the ends of the first look the integrand is less than this part of its sum.
FIRST_END <- 1e-11

# Returns the part of all rows with the same nodes in units of their marginals, where sums over the
# nodes are one product of matrices; good: which rows need no others.
standard_look <- function(log_density, mean, sd) {
  z <- FIRST_NODES
  n <- length(mean)
  f <- mean + outer(sd, z)
  log <- log_density(seq_len(n), f) + rep(stats::dnorm(z, log = TRUE), each = n) - log(sd)
  part <- new_part(f, (z[2L] - z[1L]) * sd, log, seq_len(n))
  list(part = part, good = first_agrees(part$weight, z))
}

row_tops <- function(x) do.call(pmax, lapply(seq_len(ncol(x)), function(k) x[, k]))

# Does the rule with every second node agree (halves_agree()), and is nothing beyond its ends?
first_agrees <- function(weight, z) {
  half <- rep_len(c(2, 0), length(z))
  sums <- weight %*% cbind(1, z, z^2, half, half * z, half * z^2)
  all <- looked_moments(sums[, 1:3, drop = FALSE])
  some <- looked_moments(sums[, 4:6, drop = FALSE])
  ends <- weight[, 1L] + weight[, length(z)]
  agree <- ends < FIRST_END * all$sum & moments_agree(all, some)
  !is.na(agree) & agree
}

looked_moments <- function(sums) {
  mean <- sums[, 2L] / sums[, 1L]
  list(sum = sums[, 1L], mean = mean, var = sums[, 3L] / sums[, 1L] - mean^2)
}

moments_agree <- function(all, half) {
  sd <- sqrt(pmax(all$var, 1e-300))
  abs(half$sum / all$sum - 1) < TILT_AGREE & abs(half$mean - all$mean) < TILT_AGREE * sd &
    abs(half$var / all$var - 1) < 10 * TILT_AGREE
}

# Returns the parts of the rows that a look has not been good for. fate: of that look; rows: which.
# Rows whose density is 0 at a node are in none.
later_looks <- function(integrand, fate) {
  open <- fate$rows
  ends <- fate[c("from", "to")]
  moved <- any(fate$moved)
  parts <- list()
  nodes <- TILT_NODES
  for (turn in seq_len(40L)) {
    if (!moved && nodes > TILT_NODES) break
    if (!moved) nodes <- 2L * nodes - 1L
    part <- even_part(integrand, open, ends, nodes)
    fate <- judge_part(part)
    if (any(fate$good)) parts[[length(parts) + 1L]] <- some_of_part(part, fate$good)
    if (all(fate$good)) return(parts)
    open <- open[!fate$good]
    ends <- lapply(fate[c("from", "to")], `[`, !fate$good)
    moved <- any(fate$moved)
  }
  look <- even_part(integrand, open, ends, 2L * TILT_NODES - 1L)
  some <- !look$jumps
  if (!any(some)) return(parts)
  c(parts, dense_parts(integrand, open[some], lapply(ends, `[`, some)))
}

even_part <- function(integrand, open, ends, nodes) {
  step <- (ends$to - ends$from) / (nodes - 1L)
  f <- ends$from + outer(step, seq_len(nodes) - 1)
  new_part(f, step, integrand(open, f), open)
}

new_part <- function(f, step, log, rows) {
  top <- row_tops(log)
  inner <- attr(log, "inner")
  attr(log, "inner") <- NULL
  list(f = f, step = step, top = top, weight = exp(log - ifelse(top > -Inf, top, 0)), rows = rows,
       inner = inner, jumps = rowSums(log == -Inf) > 0)
}

some_of_part <- function(part, which) {
  if (all(which)) return(part)
  list(f = part$f[which, , drop = FALSE], weight = part$weight[which, , drop = FALSE],
       step = part$step[which], top = part$top[which], rows = part$rows[which],
       jumps = part$jumps[which],
       inner = lapply(part$inner, function(x) x[which, , drop = FALSE]))
}

# Rows whose integrand is much narrower somewhere than it is wide: nodes f = peak + s sinh(t), dense
# at the peak, of width s, and ever sparser away from it, twice as many until halves agree.
dense_parts <- function(integrand, open, ends) {
  peak <- find_peaks(integrand, open, ends)
  parts <- list()
  nodes <- 4L * (TILT_NODES - 1L) + 1L
  repeat {
    from <- asinh((ends$from - peak$at) / peak$width)
    step <- (asinh((ends$to - peak$at) / peak$width) - from) / (nodes - 1L)
    t <- from + outer(step, seq_len(nodes) - 1)
    f <- peak$at + peak$width * sinh(t)
    part <- new_part(f, step, integrand(open, f) + log(peak$width) + log(cosh(t)), open)
    good <- halves_agree(part) | nodes >= MOST_TILT_NODES
    if (any(good)) parts[[length(parts) + 1L]] <- some_of_part(part, good)
    if (all(good)) return(parts)
    open <- open[!good]
    ends <- lapply(ends, `[`, !good)
    peak <- lapply(peak, `[`, !good)
    nodes <- 2L * nodes - 1L
  }
}

# Returns list(at, width): where the integrand is largest, between the neighbours of the largest of
# 65 nodes, by golden section; and how far from it the logarithm has fallen by a half.
find_peaks <- function(integrand, open, ends) {
  part <- even_part(integrand, open, ends, 2L * TILT_NODES - 1L)
  best <- max.col(part$weight, "first")
  at <- part$f[cbind(seq_along(open), best)]
  low <- at - part$step
  high <- at + part$step
  GOLDEN <- (sqrt(5) - 1) / 2
  for (turn in seq_len(40L)) {
    inner <- cbind(high - GOLDEN * (high - low), low + GOLDEN * (high - low))
    log <- integrand(open, inner)
    left <- log[, 1L] > log[, 2L]
    low <- ifelse(left, low, inner[, 1L])
    high <- ifelse(left, inner[, 2L], high)
  }
  at <- (low + high) / 2
  away <- outer(ends$to - ends$from, 2^-(0:40))
  size <- seq_len(ncol(away))
  log <- integrand(open, cbind(at, at - away, at + away))
  fallen <- log[, 1L] - pmax(log[, 1L + size, drop = FALSE],
                             log[, 1L + ncol(away) + size, drop = FALSE]) > 0.5
  last <- max(size) + 1L - max.col(fallen[, rev(size), drop = FALSE], "first")
  list(at = at, width = away[cbind(seq_along(open), last)])
}

# Says of each row whether its nodes are good, and between what the next ones lie: farther where the
# integrand is not negligible at an end, nearer where it is so at most nodes. top: of the integrand
judge_part <- function(part) {
  top <- part$top
  m <- ncol(part$weight)
  counts <- part$weight > exp(-TILT_NEGLECT)
  first <- max.col(counts, "first")
  last <- max.col(counts, "last")
  width <- part$step * (m - 1L)
  low <- first == 1L
  high <- last == m
  narrow <- !low & !high & last - first < m / 4 & top > -Inf
  at <- function(column) part$f[cbind(seq_along(column), column)]
  from <- ifelse(low, part$f[, 1L] - width / 2,
                 ifelse(narrow, at(pmax(first - 1L, 1L)), part$f[, 1L]))
  to <- ifelse(high, part$f[, m] + width / 2, ifelse(narrow, at(pmin(last + 1L, m)), part$f[, m]))
  moved <- (low | high | narrow) & is.finite(top)
  list(good = !moved & top > -Inf & halves_agree(part), moved = moved, from = from, to = to,
       rows = part$rows, top = top)
}

# Does the rule with every second node give the same integral, mean and variance?
halves_agree <- function(part) {
  weight <- part$weight
  middle <- (ncol(weight) + 1L) / 2L
  centre <- part$f[, middle] + rowSums(weight * (part$f - part$f[, middle])) / rowSums(weight)
  sums <- function(some) {
    w <- weight[, some, drop = FALSE]
    away <- part$f[, some, drop = FALSE] - centre
    looked_moments(cbind(rowSums(w), rowSums(w * away), rowSums(w * away^2)))
  }
  half <- sums(seq(1L, ncol(weight), by = 2L))
  half$sum <- 2 * half$sum
  moments_agree(sums(seq_len(ncol(weight))), half)
}

# ---- Sums over the nodes ----

# log Z, and d1 = E (f - mu) / s2, d2 = (Var f / s2 - 1) / s2 (lik.c), a column for each row. C
# refuses the numbers of rows that no part has.
rule_moments <- function(rule, mean, var) {
  answer <- matrix(rep(c(-Inf, NaN, NaN), length(mean)), 3L)
  for (part in rule) {
    at <- part$rows
    weight <- part$weight
    sum <- rowSums(weight)
    away <- part$f - mean[at]
    shift <- rowSums(weight * away) / sum
    spread <- rowSums(weight * (away - shift)^2) / sum
    answer[, at] <- rbind(part$top + log(sum * part$step), shift / var[at],
                          (spread / var[at] - 1) / var[at])
  }
  answer
}

# d log Z / d theta = E d log p / d theta under the tilted distributions.
# slopes_at: (rows, f) -> a list of matrices
rule_slopes <- function(rule, slopes_at, count, n) {
  answer <- matrix(0, count, n)
  for (part in rule) {
    weight <- part$weight / rowSums(part$weight)
    slopes <- slopes_at(part$rows, part$f)
    for (j in seq_len(count)) {
      answer[j, part$rows] <- rowSums(ifelse(weight > 0, weight * slopes[[j]], 0))
    }
  }
  answer
}

# Derivatives in theta on C's scale: the user's, or central differences, whose error is about 1e-9
# of the third derivative.
density_slopes <- function(custom, theta, rows, f) {
  if (!is.null(custom$gradient)) return(user_slopes(custom, theta, rows, f))
  STEP <- 1e-4
  lapply(seq_along(theta), function(j) {
    at <- function(by) {
      moved <- natural_custom(custom, replace(theta, j, theta[j] + by))
      pmax(custom_log_density(custom, moved, rows, f), -1e300)
    }
    (at(STEP) - at(-STEP)) / (2 * STEP)
  })
}

user_slopes <- function(custom, theta, rows, f) {
  value <- natural_custom(custom, theta)
  given <- call_user(custom$gradient, "gradient",
                     row_arguments(custom, custom$gradient, rows, f, value))
  if (!is.list(given) || length(given) != length(theta)) {
    stop_sparsegp("likelihood", "has a `gradient` that is no list with a matrix for each of theta",
                  "Return list(d1, d2, ...), in the order of `theta`")
  }
  bounded <- custom$upper < Inf
  share <- (custom$upper - value) / (custom$upper - custom$lower)
  chain <- ifelse(custom$log, (value - custom$lower) * ifelse(bounded, share, 1), 1)
  Map(function(slope, by) check_answer(slope, f[[1L]], "gradient") * by, given, chain)
}

# ---- Means of the limit ----

# In the limit of power EP, variational inference (power.h), means are of log p(y|f) and its
# products, under N(mean, var) itself.

# Nodes lie within so many standard deviations: an exponential rate with a deviation of 3 has its
# mean there.
LIMIT_REACH <- 12

# Returns what tilts_of_custom() does: with l = log p(y|f) and t = (f - mean) / sd
#   E l,   E l t / sd,   E l (t^2 - 1) / var,   and E dl/dtheta.
# A density of 0 within reach makes a row's numbers -Inf: C refuses them.
limit_tilts_of_custom <- function(custom, theta, value, rows, mean, var, slopes) {
  answer <- matrix(0, 3L + slopes * length(theta), length(mean))
  open <- seq_along(mean)
  nodes <- TILT_NODES
  while (length(open) > 0L) {
    rule <- limit_rule(nodes, mean[open], sqrt(var[open]))
    own <- rows[, open, drop = FALSE]
    log <- custom_log_density(custom, value, own, list(rule$f))
    means <- limit_means(log, rule$t, rule$weight)
    good <- nodes >= MOST_TILT_NODES | limits_agree(log, means, rule)
    answer[1:3, open[good]] <- limit_columns(means, sqrt(var[open]))[, good]
    if (slopes && any(good)) {
      part <- own[, good, drop = FALSE]
      by <- density_slopes(custom, theta, part, list(rule$f[good, , drop = FALSE]))
      for (j in seq_along(theta)) answer[3L + j, open[good]] <- by[[j]] %*% rule$weight
    }
    open <- open[!good]
    nodes <- 2L * nodes - 1L
  }
  answer
}

# Nodes t on the standard scale, their weights, and f[rows x nodes].
limit_rule <- function(nodes, mean, sd) {
  t <- seq(-LIMIT_REACH, LIMIT_REACH, length.out = nodes)
  list(t = t, weight = stats::dnorm(t) * (t[2L] - t[1L]), f = mean + outer(sd, t))
}

# Returns E l, E l t and E l (t^2 - 1), a column each. The value at the mean is taken off before: a
# constant has no slope.
limit_means <- function(log, t, weight) {
  level <- log[, (ncol(log) + 1L) / 2L]
  level <- ifelse(is.finite(level), level, 0)
  means <- (log - level) %*% cbind(weight, weight * t, weight * (t^2 - 1))
  means[, 1L] <- means[, 1L] + level
  unname(means)
}

# Does the rule with every second node agree? Rows that are not finite will not get better.
limits_agree <- function(log, means, rule) {
  some <- seq(1L, ncol(log), by = 2L)
  half <- limit_means(log[, some, drop = FALSE], rule$t[some], 2 * rule$weight[some])
  off <- rowSums(abs(half - means)) / (1 + rowSums(abs(means)))
  is.na(off) | off < TILT_AGREE
}

limit_columns <- function(means, sd) {
  rbind(means[, 1L], means[, 2L] / sd, means[, 3L] / sd^2, deparse.level = 0L)
}
