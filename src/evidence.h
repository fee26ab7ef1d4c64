/* evidence.h: gradients of the log evidence. */
#ifndef SG_EVIDENCE_H
#define SG_EVIDENCE_H

#include "ep_batch.h"
#include "ep_full.h"
#include "kernel.h"

/* Adds the gradient of full EP's log evidence at a fixed point to dkernel and dlik. The sites may
 * be held fixed there (the evidence is stationary in them), so
 *   Kbar = (alpha alpha' - T^1/2 B^{-1} T^1/2) / 2   goes to the kernel's adjoint, and
 *   dlik = sum_i dlogZ_i / dtheta at the cavities.
 * Kbar[n x n] is work space. n^3/3 in LAPACK plus one adjoint. */
void sg_evidence_gradient_full(const sg_rows *rows, const sg_kernel *kernel, const double *x,
                               const double *K, const sg_marginals *marg,
                               const sg_full_factor *factor, double *Kbar, double *dkernel,
                               double *dlik, const sg_ws *ws);

/* The same on a frozen basis (x[n x D], basis[d x D]). With rho = d1, t = d1^2 + d2, T = diag(tau),
 * B = A'A, P = V R^{-T} and q = P'rho, the weights of K_nB and of K_B are
 *   G  = rho q' - T V B^{-1} R^{-T} - diag(t) P
 *   G0 = -(q q' + R^{-1} (B^{-1} - I) R^{-T} - P' diag(t) P) / 2,
 * and t / 2 those of the prior variances K(x_i, x_i). O(n d^2). */
void sg_evidence_gradient_basis(const sg_rows *rows, const sg_kernel *kernel, const double *x,
                                const double *basis, const sg_basis_rows *b,
                                const sg_sites *sites, const sg_marginals *marg,
                                const sg_batch_factor *factor, double *dkernel, double *dlik,
                                const sg_ws *ws);

#endif
