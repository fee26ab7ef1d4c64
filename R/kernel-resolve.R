# A kernel meets its inputs.

# inputs: list(names, terms, kept): all input names, the formula variable each column came from,
# and which columns are not constant. Returns the specification C takes: `vars` as 0-based columns
# of the kept inputs.
resolve_kernel <- function(kernel, inputs) {
  kernel$parts <- lapply(kernel$parts, resolve_kernel, inputs)
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
