# What a fit says of itself.

#' @export
print.sparsegp <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  x <- ready(x)
  print_head(x)
  cat("\nHyperparameters:\n")
  print(coef(x), digits = digits)
  print_noise(noise_sds(x), digits)
  if (has_evidence(x)) {
    cat("\nLog evidence ", format(x$log_evidence, digits = digits + 2L), "\n", sep = "")
  }
  print_convergence(x)
  invisible(x)
}

#' @export
print.sparsegp_waiting <- function(x, ...) {
  if (can_begin(x$stream)) {
    print.sparsegp(ready(x), ...)
    return(invisible(x))
  }
  cat("Gaussian process by ", x$method$label, ": ", counted(chunk_size(x$stream$waiting), "row"),
      " so far, too few to begin\n", sep = "")
  invisible(x)
}

print_noise <- function(noise_sd, digits) {
  if (is.null(noise_sd)) return(invisible())
  text <- paste(names(noise_sd), format(noise_sd, digits = digits)) # names are components
  cat("Standard deviation of the noise: ", toString(trimws(text)), "\n", sep = "")
}

print_head <- function(x) {
  codec <- codec_of(x)
  cat("Gaussian-process ", codec$task, " by ", made_by(x), "\n", sep = "")
  if (!is.null(x$terms)) cat("  ", deparse1(stats::formula(x$terms)), "\n", sep = "")
  cat("  ", counted(nobs(x), "row"), ", ", counted(sum(x$scaling$kept), "input"), "; ",
      lik_label(x$likelihood), " likelihood; kernel ", format(x$kernel), "\n", sep = "")
  response <- codec$words(x$response)
  if (!is.null(response)) cat("  ", response, "\n", sep = "")
  if (!is.null(mode_words(x))) cat("  ", mode_words(x), "\n", sep = "")
  print_choices(x)
  if (anyNA(x$y)) cat("  ", codec$absent, ": ", sum(is.na(x$y)), "\n", sep = "")
  if (length(x$scaling$dropped)) {
    cat("  constant inputs kept out: ", toString(x$scaling$dropped), "\n", sep = "")
  }
  if (x$scaling$alike && nobs(x) > 1L) cat("  no input varies: the fit is a constant
")
  print_source(x$source)
  print_merged(x$merged)
  omitted <- if (is_stream(x)) x$stream$omitted
             else if (!is.null(x$source)) x$source$omitted else length(x$na.action)
  if (omitted > 0) cat("  rows with missing values left out: ", omitted, "\n", sep = "")
  if (inherits(x, "sparsegp_waiting")) {
    cat("  provisional until ", x$stream$pilot, " rows have come\n", sep = "")
  }
}

# Of rows that were read in chunks
print_source <- function(source) {
  if (is.null(source)) return(invisible())
  cat("  rows of ", source$label, ", ", counted(source$chunks, "chunk"),
      if (!is.null(source$kept)) paste0("; basis chosen on ", counted(source$kept, "row")), "\n",
      sep = "")
}

print_merged <- function(merged) {
  if (is.null(merged)) return(invisible())
  cat("  ", merged$fits, " fits merged",
      if (merged$kl_lost > 0) paste0("; ", signif(merged$kl_lost, 3L), " nats lost by projection"),
      "\n", sep = "")
}

made_by <- function(x) {
  if (every_row_in_basis(x)) return("full EP")
  paste(x$options$label, "on a basis of", counted(nrow(basis_points_of(x)), "point"))
}
