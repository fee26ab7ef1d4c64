# A read of all chunks: here, one after the other, or by the workers of future::plan(). Rows stay
# with workers; a batch of chunks comes back as a sum.

has_workers <- function(source) {
  source$apart && isNamespaceLoaded("future") && future::nbrOfWorkers() > 1L
}

# Returns what all chunks add up to.
chunked_read <- function(chunked, task) {
  task$own <- which(chunked$scan$rows > 0)[1L]
  read <- if (has_workers(chunked$scan$source)) read_by_workers else read_here
  Reduce(add_parts, read(chunked, task))
}

read_here <- function(chunked, task) {
  source <- chunked$scan$source
  batch_of <- rep(seq_along(chunked$batches), lengths(chunked$batches))
  parts <- vector("list", length(chunked$batches))
  done <- cumsum(chunked$scan$rows) / chunked$n
  if (!source$apart) source$chunks <- NA_integer_ # one more than there were is a change
  seen <- each_chunk(source, function(i, chunk) {
    part <- chunked_part(chunked, task, i, chunk)
    if (!is.null(part)) parts[[batch_of[i]]] <<- add_parts(parts[[batch_of[i]]], part)
    chunked$progress(done[i])
  })
  check_all_again(source, chunked$scan$prints, seen)
  parts
}

# Reads a batch again where its worker is gone, before or after it has begun.
read_by_workers <- function(chunked, task) {
  sent <- chunked
  sent$scan <- sent$scan[c("source", "recipe", "prints", "rows")] # no rows travel
  sent["progress"] <- sent$fit["learning"] <- list(NULL)
  futures <- lapply(chunked$batches, function(batch) begin_batch(sent, task, batch))
  done <- cumsum(vapply(chunked$batches, function(batch) sum(chunked$scan$rows[batch]), 0))
  lapply(seq_along(futures), function(k) {
    part <- if (!is.null(futures[[k]])) {
      tryCatch(future::value(futures[[k]]), FutureError = function(e) NULL)
    }
    if (is.null(part)) part <- read_batch(sent, task, chunked$batches[[k]])
    chunked$progress(done[k] / chunked$n)
    part$sum
  })
}

read_batch <- function(chunked, task, batch) {
  sum <- NULL
  seen <- each_chunk(chunked$scan$source, function(i, chunk) {
    sum <<- add_parts(sum, chunked_part(chunked, task, i, chunk))
  }, which = batch)
  prints <- chunked$scan$prints
  prints[-batch] <- list(NULL)
  check_all_again(chunked$scan$source, prints, seen)
  list(sum = sum)
}

# Returns the future, or NULL where the worker is gone. Errors of the task itself are errors.
begin_batch <- function(chunked, task, batch) {
  work <- read_batch
  tryCatch(future::future(work(chunked, task, batch), seed = NULL, packages = "sparsegp",
                          globals = list(work = work, chunked = chunked, task = task,
                                         batch = batch)),
           FutureError = function(e) NULL, error = function(e) NULL)
}

# Reads all chunks and compares them with what they were.
check_rows_again <- function(chunked) {
  scan <- chunked$scan
  seen <- each_chunk(scan$source, function(i, chunk) {
    check_chunk_again(scan$source, scan$prints, i,
                      print_of_rows(read_frame(scan$recipe, chunk)))
  })
  check_all_again(scan$source, scan$prints, seen)
}
