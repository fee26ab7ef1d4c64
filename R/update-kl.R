#' Kullback-Leibler divergence between two fits
#'
#' Measures how far one posterior process is from another: \eqn{KL(f \| g) = E_f \log(f / g)}{KL(f
#' || g) =
#' E_f log(f / g)}, half of what thesis eq. 3.15 gives, for posteriors of the same prior. The
#' information that one more row adds to a stream is `kl(update(fit, row), fit)` (thesis eq. 3.16).
#'
#' Both posteriors are written on the joint basis, in coordinates in which the prior is N(0, I).
#' Points that the others determine to 1e-12 of their prior variance are left out. The error is
#' about 1e-12 for each basis point, relative to the smallest posterior variance in these
#' coordinates.
#'
#' @param f,g Fits of [sparsegp()] with the same kernel, hyperparameters, scaling and removed
#'   constant, such as the stages of a stream after its pilot.
#' @param ... Not used; unknown arguments are an error.
#' @return A number of at least 0 (to rounding), in nats; with more than two classes the sum over
#'   them. Errors are of class `sparsegp_error`.
#' @references Csató, L. (2002). *Gaussian Processes -- Iterative Sparse Approximations*, section
#'   3.2.
#' @examples
#' d <- data.frame(x = seq(-3, 3, length.out = 60))
#' d$y <- sin(d$x)
#' fit <- sparsegp(y ~ x, d[seq(1, 60, 2), ], method = method_online(size = 20, pilot = 30))
#' kl(update(fit, d[2, ]), fit)
#' kl(update(fit, d[seq(2, 60, 2), ]), fit)
#' @export
kl <- function(f, g, ...) UseMethod("kl")

#' @rdname kl
#' @export
kl.sparsegp <- function(f, g, ...) {
  check_no_dots(...)
  check_class(g, "sparsegp", "g", "Give another fit of sparsegp()")
  f <- ready(f)
  g <- ready(g)
  if (is_site_fit(f) || is_site_fit(g)) {
    own <- if (is_site_fit(f)) f else g
    stop_sparsegp(if (is_site_fit(f)) "f" else "g",
                  paste0("is by method_", own$options$type, "(), which has no inducing points"),
                  "Compare fits by method_ep(), or their predictions")
  }
  check_same_prior(f, g, c("f", "g"),
                   paste("Only posteriors of the same prior can be compared; use learn = FALSE and",
                         "scale = FALSE, or stages of one stream"))
  basis <- unique(rbind(f$posterior$basis, g$posterior$basis))
  if (nrow(basis) == 0L) return(0) # both are the prior
  sum(vapply(seq_len(processes(f)), function(class) {
    points <- joint_basis(f, basis, class)
    if (nrow(points$x) == 0L) return(0) # the kernel is zero at all of them
    divergence(whitened_posterior(f, points, class, "f"),
               whitened_posterior(g, points, class, "g"))
  }, 0))
}

divergence <- function(one, two) {
  shift <- backsolve(two$factor, two$mean - one$mean, transpose = TRUE)
  ratio <- backsolve(two$factor, t(one$factor), transpose = TRUE)
  log_det <- sum(log(diag(two$factor))) - sum(log(diag(one$factor)))
  log_det + (sum(shift^2) + sum(ratio^2) - length(shift)) / 2
}

# Stops unless two fits, which the user gave by these names, have one prior.
check_same_prior <- function(one, other, names, remedy) {
  prior <- function(fit) {
    list(fit$spec, fit$scaling[c("kept", "centre", "sd", "warp", "sphere")],
         fit$response[c("codec", "centre", "unit", "levels")], fit$response$scale,
         mean_record(fit$posterior$trend), kernel_theta(fit))
  }
  if (isTRUE(all.equal(prior(one), prior(other), tolerance = 1e-12))) return(invisible())
  stop_sparsegp(names[2L], paste0("has another kernel, other hyperparameters or another scaling ",
                                  "than `", names[1L], "`"), remedy)
}

# Returns points that do not determine each other, and the Cholesky factor of their kernel
# matrix.
joint_basis <- function(fit, x, class) {
  K <- class_kernel(fit, x, x, class)
  pivoted <- suppressWarnings(chol(K, pivot = TRUE, tol = 1e-12 * max(diag(K))))
  kept <- attr(pivoted, "pivot")[seq_len(attr(pivoted, "rank"))]
  list(x = x[kept, , drop = FALSE], R = pivoted[seq_along(kept), seq_along(kept), drop = FALSE])
}

# Returns the posterior of z, f(x) = R'z at the points, but for a mean: its mean, and the upper
# factor of its covariance.
whitened_posterior <- function(fit, points, class, argument) {
  posterior <- class_posterior(fit$posterior, class)
  K <- class_kernel(fit, points$x, posterior$basis, class)
  W <- backsolve(points$R, K, transpose = TRUE)
  cov <- diag(nrow(W))
  if (!is.null(posterior$G)) cov <- cov - tcrossprod(W %*% posterior$G)
  if (!is.null(posterior$H)) cov <- cov + tcrossprod(W %*% posterior$H)
  mean <- drop(W %*% posterior$alpha)
  trend <- posterior$trend
  if (!is.null(trend)) { # its coefficients stand after the points
    along <- rbind(-W %*% trend$J, trend$root)
    cov <- rbind(cbind(cov, matrix(0, nrow(cov), nrow(trend$root))),
                 matrix(0, nrow(trend$root), nrow(cov) + nrow(trend$root))) + tcrossprod(along)
    mean <- c(mean, trend$coef)
  }
  factor <- tryCatch(chol(cov), error = function(e) {
    stop_sparsegp(argument, "has a posterior so sharp that its divergence is lost in rounding")
  })
  list(mean = mean, factor = factor)
}
