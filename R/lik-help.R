#' Likelihoods
#'
#' How the response depends on the latent function. Each constructor returns a small value that
#' prints itself. [sparsegp()] chooses one from the response when none is given: `lik_gaussian()`
#' for numbers and columns of numbers, `lik_probit()` for a factor with two levels or a logical,
#' `lik_mprobit()` for more, `lik_ordinal()` for an ordered factor of more, `lik_mixture()` for a
#' [mixture()].
#'
#' | constructor | model | hyperparameters |
#' |---|---|---|
#' | `lik_gaussian` | \eqn{y \sim N(u, noise / weight)}{y ~ N(u, noise / weight)} | `noise` |
#' | `lik_heteroscedastic` | \eqn{y \sim N(u, noise \exp(2 g))}{y ~ N(u, noise exp(2 g))} | `noise` |
#' | `lik_mixture` | one of several vectors is meant, see [mixture()] | |
#' | `lik_probit` | \eqn{p = \Phi(u + bias)}{p = Phi(u + bias)} | `bias` |
#' | `lik_logit` | \eqn{p = 1/(1 + \exp(-u - bias))}{p = 1 / (1 + exp(-u - bias))} | `bias` |
#' | `lik_flip` | \eqn{p = flip + (1 - 2 flip) \Phi(u + bias)}{p = flip + (1 - 2 flip) Phi(u + bias)} | `bias`, `flip` |
#' | `lik_step` | \eqn{p = noise + (1 - 2 noise) [u > 0]}{p = noise + (1 - 2 noise) [u > 0]} | `noise` |
#' | `lik_mprobit` | \eqn{P(y = c) = P(v_c = \max_j v_j)}{P(y = c) = P(v_c = max_j v_j)}, \eqn{v_j \sim N(u_j + bias_j, 1)}{v_j ~ N(u_j + bias_j, 1)} | `bias` |
#' | `lik_softmax` | \eqn{P(y = c) = \exp(u_c + bias_c) / \sum_j \exp(u_j + bias_j)}{P(y = c) = exp(u_c + bias_c) / sum_j exp(u_j + bias_j)} | `bias` |
#' | `lik_ordinal` | \eqn{P(y \le k) = \Phi(cut_k - u)}{P(y <= k) = Phi(cut_k - u)} | `cut`, `gap` |
#' | `lik_nullcat` | \eqn{p \propto \Phi(u + bias - width/2)}{p ~ Phi(u + bias - width / 2)} | `bias`, `width`, `missing` |
#' | `lik_margin` | as `lik_nullcat`, of rows that all have labels | `bias`, `width` |
#' | `lik_squares` | \eqn{y = \pm 1 \sim N(u + bias, noise)}{y = +-1 ~ N(u + bias, noise)} | `bias`, `noise` |
#' | `lik_laplace` | \eqn{p(y) = \exp(-|y - u| / scale) / (2 scale)}{p(y) = exp(-|y - u| / scale) / (2 scale)} | `scale` |
#' | `lik_student` | \eqn{(y - u) / scale \sim t_{df}}{(y - u) / scale ~ t(df)} | `scale`, `df` |
#' | `lik_poisson` | \eqn{y \sim Poisson(\exp(u + bias))}{y ~ Poisson(exp(u + bias))} | `bias` |
#' | `lik_negbin` | \eqn{y \sim NegBin(\exp(u + bias), size)}{y ~ NegBin(exp(u + bias), size)} | `bias`, `size` |
#' | `lik_binomial` | \eqn{successes \sim Binomial(trials, 1/(1 + \exp(-u - bias)))}{successes ~ Binomial(trials, 1 / (1 + exp(-u - bias)))} | `bias` |
#' | `lik_density` | density \eqn{\propto u^2}{~ u^2} at a point that was seen | none |
#'
#' Here \eqn{u} is the latent function (\eqn{u_c} that of class c), and for two classes \eqn{p} is
#' the probability of the second level.
#'
#' Below, by kind of response: when to use each, when not, and where it comes from (see the
#' references; *formulas* are Minka's, by number).
#'
#' @section Numbers:
#' **`lik_gaussian()`**: errors that are as likely above as below, with few far out.
#' * *Hyperparameter*: `noise`, the variance of the errors in squared units of the response (the
#'   argument is `variance`). `weights` in [sparsegp()] divide it, row by row.
#' * *Known variances*: measurements with error bars of their own have `variance = <vector>`, one
#'   positive number for each row. Nothing of the noise is learned then, and `coef()` names as
#'   `noise` the variances' geometric mean. Prediction intervals of new responses need the variances
#'   of the new rows ([predict(variance = )][predict.sparsegp]). Streams take
#'   `lik_gaussian(fixed(1))` with `weights = 1 / variance` instead.
#' * *Several components*, `cbind(u, v) ~ x + y`: `covariance` says how the errors of a row go
#'   together. `"spherical"`: independent, of one variance `noise`; `"diagonal"`: of a variance
#'   each, `noise.u`, `noise.v`; `"full"`: with correlations besides, `correlation.u.v`, which for
#'   more than two components are those given the components before the first of the two. All are
#'   learned. A component may be missing in a row. No weights.
#' * *Not for* outliers, which pull with a force that grows with their distance; nor for counts and
#'   shares, whose scatter depends on their mean.
#' * *From*: thesis, section 2.4; in closed form.
#'
#' @section Numbers with outliers:
#' **`lik_laplace()`**: errors with tails that are heavier than normal; a row far off pulls with a
#' force that does not grow with its distance.
#' * *Hyperparameter*: `scale`, the mean absolute error in units of the response; the variance of
#'   the errors is \eqn{2 scale^2}{2 scale^2}.
#' * *Not for* gross outliers in numbers, which still move the function.
#' * *From*: named in the thesis, section 5.5, as a thing to do. The closed form (two truncated
#'   normals) keeps its digits in all tails.
#'
#' **`lik_student()`**: gross outliers; far off a row's force falls to nothing.
#' * *Hyperparameters*: `scale`, in units of the response; `df`, greater than 2, so that the errors
#'   have a variance, and `fixed(4)` unless you say otherwise, as a few gross outliers say little
#'   about it.
#' * *From*: none of the papers.
#' * *Not log-concave*: a row may widen the posterior instead of narrowing it; its site has a
#'   negative precision then (`fit$convergence$widening` counts them). Evidence and gradient are
#'   exact for these, too. A step of expectation propagation is halved until the posterior, with all
#'   rows and without any one of them, is a distribution. Where a model fits so badly that there is
#'   no such fixed point in reach, no row may widen the posterior from then on: it only shifts the
#'   mean. `fit$convergence$flat` counts the rows that would rather do otherwise; unless it is 0 the
#'   gradient of the evidence, which learning follows, is a few per cent off. Compare a few given
#'   values by `logLik()` then, or take a wider `scale`.
#' * *Not for* data without outliers, where `lik_gaussian()` is exact, faster and has one optimum.
#' * *How exact*: on `airquality` and, with its outliers, on `MASS::phones` the log evidence was
#'   within 0.03 nats of long Monte Carlo runs, and means of the latent function within 0.01 of its
#'   standard deviations. As in what follows: `bench/truth.R`, at learned hyperparameters.
#'
#' @section Counts:
#' **`lik_poisson()`**: counts whose variance is their mean.
#' * *Hyperparameter*: `bias`, the logarithm of a rate. An exposure enters as
#'   `offset(log(exposure))`, as in [stats::glm()]. `predict(type = "response")` is the expected
#'   count, averaged over the posterior of the rate.
#' * *Not for* counts that vary more: the function would follow their noise.
#' * *From*: none of the papers; the model of [stats::glm()].
#'
#' **`lik_negbin()`**: counts that vary more than that, as each row has a rate of its own, drawn
#' from a gamma distribution of shape `size` about \eqn{\exp(u + bias)}{exp(u + bias)}; about a mean
#' \eqn{m} their variance is \eqn{m + m^2 / size}{m + m^2 / size}.
#' * *Hyperparameters*: `bias`, as above; `size`, the larger the more like a Poisson count, which it
#'   becomes digit by digit.
#' * *Not for* counts where `size` is learned to be much larger than they are: take `lik_poisson()`.
#' * *From*: none of the papers.
#'
#' @section Successes of trials:
#' **`lik_binomial()`**: a number of successes in a known number of trials. The response is
#' `cbind(successes, failures)`, as in [stats::glm()], or shares of successes with the numbers of
#' trials as `weights`.
#' * *Hyperparameter*: `bias`, a log odds.
#' * The response of predictions, residuals and simulations is the share; that of new rows, of which
#'   the trials are not known, is of one trial.
#' * *Not for* shares of an amount, such as of water in a mixture, which are not counted.
#' * *From*: none of the papers; the model of [stats::glm()].
#'
#' @section Two classes:
#' **`lik_probit()`**: the default, for a factor with two levels or a logical.
#' * *Hyperparameter*: `bias`.
#' * *From*: formulas 56-60; IVM paper, appendix B.1; in closed form.
#'
#' **`lik_logit()`**: much the same probabilities; choose it where log odds are the language, or
#' where a label far on the wrong side should pull less (by a force that does not grow).
#' * *Hyperparameter*: `bias`. Half as much again as probit's time.
#' * *From*: formulas 61-70. The integrals are accurate to 1e-9. Minka's quadrature centred on the
#'   posterior (66-70) puts its nodes where the likelihood times what the other rows say is large;
#'   so does this one, which looks for that place itself, for any method, and adds nodes until it is
#'   accurate.
#' * `moments = "mackay"`, or `lik_mackay()`: MacKay's approximation (62-64, with its true second
#'   derivative in place of 65), as fast as probit. It errs by up to 0.013 in a probability, and has
#'   no evidence to learn from: hyperparameters have to be given, and `logLik()` is a rough figure.
#'
#' **`lik_flip()`**, or `lik_probit(flip = )`: the probit model with labels that are wrong with a
#' small probability, wherever they stand. **`lik_step()`**: the same where they are wrong for no
#' other reason, and the classes do not overlap.
#' * *Hyperparameters*: `flip` or `noise`, the probability, from 0 to 1/2; `bias` with `flip` only
#'   (for `lik_step()` a `kernel_constant()` added to the kernel does for one).
#' * *Not log-concave*: rows far on the wrong side say little; see `lik_student()`.
#' * *Not for* small data, which cannot tell wrong labels from an overlap: give a `fixed()` value.
#'   `lik_step()` is not for classes that overlap: a step has no slope that would bound what a row
#'   says. Labels that contradict each other at one place make the posterior sharper with every
#'   sweep, and expectation propagation has no fixed point. A fit after a given number of sweeps,
#'   `method_ep(sweeps = 3)` for instance, is the thesis's estimate: `fit$convergence` and a warning
#'   say that it has not converged. It is an error only where the log evidence is above 0, which is
#'   impossible.
#' * *Without noise*: `lik_step(fixed(0))` is the noiseless step of the thesis (4.6), for labels
#'   that never contradict each other.
#' * *How exact*: on 80 of `MASS::crabs` standard deviations of the latent function by `lik_step()`
#'   were a fifth too small, and probabilities of new rows off by up to 0.04; by `lik_flip()`,
#'   `lik_probit()` and `lik_logit()`, on 96 of `MASS::Pima.tr`, by no more than 0.003.
#' * *From*: formulas 50-55 and 89-91; in closed form.
#'
#' With more than two levels each class is set against the rest: a latent function per class on a
#' common basis, with a common kernel and hyperparameters of its own, and nothing else in common
#' (thesis section 5.2). There is no evidence of the classes then, only the sum of those of the
#' indicators, which learning maximises. Each answers "this class?" independently; given that just
#' one answer is yes, the probability of a class is proportional to the odds p / (1 - p) of its own.
#'
#' @section Two classes, some rows without a label:
#' **`lik_nullcat()`**: rows whose response is `NA` are kept and learned from (of other likelihoods
#' they are left to `na.action`, as are rows with missing inputs here). Between the classes stands a
#' null category, in which no row ever is. A row without a label does not say on which side it is,
#' but that it is on one: the latent function keeps away from 0 where there are rows, and the
#' boundary goes where there are few.
#' * *Model*: the probabilities of the second and of the first level are proportional to
#'   \eqn{\Phi(u + bias - width/2)}{Phi(u + bias - width / 2)} and
#'   \eqn{\Phi(-u - bias - width/2)}{Phi(-u - bias - width / 2)}.
#' * *Hyperparameters*: `bias`; `width` of the null category, fixed at 1 unless you say otherwise;
#'   `missing1` and `missing2` (the argument is `missing`), probabilities that a label of the first
#'   and of the second level is missing: as long as they are the same it makes no difference what
#'   they are; where labels of one class are missing more often give two numbers.
#' * *Not for* classes that overlap much, where it misleads. With few labels learning tends to
#'   length scales that are too long for the gap; where the boundary is thought to bend give one
#'   that is short against the classes, with `learn = FALSE`.
#' * Rows without a label are *not log-concave*, see `lik_student()`. They count in the log
#'   evidence, which is not to be compared with other likelihoods'. Predictions are probabilities of
#'   the two classes, given that it is one of them.
#' * *How exact*: where rows may be on either side the posterior has no normal shape. On 80 crabs,
#'   of which 48 without a label, probabilities of new rows were off by up to 0.03.
#' * *From*: IVM paper, section 5; Lawrence and Jordan's null category noise model.
#'
#' @section Two classes with a margin:
#' **`lik_margin()`**: the null category where every row has a label. A row asks its own class for
#' \eqn{\Phi(u + bias - width/2)}{Phi(u + bias - width / 2)}, so that those near the boundary count
#' for more and those far from it for nothing: where classes hardly overlap predictions are sharper
#' than `lik_probit()`'s. Without a method, a likelihood, and with more rows than full EP can have,
#' it is tried, and taken where leave-one-out probabilities are better; see [methods].
#' * *Hyperparameters*: `bias`; `width`, fixed at 8 unless you say otherwise. The log evidence would
#'   have it narrow, as what it measures is the probability that rows are not in the null category
#'   besides; it is not to be compared with other likelihoods'. A wider margin wants a larger
#'   variance of the kernel, in proportion to the square of the width.
#' * *Not for* classes that overlap. More than two classes are each set against the rest, as by
#'   `lik_probit()`.
#' * *How exact*: on the same 80 crabs the log evidence was 0.5 nats too low, and probabilities of
#'   new rows off by up to 0.03.
#' * *From*: IVM paper, section 5, without the rows that have no label. The likelihood has a closed
#'   form; probabilities of new rows, given that they are outside of the margin, are by quadrature.
#'
#' @section Two classes by least squares:
#' **`lik_squares()`**: labels are learned from as the numbers -1 and 1, with normal noise. Every
#' row holds the latent function at its label, also one far from any border, which a probit is done
#' with; where classes hardly overlap and inputs are many, such as pixels, that predicts better:
#' USPS, ten digits, 4.3 per cent of errors in place of 5.3 for `lik_probit()` on the same points.
#' Without a method, a likelihood, and with more rows of more than two classes than full EP can
#' have, it is tried, and taken where rows held out say so; see [methods].
#' * *Hyperparameters*: `bias`, which starts at the mean label; `noise`, a variance beside a
#'   kernel's of about 1. One sweep sets all sites, and of classes that share a basis one is worked
#'   out.
#' * *Probabilities* of new rows are means of a logistic function,
#'   \eqn{1/(1 + \exp(-4 (u + bias)))}{1 / (1 + exp(-4 (u + bias)))}, over the latent function. Its
#'   slope is a convention that the noise does not settle: let a power of the odds do so, as
#'   [sparsegp()] does without a method, or look at [calibration()].
#' * *Not for* classes that overlap, and the log evidence is that of numbers: it is not to be
#'   compared with other likelihoods'. More than two classes are each set against the rest.
#' * *How exact*: the posterior is; probabilities are by quadrature.
#' * *From*: Rasmussen and Williams (2006), section 6.5, with probabilities averaged over the
#'   posterior.
#'
#' @section Ordered categories:
#' **`lik_ordinal()`**: such as ratings, the default for an ordered factor of more than two levels:
#' a latent function, noise of variance 1, and cut points between neighbouring categories (the
#' cumulative probit model).
#' * *Hyperparameters*: cut points. They are learned as the first one, `cut`, and the gaps after it,
#'   `gap`; it is these that a [prior][priors] is of. `coef()` shows cut points, named as by
#'   `MASS::polr()`.
#' * Unused levels of the response are left out, as they are for other classes; a stream keeps them,
#'   as their rows may yet come.
#' * *Not for* categories without an order, nor for counts.
#' * *From*: none of the papers. The integral has a closed form, accurate for categories however
#'   narrow or far.
#'
#' @section Several classes:
#' **`lik_mprobit()`**: the default for a factor with more than two levels; a latent function
#' \eqn{u_c} for each of up to 256 classes, plus normal noise.
#' * *Hyperparameters*: `bias`, one per class, of which only differences matter. `shared = FALSE`
#'   gives each class a kernel of its own.
#' * *From*: IVM paper, section 4 and appendix D. Given the winner's value the classes are
#'   independent, so one integral in one dimension does for any number of them, accurate to 1e-9.
#'
#' **`lik_softmax()`**: the same with Gumbel noise: the logit's counterpart.
#' * An integral of integrals, on one grid for all classes: half as much again as `lik_mprobit()`'s
#'   time, and more where latent variances pass 25.
#' * *How exact*: the posterior takes the latent functions of classes for independent, which labels
#'   make them not. On 60 rows of `iris`, sepals alone, their standard deviations were a third too
#'   small and the log evidence was 2.3 nats too low; probabilities of new rows were within 0.01.
#'
#' @section A spread that changes:
#' **`lik_heteroscedastic()`**: both the mean \eqn{u}{u} and the spread \eqn{\exp(g)}{exp(g)} of a
#' number are functions of the inputs, \eqn{y \sim N(u, noise \exp(2 g))}{y ~ N(u, noise exp(2 g))}.
#' * Two latent functions, `mean` and `log_sd`, seen by a row at once: sites are 2 x 2, so that what
#'   a row says of one depends on the other. The kernel is of these components, by default
#'   `kernel_coregion(rank = 0)`: independent a priori, of one length scale; a sum of two such
#'   kernels has room for two.
#' * `predict()` gives the mean as usual, with prediction intervals as wide as the errors are there;
#'   `type = "latent"` has both functions, the second as the logarithm of the errors' standard
#'   deviation in units of the response, with their covariances. `plot()` is along one input.
#' * *Hyperparameters*: `noise`, the variance where \eqn{g = 0}{g = 0}. *Not log-concave.*
#' * *How exact*: on half of `MASS::mcycle` the log evidence was 0.55 nats too low, and standard
#'   deviations of the latent functions were 7 per cent too small.
#' * *From*: the integral over the mean is closed, that over the spread is had by quadrature, to
#'   1e-10. Compare package hetGP.
#'
#' @section Ambiguous vectors:
#' **`lik_mixture()`**: of every row one of several parts is meant, see [mixture()], which makes the
#' response; it is the default for such a one.
#' * No hyperparameters: weights, means and covariances are the rows' own.
#' * *Not log-concave*: a row whose parts compete widens the posterior, and EP finds one of several
#'   [modes()]. It is begun with online passes ([method_ep()], `starts`).
#' * Residuals and leave-one-out predictions are about the part that the fit takes a row for;
#'   `simulate()` draws vectors without errors, as what a new row's parts would be nobody says.
#' * *From*: thesis, section 5.4 and appendix F, in natural parameters, so that parts may be wider
#'   than what they are divided by; in closed form.
#'
#' @section Densities:
#' **`lik_density()`**: what [gp_density()] is made of: the response is 1 for every row, and the
#' square of the latent function is the density of the inputs up to a constant.
#' * It is the same for \eqn{u} and \eqn{-u}{-u}, so that without an `offset` nothing happens, and
#'   *not log-concave*. What is predicted as the response is \eqn{u^2}{u^2}, not normalised.
#' * *How exact*: on 66 of `MASS::galaxies`, with u of the signs that were found, the log evidence
#'   was 0.4 nats too low, and means of u were within 0.05 of its standard deviations.
#' * *From*: thesis, section 5.3; in closed form.
#'
#' @section Names and families:
#' A likelihood may also be given to [sparsegp()] by name (`"probit"`) or as an R
#' [family][stats::family]: `gaussian()`, `binomial("probit")`, `binomial("logit")`, `poisson()`;
#' `binomial("logit")` means `lik_binomial()` where the response has two columns.
#'
#' @param variance Noise variance: `NULL` (learned), a positive number (where learning starts) or
#'   `fixed(value)`. Or known variances, a positive number for each row of the data (before `subset`
#'   and `na.action`), in squared units of the response, kept as they are; not looked up in `data`.
#'   For the other covariances of several components one number for all, or one for each.
#' @param covariance Of the errors of several components, see below: `"spherical"`, `"diagonal"` or
#'   `"full"`. Of one response it is an error to say other than the first.
#' @param correlation `covariance = "full"`: between -1 and 1, one for all pairs of components or
#'   for each; `NULL` (learned) or `fixed()`.
#' @param bias Constant added to the latent function: `NULL` (learned), a number or `fixed(value)`;
#'   of several classes one number for all or one per class.
#' @param cuts Cut points between categories: `NULL` (learned), increasing numbers, one less than
#'   there are categories, or `fixed()` around them.
#' @param width Width of the null category, in units of the noise's standard deviation: `NULL`
#'   (learned), a positive number or `fixed(value)`.
#' @param missing Probability that a row has no label, between 0 and 1: one number, or one for each
#'   class, or `fixed()` around them; `NULL`: two, learned.
#' @param moments How the logit's integrals are had: `"quadrature"`, or `"mackay"` for the
#'   approximation, which needs `learn = FALSE` or `fixed()` hyperparameters.
#' @param size How much rates differ between rows, the shape of their gamma distribution: `NULL`
#'   (learned), a positive number or `fixed(value)`. The smaller, the more the counts scatter.
#' @param transform Of numbers: the scale on which the response has this noise, such as `"log"` or
#'   `"identity"`, or a [response_scale()]. `NULL`: left to [sparsegp()].
#' @param scale Scale of the noise, in units of the response: `NULL` (learned), a positive number or
#'   `fixed(value)`.
#' @param df Degrees of freedom of Student's t: `fixed(value)`, a number greater than 2 (where
#'   learning starts) or `NULL` (learned).
#' @param flip,noise Probability of a wrong label: `NULL` (learned), a number between 0 and 1/2 or
#'   `fixed(value)`. With `flip = 0` labels are right, and `lik_probit()` is as if it had no `flip`.
#' @param shared Do the latent functions of all classes have the same kernel hyperparameters, or
#'   each its own?
#' @return A value of class `sparsegp_likelihood`. Errors are of class `sparsegp_error`.
#' @references Minka, T. P. *Gaussian EP* (update formulas). Csató, L. (2002). *Gaussian Processes
#'   -- Iterative Sparse Approximations* (the thesis). Seeger, Lawrence and Herbrich, *Efficient
#'   Nonparametric Bayesian Modelling with Sparse Gaussian Process Approximations* (the IVM paper).
#'   Lawrence, N. D. and Jordan, M. I. (2005). Semi-supervised learning via Gaussian processes.
#'   *Advances in Neural Information Processing Systems* 17.
#' @examples
#' lik_gaussian(variance = fixed(0.1))
#' lik_gaussian(covariance = "full")
#' lik_probit()
#' lik_mprobit(bias = fixed(0))
#' fit <- sparsegp(mtcars$wt, mtcars$am, likelihood = "logit")
#' predict(fit, c(2, 3, 4))
#' @name likelihoods
#' @order 1
NULL
