#' How a fit finds the structure of its model
#'
#' Without a `kernel` [sparsegp()] chooses one, and the scale of the inputs, by a race: candidates
#' are fitted to a pilot sample of the observations and compared by the log evidence. `print()` says
#' in one line for each axis what was chosen, and by how much it was better than the simplest;
#' `fit$choices` and `summary()` show all candidates, `plot(fit, "choices")` draws them.
#'
#' @section What is tried:
#' Axes are tried in this order. Each offers alternatives to the best candidate so far, and the
#' search for their hyperparameters goes on from there. The first candidate is [kernel_rbf()] with
#' one length scale, inputs divided by their standard deviations.
#'
#' | axis (`stage` in `fit$choices`) | alternatives | tried for |
#' |---|---|---|
#' | input scale | one scale for all inputs, `scale = "common"` | `scale` not given, standard deviations within a factor of `r policy$same_unit_ratio` |
#' | kernel | a length scale for each input, `ard = TRUE` | 2 to `r policy$max_ard_inputs` inputs, one latent function |
#' | kernel | [kernel_matern52()], [kernel_matern32()], with `ard` as the best has it | |
#' | kernel | the best kernel `+ kernel_linear()`: a trend | numbers and counts, not labels |
#' | kernel | the best kernel `+ kernel_matern12()`: a rough function | the same |
#' | kernel | a length scale of the rough function for each input | that was taken, after ARD |
#'
#' The pilot sample is of 630 observations with Gaussian noise, fewer with other likelihoods, evenly
#' spread over all; of two or one-vs-rest labels of `r policy$class_pilot_rows`. A stream is settled
#' by its pilot, a [source][row_source] by the observations that are kept in memory. Several outputs
#' have [kernel_coregion()].
#'
#' @section By which margin:
#' The score of a candidate is log evidence plus log prior, less a price for each hyperparameter
#' that is learned. The log prior is taken relative to its value at a typical hyperparameter, so
#' that a wide prior costs nothing by its width. The price, on a pilot of m of n observations, is
#' `r policy$overfit_nats` + `r policy$parameter_nats` m / n nats. It stands for two losses. The
#' best value of a hyperparameter is found by the same observations that it is judged by, so that
#' the pilot overstates its gain. And the evidence would have to be integrated over it: by a Laplace
#' approximation that costs somewhat more than a nat, but only once, whereas the gain grows with the
#' number of observations. A later candidate has to be better by `r policy$min_evidence_gain` m / n
#' nats, and a sum of kernels, which takes longer, by `r policy$min_gain` nats an observation as
#' well.
#'
#' With these numbers length scales of their own (ARD) are refused where observations are few for
#' the inputs, where the evidence alone would accept them and predictions would be worse.
#'
#' @section How to switch it off:
#' `sparsegp(structure = "fixed")` has the first candidate. A `kernel` that is given is a model of
#' its own: nothing is chosen, and `scale = NULL` means `TRUE`. A `scale` that is given leaves the
#' kernel open.
#'
#' @section What it costs:
#' An evaluation of the evidence of 630 observations takes some 2.5e8 multiplications
#' (`structure_flops` of the package's table of such numbers), and the race some 60 to 150 of them:
#' 2 to 4 CPU seconds, 6 with 32 inputs. Over 22 sets of 43 to 4000 observations default fits took
#' 1.3 times as long as in version 0.3.0, whose race had four candidates; most of that was learning
#' where a sum of kernels was chosen.
#'
#' @seealso [methods] on the number of inducing points; [priors]; [kernels].
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
#' @name structure
NULL
