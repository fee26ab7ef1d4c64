# EP on a basis for rows that are not all at hand: the loop of ep_loop.c over parts, in R. A part is
# a problem (engine-problem.R) with the rows that are at hand together; kernel, likelihood and basis
# are the
# same for all. Between sweeps only the sums of the sites are kept (S and t of every basis), and the
# sites themselves: two numbers a latent value.

has_exact_sites <- function(lik) catalogue()$likelihoods[[lik$type]]$exact

# control: sweeps, damping and tol as in method_ep(). Returns a run as engine_run() gives it,
# without a posterior; gradient takes one more read of the rows.
parts_run <- function(parts, theta, control, gradient = FALSE) {
  course <- list(at = parts_start(parts, theta), legal = NULL, damping = control$damping,
                 best = Inf)
  trace <- matrix(0, 2L, 0L)
  repeat {
    settled <- parts_settle(parts, theta, course)
    course <- settled$course
    swept <- settled$swept
    if (swept$status != 0L) return(swept[c("status", "logz")])
    parts <- Map(function(part, gamma) c(part[names(part) != "gamma"], list(gamma = gamma)), parts,
                 swept$gamma)
    trace <- cbind(trace, c(swept$logz, swept$change))
    converged <- swept$change <= control$tol || has_exact_sites(parts[[1L]]$lik)
    if (converged || ncol(trace) >= control$sweeps) break
    course <- parts_pace(course, swept$change, control)
    course$legal <- course$at
    course$at <- blend_sites(course$at, swept$next_at, course$damping)
  }
  run <- if (gradient) parts_sweep(parts, theta, course$at, gradient = TRUE) else swept
  # the sums of the sites at hand, not of those that the last sweep asked for
  state <- Map(function(mine, asked) c(asked["R"], mine[c("S", "t")]), course$at$sums,
               run$next_at$sums)
  sites <- if (has_exact_sites(parts[[1L]]$lik)) run$next_at$sites else course$at$sites
  c(run[c("status", "logz", "gradient", "change", "latent")],
    list(sites = sites, state = state, converged = converged, sweeps = ncol(trace), trace = trace))
}

# No site says anything, or exact ones all there is to say.
parts_start <- function(parts, theta) {
  first <- parts[[1L]]
  bases <- if (is.list(first$basis)) first$basis else list(first$basis)
  own <- is.list(first$basis) || own_kernels(first$lik)
  bases <- if (own) rep_len(bases, first$processes) else bases
  each <- if (own) 1L else first$processes
  start <- list(sums = lapply(bases, function(points) {
    d <- nrow(points)
    list(S = matrix(0, d, d * each), t = matrix(0, d, each))
  }), sites = lapply(parts, no_sites))
  if (has_exact_sites(first$lik)) {
    start$sums <- parts_sweep(parts, theta, start, collect = TRUE)$next_at$sums
  }
  start
}

# One read of all rows at the sites and sums of `at`. next_at: those that the tilts ask for.
parts_sweep <- function(parts, theta, at, gradient = FALSE, collect = FALSE) {
  total <- NULL
  rows <- sum(vapply(parts, function(part) ncol(part$rows), 0L))
  for (k in seq_along(parts)) {
    part <- engine_pass(parts[[k]], theta, at$sums, at$sites[[k]],
                        list(gradient = gradient, own = k == 1L, narrow = FALSE, collect = collect,
                             rows = rows), parts[[k]]$gamma)
    if (part$status != 0L) return(list(status = part$status, logz = NaN))
    total <- add_part(total, part, k)
  }
  total
}

add_part <- function(total, part, k) {
  if (is.null(total)) {
    total <- list(status = 0L, logz = 0, gradient = 0 * part$gradient, change = 0,
                  next_at = list(sums = lapply(part$state, lapply, `*`, 0), sites = list()),
                  latent = list(), gamma = list())
  }
  total$gamma[[k]] <- part$gamma
  total$logz <- total$logz + part$logz
  total$gradient <- total$gradient + part$gradient
  total$change <- max(total$change, part$change)
  total$next_at$sums <- Map(function(sum, new) {
    list(R = new$R, S = sum$S + new$S, t = sum$t + new$t)
  }, total$next_at$sums, part$state)
  total$next_at$sites[[k]] <- part[c("tau", "nu")]
  total$latent[[k]] <- part[c("mean", "var", "cav_mean", "cav_var", "lpd")]
  total
}

# Where a sweep ends nowhere the step that led there is halved, as in ep_loop.c.
parts_settle <- function(parts, theta, course) {
  for (halvings in 0:10) {
    swept <- parts_sweep(parts, theta, course$at)
    if (swept$status == 0L || is.null(course$legal)) break
    course$damping <- max(course$damping / 2, 1 / 16)
    course$at <- blend_sites(course$at, course$legal, 0.5)
  }
  list(course = course, swept = swept)
}

parts_pace <- function(course, change, control) {
  if (change > 2 * course$best) {
    course$damping <- max(course$damping / 2, 1 / 16)
    course$best <- change
  } else {
    course$damping <- min(course$damping * 1.25, control$damping)
    course$best <- min(course$best, change)
  }
  course
}

# A share of the way from one set of sites, and of their sums, to another: no row is read.
blend_sites <- function(from, to, share) {
  mix <- function(a, b) a + share * (b - a)
  list(sums = Map(function(a, b) list(S = mix(a$S, b$S), t = mix(a$t, b$t)), from$sums, to$sums),
       sites = Map(function(a, b) list(tau = mix(a$tau, b$tau), nu = mix(a$nu, b$nu)), from$sites,
                   to$sites))
}
