# How many threads the loops of C may use. C asks here (glue_convert.c), once for each loop that is
# long enough.

# The process that loaded the package: its number; has its BLAS threads?
process <- new.env(parent = emptyenv())

# Was this process forked by package parallel, before this package was loaded?
is_forked <- function() {
  asks <- if (isNamespaceLoaded("parallel")) get0("isChild", asNamespace("parallel"))
  is.function(asks) && isTRUE(asks())
}

# R's own BLAS and the reference BLAS have no threads (path "": unknown, as on Windows). Others read
# the number from an environment variable, and use all cores where it is not set.
blas_has_threads <- function(path) {
  own <- c(openblas = "OPENBLAS_NUM_THREADS", mkl = "MKL_NUM_THREADS", blis = "BLIS_NUM_THREADS")
  known <- own[vapply(names(own), grepl, NA, x = path, ignore.case = TRUE)]
  if (length(known) == 0L) return(!grepl("^$|Rblas|/blas/libblas|/libblas[.]so", path))
  said <- Sys.getenv(c(known, "OMP_NUM_THREADS"))
  !isTRUE(said[nzchar(said)][1L] == "1")
}

# products: for a loop over matrix products. 0: as many as C finds right. A forked process
# (mclapply()) gets one: the other cores are for the other forks.
threads_wanted <- function(products) {
  if (!identical(Sys.getpid(), process$id) || products && process$blas_has_threads) return(1L)
  wanted <- getOption("sparsegp.threads")
  if (is.null(wanted)) return(0L)
  refuse_if(!is.numeric(wanted) || length(wanted) != 1L || is.na(wanted) || wanted < 1,
            "sparsegp.threads", "must be a positive whole number",
            "use options(sparsegp.threads = 2), or NULL for the default")
  as.integer(min(wanted, 1024))
}
