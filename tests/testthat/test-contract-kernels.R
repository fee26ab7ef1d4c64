# What every kernel promises, for every kernel that C reports. A new kernel is found here by itself;
# it needs its formula in helper-reference.R, and a constructor kernel_<name>().

three_inputs <- list(names = c("a", "b", "c"), terms = c("a", "b", "c"), kept = rep(TRUE, 3L),
                     components = c("u", "v", "w"))

# The same with a factor `g` of three levels, 2.5 apart, behind the component.
with_factor <- list(names = c("a", "b", "c", "u", "g"), terms = c("a", "b", "c", "u", "g"),
                    kept = rep(TRUE, 5L), levels = c(0, 0, 0, 0, 2.5))

# Points as C sees them: what component a point is of, and of what level, follows from the signs of
# its inputs.
seen <- function(x) {
  cbind(x, 1 + (x[, 1L] > 0) + (x[, 2L] > 0), 1 + (x[, 1L] > 0) + (x[, 3L] > 0),
        deparse.level = 0L)
}

# The ways to call a constructor, as far as it has the arguments: one input, all, a reordered
# subset, one length scale per input. Composites get parts of every family, and a nested composite.
sample_kernels <- function(type) {
  if (type %in% c("sum", "product")) {
    combine <- if (type == "sum") `+` else `*`
    inner <- if (type == "sum") `*` else `+`
    plain <- combine(kernel_rbf(ard = TRUE), kernel_linear(vars = "b"))
    nested <- inner(kernel_periodic(vars = "a"), kernel_constant())
    return(list(plain = plain, nested = combine(combine(nested, kernel_rq()), kernel_poly(3))))
  }
  if (type == "custom") return(sample_custom())
  make <- get(paste0("kernel_", type))
  ways <- list(
    one = list(vars = "b"), all = list(), some = list(vars = c("c", "a")), ard = list(ard = TRUE),
    some_ard = list(vars = c("c", "a"), ard = TRUE), degree = list(degree = 3),
    k0 = list(k0 = 3, vars = "b"), rank0 = list(rank = 0), rank1 = list(rank = 1),
    matern32 = list(base = kernel_matern32()), matern52 = list(base = kernel_matern52()),
    rq = list(base = kernel_rq()),
    factor = list(vars = "g"), mixed = list(vars = c("c", "g", "a")),
    mixed_ard = list(vars = c("c", "g", "a"), ard = TRUE)
  )
  ways <- Filter(function(way) all(names(way) %in% names(formals(make))), ways)
  kernels <- lapply(ways, function(way) with_open_degree(do.call(make, way), USUAL_DEGREE))
  Filter(function(kernel) accepts(kernel, inputs_of(kernel)), kernels)
}

# Kernels written in R: of differences, which keep the digits of near-duplicates.
sample_custom <- function() {
  rbf <- function(x, z, theta) {
    r2 <- lapply(seq_len(ncol(x)), function(k) outer(x[, k], z[, k], "-")^2)
    exp(-Reduce(`+`, r2) / (2 * theta[["ell"]]^2))
  }
  slope <- function(x, z, theta) {
    r2 <- Reduce(`+`, lapply(seq_len(ncol(x)), function(k) outer(x[, k], z[, k], "-")^2))
    list(ifelse(is.finite(r2), rbf(x, z, theta) * r2 / theta[["ell"]]^3, 0))
  }
  list(plain = kernel_custom(function(x, z, theta) tcrossprod(x, z)),
       some = kernel_custom(rbf, c(ell = 1), grad = slope, vars = c("c", "a"),
                            diag = function(x, theta) rep(1, nrow(x))))
}

inputs_of <- function(kernel) if ("g" %in% kernel$vars) with_factor else three_inputs

# FALSE for a kernel of one input that was given all of them
accepts <- function(kernel, inputs) {
  tryCatch(is.list(resolve_kernel(kernel, inputs)), sparsegp_error = function(e) FALSE)
}

# Every kernel in every way, hyperparameters around 1: `spec` for C, `kernel` for the reference.
cases <- function() {
  set.seed(1)
  lapply(setNames(nm = catalogue()$kernels), function(type) {
    lapply(sample_kernels(type), function(kernel) {
      kernel <- resolve_kernel(kernel, inputs_of(kernel))
      list(kernel = kernel, spec = spec_for_c(kernel),
           theta = rnorm(kernel_theta_length(kernel), sd = 0.4))
    })
  })
}

# Does the kernel ask for the phase of an input?
has_phase <- function(case) {
  any(vapply(kernel_leaves(case$kernel), function(leaf) "period" %in% names(leaf$params), NA))
}

# Runs check(case, label) for all cases; labels say which kernel failed.
for_all <- function(check) {
  all <- cases()
  for (type in names(all)) {
    for (way in names(all[[type]])) check(all[[type]][[way]], paste0(type, " (", way, ")"))
  }
}

points <- function(n, spread = 1) matrix(rnorm(3L * n, sd = spread), n, 3L)

cross <- function(case, x, z = NULL, theta = case$theta) {
  .Call(sg_kernel_cross, case$spec, theta, seen(x), if (!is.null(z)) seen(z))
}

naive <- function(case, x, z = x, theta = case$theta) {
  reference_kernel(case$kernel, theta, seen(x), seen(z))
}

# The largest difference relative to the size of the numbers compared.
gap <- function(a, b) max(abs(a - b)) / max(abs(b), 1e-300)

# sum of Kbar o dK/dtheta by C, and by differentiating sum(Kbar o K).
expect_adjoint <- function(case, x, z, Kbar, tolerance, label) {
  by_c <- .Call(sg_kernel_adjoint, case$spec, case$theta, seen(x), if (!is.null(z)) seen(z), Kbar)
  by_differences <- numeric_gradient(function(theta) sum(Kbar * cross(case, x, z, theta)),
                                     case$theta)
  expect_lt(gap(by_c, by_differences), tolerance, label = label)
}

test_that("every kernel of the catalogue has a reference formula and a constructor", {
  r_code_alone()
  expect_setequal(names(REFERENCE_KERNELS), catalogue()$kernels)
  for (type in catalogue()$kernels) expect_true(length(cases()[[type]]) > 0L, label = type)
})

test_that("a matrix of any shape equals the reference formula", {
  set.seed(2)
  x <- points(9L)
  z <- points(5L, spread = 2)
  one <- points(1L)
  for_all(function(case, label) {
    # distances come from inner products: a dozen roundings of numbers of the size of |x|^2
    expect_lt(gap(cross(case, x, z), naive(case, x, z)), 1e-13,
              label = label)
    expect_lt(gap(cross(case, one, z), naive(case, one, z)), 1e-13,
              label = label)
    expect_lt(gap(cross(case, x, one), naive(case, x, one)), 1e-13,
              label = label)
  })
})

test_that("extreme hyperparameters give the reference formula", {
  slow_tier()
  set.seed(3)
  x <- points(6L)
  for_all(function(case, label) {
    for (shift in c(-8, 8)) {
      theta <- case$theta + shift
      # length scales of e^-8 put the inputs thousands of units apart, where inner products of size
      # 1e7 round in the ninth digit; kernels that far apart are 0 unless they are periodic
      expect_lt(gap(cross(case, x, theta = theta), naive(case, x, theta = theta)), 1e-8,
                label = paste(label, shift))
    }
  })
})

test_that("x with itself gives what x with a copy of x gives, and is symmetric", {
  memory_tier()
  set.seed(4)
  x <- points(11L)
  for_all(function(case, label) {
    K <- cross(case, x)
    expect_lt(gap(K, cross(case, x, x + 0)), 1e-14, label = label)
    expect_lt(gap(K, t(K)), 1e-15, label = label)
  })
})

test_that("blocks of columns fit together: 127 to 300 of them, few rows or many", {
  memory_tier()
  set.seed(5)
  z <- points(300L)
  for_all(function(case, label) {
    K <- cross(case, z, z + 0)
    for (m in of_tier(c(127L, 128L, 129L, 256L, 257L), 5L, memory = 2L)) {
      some <- z[seq_len(m), ]
      expect_lt(gap(cross(case, some), K[seq_len(m), seq_len(m)]), 1e-13, label = paste(label, m))
    }
    expect_lt(gap(cross(case, z[1:2, ], z), K[1:2, ]), 1e-13, label = label)
    at <- c(1L, 128L, 129L, 300L)
    expect_lt(gap(K[at, at], naive(case, z[at, ])), 1e-13,
              label = label)
  })
})

test_that("columns of prepared points are those of the matrix, of a part of the points too", {
  slow_tier()
  set.seed(16)
  x <- points(140L)
  kept <- seq_len(140L) %% 3 != 0
  which <- c(7L, 1L, 93L, 7L)
  for_all(function(case, label) {
    columns <- function(kept, which) {
      .Call(sg_kernel_columns, case$spec, case$theta, seen(x), kept, which)
    }
    # centred on all points, or on those of the block: the last digit may differ
    expect_lt(gap(columns(!logical(140L), which), cross(case, x)[, which]), 1e-13, label = label)
    expect_lt(gap(columns(kept, which), cross(case, x[kept, ])[, which]), 1e-13, label = label)
    expect_identical(dim(columns(kept, integer())), c(sum(kept), 0L), label = label)
    expect_identical(dim(columns(logical(140L), integer())), c(0L, 0L), label = label)
    # what a selection relies on: a point and itself, or its copy, are at no distance
    diagonal <- .Call(sg_kernel_diag, case$spec, case$theta, seen(x[kept, ]))
    expect_lt(gap(diag(columns(kept, seq_len(sum(kept)))), diagonal), 1e-14, label = label)
  })
})

test_that("the diagonal is that of the matrix", {
  set.seed(6)
  x <- points(10L)
  for_all(function(case, label) {
    k <- .Call(sg_kernel_diag, case$spec, case$theta, seen(x))
    expect_lt(gap(k, diag(cross(case, x))), 1e-14, label = label)
  })
})

test_that("matrices are positive semidefinite, with duplicates and near-duplicates too", {
  memory_tier()
  set.seed(7)
  x <- points(25L)
  x <- rbind(x, x[1:5, ], x[1:5, ] + 1e-9)
  for_all(function(case, label) {
    values <- eigen(cross(case, x), symmetric = TRUE, only.values = TRUE)$values
    # eigenvalues that are 0 come out as rounding of the largest
    expect_gt(min(values), -1e-14 * length(values) * max(values), label = label)
  })
})

test_that("near-duplicates are told apart as well as the inputs tell them apart", {
  slow_tier()
  set.seed(8)
  x <- points(6L)
  z <- x + 1e-9 * points(6L)
  for_all(function(case, label) {
    K <- cross(case, rbind(x, z))
    expect_lt(gap(K, naive(case, rbind(x, z))), 1e-13, label = label)
    # the distance itself, which is all that is left of 1 - K: 1e-9 to six digits; levels of factors
    # are compared, and never near to each other
    if (startsWith(label, "matern12") && !grepl("factor", label)) {
      lost <- 1 - diag(cross(case, x, z)) / exp(case$theta[1L])
      reference <- -expm1(log(diag(naive(case, x, z))) -
                            case$theta[1L])
      expect_lt(gap(lost, reference), 1e-6, label = label)
    }
  })
})

test_that("exact duplicates have equal rows", {
  set.seed(9)
  x <- points(4L)[c(1L, 2L, 3L, 4L, 1L, 2L), ]
  for_all(function(case, label) {
    K <- cross(case, x)
    expect_lt(gap(K[5:6, ], K[1:2, ]), 1e-15, label = label)
  })
})

test_that("inputs a million units from the origin keep their distances", {
  slow_tier()
  set.seed(10)
  x <- points(7L) + 1e6
  z <- points(5L) + 1e6
  for_all(function(case, label) {
    # 1e6 leaves ten decimals to a difference, and the phase of a periodic kernel nine
    expect_lt(gap(cross(case, x, z), naive(case, x, z)), 1e-8,
              label = label)
    expect_lt(gap(cross(case, x), naive(case, x)), 1e-8,
              label = label)
  })
})

test_that("huge and tiny inputs give finite matrices wherever the formula is finite", {
  slow_tier()
  set.seed(11)
  for (size in c(1e150, 1e-150)) {
    x <- points(5L) * size
    Kbar <- matrix(rnorm(25L), 5L)
    for_all(function(case, label) {
      K <- cross(case, x)
      reference <- naive(case, x)
      at <- is.finite(reference)
      expect_true(all(is.finite(K[at])), label = label)
      # nobody can know the phase of 1e150 periods
      if (size > 1 && has_phase(case)) return()
      if (any(at)) expect_lt(gap(K[at], reference[at]), 1e-13, label = label)
      if (all(at)) expect_adjoint(case, x, NULL, Kbar, 1e-9, label)
    })
  }
})

test_that("no rows give an empty matrix and an adjoint of zero", {
  memory_tier()
  x <- points(4L)
  none <- x[0L, , drop = FALSE]
  for_all(function(case, label) {
    expect_identical(dim(cross(case, none, x)), c(0L, 4L), label = label)
    expect_identical(dim(cross(case, x, none)), c(4L, 0L), label = label)
    expect_identical(dim(cross(case, none)), c(0L, 0L), label = label)
    expect_length(.Call(sg_kernel_diag, case$spec, case$theta, seen(none)), 0L)
    adjoint <- .Call(sg_kernel_adjoint, case$spec, case$theta, seen(none), seen(x), numeric())
    expect_true(all(adjoint == 0), label = label)
  })
})

test_that("columns a kernel does not see do not matter", {
  set.seed(12)
  x <- points(6L)
  other <- x
  other[, 2L] <- rnorm(6L)
  for (kernel in list(kernel_rbf(vars = c("c", "a"), ard = TRUE), kernel_linear(vars = c(3, 1)),
                      kernel_poly(2, vars = "c"), kernel_periodic(vars = 1),
                      kernel_trig(2, vars = 1))) {
    kernel <- resolve_kernel(kernel, three_inputs)
    theta <- seq_len(kernel_theta_length(kernel)) / 10
    expect_identical(.Call(sg_kernel_cross, spec_for_c(kernel), theta, x, x),
                     .Call(sg_kernel_cross, spec_for_c(kernel), theta, other, other))
  }
})

# ---- Adjoints ----

test_that("the adjoint is the derivative of sum(Kbar * K) for any weights and shapes", {
  memory_tier()
  set.seed(13)
  x <- points(8L)
  z <- points(5L)
  wide <- points(140L)
  for_all(function(case, label) {
    # 1e-10: differences of K extrapolated from steps of 0.005 and less, in which a phase may move
    # by a tenth
    exact <- if (has_phase(case)) 1e-8 else 1e-10
    expect_adjoint(case, x, z, matrix(rnorm(40L), 8L), exact, label)
    expect_adjoint(case, z, NULL, matrix(rnorm(25L), 5L), exact, paste(label, "x with itself"))
    expect_adjoint(case, x[1:2, ], wide, matrix(rnorm(280L), 2L), exact, paste(label, "blocks"))
    expect_adjoint(case, x[1L, , drop = FALSE], z[1L, , drop = FALSE], matrix(1), exact,
                   paste(label, "1 x 1"))
  })
})

test_that("the adjoint of the diagonal is its derivative", {
  set.seed(14)
  x <- points(9L)
  kbar <- rnorm(9L)
  for_all(function(case, label) {
    by_c <- .Call(sg_kernel_adjoint_diag, case$spec, case$theta, seen(x), kbar)
    by_differences <- numeric_gradient(function(theta) {
      sum(kbar * .Call(sg_kernel_diag, case$spec, theta, seen(x)))
    }, case$theta)
    expect_lt(gap(by_c, by_differences), 1e-10, label = label)
  })
})

test_that("the adjoint survives duplicates, near-duplicates and a distant origin", {
  slow_tier()
  set.seed(15)
  x <- points(6L)
  for (apart in c(0, 1e-9, 1e-13)) {
    z <- rbind(x, x + apart * points(6L))
    Kbar <- matrix(rnorm(144L), 12L)
    for_all(function(case, label) {
      expect_adjoint(case, z, NULL, Kbar, 1e-9, paste(label, apart))
    })
  }
  z <- points(6L) + 1e6
  x <- x + 1e6
  Kbar <- matrix(rnorm(36L), 6L)
  for_all(function(case, label) {
    # ten decimals are left of a difference; nine of a phase, divided by a step of 1e-3
    expect_adjoint(case, x, z, Kbar, if (has_phase(case)) 1e-5 else 1e-8, label)
  })
})

test_that("a matrix and its adjoint are the same, bit for bit, for any number of threads", {
  slow_tier()
  set.seed(4)
  x <- points(12000L) # 40 columns of 50 microseconds at least are worth a second thread
  z <- x[1:40, ]
  Kbar <- matrix(rnorm(480000), 12000)
  for (ways in of_tier(cases(), 3)) {
    case <- ways[[length(ways)]]
    label <- case$kernel$type
    expect_same_by_threads(function() cross(case, x, z), label)
    expect_same_by_threads(function() {
      .Call(sg_kernel_adjoint, case$spec, case$theta, seen(x), if (!is.null(z)) seen(z), Kbar)
    }, paste("adjoint of", label))
  }
})

reads_type <- function(spec, type) {
  spec$type == type || any(vapply(spec$parts, reads_type, NA, type))
}

test_that("every kernel's derivatives along directions are those of its formula", {
  slow_tier()
  set.seed(6)
  x <- seen(matrix(rnorm(9L), 3L))
  z <- seen(matrix(rnorm(6L), 2L))
  x[1L, ] <- z[1L, ] # where smooth kernels have their own curvature
  all <- cases()
  for (type in names(all)) {
    ways <- all[[type]]
    for (case in ways[unique(c(1L, length(ways)))]) {
      numbers <- spec_columns(case$spec) + 1L
      rough <- part_without_slope(case$spec, numbers - 1L)
      v <- 0 * x
      w <- 0 * z
      # levels and components have no directions, nor have inputs of kernels without derivatives
      if (is.null(rough)) {
        v[, 1:3] <- rnorm(9L)
        w[, 1:3] <- rnorm(6L)
      }
      found <- .Call(sg_kernel_jet, case$spec, case$theta, x, v, z, w)
      expected <- reference_jet(case$kernel, case$theta, x, v, z, w)
      # where points coincide, differences meet the kink of matern32's slope, and of matern52's
      # third derivative: they are of first and third order there
      tolerance <- if (reads_type(case$spec, "matern32")) 2e-2
                   else if (reads_type(case$spec, "matern52")) 1e-5 else 1e-7
      for (field in names(expected)) {
        expect_equal(found[[field]], expected[[field]], tolerance = tolerance,
                     label = paste(type, field))
      }
      alone <- .Call(sg_kernel_jet, case$spec, case$theta, x, v, z, NULL)
      expect_equal(alone$dx, found$dx, tolerance = 1e-14)
      expect_null(alone$dxdz)
    }
  }
})

test_that("an order of a trigonometric kernel whose terms cannot be counted is refused", {
  expect_error(kernel_trig(2^30), "at most 1e\\+06", class = "sparsegp_error")
})
