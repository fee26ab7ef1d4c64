/* sparsegp.h: likelihoods and stationary kernels in C, from another package.
 *
 * A package has `LinkingTo: sparsegp` in its DESCRIPTION, includes this header, fills in a struct
 * for each likelihood or kernel, and registers a function that returns it, under its name with
 * SPARSEGP_PREFIX before it:
 *
 *     static const sparsegp_kernel CAUCHY = {SPARSEGP_KERNEL_HEAD, value, slope, 0};
 *     static const void *cauchy(void) { return &CAUCHY; }
 *     ...
 *     R_RegisterCCallable("mypackage", SPARSEGP_PREFIX "cauchy", (DL_FUNC) cauchy);
 *
 * the last in R_init_mypackage(). In R it is kernel_extension("mypackage", "cauchy"), or
 * lik_extension(). The struct has to last as long as the package is loaded: make it a constant.
 *
 * Of a package that does not link to sparsegp nothing is loaded, and no function whose name is
 * without the prefix is called. What a function returns is used if it begins with the magic number,
 * is of this version and has the functions that are required; this is checked at every call.
 *
 * The functions are called from several threads at once: they write to their results alone, keep
 * nothing, and call nothing of R that can warn, jump, allocate or draw random numbers. NaN goes in
 * and has to come out as NaN. */
#ifndef SPARSEGP_H
#define SPARSEGP_H

#define SPARSEGP_VERSION 2 /* of the two structs; it changes whenever one of them does */
#define SPARSEGP_PREFIX "sparsegp_" /* of names that functions are registered by */
#define SPARSEGP_MAGIC 0x7370617273656770ULL /* "sparsegp": what both structs begin with */

enum { SPARSEGP_LIKELIHOOD = 1, SPARSEGP_KERNEL = 2 };

#define SPARSEGP_MAX_PAR 16 /* hyperparameters of a likelihood */

/* The first three members of a struct */
#define SPARSEGP_LIKELIHOOD_HEAD SPARSEGP_MAGIC, SPARSEGP_VERSION, SPARSEGP_LIKELIHOOD
#define SPARSEGP_KERNEL_HEAD SPARSEGP_MAGIC, SPARSEGP_VERSION, SPARSEGP_KERNEL

/* A stationary kernel, variance * k(r2), of the squared distance r2 of two points after each input
 * was divided by its length scale. Distances, length scales, variance and factors are sparsegp's.
 * n squared distances at once; results may overwrite r2, which may be infinite.
 *   value   k(r2), with k(0) = 1: a covariance in any number of dimensions
 *   slope   dk/dr2; where it is infinite at 0 return 0
 *   dshape  dk/dlog(shape) of kernels with a shape > 0, a hyperparameter of k; NULL: there is none,
 *           and shape is 0 */
typedef struct {
    unsigned long long magic; /* SPARSEGP_MAGIC */
    int version;              /* SPARSEGP_VERSION */
    int what;                 /* SPARSEGP_KERNEL */
    void (*value)(int n, const double *r2, double shape, double *out);
    void (*slope)(int n, const double *r2, double shape, double *out);
    void (*dshape)(int n, const double *r2, double shape, double *out);
} sparsegp_kernel;

/* A likelihood p(y|f) of one response and one latent value f. theta[npar]: the hyperparameters as
 * they are searched, logarithms of those that lik_extension() calls positive. A response of numbers
 * comes in units of its standard deviation, less its mean.
 *   logp      log p(y|f[i]) for n values of f: finite for valid y and finite f. Required
 *   moments   mean and variance of a new response given f. Required
 *   locate    where in f the likelihood does its work (its mode or transition) and on what scale;
 *             with y NULL, where moments() does. Required
 *   slopes    first and second derivative of log p in f, into out[2]. NULL: differences of logp,
 *             and the slower adaptive quadrature. Required of kinked ones
 *   tails     P(Y <= y) and P(Y > y) of a new response under f ~ N(mu, s2), into out[2], for
 *             quantiles; on R's own thread. NULL: there are no quantiles
 *   tilt      log Z = log E p(y|f) under N(mu, s2), and its first and second derivative in mu, into
 *             out[3]. NULL: quadrature of logp
 *   tilt_dpar adds d log Z / d theta to dpar[npar]. NULL: quadrature
 *   predict   mean and variance of a new response under N(mu, s2). NULL: quadrature of moments */
typedef struct {
    unsigned long long magic; /* SPARSEGP_MAGIC */
    int version;              /* SPARSEGP_VERSION */
    int what;                 /* SPARSEGP_LIKELIHOOD */
    int npar;                 /* hyperparameters, at most SPARSEGP_MAX_PAR */
    int concave;              /* is log p concave in f? */
    int kinked;               /* has log p a corner or a jump at locate()'s centre? */
    void (*logp)(const double *theta, double y, int n, const double *f, double *out);
    void (*moments)(const double *theta, double f, double *mean, double *var);
    void (*locate)(const double *theta, const double *y, double *centre, double *width);
    void (*slopes)(const double *theta, double y, double f, double *out);
    void (*tails)(const double *theta, double y, double mu, double s2, double *out);
    void (*tilt)(const double *theta, double y, double mu, double s2, double *out);
    void (*tilt_dpar)(const double *theta, double y, double mu, double s2, double *dpar);
    void (*predict)(const double *theta, double mu, double s2, double *mean, double *var);
} sparsegp_likelihood;

#endif
