/* lik_gamma.c: positive numbers of mean m = exp(f + bias) and variance m^2 / shape, from a gamma
 * distribution. y: the number, log y. theta: bias, log shape. An exposure comes as an offset.
 *
 * With z = log y - f - bias and k = shape,
 *   log p = k (1 + z - e^z) + R - log y,  R = k log k - k - log Gamma(k),
 * slopes k (e^z - 1) and -k e^z: log-concave in f. No closed form of the tilt; a new response has
 * the moments of a lognormal mean. */
#include <math.h>
#include <Rmath.h>
#include "expect.h"
#include "gamma_rest.h"
#include "logs.h"

static const double MOST = 300; /* exp() of it stands for all larger means, exp(-MOST) for less */

static double log_shape_of(const sg_lik *self) { return sg_log_within(self->theta[1]); }

/* Returns z = log(y / m), bounded above, so that its exponential is finite. */
static double log_ratio(const sg_lik *self, const double *y, double f)
{
    return fmin2(y[1] - (f + self->theta[0]), MOST);
}

/* Computes log p at n values of f; what depends on y and shape alone is computed once. R is
 * Stirling's: k log k - k - log Gamma(k) = log(k) / 2 - log sqrt(2 pi) - rest. Near z = 0 the terms
 * of 1 + z - e^z cancel: there it is z - expm1(z). */
static void gamma_logps(const sg_lik *self, const double *y, int n, const double *f, double *out)
{
    const double log_k = log_shape_of(self), k = exp(log_k);
    const double at_0 = 0.5 * log_k - M_LN_SQRT_2PI - sg_gamma_rest(k, log_k) - y[1];
    for (int i = 0; i < n; i++) {
        const double z = log_ratio(self, y, f[i]);
        out[i] = at_0 + k * (z - expm1(z));
    }
}

/* Returns log p at one f, by the same lines. */
static double gamma_logp(const sg_lik *self, const double *y, const double *f)
{
    double out;
    gamma_logps(self, y, 1, f, &out);
    return out;
}

/* Computes the mean m and the variance m^2 / shape given f. */
static void gamma_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double z = *f + self->theta[0];
    *mean = sg_rate_of(z);
    *var = sg_rate_of(2 * z - log_shape_of(self));
}

/* Places the mode at log y, of width shape^-1/2, and at most 1. */
static void gamma_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    *centre = (y ? y[1] : 0) - self->theta[0];
    *width = fmin2(exp(-0.5 * log_shape_of(self)), 1);
}

/* Computes d log p / df = k (y / m - 1) and the second derivative -k y / m. */
static void gamma_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    const double k = exp(log_shape_of(self)), z = log_ratio(self, y, f);
    out[0] = k * expm1(z);
    out[1] = -k * exp(z);
}

/* Computes E Y = E m and Var Y = Var m + E m^2 / shape under a lognormal m. */
static void gamma_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                          double *var)
{
    const double log_mean = *mu + self->theta[0] + *s2 / 2;
    *mean = sg_rate_of(log_mean);
    *var = sg_rate_var(log_mean, *s2) + sg_rate_of(2 * log_mean + *s2 - log_shape_of(self));
}

/* Returns P(Y <= y | f), or P(Y > y | f) where `upper`. */
static double gamma_cdf(const sg_lik *self, const double *y, double f, int upper)
{
    const double k = exp(log_shape_of(self));
    const double log_mean = fmax2(fmin2(f + self->theta[0], MOST), -MOST);
    return pgamma(y[0] * exp(-log_mean), k, 1 / k, !upper, 0);
}

/* Computes P(Y <= y) and P(Y > y): -dP(Y <= y | f)/df is p(y | f) up to a constant, of the same y.
 * Numbers beyond exp(MOST) are treated as if all responses were below them, or above. */
static void gamma_tails(const sg_lik *self, const double *y, const double *mu, const double *s2,
                        double *out)
{
    const double row[] = {y[0], log(y[0])};
    const int beyond = y[0] <= exp(-MOST) ? -1 : y[0] >= exp(MOST);
    out[0] = beyond > 0, out[1] = beyond < 0;
    if (!beyond) sg_count_tails(self, row, row, gamma_cdf, *mu, *s2, out);
}

const sg_lik_type sg_lik_gamma = {
    .name = "gamma", .q = 2, .npar = 2, .width = 1, .concave = 1,
    .par = {"bias", "gamma_shape"},
    .logp = gamma_logp, .moments = gamma_moments, .locate = gamma_locate,
    .slopes = gamma_slopes, .logps = gamma_logps, .predict = gamma_predict,
    .tails = gamma_tails, .support = SG_POSITIVE
};
