# EP on a basis for rows that are not all at hand: the loop of ep_loop.c over parts, in R. A part is
# a problem (engine.R) with the rows that are at hand together; kernel, likelihood and basis are the
# same for all. Between sweeps only the sums of the sites are kept (S and t of every basis), and the
# sites themselves: two numbers a latent value.

# control: sweeps, damping and tol as in method_ep(). Returns a run as engine_run() gives it,
# without a posterior; gradient takes one more read of the rows.
fold_run <- function(parts, theta, control, gradient = FALSE) {
  course <- list(at = fold_start(parts), legal = NULL, damping = control$damping, best = Inf)
  trace <- matrix(0, 2L, 0L)
  repeat {
    settled <- fold_settle(parts, theta, course)
    course <- settled$course
    swept <- settled$swept
    if (swept$status != 0L) return(swept[c("status", "logz")])
    trace <- cbind(trace, c(swept$logz, swept$change))
    converged <- swept$change <= control$tol
    if (converged || ncol(trace) >= control$sweeps) break
    course <- fold_pace(course, swept$change, control)
    course$legal <- course$at
    course$at <- blend_sites(course$at, swept$next_at, course$damping)
  }
  run <- if (gradient) fold_sweep(parts, theta, course$at, gradient = TRUE) else swept
  # the sums of the sites at hand, not of those that the last sweep asked for
  state <- Map(function(mine, asked) c(asked["R"], mine[c("S", "t")]), course$at$sums,
               run$next_at$sums)
  c(run[c("status", "logz", "gradient", "change", "latent")], course$at["sites"],
    list(state = state, converged = converged, sweeps = ncol(trace), trace = trace))
}

# No site says anything.
fold_start <- function(parts) {
  first <- parts[[1L]]
  bases <- if (is.list(first$basis)) first$basis else list(first$basis)
  own <- is.list(first$basis) || own_kernels(first$lik)
  bases <- if (own) rep_len(bases, first$processes) else bases
  each <- if (own) 1L else first$processes
  list(sums = lapply(bases, function(points) {
    d <- nrow(points)
    list(S = matrix(0, d, d * each), t = matrix(0, d, each))
  }), sites = lapply(parts, no_sites))
}

# One read of all rows at the sites and sums of `at`. next_at: those that the tilts ask for.
fold_sweep <- function(parts, theta, at, gradient = FALSE) {
  total <- NULL
  for (k in seq_along(parts)) {
    part <- engine_pass(parts[[k]], theta, at$sums, at$sites[[k]], gradient, own = k == 1L)
    if (part$status != 0L) return(list(status = part$status, logz = NaN))
    total <- add_part(total, part, k)
  }
  total
}

add_part <- function(total, part, k) {
  if (is.null(total)) {
    total <- list(status = 0L, logz = 0, gradient = 0 * part$gradient, change = 0,
                  next_at = list(sums = lapply(part$state, lapply, `*`, 0), sites = list()),
                  latent = list())
  }
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
fold_settle <- function(parts, theta, course) {
  for (halvings in 0:10) {
    swept <- fold_sweep(parts, theta, course$at)
    if (swept$status == 0L || is.null(course$legal)) break
    course$damping <- max(course$damping / 2, 1 / 16)
    course$at <- blend_sites(course$at, course$legal, 0.5)
  }
  list(course = course, swept = swept)
}

fold_pace <- function(course, change, control) {
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

# A part of a sweep over rows that are not all at hand (glue_batch.c): those of `problem`, at their
# sites, under the posterior of `sums`, a list(S, t) for each basis. own: with what no row adds.
engine_pass <- function(problem, theta, sums, sites, gradient = FALSE, own = FALSE,
                        narrow = FALSE) {
  engine_call(sg_ep_pass, problem, theta, sums, sites,
              list(gradient = gradient, own = own, narrow = narrow), problem$basis)
}
