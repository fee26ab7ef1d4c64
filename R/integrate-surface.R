# The posterior density of the learned hyperparameters, log evidence plus log prior as a density of
# theta, and its shape around the mode: axes along which it is about independent, and on each side of
# each axis how far it reaches.

# Returns list(at, run): free values at the mode, and a function of free values that runs the fit's
# rows there, from the mode's sites, and gives a run with `value`, the log posterior density of
# theta up to the normaliser (-Inf where EP fails), and with `gradient` its slope.
hyper_surface <- function(fit) {
  problem <- problem_of_fit(fit)
  problem$options$tol <- policy$member_tolerance
  table <- fit$hyper
  free <- which(table$free)
  run_at <- function(values, gradient = FALSE, posterior = FALSE) {
    theta <- replace(table$theta, free, values)
    run <- engine_run(problem, theta, fit$sites[c("tau", "nu")], gradient, posterior)
    if (run$status != 0L || !run$converged) {
      run <- engine_run(problem, theta, NULL, gradient, posterior)
    }
    good <- run$status == 0L && (run$converged || run$change <= NEAR) &&
      !is_impossible(problem$lik, run$logz, problem_rows(problem))
    prior <- hyper_log_density(table, theta)
    run$logz <- run$logz + (run$log_jacobian %||% 0)
    run$value <- if (good) run$logz + prior$value else -Inf
    if (gradient && good) run$slope <- run$gradient[free] + prior$gradient
    run
  }
  list(at = table$theta[free], run = run_at)
}

# ---- Axes ----

# Returns the matrix A whose columns are the axes: theta = mode + A z with z standard normal is the
# posterior by its curvature, from differences of exact gradients. In units of the priors' spreads
# an axis reaches at most as far as the prior does: evidence that is flat, or rises, adds nothing to
# what the prior says. `flat`: such axes.
hyper_axes <- function(surface, middle, spreads) {
  STEP <- 0.01
  slopes <- vapply(seq_along(surface$at), function(j) {
    step <- STEP * min(spreads[j], 1)
    for (side in c(1, -1)) {
      run <- surface$run(replace(surface$at, j, surface$at[j] + side * step), gradient = TRUE)
      if (!is.null(run$slope)) return(-(run$slope - middle$slope) / (side * step))
    }
    replace(numeric(length(spreads)), j, 1 / spreads[j]^2)
  }, spreads)
  curvature <- (slopes + t(slopes)) / 2 * (spreads %o% spreads)
  found <- eigen(matrix(curvature, length(spreads)), symmetric = TRUE)
  list(A = spreads * found$vectors %*% diag(1 / sqrt(pmax(found$values, 1)), length(spreads)),
       flat = found$values < 1)
}

# How far the posterior reaches on the two sides of each axis, in units of the axis: a matrix of two
# columns, minus and plus. At z = sqrt(2) a normal density has fallen by 1 nat; where it has fallen
# by d there the side is of the width 1 / sqrt(d) (Rue, Martino and Chopin 2009, section 6.5), and
# is tried once more at that width where it is another. Also the moments of the rows there.
side_widths <- function(surface, axes, middle) {
  LEAST <- 0.25
  MOST <- 3
  ALIKE <- c(0.75, 1.33)
  try <- function(direction, width) {
    run <- surface$run(surface$at + sqrt(2) * width * direction)
    fall <- middle$value - run$value
    list(run = run, width = width / sqrt(max(fall, (width / MOST)^2)))
  }
  one_side <- function(direction) {
    found <- try(direction, 1)
    again <- found$width < ALIKE[1L] || found$width > ALIKE[2L]
    if (again) found <- try(direction, min(max(found$width, LEAST), MOST))
    found$width <- min(max(found$width, LEAST), MOST)
    found
  }
  sides <- lapply(c(-1, 1), function(side) {
    lapply(seq_len(ncol(axes)), function(j) one_side(side * axes[, j]))
  })
  widths <- vapply(sides, function(side) vapply(side, `[[`, 0, "width"), numeric(ncol(axes)))
  list(widths = matrix(widths, ncol = 2L),
       runs = lapply(sides, function(side) lapply(side, `[[`, "run")))
}

# ---- What moves with an axis ----

# Returns, for each axis, by how much the variances of leave-one-out predictions are larger where it
# is integrated over, relative to those at the mode, on average over the rows: by the law of total
# variance, from the means and variances one standard deviation or so to both sides.
axis_effects <- function(fit, middle, runs) {
  own <- row_moments(fit, middle)
  vapply(seq_along(runs[[1L]]), function(j) {
    sides <- lapply(runs, function(side) side[[j]])
    sides <- Filter(function(run) is.finite(run$value), sides)
    if (length(sides) == 0L) return(0)
    each <- lapply(sides, function(run) row_moments(fit, run))
    # sides are at sqrt(2) standard deviations, where squares are twice those of one
    more <- Reduce(`+`, lapply(each, function(one) {
      (one$mean - own$mean)^2 + one$var - own$var
    })) / (2 * length(each))
    mean(more / own$var)
  }, 0)
}

# Leave-one-out means and variances of the rows, of responses where noise is Gaussian.
row_moments <- function(fit, run) {
  w <- n_outputs(fit)
  var <- c(matrix(run$cav_var, w * w)[seq(1L, w * w, w + 1L), ])
  exact <- w == 1L && lik_traits(fit$likelihood)$exact
  list(mean = c(run$cav_mean), var = if (exact) var + 1 / c(run$tau) else var)
}
