/* evidence.h: gradients of the log evidence.
 *
 * At a fixed point the evidence is stationary in the sites, which may be held fixed there.
 * Processes that share a kernel share its gradient; with a kernel each, dkernel holds theirs one
 * after the other. That of the likelihood's hyperparameters is sum_i dlogZ_i / dtheta at the
 * cavities (sg_tilt_rows_dpar()). */
#ifndef SG_EVIDENCE_H
#define SG_EVIDENCE_H

#include "ep_batch.h"
#include "ep_full.h"
#include "ep_markov.h"
#include "kernel.h"

/* Adds the gradient of full EP's log evidence at a fixed point to dkernel; kernels[count] and K as
 * sg_ep_full_run() had them. Each process adds
 *   Kbar = (alpha alpha' - W) / 2,   W = |T|^1/2 B^{-1} |T|^1/2
 * to what goes to its kernel's adjoint; with w > 1 turned back, Kbar = U (..) U'. Kbar[N x N] is
 * work space. C N^3/3 in LAPACK (2 N^2 more for every site of negative precision) plus one adjoint
 * for each kernel. */
void sg_evidence_gradient_full(sg_layout layout, int count, const sg_kernel *const *kernels,
                               const double *x, const double *K, const sg_marginals *marg,
                               const sg_full_factor *factor, double *Kbar, double *dkernel,
                               const sg_ws *ws);

/* The same for Markov processes as sg_ep_markov_run() left them, C of them of kernels[count].
 * O(C n m^2), and for a linear mean of q functions O(C n m^2 q). */
void sg_evidence_gradient_markov(const sg_markov_path *path, const sg_markov_process *processes,
                                 int C, int count, const sg_kernel *const *kernels,
                                 double *dkernel, const sg_ws *ws);

/* The same on frozen bases, as a fold over windows of rows. With rho = d1, t = d1 d1' + d2 and T in
 * blocks, B = A'A, P = V R^{-T} and q = P'alpha = R^{-1} m, each process adds to the weights of
 * K_nB and of K_B
 *   G  = rho q' - T V B^{-1} R^{-T} - t P
 *   G0 = -(q q' + R^{-1} (B^{-1} - I) R^{-T} - P' t P) / 2,
 * and t / 2 to those of the prior blocks K_ii. All but the first two terms of G0 are sums over
 * rows: a window's part needs no other row. The same weights give the gradient in the inputs of the
 * points: with k_2 the derivative in the second argument, point j gains
 *   sum_i G_ij k_2(x_i, z_j) + sum_i (G0 + G0')_ij k_2(z_i, z_j). */
typedef struct {
    const sg_bases *bases;
    double **BR; /* C: B^{-1} R^{-T}, d x d */
    double **q; /* C: d */
    double **N; /* count: sum of V' t V over the rows so far, d x d */
    double *dkernel; /* of all kernels */
    double **dbasis; /* count: gradients in the points, as `basis` of each; NULL: not wanted */
    const sg_ws *ws;
} sg_basis_adjoint;

/* For the posterior of `factor`; spent: may its A^{-1} be overwritten? What is to come is added to
 * dkernel, and to dbasis where the caller sets it. O(C d^3), and for dbasis O(n w d D) besides in
 * all windows. */
sg_basis_adjoint sg_basis_adjoint_new(const sg_bases *bases, const sg_batch_factor *factor,
                                      int spent, double *dkernel, const sg_ws *ws);

/* The part of a window (basis_rows.h). O(C m w d^2) and an adjoint of m w x d. */
void sg_basis_adjoint_window(const sg_basis_adjoint *adjoint, const sg_sites *sites,
                             const sg_marginals *marg, sg_span window);

/* Hands the sums of all windows to the adjoint of K_B, once; own: with the part that is no sum
 * over rows, once for all rows. O(C d^3) and an adjoint of K_B. */
void sg_basis_adjoint_end(const sg_basis_adjoint *adjoint, int own);

#endif
