# How many threads the loops of C may use. C asks here (glue_convert.c), once for each loop that is
# long enough.

# What the package knows of the process that loaded it: its number.
process <- new.env(parent = emptyenv())

.onLoad <- function(libname, pkgname) {
  process$id <- if (is_forked()) NA_integer_ else Sys.getpid()
}

# Was this process forked by package parallel, before this package was loaded?
is_forked <- function() {
  asks <- if (isNamespaceLoaded("parallel")) get0("isChild", asNamespace("parallel"))
  is.function(asks) && isTRUE(asks())
}

# 0: as many as C finds right. A forked process (mclapply()) gets one: OpenMP's threads stay behind
# in the process that was forked, and a loop that counts on them would wait for ever.
threads_wanted <- function() {
  if (!identical(Sys.getpid(), process$id)) return(1L)
  wanted <- getOption("sparsegp.threads")
  if (is.null(wanted)) return(0L)
  if (!is.numeric(wanted) || length(wanted) != 1L || is.na(wanted) || wanted < 1) {
    stop_sparsegp("sparsegp.threads", "is no number of threads",
                  "use options(sparsegp.threads = 2), or NULL for the default")
  }
  as.integer(min(wanted, 1024))
}
