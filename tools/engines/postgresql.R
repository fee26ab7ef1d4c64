# Run by tools/engines/postgresql, which has started the server. Everything is checked with
# stopifnot(); what was measured is printed.
library(sparsegp)
library(DBI)

ROWS <- as.double(Sys.getenv("SPARSEGP_ROWS"))
CHUNK <- 50000

connect <- function() {
  dbConnect(RPostgres::Postgres(), host = Sys.getenv("SPARSEGP_SOCKET"), user = "sparsegp",
            dbname = "postgres")
}

# Megabytes of this process that are in memory, now or at most
resident <- function(field) {
  line <- grep(paste0("^", field, ":"), readLines("/proc/self/status"), value = TRUE)
  as.double(gsub("[^0-9]", "", line)) / 1024
}

seconds <- function(expr) system.time(expr)[["elapsed"]]

con <- connect()
writer <- connect()

# ---- Rows of every type, and a column that the formula does not name ----

dbExecute(con, "CREATE TYPE shape AS ENUM ('round', 'flat', 'long')")
dbExecute(con, sprintf("
  CREATE TABLE measured AS
  SELECT i::int8 AS id, x, (x * 10)::numeric(12, 4) AS tenth, at, warm, form,
         sin(4 * x) + 0.3 * warm::int + CASE form WHEN 'flat' THEN 0.5 ELSE 0 END
           + 0.2 * (random() + random() + random() + random() - 2) * sqrt(3) AS y,
         repeat('unread ', 4) AS note
  FROM (SELECT i, random() * 3 - 1.5 AS x,
               timestamp '2024-01-01' + i * interval '1 second' AS at, i %% 2 = 0 AS warm,
               (ARRAY['round', 'flat', 'long'])[1 + i %% 3]::shape AS form
        FROM generate_series(1, %.0f) AS i) AS made", ROWS))

few <- dbGetQuery(con, "SELECT * FROM measured ORDER BY id LIMIT 300")
types <- sparsegp(y ~ as.numeric(id) + tenth + warm + form, few, learn = FALSE)
again <- sparsegp(y ~ as.numeric(id) + tenth + warm + form, learn = FALSE,
                  data = row_source(con, query = "SELECT * FROM measured ORDER BY id LIMIT 300"))
stopifnot(all.equal(predict(types, few[1:9, ]), predict(again, few[1:9, ]), tolerance = 1e-8))

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

dbExecute(writer, "CREATE TABLE predicted (fit float8, lwr float8, upr float8)")
dbBegin(writer)
wrote <- seconds(predict(fit, row_source(con, "measured", size = CHUNK), interval = "prediction",
                         to = function(answer, i) {
                           dbAppendTable(writer, "predicted", as.data.frame(answer))
                         }))
dbCommit(writer)
count <- dbGetQuery(con, "SELECT count(*)::float8 AS n FROM predicted")$n
stopifnot(count == ROWS)
most <- resident("VmHWM") - from

# ---- A connection that is lost in the middle ----

checkpoint <- tempfile()
lost <- connect()
pid <- dbGetQuery(lost, "SELECT pg_backend_pid() AS pid")$pid

source <- row_source(lost, "measured", size = CHUNK)
source$only <- NULL # it would make a source anew
reader <- source$reader
source$reader <- function() { # the first sweep after the checkpoint is cut off
  one <- reader()
  list(read = function(i) {
    if (file.exists(checkpoint)) {
      dbGetQuery(writer, sprintf("SELECT pg_terminate_backend(%d)", pid))
      Sys.sleep(0.2)
    }
    one$read(i)
  }, close = one$close)
}
said <- tryCatch(sparsegp(y ~ x + warm + form, source, method = method_ep(size = 50),
                          learn = learn_control(rows = 2000),
                          control = gp_control(checkpoint = checkpoint)),
                 sparsegp_error = conditionMessage)
stopifnot(is.character(said), grepl("checkpoint", said), file.exists(checkpoint))
resumed <- seconds(whole <- fit_all(checkpoint))
new <- data.frame(x = c(-1, 0, 1), warm = TRUE, form = "flat")
stopifnot(all.equal(predict(whole, new), predict(fit, new), tolerance = 1e-6))

cat("| engine | rows | fit, s | predictions written, s | memory above R, MB |",
    "fit from a checkpoint, s |\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
cat(sprintf("| PostgreSQL %s | %.0f | %.1f | %.1f | %.0f | %.1f |\n",
            dbGetQuery(con, "SHOW server_version")[[1L]], ROWS, took, wrote, most, resumed))
dbDisconnect(con)
dbDisconnect(writer)
