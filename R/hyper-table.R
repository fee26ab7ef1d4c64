# The table of a model's hyperparameters: what coef() names, what C calls theta, and all that leads
# from one to the other. A data frame with a row for each, kernel first, then likelihood, then the
# scale of the response:
#
#   name, base    what it is called; without kernel number and input name
#   adds_to       "", or the base under which coef() shows its value added to those of the rows
#                 before: cut points by the gaps between them
#   part          "kernel", "likelihood" or, of its scale, "response"
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
#   finest        then: the log factor of the start below which it could not be told from noise
#   least         then: the log factor of the start that a search goes down to, below which rows on
#                 a grid cannot tell it from noise
#   turn          then: 1, or k for the k-th part of a kernel that reads the same inputs; the parts
#                 start apart, or equal gradients would keep them equal
#   stride        the step of theta that a search takes for a step of 1 of the others
#   reach         how far from the start a search may go, for logarithms
#   prior         list column of sparsegp_prior values, on the natural scale
#
# Returns the columns of some rows of that table. prior: a function of a value's unit, or a list of
# one for each value. whose: what else a value may be given for, in words.
hyper_rows <- function(names, base, part, log, unit, start, given, prior, input_sd = NA_real_,
                       range = c(0, Inf), adds_to = "", whose = "class", finest = 0, least = -Inf,
                       turn = 1L, stride = 1, reach = BOX) {
  count <- length(names)
  fixed <- is_fixed(given)
  value <- if (fixed) given$value else given
  refuse_if(!length(value) %in% c(0L, 1L, count),
            base, paste0("has ", length(value), " values for ", count, " hyperparameters"),
            paste("Give one value, or one per", whose))
  unit <- rep_len(unit, count)
  if (length(value)) {
    value <- rep_len(value, count)
    start <- if (log) to_search(value, range[1L], range[2L], unit) else value
  }
  start <- rep_len(start, count)
  if (count == 0L) return(NULL)
  priors <- lapply(seq_len(count), function(i) {
    if (is.list(prior)) prior[[i]](unit[i]) else prior(unit[i])
  })
  columns <- list(name = names, base = base, part = part, log = log, unit = unit,
                  adds_to = adds_to, lower = range[1L], upper = range[2L],
                  theta = start, start = start, free = !fixed,
                  scan = base == "lengthscale" & is.null(given), finest = finest,
                  least = least, turn = turn, stride = stride, reach = reach,
                  input_sd = input_sd, prior = priors)
  lapply(columns, rep_len, count)
}

BOX <- 10 # half width of the search box around the start, for logarithms

# From values of hyperparameters that are searched as logarithms to those logarithms, and back.
to_search <- function(value, lower = 0, upper = Inf, unit = 1) {
  if (all(upper == Inf)) return(log(value - lower) - log(unit))
  log(value - lower) - log(upper - value)
}

from_search <- function(theta, lower = 0, upper = Inf, unit = 1) {
  bounded <- upper < Inf
  if (!any(bounded)) return(lower + exp(theta) * unit)
  lower + ifelse(bounded, (upper - lower) * stats::plogis(theta), exp(theta) * unit)
}

hyper_range <- function(about) about$range %||% c(0, Inf)

# The values at theta. table: the whole, or a list of some of its columns.
hyper_value <- function(table, theta = table$theta) {
  natural <- from_search(theta, table$lower, table$upper, table$unit)
  if (all(table$log)) natural else ifelse(table$log, natural, theta)
}

# Returns what coef() shows, by name.
shown_values <- function(table, theta = table$theta) {
  value <- hyper_value(table, theta)
  added <- table$adds_to != ""
  for (i in which(added)) value[i] <- value[i - 1L] + value[i]
  bare <- substring(table$name, nchar(table$base) + 1L)
  stats::setNames(value, ifelse(added, paste0(table$adds_to, bare), table$name))
}

# d value / d theta
hyper_slope <- function(table, value) {
  slope <- value - table$lower
  at <- which(table$upper < Inf)
  range <- table$upper[at] - table$lower[at]
  slope[at] <- slope[at] * ((table$upper[at] - value[at]) / range)
  slope[!table$log] <- 1
  slope
}

# Returns the log prior at theta and its gradient in theta, over the free rows.
hyper_log_prior <- function(table, theta) {
  table <- unclass(table) # no methods of `$` are looked for in every evaluation
  at <- which(table$free)
  value <- hyper_value(table, theta)
  density <- slope <- numeric(length(theta))
  for (i in at) {
    prior <- table$prior[[i]]
    family <- PRIOR_FAMILIES[[prior$family]]
    density[i] <- family$log_density(value[i], prior$par)
    slope[i] <- family$slope(value[i], prior$par)
  }
  list(value = sum(density), gradient = (slope * hyper_slope(table, value))[at])
}

# Returns the log prior as a density of theta, with its gradient: priors that are densities of a
# value that is searched as a logarithm have the Jacobian, log d value / d theta, in addition.
hyper_log_density <- function(table, theta) {
  prior <- hyper_log_prior(table, theta)
  at <- which(table$free)
  families <- lapply(table$prior[at], function(one) PRIOR_FAMILIES[[one$family]])
  of_value <- table$log[at] & !vapply(families, `[[`, NA, "of_log")
  slope <- hyper_slope(table, hyper_value(table, theta))[at]
  share <- ifelse(table$upper[at] < Inf, stats::plogis(theta[at]), 0)
  prior$value <- prior$value + sum(log(slope[of_value]))
  prior$gradient <- prior$gradient + ifelse(of_value, 1 - 2 * share, 0)
  prior
}

# Returns about how far the priors reach in theta, standard deviations.
prior_spreads <- function(table) {
  at <- which(table$free)
  slope <- hyper_slope(table, hyper_value(table))[at]
  spread <- vapply(table$prior[at], function(one) PRIOR_FAMILIES[[one$family]]$spread(one$par), 0)
  of_value <- vapply(table$prior[at], function(one) {
    isTRUE(PRIOR_FAMILIES[[one$family]]$of_value)
  }, NA)
  ifelse(of_value & table$log[at], pmin(spread / slope, FLAT_SPREAD), spread)
}

# Returns what the log prior of the free rows is at typical values of the hyperparameters: beyond it
# a log prior measures how unusual they are.
hyper_log_constant <- function(table) {
  sum(vapply(table$prior[table$free], function(prior) {
    family <- PRIOR_FAMILIES[[prior$family]]
    family$log_density(family$typical(prior$par), prior$par)
  }, 0))
}

# ---- The values of a fit ----

kernel_theta <- function(fit) fit$hyper$theta[fit$hyper$part == "kernel"]

lik_theta <- function(fit) fit$hyper$theta[fit$hyper$part == "likelihood"]

# The likelihood's hyperparameters by name, in C's units.
lik_values <- function(fit) {
  table <- fit$hyper[fit$hyper$part == "likelihood", ]
  natural <- from_search(table$theta, table$lower, table$upper)
  stats::setNames(ifelse(table$log, natural, table$theta), table$name)
}
