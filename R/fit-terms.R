# The parts of a sum of kernels: what each adds to the latent function, and how sure that is.
#
# A part f_k of f = f_1 + f_2 + ... has covariance k_k with f, so with alpha, G and H of the
# posterior of f (posterior.R)
#   E f_k(x) = k_k(x)' alpha
#   Cov(f_k(x), f_l(z)) = [k = l] k_k(x, z) - k_k(x)' (G G' - H H') k_l(z)
# where k_k(x) are part k's covariances with the basis. Parts are known only up to constants that
# cancel in their sum: an effect is a part less its mean over the fit's own rows, and the constants
# together are one number. The variance is of just that difference.

# Parts that vary; list(label, spec, theta, kernel) each. theta is that of the part alone, where
# classes have kernels of their own that of the one asked for.
fit_parts <- function(fit, class = 1L) {
  spec <- own_spec(fit)
  sum <- spec$type == "sum"
  specs <- if (sum) spec$parts else list(spec)
  kernels <- if (sum) fit$kernel$parts else list(fit$kernel)
  counts <- vapply(specs, count_kernel_hyper, 0)
  own <- class_kernel_theta(kernel_theta(fit), fit$likelihood, processes(fit), class)
  thetas <- split(own, rep(seq_along(specs), counts))
  labels <- make.unique(vapply(kernels, part_label, "", fit), " ")
  parts <- Map(function(label, spec, theta, kernel) {
    list(label = label, spec = spec_in_fit(fit, spec), theta = theta, kernel = kernel)
  }, labels, specs, thetas, kernels)
  stats::setNames(parts, labels)[vapply(specs, function(spec) spec$type != "constant", NA)]
}

# Returns a part's specification as the kernel of the fit has it, of components too.
spec_in_fit <- function(fit, spec) {
  if (identical(own_spec(fit), fit$spec)) return(spec)
  coupled_spec(spec, n_outputs(fit), point_inputs(fit$scaling))
}

# Returns the posterior that has the latent function of a class; coupled classes have one.
posterior_of_class <- function(fit, class, factors = TRUE) {
  class_posterior(fit$posterior, min(class, processes(fit)), factors)
}

# Returns scaled inputs as one latent function sees them.
points_of_class <- function(fit, x, class) {
  if (identical(own_spec(fit), fit$spec)) return(x)
  cbind(x, .component = rep(as.double(class), nrow(x)))
}

# rbf(x), or of a product rbf(x) * factor(g)
part_label <- function(kernel, fit) {
  inner <- vapply(kernel$parts, part_label, "", fit)
  if (kernel$type == "product") return(paste(inner, collapse = " * "))
  if (kernel$type == "sum") return(paste0("(", paste(inner, collapse = " + "), ")"))
  if (kernel$type == "constant") return("constant")
  vars <- kernel$vars
  # without `vars` it sees all inputs, by the names of the formula's terms
  if (is.null(vars)) vars <- if (!is.null(fit$terms)) attr(fit$terms, "term.labels")
                             else fit$scaling$names
  if (is.numeric(vars)) vars <- fit$scaling$names[vars]
  if (length(vars) > 3L) vars <- paste(length(vars), "inputs")
  paste0(kernel$type, "(", toString(vars), ")")
}

# Returns the parts that make up each effect: a named list of numbers. terms: NULL for each
# part by itself, names or numbers of parts, or a list of such, each an effect of several.
term_groups <- function(labels, terms) {
  if (is.null(terms)) return(stats::setNames(as.list(seq_along(labels)), labels))
  groups <- if (is.list(terms)) terms else as.list(terms)
  at <- lapply(groups, function(group) {
    if (is.character(group)) match(group, labels)
    else if (is.numeric(group)) match(group, seq_along(labels))
  })
  wrong <- lengths(at) == 0L | vapply(at, function(k) anyNA(k) || anyDuplicated(k) > 0L, NA)
  refuse_if(length(at) == 0L || any(wrong),
            "terms", "must be names or numbers of parts of the kernel, or a list of them",
            paste0("The parts are ", toString(labels)))
  named <- vapply(at, function(k) paste(labels[k], collapse = " + "), "")
  given <- if (is.null(names(groups))) "" else names(groups)
  stats::setNames(at, ifelse(given == "", named, given))
}

# ---- Moments ----

EFFECT_ROWS <- 500L # over so many rows an effect is centred, at most

# Rows that stand for those of the fit: scaled inputs it keeps, or its basis, if that has every one
# of few rows; evenly spread ones.
rows_to_centre <- function(fit) {
  in_basis <- n_outputs(fit) == 1L && every_row_in_basis(fit) && fit$n <= EFFECT_ROWS
  kept <- if (!in_basis) fit[["x"]]
  x <- if (is.null(kept)) fit$posterior$basis else scaled_inputs(kept, fit$scaling)
  at <- unique(round(seq(1, nrow(x), length.out = min(nrow(x), EFFECT_ROWS))))
  x[at, , drop = FALSE]
}

# Mean and variance of every group's effect at x (scaled inputs): matrices in C's units with a
# column for each; constant: what all parts of the kernel have lost by being centred. Of `each` rows
# of x in turn the effect is averaged: a partial dependence. panels: as in centred_moments()
effect_moments <- function(fit, groups, x, class, each = 1L, panels = NULL) {
  parts <- fit_parts(fit, class)
  posterior <- posterior_of_class(fit, class)
  rows <- points_of_class(fit, rows_to_centre(fit), class)
  x <- points_of_class(fit, x, class)
  moments <- lapply(groups, function(group) {
    if (!is_of_sites(posterior)) {
      return(centred_moments(parts[group], posterior, rows, x, each, panels))
    }
    centred_site_moments(fit$spec, class_theta_of(fit, class),
                         chosen_parts(fit, names(parts)[group]), posterior, rows, x, each)
  })
  column <- function(field) {
    matrix(as.double(unlist(lapply(moments, `[[`, field))), nrow(x) %/% each, length(groups),
           dimnames = list(NULL, names(groups)))
  }
  total <- latent_total(fit, posterior, rows, class)
  list(mean = column("mean"), var = column("var"), constant = mean(total),
       members = lapply(moments, `[[`, "members"))
}

# The hyperparameters of the kernel of one latent function.
class_theta_of <- function(fit, class) {
  class_kernel_theta(kernel_theta(fit), fit$likelihood, processes(fit), class)
}

# Returns which parts of the kernel are those with these labels (fit_parts()): a flag for each.
chosen_parts <- function(fit, labels) {
  if (fit$spec$type != "sum") return(TRUE)
  varies <- vapply(fit$spec$parts, function(part) part$type != "constant", NA)
  replace(logical(length(varies)), which(varies)[match(labels, names(fit_parts(fit)))], TRUE)
}

# Returns the mean of the latent function at rows (scaled inputs).
latent_total <- function(fit, posterior, rows, class) {
  if (is_of_sites(posterior)) {
    return(site_moments(fit$spec, class_theta_of(fit, class), posterior, rows)$mean)
  }
  total <- class_kernel(fit, rows, posterior$basis, class) %*% posterior$alpha
  if (is.null(posterior$trend)) return(total)
  total + mean_functions(posterior$trend, rows) %*% posterior$trend$coef
}

# Effects in the user's units, with the constant that makes the linear predictor of them.
# members: of each group a matrix, a row for each place, a column for each row averaged there.
effect_answer <- function(fit, groups, x, class = 1L, each = 1L, panels = NULL) {
  by_member(fit_of_latent_type(fit, "terms"), function(fit, x) {
    refuse_mean_slopes(fit)
    effects <- effect_moments(fit, groups, x, class, each, panels)
    list(members = lapply(effects$members, `*`, fit$response$unit),
         fit = effects$mean * fit$response$unit, se.fit = sqrt(effects$var) * fit$response$unit,
         constant = to_latent(fit, effects$constant, 0) + latent_bias(fit)[class])
  }, mixed_effects, x)
}

# Returns the effects of an ensemble, by the law of total variance.
mixed_effects <- function(answers, fit) {
  over <- function(values) mixed(lapply(answers, values), fit$ensemble$weights)
  mean <- over(function(own) own$fit)
  groups <- answers[[1L]]$members
  of_groups <- lapply(seq_along(groups), function(g) over(function(own) own$members[[g]]))
  list(members = stats::setNames(of_groups, names(groups)), fit = mean,
       se.fit = sqrt(over(function(own) own$se.fit^2 + (own$fit - mean)^2)),
       constant = over(function(own) own$constant))
}

# The sum of some parts' kernels
parts_kernel <- function(parts) {
  list(cross = function(x, z) Reduce(`+`, lapply(parts, function(part) {
    kernel_matrix(part$spec, part$theta, x, z)
  })),
  diagonal = function(x) Reduce(`+`, lapply(parts, function(part) {
    kernel_diagonal(part$spec, part$theta, x)
  })), stationary = all(vapply(parts, function(part) is_stationary(part$spec), NA)))
}

# Does a kernel depend on nothing but the difference of two points?
is_stationary <- function(spec) {
  spec$type %in% c(STATIONARY, "constant") ||
    spec$type %in% c("sum", "product") && all(vapply(spec$parts, is_stationary, NA))
}

# Moments of the parts' sum, averaged over every `each` rows of x, less its mean over `rows`. With k
# the average of the covariances, less theirs, the mean is k'alpha, and the variance that of
# stored_variance() with the prior variance of the same contrast. panels: the numbers of places that
# lie along one input each, NULL: all do
centred_moments <- function(parts, posterior, rows, x, each = 1L, panels = NULL) {
  kernel <- parts_kernel(parts)
  of_rows <- kernel$cross(rows, posterior$basis)
  with_rows <- averages_with(kernel, posterior$basis, rows)
  mean_cross <- colMeans(of_rows)
  mean_prior <- mean(with_rows(rows, of_rows, 1L))
  found <- lapply(effect_blocks(nrow(x) %/% each, panels, each, ncol(of_rows)), function(at) {
    block <- x[rep((at - 1L) * each, each = each) + seq_len(each), , drop = FALSE]
    with_basis <- kernel$cross(block, posterior$basis)
    average <- average_rows(with_basis, each)
    members <- matrix(with_basis %*% posterior$alpha, ncol = each, byrow = TRUE) -
      sum(mean_cross * posterior$alpha)
    cross <- average - rep(mean_cross, each = nrow(average))
    own <- prior_of_averages(kernel, block, each)
    prior <- own - 2 * with_rows(block, average, each) + mean_prior
    list(mean = rowMeans(members), var = stored_variance(posterior, cross, prior, own),
         members = members)
  })
  field <- function(name) lapply(found, `[[`, name)
  list(mean = unlist(field("mean")), var = unlist(field("var")),
       members = do.call(rbind, field("members")))
}

# Returns a function of points, their averaged covariances with the basis, and of how many points
# each is the average: the average of those with `rows`, which are columns of these if every one of
# the rows is in the basis.
averages_with <- function(kernel, basis, rows) {
  at <- match(rowSums(rows), rowSums(basis))
  in_basis <- !anyNA(at) && all(basis[at, , drop = FALSE] == rows)
  function(x, average, each) {
    if (in_basis) return(rowMeans(average[, at, drop = FALSE]))
    rowMeans(average_rows(kernel$cross(x, rows), each))
  }
}

# Returns blocks of places, none of which is of two panels: as many as have at most `EFFECT_NUMBERS`
# covariances with `points` others.
effect_blocks <- function(places, panels, each, points) {
  at_once <- max(1L, floor(EFFECT_NUMBERS / each / points))
  ends <- cumsum(panels %||% places)
  unlist(Map(function(before, end) {
    lapply(row_blocks(end - before, at_once), `+`, before)
  }, c(0L, ends)[seq_along(ends)], ends), recursive = FALSE)
}

EFFECT_NUMBERS <- 5e5

# Returns the means of every `each` rows.
average_rows <- function(values, each) {
  if (each == 1L) return(values)
  matrix(colMeans(matrix(values, each)), NROW(values) %/% each)
}

# Returns the prior variance of the mean over every `each` rows of x. Rows that lie to each other as
# those of the first place do have the variance of that, if the kernel is stationary.
prior_of_averages <- function(kernel, x, each) {
  if (each == 1L) return(kernel$diagonal(x))
  places <- nrow(x) %/% each
  variance <- function(place) {
    own <- x[(place - 1L) * each + seq_len(each), , drop = FALSE]
    mean(kernel$cross(own, own))
  }
  if (kernel$stationary && lie_alike(x, each)) return(rep(variance(1L), places))
  vapply(seq_len(places), variance, 0)
}

# Do every `each` rows of x differ from the first of them as those of the first place do?
lie_alike <- function(x, each) {
  from_first <- x - x[rep(seq(1L, nrow(x), each), each = each), , drop = FALSE]
  all(from_first == from_first[rep_len(seq_len(each), nrow(x)), , drop = FALSE])
}

# prior - |G'cross|^2 + |H'cross|^2 of every row, not less than what rounding leaves of numbers of
# the size of `diagonal`.
stored_variance <- function(posterior, cross, prior, diagonal) {
  squares <- function(factor) if (is.null(factor)) 0 else rowSums((cross %*% factor)^2)
  J <- posterior$trend$J # a part of the kernel does not see the mean's functions themselves
  least <- ncol(cross) * .Machine$double.eps * diagonal
  pmax(prior - squares(posterior$G), least) + squares(posterior$H) + squares(J)
}
