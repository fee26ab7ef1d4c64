# Checks of a density, as fit-check.R has them for fits.

check_density <- function(object) {
  wrong <- if (!is.list(object) || !identical(object$format, DENSITY_FORMAT)) "format"
           else invalid_part("density", object)
  if (is.null(wrong)) return(object)
  stop_damaged(paste0("its `", wrong, "` does not fit the rest"), what = "density")
}

density_kinds <- function() list(
  k0 = function(x) is.integer(x) && is_one(x, 0, 500), chosen = is_count, n = is_count,
  lambda = is_number, trace = is.numeric, converged = is_flag, convergence = is_convergence,
  evidence = frame_of("k0", "log_evidence"), call = is_plain_call,
  range = function(x) is.double(x) && is.matrix(x) && are_finite(x) && all(x[1L, ] < x[2L, ]),
  waves = function(x) is_word(x, names(WAVES)),
  basis = are_finite, mean = are_moderate, cov = are_moderate, x = are_finite,
  range = function(x, whole) {
    is_table(x, 2L, ncol(x)) && ncol(x) %in% seq_len(WAVES[[whole$waves]]$inputs)
  },
  scale = optional(function(x, whole) {
    is_one(whole$end, -Inf) && is_number(x) && is.finite(x) && x != 0
  }),
  base = optional(is_base),
  k0 = function(x, whole) any(c(x, whole$chosen) %in% whole$evidence$k0),
  x = function(x, whole) {
    is_table(x, whole$n, ncol(whole$range)) && all(space_map(whole)$inside(x))
  },
  basis = function(x, whole) {
    inputs <- ncol(whole$range)
    points <- WAVES[[whole$waves]]$count(whole$k0)^inputs
    is_table(x, points, inputs) && are_doubles(whole$mean, points) &&
      is_table(whole$cov, points, points)
  }
)

# Numbers whose squares are numbers
are_moderate <- function(x) is.numeric(x) && all(abs(x) < 1e150)
