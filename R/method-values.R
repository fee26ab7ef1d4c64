#' Methods and how they learn
#'
#' `method_ep()` is expectation propagation of all rows: full EP, on a `basis` given to
#' [sparsegp()], or on `size` points that it chooses. `method_ivm()` chooses them by what each would
#' teach. `method_online()` sees every row once, in constant memory, and goes on with
#' [update()][update.sparsegp]. `learn_control()` says how hyperparameters are searched.
#'
#' With `method = NULL` [sparsegp()] decides, see the next section; `method_ep(size = NULL)` asks
#' for a basis that chooses its own size.
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
#' Beyond:
#'
#' *One latent function: numbers, counts, proportions.*
#'
#' | step | observations | inducing points | criterion | stops when |
#' |---|---|---|---|---|
#' | [structure] | 630 (Gaussian noise) | all of these | log evidence | all were tried |
#' | learning | 1000 (Gaussian noise) | all of these | log evidence | converged |
#' | learning | `r policy$pilot_rows` | `r policy$pilot_points` | log evidence | converged |
#' | learning | `r 2 * policy$pilot_rows`, or more with few points | as many as the budget allows, if more pay | log evidence | converged |
#' | inducing points | all | a ninth, a third, all of the budget (3100 for 40 000 observations) | leave-one-out log density of the others | `r policy$growth_factor` times the points gain less than `r policy$min_gain` nats |
#'
#' *Labels, two or one-vs-rest* ([lik_probit()], [lik_logit()]; factors of more than two levels are
#' one-vs-rest here).
#'
#' | step | observations | inducing points | criterion | stops when |
#' |---|---|---|---|---|
#' | [structure] | `r policy$class_pilot_rows` (a third of them first) | at most `r policy$class_pilot_points` a class | log evidence | all were tried |
#' | length scales x `r policy$lengthscale_factors` | at most `r policy$compare_rows`, fewer with more than `r policy$most_classes` classes | half of all | leave-one-out log probability | one is not better |
#' | margin ([lik_margin()]), if likelihood and variance are open | the same | the same | the same, by `r policy$min_standard_errors` standard errors | |
#' | least squares ([lik_squares()]), of more than two classes | all but a fifth | shared by all classes | log probability of the fifth, by `r policy$min_standard_errors` standard errors | a length scale is not better |
#' | fit | all | `r policy$class_points_root` times the root of their number, within `r policy$class_points` (or all of them) | | |
#'
#' A class whose label is rarer than `r policy$rare_label[1]` has fewer points, by the square root
#' of its proportion, but at least `r policy$rare_label[2]` of these; beyond that number they end if
#' the next one would gain less than `r policy$least_information` nats.
#'
#' A margin and least squares are tried if probabilities are not too sure without them; least
#' squares neither with `augment` nor for rows that come in chunks. In the end probabilities are
#' recalibrated: their odds are raised to the power nearest to 1 whose mean leave-one-out log
#' probability is within two standard errors of the best (`fit$power`), for two labels of few
#' observations as well.
#'
#' *A length scale for each input, of labels.* The kernel search tries `ard = TRUE` for all kinds of
#' labels with up to `r policy$max_ard_inputs` inputs; all classes share the length scales. The
#' maximum of the evidence over many length scales follows the noise of few observations, so they
#' are tied to the common length scale that was learned before: [prior_logcauchy()] around it, with
#' scale `r policy$relevance_spread`, holds most of them there and lets a few go far. They are kept
#' if log evidence and log prior, relative to that of length scales at the common one, rise by more
#' than `r policy$min_relevance_gain` nats, by m of n observations `r policy$min_relevance_gain`
#' m / n; of one-vs-rest classes by `r policy$min_relevance_gain` nats and
#' `r policy$min_relevance_rate` nats an observation in each model on average. Your own `prior` of
#' `lengthscale` replaces the tie.
#'
#' *Several latent functions otherwise*: `method_ep(size = )` with `r policy$multi_output_root`
#' times the root of the number of observations, at most `r policy$multi_output_points`.
#'
#' @section Full EP (`method_ep()`):
#' Each row's likelihood is replaced by a Gaussian site, refined until the posterior moments agree
#' with those of the exact likelihood in the context of all other sites (Minka's formulas 71-94).
#' Sweeps update all sites at once on matrix-matrix operations; a step is halved when the distance
#' from a fixed point grows. With one latent function rows are updated one after the other when
#' batch sweeps of full EP have used half of `sweeps` without converging. With Gaussian noise the
#' first sweep is exact. Memory: about 3 \eqn{n^2}{n^2} doubles; time: 2/3 \eqn{n^3}{n^3}
#' multiplications a sweep.
#'
#' @section On a basis:
#' With d points \eqn{K_B = R'R}{K_B = R'R} and \eqn{v(x) = R^{-T} k(x)}{v(x) = R^-T k(x)}. The
#' latent function is split into the part v'z that the basis carries, a priori \eqn{z \sim
#' N(0, I)}{z ~ N(0, I)}, and a residual, independent from row to row, of variance \eqn{\gamma(x) =
#' K(x,x) - |v|^2}{gamma(x) = K(x,x) - |v|^2}. A row's site, of precision \eqn{\tau}{tau} and shift
#' \eqn{\nu}{nu}, is on v'z, so that the posterior is \eqn{z \sim N(a, M)}{z ~ N(a, M)} with
#' \eqn{M^{-1} = I + \sum \tau v v'}{M^-1 = I + sum tau v v'} and \eqn{a = M \sum \nu v}{a = M sum
#' nu v}; mean \eqn{v'a}{v'a}, variance \eqn{\gamma + v'Mv}{gamma + v'Mv}. In the thesis's letters
#' \eqn{\alpha = R^{-1}a}{alpha = R^-1 a} and \eqn{C + Q = E = R^{-1} M R^{-T}}{C + Q = E = R^-1 M
#' R^-T}. With d1, d2 the derivatives of the log predictive density \eqn{\log Z}{log Z} in the
#' marginal's mean (thesis q, r), a row's step is
#'
#' | | a | M | site |
#' |---|---|---|---|
#' | `"kl"` (thesis 3.29) | \eqn{+ d_1 \eta Mv}{+ d1 eta Mv} | \eqn{+ d_2 \eta Mv v'M}{+ d2 eta Mv v'M} | \eqn{\tau = -d_2/(1 + s^2 d_2)}{tau = -d2/(1 + s2 d2)} |
#' | `"moment"` (thesis 3.4) | \eqn{+ d_1 Mv}{+ d1 Mv} | \eqn{+ d_2 Mv v'M}{+ d2 Mv v'M} | \eqn{\tau = -d_2/(1 + (s^2 - \gamma) d_2)}{tau = -d2/(1 + (s2 - gamma) d2)} |
#'
#' with \eqn{\eta = 1/(1 + \gamma d_2)}{eta = 1/(1 + gamma d2)} and \eqn{s^2}{s2} the marginal's
#' variance. `"kl"` is the best projection of the updated process on the basis in Kullback-Leibler
#' divergence; with Gaussian noise and a fixed basis it gives the projected process (DTC)
#' regression. `"moment"` keeps the residual variance in the likelihood and gives FITC; its fixed
#' point is full EP with the kernel matrix \eqn{K_{nB} K_B^{-1} K_{Bn} + diag(\gamma)}{K_nB K_B^-1
#' K_Bn + diag(gamma)}. Evidence and learning always use moments.
#'
#' Batch EP on a basis takes \eqn{n d^2}{n d^2} multiplications a sweep. The matrix of all v, n d
#' doubles, is held where `pool` allows; else its rows are computed anew in blocks, once a sweep, or
#' twice with `mixing`, and memory is about 15 n doubles (27 n with `mixing = 3`) and a few
#' \eqn{d^2}{d^2}. Should \eqn{K_B}{K_B} be singular to
#' rounding, the smallest sufficient share of its diagonal, from 1e-12 to 1e-6, is added to it;
#' `print()` says so and `fit$jitter` holds it.
#'
#' @section A basis that is chosen (`method_ep(size =)`):
#' Sparse EP (thesis 4.6 and appendix G): sweeps in which each row's site is removed, the row is
#' seen anew, and joins the basis as described below. After `freeze` such sweeps the basis stays,
#' and batch EP (`"moment"`) or further sweeps (`"kl"`) go on to convergence. `freeze = Inf`
#' exchanges points in all `sweeps` and is, with `projection = "kl"` and `score = "mean"`, the
#' thesis's algorithm to the letter. A `size` of at least the number of rows is full EP. While
#' learning, the basis is selected and the evidence on it maximised in `outer` rounds, of which the
#' best is kept; `fit$choices` has their objectives.
#'
#' @section The informative vector machine (`method_ivm()`):
#' Rows join the active set one at a time, each time the one of largest gain among all candidates:
#' `"information"`, the Kullback-Leibler divergence of the posterior after from the posterior before
#' (IVM paper, eq. 5), which is read off the row's tilt alone; `"entropy"`, by how much the entropy
#' of the row's own marginal falls; or at `"random"`. Ties within 1e-10 go to the earliest row. A
#' row's site is set once, at its inclusion. An inclusion costs a pass over the n x d stubs
#' (appendix C.1), a kernel column and n tilts; the stubs take n `size` doubles, or `pool`: then the
#' candidates shrink after every `block` inclusions to as many as the pool can hold until the next,
#' a share `keep` of them by their gain and the rest at random (section 3.2).
#'
#' `exchange` moves follow (notes, section 2.3): the row whose loss raises the posterior's entropy
#' least is taken out, which gives all marginals without it (eqs 8, 9), and the candidate that
#' lowers the entropy most put in, if that is less entropy than before; the first move that fails is
#' the last.
#'
#' `refine = "none"` is the paper's IVM: only the active rows' sites make the posterior. With
#' `"active"` these sites are iterated to convergence, by full EP on the active rows. With
#' `"basis"` the active set is the basis of batch EP, to which all rows contribute: the remedy the
#' paper names for its variances and for regression. Learning maximises the evidence of batch EP on
#' the active set in rounds, as for `method_ep(size =)`, or the paper's own criterion, see below.
#' `logLik()` is the evidence of batch EP, or with `refine = "none"` that criterion.
#' `fit$convergence$selection` records why the selection `stopped` and its `trace`: `size`, `row`,
#' `gain` in nats, and `log_evidence`, the sum of log Z of every inclusion given those before it and
#' of all other candidates at hand; `plot(type = "trace")` draws it.
#'
#' Information gain chooses well for classes. In regression the largest surprises are also the
#' noisiest rows: there, and where most rows are informative, the exchanges of `method_ep(size =)`
#' are the safer choice.
#'
#' @section Several classes:
#' A latent function for each class, independent a priori and, as an approximation, in the posterior
#' (IVM paper, section 4.1): every sum over rows above is one over rows and classes, with the
#' likelihood's log Z of the whole row, whose derivatives in each marginal's mean set that class's
#' site. Time and memory are linear in the number of classes. In full EP and on a basis the sites'
#' shifts come from one Newton step for all classes, without which a shift of all latent functions
#' together, to which the likelihood is blind, would take hundreds of sweeps; convergence is judged
#' by the terms of the gradient, so that the evidence's gradient is as accurate as `tol` says. The
#' classes have one basis: points are exchanged by the largest of their scores over classes, the
#' least of which leaves (thesis 5.10). `method_ivm()` includes a row for a class (4.2): `size` rows
#' for each, candidates and pool in common, so that every class has its own active set and basis,
#' unless `common = TRUE`; it has no exchanges, no `refine = "active"` and no `criterion = "ivm"`.
#'
#' @section Streams (`method_online()`):
#' The sparse online algorithm (thesis 3.6). A row joins the basis if \eqn{\gamma > novelty \,
#' K(x,x)}{gamma > novelty K(x,x)}. If the basis is full then, the point of least score leaves, by
#' the best projection of the process on the others (thesis 3.19-3.22); scores are computed before
#' anything changes, and a newcomer that would leave at once is projected. A point that the others,
#' the newcomer included, determine to `novelty` leaves in any case: else rows in sorted order, each
#' novel when it comes, would make \eqn{K_B}{K_B} singular. With a kernel of finite dimension, such
#' as a polynomial, the basis stops growing when it spans it. A `basis` given to [sparsegp()] stays
#' as it is (3.6.1), but for points that are not novel.
#'
#' Scores are \eqn{\alpha_j^2 / E_{jj}}{alpha_j^2/E_jj} (`"mean"`, thesis 3.26); that plus
#' \eqn{\log(E_{jj}/Q_{jj}) - 1 + [Q E^{-1} Q]_{jj}/Q_{jj}}{log(E_jj/Q_jj) - 1 + [Q E^-1 Q]_jj/Q_jj}
#' (`"kl"`, the exact divergence, 3.24); or \eqn{|\alpha_j|/Q_{jj}}{|alpha_j|/Q_jj} (`"error"`,
#' 3.6). The thesis uses `"mean"`; but a weight may be near zero by chance while its point carries
#' variance information, and on a small basis the exact score is clearly better, at the same cost.
#' Without `forget` the model has no clock: where inputs drift away, no score makes up for a basis
#' that is too small.
#'
#' With `forget` sites decay: the sums S and t are multiplied by a factor below 1 as time goes by,
#' so that a row's site counts 1/2 after a half-life, 1/4 after two. Age goes in steps of 1/64 of
#' the half-life. With Gaussian noise and a basis that stays that is the fit of all rows with
#' weights; where the function drifts the posterior follows it, and where no rows come any more it
#' goes back to the prior. Points of the basis stay until others are better. `logLik()` is the sum
#' of log predictive densities, each row's given those before it as they count then.
#'
#' A row takes about 4 \eqn{d^2}{d^2} multiplications and d kernel values, about 20 \eqn{d^2}{d^2}
#' where the basis changes; memory is 4 \eqn{d^2}{d^2} doubles whatever the number of rows.
#' Hyperparameters, when they are learned, maximise the evidence of full EP (or EP on the given
#' basis) on the first `pilot` rows, at a cost of `pilot` cubed a step, and are frozen. `logLik()`
#' is the sum of \eqn{\log Z}{log Z}, each row's given those before it.
#'
#' @section Learning:
#' The log evidence plus log priors is maximised by `optim(method = "L-BFGS-B")` with exact
#' gradients, on the logarithms of all hyperparameters but `bias`, which are searched within 10 to
#' either side of the start; sites are warm-started. Length scales that
#' were given no start begin at the best of a few; where an evaluation is cheap (up to some 460 rows
#' of full EP) the search is made again from the next best, until two searches end within 0.1 of the
#' best log evidence. Every restart begins at random values around the start; the best end is kept.
#'
#' With `ard = TRUE` a search may switch off, by long length scales, inputs that matter only
#' together, and end in an optimum from which no single one of them is missed. So length scales that
#' were given no start and ended long are then put back to 1, 2 and 4 times their starts, the inputs
#' are ranked there by the gradient, and the first 1, 2, 4, ... switched on again. If one of these
#' points raises the log evidence by more than 1, the search goes on from the best, at most three
#' times. That takes some ten evaluations where there was no trap.
#'
#' `fit$learning` records the search: `evaluations` and how many of them were `failures`, the
#' `objective` of every start, whether it `converged`, the last `gradient`, what ended `at_bound`,
#' and for methods that choose their basis the objective of each of the `rounds`.
#'
#' @section Learning by the informative vector machine's criterion:
#' With `criterion = "ivm"` the hyperparameters of `method_ivm()` maximise \eqn{\log Q(D|\theta) =
#' -\phi}{log Q(D|theta) = -phi} (IVM paper, eq. 11) plus log priors: the evidence of the active
#' rows' sites, and the predictive densities of all other rows at hand, without refinement. It costs
#' a fraction of batch EP's evidence. Whatever `refine` is then runs at what was learned.
#'
#' A round is a major and at most `inner` minor steps. The major step selects the active set and its
#' sites at the current hyperparameters; minor steps search with both sets of rows held (section
#' 3.3). The paper's 15 rounds of 8 steps are the default. What the sites do in minor steps is the
#' `strategy` (6.1.1):
#'
#' | | sites | search |
#' |---|---|---|
#' | `"constant"` | held | `optim(method = "L-BFGS-B")`; value and gradient (eqs 14, 12) agree, but the further it goes the less the sites fit |
#' | `"hybrid"` | set anew for each search direction | quasi-Newton (BFGS) directions, line searches at held sites; the criterion may go up from one direction to the next |
#' | `"exact"` | set anew at every evaluation, in the order of inclusion | `optim()` on the criterion itself, with the gradient of held sites: many line searches fail |
#'
#' Reselection makes the criterion jump, so it need not rise from round to round. The best major
#' step is kept, the one at the start included; `fit$learning$start` and `rounds` are the objectives
#' at the start and at the major step that ends each round, `line_searches` counts those that
#' failed. Learning counts as converged when the last round was not the best by more than 1. Where
#' `pool` shrinks the candidates only those left count, which in regression are the noisier ones:
#' noise is then overestimated. Where one class is rare the criterion may push the bias far out and
#' fill a small active set with that class alone. The search for inputs that act only together is
#' not made. The evidence with `refine = "basis"` is the safer choice, if the dearer one.
#'
#' @param size Most points in the basis or the active set; whole number of at least 1, or for
#'   `method_ep()` `Inf`: all rows, or `NULL`: as many as pay (one latent function). With several
#'   components of the response a point stands for all of them; where some would add nothing they
#'   are left out, and more points have room.
#' @param projection What a row that does not join the basis does to the posterior: `"moment"` or
#'   `"kl"`, see the sections.
#' @param freeze Sweeps with exchange of basis points; whole number of at least 1 or `Inf`.
#' @param sweeps Most sweeps; whole number of at least 1.
#' @param novelty A row joins the basis only if the basis leaves more than this share of its prior
#'   variance; from 1e-11 to 0.5.
#' @param damping Largest share of a step taken in a batch sweep, in (0, 1].
#' @param mixing Past sweeps that a batch step is mixed from (Anderson mixing); whole number, at
#'   most 100, 0: none. It begins near the fixed point or where plain steps slow down, halves the
#'   sweeps where sites are sharp and matters little elsewhere; more than 3 gain nothing. It takes
#'   `4 * mixing + 10` numbers a latent value and a second look at the rows in every sweep, which
#'   counts where `pool` does not hold them.
#' @param starts For ambiguous measurements ([lik_mixture()]): online passes over the rows that EP
#'   is begun with, the first in the order of the rows and the others in random orders; every mode
#'   so found is a start once more, by its rows' second most probable parts. Whole number of at
#'   least 1, `NULL`: 4. See [modes()].
#' @param tol Convergence: the largest distance of a tilted moment from the posterior's, in units of
#'   the row's cavity standard deviation; positive.
#' @param score What decides which point leaves a full basis, see the section on streams.
#' @param order Order within the rows of one call: as `"given"`; `"random"`, from R's generator; or
#'   `"informative"`: of the next 1000 rows the one with the largest KL divergence between posterior
#'   and prior (thesis 3.16, 3.8.1), at 1000 times the cost. Only with `"given"` is the result
#'   independent of how rows are divided into calls.
#' @param select What a candidate is chosen by, see the section on the informative vector machine.
#' @param refine Do all rows contribute through the active set (`"basis"`), or only its own, with
#'   sites iterated to convergence (`"active"`) or set once (`"none"`)?
#' @param exchange Most exchange moves; whole number of at least 0.
#' @param pool Most doubles that the stubs of the candidates may take, and in batch EP the rows as
#'   the basis sees them; whole number or `Inf`.
#' @param keep Share of the candidates kept for their gain when they shrink; from 0 to 1.
#' @param block Inclusions between shrinkings; whole number of at least 1.
#' @param common Several latent functions: one basis for all of them, the union of their active
#'   sets, or each its own? With `refine = "basis"`.
#' @param min_gain The selection stops when no candidate gains more nats; at least 0.
#' @param pilot Rows from which scaling, starts and learned values are taken; whole number of at
#'   least 1. Where they have one class or one level only, more are taken, see
#'   [update()][update.sparsegp].
#' @param forget `NULL`: nothing is forgotten. Or a half-life, above 0: after so many rows a row
#'   counts half; or by name after so much of a column of the data, numbers or times that never go
#'   back (of times in the unit that `as.numeric()` gives): `c(time = 3600)`. See the section on
#'   streams.
#' @param criterion What is maximised: the log `"evidence"` of EP, or for `method_ivm()` also the
#'   `"ivm"`'s own criterion.
#' @param inner Most iterations of a search; whole number of at least 1, or `NULL`: 200 for the
#'   evidence, 8 for `"ivm"`.
#' @param outer Rounds of selection and search, for methods that choose their basis; whole number
#'   of at least 1, or `NULL`: 2 for the evidence, 15 for `"ivm"`.
#' @param strategy What the sites do while the `"ivm"` criterion is searched, see its section.
#' @param restarts Further searches from random starts; whole number of at least 0.
#' @param rows Rows of a source ([row_source()]) that hyperparameters are learned on; whole number
#'   of at least 1, or `Inf`: after a search on 10 000 rows another on all. Data frames are learned
#'   on as they are.
#' @return A value of class `sparsegp_method` or `sparsegp_learn`. Errors are of class
#'   `sparsegp_error`.
#' @references Minka, T. P. *Gaussian EP* (update formulas), section 2. Seeger, M. (2002). *Notes on
#'   Minka's expectation propagation for Gaussian process classification*, section 2. Csató, L.
#'   (2002). *Gaussian Processes -- Iterative Sparse Approximations*, chapters 3 and 4, appendix G.
#'   Seeger, Lawrence and Herbrich, *Efficient Nonparametric Bayesian Modelling with Sparse Gaussian
#'   Process Approximations*, sections 3 and 6.1 and appendix C.
#' @examples
#' method_ep(tol = 1e-8)
#' set.seed(1)
#' fit <- sparsegp(dist ~ speed, cars, learn = learn_control(restarts = 2))
#'
#' fit <- sparsegp(sex ~ FL + RW + CL + CW + BD, MASS::crabs, method = method_ep(size = 30))
#' plot(fit, type = "trace")
#'
#' fit <- sparsegp(sex ~ FL + RW + CL + CW + BD, MASS::crabs, method = method_ivm(size = 30))
#' plot(fit, type = "trace")
#' fit <- sparsegp(sex ~ FL + RW + CL + CW + BD, MASS::crabs,
#'                 method = method_ivm(size = 30, refine = "none"),
#'                 learn = learn_control("ivm", outer = 5))
#' fit$choices
#'
#' d <- data.frame(x = runif(2000, -10, 10))
#' d$y <- d$x / 10 + sin(d$x) / d$x + 0.1 * rnorm(2000)
#' fit <- sparsegp(y ~ x, d, method = method_online(size = 20))
#' summary(fit)
#' plot(fit, newdata = d[1:200, ])
#' @name methods
#' @order 1
NULL

#' @rdname methods
#' @order 2
#' @export
method_ep <- function(size = Inf, projection = c("moment", "kl"), freeze = 2, sweeps = 200,
                      score = c("kl", "mean", "error"), novelty = 1e-6, damping = 1, mixing = 3,
                      tol = 1e-6, pool = Inf, starts = NULL) {
  new_method("ep", "EP", list(
    size = if (!is.null(size)) check_count_or_inf(size, "size"),
    projection = check_choice(projection, c("moment", "kl"), "projection"),
    freeze = check_count_or_inf(freeze, "freeze"), sweeps = check_count(sweeps, "sweeps"),
    score = check_choice(score, c("kl", "mean", "error"), "score"),
    novelty = check_novelty(novelty), damping = check_damping(damping),
    mixing = check_count(mixing, "mixing", 0L, MOST_MIXED), tol = check_number(tol, "tol", 0),
    pool = check_count_or_inf(pool, "pool"),
    starts = if (!is.null(starts)) check_count(starts, "starts")
  ))
}

#' @rdname methods
#' @order 3
#' @export
method_ivm <- function(size = 100, select = c("information", "entropy", "random"),
                       refine = c("basis", "active", "none"), pool = Inf, keep = 0.5, block = 100,
                       exchange = 0, min_gain = 0, common = FALSE, sweeps = 200, damping = 1,
                       mixing = 3, tol = 1e-6) {
  new_method("ivm", "the IVM", list(
    size = check_count(size, "size"),
    select = check_choice(select, c("information", "entropy", "random"), "select"),
    refine = check_choice(refine, c("basis", "active", "none"), "refine"),
    pool = check_count_or_inf(pool, "pool"), keep = check_number(keep, "keep", 0, 1, open = FALSE),
    block = check_count(block, "block"), exchange = check_count(exchange, "exchange", 0L),
    min_gain = check_number(min_gain, "min_gain", 0, open = FALSE),
    common = check_flag(common, "common"),
    sweeps = check_count(sweeps, "sweeps"), damping = check_damping(damping),
    mixing = check_count(mixing, "mixing", 0L, MOST_MIXED), tol = check_number(tol, "tol", 0)
  ))
}

#' @rdname methods
#' @order 4
#' @export
method_online <- function(size = 100, projection = c("kl", "moment"),
                          score = c("kl", "mean", "error"), novelty = 1e-6,
                          order = c("given", "random", "informative"), pilot = 500,
                          forget = NULL) {
  new_method("online", "online learning", list(
    size = check_count(size, "size"),
    projection = check_choice(projection, c("kl", "moment"), "projection"),
    score = check_choice(score, c("kl", "mean", "error"), "score"),
    novelty = check_novelty(novelty),
    order = check_choice(order, c("given", "random", "informative"), "order"),
    pilot = check_count(pilot, "pilot"), forget = check_forget(forget)
  ))
}

MOST_MIXED <- 100L # past sweeps; a few are enough, and each takes memory

# A half-life in rows, or by name in units of a column.
check_forget <- function(forget) {
  if (is.null(forget)) return(NULL)
  check_number(unname(forget), "forget", 0)
  name <- names(forget)
  if (is.null(name) || !is.na(name) && nzchar(name)) return(forget)
  stop_sparsegp("forget", "has no name of a column", "Write 1000 for rows, or c(time = 3600)")
}

# The column with the age of a row; NULL: rows are counted, or nothing is forgotten.
time_column <- function(method) {
  name <- names(method$forget)
  if (!is.null(name)) as.name(name)
}

new_method <- function(type, label = NULL, settings = NULL) {
  structure(c(list(type = type, label = label), settings),
            class = c(paste0("method_", type), "sparsegp_method"))
}

#' @export
print.sparsegp_method <- function(x, ...) {
  settings <- x[setdiff(names(x), c("type", "label"))]
  cat("<method> ", x$label, " (", toString(paste(names(settings), settings, sep = " = ")), ")\n",
      sep = "")
  invisible(x)
}

# Batch EP as the method would have it.
batch_settings <- function(method, tol = Inf) {
  given <- method[intersect(names(method), c("sweeps", "damping", "mixing", "tol"))]
  settings <- utils::modifyList(method_ep(), given)
  settings$tol <- min(settings$tol, tol)
  settings
}

# Does it take rows as they come?
streams <- function(method) UseMethod("streams")

#' @export
streams.sparsegp_method <- function(method) FALSE

#' @export
streams.method_online <- function(method) TRUE

# The method where the user gives no method: a strategy chooses (strategy.R).
open_method <- function(effort) {
  new_method("default", "the default",
             list(effort = check_choice(effort, names(EFFORT), "effort")))
}

effort_of <- function(method) method$effort

# Was no method given?
leaves_open <- function(method) inherits(method, "method_default")

# What its hyperparameters can be learned by, see learn_control()
criteria <- function(method) UseMethod("criteria")

#' @export
criteria.sparsegp_method <- function(method) "evidence"

#' @export
criteria.method_ivm <- function(method) c("evidence", "ivm")

# One of version 0.1.0, which had no class of its own.
method_of_first_form <- function(method) {
  given <- unclass(method)
  new_method(given$type, given$label, given[setdiff(names(given), c("type", "label"))])
}

pilot_of <- function(method) method$pilot
