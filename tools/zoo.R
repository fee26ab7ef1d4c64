# Default fits of data sets that were collected for other purposes: tools/zoo says what is done and
# what counts as a finding.
#
#   Rscript tools/zoo.R RESULTS PAGE all|sample|NAME...
#
# A case is a response of a data set, PACKAGE/DATA/RESPONSE; NAME is the beginning of its name.
# RESULTS has a line for each case that was done; those it has are not done again. PAGE, if it is
# not "", is the Markdown page to write. Each case runs in a process forked off, which may crash.
# Ends with status 1 where there was a finding.
args <- commandArgs(TRUE)
suppressPackageStartupMessages(library(sparsegp))
options(nwarnings = 1000L, sparsegp.threads = 1L)
self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(self), "zoo_report.R"))
source(file.path(dirname(self), "..", "tests", "testthat", "helper-agree.R"))

MOST_ROWS <- 3000L   # of a data set, drawn at random, with a fixed seed
MOST_LEVELS <- 20L   # of a response that has labels
MOST_COLUMNS <- 10L  # of a matrix or time series, each a response in turn
CPU_LIMIT <- 120     # seconds of a case's fit before it is stopped
ELAPSED_LIMIT <- 900 # seconds by the clock, for each step of a case: the machine may be busy

# ---- Data sets ----

# Reads the named data sets, each with one response; the columns in `drop` would give it away.
read_table_of_sets <- function() {
  utils::read.delim(file.path(dirname(self), "zoo.sets"), colClasses = "character",
                    na.strings = NULL)
}

installed <- function(packages) {
  vapply(packages, function(p) nzchar(system.file(package = p)), NA)
}

# Lists the data sets of a package; "x (file)" is x in a file with others.
sets_of_package <- function(package) {
  items <- utils::data(package = package)$results[, "Item"]
  data.frame(package = rep(package, length(items)), data = sub(" .*", "", items),
             file = sub(".*\\((.*)\\)$", "\\1", items))
}

own_packages <- function() rownames(utils::installed.packages(priority = c("base", "recommended")))

# Returns a data frame, or NULL where the object is no such thing.
as_rows <- function(x) {
  if (is.data.frame(x)) x
  else if (is.table(x)) as.data.frame(x)
  else if (stats::is.ts(x) && is.null(dim(x)))
    data.frame(time = as.vector(stats::time(x)), value = as.vector(x))
  else if (is.matrix(x) && (is.numeric(x) || is.character(x))) as.data.frame(x)
}

# Returns a data set. A file without an object of its name holds its columns in several objects.
load_object <- function(package, data, file) {
  held <- new.env()
  suppressWarnings(utils::data(list = file, package = package, envir = held))
  found <- mget(ls(held), held)
  if (data %in% names(found)) return(found[[data]])
  frames <- vapply(found, is.data.frame, NA)
  if (length(found)) do.call(data.frame, c(unname(found[frames]), found[!frames]))
}

some_rows <- function(rows) {
  if (nrow(rows) <= MOST_ROWS) return(rows)
  set.seed(1)
  rows[sort(sample.int(nrow(rows), MOST_ROWS)), , drop = FALSE]
}

can_be_response <- function(x) {
  if (!is.null(dim(x)) || inherits(x, c("Date", "POSIXt", "Surv"))) return(FALSE)
  seen <- length(unique(x[!is.na(x)]))
  labels <- is.factor(x) || is.character(x) || is.logical(x)
  seen > 1L && (is.numeric(x) || labels && seen <= MOST_LEVELS)
}

# Returns the names of the responses, at most `most` of them, evenly spread.
responses_of <- function(rows, most) {
  responses <- names(rows)[vapply(rows, can_be_response, NA)]
  at <- seq(1, length(responses), length.out = min(most, length(responses)))
  responses[unique(round(at))]
}

cases_of_set <- function(set) {
  object <- load_object(set$package, set$data, set$file)
  rows <- as_rows(object)
  if (is.null(rows)) return(NULL)
  rows <- some_rows(rows)
  responses <- responses_of(rows, if (is.data.frame(object)) Inf else MOST_COLUMNS)
  if (length(responses) == 0L) return(NULL)
  is_first <- seq_along(responses) == 1L
  data.frame(set, response = responses, drop = "", size = ifelse(is_first, 0, prod(dim(rows))),
             row.names = NULL)
}

cases_of_own_packages <- function() {
  listed <- do.call(rbind, lapply(own_packages(), sets_of_package))
  do.call(rbind, lapply(split(listed, seq_len(nrow(listed))), cases_of_set))
}

# Returns a data frame with a line for each case: first one response of each set, then the others,
# small sets first, so that all kinds come early.
all_cases <- function() {
  named <- read_table_of_sets()
  named <- data.frame(package = named$package, data = named$data, file = named$data,
                      response = named$response, drop = named$drop, size = 0)
  cases <- rbind(cases_of_own_packages(), named)
  cases$name <- paste(cases$package, cases$data, cases$response, sep = "/")
  cases <- cases[order(cases$size), ]
  # A response of a table's set may be one of R's own packages, too; the table knows what to drop.
  cases[!duplicated(cases$name, fromLast = TRUE), ]
}

# ---- A case ----

# Makes text fit into one field of a line of RESULTS.
one_line <- function(text) {
  text <- gsub("[\t\n|]+", " ", paste(text, collapse = " "))
  substr(gsub(" +", " ", text), 1L, 400L)
}

# Returns an empty record of what happens in a case; steps add to it.
new_record <- function() {
  record <- new.env()
  record$findings <- record$refusals <- record$warnings <- record$messages <- character()
  record$seconds <- numeric()
  record
}

note <- function(record, kind, step, ...) {
  record[[kind]] <- c(record[[kind]], paste0(step, ": ", one_line(paste0(...))))
}

# Notes an error: one of the package that names a remedy is a refusal, any other a finding.
note_error <- function(record, step, e) {
  said <- conditionMessage(e)
  if (inherits(e, "sparsegp_error")) {
    note(record, "refusals", step, said)
    if (is.null(e$remedy)) note(record, "findings", step, "no remedy: ", said)
  } else if (grepl("reached (CPU|elapsed) time limit", said)) {
    note(record, "findings", step, "stopped: ", said)
  } else {
    where <- paste(deparse(conditionCall(e), nlines = 1L), collapse = "")
    note(record, "findings", step, "raw error: ", said, " in ", substr(where, 1L, 100L))
  }
}

note_warning <- function(record, step, w) {
  where <- paste(deparse(conditionCall(w), nlines = 1L), collapse = "")
  own <- inherits(w, "sparsegp_warning")
  note(record, "warnings", step, conditionMessage(w), if (!own) paste(" [raw, in", where, "]"))
}

cpu_seconds <- function() sum(proc.time()[1:2])

# Returns the value of `expr`, NULL after an error, and notes all conditions and the CPU seconds.
step <- function(record, name, expr) {
  begin <- cpu_seconds()
  setTimeLimit(cpu = CPU_LIMIT, elapsed = ELAPSED_LIMIT, transient = TRUE)
  value <- tryCatch(
    withCallingHandlers(expr, warning = function(w) {
      note_warning(record, name, w)
      invokeRestart("muffleWarning")
    }, message = function(m) {
      note(record, "messages", name, conditionMessage(m))
      invokeRestart("muffleMessage")
    }),
    error = function(e) {
      note_error(record, name, e)
      NULL
    }
  )
  setTimeLimit()
  record$seconds[name] <- sum(record$seconds[name], cpu_seconds() - begin, na.rm = TRUE)
  value
}

# Returns, in words, what is wrong with predictions that ought to be finite, or NULL.
flaw_of_numbers <- function(p, count) {
  if (NROW(p) != count) paste(NROW(p), "predictions for", count, "rows")
  else if (any(!is.finite(p))) paste(sum(!is.finite(p)), "predictions are not finite")
}

# Returns, in words, how many intervals do not contain their mean, but for rounding, or NULL.
flaw_of_interval <- function(p) {
  slack <- 1e-8 * (abs(p[, "fit"]) + p[, "upr"] - p[, "lwr"])
  outside <- which(p[, "fit"] < p[, "lwr"] - slack | p[, "fit"] > p[, "upr"] + slack)
  if (length(outside)) {
    paste(length(outside), "of", nrow(p), "intervals without their mean, as",
          paste(signif(p[outside[1L], c("fit", "lwr", "upr")], 4L), collapse = " "))
  }
}

flaw_of_probabilities <- function(p) {
  if (any(p < 0 | p > 1, na.rm = TRUE)) "probabilities outside of 0 and 1"
  else if (any(abs(rowSums(p) - 1) > 1e-8, na.rm = TRUE)) "probabilities that do not add up to 1"
}

# Tells of each row whether the fit has seen all its levels: of others there are no predictions yet.
has_known_levels <- function(fit, new) {
  known <- vapply(intersect(names(fit$xlevels), names(new)), function(name) {
    levels <- fit$xlevels[[name]]
    length(levels) == 1L | as.character(new[[name]]) %in% levels
  }, logical(nrow(new)))
  known <- matrix(known, nrow(new)) # of no columns where there are no factors
  rowSums(known) == ncol(known)
}

predict_labels <- function(fit, new) {
  p <- predict(fit, new, type = "prob")
  class <- predict(fit, new, type = "class")
  c(flaw_of_numbers(p, nrow(new)), flaw_of_probabilities(p),
    if (anyNA(class) || length(class) != nrow(new)) "rows without a class")
}

predict_numbers <- function(fit, new) {
  flaws <- lapply(c("confidence", "prediction"), function(interval) {
    p <- predict(fit, new, interval = interval)
    flaw <- c(flaw_of_numbers(p, nrow(new)), flaw_of_interval(p))
    if (length(flaw)) paste0(interval, ": ", flaw)
  })
  c(flaw_of_numbers(predict(fit, new), nrow(new)), unlist(flaws))
}

# Predicts every second row. Rows with missing inputs have missing predictions, the others finite
# ones.
check_predictions <- function(record, fit, rows, inputs, labels) {
  new <- rows[seq(1L, nrow(rows), by = 2L), , drop = FALSE]
  complete <- stats::complete.cases(new[inputs]) & has_known_levels(fit, new)
  p <- step(record, "predict", predict(fit, new))
  if (!is.null(p) && NROW(p) != nrow(new)) note(record, "findings", "predict", "rows are lost")
  new <- new[complete, , drop = FALSE]
  if (nrow(new) == 0L) return(invisible())
  ask <- if (labels) predict_labels else predict_numbers
  for (flaw in step(record, "predict", ask(fit, new))) note(record, "findings", "predict", flaw)
}

check_file <- function(record, fit, rows) {
  file <- tempfile()
  on.exit(unlink(file))
  step(record, "file", {
    saveRDS(fit, file)
    same <- identical(predict(fit, rows), predict(readRDS(file), rows))
    if (!same) note(record, "findings", "file", "other predictions after saveRDS()")
  })
}

draw <- function(fit) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(fit)
}

check_loo <- function(record, fit) {
  left_out <- step(record, "loo", loo(fit))
  if (!is.null(left_out) && !all(is.finite(left_out$lpd[!is.na(left_out$observed)])))
    note(record, "findings", "loo", "a log density that is not finite")
}

# Do the answers at some rows agree (tests/testthat/helper-agree.R)? Of a few, and by few draws, as
# the fit may be a mixture of many.
check_agreement <- function(record, fit, rows, inputs) {
  new <- rows[stats::complete.cases(rows[inputs]) & has_known_levels(fit, rows), , drop = FALSE]
  new <- new[unique(round(seq(1, nrow(new), length.out = min(4L, nrow(new))))), , drop = FALSE]
  if (nrow(new) == 0L) return(invisible())
  set.seed(1)
  for (flaw in step(record, "agree", few_disagreements(fit, new))) {
    note(record, "findings", "agree", flaw)
  }
}

use_fit <- function(record, fit, rows, inputs, labels) {
  check_predictions(record, fit, rows, inputs, labels)
  check_agreement(record, fit, rows, inputs)
  check_file(record, fit, utils::head(rows, 20L))
  check_loo(record, fit)
  step(record, "plot", draw(fit))
  step(record, "summary", utils::capture.output(print(summary(fit))))
  step(record, "print", utils::capture.output(print(fit)))
}

run_case <- function(case) {
  rows <- some_rows(as_rows(load_object(case$package, case$data, case$file)))
  rows <- rows[setdiff(names(rows), strsplit(case$drop, ",", fixed = TRUE)[[1L]])]
  record <- new_record()
  record$n <- nrow(rows)
  record$inputs <- ncol(rows) - 1L
  y <- rows[[case$response]]
  record$kind <- if (is.numeric(y)) "numbers" else paste(length(unique(y[!is.na(y)])), "classes")
  formula <- stats::as.formula(call("~", as.name(case$response), quote(.)), environment())
  fit <- step(record, "fit", eval(bquote(sparsegp(.(formula), rows))))
  if (is.null(fit)) return(record)
  use_fit(record, fit, rows, setdiff(names(rows), case$response), !is.numeric(y))
  kept <- seq_len(nrow(rows)) %% 10L != 0L
  step(record, "update", update(fit, subset = kept))
  record
}

# ---- All of them ----

# Runs a case in a process of its own; what ends that is a finding. Time limits are R's own, checked
# where R can be interrupted; a process that never gets there is killed.
run_apart <- function(case) {
  job <- parallel::mcparallel(as.list(run_case(case)), silent = TRUE)
  # It warns of processes that have no result, which are findings.
  done <- suppressWarnings(parallel::mccollect(job, wait = FALSE, timeout = 2 * ELAPSED_LIMIT))
  if (is.null(done)) {
    tools::pskill(job$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(job))
  }
  record <- done[[1L]]
  if (is.list(record)) return(record)
  lost <- new_record()
  said <- if (is.null(done)) "stopped: did not come back to R"
          else if (is.null(record)) "R ended"
          else one_line(c("the case failed:", record))
  note(lost, "findings", "case", said)
  as.list(lost)
}

# Returns a case's line of RESULTS. A process that was lost has no seconds.
fields_of <- function(case, record) {
  text <- function(kind) paste(record[[kind]], collapse = " | ")
  or_na <- function(x) if (is.null(x)) NA else x
  seconds <- c(record$seconds, none = NA)
  uses <- seconds[names(seconds) != "fit"]
  slowest <- uses[order(-uses)[1L]]
  c(case$name, or_na(record$n), or_na(record$inputs), or_na(record$kind),
    round(c(unname(seconds["fit"]), sum(seconds, na.rm = TRUE)), 2),
    names(slowest), round(slowest, 2),
    text("findings"), text("refusals"), text("warnings"), text("messages"))
}

# Returns the cases of "all", of "sample", or those whose names begin with one of some words.
chosen_cases <- function(words) {
  cases <- all_cases()
  if (identical(words, "all")) return(cases)
  if (identical(words, "sample")) words <- readLines(file.path(dirname(self), "zoo.sample"))
  begins <- outer(paste0(cases$name, "/"), paste0(words, "/"), startsWith)
  unknown <- words[colSums(begins) == 0L & installed(sub("/.*", "", words))]
  if (length(unknown)) stop("no such case: ", toString(unknown), call. = FALSE)
  cases[rowSums(begins) > 0L, ]
}

# Returns, for each case, whether its data set is there: older versions of packages have fewer.
is_there <- function(cases) {
  there <- installed(cases$package)
  for (package in unique(cases$package[there])) {
    listed <- sets_of_package(package)
    of_it <- cases$package == package
    there[of_it] <- cases$data[of_it] %in% c(listed$data, listed$file)
  }
  there
}

main <- function(results, page, words) {
  cases <- chosen_cases(words)
  there <- is_there(cases)
  skipped <- sort(unique(paste(cases$package, cases$data, sep = "/")[!there]))
  cases <- cases[there, ]
  if (!file.exists(results)) writeLines(paste(FIELDS, collapse = "\t"), results)
  for (i in which(!cases$name %in% read_results(results)$name)) {
    line <- fields_of(cases[i, ], run_apart(cases[i, ]))
    cat(paste(line, collapse = "\t"), "\n", sep = "", file = results, append = TRUE)
    message(sprintf("%4d of %d: %s", i, nrow(cases), paste(line[c(1L, 5L, 9L)], collapse = " ")))
  }
  done <- read_results(results)
  quit(status = report(done[done$name %in% cases$name, ], skipped, page))
}

main(args[1L], args[2L], args[-(1:2)])
