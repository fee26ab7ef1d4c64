/* lik_squares.c: two classes by least squares. Labels y = -1 or 1 have the Gaussian likelihood y ~
 * N(f + bias, noise) (Rasmussen and Williams 2006, 6.5); a new row's second class has
 *   P = 1 / (1 + exp(-4 (f + bias))),
 * whose slope at 0 is 1: a step between the two labels' numbers. theta: bias, log noise.
 *
 * Every row holds f at its label, so those far inside of a class weigh as much as those at its
 * border. log Z is of numbers, not of labels.
 *
 * The integrals are Gaussian: with e = y - mu - bias and v = s2 + noise,
 *   log Z = log N(e; 0, v),  d1 = e / v,  d2 = -1 / v,
 * and the site is exact, tau = 1 / noise and nu = tau (y - bias). */
#include <math.h>
#include <Rmath.h>
#include "lik.h"
#include "logs.h"
#include "normal.h"

/* Returns the noise variance, bounded to what doubles hold. */
static double noise_of(const sg_lik *self)
{
    return exp(sg_log_within(self->theta[1]));
}

/* Returns log N(y; f + bias, noise). */
static double squares_logp(const sg_lik *self, const double *y, const double *f)
{
    return sg_log_normal(y[0] - *f - self->theta[0], noise_of(self));
}

/* Computes P and P (1 - P) of the second class given f. */
static void squares_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double odds = 4 * (*f + self->theta[0]);
    *mean = exp(sg_log_sigmoid(odds));
    *var = *mean * exp(sg_log_sigmoid(-odds));
}

/* Places log p at y - bias, of the noise's width; without a label the transition of P, of width
 * 1/4. */
static void squares_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    *centre = (y ? y[0] : 0) - self->theta[0];
    *width = y ? sqrt(noise_of(self)) : 0.25;
}

/* Computes log Z, d1 and d2 by the formulas above. */
static void squares_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                         sg_tilt *out)
{
    const double off = y[0] - *mu - self->theta[0], var = *s2 + noise_of(self);
    out->logz = sg_log_normal(off, var);
    *out->d1 = off / var;
    *out->d2 = -1 / var;
}

/* Adds dlogZ/dbias = d1 and dlogZ/dlog noise = noise (d1^2 - 1 / v) / 2 to dpar[2]. */
static void squares_tilt_dpar(const sg_lik *self, const double *y, const double *mu,
                              const double *s2, double *dpar)
{
    const double off = y[0] - *mu - self->theta[0], noise = noise_of(self), var = *s2 + noise;
    dpar[0] += off / var;
    dpar[1] += 0.5 * noise / var * (off / var * off - 1);
}

/* Writes the exact site of a row. */
static void squares_site(const sg_lik *self, const double *y, double *tau, double *nu)
{
    *tau = 1 / noise_of(self);
    *nu = *tau * (y[0] - self->theta[0]);
}

const sg_lik_type sg_lik_squares = {
    .name = "squares", .q = 1, .npar = 2, .width = 1,
    .par = {"bias", "noise"},
    .logp = squares_logp, .moments = squares_moments, .locate = squares_locate,
    .site = squares_site, .tilt = squares_tilt, .tilt_dpar = squares_tilt_dpar
};
