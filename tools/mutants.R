# The mutants of tools/mutants.list, one after the other, in this copy of the checkout: see
# tools/mutants, which runs it.
#
#   Rscript tools/mutants.R LIBRARY PATTERN|--check quick|all   all of them
#   Rscript tools/mutants.R tests LIBRARY quick|all FILE...     tests for one, as the suite has them
args <- commandArgs(TRUE)

LONGEST <- 1200 # seconds that tests may take; a formula that is wrong may also never end

# ---- The list ----

# list(file, tests, line, becomes, reason) each
read_mutants <- function(list) {
  mutants <- file <- NULL
  for (text in readLines(list)) {
    kind <- substr(text, 1L, 2L)
    rest <- substring(text, 3L)
    last <- length(mutants)
    if (text == "" || kind == "# ") next
    if (kind == "- ") mutants[[last + 1L]] <- c(file, line = rest, reason = "")
    else if (kind == "+ ") mutants[[last]][["becomes"]] <- rest
    else if (kind == "= ") mutants[[last]][["reason"]] <- rest
    else file <- c(file = sub(":.*", "", text), tests = sub(".*: *", "", text))
  }
  mutants
}

# Where in its file the mutant's line stands.
place_of <- function(mutant, source) {
  at <- grep(mutant[["line"]], source, fixed = TRUE)
  pieces <- lengths(gregexpr(mutant[["line"]], source[at], fixed = TRUE))
  if (sum(pieces) == 1L && !is.na(mutant["becomes"])) return(at)
  stop("stands ", sum(pieces), " times in ", mutant[["file"]], ": ", mutant[["line"]],
       call. = FALSE)
}

is_c <- function(mutant) startsWith(mutant[["file"]], "src/")

# ---- One of them ----

# The package; the objects of C files that have not changed are there.
install <- function(library, ...) {
  log <- system2("R", c("CMD", "INSTALL", "--no-docs", "--no-test-load", ..., "-l",
                        shQuote(library), "."), stdout = TRUE, stderr = TRUE)
  if (is.null(attr(log, "status"))) return(invisible())
  stop(paste(c("not installed", log), collapse = "\n"), call. = FALSE)
}

# The first of some test files that fails, or where R ends; NULL: none.
first_failure <- function(library, tier, files) {
  said <- suppressWarnings(system2(
    "Rscript", c("--no-init-file", "tools/mutants.R", "tests", shQuote(library), tier, files),
    stdout = TRUE, stderr = FALSE, timeout = LONGEST
  ))
  last <- utils::tail(grep("^(RUN|FAILED|PASSED)", said, value = TRUE), 1L)
  if (identical(last, "PASSED")) NULL
  else if (startsWith(last, "FAILED")) sub("^FAILED ", "", last)
  else paste(sub("^RUN ", "", last), "(R ended, or would not end)")
}

named_files <- function(mutant) {
  files <- paste0("test-", strsplit(mutant[["tests"]], " ")[[1L]], ".R")
  lost <- setdiff(files, dir("tests/testthat"))
  if (length(lost)) stop("no test file ", toString(lost), call. = FALSE)
  files
}

GOLDEN <- "test-golden.R"

# Which test tells the mutant, or NULL.
told_by <- function(mutant, library, mode) {
  suite <- setdiff(dir("tests/testthat", "^test.*[.]R$"), GOLDEN)
  for (files in list(named_files(mutant), suite)) {
    at <- first_failure(library, "quick", files)
    if (!is.null(at)) return(at)
    if (mode == "all") at <- first_failure(library, "all", files)
    if (!is.null(at)) return(paste0(at, ", slow tier"))
  }
  first_failure(library, "all", GOLDEN)
}

try_mutant <- function(mutant, library, mode) {
  file <- mutant[["file"]]
  right <- readLines(file)
  on.exit(writeLines(right, file))
  at <- place_of(mutant, right)
  wrong <- sub(mutant[["line"]], mutant[["becomes"]], right[at], fixed = TRUE)
  writeLines(replace(right, at, wrong), file)
  install(library, if (is_c(mutant)) "--libs-only" else "--no-byte-compile")
  told_by(mutant, library, mode)
}

# ---- Tests up to the first file that fails, in an R of its own ----

run_tests <- function(library, tier, files) {
  .libPaths(c(library, .libPaths()))
  suppressPackageStartupMessages(library("sparsegp", character.only = TRUE, lib.loc = library))
  Sys.setenv(SPARSEGP_TESTS = tier)
  for (file in files) {
    cat("RUN ", file, "\n", sep = "")
    found <- as.data.frame(testthat::test_file(
      file.path("tests/testthat", file), package = "sparsegp", load_package = "installed",
      reporter = "silent", stop_on_failure = FALSE
    ))
    if (any(found$failed > 0, found$error)) return(cat("FAILED ", file, "\n", sep = ""))
  }
  cat("PASSED\n")
}

# ---- All of them ----

run_mutants <- function(mutants, library, mode) {
  install(library)
  told <- character(length(mutants))
  for (i in seq_along(mutants)) {
    if (i > 1L && is_c(mutants[[i - 1L]]) && !is_c(mutants[[i]])) install(library, "--libs-only")
    by <- try_mutant(mutants[[i]], library, mode)
    told[i] <- if (is.null(by)) NA else by
    message(sprintf("%3d of %d: %s: %s: %s", i, length(mutants), mutants[[i]][["file"]],
                    mutants[[i]][["becomes"]], told[i]))
  }
  install(library)
  check_plain(told, library)
  told
}

# A test that fails without a mutant has told nothing.
check_plain <- function(told, library) {
  files <- sort(unique(sub("[ ,].*", "", told[!is.na(told)])))
  failed <- first_failure(library, if (any(grepl("slow tier", told))) "all" else "quick", files)
  if (!is.null(failed)) stop("without a mutant fails ", failed, call. = FALSE)
}

table_row <- function(mutant, by) {
  cell <- function(text) paste0("`", gsub("|", "\\|", text, fixed = TRUE), "`")
  reason <- mutant[["reason"]]
  if (is.na(by)) by <- if (nzchar(reason)) paste("none:", reason) else "**none**"
  paste0("| ", paste(c(mutant[["file"]], cell(mutant[["line"]]), cell(mutant[["becomes"]]), by),
                     collapse = " | "), " |")
}

# Prints the table; returns how many are not what the list says of them.
report <- function(mutants, told) {
  reasons <- vapply(mutants, `[[`, "", "reason") != ""
  cat("| file | the line | as a mutant | told by |", "|---|---|---|---|",
      mapply(table_row, mutants, told), "",
      paste0(length(mutants), " mutants: ", sum(!is.na(told)), " told by a test, ",
             sum(is.na(told) & reasons), " not, for the reason given, ",
             sum(is.na(told) & !reasons), " not."),
      sep = "\n")
  if (any(!is.na(told) & reasons)) message("There are tests for what the list says has none")
  sum(is.na(told) != reasons)
}

main <- function(library, pattern, mode) {
  mutants <- read_mutants("tools/mutants.list")
  for (mutant in mutants) place_of(mutant, readLines(mutant[["file"]]))
  if (pattern == "--check") return(message(length(mutants), " mutants stand in their files"))
  mutants <- Filter(function(mutant) grepl(pattern, mutant[["file"]]), mutants)
  if (length(mutants) == 0L) stop("no file has mutants and this name: ", pattern, call. = FALSE)
  mutants <- mutants[order(!vapply(mutants, is_c, NA))]
  quit(status = report(mutants, run_mutants(mutants, library, mode)) > 0)
}

if (args[1L] == "tests") {
  run_tests(args[2L], args[3L], args[-(1:3)])
} else {
  main(args[1L], args[2L], args[3L])
}
