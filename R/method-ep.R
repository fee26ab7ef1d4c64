#' Expectation propagation: full, or on inducing points
#'
#' `method_ep()` is full EP of all observations, which is exact for Gaussian noise. `method_ep(size
#' = d)` chooses d inducing points (the *basis*) through which all observations contribute.
#' `method_ep(size = NULL)` increases their number while it pays. With a `basis` given to
#' [sparsegp()] it is EP on these points.
#'
#' @param size Maximum number of inducing points: a whole number of at least 1, `Inf` (all
#'   observations), or `NULL` (as many as pay; one latent function). With several components of the
#'   response a point stands for all of them.
#' @param projection How an observation that does not join the basis changes the posterior:
#'   `"moment"` (FITC) or `"kl"` (DTC). Evidence and learning always use `"moment"`.
#' @param freeze Number of sweeps in which basis points are exchanged; whole number of at least 1,
#'   or `Inf`: all.
#' @param sweeps Maximum number of sweeps; whole number of at least 1.
#' @param score Which point leaves a full basis: `"kl"`, the exact Kullback-Leibler divergence; or
#'   `"mean"`, the thesis's; or `"error"`. A weight may be near zero by chance while its point
#'   carries information on the variance, so `"kl"` is clearly better on a small basis, at the
#'   same cost.
#' @param novelty An observation joins the basis only if it leaves more than this proportion of the
#'   observation's prior variance unexplained; from 1e-11 to 0.5.
#' @param damping Largest proportion of a step taken in a batch sweep, in (0, 1].
#' @param mixing Number of past sweeps from which a batch step is extrapolated (Anderson mixing);
#'   whole number, at most 100, 0: none. It halves the number of sweeps where sites are precise, and
#'   matters little elsewhere; more than 3 gain nothing. It takes `4 * mixing + 10` numbers a latent
#'   value, and a second pass over the observations in every sweep if `pool` does not hold them.
#' @param tol Convergence: the largest distance of a tilted moment from the posterior's, in units of
#'   the observation's cavity standard deviation; positive. While hyperparameters of several
#'   classes are learned, sweeps end at `r policy$class_search_tolerance` times that, unless this is
#'   above `r policy$learn_tolerance`.
#' @param pool Memory for the matrix of observations on the basis, as a number of its elements;
#'   whole number or `Inf`. Beyond it the matrix is computed anew in blocks.
#' @param starts For ambiguous measurements ([lik_mixture()]): number of online passes from which EP
#'   starts, the first in the order of the data and the others in random orders; further starts are
#'   each part of all observations, and two that are derived from every mode that is found, up to
#'   `r policy$mode_runs` runs of EP for each pass. Whole number of at least 1, `NULL`: 4. See
#'   [modes()].
#' @param power Power to which the likelihood of an observation is raised, in \[0, 1\]: 1 is EP, 0
#'   variational inference, between them at least 0.01 is power EP; see Details. Below 1 for
#'   likelihoods of one latent value, those of your own ([lik_custom()]) included, and several
#'   classes one-vs-rest. 0 needs a density that is nowhere 0.
#' @param learn_points `TRUE` if the inducing points are learned after they have been chosen among
#'   the observations or given as `basis`, see below; `FALSE` if they stay.
#' @return A value of class `sparsegp_method`. Errors are of class `sparsegp_error`.
#' @details
#' *Full EP.* Each observation's likelihood is replaced by a Gaussian site, which is refined until
#' the posterior moments agree with those of the exact likelihood given all other sites (Minka's
#' formulas 71-94). Sweeps update all sites at once, by matrix products. A step is halved when the
#' distance from the fixed point grows. If batch sweeps have used half of `sweeps` without
#' converging, sites are updated one after the other. With Gaussian noise the first sweep is exact.
#'
#' *On a given basis.* The latent function is split into the part that d points carry and a residual
#' that is independent from observation to observation. `"moment"` keeps the variance of the
#' residual in the likelihood and gives FITC; `"kl"` projects it away and gives, for Gaussian noise,
#' DTC (the projected process). A sweep takes \eqn{n d^2}{n d^2} multiplications. If the points'
#' kernel matrix is singular to rounding, the smallest sufficient proportion of its diagonal, from
#' 1e-12 to 1e-6, is added (`fit$jitter`, which `print()` shows).
#'
#' *A basis that is chosen* is sparse EP (thesis 4.6 and appendix G). In `freeze` sweeps each
#' observation's site is removed, and the observation is processed anew and may join the basis; the
#' point with the least score leaves, if the basis is full. Then batch EP (`"moment"`) or further
#' sweeps (`"kl"`) run to convergence on these points. `freeze = Inf` with `projection = "kl"` and
#' `score = "mean"` is the thesis's algorithm to the letter. While hyperparameters are learned,
#' choosing the basis and maximising the evidence on it alternate in `outer` rounds
#' ([learn_control()]), of which the best is kept.
#'
#' *A basis that is learned* (`learn_points = TRUE`; Snelson and Ghahramani 2006) begins with the
#' chosen or given points. When hyperparameters have been learned on these, the points move, too:
#' the log evidence is maximised in their inputs and all hyperparameters together, by at most
#' `inner` iterations ([learn_control()]) with the exact gradient, which for d points and p inputs
#' takes some \eqn{n d p}{n d p} multiplications more. The points are then no longer observations.
#' They move along inputs that are numbers and along which the kernel has a derivative, up to the
#' width of the data from where they began; along factors, inputs of only two values, and inputs
#' that [kernel_matern12()] or [kernel_factor()] reads, they stay. With `learn = FALSE` they stay,
#' too. A search over hundreds of coordinates takes more evaluations; `RESULTS.md` compares density
#' and time.
#'
#' *Several classes* ([lik_mprobit()], [lik_softmax()]) have a latent function each and one basis in
#' common. Time and memory are linear in their number. The sites' shifts come from one Newton step
#' for all classes; without it a shift of all latent functions together, which does not change the
#' likelihood, would take hundreds of sweeps.
#'
#' *Power EP* (Minka 2004). With a power p the cavity is the posterior without \eqn{t_i^p}{t_i^p}
#' of an observation's site \eqn{t_i}{t_i}, the tilted distribution is the cavity times
#' \eqn{p(y_i|f_i)^p}{p(y_i|f_i)^p}, and the site is the Gaussian factor that matches its moments,
#' to the power 1 / p. The log evidence is \deqn{\log\int p(f)\prod_i t_i(f_i)\,df +
#' \frac1p\sum_i\left[\log\int q_{-i}(f_i) p(y_i|f_i)^p\,df_i - \log\int q_{-i}(f_i)
#' t_i(f_i)^p\,df_i\right],}{log int p(f) prod t_i(f_i) df + (1 / p) sum_i [log int q_-i(f_i)
#' p(y_i | f_i)^p df_i - log int q_-i(f_i) t_i(f_i)^p df_i],} with its exact gradient. In the
#' limit p = 0 it is the variational lower bound, and the posterior the normal distribution of
#' largest bound (Opper and Archambeau 2009). On inducing points this is the family of Bui, Yan
#' and Turner (2017): FITC at p = 1, the variational approximation of Titsias (2009) at p = 0.
#' Cavities that a fit keeps, and leave-one-out densities, are without whole sites.
#'
#' *Where EP has no fixed point.* Terms that are not log-concave may have none: each of the labels
#' of [lik_step()] adds precision in proportion to that of the others there, and where enough of
#' them contradict each other precisions grow without end. If EP has failed, has not come near a
#' fixed point (change above 0.01 after all sweeps), or has a log evidence that labels cannot have,
#' the fit is the one of p = 0, with a warning. Its bound has a maximum, each sweep raises it (a
#' step that does not is halved), so the iteration always ends. `fit$convergence$fallback` records
#' the state in which EP ended. There a label noise of 0, under which contradictions are impossible,
#' is replaced by `r policy$least_label_noise`. Hyperparameters are learned by the bound if EP fails
#' wherever the search begins.
#'
#' @concept expectation propagation
#' @concept variational inference
#' @concept power EP
#' @concept sparse EP
#' @concept KL-optimal projection
#' @concept TAP
#' @concept inducing points
#' @concept pseudo-inputs
#' @concept moment matching
#' @concept FITC
#' @concept DTC
#' @references Minka, T. P. *Gaussian EP* (update formulas), section 2. Seeger, M. (2002). *Notes on
#'   Minka's expectation propagation for Gaussian process classification*, section 2. Csató, L.
#'   (2002). *Gaussian Processes -- Iterative Sparse Approximations*, chapters 3 and 4, appendix G.
#'   Minka, T. P. (2004). *Power EP*. Microsoft Research, TR-2004-149. Opper, M. and Archambeau, C.
#'   (2009). The variational Gaussian approximation revisited. *Neural Computation* 21, 786-792.
#'   Bui, T. D., Yan, J. and Turner, R. E. (2017). A unifying framework for Gaussian process
#'   pseudo-point approximations using power expectation propagation. *Journal of Machine Learning
#'   Research* 18 (104), 1-72. Titsias, M. K. (2009). Variational learning of inducing variables in
#'   sparse Gaussian processes. *AISTATS* 5, 567-574.
#'   Snelson, E. and Ghahramani, Z. (2006). Sparse Gaussian processes using pseudo-inputs. *Advances
#'   in Neural Information Processing Systems* 18.
#' @seealso [fit_methods] for the others, [basis] for inducing points of your own.
#' @examplesIf requireNamespace("MASS", quietly = TRUE)
#' fit <- sparsegp(sex ~ FL + RW, MASS::crabs, kernel = "rbf", method = method_ep(size = 20))
#' plot(fit, type = "trace")
#' method_ep(tol = 1e-8)
#'
#' # variational inference in place of EP: a lower bound of the log evidence
#' bound <- sparsegp(sex ~ FL + RW, MASS::crabs, method = method_ep(power = 0), learn = FALSE)
#' logLik(bound)
#' @export
method_ep <- function(size = Inf, projection = c("moment", "kl"), freeze = 2, sweeps = 200,
                      score = c("kl", "mean", "error"), novelty = 1e-6, damping = 1, mixing = 3,
                      tol = 1e-6, pool = Inf, starts = NULL, power = 1, learn_points = FALSE) {
  new_method("ep", "EP", list(
    size = if (!is.null(size)) check_count_or_inf(size, "size"),
    projection = check_choice(projection, c("moment", "kl"), "projection"),
    freeze = check_count_or_inf(freeze, "freeze"), sweeps = check_count(sweeps, "sweeps"),
    score = check_choice(score, c("kl", "mean", "error"), "score"),
    novelty = check_novelty(novelty), damping = check_damping(damping),
    mixing = check_count(mixing, "mixing", 0L, MOST_MIXED), tol = check_number(tol, "tol", 0),
    pool = check_count_or_inf(pool, "pool"),
    starts = if (!is.null(starts)) check_count(starts, "starts"), power = check_power(power),
    learn_points = check_flag(learn_points, "learn_points")
  ))
}

MOST_MIXED <- 100L # past sweeps; a few are enough, and each takes memory

# Batch EP as the method would have it.
batch_settings <- function(method, tol = Inf) {
  given <- method[intersect(names(method), c("sweeps", "damping", "mixing", "tol", "power"))]
  settings <- utils::modifyList(method_ep(), given)
  settings$tol <- min(settings$tol, tol)
  settings
}
