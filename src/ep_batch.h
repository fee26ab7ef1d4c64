/* ep_batch.h: expectation propagation of all rows on a frozen basis (EP-FITC).
 *
 * The latent function is split into the part a basis B of d points carries and a residual:
 *   u = v'w + residual,  v = R^{-T} k(x),  w ~ N(0, I) a priori,
 *   residual variance gamma = K(x,x) - |v|^2, K_B = R'R.
 * A site is on the carried part v'w; gamma joins the cavity's variance when the likelihood is
 * asked. Fixed point and evidence are those of dense EP with K_nB K_B^{-1} K_Bn + diag(gamma). */
#ifndef SG_EP_BATCH_H
#define SG_EP_BATCH_H

#include "ep_loop.h"
#include "kernel.h"

/* The rows seen through a basis. */
typedef struct {
    int n, d;
    double *KB, *KnB; /* d x d, n x d */
    double *Rinv;     /* d x d upper: inverse of the factor of K_B + jitter diag(K_B) */
    double *V;        /* n x d */
    double *gamma;    /* n, >= 0 */
    double jitter;    /* relative to K_B's diagonal; 0 unless K_B could not be factored without */
} sg_basis_rows;

/* Kernel matrices, factor and residuals for x[n x D] and basis[d x D]. O(n d^2). SG_NOT_PD when
 * even a jitter of 1e-6 does not help. */
sg_status sg_basis_rows_new(const sg_kernel *kernel, int n, const double *x, int d,
                            const double *basis, sg_basis_rows *b, const sg_ws *ws);

/* The posterior of w: N(m, (A'A)^{-1}), A'A = I + V' diag(tau) V. Caller allocates. */
typedef struct {
    double *A; /* d x d; on return A^{-1}, upper triangular; strict lower triangle undefined */
    double *m; /* d */
} sg_batch_factor;

/* sg_ep_loop() on the basis. rows->gamma is b->gamma. Marginals are of the carried part. A sweep is
 * one dsyrk and one dtrmm of n x d, O(n d^2). */
sg_status sg_ep_batch_run(const sg_rows *rows, const sg_basis_rows *b,
                          const sg_ep_options *options, sg_sites *sites, sg_marginals *marg,
                          sg_batch_factor *factor, sg_ep_report *report, const sg_ws *ws);

#endif
