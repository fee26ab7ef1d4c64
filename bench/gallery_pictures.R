# The pictures of the gallery, which bench/gallery.R draws: blocks of code that an empty line ends.
# A block begins with the picture's name, its size in inches where it is not 7 x 4.6, and a sentence
# on what is seen; its last expression draws. Blocks can be run one after another.

# ---- Curves ----

# curve: The posterior mean with two 95% intervals, for the mean and, paler, for new cars.
fit <- sparsegp(dist ~ speed, cars)
plot(fit)

# curve-by-factor: With one number and one factor there is a curve for each level of the factor.
fit <- sparsegp(len ~ dose + supp, ToothGrowth)
plot(fit)

# curve-partial: Along one of several inputs, points are partial residuals at the others' medians.
boston <- sparsegp(medv ~ lstat + rm + crim + age, MASS::Boston[1:300, ])
plot(boston, "lstat")

# curve-many-groups: Curves of 27 girls and boys, who share a trend; names are at the ends.
curves <- kernel_rbf(vars = "age") +
  kernel_rbf(vars = "age") * kernel_factor("Subject", fixed(1))
jaws <- as.data.frame(nlme::Orthodont)
fit <- sparsegp(distance ~ age + Subject, jaws, kernel = curves)
plot(fit, "age", by = "Subject")

# probability: The probability of a low birth weight falls with the mother's weight.
babies <- transform(MASS::birthwt, low = low == 1, race = factor(race),
                    smoke = factor(smoke))
low <- sparsegp(low ~ age + lwt + race + smoke, babies)
plot(low, "lwt", by = "smoke")

# factors: Levels of a factor have points with bars; counts of breaks in the yarn of a loom.
fit <- sparsegp(breaks ~ wool + tension, warpbreaks, "negbin")
plot(fit)

# proportions: The proportion of cases rises from one ordered age group to the next.
fit <- sparsegp(cbind(ncases, ncontrols) ~ agegp, esoph)
plot(fit)

# dates: Time on the axis is a date; counts of coal-mining disasters per year.
disasters <- data.frame(day = as.Date(sprintf("%d-07-01", 1851:1962)),
                        count = tabulate(floor(boot::coal$date) - 1850, 112))
fit <- sparsegp(count ~ day, disasters, "poisson")
plot(fit)

# spread: The spread of acceleration, as well as its mean, depends on the time after the impact.
fit <- sparsegp(accel ~ times, MASS::mcycle, lik_heteroscedastic())
plot(fit)

# classes: Probabilities of three species along one input; the rows of each have a lane below.
iris3 <- sparsegp(Species ~ Petal.Length + Sepal.Width, iris)
plot(iris3, "Sepal.Width")

# ordered: Colours of ordered categories go from light to dark; satisfaction of tenants.
housing <- MASS::housing
tenants <- housing[rep(seq_len(nrow(housing)), housing$Freq), ]
tenants <- tenants[seq(1, nrow(tenants), 8), ]
fit <- sparsegp(Sat ~ Infl + Type, tenants)
plot(fit, "Infl")

# ---- Maps ----

# map (5.2 x 5.2): Heights of a hill; dashed lines are the standard error, dots the measurements.
hill <- sparsegp(z ~ x + y, MASS::topo, kernel = kernel_matern52())
plot(hill, asp = 1)

# map-two-panels (8 x 4.4): The same map, with its standard error in a second panel.
plot(hill, se = "panel", asp = 1)

# map-far-from-data (5.2 x 5.2): The map is grey where the data contain almost no information.
fit <- sparsegp(depth ~ long + lat, quakes[1:300, ])
plot(fit, asp = 1)

# map-by-factor (8 x 4.4): A map for each level of a factor, on one scale of colours.
flowers <- iris[1:75 * 2, ]
fit <- sparsegp(Petal.Width ~ Petal.Length + Sepal.Width + Species, flowers)
plot(fit, c("Petal.Length", "Sepal.Width"), by = "Species")

# map-probability (6 x 5.2): The probability of diabetes, over two of the measurements.
fit <- sparsegp(type ~ glu + bmi, MASS::Pima.tr)
plot(fit)

# map-classes (6 x 5.2): The most probable species, in deeper colours where it is more certain.
plot(iris3)

# field (6 x 5.6): A simulated flow: arrows of the mean, ellipses about some, and drifters in blue.
set.seed(1)
drifters <- data.frame(x = runif(60, 0, 6), y = runif(60, 0, 4))
drifters <- transform(drifters, u = -cos(x) * sin(y) + rnorm(60, sd = 0.1),
                      v = sin(x) * cos(y) + rnorm(60, sd = 0.1))
flow <- sparsegp(cbind(u, v) ~ x + y, drifters, kernel = kernel_helmholtz())
plot(flow)

# ---- Effects and parts ----

# effects (8 x 6.4): The effect of each input, averaged over the data; the most important is first.
plot(boston)

# effects-factors (8 x 6.4): Effects of factors are points with bars.
plot(low, "effects")

# slope (8 x 4.4): Slopes along each input; where the band excludes 0, house prices rise or fall.
plot(boston, "slope", which = c("lstat", "rm"))

# terms (8 x 6.4): A term for each kernel of a sum, a curve or a map.
parts <- kernel_rbf(vars = "lstat") + kernel_rbf(vars = "rm") +
  kernel_rbf(vars = c("crim", "age"))
fit <- sparsegp(medv ~ lstat + rm + crim + age, MASS::Boston[1:300, ],
                kernel = parts)
plot(fit, "terms")

# outputs: Two outputs of one model, each with its interval, over the weight of a car.
fit <- sparsegp(cbind(mpg, qsec) ~ wt, mtcars)
plot(fit)

# modes (8 x 4.4): Simulated winds whose sign was not measured: the most probable fields.
set.seed(2)
winds <- expand.grid(x = 1:4, y = 1:4)
wind <- cbind(u = 1 + 0 * winds$x, v = cos(winds$x / 2)) + 0.1 * rnorm(32)
winds$z <- mixture(c(0.55, 0.45), list(wind, -wind), 0.01)
fit <- sparsegp(z ~ x + y, winds, kernel = kernel_helmholtz(),
                method = method_ep(starts = 3))
plot(fit, "modes")

# ---- Time ----

# forecast (8 x 8): Air passengers: data, forecast of three years, trend and season.
air <- data.frame(time = c(time(AirPassengers)), passengers = c(AirPassengers))
kernel <- kernel_linear() + kernel_rbf() + kernel_matern12() + kernel_periodic()
fit <- sparsegp(log(passengers) ~ time, air, kernel = kernel)
plot(fit, list(trend = 1:3, season = 4), "forecast", ahead = 36)

# survival: Survival curves of patients with lung cancer, one for each type of cell.
library(survival)
trial <- transform(veteran, trt = factor(trt, labels = c("standard", "test")))
times <- sparsegp(Surv(time, status) ~ trt + celltype + karno, trial)
plot(times, "survival", by = "celltype")

# survival-times: The expected time along the Karnofsky score, a measure of how fit a patient is.
plot(times, "karno")

# ---- Is it any good? ----

# loo: Each observation against its leave-one-out prediction; orange ones are outside the interval.
cars_fit <- sparsegp(dist ~ speed, cars)
plot(cars_fit, type = "loo")

# loo-classes: The leave-one-out probability of each flower's own species.
plot(iris3, type = "loo")

# residuals (8 x 6.4): Four panels of quantile residuals, which are normal if the model is right.
plot(cars_fit, type = "residuals")

# reliability: Observed frequencies against predicted probabilities of a low birth weight.
plot(low, type = "reliability")

# coverage: The observed coverage of prediction intervals against the nominal coverage.
plot(cars_fit, type = "reliability")

# calibration (8 x 4.4): Leave-one-out coverage, and the probability integral transform.
counts <- sparsegp(Days ~ Sex + Age + Eth + Lrn, MASS::quine, "negbin")
calibrated <- calibration(counts)
plot(calibrated)

# reject: The error rate falls as the flowers whose species is least certain are left out.
plot(iris3, type = "reject")

# choices (8 x 5.4): The candidates that a default fit compared, with their scores.
plot(cars_fit, type = "choices")

# trace: How expectation propagation converged.
plot(low, type = "trace")

# trace-stream: The same for a stream whose rows came in chunks of ten.
fit <- sparsegp(dist ~ speed, cars, method = method_online(size = 10))
plot(fit, type = "trace")

# ---- Densities, and where to measure next ----

# density: The density of eruptions of Old Faithful over their histogram, with its interval.
eruptions <- gp_density(faithful$eruptions)
plot(eruptions)

# density-map (6 x 5.2): The same over two inputs.
fit <- gp_density(faithful[1:150, ])
plot(fit)

# next: Dashed lines and numbers mark the speeds to measure next, in order.
fit <- sparsegp(dist ~ speed, cars[cars$speed < 15, ])
plot(next_rows(fit, data.frame(speed = 4:25), k = 3))

# next-map (5.2 x 5.2): The places on the hill to measure next.
grid <- expand.grid(x = seq(0.2, 6.2, 0.5), y = seq(0.2, 6.2, 0.5))
plot(next_rows(hill, grid, k = 5), asp = 1)

# lines: lines() adds a fit to a plot of the data.
{
  plot(dist ~ speed, cars, pch = 16)
  lines(cars_fit, interval = "confidence", col = "#3F8FD0", lwd = 2)
}

# ---- By ggplot2 ----

# ggplot-curve: autoplot() has the same data; scales, themes and layers can be added.
ggplot2::autoplot(sparsegp(len ~ dose + supp, ToothGrowth))

# ggplot-map (6 x 5.2): The map of the hill.
ggplot2::autoplot(hill)

# ggplot-classes (6.6 x 5.2): The map of three species.
ggplot2::autoplot(iris3)

# ggplot-effects (8 x 6.4): The effects of inputs, with a facet for each.
ggplot2::autoplot(boston)

# ggplot-survival: Survival curves.
ggplot2::autoplot(times, type = "survival", by = "celltype")

# ggplot-residuals (8 x 6.4): Quantile residuals.
ggplot2::autoplot(cars_fit, type = "residuals")

# ggplot-density: The density of eruptions of Old Faithful.
ggplot2::autoplot(eruptions)

# ggplot-calibration (8 x 4.4): Coverage, and the probability integral transform.
ggplot2::autoplot(calibrated)
