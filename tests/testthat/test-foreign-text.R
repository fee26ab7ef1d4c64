# Text in the data is never code: names of columns and levels, and of a fit that was saved.

r_code_alone()

draw_line <- function(fit) {
  plot(0)
  lines(fit, n = 3)
}

# Text that writes a file if it is evaluated, in some of the shapes that parse as R; `file` is the
# same in all.
payloads <- function(file) {
  call <- sprintf("cat(1, file = \"%s\")", file)
  c(paste0("1*", call), paste0("x*", call), paste0("I(", call, ")"), paste0("}; ", call), call)
}

# Everything that is asked of a fit; errors in words are fine. Types of plots, and the two systems
# that draw them, are dealt out over the calls of a test: call number `call` draws one type in
# `calls`, so that the calls with a fit, and those with a text, draw all types between them.
ask_everything <- function(fit, call, calls = 5L) {
  quietly <- function(code) {
    tryCatch(suppressMessages(suppressWarnings(utils::capture.output(drawing(code)))),
             error = function(e) NULL)
  }
  draw <- c(list(plot), if (requireNamespace("ggplot2", quietly = TRUE)) {
    list(function(...) print(ggplot2::autoplot(...)))
  })
  turn <- function(i) draw[[1L + i %% length(draw)]]
  types <- of_tier(setdiff(plot_types(), "fit"), 4L)
  for (i in which(seq_along(types) %% calls == call %% calls)) {
    quietly(turn(call + i %/% calls)(fit, type = types[i]))
  }
  quietly(turn(call)(fit))
  for (which in 1:2) quietly(turn(call + which)(fit, which, n = 5))
  for (ask in list(print, summary, importance, calibration, loo, residuals, basis, coef, terms,
                   model.frame, model.matrix, labels, variable.names, df.residual, hatvalues,
                   function(fit) predict(fit, type = "terms"),
                   function(fit) coef(summary(fit)), termplot)) {
    quietly(print(ask(fit)))
  }
}

test_that("levels of factors and names of columns are not evaluated", {
  slow_tier()
  file <- tempfile()
  texts <- payloads(file)
  for (i in seq_along(texts)) {
    text <- texts[i]
    d <- data.frame(x = factor(rep(c("0", "1", text), 8)), a = sin(1:24), b = cos(1:24))
    d$y <- d$a + as.integer(d$x)
    d$label <- factor(rep(c("u", text), 12))
    # as columns x1, x and xx*... of the model matrix
    ask_everything(sparsegp(y ~ a + x, d, learn = FALSE), i)
    ask_everything(sparsegp(y ~ a * x, d, learn = FALSE), i + 1L)
    ask_everything(sparsegp(label ~ a + b, d, learn = FALSE), i + 2L)
    names(d)[2L] <- text
    ask_everything(sparsegp(y ~ ., d[c(text, "b", "y")], learn = FALSE), i + 3L)
    m <- as.matrix(d[c(text, "b")])
    ask_everything(sparsegp(m, d$y, learn = FALSE), i + 4L)
  }
  expect_false(file.exists(file))
})

test_that("names in a saved fit are not evaluated", {
  slow_tier()
  file <- tempfile()
  d <- data.frame(a = sin(1:20), b = cos(1:20), y = sin(1:20)^2)
  fit <- sparsegp(y ~ a + b + a:b, d, learn = FALSE)
  text <- sprintf("a*cat(1, file = \"%s\")", file)
  names <- of_tier(1:3, 1L)
  for (i in names) {
    tampered <- fit
    tampered$scaling$names[i] <- text
    ask_everything(tampered, i, length(names))
  }
  expect_false(file.exists(file))
})

test_that("columns that follow from others are found by the terms", {
  d <- data.frame(a = sin(1:20), b = cos(1:20), g = factor(rep(c("u", "v"), 10)), `a b` = 1:20 / 9,
                  y = sin(1:20)^2, check.names = FALSE)
  fit <- sparsegp(y ~ a * g + I(a^2) + b:`a b` + `a b` + b + log(`a b`) + poly(b, 2):a +
                    poly(b, 2), d, learn = FALSE)
  x <- rows_of(fit, NULL)$x
  derived <- derived_columns(fit, x)
  expect_setequal(names(derived), c("I(a^2)", "log(`a b`)", "a:gv", "b:`a b`", "a:poly(b, 2)1",
                                    "a:poly(b, 2)2"))
  x[, "a"] <- 0.5
  x[, "a b"] <- 2
  x[, "gv"] <- 1
  expect_equal(derived[["I(a^2)"]](x), rep(0.25, 20))
  expect_equal(derived[["log(`a b`)"]](x), rep(log(2), 20))
  expect_equal(derived[["a:gv"]](x), rep(0.5, 20))
  expect_equal(derived[["b:`a b`"]](x), unname(2 * x[, "b"]))
})

test_that("inputs may be called as what is drawn of them, or as words of R", {
  slow_tier()
  d <- data.frame(lwr = rep(c("a", "b"), 10), `if` = rep(c("u", "v", "w", "x"), 5), fit = sin(1:20),
                  se = cos(1:20), known = sin(3 * 1:20), `my x` = cos(3 * 1:20), y = sin(1:20)^2,
                  check.names = FALSE, stringsAsFactors = TRUE)
  fit <- sparsegp(y ~ lwr + `if`, d, learn = FALSE)
  drawn <- drawing(plot(fit))
  expect_named(drawn, c("if", "lwr.1", "fit", "lwr", "upr", "new_lwr", "new_upr"))
  at <- setNames(drawn[1:2], c("if", "lwr"))
  expect_equal(drawn$fit, unname(predict(fit, at)), tolerance = 1e-10) # rounding
  fit <- sparsegp(y ~ fit + se, d, learn = FALSE)
  drawn <- drawing(plot(fit, n = 3))
  expect_named(drawn, c("fit.1", "se.1", "fit", "se", "known"))
  expect_equal(drawn$fit, unname(predict(fit, setNames(drawn[1:2], c("fit", "se")))),
               tolerance = 1e-10)
  fit <- sparsegp(y ~ known + `my x` + `if`, d, learn = FALSE)
  expect_named(drawing(plot(fit, c("known", "my x"), by = "if", n = 3)),
               c("known.1", "my x", "if", "fit", "se", "known"))
  expect_named(drawing(plot(fit, ~ `my x`, n = 3))[1:2], c("my x", "fit"))
  expect_named(drawing(draw_line(sparsegp(y ~ fit, d, learn = FALSE))), c("fit.1", "fit"))
})

test_that("settings of a method are never evaluated", {
  file <- tempfile()
  d <- data.frame(a = sin(1:20), y = cos(1:20))
  fit <- sparsegp(y ~ a, d, method = method_ep(size = 5), learn = FALSE)
  code <- bquote({
    cat(1, file = .(file))
    1e-6
  })
  method <- method_ep(size = 5)
  method$tol <- fit$options$tol <- code
  for (ask in list(print, summary, predict, loo, function(fit) update(fit, d[1:2, ]))) {
    expect_error(ask(fit), class = "sparsegp_error")
  }
  expect_error(sparsegp(y ~ a, d, method = method, learn = FALSE), class = "sparsegp_error")
  expect_false(file.exists(file))
})
