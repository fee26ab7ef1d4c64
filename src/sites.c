#include <math.h>
#include <Rmath.h>
#include "par.h"
#include "sites.h"

sg_marginals sg_marginals_new(int rows, int C, const sg_ws *ws)
{
    const int n = rows * C;
    sg_marginals marg = {n, rows,
                         sg_doubles(ws, n), sg_doubles(ws, n), sg_doubles(ws, n),
                         sg_doubles(ws, n), sg_doubles(ws, n), sg_doubles(ws, n),
                         sg_doubles(ws, rows), sg_doubles(ws, n), sg_doubles(ws, n)};
    return marg;
}

sg_sites sg_sites_of_class(const sg_sites *sites, int rows, int c)
{
    const size_t at = (size_t) rows * c;
    const sg_sites own = {rows, sites->tau + at, sites->nu + at, sites->narrow};
    return own;
}

sg_marginals sg_marginals_of_class(const sg_marginals *m, int c)
{
    const size_t at = (size_t) m->rows * c;
    const sg_marginals own = {m->rows, m->rows, m->mean + at, m->var + at, m->g + at,
                              m->alpha + at, m->cav_mean + at, m->cav_var + at, m->logz,
                              m->d1 + at, m->d2 + at};
    return own;
}

void sg_cavities_of_row(const sg_rows *rows, const sg_marginals *marg, int i, double *mu,
                        double *s2)
{
    for (int c = 0; c < rows->lik->C; c++) {
        const int at = i + rows->n * c;
        mu[c] = marg->cav_mean[at] + rows->offset[i];
        s2[c] = marg->cav_var[at] + sg_extra_var(rows, at);
    }
}

int sg_site_from_tilt(double mu, double s2, double d1, double d2, double *tau, double *nu)
{
    const double D = 1 + s2 * d2, t = -d2 / D, v = (d1 - mu * d2) / D;
    if (!(D > 0) || !isfinite(t) || !isfinite(v)) return 0;
    *tau = t;
    *nu = v;
    return 1;
}

void sg_step_kl(double d1, double d2, double s2, double kl[2])
{
    const double shrink = s2 * d2, logs = log1p(shrink);
    kl[0] = ((d1 * d1 + d2) * s2 - logs) / 2;
    kl[1] = ((d1 * d1 - d2) * s2 / (1 + shrink) + logs) / 2;
}

void sg_cavities(sg_marginals *marg)
{
    for (int i = 0; i < marg->n; i++) {
        marg->cav_var[i] = marg->var[i] / marg->g[i];
        marg->cav_mean[i] = marg->mean[i] - marg->cav_var[i] * marg->alpha[i];
    }
}

typedef struct {
    const sg_rows *rows;
    sg_marginals *marg;
} tilt_job;

/* Rows from .. to - 1 of sg_tilt_rows(). */
static sg_status tilt_chunk(void *ctx, int from, int to, const sg_ws *ws)
{
    (void) ws;
    const tilt_job *job = ctx;
    const sg_rows *rows = job->rows;
    const sg_marginals *marg = job->marg;
    const int C = rows->lik->C;
    double mu[SG_LIK_MAX_BLOCKS], s2[SG_LIK_MAX_BLOCKS];
    double d1[SG_LIK_MAX_BLOCKS], d2[SG_LIK_MAX_BLOCKS];
    sg_tilt tilt = {.d1 = d1, .d2 = d2};
    sg_status status = SG_OK;
    for (int i = from; i < to; i++) {
        sg_cavities_of_row(rows, marg, i, mu, s2);
        sg_lik_tilt(rows->lik, sg_lik_row(rows->lik, rows->y, i), mu, s2, &tilt);
        marg->logz[i] = tilt.logz;
        double sum = tilt.logz;
        for (int c = 0; c < C; c++) {
            marg->d1[i + (size_t) rows->n * c] = d1[c];
            marg->d2[i + (size_t) rows->n * c] = d2[c];
            sum += d1[c] + d2[c];
        }
        if (!isfinite(sum)) status = SG_NOT_FINITE;
    }
    return status;
}

sg_status sg_tilt_rows(const sg_rows *rows, sg_marginals *marg, const sg_ws *ws)
{
    enum { GRAIN = 16 };
    tilt_job job = {rows, marg};
    return sg_par_rows(rows->n, GRAIN, tilt_chunk, &job, ws);
}

double sg_sites_residual(const sg_sites *sites, const sg_marginals *marg)
{
    double worst = 0;
    for (int i = 0; i < sites->n; i++) {
        const double v = marg->cav_var[i], d2 = sg_site_bend(sites, v, marg->d2[i]);
        worst = fmax2(worst, fabs(marg->d1[i] - marg->alpha[i]) * sqrt(v));
        worst = fmax2(worst, fabs(d2 + sites->tau[i] * marg->g[i]) * v);
    }
    return worst;
}

sg_stepper sg_stepper_new(int n, const double *scale, const sg_ws *ws)
{
    enum { DEPTH = 8 };
    sg_stepper stepper = {sg_anderson_new(2 * n, DEPTH, ws), scale, sg_doubles(ws, 2 * (size_t) n),
                          sg_doubles(ws, 2 * (size_t) n), sg_doubles(ws, 2 * (size_t) n)};
    return stepper;
}

int sg_sites_of_tilts(const sg_sites *sites, const sg_marginals *marg, double *tau, double *nu)
{
    int skipped = 0;
    for (int i = 0; i < sites->n; i++) {
        tau[i] = sites->tau[i], nu[i] = sites->nu[i];
        const double s2 = marg->cav_var[i], d2 = sg_site_bend(sites, s2, marg->d2[i]);
        skipped += !sg_site_from_tilt(marg->cav_mean[i], s2, marg->d1[i], d2, tau + i, nu + i);
    }
    return skipped;
}

void sg_sites_step(sg_stepper *stepper, sg_sites *sites, const double *tau, const double *nu,
                   double beta)
{
    const int n = sites->n;
    double *x = stepper->x, *f = stepper->f, *next = stepper->next;
    for (int i = 0; i < n; i++) {
        const double v = stepper->scale[i], root = sqrt(v);
        x[i] = v * sites->tau[i], f[i] = v * tau[i] - x[i];
        x[n + i] = root * sites->nu[i], f[n + i] = root * nu[i] - x[n + i];
    }
    sg_anderson_step(&stepper->mixing, x, f, beta, next);
    for (int i = 0; i < n; i++) {
        if (stepper->scale[i] == 0) continue;
        const int plain = !(next[i] >= fmin2(fmin2(x[i], x[i] + f[i]), 0));
        const double t = plain ? x[i] + beta * f[i] : next[i];
        const double v = plain ? x[n + i] + beta * f[n + i] : next[n + i];
        sites->tau[i] = t / stepper->scale[i];
        sites->nu[i] = v / sqrt(stepper->scale[i]);
    }
}

double sg_log_evidence(const sg_marginals *marg, double log_det_A)
{
    double sum = -log_det_A;
    for (int i = 0; i < marg->rows; i++) sum += marg->logz[i];
    for (int k = 0; k < marg->n; k++) {
        sum -= 0.5 * (log(marg->g[k]) + marg->cav_mean[k] * marg->alpha[k]);
    }
    return sum;
}
