#' Draws from the posterior
#'
#' `draws()` draws latent functions, jointly at all rows of `newdata`. `simulate()` draws new
#' responses, as [stats::simulate()] does for other models: a latent function and, at each row,
#' a response given it. With `from = "prior"` both draw from the prior, for prior predictive checks.
#'
#' If probabilities of two classes are recalibrated (`fit$power`, see [fit_methods]), `type =
#' "response"` draws recalibrated probabilities, and simulated classes have the frequencies of
#' `predict()`: they are drawn from the latent function, and as few as possible are then flipped.
#' Latent functions are not recalibrated: `plogis()` of `type = "link"` is the probability before
#' recalibration. Probabilities of one-vs-rest classes are normalised in each draw, but `predict()`
#' normalises their odds on average over the latent functions, so the mean of draws differs from it.
#'
#' @section Monotone functions:
#' A fit cannot be constrained to increase. For one input, draws can be made monotone (Lin and
#' Dunson 2014), and quantiles of their rows are bands that never decrease, see the last example.
#' `mgcv::scasm()` and package scam fit constrained functions.
#'
#' @param object A fit of [sparsegp()].
#' @param newdata As in [predict][predict.sparsegp]; missing or `NULL`: the training rows. Rows with
#'   missing values give `NA`.
#' @param type `"latent"`: the latent function; `"link"`: with the bias of the likelihood, so
#'   `exp()`, `plogis()` or `pnorm()` of it is a mean response; `"response"`: the mean response, the
#'   probabilities of several classes, or the mean number of ordered categories; `"slope"`: the
#'   derivative along a variable, see [slopes()]. Default: `"latent"`, but `"response"` for a
#'   mixture of fits on different scales: a fit that is integrated over the scale of its response
#'   ([integration]), or an average of different likelihoods or scales.
#' @param vars,scale `type = "slope"`: the name of the variable, and `"response"` or `"link"` for
#'   slopes of the mean response or of the latent function.
#' @param n,nsim Number of draws: a whole number of at least 1.
#' @param from `"posterior"`, or `"prior"`: the latent function is drawn from its prior at the
#'   hyperparameters of the fit, around the estimated mean.
#' @param seed `NULL` (the current state of R's generator) or a number for `set.seed()`; the old
#'   state is restored afterwards.
#' @param ... Not used; unknown arguments are an error.
#' @return `draws()`: a matrix with a row per row of `newdata` and a column per draw, in units of
#'   the latent function (for regression those of the response) or of the response; with a latent
#'   function for each class, or several components, an array with these as third dimension.
#'   `simulate()`: a data frame with columns `sim_1`, ... and the state of the generator as
#'   attribute `seed`; classes are factors, and several components a matrix.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars)
#' set.seed(1)
#' draws(fit, data.frame(speed = c(5, 10)), n = 3)
#' head(simulate(fit, nsim = 2, seed = 1))
#' matplot(cars$speed, draws(fit, cars, n = 5, from = "prior"), type = "l", lty = 1)
#'
#' # a band of increasing functions
#' drawn <- draws(fit, cars, n = 200)
#' increasing <- apply(drawn, 2, function(f) isoreg(cars$speed, f)$yf)
#' band <- apply(increasing, 1, quantile, c(0.05, 0.95))
#' matplot(cars$speed, t(band), type = "l", lty = 1)
#' @references Lin, L. and Dunson, D. B. (2014). Bayesian monotone regression using Gaussian process
#'   projection. *Biometrika* 101, 303--317.
#' @export
draws <- function(object, newdata, n = 1, ...) UseMethod("draws")

#' @rdname draws
#' @export
draws.sparsegp <- function(object, newdata, n = 1,
                           type = c("latent", "link", "response", "slope"), vars = NULL,
                           scale = c("response", "link"), from = c("posterior", "prior"), ...) {
  check_no_dots(...)
  from <- check_choice(from, c("posterior", "prior"), "from")
  object <- ready(object)
  type <- if (missing(type) && !has_one_latent_scale(object, "latent")) "response"
          else check_choice(type, c("latent", "link", "response", "slope"), "type")
  refuse_for_other_type(type, "slope", !is.null(vars), "vars")
  refuse_for_other_type(type, "slope", !missing(scale), "scale")
  scale <- check_choice(scale, c("response", "link"), "scale")
  if (type == "slope") {
    refuse_if(from == "prior", "from", "= \"prior\" is not defined for slopes", "Leave it out")
    newdata <- if (!missing(newdata)) newdata
    return(warn_once(slope_draws(object, newdata, check_count(n, "n"), vars, scale)))
  }
  object <- fit_of_latent_type(object, type)
  type <- point_type(object, type)
  newdata <- if (!missing(newdata)) newdata
  draws_by_member(object, check_count(n, "n"), function(object, n) {
    draws_of(object, latent_draws(object, newdata, n, from), n, type)
  }, bound_draws)
}

# Returns draw(object, n), n draws; of an ensemble each draw is of a member by chance, and
# bind(draws, order) puts those of all members in this order.
draws_by_member <- function(object, n, draw, bind) {
  if (!has_members(object)) return(draw(object, n))
  members <- sample.int(count_members(object), n, TRUE, object$ensemble$weights)
  each <- lapply(split(members, members), function(own) {
    draws_by_member(as_member(object, own[1L]), length(own), draw, bind)
  })
  bind(each, order(order(members)))
}

# Binds arrays of draws, rows x draws x whatever, and puts them in this order.
bound_draws <- function(each, order) {
  first <- each[[1L]]
  last_side <- if (length(dim(first)) == 3L) c(1L, 3L, 2L) else 1:2
  all <- array(unlist(lapply(each, aperm, last_side)), c(dim(first)[-2L], length(order)))
  all <- aperm(all, order(last_side))
  all <- if (length(dim(all)) == 3L) all[, order, , drop = FALSE] else all[, order, drop = FALSE]
  names <- dimnames(first)
  names[[2L]] <- paste0("draw_", seq_along(order))
  dimnames(all) <- names
  all
}

# Draws n latent functions in C's units at the complete rows, a matrix for each class: mean + L z
# with L L' the joint covariance.
latent_draws <- function(object, newdata, n, from) {
  moments <- if (from == "prior") prior_moments else joint_moments
  latent <- rows_asked(object, newdata)
  x <- latent$x
  latent$values <- lapply(seq_len(processes(object)), function(class) {
    if (nrow(x) == 0L) return(matrix(0, 0L, n))
    joint <- moments(object, x, class)
    drawn_normal(joint$mean, joint$var, n)
  })
  latent
}

# Draws n vectors, a column each. A pivoted Cholesky factor stops at the covariance's numerical
# rank, so nothing is added to it.
drawn_normal <- function(mean, cov, n) {
  if (length(mean) == 0L) return(matrix(0, 0L, n))
  factor <- suppressWarnings(chol(cov, pivot = TRUE))
  rank <- attr(factor, "rank")
  factor <- factor[seq_len(rank), order(attr(factor, "pivot")), drop = FALSE]
  mean + crossprod(factor, matrix(stats::rnorm(as.double(rank) * n), rank, n))
}

# Draws slopes along one variable, jointly at all rows: rows x draws, or x outputs.
slope_draws <- function(object, newdata, n, vars, scale) {
  object <- slope_object(object, scale)
  vars <- check_slope_variables(object, vars)
  refuse_if(length(vars) > 1L, "vars",
            paste0("are ", length(vars), " variables, and draws are along one"), "Name one of them")
  draws_by_member(object, n, function(object, n) {
    slope_draws_of(object, newdata, n, vars, scale)
  }, bound_draws)
}

slope_draws_of <- function(object, newdata, n, name, scale) {
  rows <- rows_with_slopes(object, newdata, name)
  along <- rows$along[[1L]]
  points <- nrow(rows$x)
  both <- lapply(seq_len(processes(object)), function(class) {
    joint <- if (points) joint_slopes(object, rows$x, along$v, class)
             else list(mean = numeric(), var = matrix(0, 0L, 0L))
    drawn_normal(joint$mean, matrix(joint$var, 2L * points), n)
  })
  w <- n_outputs(object)
  drawn <- lapply(seq_len(n), function(j) {
    f <- by_row(lapply(both, function(own) own[seq_len(points), j]), w)
    slope <- by_row(lapply(both, function(own) own[points + seq_len(points), j]), w)
    drawn_slopes(object, f, slope, rows$offset, along$shift, scale)
  })
  outputs <- slope_outputs(object, scale)
  out <- array(unlist(drawn), c(points %/% w, max(1L, length(outputs)), n),
               list(NULL, outputs, paste0("draw_", seq_len(n))))
  out <- aperm(out, c(1L, 3L, 2L))
  at <- asked_rows(rows)
  out <- out[at, , , drop = FALSE]
  rownames(out) <- names(at)
  if (is.null(outputs)) array(out, dim(out)[1:2], dimnames(out)[1:2]) else out
}

# Returns the probability of the second of two labels, before and after the fit's power.
label_probabilities <- function(object, rows) {
  moments <- c(engine_predict(object, rows$x), rows["offset"])
  own <- engine_lik_predict(object, seen_mean(object, moments), moments$var,
                            weights = rows$weights)$mean
  list(own = own, wanted = to_response(object, own))
}

#' @rdname draws
#' @export
simulate.sparsegp <- function(object, nsim = 1, seed = NULL, newdata = NULL,
                              from = c("posterior", "prior"), ...) {
  check_no_dots(...)
  from <- check_choice(from, c("posterior", "prior"), "from")
  nsim <- check_count(nsim, "nsim")
  state <- with_seed(seed)
  on.exit(state$restore())
  object <- ready(object)
  refuse_without_evidence(object, "no distribution of responses")
  if (!is.null(newdata)) {
    refuse_unknown_variances(object$likelihood, "newdata", "Leave it out, or add noise to draws()")
  }
  columns <- draws_by_member(object, nsim, function(object, n) {
    simulated(object, newdata, n, from)
  }, function(each, order) unlist(unname(each), recursive = FALSE)[order])
  names(columns) <- paste0("sim_", seq_len(nsim))
  out <- structure(columns, class = "data.frame",
                   row.names = seq_len(NROW(columns[[1L]]))) # some columns are matrices
  attr(out, "seed") <- state$seed
  out
}

# Returns n sets of responses.
simulated <- function(object, newdata, n, from) {
  latent <- latent_draws(object, newdata, n, from)
  weights <- (if (is.null(newdata)) own_weights(object)) %||% latent$weights %||% 1
  prob <- if (!is.null(object$power)) label_probabilities(object, latent)
  lapply(seq_len(n), function(j) {
    each <- lapply(latent$values, function(values) values[, j])
    f <- if (length(each) == 1L) each[[1L]] else do.call(cbind, each)
    f <- seen_mean(object, list(mean = f, offset = latent$offset))
    drawn <- with_all_levels(draw_response(object, f, weights, prob), object$response)
    drawn <- restore_rows(drawn, latent)
    if (is.matrix(drawn)) `rownames<-`(drawn, NULL) else unname(drawn)
  })
}
