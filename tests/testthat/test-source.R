# Rows that are read in chunks: the fit of a source is that of a data frame.

test_that("a source of uneven chunks, late levels and missing values is the fit of all rows", {
  slow_tier()
  d <- source_data()
  points <- source_points(d)
  new <- d[c(3L, 200L, 299L), ]
  cases <- list(list(y ~ a + b + g, lik_gaussian(fixed(0.1))),
                list(k ~ a + g, lik_poisson(fixed(0.2))),
                list(c ~ a + b + g, lik_probit(fixed(0.1))))
  for (case in of_tier(cases, 2L)) {
    whole <- source_fit(case[[1L]], d, case[[2L]], basis = points)
    read <- source_fit(case[[1L]], chunks_of(d), case[[2L]], basis = points)
    expect_same_fold(whole, read)
    expect_same_answers(whole, read, new)
    expect_equal(read$source$loo_lpd, mean(loo_lpd(whole)), tolerance = 1e-10)
    expect_equal(read$source$omitted, length(whole$na.action))
  }
})

test_that("after an ordered factor text and plain factors have its order", {
  memory_tier()
  d <- source_data()[1:60, c("y", "a")]
  d$o <- factor(c("lo", "mid", "hi")[c(seq_len(59L) %% 3L, 0L) + 1L], c("lo", "mid", "hi"),
                ordered = TRUE)
  d <- stats::na.omit(d)
  fit <- function(change) {
    source <- row_source(function(i) {
      chunk <- d[seq(14L * (i - 1L) + 1L, 14L * i), ]
      if (i > 1L) chunk$o <- change(chunk$o)
      chunk
    }, chunks = 4L)
    source_fit(y ~ a + o, source, method = method_ep(6), learn = FALSE)
  }
  ordered <- fit(identity)
  for (change in list(as.character, function(x) factor(as.character(x)))) {
    found <- fit(change)
    expect_identical(found$xlevels, ordered$xlevels)
    expect_identical(found$log_evidence, ordered$log_evidence)
  }
  expect_error(fit(function(x) replace(as.character(x), 1L, "top")), "categories of o .*: top",
               class = "sparsegp_error")
})

test_that("weights, offsets, subsets, several classes and components are read in chunks, too", {
  slow_tier()
  d <- source_data()
  points <- source_points(d)
  weighted <- function(data) {
    sparsegp(y ~ a + g + offset(b / 9), data, lik_gaussian(fixed(0.1)), weights = w,
             subset = b < 7.5, basis = points, kernel = kernel_rbf(fixed(1.5), fixed(1)),
             learn = learn_control(rows = 60))
  }
  expect_same_fold(weighted(d), weighted(chunks_of(d)))
  probit <- lik_probit(fixed(c(0.1, 0, -0.2)))
  d$three <- factor(c("p", "q", "r")[1L + (d$a > 0 & !is.na(d$a)) + (d$b > 6)], c("q", "r", "p"))
  expect_same_fold(source_fit(three ~ a + b, d, probit, basis = points),
                   source_fit(three ~ a + b, chunks_of(d), probit, basis = points))
  d$v <- d$y^2
  d$v[c(30L, 31L)] <- NA
  both <- kernel_coregion(kernel_rbf(lengthscale = fixed(1)), variance = fixed(c(1, 1.2)),
                          correlation = fixed(0.3))
  vectors <- lik_gaussian(variance = fixed(0.1), covariance = "spherical")
  expect_same_fold(source_fit(cbind(y, v) ~ a + b, d, vectors, kernel = both, basis = points),
                   source_fit(cbind(y, v) ~ a + b, chunks_of(d), vectors, kernel = both,
                              basis = points))
})

test_that("the gradient of a source's evidence is that of all rows", {
  memory_tier()
  d <- source_data()
  d <- d[!is.na(d$a) & !is.na(d$y), ]
  for (lik in list(lik_gaussian(fixed(0.1)), lik_probit(fixed(0.1)))) {
    formula <- if (lik$type == "gaussian") y ~ a + g else c ~ a + g
    fit <- source_fit(formula, d, lik, basis = source_points(source_data()))
    recipe <- recipe_of(fit)
    ends <- c(0L, 7L, 100L, nrow(d))
    scan <- scan_source(chunks_of(d, ends), recipe)
    chunked <- new_chunked(scan, without_rows(fit, FALSE), sites_in_memory())
    theta <- fit$hyper$theta + 0.1
    run <- chunked_run(chunked, theta, batch_settings(fit$options), gradient = TRUE)
    problem <- problem_of_new_rows(fit, model_inputs(fit$terms, model.frame(fit$terms, d))$x,
                                fit$data_rows, fit$offset)
    problem$basis <- fit$posterior$basis
    problem$options <- batch_settings(fit$options)
    whole <- engine_run(problem, theta, gradient = TRUE)
    expect_lt(abs(run$logz - whole$logz), 1e-10 * abs(whole$logz))
    expect_lt(max(abs(run$gradient - whole$gradient)), 1e-10 * max(abs(whole$gradient)))
  }
})

test_that("sites in files give the same numbers as in memory, and the files are gone then", {
  slow_tier()
  d <- source_data()
  kept <- c("state", "log_evidence")
  for (lik in list(lik_probit(fixed(0.1)), lik_gaussian(fixed(0.1)))) {
    formula <- if (lik$type == "probit") c ~ a + b else y ~ a + b
    held <- source_fit(formula, chunks_of(d), lik, basis = source_points(d))
    filed <- source_fit(formula, chunks_of(d, hold = 0), lik, basis = source_points(d))
    expect_identical(held[kept], filed[kept])
    expect_length(list.files(tempdir(), "sparsegp-sites"), 0L)
  }
})

test_that("of rows whose sites are exact a second read knows what the first has left of them", {
  d <- source_data()
  fit <- source_fit(y ~ a + b, d, lik_gaussian(fixed(0.1)), basis = source_points(d),
                    mean = "average")
  recipe <- recipe_of(fit)
  scan <- scan_source(chunks_of(d), recipe)
  evidence_with <- function(store) {
    chunked <- new_chunked(scan, without_rows(fit, FALSE), store)
    chunked_run(chunked, fit$hyper$theta, batch_settings(fit$options))$logz
  }
  plain <- evidence_with(NO_STORE)
  # the product that is spared is another order of the same sums
  expect_equal(evidence_with(sites_in_memory()), plain, tolerance = 1e-12)
  tampered <- sites_in_memory()
  untouched <- tampered$read
  tampered$read <- function(...) untouched(...) + 0.1
  expect_gt(abs(evidence_with(tampered) - plain), 1)
})

test_that("a source that changes between sweeps is an error", {
  memory_tier()
  d <- source_data()
  reads <- 0L
  one <- function(change) {
    reads <<- 0L
    row_source(function(i) {
      reads <<- reads + 1L
      rows <- seq(50L * (i - 1L) + 1L, 50L * i)
      if (reads > 9L) change(d[rows, ]) else d[rows, ]
    }, chunks = 4L)
  }
  for (change in list(function(rows) rows[rev(seq_len(nrow(rows))), ],
                      function(rows) rows[-3L, ],
                      function(rows) transform(rows, b = b + c(1e-3, numeric(nrow(rows) - 1L))),
                      function(rows) transform(rows, g = replace(g, 2L, "u")))) {
    expect_error(source_fit(y ~ a + b + g, one(change), lik_gaussian(fixed(0.1)),
                            basis = source_points(d)[1:9, ]),
                 "not what it was", class = "sparsegp_error")
  }
})

test_that("hyperparameters and basis are settled on some rows, for units of all", {
  memory_tier()
  d <- source_data()
  fit <- sparsegp(y ~ a + b, chunks_of(d), kernel = kernel_rbf(), method = method_ep(size = 12),
                  learn = learn_control(rows = 80))
  complete <- d[!is.na(d$a) & !is.na(d$y), ]
  expect_identical(nobs(fit), nrow(complete))
  expect_equal(fit$response$centre, mean(complete$y), tolerance = 1e-12)
  expect_equal(unname(fit$scaling$centre), c(mean(complete$a), mean(complete$b)),
               tolerance = 1e-12)
  expect_identical(fit$source$kept, 80L)
  # points of the basis are rows, by their number among those used
  expect_equal(unname(unscale_kept(basis_points_of(fit), fit$scaling)),
               unname(as.matrix(complete[fit$basis_rows, c("a", "b")])), tolerance = 1e-12)
  # the evidence is that of all rows there
  all <- sparsegp(control = gp_control(like = fit), data = d)
  expect_equal(as.numeric(logLik(all)), as.numeric(logLik(fit)), tolerance = 1e-10)
  expect_output(print(summary(fit)), "basis chosen on 80 rows")
  expect_error(fitted(fit), "in chunks", class = "sparsegp_error")
})

test_that("the IVM's points of some rows bear the sites of all", {
  memory_tier()
  d <- source_data()
  d <- d[!is.na(d$a), ]
  fit <- source_fit(c ~ a + b, chunks_of(d, c(0L, 90L, 297L)), lik_probit(fixed(0.1)),
                    method = method_ivm(12, tol = 1e-12), learn = learn_control(rows = 80))
  expect_identical(nrow(basis(fit)), 12L)
  expect_identical(nobs(fit), nrow(d))
  expect_identical(fit$source$kept, 80L)
  on_points <- source_fit(c ~ a + b, d, lik_probit(fixed(0.1)), basis = basis(fit))
  expect_same_fold(fit, on_points)
})

test_that("rows = Inf goes on with the evidence of all rows", {
  slow_tier()
  n <- 12000L # more than are kept
  at <- seq_len(n)
  d <- data.frame(a = 2 * sin(7 * at))
  d$y <- sin(2 * d$a) + 0.3 * cos(17 * at)
  d$c <- ifelse(sin(2 * d$a) + cos(13 * at) > 0, "yes", "no")
  source <- chunks_of(d, c(0L, 5000L, 11000L, n))
  for (formula in list(y ~ a, c ~ a)) {
    args <- list(formula, source, kernel = kernel_rbf(), method = method_ep(size = 6))
    some <- do.call(sparsegp, args)
    fit <- do.call(sparsegp, c(args, list(learn = learn_control(rows = Inf))))
    expect_true(fit$learning$converged)
    expect_gt(as.numeric(logLik(fit)), as.numeric(logLik(some)))
    expect_lt(max(abs(fit$learning$gradient)), 5)
    expect_false(identical(some$hyper$theta, fit$hyper$theta))
  }
})

test_that("few rows are fitted as a data frame is, without a method, too", {
  slow_tier()
  d <- source_data()[26:120, ]
  # of a source hyperparameters are never integrated out
  whole <- sparsegp(y ~ a + b, d, control = gp_control(integrate = "none"))
  read <- sparsegp(y ~ a + b, row_source(function(i) d[seq(19 * i - 18, 19 * i), ], chunks = 5))
  # learned from starts that differ by rounding: to where the search stops
  expect_equal(as.numeric(logLik(read)), as.numeric(logLik(whole)), tolerance = 1e-6)
  expect_length(fitted(read), length(fitted(whole)))
})

test_that("predictions for a source go to a function or a file", {
  memory_tier()
  d <- source_data()
  fit <- source_fit(y ~ a + b, d, lik_gaussian(fixed(0.1)), basis = source_points(d))
  seen <- numeric()
  rows <- predict(fit, chunks_of(d), to = function(answer, i) seen <<- c(seen, answer))
  expect_identical(rows, 300)
  expect_equal(unname(seen), unname(predict(fit, d)), tolerance = 1e-12)
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  predict(fit, chunks_of(d), se.fit = TRUE, interval = "prediction", to = file)
  wanted <- predict(fit, d, se.fit = TRUE, interval = "prediction")
  read <- utils::read.csv(file)
  expect_equal(read$fit.upr, unname(wanted$fit[, "upr"]), tolerance = 1e-12)
  expect_equal(read$se.fit, unname(wanted$se.fit), tolerance = 1e-12)
  expect_error(predict(fit, chunks_of(d)), "`to`", class = "sparsegp_error")
  expect_error(predict(fit, d, to = file), "`to`", class = "sparsegp_error")
})

test_that("covariances of a row's components are columns of a file", {
  memory_tier()
  d <- stats::na.omit(source_data())[1:90, ]
  d$v <- cos(d$a)
  fit <- sparsegp(cbind(y, v) ~ a + b, d[1:30, ], kernel = kernel_coregion(kernel_rbf()),
                  method = method_ep(size = 5), learn = FALSE)
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  source <- chunks_of(d, c(0L, 1L, 40L, 90L))
  for (interval in c("none", "prediction")) {
    predict(fit, source, se.fit = TRUE, interval = interval, to = file)
    wanted <- predict(fit, d, se.fit = TRUE, interval = interval)
    read <- utils::read.csv(file)
    pairs <- list(y.y = c(1, 1), y.v = c(1, 2), v.v = c(2, 2))
    expect_identical(names(read)[-seq_len(ncol(read) - 3L)], paste0("covariance.", names(pairs)))
    for (name in names(pairs)) {
      pair <- pairs[[name]]
      expect_equal(read[[paste0("covariance.", name)]],
                   unname(wanted$covariance[pair[1L], pair[2L], ]), tolerance = 1e-12)
    }
    last <- if (interval == "none") wanted$fit[, "v"] else wanted$fit[, "upr", "v"]
    expect_equal(read[[if (interval == "none") "fit.v" else "fit.upr.v"]], unname(last),
                 tolerance = 1e-12)
  }
  one <- sparsegp(y ~ a, d[1:30, ], kernel = kernel_rbf(), learn = FALSE)
  expect_error(predict(one, source, covariance = TRUE, to = file), "`covariance` is a matrix",
               class = "sparsegp_error")
  expect_identical(predict(one, source, covariance = TRUE, to = function(answer, i) NULL), 90)
})

test_that("a stream of a source is the stream of its rows", {
  memory_tier()
  d <- source_data()
  method <- method_online(size = 10, pilot = 40)
  for (formula in of_tier(list(y ~ a + b, c ~ a + g), 1L)) {
    # a late level is none where all are known: as a factor of all rows has them
    e <- transform(d, g = factor(g), c = factor(c))
    whole <- sparsegp(formula, e, kernel = kernel_rbf(1.5, 1), method = method, learn = FALSE)
    read <- sparsegp(formula, chunks_of(d), kernel = kernel_rbf(1.5, 1), method = method,
                     learn = FALSE)
    expect_identical(nobs(read), nobs(whole))
    expect_equal(as.numeric(logLik(read)), as.numeric(logLik(whole)), tolerance = 1e-10)
    half <- sparsegp(formula, e[1:185, ], kernel = kernel_rbf(1.5, 1), method = method,
                     learn = FALSE)
    more <- update(half, chunks_of(e, c(185L, 200L, 300L)))
    expect_equal(as.numeric(logLik(more)), as.numeric(logLik(whole)), tolerance = 1e-10)
  }
})

test_that("a fit like another is made of a source's rows, and one on a basis takes them", {
  memory_tier()
  d <- source_data()
  fit <- source_fit(y ~ a + g, d[c(1:100, 296:300), ], lik_gaussian(fixed(0.1)),
                    basis = source_points(d))
  rest <- d[101:295, ]
  like <- sparsegp(control = gp_control(like = fit), data = rest)
  expect_same_fold(like, sparsegp(control = gp_control(like = fit),
                                  data = chunks_of(rest, c(0L, 90L, 195L))))
  expect_same_fold(merge(fit, like), update(fit, chunks_of(rest, c(0L, 90L, 195L))))
})

# A table, a query and a lazy table of dbplyr are the rows that are in them.
expect_database <- function(con, d, whole) {
  DBI::dbWriteTable(con, "rows of mine", d, temporary = TRUE, overwrite = TRUE)
  query <- 'SELECT * FROM "rows of mine" WHERE b > 0 ORDER BY b'
  sources <- list(row_source(con, "rows of mine", size = 70),
                  row_source(con, query = query, size = 100))
  if (requireNamespace("dbplyr", quietly = TRUE)) {
    sources$lazy <- dplyr::tbl(con, "rows of mine")
  }
  for (source in sources) {
    expect_same_fold(whole, source_fit(c ~ a + g, source, lik_probit(fixed(0.1)),
                                       basis = source_points(source_data())))
  }
}

# A source that appends the columns of each chunk to `read`, an environment's vector.
noting_columns <- function(source, read) {
  reader <- source$reader
  only <- source$only
  source$reader <- function() {
    one <- reader()
    one$of_chunk <- one$read
    one$read <- function(i) {
      chunk <- one$of_chunk(i)
      read$names <- union(read$names, names(chunk))
      chunk
    }
    one
  }
  source$only <- function(names) noting_columns(only(names), read)
  source
}

expect_only_named_columns <- function(rows, source) {
  read <- new.env()
  source <- noting_columns(source, read)
  fit_of <- function(formula, ...) sparsegp(formula, ..., learn = FALSE)
  fit <- fit_of(y ~ x, source, weights = w, subset = z > -0.9)
  expect_setequal(read$names, c("y", "x", "w", "z"))
  whole <- fit_of(y ~ x, rows, weights = w, subset = z > -0.9)
  new <- rows[1:3, ]
  expect_equal(predict(fit, new), predict(whole, new), tolerance = 1e-8)
  read$names <- character()
  total <- numeric()
  predict(fit, source, to = function(answer, i) total <<- c(total, answer))
  expect_setequal(read$names, c("x", "w", "z")) # `w` and `z` are named by the fit's call
  expect_equal(unname(total), unname(predict(fit, rows)), tolerance = 1e-12)
  read$names <- character()
  fit_of(y ~ . - idle, source)
  expect_setequal(read$names, names(rows))
}

test_that("no columns are read that the call does not name", {
  memory_tier()
  rows <- data.frame(y = cos(1:60), x = 1:60, z = sin(1:60), w = 1 + 1:60 %% 2, idle = "none")
  if (requireNamespace("nanoparquet", quietly = TRUE)) {
    files <- file.path(tempdir(), c("a.parquet", "b.parquet"))
    on.exit(unlink(files))
    nanoparquet::write_parquet(rows[1:25, ], files[1L])
    nanoparquet::write_parquet(rows[26:60, ], files[2L])
    expect_only_named_columns(rows, row_source(files))
  }
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con), add = TRUE)
  DBI::dbWriteTable(con, "rows", rows)
  expect_only_named_columns(rows, row_source(con, "rows", size = 25))
})

# What package arrow knows of a dataset
arrow_dataset <- function(files, types, format = "parquet") {
  type_of <- function(name) list(type = list(ToString = function() types[[name]]))
  structure(list(files = files, format = list(type = format),
                 schema = list(names = names(types), GetFieldByName = type_of)),
            class = "FileSystemDataset")
}

test_that("columns in the names of an Arrow dataset's folders are read", {
  skip_if_not_installed("nanoparquet")
  rows <- data.frame(y = cos(1:60), x = 1:60, g = rep(c("a b", NA), each = 30),
                     year = rep(2024:2025, each = 30))
  folder <- tempfile()
  on.exit(unlink(folder, recursive = TRUE))
  folders <- file.path(folder, c("year=2024/g=a%20b", "year=2025/g=__HIVE_DEFAULT_PARTITION__"))
  files <- file.path(folders, "rows.parquet")
  for (i in 1:2) {
    dir.create(folders[i], recursive = TRUE)
    nanoparquet::write_parquet(rows[30 * i - 29:0, c("y", "x")], files[i])
  }
  types <- c(y = "double", x = "int32", g = "string", year = "int32")
  dataset <- arrow_dataset(files, types)
  all_rows <- function(source) {
    do.call(rbind, lapply(1:2, function(i) as.data.frame(source$reader()$read(i))))
  }
  expect_equal(all_rows(row_source(dataset)), rows)
  expect_equal(all_rows(row_source(dataset)$only(c("y", "year"))), rows[c("y", "year")])
  fit_of <- function(data) sparsegp(y ~ x + year, data, learn = FALSE)
  expect_equal(predict(fit_of(dataset), rows), predict(fit_of(rows), rows), tolerance = 1e-8)
  expect_identical(all.vars(formula(sparsegp(y ~ ., dataset, learn = FALSE))),
                   c("y", "x", "g", "year"))
  expect_error(row_source(arrow_dataset(files, c(types, z = "int32"))),
               "lack its columns z", class = "sparsegp_error")
  expect_error(row_source(arrow_dataset(files, types, "csv")), "csv", class = "sparsegp_error")
})

test_that("databases and Parquet files are sources", {
  slow_tier()
  d <- source_data()
  d <- d[!is.na(d$a), ]
  points <- source_points(source_data())
  whole <- source_fit(c ~ a + g, d, lik_probit(fixed(0.1)), basis = points)
  if (requireNamespace("nanoparquet", quietly = TRUE)) {
    folder <- tempfile()
    dir.create(folder)
    on.exit(unlink(folder, recursive = TRUE))
    nanoparquet::write_parquet(d[1:99, ], file.path(folder, "1.parquet"))
    nanoparquet::write_parquet(d[100:nrow(d), ], file.path(folder, "2.parquet"))
    expect_same_fold(whole, source_fit(c ~ a + g, row_source(folder), lik_probit(fixed(0.1)),
                                       basis = points))
  }
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con), add = TRUE)
  expect_database(con, d, whole)
  skip_if_not_installed("dbplyr")
  slow_tier()
  table <- dplyr::tbl(con, "rows of mine")
  one <- source_fit(c ~ a + g, dplyr::filter(table, b > 4), lik_probit(fixed(0.1)), basis = points)
  expect_identical(nobs(one), sum(d$b > 4))
})

test_that("DuckDB and PostgreSQL are sources, too", {
  slow_tier()
  d <- source_data()
  d <- d[!is.na(d$a), ]
  whole <- source_fit(c ~ a + g, d, lik_probit(fixed(0.1)), basis = source_points(source_data()))
  connections <- list()
  on.exit(for (con in connections) DBI::dbDisconnect(con))
  if (requireNamespace("duckdb", quietly = TRUE)) {
    connections$duckdb <- DBI::dbConnect(duckdb::duckdb())
  }
  # a server of one's own: PGHOST and what else libpq reads
  if (requireNamespace("RPostgres", quietly = TRUE) && nzchar(Sys.getenv("PGHOST"))) {
    connections$postgres <- DBI::dbConnect(RPostgres::Postgres())
  }
  skip_if(length(connections) == 0L, "neither DuckDB nor a PostgreSQL server")
  for (con in connections) expect_database(con, d, whole)
})

test_that("what a source cannot have is said", {
  memory_tier()
  d <- source_data()
  source <- chunks_of(d)
  points <- source_points(d)
  expect_sparsegp <- function(call, message) expect_error(call, message, class = "sparsegp_error")
  expect_sparsegp(source_fit(y ~ a, source, basis = 1:5), "row numbers")
  expect_sparsegp(source_fit(y ~ a, source, method = method_ep()), "sums on inducing points")
  expect_sparsegp(source_fit(y ~ poly(a, 2), chunks_of(na.omit(d), c(0L, 50L, 290L))),
                  "depend on all rows")
  expect_sparsegp(source_fit(y ~ a + z, source), "do not make a model frame")
  expect_sparsegp(source_fit(y ~ a, row_source(function(i) 1, chunks = 2)), "not a data frame")
  expect_sparsegp(source_fit(y ~ a, row_source(function(i) d[0L, ], chunks = 2)),
                  "no complete rows")
  expect_sparsegp(row_source(7), "class numeric")
  expect_sparsegp(row_source("nowhere.parquet"), "no existing Parquet files")
  expect_sparsegp(sparsegp(y ~ a, d, control = gp_control(checkpoint = "x")), "in chunks")
})

test_that("a function of chunks that fails is said with the chunk's number", {
  d <- source_data()
  refuse <- function(call, message) expect_error(call, message, class = "sparsegp_error")
  refuse(row_source(function() d), "without arguments[.]\nIt takes the number of a chunk")
  for (function_of_chunk in list(sum, mean, function(...) d)) {
    expect_s3_class(row_source(function_of_chunk), "sparsegp_source")
  }
  fails <- function(stops) {
    row_source(function(i) if (i == 3L) stops() else d[seq(40L * i - 39L, 40L * i), ], chunks = 5L)
  }
  refuse(source_fit(y ~ a, fails(function() stop("no power"))),
         "`x` is .* at chunk 3: no power[.]\nIt takes the number of a chunk")
  own <- function() stop_sparsegp("mine", "is wrong")
  refuse(source_fit(y ~ a, fails(own)), "^`mine` is wrong")
  interrupt <- function() signalCondition(structure(class = c("interrupt", "condition"), list()))
  found <- tryCatch(source_fit(y ~ a, fails(interrupt)), interrupt = function(e) "interrupt",
                    error = function(e) "error")
  expect_identical(found, "interrupt")
  refuse(source_fit(y ~ a, chunks_of(d), control = gp_control(checkpoint = tempdir())),
         "`checkpoint` is a folder")
  refuse(chunks_of(d, hold = -1), "`hold`")
  expect_identical(chunks_of(d, hold = Inf)$hold, Inf)
})

test_that("a source is refused where a data frame is needed", {
  d <- stats::na.omit(source_data())[1:40, ]
  fit <- sparsegp(y ~ a, d, kernel = kernel_rbf(), learn = FALSE)
  source <- chunks_of(d, c(0L, 20L, 40L))
  refuse <- function(call, name = "newdata") {
    expect_error(call, paste0("`", name, "` is a source of rows, .*\nGive a data frame"),
                 class = "sparsegp_error")
  }
  refuse(slopes(fit, source))
  refuse(draws(fit, source))
  refuse(stats::simulate(fit, newdata = source))
  refuse(ask(fit, source, budget = 3, rows = 40))
  refuse(augment.sparsegp(fit, newdata = source))
  refuse(augment.sparsegp(fit, data = source), "data")
  refuse(next_rows(fit, source), "candidates")
  refuse(calibration(fit, source))
  matrix <- sparsegp(as.matrix(d["a"]), d$y, kernel = kernel_rbf(), learn = FALSE)
  refuse(slopes(matrix, source))
})

test_that("a fit of a source tells of sweeps, shares of the rows and the evidence", {
  memory_tier()
  d <- source_data()
  fit <- function(formula, lik) {
    source_fit(formula, chunks_of(d), lik, basis = source_points(d),
               control = gp_control(verbose = TRUE))
  }
  expect_message(fit(y ~ a + b, lik_gaussian(fixed(0.1))), "sweep 1 of 296 rows: log evidence")
  expect_message(fit(c ~ a + b, lik_probit(fixed(0.1))), "sweep 3 of 297 rows: log evidence")
  told <- sweep_progress(TRUE, 200, bar = FALSE, patience = 0)
  told$sweep(1L, -12.5, 0.1)
  expect_message(told$share(0.25), "sweep 2: 25% of the rows")
  expect_message(chunk_progress(TRUE, patience = 0)(300, -7), "300 rows: log evidence -7")
  expect_silent(sweep_progress(FALSE, 200)$sweep(1L, -12.5, 0.1))
  expect_message(sparsegp(y ~ a, chunks_of(d), kernel = kernel_rbf(1.5, 1), learn = FALSE,
                          method = method_online(size = 5, pilot = 40)), NA)
})

test_that("columns of plain numbers become inputs without model.matrix(), as it would make them", {
  d <- data.frame(a = c(0.5, NA, 2), b = 1:3, c = c(TRUE, FALSE, TRUE), y = 3:1, g = gl(3, 1),
                  "odd name" = 3:1, check.names = FALSE)
  made <- function(formula) {
    frame <- stats::model.frame(formula, d, na.action = stats::na.pass)
    terms <- attr(frame, "terms")
    wanted <- stats::model.matrix(stats::delete.response(terms), frame)
    wanted <- wanted[, attr(wanted, "assign") > 0L, drop = FALSE]
    rownames(wanted) <- NULL
    attr(wanted, "contrasts") <- NULL
    found <- model_inputs(terms, frame)$x
    attr(found, "contrasts") <- NULL
    expect_equal(found, wanted)
    !is.null(plain_columns(terms, frame))
  }
  expect_true(made(y ~ b))
  expect_true(made(y ~ log(b) + a - 1))
  expect_true(made(y ~ . - c - g - `odd name` + offset(a)))
  expect_false(made(y ~ a * b))
  expect_false(made(y ~ `odd name`))
  expect_false(made(y ~ a + c))
  expect_false(made(y ~ a + g))
  expect_false(made(y ~ cbind(a, b)))
})

# The same fit of rows in memory and of a source, with the numbers of reads and of sweeps.
both_fits <- function(formula, d, lik, ..., kernel, method = method_ep(tol = 1e-8, sweeps = 400)) {
  reads <- 0L
  ends <- c(0L, 7L, 100L, 180L, nrow(d))
  source <- row_source(function(i) {
    if (i == 1L) reads <<- reads + 1L
    d[seq(ends[i] + 1L, ends[i + 1L]), ]
  }, chunks = 4L)
  points <- source_points(source_data())
  fit <- function(data) {
    source_fit(formula, data, lik, basis = points, kernel = kernel, method = method, ...)
  }
  list(whole = fit(d), read = fit(source), reads = reads)
}

test_that("classes with a likelihood in common take as many sweeps in chunks as in memory", {
  memory_tier()
  d <- source_data()
  d <- d[!is.na(d$a), ]
  d$three <- factor(c("p", "q", "r")[1L + (d$a > 0) + (d$b > 6)])
  bias <- fixed(c(0.1, 0, -0.2))
  for (lik in of_tier(list(lik_mprobit(bias), lik_softmax(bias)), 1L)) {
    for (variance in of_tier(c(1.5, 20), 1L)) {
      fits <- both_fits(three ~ a + b, d, lik, kernel = kernel_rbf(fixed(variance), fixed(1)))
      expect_same_fold(fits$whole, fits$read, 1e-6)
      expect_same_answers(fits$whole, fits$read, d[c(2L, 60L, 119L), ], 1e-6)
      expect_true(fits$read$convergence$converged)
      expect_lte(abs(fits$read$convergence$sweeps - fits$whole$convergence$sweeps), 1L)
      # two reads a sweep, and those before
      expect_lte(fits$reads, 2L * fits$read$convergence$sweeps + 2L)
    }
  }
})

test_that("plain steps that go to and fro are mixed in chunks, too, and end at the same sites", {
  slow_tier()
  d <- source_data()
  d <- d[!is.na(d$a) & !is.na(d$y), ]
  fits <- function(mixing) {
    both_fits(c ~ a + b, d, lik_logit(fixed(0)), kernel = kernel_rbf(fixed(2000), fixed(2)),
              method = method_ep(tol = 1e-8, sweeps = 400, mixing = mixing))
  }
  mixed <- fits(3L)
  plain <- fits(0L)
  expect_same_fold(mixed$whole, mixed$read, 1e-6)
  expect_same_fold(plain$read, mixed$read, 1e-6)
  # Plain sweeps are the same numbers in both. How far past steps are mixed is solved for from
  # products of nearly parallel residuals, which add up in another order in chunks: 24 sweeps there
  # and 19 in memory, and 112 without mixing.
  expect_identical(plain$read$convergence$sweeps, plain$whole$convergence$sweeps)
  for (fit in mixed[c("whole", "read")]) {
    expect_lt(fit$convergence$sweeps, 0.35 * plain$read$convergence$sweeps)
  }
  expect_lte(mixed$reads, mixed$read$convergence$sweeps + 2L) # a mixed step reads no row
})

test_that("a map is held, and its fit by neighbours is that of a data frame", {
  slow_tier()
  set.seed(3)
  n <- 700L
  d <- data.frame(a = stats::runif(n), b = stats::runif(n))
  d$z <- sin(20 * d$a) * cos(15 * d$b) + 0.2 * stats::rnorm(n)
  d$c <- factor(d$z > 0.3)
  d <- d[order(d$a), ] # sorted in space
  d$a[5L] <- NA
  source <- row_source(function(i) d[seq(100L * i - 99L, 100L * i), ], chunks = 7L)
  made <- function(formula, data, k = 8, ...) {
    sparsegp(formula, data, kernel = kernel_matern32(), method = method_neighbours(k), ...)
  }
  for (formula in of_tier(list(z ~ a + b, c ~ a + b), 1L)) {
    both <- suppressWarnings(lapply(list(d, source), made, formula = formula,
                                    learn = learn_control(inner = 5)))
    expect_equal(logLik(both[[1L]]), logLik(both[[2L]]), tolerance = 1e-8)
    new <- d[c(1L, 300L, 600L), ]
    expect_equal(predict(both[[2L]], new), predict(both[[1L]], new), tolerance = 1e-6)
    expect_equal(unname(loo_lpd(both[[2L]])), unname(loo_lpd(both[[1L]])), tolerance = 1e-6)
    expect_identical(nobs(both[[2L]]), n - 1L)
  }
  total <- 0
  predict(both[[2L]], source, to = function(answer, i) total <<- total + NROW(answer))
  expect_equal(total, n)
  few <- row_source(function(i) d[seq(20L * i - 19L, 20L * i), ], chunks = 3L)
  expect_identical(nobs(made(z ~ a + b, few, 1e6, learn = FALSE)), 59L)
  with_policy(held_numbers = 3e3, kept_rows = 50, code = {
    expect_error(made(z ~ a + b, source), "8 neighbours of 699 rows", class = "sparsegp_error")
  })
})

test_that("without a method rows are held if they may be those of a map, unless they are many", {
  d <- data.frame(a = 1:300 / 300, b = sqrt(1:300) %% 1, g = rep(c("u", "v"), 150))
  d$z <- sin(9 * d$a) + d$b
  setup <- check_setup()
  held <- function(formula, ...) {
    setup[names(list(...))] <- list(...)
    may_show_map(setup, stats::model.frame(formula, d))
  }
  expect_true(held(z ~ a + b))
  expect_true(held(z ~ a + b, likelihood = lik_gaussian()))
  expect_false(held(z ~ a))
  expect_false(held(z ~ a + g))
  expect_false(held(g ~ a + b))
  expect_false(held(z ~ a + b, likelihood = lik_student()))
  expect_false(held(z ~ a + b, method = method_ep(size = 20)))
  expect_false(held(z ~ a + b, control = learn_control(rows = 100)))
  expect_false(held(z ~ a + b, basis = d[1:9, ]))
  source <- row_source(function(i) d[seq(60L * i - 59L, 60L * i), ], chunks = 5L)
  fit <- source_fit(z ~ a + b, d, method = method_ep(5), learn = FALSE)
  recipe <- recipe_of(fit)
  frame <- read_frame(recipe, d)
  scan <- function(...) scan_source(source, recipe, frame[1:60, ], setup, ...)
  expect_equal(scan(300L, 40L)$rows_kept, 1:300)
  expect_identical(scan(299L, 40L)$rows_kept, scan(40L)$rows_kept)
})
