/* lik_logit.c: P(y = 1 | f) = 1 / (1 + exp(-f - bias)), y = -1 or 1 (formula 61). theta: bias.
 * There is no closed form for the tilt. `logit` leaves it to quadrature; `mackay` approximates the
 * integral by formulas 62-64:
 *   Z = sigma(z), z = y (mu + bias) / sqrt(1 + pi s2 / 8)
 * with the derivative of that, d2 = -sigma(z) sigma(-z) / (1 + pi s2 / 8), which (65) is not. As Z
 * is no likelihood's integral dlog Z/ds2 is not (d1^2 + d2) / 2, and the evidence not stationary in
 * the sites. */
#include <math.h>
#include <Rmath.h>
#include "lik.h"
#include "logs.h"

/* Returns log sigma(y (f + bias)) (formula 61). */
static double logit_logp(const sg_lik *self, const double *y, const double *f)
{
    return sg_log_sigmoid(y[0] * (*f + self->theta[0]));
}

/* Computes P(y = 1 | f) and its variance from both tails' logarithms. */
static void logit_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double z = *f + self->theta[0], log_p = sg_log_sigmoid(z);
    *mean = exp(log_p);
    *var = exp(log_p + sg_log_sigmoid(-z));
}

/* Places the transition at f = -bias, of width 1. */
static void logit_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    (void) y;
    *centre = -self->theta[0];
    *width = 1;
}

/* Returns z at y = 1 (formula 62). */
static double mackay_z(const sg_lik *self, double mu, double s2)
{
    return (mu + self->theta[0]) / sqrt(1 + M_PI / 8 * s2);
}

/* Computes log Z = log sigma(z), d1 = y sigma(-z) / sqrt(1 + pi s2 / 8) (formulas 63, 64), and d2
 * as in the header. */
static void mackay_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                        sg_tilt *out)
{
    const double total = 1 + M_PI / 8 * *s2, z = y[0] * mackay_z(self, *mu, *s2);
    const double log_rest = sg_log_sigmoid(-z);
    out->logz = sg_log_sigmoid(z);
    *out->d1 = y[0] * exp(log_rest) / sqrt(total);
    *out->d2 = -exp(out->logz + log_rest) / total;
}

/* Computes P(y = 1) = sigma(z) and its variance. */
static void mackay_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                           double *var)
{
    const double z = mackay_z(self, *mu, *s2), log_p = sg_log_sigmoid(z);
    *mean = exp(log_p);
    *var = exp(log_p + sg_log_sigmoid(-z));
}

/* Computes the derivatives of log sigma(z) in f: y sigma(-z) and -sigma(z) sigma(-z). */
static void logit_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    const double z = y[0] * (f + self->theta[0]), log_rest = sg_log_sigmoid(-z);
    out[0] = y[0] * exp(log_rest);
    out[1] = -exp(sg_log_sigmoid(z) + log_rest);
}

const sg_lik_type sg_lik_logit = {
    .name = "logit", .q = 1, .npar = 1, .width = 1, .concave = 1,
    .par = {"bias"},
    .logp = logit_logp, .moments = logit_moments, .locate = logit_locate, .slopes = logit_slopes
};

const sg_lik_type sg_lik_mackay = {
    .name = "mackay", .q = 1, .npar = 1, .width = 1,
    .par = {"bias"},
    .logp = logit_logp, .moments = logit_moments, .locate = logit_locate, .slopes = logit_slopes,
    .tilt = mackay_tilt, .tilt_dpar = sg_lik_bias_of_tilt, .predict = mackay_predict
};
