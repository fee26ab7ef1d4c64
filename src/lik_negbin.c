/* lik_negbin.c: counts of mean m = exp(f + bias) and variance m + m^2 / size: a Poisson count
 * whose rate has a gamma distribution of shape `size`. y: the count, and minus its weight w
 * (sg_count_weight()): log p is that of w such counts. theta: bias, log size.
 *
 * With w = 1, p = m / (m + size), q = 1 - p, p0 and q0 these at m = y, d = f + bias - log y, and R
 * the rest of Stirling's formula (gamma_rest.h),
 *   log p(y|f) = -y log(p0 + q0 e^-d) - size log(q0 + p0 e^d)
 *                + (log q0 - log(2 pi y)) / 2 + R(y + size) - R(size) - R(y),   y > 0,
 *   log p(0|f) = -size log1p(m / size),
 * without a difference of large numbers, whose terms tend to the Poisson's as size grows.
 * Log-concave in f. No closed form of the tilt; a new response has the moments of a lognormal
 * mean. */
#include <math.h>
#include <Rmath.h>
#include "expect.h"
#include "gamma_rest.h"
#include "logs.h"

/* Returns log size, bounded to what doubles hold. */
static double log_size_of(const sg_lik *self)
{
    return sg_log_within(self->theta[1]);
}

/* L, log p and log q */
typedef struct {
    double log_mix, log_p, log_q;
} shares;

/* Computes the three logarithms at f from t = f + bias - log size, each without a difference of
 * near numbers. */
static shares shares_of(const sg_lik *self, double f)
{
    const double z = f + self->theta[0], log_size = log_size_of(self), t = z - log_size;
    const shares s = {fmin2(z, log_size) - log1p(exp(-fabs(t))), sg_log_sigmoid(t),
                      sg_log_sigmoid(-t)};
    return s;
}

/* Returns log p of a count of 0 at f. For m < size -log q is log1p(m / size), which is not had from
 * f + bias - log size: for a small m / size that has lost digits that m has. */
static double zero_logp(const sg_lik *self, double f, double log_size)
{
    const double z = f + self->theta[0], t = z - log_size, size = exp(log_size);
    return -size * (t < 0 ? log1p(exp(z) / size) : t + log1p(exp(-t)));
}

/* Computes log p at n values of f; what depends on y and size alone is computed once. */
static void negbin_logps(const sg_lik *self, const double *y, int n, const double *f, double *out)
{
    const double log_size = log_size_of(self), size = exp(log_size), count = y[0];
    const double w = sg_count_weight(y);
    if (!(count > 0)) {
        for (int i = 0; i < n; i++) out[i] = w * zero_logp(self, f[i], log_size);
        return;
    }
    const double log_y = log(count), all = count + size, log_all = log(all);
    const double p = count / all, q = size / all;
    const double at_mode = 0.5 * (log_size - log_all - log_y) - M_LN_SQRT_2PI +
        sg_gamma_rest(all, log_all) - sg_gamma_rest(size, log_size) - sg_gamma_rest(count, log_y);
    for (int i = 0; i < n; i++) {
        const double d = f[i] + self->theta[0] - log_y;
        out[i] = w * (at_mode - count * sg_log_moved(q, p, -d) - size * sg_log_moved(p, q, d));
    }
}

/* Returns log p at one f, by the same lines. */
static double negbin_logp(const sg_lik *self, const double *y, const double *f)
{
    double out;
    negbin_logps(self, y, 1, f, &out);
    return out;
}

/* Computes the mean m and the variance m + m^2 / size given f. */
static void negbin_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double z = *f + self->theta[0];
    *mean = sg_rate_of(z);
    *var = *mean + sg_rate_of(2 * z - log_size_of(self));
}

/* Places the mode at log y, of variance (1 / y + 1 / size) / w: the Poisson's and the rate's. */
static void negbin_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    const double count = y ? fmax2(y[0], 1) : 1;
    *centre = log(count) - self->theta[0];
    *width = fmin2(sqrt(1 / count + exp(-log_size_of(self))), 1) /
        (y ? sqrt(sg_count_weight(y)) : 1);
}

/* Computes d log p / df = w (y q - size p) and the second derivative -w q (y p + size p). */
static void negbin_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    const shares s = shares_of(self, f);
    const double size_p = exp(s.log_mix), q = exp(s.log_q), w = sg_count_weight(y);
    out[0] = w * (y[0] * q - size_p);
    out[1] = -w * q * (y[0] * exp(s.log_p) + size_p);
}

/* Computes E Y = E m and Var Y = E m + Var m + E m^2 / size under a lognormal m. */
static void negbin_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                           double *var)
{
    const double log_mean = *mu + self->theta[0] + *s2 / 2;
    *mean = sg_rate_of(log_mean);
    *var = *mean + sg_rate_var(log_mean, *s2) +
        sg_rate_of(2 * log_mean + *s2 - log_size_of(self));
}

/* Returns P(Y <= y | f), or P(Y > y | f) where `upper`. */
static double negbin_cdf(const sg_lik *self, const double *y, double f, int upper)
{
    const double rate = sg_rate_of(f + self->theta[0]);
    return pnbinom_mu(y[0], exp(log_size_of(self)), rate, !upper, 0);
}

static void negbin_tails(const sg_lik *self, const double *y, const double *mu, const double *s2,
                         double *out)
{
    sg_rate_tails(self, y, negbin_cdf, *mu, *s2, out);
}

const sg_lik_type sg_lik_negbin = {
    .name = "negbin", .q = 2, .npar = 2, .width = 1, .concave = 1,
    .par = {"bias", "size"},
    .logp = negbin_logp, .moments = negbin_moments, .locate = negbin_locate,
    .slopes = negbin_slopes, .logps = negbin_logps, .predict = negbin_predict,
    .tails = negbin_tails, .support = SG_WHOLE
};
