# The alternatives that a fit's race for structure compared and left, for average() of one fit.

# Returns a fit and those of its alternatives that came close, each fitted to all of its rows: a
# named list. frame: where the fit's call is evaluated
raced_fits <- function(fit, frame) {
  fit <- with_rows(fit, "...")
  refuse_if(isTRUE(fit$grown),
            "...", "was extended by update(), and its call does not include the added rows",
            "Fit all rows at once, or give two fits or more")
  tried <- raced_structures(fit)
  refuse_if(NROW(tried) == 0L,
            "...", "is one fit that compared no structures, as if `kernel` or `structure` is given",
            "Give two fits or more: average(fit, update(fit, kernel = kernel_matern32()))")
  close <- close_structures(fit, tried)
  if (length(close) == 0L) {
    message("No other candidate was close to the fit, so the average contains the fit alone.")
  }
  c(list(fit = fit), lapply(close, fit_of_structure, fit = fit, frame = frame))
}

# Returns the rows of its choices that settle the model, with their fields: of candidates that were
# compared twice the last. The kernel taken is the one that the fit has: of labels a rougher one
# than the race preferred (strategy-roughness.R).
raced_structures <- function(fit) {
  at <- which(fit$choices$stage %in% MODEL_STAGES & length(fit$choice_fields))
  tried <- fit$choices[at, ]
  tried$fields <- fit$choice_fields[at]
  tried <- tried[!duplicated(tried[c("stage", "candidate")], fromLast = TRUE), ]
  if ("roughness" %in% fit$choices$stage) {
    of_kernel <- tried$stage == "kernel"
    tried$taken[of_kernel] <- vapply(tried$fields[of_kernel], function(fields) {
      identical(fields$kernel, fit$kernel)
    }, NA)
  }
  tried
}

# Returns the structures that differ from that of a fit in one choice and came close to it: a list
# of known structures, the closest first, with names in words.
close_structures <- function(fit, tried = raced_structures(fit)) {
  taken <- tried[tried$taken, ]
  behind <- taken$score[match(tried$stage, taken$stage)] - tried$score
  behind <- behind * fit$n / tried$rows # of all rows
  in_nats <- tried$stage %in% STRUCTURE_STAGES
  at <- which(in_nats & !tried$taken & behind <= policy$averaged_within)
  at <- utils::head(at[order(behind[at])], policy$averaged_alternatives)
  tie <- if (lik_codec(fit$likelihood)$labelled) common_lengthscale(fit$hyper)
  close <- lapply(at, function(k) {
    others <- taken$fields[taken$stage != tried$stage[k]]
    new_known_structure(unlist(c(others, tried$fields[k]), recursive = FALSE), tie)
  })
  stats::setNames(close, paste0(tried$stage[at], ": ", tried$candidate[at], recycle0 = TRUE))
}

# Returns the fit of the same call with another structure, without the warnings and messages on rows
# that the first fit gave.
fit_of_structure <- function(known, fit, frame) {
  call <- call_again(fit)
  call$structure <- known
  made <- suppressMessages(fit_again(call, frame, "...", paste(
    "Call average() where the variables of its call are, or give two fits or more"
  )))
  made$call <- fit$call
  with_rows(made, "...")
}
