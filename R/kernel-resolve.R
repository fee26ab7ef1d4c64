# A kernel meets its inputs.

# inputs: list(names, terms, kept, components, levels): all input names, the formula variable each
# column came from, which columns are not constant, the names of a response's components where it
# has several, and of each kept column the squared distance between two levels, 0 for numbers (NULL:
# all are numbers). Returns the specification C takes: `vars` as 0-based columns of the kept inputs.
resolve_kernel <- function(kernel, inputs) {
  registered("kernels", kernel$type)$resolve(kernel, inputs)
}

resolve_sum <- function(kernel, inputs) {
  kernel$parts <- lapply(kernel$parts, resolve_kernel, inputs)
  kernel$vars <- integer()
  kernel$levels <- numeric()
  kernel
}

resolve_leaf <- function(kernel, inputs) {
  reads <- registered("kernels", kernel$type)$reads
  at <- if (reads == "none") integer() else resolve_vars(kernel$vars, inputs)
  kernel$all_names <- inputs$names[at]
  at <- at[inputs$kept[at]]
  if (length(at) == 0L && reads != "none") {
    stop_sparsegp("kernel", paste0("has a part, ", format(kernel),
                                   ", whose inputs are all constant"),
                  "Leave constant inputs out, or use kernel_constant()")
  }
  if (reads == "one" && length(at) != 1L) {
    stop_sparsegp("kernel", "has a periodic part that sees more than one input",
                  "Give vars = one input; multiply kernels for several")
  }
  kernel$vars <- match(at, which(inputs$kept)) - 1L
  kernel$input_names <- inputs$names[at]
  kernel$levels <- if (reads == "levels" || is.null(inputs$levels)) numeric(length(at))
                   else inputs$levels[kernel$vars + 1L]
  if (reads == "one") refuse_factor(kernel, "is periodic")
  kernel
}

# Refuses a factor, whose levels have no place on a line, where a kernel wants positions.
refuse_factor <- function(kernel, what) {
  found <- kernel$input_names[kernel$levels > 0]
  if (length(found) == 0L) return(invisible())
  stop_sparsegp("kernel", paste0("has a part, ", format(kernel), ", that ", what, " and sees ",
                                 toString(found), ", a factor"),
                "Give `vars` that are numbers, or multiply by kernel_factor()")
}

resolve_vars <- function(vars, inputs) {
  count <- length(inputs$names)
  if (is.null(vars)) return(seq_len(count))
  if (is.numeric(vars)) {
    if (all(vars %in% seq_len(count))) return(as.integer(vars))
    stop_sparsegp("vars", paste0("has column numbers outside 1 to ", count))
  }
  found <- lapply(vars, function(name) {
    at <- which(inputs$names == name)
    if (length(at)) at else which(inputs$terms == name)
  })
  missing <- vars[lengths(found) == 0L]
  if (length(missing)) {
    stop_sparsegp("vars", paste0("names unknown inputs: ", toString(missing)),
                  paste0("The inputs are ", toString(inputs$names)))
  }
  unique(unlist(found))
}

kernel_leaves <- function(kernel) {
  if (length(kernel$parts) == 0L) return(list(kernel))
  unlist(lapply(kernel$parts, kernel_leaves), recursive = FALSE)
}

# A kernel that has met no inputs, as that of a density, reads numbers.
spec_for_c <- function(kernel) {
  levels <- if (is.null(kernel$levels)) numeric(length(kernel$vars)) else kernel$levels
  list(type = kernel$type, vars = as.integer(kernel$vars), levels = as.double(levels),
       ard = kernel$ard, degree = as.integer(kernel$degree),
       parts = lapply(kernel$parts, spec_for_c))
}

# ---- Components ----

# Inputs, by number, that fields are in: they have one scale.
inputs_of_fields <- function(kernel, inputs) {
  bases <- unlist(lapply(component_parts(kernel), `[[`, "parts"), recursive = FALSE)
  unique(unlist(lapply(bases, function(base) resolve_vars(base$vars, inputs))))
}

# Returns a kernel that reads which component a point is of: the column after the inputs, from 0.
with_component <- function(kernel, inputs) {
  if (length(inputs$components) > 1L) {
    kernel$vars <- sum(inputs$kept)
    kernel$levels <- 0
    return(kernel)
  }
  stop_sparsegp("kernel", paste0("has a part for several responses, ", format(kernel),
                                 ", and there is one"),
                "Write cbind(u, v) ~ x + y, or use another kernel")
}

resolve_field <- function(kernel, inputs) {
  kernel <- with_component(kernel, inputs)
  kernel$parts <- lapply(kernel$parts, resolve_kernel, inputs)
  base <- kernel$parts[[1L]]
  refuse_factor(base, "is of positions")
  components <- length(inputs$components)
  if (components > 3L) {
    stop_sparsegp("kernel", paste0("is of a field, and there are ", components, " responses"),
                  "Fields have 2 or 3 components; use kernel_coregion()")
  }
  if (length(base$all_names) != components) {
    stop_sparsegp("kernel", paste0("has a field, ", format(kernel), ", that sees ",
                                   counted(length(base$all_names), "input"), " for ", components,
                                   " components"),
                  "Give vars = one input of space for each component, in their order")
  }
  if (length(base$vars) != components) {
    stop_sparsegp("kernel", paste0("has a field, ", format(kernel), ", one of whose inputs is ",
                                   "constant"), "Use kernel_coregion() for what is left")
  }
  kernel$parts[[1L]]$joint <- TRUE
  kernel
}

resolve_coregion <- function(kernel, inputs) {
  kernel <- with_component(kernel, inputs)
  most <- length(inputs$components) - 1L
  rank <- if (length(kernel$degree)) min(kernel$degree, most) else most
  kernel$degree <- c(components = most + 1L, rank = as.integer(rank))
  kernel$components <- inputs$components
  kernel
}

# ---- Factors that are seen by level ----

# Among the contrasts of factors: no contrasts, but one column with the number of the level, which
# kernels read as a level, or of an ordered factor as a number.
BY_LEVEL <- "number of the level"
BY_SCORE <- "score of the level"

# Returns the setup with what it makes of a formula's factors: the kernel with `vars` for every part
# that had none beside factor kernels; `coded`, the coding of factors that are one column each
# (rows-code.R); `ordered`, which of these may be read as numbers; and `factors`, those that kernels
# of distances read as levels. variables: named list of the inputs; open: is the kernel chosen?
see_factors <- function(setup, terms, variables, open) {
  factors <- names(Filter(has_levels, variables))
  grouped <- grouping_factors(setup, terms, factors)
  own <- factors_by_level(setup$coding, open, terms, variables[factors])
  setup$kernel <- share_inputs(setup$kernel, attr(terms, "term.labels"), factors)
  setup$ordered <- setdiff(Filter(function(name) is.ordered(variables[[name]]), own), grouped)
  setup$factors <- setdiff(own, setup$ordered)
  coded <- union(own, grouped)
  setup$coded <- stats::setNames(rep(list(BY_LEVEL), length(coded)), coded)
  setup$coded[setup$ordered] <- list(BY_SCORE)
  setup
}

# Returns the names of the factors that factor kernels see.
grouping_factors <- function(setup, terms, factors) {
  if (!has_factor_kernel(setup$kernel)) return(character())
  leaves <- kernel_leaves(share_inputs(setup$kernel, attr(terms, "term.labels"), factors))
  levels <- vapply(leaves, reads_levels, NA)
  if (any(vapply(leaves, function(leaf) is.numeric(leaf$vars), NA))) {
    stop_sparsegp("vars", "are numbers of columns, beside kernel_factor()", "Give names")
  }
  seen <- function(leaves) unlist(lapply(leaves, `[[`, "vars"))
  coded <- intersect(factors, seen(leaves[levels]))
  if (!identical(setup$coding, "levels")) refuse_two_codings(coded, seen(leaves[!levels]))
  refuse_interactions(coded, terms, "kernel_factor() sees by level")
  coded
}

# Returns the names of the factors that are one input each. If that was not asked for, these are
# those for which nobody has asked for columns, by contrasts or interactions, and there are none
# where a kernel is given.
factors_by_level <- function(coding, open, terms, factors) {
  if (identical(coding, "levels")) {
    refuse_interactions(names(factors), terms, "`coding` makes one input of")
    return(names(factors))
  }
  if (!is.null(coding) || !open) return(character())
  plain <- vapply(factors, function(factor) is.null(attr(factor, "contrasts")), NA)
  setdiff(names(factors)[plain], interacting(names(factors), terms))
}

# Returns those of some variables that interactions are with.
interacting <- function(names, terms) {
  within <- attr(terms, "factors")
  if (length(names) == 0L || length(within) == 0L) return(character())
  rownames(within) <- variable_names(terms)
  names[rowSums(within[names, attr(terms, "order") > 1L, drop = FALSE] > 0L) > 0]
}

# NULL: not settled yet, and none by itself
has_factor_kernel <- function(kernel) {
  !is.null(kernel) && any(vapply(kernel_leaves(kernel), reads_levels, NA))
}

reads_levels <- function(leaf) registered("kernels", leaf$type)$reads == "levels"

# A factor seen by level has no columns that another kernel, or an interaction, could use.
refuse_two_codings <- function(coded, others) {
  twice <- intersect(coded, others)
  if (length(twice) == 0L) return(invisible())
  stop_sparsegp("kernel", paste0("has a part that sees ", toString(twice), ", which ",
                                 "kernel_factor() sees by level, as numbers"),
                paste("Multiply that part by kernel_factor(), give it other `vars`, or say",
                      "coding = \"levels\""))
}

# why: who sees them by level
refuse_interactions <- function(coded, terms, why) {
  found <- interacting(coded, terms)
  if (length(found) == 0L) return(invisible())
  stop_sparsegp("formula", paste0("has interactions with ", toString(found), ", which ", why),
                "Leave them out: a kernel of several inputs has interactions by itself")
}

# ---- Alternatives ----

# Returns how the ordered factors of a model may be read, simplest first: a list of labels and of
# what they change in the setup. Empty where there is none.
codings <- function(setup) {
  if (length(setup$ordered) == 0L) return(list())
  plain <- setdiff(setup$factors, setup$ordered)
  list(list(label = "ordered factors as numbers", changes = list(factors = plain)),
       list(label = "ordered factors as factors",
            changes = list(factors = c(plain, setup$ordered))))
}

# Returns the recipe with the contrasts of ordered factors as they were read at last.
with_read_levels <- function(recipe, setup) {
  if (length(setup$ordered) == 0L) return(recipe)
  as_factor <- setup$ordered %in% setup$factors
  recipe$contrasts[setup$ordered] <- ifelse(as_factor, BY_LEVEL, BY_SCORE)
  recipe
}

# Beside factor kernels a part without `vars` sees `factors` if it is one, else what no factor
# kernel sees.
share_inputs <- function(kernel, inputs, factors) {
  if (!has_factor_kernel(kernel)) return(kernel)
  own <- function(leaf) {
    vars <- if (is.null(leaf$vars)) factors else leaf$vars
    if (is.numeric(vars)) inputs[vars] else vars
  }
  leaves <- Filter(reads_levels, kernel_leaves(kernel))
  with_vars(kernel, setdiff(inputs, unlist(lapply(leaves, own))), factors)
}

with_vars <- function(kernel, inputs, factors) {
  kernel$parts <- lapply(kernel$parts, with_vars, inputs, factors)
  blind <- registered("kernels", kernel$type)$reads %in% c("none", "component")
  if (length(kernel$parts) || blind || !is.null(kernel$vars)) return(kernel)
  kernel$vars <- if (reads_levels(kernel)) factors else inputs
  if (length(kernel$vars)) return(kernel)
  stop_sparsegp("kernel", paste0("has a part ", kernel$type, "() that is left without inputs"),
                if (reads_levels(kernel)) "Make a factor of an input, or give `vars`"
                else "Give `vars`, or inputs that kernel_factor() does not see")
}
