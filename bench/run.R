# What the package claims, measured: runs the scripts of CLAIMS one after the other, writes what
# each has found to bench/results/<name>.md, and puts all of these together in RESULTS.md.
#
#   SPARSEGP_DATA=... Rscript bench/run.R             all of them, in their quick form
#   SPARSEGP_DATA=... FULL=1 Rscript bench/run.R      as long as it takes: about a day
#   SPARSEGP_DATA=... Rscript bench/run.R NAME...     these
#   Rscript bench/run.R --assemble                    RESULTS.md from what there is
#
# The package is the one of R_LIBS, which has the peers, too; one BLAS thread is a fair one. A
# script whose file is not there is left out, and one that writes its page itself has it so; what
# else is in bench/results is put together with the rest. The commit is the last one on the main
# branch.

claim <- function(name, claim, script, quick, full, minutes, peers = character()) {
  list(name = name, claim = claim, script = script, quick = quick, full = full, minutes = minutes,
       peers = peers)
}

# minutes: of one core, in the quick and in the full form.
CLAIMS <- list(
  claim("defaults", "Who says nothing but the data is as well off as with a tuned peer",
        "defaults.R", "friedman image splice twonorm ringnorm waveform heart diabetis german", "",
        c(3, 60), c("e1071", "ranger")),
  claim("zoo_defaults", "The default fit beside tuned peers on 46 data sets of other packages",
        "zoo.R", "quick", "", c(3, 40), c("ranger", "xgboost", "e1071", "mgcv", "glmnet",
                                            "dbarts")),
  claim("levels", "Effects of levels, of factors that have many", "levels.R", "3", "3", c(6, 6),
        c("lme4", "nlme", "mlmRev")),
  claim("coverage", "How far the error bars can be trusted", "coverage.R", "quick", "", c(4, 25),
        c("mgcv", "DiceKriging", "dbarts")),
  claim("integrate", "Hyperparameters integrated out", "integrate.R", "coverage 10 cost", "",
        c(10, 120)),
  claim("constant", "The constant: integrated out, or the average plugged in", "constant.R",
        "kriging time", "", c(2, 10), "DiceKriging"),
  claim("coupled", "Classes coupled in the posterior", "coupled.R", "iris", "", c(3, 60)),
  claim("average", "What averaging fits is worth", "average.R", "150", "420", c(2, 5)),
  claim("slopes", "How far intervals of slopes can be trusted", "slopes.R", "2", "10", c(3, 20)),
  claim("custom", "A likelihood in R beside its twin in C", "custom.R", "1", "3", c(1, 2)),
  claim("extension", "Kernels and likelihoods of another package", "extension.R", "", "", c(1, 1)),
  claim("integrated", "Designs by what points tell elsewhere", "integrated.R", "2", "5", c(2, 6),
        c("laGP", "hetGP")),
  claim("points", "Inducing points that are learned", "points.R", "2000", "4000", c(15, 60)),
  claim("power", "EP, power EP and variational inference beside long MCMC", "power.R", "2 4000",
        "10 20000", c(1, 10)),
  claim("policy", "Numbers of the default strategies, halved and doubled", "policy.R",
        "1000 quick", "2000 normal", c(45, 600)),
  claim("peers", "Beside other packages of Gaussian processes and smooths", "peers.R", "200", "500",
        c(1, 20), c("laGP", "DiceKriging", "GpGp", "GauPro", "kernlab", "gplite", "mgcv", "psgp",
                    "e1071", "ranger")),
  claim("newcomer", "The analyses that are done first, beside the models people come from",
        "newcomer.R", "", "", c(5, 5), c("MASS", "mgcv")),
  claim("truth", "Expectation propagation against the truth", "truth.R", "", "FULL", c(4, 10)),
  claim("one_input", "Curves: the search finds the mode", "one_input.R", "", "", c(4, 4)),
  claim("growth", "How time grows with rows, points and classes", "growth.R",
        "bench/results/growth.png man/figures/growth.png",
        "bench/results/growth.png man/figures/growth.png", c(2, 2)),
  claim("full_ep", "Full EP beside gplite and LAPACK", "full_ep.R", "", "", c(6, 6), "gplite"),
  claim("sparse_ep", "Batch EP on a basis beside gplite and BLAS", "sparse_ep.R", "100",
        "100 200 500", c(4, 30), "gplite"),
  claim("threads", "What a second thread saves", "threads.R", "5", "15", c(3, 9)),
  claim("online", "A row of a stream", "online.R", "", "", c(3, 3)),
  claim("stream_long", "A stream in constant memory, and its rounding", "stream_long.R", "1e6",
        "1e7", c(3, 30)),
  claim("drift", "Streams whose function drifts", "drift.R", "", "", c(4, 4),
        c("forecast", "ggplot2")),
  claim("source", "Rows that do not fit into memory", "source.R", "1e6 200", "1e7 200", c(6, 60),
        c("DBI", "RSQLite", "nanoparquet")),
  claim("plan", "The plan for a billion rows, held against fewer", "plan.R", "1e8 50 2",
        "1e8 50 2", c(8, 8)),
  claim("shards", "Shards merged against one fit", "shards.R", "100", "200", c(3, 10)),
  claim("classes", "What a class more costs", "classes.R", "2000 100 3,10,30", "", c(2, 20)),
  claim("likelihoods", "What other likelihoods than the Gaussian buy", "likelihoods.R", "5", "10",
        c(2, 4), "mgcv"),
  claim("survival", "Times to an event beside survival's models", "survival.R", "2", "20", c(5, 60),
        "survival"),
  claim("vector", "Rows of two components", "vector.R", "5", "5", c(2, 2)),
  claim("glad", "Surface currents as a field", "glad.R", "20", "20", c(3, 3)),
  claim("field", "Ambiguous winds: modes and their ranking", "field.R", "20 3", "50 20", c(3, 20)),
  claim("active", "Where the next row is worth most", "active.R", "",
        "20 image,waveform,usps3 bench/results/active.png", c(6, 60)),
  claim("optimise", "Optimisation of an expensive function", "optimise.R", "", "20", c(4, 60),
        c("DiceOptim", "GauPro")),
  claim("virtual", "The IVM paper's table 4: informative vectors moved by a pixel", "virtual.R",
        "paper 2", "", c(1, 25), "e1071"),
  claim("ivm_usps", "The IVM paper's table 1", "ivm_usps.R", "2,5 50,100", "", c(6, 240)),
  claim("ivm_path", "The IVM paper's table 1: which step of learning differs", "ivm_path.R", "", "",
        c(2, 2)),
  claim("ivm_mnist", "The IVM paper's table 2", "ivm_mnist.R", "5 500 10000", "", c(10, 300)),
  claim("ivm_inner", "The IVM paper's figure 1", "ivm_inner.R", "", "", c(3, 3)),
  claim("ivm_bases", "Which rows make a good basis", "ivm_bases.R", "image 2", "all 5", c(4, 200)),
  claim("ivm_svm", "Two classes beside a support vector machine, everything included",
        "ivm_svm.R", "image,waveform", "", c(3, 40), "e1071"),
  claim("ivm_speed", "An inclusion beside the products it contains", "ivm_speed.R", "1", "5",
        c(6, 30)),
  claim("multiclass", "The IVM paper's section 6.4: six classes of soil", "multiclass.R", "", "",
        c(20, 20), "e1071"),
  claim("multiclass_usps", "Ten digits at once: USPS", "multiclass_usps.R", "", "", c(60, 60)),
  claim("multiclass_mnist", "Ten digits at once: MNIST", "multiclass_mnist.R", "", "",
        c(120, 120)),
  claim("pumadyn", "The IVM paper's section 6.3: pumadyn-32nm", "pumadyn.R", "2 3", "10 10",
        c(8, 30)),
  claim("thesis_kl", "Thesis figure 3.2: divergences of a step", "thesis/kl.R", "5", "50",
        c(1, 10)),
  claim("thesis_omission", "Thesis figure 3.4: omissions of the simple score",
        "thesis/omission.R", "20", "500", c(1, 20)),
  claim("thesis_sinc", "Thesis figures 2.1 and 5.1: the noisy sinc", "thesis/sinc.R", "5", "20",
        c(1, 5)),
  claim("thesis_friedman", "Thesis figure 5.2: Friedman #1", "thesis/friedman.R", "5", "50",
        c(2, 20)),
  claim("thesis_boston", "Thesis figure 5.3: Boston housing", "thesis/boston.R", "10", "100",
        c(3, 30)),
  claim("thesis_crabs", "Thesis figure 5.4: crabs", "thesis/crabs.R", "5 3", "50 3", c(1, 10)),
  claim("thesis_sonar", "Thesis figure 5.5: sonar", "thesis/sonar.R", "5", "50", c(2, 15)),
  claim("thesis_usps4", "Thesis figure 5.6: a digit against the rest", "thesis/usps4.R", "1", "3",
        c(20, 120)),
  claim("thesis_usps10", "Thesis figures 5.6 and 5.7: ten digits, and rejection", "thesis/usps10.R",
        "1 150", "3", c(1, 20)),
  claim("experts", "Thesis section 6.1: would mixtures of processes pay?", "experts.R", "5", "5",
        c(3, 3)),
  claim("thesis_density", "Thesis figure 5.9: densities", "thesis/density.R", "5", "20", c(1, 4))
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
  said <- tryCatch(system2("git", c("-C", shQuote(root), "merge-base", "HEAD", "main"),
                           stdout = TRUE, stderr = FALSE), error = function(e) character())
  if (length(said)) substr(said, 1L, 7L) else "unknown"
}

# How busy the machine is, by the mean number of processes that want to run.
load_now <- function() {
  file <- "/proc/loadavg"
  if (file.exists(file)) sub(" .*", "", readLines(file)) else "unknown"
}

setup_of <- function(one) {
  threads <- Sys.getenv("OPENBLAS_NUM_THREADS", Sys.getenv("OMP_NUM_THREADS", "its own number of"))
  c(paste("sparsegp", utils::packageVersion("sparsegp"), "at", commit()), R.version.string,
    paste0("BLAS ", basename(extSoftVersion()[["BLAS"]]), ", LAPACK ", basename(La_library()),
           ", ", threads, " thread(s)"),
    processor(), vapply(one$peers, version_of, ""))
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
  page <- file.path(results, paste0(one$name, ".md"))
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
  if (file.exists(page)) return(invisible()) # by the script
  ended <- if (status == 0L) "" else "; it ended before its end"
  seconds <- sum(took[c("user.child", "sys.child")])
  writeLines(c(
    paste0("## ", one$claim), "",
    paste0("`", command, "`", if (is_full) "" else ", the quick form", ": ", round(seconds),
           " CPU seconds; load at its begin ", busy, ended, "."), "",
    paste0(paste(setup_of(one), collapse = "; "), "."), "",
    if (file.exists(tables)) readLines(tables) else as_printed(readLines(output))
  ), page)
}

# ---- All of them ----

anchor <- function(title) gsub(" ", "-", gsub("[^a-z0-9 -]", "", tolower(title)))

contents_row <- function(name) {
  one <- CLAIMS[[name]]
  title <- sub("^#+ ", "", readLines(file.path(results, paste0(name, ".md")), 1L))
  script <- if (is.null(one)) "" else paste0("`bench/", one$script, "`")
  minutes <- if (is.null(one)) "" else paste(one$minutes, collapse = ", ")
  sprintf("| [%s](#%s) | %s | %s |", title, anchor(title), script, minutes)
}

picture_of <- function(name) {
  if (!file.exists(file.path(results, paste0(name, ".png")))) return(NULL)
  c(sprintf("![%s](bench/results/%s.png)", name, name), "")
}

# Returns a section's lines, with an empty one at its end: the heading of the next is none without.
section_of <- function(name) {
  lines <- readLines(file.path(results, paste0(name, ".md")))
  c(lines, if (nzchar(lines[length(lines)])) "", picture_of(name))
}

assemble <- function() {
  there <- sub("[.]md$", "", list.files(results, "[.]md$"))
  there <- c(intersect(names(CLAIMS), there), setdiff(there, names(CLAIMS)))
  writeLines(c(
    "# What was measured", "",
    "One script a claim. `bench/run.R` runs them and writes this page; each section says what it",
    "was measured with. Ours are the rows and columns that name sparsegp, its methods or its",
    "kernels. CPU seconds are of user and system; the machine was shared, and its load is given.",
    "",
    "    SPARSEGP_DATA=... Rscript bench/run.R           # quick",
    "    SPARSEGP_DATA=... FULL=1 Rscript bench/run.R    # all",
    "", "| claim | script | minutes of a core: quick, full |", "|---|---|---|",
    vapply(there, contents_row, ""), "",
    unlist(lapply(there, section_of))
  ), file.path(root, "RESULTS.md"))
  cat("RESULTS.md:", length(there), "sections\n")
}

dir.create(results, showWarnings = FALSE)
setwd(root)
asked <- commandArgs(TRUE)
wanted <- if (length(asked)) setdiff(asked, "--assemble") else names(CLAIMS)
unknown <- setdiff(wanted, names(CLAIMS))
if (length(unknown)) stop("no such claim: ", toString(unknown), call. = FALSE)
for (one in CLAIMS[wanted]) {
  if (file.exists(file.path(bench, one$script))) run_claim(one)
  else cat(one$name, ": no bench/", one$script, "\n", sep = "")
}
assemble()
