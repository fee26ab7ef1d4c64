# Tables of bench/regret.R from the records that its cases have left. Sourced by it; `HERE` is the
# folder of bench.

NATS <- 10           # log evidence: more is regret
ERRORS <- 2          # standard errors of the log density of the observations held out: likewise
PER_OBSERVATION <- 0.01 # and at least so many nats of it an observation

record_file <- function(out, version, name) file.path(out, version, paste0(name, ".rds"))

results_file <- function(what) file.path(HERE, "results", paste0("regret.", what))

# ---- A record to a line ----

# Hand fits that nobody could find by looking at the data: a bound, and no regret
KNOWING <- c("the three", "the three, linear")

# Returns a data frame with a row for each hand fit that gave an answer: nats by which its log
# evidence is higher than the default's, gain and se of the mean log density held out, seconds.
gains_of <- function(record) {
  default <- record$fits$default
  hands <- record$fits[setdiff(names(record$fits), c("default", KNOWING))]
  hands <- Filter(function(fit) is.null(fit$failed), hands)
  rows <- lapply(names(hands), function(name) {
    each <- hands[[name]]$density - default$density
    data.frame(hand = name, nats = hands[[name]]$evidence - default$evidence, gain = mean(each),
               se = stats::sd(each) / sqrt(length(each)), error = hands[[name]]$error,
               seconds = hands[[name]]$seconds)
  })
  do.call(rbind, rows)
}

# Returns the line of a record. nats, by: the largest gain of log evidence, and the hand fit that
# has it; by_gain, by_se: its gain held out; gain, se, held_by: the largest gain of log density held
# out, of those that are regret if any is.
line_of_record <- function(name, record) {
  default <- record$fits$default
  line <- data.frame(case = name, group = record$group, n = record$n, kind = record$kind,
                     chosen = NA, seconds = NA, density = NA, error = NA, nats = NA, by = "",
                     by_gain = NA, by_se = NA, gain = NA, se = NA, held_by = "", hand_error = NA,
                     regret = "no answer")
  if (is.null(default) || !is.null(default$failed)) return(line)
  line[c("chosen", "seconds", "density", "error")] <-
    list(default$label, default$seconds, mean(default$density), default$error)
  line$regret <- ""
  gains <- gains_of(record)
  if (is.null(gains)) return(line)
  if (any(is.finite(gains$nats))) {
    top <- gains[which.max(gains$nats), ]
    line[c("nats", "by", "by_gain", "by_se")] <- top[c("nats", "hand", "gain", "se")]
  }
  is_regret <- gains$gain > pmax(ERRORS * gains$se, PER_OBSERVATION)
  held <- if (any(is_regret)) gains[is_regret, ] else gains
  held <- held[which.max(held$gain), ]
  line[c("gain", "se", "held_by", "hand_error")] <- held[c("gain", "se", "hand", "error")]
  line$regret <- paste(c("evidence", "held out")[c(isTRUE(line$nats > NATS), any(is_regret))],
                       collapse = " and ")
  line
}

# Says a case's line in short.
line_of <- function(name, record) {
  line <- line_of_record(name, record)
  sprintf("%-52s %6.1f s  nats %+8.1f (%s)  held out %+.3f (%.3f, %s)  %s", name, line$seconds,
          line$nats, line$by, line$gain, line$se, line$held_by, line$regret)
}

# ---- The lines of a version ----

# Lines of a version's records, and those of the table of results where a record is not there.
lines_of_version <- function(given, version, names) {
  files <- record_file(given$out, version, names)
  there <- file.exists(files)
  lines <- do.call(rbind, Map(line_of_record, names[there], lapply(files[there], readRDS)))
  kept <- kept_lines()
  is_wanted <- kept$version == version & kept$case %in% names[!there]
  if (any(is_wanted)) lines <- rbind(lines, kept[is_wanted, names(kept) != "version"])
  if (!is.null(lines)) lines[order(match(lines$case, names)), ]
}

kept_lines <- function() {
  file <- results_file("csv")
  if (!file.exists(file)) return(data.frame(version = character(), case = character()))
  utils::read.csv(file, colClasses = c(version = "character", by = "character",
                                       held_by = "character", regret = "character"),
                  na.strings = "NA")
}

# Writes the lines of versions to the table of results, in place of what it has of these cases.
keep_lines <- function(by_version) {
  new <- do.call(rbind, Map(function(version, lines) {
    if (NROW(lines)) cbind(version = version, lines)
  }, names(by_version), by_version))
  kept <- kept_lines()
  is_new <- paste(kept$version, kept$case) %in% paste(new$version, new$case)
  kept <- kept[!is_new, , drop = FALSE]
  kept <- kept[kept$version %in% names(by_version), , drop = FALSE]
  all <- if (nrow(kept)) rbind(new, kept) else new
  number <- vapply(all, is.double, NA)
  all[number] <- lapply(all[number], signif, 4L)
  utils::write.csv(all, results_file("csv"), row.names = FALSE)
}

# ---- Tables ----

with_error <- function(gain, se) ifelse(is.na(gain), "", sprintf("%+.3f (%.3f)", gain, se))

of_fit <- function(number, by) {
  ifelse(is.na(number), "", paste0(sprintf("%+.1f", number), ", ", by))
}

# A row for each of the cases, before and after; `before` may be NULL.
regret_rows <- function(lines, before) {
  rows <- data.frame(case = lines$case, n = lines$n, "default" = lines$chosen,
                     "nats" = of_fit(lines$nats, lines$by),
                     "held out of this" = with_error(lines$by_gain, lines$by_se),
                     "held out" = with_error(lines$gain, lines$se), "hand fit" = lines$held_by,
                     error = lines$error, "its error" = lines$hand_error,
                     "CPU s" = lines$seconds, regret = lines$regret, check.names = FALSE)
  if (is.null(before)) return(rows)
  then <- before[match(lines$case, before$case), ]
  cbind(rows[c("case", "n")], "nats before" = of_fit(then$nats, then$by), "nats" = rows$nats,
        rows["held out of this"], "held out before" = with_error(then$gain, then$se),
        rows[c("held out", "hand fit")],
        "error before" = then$error, rows[c("error", "its error")],
        "CPU s before" = then$seconds, rows["CPU s"], "regret before" = then$regret,
        rows["regret"])
}

# Counts the cases of each group with regret, by evidence or held out, and those of which no hand
# fit has ended in time; median seconds of the default fit.
group_rows <- function(lines, before) {
  rows <- do.call(rbind, lapply(unique(lines$group), function(group) {
    own <- lines[lines$group == group, ]
    then <- before[before$case %in% own$case, ]
    both <- list(before = then, now = own)
    if (is.null(before)) both <- both["now"]
    counts <- unlist(lapply(names(both), function(when) {
      of <- both[[when]]
      counts <- c(sum(nzchar(of$regret)), sum(grepl("evidence", of$regret)),
                  sum(grepl("held out", of$regret)), sum(is.na(of$nats) & is.na(of$gain)),
                  stats::median(of$seconds, na.rm = TRUE))
      words <- c("regret", "by evidence", "held out", "not compared", "median CPU s")
      stats::setNames(counts, if (when == "before") paste(words, "before") else words)
    }))
    data.frame(group = group, cases = nrow(own), t(counts), check.names = FALSE)
  }))
  total <- colSums(rows[-1L])
  median_of <- function(of) stats::median(of$seconds, na.rm = TRUE)
  total["median CPU s"] <- median_of(lines)
  if (!is.null(before)) {
    total["median CPU s before"] <- median_of(before[before$case %in% lines$case, ])
  }
  rbind(rows, data.frame(group = "all", t(total), check.names = FALSE))
}

# ---- What is left ----

# Reasons for regret that is left: a pattern of "case: hand fits, of the evidence and held out", and
# the reason.
EXPLAINED <- c(
  "^bounded_zeros.*: asinh" =
    "many responses are exactly 0, where asinh may have a density without bound",
  "^bounded_one_zero" = paste("a zero rules out square root and logarithm, and the tails are not",
                              "heavy enough for asinh"),
  "^bounded_counts_as_numbers" =
    "the default is a fit of counts, whose log probabilities are no densities: not compared",
  "^many_cycles_saw" = "the period is learned beside the true one, on a peak of its own",
  "its likelihood|uneven noise" =
    "residuals are asked for a spread that is log-linear in the mean or an input, and see no other",
  "^controls_noise_alone" = "noise alone: hand fits that find nothing differ by chance"
)
DISAGREE <- "the evidence alone, at the mode of more hyperparameters: held out it is not better"
UNSEEN <- "the evidence of the default is less than 10 nats lower, which is not decisive"
BY_CHANCE <- "less than three standard errors, the largest of some fifteen fits"

# Returns the reason of each line: that of its pattern, or what its numbers say.
reasons_of <- function(lines) {
  is_known <- vapply(names(EXPLAINED), grepl, logical(nrow(lines)),
                     paste0(lines$case, ": ", lines$by, " ", lines$held_by))
  is_known <- matrix(is_known, nrow(lines))
  known <- unname(EXPLAINED)[max.col(is_known, "first")]
  unsure <- ifelse(lines$regret == "evidence" & lines$by_gain < ERRORS * lines$by_se, DISAGREE,
                   ifelse(lines$regret != "held out", "",
                          ifelse(lines$gain < 3 * lines$se, BY_CHANCE, UNSEEN)))
  ifelse(rowSums(is_known) > 0, known, replace(unsure, is.na(unsure), ""))
}

# ---- The page ----

page_head <- function(given, lines) {
  c("## Default fits compared with fits tuned by hand", "",
    paste0("`bench/regret.R` compares the default fits of ", nrow(lines), " cases with a family ",
           "of hand fits (`bench/regret_hand.R`). Nats: the log evidence, at the mode of the ",
           "hyperparameters, of the best hand fit minus that of the default; it is not compared ",
           "for several classes, or for more observations than full EP takes by default. Held out ",
           "of this: the same fit's mean log density of held-out observations, minus that of the ",
           "default, with the standard error of the difference. Held out: the largest such ",
           "difference, which is that of the hand fit named beside it. Regret: more than ", NATS,
           " nats; or more than ", ERRORS, " standard errors and ", PER_OBSERVATION, " nats per ",
           "held-out observation, which one of some fifteen hand fits may reach by chance. Not ",
           "compared: no hand fit finished in time. Error: root mean square error, or proportion ",
           "of wrong labels."), "",
    paste0(if (nzchar(given$before)) paste("Before:", paste0(given$before, "; now: ")),
           given$as, if (nzchar(given$note)) paste0(" (", given$note, ")"), "; ",
           R.version.string, "; one process a case, one BLAS thread."), "")
}

show_rows <- function(rows, caption) {
  if (nrow(rows)) bench_table(data.frame(rows, row.names = NULL, check.names = FALSE), caption)
}

# Prints the tables of what there is. whole: writes page and table, too.
write_regret <- function(given, names, whole) {
  lines <- lines_of_version(given, given$as, names)
  before <- if (nzchar(given$before)) lines_of_version(given, given$before, names)
  if (is.null(lines)) return(cat("no records of", given$as, "yet\n"))
  if (is.null(before)) given$before <- ""
  bench_table(group_rows(lines, before), "Cases with regret")
  is_left <- nzchar(lines$regret)
  was <- lines$case %in% before$case[nzchar(before$regret)]
  left <- cbind(regret_rows(lines, before), reason = reasons_of(lines))
  left <- left[order(-pmax(lines$nats, lines$gain * 100, na.rm = TRUE)), ]
  show_rows(left[left$regret != "", ], "Hand fits are better")
  show_rows(regret_rows(lines[was & !is_left, ], before), "Hand fits were better before")
  show_rows(regret_rows(lines[!was & !is_left, ], before), "The other cases")
  if (!whole) return(invisible())
  keep_lines(stats::setNames(list(lines, before), c(given$as, given$before))[
    c(TRUE, !is.null(before))])
  writeLines(c(page_head(given, lines), tables_text()), results_file("md"))
}
