# Keeps what a long task has done so far in a file: written whole or not at all, so a process that
# is killed leaves the last one that was.

check_checkpoint <- function(checkpoint) {
  named <- is.character(checkpoint) && length(checkpoint) == 1L && !is.na(checkpoint)
  refuse_if(named && dir.exists(checkpoint), "checkpoint", paste("is a folder:", checkpoint),
            "Name a file in it, file.path(folder, \"fit\") for instance")
  if (named && dir.exists(dirname(checkpoint))) return(checkpoint)
  stop_sparsegp("checkpoint", "must be the name of a file, in a folder that exists")
}

# checkpoint: a file's name, or NULL. key: what the task is, in plain data. Returns list(
# state, write, done): `state` what an earlier process has left, or NULL; write(state, soon) notes
# more, unless soon is FALSE and the last was less than the option's seconds ago; done() removes it.
# The random number generator continues from its state at the checkpoint.
open_checkpoint <- function(checkpoint, key) {
  if (is.null(checkpoint)) {
    return(list(file = NULL, state = NULL, write = function(...) NULL, done = function() NULL))
  }
  check_checkpoint(checkpoint)
  file <- normalizePath(checkpoint, mustWork = FALSE)
  last <- proc.time()[["elapsed"]]
  known <- read_checkpoint(file, key)
  drawn <- known$random
  set_random_state(drawn)
  begun <- random_state()
  list(file = file, state = known$state, write = function(state, soon = TRUE) {
    now <- proc.time()[["elapsed"]]
    if (!soon && now - last < getOption("sparsegp.checkpoint", 30)) return(invisible())
    last <<- now
    if (!identical(random_state(), begun)) drawn <<- random_state()
    write_whole(list(key = key, state = state, random = drawn), file)
  }, done = function() unlink(file))
}

# A file of the same name is the old one or the new one, never a part of it.
write_whole <- function(object, file) {
  part <- tempfile(basename(file), dirname(file))
  on.exit(unlink(part))
  tryCatch(suppressWarnings({
    saveRDS(sealed(object), part, compress = FALSE)
    file.rename(part, file) || stop("the file cannot be replaced")
  }), error = function(e) {
    stop_sparsegp("checkpoint", paste0("cannot be written: ", file, " (", conditionMessage(e), ")"),
                  "Name a file in a folder that you may write to, on a disk that is not full")
  })
  invisible()
}

# Returns what a file holds of list(key, state, random): the key, and the others as bytes with their
# digest, which are looked at before anything is made of them.
sealed <- function(object) {
  bytes <- serialize(object[c("state", "random")], NULL, xdr = FALSE)
  list(key = object$key, bytes = bytes, digest = digest_of(list(bytes)))
}

read_checkpoint <- function(file, key) {
  if (!file.exists(file)) return(NULL)
  found <- tryCatch(readRDS(file), error = function(e) NULL)
  ours <- is.list(found) && !is.object(found) && is.list(found$key) && !is.object(found$key) &&
    isTRUE(all.equal(found$key, key, tolerance = 1e-12))
  refuse_if(!ours, "checkpoint", paste0(file, " belongs to another fit, or to other rows"),
            "Give another name, or remove it")
  whole <- is.raw(found$bytes) && identical(found$digest, digest_of(list(found$bytes)))
  if (!whole) stop_damaged_checkpoint(file)
  unserialize(found$bytes)
}

stop_damaged_checkpoint <- function(file) {
  stop_sparsegp("checkpoint", paste0(file, " is damaged: its contents are not those written"),
                "Begin again: remove it, and the files of the folder of its sites")
}

# Stops unless what a checkpoint has left is of these kinds (util-kinds.R) and its fit is sound.
check_checkpoint_state <- function(state, kinds, file) {
  if (is.null(state)) return(invisible())
  if (!is_of_kind(state, kinds)) stop_damaged_checkpoint(file)
  invisible(state)
}

refuse_checkpoint <- function(checkpoint) {
  refuse_if(!is.null(checkpoint),
            "checkpoint", "is for rows that are read in chunks, see row_source()", "Leave it out")
}
