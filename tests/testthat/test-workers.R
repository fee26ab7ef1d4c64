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
  for (workers in c(2L, 4L)) {
    shared <- with_plan(workers, fits()) # workers take long to start
    for (k in 1:2) expect_same_fold(alone[[k]], shared[[k]])
  }
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
    sparsegp(y ~ a + b + g, mixed_source(), method = method_ep(size = 12),
             learn = learn_control(rows = 60))
  }
  all <- function() c(lapply(c(y ~ a + b + g, c ~ a + g, y ~ a), pass), list(fit()))
  alone <- all()
  expect_identical(levels(alone[[2L]]$kept$c), c("maybe", "no", "yes"))
  for (workers in c(1L, 2L, 4L)) {
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
  expect_output(print(fit), "2 workers, [0-9.]+ kB to and from them a read")
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
