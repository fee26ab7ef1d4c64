/* posterior.h: the stored form of every fit, and prediction from it.
 *
 *   mean(x) = k(x)' alpha,   var(x) = max(K(x,x) - |G'k(x)|^2, d eps K(x,x)) + |H'k(x)|^2
 *
 * with k(x) the kernel between x and the basis of d points and eps the rounding unit. Where the
 * coefficients c of a linear mean are integrated out (full_trend.h), phi(x)'E c is added to the
 * mean, and |u(x)|^2 to the variance,
 *   u(x) = L^{-T} phi(x) - J'k(x).
 * Several classes on one basis have an alpha and an H each, or one H for all where their sites are
 * as precise; G is R^{-1} of the basis for all, or one each. Nothing here asks which method made
 * the fit. */
#ifndef SG_POSTERIOR_H
#define SG_POSTERIOR_H

#include "kernel.h"

/* A linear mean of q functions, which phi[points x q] has at the points to be predicted. */
typedef struct {
    int q;
    const double *phi;
    const double *coef, *J, *root; /* of each process: E c[q], J[d x q] and L^{-1}[q x q] */
} sg_posterior_trend;

typedef struct {
    const sg_kernel *kernel;
    int d;               /* basis size */
    const double *basis; /* d x D inputs */
    int C;               /* latent functions */
    const double *alpha; /* d x C */
    int w;               /* points of a row, whose covariances are wanted, too */
    int shared, alike;   /* one G for all of them? one H? */
    const double *G, *H; /* d x d upper triangular each; either may be NULL, for zero */
    sg_posterior_trend trend; /* q = 0: there is none */
} sg_posterior;

/* mean[w n x C] and var, C n blocks of w x w, at the n rows of w points each of x[w n x D]. Rows
 * go in blocks, so the memory is O(d^2) however large n is. O(w n d^2 / 2) for each factor. */
void sg_posterior_predict(const sg_posterior *post, int n, int D, const double *x, double *mean,
                          double *var, const sg_ws *ws);

/* Adds phi'E c of process c to mean[m] and returns u[m x q] of points from .. from + m - 1, whose
 * kernel with the basis is Kx[m x d]; all: as many points as phi has. O(m d q). */
double *sg_trend_residuals(const sg_posterior *post, int c, size_t from, int m, size_t all,
                           const double *Kx, double *mean, const sg_ws *ws);

/* Writes mean[n] and turns cov[n x n], the prior's, into the posterior's, of n values or
 * derivatives whose covariances with the basis are Kx[n x d]; C = 1. O(n d^2 + n^2 d). */
void sg_posterior_condition(const sg_posterior *post, int n, const double *Kx, double *mean,
                            double *cov, const sg_ws *ws);

/* mean[n] and the joint covariance cov[n x n] at x[n x D], C = 1; O(n^2 d + n d^2). */
void sg_posterior_joint(const sg_posterior *post, int n, const double *x, double *mean,
                        double *cov, const sg_ws *ws);

#endif
