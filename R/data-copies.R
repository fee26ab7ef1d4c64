# Copies of rows that mean the same, as a user's function makes them: rows of an image moved by a
# pixel, say.

# What `augment` may be.
check_augment <- function(augment, basis, streams) {
  if (is.null(augment)) return(NULL)
  if (!is.function(augment)) {
    stop_sparsegp("augment", paste0("is of class ", toString(dQuote(class(augment), FALSE))),
                  paste("Give a function of a matrix of rows, such as shift_images(16, 16) or",
                        "jitter_rows(0.1)"))
  }
  if (!is.null(basis)) {
    stop_sparsegp("basis", "is given, and `augment` has points chosen from rows and their copies",
                  "Leave one of them out")
  }
  if (streams) refuse_augment("is for rows that are there at once, and a stream keeps none")
  augment
}

refuse_augment <- function(why) {
  stop_sparsegp("augment", why, "Leave it out, or put the copies among the rows")
}

# Copies of the rows of x, in the same columns: list(x, of), where of[i] says which row of x the
# copy x[i, ] is of. One that is its row itself says nothing and is left out.
copies_of_rows <- function(augment, x) {
  made <- tryCatch(augment(x), error = function(e) {
    if (inherits(e, "sparsegp_error")) stop(e)
    stop_sparsegp("augment", paste0("failed on a matrix of ", counted(nrow(x), "row"), ": ",
                                    conditionMessage(e)))
  })
  sets <- if (is.list(made) && !is.data.frame(made)) made else list(made)
  if (length(sets) == 0L) stop_sparsegp("augment", "made no copies")
  of <- lapply(sets, rows_of_set, nrow(x))
  copies <- do.call(rbind, Map(copy_set, sets, of, MoreArgs = list(x = x)))
  of <- unlist(of)
  other <- rowSums(copies != x[of, , drop = FALSE]) > 0
  list(x = copies[other, , drop = FALSE], of = of[other])
}

# Which rows a set of copies is of: what its attribute "row" says, or all, in their order.
rows_of_set <- function(set, n) {
  count <- NROW(set)
  of <- attr(set, "row")
  if (is.null(of)) {
    if (count == n) return(seq_len(n))
    stop_sparsegp("augment", paste0("made ", counted(count, "row"), " of ", n),
                  paste("Return as many rows as are given, a list of such sets, or give the",
                        "attribute \"row\" which row each is a copy of"))
  }
  if (is.numeric(of) && length(of) == count && all(of %in% seq_len(n))) return(as.integer(of))
  stop_sparsegp("augment", paste0("made rows whose attribute \"row\" does not say, by numbers ",
                                  "from 1 to ", n, ", which row each is a copy of"))
}

copy_set <- function(set, of, x) {
  attr(set, "row") <- NULL
  set <- check_inputs(set, "augment")
  if (ncol(set) != ncol(x)) {
    stop_sparsegp("augment", paste0("made rows of ", counted(ncol(set), "column"), ", not of ",
                                    ncol(x)))
  }
  if (!all(is.finite(set))) stop_sparsegp("augment", "made values that are missing or infinite")
  if (setequal(colnames(set), colnames(x))) set <- set[, colnames(x), drop = FALSE]
  unname(set)
}
