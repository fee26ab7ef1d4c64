# The noisy sinc of thesis figs 2.1 and 5.1: 1000 rows, noise variance 0.01, one pass.
#   - In one dimension a polynomial kernel of degree k spans k + 1 functions: the basis never has
#     more points.
#   - rbf kernel of sigma_K^2 = 1, novelty 1e-6: how many points are taken? The thesis says about 12
#     and does not name the interval; [-4, 4] is that of fig. 2.1.
#   - rbf kernel and few points: error by the score that decides which point leaves, beside batch EP
#     (exact for Gaussian noise) on as many points at even distances.
#   - The order of the rows should hardly matter where the basis has room.
# Usage: Rscript bench/thesis/sinc.R [repetitions] [file.pdf for the figure]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

REPEATS <- argument(1, 20)
ROWS <- 1000
NOISE <- 0.01

sinc <- function(x) ifelse(x == 0, 1, sin(x) / x)
noisy_sinc <- function(half) {
  x <- runif(ROWS, -half, half)
  data.frame(x = x, y = sinc(x) + sqrt(NOISE) * rnorm(ROWS))
}

sinc_fit <- function(d, kernel, method, basis = NULL) {
  sparsegp(y ~ x, d, kernel = kernel, likelihood = lik_gaussian(NOISE), scale = FALSE,
           learn = FALSE, method = method, basis = basis)
}

basis_size <- function(fit) nrow(fit$posterior$basis)

root_mse <- function(fit, half) {
  grid <- data.frame(x = seq(-half, half, length.out = 401))
  sqrt(mean((predict(fit, grid) - sinc(grid$x))^2))
}

polynomial <- function(degree) {
  kernel <- kernel_poly(degree, variance = 1, lengthscale = 1)
  runs <- repeated(REPEATS, function(i) {
    fit <- sinc_fit(noisy_sinc(4), kernel, method_online(size = 50))
    c(points = basis_size(fit), rmse = root_mse(fit, 4))
  })
  data.frame(degree = degree, thesis = degree + 1, points = max(runs[, "points"]),
             rmse = mean(runs[, "rmse"]))
}

points_taken <- function(half) {
  runs <- repeated(REPEATS, function(i) {
    d <- noisy_sinc(half)
    vapply(c(1e-6, 1e-4, 1e-2), function(novelty) {
      basis_size(sinc_fit(d, thesis_rbf(1, 1), method_online(size = 200, novelty = novelty)))
    }, 1)
  })
  data.frame(inputs = sprintf("[-%g, %g]", half, half), thesis = "12",
             novelty_1e_6 = mean(runs[, 1]), novelty_1e_4 = mean(runs[, 2]),
             novelty_1e_2 = mean(runs[, 3]))
}

by_score <- function(size) {
  runs <- repeated(REPEATS, function(i) {
    d <- noisy_sinc(4)
    error <- function(...) root_mse(sinc_fit(d, thesis_rbf(1, 1), ...), 4)
    even <- data.frame(x = seq(-4, 4, length.out = size))
    c(mean = error(method_online(size = size, score = "mean")),
      kl = error(method_online(size = size, score = "kl")),
      error = error(method_online(size = size, score = "error")),
      ep = error(method_ep(size = size)), even = error(method_ep(), basis = even))
  })
  data.frame(size = size, t(colMeans(runs)))
}

# The same rows at random and sorted by the input, as a time series would come.
by_order <- function() {
  runs <- repeated(REPEATS, function(i) {
    d <- noisy_sinc(4)
    sorted <- d[order(d$x), ]
    error <- function(...) root_mse(sinc_fit(..., kernel = thesis_rbf(1, 1)), 4)
    c(random = error(d, method = method_online(size = 50)),
      sorted = error(sorted, method = method_online(size = 50)))
  })
  summarised(runs)[c("mean", "max")]
}

table_of <- function(values, row) do.call(rbind, lapply(values, row))
show_table("Polynomial kernels on [-4, 4]: most points, and root mean squared error",
           table_of(1:6, polynomial))
show_table("rbf kernel: points taken, by interval and novelty",
           table_of(c(2, 3, 4, 10), points_taken))
show_table("rbf kernel on [-4, 4]: root mean squared error by score; method_ep(); even points",
           table_of(c(8, 10, 12, 15), by_score))
show_table("rbf kernel on [-4, 4], size 50: root mean squared error by order of the rows",
           by_order())

if (length(commandArgs(TRUE)) >= 2) {
  set.seed(1)
  d <- noisy_sinc(4)
  pdf(commandArgs(TRUE)[[2]], width = 9, height = 4.5)
  par(mfrow = c(1, 2))
  for (kernel in list(kernel_poly(5, variance = 1, lengthscale = 1), thesis_rbf(1, 1))) {
    plot(sinc_fit(d, kernel, method_online(size = 10)), newdata = d)
  }
  invisible(dev.off())
}
