/* coupled.h: site shifts of several classes from one Newton step for all of them.
 *
 * Likelihoods of classes do not notice when the latent functions of all classes move by the same
 * amount, but a site sees one latent value and takes the others for fixed: sweeps follow such a
 * move without resisting it, and need hundreds. Here the sites' shifts come from the means of the
 * Newton step that knows the coupling. With K the prior covariance of all latent values, alpha =
 * K^{-1} mean, r = d1 - alpha, S the cavities' variances and H a row's second derivatives of log Z,
 *   (I + W K) dalpha = r + W S r,   dmean = K dalpha,   W = -(I + H S)^{-1} H.
 * Of H only the diagonal d2 is known, and H 1 = 0. It is taken as -(D - D 1 1'D / 1'D1), D
 * diagonal, which it is for softmax at s2 = 0, and for any likelihood when C <= 3; then W is of the
 * same form with D^{-1} - S for D^{-1}. Fixed points do not depend on it. */
#ifndef SG_COUPLED_H
#define SG_COUPLED_H

#include "sites.h"

/* The latent values as coordinates carry them, K = V V': how the step sees a posterior. Arrays a
 * are over coordinates of all latent functions, arrays x over latent values. */
typedef struct {
    int size;                                                 /* length of a */
    void (*forward)(void *self, const double *a, double *x);  /* x = V a */
    void (*backward)(void *self, const double *x, double *a); /* a = V' x */
    void (*smooth)(void *self, double *a); /* a = (I + V'TV)^{-1} a at the sites of the moment */
} sg_carrier;

typedef struct {
    double *D, *sum;            /* n x C; n: W of every row */
    double *b, *x;              /* n x C; room for two n x C */
    double *a, *r, *p, *z, *Ap; /* over coordinates: conjugate gradients */
} sg_coupling;

sg_coupling sg_coupling_new(int rows, int C, int coordinates, const sg_ws *ws);

/* Replaces the targets nu[n x C] of the shifts by those at the Newton step's means, for targets
 * tau[n x C] of the precisions. Conjugate gradients on (I + V'WV) a = V'(r + W S r), at most 50
 * steps of one forward, backward and smooth each. */
void sg_coupled_shifts(const sg_marginals *marg, int C, const sg_carrier *carrier, void *self,
                       const double *tau, double *nu, sg_coupling *c, const sg_ws *ws);

#endif
