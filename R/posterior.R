# The stored posterior of a fit or run: list(basis, alpha, G, H) as posterior.h has it, or the sites
# of all rows (posterior-sites.R). With several
# latent functions alpha is a matrix with a column for each, H (and G, unless it is one for all) has
# their factors side by side. A factor may be stored as its upper triangle (full_factor()). Where
# they have kernels or bases of their own there is `each` besides, a list of such posteriors of one
# latent function each, and `basis` has the points of all. `trend`: a linear mean whose coefficients
# are integrated out (kernel-mean.R), or NULL.

# Mean and variance of the latent functions at x; matrices where there are several. model: whatever
# has `spec`, `lik`, `processes` and `width`; theta: of its kernels. Where a row sees several values
# x has a point for each, and the variances are their covariances, row by row.
latent_moments <- function(model, theta, posterior, x) {
  each <- posterior$each
  if (is_of_sites(posterior)) return(site_moments(model$spec, theta, posterior, x))
  if (is.null(each)) {
    layout <- layout_for_c(model$processes, model$width)
    return(.Call(sg_predict, model$spec, theta, layout, with_mean_at(posterior, x), x, FALSE))
  }
  runs <- lapply(seq_along(each), function(class) {
    own <- class_kernel_theta(theta, model$lik, length(each), class)
    if (is_of_sites(each[[class]])) return(site_moments(model$spec, own, each[[class]], x))
    .Call(sg_predict, model$spec, own, layout_for_c(1L), with_mean_at(each[[class]], x), x, FALSE)
  })
  columns <- function(field) {
    matrix(as.double(unlist(lapply(runs, `[[`, field))), nrow(x), length(runs))
  }
  list(mean = columns("mean"), var = columns("var"))
}

# The posterior of one latent function. factors: with G and H, which a mean does not take?
class_posterior <- function(posterior, class, factors = TRUE) {
  if (!is.null(posterior$each)) return(class_posterior(posterior$each[[class]], 1L, factors))
  d <- nrow(posterior$basis)
  own <- function(factor) {
    factor <- if (factors) full_factor(factor, d)
    if (is.null(factor) || ncol(factor) == d) return(factor)
    factor[, (class - 1L) * d + seq_len(d), drop = FALSE]
  }
  list(basis = posterior$basis, alpha = as.matrix(posterior$alpha)[, class],
       G = own(posterior$G), H = own(posterior$H), trend = posterior$trend,
       markov = posterior$markov, neighbours = posterior$neighbours)
}

# Returns a factor as a matrix: of one that is stored as an upper triangle, or of several side by
# side, the numbers stand column by column, without dimensions.
full_factor <- function(factor, d) {
  if (is.null(factor) || !is.null(dim(factor))) return(factor)
  count <- length(factor) %/% (d * (d + 1) / 2)
  full <- matrix(0, d, d * count)
  upper <- rep(d * seq(0, d - 1), seq_len(d)) + sequence(seq_len(d))
  full[c(outer(upper, d^2 * (seq_len(count) - 1), `+`))] <- factor
  full
}

# Returns a factor as its triangle, or as it is if it is none. Factors of several processes that are
# all the same, as by least squares, are one.
packed_factor <- function(factor) {
  if (is.null(dim(factor))) return(factor)
  triangles <- .Call(sg_triangles, factor)
  if (is.null(triangles)) return(factor)
  if (ncol(triangles) > 1L && all(triangles == triangles[, 1L])) return(triangles[, 1L])
  dim(triangles) <- NULL
  triangles
}

# One posterior of several, each on its own points `x` (scaled inputs) with rows `ids` of them.
joined_posterior <- function(each, x, ids) {
  rows <- unique(unlist(ids))
  list(basis = x[rows, , drop = FALSE], alpha = NULL, G = NULL, H = NULL, each = each, rows = rows)
}

# Mean and covariance matrix of one latent function of a fit at x.
joint_moments <- function(fit, x, class = 1L) {
  by_member(fit, function(fit, x) {
    own <- class_kernel_theta(kernel_theta(fit), fit$likelihood, processes(fit), class)
    joint_latent(fit$spec, own, class_posterior(fit$posterior, class), x)
  }, mixed_joint, x)
}

# Returns the joint moments of an ensemble, by the law of total covariance.
mixed_joint <- function(each, fit) {
  each <- members_in_units(each, fit)
  weights <- fit$ensemble$weights
  mean <- mixed(lapply(each, `[[`, "mean"), weights)
  list(mean = mean, var = mixed(lapply(each, function(own) own$var + tcrossprod(own$mean - mean)),
                                weights))
}

# The same under the prior at the fit's hyperparameters, around the mean's estimated coefficients.
prior_moments <- function(fit, x, class = 1L) {
  own <- class_kernel_theta(kernel_theta(fit), fit$likelihood, processes(fit), class)
  trend <- class_posterior(fit$posterior, class)$trend
  mean <- if (is.null(trend)) numeric(nrow(x)) else drop(mean_functions(trend, x) %*% c(trend$coef))
  list(mean = mean, var = kernel_matrix(fit$spec, own, x, x))
}

joint_latent <- function(spec, theta, posterior, x) {
  if (is_of_sites(posterior)) return(site_moments(spec, theta, posterior, x, joint = TRUE))
  .Call(sg_predict, spec, theta, layout_for_c(1L), with_mean_at(posterior, x), x, TRUE)
}

# ---- Slopes ----

# Joint moments of the latent functions and of their derivatives along directions v, of the size of
# x (src/slopes.h): a row's w values, then its w derivatives.
slope_moments <- function(model, theta, posterior, x, v) {
  each <- posterior$each
  if (is_of_sites(posterior)) return(site_slopes(model$spec, theta, posterior, x, v))
  if (is.null(each)) {
    layout <- layout_for_c(model$processes, model$width)
    posterior <- with_mean_slopes(posterior, x, v, model$width)
    return(.Call(sg_slopes, model$spec, theta, layout, posterior, x, v, FALSE))
  }
  runs <- lapply(seq_along(each), function(class) {
    own <- class_kernel_theta(theta, model$lik, length(each), class)
    if (is_of_sites(each[[class]])) return(site_slopes(model$spec, own, each[[class]], x, v))
    posterior <- with_mean_slopes(each[[class]], x, v, 1L)
    .Call(sg_slopes, model$spec, own, layout_for_c(1L), posterior, x, v, FALSE)
  })
  lapply(list(mean = "mean", var = "var"), function(field) {
    matrix(as.double(unlist(lapply(runs, `[[`, field))), ncol = length(runs))
  })
}

# Mean and covariance matrix of one latent function of a fit, no ensemble, at all points of x,
# followed by the derivatives along v.
joint_slopes <- function(fit, x, v, class = 1L) {
  own <- class_kernel_theta(kernel_theta(fit), fit$likelihood, processes(fit), class)
  posterior <- class_posterior(fit$posterior, class)
  if (is_of_sites(posterior)) return(site_moments(fit$spec, own, posterior, x, v, joint = TRUE))
  posterior <- with_mean_slopes(posterior, x, v, nrow(x))
  .Call(sg_slopes, fit$spec, own, layout_for_c(1L), posterior, x, v, TRUE)
}

# Variance of sum_i (a_i f(x_i) + b_i v_i'df/dx(x_i)) of one latent function of a fit, no ensemble:
# O(n^2 + n d) time, and memory for some rows.
variance_of_sum <- function(fit, x, v, a, b, class = 1L) {
  theta <- class_kernel_theta(kernel_theta(fit), fit$likelihood, processes(fit), class)
  posterior <- class_posterior(fit$posterior, class)
  if (is_of_sites(posterior)) {
    return(site_variance_of_sum(fit$spec, theta, posterior, x, v, c(a, b)))
  }
  basis <- posterior$basis
  prior <- 0
  k <- numeric(nrow(basis))
  for (rows in row_blocks(nrow(x), 200L)) {
    own <- x[rows, , drop = FALSE]
    along <- v[rows, , drop = FALSE]
    jet <- .Call(sg_kernel_jet, fit$spec, theta, own, along, x, v)
    prior <- prior + sum(a[rows] * (jet$K %*% a + jet$dz %*% b)) +
      sum(b[rows] * (jet$dx %*% a + jet$dxdz %*% b))
    jet <- .Call(sg_kernel_jet, fit$spec, theta, own, along, basis, NULL)
    k <- k + drop(a[rows] %*% jet$K + b[rows] %*% jet$dx)
  }
  squares <- function(factor) if (is.null(factor)) 0 else sum((k %*% factor)^2)
  trend <- posterior$trend
  u <- if (is.null(trend)) 0 else {
    phi <- a %*% mean_functions(trend, x) + b %*% mean_slopes(trend, x, v)
    phi %*% trend$root - k %*% trend$J
  }
  max(prior - squares(posterior$G), 0) + squares(posterior$H) + sum(u^2)
}

# Adds the functions of a linear mean, and their derivatives, in C's order.
with_mean_slopes <- function(posterior, x, v, w) {
  trend <- posterior$trend
  posterior["trend"] <- list(if (!is.null(trend)) {
    phi <- rbind(mean_functions(trend, x), mean_slopes(trend, x, v))
    row <- rep((seq_len(nrow(x)) - 1L) %/% w, 2L)
    c(trend[c("coef", "J", "root")], list(phi = phi[order(row), , drop = FALSE]))
  })
  posterior
}

# Adds the functions of a linear mean at the points that are to be predicted, for C.
with_mean_at <- function(posterior, x) {
  trend <- posterior$trend
  posterior["trend"] <- list(if (!is.null(trend)) {
    c(trend[c("coef", "J", "root")], list(phi = mean_functions(trend, x)))
  })
  posterior
}

# Returns u(x) = L^-T phi(x) - J'k(x) of every point (src/posterior.h), a row each; Kx: the kernel
# with the basis. Without a mean there is nothing to be added: no columns. v: their derivatives
# along v, with those of Kx.
mean_residuals <- function(posterior, x, Kx, v = NULL) {
  trend <- posterior$trend
  if (is.null(trend)) return(matrix(0, nrow(x), 0L))
  phi <- if (is.null(v)) mean_functions(trend, x) else mean_slopes(trend, x, v)
  phi %*% trend$root - Kx %*% trend$J
}

# Returns what covariances of one latent function of a fit at many points x have in common; v: of
# its derivatives along v there. O(n d) numbers.
covariances_with <- function(fit, x, class = 1L, v = NULL) {
  posterior <- class_posterior(fit$posterior, class)
  if (is_of_sites(posterior)) {
    return(list(fit = fit, class = class, x = x, v = v, posterior = posterior))
  }
  Kx <- if (is.null(v)) class_kernel(fit, x, posterior$basis, class)
        else class_kernel_slopes(fit, x, v, posterior$basis, class)
  list(fit = fit, class = class, x = x, v = v, posterior = posterior, Kx = Kx,
       u = mean_residuals(posterior, x, Kx, v))
}

# The same of the points `at` alone.
some_covariances <- function(known, at) {
  for (part in intersect(c("x", "v", "Kx", "u"), names(known))) {
    known[part] <- list(known[[part]][at, , drop = FALSE])
  }
  known
}

# n x p covariances of the values, or derivatives, at n points with the values at p others:
# K(x,z) - Kx G G'k(z) + Kx H H'k(z) + u(x)'u(z); O(n (d + p)) for each. `known` is the side that
# may have derivatives.
covariances_between <- function(known, others) {
  if (is_of_sites(known$posterior)) {
    own <- class_kernel_theta(kernel_theta(known$fit), known$fit$likelihood,
                              processes(known$fit), known$class)
    return(site_covariances(known$fit$spec, own, known$posterior, known$x, known$v, others$x))
  }
  direct <- if (is.null(known$v)) class_kernel(known$fit, known$x, others$x, known$class)
            else class_kernel_slopes(known$fit, known$x, known$v, others$x, known$class)
  along <- function(factor) {
    if (is.null(factor)) return(0)
    known$Kx %*% (factor %*% crossprod(factor, t(others$Kx)))
  }
  direct - along(known$posterior$G) + along(known$posterior$H) + tcrossprod(known$u, others$u)
}

# Kernel matrix between scaled inputs x and z, as one latent function has it.
class_kernel <- function(fit, x, z, class) {
  own <- class_kernel_theta(kernel_theta(fit), fit$likelihood, processes(fit), class)
  kernel_matrix(fit$spec, own, x, z)
}

# Its derivatives along v at x.
class_kernel_slopes <- function(fit, x, v, z, class) {
  own <- class_kernel_theta(kernel_theta(fit), fit$likelihood, processes(fit), class)
  .Call(sg_kernel_jet, fit$spec, own, x, v, z, NULL)$dx
}

kernel_matrix <- function(spec, theta, x, z) .Call(sg_kernel_cross, spec, theta, x, z)

kernel_diagonal <- function(spec, theta, x) .Call(sg_kernel_diag, spec, theta, x)
