# How sparsegp() may be called, what it remarks on the rows, and which argument an error names.

r_code_alone()

call_data <- function() {
  set.seed(3)
  d <- data.frame(a = 1:40 / 4, b = rnorm(40), n = rep(2:5, 10))
  d$y <- sin(d$a) + d$b
  d$up <- as.integer(d$y > 0)
  d$s <- rbinom(40, d$n, 0.4)
  d$class <- factor(ifelse(d$y > 0, "u", "v"))
  d
}

call_error <- function(expr, pattern) expect_error(expr, pattern, class = "sparsegp_error")

# ---- The formula and the data in any order ----

test_that("the data may stand before the formula, by position and by name", {
  slow_tier()
  d <- call_data()
  plain <- sparsegp(y ~ a, d, learn = FALSE)
  fits <- list(sparsegp(d, y ~ a, learn = FALSE), d |> sparsegp(y ~ a, learn = FALSE),
               sparsegp(data = d, formula = y ~ a, learn = FALSE),
               sparsegp(formula = y ~ a, data = d, learn = FALSE),
               sparsegp(data = d, y ~ a, learn = FALSE),
               sparsegp(d, formula = y ~ a, learn = FALSE),
               sparsegp(learn = FALSE, formula = y ~ a, data = d),
               do.call(sparsegp, list(y ~ a, d, learn = FALSE)),
               do.call(sparsegp, list(d, y ~ a, learn = FALSE)),
               do.call("sparsegp", list(formula = y ~ a, data = quote(d), learn = FALSE)))
  for (fit in fits) {
    expect_identical(fitted(fit), fitted(plain))
    expect_identical(formula(fit), y ~ a, ignore_attr = TRUE)
    expect_identical(fitted(update(fit, . ~ . + b)), fitted(sparsegp(y ~ a + b, d, learn = FALSE)))
    expect_identical(dim(model.frame(fit)), c(40L, 2L))
    expect_identical(fitted(update(fit, kernel = kernel_matern52())),
                     fitted(sparsegp(y ~ a, d, kernel = kernel_matern52(), learn = FALSE)))
  }
  expect_identical(fits[[2L]]$call, quote(sparsegp(formula = y ~ a, data = d, learn = FALSE)))
  labels <- d |> sparsegp(class ~ a, "logit", subset = a > 2, learn = FALSE)
  expect_identical(labels$likelihood$type, "logit")
  expect_identical(nobs(labels), 32L)
  weighted <- d |> sparsegp(y ~ a, weights = n, learn = FALSE)
  expect_identical(fitted(weighted), fitted(sparsegp(y ~ a, d, weights = n, learn = FALSE)))
  chunks <- row_source(function(i) d[20 * (i - 1) + 1:20, ], chunks = 2)
  of_source <- chunks |> sparsegp(y ~ a, basis = d[1:5, ], learn = FALSE)
  expect_identical(nobs(of_source), 40L)
  like <- d |> sparsegp(control = gp_control(like = of_source))
  expect_identical(nobs(like), 40L)
})

test_that("data are evaluated once", {
  count <- 0
  rows <- function() {
    count <<- count + 1
    call_data()
  }
  sparsegp(y ~ a, rows(), learn = FALSE)
  expect_identical(count, 1)
})

# ---- Families ----

test_that("likelihood = \"binomial\" is binomial, as in glm()", {
  slow_tier()
  d <- call_data()
  type_of <- function(...) sparsegp(..., learn = FALSE)$likelihood$type
  for (family in list("binomial", binomial, binomial())) {
    expect_identical(type_of(class ~ a, d, likelihood = family), "logit")
    expect_identical(type_of(up ~ a, d, likelihood = family), "logit")
    expect_identical(type_of(up == 1 ~ a, d, likelihood = family), "logit")
    expect_identical(type_of(d$a, d$class, likelihood = family), "logit")
    expect_identical(type_of(cbind(s, n - s) ~ a, d, likelihood = family), "binomial")
    expect_identical(sparsegp(s / n ~ a, d, weights = n, likelihood = family,
                              learn = FALSE)$likelihood$type, "binomial")
  }
  expect_identical(type_of(s ~ a, d, likelihood = "poisson"), "poisson")
  expect_identical(type_of(y ~ a, d, likelihood = "gaussian"), "gaussian")
  expect_identical(type_of(class ~ a, d, likelihood = "probit"), "probit")
  # the likelihood itself is for trials alone
  expect_identical(type_of(up ~ a, d, likelihood = lik_binomial()), "binomial")
  call_error(sparsegp(class ~ a, d, lik_binomial()), "likelihood = \"logit\" for classes")
})

test_that("every exported likelihood has its name, and errors list them all", {
  made <- grep("^lik_", getNamespaceExports("sparsegp"), value = TRUE)
  names <- setdiff(sub("^lik_", "", made), c("moments", "loglik", "custom", "extension"))
  known <- c(likelihood_names(), "heteroscedastic", "mixture")
  for (name in intersect(names, known)) {
    expect_s3_class(as_likelihood(name), "sparsegp_likelihood")
  }
  expect_none(setdiff(names, known), "likelihoods without a name")
  d <- call_data()
  expect_identical(sparsegp(y ~ a, d, "heteroscedastic", learn = FALSE)$likelihood$type,
                   "heteroscedastic")
  call_error(sparsegp(y ~ a, d, "mixture"), "mixture\\(weights")
  call_error(sparsegp(y ~ a, d, "no such"), "\"heteroscedastic\", \"mixture\"")
})

test_that("families that there are not are refused with what is nearest", {
  slow_tier()
  d <- call_data()
  nearest <- list(
    Gamma = "Gamma\\(\"log\"\\).*log\\(y\\) ~ x.*heteroscedastic",
    inverse.gaussian = "\"gamma\".*log\\(y\\) ~ x",
    quasipoisson = "negbin", quasibinomial = "binomial\\(\\)", quasi = "heteroscedastic"
  )
  for (name in names(nearest)) {
    call_error(sparsegp(y ~ a, d, name), paste0("`likelihood` is.*", nearest[[name]]))
    call_error(sparsegp(y ~ a, d, get(name)), paste0("`likelihood` is.*", nearest[[name]]))
  }
  call_error(sparsegp(up ~ a, d, binomial("cloglog")), "\"logit\" and \"probit\"")
  call_error(sparsegp(up ~ a, d, binomial("cauchit")), "\"logit\" and \"probit\"")
  call_error(sparsegp(s ~ a, d, poisson("sqrt")), "\"log\": give poisson\\(\\)")
  call_error(sparsegp(y ~ a, d, gaussian("log")), "log\\(y\\) ~ x")
  # as MASS, mgcv, brms and glmmTMB call theirs
  foreign <- c(nbinom1 = "negbin", compois = "negbin", ziplss = "\"zip\"",
               gammals = "\"gamma\"",
               truncated_poisson = "gaussian\\(\\)", betabinomial = "\"beta\"",
               Tweedie = "log\\(y \\+ 1\\)", "scaled t" = "student", student = "student",
               "Ordered Categorical" = "ordinal", cumulative = "ordinal", multinom = "softmax",
               categorical = "softmax", "Multivariate normal" = "cbind", gaulss = "heteroscedastic",
               "Cox PH" = "Surv", lognormal = "lognormal", "no such" = "gaussian\\(\\)")
  for (name in names(foreign)) {
    family <- structure(list(family = name, link = "log"), class = "family")
    call_error(sparsegp(y ~ a, d, family), foreign[[name]])
  }
})

test_that("families of other packages stand for the likelihoods they mean", {
  slow_tier()
  family <- function(family, link) structure(list(family = family, link = link), class = "family")
  known <- list(negbin = family("negative binomial", "log"), negbin = family("nbinom2", "log"),
                beta = family("Beta regression(0.4)", "logit"), beta = family("beta", "logit"),
                zip = family("zero inflated Poisson", "identity"), gamma = stats::Gamma("log"),
                zip = family("zero_inflated_poisson", "log"),
                zinb = family("zero_inflated_negbinomial", "log"),
                hurdle_poisson = family("hurdle_poisson", "log"),
                hurdle_negbin = family("hurdle_negbinomial", "log"))
  for (i in seq_along(known)) {
    expect_identical(as_likelihood(known[[i]])$type, names(known)[i], label = known[[i]]$family)
  }
  expect_error(as_likelihood(family("Beta regression", "probit")), "logit",
               class = "sparsegp_error")
  expect_error(as_likelihood(family("nbinom2", "sqrt")), "negbin", class = "sparsegp_error")
  skip_if_not_installed("MASS")
  expect_equal(as_likelihood(MASS::negative.binomial(2.3456))$params$size, fixed(2.3456))
  skip_if_not_installed("mgcv")
  expect_null(as_likelihood(mgcv::nb())$params$size)
  expect_equal(as_likelihood(mgcv::nb(2.5))$params$size, fixed(2.5))
  expect_equal(as_likelihood(mgcv::negbin(3))$params$size, fixed(3))
  expect_identical(as_likelihood(mgcv::betar())$type, "beta")
  expect_identical(as_likelihood(mgcv::ziP())$type, "zip")
})

# ---- Remarks ----

remarks <- function(code) {
  said <- character()
  withCallingHandlers(code, message = function(m) {
    said <<- c(said, conditionMessage(m))
    invokeRestart("muffleMessage")
  }, warning = function(w) {
    said <<- c(said, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  said
}

once <- function(code, words) {
  said <- remarks(code)
  expect_length(said, 1L)
  expect_match(said, words)
}

test_that("a response of 0 and 1 is remarked on once, however it comes", {
  slow_tier()
  d <- call_data()
  words <- "only 0 and 1"
  once(sparsegp(up ~ a, d), words)
  once(sparsegp(d$a, d$up), words)
  once(sparsegp(up ~ a + b, d, method = method_ep(8)), words)
  read <- function(d) row_source(function(i) d[20 * (i - 1) + 1:20, ], chunks = 2)
  once(sparsegp(up ~ a, read(d), basis = d[1:5, ]), words)
  once(sparsegp(up ~ a, read(d), basis = d[1:5, ], learn = learn_control(rows = 10)), words)
  # a first chunk of 0 and 1 says nothing of the others
  expect_identical(remarks(sparsegp(up ~ a, read(transform(d, up = replace(up, 40, 2))),
                                    basis = d[1:5, ])), character())
  online <- method_online(8, pilot = 20)
  once(sparsegp(up ~ a, d, method = online), words)
  once(sparsegp(up ~ a, read(d), method = online), words)
  once({
    stream <- sparsegp(up ~ a, d[1:5, ], method = online, learn = FALSE)
    stream <- update(stream, d[6:10, ])
    predict(stream, d[1:2, ])
    stream <- update(stream, d[11:30, ])
    update(stream, d[31:40, ])
  }, words)
  expect_identical(remarks(sparsegp(up ~ a, d, "probit")), character())
})

test_that("a response without anything to learn from has a warning in words", {
  slow_tier()
  d <- transform(call_data(), same = 3, none = 0)
  once(sparsegp(same ~ a, d), "response does not vary")
  once(sparsegp(same ~ a, d, learn = FALSE), "response does not vary")
  once(sparsegp(same ~ a, d, "student", learn = FALSE), "response does not vary")
  # what varies is its departure from what was expected
  expect_identical(remarks(sparsegp(same ~ a + offset(b), d)), character())
  once(sparsegp(same ~ a, d, "heteroscedastic", learn = FALSE), "response does not vary")
  once(sparsegp(cbind(y, same) ~ a, d, learn = FALSE), "component that does not vary: same")
  for (likelihood in c("poisson", "negbin")) {
    once(sparsegp(none ~ a, d, likelihood), "nothing but zeros")
    expect_identical(remarks(sparsegp(same ~ a, d, likelihood)), character())
  }
  once(sparsegp(cbind(none, n) ~ a, d), "nothing but failures")
  once(sparsegp(cbind(n, none) ~ a, d), "nothing but successes")
  read <- function(d) row_source(function(i) d[20 * (i - 1) + 1:20, ], chunks = 2)
  few <- learn_control(rows = 10)
  once(sparsegp(same ~ a, read(d), basis = d[1:5, ], learn = few), "does not vary")
  # some rows say nothing of the others
  expect_identical(remarks(sparsegp(none ~ a, read(transform(d, none = replace(none, 39, 1))),
                                    "poisson", basis = d[1:5, ], learn = few)), character())
  # a stream waits for a response that varies, up to ten times its pilot: all 40 rows
  once(sparsegp(same ~ a, d, method = method_online(8, pilot = 4)), "does not vary")
})

test_that("one or two rows to learn from have a warning, and single classes are refused", {
  slow_tier()
  d <- call_data()
  once(sparsegp(y ~ a, d[1, ]), "only 1 row:")
  once(sparsegp(y ~ a, d[1:2, ]), "only 2 rows:")
  once(sparsegp(d$a[1:2], c(TRUE, FALSE)), "only 2 rows:")
  expect_identical(remarks(sparsegp(y ~ a, d[1:2, ], learn = FALSE)), character())
  one <- d[d$class == "u", ]
  for (likelihood in list(NULL, "probit", "logit", "mprobit", "softmax", "nullcat")) {
    call_error(sparsegp(class ~ a, one, likelihood), "only one class, u")
    call_error(sparsegp(class ~ a, transform(one, class = "u"), likelihood), "only one class, u")
  }
  call_error(sparsegp(b > -100 ~ a, d), "only one class, TRUE")
  call_error(sparsegp(ordered(class) ~ a, one, "ordinal"), "only one class, u")
  online <- method_online(8, pilot = 10)
  # another class may come in the next rows, up to ten times the pilot
  expect_s3_class(sparsegp(class ~ a, one[1:12, ], method = online), "sparsegp_waiting")
  once(sparsegp(class ~ a, one[rep(1:12, 9), ], method = online), "one class only")
  call_error(sparsegp(as.character(class) ~ a, one[rep(1:12, 9), ], method = online),
             "a factor that names the others")
  call_error(sparsegp(class ~ a, row_source(function(i) one[1:12, ], chunks = 2)), "only one class")
})

test_that("warnings are given once, and of sources and streams, too", {
  slow_tier()
  d <- transform(call_data(), same = 3, line = 2 * a)
  read <- function() row_source(function(i) d[20 * (i - 1) + 1:20, ], chunks = 2)
  few <- learn_control(rows = 10)
  once(sparsegp(y ~ same, d), "No input varies \\(same\\)")
  once(sparsegp(d$same, d$y), "No input varies \\(x1\\)")
  once(sparsegp(y ~ same, read(), basis = d[1:3, ], learn = few), "No input varies \\(same\\)")
  brief <- learn_control(rows = 10, inner = 3)
  once(sparsegp(line ~ a, read(), basis = d[1:5, ], learn = brief), "before it converged")
  once(sparsegp(class ~ a, read(), basis = d[1:5, ], method = method_ep(sweeps = 1), learn = few),
       "EP did not converge")
})

# ---- Which argument an error names ----

test_that("errors name the argument that was given", {
  slow_tier()
  d <- call_data()
  fit <- sparsegp(y ~ a + b, d, basis = 1:8, learn = FALSE)
  points <- cbind(a = 1:3, b = 0)
  expect_identical(basis(sparsegp(control = gp_control(like = fit), data = d, basis = points)),
                   basis(sparsegp(control = gp_control(like = fit), data = d,
                                  basis = as.data.frame(points))))
  call_error(sparsegp(control = gp_control(like = fit), data = d,
                      basis = points[, "a", drop = FALSE]), "`basis`")
  call_error(sparsegp(control = gp_control(like = fit), data = d, basis = data.frame(a = 1:3)),
             "`basis` lacks b")
  call_error(sparsegp(control = gp_control(like = fit), data = d,
                      basis = data.frame(a = "x", b = 0)), "`basis` has a")
  call_error(sparsegp(control = gp_control(like = fit), data = d["a"]), "`data` lacks y, b")
  call_error(sparsegp(control = gp_control(like = fit), data = 3), "`data` must be a data frame")
  call_error(sparsegp(control = gp_control(like = fit)), "`data` is missing")
  call_error(sparsegp(y ~ a + b, d, basis = data.frame(a = 1:3)), "`basis` lacks b")
  call_error(sparsegp(y ~ a + b, d, basis = data.frame(a = "x", b = 0)), "`basis` has a")
  of_matrix <- sparsegp(d[c("a", "b")], d$y, basis = 1:8, learn = FALSE)
  call_error(sparsegp(control = gp_control(like = of_matrix), x = d["a"], y = d$y), "`x` lacks b")
  call_error(sparsegp(control = gp_control(like = of_matrix), x = d[c("a", "b")], y = d$y,
                      basis = points[, 1]),
             "`basis`")
  call_error(update(of_matrix, d["a"], y = d$y), "`x` lacks b")
  call_error(next_rows(fit, d["a"]), "`candidates` lacks b")
  call_error(next_points(fit), "`within` is missing")
  call_error(next_points(fit, list(a = c(0, 1))), "`within` lacks b")
  changed <- transform(d, b = replace(numeric(40), 35, 1))
  constant <- sparsegp(y ~ a + b, changed[1:20, ], basis = 1:8, learn = FALSE)
  call_error(sparsegp(control = gp_control(like = constant), data = changed),
             "`data` has other values")
  call_error(update(constant, changed[21:40, ]), "`newdata` has other values")
  online <- method_online(8, pilot = 20)
  call_error(sparsegp(y ~ a, d[0, ], offset = "z", method = online), "`offset` is text")
  call_error(sparsegp(y ~ a, d, offset = "b"), "`offset` is text")
  call_error(sparsegp("y ~ a", d), "`x` is text.*without quotes")
  call_error(sparsegp("y ~ a", data = d), "`x` is text.*without quotes")
  call_error(sparsegp(y ~ a, no_such_data), "`data` cannot be evaluated.*no_such_data")
})

test_that("a mixture of no rows begins a stream", {
  none <- mixture(c(0.5, 0.5), list(matrix(0, 0, 2), matrix(0, 0, 2)), 1)
  some <- mixture(c(0.5, 0.5), list(matrix(0, 3, 2), matrix(1, 3, 2)), 1)
  expect_identical(dim(none), c(0L, ncol(some)))
  expect_identical(c(rbind(none, some)), c(some))
  scaled <- mixture(1, list(matrix(0, 0, 2)), list(diag(2)), list(mean = 0, covariance = 1))
  expect_identical(nrow(scaled), 0L)
  d <- data.frame(x = 1:3)
  d$z <- some
  empty <- d[0, , drop = FALSE]
  empty$z <- none
  stream <- sparsegp(z ~ x, empty, kernel = kernel_coregion(), method = method_online(3, pilot = 3),
                     learn = FALSE)
  expect_equal(nobs(update(stream, d)), 3)
})

# ---- R without its default packages ----

test_that("fits need no package on the search path", {
  slow_tier()
  skip_on_cran() # a new process
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(c(
    "fit <- sparsegp::sparsegp(dist ~ speed, datasets::cars)",
    "stats::predict(fit, datasets::cars[1:3, ], interval = \"prediction\")",
    "print(fit)",
    "print(base::summary(fit))",
    "grDevices::pdf(NULL)",
    "base::plot(fit)",
    "fit <- stats::update(fit, . ~ . + I(speed^2))",
    "fit <- stats::update(fit, kernel = sparsegp::kernel_matern52())",
    "online <- sparsegp::method_online(5, pilot = 20)",
    "stream <- sparsegp::sparsegp(dist ~ speed, datasets::cars[1:10, ], method = online)",
    "stream <- stats::update(stream, datasets::cars[11:50, ])",
    "stats::predict(stream, datasets::cars[1:3, ])",
    "names <- sparsegp::sparsegp(am ~ wt, datasets::mtcars, \"binomial\", learn = FALSE)",
    "stats::predict(names, datasets::mtcars[1:3, ], type = \"class\")",
    "density <- sparsegp::gp_density(datasets::faithful$eruptions)",
    "density <- stats::update(density, k0 = 3)",
    "cat(\"to the end\\n\")"
  ), script)
  rscript <- file.path(R.home("bin"), "Rscript")
  libraries <- paste0("R_LIBS=", shQuote(paste(.libPaths(), collapse = .Platform$path.sep)))
  said <- system2(rscript, shQuote(script), stdout = TRUE, stderr = TRUE,
                  env = c("R_DEFAULT_PACKAGES=NULL", libraries))
  expect_identical(said[length(said)], "to the end")
})

test_that("a fit like another reads weights in the data, and refuses what it does not read", {
  d <- transform(mtcars, w = cyl / 4)
  first <- sparsegp(mpg ~ wt, d[1:16, ], weights = w, basis = d[1:5, ], learn = FALSE)
  like <- sparsegp(control = gp_control(like = first), data = d[17:32, ], weights = w)
  expect_equal(like$n, 16L)
  expect_equal(predict(like, d), predict(sparsegp(control = gp_control(like = first),
                                                  data = d[17:32, ],
                                                  weights = d$w[17:32]), d))
  beside <- function(...) sparsegp(control = gp_control(like = first), data = d, weights = w, ...)
  call_error(beside(kernl = "rbf"), "Unknown argument: `kernl`")
  call_error(beside(likelihood = "student"), "`likelihood` comes from `like`")
  call_error(beside(offset = d$hp), "`offset` is a part of the formula")
  call_error(sparsegp(d, mpg ~ wt, data = d), "`x` is given beside `data`")
  call_error(sparsegp(mpg ~ wt, data = d, x = d), "`x` is given beside `data`")
})

test_that("what has no one curve, or no such part, or no number, is refused in words", {
  slow_tier()
  pair <- sparsegp(cbind(mpg, hp) ~ wt, mtcars, learn = FALSE)
  field <- sparsegp(cbind(mpg, hp) ~ wt + qsec, mtcars, kernel = kernel_helmholtz(), learn = FALSE)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(mpg ~ wt, mtcars)
  for (interval in c("none", "confidence")) call_error(lines(pair, interval), "each component")
  call_error(vector_field(field, mtcars, interval = "prediction"), "`interval`")
  plain <- sparsegp(mpg ~ wt, mtcars, learn = FALSE)
  call_error(plot(plain, ~ wt, type = "terms"), "names or numbers of parts")
  call_error(calibration(plain, nominal = c(0.5, NA)), "numbers between 0 and 1")
})
