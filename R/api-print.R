# print() of a fit.

#' @export
print.sparsegp <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  x <- ready(x)
  lines <- c(head_lines(x, digits), score_line(x, digits), note_line(x))
  writeLines(vapply(lines, shortened, ""))
  invisible(x)
}

# Widest line of print(), and the most rows of which it computes leave-one-out predictions
PRINT_WIDTH <- 80L
SCORED_ROWS <- 5000L

shortened <- function(line) {
  if (nchar(line, "width") <= PRINT_WIDTH) line
  else paste0(trimws(strtrim(line, PRINT_WIDTH - 4L), "right"), " ...")
}

# Returns the lines that print() and summary() have in common: the model, its mean and its noise.
head_lines <- function(x, digits) {
  codec <- codec_of(x)
  rows <- paste0(row_words(x), "; ", lik_label(x$likelihood), " likelihood")
  kernel <- paste("kernel", format(x$kernel))
  fits_one_line <- nchar(rows, "width") + nchar(kernel, "width") + 4L <= PRINT_WIDTH
  c(paste0("Gaussian-process ", codec$task, ", ", made_by(x)),
    paste0("  ", c(
      if (!is.null(x$terms)) deparse1(stats::formula(x$terms)),
      if (fits_one_line) paste0(rows, "; ", kernel) else c(rows, kernel),
      codec$words(described_response(x)) %||% bias_words(x),
      noise_words(x, digits)
    )))
}

row_words <- function(x) {
  paste0(counted(nobs(x), "row"), ", ", counted(sum(x$scaling$kept), "input"),
         if (n_omitted(x) > 0) paste0(" (", counted(n_omitted(x), "row"), " left out)"))
}

# Returns the number of rows left out, for missing values or a weight of 0.
n_omitted <- function(x) c(x$stream$omitted, x$source$omitted, length(x$na.action))[1L]

# Returns a measure of fit: of leave-one-out predictions, or else the log evidence.
score_line <- function(x, digits) {
  scores <- if (nobs(x) <= SCORED_ROWS) loo_scores_if_kept(x)
  line <- if (!is.null(scores)) paste("leave-one-out", scores_in_words(scores, min(digits, 4L)))
          else evidence_words(x, digits)
  if (!is.null(line)) paste0("  ", line)
}

loo_scores_if_kept <- function(x) {
  rows <- loo_if_kept(x)
  if (!is.null(rows)) loo_scores(rows)
}

# Returns further remarks for print(), in one line.
note_line <- function(x) {
  notes <- c(convergence_words(x), provisional_words(x), mode_words(x), alike_words(x),
             point_words(x), if (has_members(x)) "hyperparameters integrated out")
  if (length(notes)) paste0("  ", paste(notes, collapse = "; "))
}

provisional_words <- function(x) {
  if (!inherits(x, "sparsegp_waiting")) return(NULL)
  paste("provisional until", x$stream$pilot, "rows have come")
}

alike_words <- function(x) {
  if (x$scaling$alike && nobs(x) > 1L) "no input varies: the fit is a constant"
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

# Returns the size of the noise in words: its standard deviation, or where that hardly exists, as of
# Student's t with little more than two degrees of freedom, its scale.
noise_words <- function(x, digits) {
  HEAVY <- 2.5 # degrees of freedom below which the tails make most of the variance
  noise_sd <- noise_sds(x)
  if (is.null(noise_sd)) return(NULL)
  known <- shown_values(x$hyper)[c("scale", "df")]
  if (x$likelihood$type == "student" && isTRUE(known[["df"]] < HEAVY)) {
    return(paste0("scale of the noise: ", format(known[["scale"]], digits = digits), ", with ",
                  format(known[["df"]], digits = digits), " degrees of freedom"))
  }
  text <- paste(names(noise_sd), format(noise_sd, digits = digits)) # names are components
  paste0("standard deviation of the noise: ", toString(trimws(text)))
}

# Returns words for the factors that are one input each.
coding_words <- function(x) {
  levels <- factors_read(x)
  scores <- setdiff(coded_by_number(x$contrasts), coded_by_level(x$contrasts))
  c(if (length(levels)) paste("factors:", toString(levels)),
    if (length(scores)) paste("ordered factors read as numbers:", toString(scores)))
}

# Returns the lines of summary() beside those of print(): choices, inputs and rows.
detail_lines <- function(x) {
  source <- x$source # of rows that were read in chunks
  merged <- x$merged
  lines <- c(
    point_words(x), if (!is.null(x$terms)) bias_words(x), mode_words(x), choice_words(x),
    x$ensemble$made$words, coding_words(x),
    if (anyNA(x$y)) paste0(codec_of(x)$absent, ": ", sum(is.na(x$y))),
    if (length(x$scaling$dropped)) {
      paste("constant inputs kept out:", toString(x$scaling$dropped))
    },
    alike_words(x),
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
    if (n_omitted(x) > 0) {
      paste0("rows with missing values", if ("weights" %in% names(x$call)) " or of weight 0",
             " left out: ", n_omitted(x))
    },
    provisional_words(x)
  )
  if (length(lines)) paste0("  ", lines)
}

EXACT <- c("gaussian", "mvnormal")

made_by <- function(x) {
  if (is_markov_fit(x)) return("Markov EP")
  if (is_neighbour_fit(x)) return(counted(x$posterior$neighbours$k, "nearest neighbour"))
  if (every_row_in_basis(x)) {
    return(if (x$likelihood$type %in% EXACT) "exact" else "expectation propagation")
  }
  paste0(x$options$label, ", ", counted(nrow(basis_points_of(x)), "inducing point"))
}
