# Help pages as they are read: markup that roxygen2 did not understand stays in their text.

r_code_alone()

help_pages <- function() list.files(source_folder("man"), "[.]Rd$", full.names = TRUE)

tag_of <- function(node) {
  tag <- attr(node, "Rd_tag")
  if (is.null(tag)) "" else tag
}

# The nodes of a page that have one of these tags, but none that are within others of `except`.
nodes_of <- function(node, tags, except = character()) {
  if (tag_of(node) %in% tags) return(list(node))
  if (!is.list(node) || tag_of(node) %in% except) return(list())
  unlist(lapply(node, nodes_of, tags, except), recursive = FALSE)
}

text_of <- function(node) trimws(paste(unlist(node), collapse = ""))

# Texts of the cells of a table, row by row; `columns` is how many there should be.
table_of <- function(node) {
  body <- node[[2L]]
  tags <- vapply(body, tag_of, "")
  row <- cumsum(tags == "\\cr") + 1L - (tags == "\\cr")
  rows <- lapply(split(seq_along(body), row), function(at) {
    cell <- cumsum(tags[at] == "\\tab")
    vapply(split(body[at][tags[at] != "\\cr"], cell[tags[at] != "\\cr"]), text_of, "")
  })
  list(columns = nchar(text_of(node[[1L]])), rows = Filter(function(row) any(nzchar(row)), rows))
}

test_that("every row of a table has its cells: none is the rest of the row above", {
  slow_tier()
  found <- unlist(lapply(help_pages(), function(page) {
    tables <- lapply(nodes_of(tools::parse_Rd(page), "\\tabular"), table_of)
    unlist(lapply(tables, function(table) {
      whole <- vapply(table$rows, function(row) {
        length(row) == table$columns && (table$columns == 1L || any(nzchar(row[-1L])))
      }, NA)
      first <- vapply(table$rows[!whole], `[[`, "", 1L)
      if (length(first)) paste0(basename(page), ": ", first)
    }))
  }))
  expect_none(found, "rows of tables in which cells are missing")
})

test_that("no Markdown is left in the text of a help page", {
  slow_tier()
  # a row of a table, an item of a list, code, a link, words in bold
  markup <- "^\\s*[|]|^\\s*[*] |`|\\]\\(|\\[[^]]*\\]\\[|[*]{2}"
  literal <- c("\\code", "\\verb", "\\eqn", "\\deqn", "\\preformatted", "\\examples", "\\usage",
               "\\url", "\\href", "\\figure", "\\out")
  found <- unlist(lapply(help_pages(), function(page) {
    text <- unlist(nodes_of(tools::parse_Rd(page), "TEXT", literal))
    bad <- trimws(grep(markup, text, value = TRUE))
    if (length(bad)) paste0(basename(page), ": ", bad)
  }))
  expect_none(found, "Markdown")
})

# What a website's maker has to read: pkgdown takes them apart as code.
test_that("the usage of every help page is code", {
  slow_tier()
  found <- unlist(lapply(help_pages(), function(page) {
    usage <- nodes_of(tools::parse_Rd(page), "\\usage")
    text <- vapply(usage, function(node) {
      paste(vapply(node, function(part) {
        if (!tag_of(part) %in% c("\\method", "\\S3method")) return(text_of(part))
        paste0(text_of(part[[1L]]), ".", text_of(part[[2L]]))
      }, ""), collapse = "\n")
    }, "")
    text <- gsub("\n(?=[(])", "", text, perl = TRUE)
    if (inherits(try(parse(text = text), silent = TRUE), "try-error")) basename(page)
  }))
  expect_none(found, "pages whose usage cannot be parsed")
})

test_that("pages of what is experimental say so, and no others", {
  page_of <- function(name) file.path(source_folder("man"), paste0(name, ".Rd"))
  sections <- nodes_of(tools::parse_Rd(page_of("stability")), "\\section")
  named <- Filter(function(node) text_of(node[[1L]]) == "Experimental", sections)[[1L]][[2L]]
  experimental <- sub("[(][)]$", "", vapply(nodes_of(named, "\\link"), text_of, ""))
  expect_gt(length(experimental), 5L)
  expect_none(setdiff(experimental, getNamespaceExports("sparsegp")), "not exported")
  marked <- Filter(function(page) any(grepl("emph{Experimental", readLines(page), fixed = TRUE)),
                   help_pages())
  named <- lapply(marked, function(page) {
    vapply(nodes_of(tools::parse_Rd(page), "\\alias"), text_of, "")
  })
  expect_none(setdiff(experimental, unlist(named)), "not marked as experimental")
  right <- vapply(named, function(names) any(experimental %in% names), NA)
  expect_none(basename(marked[!right]), "marked, and not in the list")
})

test_that("the page of sparsegp() has at most 1200 words, and code in its first screen", {
  page <- file.path(source_folder("man"), "sparsegp.Rd")
  text <- capture.output(tools::Rd2txt(page, options = list(underline_titles = FALSE)))
  text <- gsub(".\b", "", text)
  expect_lte(lengths(strsplit(paste(text, collapse = " "), "\\s+")), 1200L)
  expect_true(any(grepl("<- sparsegp(", text[1:24], fixed = TRUE)))
})
