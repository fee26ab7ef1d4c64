# Problems with nearest neighbours (plan-neighbours.R), and the log evidence of Gaussian noise by
# them (src/vecchia.h).

# Returns list(tau, nu): sites that are the likelihood itself.
exact_sites <- function(problem, theta) {
  seen <- at_theta(problem, theta)
  sites <- .Call(sg_lik_site, lik_in_c(problem), lik_theta_for_c(problem, theta), seen$rows)
  list(tau = c(sites$tau), nu = c(sites$nu) - c(sites$tau) * seen$offset)
}

# Is a problem to be fitted by neighbours that are not known yet?
is_open_neighbours <- function(problem) {
  !is.null(problem$neighbours) && is.null(problem$neighbours$near)
}

# Returns the problem with neighbours at theta: of nodes, whose latent values have no copies, or of
# rows, whose responses are known with noise, where the factor of such nodes would be too large.
with_neighbours <- function(problem, theta) {
  kernel <- theta[seq_len(problem$nkernel)]
  exact <- lik_traits(problem$lik)$exact
  if (exact && !may_have_nodes(problem, theta)) return(with_responses(problem, kernel))
  nodes <- nodes_of_rows(problem$x)
  found <- nodes_before(problem$spec, kernel, nodes$x, problem$neighbours$k)
  read <- sum(is.finite(input_lengthscales(problem$spec, kernel, ncol(nodes$x))))
  numbers <- factor_numbers(found$order, found$near, read)
  if (exact && numbers > policy$known_factor) return(with_responses(problem, kernel))
  refuse_large_factor(numbers, found$near)
  problem$neighbours[c("order", "near", "nodes")] <- c(found, list(nodes))
  problem
}

# Returns the problem of Gaussian noise with neighbours of its rows.
with_responses <- function(problem, kernel) {
  u <- in_lengthscales(problem$spec, kernel, problem$x)
  k <- min(problem$neighbours$k, nrow(u) - 1L)
  found <- neighbours_before(u, k, problem$rows[1L, ])
  problem$neighbours[c("order", "near")] <- found
  problem
}

# May the rows of a problem of Gaussian noise have a factor of their nodes? Not if they are so many
# that it has too many numbers even in two inputs, or if their noise is so small that the variance
# which a node has at least (LEAST_CONDITIONAL) counts beside it.
may_have_nodes <- function(problem, theta) {
  n <- nrow(problem$x)
  if (n * NUMBERS_OF_NODE * problem$neighbours$k > policy$known_factor) return(FALSE)
  tau <- exact_sites(problem, theta)$tau
  variance <- .Call(sg_kernel_diag, problem$spec, theta[seq_len(problem$nkernel)], problem$x)
  isTRUE(all(tau > 0 & tau * variance < LEAST_OF_NOISE / LEAST_CONDITIONAL))
}

NUMBERS_OF_NODE <- 30 # of a factor in two inputs, for each neighbour: of larger ones 33 to 55

LEAST_OF_NOISE <- 0.01 # share of noise that LEAST_CONDITIONAL may be

# Returns the problem that a search evaluates, which begins at theta: by neighbours, those there,
# and of many rows some that are spread evenly over the order, as the first of it have far
# neighbours.
learning_problem <- function(problem, theta) {
  if (!is_open_neighbours(problem)) return(problem)
  exact <- lik_traits(problem$lik)$exact
  problem <- if (exact) with_responses(problem, theta[seq_len(problem$nkernel)])
             else with_neighbours(problem, theta)
  n <- nrow(problem$x)
  count <- policy$neighbour_rows
  if (n > count && exact) {
    at <- round(seq(1, n, length.out = count))
    problem$neighbours$rows <- sort(problem$neighbours$order[at])
  }
  problem$neighbours$learning <- TRUE
  problem
}

# Runs EP of a problem with `neighbours` (plan-neighbours.R), as engine_run() has it.
engine_neighbours <- function(problem, theta, start, options) {
  kernel <- theta[seq_len(problem$nkernel)]
  if (is_open_neighbours(problem)) problem <- with_neighbours(problem, theta)
  known <- problem$neighbours
  if (!lik_traits(problem$lik)$exact) return(ep_by_neighbours(problem, theta, start, options))
  sites <- exact_sites(problem, theta)
  if (!is.null(known$nodes)) return(ep_by_neighbours(problem, theta, sites, options))
  run <- list(status = 0L, tau = sites$tau, nu = sites$nu, converged = TRUE, change = 0)
  if (!all(is.finite(unlist(sites))) || any(sites$tau <= 0)) {
    return(replace(run, "status", catalogue()$statuses[["not_finite"]]))
  }
  given <- list(x = problem$x, noise = 1 / sites$tau, z = sites$nu / sites$tau,
                phi = options$trend, k = known$k, order = known$order)
  found <- density_by_neighbours(problem$spec, kernel, given, known, options$gradient)
  run[c("status", "logz", "gradient")] <- found[c("status", "logz", "gradient")]
  note_run()
  if (run$status != 0L || isTRUE(known$learning)) return(run)
  c(run, moments_given_others(problem$spec, kernel, given, found, sites))
}

# Runs EP of a problem whose likelihood is not Gaussian, on the nodes of its rows. EP of many nodes
# without sites to start from starts from those by the nearest few of the neighbours, whose factor
# has a tenth of the numbers.
ep_by_neighbours <- function(problem, theta, start, options) {
  known <- problem$neighbours
  if (is.null(start) && ncol(known$near) > FEW_NODES && nrow(known$near) > FEW_NEIGHBOURS) {
    few <- problem
    few$neighbours$near <- known$near[seq_len(FEW_NEIGHBOURS), , drop = FALSE]
    run <- ep_by_neighbours(few, theta, NULL, rough_options(options))
    if (run$status == 0L && all(is.finite(c(run$tau, run$nu)))) start <- run[c("tau", "nu")]
  }
  nodes <- known$nodes
  own <- theta[seq_len(problem$nkernel)]
  prior <- neighbour_precision(problem$spec, own, nodes$x, known$near)
  make <- factor_maker(prior$precision)
  tau <- if (lik_traits(problem$lik)$exact) drop(unname(rowsum(start$tau, nodes$node)))
         else numeric(nrow(nodes$x))
  first <- make(tau)
  if (is.null(first)) return(list(status = catalogue()$statuses[["not_pd"]], logz = NA_real_))
  by <- function(at) {
    factor <- if (identical(at, tau)) first else make(at)
    if (!is.null(factor)) factor@x
  }
  one <- match(seq_len(nrow(nodes$x)), nodes$node) # a row of each node
  options["trend"] <- list(if (!is.null(options$trend)) options$trend[one, , drop = FALSE])
  options <- c(options, list(nodes = nodes$x, node = nodes$node, near = known$near,
                             factor = factor_parts(first), by = by, log_d = prior$log_d,
                             least = LEAST_CONDITIONAL))
  c(engine_call(sg_ep_neighbours, problem, theta, start, options), list(latent = TRUE))
}

FEW_NEIGHBOURS <- 5L # by which EP begins

FEW_NODES <- 1000L # of which it does not

# Returns options of EP whose sites are to be near the fixed point.
rough_options <- function(options) {
  options$gradient <- FALSE
  options$tol <- max(options$tol, 1e-3)
  options
}

# The density of responses z, each given neighbours before it, with the coefficients of a mean
# integrated out: of generalised least squares whose matrix is the Vecchia factor. given: list(x,
# noise, z, phi); known$rows: those whose densities stand for all. Returns list(status, logz,
# gradient in the kernel's theta and log noise, coef and root of the mean).
density_by_neighbours <- function(spec, theta, given, known, gradient) {
  n <- length(given$z)
  rows <- known$rows %||% seq_len(n)
  each <- n / length(rows) # rows that a density stands for
  near <- if (is.null(known$rows)) known$near else known$near[, rows, drop = FALSE]
  ask <- function(z, gradient) {
    .Call(sg_vecchia_densities, spec, theta, unname(given$x), given$noise,
          list(row = rows, near = near, z = z, gradient = gradient))
  }
  plain <- is.null(given$phi)
  found <- ask(cbind(given$z, given$phi), gradient && plain)
  if (found$status != 0L) return(list(status = found$status, logz = NA_real_))
  trend <- if (!plain) solve_trend(found$scaled, each)
  known <- if (plain) 0 else drop(crossprod(found$scaled[-1L, , drop = FALSE], trend$coef))
  e <- found$scaled[1L, ] - known
  logz <- -each * sum(log(2 * pi) + found$logv + e^2) / 2 -
    if (plain) 0 else sum(trend$coef^2) / 2 + trend$log_det
  if (gradient && !plain) {
    found <- ask(cbind(given$z - given$phi %*% trend$coef, given$phi %*% trend$root), TRUE)
  }
  c(list(status = 0L, logz = logz, gradient = if (gradient) each * found$gradient),
    trend[c("coef", "root")])
}

# Returns coef, root = L^-1 and log|L| of the mean's coefficients, L'L = I + sum f f', from the
# scaled residuals of responses and of the mean's functions, a column for each row.
solve_trend <- function(scaled, each) {
  e <- scaled[1L, ]
  f <- scaled[-1L, , drop = FALSE]
  factor <- chol(diag(nrow(f)) + each * tcrossprod(f))
  h <- each * f %*% e
  list(coef = backsolve(factor, backsolve(factor, h, transpose = TRUE)),
       root = backsolve(factor, diag(nrow(f))), log_det = sum(log(diag(factor))))
}

# Moments, cavities and log predictive densities of the rows, each given others on all sides
# (others_of_rows()): as in full EP what is known of a row without its response, and with it. given:
# with the maximin order of the rows; trend: coef and root of the mean, or NULL.
moments_given_others <- function(spec, theta, given, trend, sites) {
  n <- nrow(given$x)
  near <- others_of_rows(spec, theta, given)
  own <- neighbour_weights(spec, theta, given$x, given$noise, given$x, near)
  q <- NCOL(given$phi) * !is.null(given$phi)
  known <- if (q > 0L) drop(given$phi %*% trend$coef) else 0
  e <- given$z - known
  m <- weighted_sums(own$weights, near, e)
  var <- drop(own$root)^2
  total <- var + given$noise
  share <- given$noise / total
  alpha <- (e - m) / total
  mean <- known + m + var * alpha
  wide <- 0
  if (q > 0L) {
    h <- given$phi - vapply(seq_len(q), function(j) {
      weighted_sums(own$weights, near, given$phi[, j])
    }, numeric(n))
    u <- matrix(h, n) %*% trend$root
    wide <- rowSums((share * u)^2)
  }
  g <- share - sites$tau * wide
  var <- var * share + wide
  cavity <- var / g
  list(mean = mean, var = var, alpha = alpha, cav_mean = mean - cavity * alpha, cav_var = cavity,
       lpd = stats::dnorm(given$z, mean - cavity * alpha, sqrt(cavity + given$noise), log = TRUE),
       trend = if (q > 0L) list(coef = trend$coef, J = u / total, root = trend$root),
       jitter = 0, sweeps = 0L)
}

# Returns the rows that each row is given, a column each: those that a point at its place is given
# (informative_rows()) but itself, or but the last if copies stand for it.
others_of_rows <- function(spec, theta, given) {
  n <- nrow(given$x)
  k <- min(given$k, n - 1L)
  found <- lapply(blocks_of_points(n, n), function(at) {
    near <- informative_rows(spec, theta, given, given$x[at, , drop = FALSE], k + 1L)
    out <- near == rep(at, each = k + 1L)
    out[k + 1L, colSums(out) == 0L] <- TRUE
    matrix(near[!out], k)
  })
  do.call(cbind, found)
}

# Returns a run with its posterior (posterior-neighbours.R).
neighbour_posterior <- function(problem, run) {
  run$basis <- problem$x
  run["G"] <- run["H"] <- list(NULL)
  run$neighbours <- list(k = problem$neighbours$k, tau = c(run$tau), nu = c(run$nu),
                         latent = isTRUE(run$latent))
  if (!is.null(run$trend)) run$trend <- c(problem$mean, run$trend)
  run
}
