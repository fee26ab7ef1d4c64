# Fits that are integrated over their hyperparameters: ensembles (posterior-ensemble.R) of the fits
# at points of a rule, weighted by the posterior density there.

RULES <- c("none", "laplace", "ccd", "grid", "mcmc")

# Returns the fit, integrated where that was asked for, or by default where it pays. setup: of the
# fit (api-sparsegp.R)
integrated_fit <- function(fit, setup) {
  how <- setup$integrate
  past <- fit$past
  fit$past <- NULL
  if (identical(how, "none") || is.null(how) && !is_integrated_by_default(fit, setup)) return(fit)
  if (!is.null(how)) refuse_not_integrable(fit, how)
  progress <- open_progress(line_display(setup$verbose))
  on.exit(close_progress(progress))
  begin_stage("integrating over hyperparameters")
  shape <- posterior_shape(fit, past)
  # where EP has no fixed point at the mode or beside it the shape is not a number, too
  if (is.null(how) && !isTRUE(shape$widening > policy$integrated_widening)) return(fit)
  refuse_if(!is.finite(shape$middle$value),
            "integrate", "is impossible: EP has no fixed point at the learned values",
            "Use gp_control(integrate = \"none\")")
  ensemble_at(fit, shape, how %||% "ccd")
}

# By default: default fits of few rows by full EP, whose hyperparameters were learned by the
# evidence, and that are no ensemble of another kind.
is_integrated_by_default <- function(fit, setup) {
  leaves_open(setup$method) && fit$n * n_outputs(fit) <= policy$integrated_rows &&
    every_row_in_basis(fit) && is.null(what_forbids_integrals(fit)) &&
    sum(fit$hyper$free) <= policy$integrated_parameters && fit$convergence$converged
}

# Returns what is wrong with integrals over the hyperparameters of a fit, and what to do, or NULL.
what_forbids_integrals <- function(fit) {
  if (!has_rows(fit) || !is.null(fit$source)) {
    c("is for rows in memory, and these are a stream or a source", "Fit some of them at once")
  } else if (!any(fit$hyper$free)) {
    c("is for hyperparameters that are learned, and all are given by fixed()",
      "Give at least one of them as a number, at which its search begins, or leave `integrate` out")
  } else if (is.null(fit$learning)) {
    c("is for hyperparameters that are learned", "Fit with learn = TRUE")
  } else if (inherits(codec_of(fit), "response_coupled")) {
    c("is for classes that are independent in the posterior", "Use lik_mprobit(coupled = FALSE)")
  } else if (lik_traits(fit$likelihood)$even) {
    c("is not for lik_density(), whose evidence grows without end with the size of f",
      "Use gp_density(), which has the integral of f^2")
  } else if (is_modal(fit$likelihood)) {
    c("is not for measurements whose posterior may have several modes", "See modes()")
  } else if (!is.null(fit$copies) || !is.null(fit$power) || is.na(evidence_of(fit))) {
    c(paste("is for fits by the evidence of all rows, and this one has",
            if (!is.null(fit$copies)) "copies of rows"
            else if (!is.null(fit$power)) "recalibrated probabilities"
            else "a model for each class"), "Give `method` or `likelihood`")
  } else if (!is.null(lacking_for_problem(fit))) {
    c("takes the inputs of all rows, and the posterior of EP of all",
      "Fit with gp_control(keep_x = TRUE), by method_ep()")
  }
}

refuse_not_integrable <- function(fit, how) {
  wrong <- what_forbids_integrals(fit)
  if (!is.null(wrong)) stop_sparsegp("integrate", wrong[1L], wrong[2L])
  refuse_if(how == "grid" && sum(fit$hyper$free) > 3L, "integrate",
            paste0("= \"grid\" is for at most three hyperparameters, and ",
                   sum(fit$hyper$free), " are learned"),
            "Use gp_control(integrate = \"ccd\"), or give some of them by fixed()")
}

# ---- The shape of the posterior ----

# Returns list(surface, middle, A, flat, sides, effects, widening): a run at the mode, axes and
# their sides; `widening`, by how much intervals are wider, on average over the rows. Without a
# fixed point at the mode there are no axes, and `widening` is NA. past: evaluations of the search
# for the mode (make_objective()), or NULL
posterior_shape <- function(fit, past = NULL) {
  surface <- hyper_surface(fit)
  middle <- surface$run(surface$at, posterior = TRUE)
  if (!is.finite(middle$value)) return(list(middle = middle, widening = NA_real_))
  spreads <- prior_spreads(fit$hyper)
  if (!identical(past$rows, as.double(fit$n * n_outputs(fit)))) past <- NULL
  positive <- fit$hyper$log[fit$hyper$free]
  axes <- hyper_axes(curvature_at_mode(surface, past, spreads, positive), spreads, positive)
  own <- row_moments(fit, middle)
  sides <- axis_sides(fit, surface, axes, middle, own)
  effects <- axis_effects(sides, own)
  c(list(surface = surface, middle = middle, sides = sides, effects = effects,
         widening = sqrt(1 + sum(pmax(effects, 0))) - 1), axes)
}

# Axes that predictions depend on, at least the most important one.
axes_that_matter <- function(shape) {
  sort(union(which.max(shape$effects), which(shape$effects > policy$integrated_axis)))
}

theta_at <- function(shape, x) sweep(x %*% t(shape$A), 2L, shape$surface$at, "+")

# ---- The ensemble ----

# Axes on which predictions do not depend stay at the mode, and add their mass to the evidence.
ensemble_at <- function(fit, shape, how) {
  if (how == "mcmc") return(ensemble_of_draws(fit, shape))
  kept <- if (how == "grid") seq_along(shape$effects) else axes_that_matter(shape)
  shape <- if (how == "laplace") within_normal(shape) else with_tails(shape, kept)
  shape$densities <- lapply(shape$sides, axis_density)
  points <- if (how == "grid") grid_points(shape) else composite_at(shape, kept)
  value <- vapply(points$runs, `[[`, 0, "value")
  log_ratio <- if (how == "laplace") ifelse(is.finite(value), 0, -Inf) else {
    value - shape$middle$value - log_product(shape, points$x)
  }
  mass <- log(points$weight) + log_ratio
  logz <- shape$middle$value + max(mass) + log(sum(exp(mass - max(mass)))) +
    sum(log(vapply(shape$densities, `[[`, 0, "mass"))) + c(determinant(shape$A)$modulus)
  made_ensemble(fit, shape, points$runs, exp(mass - max(mass)), how, kept, logz)
}

# Returns the shape as if densities along the axes were normal, with nodes not yet looked at.
within_normal <- function(shape) {
  normal <- list(width = 1, knots = KNOTS[1:2], fall = KNOTS[1:2]^2 / 2, near = 1L,
                 runs = list(NULL, NULL))
  shape$sides <- lapply(shape$sides, function(pair) list(minus = normal, plus = normal))
  shape
}

# Returns the shape with the tails of the axes in `kept` looked at; where these are many, of sides
# only that are wider than by the curvature, whose tails may be long.
with_tails <- function(shape, kept) {
  WIDE <- 1.1
  many <- length(kept) > policy$composite_axes
  shape$sides[kept] <- lapply(shape$sides[kept], lapply, function(side) {
    if (many && side$width < WIDE) side else look_farther(side, shape$surface, shape$middle)
  })
  shape
}

# Returns the logarithms of the product of densities along the axes, 0 at the mode.
log_product <- function(shape, x) {
  rowSums(vapply(seq_along(shape$densities), function(j) {
    density <- shape$densities[[j]]
    at <- stats::approx(density$x, density$log_density, x[, j], rule = 2L)$y
    at + log(density$mass)
  }, numeric(nrow(x))))
}

# Returns list(x, weight, runs): points of the composite rule (integrate-weights.R) on some axes.
composite_at <- function(shape, kept) {
  nodes <- lapply(shape$sides[kept], nodes_of)
  widths <- lapply(shape$sides[kept], function(pair) c(pair$minus$width, pair$plus$width))
  rule <- composite_points(shape$densities[kept], lapply(nodes, `[[`, "x"), widths)
  x <- matrix(0, nrow(rule$x), length(shape$sides))
  x[, kept] <- rule$x
  known <- if (length(kept) <= policy$composite_axes) {
    c(list(shape$middle), unlist(lapply(nodes, `[[`, "runs"), recursive = FALSE))
  }
  runs_at(shape, x, rule$weight, known)
}

# Runs that are not known yet, of points with a weight
runs_at <- function(shape, x, weight, known = NULL) {
  used <- weight > 0
  theta <- theta_at(shape, x)
  runs <- lapply(which(used), function(k) {
    (if (k <= length(known)) known[[k]]) %||% shape$surface$run(theta[k, ], posterior = TRUE)
  })
  list(x = x[used, , drop = FALSE], weight = weight[used], runs = runs)
}

grid_points <- function(shape) {
  design <- grid_design(length(shape$sides))
  x <- vapply(seq_along(shape$sides), function(j) {
    place_on_axis(shape$densities[[j]], design$z[, j])
  }, design$weight)
  runs_at(shape, x, design$weight)
}

# Returns list(x, runs) of an axis: where it was looked at about sqrt(2) widths from the mode, and
# once more, if it was.
nodes_of <- function(pair) {
  each <- Map(function(side, sign) {
    at <- intersect(c(side$near, side$near + 1L), which(is.finite(side$fall)))
    list(x = sign * side$knots[at], runs = side$runs[at])
  }, pair, c(-1, 1))
  list(x = unlist(lapply(each, `[[`, "x"), use.names = FALSE),
       runs = unlist(lapply(each, `[[`, "runs"), recursive = FALSE))
}

ensemble_of_draws <- function(fit, shape) {
  settings <- policy$sampled_members
  density <- function(x) shape$surface$run(theta_at(shape, rbind(x))[1L, ])$value
  draws <- slice_draws(density, length(shape$effects), settings[1L], settings[2L], settings[3L])
  theta <- theta_at(shape, draws)
  runs <- lapply(seq_len(nrow(theta)), function(k) shape$surface$run(theta[k, ], posterior = TRUE))
  logz <- bridge_mass(density, draws, vapply(runs, `[[`, 0, "value")) +
    c(determinant(shape$A)$modulus)
  shape$densities <- lapply(shape$sides, axis_density)
  made_ensemble(fit, shape, runs, rep(1, nrow(theta)), "mcmc", seq_along(shape$effects), logz)
}

# logz: the integrated log evidence in C's units
made_ensemble <- function(fit, shape, runs, weights, how, kept, logz) {
  LEAST <- 1e-4 # of the largest weight
  good <- vapply(runs, function(run) is.finite(run$value), NA) & weights >= LEAST * max(weights)
  members <- lapply(runs[good], member_of_run, fit)
  changed <- list(log_evidence = fit$log_evidence + logz - shape$middle$logz)
  names <- names(shown_values(fit$hyper))[fit$hyper$free]
  made <- list(rule = how, axes = shape$A, integrated = kept, effects = shape$effects,
               places = t(vapply(shape$densities, place_on_axis, PLACES, PLACES)),
               widening = shape$widening, flat = flat_words(shape, names))
  made$words <- words_of_rule(made, sum(good))
  new_ensemble(members, weights[good], changed, made = made, fit = fit)
}

words_of_rule <- function(made, points) {
  p <- length(made$effects)
  q <- length(made$integrated)
  paste0("hyperparameters integrated over ", counted(points, "point"), " (", made$rule,
         if (q < p) paste0(", ", q, " of ", p, " directions"), "): intervals ",
         percent(signif(made$widening, 2L)), " wider",
         if (length(made$flat)) paste0("; not informed by the data: ", toString(made$flat)))
}

# Names of what the flat axes are mostly along
flat_words <- function(shape, names) {
  along <- vapply(which(shape$flat), function(j) which.max(abs(shape$A[, j])), 0L)
  unique(names[along])
}

# Returns the fit that a run with its posterior is of.
member_of_run <- function(run, fit) {
  fit <- keep_moments(at_theta_of(fit, run), run)
  own <- intersect(c("alpha", "G", "H", "trend", OWN_POSTERIORS), names(run))
  fit$posterior[own] <- run[own]
  for (factor in c("G", "H")) {
    if (is.null(run[[factor]])) fit$posterior[factor] <- list(NULL)
  }
  fit$posterior["each"] <- list(run$each)
  if (!is.null(run$basis)) fit$posterior$basis <- run$basis
  if (!is.null(run$order)) {
    fit$basis_rows <- basis_rows_from(run$order, run$basis, n_outputs(fit))
  }
  if (!is.null(fit$state)) fit$state <- run$state
  fit$jitter <- run$jitter %||% fit$jitter
  fit$log_evidence <- run$logz - (run$log_jacobian %||% 0) - evidence_shift(fit, fit$y)
  packed_fit(fit)
}
