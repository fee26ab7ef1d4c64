# Kernels over longitude and latitude (distance = "sphere")

reached_elsewhere()

earth <- 6371.0088

places <- function(d) {
  lon <- d$lon * pi / 180
  lat <- d$lat * pi / 180
  data.frame(X = earth * cos(lat) * cos(lon), Y = earth * cos(lat) * sin(lon), Z = earth * sin(lat))
}

# Rows about the date line and the north pole, and on all of the Earth
globe <- function(n, seed = 1) {
  set.seed(seed)
  d <- data.frame(lon = c(runif(n / 2, 150, 210), runif(n / 2, -180, 180)),
                  lat = c(runif(n / 2, 40, 90), asin(runif(n / 2, -1, 1)) * 180 / pi))
  d$lon <- ifelse(d$lon > 180, d$lon - 360, d$lon)
  d <- cbind(d, places(d))
  d$elev <- rnorm(n)
  d$y <- sin(d$X / 1500) + cos(d$Z / 900) + 0.3 * d$elev + rnorm(n, sd = 0.2)
  d
}

sphere <- function(kernel = kernel_matern32, ...) {
  kernel(vars = c("lon", "lat"), distance = "sphere", ...)
}

test_that("the fit is that of three Cartesian inputs", {
  memory_tier()
  d <- globe(60)
  d$label <- factor(d$y > 0.3)
  new <- data.frame(lon = c(180, -180, 0, 77, 190), lat = c(50, 50, 90, 90, -60))
  new <- cbind(new, places(new))
  kernels <- list(kernel_rbf, kernel_matern12, kernel_matern32, kernel_matern52, kernel_rq)
  compare <- function(response, kernel, scale, ...) {
    one <- sparsegp(reformulate(c("lon", "lat"), response), d, scale = scale, learn = FALSE,
                    kernel = sphere(kernel, variance = 1, lengthscale = 800), ...)
    other <- sparsegp(reformulate(c("X", "Y", "Z"), response), d, scale = FALSE, learn = FALSE,
                      kernel = kernel(variance = 1, lengthscale = 800), ...)
    expect_equal(one$log_evidence, other$log_evidence, tolerance = 1e-10)
    expect_equal(coef(one), coef(other), tolerance = 1e-12)
    expect_equal(predict(one, new, se.fit = TRUE), predict(other, new, se.fit = TRUE),
                 tolerance = 1e-10)
  }
  for (kernel in kernels) compare("y", kernel, TRUE)
  compare("y", kernel_rbf, FALSE)
  compare("y", kernel_matern32, TRUE, method = method_neighbours(k = 10))
  compare("label", kernel_matern32, TRUE)
  compare("label", kernel_matern32, TRUE, method = method_neighbours(k = 10))
  compare("label", kernel_matern32, TRUE, method = method_ep(size = 25))
})

test_that("what is learned is what three Cartesian inputs of one scale learn", {
  slow_tier()
  d <- globe(60)
  one <- sparsegp(y ~ lon + lat, d, kernel = sphere())
  spread <- sqrt(mean(vapply(d[c("X", "Y", "Z")], function(x) mean((x - mean(x))^2), 0)))
  d[c("X", "Y", "Z")] <- d[c("X", "Y", "Z")] / spread
  other <- sparsegp(y ~ X + Y + Z, d, kernel = kernel_matern32(), scale = FALSE)
  expect_equal(coef(one)[["lengthscale"]], coef(other)[["lengthscale"]] * spread, tolerance = 1e-3)
  expect_equal(one$log_evidence, other$log_evidence, tolerance = 1e-6)
  expect_match(capture.output(summary(one)), "lengthscale .* km$", all = FALSE)
})

test_that("date line and poles are no edges, however longitudes are written", {
  d <- globe(40)
  fit <- sparsegp(y ~ lon + lat, d, kernel = sphere(), learn = FALSE)
  at <- function(lon, lat) predict(fit, data.frame(lon = lon, lat = lat))
  expect_identical(unname(at(180, 10)), unname(at(-180, 10)))
  expect_identical(unname(at(-170, 10)), unname(at(190, 10)))
  expect_identical(unname(at(-360, 10)), unname(at(360, 10)))
  expect_equal(unname(at(20, 90)), unname(at(-100, 90)), tolerance = 1e-12)
  expect_lt(abs(at(179.9999, 60) - at(-179.9999, 60)), 1e-3)
  turned <- sparsegp(y ~ lon + lat, transform(d, lon = lon %% 360), kernel = sphere(),
                     learn = FALSE)
  expect_equal(turned$log_evidence, fit$log_evidence, tolerance = 1e-12)
})

test_that("sums and products with other inputs work, as do other answers", {
  slow_tier()
  d <- globe(50)
  fit <- sparsegp(y ~ lon + lat + elev, d, learn = FALSE,
                  kernel = sphere() + kernel_rbf(vars = "elev"))
  expect_identical(colnames(predict(fit, d[1:2, ], type = "terms")),
                   c("matern32(lon, lat)", "rbf(elev)"))
  new <- d[c(1, 30), ]
  found <- slopes(fit, new)
  for (name in c("lon", "lat", "elev")) {
    by <- function(h) predict(fit, replace(new, name, new[[name]] + h))
    expect_equal(found$estimate[found$variable == name],
                 unname(by(1e-4) - by(-1e-4)) / 2e-4, tolerance = 1e-5)
  }
  expect_setequal(rownames(importance(fit)), c("lon", "lat", "elev"))
  file <- tempfile()
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), new), predict(fit, new))
  expect_equal(basis(fit)[, c("lon", "lat")], as.matrix(d[c("lon", "lat")]), tolerance = 1e-10,
               ignore_attr = TRUE)
  product <- sparsegp(y ~ lon + lat + elev, d, learn = FALSE, method = method_neighbours(k = 8),
                      kernel = sphere() * kernel_rbf(vars = "elev"))
  expect_lt(max(abs(product$y - predict(product))), 3)
  few <- sparsegp(y ~ lon + lat, d[1:40, ], kernel = sphere(), learn = FALSE, basis = 1:15)
  more <- update(few, d[41:50, ])
  whole <- sparsegp(y ~ lon + lat, d, kernel = sphere(), learn = FALSE, basis = 1:15)
  expect_identical(nobs(more), 50L)
  expect_lt(max(abs(predict(more, new) - predict(whole, new))), 0.3) # units of the first 40
  routes <- cbind(d, lon2 = rev(d$lon), lat2 = rev(d$lat))
  two <- sparsegp(y ~ lon + lat + lon2 + lat2, routes, learn = FALSE, mean = ~ lat,
                  kernel = sphere() * kernel_rbf(vars = c("lon2", "lat2"), distance = "sphere") +
                    kernel_matern32(vars = "lat"))
  expect_length(predict(two, routes), 50L)
  vector <- sparsegp(cbind(y, elev) ~ lon + lat, d, learn = FALSE,
                     kernel = kernel_coregion() * sphere())
  expect_identical(dim(predict(vector, new)), c(2L, 2L))
  one <- sparsegp(y ~ lon + lat, transform(d, lon = 10), kernel = sphere(), learn = FALSE)
  se <- predict(one, data.frame(lon = c(10, 100), lat = 0), se.fit = TRUE)$se.fit
  expect_gt(se[[2L]], 1.5 * se[[1L]]) # rows of one meridian do not make longitude constant
})

test_that("sources and streams read places", {
  slow_tier()
  d <- globe(60)
  chunks <- row_source(function(k) if (k <= 3L) d[20L * k - 19:0, ])
  fit <- sparsegp(y ~ lon + lat, chunks, kernel = sphere(), learn = FALSE,
                  method = method_ep(size = 30))
  expect_identical(unname(predict(fit, data.frame(lon = 180, lat = 0))),
                   unname(predict(fit, data.frame(lon = -180, lat = 0))))
  stream <- sparsegp(y ~ lon + lat, d[1:40, ], kernel = sphere(), learn = FALSE,
                     method = method_online(20, pilot = 20))
  stream <- update(stream, d[41:60, ])
  expect_equal(nobs(stream), 60)
})

test_that("maps are as wide as the Earth there, and end at the poles", {
  d <- globe(40)
  fit <- sparsegp(y ~ lon + lat, d, kernel = sphere(), learn = FALSE)
  expect_equal(map_aspect(fit, c("lon", "lat"), list(c(0, 10), c(50, 70))), 2)
  expect_equal(map_aspect(fit, c("lat", "lon"), list(c(50, 70), c(0, 10))), 0.5)
  flat <- sparsegp(y ~ lon + lat, d, kernel = kernel_matern32(), learn = FALSE)
  expect_identical(map_aspect(flat, c("lon", "lat"), list(c(0, 10), c(50, 70))), NA)
  drawn <- drawing(plot(fit, n = 11))
  expect_lte(max(abs(drawn$lat)), 90)
})

test_that("what is no longitude and latitude is refused", {
  memory_tier()
  d <- globe(20)
  d$zone <- factor(d$lat > 0)
  fit <- function(formula = y ~ lon + lat, data = d, kernel = sphere(), ...) {
    sparsegp(formula, data, kernel = kernel, learn = FALSE, ...)
  }
  refused <- function(code, argument, words) {
    e <- expect_error(code, class = "sparsegp_error")
    expect_match(conditionMessage(e), paste0("^`", argument, "` .*", words))
  }
  refused(fit(data = transform(d, lat = lat + 40)), "lat", "-90 to 90")
  refused(fit(data = transform(d, lon = lon + 400)), "lon", "-360 to 360")
  refused(predict(fit(), data.frame(lon = 0, lat = 91)), "lat", "-90 to 90")
  refused(fit(basis = data.frame(lon = 0, lat = 91)), "lat", "-90 to 90")
  refused(fit(y ~ lat + lon, kernel = kernel_rbf(distance = "sphere")), "vars", "comes first")
  refused(fit(y ~ lat, kernel = kernel_rbf(distance = "sphere")), "distance", "1 input")
  refused(fit(y ~ lon + lat + elev, kernel = kernel_rbf(distance = "sphere")), "distance",
          "3 inputs")
  for (coding in c("levels", "contrasts")) {
    refused(fit(y ~ lon + zone, control = gp_control(coding = coding),
                kernel = kernel_rbf(distance = "sphere")), "distance", "needs numbers")
  }
  refused(fit(y ~ lon + I(lat > 0), kernel = kernel_rbf(distance = "sphere")), "distance",
          "needs numbers")
  refused(kernel_rbf(distance = "sphere", ard = TRUE), "ard", "not available on the sphere")
  refused(kernel_rbf(distance = "km"), "distance", "choices")
  refused(fit(kernel = sphere(lengthscale = c(1, 2))), "lengthscale", "2 values")
  refused(fit(cbind(y, elev) ~ lon + lat, kernel = kernel_divfree(sphere())), "distance", "fields")
  refused(fit(method = method_ep(size = 5, learn_points = TRUE)), "method", "leave the sphere")
  refused(slopes(fit(kernel = sphere(kernel_matern12)), d[1:2, ]), "vars", "no derivative")
  broken <- fit()
  broken$scaling$sphere$lat <- 3L
  expect_error(predict(broken, d), class = "sparsegp_error")
  broken <- fit()
  broken$scaling$sphere <- NULL
  expect_error(predict(broken, d), class = "sparsegp_error")
})
