# The hyperparameters of a kernel: rows of the table in hyper-table.R.

# How each kernel hyperparameter starts and what its default prior is: one, or a list with one for
# each value. `leaf` sees p inputs; `env` holds response_unit (NULL when the leaf's variance is a
# pure number), share (number of summands), input_scale (per kept input: the scale of what the
# kernel sees), input_unit (per kept input: the standard deviation that was divided out) and
# component_var and component_unit (per component of the response: its variance in squared units,
# and these).
KERNEL_HYPER <- list(
  variance = function(leaf, env) {
    if (leaf$type == "coregion") return(component_variances(leaf, env))
    start <- -log(env$share)
    if (leaf$type == "linear") {
      start <- start - log(length(leaf$vars)) - 2 * per_input_scale(leaf, env)
    }
    if (leaf$type == "trig") start <- start - log(2 * leaf$degree[[1L]] + 1) # so many coefficients
    unit <- if (leaf$carries) env$response_unit^2 else 1
    # one part of a field may well be next to nothing
    prior <- if (isTRUE(leaf$joint) && env$share > 1L) default_lognormal(start, 3)
             else default_lognormal(max(start) + 1, 1.5)
    list(start = start, unit = unit, prior = prior)
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
         } else if (isTRUE(leaf$joint)) {
           env$input_unit[[leaf$vars[1L] + 1L]] # all inputs of a field have this one
         })
  },
  shape = function(leaf, env) list(start = 0, unit = 1, prior = default_lognormal(0, 1.5)),
  period = function(leaf, env) {
    unit <- env$input_unit[leaf$vars + 1L]
    given <- given_value(leaf$params$period)[1L]
    period <- env$period(leaf$vars + 1L, if (!is.null(given)) given / unit)
    list(start = log(period$start), unit = unit,
         prior = default_lognormal(log(period$start), period$spread))
  },
  correlation = function(leaf, env) {
    list(start = 0, unit = 1, prior = function(unit) prior_normal(0, 0.5))
  }
)

# Every component starts with its share of its own variance.
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
    each <- each_of(leaf, base)
    given <- leaf$params[[base]]
    if (leaf$ard && !is.null(each)) given <- for_kept_inputs(given, leaf)
    else if (is.null(each)) refuse_one_each(given, base, leaf)
    names <- if (is.null(each)) paste0(prefix, base)
             else paste0(prefix, base, ".", each, recycle0 = TRUE)
    hyper_rows(names, base, "kernel", TRUE, default$unit, default$start, given, default$prior,
               if (is.null(default$input_sd)) NA_real_ else default$input_sd,
               range = kernel_range(base),
               whose = if (leaf$type == "coregion") "component, or pair of them"
                       else "input the kernel sees")
  })
  stack_hyper(rows)
}

# What a leaf has a value of a hyperparameter each for: inputs, components, pairs of components;
# NULL: for all one.
each_of <- function(leaf, base) {
  if (leaf$type == "coregion") {
    return(switch(base, variance = leaf$components,
                  correlation = pair_names(leaf$components, leaf$degree[["rank"]])))
  }
  if (leaf$ard && base == leaf$per_input) leaf$input_names
}

# Several values where all inputs share one
refuse_one_each <- function(given, base, leaf) {
  count <- length(given_value(given))
  if (count < 2L) return(invisible())
  stop_sparsegp(base, paste0("has ", count, " values, and all inputs of ", leaf$type,
                             "() share one"),
                if (base == leaf$per_input) "Say ard = TRUE for one per input"
                else "Give one value")
}

# One value per input was given: leave out those of constant inputs.
for_kept_inputs <- function(given, leaf) {
  value <- given_value(given)
  if (length(value) != length(leaf$all_names)) return(given)
  value <- value[match(leaf$input_names, leaf$all_names)]
  if (is_fixed(given)) fixed(value) else value
}

kernel_hyper <- function(kernel, env) {
  leaves <- kernel_leaves(mark_carriers(kernel))
  env$share <- if (kernel$type == "sum") length(kernel$parts) else 1L
  prefixes <- if (length(leaves) > 1L) paste0("k", seq_along(leaves), ".") else ""
  stack_hyper(Map(leaf_hyper, leaves, prefixes, list(env)))
}
