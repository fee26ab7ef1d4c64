# The sparse posterior of latent values by nearest neighbours: prior precision
# Q = sum c_i c_i' / d_i with c_i = e_i - b_i, posterior precision Q + T, T of the sites. Package
# Matrix (CHOLMOD) factors it; src/supernodes.h reads the factor.

# Returns the nodes of rows: list(x, node), different inputs and which of them each row has.
nodes_of_rows <- function(x) {
  x <- unname(x)
  order <- order_of_rows(x, seq_len(nrow(x)))
  sorted <- x[order, , drop = FALSE]
  new <- rowSums(sorted[-1L, , drop = FALSE] != sorted[-nrow(x), , drop = FALSE]) > 0
  node <- integer(nrow(x))
  node[order] <- cumsum(c(TRUE, new))
  list(x = sorted[c(TRUE, new), , drop = FALSE], node = node)
}

# Returns list(order, near) of nodes x: of each the k rows before it in maximin order that leave the
# least of its variance, among the nearest ones.
nodes_before <- function(spec, theta, x, k) {
  n <- nrow(x)
  k <- min(k, n - 1L)
  found <- neighbours_before(in_lengthscales(spec, theta, x), min(NODE_CANDIDATES * k, n - 1L),
                             seq_len(n))
  noise <- LEAST_CONDITIONAL * .Call(sg_kernel_diag, spec, theta, x)
  if (k < n - 1L) {
    found$near <- chosen_rows(spec, theta, list(x = x, noise = noise), x, found$near, k)
  }
  found
}

NODE_CANDIDATES <- 3 # for each node that a node is given

# The least share of its variance that a node's neighbours leave open. Q + T has its inverse as
# large, so that of sites of about 1 it keeps nine digits, by which EP converges where nodes nearly
# coincide.
LEAST_CONDITIONAL <- 1e-7

# Returns list(precision, log_d, nugget): Q of nodes, each given its neighbours `near`, a column
# each. nugget: the variance that a node's value has besides what the kernel leaves of it.
neighbour_precision <- function(spec, theta, x, near) {
  n <- nrow(x)
  prior <- neighbour_weights(spec, theta, x, NULL, x, matrix(0L, 0L, n), before = near)
  left <- drop(prior$root)^2
  variance <- .Call(sg_kernel_diag, spec, theta, x)
  d <- pmax(left, LEAST_CONDITIONAL * variance)
  there <- which(near > 0L)
  at <- (there - 1L) %/% max(nrow(near), 1L) + 1L
  row <- c(seq_len(n), at)
  roots <- Matrix::sparseMatrix(i = row, j = c(seq_len(n), near[there]),
                                x = c(rep(1, n), -prior$weights[there]) / sqrt(d[row]),
                                dims = c(n, n))
  list(precision = Matrix::crossprod(roots), log_d = sum(log(d)),
       nugget = d - left)
}

FEWER <- 16 # as many times fewer nodes show how many numbers a factor has

# Returns how many numbers a factor has, as that of the first nodes in the order leads to expect, in
# so many inputs (George 1973: n log n in two of them).
factor_numbers <- function(order, near, inputs) {
  n <- length(order)
  m <- n %/% FEWER
  if (m < 100L) return(as.double(n) * (n + 1) / 2)
  first <- order[seq_len(m)]
  own <- matrix(match(near[, first], first, nomatch = 0L), nrow(near))
  there <- which(own > 0L)
  at <- (there - 1L) %/% nrow(own) + 1L
  roots <- Matrix::sparseMatrix(i = c(seq_len(m), at), j = c(seq_len(m), own[there]),
                                x = c(rep(2, m), rep(1 / nrow(near), length(at))), dims = c(m, m))
  factor <- factor_maker(Matrix::crossprod(roots))(numeric(m))
  power <- if (inputs < 3L) 1 else 2 - 2 / inputs
  length(factor@x) * FEWER^power * if (inputs == 2L) log(n) / log(m) else 1
}

# Stops before a factor of so many numbers is made, which would take too much memory.
refuse_large_factor <- function(numbers, near) {
  if (numbers <= 2 * policy$held_numbers) return(invisible())
  stop_sparsegp("k", paste0("= ", nrow(near), " neighbours of ", ncol(near), " rows take a factor ",
                            "of some ", ceiling(8 * numbers / 1e9), " GB, and several of these"),
                "Give method_neighbours() a smaller k, or use method_ep(size =)")
}

# Returns a function of tau that factors Q + diag(tau): Matrix's factor, or NULL if there is none.
# All factors have the order and the pattern of the first, of tau = 0.
factor_maker <- function(precision) {
  diagonal <- precision@p[-1L] # the last of each column, as the upper triangle is stored
  plain <- precision@x
  first <- NULL
  function(tau) {
    precision@x <<- plain
    precision@x[diagonal] <<- plain[diagonal] + tau
    tryCatch(suppressWarnings(if (is.null(first)) {
      first <<- Matrix::Cholesky(precision, perm = TRUE, LDL = FALSE, super = TRUE)
    } else {
      Matrix::update(first, precision)
    }), error = function(e) NULL)
  }
}

# Returns a factor's pattern, and its numbers `x`, as C takes them.
factor_parts <- function(factor) {
  list(super = factor@super, pi = factor@pi, px = factor@px, s = factor@s, perm = factor@perm,
       x = factor@x)
}

# Returns what predictions take of a posterior with sites on latent values, as known_rows() has it:
# the nodes with the mean of the process, the functions s = K W phi of the mean, and the factor. A
# node's noise is its nugget: predictions that took twins to differ by as little as the kernel says
# would blow up their difference in the posterior.
latent_posterior <- function(spec, theta, posterior) {
  sites <- posterior$neighbours
  rows <- unname(posterior$basis)
  nodes <- nodes_of_rows(rows)
  near <- nodes_before(spec, theta, nodes$x, sites$k)
  prior <- neighbour_precision(spec, theta, nodes$x, near$near)
  tau <- drop(rowsum(sites$tau, nodes$node))
  factor <- factor_maker(prior$precision)(tau)
  refuse_if(is.null(factor), "object", "has no proper posterior at these hyperparameters",
            "Fit again")
  nu <- drop(rowsum(sites$nu, nodes$node))
  mean <- drop(as.matrix(Matrix::solve(factor, nu)))
  trend <- posterior$trend
  s <- NULL
  if (!is.null(trend)) {
    colnames(nodes$x) <- colnames(posterior$basis)
    s <- as.matrix(Matrix::solve(factor, tau * mean_functions(trend, nodes$x)))
    mean <- mean - drop(s %*% c(trend$coef))
  }
  list(x = unname(nodes$x), noise = prior$nugget, z = mean, phi = s, factor = factor,
       order = near$order)
}

# Returns B'A^-1 B of the weights of points, w w numbers a column (src/supernodes.h).
factor_squares <- function(factor, near, weights, w) {
  .Call(sg_factor_squares, factor_parts(factor), near, weights, as.integer(w))
}

# Returns B'A^-1 B of all columns B, which have `weights` at rows `near`, a column each. Only what
# is between these rows and the root of the elimination tree takes memory, so that little of it
# depends on the number of nodes.
factor_products <- function(factor, near, weights) {
  most <- policy$held_numbers
  found <- .Call(sg_factor_products, factor_parts(factor),
                 list(row = near, weights = weights, most = as.double(most)))
  if (is.matrix(found)) return(found)
  stop_sparsegp("newdata", paste0("has points whose joint covariance takes ",
                                  ceiling(8 * found / 1e9), " GB"),
                "Give `newdata` with fewer rows")
}
