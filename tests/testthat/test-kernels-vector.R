# Kernels of several responses: fields against differences of scalar kernels, coregionalisation, and
# what is refused. The contract tests have their formulas and gradients.

field_cross <- function(kernel, theta, x, z, D = 2L) {
  .Call(sg_kernel_cross, spec_for_c(resolved_field(kernel, D)), theta, x, z)
}

test_that("fields have the values of the design: between (0, 0) and (1, 0.5)", {
  theta <- log(c(0.8, 2.5, 0.2, 2)) # stream variance, lengthscale, those of the potential
  wanted <- list(rbf = c(0.823216936148, 0.0365259615716, 0.76842799379),
                 matern52 = c(0.587047354659, 0.0819083215673, 0.464184872308),
                 matern32 = c(0.32871045511, 0.0848259445364, 0.201471538306))
  for (type in names(wanted)) {
    base <- get(paste0("kernel_", type))()
    K <- field_cross(kernel_helmholtz(base, base), theta, tall(cbind(0, 0)), tall(cbind(1, 0.5)))
    expect_equal(K[c(1L, 3L, 4L)], wanted[[type]], tolerance = 1e-11, label = type)
    expect_identical(K[2L, 1L], K[1L, 2L])
  }
  Kbar <- function(at) replace(matrix(0, 2L, 2L), at, 1)
  slopes <- vapply(c(1L, 3L, 4L), function(at) {
    .Call(sg_kernel_adjoint, spec_for_c(resolved_field(kernel_divfree())), log(c(0.8, 1.5)),
          tall(cbind(0, 0)), tall(cbind(1, 0.5)), Kbar(at))[2L]
  }, 0)
  expect_equal(slopes, c(0.433905950094, -0.194509563835, 0.725670295847), tolerance = 1e-11)
})

test_that("fields are second derivatives of their scalar kernels, in the plane and in space", {
  slow_tier()
  set.seed(1)
  bases <- list(kernel_rbf(), kernel_matern32(), kernel_matern52(), kernel_rq())
  for (D in 2:3) {
    for (base in of_tier(bases, 2)) {
      x <- matrix(rnorm(D), 1L)
      z <- matrix(rnorm(D), 1L)
      theta <- log(c(1, 1.3, if (base$type == "rq") 0.8))
      scalar <- resolve_kernel(base, list(names = letters[1:D], terms = letters[1:D],
                                          kept = !logical(D)))
      k <- function(x) reference_kernel(scalar, theta, rbind(x), z)[1L]
      H <- numeric_hessian(k, drop(x))
      flat <- -2 * REFERENCE_RADIALS[[base$type]]$slope(list(shape = 0.8)) / 1.3^2
      label <- paste(base$type, D)
      # differences with steps of 1e-3, extrapolated
      expect_equal(field_cross(kernel_curlfree(base), theta, tall(x), tall(z), D), -H / flat,
                   tolerance = 1e-6, label = label)
      expect_equal(field_cross(kernel_divfree(base), theta, tall(x), tall(z), D),
                   (H - diag(D) * sum(diag(H))) / flat / (D - 1), tolerance = 1e-6, label = label)
    }
  }
})

test_that("derived fields are derivatives of the field, and sources what it is the gradient of", {
  slow_tier()
  set.seed(2)
  x <- cbind(0.3, -0.2)
  z <- tall(matrix(rnorm(8L), 4L))
  for (base in of_tier(list(kernel_rbf(), kernel_matern52(), kernel_rq()), 1)) {
    kernel <- kernel_helmholtz(base, base)
    theta <- log(c(0.8, 1.5, if (base$type == "rq") 0.7, 0.2, 1.2, if (base$type == "rq") 0.9))
    velocity <- function(at, component) {
      drop(field_cross(kernel, theta, tall(rbind(at), component), z))
    }
    derived <- function(at, code) drop(field_cross(kernel, theta, tall(rbind(at), code), z))
    along <- function(f, k) {
      vapply(seq_len(nrow(z)), function(j) numeric_gradient(function(at) f(at)[j], drop(x))[k], 0)
    }
    slope <- function(component, k) along(function(at) velocity(at, component), k)
    source <- function(code, k) along(function(at) derived(at, code), k)
    # differences with small steps, extrapolated
    expect_equal(derived(x, -1), slope(1, 1) + slope(2, 2), tolerance = 1e-7)
    expect_equal(derived(x, -2), slope(2, 1) - slope(1, 2), tolerance = 1e-7)
    expect_equal(source(-4, 1) - source(-3, 2), velocity(x, 1), tolerance = 1e-7)
    expect_equal(source(-4, 2) + source(-3, 1), velocity(x, 2), tolerance = 1e-7)
  }
  codes <- tall(x, -(1:4))
  spec <- spec_for_c(resolved_field(kernel_helmholtz()))
  # 8 variance / lengthscale^2 and variance lengthscale^2 for rbf in the plane
  expect_equal(.Call(sg_kernel_diag, spec, log(c(0.8, 1.5, 0.2, 1.2)), codes),
               c(8 * 0.2 / 1.44, 8 * 0.8 / 2.25, 0.8 * 2.25, 0.2 * 1.44), tolerance = 1e-14)
})

test_that("the variance of a derived field is that of differences of the field", {
  memory_tier()
  h <- 1e-3
  steps <- tall(rbind(c(h, 0), c(-h, 0), c(0, h), c(0, -h)))
  weights <- list(divergence = c(1, 0, -1, 0, 0, 1, 0, -1), vorticity = c(0, 1, 0, -1, -1, 0, 1, 0))
  for (base in list(kernel_rbf(), kernel_matern52(), kernel_rq())) {
    theta <- log(c(0.8, 1.5, if (base$type == "rq") 0.7))
    var_of <- function(kernel, weights) {
      K <- field_cross(kernel, theta, steps, steps)
      sum(weights * (K %*% weights)) / (2 * h)^2
    }
    own <- function(kernel, code) {
      .Call(sg_kernel_diag, spec_for_c(resolved_field(kernel)), theta, tall(cbind(0, 0), code))
    }
    div <- kernel_divfree(base)
    curl <- kernel_curlfree(base)
    # an error of h
    expect_equal(var_of(curl, weights$divergence), own(curl, -1), tolerance = 0.01)
    expect_equal(var_of(div, weights$vorticity), own(div, -2), tolerance = 0.01)
    expect_equal(own(div, -1), 0)
    expect_equal(own(curl, -2), 0)
    # differences are no derivatives: an error of h of what there could be
    expect_lt(abs(var_of(div, weights$divergence)), 1e-3 * own(curl, -1))
    expect_lt(abs(var_of(curl, weights$vorticity)), 1e-3 * own(div, -2))
  }
})

test_that("fields turn with their inputs", {
  set.seed(3)
  x <- matrix(rnorm(10L), 5L)
  turn <- matrix(c(cos(0.7), sin(0.7), -sin(0.7), cos(0.7)), 2L)
  theta <- log(c(0.8, 1.5, 0.2, 1.2))
  K <- field_cross(kernel_helmholtz(), theta, tall(x), tall(x))
  turned <- field_cross(kernel_helmholtz(), theta, tall(x %*% t(turn)), tall(x %*% t(turn)))
  back <- kronecker(diag(5L), turn)
  expect_equal(crossprod(back, turned %*% back), K, tolerance = 1e-13)
})

test_that("coregionalisation is a covariance times a kernel, of any rank", {
  x <- cbind(c(0.2, -1, 0.7), c(1, 0.3, -0.4))
  components <- c("u", "v", "w")
  of_rank <- function(rank) {
    resolve_kernel(kernel_coregion(kernel_rbf(), rank = rank),
                   list(names = c("x", "y"), terms = c("x", "y"), kept = c(TRUE, TRUE),
                        components = components))
  }
  scalar <- function(x) exp(-as.matrix(dist(x))^2 / 2)
  theta <- c(log(c(2, 0.5, 1)), 2 * atanh(c(0.5, -0.3, 0.4)))
  for (rank in 0:3) {
    kernel <- of_rank(rank)
    pairs <- nrow(correlated_pairs(3L, rank))
    B <- coregion_matrix(list(variance = exp(theta[1:3]), correlation = tanh(theta[4:6] / 2)),
                         c(3L, rank))
    K <- .Call(sg_kernel_cross, spec_for_c(kernel), c(theta[seq_len(3L + pairs)], 0, 0),
               tall(x, 1:3), NULL)
    expect_equal(K, unname(kronecker(scalar(x), B)), tolerance = 1e-13)
    expect_equal(diag(B), exp(theta[1:3]))
  }
  expect_equal(B[1L, 2L] / sqrt(B[1L, 1L] * B[2L, 2L]), 0.5)
  expect_identical(pair_names(components), c("u.v", "u.w", "v.w"))
  expect_identical(pair_names(components, 1L), c("u.v", "u.w"))
  expect_identical(pair_names(components, 0L), character())
})

test_that("kernels of several responses print as they are made, and combine", {
  expect_output(print(kernel_helmholtz(kernel_matern52(lengthscale = 2), vars = c("x", "y")) *
                        kernel_matern32(vars = "t")),
                paste0("(divfree(matern52(lengthscale = 2, vars = x, y)) + ",
                       "curlfree(rbf(vars = x, y))) * matern32(vars = t)"), fixed = TRUE)
  expect_output(print(kernel_coregion(kernel_linear(), rank = 1)),
                "coregion(rank = 1) * linear(variance = fixed(1))", fixed = TRUE)
  expect_identical(kernel_divfree(kernel_rbf), kernel_divfree(kernel_rbf()))
})

test_that("what would break a field's structure is refused", {
  memory_tier()
  refused <- function(code, argument) {
    expect_identical(tryCatch(code, sparsegp_error = function(e) e$argument), argument)
  }
  for (make in list(kernel_divfree, kernel_curlfree)) {
    for (base in list(kernel_rbf(ard = TRUE), kernel_matern12(), kernel_linear(), "rbf",
                      kernel_rbf() + kernel_rbf(), kernel_coregion())) refused(make(base), "base")
    refused(make(kernel_rbf(), vars = NA), "vars")
  }
  refused(kernel_helmholtz(potential = kernel_periodic()), "potential")
  refused(kernel_helmholtz(stream = kernel_rbf(ard = TRUE)), "stream")
  refused(kernel_coregion(kernel_divfree()), "base")
  refused(kernel_coregion(kernel_rbf(variance = 2)), "base")
  refused(kernel_coregion(rank = -1), "rank")
  refused(kernel_coregion(variance = 0), "variance")
  refused(kernel_coregion(correlation = 1), "correlation")
  one <- list(names = "x", terms = "x", kept = TRUE)
  for (kernel in list(kernel_divfree(), kernel_coregion())) {
    refused(resolve_kernel(kernel, one), "kernel")
  }
  refused(resolved_field(kernel_divfree(), 4L), "kernel")
  flat <- list(names = c("x", "y"), terms = c("x", "y"), kept = c(TRUE, FALSE),
               components = c("u", "v"))
  refused(resolve_kernel(kernel_divfree(), flat), "kernel")
  refused(resolve_kernel(kernel_divfree(vars = "x"), flat), "kernel")
  refused(sparsegp(dist ~ speed, cars, kernel = kernel_coregion()), "kernel")
})
