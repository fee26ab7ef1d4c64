# Fits like another, fits merged.

# ---- like ----

# What a fit like another takes from it, so that nothing else may say it.
FROM_LIKE <- c("likelihood", "kernel", "method", "learn", "prior", "basis", "scale", "subset",
               "na.action")

# sparsegp(like = fit): `call` is the user's, its arguments evaluated in `frame`.
fit_like <- function(like, call, frame) {
  check_class(like, "sparsegp", "like", "Give a fit of sparsegp()")
  check_fit_or_waiting(like, "like")
  refuse_no_state(like, "like")
  said <- intersect(names(call), FROM_LIKE)
  if (length(said)) {
    stop_sparsegp(said[1L], "comes from `like`", "Leave it out, or leave `like` out")
  }
  given <- function(name) eval(call[[name]], frame)
  empty <- without_rows(like, given("keep_x"))
  chunk <- if (is.null(like$terms)) {
    more_rows_of_matrix(like, given("x"), given("y"), given("offset"), given("weights"))
  } else {
    check_same_formula(like, given("formula"))
    source <- as_source(given("data"))
    if (!is.null(source)) {
      fit <- fold_like(empty, source, call$weights, isTRUE(given("verbose")), given("checkpoint"))
      fit$call <- call
      return(fit)
    }
    refuse_checkpoint(given("checkpoint"))
    more_rows_of_formula(like, given("data"), given("weights"))
  }
  if (chunk_size(chunk) == 0L) stop_sparsegp("data", "has no complete rows")
  fit <- feed(empty, chunk)
  fit["learning"] <- list(NULL)
  fit$call <- call
  fit
}

check_same_formula <- function(like, formula) {
  if (is.null(formula)) return(invisible())
  same <- identical(deparse(stats::formula(like)), deparse(stats::formula(formula)))
  written <- identical(deparse(like$call$formula), deparse(formula)) # a dot stands in both
  if (same || written) return(invisible())
  stop_sparsegp("formula", "is not that of `like`", "Leave it out")
}

# ---- merge ----

#' Merge fits of different rows
#'
#' Two fits on one basis, with one prior, hold sums over their rows; the fit of all rows holds the
#' sum of both. Fits made apart, on machines that share no rows, merge this way: fit some rows, fit
#' the others by `sparsegp(like = fit, data = )`, which takes basis, scaling, removed constant and
#' hyperparameters from the first, and merge.
#'
#' With Gaussian noise the merged fit is that of all rows, its log evidence included. For other
#' likelihoods every row's site was found among the rows of its own fit. Where both fits keep their
#' inputs (`keep_x`) EP goes on with all rows until it converges, and the result is again that of
#' all rows on this basis; where they do not the sites stand, the merged fit knows of no single row
#' (`fitted()`, `residuals()`, `sites()` and `loo_lpd()` are errors), and its log evidence is that
#' of these sites.
#'
#' @param x,y Fits of [sparsegp()] on the same basis with the same kernel, hyperparameters,
#'   likelihood, scaling and removed constant: `y` was made like `x`, or both like a third. Not full
#'   EP, streams, `projection = "kl"` or `method_ivm()` without `refine = "basis"`.
#' @param ... Nothing.
#' @return A fit of the rows of both, in that order; `call` is that of `x`. Errors are of class
#'   `sparsegp_error`.
#' @references Csató, L. (2002). *Gaussian Processes -- Iterative Sparse Approximations*, section
#'   2.4: what a row adds to a posterior.
#' @seealso [update()][update.sparsegp], which adds rows to a fit; [kl()].
#' @examples
#' set.seed(1)
#' d <- data.frame(a = runif(400), b = runif(400), c = runif(400))
#' d$y <- sin(6 * d$a) + d$b + 0.1 * rnorm(400)
#' first <- sparsegp(y ~ ., d[1:200, ], method = method_ep(size = 30))
#' second <- sparsegp(like = first, data = d[201:400, ])
#' both <- merge(first, second)
#' c(nobs(first), nobs(second), nobs(both))
#' predict(both, d[1:2, ], se.fit = TRUE)
#' @export
merge.sparsegp <- function(x, y, ...) {
  check_no_dots(...)
  check_class(y, "sparsegp", "y", "Give another fit of sparsegp()")
  check_fit_or_waiting(x, "x")
  check_fit_or_waiting(y, "y")
  refuse_no_state(x, "x")
  refuse_no_state(y, "y")
  check_same_prior(x, y)
  check_same_basis(x, y)
  if (keeps_inputs(x) && keeps_inputs(y)) return(merge_rows(x, y))
  new <- x
  new$n <- x$n + y$n
  new$state <- add_states(x$state, y$state)
  new <- with_posterior(new)
  new$log_evidence <- x$log_evidence + y$log_evidence + state_mass(new$state) -
    state_mass(x$state) - state_mass(y$state)
  note_rows(new, x, NULL, NULL, NULL, all = FALSE)
}

merge_rows <- function(x, y) {
  rows <- list(x = y[["x"]], y = y$y, offset = y$offset, weights = y$weights, names = y$row_names,
               sites = y$sites)
  take_more(x, problem_of_rows(y), rows)
}

check_same_basis <- function(x, y) {
  same <- isTRUE(all.equal(bases_of(x), bases_of(y), tolerance = 1e-12)) &&
    identical(x$likelihood, y$likelihood) &&
    isTRUE(all.equal(lik_theta(x), lik_theta(y), tolerance = 1e-12))
  if (same) return(invisible())
  stop_sparsegp("y", "has another basis or another likelihood than `x`",
                "Make it by sparsegp(like = x, data = )")
}
