# Where the package's own sources are, for the tests that read them.

# In the source tree, or where R CMD check unpacks it.
source_folder <- function(name) {
  candidates <- test_path(file.path("..", "..", c("", "00_pkg_src/sparsegp"), name))
  found <- candidates[dir.exists(candidates)]
  if (length(found) == 0L) skip("the sources of the package are not here")
  found[1L]
}

core_files <- function() {
  build_products <- "[.](o|so|dll|dylib|def|a)$|^symbols[.]rds$|^Makevars([.]win)?$"
  grep(build_products, list.files(source_folder("src")), value = TRUE, invert = TRUE)
}

expect_none <- function(found, rule) {
  expect(length(found) == 0L, paste0(rule, ":\n", paste(found, collapse = "\n")))
}

read_source <- function(file) readLines(file.path(source_folder("src"), file))

# The code alone: comments gone, string literals emptied, line breaks kept.
code_of <- function(file) {
  text <- paste(read_source(file), collapse = "\n")
  comments <- gregexpr("(?s)/[*].*?[*]/|//[^\n]*", text, perl = TRUE)
  regmatches(text, comments) <- lapply(regmatches(text, comments), gsub, pattern = "[^\n]",
                                       replacement = " ")
  lines <- strsplit(text, "\n")[[1L]]
  ifelse(grepl("^#include", lines), lines, gsub("\"[^\"]*\"", "\"\"", lines))
}

# "file:line: code" for the lines of `files` that match
lines_matching <- function(pattern, files, lines_of = code_of) {
  unlist(lapply(files, function(file) {
    lines <- lines_of(file)
    at <- grep(pattern, lines, perl = TRUE)
    if (length(at)) paste0(file, ":", at, ": ", trimws(lines[at]))
  }))
}

# Files of R/, and the room that the prefix of one names.
r_files <- function() setdiff(list.files(source_folder("R"), "[.]R$"), "sparsegp-package.R")

room_of <- function(file) sub("[-.].*", "", file)

# Which files use each other, by way of others, too? uses[i, j]: does i use j?
in_circles <- function(uses) {
  diag(uses) <- FALSE
  for (step in seq_len(ceiling(log2(nrow(uses))))) uses <- uses | uses %*% uses > 0
  diag(uses)
}
