# The zoo (zoo_sets.R) in samples of 30, 100, 300 and 1000 training observations, for networks that
# were trained to predict tables and need no fit: TabPFN, and TabICL for labels. Their weights are
# loaded by foundation.py, on a machine that has them; no page of results/ has their scores yet.
#
#   SPARSEGP_DATA=... Rscript bench/foundation.R write FOLDER    a folder for each set and size
#   python bench/foundation.py FOLDER                            what the networks predict
#   SPARSEGP_DATA=... Rscript bench/foundation.R compare FOLDER  our default fits, and the tables
#
# A folder SET_SIZE has train.csv and test.csv, whose first column is the response, and kind.txt,
# "number" or "class". A method leaves METHOD.csv with a line for each test observation: density
# (log predictive density, or log probability of the label), error (predicted mean less response, or
# 1 for a wrong label, else 0), inside (is the response in the central 90 % interval?), and seconds,
# those of all. Probabilities count as at least 1e-6, whoever predicts them.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  for (name in c("common.R", "zoo_sets.R")) source(file.path(dirname(self), name))
  HERE <<- normalizePath(dirname(self))
})

SIZES <- c(30L, 100L, 300L, 1000L)

sample_folder <- function(folder, name, size) {
  file.path(folder, paste0(gsub("/", "_", name), "_", size))
}

# ---- The samples ----

# Writes a sample of `size` training observations unless the set has fewer, or its package, in
# another version, has not got it.
write_sample <- function(folder, set, size) {
  split <- tryCatch(zoo_split(set, size), error = function(e) {
    message(set$name, ": ", conditionMessage(e))
  })
  if (is.null(split)) return(invisible())
  if (nrow(split$train) < size || nrow(split$test) == 0L) return(invisible())
  to <- sample_folder(folder, set$name, size)
  dir.create(to, recursive = TRUE, showWarnings = FALSE)
  columns <- union(split$response, names(split$train))
  utils::write.csv(split$train[columns], file.path(to, "train.csv"), row.names = FALSE)
  utils::write.csv(split$test[columns], file.path(to, "test.csv"), row.names = FALSE)
  writeLines(set$kind, file.path(to, "kind.txt"))
}

# ---- Our fits ----

# Fits a sample by default in a process of its own, as zoo.R does, and leaves ours.csv.
fit_sample <- function(folder, name, size) {
  to <- sample_folder(folder, name, size)
  file <- file.path(to, "ours.csv")
  if (file.exists(file)) return(invisible())
  record_file <- file.path(to, "ours.rds")
  system2(file.path(R.home("bin"), "Rscript"),
          shQuote(c(file.path(HERE, "zoo_fit.R"), name, "ours", record_file, size)),
          env = c("OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"))
  if (!file.exists(record_file)) return(warning("no fit of ", basename(to)))
  record <- readRDS(record_file)
  found <- record$plain
  numbers <- record$kind == "number"
  error <- if (numbers) found$mean - record$y else as.numeric(found$wrong)
  inside <- if (numbers) found$inside else NA
  utils::write.csv(data.frame(density = found$density, error = error, inside = inside,
                              seconds = found$seconds), file, row.names = FALSE)
}

# ---- Tables ----

# Returns a line for each method of a sample: its scores (error: RMSE, or proportion of wrong
# labels), and by how much ours is ahead of it.
compared <- function(to, kind) {
  files <- list.files(to, "[.]csv$", full.names = TRUE)
  files <- files[!basename(files) %in% c("train.csv", "test.csv")]
  ours <- utils::read.csv(file.path(to, "ours.csv"))
  do.call(rbind, lapply(files, function(file) {
    found <- utils::read.csv(file)
    ahead <- ours$density - found$density
    data.frame(method = sub("[.]csv$", "", basename(file)), density = mean(found$density),
               ahead = mean(ahead), se = stats::sd(ahead) / sqrt(length(ahead)),
               error = mean(found$error^2)^(if (kind == "number") 1 / 2 else 1),
               inside = mean(found$inside), seconds = found$seconds[1L])
  }))
}

# Returns the medians of a method at a size over sets, and how often ours is ahead, or behind, by
# more than two standard errors.
summarised <- function(lines) {
  medians <- lapply(lines[c("density", "error", "inside", "seconds", "ahead")], stats::median,
                    na.rm = TRUE)
  data.frame(kind = lines$kind[1L], size = lines$size[1L], method = lines$method[1L],
             sets = nrow(lines), medians, "ours ahead" = sum(lines$ahead > 2 * lines$se),
             "ours behind" = sum(lines$ahead < -2 * lines$se), check.names = FALSE)
}

compare_all <- function(folder, sets) {
  lines <- list()
  for (size in SIZES) for (name in sets$name) {
    to <- sample_folder(folder, name, size)
    if (!file.exists(file.path(to, "train.csv"))) next
    fit_sample(folder, name, size)
    if (!file.exists(file.path(to, "ours.csv"))) next
    kind <- readLines(file.path(to, "kind.txt"))
    lines <- c(lines, list(cbind(set = name, kind = kind, size = size, compared(to, kind))))
  }
  lines <- do.call(rbind, lines)
  groups <- split(lines, lines[c("method", "size", "kind")], drop = TRUE)
  bench_table(do.call(rbind, unname(lapply(groups, summarised))),
              "Default fits beside pretrained networks, medians over sets")
  bench_table(lines, "All samples")
}

asked <- commandArgs(TRUE)
if (length(asked) < 2L || !asked[1L] %in% c("write", "compare")) {
  stop("write FOLDER, or compare FOLDER", call. = FALSE)
}
sets <- zoo_table()
sets <- sets[vapply(sets$package, requireNamespace, NA, quietly = TRUE), ]
if (asked[1L] == "write") {
  for (i in seq_len(nrow(sets))) for (size in SIZES) write_sample(asked[2L], sets[i, ], size)
} else {
  compare_all(asked[2L], sets)
}
