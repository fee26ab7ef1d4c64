# Run by tools/engines/arrow. All is checked with stopifnot(); what was measured is printed.
library(sparsegp)
Sys.setenv(TZ = "UTC")

ROWS <- as.double(Sys.getenv("SPARSEGP_ROWS"))
CHUNK <- min(50000, ROWS / 4) # rows of a file
ENGINE <- Sys.getenv("SPARSEGP_ENGINE")
FOLDER <- Sys.getenv("SPARSEGP_SOCKET")
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "types.R"))
source(file.path(here, "memory.R"))

# Returns the dataset of a new folder with these tables, a file each.
dataset_of <- function(name, tables) {
  folder <- file.path(FOLDER, name)
  dir.create(folder)
  for (i in seq_along(tables)) {
    arrow::write_parquet(tables[[i]], file.path(folder, sprintf("%03d.parquet", i)),
                         chunk_size = 1e6, compression = "gzip")
  }
  dataset <- arrow::open_dataset(folder)
  stopifnot(inherits(dataset, "FileSystemDataset"), length(dataset$files) == length(tables))
  dataset
}

# Makes the last column, `note`, one that cannot be read: overwrites the head of its last page,
# which is compressed by gzip.
spoil_note <- function(file) {
  bytes <- readBin(file, "raw", file.size(file))
  last <- max(grepRaw(as.raw(c(0x1f, 0x8b, 0x08)), bytes, fixed = TRUE, all = TRUE))
  bytes[last + 0:9] <- as.raw(255)
  writeBin(bytes, file)
  read <- tryCatch(arrow::read_parquet(file, col_select = "note"), error = conditionMessage)
  stopifnot(is.character(read))
}

# ---- Every type: columns are written as text, and Arrow makes the types ----

schema <- arrow::schema(
  place = arrow::int32(), id = arrow::int64(), huge = arrow::int64(),
  tenth = arrow::decimal128(12, 4), at = arrow::timestamp("us", "UTC"),
  stamp = arrow::timestamp("ms", "UTC"), day = arrow::date32(), warm = arrow::bool(),
  form = arrow::utf8(), y = arrow::float64(), note = arrow::utf8()
)
written <- cbind(place = as.character(seq_len(N)), text,
                 note = sprintf("unread %.0f", 1e9 * sin(seq_len(N))))
made <- lapply(schema$names, function(name) {
  column <- arrow::Array$create(written[[name]])$cast(schema$GetFieldByName(name)$type)
  # of all rows, so each file has the same levels
  if (name != "form") column
  else arrow::call_function("dictionary_encode", column)
})
names(made) <- schema$names
made <- do.call(arrow::arrow_table, made)
parts <- lapply(split(seq_len(N) - 1L, (seq_len(N) - 1L) %/% 70L), made$Take)
typed <- dataset_of("typed", parts)
check_values(chunks_of(row_source(typed), length(parts)))
check_fits(row_source(typed))
for (file in typed$files) spoil_note(file)
check_unread(row_source(typed), "GZipCodec failed")
cat("types: as written; columns that the formula does not name: not read\n")

# ---- A column in the names of folders ----

known$form <- as.character(known$form)
points$form <- as.character(points$form)
folder <- file.path(FOLDER, "parts")
arrow::write_dataset(known, folder, partitioning = "form")
in_parts <- fit_typed(y ~ tenth + at + day + form, arrow::open_dataset(folder))
whole <- fit_typed(y ~ tenth + at + day + form, known)
stopifnot(nobs(in_parts) == nobs(whole),
          all.equal(predict(in_parts, known), predict(whole, known), tolerance = 1e-8))

# ---- Many rows, with bounded memory ----

files <- ceiling(ROWS / CHUNK)
made_rows <- function(i) {
  at <- seq(CHUNK * (i - 1) + 1, min(ROWS, CHUNK * i))
  x <- 3 * (at * 0.7548777) %% 1 - 1.5
  warm <- at %% 2 == 0
  form <- factor(SHAPES[1 + at %% 3], SHAPES)
  noise <- sqrt(2) * cos(1e4 * x * sin(at))
  data.frame(id = 3e9 + at, x = x, at = in_utc(at - 1e9), warm = warm, form = form,
             y = sin(4 * x) + 0.3 * warm + 0.5 * (form == "flat") + 0.2 * noise,
             note = sprintf("unread %.0f", 1e9 * sin(at)))
}
rows <- dataset_of("rows", lapply(seq_len(files), made_rows))
for (file in rows$files) spoil_note(file)
forget_peak()
from <- resident("VmRSS")
took <- seconds(fit <- sparsegp(y ~ x + warm + form + at, rows, method = method_ep(size = 50),
                                learn = learn_control(rows = 2000)))
stopifnot(nobs(fit) == ROWS, abs(coef(fit)[["noise"]] / 0.04 - 1) < 0.1)
count <- 0
wrote <- seconds(predict(fit, rows, interval = "prediction", to = function(answer, i) {
  count <<- count + nrow(answer)
  arrow::write_parquet(as.data.frame(answer), file.path(FOLDER, sprintf("%03d.predicted", i)))
}))
stopifnot(count == ROWS)
most <- resident("VmHWM") - from

cat("| engine | rows | fit, s | predictions written, s | memory above R, MB |\n",
    "| --- | ---: | ---: | ---: | ---: |\n", sep = "")
cat(sprintf("| Arrow %s | %.0f | %.1f | %.1f | %.0f |\n", utils::packageVersion("arrow"), ROWS,
            took, wrote, most))
stopifnot(most < 300)
