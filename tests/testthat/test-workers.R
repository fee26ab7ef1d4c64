# Chunks of a source read and summed by workers.

with_plan <- function(workers, code, strategy = "multisession", ...) {
  skip_if_not_installed("future")
  rscript <- if (strategy == "multisession") list(rscript_libs = .libPaths())
  # by value: other packages that are loaded have functions of these names, too
  plan <- getExportedValue("future", strategy)
  old <- do.call(future::plan, c(list(plan, workers = workers, ...), rscript))
  on.exit(future::plan(old))
  force(code)
}

# A source that workers can read: all that its function needs is in it.
made_source <- function(chunks = 9L) {
  rows <- function(i) {
    at <- seq(40 * i - 39, 40 * i - if (i %% 2) 10 else 0)
    d <- data.frame(a = 4 * (at * 0.7548777) %% 1 - 2, b = 6 * (at * 0.5698403) %% 1)
    d$y <- sin(2 * d$a) + 0.3 * cos(17 * at)
    d$c <- ifelse(d$y + cos(13 * at) > 0, "yes", "no")
    d
  }
  environment(rows) <- baseenv()
  row_source(rows, chunks = chunks)
}

made_fit <- function(formula, lik, source = made_source()) {
  points <- expand.grid(a = c(-1.5, -0.5, 0.5, 1.5), b = c(1, 4))
  source_fit(formula, source, lik, basis = points)
}

fits <- function() {
  list(made_fit(y ~ a + b, lik_gaussian(fixed(0.1))), made_fit(c ~ a + b, lik_probit(fixed(0.1))))
}

test_that("the numbers do not depend on how many workers there are", {
  slow_tier()
  alone <- fits()
  shared <- with_plan(3L, fits()) # workers take long to start; two are in many other tests
  for (k in 1:2) expect_same_fold(alone[[k]], shared[[k]])
})

# Chunk i kills the worker that reads it for the `time`th time.
deadly_source <- function(i, time, log) {
  rows <- made_source()$reader()$read
  deadly <- function(chunk) {
    if (chunk == i && Sys.getpid() != main) {
      cat(".", file = log, append = TRUE)
      if (file.size(log) == time) tools::pskill(Sys.getpid(), 9L)
    }
    rows(chunk)
  }
  environment(deadly) <- list2env(list(rows = rows, i = i, time = time, log = log,
                                       main = Sys.getpid()), parent = baseenv())
  row_source(deadly, chunks = 9L)
}

test_that("what lost workers had is done again, wherever they were lost", {
  slow_tier()
  skip_on_os("windows")
  alone <- made_fit(c ~ a + b, lik_probit(fixed(0.1)))
  # the first chunk of a worker, one in the middle, the last; in every sweep that may be
  # of the first pass, too
  deaths <- data.frame(chunk = c(1L, 4L, 6L, 9L), time = c(1L, 3L, 4L, 2L))
  for (k in seq_len(nrow(deaths))) {
    log <- tempfile()
    source <- deadly_source(deaths$chunk[k], deaths$time[k], log)
    expect_warning(shared <- with_plan(2L, made_fit(c ~ a + b, lik_probit(fixed(0.1)), source)),
                   "1 of 2 workers did not answer", class = "sparsegp_warning")
    expect_gte(file.size(log), deaths$time[k]) # somebody was killed
    expect_same_fold(alone, shared)
  }
})

expect_identical_fits <- function(one, other) {
  new <- data.frame(a = c(-1, 0, 1), b = c(1, 3, 5))
  expect_identical(one$state, other$state)
  expect_identical(logLik(one), logLik(other))
  expect_identical(predict(one, new, se.fit = TRUE), predict(other, new, se.fit = TRUE))
}

test_that("other plans of future give the same numbers to the last bit", {
  slow_tier()
  skip_if_not_installed("future")
  alone <- fits()
  cluster <- parallel::makeCluster(2L)
  on.exit(parallel::stopCluster(cluster))
  parallel::clusterCall(cluster, .libPaths, .libPaths())
  shared <- list(with_plan(cluster, fits(), "cluster"), with_plan(cluster[1L], fits(), "cluster"),
                 with_plan(3L, fits()))
  for (own in shared) Map(expect_identical_fits, alone, own)
  counts <- vapply(shared, function(own) own[[1L]]$source$workers$count, 0L)
  expect_identical(counts, c(2L, 1L, 3L))
})

# A test for each package, which skips, and says so, where the package is missing
PLANS <- c(future.callr = "callr", future.mirai = "mirai_multisession")
for (package in names(PLANS)) local({
  package <- package
  test_that(paste("the plan of", package, "gives the same numbers to the last bit"), {
    slow_tier()
    skip_if_not_installed(package)
    alone <- fits()
    strategy <- getExportedValue(package, PLANS[[package]])
    old <- future::plan(strategy, workers = 2L)
    on.exit(future::plan(old))
    Map(expect_identical_fits, alone, fits())
  })
})

# Rows with what only a whole pass shows: a level that is late, missing values, rows whose units
# are their own, chunks of other sizes and one without rows.
mixed_source <- function() {
  rows <- function(i) {
    if (i == 7L) return(data.frame())
    at <- seq(60 * i - 59, 60 * i - if (i %% 3) 25 else 0)
    d <- data.frame(a = 4 * (at * 0.7548777) %% 1 - 2, b = 1e3 * i + at %% 7)
    d$g <- c("v", "w")[at %% 2 + 1]
    if (i > 10L) d$g[3L] <- "u"
    d$y <- sin(2 * d$a) + (d$g == "v") + 0.3 * cos(17 * at)
    d$c <- ifelse(d$y > 0, "yes", "no")
    if (i == 12L) d$c[2L] <- "maybe"
    d$a[at %% 31 == 0] <- NA
    d
  }
  environment(rows) <- baseenv()
  row_source(rows, chunks = 13L)
}

test_that("the first pass is the same to the last bit, whoever makes it", {
  slow_tier()
  skip_if_not_installed("future")
  pass <- function(formula) {
    recipe <- new_recipe(formula, NULL, globalenv(), NULL)
    first <- first_frame(mixed_source(), recipe)
    recipe$terms <- attr(first, "terms")
    scan_source(mixed_source(), recipe, first, NULL, 40L)
  }
  fit <- function() {
    sparsegp(y ~ a + b + g, mixed_source(), kernel = kernel_rbf(), method = method_ep(size = 12),
             learn = learn_control(rows = 60))
  }
  all <- function() c(lapply(c(y ~ a + b + g, c ~ a + g, y ~ a), pass), list(fit()))
  alone <- all()
  expect_identical(levels(alone[[2L]]$kept$c), c("maybe", "no", "yes"))
  for (workers in c(1L, 3L)) {
    cluster <- parallel::makeCluster(workers)
    parallel::clusterCall(cluster, .libPaths, .libPaths())
    shared <- with_plan(cluster, all(), "cluster")
    parallel::stopCluster(cluster)
    for (k in 1:3) {
      expect_gt(shared[[k]]$traffic$first, 0)
      shared[[k]]$traffic <- alone[[k]]$traffic
      expect_identical(shared[[k]], alone[[k]])
    }
    same <- c("state", "basis_rows", "hyper", "scaling", "response", "log_evidence")
    expect_identical(shared[[4L]][same], alone[[4L]][same])
    expect_gt(shared[[4L]]$source$workers$first, 0)
  }
})

test_that("a worker is given the source once, and then sums travel", {
  slow_tier()
  large <- made_source()
  environment(environment(large$reader)$x) <- list2env(list(much = rnorm(1e5)), parent = baseenv())
  fit <- with_plan(2L, made_fit(c ~ a + b, lik_probit(fixed(0.1)), large))
  record <- fit$source$workers
  expect_identical(record$count, 2L)
  expect_gt(record$once, 2 * 8e5)
  expect_lt(record$read, 2e4)
  expect_output(print(summary(fit)), "2 workers, [0-9.]+ kB to and from them a read")
  expect_s3_class(check_fit(fit, "fit"), "sparsegp")
})

test_that("nothing that is sent to a worker has an element for each row", {
  memory_tier()
  d <- source_data()
  fit <- source_fit(c ~ a + g, d, lik_probit(fixed(0.1)), basis = source_points(source_data()))
  scan <- scan_source(chunks_of(d), recipe_of(fit))
  chunked <- new_chunked(scan, without_rows(fit, FALSE), sites_in_memory())
  sent <- sent_to_workers(chunked)
  expect_false(sent$kept)
  expect_true(sent_to_workers(chunked)$kept)
  numbers <- rapply(sent$chunked[c("fit", "batches")], length, c("numeric", "integer"),
                    how = "unlist")
  expect_lt(max(numbers), 100)
  expect_null(sent$chunked$scan$kept)
  chunked$fit$hyper$theta <- chunked$fit$hyper$theta + 1
  expect_false(identical(sent_to_workers(chunked)$name, sent$name))
})

test_that("shares are runs of all batches, and their blocks add up as one's", {
  memory_tier()
  for (batches in c(1L, 7L, 100L, 256L)) for (workers in c(1L, 2L, 3L, 5L, 64L)) {
    shares <- shares_of_workers(batches, workers)
    expect_identical(length(shares), min(batches, workers))
    expect_equal(unlist(shares), seq_len(batches))
    blocks_of <- function(share) {
      blocks <- list()
      for (k in share) {
        sum <- list(status = 0L, change = 0, logz = 1 / k)
        blocks <- add_block(blocks, list(before = k - 1, size = 1, sum = sum), add_parts)
      }
      blocks
    }
    received <- list()
    for (block in do.call(c, lapply(shares, blocks_of))) {
      received <- add_block(received, block, add_parts)
    }
    expect_identical(received, blocks_of(seq_len(batches)))
  }
})

# ---- What workers are given of the user's ----

# Evaluates calls in the workspace, with objects in it.
in_workspace <- function(objects, calls) {
  here <- globalenv()
  stopifnot(!any(names(objects) %in% ls(here, all.names = TRUE)))
  on.exit(rm(list = names(objects), envir = here))
  list2env(lapply(objects, function(object) {
    if (is.function(object)) environment(object) <- here
    object
  }), here)
  lapply(calls, eval, here)
}

# Rows in files whose folder has a name that base R has, too; what reads them; and objects with the
# names of columns. A row of a late chunk misses an input.
workspace <- function() {
  at <- 1:300
  d <- data.frame(x = 4 * (at * 0.7548777) %% 1 - 2, g = c("u", "v", "w")[at %% 3 + 1])
  d$y <- sin(2 * d$x) + (d$g == "v") + 0.3 * cos(17 * at)
  d$x[290] <- NA
  dir <- tempfile("rows")
  dir.create(dir)
  for (i in 1:6) saveRDS(d[50 * i - 49:0, ], file.path(dir, i))
  fit <- function(formula, ...) {
    sparsegp::sparsegp(formula, sparsegp::row_source(function(i) read_one(i), chunks = 6), ...,
                       method = sparsegp::method_ep(size = 10),
                       learn = sparsegp::learn_control(rows = 100))
  }
  list(dir = dir, read_one = function(i) readRDS(file.path(dir, i)), fit_rows = fit, all_rows = d,
       k = 2, times_k = function(x) k * x, x = "no input", y = "no response",
       omit_two = function(frame) stats::na.omit(frame)[-1L, ],
       near = function(x, z, theta) exp(-k * outer(x[, 1], z[, 1], "-")^2 / theta[["l"]]),
       density_of = function(y, f, theta) times_k(dnorm(y, f, theta[["s"]], log = TRUE)) / 2)
}

expect_same_by_workers <- function(calls) {
  alone <- in_workspace(workspace(), calls)
  shared <- with_plan(2L, in_workspace(workspace(), calls))
  new <- data.frame(x = c(-1, 0, 1), g = c("u", "v", "w"))
  for (k in seq_along(calls)) {
    expect_identical(shared[[k]]$source$workers$count, 2L)
    expect_identical(alone[[k]]$state, shared[[k]]$state)
    # of Gaussian noise it may differ in the last bit, with readers that need nothing, too
    expect_equal(logLik(alone[[k]]), logLik(shared[[k]]), tolerance = 1e-14)
    expect_identical(in_workspace(workspace(), list(bquote(predict(.(alone[[k]]), .(new))))),
                     in_workspace(workspace(), list(bquote(predict(.(shared[[k]]), .(new))))))
  }
  invisible(shared)
}

test_that("workers have what the user's code takes from the workspace", {
  slow_tier()
  skip_if_not_installed("future")
  fits <- expect_same_by_workers(expression(
    fit_rows(y ~ x), fit_rows(y ~ I(x * k)), fit_rows(y ~ times_k(x), subset = x > -k / 2),
    fit_rows(y ~ x, kernel = sparsegp::kernel_custom(near, c(l = 1))),
    fit_rows(y ~ x, likelihood = sparsegp::lik_custom(density_of, c(s = 0.3))),
    sparsegp::sparsegp(y ~ x, sparsegp::row_source(function(i) all_rows[50 * i - 49:0, ], 6),
                       method = sparsegp::method_ep(size = 10),
                       learn = sparsegp::learn_control(rows = 100))
  ))
  # all rows travel where the function is about them, and only there
  bytes <- vapply(fits, function(fit) fit$source$workers$once, 0)
  expect_gt(bytes[6L], bytes[1L] + 2 * 300 * 2 * 8)
})

test_that("workers have attached packages", {
  slow_tier()
  skip_if_not_installed("future")
  skip_if("package:splines" %in% search())
  library(splines)
  on.exit(detach("package:splines"))
  expect_same_by_workers(expression(fit_rows(y ~ I(interpSpline(-3:3, (-3:3)^2)$knots[1] + x))))
})

test_that("workers have the options that rows are read by", {
  slow_tier()
  skip_if_not_installed("future")
  old <- options(contrasts = c("contr.sum", "contr.poly"), na.action = "omit_two")
  on.exit(options(old))
  expect_same_by_workers(expression(fit_rows(y ~ x + g, kernel = sparsegp::kernel_rbf())))
  options(na.action = "na.fail")
  expect_error(with_plan(2L, in_workspace(workspace(), expression(fit_rows(y ~ x)))),
               "refused the data", class = "sparsegp_error")
})

test_that("what cannot be sent to workers, or is too large, is an error in words", {
  slow_tier()
  skip_if_not_installed("future")
  file <- tempfile()
  writeLines("1", file)
  opened <- file(file)
  on.exit(close(opened))
  objects <- c(workspace(), list(opened = opened, read_two = function(i) {
    isOpen(opened)
    read_one(i)
  }))
  fit <- expression(sparsegp::sparsegp(y ~ x, sparsegp::row_source(read_two, chunks = 6)))
  expect_error(with_plan(2L, in_workspace(objects, fit)), "needs opened, which cannot be sent",
               class = "sparsegp_error")
  old <- options(future.globals.maxSize = 1000)
  on.exit(options(old), add = TRUE)
  fit <- expression(sparsegp::sparsegp(y ~ x, sparsegp::row_source(function(i) all_rows[i, ], 6)))
  expect_error(with_plan(2L, in_workspace(objects, fit)), "workspace, most of them all_rows",
               class = "sparsegp_error")
})

test_that("the workspace of a worker is as it was when the task is done, or has failed", {
  here <- globalenv()
  objects <- list(taken_here = "own")
  borrowed <- list(globals = list(taken_here = "sent", taken_new = NULL), from = character(),
                   options = list(OutDec = ","), process = "another")
  seen <- in_workspace(objects, list(quote(1), bquote({
    during <- .(with_borrowed)(.(borrowed), list(get("taken_here"), exists("taken_new"),
                                                  as.character(1.5)))
    try(.(with_borrowed)(.(borrowed), stop("failed")), silent = TRUE)
    answer <- list(during, taken_here, exists("taken_new"), getOption("OutDec"))
    rm(during)
    answer
  })))[[2L]]
  if (exists("answer", here, inherits = FALSE)) rm(answer, envir = here)
  expect_identical(seen, list(list("sent", TRUE, "1,5"), "own", FALSE, "."))
})

test_that("names that code takes from elsewhere are found, whatever it sets", {
  taken <- function(code) {
    found <- names_taken(code)
    setdiff(unlist(found[c("variables", "calls")]), ls(baseenv(), all.names = TRUE))
  }
  expect_setequal(taken(function(i, a = k) helper(files[i], a)), c("k", "helper", "files"))
  expect_setequal(taken(function(i) {
    d <- d1[i, ]
    d$y <- 2
    names(d)[2] <- "z"
    d
  }), "d1")
  expect_setequal(taken(function(i) {
    d <- d[i, ]
    d
  }), "d")
  expect_setequal(taken(function(i) {
    if (i > 1) d <- 2
    d
  }), "d")
  expect_setequal(taken(function(i) {
    if (i > 1) d <- 2 else d <- 3
    d
  }), character())
  expect_setequal(taken(function(i) {
    for (j in js) u <- j
    c(u, j)
  }), c("js", "u"))
  expect_setequal(taken(function(i) {
    d1$y[2] <- 1
    own(d1) <- 3
    d1
  }), c("d1", "own<-", "own"))
  expect_setequal(taken(function(i) sapply(i, function(u) u + v)), "v")
  expect_setequal(taken(function(i) lm1(y ~ x + k, stats::d)), c("lm1", "y", "x", "k"))
  expect_setequal(taken(function(i) {
    f <- function(n) f(n - 1) + k
    f(i)
  }), "k")
  expect_setequal(taken(quote(list(y, sq(x), I(x * k), m[, 1]))), c("y", "sq", "x", "k", "m"))
  expect_identical(names_taken(function(i) {
    con <<- open(i)
    con
  })$set, "con")
})

test_that("arguments without a default are no values to look into", {
  expect_identical(vapply(formals(function(i, a = f, b = 1) NULL), is_searched, NA),
                   c(i = FALSE, a = TRUE, b = FALSE))
})

# An answer of a worker to a read, and its share, without a worker.
worker_answer <- function() {
  source <- made_source(4L)
  fit <- made_fit(c ~ a + b, lik_probit(fixed(0.1)), source)
  chunked <- new_chunked(scan_source(source, recipe_of(fit)), without_rows(fit, FALSE),
                         sites_in_memory())
  point <- list(weights = numeric(), sums = no_rows_state(fit$state))
  share <- 1:2
  task <- list(theta = fit$hyper$theta, point = point, stage = "collect", own = 1L)
  blocks <- lapply(read_batches(chunked, task, share), block_to_send, with_factor = TRUE)
  list(blocks = blocks, share = share, states = point$sums)
}

test_that("an answer that no worker of this version gives is an error in words", {
  memory_tier()
  made <- worker_answer()
  check <- function(blocks) {
    check_worker_answer(are_blocks_of_share(blocks, made$share, made$states))
  }
  expect_null(check(made$blocks))
  changes <- list(
    quote(x <- "text"), quote(x <- 7), quote(x <- list()), quote(x <- list(1, 2)),
    quote(x <- c(x, x)), quote(x <- x[-1L]), quote(class(x) <- "liar"), quote(x[[1L]]$size <- 3),
    quote(x[[1L]]$before <- 1), quote(x[[1L]]$sum <- mean), quote(x[[1L]]$sum$state <- NULL),
    quote(x[[1L]]$sum$state <- mean), quote(x[[1L]]$sum$status <- "0"),
    quote(x[[1L]]$sum$logz <- "0"), quote(class(x[[1L]]$sum$logz) <- "liar"),
    quote(x[[1L]]$sum$state[[1L]]$S <- x[[1L]]$sum$state[[1L]]$S[-1L]),
    quote(x[[1L]]$sum$state[[1L]]$t <- x[[1L]]$sum$state[[1L]]$t[-1L, , drop = FALSE]),
    quote(x[[1L]]$sum$state[[1L]]$R <- diag(2))
  )
  for (change in changes) {
    x <- made$blocks
    eval(change)
    expect_error(check(x), "another version of sparsegp", class = "sparsegp_error",
                 label = deparse1(change))
  }
})

test_that("so is such an answer to the first pass", {
  source <- made_source(4L)
  recipe <- new_recipe(y ~ a, NULL, globalenv(), NULL)
  first <- first_frame(source, recipe)
  recipe$terms <- attr(first, "terms")
  scan <- scan_source(source, recipe, first, NULL, 40L)
  own <- list(chunks = 1:2, prints = scan$prints[1:2], rows = scan$rows[1:2], omitted = 0,
              seen = list(), late = FALSE, pool = list(),
              blocks = list(list(before = 0, size = 2, sum = NULL)))
  batches <- as.list(1:4)
  expect_true(is_scan_of_share(own, batches, 1:2))
  for (wrong in list("text", list(), replace(own, "chunks", list(3:4)),
                     replace(own, "rows", list(1)), replace(own, "late", list(NULL)),
                     replace(own, "blocks", list(list())), replace(own, "prints", list(mean)),
                     structure(own, class = "liar"))) {
    expect_error(check_worker_answer(is_scan_of_share(wrong, batches, 1:2)), "another version",
                 class = "sparsegp_error")
  }
})
