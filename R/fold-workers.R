# Chunks read and summed by the workers of future::plan(). Rows stay with them; what comes back of a
# batch of chunks is a sum.

has_workers <- function(source) {
  source$apart && isNamespaceLoaded("future") && future::nbrOfWorkers() > 1L
}

read_by_workers <- function(fold, task) {
  fold <- for_workers(fold)
  futures <- lapply(fold$batches, function(batch) begin_batch(fold, task, batch))
  parts <- vector("list", length(futures))
  for (k in seq_along(futures)) {
    part <- end_batch(futures[[k]])
    if (is.null(part)) part <- read_batch(fold, task, fold$batches[[k]])
    parts[k] <- list(part$sum)
    fold$told(sum(fold$scan$rows[unlist(fold$batches[seq_len(k)])]) / sum(fold$scan$rows))
  }
  parts
}

# What travels: no rows.
for_workers <- function(fold) {
  fold$scan <- fold$scan[c("source", "recipe", "levels", "prints", "rows")]
  fold$fit["learning"] <- list(NULL)
  fold
}

read_batch <- function(fold, task, batch) {
  sum <- NULL
  seen <- each_chunk(fold$scan$source, function(i, chunk) {
    sum <<- add_parts(sum, fold_chunk(fold, task, i, chunk))
  }, which = batch)
  prints <- fold$scan$prints
  prints[-batch] <- list(NULL)
  check_all_again(fold$scan$source, prints, seen)
  list(sum = sum)
}

# NULL: the worker is gone, before or after it has begun. Errors of the task itself are errors.
begin_batch <- function(fold, task, batch) {
  fold$told <- NULL
  work <- read_batch
  tryCatch(future::future(work(fold, task, batch), seed = NULL, packages = "sparsegp",
                          globals = list(work = work, fold = fold, task = task, batch = batch)),
           FutureError = function(e) NULL, error = function(e) NULL)
}

end_batch <- function(begun) {
  if (is.null(begun)) return(NULL)
  tryCatch(future::value(begun), FutureError = function(e) NULL)
}
