/* lik_probit.c: P(y = 1 | f) = Phi(f + bias), y = -1 or 1. theta: bias. Formulas 56-60; IVM paper
 * B.1.
 *
 * With z = y (mu + bias) / sqrt(1 + s2), h = phi(z) / Phi(z):
 *   log Z = log Phi(z),  d1 = y h / sqrt(1 + s2),  d2 = -h (h + z) / (1 + s2)   (58-60)
 * Log-concave; every integral is closed, so there is no quadrature. */
#include <math.h>
#include "lik.h"
#include "normal.h"

/* Returns log Phi(y (f + bias)) (formula 56), with all digits where Phi underflows. */
static double probit_logp(const sg_lik *self, const double *y, const double *f)
{
    return sg_log_Phi(y[0] * (*f + self->theta[0]));
}

/* Computes mean p and variance p (1 - p) of an indicator from log p and log(1 - p): a difference 1
 * - p would lose the smaller of the two. */
static void bernoulli(double log_p, double log_q, double *mean, double *var)
{
    *mean = exp(log_p);
    *var = exp(log_p + log_q);
}

/* Computes P(y = 1 | f) and its variance. */
static void probit_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double z = *f + self->theta[0];
    bernoulli(sg_log_Phi(z), sg_log_Phi(-z), mean, var);
}

/* Places the transition at f = -bias. Its width is the noise's standard deviation, whatever the
 * label. */
static void probit_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    (void) y;
    *centre = -self->theta[0];
    *width = 1;
}

/* Computes log Z, d1 and d2 from one evaluation of log Phi and its slopes. O(1). */
static void probit_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                        sg_tilt *out)
{
    const double shrink = 1 / sqrt(1 + *s2), z = y[0] * (*mu + self->theta[0]) * shrink;
    double h, curv;
    out->logz = sg_log_Phi_slopes(z, &h, &curv);
    *out->d1 = y[0] * h * shrink;
    *out->d2 = -curv * shrink * shrink;
}

/* Computes P(y = 1) = Phi((mu + bias) / sqrt(1 + s2)) and its variance (formula 58 at y = 1). */
static void probit_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                           double *var)
{
    const double z = (*mu + self->theta[0]) / sqrt(1 + *s2);
    bernoulli(sg_log_Phi(z), sg_log_Phi(-z), mean, var);
}

const sg_lik_type sg_lik_probit = {
    .name = "probit", .q = 1, .npar = 1, .width = 1,
    .par = {"bias"},
    .logp = probit_logp, .moments = probit_moments, .locate = probit_locate, .tilt = probit_tilt,
    .tilt_dpar = sg_lik_bias_of_tilt, .predict = probit_predict
};
