#' Maps of many observations: nearest neighbours (Vecchia approximation)
#'
#' `method_neighbours()` is for one to five numeric inputs, such as places, and a function that
#' varies so fast that thousands of inducing points (the *basis*) would be needed. The method has no
#' inducing points: each observation is modelled given its `k` nearest neighbours among the
#' observations before it (Vecchia 1988). A fit takes time and memory in proportion to the number of
#' observations.
#'
#' @param k Number of nearest neighbours; whole number of at least 1. `NULL`:
#'   `r policy$usual_neighbours[1]`, or `r policy$usual_neighbours[2]` if the noise is not Gaussian
#'   and the kernel reads three inputs or more. Results approach those of [method_ep()] with all
#'   observations as it grows, and are these for one less than the number of observations. Time
#'   grows as its cube.
#' @param sweeps,damping,mixing,tol Settings of EP, with the ranges and units of [method_markov()];
#'   they do not matter with Gaussian noise.
#' @param power Power of the likelihood terms (power EP), see [method_ep()].
#' @return A value of class `sparsegp_method`. Errors are of class `sparsegp_error`.
#' @details *Gaussian noise.* Observations are put into an order in which each is as far as can be
#' from those before it (maximin; Guinness 2018), and neighbours are nearest in units of the length
#' scales. The density of all responses is the product of that of each given its neighbours. It has
#' an exact gradient; with more than `r policy$neighbour_rows` observations, only so many of these
#' factors are used while hyperparameters are learned. Neighbours are searched again where learning
#' has moved a ratio of length scales by more than `r policy$neighbour_drift` (in logarithms). The
#' coefficients of a mean are integrated out, by generalised least squares with the same factors.
#'
#' Predictions and the leave-one-out values of [loo()] are by the latent values, as for other
#' likelihoods below: the sites are known, so one sparse factor has the posterior of all
#' observations, and no sweep is needed. Compared with [method_ep()] with all observations,
#' predictions of 1000 observations in two inputs then differ by 0.02 posterior standard deviations
#' (root mean square) by 20 neighbours, and by 0.1 by 10. If that factor would have more than
#' `r policy$known_factor / 1e6` million numbers (100 MB; some 18 000 observations with 20
#' neighbours, and 33 000 with 10), or if the noise is nearly 0, each prediction is given the
#' responses of `k + 1` observations instead, and each leave-one-out value of `k` others. These are
#' chosen among near observations and some that are farther away on all sides, one after another:
#' each takes off the most of the variance that those before it leave (forward selection). So of
#' observations that nearly coincide one is enough, and a place between clusters is given several of
#' them. Where the noise is strong and the function smooth, `k` responses average out less of the
#' noise than all do: the differences are 0.15 standard deviations by 20 neighbours, 0.3 by 10, and
#' 1 or more within clusters of hundreds of observations. Intervals allow for it.
#'
#' Joint covariances, as of `predict(covariance = TRUE)`, `draws()` and `simulate()`, are of at most
#' `r MOST_JOINT_NEIGHBOURS` points, those with slopes of half as many: each point is given such
#' observations and the `k` nearest of the points before it.
#'
#' *Other likelihoods of one latent function*: counts, two labels, outliers and so on. The prior of
#' the latent values is that of each given `k` of those before it, which are chosen as above among
#' the `r NODE_CANDIDATES` `k` nearest. Its precision matrix is sparse, and so is that of the
#' posterior under EP's sites. Package Matrix (CHOLMOD) factors it in every sweep, and the recursion
#' of Takahashi (1973) has the marginals that cavities need. With many observations the first sweeps
#' are by the `r FEW_NEIGHBOURS` nearest neighbours, whose factor is small. No EP on such a prior
#' seems to be published; Zilber and Katzfuss (2021) have the Laplace approximation. A prediction is
#' given the values of `r NODES_GIVEN` (`k` + 1) observations, chosen as above, with their joint
#' posterior. Hyperparameters are first learned from at most `r policy$neighbour_sites`
#' observations: all, windows of neighbouring ones if the function varies fast, or else ones that
#' are spread evenly. If there are more, Newton's method continues by the evidence of all, with at
#' most `r policy$newton_rounds` evaluations: its gradient is exact, and its curvature that of the
#' first ones in proportion to the number of observations, corrected by the gradients (BFGS). The
#' part of an observation's variance that its neighbours leave open counts as at least
#' `r format(LEAST_CONDITIONAL)` of it, so EP converges where places nearly coincide. Compared with
#' [method_ep()] with all of 2000 observations in two inputs, spread evenly, in clusters or in pairs
#' that nearly coincide, probabilities by 20 neighbours differ by at most 0.01 and log evidence by
#' 0.3. By 10 neighbours, the default where `method` is left out, these are 0.03 and 1.5. In three
#' inputs they are 0.01 and 0.4 by 40 neighbours, and 0.02 and 1.1 by 20; by 40 a fit of 4000 labels
#' takes three times as long. With 20 neighbours and two inputs a factor has 300 to 900 numbers an
#' observation; with more inputs it has many more.
#'
#' A [row_source()] is read once, and its rows are held in memory.
#'
#' `update(fit, newdata)` takes more observations at the same hyperparameters; the result is the fit
#' of all of them.
#'
#' Neighbours are near by the kernel: a stationary kernel ([kernel_rbf()],
#' [kernel_matern12()], [kernel_matern32()], [kernel_matern52()], [kernel_rq()]), a product of such,
#' or sums of these of the same inputs, with linear, polynomial and constant parts besides.
#'
#' The method does not support several latent functions, as of components or classes, factors,
#' periodic kernels and sums of kernels of different inputs, `basis`, `augment`, transforms with a
#' parameter that is learned, effects of parts of a kernel, and merging of fits; these are errors.
#' @references Vecchia, A. V. (1988). Estimation and model identification for continuous spatial
#'   processes. *Journal of the Royal Statistical Society B* 50, 297-312. Guinness, J. (2018).
#'   Permutation and grouping methods for sharpening Gaussian process approximations.
#'   *Technometrics* 60, 415-429. Guinness, J. (2021). Gaussian process learning via Fisher scoring
#'   of Vecchia's approximation. *Statistics and Computing* 31, 25. Katzfuss, M. and Guinness, J.
#'   (2021). A general framework for Vecchia approximations of Gaussian processes. *Statistical
#'   Science* 36, 124-141. Zilber, D. and Katzfuss, M. (2021). Vecchia-Laplace approximations of
#'   generalized Gaussian processes for big non-Gaussian spatial data. *Computational Statistics and
#'   Data Analysis* 153, 107081. Takahashi, K., Fagan, J. and Chen, M. (1973). Formation of a sparse
#'   bus impedance matrix. *Power Industry Computer Application Conference*.
#' @seealso [fit_methods] for the others.
#' @concept kriging
#' @concept spatial statistics
#' @concept nearest-neighbour Gaussian process
#' @concept NNGP
#' @concept maps
#' @concept Vecchia approximation
#' @examples
#' set.seed(1)
#' d <- data.frame(lon = runif(3000), lat = runif(3000))
#' d$z <- sin(30 * d$lon) * cos(40 * d$lat) + 0.2 * rnorm(3000)
#' fit <- sparsegp(z ~ lon + lat, d, kernel = kernel_matern32(lengthscale = 0.3),
#'                 method = method_neighbours(k = 15), learn = FALSE)
#' fit
#' predict(fit, data.frame(lon = 0.5, lat = c(0.2, 0.3)), interval = "confidence")
#' @export
method_neighbours <- function(k = NULL, sweeps = 200, damping = 1, mixing = 3, tol = 1e-6,
                              power = 1) {
  new_method("neighbours", "nearest neighbours", list(
    k = if (!is.null(k)) check_count(k, "k"), sweeps = check_count(sweeps, "sweeps"),
    damping = check_damping(damping), mixing = check_count(mixing, "mixing", 0L, MOST_MIXED),
    tol = check_number(tol, "tol", 0), power = check_power(power)
  ))
}

# Returns the fewest neighbours that a fit by the method may have (usual_neighbours()).
fewest_neighbours <- function(method) method$k %||% min(policy$usual_neighbours)

# Does a method hold all rows of a source in memory?
holds_rows <- function(method) inherits(method, "method_neighbours")
