# The website: its index, scripts and gallery, which are part of a checkout alone.

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
  slow_tier()
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

# Returns the functions of a script that does something only where it is run.
script_functions <- function(...) {
  file <- file.path(dirname(source_folder("R")), ...)
  skip_if_not(file.exists(file))
  env <- new.env()
  sys.source(file, env)
  env
}

test_that("pages are left without what other servers would send", {
  finish <- script_functions("tools", "site.R")
  own <- "<script src=\"../extra.js\"></script><link href=\"../extra.css\" rel=\"stylesheet\">"
  remote <- c(
    "<script src=\"https://a.b/c.js\" integrity=\"x\"></script>",
    "<script src=\"file:///usr/share/javascript/mathjax/MathJax.js\"></script>",
    "<link rel=\"stylesheet\" href=\"https://a.b/c.css\" crossorigin=\"anonymous\">",
    "<link href=\"//a.b/c.css\" rel=\"stylesheet\">", "<script src=\"../pkgdown.js\"></script>",
    "<img src=\"\" class=\"logo\" alt=\"\">"
  )
  expect_identical(finish$without_remote(paste(c(remote, own), collapse = "")), own)
  link <- "<a href=\"https://a.b\">there</a>"
  expect_identical(finish$without_remote(link), link)
})

test_that("a link to what is not there is found", {
  look <- script_functions("tools", "site-look.R")
  dir.create(site <- tempfile())
  on.exit(unlink(site, recursive = TRUE))
  dir.create(file.path(site, "sub"))
  writeLines("<h2 id=\"top\">A</h2><img src=\"sub/a.png\">", file.path(site, "index.html"))
  file.create(file.path(site, "sub", "index.html"), file.path(site, "sub", "a.png"))
  anchors <- list("index.html" = "top", "sub/index.html" = character())
  fault <- function(link, page = "index.html") look$fault_of_link(link, page, site, anchors)
  for (link in c("#top", "sub/a.png", "sub/", "sub/index.html", "https://r-project.org/a?b#c",
                 "mailto:a@b.org", "#")) {
    expect_identical(fault(link), "", label = link)
  }
  expect_identical(fault("../index.html#top", "sub/index.html"), "")
  expect_identical(fault("../sub/a.png", "sub/index.html"), "")
  expect_identical(fault("b.png"), "is not there")
  expect_identical(fault("../index.html#end", "sub/index.html"), "has no such anchor")
  expect_identical(fault("http:/r-project"), "is no address")
  expect_identical(look$attributes_of("<a href=\"x?a=1&amp;b\" id=\"y\">", "href|src"), "x?a=1&b")
})

test_that("the gallery has every kind of picture, and code that can be read", {
  slow_tier()
  gallery <- script_functions("bench", "gallery.R")
  file <- file.path(dirname(source_folder("R")), "bench", "gallery_pictures.R")
  blocks <- Filter(is.list, gallery$read_blocks(file))
  names <- vapply(blocks, `[[`, "", "name")
  expect_false(anyNA(names))
  expect_identical(anyDuplicated(names), 0L)
  for (block in blocks) {
    expect_match(block$words, "[.]$", label = block$name)
    expect_length(block$size, 2L)
    last <- utils::tail(as.list(parse(text = block$code, keep.source = FALSE)), 1L)[[1L]]
    expect_true(is.call(last) && !identical(last[[1L]], quote(`<-`)), label = block$name)
  }
  code <- unlist(lapply(blocks, `[[`, "code"))
  for (type in setdiff(plot_types(), "fit")) {
    expect_true(any(grepl(paste0("\"", type, "\""), code)), label = type)
  }
  lines <- gallery$block_lines(blocks[[1L]], "folder")
  expect_match(lines, "srcset=\"folder/curve-dark.png\" media=.*src=\"folder/curve-light.png\"",
               all = FALSE)
})
