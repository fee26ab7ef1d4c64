# A read of all chunks: here, one after the other, or by workers (chunked-workers.R). What chunks of
# a batch add is added up in their order, and batches are added up as the leaves of a tree in which
# every branch has two of the same size. So a worker that has some batches sends the sums of the
# largest branches that are all its own, and the numbers do not depend on who has added them.

read_here <- function(chunked, task) {
  if (!chunked$scan$source$apart) chunked$scan$source$chunks <- NA_integer_ # more are a change
  done <- cumsum(chunked$scan$rows) / chunked$n
  read_batches(chunked, task, seq_along(chunked$batches), function(i) chunked$progress(done[i]))
}

# Returns the blocks of batches `which`, a run of numbers. note(i): called after each chunk.
read_batches <- function(chunked, task, which, note = function(i) NULL) {
  scan <- chunked$scan
  batch_of <- rep(seq_along(chunked$batches), lengths(chunked$batches))
  chunks <- unlist(chunked$batches[which])
  blocks <- list()
  at <- which[1L]
  sum <- NULL
  go_to <- function(batch) { # batches without rows are passed, too
    while (at < batch) {
      blocks <<- add_block(blocks, list(before = at - 1, size = 1, sum = sum))
      sum <<- NULL
      at <<- at + 1L
    }
  }
  seen <- each_chunk(scan$source, function(i, chunk) {
    part <- chunked_part(chunked, task, i, chunk)
    go_to(batch_of[i])
    sum <<- add_parts(sum, part)
    note(i)
  }, which = if (scan$source$apart) chunks)
  scan$prints[-chunks] <- list(NULL)
  check_all_again(scan$source, scan$prints, seen)
  go_to(max(which) + 1L)
  blocks
}

# Appends a block to those before it. A block is the sum of `size` batches, a power of two, that
# follow on `before` others, a multiple of `size`; two that are the halves of one become that one.
add_block <- function(blocks, block) {
  repeat {
    last <- if (length(blocks)) blocks[[length(blocks)]]
    halves <- !is.null(last) && last$size == block$size && last$before %% (2 * last$size) == 0
    if (!halves) return(c(blocks, list(block)))
    block <- list(before = last$before, size = 2 * last$size,
                  sum = add_parts(last$sum, block$sum))
    blocks[[length(blocks)]] <- NULL
  }
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
