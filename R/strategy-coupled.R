# Classes that are coupled in the posterior: the last step of a fit. The structure is chosen, and
# hyperparameters are learned, with classes that are independent in the posterior, which costs a
# C^2-th; then all rows once more with sites of C x C, from the sites and hyperparameters found so.

# Returns the candidate with its classes coupled, if that was asked for, or is by default.
with_coupled_classes <- function(candidate, setup) {
  lik <- candidate$model$lik
  if (isFALSE(lik$coupled) || is.null(coupled_likelihood(lik))) return(candidate)
  lacking <- lacking_for_coupled(candidate, setup)
  if (!is.null(lacking)) {
    refuse_coupled(lik, lacking)
    return(candidate)
  }
  work <- coupled_work(count_observations(candidate), candidate$model$response$processes, lik)
  asked <- prediction_work(candidate$model$response$processes, lik) # a picture is of so many rows
  affordable <- work + asked <= policy$coupled_flops * EFFORT[[effort_of(setup$method)]]
  if (!isTRUE(lik$coupled) && !affordable) return(candidate)
  polished(coupled_candidate(candidate), candidate, setup, work)
}

FULL_EP <- "full EP, with every row in the basis"

# Returns what coupled classes would need that is not there, or NULL.
lacking_for_coupled <- function(candidate, setup) {
  if (setup$streams) return("all rows at once, in memory")
  if (!inherits(candidate$plan, "plan_full")) return(FULL_EP)
  if (own_kernels(candidate$model$lik)) return("classes that share a kernel")
  if (candidate$model$response$processes > MAX_COMPONENTS) {
    return(paste("at most", MAX_COMPONENTS, "classes"))
  }
  if (!is.null(setup$augment)) return("rows without virtual copies")
  if (!(setup$integrate %||% "none") %in% "none") "hyperparameters that are not integrated over"
}

# Refuses classes that cannot be coupled as they were asked to be, before anything is learned.
refuse_uncoupled <- function(model, chunk, setup) {
  if (!isTRUE(model$lik$coupled) || is.null(coupled_likelihood(model$lik))) return(invisible())
  problem <- problem_of(model, chunk)
  basis <- resolve_basis(setup$basis, problem$x, model$scaling, problem$width)
  plan <- plan_for(setup$method, problem, basis)
  lacking <- lacking_for_coupled(list(plan = plan, model = model), setup)
  if (is.null(lacking)) return(invisible())
  # of so many rows that full EP is not the default
  remedy <- if (lacking == FULL_EP && leaves_open(setup$method)) {
    "Give method = method_ep(size = Inf), which takes minutes, or coupled = FALSE"
  }
  refuse_coupled(model$lik, lacking, remedy)
}

# Returns the candidate as a model of one process, at the same hyperparameters.
coupled_candidate <- function(candidate) {
  data <- candidate$data
  plan <- candidate$plan
  data$setup$likelihood <- coupled_likelihood(candidate$model$lik)
  model <- with_response(candidate$model, data$chunk, data$setup)
  model <- with_kernel(model, data$chunk, data$setup)
  size <- c(nrow(data$chunk$x), model$response$width)
  data$chunk$offset <- wide_offset(data$chunk$offset, size)
  problem <- problem_of(model, data$chunk)
  problem$options <- plan$problem$options
  plan$problem <- problem
  plan$rows <- seq_len(nrow(problem$x))
  plan["sites"] <- list(coupled_sites(plan$sites, size))
  record <- candidate$record
  new_candidate(model, candidate$table, plan, data, record)
}

# Returns blocks with the sites of independent classes on their diagonals.
coupled_sites <- function(sites, size) {
  if (is.null(sites)) return(NULL)
  C <- size[2L]
  tau <- matrix(0, C * C, size[1L])
  tau[seq(1L, C * C, C + 1L), ] <- t(matrix(sites$tau, size[1L]))
  list(tau = c(tau), nu = c(t(matrix(sites$nu, size[1L]))))
}

# Returns the candidate after a search that goes on from its hyperparameters by its own evidence,
# where that is cheap enough, too. An evaluation takes as long as dozens of those of `independent`
# classes, whose curvature stands for its own, and ends near their optimum: so the search is
# Newton's.
polished <- function(candidate, independent, setup, work) {
  table <- candidate$table
  searches <- !is.null(setup$control) && any(table$free) && !is.null(candidate$record) &&
    identical(setup$control$criterion, "evidence") &&
    work * policy$coupled_evaluations <= policy$coupled_flops
  if (!searches) return(candidate)
  objective_of <- function(candidate) {
    aim <- evidence(candidate$plan$problem, candidate$plan$sites)
    make_objective(aim$criterion, table, SILENT)
  }
  from <- table$theta[table$free]
  coupled <- objective_of(candidate)
  # Each evaluation begins anew, as one that goes on from the last depends on the order of classes.
  anew <- list(gradient = function(par) objective_of(independent)$gradient(par))
  found <- newton_search(coupled, from, curvature_by_differences(anew, from), search_box(table),
                         policy$coupled_gain, evaluated = TRUE)
  if (is.null(found)) return(candidate)
  candidate$table$theta[table$free] <- found
  record <- with_spent(candidate$record, coupled$state)
  record$objective <- -coupled$value(found)
  record$gradient <- stats::setNames(-coupled$gradient(found), table$name[table$free])
  candidate$record <- record
  candidate$plan["sites"] <- list(coupled$state$last$run$sites)
  candidate
}
