/* hosted.c: tilts of rows whose likelihood the host has (hosted.h). C = w = 1. */
#include <math.h>
#include "hosted.h"

/* Cavities of a span with offset and gamma, as the likelihood sees them (C = w = 1). */
static void seen_cavities(const sg_rows *rows, const sg_marginals *marg, sg_span span, double *mu,
                          double *s2)
{
    for (int i = 0; i < span.m; i++) sg_cavities_of_row(rows, marg, span.from + i, mu + i, s2 + i);
}

sg_status sg_host_tilts(const sg_rows *rows, sg_marginals *marg, sg_span span, const sg_ws *ws)
{
    const sg_lik *lik = rows->lik;
    const int from = span.from;
    double sum = 0;
    void *mark = sg_mark(ws);
    double *mu = sg_doubles(ws, span.m), *s2 = sg_doubles(ws, span.m);
    seen_cavities(rows, marg, span, mu, s2);
    lik->host->tilts(lik->host->self, lik, span.m, sg_lik_row(lik, rows->y, from), mu, s2,
                     marg->logz + from, marg->d1 + from, marg->d2 + from, NULL);
    for (int i = from; i < from + span.m; i++) sum += marg->logz[i] + marg->d1[i] + marg->d2[i];
    sg_release(ws, mark);
    return isfinite(sum) ? SG_OK : SG_NOT_FINITE;
}

void sg_host_dpar(const sg_rows *rows, const sg_marginals *marg, sg_span span, double *dlik,
                  const sg_ws *ws)
{
    const sg_lik *lik = rows->lik;
    const size_t m = span.m;
    void *mark = sg_mark(ws);
    double *mu = sg_doubles(ws, m), *s2 = sg_doubles(ws, m), *z = sg_doubles(ws, 3 * m);
    double *dpar = sg_doubles(ws, lik->npar * m);
    seen_cavities(rows, marg, span, mu, s2);
    lik->host->tilts(lik->host->self, lik, span.m, sg_lik_row(lik, rows->y, span.from), mu, s2, z,
                     z + m, z + 2 * m, dpar);
    for (size_t k = 0; k < lik->npar * m; k++) dlik[k % lik->npar] += dpar[k];
    sg_release(ws, mark);
}
