# The convergence of a fit: its record, and the words for it.

# Builds the record of a run of EP. shift: from the evidence in C's units to that of the response;
# w: values of a site.
convergence_of <- function(run, shift, w = 1L) {
  trace <- data.frame(sweep = seq_len(ncol(run$trace)), log_evidence = run$trace[1L, ] + shift,
                      change = run$trace[2L, ])
  if (any(run$exchanges > 0)) trace$exchanges <- run$exchanges
  selection <- run$selection
  if (!is.null(selection$trace$log_evidence)) {
    selection$trace$log_evidence <- selection$trace$log_evidence + shift
  }
  has_fallback <- !is.null(run$fallback)
  if (has_fallback) run$fallback$log_evidence <- run$fallback$log_evidence + shift
  growth <- run$growth
  if (!is.null(growth)) growth$log_evidence <- growth$log_evidence + shift
  c(run[c("sweeps", "change", "tol", "converged", "damped", "sequential", "skipped")],
    list(flat = run$flat, widening = count_widening(run$tau, w), trace = trace,
         selection = selection, growth = growth), list(fallback = run$fallback)[has_fallback])
}

# Returns a few words, for a picture.
convergence_text <- function(object) {
  run <- object$convergence
  if (!is.null(run$selection)) {
    return(paste0(counted(nrow(run$selection$trace), "point"), " selected; stopped by ",
                  run$selection$stopped))
  }
  if (is.null(run$sweeps)) return(paste(counted(object$n, "row"), "in one pass"))
  if (run$converged) return(paste("Converged in", counted(run$sweeps, "sweep")))
  paste("Did NOT converge in", counted(run$sweeps, "sweep"))
}

# Prints the fates of a stream's rows, or the sweeps of EP.
print_iterations <- function(fit) {
  run <- fit$convergence
  if (!is.null(run$fates)) {
    cat("Rows: ", toString(paste(run$fates, names(run$fates))), "\n", sep = "")
    return(invisible())
  }
  if (!is.null(run$selection)) {
    cat(counted(nrow(run$selection$trace), "point"), " selected; stopped by ",
        run$selection$stopped, "; last gain ",
        format(utils::tail(run$selection$trace$gain, 1L), digits = 2L), " nats; ",
        run$selection$exchanged, " exchanged\n", sep = "")
    if (run$sweeps == 0L) return(invisible()) # every site was set once
  }
  exchanges <- run$trace$exchanges
  if (!is.null(exchanges)) {
    cat("Points that joined the basis, sweep by sweep: ", toString(utils::head(exchanges, 10L)),
        if (length(exchanges) > 10L) ", ...", "\n", sep = "")
  }
  cat("EP, last run: ", counted(run$sweeps, "sweep"), ", change ",
      format(run$change, digits = 2L), "; damped ", run$damped, ", sequential ", run$sequential,
      ", site updates refused ", run$skipped,
      if (isTRUE(run$widening > 0)) paste0(", sites of negative precision ", run$widening),
      if (isTRUE(run$flat > 0)) paste0(", kept from it ", run$flat), "\n", sep = "")
}

# Returns remarks on the convergence of a fit; full: also on its rounding.
convergence_words <- function(x, full = FALSE) {
  run <- x$convergence
  c(if (!is.null(run$fallback)) {
      "variational inference (power = 0), as EP found no fixed point"
    },
    if (!run$converged) {
      paste0("EP did NOT converge: change ", signif(run$change, 3L), " after ",
             counted(run$sweeps, "iteration"))
    },
    if (!is.null(x$learning) && !x$learning$converged) {
      paste("learning did NOT converge in", counted(x$learning$evaluations, "evaluation"))
    },
    if (full && x$jitter > 0) {
      paste("jitter on the basis's kernel matrix:", x$jitter, "of its diagonal")
    })
}
