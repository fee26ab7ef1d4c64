/* sites.c: cavities, tilts and sites of a span of rows (formulas 74-88, and the same in w x w
 * blocks, block.h).
 *
 * A sweep calls these in order: shares g = 1 - tau var and alpha = nu - tau mean from the
 * marginals; cavities; tilts at them; sites of the tilts, and their residual. Each has a scalar
 * branch for w = 1, which is the inner loop of every sweep, and one for blocks. Rows are
 * independent of each other throughout. */
#include <math.h>
#include "block.h"
#include "coupled.h"
#include "power.h"
#include "par.h"
#include "sites.h"
#include "hosted.h"

enum { MAX_WIDTH = SG_LIK_MAX_WIDTH, MAX_BLOCK = SG_LIK_MAX_WIDTH * SG_LIK_MAX_WIDTH };

/* Allocates the state of EP at the rows. W, of coupled classes, is the caller's. */
sg_marginals sg_marginals_new(sg_layout layout, const sg_ws *ws)
{
    const size_t values = sg_values_of(layout), blocks = sg_blocks_of(layout);
    const sg_marginals marg = {
        .layout = layout, .mean = sg_doubles(ws, values), .var = sg_doubles(ws, blocks),
        .g = sg_doubles(ws, sg_sites_of(layout)), .alpha = sg_doubles(ws, values),
        .cav_mean = sg_doubles(ws, values), .cav_var = sg_doubles(ws, blocks),
        .logz = sg_doubles(ws, layout.n), .d1 = sg_doubles(ws, values),
        .d2 = sg_doubles(ws, blocks)
    };
    return marg;
}

/* Divides the moment-matched marginal by the cavity. The tilted distribution has variance s2 +
 * s2^2 d2 = s2 D, and 1 / (s2 D) - 1 / s2 = -d2 / D = tau; nu likewise from its mean, mu + s2 d1.
 * Formulas 81-83 with beta = -d2. Returns 0 where the tilted variance is not positive. */
int sg_site_from_tilt(double mu, double s2, double d1, double d2, double *tau, double *nu)
{
    return sg_site_of_power(1, mu, s2, d1, d2, tau, nu);
}

/* The tilt by a power has derivatives p d1 and p d2, and asks for the site to the power p: both
 * sides are divided by p. */
int sg_site_of_power(double p, double mu, double s2, double d1, double d2, double *tau, double *nu)
{
    const double D = 1 + p * s2 * d2, t = -d2 / D, v = (d1 - mu * d2) / D;
    if (!(D > 0) || !isfinite(t) || !isfinite(v)) return 0;
    *tau = t;
    *nu = v;
    return 1;
}

/* Computes both divergences between N(mu, s2) and N(mu + s2 d1, s2 (1 + s2 d2)):
 *   2 KL(new || old) = (d1^2 + d2) s2 - log(1 + s2 d2)
 *   2 KL(old || new) = (d1^2 - d2) s2 / (1 + s2 d2) + log(1 + s2 d2) */
void sg_step_kl(double d1, double d2, double s2, double kl[2])
{
    const double shrink = s2 * d2, logs = log1p(shrink);
    kl[0] = ((d1 * d1 + d2) * s2 - logs) / 2;
    kl[1] = ((d1 * d1 - d2) * s2 / (1 + shrink) + logs) / 2;
}

/* ---- Cavities ---- */

/* Computes alpha = nu - T mean and, for w = 1, g = 1 - tau var. For blocks g = |I - var T| comes
 * with the cavity. At a fixed point alpha = d1 of the tilts, and g = var / cav_var the proportion
 * of the cavity's variance that the site leaves. */
void sg_shares(const sg_sites *sites, sg_marginals *marg, sg_span span)
{
    const sg_layout l = marg->layout;
    for (int c = 0; c < l.C; c++) {
        const size_t from = span.from + (size_t) l.n * c;
        for (size_t at = from; at < from + span.m; at++) {
            if (l.w == 1) {
                marg->g[at] = 1 - sites->tau[at] * marg->var[at];
                marg->alpha[at] = sites->nu[at] - sites->tau[at] * marg->mean[at];
                continue;
            }
            double *alpha = marg->alpha + l.w * at;
            sg_block_mv(l.w, sites->tau + (size_t) l.w * l.w * at, marg->mean + l.w * at, alpha);
            for (int a = 0; a < l.w; a++) alpha[a] = sites->nu[a + l.w * at] - alpha[a];
        }
    }
}

/* Divides the marginal by the site: 1 / cav_var = 1 / var - tau = g / var. With alpha = nu - tau
 * mean
 *   cav_mean = cav_var (mean / var - nu) = mean - cav_var alpha,
 * in which nothing cancels when a site is nearly all of the row's precision. Returns whether it is
 * a distribution, and not far wider than the prior. Formulas 78 and 79: lambda_i = cav_var. A power
 * p of the site takes p tau and p alpha. */
static int scalar_cavity(const sg_rows *rows, int i, int c, sg_marginals *marg)
{
    const double *prior = sg_prior_of(rows, i, c);
    const size_t at = i + (size_t) rows->n * c;
    const double p = rows->lik->power;
    marg->g[at] = (1 - p) + p * marg->g[at];
    if (!(marg->g[at] > 0)) return 0;
    marg->cav_var[at] = marg->var[at] / marg->g[at];
    marg->cav_mean[at] = marg->mean[at] - marg->cav_var[at] * (p * marg->alpha[at]);
    return !prior || !(marg->cav_var[at] > SG_WIDE_CAVITY * (*prior + sg_extra_var(rows, i, c)));
}

/* Returns the sum of the diagonal, which measures how wide a block is. */
static double trace_of(int w, const double *block)
{
    double sum = 0;
    for (int a = 0; a < w; a++) sum += block[a * (w + 1)];
    return sum;
}

/* The same in blocks, by sg_block_cavity(); g is |G|. */
static int block_cavity(const sg_rows *rows, const sg_sites *sites, int i, int c,
                        sg_marginals *marg)
{
    const int w = rows->lik->w, ww = w * w;
    const size_t at = i + (size_t) rows->n * c;
    const double *gamma = sg_gamma_of(rows, i, c), *prior = sg_prior_of(rows, i, c);
    double log_det, width = gamma ? trace_of(w, gamma) : 0;
    if (!sg_block_cavity(w, marg->mean + w * at, marg->var + ww * at, sites->tau + ww * at,
                         sites->nu + w * at, marg->cav_mean + w * at, marg->cav_var + ww * at,
                         &log_det)) return 0;
    marg->g[at] = exp(log_det);
    for (int a = 0; prior && a < w; a++) width += prior[a];
    return !prior || !(trace_of(w, marg->cav_var + ww * at) > SG_WIDE_CAVITY * width);
}

/* Stops at the first site that leaves no cavity: the whole step is shortened then (ep_loop.c). */
int sg_cavities(const sg_rows *rows, const sg_sites *sites, sg_marginals *marg, sg_span span)
{
    const int blocks = rows->lik->w > 1;
    marg->power = rows->lik->power;
    for (int c = 0; c < rows->lik->C; c++) {
        for (int i = span.from; i < span.from + span.m; i++) {
            const int good = blocks ? block_cavity(rows, sites, i, c, marg)
                                    : scalar_cavity(rows, i, c, marg);
            if (!good) return 0;
        }
    }
    return 1;
}

/* ---- Tilts ---- */

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
    sg_cavities_of_row(rows, marg, i, mu, S);
    sg_lik_power_tilt(rows->lik, sg_lik_row(rows->lik, rows->y, i), mu, S, &tilt);
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

/* Tilts on several threads: likelihoods take most of a sweep of few points, microseconds a row. */
sg_status sg_tilt_rows(const sg_rows *rows, sg_marginals *marg, sg_span span, const sg_ws *ws)
{
    if (rows->lik->host) return sg_host_tilts(rows, marg, span, ws);
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
        sg_cavities_of_row(job->rows, job->marg, i, mu, S);
        sg_lik_power_dpar(lik, sg_lik_row(lik, job->rows->y, i), mu, S, dpar);
    }
    return SG_OK;
}

/* Adds the chunks' sums in order, so the result does not depend on the number of threads. */
void sg_tilt_rows_dpar(const sg_rows *rows, const sg_marginals *marg, sg_span span, double *dlik,
                       const sg_ws *ws)
{
    if (rows->lik->host) {
        if (rows->lik->npar > 0) sg_host_dpar(rows, marg, span, dlik, ws);
        return;
    }
    const int npar = sg_lik_npar(rows->lik), chunks = sg_par_chunks(span.m, GRAIN);
    void *mark = sg_mark(ws);
    tilt_job job = {.rows = rows, .marg = marg, .from = span.from,
                    .dpar = sg_doubles(ws, (size_t) npar * chunks)};
    if (npar > 0) sg_par_rows(span.m, GRAIN, dpar_chunk, &job, ws);
    for (int k = 0; k < chunks; k++) {
        for (int j = 0; j < npar; j++) dlik[j] += job.dpar[j + (size_t) npar * k];
    }
    sg_release(ws, mark);
}

/* ---- Sites ---- */

/* Returns the larger of the two, and NaN if one of them is. */
static double larger(double a, double b)
{
    return a >= b || isnan(a) ? a : b;
}

/* Returns the larger Frobenius norm of L'(d1 - alpha) and L'(d2 + T G) L for a cavity LL', in
 * whose coordinates a step of 1 is a standard deviation; T G = T - T S T for the marginal's S.
 * O(w^3). */
static double block_residual(int w, const sg_sites *sites, const sg_marginals *marg, size_t at)
{
    const int ww = w * w;
    const double *T = sites->tau + ww * at, *cov = marg->cav_var + ww * at;
    double TS[MAX_BLOCK], bend[MAX_BLOCK], step[MAX_WIDTH];
    sg_copy(ww, marg->d2 + ww * at, bend);
    if (sites->nonnegative) sg_block_clip_tilt(w, cov, bend);
    sg_block_multiply(w, T, marg->var + ww * at, TS);
    for (int b = 0; b < w; b++) {
        step[b] = marg->d1[b + w * at] - marg->alpha[b + w * at];
        for (int a = 0; a < w; a++) {
            double TST = 0;
            for (int k = 0; k < w; k++) TST += TS[a + w * k] * T[k + w * b];
            bend[a + w * b] += T[a + w * b] - TST;
        }
    }
    return larger(sg_block_norm(w, cov, step), sg_block_size(w, cov, bend));
}

/* Compares the derivatives with what the sites make of them: at a fixed point alpha = d1 and tau G
 * = -d2. */
double sg_sites_residual(const sg_sites *sites, const sg_marginals *marg, sg_span span)
{
    const sg_layout l = marg->layout;
    double worst = 0;
    for (int c = 0; c < l.C; c++) {
        const size_t from = span.from + (size_t) l.n * c;
        for (size_t at = from; at < from + span.m; at++) {
            if (l.w > 1) {
                worst = larger(worst, block_residual(l.w, sites, marg, at));
                continue;
            }
            const double v = marg->cav_var[at], d2 = sg_site_bend(sites, v, marg->d2[at]);
            worst = larger(worst, fabs(marg->d1[at] - marg->alpha[at]) * sqrt(v));
            worst = larger(worst, fabs(d2 + sites->tau[at] * marg->g[at]) * v);
        }
    }
    return worst;
}

/* Writes the site that the row's tilt asks for; returns 0 if it has no site. */
static int scalar_target(const sg_sites *sites, const sg_marginals *marg, size_t at, double *tau,
                         double *nu)
{
    const double s2 = marg->cav_var[at], d2 = sg_site_bend(sites, s2, marg->d2[at]);
    return sg_site_of_power(marg->power, marg->cav_mean[at], s2, marg->d1[at], d2, tau, nu);
}

/* The same in blocks. */
static int block_target(const sg_sites *sites, const sg_marginals *marg, size_t at, double *tau,
                        double *nu)
{
    const int w = marg->layout.w, ww = w * w;
    double d2[MAX_BLOCK];
    sg_copy(ww, marg->d2 + ww * at, d2);
    if (sites->nonnegative) sg_block_clip_tilt(w, marg->cav_var + ww * at, d2);
    return sg_block_site(w, marg->cav_mean + w * at, marg->cav_var + ww * at, marg->d1 + w * at,
                         d2, tau, nu);
}

/* Starts from the old sites, which stay where the tilt has no site. */
int sg_sites_of_tilts(const sg_sites *sites, const sg_marginals *marg, int c, sg_span span,
                      double *tau, double *nu)
{
    const int n = marg->layout.n, w = marg->layout.w, ww = w * w;
    int skipped = 0;
    for (int i = 0; i < span.m; i++) {
        const size_t at = span.from + i + (size_t) n * c, k = i;
        sg_copy(w, sites->nu + w * at, nu + w * k);
        sg_copy(ww, sites->tau + ww * at, tau + ww * k);
        if (trace_of(w, marg->cav_var + ww * at) == 0) continue;
        skipped += !(w == 1 ? scalar_target : block_target)(sites, marg, at, tau + ww * k,
                                                            nu + w * k);
    }
    return skipped;
}

/* Writes the sites of all processes and rows, tau[blocks] and nu[values]; returns how many kept
 * their old ones. */
int sg_sites_of_all_tilts(const sg_sites *sites, const sg_marginals *marg, double *tau, double *nu)
{
    const sg_layout l = sites->layout;
    const sg_span all = {0, l.n};
    const size_t w = l.w;
    int skipped = 0;
    for (int c = 0; c < l.C; c++) {
        const size_t at = (size_t) l.n * c;
        skipped += sg_sites_of_tilts(sites, marg, c, all, tau + w * w * at, nu + w * at);
    }
    return skipped;
}

/* Returns log|G| / p of a site, and in the limit p = 0 what that tends to, -tau var (w = 1). */
static double log_share(const sg_sites *sites, const sg_marginals *marg, size_t at)
{
    if (marg->power == 0) return -sites->tau[at] * marg->var[at];
    return log(marg->g[at]) / marg->power;
}

/* Adds sum log Z - sum (log g + cav_mean'alpha) / 2, row by row and then process by process.
 * Formulas 87 and 88 row by row: at any sites, and stationary at a fixed point. With a power p it
 * is
 *   log int prior(f) prod t_i(f) df + sum (log Z_i - log int cavity_i(f) t_i(f)^p df) / p
 * (Minka 2004), where log Z_i is of the tilt by p(y|f)^p. O(m C w). */
double sg_log_evidence(const sg_sites *sites, const sg_marginals *marg, sg_span span)
{
    const sg_layout l = marg->layout;
    double sum = 0;
    for (int i = span.from; i < span.from + span.m; i++) sum += marg->logz[i];
    for (int c = 0; c < l.C; c++) {
        const size_t from = span.from + (size_t) l.n * c;
        for (size_t at = from; at < from + span.m; at++) sum -= 0.5 * log_share(sites, marg, at);
        for (size_t k = l.w * from; k < l.w * (from + span.m); k++) {
            sum -= 0.5 * marg->cav_mean[k] * marg->alpha[k];
        }
    }
    return sum;
}

/* ---- Sites that widen ---- */

/* Has d2, or with sign -1 a site's tau, an eigenvalue above 0? */
static int has_positive(int w, const double *block, double sign)
{
    double U[MAX_BLOCK], lambda[MAX_WIDTH];
    if (w == 1) return sign * *block > 0;
    sg_block_eigen(w, block, U, lambda);
    for (int a = 0; a < w; a++) {
        if (sign * lambda[a] > 0) return 1;
    }
    return 0;
}

/* Counts sites, not eigenvalues. */
int sg_n_clipped(const sg_marginals *marg, sg_span span)
{
    const sg_layout l = marg->layout;
    int count = 0;
    for (int c = 0; c < l.C; c++) {
        const size_t from = span.from + (size_t) l.n * c;
        for (size_t at = from; at < from + span.m; at++) {
            count += has_positive(l.w, marg->d2 + (size_t) l.w * l.w * at, 1);
        }
    }
    return count;
}

/* Sets negative precisions to 0, in blocks their negative eigenvalues; returns whether there were
 * any. */
int sg_sites_clip(sg_sites *sites)
{
    const int w = sites->layout.w, ww = w * w;
    const size_t count = sg_sites_of(sites->layout);
    int any = 0;
    for (size_t at = 0; at < count; at++) {
        double *T = sites->tau + ww * at;
        if (!has_positive(w, T, -1)) continue;
        any = 1;
        if (w == 1) *T = 0;
        else sg_block_clip(w, T);
    }
    return any;
}
