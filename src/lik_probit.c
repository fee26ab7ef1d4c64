/* lik_probit.c: P(y = 1 | f) = Phi(f + bias), y = -1 or 1. theta: bias.
 * Formulas 56-60; IVM paper B.1. */
#include <math.h>
#include "lik.h"
#include "normal.h"

static double probit_logp(const sg_lik *self, const double *y, const double *f)
{
    return sg_log_Phi(y[0] * (*f + self->theta[0]));
}

static void bernoulli(double log_p, double log_q, double *mean, double *var)
{
    *mean = exp(log_p);
    *var = exp(log_p + log_q);
}

static void probit_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double z = *f + self->theta[0];
    bernoulli(sg_log_Phi(z), sg_log_Phi(-z), mean, var);
}

static void probit_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    (void) y;
    *centre = -self->theta[0];
    *width = 1;
}

static void probit_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                        double *logz, double *d1, double *d2)
{
    const double shrink = 1 / sqrt(1 + *s2), z = y[0] * (*mu + self->theta[0]) * shrink;
    double h, curv;
    *logz = sg_log_Phi_slopes(z, &h, &curv);
    *d1 = y[0] * h * shrink;
    *d2 = -curv * shrink * shrink;
}

static void probit_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                           double *var)
{
    const double z = (*mu + self->theta[0]) / sqrt(1 + *s2);
    bernoulli(sg_log_Phi(z), sg_log_Phi(-z), mean, var);
}

const sg_lik_type sg_lik_probit = {
    "probit", 1, 1, probit_logp, probit_moments, probit_locate, probit_tilt, sg_lik_bias_of_tilt,
    probit_predict, 0, 0, 0, 0
};
