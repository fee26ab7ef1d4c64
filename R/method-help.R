#' Methods: how a fit is computed
#'
#' Leave `method` out, and [sparsegp()] decides. Give one to fix the number of inducing points (the
#' *basis*), to process a stream, or to run a published algorithm unchanged.
#'
#' | you have | use | time; memory, in numbers |
#' |---|---|---|
#' | any data | nothing: the default, see below | as below |
#' | up to about 1500 observations | [method_ep()], full EP | \eqn{n^3}{n^3}; \eqn{3 n^2}{3 n^2} |
#' | one numeric input, such as time, and a Markov kernel | [method_markov()] | \eqn{n m^2}{n m^2} for m states; \eqn{n m}{n m} |
#' | two to five numeric inputs, such as places, and a rough function | [method_neighbours()] | \eqn{n k^3}{n k^3} for k neighbours; \eqn{n k}{n k} |
#' | more, your own inducing points | `basis =` of [sparsegp()], see [basis] | \eqn{n d^2}{n d^2}; \eqn{n d}{n d} or less |
#' | more, a fixed number of inducing points | [method_ep(size = d)][method_ep] | \eqn{n d^2}{n d^2} |
#' | more, a number that is chosen for you | [method_ep(size = NULL)][method_ep] | increases d while it pays |
#' | labels; the most informative inducing points | [method_ivm(size = d)][method_ivm] | \eqn{n d^2}{n d^2} |
#' | observations of one input that arrive in the order of time | [method_markov(window = w)][method_markov] | \eqn{m^2}{m^2} an observation; \eqn{w m}{w m} |
#' | observations that arrive one by one, or that drift | [method_online()] | \eqn{4 d^2}{4 d^2} an observation; \eqn{4 d^2}{4 d^2} |
#' | data larger than memory | a [row_source()], with any of these but full EP; `method_ivm()` chooses among the rows kept, and only with `refine = "basis"` unless all are kept | a few numbers an observation |
#'
#' [learn_control()] describes the search for hyperparameters. The formulas, with their sources, are
#' in `vignette("computed")`.
#'
#' @section Without a method:
#' A strategy chooses, by the kind of response and the number of observations, and
#' `fit$choices` records each candidate that was compared (stage, candidate, observations, inducing
#' points, score, gain over the best before and its standard error, taken); `print()` and
#' `summary()` show it. The same data give the same fit: subsets are spread evenly over the
#' observations, each class in proportion, and computational budgets are counted in multiplications.
#' `effort` multiplies the budgets by `r policy$effort[1]`, 1 or `r policy$effort[3]`.
#'
#' Full EP of all observations is used up to 1504 of them with Gaussian noise, 752 with other
#' likelihoods, \eqn{752 / C^{1/3}}{752 / C^(1/3)} with a latent function for each of C classes.
#' With one numeric input, a search for hyperparameters computes the same log evidence in less time:
#' that of a Markov kernel by the filter of [method_markov()], that of a smooth function by inducing
#' points that leave less than 1e-10 of its variance open. The final fit is full EP.
#' Beyond:
#'
#' *A series: one numeric input, one latent function*, and a kernel that is open or a Markov
#' process; or one latent function of each class, one-vs-rest, whose probabilities are recalibrated.
#' The fit is by [method_markov()], so its posterior is still that of full EP. Kernels are compared
#' on `r policy$series_rows` observations or all, [kernel_matern52()] first, and the best is learned
#' with all. Half of these observations are in `r policy$pilot_windows` windows of consecutive ones,
#' as noise and a rough function differ there alone, and half are spread over all. Other noises than
#' Gaussian are compared on `r policy$series_rows / policy$ep_iterations` of them. The search begins
#' at the best of length scales from the usual one down to the gap
#' between neighbouring times. Streams, sources, `augment` and a given `basis` use inducing points.
#'
#' *One latent function: numbers, counts, proportions.*
#'
#' With two numeric inputs, or with Gaussian noise two to `r policy$neighbour_inputs`, and
#' `r policy$neighbours_from` observations or more, [method_neighbours()] is tried first (two labels
#' included; with `k` = `r policy$latent_neighbours` if the noise is not Gaussian). If its
#' leave-one-out log density is better than that of the fewest inducing points below, by
#' `r 2 * policy$min_gain` nats an observation and `r policy$min_standard_errors` standard errors,
#' the fit is by nearest neighbours, else as in the table. If the largest number of inducing points
#' still gains, it is compared with neighbours once more. A kernel that is open is compared anew,
#' with [kernel_matern12()] besides, also alone where a sum was best. If the noise is Gaussian and
#' that came close to a sum on the first `r policy$neighbour_rows` observations, the log evidence of
#' all observations decides between them. If the noise is not Gaussian, rougher kernels are compared
#' once more by the log evidence of all, as fewer hardly show how rough a function is.
#'
#' | step | observations | inducing points | criterion | stops when |
#' |---|---|---|---|---|
#' | [model_structure], or learning of what is given | 630 (Gaussian noise) | all of these | log evidence | all were tried, or converged |
#' | learning | `r policy$pilot_rows` | `r policy$pilot_points` | log evidence | converged |
#' | learning | `r 2 * policy$pilot_rows`, or more with few points | as many as the budget allows, if more pay | log evidence | converged |
#' | inducing points | all | a ninth, a third, all of the budget (3100 for 40 000 observations) | leave-one-out log density of the others | `r policy$growth_factor` times the points gain less than `r policy$min_gain` nats |
#'
#' *Labels, two or one-vs-rest* ([lik_probit()], [lik_logit()]; factors of more than two levels are
#' one-vs-rest here).
#'
#' | step | observations | inducing points | criterion | stops when |
#' |---|---|---|---|---|
#' | [model_structure] | `r policy$class_pilot_rows` (a third of them first) | at most `r policy$class_pilot_points` a class | log evidence | all were tried |
#' | inducing points, if there are more observations than the next steps use | of these, all but a fifth | one in `r policy$growth_factor` of those below, and all, if these lower the log loss by the proportion `r policy$min_class_gain` | log probability of the fifth | |
#' | length scales x `r policy$lengthscale_factors` | at most `r policy$compare_rows`, fewer with more than `r policy$most_classes` classes | half of all | leave-one-out log probability | one is not better |
#' | margin ([lik_margin()]), if likelihood and variance are open | the same | the same | the same, by `r policy$min_standard_errors` standard errors | |
#' | least squares ([lik_squares()]), of more than two classes | all but a fifth | shared by all classes | log probability of the fifth, by `r policy$min_standard_errors` standard errors | a length scale is not better |
#' | fit | all | `r policy$class_points_root` times the root of their number, but at least `r policy$class_points[[1L]]` and at most `r policy$class_points[[2L]]` (or all of them) | | |
#' | roughness, see [model_structure] | all, if these are not more than above | the same | leave-one-out log probability, by `r policy$min_standard_errors` standard errors | |
#'
#' A class whose proportion is below `r policy$rare_label[1]` has fewer points, by the square root
#' of its proportion, but at least `r policy$rare_label[2]` of these.
#'
#' A margin and least squares are tried unless probabilities are already overconfident; least
#' squares not with `augment`, and not for rows that come in chunks. In the end probabilities are
#' recalibrated: their odds are raised to the power nearest to 1 whose mean leave-one-out log
#' probability is within `r policy$min_standard_errors` standard errors of the best (`fit$power`),
#' for two labels of few observations as well. With few observations, perfect leave-one-out
#' predictions may be chance, so the log probability of each observation is that of the next similar
#' one, which has the same label as n observations with probability (n + 1) / (n + 2) (Platt 1999,
#' section 2.2).
#'
#' *A length scale for each input, for classes.* The kernel search tries `ard = TRUE` for all kinds
#' of labels with up to `r policy$max_ard_inputs` inputs; all classes share the length scales. The
#' maximum of the evidence over many length scales follows the noise of few observations, so they
#' are tied to the common length scale that was learned before: [prior_logcauchy()] around it, with
#' scale `r policy$relevance_spread`, holds most of them there and lets a few go far. They are kept
#' if log evidence and log prior, relative to that of length scales at the common one, rise by more
#' than `r policy$min_relevance_gain` nats, for m of n observations `r policy$min_relevance_gain` m
#' / n; for one-vs-rest classes by `r policy$min_relevance_gain` nats and
#' `r policy$min_relevance_rate` nats an observation in each model on average. Your own `prior` of
#' `lengthscale` replaces the tie.
#'
#' *Several latent functions otherwise*: `method_ep(size = )` with `r policy$multi_output_root`
#' times the root of the number of observations, at most `r policy$multi_output_points`, chosen
#' among all; hyperparameters are learned on `r 2 * policy$pilot_rows` observations or all.
#'
#' @concept inducing points
#' @concept sparse GP
#' @concept FITC
#' @concept DTC
#' @concept variational
#' @aliases FITC DTC
#' @concept expectation propagation
#' @concept one-vs-rest
#' @references Minka, T. P. *Gaussian EP* (update formulas). Seeger, M. (2002). *Notes on Minka's
#'   expectation propagation for Gaussian process classification*. Csató, L. (2002). *Gaussian
#'   Processes -- Iterative Sparse Approximations* (the thesis). Seeger, Lawrence and Herbrich,
#'   *Efficient Nonparametric Bayesian Modelling with Sparse Gaussian Process Approximations* (the
#'   IVM paper). Platt, J. C. (1999). *Probabilistic outputs for support vector machines and
#'   comparisons to regularized likelihood methods*.
#' @seealso [model_structure] for what the default tries first; `vignette("large-data")`.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars) # the default
#' fit$choices
#' sparsegp(dist ~ speed, cars, method = method_ep(size = 10))
#' @name fit_methods
NULL
