# Distributions of new responses under likelihoods that are R functions, where the posterior of the
# latent function is wider than the noise: means over nodes of the latent value are those of a
# comb, unless the responses given neighbouring nodes overlap.

MOST_TIMES <- 16L # as many nodes; beyond, noise is less than a thirtieth of the posterior

# Returns what by_blocks() does, of `each` numbers a row: those of of_nodes(own, at, nodes), with as
# many nodes as the rows `at` need, or those of of_narrow(own, at, location) of rows whose noise is
# hardly anything, see location_of(). own: what their functions are asked with
by_overlap <- function(own, mean, var, each, of_nodes, of_narrow) {
  custom <- own$custom
  by_blocks(custom, mean, each, function(at) {
    some <- function(rows, times) {
      nodes <- latent_nodes(custom, some_means(custom, mean, rows), some_vars(custom, var, rows),
                            times)
      of_nodes(asked_at(own, rows), rows, nodes)
    }
    if (!is.null(custom$components)) return(some(at, 1L))
    found <- matrix(0, each, length(at))
    location <- remembered(custom$memory, at, function() {
      location_of(asked_at(own, at), mean[at], c(var)[at])
    })
    for (times in unique(location$times)) {
      which <- which(location$times == times)
      for (part in split(which, ceiling(seq_along(which) * min(times, MOST_TIMES) / 200))) {
        found[, part] <- if (times <= MOST_TIMES) some(at[part], times)
                         else of_narrow(asked_at(own, at[part]), at[part], location$of(part))
      }
    }
    found
  })
}

# Returns the fit with memory for what distributions of new responses at the same marginals have in
# common, whatever the response: a root is found by some forty values of them.
with_memory <- function(object) {
  if (!is.null(object$likelihood$custom)) {
    object$likelihood$custom$memory <- new.env(parent = emptyenv())
  }
  object
}

# Returns what make() does for these rows, made once where there is a memory.
remembered <- function(memory, rows, make) {
  if (is.null(memory)) return(make())
  key <- paste(range(rows), collapse = " to ")
  if (is.null(memory[[key]])) memory[[key]] <- make()
  memory[[key]]
}

# Returns how many times the usual nodes each row of one latent function needs, `times`, a power of
# two: half a standard deviation of it moves the median of the response by no more than half of the
# central 68 % of the response, at and beside the mean. of(rows): the sign with which the median
# moves, and the median at a number of standard deviations from the mean.
location_of <- function(own, mean, var) {
  sd <- sqrt(var)
  quantile <- CUSTOM_SUMS[[own$custom$response]]$quantile
  at_sds <- function(z, p, rows = seq_along(mean)) {
    quantile(asked_at(own, rows), p, list(f = list(cbind(mean[rows] + sd[rows] * z)), weight = 1))
  }
  to <- (NUMBER_SCALES[[own$custom$response]] %||% NUMBER_SCALES$number)$to
  moves <- function(z) to(at_sds(z + 0.25, 0.5)) - to(at_sds(z - 0.25, 0.5))
  width <- function(z) (to(at_sds(z, 0.84)) - to(at_sds(z, 0.16))) / 2
  least <- if (own$custom$response == "count") 0.5 else 0
  steps <- vapply(c(-2, 0, 2), moves, mean)
  ratio <- abs(steps) / pmax(vapply(c(-2, 0, 2), width, mean), least)
  dim(steps) <- dim(ratio) <- c(length(mean), 3L)
  need <- apply(ratio, 1L, function(ratio) max(1, ratio[is.finite(ratio)]))
  rises <- rowSums(steps > 0)
  falls <- rowSums(steps < 0)
  turns <- rises > 0 & falls > 0
  times <- pmin(2^ceiling(log2(need)), ifelse(turns, MOST_TIMES, 2 * MOST_TIMES))
  list(times = times, of = function(rows) {
    list(sign = ifelse(rises[rows] >= falls[rows], 1, -1), to = to,
         median = function(z) at_sds(z, 0.5, rows))
  })
}

# Returns normal quantiles of the probabilities of less than responses y, where noise is hardly
# anything.
standing_of <- function(location, y) {
  excess <- function(z) {
    away <- location$to(location$median(location$sign * z)) - location$to(y)
    pmin(pmax(away, -1e300), 1e300)
  }
  bound <- rep(40, length(y))
  ends <- list(from = -bound, to = bound, low = excess(-bound), high = excess(bound))
  z <- zeros_between(excess, ends)
  ifelse(ends$low > 0, -40, ifelse(ends$high < 0, 40, z))
}

# ---- Tails and quantiles ----

# Probabilities of less and of more than responses, see engine_lik_tails(). rows: data rows
custom_tails <- function(custom, theta, rows, mean, var) {
  own <- asked_with(custom, theta, rows[-(1:2), , drop = FALSE])
  tails <- by_overlap(own, mean, var, 2L, function(own, at, nodes) {
    found <- CUSTOM_SUMS[[custom$response]]$tails(own, rows[1L, at], nodes)
    rbind(found$below, found$above)
  }, function(own, at, location) {
    z <- standing_of(location, rows[1L, at])
    rbind(stats::pnorm(z), stats::pnorm(-z))
  })
  list(below = tails[1L, ], above = tails[2L, ])
}

custom_quantile <- function(custom, theta, rows, mean, var, p) {
  own <- asked_with(custom, theta, rows[-(1:2), , drop = FALSE])
  p <- rep_len(p, ncol(rows))
  c(by_overlap(own, mean, var, 1L, function(own, at, nodes) {
    CUSTOM_SUMS[[custom$response]]$quantile(own, p[at], nodes)
  }, function(own, at, location) rbind(location$median(location$sign * stats::qnorm(p[at])))))
}
