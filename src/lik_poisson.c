/* lik_poisson.c: counts, y ~ Poisson(exp(f + bias)). y: the count, log y!. theta: bias. An
 * exposure comes as an offset, its logarithm. No closed form of the tilt; a new response has
 * lognormal moments.
 *
 * With m = exp(f + bias): log p = y log m - m - log y!, slopes y - m and -m, so log p is concave
 * in f. */
#include <math.h>
#include <Rmath.h>
#include "expect.h"
#include "gamma_rest.h"
#include "logs.h"

/* Returns log p(y|f), finite for every f: log m is bounded before exp(). Of a large count the terms
 * are of size y log y, and their digits would be those of log p: near the mode, t = log(m / y),
 *   log p = -y (e^t - 1 - t) - log(2 pi y) / 2 - R(y), R the rest of Stirling's formula. */
static double poisson_logp(const sg_lik *self, const double *y, const double *f)
{
    const double z = fmin2(*f + self->theta[0], 300); /* as sg_rate_of() */
    if (y[0] < SG_LARGE_COUNT) return y[0] * z - sg_rate_of(z) - y[1];
    const double log_y = log(y[0]), t = z - log_y;
    if (!(fabs(t) < SG_NEAR_COUNT)) return y[0] * z - sg_rate_of(z) - y[1];
    const double rest = M_LN_SQRT_2PI + 0.5 * log_y + sg_gamma_rest(y[0], log_y);
    const double size = y[0] * log_y, log_factorial = size - y[0] + rest;
    return -y[0] * (expm1(t) - t) - rest - sg_other_constant(y[1], log_factorial, size);
}

/* Computes the mean and the variance given f, both the rate m. */
static void poisson_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    *mean = *var = sg_rate_of(*f + self->theta[0]);
}

/* Places the mode at log y, of width y^-1/2 = (-d2 log p / df2)^-1/2 there; a count of 0 has no
 * mode and is treated as 1. */
static void poisson_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    const double count = y ? fmax2(y[0], 1) : 1;
    *centre = log(count) - self->theta[0];
    *width = 1 / sqrt(count);
}

/* Computes d log p / df = y - m and the second derivative -m. */
static void poisson_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    const double rate = sg_rate_of(f + self->theta[0]);
    out[0] = y[0] - rate;
    out[1] = -rate;
}

/* Computes E Y = exp(mu + bias + s2 / 2) and Var Y = E Y + Var m, the moments of a lognormal
 * rate. */
static void poisson_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                            double *var)
{
    const double log_mean = *mu + self->theta[0] + *s2 / 2;
    *mean = sg_rate_of(log_mean);
    *var = *mean + sg_rate_var(log_mean, *s2);
}

/* Returns P(Y <= y | f), or P(Y > y | f) where `upper`. */
static double poisson_cdf(const sg_lik *self, const double *y, double f, int upper)
{
    return ppois(y[0], sg_rate_of(f + self->theta[0]), !upper, 0);
}

/* Computes P(Y <= y) and P(Y > y) under N(mu, s2) as one mean over f (expect.h). */
static void poisson_tails(const sg_lik *self, const double *y, const double *mu, const double *s2,
                          double *out)
{
    sg_rate_tails(self, y, poisson_cdf, *mu, *s2, out);
}

const sg_lik_type sg_lik_poisson = {
    .name = "poisson", .q = 2, .npar = 1, .width = 1, .concave = 1,
    .par = {"bias"},
    .logp = poisson_logp, .moments = poisson_moments, .locate = poisson_locate,
    .slopes = poisson_slopes, .predict = poisson_predict,
    .tails = poisson_tails, .support = SG_WHOLE
};
