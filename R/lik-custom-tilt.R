# Tilts of a likelihood that is written in R: integrals of p(y|f) N(f; mu, s2) of many rows at once,
# by the trapezoid rule where it serves (src/smooth.h has its argument) and else by panels of
# Gauss-Kronrod that are bisected until they agree. A row's integral is that of exp(g(f)), with
#   g(f) = log p(y|f) - (f - mu)^2 / (2 s2).
# Functions here know a likelihood as `logp`, function(row, f): log p of the rows with these numbers
# at values f, of the same length.

# Finds, for each of n rows, where in f the likelihood does its work and on what scale: its mode, or
# where it is monotone the place at which it has fallen by log 2. Looks along places in geometric
# steps from 0, then ever more closely about the highest. Returns list(centre, width).
locate_custom <- function(logp, n) {
  away <- 2^seq(-8, 14, by = 2)
  places <- matrix(c(-rev(away), 0, away), n, 2L * length(away) + 1L, byrow = TRUE)
  for (round in 1:24) {
    found <- highest_place(logp, places)
    if (all(found$close)) break
    share <- seq(0, 1, length.out = 9L)
    places <- found$low + outer(found$high - found$low, share)
  }
  drop_places(logp, found$at, found$top)
}

# Returns the place of each row's largest log p with its neighbours, and whether these differ from
# it by so little that the peak is resolved.
highest_place <- function(logp, places) {
  n <- nrow(places)
  k <- ncol(places)
  values <- matrix(logp(rep(seq_len(n), k), c(places)), n)
  best <- max.col(replace(values, is.nan(values), -Inf), "first")
  pick <- function(m, at) m[cbind(seq_len(n), pmin(pmax(at, 1L), k))]
  top <- pick(values, best)
  fall <- pmax(top - pick(values, best - 1L), top - pick(values, best + 1L))
  list(at = pick(places, best), top = top, low = pick(places, best - 1L),
       high = pick(places, best + 1L), close = fall < 0.05)
}

# Returns centre and width of what falls from `top` at `at`: of a mode itself and the smaller of the
# distances at which log p has fallen by log 2; of a monotone log p, which falls to one side alone,
# the place of that fall and the distance from it to that of log 8.
drop_places <- function(logp, at, top) {
  left <- fall_distance(logp, at, top, -1, log(2))
  right <- fall_distance(logp, at, top, 1, log(2))
  sign <- ifelse(left < right, -1, 1)
  width <- pmin(left, right)
  monotone <- is.finite(width) & is.infinite(pmax(left, right))
  further <- fall_distance(logp, at, top, sign, log(8)) - width
  centre <- ifelse(monotone, at + sign * width, at)
  width <- ifelse(monotone, further, width)
  list(centre = ifelse(is.finite(centre), centre, 0),
       width = ifelse(is.finite(width) & width > 0, width, 1))
}

# Returns the distance from `at`, in the direction of `sign`, at which log p is `fall` below `top`,
# to a few per cent of itself and of where it is; Inf: it does not fall so far.
fall_distance <- function(logp, at, top, sign, fall) {
  n <- length(at)
  sign <- rep_len(sign, n)
  away <- 2^(-20:20)
  values <- matrix(logp(rep(seq_len(n), length(away)), c(at + outer(sign, away))), n)
  fallen <- values < top - fall
  first <- max.col(fallen, "first")
  some <- which(fallen[cbind(seq_len(n), first)])
  out <- rep(Inf, n)
  high <- away[first[some]]
  low <- ifelse(first[some] > 1L, high / 2, 0)
  for (halving in seq_len(if (length(some)) 12L else 0L)) {
    middle <- (low + high) / 2
    down <- logp(some, at[some] + sign[some] * middle) < top[some] - fall
    high <- ifelse(down, middle, high)
    low <- ifelse(down, low, middle)
  }
  out[some] <- high
  out
}

# Finds the peak of g by Newton's method with differences of log p, from where a normal density of
# the likelihood's centre and width would have it. Returns list(at, bend, good).
peak_custom <- function(logp, mu, s2, known) {
  n <- length(mu)
  h <- 0.05 * pmin(known$width, sqrt(s2))
  low <- pmin(mu, known$centre)
  high <- pmax(mu, known$centre)
  f <- mu
  bend <- rep(NA_real_, n)
  open <- seq_len(n)
  for (round in 1:25) {
    at <- f[open]
    step <- h[open]
    values <- matrix(logp(rep(open, 3L), c(at - step, at, at + step)), ncol = 3L)
    first <- (values[, 3L] - values[, 1L]) / (2 * step)
    second <- (values[, 3L] - 2 * values[, 2L] + values[, 1L]) / step^2
    g <- first - (at - mu[open]) / s2[open]
    bend[open] <- 1 / s2[open] - second
    curved <- is.finite(g) & bend[open] > 0
    bend[open[!curved]] <- NA
    going <- curved & g^2 >= 0.01 * bend[open]
    f[open[going]] <- (at + g / bend[open])[going]
    open <- open[going]
    if (length(open) == 0L) break
  }
  bend[open] <- NA
  list(at = f, bend = bend, low = low, high = high)
}

# Evaluates g at equidistant nodes about a place, h apart, `reach` of them to either side. Returns
# list(k, g, top, done), g with a row for each of the rows `which`; done: is g negligible at both
# ends, beyond the likelihood's place and mu?
nodes_custom <- function(logp, which, at, h, mu, s2, low, high, reach) {
  NEGLECT <- 33
  k <- -reach:reach
  f <- at + outer(h, k)
  g <- matrix(logp(rep(which, length(k)), c(f)), length(which)) - (f - mu)^2 / (2 * s2)
  top <- row_max(g)
  last <- ncol(g)
  done <- g[, 1L] < top - NEGLECT & f[, 1L] <= low & g[, last] < top - NEGLECT & f[, last] >= high
  list(k = k, f = f, g = g, top = top, done = done & is.finite(top))
}

row_max <- function(m) m[cbind(seq_len(nrow(m)), max.col(m, "first"))]

# Sums over nodes with weights exp(g - top): total, mean and variance of k. every: which nodes
moments_custom <- function(weights, k) {
  total <- rowSums(weights)
  mean <- drop(weights %*% k) / total
  list(total = total, mean = mean, var = drop(weights %*% k^2) / total - mean^2)
}

# Tilts rows by the trapezoid rule; a row's logz is NA where neither more nodes nor denser ones make
# the rule with every second node agree, as it does where the whole one is right to 1e-10. Nodes and
# weights are kept for expectations.
trapezoid_custom <- function(logp, mu, s2, known) {
  REACH <- c(18L, 42L, 84L)
  HALVINGS <- 3L
  n <- length(mu)
  out <- list(logz = rep(NA_real_, n), d1 = rep(NA_real_, n), d2 = rep(NA_real_, n),
              nodes = list())
  peak <- peak_custom(logp, mu, s2, known)
  h <- pmin(0.5 / sqrt(peak$bend), 0.35 * known$width)
  reach <- halvings <- rep(1L, n)
  open <- which(is.finite(h))
  while (length(open) > 0L) {
    rows <- open[reach[open] == min(reach[open])]
    laid <- nodes_custom(logp, rows, peak$at[rows], h[rows], mu[rows], s2[rows], peak$low[rows],
                         peak$high[rows], REACH[reach[rows[1L]]])
    by_nodes <- moments_by_nodes(laid, h[rows])
    out <- with_tilts(out, rows, by_nodes, laid, peak$at, mu, s2)
    again <- laid$done & !by_nodes$good
    h[rows[again]] <- h[rows[again]] / 2
    halvings[rows[again]] <- halvings[rows[again]] + 1L
    reach[rows[!by_nodes$good]] <- reach[rows[!by_nodes$good]] + 1L
    done <- rows[by_nodes$good | reach[rows] > length(REACH) | halvings[rows] > HALVINGS]
    open <- setdiff(open, done)
  }
  out
}

# Returns the weights of nodes h apart and their moments, and whether every second node agrees.
moments_by_nodes <- function(laid, h) {
  AGREE <- 3e-7
  weights <- exp(laid$g - laid$top)
  all <- moments_custom(weights, laid$k)
  second <- laid$k %% 2L == 0L
  half <- moments_custom(weights[, second, drop = FALSE], laid$k[second])
  good <- laid$done & abs(2 * half$total - all$total) < AGREE * all$total &
    abs(half$mean - all$mean) < AGREE * sqrt(all$var) & abs(half$var - all$var) < AGREE * all$var
  c(all, list(h = h, weights = weights, good = good %in% TRUE))
}

# Puts the tilts of the good rows in their places, with their nodes.
with_tilts <- function(out, rows, by_nodes, laid, at, mu, s2) {
  good <- by_nodes$good
  own <- rows[good]
  if (length(own) == 0L) return(out)
  step <- by_nodes$h[good]
  away <- at[own] - mu[own] + step * by_nodes$mean[good]
  out$logz[own] <- laid$top[good] + log(step * by_nodes$total[good]) - log(2 * pi * s2[own]) / 2
  out$d1[own] <- away / s2[own]
  out$d2[own] <- (step^2 * by_nodes$var[good] / s2[own] - 1) / s2[own]
  weight <- by_nodes$weights[good, , drop = FALSE] / by_nodes$total[good]
  nodes <- list(row = rep(own, length(laid$k)), f = c(laid$f[good, , drop = FALSE]),
                weight = c(weight))
  out$nodes <- c(out$nodes, list(nodes))
  out
}

KRONROD <- list(
  x = c(0.991455371120812639, 0.949107912342758524, 0.864864423359769072, 0.741531185599394439,
        0.586087235467691130, 0.405845151377397166, 0.207784955007898467, 0),
  kronrod = c(0.022935322010529224, 0.063092092629978553, 0.104790010322250183,
              0.140653259715525918, 0.169004726639267902, 0.190350578064785409,
              0.204432940075298892, 0.209482141084727828),
  gauss = c(0, 0.129484966168869693, 0, 0.279705391489276667, 0, 0.381830050505118944, 0,
            0.417959183673469387)
)

# Tilts rows by panels between breakpoints about mu and about the likelihood's place, in geometric
# steps of either width; panels on which the two rules differ are bisected, those of all rows at
# once.
panels_custom <- function(logp, which, mu, s2, known) {
  NEGLECT <- 60
  TOLERANCE <- 1e-10
  BISECTIONS <- 200L
  n <- length(which)
  sd <- sqrt(s2)
  away <- 2^(-2:6)
  far <- 2^seq(-2, 24)
  reach <- abs(known$centre - mu) + 40 * sd
  breaks <- cbind(mu, mu + outer(sd, c(-away, away)), known$centre,
                  known$centre + outer(known$width, c(-far, far)))
  breaks <- pmin(pmax(breaks, mu - 1.5 * reach), mu + 1.5 * reach)
  breaks <- matrix(breaks[order(row(breaks), breaks)], n, byrow = TRUE)
  g_of <- function(i, f) logp(which[i], f) - (f - mu[i])^2 / (2 * s2[i])
  x <- c(-KRONROD$x, rev(KRONROD$x)[-1L])
  wk <- c(KRONROD$kronrod, rev(KRONROD$kronrod)[-1L])
  wg <- c(KRONROD$gauss, rev(KRONROD$gauss)[-1L])
  panels <- data.frame(row = rep(seq_len(n), ncol(breaks) - 1L), a = c(breaks[, -ncol(breaks)]),
                       b = c(breaks[, -1L]))
  panels <- panels[panels$b > panels$a, ]
  values <- function(p) {
    f <- (p$a + p$b) / 2 + outer((p$b - p$a) / 2, x)
    list(f = f, g = matrix(g_of(rep(p$row, 15L), c(f)), nrow(p)))
  }
  done <- list()
  top <- rep(-Inf, n)
  size <- NULL
  bisected <- integer(n)
  for (round in 1:60) {
    v <- values(panels)
    highest <- row_max(v$g)
    if (round == 1L) {
      top <- as.double(tapply(highest, factor(panels$row, seq_len(n)), max))
      counts <- (highest > top[panels$row] - NEGLECT) %in% TRUE
      panels <- panels[counts, ]
      v <- list(f = v$f[counts, , drop = FALSE], g = v$g[counts, , drop = FALSE])
    }
    t <- (v$f - mu[panels$row]) / sd[panels$row]
    weight <- exp(v$g - top[panels$row]) * (panels$b - panels$a) / 2
    both <- lapply(0:2, function(power) {
      list(kronrod = drop((weight * t^power) %*% wk), gauss = drop((weight * t^power) %*% wg),
           size = drop((weight * abs(t)^power) %*% wk))
    })
    if (is.null(size)) {
      size <- lapply(both, function(one) {
        as.double(tapply(one$size, factor(panels$row, seq_len(n)), sum))
      })
    }
    error <- do.call(pmax, Map(function(one, all) {
      abs(one$kronrod - one$gauss) / pmax(all[panels$row], 1e-300)
    }, both, size))
    # an integrand that is itself only known to rounding is then as good as it gets
    tolerance <- pmax(TOLERANCE, 64 * .Machine$double.eps * abs(top[panels$row])) / 20
    fine <- !(error > tolerance) | panels$b - panels$a < 1e-13 * abs(panels$b)
    bisected <- bisected + tabulate(panels$row[!fine], n)
    fine <- fine | bisected[panels$row] > BISECTIONS
    keep <- panels[fine, ]
    done[[round]] <- list(row = rep(keep$row, 15L), f = c(v$f[fine, , drop = FALSE]),
                          weight = c(weight[fine, , drop = FALSE] * rep(wk, each = sum(fine))))
    if (all(fine)) break
    split <- panels[!fine, ]
    middle <- (split$a + split$b) / 2
    panels <- data.frame(row = rep(split$row, 2L), a = c(split$a, middle), b = c(middle, split$b))
  }
  nodes <- list(row = unlist(lapply(done, `[[`, "row")), f = unlist(lapply(done, `[[`, "f")),
                weight = unlist(lapply(done, `[[`, "weight")))
  sums <- function(x) as.double(tapply(x, factor(nodes$row, seq_len(n)), sum))
  total <- sums(nodes$weight)
  t <- (nodes$f - mu[nodes$row]) / sd[nodes$row]
  mean <- sums(nodes$weight * t) / total
  var <- sums(nodes$weight * (t - mean[nodes$row])^2) / total
  list(logz = top + log(total) - log(2 * pi * s2) / 2, d1 = mean / sd, d2 = (var - 1) / s2,
       nodes = list(row = which[nodes$row], f = nodes$f,
                    weight = nodes$weight / total[nodes$row]))
}

# First and second derivatives of log p at f by differences of order 6. step: their distance
slopes_custom <- function(logp, row, f, step) {
  shifts <- -3:3
  values <- matrix(logp(rep(row, 7L), c(outer(step, shifts) + f)), ncol = 7L)
  list(first = drop(values %*% c(-1, 9, -45, 0, 45, -9, 1)) / (60 * step),
       second = drop(values %*% c(2, -27, 270, -490, 270, -27, 2)) / (180 * step^2))
}

# Tilts n rows: list(logz, d1, d2) and `nodes`, list(row, f, weight), by which a sum of weight * h(f)
# is the expectation of h under the tilted distribution of its row.
tilts_custom <- function(logp, mu, s2, known) {
  n <- length(mu)
  wide <- is.finite(mu) & is.finite(s2) & s2 > 1e-140
  out <- list(logz = rep(NaN, n), d1 = rep(NaN, n), d2 = rep(NaN, n), nodes = list())
  if (any(wide)) {
    at <- which(wide)
    of <- function(row, f) logp(at[row], f)
    own <- lapply(known, `[`, at)
    by_rule <- trapezoid_custom(of, mu[at], s2[at], own)
    for (field in c("logz", "d1", "d2")) out[[field]][at] <- by_rule[[field]]
    out$nodes <- lapply(by_rule$nodes, function(one) replace(one, "row", list(at[one$row])))
    for (left in split(which(is.na(by_rule$logz)), (seq_len(sum(is.na(by_rule$logz))) - 1L) %/%
                       200L)) {
      more <- panels_custom(of, left, mu[at[left]], s2[at[left]], lapply(own, `[`, left))
      for (field in c("logz", "d1", "d2")) out[[field]][at[left]] <- more[[field]]
      out$nodes <- c(out$nodes, list(replace(more$nodes, "row", list(at[more$nodes$row]))))
    }
  }
  points <- which(is.finite(mu) & is.finite(s2) & !wide)
  if (length(points)) {
    slopes <- slopes_custom(logp, points, mu[points], 0.02 * known$width[points])
    out$logz[points] <- logp(points, mu[points])
    out$d1[points] <- slopes$first
    out$d2[points] <- slopes$second
    out$nodes <- c(out$nodes, list(list(row = points, f = mu[points], weight = 1 + 0 * points)))
  }
  narrow_custom(logp, mu, s2, known, out)
}

# Computes d1 = E l' and d2 = E l'' + Var l' where a marginal is so narrow that moments cancel.
narrow_custom <- function(logp, mu, s2, known, out) {
  narrow <- which(s2 > 1e-140 & abs(s2 * out$d2) < 1e-5 & s2 < known$width^2)
  if (length(narrow) == 0L) return(out)
  for (nodes in out$nodes) {
    of <- which(nodes$row %in% narrow)
    if (length(of) == 0L) next
    row <- nodes$row[of]
    slopes <- slopes_custom(logp, row, nodes$f[of], 0.02 * known$width[row])
    own <- unique(row)
    sums <- function(x) as.double(tapply(nodes$weight[of] * x, factor(row, own), sum))
    first <- sums(slopes$first)
    out$d1[own] <- first
    out$d2[own] <- sums(slopes$second) + sums(slopes$first^2) - first^2
  }
  out
}
