# What the package claims, measured: runs the scripts of CLAIMS one after the other, writes what
# each has found to bench/results/<name>.md, and their list, with some tables, to RESULTS.md.
#
#   SPARSEGP_DATA=... Rscript bench/run.R             all of them, in their quick form
#   SPARSEGP_DATA=... FULL=1 Rscript bench/run.R      as long as it takes: about a day
#   SPARSEGP_DATA=... Rscript bench/run.R NAME...     these
#   SPARSEGP_DATA=... Rscript bench/run.R --rest      those that have no page of this commit
#   Rscript bench/run.R --assemble                    RESULTS.md from the pages that there are
#
# The package is the one of R_LIBS, which has the peers, too; one BLAS thread is a fair one. Claims
# about ratios of seconds run first and alone, then WORKERS of the others at a time (one, if that is
# not set). A script whose file is not there is left out. What else is in bench/results is put
# together with the rest, and bench/results/earlier, longer runs on earlier commits, is listed. The
# commit is the last one that changed what is installed.

# alone: is the claim about ratios of seconds?
claim <- function(name, claim, script, quick, full, minutes, peers = character(), alone = FALSE) {
  list(name = name, claim = claim, script = script, quick = quick, full = full, minutes = minutes,
       peers = peers, alone = alone)
}

# minutes: of one core, in the quick and in the full form.
CLAIMS <- list(
  claim("defaults", "Default fits compared with tuned classifiers, boosting and forests",
        "defaults.R", paste("protein pumadyn friedman satimage usps image splice twonorm ringnorm",
        "waveform heart diabetis german"), "", c(16, 45), c("e1071", "ranger")),
  claim("zoo_defaults",
        "Default fits compared with tuned peers on 46 data sets from other packages", "zoo.R",
        "only=ours", "", c(4, 40), c("ranger", "xgboost", "e1071", "mgcv", "glmnet", "dbarts")),
  claim("shifted", "Default fits when test data differ from the training data", "shifted.R", "",
        "", c(3, 3), c("mgcv", "ranger", "e1071", "lme4")),
  claim("regret", "Default fits compared with fits tuned by hand", "regret.R", "--quick", "", c(4,
        40)),
  claim("levels", "Factors with many levels", "levels.R", "3", "3", c(6, 6), c("lme4", "nlme",
        "mlmRev")),
  claim("calendar", "Days beside other inputs, and functions of levels", "calendar.R",
        "days levels", "days levels peers", c(15, 30), c("modeldata", "dbarts", "nlme", "MASS")),
  claim("memory", "Memory of default fits and of full EP", "memory.R", "", "", c(5, 5)),
  claim("found", "Relevant inputs and their length scales", "found.R", "2", "10", c(4, 20)),
  claim("coverage", "Coverage of intervals", "coverage.R", "quick", "", c(4, 25), c("mgcv",
        "DiceKriging", "dbarts")),
  claim("jackknife", "Jackknife+ prediction intervals under a wrong kernel or noise model",
        "jackknife.R", "quick", "", c(20, 90)),
  claim("class_tolerance", "EP tolerance while learning classes; few labels",
        "class_tolerance.R", "", "", c(6, 6), c("mlbench", "ranger", "modeldata", "caret",
                                                      "ggplot2", "carData")),
  claim("seconds", "Everyday calls as multiples of a matrix product", "seconds.R", "", "", c(1, 1)),
  claim("integrate", "Integrating over hyperparameters", "integrate.R", "coverage 10 cost", "",
        c(10, 120)),
  claim("constant", "The constant mean: integrated out, or fixed at the average", "constant.R",
        "kriging time", "", c(2, 10), "DiceKriging"),
  claim("coupled", "Classes coupled in the posterior", "coupled.R", "iris", "", c(3, 60)),
  claim("average", "Averaging fits", "average.R", "150", "420", c(1, 2)),
  claim("slopes", "Coverage of intervals for slopes", "slopes.R", "2", "10", c(1, 4)),
  claim("markov", "Series of any length: Markov EP", "markov.R", "quick", "", c(1, 3),
        alone = TRUE),
  claim("forecasts", "Forecasts of short series compared with ar() and the last value",
        "forecasts.R", "quick", "", c(1, 4)),
  claim("neighbours", "Maps of many observations: nearest neighbours", "neighbours.R", "1e4",
        "1e4 5e4 1e5", c(2, 10), alone = TRUE),
  claim("near_rows", "Choice of rows for predictions by nearest neighbours", "near_rows.R", "10",
        "", c(3, 5)),
  claim("custom", "A likelihood in R compared with its counterpart in C", "custom.R", "1", "3", c(1,
        2), alone = TRUE),
  claim("extension", "Kernels and likelihoods of another package", "extension.R", "", "", c(1, 1),
        alone = TRUE),
  claim("integrated", "Designs by integrated criteria", "integrated.R", "2", "5", c(2, 6), c("laGP",
        "hetGP")),
  claim("points", "Learned inducing points", "points.R", "1000", "4000", c(6, 60)),
  claim("power", "EP, power EP and variational inference compared with long MCMC runs", "power.R",
        "2 4000", "10 20000", c(1, 1)),
  claim("policy", "Constants of the default strategies, halved and doubled", "policy.R",
        "500 quick", "2000 normal", c(40, 600)),
  claim("peers", "Comparison with other packages for Gaussian processes and smooths", "peers.R",
        "200", "500", c(1, 20), c("laGP", "DiceKriging", "GpGp", "GauPro", "kernlab", "gplite",
        "mgcv", "psgp", "e1071", "ranger")),
  claim("newcomer", "Common analyses compared with the usual models", "newcomer.R", "", "", c(5, 5),
        c("MASS", "mgcv")),
  claim("truth", "Expectation propagation against the exact posterior", "truth.R", "", "FULL", c(2,
        7)),
  claim("one_input", "Curves: does the search find the mode?", "one_input.R", "", "", c(4, 4)),
  claim("growth", "Run time by number of rows, inducing points and classes", "growth.R",
        "bench/results/growth.png man/figures/growth.png",
        "bench/results/growth.png man/figures/growth.png", c(2, 2), alone = TRUE),
  claim("full_ep", "Full EP compared with gplite and LAPACK", "full_ep.R", "", "", c(6, 6),
        "gplite", alone = TRUE),
  claim("sparse_ep", "Batch EP on inducing points compared with gplite and BLAS", "sparse_ep.R",
        "100", "100 200 500", c(4, 30), "gplite", alone = TRUE),
  claim("threads", "Time saved by a second thread", "threads.R", "5", "15", c(3, 9), alone = TRUE),
  claim("online", "Cost per observation in a stream", "online.R", "", "", c(3, 3), alone = TRUE),
  claim("stream_long", "A stream in constant memory, and its rounding", "stream_long.R", "1e6",
        "1e7", c(3, 30)),
  claim("drift", "Streams whose function drifts", "drift.R", "", "", c(4, 4), c("forecast",
        "ggplot2")),
  claim("source", "Data that do not fit into memory", "source.R", "1e6 200", "1e7 200", c(6, 60),
        c("DBI", "RSQLite", "nanoparquet"), alone = TRUE),
  claim("plan", "The plan for a billion rows, checked on fewer", "plan.R", "1e8 50 2", "1e8 50 2",
        c(8, 8)),
  claim("shards", "Merged shards compared with a single fit", "shards.R", "100", "200", c(3, 10)),
  claim("classes", "Cost of an additional class", "classes.R", "2000 100 3,10,30", "", c(2, 20),
        alone = TRUE),
  claim("likelihoods", "Likelihoods other than the Gaussian", "likelihoods.R", "5", "10", c(2, 4),
        "mgcv"),
  claim("survival", "Survival times compared with package survival", "survival.R", "2", "20", c(1,
        6), "survival"),
  claim("vector", "Responses with two components", "vector.R", "5", "5", c(2, 2)),
  claim("glad", "Surface currents as a field", "glad.R", "20", "20", c(3, 3)),
  claim("field_mean", "The prior mean of a vector field", "field_mean.R", "1", "6", c(1, 4)),
  claim("noise", "The noise model that a default fit chooses", "noise.R", "2", "10", c(3, 15)),
  claim("field", "Ambiguous winds: modes and their ranking", "field.R", "20 3", "50 20", c(1, 2)),
  claim("active", "Active learning", "active.R", "",
        "20 image,waveform,usps3 bench/results/active.png", c(6, 60)),
  claim("optimise", "Optimisation of an expensive function", "optimise.R", "", "20", c(4, 60),
        c("DiceOptim", "GauPro")),
  claim("virtual", "The IVM paper's table 4: virtual informative vectors", "virtual.R",
        "default,paper", "", c(13, 25), "e1071"),
  claim("ivm_usps", "The IVM paper's table 1", "ivm_usps.R", "2,5 50,100", "", c(2, 35)),
  claim("ivm_path", "The IVM paper's table 1: which step of learning differs", "ivm_path.R", "", "",
        c(2, 2)),
  claim("ivm_mnist", "The IVM paper's table 2", "ivm_mnist.R", "", "", c(19, 19)),
  claim("ivm_inner", "The IVM paper's figure 1", "ivm_inner.R", "", "", c(3, 3)),
  claim("ivm_bases", "Choice of inducing points", "ivm_bases.R", "image 2", "all 5", c(4, 200)),
  claim("ivm_svm", "Two-class fits compared with a support vector machine", "ivm_svm.R",
        "image,waveform", "", c(3, 40), "e1071"),
  claim("ivm_speed", "Cost of an inclusion relative to its matrix products", "ivm_speed.R", "1",
        "5", c(6, 30), alone = TRUE),
  claim("multiclass", "The IVM paper's section 6.4: six classes of soil", "multiclass.R",
        "400,1000 evidence", "", c(10, 20), "e1071"),
  claim("multiclass_usps", "Ten digits: USPS", "multiclass_usps.R", "350 pixels", "", c(10, 60)),
  claim("multiclass_mnist", "Ten digits: MNIST", "multiclass_mnist.R", "10000 300 basis 2000 100",
        "", c(10, 120)),
  claim("pumadyn", "The IVM paper's section 6.3: pumadyn-32nm", "pumadyn.R", "2 3", "10 10", c(7,
        24)),
  claim("thesis_kl", "Thesis figure 3.2: divergences of a step", "thesis/kl.R", "50", "50", c(1,
        1)),
  claim("thesis_omission", "Thesis figure 3.4: omissions of the simple score", "thesis/omission.R",
        "500", "500", c(3, 3)),
  claim("thesis_sinc", "Thesis figures 2.1 and 5.1: the noisy sinc", "thesis/sinc.R", "20", "20",
        c(1, 1)),
  claim("thesis_friedman", "Thesis figure 5.2: Friedman #1", "thesis/friedman.R", "50", "50", c(3,
        3)),
  claim("thesis_boston", "Thesis figure 5.3: Boston housing", "thesis/boston.R", "10", "100", c(3,
        30)),
  claim("thesis_crabs", "Thesis figure 5.4: crabs", "thesis/crabs.R", "50 3", "50 3", c(1, 1)),
  claim("thesis_sonar", "Thesis figure 5.5: sonar", "thesis/sonar.R", "50", "50", c(1, 1)),
  claim("thesis_usps4", "Thesis figure 5.6: a digit against the rest", "thesis/usps4.R", "1 100 0",
        "3", c(4, 120)),
  claim("thesis_usps10", "Thesis figures 5.6 and 5.7: ten digits, and rejection", "thesis/usps10.R",
        "3", "3", c(6, 6)),
  claim("experts", "Thesis section 6.1: mixtures of processes", "experts.R", "5", "5", c(3, 3)),
  claim("thesis_density", "Thesis figure 5.9: densities", "thesis/density.R", "20", "20", c(1, 1))
)
names(CLAIMS) <- vapply(CLAIMS, `[[`, "", "name")

self <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
bench <- dirname(self)
root <- dirname(bench)
results <- file.path(bench, "results")
is_full <- nzchar(Sys.getenv("FULL"))

# ---- What was measured with what ----

# A line of /proc or nothing, where the system has none.
processor <- function() {
  file <- "/proc/cpuinfo"
  lines <- if (file.exists(file)) readLines(file)
  model <- unique(sub("^[^:]*: *", "", grep("^model name", lines, value = TRUE)))
  if (length(model)) toString(model) else Sys.info()[["machine"]]
}

version_of <- function(package) {
  installed <- requireNamespace(package, quietly = TRUE)
  paste(package, if (installed) as.character(utils::packageVersion(package)) else "not installed")
}

commit <- function() {
  log <- c("-C", shQuote(root), "log", "-1", "--format=%h", "--abbrev=7", "--", INSTALLED)
  said <- tryCatch(system2("git", log, stdout = TRUE, stderr = FALSE),
                   error = function(e) character())
  if (length(said)) said else "unknown"
}

INSTALLED <- c("R", "src", "DESCRIPTION", "NAMESPACE")

version_of_this <- function() {
  paste("sparsegp", utils::packageVersion("sparsegp"), "at", commit())
}

# How busy the machine is, by the mean number of processes that want to run.
load_now <- function() {
  file <- "/proc/loadavg"
  if (file.exists(file)) sub(" .*", "", readLines(file)) else "unknown"
}

setup_of <- function(one) {
  threads <- Sys.getenv("OPENBLAS_NUM_THREADS", Sys.getenv("OMP_NUM_THREADS", "its own number of"))
  blas <- paste0("BLAS ", basename(extSoftVersion()[["BLAS"]]), ", LAPACK ", basename(La_library()),
                 ", ", threads, " thread(s)")
  said <- c(version_of_this(), R.version.string, blas, processor(),
            vapply(one$peers, version_of, ""))
  paste0(paste(said, collapse = "; "), ".")
}

# ---- One claim ----

command_of <- function(one) {
  trimws(paste("Rscript", file.path("bench", one$script), if (is_full) one$full else one$quick))
}

# Markdown stays what it is, all else is shown as it is.
as_printed <- function(lines) {
  if (any(grepl("^[|]-|^[|] -", lines))) c(lines, "") else c("```", lines, "```", "")
}

run_claim <- function(one) {
  page <- page_of(one$name)
  unlink(page)
  command <- command_of(one)
  cat(one$name, ": ", command, "\n", sep = "")
  tables <- tempfile()
  output <- tempfile()
  Sys.setenv(SPARSEGP_BENCH_TABLES = tables)
  words <- strsplit(command, " +")[[1L]][-1L]
  busy <- load_now()
  took <- system.time(status <- system2(file.path(R.home("bin"), "Rscript"), words, stdout = output,
                                        stderr = paste0(output, ".2")))
  if (status != 0L) cat("  failed:", utils::tail(readLines(paste0(output, ".2")), 3L), sep = "\n  ")
  ended <- if (status == 0L) "" else "; it stopped early"
  seconds <- sum(took[c("user.child", "sys.child")])
  head <- c(paste0("`", command, "`", if (is_full) "" else ", the quick form", ": ", round(seconds),
                   " CPU seconds; load at the start ", busy, ended, "."), "", setup_of(one), "")
  own <- if (file.exists(page)) readLines(page) # by the script
         else c(paste("##", one$claim), "",
                if (file.exists(tables)) readLines(tables) else as_printed(readLines(output)))
  writeLines(c(own[1:2], head, own[-(1:2)]), page)
}

page_of <- function(name) file.path(results, paste0(name, ".md"))

# Has it a page, of the commit that is installed?
is_measured <- function(name) {
  page <- page_of(name)
  file.exists(page) && any(grepl(version_of_this(), readLines(page), fixed = TRUE))
}

# Those about ratios of seconds by themselves, the others by WORKERS.
run_claims <- function(claims) {
  there <- file.exists(file.path(bench, vapply(claims, `[[`, "", "script")))
  if (!all(there)) cat("no script:", toString(names(claims)[!there]), "\n")
  alone <- vapply(claims, `[[`, NA, "alone")
  lapply(claims[there & alone], run_claim)
  workers <- as.integer(Sys.getenv("WORKERS", "1"))
  parallel::mclapply(claims[there & !alone], run_claim, mc.preschedule = FALSE, mc.cores = workers)
}

# ---- All of them ----

# Pages whose first table a reader looks for, in this order
SHOWN <- c("zoo_defaults", "regret", "newcomer", "survival", "likelihoods", "growth", "markov",
           "full_ep", "source", "ivm_mnist")
TABLE_ROWS <- 8L # of a table in RESULTS.md; its page has all

link_to <- function(name) {
  title <- sub("^#+ ", "", readLines(page_of(name), 1L))
  sprintf("[%s](bench/results/%s.md)", title, name)
}

contents_row <- function(name) {
  one <- CLAIMS[[name]]
  script <- if (is.null(one)) "" else paste0("`bench/", one$script, "`")
  minutes <- if (is.null(one)) "" else paste(one$minutes, collapse = ", ")
  sprintf("| %s | %s | %s |", link_to(name), script, minutes)
}

# Returns the first table of a page, or what it printed first, with its caption.
first_table <- function(name) {
  lines <- readLines(page_of(name))
  is_row <- startsWith(lines, "|")
  if (!any(is_row)) {
    fences <- which(lines == "```")[1:2]
    last <- min(fences[2L] - 1L, fences[1L] + TABLE_ROWS)
    return(c(lines[fences[1L]:last], "```"))
  }
  first <- which(is_row)[1L]
  run <- rle(is_row[first:length(lines)])$lengths[1L]
  caption <- rev(grep("^[*].*[*]$", lines[seq_len(first)], value = TRUE))[1L]
  c(if (!is.na(caption)) c(caption, ""), lines[first + seq_len(min(run, TABLE_ROWS + 2L)) - 1L])
}

shown <- function(name) c(paste("##", link_to(name)), "", first_table(name), "")

# What was measured in longer forms, once, and what was tried and left out.
earlier_runs <- function() {
  files <- list.files(file.path(results, "earlier"), "[.]md$", full.names = TRUE)
  title <- vapply(files, function(file) sub("^#+ ", "", readLines(file, 1L)), "")
  if (length(files)) {
    c("## Longer runs on earlier commits", "",
      sprintf("* [%s](bench/results/earlier/%s)", title, basename(files)))
  }
}

assemble <- function() {
  there <- sub("[.]md$", "", list.files(results, "[.]md$"))
  there <- c(intersect(names(CLAIMS), there), setdiff(there, names(CLAIMS)))
  writeLines(c(
    "# Measurements", "",
    "The pages below, except that on foreign input, name the script or the commands that measured",
    "them. Those that `bench/run.R` wrote name the commit, the packages and the machine, too; some",
    "of the others name only the version of the package. CPU seconds are user plus system time;",
    "the machine was shared with other work. The first rows of some pages are shown; `bench/run.R`",
    "writes this file.",
    "",
    "    SPARSEGP_DATA=... Rscript bench/run.R           # short runs",
    "    SPARSEGP_DATA=... FULL=1 Rscript bench/run.R    # long ones, about a day",
    "", unlist(lapply(intersect(SHOWN, there), shown)),
    "## All pages", "", "| page | script | core minutes: short, long |", "|---|---|---|",
    vapply(there, contents_row, ""), "", earlier_runs()
  ), file.path(root, "RESULTS.md"))
  cat("RESULTS.md:", length(there), "pages\n")
}

dir.create(results, showWarnings = FALSE)
setwd(root)
asked <- commandArgs(TRUE)
wanted <- setdiff(asked, c("--assemble", "--rest"))
if (length(asked) == 0L) wanted <- names(CLAIMS)
if ("--rest" %in% asked) wanted <- Filter(Negate(is_measured), names(CLAIMS))
unknown <- setdiff(wanted, names(CLAIMS))
if (length(unknown)) stop("no such claim: ", toString(unknown), call. = FALSE)
invisible(run_claims(CLAIMS[wanted]))
assemble()
