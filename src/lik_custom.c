/* lik_custom.c: likelihoods whose log p the host has (sg_lik_host in lik.h): C asks for the tilts
 * of many rows at once where it can (hosted.c, active.c), and here for those of one. Responses are
 * the host's: R has their moments and quantiles without C. */
#include <math.h>
#include "hosted_tilts.h"

static double logp(const sg_lik *self, const double *y, const double *f)
{
    double out;
    self->host->logps(self->host->self, self, 1, y, f, &out);
    return out;
}

static void no_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const int w = self->w;
    (void) f;
    for (int a = 0; a < w; a++) mean[a] = NAN; /* the host's */
    for (int k = 0; k < w * w; k++) var[k] = NAN;
}

static void no_place(const sg_lik *self, const double *y, double *centre, double *width)
{
    (void) self, (void) y;
    *centre = 0, *width = 1;
}

static void tilt(const sg_lik *self, const double *y, const double *mu, const double *S,
                 sg_tilt *out)
{
    sg_hosted_tilts(self, 1, y, mu, S, &out->logz, out->d1, out->d2, NULL);
    if (out->cross) sg_copy((size_t) self->w * self->w, out->d2, out->cross);
}

/* Adds dlogZ/dtheta of a row, as lik.h asks for it. */
static void tilt_dpar(const sg_lik *self, const double *y, const double *mu, const double *S,
                      double *dpar)
{
    double z, d1[SG_HOST_WIDTH], d2[SG_HOST_WIDTH * SG_HOST_WIDTH], own[SG_LIK_MAX_PAR];
    sg_hosted_tilts(self, 1, y, mu, S, &z, d1, d2, own);
    for (int j = 0; j < self->npar; j++) dpar[j] += own[j];
}

static void no_prediction(const sg_lik *self, const double *mu, const double *S, double *mean,
                          double *var)
{
    (void) S;
    no_moments(self, mu, mean, var);
}

const sg_lik_type sg_lik_custom = {
    .name = "custom", .q = -1, .npar = 0, .width = 0,
    .logp = logp, .moments = no_moments, .locate = no_place,
    .tilt = tilt, .tilt_dpar = tilt_dpar, .predict = no_prediction,
};
