# Every version gives the numbers that golden.rds holds (helper-golden.R says how and of what).

# Numbers are compared in units of max(1, |golden|). Why 1e-8: in the version that wrote them,
# damping steps to 0.7 or 0.4 moved none by more than 3e-10 (that is EP's residual of 1e-11, and
# quadratures that are accurate to 1e-9 in log Z), and moving every input by 1e-12 none by more than
# 2e-9, paths included: no row is chosen by a hair. So other orders of summation pass, and what is
# wrong in the eighth digit does not. No case needs more room than that.
GOLDEN_TOLERANCE <- 1e-8

golden_file <- function() readRDS(test_path("golden.rds"))

test_that("golden numbers are those of all cases, no more and no less", {
  cases <- golden_cases()
  expect_identical(anyDuplicated(names(cases)), 0L)
  expect_identical(names(golden_file()), names(cases))
  expect_gte(length(cases), 250L)
})

golden <- golden_file()
cases <- golden_cases()
for (name in of_tier(names(cases), 20L, memory = 30L)) {
  test_that(paste("golden numbers hold:", name), {
    skip_on_cran() # other compilers, and other libraries of linear algebra
    expect_false(is.null(golden[[name]]), label = paste("lacking in golden.rds:", name))
    distance <- golden_distance(golden_numbers(cases[[name]](damping = 1)), golden[[name]])
    moved <- distance[!(distance <= GOLDEN_TOLERANCE)]
    expect(length(moved) == 0L, paste0(name, " moved: ", toString(
      paste(names(moved), signif(moved, 2L))
    )))
  })
}

# A distance that could not see would let everything pass.
test_that("the distance sees values, names, lengths, and what is missing", {
  one <- list(a = c(x = 1, y = 200), b = NA_real_)
  expect_identical(golden_distance(one, one), c(a = 0, b = 0))
  expect_equal(golden_distance(list(a = c(x = 1, y = 201), b = NA_real_), one), c(a = 0.005, b = 0))
  expect_identical(golden_distance(list(a = c(x = 1, z = 200), b = NA_real_), one)[["a"]], Inf)
  expect_identical(golden_distance(list(a = c(x = 1), b = NA_real_), one)[["a"]], Inf)
  expect_identical(golden_distance(list(a = one$a, b = 0), one)[["b"]], Inf)
  expect_identical(golden_distance(list(a = one$a, b = NaN), list(a = one$a, b = 0))[["b"]], Inf)
  expect_identical(golden_distance(one["a"], one), c(names = Inf))
})

# Numbers of a path that was not taken would be held in vain.
test_that("cases go where their names say", {
  slow_tier()
  cases <- golden_cases()
  fit <- function(name) cases[[name]](damping = 1)
  expect_gt(fit("student widening")$convergence$widening, 0)
  expect_gt(fit("basis jitter")$jitter, 0)
  expect_lt(nrow(basis(fit("ivm min_gain"))), 25L)
  for (name in c("probit.sparse moment", "probit.sparse kl", "freeze Inf moment")) {
    expect_gt(sum(fit(name)$convergence$trace$exchanges), 9, label = name) # 9 filled the basis
  }
  for (name in c("probit.online kl", "gaussian.online moment", "online error moment")) {
    expect_gt(fit(name)$convergence$fates[["exchanged"]], 0, label = name)
  }
  expect_false(identical(attr(basis(fit("ivm exchange")), "rows"),
                         attr(basis(fit("probit.ivm none")), "rows")))
  expect_false(identical(attr(basis(fit("ivm pool")), "rows"),
                         attr(basis(fit("probit.ivm basis")), "rows")))
  expect_identical(nobs(fit("missing rows")), 27L)
  expect_lt(nrow(basis(fit("kernel poly.online"))), 9L)
})
