# Reads the rows of a query of a database in chunks: readers of a source (data-source.R).

# Returns the query of a table's rows, of the columns of these names alone if it has some of them.
table_query <- function(con, table, names = NULL) {
  database_call({
    kept <- if (!is.null(names)) intersect(DBI::dbListFields(con, table), names)
    columns <- if (length(kept)) toString(DBI::dbQuoteIdentifier(con, kept)) else "*"
    paste("SELECT", columns, "FROM", DBI::dbQuoteIdentifier(con, table))
  }, "table")
}

check_table <- function(table) {
  named <- inherits(table, c("Id", "SQL")) || is.character(table) && !anyNA(table)
  if (named && (inherits(table, "Id") || length(table) == 1L)) return(invisible())
  stop_sparsegp("table", "must be the name of one table",
                "Name one of a schema by DBI::Id(schema = , table = ); join tables in a `query`")
}

# Reads the rows of a query in chunks.
query_reader <- function(con, query, size, argument) {
  refuse_if(!DBI::dbIsValid(con), "x", "is a connection that is closed",
            "Open it again, and create the source again")
  # a table that is not there is an error by itself, not one of dispatch on the query
  withCallingHandlers(force(query), warning = refuse_open_result)
  rows_of_query(con, query, size, argument)
}

# Returns list(read, close) of a source's reader. While rows are read the connection is taken: most
# drivers have one result at a time, and close it, with a warning, when they are asked for another.
rows_of_query <- function(con, query, size, argument) UseMethod("rows_of_query")

#' @export
rows_of_query.default <- function(con, query, size, argument) {
  result <- withCallingHandlers(
    database_call(DBI::dbSendQuery(con, query), argument), warning = refuse_open_result
  )
  done <- FALSE
  list(read = function(i) {
    if (done) return(NULL)
    check_result_is_there(result)
    rows <- database_call(DBI::dbFetch(result, size), argument)
    done <<- DBI::dbHasCompleted(result)
    rows
  }, close = function() if (DBI::dbIsValid(result)) DBI::dbClearResult(result))
}

# The driver of PostgreSQL takes all of a result to the client before it gives the first row, so
# rows are fetched from a cursor of the server, which lives as long as a transaction. Scans of a
# large table would begin where another's is just then, and the order of rows would change.
#' @export
rows_of_query.PqConnection <- function(con, query, size, argument) {
  run <- function(command) database_call(DBI::dbExecute(con, command), argument)
  own <- begin_transaction(con, argument)
  close <- function() if (own && DBI::dbIsValid(con)) try(DBI::dbRollback(con), silent = TRUE)
  tryCatch({
    run("SET LOCAL synchronize_seqscans TO off")
    run(paste("DECLARE sparsegp_rows NO SCROLL CURSOR FOR", query))
  }, error = function(e) {
    close()
    stop(e)
  })
  fetch <- paste("FETCH FORWARD", format(size, scientific = FALSE), "FROM sparsegp_rows")
  done <- FALSE
  list(read = function(i) {
    if (done) return(NULL)
    rows <- database_call(DBI::dbGetQuery(con, fetch), argument)
    done <<- nrow(rows) < size
    rows
  }, close = function() {
    if (!own) try(DBI::dbExecute(con, "CLOSE sparsegp_rows"), silent = TRUE)
    close()
  })
}

# The driver of DuckDB has all rows of a result in memory, unless they come as a stream of Arrow's,
# which package nanoarrow reads. Texts of an enumeration are factors, as without the stream.
#' @export
rows_of_query.duckdb_connection <- function(con, query, size, argument) {
  streams <- requireNamespace("nanoarrow", quietly = TRUE) &&
    "dbSendQueryArrow" %in% getNamespaceExports("DBI") # since DBI 1.2
  if (!streams) return(NextMethod())
  send <- getExportedValue("DBI", "dbSendQueryArrow")
  fetch <- getExportedValue("DBI", "dbFetchArrowChunk")
  # a data frame without rows, whose columns have the types that the driver gives them
  types <- database_call(DBI::dbGetQuery(con, paste("SELECT * FROM (", query, ") LIMIT 0")),
                         argument)
  result <- database_call(send(con, query), argument)
  list(read = function(i) {
    check_result_is_there(result)
    chunk <- database_call(fetch(result, chunk_size = size), argument)
    rows <- nanoarrow::convert_array(chunk, to = types)
    if (nrow(rows)) rows
  }, close = function() if (DBI::dbIsValid(result)) DBI::dbClearResult(result))
}

# Begins a transaction, unless the user has begun one; returns whether it was begun.
begin_transaction <- function(con, argument) {
  withCallingHandlers(tryCatch({
    DBI::dbBegin(con)
    TRUE
  }, error = function(e) {
    if (!grepl("[Nn]ested|already", conditionMessage(e))) database_call(stop(e), argument)
    FALSE
  }), warning = refuse_open_result)
}

# Passes on the driver's messages. Warnings are let through.
database_call <- function(expr, argument) {
  tryCatch(expr, error = function(e) {
    if (inherits(e, "sparsegp_error")) stop(e)
    said <- trimws(conditionMessage(e))
    stop_sparsegp(argument, paste0("cannot be read: ", said),
                  if (grepl(LOST_CONNECTION, said, ignore.case = TRUE)) {
                    paste("Connect again and create the source again; a fit that was given a",
                          "`checkpoint` continues from it")
                  } else "Check the name of the table, the query and the connection")
  })
}

# Matches what drivers say of a connection that is gone; RMariaDB has no words for a result that
# was cut off.
LOST_CONNECTION <- paste("server closed the connection|connection.*(lost|closed|gone|reset|killed)",
                         "terminating connection|no connection|server has gone away",
                         "lost connection|^\\[0\\]$",
                         "could not (send|receive)", sep = "|")

# The warning comes before the driver closes a result that somebody has open: it stays so.
refuse_open_result <- function(w) {
  if (!grepl("open result|previous query|pending rows", conditionMessage(w))) return(invisible())
  stop_sparsegp("x", "is a connection with a result open, which reading rows would close",
                "Fetch and clear it before, or open another connection for the rows")
}

check_result_is_there <- function(result) {
  if (DBI::dbIsValid(result)) return(invisible())
  stop_sparsegp("x", "is a connection that was used for something else while its rows were read",
                paste("Open a second connection to write by (SQLite lets it write meanwhile in its",
                      "journal_mode WAL only), or keep what is to be written until the end"))
}
