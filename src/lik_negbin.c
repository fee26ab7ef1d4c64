/* lik_negbin.c: counts of mean m = exp(f + bias) and variance m + m^2 / size: a Poisson count
 * whose rate has a gamma distribution of shape `size`. y: the count, log y!. theta: bias, log size.
 *
 * With p = m / (m + size), q = 1 - p and L = log(size p) = log(m q),
 *   log p(y|f) = D(y, size) - log y! + y L - size log1p(m / size),
 *   D(y, size) = log(Gamma(y + size) / (Gamma(size) size^y)),
 * of which each term tends to the Poisson's as size grows (D to 0, L to log m). Log-concave in f.
 * No closed form of the tilt; a new response has the moments of a lognormal mean. */
#include <math.h>
#include <Rmath.h>
#include "expect.h"
#include "gamma_rest.h"
#include "logs.h"
#include "lgamma_ratio.h"

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

/* Holds what log p near the mode of a large count y needs besides f. */
typedef struct {
    double y, size, log_y, at_mode; /* at_mode: log p there */
} large_count;

/* Stirling's formula of y + size, size and y, R its rest (gamma_rest.h), at m = y. */
static large_count large_count_of(const double *row, double log_size)
{
    const double y = row[0], size = exp(log_size), all = y + size, log_y = log(y);
    const double log_all = log(all), rest = sg_gamma_rest(y, log_y);
    const double rests = sg_gamma_rest(all, log_all) - sg_gamma_rest(size, log_size) - rest;
    const double large = y * log_y, log_factorial = large - y + 0.5 * log_y + M_LN_SQRT_2PI + rest;
    const large_count c = {y, size, log_y,
                           rests + 0.5 * (log_size - log_all - log_y) - M_LN_SQRT_2PI -
                               sg_other_constant(row[1], log_factorial, large)};
    return c;
}

/* Returns log p at log m = log y + t. As y successes of y + size trials (Loader 2000),
 *   log p = log p at the mode - size D(e) - y D(g),  D(x) = x - log(1 + x),
 *   e = (y - m) / (size + m),  g = -size e / y:
 * both are of the size of log p's distance from the mode. */
static double near_mode(const large_count *c, double t)
{
    const double excess = expm1(t), mean = c->y * (1 + excess);
    const double e = -c->y * excess / (c->size + mean), g = c->size * excess / (c->size + mean);
    return c->at_mode - c->size * (e - log1p(e)) - c->y * (g - log1p(g));
}

/* Computes log p at n values of f; D(y, size) and log y! are computed once for all of them. For m
 * < size log q is -log1p(m / size), and else L = log size - log1p(size / m). The former is not
 * computed from z - log size, which for a small m / size has lost digits that m has. */
static void negbin_logps(const sg_lik *self, const double *y, int n, const double *f, double *out)
{
    const double log_size = log_size_of(self), size = exp(log_size);
    const double at_0 = sg_lgamma_ratio(size, y[0]) - y[1];
    const int large = y[0] >= SG_LARGE_COUNT;
    const large_count c = large ? large_count_of(y, log_size) : (large_count) {0};
    for (int i = 0; i < n; i++) {
        const double z = f[i] + self->theta[0], t = z - log_size;
        if (large && fabs(z - c.log_y) < SG_NEAR_COUNT) {
            out[i] = near_mode(&c, z - c.log_y);
            continue;
        }
        const double rest = t < 0 ? log1p(exp(z) / size) : log1p(exp(-t));
        out[i] = at_0 + y[0] * (fmin2(z, log_size) - rest) - size * (fmax2(t, 0) + rest);
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

/* Places the mode at log y, of variance 1 / y + 1 / size: the Poisson's and the rate's. */
static void negbin_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    const double count = y ? fmax2(y[0], 1) : 1;
    *centre = log(count) - self->theta[0];
    *width = fmin2(sqrt(1 / count + exp(-log_size_of(self))), 1);
}

/* Computes d log p / df = y q - size p and the second derivative -q (y p + size p). */
static void negbin_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    const shares s = shares_of(self, f);
    const double size_p = exp(s.log_mix), q = exp(s.log_q);
    out[0] = y[0] * q - size_p;
    out[1] = -q * (y[0] * exp(s.log_p) + size_p);
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
