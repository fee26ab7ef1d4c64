# Points of packages sf and terra as rows of a data frame: their coordinates become columns, by the
# names that the formula has for them, and the geometry is left out.

# Lists the names that formulas have for coordinates, as regular expressions.
COORDINATES <- list(c("^x$", "^y$"), c("^(lon|long|lng|longitude)$", "^(lat|latitude)$"),
                    c("^east(ing)?$", "^north(ing)?$"))

# Returns the two names of coordinates: those among the inputs of a formula that `data` has not, or
# X and Y.
coordinate_names <- function(formula, data) {
  inputs <- setdiff(all.vars(formula[[length(formula)]]), names(data))
  for (pair in COORDINATES) {
    found <- lapply(pair, grep, inputs, ignore.case = TRUE, value = TRUE)
    if (all(lengths(found) > 0L)) return(vapply(found, `[[`, "", 1L))
  }
  c("X", "Y")
}

is_points <- function(data) inherits(data, c("sf", "SpatVector"))

# Returns rows of class sf or SpatVector as a data frame with their coordinates, and other data
# unchanged.
with_coordinates <- function(data, formula, argument) {
  if (inherits(data, "SpatVector")) return(with_vector_coordinates(data, formula, argument))
  if (!inherits(data, "sf")) return(data)
  if (!requireNamespace("sf", quietly = TRUE)) {
    stop_sparsegp(argument, "is of class sf, and package sf is not installed", "Install it")
  }
  geometry <- sf::st_geometry(data)
  if (!all(sf::st_geometry_type(geometry) == "POINT")) {
    stop_sparsegp(argument, "has geometries that are not points",
                  "Convert them by sf::st_centroid() or sf::st_cast(x, \"POINT\")")
  }
  data <- as.data.frame(sf::st_drop_geometry(data))
  at <- if (nrow(data)) sf::st_coordinates(geometry) else matrix(0, 0L, 2L)
  system <- sf::st_crs(geometry)
  system <- coordinate_system(system$epsg, system$Name)
  placed_rows(data, coordinate_names(formula, data), at, system)
}

with_vector_coordinates <- function(data, formula, argument) {
  at <- if (nrow(data)) terra::crds(data) else matrix(0, 0L, 2L)
  if (nrow(data) && (terra::geomtype(data) != "points" || nrow(at) != nrow(data))) {
    stop_sparsegp(argument, "has geometries that are no single points",
                  "Make points of them, by terra::centroids() or terra::disagg()")
  }
  system <- terra::crs(data, describe = TRUE)
  values <- terra::as.data.frame(data)
  if (!ncol(values)) values <- data.frame(row.names = seq_len(nrow(data)))
  placed_rows(values, coordinate_names(formula, values), at,
              coordinate_system(system$code, system$name))
}

# Returns a data frame with columns of coordinates, a matrix, that it has not; they carry the name
# of their system, see measure_of().
placed_rows <- function(data, names, at, system) {
  names <- c(names, "Z")[seq_len(min(ncol(at), 3L))]
  for (j in which(!names %in% names(data))) {
    data[[names[j]]] <- structure(as.double(at[, j]), crs = if (j < 3L) system)
  }
  data
}

# Returns the name of a coordinate reference system, NULL where it is not known.
coordinate_system <- function(code, name) {
  if (length(code) == 1L && !is.na(code)) return(paste0("EPSG:", code))
  if (is_text(name) && nzchar(name) && name != "unknown") name
}
