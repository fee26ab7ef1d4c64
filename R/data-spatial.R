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

# Classes of points
POINTS <- c("sf", "SpatVector")

# Returns points as a data frame with their coordinates.
with_coordinates <- function(data, formula, argument) {
  package <- if (inherits(data, "sf")) "sf" else "terra"
  refuse_if(!requireNamespace(package, quietly = TRUE), argument,
            paste0("is of class ", class(data)[1L], ", and package ", package, " is not installed"),
            "Install it")
  found <- if (package == "sf") points_of_sf(data, argument) else points_of_terra(data, argument)
  placed_rows(found$values, coordinate_names(formula, found$values), found$at, found$system)
}

# Both return list(values, at, system): the variables of points, their coordinates and the system
# that these are of.
points_of_sf <- function(data, argument) {
  geometry <- sf::st_geometry(data)
  refuse_if(!all(sf::st_geometry_type(geometry) == "POINT"),
            argument, "has geometries that are not points",
            "Convert them by sf::st_centroid() or sf::st_cast(x, \"POINT\")")
  system <- sf::st_crs(geometry)
  list(values = as.data.frame(sf::st_drop_geometry(data)),
       at = if (nrow(data)) sf::st_coordinates(geometry) else matrix(0, 0L, 2L),
       system = coordinate_system(system$epsg, system$Name))
}

points_of_terra <- function(data, argument) {
  at <- if (nrow(data)) terra::crds(data) else matrix(0, 0L, 2L)
  refuse_if(nrow(data) && (terra::geomtype(data) != "points" || nrow(at) != nrow(data)),
            argument, "has geometries that are not single points",
            "Convert them by terra::centroids() or terra::disagg()")
  system <- terra::crs(data, describe = TRUE)
  values <- terra::as.data.frame(data)
  if (!ncol(values)) values <- data.frame(row.names = seq_len(nrow(data)))
  list(values = values, at = at, system = coordinate_system(system$code, system$name))
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
