# The posterior density of the learned hyperparameters, log evidence plus log prior as a density of
# theta, and its shape around the mode: axes along which it is about independent, and on each side
# of each axis how far it reaches.

# Returns list(at, run): free values at the mode, and a function of free values that runs the fit's
# rows there, and gives a run with `value`, the log posterior density of theta up to the normaliser
# (-Inf where EP fails), and with `gradient` its slope. EP begins with sites that are foreseen from
# those of the mode and of the runs before.
hyper_surface <- function(fit) {
  problem <- problem_of_fit(fit)
  problem$options$tol <- policy$learn_tolerance
  table <- fit$hyper
  free <- which(table$free)
  foreseen <- site_forecast(fit, table$theta[free])
  run_at <- function(values, gradient = FALSE, posterior = FALSE) {
    theta <- replace(table$theta, free, values)
    run <- engine_run(problem, theta, foreseen$sites(values), gradient, posterior, restart = TRUE)
    if (run$usable) foreseen$note(values, run)
    prior <- hyper_log_density(table, theta)
    run$logz <- run$logz + (run$log_jacobian %||% 0)
    run$value <- if (run$usable) run$logz + prior$value else -Inf
    if (gradient && run$usable) run$slope <- run$gradient[free] + prior$gradient
    run$theta <- theta
    run
  }
  list(at = table$theta[free], run = run_at)
}

# Returns functions that foresee sites at free values, as linear in these, from runs that are noted:
# by the combination of steps from the mode that is nearest to the one in question. What is linear
# is, where all precisions are positive, their logarithm and the sites' means. Sites of Gaussian
# noise need no forecast.
site_forecast <- function(fit, at) {
  MOST <- 40L # runs
  RIDGE <- 1e-6
  mode <- fit$sites[c("tau", "nu")]
  none <- list(sites = function(values) mode, note = function(values, run) NULL)
  if (lik_traits(fit$likelihood)$exact) return(none)
  positive <- length(mode$tau) == length(mode$nu) && all(mode$tau > 0)
  seen <- if (positive) function(sites) c(log(sites$tau), sites$nu / sites$tau)
          else function(sites) c(sites$tau, sites$nu)
  steps <- moves <- NULL
  foresee <- function(values) {
    if (is.null(steps)) return(mode)
    gram <- crossprod(steps)
    by <- solve(gram + diag(RIDGE * max(diag(gram)), ncol(steps)), crossprod(steps, values - at))
    found <- seen(mode) + drop(moves %*% by)
    tau <- found[seq_along(mode$tau)]
    nu <- found[-seq_along(mode$tau)]
    if (positive) tau <- exp(tau)
    list(tau = replace(mode$tau, TRUE, tau),
         nu = replace(mode$nu, TRUE, if (positive) tau * nu else nu))
  }
  note <- function(values, run) {
    if (all(values == at) || NCOL(steps) >= MOST || positive && any(run$tau <= 0)) return(NULL)
    steps <<- cbind(steps, values - at)
    moves <<- cbind(moves, seen(run) - seen(mode))
  }
  list(sites = foresee, note = note)
}

# ---- Axes ----

# Returns the matrix A whose columns are the axes: theta = mode + A z with z standard normal is the
# posterior by its curvature, which is in units of the priors' spreads. In these an axis reaches at
# most as far as the prior does: evidence that is flat, or rises, adds nothing to what the prior
# says. `flat`: such axes; `bend`: the curvature along axes, 1 unless they are flat. positive: which
# hyperparameters have a scale that begins at 0.
hyper_axes <- function(curvature, spreads, positive = rep(TRUE, length(spreads))) {
  found <- eigen(curvature, symmetric = TRUE)
  axes <- fix_signs(found$vectors, positive)
  list(A = spreads * axes %*% diag(1 / sqrt(pmax(found$values, 1)), length(spreads)),
       bend = found$values / pmax(found$values, 1), flat = found$values < 1 - 1e-8)
}

# Returns eigenvectors with signs of their own, as those of LAPACK are up to rounding, and so to the
# order of rows and columns: large values of the positive hyperparameter that an axis is mostly of
# are ahead. Others, such as a bias, have no sense of direction: with the levels of two classes
# exchanged the axes are mirrored.
fix_signs <- function(vectors, positive) {
  size <- abs(vectors) * ifelse(positive, 1, 1e-6)
  main <- apply(size, 2L, function(own) which(own > (1 - 1e-6) * max(own))[1L])
  vectors * rep(ifelse(vectors[cbind(main, seq_along(main))] < 0, -1, 1), each = nrow(vectors))
}

# ---- Both sides of an axis ----

# Densities are evaluated at these widths of a side: at sqrt(2) a normal one has fallen by 1 nat.
KNOTS <- c(sqrt(2), 3, 5)

# Returns, for each axis, its two sides, list(width, knots, fall, runs): the distances that were
# looked at in increasing order, by how much the log density has fallen there, and the runs; `near`:
# which of them is about sqrt(2) widths away. By the first look a side has its width: where the
# density has fallen by d at sqrt(2) it is 1 / sqrt(d), and it is looked at again at that width
# where it is another (Rue, Martino and Chopin 2009, section 6.5). The side towards small values,
# minus, is looked at first, as at short length scales functions change most: where predictions
# hardly move there, the other side follows from the curvature. axes: see hyper_axes(); own:
# row_moments() at the mode
axis_sides <- function(fit, surface, axes, middle, own) {
  lapply(seq_along(axes$bend), function(j) {
    look <- function(direction) with_moments(first_look(new_side(direction), surface, middle), fit)
    minus <- look(-axes$A[, j])
    plus <- if (moves_little(minus$moments, own)) other_side(minus, axes$bend[j])
            else look(axes$A[, j])
    list(minus = minus, plus = plus)
  })
}

new_side <- function(direction) {
  list(direction = direction, knots = numeric(), fall = numeric(), runs = list())
}

# Adds the row_moments() of the first look, if EP did not fail there.
with_moments <- function(side, fit) {
  run <- side$runs[[side$near]]
  if (is.finite(run$value)) side$moments <- row_moments(fit, run)
  side
}

# Do predictions change too little along one side of an axis to integrate over it? The measure is
# the squared change of means, in posterior variances, and of variances, in proportion.
moves_little <- function(moved, own) {
  if (is.null(moved)) return(FALSE)
  each <- (moved$mean - own$mean)^2 / own$var + (moved$var / own$var - 1)^2
  # squares at sqrt(2) standard deviations are twice those of one
  isTRUE(mean(each[is.finite(each)]) / 2 <= policy$integrated_axis)
}

# Returns the side opposite to one that was looked at: bend d^2 - fall has it fallen at the distance
# d, with terms of third order, where bend is the curvature along the axis.
other_side <- function(side, bend) {
  d <- side$knots[side$near]
  fall <- bend * d^2 - side$fall[side$near]
  c(new_side(-side$direction)["direction"],
    list(knots = d, fall = fall, runs = list(NULL), near = 1L, follows = TRUE,
         width = width_by(d / KNOTS[1L], fall)))
}

# Returns the width of a side whose density has fallen by this at sqrt(2) times `distance`.
width_by <- function(distance, fall) {
  LEAST <- 0.25
  MOST <- 3
  min(max(distance / sqrt(max(fall, (distance / MOST)^2)), LEAST), MOST)
}

# Looks at a side once, or twice where its width is another than by the curvature.
first_look <- function(side, surface, middle) {
  ALIKE <- c(0.75, 1.33)
  side$width <- 1
  for (look in 1:2) {
    before <- side$width
    side <- look_at(side, KNOTS[1L] * before, surface, middle)
    side$near <- which(side$knots == KNOTS[1L] * before)
    side$width <- width_by(before, side$fall[side$near])
    if (side$width > ALIKE[1L] * before && side$width < ALIKE[2L] * before) break
  }
  side
}

# Adds a run at a distance.
look_at <- function(side, distance, surface, middle) {
  run <- surface$run(surface$at + distance * side$direction, posterior = TRUE)
  order <- order(c(side$knots, distance))
  side$knots <- c(side$knots, distance)[order]
  side$fall <- c(side$fall, middle$value - run$value)[order]
  side$runs <- c(side$runs, list(run))[order]
  side
}

# Looks further out: tails may be longer than those of a normal density, and the last knot decides
# where the density at the one before has not fallen as much.
look_farther <- function(side, surface, middle) {
  SHORT <- 0.85 # of a normal density's fall
  for (knot in KNOTS[-1L]) {
    side <- look_at(side, knot * side$width, surface, middle)
    if (side$fall[length(side$fall)] > SHORT * knot^2 / 2) break
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

# Returns the place below which the density has the probability pnorm(z).
place_on_axis <- function(density, z) {
  stats::approx(density$probability, density$x, stats::pnorm(z), rule = 2L, ties = "ordered")$y
}

# ---- What moves with an axis ----

# Returns, for each axis, by how much the variances of leave-one-out predictions are larger where it
# is integrated over, relative to those at the mode, on average over the rows: by the law of total
# variance, from the means and variances on both sides. own: row_moments() at the mode
axis_effects <- function(sides, own) {
  vapply(sides, function(pair) {
    each <- Filter(length, lapply(pair, `[[`, "moments"))
    follows <- vapply(pair, function(side) isTRUE(side$follows), NA)
    if (any(follows) || length(each) == 0L) return(0)
    # sides are at sqrt(2) standard deviations, where squares are twice those of one
    more <- Reduce(`+`, lapply(each, function(one) {
      (one$mean - own$mean)^2 + one$var - own$var
    })) / (2 * length(each))
    mean((more / own$var)[is.finite(own$var)], na.rm = TRUE)
  }, 0)
}

# Returns leave-one-out means and variances of the rows under a run.
row_moments <- function(fit, run) {
  MOST <- 100L # rows, evenly spaced: averages need no more
  fit <- keep_moments(at_theta_of(fit, run), run)
  w <- n_outputs(fit)
  latent <- loo_latent(fit)
  latent <- expand_latent(latent, w)
  if (fit$n > MOST) {
    latent <- some_latent(latent, unique(round(seq(1, fit$n, length.out = MOST))), w)
  }
  moments_of_rows(fit, latent)
}

# Returns means and variances by which runs are compared.
moments_of_rows <- function(fit, latent) UseMethod("moments_of_rows", codec_of(fit))

# The moments are those of the mean response, such as a probability.
#' @export
moments_of_rows.response <- function(fit, latent) {
  if_responses(list(mean = mean_response(fit, latent),
                    var = standard_deviation(fit, latent, "response")^2), latent)
}

# Returns moments of new responses, if they have any, on the fitted scale unless that is learned.
#' @export
moments_of_rows.response_numbers <- function(fit, latent) {
  if (is.null(scale_parameter(fit$likelihood))) {
    return(if_responses(engine_lik_predict(fit, seen_mean(fit, latent), latent$var), latent))
  }
  moments <- response_moments(fit, latent)
  list(mean = moments$mean, var = moments$sd^2)
}

# Subtracts the mean of a row's latent functions, on which probabilities do not depend.
#' @export
moments_of_rows.response_classes <- function(fit, latent) {
  mean <- to_link(fit, latent$mean, 0)
  share <- 1 / ncol(mean)
  list(mean = mean - rowMeans(mean),
       var = (1 - 2 * share) * latent$var + share^2 * rowSums(latent$var))
}

# The moments are those of all latent values of a row.
#' @export
moments_of_rows.response_components <- function(fit, latent) {
  list(mean = latent$mean, var = own_variances(latent$var, n_outputs(fit)))
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
