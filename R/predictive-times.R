# Answers of times to an event (response-times.R), where they differ from those of other numbers on
# the log scale. With log time = f + s e, s the scale of the error,
#   mean      exp(f) E exp(s e), and under f ~ N(m, v) exp(m + v / 2) E exp(s e)
#   survival  S(t) = P(T > t)
#   rmst      E min(T, h), the integral of S from 0 to h
# Survival and restricted mean grow with f, so that their quantiles are those of f.

error_of <- function(object) TIME_ERRORS[[object$likelihood$type]]

# Scale of the error of log times
error_scale <- function(object) lik_values(object)[["scale"]] * object$response$unit

# Mean and variance of the latent function and offset on the scale of log times
log_location <- function(object, latent) {
  at <- location(object, latent)
  list(mean = at$mean * object$response$unit + object$response$centre[[1L]],
       var = at$var * object$response$unit^2)
}

#' @export
mean_response.response_times <- function(object, latent) {
  at <- log_location(object, latent)
  exp(at$mean + at$var / 2) * error_of(object)$grown(error_scale(object))
}

# The median of the error shifts the latent function.
#' @export
median_response.response_times <- function(object, latent, shift = 0) {
  at <- log_location(object, latent)
  median <- error_scale(object) * error_of(object)$exceeded(0.5)
  exp(at$mean + shift * object$response$unit + median)
}

#' @export
response_at.response_times <- function(object, latent, shift = 0) {
  at <- log_location(object, latent)
  exp(at$mean + shift * object$response$unit) * error_of(object)$grown(error_scale(object))
}

#' @export
response_moments.response_times <- function(object, latent) {
  at <- log_location(object, latent)
  scale <- error_scale(object)
  mean <- mean_response(object, latent)
  square <- exp(2 * at$mean + 2 * at$var) * error_of(object)$grown(2 * scale)
  list(mean = mean, sd = ifelse(is.finite(square), sqrt(square - mean^2), Inf))
}

#' @export
standard_deviation.response_times <- function(object, latent, type) {
  if (type %in% c("link", "latent")) return(NextMethod())
  mean_response(object, latent) * sqrt(expm1(log_location(object, latent)$var))
}

#' @export
noise_has_mean.response_times <- function(object) {
  scale <- error_scale(object)
  error_of(object)$grown(scale) <= exp(scale * error_of(object)$exceeded(0.025))
}

# ---- Functions of the latent function that grow with it ----
#
# growth(object) of each returns list(value, inverse): value(f) at f, the latent function on the
# scale of log times, and inverse(q), the f at which it is q, or NULL where that has no formula.

#' @export
predicted.response_times <- function(object, latent, request) {
  answer <- switch(request$type,
    survival = lapply(request$at, function(time) survival_answer(object, latent, time, request)),
    rmst = restricted_answer(object, latent, request$at, request)
  )
  if (is.null(answer)) return(NextMethod())
  if (request$type == "survival") answer <- at_times(answer, request)
  restore_rows(answer, latent)
}

survival_answer <- function(object, latent, time, request) {
  growing_answer(object, latent, request, survival_of(object, latent, time), function(object) {
    exceeded <- error_of(object)$exceeded
    scale <- error_scale(object)
    survival <- survival_given(object)
    list(value = function(f) survival(time, f),
         inverse = function(q) log(time) - scale * exceeded(q))
  })
}

restricted_answer <- function(object, latent, horizon, request) {
  at <- restricted_nodes(horizon)
  fit <- Reduce(`+`, Map(function(time, weight) weight * survival_of(object, latent, time),
                         at$time, at$weight))
  growing_answer(object, latent, request, fit, function(object) {
    survival <- survival_given(object)
    list(value = function(f) {
      times <- matrix(at$time, length(f), length(at$time), byrow = TRUE)
      drop(survival(times, f) %*% at$weight)
    })
  })
}

# P(T > time) of every row, under the posterior of the latent function
survival_of <- function(object, latent, time) {
  n <- latent_count(latent, n_outputs(object))
  response_tails(object, rep(time, n), latent)$above
}

# Returns P(T > time | f) as a function of the time and f.
survival_given <- function(object) {
  log_above <- error_of(object)$log_above
  scale <- error_scale(object)
  function(time, f) exp(log_above((log(time) - f) / scale))
}

# Returns list(time, weight), of whose survival functions the weighted sum is the restricted mean:
# Gauss and Legendre's rule on panels, each half as long as the one above it, as survival functions
# are smooth in the logarithm of time. Below the last panel they have the value at its end.
restricted_nodes <- function(horizon) {
  PANELS <- 14L
  nodes <- c(0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845,
             0.9739065285171717)
  weights <- c(0.2955242247147529, 0.2692667193099963, 0.2190863625159820, 0.1494513491505806,
               0.0666713443086881)
  share <- (1 + c(-nodes, nodes)) / 2
  from <- horizon / 2^seq_len(PANELS)
  list(time = c(outer(1 + share, from), from[PANELS]),
       weight = c(outer(rep(weights, 2L) / 2, from), from[PANELS]))
}

# Returns what was asked for of a function that grows with the latent function. fit: its mean
growing_answer <- function(object, latent, request, fit, growth) {
  bound <- function(p) growing_bound(object, latent, growth, p)
  if (request$interval != "none") {
    fit <- cbind(fit = fit, lwr = bound((1 - request$level) / 2),
                 upr = bound((1 + request$level) / 2))
  }
  if (!request$se.fit) return(fit)
  list(fit = fit, se.fit = growing_sd(object, latent, growth))
}

# Returns a function of z: the value of every row where the latent function is z standard deviations
# above its mean.
growing_at <- function(object, latent, growth) {
  value <- growth(object)$value
  at <- log_location(object, latent)
  function(z) value(at$mean + z * sqrt(at$var))
}

# The quantile of p over the posterior; of an ensemble that of the mixture.
growing_bound <- function(object, latent, growth, p) {
  if (is.null(latent$members)) return(growing_at(object, latent, growth)(stats::qnorm(p)))
  mixed_quantile(object, latent, p, function(object, latent) {
    at <- growing_at(object, latent, growth)
    list(below = growing_below(object, latent, growth) %||% below_by_quantiles(at),
         end = at(stats::qnorm(p)))
  })
}

# Returns the distribution function of the value of every row, or NULL without an inverse.
growing_below <- function(object, latent, growth) {
  inverse <- growth(object)$inverse
  if (is.null(inverse)) return(NULL)
  at <- log_location(object, latent)
  function(q) stats::pnorm(inverse(q), at$mean, sqrt(at$var))
}

# The standard deviation over the posterior, by nodes of the latent value
growing_sd <- function(object, latent, growth) {
  if (is.null(latent$members)) return(sqrt(growing_moments(object, latent, growth)$var))
  each <- over_members(object, latent, function(object, latent) {
    growing_moments(object, latent, growth)
  })
  mean <- mixed(lapply(each, `[[`, "mean"), latent$shares)
  sqrt(mixed(lapply(each, function(one) one$var + (one$mean - mean)^2), latent$shares))
}

growing_moments <- function(object, latent, growth) {
  STEP <- 0.5
  REACH <- 5
  t <- seq(-REACH, REACH, by = STEP)
  weight <- stats::dnorm(t) / sum(stats::dnorm(t))
  each <- lapply(t, growing_at(object, latent, growth))
  mean <- Reduce(`+`, Map(`*`, each, weight))
  list(mean = mean, var = Reduce(`+`, Map(function(value, w) w * (value - mean)^2, each, weight)))
}

# Returns a column for each time; of intervals an array, with times in its third dimension.
at_times <- function(each, request) {
  if (request$se.fit) {
    parts <- function(name) at_times(lapply(each, `[[`, name), list(se.fit = FALSE,
                                                                   at = request$at))
    return(list(fit = parts("fit"), se.fit = parts("se.fit")))
  }
  names <- format(request$at, trim = TRUE, digits = 15L)
  rows <- NROW(each[[1L]])
  if (!is.matrix(each[[1L]])) {
    return(matrix(unlist(each), rows, length(names), dimnames = list(NULL, names)))
  }
  array(unlist(each), c(rows, 3L, length(names)), list(NULL, colnames(each[[1L]]), names))
}

# ---- Rows of the fit ----

# For a censored time the transform is spread over the probabilities of possible times. Those of a
# time that has an entry are given that there was no event before.
#' @export
response_tails.response_times <- function(object, y, latent) {
  y <- as_times(y)
  status <- time_status(y)
  tails <- tails_in_c(object, y, latent)
  tails$above[status %in% 0] <- 0
  tails$below[status %in% 2] <- 0
  between <- status %in% 3
  if (any(between)) {
    last <- new_times(cbind(y[, 2L], y[, 2L], status, time_entry(y)))
    tails$above[between] <- tails_in_c(object, last, latent)$above[between]
  }
  tails$jumps <- any(status %in% c(0, 2, 3))
  tails
}

#' @export
loo_table.response_times <- function(object) {
  latent <- loo_latent(object)
  y <- object$y
  out <- data.frame(time = y[, 1L], status = factor(TIME_STATUS[time_status(y) + 1], TIME_STATUS),
                    median = centre_answer(object, latent, "median"))
  if (any(time_status(y) == 3)) out$time2 <- y[, 2L]
  if (any(time_entry(y) > 0)) out$entry <- time_entry(y)
  structure(out, alike = signif(centre_answer(object, rows_latent(object), "median"), 10L))
}

# Harrell's C, the proportion of the pairs of observations whose events are in a known order that
# the predictions have in the same order; equal predictions count half. An event is before another
# if it was seen, or known to have happened, before the other's time, or at the time at which the
# other was censored; the other had entered before it. Observations to which the fit gives the same
# median (attribute `alike`) have equal predictions, although their leave-one-out medians differ:
# each moves away from the time that is left out, which would always be the wrong order.
# table: of loo(). O(n^2) for n rows.
concordance_of_table <- function(table) {
  status <- as.character(table$status)
  lower <- ifelse(status == "before", 0, table$time)
  upper <- ifelse(status == "after", Inf, if (is.null(table$time2)) table$time else table$time2)
  seen <- status == "event"
  entry <- table$entry %||% numeric(nrow(table))
  value <- table$median
  alike <- attr(table, "alike") %||% seq_along(value)
  counts <- vapply(which(is.finite(upper)), function(i) {
    later <- lower > upper[i] | lower == upper[i] & !(seen & seen[i])
    later <- later & entry < upper[i]
    later[i] <- FALSE
    equal <- value[later] == value[i] | alike[later] == alike[i]
    c(sum(later), sum(value[later] > value[i] & !equal) + 0.5 * sum(equal))
  }, numeric(2L))
  counts <- rowSums(matrix(counts, 2L))
  if (counts[1L] > 0) counts[2L] / counts[1L] else NA_real_
}
