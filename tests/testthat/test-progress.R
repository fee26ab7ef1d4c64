# The progress bar: one for a whole fit, which never goes backwards.

r_code_alone()

# Evaluates `make` under a bar, as fits are made.
with_bar <- function(display, make) {
  bar <- open_bar(display)
  on.exit(close_bar(bar))
  made <- make
  show_fraction(bar, 1)
  made
}

# Every fraction that a display is given while `make` is evaluated.
fractions_of <- function(make) {
  seen <- numeric()
  closed <- 0L
  display <- list(show = function(fraction) seen <<- c(seen, fraction),
                  close = function() closed <<- closed + 1L)
  with_bar(display, suppressWarnings(make))
  expect_identical(closed, 1L)
  seen
}

# The bar moves evenly enough: forwards only, to 1, and nowhere by more than 0.4.
expect_even <- function(seen, label, points = 8L) {
  expect_false(is.unsorted(seen), label = label)
  expect_identical(seen[length(seen)], 1)
  expect_gt(length(unique(seen)), points, label = label)
  expect_lt(max(diff(c(0, seen))), 0.4, label = label)
}

progress_rows <- function(n, classes = 3L) {
  at <- seq_len(n)
  d <- data.frame(a = 4 * (at * 0.7548777) %% 1 - 2, b = 6 * (at * 0.5698403) %% 1)
  d$y <- sin(2 * d$a) + cos(d$b) + 0.3 * cos(17 * at)
  d$c <- factor(1L + (at * 7L + round(3 * d$a)) %% classes)
  d$two <- factor(d$y + cos(13 * at) > 0)
  d
}

test_that("the bar covers a fit by every strategy, forwards only", {
  slow_tier()
  d <- progress_rows(80L)
  d$grade <- cut(d$y, c(-Inf, -0.5, 0.5, Inf), ordered_result = TRUE)
  cases <- list(
    categories = function() sparsegp(grade ~ a + b, d),
    numbers = function() sparsegp(y ~ a + b, d),
    labels = function() sparsegp(two ~ a + b, d),
    classes = function() sparsegp(c ~ a + b, d),
    given = function() sparsegp(y ~ a + b, d, kernel = kernel_rbf()),
    basis = function() sparsegp(y ~ a + b, d, basis = d[1:9, ]),
    sparse = function() sparsegp(two ~ a + b, d, method = method_ep(12)),
    ivm = function() sparsegp(two ~ a + b, d, method = method_ivm(12)),
    stream = function() sparsegp(y ~ a + b, d, method = method_online(10, pilot = 50))
  )
  for (name in names(cases)) expect_even(fractions_of(cases[[name]]()), name)
})

test_that("the bar covers fits of many rows", {
  slow_tier()
  d <- progress_rows(2000L)
  expect_even(fractions_of(sparsegp(y ~ a + b, d,
                                    control = gp_control(effort = "quick"))), "numbers")
  expect_even(fractions_of(sparsegp(two ~ a + b, d,
                                    control = gp_control(effort = "quick"))), "labels")
  expect_even(fractions_of(sparsegp(c ~ a + b, d,
                                    control = gp_control(effort = "quick"))), "classes", 30L)
})

test_that("what is known already leaves the bar in order", {
  slow_tier()
  d <- progress_rows(40L)
  seen <- fractions_of(sparsegp(y ~ a, d, kernel = kernel_rbf(1, 1), learn = FALSE))
  expect_false(is.unsorted(seen))
  expect_identical(seen[length(seen)], 1)
  # more work than was expected never ends a stage
  seen <- fractions_of({
    begin_stage(c(10, 10))
    for (i in 1:100) note_work(1)
    begin_stage(c(1, 0))
    note_work(1)
  })
  expect_false(is.unsorted(seen))
  expect_lt(max(seen[1:100]), 0.5)
  expect_gte(max(seen[1:100]), 0.45)
})

test_that("an error closes the bar, and a fit within a fit has none", {
  closed <- 0L
  display <- list(show = function(fraction) NULL, close = function() closed <<- closed + 1L)
  expect_error(with_bar(display, with_bar(display, stop("no"))), "no")
  expect_identical(closed, 1L)
  expect_null(PROGRESS$current)
  expect_silent(note_work(1)) # nobody looks
})

test_that("in an interactive session the bar comes after some seconds, or at once with verbose", {
  time <- 0
  shown <- function(verbose, seconds, ...) {
    time <<- 0
    text <- capture.output(type = "message", {
      display <- bar_display(verbose, clock = function() time, ...)
      for (fraction in c(0.1, 0.5, 0.9, 1)) {
        display$show(fraction)
        time <<- time + seconds
      }
      display$close()
    })
    paste(text, collapse = "")
  }
  expect_identical(shown(FALSE, 1, bar = TRUE), "")
  expect_match(shown(FALSE, 6, bar = TRUE), "50%.*90%.*100%")
  expect_no_match(shown(FALSE, 6, bar = TRUE), " 10%")
  expect_match(shown(TRUE, 0, bar = TRUE), "10%.*100%")
  expect_identical(shown(TRUE, 6, bar = FALSE), "")
  expect_identical(new_progress(FALSE), SILENT)
})
