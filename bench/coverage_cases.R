# The cases of bench/coverage.R: data whose intervals are measured, simulated and real, with test
# observations inside the range of the training inputs and outside of it.
#
# A case is list(name, group, n, repeats, quick, make, likelihood, family): make(seed) returns
# list(train, inside, outside), data frames with the response `.y` (and the trials `.trials`), of
# which `inside` or `outside` may be NULL; likelihood: what sparsegp() is given, NULL for the
# default fit; family: what mgcv is given, NULL for none. Peers for numbers take part if it is
# gaussian().

new_case <- function(group, name, n, repeats, make, likelihood = NULL, family = gaussian(),
                     quick = FALSE) {
  list(name = name, group = group, n = n, repeats = repeats, make = make, likelihood = likelihood,
       family = family, quick = quick)
}

# ---- Simulated ----

TEST_INSIDE <- 200L
TEST_OUTSIDE <- 100L
BEYOND <- 0.5 # inputs outside lie up to so much beyond [0, 1], either way, in the first input

# Returns a function drawn from a Gaussian process of variance 1, by random Fourier features
# (Rahimi and Recht 2007): rough ones have Matérn kernels of smoothness 1/2 along their one input.
drawn_function <- function(lengthscales, rough = FALSE, features = 1000L) {
  d <- length(lengthscales)
  draw <- if (rough) rcauchy else rnorm
  w <- matrix(draw(d * features), d) / lengthscales
  b <- runif(features, 0, 2 * pi)
  a <- rnorm(features) * sqrt(2 / features)
  function(x) unlist(lapply(split(seq_len(nrow(x)), (seq_len(nrow(x)) - 1L) %/% 500L), function(i) {
    cos(sweep(x[i, , drop = FALSE] %*% w, 2L, b, "+")) %*% a
  }), use.names = FALSE)
}

# Returns make() of a case: n observations with d uniform inputs. new_function() draws a function;
# respond(f, x) draws responses at its values, a vector or data frame.
simulated <- function(n, d, new_function, respond) {
  function(seed) {
    set.seed(seed)
    f <- new_function()
    at <- function(x) {
      y <- respond(f(x), x)
      data.frame(if (is.data.frame(y)) y else data.frame(.y = y), x = x)
    }
    outside <- matrix(runif(TEST_OUTSIDE * d), ncol = d)
    outside[, 1L] <- sample(c(-1, 1), TEST_OUTSIDE, TRUE) * (0.5 + BEYOND * outside[, 1L]) + 0.5
    list(train = at(matrix(runif(n * d), n)), inside = at(matrix(runif(TEST_INSIDE * d), ncol = d)),
         outside = at(outside))
  }
}

noisy <- function(sd = 0.3) function(f, x) f + rnorm(length(f), 0, sd)
smooth_1 <- function() drawn_function(0.4)
smooth_5 <- function() drawn_function(c(0.4, 0.4, 4, 4, 4))
rough_1 <- function() drawn_function(0.4, rough = TRUE)
trend_1 <- function() function(x) 4 * x[, 1L] + sin(12 * x[, 1L])
friedman_5 <- function() {
  function(x) 10 * sin(pi * x[, 1] * x[, 2]) + 20 * (x[, 3] - 0.5)^2 + 10 * x[, 4] + 5 * x[, 5]
}

prior_cases <- function() {
  few <- c("15" = 40, "30" = 30, "100" = 12, "300" = 6, "1000" = 3, "10000" = 1)
  many <- c("30" = 24, "60" = 20, "300" = 5, "1000" = 2, "10000" = 1)
  make <- function(name, repeats, d, new_function, noise = noisy()) {
    Map(function(n, repeats) {
      new_case("simulated numbers", name, n, repeats, simulated(n, d, new_function, noise),
               quick = n %in% c(15, 30))
    }, as.integer(names(repeats)), repeats)
  }
  c(make("smooth, 1 input", few, 1L, smooth_1),
    make("smooth, 5 inputs, 3 nearly irrelevant", many, 5L, smooth_5),
    make("rough (Matern 1/2), 1 input", c("30" = 20, "100" = 10), 1L, rough_1),
    make("line and wave, 1 input", c("30" = 20, "100" = 10), 1L, trend_1),
    make("Friedman 1, 5 inputs", c("50" = 8, "200" = 4, "1000" = 2), 5L, friedman_5, noisy(1)))
}

# Noise of t with 3 degrees of freedom, of Laplace, and of a variance that grows with the input
t_noise <- function(f, x) f + 0.3 * rt(length(f), 3)
laplace_noise <- function(f, x) f + 0.3 * rexp(length(f)) * sample(c(-1, 1), length(f), TRUE)
growing_noise <- function(f, x) f + rnorm(length(f), 0, 0.1 + 0.6 * pmax(x[, 1L], 0))

likelihood_cases <- function(n, repeats) {
  case <- function(name, likelihood, respond, family = gaussian(), group = "likelihoods") {
    new_case(group, name, n, repeats, simulated(n, 1L, smooth_1, respond), likelihood, family,
             quick = n < 100)
  }
  of_trials <- function(f, x) {
    data.frame(.y = rbinom(length(f), 8, plogis(f)) / 8, .trials = 8)
  }
  grades <- function(f, x) {
    cut(f + rnorm(length(f), 0, 0.4), c(-Inf, -1, 0, 0.8, Inf), letters[1:4], ordered_result = TRUE)
  }
  list(case("student, t(3) noise", "student", t_noise, mgcv::scat()),
       case("laplace, Laplace noise", "laplace", laplace_noise, NULL),
       case("heteroscedastic, noise that grows", "heteroscedastic", growing_noise, NULL),
       case("poisson, counts", "poisson", function(f, x) rpois(length(f), exp(1 + f)), poisson()),
       case("negbin, overdispersed counts", "negbin",
            function(f, x) rnbinom(length(f), size = 3, mu = exp(2 + f)), mgcv::nb()),
       case("binomial, 8 trials", "binomial", of_trials, binomial()),
       case("ordinal, four categories", "ordinal", grades, NULL),
       case("default, exp() of a function", NULL, function(f, x) exp(f + rnorm(length(f), 0, 0.3))),
       case("gaussian for t(3) noise", "gaussian", t_noise, group = "wrong noise"),
       case("gaussian for noise that grows", "gaussian", growing_noise, group = "wrong noise"),
       case("poisson for overdispersed counts", "poisson",
            function(f, x) rnbinom(length(f), size = 3, mu = exp(2 + f)), poisson(),
            group = "wrong noise"))
}

# ---- Real ----

# Returns make() of a case: random halves inside; along: the column whose largest fifth is outside,
# all training observations lying below it, or NULL. What is split at random is the rest.
from_data <- function(rows, response, along = NULL, most = 10000L) {
  names(rows)[names(rows) == response] <- ".y"
  rows <- rows[stats::complete.cases(rows), ]
  numbers <- vapply(rows, function(x) is.integer(x), NA) & names(rows) != ".y"
  rows[numbers] <- lapply(rows[numbers], as.double)
  function(seed) {
    set.seed(seed)
    far <- if (is.null(along)) FALSE else rows[[along]] > stats::quantile(rows[[along]], 0.8)
    near <- rows[!far, ]
    order <- sample.int(nrow(near))
    n <- min(most, round(2 / 3 * nrow(near)))
    train <- near[order[seq_len(n)], ]
    test <- near[utils::head(order[-seq_len(n)], 1000L), ]
    list(train = train, inside = test, outside = if (any(far)) rows[far, ])
  }
}

in_time <- function(series) {
  data.frame(.y = as.numeric(series), time = as.numeric(stats::time(series)))
}

# Returns the case, or NULL where the package of the data is not installed. n: training observations
real_case <- function(name, response, repeats, along = NULL, likelihood = NULL,
                      family = gaussian(), columns = NULL, package = "datasets", quick = FALSE) {
  if (!requireNamespace(package, quietly = TRUE)) return(NULL)
  held <- new.env()
  utils::data(list = name, package = package, envir = held)
  rows <- held[[name]]
  rows <- if (stats::is.ts(rows)) in_time(rows) else as.data.frame(rows)
  rows <- rows[if (is.null(columns)) names(rows) else c(response, columns)]
  make <- from_data(rows, response, along)
  new_case(if (is.null(likelihood)) "real numbers" else "real counts", name, nrow(make(1)$train),
           repeats, make, likelihood, family, quick)
}

real_cases <- function() {
  Filter(Negate(is.null), list(
    real_case("cars", "dist", 10, "speed", quick = TRUE),
    real_case("mtcars", "mpg", 10, "wt", columns = c("wt", "hp", "qsec"), quick = TRUE),
    real_case("faithful", "waiting", 4),
    real_case("mcycle", "accel", 6, "times", package = "MASS", quick = TRUE),
    real_case("airquality", "Ozone", 6, "Temp", columns = c("Solar.R", "Wind", "Temp")),
    real_case("quakes", "mag", 2, columns = c("lat", "long", "depth")),
    real_case("LakeHuron", ".y", 4, "time"), real_case("nottem", ".y", 2, "time"),
    real_case("AirPassengers", ".y", 2, "time"), real_case("co2", ".y", 1, "time"),
    real_case("Prestige", "prestige", 5, "education", package = "carData",
              columns = c("education", "income", "women")),
    real_case("Auto", "mpg", 2, "weight", package = "ISLR",
              columns = c("displacement", "horsepower", "weight", "acceleration", "year")),
    real_case("BostonHousing", "medv", 2, "lstat", package = "mlbench"),
    real_case("diamonds", "price", 1, "carat", package = "ggplot2",
              columns = c("carat", "depth", "table", "x", "y", "z")),
    real_case("discoveries", ".y", 4, "time", "poisson", poisson(), quick = TRUE),
    real_case("warpbreaks", "breaks", 8, likelihood = "negbin", family = mgcv::nb()),
    real_case("quine", "Days", 5, likelihood = "negbin", family = mgcv::nb(), package = "MASS")
  ))
}

all_cases <- function() {
  cases <- c(prior_cases(), likelihood_cases(30L, 16), likelihood_cases(200L, 4), real_cases())
  names(cases) <- gsub("[^a-z0-9]+", "_", tolower(vapply(cases, function(case) {
    paste(case$name, case$n)
  }, "")))
  cases
}
