# The choices of a fit in words, from its record `fit$choices` (choices.R) and what it chose.

choice_words <- function(fit) {
  raced <- "input scale" %in% fit$choices$stage
  c(structure_words(fit), warp_words(fit), if (!raced) scaling_words(fit), growth_words(fit),
    class_points_words(fit), tuning_words(fit), temper_words(fit), copies_words(fit))
}

choices_of_stage <- function(fit, stage) fit$choices[fit$choices$stage %in% stage, ]

# Returns a line for each stage that settled the model: what was chosen, and by how much it was
# better than the first, which is the simplest.
structure_words <- function(fit) {
  stages <- intersect(c(MODEL_STAGES, NEIGHBOUR_STAGES), fit$choices$stage)
  vapply(stages, function(stage) {
    tried <- choices_of_stage(fit, stage)
    taken <- which(tried$taken)[1L]
    gained <- gained_on_stage(tried, taken)
    better <- if (isTRUE(gained > 0)) {
      paste0(", better by ", signif(gained, 3L), " in ", scored_in(stage))
    }
    paste0(stage, ": ", tried$candidate[taken], better, "; ",
           length(unique(tried$candidate)), " tried on ", counted(tried$rows[1L], "row"),
           if (startsWith(tried$candidate[taken], NOISE_NEAR_NONE)) more_noise_words(fit))
  }, "", USE.NAMES = FALSE)
}

# Reports where noise near none of some rows is that of none of all.
more_noise_words <- function(fit) {
  noise <- fit$hyper[fit$hyper$base == "noise", ]
  usual <- noise_variance$start()
  if (nrow(noise) == 1L && noise$theta > (noise$start + usual) / 2) "; more was learned on all rows"
}

# Returns by how much the candidate in row `taken` was better than the first. A stage may be tried
# twice, and each time begins with the row of the best before it, which has no gain: in between,
# other stages may have changed the score.
gained_on_stage <- function(tried, taken) {
  starts <- union(1L, which(is.na(tried$gain) & !is.na(tried$score)))
  block <- findInterval(seq_len(nrow(tried)), starts)
  ended <- tried$candidate[c(starts[-1L], taken)]
  sum(vapply(seq_along(starts), function(k) {
    rows <- which(block == k)
    tried$score[rows[match(ended[k], tried$candidate[rows])]] - tried$score[starts[k]]
  }, 0))
}

# Reports how inputs were scaled, where there are several that vary.
scaling_words <- function(fit) {
  scaling <- fit$scaling
  if (scaling$alike || length(scaling$sd) < 2L) return(NULL)
  if (!scaling$scale) return("inputs as given, not scaled")
  if (length(unique(scaling$sd)) == 1L) return(ONE_SCALE)
  field <- scaling$names[scaling$kept][space_of(component_parts(fit$spec)) + 1L]
  if (length(field) == 0L) return(EACH_SCALED)
  paste(toString(field), "share one scale (common units), each other input scaled by its sd")
}

# Names the inputs on a log scale.
warp_words <- function(fit) {
  warped <- warped_names(fit)
  if (length(warped) == 0L) return(NULL)
  shown <- if (length(warped) > 6L) paste(length(warped), "inputs") else toString(warped)
  paste("skewed inputs on a log scale:", shown)
}

warped_names <- function(fit) {
  fit$scaling$names[fit$scaling$kept][which(fit$scaling$warp$side != 0)]
}

growth_words <- function(fit) {
  tried <- choices_of_stage(fit, "inducing points")
  last <- NROW(tried)
  if (last < 2L) return(NULL)
  sizes <- paste("inducing points:", paste(tried$candidate, collapse = ", "), "tried;")
  if (is.na(tried$score[last])) return(paste(sizes, "the last run failed and was not kept"))
  if (!tried$taken[last]) return(paste(sizes, "the last was not better and was not kept"))
  if (tried$gain[last] < policy$min_gain) {
    return(paste(sizes, "stopped: little gain"))
  }
  paste(sizes, "more would gain, and is left to gp_control(effort = \"thorough\")")
}

class_points_words <- function(fit) {
  tried <- choices_of_stage(fit, "points of a class")
  if (NROW(tried) == 0L) return(NULL)
  each <- if (!is.null(fit$basis_rows_of)) " of each class"
  paste0("inducing points", each, ": ", toString(tried$candidate), " tried on observations held ",
         "out; ", tried$candidate[tried$taken], " taken")
}

tuning_words <- function(fit) {
  squares <- choices_of_stage(fit, "least squares")
  squares <- squares[squares$taken & squares$candidate != PROBIT_BEFORE, ]
  if (NROW(squares)) {
    return(paste0("least-squares classification, chosen on observations held out: ",
                  squares$candidate))
  }
  # the incumbent of a stage comes first, and has no gain
  margin <- choices_of_stage(fit, "likelihood")
  rough <- choices_of_stage(fit, "roughness")
  of_all <- choices_of_stage(fit, "all observations")
  chosen <- c(
    margin$candidate[margin$taken & !is.na(margin$gain)],
    if (isTRUE(rough$taken[2L])) paste(rough$candidate[2:1], collapse = ", instead of ")
    else of_all$candidate[of_all$taken]
  )
  if (length(chosen) == 0L) return(NULL)
  paste("chosen by leave-one-out log probability:", paste(chosen, collapse = ", "))
}

temper_words <- function(fit) {
  if (is.null(fit$power)) return(NULL)
  paste("probabilities recalibrated: odds raised to the power", format(fit$power, digits = 2L))
}

# For summary(): all candidates that were compared.
print_tried <- function(fit) {
  for (stage in unique(fit$choices$stage)) {
    tried <- choices_of_stage(fit, stage)
    cat("Choice of ", stage, ", by ", CRITERIA[[stage]], ":\n", sep = "")
    print(tried[setdiff(names(tried), "stage")], digits = 6L, row.names = FALSE)
  }
}
