# Sourced by databases.R and arrow.R, with ENGINE. Columns of every type: `text` is what is written;
# check_values() holds what is read of it against the values in `known`, check_fits() fits of all
# columns against those of this data frame, which never went through a driver.

N <- 240L
SHAPES <- c("round", "flat", "long")
HOURS <- "+02" # of the time zone in which times are written

# How engines differ. columns: their types; classes: what the driver gives, where that is not what
# the first one's does; shift: hours by which the text of `at` and `stamp` is ahead, as it has a
# time zone or takes that of the session; stamp: seconds since 1970 at which `stamp` begins; before,
# after: statements around that which writes the rows
TYPES <- list(
  postgresql = list(
    columns = c(id = "int8", huge = "int8", tenth = "numeric(12, 4)", at = "timestamptz",
                stamp = "timestamp", day = "date", warm = "boolean", form = "shape",
                y = "float8"),
    classes = c(id = "integer64", huge = "integer64", tenth = "numeric", at = "POSIXct",
                stamp = "POSIXct", day = "Date", warm = "logical", form = "character",
                y = "numeric"),
    shift = c(at = 2, stamp = 0), stamp = -1e9
  ),
  mariadb = list( # `at` has no time zone; `stamp` has one, and begins in 1970
    columns = c(id = "bigint", huge = "bigint", tenth = "decimal(12, 4)", at = "datetime(3)",
                stamp = "timestamp(3) NULL", day = "date", warm = "boolean",
                form = "enum('round', 'flat', 'long')", y = "double"),
    classes = c(warm = "integer"),
    shift = c(at = 0, stamp = 2), stamp = 5e8,
    before = "SET time_zone = '+02:00'", after = "SET time_zone = '+00:00'"
  ),
  duckdb = list(
    columns = c(id = "bigint", huge = "bigint", tenth = "decimal(12, 4)", at = "timestamp",
                stamp = "timestamp", day = "date", warm = "boolean", form = "shape",
                y = "double"),
    classes = c(id = "numeric", huge = "numeric", form = "factor"),
    shift = c(at = 0, stamp = 0), stamp = -1e9
  ),
  arrow = list( # its columns are made by arrow.R
    classes = c(form = "factor"), shift = c(at = 2, stamp = 2), stamp = -1e9
  )
)
types <- TYPES[[ENGINE]]
CLASSES <- replace(TYPES$postgresql$classes, names(types$classes), types$classes)

# ---- The values, and the text that is written ----

order_by <- function(step) (seq_len(N) * step) %% 241 # 241 is prime: every number from 1 to N once
in_utc <- function(seconds) as.POSIXct(seconds, origin = "1970-01-01", tz = "UTC")

# Whole numbers beyond 2^31 and beyond 2^53, of which doubles have the nearest; the last two are the
# ends of what 64 bits hold
text <- data.frame(
  id = sprintf("%.0f", 3e9 + 7 * order_by(7)),
  huge = c(paste0(ifelse(seq_len(N - 2L) %% 2, "", "-"), 9007199 + order_by(11)[-(1:2)],
                  "254740993"), "9223372036854775807", "-9223372036854775807"),
  tenth = sprintf("%.4f", 12345.6789 - 103.0507 * order_by(17))
)
known <- data.frame(lapply(text, as.double))
known$at <- in_utc(-1.2e9 + 1.2e7 * order_by(23) + 0.25) # 1931 to 2023
known$stamp <- in_utc(types$stamp + 1e7 * order_by(29) / 2 + 0.5)
known$day <- as.Date("1955-11-05") + 100 * order_by(31)
known$warm <- order_by(37) %% 2 == 0
known$form <- SHAPES[1L + order_by(41) %% 3]
known$y <- sin(known$tenth / 4000) + cos(order_by(23) / 60) + 0.3 * known$warm +
  0.5 * (known$form == "flat") + 0.2 * cos(17 * seq_len(N))

time_text <- function(time, hours) {
  paste0(format(time + 3600 * hours, "%Y-%m-%d %H:%M:%OS3"),
         if (hours > 0 && ENGINE != "mariadb") HOURS)
}
text$at <- time_text(known$at, types$shift[["at"]])
text$stamp <- time_text(known$stamp, types$shift[["stamp"]])
text$day <- format(known$day)
text$warm <- as.character(as.integer(known$warm))
text$form <- known$form
text$y <- sprintf("%.17g", known$y)
for (k in seq_along(known)) text[seq_len(N) %% 40 == k, names(known)[k]] <- NA # NULLs in each
text$y[N - 0:1] <- NA # no fit has the ends of 64 bits
known[is.na(text[names(known)])] <- NA

# ---- Classes and values ----

# Returns the first `count` chunks of a source.
chunks_of <- function(source, count) {
  reader <- source$reader()
  on.exit(reader$close())
  lapply(seq_len(count), reader$read)
}

# Returns the values of a column that the package has made plain, as numbers or words.
as_values <- function(column) {
  if (is.factor(column) || is.character(column)) as.character(column) else as.double(column)
}

# RPostgres gives words of a type of the user's a class of its own.
kind_of <- function(column) if (is.character(column)) "character" else class(column)[1L]

check_values <- function(chunks) {
  plain <- lapply(chunks, getFromNamespace("plain_data", "sparsegp"))
  for (chunk in chunks) {
    stopifnot(identical(vapply(chunk[names(CLASSES)], kind_of, ""), CLASSES))
  }
  stopifnot(unlist(lapply(chunks, `[[`, "place")) == seq_len(N))
  for (name in names(known)) {
    read <- unlist(lapply(plain, function(chunk) as_values(chunk[[name]])))
    wanted <- as_values(known[[name]])
    # drivers do sums with times; all else is exact
    same <- if (CLASSES[[name]] == "POSIXct") all.equal(read, wanted, tolerance = 1e-15)
            else identical(read, wanted)
    stopifnot(anyNA(wanted), isTRUE(same))
  }
}

# ---- Fits of all columns ----

if (CLASSES[["warm"]] == "integer") known$warm <- as.integer(known$warm)
if (ENGINE == "arrow") SHAPES <- unique(stats::na.omit(text$form)) # levels in the order of rows
if (CLASSES[["form"]] == "factor") known$form <- factor(known$form, SHAPES)
points <- known[stats::complete.cases(known) & seq_len(N) %% 7 == 3, ]

# Hyperparameters are given and few rows kept, so that all others are only read.
fit_typed <- function(formula, data, likelihood = lik_gaussian(fixed(0.1))) {
  sparsegp(formula, data, likelihood, basis = points, kernel = kernel_rbf(fixed(1.5), fixed(2)),
           method = method_ep(tol = 1e-12, sweeps = 1000), learn = learn_control(rows = 60))
}

# Checks that a fit of a source, and what it predicts, is that of `known`.
stopifnot_alike <- function(formula, source, ...) {
  read <- fit_typed(formula, source, ...)
  whole <- fit_typed(formula, known, ...)
  stopifnot(read$source$kept == 60, nobs(read) == nobs(whole),
            all.equal(logLik(read), logLik(whole), tolerance = 1e-8))
  answers <- list()
  predict(read, source, to = function(answer, i) answers[[i]] <<- as.matrix(answer))
  for (found in list(do.call(rbind, answers), predict(read, known))) {
    stopifnot(all.equal(as.matrix(found), as.matrix(predict(whole, known)), tolerance = 1e-8,
                        check.attributes = FALSE))
  }
}

check_fits <- function(source) {
  stopifnot_alike(y ~ id + huge + tenth + at + stamp + day + warm + form, source)
  for (column in setdiff(names(known), "y")) {
    stopifnot_alike(stats::reformulate(column, "y"), source)
  }
  stopifnot_alike(warm ~ tenth + at + form, source, lik_probit(fixed(0.1)))
  stopifnot_alike(form ~ tenth + stamp + warm, source, lik_mprobit(fixed(c(0.1, 0, -0.2))))
}

# failing: a source with a column that cannot be read, of which `words` is what a call says
check_unread <- function(failing, words) {
  all_read <- tryCatch(sparsegp(y ~ ., failing), error = conditionMessage)
  stopifnot(is.character(all_read), grepl(words, all_read))
  stopifnot_alike(y ~ tenth + at + warm, failing)
}
