/* ep_full.h: expectation propagation with every row in the basis.
 *
 * The dense matrix is B = I + T^1/2 K T^1/2 = A'A (formulas 74, 84 without an inverse of K): K may
 * be singular and is never inverted or jittered. */
#ifndef SG_EP_FULL_H
#define SG_EP_FULL_H

#include "ep_loop.h"

/* The factored posterior at the rows. Caller allocates; n^2 doubles in A. */
typedef struct {
    double *A;  /* on return A^{-1}, upper triangular; strict lower triangle undefined */
    double *rt; /* sqrt(tau) */
} sg_full_factor;

/* sg_ep_loop() for K[n x n], full symmetric. A sweep costs 2 n^3 / 3 in LAPACK. */
sg_status sg_ep_full_run(const sg_rows *rows, const double *K, const sg_ep_options *options,
                         sg_sites *sites, sg_marginals *marg, sg_full_factor *factor,
                         sg_ep_report *report, const sg_ws *ws);

#endif
