# How articles read bench/results. A cell that is not there is an error, so no article quotes a run
# that is gone.

# Returns the rows of a table in bench/results, by the first cells of its header; of several such
# tables on a page the first or the last.
table_of <- function(name, header, last = FALSE) {
  lines <- readLines(file.path("../../bench/results", paste0(name, ".md")))
  from <- range(which(startsWith(lines, header)))[1L + last]
  to <- from + match(FALSE, startsWith(lines[-seq_len(from)], "|"), nomatch = length(lines)) - 1L
  cells <- strsplit(gsub("^[|] *| *[|]$", "", lines[c(from, (from + 2L):min(to, length(lines)))]),
                    " *[|] *")
  cells <- lapply(cells, function(row) c(row, rep("", length(cells[[1L]]) - length(row))))
  stats::setNames(as.data.frame(do.call(rbind, cells[-1L])), cells[[1L]])
}

# Returns the row of such a table whose first cell begins with `with`, as a list.
row_of <- function(table, with) {
  at <- which(startsWith(table[[1L]], with))
  stopifnot("one row of the table begins so" = length(at) == 1L)
  as.list(table[at, ])
}

# A number with so many decimals
fixed_point <- function(x, decimals) formatC(as.numeric(x), decimals, format = "f")
