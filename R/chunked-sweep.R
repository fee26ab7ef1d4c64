# Sweeps of EP on a basis over rows that are read in chunks. A sweep is a sum over chunks of what
# each adds to the sums of the next sites (S and t of every basis), to the log evidence, its
# gradient, and the residual. Between sweeps only these and the sites are kept.
#
# A list, `chunked`, has what all chunks have in common:
#   scan      of the source (chunked-scan.R); n: the number of its rows
#   fit       a fit without rows: how chunks are coded, bases, kernel, likelihood
#   exact     are the sites the likelihood itself?
#   coupled   are the shifts of classes from one step for all? That takes a second read
#   batches   chunks that are added up together, whoever does it
#   store     of what is kept of the rows (chunked-sites.R)
#   progress  called with the proportion of the rows done
#   traffic   of workers (chunked-workers.R)
# A point is where an iteration stands: `weights` of generations of sites (chunked-sites.R), whose
# weighted sum are the sites, and `sums` of these sites.

# Most coordinates of all latent functions with coupled steps: their system has the square of it.
MOST_COORDINATES <- 3000

new_chunked <- function(scan, fit, store, progress = function(share) NULL) {
  list(scan = scan, n = sum(scan$rows), fit = fit,
       coupled = is_coupled(fit$likelihood, processes(fit)) &&
         sum(lengths(lapply(fit$state, `[[`, "t"))) <= MOST_COORDINATES,
       exact = lik_in_catalogue(fit$likelihood)$exact,
       batches = batches_of(scan$source$chunks), store = store, progress = progress,
       traffic = new_traffic(scan$traffic))
}

# ---- A chunk ----

# Returns the rows of a chunk as C sees them, and their log Jacobian.
chunked_rows <- function(chunked, i, chunk) {
  fit <- chunked$fit
  frame <- read_frame(chunked$scan$recipe, chunk)
  check_chunk_again(chunked$scan$source, chunked$scan$prints, i,
                    print_of_chunk(chunked$scan$recipe, chunk, frame))
  if (nrow(frame) == 0L) return(NULL)
  rows <- with_data_rows(fit, frame_rows(recipe_of(fit), frame))
  list(problem = problem_of_new_rows(fit, rows$x, rows$data_rows, rows$offset,
                                     basis = basis_for_c(fit)),
       jacobian = log_jacobian(fit$response, rows$y))
}

# Returns what a chunk adds. task: list(theta, point, stage, own), where `stage` is "collect", the
# sums of the given sites, "sweep", or "gradient", a sweep that changes nothing. Also `at` and
# `asked`, the generations that the sites and those that they ask for are written as; `narrow`, with
# no negative precisions; `past`, generations of past steps, see step_products(); `seen`: has a read
# at this theta left gamma in the store? `coupled`, `solution`: see engine_pass().
chunked_part <- function(chunked, task, i, chunk) {
  rows <- chunked_rows(chunked, i, chunk)
  if (is.null(rows)) return(NULL)
  problem <- rows$problem
  store <- chunked$store
  sites <- sites_at(store, task$point$weights, i, problem)
  part <- engine_pass(problem, task$theta, task$point$sums, sites,
                      list(collect = task$stage == "collect", gradient = task$stage == "gradient",
                           own = i == task$own, narrow = isTRUE(task$narrow), rows = chunked$n),
                      if (isTRUE(task$seen)) store$read(GAMMA, i), isTRUE(task$coupled),
                      task$solution)
  if (part$status != 0L) return(part["status"])
  if (!isTRUE(task$seen)) store$write(GAMMA, i, part$gamma)
  if (!is.null(task$asked)) store$write(task$asked, i, part[c("tau", "nu")])
  if (!is.null(task$at)) store$write(task$at, i, sites)
  c(part[c("status", "logz", "gradient", "change", "state", "weights", "side")],
    list(jacobian = rows$jacobian, lpd = sum(part$lpd),
         widening = count_widening(part$tau, problem_width(problem)),
         products = if (length(task$past)) {
           step_products(store, task$past, i, sites, part, problem)
         }))
}

# Adds up what two chunks add, NULL where there is nothing.
add_parts <- function(one, other) {
  if (is.null(one) || is.null(other)) return(if (is.null(one)) other else one)
  if (one$status != 0L) return(one)
  if (other$status != 0L) return(other)
  total <- c("logz", "gradient", "jacobian", "lpd", "widening", "products", "weights", "side")
  one[total] <- Map(function(a, b) if (is.null(a)) NULL else a + b, one[total], other[total])
  one$change <- max(one$change, other$change)
  one$state <- add_states(one$state, other$state)
  one
}
