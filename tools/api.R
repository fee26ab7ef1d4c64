# Prints the interface as a page of Markdown: what is exported, with its arguments and defaults,
# whether it is experimental, its help page, and how many files of tests, vignettes and articles use
# it; then arguments that several functions have, with different defaults. The package has to be
# installed.
#
#   Rscript tools/api.R            in the checkout's folder

library(sparsegp)
home <- asNamespace("sparsegp")

# Which page documents each name
pages <- do.call(rbind, lapply(list.files("man", "[.]Rd$", full.names = TRUE), function(file) {
  aliases <- grep("^\\\\alias", readLines(file), value = TRUE)
  data.frame(name = gsub("^\\\\alias[{]|[}]$", "", aliases),
             page = sub("[.]Rd$", "", basename(file)))
}))
stability <- paste(readLines("man/stability.Rd"), collapse = " ")
stability <- sub(".*section[{]Experimental[}]", "", sub("section[{]Saved.*", "", stability))
experimental <- unlist(regmatches(stability, gregexpr("[a-z_]+(?=[(][)])", stability, perl = TRUE)))
page_of <- function(name) pages$page[match(name, pages$name)]

texts <- lapply(c(tests = "tests/testthat", vignettes = "vignettes"), function(folder) {
  files <- list.files(folder, "[.](R|Rmd)$", full.names = TRUE, recursive = TRUE)
  vapply(files, function(file) paste(readLines(file), collapse = "\n"), "")
})
used_in <- function(name, where) sum(grepl(paste0("\\b", name, "\\("), texts[[where]]))

default_in_words <- function(value) {
  if (is.name(value) && !nzchar(as.character(value))) return("")
  paste0(" = ", gsub("\\s+", " ", paste(deparse(value, 500L), collapse = " ")))
}
arguments_of <- function(fun) {
  values <- as.list(formals(fun))
  paste0(names(values), vapply(values, default_in_words, ""))
}

exported <- sort(getNamespaceExports(home))
methods <- getNamespaceInfo(home, "S3methods")
own <- setdiff(ls(home), exported) # generics of the package's own
methods <- methods[methods[, 2L] == "sparsegp" & !methods[, 1L] %in% c("print", "format", own), ]
functions <- c(mget(exported, home),
               stats::setNames(lapply(methods[, 3L], get, home), methods[, 3L]))
functions <- Filter(is.function, functions)

cat("| function | arguments | status | help | tests | vignettes |\n|---|---|---|---|---|---|\n")
for (name in names(functions)) {
  called <- if (name %in% exported) name else methods[match(name, methods[, 3L]), 1L]
  cat("| `", name, "()` | `", paste(arguments_of(functions[[name]]), collapse = ", "), "` | ",
      if (name %in% experimental) "experimental" else "stable", " | ", page_of(name), " | ",
      used_in(called, "tests"), " | ", used_in(called, "vignettes"), " |\n", sep = "")
}

rows <- do.call(rbind, lapply(names(functions), function(name) {
  values <- as.list(formals(functions[[name]]))
  data.frame(argument = names(values), fun = rep(name, length(values)),
             default = vapply(values, default_in_words, ""))
}))
rows <- rows[rows$argument != "..." & nzchar(rows$default), ]
several <- Filter(function(own) length(unique(own$default)) > 1L, split(rows, rows$argument))
cat("\n| argument | defaults |\n|---|---|\n")
for (own in several) {
  each <- tapply(own$fun, own$default, toString)
  cat("| `", own$argument[1L], "` | ", paste0("`", sub(" = ", "", names(each)), "`: ", each,
                                               collapse = "; "), " |\n", sep = "")
}
