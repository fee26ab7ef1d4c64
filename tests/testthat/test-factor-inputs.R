# A factor as one input: an indicator for every level, scaled so that their variances sum to that of
# one standardised number. Kernels and their adjoints with factors are among the contract tests.

r_code_alone()

factor_data <- function(n = 80L) {
  set.seed(3)
  d <- data.frame(x = runif(n, -2, 2), g = factor(sample(c("a", "b", "c", "d"), n, TRUE, 4:1)),
                  o = factor(sample(c("low", "mid", "high"), n, TRUE), c("low", "mid", "high"),
                             ordered = TRUE),
                  l = rep(c(TRUE, FALSE), length.out = n))
  d$y <- sin(2 * d$x) + c(-1, 0, 1, 3)[d$g] + as.integer(d$o) / 3 + d$l + 0.2 * rnorm(n)
  d$two <- factor(ifelse(d$y > 1, "u", "v"))
  d
}

standard <- function(x) (x - mean(x)) / sqrt(mean((x - mean(x))^2))

# The matrix that a factor stands for.
indicators <- function(g, of = g) {
  each <- outer(as.character(g), levels(of), `==`) + 0
  each / sqrt(1 - sum(colMeans(outer(as.character(of), levels(of), `==`))^2))
}

# Sums of a dozen roundings of numbers of the size of 1, through one factorisation
same <- function(found, expected) {
  expect_equal(unname(found), unname(expected), tolerance = 1e-10)
}

test_that("indicators of a factor have the variance of one number, and levels are 2 / V apart", {
  g <- factor_data()$g
  X <- indicators(g)
  expect_equal(sum(apply(X, 2L, function(x) mean((x - mean(x))^2))), 1, tolerance = 1e-12)
  fit <- sparsegp(y ~ x + g, factor_data(), learn = FALSE)
  expect_equal(fit$scaling$levels, c(0, sum((X[g == "a", ][1, ] - X[g == "d", ][1, ])^2)),
               tolerance = 1e-12)
  expect_identical(fit$scaling$names, c("x", "g"))
  expect_identical(fit$contrasts, list(g = BY_LEVEL))
})

test_that("a fit by levels is the fit of the matrix of indicators", {
  slow_tier()
  d <- factor_data()
  X <- cbind(standard(d$x), indicators(d$g), standard(as.integer(d$o)), standard(d$l))
  by_matrix <- sparsegp(X, d$y, kernel = kernel_rbf(lengthscale = 2), scale = FALSE, learn = FALSE)
  fit <- sparsegp(y ~ x + g + o + l, d, learn = FALSE)
  same(predict(fit, d), predict(by_matrix, X))
  same(as.numeric(logLik(fit)), as.numeric(logLik(by_matrix)))
  # kernels that are given, inner products among them
  for (kernel in list(kernel_matern32(lengthscale = 2), kernel_linear(variance = 0.7),
                      kernel_rbf(lengthscale = 3) + kernel_poly(2, 1, 1.5))) {
    fit <- sparsegp(y ~ x + g, d, kernel = kernel, control = gp_control(coding = "levels"),
                    learn = FALSE)
    if (kernel$type == "sum") kernel$parts[[2L]]$params$lengthscale <- 1.5 * 2 / 5 # p in poly()
    by_matrix <- sparsegp(X[, 1:5], d$y, kernel = kernel, scale = FALSE, learn = FALSE)
    same(predict(fit, d), predict(by_matrix, X[, 1:5]))
  }
  plain <- sparsegp(y ~ x + g, d, scale = FALSE, learn = FALSE)
  expect_identical(plain$scaling$levels, c(0, 2))
})

test_that("the order and the names of levels change nothing, also of what is learned", {
  slow_tier()
  d <- factor_data()
  turned <- transform(d, g = factor(g, c("c", "a", "d", "b")))
  named <- transform(d, g = factor(g, labels = c("z", "y", "x", "w")))
  text <- transform(d, g = as.character(g))
  unused <- transform(d, g = factor(g, c("q", levels(g))))
  others <- list(y = list(turned, text), two = list(named, unused))
  for (response in names(others)) {
    formula <- reformulate(c("x", "g", "l"), response)
    fit <- sparsegp(formula, d)
    for (other in others[[response]]) {
      again <- sparsegp(formula, other)
      same(predict(again, other, type = "link"), predict(fit, d, type = "link"))
      same(coef(again), coef(fit))
    }
  }
  # of a factor of two levels too, and by informative vectors
  for (method in list(method_ep(size = 20), method_ivm(20), method_online(20, pilot = 40))) {
    d$h <- factor(ifelse(d$g == "a", "one", "two"))
    fit <- sparsegp(y ~ x + h, d, method = method, learn = FALSE)
    again <- sparsegp(y ~ x + h, transform(d, h = factor(h, c("two", "one"))), method = method,
                      learn = FALSE)
    same(predict(again, d), predict(fit, d))
  }
})

test_that("who gives contrasts, a kernel or an interaction has columns", {
  slow_tier()
  d <- factor_data()
  columns <- function(...) variable.names(sparsegp(..., learn = FALSE))
  by_contrast <- c("x", "gb", "gc", "gd")
  expect_identical(columns(y ~ x + g, d), c("x", "g"))
  expect_identical(columns(y ~ x + g, d, control = gp_control(coding = "contrasts")), by_contrast)
  expect_identical(columns(y ~ x + g, d, kernel = "rbf"), by_contrast)
  expect_identical(columns(y ~ x + g, d, kernel = "rbf", control = gp_control(coding = "levels")),
                   c("x", "g"))
  expect_identical(columns(y ~ x + g + x:g, d)[1:4], by_contrast)
  expect_identical(columns(y ~ x * l + g, d), c("x", "lTRUE", "g", "x:lTRUE"))
  contrasts(d$g) <- contr.sum(4)
  expect_identical(columns(y ~ x + g, d), c("x", "g1", "g2", "g3"))
  expect_identical(columns(y ~ x + g, d, control = gp_control(coding = "levels")), c("x", "g"))
  expect_error(columns(y ~ x * g, d, control = gp_control(coding = "levels")),
               "interactions with g",
               class = "sparsegp_error")
  expect_error(columns(y ~ x + g, d, control = gp_control(coding = "onehot")),
               "`coding` is not one of",
               class = "sparsegp_error")
  expect_error(columns(y ~ x + g, d, kernel = kernel_periodic(vars = "g"),
                       control = gp_control(coding = "levels")),
               "reads g, a factor", class = "sparsegp_error")
  expect_error(columns(cbind(y, x) ~ o + g, d, kernel = kernel_helmholtz(),
                       control = gp_control(coding = "levels")),
               "reads g, a factor", class = "sparsegp_error")
  names(d)[names(d) == "g"] <- "the group"
  expect_identical(columns(y ~ x + `the group`, d, control = gp_control(coding = "levels")),
                   c("x", "`the group`"))
})

test_that("one length scale stands for a factor, and an ordered factor is read either way", {
  slow_tier()
  d <- factor_data()
  fit <- sparsegp(y ~ x + g, d, kernel = kernel_rbf(ard = TRUE),
                  control = gp_control(coding = "levels"), learn = FALSE)
  expect_named(coef(fit), c("variance", "lengthscale.x", "lengthscale.g", "noise"))
  expect_identical(is.na(fit$hyper$input_sd), c(TRUE, FALSE, TRUE, TRUE))
  setup <- list(ordered = "o", factors = "g")
  both <- codings(setup)
  expect_identical(lapply(both, function(one) one$setup$factors), list("g", c("g", "o")))
  expect_identical(codings(list(factors = "g")), list())
  # the column is the same, what is read of it differs
  x <- cbind(x = d$x, o = as.integer(d$o))
  moments <- input_moments(x, "o")
  expect_identical(scaling_of(moments, TRUE)$levels, c(0, 0))
  for (scale in list(TRUE, "common")) {
    expect_equal(scaling_of(moments, scale, factors = "o")$levels,
                 c(0, 2 / (1 - sum((table(d$o) / 80)^2))))
  }
  read <- with_read_levels(list(contrasts = list(o = BY_SCORE)), list(ordered = "o", factors = "o"))
  expect_identical(read$contrasts, list(o = BY_LEVEL))
  expect_warning(found <- predict(sparsegp(y ~ o, d, learn = FALSE), data.frame(o = "huge")),
                 "o: huge", class = "sparsegp_unseen")
  expect_true(is.na(found))
})

test_that("moments of parts are those of all, levels that one of them lacks included", {
  x <- cbind(a = rnorm(20), g = rep(c(1, 2, 2, 5), 5))
  joined <- join_moments(input_moments(x[1:6, ], "g"), input_moments(x[7:20, ], "g"))
  expect_equal(joined$counts, input_moments(x, "g")$counts)
  expect_equal(scaling_of(joined, TRUE, factors = "g")$levels,
               scaling_of(input_moments(x, "g"), TRUE, factors = "g")$levels)
})

# ---- Levels that no row had ----

test_that("an unseen level is as far from every other as these are", {
  slow_tier()
  d <- factor_data()
  fit <- sparsegp(y ~ x + g, d, learn = FALSE, mean = "average")
  new <- data.frame(x = c(0, 0, 0, 1), g = c("zz", "yy", "zz", NA))
  expect_message(found <- predict(fit, new, covariance = TRUE, type = "link"),
                 "g, predicted from the prior: zz, yy",
                 class = "sparsegp_unseen")
  expect_identical(unname(is.na(found$fit)), c(FALSE, FALSE, FALSE, TRUE))
  with_room <- factor(d$g, c(levels(d$g), "zz", "yy"))
  X <- cbind(standard(d$x), indicators(with_room))
  at <- cbind((0 - mean(d$x)) / sqrt(mean((d$x - mean(d$x))^2)),
              indicators(c("zz", "yy", "zz"), with_room))
  value <- coef(fit)
  K <- function(a, b) {
    apart <- outer(rowSums(a^2), rowSums(b^2), `+`) - 2 * tcrossprod(a, b)
    value[["variance"]] * exp(-apart / 2 / value[["lengthscale"]]^2)
  }
  gain <- K(at, X) %*% solve(K(X, X) + diag(value[["noise"]], 80))
  same(found$fit[1:3], mean(d$y) + drop(gain %*% (d$y - mean(d$y))))
  same(found$covariance[1:3, 1:3], K(at, at) - gain %*% K(X, at))
  expect_error(predict(fit, new, unseen = "error"), "new levels \\(g: zz, yy\\)",
               class = "sparsegp_error")
  expect_error(predict(sparsegp(y ~ x + g, d, control = gp_control(coding = "contrasts"),
                                learn = FALSE), new,
                       unseen = "error"), "g: zz", class = "sparsegp_error")
  expect_error(predict(sparsegp(y ~ g, d, kernel = kernel_factor(), learn = FALSE), new,
                       unseen = "error"), "g: zz", class = "sparsegp_error")
  expect_error(predict(fit, new, unseen = "NA"), "`unseen`", class = "sparsegp_error")
  expect_silent(predict(fit, d[1:3, ], unseen = "error"))
})

test_that("one message is given for all answers of a call", {
  slow_tier()
  d <- factor_data()
  new <- data.frame(x = c(0, 1), g = c("zz", "a"), two = "u", y = 0)
  once <- function(code, words = "New level of g, predicted from the prior: zz") {
    texts <- testthat::capture_messages(code)
    expect_length(texts, 1L)
    expect_match(texts, words, fixed = TRUE)
  }
  fit <- sparsegp(y ~ x + g, d, learn = FALSE)
  once(draws(fit, new, 2))
  once(next_rows(fit, new, 1))
  once(predict(fit, new, type = "terms"))
  once(predict(fit, new, interval = "prediction", se.fit = TRUE))
  once(predict(sparsegp(two ~ x + g, d, learn = FALSE), new, type = "prob"))
  once(model.matrix(fit, new))
  expect_error(next_points(fit, list(x = c(-2, 2), g = c("a", "zz"))), "`within` has.*g: zz",
               class = "sparsegp_error")
  expect_error(sparsegp(y ~ x + g, d, basis = new, learn = FALSE), "`basis` has.*g: zz",
               class = "sparsegp_error")
  chunks <- row_source(function(i) transform(new, g = c("zz", "yy")[i]), chunks = 2)
  once(predict(fit, chunks, to = function(answer, i) force(answer)),
       "New levels of g, predicted from the prior: zz, yy")
})

test_that("streams learn levels that come later, the same over any chunks", {
  slow_tier()
  d <- transform(factor_data(120L), g = as.character(g))
  d$g[81:120][c(3, 9, 20)] <- c("late", "later", "late")
  method <- method_online(60, pilot = 40)
  start <- function() sparsegp(y ~ x + g, d[1:40, ], method = method, learn = FALSE)
  stream <- update(start(), d[41:120, ])
  expect_identical(stream$xlevels$g, c("a", "b", "c", "d", "late", "later"))
  chunked <- Reduce(update, split(d[41:120, ], rep(1:8, each = 10)), start())
  expect_identical(chunked$xlevels, stream$xlevels)
  same(predict(chunked, d), predict(stream, d))
  expect_silent(predict(stream, data.frame(x = 0, g = "late")))
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(stream, file)
  same(predict(readRDS(file), d), predict(stream, d))
  # all at once they are counted: the same but for the scale
  all <- sparsegp(y ~ x + g, d, method = method, learn = FALSE)
  expect_identical(all$xlevels$g, stream$xlevels$g)
  same(predict(all, d), predict(stream, d))
})

test_that("fits on a basis take rows of new levels, and merge", {
  slow_tier()
  d <- transform(factor_data(), g = as.character(g))
  late <- transform(d[1:6, ], g = rep(c("late", "a"), 3))
  fit <- sparsegp(y ~ x + g, d[1:60, ], basis = 1:30, learn = FALSE)
  more <- update(update(fit, late), d[61:80, ])
  expect_identical(more$xlevels$g, c("a", "b", "c", "d", "late"))
  again <- update(fit, rbind(late, d[61:80, ]))
  # EP of Gaussian noise is exact whatever the order
  expect_equal(predict(more, d), predict(again, d), tolerance = 1e-8)
  other <- sparsegp(control = gp_control(like = fit), data = late)
  merged <- merge(fit, other)
  expect_identical(merged$xlevels, other$xlevels)
  expect_equal(predict(merged, d), predict(update(fit, late), d), tolerance = 1e-8)
  strange <- sparsegp(control = gp_control(like = fit), data = transform(late, g = "stranger"))
  expect_error(merge(other, strange), "other levels of a factor", class = "sparsegp_error")
})

test_that("sources settle levels and proportions over all chunks", {
  slow_tier()
  d <- transform(factor_data(), g = as.character(g))
  d <- d[order(d$g), ] # levels come chunk by chunk
  basis <- d[seq(1, 80, 4), ]
  read <- row_source(function(i) d[20 * (i - 1) + 1:20, ], chunks = 4)
  source <- sparsegp(y ~ x + g + o, read, basis = basis, learn = FALSE)
  all <- sparsegp(y ~ x + g + o, d, basis = basis, learn = FALSE)
  expect_equal(source$scaling, all$scaling, tolerance = 1e-12)
  expect_identical(source$contrasts, all$contrasts)
  expect_equal(predict(source, d), predict(all, d), tolerance = 1e-8)
})

# ---- Answers and pictures ----

test_that("answers that know inputs know factors", {
  slow_tier()
  d <- factor_data()
  fit <- sparsegp(y ~ x + g + o, d, kernel = kernel_rbf(vars = "x") + kernel_rbf(vars = "g"),
                  control = gp_control(coding = "levels"), learn = FALSE)
  expect_named(predict(fit, d[1:2, ], type = "terms"), NULL)
  expect_identical(colnames(predict(fit, d[1:2, ], type = "terms")), c("rbf(x)", "rbf(g)"))
  plain <- sparsegp(y ~ x + g + o, d)
  expect_setequal(rownames(importance(plain)), c("x", "g", "o"))
  expect_gt(importance(plain)["g", "loss"], importance(plain)["o", "loss"])
  expect_output(print(summary(plain)), "factors: g")
  expect_output(print(summary(plain)), "ordered factors read as numbers: o")
  chosen <- next_points(plain, list(x = c(-2, 2), g = levels(d$g), o = levels(d$o)), k = 2, n = 50)
  expect_true(all(chosen$g %in% levels(d$g)))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(plain))
  for (which in list(~g, ~ g + x, ~ g + o, ~o)) expect_silent(plot(plain, which = which))
  expect_silent(plot(fit, "terms"))
  expect_error(sparsegp(two ~ x + g, d, control = gp_control(augment = jitter_rows(0.1, 2, 1)),
                        learn = FALSE,
                        method = method_ivm(10)), "changes the levels of g",
               class = "sparsegp_error")
  expect_error(sparsegp(two ~ x + g, d, learn = FALSE,
                        control = gp_control(augment = jitter_rows(c(0.1, 0), 2, 1)),
                        method = method_ivm(10)), NA)
})

test_that("a factor of thousands of levels is no matrix", {
  set.seed(4)
  d <- data.frame(x = runif(4000), g = sprintf("l%04d", sample(3000, 4000, TRUE)))
  d$y <- sin(6 * d$x) + rnorm(3000)[as.integer(substring(d$g, 2))] + 0.1 * rnorm(4000)
  fit <- sparsegp(y ~ x + g, d, basis = 1:50, learn = FALSE)
  expect_identical(ncol(fit$posterior$basis), 2L)
  expect_lt(as.numeric(object.size(fit)), 5e6) # bytes; indicators of all rows would be 1e8
})

test_that("a factor of one level is left out, and one whose rows are missing stays so", {
  slow_tier()
  d <- factor_data()
  d$one <- "only"
  same(fitted(sparsegp(y ~ x + one, d, learn = FALSE)), fitted(sparsegp(y ~ x, d, learn = FALSE)))
  d$g[3] <- NA
  fit <- sparsegp(y ~ x + g, d, learn = FALSE)
  expect_identical(nobs(fit), 79L)
  expect_identical(unname(which(is.na(predict(fit, d)))), 3L)
})

test_that("an unseen level of an ordered factor that is a number has its place in the order", {
  slow_tier()
  sizes <- c("xs", "s", "m", "l", "xl")
  size <- factor(rep(c("s", "m", "xl"), 12L), sizes, ordered = TRUE)
  d <- data.frame(size = droplevels(size), y = as.integer(size)^1.5 + sin(1:36) / 4)
  fit <- sparsegp(y ~ size, d, likelihood = lik_gaussian(transform = "identity"),
                  control = gp_control(integrate = "none"))
  skip_if(!identical(fit$contrasts$size, BY_SCORE), "ordered factor was read as a factor")
  new <- data.frame(size = factor(sizes, sizes, ordered = TRUE))
  expect_message(found <- predict(fit, new),
                 "New levels of size, predicted by place in the order of its levels: xs, l")
  one <- new[new$size == "xs", , drop = FALSE] # a line for each kind, of one level and of several
  expect_message(predict(fit, one), "New level of size, predicted by place .*: xs")
  # the same latent function at the numbers 0, 1, 2, 2.5 and 3
  numbers <- sparsegp(y ~ score, data.frame(score = as.integer(d$size), y = d$y),
                      kernel = fit$kernel, likelihood = lik_gaussian(transform = "identity"),
                      control = gp_control(integrate = "none"))
  expect_equal(unname(found), unname(predict(numbers, data.frame(score = c(0, 1, 2, 2.5, 3)))),
               tolerance = 1e-3)
  expect_error(predict(fit, new, unseen = "error"), "size: xs, l", class = "sparsegp_error")
  expect_warning(text <- predict(fit, data.frame(size = c("m", "l"))), "size: l")
  expect_identical(is.na(unname(text)), c(FALSE, TRUE))
  expect_equal(places_of(c("b", "c", "f"), factor("a", letters[1:6], ordered = TRUE),
                         c("a", "d", "e")), c(4 / 3, 5 / 3, 4))
  expect_null(places_of("b", factor("a", letters[1:3], ordered = TRUE), c("c", "a")))
  expect_null(places_of("b", factor("a", letters[1:3]), c("a", "c")))
})
