/* power.h: tilts by a power of a likelihood, for power EP (Minka 2004, Power EP, Microsoft
 * Research TR-2004-149).
 *
 * With the power p of self->power in (0, 1] and log Z = log E p(y|f)^p under N(mu, s2), what is
 * returned is log Z / p and its derivatives in mu. In the limit p = 0 this is E log p(y|f), and EP
 * with it is variational inference with a Gaussian posterior (Opper and Archambeau 2009). With p =
 * 1 both functions are those of lik.h, whatever the likelihood. Otherwise a row sees one latent
 * value, or each class is set against the rest: C independent processes, w = 1.
 *
 * Quadrature of logp, which the type's own slots serve otherwise: closed forms of Z are not those
 * of the power. Accuracy as in quad.h. */
#ifndef SG_POWER_H
#define SG_POWER_H

#include "lik.h"

/* log Z / p, and its derivatives in mu. cross and own are those of p = 1 alone. */
void sg_lik_power_tilt(const sg_lik *self, const double *y, const double *mu, const double *S,
                       sg_tilt *out);

/* Adds d(log Z / p)/dtheta to dpar[npar], for each process. */
void sg_lik_power_dpar(const sg_lik *self, const double *y, const double *mu, const double *S,
                       double *dpar);

#endif
