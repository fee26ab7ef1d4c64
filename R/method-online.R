#' Streams: the sparse online Gaussian process
#'
#' `method_online()` processes every observation once, in constant memory, and continues with
#' [update()][update.sparsegp] as more arrive.
#'
#' @param size Maximum number of inducing points (the *basis*); whole number of at least 1.
#' @param projection How an observation that does not join the basis changes the posterior: `"kl"`
#'   or `"moment"`, see [method_ep()].
#' @param score Which point leaves a full basis: `"kl"`, the exact Kullback-Leibler divergence
#'   (thesis 3.24); `"mean"`, the thesis's approximation by its term of the mean (3.26); or
#'   `"error"`, that without the posterior covariance (3.6). A weight may be near zero by chance
#'   while its point carries information on the variance, so `"kl"` is clearly better on a small
#'   basis, at the same cost.
#' @param novelty An observation joins the basis only if it leaves more than this proportion of the
#'   observation's prior variance unexplained; from 1e-11 to 0.5.
#' @param order Order of the observations of one call: `"given"`; `"random"`, from R's generator; or
#'   `"informative"`: each time the observation among the next 1000 with the largest KL divergence
#'   between posterior and prior (thesis 3.16, 3.8.1), at 1000 times the cost. Only with `"given"`
#'   is the result independent of how observations are divided into calls.
#' @param pilot Number of observations from which scaling, starts and learned values are taken;
#'   whole number of at least 1. If they have one class or one level only, more are taken, see
#'   [update()][update.sparsegp].
#' @param forget `NULL`: nothing is forgotten. Or a half-life, above 0: after so many observations
#'   one counts half; or, by name, after so much of a column of the data, numbers or times that
#'   never decrease (times in the unit that `as.numeric()` gives): `c(time = 3600)`.
#' @param drift `NULL`: the function does not change. Or a half-life as for `forget`, that of the
#'   function's correlation with itself: the function is 1/2 correlated with what it was a half-life
#'   ago, 1/4 with what it was two ago.
#' @return A value of class `sparsegp_method`. Errors are of class `sparsegp_error`.
#' @details
#' An observation joins the basis if it is novel (thesis 3.6), that is if the basis leaves more than
#' `novelty` of its prior variance. If the basis is full, the point with the least score leaves, by
#' the best projection of the process on the others (thesis 3.19-3.22). Scores are computed before
#' anything changes, and a newcomer that would leave at once is projected. A point that the others
#' determine to `novelty` leaves in any case. A `basis` given to [sparsegp()] stays (3.6.1), except
#' for points that are not novel. With a kernel of finite dimension, such as a polynomial, the basis
#' stops growing when it spans it.
#'
#' With `forget` sites decay: an observation counts 1/2 after a half-life, 1/4 after two, in steps
#' of 1/64 of the half-life. With Gaussian noise and a basis that stays this is a weighted fit of
#' all observations. Where the function drifts the posterior follows it, and where no observations
#' come any more it returns to the prior. Without `forget` or `drift` the model has no clock: no
#' score makes up for a basis that is too small for inputs that drift away.
#'
#' With `drift` the function itself moves, as an Ornstein-Uhlenbeck process whose stationary law is
#' the prior (state noise in a Kalman filter). After a time t with \eqn{\rho = 2^{-t/drift}}{rho =
#' 2^(-t / drift)} the posterior at the basis, mean m and covariance V, becomes \eqn{\rho m}{rho m}
#' and \eqn{\rho^2 V + (1 - \rho^2) K}{rho^2 V + (1 - rho^2) K}, in steps of 1/64 of the half-life;
#' a step takes some \eqn{d^3}{d^3} multiplications. With Gaussian noise and a basis with all inputs
#' the stream is the exact Gaussian process with kernel \eqn{k(x, x') \rho(|t - t'|)}{k(x, x')
#' rho(|t - t'|)} of inputs and times, up to these steps, and `logLik()` its evidence, by which
#' half-lives can be compared. Unlike `forget`, the most precise values become uncertain first.
#' `bench/drift.R` compares the two. Predictions are those at the time of the last observation.
#' Hyperparameters are learned as if the function did not move during the pilot.
#'
#' Hyperparameters maximise the evidence of full EP (or EP on the given basis) on the first `pilot`
#' observations, and stay. `logLik()` is the sum of log predictive densities, each observation's
#' given those before it. An observation takes about 4 \eqn{d^2}{d^2} multiplications and d kernel
#' values, and about 20 \eqn{d^2}{d^2} if the basis changes; memory is 4 \eqn{d^2}{d^2} numbers. If
#' `basis` is given, observations are processed in blocks by matrix products, in about half the
#' time. Each is still predicted from all those before it: the results are the same, apart from
#' rounding, for every likelihood.
#'
#' @concept streaming
#' @concept concept drift
#' @concept BV set
#' @concept basis vector
#' @concept KL-optimal projection
#' @concept TAP
#' @concept ADF
#' @concept assumed density filtering
#' @concept Bayesian online learning
#' @aliases streaming
#' @concept online learning
#' @concept forgetting
#' @concept drift
#' @concept Kalman filter
#' @concept time-varying function
#' @references Csató, L. (2002). *Gaussian Processes -- Iterative Sparse Approximations*, chapter 3.
#' @seealso [fit_methods] for the others; [method_markov()] with a `window` for a series of one
#'   input, whose observations come in the order of time: it needs no inducing points;
#'   `vignette("streaming")`.
#' @examples
#' set.seed(1)
#' d <- data.frame(x = runif(800, -10, 10))
#' d$y <- d$x / 10 + sin(d$x) / d$x + 0.1 * rnorm(800)
#' fit <- sparsegp(y ~ x, d, kernel = "rbf", method = method_online(size = 20, pilot = 100))
#' summary(fit)
#' plot(fit, newdata = d[1:200, ])
#' @export
method_online <- function(size = 100, projection = c("kl", "moment"),
                          score = c("kl", "mean", "error"), novelty = 1e-6,
                          order = c("given", "random", "informative"), pilot = 500,
                          forget = NULL, drift = NULL) {
  refuse_if(!is.null(forget) && !is.null(drift), "drift", "is given, and so is `forget`",
            "Give one of them: how observations lose weight, or how the function moves")
  new_method("online", "online learning", list(
    size = check_count(size, "size"),
    projection = check_choice(projection, c("kl", "moment"), "projection"),
    score = check_choice(score, c("kl", "mean", "error"), "score"),
    novelty = check_novelty(novelty),
    order = check_choice(order, c("given", "random", "informative"), "order"),
    pilot = check_count(pilot, "pilot"), forget = check_half_life(forget, "forget"),
    drift = check_half_life(drift, "drift")
  ))
}

# A half-life in rows, or by name in units of a column.
check_half_life <- function(half_life, argument) {
  if (is.null(half_life)) return(NULL)
  check_number(unname(half_life), argument, 0)
  name <- names(half_life)
  if (is.null(name) || !is.na(name) && nzchar(name)) return(half_life)
  stop_sparsegp(argument, "has no name of a column", "Write 1000 for rows, or c(time = 3600)")
}

# Returns the half-life of a stream that has a clock: of its sites, or of its function. Else NULL.
half_life_of <- function(method) method$forget %||% method$drift

# The column with the time of a row; NULL: rows are counted, or there is no clock.
time_column <- function(method) {
  name <- names(half_life_of(method))
  if (!is.null(name)) as.name(name)
}

# Returns the argument that has the half-life, for errors.
clock_argument <- function(method) if (is.null(method$drift)) "forget" else "drift"
