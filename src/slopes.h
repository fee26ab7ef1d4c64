/* slopes.h: the posterior of a latent function and of its derivative along directions.
 *
 * f and its derivatives are jointly normal, as differentiation is linear: with r(x) = k(x) or its
 * derivative v'dk(x)/dx between a point and the basis, and q(x) = phi(x) or v'dphi/dx,
 *   mean = r'alpha + q'E c,   cov = P - (G'r)'(G'r) + (H'r)'(H'r) + u'u,   u = L^{-T} q - J'r,
 * where P is the prior covariance K, v'dK/dx, dK/dx'w or v'd2K/dxdx'w of the two (posterior.h;
 * Rasmussen and Williams 2006, section 9.4). */
#ifndef SG_SLOPES_H
#define SG_SLOPES_H

#include "posterior.h"

/* Joint moments of the w values of each row and their w derivatives along v[w n x D], in this
 * order: mean[2 w n x C] and var, C n blocks of 2 w x 2 w, at the n rows of w points each of
 * x[w n x D]. The trend's phi has 2 w n rows, in the same order. O(w n d^2) for each factor; rows
 * go in blocks. */
void sg_slopes_rows(const sg_posterior *post, int n, int D, const double *x, const double *v,
                    double *mean, double *var, const sg_ws *ws);

/* The joint moments of the values at n points x[n x D], followed by the n derivatives along v:
 * mean[2 n], cov[2 n x 2 n]; C = 1. phi has 2 n rows. O(n^2 d + n d^2). */
void sg_slopes_joint(const sg_posterior *post, int n, const double *x, const double *v,
                     double *mean, double *cov, const sg_ws *ws);

#endif
