# What is expected to be known of the latent functions at some rows once others of them have their
# labels: by this the rows of a batch know of each other. A prospect is
#   fit, x     scaled inputs of all rows, a point for each latent value
#   latent     their moments (fit-information.R) as they are expected to be
#   outlook    what labels tell (fit-information.R), from its first use on
#   known      of each latent function what its covariances are made of
#   gone       of each a matrix: its covariance with the rows is that of the fit less gone gone'
#   roots      of each: B with B B' the curvature of each row that was given a label, in turn
#   aim        of score = "improvement": list(sign, best)

new_prospect <- function(fit, x, latent, aim = NULL) {
  list(fit = fit, x = x, latent = latent, aim = aim, outlook = NULL, known = NULL,
       gone = no_labels(fit, x), roots = rep(list(list()), processes(fit)))
}

no_labels <- function(fit, x) rep(list(matrix(0, NROW(x), 0L)), processes(fit))

# Once the label of a row is known: a rank of w and O(n (d + w k)) for each latent function.
expect_label <- function(prospect, row) {
  fit <- prospect$fit
  w <- n_outputs(fit)
  at <- tall_rows(row, w)
  classes <- seq_len(processes(fit))
  if (is.null(prospect$known)) {
    prospect$known <- lapply(classes, function(class) covariances_with(fit, prospect$x, class))
  }
  if (is.null(prospect$outlook)) prospect$outlook <- outlook_of(fit)
  curvature <- prospect$outlook$curvature(some_latent(prospect$latent, row, w))
  for (class in classes) {
    gone <- prospect$gone[[class]]
    columns <- covariance_columns(prospect$known[[class]], at) -
      tcrossprod(gone, gone[at, , drop = FALSE])
    root <- root_of(curvature[[class]])
    prospect$roots[[class]] <- c(prospect$roots[[class]], list(root))
    less <- columns %*% root
    prospect$gone[[class]] <- cbind(gone, less)
    prospect$latent$var <- reduced(prospect$latent$var, less, class, w)
  }
  prospect$aim <- believed(prospect, row)
  prospect
}

# ---- Other points beside rows that have their labels ----

# Label by label, row j of a point's own `gone` is (C_j - sum over i < j of gone_i G_ji') B_j, with
# C the covariances of the fit between the point and the labelled rows, and G the rows' own `gone`.
# So gone (I + U) = C B, where U has the blocks G_ji' B_j above its diagonal.
with_solver <- function(prospect) {
  w <- n_outputs(prospect$fit)
  prospect$solver <- Map(function(gone, roots) {
    B <- matrix(0, nrow(gone), nrow(gone))
    for (j in seq_along(roots)) B[tall_rows(j, w), tall_rows(j, w)] <- roots[[j]]
    block <- rows_of_points(seq_len(nrow(gone)), w)
    before <- outer(block, block, ">") * gone
    list(B = B, lower = diag(nrow(gone)) + t(B) %*% before)
  }, prospect$gone, prospect$roots)
  prospect
}

# The prospect of other points, given the labels of the rows of `before`, which has its solver or no
# rows.
beside <- function(before, given) {
  fit <- before$fit
  after <- new_prospect(fit, given$x, given$latent, before$aim)
  after$outlook <- before$outlook
  own <- seq_len(NROW(before$x))
  for (class in seq_along(before$solver)) {
    solver <- before$solver[[class]]
    known <- covariances_with(fit, rbind(before$x, given$x), class)
    columns <- covariance_columns(known, own)[-own, , drop = FALSE]
    gone <- t(forwardsolve(solver$lower, t(columns %*% solver$B)))
    after$latent$var <- reduced(after$latent$var, gone, class, n_outputs(fit))
  }
  after
}

# The aim once a row has come out at its mean.
believed <- function(prospect, row) {
  aim <- prospect$aim
  if (is.null(aim)) return(NULL)
  mean <- improved_mean(prospect$fit, some_latent(prospect$latent, row, 1L))
  aim$best <- aim$sign * max(aim$sign * c(aim$best, mean))
  aim
}

# B with B B' = A, of a small matrix that may be singular.
root_of <- function(A) {
  parts <- eigen(A, symmetric = TRUE)
  parts$vectors %*% diag(sqrt(pmax(parts$values, 0)), nrow(A))
}

# Variances, or blocks of them, less those of less less'; of a variance a rounding unit stays.
reduced <- function(var, less, class, w) {
  keep <- function(before, gone) pmax(before - gone, .Machine$double.eps * before)
  if (is.matrix(var)) {
    var[, class] <- keep(var[, class], rowSums(less^2))
    return(var)
  }
  if (w == 1L) return(keep(var, rowSums(less^2)))
  blocks <- matrix(var, w * w)
  component <- function(a) less[seq(a, nrow(less), by = w), , drop = FALSE]
  for (a in seq_len(w)) {
    for (b in seq_len(w)) {
      at <- a + w * (b - 1L)
      gone <- rowSums(component(a) * component(b))
      blocks[at, ] <- if (a == b) keep(blocks[at, ], gone) else blocks[at, ] - gone
    }
  }
  c(blocks)
}

# Scores of some rows.
scores_of <- function(prospect, score, rows) {
  fit <- prospect$fit
  latent <- some_latent(prospect$latent, rows, n_outputs(fit))
  switch(score,
         variance = latent_variance(fit, latent),
         improvement = expected_improvement(fit, latent, prospect$aim),
         entropy = prospect$outlook$entropy(latent) + log_unit(fit),
         information = prospect$outlook$information(latent))
}

# In the user's units, summed over latent values.
latent_variance <- function(fit, latent) UseMethod("latent_variance", codec_of(fit))

#' @export
latent_variance.response <- function(fit, latent) {
  rowSums(as.matrix(latent$var)) * fit$response$unit^2
}

#' @export
latent_variance.response_components <- function(fit, latent) {
  vars <- component_vars(latent$var, components(fit))
  rowSums(sweep(vars, 2L, component_units(fit$response)^2, "*"))
}

# ---- Improvement ----

# The latent function plus bias, as users see it: its order is that of the mean response.
improved_mean <- function(fit, latent) to_link(fit, latent$mean, latent$offset)

# log E max(sign (f - best), 0) for f ~ N(mean, sd^2).
expected_improvement <- function(fit, latent, aim) {
  sd <- sqrt(latent$var) * fit$response$unit
  gap <- aim$sign * (improved_mean(fit, latent) - aim$best)
  ifelse(sd > 0, log(sd) + log_excess(gap / sd), log(pmax(gap, 0)))
}

# log(phi(z) + z Phi(z)). Below 0 the terms cancel: there it is log phi(z) and the logarithm of
# 1 - |z| R(|z|), R the Mills ratio, far below by its continued fraction 1 / (z^2 + 3 - 6 / ...).
log_excess <- function(z) {
  FAR <- -25
  phi <- stats::dnorm(z, log = TRUE)
  out <- phi - log(z^2 + 3 - 6 / (z^2 + 7 - 20 / (z^2 + 11)))
  near <- which(z > FAR & z <= 0)
  ratio <- exp(stats::pnorm(z[near], log.p = TRUE) - phi[near])
  out[near] <- phi[near] + log1p(z[near] * ratio)
  above <- which(z > 0)
  out[above] <- log(exp(phi[above]) + z[above] * stats::pnorm(z[above]))
  out
}

# The best predicted mean of the rows a fit has, else of its basis.
best_mean <- function(fit, sign) {
  latent <- if (has_rows(fit)) training_moments(fit)
            else c(engine_predict(fit, fit$posterior$basis), offset = 0)
  sign * max(sign * improved_mean(fit, latent))
}

training_moments <- function(fit) c(fit$latent[c("mean", "var")], list(offset = fit$offset))

# ---- Taking rows ----

# The best of the rows `open` (a flag for each row), then the best given its label, and so on.
# Scores fall as other rows are taken, so that a row's last one bounds it, and few need be computed
# anew (lazy evaluation). Of rows that are alike to 1e-10 the first is taken. cost: of each row, or
# NULL. first: every row's score for itself.
take_in_turn <- function(prospect, score, k, open, cost) {
  rate <- function(rows) per_cost(scores_of(prospect, score, rows), score, cost[rows])
  values <- rep(NA_real_, length(open))
  values[open] <- rate(which(open))
  first <- values
  taken <- integer()
  gain <- numeric()
  for (j in seq_len(k)) {
    if (j > 1L) values <- renewed(values, rate)
    taken[j] <- which(values >= nearly(max(values, na.rm = TRUE)))[1L]
    gain[j] <- values[taken[j]]
    values[taken[j]] <- NA
    if (j < k) prospect <- expect_label(prospect, taken[j])
  }
  list(rows = taken, gain = gain, first = first)
}

nearly <- function(best) if (is.finite(best)) best - 1e-10 * abs(best) else best

# Bounds made values, from the largest on, until one is no less than all that are left.
renewed <- function(values, rate) {
  CHUNK <- 64L
  stale <- !is.na(values)
  repeat {
    fresh <- max(values[!stale], -Inf, na.rm = TRUE)
    left <- which(stale & values >= nearly(fresh))
    if (length(left) == 0L) return(values)
    some <- utils::head(left[order(-values[left])], CHUNK)
    values[some] <- rate(some)
    stale[some] <- FALSE
  }
}

# Gain for each unit of cost; of improvement, which is a logarithm, too.
per_cost <- function(values, score, cost) {
  if (is.null(cost)) values else if (score == "improvement") values - log(cost) else values / cost
}
