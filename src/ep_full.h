/* ep_full.h: expectation propagation with every row in the basis.
 *
 * The dense matrix is B = I + T^1/2 K T^1/2 = A'A (formulas 74, 84 without an inverse of K): K may
 * be singular and is never inverted or jittered. */
#ifndef SG_EP_FULL_H
#define SG_EP_FULL_H

#include "sites.h"

typedef struct {
    int sweeps;     /* most sweeps */
    int batch;      /* sweeps before the sequential fall-back takes over */
    double damping; /* share of a batch step taken at first, in (0, 1] */
    double tol;     /* convergence: sg_sites_residual() at most this */
} sg_ep_options;

enum { SG_TRACE = 1000 }; /* sweeps that are traced */

typedef struct {
    int sweeps;     /* done */
    int converged;
    int damped;     /* batch sweeps with a step below options.damping */
    int sequential; /* sequential sweeps */
    int skipped;    /* site updates refused, over all sweeps */
    double change;  /* last residual */
    double logz;    /* log evidence at the returned sites */
    double *trace;  /* [2 x SG_TRACE]: log evidence and residual of each of the first sweeps */
} sg_ep_report;

/* The factored posterior at the rows. Caller allocates; n^2 doubles in A. */
typedef struct {
    double *A;  /* on return A^{-1}, upper triangular; strict lower triangle undefined */
    double *rt; /* sqrt(tau) */
    double log_det; /* log|A| */
} sg_full_factor;

/* Runs EP from the sites given (zeros: from scratch). K[n x n] full symmetric. On return the sites,
 * marginals, factor and report belong together. A sweep costs 2 n^3 / 3 in LAPACK. A status other
 * than SG_OK means that the sites given, or K, led to numbers that are not finite. */
sg_status sg_ep_full_run(const sg_rows *rows, const double *K, const sg_ep_options *options,
                         sg_sites *sites, sg_marginals *marg, sg_full_factor *factor,
                         sg_ep_report *report, const sg_ws *ws);

#endif
