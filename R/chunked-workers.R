# A read of all chunks by the workers of future::plan(). Rows stay with them, but for those that the
# first pass keeps (chunked-scan.R). A worker is given the source and the fit without rows once, and
# keeps them: what a read sends is hyperparameters and the sums of the sites, and what comes back is
# the sums of its share of the batches.

# Returns the blocks of all batches (chunked-fold.R). A share whose worker is gone, before or after
# it has begun, is read here; one that does not have the source, as it is new, is given it.
read_by_workers <- function(chunked, task) {
  sent <- sent_to_workers(chunked)
  travelling <- task_to_send(task)
  shares <- shares_of_workers(length(chunked$batches), future::nbrOfWorkers())
  begin <- function(share, whole) {
    begin_share(chunked$traffic, sent$name, if (whole) sent$chunked, travelling, share)
  }
  chunked$traffic$reads <- chunked$traffic$reads + 1
  chunked$traffic$workers <- length(shares)
  answers <- lapply(lapply(shares, begin, whole = !sent$kept), answer_of)
  ask_again <- which(vapply(answers, identical, NA, NO_SOURCE))
  if (sent$kept && length(ask_again) == length(shares)) chunked$traffic$forgetful <- TRUE
  answers[ask_again] <- lapply(lapply(shares[ask_again], begin, whole = TRUE), answer_of)
  warn_of_lost(chunked$traffic, sum(vapply(answers, is.null, NA)))
  for (k in which(!vapply(answers, is.null, NA))) {
    check_worker_answer(are_blocks_of_share(answers[[k]], shares[[k]], task$point$sums))
  }
  done <- cumsum(vapply(shares, function(share) {
    sum(chunked$scan$rows[unlist(chunked$batches[share])])
  }, 0)) / chunked$n
  blocks <- list()
  for (k in seq_along(shares)) {
    note_traffic(chunked$traffic, answers[[k]])
    own <- if (is.null(answers[[k]])) read_batches(chunked, task, shares[[k]])
           else lapply(answers[[k]], block_received)
    for (block in own) blocks <- add_block(blocks, block, add_parts)
    chunked$progress(done[k])
  }
  blocks
}

# Warns once a fit.
warn_of_lost <- function(traffic, lost) {
  if (lost == 0L || traffic$warned) return(invisible())
  traffic$warned <- TRUE
  warn_sparsegp(lost, " of ", counted(traffic$workers, "worker"), " did not answer; the main ",
                "process now reads their rows, and results do not change. To use new workers, ",
                "stop the fit and repeat the call: with a `checkpoint` it continues from there")
}

# Returns shares of the batches, one a worker: runs of numbers. They end where a branch of the tree
# does, so that a worker has few to send.
shares_of_workers <- function(batches, workers) {
  workers <- min(batches, workers)
  step <- 2^max(0, floor(log2(batches / (8 * workers))))
  ends <- round(seq(0, batches / step, length.out = workers + 1L)) * step
  ends[workers + 1L] <- batches
  Map(function(from, to) seq(from + 1, to), ends[-(workers + 1L)], ends[-1L])
}

# ---- What a worker keeps ----

# In a worker: `chunked` of the last fit that it read for, and its name.
WORKER <- new.env(parent = emptyenv())

NO_SOURCE <- "the source is not here"

# Reads a share, in a worker. given: list(name, chunked, task, share), `chunked` where the worker is
# to have it.
read_as_worker <- function(given) {
  if (!is.null(given$chunked)) list2env(given[c("name", "chunked")], WORKER)
  if (!identical(WORKER$name, given$name)) return(NO_SOURCE)
  blocks <- with_borrowed(WORKER$chunked$borrowed, {
    read_batches(WORKER$chunked, task_received(given$task), given$share)
  })
  first <- given$task$own %in% unlist(WORKER$chunked$batches[given$share])
  lapply(blocks, block_to_send, with_factor = first)
}

# Returns list(name, chunked, kept): what workers need for all reads, the name by which they keep
# it, and whether they have been given it. A fit that has changed since gets a new name. Workers
# that begin anew for each task forget it.
sent_to_workers <- function(chunked) {
  sent <- chunked[setdiff(names(chunked), c("progress", "traffic"))]
  sent$scan <- sent$scan[c("source", "recipe", "prints", "rows")] # no rows travel
  sent$fit[c(ROW_FIELDS, "learning")] <- list(NULL)
  traffic <- chunked$traffic
  sent$borrowed <- borrowed_for(sent$scan$source, user_of_fit(sent), traffic)
  if (identical(sent, traffic$sent)) {
    return(list(name = traffic$name, chunked = sent, kept = !traffic$forgetful))
  }
  traffic$sent <- sent
  traffic$name <- new_name()
  traffic$size <- bytes_of(sent)
  list(name = traffic$name, chunked = sent, kept = FALSE)
}

begin_share <- function(traffic, name, chunked, task, share) {
  note_traffic(traffic, task, if (!is.null(chunked)) traffic$size else 0)
  begin_task(read_as_worker, list(name = name, chunked = chunked, task = task, share = share),
             traffic$borrowed$packages)
}

# Returns the future of task(given), or NULL where the worker is gone. Errors of the task itself are
# errors. packages: to attach, in their order.
begin_task <- function(task, given, packages) {
  packages <- c(setdiff("sparsegp", packages), packages)
  tryCatch(future::future(task(given), seed = NULL, packages = packages,
                          globals = list(task = task, given = given)),
           FutureError = function(e) NULL, error = function(e) NULL)
}

answer_of <- function(future) {
  if (!is.null(future)) tryCatch(future::value(future), FutureError = function(e) NULL)
}
