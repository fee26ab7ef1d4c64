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

# Returns points as a data frame with their coordinates. Of lines and polygons only the variables
# are read, as long as the formula has no coordinates.
with_coordinates <- function(data, formula, argument) {
  package <- if (inherits(data, "sf")) "sf" else "terra"
  refuse_if(!requireNamespace(package, quietly = TRUE), argument,
            paste0("is of class ", class(data)[1L], ", and package ", package, " is not installed"),
            "Install it")
  if (package == "sf") refuse_geometry(formula, attr(data, "sf_column"))
  found <- if (package == "sf") points_of_sf(data) else points_of_terra(data)
  if (!is.null(found$at)) {
    return(placed_rows(found$values, coordinate_names(formula, found$values), found$at,
                       found$system))
  }
  ways <- if (package == "sf") c("sf::st_centroid()", "sf::st_cast(x, \"POINT\")")
          else c("terra::centroids()", "terra::disagg()")
  refuse_if(has_coordinates(formula, found$values), argument,
            "has geometries that are not single points",
            paste("Convert them by", ways[1L], "or", ways[2L]))
  found$values
}

# Does a formula name coordinates that are no variables of `data`, or all that there is?
has_coordinates <- function(formula, data) {
  inputs <- all.vars(formula[[length(formula)]])
  coordinates <- paste(c("^[.]$", unlist(COORDINATES)), collapse = "|")
  any(grepl(coordinates, setdiff(inputs, names(data)), ignore.case = TRUE))
}

# A geometry is no variable of a model frame; its coordinates are.
refuse_geometry <- function(formula, column) {
  refuse_if(column %in% all.vars(formula[[length(formula)]]), "formula",
            paste0("names the geometry `", column, "`"),
            "Name the coordinates X + Y in its place")
}

# Both return list(values, at, system): the variables, the coordinates of points, NULL unless every
# row is a point, and the system that these are of.
points_of_sf <- function(data) {
  geometry <- sf::st_geometry(data)
  values <- as.data.frame(sf::st_drop_geometry(data))
  if (!all(sf::st_geometry_type(geometry) == "POINT")) return(list(values = values))
  system <- sf::st_crs(geometry)
  list(values = values, at = if (nrow(data)) sf::st_coordinates(geometry) else matrix(0, 0L, 2L),
       system = coordinate_system(system$epsg, system$Name))
}

points_of_terra <- function(data) {
  values <- terra::as.data.frame(data)
  if (!ncol(values)) values <- data.frame(row.names = seq_len(nrow(data)))
  at <- if (nrow(data)) terra::crds(data) else matrix(0, 0L, 2L)
  if (nrow(data) && (terra::geomtype(data) != "points" || nrow(at) != nrow(data))) {
    return(list(values = values))
  }
  system <- terra::crs(data, describe = TRUE)
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
