# Numbers that are stored in a way that R's own arithmetic misreads.

# Returns integer64 values (of bit64, nanotime, database drivers), whose bits R takes for those of
# doubles, as the doubles they mean; everything else unchanged. Package bit64 is not needed.
plain_numbers <- function(x) {
  if (!inherits(x, "integer64")) return(x)
  bits <- asS4(x, FALSE)
  attributes(bits) <- NULL
  halves <- readBin(writeBin(bits, raw(), endian = "little"), "integer", 2 * length(bits), 4L,
                    endian = "little")
  halves <- matrix(as.double(replace(halves, is.na(halves), -2^31)), 2L) # R reads these as NA
  low <- halves[1L, ] + ifelse(halves[1L, ] < 0, 2^32, 0)
  value <- 2^32 * halves[2L, ] + low
  value[halves[2L, ] == -2^31 & low == 0] <- NA # the least number stands for NA
  attributes(value) <- attributes(x)[intersect(names(attributes(x)), c("dim", "dimnames", "names"))]
  value
}

# x, or a default if it is NULL: as R has it from version 4.4 on.
`%||%` <- function(x, default) if (is.null(x)) default else x

# Returns the data frame of some parts of it, each a data frame or a list of its columns; NULL: none
# of them has rows. data.frame() and rbind() look for far more than there is in the tables of a fit,
# and take longer than C does for a few hundred rows.
stacked_table <- function(parts) {
  parts <- parts[lengths(parts) > 0L]
  if (length(parts) == 0L) return(NULL)
  columns <- lapply(names(parts[[1L]]), function(column) {
    unlist(lapply(parts, .subset2, column), recursive = FALSE, use.names = FALSE)
  })
  structure(columns, names = names(parts[[1L]]), class = "data.frame",
            row.names = .set_row_names(length(columns[[1L]])))
}
