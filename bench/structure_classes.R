# Relevance of inputs for labels: default fits before and after a change, on the same random splits.
# A fit is made by the version installed in the first library; two runs, with different R_LIBS, make
# two files of results, which a third compares.
#
# Usage: Rscript bench/structure_classes.R fit FILE SEEDS [set ...]
#        Rscript bench/structure_classes.R compare BASE NEW
# SEEDS: as in 1,2; sets are names of SETS below, all without an argument. SPARSEGP_DATA is the
# data folder; SPARSEGP_ZOO holds sets of bench/zoo_sets.R, one file each, as zoo_split() returns
# them.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

# ---- Data: all rows of a set, split at random into n for training and the rest ----

zoo_all <- function(name) {
  set <- readRDS(file.path(Sys.getenv("SPARSEGP_ZOO"), paste0(name, ".rds")))
  rows <- rbind(set$train, set$test)
  rows$label <- factor(rows[[set$response]])
  rows[setdiff(names(rows), set$response)]
}

csv_all <- function(folder, file, label, drop = NULL) {
  rows <- read_data(folder, file)
  inputs <- setdiff(names(rows), c(label, drop, grep("^split", names(rows), value = TRUE)))
  data.frame(rows[inputs], label = factor(rows[[label]]))
}

zoo <- function(name, n) list(n = n, rows = function() zoo_all(name))

csv <- function(folder, file, label, n, drop = NULL) {
  list(n = n, rows = function() csv_all(folder, file, label, drop))
}

raetsch <- function(name, n) csv("raetsch", name, "label", n)

SETS <- list(
  promotergene = zoo("kernlab_promotergene", 71), Womenlf = zoo("carData_Womenlf", 175),
  ad_data = zoo("modeldata_ad_data", 222), mdrr = zoo("caret_mdrr", 352),
  PSID1976 = zoo("AER_PSID1976", 502), Smarket = zoo("ISLR_Smarket", 833),
  Chile = zoo("carData_Chile", 1621), hpc_data = zoo("modeldata_hpc_data", 2887),
  taxi = zoo("modeldata_taxi", 4000), DNA = zoo("mlbench_DNA", 2124),
  crabs = csv("crabs", "crabs", "sex", 100, c("index", "sp")),
  pima = csv("pima", "pima", "type", 200, "set"), synth = csv("synth", "synth", "yc", 250, "set"),
  sonar = csv("sonar", "sonar", "class", 140, c("id", "set")),
  breast_cancer = raetsch("breast_cancer", 200), diabetis = raetsch("diabetis", 468),
  flare_solar = raetsch("flare_solar", 666), german = raetsch("german", 700),
  heart = raetsch("heart", 170), image400 = raetsch("image", 400), image = raetsch("image", 1300),
  ringnorm = raetsch("ringnorm", 400), splice = raetsch("splice", 1000),
  titanic = raetsch("titanic", 150), twonorm = raetsch("twonorm", 400),
  waveform = raetsch("waveform", 400),
  satimage = csv("satimage", "satimage_train", "label", 2000)
)

split_rows <- function(rows, n, seed) {
  set.seed(seed)
  order <- sample.int(nrow(rows))
  train <- rows[order[seq_len(n)], ]
  test <- rows[utils::head(order[-seq_len(n)], 3000L), ]
  for (name in names(train)[vapply(train, is.character, NA)]) train[[name]] <- factor(train[[name]])
  for (name in names(train)[vapply(train, is.factor, NA)]) {
    train[[name]] <- droplevels(train[[name]])
    test <- test[test[[name]] %in% levels(train[[name]]), ]
    test[[name]] <- factor(test[[name]], levels(train[[name]]), ordered = is.ordered(train[[name]]))
  }
  varies <- vapply(train, function(x) length(unique(x)) > 1L, NA)
  list(train = train[varies], test = test[varies])
}

# ---- Fits ----

# Returns what is kept of the fit of one split.
fit_split <- function(name, seed) {
  d <- split_rows(SETS[[name]]$rows(), SETS[[name]]$n, seed)
  took <- system.time(fit <- suppressWarnings(sparsegp(label ~ ., d$train)))
  prob <- predict(fit, d$test, type = "prob")
  own <- pmax(prob[cbind(seq_len(nrow(prob)), as.integer(d$test$label))], 1e-12)
  choices <- fit$choices
  taken <- choices$candidate[choices$taken]
  list(name = name, seed = seed, n = nrow(d$train), inputs = nrow(fit$hyper), lpd = log(own),
       wrong = max.col(prob, "first") != as.integer(d$test$label), seconds = sum(took[1:2]),
       classes = ncol(prob), kernel = format(fit$kernel), choices = choices, taken = taken,
       columns = sum(fit$scaling$kept))
}

fit_all <- function(file, seeds, names) {
  found <- if (file.exists(file)) readRDS(file) else list()
  for (seed in seeds) for (name in names) {
    key <- paste(name, seed)
    if (!is.null(found[[key]])) next
    one <- tryCatch(fit_split(name, seed), error = function(e) conditionMessage(e))
    if (is.character(one)) {
      cat(key, one, "\n")
      next
    }
    found[[key]] <- one
    saveRDS(found, file)
    cat(sprintf("%-16s %5d rows %8.4f %6.2f %% %7.1f s  %s; %s\n", key, one$n, mean(one$lpd),
                100 * mean(one$wrong), one$seconds, one$kernel, paste(one$taken, collapse = "; ")))
  }
}

# ---- Comparison ----

# A row for each set: means over its splits. Standard errors are of the difference over test rows.
compare <- function(base, new) {
  keys <- intersect(names(base), names(new))
  sets <- vapply(base[keys], `[[`, "", "name")
  rows <- lapply(intersect(names(SETS), sets), function(name) {
    own <- keys[sets == name]
    over <- function(side, what) mean(vapply(side[own], what, 0))
    gain <- Map(function(new, base) new$lpd - base$lpd, new[own], base[own])
    errors <- vapply(gain, function(gain) sd(gain) / sqrt(length(gain)), 0)
    data.frame(set = name, splits = length(own), rows = base[[own[1L]]]$n,
               columns = base[[own[1L]]]$columns, classes = base[[own[1L]]]$classes,
               base = over(base, function(x) mean(x$lpd)), new = over(new, function(x) mean(x$lpd)),
               gain = mean(vapply(gain, mean, 0)), se = sqrt(sum(errors^2)) / length(own),
               "base error, %" = 100 * over(base, function(x) mean(x$wrong)),
               "new error, %" = 100 * over(new, function(x) mean(x$wrong)),
               "base s" = over(base, function(x) x$seconds),
               "new s" = over(new, function(x) x$seconds),
               "base chose" = paste(unique(vapply(base[own], `[[`, "", "kernel")), collapse = ", "),
               "new chose" = paste(unique(vapply(new[own], `[[`, "", "kernel")), collapse = ", "),
               check.names = FALSE)
  })
  table <- do.call(rbind, rows)
  numbers <- vapply(table, is.numeric, NA)
  sums <- table[1L, ]
  sums[!numbers] <- ""
  sums$set <- "sum"
  sums[numbers] <- colSums(table[numbers])
  sums$se <- sqrt(sum(table$se^2))
  sums[c("rows", "columns", "classes")] <- NA
  bench_table(rbind(table, sums), "Labels, default fits: mean log probability of test labels")
}

asked <- commandArgs(TRUE)
if (asked[1L] == "fit") {
  seeds <- as.integer(strsplit(asked[3L], ",", fixed = TRUE)[[1L]])
  fit_all(asked[2L], seeds, if (length(asked) > 3L) asked[-(1:3)] else names(SETS))
} else {
  compare(readRDS(asked[2L]), readRDS(asked[3L]))
}
