# Two rounds along the axes of the race for structure (strategy-structure.R). In the first, each
# axis is tried in its order, from the best so far. No choice is final by that: what it was judged
# by may be changed by a later one, as a scale of the response that made up for length scales of
# each input, which came after it. So in the second round alternatives are tried once more if they
# were behind by no more than what later choices have gained, as these may have gained so much more
# with them. Of those that are not the simplest of their axis only some within
# policy$reopened_within are: they seldom overtake. Kernels have to have lacked no more than that to
# be taken, with what another part has to gain. What is simpler than the best so far has to be
# better by nothing.
#
# A round leaves a verdict on each axis:
#   offered   the alternatives, with all fields of the setup in which they differ
#   taken     the label of the one that was taken, of the value `value`
#   behind    nats by which each was behind it, by label
#   asked     nats that each had to gain, by label
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
    alternative$fields <- alternative$fields %||% alternative$setup
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
  most <- min(gained, policy$reopened_within)
  if (axis$stage %in% c("kernel", "kernel of neighbours")) {
    close <- verdict$behind + verdict$asked <= most
    return(if (sum(close) > 1L) offered_on_axis(axis, now$best$candidate))
  }
  labels <- vapply(verdict$offered, `[[`, "", "label")
  simplest <- labels == labels[1L]
  open <- verdict$behind[labels] <= ifelse(simplest, gained, most)
  offered <- verdict$offered
  offered[[1L]]$simpler <- TRUE
  c(offered[labels == verdict$taken], offered[open & labels != verdict$taken])
}

# ---- The race ----

# Returns the best score of a race along the axes for n observations, from a score of the first
# candidate; best$learned: the other candidates by their kernels, the last one of each.
race_along <- function(axes, best, pilot, n) {
  now <- list(best = best, learned = list(), changes = 0L)
  verdicts <- vector("list", length(axes))
  for (at in rep(seq_along(axes), 2L)) {
    verdict <- verdicts[[at]]
    offered <- if (is.null(verdict)) offered_on_axis(axes[[at]], now$best$candidate)
               else offered_again(axes[[at]], now, verdict)
    if (length(offered) < 2L) next
    now <- race_on_axis(axes[[at]], offered, now, pilot, n, again = !is.null(verdict))
    verdicts[[at]] <- now$verdict
  }
  now$best$learned <- now$learned
  now$best
}

# Returns the state of a race, list(best, learned, changes, verdict), after one of its axes, from
# that before it. offered: the first is the best so far
race_on_axis <- function(axis, offered, now, pilot, n, again) {
  stage <- axis$stage
  labels <- vapply(offered, `[[`, "", "label")
  values <- now$best$value
  now$best$fields <- offered[[1L]]$fields
  score <- function(candidate) {
    least <- if (!isTRUE(pilot$of_classes)) now$best$value + needed # losers may be judged again
    found <- score_by_evidence(candidate, pilot, least)
    values <<- c(values, found$value)
    now$learned[[format(candidate$data$setup$kernel)]] <<- found$candidate
    found
  }
  entries <- entries_of(offered, pilot$rows)
  simpler <- vapply(offered, function(alternative) isTRUE(alternative$simpler), NA)
  least <- axis$least(now$best$candidate$model, n, pilot$count) +
    max(0, unlist(lapply(offered, `[[`, "price")))
  incumbent <- if (again || !stage %in% now$best$choices$stage) labels[1L]
  for (group in unname(split(seq_along(offered)[-1L], !simpler[-1L]))) {
    needed <- if (simpler[group[1L]]) 0 else least
    now$best <- race(stage, entries[group], score, gain_of_evidence,
                     nats(needed),
                     go_on = function(taken, gain) TRUE, best = now$best, incumbent = incumbent)
    incumbent <- NULL
  }
  order <- c(1L, order(!simpler[-1L]) + 1L)
  values <- stats::setNames(values, labels[order])
  taken <- names(values)[match(now$best$value, values)]
  asked <- ifelse(order == 1L | simpler[order] | names(values) == taken, 0, least)
  now$changes <- now$changes + (taken != labels[1L] && stage != "kernel")
  now$verdict <- list(offered = offered, taken = taken, value = now$best$value,
                      behind = now$best$value - values, asked = asked, changes = now$changes)
  now
}

# Returns entries of a race, by label.
entries_of <- function(offered, rows) {
  entries <- lapply(offered, function(alternative) {
    function(best) {
      changed <- changed_candidate(best$candidate, alternative$setup, rows)
      c(changed, fields = list(alternative$fields))
    }
  })
  stats::setNames(entries, vapply(offered, `[[`, "", "label"))
}
