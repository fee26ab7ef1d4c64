# The one place that calls C.

# A part of a sweep over some of the rows (glue_batch.c): those of `problem`, at their
# sites, under the posterior of `states`, a list of one for each basis. options: own (with what no
# row adds), collect (only the sums of the sites), gradient, narrow, rows (of which the states are
# sums). gamma: what a pass over these rows at this theta has given as such; NULL: there was no such
# pass. coupled: are the shifts of all classes from one step, with the solution of its system, or
# NULL to have the system first?
engine_pass <- function(problem, theta, states, sites, options, gamma = NULL, coupled = FALSE,
                        solution = NULL) {
  more <- list(gamma = gamma, coupled = coupled, solution = solution,
               trend = functions_of_mean(problem))
  problem$power <- problem$options$power
  theta <- theta_at_limit(problem, theta)
  engine_call(sg_ep_pass, problem, theta, states, sites, c(options, more), problem$basis)
}

# The step of EP after a sweep over rows that are read in chunks (glue_iteration.c). settings: see
# batch_settings(); state: of the step before; NULL: this is the first.
engine_iterate <- function(settings, coupled, state, swept) {
  .Call(sg_ep_iterate, c(settings, list(coupled = coupled)), state, swept)
}

# The posterior of full EP. Its factors are of the rows in an order of their own where some of them
# widen the posterior, with several latent functions each in its own.
full_posterior <- function(problem, run) {
  order <- matrix(run$order, ncol = problem$processes)
  own <- function(class) {
    posterior <- class_posterior(c(list(basis = problem$x), run), class)
    posterior$basis <- problem$x[order[, class], , drop = FALSE]
    posterior$alpha <- posterior$alpha[order[, class]]
    posterior
  }
  if (!is.null(run$trend)) { # of one process
    run$trend$J <- run$trend$J[order, , drop = FALSE]
    run$trend <- c(problem$mean, run$trend)
  }
  if (problem$processes == 1L) {
    run[c("basis", "alpha")] <- own(1L)[c("basis", "alpha")]
    return(run)
  }
  run$basis <- problem$x
  if (own_kernels(problem$lik) || !is.null(run$H)) {
    run$each <- lapply(seq_len(problem$processes), own)
  }
  run[setdiff(names(run), "order")]
}

# The posterior of EP on a basis, or on one for each latent function, from the states it has left.
basis_posterior <- function(problem, run) {
  if (length(run$state) == 1L) {
    posterior <- state_posterior(run$state[[1L]], problem$mean)
    run[names(posterior)] <- posterior
    return(run)
  }
  bases <- problem$basis
  if (!is.list(bases)) bases <- rep(list(bases), problem$processes)
  run$each <- Map(function(basis, state) c(list(basis = basis), state_posterior(state)), bases,
                  run$state)
  run
}

# The stored form of a state: list(R, S, t) of what is on one basis, as state.h has it.
# mean: the record of a mean whose coefficients the state has, or NULL
state_posterior <- function(state, mean = NULL) {
  stored <- .Call(sg_posterior, state)
  refuse_if(stored$status != 0L, "object",
            paste("would have no proper posterior: negative site precisions of",
                  "rows far from all others are too large"),
            "Fit all rows at once, or by a likelihood that is log-concave")
  if (is.null(stored$trend)) return(stored[c("alpha", "G", "H")])
  c(stored[c("alpha", "G", "H")], list(trend = c(mean_record(mean), stored$trend)))
}

# Returns sites of an online pass over the rows in this order, each seen given those before it. EP
# for a multimodal likelihood starts from them: parallel updates from zero sites converge between
# the modes. NULL if they are not finite.
pass_sites <- function(problem, theta, order = seq_len(problem_rows(problem))) {
  w <- problem_width(problem)
  some <- problem
  points <- stacked_rows(order, w)
  some$x <- problem$x[points, , drop = FALSE]
  some$rows <- with_row_at_part(problem$rows[, order, drop = FALSE], w, 1L)
  some$offset <- problem$offset[points]
  some$options <- method_ep()
  some$mean <- NULL # its prior would be wider than what a basis resolves
  run <- sparse_sweeps(some, theta, freeze = 1L, sweeps = 1L, narrow = FALSE, posterior = FALSE)
  back <- order(order)
  sites <- list(tau = c(matrix(run$tau, w * w)[, back]), nu = c(matrix(run$nu, w)[, back]))
  if (all(is.finite(unlist(sites)))) sites
}

# Sweeps of sparse EP from scratch at theta; after `freeze` of them, or with a predefined basis from
# the start, the basis stays. Where rows that widen the posterior have led nowhere, no row may
# (`narrow`).
engine_sparse <- function(problem, theta, freeze, sweeps, posterior = TRUE) {
  run <- sparse_sweeps(problem, theta, freeze, sweeps, narrow = FALSE, posterior)
  lost <- run$status != 0L || count_widening(run$tau, problem_width(problem)) > 0L &&
    sweeps == problem$options$sweeps && last_change(run) > problem$options$tol
  if (lost) sparse_sweeps(problem, theta, freeze, sweeps, narrow = TRUE, posterior) else run
}

# Sites that widen the posterior: whose block of w x w has a negative eigenvalue.
count_widening <- function(tau, w) {
  if (w == 1L) return(sum(tau < 0))
  least <- function(block) min(eigen(matrix(block, w), TRUE, only.values = TRUE)$values)
  sum(apply(matrix(tau, w * w), 2L, least) < 0)
}

last_change <- function(run) run$trace[["change", ncol(run$trace)]]

# How a basis of at most `size` points may change.
basis_rules <- function(problem, size, frozen, narrow = FALSE) {
  method <- problem$options
  list(size = size, frozen = frozen, kl = method$projection == "kl", narrow = narrow,
       novelty = method$novelty, score = match(method$score, catalogue()$scores) - 1L)
}

sparse_sweeps <- function(problem, theta, freeze, sweeps, narrow, posterior) {
  basis <- problem$basis
  size <- if (is.null(basis)) points_of(problem$options$size, problem) else nrow(basis)
  options <- c(basis_rules(problem, size, !is.null(basis), narrow),
               list(freeze = min(freeze, .Machine$integer.max), sweeps = sweeps,
                    tol = problem$options$tol, posterior = posterior))
  run <- engine_call(sg_ep_sparse, problem, theta, basis, options)
  rownames(run$trace) <- c(catalogue()$fates, "change", "log_evidence")
  run$narrow <- narrow
  run
}

# Draws the random order of a selection from R's generator, and only where it matters.
selection_order <- function(problem) {
  n <- nrow(problem$x)
  method <- problem$options
  needed <- method$select == "random" || method$pool < stub_count(problem)
  as.double(if (needed) sample.int(n) else seq_len(n))
}

# The doubles that the stubs of all candidates take.
stub_count <- function(problem) {
  n <- as.double(nrow(problem$x)) # a product of integers may be none
  n * min(problem$options$size, n) * problem$processes
}

# Selection of an active set at theta, with the problem's tie-break if it brings one.
engine_ivm <- function(problem, theta) {
  method <- problem$options
  n <- nrow(problem$x)
  size <- min(method$size, n)
  pool <- min(method$pool, stub_count(problem))
  options <- list(size = size, total = as.double(method$total %||% Inf), min_gain = method$min_gain,
                  pool = max(pool, size * problem$processes),
                  select = match(method$select, catalogue()$selections) - 1L,
                  block = method$block, keep = method$keep, exchange = method$exchange)
  run <- engine_call(sg_ivm, problem, theta, problem$tie_break %||% selection_order(problem),
                     options)
  if (problem$processes > 1L) return(run)
  c(run[names(run) != "each"], run$each[[1L]])
}

# Why a selection ended
stop_of <- function(run) catalogue()$stops[run$stop + 1L]

# Nothing was chosen.
stop_empty <- function(run) {
  refuse_if(identical(stop_of(run), "min_gain"),
            "method", "has a min_gain that no row reaches at these hyperparameters",
            "Lower method_ivm(min_gain =)")
  stop_sparsegp("kernel", paste("is zero at every row, or every row would get a negative site",
                                "precision, so no first row can be selected"),
                paste("Leave constant inputs out, add kernel_constant(), give an offset, or start",
                      "from other values"))
}

# log Z and its derivatives of all rows at marginals of the latent function.
engine_tilt <- function(problem, theta, mean, var) {
  seen <- at_theta(problem, theta)
  .Call(sg_lik_tilt, lik_in_c(problem), lik_theta_for_c(problem, theta), seen$rows,
        mean + seen$offset, var, FALSE)
}

# Refuses to begin a stream with rows that all make the posterior wider than the prior and do not
# move it, as every row does where the likelihood is even in a latent function of mean 0: whether EP
# fails then is up to rounding, and nothing can be learned. failed: has EP failed? Then a row need
# only widen it.
refuse_widening <- function(problem, theta, failed) {
  if (count_latent_values(problem) > 1L) return(invisible())
  widens <- function(row) {
    x <- problem$x[row, , drop = FALSE]
    prior <- kernel_matrix(problem$spec, theta[seq_len(problem$nkernel)], x, x)
    tilt <- engine_tilt(part_of_problem(problem, row), theta, 0, drop(prior))
    moves <- abs(tilt$d1) * sqrt(drop(prior)) > sqrt(.Machine$double.eps) # in prior sd
    isTRUE(tilt$d2 > 0 && (failed || !moves))
  }
  for (row in seq_len(nrow(problem$x))) if (!widens(row)) return(invisible())
  stop_sparsegp("likelihood", paste0("is ", problem$lik$type, ", which gives the first rows ",
                                     "negative site precisions, so the stream cannot start"),
                "Give an offset: a prior mean other than 0")
}

# A stream that has seen nothing: p inputs, one process per class.
empty_state <- function(p, classes = 1L) {
  list(points = matrix(0, p, 0L), id = numeric(), R = matrix(0, 0L, 0L), S = matrix(0, 0L, 0L),
       t = matrix(0, 0L, classes), count = as.double(record_names() == "stride"),
       trace = matrix(0, 6L, 0L))
}

SUMS <- c("R", "S", "t") # of anything on a basis (state.h)

STATE <- c("points", "id", SUMS, "count", "trace") # of empty_state()

# Rows of `problem` into a stream; problem$size and $frozen say how far the basis may change. start:
# points of a predefined basis to begin with, or NULL. by_row: one row after the other where C would
# take blocks of them, for the same numbers; tests compare the two.
engine_online <- function(problem, theta, state, start = NULL, by_row = FALSE) {
  options <- c(basis_rules(problem, problem$size, problem$frozen),
               list(informative = identical(problem$options$order, "informative"), by_row = by_row))
  engine_call(sg_online, problem, theta, state, start, options)
}

# Stops with the error of a run of full EP. It holds n x n matrices: if they do not fit into memory
# the message names methods that need less.
explain_memory <- function(error, n) {
  if (!grepl("cannot allocate", conditionMessage(error), fixed = TRUE)) stop(error)
  stop_sparsegp("x", paste0("has too many rows for full EP: ", n, " rows take about ",
                            ceiling(3 * 8 * n^2 / 2^30), " GiB"),
                "Leave `method` out, or choose method_ep(size =) or method_ivm(size =)")
}

# The status of a run, in words. Names the hyperparameters, since they are what a user can change.
check_run <- function(run, table) {
  if (run$status == 0L && is.finite(run$logz)) return(run)
  shown <- shown_values(table)
  values <- paste(names(shown), signif(shown, 3), sep = " = ")
  singular <- run$status == catalogue()$statuses[["not_pd"]]
  what <- if (singular) "made a kernel matrix impossible to factor"
          else "led to numbers that are not finite"
  bound <- if (identical(run$power, 0)) {
    ". With power = 0 no response may be impossible: method_ep(power = 1) allows for that"
  }
  stop_sparsegp("kernel", paste0(what, " (", toString(values), ")"),
                paste0("Scale the inputs (scale = TRUE), or start from less extreme ",
                       "hyperparameters", bound))
}

# Refuses a run whose evidence labels and counts cannot have: EP has diverged, and its result
# approximates nothing. EP that only has not come to rest is a result, which the fit's record and a
# warning call so.
refuse_impossible <- function(run, lik, rows) {
  if (!is_impossible(lik, run$logz, rows)) return(invisible())
  stop_sparsegp("likelihood", paste0("is ", lik_label(lik), ", for which EP finds no fixed point ",
                                     "with these rows and hyperparameters (log evidence ",
                                     signif(run$logz, 3L), ", change ",
                                     signif(run$change, 3L), ")"),
                divergence_remedy(lik, "Start from less extreme hyperparameters"))
}

# Returns what to do where EP of this likelihood diverges, or `otherwise`.
divergence_remedy <- function(lik, otherwise) lik_traits(lik)$remedy %||% otherwise

# EP that is far from its fixed point has an evidence that may be many nats too high: not a number
# to learn from. Near to it the error is of second order.
NEAR <- 0.1 # residual, in cavity standard deviations

# Latent moments at x under a run that is not yet a fit.
engine_latent <- function(problem, theta, run, x) {
  posterior <- run[intersect(c("basis", "alpha", "G", "H", "each", "trend", OWN_POSTERIORS),
                             names(run))]
  for (field in setdiff(c("G", "H"), names(posterior))) posterior[field] <- list(NULL)
  problem$width <- problem_width(problem)
  latent_moments(problem, theta[seq_len(problem$nkernel)], posterior, x)
}

# Latent moments; with several latent functions matrices with a column for each.
engine_predict <- function(fit, x) {
  by_member(fit, function(fit, x) {
    model <- list(spec = fit$spec, lik = fit$likelihood, processes = processes(fit),
                  width = n_outputs(fit))
    named_by_class(fit, latent_moments(model, kernel_theta(fit), fit$posterior, x))
  }, function(each, fit) mixed_moments(fit, each, fit$ensemble$weights), x)
}

# Moments of a response; with several latent functions mean and var are matrices with a column for
# each, and so are the answers.
engine_lik_predict <- function(fit, mean, var, spread = FALSE, weights = NULL) {
  custom <- fit$likelihood$custom
  if (!is.null(custom)) return(predict_custom(custom, lik_theta(fit), mean, var, weights))
  .Call(sg_lik_predict, lik_of_fit(fit), lik_theta(fit), mean, var, spread)
}

# Probability of every label under marginals of one latent function: n x K.
engine_label_probabilities <- function(fit, mean, var, weights = NULL) {
  levels <- fit$response$levels
  labels <- codec_of(fit)$codes(factor(levels, levels), fit$response)
  each <- lapply(labels, function(label) {
    rows <- lik_traits(fit$likelihood)$data_rows(rep(label + 0, length(mean)), weights)
    exp(engine_lik_tilt(fit, rows, mean, var)$logz)
  })
  matrix(as.double(unlist(each)), length(mean), length(levels), dimnames = list(NULL, levels))
}

# log Z and its derivatives, of data rows at marginals.
engine_lik_tilt <- function(fit, rows, mean, var) {
  .Call(sg_lik_tilt, lik_of_fit(fit), lik_theta(fit), rows, mean, var, FALSE)
}

# Probabilities of less and of more than the responses of data rows at marginals; and quantiles of
# new responses like those rows (their weights and trials). `lik` as C takes it.
engine_lik_tails <- function(lik, theta, rows, mean, var) {
  if (!is.null(lik$custom)) return(custom_tails(lik$custom, theta, rows, mean, var))
  .Call(sg_lik_tails, lik, theta, rows, mean, var)
}

# Quantiles of p, one or one for each row, of mixtures of normals, a row each; shares: of one row,
# or of as many
engine_mixed_quantile <- function(mean, sd, shares, p) {
  .Call(sg_mixed_quantile, mean, sd, shares, p)
}

engine_lik_quantile <- function(lik, theta, rows, mean, var, p) {
  if (!is.null(lik$custom)) return(custom_quantile(lik$custom, theta, rows, mean, var, p))
  .Call(sg_lik_quantile, lik, theta, rows, mean, var, p)
}

# The precision of the sites of rows, w x w numbers each, where a site is the likelihood itself,
# whatever the response; else nothing.
engine_exact_precision <- function(fit, rows) {
  lik <- lik_for_c(fit$likelihood, processes(fit), n_outputs(fit), nrow(rows))
  .Call(sg_lik_site, lik, lik_theta(fit), rows)$tau
}

engine_lik_eval <- function(fit, f, rows = NULL, weights = NULL) {
  custom <- fit$likelihood$custom
  if (!is.null(custom)) return(evaluate_custom(custom, lik_theta(fit), f, rows, weights))
  .Call(sg_lik_eval, lik_of_fit(fit), lik_theta(fit), rows, as.double(f))
}

# The IVM's log Q(D|theta) = -phi (paper eq. 11) on an active set, with its gradient for the sites
# as they are. active: `rows` in order of inclusion, their `tau` and `nu`, all rows `at_hand`; row
# numbers are integers. renew: set the sites at theta first, in the order of the rows.
engine_phi <- function(problem, theta, active, renew = FALSE, gradient = TRUE) {
  engine_call(sg_ivm_criterion, problem, theta, active$rows, active$at_hand,
              active[c("tau", "nu")], list(renew = renew, gradient = gradient))
}
