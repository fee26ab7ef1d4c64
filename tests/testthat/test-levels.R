# Factors of one level, and levels that the fit has not seen.

r_code_alone()

level_data <- function() {
  set.seed(2)
  d <- data.frame(a = runif(60, -2, 2), g = rep(c("p", "q", "r"), 20), one = "only")
  d$y <- sin(2 * d$a) + (d$g == "q") + 0.1 * rnorm(60)
  d$two <- factor(ifelse(d$y > 0.3, "u", "v"))
  d$three <- factor(ifelse(d$y > 0.8, "high", ifelse(d$y > 0, "mid", "low")))
  d
}

level_fit <- function(formula, d = level_data(), ...) sparsegp(formula, d, learn = FALSE, ...)

# To rounding, of which points of a basis that are close make more.
agree <- function(found, expected) expect_equal(unname(found), unname(expected), tolerance = 1e-8)

test_that("a factor of one level is left out as a constant number is", {
  slow_tier()
  d <- level_data()
  plain <- level_fit(y ~ a)
  forms <- list(d$one, factor(d$one), factor(d$one, ordered = TRUE), factor(d$one, c("only", "b")),
                TRUE, addNA(factor(d$one))[, drop = TRUE])
  for (form in forms) {
    d$one <- form
    fit <- level_fit(y ~ a + one, d)
    agree(fitted(fit), fitted(plain))
    expect_length(fit$scaling$dropped, 1L)
    expect_output(print(summary(fit)), "constant inputs kept out: one")
  }
})

test_that("so are factors of which subset or na.action leave one level, and odd names", {
  slow_tier()
  d <- level_data()
  some <- level_fit(y ~ a, d[d$g == "p", ])
  agree(fitted(sparsegp(y ~ a + g, d, subset = g == "p", learn = FALSE)), fitted(some))
  agree(fitted(level_fit(y ~ a + g, transform(d, g = ifelse(g == "p", g, NA)))), fitted(some))
  names(d)[names(d) == "one"] <- "one level"
  agree(fitted(level_fit(y ~ a + `one level`, d)), fitted(level_fit(y ~ a)))
  names(d)[names(d) == "g"] <- "the group"
  read <- row_source(function(i) d[20 * (i - 1) + 1:20, ], chunks = 3)
  agree(predict(level_fit(y ~ a + `the group` + `one level`, read), d),
        predict(level_fit(y ~ a + g), level_data()))
})

test_that("interactions with a factor of one level add nothing", {
  slow_tier()
  d <- level_data()
  plain <- fitted(level_fit(y ~ a))
  for (formula in c(y ~ a * one, y ~ one * a, y ~ a:one, y ~ a:one + one, y ~ a + one - 1)) {
    agree(fitted(level_fit(formula, d)), plain)
  }
  agree(fitted(level_fit(y ~ a * g * one, d)), fitted(level_fit(y ~ a * g)))
})

test_that("predictions mind only whether such a factor is missing", {
  d <- level_data()
  fit <- level_fit(y ~ a + one, d)
  new <- transform(d[1:3, ], one = c("only", "another", NA))
  expect_message(found <- predict(fit, new), "one: another", class = "sparsegp_unseen")
  agree(found[1:2], predict(level_fit(y ~ a), new)[1:2])
  expect_identical(is.na(unname(found)), c(FALSE, FALSE, TRUE))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(fit))
  expect_silent(plot(fit, newdata = d))
})

test_that("a single level is left out of sources, streams and fits that take more rows", {
  slow_tier()
  d <- level_data()
  basis <- d[1:9, ]
  read <- function(d) row_source(function(i) d[20 * (i - 1) + 1:20, ], chunks = 3)
  agree(predict(level_fit(y ~ a + one, read(d), basis = basis), d),
        predict(level_fit(y ~ a, read(d), basis = basis), d))
  # a level that comes in the last chunk only is one
  late <- transform(d, one = rep(c("only", "late"), c(50, 10)))
  agree(predict(level_fit(y ~ a + one, read(late), basis = late[c(1:8, 55), ]), late),
        predict(level_fit(y ~ a + one, late, basis = late[c(1:8, 55), ]), late))
  # a stream waits for a second level up to ten times its pilot, here all 40 rows; then it takes it
  # for a constant number
  stream <- level_fit(y ~ a + one, d[1:40, ], method = method_online(8, pilot = 4))
  without <- level_fit(y ~ a + I(0 * a + 1), d[1:40, ], method = method_online(8, pilot = 40))
  agree(predict(update(stream, d[41:60, ]), d), predict(update(without, d[41:60, ]), d))
  fit <- level_fit(y ~ a + one, d[1:40, ], basis = basis)
  without <- level_fit(y ~ a, d[1:40, ], basis = basis)
  agree(predict(update(fit, d[41:60, ]), d), predict(update(without, d[41:60, ]), d))
  # other values would need a column that is not there, as those of a constant number; a stream
  # keeps the column
  expect_error(update(fit, late[51:60, ]), "new levels \\(one: late",
               class = "sparsegp_error")
  expect_silent(more <- update(stream, late[51:60, ]))
  expect_identical(more$xlevels, list(one = c("only", "late")))
})

test_that("where nothing but such factors is left there is a warning", {
  d <- level_data()
  expect_warning(fit <- level_fit(y ~ one, d), "No input varies (one)", fixed = TRUE,
                 class = "sparsegp_warning")
  agree(fitted(fit), rep(mean(d$y), 60))
  expect_error(level_fit(y ~ a + one, d, kernel = kernel_rbf(vars = "one")), "all constant",
               class = "sparsegp_error")
})

test_that("NA among a factor's levels is a level, in pictures, updates and sources, too", {
  slow_tier()
  d <- level_data()
  d$g <- addNA(factor(ifelse(d$g == "r", NA, "known")))
  fit <- level_fit(y ~ a + g, d, basis = d[1:9, ])
  as_text <- transform(d, g = ifelse(is.na(as.character(g)), "none", "known"))
  text <- level_fit(y ~ a + g, as_text, basis = as_text[1:9, ])
  agree(predict(fit, d), predict(text, as_text))
  agree(predict(update(fit, d[1:6, ]), d), predict(update(text, as_text[1:6, ]), as_text))
  read <- row_source(function(i) d[20 * (i - 1) + 1:20, ], chunks = 3)
  agree(predict(level_fit(y ~ a + g, read, basis = d[1:9, ]), d), predict(fit, d))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(fit, newdata = d))
})

# ---- Unseen levels ----

# The value, and the warnings that came with it.
with_warnings <- function(code) {
  warnings <- list()
  value <- withCallingHandlers(code, warning = function(w) {
    warnings <<- c(warnings, list(w))
    invokeRestart("muffleWarning")
  })
  list(value = value, warnings = warnings)
}

# One warning, which names variable and levels.
warned_once <- function(code, words = "g: zz") {
  found <- with_warnings(code)
  expect_length(found$warnings, 1L)
  expect_s3_class(found$warnings[[1L]], "sparsegp_unseen")
  expect_match(conditionMessage(found$warnings[[1L]]), words, fixed = TRUE)
  found$value
}

contrast_fit <- function(...) level_fit(..., control = gp_control(coding = "contrasts"))

unseen_rows <- function() {
  data.frame(a = c(0, 1, -1, 0.5), g = c("p", "zz", NA, "q"), y = 0, two = "u", three = "mid")
}

test_that("rows with unseen levels are NA, and the others are answered", {
  slow_tier()
  new <- unseen_rows()
  known <- new[c(1, 4), ]
  lost <- c(2L, 3L)
  number <- contrast_fit(y ~ a + g)
  cases <- list(list(), list(se.fit = TRUE), list(interval = "prediction"), list(type = "median"),
                list(se.fit = TRUE, interval = "confidence"), list(type = "terms"),
                list(covariance = TRUE))
  for (case in cases) {
    ask <- function(rows) do.call(predict, c(list(number, rows), case))
    found <- unlist(warned_once(ask(new)))
    expect_identical(found[!is.na(found)], unlist(ask(known)), ignore_attr = TRUE)
    expect_true(anyNA(found))
  }
  for (formula in c(two ~ a + g, three ~ a + g)) {
    fit <- contrast_fit(formula)
    for (type in c("class", "prob", "link")) {
      found <- as.matrix(warned_once(predict(fit, new, type = type)))
      expect_true(all(is.na(found[lost, ])))
      expect_identical(unname(found[-lost, ]),
                       unname(as.matrix(predict(fit, known, type = type))[, ]))
    }
  }
  vectors <- contrast_fit(cbind(y, a) ~ I(a^2) + g)
  found <- warned_once(predict(vectors, new, se.fit = TRUE))
  expect_identical(unname(rowSums(is.na(found$fit))), c(0, 2, 2, 0))
  # ordered factors, and a level that was declared and never seen
  d <- transform(level_data(), g = factor(g, c("p", "q", "r", "zz"), ordered = TRUE))
  found <- warned_once(predict(contrast_fit(y ~ a + g, d), new))
  expect_identical(which(is.na(unname(found))), lost)
})

test_that("draws, candidates, pictures and chunks have one warning, too", {
  slow_tier()
  new <- unseen_rows()
  fit <- contrast_fit(y ~ a + g)
  drawn <- warned_once(draws(fit, new, 2))
  expect_identical(unname(rowSums(is.na(drawn))), c(0, 2, 2, 0))
  expect_identical(which(is.na(warned_once(simulate(fit, newdata = new))$sim_1)), 2:3)
  chosen <- warned_once(next_rows(fit, new, 2))
  expect_setequal(as.integer(chosen), c(1L, 4L))
  expect_error(next_points(fit, list(a = c(-2, 2), g = c("p", "zz"))), "`within` has.*g: zz",
               class = "sparsegp_error")
  expect_identical(unname(which(is.na(warned_once(model.matrix(fit, new))[, "gq"]))), 2:3)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  classes <- contrast_fit(two ~ a + g)
  warned_once(plot(fit, newdata = new))
  warned_once(plot(classes, newdata = new))
  warned_once(plot(classes, "reliability", newdata = rbind(level_data()[names(new)], new)))
  chunks <- row_source(function(i) transform(new, g = replace(g, 2, c("zz", "yy")[i])), chunks = 2)
  count <- 0
  warned_once(predict(fit, chunks, to = function(answer, i) count <<- count + sum(is.na(answer))),
              "g: zz, yy")
  expect_identical(count, 4)
})

test_that("streams answer so, and more rows with unseen levels are refused in words", {
  slow_tier()
  d <- transform(level_data(), g = factor(g))
  stream <- contrast_fit(y ~ a + g, d, method = method_online(8, pilot = 20))
  fit <- contrast_fit(y ~ a + g, d, basis = d[1:9, ])
  new <- unseen_rows()
  for (fit in list(stream, fit)) {
    expect_identical(which(is.na(unname(warned_once(predict(fit, new))))), 2:3)
    expect_error(update(fit, new), "new levels \\(g: zz\\).*Fit again",
                 class = "sparsegp_error")
  }
  expect_error(sparsegp(control = gp_control(like = fit), data = new),
               "`data` has new levels \\(g: zz",
               class = "sparsegp_error")
  expect_error(sparsegp(control = gp_control(like = fit), data = d, basis = new[1:2, ]),
               "`basis` has.*g: zz",
               class = "sparsegp_error")
  expect_error(contrast_fit(y ~ a + g, d, basis = new[1:2, ]), "`basis` has.*g: zz",
               class = "sparsegp_error")
})

test_that("a level that stands in rows with missing values only is no reason for a warning", {
  d <- level_data()
  d$g <- factor(rep(c("u", "v", "w"), 20))
  d$a[d$g == "w"] <- NA
  fit <- contrast_fit(y ~ a + g, d)
  expect_silent(found <- predict(fit, d))
  expect_identical(unname(is.na(found)), d$g == "w")
  d$a[3] <- 1
  expect_warning(predict(fit, d), "g: w", class = "sparsegp_warning")
})
