# How the functions of a likelihood that is written in R are called, and what of theta they see.

# Returns the hyperparameters as the functions see them.
custom_values <- function(lik, theta) {
  stats::setNames(ifelse(lik$custom$positive, exp(theta), theta), names(lik$params))
}

# Returns where the likelihoods of data rows work, for each of those that differ, with their keys.
located_rows <- function(lik, y, value) {
  key <- row_keys(y)
  first <- which(!duplicated(key))
  known <- locate_custom(custom_logp(lik, y[, first, drop = FALSE], value), length(first))
  c(known, list(key = key[first]))
}

# The same for every row
located_places <- function(lik, y, value) {
  found <- located_rows(lik, y, value)
  lapply(found[c("centre", "width")], `[`, match(row_keys(y), found$key))
}

row_keys <- function(y) if (nrow(y) == 1L) y[1L, ] else paste(y[1L, ], y[2L, ])

# Returns log p of data rows y at values of f in C's units: function(row, f).
custom_logp <- function(lik, y, value) {
  function(row, f) custom_density(lik, y[1L, row], f, value, if (NROW(y) > 1L) y[2L, row])
}

# Calls the log density at responses and latent values in C's units.
custom_density <- function(lik, y, f, value, weights = NULL) {
  own <- lik$custom
  out <- call_custom(lik, "log_density", list(y * own$units[2L] + own$units[1L],
                                              f * own$units[2L] + own$units[1L], value),
                     weights = weights) + log(own$units[2L])
  if (any(out == Inf, na.rm = TRUE)) {
    stop_sparsegp("likelihood", "has a log_density that is infinite at some latent values",
                  "Bound it: a density has to be finite")
  }
  replace(out, is.na(out), -Inf)
}

# Calls one of the functions; its result has to be a number for each latent value, or `columns` of
# them. An error of its own becomes one about the likelihood.
call_custom <- function(lik, name, arguments, weights = NULL, columns = 1L) {
  fun <- lik$custom[[name]]
  takes <- names(formals(fun))
  if ("weights" %in% takes) arguments$weights <- weights %||% rep(1, length(arguments[[2L]]))
  if ("data" %in% takes) arguments$data <- lik$custom$data
  out <- tryCatch(do.call(fun, arguments), error = function(e) {
    stop_sparsegp("likelihood", paste0("has a function `", name, "` that stopped: ",
                                       conditionMessage(e)),
                  "Correct it; all it looks up has to be there")
  })
  wanted <- length(arguments[[if (name %in% c("mean", "variance", "draw")) 1L else 2L]]) * columns
  if (is.numeric(out) && length(out) == wanted) return(as.double(out))
  stop_sparsegp("likelihood", paste0("has a function `", name, "` that gives ",
                                     if (is.numeric(out)) paste(length(out), "numbers for")
                                     else paste("values of class", class(out)[1L], "for"), " ",
                                     wanted, " latent values"),
                "It has to be vectorised: ifelse() in place of if, pmax() in place of max()")
}

# Returns dlogZ/dtheta of each row, npar x n, theta on C's scale: the expectation of the density's
# derivative, which is the given one or a central difference of order 4.
slopes_of_custom <- function(lik, y, theta, tilted) {
  n <- ncol(y)
  out <- matrix(0, length(theta), n)
  if (length(theta) == 0L) return(out)
  for (nodes in tilted$nodes) {
    slopes <- theta_slopes(lik, y[, nodes$row, drop = FALSE], nodes$f, theta)
    slopes[nodes$weight == 0, ] <- 0
    sums <- rowsum(nodes$weight * slopes, nodes$row)
    at <- as.integer(rownames(sums))
    out[, at] <- out[, at] + t(sums)
  }
  out
}

# Derivatives of log p in theta at rows and latent values: a column for each.
theta_slopes <- function(lik, y, f, theta) {
  own <- lik$custom
  weights <- if (nrow(y) > 1L) y[2L, ]
  value <- custom_values(lik, theta)
  if (!is.null(own$gradient)) {
    slopes <- call_custom(lik, "gradient", list(y[1L, ] * own$units[2L] + own$units[1L],
                                                f * own$units[2L] + own$units[1L], value),
                          weights, length(theta))
    return(matrix(slopes, length(f)) * rep(ifelse(own$positive, value, 1), each = length(f)))
  }
  STEP <- 1e-3
  at <- function(k, shift) {
    custom_density(lik, y[1L, ], f, custom_values(lik, replace(theta, k, theta[k] + shift)), weights)
  }
  each <- vapply(seq_along(theta), function(k) {
    (8 * (at(k, STEP) - at(k, -STEP)) - at(k, 2 * STEP) + at(k, -2 * STEP)) / (12 * STEP)
  }, numeric(length(f)))
  each[is.nan(each)] <- 0 # of densities of 0
  matrix(each, length(f))
}
