# Writes tests/testthat/golden.rds from the installed package, or says how well its numbers are
# determined. Run it at the top of the checkout:
#
#   Rscript tools/golden.R             write the file; the cases that moved are listed
#   Rscript tools/golden.R --damping   how far other damping moves the cases; nothing is written
#
# The library to take the package from is R_LIBS, as ever. New numbers are a decision: say in the
# commit which case moved, and why the old numbers were wrong.

library(sparsegp)
source(file.path("tests", "testthat", "helper-golden.R"))

# A case that warns, as it does where EP does not converge, has no numbers worth holding.
compute <- function(damping = 1) {
  options(warn = 2)
  lapply(golden_cases(), function(case) golden_numbers(case(damping)))
}

report <- function(found, golden, beyond) {
  largest <- vapply(names(found), function(name) {
    if (is.null(golden[[name]])) Inf else max(golden_distance(found[[name]], golden[[name]]))
  }, 0)
  moved <- sort(largest[largest > beyond], decreasing = TRUE)
  cat(length(found), " cases, ", length(moved), " moved by more than ", beyond, "\n", sep = "")
  for (name in names(moved)) cat("  ", name, ": ", signif(moved[[name]], 2L), "\n", sep = "")
}

file <- file.path("tests", "testthat", "golden.rds")
if (identical(commandArgs(TRUE), "--damping")) {
  report(compute(0.7), compute(1), beyond = 1e-10)
} else {
  found <- compute()
  if (file.exists(file)) report(found, readRDS(file), beyond = 1e-10)
  saveRDS(found, file, version = 2L, compress = "xz")
  cat(file, ": ", length(found), " cases, ", file.size(file), " bytes\n", sep = "")
}
