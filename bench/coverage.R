# How far the error bars can be trusted: the nominal coverage of prediction intervals (50, 80, 90,
# 95 and 99 %) against the actual one, and their width, on simulated and real data of 15 to 10 000
# observations, inside the range of the inputs and outside of it, for every likelihood that has
# intervals; beside mgcv, DiceKriging (up to 400 observations) and dbarts where they apply. Packages
# that are missing are left out.
#
#   Rscript bench/coverage.R [quick] [WORD=VALUE ...]     about twenty minutes of a core
#
#   quick          small cases only, in three minutes; writes no page
#   out=FOLDER     where cases leave their records, each a file: a run goes on where it ended
#   as=NAME        the name of our records, by default "sparsegp-" and the version
#   before=NAME    records that the table of groups shows beside ours
#   only=sparsegp,mgcv,...   run only these
#   cases=WORD     only cases whose names contain the word
#   note=TEXT      words for the page, such as the commit
#   limit=SECONDS  CPU seconds that a case and a method may take
#
# Each case and method is a process (coverage_case.R), one at a time; delete a record to have it
# made again. The cases are in coverage_cases.R. The page is results/coverage.md, and its first
# table also ../vignettes/coverage.csv.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  for (name in c("common.R", "coverage_cases.R")) source(file.path(dirname(self), name))
  HERE <<- normalizePath(dirname(self))
})

METHODS <- c("sparsegp", "mgcv", "DiceKriging", "dbarts")
PERCENT <- c(50, 80, 90, 95, 99)

options_given <- function(words) {
  given <- list(out = file.path(tools::R_user_dir("sparsegp", "cache"), "coverage"),
                as = paste0("sparsegp-", utils::packageVersion("sparsegp")), before = "",
                only = toString(METHODS), cases = "", note = "", limit = "400")
  pairs <- grep("=", words, value = TRUE)
  given[sub("=.*", "", pairs)] <- sub("^[^=]*=", "", pairs)
  given$quick <- "quick" %in% words
  given$only <- trimws(strsplit(given$only, ",", fixed = TRUE)[[1L]])
  given
}

# ---- Records ----

record_file <- function(given, case, name) file.path(given$out, case, paste0(name, ".rds"))

# Peers for numbers take part where mgcv's family is Gaussian.
takes_part <- function(case, who) {
  family <- case$family$family
  switch(who, sparsegp = TRUE, mgcv = !is.null(family), identical(family, "gaussian"))
}

# Runs a case in a process of its own. One that fails leaves a record of the repeats before, or
# none.
run_case <- function(given, name, who, file) {
  dir.create(dirname(file), showWarnings = FALSE, recursive = TRUE)
  said <- tempfile()
  command <- paste("ulimit -t", given$limit, "; exec", shQuote(file.path(R.home("bin"), "Rscript")),
                   shQuote(file.path(HERE, "coverage_case.R")), name, who, shQuote(file))
  status <- system2("sh", c("-c", shQuote(command)), stdout = said, stderr = said,
                    env = c("OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "TZ=UTC",
                            paste0("R_LIBS=", shQuote(paste(.libPaths(), collapse = ":")))))
  if (status != 0L) {
    reason <- grep("^Error", readLines(said), value = TRUE)
    if (!file.exists(file)) saveRDS(paste(c(reason, "no answer")[1L]), file)
  }
  cat(format(Sys.time(), "%T"), name, who, if (status != 0L) "failed:", if (status != 0L) reason,
      "\n")
}

run_all <- function(given, cases) {
  for (who in intersect(METHODS, given$only)) {
    if (!requireNamespace(who, quietly = TRUE)) {
      cat(who, "is not installed: left out\n")
      next
    }
    for (name in names(cases)) {
      file <- record_file(given, name, if (who == "sparsegp") given$as else who)
      if (takes_part(cases[[name]], who) && !file.exists(file)) run_case(given, name, who, file)
    }
  }
}

# ---- Tables ----

# Returns a row for each part of a record: observed coverage in per cent, the standard error of that
# of 90 % over repeats (binomial if there is one), and the mean width of the interval of 90 %.
summary_of <- function(record, case, name, who) {
  if (!is.data.frame(record)) return(NULL)
  do.call(rbind, lapply(unique(record$part), function(part) {
    own <- record[record$part == part, ]
    content <- tapply(own$observed, own$nominal, mean)
    of_90 <- own[own$nominal == 0.9, ]
    se <- if (nrow(of_90) > 1L) stats::sd(of_90$observed) / sqrt(nrow(of_90))
          else sqrt(0.09 / of_90$rows)
    data.frame(group = case$group, case = case$name, n = case$n, part, by = who,
               t(stats::setNames(100 * content, PERCENT)), se = 100 * se, width = mean(of_90$width),
               seconds = mean(of_90$seconds), repeats = nrow(of_90), check.names = FALSE)
  }))
}

all_summaries <- function(given, cases) {
  names <- c(sparsegp = given$as, if (nzchar(given$before)) c(before = given$before),
             mgcv = "mgcv", DiceKriging = "DiceKriging", dbarts = "dbarts")
  do.call(rbind, lapply(names(cases), function(name) {
    do.call(rbind, lapply(names(names), function(who) {
      file <- record_file(given, name, names[[who]])
      if (file.exists(file)) summary_of(readRDS(file), cases[[name]], name, who)
    }))
  }))
}

# Means over the cases of a group, and how wide the intervals of 90 % are beside ours, a geometric
# mean; deviation: the mean distance from 90 %.
group_table <- function(all) {
  ours <- all[all$by == "sparsegp", ]
  of_ours <- match(paste(all$case, all$n, all$part), paste(ours$case, ours$n, ours$part))
  all$ratio <- log(all$width / ours$width[of_ours])
  all$size <- ifelse(all$group != "simulated numbers", "", ifelse(all$n < 100, "below 100",
                     "100 and more"))
  keys <- unique(all[c("group", "size", "part", "by")])
  keys <- keys[order(keys$group, keys$size, keys$part, match(keys$by, unique(all$by))), ]
  rows <- lapply(seq_len(nrow(keys)), function(i) {
    own <- merge(all, keys[i, ])
    finite <- is.finite(own$ratio)
    data.frame(keys[i, ], cases = nrow(own), t(round(colMeans(own[paste(PERCENT)]), 1L)),
               deviation = round(mean(abs(own[["90"]] - 90)), 1L),
               "width / ours" = round(exp(mean(own$ratio[finite])), 2L), check.names = FALSE)
  })
  do.call(rbind, rows)
}

case_table <- function(all) {
  shown <- all[c("case", "n", "part", "by", PERCENT, "se", "width", "seconds")]
  shown[paste(c(PERCENT, "se"))] <- round(shown[paste(c(PERCENT, "se"))], 1L)
  shown[c("width", "seconds")] <- lapply(shown[c("width", "seconds")], signif, 3L)
  shown
}

write_page <- function(given, all) {
  load <- "/proc/loadavg"
  load <- if (file.exists(load)) sub(" .*", "", readLines(load)) else "unknown"
  writeLines(c(
    "## Coverage of intervals", "",
    paste0("`Rscript bench/coverage.R`, ", trimws(given$note), ": coverage of prediction ",
           "intervals in per cent, by their nominal one; counts and categories by the ",
           "non-randomised probability integral transform. Load at the end ", load, "."), "",
    paste0("Outside: simulated inputs up to half of the range beyond it, in the first input; real ",
           "observations with the largest fifth of one input. se: standard error of the coverage",
           " of 90 %, over repetitions. width: mean, of 90 %. ",
           paste(given$as, R.version.string), "."),
    "", markdown_table(group_table(all), "Means over cases"),
    markdown_table(case_table(all), "Case by case")
  ), file.path(HERE, "results", "coverage.md"))
  utils::write.csv(group_table(all), file.path(HERE, "..", "vignettes", "coverage.csv"),
                   row.names = FALSE, quote = FALSE)
}

given <- options_given(commandArgs(TRUE))
cases <- Filter(function(case) case$quick || !given$quick, all_cases())
cases <- cases[grepl(given$cases, names(cases))]
run_all(given, cases)
all <- all_summaries(given, cases)
print(group_table(all), row.names = FALSE)
if (!given$quick && !nzchar(given$cases)) write_page(given, all)
