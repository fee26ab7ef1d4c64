/* tilts.c: the likelihood of many rows at their cavities (sites.h): on several threads, or by one
 * call of the host, where that answers for the likelihood. */
#include <math.h>
#include <Rmath.h>
#include "coupled.h"
#include "par.h"
#include "sites.h"

/* Adds a block: x += y; y NULL: nothing. */
static void add_block(int ww, const double *y, double *x)
{
    for (int k = 0; y && k < ww; k++) x[k] += y[k];
}

/* Collects the cavities of row i, mu[C w] and S[C blocks], as its likelihood sees them: with the
 * offset, and with the variance gamma that marginals leave out. O(C w^2). */
static void cavities_of_row(const sg_rows *rows, const sg_marginals *marg, int i, double *mu,
                            double *S)
{
    const int w = rows->lik->w, ww = w * w;
    for (int c = 0; c < rows->lik->C; c++) {
        const size_t at = i + (size_t) rows->n * c;
        for (int a = 0; a < w; a++) {
            mu[a + w * c] = marg->cav_mean[a + w * at] + rows->offset[a + (size_t) w * i];
        }
        sg_copy(ww, marg->cav_var + ww * at, S + ww * c);
        add_block(ww, sg_gamma_of(rows, i, c), S + ww * c);
    }
}

/* Keeps the weights of coupled classes from a row's tilt (w = 1), for the Newton step of all
 * classes. */
static void keep_weights(const sg_marginals *marg, int i, const sg_tilt *tilt)
{
    const int C = marg->layout.C;
    double s2[SG_LIK_MAX_CLASSES];
    for (int c = 0; c < C; c++) s2[c] = marg->cav_var[i + (size_t) marg->layout.n * c];
    sg_coupled_row(C, s2, tilt, marg->W + sg_coupled_size(C) * i);
}

/* Tilts row i at its cavities and keeps log Z, d1 and d2; returns whether all of them are finite.
 * cross and own: work space, or NULL. */
static int tilt_row(const sg_rows *rows, const sg_marginals *marg, int i, double *cross,
                    double *own)
{
    const int C = rows->lik->C, w = rows->lik->w, ww = w * w;
    double mu[SG_LIK_MAX_BLOCKS], S[SG_LIK_MAX_BLOCKS];
    double d1[SG_LIK_MAX_BLOCKS], d2[SG_LIK_MAX_BLOCKS];
    sg_tilt tilt = {.d1 = d1, .d2 = d2, .cross = cross, .own = own};
    cavities_of_row(rows, marg, i, mu, S);
    sg_lik_tilt(rows->lik, sg_lik_row(rows->lik, rows->y, i), mu, S, &tilt);
    if (own) keep_weights(marg, i, &tilt);
    double sum = marg->logz[i] = tilt.logz;
    for (int c = 0; c < C; c++) {
        const size_t at = i + (size_t) rows->n * c;
        for (int a = 0; a < w; a++) sum += marg->d1[a + w * at] = d1[a + w * c];
        for (int k = 0; k < ww; k++) sum += marg->d2[k + ww * at] = d2[k + ww * c];
    }
    return isfinite(sum);
}

enum { GRAIN = 16 }; /* rows that a thread takes at once */

/* A span's rows for several threads; each chunk of GRAIN rows writes its own places. */
typedef struct {
    const sg_rows *rows;
    const sg_marginals *marg;
    int from;     /* row that the loop calls 0 */
    double *dpar; /* dlogZ/dtheta summed over each chunk */
} tilt_job;

/* Tilts all rows of the chunk even if one of them fails: the others' numbers are as they would
 * be. */
static sg_status tilt_chunk(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    (void) slot;
    const tilt_job *job = ctx;
    const int C = job->rows->lik->C, keeps = job->marg->W != NULL;
    sg_status status = SG_OK;
    void *mark = sg_mark(ws);
    double *own = keeps ? sg_doubles(ws, C) : NULL;
    double *cross = keeps && sg_coupled_rank(C) > 1 ? sg_doubles(ws, (size_t) C * C) : NULL;
    for (int i = job->from + from; i < job->from + to; i++) {
        if (!tilt_row(job->rows, job->marg, i, cross, own)) status = SG_NOT_FINITE;
    }
    sg_release(ws, mark);
    return status;
}

/* Collects the cavities of a span as a host's likelihood sees them (C = w = 1). */
static void cavities_of_span(const sg_rows *rows, const sg_marginals *marg, sg_span span,
                             double *mu, double *s2)
{
    for (int k = 0; k < span.m; k++) cavities_of_row(rows, marg, span.from + k, mu + k, s2 + k);
}

/* Asks the host for the tilts of all rows at once. */
static sg_status tilt_by_host(const sg_rows *rows, sg_marginals *marg, sg_span span,
                              const sg_ws *ws)
{
    const int m = span.m, from = span.from;
    void *mark = sg_mark(ws);
    double *mu = sg_doubles(ws, m), *s2 = sg_doubles(ws, m), sum = 0;
    cavities_of_span(rows, marg, span, mu, s2);
    rows->lik->host->tilts(rows->lik, m, sg_lik_row(rows->lik, rows->y, from), mu, s2,
                           marg->logz + from, marg->d1 + from, marg->d2 + from);
    for (int i = from; i < from + m; i++) sum += marg->logz[i] + marg->d1[i] + marg->d2[i];
    sg_release(ws, mark);
    return isfinite(sum) ? SG_OK : SG_NOT_FINITE;
}

/* Asks the host for the sums of dlogZ/dtheta of all rows at once. */
static void dpar_by_host(const sg_rows *rows, const sg_marginals *marg, sg_span span, double *dlik,
                         const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    double *mu = sg_doubles(ws, span.m), *s2 = sg_doubles(ws, span.m);
    cavities_of_span(rows, marg, span, mu, s2);
    rows->lik->host->slopes(rows->lik, span.m, sg_lik_row(rows->lik, rows->y, span.from), mu, s2,
                            dlik);
    sg_release(ws, mark);
}

/* Tilts on several threads: likelihoods take most of a sweep of few points, microseconds a row. */
sg_status sg_tilt_rows(const sg_rows *rows, sg_marginals *marg, sg_span span, const sg_ws *ws)
{
    if (rows->lik->host) return tilt_by_host(rows, marg, span, ws);
    tilt_job job = {.rows = rows, .marg = marg, .from = span.from};
    return sg_par_rows(span.m, GRAIN, tilt_chunk, &job, ws);
}

/* Sums dlogZ / dtheta over the chunk's rows, in their order, into the chunk's own place. */
static sg_status dpar_chunk(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    const tilt_job *job = ctx;
    const sg_lik *lik = job->rows->lik;
    const int npar = sg_lik_npar(lik);
    double mu[SG_LIK_MAX_BLOCKS], S[SG_LIK_MAX_BLOCKS];
    double *dpar = job->dpar + (size_t) npar * (from / GRAIN);
    (void) slot, (void) ws;
    sg_zero(npar, dpar);
    for (int i = job->from + from; i < job->from + to; i++) {
        cavities_of_row(job->rows, job->marg, i, mu, S);
        sg_lik_tilt_dpar(lik, sg_lik_row(lik, job->rows->y, i), mu, S, dpar);
    }
    return SG_OK;
}

/* Adds the chunks' sums in order, so the result does not depend on the number of threads. */
void sg_tilt_rows_dpar(const sg_rows *rows, const sg_marginals *marg, sg_span span, double *dlik,
                       const sg_ws *ws)
{
    const int npar = sg_lik_npar(rows->lik), chunks = sg_par_chunks(span.m, GRAIN);
    if (rows->lik->host) {
        dpar_by_host(rows, marg, span, dlik, ws);
        return;
    }
    void *mark = sg_mark(ws);
    tilt_job job = {.rows = rows, .marg = marg, .from = span.from,
                    .dpar = sg_doubles(ws, (size_t) npar * chunks)};
    if (npar > 0) sg_par_rows(span.m, GRAIN, dpar_chunk, &job, ws);
    for (int k = 0; k < chunks; k++) {
        for (int j = 0; j < npar; j++) dlik[j] += job.dpar[j + (size_t) npar * k];
    }
    sg_release(ws, mark);
}
