# The methods of a density.

# Returns the names of the inputs; that of a vector of points is in the call alone.
density_names <- function(object) {
  names <- colnames(object$range)
  given <- object$call$x
  if (identical(names, "x1") && is.language(given) && nchar(deparse1(given)) <= 40L) deparse1(given)
  else names
}

# Returns cells of the unit interval, square or cube, on which the space is mapped: their middles,
# and the mass in each, to the second order in their width.
density_cells <- function(object, count) {
  inputs <- ncol(object$range)
  middles <- as.matrix(expand.grid(rep(list((seq_len(count) - 0.5) / count), inputs),
                                   KEEP.OUT.ATTRS = FALSE))
  colnames(middles) <- colnames(object$range)
  map <- space_map(object)
  points <- map$from(middles)
  mass <- predict(object, points) * exp(-map$log_slope(points))
  list(middles = middles, points = points, width = 1 / count, mass = mass / sum(mass))
}

# Cells along an input: as many as 51 Fourier terms (k0 = 25) need, and of several inputs fewer
CELLS <- c(4000L, 300L, 40L)

#' @rdname gp_density
#' @return `summary()`: a list of class `summary.gp_density` with `fit`, `evidence`, and `moments`,
#'   a data frame of the `mean` and `sd` of the density, along each input.
#' @export
summary.gp_density <- function(object, ...) {
  check_no_dots(...)
  object <- check_density(object)
  cells <- density_cells(object, CELLS[ncol(object$range)])
  mean <- colSums(cells$points * cells$mass)
  sd <- sqrt(colSums(sweep(cells$points, 2L, mean)^2 * cells$mass))
  structure(list(fit = object, evidence = object$evidence,
                 moments = data.frame(mean = mean, sd = sd, row.names = density_names(object))),
            class = "summary.gp_density")
}

#' @export
print.summary.gp_density <- function(x, ...) {
  print(x$fit)
  cat("\nMoments of the density:\n")
  print(x$moments)
  cat("\nLog evidence by order:\n")
  print(x$evidence, row.names = FALSE)
  invisible(x)
}

#' @rdname gp_density
#' @param nsim `simulate()`: number of simulations, a whole number of at least 1; each has as many
#'   points as the data.
#' @param seed A seed or `NULL`, as for [simulate.sparsegp()].
#' @return `simulate()`: a data frame with a column for each simulation, `sim_1`, ... (of two
#'   inputs each a matrix), and the state of the generator as attribute `seed`. `update()` fits
#'   again with arguments changed: `update(fit, k0 = 3)`.
#' @export
simulate.gp_density <- function(object, nsim = 1, seed = NULL, ...) {
  check_no_dots(...)
  object <- check_density(object)
  nsim <- check_count(nsim, "nsim")
  state <- with_seed(seed)
  on.exit(state$restore())
  cells <- density_cells(object, CELLS[ncol(object$range)])
  draw <- function(j) {
    at <- sample.int(length(cells$mass), object$n, TRUE, cells$mass)
    u <- cells$middles[at, , drop = FALSE]
    drop(space_map(object)$from(u + cells$width * (stats::runif(length(u)) - 0.5)))
  }
  columns <- lapply(stats::setNames(seq_len(nsim), paste0("sim_", seq_len(nsim))), draw)
  out <- data.frame(lapply(columns, I))
  out[] <- lapply(out, unclass)
  attr(out, "seed") <- state$seed
  out
}

#' @export
update.gp_density <- function(object, ..., evaluate = TRUE) {
  call <- changed_call(check_density(object)$call, as.list(substitute(list(...)))[-1L])
  if (check_flag(evaluate, "evaluate")) eval(call, parent.frame()) else call
}

# Returns mean and variance of h = f / root of the integral of f^2 at points u, to first order in
# the integral's deviation from its mean, and the density E f^2 / E integral. f interpolates its
# values at the basis; its integrals are means over the basis.
shape_moments <- function(object, u) {
  d <- length(object$mean)
  W <- wave_weights(object$k0, u, space_map(object)$to(object$basis), WAVES[[object$waves]])
  mean <- drop(W %*% object$mean)
  with_basis <- W %*% object$cov
  var <- pmax(rowSums(with_basis * W), 0)
  size <- mean_square(object)
  # variance of the integral, and its covariance with f
  spread <- (2 * sum(object$cov^2) + 4 * sum(object$mean * (object$cov %*% object$mean))) / d^2
  along <- 2 * drop(with_basis %*% object$mean) / d
  of_shape <- (var - mean / size * along + (mean / (2 * size))^2 * spread) / size
  list(mean = mean / sqrt(size), var = pmax(of_shape, 0), density = (mean^2 + var) / size)
}

#' @rdname gp_density
#' @order 2
#' @param object A fit of `gp_density()`.
#' @param newdata Points, as `x`; columns with names are matched by them. `NULL`: the points
#'   themselves.
#' @param se.fit `TRUE` adds standard deviations of the density.
#' @param interval `"confidence"` adds an interval of the density; `"none"`.
#' @param level Nominal coverage of the interval, in (0, 1).
#' @return `predict()`: the density at each row, 0 outside `range`; with an interval a matrix with
#'   columns `fit`, `lwr` and `upr`; with `se.fit` a list of that, `fit`, and `se.fit`. Rows
#'   with missing values give `NA`.
#' @export
predict.gp_density <- function(object, newdata = NULL, se.fit = FALSE,
                               interval = c("none", "confidence"), level = 0.95, ...) {
  check_no_dots(...)
  check_flag(se.fit, "se.fit")
  interval <- check_choice(interval, c("none", "confidence"), "interval")
  check_number(level, "level", 0, 1)
  check_density(object)
  x <- if (is.null(newdata)) object$x else named_inputs(newdata, colnames(object$range), "newdata")
  map <- space_map(object)
  known <- stats::complete.cases(x)
  inside <- which(known & map$inside(x))
  x <- x[inside, , drop = FALSE]
  slope <- exp(map$log_slope(x))
  in_all <- function(values) replace(ifelse(known, 0, NA_real_), inside, values * slope)
  at <- shape_moments(object, map$to(x))
  fit <- in_all(at$density)
  if (interval == "confidence") {
    lik <- lik_for_c(lik_density(), 1L)
    seen <- rbind(rep(1, length(inside)))
    bound <- function(p) in_all(engine_lik_quantile(lik, numeric(), seen, at$mean, at$var, p))
    fit <- cbind(fit = fit, lwr = bound((1 - level) / 2), upr = bound((1 + level) / 2))
  }
  if (!se.fit) return(fit)
  list(fit = fit, se.fit = in_all(sqrt(2 * at$var * (at$var + 2 * at$mean^2))))
}

#' @export
print.gp_density <- function(x, ...) {
  x <- check_density(x)
  cat("Density of ", counted(x$n, "point"), " ", space_map(x)$words, "\n",
      "Order k0 = ", x$k0, ", ", counted(nrow(x$basis), "basis point"),
      "; log evidence ", format(c(logLik(x)), digits = 6L), "\n", sep = "")
  if (nrow(x$evidence) > 1L) {
    cat("Orders tried: ", toString(x$evidence$k0), "; largest evidence: ", x$chosen,
        if (x$k0 > x$chosen) paste0("; mean of ", x$chosen, " to ", x$k0), "\n", sep = "")
  }
  if (!x$converged) cat("lambda did NOT settle\n")
  if (!x$convergence$converged) {
    cat("EP did NOT converge: change ", signif(x$convergence$change, 3L), "\n", sep = "")
  }
  invisible(x)
}

#' @export
nobs.gp_density <- function(object, ...) check_density(object)$n

#' @export
logLik.gp_density <- function(object, ...) {
  object <- check_density(object)
  at <- match(object$k0, object$evidence$k0)
  structure(object$evidence$log_evidence[at], df = 0L, nobs = object$n, class = "logLik")
}
