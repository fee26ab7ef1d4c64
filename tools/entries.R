# Calls every entry of the package's C code at least once: run by tools/memcheck under valgrind, and
# under gctorture2(), where all numbers have to be what they are without it.
#
#   Rscript tools/entries.R [once | torture]
#
# The cases are some of those of the golden numbers (tests/testthat/helper-golden.R): small fits by
# every method, and what is asked of them. An entry that none of them calls is an error.
library(sparsegp)

TORTURE_STEP <- 31L  # allocations from one forced collection of garbage to the next; a prime
TORTURED_CALLS <- 1L # of an entry, in which each allocation forces a collection

CASES <- c(
  "gaussian.full", "student.basis", "probit.sparse moment", "poisson.sparse kl",
  "softmax_own.ivm basis", "mprobit.ivm none", "negbin.online moment", "rest_flip.online kl",
  "kernel product.full", "kernel trig.online", "ordinal.full", "nullcat.basis",
  "student widening", "basis jitter", "ivm pool classes", "known variances", "binomial shares",
  "missing rows", "starts from the classes", "density plane", "slope gaussian",
  "slope mprobit basis", "kl of stages", "intervals", "draws"
)

namespace <- asNamespace("sparsegp")
helpers <- new.env(parent = namespace)
for (file in list.files("tests/testthat", "^helper.*[.]R$", full.names = TRUE)) {
  sys.source(file, helpers)
}

# ---- Calls of entries: they are noted, and may be tortured ----

called <- integer() # how often, by entry
gap <- 0L # allocations of C code from one forced collection of garbage to the next; 0: none forced

# Does what .Call() does. Under torture only the allocations of C code count: what R code holds is
# protected by the interpreter. In the first call of an entry each allocation collects; later calls
# begin to count at different offsets, so that all allocations have their turn.
call_noted <- function(entry, ...) {
  times <- sum(called[entry$name], 1L, na.rm = TRUE)
  called[entry$name] <<- times
  if (gap > 0L) {
    list(...) # evaluated before
    gctorture2(if (times <= TORTURED_CALLS) 1L else gap, times %% gap)
    on.exit(gctorture2(0L))
  }
  .Call(entry, ...)
}

# The function without torture: those that C calls are R code, too.
paused <- function(f) {
  body(f) <- bquote({
    gap_before <- gctorture2(0L)
    on.exit(gctorture2(gap_before))
    .(body(f))
  })
  f
}

# The expression with call_noted in the place of every .Call() of it.
noting <- function(code) {
  for (i in seq_along(code)) {
    if (is.call(code[[i]])) code[[i]] <- noting(code[[i]])
  }
  if (identical(code[[1L]], quote(.Call))) code[[1L]] <- call_noted
  code
}

noted <- function(f) {
  if (is.call(body(f))) body(f) <- noting(body(f))
  f
}

for (name in ls(namespace, all.names = TRUE)) {
  f <- get(name, namespace)
  if (is.function(f) && ".Call" %in% all.names(body(f))) {
    utils::assignInNamespace(name, noted(f), namespace)
  }
}
for (name in c("evaluate_kernel", "logps_of_custom", "slopes_of_custom", "threads_wanted")) {
  utils::assignInNamespace(name, paused(get(name, namespace)), namespace)
}
utils::assignInNamespace("call_entry", call_noted, namespace) # the engine's own name of .Call()
for (name in ls(helpers)) {
  f <- get(name, helpers)
  if (is.function(f) && ".Call" %in% all.names(body(f))) assign(name, noted(f), helpers)
}

# ---- What calls them ----

of_golden <- function(name) {
  case <- helpers$golden_cases()[[name]]
  if (is.null(case)) stop("no golden case '", name, "'")
  function() helpers$golden_numbers(case(damping = 1))
}

# Learning goes through the criterion of the IVM and gradients of the evidence.
learned <- function() {
  data <- helpers$golden_data()
  ivm <- sparsegp(class ~ x1 + x2, data, method = method_ivm(8),
                  learn = learn_control("ivm", inner = 2, outer = 1))
  on_basis <- sparsegp(number ~ x1 + x2, data, method = method_ep(8),
                       learn = learn_control(inner = 2, outer = 1))
  learned <- sparsegp(number ~ x1 + x2, data, method = method_ep(8, learn_points = TRUE),
                      kernel = kernel_rbf() * kernel_poly(2),
                      learn = learn_control(inner = 2, outer = 1))
  list(coef(ivm), coef(on_basis), basis(learned), predict(update(on_basis, data[1:5, ]), data))
}

# Rows of several components, some of them missing
several <- function() {
  data <- helpers$golden_data()
  data$other <- replace(data$number + data$x1, 3:4, NA)
  fit <- function(kernel, ...) {
    sparsegp(cbind(number, other) ~ x1 + x2, data, kernel = kernel,
             learn = learn_control(inner = 2, outer = 1), ...)
  }
  field <- fit(kernel_helmholtz(kernel_rq()), lik_gaussian(covariance = "full"))
  basis <- fit(kernel_coregion(), method = method_ep(8))
  stream <- fit(kernel_divfree() + kernel_coregion(kernel_constant()),
                method = method_online(6, pilot = 20))
  list(predict(field, data, se.fit = TRUE), vector_field(field, data, type = "divergence"),
       loo_lpd(basis), predict(stream, data, se.fit = TRUE), draws(stream, data[1:3, ]))
}

# A source, whose steps R asks for, and where responses lie in their distributions
chunks <- function() {
  data <- helpers$golden_data()
  rows <- split(seq_len(nrow(data)), seq_len(nrow(data)) %% 2L)
  source <- row_source(function(i) data[rows[[i]], ], chunks = 2)
  fit <- sparsegp(class ~ x1 + x2, source, lik_probit(), kernel_rbf(1, 1), basis = data[1:5, ],
                  learn = learn_control(inner = 2, outer = 1, rows = 20)) # fewer than there are
  numbers <- sparsegp(number ~ x1 + x2, data, lik_student(), kernel_rbf(1, 1), learn = FALSE)
  list(predict(fit, data), residuals(numbers, "quantile"),
       slopes(fit, data[1:3, ]), draws(fit, data[1:3, ], type = "slope", vars = "x1"))
}

# A kernel in R, alone and beside another
custom_kernel <- function() {
  data <- helpers$golden_data()
  kernel <- kernel_custom(function(x, z, theta) {
    r2 <- outer(rowSums(x^2), rowSums(z^2), "+") - 2 * tcrossprod(x, z)
    exp(-pmax(r2, 0) * theta[["rate"]])
  }, theta = c(rate = 0.5))
  lapply(list(method_ep(), method_ep(8)), function(method) {
    fit <- sparsegp(number ~ x1 + x2, data, kernel = kernel + kernel_linear(), method = method,
                    learn = learn_control(inner = 2, outer = 1))
    list(coef(fit), predict(fit, data, se.fit = TRUE))
  })
}

# A series: learning, predictions at new times, draws that are functions, a sum with a cycle
markov_series <- function() {
  data <- helpers$golden_data()
  data$time <- seq_len(nrow(data)) / 4
  fit <- function(formula, lik, kernel) {
    sparsegp(formula, data, lik, kernel, method = method_markov(),
             learn = learn_control(inner = 2, outer = 1))
  }
  fits <- list(fit(number ~ time, lik_student(), kernel_matern32()),
               fit(count ~ time, lik_poisson(), kernel_matern12() + kernel_periodic(period = 2)))
  kept <- sparsegp(count ~ time, data[1:20, ], lik_poisson(), kernel_matern32(), learn = FALSE,
                   method = method_markov(window = 8))
  kept <- update(kept, data[21:30, ])
  new <- data.frame(time = c(-1, 0.6, 3, 9))
  set.seed(5, "Mersenne-Twister", "Inversion", "Rejection")
  c(lapply(fits, function(fit) {
    list(coef(fit), predict(fit, new, type = "latent", covariance = TRUE), draws(fit, new),
         predict(fit, data, se.fit = TRUE))
  }), list(predict(kept, new[4, , drop = FALSE], type = "latent", se.fit = TRUE)))
}

# A map by nearest neighbours: learning, joint predictions, slopes
map_fits <- function() {
  data <- helpers$golden_data()
  fit <- sparsegp(number ~ x1 + x2, data, kernel = kernel_matern32(), method = method_neighbours(4),
                  learn = learn_control(inner = 2, outer = 1))
  counts <- sparsegp(count ~ x1 + x2, data, lik_poisson(), kernel_matern32(),
                     method = method_neighbours(4, sweeps = 3),
                     learn = learn_control(inner = 1, outer = 1))
  answers <- function(fit) {
    list(coef(fit), predict(fit, data, se.fit = TRUE), slopes(fit, data[1:3, ]),
         predict(fit, data[1:3, ], type = "latent", covariance = TRUE))
  }
  few <- sparsegp(number ~ x1 + x2, data[1:6, ], kernel = kernel_matern32(), learn = FALSE,
                  method = method_neighbours(9)) # whose points are given all rows
  lapply(list(fit, counts, few), answers)
}

# Powers of likelihoods: closed forms, quadratures, functions of R. Few rows and steps: a function
# of R is called for every tilt.
power_fits <- function() {
  data <- helpers$golden_data()[1:8, ]
  own <- lik_custom(function(y, f, theta) dcauchy(y, f, theta[["scale"]], log = TRUE),
                    theta = c(scale = 0.3), check = FALSE)
  fit <- function(lik, power, size) {
    fit <- sparsegp(number ~ x1 + x2, data, lik, kernel_rbf(1, 1),
                    method = method_ep(size, power = power, sweeps = 3),
                    learn = learn_control(inner = 1, outer = 1))
    list(coef(fit), predict(fit, data, se.fit = TRUE))
  }
  # each pair of a likelihood, a power and a size
  Map(fit, list(lik_student(), lik_student(), lik_laplace(), lik_laplace(), own, own),
      c(0.5, 0, 0.5, 0, 0.5, 0), c(Inf, 4, 4, Inf, Inf, 4))
}

# Likelihoods in R: with a constant of each observation, by the IVM, and of two latent functions
custom_likelihood <- function() {
  data <- helpers$golden_data()
  data$error <- 0.1 + abs(data$x1) / 5
  one <- lik_custom(function(y, f, theta, data) {
    dnorm(y, f, theta[["scale"]] * data$error, log = TRUE)
  }, theta = c(scale = 1), data = ~error, check = FALSE)
  two <- lik_custom(function(y, f, theta) dnorm(y, f$f1, exp(f$f2), log = TRUE), width = 2,
                    check = FALSE)
  kernel <- kernel_rbf(1, 1)
  few <- data[1:5, ]
  fits <- list(sparsegp(number ~ x1 + x2, few, one, kernel, method = method_ivm(2), learn = FALSE),
               sparsegp(number ~ x1 + x2, few, one, kernel, method = method_ep(4, sweeps = 2),
                        learn = learn_control(inner = 1, outer = 1)),
               sparsegp(number ~ x1 + x2, data[1:2, ], two, method = method_ep(2, sweeps = 1),
                        learn = FALSE))
  lapply(fits, predict, data[1:3, ], type = "latent")
}

# Entries that only tests call
for_tests <- noted(function() {
  spec <- list(type = "rbf", vars = 0:1, levels = c(0, 0), ard = FALSE, degree = 0L, parts = list())
  x <- cbind(c(0.1, 0.7, -0.4), c(1, 0, 0.3))
  theta <- c(0.2, -0.1)
  two <- c_lik("mvnormal", numeric(3L), 2L)
  part <- list(spec = spec, nkernel = 2L, processes = 1L, x = x, lik = lik_probit(),
               rows = rbind(c(1, -1, 1)), offset = numeric(3L), basis = x[1:2, ])
  sums <- list(list(S = diag(2L), t = cbind(c(0.1, 0.2))))
  sites <- list(tau = c(0.1, 0.2, 0.1), nu = numeric(3L))
  list(
    .Call(sg_kernel_cross, spec, theta, x, x),
    .Call(sg_kernel_columns, spec, theta, x, c(TRUE, FALSE, TRUE), 1:2),
    .Call(sg_kernel_diag, spec, theta, x),
    .Call(sg_kernel_adjoint, spec, theta, x, x, diag(3)),
    .Call(sg_kernel_adjoint_diag, spec, theta, x, c(1, 2, 3)),
    .Call(sg_kernel_adjoint_inputs, spec, theta, x, x[1:2, ], diag(3)[, 1:2]),
    .Call(sg_kernel_jet, spec, theta, x, x + 1, x, x - 1),
    .Call(sg_block, diag(2) + 1, diag(2), c(0.1, 0.2), c(1, -1)),
    .Call(sg_lik_cross, c_lik("softmax", numeric(3L)), numeric(3L), rbind(c(1, 3)),
          matrix(0.1, 2L, 3L), matrix(0.5, 2L, 3L)),
    .Call(sg_mixed_quantile, x[1:2, ], exp(x[1:2, ]), matrix(1 / ncol(x), 1L, ncol(x)), 0.3),
    .Call(sg_lik_site, two, numeric(3L), cbind(c(0.3, -0.2))),
    .Call(sg_lik_cross, c_lik("softmax", x[, 1L]), x[, 1L], rbind(c(1, 3)), x[1:2, c(1, 2, 1)],
          matrix(1, 2L, 3L)),
    engine_pass(part, c(theta, 0), sums, sites,
                list(gradient = TRUE, own = TRUE, narrow = FALSE, collect = FALSE, rows = 3)),
    engine_pass(part, c(theta, 0), sums, sites,
                list(gradient = FALSE, own = TRUE, narrow = FALSE, collect = FALSE, rows = 3),
                gamma = c(0.1, 0, 0.2)),
    engine_pass(part, c(theta, 0), sums, sites,
                list(gradient = FALSE, own = TRUE, narrow = FALSE, collect = TRUE, rows = 3)),
    .Call(sg_triangles, rbind(c(1, 2), c(0, 3))),
    .Call(sg_catalogue),
    tryCatch(.Call(sg_extension, c("stats", "none"), 1L), error = conditionMessage), # not there
    custom_kernel(), suppressWarnings(list(custom_likelihood(), power_fits()))
  )
})
environment(for_tests) <- helpers

work <- c(lapply(stats::setNames(nm = CASES), of_golden),
          list(learned = learned, several = several, chunks = chunks, series = markov_series,
               map = map_fits, tests = for_tests))
answers <- function() lapply(work, function(case) suppressWarnings(case()))

once <- answers()
lacking <- setdiff(names(getDLLRegisteredRoutines("sparsegp")$.Call), names(called))
if (length(lacking)) stop("entries that nothing here calls: ", toString(lacking))

if (identical(commandArgs(TRUE), "torture")) {
  called <- integer()
  gap <- TORTURE_STEP
  again <- answers()
  gap <- 0L
  differ <- names(work)[!mapply(identical, once, again)]
  if (length(differ)) stop("other numbers under gctorture2(): ", toString(differ))
}
cat("entries:", length(called), "called by", length(work), "cases\n")
