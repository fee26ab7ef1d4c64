# Digests of columns and of bytes: has a chunk, or a file, changed since it was read or written?

# Returns the digest of a list of columns (src/digest.h), as text: any value that changes, or
# changes places, changes it.
digest_of <- function(columns) {
  .Call(sg_digest, c(list(as.character(names(columns))),
                     unlist(lapply(unname(columns), digested_columns), FALSE)))
}

# Returns a column as C reads it, in a list.
digested_columns <- function(column) {
  if (is.data.frame(column)) return(unlist(lapply(as.list(column), digested_columns), FALSE))
  if (is.factor(column) || is.character(column)) return(list(as.character(column)))
  plain <- unclass(column)
  if (is.numeric(plain) || is.logical(plain)) return(list(as.double(plain)))
  list(serialize(column, NULL, xdr = FALSE, version = 3L))
}
