# The website's index, _pkgdown.yml, which is part of a checkout alone.

test_that("every help page and every vignette has its place on the website", {
  root <- dirname(source_folder("R"))
  index <- file.path(root, "_pkgdown.yml")
  skip_if_not(file.exists(index))
  lines <- grep("contents:", readLines(index), value = TRUE)
  named <- unlist(strsplit(gsub("^.*\\[|\\]", "", lines), ", *"))
  files <- function(folder, ending) {
    sub(ending, "", list.files(file.path(root, folder), ending))
  }
  # a page may be named by any of its topics
  pages <- file.path(root, "man", list.files(file.path(root, "man"), "[.]Rd$"))
  missing <- Filter(function(page) {
    topics <- grep("^\\\\(alias|name)\\{", readLines(page), value = TRUE)
    !any(gsub("^\\\\[a-z]+\\{|\\}$", "", topics) %in% named)
  }, pages)
  expect_identical(basename(missing), character())
  expect_identical(setdiff(files("vignettes", "[.]Rmd$"), named), character())
})
