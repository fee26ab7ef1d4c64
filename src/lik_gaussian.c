/* lik_gaussian.c: y ~ N(f, v), v = noise / weight. y: response, weight. theta: log noise (a
 * variance). Thesis 2.4; a new response has weight 1. Under f ~ N(mu, s2)
 *   log Z = log N(y; mu, s2 + v),   d1 = (y - mu) / (s2 + v),   d2 = -1 / (s2 + v),
 * by which the site is the likelihood itself whatever the cavity, tau = 1 / v and nu = y / v: EP
 * is exact and ends after one sweep. */
#include <math.h>
#include <Rmath.h>
#include "lik.h"
#include "normal.h"

static double noise_of(const sg_lik *self)
{
    return exp(self->theta[0]);
}

static double gaussian_logp(const sg_lik *self, const double *y, const double *f)
{
    return sg_log_normal(y[0] - *f, noise_of(self) / y[1]);
}

static void gaussian_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    *mean = *f;
    *var = noise_of(self);
}

static void gaussian_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    *centre = y ? y[0] : 0;
    *width = y ? sqrt(noise_of(self) / y[1]) : 1;
}

static void gaussian_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                          sg_tilt *out)
{
    const double total = *s2 + noise_of(self) / y[1];
    out->logz = sg_log_normal(y[0] - *mu, total);
    *out->d1 = (y[0] - *mu) / total;
    *out->d2 = -1 / total;
}

/* d log Z / d log v = v / (s2 + v) (z^2 - 1) / 2, z = (y - mu) / sqrt(s2 + v) */
static void gaussian_tilt_dpar(const sg_lik *self, const double *y, const double *mu,
                               const double *s2, double *dpar)
{
    const double v = noise_of(self) / y[1], total = *s2 + v;
    const double z = (y[0] - *mu) / sqrt(total);
    dpar[0] += 0.5 * v / total * (z * z - 1);
}

static void gaussian_predict(const sg_lik *self, const double *mu, const double *s2,
                             double *mean, double *var)
{
    *mean = *mu;
    *var = *s2 + noise_of(self);
}

static void gaussian_site(const sg_lik *self, const double *y, double *tau, double *nu)
{
    *tau = y[1] / noise_of(self);
    *nu = *tau * y[0];
}

static void gaussian_tails(const sg_lik *self, const double *y, const double *mu,
                           const double *s2, double *out)
{
    pnorm_both((y[0] - *mu) / sqrt(*s2 + noise_of(self) / y[1]), out, out + 1, 2, 0);
}

const sg_lik_type sg_lik_gaussian = {
    .name = "gaussian", .q = 2, .npar = 1, .width = 1,
    .par = {"noise"},
    .logp = gaussian_logp, .moments = gaussian_moments, .locate = gaussian_locate,
    .site = gaussian_site, .tilt = gaussian_tilt, .tilt_dpar = gaussian_tilt_dpar,
    .predict = gaussian_predict, .tails = gaussian_tails
};
