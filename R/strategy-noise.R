# The noise of a response of numbers, if no likelihood was given: is it what Gaussian noise of one
# variance on some scale can be? The leave-one-out residuals of the winner of the race for structure
# (strategy-structure.R) are asked: each of NOISES has a cheap fit to these alone
# (lik-noises.R), and what would gain as much as it has to is learned, and compared by its
# evidence. If another noise is taken it moves everything else, as outliers hide a function, so
# that scale and kernel are compared once more under it.
#
# Beside counts the density of Gaussian noise is taken for the probability of the unit interval
# around the response, so that both evidences are on the measure of counts.

# Returns the score of the best candidate with the best noise: `best` with a longer record where the
# residuals do not ask for another, or it does not gain enough. Of another noise it has
# `before_noise`, the score of `best` in case that fails for all rows. n: observations
with_best_noise <- function(best, pilot, n) {
  candidate <- best$candidate
  if (!may_change_noise(candidate)) return(best)
  level <- level_of_noise(candidate)
  offered <- offered_noises(candidate, level$others, pilot, n)
  if (length(offered) == 0L) return(best)
  fewer <- pilot_of_noises(pilot, candidate, offered, n)
  now <- score_by_evidence(changed_candidate(candidate, list(), fewer$rows), fewer)
  now$choices <- best$choices
  found <- race_of_noises(offered, now, fewer, n, level$label)
  model <- found$candidate$model
  if (model$lik$type == "gaussian") {
    best$choices <- found$choices
    return(best)
  }
  data <- found$candidate$data
  forecast <- is_forecast(model, data$chunk, data$setup)
  before <- best
  before$choices <- with_failed_noise(found$choices)
  best <- race_along(axes_under_noise(model, isTRUE(pilot$series), forecast), found, fewer, n)
  c(best, list(before_noise = before))
}

# Returns the best score, of `best` and of noises that are offered. One that the residuals may hide
# comes first, and has to gain less; others have to gain what is asked of them over Gaussian noise,
# and as much as another kernel over that.
race_of_noises <- function(offered, best, pilot, n, incumbent) {
  before <- best$value
  worth <- function(least) least(best$candidate$model, n, pilot$count)
  for (group in unname(split(offered, !vapply(offered, `[[`, NA, "hidden")))) {
    least <- max(worth(worth_of_noise(group)) - (best$value - before), worth(worth_a_change))
    best <- race("noise", entries_of(group, pilot$rows),
                 function(candidate) score_by_evidence(candidate, pilot), gain_on_one_measure,
                 nats(least), go_on = function(taken, gain) TRUE, best = best,
                 incumbent = incumbent)
    incumbent <- NULL
  }
  best
}

# Returns the record with the incumbent of the noises in the place of the one that was taken, which
# failed for all rows.
with_failed_noise <- function(choices) {
  noises <- which(choices$stage == "noise")
  taken <- noises[choices$taken[noises]]
  choices$candidate[taken] <- paste0(choices$candidate[taken], ": no convergence with all rows")
  choices$taken[noises] <- noises == noises[1L]
  choices
}

# Returns the record's label of the Gaussian noise of a candidate, and the types of others that are
# compared with it. A function that is nearly noiseless may have outliers, and nothing else.
level_of_noise <- function(candidate) {
  if (isTRUE(candidate$data$setup$noiseless)) list(label = NOISE_NEAR_NONE, others = "student")
  else list(label = NOISE_LEARNED, others = names(NOISES))
}

# Was Gaussian noise the package's own choice, and would nothing that was given mean something else
# under other noise? Later rows of streams and sources might not be counts. Responses of two values
# are labels: other noise becomes narrow around each, and the mean is no longer the proportion.
may_change_noise <- function(candidate) {
  setup <- candidate$data$setup
  passing <- isTRUE(setup$streams) || isTRUE(setup$provisional) || !is.null(setup$known)
  given <- c("prior", "basis", "augment", "structure")
  leaves_open(setup$method) && !passing && all(lengths(setup[given]) == 0L) &&
    is.null(candidate$data$chunk$weights) && candidate$model$lik$type == "gaussian" &&
    candidate$model$response$width == 1L && length(unique(candidate$data$chunk$y)) > 2L
}

# Could the responses have noise of a type? Where its mean is on another scale nothing may shift or
# fix the mean; a filter of a series has one function.
may_be_noise <- function(type, candidate, pilot) {
  kind <- NOISES[[type]]
  if (isTRUE(pilot$series) && lik_in_catalogue(as_likelihood(type))$width > 1L) return(FALSE)
  if (is.null(kind$fits)) return(TRUE)
  is.null(candidate$data$setup$mean) && all(candidate$data$chunk$offset == 0) &&
    kind$fits(candidate$model$response$given)
}

# Returns the alternatives, of some types, that the residuals ask for: the most promising one, and
# simpler ones that may be as good. Of noise that is added to the mean there are none where a law
# that is made for such responses will do. `hidden`: may more be gained than the residuals show?
offered_noises <- function(candidate, types, pilot, n) {
  rest <- residuals_of(candidate)
  if (is.null(rest)) return(NULL)
  kinds <- NOISES[types[vapply(types, may_be_noise, NA, candidate, pilot)]]
  least <- worth_another_noise(candidate$model, n, length(rest$z))
  gains <- vapply(kinds, function(kind) kind$gain(rest), 0)
  hidden <- may_hide_tails(rest) || may_hide_tails(residuals_of(as_begun(candidate)))
  if (hidden) gains <- with_hidden_tails(gains, least)
  gains <- gains[gains >= least]
  has_law <- !vapply(kinds[names(gains)], function(kind) is.null(kind$fits), NA)
  if (any(has_law)) gains <- gains[has_law]
  close <- gains >= max(gains, -Inf) - least & seq_along(gains) <= which.max(c(gains, -Inf))
  lapply(names(gains)[close], function(type) {
    list(label = NOISES[[type]]$label, setup = changes_of_noise(candidate, type),
         fields = list(noise = type), hidden = hidden && type == "student")
  })
}

# Are rows far from the others, and does Student's t gain anything? With means that these have not
# moved it would gain more.
may_hide_tails <- function(rest) {
  !is.null(rest) && any(far_residuals(rest)) && gain_of_tails(rest) > 0
}

# Returns the candidate with the hyperparameters that a search begins at: a function that is short
# enough to follow an outlier, or noise that is wide enough, were learned with it.
as_begun <- function(candidate) {
  candidate$table$theta <- candidate$table$start
  candidate
}

# Returns the gains with one of Student's t that is offered, where it is hidden.
with_hidden_tails <- function(gains, least) {
  gains[["student"]] <- max(gains[["student"]], least, max(gains) - least)
  gains
}

# Returns the fields of the setup that differ under noise of a type.
changes_of_noise <- function(candidate, type) {
  lik <- with_noise(candidate$model$lik, type)
  kernel <- candidate$data$setup$kernel
  c(list(likelihood = lik, noiseless = FALSE), if (!is.null(lik_codec(lik)$coregion)) {
    list(kernel = kernel_for(kernel, lik))
  })
}

# Noise of another form is less simple to explain, as another scale is.
worth_another_noise <- worth_a_scale

# The same, of a race: outliers that can be seen are explained by Student's t.
worth_of_noise <- function(offered) {
  if (any(vapply(offered, `[[`, NA, "hidden"))) worth_a_change else worth_another_noise
}

# Returns the pilot with so few rows that the dearest alternative is learned in time.
pilot_of_noises <- function(pilot, candidate, offered, n) {
  most <- if (isTRUE(pilot$series)) policy$series_rows %/% policy$ep_iterations
          else min(vapply(offered, function(alternative) {
            lik <- alternative$setup$likelihood
            rows_of_work(policy$structure_flops, lik, 1L) %/% lik_in_catalogue(lik)$width
          }, 0))
  if (most >= pilot$count) return(pilot)
  pilot[c("count", "points", "price")] <- list(most, most, price_of_hyper(most, n))
  pilot$rows <- rows_of_pilot(candidate$model, candidate$data$chunk, pilot)
  pilot
}

# Returns the axes that are open under another noise.
axes_under_noise <- function(model, series, forecast = FALSE) {
  if (model$response$width > 1L) return(list()) # of two functions runs are dear
  c(list(structure_axis("response scale", scale_undone)), kernel_axes(1L, series, forecast))
}

# A scale that was taken for the sake of the noise is undone where it gains nothing.
scale_undone <- function(model, chunk, setup, table) {
  scale <- model$lik$transform$name
  if (is.null(scale) || scale == "identity") return(NULL)
  list(list(label = scale, fields = list(transform = scale)),
       list(label = "identity", simpler = TRUE, fields = list(transform = "identity"),
            setup = list(likelihood = with_transform(model$lik, "identity"))))
}

# ---- Residuals ----

# Returns what the rows of a candidate are to a fit of the others: z, residuals in standard
# deviations of what was predicted; y, mean: the responses and their medians in the user's units;
# x; log_density, log_interval: log density of the response, and log probability of the unit
# interval around it. NULL if EP of the candidate failed.
residuals_of <- function(candidate) {
  problem <- candidate$plan$problem
  theta <- candidate$table$theta
  run <- run_plan(with_sites(candidate, NULL)$plan, theta) # those found were of other rows
  if (run$status != 0L) return(NULL)
  is_open <- !is.null(problem$scale)
  seen <- if (is_open) response_of_scale(problem)$at(theta) else problem
  response <- if (is_open) seen$response else candidate$model$response
  codec <- codec_named(candidate$model$response$codec)
  mean <- c(run$cav_mean) + c(seen$offset)
  sd <- sqrt(c(run$cav_var) + exp(theta[candidate$table$base == "noise"]))
  codes <- seen$rows[1L, ]
  y <- if (is_open) problem$rows[1L, ] else codec$back(codes, response)
  if (are_counts(candidate$model$response$given)) y <- round(y) # not exact after the way back
  z <- (codes - mean) / sd
  place <- function(y) (codec$codes(y, response) - mean) / sd
  list(z = z, y = y, mean = codec$back(mean, response),
       x = with_indicators(problem$x, candidate$model$scaling$levels > 0),
       log_density = stats::dnorm(z, log = TRUE) - log(sd) + log_slopes(response, y),
       log_interval = log_between(ifelse(y < 1 / 2, -Inf, place(y - 1 / 2)), place(y + 1 / 2)))
}

# Returns inputs with a column for each level of a factor but the first, so that the spread of every
# level may be its own. factors: which inputs are numbers of levels
with_indicators <- function(x, factors) {
  few <- Filter(function(j) max(x[, j]) <= MOST_OF_SPREAD, which(factors))
  if (length(few) == 0L) return(x)
  each <- lapply(few, function(j) outer(x[, j], seq_len(max(x[, j]))[-1L], `==`) + 0)
  cbind(do.call(cbind, each), x[, -few, drop = FALSE])
}

# ---- On one measure ----

are_of_counts <- function(score) {
  inherits(lik_codec(score$candidate$model$lik), "response_counts")
}

# Returns the gain in evidence of a score over the best.
gain_on_one_measure <- function(found, best) {
  gained <- found$value - best$value
  if (!are_of_counts(found) || are_of_counts(best)) return(gained)
  rest <- residuals_of(best$candidate)
  gained + sum(rest$log_density - rest$log_interval)
}
