# Points of a box that are worth measuring: next_points().

#' @rdname next_rows
#' @export
next_points <- function(fit, within, k = 1, score = SCORES, n = 1000, allowed = NULL,
                        goal = c("min", "max"), best = NULL, target = NULL, target_weights = NULL,
                        measure = NULL, cost = NULL) {
  fit <- one_fit(fit)
  k <- check_count(k, "k")
  n <- check_count(n, "n", k)
  score <- check_score(score, fit, !is.null(cost))
  refuse_if(!is.null(cost) && !is.function(cost), "cost", "must be a function of points",
            "As in cost = function(points) 1 + points$x")
  refuse_if(missing(within), "within", "is missing",
            "Give the range of each variable, as in list(x = 0:1)")
  box <- check_box(within, "within")
  target <- target_for(fit, score, target, target_weights, measure,
                       function(most) target_of_data(fit, even_points(box, most)))
  refuse_unseen("within", blaming("within", inner = "candidates", {
    blaming("within", choose_points(fit, box, k, score, n, allowed, goal, best, target, cost))
  }))
}

# Chooses `k` points of a box, one after the other, each given those before.
choose_points <- function(fit, box, k, score, n, allowed, goal, best, target, cost) {
  rated <- function(values) function(points) {
    given <- candidate_rows(fit, points, NULL, NULL)
    replace(values(given, points), !allowed_rows(allowed, points, nrow(points)), -Inf)
  }
  pools <- list(points_within(box, n))
  if (ACQUISITIONS[[score]]$peaked) {
    means <- rated(function(given, points) goal_sign(goal) * improved_mean(fit, given$latent))
    pools <- c(pools, list(points_near(box, climb_from_best(box, pools, means, 1L)$point)))
  }
  taken <- NULL
  gain <- numeric()
  for (j in seq_len(k)) {
    batch <- batch_of(fit, taken, score, goal, best, target)
    scores <- rated(function(given, points) {
      values <- scores_of(beside(batch, given), score, seq_len(sum(given$complete)))
      if (is.null(cost)) values
      else ACQUISITIONS[[score]]$per_cost(values, costs_of_points(cost, points))
    })
    gradient <- if (is.null(cost)) gradient_beside(batch, box, score)
    found <- climb_from_best(box, pools, scores, 3L, gradient)
    taken <- rbind(taken, found$point)
    gain[j] <- found$value
  }
  structure(taken, row.names = seq_len(k), gain = gain,
            cost = if (!is.null(cost)) costs_of_points(cost, taken))
}

costs_of_points <- function(cost, points) {
  costs <- cost(points)
  if (is.numeric(costs) && length(costs) == nrow(points) && all(is.finite(costs)) &&
        all(costs > 0)) return(as.double(costs))
  stop_sparsegp("cost", paste0("must give a positive number for each of ", nrow(points), " points"),
                "Return a vector with one for each row of the data frame that it gets")
}

# Builds the lookahead of points that are taken, each with its label.
batch_of <- function(fit, taken, score, goal, best, target = NULL) {
  given <- if (!is.null(taken)) candidate_rows(fit, taken, NULL, NULL)
  Reduce(condition_on, seq_len(NROW(taken)), lookahead_for(fit, given, score, goal, best, target))
}

# Returns a function of a point that gives the slopes of its score by the numbers of a box, or NULL
# where they are to be had by differences alone: the score has none, or slopes() has none.
gradient_beside <- function(batch, box, score) {
  gradient <- ACQUISITIONS[[score]]$gradient(batch)
  numbers <- numbers_of(box)
  if (is.null(gradient) || !all(numbers %in% slope_variables(batch$fit))) return(NULL)
  if (!is.null(part_without_slope(batch$fit$spec, spec_columns(batch$fit$spec)))) return(NULL)
  function(point) gradient(batch, point, numbers)
}

# Draws a Latin hypercube.
points_within <- function(box, n) {
  columns <- lapply(box, function(of) {
    if (!is.numeric(of)) return(of[sample.int(length(of), n, replace = TRUE)])
    of[1L] + diff(of) * (sample.int(n) - stats::runif(n)) / n
  })
  data.frame(columns, check.names = FALSE)
}

# Draws points around one, which is among them, from a third of the box's width down to a
# thousandth. Improvement may be a narrow peak beside the best predicted mean, which a hypercube of
# many dimensions misses, while the mean leads there from afar.
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

# Returns the best point that climbing from the best few of each pool of points leads to.
climb_from_best <- function(box, pools, rate, starts, gradient = NULL) {
  climbed <- lapply(pools, function(points) {
    value <- rate(points)
    if (!any(value > -Inf)) stop_sparsegp("allowed", "excludes all points that were tried")
    lapply(utils::head(order(-value), starts), function(at) {
      climb(box, list(point = points[at, , drop = FALSE], value = value[at]), rate, gradient)
    })
  })
  climbed <- unlist(climbed, recursive = FALSE)
  climbed[[which.max(vapply(climbed, `[[`, 0, "value"))]]
}

# Moves the numbers of a point by optim(), on the box as if it were the unit cube. Slopes are those
# of `gradient`, or by differences, all in one call of `rate`, which makes predictions for many
# points at once.
climb <- function(box, start, rate, gradient = NULL) {
  WORST <- -1e10 # optim() wants numbers
  numbers <- numbers_of(box)
  if (length(numbers) == 0L) return(start)
  low <- vapply(box[numbers], `[`, 0, 1L)
  extent <- vapply(box[numbers], diff, 0)
  at <- function(u) { # a row for each point
    points <- start$point[rep(1L, nrow(u)), , drop = FALSE]
    points[numbers] <- as.data.frame(sweep(sweep(u, 2L, extent, "*"), 2L, low, "+"))
    points
  }
  value <- function(u) pmax(rate(at(u)), WORST)
  slope <- if (is.null(gradient)) function(u) slopes_by_differences(value, u)
           else function(u) gradient(at(rbind(u))) * extent
  size <- min(abs(start$value), 1) # optim() ends by absolute changes
  if (size == 0) size <- 1
  found <- stats::optim((unlist(start$point[numbers]) - low) / extent,
                        function(u) value(rbind(u)), slope, method = "L-BFGS-B", lower = 0,
                        upper = 1, control = list(fnscale = -size, maxit = 50))
  if (found$value <= start$value) start else list(point = at(rbind(found$par)), value = found$value)
}

# Returns slopes by central differences within the unit cube.
slopes_by_differences <- function(value, u) {
  STEP <- 1e-4
  p <- length(u)
  ends <- list(pmin(u + STEP, 1), pmax(u - STEP, 0))
  moved <- lapply(ends, function(end) `diag<-`(matrix(u, p, p, byrow = TRUE), end))
  values <- matrix(value(do.call(rbind, moved)), p)
  (values[, 1L] - values[, 2L]) / (ends[[1L]] - ends[[2L]])
}
