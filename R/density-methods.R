# What R users ask of a density.

# The name of a vector of points is in the call alone.
density_names <- function(object) {
  names <- colnames(object$range)
  given <- object$call$x
  if (identical(names, "x1") && is.language(given) && nchar(deparse1(given)) <= 40L) deparse1(given)
  else names
}

# As check_fit() for fits.
check_density <- function(object) {
  wrong <- if (!is.list(object) || !identical(object$format, FIT_FORMAT)) "format"
           else misfit("density", object)
  if (is.null(wrong)) wrong <- flaw_among(DENSITY_PARTS, object)
  if (is.null(wrong)) return(object)
  stop_damaged(paste0("its `", wrong, "` does not fit the rest"), what = "density")
}

density_kinds <- function() list(
  k0 = function(x) is.integer(x) && is_one(x, 0, 500), chosen = is_count, n = is_count,
  lambda = is_number, trace = is.numeric, converged = is_flag, convergence = is_convergence,
  evidence = frame_of("k0", "log_evidence"), call = is_plain_call,
  range = function(x) is.double(x) && is.matrix(x) && are_finite(x) && all(x[1L, ] < x[2L, ]),
  waves = function(x) is_word(x, c("periodic", "level")),
  basis = are_finite, mean = are_moderate, cov = are_moderate, x = are_finite
)

DENSITY_PARTS <- list(
  range = function(fit) is_space(fit, ncol(fit$range)),
  k0 = function(fit) fit$k0 %in% fit$evidence$k0 || fit$chosen %in% fit$evidence$k0,
  x = function(fit) is_table(fit$x, fit$n, ncol(fit$range)) && all(in_space(fit$x, fit)),
  basis = function(fit) {
    inputs <- ncol(fit$range)
    points <- if (fit$waves == "level") fit$k0 + 1 else (2 * fit$k0 + 1)^inputs
    is_table(fit$basis, points, inputs) && are_doubles(fit$mean, points) &&
      is_table(fit$cov, points, points)
  }
)

is_space <- function(space, inputs) {
  half <- !is.null(space$scale)
  is_table(space$range, 2L, inputs) && inputs %in% (if (space$waves == "level") 1L else 1:2) &&
    (!half || is_one(space$end, -Inf) && is_number(space$scale) && is.finite(space$scale) &&
       space$scale != 0)
}

# Cells of the unit interval, or square, on which the space is mapped: their middles, and the mass
# in each, to the second order in their width.
density_cells <- function(object, count) {
  inputs <- ncol(object$range)
  middles <- as.matrix(expand.grid(rep(list((seq_len(count) - 0.5) / count), inputs),
                                   KEEP.OUT.ATTRS = FALSE))
  colnames(middles) <- colnames(object$range)
  points <- from_unit(middles, object)
  mass <- predict(object, points) * exp(-log_slope(points, object))
  list(middles = middles, points = points, width = 1 / count, mass = mass / sum(mass))
}

# Cells along an input: as many as 51 Fourier terms (k0 = 25) need, and in two dimensions fewer
CELLS <- c(4000L, 300L)

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
#' @param nsim `simulate()`: how many points to draw from the density, each time as many as there
#'   were.
#' @param seed As for [simulate.sparsegp()].
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
    drop(from_unit(u + cells$width * (stats::runif(length(u)) - 0.5), object))
  }
  columns <- lapply(stats::setNames(seq_len(nsim), paste0("sim_", seq_len(nsim))), draw)
  out <- data.frame(lapply(columns, I))
  out[] <- lapply(out, unclass)
  attr(out, "seed") <- state$seed
  out
}

#' @export
update.gp_density <- function(object, ..., evaluate = TRUE) {
  call <- as.list(check_density(object)$call)
  changes <- as.list(substitute(list(...)))[-1L]
  if (length(changes) && (is.null(names(changes)) || any(names(changes) == ""))) {
    stop_sparsegp("...", "holds an unnamed argument", "Name what should change")
  }
  call[names(changes)] <- changes
  if (check_flag(evaluate, "evaluate")) eval(as.call(call), parent.frame()) else as.call(call)
}
