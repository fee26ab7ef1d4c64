# Checks of the functions of a likelihood in R, when a fit is made.

# Stops or warns where the functions are not what they should be, at a few rows. theta: on C's scale
check_custom <- function(custom, theta, rows) {
  if (is.null(custom) || !custom$check) return(invisible())
  some <- unique(round(seq(1, ncol(rows), length.out = min(ncol(rows), 5L))))
  rows <- rows[, some, drop = FALSE]
  f <- matrix(seq(-1.5, 1.5, length.out = 7L), length(some), 7L, byrow = TRUE)
  f <- c(list(f), if (!is.null(custom$components)) list(-f[, c(3:7, 1:2), drop = FALSE]))
  value <- natural_custom(custom, theta)
  custom_log_density(custom, value, rows, f)
  if (!is.null(custom$gradient)) check_custom_slopes(custom, theta, rows, f)
  constants <- rows[-(1:2), rep_len(seq_along(some), 3L), drop = FALSE]
  total <- density_total(list(custom = custom, value = value, constants = constants))
  if (all(abs(total - 1) < 1e-3)) return(invisible())
  worst <- signif(total[which.max(abs(total - 1))], 4L)
  warn_sparsegp("`likelihood` has a log_density that integrates to ", worst,
                " over the responses, not to 1. Add its normalising constant, or give ",
                "check = FALSE.")
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
  if_responses(sum_both(number_integrals(own, c(f[[1L]]), f, 1))[[1L]], Inf)
}
