# A strategy finds a fit where the user left something open: it settles the structure, learns,
# compares candidates, and runs the best one. Which strategy it is follows from the method, the
# likelihood and the number of observations. A method that was given is a strategy, too, of which
# only the first two steps are left.
#
#   strategy-markov.R          series: one numeric input of many observations
#   strategy-structure.R       kernel, scaling and other axes (strategy-axes.R), by log evidence
#   strategy-rounds.R          its second round: choices that later ones may undo
#   strategy-sparse.R          an axis of it: few inputs that matter (learn-screen.R)
#   strategy-categories.R      one latent function of ordered categories, or one of each
#   strategy-levels.R          effects of the levels of factors with many
#   strategy-relevance.R       a length scale for each input, of labels
#   strategy-regression.R      one latent function: inducing points while they pay
#   strategy-classification.R  many labels, two or one-vs-rest
#   strategy-class-points.R    the same: how many inducing points
#   strategy-roughness.R       the same: a rougher kernel
#   strategy-least-squares.R   the same, by least squares on shared points
#   strategy-multi-output.R    several latent functions
#   strategy-copies.R          once more, with virtual copies

#' @export
plan_for.method_ep <- function(method, problem, basis) {
  refuse_power(method, problem)
  if (!is.null(method$size)) return(plan_sized_ep(method, problem, basis))
  refuse_if(method$projection == "kl" || method$freeze == Inf,
            "method", "sweeps over points that it chooses, and has no size",
            "Give method_ep(size =), or use projection = \"moment\" with a finite freeze")
  refuse_if(isTRUE(method$learn_points),
            "method", "has learn_points = TRUE and leaves the number of points open",
            "Give method_ep(size =)")
  if (problem_width(problem) > 1L) return(plan_multi_output(method, problem, basis))
  problem$options <- method
  if (is.null(basis$x)) plan_adaptive(problem, method$effort) else plan_ep(problem, basis)
}

#' @export
plan_for.method_default <- function(method, problem, basis) {
  n <- nrow(problem$x)
  if (is.null(basis$x) && fits_classes(method, problem$lik, n, problem$processes)) {
    return(plan_classification(problem, method$effort))
  }
  options <- method_ep(size = NULL)
  options$effort <- method$effort
  if (count_latent_values(problem) > 1L) plan_multi_output(options, problem, basis)
  else plan_for(options, problem, basis)
}

# Learns the hyperparameters of a model whose structure is `settled` (choose_structure()).
# settled$setup$basis: as read_basis() gives it; remark: is what the rows lack remarked on? Returns
# list(candidate, problem, basis, setup, nothing_to_learn), setup with the plan's options.
learn_from <- function(chunk, settled, remark = TRUE) {
  model <- settled$model
  setup <- settled$setup
  chunk <- settled$chunk %||% chunk
  nothing_to_learn <- remark && remark_on_rows(model, setup, chunk)
  problem <- problem_of(model, chunk)
  basis <- resolve_basis(setup$basis, problem$x, model$scaling, problem$width)
  if (!is.null(setup$augment)) refuse_copies(model$lik, setup$method)
  plan <- plan_of_model(model, setup, problem, basis)
  near <- neighbours_at_once(plan, settled_candidate(settled, plan, chunk), !is.null(settled$from))
  if (!is.null(near$candidate)) {
    problem <- near$candidate$plan$problem
    setup$options <- problem$options
    return(list(candidate = near$candidate, problem = problem, basis = basis, setup = setup,
                nothing_to_learn = nothing_to_learn))
  }
  if (any(model$table$free) && !is.null(setup$control)) begin_stage("learning hyperparameters")
  learned <- learn_plan(plan, model$table, setup$control, setup$verbose, settled$from)
  begin_stage("fitting all observations")
  record <- if (is.null(learned$record)) settled$record else learned$record # nothing more to learn
  if (!is.null(record)) {
    record$choices <- stacked_table(list(settled$choices, near$lost, record$choices))
  }
  known <- with_settled_scale(model, learned$table, chunk, setup)
  candidate <- new_candidate(known$model, known$table, learned$plan,
                             list(chunk = chunk, setup = setup), record)
  candidate$rougher <- settled$rougher
  setup$options <- plan$problem$options
  list(candidate = candidate, problem = problem, basis = basis, setup = setup,
       nothing_to_learn = nothing_to_learn)
}

# Returns the candidate that the race for structure has left, if there was one, with a plan of all
# rows.
settled_candidate <- function(settled, plan, chunk) {
  table <- settled$model$table
  if (!is.null(settled$from)) table$theta[table$free] <- settled$from
  record <- settled$record
  if (!is.null(record)) record$choices <- settled$choices
  new_candidate(settled$model, table, plan, list(chunk = chunk, setup = settled$setup), record)
}

# Runs a learned candidate, after comparing it with others if the strategy has such. Returns
# list(candidate, run, power, choices): what is run, the exponent that recalibrates probabilities
# (NULL: 1), and the record of the comparisons.
tune <- function(plan, candidate) UseMethod("tune")

#' @export
tune.plan <- function(plan, candidate) {
  list(candidate = candidate, run = checked_run(candidate))
}

# Refuses, before anything is learned, what cannot have copies: these are of labels, which they
# cannot contradict, or share a weight, and are chosen as points.
refuse_copies <- function(lik, method) {
  refuse_if(inherits(method, c("method_markov", "method_neighbours")), "augment",
            paste0("makes inducing points of copies, and method_", method$type, "() has none"),
            "Leave one of them out")
  refuse_if(isTRUE(method$learn_points), "augment",
            paste("has points chosen from rows and their copies, and the method",
                  "has learn_points = TRUE"), "Leave one of them out")
  refuse_if(has_constants(lik),
            "augment", "divides the weights of rows, and lik_custom(data =) has constants",
            "Leave it out, or give lik_custom() without data")
  codec <- lik_codec(lik)
  traits <- lik_traits(lik)
  if (codec$labelled || traits$weighted && !codec$trials && !traits$repeated) return(invisible())
  refuse_augment(paste0("is for labels and for Gaussian noise of one response, and the likelihood ",
                        "is ", lik_label(lik), ", under which copies would count as more rows"))
}
