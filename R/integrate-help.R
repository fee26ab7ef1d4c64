#' Integrating over hyperparameters
#'
#' A fit at one value of the hyperparameters ignores their uncertainty, which matters with few
#' observations: prediction intervals are then too narrow. `gp_control(integrate = )` averages over
#' the hyperparameters \eqn{\theta}{theta} by their posterior, \deqn{p(y_* \mid y) = \int p(y_* \mid
#' y, \theta) \, p(\theta \mid y) \, d\theta \approx \sum_k w_k \, p(y_* \mid y, \theta_k),}{p(y* |
#' y) = sum_k w_k p(y* | y, theta_k),} a mixture of fits at some points, whose weights are
#' proportional to evidence times prior times volume.
#'
#' | `integrate` | points |
#' |---|---|
#' | `"none"` | the mode alone |
#' | `"ccd"` | a composite design along the axes of the curvature, weighted by the posterior |
#' | `"laplace"` | the same points under the normal density that has this curvature |
#' | `"grid"` | a grid in all directions, for at most three hyperparameters |
#' | `"mcmc"` | 200 draws by slice sampling: the reference, slow, and random (`set.seed()`) |
#' | `NULL` | `"ccd"` or `"none"`, see below |
#'
#' By default (`NULL`) a fit is integrated by `"ccd"` if it has at most 300 rows (times components),
#' at most 12 hyperparameters are learned, intervals widen by more than 3 %, and neither `method`
#' nor another reason rules it out (see below). The widening is estimated before any point is
#' fitted, from leave-one-out predictions on both sides of each axis. `print()` shows the outcome.
#'
#' @section Predictions of the mixture:
#' [predict()][predict.sparsegp], [plot()][plot.sparsegp], [draws()],
#' [simulate()][simulate.sparsegp], [residuals()][residuals.sparsegp] and [calibration()] use the
#' mixture: means and probabilities are averaged, variances add the variance of the means, quantiles
#' and intervals follow from the distribution function of the mixture, and every draw is from one
#' member. [loo()] weights the members without the row in question, \deqn{p(y_i \mid y_{-i}) =
#' \Big(\sum_k w_k \,/\, p_k(y_i \mid y_{-i})\Big)^{-1}.}{p(y_i | y_-i) = 1 / sum_k (w_k / p_k(y_i |
#' y_-i)).} `logLik()` is the integrated log evidence (after `"mcmc"` an estimate by bridge
#' sampling, accurate to about 0.1 nats). It is smaller than that at the mode, and the two cannot be
#' compared. [coef()] and [sites()] are at the mode, as are [importance()], [next_rows()],
#' [basis()], [kl()], `hatvalues()` and [influence][influence.sparsegp]; [confint()][curvature] uses
#' the densities along the axes. If a parameter of the scale of the response is learned, as by
#' `lik_gaussian(transform = "boxcox")`, the latent functions of the members have different scales:
#' types `"link"`, `"latent"`, `"terms"` and `"effects"` are then at the mode, with a message, and
#' `draws()` returns responses by default. Such fits cannot be updated or merged.
#'
#' @section How the points are found:
#' The curvature of log evidence plus log prior at the mode is found from the gradients that the
#' search for the mode has left, by least squares on their differences; in directions that the
#' search has hardly explored, gradients beside the mode are added. The axes are its eigenvectors.
#' In units of the priors' spreads no axis reaches farther than the prior: where the evidence is
#' flat or still rises, as for an input that does not matter, the prior bounds it. `print()` names
#' such hyperparameters.
#'
#' Along each side of an axis the density is evaluated where a normal density has fallen by 1 nat;
#' where it has fallen by \eqn{d}{d} there, the side is wider by \eqn{1/\sqrt{d}}{1 / sqrt(d)}.
#' If predictions hardly move on the first side, towards small values, the other follows from the
#' curvature. Axes that add less than 0.05 % to the variance of predictions stay at the mode; on the
#' others the density is evaluated again three widths out, and five for long tails.
#'
#' With up to five axes the points are the mode, these places along the axes, and corners of a cube.
#' Weights are such that for a product of the densities along the axes, which need not be normal,
#' moments of up to the fourth order and \eqn{E x_i^2 x_j^2}{E xi^2 xj^2} are exact; for normal
#' densities this is a rule of degree five. At the corners weights are multiplied by the ratio of
#' the posterior to the product of the densities along the axes, which is one at the other points.
#'
#' With more axes the points are one in the middle and corners at the distance \eqn{1.1\sqrt{q}}{1.1
#' sqrt(q)} from it (\eqn{q}{q} axes), a fraction of them in which every three coordinates take all
#' signs equally often, and all have the ratio in their weights. A point \eqn{z}{z} of this design
#' for normal variables is mapped to the value below which the density along the axis has
#' probability \eqn{\Phi(z)}{Phi(z)}. It integrates polynomials of the third degree exactly.
#'
#' Priors are densities of what they are given for; those of [prior_lognormal()] and
#' [prior_logcauchy()] are of the logarithm, as is [prior_flat()], and the others have the Jacobian
#' of the logarithm in addition.
#'
#' @section Refused:
#' Streams and sources, fits that have learned nothing, posteriors of several [modes()],
#' recalibrated probabilities, one-vs-rest classes, fits with virtual copies, and
#' posteriors of some rows only are errors of class `sparsegp_error`; by default such fits are not
#' integrated.
#'
#' @section Cost:
#' A mixture takes the memory and the time of predictions of its points, at most 21 for three
#' hyperparameters and 37 for five, and 25 where more than five axes count.
#' Finding them takes some 23 to 35 runs for three to six
#' hyperparameters and 45 to 55 for ten, without gradients and with EP started from sites predicted
#' from those at the mode. With 300 observations that is the CPU time of 15 to 35 evaluations with
#' gradient for three to six hyperparameters, and of 45 to 55 for ten; the search for the mode takes
#' 30 to 80 of these. With 60 observations a fit takes 0.02 to 0.15 seconds longer. Deciding that a
#' default fit is not integrated takes only the runs along the axes, one or two for each.
#'
#' @references Rue, H., Martino, S. and Chopin, N. (2009). Approximate Bayesian inference for
#'   latent Gaussian models by using integrated nested Laplace approximations. *Journal of the
#'   Royal Statistical Society B* 71, 319-392, section 6.5. Neal, R. M. (2003). Slice sampling.
#'   *Annals of Statistics* 31, 705-767. Plackett, R. L. and Burman, J. P. (1946). The design of
#'   optimum multifactorial experiments. *Biometrika* 33, 305-325. Meng, X.-L. and Wong, W. H.
#'   (1996). Simulating ratios of normalizing constants via a simple identity: a theoretical
#'   exploration. *Statistica Sinica* 6, 831-860. Gelfand, A. E., Dey, D. K. and
#'   Chang, H. (1992). Model determination using predictive distributions with implementation via
#'   sampling-based methods. *Bayesian Statistics* 4, 147-167.
#' @examples
#' set.seed(1)
#' d <- data.frame(x = runif(15))
#' d$y <- sin(6 * d$x) + 0.3 * rnorm(15)
#' fit <- sparsegp(y ~ x, d)
#' fit
#' new <- data.frame(x = c(0.5, 1.2))
#' predict(fit, new, interval = "prediction")
#' predict(update(fit, control = gp_control(integrate = "none")), new, interval = "prediction")
#' @name integration
#' @aliases integrate
NULL
