# Tables and picture of bench/zoo.R from the records that fits have left.
# Sourced by it; `HERE` is the folder of bench.

ZOO_FILES <- c(sums = "../vignettes/zoo.R", results = "../vignettes/zoo.csv",
               page = "results/zoo_defaults.md", picture = "results/zoo_defaults.png",
               readme = "../README.md")

zoo_file <- function(what) file.path(HERE, ZOO_FILES[[what]])

# ---- Records to a data frame, see vignettes/zoo.R ----

# A peer's row of "chosen": that of its logarithm, if its own held-out observations prefer that.
method_parts <- function(record) {
  if (is.null(record$plain$density)) return(list())
  if (record$kind == "class") return(list(plain = record$plain))
  prefers_log <- !is.null(record$log$density) && isTRUE(record$log$held > record$plain$held)
  list(plain = record$plain, chosen = if (prefers_log) record$log else record$plain)
}

method_row <- function(found, record, who, response, ours) {
  ahead <- if (is.null(ours$plain$density)) rep(NA_real_, length(record$y))
           else ours$plain$density - found$density
  error <- if (record$kind == "class") mean(found$wrong) else sqrt(mean((found$mean - record$y)^2))
  data.frame(set = record$set, kind = record$kind, n = record$n, tests = length(record$y),
             who = who, response = response, density = mean(found$density), ahead = mean(ahead),
             se = stats::sd(ahead) / sqrt(length(ahead)), error = error,
             inside = if (is.null(found$inside)) NA else mean(found$inside),
             seconds = found$seconds, MB = if (is.null(found$size)) NA else found$size / 1e6,
             version = record$version)
}

# Peers need not be fitted again where only ours has changed: rows of those without a record are
# taken from the results of an earlier run, if that had the same observations. The standard error
# stays what it was beside our fit of then. rows: those that there are records of.
earlier_rows <- function(rows) {
  ours <- rows[rows$who == "ours", ]
  file <- zoo_file("results")
  if (nrow(ours) == 0L || !file.exists(file)) return(NULL)
  earlier <- utils::read.csv(file, colClasses = c(version = "character"))
  same <- earlier$set == ours$set & earlier$n == ours$n & earlier$tests == ours$tests
  missing <- same & !earlier$who %in% c("ours", "before", rows$who)
  earlier$ahead <- ours$density - earlier$density
  earlier[missing, names(rows)]
}

set_rows <- function(given, set) {
  read <- function(who) {
    file <- record_file(given$out, set$name, who)
    if (nzchar(who) && file.exists(file)) readRDS(file)
  }
  ours <- read(given$as)
  if (is.null(ours)) return(NULL)
  everybody <- c(ours = given$as, before = given$before,
                 stats::setNames(nm = names(PEERS[[set$kind]])))
  rows <- lapply(names(everybody), function(who) {
    record <- read(everybody[[who]])
    parts <- if (!is.null(record)) method_parts(record)
    if (who %in% c("ours", "before")) parts <- parts["plain"]
    lapply(names(parts), function(part) method_row(parts[[part]], record, who, part, ours))
  })
  rows <- do.call(rbind, unlist(rows, recursive = FALSE))
  rows <- rbind(rows, earlier_rows(rows))
  cbind(rows, half = set$half)[is.finite(rows$density), ]
}

zoo_frame <- function(given, sets) {
  do.call(rbind, lapply(seq_len(nrow(sets)), function(i) set_rows(given, sets[i, ])))
}

# ---- The tables ----

halves <- function(zoo) {
  parts <- list("develop half" = zoo[zoo$half == "develop", ],
                "kept half" = zoo[zoo$half == "kept", ], "all sets" = zoo)
  Filter(function(zoo) any(zoo$who == "ours") && nrow(zoo_best(zoo)) > 0L, parts)
}

sums_table <- function(zoo, caption) {
  columns <- sapply(halves(zoo), zoo_sums)
  bench_table(as.data.frame(columns, check.names = FALSE), caption)
}

signed <- function(x) ifelse(is.na(x), "", sprintf("%+.3f", x))

with_error <- function(x, se) sprintf("%+.3f (%.3f)", x, se)

# A row for each set: ours, beside the best peer.
sets_table <- function(zoo, kind, caption) {
  zoo <- zoo[zoo$kind == kind, ]
  ours <- zoo[zoo$who == "ours", ]
  best <- zoo_best(zoo)[match(ours$set, zoo_best(zoo)$set), ]
  chosen <- zoo_best(zoo, "chosen")[match(ours$set, zoo_best(zoo, "chosen")$set), ]
  before <- zoo[zoo$who == "before", ][match(ours$set, zoo$set[zoo$who == "before"]), ]
  table <- data.frame(
    set = ours$set, n = ours$n, ours = ours$density, "best peer" = best$who, its = best$density,
    "ours ahead by (standard error)" = with_error(best$ahead, best$se),
    "of the version before by" = signed(before$ahead),
    "of peers that may choose log(y) by" = signed(chosen$ahead),
    error = ours$error, "its error" = best$error, "90 % holds" = ours$inside,
    "CPU s" = ours$seconds, "its CPU s" = best$seconds, MB = ours$MB, check.names = FALSE
  )
  drop <- vapply(table, function(x) all(is.na(x) | x == ""), NA)
  bench_table(table[order(-best$ahead), !drop], caption)
}

# Every method's mean density, how often it is best of the peers, and what all its fits took.
peers_table <- function(zoo) {
  best <- zoo_best(zoo)
  plain <- zoo[zoo$response == "plain", ]
  bench_table(do.call(rbind, lapply(split(plain, plain$who), function(fits) {
    data.frame(sets = nrow(fits), "ours ahead by, median" = stats::median(fits$ahead, TRUE),
               "ours ahead by, mean" = mean(fits$ahead, na.rm = TRUE),
               "best of the peers" = sum(best$who == fits$who[1L]),
               "CPU seconds altogether" = round(sum(fits$seconds)), check.names = FALSE)
  })), "Each method; CPU seconds are with its tuning")
}

# ---- The page, the picture, and README's paragraph ----

draw <- function(zoo, file) {
  grDevices::png(file, 1440, 980, res = 144)
  on.exit(grDevices::dev.off())
  zoo_picture(zoo)
}

page_head <- function(given, zoo) {
  version <- function(who) {
    name <- if (who %in% c("ours", "before")) "sparsegp" else who
    paste(name, max(zoo$version[zoo$who == who]))
  }
  fitted <- function(who) {
    all(file.exists(record_file(given$out, unique(zoo$set[zoo$who == who]), who)))
  }
  there <- intersect(c("ours", "before", names(PEERS$number)), zoo$who)
  earlier <- Filter(Negate(fitted), setdiff(there, c("ours", "before")))
  c("## Default fits compared with tuned peers on 46 data sets from other packages", "",
    paste("`bench/zoo.R` fits `sparsegp(response ~ ., data)` and peers to the same training",
          "observations (two thirds, at most 4000). Half of the sets were used while the defaults",
          "were developed; the others were kept for the end, except that one of them, gamair/chl,",
          "suggested asinh for a heavy tail. Scores are mean log predictive densities of the test",
          "observations in the response's own unit; the best peer is the one with the largest.",
          "Peers are tuned by held-out observations; the predictive distribution of forest, svm,",
          "boosting and elastic net is normal, with the standard deviation of their held-out",
          "errors."), "",
    if (length(earlier)) c(paste0(
      "Taken from an earlier run on the same observations, unless fitted again: ",
      toString(earlier), ". Standard errors of differences from these are those relative to our ",
      "fit in that run."), ""),
    paste0(toString(vapply(there, version, "")),
           if (nzchar(given$note)) paste0(" (", given$note, ")"),
           "; ", R.version.string, "; one process a fit, one BLAS thread."), "")
}

# Puts `lines` between README's two marks of `name`.
insert_marked <- function(file, name, lines) {
  text <- readLines(file)
  at <- match(sprintf(c("<!-- %s -->", "<!-- end of %s -->"), name), text)
  if (anyNA(at)) return(invisible())
  writeLines(c(text[seq_len(at[1L])], lines, text[at[2L]:length(text)]), file)
}

readme_lines <- function(zoo) {
  best <- zoo_best(zoo)
  kept <- best[best$half == "kept", ]
  chosen <- zoo_best(zoo, "chosen")
  count <- function(yes) sum(yes, na.rm = TRUE)
  middle <- function(sets) stats::median(sets$ahead[sets$kind == "number"], na.rm = TRUE)
  c(sprintf(paste0("On %d data sets from other packages, `sparsegp(y ~ ., data)` predicts best in ",
                   "%d, and is best or"), length(unique(zoo$set)), count(best$ahead >= 0)),
    sprintf(paste0("within one standard error of the best in %d; in %d it is more than two ",
                   "standard errors behind. The"), count(best$ahead + best$se >= 0),
            count(best$ahead + 2 * best$se < 0)),
    paste("measure is the mean log predictive density of the test observations. The peers (random",
          "forest, boosted"),
    paste("trees, svm, additive model, elastic net, BART) are tuned. In the picture, the best peer",
          "on each set, as"),
    paste("judged by the test observations, is at zero, and lines are standard errors. On the half",
          "of the sets that"),
    "was kept for the end, the default fit is",
    sprintf("best in %d of %d, and best or within one standard error of the best in %d.",
            count(kept$ahead >= 0), nrow(kept), count(kept$ahead + kept$se >= 0)),
    sprintf(paste0("Over sets of numbers (regression) it is ahead of the best peer by %+.3f nats ",
                   "per observation, and by %+.3f"),
            mean(best$ahead[best$kind == "number"], na.rm = TRUE),
            mean(chosen$ahead, na.rm = TRUE)),
    "if peers choose between y and log(y) by their own held-out observations. Two",
    "sets, `carData::Leinhardt` and `gamair::chl`, raise these means; the medians are",
    sprintf("%+.3f and %+.3f.", middle(best), middle(chosen)), "",
    "![Ours and the peers, set by set](bench/results/zoo_defaults.png)")
}

# Prints the tables of what there is. `whole`: writes files, too.
write_zoo <- function(given, sets, whole) {
  source(zoo_file("sums"))
  zoo <- zoo_frame(given, sets)
  if (length(halves(zoo)) == 0L) return(cat("no records of", given$as, "and peers yet\n"))
  sums_table(zoo, "Ours and the best peer of each set")
  if (nzchar(given$before)) {
    sums_table(zoo_frame(utils::modifyList(given, list(as = given$before, before = "")), sets),
               "The same of the version before")
  }
  sets_table(zoo, "number", "Numbers; log(y) where a peer's held-out observations prefer it")
  sets_table(zoo, "class", "Labels")
  peers_table(zoo)
  if (!whole) return(invisible())
  writeLines(c(page_head(given, zoo), tables_text()), zoo_file("page"))
  number <- vapply(zoo, is.numeric, NA)
  zoo[number] <- lapply(zoo[number], signif, 7L)
  utils::write.csv(zoo, zoo_file("results"), row.names = FALSE, quote = FALSE, na = "")
  draw(zoo, zoo_file("picture"))
  insert_marked(zoo_file("readme"), "zoo", readme_lines(zoo))
}
