# Where a default fit is silently worse than one by hand: simulated situations (regret_cases.R,
# regret_more.R), series that come with R and the sets of the zoo. Beside the default fit of each
# stands a family of hand fits (regret_hand.R): short, middle and long starts of the length scale,
# each scale of the response, next to no noise, Student noise, a periodic part, ARD, and what
# somebody would give who knows how the data were made. Regret is a log evidence that is more than
# 10 nats higher, or a log density of the observations held out that is higher by more than two
# standard errors and 0.01 nats an observation.
#
#   SPARSEGP_DATA=... Rscript bench/regret.R [--quick] [WORD=VALUE ...]   about 40 minutes of a core
#   Rscript bench/regret.R --compare OLD NEW                  the page of two versions' records
#
#   --quick        14 cases in two minutes
#   out=FOLDER     where cases leave their records, each a file: a run goes on where it ended. By
#                  default the folder that SPARSEGP_REGRET names, or one of the user's caches
#   lib=PATH       the library of sparsegp, if not the first one of R_LIBS
#   as=NAME        the name of our records, by default the commit
#   before=NAME    records that the page shows beside ours
#   hand=NAME      hand fits are those of the records of that name: the default alone is fitted
#   cases=REGEX    only cases whose names match
#   limit=SECONDS  CPU seconds of a hand fit (60); a default fit may take ten times as long
#   note=TEXT      words for the page, such as the commit
#
# Each case is a process (regret_case.R), one at a time. Where the evidence is that of a basis, and
# of several classes, densities alone are compared. results/regret.csv has a line for each case and
# version, and stands in for records that are not there. regret_tables.R writes results/regret.md
# unless only some cases were asked for. Without SPARSEGP_DATA the zoo is left out.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  for (name in c("common.R", "zoo_sets.R", "regret_cases.R", "regret_more.R", "regret_tables.R")) {
    source(file.path(dirname(self), name))
  }
  HERE <<- normalizePath(dirname(self))
})

# ---- Arguments ----

commit_now <- function() {
  log <- c("-C", shQuote(HERE), "log", "-1", "--format=%h", "--abbrev=8", "--", "../R", "../src")
  said <- tryCatch(system2("git", log, stdout = TRUE, stderr = FALSE), error = function(e) NULL)
  if (length(said)) said else as.character(utils::packageVersion("sparsegp"))
}

options_given <- function(words) {
  folder <- Sys.getenv("SPARSEGP_REGRET", file.path(tools::R_user_dir("sparsegp", "cache"),
                                                    "regret"))
  given <- list(out = folder, lib = "", as = commit_now(), before = "", hand = "", cases = "",
                limit = "60", note = "")
  pairs <- grep("=", words, value = TRUE)
  given[sub("=.*", "", pairs)] <- sub("^[^=]*=", "", pairs)
  given$quick <- "--quick" %in% words
  at <- match("--compare", words)
  given$compare <- !is.na(at)
  if (given$compare) {
    if (length(words) < at + 2L) stop("--compare needs two names of records", call. = FALSE)
    given[c("before", "as")] <- words[at + 1:2]
  }
  given
}

# ---- Records ----

# Runs what is missing of a case: again after a fit that ended the process, which is then left out.
run_case <- function(given, name) {
  file <- record_file(given$out, given$as, name)
  dir.create(dirname(file), showWarnings = FALSE, recursive = TRUE)
  libs <- paste(c(if (nzchar(given$lib)) given$lib, .libPaths()), collapse = .Platform$path.sep)
  only <- if (nzchar(given$hand)) "default"
  said <- tempfile()
  words <- c(file.path(HERE, "regret_case.R"), name, file, given$limit, only)
  for (attempt in 1:5) { # a fit that ended the process is not tried again
    status <- system2("sh", c("-c", shQuote(paste(
      "ulimit -t", 20 * as.numeric(given$limit), "; exec",
      paste(shQuote(c(file.path(R.home("bin"), "Rscript"), words)), collapse = " ")
    ))), stdout = said, stderr = said,
    env = c(paste0("R_LIBS=", shQuote(libs)), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1",
            "TZ=UTC"))
    if (status == 0L || !file.exists(file)) break
  }
  if (status != 0L) cat(name, ":", utils::tail(readLines(said), 2L), "\n")
}

# A record of the default alone takes hand fits of another version's record.
add_hand_fits <- function(given, name) {
  file <- record_file(given$out, given$as, name)
  other <- record_file(given$out, given$hand, name)
  if (!file.exists(file) || !file.exists(other)) return(invisible())
  record <- readRDS(file)
  theirs <- readRDS(other)$fits
  record$fits <- c(record$fits, theirs[setdiff(names(theirs), names(record$fits))])
  saveRDS(record, file)
}

is_whole <- function(record, default_alone) {
  isTRUE(record$done) || default_alone && !is.null(record$fits$default)
}

run_all <- function(given, cases) {
  for (name in names(cases)) {
    file <- record_file(given$out, given$as, name)
    if (file.exists(file) && is_whole(readRDS(file), nzchar(given$hand))) next
    run_case(given, name)
    if (nzchar(given$hand)) add_hand_fits(given, name)
    if (file.exists(file)) cat(format(Sys.time(), "%T"), line_of(name, readRDS(file)), "\n")
  }
}

given <- options_given(commandArgs(TRUE))
cases <- regret_cases()
if (given$quick) cases <- Filter(function(case) case$quick, cases)
cases <- cases[grepl(given$cases, names(cases))]
if (!given$compare) run_all(given, cases)
write_regret(given, names(cases), whole = !given$quick && !nzchar(given$cases))
