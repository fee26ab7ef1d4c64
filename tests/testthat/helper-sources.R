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
