# A kernel meets its inputs.

# inputs: list(names, terms, kept, components): all input names, the formula variable each column
# came from, which columns are not constant, and the names of a response's components where it has
# several. Returns the specification C takes: `vars` as 0-based columns of the kept inputs.
resolve_kernel <- function(kernel, inputs) {
  kernel$parts <- lapply(kernel$parts, resolve_kernel, inputs)
  if (kernel$type %in% FIELDS) return(resolve_field(kernel, inputs))
  if (kernel$type == "coregion") return(resolve_coregion(kernel, inputs))
  if (length(kernel$parts)) {
    kernel$vars <- integer()
    return(kernel)
  }
  at <- if (kernel$type == "constant") integer() else resolve_vars(kernel$vars, inputs)
  kernel$all_names <- inputs$names[at]
  at <- at[inputs$kept[at]]
  if (length(at) == 0L && kernel$type != "constant") {
    stop_sparsegp("kernel", paste0("has a part, ", format(kernel),
                                   ", whose inputs are all constant"),
                  "Leave constant inputs out, or use kernel_constant()")
  }
  if ("period" %in% names(kernel$params) && length(at) != 1L) {
    stop_sparsegp("kernel", "has a periodic part that sees more than one input",
                  "Give vars = one input; multiply kernels for several")
  }
  kernel$vars <- match(at, which(inputs$kept)) - 1L
  kernel$input_names <- inputs$names[at]
  kernel
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

spec_for_c <- function(kernel) {
  list(type = kernel$type, vars = as.integer(kernel$vars), ard = kernel$ard,
       degree = as.integer(kernel$degree), parts = lapply(kernel$parts, spec_for_c))
}

# ---- Factors that are seen by level ----

# Among the contrasts of factors: no contrasts, but one column with the number of the level.
BY_LEVEL <- "number of the level"

# What factor kernels see of a formula's inputs: the kernel, with `vars` for every part that had
# none, and the coding of the factors it sees (data-frames.R). variables: named list of the inputs.
see_factors <- function(kernel, terms, variables) {
  factors <- names(Filter(function(v) is.factor(v) || is.character(v), variables))
  shared <- share_inputs(kernel, attr(terms, "term.labels"), factors)
  if (!has_factor_kernel(kernel)) return(list(kernel = kernel, coding = NULL))
  leaves <- kernel_leaves(shared)
  levels <- vapply(leaves, function(leaf) leaf$type == "factor", NA)
  if (any(vapply(leaves, function(leaf) is.numeric(leaf$vars), NA))) {
    stop_sparsegp("vars", "are numbers of columns, beside kernel_factor()", "Give names")
  }
  seen <- function(leaves) unlist(lapply(leaves, `[[`, "vars"))
  coded <- intersect(factors, seen(leaves[levels]))
  refuse_two_codings(coded, seen(leaves[!levels]), terms)
  list(kernel = shared, coding = stats::setNames(rep(list(BY_LEVEL), length(coded)), coded))
}

# NULL: not settled yet, and none by itself
has_factor_kernel <- function(kernel) {
  !is.null(kernel) && any(vapply(kernel_leaves(kernel), function(leaf) leaf$type == "factor", NA))
}

# A factor seen by level has no columns that another kernel, or an interaction, could use.
refuse_two_codings <- function(coded, others, terms) {
  twice <- intersect(coded, others)
  if (length(twice)) {
    stop_sparsegp("kernel", paste0("has a part that sees ", toString(twice), ", which ",
                                   "kernel_factor() sees by level, as numbers"),
                  "Multiply that part by kernel_factor(), or give it other `vars`")
  }
  within <- attr(terms, "factors")[coded, attr(terms, "order") > 1L, drop = FALSE]
  if (any(within > 0L)) {
    stop_sparsegp("formula", paste0("has interactions with ", toString(coded), ", which ",
                                    "kernel_factor() sees by level"),
                  "Leave them out, and multiply kernels instead")
  }
}

# Beside factor kernels a part without `vars` sees `factors` if it is one, else what no factor
# kernel sees.
share_inputs <- function(kernel, inputs, factors) {
  if (!has_factor_kernel(kernel)) return(kernel)
  own <- function(leaf) {
    vars <- if (is.null(leaf$vars)) factors else leaf$vars
    if (is.numeric(vars)) inputs[vars] else vars
  }
  leaves <- Filter(function(leaf) leaf$type == "factor", kernel_leaves(kernel))
  with_vars(kernel, setdiff(inputs, unlist(lapply(leaves, own))), factors)
}

with_vars <- function(kernel, inputs, factors) {
  kernel$parts <- lapply(kernel$parts, with_vars, inputs, factors)
  blind <- kernel$type %in% c("constant", "coregion")
  if (length(kernel$parts) || blind || !is.null(kernel$vars)) return(kernel)
  kernel$vars <- if (kernel$type == "factor") factors else inputs
  if (length(kernel$vars)) return(kernel)
  stop_sparsegp("kernel", paste0("has a part ", kernel$type, "() that is left without inputs"),
                if (kernel$type == "factor") "Make a factor of an input, or give `vars`"
                else "Give `vars`, or inputs that kernel_factor() does not see")
}
