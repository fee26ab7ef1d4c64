# Three tiers of tests. The quick one is what runs by default, on CRAN and under R CMD check: some
# minutes of one core. SPARSEGP_TESTS=all asks for the whole suite, as tools/test does.
# SPARSEGP_TESTS=memory is what tools/memcheck runs under the sanitizers: the quick tier without the
# files that begin with r_code_alone().

whole_suite <- function() identical(Sys.getenv("SPARSEGP_TESTS"), "all")

# First line of a test that takes more than about a second.
slow_tier <- function() {
  testthat::skip_if_not(whole_suite(), "slow: SPARSEGP_TESTS is not \"all\"")
}

# The cases a test walks over: all of them in the whole suite, `few` evenly spread ones in the quick
# tier, the first and the last among them.
of_tier <- function(cases, few) {
  if (whole_suite() || few >= length(cases)) return(cases)
  cases[unique(round(seq(1, length(cases), length.out = few)))]
}

# First line of a file whose subject is R code: answers, plots, messages, choices. Its fits are
# plain ones, whose C code the files of algorithms, likelihoods and kernels run as well, with all
# methods and shapes. So the sanitizers find nothing in it that they do not find in those. A
# test in it that takes more than about a second is of the slow tier.
r_code_alone <- function() {
  testthat::skip_if(Sys.getenv("SPARSEGP_TESTS") == "memory", "R code alone")
}
