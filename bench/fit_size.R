# What a fit takes on disk, before compression (serialize()): all of it, its posterior with the sums
# of its sites, and what these took as whole matrices, as versions before 0.4.0 kept them. A fit has
# d^2 numbers for each latent function on d points, and some ten for each row and latent function,
# so that fits of more rows and classes follow: the last table has them for CLASSES classes, and
# for a regression on the points that a default fit of 50 000 rows may have.
# Usage: Rscript bench/fit_size.R [POINTS = 400] [CLASSES = 26]
source("bench/common.R")

points <- argument(1, 400)
classes <- argument(2, 26)

megabytes <- function(...) length(serialize(list(...), NULL)) / 1e6

# The posterior and sums as whole matrices.
whole_size <- function(fit) {
  full <- sparsegp:::full_sums(fit)
  parts <- if (is.null(fit$posterior$each)) list(fit$posterior) else fit$posterior$each
  parts <- lapply(parts, function(part) {
    part[c("G", "H")] <- lapply(part[c("G", "H")], sparsegp:::full_factor, nrow(part$basis))
    part
  })
  megabytes(parts, full$state)
}

size_of_fit <- function(label, fit) {
  data.frame(fit = label, rows = nobs(fit), points = nrow(fit$posterior$basis),
             MB = megabytes(fit), `posterior, sums` = megabytes(fit$posterior, fit$state),
             `as whole matrices` = whole_size(fit), check.names = FALSE)
}

set.seed(1)
n <- 3000
d <- data.frame(matrix(rnorm(n * 5), n))
d$y <- sin(2 * d$X1) + d$X2^2 / 2 + 0.1 * rnorm(n)
d$group <- cut(d$y + 0.5 * rnorm(n), c(-Inf, 0, 0.5, 1, Inf), letters[1:4])
inputs <- paste0("X", 1:5)
plain <- reformulate(inputs, "y")
by_class <- reformulate(inputs, "group")

# A formula that was written where there is a large variable, as of lm().
in_function <- function(d) {
  large <- rnorm(1e6)
  sparsegp(y ~ X1 + X2, d, method = method_ep(size = 50), learn = FALSE)
}

sizes <- rbind(
  size_of_fit("full EP", sparsegp(plain, d[1:500, ], learn = FALSE)),
  size_of_fit("regression", sparsegp(plain, d, method = method_ep(size = points), learn = FALSE)),
  size_of_fit("4 classes, one-vs-rest", sparsegp(by_class, d, "probit", learn = FALSE,
                                                 method = method_ivm(size = points))),
  size_of_fit("4 classes, least squares", sparsegp(by_class, d, "squares", learn = FALSE,
                                                   basis = seq_len(points))),
  size_of_fit("formula of a function with 8 MB", in_function(d)),
  size_of_fit("by do.call(), data in the call",
              do.call(sparsegp, list(plain, d, method = method_ep(size = 50), learn = FALSE)))
)
bench_table(sizes, "Sizes of fits, MB")

follows <- function(label, rows, d, latents, shared = FALSE) {
  triangle <- d * (d + 1) / 2
  bases <- if (shared) 1 else latents
  data.frame(fit = label, rows, points = d,
             MB = 8e-6 * (latents * (triangle + 7 * rows) + triangle * bases),
             before = 8e-6 * (2 * d^2 * (latents + bases) + 7 * rows * latents))
}
bench_table(rbind(
  follows(paste(classes, "classes, points of their own"), 14000, 1183, classes),
  follows(paste(classes, "classes, shared points"), 14000, 500, classes, shared = TRUE),
  follows("regression", 50000, 2828, 1)
), "What follows for large fits, MB")
write_tables()
