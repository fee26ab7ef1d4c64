# The table of a model's hyperparameters: what coef() names, what C calls theta, and all that leads
# from one to the other. A data frame with a row for each, kernel first, then likelihood:
#
#   name, base    what it is called; without kernel number and input name
#   adds_to       "", or the base under which coef() shows its value added to those of the rows
#                 before: cut points by the gaps between them
#   part          "kernel" or "likelihood"
#   log           searched and handed to C as a logarithm?
#   lower, upper  then: what the value lies between, not on. The logarithm is of its distance from
#                 lower, or with a finite upper of the ratio of its distances from both
#   unit          theta = log(value / unit): the response's variance for a variance, an input's
#                 standard deviation for a period, else 1; so C works in standardised units
#   theta         current value on C's scale
#   start         the starting value on C's scale
#   free          learned?
#   input_sd      what a length scale is multiplied by to be in units of its input; NA where several
#                 inputs share it, or where it is not a length
#   scan          a start that was not given and may be far off: learning tries shorter ones first,
#                 and puts values back towards it that ended longer
#   prior         list column of sparsegp_prior values, on the natural scale

hyper_rows <- function(names, base, part, log, unit, start, given, prior, input_sd = NA_real_,
                       range = c(0, Inf), adds_to = "") {
  count <- length(names)
  fixed <- is_fixed(given)
  value <- if (fixed) given$value else given
  if (!length(value) %in% c(0L, 1L, count)) {
    stop_sparsegp(base, paste0("has ", length(value), " values for ", count, " hyperparameters"),
                  paste("Give one value, or one per",
                        if (part == "kernel") "input the kernel sees" else "class"))
  }
  unit <- rep_len(unit, count)
  if (length(value)) {
    value <- rep_len(value, count)
    start <- if (log) to_search(value, range[1L], range[2L], unit) else value
  }
  start <- rep_len(start, count)
  if (count == 0L) return(NULL)
  rows <- data.frame(name = names, base = base, part = part, log = log, unit = unit,
                     adds_to = adds_to,
                     lower = rep_len(range[1L], count), upper = rep_len(range[2L], count),
                     theta = start, start = start, free = !fixed,
                     scan = base == "lengthscale" & is.null(given),
                     input_sd = rep_len(input_sd, count))
  rows$prior <- lapply(unit, prior)
  rows
}

# From values of hyperparameters that are searched as logarithms to those logarithms, and back.
to_search <- function(value, lower = 0, upper = Inf, unit = 1) {
  if (all(upper == Inf)) return(log(value - lower) - log(unit))
  log(value - lower) - log(upper - value)
}

from_search <- function(theta, lower = 0, upper = Inf, unit = 1) {
  width <- ifelse(upper == Inf, 0, upper - lower)
  lower + ifelse(upper == Inf, exp(theta) * unit, width * stats::plogis(theta))
}

# A log-normal default prior around `centre`, both in standardised units.
default_lognormal <- function(centre, sdlog) {
  function(unit) prior_lognormal(log(unit) + centre, sdlog)
}

# How each kernel hyperparameter starts and what its default prior is. `leaf` sees p inputs; `env`
# holds response_unit (NULL when the leaf's variance is a pure number), share (number of summands),
# input_scale (per kept input: the scale of what the kernel sees) and input_unit (per kept input:
# the standard deviation that was divided out).
KERNEL_HYPER <- list(
  variance = function(leaf, env) {
    start <- -log(env$share)
    if (leaf$type == "linear") {
      start <- start - log(length(leaf$vars)) - 2 * per_input_scale(leaf, env)
    }
    if (leaf$type == "trig") start <- start - log(2 * leaf$degree[[1L]] + 1) # so many coefficients
    unit <- if (leaf$carries) env$response_unit^2 else 1
    list(start = start, unit = unit, prior = default_lognormal(max(start) + 1, 1.5))
  },
  lengthscale = function(leaf, env) {
    start <- if (leaf$type == "poly") 2 * per_input_scale(leaf, env)
             else if (leaf$type == "periodic") 0
             else 0.5 * log(length(leaf$vars)) + per_input_scale(leaf, env)
    is_length <- !leaf$type %in% c("poly", "periodic")
    # an input that does not matter wants a very long scale of its own: leave it room
    list(start = start, unit = 1, prior = default_lognormal(mean(start), if (leaf$ard) 2 else 1),
         input_sd = if (is_length && (leaf$ard || length(leaf$vars) == 1L)) {
           env$input_unit[leaf$vars + 1L]
         })
  },
  shape = function(leaf, env) list(start = 0, unit = 1, prior = default_lognormal(0, 1.5)),
  period = function(leaf, env) {
    start <- log(env$input_range[leaf$vars + 1L] / 2)
    list(start = start, unit = env$input_unit[leaf$vars + 1L],
         prior = default_lognormal(start, 1))
  }
)

# log of the scale of the inputs a leaf sees: one number, or one per input with ARD
per_input_scale <- function(leaf, env) {
  scales <- env$input_scale[leaf$vars + 1L]
  if (leaf$ard) log(scales) else log(sqrt(mean(scales^2)))
}

# Which leaf's variance carries the response's unit: every summand's, one factor's of a product.
mark_carriers <- function(kernel, carries = TRUE) {
  if (length(kernel$parts) == 0L) {
    kernel$carries <- carries
    return(kernel)
  }
  first <- seq_along(kernel$parts) == 1L
  mine <- if (kernel$type == "product") carries & first else rep(carries, length(first))
  kernel$parts <- Map(mark_carriers, kernel$parts, mine)
  kernel
}

leaf_hyper <- function(leaf, prefix, env) {
  rows <- lapply(names(leaf$params), function(base) {
    default <- KERNEL_HYPER[[base]](leaf, env)
    each <- leaf$ard && base == leaf$per_input
    given <- leaf$params[[base]]
    if (each) given <- for_kept_inputs(given, leaf)
    names <- paste0(prefix, base, if (each) paste0(".", leaf$input_names))
    hyper_rows(names, base, "kernel", TRUE, default$unit, default$start, given, default$prior,
               if (is.null(default$input_sd)) NA_real_ else default$input_sd)
  })
  do.call(rbind, rows)
}

# One value per input was given: leave out those of constant inputs.
for_kept_inputs <- function(given, leaf) {
  value <- if (is_fixed(given)) given$value else given
  if (length(value) != length(leaf$all_names)) return(given)
  value <- value[match(leaf$input_names, leaf$all_names)]
  if (is_fixed(given)) fixed(value) else value
}

kernel_hyper <- function(kernel, env) {
  leaves <- kernel_leaves(mark_carriers(kernel))
  env$share <- if (kernel$type == "sum") length(kernel$parts) else 1L
  prefixes <- if (length(kernel$parts)) paste0("k", seq_along(leaves), ".") else ""
  do.call(rbind, Map(leaf_hyper, leaves, prefixes, list(env)))
}

# Likelihood hyperparameters come with their own starts and priors (likelihoods.R).
# With a latent function for each class they have them class by class.
lik_hyper <- function(lik, rows, offset, response_unit, classes, levels) {
  parts <- lapply(names(lik$params), function(base) {
    about <- lik_traits(lik)$about[[base]]
    suffix <- if (is_ordered(lik)) between_levels(levels, about) else classes
    name <- if (is.null(suffix)) base else paste(base, suffix, sep = ".", recycle0 = TRUE)
    hyper_rows(name, base, "likelihood", about$log, response_unit^about$unit_power,
               lik_start(lik, about, rows, offset, classes, levels), lik$params[[base]],
               function(unit) about$prior(unit, offset), range = hyper_range(about),
               adds_to = if (is.null(about$adds_to)) "" else about$adds_to)
  })
  rows <- do.call(rbind, parts)
  # C wants all of a class's together
  if (is.null(classes)) rows else rows[order(rep(seq_along(classes), length(parts))), ]
}

hyper_range <- function(about) if (is.null(about$range)) c(0, Inf) else about$range

# "low|medium" for each of the cut points it is for, as others write it
between_levels <- function(levels, about) {
  at <- about$between(length(levels))
  paste(levels[at], levels[at + 1L], sep = "|", recycle0 = TRUE)
}

# A class against the rest sees 1 for its own rows and -1 for the others.
lik_start <- function(lik, about, rows, offset, classes, levels) {
  if (is_ordered(lik)) return(about$start(rows, offset, length(levels)))
  if (is.null(classes)) return(about$start(rows, offset))
  if (is_joint(lik)) return(about$start(rows, offset, length(classes)))
  vapply(seq_along(classes), function(class) about$start(ifelse(rows == class, 1, -1), offset), 0)
}

# levels: what the rows' labels stand for
hyper_table <- function(kernel, lik, env, rows, offset, prior, classes = NULL,
                        levels = seq_len(max(rows))) {
  own <- if (own_kernels(lik)) classes
  kernels <- lapply(if (is.null(own)) list(NULL) else own, function(class) {
    part <- kernel_hyper(kernel, env)
    part$name <- paste0(part$name, if (!is.null(class)) paste0(".", class))
    part
  })
  table <- rbind(do.call(rbind, kernels),
                 lik_hyper(lik, rows, offset, env$response_unit, classes, levels))
  rownames(table) <- NULL
  apply_priors(table, prior)
}

hyper_value <- function(table, theta = table$theta) {
  ifelse(table$log, from_search(theta, table$lower, table$upper, table$unit), theta)
}

# What coef() shows, by name
shown_values <- function(table, theta = table$theta) {
  value <- hyper_value(table, theta)
  added <- table$adds_to != ""
  for (i in which(added)) value[i] <- value[i - 1L] + value[i]
  bare <- substring(table$name, nchar(table$base) + 1L)
  stats::setNames(value, ifelse(added, paste0(table$adds_to, bare), table$name))
}

# d value / d theta
hyper_slope <- function(table, value) {
  bounded <- table$upper < Inf
  share <- ifelse(bounded, (table$upper - value) / ifelse(bounded, table$upper - table$lower, 1), 1)
  ifelse(table$log, (value - table$lower) * share, 1)
}

# log prior at theta and its gradient in theta, over the free rows
hyper_log_prior <- function(table, theta) {
  value <- hyper_value(table, theta)
  at <- which(table$free)
  density <- vapply(at, function(i) prior_log_density(table$prior[[i]], value[i]), 0)
  slope <- vapply(at, function(i) prior_slope(table$prior[[i]], value[i]), 0)
  list(value = sum(density), gradient = slope * hyper_slope(table, value)[at])
}
