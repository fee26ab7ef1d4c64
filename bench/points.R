# Compares inducing points that are learned (method_ep(learn_points = TRUE)) with points chosen
# among the rows: mean log density of test observations of regressions with Gaussian noise, at as
# many points and at half of them, and the processor seconds of a fit. Protein and pumadyn-32nm are
# files; `arm` is drawn here: the distance of the hand of a plane arm of eight joints from a place,
# a smooth function of all eight angles, with noise, as in the family "kin".
# Usage: Rscript bench/points.R [rows to learn from] [1: protein, 2: pumadyn, 3: arm; 0: all]
# [numbers of points, as 25,50]; the data folder is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

ROWS <- argument(1, 4000)
ONLY <- argument(2, 0)
TESTED <- 2000
SIZES <- if (length(commandArgs(TRUE)) < 3L) c(25, 50, 100, 200) else
  as.double(strsplit(commandArgs(TRUE)[[3L]], ",")[[1L]])

arm_data <- function(n) {
  angle <- matrix(runif(8 * n, -pi / 3, pi / 3), n, dimnames = list(NULL, paste0("angle", 1:8)))
  direction <- t(apply(angle, 1L, cumsum))
  hand <- cbind(rowSums(cos(direction)), rowSums(sin(direction))) / 8
  distance <- sqrt((hand[, 1L] - 0.5)^2 + (hand[, 2L] - 0.5)^2)
  data.frame(angle, y = distance + rnorm(n, sd = 0.05))
}

# list(train, test), inputs in units of the training rows
set_of <- function(name) {
  set.seed(1)
  data <- if (name == "arm") arm_data(ROWS + TESTED) else read_data(name)
  data$fold <- NULL
  data <- data[sample(nrow(data), ROWS + TESTED), ]
  train <- seq_len(ROWS)
  x <- as.matrix(data[names(data) != "y"])
  x <- scaled_by(x, x[train, ])
  y <- (data$y - mean(data$y[train])) / sd(data$y[train])
  list(x = x[train, ], y = y[train], test_x = x[-train, ], test_y = y[-train])
}

measure <- function(set, size, learned) {
  set.seed(1)
  took <- system.time(
    fit <- suppressWarnings(sparsegp(set$x, set$y, kernel = kernel_rbf(ard = TRUE), scale = FALSE,
                                     method = method_ep(size = size, learn_points = learned)))
  )
  seen <- predict(fit, set$test_x, type = "latent", se.fit = TRUE)
  sd <- sqrt(seen$se.fit^2 + coef(fit)[["noise"]])
  c(density = mean(dnorm(set$test_y, seen$fit, sd, log = TRUE)),
    error = mean((set$test_y - seen$fit)^2), seconds = took[["user.self"]],
    evidence = fit$log_evidence, evaluations = fit$learning$evaluations)
}

names <- c("protein", "pumadyn32nm", "arm")[if (ONLY == 0) 1:3 else ONLY]
sets <- lapply(stats::setNames(nm = names), set_of)
for (size in SIZES) {
  for (name in names) {
    rows <- measure(sets[[name]], size, FALSE)
    points <- measure(sets[[name]], size, TRUE)
    cat(name, size, format(rows, digits = 4L), "|", format(points, digits = 4L), "\n")
    bench_row(paste0(name, ", ", ROWS, " rows: mean log density and squared error of ", TESTED,
                     " test observations, processor seconds, log evidence, evaluations"),
              points = size, "density, rows" = rows[["density"]],
              "density, learned" = points[["density"]], "error, rows" = rows[["error"]],
              "error, learned" = points[["error"]], "seconds, rows" = rows[["seconds"]],
              "seconds, learned" = points[["seconds"]], "evidence, rows" = rows[["evidence"]],
              "evidence, learned" = points[["evidence"]],
              "evaluations, rows" = rows[["evaluations"]],
              "evaluations, learned" = points[["evaluations"]])
  }
}
