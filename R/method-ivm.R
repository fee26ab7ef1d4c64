#' The informative vector machine
#'
#' `method_ivm()` chooses inducing points (the *basis*) one at a time, each time the observation
#' that would change the posterior most, in nats of information.
#'
#' @param size Number of points in the active set; whole number of at least 1.
#' @param select How the next point is chosen: by `"information"`, by `"entropy"`, or at `"random"`.
#' @param refine `"basis"`: all observations contribute through the active set; `"active"`: only
#'   those in it, with sites iterated to convergence; `"none"`: these, with sites that are set once,
#'   as in the paper.
#' @param pool Memory for the stubs of the candidates, as a number of their elements; whole number
#'   or `Inf`.
#' @param keep Proportion of the candidates that are kept for their gain when their number is
#'   reduced; from 0 to 1.
#' @param block Number of inclusions between reductions; whole number of at least 1.
#' @param exchange Maximum number of exchange moves; whole number of at least 0.
#' @param min_gain The selection stops when no candidate gains more than this, in nats; at least 0.
#' @param common Several latent functions with `refine = "basis"`: `TRUE` for one basis, the union
#'   of their active sets, `FALSE` for one each.
#' @param sweeps Maximum number of sweeps; whole number of at least 1.
#' @param damping Largest proportion of a step taken in a batch sweep, in (0, 1].
#' @param mixing Number of past sweeps from which a batch step is extrapolated (Anderson mixing);
#'   whole number, at most 100, 0: none. It halves the number of sweeps where sites are precise, and
#'   matters little elsewhere; more than 3 gain nothing. It takes `4 * mixing + 10` numbers a latent
#'   value, and a second pass over the observations in every sweep if `pool` does not hold them.
#' @param tol Convergence: the largest distance of a tilted moment from the posterior's, in units of
#'   the observation's cavity standard deviation; positive.
#' @param total Several latent functions: most points in the active sets of all of them together,
#'   each of which has up to `size`; whole number of at least 1. `NULL`: no more than `size` each.
#' @return A value of class `sparsegp_method`. Errors are of class `sparsegp_error`.
#' @details
#' *Selection.* `"information"` is the Kullback-Leibler divergence of the posterior after an
#' inclusion from that before (IVM paper, eq. 5); `"entropy"` is the fall of the entropy of the
#' observation's own marginal. Ties within 1e-10 go to the earliest observation. A site is set once,
#' at its inclusion. An inclusion costs a pass over the n x d stubs (appendix C.1), a kernel column
#' and n tilts. If the stubs take more than `pool`, the candidates are reduced after every `block`
#' inclusions to as many as fit, a proportion `keep` by their gain and the rest at random (section
#' 3.2).
#'
#' *Exchange* (Seeger's notes, section 2.3): the point whose loss raises the posterior's entropy
#' least is taken out, which gives all marginals without it (eqs 8, 9), and the candidate that
#' lowers the entropy most is put in, if that is less entropy than before. The first move that fails
#' is the last.
#'
#' *Refinement.* With `"none"` only the active points' sites make the posterior. `"active"` iterates
#' these sites to convergence. `"basis"`, the default, makes the active set the basis of batch EP,
#' to which all observations contribute: the paper's own remedy for its variances and for
#' regression.
#'
#' *Learning* maximises the evidence of batch EP on the active set in rounds, or the paper's
#' criterion, `learn_control("ivm")`. `logLik()` is the evidence of batch EP, or with `refine =
#' "none"` that criterion. `fit$convergence$selection` records why the selection `stopped`, and its
#' `trace`: `size`, `row`, `gain` in nats, and `log_evidence`, the sum of log Z of every inclusion
#' given those before it and of all other candidates.
#'
#' *Several classes*: an observation is included for a class (4.2); every class has its own active
#' set of `size` points, unless `common = TRUE`. With a `total` the next point goes to the class
#' that gains most from it until there are so many, so classes that are hard to tell from the others
#' get more of them (4.1). One-vs-rest models are independent of each other, and have no total.
#' Exchange moves, `refine = "active"` and `criterion = "ivm"` are for one latent function.
#'
#' Information gain chooses well for classes. In regression the most surprising observations are
#' also the noisiest; there the exchanges of `method_ep(size =)` are the safer choice.
#'
#' @concept informative vector machine
#' @concept active set
#' @concept randomised greedy
#' @concept randomized greedy
#' @concept differential entropy score
#' @concept inducing points
#' @references Seeger, Lawrence and Herbrich, *Efficient Nonparametric Bayesian Modelling with
#'   Sparse Gaussian Process Approximations*, sections 3 and 6.1 and appendix C. Seeger, M. (2002).
#'   *Notes on Minka's expectation propagation for Gaussian process classification*, section 2.3.
#' @seealso [fit_methods] for the others, [learn_control()].
#' @examplesIf requireNamespace("MASS", quietly = TRUE)
#' fit <- sparsegp(sex ~ FL + RW, MASS::crabs, kernel = "rbf", method = method_ivm(size = 20))
#' plot(fit, type = "trace")
#' fit <- sparsegp(sex ~ FL + RW, MASS::crabs, kernel = "rbf",
#'                 method = method_ivm(size = 20, refine = "none"),
#'                 learn = learn_control("ivm", outer = 3))
#' fit$choices
#' @export
method_ivm <- function(size = 100, select = c("information", "entropy", "random"),
                       refine = c("basis", "active", "none"), pool = Inf, keep = 0.5, block = 100,
                       exchange = 0, min_gain = 0, common = FALSE, sweeps = 200, damping = 1,
                       mixing = 3, tol = 1e-6, total = NULL) {
  new_method("ivm", "the IVM", list(
    size = check_count(size, "size"),
    select = check_choice(select, c("information", "entropy", "random"), "select"),
    refine = check_choice(refine, c("basis", "active", "none"), "refine"),
    pool = check_count_or_inf(pool, "pool"), keep = check_number(keep, "keep", 0, 1, open = FALSE),
    block = check_count(block, "block"), exchange = check_count(exchange, "exchange", 0L),
    min_gain = check_number(min_gain, "min_gain", 0, open = FALSE),
    common = check_flag(common, "common"),
    sweeps = check_count(sweeps, "sweeps"), damping = check_damping(damping),
    mixing = check_count(mixing, "mixing", 0L, MOST_MIXED), tol = check_number(tol, "tol", 0),
    total = if (!is.null(total)) check_count(total, "total")
  ))
}
