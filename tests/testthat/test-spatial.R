# Points of package sf, and rasters of terra and stars

r_code_alone()

skip_without <- function(...) for (package in c(...)) skip_if_not_installed(package)

quake_points <- function(rows = 1:60) {
  sf::st_as_sf(quakes[rows, ], coords = c("long", "lat"), crs = 4326)
}

on_globe <- kernel_matern32(vars = c("X", "Y"), distance = "sphere")

fit_quakes <- function(data = quake_points(), formula = depth ~ X + Y, kernel = on_globe, ...) {
  sparsegp(formula, data, kernel = kernel, learn = FALSE, ...)
}

refuses <- function(code, argument, words) {
  e <- expect_error(code, class = "sparsegp_error")
  expect_match(conditionMessage(e), paste0("^`", argument, "` .*", words))
}

test_that("points of sf are rows with their coordinates", {
  slow_tier()
  skip_without("sf")
  plain <- transform(quakes[1:60, ], X = long, Y = lat)
  expected <- fit_quakes(plain)
  fit <- fit_quakes()
  expect_equal(fit$log_evidence, expected$log_evidence, tolerance = 1e-12)
  new <- quake_points(61:64)
  at <- transform(quakes[61:64, ], X = long, Y = lat)
  expect_equal(predict(fit, new, interval = "prediction"),
               predict(expected, at, interval = "prediction"), tolerance = 1e-12,
               ignore_attr = TRUE)
  expect_equal(predict(fit, at), predict(expected, at), tolerance = 1e-12)
  expect_equal(slopes(fit, new)$estimate, slopes(expected, at)$estimate, tolerance = 1e-10)
  named <- fit_quakes(formula = depth ~ long + lat + mag,
                      kernel = kernel_rbf(vars = c("long", "lat"), distance = "sphere"))
  expect_length(predict(named, new), 4L)
  all <- fit_quakes(formula = depth ~ ., kernel = kernel_rbf())
  expect_identical(all$scaling$names, c("mag", "stations", "X", "Y"))
  squared <- fit_quakes(formula = depth ~ poly(X, 2) + Y, kernel = kernel_rbf())
  expect_identical(nrow(slopes(squared, new, "X")), 4L)
  expect_identical(nobs(update(fit_quakes(basis = 1:9), quake_points(61:70))), 70L)
})

test_that("maps of points have the aspect of their coordinates", {
  memory_tier()
  skip_without("sf")
  limits <- list(c(160, 180), c(-70, -50))
  flat <- kernel_rbf()
  degrees <- fit_quakes(kernel = flat)
  expect_equal(map_aspect(degrees, c("X", "Y"), limits), 2)
  metres <- fit_quakes(sf::st_transform(quake_points(), 3832), kernel = flat)
  expect_identical(map_aspect(metres, c("X", "Y"), limits), 1)
  mixed <- fit_quakes(formula = depth ~ X + Y + mag, kernel = flat)
  expect_identical(map_aspect(mixed, c("X", "mag"), limits), NA)
  expect_identical(map_aspect(fit_quakes(transform(quakes[1:60, ], X = long, Y = lat)),
                              c("X", "Y"), limits), 1 / cospi(60 / 180)) # on the sphere
})

test_that("points in another system, and what is no point, are refused", {
  slow_tier()
  skip_without("sf")
  fit <- fit_quakes()
  new <- quake_points(61:64)
  refuses(predict(fit, sf::st_transform(new, 3832)), "newdata", "EPSG:3832.*EPSG:4326")
  refuses(predict(fit, sf::st_transform(new, 3832)), "newdata", "st_transform")
  refuses(fit_quakes(sf::st_buffer(sf::st_transform(new, 3832), 10)), "data", "not single points")
  joined <- sf::st_sf(depth = 1, geometry = sf::st_combine(new))
  refuses(fit_quakes(joined), "data", "not single points")
  expect_length(predict(fit, new[0L, ]), 0L)
  refuses(fit_quakes(formula = depth ~ geometry, kernel = kernel_rbf()), "formula",
          "names the geometry")
})

test_that("lines and polygons are rows of their variables if the formula has no coordinates", {
  slow_tier()
  skip_without("sf", "terra")
  circles <- sf::st_buffer(sf::st_transform(quake_points(), 3832), 10)
  by_mag <- function(data) fit_quakes(data, depth ~ mag + offset(log(stations)), kernel_rbf())
  expected <- predict(by_mag(quakes[1:60, ]))
  expect_equal(predict(by_mag(circles), circles), expected, tolerance = 1e-10)
  expect_equal(predict(by_mag(terra::vect(circles))), expected, tolerance = 1e-10)
  refuses(fit_quakes(circles, depth ~ ., kernel_rbf()), "data", "st_centroid")
  refuses(fit_quakes(circles, depth ~ mag + lon + lat, kernel_rbf()), "data", "not single points")
})

test_that("points of terra are rows with their coordinates", {
  slow_tier()
  skip_without("terra")
  points <- function(rows) {
    terra::vect(quakes[rows, ], geom = c("long", "lat"), crs = "EPSG:4326")
  }
  at <- transform(quakes[61:64, ], X = long, Y = lat)
  expected <- fit_quakes(transform(quakes[1:60, ], X = long, Y = lat))
  fit <- fit_quakes(points(1:60))
  expect_equal(fit$log_evidence, expected$log_evidence, tolerance = 1e-12)
  expect_equal(predict(fit, points(61:64), se.fit = TRUE), predict(expected, at, se.fit = TRUE),
               tolerance = 1e-12, ignore_attr = TRUE)
  expect_equal(slopes(fit, points(61:64))$estimate, slopes(expected, at)$estimate,
               tolerance = 1e-10)
  squared <- fit_quakes(points(1:60), depth ~ poly(X, 2) + Y, kernel_rbf())
  expect_identical(nrow(slopes(squared, points(61:64), "X")), 4L)
  expect_length(predict(fit, points(61:64)[, 0]), 4L) # which has no columns
  expect_length(predict(fit, points(61:64)[0]), 0L)
  refuses(predict(fit, terra::project(points(61:64), "EPSG:3832")), "newdata", "EPSG:3832")
  wide <- terra::buffer(points(1:60), 10)
  refuses(fit_quakes(wide), "data", "not single points")
  refuses(predict(fit, terra::aggregate(points(61:64))), "newdata", "not single points")
})

test_that("a raster of terra becomes one of predictions", {
  slow_tier()
  skip_without("terra")
  data <- transform(quakes[1:60, ], X = long, Y = lat, zone = factor(long > 175))
  raster <- terra::rast(nrows = 7, ncols = 5, xmin = 165, xmax = 190, ymin = -35, ymax = -10)
  fit <- fit_quakes(data)
  cells <- as.data.frame(terra::xyFromCell(raster, 1:35))
  names(cells) <- c("X", "Y")
  expected <- predict(fit, cells, se.fit = TRUE, interval = "confidence")
  found <- predict(fit, raster, se.fit = TRUE, interval = "confidence")
  expect_s4_class(found, "SpatRaster")
  expect_identical(names(found), c("fit", "lwr", "upr", "se"))
  expect_equal(unname(terra::values(found)),
               unname(cbind(expected$fit, expected$se.fit)), tolerance = 1e-6) # 4 bytes in files
  raster$mag <- c(NA, seq(4, 6, length.out = 34))
  with_mag <- fit_quakes(data, depth ~ X + Y + mag, on_globe + kernel_rbf(vars = "mag"))
  found <- terra::values(predict(with_mag, raster))
  expect_identical(names(predict(with_mag, raster)), "fit")
  expect_identical(which(is.na(found)), 1L)
  expect_equal(found[-1L], unname(predict(with_mag, cbind(cells, mag = raster$mag[])[-1L, ])),
               tolerance = 1e-6, ignore_attr = TRUE)
  zones <- predict(fit_quakes(data, zone ~ X + Y), raster, type = "class")
  expect_setequal(terra::values(zones, dataframe = TRUE)[[1L]], c("FALSE", "TRUE"))
  file <- tempfile(fileext = ".tif")
  predict(fit, raster, to = file)
  expect_equal(terra::values(terra::rast(file)), terra::values(predict(fit, raster)),
               tolerance = 1e-6, ignore_attr = TRUE)
  refuses(predict(with_mag, terra::rast(raster, nlyrs = 0L)), "newdata", "lacks mag")
  terra::crs(raster) <- "EPSG:3832"
  expect_s4_class(predict(fit, raster), "SpatRaster") # columns have no system
  skip_if_not_installed("sf")
  refuses(predict(fit_quakes(), raster), "newdata", "EPSG:3832")
  refuses(predict(fit, raster, covariance = TRUE), "covariance", "few rows")
  refuses(predict(sparsegp(as.matrix(data[c("X", "Y")]), data$depth, learn = FALSE), raster),
          "newdata", "of a matrix")
  expect_warning(predict(fit, raster, interval = "prediction"), NA)
})

test_that("a raster of stars becomes one of predictions", {
  slow_tier()
  skip_without("stars", "sf")
  data <- transform(quakes[1:60, ], x = long, y = lat)
  raster <- stars::st_as_stars(sf::st_bbox(c(xmin = 165, ymin = -35, xmax = 190, ymax = -10),
                                           crs = sf::st_crs(4326)), nx = 5, ny = 7,
                               values = seq(4, 6, length.out = 35))
  names(raster) <- "mag"
  fit <- fit_quakes(data, depth ~ x + y + mag, kernel = kernel_rbf())
  cells <- as.data.frame(raster)
  found <- predict(fit, raster, se.fit = TRUE)
  expect_s3_class(found, "stars")
  expect_identical(names(found), c("fit", "se"))
  expect_equal(as.data.frame(found)[c("x", "y")], cells[c("x", "y")])
  expect_equal(c(found$fit), unname(predict(fit, cells)), tolerance = 1e-12)
  expect_equal(cells$x[1:2], c(167.5, 172.5)) # centres
  refuses(predict(fit, raster, to = "map.tif"), "to", "terra")
  other <- fit_quakes()
  mercator <- sf::st_set_crs(raster, NA)
  expect_s3_class(predict(other, mercator), "stars")
  sf::st_crs(mercator) <- sf::st_crs(3832)
  refuses(predict(other, mercator), "newdata", "EPSG:3832")
})

test_that("rows are predicted in blocks", {
  rows <- data.frame(x = seq_len(2 * RASTER_BLOCK + 3L))
  seen <- integer()
  found <- layers_of_rows(rows, function(block) {
    seen <<- c(seen, nrow(block))
    data.frame(fit = block$x)
  })
  expect_identical(seen, c(RASTER_BLOCK, RASTER_BLOCK, 3L))
  expect_identical(found$fit, rows$x)
})
