# Fits on many points keep triangles, and no sums that follow from them (R/fit-pack.R).

packed_rows <- function(n = 400L) {
  u <- (seq_len(n) * 0.618034) %% 1
  v <- (seq_len(n) * 0.414214) %% 1
  d <- data.frame(u, v, y = sin(9 * u) + cos(7 * v))
  transform(d, kind = factor(c("p", "q", "r")[1 + (y > 0) + (u > 0.7)]))
}

# Fits of all forms that a posterior on a basis has.
packed_fits <- function(d, points = PACKED_FROM + 2L) {
  fit <- function(formula, likelihood, ...) {
    sparsegp(formula, d, likelihood, kernel_rbf(fixed(1), fixed(0.4)), learn = FALSE, ...)
  }
  basis <- seq_len(points)
  list(numbers = fit(y ~ u + v, lik_gaussian(fixed(0.05)), basis = basis),
       student = fit(y ~ u + v, lik_student(), basis = basis),
       rest = fit(kind ~ u + v, "probit", method = method_ivm(size = points)),
       shared = fit(kind ~ u + v, "mprobit", basis = basis),
       squares = fit(kind ~ u + v, "squares", basis = basis),
       full = fit(y ~ u + v, lik_gaussian(fixed(0.05))))
}

# The same fit with whole matrices
unpacked <- function(fit) {
  fit <- full_sums(fit)
  whole <- function(part) {
    part[c("G", "H")] <- lapply(part[c("G", "H")], full_factor, nrow(part$basis))
    part
  }
  if (is.null(fit$posterior$each)) fit$posterior <- whole(fit$posterior)
  else fit$posterior$each <- lapply(fit$posterior$each, whole)
  fit
}

test_that("predictions of a packed fit are those of a whole one to the last digit", {
  slow_tier()
  d <- packed_rows()
  for (fit in packed_fits(d)) {
    whole <- unpacked(fit)
    latent <- function(fit) predict(fit, d[c(3, 99, 370), ], type = "latent", se.fit = TRUE)
    expect_identical(latent(fit), latent(whole))
    expect_identical(attributes(packed_fit(whole)), attributes(fit))
    expect_identical(packed_fit(fit), fit)
    if (is.null(fit$state)) next
    expect_identical(unique(lapply(fit$state, names)), list("t"))
    expect_lt(length(serialize(fit$posterior, NULL)) + length(serialize(fit$state, NULL)),
              0.36 * (length(serialize(whole$posterior, NULL)) +
                        length(serialize(whole$state, NULL))))
  }
})

test_that("what follows from the factors are the sums, and rows join them", {
  slow_tier()
  d <- packed_rows()
  more <- transform(d[1:40, ], u = u + 0.003)
  small <- packed_fits(d, 60L) # below PACKED_FROM: kept whole
  for (name in setdiff(names(small), "full")) {
    whole <- small[[name]]
    expect_identical(names(whole$state[[1L]]), c("R", "S", "t"))
    for (k in seq_along(whole$state)) {
      part <- if (is.null(whole$posterior$each)) whole$posterior else whole$posterior$each[[k]]
      # the condition number of R, up to 1e5, times 1e-16
      expect_equal(derived_sums(whole$state[[k]]$t, part), whole$state[[k]], tolerance = 1e-9,
                   ignore_attr = TRUE)
    }
  }
  for (fit in packed_fits(d)[c("numbers", "rest")]) {
    fit[["x"]] <- NULL # else all rows are run again
    grown <- update(fit, more)
    same <- update(unpacked(fit), more)
    expect_equal(predict(grown, d, type = "latent"), predict(same, d, type = "latent"),
                 tolerance = 1e-7)
    expect_equal(grown$log_evidence, same$log_evidence, tolerance = 1e-7)
    expect_identical(names(grown$state[[1L]]), "t")
    like <- sparsegp(control = gp_control(like = fit), data = more)
    expect_equal(merge(fit, like)$n, 440)
    expect_equal(predict(merge(fit, like), d, type = "latent"),
                 predict(merge(unpacked(fit), like), d, type = "latent"), tolerance = 1e-7)
    expect_lt(abs(kl(fit, unpacked(fit))), 1e-6)
  }
})

test_that("sums that do not follow from the factors stay", {
  slow_tier()
  fit <- unpacked(packed_fits(packed_rows())$numbers)
  changed <- fit
  changed$state[[1L]]$S[2L, 2L] <- changed$state[[1L]]$S[2L, 2L] + 1
  expect_identical(packed_fit(changed)$state, changed$state)
  lower <- fit
  lower$posterior$H[5L, 2L] <- 1e-9
  expect_identical(dim(packed_fit(lower)$posterior$H), dim(fit$posterior$H))
})

test_that("triangles of another length are a damaged fit", {
  slow_tier()
  fit <- packed_fits(packed_rows())$numbers
  for (field in c("G", "H")) {
    broken <- fit
    broken$posterior[[field]] <- broken$posterior[[field]][-1L]
    expect_error(predict(broken, packed_rows()), "posterior", class = "sparsegp_error")
  }
  broken <- fit
  broken$state[[1L]]$t <- broken$state[[1L]]$t[-1L, , drop = FALSE]
  expect_error(predict(broken, packed_rows()), "state", class = "sparsegp_error")
})
