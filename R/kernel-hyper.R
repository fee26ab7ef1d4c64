# The hyperparameters of a kernel: rows of the table in hyper-table.R.

# How each kernel hyperparameter starts, unless its kernel has it otherwise (kernel-table.R), and
# what its default prior is: one, or a list with one for each value. `leaf` sees p inputs; `env`
# holds response_unit (NULL when the leaf's variance is a pure number), share (number of summands),
# input_scale (per kept input: the scale of what the kernel sees), input_unit (per kept input: the
# standard deviation that was divided out) and component_var and component_unit (per component of
# the response: its variance in squared units, and these).
KERNEL_HYPER <- list(
  variance = function(leaf, env) variance_start(leaf, env, -log(env$share)),
  lengthscale = function(leaf, env) {
    start <- 0.5 * log(length(leaf$vars)) + per_input_scale(leaf, env)
    if (on_sphere(leaf)) return(sphere_start(leaf, env, start))
    c(ratio_start(leaf, start), list(
      finest = finest_factor(env$spacing(leaf$vars + 1L), start),
      least = if (length(leaf$vars) == 1L) finest_factor(env$step(leaf$vars + 1L) / 2, start),
      input_sd = if (leaf$ard || length(leaf$vars) == 1L) env$input_unit[leaf$vars + 1L]
                 else if (isTRUE(leaf$joint)) {
                   env$input_unit[[leaf$vars[1L] + 1L]] # all inputs of a field have this one
                 }
    ))
  },
  shape = function(leaf, env) list(start = 0, unit = 1, prior = default_lognormal(0, 1.5)),
  period = function(leaf, env) {
    unit <- env$input_unit[leaf$vars + 1L]
    given <- given_value(leaf$params$period)[1L]
    period <- env$period(leaf$vars + 1L, if (!is.null(given)) given / unit, leaf$turn)
    list(start = log(period$start), unit = unit, stride = period$stride,
         prior = default_lognormal(log(period$start), period$spread))
  },
  correlation = function(leaf, env) {
    list(start = 0, unit = 1, prior = function(unit) prior_normal(0, 0.5))
  }
)

variance_start <- function(leaf, env, start) {
  unit <- if (leaf$carries) env$response_unit^2 else 1
  # one part of a field may well be next to nothing
  prior <- if (isTRUE(leaf$joint) && env$share > 1L) default_lognormal(start, 3)
           else default_lognormal(max(start) + 1, 1.5)
  list(start = start, unit = unit, prior = prior)
}

# A length scale that is a pure number
ratio_start <- function(leaf, start) {
  # an input that does not matter needs a very long scale of its own: leave it room
  list(start = start, unit = 1, prior = default_lognormal(mean(start), if (leaf$ard) 2 else 1))
}

# A length scale in km
sphere_start <- function(leaf, env, start) {
  unit <- env$input_unit[[leaf$vars[1L] + 1L]]
  list(start = start, unit = unit, prior = default_lognormal(start, 1),
       finest = finest_factor(env$spacing(leaf$vars + 1L), start), input_sd = 1)
}

# Returns the log of the factor that takes starts down to the spacing of the rows. Half a step of a
# grid is the least: smooth functions correlate by exp(-2) from one row to the next there.
finest_factor <- function(spacing, start) min(0, log(spacing) - mean(start))

# Numbers the parts of one kernel whose length scales, or periods, are of the same inputs and were
# not given: of smooth functions each starts shorter than the one before, and of periodic ones at
# the next peak of the periodogram.
with_turns <- function(leaves) {
  kind <- vapply(seq_along(leaves), function(k) {
    leaf <- leaves[[k]]
    what <- open_scale(leaf)
    if (is.null(what)) paste("part", k) else paste(what, toString(leaf$vars))
  }, "")
  turns <- vapply(seq_along(kind), function(k) sum(kind[seq_len(k)] == kind[k]), 0L)
  Map(function(leaf, turn) replace(leaf, "turn", turn), leaves, turns)
}

# Returns which scale along its inputs a part leaves open, "period" or "lengthscale", or NULL.
open_scale <- function(leaf) {
  open <- names(leaf$params)[vapply(leaf$params, is.null, NA)]
  along <- identical(registered("kernels", leaf$type)$hyper$lengthscale, KERNEL_HYPER$lengthscale)
  if ("period" %in% open) "period"
  else if (along && "lengthscale" %in% open) "lengthscale"
}

# Every component starts with an equal part of its own variance.
component_variances <- function(leaf, env) {
  start <- log(env$component_var) - log(env$share)
  list(start = start, unit = if (leaf$carries) env$component_unit^2 else 1,
       prior = lapply(start, function(own) default_lognormal(own + 1, 1.5)))
}

# log of the scale of the inputs a leaf sees: one number, or one per input with ARD
per_input_scale <- function(leaf, env) {
  scales <- env$input_scale[leaf$vars + 1L]
  if (leaf$ard) log(scales) else log(sqrt(mean(scales^2)))
}

# Marks the leaves whose variance carries the response's unit: every summand's, one factor's of a
# product.
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

leaf_hyper <- function(leaf, prefix, suffix, env) {
  type <- registered("kernels", leaf$type)
  lapply(names(leaf$params), function(base) {
    own <- base %in% leaf$custom$names
    default <- if (own) custom_start(leaf, base) else type$hyper[[base]](leaf, env)
    range <- range_in(leaf, base)
    searched <- any(is.finite(range)) # as a logarithm
    each <- type$each(leaf, base)
    given <- leaf$params[[base]]
    if (leaf$ard && !is.null(each)) given <- for_kept_inputs(given, leaf)
    else if (is.null(each)) refuse_one_each(given, base, leaf)
    place <- if (!is.null(each)) paste0(".", each, recycle0 = TRUE)
    names <- paste0(prefix, base, place, suffix, recycle0 = !is.null(each))
    hyper_rows(names, base, "kernel", searched, default$unit, default$start, given, default$prior,
               default$input_sd %||% NA_real_, range = if (searched) range else c(0, Inf),
               finest = default$finest %||% 0, least = default$least %||% -Inf, turn = leaf$turn,
               stride = default$stride %||% 1,
               whose = if (type$reads == "component") "component, or pair of them"
                       else "input of the kernel")
  })
}

each_input <- function(leaf, base) if (leaf$ard && base == leaf$per_input) leaf$input_names

each_component <- function(leaf, base) {
  switch(base, variance = leaf$components,
         correlation = pair_names(leaf$components, leaf$degree[["rank"]]))
}

# Returns how many hyperparameters a specification for C has.
count_kernel_hyper <- function(spec) registered("kernels", spec$type)$count(spec)

count_leaf <- function(spec) {
  if (length(spec$parts)) return(sum(vapply(spec$parts, count_kernel_hyper, 0)))
  bases <- length(registered("kernels", spec$type)$like$params)
  if (spec$ard) bases - 1 + length(spec$vars) else bases
}

count_coregion <- function(spec) {
  if (spec$degree[[2L]] == IDENTITY) return(0)
  spec$degree[1L] + nrow(correlated_pairs(spec$degree[1L], spec$degree[2L]))
}

# Several values where all inputs share one
refuse_one_each <- function(given, base, leaf) {
  count <- length(given_value(given))
  refuse_if(count >= 2L,
            base, paste0("has ", count, " values, and all inputs of ", leaf$type, "() share one"),
            if (base == leaf$per_input) "Give ard = TRUE for one per input" else "Give one value")
}

# One value per input was given: leave out those of constant inputs.
for_kept_inputs <- function(given, leaf) {
  value <- given_value(given)
  if (length(value) != length(leaf$all_names)) return(given)
  value <- value[match(leaf$input_names, leaf$all_names)]
  if (is_fixed(given)) fixed(value) else value
}

# Returns parts of the table. suffix: of all names.
kernel_hyper <- function(kernel, env, suffix) {
  leaves <- with_turns(kernel_leaves(mark_carriers(kernel)))
  env$share <- if (kernel$type == "sum") length(kernel$parts) else 1L
  unlist(Map(leaf_hyper, leaves, leaf_prefixes(leaves), suffix, list(env)), recursive = FALSE)
}

# Returns what the names of the hyperparameters of each part of a kernel begin with.
leaf_prefixes <- function(leaves) {
  if (length(leaves) > 1L) paste0("k", seq_along(leaves), ".") else ""
}
