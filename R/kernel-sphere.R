# Kernels over a longitude and a latitude: parts with `distance` "sphere" read the places that
# data-sphere.R makes of two inputs.

# Returns the longitudes and latitudes that a kernel reads as such, by numbers of inputs: a matrix
# of two rows with a column for each pair. labels: names of variables that are no numbers
sphere_pairs <- function(kernel, inputs, labels = character()) {
  pairs <- lapply(Filter(on_sphere, kernel_leaves(kernel)), function(leaf) {
    check_sphere_inputs(resolve_vars(leaf$vars, inputs), leaf, inputs, labels)
  })
  matrix(as.integer(unlist(unique(pairs))), 2L)
}

# Checks that these inputs could be a longitude and a latitude, in this order.
check_sphere_inputs <- function(at, leaf, inputs, labels) {
  remedy <- "Give vars = c(\"lon\", \"lat\"), the names of longitude and latitude in degrees"
  names <- inputs$names[at]
  refuse_if(length(at) != 2L, "distance",
            paste0("= \"sphere\" needs a longitude and a latitude, and ",
                   format(leaf), " reads ", counted(length(at), "input")), remedy)
  wrong <- names[without_backticks(inputs$terms[at]) %in% labels]
  refuse_if(length(wrong),
            "distance", paste0("= \"sphere\" needs numbers, and ", wrong[1L], " is not"), remedy)
  refuse_if(all(grepl("^\\W*lat", names[1L], TRUE), grepl("^\\W*lo?ng?", names[2L], TRUE)), "vars",
            paste0("are a latitude, ", names[1L], ", and a longitude, ", names[2L],
                   ", and longitude comes first"),
            paste0("Give vars = c(\"", names[2L], "\", \"", names[1L], "\")"))
  at
}

# Returns how many inputs the columns of a problem's points stand for.
count_inputs <- function(problem) ncol(problem$x) - 3L * count_spheres(problem$spec)

# Returns how many pairs of a longitude and a latitude a specification reads on the sphere.
count_spheres <- function(spec) length(unique(sphere_columns(spec)))

sphere_columns <- function(spec) {
  c(if (isTRUE(spec$sphere)) spec$vars[1L], unlist(lapply(spec$parts, sphere_columns)))
}
