# Every kind of picture, as files to be looked at:  Rscript bench/gallery.R [FOLDER]
library(sparsegp)
folder <- c(commandArgs(TRUE), "gallery")[1L]
dir.create(folder, showWarnings = FALSE)

show <- function(name, code, width = 7, height = 5) {
  grDevices::png(file.path(folder, paste0(name, ".png")), width, height, "in", res = 110)
  on.exit(grDevices::dev.off())
  force(code)
}

set.seed(1)
air <- data.frame(time = c(time(AirPassengers)), n = c(AirPassengers))
chicks <- as.data.frame(ChickWeight)[1:250, ]
boston <- MASS::Boston[1:300, ]
low <- transform(MASS::birthwt, low = low == 1, race = factor(race), smoke = factor(smoke))
trend_and_season <- kernel_linear() + kernel_rbf() + kernel_matern12() + kernel_periodic()
own_curves <- kernel_rbf(vars = "Time") +
  kernel_rbf(vars = "Time") * kernel_factor("Chick", fixed(1))
additive <- kernel_rbf(vars = "lstat") + kernel_rbf(vars = "rm") +
  kernel_rbf(vars = c("crim", "age"))

# ---- Curves ----

cars_fit <- sparsegp(dist ~ speed, cars)
show("curve", plot(cars_fit))
show("curve-partial-residuals", plot(sparsegp(medv ~ lstat + rm + crim + age, boston), "lstat"))
show("curve-by-factor", plot(sparsegp(len ~ dose + supp, ToothGrowth)))
show("curve-many-groups", plot(sparsegp(weight ~ Time + Chick, chicks, kernel = own_curves),
                               "Time", by = "Chick"))
low_fit <- sparsegp(low ~ age + lwt + race + smoke, low)
show("probability", plot(low_fit, "lwt", by = "smoke"))
show("probability-factor", plot(low_fit, "race"))
show("factors", plot(sparsegp(breaks ~ wool + tension, warpbreaks, "negbin")))
show("shares", plot(sparsegp(cbind(ncases, ncontrols) ~ agegp, esoph)))
show("poly", plot(sparsegp(dist ~ poly(speed, 2), cars)))
show("dates", plot(sparsegp(y ~ day, data.frame(day = as.Date("2020-01-01") + 30 * (1:32),
                                                y = mtcars$mpg))))
iris_fit <- sparsegp(Species ~ Petal.Length + Sepal.Width, iris)
show("classes", plot(iris_fit, "Sepal.Width"))

# ---- Maps ----

topo <- sparsegp(z ~ x + y, MASS::topo, kernel = kernel_matern52())
show("map", plot(topo, asp = 1))
show("map-two-panels", plot(topo, se = "panel", asp = 1), 9, 4.5)
show("map-far-from-data", plot(sparsegp(depth ~ long + lat, quakes[1:300, ]), asp = 1))
show("map-by-factor", plot(sparsegp(mpg ~ wt + hp + am, transform(mtcars, am = factor(am))),
                           c("wt", "hp"), by = "am"), 9, 4.5)
show("map-probability", plot(sparsegp(type ~ glu + bmi, MASS::Pima.tr)))
show("map-classes", plot(iris_fit))

# ---- Parts, and series ----

show("terms", plot(sparsegp(medv ~ lstat + rm + crim + age, boston, kernel = additive), "terms"),
     9, 7)
show("terms-classes", plot(sparsegp(Species ~ Petal.Width + Sepal.Width, iris, kernel =
  kernel_rbf(vars = "Petal.Width") + kernel_rbf(vars = "Sepal.Width")), "terms"), 9, 4.5)
show("forecast", plot(sparsegp(log(n) ~ time, air, kernel = trend_and_season),
                      list(trend = 1:3, season = 4), "forecast", ahead = 36), 8, 9)

# ---- What a fit gets wrong ----

show("loo", plot(cars_fit, type = "loo"))
show("loo-classes", plot(iris_fit, type = "loo"))
show("residuals", plot(cars_fit, type = "residuals"), 8, 7)
show("reliability", plot(low_fit, type = "reliability"))
show("coverage", plot(cars_fit, type = "reliability"))
show("reject", plot(iris_fit, type = "reject"))
show("trace", plot(low_fit, type = "trace"))
show("trace-stream", plot(sparsegp(dist ~ speed, cars, method = method_online(size = 10)),
                          type = "trace"))

# ---- By ggplot2 ----

if (requireNamespace("ggplot2", quietly = TRUE)) {
  show("ggplot-curve", print(ggplot2::autoplot(sparsegp(len ~ dose + supp, ToothGrowth))))
  show("ggplot-map", print(ggplot2::autoplot(topo)))
  show("ggplot-residuals", print(ggplot2::autoplot(cars_fit, type = "residuals")))
}
cat(length(list.files(folder)), "pictures in", folder, "\n")
