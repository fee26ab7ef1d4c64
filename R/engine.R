# The one place that calls C. A problem is everything C needs but hyperparameters:
#   x        n x p double matrix of kept, scaled inputs
#   kernel   resolved specification; lik; rows (q x n); offset (n); method
#   basis    d x p double matrix of scaled inputs, or NULL: every row is in the basis, unless the
#            method selects some (select.R); chosen: which rows of x they are, or NULL
# theta is the full vector of hyperparameters on C's scale, kernel first.

spec_for_c <- function(kernel) {
  list(type = kernel$type, vars = as.integer(kernel$vars), ard = kernel$ard,
       degree = as.integer(kernel$degree), parts = lapply(kernel$parts, spec_for_c))
}

# One run of the method at theta. sites: list(tau, nu) to start from, NULL for scratch.
engine_run <- function(problem, theta, sites = NULL, gradient = FALSE, posterior = FALSE) {
  if (is.list(problem$rows)) return(run_against_rest(problem, theta, sites, gradient))
  n <- nrow(problem$x)
  from_kernel <- seq_len(problem$nkernel)
  if (is.null(sites)) sites <- list(tau = numeric(n), nu = numeric(n))
  method <- problem$method
  options <- list(sweeps = method$sweeps, batch = ceiling(method$sweeps / 2),
                  damping = method$damping, tol = method$tol, gradient = gradient,
                  posterior = posterior)
  if (!is.null(method$batch)) options$batch <- method$batch
  if (is.null(problem$basis)) {
    full_or_advice(n, .Call(
      sg_ep_full, problem$spec, theta[from_kernel], problem$x, problem$lik["type"],
      theta[-from_kernel], problem$rows, problem$offset, sites, options
    ))
  } else {
    .Call(sg_ep_batch, problem$spec, theta[from_kernel], problem$x, problem$lik["type"],
          theta[-from_kernel], problem$rows, problem$offset, sites, options, problem$basis)
  }
}

FATES <- c("projected", "declined", "added", "exchanged", "skipped") # as in row_step.h

score_code <- function(score) match(score, c("mean", "kl", "error")) - 1L

# Sweeps of sparse EP from scratch at theta; after `freeze` of them, or with a predefined basis from
# the start, the basis stays.
engine_sparse <- function(problem, theta, freeze, sweeps) {
  from_kernel <- seq_len(problem$nkernel)
  method <- problem$method
  options <- list(
    size = if (is.null(problem$basis)) min(method$size, nrow(problem$x)) else nrow(problem$basis),
    frozen = !is.null(problem$basis), kl = method$projection == "kl", novelty = method$novelty,
    score = score_code(method$score), freeze = min(freeze, .Machine$integer.max), sweeps = sweeps,
    tol = method$tol
  )
  run <- .Call(sg_ep_sparse, problem$spec, theta[from_kernel], problem$basis, problem$x,
               problem$lik["type"], theta[-from_kernel], problem$rows, problem$offset, options)
  rownames(run$trace) <- c(FATES, "change", "log_evidence")
  run
}

# What a selection leaves to luck, from R's generator and only where it matters.
draw_luck <- function(problem) {
  n <- nrow(problem$x)
  method <- problem$method
  needed <- method$select == "random" || method$pool < n * min(method$size, n)
  as.double(if (needed) sample.int(n) else seq_len(n))
}

# Selection of an active set at theta, with the problem's luck if it brings some.
engine_ivm <- function(problem, theta) {
  from_kernel <- seq_len(problem$nkernel)
  method <- problem$method
  n <- nrow(problem$x)
  size <- min(method$size, n)
  pool <- min(method$pool, n * size)
  options <- list(size = size, min_gain = method$min_gain, pool = max(pool, size),
                  select = match(method$select, c("information", "entropy", "random")) - 1L,
                  block = method$block, keep = method$keep, exchange = method$exchange)
  .Call(sg_ivm, problem$spec, theta[from_kernel], problem$x, problem$lik["type"],
        theta[-from_kernel], problem$rows, problem$offset,
        if (is.null(problem$luck)) draw_luck(problem) else problem$luck, options)
}

# log Z and its derivatives of all rows at marginals of the latent function.
engine_tilt <- function(problem, theta, mean, var) {
  .Call(sg_lik_tilt, problem$lik["type"], theta[-seq_len(problem$nkernel)], problem$rows,
        mean + problem$offset, var, FALSE)
}

# A stream that has seen nothing: p inputs, one process per class.
empty_state <- function(p, classes = 1L) {
  count <- c(numeric(length(FATES)), rows = 0, logz = 0, stale = 0, stride = 1, traced = 0)
  list(points = matrix(0, p, 0L), id = numeric(), R = matrix(0, 0L, 0L), S = matrix(0, 0L, 0L),
       t = matrix(0, 0L, classes), count = unname(count), trace = matrix(0, 5L, 0L))
}

STATE <- names(empty_state(0L))

# Rows of `problem` into a stream; problem$size and $frozen say how far the basis may change. start:
# points of a predefined basis to begin with, or NULL.
engine_online <- function(problem, theta, state, start = NULL) {
  from_kernel <- seq_len(problem$nkernel)
  method <- problem$method
  options <- list(
    size = problem$size, frozen = problem$frozen, kl = method$projection == "kl",
    novelty = method$novelty, score = score_code(method$score),
    informative = method$order == "informative"
  )
  .Call(sg_online, problem$spec, theta[from_kernel], state, start, problem$x,
        problem$lik["type"], class_thetas(problem, theta),
        if (is.list(problem$rows)) unname(problem$rows) else list(problem$rows), problem$offset,
        options)
}

# Hyperparameters of the likelihood, class by class.
class_thetas <- function(problem, theta) {
  classes <- if (is.list(problem$rows)) length(problem$rows) else 1L
  own <- theta[-seq_len(problem$nkernel)]
  unname(split(own, rep(seq_len(classes), each = length(own) / classes)))
}

# Every class against the rest: processes that share the kernel's hyperparameters and nothing else,
# so that evidences and their gradients add.
run_against_rest <- function(problem, theta, sites, gradient) {
  kernel <- seq_len(problem$nkernel)
  own <- class_thetas(problem, theta)
  runs <- lapply(seq_along(own), function(class) {
    mine <- problem
    mine$rows <- problem$rows[[class]]
    start <- if (!is.null(sites)) list(tau = sites$tau[[class]], nu = sites$nu[[class]])
    engine_run(mine, c(theta[kernel], own[[class]]), start, gradient)
  })
  each <- function(field) lapply(runs, `[[`, field)
  list(
    status = min(unlist(each("status"))), logz = sum(unlist(each("logz"))),
    converged = all(unlist(each("converged"))), tau = each("tau"), nu = each("nu"),
    gradient = if (gradient) {
      c(Reduce(`+`, lapply(each("gradient"), `[`, kernel)),
        unlist(lapply(each("gradient"), `[`, -kernel)))
    }
  )
}

# Full EP holds n x n matrices; where they do not fit, say what does.
full_or_advice <- function(n, run) {
  tryCatch(run, error = function(e) {
    if (!grepl("cannot allocate", conditionMessage(e), fixed = TRUE)) stop(e)
    stop_sparsegp("x", paste0("has too many rows for full EP: ", n, " rows take about ",
                              ceiling(3 * 8 * n^2 / 2^30), " GiB"),
                  "Leave `method` out, or choose method_ep(size =) or method_ivm(size =)")
  })
}

# The status of a run, in words. Names the hyperparameters, since they are what a user can change.
check_run <- function(run, table) {
  if (run$status == 0L && is.finite(run$logz)) return(run)
  values <- paste(table$name, signif(hyper_value(table), 3), sep = " = ")
  what <- if (run$status == -1L) "made a kernel matrix impossible to factor"
          else "led to numbers that are not finite"
  stop_sparsegp("kernel", paste0(what, " (", toString(values), ")"),
                "Scale the inputs (scale = TRUE), or start from less extreme hyperparameters")
}

# Latent moments at x under a run that is not yet a fit.
engine_latent <- function(problem, theta, run, x) {
  posterior <- list(basis = run$basis, alpha = run$alpha, G = run$G, H = run$H)
  .Call(sg_predict, problem$spec, theta[seq_len(problem$nkernel)], posterior, x, FALSE)
}

engine_predict <- function(fit, x, joint = FALSE) {
  if (several_classes(fit)) return(predict_classes(fit, x))
  .Call(sg_predict, fit$spec, kernel_theta(fit), fit$posterior, x, joint)
}

# Latent moments of every class: matrices with a column for each.
predict_classes <- function(fit, x) {
  d <- nrow(fit$posterior$basis)
  moments <- lapply(seq_along(fit$response$levels), function(class) {
    posterior <- fit$posterior
    posterior$alpha <- posterior$alpha[, class]
    posterior$H <- posterior$H[, (class - 1L) * d + seq_len(d), drop = FALSE]
    .Call(sg_predict, fit$spec, kernel_theta(fit), posterior, x, FALSE)
  })
  columns <- function(field) {
    matrix(unlist(lapply(moments, `[[`, field)), nrow(x),
           dimnames = list(NULL, fit$response$levels))
  }
  list(mean = columns("mean"), var = columns("var"))
}

# Moments of a response; for several classes mean and var are matrices with a column for each, and
# so are the answers.
engine_lik_predict <- function(fit, mean, var, spread = FALSE) {
  own <- matrix(lik_theta(fit), ncol = NCOL(mean))
  runs <- lapply(seq_len(NCOL(mean)), function(class) {
    .Call(sg_lik_predict, fit$likelihood["type"], own[, class], as.double(as.matrix(mean)[, class]),
          as.double(as.matrix(var)[, class]), spread)
  })
  if (!is.matrix(mean)) return(runs[[1L]])
  lapply(stats::setNames(nm = names(Filter(length, runs[[1L]]))), function(field) {
    matrix(unlist(lapply(runs, `[[`, field)), nrow(mean), dimnames = dimnames(mean))
  })
}

several_classes <- function(fit) length(fit$response$levels) > 2L

engine_lik_eval <- function(fit, f, rows = NULL) {
  .Call(sg_lik_eval, fit$likelihood["type"], lik_theta(fit), rows, as.double(f))
}

kernel_theta <- function(fit) fit$hyper$theta[fit$hyper$part == "kernel"]

lik_theta <- function(fit) fit$hyper$theta[fit$hyper$part == "likelihood"]

# The likelihood's hyperparameters by name, in C's units.
lik_values <- function(fit) {
  table <- fit$hyper[fit$hyper$part == "likelihood", ]
  stats::setNames(ifelse(table$log, exp(table$theta), table$theta), table$name)
}

# Kernel matrix between scaled inputs x and z.
engine_kernel <- function(fit, x, z) .Call(sg_kernel_cross, fit$spec, kernel_theta(fit), x, z)

# The IVM's log Q(D|theta) = -phi (paper eq. 11) on an active set, with its gradient for the sites
# as they are. active: `rows` in order of inclusion, their `tau` and `nu`, all rows `at_hand`; row
# numbers are integers. renew: set the sites at theta first, in the order of the rows.
engine_phi <- function(problem, theta, active, renew = FALSE, gradient = TRUE) {
  from_kernel <- seq_len(problem$nkernel)
  .Call(sg_ivm_criterion, problem$spec, theta[from_kernel], problem$x, problem$lik["type"],
        theta[-from_kernel], problem$rows, problem$offset, active$rows, active$at_hand,
        active[c("tau", "nu")], list(renew = renew, gradient = gradient))
}
