#' How a fit finds the structure of its model
#'
#' @description
#' Without a `kernel` [sparsegp()] chooses the scale of the response, the scale of the inputs and a
#' kernel by a race: candidates are fitted to a pilot sample of the observations and compared by the
#' log evidence. `print()` has a line for each axis with the choice, and by how much it was better
#' than the simplest candidate; `fit$choices` and `summary()` show all candidates, and `plot(fit,
#' "choices")` draws them.
#'
#' Axes are tried in this order, and a second time where later choices may have changed an earlier
#' one. Each offers alternatives to the best candidate so far, and the search for their
#' hyperparameters continues from there. The first candidate is [kernel_rbf()] (of a long series of
#' one numeric input [kernel_matern52()], see [fit_methods]) with
#' one length scale, on the response as it is, with inputs divided by their standard deviations. A
#' factor is one input, see "Factors" in [sparsegp_details].
#'
#' | axis (`stage` in `fit$choices`) | alternatives | tried for |
#' |---|---|---|
#' | latent functions | one of each category of the response, see "Ordered categories" | an ordered factor of 3 to `r policy$most_classes` levels, without a likelihood |
#' | coding | ordered factors as factors, not as numbers | formulas with ordered factors |
#' | response scale | square root, logarithm, Box-Cox, logit, asinh, see [response_scale()] | positive numbers, logit between 0 and 1, asinh if both tails are heavy, or if one is and some are not positive; see "The scale of the response" |
#' | error of log times | logistic, normal after extreme value, see [likelihoods_times] | `Surv()` responses without a likelihood |
#' | prior mean | a constant in place of 0, see [kernels_of_vectors] | a kernel of a vector field that is given without `mean` |
#' | input scale | one scale for all inputs, `scale = "common"` | `scale` not given, no standard deviation of `r policy$same_unit_ratio` times the median or more |
#' | input scale | skewed inputs on a log scale, `scale = "log"` | `scale` not given, some input of skewness `r policy$skewed_inputs` or more |
#' | kernel | of few inputs, `vars`, with a length scale each, see "Few inputs that matter" | `r policy$fewest_screened` inputs or more; not labels |
#' | kernel | a length scale for each input, `ard = TRUE`; of labels tied to a common one | 2 to `r policy$max_ard_inputs` inputs |
#' | kernel | [kernel_matern52()], [kernel_matern32()], with `ard` as the best has it | |
#' | kernel | the best kernel `+ kernel_periodic()`, twice: rhythms, see "Time" | rows in time |
#' | kernel | the best kernel `+ kernel_linear()`: a trend, where few inputs matter first of these | numbers, counts, and labels that full EP takes by default |
#' | kernel | the best kernel `+ kernel_matern12()`: a rough function | numbers and counts |
#' | kernel | a length scale of the rough function for each input | that was taken, after ARD |
#' | noise | noise near none, as of a computer experiment: log(noise / variance) ~ N(-12, 3^2) in place of N(-2, 2^2) | Gaussian noise that was learned below a tenth of the variance; not if rows with the same inputs differ |
#' | noise | Student, heteroscedastic, counts, beta, see "The noise" | residuals that are not Gaussian |
#' | effects of levels | [kernel_factor()] of a factor, which the other parts then do not see | factors of at least `r policy$many_levels` levels with `r policy$level_rows` observations each on average; not labels |
#' | roughness | [kernel_matern32()] once more, by leave-one-out log probability, see "A rougher kernel" | two or one-vs-rest labels beyond full EP, whose kernel is smoother |
#'
#' `sparsegp(structure = "fixed")` has the first candidate. If a `kernel` is given nothing but the
#' degree of a polynomial is chosen, and `scale = NULL` means `TRUE`. Each of
#' `lik_gaussian(transform = "identity")`, `scale = TRUE` and `coding = "contrasts"` closes its axis
#' and leaves the others open.
#'
#' @details
#' ## The pilot sample
#'
#' It is of 630 observations with Gaussian noise, fewer with other likelihoods, evenly
#' spread over all; of two or one-vs-rest labels of `r policy$class_pilot_rows`. A function of up to
#' `r policy$neighbour_inputs` inputs may vary so fast that such a sample shows nothing but noise.
#' So the responses of neighbouring rows are compared, in the sample and among all rows: where the
#' sample loses `r policy$lost_likeness` of what neighbours share, it is made of
#' `r policy$pilot_windows` windows of neighbouring rows. If the fit still takes for noise what
#' neighbours share, a warning says so. A stream is settled
#' by its pilot, a [source][row_source] by the observations that are kept in memory. Several outputs
#' have [kernel_coregion()].
#'
#' ## Time
#'
#' Rows are in time if one input is of class `Date` or `POSIXct`, or if the only input is a regular
#' grid on which each value occurs once, as in a `ts`. The periodogram of the response, less a cubic
#' trend, then offers up to `r policy$rhythm_peaks` periods that rise above noise: those of its
#' peaks, or periods of calendars near them (a day, a week, a year, counted in rows or in the unit
#' of the input), and a period of which a peak is a harmonic. A rhythm is learned as any part of a
#' sum, and a second may join it.
#'
#' ## The noise
#'
#' Without a likelihood, prior, weights or method the leave-one-out residuals of the chosen model are
#' examined: are they those of Gaussian noise of one variance? Each other kind of noise is fitted to
#' the residuals alone, and the predicted means stay. If its log density exceeds that of Gaussian
#' noise by as much as another scale of the response has to gain, it is learned with the chosen
#' kernel, and compared by its evidence:
#'
#' * `lik_student()`: outliers, and tails that are heavier than those of a normal distribution;
#' * `lik_heteroscedastic()`: errors whose size varies with the inputs or the mean;
#' * `lik_poisson()`, `lik_negbin()`, `lik_zip()`, `lik_zinb()`: counts, if all responses are whole
#'   numbers from 0, and three or more of them differ. The density of Gaussian noise then counts as
#'   the probability of the unit interval around the response. Nothing is shifted for that: with an
#'   offset or a `mean`, which would be those of a logarithm, counts are not tried;
#' * `lik_beta()`: shares, if all responses are between 0 and 1.
#'
#' The simplest kind that gains enough is taken, and kernels and the scale of the response are
#' compared once more under it, on fewer rows, as EP takes several times as long. `print()` names
#' the likelihood, and `fit$choices` has the rows of stage "noise". `likelihood = "gaussian"` closes
#' this axis and leaves the scale of the response open. A kernel of your own closes it, too.
#'
#' ## Few inputs that matter
#'
#' Where few of many inputs matter, a kernel of all has more length scales than observations can
#' determine. So inputs are screened: a forward selection in an additive model of polynomials of
#' single inputs (up to degree `r policy$screened_degree`) and of products with inputs found before,
#' on up to `r policy$screened_rows` observations of the pilot. An input has to gain log p +
#' `r policy$min_screened_gain` nats of that model's log marginal likelihood: of p inputs that do
#' not matter the best one seems to gain log p. The kernel of the inputs found, which `print()`
#' names, is a candidate as any other, and has to gain the logarithm of the number of such choices
#' besides. Nothing is offered if more than `r policy$most_screened` are found, half of the inputs,
#' or one for `r 1 / policy$most_screened_part[2L]` observations. Inputs that matter only in
#' products with each other are not found. The response then does not depend on the other inputs at
#' all; give a `kernel` such as `kernel_rbf(ard = TRUE)` to keep them.
#'
#' ## The second round
#'
#' A choice is judged with what was taken before it. A square root may make up for length scales
#' that the kernel does not have yet, and be worse than the response itself with them. So after the
#' last axis all are gone through once more. An alternative is tried again, with all else that was
#' taken, if it was behind by no more than later choices have gained: the simplest one of its axis
#' always then, others if they were within `r policy$reopened_within` nats. What is simpler than the
#' best so far is taken if it is better at all. `fit$choices` has rows of both rounds, and those of
#' the second begin with the best so far.
#'
#' ## Factors of many levels
#'
#' Schools, patients or places are a sample of levels, and the value of each may be a draw from a
#' normal distribution: a random effect. One factor after the other, those of fewest levels first,
#' leaves the distances for a [kernel_factor()] of its own, if that is better. If the pilot is not
#' of all observations, candidates are compared on another one, of all or many observations of some
#' levels of the first of these factors: among observations spread evenly few would share a level.
#' The scores of this stage compare with each other only. Of so many observations that the fit has
#' inducing points (the *basis*), an effect may be worse by `r policy$min_evidence_gain` nat:
#' kernels of distances need points for every combination of levels, sums for every level. The
#' inducing points then begin with an observation of each level, those of most observations first.
#'
#' ## Ordered categories
#'
#' The ordinal model has one latent function for all categories, see [likelihoods_classes]. Some
#' responses do not follow one: a category in the middle may have observations of two kinds. So it
#' is compared with what the same factor without an order would have, a latent function for each
#' category, on `r 2 * policy$pilot_rows` observations or all, before the other axes. Both models
#' are learned on a third of these with the first kernel, and judged by the leave-one-out log
#' probability of the category. A function for each has to gain `r policy$min_standard_errors`
#' standard errors. The response stays ordered, but [influence][influence.sparsegp] of observations
#' is for the ordinal model alone.
#'
#' Nothing is compared if a likelihood is given, such as `"ordinal"`, or a method, a basis, an
#' offset, a `mean`, virtual copies, `integrate` other than `"none"`, or a prior of cut points. A
#' stream has the ordinal model.
#'
#' ## The scale of the response
#'
#' The scale is left as it is if something that is given is in units of the response: an offset,
#' which is added on the fitted scale, `mean = "zero"`, the noise of the likelihood, or a prior of
#' the noise or of a variance. Weights divide the noise variance on any scale, and other priors mean
#' the same on any: these leave the choice open.
#'
#' A stream is settled by its pilot. The logarithm and the scale of Box and Cox are not tried there
#' if all responses are multiples of the smallest, as counts are, for the next one may be 0; nor
#' logit if that holds at either end. If a later response still lies outside of the scale's domain,
#' such as a negative one after the logarithm was chosen, `update()` is an error of class
#' `sparsegp_error`, and the fit before is as it was. The scales `"identity"` and `"asinh"` take any
#' number.
#'
#' ## Degree of a polynomial
#'
#' [kernel_poly()] without a `degree` has the one among 1 to `r policy$most_degree` that the log
#' evidence prefers. Each degree is learned from where the best before it ended, and has to
#' be better by `r policy$min_evidence_gain` m / n nats. The rows are those of stage "kernel" in
#' `fit$choices`. Several such parts of one kernel have the same degree. Where nothing is compared
#' (`learn = FALSE`, `structure = "fixed"`, a likelihood without evidence) the degree is
#' `r USUAL_DEGREE`.
#'
#' ## A rougher kernel
#'
#' The evidence of labels is that of a pilot with few inducing points, which cannot carry a rough
#' function, so it prefers smooth kernels. If the race preferred one to [kernel_matern32()], the fit
#' of all observations is made again with this, with the hyperparameters that the race learned for
#' it and length scales `r policy$lengthscale_factors[1]` times as long. It is taken if the mean
#' leave-one-out log probability rises by `r policy$min_standard_errors` standard errors. That takes
#' about a fifth of the time of a fit, and is left out if observations are more than candidates are
#' compared on (`r policy$compare_rows`, fewer of more than `r policy$most_classes` classes).
#'
#' ## By which margin
#'
#' The score of a candidate is log evidence plus log prior, less a price for each hyperparameter
#' that is learned. The log prior is taken relative to its value at a typical hyperparameter, so
#' a wide prior costs nothing by its width. The price, on a pilot of m of n observations, is
#' `r policy$overfit_nats` + `r policy$parameter_nats` m / n nats. It stands for two losses. The
#' best value of a hyperparameter is found by the same observations that it is judged by, so
#' the pilot overstates its gain. And the evidence would have to be integrated over it: by a Laplace
#' approximation that costs somewhat more than a nat, but only once, whereas the gain grows with the
#' number of observations. A later candidate has to be better by `r policy$min_evidence_gain` m / n
#' nats, and a sum of kernels of numbers or counts, which takes longer, by `r policy$min_gain` nats
#' an observation as well. Another scale of the response has to gain `r policy$min_transform_gain`
#' m / n nats and `r policy$min_transform_gain_per_row` nats an observation; its evidence includes
#' the Jacobian.
#' Length scales of labels have a log-Cauchy prior around the common one (see [priors]) in place of
#' a price, and have to gain `r policy$min_relevance_gain` m / n nats. Those that one-vs-rest
#' classes share have to gain `r policy$min_relevance_gain` nats, and `r policy$min_relevance_rate`
#' nats an observation of the pilot, in the model of each class on average.
#'
#' With these margins a length scale for each input (ARD) is refused if observations are few for the
#' number of inputs, where the evidence alone would accept it and predictions would be worse.
#'
#' ## What it costs
#'
#' An evaluation of the evidence of 630 observations takes some 2.5e8 multiplications
#' (`structure_flops` of the package's table of such numbers), and the race some 60 to 150 of them:
#' 2 to 4 CPU seconds, 6 with 32 inputs; `bench/zoo.R` has the seconds of default fits on 46 data
#' sets.
#'
#' @seealso [fit_methods] on the number of inducing points; [priors]; [kernels].
#' @concept automatic relevance determination
#' @concept kernel selection
#' @concept model selection
#' @concept ARD
#' @examples
#' fit <- sparsegp(mpg ~ wt + hp + qsec, mtcars)
#' fit
#' fit$choices
#' plain <- update(fit, structure = "fixed")
#' c(logLik(fit), logLik(plain))
#' @name model_structure
NULL
