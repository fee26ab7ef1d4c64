# Points of a box that are worth measuring: next_points().

#' @rdname next_rows
#' @export
next_points <- function(fit, within, k = 1, score = SCORES, n = 1000, allowed = NULL,
                        goal = c("min", "max"), best = NULL) {
  fit <- ready(check_fit_or_waiting(fit, "fit"))
  k <- check_count(k, "k")
  n <- check_count(n, "n", k)
  score <- check_score(score, fit)
  if (missing(within)) {
    stop_sparsegp("within", "is missing", "Give the range of each variable, as in list(x = 0:1)")
  }
  box <- check_box(within)
  refuse_unseen("within", blaming("within", inner = "candidates", {
    blaming("within", choose_points(fit, box, k, score, n, allowed, goal, best))
  }))
}

# Chooses `k` points of a box, one after the other, each given those before.
choose_points <- function(fit, box, k, score, n, allowed, goal, best) {
  pools <- list(points_within(box, n))
  if (score == "improvement") {
    means <- function(new) rate_means(fit, new, goal_sign(goal), allowed)
    pools <- c(pools, list(points_near(box, climbed_from(box, pools[[1L]], 1L, means)$point)))
  }
  taken <- NULL
  gain <- numeric()
  start <- prospect_for(fit, NULL, score, goal, best)
  for (j in seq_len(k)) {
    before <- batch_so_far(start, taken)
    rate <- function(new) rate_points(before, new, score, allowed)
    found <- polished(box, pools, rate)
    taken <- rbind(taken, found$point)
    gain[j] <- found$value
  }
  structure(taken, row.names = seq_len(k), gain = gain)
}

# A named list: ranges of numbers, values of others.
check_box <- function(within) {
  if (is.matrix(within)) within <- as.data.frame(within)
  good <- is.list(within) && length(within) > 0L && !is.null(names(within)) &&
    all(nzchar(names(within)))
  if (!good) {
    stop_sparsegp("within", "must be a list with a name for each variable",
                  "Write list(x = c(0, 1), z = c(-5, 5))")
  }
  lapply(stats::setNames(nm = names(within)), function(name) {
    of <- within[[name]]
    if (!is.numeric(of)) return(unique(of))
    if (length(of) < 2L || !all(is.finite(of)) || min(of) == max(of)) {
      stop_sparsegp("within", paste0("has no range for ", name), "Give two different numbers")
    }
    range(of)
  })
}

# A Latin hypercube.
points_within <- function(box, n) {
  columns <- lapply(box, function(of) {
    if (!is.numeric(of)) return(of[sample.int(length(of), n, replace = TRUE)])
    of[1L] + diff(of) * (sample.int(n) - stats::runif(n)) / n
  })
  data.frame(columns, check.names = FALSE)
}

# Where much is known, improvement is a narrow peak beside the best point, which a hypercube of many
# dimensions misses, while the predicted mean leads there from afar. So these are points around the
# mean's best one, which is one of them, from a third of the box's width down to a thousandth.
points_near <- function(box, point, count = 200L) {
  near <- point[rep(1L, count), , drop = FALSE]
  reach <- c(0, 10^-stats::runif(count - 1L, 0.5, 3))
  for (name in numbers_of(box)) {
    of <- box[[name]]
    moved <- near[[name]] + diff(of) * reach * stats::rnorm(count)
    near[[name]] <- pmin(pmax(moved, of[1L]), of[2L])
  }
  near
}

numbers_of <- function(box) names(box)[vapply(box, is.numeric, NA)]

# A prospect of the points taken, each expected to have its label; start: of no points.
batch_so_far <- function(start, taken) {
  if (is.null(taken)) return(start)
  given <- candidate_rows(start$fit, taken, NULL, NULL, NULL)
  prospect <- replace(start, c("x", "latent"), list(given$x, given$latent))
  prospect$gone <- no_labels(start$fit, given$x)
  for (row in seq_len(nrow(taken))) prospect <- expect_label(prospect, row)
  with_solver(prospect)
}

# Scores of new points once those taken have their labels; -Inf where they are not allowed.
rate_points <- function(before, new, score, allowed) {
  given <- candidate_rows(before$fit, new, NULL, NULL, NULL)
  only_allowed(scores_of(beside(before, given), score, seq_len(nrow(new))), allowed, new)
}

only_allowed <- function(values, allowed, points) {
  values[!allowed_rows(allowed, points, nrow(points))] <- -Inf
  values
}

# Predicted means, the best the largest.
rate_means <- function(fit, new, sign, allowed) {
  given <- candidate_rows(fit, new, NULL, NULL, NULL)
  only_allowed(sign * improved_mean(fit, given$latent), allowed, new)
}

# The best point after the best few of each pool of points have climbed.
polished <- function(box, pools, rate) {
  STARTS <- 3L
  found <- lapply(pools, climbed_from, box = box, starts = STARTS, rate = rate)
  found[[which.max(vapply(found, `[[`, 0, "value"))]]
}

climbed_from <- function(box, points, starts, rate) {
  value <- rate(points)
  if (!any(value > -Inf)) stop_sparsegp("allowed", "excludes all points that were tried")
  first <- utils::head(order(-value), starts)
  numbers <- numbers_of(box)
  climbed <- if (length(numbers)) lapply(first, function(at) climb(box, points[at, , drop = FALSE],
                                                                  numbers, rate))
  climbed <- c(list(list(point = points[first[1L], , drop = FALSE], value = value[first[1L]])),
               climbed)
  climbed[[which.max(vapply(climbed, `[[`, 0, "value"))]]
}

# optim() on the box as if it were the unit cube; slopes by differences, all in one call.
climb <- function(box, start, numbers, rate) {
  WORST <- -1e10 # optim() wants numbers
  low <- vapply(box[numbers], `[`, 0, 1L)
  width <- vapply(box[numbers], diff, 0)
  at <- function(u) { # a row for each point
    points <- start[rep(1L, nrow(u)), , drop = FALSE]
    points[numbers] <- as.data.frame(sweep(sweep(u, 2L, width, "*"), 2L, low, "+"))
    points
  }
  value <- function(u) pmax(rate(at(u)), WORST)
  slope <- function(u) {
    h <- 1e-4
    up <- pmin(u + h, 1)
    down <- pmax(u - h, 0)
    p <- length(u)
    moved <- rbind(`diag<-`(matrix(u, p, p, byrow = TRUE), up),
                   `diag<-`(matrix(u, p, p, byrow = TRUE), down))
    values <- value(moved)
    (values[seq_len(p)] - values[p + seq_len(p)]) / (up - down)
  }
  u <- (unlist(start[numbers]) - low) / width
  found <- stats::optim(u, function(u) value(rbind(u)), slope, method = "L-BFGS-B", lower = 0,
                        upper = 1, control = list(fnscale = -1, maxit = 50))
  list(point = at(rbind(found$par)), value = found$value)
}
