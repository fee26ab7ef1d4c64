# The information that a response is expected to give on its latent value f, in C's units: Fisher's,
# E (d log p(y | f) / df)^2. It replaces site precisions, which depend on the response, in
# leverages.

# Returns that of each row at the cavity's mean, NA where there is none to expect.
expected_information <- function(model) {
  f <- seen_mean(model, list(mean = model$cavity$mean, offset = model$offset))
  fisher_information(model, unname(c(f)))
}

fisher_information <- function(model, f) UseMethod("fisher_information", codec_of(model))

INFORMATION_STEP <- 1e-4 # of differences in f, with an error of about 1e-8

# The information of a mean m(f) with variance v(f) is m'^2 / v: exact for one-parameter exponential
# families, a lower bound for others. With excess zeros, whose variance depends little on f, the
# bound would be a tenth of the information.
#' @export
fisher_information.response <- function(model, f) {
  if (lik_traits(model$likelihood)$beyond_moments) return(information_by_quantiles(model, f))
  slope <- slope_of(function(f) engine_lik_eval(model, f, weights = model$weights)$mean, f)
  slope^2 / engine_lik_eval(model, f, weights = model$weights)$var
}

slope_of <- function(answer, f) {
  (answer(f + INFORMATION_STEP) - answer(f - INFORMATION_STEP)) / (2 * INFORMATION_STEP)
}

# A proportion of trials has so many times that of one.
#' @export
fisher_information.response_trials <- function(model, f) model$weights * NextMethod()

# Points that were seen have all the same response.
#' @export
fisher_information.response_seen <- function(model, f) rep(NA_real_, length(f))

# Numbers scatter about f alike wherever it is.
#' @export
fisher_information.response_numbers <- function(model, f) {
  rep(information_by_quantiles(model, 0), length(f))
}

# Returns the mean over quantiles of the response. Of slopes that jump, as under Laplace noise, by
# differences over a step that meets the jump hardly ever. Many are interpolated between a few.
information_by_quantiles <- function(model, f) {
  NODES <- 1001L
  PLACES <- 50L
  if (length(unique(f)) > PLACES) {
    at <- seq(min(f, na.rm = TRUE), max(f, na.rm = TRUE), length.out = PLACES)
    known <- pmax(information_by_quantiles(model, at), .Machine$double.xmin)
    return(exp(stats::splinefun(at, log(known), "natural")(f)))
  }
  latent <- list(mean = f, var = 0 * f, offset = 0 * f)
  squares <- 0
  for (p in (seq_len(NODES) - 0.5) / NODES) {
    y <- of_responses(engine_lik_quantile, model, 0 * f, latent, p)
    rows <- lik_traits(model$likelihood)$data_rows(y, rep(1, length(f)))
    squares <- squares + slope_of(function(f) engine_lik_eval(model, f, rows)$logp, f)^2
  }
  squares / NODES
}

# A row stands for as many counts as its weight.
#' @export
fisher_information.response_counts <- function(model, f) {
  repeats <- if (lik_traits(model$likelihood)$repeated) model$weights else 1
  repeats * fisher_information.response(model, f)
}

# An event has the same information wherever it is; a censored time, or one with an entry, has that
# of its site.
#' @export
fisher_information.response_times <- function(model, f) {
  ifelse(is_event(model$y) & time_entry(model$y) == NO_ENTRY, NextMethod(), NA)
}

# Labels: sum over them of p'^2 / p
#' @export
fisher_information.response_factor <- function(model, f) {
  prob <- function(f) class_probabilities(model, list(mean = f, var = 0 * f, offset = 0))
  slope <- slope_of(prob, f)
  rowSums(ifelse(slope == 0, 0, slope^2 / prob(f)))
}
