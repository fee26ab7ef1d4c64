/* hosted_tilts.h: tilts of likelihoods whose log p the host has (sg_lik_host in lik.h), for many
 * rows at once, by the quadrature of quad_rows.h. Of one latent value (hosted_tilts.c), and of two
 * (hosted_pairs.c). On the host's own thread; the host may jump. */
#ifndef SG_HOSTED_TILTS_H
#define SG_HOSTED_TILTS_H

#include "lik.h"
#include "quad_rows.h"

/* Writes log Z, d1[w x n], d2[w w x n] and, unless dpar is NULL, dlogZ/dtheta[npar x n] of n data
 * rows y[q x n] under N(mu, S), mu[w x n] and S[w w x n]: those of lik->power, divided by it, as
 * power.h has them, where w = 1. A row whose density is 0 everywhere has -Inf and NaN. */
void sg_hosted_tilts(const sg_lik *lik, int n, const double *y, const double *mu, const double *S,
                     double *logz, double *d1, double *d2, double *dpar);

/* The same of at most SG_HOSTED_ROWS rows with w = 2. */
void sg_hosted_pairs(const sg_lik *lik, int n, const double *y, const double *mu, const double *S,
                     double *logz, double *d1, double *d2, double *dpar);

enum { SG_HOSTED_ROWS = 128 }; /* rows that are integrated at once */
static const double SG_HOSTED_TOLERANCE = 1e-9;

/* Bounds a variance from below, where the second derivative would be rounding. */
static inline double sg_hosted_variance(double s2, double mean)
{
    return fmax2(s2, 1e-9 * (1 + mean * mean));
}

/* Returns log p, or with `slopes` its derivatives in theta[npar x m], at m points f[m x w] of the
 * rows row[m] of y, lent. */
static inline double *sg_hosted_ask(const sg_lik *lik, int slopes, int m, const double *y,
                                    const int *row, const double *f)
{
    const sg_lik_host *host = lik->host;
    const int q = sg_lik_q(lik);
    double *out = sg_doubles(host->ws, (size_t) m * (slopes ? lik->npar : 1));
    void *mark = sg_mark(host->ws);
    double *ys = sg_doubles(host->ws, (size_t) q * m);
    for (int k = 0; k < m; k++) sg_copy(q, sg_lik_row(lik, y, row[k]), ys + (size_t) q * k);
    (slopes ? host->slopes : host->logps)(host->self, lik, m, ys, f, out);
    sg_release(host->ws, mark);
    return out;
}

#endif
