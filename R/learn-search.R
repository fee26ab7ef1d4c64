# The search for hyperparameters that maximise an objective of learn-evidence.R: where it begins,
# how it goes on, and the record of it.

PAST_STEPS <- 20L  # that curvature is known from: with 32 length scales half the evaluations of 5

# Returns failed evaluations as the worst value so far plus a little: L-BFGS-B backtracks in
# proportion to a failed value, and IMPOSSIBLE would shrink the step to zero.
cap_failed_values <- function(value) {
  worst <- -Inf
  function(par) {
    at <- value(par)
    if (at < IMPOSSIBLE) worst <<- max(worst, at)
    if (at < IMPOSSIBLE || worst == -Inf) at else worst + 1
  }
}

# Searches from one start after the other, until two of them end at the best value so far. The unit
# of the objective makes optim()'s first step, which is as long as the gradient, an e-fold: with
# hundreds of nats per e-fold it would lead far into what is absurd, where an evaluation takes long,
# too. A search ends where a step gains less than `control$within` nats, or 2e-8 of the value, in
# units of rounding as optim() counts them; or where it cannot reach `control$wanted` (below).
search_from <- function(objective, starts, centre, control) {
  results <- list()
  for (start in starts) {
    stride <- rep_len(centre$stride %||% 1, length(start))
    unit <- max(1, sqrt(sum((stride * objective$gradient(start))^2)))
    value <- abs(objective$value(start))
    gain <- max(2.2e-8 * max(1, value), control$within)
    found <- unless_lost(objective, control$wanted, function(gradient) {
      stats::optim(start, cap_failed_values(objective$value), gradient,
                   method = "L-BFGS-B", lower = centre$lower,
                   upper = centre$value + centre$reach,
                   control = list(maxit = control$inner, fnscale = unit, lmm = PAST_STEPS,
                                  parscale = stride,
                                  factr = gain / (max(unit, value) * .Machine$double.eps)))
    })
    results <- c(results, list(found))
    values <- vapply(results, `[[`, 0, "value")
    if (sum(values < min(values) + policy$search_tolerance) > 1L) break
  }
  results
}

# Returns what `search(gradient)` finds, or after its first step the best point so far if what it
# searches for is lost there: if the criterion cannot reach `wanted`. A convex function of gradient
# g is nowhere within a distance r of a point by more than r |g| below its value there; r is
# policy$bounding_distance. wanted: NULL if the search is for the best, whatever that is.
unless_lost <- function(objective, wanted, search) {
  if (is.null(wanted)) return(search(objective$gradient))
  calls <- 0L
  best <- list(value = Inf)
  tryCatch(search(function(par) {
    gradient <- objective$gradient(par)
    value <- objective$value(par)
    calls <<- calls + 1L
    if (value < best$value) best <<- list(par = par, value = value, gradient = gradient)
    lost <- best$value - policy$bounding_distance * sqrt(sum(best$gradient^2)) > -wanted
    if (calls > 1L && lost) stop(structure(class = c("sparsegp_lost", "error", "condition"),
                                           list(message = "cannot win", call = NULL)))
    gradient
  }), sparsegp_lost = function(e) c(best[c("par", "value")], convergence = 0L))
}

# The default length scale is about the width of the data, and the evidence has an optimum that
# explains a function wigglier than that as noise. So the search begins at the best of a few, down
# to the spacing of the rows: one evaluation each. A start the user gave is not touched.
# The evidence may have an optimum at a wiggly function, too, which is not the best one. Where an
# evaluation is cheap the search is made again from the next best start, one that is longer among
# them (`longer`), until the best optimum has been found twice.
table_starts <- function(table, longer = FALSE) {
  table <- table[table$free, ]
  turns <- max(table$turn[table$scan], 0)
  if (turns == 0) return(list(table$start))
  rungs <- start_rungs(min(table$finest[table$scan]), longer, turns)
  down <- lapply(seq_len(length(rungs) - policy$part_rungs * (turns - 1L)) - 1L, function(first) {
    first + 1L + policy$part_rungs * (table$turn - 1L)
  })
  up <- if (turns > 1L) lapply(down, function(rung) max(rung) + min(rung) - rung)
  lapply(c(down, up), function(rung) table$start + ifelse(table$scan, rungs[rung], 0))
}

# Returns logarithms of the factors of length scales that a search may begin at, the usual ones
# first, then on by the ratio of these for as long as they are above the spacing of the rows, and
# for so many parts.
start_rungs <- function(finest, longer, turns) {
  usual <- log(policy$start_factors[seq_len(length(policy$start_factors) - 1L)])
  ratio <- usual[3L] - usual[2L]
  more <- floor((finest - usual[3L]) / ratio)
  more <- max(0, more, (turns - 1L) * policy$part_rungs)
  rungs <- c(usual, usual[3L] + ratio * seq_len(more))
  if (longer) c(log(policy$start_factors[length(policy$start_factors)]), rungs) else rungs
}

# Returns the table at the shortest of these starts where parts of a sum read the same inputs:
# points chosen for long length scales carry no short one.
at_shortest_parts <- function(table) {
  turns <- table$turn[table$free & table$scan]
  if (max(turns, 1L) > 1L) table$theta[table$free] <- do.call(pmin, table_starts(table))
  table
}

# Random starts around the first one, from R's RNG: a factor of 4.5 for one standard deviation.
random_start <- function(start) start + stats::rnorm(length(start), sd = 1.5)

# Inputs that act only together are a trap for ARD: while one is switched off by a long length scale
# the evidence wants the other off as well, so the search can end with both off, far below the best
# optimum. There it is flat in their logarithms and the gradient is no guide; but at moderate
# length scales the gradient ranks inputs that matter above those that do not, even though the
# evidence is low. So after the search all length scales that ended longer than these factors of
# their starts are put back there to be ranked, and the evidence is asked about the first 1, 2, 4,
# ... of them. Short ones find an input along which the function varies faster than along others.
switched_on <- function(objective, par, put_back) {
  off <- which(par > put_back) # not where put_back is NA
  if (length(off) < 2L) return(list()) # the trap takes two
  slope <- objective$gradient(replace(par, off, put_back[off])) # of the minus log evidence
  ranked <- off[order(slope[off], decreasing = TRUE)]
  counts <- 2^seq(0, floor(log2(length(off))))
  lapply(counts, function(count) {
    on <- ranked[seq_len(count)]
    replace(par, on, put_back[on])
  })
}

# Searches again from the best such point for as long as one raises the evidence. stuck: has the
# search gained nothing? Then shorter length scales are looked at, too, and as the evidence is flat
# where all of them ended short, as if to fit noise, inputs are first ranked from all switched off.
# ranks: the objective, or that on few of the rows, by which inputs and then the points are ranked.
# The value of the objective at the first of these points decides.
reactivate_inputs <- function(objective, table, result, centre, control, stuck = FALSE,
                              ranks = objective) {
  factors <- policy$reactivation_factors
  if (!stuck) factors <- factors[factors >= 1]
  start <- ifelse(table$scan, table$start, NA)[table$free]
  points <- function(par) {
    unlist(lapply(log(factors), function(longer) switched_on(ranks, par, start + longer)),
           recursive = FALSE)
  }
  candidates <- if (stuck) points(switched_off(result$par, table, centre))
  repeat {
    candidates <- c(candidates, points(result$par))
    values <- vapply(candidates, ranks$value, 0)
    first <- candidates[which.min(values)]
    value <- if (identical(ranks, objective)) values[which.min(values)]
             else vapply(first, objective$value, 0)
    if (!isTRUE(value < result$value - policy$min_evidence_gain)) break
    result <- search_from(objective, first, centre, control)[[1L]]
    candidates <- NULL
  }
  result
}

# Returns free values with all length scales so long that the function does not vary.
switched_off <- function(par, table, centre) {
  ifelse(table$scan[table$free], centre$value + centre$reach / 2, par)
}

# Returns the box in which the free hyperparameters are searched: a bias has its prior, and no box.
search_box <- function(table) {
  table <- table[table$free, ]
  reach <- ifelse(table$log, table$reach %||% BOX, Inf) # a fit may be older than such columns
  down <- ifelse(table$scan, pmin(reach, -(table$least %||% -Inf)), reach)
  list(value = table$start, reach = reach, lower = table$start - down, stride = table$stride)
}

# Bounds of a response's scale are scales themselves, such as the logarithm.
at_edge <- function(par, table, centre) {
  edge <- abs(par - centre$value) > centre$reach - 1e-6 & table$part[table$free] != "response"
  table$name[table$free][edge]
}

# Returns the table with learned theta, the last sites, and a record of the search. aim: what
# evidence() returns, for instance; from: free values where an earlier search ended; fresh: are the
# table's starts looked at, and the way out of the trap? anew: are several then searched from if
# that is cheap? untie: are tied length scales first searched without the tie, where `fresh` then
# holds? escapes: is the way out looked for, though not fresh, if the search from `from` gains
# nothing? few: the objective on few of the rows, made when it is first asked for.
learn_hyper <- function(aim, table, control, progress, from = NULL, fresh = is.null(from),
                        anew = is.null(from), untie = !is.null(from) && any(is_tied(table)),
                        escapes = FALSE, few = few_rows_objective(aim, table)) {
  objective <- make_objective(aim$criterion, table, progress)
  if (untie) {
    untied <- learn_untied(aim, table, control, progress, from, fresh)
    from <- untied$table$theta[table$free]
    fresh <- FALSE
    objective$state$evaluations <- untied$record$evaluations
    objective$state$failures <- untied$record$failures
  }
  centre <- search_box(table)
  several <- fresh && anew && aim$cheap
  own <- if (fresh) table_starts(table, several)
  if (fresh && !several && !is.null(aim$every)) {
    near <- search_few_rows(few, table, c(own, list(from)), centre, control)
    at <- if (!is.null(near)) newton_search(objective, near$par, aim$every * near$curvature, centre,
                                            policy$search_tolerance, evaluated = TRUE)
    if (!is.null(at)) own <- list(at)
  }
  starts <- best_first(objective, c(own, list(from)), centre)
  began <- if (is.null(from)) Inf else objective$value(from)
  # parts of the same inputs have several optima at which two searches may agree
  each <- several && max(table$turn[table$free & table$scan], 1L) > 1L
  tried <- if (each) lapply(starts, list) else list(if (several) starts else starts[1L])
  random <- replicate(control$restarts, random_start(centre$value), simplify = FALSE)
  tried <- c(tried, if (is.null(from)) lapply(random, list))
  results <- unlist(lapply(tried, search_from, objective = objective, centre = centre,
                           control = control), recursive = FALSE)
  values <- vapply(results, `[[`, 0, "value")
  first <- which.min(values)
  best <- results[[first]]
  stuck <- began - best$value < policy$min_relevance_gain
  if (fresh || escapes && stuck) {
    best <- reactivate_inputs(objective, table, best, centre, control, stuck, few %||% objective)
  }
  values[first] <- best$value
  if (best$value >= IMPOSSIBLE) {
    return(if (is.null(aim$limit)) nothing_learned(aim, table, objective)
           else learn_hyper(aim$limit(), table, control, progress, from, fresh, untie = FALSE))
  }
  learned <- learned_hyper(objective, table, centre, best, values, began)
  learned$record$past <- c(objective$state$past, rows = aim$rows)
  learned
}

# Returns starts, of which some may be NULL, within a box and ordered by their values, as many of
# them as searches may begin at. Parts of one kind may be exchanged: such starts are one.
best_first <- function(objective, starts, centre) {
  starts <- lapply(Filter(Negate(is.null), starts), within_box, centre)
  if (length(starts) > 1L) {
    values <- vapply(starts, objective$value, 0)
    distinct <- !duplicated(signif(values, 10L))
    starts <- starts[distinct][order(values[distinct])]
  }
  utils::head(starts, length(policy$start_factors))
}

few_rows_objective <- function(aim, table) {
  criterion <- if (!is.null(aim$ranks)) aim$ranks()
  if (!is.null(criterion)) make_objective(criterion, table, SILENT)
}

# Returns where a search from the best of some starts ends on few of the rows, and the curvature
# there. It takes a small part of the time, and the optimum of all rows is near. NULL: these see no
# function there, which all of them may.
search_few_rows <- function(few, table, starts, centre, control) {
  control$wanted <- NULL # which is of all rows
  found <- search_from(few, best_first(few, starts, centre)[1L], centre, control)[[1L]]
  found <- reactivate_inputs(few, table, found, centre, control)
  none <- few$value(switched_off(found$par, table, centre))
  if (none - found$value < policy$min_evidence_gain) return(NULL)
  list(par = found$par, curvature = curvature_by_differences(few, found$par))
}

# A log-Cauchy prior is not log-concave, and a length scale that is near the common value, or far
# from it, may stay there at a local optimum. So the search begins where one ends under wide normal
# densities of the logarithms around the same value. from: free values where an earlier search
# ended.
learn_untied <- function(aim, table, control, progress, from, escapes) {
  tied <- is_tied(table)
  constant <- hyper_log_constant(table)
  table$prior[tied] <- lapply(table$prior[tied], function(prior) {
    prior_lognormal(prior$par[["location"]], policy$untied_spread)
  })
  if (!is.null(control$wanted)) {
    control$wanted <- control$wanted - constant + hyper_log_constant(table)
  }
  learn_hyper(aim, table, control, progress, from, fresh = FALSE, escapes = escapes)
}

learned_hyper <- function(objective, table, centre, best, values, began) {
  names <- table$name[table$free]
  own <- seq_along(names) # others may follow, see make_objective()
  spent <- objective$state$failures >= objective$state$most
  objective$state$most <- Inf
  table$theta[table$free] <- best$par[own]
  gradient <- objective$gradient(best$par)[own]
  at_bound <- at_edge(best$par[own], table, centre)
  inside <- !names %in% at_bound & best$par[own] > centre$lower[own] + 1e-6
  record <- search_record(
    objective$state, values, began - best$value,
    settled(best, gradient, inside, objective$state$failures, spent),
    stats::setNames(-gradient, names), at_bound,
    if (spent) paste0("EP had no fixed point in ", objective$state$failures,
                      " of them. Give priors that keep away from there,")
    else paste0("the evidence is steepest in ", names[which.max(abs(gradient))],
                ". Raise learn_control(inner =)")
  )
  list(table = table, sites = objective$state$last$run$sites, record = record)
}

# Returns the record of a search. spent: has evaluations and failures; values: of the objective,
# where each start ended; gradient: of the criterion
search_record <- function(spent, values, gain, converged, gradient, at_bound, advice) {
  list(evaluations = spent$evaluations, failures = spent$failures, objective = -values,
       gain = gain, converged = converged, gradient = gradient, at_bound = at_bound,
       advice = advice)
}

# Adds to a record what searches before took.
with_spent <- function(record, before) {
  for (count in c("evaluations", "failures")) {
    record[[count]] <- record[[count]] + sum(before[[count]])
  }
  record
}

# Returns the table as it is with a record that says that EP did not converge where the search
# began, nor anywhere else it looked. Stops with the reason where it failed otherwise.
nothing_learned <- function(aim, table, objective) {
  refuse_if(check_run(aim$plain(table$theta), table)$converged,
            "kernel", "has starting values at which the evidence has no gradient",
            "Start from less extreme hyperparameters")
  names <- table$name[table$free]
  list(table = table, sites = NULL,
       record = search_record(objective$state, Inf, 0, FALSE,
                              stats::setNames(rep(NA_real_, length(names)), names), character(),
                              "EP did not converge. Raise method_ep(sweeps =)"))
}

ABNORMAL <- 52L # optim()'s word for a line search that found no better point

# L-BFGS-B gives up its line search ("abnormal termination") when rounding hides further progress;
# with a gradient this small, in units of log evidence per factor e, that is the optimum.
# Where evaluations failed, a search may end for want of better points with the criterion still
# rising by several nats per factor e. `inside`: the hyperparameters not at the edge of their box;
# spent: has the search ended as it had failed too often?
settled <- function(result, gradient, inside, failures, spent = FALSE) {
  slope <- max(0, abs(gradient[inside]))
  if (spent) slope < FLAT
  else result$convergence == 0L && (failures == 0L || slope < STEEP) ||
    result$convergence == ABNORMAL && slope < FLAT
}

STEEP <- 5

FLAT <- 0.1 # the optimum is then some 0.005 nats away

# ---- On all rows, from where one on a pilot ended ----

# Returns a search for the hyperparameters of all rows, from where one on a pilot has ended, before
# its first step: list(learned, objective, par, curvature). problem: of all rows; pilot: of those
# that were learned from
search_on_all <- function(problem, pilot, learned, progress) {
  table <- learned$table
  par <- table$theta[table$free]
  few <- make_objective(evidence(pilot, learned$sites)$criterion, table, SILENT)
  curvature <- nrow(problem$x) / nrow(pilot$x) * curvature_by_differences(few, par)
  problem$options$tol <- max(problem$options$tol, policy$learn_tolerance)
  list(learned = learned, par = par, curvature = curvature,
       objective = make_objective(evidence(problem)$criterion, table, progress))
}

# Returns the log evidence of all rows that the search is to end at, by its first evaluation; NA if
# that failed. A Newton step gains about half of what it promises, as a pilot's curvature is too
# small: of 10 000 labels it gained 15 of 25 nats (Matern 3/2) and 17 of 32 (Matern 1/2).
expected_evidence <- function(search) {
  if (search$objective$value(search$par) >= IMPOSSIBLE) return(NA_real_)
  gradient <- search$objective$gradient(search$par)
  step <- newton_step(search$curvature, gradient)
  search$objective$state$last$run$logz - sum(step * gradient) / 4
}

# Returns what is learned by the search: list(table, sites, record).
end_search <- function(search) {
  learned <- search$learned
  all <- search$objective
  found <- newton_search(all, search$par, search$curvature, search_box(learned$table))
  learned$sites <- all$state$last$run$sites
  if (!is.null(found)) learned$table$theta[learned$table$free] <- found
  learned$record <- with_spent(learned$record, all$state)
  learned
}

# ---- What is said of a search ----

# Warns of what did not settle, by name. Noise at its lower edge is no cause for alarm: the data
# have none, and the variance, of which the noise is a proportion, may have gone to its edge with
# it. nothing_to_learn: has a warning said that there is nothing to learn (model-remarks.R)?
warn_about_search <- function(record) {
  if (is.null(record) || isTRUE(record$nothing_to_learn)) return(invisible())
  at_bound <- record$at_bound
  if ("noise" %in% at_bound) at_bound <- grep("^noise$|variance$", at_bound, value = TRUE,
                                              invert = TRUE)
  if (length(at_bound)) {
    warn_sparsegp("The search ended with ", toString(at_bound), " at the edge of its range; ",
                  "give it a starting value or a prior.")
  } else if (!record$converged) {
    warn_sparsegp("Learning stopped before it converged, after ", record$evaluations,
                  " evaluations; ", record$advice, " or give starting values.")
  }
}
