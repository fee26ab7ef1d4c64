# Golden numbers: what fits gave before the inside of the package was rebuilt, held ever since. A
# case is a function of the damping of batch sweeps that returns a fit, or numbers; golden_numbers()
# asks the fit, through the public API alone, so that internals may move; golden.rds holds the
# answers. tools/golden.R writes that file anew: only where a defect was mended, with a word of
# which, and never to make a test pass.
#
# All data are sines rounded to six decimals: no random numbers, and nothing that the last bit of
# somebody's sin() could change. Hyperparameters are given, so that nothing depends on optim().
#
# Three kinds of cases:
# * Fixed points: "full", "basis", "ivm active", slopes, data. EP goes on to a residual of 1e-11, so
#   the numbers are the same whatever way led there.
# * Fixed points on a basis that was chosen on the way: "sparse moment", "sparse kl", scores,
#   "freeze 1", "ivm basis", pools. Which rows are chosen, in which order, depends on the path; what
#   EP makes of them does not.
# * Paths, in which every single step counts: "online", "ivm none", "freeze Inf", exchanges of the
#   IVM, "large ivm". They are held as well: no rebuilding has a reason to change which row comes
#   when or what is done with it.

GOLDEN_TOL <- 1e-11 # residual of EP, in cavity standard deviations
GOLDEN_SWEEPS <- 5000

# ---- Data ----

golden_data <- function(n = 30L) {
  wave <- function(speed, shift = 0) round(sin(speed * seq_len(n) + shift), 6)
  d <- data.frame(x1 = 2 * wave(1.3), x2 = 2 * wave(2.1, 0.4))
  f <- round(sin(1.5 * d$x1) + d$x2 / 2, 6)
  e <- wave(7.7, 1)
  every <- function(k) seq_len(n) %% k == 0
  d$number <- f + 0.3 * e
  d$outlier <- d$number + 4 * every(11)
  d$count <- round(exp(0.7 + 0.8 * f + 0.4 * e))
  d$trials <- 3 + seq_len(n) %% 5
  d$successes <- round(d$trials * (1 + sin(f + e)) / 2)
  d$class <- factor(ifelse(f + 0.6 * e > 0.1, "yes", "no"))
  d$label <- replace(d$class, every(3), NA)
  scores <- cbind(d$x1 + 0.8 * e, d$x2 - 0.9 * e, 0.3 - d$x1 - d$x2)
  d$species <- factor(c("a", "b", "c")[max.col(scores, "first")])
  d$grade <- cut(f + 0.4 * e, c(-Inf, -0.8, 0, 0.8, Inf), c("low", "fair", "good", "high"),
                 ordered_result = TRUE)
  d$weight <- 1 + 0.8 * wave(3.1)
  d$known <- 0.2 + 0.1 * wave(0.7)
  d$shift <- 0.5 * wave(0.9, 2)
  d$group <- factor(c("u", "v", "w")[1 + seq_len(n) %% 3])
  d
}

# 7 new rows, the last two of them far from the others
golden_new <- function() {
  data.frame(x1 = c(-1.8, -1.1, -0.3, 0.2, 0.9, 3.5, -6),
             x2 = c(0.4, -1.5, 1.7, -0.2, 1.1, -4, 5), shift = c(0.2, -0.1, 0, 0.3, -0.4, 0.1, 0.5),
             group = factor(c("u", "v", "w", "u", "v", "w", "u")))
}

# ---- Every model by every method ----

golden_kernel <- function() kernel_rbf(1.2, 0.9)

# response and likelihood, hyperparameters given
golden_models <- function() {
  list(
    gaussian = list(quote(number), lik_gaussian(0.1)),
    laplace = list(quote(outlier), lik_laplace(0.4)),
    student = list(quote(outlier), lik_student(0.5, 4)),
    poisson = list(quote(count), lik_poisson(0.6)),
    negbin = list(quote(count), lik_negbin(0.5, 3)),
    binomial = list(quote(cbind(successes, trials - successes)), lik_binomial(0.1)),
    probit = list(quote(class), lik_probit(0.2)),
    logit = list(quote(class), lik_logit(-0.1)),
    mackay = list(quote(class), lik_mackay(0.15)),
    flip = list(quote(class), lik_flip(0.1, 0.05)),
    step = list(quote(class), lik_step(0.15)),
    nullcat = list(quote(label), lik_nullcat(0.1, 0.8, c(0.3, 0.4))),
    ordinal = list(quote(grade), lik_ordinal(c(-0.9, 0.1, 0.9))),
    mprobit = list(quote(species), lik_mprobit(c(0.1, -0.2, 0.3), coupled = FALSE)),
    mprobit_own = list(quote(species), lik_mprobit(c(0, 0.2, -0.1), shared = FALSE)),
    softmax = list(quote(species), lik_softmax(c(0.3, 0, -0.2), coupled = FALSE)),
    softmax_own = list(quote(species), lik_softmax(c(0.1, 0.1, 0.4), shared = FALSE)),
    rest_probit = list(quote(species), lik_probit(c(-0.3, 0, -0.1))),
    rest_logit = list(quote(species), lik_logit(c(-0.5, -0.2, 0.1))),
    rest_flip = list(quote(species), lik_flip(-0.2, 0.04))
  )
}

golden_fit <- function(model, method, basis = NULL, data = golden_data(), kernel = golden_kernel(),
                       inputs = quote(x1 + x2), ...) {
  formula <- eval(call("~", model[[1L]], inputs))
  sparsegp(formula, data, likelihood = model[[2L]], kernel = kernel, method = method,
           learn = FALSE, basis = basis, mean = "average", ...)
}

# Rows in chunks of 1, 7 and the rest; the first two wait until the pilot has come.
golden_stream <- function(model, method = method_online(size = 9, pilot = 5), basis = NULL,
                          data = golden_data(), chunks = c(1L, 7L), ...) {
  set.seed(5, "Mersenne-Twister", "Inversion", "Rejection") # for order = "random"
  ends <- c(cumsum(chunks), nrow(data))
  fit <- golden_fit(model, method, basis, data[seq_len(ends[1L]), ], ...)
  for (j in seq_along(ends)[-1L]) fit <- update(fit, data[(ends[j - 1L] + 1L):ends[j], ])
  fit
}

golden_ep <- function(damping, ...) {
  method_ep(..., tol = GOLDEN_TOL, sweeps = GOLDEN_SWEEPS, damping = damping)
}

golden_ivm <- function(damping, size = 9, ...) {
  set.seed(5, "Mersenne-Twister", "Inversion", "Rejection") # what a selection leaves to chance
  method_ivm(size, ..., tol = GOLDEN_TOL, sweeps = GOLDEN_SWEEPS, damping = damping)
}

GOLDEN_BASIS <- c(2L, 5L, 9L, 12L, 16L, 21L, 24L, 28L)

golden_points <- function() {
  data.frame(x1 = c(-1.5, 0, 0.4, 1.6), x2 = c(0.3, -1.2, 1.5, 0.1))
}

golden_methods <- function() {
  list(
    full = function(model, damping) golden_fit(model, golden_ep(damping)),
    basis = function(model, damping) golden_fit(model, golden_ep(damping), GOLDEN_BASIS),
    `sparse moment` = function(model, damping) golden_fit(model, golden_ep(damping, size = 9)),
    `sparse kl` = function(model, damping) {
      golden_fit(model, golden_ep(damping, size = 9, projection = "kl"))
    },
    `ivm basis` = function(model, damping) golden_fit(model, golden_ivm(damping)),
    `ivm none` = function(model, damping) golden_fit(model, golden_ivm(damping, refine = "none")),
    `online kl` = function(model, damping) golden_stream(model),
    `online moment` = function(model, damping) {
      golden_stream(model, method_online(size = 9, projection = "moment", pilot = 5))
    }
  )
}

# ---- What the table of models and methods leaves out ----

# Kernels, as the three shapes of K are built by different code: all rows, a basis, row by row
golden_kernels <- function() {
  list(
    ard = kernel_rbf(1.1, c(0.7, 1.6), ard = TRUE),
    matern12 = kernel_matern12(1.3, 1.1),
    matern32 = kernel_matern32(0.9, c(0.8, 1.2), ard = TRUE),
    matern52 = kernel_matern52(1.4, 1),
    rq = kernel_rq(1.2, 0.9, shape = 0.7),
    linear = kernel_linear(c(0.5, 0.3), ard = TRUE) + kernel_constant(0.4),
    poly = kernel_poly(3, 0.6, 1.2),
    periodic = kernel_periodic(1.1, 0.9, 1.7, vars = "x1"),
    trig = kernel_trig(3, 0.2, fixed(4.5), vars = "x1"),
    sum = kernel_rbf(0.8, 0.7, vars = "x1") + kernel_matern32(0.5, 1.5, vars = "x2"),
    product = kernel_rbf(1.1, 1.3) * (kernel_linear(0.4, vars = "x2") + kernel_constant(0.7))
  )
}

golden_kernel_cases <- function() {
  models <- golden_models()
  each <- lapply(golden_kernels(), function(kernel) {
    list(
      full = function(damping) golden_fit(models$gaussian, golden_ep(damping), kernel = kernel),
      ivm = function(damping) golden_fit(models$probit, golden_ivm(damping, 7), kernel = kernel),
      online = function(damping) {
        golden_stream(models$probit, method_online(8, pilot = 5), kernel = kernel)
      }
    )
  })
  names(each) <- paste("kernel", names(each))
  golden_flat(each)
}

golden_sparse_cases <- function() {
  with(golden_models(), list(
    `score mean` = function(damping) golden_fit(probit, golden_ep(damping, 9, score = "mean")),
    `score error` = function(damping) golden_fit(gaussian, golden_ep(damping, 9, score = "error")),
    `freeze 1` = function(damping) golden_fit(probit, golden_ep(damping, 9, freeze = 1)),
    # the thesis's algorithm to the letter; exchanges go on, so the last sweep is held
    `freeze Inf kl mean` = function(damping) {
      suppressWarnings(golden_fit(probit, method_ep(9, "kl", freeze = Inf, sweeps = 12,
                                                    score = "mean")))
    },
    `freeze Inf moment` = function(damping) {
      suppressWarnings(golden_fit(gaussian, method_ep(9, freeze = Inf, sweeps = 12)))
    },
    `basis kl` = function(damping) {
      golden_fit(probit, golden_ep(damping, projection = "kl"), GOLDEN_BASIS)
    },
    `basis of points` = function(damping) {
      golden_fit(probit, golden_ep(damping), golden_points())
    },
    # V is not held, and computed anew in every sweep
    `basis pool` = function(damping) golden_fit(probit, golden_ep(damping, pool = 1), GOLDEN_BASIS),
    `basis pool classes` = function(damping) {
      golden_fit(mprobit, golden_ep(damping, pool = 1), GOLDEN_BASIS)
    },
    `basis of repeated points` = function(damping) {
      golden_fit(gaussian, golden_ep(damping), golden_points()[c(1, 2, 2, 3), ])
    },
    # more points than the functions of the kernel need, so that K_B is singular
    `basis jitter` = function(damping) {
      golden_fit(probit, golden_ep(damping), GOLDEN_BASIS,
                 kernel = kernel_linear(0.4) + kernel_constant(0.4))
    },
    `size of all rows` = function(damping) golden_fit(probit, golden_ep(damping, 30))
  ))
}

golden_ivm_cases <- function() {
  with(golden_models(), list(
    `ivm entropy` = function(damping) golden_fit(probit, golden_ivm(damping, select = "entropy")),
    `ivm random` = function(damping) golden_fit(logit, golden_ivm(damping, select = "random")),
    `ivm random classes` = function(damping) {
      golden_fit(mprobit, golden_ivm(damping, 5, select = "random"))
    },
    `ivm entropy classes` = function(damping) {
      golden_fit(softmax, golden_ivm(damping, 5, select = "entropy", refine = "none"))
    },
    `ivm active` = function(damping) golden_fit(probit, golden_ivm(damping, refine = "active")),
    `ivm active gaussian` = function(damping) {
      golden_fit(gaussian, golden_ivm(damping, refine = "active", select = "entropy"))
    },
    `ivm exchange` = function(damping) {
      golden_fit(probit, golden_ivm(damping, refine = "none", exchange = 10))
    },
    `ivm exchange active` = function(damping) {
      golden_fit(logit, golden_ivm(damping, refine = "active", exchange = 10))
    },
    `ivm pool` = function(damping) {
      golden_fit(probit, golden_ivm(damping, pool = 120, block = 3, keep = 0.4))
    },
    `ivm pool none` = function(damping) {
      golden_fit(gaussian, golden_ivm(damping, refine = "none", pool = 120, block = 2))
    },
    `ivm pool classes` = function(damping) {
      golden_fit(mprobit, golden_ivm(damping, pool = 300, block = 2))
    },
    `ivm min_gain` = function(damping) {
      golden_fit(probit, golden_ivm(damping, 25, refine = "none", min_gain = 0.2))
    },
    `ivm common` = function(damping) golden_fit(mprobit, golden_ivm(damping, 5, common = TRUE)),
    `ivm common own` = function(damping) {
      golden_fit(mprobit_own, golden_ivm(damping, 5, common = TRUE))
    },
    `ivm common rest` = function(damping) {
      golden_fit(rest_probit, golden_ivm(damping, 5, common = TRUE))
    },
    `ivm common softmax` = function(damping) {
      golden_fit(softmax, golden_ivm(damping, 5, common = TRUE))
    }
  ))
}

golden_stream_cases <- function() {
  with(golden_models(), list(
    `online random` = function(damping) {
      golden_stream(probit, method_online(9, order = "random", pilot = 5))
    },
    `online informative` = function(damping) {
      golden_stream(probit, method_online(9, order = "informative", pilot = 5))
    },
    `online informative rest` = function(damping) {
      golden_stream(rest_probit, method_online(9, order = "informative", pilot = 5))
    },
    `online mean` = function(damping) {
      golden_stream(gaussian, method_online(9, score = "mean", pilot = 5))
    },
    `online error moment` = function(damping) {
      golden_stream(probit, method_online(9, "moment", score = "error", pilot = 5))
    },
    `online basis kl` = function(damping) {
      golden_stream(probit, method_online(pilot = 28), GOLDEN_BASIS)
    },
    `online basis moment` = function(damping) {
      golden_stream(gaussian, method_online(projection = "moment", pilot = 28), GOLDEN_BASIS)
    },
    `online basis rest` = function(damping) {
      golden_stream(rest_logit, method_online(pilot = 5), golden_points())
    },
    `online waiting` = function(damping) golden_stream(gaussian, method_online(9, pilot = 500)),
    `online row by row` = function(damping) golden_stream(student, chunks = rep(1L, 29L)),
    `online grows` = function(damping) {
      golden_stream(poisson, method_online(20, "moment", pilot = 120), data = golden_data(200L),
                    chunks = c(90L, 60L))
    },
    `online weights` = function(damping) {
      d <- golden_data()
      fit <- sparsegp(number ~ x1 + offset(shift), d[1:6, ], lik_gaussian(0.1), golden_kernel(),
                      method = method_online(6, pilot = 5), learn = FALSE, weights = weight)
      update(update(fit, d[7, ]), d[8:30, ])
    },
    `online matrix` = function(damping) {
      d <- golden_data()
      x <- as.matrix(d[c("x1", "x2")])
      fit <- sparsegp(x[1:3, ], d$number[1:3], lik_gaussian(0.1), golden_kernel(),
                      method = method_online(6, pilot = 5), learn = FALSE)
      update(update(fit, x[4:10, ], d$number[4:10]), x[11:30, ], d$number[11:30])
    }
  ))
}

golden_data_cases <- function() {
  with(golden_models(), list(
    weights = function(damping) {
      sparsegp(number ~ x1 + x2, golden_data(), lik_gaussian(0.1), golden_kernel(),
               method = golden_ep(damping), learn = FALSE, weights = weight, mean = "average")
    },
    `weights on a basis` = function(damping) {
      sparsegp(number ~ x1 + x2, golden_data(), lik_gaussian(0.1), golden_kernel(),
               method = golden_ep(damping), learn = FALSE, weights = weight, basis = GOLDEN_BASIS,
               mean = "average")
    },
    `known variances` = function(damping) {
      golden_fit(list(quote(number), lik_gaussian(golden_data()$known)), golden_ep(damping))
    },
    `known variances ivm` = function(damping) {
      golden_fit(list(quote(number), lik_gaussian(golden_data()$known)), golden_ivm(damping))
    },
    `binomial shares` = function(damping) {
      sparsegp(successes / trials ~ x1 + x2, golden_data(), lik_binomial(0.1), golden_kernel(),
               method = golden_ep(damping), learn = FALSE, weights = trials)
    },
    offset = function(damping) {
      golden_fit(gaussian, golden_ep(damping), inputs = quote(x1 + x2 + offset(shift)))
    },
    `offset poisson` = function(damping) {
      golden_fit(poisson, golden_ep(damping), inputs = quote(x1 + offset(shift)))
    },
    `offset probit ivm` = function(damping) {
      golden_fit(probit, golden_ivm(damping), inputs = quote(x1 + offset(shift)))
    },
    factors = function(damping) {
      golden_fit(logit, golden_ep(damping), inputs = quote(x1 * group), kernel = kernel_rbf(1, 2))
    },
    `factors classes` = function(damping) {
      golden_fit(mprobit, golden_ep(damping), GOLDEN_BASIS, inputs = quote(x1 + group))
    },
    `missing rows` = function(damping) {
      d <- golden_data()
      d$x1[c(3, 17)] <- d$number[8] <- NA
      golden_fit(gaussian, golden_ep(damping), data = d, na.action = stats::na.exclude)
    },
    `missing rows ordinal` = function(damping) {
      d <- golden_data()
      d$x1[c(3, 17)] <- d$grade[8] <- NA
      golden_fit(ordinal, golden_ep(damping), GOLDEN_BASIS[1:6], data = d)
    },
    unscaled = function(damping) golden_fit(probit, golden_ep(damping), scale = FALSE),
    # rows that widen the posterior: their sites have negative precisions
    `student widening` = function(damping) {
      golden_fit(list(quote(outlier), lik_student(0.1, 2.5)), golden_ep(damping))
    },
    `starts from the data` = function(damping) {
      golden_fit(list(quote(number), NULL), golden_ep(damping), kernel = kernel_rbf())
    },
    `starts from the classes` = function(damping) {
      golden_fit(list(quote(species), lik_mprobit(coupled = FALSE)), golden_ep(damping),
                 kernel = kernel_rbf(ard = TRUE))
    },
    `starts from the order` = function(damping) {
      golden_fit(list(quote(grade), NULL), golden_ep(damping), kernel = kernel_matern52())
    }
  ))
}

# More rows than any block of rows has in C (64 in full EP, 512 in sparse EP, 128 on a basis)
golden_large_cases <- function() {
  few <- function(d) d[c(1, 300, 500, 800, 1100), c("x1", "x2")]
  with(golden_models(), list(
    `large full` = function(damping) {
      golden_fit(probit, golden_ep(damping), data = golden_data(150L))
    },
    `large basis` = function(damping) {
      golden_fit(probit, golden_ep(damping), few(golden_data(1100L)), golden_data(1100L))
    },
    `large basis pool` = function(damping) {
      golden_fit(gaussian, golden_ep(damping, pool = 1), few(golden_data(1100L)),
                 golden_data(1100L))
    },
    `large basis classes` = function(damping) {
      golden_fit(mprobit, golden_ep(damping), few(golden_data(1100L)), golden_data(1100L))
    },
    `large sparse` = function(damping) {
      golden_fit(gaussian, golden_ep(damping, 12, "kl"), data = golden_data(600L))
    },
    `large ivm` = function(damping) {
      golden_fit(probit, golden_ivm(damping, 20, refine = "none"), data = golden_data(600L))
    }
  ))
}

golden_density_cases <- function() {
  points <- function() golden_data(40L)[c("x1", "x2")]
  list(
    density = function(damping) gp_density(points()$x1 + points()$x2 / 2, k0 = 3, tol = 1e-9),
    `density orders` = function(damping) {
      gp_density(points()$x2, k0 = 0:4, range = c(-2.5, 2.5), tol = 1e-9)
    },
    `density plane` = function(damping) gp_density(points(), k0 = 1:2, tol = 1e-9)
  )
}

# Numbers that are not of one fit
golden_other_cases <- function() {
  models <- golden_models()
  stage <- function(rows) golden_stream(models$probit, data = golden_data()[seq_len(rows), ])
  slope_of <- function(response, likelihood, basis = NULL, kernel = kernel_rbf) {
    function(damping) {
      golden_slopes(function(variance, lengthscale, own) {
        golden_fit(list(response, likelihood(own)), golden_ep(damping), basis,
                   kernel = kernel(variance, lengthscale))
      }, c(variance = 1.2, lengthscale = 0.9, own = 0.3))
    }
  }
  list(
    `slope gaussian` = slope_of(quote(number), lik_gaussian),
    `slope gaussian basis` = slope_of(quote(number), lik_gaussian, GOLDEN_BASIS),
    `slope probit` = slope_of(quote(class), lik_probit),
    `slope probit basis` = slope_of(quote(class), lik_probit, GOLDEN_BASIS),
    `slope mprobit` = slope_of(quote(species), function(own) {
      lik_mprobit(c(own, 0, 0), coupled = FALSE)
    }),
    `slope mprobit basis` = slope_of(quote(species), function(own) lik_mprobit(c(own, 0, 0)),
                                     GOLDEN_BASIS, kernel_matern52),
    `slope student basis` = slope_of(quote(outlier), lik_student, GOLDEN_BASIS),
    `kl of stages` = function(damping) {
      c(kl(stage(30L), stage(20L)), kl(stage(20L), stage(30L)), kl(stage(30L), stage(29L)))
    },
    `kl of methods` = function(damping) {
      full <- golden_fit(models$mprobit, golden_ep(damping))
      few <- golden_fit(models$mprobit, golden_ep(damping), GOLDEN_BASIS)
      c(kl(full, few), kl(few, full))
    },
    intervals = function(damping) {
      unlist(lapply(c("gaussian", "poisson", "probit"), function(name) {
        fit <- golden_fit(models[[name]], golden_ep(damping))
        kind <- if (name == "probit") "confidence" else "prediction"
        c(predict(fit, golden_new(), interval = kind, level = 0.9),
          predict(fit, golden_new(), se.fit = TRUE)$se.fit, residuals(fit, "pearson"))
      }))
    },
    draws = function(damping) {
      fit <- golden_fit(models$gaussian, golden_ep(damping))
      set.seed(5, "Mersenne-Twister", "Inversion", "Rejection")
      draws(fit, golden_new()[1:5, ], n = 2)
    }
  )
}

# Several components, some of them missing, and rows that mean one vector or its opposite
golden_winds <- function(n = 30L) {
  d <- golden_data(n)
  d$other <- round(cos(1.2 * d$x2) - d$x1 / 3 + 0.3 * sin(5.3 * seq_len(n)), 6)
  wind <- cbind(u = d$number, v = d$other)
  d$either <- mixture(c(0.65, 0.35), list(wind, -wind), c(0.1, 0.15))
  d$other[c(4, 11)] <- NA
  d
}

golden_vector_cases <- function() {
  models <- list(
    field = list(list(quote(cbind(number, other)), lik_gaussian(c(0.1, 0.15), "full", 0.3)),
                 kernel_helmholtz(kernel_rbf(0.8, 1.1), kernel_matern52(0.4, 0.9))),
    coregion = list(list(quote(cbind(number, other)), lik_gaussian(0.12)),
                    kernel_coregion(kernel_matern52(lengthscale = 0.9), variance = c(1.1, 0.8),
                                    correlation = 0.4)),
    mixture = list(list(quote(either), lik_mixture()),
                   kernel_divfree(kernel_rq(0.9, 1.2, shape = 1.5)) +
                     kernel_coregion(kernel_constant(), variance = 0.3, correlation = 0.2))
  )
  with_damping <- function(model, damping, method, ...) {
    golden_fit(model[[1L]], method(damping), data = golden_winds(), kernel = model[[2L]], ...)
  }
  by <- function(method, ...) {
    force(method)
    function(model) function(damping) with_damping(model, damping, method, ...)
  }
  stream <- function(...) {
    function(model) {
      function(damping) {
        golden_stream(model[[1L]], method_online(size = 6, pilot = 5, ...), data = golden_winds(),
                      kernel = model[[2L]])
      }
    }
  }
  methods <- list(
    full = by(function(damping) golden_ep(damping, starts = 1)),
    basis = by(function(damping) golden_ep(damping, starts = 1), basis = GOLDEN_BASIS),
    `sparse moment` = by(function(damping) golden_ep(damping, size = 6, starts = 1)),
    `sparse kl` = by(function(damping) golden_ep(damping, size = 6, projection = "kl")),
    `online kl` = stream(), `online moment` = stream(projection = "moment", score = "mean")
  )
  crossed <- lapply(models, function(model) lapply(methods, function(method) method(model)))
  c(golden_flat(crossed), list(
    `field.ivm basis` = by(function(damping) golden_ivm(damping, 6))(models$field),
    `field derived` = function(damping) {
      fit <- methods$full(models$field)(damping)
      unlist(lapply(c("divergence", "vorticity", "stream", "potential"), function(type) {
        vector_field(fit, golden_new(), type = type, se.fit = TRUE)
      }))
    },
    `mixture modes` = function(damping) {
      fit <- methods$full(models$mixture)(damping)
      unlist(c(modes(fit), predict(fit, golden_new(), mode = "all", se.fit = TRUE)))
    }
  ))
}

# Slopes of the log evidence in the hyperparameters, by central differences of logLik(). The step is
# wide, as the numbers are to be the same in every version, not the derivative to all digits: what
# is left of EP's residual in logLik(), about 1e-13, is divided by it.
golden_slopes <- function(fit_at, at, step = 0.01) {
  vapply(names(at), function(name) {
    log_evidence <- function(by) {
      at[[name]] <- at[[name]] + by
      as.double(stats::logLik(do.call(fit_at, as.list(at))))
    }
    (log_evidence(step) - log_evidence(-step)) / (2 * step)
  }, 0)
}

# ---- The list of all cases, and what is asked of each ----

golden_flat <- function(nested) unlist(nested, recursive = FALSE)

# Streams take no model of all classes; bases are chosen by one kernel. Both are errors, and tested
# elsewhere.
golden_refused <- function(model, method) {
  joint <- model %in% c("mprobit", "mprobit_own", "softmax", "softmax_own")
  joint && grepl("^online", method) || grepl("_own$", model) && grepl("^sparse", method)
}

golden_cases <- function() {
  crossed <- Map(function(model, name) {
    methods <- golden_methods()
    methods <- methods[!vapply(names(methods), golden_refused, NA, model = name)]
    lapply(methods, function(method) function(damping) method(model, damping))
  }, golden_models(), names(golden_models()))
  c(golden_flat(crossed), golden_kernel_cases(), golden_sparse_cases(), golden_ivm_cases(),
    golden_stream_cases(), golden_data_cases(), golden_large_cases(), golden_density_cases(),
    golden_other_cases(), golden_vector_cases())
}

# At most 30 of the rows: of larger cases a part says it all
golden_rows <- function(x) {
  x <- as.matrix(x)
  as.double(x[unique(round(seq(1, nrow(x), length.out = min(nrow(x), 30L)))), , drop = FALSE])
}

golden_or_refused <- function(ask) tryCatch(ask, sparsegp_error = function(e) NA_real_)

# A named list of plain numbers; NA for what a fit refuses, as a stream does what is of its rows.
golden_numbers <- function(fit) {
  if (is.numeric(fit)) return(list(value = as.double(fit)))
  if (inherits(fit, "gp_density")) return(golden_density_numbers(fit))
  latent <- predict(fit, golden_new(), type = "latent", se.fit = TRUE)
  rows <- golden_or_refused(predict(fit, type = "latent", se.fit = TRUE))
  of_rows <- function(field) if (is.list(rows)) golden_rows(rows[[field]]) else NA_real_
  site <- golden_or_refused(sites(fit))
  of_sites <- function(field) {
    if (is.list(site)) golden_rows(site[startsWith(names(site), field)]) else NA_real_
  }
  points <- basis(fit)
  list(
    coef = coef(fit),
    log_evidence = as.double(golden_or_refused(stats::logLik(fit))),
    basis_rows = as.double(attr(points, "rows")), basis = as.double(points),
    mean = of_rows("fit"), sd = of_rows("se.fit"),
    precision = of_sites("precision"), shift = of_sites("shift"),
    loo = golden_rows(golden_or_refused(loo_lpd(fit))),
    new_mean = as.double(latent$fit), new_sd = as.double(latent$se.fit),
    new_response = as.double(predict(fit, golden_new())),
    new_prob = as.double(golden_or_refused(predict(fit, golden_new(), type = "prob")))
  )
}

golden_density_numbers <- function(fit) {
  at <- golden_new()[seq_len(5L), c("x1", "x2")[seq_len(ncol(fit$range))], drop = FALSE]
  found <- predict(fit, as.matrix(at), se.fit = TRUE)
  list(lambda = fit$lambda, log_evidence = fit$evidence$log_evidence, k0 = fit$k0, mean = fit$mean,
       cov = as.double(fit$cov), new_response = found$fit, new_sd = found$se.fit,
       interval = as.double(predict(fit, as.matrix(at), interval = "confidence")))
}

# Largest difference of each number from the golden one, in units of max(1, |golden|); Inf where
# something is missing, is new, or is NA on one side only.
golden_distance <- function(found, golden) {
  if (!identical(names(found), names(golden))) return(c(names = Inf))
  mapply(function(a, b) {
    if (length(a) != length(b) || !identical(names(a), names(b))) return(Inf)
    if (!identical(is.na(a), is.na(b))) return(Inf)
    max(0, abs(a - b) / pmax(1, abs(b)), na.rm = TRUE)
  }, found, golden)
}
