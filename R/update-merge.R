# Fits of different rows merged: on one basis, on the points of both, or on those of one.

#' Merge fits of different rows
#'
#' Two fits on one basis, with one prior, hold sums over their rows; the fit of all rows holds the
#' sum of both. Fits that are made separately, on machines that share no rows, merge this way: fit
#' some rows, fit the others by `sparsegp(data =, control = gp_control(like = fit))`, which takes
#' basis, scaling, removed constant and hyperparameters from the first, and merge. See [shards] for
#' its use on a cluster, and for what then leaves a machine.
#'
#' With Gaussian noise the merged fit is that of all rows, its log evidence included. For other
#' likelihoods every row's site was found among the rows of its own fit. Where both fits keep their
#' inputs (`gp_control(keep_x = TRUE)`) EP continues with all rows until it converges, and the
#' result is again that of all rows on this basis; where they do not, the sites are kept, the merged
#' fit has no single row (`fitted()`, `residuals()`, `sites()` and `loo_lpd()` are errors), and its
#' log evidence is that of these sites.
#'
#' @section Different bases:
#' Sums on different points (`sparsegp(basis = points, control = gp_control(like = fit))`) add up on
#' the points of both: with \eqn{z_x = P_x z}{z_x = P_x z} the coordinates of one basis in those of
#' all points, \eqn{S = P_x' S_x P_x + P_y' S_y P_y}{S = P_x' S_x P_x + P_y' S_y P_y}, and so
#' \eqn{t}{t}. That is exact, and `onto = "both"` keeps it: the basis grows. With `onto = "x"` the
#' posterior is projected on the points of `x`: the result is the posterior on these with the
#' smallest Kullback-Leibler divergence from the exact one (thesis 3.3), and has its mean and
#' covariance at the points. What is lost, that divergence in nats, is added to
#' `fit$merged$kl_lost`, which `print()` shows. The log evidence is that of the points of both.
#'
#' @param x,y Fits of [sparsegp()] with the same kernel, hyperparameters, likelihood, scaling and
#'   removed constant: `y` was made with `like = x`, or both with `like` a third fit. Not full EP,
#'   streams,
#'   `projection = "kl"` or `method_ivm()` without `refine = "basis"`.
#' @param onto Where the bases differ: `"x"`, the points of `x`, or `"both"`, all points.
#' @param ... Not used; unknown arguments are an error.
#' @return A fit of the rows of both, in that order; `call` is that of `x`. `fit$merged` has `fits`,
#'   how many were merged, and `kl_lost`, in nats. Errors are of class `sparsegp_error`.
#' @references Csató, L. (2002). *Gaussian Processes -- Iterative Sparse Approximations*, section
#'   2.4: what a row adds to a posterior; 3.3: projection.
#' @seealso [update()][update.sparsegp], which adds rows to a fit; [kl()]; [shards].
#' @examples
#' set.seed(1)
#' d <- data.frame(a = runif(400), b = runif(400), c = runif(400))
#' d$y <- sin(6 * d$a) + d$b + 0.1 * rnorm(400)
#' first <- sparsegp(y ~ ., d[1:200, ], method = method_ep(size = 30))
#' second <- sparsegp(data = d[201:400, ], control = gp_control(like = first))
#' both <- merge(first, second)
#' c(nobs(first), nobs(second), nobs(both))
#' predict(both, d[1:2, ], se.fit = TRUE)
#'
#' elsewhere <- sparsegp(data = d[201:400, ], basis = d[201:225, ],
#'                       control = gp_control(like = first))
#' merge(first, elsewhere)$merged$kl_lost
#' @export
merge.sparsegp <- function(x, y, onto = c("x", "both"), ...) {
  check_no_dots(...)
  onto <- check_choice(onto, c("x", "both"), "onto")
  check_class(y, "sparsegp", "y", "Give another fit of sparsegp()")
  x <- check_fit_or_waiting(x, "x")
  y <- check_fit_or_waiting(y, "y")
  refuse_no_state(x, "x")
  refuse_no_state(y, "y")
  check_same_model(x, y)
  packed_fit(merge_fits(full_sums(x), full_sums(y), onto))
}

merge_fits <- function(x, y, onto) {
  if (length(x$xlevels)) x$xlevels <- joint_levels(x$xlevels, y$xlevels)
  same <- isTRUE(all.equal(bases_of(x), bases_of(y), tolerance = 1e-12))
  if (same && keeps_inputs(x) && keeps_inputs(y)) {
    rows <- list(x = y[["x"]], y = y$y, offset = y$offset, weights = y$weights,
                 names = y$row_names, sites = y$sites)
    new <- take_more(x, problem_of_kept_rows(y), rows)
    new$merged <- merged_record(x, y)
    return(new)
  }
  new <- if (same) with_posterior(replace(x, "state", list(add_states(x$state, y$state))))
         else on_points(x, joint_states(x, y))
  new$n <- row_count(x$n, y$n)
  new$log_evidence <- x$log_evidence + y$log_evidence + state_mass(new$state) -
    state_mass(x$state) - state_mass(y$state) - mean_normalisation(x$posterior$trend)
  new <- note_rows(new, x, NULL, NULL, NULL, all = FALSE)
  new$merged <- merged_record(x, y)
  if (same) return(new)
  if (onto == "x") return(projected_on(new, x))
  new["basis_rows"] <- new["basis_rows_of"] <- list(NULL)
  new
}

merged_record <- function(x, y) {
  known <- function(fit) if (is.null(fit$merged)) list(fits = 1L, kl_lost = 0) else fit$merged
  Map(`+`, known(x), known(y))
}

check_same_model <- function(x, y) {
  remedy <- "Make it by sparsegp(data =, control = gp_control(like = x))"
  check_same_prior(x, y, c("x", "y"), remedy)
  same <- identical(x$likelihood, y$likelihood) && length(x$state) == length(y$state) &&
    isTRUE(all.equal(lik_theta(x), lik_theta(y), tolerance = 1e-12))
  if (!same) stop_sparsegp("y", "has another likelihood than `x`", remedy)
}

# ---- Different bases ----

# Returns the sums of both fits on the points of both, one for each basis.
joint_states <- function(x, y) {
  lapply(seq_along(x$state), function(g) {
    points <- joint_basis(x, unique(rbind(bases_of(x)[[g]], bases_of(y)[[g]])), g)
    one <- carried_sums(x, g, points)
    other <- carried_sums(y, g, points)
    list(points = points$x, R = points$R, S = one$S + other$S, t = one$t + other$t)
  })
}

# Returns P, z = P z_all: z of a fit's basis in the coordinates of more points.
coordinates_in <- function(fit, g, points) {
  K <- class_kernel(fit, points$x, bases_of(fit)[[g]], g)
  W <- backsolve(points$R, K, transpose = TRUE)
  state <- fit$state[[g]]
  P <- backsolve(state$R, t(W), transpose = TRUE)
  coefficients <- diag(nrow(state$t) - nrow(state$R)) # of a mean, the same in both
  rbind(cbind(P, matrix(0, nrow(P), nrow(coefficients))),
        cbind(matrix(0, nrow(coefficients), ncol(P)), coefficients))
}

carried_sums <- function(fit, g, points) {
  P <- coordinates_in(fit, g, points)
  state <- fit$state[[g]]
  each <- lapply(process_sums(state), function(S) crossprod(P, S %*% P))
  list(S = do.call(cbind, each), t = crossprod(P, state$t))
}

# Projects a fit on the bases of `onto`: mean and covariance there stay. Notes what is lost.
projected_on <- function(fit, onto) {
  states <- lapply(seq_along(fit$state), function(g) {
    state <- fit$state[[g]]
    P <- coordinates_in(onto, g, list(x = bases_of(fit)[[g]], R = state$R))
    each <- Map(function(S, process) {
      M <- chol2inv(chol(diag(ncol(P)) + S))
      precision <- chol2inv(chol(P %*% M %*% t(P)))
      list(S = precision - diag(nrow(P)),
           t = precision %*% (P %*% (M %*% state$t[, process])))
    }, process_sums(state), seq_len(ncol(state$t)))
    list(points = bases_of(onto)[[g]], R = onto$state[[g]]$R,
         S = do.call(cbind, lapply(each, `[[`, "S")), t = do.call(cbind, lapply(each, `[[`, "t")))
  })
  new <- on_points(fit, states)
  lost <- blaming("x", blaming("y", kl(fit, new), "g"), "f")
  new$merged$kl_lost <- fit$merged$kl_lost + max(0, lost)
  new
}

# Returns the levels of factors that two fits of one model have. One may have learned some that the
# other lacks; if both have, the same number may mean different levels.
joint_levels <- function(one, other) {
  Map(function(a, b) {
    shared <- seq_len(min(length(a), length(b)))
    if (identical(a[shared], b[shared])) return(if (length(a) > length(b)) a else b)
    stop_sparsegp("y", paste0("has learned other levels of a factor than `x`: ",
                              toString(setdiff(b, a)), " and ", toString(setdiff(a, b))),
                  "Merge fits that have the same levels of their factors")
  }, one, other)
}
