# Sweeps of EP on a basis over rows that are read in chunks. A sweep is a sum over chunks of what
# each adds to the sums of the next sites (S and t of every basis), to the log evidence, its
# gradient, and the residual. Between sweeps only these and the sites are kept.
#
# A fold is a list of what all chunks have in common:
#   scan      of the source (fold-scan.R)
#   fit       a fit without rows: how chunks are coded, bases, kernel, likelihood
#   batches   chunks that are added up together, whoever does it
#   store     of what is kept of the rows (fold-sites.R); NULL: nothing is, and sites are exact
#   told      what is called with the proportion of the rows done
# A point is where a fold stands: `weights` of generations of sites (fold-sites.R), whose weighted
# sum are the sites, and `sums` of these sites.

# As many sums are added up apart: of so many batches, whatever the number of workers.
MOST_BATCHES <- 32L

new_fold <- function(scan, fit, store = NULL, told = function(share) NULL) {
  chunks <- scan$source$chunks
  batch_of <- ceiling(seq_len(chunks) * min(1, MOST_BATCHES / chunks))
  batches <- unname(split(seq_len(chunks), batch_of))
  list(scan = scan, fit = fit, batches = batches, store = store, told = told)
}

has_exact_sites <- function(lik) catalogue()$likelihoods[[lik$type]]$exact

# ---- A chunk ----

# The rows of a chunk as C sees them, and what a sum over responses needs.
fold_rows <- function(fold, i, chunk) {
  fit <- fold$fit
  frame <- read_frame(fold$scan$recipe, chunk)
  check_chunk_again(fold$scan$source, fold$scan$prints, i, print_of_rows(frame))
  if (nrow(frame) == 0L) return(NULL)
  rows <- with_data_rows(fit, frame_rows(recipe_of(fit), frame))
  problem <- problem_of_new_rows(fit, rows$x, rows$data_rows, rows$offset)
  problem$basis <- if (is.null(fit$posterior$each)) fit$posterior$basis else bases_of(fit)
  list(problem = problem, values = sum(codec_of(fit)$values(rows$y)))
}

# What a chunk adds. task: list(theta, point, what, own), where `what` is "collect", the sums of the
# sites as they are, "sweep", or "gradient", a sweep that changes nothing. Also `at` and `asked`,
# the generations that the sites and those that they ask for are written as; `narrow`, with no
# negative precisions; `past`, generations of past steps, see past_residuals(); `seen`: has a read
# at this theta left gamma in the store? `coupled`, `solution`: see engine_pass().
fold_chunk <- function(fold, task, i, chunk) {
  rows <- fold_rows(fold, i, chunk)
  if (is.null(rows)) return(NULL)
  problem <- rows$problem
  store <- fold$store
  exact <- has_exact_sites(fold$fit$likelihood)
  sites <- if (exact) no_sites(problem) else sites_at(store, task$point$weights, i, problem)
  part <- engine_pass(problem, task$theta, task$point$sums, sites,
                      list(collect = task$what == "collect", gradient = task$what == "gradient",
                           own = i == task$own, narrow = isTRUE(task$narrow),
                           rows = sum(fold$scan$rows)),
                      if (isTRUE(task$seen)) store$read(GAMMA, i), isTRUE(task$coupled),
                      task$solution)
  if (part$status != 0L) return(part["status"])
  if (!is.null(store)) store_part(store, task, i, sites, part)
  mixes <- length(task$past) > 0L
  c(part[c("status", "logz", "gradient", "change", "state", "weights", "side")],
    list(values = rows$values, lpd = sum(part$lpd),
         widening = count_widening(part$tau, problem_width(problem)),
         products = if (mixes) step_products(store, task$past, i, sites, part, problem)))
}

store_part <- function(store, task, i, sites, part) {
  if (!isTRUE(task$seen)) store$write(GAMMA, i, part$gamma)
  if (!is.null(task$asked)) store$write(task$asked, i, part[c("tau", "nu")])
  if (!is.null(task$at)) store$write(task$at, i, sites)
}

add_parts <- function(one, other) {
  if (is.null(one) || is.null(other)) return(if (is.null(one)) other else one)
  if (one$status != 0L) return(one)
  if (other$status != 0L) return(other)
  total <- c("logz", "gradient", "values", "lpd", "widening", "products", "weights", "side")
  one[total] <- Map(function(a, b) if (is.null(a)) NULL else a + b, one[total], other[total])
  one$change <- max(one$change, other$change)
  one$state <- add_states(one$state, other$state)
  one
}

# ---- A read of all rows ----

# What all chunks add up to.
fold_read <- function(fold, task) {
  counts <- fold$scan$rows
  task$own <- which(counts > 0)[1L]
  parts <- if (has_workers(fold$scan$source)) read_by_workers(fold, task) else read_here(fold, task)
  Reduce(add_parts, parts)
}

read_here <- function(fold, task) {
  source <- fold$scan$source
  batch_of <- rep(seq_along(fold$batches), lengths(fold$batches))
  parts <- vector("list", length(fold$batches))
  done <- 0
  if (!source$apart) source$chunks <- NA_integer_ # one more than there were is a change
  seen <- each_chunk(source, function(i, chunk) {
    part <- fold_chunk(fold, task, i, chunk)
    if (!is.null(part)) parts[[batch_of[i]]] <<- add_parts(parts[[batch_of[i]]], part)
    done <<- done + fold$scan$rows[i]
    fold$told(done / sum(fold$scan$rows))
  })
  check_all_again(source, fold$scan$prints, seen)
  parts
}

# Reads all chunks and compares them with what they were.
check_rows_again <- function(fold) {
  scan <- fold$scan
  seen <- each_chunk(scan$source, function(i, chunk) {
    check_chunk_again(scan$source, scan$prints, i,
                      print_of_rows(read_frame(scan$recipe, chunk)))
  })
  check_all_again(scan$source, scan$prints, seen)
}
