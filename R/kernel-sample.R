# Is a kernel that is an R function one at all? It is evaluated on some of the rows, at the starting
# values of its hyperparameters.

SAMPLE_ROWS <- 40L

# Returns the distinct ones of some inputs, evenly spread.
custom_sample <- function(x) {
  n <- nrow(x)
  unique(x[unique(round(seq(1, n, length.out = min(n, SAMPLE_ROWS)))), , drop = FALSE])
}

# Stops where a part of the kernel is no kernel at scaled inputs x. table: hyperparameters, those of
# kernels as they are in the order of the kernel's parts.
check_custom_kernels <- function(kernel, table, x) {
  leaves <- kernel_leaves(kernel)
  if (!any(lengths(lapply(leaves, `[[`, "custom")))) return(invisible()) # x is not made then
  theta <- table$theta[table$part == "kernel"]
  for (leaf in leaves) {
    mine <- seq_len(count_kernel_hyper(spec_for_c(leaf)))
    if (!is.null(leaf$custom)) {
      own <- x[, leaf$vars + 1L, drop = FALSE]
      colnames(own) <- leaf$input_names
      check_custom_sample(leaf$custom, theta[mine][-1L], own)
    }
    theta <- theta[-mine]
  }
}

# theta: of the function. Tolerances are relative to the largest element: rounding of a formula
# that cancels is below them, a wrong formula above.
check_custom_sample <- function(custom, theta, x) {
  TOLERANCE <- 1e-6
  n <- nrow(x)
  value <- natural_theta(custom, theta)
  K <- custom_matrix(custom, "fun", value, x, x)
  at <- paste(names(value), signif(value, 3L), sep = " = ", recycle0 = TRUE)
  if (!all(is.finite(K))) stop_no_kernel("has values that are not finite", at)
  size <- max(abs(K), .Machine$double.xmin)
  near <- function(one, other) all(abs(one - other) <= TOLERANCE * size)
  if (!near(K, t(K))) {
    stop_no_kernel("is not symmetric", at, "fun(x, z) has to be the transpose of fun(z, x)")
  }
  some <- seq_len(ceiling(n / 2))
  part <- custom_matrix(custom, "fun", value, x[some, , drop = FALSE], x)
  if (!near(part, K[some, , drop = FALSE])) {
    stop_no_kernel("has elements that depend on other points than their own two", at,
                   "Do not centre or scale x and z by their own means, or by each other's")
  }
  lowest <- min(eigen((K + t(K)) / 2, TRUE, only.values = TRUE)$values)
  if (lowest < -TOLERANCE * size * n) {
    stop_no_kernel(paste0("is not positive semidefinite (an eigenvalue of ", signif(lowest, 3L),
                          ")"), at, "Not every function of a distance is a covariance")
  }
  if (!near(custom_values(custom, theta, x, NULL), diag(K))) {
    stop_no_kernel("has a `diag` that is not the diagonal of its function", at)
  }
  check_custom_gradient(custom, theta, x, K)
}

# Compares `grad` with differences, in sums weighed by numbers of both signs.
check_custom_gradient <- function(custom, theta, x, K) {
  TOLERANCE <- 1e-4
  if (is.null(custom$grad)) return(invisible())
  weights <- cos(seq_along(K))
  given <- custom_slopes(custom, theta, x, x, weights)
  custom["grad"] <- list(NULL)
  numeric <- custom_slopes(custom, theta, x, x, weights)
  wrong <- !is.finite(given) | abs(given - numeric) > TOLERANCE * (abs(numeric) + max(abs(K)))
  if (!any(wrong)) return(invisible())
  stop_no_kernel(paste("has a `grad` that is not the derivative in", toString(custom$names[wrong])),
                 NULL, "Return dK/dtheta on theta's natural scale, or leave `grad` out")
}

stop_no_kernel <- function(fault, at, remedy = "See ?kernel_custom for what it is called with") {
  stop_sparsegp("kernel", paste0("is a function that ", fault,
                                 if (length(at)) paste0(" at ", toString(at))), remedy)
}
