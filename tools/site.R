# Finishes a website that pkgdown has built, so that it needs no other server: pages can be opened
# as files, without a network, and are searched.
#
#   Rscript tools/site.R FOLDER CHECKOUT
#
# Scripts and style sheets of other servers are left out; pkgdown/extra.js, which pkgdown copies,
# does their work. The search index becomes a script, as a page that is a file may not fetch another
# one. Formulas become MathML.

write_text <- function(text, file) writeLines(enc2utf8(text), file, useBytes = TRUE)

read_text <- function(file) {
  paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n")
}

# Returns a page without what it would take from elsewhere, and without pkgdown's empty logo.
without_remote <- function(page) {
  remote <- "(https?:|file:)?//[^\"]*"
  page <- gsub(paste0("<script[^>]*src=\"", remote, "\"[^>]*></script>"), "", page)
  page <- gsub(paste0("<link[^>]*href=\"", remote, "\"[^>]*rel=\"stylesheet\"[^>]*>"), "", page)
  page <- gsub(paste0("<link[^>]*rel=\"stylesheet\"[^>]*href=\"", remote, "\"[^>]*>"), "", page)
  page <- gsub("<script[^>]*src=\"[^\"]*pkgdown[.]js\"[^>]*></script>", "", page)
  page <- gsub("<!--\\[if lt IE 9\\]>\\s*<!\\[endif\\]-->", "", page, perl = TRUE)
  gsub("<img src=\"\" class=\"logo\"[^>]*>", "", page)
}

# Returns the home page with the logo, whose file stands beside it. pkgdown makes icons of a logo of
# the package by another server.
with_logo <- function(page) {
  sub("<div class=\"page-header\">", paste0("<div class=\"page-header\">",
                                            "<img src=\"logo.svg\" class=\"logo\" alt=\"\">"), page,
      fixed = TRUE)
}

# ---- Formulas ----

FORMULA <- paste0("(?s)<span class=\"math (inline|display)\">",
                  "(\\\\\\(|\\\\\\[)(.*?)(\\\\\\)|\\\\\\])</span>")

# Returns TeX as MathML, by one call of pandoc.
to_mathml <- function(tex, display) {
  from <- tempfile(fileext = ".md")
  to <- tempfile(fileext = ".html")
  on.exit(unlink(c(from, to)))
  mark <- ifelse(display, "$$", "$")
  write_text(paste0(mark, gsub("\\s+", " ", trimws(tex)), mark, "\n"), from)
  status <- system2("pandoc", c("-f", "markdown", "-t", "html", "--mathml", from, "-o", to))
  made <- read_text(to)
  found <- regmatches(made, gregexpr("(?s)<math.*?</math>", made, perl = TRUE))[[1L]]
  if (status != 0L || length(found) != length(tex)) stop("pandoc did not read all formulas")
  found
}

unescaped <- function(text) {
  text <- gsub("&lt;", "<", text, fixed = TRUE)
  gsub("&amp;", "&", gsub("&gt;", ">", text, fixed = TRUE), fixed = TRUE)
}

with_mathml <- function(page) {
  at <- gregexpr(FORMULA, page, perl = TRUE)
  found <- regmatches(page, at)[[1L]]
  if (length(found) == 0L) return(page)
  display <- grepl("class=\"math display\"", found, fixed = TRUE)
  regmatches(page, at) <- list(to_mathml(unescaped(sub(FORMULA, "\\3", found, perl = TRUE)),
                                         display))
  page
}

# ---- Pages of measurements ----

# Adds a page for each file of bench/results, in the frame of the page that links to them.
add_results <- function(folder, root) {
  frame <- read_text(file.path(folder, "RESULTS.html"))
  for (file in list.files(file.path(root, "bench", "results"), "[.]md$", recursive = TRUE)) {
    made <- file.path(folder, "bench", "results", sub("[.]md$", ".html", file))
    dir.create(dirname(made), FALSE, TRUE)
    up <- strrep("../", 2L + lengths(gregexpr("/", file, fixed = TRUE)) * grepl("/", file))
    write_text(in_frame(frame, file.path(root, "bench", "results", file), up), made)
  }
  write_text(gsub("(href=\"bench/results/[^\"]*)[.]md\"", "\\1.html\"", frame),
             file.path(folder, "RESULTS.html"))
}

# Returns `frame` with its main part from a file of Markdown, `up` from where the frame stands.
in_frame <- function(frame, file, up) {
  to <- tempfile(fileext = ".html")
  on.exit(unlink(to))
  status <- system2("pandoc", c("-f", "gfm", "-t", "html", file, "-o", to))
  if (status != 0L) stop("pandoc did not read ", file)
  made <- gsub("<table>", "<table class=\"table\">", read_text(to), fixed = TRUE)
  frame <- gsub("((?:href|src)=\")(?![a-z]+:|#|/)", paste0("\\1", up), frame, perl = TRUE)
  begin <- regexpr("<main[^>]*>", frame)
  last <- begin + attr(begin, "match.length") - 1L
  title <- sub("^#+ ", "", readLines(file, 1L))
  page <- paste0(substr(frame, 1L, last), made, sub("(?s).*</main>", "</main>", frame, perl = TRUE))
  sub("<title>[^<]*", paste0("<title>", title), page)
}

# ---- All pages ----

finish <- function(folder, root) {
  add_results(folder, root)
  for (file in list.files(folder, "[.]html$", recursive = TRUE, full.names = TRUE)) {
    write_text(with_mathml(without_remote(read_text(file))), file)
  }
  home <- file.path(folder, "index.html")
  write_text(with_logo(read_text(home)), home)
  file.copy(file.path(root, "pkgdown", "logo.svg"), folder)
  index <- file.path(folder, "search.json")
  write_text(paste0("window.siteIndex = ", read_text(index), ";"), file.path(folder, "search.js"))
  # pictures of README and RESULTS, which pkgdown leaves out
  results <- file.path("bench", "results")
  dir.create(file.path(folder, results), FALSE, TRUE)
  file.copy(Sys.glob(file.path(root, results, "*.png")), file.path(folder, results))
  # pictures that examples left beside the numbered ones of their pages
  stray <- Sys.glob(file.path(folder, "reference", "Rplot*.png"))
  invisible(unlink(c(file.path(folder, "pkgdown.js"), stray)))
}

if (sys.nframe() == 0L) finish(commandArgs(TRUE)[1L], commandArgs(TRUE)[2L])
