# The axis of few inputs that matter among many: a kernel of those inputs alone, with a length scale
# each. A kernel of all has to find all length scales at once, which takes more observations than
# there are, and its price in the race for structure is that of all (structure_value()). Inputs are
# found by screening (learn-screen.R), whose threshold is the price of their choice: of p inputs
# that do not matter the best one seems to gain log p nats.

# Returns the alternative of a kernel of the inputs that screening finds, or NULL. problem: of the
# best candidate so far
inputs_that_matter <- function(model, chunk, setup, table, problem) {
  now <- setup$kernel
  names <- model$inputs$names[model$scaling$kept]
  if (length(names) < policy$fewest_screened || anyDuplicated(names)) return(NULL)
  at <- screened_of_problem(problem, table$theta, model$scaling$levels)
  if (length(at) == 0L) return(NULL)
  found <- kernel_rbf(ard = length(at) > 1L, vars = names[sort(at)])
  offered <- alternative_kernels(list(now, found))
  offered[[2L]]$price <- lchoose(length(names), length(at))
  offered
}

# Returns the columns of a problem's inputs that matter, by its sites at theta. levels: more than 0
# for a factor
screened_of_problem <- function(problem, theta, levels) {
  run <- engine_run(problem, theta)
  if (!run$usable) return(integer())
  n <- length(run$tau)
  rows <- unique(round(seq(1, n, length.out = min(n, policy$screened_rows))))
  seen <- seen_of_run(run, rows, lik_traits(problem$lik)$exact)
  x <- problem$x[seen$rows, , drop = FALSE]
  mean <- cbind(rep(1, n), functions_of_mean(problem))[seen$rows, , drop = FALSE]
  mean <- sweep(mean, 2L, sqrt(colMeans(mean^2)), "/")
  p <- ncol(x)
  screened_inputs(x, levels, seen, mean, log(p) + policy$min_screened_gain,
                  most = min(p * policy$most_screened_part[1L], policy$most_screened,
                             length(seen$rows) * policy$most_screened_part[2L]))
}
