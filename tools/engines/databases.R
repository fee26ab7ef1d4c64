# Run by tools/engines/postgresql, mariadb or duckdb, which start a server, if there is one. All is
# checked with stopifnot(); what was measured is printed.
library(sparsegp)
library(DBI)
Sys.setenv(TZ = "UTC") # else one driver asks the system, which may have no clock service

ROWS <- as.double(Sys.getenv("SPARSEGP_ROWS"))
CHUNK <- 50000

ENGINE <- Sys.getenv("SPARSEGP_ENGINE")
SOCKET <- Sys.getenv("SPARSEGP_SOCKET")
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "memory.R"))

# How servers differ. create: statements that make the table `measured` of ROWS rows, of every type,
# with a column that no formula names; session, kill: the number of a connection, and what ends it;
# kill = NULL: it cannot be lost; type: of numbers in a table of predictions
ENGINES <- list(
  postgresql = list(
    name = "PostgreSQL",
    connect = function() {
      dbConnect(RPostgres::Postgres(), host = SOCKET, user = "sparsegp", dbname = "postgres")
    },
    create = c("CREATE TYPE shape AS ENUM ('round', 'flat', 'long')", "
      CREATE TABLE measured AS
      SELECT i::int8 AS id, x, (x * 10)::numeric(12, 4) AS tenth, at, warm, form,
             sin(4 * x) + 0.3 * warm::int + CASE form WHEN 'flat' THEN 0.5 ELSE 0 END
               + 0.2 * (random() + random() + random() + random() - 2) * sqrt(3) AS y,
             repeat('unread ', 4) AS note
      FROM (SELECT i, random() * 3 - 1.5 AS x,
                   timestamp '2024-01-01' + i * interval '1 second' AS at, i % 2 = 0 AS warm,
                   (ARRAY['round', 'flat', 'long'])[1 + i % 3]::shape AS form
            FROM generate_series(1, <rows>) AS i) AS made"),
    session = "SELECT pg_backend_pid() AS id", kill = "SELECT pg_terminate_backend(%d)",
    type = "float8", version = "SHOW server_version"
  ),
  mariadb = list(
    name = "MariaDB",
    connect = function() {
      dbConnect(RMariaDB::MariaDB(), unix.socket = SOCKET, user = "root", dbname = "sparsegp")
    },
    create = c("
      CREATE TABLE measured (id bigint, x double, tenth decimal(12, 4), at datetime, warm boolean,
                             form enum('round', 'flat', 'long'), y double, note varchar(40))", "
      INSERT INTO measured
      SELECT seq, x, x * 10, timestampadd(SECOND, seq, '2024-01-01'), seq % 2 = 0,
             elt(1 + seq % 3, 'round', 'flat', 'long'),
             sin(4 * x) + 0.3 * (seq % 2 = 0) + 0.5 * (seq % 3 = 1)
               + 0.2 * (rand() + rand() + rand() + rand() - 2) * sqrt(3),
             repeat('unread ', 4)
      FROM (SELECT seq, rand() * 3 - 1.5 AS x FROM seq_1_to_<rows>) AS made"),
    session = "SELECT connection_id() AS id", kill = "KILL %d",
    type = "double", version = "SELECT version()"
  ),
  duckdb = list(
    name = "DuckDB",
    connect = function() dbConnect(DUCKDB),
    create = c("SET memory_limit = '100MB'", "SET threads = 1",
               "CREATE TYPE shape AS ENUM ('round', 'flat', 'long')", "
      CREATE TABLE measured AS
      SELECT id, x, (x * 10)::decimal(12, 4) AS tenth,
             timestamp '2024-01-01' + to_seconds(id) AS at, id % 2 = 0 AS warm, form,
             sin(4 * x) + 0.3 * (id % 2 = 0)::int + CASE form WHEN 'flat' THEN 0.5 ELSE 0 END
               + 0.2 * (a + b + c + d - 2) * sqrt(3) AS y,
             repeat('unread ', 4) AS note
      FROM (SELECT i AS id, random() * 3 - 1.5 AS x, random() AS a, random() AS b, random() AS c,
                   random() AS d, (['round', 'flat', 'long'])[1 + i % 3]::shape AS form
            FROM range(1, 1 + <rows>) made(i))"),
    kill = NULL, type = "double", version = "SELECT version()"
  )
)
DUCKDB <- if (ENGINE == "duckdb") {
  duckdb::duckdb(dbdir = file.path(SOCKET, "rows.duckdb"))
}
engine <- ENGINES[[ENGINE]]
connect <- engine$connect

con <- connect()
writer <- connect()

# ---- A table of many rows ----

whole <- format(ROWS, scientific = FALSE)
for (statement in engine$create) dbExecute(con, sub("<rows>", whole, statement, fixed = TRUE))

few <- dbGetQuery(con, "SELECT * FROM measured ORDER BY id LIMIT 9")

# ---- All rows, with bounded memory ----

from <- resident("VmRSS")
fit_all <- function(checkpoint = NULL, connection = con) {
  sparsegp(y ~ x + warm + form, row_source(connection, "measured", size = CHUNK),
           method = method_ep(size = 50), learn = learn_control(rows = 2000),
           control = gp_control(checkpoint = checkpoint))
}
took <- seconds(fit <- fit_all())
stopifnot(nobs(fit) == ROWS, abs(coef(fit)[["noise"]] / 0.04 - 1) < 0.1)

# ---- Predictions are written by a second connection, in one transaction ----

dbExecute(writer, gsub("number", engine$type,
                       "CREATE TABLE predicted (fit number, lwr number, upr number)"))
dbBegin(writer)
wrote <- seconds(predict(fit, row_source(con, "measured", size = CHUNK), interval = "prediction",
                         to = function(answer, i) {
                           dbAppendTable(writer, "predicted", as.data.frame(answer))
                         }))
dbCommit(writer)
count <- dbGetQuery(con, "SELECT count(*) AS n FROM predicted")$n
stopifnot(as.double(count) == ROWS)
most <- resident("VmHWM") - from

# ---- A connection that is lost in the middle ----

# Returns the seconds of the fit that goes on from a checkpoint.
lose_connection <- function() {
  checkpoint <- tempfile()
  lost <- connect()
  session <- as.double(dbGetQuery(lost, engine$session)$id)

  source <- row_source(lost, "measured", size = CHUNK)
  source$only <- NULL # it would make a source anew
  reader <- source$reader
  source$reader <- function() { # the first sweep after the checkpoint is cut off
    one <- reader()
    list(read = function(i) {
      if (file.exists(checkpoint)) {
        try(dbGetQuery(writer, sprintf(engine$kill, as.integer(session))), silent = TRUE)
        Sys.sleep(0.2)
      }
      one$read(i)
    }, close = one$close)
  }
  said <- tryCatch(sparsegp(y ~ x + warm + form, source, method = method_ep(size = 50),
                            learn = learn_control(rows = 2000),
                            control = gp_control(checkpoint = checkpoint)),
                   sparsegp_error = conditionMessage)
  stopifnot(is.character(said), grepl("`checkpoint`", said), file.exists(checkpoint))
  resumed <- seconds(whole <- fit_all(checkpoint))
  stopifnot(all.equal(predict(whole, few), predict(fit, few), tolerance = 1e-6))
  resumed
}
resumed <- if (is.null(engine$kill)) "" else sprintf("%.1f", lose_connection())

# ---- Rows of every type, and a column that no formula names ----

source(file.path(here, "types.R"))
literals <- vapply(text, function(column) {
  ifelse(is.na(column), "NULL", paste0("'", column, "'"))
}, character(N))
quoted <- function(names) as.character(dbQuoteIdentifier(con, names)) # DuckDB has a word `at`
for (statement in c(
  paste0("CREATE TABLE typed (place int, ",
         toString(paste(quoted(names(types$columns)), types$columns)), ")"),
  types$before,
  paste0("INSERT INTO typed (place, ", toString(quoted(colnames(literals))), ") VALUES ",
         toString(paste0("(", seq_len(N), ", ", apply(literals, 1L, toString), ")"))),
  types$after
)) dbExecute(con, statement)

# A column that the server refuses to read; DuckDB runs a subquery whether it is asked for or not.
refused <- "(SELECT i FROM (SELECT 1 AS i UNION SELECT 2) AS two WHERE i < 3 + place)"
if (ENGINE == "duckdb") refused <- "CASE WHEN place > 1 THEN error('refused') END"
dbExecute(con, paste("CREATE VIEW failing AS SELECT typed.*,", refused, "AS note FROM typed"))
stopifnot(is.null(tryCatch(dbGetQuery(con, "SELECT note FROM failing"), error = function(e) NULL)))

typed <- row_source(con, "typed", size = 70)
check_values(chunks_of(typed, 4L))
check_fits(typed)
check_unread(row_source(con, "failing", size = 70), "`table` cannot be read")
cat("types: as written; columns that the formula does not name: not read\n")

cat("| engine | rows | fit, s | predictions written, s | memory above R, MB |",
    "fit from a checkpoint, s |\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
cat(sprintf("| %s %s | %.0f | %.1f | %.1f | %.0f | %s |\n", engine$name,
            dbGetQuery(con, engine$version)[[1L]], ROWS, took, wrote, most, resumed))
stopifnot(most < 300)
dbDisconnect(con)
dbDisconnect(writer)
