# How a fit is kept: without what follows from the rest of it. Factors of a posterior on a basis of
# d points are upper triangles, of which that part alone is stored, column by column, as numbers
# without dimensions (full_factor()); with G = R^-1 and H = R^-1 A^-1, A'A = I + S (state.h), the
# matrices R and S of its sums follow, by G R = I and H A = G. So a posterior of one latent function
# with its sums takes d^2 numbers and not 4 d^2. Predictions read the triangles as they are and are
# the same to the last digit; full_sums() gives the sums back, to rounding, where rows join them.
# Small fits stay as they are.

PACKED_FROM <- 128L # points

# Sums that are so near to what follows from the factors, relative to their size, are left out:
# EP of rows that join ends at changes of 1e-6.
PACKED_TOLERANCE <- 1e-7

packed_fit <- function(fit) UseMethod("packed_fit")

# Its sums are read and written with every chunk.
#' @export
packed_fit.sparsegp_stream <- function(fit) fit

#' @export
packed_fit.sparsegp <- function(fit) {
  several <- !is.null(fit$posterior$each)
  parts <- if (several) fit$posterior$each else list(fit$posterior)
  large <- which(vapply(parts, function(part) nrow(part$basis), 0L) >= PACKED_FROM)
  for (k in intersect(large, seq_along(fit$state))) {
    fit$state[[k]] <- packed_sums(fit$state[[k]], parts[[k]])
  }
  for (k in large) parts[[k]][c("G", "H")] <- lapply(parts[[k]][c("G", "H")], packed_factor)
  if (several) fit$posterior$each <- parts else fit$posterior <- parts[[1L]]
  if (length(fit$modes)) fit$modes <- lapply(fit$modes, packed_fit.sparsegp)
  fit
}

packed_sums <- function(state, posterior) {
  if (is.null(state$R) || !sums_follow(state, posterior)) return(state)
  state["t"]
}

# Do the sums follow from the factors? R and S of each process are compared with them at two
# vectors; where there are coefficients of a mean, whose sums may be larger, at their points, too.
sums_follow <- function(state, posterior) {
  d <- nrow(state$R)
  shapes <- list(G = dim(posterior$G), H = dim(posterior$H))
  if (!identical(shapes, list(G = c(d, d), H = c(d, d * ncol(state$t))))) return(FALSE)
  near <- function(a, b) max(abs(a - b)) <= PACKED_TOLERANCE * max(abs(b))
  points <- seq_len(d)
  at <- cbind(1, cos(seq_len(nrow(state$t))))
  of_points <- at * (seq_len(nrow(at)) <= d)
  follow <- Map(function(S, H) {
    near(sums_at(posterior, H, at), at + S %*% at) &&
      (nrow(at) == d || near(sums_at(posterior, H, of_points)[points, ],
                             (of_points + S %*% of_points)[points, ]))
  }, process_sums(state), factors_of_processes(posterior$H, d))
  near(backsolve(posterior$G, at[points, ]), state$R %*% at[points, ]) && all(unlist(follow))
}

# Returns A'A at vectors, of points and coefficients, see derived_mean_sums().
sums_at <- function(posterior, H, at) {
  points <- seq_len(nrow(H))
  trend <- posterior$trend
  seen <- posterior$G %*% at[points, , drop = FALSE]
  if (is.null(trend)) {
    return(crossprod(posterior$G, backsolve(H, backsolve(H, seen), transpose = TRUE)))
  }
  own <- backsolve(trend$root, at[-points, , drop = FALSE])
  back <- backsolve(H, backsolve(H, seen + trend$J %*% own), transpose = TRUE)
  rbind(crossprod(posterior$G, back),
        backsolve(trend$root, crossprod(trend$J, back) + own, transpose = TRUE))
}

factors_of_processes <- function(H, d) {
  if (ncol(H) == d) return(list(H))
  lapply(seq_len(ncol(H) %/% d), function(c) H[, (c - 1L) * d + seq_len(d), drop = FALSE])
}

# Returns the fit with the sums that were left out.
full_sums <- function(fit) {
  parts <- if (is.null(fit$posterior$each)) list(fit$posterior) else fit$posterior$each
  for (k in seq_along(fit$state)) {
    state <- fit$state[[k]]
    if (is.null(state$R)) fit$state[[k]] <- derived_sums(state$t, parts[[k]])
  }
  fit
}

derived_sums <- function(t, posterior) {
  d <- nrow(posterior$basis)
  G <- full_factor(posterior$G, d)
  if (!is.null(posterior$trend)) {
    return(derived_mean_sums(t, posterior$trend, G, full_factor(posterior$H, d)))
  }
  S <- lapply(factors_of_processes(full_factor(posterior$H, d), d), function(H) {
    crossprod(backsolve(H, G)) - diag(d)
  })
  list(R = backsolve(G, diag(d)), S = do.call(cbind, rep_len(S, ncol(t))), t = t)
}

# The same with the coefficients of a mean: A = [F, E; 0, B] with F = H^-1 G, B the inverse of the
# root and E = H^-1 J B (src/state.c).
derived_mean_sums <- function(t, trend, G, H) {
  q <- nrow(trend$root)
  B <- backsolve(trend$root, diag(q))
  A <- rbind(cbind(backsolve(H, G), backsolve(H, trend$J %*% B)),
             cbind(matrix(0, q, nrow(G)), B))
  list(R = backsolve(G, diag(nrow(G))), S = crossprod(A) - diag(nrow(A)), t = t)
}
