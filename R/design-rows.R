#' Which rows to label or measure next
#'
#' @description `next_rows()` chooses the rows that are most worth a label, or a measurement: those
#' that inform the latent function most, those that are least certain, those that may be better than
#' all so far, or those by which predictions elsewhere are expected to gain most. Rows in a batch
#' are chosen jointly: each is chosen as if those before it had their labels. `next_points()`
#' chooses among all points of a box, for optimisation and the design of experiments. For streams
#' see [ask()].
#'
#' *Experimental: `next_points()` may change in a minor version, see [stability].*
#'
#' @details
#' | `score` | | unit |
#' |---|---|---|
#' | `"information"` | mutual information of the row's label and the latent function: how much less uncertain is one once the other is known? | nats |
#' | `"variance"` | posterior variance of the latent function at the row, summed over classes or components | squared units of the latent function |
#' | `"entropy"` | entropy of the label itself, noise included; for numbers the differential entropy, which may be negative | nats |
#' | `"improvement"` | **logarithm** of the expected improvement on the best predicted mean so far, of the linear predictor | log of units of the latent function |
#' | `"integrated"` | expected fall of a `measure` of uncertainty elsewhere, its weighted mean over `target` (ALC, integrated mean squared prediction error) | as the measure |
#'
#' A row with much noise, or where classes truly overlap, has a label of high entropy and little
#' information (Houlsby and others call the latter BALD). With Gaussian noise of one variance the
#' order by information is that by variance. Improvement is on the latent function, not on noisy
#' responses, and for counts and proportions on the scale of the link: the order of rates and
#' probabilities is the same.
#'
#' @section Information elsewhere:
#' Rows of much information are often at the edge of the data. `"integrated"` measures the value of
#' a label for predictions elsewhere: at the rows of `target`, over a region, or by a weighting
#' function. The `measure` of uncertainty is one of these:
#'
#' | `measure` | falls by | of |
#' |---|---|---|
#' | `"variance"` | variance of the latent function, in squared units of it; summed over classes or components | all responses |
#' | `"error"` | expected proportion of labels that are wrong, 1 minus the largest probability | labels |
#' | `"entropy"` | entropy of labels, noise included; for other responses the entropy of the latent function; in nats | all responses |
#'
#' With \eqn{c}{c} the posterior covariance of a candidate with a target, and \eqn{v}{v} the
#' candidate's variance, the variance at the target falls by \eqn{c^2 / (v + \sigma^2)}{c^2 / (v +
#' noise)} for Gaussian noise: that of a fit that has the row, whatever its response, with the same
#' hyperparameters. For other likelihoods it falls by \eqn{c^2 E[d^2]}{c^2 E d^2} on average over
#' the label, with \eqn{d}{d} the derivative of its log probability by the candidate's mean: an
#' identity, given that the posterior is Gaussian. Errors and entropies of labels are computed label
#' by label: moments at the target are those given each label, exactly for the first row of a batch,
#' probabilities are those of the Gaussian with these moments, and labels count by their
#' probabilities. Entropies of other responses are those of the covariance expected. A refit moves
#' the sites of other rows, too, which is left out. A label that can change no predicted class has
#' no effect on `"error"`, while `"entropy"` falls everywhere.
#'
#' Scores of candidates cost \eqn{O(n m)}{O(n m)} for \eqn{n} candidates and \eqn{m} rows of the
#' target, in memory, too, besides covariances with the basis; for labels as many probabilities for
#' each class, too. `next_points()` climbs by exact slopes of the variance where [slopes()] has
#' those of
#' the fit, else by differences.
#'
#' @section What is exact:
#' Scores refer to the fit's Gaussian posterior. For Gaussian noise, one response or several,
#' information has a closed form and is exact given the labels of other rows: gains of a batch add
#' up to the information of all its labels together. For two classes and ordered categories it
#' consists of the probabilities of `predict()` and a one-dimensional quadrature for the remaining
#' entropy, and is accurate to some 1e-9 (1e-5 for labels with a margin, whose probabilities are by
#' a rule of few nodes). For counts, proportions and other numbers it is computed by sums and
#' integrals over responses, to some 1e-7; counts beyond 1e8 have the relative variation of a count
#' of 1e8, and proportions use sums over all numbers of successes. For several classes it is the
#' mean over 512 evenly spread values of the classes' latent functions, accurate to some 0.01 nats.
#' Recalibrated probabilities (see [fit_methods]) are used only for `"entropy"`.
#'
#' If labels are not normal, those of rows that are chosen already are unknown: means are kept,
#' and covariances become what they are on average over the label, which is exact for the first row
#' taken; from then on the posterior is treated as Gaussian again. Latent functions of several
#' classes are independent of each other unless the fit couples them: then all their covariances
#' count. For `"improvement"` a taken row is given its mean as its response (the kriging believer of
#' Ginsbourger and others), and the best mean is what it is with it.
#'
#' A row taken costs \eqn{O(n (d + k))} for \eqn{n} candidates and a basis of \eqn{d} points, and
#' scores are computed again only where they can still win; memory is \eqn{n (d + k)} numbers.
#'
#' @section Few rows, several inputs:
#' With a length scale for each input and few rows for each, the evidence easily misses an input
#' that matters, and `"improvement"` then leaves its range unexplored for long. The default prior
#' allows for inputs without effect; if all inputs were chosen because they matter, give a narrower
#' one: for \eqn{p} inputs in \eqn{[0, 1]} for instance `prior = list(lengthscale =
#' prior_lognormal(log(0.3 * sqrt(p)), 1))`. The mean of selected rows is not the mean of the
#' function: add `kernel_constant()` to the kernel to estimate it.
#'
#' @param fit A fit of [sparsegp()], by any method; a stream, too.
#' @param candidates The rows to choose from: what [predict][predict.sparsegp] takes as `newdata`,
#'   without responses. Rows with missing values are never chosen.
#' @param k Number of rows (or points) to choose, a whole number of at least 1.
#' @param score One of the scores in the table, by default `"information"`.
#' @param cost Cost of each candidate: positive numbers, one per row; for `next_points()` a function
#'   of points that returns them. Candidates are then chosen by gain per unit of cost. `NULL`: all
#'   cost the same. Not for `"entropy"` of numbers.
#' @param allowed Candidates that may be chosen: `TRUE` or `FALSE` for each row, or a function of
#'   the candidates that returns these. For `next_points()` such a function of points. `NULL`: all.
#' @param goal `score = "improvement"`: `"min"` to find small responses, `"max"` to find large ones.
#' @param best `score = "improvement"`: the value to improve on, in units of the linear predictor
#'   (for regression those of the response). `NULL`: the best predicted mean at the rows of the fit,
#'   or, if it keeps no rows, at the points of its basis.
#' @param target `score = "integrated"`: the places at which predictions should improve: rows, as
#'   `candidates`, or a list, as `within`, for 500 evenly spread points of that box. `NULL`: the
#'   candidates, at most 500 of them, evenly spread; for `next_points()` the box `within`. For sums
#'   over labels of more than two classes there are 100 such rows instead of 500. Rows with missing
#'   values do not count.
#' @param target_weights `score = "integrated"`: weights of the rows of the target, numbers of at
#'   least 0, not all 0, or a function of these rows, a data frame or matrix, that returns them. The
#'   score is a weighted mean. `NULL`: all count the same.
#' @param measure `score = "integrated"`: the measure of uncertainty, `"variance"`, `"error"` or
#'   `"entropy"`; see below. `NULL`: the entropy of labels, the variance of other responses.
#' @param offset,weights Known means of the candidates, for fits of a matrix, and weights (1 /
#'   variance for known variances) or numbers of trials of future responses: one number per row, as
#'   in [predict][predict.sparsegp].
#' @param within A list or data frame with an element for each variable that `predict()` needs: the
#'   range of a number, or the values of anything else to choose from. For fits of a matrix also a
#'   matrix with two rows.
#' @param n Number of random points, a whole number; the best of them are improved by
#'   [stats::optim()]; for `"improvement"` 200 more are tried around the point of the best predicted
#'   mean.
#' @return `next_rows()`: row numbers of `candidates`, in the order chosen:
#'   `candidates[next_rows(fit, candidates), ]` are these rows. They are of class `sparsegp_next`
#'   with methods for [print()], [plot()][plot.sparsegp_next] and [as.data.frame()]: `row`, `name`,
#'   `gain` (the score, given those before, per unit of cost) and `cost` where there is one.
#'
#'   `next_points()`: a data frame of `k` points with the variables of `within`, and as attributes
#'   `gain` their scores, per unit of cost, and `cost` where there is one. Points to try at random
#'   come from R's generator.
#'
#'   Errors, of class `sparsegp_error`: fewer candidates that are complete and allowed than `k`;
#'   costs that are not positive; `"improvement"` of several classes or components; a `target` with
#'   another score than `"integrated"`; the `"error"` of responses other than labels; for
#'   [mixture()], where there is no new response, all but one row by `"variance"`.
#' @references Houlsby, N., Huszár, F., Ghahramani, Z. and Lengyel, M. (2011). Bayesian active
#'   learning for classification and preference learning. *arXiv* 1112.5745.
#'
#'   Ginsbourger, D., Le Riche, R. and Carraro, L. (2010). Kriging is well-suited to parallelize
#'   optimization. In *Computational Intelligence in Expensive Optimization Problems*, Springer.
#'
#'   Cohn, D. A., Ghahramani, Z. and Jordan, M. I. (1996). Active learning with statistical models.
#'   *Journal of Artificial Intelligence Research* 4, 129--145.
#'
#'   Roy, N. and McCallum, A. (2001). Toward optimal active learning through sampling estimation of
#'   error reduction. *Proceedings of the International Conference on Machine Learning*.
#'
#'   Binois, M., Huang, J., Gramacy, R. B. and Ludkovski, M. (2019). Replication or exploration?
#'   Sequential design for stochastic simulation experiments. *Technometrics* 61, 7--23.
#'
#'   Csató, L. (2002). *Gaussian Processes -- Iterative Sparse Approximations*. PhD thesis, Aston
#'   University, section 3.8.1.
#' @concept active learning
#' @concept query learning
#' @concept Bayesian optimisation
#' @concept Bayesian optimization
#' @concept surrogate
#' @concept emulator
#' @concept computer experiments
#' @examples
#' few <- mtcars[seq(1, 32, by = 4), ]
#' fit <- sparsegp(am ~ wt + hp, few, likelihood = "probit")
#' ask_for <- next_rows(fit, mtcars, k = 3)
#' ask_for
#' mtcars[ask_for, ]
#' plot(ask_for)
#'
#' # for predictions of light cars
#' next_rows(fit, mtcars, k = 3, score = "integrated", measure = "entropy",
#'           target = list(wt = c(1.5, 2.5), hp = c(60, 120)))
#'
#' # where is a noisy function smallest?
#' f <- function(x) sin(3 * x) + x^2 / 4
#' set.seed(1)
#' tried <- data.frame(x = c(-2, 0, 2))
#' tried$y <- f(tried$x) + 0.05 * rnorm(3)
#' for (i in 1:3) {
#'   fit <- sparsegp(y ~ x, tried, structure = "fixed")
#'   new <- next_points(fit, list(x = c(-3, 3)), score = "improvement", n = 100)
#'   new$y <- f(new$x) + 0.05 * rnorm(1)
#'   tried <- rbind(tried, new)
#' }
#' tried
#' @export
next_rows <- function(fit, candidates, k = 1, score = SCORES, cost = NULL, allowed = NULL,
                      goal = c("min", "max"), best = NULL, offset = NULL, weights = NULL,
                      target = NULL, target_weights = NULL, measure = NULL) {
  fit <- one_fit(fit)
  k <- check_count(k, "k")
  score <- check_score(score, fit, !is.null(cost))
  refuse_if(missing(candidates), "candidates", "are missing",
            "Give the rows to choose from, as for predict()")
  given <- candidate_rows(fit, candidates, offset, weights)
  rows <- length(given$complete)
  open <- allowed_rows(allowed, candidates, rows) & given$complete
  refuse_if(sum(open) < k,
            "candidates", paste0("have ", sum(open), " rows to choose from, fewer than k = ", k),
            "Give more candidates, complete and allowed")
  if (!is.null(cost)) {
    cost <- check_per_row(cost, rows, "cost", positive = TRUE)
    check_no_missing(cost = cost)
  }
  at <- which(given$complete)
  target <- target_for(fit, score, target, target_weights, measure,
                       function(most) c(given, list(data = candidates, thinned = TRUE)))
  lookahead <- lookahead_for(fit, given, score, goal, best, target)
  taken <- greedy_batch(lookahead, score, k, open[at], cost[at])
  new_choice(fit, candidates, given, taken, score, cost)
}

# Returns scaled inputs and latent moments of the complete candidates, and what puts answers back.
candidate_rows <- function(fit, candidates, offset, weights) {
  blaming("candidates", warn_once({
    new <- complete_inputs(fit, candidates, offset)
    new$latent <- new_latent(fit, candidates, offset)
    weights <- weights_from(weights, candidates)
    check_new_responses(fit, TRUE, weights)
    new$latent$weights <- rep_len(weights_at(fit, new$latent, weights),
                                  sum(new$complete))
    new
  }))
}

allowed_rows <- function(allowed, candidates, rows) {
  if (is.null(allowed)) return(rep(TRUE, rows))
  if (is.function(allowed)) allowed <- allowed(candidates)
  refuse_if(!is.logical(allowed) || length(allowed) != rows,
            "allowed", paste0("must be TRUE or FALSE for each of ", rows, " rows"),
            "Give a logical vector, or a function of the candidates that returns one")
  allowed & !is.na(allowed)
}

# ---- What was chosen ----

new_choice <- function(fit, candidates, given, taken, score, cost) {
  at <- which(given$complete)
  first <- rep(NA_real_, length(given$complete))
  first[at] <- taken$first
  rows <- at[taken$rows]
  structure(rows, class = "sparsegp_next", names = NULL, gain = taken$gain, first = first,
            cost = cost[rows], row_names = given$names[rows], score = score,
            picture = list(fit = fit, x = given$x, latent = given$latent, complete = at,
                           candidates = candidates))
}

#' @rdname next_rows
#' @param x A result of `next_rows()`.
#' @param row.names,optional,... Not used.
#' @export
as.data.frame.sparsegp_next <- function(x, row.names = NULL, optional = FALSE, ...) {
  out <- data.frame(row = as.integer(x), name = attr(x, "row_names"), gain = attr(x, "gain"))
  out$cost <- attr(x, "cost")
  out
}

#' @export
print.sparsegp_next <- function(x, ...) {
  check_no_dots(...)
  cost <- attr(x, "cost")
  cat("<next rows> ", length(x), " of ", length(attr(x, "first")), " by ",
      ACQUISITIONS[[attr(x, "score")]]$words, if (!is.null(cost)) ", per unit of cost",
      if (length(x) > 1L) ", each given those before", "\n", sep = "")
  shown <- as.data.frame(x)
  shown$gain <- signif(shown$gain, 4L)
  if (identical(shown$name, as.character(shown$row))) shown$name <- NULL
  print(shown, row.names = FALSE)
  invisible(x)
}

# Returns a fit at the mode of its hyperparameters, of which its points answer; not an average.
one_fit <- function(fit) {
  refuse_if_average(fit, "fit")
  without_members(ready(check_fit_or_waiting(fit, "fit")))
}
