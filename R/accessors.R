# What R users ask of a fitted model.

#' @export
coef.sparsegp <- function(object, ...) {
  object <- ready(object)
  shown_values(object$hyper)
}

#' @export
formula.sparsegp <- function(x, ...) {
  if (!is.null(x$terms)) return(stats::formula(x$terms))
  stop_sparsegp("x", "was fitted to a matrix and has no formula")
}

#' @export
nobs.sparsegp <- function(object, ...) ready(object)$n

#' @export
logLik.sparsegp <- function(object, ...) {
  object <- ready(object)
  refuse_against_rest(object, "no evidence")
  structure(object$log_evidence, df = length(object$learning$gradient), nobs = nobs(object),
            class = "logLik")
}

#' @export
fitted.sparsegp <- function(object, ...) predict(object, type = "response")

#' Residuals of a Gaussian-process fit
#'
#' @param object A fit of [sparsegp()].
#' @param type `"response"`: response minus its fitted mean (two classes: the second level counts 1,
#'   the first 0; ordered categories: their numbers, from 1). `"pearson"`: that, divided by the
#'   predictive standard deviation of the response. `"quantile"`: the normal quantile at which the
#'   response stands in its predictive distribution given the other rows.
#' @param ... Nothing.
#' @return A numeric vector, one per row of the data (rows dropped by `na.exclude` are `NA`, as are
#'   rows without a label). With a latent function for each class a matrix with a column for each: 1
#'   for the row's class and 0 for the others, minus the probability; `"quantile"` is an error then,
#'   as classes without an order have no quantiles.
#' @details
#' If the model is right, quantile residuals are standard normal, whatever the likelihood: look at
#' them with [stats::qqnorm()]. The distribution is the leave-one-out one, from the cavities of EP
#' (as in [loo_lpd()]), as that of a fit that has seen the response would follow it. Where responses
#' are counts or classes it jumps, and the quantile is drawn at random within the jump (Dunn and
#' Smyth's randomised quantile residuals): they differ from call to call, unless [set.seed()] is
#' called. For other numbers nothing is random. None is larger than 37 in size.
#' @references Dunn, P. K. and Smyth, G. K. (1996). Randomized quantile residuals. *Journal of
#'   Computational and Graphical Statistics* 5, 236-244.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars)
#' head(residuals(fit, "pearson"))
#' qqnorm(residuals(fit, "quantile"))
#' @export
residuals.sparsegp <- function(object, type = c("response", "pearson", "quantile"), ...) {
  check_no_dots(...)
  type <- check_choice(type, c("response", "pearson", "quantile"), "type")
  object <- with_rows(object)
  residual <- if (type == "quantile") quantile_residuals(object)
              else plain_residuals(object, pearson = type == "pearson")
  if (is.matrix(residual)) rownames(residual) <- object$row_names
  else names(residual) <- object$row_names
  if (is.null(object$na.action)) residual else stats::naresid(object$na.action, residual)
}

plain_residuals <- function(object, pearson) {
  latent <- training_latent(object)
  predicted <- if (several_classes(object)) {
    prob <- class_probabilities(object, latent)
    list(mean = prob, var = prob * (1 - prob))
  } else {
    engine_lik_predict(object, seen_mean(object, latent), latent$var)
  }
  residual <- observed_mean(object) - to_response(object, predicted$mean)
  if (!pearson) return(residual)
  # evaluated only where it is asked for
  extra <- lik_traits(object$likelihood)$extra_var(
    lik_values(object), object$weights,
    predicted$var - engine_lik_predict(object, seen_mean(object, latent), latent$var, TRUE)$spread
  )
  residual <- residual / (sqrt(predicted$var + extra) * response_unit(object))
  residual[is.nan(residual)] <- 0 # as it should be, and no doubt about it
  residual
}

# Dunn and Smyth's, from what the leave-one-out distributions have below and above the responses. A
# quantile is taken from the smaller of its two tails, which has the digits.
quantile_residuals <- function(object) {
  labels <- !is.null(object$response$levels)
  if (several_classes(object) || (!labels && is.null(lik_traits(object$likelihood)$cdf))) {
    stop_sparsegp("type", "= \"quantile\" is for responses that have an order",
                  "Use type = \"response\" or \"pearson\"")
  }
  tails <- if (labels) label_tails(object) else response_tails(object)
  up <- if (tails$jumps) stats::runif(length(tails$below)) else 0
  mass <- pmax(1 - tails$below - tails$above, 0)
  # 37 standard deviations off the numbers end
  lower <- pmax(tails$below + up * mass, .Machine$double.xmin)
  upper <- pmax(tails$above + (1 - up) * mass, .Machine$double.xmin)
  ifelse(lower < upper, stats::qnorm(lower), stats::qnorm(upper, lower.tail = FALSE))
}

# Leave-one-out probabilities of less than each response and of more.
response_tails <- function(object) {
  traits <- lik_traits(object$likelihood)
  latent <- loo_latent(object)
  cdf <- function(y, lower) {
    traits$cdf(y, seen_mean(object, latent), latent$var, lik_values(object), latent$weights, lower)
  }
  y <- from_response(object, object$y)
  jump <- if (is.null(traits$jump)) 0 else traits$jump(latent$weights)
  list(below = cdf(y - jump, TRUE), above = cdf(y, FALSE), jumps = !is.null(traits$jump))
}

label_tails <- function(object) {
  prob <- loo_probabilities(object)
  at <- as.integer(object$y)
  sum_where <- function(side) rowSums(prob * outer(at, seq_len(ncol(prob)), side))
  list(below = sum_where(`>`), above = sum_where(`<`), jumps = TRUE)
}

# What the mean response would be if it were known: for classes 0 and 1, of ordered categories the
# number.
observed_mean <- function(object) {
  if (several_classes(object)) {
    return(outer(as.integer(object$y), seq_along(levels(object$y)), "=="))
  }
  if (is_ordered(object$likelihood)) as.integer(object$y)
  else if (is.factor(object$y)) as.integer(object$y) - 1 else object$y
}

#' Sites and leave-one-out log predictive densities
#'
#' `sites()` gives the Gaussian factor \eqn{\exp(-\tau u^2/2 + \nu u)}{exp(-tau u^2/2 + nu u)} that
#' stands for each row's likelihood in the posterior, as a function of the latent function less its
#' known mean (offset and, for regression, the removed constant).
#'
#' `loo_lpd()` gives, for each row, the log predictive density of its response given all other rows.
#' It is read off the cavities of EP, \eqn{\log Z_i}{log Z_i} at the cavity's mean and variance
#' (formulas 78-79), without refitting and at the fitted hyperparameters; exact for Gaussian noise.
#'
#' @param object A fit of [sparsegp()].
#' @param ... Nothing.
#' @return `sites()`: a data frame with columns `row` (row of the data), `precision` (tau; below 0
#'   where a likelihood that is not log-concave widens the posterior) and `shift` (nu), and with a
#'   latent function for each class, `class`. `loo_lpd()`: a named vector, in natural logarithms of
#'   the response's density or probability.
#' @references Minka, T. P. *Gaussian EP* (update formulas), eqs 71-94.
#' @examples
#' fit <- sparsegp(am ~ wt, mtcars, likelihood = "probit")
#' head(sites(fit))
#' sum(loo_lpd(fit))
#' @export
sites <- function(object, ...) UseMethod("sites")

#' @rdname sites
#' @export
sites.sparsegp <- function(object, ...) {
  check_no_dots(...)
  object <- with_rows(object)
  unit <- object$response$unit
  out <- data.frame(row = object$row_names, precision = c(object$sites$tau) / unit^2,
                    shift = c(object$sites$nu) / unit)
  if (several_classes(object)) {
    levels <- object$response$levels
    out$class <- factor(rep(levels, each = object$n), levels)
  }
  out
}

#' @rdname sites
#' @export
loo_lpd <- function(object, ...) UseMethod("loo_lpd")

#' @rdname sites
#' @export
loo_lpd.sparsegp <- function(object, ...) {
  check_no_dots(...)
  object <- with_rows(object)
  lpd <- if (against_rest(object)) {
    # their log Z is of the indicators of all classes, not of the class
    log(loo_probabilities(object)[cbind(seq_along(object$y), as.integer(object$y))])
  } else {
    object$cavity$lpd - log(response_unit(object))
  }
  names(lpd) <- object$row_names
  if (is.null(object$na.action)) lpd else stats::naresid(object$na.action, lpd)
}

#' Draws from the posterior
#'
#' `draws()` draws latent functions, jointly at all rows of `newdata`. `simulate()` draws new
#' responses, as [stats::simulate()] does for other models: a latent function and, at each row,
#' a response given it.
#'
#' @param object A fit of [sparsegp()].
#' @param newdata As in [predict][predict.sparsegp]; missing: the training rows. Rows with missing
#'   values give `NA`.
#' @param n,nsim Number of draws; whole number of at least 1.
#' @param seed `NULL` (the current state of R's generator) or a number for `set.seed()`, after which
#'   the old state comes back.
#' @param ... For `simulate()`: `newdata`. Otherwise nothing.
#' @return `draws()`: a matrix with a row per row of `newdata` and a column per draw, in units of
#'   the latent function (for regression those of the response); with a latent function for each
#'   class an array, its third dimension the class. `simulate()`: a data frame with
#'   columns `sim_1`, ... and the state of the generator as attribute `seed`; classes are factors.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars)
#' set.seed(1)
#' draws(fit, data.frame(speed = c(5, 10)), n = 3)
#' head(simulate(fit, nsim = 2, seed = 1))
#' @export
draws <- function(object, newdata, n = 1, ...) UseMethod("draws")

#' @rdname draws
#' @export
draws.sparsegp <- function(object, newdata, n = 1, ...) {
  check_no_dots(...)
  object <- ready(object)
  latent <- latent_draws(object, if (missing(newdata)) NULL else newdata, check_count(n, "n"))
  each <- lapply(latent$values, function(values) {
    values <- to_latent(object, values, latent$offset)
    colnames(values) <- paste0("draw_", seq_len(n))
    restore_rows(values, latent)
  })
  if (!several_classes(object)) return(each[[1L]])
  array(unlist(each), c(dim(each[[1L]]), length(each)),
        c(dimnames(each[[1L]]), list(object$response$levels)))
}

# n latent functions in C's units at the complete rows, a matrix of them for each class: mean + L z
# with L L' the joint covariance. A pivoted Cholesky factor stops at the covariance's numerical
# rank, so nothing is added to it.
latent_draws <- function(object, newdata, n) {
  latent <- if (is.null(newdata)) training_latent(object) else NULL
  x <- if (is.null(newdata)) training_inputs(object)
  if (is.null(latent)) {
    new <- new_inputs(object, newdata)
    complete <- stats::complete.cases(new$x) & !is.na(new$offset)
    x <- check_finite_inputs(new$x[complete, , drop = FALSE], "newdata")
    x <- scaled_inputs(x, object$scaling)
    latent <- list(offset = new$offset[complete], complete = complete, names = new$names, na = NULL)
  }
  latent$values <- lapply(seq_len(object$response$latents), function(class) {
    if (nrow(x) == 0L) matrix(0, 0L, n) else draw_gaussian(joint_moments(object, x, class), n)
  })
  latent
}

draw_gaussian <- function(joint, n) {
  factor <- suppressWarnings(chol(joint$var, pivot = TRUE))
  rank <- attr(factor, "rank")
  factor <- factor[seq_len(rank), order(attr(factor, "pivot")), drop = FALSE]
  joint$mean + crossprod(factor, matrix(stats::rnorm(rank * n), rank, n))
}

#' @rdname draws
#' @export
simulate.sparsegp <- function(object, nsim = 1, seed = NULL, ...) {
  arguments <- list(...)
  unknown <- setdiff(names(arguments), "newdata")
  if (length(unknown) || length(arguments) != sum(names(arguments) == "newdata")) check_no_dots(...)
  nsim <- check_count(nsim, "nsim")
  state <- with_seed(seed)
  on.exit(state$restore())
  object <- ready(object)
  refuse_against_rest(object, "no distribution of responses")
  latent <- latent_draws(object, arguments$newdata, nsim)
  value <- lik_values(object)
  at_rows <- is.null(arguments$newdata)
  if (!at_rows && has_variances(object$likelihood)) {
    refuse_unknown_variances("newdata", "Leave it out, or add noise to draws()")
  }
  weights <- if (at_rows && !is.null(object$weights)) object$weights else 1
  columns <- lapply(seq_len(nsim), function(j) {
    f <- vapply(latent$values, function(values) values[, j], numeric(length(latent$offset)))
    if (several_classes(object)) dim(f) <- c(length(latent$offset), length(latent$values))
    f <- f + latent$offset / object$response$unit
    y <- lik_traits(object$likelihood)$draw(f, value, weights)
    levels <- object$response$levels
    y <- if (is.null(levels)) to_response(object, y)
         else class_factor(y, levels, object$likelihood)
    unname(restore_rows(y, latent))
  })
  names(columns) <- paste0("sim_", seq_len(nsim))
  out <- data.frame(columns)
  attr(out, "seed") <- state$seed
  out
}

# The generator's state as stats::simulate() documents it: what was before when seed is NULL; else
# the seed and kind, and the old state is put back on exit.
with_seed <- function(seed) {
  globals <- globalenv()
  if (!exists(".Random.seed", globals, inherits = FALSE)) stats::runif(1)
  before <- get(".Random.seed", globals, inherits = FALSE)
  if (is.null(seed)) return(list(seed = before, restore = function() NULL))
  seed <- check_number(seed, "seed", -.Machine$integer.max, .Machine$integer.max, open = FALSE)
  set.seed(seed)
  list(seed = structure(seed, kind = as.list(RNGkind())),
       restore = function() assign(".Random.seed", before, globals))
}

# Classes each against the rest are as many models, of which no two agree on the data.
refuse_against_rest <- function(object, lack) {
  if (!against_rest(object)) return(invisible())
  stop_sparsegp("object", paste0("sets each class against the rest, which has ", lack),
                "Fit one model of all classes: likelihood = lik_mprobit()")
}

# A fit that knows its rows. A stream's keeps none.
with_rows <- function(object) {
  object <- ready(object)
  if (!is.null(object$latent)) return(object)
  stop_sparsegp("object", "is a stream's fit, which keeps no rows",
                "Predict for the rows in question: predict(object, newdata)")
}

# Full EP: the basis is the training rows, though perhaps in another order.
every_row_in_basis <- function(object) {
  !is.null(object$latent) && length(object$basis_rows) == object$n &&
    setequal(object$basis_rows, seq_len(object$n))
}

# Scaled inputs of the training rows, where the fit has them.
training_inputs <- function(object) {
  if (every_row_in_basis(object)) {
    return(object$posterior$basis[order(object$basis_rows), , drop = FALSE])
  }
  if (!is.null(object$x)) return(scaled_inputs(object$x, object$scaling))
  stop_sparsegp("newdata", "is missing, and the fit has not kept its inputs",
                "Give `newdata`, or fit with keep_x = TRUE")
}

#' The basis of a fit
#'
#' The points whose kernels carry the posterior: every training row for full EP, what was given as
#' `basis` to [sparsegp()], without repetitions, or what the method chose.
#'
#' @param object A fit of [sparsegp()].
#' @param ... Nothing.
#' @return A matrix with a row per point and a column per input (of the model matrix; constant ones
#'   left out), in the units of the inputs. Attribute `rows`: which of the rows used they are (for a
#'   stream: of all rows so far), in order of inclusion, or `NULL` when points were given. Where
#'   classes have bases of their own it has all their points, and attribute `each` the rows of each.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars, basis = c(5, 20, 35, 50))
#' basis(fit)
#' @export
basis <- function(object, ...) UseMethod("basis")

#' @rdname basis
#' @export
basis.sparsegp <- function(object, ...) {
  check_no_dots(...)
  object <- ready(object)
  points <- unscale_kept(object$posterior$basis, object$scaling)
  rows <- object$basis_rows
  if (every_row_in_basis(object)) {
    points <- points[order(rows), , drop = FALSE]
    rows <- sort(rows)
  }
  names <- if (is.null(object$row_names)) rows else object$row_names[rows]
  rownames(points) <- if (!is.null(rows)) as.character(names)
  structure(points, rows = rows, each = object$basis_rows_of)
}
