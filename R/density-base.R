# Base densities, from which the density of points of one input departs.

BASES <- c("norm", "lnorm", "exp", "gamma", "weibull", "beta", "unif", "logis", "cauchy", "t")

# Is this the name of a distribution, and numbers for the parameters that it asks for?
is_base <- function(base) {
  if (!is.list(base) || length(base) == 0L || !is_word(base[[1L]], BASES)) return(FALSE)
  given <- base[-1L]
  density <- base_function("d", base[[1L]])
  known <- setdiff(names(formals(density)), c("x", "log"))
  all(vapply(given, is_one, NA, -Inf)) && length(given) == sum(names(given) %in% known) &&
    !anyDuplicated(names(given)) && is.double(suppressWarnings(
      tryCatch(do.call(density, c(list(0.5), given)), error = function(e) NULL)
    ))
}

base_function <- function(what, name) getExportedValue("stats", paste0(what, name))

# Returns the map of a base density (density-space.R).
base_map <- function(base) {
  name <- base[[1L]]
  at <- function(what, x, ...) {
    as.double(suppressWarnings(do.call(base_function(what, name), c(list(x), base[-1L], ...))))
  }
  log_density <- function(x) at("d", x[, 1L], log = TRUE)
  settings <- paste(names(base)[-1L], "=", vapply(base[-1L], format, "", digits = 4L),
                    recycle0 = TRUE)
  list(to = function(x) cbind(at("p", x[, 1L]), deparse.level = 0L),
       from = function(u) cbind(at("q", u[, 1L]), deparse.level = 0L), log_slope = log_density,
       inside = function(x) is.finite(log_density(x)),
       words = paste0("with base ", name, "(", toString(settings), ")"))
}
