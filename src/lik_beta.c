/* lik_beta.c: proportions between 0 and 1 of mean m = 1 / (1 + exp(-f - bias)) and variance
 * m (1 - m) / (1 + precision), from a beta distribution. y: the proportion, its log odds u.
 * theta: bias, log precision.
 *
 * With z = f + bias, a = precision m, b = precision (1 - m), and R the rest of Stirling's formula
 * (gamma_rest.h),
 *   log p = -precision KL(m, y) + log(precision m (1 - m) / (2 pi)) / 2 + R(a + b) - R(a) - R(b)
 *           - log y - log(1 - y),
 *   KL(m, y) = m log(m / y) + (1 - m) log((1 - m) / (1 - y)),
 * whose terms stay small where those of the gamma functions are large. With
 * B(x) = x (psi(x) - log x) and T(x) = x^2 psi'(x),
 *   d log p / df = precision m (1 - m) (u - z) + m B(b) - (1 - m) B(a) = l',
 *   d^2 log p / df^2 = (1 - 2 m) l' - (1 - m)^2 T(a) - m^2 T(b).
 * One mode, but not log-concave: far from it log p falls along straight lines, as |f|. No closed
 * form of the tilt. */
#include <math.h>
#include <Rmath.h>
#include "expect.h"
#include "gamma_rest.h"
#include "lgamma_ratio.h"
#include "logs.h"

static const double TINY = 1e-290; /* far above the smallest normal number */

static double log_precision_of(const sg_lik *self) { return sg_log_within(self->theta[1]); }

/* Holds what log p needs at f: z, log m and log(1 - m), m and 1 - m, and a and b with their
 * logarithms. */
typedef struct {
    double z, log_m, log_n, m, n, log_a, log_b, a, b;
} place;

/* Computes these at z = f + bias. */
static place place_of(const sg_lik *self, double z)
{
    const double log_precision = log_precision_of(self);
    place at = {.z = z, .log_m = sg_log_sigmoid(z), .log_n = sg_log_sigmoid(-z)};
    at.m = exp(at.log_m), at.n = exp(at.log_n);
    at.log_a = log_precision + at.log_m, at.log_b = log_precision + at.log_n;
    at.a = exp(at.log_a), at.b = exp(at.log_b);
    return at;
}

/* Returns KL(m, y) from log odds, from the side on which m is less than a half. Where y is near m,
 * t = u - z, it is log(1 + m (e^t - 1)) - m t, of terms of the size of t, as KL may be multiplied
 * by a large precision. */
static double divergence(const place *at, double u)
{
    const double NEAR = 1, t = u - at->z;
    if (fabs(t) < NEAR) {
        return at->z > 0 ? log1p(at->n * expm1(-t)) + at->n * t
                         : log1p(at->m * expm1(t)) - at->m * t;
    }
    return at->z > 0 ? at->n * (u - at->z) + sg_log_sigmoid(at->z) - sg_log_sigmoid(u)
                     : at->m * (at->z - u) + sg_log_sigmoid(-at->z) - sg_log_sigmoid(-u);
}

/* Computes log p at n values of f; what depends on y and precision alone is computed once. */
static void beta_logps(const sg_lik *self, const double *y, int n, const double *f, double *out)
{
    const double log_precision = log_precision_of(self), precision = exp(log_precision);
    const double at_0 = 0.5 * log_precision - M_LN_SQRT_2PI +
        sg_gamma_rest(precision, log_precision) - sg_log_sigmoid(y[1]) - sg_log_sigmoid(-y[1]);
    for (int i = 0; i < n; i++) {
        const place at = place_of(self, f[i] + self->theta[0]);
        out[i] = at_0 - precision * divergence(&at, y[1]) + 0.5 * (at.log_m + at.log_n) -
            sg_gamma_rest(at.a, at.log_a) - sg_gamma_rest(at.b, at.log_b);
    }
}

/* Returns log p at one f, by the same lines. */
static double beta_logp(const sg_lik *self, const double *y, const double *f)
{
    double out;
    beta_logps(self, y, 1, f, &out);
    return out;
}

/* Computes the mean m and the variance m (1 - m) / (1 + precision) given f. */
static void beta_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double z = *f + self->theta[0], log_m = sg_log_sigmoid(z);
    *mean = exp(log_m);
    *var = exp(log_m + sg_log_sigmoid(-z)) / (1 + exp(log_precision_of(self)));
}

/* Computes both derivatives of log p at z. */
static void slopes_at(const sg_lik *self, double u, double z, double *out)
{
    const place at = place_of(self, z);
    const double pull = at.m * at.b; /* 0 where u - z is large */
    out[0] = pull * (u - z) + at.m * sg_digamma_rest(at.b, at.log_b) -
        at.n * sg_digamma_rest(at.a, at.log_a);
    out[1] = (at.n - at.m) * out[0] - at.n * at.n * sg_trigamma_rest(at.a) -
        at.m * at.m * sg_trigamma_rest(at.b);
}

static void beta_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    slopes_at(self, y[1], f + self->theta[0], out);
}

/* Returns about where psi(a) - psi(precision - a) = u, as log odds of a / precision: with
 * psi(precision) in place of the second, and the inverse of psi after Minka, for u <= 0. */
static double near_mode(double precision, double log_precision, double u)
{
    const double EULER = 0.5772156649015329, BEND = -2.22;
    const double wanted = u + log_precision +
        sg_digamma_rest(precision, log_precision) / precision;
    const double a = wanted > BEND ? exp(wanted) + 0.5 : -1 / (wanted + EULER);
    return a < 0.5 * precision ? log(a) - log(precision - a) : 0;
}

/* Returns the log odds z of the mean at which y is most probable, by Newton's method on h(z) =
 * psi(a) - psi(b) - u, which rises with z, within a bracket. Of 100 steps five are taken, as a
 * rule. */
static double mode_of(const sg_lik *self, double u)
{
    enum { TRIES = 100 };
    const double NEAR = 1e-6, log_precision = log_precision_of(self);
    double low = -HUGE_VAL, high = HUGE_VAL;
    double z = copysign(near_mode(exp(log_precision), log_precision, -fabs(u)), u);
    for (int i = 0; i < TRIES; i++) {
        const place at = place_of(self, z);
        const double A = sg_digamma_rest(at.a, at.log_a), B = sg_digamma_rest(at.b, at.log_b);
        const double h = z - u + A / at.a - B / at.b;
        const double slope = at.n * sg_trigamma_rest(at.a) / at.a +
            at.m * sg_trigamma_rest(at.b) / at.b;
        if (h < 0) low = z;
        else high = z;
        double next = z - h / slope;
        if (!(next > low && next < high)) next = 0.5 * (fmax2(low, z - 2) + fmin2(high, z + 2));
        if (fabs(next - z) < NEAR) return next;
        z = next;
    }
    return z;
}

/* Places the mode, with the width of log p's curvature there and at most 1. */
static void beta_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    double slopes[2];
    *centre = -self->theta[0], *width = 1;
    if (!y || isnan(self->theta[1])) return;
    const double z = mode_of(self, y[1]);
    slopes_at(self, y[1], z, slopes);
    *centre = z - self->theta[0];
    *width = fmin2(1 / sqrt(-slopes[1]), 1);
}

/* Computes P(Y <= y | f) and P(Y > y | f). Next to 0 the first term of the series in y is exact,
 * y^a Gamma(a + b) / (Gamma(a + 1) Gamma(b)), and pbeta() would warn that it underflows. */
static void beta_given(const sg_lik *self, const double *y, double f, double *tails)
{
    const place at = place_of(self, f + self->theta[0]);
    if (y[0] < TINY && at.a > 0 && at.b > 0) {
        const double logp = fmin2(at.a * (log(y[0]) + at.log_b) + sg_lgamma_ratio(at.b, at.a) -
                                  sg_lgamma_ratio(1, at.a), 0);
        tails[0] = exp(logp), tails[1] = -expm1(logp);
        return;
    }
    tails[0] = pbeta(y[0], at.a, at.b, 1, 0);
    tails[1] = pbeta(y[0], at.a, at.b, 0, 0);
}

/* Averages both over f ~ N(mu, s2). */
static void beta_tails(const sg_lik *self, const double *y, const double *mu, const double *s2,
                       double *out)
{
    const int beyond = y[0] <= 0 ? -1 : y[0] >= 1;
    out[0] = beyond > 0, out[1] = beyond < 0;
    if (beyond) return;
    const double row[] = {y[0], log(y[0]) - log1p(-y[0])};
    sg_given_tails(self, row, beta_given, *mu, *s2, out);
}

const sg_lik_type sg_lik_beta = {
    .name = "beta", .q = 2, .npar = 2, .width = 1,
    .par = {"bias", "precision"},
    .logp = beta_logp, .moments = beta_moments, .locate = beta_locate, .slopes = beta_slopes,
    .logps = beta_logps, .tails = beta_tails, .support = SG_UNIT
};
