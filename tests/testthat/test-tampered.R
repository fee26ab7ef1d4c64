# Fits that come from a file and are not what was written: an error in words, never a crash.

tampered_fits <- function() {
  set.seed(2)
  d <- data.frame(a = rnorm(40), b = rnorm(40))
  d$y <- sin(d$a) + d$b + 0.1 * rnorm(40)
  d$g <- factor(cut(d$y, c(-Inf, -0.5, 0.5, Inf)), labels = c("low", "mid", "high"))
  fit <- function(formula, ...) sparsegp(formula, d, ..., learn = FALSE)
  list(data = d, fits = list(
    full = fit(y ~ a + b, kernel = kernel_rbf(ard = TRUE) + kernel_linear(vars = "b")),
    basis = fit(y ~ a + b, basis = 1:8), classes = fit(g ~ a, basis = 1:6),
    own = fit(g ~ a, lik_mprobit(shared = FALSE), method = method_ivm(5)),
    rest = fit(g ~ a, lik_probit()), ordered = fit(factor(g, ordered = TRUE) ~ a),
    stream = fit(y ~ a + b, method = method_online(6, pilot = 20)),
    waiting = fit(y ~ a, method = method_online(6, pilot = 100))
  ))
}

# What a user may do with a fit: every answer, or the first error.
use_it <- function(fit, d) {
  new <- d[1:3, ]
  grown <- !is.null(fit$state) && is.null(fit$stream$waiting)
  list(
    function() predict(fit, new), function() draws(fit, new), function() kl(fit, fit),
    function() summary(fit), function() if (grown) update(fit, d[1:5, ]),
    function() if (grown && is.null(fit$stream)) merge(fit, fit),
    function() if (grown && is.null(fit$stream)) sparsegp(control = gp_control(like = fit),
                                                          data = d[1:9, ])
  )
}

test_that("the fits of every kind pass their check, from a file, too", {
  slow_tier()
  made <- tampered_fits()
  file <- tempfile()
  for (name in names(made$fits)) {
    fit <- made$fits[[name]]
    expect_null(invalid_field(ready(fit)), label = name)
    saveRDS(fit, file)
    expect_identical(predict(readRDS(file), made$data[1:3, ]), predict(fit, made$data[1:3, ]))
    for (use in use_it(fit, made$data)) expect_error(suppressWarnings(use()), NA, label = name)
  }
})

test_that("fields that do not fit are refused by name before C reads them", {
  slow_tier()
  made <- tampered_fits()
  change <- function(kind, ...) {
    fit <- made$fits[[kind]]
    path <- list(...)
    value <- path[[length(path)]]
    path <- path[-length(path)]
    at <- as.call(Reduce(function(a, b) call("[[", a, b), path, quote(fit)))
    eval(call("<-", at, value))
    fit
  }
  stream <- made$fits$stream
  count <- stream$stream$record$count
  short <- function(x) x[, -1L, drop = FALSE]
  bad <- list(
    format = change("full", "format", 99L), format = change("full", "format", quote(NULL)),
    format = change("full", "format", mean), call = change("full", "call", mean),
    method = change("basis", "method", list()), method = change("basis", "method", "tol", "x"),
    log_evidence = change("basis", "log_evidence", "x"), xlevels = change("full", "xlevels", mean),
    xlevels = change("full", "xlevels", list(nowhere = c("u", "v"))),
    contrasts = change("full", "contrasts", mean), row_names = change("full", "row_names", 1:40),
    stream = change("stream", "stream", "weighted", NA),
    hyper = change("full", "hyper", "part", "x"),
    hyper = change("full", "hyper", made$fits$full$hyper[0L, ]),
    hyper = change("ordered", "hyper", made$fits$ordered$hyper[-3L, ]),
    hyper = change("own", "hyper", made$fits$own$hyper[-1L, ]),
    spec = change("basis", "spec", "vars", 5L), spec = change("basis", "spec", "vars", -1L),
    spec = change("basis", "spec", "vars", NA_integer_), spec = change("basis", "spec", "vars", 0),
    spec = change("basis", "spec", "type", "sum"), spec = change("full", "spec", "parts", list()),
    spec = change("full", "spec", "parts", 2L, "ard", NA),
    spec = change("full", "spec", "parts", 2L, "type", "nothing"),
    spec = change("full", "spec", "parts", 2L, "degree", integer()),
    posterior = change("basis", "posterior", "basis", short(made$fits$basis$posterior$basis)),
    posterior = change("basis", "posterior", "alpha", 1),
    posterior = change("basis", "posterior", "alpha", 1:8),
    posterior = change("classes", "posterior", "H", short(made$fits$classes$posterior$H)),
    posterior = change("own", "posterior", "each", made$fits$own$posterior$each[1:2]),
    posterior = change("own", "posterior", "each", 2L, "alpha", numeric()),
    scaling = change("basis", "scaling", "kept", 2L, FALSE),
    scaling = change("basis", "scaling", "sd", 1),
    response = change("classes", "response", "processes", 1000L),
    response = change("classes", "response", "levels", c("a", "b")),
    response = change("full", "response", "codec", "base"),
    response = change("full", "response", "width", 2L),
    likelihood = change("full", "likelihood", "type", "nothing"),
    rows = change("full", "latent", "var", numeric(3)), rows = change("full", "offset", 1L),
    rows = change("basis", "data_rows", matrix(0, 1, 3)), rows = change("basis", "n", 7),
    x = change("basis", "x", short(made$fits$basis[["x"]])),
    state = change("basis", "state", 1L, "R", diag(3)),
    state = change("stream", "state", 1L, "R", short(stream$state[[1L]]$R)),
    state = change("stream", "state", 1L, "t", matrix(0, 2, 1)),
    stream = change("stream", "stream", "record", "count", replace(count, 10, 1e5)),
    stream = change("stream", "stream", "record", "count", replace(count, 10, -5)),
    stream = change("stream", "stream", "record", "count", replace(count, 10, NaN)),
    stream = change("stream", "stream", "record", "points", matrix(0, 1, 6)),
    stream = change("stream", "stream", "size", -3L),
    stream = change("stream", "stream", "size", NA_integer_)
  )
  for (i in seq_along(bad)) {
    for (use in use_it(bad[[i]], made$data)[1:4]) {
      expect_error(use(), names(bad)[i], class = "sparsegp_error",
                   label = paste(i, names(bad)[i]))
    }
    expect_error(update(bad[[i]], made$data[1:5, ]), names(bad)[i], class = "sparsegp_error")
    expect_error(merge(bad[[i]], bad[[i]]), names(bad)[i], class = "sparsegp_error")
    expect_error(sparsegp(control = gp_control(like = bad[[i]]), data = made$data), names(bad)[i],
                 class = "sparsegp_error")
  }
})

test_that("terms that make other inputs than those of the fit are refused", {
  memory_tier()
  made <- tampered_fits()
  d <- transform(made$data, same = 1)
  other <- stats::terms(y ~ a)
  constant <- suppressWarnings(sparsegp(y ~ a + same, d, basis = 1:5, learn = FALSE))
  for (fit in list(constant, made$fits$stream)) {
    fit$terms <- other
    if (!is.null(fit$stream)) fit$stream$coder$terms <- other
    for (use in list(predict, update)) {
      expect_error(use(fit, d[1:3, ]), "its terms make the inputs a,", class = "sparsegp_error")
    }
  }
})

test_that("streams that wait are refused by name, too", {
  memory_tier()
  made <- tampered_fits()
  # of two labels it has seen one
  one <- transform(made$data[1:9, ], g = "low")
  waiting <- sparsegp(g ~ a, one, lik_probit(), method = method_online(6, pilot = 20))
  for (fit in list(waiting, made$fits$waiting)) expect_null(invalid_part("waiting", fit))
  change <- function(part, value) {
    waiting$stream[part] <- list(value)
    waiting
  }
  bad <- list(stream = replace(waiting, "stream", list("x")), setup = change("setup", list()),
              coder = change("coder", mean), coder = change("coder", list(terms = 1)),
              pilot = change("pilot", NA), omitted = change("omitted", "x"),
              weighted = change("weighted", NULL), waiting = change("waiting", 1:3),
              waiting = change("waiting", replace(waiting$stream$waiting, "y", list(1:2))),
              model = change("model", NULL), call = replace(waiting, "call", list("x")))
  for (i in seq_along(bad)) {
    for (use in list(predict, update)) {
      expect_error(use(bad[[i]], one), paste0("`", names(bad)[i], "`"),
                   class = "sparsegp_error")
    }
  }
})

test_that("random damage to what C reads ends in an answer or in an error of this package", {
  memory_tier()
  made <- tampered_fits()
  set.seed(8)
  damage <- list(function(x) NULL, function(x) x[0L], function(x) x[-1L], function(x) c(x, x),
                 function(x) "a", function(x) NA, function(x) -3L, function(x) 1e9,
                 function(x) list(), function(x) as.list(x), function(x) t(x), function(x) -x)
  parts <- c("spec", "hyper", "posterior", "scaling", "response", "state", "likelihood", "stream")
  for (i in seq_len(if (whole_suite()) 800L else 100L)) {
    fit <- made$fits[[sample(7L, 1L)]]
    path <- match(sample(intersect(parts, names(fit)), 1L), names(fit))
    # what the first call said is R's alone
    below <- if (names(fit)[path] == "stream") c("record", "size", "predefined")
             else names(fit[[path]])
    while (is.list(fit[[path]]) && length(fit[[path]]) && stats::runif(1L) < 0.8) {
      inner <- fit[[path]]
      from <- if (length(path) == 1L && !is.null(below)) match(below, names(inner))
              else seq_along(inner)
      path <- c(path, from[sample(length(from), 1L)])
    }
    if (length(path) == 1L && names(fit)[path] == "stream") next # then it is no stream's
    fit[[path]] <- tryCatch(sample(damage, 1L)[[1L]](fit[[path]]), error = function(e) NULL)
    use <- sample(use_it(fit, made$data), 1L)[[1L]]
    error <- tryCatch(suppressWarnings(c(use(), NULL)[0L]), error = function(e) e)
    if (!inherits(error, "error")) next
    expect_true(inherits(error, "sparsegp_error"),
                label = paste(i, toString(path), conditionMessage(error)))
  }
})

test_that("densities that are not what was written are refused", {
  fit <- gp_density(faithful$eruptions, k0 = 2)
  for (bad in list(list(k0 = -1L), list(k0 = NA), list(k0 = 3L), list(mean = 1),
                   list(cov = diag(2)), list(basis = matrix(0, 5, 2)), list(range = c(0, 1)),
                   list(format = 0L), list(waves = "level"), list(waves = NULL),
                   list(scale = 0))) {
    damaged <- fit
    damaged[names(bad)] <- bad
    expect_error(predict(damaged, 3), "this density is damaged", class = "sparsegp_error",
                 label = names(bad))
  }
})

test_that("a fit that was sound is looked at again once somebody has changed it", {
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  expect_length(predict(fit, cars[1:2, ]), 2L)
  same <- fit
  same$posterior$alpha <- same$posterior$alpha + 0 # a copy of equal numbers
  expect_identical(predict(same, cars[1:2, ]), predict(fit, cars[1:2, ]))
  wrong <- fit
  wrong$posterior$alpha[1L] <- NaN
  expect_error(predict(wrong, cars[1:2, ]), class = "sparsegp_error")
  expect_length(predict(fit, cars[1:2, ]), 2L)
  wrong <- fit
  wrong$n <- -1L
  expect_error(predict(wrong, cars[1:2, ]), class = "sparsegp_error")
})

test_that("a large fit is not kept from the garbage collector", {
  registry <- getFromNamespace("REGISTRY", "sparsegp")
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  fit$call <- quote(f(x))
  predict(fit, cars[1:2, ])
  expect_identical(registry$sound_fit, fit)
  fit$frame <- data.frame(x = numeric(2e6)) # 16 MB
  predict(fit, cars[1:2, ])
  expect_null(registry$sound_fit)
})

test_that("values of constructors that were changed are refused in words", {
  memory_tier()
  d <- data.frame(a = sin(1:20), y = cos(1:20))
  fit <- function(...) sparsegp(y ~ a, d, kernel = "rbf", ...)
  with_prior <- function(x) fit(control = gp_control(prior = list(lengthscale = x)))
  with_kernel <- function(x) sparsegp(y ~ a, d, kernel = x, learn = FALSE)
  uses <- list(
    list(prior_gamma(2, 1), function(x) list(family = "none", par = "a"), with_prior),
    list(prior_gamma(2, 1), function(x) list(par = c(1, 2), par = NULL, par = sum), with_prior),
    list(prior_normal(0, 1), function(x) list(par = -x$par, par = x$par[1L], par = NaN), print),
    list(gp_control(), function(x) list(effort = "x", effort = 1:2, none = 1, verbose = NA),
         function(x) fit(control = x, learn = FALSE)),
    list(learn_control(), function(x) list(inner = -1, restarts = 1e300, criterion = NULL),
         function(x) fit(learn = x)),
    list(row_source(function(i) if (i < 2) d),
         function(x) list(reader = "x", chunks = 1e300, only = 3, apart = NA, hold = -1),
         function(x) sparsegp(y ~ a, x, learn = FALSE)),
    list(kernel_rbf() + kernel_linear(), function(x) {
      parts <- x$parts
      part <- function(class) {
        replace(parts, 1L, list(structure(unclass(parts[[1L]]), class = class)))
      }
      list(parts = part("liar"), parts = part(c("liar", "sparsegp_kernel")), params = list(1),
           parts = structure(parts, class = "liar"), type = structure("sum", class = "liar"))
    }, with_kernel),
    list(lik_student(), function(x) {
      list(type = structure("student", class = "liar"), params = list(scale = "a", df = NULL),
           params = list(scale = structure(1, class = "sparsegp_fixed"), df = NULL))
    }, function(x) fit(x, learn = FALSE))
  )
  for (use in uses) {
    changes <- use[[2L]](use[[1L]])
    for (i in seq_along(changes)) {
      value <- use[[1L]]
      value[names(changes)[i]] <- changes[i]
      expect_error(use[[3L]](value), class = "sparsegp_error",
                   label = paste(class(value), names(changes)[i], i))
    }
  }
})

test_that("mixtures and times that were changed are refused in words", {
  memory_tier()
  x <- cbind(a = sin(1:9), b = cos(1:9))
  y <- mixture(c(0.6, 0.4), list(x, -x), 0.1)
  fit <- function(y) sparsegp(x, y, kernel = kernel_helmholtz(), learn = FALSE)
  for (parts in list(1.5, 0L, -1L, 3L, NA, "2", c(2, 2), NULL, 1e9)) {
    expect_error(fit(structure(y, parts = parts)), class = "sparsegp_error")
    expect_error(print(structure(y, parts = parts)), class = "sparsegp_error")
  }
  for (components in list("u", c("u", "v", "w"), NULL)) {
    expect_error(fit(structure(y, components = components)), class = "sparsegp_error")
  }
  expect_error(fit(replace(y, 1:9, -1)), "was changed", class = "sparsegp_error")
  times <- sparsegp(x, rep(1:3, 3), "weibull", learn = FALSE)$y
  text <- matrix(as.character(unclass(times)), 9L)
  for (bad in list(structure(text, class = class(times)), structure(1:9, class = class(times)))) {
    expect_error(sparsegp(x, bad, "weibull", learn = FALSE), class = "sparsegp_error")
  }
})

test_that("what only a search reads of a fit is checked, too", {
  memory_tier()
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  for (bad in list("x", structure(list(1), class = "liar"), matrix(1, 3L, 0L))) {
    wrong <- fit
    wrong$hyper$turn <- NULL
    wrong$hyper <- structure(c(unclass(wrong$hyper), list(turn = bad)), class = "data.frame",
                             row.names = attr(fit$hyper, "row.names"))
    expect_error(predict(wrong, cars[1:2, ]), "`hyper`", class = "sparsegp_error")
  }
  wrong <- fit
  wrong$hyper$prior[[1L]]$family <- "none"
  expect_error(predict(wrong, cars[1:2, ]), "`hyper`", class = "sparsegp_error")
  wrong <- fit
  name <- "\xff"
  Encoding(name) <- "bytes"
  names(wrong)[1L] <- name
  expect_error(predict(wrong, cars[1:2, ]), "format", class = "sparsegp_error")
})
