# Scales that panels share, keys with titles, and axes that suit the fit.

r_code_alone()

charts_of <- function(fit, type = "effects", by = NULL) {
  style <- plot_style()
  asked <- match_plot_args(fit, list(which = NULL, type = type, newdata = NULL, level = 0.95,
                                     n = 5L, by = by, se = NULL, ahead = NULL))
  style$log <- has_log_axis(fit, asked, style)
  asked$style <- style
  about <- registered("plots", type)
  about$charts(fit, about$picture(fit, asked), style)
}

scale_data <- function() {
  set.seed(1)
  d <- data.frame(x = runif(30), z = runif(30), b = rep(0:1, 15), g = rep(c("u", "v", "w"), 10))
  d$y <- 3 * d$x + d$b / 4 + rnorm(30) / 9
  d
}

test_that("effects share one scale of y and one key, and few whole values are their own ticks", {
  fit <- sparsegp(y ~ x + z + b + g, scale_data(), learn = FALSE)
  charts <- charts_of(fit)
  expect_length(unique(lapply(charts, `[[`, "ylim")), 1L)
  expect_length(charts[[1L]]$key, 4L)
  expect_true(all(lengths(lapply(charts[-1L], `[[`, "key")) == 0L))
  expect_identical(sum(nzchar(vapply(charts, `[[`, "", "title"))), 1L)
  named <- charts[vapply(charts, `[[`, "", "x") == "b"][[1L]]
  expect_equal(named$ticks$x$at, 0:1)
})

test_that("inputs without a panel are named in a message", {
  set.seed(2)
  d <- as.data.frame(matrix(rnorm(200), 20))
  d$y <- d$V1 + rnorm(20)
  fit <- sparsegp(y ~ ., d, learn = FALSE)
  expect_message(charts_of(fit), "have smaller effects and are not drawn: V[0-9]+[.] Name terms")
  expect_message(report_left_out(paste0("V", 1:30), "V1"), "V10, V11 and 19 more[.] Name terms")
})

test_that("a basis of most rows is not marked, as the marks would hide the rows", {
  of_size <- function(size) {
    sparsegp(dist ~ speed, cars, basis = data.frame(speed = seq(4, 25, length.out = size)),
             learn = FALSE)
  }
  expect_identical(nrow(marked_basis(of_size(20L))), 20L)
  expect_null(marked_basis(of_size(30L)))
})

test_that("names of far residuals are not drawn over each other", {
  shown <- list(c(0, 10), c(-2, 3))
  moved <- function(x, y) names_at(x, y, shown[[1L]], shown[[2L]])
  expect_equal(moved(c(9, 8.5, 8), c(2.9, 2.95, 2.8)), c(2.6, 2.95, 2.25))
  expect_identical(moved(c(9, 1, 9), c(2.9, 2.9, -1)), c(2.9, 2.9, -1)) # apart as they are
})

test_that("a key has the name of its factor, and more names stand behind their curves", {
  slow_tier()
  fit <- sparsegp(y ~ x + g, scale_data(), learn = FALSE)
  chart <- charts_of(fit, "fit")[[1L]]
  expect_identical(vapply(chart$key, `[[`, "", "label"),
                   c("g:", "u", "v", "w", "95% for the mean"))
  skip_if_not_installed("ggplot2")
  expect_identical(ggplot2::ggplot_build(chart_layers(list(chart)))$plot$scales$
                     get_scales("colour")$name, "g")
  d <- scale_data()
  d$g <- rep(letters[1:15], 2)
  chart <- charts_of(sparsegp(y ~ x + g, d, learn = FALSE), "fit", by = "g")[[1L]]
  names <- Filter(function(element) element$kind == "names", chart$elements)[[1L]]
  expect_true(all(names$data$x < chart$xlim[2L]) && all(names$data$pos == 4))
})

test_that("censored times are open in partial residuals, too", {
  skip_if_not_installed("survival")
  d <- scale_data()
  fit <- sparsegp(survival::Surv(exp(y), b) ~ x + z + g, d, "weibull", learn = FALSE)
  chart <- charts_of(fit)[[1L]]
  expect_true("censored" %in% vapply(chart$key, `[[`, "", "label"))
  points <- Filter(function(element) element$kind == "points", chart$elements)
  open <- Filter(function(element) identical(element$look$fill, NA), points)
  expect_identical(nrow(open[[1L]]$data), sum(d$b == 0))
})

test_that("half of the partial residuals of times lie below their effect, for every error", {
  slow_tier()
  skip_if_not_installed("survival")
  set.seed(8)
  d <- data.frame(x = runif(80), z = runif(80))
  for (error in c("weibull", "loglogistic", "lognormal")) {
    d$t <- exp(2 * d$x + TIME_ERRORS[[error]]$draw(80) / 2)
    fit <- sparsegp(survival::Surv(t) ~ x + z, d, error, kernel = "linear")
    left <- working_residuals(fit, rows_of(fit, NULL))
    # 80 rows: the median of the residuals has a standard error of some .1
    expect_lt(abs(stats::median(left)), 0.25)
    expect_lt(abs(mean(left < 0) - 0.5), 0.15)
  }
})

test_that("axes are logarithmic where the fit has logarithms and values span magnitudes", {
  set.seed(3)
  d <- data.frame(x = exp(seq(-4, 4, length.out = 40)))
  d$y <- d$x^0.8 * exp(rnorm(40) / 3)
  own <- function(...) sparsegp(y ~ x, d, learn = FALSE, ...)
  logs <- own(lik_gaussian(transform = "log"), scale = "log")
  chart <- charts_of(logs, "fit")[[1L]]
  expect_true(chart$log_y)
  expect_true(attr(chart$xlim, "log"))
  expect_true(all(chart$ylim > 0))
  plain <- charts_of(own(lik_gaussian(transform = "log"), scale = TRUE), "fit")[[1L]]
  expect_false(plain$log_y)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(logs)
  expect_identical(c(par("xlog"), par("ylog")), c(TRUE, TRUE))
  plot(logs, log = "")
  expect_identical(c(par("xlog"), par("ylog")), c(FALSE, FALSE))
})

test_that("facets of ggplot2 have the ticks of their own axis", {
  slow_tier()
  skip_if_not_installed("ggplot2")
  fit <- sparsegp(y ~ x + z + g, transform(scale_data(), h = rep(c("one", "two"), 15)),
                  learn = FALSE)
  charts <- charts_of(fit)
  made <- ggplot2::ggplot_build(chart_layers(charts))
  labels <- lapply(made$layout$panel_params, function(panel) panel$x$get_labels())
  at <- which(vapply(charts, `[[`, "", "x") == "g")
  expect_identical(as.character(labels[[at]]), c("u", "v", "w"))
  expect_false(any(unlist(labels[-at]) %in% c("u", "v", "w")))
  expect_null(made$plot$labels$x)
})
