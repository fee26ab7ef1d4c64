#' How a fit finds the structure of its model
#'
#' @description Without a `kernel` [sparsegp()] chooses the scale of the response, the scale of the
#' inputs and a kernel among candidates, which are fitted to a pilot sample of the observations and
#' compared by the log evidence. `summary()` has a line for each choice, with its advantage over the
#' simplest candidate; `fit$choices` and `summary(details = TRUE)` show all candidates, and
#' `plot(fit, "choices")` draws them.
#'
#' Choices are made in this order, and a second time if a later choice may change an earlier one.
#' Each offers alternatives to the best candidate so far, and continues its search for
#' hyperparameters. The first candidate is [kernel_rbf()] (for a long series of one numeric
#' input [kernel_matern52()], see [fit_methods]) with one length scale, on the untransformed
#' response, with inputs divided by their standard deviations.
#'
#' | choice (`stage` in `fit$choices`) | alternatives | tried for |
#' |---|---|---|
#' | latent functions | one for each category of the response, see "Ordered categories" | an ordered factor of 3 to `r policy$most_classes` levels, without a likelihood |
#' | coding | ordered factors as factors, not as numbers | formulas with ordered factors |
#' | response scale | square root, logarithm, Box-Cox, logit, asinh, see [response_scale()] | positive numbers, logit between 0 and 1, asinh if both tails are heavy, or if one is and some are not positive |
#' | error of log times | logistic, normal after extreme value, see [likelihoods_times] | `Surv()` responses without a likelihood |
#' | prior mean | a constant in place of 0, see [kernels_of_vectors] | a kernel of a vector field that is given without `mean` |
#' | input scale | one scale for all inputs, `scale = "common"` | `scale` not given, no standard deviation of `r policy$same_unit_ratio` times the median or more |
#' | input scale | skewed inputs on a log scale, `scale = "log"` | `scale` not given, some input of skewness `r policy$skewed_inputs` or more |
#' | kernel | few inputs, `vars`, with a length scale each, see "Few inputs that matter" | `r policy$fewest_screened` inputs or more; not labels |
#' | kernel | a length scale for each input, `ard = TRUE`; for all inputs even if few were selected; for classes tied to a common one | 2 to `r policy$max_ard_inputs` inputs |
#' | kernel | [kernel_matern52()], [kernel_matern32()], with the `ard` of the best; for a series also [kernel_matern12()] | |
#' | kernel | the best kernel `+ kernel_periodic()`, twice, for a long series three times, for labels once: rhythms, see "Time" | rows in time, or one input |
#' | kernel | the best kernel `+ kernel_matern32()` of time, see "Time" | time beside other inputs; not labels |
#' | kernel | the best kernel `+ kernel_linear()`: a trend; tried first if few inputs were selected | numbers, counts, and labels that full EP takes by default |
#' | kernel | the best kernel `+ kernel_matern12()`: a rough function | numbers and counts |
#' | kernel | a length scale for each input in the rough function | a rough function that was taken, after ARD |
#' | noise | almost no noise, as in computer experiments: log(noise / variance) ~ N(-12, 3^2) instead of N(-2, 2^2); also with ARD | Gaussian noise that was learned below a tenth of the variance; not if rows with the same inputs differ |
#' | noise | Student, heteroscedastic, counts, beta, see "The noise" | residuals that are not Gaussian |
#' | effects of levels | [kernel_factor()] of a factor, which the other parts then do not read | factors of at least `r policy$many_levels` levels with `r policy$level_rows` observations each on average; not labels |
#' | roughness | [kernel_matern32()] once more, by leave-one-out log probability, see "A rougher kernel" | two or one-vs-rest labels beyond full EP |
#'
#' `sparsegp(structure = "fixed")` fits the first candidate, without comparisons. With a `kernel`
#' only the degree of a polynomial is chosen, and `scale = NULL` means `TRUE`. Each of
#' `lik_gaussian(transform = "identity")`, `scale = TRUE` and `coding = "contrasts"` fixes its own
#' choice and leaves the others open.
#'
#' @details
#' ## The pilot sample
#'
#' The pilot sample has 630 observations for Gaussian noise, fewer for other likelihoods, evenly
#' spread over all (`r policy$class_pilot_rows` for two classes or one-vs-rest models). In time
#' beside other inputs, half of it consists of windows of consecutive rows. A function
#' of up to `r policy$neighbour_inputs` inputs may vary so fast that such a sample shows nothing but
#' noise. The responses of neighbouring rows are therefore compared, in the sample and among all
#' rows: if the sample loses `r policy$lost_likeness` of the correlation of neighbours, it consists
#' of `r policy$pilot_windows` windows of neighbouring rows. A warning follows if the fit still
#' treats this correlation as noise. The structure of a stream is chosen on its pilot, that of a
#' [source][row_source] on the observations in memory.
#'
#' ## Several latent functions
#'
#' Responses of several columns, and likelihoods of two latent functions that are given by name,
#' such as `"heteroscedastic"`, have [kernel_coregion()] of the kernel. If several inputs vary,
#' these choices are made for all functions at once, in this order: the coding of ordered factors, a
#' length scale for each input, a trend, and a rougher kernel. With one input, or [lik_custom()],
#' the kernel is that of [kernel_rbf()]. The pilot sample has as many times fewer observations as
#' there are functions.
#'
#' ## Time
#'
#' Rows are in time if one input is of class `Date` or `POSIXct`, or a regular grid on which each
#' value occurs once, as in a `ts`. The grid may have long gaps, but most values follow the one
#' before by one step, and steps may differ as months do. Other numeric inputs, if there are at most
#' `r policy$neighbour_inputs`, may have rhythms, too, unless they are on a log scale. Their values
#' may be irregular, or repeated as in several series, and a period has to be repeated at least
#' `r policy$untimed_cycles` times; in time `r policy$rhythm_cycles` times. The periodogram
#' of the response, minus a cubic trend and what is linear in other inputs, offers up to
#' `r policy$rhythm_peaks` periods that rise above noise: those of its peaks, or periods of
#' calendars near them (a day, a week, a year, counted in rows or in the unit of the input), and a
#' period of which a peak is a harmonic. If these are fewer, a period of a calendar is also offered
#' whose waves stand out beside slower functions, since a few cycles have no such peak. The first of
#' the periods is also compared beside the smoothest kernel, since the kernel so far may be rough
#' only because it follows the cycles. A rhythm is learned as any part of a sum, and a second may
#' join it.
#'
#' If the level changes from day to day, a kernel of all inputs learns the effects of the others
#' from a few days alone. A function of time alone is therefore offered beside it, as in
#' `kernel_rbf() + kernel_matern32(vars = "day")`, with the rhythms and without them, since what
#' looked like a rhythm may have been such a function. `bench/calendar.R` measures the gain.
#'
#' Numbers and counts are a *series* if their only input is time. The log evidence consists of
#' predictions of each observation from those before it, and hardly depends on forecasts further
#' ahead, which return to the mean unless the kernel has a trend. A trend of a series is therefore
#' accepted unless it lowers the evidence plus log prior; there is neither a penalty for its
#' variance nor a margin. `bench/forecasts.R` has what this does to forecasts.
#'
#' ## The noise
#'
#' Without a likelihood, prior, weights or method the leave-one-out residuals of the chosen model
#' are examined: do they look like Gaussian noise of one variance? Each other kind of noise is
#' fitted to the residuals alone, and the predicted means stay. If its log density exceeds that of
#' Gaussian noise by as much as another scale of the response has to gain, it is learned with the
#' chosen kernel, and compared by its evidence:
#'
#' * `lik_student()`: outliers, and tails that are heavier than those of a normal distribution;
#' * `lik_heteroscedastic()`: errors whose size varies with the inputs or the mean;
#' * `lik_poisson()`, `lik_negbin()`, `lik_zip()`, `lik_zinb()`: counts, if all responses are whole
#'   numbers from 0 to a million, and three or more of them differ. The density of Gaussian noise
#'   then counts as the probability of the unit interval around the response. With an offset or a
#'   `mean`, which would be those of a logarithm, counts are not tried;
#' * `lik_beta()`: proportions, if all responses are between 0 and 1.
#'
#' Around a value that many responses share, noise could shrink, and its density grow, without end.
#' Student noise is therefore not tried if more than half of the responses are equal, nor
#' `lik_heteroscedastic()` if a quarter are, if one value is `r MOST_TIES` times as common as
#' rounding explains (zeros, a limit), or if the errors would fall below the step between tied
#' responses.
#'
#' The means are those of Gaussian noise, from which a few outliers among few observations may hide
#' the function, and so themselves. If up to a quarter of the residuals are more than
#' `r policy$far_residual` median absolute deviations (times 1.48) from their median, and Student
#' noise has a higher density of these, it is learned, and has to gain only as much as another
#' kernel. The residuals of the starting values count, too, as noise that is wide, or a function
#' that varies fast, may have been learned from an outlier. Student noise is also compared with
#' noise near none. `lik_heteroscedastic()` is not tried if the size of the other residuals does not
#' vary.
#'
#' The simplest kind that gains enough is taken, and kernels and the scale of the response are
#' compared once more under it, on fewer rows, as EP takes several times as long. `print()` names
#' the likelihood, and `fit$choices` has the rows of stage "noise". `likelihood = "gaussian"` keeps
#' Gaussian noise and leaves the scale of the response open. If you give a `kernel`, noise is not
#' compared either.
#'
#' ## Few inputs that matter
#'
#' If few of many inputs matter, a kernel of all inputs has more length scales than the observations
#' can determine. Inputs are therefore screened: a forward selection in an additive model of
#' polynomials of single inputs (up to degree `r policy$screened_degree`) and of products with
#' inputs found before, on up to `r policy$screened_rows` observations of the pilot. An input has to
#' gain log p + `r policy$min_screened_gain` nats of the log marginal likelihood of that model: the
#' best of p irrelevant inputs appears to gain log p. The kernel of the selected inputs, which
#' `print()` names, is a candidate like any other, and has to gain the logarithm of the number of
#' such choices as well. Nothing is offered if more than `r policy$most_screened` are found, half of
#' the inputs, or one for `r 1 / policy$most_screened_part[2L]` observations. If no input gains
#' that, the product of two may: the best one of p (p - 1) / 2 has to gain
#' the logarithm of that number + `r policy$min_screened_gain`. Inputs that matter only in products
#' of three are not found, so a length scale for each of all inputs (up to
#' `r policy$max_ard_inputs`) is compared with the kernel of few. If the kernel of few inputs is
#' taken, the response does not depend on the other inputs at all; give a `kernel` such as
#' `kernel_rbf(ard = TRUE)` to keep them.
#'
#' ## The second round
#'
#' A choice depends on the choices before it: a square root may compensate for length scales that
#' the kernel does not have yet, and be worse than the untransformed response with them. After the
#' last choice there is therefore a second round. An alternative is tried again, with all other
#' choices, if its disadvantage was no larger than the later gains: always for the simplest
#' alternative, for others if they were within `r policy$reopened_within` nats. A simpler model is
#' accepted if it is better at all. `fit$choices` has the rows of both rounds; those of the second
#' begin with the best so far.
#'
#' ## Factors of many levels
#'
#' Schools, patients or places are a sample of levels, and the value of each may be a draw from a
#' normal distribution: a random effect. One factor after the other, those of fewest levels first,
#' is given a [kernel_factor()] of its own, if that is better. If the pilot has not all
#' observations, candidates are compared on another one, with all or many observations of some
#' levels of the first of these factors, since few of evenly spread observations would share a
#' level. These scores are comparable only with each other. If the fit needs inducing points (the
#' *basis*), an effect may be worse by `r policy$min_evidence_gain` nat: kernels of distances need
#' points for every combination of levels, sums for every level. The inducing points then begin with
#' an observation of each level, those of most observations first.
#'
#' ## Ordered categories
#'
#' The ordinal model has one latent function for all categories, see [likelihoods_classes]. Some
#' responses do not follow one: a category in the middle may have observations of two kinds. So it
#' is compared with what the same factor without an order would have, a latent function for each
#' category, on `r 2 * policy$pilot_rows` observations or all, before the other choices. Both models
#' are learned on a third of these with the first kernel, and judged by the leave-one-out log
#' probability of the category. One function per category has to gain `r policy$min_standard_errors`
#' standard errors. The response stays ordered, but [influence][influence.sparsegp] of observations
#' is for the ordinal model alone.
#'
#' Nothing is compared if a likelihood is given, such as `"ordinal"`, or a method, a basis, an
#' offset, a `mean`, virtual copies, `integrate` other than `"none"`, or a prior of cut points. A
#' stream has the ordinal model.
#'
#' ## The scale of the response
#'
#' The scale is not changed if another argument is in units of the response: an offset, which is
#' added on the fitted scale, `mean = "zero"`, the noise of the likelihood, or a prior of the noise
#' or of a variance. Weights divide the noise variance on any scale, and other priors mean the same
#' on any: these leave the choice open.
#'
#' The scale of a stream is chosen on its pilot. The logarithm and the scale of Box and Cox are not
#' tried there if all responses are multiples of the smallest, as counts are, since the next one may
#' be 0; nor logit if that holds at either end. If a later response still lies outside of the
#' scale's domain, such as a negative one after the logarithm was chosen, `update()` is an error of
#' class `sparsegp_error`, and the fit remains unchanged. The scales `"identity"` and `"asinh"` take
#' any number.
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
#' function, so it prefers smooth kernels. If the search preferred one to [kernel_matern32()], all
#' observations are fitted again with this kernel, with its hyperparameters from the search and
#' length scales `r policy$lengthscale_factors[1]` times as long. It is chosen if the mean
#' leave-one-out log probability rises by `r policy$min_standard_errors` standard errors. That takes
#' about a fifth of the time of a fit, and is left out if observations are more than candidates are
#' compared on (`r policy$compare_rows`, fewer of more than `r policy$most_classes` classes).
#'
#' ## By which margin
#'
#' The score of a candidate is log evidence plus log prior, minus a penalty for each estimated
#' hyperparameter. The log prior is taken relative to its value at a typical hyperparameter, so the
#' width of a prior is not penalised. The penalty, on a pilot of m of n observations, is
#' `r policy$overfit_nats` + `r policy$parameter_nats` m / n nats. It accounts for two effects. A
#' hyperparameter is fitted to the same observations that judge it, so the pilot overstates its
#' gain; and the evidence should be integrated over it, which by a Laplace approximation costs
#' somewhat more than a nat, but only once, whereas the gain grows with the number of observations.
#' A later candidate has to be better by `r policy$min_evidence_gain` m / n nats, and a sum of
#' kernels of numbers or counts, which takes longer, by `r policy$min_gain` nats an observation as
#' well. Another scale of the response has to gain `r policy$min_transform_gain` m / n nats and
#' `r policy$min_transform_gain_per_row` nats an observation; its evidence includes the Jacobian.
#' Length scales of labels have a log-Cauchy prior around the common one (see [priors]) in place of
#' a penalty, and have to gain `r policy$min_relevance_gain` m / n nats. Those that one-vs-rest
#' classes share have to gain `r policy$min_relevance_gain` nats, and `r policy$min_relevance_rate`
#' nats an observation of the pilot, in the model of each class on average.
#'
#' With these margins a length scale for each input (ARD) is refused if observations are few for the
#' number of inputs, where the evidence alone would accept it and predictions would be worse.
#'
#' ## What it costs
#'
#' An evaluation of the evidence of 630 observations takes some 2.5e8 multiplications
#' (`structure_flops` of the package's table of such numbers), and the search some 60 to 150 of
#' them: 2 to 4 CPU seconds, 6 with 32 inputs; `bench/zoo.R` has the seconds of default fits on 46
#' data sets. The search of a candidate ends early where the criterion is so far below what it has
#' to reach that its gradient cannot make up for it within `r policy$bounding_distance` e-folds.
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
