# The functions that f is a sum of up to an order k0, on p inputs of the unit interval, and the
# prior over them, K_0 / (1 + lambda):
#   inputs    how many there may be
#   count     (k0) -> how many functions there are along an input
#   seen      (u, k0) -> what the kernel sees of points u
#   kernel    (k0, p) -> for C
#   nkernel   (p) -> how many hyperparameters that has; all but the first stay 0
#   distance  (d) -> of two points that lie d apart
#   widest    least order up to which orders are averaged
WAVES <- list(
  # sines and cosines, the same at both ends
  periodic = list(
    inputs = 3L, count = function(k0) 2L * k0 + 1L, seen = function(u, k0) u,
    kernel = function(k0, p) {
      leaf <- function(j) {
        list(type = "trig", vars = j - 1L, ard = FALSE, degree = k0, parts = list())
      }
      spec_for_c(Reduce(function(first, second) {
        list(type = "product", vars = integer(), ard = FALSE, degree = 0L,
             parts = list(first, second))
      }, lapply(seq_len(p), leaf)))
    },
    nkernel = function(p) 2L * p, distance = function(d) pmin(d, 1 - d), widest = 0L
  ),
  # cosines, level at both ends, for a density that may jump there
  level = list(
    inputs = 1L, count = function(k0) k0 + 1L,
    seen = function(u, k0) {
      cbind(rep(1, nrow(u)), sqrt(2) * cos(pi * outer(u[, 1L], seq_len(k0))), deparse.level = 0L)
    },
    kernel = function(k0, p) {
      spec_for_c(list(type = "linear", vars = 0:k0, ard = FALSE, degree = 0L, parts = list()))
    },
    # half as many cosines as there are periodic functions of the same order
    nkernel = function(p) 1L, distance = identity, widest = 5L
  )
)

# Returns rows of the equispaced grid that spans the functions.
equispaced <- function(k0, p, waves) {
  count <- waves$count(k0)
  at <- (seq_len(count) - 0.5) / count
  unname(as.matrix(expand.grid(rep(list(at), p), KEEP.OUT.ATTRS = FALSE)))
}

# Returns the matrix that makes values of f at points u of its values at the basis.
wave_weights <- function(k0, u, basis, waves) {
  p <- ncol(u)
  kernel_matrix(waves$kernel(k0, p), numeric(waves$nkernel(p)), waves$seen(u, k0),
                waves$seen(basis, k0)) / nrow(basis)
}
