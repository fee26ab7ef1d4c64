# The default fit beside tuned peers on 46 data sets that were collected for other purposes
# (zoo_sets.R): mean log predictive density of test observations, RMSE or error, coverage of 90 %
# intervals, CPU seconds, size of the fit. Peers (zoo_peers.R) are ranger, xgboost, e1071, mgcv,
# glmnet and dbarts; packages that are missing are left out.
#
#   SPARSEGP_DATA=... Rscript bench/zoo.R [quick] [WORD=VALUE ...]     about forty minutes of a core
#
#   quick          ten sets in three minutes
#   out=FOLDER     where fits leave their records, each a file: a run goes on where it ended
#   lib=PATH       the library of sparsegp, if not the first one of R_LIBS
#   as=NAME        the name of our records, by default "sparsegp-" and the version
#   before=NAME    records that the tables show beside ours
#   only=ours,ranger,...   fit only these; peers without records are those of ../vignettes/zoo.csv
#   sets=NAME,...  only these sets
#   note=TEXT      words for the page, such as the commit
#   limit=SECONDS  CPU seconds that a fit may take
#
# Each fit is a process (zoo_fit.R), one at a time. `FOLDER/fits.tsv` has a line for each with its
# scores; delete a record to have it made again. At the end zoo_tables.R writes
# results/zoo_defaults.md, .png and ../vignettes/zoo.csv unless only some sets were asked for.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  for (name in c("common.R", "zoo_sets.R", "zoo_peers.R", "zoo_tables.R")) {
    source(file.path(dirname(self), name))
  }
  HERE <<- normalizePath(dirname(self))
})

QUICK <- c("MASS/UScereal", "carData/SLID", "carData/Prestige", "datasets/airquality", "ISLR/Auto",
           "carData/Womenlf", "carData/TitanicSurvival", "AER/PSID1976", "rpart/kyphosis",
           "carData/Chile")

# ---- Arguments ----

options_given <- function(words) {
  given <- list(out = file.path(tools::R_user_dir("sparsegp", "cache"), "zoo"), lib = "",
                as = paste0("sparsegp-", utils::packageVersion("sparsegp")), before = "", only = "",
                sets = "", note = "", limit = "900")
  pairs <- grep("=", words, value = TRUE)
  given[sub("=.*", "", pairs)] <- sub("^[^=]*=", "", pairs)
  several <- function(text) strsplit(text, ",", fixed = TRUE)[[1L]]
  given$sets <- if ("quick" %in% words) QUICK else several(given$sets)
  given$only <- several(given$only)
  given
}

# ---- Fits ----

record_file <- function(out, set, who) {
  file.path(out, gsub("/", "_", set), paste0(who, ".rds"))
}

# Runs a fit in a process of its own, and appends a line to fits.tsv. A fit that fails leaves a
# record with the reason, and what it had found by then.
fit_set <- function(given, set, who, file) {
  dir.create(dirname(file), showWarnings = FALSE, recursive = TRUE)
  libs <- paste(c(if (nzchar(given$lib)) given$lib, .libPaths()), collapse = .Platform$path.sep)
  said <- tempfile()
  command <- paste("ulimit -t", given$limit, "; exec", shQuote(file.path(R.home("bin"), "Rscript")),
                   shQuote(file.path(HERE, "zoo_fit.R")), shQuote(set$name), who, shQuote(file))
  status <- system2("sh", c("-c", shQuote(command)), stdout = said, stderr = said,
                    env = c(paste0("R_LIBS=", shQuote(libs)), "OPENBLAS_NUM_THREADS=1",
                            "OMP_NUM_THREADS=1", "TZ=UTC"))
  record <- if (file.exists(file)) readRDS(file)
            else list(set = set$name, kind = set$kind, who = who, version = "")
  if (status != 0L) {
    reason <- grep("^(Calls:|Execution halted|In addition)", readLines(said), invert = TRUE,
                   value = TRUE)
    record$failed <- if (any(grepl("^Error", reason))) paste(reason, collapse = " ")
                     else paste("no answer within", given$limit, "CPU seconds")
  }
  saveRDS(record, file)
  note_fit(given$out, sub("[.]rds$", "", basename(file)), record)
}

# ---- Lines ----

score_line <- function(record, part) {
  found <- record[[part]]
  error <- if (record$kind == "class") mean(found$wrong) else sqrt(mean((found$mean - record$y)^2))
  c(part, signif(c(mean(found$density), error, if (is.null(found$inside)) NA else
    mean(found$inside), found$seconds, if (is.null(found$size)) NA else found$size / 1e6), 5))
}

note_fit <- function(out, name, record) {
  parts <- Filter(function(part) !is.null(record[[part]]$density), c("plain", "log"))
  start <- c(format(Sys.time(), "%F %T", tz = "UTC"), record$set, name, record$version)
  lines <- lapply(parts, function(part) c(start, score_line(record, part), ""))
  if (!is.null(record$failed)) lines <- c(lines, list(c(start, rep("", 6L), record$failed)))
  file <- file.path(out, "fits.tsv")
  if (!file.exists(file)) {
    writeLines(paste(c("time", "set", "who", "version", "part", "density", "error", "inside",
                       "seconds", "MB", "failed"), collapse = "\t"), file)
  }
  lines <- vapply(lines, paste, "", collapse = "\t")
  cat(lines, sep = "\n")
  cat(paste0(lines, "\n"), sep = "", file = file, append = TRUE)
}

# ---- All ----

# Makes the records that are missing: of every set by one peer after the other, ours first.
fit_all <- function(given, sets) {
  everybody <- c("ours", names(PEERS$number))
  if (length(given$only)) everybody <- intersect(everybody, given$only)
  for (who in everybody) {
    if (who != "ours" && !requireNamespace(who, quietly = TRUE)) {
      cat(who, "is not installed: left out\n")
      next
    }
    for (i in seq_len(nrow(sets))) {
      set <- sets[i, ]
      file <- record_file(given$out, set$name, if (who == "ours") given$as else who)
      if (!file.exists(file) && requireNamespace(set$package, quietly = TRUE)) {
        fit_set(given, set, who, file)
      }
    }
  }
}

given <- options_given(commandArgs(TRUE))
sets <- zoo_table()
if (length(given$sets)) sets <- sets[sets$name %in% given$sets, ]
fit_all(given, sets)
write_zoo(given, sets, whole = length(given$sets) == 0L)
