/* smooth.h: the tilt of a likelihood that has slopes() and no corner, by the trapezoid rule.
 *
 * The integrand p(y|f) N(f; mu, s2) is analytic and vanishes at both ends, so the error of
 * equidistant nodes falls exponentially with their density: it is squared, at least, when the step
 * is halved. The rule with every other node left out therefore measures the error of the whole
 * rule. As a rule 33 to 45 evaluations of log p, where adaptive quadrature (quad.h) takes some
 * 400.
 *
 * Both return 0, and leave their result alone, where this is not good to 1e-10 with the nodes
 * there are: marginals much wider than the likelihood, far from it, or that are no numbers. The
 * likelihood is log-concave, or has one mode, at locate()'s centre. */
#ifndef SG_SMOOTH_H
#define SG_SMOOTH_H

#include "lik.h"

int sg_smooth_tilt(const sg_lik *self, const double *y, double mu, double s2, sg_tilt *out);

/* Adds dlogZ/dtheta to dpar[npar]. */
int sg_smooth_dpar(const sg_lik *self, const double *y, double mu, double s2, double *dpar);

#endif
