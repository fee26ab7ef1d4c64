/* lik_custom.c: a likelihood that the host answers for (sg_lik_host in lik.h), a row at a time where
 * an algorithm takes rows in turn. Sweeps over many rows ask the host for all of them at once
 * (sites.c, active.c). */
#include <math.h>
#include <Rmath.h>
#include "lik.h"

static void custom_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                        sg_tilt *out)
{
    self->host->tilts(self, 1, y, mu, s2, &out->logz, out->d1, out->d2);
}

static void custom_dpar(const sg_lik *self, const double *y, const double *mu, const double *s2,
                        double *dpar)
{
    self->host->slopes(self, 1, y, mu, s2, dpar);
}

/* Tilts at a point, whose log Z is log p. */
static double custom_logp(const sg_lik *self, const double *y, const double *f)
{
    const double none = 0;
    double logz, d1, d2;
    self->host->tilts(self, 1, y, f, &none, &logz, &d1, &d2);
    return logz;
}

/* Moments of responses are the host's own affair: nothing in the core asks for them. */
static void custom_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    (void) self, (void) f;
    *mean = *var = NAN;
}

static void custom_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    (void) self, (void) y;
    *centre = 0, *width = 1;
}

const sg_lik_type sg_lik_custom = {
    .name = "custom", .q = -1, .npar = 0, .width = 1,
    .logp = custom_logp, .moments = custom_moments, .locate = custom_locate,
    .tilt = custom_tilt, .tilt_dpar = custom_dpar
};
