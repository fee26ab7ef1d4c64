/* ivm_criterion.h: what the informative vector machine learns by (IVM paper, 3.3 and appendix
 * C.2): log Q(D|theta) = -phi from an active set I with its sites, over the rows J~ that are read.
 * Rows of J~ that are not in I count by the density their label has under the posterior of I. */
#ifndef SG_IVM_CRITERION_H
#define SG_IVM_CRITERION_H

#include "kernel.h"
#include "sites.h"

typedef struct {
    int d;
    const int *active;  /* d: the rows I in order of inclusion, from 0 */
    double *tau, *nu;   /* d: their sites */
    int m;
    const int *at_hand; /* m: the rows J~, each once, those of I among them */
} sg_ivm_set;

/* The sites as a mapping of theta (paper 3.3): rows of I included in their order, each tilted at
 * its marginal under those before it, at the theta that kernel and rows->lik carry. Overwrites
 * set->tau, set->nu. x[n x p]. Precondition: d >= 1. Returns SG_NO_SITE when a tilt has no site,
 * or one without a positive precision (SG_NO_SITE_SHARE): such a row cannot be included. O(d^2 p +
 * d^3 / 3). */
sg_status sg_ivm_sites(const sg_kernel *kernel, const sg_rows *rows, int p, const double *x,
                       sg_ivm_set *set, const sg_ws *ws);

/* logq = -phi at the given sites (eq. 11):
 *   sum_{i in J~} (log Z_i - log(g_i)/2 - cav_mean_i v_i / 2) - log|U|,
 * where U'U = B = I + Pi^1/2 K_I Pi^1/2, v = K_I^{-1} h_I and g_i = 1 - tau_i a_i on I, 0 and 1
 * elsewhere. Unless dkernel is NULL the gradient, exact when the sites are held fixed, is added to
 * dkernel and dlik. With rho = (d1 - v)/g, t = (rho^2 + (d2 + tau g)/g^2)/2, W = Pi^1/2 B^{-1}
 * Pi^1/2 and E = K_{J~,I} W (paper: e1, -E2, E1) its weights are (eq. 14)
 *   of K_{J~,I}:  rho v' - 2 diag(t) E
 *   of K_I:       E' diag(t) E - W/2 - (E' rho - v/2) v'
 *   of K_ii:      t_i,
 * and those of the likelihood sum_i dlogZ_i / dtheta at the cavities (eq. 12). Preconditions: d >=
 * 1, tau > 0, rows->gamma NULL. x[n x p]. Returns SG_NOT_PD or SG_NOT_FINITE. Rows go in blocks: n
 * ints, O(d^2 + block (d + p)) doubles; (2 or, with the gradient, 5) m d^2 and the kernel's m d p,
 * all but m tilts in level 3. */
sg_status sg_ivm_criterion(const sg_kernel *kernel, const sg_rows *rows, int p, const double *x,
                           const sg_ivm_set *set, double *logq, double *dkernel, double *dlik,
                           const sg_ws *ws);

#endif
