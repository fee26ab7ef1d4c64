#' Predictions from a Gaussian-process fit
#'
#' Means, medians, probabilities, classes, quantiles, survival curves and effects at new or training
#' rows, with standard errors and intervals. `predict(fit, newdata)` gives the mean response, or the
#' probability of the second of two classes.
#'
#' Each `type` gives one value per row, or as many columns as the table says. A dash is an error.
#'
#' | `type` | numbers, counts, proportions | times to an event | two classes | more classes | ordered categories |
#' |---|---|---|---|---|---|
#' | `"response"` | mean | mean time | probability of the second level | as `"prob"` | mean category number, from 1 |
#' | `"median"` | median of the mean | median time | median of the probability | n x C medians | median of the mean number |
#' | `"prob"` | - | - | n x 2 probabilities | n x C | n x K |
#' | `"class"` | - | - | most probable level | the same | the same, an ordered factor |
#' | `"quantile"` | n x K quantiles of a new response, at `at` | the same | - | - | of the category number |
#' | `"zero"` | of counts: probability of 0 | - | - | - | - |
#' | `"survival"` | - | n x K survival probabilities, at times `at` | - | - | - |
#' | `"rmst"` | - | restricted mean time, to the horizon `at` | - | - | - |
#' | `"link"` | linear predictor: latent function, bias and offset | the same | the same | n x C | latent function |
#' | `"latent"` | latent function alone | the same | the same | n x C | latent function |
#' | `"terms"` | n x terms: effect of each part of the kernel | the same | the same | n x terms x C | the same |
#'
#' `se.fit` and `interval` are available for every type whose value has a spread; the error message
#' names the alternative where they are not. [slopes()] gives derivatives, [vector_field()] the
#' divergence and vorticity of fields, [draws()] joint samples.
#'
#' @details
#' Responses are in their own units. The linear predictor is in the units of the response for
#' identity links; its inverse link is `exp()` for counts, `plogis()` or `pnorm()` for classes.
#'
#' Probabilities are averages over the posterior of the latent function. With
#' \eqn{N(\mu, s^2)}{N(mu, s2)} the posterior of the latent function at an input, the probit
#' likelihood gives \eqn{\Phi((\mu + bias)/\sqrt{1 + s^2})}{Phi((mu + bias) / sqrt(1 + s2))}.
#'
#' "More classes" in the table means one latent function for each class (\eqn{C} of them). Under
#' `lik_mprobit()` the probability of a class is the probability that its latent function, plus bias
#' and noise of variance 1, is the largest; this is a one-dimensional integral over the posterior.
#' One-vs-rest fits have probabilities proportional to the odds p / (1 - p) of the classes' own
#' probabilities p.
#'
#' The medians of the probabilities of more than two classes are marginal medians, over the
#' posterior of all latent functions. Where the posterior is wide they are far below the means. They
#' are not normalised, so the medians of a row may add up to less than one. Each is the median of
#' 2046 lattice points, and therefore reproducible: between .47 and .53 of the posterior lie below
#' it, found by simulation for 3 to 26 classes.
#'
#' `"class"` returns a factor with all levels of the response, in their order if it is ordered;
#' levels without observations are never predicted. A row whose largest probability is below
#' `reject` is left unclassified: its class is `NA` (thesis, section 5.2). [plot(type =
#' "reject")][plot.sparsegp] shows the error rate against the proportion rejected.
#'
#' An ordered factor of more than two levels with a likelihood of classes, such as `lik_mprobit()`,
#' or by default if that predicts better (see [model_structure]), has a latent function for each
#' category, and `"link"` and `"latent"` are matrices. All other types follow the last column of the
#' table, from the probabilities of the categories. The median, `se.fit` and `interval =
#' "confidence"` of the mean number use the same 2046 points, and take up to 0.04 seconds a row.
#'
#' Far from the data the mean of a count may be far above all observed counts: it is
#' `exp(mu + s2 / 2)`, the mean of a distribution with a long tail. `type = "median"` gives the
#' median `exp(mu)`, and `interval` shows the tail.
#'
#' If the mean of an unbounded response lies outside the central 95 % of its own posterior, the
#' tails dominate it, and `"response"` is the posterior median instead. On the asinh scale, and with
#' wide noise, or noise whose spread is a function, on scales with an exponential tail, responses
#' have no finite mean: `"response"` is then `"median"` in all rows, and `print()` reports it.
#'
#' @section New levels of factors:
#' With `unseen = "prior"` a new level of a factor is predicted from the prior, and a message names
#' it. A factor that is one input (`coding = "levels"`, see [gp_control()]) has one more level, at
#' the same distance from every other; [kernel_factor()] needs no message. An ordered factor that is
#' coded as a number has the new level at its place among the levels of the factor in `newdata`:
#' halfway between its two neighbours, or one step beyond the last. If that factor has no order, or
#' another order, or is coded by contrasts, predictions for such rows are `NA`, with a warning.
#'
#' An input that was constant in the data has no effect on predictions. A warning names a number or
#' a logical that has other values, a message a factor or text.
#'
#' With `unseen = "error"` each of these is an error.
#'
#' @section Weights and covariances:
#' The noise of a new response has variance noise / weight, and a new proportion has as many trials
#' as its weight. Training rows have their own weights and known variances. The joint covariance is
#' an n x n matrix in squared units of the latent function, with the squares of `se.fit` on its
#' diagonal and `NA` for rows with missing values; memory and time grow with the square of the
#' number of rows. It cannot be written to a file (`to`).
#'
#' @section Several components:
#' For a response `cbind(u, v)` predictions are n x w matrices with a column for each component.
#' With `interval` they are arrays of n x 3 x w, of which `[, , "u"]` is the matrix of one
#' component. `se.fit = TRUE` adds `covariance`, a w x w x n array of the covariances between the
#' components of a row. In a file (`to`) each pair is a column, `covariance.u.v`.
#'
#' @section Times to an event:
#' For the [likelihoods of times][likelihoods_times] `type = "survival"` gives the probability of no
#' event before each of the times `at`: an n x K matrix, with `interval` an array of n x 3 x K.
#' `type = "rmst"` gives the restricted mean: the expected time to the event or to the horizon `at`,
#' whichever is first. Both are averages over the posterior, and their intervals and standard errors
#' describe the uncertainty of the curve. `"response"` is the mean time if it is finite, and
#' `"median"` the median time at the median of the latent function.
#'
#' @section Terms:
#' The latent function of a sum of kernels is a sum of functions, one for each kernel, as in an
#' additive model. `type = "terms"` gives these functions in units of the latent function: a column
#' for each kernel of the sum, named after the kernel and its inputs, such as `rbf(time)`. The data
#' determine only their sum, and a constant can move from one function to another; an effect is
#' therefore centred at its mean over the rows of the fit (over at most 500 of them, evenly spread,
#' or over the inducing points (the *basis*), if the fit has not kept its inputs). The attribute
#' `constant` is the sum of these means and the bias: the effects of a row, the constant and the
#' offset add up to the mean of the linear predictor. A single kernel is one term, and
#' `kernel_constant()` is no term. With several latent functions effects are an array whose third
#' dimension is the classes, with a constant for each.
#'
#' Standard errors are those of the centred effects. They include uncertainty about how the sum
#' divides into terms, so they may exceed the standard error of the sum. For several terms together,
#' covariances included, give a named list: `terms = list(trend = 1:2, season = "periodic(time)")`.
#'
#' @section Intervals by jackknife+:
#' The intervals of a model have their nominal coverage if the model is right. Intervals of
#' `interval = "jackknife+"` are built from leave-one-out errors, and cover about `level` of new
#' responses for any kernel and any noise. Let \eqn{m_{-i}}{m_-i} and \eqn{s_{-i}}{s_-i} be mean and
#' standard deviation of a new response without row \eqn{i}{i}, on the scale of the response that
#' was fitted, and \eqn{r_i = |y_i - m_{-i}(x_i)| / s_{-i}(x_i)}{r_i = |y_i - m_-i(x_i)| /
#' s_-i(x_i)}. With \eqn{a = \lfloor (1 - level)(n + 1) \rfloor}{a = floor((1 - level)(n + 1))} the
#' interval at \eqn{x}{x} begins at number \eqn{a}{a}, from below, of the
#' \eqn{m_{-i}(x) - r_i s_{-i}(x)}{m_-i(x) - r_i s_-i(x)}, and ends at number \eqn{a}{a}, from
#' above, of the \eqn{m_{-i}(x) + r_i s_{-i}(x)}{m_-i(x) + r_i s_-i(x)} (Barber and others, 2021;
#' division by the standard deviation keeps intervals narrow where the posterior is narrow).
#' Intervals of counts contain the whole numbers between these ends. The model is not fitted again:
#' the site of a row is removed from the posterior.
#'
#' The theorem: if the rows of the fit and the new row are exchangeable (independent draws from one
#' distribution are), the probability that an interval holds the new response is at least one minus
#' 2 (1 - `level`), and in all but contrived cases about `level`. This is a probability over fits
#' and new rows together, not one for each input. The theorem holds exactly for Gaussian noise if
#' nothing is learned from the rows: `learn = FALSE` with every hyperparameter given, `scale =
#' FALSE`, `mean = "zero"`. Other fits are approximate in two ways: hyperparameters and the
#' structure of the model stem from all rows, apart from the weights of hyperparameters that are
#' integrated over (see [integration]), and with other likelihoods the sites of the other rows are
#' kept. Both make the errors of small fits look smaller: in simulations with wrong kernels and
#' wrong noise 90 % intervals held 90 % of new responses, but 88 % in fits of 30 rows, and 85 % in
#' the worst case (`bench/results/jackknife.md`). Forecasts of a series, and rows from other places
#' than those of the fit, are not exchangeable and have no guarantee.
#'
#' Fewer than `level / (1 - level)` rows give infinite intervals, with a warning. Time and memory
#' are those of a covariance of each new row with each row of the fit. The interval is an error for
#' likelihoods with several latent functions, several components, classes, times to an event, and
#' fits that keep no rows.
#'
#' @param object A fit of [sparsegp()].
#' @param newdata Data frame with the variables of the formula; for fits of a matrix a matrix,
#'   vector or data frame with the same columns; a [row_source()]; or points or a raster, see
#'   [spatial]. One prediction per row; missing: the training rows. Rows with missing values give
#'   `NA`.
#' @param type One of the types in the table. `"probs"` and `"posterior"` stand for `"prob"`,
#'   `"raw"` for `"response"`.
#' @param se.fit `TRUE` adds the posterior standard deviation, in the units of the prediction.
#' @param interval `"confidence"` for the mean response, the probability or the latent function;
#'   `"prediction"` for a new response, if it has an order; `"jackknife+"` for a new response by
#'   leave-one-out errors (see below).
#' @param level Nominal coverage of the interval: one number in (0, 1).
#' @param at `type = "quantile"`: probabilities, numbers in (0, 1), by default `c(0.05, 0.5, 0.95)`.
#'   `"survival"`: positive times, `"rmst"`: one such time, in the units of the response.
#' @param terms `type = "terms"`: names or numbers of terms, or a named list of terms to add up;
#'   `NULL`, the default, for each term by itself.
#' @param reject `type = "class"`: a probability in \[0, 1\]; rows whose largest probability is
#'   below it are `NA`.
#' @param covariance `TRUE` adds the n x n posterior covariance matrix of the latent function. For
#'   one latent function, with `"link"`, `"latent"` and, for Gaussian noise, `"response"`.
#' @param offset Known terms of the linear predictor at the new rows, for fits of a matrix with an
#'   offset: a number per row, 0 by default.
#' @param weights Weights of new rows after a fit with `weights`, for prediction intervals and for
#'   means of a response on a scale such as `"log"` (medians do not depend on them): one
#'   positive number, one per row, or a formula such as `~ w`; 1 by default, with a warning. After
#'   `lik_gaussian(variance = )` with known variances: 1 / variance, in squared units of the
#'   response.
#' @param mode For ambiguous measurements: the number of one of the [modes()], or `"all"` for their
#'   mixture.
#' @param unseen New levels of a factor: `"prior"` to predict from the prior, `"error"` to stop, as
#'   [lm()] does.
#' @param to For a source of rows: a function of the predictions for a chunk and the chunk's number,
#'   or the name of a CSV file, which is overwritten. For a `SpatRaster` the name of a file.
#' @param ... Not used; unknown arguments are an error.
#' @return A vector (or matrix, or factor) with one entry per row of `newdata`. With `se.fit` a list
#'   of `fit` and `se.fit`; with `interval` a matrix with columns `fit`, `lwr`, `upr`; with both a
#'   list of that matrix and `se.fit`, as [predict.lm()] gives it; with `covariance` a list with
#'   that matrix, too. For a source the number of rows, invisibly. Errors are of class
#'   `sparsegp_error`.
#' @references Seeger, M. (2002). *Notes on Minka's expectation propagation for Gaussian process
#'   classification*, section 2.2. Csató, L. (2002). *Gaussian Processes -- Iterative Sparse
#'   Approximations*, PhD thesis, Aston University, section 5.2 and fig. 5.7. Barber, R. F., Candès,
#'   E. J., Ramdas, A. and Tibshirani, R. J. (2021). Predictive inference with the jackknife+.
#'   *Annals of Statistics* 49, 486-507.
#' @concept conformal prediction
#' @concept jackknife+
#' @concept distribution-free intervals
#' @concept rejection
#' @concept reject option
#' @examples
#' fit <- sparsegp(dist ~ speed, cars)
#' new <- data.frame(speed = c(5, 15, 30))
#' predict(fit, new, se.fit = TRUE)
#' predict(fit, new, interval = "prediction", level = 0.9)
#' predict(fit, new, interval = "jackknife+", level = 0.9)
#' predict(fit, new, type = "link", covariance = TRUE)$covariance
#'
#' fit <- sparsegp(am ~ wt + hp, mtcars, likelihood = "probit")
#' predict(fit, mtcars[1:3, ], type = "prob")
#' predict(fit, mtcars[1:3, ], type = "class", reject = 0.8)
#'
#' fit <- sparsegp(Species ~ ., iris[1:50 * 3, ])
#' predict(fit, iris[c(1, 51, 71), ], type = "prob")
#' predict(fit, iris[c(1, 51, 71), ], type = "class", reject = 0.9)
#'
#' fit <- sparsegp(mpg ~ wt + hp, mtcars,
#'                 kernel = kernel_rbf(vars = "wt") + kernel_rbf(vars = "hp"))
#' predict(fit, mtcars[1:3, ], type = "terms", se.fit = TRUE)
#' @export
predict.sparsegp <- function(object, newdata,
                             type = c("response", "link", "latent", "median", "prob", "class",
                                      "quantile", "zero", "survival", "rmst", "terms"),
                             se.fit = FALSE,
                             interval = c("none", "confidence", "prediction", "jackknife+"),
                             level = 0.95, at = NULL, terms = NULL, reject = 0,
                             covariance = FALSE, offset = NULL, weights = NULL, mode = 1,
                             unseen = c("prior", "error"), to = NULL, ...) {
  unseen <- check_choice(unseen, c("prior", "error"), "unseen")
  source <- if (!missing(newdata)) as_source(newdata)
  if (!is.null(source)) {
    return(predict_source(object, match.call(), parent.frame(), source, to))
  }
  if (!missing(newdata) && is_raster(newdata)) {
    return(predict_raster(object, match.call(), parent.frame(), newdata, to))
  }
  if (!is.null(to)) stop_sparsegp("to", "is for a source of rows, see row_source()", "Leave it out")
  check_no_dots(...)
  check_flag(se.fit, "se.fit")
  check_flag(covariance, "covariance")
  request <- list(type = prediction_type(type), se.fit = se.fit,
                  interval = check_choice(interval, INTERVALS, "interval"),
                  level = check_number(level, "level", 0, 1),
                  reject = check_number(reject, "reject", 0, 1, open = FALSE), at = at,
                  terms = terms, covariance = covariance)
  if (request$type == "terms") refuse_termplot(sys.parent())
  object <- ready(object)
  request <- checked_request(object, request)
  check_new_responses(object, request$of_noise, weights)
  object <- fit_of_latent_type(object, request$type, covariance)
  object <- at_mode(object, check_mode(mode, object, all = TRUE))
  newdata <- if (!missing(newdata)) newdata
  answer <- function() {
    if (request$type == "terms") predict_terms(object, newdata, offset, request)
    else predict_rows(object, newdata, offset, request, weights)
  }
  if (unseen == "prior") return(warn_once(answer()))
  refuse_unseen("newdata", answer(), any = TRUE)
}

INTERVALS <- c("none", "confidence", "prediction", "jackknife+")

# Returns the request, checked against what this fit offers. Intervals by jackknife+ are
# prediction intervals.
checked_request <- function(object, request) {
  type <- request$type
  request$jackknife <- request$interval == "jackknife+"
  if (request$jackknife) request$interval <- "prediction"
  check_offered(codec_of(object), type,
                c(if (request$se.fit) "se.fit", if (request$interval != "none") request$interval,
                  if (request$covariance) "covariance"))
  request$at <- check_at(request$at, type)
  refuse_for_other_type(type, "terms", !is.null(request$terms), "terms")
  if (request$jackknife) check_jackknife(object, type)
  if (type == "quantile") request$interval <- "prediction" # of the same new responses
  request$of_noise <- is_of_noise(object, request)
  request
}

# Does an answer depend on the noise of new responses? Intervals for these do, and means on scales.
is_of_noise <- function(object, request) {
  request$interval == "prediction" ||
    request$type == "response" && is_transformed(object) && has_usable_mean(object)
}

# Returns what is predicted of the rows by latent moments at each.
predict_rows <- function(object, newdata, offset, request, weights) {
  latent <- if (is.null(newdata)) training_latent(object)
            else new_latent(object, newdata, offset)
  if (request$of_noise || !is.null(weights)) {
    latent$weights <- weights_at(object, latent, weights_from(weights, newdata),
                                 request$interval == "prediction")
  }
  answer <- if (request$jackknife) jackknife_answer(object, newdata, offset, latent, request)
            else predicted(object, latent, request)
  if (!request$covariance) return(answer)
  c(if (is.list(answer)) answer else list(fit = answer),
    list(covariance = covariance_answer(object, newdata, offset, request$type)))
}

# Other packages' names of types
OTHER_TYPES <- c(probs = "prob", probability = "prob", probabilities = "prob", posterior = "prob",
                 classes = "class", raw = "response")

prediction_type <- function(type) {
  if (is.character(type) && length(type) == 1L && type %in% names(OTHER_TYPES)) {
    return(OTHER_TYPES[[type]])
  }
  check_choice(type, TYPES, "type")
}

# Stops where an argument is given that is for one type only.
refuse_for_other_type <- function(type, own, given, argument) {
  refuse_if(given && type != own, argument, paste0("are for type = \"", own, "\""),
            "Leave them out, or ask for that type")
}

# The types that have `at`, and the check of it.
AT <- list(
  quantile = function(at) check_probs(at %||% c(0.05, 0.5, 0.95)),
  survival = function(at) check_times(at, "positive numbers"),
  rmst = function(at) check_times(at, "a positive number", 1L)
)

check_at <- function(at, type) {
  if (!is.null(AT[[type]])) return(AT[[type]](at))
  if (is.null(at)) return(NULL)
  stop_sparsegp("at", paste("is for types", toString(dQuote(names(AT), FALSE))),
                "Leave it out, or ask for one of these")
}

check_probs <- function(at) {
  if (is.numeric(at) && length(at) > 0L && !anyNA(at) && all(at > 0 & at < 1)) return(at)
  stop_sparsegp("at", "must be probabilities, between 0 and 1", "Give at = c(0.05, 0.5, 0.95), say")
}

check_times <- function(at, words, most = Inf) {
  good <- is.numeric(at) && length(at) > 0L && length(at) <= most && all(is.finite(at) & at > 0)
  if (good) return(at)
  stop_sparsegp("at", paste("must be", words), "Give it in units of the response")
}

# stats::termplot() reads the names of terms as R code of the data's variables, which they are not.
refuse_termplot <- function(frame) {
  if (!called_from(frame, stats::termplot)) return(invisible())
  stop_sparsegp("model", "has kernels for terms, which termplot() does not support",
                "Use plot(model, \"terms\")")
}

# Returns the numbers, or those that a formula of one side finds.
weights_from <- function(weights, newdata) {
  if (!inherits(weights, "formula")) return(weights)
  if (length(weights) != 2L) stop_sparsegp("weights", "must be a formula of one side", "Write ~ w")
  newdata <- plain_data(newdata, "newdata")
  tryCatch(eval(weights[[2L]], newdata, environment(weights)), error = function(e) {
    stop_sparsegp("weights", paste0("are not in newdata: ", conditionMessage(e)))
  })
}

# Returns the joint covariance of what `type` predicts at the rows, as the user sees it: of the
# latent function, or but for "latent" of that and the bias, in which members differ.
covariance_answer <- function(object, newdata, offset, type) {
  rows <- rows_asked(object, newdata, offset)
  moments <- if (type == "latent") joint_moments else joint_predictor
  joint <- if (nrow(rows$x) == 0L) matrix(0, 0L, 0L) else moments(object, rows$x)$var
  joint <- restore_rows(joint * object$response$unit^2, rows)
  joint <- restore_rows(t(joint), rows)
  dimnames(joint) <- list(rownames(joint), rownames(joint))
  joint
}

# Effects of parts of the kernel, as the user sees them.
predict_terms <- function(object, newdata, offset, request) {
  rows <- rows_asked(object, newdata, offset)
  groups <- term_groups(names(fit_parts(object)), request$terms)
  x <- row_inputs(rows$x, functions_of(object) %/% processes(object))
  each <- lapply(seq_len(functions_of(object)), function(class) {
    effect_answer(object, groups, x, class)
  })
  values <- function(field) by_class(object, lapply(each, function(one) {
    restore_rows(one[[field]], rows)
  }))
  fit <- values("fit")
  constant <- vapply(each, `[[`, 0, "constant")
  names(constant) <- dimnames(fit)[3L][[1L]] # of classes
  attr(fit, "constant") <- constant
  if (request$se.fit) list(fit = fit, se.fit = values("se.fit")) else fit
}
