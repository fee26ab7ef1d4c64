#' Average fits by stacking
#'
#' @description `average()` mixes the predictions of several fits of the same responses. The weights
#' are those with which the mixture predicts each observation best from all others (stacking of
#' predictive distributions). `average(fit)` of one fit mixes it with the nearly equal models among
#' the candidates of its search.
#'
#' *Experimental: arguments may change in a minor version, see [stability].*
#'
#' @details
#' With \eqn{p_k(y_i | y_{-i})} the leave-one-out predictive density of observation i under fit k
#' ([loo()]), the weights maximise
#' \deqn{\sum_i \log \sum_k w_k p_k(y_i | y_{-i}), \quad w_k \ge 0, \quad \sum_k w_k = 1}{
#' sum_i log sum_k w_k p_k(y_i | y_-i), w_k >= 0, sum_k w_k = 1}
#' (Yao, Vehtari, Simpson and Gelman 2018, section 3). The function is concave. Expectation
#' maximisation multiplies each weight by
#' \eqn{g_k = \frac{1}{n} \sum_i p_k(y_i) / \sum_j w_j p_j(y_i)}{g_k = mean_i p_k / sum_j w_j p_j},
#' and ends within 0.001 nats of the maximum: by concavity no more than
#' \eqn{n (\max_k g_k - 1)}{n (max_k g_k - 1)} is left to gain. Fits with a weight below 0.001 are
#' left out.
#'
#' Leave-one-out densities do not learn the hyperparameters again, which favours fits with many of
#' them. Each hyperparameter that was learned, at a maximum and not integrated over, therefore costs
#' its fit `r policy$hyperparameter_optimism` nat in all, spread evenly over the observations, as in
#' Akaike's criterion. Without this penalty a kernel with a length scale for each of many inputs may
#' get far too much weight in small data sets.
#'
#' The average is a fit with the same answers as others: `predict()` has the means, probabilities
#' and standard deviations of the mixture (those by the law of total variance), and quantiles and
#' intervals that are exact for it; so do `loo()`, [calibration()], `residuals()`, `draws()`, and
#' `plot()`. It costs as much as its fits together.
#'
#' *One fit.* A fit without a `kernel` chooses the scale of the response, the scale of the inputs
#' and the kernel among candidates ([model_structure]), which are listed in `fit$choices`.
#' `average(fit)` takes those that differ from the fit in one of these choices and whose score was
#' at most `r policy$averaged_within` nats below that of the candidate that was chosen, the closest
#' `r policy$averaged_alternatives` of them, except those that cannot be averaged with the fit (see
#' the errors below); scores of a pilot of m of n observations count n / m
#' times. Each is fitted to all observations by the call of the fit, as [update()][update.sparsegp]
#' does, so the variables of the call must still exist, and it takes about as long as that many fits
#' without a search. Rows of `summary()` have the choices as names, such as `kernel: matern52()`. If
#' no candidate was close the average is of the fit alone.
#'
#' *When it pays.* If candidates make different errors, such as a smooth and a rough kernel, or
#' normal and heavy-tailed noise, the mixture may predict better than each of them; and if they
#' predict alike it loses nothing by keeping them all. Choosing one of several near-equals by their
#' leave-one-out scores is noisier. If one fit is right, it gets nearly all of the weight. There is
#' little to gain from near-copies of a fit, with many observations (one fit is better by many
#' standard errors, see [compare()]), or far from the data, where leave-one-out predictions are
#' uninformative. The weights are learned from the same observations, so `loo()` of an average is a
#' little optimistic.
#'
#' On 16 data sets of 43 to 356 observations (`bench/average.R`) `average(fit)` of the default fit
#' predicted test observations better than the fit in 12 and worse in 2. The median gain was 0.02
#' nats per observation; the mean 0.03 (standard error 0.01) on the nine sets that were used to
#' choose the rule, and 0.08 (0.07) on the seven others, of which one gained 0.5. Averages of the
#' default fit and four others that it had not compared (one length scale, one for each input, a
#' rough kernel, heavy tails or a linear function) gained nothing: they were better in 6 sets and
#' worse in 5, by 0.003 (0.009) on average. They were better by 0.06 (0.02) than equal weights, and
#' avoided the large losses of the fit with the best leave-one-out density.
#'
#' @param ... Fits of [sparsegp()], optionally named. They have the same observations, offsets and
#'   weights, and may differ in inputs, kernel, likelihood, scale of the response and method. Counts
#'   are averaged with counts, numbers with numbers.
#' @param object,x An average.
#' @param digits Significant digits to print, a whole number from 1 to 20.
#' @return A fit of class `sparsegp_average`, which is a `sparsegp`. `summary()` gives a data frame
#'   with a row for each fit that was given, the heaviest first: `weight` (0: left out), `lpd`, the
#'   sum of its leave-one-out log densities, and `likelihood` and `kernel` in words; attribute
#'   `lpd`: that of the average. `coef()` gives a list with the hyperparameters of each fit that is
#'   in it.
#'
#'   Errors of class `sparsegp_error`: a single fit that compared no structures, as with a `kernel`,
#'   or that was extended by `update()`; fits of other responses, offsets or weights, fits that keep
#'   no rows; densities with probabilities, as of a normal and a Poisson model; fits with
#'   [lik_heteroscedastic()] beside others; pictures of fits with different inputs; types `"link"`,
#'   `"latent"` and `"terms"` of fits whose latent functions have different scales or terms (their
#'   [draws()] are of the response by default); and what a mixture does not have: `update()`,
#'   `merge()`, `logLik()`, `vcov()`, `confint()`, `influence()`, `importance()`, `sites()`, `kl()`,
#'   `basis()`, `sigma()`, `rstandard()`, `cooks.distance()`, [next_rows()], [ask()]. `hatvalues()`
#'   are those of the averaged means with these weights, the averages of those of the fits.
#' @references Varadhan, R. and Roland, C. (2008). Simple and globally convergent methods for
#'   accelerating the convergence of any EM algorithm. *Scandinavian Journal of Statistics* 35,
#'   335-353.
#'
#'   Yao, Y., Vehtari, A., Simpson, D. and Gelman, A. (2018). Using stacking to average
#'   Bayesian predictive distributions. *Bayesian Analysis* 13, 917-1007.
#' @seealso [compare()] to choose one of them.
#' @concept stacking
#' @concept model averaging
#' @examples
#' smooth <- sparsegp(Ozone ~ Temp + Wind, airquality, kernel = kernel_rbf())
#' rough <- update(smooth, kernel = kernel_matern12())
#' both <- average(smooth, rough)
#' both
#' predict(both, airquality[1:2, ], interval = "prediction")
#' compare(smooth, rough, both)
#'
#' average(sparsegp(dist ~ speed, cars)) # with candidates of its search
#' @export
average <- function(...) {
  fits <- list(...)
  for (fit in fits) check_class(fit, "sparsegp", "...", "Give fits of sparsegp()")
  if (length(fits) == 0L) stop_sparsegp("...", "is missing", "Give one fit or more")
  if (length(fits) == 1L) {
    refuse_if_average(fits[[1L]], "...")
    raced <- raced_fits(fits[[1L]], parent.frame())
    return(average_fits(Filter(function(fit) goes_with(fit, raced$fit), raced)))
  }
  names(fits) <- fit_names(match.call())
  fits <- lapply(fits, with_rows, "...")
  for (fit in fits[-1L]) check_averaged(fits[[1L]], fit)
  average_fits(fits)
}

average_fits <- function(fits) {
  lpd <- matrix(unlist(lapply(fits, lpd_of_rows)), ncol = length(fits))
  known <- lpd[!is.na(lpd[, 1L]), , drop = FALSE]
  price <- vapply(fits, optimism, 0) / nrow(known)
  weights <- kept_weights(stacking_weights(sweep(known, 2L, price)))
  table <- data.frame(weight = weights, lpd = colSums(known), row.names = names(fits),
                      likelihood = vapply(fits, function(fit) lik_label(fit$likelihood), ""),
                      kernel = vapply(fits, function(fit) format(fit$kernel), ""))
  table <- table[order(-weights), ]
  attr(table, "lpd") <- sum(log_mean_exp(known, weights))
  in_it <- rownames(table)[table$weight > 0]
  out <- new_ensemble(unname(fits[in_it]), table[in_it, "weight"], fixed = TRUE, made = table)
  class(out) <- c("sparsegp_average", "sparsegp")
  out
}

# ---- Weights ----

# Returns the weights that maximise sum(log(exp(lpd) %*% w)) on the simplex to 0.001 nats; see
# ?average. lpd: a column for each model. Expectation maximisation, slow between models that predict
# alike, is extrapolated where that is better (Varadhan and Roland 2008, scheme S3). Cost: 4 n K an
# iteration.
stacking_weights <- function(lpd) {
  WITHIN <- 1e-3
  MOST <- 2000L
  p <- exp(lpd - do.call(pmax, as.data.frame(lpd)))
  factors <- function(w) drop(crossprod(p, 1 / drop(p %*% w))) / nrow(p)
  value <- function(w) sum(log(p %*% w))
  w <- rep(1 / ncol(p), ncol(p))
  for (iteration in seq_len(MOST)) {
    now <- factors(w)
    if (nrow(p) * (max(now) - 1) <= WITHIN) break
    once <- w * now
    twice <- once * factors(once)
    far <- extrapolated(w, once, twice)
    w <- if (value(far) > value(twice)) far else twice
  }
  w / sum(w)
}

# Returns a step of steepest descent in the changes of two steps, with all weights above 0.
extrapolated <- function(w, once, twice) {
  step <- once - w
  bend <- twice - once - step
  if (sum(bend^2) == 0) return(twice)
  a <- max(1, sqrt(sum(step^2) / sum(bend^2)))
  far <- pmax(w + 2 * a * step + a^2 * bend, twice / 100)
  far / sum(far)
}

# Returns by how many nats the leave-one-out densities of all observations overstate a fit: they do
# not learn the hyperparameters again, as of an ensemble that is integrated over them they do.
optimism <- function(fit) {
  if (has_members(fit) || is.null(fit$learning)) return(0)
  policy$hyperparameter_optimism * sum(fit$hyper$free)
}

kept_weights <- function(weights) {
  weights[weights < policy$min_stacking_weight] <- 0
  weights / sum(weights)
}

# ---- Which fits can be averaged ----

goes_with <- function(fit, first) {
  tryCatch(is.null(check_averaged(first, fit)), sparsegp_error = function(e) FALSE)
}

check_averaged <- function(first, fit) {
  check_same_responses(first, fit)
  refuse_if(codec_of(first)$jumps != codec_of(fit)$jumps, "...",
            "are fits of densities and of probabilities, whose values cannot be compared",
            "Give every fit a likelihood of counts, or no fit")
  layout <- function(fit) list(processes(fit), n_outputs(fit), fit$response$levels)
  example <- if (!lik_codec(first$likelihood)$labelled) "lik_heteroscedastic(), say, has two"
             else "lik_ordinal() has one for all categories, lik_softmax() one for each"
  refuse_if(!identical(layout(first), layout(fit)),
            "...", "are fits with different numbers of latent functions",
            paste("Average those with the same number:", example))
  given <- function(fit) list(as.double(fit$offset), fit$weights)
  refuse_if(!identical(given(first), given(fit)),
            "...", "are fits with different offsets or weights", "Fit all of them with the same")
}

# ---- Methods ----

#' @rdname average
#' @export
print.sparsegp_average <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  x <- ready(x)
  table <- x$ensemble$made
  cat("Average of ", counted(nrow(table), "Gaussian-process fit"), " to ",
      counted(nobs(x), "row"), ", weights by stacking\n", sep = "")
  print(format(table, digits = digits), quote = FALSE)
  cat("lpd: leave-one-out log predictive density; that of the average ",
      format(attr(table, "lpd"), digits = digits + 2L), "\n", sep = "")
  invisible(x)
}

#' @rdname average
#' @export
summary.sparsegp_average <- function(object, ...) {
  check_no_dots(...)
  ready(object)$ensemble$made
}

#' @rdname average
#' @export
coef.sparsegp_average <- function(object, ...) {
  check_no_dots(...)
  object <- ready(object)
  table <- object$ensemble$made
  stats::setNames(each_member(object, function(fit) coef(own_class(fit))),
                  rownames(table)[table$weight > 0])
}

# Returns a member of an average with the class that it had: another average, or a fit like others.
own_class <- function(fit) {
  if (!is.data.frame(fit$ensemble$made)) class(fit) <- setdiff(class(fit), "sparsegp_average")
  fit
}

refuse_average <- function(...) refuse_if_average(structure(list(), class = "sparsegp_average"))

# Stops where what is asked for is of one fit, and this is an average.
refuse_if_average <- function(object, argument = "object") {
  if (!inherits(object, "sparsegp_average")) return(invisible())
  stop_sparsegp(argument, paste("is an average of fits, and has no hyperparameters, sites or basis",
                                "of its own"),
                "Use its fits one by one; to change them, change each and average again")
}

#' @export
update.sparsegp_average <- function(...) refuse_average()

#' @export
merge.sparsegp_average <- function(...) refuse_average()

#' @export
logLik.sparsegp_average <- function(...) refuse_average()

#' @export
vcov.sparsegp_average <- function(...) refuse_average()

#' @export
confint.sparsegp_average <- function(...) refuse_average()

#' @export
influence.sparsegp_average <- function(...) refuse_average()

#' @export
importance.sparsegp_average <- function(...) refuse_average()

#' @export
sites.sparsegp_average <- function(...) refuse_average()

#' @export
kl.sparsegp_average <- function(...) refuse_average()

#' @export
basis.sparsegp_average <- function(...) refuse_average()

#' @export
sigma.sparsegp_average <- function(...) refuse_average()

#' @export
rstandard.sparsegp_average <- function(...) refuse_average()

#' @export
cooks.distance.sparsegp_average <- function(...) refuse_average()
