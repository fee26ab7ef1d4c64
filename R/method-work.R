# What EP costs, in multiplications and never in seconds: the same rows give the same fit on any
# machine.

# What a user's word for effort multiplies.
EFFORT <- c(quick = 1 / 8, normal = 1, thorough = 8)

FULL_WORK <- 3.4e9 # most for full EP: 1500 rows with Gaussian noise

SWEEPS <- 8 # of sites that are not the likelihood itself

# Factorisations for each evaluation of the evidence.
dearness <- function(lik, processes) {
  processes * if (lik_traits(lik)$exact) 1 else SWEEPS
}

# As many rows as full EP can have for so much work.
rows_of_work <- function(work, lik, processes) {
  as.integer(round((work / dearness(lik, processes))^(1 / 3)))
}

# As many points as n rows can have.
points_of_work <- function(work, n, lik, processes) sqrt(work / (n * dearness(lik, processes)))

# Is full EP of n rows more than a default method takes upon itself?
too_dear <- function(method, lik, n, processes) {
  n > rows_of_work(FULL_WORK * EFFORT[[method$effort]], lik, processes)
}

# Multiplications of a run of EP, about; n x d matrices take longer than factors of n x n.
run_work <- function(n, points, lik, processes) {
  as.double(n) * points^2 * dearness(lik, processes) * if (points < n) OUTSIDE else 1
}

OUTSIDE <- 3
