/* lik_density.c: p = f^2, of a point that was seen where the density is f^2 up to a constant
 * (thesis 5.12). There is no response but that the point was seen, y = 1; the "new response" of
 * moments() and predict() is f^2 itself. No hyperparameters.
 *
 *   log Z = log(mu^2 + s2),  d1 = 2 mu / (mu^2 + s2),  d2 = 2 (s2 - mu^2) / (mu^2 + s2)^2
 *
 * (thesis after 5.31). Symmetric: from mu = 0 it does not move. Not log-concave: where mu^2 < s2
 * both signs of f are possible, and d2 > 0. log p has a pole at 0, which is cut off. */
#include <math.h>
#include <Rmath.h>
#include "lik.h"

static const double NEAREST = 1e-150; /* to 0: its square and the inverse of that are numbers */

/* Returns log f^2, the pole at 0 cut off at NEAREST. */
static double density_logp(const sg_lik *self, const double *y, const double *f)
{
    (void) self, (void) y;
    return 2 * log(fmax2(fabs(*f), NEAREST));
}

/* Computes f^2, which has no variance given f. */
static void density_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    (void) self;
    *mean = *f * *f;
    *var = 0;
}

/* Places the pole at 0, of width 1: log f^2 has no scale of its own. */
static void density_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    (void) self, (void) y;
    *centre = 0;
    *width = 1;
}

/* Computes log Z, d1 and d2 from mu and s2^1/2 as proportions of (mu^2 + s2)^1/2, whose squares
 * cannot overflow. */
static void density_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                         sg_tilt *out)
{
    (void) self, (void) y;
    const double root = fmax2(hypot(*mu, sqrt(*s2)), NEAREST);
    const double of_mean = *mu / root, of_sd = sqrt(*s2) / root;
    out->logz = 2 * log(root);
    *out->d1 = 2 * of_mean / root;
    *out->d2 = 2 * (of_sd - of_mean) * (of_sd + of_mean) / root / root;
}

/* Computes E f^2 = mu^2 + s2 and Var f^2 = 2 s2 (s2 + 2 mu^2). */
static void density_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                            double *var)
{
    (void) self;
    *mean = *mu * *mu + *s2;
    *var = 2 * *s2 * (*s2 + 2 * *mu * *mu);
}

/* Computes the derivatives of log f^2, 2 / f and -2 / f^2. */
static void density_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    (void) self, (void) y;
    const double at = fabs(f) < NEAREST ? copysign(NEAREST, f) : f;
    out[0] = 2 / at;
    out[1] = -2 / at / at;
}

/* Computes P(f^2 <= y) = Phi((r - mu) / sd) - Phi((-r - mu) / sd), r = y^1/2, and its complement
 * as a sum of the two outer tails, which keeps the digits of small ones. */
static void density_tails(const sg_lik *self, const double *y, const double *mu, const double *s2,
                          double *out)
{
    (void) self;
    const double sd = sqrt(fmax2(*s2, NEAREST * NEAREST)), root = sqrt(y[0]);
    double less[2], more[2];
    pnorm_both((-root - *mu) / sd, less, less + 1, 2, 0);
    pnorm_both((root - *mu) / sd, more, more + 1, 2, 0);
    out[0] = fmax2(more[0] - less[0], 0);
    out[1] = more[1] + less[0];
}

const sg_lik_type sg_lik_density = {
    .name = "density", .q = 1, .width = 1, .kinked = 1,
    .logp = density_logp, .moments = density_moments, .locate = density_locate,
    .slopes = density_slopes, .tilt = density_tilt, .predict = density_predict,
    .tails = density_tails, .support = SG_POSITIVE
};
