# Checks of the functions of a likelihood in R, when a fit is made.

# Stops or warns where the functions are not what they should be, at a few rows. theta: on C's scale
check_custom <- function(custom, theta, rows) {
  if (is.null(custom) || !custom$check) return(invisible())
  some <- unique(round(seq(1, ncol(rows), length.out = min(ncol(rows), 5L))))
  rows <- rows[, some, drop = FALSE]
  f <- matrix(seq(-1.5, 1.5, length.out = 7L), length(some), 7L, byrow = TRUE)
  f <- c(list(f), if (!is.null(custom$components)) list(-f[, c(3:7, 1:2), drop = FALSE]))
  value <- natural_custom(custom, theta)
  bounded <- any(custom_log_density(custom, value, rows, f) == -Inf)
  if (!is.null(custom$gradient)) check_custom_slopes(custom, theta, rows, f)
  constants <- rows[-(1:2), rep_len(seq_along(some), 3L), drop = FALSE]
  total <- density_total(list(custom = custom, value = value, constants = constants))
  # sums over responses are no better than the distance of their nodes where a density jumps
  near <- if (bounded) 0.2 else 1e-3
  if (all(abs(total - 1) < near)) return(invisible())
  worst <- signif(total[which.max(abs(total - 1))], 4L)
  warn_sparsegp("`likelihood` has a log_density that integrates to ", worst,
                " over the responses, not to 1. Add its normalising constant, or give ",
                "check = FALSE.")
}

# Returns the starting values of a model's likelihood, on C's scale.
theta_of_likelihood <- function(model) model$table$theta[model$table$part == "likelihood"]

# Stops where an observation has a density of 0 whatever the latent values are. Few observations
# have one near 0, so that the wider look is a short one.
refuse_impossible_rows <- function(model) {
  custom <- model$lik$custom
  rows <- model$rows
  if (is.null(custom) || !custom$check) return(invisible())
  value <- natural_custom(custom, theta_of_likelihood(model))
  wide <- IMPOSSIBLE_WIDTH * sinh(seq(-6, 6, length.out = 257L)) / sinh(6)
  at <- seq_len(ncol(rows))
  for (values in list(seq(-1.5, 1.5, length.out = 7L), wide)) {
    if (length(at) == 0L) return(invisible())
    log <- custom_log_density(custom, value, rows[, at, drop = FALSE],
                              latent_grid(custom, values, length(at)))
    at <- at[rowSums(log > -Inf) == 0]
  }
  if (length(at) == 0L) return(invisible())
  stop_sparsegp("likelihood", paste0("has a density of 0 for ", counted(length(at), "observation"),
                                     ", at all latent values from -", IMPOSSIBLE_WIDTH, " to ",
                                     IMPOSSIBLE_WIDTH, "; the first of them is complete row ",
                                     at[1L], ", with the response ", signif(rows[1L, at[1L]], 4L)),
                "Leave such rows out, or give check = FALSE if other latent values are possible")
}

IMPOSSIBLE_WIDTH <- 100

# Returns a matrix [n x values] for each latent function; of two, all pairs of the values of the
# first with five of the second.
latent_grid <- function(custom, values, n) {
  alike <- function(x) matrix(x, n, length(x), byrow = TRUE)
  if (is.null(custom$components)) return(list(alike(values)))
  pairs <- expand.grid(values, c(-5, -1, 0, 1, 5))
  list(alike(pairs[[1L]]), alike(pairs[[2L]]))
}

check_custom_slopes <- function(custom, theta, rows, f) {
  given <- user_slopes(custom, theta, rows, f)
  custom["gradient"] <- list(NULL)
  found <- density_slopes(custom, theta, rows, f)
  for (j in seq_along(theta)) {
    if (all(abs(given[[j]] - found[[j]]) <= 1e-5 * (1 + abs(found[[j]])))) next
    stop_sparsegp("likelihood", paste0("has a `gradient` that differs from finite differences in ",
                                       custom$names[j]),
                  "Give derivatives on the natural scale, in the order of `theta`, or no gradient")
  }
}

# Returns what the density adds up to over the responses, at three latent values.
density_total <- function(own) {
  f <- matrix(c(-1, 0, 1), ncol = 1L)
  f <- c(list(f), if (!is.null(own$custom$components)) list(f / 2))
  if (own$custom$response %in% c("label", "ordered")) return(category_table(own, f)$total)
  if (own$custom$response == "count") return(count_table(own, f)$total)
  around <- function(u) if_responses(sum_both(number_integrals(own, u, f, 1))[[1L]], Inf)
  total <- around(c(f[[1L]]))
  if (all(abs(total - 1) < 1e-3)) return(total)
  there <- around(number_peak(own, f)) # narrow densities are not seen from elsewhere
  ifelse(abs(there - 1) < abs(total - 1), there, total)
}
