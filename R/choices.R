# The record of all that a fit chose by itself, `fit$choices`: a data frame with a row for each
# candidate that was compared.
#   stage      what was chosen, see CRITERIA
#   candidate  in words; of one that ended in an error with its reason
#   rows       observations it was fitted to
#   points     inducing points; of one-vs-rest classes those of the first
#   score      by the stage's criterion; NA: it failed
#   gain, se   mean gain over the best before it and its standard error, over observations, or NA
#   needed     the gain above which it would be taken
#   taken      was it chosen?
# While a fit is made a row has `fields`, too: what its candidate changes of the structure, see
# with_known_structure(), or NULL. A fit has them beside its record, `fit$choice_fields`.

# Names the criterion by which the candidates of a stage are compared.
OF_STRUCTURE <- "log evidence + log prior - penalty for hyperparameters"
OF_EVIDENCE <- "log evidence expected of all observations"
OF_LEFT_OUT <- "leave-one-out log probability per observation"
CRITERIA <- c(
  "latent functions" = OF_LEFT_OUT,
  "coding" = OF_STRUCTURE, "response scale" = OF_STRUCTURE, "input scale" = OF_STRUCTURE,
  "error of log times" = OF_STRUCTURE, "prior mean" = OF_STRUCTURE,
  "kernel" = OF_STRUCTURE, "noise" = OF_STRUCTURE, "effects of levels" = OF_STRUCTURE,
  "learning" = "log evidence + log prior",
  "basis" = "log evidence + log prior",
  "inducing points" = "leave-one-out log density per observation outside of the basis",
  "kernel of neighbours" = OF_STRUCTURE,
  "roughness of neighbours" = OF_EVIDENCE,
  "neighbours" = "leave-one-out log density per observation outside of the basis",
  "points of a class" = "log probability per observation held out",
  "length scale" = OF_LEFT_OUT,
  "likelihood" = OF_LEFT_OUT,
  "least squares" = "log probability per observation held out",
  "all observations" = OF_LEFT_OUT,
  "roughness" = OF_LEFT_OUT
)

# Returns the quantity, in words, by which candidates of a stage that settles the model differ.
scored_in <- function(stage) {
  criterion <- CRITERIA[[stage]]
  if (criterion == OF_STRUCTURE) "penalised log evidence"
  else if (criterion == OF_EVIDENCE) "log evidence"
  else "log density per observation"
}

# The stages of the race for structure, in its order: their scores are log evidences.
STRUCTURE_STAGES <- c("coding", "response scale", "error of log times", "prior mean", "input scale",
                      "kernel", "noise", "effects of levels")

# All stages that settle a model, in their order.
MODEL_STAGES <- c("latent functions", STRUCTURE_STAGES)

# Those of fits by nearest neighbours (strategy-neighbours.R).
NEIGHBOUR_STAGES <- c("kernel of neighbours", "roughness of neighbours", "neighbours")

EACH_SCALED <- "each input scaled by its sd"

ONE_SCALE <- "inputs share one scale (common units)"

ORDERED_AS_FACTORS <- "ordered factors as factors"

NOISE_LEARNED <- "learned"

NOISE_NEAR_NONE <- "near none"

NO_EFFECTS <- "none" # of levels

# Returns a row of the record, a list for stacked_table(). found: list(value, rows, points), and
# perhaps a `label`, `fields`, and the reason why it failed (reason_of()). gained: for each
# observation, over the best before; needed: see above.
choice_row <- function(stage, found, gained = Inf, taken = TRUE, label = found$label,
                       needed = NA_real_) {
  label <- if (is.null(found$label)) label else found$label
  list(stage = stage, candidate = paste(c(label, found$reason), collapse = ": "),
       rows = as.integer(found$rows), points = as.integer(found$points),
       score = if (is.finite(found$value)) found$value else NA_real_,
       gain = if (all(is.finite(gained))) mean(gained) else NA_real_,
       se = if (length(gained) > 1L) standard_error(gained) else NA_real_, needed = needed,
       taken = taken, fields = list(found$fields))
}

# Returns the two fields of a fit that keep a record.
kept_choices <- function(choices) {
  list(choices = choices[names(choices) != "fields"], choice_fields = choices$fields)
}

# Rounds of choosing a basis and learning on it, of which the best was kept; one is no choice.
round_choices <- function(reached, rows, points) {
  if (length(reached) < 2L) return(NULL)
  stacked_table(lapply(seq_along(reached), function(k) {
    choice_row("basis", list(value = reached[k], rows = rows, points = points), NA,
               k == which.max(reached), paste("round", k))
  }))
}

# Marks one candidate of each stage as taken: the last that was better than those before it.
only_last_taken <- function(choices) {
  last <- which(choices$taken)
  last <- last[!duplicated(choices$stage[last], fromLast = TRUE)]
  choices$taken <- seq_along(choices$taken) %in% last
  choices
}

# Returns the first line of an error, without the remedy.
reason_of <- function(error) sub("[.]?\n.*", "", conditionMessage(error))

standard_error <- function(values) stats::sd(values) / sqrt(length(values))
