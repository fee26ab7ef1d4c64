/* evidence.h: gradients of the log evidence.
 *
 * At a fixed point the evidence is stationary in the sites, which may be held fixed there. Classes
 * that share a kernel share its gradient; with a kernel each, dkernel holds theirs one after the
 * other. dlik = sum_i dlogZ_i / dtheta at the cavities. */
#ifndef SG_EVIDENCE_H
#define SG_EVIDENCE_H

#include "ep_batch.h"
#include "ep_full.h"
#include "kernel.h"

/* Adds the gradient of full EP's log evidence at a fixed point to dkernel and dlik; kernels[count]
 * and K as sg_ep_full_run() had them. Each class adds
 *   Kbar = (alpha alpha' - W) / 2,   W = |T|^1/2 B^{-1} |T|^1/2
 * to what goes to its kernel's adjoint. Kbar[n x n] is work space. C n^3/3 in LAPACK (2 n^2 more
 * for every site of negative precision) plus one adjoint for each kernel. */
void sg_evidence_gradient_full(const sg_rows *rows, int count, const sg_kernel *const *kernels,
                               const double *x, const double *K, const sg_marginals *marg,
                               const sg_full_factor *factor, double *Kbar, double *dkernel,
                               double *dlik, const sg_ws *ws);

/* The same on frozen bases. With rho = d1, t = d1^2 + d2, T = diag(tau), B = A'A, P = V R^{-T} and
 * q = P'rho, each class adds to the weights of K_nB and of K_B
 *   G  = rho q' - T V B^{-1} R^{-T} - diag(t) P
 *   G0 = -(q q' + R^{-1} (B^{-1} - I) R^{-T} - P' diag(t) P) / 2,
 * and t / 2 to those of the prior variances K(x_i, x_i). Rows go in blocks. O(C n d^2). */
void sg_evidence_gradient_basis(const sg_rows *rows, const sg_bases *bases,
                                const sg_sites *sites, const sg_marginals *marg,
                                const sg_batch_factor *factor, double *dkernel, double *dlik,
                                const sg_ws *ws);

#endif
