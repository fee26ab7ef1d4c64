# Kernel values are lists that a user can write to, and a saved fit has one: are they still what the
# constructors make?

# Stops where one is not. Parts are checked as the whole is.
check_kernel <- function(kernel, argument = "kernel") {
  like <- if (is.list(kernel)) kernel_prototype(kernel$type)
  if (is.null(like) || !is.null(misfit(like_prototype(like), kernel))) {
    stop_sparsegp(argument, "has a part that no kernel_*() makes",
                  "Make it anew; a part of a value is not for writing to")
  }
  for (name in names(kernel$params)) {
    check_hyper(kernel$params[[name]], name, range = kernel_range(name))
  }
  for (part in kernel$parts) check_kernel(part, argument)
  invisible(kernel)
}

# Kinds of the fields of a kernel of the type that `like` is of.
like_prototype <- function(like) {
  free <- is.null(names(like$degree)) # only a coregion's may be given or not
  list(
    params = function(x) is.list(x) && identical(names(x), names(like$params)),
    ard = function(x) is_flag(x) && (!x || nzchar(like$per_input)),
    vars = function(x) is.null(x) || !is.null(check_vars(x)),
    per_input = function(x) identical(x, like$per_input),
    degree = function(x) {
      is.null(x) && is.null(like$degree) || length(x) < 3L &&
        are_whole_between(x, 0, .Machine$integer.max) &&
        (free || length(x) == 1L && identical(names(x), names(like$degree)))
    },
    parts = function(x) {
      is.list(x) && switch(like$type, sum = , product = length(x) > 0L,
                           divfree = , curlfree = length(x) == 1L && is_field_base(x[[1L]]),
                           length(x) == 0L)
    }
  )
}

is_field_base <- function(base) is_word(base$type, FIELD_BASES) && identical(base$ard, FALSE)

# Returns a kernel of this type, from a table that is made once; NULL: there is no such type.
kernel_prototype <- function(type) {
  if (is.null(REGISTRY$kernels)) REGISTRY$kernels <- kernel_prototypes()
  registered("kernels", type)
}

kernel_prototypes <- function() {
  leaves <- list(kernel_rbf(), kernel_matern12(), kernel_matern32(), kernel_matern52(), kernel_rq(),
                 kernel_linear(), kernel_poly(), kernel_constant(), kernel_factor(),
                 kernel_periodic(), kernel_trig())
  both <- kernel_helmholtz()
  across <- kernel_coregion()
  all <- c(leaves, list(both, across, across$parts[[1L]]), both$parts)
  stats::setNames(all, vapply(all, `[[`, "", "type"))
}

# Do two trees of parts have the same types?
same_types <- function(one, other) {
  identical(one$type, other$type) && length(one$parts) == length(other$parts) &&
    all(mapply(same_types, one$parts, other$parts))
}

# Is this what resolve_kernel() and spec_for_c() make of a kernel for points of so many inputs, the
# last of them a response's component where its width is more than 1?
is_kernel_spec <- function(spec, inputs, width) {
  is_word(spec$type, REGISTRY$catalogue$kernels) && is.integer(spec$vars) && is_flag(spec$ard) &&
    is.integer(spec$degree) && is.list(spec$parts) && has_right_vars(spec, inputs, width) &&
    has_right_degree(spec, width) && has_right_parts(spec, inputs, width)
}

# What C reads as numbers of columns.
has_right_vars <- function(spec, inputs, width) {
  if (spec$type %in% OF_COMPONENTS) return(width > 1L && identical(spec$vars, inputs - 1L))
  seen <- inputs - (width > 1L)
  one <- spec$type %in% c("periodic", "trig")
  all(spec$vars %in% (seq_len(seen) - 1L)) && !anyDuplicated(spec$vars) &&
    (!one || length(spec$vars) == 1L)
}

# What C reads as numbers of components and their rank; powers.
has_right_degree <- function(spec, width) {
  if (spec$type != "coregion") return(is_one(spec$degree, 0))
  are_whole_between(spec$degree, 0, width) && length(spec$degree) == 2L &&
    spec$degree[1L] == width && spec$degree[2L] < width
}

has_right_parts <- function(spec, inputs, width) {
  parts <- spec$parts
  if (spec$type %in% FIELDS) {
    if (length(parts) != 1L || !is_field_base(parts[[1L]])) return(FALSE)
    if (length(parts[[1L]]$vars) != width) return(FALSE)
  } else if ((length(parts) > 0L) != (spec$type %in% c("sum", "product"))) {
    return(FALSE)
  }
  for (part in parts) if (!is_kernel_spec(part, inputs, width)) return(FALSE)
  TRUE
}
