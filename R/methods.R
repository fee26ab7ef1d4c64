#' Methods and how they learn
#'
#' `method_ep()` is expectation propagation, with every row in the basis (full EP) or on the `basis`
#' given to [sparsegp()]. `learn_control()` says how hyperparameters are searched.
#'
#' Each row's likelihood is replaced by a Gaussian site, refined until the posterior moments agree
#' with those of the exact likelihood in the context of all other sites (Minka's formulas 71-94).
#' Sweeps update all sites at once on matrix-matrix operations; a step is halved when the distance
#' from a fixed point grows, and rows are updated one after the other when batch sweeps have used
#' half of `sweeps` without converging. With Gaussian noise the first sweep is exact. Memory: about
#' 3 \eqn{n^2}{n^2} doubles; time: 2/3 \eqn{n^3}{n^3} multiplications a sweep.
#'
#' On a basis of d points the latent function is split into the part that the basis carries and a
#' residual, independent from row to row, of variance \eqn{\gamma(x) = K(x,x) - |R^{-T}
#' k(x)|^2}{gamma(x) = K(x,x) - |R^-T k(x)|^2}, \eqn{K_B = R'R}{K_B = R'R}. Sites are on the carried
#' part, and \eqn{\gamma}{gamma} joins the cavity's variance when the likelihood is asked, so that
#' moments match. Posterior and evidence are those of full EP with the kernel matrix \eqn{K_{nB}
#' K_B^{-1} K_{Bn} + diag(\gamma)}{K_nB K_B^-1 K_Bn + diag(gamma)}; with Gaussian noise they are the
#' FITC regression. A sweep takes \eqn{n d^2}{n d^2} multiplications; memory is about 3 n d doubles,
#' 6 n d while learning. Should \eqn{K_B}{K_B} be singular to rounding, the smallest sufficient
#' share of its diagonal, from 1e-12 to 1e-6, is added to it; `print()` says so and `fit$jitter`
#' holds it.
#'
#' Learning maximises the log evidence plus log priors by `optim(method = "L-BFGS-B")` with exact
#' gradients, on the logarithms of all hyperparameters but `bias`, in a box of 10 to either side of
#' the start; sites are warm-started. Every restart begins at random values around the start; the
#' best end is kept.
#'
#' @param size Most basis points
#' @param projection,freeze,novelty,score,order,pilot todo
#' @param outer todo
#' @param sweeps Most sweeps; whole number of at least 1.
#' @param damping Largest share of a step taken in a batch sweep, in (0, 1].
#' @param tol Convergence: the largest distance of a tilted moment from the posterior's, in units of
#'   the row's cavity standard deviation; positive.
#' @param inner Most iterations of the search; whole number of at least 1.
#' @param restarts Further searches from random starts; whole number of at least 0.
#' @return A value of class `sparsegp_method` or `sparsegp_learn`.
#' @references Minka, T. P. *Gaussian EP* (update formulas), section 2. Seeger, M. (2002). *Notes on
#'   Minka's expectation propagation for Gaussian process classification*, section 2. Csató, L.
#'   (2002). *Gaussian Processes -- Iterative Sparse Approximations*, section 3.6.1 and chapter 4.
#' @examples
#' method_ep(tol = 1e-8)
#' set.seed(1)
#' fit <- sparsegp(dist ~ speed, cars, learn = learn_control(restarts = 2))
#' @name methods
NULL

#' @rdname methods
#' @export
method_ep <- function(size = Inf, projection = c("moment", "kl"), freeze = 2, sweeps = 200,
                      novelty = 1e-6, damping = 1, tol = 1e-6) {
  if (!(is.numeric(damping) && length(damping) == 1L && is.finite(damping) && damping > 0 &&
          damping <= 1)) {
    stop_sparsegp("damping", "must be one number", "Give a value in (0, 1]")
  }
  new_method("ep", "EP", list(
    size = check_count_or_inf(size, "size"),
    projection = check_choice(projection, c("moment", "kl"), "projection"),
    freeze = check_count_or_inf(freeze, "freeze"), sweeps = check_count(sweeps, "sweeps"),
    novelty = check_number(novelty, "novelty", 0, 1), damping = as.double(damping),
    tol = check_number(tol, "tol", 0)
  ))
}

#' @rdname methods
#' @export
method_online <- function(size = 100, projection = c("kl", "moment"),
                          score = c("mean", "kl", "error"), novelty = 1e-6,
                          order = c("given", "random", "informative"), pilot = 500) {
  new_method("online", "online learning", list(
    size = check_count(size, "size"),
    projection = check_choice(projection, c("kl", "moment"), "projection"),
    score = check_choice(score, c("mean", "kl", "error"), "score"),
    novelty = check_number(novelty, "novelty", 0, 1),
    order = check_choice(order, c("given", "random", "informative"), "order"),
    pilot = check_count(pilot, "pilot")
  ))
}

new_method <- function(type, label, settings) {
  structure(c(list(type = type, label = label), settings), class = "sparsegp_method")
}

#' @rdname methods
#' @export
learn_control <- function(inner = 100, outer = 2, restarts = 0) {
  structure(list(inner = check_count(inner, "inner"), outer = check_count(outer, "outer"),
                 restarts = check_count(restarts, "restarts", 0L)),
            class = "sparsegp_learn")
}

#' @export
print.sparsegp_method <- function(x, ...) {
  settings <- x[setdiff(names(x), c("type", "label"))]
  cat("<method> ", x$label, " (", toString(paste(names(settings), settings, sep = " = ")), ")\n",
      sep = "")
  invisible(x)
}

#' @export
print.sparsegp_learn <- function(x, ...) {
  cat("<learning> ", toString(paste(names(x), unlist(x), sep = " = ")), "\n", sep = "")
  invisible(x)
}

# learn = TRUE, FALSE or a learn_control(); FALSE becomes NULL
as_learn <- function(learn) {
  if (inherits(learn, "sparsegp_learn")) return(learn)
  if (is.logical(learn) && length(learn) == 1L && !is.na(learn)) {
    return(if (learn) learn_control())
  }
  stop_sparsegp("learn", "must be TRUE, FALSE or a learn_control()")
}

as_method <- function(method) {
  method <- called(method)
  if (is.null(method)) return(method_ep())
  if (is.character(method) && length(method) == 1L) {
    return(switch(check_choice(method, c("ep", "online"), "method"), ep = method_ep(),
                  online = method_online()))
  }
  check_class(method, "sparsegp_method", "method", "Give a method_*() value such as method_ep()")
}
