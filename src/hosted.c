/* hosted.c: tilts of rows whose likelihood the host has (hosted.h). C = 1. */
#include <math.h>
#include "hosted.h"
#include "hosted_tilts.h"

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

/* Marks the rows that have no cavity (sg_leave_out()). Returns the first of those that have one; m
 * where none has. */
static int mark_lacking(size_t w, int m, const double *mu, const double *S, int *lacks)
{
    int first = m;
    for (int i = m - 1; i >= 0; i--) {
        lacks[i] = !isfinite(sum_of(w, mu + w * i) + sum_of(w * w, S + w * w * i));
        if (!lacks[i]) first = i;
    }
    return first;
}

/* Gives rows that have no cavity that of row `from`, so that the host is asked about numbers
 * alone. */
static void fill_missing_cavity(size_t w, int m, int from, const int *lacks, double *mu, double *S)
{
    const size_t ww = w * w;
    for (int i = 0; i < m; i++) {
        if (!lacks[i]) continue;
        sg_copy(w, mu + w * from, mu + w * i);
        sg_copy(ww, S + ww * from, S + ww * i);
    }
}

sg_status sg_host_tilts(const sg_rows *rows, sg_marginals *marg, sg_span span, const sg_ws *ws)
{
    const sg_lik *lik = rows->lik;
    const size_t w = lik->w, ww = w * w, m = span.m, from = span.from;
    double *logz = marg->logz + from, *d1 = marg->d1 + w * from, *d2 = marg->d2 + ww * from;
    void *mark = sg_mark(ws);
    double *mu = sg_doubles(ws, w * m), *S = sg_doubles(ws, ww * m);
    int *lacks = sg_ints(m, ws);
    seen_cavities(rows, marg, span, mu, S);
    const int first = mark_lacking(w, span.m, mu, S, lacks);
    if (first < span.m) {
        fill_missing_cavity(w, span.m, first, lacks, mu, S);
        sg_hosted_tilts(lik, span.m, sg_lik_row(lik, rows->y, span.from), mu, S,
                         logz, d1, d2, NULL);
    }
    for (size_t i = 0; i < m; i++) {
        if (!lacks[i]) continue;
        logz[i] = NAN;
        sg_fill(w, NAN, d1 + w * i);
        sg_fill(ww, NAN, d2 + ww * i);
    }
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
    sg_hosted_tilts(lik, span.m, sg_lik_row(lik, rows->y, span.from), mu, S,
                     logz, d1, d2, dpar);
    for (size_t k = 0; k < lik->npar * m; k++) dlik[k % lik->npar] += dpar[k];
    sg_release(ws, mark);
}
