/* hosted.c: tilts of rows whose likelihood the host has (hosted.h). C = 1. */
#include <math.h>
#include "hosted.h"

/* Collects the cavities of a span with offset and gamma, as the likelihood sees them. */
static void seen_cavities(const sg_rows *rows, const sg_marginals *marg, sg_span span, double *mu,
                          double *S)
{
    const int w = rows->lik->w;
    for (int i = 0; i < span.m; i++) {
        sg_cavities_of_row(rows, marg, span.from + i, mu + (size_t) w * i,
                           S + (size_t) w * w * i);
    }
}

/* Adds n numbers to a sum that is finite as long as all of them are. */
static double sum_of(size_t n, const double *x)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += x[k];
    return sum;
}

sg_status sg_host_tilts(const sg_rows *rows, sg_marginals *marg, sg_span span, const sg_ws *ws)
{
    const sg_lik *lik = rows->lik;
    const size_t w = lik->w, ww = w * w, m = span.m, from = span.from;
    double *logz = marg->logz + from, *d1 = marg->d1 + w * from, *d2 = marg->d2 + ww * from;
    void *mark = sg_mark(ws);
    double *mu = sg_doubles(ws, w * m), *S = sg_doubles(ws, ww * m);
    seen_cavities(rows, marg, span, mu, S);
    lik->host->tilts(lik->host->self, lik, span.m, sg_lik_row(lik, rows->y, span.from), mu, S,
                     logz, d1, d2, NULL);
    sg_release(ws, mark);
    return isfinite(sum_of(m, logz) + sum_of(w * m, d1) + sum_of(ww * m, d2)) ? SG_OK
                                                                              : SG_NOT_FINITE;
}

void sg_host_dpar(const sg_rows *rows, const sg_marginals *marg, sg_span span, double *dlik,
                  const sg_ws *ws)
{
    const sg_lik *lik = rows->lik;
    const size_t m = span.m, w = lik->w, ww = w * w;
    void *mark = sg_mark(ws);
    double *mu = sg_doubles(ws, w * m), *S = sg_doubles(ws, ww * m), *logz = sg_doubles(ws, m);
    double *d1 = sg_doubles(ws, w * m), *d2 = sg_doubles(ws, ww * m);
    double *dpar = sg_doubles(ws, lik->npar * m);
    seen_cavities(rows, marg, span, mu, S);
    lik->host->tilts(lik->host->self, lik, span.m, sg_lik_row(lik, rows->y, span.from), mu, S,
                     logz, d1, d2, dpar);
    for (size_t k = 0; k < lik->npar * m; k++) dlik[k % lik->npar] += dpar[k];
    sg_release(ws, mark);
}
