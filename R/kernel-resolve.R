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

# ---- Degrees of polynomials ----

USUAL_DEGREE <- 2L # where it is open and nothing is compared

# Is the degree of the kernel, or of one of its parts, open (NA)?
has_open_degree <- function(kernel) {
  any(vapply(kernel_leaves(kernel), function(leaf) leaf$type == "poly" && anyNA(leaf$degree), NA))
}

# Returns the kernel with this degree wherever `given`, of the same parts, leaves it open.
with_open_degree <- function(kernel, degree, given = kernel) {
  if (length(kernel$parts)) {
    kernel$parts <- Map(with_open_degree, kernel$parts, degree, given$parts)
  } else if (has_open_degree(given)) {
    kernel$degree[] <- degree
  }
  kernel
}

resolve_leaf <- function(kernel, inputs) {
  reads <- registered("kernels", kernel$type)$reads
  at <- if (reads == "none") integer() else resolve_vars(kernel$vars, inputs)
  kernel$all_names <- inputs$names[at]
  if (on_sphere(kernel)) return(resolve_sphere(kernel, inputs, at))
  at <- at[inputs$kept[at]]
  if (length(at) == 0L && reads != "none") refuse_constant(kernel)
  refuse_if(reads == "one" && length(at) != 1L,
            "kernel", "has a periodic part with more than one input",
            "Give vars = one input; multiply kernels for several")
  kernel$vars <- match(at, which(inputs$kept)) - 1L
  kernel$input_names <- inputs$names[at]
  kernel$levels <- if (reads == "levels" || is.null(inputs$levels)) numeric(length(at))
                   else inputs$levels[kernel$vars + 1L]
  if (reads == "one") refuse_factor(kernel, "is periodic")
  kernel
}

# Gives a part the three columns of places of two inputs, `at`.
resolve_sphere <- function(kernel, inputs, at) {
  sphere <- inputs$sphere
  kept <- which(inputs$kept)
  pair <- which(kept[sphere$lon] == at[1L] & kept[sphere$lat] == at[2L])
  if (length(pair) == 0L) refuse_constant(kernel)
  kernel$vars <- length(kept) + 3L * (pair - 1L) + 0:2
  kernel$input_names <- inputs$names[at]
  kernel$levels <- numeric(3L)
  kernel
}

refuse_constant <- function(kernel) {
  stop_sparsegp("kernel", paste0("has a part, ", format(kernel),
                                 ", whose inputs are all constant"),
                "Leave constant inputs out, or use kernel_constant()")
}

# Refuses a factor, whose levels have no place on a line, for a kernel that needs positions.
refuse_factor <- function(kernel, what) {
  found <- kernel$input_names[kernel$levels > 0]
  if (length(found) == 0L) return(invisible())
  stop_sparsegp("kernel", paste0("has a part, ", format(kernel), ", that ", what, " and reads ",
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
  refuse_if(length(missing), "vars", paste0("names unknown inputs: ", toString(missing)),
            paste0("The inputs are ", toString(inputs$names)))
  unique(unlist(found))
}

kernel_leaves <- function(kernel) {
  if (length(kernel$parts) == 0L) return(list(kernel))
  unlist(lapply(kernel$parts, kernel_leaves), recursive = FALSE)
}

# A kernel that has met no inputs, as that of a density, reads numbers.
spec_for_c <- function(kernel) {
  levels <- as.double(kernel$levels %||% numeric(length(kernel$vars)))
  spec <- list(type = kernel$type, vars = as.integer(kernel$vars), levels = levels,
               ard = kernel$ard, degree = as.integer(kernel$degree),
               parts = lapply(kernel$parts, spec_for_c))
  if (on_sphere(kernel)) spec$sphere <- TRUE
  spec$custom <- kernel$custom # of a kernel that is an R function
  spec$extension <- kernel$extension # of one of another package
  if (!is.null(kernel$extension)) spec$shaped <- "shape" %in% names(kernel$params)
  spec
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
    kernel$vars <- point_inputs(inputs)
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
  refuse_if(on_sphere(base),
            "distance", "= \"sphere\" is not for fields, whose inputs are those of a plane",
            "Project longitude and latitude, or use kernel_coregion()")
  components <- length(inputs$components)
  refuse_if(components > 3L,
            "kernel", paste0("is of a field, and there are ", components, " responses"),
            "Fields have 2 or 3 components; use kernel_coregion()")
  refuse_if(length(base$all_names) != components, "kernel",
            paste0("has a field, ", format(kernel), ", that reads ",
                   counted(length(base$all_names), "input"), " for ", components,
                   " components"),
            "Give vars = one input of space for each component, in their order")
  refuse_if(length(base$vars) != components, "kernel",
            paste0("has a field, ", format(kernel), ", one of whose inputs is constant"),
            "Use kernel_coregion() for what is left")
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

# ---- Factor kernels ----

reads_levels <- function(leaf) identical(registered("kernels", leaf$type)$reads, "levels")

# Beside factor kernels a part without `vars` sees `factors` if it is one, else what no factor
# kernel sees.
share_inputs <- function(kernel, inputs, factors) {
  leaves <- Filter(reads_levels, kernel_leaves(kernel))
  if (length(leaves) == 0L) return(kernel)
  own <- function(leaf) {
    vars <- if (is.null(leaf$vars)) factors else leaf$vars
    if (is.numeric(vars)) inputs[vars] else vars
  }
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
                else "Give `vars`, or an input other than those of kernel_factor()")
}
