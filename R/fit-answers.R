# From latent moments in C's units to what a user asked for, and back to the rows asked for.

# Latent values in C's units, and the mean response at them, as the user sees them.
to_latent <- function(object, f, offset) f * object$response$unit + object$response$centre + offset

# What the likelihood adds to the latent functions: the bias of each, or 0 where it has none.
latent_bias <- function(object) {
  bias <- object$hyper$theta[object$hyper$base == "bias"]
  if (length(bias)) bias else rep(0, processes(object))
}

# The latent function plus bias; f: a vector, or with several latent functions a matrix.
to_link <- function(object, f, offset) {
  to_latent(object, f, offset) + rep(latent_bias(object), each = NROW(f))
}

# A mean response as the user sees it. Labels, and numbers that do not scale, have unit 1; the
# probability of the second of two labels has the fit's power.
to_response <- function(object, mean) {
  if (!is.null(object$power)) {
    return(powered(log(cbind(1 - c(mean), c(mean))), object$power)[, 2L])
  }
  mean * object$response$unit + object$response$centre
}

# What the likelihood sees: the latent function and its offset, in C's units.
seen_mean <- function(object, latent) {
  known <- latent$offset / object$response$unit
  if (width(object) > 1L) by_component(latent$mean, components(object)) + known
  else latent$mean + known
}

mean_response <- function(object, latent) {
  if (width(object) > 1L) return(answered(object, vector_means(object, latent)))
  if (processes(object) > 1L) return(class_probabilities(object, latent))
  to_response(object, engine_lik_predict(object, seen_mean(object, latent), latent$var)$mean)
}

# Of what each component is, what a response is: all of it, or the first of mean and spread.
answered <- function(object, values) if (codec_of(object)$several) values else values[, 1L]

# The response at the median of the latent function: their order is the same.
median_response <- function(object, latent, shift = 0) {
  to_response(object, engine_lik_eval(object, seen_mean(object, latent) + shift)$mean)
}

# What type = says of the rows, without an interval.
centre_answer <- function(object, latent, type) {
  switch(type,
         link = to_link(object, latent$mean, latent$offset),
         latent = to_latent(object, latent$mean, latent$offset),
         median = median_response(object, latent),
         mean_response(object, latent))
}

# Mean and standard deviation of the responses of the rows of `latent`, one latent function, as the
# user sees them, of several components in matrices; a weight is theirs.
response_moments <- function(object, latent) {
  if (codec_of(object)$several) {
    return(list(mean = vector_means(object, latent),
                sd = vector_spread(object, latent, noise_of_rows(object))))
  }
  if (width(object) > 1L) {
    total <- matrix(engine_lik_predict(object, latent$mean, latent$var)$var, width(object)^2)[1L, ]
    return(list(mean = mean_response(object, latent), sd = sqrt(total) * object$response$unit))
  }
  seen <- seen_mean(object, latent)
  predicted <- engine_lik_predict(object, seen, latent$var)
  if (!is.null(object$power)) {
    mean <- to_response(object, predicted$mean)
    return(list(mean = mean, sd = sqrt(mean * (1 - mean))))
  }
  # the last argument is evaluated only where it is asked for
  extra <- lik_traits(object$likelihood)$extra_var(
    lik_values(object), latent$weights,
    predicted$var - engine_lik_predict(object, seen, latent$var, TRUE)$spread
  )
  list(mean = to_response(object, predicted$mean),
       sd = sqrt(predicted$var + extra) * object$response$unit)
}

standard_deviation <- function(object, latent, type) {
  if (width(object) > 1L) return(answered(object, vector_sds(object, latent)))
  # where the response scales with the latent function, its mean is the latent function
  same <- codec_of(object)$scaled
  if (same || type %in% c("link", "latent")) return(sqrt(latent$var) * object$response$unit)
  if (!is.null(object$power)) return(powered_spread(object, latent))
  spread <- engine_lik_predict(object, seen_mean(object, latent), latent$var, TRUE)$spread
  sqrt(spread)
}

class_probabilities <- function(object, latent) {
  if (codec_of(object)$ranked) {
    return(engine_label_probabilities(object, seen_mean(object, latent), latent$var))
  }
  sharpened <- is_tempered(object) && (processes(object) > 1L || !is.null(object$power))
  prob <- if (sharpened) powered(log_scores(object, latent), object$power)
          else normalised(engine_lik_predict(object, seen_mean(object, latent), latent$var)$mean)
  colnames(prob) <- object$response$levels
  prob
}

# May probabilities be raised to a power, as they are of each label against the rest?
is_tempered <- function(object) isTRUE(lik_traits(object$likelihood)$tempered)

# One label's, or of all of them; where all are 0 nobody can tell.
normalised <- function(own) {
  if (!is.matrix(own)) return(cbind(1 - own, own))
  own[rowSums(own) == 0, ] <- 1
  own / rowSums(own)
}

# What a label's probability is proportional to, as a logarithm. Two share a latent function. Of
# more each has its own, and answers "this label?" independently of the others; given that just one
# answer is yes, a label's probability is proportional to the odds of its own.
log_scores <- function(object, latent) {
  own <- engine_lik_predict(object, seen_mean(object, latent), latent$var)$mean
  scores <- if (is.matrix(own)) log(own) - log1p(-own) else log(cbind(1 - own, own))
  scores[] <- pmin(pmax(scores, -MOST_LOG), MOST_LOG)
  scores
}

MOST_LOG <- 745 # a probability below exp(-745) is 0

# Standard deviation, over the posterior of the latent function, of a label's probability to the
# fit's power, by the trapezoid rule.
powered_spread <- function(object, latent) {
  z <- seq(-8, 8, by = 0.5)
  weight <- stats::dnorm(z) / sum(stats::dnorm(z))
  values <- vapply(z, function(z) median_response(object, latent, z * sqrt(latent$var)),
                   numeric(length(latent$mean)))
  values <- matrix(values, ncol = length(z)) # of one row, too
  sqrt(drop((values - drop(values %*% weight))^2 %*% weight))
}

# Labels of the second of two with probability `wanted`, of labels y (-1 and 1) drawn with
# probability `own`: as few of them are turned as can be, so that they go together as they did.
turned_labels <- function(y, own, wanted) {
  turn <- ifelse(y > 0, (own - wanted) / own, (wanted - own) / (1 - own))
  ifelse(stats::runif(length(y)) < turn, -y, y)
}

most_probable <- function(prob, reject = 0, ordered = FALSE) {
  at <- max.col(prob, "first")
  at[prob[cbind(seq_along(at), at)] < reject] <- NA
  factor(colnames(prob)[at], colnames(prob), ordered = ordered)
}

# Calls fun(lik, theta, rows, mean, var, ...) of the engine at responses y, in C's units, under the
# moments of the rows.
of_responses <- function(fun, object, y, latent, ...) {
  weights <- rep_len(weights_or_ones(latent$weights, length(y)), length(y))
  fun(lik_of_fit(object), lik_theta(object), lik_traits(object$likelihood)$data_rows(y, weights),
      tall_values(seen_mean(object, latent)), c(latent$var), ...)
}

# C counts successes, of which a share is a jump.
response_quantile <- function(object, p, latent) {
  jump <- codec_of(object)$jump
  unit <- if (is.null(jump)) 1 else jump(weights_or_ones(latent$weights, 1L))
  y <- numeric(latent_count(latent, width(object)))
  to_response(object, unit * of_responses(engine_lik_quantile, object, y, latent, p))
}

# Quantiles of new responses: a column for each probability.
quantile_answer <- function(object, latent, probs) {
  each <- vapply(probs, response_quantile, numeric(sum(latent$complete)),
                 object = object, latent = latent)
  matrix(each, ncol = length(probs), dimnames = list(NULL, quantile_names(probs)))
}

# As stats::quantile() names them
quantile_names <- function(probs) {
  paste0(formatC(100 * probs, format = "fg", width = 1L, digits = 7L), "%")
}

interval_answer <- function(object, latent, type, interval, level) {
  bound <- function(p) {
    if (interval == "prediction") return(response_quantile(object, p, latent))
    if (width(object) > 1L) {
      return(mean_response(object, latent) + stats::qnorm(p) * standard_deviation(object, latent))
    }
    shift <- stats::qnorm(p) * sqrt(latent$var)
    if (!type %in% c("link", "latent")) return(median_response(object, latent, shift))
    centre_answer(object, replace(latent, "mean", list(latent$mean + shift)), type)
  }
  cbind(fit = centre_answer(object, latent, type), lwr = bound((1 - level) / 2),
        upr = bound((1 + level) / 2))
}

# ---- Without a row's own site ----

# Latent moments at the rows without their own sites
loo_latent <- function(object) {
  object <- checked_rows(object)
  list(mean = object$cavity$mean, var = object$cavity$var, offset = object$offset,
       weights = object$weights)
}

# Leave-one-out log predictive density of each row
lpd_of_rows <- function(object) {
  # the log Z of classes each against the rest is of the indicators of all, not of the class
  other <- !has_evidence(object) || isTRUE(lik_traits(object$likelihood)$as_numbers)
  if (other || !is.null(object$power)) {
    return(label_lpd(loo_probabilities(object), object$y))
  }
  object$cavity$lpd - codec_of(object)$values(object$y) * log(object$response$unit)
}

# log probability of the label of each row
label_lpd <- function(prob, y) log(own_label(prob, y))

# Of columns for labels, each row's own.
own_label <- function(values, y) values[cbind(seq_along(y), as.integer(y))]

loo_probabilities <- function(object) class_probabilities(object, loo_latent(object))

# ---- Back to the rows asked for ----

restore_rows <- function(answer, latent) {
  if (is.list(answer)) return(lapply(answer, restore_rows, latent))
  at <- asked_rows(latent)
  if (!is.matrix(answer)) return(stats::setNames(answer[at], names(at)))
  out <- answer[at, , drop = FALSE]
  rownames(out) <- names(at)
  out
}

# For every row asked for, by name, which of the complete ones it is, or NA.
asked_rows <- function(latent) {
  at <- match(seq_along(latent$complete), which(latent$complete))
  names(at) <- latent$names
  if (is.null(latent$na)) at else stats::napredict(latent$na, at)
}
