# Maps: fits by nearest neighbours (plan-neighbours.R) by default.
#
# With more than policy$neighbours_from rows and two to five numeric inputs, or two if the noise is
# not Gaussian, neighbours are compared with inducing points, by the leave-one-out log density of
# observations that are no such points:
#   before anything is learned for points, with the fewest of these, over which neighbours have to
#       gain what two steps of their growth have to
#   else after all, if the largest number of points has gained what a step has to
# A kernel that was open is then compared once more, by neighbours: they lose nothing by a rough
# one.

# May a default fit be by neighbours? With a plan of another kind, or few rows, the candidate is not
# built.
may_have_neighbours <- function(plan, candidate) {
  problem <- plan$problem
  if (!grows_points(plan) || nrow(problem$x) < policy$neighbours_from) return(FALSE)
  setup <- candidate$data$setup
  settled <- c("augment", "basis", "structure")
  passing <- isTRUE(setup$streams) && is.null(setup$known) || isTRUE(setup$provisional)
  leaves_open(setup$method) && !passing && all(lengths(setup[settled]) == 0L) &&
    !is.null(setup$control) && any(candidate$table$free) && has_few_inputs(problem) &&
    is.null(what_forbids_neighbours(problem)) && lik_traits(problem$lik)$has_evidence
}

# Is a plan one of more and more inducing points, or of informative vectors, for one function?
grows_points <- function(plan) {
  inherits(plan, "plan_adaptive") && !plan$is_full ||
    inherits(plan, "plan_classification") && count_latent_values(plan$problem) == 1L
}

has_few_inputs <- function(problem) {
  most <- if (lik_traits(problem$lik)$exact) policy$neighbour_inputs else 2L
  inputs <- count_inputs(problem)
  inputs > 1L && inputs <= most
}

# Returns list(candidate): that by neighbours, if it is so much better than the fewest inducing
# points that more of these are not tried; or list(lost): a row of the record, if it ended in an
# error; or NULL. candidate: that of inducing points, with the kernel and the
# hyperparameters of the race for structure, if there was one (`raced`).
neighbours_at_once <- function(plan, candidate, raced) {
  if (!may_have_neighbours(plan, candidate)) return(NULL)
  found <- neighbours_candidate(candidate)
  if (!is.null(found$lost)) return(found)
  few <- candidate
  if (!raced) few$table <- found$table # of the same kernel, and learned
  if (inherits(plan, "plan_classification")) { # of two labels by EP, as of numbers
    points <- method_ep(size = NULL)
    points$effort <- candidate$data$setup$method$effort
    few$plan <- plan_for(points, plan$problem, NULL)
  }
  few$plan$fewest <- TRUE
  score <- tryCatch(score_basis(few), sparsegp_error = function(e) NULL)
  if (is.null(score)) return(NULL) # the fit by points says why, or has another way
  best <- race_neighbours(score, found, 2 * policy$min_gain)
  if (is_of_neighbours(best$run)) {
    return(list(candidate = with_sites(best$candidate, best$run[c("tau", "nu")])))
  }
  failed <- is.na(best$choices$score)
  if (any(failed)) list(lost = as.list(best$choices[failed, ]))
}

# Returns the better of the score of a basis and that of a candidate by neighbours, which has to
# gain `least` nats an observation.
race_neighbours <- function(best, candidate, least = 0) {
  margin <- function(gained, best) {
    max(least, policy$min_standard_errors * standard_error(gained))
  }
  incumbent <- counted(best$points, "inducing point")
  best <- race("neighbours", list(`nearest neighbours` = function(best) candidate),
               score_neighbours, gain_of_neighbours, margin, best = best, incumbent = incumbent)
  if (is_of_neighbours(best$run)) {
    best$candidate$record$choices <- stacked_table(list(candidate$record$choices, best$choices))
  }
  best
}

# A candidate that fails, for instance as its factor is too large, loses.
score_neighbours <- function(candidate) {
  run <- tryCatch(checked_run(candidate), sparsegp_error = identity)
  if (inherits(run, "error")) return(failed_neighbours(run, candidate$plan$problem))
  list(candidate = candidate, run = run, value = mean(run$lpd), rows = length(run$lpd),
       points = run$neighbours$k)
}

gain_of_neighbours <- function(found, best) {
  if (is.null(found$run)) return(NA)
  (found$run$lpd - best$run$lpd)[-best$run$basis_rows]
}

# Returns the score of neighbours that ended in an error, and warns of it: a fit by inducing points
# may miss much of a map.
failed_neighbours <- function(error, problem) {
  reason <- reason_of(error)
  warn_sparsegp("Nearest neighbours were not compared with inducing points: ", reason, ".")
  list(value = NA, rows = problem_rows(problem), points = NA, reason = reason)
}

# Returns the candidate learned by neighbours or, if these cannot be had, for instance as they take
# too much memory, list(lost), a row of the record.
neighbours_candidate <- function(candidate) {
  tryCatch(learned_by_neighbours(candidate), sparsegp_error = function(e) {
    failed <- failed_neighbours(e, candidate$plan$problem)
    list(lost = choice_row("neighbours", failed, NA, FALSE, "nearest neighbours"))
  })
}

# Returns the candidate learned by neighbours, with the best kernel for these if it was open.
learned_by_neighbours <- function(candidate) {
  data <- candidate$data
  exact <- lik_traits(candidate$model$lik)$exact
  data$setup$method <- if (exact) method_neighbours()
                       else method_neighbours(k = policy$latent_neighbours)
  n <- nrow(data$chunk$x)
  model <- candidate$model
  pilot <- structure_pilot(data$setup, model, n)
  pilot$rows <- rows_of_pilot(model, data$chunk, pilot)
  found <- learn_plain(model, data, pilot)
  if ("kernel" %in% candidate$record$choices$stage) {
    offers <- c(kernel_shapes, if (exact) rough_alone)
    axes <- lapply(offers, structure_axis, stage = "kernel of neighbours")
    found <- race_along(axes, found, pilot, n)
  }
  best <- if (n <= pilot$count) learned_on_all(found$candidate)
          else if (exact) with_rough_alone(found, pilot)
          else with_rougher_map(found$candidate, found$learned)
  best$record$choices <- stacked_table(list(candidate$record$choices, found$choices,
                                            best$record$choices))
  best
}

# Returns the candidate with what it learns by neighbours, from where it learned on a pilot.
learned_on_all <- function(candidate) {
  data <- candidate$data
  table <- candidate$table
  plan <- plan_for(data$setup$method, problem_of(candidate$model, data$chunk), NULL)
  learned <- learn(plan, table, data$setup$control, SILENT, table$theta[table$free])
  record <- learned$record
  record["choices"] <- list(NULL)
  new_candidate(candidate$model, learned$table, learned$plan, data, record)
}

# Returns the candidate of a race on a pilot, learned with all observations, or if that is a sum,
# the rough function alone, where it came close and has the better log evidence of all. A few nats
# of a pilot are no evidence for a sum, whose hyperparameters the densities of some observations
# hardly determine: of 105 569 temperatures with an exponential covariance a sum of three parts was
# better by .6 on the pilot, and worse by 33 with all.
with_rough_alone <- function(raced, pilot) {
  own <- raced$candidate
  type_of <- function(candidate) candidate$data$setup$kernel$type
  is_close <- function(candidate) {
    type_of(candidate) == "matern12" && !is.null(candidate$record) &&
      raced$value - structure_value(candidate, pilot) < policy$reopened_within
  }
  alone <- if (type_of(own) == "sum") Filter(is_close, raced$learned)
  if (length(alone) == 0L) return(learned_on_all(own))
  entries <- lapply(alone, function(candidate) function(best) candidate)
  best <- race("roughness of neighbours", entries, unless_refused(score_learned), gain_of_evidence,
               best = score_learned(own), incumbent = format(own$data$setup$kernel))
  found <- best$candidate
  found$record["choices"] <- list(best$choices)
  found
}

# Returns the score of a candidate of Gaussian noise once it is learned with all observations.
score_learned <- function(candidate) {
  found <- learned_on_all(candidate)
  problem <- found$plan$problem
  theta <- found$table$theta
  all <- with_responses(problem, theta[seq_len(problem$nkernel)])
  all$neighbours$learning <- TRUE # the log evidence, and nothing else
  run <- engine_run(all, theta)
  list(candidate = found, value = if (run$status == 0L) run$logz else NA_real_,
       rows = count_observations(found), points = problem$options$k)
}

# Returns the candidate of a pilot or one with a rougher kernel, whichever is to have the better log
# evidence of all rows, with the hyperparameters of all. EP of a pilot hardly sees how rough a
# function of labels or counts is: 10 000 labels of an exponential covariance prefer it by 20 nats
# to Matern 5/2, and 1500 the latter by .6. A function that is taken for a smoother one has
# intervals that are too narrow. Each kernel is judged by one evaluation, and the best is learned.
# raced: the others that the pilot learned, by their kernels
with_rougher_map <- function(candidate, raced) {
  type_of <- function(candidate) first_part(candidate$data$setup$kernel)$type
  shape <- match(vapply(raced, type_of, ""), SHAPES)
  rougher <- which(shape > match(type_of(candidate), SHAPES))
  entries <- lapply(raced[rougher[order(shape[rougher])]], function(raced) function(best) raced)
  best <- score_on_all(candidate)
  if (length(entries)) {
    best <- race("roughness of neighbours", entries, unless_refused(score_on_all), gain_of_evidence,
                 best = best, incumbent = format(candidate$data$setup$kernel))
  }
  learned <- end_search(best$search)
  found <- best$candidate
  found[c("table", "record")] <- learned[c("table", "record")]
  found$record["choices"] <- list(best$choices)
  with_sites(found, learned$sites)
}

# Returns the score of a candidate that was learned on a pilot, with a plan of all rows.
score_on_all <- function(candidate) {
  data <- candidate$data
  plan <- plan_for(data$setup$method, problem_of(candidate$model, data$chunk), NULL)
  learned <- list(table = candidate$table, sites = candidate$plan$sites, record = candidate$record)
  search <- search_on_all(plan$problem, candidate$plan$problem, learned, SILENT)
  candidate$plan <- plan
  list(candidate = candidate, search = search, value = expected_evidence(search),
       rows = count_observations(candidate), points = plan$problem$options$k)
}

# Returns a score by which a candidate that is refused loses.
unless_refused <- function(score) {
  function(candidate) {
    tryCatch(score(candidate), sparsegp_error = function(e) {
      list(value = NA, rows = count_observations(candidate), points = NA, reason = reason_of(e))
    })
  }
}

# Returns the score of a candidate's run on the points that it has.
score_basis <- function(candidate, run = checked_run(candidate)) {
  list(candidate = candidate, run = run, value = mean(run$lpd[-run$basis_rows]),
       rows = length(run$lpd), points = nrow(run$basis))
}
