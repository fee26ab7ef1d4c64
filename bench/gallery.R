# Every kind of picture, on white and on a dark background, as files to be looked at:
#
#   Rscript bench/gallery.R [FOLDER] [NAME...]
#
# The article "Gallery" of the website shows the same: it calls gallery_page(). The pictures are in
# bench/gallery_pictures.R.

PAGES <- c(light = "white", dark = "#15191e") # the latter is the website's, pkgdown/extra.css

# Returns the blocks of a script: a list of sections' titles, and of pictures with `name`, `size`,
# `words` and `code`.
read_blocks <- function(file) {
  lines <- readLines(file)
  block <- cumsum(!nzchar(lines))
  lapply(unname(split(lines[nzchar(lines)], block[nzchar(lines)]))[-1L], function(lines) {
    title <- "^# ---- (.*) ----$"
    if (grepl(title, lines[1L])) return(sub(title, "\\1", lines[1L]))
    head <- regmatches(lines[1L], regexec("^# ([a-z-]+)( \\(([0-9. x]+)\\))?: (.*)$", lines[1L]))
    size <- as.double(strsplit(head[[1L]][4L], " x ", fixed = TRUE)[[1L]])
    list(name = head[[1L]][2L], size = if (length(size) == 2L) size else c(7, 4.6),
         words = head[[1L]][5L], code = lines[-1L])
  })
}

dark_theme <- function() {
  page <- ggplot2::element_rect(fill = PAGES[["dark"]], colour = NA)
  ink <- "#d5d9dd"
  ggplot2::theme_minimal() + ggplot2::theme(
    plot.background = page, panel.background = page,
    text = ggplot2::element_text(colour = ink), axis.text = ggplot2::element_text(colour = ink),
    strip.text = ggplot2::element_text(colour = ink),
    panel.grid = ggplot2::element_line(colour = "#2b3138")
  )
}

# Draws an expression on a page of that colour.
draw_on <- function(page, file, size, expression, env) {
  grDevices::png(file, size[1L], size[2L], "in", res = 144, bg = PAGES[[page]])
  on.exit(grDevices::dev.off())
  if (page == "dark") {
    # as base graphics alone need it, for lines() over a plot of the data
    par(fg = "white", col = "#d5d9dd", col.axis = "white", col.lab = "white", col.main = "white")
  }
  par(mar = c(3.3, 4.1, 2.6, 0.8), mgp = c(2.1, 0.6, 0))
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    old <- ggplot2::theme_set(if (page == "dark") dark_theme() else ggplot2::theme_minimal())
    on.exit(ggplot2::theme_set(old), add = TRUE)
  }
  set.seed(1) # residuals of labels and counts are randomised
  seen <- withVisible(eval(expression, env))
  if (inherits(seen$value, "ggplot") && seen$visible) print(seen$value)
}

picture_file <- function(folder, name, page) file.path(folder, paste0(name, "-", page, ".png"))

# Runs a block, whose last expression draws, on these pages, and returns the seconds it took.
draw_block <- function(block, folder, env, pages = names(PAGES)) {
  code <- parse(text = block$code, keep.source = FALSE)
  began <- proc.time()[[3L]]
  for (expression in as.list(code[-length(code)])) suppressMessages(eval(expression, env))
  for (page in pages) {
    draw_on(page, picture_file(folder, block$name, page), block$size, code[[length(code)]], env)
  }
  invisible(proc.time()[[3L]] - began)
}

# Returns a block in markdown. A browser takes the dark picture if the page is dark.
block_lines <- function(block, folder) {
  source <- picture_file(folder, block$name, names(PAGES))
  c(block$words, "", "```r", block$code, "```", "",
    sprintf(paste0("<picture class=\"gallery\"><source srcset=\"%s\" ",
                   "media=\"(prefers-color-scheme: dark)\"><img src=\"%s\" alt=\"%s\" ",
                   "style=\"max-width: %dpx\"></picture>"),
            source[2L], source[1L], gsub("\"", "&quot;", block$words), 100 * block$size[1L]), "")
}

# Draws all blocks into a folder, and returns the lines of the article, with links to `shown`, the
# folder as the page sees it.
gallery_page <- function(blocks, folder, shown, pages = names(PAGES)) {
  dir.create(folder, FALSE, TRUE)
  env <- new.env(parent = globalenv())
  unlist(lapply(blocks, function(block) {
    if (is.character(block)) return(c(paste("##", block), ""))
    draw_block(block, folder, env, pages)
    block_lines(block, shown)
  }))
}

if (sys.nframe() == 0L) {
  library(sparsegp)
  folder <- c(commandArgs(TRUE), "gallery")[1L]
  dir.create(folder, showWarnings = FALSE)
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  blocks <- Filter(is.list, read_blocks(sub("[.]R$", "_pictures.R", script)))
  wanted <- commandArgs(TRUE)[-1L]
  env <- new.env(parent = globalenv())
  for (block in blocks) {
    drawn <- length(wanted) == 0L || block$name %in% wanted # fits of the others are used later
    seconds <- draw_block(block, folder, env, if (drawn) names(PAGES))
    if (drawn) cat(sprintf("%-20s %5.1f s\n", block$name, seconds))
  }
}
