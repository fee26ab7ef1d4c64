# A checkpoint is gone on from with its own rows only, and touches no files but its own.

# A function that reads chunks of d, and stops at chunk `last` + 1.
breaks_after <- function(d, last, size = 30L, chunks = nrow(d) / size) {
  row_source(function(i) {
    if (i > last) stop("the power is gone")
    d[seq(size * (i - 1L) + 1L, size * i), ]
  }, chunks = chunks)
}

plain_rows <- function(n = 180L) {
  at <- seq_len(n)
  d <- data.frame(a = 4 * (at * 0.7548777) %% 1 - 2, b = 6 * (at * 0.5698403) %% 1)
  d$y <- sin(2 * d$a) + 0.3 * cos(17 * at)
  d$c <- ifelse(d$y + cos(13 * at) > 0, "yes", "no")
  d
}

# Every computation over a source that a checkpoint can break off: (source, checkpoint) -> fit
resumable_tasks <- function(d) {
  online <- method_online(size = 8, pilot = 20)
  kernel <- kernel_rbf(1.5, 1)
  stream <- sparsegp(y ~ a + b, d[1:40, ], kernel = kernel, method = online, learn = FALSE)
  waiting <- sparsegp(y ~ a + b, d[1:10, ], kernel = kernel, learn = FALSE,
                      method = method_online(size = 8, pilot = 60))
  points <- d[c(3, 40, 77, 110, 150), ]
  batch <- sparsegp(c ~ a + b, d[1:60, ], "probit", kernel = kernel, basis = points, learn = FALSE)
  list(
    stream = function(source, file) update(stream, source, checkpoint = file),
    waiting = function(source, file) update(waiting, source, checkpoint = file),
    batch = function(source, file) update(batch, source, checkpoint = file),
    begun = function(source, file) {
      sparsegp(y ~ a + b, source, kernel = kernel, method = online, learn = FALSE,
               control = gp_control(checkpoint = file))
    },
    levels = function(source, file) {
      sparsegp(c ~ a + b, source, "probit", kernel = kernel, method = online, learn = FALSE,
               control = gp_control(checkpoint = file))
    }
  )
}

# Breaks a task off in chunk 5 of the rows `d`; the first pass over levels reads them all before.
broken_off <- function(task, d, file, reads = 4L) {
  count <- 0L
  source <- row_source(function(i) {
    count <<- count + 1L
    if (count > reads) stop("the power is gone")
    d[seq(30L * (i - 1L) + 1L, 30L * i), ]
  }, chunks = nrow(d) / 30L)
  expect_error(task(source, file), "power")
  expect_true(file.exists(file))
}

test_that("rows that a resumed stream passes over must be those that it has seen", {
  slow_tier()
  old <- options(sparsegp.checkpoint = -1)
  on.exit(options(old))
  d <- plain_rows()
  changes <- list(
    one_value = function(d) transform(d, a = replace(a, 65L, 1)),
    other_rows = function(d) d[c(1:30, nrow(d):31), ],
    two_swapped = function(d) d[replace(seq_len(nrow(d)), c(40L, 50L), c(50L, 40L)), ]
  )
  tasks <- resumable_tasks(d)
  for (name in names(tasks)) {
    reads <- switch(name, begun = 5L, levels = 11L, 4L) # the first frame is read before
    file <- tempfile("state-")
    broken_off(tasks[[name]], d, file, reads)
    for (change in changes) {
      expect_error(tasks[[name]](breaks_after(change(d), 6L), file),
                   "chunk [23] is not what it was", class = "sparsegp_error", info = name)
    }
    # the checkpoint is as it was, and its own rows end with the numbers of one that was not broken
    found <- tasks[[name]](breaks_after(d, 6L), file)
    wanted <- tasks[[name]](breaks_after(d, 6L), NULL)
    kept <- c("state", "log_evidence", "n")
    expect_identical(found[kept], wanted[kept], info = name)
    expect_false(file.exists(file))
  }
})

test_that("a resumed stream draws the numbers that it would have drawn", {
  slow_tier()
  old <- options(sparsegp.checkpoint = -1)
  on.exit(options(old))
  d <- plain_rows()
  fit <- function(source, file) {
    sparsegp(y ~ a + b, source, kernel = kernel_rbf(1.5, 1), learn = FALSE,
             method = method_online(size = 6, pilot = 20, order = "random"),
             control = gp_control(checkpoint = file))
  }
  set.seed(5)
  wanted <- fit(breaks_after(d, 6L), NULL)
  after <- stats::runif(1)
  set.seed(5)
  file <- tempfile("state-")
  broken_off(fit, d, file, 5L)
  for (seed in c(6L, 7L)) { # broken off once more, in a session with other numbers
    set.seed(seed)
    if (seed == 6L) expect_error(fit(breaks_after(d, 5L), file), "power")
  }
  found <- fit(breaks_after(d, 6L), file)
  kept <- c("state", "log_evidence", "n")
  expect_identical(found[kept], wanted[kept])
  expect_identical(stats::runif(1), after)
  # nothing is drawn here, so the user's numbers are let alone
  stream <- resumable_tasks(d)$begun
  broken_off(stream, d, file, 5L)
  set.seed(8)
  untouched <- .Random.seed
  stream(breaks_after(d, 6L), file)
  expect_identical(.Random.seed, untouched)
})

test_that("a resumed source that has more chunks, or fewer, is an error", {
  slow_tier()
  old <- options(sparsegp.checkpoint = -1)
  on.exit(options(old))
  d <- plain_rows()
  points <- d[c(3, 40, 77, 110, 150), ]
  tasks <- resumable_tasks(d)[c("stream", "begun")]
  tasks$sweeps <- function(source, file) {
    sparsegp(c ~ a + b, source, "probit", kernel = kernel_rbf(1.5, 1), basis = points,
             learn = learn_control(rows = 40),
             control = gp_control(checkpoint = file, prior = NULL))
  }
  for (name in names(tasks)) {
    file <- tempfile("state-")
    broken_off(tasks[[name]], d, file, switch(name, sweeps = 20L, 5L))
    for (chunks in c(5L, 12L)) {
      expect_error(tasks[[name]](breaks_after(rbind(d, d), 12L, chunks = chunks), file),
                   "another fit", class = "sparsegp_error", info = name)
    }
    ends <- row_source(function(i) if (i <= 2L) d[seq(30L * (i - 1L) + 1L, 30L * i), ])
    expect_error(tasks[[name]](ends, file), "another fit", class = "sparsegp_error")
    unlink(c(file, paste0(file, ".sites")), recursive = TRUE)
  }
  # of a source that does not say how many there are it shows at its end
  file <- tempfile("state-")
  until <- function(last, fails) {
    row_source(function(i) {
      if (i > fails) stop("the power is gone")
      if (i <= last) d[seq(30L * (i - 1L) + 1L, 30L * i), ]
    })
  }
  expect_error(tasks$stream(until(6L, 4L), file), "power")
  expect_error(tasks$stream(until(2L, 9L), file), "chunk 3 is not", class = "sparsegp_error")
  unlink(file)
})

test_that("a sweep over a source that has lost its last chunks is an error", {
  memory_tier()
  d <- plain_rows()
  passes <- 0L
  shrinking <- row_source(function(i) {
    passes <<- passes + (i == 1L)
    if (i <= (if (passes > 4L) 5L else 6L)) d[seq(30L * (i - 1L) + 1L, 30L * i), ]
  })
  expect_error(sparsegp(c ~ a + b, shrinking, "probit", basis = d[c(3, 40, 77), ],
                        kernel = kernel_rbf(1.5, 1), learn = learn_control(rows = 40)),
               "chunk 6 is not what it was", class = "sparsegp_error")
})

# A source of six chunks of d that stops after so many reads.
source_until <- function(d, reads) {
  count <- 0L
  row_source(function(i) {
    count <<- count + 1L
    if (count > reads) stop("the power is gone")
    d[seq(30L * (i - 1L) + 1L, 30L * i), ]
  }, chunks = 6L)
}

# A fit of a source whose sites go into files, broken off after some reads (NULL: not at all).
fit_with_sites <- function(file, reads = Inf) {
  d <- plain_rows()
  sparsegp(c ~ a + b, source_until(d, reads), "probit", kernel = kernel_rbf(fixed(1.5), fixed(1)),
           basis = d[c(3, 40, 77), ], learn = learn_control(rows = 40),
           control = gp_control(checkpoint = file))
}

test_that("a folder that is not the checkpoint's is refused, and what is in it stays", {
  memory_tier()
  file <- tempfile("state-")
  folder <- paste0(file, ".sites")
  on.exit(unlink(c(file, folder), recursive = TRUE))
  dir.create(folder)
  precious <- file.path(folder, "1-1.rds")
  writeLines("precious", precious)
  expect_error(fit_with_sites(file), "is there already", class = "sparsegp_error")
  expect_identical(readLines(precious), "precious")
  unlink(folder, recursive = TRUE)
  expect_s3_class(fit_with_sites(file), "sparsegp")
  expect_length(list.files(dirname(file), basename(file)), 0L)
})

test_that("of a checkpoint's folder only its own files are deleted", {
  memory_tier()
  file <- tempfile("state-")
  folder <- paste0(file, ".sites")
  on.exit(unlink(c(file, folder), recursive = TRUE))
  expect_error(fit_with_sites(file, 20L), "power")
  writeLines("precious", file.path(folder, "thesis.txt"))
  whole <- fit_with_sites(NULL)
  expect_identical(fit_with_sites(file)[c("state", "log_evidence")],
                   whole[c("state", "log_evidence")])
  expect_identical(list.files(folder), "thesis.txt")
  expect_false(file.exists(file))
})

test_that("sites that are damaged, missing, or of other rows are said so", {
  slow_tier()
  file <- tempfile("state-")
  folder <- paste0(file, ".sites")
  on.exit(unlink(c(file, folder), recursive = TRUE))
  damages <- list(
    cut = function(files) for (one in files) writeBin(readBin(one, raw(), 20L), one),
    gone = function(files) unlink(files),
    other = function(files) for (one in files) saveRDS(list(tau = 1, nu = 1), one),
    words = function(files) for (one in files) saveRDS("no sites", one)
  )
  for (damage in damages) {
    unlink(c(file, folder), recursive = TRUE)
    expect_error(fit_with_sites(file, 26L), "power")
    damage(list.files(folder, "^[0-9]+-", full.names = TRUE))
    expect_error(fit_with_sites(file), "sites of", class = "sparsegp_error")
    expect_true(file.exists(file))
  }
})

test_that("a fit whose last checkpoint says that it is done looks at its rows all the same", {
  memory_tier()
  file <- tempfile("state-")
  folder <- paste0(file, ".sites")
  on.exit(unlink(c(file, folder), recursive = TRUE))
  d <- plain_rows()
  points <- d[c(3, 40, 77), ]
  # it warns that two sweeps are too few, after the last checkpoint
  fit <- function(d, file) {
    sparsegp(c ~ a + b, breaks_after(d, 6L), "probit", basis = points,
             control = gp_control(checkpoint = file),
             kernel = kernel_rbf(fixed(1.5), fixed(1)), method = method_ep(sweeps = 2),
             learn = learn_control(rows = 40))
  }
  killed <- function(w) stop("killed")
  expect_error(withCallingHandlers(fit(d, file), warning = killed), "killed")
  expect_true(unserialize(readRDS(file)$bytes)$state$iteration$done)
  expect_error(fit(transform(d, a = replace(a, 70L, 1)), file), "chunk 3 is not",
               class = "sparsegp_error")
  found <- suppressWarnings(fit(d, file))
  wanted <- suppressWarnings(fit(d, NULL))
  expect_identical(found[c("state", "log_evidence")], wanted[c("state", "log_evidence")])
  expect_length(list.files(dirname(file), basename(file)), 0L)
})

test_that("a checkpoint or predictions that cannot be written are said so", {
  expect_error(write_whole(1, file.path(tempfile("nowhere"), "x")), "cannot be written",
               class = "sparsegp_error")
  d <- plain_rows()
  fit <- sparsegp(y ~ a, d[1:30, ], learn = FALSE)
  expect_error(predict(fit, breaks_after(d, 6L), to = file.path(tempfile("nowhere"), "p.csv")),
               "`to` cannot be written", class = "sparsegp_error")
})

# Fits numbers, and stops after so many reads.
fit_of_numbers <- function(d, reads, mean, file) {
  sparsegp(y ~ a + b, source_until(d, reads), kernel = kernel_rbf(1.5, 1),
           method = method_ep(size = 8), learn = learn_control(rows = 40), mean = mean,
           control = gp_control(checkpoint = file))
}

test_that("a checkpoint of another mean is refused", {
  slow_tier()
  old <- options(sparsegp.checkpoint = 0)
  d <- plain_rows()
  file <- tempfile("state-")
  on.exit({
    options(old)
    unlink(paste0(file, c("", ".sites")), recursive = TRUE)
  })
  expect_error(fit_of_numbers(d, 15L, ~ a, file), "power")
  expect_error(fit_of_numbers(d, Inf, ~ b, file), "another fit", class = "sparsegp_error")
  expect_s3_class(fit_of_numbers(d, Inf, ~ a, file), "sparsegp") # in another environment
})

test_that("one number of a source that changes by little is seen, whatever its size", {
  # times in seconds since 1970: their sum is 1e13, and one that moves by 30 s is 3e-12 of it
  at <- as.POSIXct("2024-05-01", tz = "UTC") + 60 * (1:10000)
  d <- data.frame(at = at, y = sin(1:10000), g = factor(rep(c("u", "v"), 5000)), unused = 1:10000)
  recipe <- list(terms = terms(y ~ at + g), arguments = list())
  print_of <- function(d) print_of_chunk(recipe, d, d[c("y", "at", "g")])
  first <- print_of(d)
  changed <- function(...) !is_same_print(first, print_of(transform(d, ...)))
  expect_false(changed(unused = rev(unused)))
  expect_true(is_same_print(first, print_of(d)))
  moved <- replace(at, 5000, at[5000] + 30)
  expect_true(changed(at = moved))
  expect_true(changed(at = replace(at, 1, at[1] + 1e-6)))
  expect_true(changed(y = replace(y, 17, y[17] * (1 + 2^-52))))
  expect_true(changed(y = replace(y, c(3, 4), y[c(4, 3)])))
  expect_true(changed(y = replace(y, 9, NA)))
  expect_true(changed(g = factor(rep(c("v", "u"), 5000))))
  # levels in another order are the same rows, as a number that is whole or not is the same
  expect_false(changed(g = factor(g, levels = c("v", "u"))))
  expect_identical(digest_of(list(1:3)), digest_of(list(c(1, 2, 3))))
})

test_that("a digest depends on every value, on their order and on where columns end", {
  values <- list(list(1, 2), list(2, 1), list(c(1, 2)), list(1, 2, numeric()), list("1", "2"),
                 list("12"), list("1", "2", ""), list(NA_character_), list(""), list(NaN),
                 list(NA_real_), list(0), list(-0), list(), list("ab", "c"), list("a", "bc"),
                 list(as.raw(1:9)), list(as.raw(1:8)), list(as.raw(c(1:8, 0))), list(a = 1),
                 list(b = 1), list(list(1)), list(as.Date(1, origin = "1970-01-01"), 1),
                 list(matrix(1:4, 2)), list(data.frame(a = 1:2, b = 3:4, c = 5:6)))
  all <- vapply(values, digest_of, "")
  expect_identical(anyDuplicated(all), 0L)
  expect_match(all, "^[0-9a-f]{32}$")
  # text of different encodings is the same text
  latin <- "\xe4"
  Encoding(latin) <- "latin1"
  expect_identical(digest_of(list(latin)), digest_of(list("\u00e4")))
  # each bit of each number counts
  x <- c(1, 2, 3)
  bits <- vapply(0:51, function(k) digest_of(list(replace(x, 2, 2 * (1 + 2^(k - 52))))), "")
  expect_identical(anyDuplicated(c(bits, digest_of(list(x)))), 0L)
  expect_error(.Call(sg_digest, list(sum)), "damaged", class = "sparsegp_error")
})

test_that("a checkpoint whose state was changed is refused, and nothing is made of its bytes", {
  file <- tempfile("state-")
  on.exit(unlink(file))
  open_checkpoint(file, list(n = 1))$write(list(fit = "so far"))
  found <- readRDS(file)
  expect_error(unserialize(found$bytes), NA)
  found$bytes[length(found$bytes) - 3L] <- xor(found$bytes[length(found$bytes) - 3L], as.raw(1))
  saveRDS(found, file)
  expect_error(open_checkpoint(file, list(n = 1)), "is damaged: its contents are not those",
               class = "sparsegp_error")
  for (damaged in list(found["key"], replace(found, "bytes", list("x")),
                       replace(found, "digest", list(NULL)))) {
    saveRDS(damaged, file)
    expect_error(open_checkpoint(file, list(n = 1)), "is damaged", class = "sparsegp_error")
  }
  # what is no state that a fit leaves
  for (state in list("x", list(), list(fit = 1, scan = list()), list(fit = sum, done = -1))) {
    expect_error(check_checkpoint_state(state, settled_kinds(), file), "is damaged",
                 class = "sparsegp_error")
    expect_error(check_checkpoint_state(state, fed_kinds(), file), "is damaged",
                 class = "sparsegp_error")
  }
})
