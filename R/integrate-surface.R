# The posterior density of the learned hyperparameters, log evidence plus log prior as a density of
# theta, and its shape around the mode: axes along which it is about independent, and on each side
# of each axis how far it reaches.

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
    run <- engine_run(problem, theta, fit$sites[c("tau", "nu")], gradient, posterior,
                      restart = TRUE)
    prior <- hyper_log_density(table, theta)
    run$logz <- run$logz + (run$log_jacobian %||% 0)
    run$value <- if (run$usable) run$logz + prior$value else -Inf
    if (gradient && run$usable) run$slope <- run$gradient[free] + prior$gradient
    run$theta <- theta
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

# ---- Both sides of an axis ----

# Densities are evaluated at these widths of a side: at sqrt(2) a normal one has fallen by 1 nat.
KNOTS <- c(sqrt(2), 3, 5)

# Returns, for each axis, its two sides, list(width, knots, fall, run): the distances that were
# looked at and by how much the log density has fallen there; the run at the first of them.
# By the first the side has its width: where the density has fallen by d at sqrt(2) it is
# 1 / sqrt(d), and it is tried once more at that width where it is another (Rue, Martino and Chopin
# 2009, section 6.5).
axis_sides <- function(surface, axes, middle) {
  lapply(seq_len(ncol(axes)), function(j) {
    lapply(c(minus = -1, plus = 1), function(side) first_look(surface, side * axes[, j], middle))
  })
}

first_look <- function(surface, direction, middle) {
  LEAST <- 0.25
  MOST <- 3
  ALIKE <- c(0.75, 1.33)
  look <- function(width) {
    run <- surface$run(surface$at + KNOTS[1L] * width * direction)
    fall <- middle$value - run$value
    new <- width / sqrt(max(fall, (width / MOST)^2))
    list(width = width, knots = KNOTS[1L] * width, fall = fall, run = run,
         new = min(max(new, LEAST), MOST), direction = direction)
  }
  found <- look(1)
  if (found$new < ALIKE[1L] || found$new > ALIKE[2L]) found <- look(found$new)
  found$width <- found$new
  found
}

# The same looked at farther out: tails may be longer than those of a normal density, and the last
# knot tells where the one before has not fallen as much.
look_farther <- function(side, surface, middle) {
  SHORT <- 0.85 # of a normal density's fall
  for (knot in KNOTS[-1L]) {
    run <- surface$run(surface$at + knot * side$width * side$direction)
    side$knots <- c(side$knots, knot * side$width)
    side$fall <- c(side$fall, middle$value - run$value)
    if (middle$value - run$value > SHORT * knot^2 / 2) break
  }
  side
}

# ---- Densities along an axis ----

# Returns the density along an axis, list(x, log_density, probability) on a fine grid, normalised,
# and its `mass`, relative to the height at the middle, of a density that is that of the normal
# distribution, in widths of its side, times exp(e): e is linear between the knots and constant
# beyond them.
axis_density <- function(sides) {
  FAR <- 8
  CELLS <- 400L
  half <- function(side) {
    t <- FAR * seq_len(CELLS) / CELLS
    # no mode where the evidence rises without end, as it does of lik_density()
    excess <- pmin(pmax((side$knots / side$width)^2 / 2 - side$fall, -FAR^2), FAR^2)
    excess <- stats::approx(c(0, side$knots / side$width), c(0, excess), t, rule = 2L)$y
    list(x = side$width * t, log_density = excess - t^2 / 2)
  }
  minus <- half(sides$minus)
  plus <- half(sides$plus)
  x <- c(-rev(minus$x), 0, plus$x)
  log_density <- c(rev(minus$log_density), 0, plus$log_density)
  density <- exp(log_density)
  cells <- diff(x) * (density[-1L] + density[-length(x)]) / 2
  list(x = x, log_density = log_density - log(sum(cells)), mass = sum(cells),
       probability = c(0, cumsum(cells)) / sum(cells))
}

normal_axis <- function() {
  side <- list(width = 1, knots = KNOTS[1L], fall = 1)
  axis_density(list(minus = side, plus = side))
}

# Returns the place below which the density has the probability pnorm(z).
place_on_axis <- function(density, z) {
  stats::approx(density$probability, density$x, stats::pnorm(z), rule = 2L, ties = "ordered")$y
}

log_density_on_axis <- function(density, x) {
  stats::approx(density$x, density$log_density, x, rule = 2L)$y
}

# ---- What moves with an axis ----

# Returns, for each axis, by how much the variances of leave-one-out predictions are larger where it
# is integrated over, relative to those at the mode, on average over the rows: by the law of total
# variance, from the means and variances on both sides.
axis_effects <- function(fit, middle, sides) {
  own <- row_moments(fit, middle)
  vapply(sides, function(pair) {
    runs <- Filter(function(run) is.finite(run$value), lapply(pair, `[[`, "run"))
    if (length(runs) == 0L) return(0)
    each <- lapply(runs, function(run) row_moments(fit, run))
    # sides are at sqrt(2) standard deviations, where squares are twice those of one
    more <- Reduce(`+`, lapply(each, function(one) {
      (one$mean - own$mean)^2 + one$var - own$var
    })) / (2 * length(each))
    mean((more / own$var)[is.finite(own$var)], na.rm = TRUE)
  }, 0)
}

# Leave-one-out means and variances of the rows under a run: of new responses where these are
# numbers that have moments, on the fitted scale unless that is learned; else of the mean response,
# as of a probability; of several latent functions less their mean in a row, of which probabilities
# do not know; of several latent values in a row theirs.
row_moments <- function(fit, run) {
  fit <- keep_moments(at_theta_of(fit, run), run)
  latent <- loo_latent(fit)
  codec <- codec_of(fit)
  if (processes(fit) > 1L) {
    mean <- to_link(fit, latent$mean, 0)
    share <- 1 / ncol(mean)
    return(list(mean = mean - rowMeans(mean),
                var = (1 - 2 * share) * latent$var + share^2 * rowSums(latent$var)))
  }
  w <- n_outputs(fit)
  if (w > 1L) {
    return(list(mean = latent$mean, var = c(matrix(latent$var, w^2)[seq(1L, w^2, w + 1L), ])))
  }
  if (!is.null(scale_parameter(fit$likelihood))) {
    moments <- response_moments(fit, latent)
    return(list(mean = moments$mean, var = moments$sd^2))
  }
  if_responses(if (codec$scaled) engine_lik_predict(fit, seen_mean(fit, latent), latent$var)
               else list(mean = mean_response(fit, latent),
                         var = standard_deviation(fit, latent, "response")^2), latent)
}

# Returns the fit at the hyperparameters of a run.
at_theta_of <- function(fit, run) {
  fit$hyper$theta <- run$theta
  if (!is.null(scale_parameter(fit$likelihood))) {
    fit$response$scale[["value"]] <- scale_value(fit$likelihood, fit$hyper$theta,
                                                 fit$response$scale)
  }
  fit
}
