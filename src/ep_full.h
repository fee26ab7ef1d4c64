/* ep_full.h: expectation propagation with every row in the basis.
 *
 * The dense matrix is B = I + T^1/2 K T^1/2 = A'A (formulas 74, 84 without an inverse of K): K may
 * be singular and is never inverted or jittered. Sites of negative precision (likelihoods that are
 * not log-concave) turn it into B = S + |T|^1/2 K |T|^1/2 = A'SA, S = diag(1 .. 1, -1 .. -1), the
 * rows in an order in which these sites stand last; all else is as it was:
 *   Sigma = K - K W K,   W = |T|^1/2 B^{-1} |T|^1/2,   B^{-1} = A^{-1} S A^{-T}. */
#ifndef SG_EP_FULL_H
#define SG_EP_FULL_H

#include "ep_loop.h"

/* The factored posterior at the rows, class by class. Caller allocates; C n^2 doubles in A. */
typedef struct {
    double *A;  /* C times n x n: on return A^{-1}, upper; strict lower triangle undefined */
    double *rt; /* n x C: sqrt|tau|, in the order of A */
    int *order; /* n x C: the row of K that each row of A belongs to, from 0 */
    int *plain; /* C: the sites that stand first, of no negative precision */
} sg_full_factor;

/* A is the caller's. */
sg_full_factor sg_full_factor_new(int n, int C, double *A, const sg_ws *ws);
sg_full_factor sg_full_factor_of_class(const sg_full_factor *factor, int n, int c);

/* sg_ep_loop() for K[n x n], full symmetric: the one that all classes share (kernels = 1), or one
 * after the other for each (kernels = C). A sweep costs 2 C n^3 / 3 in LAPACK. Sequential sweeps
 * for C = 1 only. */
sg_status sg_ep_full_run(const sg_rows *rows, const double *K, int kernels,
                         const sg_ep_options *options, sg_sites *sites, sg_marginals *marg,
                         sg_full_factor *factor, sg_ep_report *report, const sg_ws *ws);

#endif
