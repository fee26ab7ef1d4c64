# Tilts of likelihoods in R whose density is 0 beyond a bound that moves with the response: noise
# that is uniform, or of one side. Between such jumps the integrand is smooth. So the jumps are
# found by bisection, and between two of them, and the largest value, there are nodes that are ever
# denser towards both ends (the double exponential rule): whatever the integrand's width there.

# Returns a list of parts, each of rows that have as many nodes: list(f, step, top, weight, rows,
# inner), the nodes, the step, and the integrand exp(log_density) N(f; mean, sd^2) per step as
# exp(top) weight. log_density: (rows, f) -> power times log p, with an attribute `inner` of what
# else is known at the nodes, if anything is; around: see jump_parts(). Its attribute `jumps`: the
# rows whose density is 0 somewhere.
tilt_rule <- function(log_density, mean, sd, around = NULL) {
  first <- standard_look(log_density, mean, sd)
  if (all(first$good)) return(list(first$part))
  integrand <- function(at, f) {
    log_density(at, f) - 0.5 * ((f - mean[at]) / sd[at])^2 - log(sd[at]) - 0.5 * log(2 * pi)
  }
  parts <- if (any(first$good)) list(some_of_part(first$part, first$good))
  smooth <- !first$good & !first$part$jumps
  if (any(smooth)) {
    parts <- c(parts, later_looks(integrand, judge_part(some_of_part(first$part, smooth))))
  }
  jumps <- setdiff(which(!first$good), settled_rows(parts))
  if (length(jumps) > 0L) {
    parts <- c(parts, jump_parts(integrand, jumps, mean[jumps], sd[jumps], around[jumps]))
  }
  structure(parts, jumps = jumps)
}

# Returns the rows that have nodes.
settled_rows <- function(parts) unlist(lapply(parts, `[[`, "rows"))

# ---- Jumps ----

JUMP_NODES <- 97L  # of each stretch; halves agree to 1e-9
JUMP_REACH <- 3.2  # of the rule's variable: ends are approached to 1e-17 of a stretch

# Returns the double exponential rule on (0, 1): distances from the near end, in `near`, and whether
# that is the lower one; logarithms of weights.
jump_rule <- function() {
  t <- seq(-JUMP_REACH, JUMP_REACH, length.out = JUMP_NODES)
  u <- pi * sinh(abs(t))
  list(near = 1 / (1 + exp(u)), lower = t < 0,
       log_weight = log(pi * cosh(t)) - u - 2 * log1p(exp(-u)) + log(t[2L] - t[1L]))
}

# Returns parts (tilt_rule()) of rows whose density is 0 somewhere. Rows of which no place was found
# where it is not are in none. around: a place for each row near which there is one, or NULL
jump_parts <- function(integrand, rows, mean, sd, around) {
  found <- look_for_jumps(integrand, rows, mean, sd, around)
  if (length(found$own) == 0L) return(list())
  rule <- jump_rule()
  count <- tabulate(found$own, length(rows))
  lapply(setdiff(unique(count), 0L), function(many) {
    own <- which(count == many)
    at <- matrix(which(found$own %in% own), many) # a column for each row
    places <- lapply(seq_len(many), function(k) {
      from <- found$from[at[k, ]]
      to <- found$to[at[k, ]]
      size <- outer(to - from, rule$near)
      lower <- rep(rule$lower, each = length(from))
      list(f = ifelse(lower, 1, 0) * (from + size) + ifelse(lower, 0, 1) * (to - size),
           log_weight = outer(log(to - from), rule$log_weight, `+`))
    })
    f <- do.call(cbind, lapply(places, `[[`, "f"))
    log <- integrand(rows[own], f) + do.call(cbind, lapply(places, `[[`, "log_weight"))
    new_part(f, rep(1, length(own)), log, rows[own])
  })
}

# Returns stretches of the places where the density is not 0 and the integrand counts, without a
# jump and with the largest value at an end: own (number of the row), from and to, by rows.
look_for_jumps <- function(integrand, rows, mean, sd, around) {
  f <- jump_grid(mean, sd, around)
  log <- integrand(rows, f)
  jumps <- find_jumps(integrand, rows, f, log)
  of_row <- split(seq_along(jumps$own), factor(jumps$own, seq_along(rows)))
  each <- unlist(lapply(seq_along(rows), function(i) {
    stretches_of_row(f[i, ], log[i, ], lapply(jumps[-1L], `[`, of_row[[i]]), i)
  }))
  each <- matrix(as.double(each), 5L, dimnames = list(c("own", "from", "to", "low", "high"), NULL))
  if (ncol(each) == 0L) return(list(own = integer()))
  top <- find_tops(integrand, rows[each["own", ]], each["low", ], each["high", ])
  from <- c(each["from", ], top)
  to <- c(top, each["to", ])
  own <- rep(each["own", ], 2L)
  at <- order(own, from)
  at <- at[(to > from)[at]]
  list(own = own[at], from = from[at], to = to[at])
}

# Returns where it is looked: densely within 8 standard deviations, ever more sparsely beyond, and
# densely about `around`, for a support that is far out or narrow; sorted rows.
jump_grid <- function(mean, sd, around) {
  DENSE <- 65L
  far <- 8 * 2^seq(1, 20)
  near <- 2^seq(-36, 4, by = 2)
  f <- mean + outer(sd, c(seq(-8, 8, length.out = DENSE), far, -far))
  if (!is.null(around)) {
    f <- cbind(f, around + outer(sd, c(0, near, -near)),
               around + outer(abs(around) + 1, c(near, -near)))
  }
  matrix(f[order(row(f), f)], nrow(f), byrow = TRUE)
}

# Returns the jumps between neighbouring places, by bisection to rounding: own, the number of the
# row; left, of the place before; at, the last place where the density is not 0, and its integrand.
find_jumps <- function(integrand, rows, f, log) {
  m <- ncol(f)
  there <- log > -Inf
  at <- which(there[, -1L, drop = FALSE] != there[, -m, drop = FALSE], arr.ind = TRUE)
  own <- at[, 1L]
  inside <- ifelse(there[at], f[at], f[cbind(own, at[, 2L] + 1L)])
  outside <- ifelse(there[at], f[cbind(own, at[, 2L] + 1L)], f[at])
  for (turn in seq_len(if (length(own)) 54L else 0L)) {
    middle <- (inside + outside) / 2
    is_in <- c(integrand(rows[own], matrix(middle))) > -Inf
    inside <- ifelse(is_in, middle, inside)
    outside <- ifelse(is_in, outside, middle)
  }
  value <- if (length(own)) c(integrand(rows[own], matrix(inside))) else numeric()
  list(own = unname(own), left = at[, 2L], at = inside, value = value)
}

# Returns the stretches between jumps of one row at places f, cut where the integrand no longer
# counts, five numbers each: `own`, the ends, and places about its largest value.
stretches_of_row <- function(f, log, jumps, own) {
  NEGLECT <- 50
  place <- c(f, jumps$at)
  value <- c(log, jumps$value)
  group <- c(findInterval(seq_along(f), sort(jumps$left) + 1L), integer(length(jumps$at)))
  ends <- sort(jumps$left)
  at <- length(f) + seq_along(jumps$at)
  group[at] <- ifelse(log[jumps$left] > -Inf, match(jumps$left, ends) - 1L,
                      match(jumps$left, ends))
  top <- max(value)
  if (top == -Inf) return(NULL)
  lapply(unique(group[value > top - NEGLECT]), function(k) {
    mine <- which(group == k & value > -Inf)
    mine <- mine[order(place[mine])]
    counts <- which(value[mine] > top - NEGLECT)
    wide <- mine[seq(max(1L, min(counts) - 1L), min(length(mine), max(counts) + 1L))]
    best <- which.max(value[wide])
    c(own, place[wide[c(1L, length(wide), max(1L, best - 1L), min(length(wide), best + 1L))]])
  })
}

# Returns about where the integrand is largest within [low, high] of each stretch, by golden
# section: nodes are dense there.
find_tops <- function(integrand, rows, low, high) {
  GOLDEN <- (sqrt(5) - 1) / 2
  for (turn in seq_len(20L)) {
    inner <- cbind(high - GOLDEN * (high - low), low + GOLDEN * (high - low))
    log <- integrand(rows, inner)
    left <- log[, 1L] > log[, 2L]
    low <- ifelse(left, low, inner[, 1L])
    high <- ifelse(left, inner[, 2L], high)
  }
  (low + high) / 2
}
