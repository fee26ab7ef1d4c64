#' Rows in a database, in files, or made by a function
#'
#' `data` of [sparsegp()], new rows of [update()][update.sparsegp] and of
#' [predict()][predict.sparsegp] may be a source: rows that are read in chunks, time and again, so
#' more of them can be fitted than memory holds (out-of-core). Chunks come from a database, from a
#' folder of Parquet files, or from a function of yours. Give the source in place of a data frame:
#'
#' | rows are in | source |
#' |---|---|
#' | a table of a database | `row_source(connection, "table")` |
#' | the result of a query | `row_source(connection, query = "SELECT ... ORDER BY ...")` |
#' | Parquet files | `row_source("folder")` |
#' | anything that R can read | `row_source(function(i) read_chunk(i), chunks = 10)` |
#'
#' @details
#' ## What a fit of a source is
#'
#' A first pass reads the levels of all factors, the means and standard deviations of all inputs,
#' the constant and the unit of the response, counts rows with missing values, and keeps up to 10
#' 000 rows (`learn_control(rows =)`), spread evenly over all. (A second pass follows where a factor
#' shows a level after the first chunk.) Kernel, hyperparameters and basis are chosen on those rows,
#' by `method`, as for a fit of these rows alone, but with scaling and units of all. Then EP goes
#' over all rows on that basis, sweep after sweep: a sweep is a sum over chunks, and what is held is
#' the basis, some matrices of its size, and one chunk. The posterior and the log evidence are those
#' of a fit of all rows in memory on this basis with these hyperparameters, to rounding. With
#' `learn_control(rows = Inf)` the search continues with the exact log evidence of all rows and its
#' gradient, at two sweeps (Gaussian noise) or a dozen (others) for each evaluation.
#'
#' If all rows are kept, they are fitted in memory, and the fit is that of a data frame with
#' `gp_control(integrate = "none")`, since hyperparameters are never integrated out. Several classes
#' are an exception: they are not coupled in the posterior (as with `coupled = FALSE`, see
#' [lik_mprobit()]), and not fitted by least squares.
#'
#' [method_neighbours()] has no sums over chunks: one pass reads all rows of the model into memory,
#' and their fit is that of a data frame. With `k` neighbours
#' `r round(2 * policy$held_numbers / 3e6)` million / (`k` + 10) rows may be fitted, 2.7 million
#' with 20. With Gaussian noise a million rows of two inputs take some three minutes of CPU time,
#' 1.4 GB of memory while they are fitted, and 230 MB in the fit. Other likelihoods need a sparse
#' factor in every sweep, and are refused if it is too large. Without a method up to
#' `r format(policy$map_rows, big.mark = " ", scientific = FALSE)` rows with Gaussian noise and two
#' to `r policy$neighbour_inputs` inputs, all numeric, are fitted in the same way as those of a data
#' frame, so nearest neighbours are compared with inducing points (the *basis*). More rows need
#' `method_neighbours()` if the function varies fast.
#'
#' `method_ivm()` chooses its points among the rows kept; another `refine` than `"basis"` is an
#' error, and so is full EP. [method_online()] needs a first pass only for the levels of inputs and
#' response; every row is then visited once, in its order, as by `update()`. [method_markov()] takes
#' the rows of a series in the order of time, which is checked, in constant memory and without a
#' basis, see its section "Streams".
#'
#' The fit keeps no rows: `fitted()`, `residuals()` and `loo_lpd()` are errors; `fit$source` has
#' the number of chunks, of rows that were left out, and `loo_lpd`, the mean leave-one-out log
#' predictive density of all rows.
#'
#' ## Requirements of the rows
#'
#' Every sweep must read the same rows in the same order. Each chunk is compared with its checksum
#' of the first pass, and a source that has changed is an error. A database may give rows in any
#' order unless a query has `ORDER BY`; SQLite and DuckDB keep the order of a table that is not
#' written to. Terms of a formula that depend on all rows, such as `poly(x, 2)` or `scale(x)`, are
#' errors. Terms such as `x - mean(x)` are computed within each chunk, which cannot be detected:
#' compute such columns beforehand. `subset`, `weights` and offsets are expressions in the variables
#' of a chunk. `basis` is a data frame of points, not row numbers.
#'
#' Chunks without rows are skipped, in predictions too.
#'
#' Read only Parquet files that you trust: nanoparquet 0.5.2 can end R at a file whose bytes have
#' been changed.
#'
#' ## Databases
#'
#' While rows are read their connection is busy: most drivers keep one result at a time. Code that
#' writes meanwhile, such as the function `to` of `predict()`, needs a connection of its own. A
#' SQLite file lets a second connection write only after `PRAGMA journal_mode = WAL`, and one in
#' memory has no second connection: keep the predictions, and write them at the end. A connection
#' with an open result is an error, and so is one that is used while rows are read.
#'
#' Only the columns that the call names are read from a `table` or Parquet files: those of a formula
#' without `.`, and of `weights`, `subset` and the like.
#'
#' In PostgreSQL (package RPostgres) rows are fetched from a cursor of the server: no more than a
#' chunk of them is on the client. This needs a transaction, the user's if there is one, which reads
#' the table as of its start. The driver of MariaDB (package RMariaDB) fetches rows one chunk after
#' another. Package nanoarrow reads a stream of DuckDB; without it all rows of a result, with the
#' columns that the call names, are in memory.
#'
#' ## Sites
#'
#' The variance of each row that a basis does not explain is kept from one read to the next, unless
#' workers read rows with Gaussian noise. With other likelihoods EP also keeps two numbers for each
#' row and latent function: a generation of them for each sweep that it may go back to or mix, up to
#' 2 `mixing` + 5 of [method_ep()], 11 by default. All are in memory where one generation and the
#' variances are at most `hold` numbers, else in files of a temporary folder, which is removed at
#' the end. With the default of `hold` the sites of labels take at most 0.3 gigabytes of memory.
#'
#' ## Workers
#'
#' If package future is attached and `future::plan()` is other than sequential, chunks that stand
#' by themselves (of a function, or of files) are read and summed by the workers, in the first pass
#' and in every sweep, and rows stay there, except those that are kept to learn from: each worker
#' sends as many rows as are kept in total. Chunks with as many rows as the first are best, since
#' otherwise most are read twice in the first pass. After it each worker is given the source and the
#' fit without rows once and keeps them. A read then sends hyperparameters and the sums of the
#' sites, d (d + 3) / 2 numbers for each basis of d points, and as many come back, up to a few times
#' if the number of workers is not a power of two; `verbose` and `print()` show the bytes. So plans
#' whose workers last are best: `multisession`, `cluster` (with Slurm: the article "Workers and
#' clusters" of the website) and `future.mirai::mirai_multisession`. Those that start R for each
#' task, as package future.callr does, are given everything each time.
#'
#' Objects and functions of your workspace that are named in the function, in the formula or in
#' arguments such as `subset`, [kernel_custom()] and [lik_custom()] are sent with the source, and
#' those that they name in turn. So a function that takes its chunks out of a data frame of the
#' workspace sends all rows of it to each worker; let it read a file instead. A package that you
#' have attached is attached there if the code uses a name of it. Workers read with your values of
#' the options `contrasts`, `na.action`, `OutDec`, `scipen`, `digits` and `encoding`. Other options
#' are not sent, nor are objects that no name in the code shows, as with `get(paste0("d", i))` and
#' S3 methods of the workspace. A connection, or another object that exists in one process alone, is
#' an error, and so are objects of more than `getOption("future.globals.maxSize")` bytes, by default
#' 500 MiB. A worker's own workspace and options are restored after each task.
#'
#' Sums are added in an order that does not depend on the workers, so the numbers do not, either.
#' The chunks of a worker that is lost are read again by the main process, with a warning. An answer
#' of another version of the package is an error, before it is added up. Sites go through files,
#' which all workers have to see: for workers on other machines let `TMPDIR` be a folder that all
#' share. A function that reads a database opens its own connection.
#'
#' @param x A function that takes a whole number i and returns chunk i as a data frame; a
#'   connection of package DBI; a lazy table of dbplyr; or names of Parquet files, or of a folder of
#'   them, of which each is a chunk (package nanoparquet or arrow), or an Arrow dataset of such
#'   files, of which columns in the names of folders (`year=2024`) are read, too.
#' @param chunks For a function: the number of chunks, a whole number. `NULL`: chunks are read until
#'   the function returns `NULL`, or 100 data frames without rows in succession.
#' @param table,query For a connection: the name of a table (a string, or `DBI::Id()` for one in a
#'   schema), or a query.
#' @param size For a database: rows in a chunk, a whole number of at least 1.
#' @param hold Size of a generation of sites, in numbers, up to which it is kept in memory, see
#'   "Sites"; at least 0, or `Inf`.
#' @param ... Not used; unknown arguments are an error.
#' @return A value of class `sparsegp_source`. Errors, of class `sparsegp_error`: a package that is
#'   not installed; neither or both of `table` and `query`; and when rows are read, a connection
#'   that is closed or busy, a table that is not there or a query that fails, with the driver's
#'   message.
#' @seealso [shards], for rows that must not leave the machines where they are.
#' @examples
#' rows <- function(i) {
#'   set.seed(i)
#'   x <- runif(500, -2, 2)
#'   data.frame(x = x, y = sin(3 * x) + 0.2 * rnorm(500))
#' }
#' source <- row_source(rows, chunks = 8)
#' fit <- sparsegp(y ~ x, source, method = method_ep(size = 15), learn = learn_control(rows = 300))
#' fit
#' total <- 0
#' predict(fit, source, to = function(answer, i) total <<- total + length(answer))
#' total
#' @examplesIf requireNamespace("RSQLite", quietly = TRUE)
#' con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
#' DBI::dbWriteTable(con, "cars", cars)
#' fit <- sparsegp(dist ~ speed, row_source(con, "cars", size = 20))
#' DBI::dbDisconnect(con)
#' @export
row_source <- function(x, ...) UseMethod("row_source")

#' @export
row_source.default <- function(x, ...) {
  stop_sparsegp("x", paste0("is of class ", class(x)[1L], ", from which rows cannot be read"),
                "Give a function, a DBI connection with `table`, a lazy table, or Parquet files")
}

#' @rdname row_source
#' @usage \method{row_source}{function}(x, chunks = NULL, hold = 5e+06, ...)
#' @export
row_source.function <- function(x, chunks = NULL, hold = 5e6, ...) {
  check_no_dots(...)
  refuse_if(!is.primitive(x) && length(formals(x)) == 0L, "x", "is a function without arguments",
            CHUNK_FUNCTION)
  new_source("a function", if (is.null(chunks)) NA_integer_ else check_count(chunks, "chunks"),
             function() list(read = read_by(x), close = function() NULL),
             apart = !is.null(chunks), hold)
}

CHUNK_FUNCTION <- paste("It takes the number of a chunk, 1 and so on, and returns the rows of that",
                        "chunk as a data frame")

# Returns a function that reads chunk i by a user's function, and whose errors name the chunk.
read_by <- function(chunk_of) {
  force(chunk_of)
  function(i) {
    tryCatch(chunk_of(i), error = function(e) {
      if (inherits(e, "sparsegp_error")) stop(e)
      stop_sparsegp("x", paste0("is a function that has stopped at chunk ", i, ": ",
                                conditionMessage(e)), CHUNK_FUNCTION)
    })
  }
}

#' @rdname row_source
#' @export
row_source.DBIConnection <- function(x, table = NULL, query = NULL, size = 50000, hold = 5e6,
                                     ...) {
  check_no_dots(...)
  refuse_if(is.null(table) == is.null(query), "table", "or `query` is needed, and one of them only")
  if (!is.null(table)) check_table(table)
  else if (!is_text(query)) stop_sparsegp("query", "must be one query, a character string")
  size <- check_count(size, "size")
  argument <- if (is.null(table)) "query" else "table"
  if (is.null(query)) query <- table_query(x, table)
  named <- if (inherits(table, "Id")) paste(table@name, collapse = ".") else as.character(table)
  label <- if (is.null(table)) "a query" else paste("table", named)
  of_query <- function(query, only = NULL) {
    new_source(label, NA_integer_, function() query_reader(x, query, size, argument),
               apart = FALSE, hold, only)
  }
  of_query(query, only = if (!is.null(table)) {
    function(names) of_query(table_query(x, table, names))
  })
}

#' @rdname row_source
#' @export
row_source.tbl_sql <- function(x, size = 50000, hold = 5e6, ...) {
  check_no_dots(...)
  need_package("dbplyr", "lazy tables")
  row_source.DBIConnection(dbplyr::remote_con(x), query = dbplyr::remote_query(x), size = size,
                           hold = hold)
}

#' @rdname row_source
#' @export
row_source.character <- function(x, hold = 5e6, ...) {
  check_no_dots(...)
  folder <- length(x) == 1L && dir.exists(x)
  refuse_if(!folder && any(dir.exists(x)),
            "x", paste("are several names, and a folder among them:", x[dir.exists(x)][1L]),
            "Give one folder, or the names of Parquet files, as list.files() gives them")
  files <- if (!folder) x
           else sort(list.files(x, "[.]parquet$", recursive = TRUE, full.names = TRUE))
  files <- files_there(files) # what is wrong with them is said before a package is asked for
  parquet_source(files, hold)
}

files_there <- function(files) {
  if (length(files) && all(file.exists(files))) return(normalizePath(files))
  stop_sparsegp("x", "names no existing Parquet files",
                "Give a folder with Parquet files, or the names of such files")
}

# folders: NULL, or a data frame of columns that the files do not have, with a row for each file
parquet_source <- function(files, hold, folders = NULL) {
  force(folders) # an error of it is one of row_source()
  if (!requireNamespace("nanoparquet", quietly = TRUE)) need_package("arrow", "Parquet files")
  of_columns <- function(names = NULL) {
    read <- function(i) {
      rows <- as.data.frame(parquet_call(files[i], read_columns_of_parquet(files[i], names)))
      for (name in intersect(names(folders), names %||% names(folders))) {
        rows[[name]] <- rep(folders[[name]][i], nrow(rows))
      }
      rows
    }
    new_source(paste("Parquet,", counted(length(files), "file")), length(files),
               function() list(read = read, close = function() NULL), apart = TRUE, hold,
               only = of_columns)
  }
  of_columns()
}

# Passes on the reader's words, with the file's name.
parquet_call <- function(file, expr) {
  tryCatch(expr, error = function(e) {
    said <- strsplit(conditionMessage(e), "\n", fixed = TRUE)[[1L]][1L]
    said <- sub("( @ |,? (invalid|possibly corrupt) Parquet file).*", "", said)
    refuse_if(!file.exists(file), "x", paste("has a file that no longer exists:", file),
              "Create the source again from the files that exist")
    stop_sparsegp("x", paste0("has a file that cannot be read as Parquet: ", file, " (", said, ")"),
                  paste("Write it again or leave it out; if another package, such as arrow, can",
                        "read it, give a function that reads a chunk by that"))
  })
}

# Reads columns as they are called for. Older versions of nanoparquet read all columns.
# Reads the columns of these names alone, if the file has some of them.
read_columns_of_parquet <- function(file, names) {
  arrow <- !requireNamespace("nanoparquet", quietly = TRUE)
  read <- if (arrow) arrow::read_parquet else nanoparquet::read_parquet
  if (is.null(names) || !"col_select" %in% names(formals(read))) return(read(file))
  kept <- intersect(parquet_columns(file), names)
  if (length(kept)) do.call(read, list(file, col_select = kept)) else read(file)
}

parquet_columns <- function(file) {
  if (requireNamespace("nanoparquet", quietly = TRUE)) nanoparquet::read_parquet_schema(file)$name
  else names(arrow::open_dataset(file))
}

#' @export
row_source.FileSystemDataset <- function(x, hold = 5e6, ...) {
  check_no_dots(...)
  refuse_if(x$format$type != "parquet",
            "x", paste("is an Arrow dataset of", x$format$type, "files"),
            "Write it as Parquet files, or give a function that reads a chunk")
  files <- files_there(x$files)
  lacking <- setdiff(x$schema$names, parquet_call(files[1L], parquet_columns(files[1L])))
  parquet_source(files, hold, folders_as_columns(x, lacking))
}

# Returns a data frame of these columns of an Arrow dataset, which are in the names of the folders,
# "year=2024", with a row for each file.
folders_as_columns <- function(dataset, names) {
  text <- lapply(stats::setNames(nm = names), text_in_folders, dataset$files)
  unnamed <- names[vapply(text, anyNA, NA)]
  refuse_if(length(unnamed), "x",
            paste("is an Arrow dataset whose files and folders lack its columns",
                  toString(unnamed)),
            "Name folders column=value, or write the columns into the files")
  columns <- lapply(names, function(name) {
    value <- replace(text[[name]], text[[name]] == "__HIVE_DEFAULT_PARTITION__", NA)
    type <- dataset$schema$GetFieldByName(name)$type$ToString()
    if (grepl("string|dictionary", type)) value else utils::type.convert(value, as.is = TRUE)
  })
  if (length(columns)) list2DF(stats::setNames(columns, names))
}

# Returns what stands behind "name=" in the path of each file; NA: nothing does.
text_in_folders <- function(name, files) {
  begin <- paste0(name, "=")
  vapply(strsplit(dirname(files), "/", fixed = TRUE), function(folders) {
    own <- folders[startsWith(folders, begin)]
    if (length(own)) utils::URLdecode(substring(own[1L], nchar(begin) + 1L)) else NA_character_
  }, "")
}

need_package <- function(package, what) {
  if (requireNamespace(package, quietly = TRUE)) return(invisible())
  stop_sparsegp("x", paste0("needs package ", package, " for ", what),
                paste0("install.packages(\"", package, "\")"))
}

#' @export
print.sparsegp_source <- function(x, ...) {
  check_source(x)
  cat("<rows> ", x$label, if (!is.na(x$chunks)) paste0(", ", counted(x$chunks, "chunk")), "\n",
      sep = "")
  invisible(x)
}

# Returns `data` as a source, if it is one or a table that can be made one; else NULL.
as_source <- function(data) {
  if (inherits(data, "sparsegp_source")) return(check_source(data))
  if (inherits(data, c("tbl_sql", "FileSystemDataset"))) row_source(data)
}
