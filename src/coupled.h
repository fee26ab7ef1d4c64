/* coupled.h: site shifts of several classes from one Newton step for all of them.
 *
 * Likelihoods of classes do not notice when the latent functions of all classes move by the same
 * amount, but a site sees one latent value and takes the others for fixed: sweeps follow such a
 * move without resisting it, and need hundreds. Here the sites' shifts come from the means of the
 * Newton step that knows the coupling. With K the prior covariance of all latent values, alpha =
 * K^{-1} mean, r = d1 - alpha, and W the precision of a row's likelihood without its cavity,
 *   (I + W K) dalpha = r + W cav_var r,   dmean = K dalpha.
 * W is C x C in each row and has the sites' precisions as its diagonal and W 1 = 0; of such
 * matrices it is taken as D - D 1 1'D / 1'D1, D diagonal, which is W itself for softmax, and for
 * any likelihood when C <= 3. Fixed points do not depend on it. */
#ifndef SG_COUPLED_H
#define SG_COUPLED_H

#include "sites.h"

/* out = (K^{-1} + T)^{-1} x over latent values, at the sites of the moment. */
typedef void (*sg_covariance)(void *self, const double *x, double *out);

typedef struct {
    double *D, *sum;                 /* n x C; n: W of every row */
    double *x, *Kx, *r, *p, *Kp, *z, *Kz, *Ap; /* n x C each: conjugate gradients */
} sg_coupling;

sg_coupling sg_coupling_new(int rows, int C, const sg_ws *ws);

/* D of one row from its C precisions tau >= 0; returns 1'D1 (0: they are all zero). Where no D has
 * that diagonal, the class of the largest tau is coupled to the others, and they not to each
 * other. */
double sg_coupling_weights(int C, const double *tau, double *D);

/* Replaces the targets nu[n x C] of the shifts by those at the Newton step's means, for targets
 * tau[n x C] of the precisions. Conjugate gradients, in at most 50 products with the posterior
 * covariance. */
void sg_coupled_shifts(const sg_marginals *marg, int C, const double *sites_tau,
                       sg_covariance covariance, void *self, const double *tau, double *nu,
                       sg_coupling *c, const sg_ws *ws);

#endif
