# One walk over what a fit answers: do its answers agree? By public functions alone, for the tests
# (test-agree.R) and for tools/zoo.R, which applies it to the fits of its sample.

# Half of the content of a 95 % interval is beyond neither end by more than this many standard
# deviations, whatever the distribution: P(X > mean + k sd) <= 1 / (1 + k^2).
CANTELLI <- sqrt(1 / 0.025 - 1)

# What fits have refused since the last look, in words, for tests to compare with what they should.
AGREE_LOG <- new.env()
AGREE_LOG$refused <- character()

# Returns an answer, or NULL where the fit refuses: does not offer this beside this type. What it
# says is no matter here, but that it refuses is noted.
asked_of <- function(fit, new, type, ...) {
  tryCatch(suppressMessages(suppressWarnings(predict(fit, new, type = type, ...))),
           sparsegp_error = function(e) note_refusal(type, ...))
}

note_refusal <- function(what, ...) {
  given <- list(...)
  more <- c(given$interval, setdiff(names(given), c("interval", "at")))
  AGREE_LOG$refused <- union(AGREE_LOG$refused, paste(c(what, more), collapse = "+"))
  NULL
}

# Returns in words what was refused that should not be, and what was answered that was refused.
unexpected_refusals <- function(expected) {
  found <- AGREE_LOG$refused
  c(paste("refuses", setdiff(found, expected), recycle0 = TRUE),
    paste("no longer refuses", setdiff(expected, found), recycle0 = TRUE))
}

# Answers without names, so that they compare.
bare <- function(x) {
  dimnames(x) <- NULL
  unname(x)
}

# How far two answers are from each other, in units of `scale`; where both are infinite, or both not
# there, they are the same.
apart <- function(a, b, scale = 1) {
  a <- as.double(a)
  b <- as.double(b)
  if (length(a) != length(b)) return(Inf)
  same <- a == b | is.na(a) & is.na(b)
  size <- rep_len(as.double(scale), length(a))
  worst <- ifelse(same %in% TRUE, 0, abs(a - b) / size)
  if (anyNA(worst)) Inf else max(worst, 0)
}

# The scale on which answers of a type are compared: their size.
magnitude_of <- function(...) {
  all <- abs(as.double(c(...)))
  max(all[is.finite(all)], 1e-300)
}

AGREE_TYPES <- c("response", "link", "latent", "median")

# ---- The checks: each returns, in words, what does not agree ----

# Standard errors, covariances and intervals leave the prediction as it is, and agree with each
# other. ROUNDING: sums of products of some hundred numbers, of which the joint ones are in another
# order.
spreads_agree <- function(fit, new, type) {
  ROUNDING <- 1e-6
  plain <- asked_of(fit, new, type)
  if (is.null(plain)) return(NULL)
  size <- magnitude_of(plain)
  with_se <- asked_of(fit, new, type, se.fit = TRUE)
  joint <- asked_of(fit, new, type, se.fit = TRUE, covariance = TRUE)
  flaws <- c(
    if (!is.null(with_se) && apart(with_se$fit, plain, size) > 1e-10) "se.fit changes the fit",
    if (!is.null(joint) && apart(joint$fit, plain, size) > 1e-10) "covariance changes the fit"
  )
  if (!is.null(with_se) && any(with_se$se.fit < 0 | is.nan(with_se$se.fit), na.rm = TRUE)) {
    flaws <- c(flaws, "se.fit is no standard deviation")
  }
  if (!is.null(joint) && is.matrix(joint$covariance)) {
    own <- sqrt(diag(joint$covariance))
    least <- min(eigen(joint$covariance, TRUE, TRUE)$values)
    flaws <- c(flaws,
      if (apart(own, joint$se.fit, magnitude_of(own)) > ROUNDING) {
        paste("the covariance's diagonal is not se.fit squared:",
              toString(signif(c(own[1L], joint$se.fit[1L]), 4L)))
      },
      if (least < -ROUNDING * max(diag(joint$covariance))) "the covariance is none"
    )
  }
  for (interval in c("confidence", "prediction")) {
    flaws <- c(flaws, interval_agrees(fit, new, type, interval, plain, with_se$se.fit))
  }
  if (length(flaws)) paste0(type, ": ", flaws)
}

# Moves an array's second dimension, the ends of intervals, to columns of a matrix.
ends_of <- function(found) {
  if (length(dim(found)) == 2L) return(bare(found))
  bare(matrix(aperm(found, c(1L, 3L, 2L)), ncol = 3L))
}

# Is a point prediction within its interval? jump: by how much a mean may be outside of the
# quantiles of responses that are whole numbers.
interval_agrees <- function(fit, new, type, interval, plain, se) {
  found <- asked_of(fit, new, type, interval = interval)
  if (is.null(found)) return(NULL)
  at <- ends_of(found)
  slack <- 1e-6 * (abs(at[, 1L]) + abs(at[, 3L] - at[, 2L])) + may_be_outside(at)
  outside <- at[, 1L] < at[, 2L] - slack | at[, 1L] > at[, 3L] + slack
  if (interval == "prediction") outside <- outside & !is_whole(at[, 2:3])
  flaws <- c(
    if (apart(at[, 1L], plain, magnitude_of(plain)) > 1e-10) "changes the fit",
    if (anyNA(at) && !anyNA(plain)) "has missing ends",
    if (any(at[, 2L] > at[, 3L], na.rm = TRUE)) "ends are out of order",
    if (any(outside, na.rm = TRUE)) {
      paste("is without its", type, "in", sum(outside, na.rm = TRUE), "rows, as",
            toString(signif(at[which(outside)[1L], ], 4L)))
    }
  )
  # the se.fit of a median is no root of a variance
  if (interval == "confidence" && !is.null(se) && !is_a_median(fit, new, type, plain)) {
    far <- pmax(at[, 3L] - at[, 1L], at[, 1L] - at[, 2L]) > CANTELLI * as.double(se) + slack
    if (any(far, na.rm = TRUE)) {
      worst <- which(far)[1L]
      flaws <- c(flaws, paste("is wider than any with its se.fit, as",
                              toString(signif(c(at[worst, ], se[worst]), 4L))))
    }
  }
  if (length(flaws)) paste(interval, "interval", flaws)
}

# Means of probabilities and proportions may be outside of their central 95 % by half of the rest,
# as those of a small chance of a large one are: E p <= q + .025 (1 - q) with q the quantile of
# .975.
may_be_outside <- function(at) {
  bounded <- all(at >= 0 & at <= 1, na.rm = TRUE)
  if (bounded) 0.025 else 0
}

is_a_median <- function(fit, new, type, plain) {
  type == "response" && apart(plain, asked_of(fit, new, "median"), magnitude_of(plain)) < 1e-10
}

# Are both ends whole numbers, or shares of a few trials, as quantiles of counts are?
is_whole <- function(ends) rowSums(abs(ends * 2520 - round(ends * 2520)) < 1e-6) == 2L

# Quantiles, probabilities, survival and classes agree with what else they say something of.
others_agree <- function(fit, new) {
  flaws <- character()
  prediction <- asked_of(fit, new, "response", interval = "prediction")
  quantiles <- asked_of(fit, new, "quantile", at = c(0.025, 0.5, 0.975))
  if (!is.null(prediction) && !is.null(quantiles)) {
    ends <- ends_of(prediction)
    own <- ends_of(quantiles)
    if (apart(own[, c(1L, 3L)], ends[, 2:3], magnitude_of(ends)) > 1e-8) {
      flaws <- c(flaws, "quantiles are not the ends of prediction intervals")
    }
    if (any(own[, 2L] < own[, 1L] | own[, 2L] > own[, 3L], na.rm = TRUE)) {
      flaws <- c(flaws, "quantiles are out of order")
    }
  }
  prob <- asked_of(fit, new, "prob")
  if (!is.null(prob)) flaws <- c(flaws, labels_agree(fit, new, prob))
  middle <- if (!is.null(quantiles) && length(dim(quantiles)) == 2L) quantiles[, 2L]
  for (row in seq_along(middle)) {
    left <- if (is.finite(middle[row]) && middle[row] > 0) {
      asked_of(fit, new[row, , drop = FALSE], "survival", at = middle[row])
    }
    if (is.null(left)) next
    if (abs(left - 0.5) > 1e-5) flaws <- c(flaws, "survival is not half at the median time")
  }
  unique(flaws)
}

labels_agree <- function(fit, new, prob) {
  class <- asked_of(fit, new, "class")
  most <- colnames(prob)[max.col(prob, "first")]
  response <- asked_of(fit, new, "response")
  c(if (apart(rowSums(prob), rep(1, nrow(prob))) > 1e-8) "probabilities do not add up to one",
    if (!identical(as.character(class), most)) "classes are not the most probable ones",
    if (ncol(prob) == 2L && is.null(dim(response)) && !is.ordered(class) &&
          apart(prob[, 2L], response) > 1e-10) "response is not the second probability",
    if (is.matrix(response) && apart(prob, response) > 1e-10) "response is not the probabilities")
}

# Predictions of a row are the same alone, and among others in any order. ROUNDING: matrix products
# of another size.
rows_agree <- function(fit, new, type, ...) {
  ROUNDING <- 1e-7
  all <- asked_of(fit, new, type, ...)
  if (is.null(all)) return(NULL)
  back <- rev(seq_len(nrow(new)))
  turned <- answer_rows(asked_of(fit, new[back, , drop = FALSE], type, ...), back)
  one <- asked_of(fit, new[nrow(new), , drop = FALSE], type, ...)
  c(if (apart(turned, answer_rows(all), magnitude_of(all)) > ROUNDING) {
      paste(type, "depends on the order of the rows")
    },
    if (apart(one, answer_rows(all, nrow(new)), magnitude_of(all)) > ROUNDING) {
      paste(type, "of a row depends on other rows")
    })
}

answer_rows <- function(x, rows = NULL) {
  if (is.null(rows)) return(x)
  if (is.null(dim(x))) x[rows]
  else if (is.matrix(x)) x[rows, , drop = FALSE]
  else x[rows, , , drop = FALSE]
}

# Draws lie in intervals as often as these say. `draws` of each row: the share of them differs by
# six standard errors of a share where it is wrong.
draws_agree <- function(fit, new, n = 400L) {
  flaws <- character()
  most <- 6 * sqrt(0.025 * 0.975 / n)
  for (type in c("link", "latent", "response")) {
    interval <- asked_of(fit, new, type, interval = "confidence")
    if (is.null(interval)) next
    drawn <- tryCatch(suppressMessages(draws(fit, new, n, type = type)),
                      sparsegp_error = function(e) note_refusal(paste("draws of", type)))
    if (is.null(drawn)) next
    flaws <- c(flaws, shares_agree(drawn, interval, most, paste("draws of type", type)))
  }
  prediction <- asked_of(fit, new, "response", interval = "prediction")
  simulated <- if (!is.null(prediction)) {
    tryCatch(as.matrix(suppressWarnings(simulate(fit, n, newdata = new))),
             sparsegp_error = function(e) note_refusal("simulate"))
  }
  of_rows <- is.numeric(simulated) && identical(dim(simulated), c(nrow(new), as.integer(n)))
  if (!of_rows || length(dim(prediction)) != 2L) return(flaws)
  c(flaws, shares_agree(simulated, prediction, most, "simulated responses"))
}

# Counts may be at the ends: below and above are fewer then.
shares_agree <- function(drawn, interval, most, called) {
  at <- ends_of(interval)
  drawn <- if (length(dim(drawn)) == 3L) matrix(aperm(drawn, c(1L, 3L, 2L)), ncol = dim(drawn)[2L])
           else drawn
  slack <- 1e-9 * magnitude_of(at)
  below <- rowMeans(drawn < at[, 2L] - slack)
  above <- rowMeans(drawn > at[, 3L] + slack)
  wide <- at[, 3L] - at[, 2L] > 1e-7 * magnitude_of(at[, 1L]) # else rounding decides
  strict <- !is_whole(at[, 2:3])
  wrong <- wide & (pmax(below, above) > 0.025 + most | strict & pmin(below, above) < 0.025 - most)
  if (any(wrong, na.rm = TRUE)) {
    row <- which(wrong)[1L]
    paste(called, "are out of their interval: shares", toString(signif(c(below[row], above[row]),
                                                                       3L)))
  }
}

# Fitted values are predictions of the fit's own rows, and so are augment()'s; residuals are what is
# left. y: the response of these rows, if it is one number.
own_rows_agree <- function(fit, rows, y = NULL) {
  own <- predict(fit)
  again <- asked_of(fit, rows, "response")
  left <- tryCatch(residuals(fit), sparsegp_error = function(e) note_refusal("residuals"))
  augmented <- if (requireNamespace("generics", quietly = TRUE)) {
    tryCatch(generics::augment(fit), sparsegp_error = function(e) note_refusal("augment"))
  }
  size <- magnitude_of(own)
  c(if (apart(fitted(fit), own, size) > 0) "fitted() is not predict()",
    # sites are kept in few digits, and the rows' own moments are theirs
    if (apart(again, own, size) > 1e-5) "predictions of the fit's rows given anew are others",
    if (!is.null(augmented$.fitted) && apart(augmented$.fitted, own, size) > 0) {
      "augment() has other fitted values"
    },
    if (!is.null(y) && !is.null(left) && apart(y - own, left, magnitude_of(y, own)) > 1e-10) {
      "residuals are not the response less the fitted values"
    })
}

# What other packages say, where they are installed.
packages_agree <- function(fit, new) {
  flaws <- character()
  if (requireNamespace("insight", quietly = TRUE)) {
    found <- tryCatch(suppressWarnings(insight::get_predicted(fit, new)),
                      sparsegp_error = function(e) NULL, error = conditionMessage)
    wanted <- asked_of(fit, new, "response", interval = "confidence")
    numbers <- codec_of(fit)$task == "regression" && n_outputs(fit) == 1L # else it may be refused
    if (is.null(found) && !numbers) return(flaws)
    if (!is.null(wanted) && length(dim(wanted)) == 2L && apart(found, wanted[, "fit"]) > 0) {
      flaws <- c(flaws, "insight has other predictions")
    }
  }
  flaws
}

# ---- The walk ----

# Returns, in words, all that does not agree. new: data frame of rows to predict. rows, y: the rows
# of the fit, and their response if it is one number.
disagreements <- function(fit, new, rows = NULL, y = NULL, draws = 400L) {
  own <- unlist(lapply(AGREE_TYPES, function(type) spreads_agree(fit, new, type)))
  c(own, others_agree(fit, new), rows_agree(fit, new, "response"),
    rows_agree(fit, new, "response", interval = "confidence"), rows_agree(fit, new, "link"),
    if (draws > 0L) draws_agree(fit, new, draws), if (!is.null(rows)) own_rows_agree(fit, rows, y),
    packages_agree(fit, new))
}

# The part of it that takes few calls of predict(), for tools/zoo.R.
few_disagreements <- function(fit, new) {
  c(spreads_agree(fit, new, "response"), spreads_agree(fit, new, "link"), others_agree(fit, new),
    rows_agree(fit, new, "response"))
}
