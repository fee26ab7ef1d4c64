/* lik_step.c: two classes whose labels are wrong with probability e, y = -1 or 1:
 *   step  P(y = 1 | f) = e + (1 - 2e) [f > 0]               theta: search scale of e
 *   flip  P(y = 1 | f) = e + (1 - 2e) Phi(f + bias)         theta: bias, search scale of e
 * Formulas 50-55 and 89-91, with 1 + s2 in place of s2 for the second. e = 1/2 / (1 +
 * exp(-theta)), and everything is done on logarithms, so e may be arbitrarily small; theta = -Inf
 * is e = 0.
 *
 * Not log-concave: a row that is far on the wrong side is treated as a wrong label. */
#include <math.h>
#include <Rmath.h>
#include "lik.h"
#include "logs.h"
#include "normal.h"

/* log e and log(1 - 2e) */
typedef struct {
    double log_e, log_rest, bias, slack; /* slack: variance of the noise before the step */
} noisy;

static noisy noisy_of(const sg_lik *self)
{
    const int biased = self->type->npar == 2;
    const double t = self->theta[biased];
    const noisy out = {sg_log_sigmoid(t) - M_LN2, sg_log_sigmoid(-t), biased ? self->theta[0] : 0,
                       biased};
    return out;
}

/* Returns log(exp(a) + exp(b)); a may be -Inf, the logarithm of a noise of 0. */
static double log_sum(double a, double b)
{
    return a == -HUGE_VAL ? b : fmax2(a, b) + log1p(exp(-fabs(a - b)));
}

/* Returns the logarithm of Z = e + (1 - 2e) Phi(z), z = y m / sqrt(s2 + slack), m = mu + bias
 * (formulas 52, 53), and its two derivatives in m. With w the proportion of the second part, h =
 * phi / Phi:
 *   dlogZ/dz = w h,   d2logZ/dz2 = -w (h (h + z) - (1 - w) h^2)   (54, 55) */
static double noisy_tilt(const noisy *n, double y, double mu, double s2, double *d1, double *d2)
{
    const double total = s2 + n->slack, m = y * (mu + n->bias);
    *d1 = *d2 = 0;
    if (sg_is_point(total)) {
        const double log_step = m > 0 ? 0 : m < 0 ? -HUGE_VAL : m - M_LN2;
        return log_step < -1 ? n->log_e : log_sum(n->log_e, n->log_rest + log_step);
    }
    double h, curv;
    const double z = m / sqrt(total), log_part = n->log_rest + sg_log_Phi_slopes(z, &h, &curv);
    const double logz = log_sum(n->log_e, log_part), w = exp(log_part - logz);
    if (w > 0) {
        *d1 = y * w * h / sqrt(total);
        *d2 = -w * (curv - exp(n->log_e - logz) * h * h) / total;
    }
    return logz;
}

/* Returns log p(y|f), the tilt at s2 = 0. */
static double step_logp(const sg_lik *self, const double *y, const double *f)
{
    double d1, d2;
    const noisy n = noisy_of(self);
    return noisy_tilt(&n, y[0], *f, 0, &d1, &d2);
}

static void step_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                      sg_tilt *out)
{
    const noisy n = noisy_of(self);
    out->logz = noisy_tilt(&n, y[0], *mu, *s2, out->d1, out->d2);
}

/* Computes L = log e + (log(1 - e) - log e) Phi(z), z = y mu / sd, which a step between two values
 * of log p makes, and its derivatives in mu. */
static void step_limit(const sg_lik *self, const double *y, double mu, double s2, sg_tilt *out)
{
    const noisy n = noisy_of(self);
    const double sd = sqrt(s2), z = y[0] * mu / sd, slope = M_1_SQRT_2PI * exp(-0.5 * z * z);
    const double height = log_sum(n.log_e, n.log_rest) - n.log_e;
    out->logz = n.log_e + height * pnorm5(z, 0, 1, 1, 0);
    *out->d1 = height * y[0] * slope / sd;
    *out->d2 = -height * z * slope / s2;
}

/* Computes P(y = 1) and P(y = 1) P(y = -1) from the two labels' log Z. */
static void step_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                         double *var)
{
    double d1, d2;
    const noisy n = noisy_of(self);
    const double log_p = noisy_tilt(&n, 1, *mu, *s2, &d1, &d2);
    *mean = exp(log_p);
    *var = exp(log_p + noisy_tilt(&n, -1, *mu, *s2, &d1, &d2));
}

static void step_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double none = 0;
    step_predict(self, f, &none, mean, var);
}

/* Places the step at f = -bias, of width 1. */
static void step_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    (void) y;
    *centre = -noisy_of(self).bias;
    *width = 1;
}

/* The bias moves log Z as mu does. With Z = e + (1 - 2e) P and de/dtheta = e (1 - 2e) the other is
 * ((1 - P) - P) e (1 - 2e) / Z; of Z and Z' = e + (1 - 2e)(1 - P), the other label's:
 * (1 - 2e)(1 - 2P) = Z' - Z. */
static void step_tilt_dpar(const sg_lik *self, const double *y, const double *mu, const double *s2,
                           double *dpar)
{
    double d1, d2, other1, other2;
    const noisy n = noisy_of(self);
    const double logz = noisy_tilt(&n, y[0], *mu, *s2, &d1, &d2);
    const double other = noisy_tilt(&n, -y[0], *mu, *s2, &other1, &other2);
    if (self->type->npar == 2) *dpar++ += d1;
    if (n.log_e > -HUGE_VAL) dpar[0] += exp(n.log_e) * expm1(other - logz);
}

const sg_lik_type sg_lik_step = {
    .name = "step", .q = 1, .npar = 1, .width = 1, .kinked = 1,
    .par = {"noise"},
    .logp = step_logp, .moments = step_moments, .locate = step_locate,
    .slopes = sg_lik_slopes_of_tilt, .tilt = step_tilt, .tilt_dpar = step_tilt_dpar,
    .predict = step_predict, .limit = step_limit
};

const sg_lik_type sg_lik_flip = {
    .name = "flip", .q = 1, .npar = 2, .width = 1,
    .par = {"bias", "flip"},
    .logp = step_logp, .moments = step_moments, .locate = step_locate,
    .slopes = sg_lik_slopes_of_tilt, .tilt = step_tilt, .tilt_dpar = step_tilt_dpar,
    .predict = step_predict
};
