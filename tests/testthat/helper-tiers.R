# Two tiers of tests. The quick one is what runs by default, on CRAN and under R CMD check: all of
# it takes a minute of one core at most. SPARSEGP_TESTS=all asks for the whole suite, as tools/test
# does: several minutes.

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
