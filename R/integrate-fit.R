# Fits that are integrated over their hyperparameters: ensembles (posterior-ensemble.R) of the fits at
# points of a rule, weighted by the posterior density there.

RULES <- c("none", "laplace", "ccd", "grid", "mcmc")

check_integrate <- function(integrate) {
  if (!is.null(integrate)) check_choice(integrate, RULES, "integrate")
}

# Returns the fit, integrated where that was asked for, or by default where it pays. setup: of the
# fit (api-sparsegp.R)
integrated_fit <- function(fit, setup) {
  how <- setup$integrate
  if (identical(how, "none") || is.null(how) && !is_integrated_by_default(fit, setup)) return(fit)
  if (!is.null(how)) refuse_not_integrable(fit, how)
  bar <- open_bar(bar_display(setup$verbose))
  on.exit(close_bar(bar))
  begin_stage(c(integration_work(fit, how %||% "ccd"), 0))
  shape <- posterior_shape(fit)
  if (is.null(how) && shape$widening <= policy$integrated_widening) return(fit)
  fit <- ensemble_at(fit, shape, how %||% "ccd")
  show_fraction(bar, 1)
  fit
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
  if (is_stream(fit) || !is.null(fit$source)) {
    c("is for rows in memory, and these are a stream or a source", "Fit some of them at once")
  } else if (is.null(fit$learning) || !any(fit$hyper$free)) {
    c("is for hyperparameters that are learned", "Fit with learn = TRUE")
  } else if (is_modal(fit$likelihood)) {
    c("is not for measurements whose posterior may have several modes", "See modes()")
  } else if (!is.null(fit$copies) || !is.null(fit$power) || is.na(evidence_of(fit))) {
    c(paste("is for fits by the evidence of all rows, and this one has",
            if (!is.null(fit$copies)) "copies of rows"
            else if (!is.null(fit$power)) "recalibrated probabilities"
            else "a model for each class"), "Give `method` or `likelihood`")
  } else if (!every_row_in_basis(fit) && (is.null(fit[["x"]]) || !has_state(fit))) {
    c("takes the inputs of all rows, and the posterior of EP of all",
      "Fit with keep_x = TRUE, by method_ep()")
  }
}

refuse_not_integrable <- function(fit, how) {
  wrong <- what_forbids_integrals(fit)
  if (!is.null(wrong)) stop_sparsegp("integrate", wrong[1L], wrong[2L])
  if (how == "grid" && sum(fit$hyper$free) > 3L) {
    stop_sparsegp("integrate", paste0("= \"grid\" is for at most three hyperparameters, and ",
                                      sum(fit$hyper$free), " are learned"),
                  "Use integrate = \"ccd\", or give some of them by fixed()")
  }
}

# Evaluations: of the slopes, of both sides of the axes, and of the points
integration_work <- function(fit, how) {
  p <- sum(fit$hyper$free)
  points <- if (how == "mcmc") 5 * p * sum(policy$sampled_members[1:2] * c(policy$sampled_members[3L], 1))
            else if (how == "grid") 5^p else 2 * p + 8
  (3 * p + points) * run_work(fit$n, nrow(fit$posterior$basis), fit$likelihood, processes(fit))
}

# ---- The shape of the posterior ----

# Returns list(surface, middle, A, flat, widths, effects, widening): a run at the mode, axes and the
# widths of their sides; `widening`, by how much intervals are wider, on average over the rows.
posterior_shape <- function(fit) {
  surface <- hyper_surface(fit)
  middle <- surface$run(surface$at, gradient = TRUE)
  if (!is.finite(middle$value)) {
    stop_sparsegp("integrate", "finds no fixed point of EP at what was learned",
                  "Use integrate = \"none\"")
  }
  axes <- hyper_axes(surface, middle, prior_spreads(fit$hyper))
  sides <- side_widths(surface, axes$A, middle)
  effects <- axis_effects(fit, middle, sides$runs)
  c(list(surface = surface, middle = middle, widths = sides$widths, effects = effects,
         widening = sqrt(max(1 + sum(pmax(effects, 0)), 0)) - 1), axes)
}

# Returns theta of points z along the axes, a row each. laplace: are both sides as by the curvature?
points_along <- function(shape, z, widths = shape$widths) {
  scaled <- z * ifelse(z < 0, rep(widths[, 1L], each = nrow(z)), rep(widths[, 2L], each = nrow(z)))
  sweep(scaled %*% t(shape$A), 2L, shape$surface$at, "+")
}

# Log of the volume of theta to that of z at each point: the sides' widths; where a coordinate is 0
# their mean.
log_volumes <- function(z, widths) {
  middle <- rep(log(rowMeans(widths)), each = nrow(z))
  side <- ifelse(z < 0, rep(log(widths[, 1L]), each = nrow(z)),
                 ifelse(z > 0, rep(log(widths[, 2L]), each = nrow(z)), middle))
  rowSums(matrix(side, nrow(z)))
}

# ---- The ensemble ----

ensemble_at <- function(fit, shape, how) {
  if (how == "mcmc") return(ensemble_of_draws(fit, shape))
  laplace <- how == "laplace"
  widths <- if (laplace) 1 + 0 * shape$widths else shape$widths
  kept <- if (how == "grid") seq_along(shape$effects) else axes_that_matter(shape)
  design <- if (how == "grid") grid_design(length(kept)) else composite_design(length(kept))
  z <- matrix(0, nrow(design$z), length(shape$effects))
  z[, kept] <- design$z
  theta <- points_along(shape, z, widths)
  runs <- lapply(seq_len(nrow(z)), function(k) shape$surface$run(theta[k, ], posterior = TRUE))
  value <- vapply(runs, `[[`, 0, "value")
  # log of density times volume, relative to the normal density at the middle
  excess <- value - shape$middle$value + rowSums(z^2) / 2 +
    log_volumes(z[, kept, drop = FALSE], widths[kept, , drop = FALSE])
  mass <- log(design$weight) + if (laplace) 0 else excess
  weights <- exp(mass - max(mass))
  rest <- setdiff(seq_along(shape$effects), kept)
  logz <- shape$middle$value + max(mass) + log(sum(weights)) +
    log_laplace_volume(shape, widths, rest)
  made_ensemble(fit, shape, theta, runs, weights, how, kept, widths, logz)
}

# Log of the volume of a normal density that is 1 at its middle and has these axes, and of what axes
# that are not integrated over have more by their sides.
log_laplace_volume <- function(shape, widths, rest) {
  p <- length(shape$effects)
  p / 2 * log(2 * pi) + c(determinant(shape$A)$modulus) + sum(log(rowMeans(widths))[rest])
}

# At least the most important one
axes_that_matter <- function(shape) {
  sort(union(which.max(shape$effects), which(shape$effects > policy$integrated_axis)))
}

ensemble_of_draws <- function(fit, shape) {
  settings <- policy$sampled_members
  widths <- 1 + 0 * shape$widths
  at <- function(z) points_along(shape, rbind(z), widths)[1L, ]
  draws <- slice_draws(function(z) shape$surface$run(at(z))$value, length(shape$effects),
                       settings[1L], settings[2L], settings[3L])
  theta <- points_along(shape, draws, widths)
  runs <- lapply(seq_len(nrow(theta)), function(k) shape$surface$run(theta[k, ], posterior = TRUE))
  made_ensemble(fit, shape, theta, runs, rep(1, nrow(theta)), "mcmc", seq_along(shape$effects),
                shape$widths, NULL)
}

# logz: the integrated log evidence in C's units; NULL: not known
made_ensemble <- function(fit, shape, theta, runs, weights, how, kept, widths, logz) {
  LEAST <- 1e-4 # of the largest weight
  good <- vapply(runs, function(run) is.finite(run$value), NA) & weights >= LEAST * max(weights)
  members <- Map(member_of_run, runs[good], split(theta, row(theta))[good], MoreArgs = list(fit))
  changed <- if (!is.null(logz)) list(log_evidence = fit$log_evidence + logz - shape$middle$logz)
             else list()
  names <- names(coef_of_free(fit))
  made <- list(rule = how, axes = shape$A, widths = widths, integrated = kept,
               effects = shape$effects, widening = shape$widening,
               flat = flat_words(shape, names))
  new_ensemble(members, weights[good], changed, made = made, fit = fit)
}

coef_of_free <- function(fit) shown_values(fit$hyper)[fit$hyper$free]

# Names of what the flat axes are mostly along
flat_words <- function(shape, names) {
  along <- vapply(which(shape$flat), function(j) which.max(abs(shape$A[, j])), 0L)
  unique(names[along])
}

# Returns the fit at other hyperparameters, without what an ensemble does not keep of it.
member_of_run <- function(run, values, fit) {
  free <- fit$hyper$free
  fit$hyper$theta[free] <- values
  basis <- fit$posterior$basis
  fit$posterior[c("alpha", "G", "H")] <- run[c("alpha", "G", "H")]
  if (is.null(run$H)) fit$posterior["H"] <- list(NULL)
  fit$posterior["each"] <- list(run$each)
  if (!is.null(run$basis)) fit$posterior$basis <- run$basis
  if (!is.null(run$order)) {
    fit$basis_rows <- basis_rows_from(run$order, run$basis, n_outputs(fit))
  }
  if (!is.null(fit$state)) fit$state <- run$state
  fit$jitter <- run$jitter %||% fit$jitter
  fit <- keep_moments(fit, run)
  if (!is.null(scale_parameter(fit$likelihood))) {
    fit$response$scale[["value"]] <- scale_value(fit$likelihood, fit$hyper$theta,
                                                 fit$response$scale)
  }
  fit$log_evidence <- run$logz - (run$log_jacobian %||% 0) - unit_shift(fit, fit$y)
  packed_fit(fit)
}
