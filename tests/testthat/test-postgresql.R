# Rows from PostgreSQL, where the environment names a server as libpq reads it: PGHOST and the like
# (tools/engines/postgresql starts one and runs this).

with_server <- function(use) {
  slow_tier()
  skip_if_not_installed("RPostgres")
  skip_if(!nzchar(Sys.getenv("PGHOST")), "PGHOST names no server of PostgreSQL")
  con <- DBI::dbConnect(RPostgres::Postgres())
  on.exit(DBI::dbDisconnect(con))
  d <- stats::na.omit(source_data())
  DBI::dbWriteTable(con, "rows of mine", d, temporary = TRUE)
  use(con, d)
}

pq_fit <- function(...) {
  sparsegp(y ~ a, row_source(..., size = 70), kernel = kernel_rbf(1, 1), learn = FALSE)
}

test_that("rows come by a cursor, which leaves no transaction behind", {
  with_server(function(con, d) {
    whole <- sparsegp(y ~ a, d, kernel = kernel_rbf(1, 1), learn = FALSE)
    fit <- pq_fit(con, "rows of mine")
    expect_identical(nobs(fit), nrow(d))
    expect_equal(predict(fit, d[1:5, ]), predict(whole, d[1:5, ]), tolerance = 1e-8)
    ours <- "SELECT name FROM pg_cursors WHERE name = 'sparsegp_rows'"
    expect_identical(nrow(DBI::dbGetQuery(con, ours)), 0L)
    DBI::dbBegin(con) # is an error in a transaction
    DBI::dbRollback(con)
  })
})

test_that("a user's transaction stays, with what it has written", {
  with_server(function(con, d) {
    DBI::dbBegin(con)
    DBI::dbExecute(con, 'DELETE FROM "rows of mine" WHERE b > 5')
    fit <- pq_fit(con, "rows of mine")
    expect_identical(nobs(fit), sum(d$b <= 5))
    expect_equal(nobs(pq_fit(con, query = 'SELECT * FROM "rows of mine" ORDER BY b')), nobs(fit))
    DBI::dbRollback(con)
    expect_identical(nobs(pq_fit(con, "rows of mine")), nrow(d))
  })
})

test_that("the server's words are passed on, and the connection is of use afterwards", {
  with_server(function(con, d) {
    expect_error(pq_fit(con, "nix"), "`table` cannot be read: .*nix", class = "sparsegp_error")
    expect_error(pq_fit(con, query = "SELEC 1"), "`query` cannot be read: .*syntax",
                 class = "sparsegp_error")
    expect_identical(nobs(pq_fit(con, "rows of mine")), nrow(d))
    mine <- DBI::dbSendQuery(con, 'SELECT * FROM "rows of mine"')
    expect_error(pq_fit(con, "rows of mine"), "result open", class = "sparsegp_error")
    DBI::dbClearResult(mine)
  })
})
