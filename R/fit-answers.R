# From latent moments in C's units to what a user asked for, and back to the rows asked for.

# Latent values in C's units, and the mean response at them, as the user sees them.
to_latent <- function(object, f, offset) f * object$response$unit + object$response$centre + offset

# A mean response as the user sees it. Labels, and numbers that do not scale, have unit 1.
to_response <- function(object, mean) mean * object$response$unit + object$response$centre

# What the likelihood sees: the latent function and its offset, in C's units.
seen_mean <- function(object, latent) latent$mean + latent$offset / object$response$unit

mean_response <- function(object, latent) {
  if (processes(object) > 1L) return(class_probabilities(object, latent))
  to_response(object, engine_lik_predict(object, seen_mean(object, latent), latent$var)$mean)
}

standard_deviation <- function(object, latent, type) {
  # where the response scales with the latent function, its mean is the latent function
  same <- codec_of(object)$scaled
  if (same || type == "latent") return(sqrt(latent$var) * object$response$unit)
  spread <- engine_lik_predict(object, seen_mean(object, latent), latent$var, TRUE)$spread
  sqrt(spread)
}

class_probabilities <- function(object, latent) {
  seen <- seen_mean(object, latent)
  if (codec_of(object)$ranked) return(engine_label_probabilities(object, seen, latent$var))
  own <- engine_lik_predict(object, seen, latent$var)$mean
  # of classes against the rest they do not sum to 1 by themselves; where all are 0 nobody can tell
  if (is.matrix(own)) own[rowSums(own) == 0, ] <- 1
  prob <- if (is.matrix(own)) own / rowSums(own) else cbind(1 - own, own)
  colnames(prob) <- object$response$levels
  prob
}

most_probable <- function(prob, reject = 0, ordered = FALSE) {
  at <- max.col(prob, "first")
  at[prob[cbind(seq_along(at), at)] < reject] <- NA
  factor(colnames(prob)[at], colnames(prob), ordered = ordered)
}

response_quantile <- function(object, p, latent) {
  to_response(object, lik_traits(object$likelihood)$quantile(
    p, seen_mean(object, latent), latent$var, lik_values(object), latent$weights
  ))
}

interval_answer <- function(object, latent, type, interval, level) {
  tails <- c(lwr = (1 - level) / 2, upr = (1 + level) / 2)
  sd <- sqrt(latent$var)
  seen <- seen_mean(object, latent)
  bound <- function(p) {
    if (interval == "prediction") return(response_quantile(object, p, latent))
    f <- stats::qnorm(p) * sd
    if (type == "latent") return(to_latent(object, latent$mean + f, latent$offset))
    to_response(object, engine_lik_eval(object, seen + f)$mean)
  }
  fit <- if (type == "latent") to_latent(object, latent$mean, latent$offset)
         else mean_response(object, latent)
  cbind(fit = fit, lwr = bound(tails[["lwr"]]), upr = bound(tails[["upr"]]))
}

# ---- Without a row's own site ----

# Latent moments at the rows without their own sites
loo_latent <- function(object) {
  list(mean = object$cavity$mean, var = object$cavity$var, offset = object$offset,
       weights = object$weights)
}

loo_probabilities <- function(object) class_probabilities(object, loo_latent(object))

# ---- Back to the rows asked for ----

restore_rows <- function(answer, latent) {
  if (is.list(answer)) return(lapply(answer, restore_rows, latent))
  at <- match(seq_along(latent$complete), which(latent$complete))
  if (is.matrix(answer)) {
    out <- answer[at, , drop = FALSE]
    rownames(out) <- latent$names
  } else {
    out <- stats::setNames(answer[at], latent$names)
  }
  if (is.null(latent$na)) out else stats::napredict(latent$na, out)
}
