# A read of all chunks for a sweep (chunked-sweep.R): here, one after the other, or by workers
# (chunked-workers.R).

read_here <- function(chunked, task) {
  if (!chunked$scan$source$apart) chunked$scan$source$chunks <- NA_integer_ # more are a change
  done <- cumsum(chunked$scan$rows) / chunked$n
  read_batches(chunked, task, seq_along(chunked$batches), function(i) chunked$progress(done[i]))
}

# Returns the blocks of batches `which`, a run of numbers. note(i): called after each chunk.
read_batches <- function(chunked, task, which, note = function(i) NULL) {
  scan <- chunked$scan
  folded <- fold_batches(scan$source, chunked$batches, which, function(i, chunk) {
    part <- chunked_part(chunked, task, i, chunk)
    note(i)
    part
  }, add_parts)
  scan$prints[-unlist(chunked$batches[which])] <- list(NULL)
  check_all_again(scan$source, scan$prints, folded$seen)
  folded$blocks
}

# Reads all chunks and compares them with what they were.
check_rows_again <- function(chunked) {
  scan <- chunked$scan
  seen <- each_chunk(scan$source, function(i, chunk) {
    check_chunk_again(scan$source, scan$prints, i,
                      print_of_chunk(scan$recipe, chunk, read_frame(scan$recipe, chunk)))
  })
  check_all_again(scan$source, scan$prints, seen)
}
