# EP's tolerance while hyperparameters of several classes are learned: log evidence, leave-one-out
# log probability, log loss of held-out rows and CPU seconds of default fits with that of the fit
# itself (1e-6) and with that of the package (1e-4). Half of the data sets are simulated. Both fits
# of a data set are made in one session, one after the other.
#
# Few labels are compared with a forest and with multinomial regression, too.
#
# Usage: Rscript bench/class_tolerance.R [few] [data set]...     few: of FEW alone
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

blobs <- function(n, classes, spread, inputs = 2L) {
  centre <- matrix(rnorm(classes * inputs), classes)
  class <- sample(classes, n, TRUE)
  data.frame(x = centre[class, ] + spread * matrix(rnorm(n * inputs), n), y = factor(class))
}
of_package <- function(package, name, response, rows) function() {
  frame <- new.env()
  utils::data(list = name, package = package, envir = frame)
  d <- stats::na.omit(get(name, frame))
  names(d)[names(d) == response] <- "y"
  d$y <- factor(d$y)
  droplevels(d[sample(nrow(d), min(nrow(d), rows)), ])
}

SETS <- list(
  iris = of_package("datasets", "iris", "Species", 150L),
  glass = of_package("mlbench", "Glass", "Type", 120L),
  vehicle = of_package("mlbench", "Vehicle", "Class", 120L),
  chickens = of_package("datasets", "chickwts", "feed", 71L),
  crabs = function() {
    d <- MASS::crabs
    d <- data.frame(d[4:8], y = interaction(d$sp, d$sex))
    d[sample(nrow(d), 120), ]
  },
  fgl = of_package("MASS", "fgl", "type", 100L),
  cultivars = of_package("MASS", "cabbages", "Date", 60L),
  "three blobs" = function() blobs(90, 3, 0.5),
  "five blobs" = function() blobs(120, 5, 0.4),
  "eight blobs" = function() blobs(120, 8, 0.3, 3L),
  spirals = function() {
    t <- runif(120, 0, 3)
    arm <- sample(3, 120, TRUE)
    angle <- 2 * t + 2 * pi * arm / 3
    data.frame(u = t * cos(angle) + 0.15 * rnorm(120), v = t * sin(angle) + 0.15 * rnorm(120),
               y = factor(arm))
  },
  noise = function() {
    d <- data.frame(matrix(rnorm(100 * 6), 100))
    d$y <- factor(max.col(cbind(d$X1, d$X2, 0) + rnorm(300)))
    d
  },
  stripes = function() {
    d <- data.frame(u = runif(120), v = runif(120))
    d$y <- factor((floor(5 * d$u) + rbinom(120, 1, 0.1)) %% 3)
    d
  }
)

# A set of a package without the columns `drop`, rows with missing values, and labels of fewer than
# five rows.
some_columns <- function(package, name, response, drop) function() {
  frame <- new.env()
  utils::data(list = name, package = package, envir = frame)
  d <- as.data.frame(frame[[name]])
  d <- stats::na.omit(d[setdiff(names(d), drop)])
  names(d)[names(d) == response] <- "y"
  texts <- vapply(d, is.character, NA)
  d[texts] <- lapply(d[texts], factor)
  d$y <- factor(as.character(d$y))
  droplevels(d[d$y %in% names(which(table(d$y) >= 5L)), ])
}

# The first five are those that causes were looked for on.
FEW <- list(
  fgl = of_package("MASS", "fgl", "type", 214L),
  vehicle = of_package("mlbench", "Vehicle", "Class", 300L),
  animals = of_package("mlbench", "Zoo", "type", 101L),
  "six blobs" = function() blobs(300, 6, 0.9, 9L),
  steps = function() {
    x <- data.frame(matrix(runif(300 * 9), 300))
    y <- 1L + (x$X1 > 0.5) + 2L * (x$X2 > 0.6) + (x$X3 > 0.7 & x$X1 > 0.5)
    y[sample(300, 30)] <- sample(5, 30, TRUE)
    data.frame(x, y = factor(y))
  },
  vowel = of_package("mlbench", "Vowel", "Class", 400L),
  satellite = of_package("mlbench", "Satellite", "classes", 400L),
  crabs = function() data.frame(MASS::crabs[4:8], y = interaction(MASS::crabs[1:2])),
  scat = of_package("modeldata", "scat", "Species", 110L),
  skewed = function() {
    class <- sample(7, 300, TRUE, prob = c(8, 4, 3, 2, 2, 1, 1))
    centre <- matrix(rnorm(7 * 6), 7)
    data.frame(exp(0.7 * centre[class, ] + 0.7 * matrix(rnorm(300 * 6), 300)), y = factor(class))
  },
  oils = function() {
    frame <- new.env()
    utils::data(list = "oil", package = "caret", envir = frame)
    d <- data.frame(frame$fattyAcids, y = frame$oilType)
    droplevels(d[d$y %in% names(which(table(d$y) >= 5L)), ])
  },
  cars = some_columns("ggplot2", "mpg", "class", c("model", "trans", "year")),
  "cars of 1990" = some_columns("rpart", "cu.summary", "Type", character()),
  scats = some_columns("caret", "scat", "Species", c("Month", "Site")),
  "cars of 1993" = some_columns("MASS", "Cars93", "Type",
                                c("Manufacturer", "Model", "Make", "Cylinders")),
  women = some_columns("carData", "Womenlf", "partic", character()),
  mammals = some_columns("ggplot2", "msleep", "vore", c("name", "genus", "order", "conservation",
                                                        "sleep_cycle", "sleep_rem")),
  rings = function() {
    x <- matrix(rnorm(300 * 6), 300)
    data.frame(x, y = cut(rowSums(x[, 1:2]^2), c(-1, 0.6, 1.6, 3.2, Inf), labels = LETTERS[1:4]))
  }
)

`%||%` <- function(x, y) if (is.null(x)) y else x

CHANGES <- list(
  default = list(),
  "length scales each, free" = list(kernel = kernel_rbf(ard = TRUE)),
  "not coupled" = list(likelihood = lik_mprobit(coupled = FALSE)),
  "a kernel each" = list(likelihood = lik_mprobit(shared = FALSE)),
  "one-vs-rest, recalibrated" = list(likelihood = lik_probit())
)

scores <- function(fit, test, seconds) {
  prob <- predict(fit, test, type = "prob")
  c(evidence = as.numeric(logLik(fit)), loo = mean(loo_lpd(fit)), seconds = seconds,
    loss = -mean(log(pmax(prob[cbind(seq_len(nrow(test)), match(test$y, colnames(prob)))], 1e-12))))
}

# Evaluates a fit with another ratio of both tolerances.
with_tolerance <- function(ratio, code) {
  space <- asNamespace("sparsegp")
  before <- space$policy
  change <- function(to) utils::assignInNamespace("policy", to, space)
  on.exit(change(before))
  change(replace(before, "class_search_tolerance", list(ratio)))
  code()
}

# Log probabilities of held-out labels by a forest, whose shares of votes are kept off 0 and 1.
forest_log_prob <- function(train, test) {
  forest <- ranger::ranger(y ~ ., train, probability = TRUE, num.trees = 1000L, num.threads = 1L,
                           seed = 1L)
  votes <- predict(forest, test)$predictions * 1000
  prob <- (votes + 0.5) / rowSums(votes + 0.5)
  log(prob[cbind(seq_len(nrow(test)), match(test$y, colnames(prob)))])
}

# The same by multinomial regression on standardised inputs, with a small ridge.
linear_log_prob <- function(train, test) {
  numbers <- names(train)[vapply(train, function(x) is.numeric(x) && sd(x) > 0, NA)]
  for (name in numbers) {
    test[[name]] <- (test[[name]] - mean(train[[name]])) / sd(train[[name]])
    train[[name]] <- c(scale(train[[name]]))
  }
  fit <- nnet::multinom(y ~ ., train, decay = 0.1, trace = FALSE, maxit = 300, MaxNWts = 5000)
  own_log_prob(predict(fit, test, type = "probs"), test$y)
}

own_log_prob <- function(prob, y) {
  log(pmax(prob[cbind(seq_along(y), match(y, colnames(prob)))], 1e-12))
}

# Rows of a table of a set: each change's log probabilities of held-out labels beside the peers',
# and those of the means of its probabilities and the default's.
beside_peers <- function(name) {
  set.seed(11)
  d <- FEW[[name]]()
  held <- sample(nrow(d), nrow(d) %/% if (nrow(d) > 200L) 2L else 4L)
  train <- droplevels(d[-held, ])
  test <- d[held, ]
  for (column in names(train)[vapply(train, is.factor, NA)]) {
    test <- test[test[[column]] %in% levels(train[[column]]), ]
  }
  peers <- list(forest = forest_log_prob(train, test), linear = linear_log_prob(train, test))
  first <- NULL
  for (change in names(CHANGES)) {
    time <- system.time(fit <- suppressMessages(do.call(sparsegp, c(list(y ~ ., train),
                                                                    CHANGES[[change]]))))
    prob <- predict(fit, test, type = "prob")
    first <- first %||% prob
    own <- list(own_log_prob(prob, test$y), own_log_prob((first + prob) / 2, test$y))
    less <- own[[1L]] - peers$forest
    less_linear <- own[[1L]] - peers$linear
    error <- function(x) sd(x) / sqrt(length(x))
    bench_row("Few labels of several classes: mean log probability of held-out labels", set = name,
              rows = nrow(train), classes = nlevels(train$y), inputs = ncol(d) - 1L, fit = change,
              `leave-one-out` = mean(loo_lpd(fit)), `held out` = mean(own[[1L]]),
              `mean with default` = mean(own[[2L]]), `less the forest` = mean(less),
              `error of that` = error(less), `less multinomial` = mean(less_linear),
              `error of this` = error(less_linear), seconds = sum(time[1:2]))
    cat(name, nrow(train), change, mean(own[[1L]]), mean(own[[2L]]), "less forest", mean(less),
        error(less), "less linear", mean(less_linear), error(less_linear), sum(time[1:2]), "\n")
  }
}

asked <- setdiff(commandArgs(TRUE), "few")
few <- "few" %in% commandArgs(TRUE)
for (name in if (few) NULL else if (length(asked)) asked else names(SETS)) {
  set.seed(11)
  d <- SETS[[name]]()
  held <- sample(nrow(d), nrow(d) %/% 4L)
  run <- function() {
    time <- system.time(fit <- suppressMessages(sparsegp(y ~ ., droplevels(d[-held, ]))))
    scores(fit, d[held, ], sum(time[1:2]))
  }
  tight <- with_tolerance(1, run)
  loose <- run()
  cat(name, format(tight, digits = 4), "|", format(loose, digits = 4), "\n")
  bench_row("Default fits of several classes, learned with EP to 1e-6 and by default", set = name,
            rows = nrow(d) - length(held), classes = nlevels(droplevels(d[-held, "y"])),
            `evidence, 1e-6` = tight[["evidence"]], evidence = loose[["evidence"]],
            `leave-one-out, 1e-6` = tight[["loo"]], `leave-one-out` = loose[["loo"]],
            `log loss, 1e-6` = tight[["loss"]], `log loss` = loose[["loss"]],
            `seconds, 1e-6` = tight[["seconds"]], seconds = loose[["seconds"]],
            ratio = loose[["seconds"]] / tight[["seconds"]])
}
if (few || length(asked) == 0L) {
  for (name in if (length(asked)) asked else names(FEW)) beside_peers(name)
}
