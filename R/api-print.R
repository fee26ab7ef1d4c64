# print() of a fit.

#' @export
print.sparsegp <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  x <- ready(x)
  print_head(x)
  cat("\nHyperparameters:\n")
  print(coef(x), digits = digits)
  print_noise(noise_sds(x), digits)
  cat(sprintf("\nL%s\n", substring(evidence_words(x, digits), 2L)), sep = "")
  print_convergence(x)
  invisible(x)
}

#' @export
print.sparsegp_waiting <- function(x, ...) {
  model <- begun_model(check_fit_or_waiting(x))
  if (is.null(model)) {
    cat("Gaussian process by ", x$method$label, ": ", counted(chunk_size(x$stream$waiting), "row"),
        " so far, too few to begin\n", sep = "")
  } else {
    print.sparsegp(model, ...)
  }
  invisible(x)
}

# Returns the log evidence in words, and nothing of a fit that has none.
evidence_words <- function(x, digits) {
  if (is.na(evidence_of(x))) return(NULL)
  paste0("log evidence ", if (has_members(x)) "(integrated) ",
         format(x$log_evidence, digits = digits + 2L))
}

print_noise <- function(noise_sd, digits) {
  if (is.null(noise_sd)) return(invisible())
  text <- paste(names(noise_sd), format(noise_sd, digits = digits)) # names are components
  cat("Standard deviation of the noise: ", toString(trimws(text)), "\n", sep = "")
}

# Returns words for the factors that are one input each.
coding_words <- function(x) {
  levels <- factors_read(x)
  scores <- setdiff(coded_by_number(x$contrasts), coded_by_level(x$contrasts))
  c(if (length(levels)) paste("factors of which each is one input:", toString(levels)),
    if (length(scores)) paste("ordered factors read as numbers:", toString(scores)))
}

print_head <- function(x) {
  codec <- codec_of(x)
  source <- x$source # of rows that were read in chunks
  merged <- x$merged
  omitted <- c(x$stream$omitted, source$omitted, length(x$na.action))[1L]
  lines <- c(
    if (!is.null(x$terms)) deparse1(stats::formula(x$terms)),
    paste0(counted(nobs(x), "row"), ", ", counted(sum(x$scaling$kept), "input"), "; ",
           lik_label(x$likelihood), " likelihood; kernel ", format(x$kernel)),
    codec$words(described_response(x)), point_words(x), bias_words(x), mode_words(x),
    choice_words(x),
    x$ensemble$made$words, coding_words(x),
    if (anyNA(x$y)) paste0(codec$absent, ": ", sum(is.na(x$y))),
    if (length(x$scaling$dropped)) {
      paste("constant inputs kept out:", toString(x$scaling$dropped))
    },
    if (x$scaling$alike && nobs(x) > 1L) "no input varies: the fit is a constant",
    if (!is.null(source)) {
      paste0("rows of ", source$label, ", ", counted(source$chunks, "chunk"),
             if (!is.null(source$kept)) {
               paste0("; ", if (is_windowed(x)) "learned from" else "basis chosen on", " ",
                      counted(source$kept, "row"))
             },
             if (!is.null(source$workers)) paste0("; ", worker_words(source$workers)))
    },
    if (is_windowed(x)) {
      paste("keeps its last", counted(nrow(x$posterior$basis), "row"),
            "and the state behind others")
    },
    if (!is.null(merged)) {
      paste0(merged$fits, " fits merged", if (merged$kl_lost > 0) {
        paste0("; ", signif(merged$kl_lost, 3L), " nats lost by projection")
      })
    },
    if (omitted > 0) paste("rows with missing values left out:", omitted),
    if (inherits(x, "sparsegp_waiting")) {
      paste("provisional until", x$stream$pilot, "rows have come")
    }
  )
  cat("Gaussian-process ", codec$task, " by ", made_by(x), "\n", paste0("  ", lines, "\n"),
      sep = "")
}

made_by <- function(x) {
  if (is_markov_fit(x)) return("Markov EP")
  if (every_row_in_basis(x)) return("full EP")
  paste(x$options$label, "on a basis of", counted(nrow(basis_points_of(x)), "point"))
}
