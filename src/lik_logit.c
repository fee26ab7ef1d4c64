/* lik_logit.c: P(y = 1 | f) = 1 / (1 + exp(-f - bias)), y = -1 or 1. theta: bias.
 * Formula 61; there is no closed form for the tilt, so quadrature does it. */
#include <math.h>
#include "lik.h"

static double logit_logp(const sg_lik *self, const double *y, const double *f)
{
    return sg_log_sigmoid(y[0] * (*f + self->theta[0]));
}

static void logit_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double z = *f + self->theta[0], log_p = sg_log_sigmoid(z);
    *mean = exp(log_p);
    *var = exp(log_p + sg_log_sigmoid(-z));
}

static void logit_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    (void) y;
    *centre = -self->theta[0];
    *width = 1;
}

const sg_lik_type sg_lik_logit = {
    "logit", 1, 1, logit_logp, logit_moments, logit_locate, 0, 0, 0, 0, 0, 0, 0
};
