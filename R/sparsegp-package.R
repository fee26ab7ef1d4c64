#' sparsegp: Gaussian processes with honest error bars
#'
#' @description Start with `fit <- sparsegp(y ~ x + z, data)`. The response determines the kind of
#' model, the data everything else. The next steps are
#'
#' * plot: `plot(fit)`, `plot(fit, "x")`, see [plot][plot.sparsegp];
#' * predict: `predict(fit, new, interval = "prediction")`, see [predict][predict.sparsegp];
#' * check: `summary(fit)`, `plot(fit, type = "residuals")`, [loo()], [calibration()];
#' * change: `update(fit, kernel = )`, and [compare()] the two fits.
#'
#' @details
#' A model is built from four kinds of objects: [kernels] for the function (smooth, rough, periodic,
#' sums of effects, groups), [likelihoods] for the response (counts, classes, outliers),
#' [fit_methods] for the computation (all observations, a set of inducing points (the *basis*), a
#' stream), and [priors] for the hyperparameters.
#'
#' `vignette("sparsegp")` leads from a formula to error bars, `vignette("defaults")` describes
#' default fits and their accuracy, `vignette("coming-from")` is for users of `lm()`, `gam()` or
#' `brm()`, `vignette("cheatsheet")` is a summary on one page, and `vignette("glossary")` explains
#' the terms. `vignette("trust")` is about checking a fit, `"likelihoods"` about kinds of responses,
#' `"computed"` about the algorithms, and `"time-series"`, `"groups"`, `"large-data"` and
#' `"streaming"` about these subjects. Articles of the website (`vignettes/articles/` of the
#' sources) add maps, several classes, informative inducing points, currents and
#' winds, design of experiments, and the figures of the papers.
#'
#' @section Notation:
#' Arguments have words; formulas have these letters, as the papers do.
#'
#' | symbol | meaning |
#' |---|---|
#' | \eqn{u}{u} | latent function at a row, a Gaussian process |
#' | \eqn{\mu, s^2}{mu, s2} | mean and variance of a Gaussian marginal of \eqn{u}{u} |
#' | \eqn{\log Z, d_1, d_2}{logz, d1, d2} | \eqn{\log E\,p(y|u)}{log E p(y|u)} under that marginal, and its two derivatives in \eqn{\mu}{mu} |
#' | \eqn{\tau, \nu}{tau, nu} | site of a row: the factor \eqn{\exp(-\tau u^2/2 + \nu u)}{exp(-tau u^2/2 + nu u)} |
#' | cavity | posterior marginal of a row without its own site |
#' | \eqn{K}{K} | kernel (covariance) matrix |
#' | \eqn{\alpha}{alpha} | weights of the posterior mean, \eqn{k(x)'\alpha}{k(x)' alpha} |
#' | \eqn{A}{A} | Cholesky factor of \eqn{I + T^{1/2} K T^{1/2}}{I + T^(1/2) K T^(1/2)}, \eqn{T = diag(\tau)}{T = diag(tau)} |
#' | \eqn{B, R}{B, R} | basis, and the Cholesky factor of its kernel matrix, \eqn{K_B = R'R}{K_B = R'R} |
#' | \eqn{z \sim N(a, M)}{z ~ N(a, M)} | posterior of the part a basis carries, \eqn{v(x)'z}{v(x)'z} with \eqn{v = R^{-T}k(x)}{v = R^-T k(x)}; a priori \eqn{N(0, I)}{N(0, I)} |
#' | \eqn{S, t}{S, t} | sums of \eqn{\tau v v'}{tau v v'} and \eqn{\nu v}{nu v} over rows: \eqn{M = (I + S)^{-1}}{M = (I + S)^-1}, \eqn{a = Mt}{a = M t} |
#' | \eqn{E, Q}{E, Q} | \eqn{R^{-1} M R^{-T}}{R^-1 M R^-T} (thesis: C + Q) and \eqn{K_B^{-1}}{K_B^-1} |
#' | \eqn{V, \gamma}{V, gamma} | rows projected on the basis, \eqn{V = K_{nB} R^{-1}}{V = K_nB R^-1}, and the variance it leaves |
#' | \eqn{G, H}{G, H} | stored factors: \eqn{var(x) = K(x,x) - |G'k(x)|^2 + |H'k(x)|^2}{var(x) = K(x,x) - |G'k(x)|^2 + |H'k(x)|^2} |
#' | \eqn{n, p, d}{n, p, d} | rows, inputs, basis size |
#'
#' @section Threads:
#' If R is built with OpenMP, independent computations that take more than a third of a millisecond
#' use two threads: tilts and scores of rows, columns of kernel matrices, sums over rows, blocks of
#' rows of a prediction. Otherwise, and on Windows, everything runs in the thread of R.
#' `options(sparsegp.threads = 4)` sets another number, `1` no further thread; the environment
#' variables `OMP_THREAD_LIMIT` and, unless the option is set, `OMP_NUM_THREADS` bound it. Results
#' are the same, bit for bit, for any number of threads. Waiting threads sleep, and on a busy
#' machine short loops run without them for a while.
#'
#' Matrix products use the BLAS. Loops that consist mostly of matrix products use threads only if
#' the BLAS is not threaded: R's own or the reference BLAS, or OpenBLAS, BLIS or MKL with
#' `OPENBLAS_NUM_THREADS=1` and the like. An OpenBLAS that was built without threads (Debian's
#' `libopenblas0-serial`) returns wrong numbers if two threads call it at a time, so with it
#' everything runs in the thread of R. Processes forked by [parallel::mclapply()] use one thread
#' each.
#'
#' @references Minka, T. P. (2001). *A family of algorithms for approximate Bayesian inference*. PhD
#'   thesis, Massachusetts Institute of Technology.
#'
#' Seeger, M. (2002). *Notes on Minka's expectation propagation for Gaussian process
#' classification*. Technical report, University of Edinburgh.
#'
#' Csató, L. (2002). *Gaussian Processes -- Iterative Sparse Approximations*. PhD thesis, Aston
#' University.
#'
#' Seeger, M., Lawrence, N. D. and Herbrich, R. *Efficient Nonparametric Bayesian Modelling with
#' Sparse Gaussian Process Approximations*.
#'
#' @useDynLib sparsegp, .registration = TRUE
#' @importFrom stats AIC BIC coef fitted formula logLik model.frame model.matrix nobs predict
#'   residuals sd simulate update
#' @importFrom graphics axis box contour lines par plot points polygon rect segments text title
#' @name sparsegp-package
#' @docType package
NULL
