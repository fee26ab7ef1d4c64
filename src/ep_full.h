/* ep_full.h: expectation propagation with every row in the basis.
 *
 * The dense matrix is B = I + T^1/2 K T^1/2 = A'A (formulas 74, 84 without an inverse of K): K may
 * be singular and is never inverted or jittered. */
#ifndef SG_EP_FULL_H
#define SG_EP_FULL_H

#include "ep_loop.h"

/* The factored posterior at the rows, class by class. Caller allocates; C n^2 doubles in A. */
typedef struct {
    double *A;  /* C times n x n: on return A^{-1}, upper; strict lower triangle undefined */
    double *rt; /* n x C: sqrt(tau) */
} sg_full_factor;

sg_full_factor sg_full_factor_of_class(const sg_full_factor *factor, int n, int c);

/* sg_ep_loop() for K[n x n], full symmetric: the one that all classes share (kernels = 1), or one
 * after the other for each (kernels = C). A sweep costs 2 C n^3 / 3 in LAPACK. Sequential sweeps
 * for C = 1 only. */
sg_status sg_ep_full_run(const sg_rows *rows, const double *K, int kernels,
                         const sg_ep_options *options, sg_sites *sites, sg_marginals *marg,
                         sg_full_factor *factor, sg_ep_report *report, const sg_ws *ws);

#endif
