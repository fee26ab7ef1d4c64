# Sources at their edges: chunks without rows, busy connections, responses of two latent values.

r_code_alone()

test_that("a source ends with chunks without rows, and may have some within", {
  slow_tier()
  d <- source_data()
  d <- d[!is.na(d$a) & !is.na(d$y), ]
  points <- source_points(source_data())
  gaps <- c(1L, 4L, 5L, 6L) # of the chunks these have no rows
  rows_of <- function(i) if (i %in% gaps) 0L else (sum(!seq_len(i) %in% gaps) - 1L) * 40L + 1:40
  one <- function(end, none) {
    row_source(function(i) {
      rows <- rows_of(i)
      if (all(rows == 0L) || rows[1L] > nrow(d)) return(if (rows[1L] == 0L) none else end)
      d[rows[rows <= nrow(d)], ]
    })
  }
  whole <- source_fit(c ~ a + b, d, lik_probit(fixed(0.1)), basis = points)
  # what readers give at the end, again and again, and in the midst of rows
  for (end in list(d[0L, ], data.frame(), NULL)) {
    for (none in list(d[0L, ], data.frame())) {
      read <- source_fit(c ~ a + b, one(end, none), lik_probit(fixed(0.1)), basis = points)
      expect_same_fold(whole, read)
    }
  }
  source <- one(d[0L, ], data.frame())
  given <- 0
  count <- predict(whole, source, to = function(answer, i) given <<- given + length(answer))
  expect_identical(count, as.numeric(nrow(d)))
  expect_identical(given, as.numeric(nrow(d)))
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  predict(whole, source, to = file)
  expect_identical(dim(utils::read.csv(file)), c(nrow(d), 1L))
  stream <- sparsegp(c ~ a + b, source, "probit", kernel = kernel_rbf(1.5, 1), learn = FALSE,
                     method = method_online(size = 6, pilot = 20))
  expect_equal(nobs(stream), nobs(whole))
  expect_equal(nobs(update(stream, source)), 2 * nobs(whole))
  expect_error(sparsegp(y ~ a, row_source(function(i) d[0L, ])), "no complete rows",
               class = "sparsegp_error")
})

test_that("where a source says how many chunks it has, all of them are read", {
  d <- source_data()[1:80, ]
  late <- row_source(function(i) if (i <= 150L) d[0L, ] else d[seq(40 * i - 6039, 40 * i - 6000), ],
                     chunks = 152L)
  fit <- sparsegp(k ~ a, late, "poisson", kernel = kernel_rbf(1.5, 1), learn = FALSE)
  expect_identical(nobs(fit), sum(!is.na(d$a)))
})

test_that("spreads, mixtures and vectors of a source are those of a data frame", {
  slow_tier()
  at <- seq_len(60L)
  d <- data.frame(a = 4 * (at * 0.7548777) %% 1 - 2, b = 6 * (at * 0.5698403) %% 1, o = at %% 5)
  d$y <- 3 + sin(2 * d$a) + exp(d$b / 4) * 0.3 * cos(17 * at) + d$o
  means <- cbind(u = sin(d$b) + 2, v = cos(d$a))
  d[c("u", "v")] <- as.data.frame(means)
  d$z <- mixture(c(0.55, 0.45), list(means, -means), 0.01)
  points <- cbind(expand.grid(a = c(-1.5, 0, 1.5), b = c(1, 4)), o = 0)
  one <- fixed(1.5)
  both <- kernel_coregion(kernel_rbf(lengthscale = one), rank = 0, variance = fixed(c(5, 0.3)))
  cases <- list(
    list(y ~ a + b + offset(o), lik_heteroscedastic(fixed(0.5)), kernel = both),
    list(z ~ a + b, NULL, kernel = kernel_helmholtz(kernel_rbf(one, one), kernel_rbf(one, one))),
    list(cbind(u, v) ~ a + b, lik_gaussian(fixed(0.1), covariance = "spherical"), kernel = both)
  )
  source <- chunks_of(d, c(0L, 1L, 25L, 60L))
  for (case in cases) {
    # sweeps over all rows on given points; and the rows kept, where these are all
    for (more in list(list(basis = points), list(method = method_ep(6), learn = FALSE),
                      list(learn = FALSE))) {
      fit <- function(data) {
        set.seed(3) # EP of mixtures begins with rows in a random order
        do.call(source_fit, c(list(case[[1L]], data), case[-1L], more))
      }
      whole <- fit(d)
      read <- fit(source)
      expect_equal(read$response[c("centre", "unit")], whole$response[c("centre", "unit")],
                   tolerance = 1e-12)
      if (!is.null(more$basis)) expect_same_fold(whole, read)
      expect_same_answers(whole, read, d[c(2L, 40L, 59L), ])
    }
  }
  expect_error(sparsegp(y ~ a, source, lik_heteroscedastic(), method = method_ivm(8)),
               "one value at a time", class = "sparsegp_error")
})

test_that("learned spreads, mixtures and vectors of a source are those of a data frame", {
  slow_tier()
  at <- seq_len(54L)
  d <- data.frame(a = 4 * (at * 0.7548777) %% 1 - 2, b = 6 * (at * 0.5698403) %% 1)
  d$y <- 3 + sin(2 * d$a) + exp(d$b / 4) * 0.3 * cos(17 * at)
  means <- cbind(u = sin(d$b) + 2 + 0.1 * cos(11 * at), v = cos(d$a) + 0.1 * cos(13 * at))
  d$z <- mixture(c(0.55, 0.45), list(means, -means), 0.01)
  d[c("u", "v")] <- as.data.frame(means)
  points <- expand.grid(a = c(-1.5, 0, 1.5), b = c(1, 4))
  source <- chunks_of(d, c(0L, 1L, 30L, 54L))
  cases <- list(list(y ~ a + b, likelihood = lik_heteroscedastic()),
                list(z ~ a + b, kernel = kernel_helmholtz()), list(cbind(u, v) ~ a + b))
  more <- list(list(basis = points), list(method = method_ep(6)), list())
  for (k in seq_along(cases)) {
    case <- cases[[k]]
    for (more in more[-k]) {
      fit <- function(data) {
        set.seed(3)
        suppressWarnings(do.call(sparsegp, c(case[1L], list(data), case[-1L], more,
                                             list(control = gp_control(integrate = "none")))))
      }
      # a search stops within 2e-8 of the evidence, and rounding decides where
      expect_same_answers(fit(d), fit(source), d[c(2L, 40L, 53L), ], tolerance = 1e-5)
    }
  }
})

with_sqlite <- function(use, file = ":memory:") {
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), file)
  on.exit(DBI::dbDisconnect(con))
  use(con)
}

test_that("what is wrong with a database is said with the driver's words", {
  memory_tier()
  d <- stats::na.omit(source_data(300L))[1:80, ]
  with_sqlite(function(con) {
    DBI::dbWriteTable(con, "t", d)
    fit <- function(...) {
      sparsegp(y ~ a, row_source(con, ..., size = 30), kernel = kernel_rbf(1, 1), learn = FALSE)
    }
    expect_identical(nobs(fit("t")), nrow(d))
    expect_identical(nobs(fit(DBI::Id(schema = "main", table = "t"))), nrow(d))
    expect_error(fit("nix"), "`table` cannot be read: .*no such table", class = "sparsegp_error")
    said <- tryCatch(fit("nix"), error = conditionMessage)
    expect_match(said, "^`table` cannot be read: no such table: nix[.]\nCheck") # nothing of R's
    expect_error(fit(query = "SELEC * FROM t"), "`query` cannot be read: .*syntax error",
                 class = "sparsegp_error")
    for (table in list(c("a", "t"), character(), NA_character_, 7)) {
      expect_error(row_source(con, table), "name of one table", class = "sparsegp_error")
    }
    for (query in list(c("SELECT 1", "SELECT 2"), NA_character_, 7)) {
      expect_error(row_source(con, query = query), "one query", class = "sparsegp_error")
    }
    other <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
    source <- row_source(other, "t")
    DBI::dbDisconnect(other)
    expect_error(sparsegp(y ~ a, source), "closed", class = "sparsegp_error")
  })
})

test_that("a Parquet file that cannot be read is named", {
  skip_if_not_installed("nanoparquet")
  d <- stats::na.omit(source_data(300L))[1:80, ]
  folder <- tempfile("rows-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  files <- file.path(folder, c("a.parquet", "b.parquet"))
  nanoparquet::write_parquet(d, files[1L])
  writeLines("this is no Parquet file", files[2L])
  fit <- function(formula, source) sparsegp(formula, source, kernel = kernel_rbf(), learn = FALSE)
  for (formula in c(y ~ a, y ~ .)) {
    expect_error(fit(formula, row_source(folder)),
                 "cannot be read as Parquet: .*b.parquet .*\nWrite it anew",
                 class = "sparsegp_error")
  }
  source <- row_source(folder)
  unlink(files[2L])
  expect_error(fit(y ~ a, source), "no longer exists: .*b.parquet", class = "sparsegp_error")
  expect_error(row_source(c(folder, folder)), "a folder among them", class = "sparsegp_error")
  expect_error(row_source(c(files[1L], folder)), "a folder among them", class = "sparsegp_error")
})

test_that("a connection that is in use is refused, and its result stays open", {
  d <- stats::na.omit(source_data(300L))[1:80, ]
  with_sqlite(function(con) {
    DBI::dbWriteTable(con, "t", d)
    source <- row_source(con, "t", size = 30)
    fit <- sparsegp(y ~ a, source, kernel = kernel_rbf(1, 1), learn = FALSE)
    mine <- DBI::dbSendQuery(con, "SELECT * FROM t")
    expect_identical(nrow(DBI::dbFetch(mine, 5)), 5L)
    expect_error(predict(fit, source, to = function(p, i) NULL), "result open",
                 class = "sparsegp_error")
    expect_identical(nrow(DBI::dbFetch(mine, 5)), 5L)
    DBI::dbClearResult(mine)
    # writing by the connection that rows are read by
    write <- function(p, i) {
      suppressWarnings(DBI::dbWriteTable(con, "p", data.frame(p = p), append = TRUE))
    }
    expect_error(predict(fit, source, to = write), "second connection", class = "sparsegp_error")
    # once all rows are read nobody is in the way
    DBI::dbRemoveTable(con, "p")
    predict(fit, row_source(con, "t"), to = write)
    expect_identical(nrow(DBI::dbReadTable(con, "p")), nrow(d))
  })
})

test_that("a second connection writes while the first reads", {
  memory_tier()
  d <- stats::na.omit(source_data(300L))[1:80, ]
  file <- tempfile()
  on.exit(unlink(paste0(file, c("", "-wal", "-shm"))))
  with_sqlite(function(con) {
    DBI::dbGetQuery(con, "PRAGMA journal_mode = WAL")
    DBI::dbWriteTable(con, "t", d)
    source <- row_source(con, "t", size = 30)
    fit <- sparsegp(y ~ a, source, kernel = kernel_rbf(1, 1), learn = FALSE)
    with_sqlite(function(other) {
      predict(fit, source, to = function(p, i) {
        DBI::dbWriteTable(other, "p", data.frame(p = p), append = TRUE)
      })
    }, file)
    expect_equal(DBI::dbReadTable(con, "p")$p, as.vector(predict(fit, d)))
  }, file)
})

test_that("names of tables, files and columns are names, whatever they would be as commands", {
  memory_tier()
  d <- data.frame(sin(1:40), seq(0, 1, length.out = 40))
  names(d) <- c("y\"; DROP TABLE keep; --", "a'b\\`c\n")
  formula <- eval(bquote(.(as.name(names(d)[1L])) ~ .(as.name(names(d)[2L]))))
  fit <- function(data) sparsegp(formula, data, kernel = kernel_rbf(1, 1), learn = FALSE)
  whole <- predict(fit(d), d[1:3, ])
  # a fit of chunks adds up in another order
  same <- function(source) expect_equal(predict(fit(source), d[1:3, ]), whole, tolerance = 1e-8)
  if (requireNamespace("nanoparquet", quietly = TRUE)) {
    file <- file.path(tempdir(), "it's; $(x) %s.parquet")
    on.exit(unlink(file))
    nanoparquet::write_parquet(d, file)
    same(row_source(file))
  }
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con), add = TRUE)
  DBI::dbWriteTable(con, "keep", cars)
  for (table in c("x\"; DROP TABLE keep; --", "it's", "sel`ect\n", "select", " ", "?1")) {
    DBI::dbWriteTable(con, table, d)
    same(row_source(con, table, size = 15))
  }
  expect_error(fit(row_source(con, "keep; DROP TABLE keep")), "no such table",
               class = "sparsegp_error")
  expect_true(DBI::dbExistsTable(con, "keep"))
})
