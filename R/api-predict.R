#' Predictions from a Gaussian-process fit
#'
#' | `type` | regression | two classes | more classes | ordered categories |
#' |---|---|---|---|---|
#' | `"response"` | mean of the response | probability of the second level | as `"prob"` | mean of the category's number, from 1 |
#' | `"link"` | mean of the linear predictor (latent function, bias and offset) | the same | n x C matrix | mean of the latent function |
#' | `"latent"` | mean of the latent function alone, without the bias | the same | n x C matrix | mean of the latent function |
#' | `"median"` | median, over the latent function's posterior, of the mean response | of the probability | n x C matrix of the medians of the probabilities, see "Details" | of the mean number |
#' | `"prob"` | an error | n x 2 matrix of probabilities, columns named by level | n x C matrix | n x K matrix |
#' | `"class"` | an error | factor of the more probable level, `NA` where below `reject` | the same | the same, an ordered factor |
#' | `"quantile"` | matrix of quantiles of a new response | an error | an error | of the category's number |
#' | `"zero"` | of counts: probability that a new one is 0 | an error | an error | an error |
#' | `"survival"`, `"rmst"` | of times to an event, see below | an error | an error | an error |
#' | `"terms"` | matrix of effects, see below | the same | n x terms x C array | the same |
#' | `"slope"` | derivatives of the mean along `vars`, see [slopes()] | of the probability | of each class's | of the mean number |
#' | `"divergence"` and so on | of several components, see below | an error | an error | an error |
#'
#' Probabilities are averaged over the latent function's posterior, not read off at its mean. With
#' \eqn{N(\mu, s^2)}{N(mu, s2)} the posterior of the latent function at an input, the probit
#' likelihood gives \eqn{\Phi((\mu + bias)/\sqrt{1 + s^2})}{Phi((mu + bias) / sqrt(1 + s2))}.
#'
#' The inverse link of `type = "link"` is `exp()` for counts, `plogis()` or `pnorm()` for classes.
#' In the table "more classes" means a latent function for each (\eqn{C} of them). Under
#' `lik_mprobit()` the probability of a class is that of its latent function, with noise of variance
#' 1 and its bias, being the largest; that is a one-dimensional integral over the posterior. In
#' one-vs-rest fits probabilities are proportional to the odds p / (1 - p) of the classes' own
#' probabilities p.
#'
#' The medians of the probabilities of more than two classes are those of each class by itself, over
#' the posterior of all latent functions: where little is known they are far below the means. They
#' are not divided by their sum, and those of a row may add up to less than one. They are medians of
#' 2046 values, at the points of a lattice, so every call gives the same: between .47 and .53
#' of the posterior are below such a median, found by simulation for 3 to 26 classes.
#'
#' Classes are a factor of all levels of the response, in their order if it is ordered; levels
#' without rows have no probability.
#'
#' An ordered factor of more than two levels with a likelihood of classes, such as `lik_mprobit()`,
#' or by default if that predicts better (see [model_structure]), has a latent function for each
#' category, and `"link"` and `"latent"` are matrices. Everything else is as in the last column of
#' the table, from the probabilities of the categories. Median, `se.fit` and `interval =
#' "confidence"` of the mean number are over that posterior, at the same 2046 points: up to 0.04
#' seconds a row.
#'
#' Mean counts far from the data are exponentials of what is hardly known, and their own mean,
#' `exp(mu + s2 / 2)`, may be far above all counts that were seen: it is the mean of a distribution
#' with a long tail. `type = "median"` is its median, `exp(mu)`; `interval` shows the tail.
#'
#' Where the mean of an unbounded response is outside of the central 95 % of its own posterior, the
#' tails alone make it, and `"response"` is the median of that posterior there. On the asinh scale,
#' and with wide noise on scales with an exponential tail, responses have no usable mean even where
#' the latent function is known: `"response"` is then `"median"` in all rows, and `print()` reports
#' it.
#'
#' A row whose largest probability is below `reject` is better left to somebody else: its class is
#' `NA` (thesis, section 5.2). [plot(type = "reject")][plot.sparsegp] shows what a threshold costs
#' and what it buys.
#'
#' @section Unseen levels:
#' With `unseen = "prior"` a factor that is one input (`coding = "levels"`, see [gp_control()]) has
#' one more level, as far from every other as these are from each other, and a message names it; so
#' has, without a message, a factor seen by [kernel_factor()]. An ordered factor that is a number
#' has such a level at its place among the levels of the factor in `newdata`: halfway between its
#' two neighbours, or one step beyond the last, with a message. If that factor has no order, or
#' another, and of a factor coded by contrasts, predictions for such rows are `NA`, with a warning.
#'
#' An input that was constant at the fit has no part in the model: other values change nothing. A
#' warning names a number or a logical of this kind, a message a factor or text that had one level.
#' With `unseen = "error"` each of these is an error.
#'
#' @section Weights and covariances:
#' The noise of a new response has variance noise / weight; proportions are of so many trials as the
#' weight says. At the training rows weights and known variances are their own. A joint covariance
#' matrix is in squared units of the latent function and has the squares of `se.fit` on its
#' diagonal, with `NA` for rows with missing values; memory
#' and time grow with the square of the number of rows. With a file (`to`) it is an error, as that
#' has a line for each row.
#'
#' @section Several components:
#' For a response `cbind(u, v)` predictions are n x w matrices with a column for each component;
#' with `interval` arrays of n x 3 x w, of which `[, , "u"]` is such a matrix as for one response,
#' each component by itself. `se.fit = TRUE` adds `covariance`, w x w x n: the covariances of each
#' row's components. In a file (`to`) each pair of them is a column, `covariance.u.v`.
#'
#' For fits by [kernel_helmholtz()] and its parts in the plane `type = "divergence"` (\eqn{u_x +
#' v_y}{u_x + v_y}), `"vorticity"` (\eqn{v_x - u_y}{v_x - u_y}), `"stream"` (the stream function
#' \eqn{\psi}{psi} of the part without divergence, which is \eqn{(-\psi_y, \psi_x)}{(-psi_y,
#' psi_x)}) and `"potential"` (\eqn{\chi}{chi} of the part \eqn{\nabla\chi}{grad chi}) give vectors,
#' of the field about its constant mean, with `se.fit` and `interval` as for one response. In space
#' there are divergence and potential. Divergence and vorticity are in units of the response divided
#' by that of the inputs, sources in the product of the two. They are errors where another part of
#' the kernel sees the inputs of the field, and divergence and vorticity for `kernel_matern32()`,
#' whose fields have no derivatives.
#'
#' @section Times to an event:
#' For the [likelihoods of times][likelihoods_times] `type = "survival"` gives the probability that
#' nothing has happened until each of the times `at`: an n x K matrix with a column for each time,
#' with `interval` an array of n x 3 x K. `type = "rmst"` gives the restricted mean, the expected
#' time until the event or until the horizon `at`, whichever is first. Both are means over the
#' posterior; their intervals and standard errors are of the curve, as the latent function varies.
#' Type `"response"` is the mean time if there is one, and `"median"` the median time where
#' the latent function is at its median.
#'
#' @section Terms:
#' The latent function of a sum of kernels is a sum of functions, one for each kernel, as in an
#' additive model. `type = "terms"` gives what each of them adds, in units of the latent function: a
#' column for each kernel of the sum, called after the kernel and its inputs, `rbf(time)` say. Only
#' their sum is known from the data, and a constant can move from one to another; so an effect is
#' the function less its mean over the rows of the fit (over at most 500 of them, evenly spread;
#' over the points of the basis, where the fit has not kept its inputs). The attribute `constant` is
#' all that has been taken off, with the bias of the likelihood: the sum of a row, the constant and
#' the offset are the mean of the linear predictor. A kernel that is no sum is one term,
#' and `kernel_constant()` none. Where every class has a latent function there are effects on each
#' of them, in an array with classes in its third dimension, and a constant for each.
#'
#' The standard errors are those of just these differences. They contain what is not known of how a
#' sum is shared among its terms, so they may be larger than that of the sum; for one of
#' several terms together, covariances included, name the terms: `terms = list(trend = 1:2, season =
#' "periodic(time)")`.
#'
#' @section Intervals by jackknife+:
#' The intervals of a model hold what they promise if the model is right. With `calibrate =
#' "jackknife+"` prediction intervals of numbers and counts are made of the errors that the fit
#' makes in rows that it has not seen, and hold about `level` of new responses whatever kernel and
#' noise are. Let \eqn{m_{-i}}{m_-i} and \eqn{s_{-i}}{s_-i} be mean and standard deviation of a new
#' response without row \eqn{i}{i}, on the scale of the response that was fitted, and
#' \eqn{r_i = |y_i - m_{-i}(x_i)| / s_{-i}(x_i)}{r_i = |y_i - m_-i(x_i)| / s_-i(x_i)}. With
#' \eqn{a = \lfloor (1 - level)(n + 1) \rfloor}{a = floor((1 - level)(n + 1))} the interval at
#' \eqn{x}{x} begins at number \eqn{a}{a}, from below, of the
#' \eqn{m_{-i}(x) - r_i s_{-i}(x)}{m_-i(x) - r_i s_-i(x)}, and ends at number \eqn{a}{a}, from
#' above, of the \eqn{m_{-i}(x) + r_i s_{-i}(x)}{m_-i(x) + r_i s_-i(x)} (Barber and others, 2021;
#' the division by the model's standard deviation keeps intervals narrow where much is known).
#' Counts have the whole numbers in it. Nothing is fitted again: a row's site is removed from the
#' posterior.
#'
#' The theorem: if the rows of the fit and the new row are exchangeable (as independent draws from
#' one distribution are), the probability that an interval holds the new response is at least 2
#' `level` - 1, and in all but contrived cases it is about `level`. It is a probability over fits
#' and new rows together, not one for each input. The theorem is about predictions that are exactly
#' those of fits without the row. They are exact here for Gaussian noise if nothing is learned of
#' the rows: `learn = FALSE` with every hyperparameter given, `scale = FALSE`, `mean = "zero"`. Two
#' approximations take a fit out of it otherwise: hyperparameters and the structure of the model are
#' those that all rows have given, but for the weights of hyperparameters that are integrated over
#' (see [integration]), and with other likelihoods the sites of the other rows are kept. Both
#' flatter fits of few rows: in simulations with wrong kernels and wrong noise 90 % intervals held
#' 90 % of new responses, but of fits of 30 rows 88 %, and 85 % in the worst case
#' (`bench/results/jackknife.md`). Forecasts of a series and rows from other places than those of
#' the fit are not exchangeable, and nothing is promised for them.
#'
#' Fewer than `level / (1 - level)` rows give infinite intervals, with a warning. Time and memory
#' are those of a covariance of each new row with each row of the fit. Errors: likelihoods with
#' several latent functions, several components, classes, times to an event, fits that keep no rows.
#'
#' @param object A fit of [sparsegp()].
#' @param newdata Data frame with the variables of the formula, or for fits of a matrix a matrix, a
#'   vector or a data frame with the same columns; or a [row_source()]. Missing: the training rows.
#'   Rows with missing values give `NA`.
#' @param type See the table; `"probs"` and `"posterior"` are `"prob"`, `"raw"` `"response"`.
#' @param se.fit Also the posterior standard deviation of the prediction?
#' @param interval `"confidence"`: for the mean response, or the probability; `"prediction"`: for a
#'   new response with an order.
#' @param level Probability content of the interval, in (0, 1).
#' @param reject `type = "class"`: rows whose largest probability is below this are `NA`; from 0 to
#'   1.
#' @param offset Known prior mean at the new rows, for fits of a matrix with an offset: one number
#'   for each row, default 0.
#' @param variance Noise variances of new rows, for prediction intervals after
#'   `lik_gaussian(variance = )` with known ones: one number, or one for each row, in squared units
#'   of the response.
#' @param weights Weights of new rows, for prediction intervals after a fit with `weights`: one
#'   positive number, one for each row, or a formula such as `~ w`. Default 1, with a warning.
#' @param covariance Also the joint posterior covariance matrix of the latent function at the rows?
#'   With one latent function, for `"link"`, `"latent"` and, in regression, `"response"`.
#' @param terms `type = "terms"`: names or numbers of terms, or a named list of terms to be taken
#'   together. `NULL`: each by itself.
#' @param mode For ambiguous measurements: the number of one of the [modes()], or `"all"`: their
#'   mixture.
#' @param to For a source of rows: a function of the predictions for a chunk and the chunk's number,
#'   or the name of a CSV file, which is overwritten.
#' @param at `type = "quantile"`: the probabilities, numbers in (0, 1), default `c(0.05, 0.5,
#'   0.95)`. `"survival"`: positive times, `"rmst"`: one such horizon, in units of
#'   the response.
#' @param vars,scale `type = "slope"`: the variables along which slopes are asked for, and of what,
#'   see [slopes()].
#' @param unseen Levels of a factor that the fit has not seen: `"prior"`, predicted as one more
#'   level; `"error"`, as in [lm()]. See "Unseen levels".
#' @param calibrate For prediction intervals: see "Intervals by jackknife+".
#' @param ... Nothing: an unknown argument is an error.
#' @return For a source the number of rows, invisibly. Else a vector (or matrix, factor) with one
#'   entry per row of `newdata`; with `se.fit` a list `fit`, `se.fit`; with `interval` a matrix with
#'   columns `fit`, `lwr`, `upr`; with both a list of that matrix and `se.fit`, as [predict.lm()]
#'   gives it; with `covariance` a list with that, too. For several components see above. Errors are
#'   of class `sparsegp_error`.
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
#' predict(fit, new, interval = "prediction", level = 0.9, calibrate = "jackknife+")
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
                                      "quantile", "zero", "survival", "rmst", "terms", "slope",
                                      "divergence", "vorticity", "stream", "potential"),
                             se.fit = FALSE, interval = c("none", "confidence", "prediction"),
                             level = 0.95, reject = 0, offset = NULL, variance = NULL,
                             weights = NULL, covariance = FALSE, terms = NULL, mode = 1,
                             to = NULL, at = NULL, vars = NULL, scale = c("response", "link"),
                             unseen = c("prior", "error"), calibrate = c("none", "jackknife+"),
                             ...) {
  unseen <- check_choice(unseen, c("prior", "error"), "unseen")
  source <- if (!missing(newdata)) as_source(newdata)
  if (!is.null(source)) {
    return(predict_source(object, match.call(), parent.frame(), source, to))
  }
  if (!is.null(to)) stop_sparsegp("to", "is for a source of rows, see row_source()")
  type <- prediction_type(type)
  check_no_dots(...)
  interval <- check_choice(interval, c("none", "confidence", "prediction"), "interval")
  check_flag(se.fit, "se.fit")
  check_flag(covariance, "covariance")
  check_number(level, "level", 0, 1)
  check_number(reject, "reject", 0, 1, open = FALSE)
  object <- ready(object)
  if (type == "terms") refuse_termplot(sys.parent())
  if (type %in% names(DERIVED)) check_derived(object, type)
  check_offered(offering_codec(object), type,
                c(if (se.fit) "se.fit", if (interval != "none") interval,
                  if (covariance) "covariance"))
  at <- check_at(at, type)
  object <- fit_of_latent_type(object, type, covariance)
  refuse_for_other_type(type, "terms", !is.null(terms), "terms")
  refuse_for_other_type(type, "slope", !is.null(vars), "vars")
  refuse_for_other_type(type, "slope", !missing(scale), "scale")
  scale <- check_choice(scale, c("response", "link"), "scale")
  if (type == "quantile") interval <- "prediction" # of the same new responses
  calibrate <- check_choice(calibrate, CALIBRATIONS, "calibrate")
  check_calibrate(calibrate, object, type, interval)
  check_new_responses(object, interval, variance, weights)
  object <- at_mode(object, check_mode(mode, object, all = TRUE))
  newdata <- if (!missing(newdata)) newdata
  request <- list(type = type, se.fit = se.fit, interval = interval, level = level,
                  reject = reject, at = at, terms = terms, covariance = covariance, vars = vars,
                  scale = scale, calibrate = calibrate)
  answer <- function() {
    if (type == "terms") predict_terms(object, newdata, offset, request)
    else if (type == "slope") predict_slopes(object, newdata, offset, request)
    else if (type %in% names(DERIVED)) predict_derived(object, newdata, request)
    else predict_rows(object, newdata, offset, request, variance, weights)
  }
  if (unseen == "prior") return(warn_once(answer()))
  refuse_unseen("newdata", answer(), any = TRUE)
}

# Returns what is predicted of the rows by latent moments at each.
predict_rows <- function(object, newdata, offset, request, variance, weights) {
  latent <- if (is.null(newdata)) training_latent(object)
            else new_latent(object, newdata, offset)
  if (request$interval == "prediction" || !is.null(weights)) {
    latent$weights <- weights_at(object, latent, variance, weights_from(weights, newdata))
  }
  answer <- if (request$calibrate == "none") predicted(object, latent, request)
            else jackknife_answer(object, newdata, offset, latent, request)
  if (!request$covariance) return(answer)
  c(if (is.list(answer)) answer else list(fit = answer),
    list(covariance = covariance_answer(object, newdata, offset, request$type)))
}

TYPES <- c("response", "link", "latent", "median", "prob", "class", "quantile", "zero", "survival",
           "rmst", "terms", "slope", "divergence", "vorticity", "stream", "potential")

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
  if (!given || type == own) return(invisible())
  stop_sparsegp(argument, paste0("are for type = \"", own, "\""),
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
  stop_sparsegp("model", "has terms that are kernels, which termplot() does not know",
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

predict_derived <- function(object, newdata, request) {
  rows <- rows_asked(object, newdata)
  moments <- derived_moments(object, request$type, rows$x)
  bound <- function(p) derived_bound(moments, p)
  fit <- if (request$interval == "none") moments$mean
         else cbind(fit = moments$mean, lwr = bound((1 - request$level) / 2),
                    upr = bound((1 + request$level) / 2))
  restore_rows(if (request$se.fit) list(fit = fit, se.fit = sqrt(moments$var)) else fit, rows)
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
