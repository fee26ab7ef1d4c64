# Kernel values are lists that a user can write to, and a saved fit has one: are they still what the
# constructors make?

# Stops where one is not. Parts are checked as the whole is.
check_kernel <- function(kernel, argument = "kernel") {
  refuse_if(!holds(is_kernel(kernel)), argument,
            "has a part that was not made by a kernel_*() function",
            "Create it again; do not assign to parts of a kernel")
  for (name in names(kernel$params)) {
    check_hyper(kernel$params[[name]], name, range = range_in(kernel, name))
  }
  for (part in kernel$parts) check_kernel(part, argument)
  invisible(kernel)
}

is_kernel <- function(kernel) {
  type <- registered("kernels", kernel$type)
  is_made(kernel, "sparsegp_kernel") && is.list(type) &&
    is.null(invalid_part(kinds_like(type$like, type$parts), kernel))
}

# Returns the kinds of the fields of a kernel of the type that `like` is of.
kinds_like <- function(like, parts) {
  free <- is.null(names(like$degree)) # only a coregion's may be given or not
  list(
    custom = if (is.null(like$custom)) is.null else is_custom,
    extension = if (is.null(like$extension)) is.null else is_extension,
    params = function(x, whole) {
      is.list(x) && !is.object(x) && length(x) == length(names(x)) &&
        identical(names(x), c(names(like$params), more_params(whole)))
    },
    ard = function(x) is_flag(x) && (!x || nzchar(like$per_input)),
    vars = function(x) is.null(x) || !is.null(check_vars(x)),
    distance = optional(function(x, whole) {
      on_sphere(whole) && like$per_input == "lengthscale" && is.null(like$extension) && !whole$ard
    }),
    per_input = function(x) identical(x, like$per_input),
    degree = function(x) {
      identical(x, like$degree) || length(x) < 3L &&
        are_whole_between(x, 0, .Machine$integer.max) &&
        (free || length(x) == 1L && identical(names(x), names(like$degree)))
    },
    parts = function(x) is.list(x) && !is.object(x) && are_parts(x, parts)
  )
}

# Names of hyperparameters beyond those of the type: a user's own, or a shape.
more_params <- function(kernel) {
  c(kernel$custom$names, if (!is.null(kernel$extension)) intersect(names(kernel$params), "shape"))
}

are_parts <- function(parts, of) {
  switch(of, none = length(parts) == 0L, some = length(parts) > 0L,
         scalar = length(parts) == 1L && identical(parts[[1L]]$ard, FALSE) &&
           isTRUE(registered("kernels", parts[[1L]]$type)$gradient))
}

# Returns the kernel that was given as a value, a constructor, or by name.
as_kernel <- function(kernel) {
  kernel <- called(kernel)
  if (!is_text(kernel)) {
    check_class(kernel, "sparsegp_kernel", "kernel",
                "Give a kernel_*() value such as kernel_rbf(), or a name such as \"matern52\"")
    return(check_kernel(kernel))
  }
  leaves <- Filter(function(type) {
    type$parts == "none" && type$reads != "component" && is.null(type$like$custom) &&
      is.null(type$like$extension)
  }, REGISTRY$kernels)
  other <- names(Filter(function(type) kernel %in% type$aliases, leaves))
  leaves[[if (length(other)) other else check_choice(kernel, names(leaves), "kernel")]]$like
}

# Do two trees of parts have the same types?
same_types <- function(one, other) {
  identical(one$type, other$type) && length(one$parts) == length(other$parts) &&
    all(mapply(same_types, one$parts, other$parts))
}

# Is this what resolve_kernel() and spec_for_c() make of a kernel of so many inputs, behind which a
# point has the number of its component where the response's width is more than 1?
is_kernel_spec <- function(spec, inputs, width) {
  type <- if (is.list(spec)) registered("kernels", spec$type)
  is.list(type) && !is.object(spec) && is.null(type$like$custom) == is.null(spec$custom) &&
    is.null(type$like$extension) == is.null(spec$extension) &&
    (is.null(spec$extension) || is_extension(spec$extension) && is_flag(spec$shaped)) &&
    (is.null(spec$custom) || is_custom(spec$custom)) &&
    (is.null(spec$sphere) || isTRUE(spec$sphere)) && is.integer(spec$vars) &&
    !is.object(spec$vars) &&
    are_distances(spec$levels, length(spec$vars)) &&
    is_flag(spec$ard) && is.integer(spec$degree) && !is.object(spec$degree) &&
    is.list(spec$parts) && !is.object(spec$parts) &&
    has_right_vars(spec, type$reads, inputs, width) && type$degrees(spec$degree, width) &&
    are_parts(spec$parts, type$parts) &&
    (type$parts != "scalar" || length(spec$parts[[1L]]$vars) == width) &&
    all(vapply(spec$parts, is_kernel_spec, NA, inputs, width))
}

# Squared distances between two levels of each input, 0 for numbers.
are_distances <- function(levels, inputs) {
  are_doubles(levels, inputs) && are_finite(levels) && all(levels >= 0)
}

# Checks what C reads as numbers of columns.
has_right_vars <- function(spec, reads, inputs, width) {
  if (reads == "component") return(width > 1L && identical(spec$vars, inputs))
  all(spec$vars %in% (seq_len(inputs) - 1L)) && !anyDuplicated(spec$vars) &&
    (reads != "one" || length(spec$vars) == 1L)
}

# Checks what C reads as numbers of components and their rank.
are_coregion_degrees <- function(degree, width) {
  are_whole_between(degree, IDENTITY, width) && length(degree) == 2L && degree[1L] == width &&
    degree[2L] < width
}
