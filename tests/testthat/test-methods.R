# Method and learning constructors.

r_code_alone()

refused <- function(code, argument) {
  error <- expect_error(code, class = "sparsegp_error")
  expect_identical(error$argument, argument)
}

x <- c(1, 2, 4, 3, 6, 5)
y <- c(1, 2, 1, 3, 2, 4)

test_that("methods and learning settings print themselves and return themselves unseen", {
  for (value in list(method_ep(), learn_control())) {
    expect_invisible(expect_output(returned <- print(value)))
    expect_identical(returned, value)
  }
  expect_identical(capture.output(print(method_ep(sweeps = 50, tol = 1e-8))),
                   paste0("<method> EP (size = Inf, projection = moment, freeze = 2, sweeps = 50, ",
                          "score = kl, novelty = 1e-06, damping = 1, mixing = 3, tol = 1e-08, ",
                          "pool = Inf, starts = NULL, power = 1, learn_points = FALSE)"))
  expect_identical(capture.output(print(learn_control(restarts = 2))),
                   paste0("<learning> criterion = evidence, inner = 200, outer = 2, ",
                          "restarts = 2, rows = 10000"))
  expect_identical(capture.output(print(learn_control("ivm"))),
                   paste0("<learning> criterion = ivm, inner = 8, outer = 15, ",
                          "strategy = constant, restarts = 0, rows = 10000"))
})

test_that("illegal settings are refused, naming the argument", {
  for (bad in list(0, 1.5, -1, NA, "10", c(1, 2), 1e10)) refused(method_ep(sweeps = bad), "sweeps")
  for (bad in list(0, 1.1, -1, NA, "1", Inf)) refused(method_ep(damping = bad), "damping")
  for (bad in list(-1, 1.5, NA, "1", Inf)) refused(method_ep(mixing = bad), "mixing")
  for (bad in list(0, -1, NA, "1", Inf)) refused(method_ep(tol = bad), "tol")
  for (bad in list(0, 2.5, NA, "1")) refused(learn_control(inner = bad), "inner")
  for (bad in list(-1, 0.5, NA, "1")) refused(learn_control(restarts = bad), "restarts")
  for (bad in list(0, 2.5, NA, "1")) refused(learn_control(outer = bad), "outer")
  for (bad in list("phi", NA, 1)) refused(learn_control(bad), "criterion")
  for (bad in list("fixed", NA, 1)) refused(learn_control("ivm", strategy = bad), "strategy")
})

test_that("a method may be a value, a constructor, a name or nothing", {
  for (method in list("ep", method_ep, method_ep())) {
    expect_identical(sparsegp(x, y, method = method, learn = FALSE)$method, method_ep())
  }
  expect_null(sparsegp(x, y, learn = FALSE)$method$size)
  for (bad in list("laplace", "", 3, list(), c("ep", "ep"), kernel_rbf(), mean)) {
    refused(sparsegp(x, y, method = bad, learn = FALSE), "method")
  }
})

test_that("`learn` is TRUE, FALSE or a learn_control()", {
  for (bad in list(NA, "yes", 1, NULL, c(TRUE, TRUE), learn_control)) {
    refused(sparsegp(x, y, learn = bad), "learn")
  }
  expect_null(sparsegp(x, y, learn = FALSE)$learning)
  expect_identical(as_learn(TRUE), learn_control())
  expect_identical(as_learn(learn_control(inner = 3)), learn_control(inner = 3))
})

test_that("settings reach the run: sweeps are counted, tolerances are met", {
  class <- factor(c("a", "b", "a", "a", "b", "b"))
  expect_warning(rough <- sparsegp(x, class, method = method_ep(sweeps = 1), learn = FALSE),
                 "did not converge", class = "sparsegp_warning")
  expect_identical(rough$convergence$sweeps, 1L)
  expect_false(rough$convergence$converged)
  fine <- sparsegp(x, class, method = method_ep(tol = 1e-11), learn = FALSE)
  expect_true(fine$convergence$converged)
  expect_lte(fine$convergence$change, 1e-11)
  expect_identical(nrow(fine$convergence$trace), fine$convergence$sweeps)
})

test_that("every setting of every method is checked by name", {
  slow_tier()
  for (bad in list("yes", NA, 1, c(TRUE, FALSE))) {
    refused(method_ivm(common = bad), "common")
    refused(lik_mprobit(shared = bad), "shared")
    refused(lik_softmax(shared = bad), "shared")
  }
  for (bad in list(0, 1.5, "all", NA)) refused(method_ep(pool = bad), "pool")
  for (bad in list("best", 1, NA, c("mean", "mean"))) {
    refused(method_ep(score = bad), "score")
    refused(method_online(score = bad), "score")
    refused(method_online(projection = bad), "projection")
    refused(method_online(order = bad), "order")
    refused(method_ivm(refine = bad), "refine")
    refused(method_ivm(select = bad), "select")
  }
  for (bad in list(0, 1e-12, 0.6, NA, "a")) refused(method_online(novelty = bad), "novelty")
  for (bad in list(-1, 0.5, NA, "a")) refused(method_ivm(exchange = bad), "exchange")
  for (bad in list(-1e-9, NA, Inf, "a")) refused(method_ivm(min_gain = bad), "min_gain")
  for (bad in list(-0.1, 1.1, NA, "a")) refused(method_ivm(keep = bad), "keep")
  for (bad in list(0, 1.5, NA, "a")) refused(method_ivm(sweeps = bad), "sweeps")
  for (bad in list(0, 1.1, NA, "a")) refused(method_ivm(damping = bad), "damping")
  for (bad in list(0, -1, NA, "a")) refused(method_ivm(tol = bad), "tol")
})

test_that("a method may be named, and the names are those of the constructors", {
  expect_identical(known_methods(), c("ep", "ivm", "markov", "neighbours", "online"))
  for (name in known_methods()) expect_s3_class(as_method(name), paste0("method_", name))
  expect_error(as_method("gibbs"), "\"ep\", \"ivm\", \"markov\", \"neighbours\", \"online\"",
               class = "sparsegp_error")
})
