# The website's index, _pkgdown.yml, which is part of a checkout alone.

r_code_alone()

test_that("every help page, vignette and article has its place on the website", {
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
  articles <- paste0("articles/", files("vignettes/articles", "[.]Rmd$"))
  expect_identical(setdiff(c(files("vignettes", "[.]Rmd$"), articles), named), character())
})

# Options of vignettes' pictures are for png(), by which the package is built, and for the device of
# package ragg, by which the website is.
test_that("both devices take what the vignettes say of their pictures", {
  skip_if_not_installed("knitr")
  skip_if_not(capabilities("png"))
  folder <- normalizePath(source_folder("vignettes"))
  old <- knitr::opts_chunk$get()
  dir.create(pictures <- tempfile())
  here <- setwd(pictures)
  on.exit({
    setwd(here)
    unlink(pictures, recursive = TRUE)
    knitr::opts_chunk$restore(old)
  })
  options <- lapply(list.files(folder, "[.]Rmd$", full.names = TRUE), function(file) {
    knitr::opts_chunk$restore()
    code <- parse(text = knitr::purl(text = readLines(file), quiet = TRUE, documentation = 0L))
    sets <- function(e) is.call(e) && identical(e[[1L]], quote(knitr::opts_chunk$set))
    for (e in Filter(sets, as.list(code))) eval(e)
    knitr::opts_chunk$get()[c("dpi", "dev.args")]
  })
  picture <- c("```{r, error = FALSE}", "plot(1)", "```")
  devices <- c("png", "ragg_png")
  for (given in unique(options)) {
    # an argument of one device is none of the other's
    expect_true(all(names(given$dev.args) %in% devices))
    expect_identical(is.null(given$dev.args), is.null(names(given$dev.args)))
    for (device in if (requireNamespace("ragg", quietly = TRUE)) devices else "png") {
      do.call(knitr::opts_chunk$set, c(given, dev = device))
      expect_match(knitr::knit(text = picture, quiet = TRUE), "!\\[", label = device)
    }
  }
})
