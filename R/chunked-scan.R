# The first pass over a source: what a data frame would show at once. Its result, a scan:
#   source   with the number of its chunks
#   recipe   how a chunk becomes a model frame (rows-recipe.R)
#   levels   of every variable that has some, see with_levels()
#   prints   of every chunk's frame (data-source.R); rows: how many complete rows each has
#   omitted  rows left out for missing values
#   traffic  of workers, as new_traffic() has `first` and `warned`
# and, where rows are to be learned from,
#   inputs   moments of the model matrix's columns (data-scaling.R)
#   response moments of a response of numbers, or NULL
#   rows_kept, kept   numbers of the rows that were kept, and their frame
#
# A share of the chunks has a scan of its own; workers make one each (chunked-workers.R). Sums of
# moments are added up as those of sweeps are (chunked-fold.R), and of everything else that two
# scans have it is the same whether one chunk follows on another or a share on a share: the numbers
# and the rows kept do not depend on who has read what. Which rows a share keeps depends on how many
# come before it, which is foreseen; a share is read again where that was wrong.

# recipe: with the terms of a frame. first: the first frame with rows, where rows are to be learned
# from; setup: with the coding of factors; keep: how many rows are kept at most; some: how many are
# if there are more.
scan_source <- function(source, recipe, first = NULL, setup = NULL, keep = 0L, some = keep) {
  pass <- list(source = source, recipe = recipe, seen = list(), moments = !is.null(first),
               batches = if (!is.na(source$chunks)) batches_of(source$chunks),
               coded = setup$coded, counted = levels_of_setup(setup), keep = keep, some = some,
               block = rows_in_block(setup, some), rows = nrow(first))
  if (pass$moments) pass$seen <- more_levels(list(), levels_in(first))
  traffic <- new_traffic()
  scan <- scan_once(pass, traffic)
  if (sum(scan$rows) == 0) stop_incomplete("data")
  if (scan$late) { # columns of chunks that came before a level did lack it
    pass$seen <- scan$seen
    pass$counts <- counted_rows(list(scan))
    scan <- scan_once(pass, traffic)
  }
  scanned(pass, scan, traffic)
}

# Returns how many consecutive rows are kept together, of which a series shows its length scales.
rows_in_block <- function(setup, keep) {
  if (is_filter(setup$method)) max(1, keep %/% policy$pilot_windows) else 1
}

# Returns the scan of all chunks as others see it.
scanned <- function(pass, scan, traffic) {
  chunks <- if (is.na(pass$source$chunks)) max(0L, scan$chunks) else pass$source$chunks
  source <- pass$source
  source$chunks <- as.integer(chunks)
  result <- list(source = source, recipe = pass$recipe, levels = levels_of(scan$seen),
                 prints = replace(vector("list", chunks), scan$chunks, scan$prints),
                 rows = replace(numeric(chunks), scan$chunks, scan$rows), omitted = scan$omitted,
                 traffic = list(first = traffic$bytes, warned = traffic$warned))
  if (!pass$moments) return(result)
  moments <- Reduce(join_both_moments, lapply(scan$blocks, `[[`, "sum"), right = TRUE)
  if (scan$pool$n > pass$keep) scan$pool$size <- pass$some
  kept <- pooled(scan$pool)
  c(result, moments, list(kept = with_levels(kept$frame, result$levels), rows_kept = kept$at))
}

scan_once <- function(pass, traffic) {
  if (!has_workers(pass$source)) return(scan_share(list(pass = pass)))
  shares <- shares_of_workers(length(pass$batches), future::nbrOfWorkers())
  traffic$workers <- length(shares)
  pass$borrowed <- borrowed_for(pass$source, list(recipes = list(pass$recipe)), traffic)
  foreseen <- vapply(shares, rows_before, 0, pass = pass)
  found <- scan_shares(pass, shares, traffic)
  pass$counts <- counted_rows(found)
  wrong <- pass$moments & foreseen != vapply(shares, rows_before, 0, pass = pass)
  found[wrong] <- scan_shares(pass, shares[wrong], traffic)
  Reduce(join_scans, found)
}

# Returns how many rows come before a share, as they were counted or, where they were not, if every
# chunk has as many as the first.
rows_before <- function(pass, share) {
  chunks <- if (is.null(share)) 0 else pass$batches[[share[1L]]][1L] - 1
  if (is.null(pass$counts)) chunks * max(0, pass$rows) else sum(pass$counts[seq_len(chunks)])
}

# Returns how many rows each chunk has, from the scans of all shares.
counted_rows <- function(scans) {
  chunks <- unlist(lapply(scans, `[[`, "chunks"))
  replace(numeric(max(0L, chunks)), chunks, unlist(lapply(scans, `[[`, "rows")))
}

# Returns the scans of shares, each by a worker.
scan_shares <- function(pass, shares, traffic) {
  given <- lapply(shares, function(share) list(pass = pass, share = share))
  futures <- lapply(given, function(own) {
    note_traffic(traffic, own)
    begin_task(scan_in_worker, own, pass$borrowed$packages)
  })
  lost <- 0L
  found <- vector("list", length(shares))
  for (k in seq_along(shares)) {
    own <- answer_of(futures[[k]])
    futures[k] <- list(NULL) # it holds what its worker has sent
    note_traffic(traffic, own)
    lost <- lost + is.null(own)
    if (!is.null(own)) check_worker_answer(is_scan_of_share(own, pass$batches, shares[[k]]))
    found[[k]] <- if (is.null(own)) scan_share(given[[k]])
                  else scan_received(own, pass$recipe$terms)
  }
  warn_of_lost(traffic, lost)
  found
}

# ---- A share ----

# Returns the scan of the batches given$share, or of all chunks: `chunks`, the numbers of those that
# had rows, with `prints` and `rows` of each; `seen`, levels; `late`: did more show after the first
# frame, so moments are of no use? `pool` of rows (chunked-sample.R), and `blocks` of moments.
scan_share <- function(given) {
  pass <- given$pass
  scan <- list(chunks = integer(), prints = list(), rows = numeric(), omitted = 0,
               seen = pass$seen, late = FALSE, pool = new_pool(pass$keep))
  levels <- levels_of(pass$seen)
  before <- rows_before(pass, given$share)
  folded <- fold_batches(pass$source, pass$batches, given$share, function(i, chunk) {
    frame <- read_frame(pass$recipe, chunk)
    scan <<- note_frame(scan, i, frame, print_of_chunk(pass$recipe, chunk, frame))
    if (nrow(frame) == 0L || !pass$moments) return(NULL)
    scan$late <<- scan$late || !identical(levels_of(scan$seen), levels)
    scan$pool <<- join_pools(scan$pool, pool_of_frame(frame, before + scan$pool$n,
                                                     pass$block))
    if (!scan$late) frame_moments(pass, with_levels(frame, levels))
  }, join_both_moments)
  scan$blocks <- folded$blocks
  scan
}

# Returns the scan as a worker sends it: frames without terms, which may have much in their
# environment.
scan_in_worker <- function(given) {
  scan <- with_borrowed(given$pass$borrowed, scan_share(given))
  scan$pool <- pool_with_terms(whole_pool(scan$pool), NULL)
  scan
}

# Is this what scan_in_worker() returns of a share?
is_scan_of_share <- function(scan, batches, share) {
  is.list(scan) && !is.object(scan) && are_blocks(scan$blocks, share) &&
    are_whole_between(scan$chunks, 1, Inf) && !anyDuplicated(scan$chunks) &&
    all(scan$chunks %in% unlist(batches[share])) &&
    are_doubles(scan$rows, length(scan$chunks)) && is.list(scan$prints) &&
    length(scan$prints) == length(scan$chunks) && is_flag(scan$late) && is.list(scan$seen) &&
    is_count(scan$omitted) && is.list(scan$pool)
}

scan_received <- function(scan, terms) {
  scan$pool <- pool_with_terms(scan$pool, terms)
  scan
}

note_frame <- function(scan, i, frame, print) {
  k <- length(scan$chunks) + 1L
  scan$chunks[k] <- i
  scan$prints[[k]] <- print
  scan$rows[k] <- nrow(frame)
  scan$omitted <- scan$omitted + length(attr(frame, "na.action"))
  if (nrow(frame)) scan$seen <- more_levels(scan$seen, levels_in(frame))
  scan
}

# Returns the scan of a share and the next.
join_scans <- function(one, other) {
  each <- c("chunks", "prints", "rows")
  one[each] <- Map(c, one[each], other[each])
  one$omitted <- one$omitted + other$omitted
  one$seen <- more_levels(one$seen, other$seen)
  one$late <- one$late || other$late
  one$pool <- join_pools(one$pool, other$pool)
  for (block in other$blocks) one$blocks <- add_block(one$blocks, block, join_both_moments)
  one
}

# ---- Levels ----

# Returns the levels of a frame: of each variable that has some those that a factor declares, in
# order, and those that were there.
levels_in <- function(frame) {
  lapply(Filter(has_levels, as.list(frame)), function(column) {
    list(declared = levels(column), there = unique(as.character(column[!is.na(column)])),
         ordered = is.ordered(column))
  })
}

# Returns such levels with those of later rows.
more_levels <- function(seen, later) {
  for (name in names(later)) {
    own <- seen[[name]]
    new <- later[[name]]
    late <- setdiff(c(new$declared, new$there), own$declared) # texts declare nothing
    refuse_if(isTRUE(own$ordered) && length(late), "data",
              paste0("has categories of ", name, " that the chunks before did not ",
                     "have: ", toString(late)),
              "Give the ordered factor all its levels in every chunk")
    # the first chunk says whether there is an order: text may stand for a factor after it
    ordered <- if (is.null(own)) new$ordered else own$ordered
    seen[[name]] <- list(declared = union(own$declared, new$declared),
                         there = union(own$there, new$there), ordered = ordered)
  }
  seen
}

# Returns levels as a factor of all rows would have them: those of texts in alphabetic order.
levels_of <- function(seen) {
  lapply(seen, function(own) {
    levels <- if (is.null(own$declared)) sort(own$there)
              else c(own$declared[own$declared %in% own$there],
                     sort(setdiff(own$there, own$declared)))
    structure(levels, ordered = own$ordered)
  })
}

# ---- Moments ----

# Returns moments of the inputs and of a response of numbers.
frame_moments <- function(pass, frame) {
  lik <- pass$recipe$likelihood
  rows <- frame_rows(with_coding(pass$recipe, frame, pass$coded), frame)
  moments_of <- if (is.null(lik)) moments_of_numbers else lik_codec(lik)$moments
  list(inputs = input_moments(rows$x, pass$counted),
       response = if (is.numeric(rows$y)) moments_of(rows))
}

join_both_moments <- function(one, other) {
  if (is.null(one) || is.null(other)) return(if (is.null(one)) other else one)
  list(inputs = join_moments(one$inputs, other$inputs),
       response = if (!is.null(one$response)) join_response(one$response, other$response))
}
