# Longitudes and latitudes as places on the sphere. Behind the kept inputs a point has three columns
# for each pair of them that a kernel reads on the sphere: x, y and z in km from the centre of the
# Earth, moved and divided like other inputs, but all three by one number. Distances of these are
# chords, so neither the date line nor a pole is an edge. The record of it is plain data in a
# scaling, list(lon, lat, centre, sd): numbers of kept inputs, centre with three numbers for each.

EARTH <- 6371.0088 # km: the mean radius

# Returns the record of the pairs (sphere_pairs()) of which an input is kept, or NULL. x: inputs;
# scale: is what the kernel sees divided by its standard deviation?
sphere_of <- function(pairs, kept, x, scale) {
  pairs <- pairs[, kept[pairs[1L, ]], drop = FALSE]
  if (ncol(pairs) == 0L) return(NULL)
  places <- lapply(seq_len(ncol(pairs)), function(k) {
    check_degrees(x[, pairs[, k], drop = FALSE])
    on_earth(x[, pairs[1L, k]], x[, pairs[2L, k]])
  })
  spread <- vapply(places, function(at) sqrt(mean(sweep(at, 2L, colMeans(at))^2)), 0)
  at <- cumsum(kept)
  list(lon = at[pairs[1L, ]], lat = at[pairs[2L, ]],
       centre = if (scale) as.double(vapply(places, colMeans, numeric(3L)))
                else numeric(3L * length(places)),
       sd = if (scale) ifelse(spread > 0, spread, 1) else rep(1, length(spread)),
       seen = if (scale) rep(1, length(spread)) else ifelse(spread > 0, spread, 1))
}

MOST_DEGREES <- c(360, 90) # of longitude and latitude, to either side of 0

# Returns what values of a kept input lie within.
degrees_of <- function(input, scaling) {
  most <- c(MOST_DEGREES[2L][input %in% scaling$sphere$lat],
            MOST_DEGREES[1L][input %in% scaling$sphere$lon], Inf)[1L]
  c(-most, most)
}

# Refuses degrees that are no place. degrees: a matrix of a longitude and a latitude
check_degrees <- function(degrees) {
  wrong <- c(any(abs(degrees[, 1L]) > MOST_DEGREES[1L], na.rm = TRUE),
             any(abs(degrees[, 2L]) > MOST_DEGREES[2L], na.rm = TRUE))
  refuse_if(any(wrong), colnames(degrees)[wrong][1L],
            if (wrong[1L]) "has longitudes outside -360 to 360"
            else "has latitudes outside -90 to 90",
            paste("Give degrees to distance = \"sphere\", longitude first; leave `distance`",
                  "out for coordinates of a plane"))
}

# Returns places on the Earth in km. Longitudes that differ by a whole turn are one place.
on_earth <- function(lon, lat) {
  lon <- (lon %% 360) / 180
  across <- EARTH * cospi(lat / 180)
  cbind(across * cospi(lon), across * sinpi(lon), EARTH * sinpi(lat / 180))
}

# Returns x, kept inputs in degrees and other units, as `points`, which the record's columns are
# appended to.
beside_sphere <- function(points, x, sphere) {
  for (k in seq_along(sphere$lon)) {
    at <- c(sphere$lon[k], sphere$lat[k])
    check_degrees(x[, at, drop = FALSE])
    places <- on_earth(x[, at[1L]], x[, at[2L]])
    centre <- rep(sphere$centre[3L * k - 2:0], each = nrow(x))
    points <- cbind(points, (places - centre) / sphere$sd[k])
  }
  points
}

# Returns the directions of points, `v`, with those of the record's columns as inputs x change by
# `change` a unit.
beside_sphere_direction <- function(v, x, change, sphere) {
  turn <- pi / 180
  for (k in seq_along(sphere$lon)) {
    at <- c(sphere$lon[k], sphere$lat[k])
    lon <- x[, at[1L]] / 180
    lat <- x[, at[2L]] / 180
    east <- EARTH * cospi(lat) * turn * cbind(-sinpi(lon), cospi(lon), 0)
    north <- EARTH * turn * cbind(-sinpi(lat) * cospi(lon), -sinpi(lat) * sinpi(lon), cospi(lat))
    v <- cbind(v, (east * change[, at[1L]] + north * change[, at[2L]]) / sphere$sd[k])
  }
  v
}

# Returns which columns of points are places on the sphere. scaling: that, or the inputs of
# resolve_kernel()
sphere_places <- function(scaling) {
  sum(scaling$kept) + seq_len(3L * length(scaling$sphere$lon))
}

# Returns how many inputs a point has: those that are kept and those of spheres.
point_inputs <- function(scaling) sum(scaling$kept) + length(sphere_places(scaling))

# Returns the names of the inputs of a point.
point_names <- function(scaling) {
  c(scaling$names[scaling$kept], rep("", length(sphere_places(scaling))))
}

# Returns the kept inputs, by number, that columns of points (from 1) are of.
inputs_of_columns <- function(columns, scaling) {
  kept <- sum(scaling$kept)
  pair <- (columns[columns > kept] - kept + 2L) %/% 3L
  sort(unique(c(columns[columns <= kept], scaling$sphere$lon[pair], scaling$sphere$lat[pair])))
}
