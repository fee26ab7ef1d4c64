/* lik_custom.c: likelihoods whose log p the host has (sg_lik_host in lik.h): C asks for the tilts
 * of many rows at once where it can (sites.c), and here for those of one. Responses are the
 * host's: R has their moments and quantiles without C. */
#include <math.h>
#include "lik.h"

static double no_logp(const sg_lik *self, const double *y, const double *f)
{
    double z[3];
    const double none = 0;
    self->host->tilts(self->host->self, self, 1, y, f, &none, z, z + 1, z + 2, NULL);
    return z[0];
}

static void no_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    (void) self, (void) f;
    *mean = *var = NAN; /* the host's */
}

static void no_place(const sg_lik *self, const double *y, double *centre, double *width)
{
    (void) self, (void) y;
    *centre = 0, *width = 1;
}

static void tilt(const sg_lik *self, const double *y, const double *mu, const double *S,
                 sg_tilt *out)
{
    self->host->tilts(self->host->self, self, 1, y, mu, S, &out->logz, out->d1, out->d2, NULL);
    if (out->cross) *out->cross = *out->d2;
}

/* Adds dlogZ/dtheta of a row, as lik.h asks for it. */
static void tilt_dpar(const sg_lik *self, const double *y, const double *mu, const double *S,
                      double *dpar)
{
    double z[3], own[SG_LIK_MAX_PAR];
    self->host->tilts(self->host->self, self, 1, y, mu, S, z, z + 1, z + 2, own);
    for (int j = 0; j < self->npar; j++) dpar[j] += own[j];
}

static void no_prediction(const sg_lik *self, const double *mu, const double *S, double *mean,
                          double *var)
{
    (void) S;
    no_moments(self, mu, mean, var);
}

static int one_thread(void *self, int products)
{
    (void) self, (void) products;
    return 1;
}

sg_ws sg_lik_ws(const sg_lik *self, const sg_ws *ws)
{
    sg_ws own = *ws;
    if (self->host) own.threads = one_thread;
    return own;
}

const sg_lik_type sg_lik_custom = {
    .name = "custom", .q = -1, .npar = 0, .width = 1,
    .logp = no_logp, .moments = no_moments, .locate = no_place,
    .tilt = tilt, .tilt_dpar = tilt_dpar, .predict = no_prediction,
};
