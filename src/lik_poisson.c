/* lik_poisson.c: counts, y ~ Poisson(exp(f + bias)). y: the count, and minus its weight w
 * (sg_count_weight()): log p is that of w such counts. theta: bias. An exposure comes as an offset,
 * its logarithm. No closed form of the tilt; a new response has lognormal moments, and no weight.
 *
 * With m = exp(f + bias) and w = 1: log p = y log m - m - log y!, slopes y - m and -m, so log p is
 * concave in f. Of large counts these terms cancel. With d = log m - log y and Stirling's rest R,
 *   log p = -y (e^d - 1 - d) - log(2 pi y) / 2 - R(y). */
#include <math.h>
#include <Rmath.h>
#include "expect.h"
#include "gamma_rest.h"
#include "logs.h"

/* Computes log p at n values of f, finite for every f: log m is bounded before exp(). */
static void poisson_logps(const sg_lik *self, const double *y, int n, const double *f, double *out)
{
    const double count = y[0], log_y = count > 0 ? log(count) : 0, w = sg_count_weight(y);
    const double at_0 = count > 0 ? 0.5 * log_y + M_LN_SQRT_2PI + sg_gamma_rest(count, log_y) : 0;
    for (int i = 0; i < n; i++) {
        const double z = fmin2(f[i] + self->theta[0], 300), d = z - log_y; /* as sg_rate_of() */
        out[i] = w * (count > 0 ? -count * (expm1(d) - d) - at_0 : -sg_rate_of(z));
    }
}

/* Returns log p at one f, by the same lines. */
static double poisson_logp(const sg_lik *self, const double *y, const double *f)
{
    double out;
    poisson_logps(self, y, 1, f, &out);
    return out;
}

/* Computes the mean and the variance given f, both the rate m. */
static void poisson_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    *mean = *var = sg_rate_of(*f + self->theta[0]);
}

/* Places the mode at log y, of width (w y)^-1/2 = (-d2 log p / df2)^-1/2 there; a count of 0 has no
 * mode and is treated as 1. */
static void poisson_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    const double count = y ? fmax2(y[0], 1) : 1;
    *centre = log(count) - self->theta[0];
    *width = 1 / sqrt(y ? count * sg_count_weight(y) : count);
}

/* Computes d log p / df = w (y - m) and the second derivative -w m. */
static void poisson_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    const double rate = sg_rate_of(f + self->theta[0]), w = sg_count_weight(y);
    out[0] = w * (y[0] - rate);
    out[1] = -w * rate;
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
    .slopes = poisson_slopes, .logps = poisson_logps, .predict = poisson_predict,
    .tails = poisson_tails, .support = SG_WHOLE
};
