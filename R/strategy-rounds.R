# Two rounds along the axes of the race for structure (strategy-structure.R). In the first, each
# axis is tried in its order, from the best so far. No choice is final by that: what it was judged
# by may be changed by a later one, as a scale of the response that made up for length scales of
# each input, which came after it. So in the second round alternatives are tried once more if they
# were behind by no more than what later choices have gained, as these may have gained so much more
# with them. Of those that are not the simplest of their axis only some within
# policy$reopened_within are: they seldom overtake. What is simpler than the best so far has to be
# better by nothing.
#
# A round leaves a verdict on each axis:
#   offered   the alternatives, with all fields of the setup in which they differ
#   taken     the label of the one that was taken, of the value `value`
#   behind    nats by which each was behind it, by label
#   changes   how often the choices before the kernel had changed by then

# Returns the alternatives on an axis to the candidate `now`, the first of which is that candidate
# as it is: each with all fields of the setup that one of them changes, so that it undoes the
# others.
offered_on_axis <- function(axis, now) {
  setup <- now$data$setup
  known <- list(now$model, now$data$chunk, setup, now$table)
  offered <- do.call(axis$alternatives, c(known, if (axis$of_problem) list(now$plan$problem)))
  fields <- unique(unlist(lapply(offered, function(alternative) names(alternative$setup))))
  unchanged <- stats::setNames(lapply(fields, function(field) setup[[field]]), fields)
  lapply(offered, function(alternative) {
    unchanged[names(alternative$setup)] <- alternative$setup
    alternative$setup <- unchanged
    alternative
  })
}

# Returns the alternatives that are tried in the second round, or NULL. Those of a kernel are made
# anew, as they change a part of it; which inputs matter does not depend on the kernel.
offered_again <- function(axis, now, verdict) {
  gained <- now$best$value - verdict$value
  if (!isTRUE(gained > 0) || axis$of_problem && now$changes == verdict$changes) return(NULL)
  close <- verdict$behind <= min(gained, policy$reopened_within)
  if (axis$stage == "kernel") {
    return(if (sum(close) > 1L) offered_on_axis(axis, now$best$candidate))
  }
  labels <- vapply(verdict$offered, `[[`, "", "label")
  simplest <- labels == labels[1L]
  open <- close[labels] | simplest & verdict$behind[labels] <= gained
  offered <- verdict$offered
  offered[[1L]]$simpler <- TRUE
  c(offered[labels == verdict$taken], offered[open & labels != verdict$taken])
}
