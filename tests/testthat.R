library(testthat)
library(sparsegp)

test_check("sparsegp")
