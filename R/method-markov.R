#' A series of any length: expectation propagation of a Markov process
#'
#' `method_markov()` is full EP of one numeric input, such as time, at a cost that grows with the
#' number of observations and not with its cube: there are no inducing points (the *basis*), and the
#' posterior is that of [method_ep()] with all observations, to rounding. A million observations
#' take seconds at given hyperparameters.
#'
#' @param sweeps Maximum number of sweeps; whole number of at least 1.
#' @param damping Largest proportion of a step taken in a sweep, in (0, 1].
#' @param mixing Number of past sweeps from which a step is extrapolated (Anderson mixing); whole
#'   number, at most 100, 0: none. It takes `4 * mixing + 10` numbers an observation.
#' @param tol Convergence: the largest distance of a tilted moment from the posterior's, in units of
#'   the observation's cavity standard deviation; positive.
#' @param power Power of the likelihood terms (power EP), see [method_ep()].
#' @param window Number of observations, the last ones in time, that the fit keeps: a whole number
#'   of at least 1; earlier observations are summarised by the state of the process. `NULL`: all are
#'   kept. See "Streams".
#' @return A value of class `sparsegp_method`. Errors are of class `sparsegp_error`.
#' @details
#' A Gaussian process of one input whose kernel is among those below is the first component of a
#' Markov process of m numbers, its state: the function and its derivatives, or the coefficients of
#' cosines. A Kalman filter and a smoother give the marginals that EP's sites need in O(m^2) an
#' observation, for every likelihood of one latent function (Nickisch, Solin and Grigorievskiy 2018;
#' Wilkinson and others 2020). One pass back has the gradient in all hyperparameters.
#'
#' | kernel | states |
#' |---|---|
#' | [kernel_matern12()], [kernel_matern32()], [kernel_matern52()] | 1, 2, 3 |
#' | [kernel_linear()], [kernel_constant()] | 1 |
#' | [kernel_poly()] of degree d | d + 1 |
#' | [kernel_trig()] of order k0 | 2 k0 + 1 |
#' | [kernel_periodic()], by J cosines (Solin and Särkkä 2014) | 2 J + 1 |
#' | a sum | those of its parts together |
#' | a product with a linear, constant or polynomial part | as many times those of the other |
#' | a Matern kernel times a periodic one (a season that changes) | m (2 J + 1) |
#'
#' There may be `r MOST_STATES` states; periodic parts get as many cosines as there is room for. A
#' periodic kernel with a short `lengthscale` has finer ripples than these; there is a warning if
#' more than a thousandth of its variance is left out. Other kernels have no such form:
#' [kernel_matern52()] or a sum of two Matern kernels stands for [kernel_rbf()] and [kernel_rq()].
#' Without a `kernel`, those above are compared, [kernel_matern52()] first.
#' A fit of more than 10 000 observations begins to learn from so many, half of them in windows of
#' consecutive ones, and continues with all of them from where that search ended.
#'
#' Observations may come in any order and at equal times. Precision is that of double numbers at the
#' scale of the input: times that differ by less than 1e-15 of their distance from the mean are one,
#' and beyond gaps of some hundred length scales the past is forgotten. Periodic parts lose digits
#' where a time is 1e10 periods from the mean.
#'
#' ## Streams
#'
#' A fit with a `window` takes later observations in constant memory: `update(fit, newdata)` runs EP
#' on the observations in the window and the new ones, with the state given all earlier ones as the
#' prior, and then keeps the last `window` observations (a few more if outliers at the edge of the
#' window leave those before it without a posterior of their own). With Gaussian noise and given
#' hyperparameters every prediction, and `logLik()`, is that of a fit of all observations; with
#' other likelihoods it is too if sites that are older than the window no longer change, so the
#' window should span a few length scales. Within the window observations may come in any order;
#' earlier ones are an error. A [row_source()] is fitted that way, with a window of 10 000 unless
#' another is given, in two passes: in the first four windows of consecutive rows are kept to learn
#' from, in the second all rows are taken in their order, which has to be that of time (`ORDER BY`):
#' rows that are earlier than what the fit still holds are an error. [predict()], `draws()` and
#' `slopes()` are for times from the start of the window on; `fitted()`, `residuals()` and others
#' that need all observations are errors. There is no `mean =` formula with a window, and no
#' integration over hyperparameters. A Matern kernel describes a function that drifts, without a
#' half-life such as [method_online()] needs.
#'
#' ## Methods of a fit
#'
#' A fit without a window has the methods of other fits. Joint covariances, as in
#' `predict(covariance = TRUE)`, `draws()` and `simulate()`, are for at most `r MOST_JOINT_VALUES`
#' points at a time, and half as many with slopes and averages of slopes: give `newdata` for a
#' longer series. `update(fit, newdata)` adds observations at the same hyperparameters, later or
#' earlier ones: EP continues with all of them, so the result is the fit of all at these
#' hyperparameters.
#'
#' The method does not support several inputs, likelihoods with several latent functions at once,
#' several components, [mixture()] responses, `augment`, and merging of fits; these are errors.
#' @references Hartikainen, J. and Särkkä, S. (2010). Kalman filtering and smoothing solutions to
#'   temporal Gaussian process regression models. *MLSP*. Solin, A. and Särkkä, S. (2014). Explicit
#'   link between periodic covariance functions and state space models. *AISTATS*. Nickisch, H.,
#'   Solin, A. and Grigorievskiy, A. (2018). State space Gaussian processes with non-Gaussian
#'   likelihood. *ICML*. Wilkinson, W., Chang, P., Andersen, M. and Solin, A. (2020). State space
#'   expectation propagation. *ICML*. de Jong, P. (1989). Smoothing and interpolation with the
#'   state-space model. *Journal of the American Statistical Association* 84, 1085-1088. Koopman,
#'   S. J. and Shephard, N. (1992). Exact score for time series models in state space form.
#'   *Biometrika* 79, 823-826.
#' @seealso [fit_methods] for the others, [kernels] ("Time series").
#' @concept state space
#' @concept Kalman filter
#' @concept time series
#' @concept Markov process
#' @concept celerite
#' @examples
#' set.seed(1)
#' t <- 1:5000
#' y <- rpois(5000, exp(sin(t / 300) + 0.3 * cos(t / 20)))
#' fit <- sparsegp(cbind(t = t), y, "poisson", kernel = kernel_matern32(lengthscale = 0.05),
#'                 method = method_markov(), learn = FALSE)
#' fit
#' predict(fit, cbind(t = 5001:5003), interval = "prediction")
#' @export
method_markov <- function(sweeps = 200, damping = 1, mixing = 3, tol = 1e-6, power = 1,
                          window = NULL) {
  refuse_if(!is.null(window) && isTRUE(power == 0),
            "power", "is 0, a bound on all observations at once, and there is a `window`",
            "Leave one of them out")
  new_method("markov", "Markov EP", list(
    sweeps = check_count(sweeps, "sweeps"), damping = check_damping(damping),
    mixing = check_count(mixing, "mixing", 0L, MOST_MIXED), tol = check_number(tol, "tol", 0),
    power = check_power(power), window = if (!is.null(window)) check_count(window, "window")
  ))
}

# Is it by a filter, which takes rows in the order of time?
is_filter <- function(method) inherits(method, "method_markov")

# How many rows a fit keeps, or NULL: all.
window_of <- function(method) if (is_filter(method)) method$window

# Returns a filter with a window, the one it has or another.
filter_with_window <- function(method, window) {
  if (is.null(method$window)) method$window <- as.integer(window)
  method
}
