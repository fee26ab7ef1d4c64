# Likelihoods and kernels of other packages: what can be tested without one. tools/extension tests
# the example package.

error_of <- function(expr) conditionMessage(expect_error(expr, class = "sparsegp_error"))

test_that("packages that are not there, or do not link to this one, are named and not loaded", {
  slow_tier()
  for (make in list(kernel_extension, lik_extension)) {
    expect_match(error_of(make("noSuchPackage", "rq")), "noSuchPackage.*cannot be loaded")
    expect_match(error_of(make("stats", "rq")), "`package`.*does not link to sparsegp")
    expect_match(error_of(make("tcltk", "mle_basis")), "`package`.*does not link")
    # a callable that exists, and takes arguments: it would crash if it were called
    expect_match(error_of(make("Matrix", "chm_factor_to_SEXP")), "does not link|cannot be loaded")
    for (package in list(1, "", NA_character_, "a b", "../stats", c("stats", "utils"), "stats\n")) {
      expect_match(error_of(make(package, "rq")), "`package` must be")
    }
    for (name in list("", 1, NA_character_, "a b", strrep("x", 201), "rq\n", c("a", "b"))) {
      expect_match(error_of(make("stats", name)), "`name` must be")
    }
  }
  expect_false(isNamespaceLoaded("tcltk"))
})

test_that("a package links here if its DESCRIPTION says so, among others and with a version", {
  library <- tempfile("library")
  dir.create(library)
  says <- function(name, links) {
    folder <- file.path(library, name)
    dir.create(folder)
    dir.create(file.path(folder, "Meta"))
    fields <- c(Package = name, Version = "1.0", links)
    write.dcf(as.list(fields), file.path(folder, "DESCRIPTION"))
    saveRDS(structure(list(DESCRIPTION = fields), class = "packageDescription2"),
            file.path(folder, "Meta", "package.rds"))
  }
  says("linksHere", c(LinkingTo = "Rcpp, sparsegp (>= 1.0.0), BH"))
  says("linksElsewhere", c(LinkingTo = "sparsegpx, Rcpp"))
  says("importsHere", c(Imports = "sparsegp"))
  old <- .libPaths()
  on.exit(.libPaths(old))
  .libPaths(c(library, old))
  expect_true(links_here("linksHere"))
  expect_false(links_here("linksElsewhere"))
  expect_false(links_here("importsHere"))
})

test_that("C says what is wrong with a registered struct in the words of R", {
  said <- function(code, what) error_of(stop_extension(c("pkg", "rq"), c(code, what)))
  expect_match(said(1L, 1L), "`name`.*which package pkg has not registered")
  expect_match(said(2L, 1L), "gives no sparsegp_kernel or sparsegp_likelihood")
  expect_match(said(3L, 1L), "`package`.*built for another version")
  expect_match(said(4L, 1L), "not a complete likelihood")
  expect_match(said(4L, 2L), "not a complete kernel")
})

test_that("a fit whose package is missing says which one, and one that was changed is refused", {
  memory_tier()
  fit <- sparsegp(dist ~ speed, cars, kernel = kernel_rbf(), learn = FALSE)
  fit$kernel$type <- fit$spec$type <- "extension"
  fit$kernel$extension <- fit$spec$extension <- c(package = "noSuchPackage", name = "rq")
  fit$spec$shaped <- FALSE
  expect_match(error_of(predict(fit, cars)), "noSuchPackage.*cannot be loaded")
  fit$kernel$extension <- fit$spec$extension <- c(package = "tcltk", name = "mle_basis")
  expect_match(error_of(predict(fit, cars)), "does not link to sparsegp")
  expect_false(isNamespaceLoaded("tcltk"))
  fit$spec$extension <- structure(c("tcltk", "rq"), class = "liar")
  expect_match(error_of(predict(fit, cars)), "damaged")
  fit$spec$extension <- 1
  expect_match(error_of(predict(fit, cars)), "damaged")
})

test_that("the header is installed with the package", {
  expect_true(nzchar(system.file("include", "sparsegp.h", package = "sparsegp")) ||
                file.exists(file.path(source_folder("inst"), "include", "sparsegp.h")))
})
