# Bases of equal size for batch EP at fixed hyperparameters: random rows, k-means centres (of at
# most 3000 rows), the rows that method_ivm() selects by information gain and by entropy, and those
# sparse EP's exchange ends with (method_ep(size =)). For each: log evidence, mean test log density,
# error in per cent (classes) or MSE in units of the response's variance, batch sweeps to
# convergence, seconds; means over REPEATS seeds where the basis is a matter of luck, with the
# standard deviation of the log density.
#
# The USPS sets (digits 2 and 5 against the rest) have variance 10, length scale 8 and no bias. On
# all others the hyperparameters, one length scale per input, are those that full EP learns from
# 1000 random training rows: no basis had a say in them. satimage4 is damp grey soil against the
# rest; image is that of Raetsch's collection; of pumadyn's inputs only the four that matter are
# used; protein and kegg are cut to 10000 training rows; test rows are the file's fold 1.
#
# Usage: Rscript bench/ivm_bases.R [sets, as usps2,image or all] [repeats]; the data folder is
# SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

LEARN_ROWS <- 1000
KMEANS_ROWS <- 3000
MOST_ROWS <- 10000

given <- commandArgs(TRUE)
REPEATS <- if (length(given) > 1L) as.integer(given[[2L]]) else 3L

# ---- The sets: training and test rows, standardised by the training rows ----

new_set <- function(x, y, test, size, classes) {
  train_x <- scale(x[!test, , drop = FALSE])
  test_x <- scale(x[test, , drop = FALSE], attr(train_x, "scaled:center"),
                  attr(train_x, "scaled:scale"))
  if (!classes) y <- (y - mean(y[!test])) / sd(y[!test])
  set <- list(x = train_x[, ], y = y[!test], test_x = test_x[, ], test_y = y[test], size = size,
              classes = classes)
  with_learned(set)
}

usps <- function(digit) {
  train <- read_usps("train")
  test <- read_usps("test")
  list(x = train$x, y = train$digit == digit, test_x = test$x, test_y = test$digit == digit,
       size = 300, classes = TRUE,
       kernel = kernel_rbf(10, 8), likelihood = lik_probit(bias = 0))
}

satimage <- function(class) {
  train <- read_data("satimage", "satimage_train")
  both <- rbind(train, read_data("satimage", "satimage_test"))
  new_set(as.matrix(both[, 1:36]), both$label == class, seq_len(nrow(both)) > nrow(train), 200,
          TRUE)
}

image_set <- function() {
  rows <- read_data("raetsch", "image")
  new_set(as.matrix(rows[, 1:18]), rows$label == 1, rows$split1 != "train", 100, TRUE)
}

regression <- function(name, inputs, size) {
  rows <- read_data(name, name)
  test <- rows$fold == 1
  set.seed(1)
  kept <- c(sample(which(!test), min(MOST_ROWS, sum(!test))), which(test))
  new_set(as.matrix(rows[kept, paste0("x", inputs)]), rows$y[kept], test[kept], size, FALSE)
}

SETS <- list(
  usps2 = function() usps(2),
  usps5 = function() usps(5),
  image = image_set,
  satimage4 = function() satimage(4),
  pumadyn = function() regression("pumadyn32nm", c(4, 5, 15, 16), 40),
  protein = function() regression("protein", 1:9, 200),
  kegg = function() regression("keggundirected", setdiff(1:27, 10), 200)
)

with_learned <- function(set) {
  set.seed(1)
  some <- sample(nrow(set$x), min(LEARN_ROWS, nrow(set$x)))
  fit <- suppressWarnings(sparsegp(
    set$x[some, ], set$y[some], likelihood = if (set$classes) lik_probit() else lik_gaussian(),
    kernel = kernel_rbf(ard = TRUE), method = method_ep(), scale = FALSE
  ))
  at <- coef(fit)
  lengths <- at[grepl("lengthscale", names(at))]
  set$kernel <- kernel_rbf(at[["variance"]], unname(lengths), ard = TRUE)
  set$likelihood <- if (set$classes) lik_probit(bias = at[["bias"]])
                    else lik_gaussian(variance = at[["noise"]])
  set
}

# ---- The bases: what method and basis sparsegp() is given, and the sweeps before batch EP ----

centres <- function(set) {
  some <- sample(nrow(set$x), min(KMEANS_ROWS, nrow(set$x)))
  points <- unique(set$x[some, ])
  start <- points[sample(nrow(points), set$size), ]
  centres <- suppressWarnings(kmeans(points, start, iter.max = 50, algorithm = "Lloyd"))$centers
  empty <- is.nan(centres[, 1L])
  centres[empty, ] <- points[sample(nrow(points), sum(empty)), ]
  centres
}

BASES <- list(
  random = list(luck = TRUE, given = function(set) {
    list(basis = sample(nrow(set$x), set$size), method = method_ep())
  }),
  "k-means" = list(luck = TRUE, given = function(set) {
    list(basis = centres(set), method = method_ep())
  }),
  information = list(luck = FALSE, given = function(set) list(method = method_ivm(set$size))),
  entropy = list(luck = FALSE, given = function(set) {
    list(method = method_ivm(set$size, select = "entropy"))
  }),
  exchange = list(luck = FALSE, given = function(set) list(method = method_ep(set$size)))
)

fit_on <- function(given, set) {
  suppressWarnings(do.call(sparsegp, c(
    list(set$x, set$y, likelihood = set$likelihood, kernel = set$kernel, scale = FALSE,
         learn = FALSE), given
  )))
}

# Sweeps that exchange points come before those of batch EP.
batch_sweeps <- function(fit) {
  trace <- fit$convergence$trace
  if (fit$options$type == "ep" && is.finite(fit$options$size)) nrow(trace) - fit$options$freeze
  else nrow(trace)
}

test_scores <- function(fit, set) {
  if (set$classes) {
    prob <- predict(fit, set$test_x, type = "prob")
    right <- prob[cbind(seq_along(set$test_y), 1L + set$test_y)]
    return(c(log_density = mean(log(right)), loss = 100 * mean(right < 0.5)))
  }
  latent <- predict(fit, set$test_x, type = "latent", se.fit = TRUE)
  error <- set$test_y - latent$fit
  sd <- sqrt(latent$se.fit^2 + coef(fit)[["noise"]])
  c(log_density = mean(dnorm(error, 0, sd, log = TRUE)), loss = mean(error^2))
}

measure <- function(basis, set, seed) {
  set.seed(seed)
  seconds <- system.time(fit <- fit_on(basis$given(set), set))[["elapsed"]]
  c(evidence = fit$log_evidence, test_scores(fit, set), sweeps = batch_sweeps(fit),
    converged = fit$convergence$converged, seconds = seconds)
}

compare <- function(name) {
  set <- SETS[[name]]()
  cat(sprintf("\n%s: %d rows, %d inputs, %d points; %d test rows\n", name, nrow(set$x),
              ncol(set$x), set$size, nrow(set$test_x)))
  cat("basis          evidence  log density     (sd)", if (set$classes) "   error" else "     MSE",
      "  sweeps       s\n")
  for (basis in names(BASES)) {
    repeats <- if (BASES[[basis]]$luck) REPEATS else 1L
    runs <- vapply(seq_len(repeats), function(seed) measure(BASES[[basis]], set, seed),
                   numeric(6L))
    show_row(basis, rowMeans(runs), if (repeats > 1L) sd(runs["log_density", ]) else NA)
  }
}

show_row <- function(basis, mean, sd) {
  spread <- if (is.na(sd)) strrep(" ", 8) else sprintf("(%.4f)", sd)
  cat(sprintf("%-12s %10.1f %12.4f %s %8.4f %7.1f%s %6.1f\n", basis, mean[["evidence"]],
              mean[["log_density"]], spread, mean[["loss"]], mean[["sweeps"]],
              if (mean[["converged"]] < 1) "*" else " ", mean[["seconds"]]))
}

chosen <- if (length(given)) strsplit(given[[1L]], ",")[[1L]] else "all"
if (identical(chosen, "all")) chosen <- names(SETS)
unknown <- setdiff(chosen, names(SETS))
if (length(unknown)) stop("no such set: ", toString(unknown), call. = FALSE)
for (name in chosen) compare(name)
cat("\n* not all converged in", method_ep()$sweeps, "sweeps\n")
