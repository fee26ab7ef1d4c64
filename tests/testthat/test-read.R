# What C reads is what it must be, whatever R's checks have believed: wrong types, sizes, bounds,
# classes whose methods lie, and attributes as only a file can have them.

# Arguments of the entries that read what a fit has stored, each as the package would call it.
sound_calls <- function() {
  set.seed(5)
  d <- data.frame(a = rnorm(14), b = rnorm(14))
  d$y <- sin(d$a) + 0.1 * rnorm(14)
  d$v <- d$a - d$b
  d$g <- factor(rep_len(c("u", "v", "w"), 14))
  fit <- function(formula, ...) sparsegp(formula, d, ..., learn = FALSE)
  full <- fit(y ~ a + b, kernel = kernel_rbf() + kernel_trig(2, vars = "b"))
  field <- fit(cbind(y, v) ~ a + b, kernel = kernel_helmholtz(), basis = 1:4)
  classes <- fit(g ~ a, lik_softmax(), basis = 1:5)
  shared <- fit(cbind(y, v) ~ a, kernel = kernel_coregion(), method = method_online(4, pilot = 8))
  predict_call <- function(fit) {
    x <- fit$posterior$basis[1:2, , drop = FALSE]
    list(sg_predict, fit$spec, kernel_theta(fit), layout_for_c(processes(fit), n_outputs(fit)),
         with_mean_at(fit$posterior, x), x, FALSE)
  }
  tilt_call <- function(fit, type, rows, q = 0L) {
    w <- n_outputs(fit)
    values <- ncol(rows) * processes(fit) * w
    list(sg_lik_tilt, lik_for_c(fit$likelihood, processes(fit), w, q), lik_theta(fit), rows,
         numeric(values), rep(c(diag(w)), values / w), FALSE)
  }
  list(
    full = predict_call(full), field = predict_call(field), classes = predict_call(classes),
    shared = predict_call(shared),
    slopes = slopes_call(full),
    cross = list(sg_kernel_cross, field$spec, kernel_theta(field), field$posterior$basis, NULL),
    state = list(sg_posterior, field$state[[1L]]),
    labels = tilt_call(classes, "softmax", matrix(c(1, 3), 1L)),
    online = online_call(shared), pass = batch_call(full, d)
  )
}

# Slopes along the first input.
slopes_call <- function(fit) {
  x <- fit$posterior$basis[1:2, , drop = FALSE]
  v <- cbind(c(1, 1), 0)
  list(sg_slopes, fit$spec, kernel_theta(fit), layout_for_c(1L),
       with_mean_slopes(fit$posterior, x, v, 1L), x, v, FALSE)
}

# A call that a stream is gone on with.
online_call <- function(fit) {
  stream <- fit$stream
  state <- c(stream$record[c("points", "id")], fit$state[[1L]][c("R", "S", "t")],
             stream$record[c("count", "trace")])
  x <- fit$posterior$basis[1:2, , drop = FALSE]
  x[, ncol(x)] <- 1:2
  list(sg_online, fit$spec, kernel_theta(fit), x,
       lik_for_c(fit$likelihood, 1L, 2L), lik_theta(fit), matrix(c(0.1, 0.2), 2L), c(0, 0),
       state, NULL,
       list(size = stream$size, frozen = FALSE, kl = TRUE, narrow = FALSE, novelty = 1e-6,
            score = 1L, informative = FALSE, by_row = FALSE))
}

# EP of two rows on a basis of two.
batch_call <- function(fit, d) {
  x <- fit$posterior$basis[1:2, , drop = FALSE]
  list(sg_ep_batch, fit$spec, kernel_theta(fit), x, lik_for_c(fit$likelihood, 1L), lik_theta(fit),
       rbind(c(0.1, -0.2), c(1, 1)), c(0, 0), list(tau = c(1, 1), nu = c(0, 0)),
       list(sweeps = 5L, batch = 3L, mixing = 2L, damping = 1, tol = 1e-6, gradient = TRUE,
            posterior = TRUE, pool = 1e6, points = FALSE, base = NULL, trend = NULL), x)
}

# Attributes as R would not set them, which a file can have: written into its bytes.
with_dimensions <- function(x, dim) {
  bytes <- serialize(x, NULL, ascii = FALSE, xdr = TRUE)
  as_bytes <- function(n) writeBin(as.integer(n), raw(), endian = "big")
  old <- as_bytes(c(13L, 2L, base::dim(x))) # the code of integers, how many, and these
  at <- grepRaw(old, bytes, fixed = TRUE)
  bytes[at + 8:15] <- as_bytes(dim)
  unserialize(bytes)
}

# Values that could stand in place of one.
damages <- function(x) {
  out <- list(NULL, "x", NA, -1L, 2L^30, 1e300, NaN, list(), list(1, 2), quote(a), sum,
              structure(if (is.null(x)) list() else x, class = "liar"))
  if (is.double(x) && length(x)) {
    out <- c(out, list(x[-1L], c(x, 1), x * NaN, replace(x, 1L, 1e9), replace(x, 1L, -1e300),
                       replace(x, 1L, 0.5), as.integer(x)))
  }
  if (is.matrix(x) && is.double(x) && length(x)) {
    out <- c(out, list(t(x), x[, -1L, drop = FALSE], x[-1L, , drop = FALSE], c(x),
                       with_dimensions(x, c(1000L, 1000L)), with_dimensions(x, c(-1L, -1L)),
                       with_dimensions(x, c(65536L, 65536L)), replace(x, length(x), 9),
                       replace(x, length(x), -9), replace(x, length(x), 1e18)))
  }
  if (is.integer(x) && length(x)) out <- c(out, list(x + 1000L, -x - 5L, x[0L], rep(x, 3L)))
  if (is.character(x)) out <- c(out, list("sum", "coregion", "divfree", "mixture", "mvnormal",
                                          "coupled_mprobit", "ordinal", "custom", NA_character_))
  out
}

# All copies of a nested list with one value in it damaged: list(where, value).
damaged_copies <- function(x, where = "") {
  out <- lapply(damages(x), function(new) list(where = where, value = new))
  if (!is.list(x)) return(out)
  for (i in seq_along(x)) {
    name <- paste0(where, "$", if (is.null(names(x))) i else names(x)[i])
    out <- c(out, list(list(where = name, value = x[-i])))
    for (inner in damaged_copies(x[[i]], name)) {
      y <- x
      y[i] <- list(inner$value)
      out <- c(out, list(list(where = inner$where, value = y)))
    }
  }
  out
}

# Returns the words of an error that is none of the package's, or NULL.
raw_error <- function(call) {
  tryCatch({
    do.call(.Call, call, quote = TRUE)
    NULL
  }, sparsegp_error = function(e) NULL, error = function(e) conditionMessage(e))
}

test_that("the calls that are damaged below are sound", {
  for (call in sound_calls()) expect_no_error(do.call(.Call, call, quote = TRUE))
})

test_that("no argument of C leads out of memory, and an error is of the package's words", {
  memory_tier()
  calls <- sound_calls()
  for (name in names(calls)) {
    call <- calls[[name]]
    for (i in seq_along(call)[-1L]) {
      for (copy in damaged_copies(call[[i]])) {
        damaged <- call
        damaged[i] <- list(copy$value)
        error <- raw_error(damaged)
        if (is.null(error)) next # of thousands an expectation for each takes long
        fail(paste0(name, ", argument ", i - 1L, copy$where, ": ", error))
      }
    }
    succeed()
  }
})

test_that("numbers that are an object are refused by name, whatever their methods say", {
  calls <- sound_calls()
  lie <- function(generic, answer) {
    registerS3method(generic, "liar", function(...) answer, envir = asNamespace("base"))
  }
  lie("length", 1e6)
  lie("dim", c(1000L, 1000L))
  expect_named_damage <- function(call, path, name) {
    at <- as.call(Reduce(function(a, b) call("[[", a, b), path, quote(call)))
    eval(call("<-", at, call("structure", at, class = "liar")))
    expect_error(do.call(.Call, call, quote = TRUE), name, class = "sparsegp_error")
  }
  full <- calls$full
  for (field in c("basis", "alpha", "G")) {
    expect_named_damage(full, list(5L, field), paste0("is damaged: its `", field, "`"))
  }
  expect_named_damage(full, list(3L), "is damaged: its `theta`")
  expect_named_damage(full, list(6L), "is damaged: its `x`")
  expect_named_damage(calls$online, list(9L, "id"), "is damaged: its `id`")
  expect_named_damage(calls$online, list(9L, "count"), "is damaged: its `count`")
})

test_that("an order whose features are too many to be counted is refused where it is read", {
  spec <- sparsegp(dist ~ speed, cars, kernel = kernel_trig(2), learn = FALSE)$spec
  x <- matrix(1:3 + 0)
  expect_identical(kernel_diagonal(spec, c(0, 0), x), c(5, 5, 5))
  for (order in c(.Machine$integer.max, 2^30, -1)) {
    spec$degree <- as.integer(order)
    for (of in list(kernel_diagonal, function(...) kernel_matrix(..., NULL))) {
      expect_error(of(spec, c(0, 0), x), "an invalid part, trig",
                   class = "sparsegp_error")
    }
  }
})

test_that("R's own checks ask no methods of what a fit has stored", {
  fit <- sparsegp(dist ~ speed, cars, kernel = kernel_rbf(), learn = FALSE, basis = 1:5)
  registerS3method("dim", "liar", function(x) c(5L, 1L), envir = asNamespace("base"))
  registerS3method("length", "liar", function(x) 5L, envir = asNamespace("base"))
  registerS3method("mtfrm", "liar", function(x) "gaussian", envir = asNamespace("base"))
  registerS3method("all.equal", "liar", function(...) TRUE, envir = asNamespace("base"))
  liar <- function(x) structure(x, class = "liar")
  as_frame <- function(x) structure(x, class = "data.frame")
  changes <- list(
    posterior = quote(fit$posterior$basis <- liar(1)),
    posterior = quote(fit$posterior$alpha <- liar(1)),
    posterior = quote(fit$posterior <- liar(fit$posterior)),
    state = quote(fit$state[[1L]]$R <- liar(1)), state = quote(fit$state[[1L]]$S <- liar(1)),
    spec = quote(fit$spec$vars <- liar(7L)), spec = quote(fit$spec$levels <- liar(1)),
    hyper = quote(fit$hyper <- as_frame(replace(unclass(fit$hyper), "theta",
                                                list(liar(fit$hyper$theta))))),
    response = quote(fit$response$codec <- liar("x"))
  )
  for (i in seq_along(changes)) {
    damaged <- local({
      eval(changes[[i]])
      fit
    }, list2env(list(fit = fit, changes = changes, i = i, liar = liar, as_frame = as_frame),
             parent = baseenv()))
    expect_error(predict(damaged, cars), paste0("`", names(changes)[i], "`"),
                 class = "sparsegp_error", label = deparse1(changes[[i]]))
  }
})

test_that("weights and offsets may be matrices of one column, and no more", {
  d <- data.frame(x = 1:12 / 4, y = sin(1:12), w = rep(1:3, 4))
  both <- list(function(...) sparsegp(y ~ x, d, ..., learn = FALSE),
               function(...) sparsegp(d$x, d$y, ..., learn = FALSE))
  for (fit in both) {
    expect_equal(fitted(fit(weights = matrix(d$w))), fitted(fit(weights = d$w)))
    expect_equal(fitted(fit(offset = matrix(d$w))), fitted(fit(offset = d$w)))
    expect_error(fit(weights = cbind(d$w, 1)), "`weights`", class = "sparsegp_error")
    expect_error(fit(offset = cbind(d$w, 1)), "`offset`", class = "sparsegp_error")
  }
})
