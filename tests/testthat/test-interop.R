# Methods that other packages ask for. Packages that are not here are skipped.

r_code_alone()

refused <- function(expr, pattern) {
  expect_error(expr, pattern, class = "sparsegp_error")
}

plain <- function() sparsegp(mpg ~ wt + hp, mtcars, learn = FALSE)
classes <- function() sparsegp(am ~ wt, mtcars, "probit", learn = FALSE)
flowers <- function() sparsegp(Species ~ Petal.Width, iris[c(1:5, 51:55, 101:105), ], learn = FALSE)

test_that("lines() adds the curve of predict() to a panel", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fit <- sparsegp(mpg ~ wt, mtcars, learn = FALSE)
  plot(mpg ~ wt, mtcars)
  drawn <- lines(fit, "confidence", n = 11)
  expect_equal(range(drawn$wt), par("usr")[1:2])
  expect_equal(drawn$upr, predict(fit, drawn, interval = "confidence")[, "upr"],
               ignore_attr = TRUE)
  expect_named(lines(sparsegp(mtcars$wt, mtcars$mpg, learn = FALSE)), c("x1", "fit"))
  refused(lines(plain()), "wt, hp")
  refused(lines(flowers()), "each class")
})

test_that("tidy(), glance() and augment() are found by generics", {
  slow_tier()
  skip_if_not_installed("generics")
  fit <- sparsegp(mpg ~ wt, mtcars)
  tidied <- generics::tidy(fit, conf.int = TRUE)
  expect_identical(tidied$estimate, unname(coef(fit)))
  expect_identical(tail(names(tidied), 2L), c("conf.low", "conf.high"))
  expect_equal(tidied$conf.low, unname(confint(fit)[, 1L]), tolerance = 1e-10)
  expect_true(all(is.na(generics::tidy(plain(), conf.int = TRUE)$std.error)))
  one <- generics::glance(fit)
  expect_equal(c(one$logLik, one$loo_lpd, one$sigma),
               c(logLik(fit), sum(loo_lpd(fit)), sigma(fit)))
  rows <- generics::augment(fit, se_fit = TRUE, interval = "prediction")
  expect_equal(rows$.fitted, unname(fitted(fit)))
  expect_equal(rows$.resid, unname(residuals(fit)))
  expect_true(all(c(".lower", ".upper", ".se.fit", ".loo_lpd", "mpg", "wt") %in% names(rows)))
  new <- generics::augment(fit, newdata = data.frame(wt = c(3, NA)))
  expect_identical(is.na(new$.fitted), c(FALSE, TRUE))
  several <- generics::augment(flowers())
  expect_true(all(c(".fitted.setosa", ".class") %in% names(several)))
  expect_identical(generics::glance(flowers())$error,
                   with(loo(flowers()), mean(predicted != observed)))
  # rows that were left out are not there
  holes <- transform(mtcars, wt = replace(wt, 3, NA))
  left <- generics::augment(sparsegp(mpg ~ wt, holes, na.action = na.exclude, learn = FALSE))
  expect_identical(nrow(left), 31L)
  plain_matrix <- sparsegp(cbind(a = mtcars$wt, b = mtcars$hp), mtcars$mpg, learn = FALSE)
  expect_equal(generics::augment(plain_matrix)$b, mtcars$hp, tolerance = 1e-10)
  refused(generics::augment(fit, mtcars[1:3, ]), "3 rows")
  refused(generics::tidy(fit, conf.int = TRUE, conf.level = 95), "conf.level")
})

test_that("insight reads what a fit is of", {
  skip_if_not_installed("insight")
  expect_true(insight::model_info(plain())$is_linear)
  expect_true(insight::model_info(classes())$is_binomial)
  expect_identical(insight::find_predictors(plain())$conditional, c("wt", "hp"))
  expect_equal(insight::link_inverse(classes())(0), 0.5)
})

test_that("ggeffects predicts as predict() does", {
  slow_tier()
  skip_if_not_installed("ggeffects")
  fit <- plain()
  effect <- ggeffects::ggpredict(fit, "wt [2, 3]")
  # it holds hp at its mean, in two decimals
  wanted <- predict(fit, data.frame(wt = 2:3, hp = mean(mtcars$hp)), interval = "confidence")
  expect_equal(effect$predicted, wanted[, "fit"], ignore_attr = TRUE, tolerance = 1e-4)
  expect_equal(effect$conf.low, wanted[, "lwr"], ignore_attr = TRUE, tolerance = 1e-4)
  expect_s3_class(insight::get_predicted(classes()), "get_predicted")
})

test_that("emmeans averages the latent function over its grid, covariances included", {
  slow_tier()
  skip_if_not_installed("emmeans")
  fit <- sparsegp(mpg ~ wt + cyl, transform(mtcars, cyl = factor(cyl)), learn = FALSE)
  means <- as.data.frame(emmeans::emmeans(fit, "cyl"))
  at <- predict(fit, data.frame(wt = mean(mtcars$wt), cyl = factor(c(4, 6, 8))), se.fit = TRUE)
  expect_equal(means$emmean, unname(at$fit), tolerance = 1e-10)
  expect_equal(means$SE, unname(at$se.fit), tolerance = 1e-6)
  # a mean over levels: the variance of a mean of joint values
  all <- as.data.frame(emmeans::emmeans(fit, "wt"))
  joint <- predict(fit, data.frame(wt = mean(mtcars$wt), cyl = factor(c(4, 6, 8))),
                   covariance = TRUE)$covariance
  expect_equal(all$SE, sqrt(mean(joint)), tolerance = 1e-6)
  counts <- sparsegp(carb ~ wt, mtcars, poisson, learn = FALSE)
  rate <- as.data.frame(emmeans::emmeans(counts, "wt", type = "response"))
  expect_equal(rate$rate, unname(predict(counts, data.frame(wt = mean(mtcars$wt)),
                                         type = "median")), tolerance = 1e-8)
})

test_that("emmeans averages over dates, times and measures", {
  slow_tier()
  skip_if_not_installed("emmeans")
  day <- seq(as.Date("2001-01-01"), by = "month", length.out = 40)
  kinds <- list(day, as.POSIXct(day), day - day[1L])
  for (at in kinds) {
    d <- data.frame(at = at, g = factor(rep(c("u", "v"), 20)), y = sin(1:40))
    fit <- sparsegp(y ~ at + g, d, learn = FALSE)
    new <- data.frame(at = rep(mean(at), 2L), g = factor(c("u", "v")))
    means <- as.data.frame(emmeans::emmeans(fit, "g"))
    expect_equal(means$emmean, unname(predict(fit, new)), tolerance = 1e-8)
  }
})

test_that("what DALEX asks for is there without it", {
  slow_tier()
  expect_identical(dalex_info(plain())$type, "regression")
  expect_identical(dalex_info(classes())$type, "classification")
  expect_identical(dalex_info(flowers())$type, "multiclass")
  cars <- mtcars[1:3, ]
  expect_identical(yhat.sparsegp(classes(), cars), unname(predict(classes(), cars)))
  expect_identical(yhat.sparsegp(flowers(), iris[1:3, ]), predict(flowers(), iris[1:3, ]))
})

test_that("DALEX knows classes from numbers", {
  slow_tier()
  skip_if_not_installed("DALEX")
  type_of <- function(fit, data, y) {
    DALEX::explain(fit, data, y, verbose = FALSE)$model_info$type
  }
  expect_identical(type_of(plain(), mtcars[c("wt", "hp")], mtcars$mpg), "regression")
  expect_identical(type_of(classes(), mtcars["wt"], mtcars$am), "classification")
  expect_identical(type_of(flowers(), iris["Petal.Width"], iris$Species), "multiclass")
  explained <- DALEX::explain(classes(), mtcars["wt"], mtcars$am, verbose = FALSE)
  expect_identical(explained$y_hat, unname(predict(classes(), mtcars["wt"])))
})

test_that("pdp averages predictions, and probabilities of several classes", {
  slow_tier()
  skip_if_not_installed("pdp")
  at <- data.frame(wt = c(2, 3))
  averages <- function(fit, type) {
    vapply(at$wt, function(value) mean(predict(fit, replace(mtcars, "wt", value), type = type)), 0)
  }
  for (fit in list(plain(), classes())) {
    found <- pdp::partial(fit, "wt", train = mtcars, pred.grid = at, type = "regression")
    expect_equal(found$yhat, averages(fit, "response"), tolerance = 1e-10)
  }
  shares <- function(object, newdata) colMeans(predict(object, newdata, type = "prob"))
  found <- pdp::partial(flowers(), "Petal.Width", train = iris, pred.fun = shares,
                        pred.grid = data.frame(Petal.Width = 1))
  wanted <- predict(flowers(), transform(iris, Petal.Width = 1), type = "prob")
  expect_equal(found$yhat, unname(colMeans(wanted)), tolerance = 1e-10)
})

test_that("functions of the same name in other packages know a fit, and are known to ours", {
  slow_tier()
  same <- list(c("ranger", "importance"), c("caret", "calibration"))
  for (pair in same) {
    skip_if_not_installed(pair[1L])
    theirs <- getExportedValue(pair[1L], pair[2L])
    expect_identical(theirs(plain()), getExportedValue("sparsegp", pair[2L])(plain()))
  }
  refused(importance(1), "numeric")
  refused(calibration("a"), "character")
  attach(list(importance = function(object, ...) "hidden"), name = "other package")
  on.exit(detach("other package"))
  expect_identical(importance(structure(1, class = "forest")), "hidden")
})

test_that("the order in which packages of the same name are attached does not matter", {
  slow_tier()
  skip_if_not_installed("ranger")
  code <- paste("fit <- sparsegp(mpg ~ wt, mtcars, learn = FALSE); stopifnot(nrow(importance(fit))",
                "== 1, length(importance(ranger(mpg ~ wt, mtcars, importance = 'impurity'))) == 1)")
  orders <- list(c("ranger", "sparsegp"), c("sparsegp", "ranger"))
  for (packages in orders) {
    attached <- paste0("library(", packages, ");", collapse = "")
    status <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(paste(attached, code))),
                      env = paste0("R_LIBS=", paste(.libPaths(), collapse = ":")), stdout = FALSE,
                      stderr = FALSE)
    expect_identical(status, 0L)
  }
})

test_that("the option of marginaleffects is set unless the user has set it", {
  old <- options(marginaleffects_model_classes = NULL)
  on.exit(options(old))
  introduce_to_marginaleffects()
  expect_identical(getOption("marginaleffects_model_classes"), "sparsegp")
  options(marginaleffects_model_classes = "mine")
  introduce_to_marginaleffects()
  expect_identical(getOption("marginaleffects_model_classes"), "mine")
})

test_that("marginaleffects has predictions, slopes and comparisons", {
  slow_tier()
  skip_if_not_installed("marginaleffects")
  skip_if_not(exists("%||%", baseenv()), "R 4.4, which this package needs without saying so")
  found <- marginaleffects::predictions(plain(), newdata = mtcars[1:3, ], vcov = FALSE)
  expect_equal(found$estimate, unname(predict(plain(), mtcars[1:3, ])), tolerance = 1e-10)
  slope <- marginaleffects::slopes(plain(), variables = "wt", newdata = mtcars[1, ], vcov = FALSE)
  by_hand <- diff(predict(plain(), data.frame(wt = 2.62 + c(-1e-3, 1e-3), hp = 110))) / 2e-3
  expect_equal(slope$estimate, unname(by_hand), tolerance = 1e-3) # a forward difference
  found <- marginaleffects::avg_comparisons(flowers(), vcov = FALSE)
  expect_lt(abs(sum(found$estimate)), 1e-8) # probabilities stay a whole
})

# The code that a section of ?"other-packages" gives.
help_code <- function(section) {
  lines <- sub("^#' ?", "", readLines(file.path(source_folder("R"), "interop.R")))
  from <- match(paste0("@section ", section, ":"), lines)
  fences <- which(lines == "```")
  fences <- fences[fences > from][1:2]
  parse(text = lines[(fences[1L] + 1L):(fences[2L] - 1L)], keep.source = FALSE)
}

test_that("caret trains the model of the help page", {
  slow_tier()
  skip_if_not_installed("caret")
  gp <- NULL
  code <- help_code("caret")
  eval(code[[1L]]) # the second trains
  set.seed(1)
  trained <- caret::train(mpg ~ wt + hp, mtcars, method = gp,
                          trControl = caret::trainControl("cv", 3))
  expect_lt(trained$results$RMSE, 4)
  flowers <- caret::train(Species ~ Petal.Width, iris[seq(1, 150, 5), ], method = gp,
                          trControl = caret::trainControl("cv", 3))
  expect_gt(flowers$results$Accuracy, 0.8)
})

# What marginaleffects does with a model: the standard error of fun(predictions at `frames`) by the
# delta method, with forward differences of its coefficients.
delta_method <- function(fit, frames, fun, type = "response") {
  predicted <- function(model) {
    fun(lapply(frames, function(frame) get_predict.sparsegp(model, frame, type)$estimate))
  }
  before <- predicted(fit)
  V <- get_vcov.sparsegp(fit)
  coefs <- get_coef.sparsegp(fit)
  V <- V[names(coefs), names(coefs)]
  J <- vapply(seq_along(coefs), function(j) {
    step <- 1e-4
    moved <- set_coef.sparsegp(fit, replace(coefs, j, coefs[j] + step))
    (predicted(moved) - before) / step
  }, before)
  J <- matrix(J, length(before))
  list(estimate = before, se = sqrt(diag(J %*% V %*% t(J))))
}

test_that("coefficients for marginaleffects give the errors of the joint posterior", {
  slow_tier()
  fit <- plain()
  new <- mtcars[1:3, ]
  own <- delta_method(fit, list(new), unlist)
  expect_equal(own$se, unname(predict(fit, new, se.fit = TRUE)$se.fit), tolerance = 1e-6)
  ends <- list(transform(new, wt = wt + 1), new)
  difference <- delta_method(fit, ends, function(p) mean(p[[1L]] - p[[2L]]))
  cov <- predict(fit, do.call(rbind, ends), type = "link", covariance = TRUE)$covariance
  by <- rep(c(1, -1) / 3, each = 3L)
  expect_equal(difference$se, sqrt(drop(by %*% cov %*% by)), tolerance = 1e-6)
  # a difference over 1e-3 of the input, whose rounding is about 1e-5 of it
  near <- list(transform(new, wt = wt + 5e-4), transform(new, wt = wt - 5e-4))
  slope <- delta_method(fit, near, function(p) (p[[1L]] - p[[2L]]) / 1e-3)
  expect_equal(slope$se, slopes(fit, new, "wt")$std.error, tolerance = 1e-3)
  expect_error(get_vcov.sparsegp(fit, vcov = "HC3"), "cannot be chosen", class = "sparsegp_error")
  expect_null(get_vcov.sparsegp(fit, vcov = FALSE))
})

test_that("probabilities and mixtures have such errors, too", {
  slow_tier()
  fit <- sparsegp(am ~ wt, mtcars, likelihood = "probit", control = gp_control(integrate = "ccd"))
  new <- data.frame(wt = c(2.6, 3.4))
  found <- delta_method(fit, list(new), unlist)
  expect_equal(found$estimate, unname(predict(fit, new)), tolerance = 1e-10)
  # the linear part of the probability's variance
  expect_equal(found$se, unname(predict(fit, new, se.fit = TRUE)$se.fit), tolerance = 0.1)
  classes <- delta_method(flowers(), list(iris[c(51, 71), ]), function(p) p[[1L]])
  expect_identical(length(classes$se), 6L)
  drawn <- draws(flowers(), iris[c(51, 71), ], 1000, type = "response")
  # over 1000 draws, and the linear part alone
  expect_equal(classes$se, c(apply(drawn, c(1L, 3L), sd)), tolerance = 0.2)
})

test_that("coefficients for marginaleffects keep the rows that were left out, and refuse words", {
  fit <- plain()
  new <- transform(mtcars[1:3, ], wt = replace(wt, 2L, NA))
  before <- get_predict.sparsegp(fit, new)$estimate
  coefs <- get_coef.sparsegp(fit)
  moved <- set_coef.sparsegp(fit, coefs + seq_along(coefs))
  after <- get_predict.sparsegp(moved, new)$estimate
  expect_identical(is.na(after), c(FALSE, TRUE, FALSE))
  expect_gt(min(abs(after - before)[-2L]), 0.01)
  refused(get_predict.sparsegp(moved, mtcars[4:5, ]), "predicted before")
  refused(get_predict.sparsegp(classes(), mtcars[1:3, ], type = "class"), "no numbers")
})

test_that("emmeans and ggeffects refuse several latent functions with a remedy", {
  slow_tier()
  expect_silent(refuse_many_latent(plain()))
  refused(refuse_many_latent(flowers()), "classes.*avg_predictions")
  one_vs_rest <- sparsegp(Species ~ Petal.Width, iris[c(1:5, 51:55, 101:105), ], "probit",
                          learn = FALSE)
  refused(refuse_many_latent(one_vs_rest), "several classes")
  two <- sparsegp(cbind(mpg, qsec) ~ wt, mtcars, learn = FALSE)
  refused(refuse_many_latent(two), "components.*draws")
  skip_if_not_installed("emmeans")
  refused(emmeans::emmeans(flowers(), "Petal.Width"), "several classes")
  skip_if_not_installed("ggeffects")
  refused(insight::get_predicted(flowers()), "several classes")
  refused(insight::get_predicted(two), "several components")
  rated <- transform(mtcars, gear = factor(gear, ordered = TRUE))
  refused(insight::get_predicted(sparsegp(gear ~ wt, rated, learn = FALSE)), "ordered classes")
})

test_that("marginaleffects itself has standard errors", {
  slow_tier()
  skip_if_not_installed("marginaleffects")
  skip_if_not(exists("%||%", baseenv()), "R 4.4, which this package needs without saying so")
  found <- marginaleffects::avg_slopes(plain(), variables = "wt")
  own <- slopes(plain(), vars = "wt", average = TRUE)
  expect_equal(found$estimate, own$estimate, tolerance = 1e-3) # differences over 1e-4 of the range
  expect_equal(found$std.error, own$std.error, tolerance = 1e-2)
})
