# Scores of one fit of one data set, ours or a peer's: bench/zoo_fit.R and bench/shifted.R source
# it, with bench/zoo_sets.R and bench/zoo_peers.R. keep(part, values) takes what a fit has found, as
# bench/zoo_fit.R says.

LEAST <- 1e-6 # a probability that is lower counts as this, of whomever

# The value of `run()` and its CPU seconds.
timed <- function(run) {
  took <- system.time(value <- run())
  list(value = value, seconds = sum(took[1:2]))
}

# ---- Scores of the test observations ----

# `mixture` is a peer's answer; shift: the log Jacobian of each response.
number_scores <- function(mixture, y, mean, shift = 0) {
  z <- (y - mixture$mean) / mixture$sd
  log_each <- stats::dnorm(z, log = TRUE) - log(mixture$sd)
  top <- apply(log_each, 1L, max)
  below <- rowMeans(stats::pnorm(z))
  list(density = top + log(rowMeans(exp(log_each - top))) + shift, mean = mean,
       inside = below > 0.05 & below < 0.95)
}

label_scores <- function(prob, y) {
  prob <- pmax(prob[, levels(y), drop = FALSE], LEAST)
  prob <- prob / rowSums(prob)
  list(density = own_log(prob, y), wrong = max.col(prob, "first") != as.integer(y))
}

# ---- Peers ----

MOST_HELD <- 1500L # observations with which peers without folds choose the response's scale

# Mean log density of a third of the observations that a fit of the others has not seen.
# jacobian: TRUE if `y` are logarithms, and the density is that of their exponentials.
held_density <- function(peer, x, y, jacobian = FALSE) {
  rows <- utils::head(cbind(x, .y = y), MOST_HELD)
  is_held <- seq_len(nrow(rows)) %% 3L == 0L
  learned <- droplevels(rows[!is_held, ])
  held <- without_new_levels(rows[is_held, ], learned)
  inputs <- names(x)
  made <- peer(learned[inputs], learned$.y, held[inputs])
  mean(number_scores(made, held$.y, NULL)$density) - if (jacobian) mean(held$.y) else 0
}

number_peer <- function(peer, d, keep) {
  answer <- timed(function() peer(d$x, d$y, d$new))
  made <- answer$value
  keep("plain", c(number_scores(made, d$new_y, rowMeans(made$mean)), seconds = answer$seconds,
                  held = made$held))
  if (all(d$y > 0)) logged_peer(peer, d, keep, is.null(made$held))
}

# The same of the response's logarithm; without_folds: does the peer hold nothing out by itself?
logged_peer <- function(peer, d, keep, without_folds) {
  log_y <- log(d$y)
  answer <- timed(function() peer(d$x, log_y, d$new))
  made <- answer$value
  if (without_folds) keep("plain", list(held = held_density(peer, d$x, d$y)))
  held <- if (without_folds) held_density(peer, d$x, log_y, TRUE) else made$held - mean(log_y)
  new_y <- pmax(d$new_y, min(d$y)) # the peer has no density below 0
  keep("log", c(number_scores(made, log(new_y), rowMeans(exp(made$mean + made$sd^2 / 2)),
                              -log(new_y)), seconds = answer$seconds, held = held))
}

label_peer <- function(peer, d, keep) {
  answer <- timed(function() peer(d$x, d$y, d$new))
  keep("plain", c(label_scores(answer$value, d$new_y), seconds = answer$seconds))
}

# ---- Ours ----

our_numbers <- function(fit, test, y) {
  quantiles <- predict(fit, test, type = "quantile", at = QUANTILES)
  edges <- predict(fit, test, type = "quantile", at = c(0.05, 0.95))
  list(density = quantile_density(quantiles, y), inside = y > edges[, 1L] & y < edges[, 2L])
}

ours <- function(set, keep) {
  environment(set$formula) <- globalenv() # a user's has no data in it
  numbers <- set$kind == "number"
  said <- character()
  answer <- timed(function() {
    withCallingHandlers({
      fit <- sparsegp(set$formula, set$train)
      list(fit = fit, new = predict(fit, set$test, type = if (numbers) "response" else "prob"))
    }, message = function(m) said <<- c(said, conditionMessage(m)),
    warning = function(w) said <<- c(said, conditionMessage(w)))
  })
  fit <- answer$value$fit
  y <- set$test[[set$response]]
  scores <- if (numbers) c(our_numbers(fit, set$test, y), list(mean = answer$value$new))
            else label_scores(answer$value$new, y)
  keep("plain", c(scores, list(seconds = answer$seconds, said = unique(said),
                               size = length(serialize(fit, NULL, xdr = FALSE)),
                               printed = utils::capture.output(print(fit)))))
}

# The scores of a set, list(kind, formula, response, train, test), by "ours" or a name of PEERS.
score_set <- function(set, who, keep) {
  if (who == "ours") return(ours(set, keep))
  inputs <- setdiff(names(set$train), set$response)
  d <- list(x = set$train[inputs], y = set$train[[set$response]], new = set$test[inputs],
            new_y = set$test[[set$response]])
  peer <- PEERS[[set$kind]][[who]]
  suppressMessages(if (set$kind == "number") number_peer(peer, d, keep)
                   else label_peer(peer, d, keep))
}
