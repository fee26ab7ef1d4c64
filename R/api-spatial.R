# Predictions of rasters of packages terra and stars, in blocks of cells.

#' Maps of packages sf, terra and stars
#'
#' [sparsegp()], [predict()][predict.sparsegp] and all that takes `newdata` read points of packages
#' sf and terra (`SpatVector`), and `predict()` takes a raster of package terra or stars and returns
#' one.
#'
#' @section Points:
#' The geometry of an sf data frame or a `SpatVector` has to consist of points, one a row, unless
#' the formula has no coordinates: then lines and polygons are rows of their variables. Coordinates
#' of points are the inputs `X` and `Y` (and `Z`, if there are three) of a formula, or what the
#' formula calls them: `x` and `y`, `lon` (`long`, `lng`, `longitude`) and `lat` (`latitude`),
#' `easting` and `northing`, unless the data have columns of these names themselves. `y ~ .` has `X`
#' and `Y`. Predictions are values in the order of the points.
#'
#' @section Rasters:
#' The layers of a `SpatRaster`, or the attributes of a `stars` object, are inputs by their names,
#' and the coordinates of the centres of cells as above. The answer of `predict(fit, raster)` is a
#' raster of the same cells. It has a layer `fit`; `se.fit = TRUE` adds a layer `se`, and `interval`
#' adds the layers `lwr` and `upr`. A matrix, such as probabilities, has a layer for each column.
#' Classes are categories. Cells are read and predicted in blocks; `to = "map.tif"` writes those of
#' package terra to a file. Cells with missing inputs are missing.
#'
#' @section Coordinate reference systems:
#' For longitude and latitude type `kernel = kernel_matern32(vars = c("X", "Y"), distance =
#' "sphere")`, see [kernels]; other kernels read coordinates as those of a plane. New points or
#' rasters in another system than those of the fit are an error; `sf::st_transform()` or
#' `terra::project()` converts them. Coordinates in columns of an ordinary data frame are not
#' checked.
#' @name spatial
#' @aliases sf terra stars SpatRaster SpatVector
#' @concept raster
#' @concept coordinate reference system
#' @examplesIf requireNamespace("sf", quietly = TRUE)
#' places <- sf::st_as_sf(quakes[1:100, ], coords = c("long", "lat"), crs = 4326)
#' fit <- sparsegp(depth ~ X + Y, places,
#'                 kernel = kernel_matern32(vars = c("X", "Y"), distance = "sphere"))
#' predict(fit, places[1:3, ], interval = "confidence")
NULL

RASTER_BLOCK <- 20000L # cells that are predicted at once

is_raster <- function(newdata) inherits(newdata, c("SpatRaster", "stars", "stars_proxy"))

# Returns the predictions of a raster as one. call: of predict(); frame: where it was called
predict_raster <- function(object, call, frame, raster, to) {
  refuse_if(is.null(object$terms), "newdata", "is a raster, and the fit is of a matrix",
            "Fit by a formula")
  refuse_if(isTRUE(eval(call$covariance, frame)),
            "covariance", "is for few rows, and not for a raster", "Leave it out")
  call[[1L]] <- quote(stats::predict)
  call$to <- NULL
  values <- function(cells) {
    call$object <- object
    call$newdata <- cells
    raster_layers(eval(call, frame))
  }
  predict_cells(raster, object, values, to)
}

# Returns answers of predict() as a data frame with a column for each layer.
raster_layers <- function(answer) {
  if (!is.list(answer) || is.data.frame(answer)) answer <- list(fit = answer)
  columns <- function(values, name) {
    refuse_if(length(dim(values)) > 2L,
              "newdata", "is a raster, and the answer has more columns than layers",
              "Ask for one output or class at a time, or give a data frame of its cells")
    if (is.null(dim(values))) return(stats::setNames(data.frame(unname(values)), name))
    names <- colnames(values) %||% seq_len(ncol(values))
    stats::setNames(as.data.frame(values), if (name == "fit") names else paste0(name, ".", names))
  }
  out <- columns(answer$fit, "fit")
  if (is.null(answer$se.fit)) out else cbind(out, columns(answer$se.fit, "se"))
}

# Returns the layers of rows, predicted in blocks.
layers_of_rows <- function(rows, values) {
  starts <- seq(1L, max(1L, nrow(rows)), by = RASTER_BLOCK)
  do.call(rbind, lapply(starts, function(first) {
    block <- rows[first:min(nrow(rows), first + RASTER_BLOCK - 1L), , drop = FALSE]
    for (name in names(rows)) attr(block[[name]], "crs") <- attr(rows[[name]], "crs")
    values(block)
  }))
}

predict_cells <- function(raster, object, values, to) UseMethod("predict_cells")

#' @export
predict_cells.SpatRaster <- function(raster, object, values, to) {
  terra::readStart(raster)
  on.exit(terra::readStop(raster))
  read <- function(row, count) layers_of_rows(terra_rows(raster, object, row, count), values)
  first <- read(1L, 1L)
  out <- terra::rast(raster, nlyrs = ncol(first), names = names(first))
  for (j in which(vapply(first, is.factor, NA))) {
    levels <- levels(first[[j]])
    levels(out[[j]]) <- data.frame(value = seq_along(levels), class = levels)
  }
  blocks <- terra::writeStart(out, to %||% "", overwrite = TRUE)
  for (k in seq_len(blocks$n)) {
    found <- read(blocks$row[k], blocks$nrows[k])
    terra::writeValues(out, data.matrix(found), blocks$row[k], blocks$nrows[k])
  }
  terra::writeStop(out)
}

# Returns the cells of rows of a raster, a data frame.
terra_rows <- function(raster, object, row, count) {
  data <- if (terra::hasValues(raster)) terra::readValues(raster, row, count, dataframe = TRUE)
  cells <- terra::cellFromRowCol(raster, row, 1L) - 1 + seq_len(count * ncol(raster))
  if (is.null(data)) data <- data.frame(row.names = seq_along(cells))
  system <- terra::crs(raster, describe = TRUE)
  placed_rows(data, coordinate_names(object$terms, data), terra::xyFromCell(raster, cells),
              coordinate_system(system$code, system$name))
}

#' @export
predict_cells.stars <- function(raster, object, values, to) {
  at <- attr(stars::st_dimensions(raster), "raster")$dimensions
  if (!is.null(to)) stop_sparsegp("to", "is for rasters of package terra", "Leave it out")
  refuse_if(anyNA(at) || length(at) != 2L, "newdata", "is of class stars, and has no raster",
            "Give points as an sf data frame, by sf::st_as_sf()")
  data <- as.data.frame(raster)
  places <- as.matrix(data[at])
  data <- data[setdiff(names(data), at)]
  system <- sf::st_crs(raster)
  rows <- placed_rows(data, coordinate_names(object$terms, data), places,
                      coordinate_system(system$epsg, system$Name))
  layers <- lapply(layers_of_rows(rows, values), array, dim(raster))
  stars::st_as_stars(layers, dimensions = stars::st_dimensions(raster))
}

#' @export
predict_cells.stars_proxy <- function(raster, object, values, to) {
  stop_sparsegp("newdata", "is a raster that is not in memory",
                "Use stars::st_as_stars(x), or terra::rast() of its file")
}
