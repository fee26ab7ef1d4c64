# Fits by nearest neighbours: the prior of each row given its nearest among the rows before it.
#
#   stage      rows whose densities are learned from            neighbours
#   first      policy$neighbour_rows, spread over the order     at the length scales it began at
#   again      the same, while a ratio of length scales has     at those where the search ended
#              moved by policy$neighbour_drift, and at most
#              policy$neighbour_rounds times in all

#' @export
plan_for.method_neighbours <- function(method, problem, basis) {
  refuse_power(method, problem)
  refuse_without_points(basis, "method_neighbours()", what_forbids_neighbours(problem))
  problem$options <- method
  plan_neighbours(problem)
}

# Returns the plan of a problem that can have it. problem$neighbours: list(k), how many rows a row
# is given, which makes engine_run() go by neighbours; near: a column for each row, once they are
# known
plan_neighbours <- function(problem) {
  problem$basis <- NULL
  problem$options$k <- problem$options$k %||% usual_neighbours(problem)
  problem$neighbours <- list(k = min(problem$options$k, nrow(problem$x) - 1L))
  refuse_many_rows(problem$options$k, nrow(problem$x))
  new_plan("plan_neighbours", problem, rows = seq_len(nrow(problem$x)))
}

# Returns how many neighbours a row is given if the user leaves that open. EP by few of them is
# inexact, and in more than two inputs more are needed for the same error.
usual_neighbours <- function(problem) {
  more <- !lik_traits(problem$lik)$exact && count_places(problem$spec) > 2L
  as.integer(policy$usual_neighbours[1L + more])
}

# Returns how many inputs a kernel reads, a place on the sphere being two.
count_places <- function(spec) length(unique(spec_columns(spec))) - count_spheres(spec)

#' @export
refuse_forbidden.plan_neighbours <- function(plan) {
  refuse_found(what_forbids_neighbours(plan$problem))
}

# Returns why a problem cannot be fitted by neighbours: list(argument, what, remedy), or NULL.
what_forbids_neighbours <- function(problem) {
  why <- function(argument, ...) list(argument = argument, what = paste0(...),
                                      remedy = "Leave `method` out, or use method_ep(size =)")
  lik <- problem$lik
  if (count_latent_values(problem) > 1L) {
    return(why("method", "is for one latent function, and the model has ",
               count_latent_values(problem)))
  }
  if (is_modal(lik)) {
    return(why("likelihood", "is ", lik_label(lik), ", whose posterior has several modes, and ",
               "method_neighbours() finds one"))
  }
  if (!is.null(problem$scale)) {
    return(why("likelihood", "has a transform with a parameter that is learned, and ",
               "method_neighbours() learns none"))
  }
  found <- what_forbids_kernel(problem$spec)
  if (is.null(found)) {
    read <- count_places(problem$spec)
    if (read <= policy$neighbour_inputs) return(NULL)
    found <- paste0("reads ", read, " inputs, and neighbours are near in at most ",
                    policy$neighbour_inputs)
  }
  why("kernel", found)
}

# Returns why a kernel does not define which rows are near, or NULL.
what_forbids_kernel <- function(spec) {
  found <- what_forbids_part(spec)
  if (!is.null(found)) return(found)
  reads <- lapply(stationary_terms(spec), function(term) sort(unique(term)))
  if (length(reads) == 0L) return("has no stationary part, such as kernel_matern32()")
  if (length(unique(reads)) == 1L) return(NULL)
  paste("is a sum of parts that read different inputs: rows that are far from each other share an",
        "effect")
}

# Returns why a part of a kernel is none that neighbours go with, or NULL.
what_forbids_part <- function(spec) {
  if (any(spec$levels > 0)) return("reads a factor, whose levels have no neighbours")
  known <- c(STATIONARY, "constant", "linear", "poly", "sum", "product")
  if (!spec$type %in% known) {
    return(paste0("has a part kernel_", spec$type, "(), which defines no nearest rows"))
  }
  for (part in spec$parts) {
    found <- what_forbids_part(part)
    if (!is.null(found)) return(found)
  }
}

# Returns the columns that each term of a kernel reads by stationary parts: a list.
stationary_terms <- function(spec) {
  if (spec$type %in% STATIONARY) return(list(spec$vars))
  terms <- lapply(spec$parts, stationary_terms)
  if (spec$type == "sum") return(unlist(terms, recursive = FALSE))
  all <- unlist(terms)
  if (length(all)) list(all)
}

# Stops before memory is taken that a fit of n rows may not have: neighbours, their weights and
# factors.
refuse_many_rows <- function(k, n) {
  k <- min(k, n - 1L)
  if (n <= most_neighbour_rows(k)) return(invisible())
  stop_sparsegp("k", paste0("= ", k, " neighbours of ", n, " rows take some ",
                            ceiling(8 * numbers_of_row(k) * n / 1e9), " GB"),
                "Give method_neighbours() a smaller k, or use method_ep(size =)")
}

# Returns how many rows may be fitted by k neighbours.
most_neighbour_rows <- function(k) floor(2 * policy$held_numbers / numbers_of_row(k))

numbers_of_row <- function(k) 3 * (k + 10)

# ---- Learning ----

#' @export
learn.plan_neighbours <- function(plan, table, control, progress, from = NULL) {
  if (!is.null(from)) table$theta[table$free] <- from
  teaching <- teaching_problem(plan$problem)
  learned <- list(table = table)
  for (round in seq_len(policy$neighbour_rounds)) {
    again <- learn_hyper(evidence(teaching), learned$table, control, progress, from)
    again$record <- with_spent(again$record, learned$record)
    moved <- moved_ratios(plan$problem, learned$table$theta, again$table$theta)
    learned <- again
    from <- learned$table$theta[table$free]
    if (moved <= policy$neighbour_drift) break
  }
  if (nrow(teaching$x) < nrow(plan$problem$x) && any(table$free)) {
    learned <- end_search(search_on_all(plan$problem, teaching, learned, progress))
    plan["sites"] <- list(learned$sites)
  }
  list(plan = plan, table = learned$table, record = learned$record)
}

# Returns the problem that hyperparameters are learned from: of Gaussian noise the densities of some
# rows stand for all (learning_problem()); of others EP is of some rows.
teaching_problem <- function(problem) {
  n <- nrow(problem$x)
  if (lik_traits(problem$lik)$exact || n <= policy$neighbour_sites) return(problem)
  rows <- window_rows(problem, policy$neighbour_sites) %||%
    sort(utils::head(spread_problem(problem), policy$neighbour_sites))
  part <- part_of_problem(problem, rows)
  part$neighbours <- list(k = min(problem$neighbours$k, length(rows) - 1L))
  part
}

# Returns by how much the logarithm of a ratio of length scales has moved, which is what neighbours
# depend on.
moved_ratios <- function(problem, before, after) {
  scales <- lapply(list(before, after), function(theta) {
    input_lengthscales(problem$spec, theta[seq_len(problem$nkernel)], ncol(problem$x))
  })
  moved <- log(scales[[2L]]) - log(scales[[1L]])
  moved <- moved[is.finite(moved)]
  diff(range(moved, moved[1L]))
}

# The pilot on which structures are compared for them, without its price (structure_pilot()): of
# other likelihoods the first is learned from as many rows as the others are judged by.
neighbours_pilot <- function(method, lik, n) {
  count <- min(n, if (lik_traits(lik)$exact) policy$neighbour_rows else policy$neighbour_sites)
  list(count = count, points = count, of_classes = FALSE, plan = function(problem) {
    problem$options <- method
    plan_neighbours(problem)
  })
}
