# What tools/zoo.R found, as tables: read from its file of results, printed, and written as a page.

FIELDS <- c("name", "n", "inputs", "kind", "fit_seconds", "all_seconds", "slowest_use",
            "slowest_seconds", "findings", "refusals", "warnings", "messages")
NUMBERS <- c("n", "inputs", "fit_seconds", "all_seconds", "slowest_seconds")

SLOW <- 20     # CPU seconds of a fit, or of one use of it, from which it is listed
TOO_SLOW <- 60 # and from which it is a finding

read_results <- function(file) {
  read <- utils::read.delim(file, quote = "", comment.char = "", colClasses = "character",
                            na.strings = NULL)
  for (name in NUMBERS) read[[name]] <- as.numeric(sub("^NA$", NA, read[[name]]))
  read
}

# Returns all notes of one kind, each with the name of its case.
noted <- function(results, kind) {
  parts <- strsplit(results[[kind]], " | ", fixed = TRUE)
  data.frame(name = rep(results$name, lengths(parts)), text = as.character(unlist(parts)))
}

# Returns a text without its numbers and quoted names: texts that differ in these alone are one.
pattern_of <- function(text) {
  text <- gsub("`[^`]*`|\"[^\"]*\"|'[^']*'", "'..'", text)
  gsub("-?[0-9][0-9.]*(e[-+]?[0-9]+)?", "#", text)
}

# Returns the distinct texts, how often and in how many cases they came, and one of these.
distinct <- function(found) {
  groups <- split(found, pattern_of(found$text))
  table <- data.frame(
    count = vapply(groups, nrow, 0L),
    cases = vapply(groups, function(g) length(unique(g$name)), 0L),
    text = vapply(groups, function(g) g$text[1L], ""),
    example = vapply(groups, function(g) g$name[1L], ""), row.names = NULL
  )
  table[order(-table$cases), ]
}

# Counts errors of the package by the use, the argument that they name and its fault.
refusals_by_argument <- function(results) {
  found <- noted(results, "refusals")
  groups <- split(found, sub("(^[a-z]+: `[^`]*` [^:.]*).*", "\\1", found$text))
  data.frame(cases = vapply(groups, nrow, 0L), text = vapply(groups, function(g) g$text[1L], ""),
             example = vapply(groups, function(g) g$name[1L], ""), row.names = NULL)
}

slow_cases <- function(results, least) {
  fit <- !is.na(results$fit_seconds) & results$fit_seconds > least
  use <- !is.na(results$slowest_seconds) & results$slowest_seconds > least
  slow <- results[fit | use, c("name", "n", "inputs", "kind", "fit_seconds", "slowest_use",
                               "slowest_seconds")]
  slow[order(-pmax(slow$fit_seconds, slow$slowest_seconds, na.rm = TRUE)), ]
}

# Returns the cases that have a fit, whatever came of it later.
fitted_cases <- function(results) {
  failed <- grepl("(^|[|] )(fit|case): ", paste(results$findings, "|", results$refusals))
  results[!failed, ]
}

summary_of <- function(results) {
  fits <- fitted_cases(results)
  seconds <- fits$fit_seconds
  refused <- grepl("(^|[|] )fit: ", results$refusals)
  data.frame(
    what = c("data sets", "cases", "fits", "refused by an error of the package",
             "cases with findings", "cases with warnings",
             paste("CPU seconds of a fit:", c("median", "90 %", "99 %", "longest")),
             "CPU seconds altogether"),
    count = round(c(length(unique(sub("/[^/]*$", "", results$name))), nrow(results), nrow(fits),
                    sum(refused), sum(nzchar(results$findings)), sum(nzchar(results$warnings)),
                    stats::quantile(seconds, c(0.5, 0.9, 0.99, 1), names = FALSE),
                    sum(results$all_seconds)), 2)
  )
}

tables_of <- function(results) {
  list("Cases" = summary_of(results),
       "Findings" = distinct(noted(results, "findings")),
       "Errors of the package, by use and argument" = refusals_by_argument(results),
       "Warnings" = distinct(noted(results, "warnings")),
       "Messages" = distinct(noted(results, "messages")),
       "Cases of more than 20 CPU seconds" = slow_cases(results, SLOW))
}

markdown <- function(table) {
  cells <- lapply(table, function(x) gsub("|", "\\|", as.character(x), fixed = TRUE))
  rows <- do.call(paste, c(unname(cells), sep = " | "))
  number <- vapply(table, is.numeric, NA)
  c(paste("|", paste(names(table), collapse = " | "), "|"),
    paste("|", paste(ifelse(number, "---:", "---"), collapse = " | "), "|"),
    paste("|", rows, "|"))
}

print_tables <- function(tables) {
  for (title in names(tables)) {
    table <- tables[[title]]
    cat("\n-- ", title, "\n", if (nrow(table) == 0L) "(none)\n", sep = "")
    if (nrow(table)) cat(do.call(paste, c(unname(as.list(table)), sep = "  ")), sep = "\n")
  }
}

# Returns what the page has to say of its circumstances. The commit is the last one of the main
# branch, as in bench/run.R.
setup_of_page <- function(skipped) {
  commit <- suppressWarnings(system2("git", c("merge-base", "HEAD", "main"), stdout = TRUE,
                                     stderr = FALSE))
  at <- if (length(commit) == 1L) paste(" at", substr(commit, 1L, 7L)) else ""
  paste0("sparsegp ", utils::packageVersion("sparsegp"), at, "; ", R.version.string,
         "; LAPACK ", basename(La_library()), ", 1 thread.",
         if (length(skipped)) paste0(" Not installed: ", toString(skipped), "."))
}

write_page <- function(tables, skipped, page) {
  body <- lapply(names(tables), function(title) {
    table <- tables[[title]]
    c(paste0("*", title, "*"), "", if (nrow(table)) markdown(table) else "None.", "")
  })
  writeLines(c(
    "## Default fits of data sets that were collected for other purposes", "",
    paste("`tools/zoo`: `sparsegp(response ~ ., data)` of every response of the data sets of R's",
          "own packages, and of those of `tools/zoo.sets`, on at most 3000 rows; then what a fit",
          "is used for."),
    "", setup_of_page(skipped), "", unlist(body)), page)
}

# Prints the tables, writes the page, and returns whether anything was found.
report <- function(results, skipped, page) {
  tables <- tables_of(results)
  print_tables(tables)
  if (length(skipped)) cat("\nNot installed, left out: ", toString(skipped), "\n", sep = "")
  if (nzchar(page)) write_page(tables, skipped, page)
  found <- sum(nzchar(results$findings))
  too_slow <- slow_cases(results, TOO_SLOW)
  cat("\nzoo: ", nrow(results), " cases, ", nrow(fitted_cases(results)), " fits, ", found,
      " with findings, ", nrow(too_slow), " of more than ", TOO_SLOW, " s\n", sep = "")
  as.integer(found > 0L || nrow(too_slow) > 0L)
}
