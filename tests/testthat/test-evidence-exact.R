# The log evidence of EP against the integral itself, for one, two and three rows and every
# likelihood of the catalogue. With one row EP is exact; with more it approximates, how well is said
# in helper-reference.R (`ep_error`).

# Nodes and weights for functions of a N(0, sd^2) variable that are smooth but at `corners`: panels
# of 1.5 sd out to 8 sd, cut at the corners, of eight Gauss-Legendre nodes each.
panel_rule <- function(sd, corners) {
  rule <- gauss_legendre(8L)
  breaks <- sort(unique(c(seq(-8, 8, length.out = 12L) * sd, corners[abs(corners) < 8 * sd])))
  half <- diff(breaks) / 2
  list(u = c(outer(rule$x, half) + rep(breaks[-1L] - half, each = 8L)), w = c(outer(rule$w, half)))
}

# Rows' values into all combinations of them: a column per rule
combined <- function(rules, what) as.matrix(expand.grid(lapply(rules, `[[`, what)))

# log of the integral of prod_i p(y_i | u_i + offset_i) over u ~ N(0, K) (independent for each of C
# latent functions): all rows but the last on a product of panels, the last by its tilt under its
# distribution given the others. C's log p and tilts have been compared with reference formulas and
# integrals in test-contract-likelihoods.R.
exact_evidence <- function(case, K, offset) {
  n <- ncol(case$rows)
  first <- seq_len(n - 1L)
  at <- expand.grid(row = first, latent = seq_len(case$latents)) # what the columns of u are
  corner <- REFERENCE_LIKELIHOODS[[case$type]]$corner
  if (is.null(corner)) corner <- function(y, v) numeric()
  rules <- lapply(at$row, function(i) {
    panel_rule(sqrt(K[i, i]), corner(case$rows[, i], case$values) - offset[i])
  })
  u <- combined(rules, "u")
  logs <- rowSums(log(combined(rules, "w")))
  rows_of <- function(i) case$rows[, rep(i, nrow(u)), drop = FALSE]
  for (i in first) {
    f <- u[, at$row == i, drop = FALSE] + offset[i]
    logs <- logs + .Call(sg_lik_eval, c_lik(case$lik, case$theta), case$theta, rows_of(i), f)$logp
  }
  R <- chol(K[first, first])
  ahead <- solve(K[first, first], K[first, n])
  mean <- matrix(offset[n], nrow(u), case$latents)
  for (c in seq_len(case$latents)) {
    own <- u[, at$latent == c, drop = FALSE]
    logs <- logs - colSums(backsolve(R, t(own), transpose = TRUE)^2) / 2 - sum(log(diag(R))) -
      length(first) * log(2 * pi) / 2
    mean[, c] <- mean[, c] + own %*% ahead
  }
  var <- 0 * mean + K[n, n] - sum(K[n, first] * ahead)
  lik <- c_lik(case$lik, case$theta)
  logs <- logs + .Call(sg_lik_tilt, lik, case$theta, rows_of(n), mean, var, FALSE)$logz
  max(logs) + log(sum(exp(logs - max(logs))))
}

# n neighbouring rows, drawn from the model.
evidence_case <- function(type, n) {
  lik <- get(paste0("lik_", type))()
  traits <- lik_traits(lik)
  latents <- if (lik_traits(lik)$response == "classes") 2L else 1L
  theta <- rep(-0.4, length(lik$params))
  values <- as.list(natural_values(lik, theta))
  f <- c(-0.6, 0.3, 1.2)[seq_len(n)]
  if (lik_traits(lik)$response == "classes") {
    theta <- values$bias <- c(-0.4, 0.2)
    f <- cbind(f, -f)
  }
  set.seed(50 + n)
  y <- traits$draw(f, unlist(values), 1)
  list(type = type, lik = lik, latents = latents, theta = theta, values = values,
       rows = traits$data_rows(y, rep(1, n)))
}

# list(found, exact): log evidence by EP and by integration
both_evidences <- function(case) {
  n <- ncol(case$rows)
  kernel <- resolve_kernel(kernel_rbf(), list(names = "x", terms = "x", kept = TRUE))
  theta <- log(c(2, 1))
  x <- cbind(c(0, 0.8, 1.9)[seq_len(n)])
  offset <- if (case$latents > 1L) numeric(n) else c(0.3, -0.2, 0.1)[seq_len(n)]
  found <- engine_run(list(x = x, spec = spec_for_c(kernel), nkernel = 2L, processes = case$latents,
                           lik = case$lik, rows = case$rows, offset = offset,
                           options = method_ep(tol = 1e-11)), c(theta, case$theta))$logz
  if (n == 1L) {
    wanted <- reference_tilt(case$type, case$rows[, 1L], rep(offset, case$latents),
                             rep(2, case$latents), case$values)$logz
  } else {
    wanted <- exact_evidence(case, reference_kernel(kernel, theta, x), offset)
  }
  list(found = found, exact = wanted)
}

test_that("the log evidence is exact for one row, and as near as EP comes for two and three", {
  memory_tier()
  for (type in likelihood_names()) {
    most <- if (traits_of(type)$response == "classes") 2L else 3L # four dimensions take long
    for (n in of_tier(seq_len(if (whole_suite()) most else most - 1L), 1L, memory = 2L)) {
      z <- both_evidences(evidence_case(type, n))
      # one row: nothing but the tilt at the prior, of which quadrature promises 1e-9
      tolerance <- if (n == 1L) 1e-9 else REFERENCE_LIKELIHOODS[[type]]$ep_error
      if (is.null(tolerance)) tolerance <- 5e-3
      expect_lt(abs(z$found - z$exact), tolerance, label = paste(type, "of", n, "rows: error"))
    }
  }
})
