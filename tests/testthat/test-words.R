# What people search for leads to a page, and what users of mgcv know leads to where it is shown.

r_code_alone()

page_text <- function(page) paste(readLines(page, encoding = "UTF-8"), collapse = "\n")

in_braces <- function(text, tag) {
  found <- regmatches(text, gregexpr(paste0("[\\\\]", tag, "[{][^{}]*[}]"), text))[[1L]]
  sub("[}]$", "", sub("^[^{]*[{]", "", found))
}

help_pages_of <- function(man) list.files(man, "[.]Rd$", full.names = TRUE)

# Terms that people search for, and pages that have each as an entry of the index
SEARCHED <- list(
  "inducing points" = c("fit_methods", "method_ep", "sparsegp"),
  "sparse GP" = c("fit_methods", "sparsegp"),
  "FITC" = "fit_methods", "DTC" = "fit_methods", "variational" = "fit_methods",
  "one-vs-rest" = "likelihoods",
  "kriging" = "sparsegp", "emulator" = c("sparsegp", "next_rows"),
  "surrogate" = c("sparsegp", "next_rows"), "calibration" = "calibration",
  "active learning" = c("next_rows", "ask"), "Bayesian optimisation" = "next_rows",
  "streaming" = "method_online", "multi-output" = "kernels_of_vectors",
  "co-kriging" = "kernels_of_vectors"
)

test_that("help pages have the entries that people search for", {
  man <- source_folder("man")
  for (term in names(SEARCHED)) {
    for (page in SEARCHED[[term]]) {
      text <- page_text(file.path(man, paste0(page, ".Rd")))
      expect_true(term %in% in_braces(text, "concept"), label = paste(page, "has the entry", term))
    }
  }
})

test_that("ten things that users of mgcv know are linked from ?sparsegp, and the links resolve", {
  man <- source_folder("man")
  text <- page_text(file.path(man, "sparsegp.Rd"))
  from <- regexpr("section{Coming from mgcv}", text, fixed = TRUE)
  expect_gt(from, 0L)
  table <- substring(text, from)
  table <- sub("(?s)\n[}].*", "", table, perl = TRUE)
  rows <- strsplit(table, "[\\]cr")[[1L]][-1L]
  rows <- rows[grepl("[\\]tab", rows)]
  expect_length(rows, 10L)
  aliases <- unlist(lapply(help_pages_of(man), function(page) in_braces(page_text(page), "alias")))
  vignettes <- sub("[.]Rmd$", "", list.files(source_folder("vignettes"), "[.]Rmd$"))
  for (row in rows) {
    targets <- regmatches(row, gregexpr("(?<=link\\[=)[^]]+", row, perl = TRUE))[[1L]]
    links <- sub("[(][)]$", "", c(targets, in_braces(row, "link")))
    pages <- regmatches(row, gregexpr("(?<=vignette\\(\")[^\"]+", row, perl = TRUE))[[1L]]
    expect_gt(length(links), 0L, label = paste("links in", row))
    expect_none(setdiff(links, aliases), "links to no page")
    expect_none(setdiff(pages, vignettes), "links to no vignette")
  }
})
