# The codec of times to an event, which may be censored (data-times.R): numbers on the log scale.
# Codes are times of the same class whose numbers are (log t - centre) / unit, an entry of 0
# NO_ENTRY.

NO_ENTRY <- -1e300 # src/lik_times.c

# The errors of log times, by likelihood.
#   log_density, log_above, log_below   of the error at e: density, P(error > e), P(error <= e)
#   mean, sd  of the error
#   exceeded  (p) -> the value that the error exceeds with probability p
#   grown     (s) -> E exp(s error), Inf where there is none
#   draw      (n) -> random errors
TIME_ERRORS <- list(
  weibull = list(
    log_density = function(e) e - exp(e), log_above = function(e) -exp(e),
    log_below = function(e) log(-expm1(-exp(e))),
    mean = digamma(1), sd = pi / sqrt(6), exceeded = function(p) log(-log(p)),
    grown = function(s) gamma(1 + s), draw = function(n) log(stats::rexp(n))
  ),
  loglogistic = list(
    log_density = function(e) stats::dlogis(e, log = TRUE),
    log_above = function(e) stats::plogis(-e, log.p = TRUE),
    log_below = function(e) stats::plogis(e, log.p = TRUE),
    mean = 0, sd = pi / sqrt(3), exceeded = function(p) stats::qlogis(p, lower.tail = FALSE),
    grown = function(s) ifelse(s < 1, pi * s / sinpi(pmin(s, 1)), Inf),
    draw = function(n) stats::rlogis(n)
  ),
  lognormal = list(
    log_density = function(e) stats::dnorm(e, log = TRUE),
    log_above = function(e) stats::pnorm(-e, log.p = TRUE),
    log_below = function(e) stats::pnorm(e, log.p = TRUE),
    mean = 0, sd = 1, exceeded = function(p) stats::qnorm(p, lower.tail = FALSE),
    grown = function(s) exp(s^2 / 2), draw = function(n) stats::rnorm(n)
  )
)

times_codec <- function() {
  log_numbers <- codec_on_scale(numbers_codec(), "log")
  codec <- codec_like(log_numbers, "times", called = "a response of times to an event", dims = 2L,
             offers = c(log_numbers$offers, list(survival = c("se.fit", "confidence"),
                                                 rmst = c("se.fit", "confidence"))),
             shape = shape_of(), gather = gather_times, refuse = illegal_times,
             correct = paste("Count from an earlier start, give a time of 0 as half of the",
                             "smallest unit, and an entry of 0 where there was no delay"),
             moments = moments_of_times, read = read_times, again = read_more_times,
             codes = codes_of_times,
             observed = function(y) ifelse(is_event(y), y[, 1L], NA),
             series = function(codes) unname(codes[, 1L]), values = is_event,
             constant = function(codes) {
               if (all(time_status(codes) == 0)) "has no events, as every time is right censored"
               else if (all(is_event(codes)) && is_flat(codes[, 1L])) "does not vary"
             },
             words = function(response) {
               paste0("times to an event on the log scale; ", constant_words(response, " there"))
             })
  class(codec) <- c("response_times", class(log_numbers))
  codec
}

illegal_times <- function(y, weights = NULL) {
  entry <- time_entry(y)
  if (any(y[, 1:2] <= 0)) return("has times of 0 or less, which have no logarithm")
  if (any(entry < 0)) return("has times of entry (left truncation) below 0")
  if (any(entry >= y[, 1L])) "has times of entry (left truncation) that are not before the others"
}

gather_times <- function(chunk) {
  chunk$y <- as_times(chunk$y)
  chunk
}

moments_of_times <- function(chunk) {
  chunk$y <- log(pmax(chunk$y[, 1L], .Machine$double.xmin))
  moments_of_numbers(chunk)
}

# Codes of times, or of numbers, each the time of an event.
codes_of_times <- function(y, response) {
  to_code <- function(time) log(time) / response$unit - response$centre[[1L]] / response$unit
  if (!are_times(y)) return(to_code(y))
  entry <- pmax(to_code(time_entry(y)), NO_ENTRY)
  new_times(cbind(to_code(y[, 1L]), to_code(y[, 2L]), time_status(y), entry))
}

# Centre and unit are location and standard deviation of the log times, as a model without inputs
# has them.
read_times <- function(codec, y, lik, offset, weights, streams) {
  check_legal(codec, y, lik)
  at <- location_of_times(y, offset, TIME_ERRORS[[lik$type]])
  response <- new_response(codec, NULL, y, weights_or_ones(weights, NROW(y)), centre = at$centre,
                           unit = unit_of(at$spread, 1))
  response$y <- codes_of_times(y, response)
  response
}

# Returns the location of log times less their offsets, and the standard deviation of their errors:
# by moments where every time is that of an event and none has an entry, else by maximum
# likelihood. Where entries are close to the times any early location may do: a penalty of one
# observation or so keeps it near the times.
location_of_times <- function(y, offset, error) {
  lower <- log(y[, 1L]) - offset
  upper <- log(y[, 2L]) - offset
  spread <- sqrt(mean((lower - mean(lower))^2))
  from <- c(mean(lower), log(max(spread, 1e-14) / error$sd))
  seen <- any(time_status(y) != 0)
  entry <- log(time_entry(y)) - offset
  late <- any(entry > -Inf)
  if (seen && (late || !all(is_event(y))) && spread > 1e-14) {
    away <- function(at) sum(((at - start) / c(spread, 1))^2) / 2
    lack <- function(at) {
      -sum(log_mass_of_times(lower, upper, time_status(y), entry, at, error)) +
        if (late) away(at) else 0
    }
    start <- from
    from <- stats::optim(from, lack, method = "BFGS")$par
  } else {
    from[1L] <- from[1L] - exp(from[2L]) * error$mean
  }
  list(centre = from[1L], spread = exp(from[2L]) * error$sd)
}

# Returns the log likelihood of each observation. at: location, and logarithm of the scale
log_mass_of_times <- function(lower, upper, status, entry, at, error) {
  from <- ifelse(status == 2, entry, lower)
  e <- (from - at[1L]) / exp(at[2L])
  out <- ifelse(status == 1, error$log_density(e) - at[2L], error$log_above(e))
  between <- status %in% 2:3
  b <- (upper[between] - at[1L]) / exp(at[2L])
  out[between] <- log(pmax(exp(error$log_below(b)) - exp(error$log_below(e[between])), 1e-300))
  late <- entry > -Inf
  out[late] <- out[late] - error$log_above((entry[late] - at[1L]) / exp(at[2L]))
  pmax(out, -1e10) # finite, for the search
}

# The numbers are three of each observation.
#' @export
check_early.response_times <- function(codec, rows, lik) check_legal(codec, as_times(rows$y), lik)

read_more_times <- function(codec, y, lik, weights, response) {
  refuse_if(!is.numeric(y), "newdata", "has a response without times to an event",
            "Give Surv(time, status)")
  y <- as_times(y)
  check_legal(codec, y[!is.na(y)], lik, argument = "newdata")
  y
}

# Centre and unit are those of the rows that are kept in memory.
#' @export
in_known_units.response_times <- function(codec, response, moments) response

# ---- Densities: of times that were seen; of others there are probabilities ----

#' @export
log_slopes.response_times <- function(response, y) {
  y <- as_times(y)
  ifelse(is_event(y), -log(y[, 1L]) - log(response$unit), 0)
}

# ---- Stored values ----

#' @export
are_right_size.response_times <- function(codec, y, n, fit) are_times(y) && nrow(y) == n

#' @export
are_right_values.response_times <- function(codec, y, response) {
  numbers <- unclass(y)
  are_times(y) && is.numeric(numbers) && ncol(numbers) == 4L && are_finite(numbers) &&
    is.null(illegal_times(y)) && all(numbers[, 3L] %in% 0:3)
}
