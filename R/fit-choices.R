# What a fit chose where the user left it open, in words.

print_choices <- function(fit) {
  for (words in c(structure_words(fit), scaling_words(fit), growth_words(fit), tuning_words(fit),
                  copies_words(fit))) {
    cat("  ", words, "\n", sep = "")
  }
}

structure_words <- function(fit) {
  tried <- fit$learning$structure
  if (is.null(tried)) return(NULL)
  paste("kernel chosen from", nrow(tried), "by the evidence of",
        counted(attr(tried, "rows"), "row"))
}

# Says how inputs were scaled, where there are several that vary.
scaling_words <- function(fit) {
  scaling <- fit$scaling
  if (scaling$alike || length(scaling$sd) < 2L) return(NULL)
  if (!scaling$scale) return("inputs as given, not scaled")
  if (length(unique(scaling$sd)) == 1L) return("inputs share one scale (common units)")
  field <- scaling$names[scaling$kept][space_of(component_parts(fit$spec)) + 1L]
  if (length(field) == 0L) return("each input scaled by its sd")
  paste(toString(field), "share one scale (common units), each other input scaled by its sd")
}

growth_words <- function(fit) {
  growth <- fit$convergence$growth
  if (is.null(growth)) return(NULL)
  last <- nrow(growth)
  if (last == 1L) return(NULL)
  sizes <- paste("inducing points:", paste(growth$points, collapse = ", "), "tried;")
  gain <- format(growth$gain[last], digits = 2L)
  if (is.na(growth$gain[last])) return(paste(sizes, "the last run failed and was not kept"))
  if (!growth$taken[last]) {
    return(paste(sizes, "the last step changed the log density by", gain,
                 "nats a row and was not kept"))
  }
  if (growth$gain[last] < policy$min_gain) {
    return(paste(sizes, "the last step gained", gain, "nats a row, so growth ended"))
  }
  paste(sizes, "more would gain, and is left to effort = \"thorough\"")
}

tuning_words <- function(fit) {
  chosen <- if (!is.null(fit$tuning)) fit$likelihood$type else ""
  margin <- chosen == "margin"
  squares <- chosen == "squares"
  words <- c(if (!is.null(fit$tuning)) paste("learned length scales times", fit$tuning$factor),
             if (margin) "a margin between classes",
             if (squares) "least squares of labels",
             if (!is.null(fit$power)) paste("odds to the power", format(fit$power, digits = 2L)))
  if (length(words) == 0L) return(NULL)
  by <- if (squares) "by rows held out" else "by leave-one-out probabilities"
  paste0(by, ": ", toString(words))
}

# For summary(): all that was tried.
print_tried <- function(fit) {
  tried <- fit$learning$structure
  if (!is.null(tried)) {
    cat("Kernels tried on ", counted(attr(tried, "rows"), "row"), ":\n", sep = "")
    print(tried, digits = 6L, row.names = FALSE)
  }
  stages <- fit$learning$stages
  if (NROW(stages) > 1L) {
    cat("Learned in stages:\n")
    print(stages, digits = 6L, row.names = FALSE)
  }
  if (!is.null(fit$tuning)) {
    cat("Length scales and margins tried, and the power of the odds that suits each:\n")
    print(fit$tuning$tried, digits = 4L, row.names = FALSE)
  }
}
