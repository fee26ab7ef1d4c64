# Three tiers of tests. SPARSEGP_TESTS in the environment says which one runs:
#
# quick   the default, on CRAN and under R CMD check: at most a minute of one core. It shows that
#         the package works on a machine: likelihoods, kernels and methods against their references
#         in R, fits saved by older versions, predictions, and errors. It runs some tests of nearly
#         each file. tools/check fails where it takes far longer.
# all     the whole suite, as tools/test runs it.
# memory  what tools/memcheck runs under the sanitizers: the quick tier without the files and tests
#         that begin with r_code_alone() or reached_elsewhere(), and the tests that begin with
#         memory_tier(). CI also runs all entries of the C code (tools/entries.R) and random cases
#         (tools/fuzz.R) under them.

tier <- function() Sys.getenv("SPARSEGP_TESTS", "quick")

whole_suite <- function() tier() == "all"

# First line of a test that the whole suite alone runs: it takes more than about a second, or more
# than about a tenth of a second where another test of its file shows that its subject works.
slow_tier <- function() {
  testthat::skip_if_not(whole_suite(), "slow: SPARSEGP_TESTS is not \"all\"")
}

# First line of a test of C code that the quick tier can do without for the same reason, but not the
# sanitizers: it takes half a second at most, or it alone reaches some of the code, or runs loops
# over more than one block, pool or thread.
memory_tier <- function() {
  testthat::skip_if_not(tier() %in% c("all", "memory"), "slow: SPARSEGP_TESTS is \"quick\"")
}

# The cases a test walks over: all of them in the whole suite, `few` evenly spread ones in the quick
# tier, the first and the last among them, and `memory` of them under the sanitizers.
of_tier <- function(cases, few, memory = few) {
  count <- switch(tier(), all = length(cases), memory = memory, few)
  if (count >= length(cases)) return(cases)
  cases[unique(round(seq(1, length(cases), length.out = count)))]
}

# First line of a file, or a test, whose subject is R code: answers, plots, messages, choices. Its
# fits are plain ones, whose C code the files of algorithms, likelihoods and kernels run as well,
# with all methods and shapes. So the sanitizers find nothing in it that they do not find in those.
# Of its tests, those that the quick tier leaves out begin with slow_tier().
r_code_alone <- function() {
  testthat::skip_if(tier() == "memory", "R code alone")
}

# First line of a file, or a test, of the quick tier whose subject is C code each branch of which
# cheaper tests of the memory tier take, too.
reached_elsewhere <- function() {
  testthat::skip_if(tier() == "memory", "its C code is reached elsewhere")
}
