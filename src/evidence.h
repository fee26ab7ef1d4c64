/* evidence.h: gradients of the log evidence. */
#ifndef SG_EVIDENCE_H
#define SG_EVIDENCE_H

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

#endif
