/* active.c: stubs and marginals of the candidates as rows join and leave the active set (IVM paper,
 * appendix C.1; notation in active.h).
 *
 * An inclusion appends a column to U, to M (the stubs of all candidates) and an entry to beta, in
 * O(m d); a removal takes one off again by rotations. Both leave U'U, M and beta what they would be
 * for the active set computed anew, but for rounding, and the marginals with them. */
#include <math.h>
#include "active.h"
#include "hosted_tilts.h"
#include "chol.h"
#include "par.h"
#include "tolerances.h"

/* Allocates `size` inclusions; d = 0. */
sg_active sg_active_new(int size, const sg_ws *ws)
{
    sg_active active = {.size = size, .row = sg_ints(size, ws)};
    active.tau = sg_doubles(ws, size), active.nu = sg_doubles(ws, size);
    active.U = sg_doubles(ws, (size_t) size * size), active.beta = sg_doubles(ws, size);
    active.gain = sg_doubles(ws, size), active.logz = sg_doubles(ws, size);
    return active;
}

/* Starts all rows at their prior marginals, N(0, K_ii), with nothing included and nothing scored.
 * Latent functions with one kernel share the prepared points. */
sg_candidates sg_candidates_new(const sg_kernel *kernel, int n, const double *x,
                                const sg_candidates *like, double stubs, const sg_ws *ws)
{
    sg_candidates c = {.m = n, .like = like, .room = stubs, .M = sg_doubles(ws, (size_t) stubs)};
    c.row = sg_ints(n, ws), c.taken = sg_ints(n, ws);
    c.mean = sg_doubles(ws, n), c.var = sg_doubles(ws, n);
    c.seen_mean = sg_doubles(ws, n), c.seen_var = sg_doubles(ws, n);
    c.logz = sg_doubles(ws, n), c.gain = sg_doubles(ws, n);
    c.tau = sg_doubles(ws, n), c.nu = sg_doubles(ws, n);
    /* One preparation for all latent functions of one kernel */
    c.points = like ? like->points : sg_kernel_prepare(kernel, n, x, NULL, ws);
    sg_kernel_diag(kernel, n, x, c.var, ws);
    for (int i = 0; i < n; i++) {
        c.row[i] = i, c.taken[i] = 0, c.mean[i] = 0;
        c.seen_mean[i] = c.seen_var[i] = HUGE_VAL; /* never scored */
    }
    return c;
}

/* The stubs take d columns of M; the rest may hold kernel columns. */
double sg_candidates_columns(const sg_candidates *c)
{
    return c->m > 0 ? floor(c->room / c->m) : HUGE_VAL;
}

/* Column s of M, of as many rows as there are candidates now. */
double *sg_candidates_spare(const sg_candidates *c, int s)
{
    return c->M + (size_t) c->m * s;
}

/* Moves the rows kept[] of x[m x ncol] together in place, column after column: the leading
 * dimension becomes their number. */
static void compact(int m, int ncol, double *x, const int *kept)
{
    double *to = x;
    for (int k = 0; k < ncol; k++) {
        const double *from = x + (size_t) m * k;
        for (int j = 0; j < m; j++) {
            if (kept[j]) *to++ = from[j];
        }
    }
}

/* Compacts everything that has an entry for each candidate. Points that belong to another latent
 * function have been thinned out with it. */
void sg_candidates_keep(sg_candidates *c, int d, const int *kept)
{
    /* Arrays of an entry for each candidate, and the stubs, of d */
    double *const each[] = {c->mean, c->var, c->seen_mean, c->seen_var, c->logz,
                            c->tau, c->nu, c->gain};
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) compact(c->m, 1, each[k], kept);
    compact(c->m, d, c->M, kept);
    if (c->like) c->points = c->like->points;
    else sg_points_keep(&c->points, kept);
    int at = 0;
    for (int j = 0; j < c->m; j++) {
        if (kept[j]) c->row[at] = c->row[j], c->taken[at++] = c->taken[j];
    }
    c->m = at;
}

/* Returns what an inclusion gains by the criterion, in nats; s2, d1 and d2 are the row's.
 *   entropy      fall of the entropy of its own marginal, of which s2 (1 + s2 d2) is left
 *   information  KL of the posterior after the inclusion from that before (paper eq. 5) */
static double gain_of(sg_select select, double s2, double d1, double d2)
{
    double kl[2];
    if (select == SG_SELECT_ENTROPY) return -log1p(s2 * d2) / 2;
    sg_step_kl(d1, d2, s2, kl);
    return kl[0];
}

/* Fills in site and gain of candidate j of one latent function from its tilt. A gain of -infinity
 * means that it cannot be included: it is already, it has no site, or its site has no precision
 * (tau s2 of a rounding error) or less than nothing (tau < 0). */
static void consider(sg_select select, double tie_break, sg_candidates *c, int j, double d1,
                     double d2)
{
    const double s2 = c->var[j];
    c->seen_mean[j] = c->mean[j], c->seen_var[j] = s2;
    c->gain[j] = -HUGE_VAL;
    /* Not a candidate any more, but its marginal is kept for the criterion. */
    if (c->taken[j]) return;
    if (!sg_site_from_tilt(c->mean[j], s2, d1, d2, c->tau + j, c->nu + j)) return;
    if (!(c->tau[j] * s2 > SG_NO_SITE_SHARE)) return;
    c->gain[j] = select == SG_SELECT_RANDOM ? -tie_break : gain_of(select, s2, d1, d2);
}

/* Returns the place in a random order that row i has, where rows are chosen by it. */
static double tie_of(sg_select select, const double *tie_break, int i)
{
    return select == SG_SELECT_RANDOM ? tie_break[i] : 0;
}

/* Collects the marginals of candidate j as its likelihood sees them, with the offset. */
static void marginals_of(const sg_rows *rows, int C, const sg_candidates *c, int j, double *mu,
                         double *s2)
{
    for (int k = 0; k < C; k++) {
        mu[k] = c[k].mean[j] + rows->offset[c->row[j]];
        s2[k] = c[k].var[j];
    }
}

/* One tilt for all C latent functions: a likelihood of classes needs all of their marginals. */
void sg_candidates_score_row(const sg_rows *rows, sg_select select, const double *tie_break, int C,
                             sg_candidates *c, int j)
{
    double mu[SG_LIK_MAX_BLOCKS], s2[SG_LIK_MAX_BLOCKS];
    double d1[SG_LIK_MAX_BLOCKS], d2[SG_LIK_MAX_BLOCKS];
    sg_tilt tilt = {.d1 = d1, .d2 = d2};
    const int i = c->row[j];
    marginals_of(rows, C, c, j, mu, s2);
    sg_lik_tilt(rows->lik, sg_lik_row(rows->lik, rows->y, i), mu, s2, &tilt);
    c->logz[j] = tilt.logz;
    for (int k = 0; k < C; k++) {
        consider(select, tie_of(select, tie_break, i), c + k, j, d1[k], d2[k]);
    }
}

/* Can the row be included anywhere, and is its score out of date? With one latent function every
 * inclusion moves all marginals a little and all rows are scored. With several only one of them
 * moves, so most scores stand: a row is due once a marginal has moved by SG_STILL. */
static int is_due(int C, const sg_candidates *c, int j)
{
    int open = 0, moved = C == 1;
    for (int k = 0; k < C; k++) {
        const double var = c[k].var[j];
        open = open || !c[k].taken[j];
        moved = moved || fabs(c[k].mean[j] - c[k].seen_mean[j]) > SG_STILL * sqrt(var) ||
                fabs(var - c[k].seen_var[j]) > SG_STILL * var;
    }
    return open && moved;
}

typedef struct {
    const sg_rows *rows;
    sg_select select;
    const double *tie_break;
    int C;
    sg_candidates *c;
} score_job;

/* Scores the candidates of a likelihood that the host has (C = w = 1) by one call of it for all
 * that are due: a call costs it far more than a row. */
static void score_hosted(const score_job *job, const sg_ws *ws)
{
    const sg_rows *rows = job->rows;
    const sg_lik *lik = rows->lik;
    const int q = sg_lik_q(lik);
    const size_t m = job->c->m;
    sg_candidates *c = job->c;
    void *mark = sg_mark(ws);
    int *due = sg_ints(m, ws), n = 0;
    double *y = sg_doubles(ws, q * m), *mu = sg_doubles(ws, m), *s2 = sg_doubles(ws, m);
    double *logz = sg_doubles(ws, m), *d1 = sg_doubles(ws, m), *d2 = sg_doubles(ws, m);
    for (int j = 0; j < c->m; j++) {
        if (!is_due(1, c, j)) continue;
        sg_copy(q, sg_lik_row(lik, rows->y, c->row[j]), y + (size_t) q * n);
        marginals_of(rows, 1, c, j, mu + n, s2 + n);
        due[n++] = j;
    }
    if (n > 0) sg_hosted_tilts(lik, n, y, mu, s2, logz, d1, d2, NULL);
    for (int k = 0; k < n; k++) {
        const int j = due[k];
        c->logz[j] = logz[k];
        consider(job->select, tie_of(job->select, job->tie_break, c->row[j]), c, j, d1[k], d2[k]);
    }
    sg_release(ws, mark);
}

/* Scores candidates from .. to - 1, those that are due. Rows are independent of each other and each
 * chunk writes its own entries, so the scores are the same bit for bit with any number of
 * threads. */
static sg_status score_some(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    (void) slot, (void) ws;
    const score_job *job = ctx;
    for (int j = from; j < to; j++) {
        if (!is_due(job->C, job->c, j)) continue;
        sg_candidates_score_row(job->rows, job->select, job->tie_break, job->C, job->c, j);
    }
    return SG_OK;
}

/* A tilt takes microseconds: 64 of them make a chunk worth a thread. */
void sg_candidates_score(const sg_rows *rows, sg_select select, const double *tie_break, int C,
                         sg_candidates *c, const sg_ws *ws)
{
    enum { GRAIN = 64 };
    score_job job = {.rows = rows, .select = select, .tie_break = tie_break, .C = C, .c = c};
    if (rows->lik->host) score_hosted(&job, ws);
    else sg_par_rows(c->m, GRAIN, score_some, &job, ws);
}

/* A row's way into the active set, as all candidates see it. */
typedef struct {
    sg_candidates *c;
    const double *kernel_column, *l; /* m; d and the pivot: the new column of U */
    int d;
    double root, pivot, beta;
} inclusion;

/* Writes the new column of M for some candidates and moves their marginals along it (paper,
 * appendix C.1). With l the new row's stub, scaled, and pivot^2 = 1 + tau var_j,
 *   column = (tau^1/2 k_j - M l) / pivot,   mean += beta column,   var -= column^2.
 * var is a difference and may fall below 0 by rounding. */
static sg_status move_some(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    (void) slot, (void) ws;
    const inclusion *new = ctx;
    sg_candidates *c = new->c;
    /* kernel_column may be the very column that is written: each element is read first. */
    double *column = c->M + (size_t) c->m * new->d;
    for (int k = from; k < to; k++) column[k] = new->root / new->pivot * new->kernel_column[k];
    sg_gemv('N', to - from, new->d, -1 / new->pivot, c->M + from, c->m, new->l, 1, column + from);
    for (int k = from; k < to; k++) {
        /* No more than rounding can make it negative: inclusions only lower it. */
        const double var = c->var[k] - column[k] * column[k];
        c->mean[k] += new->beta * column[k];
        c->var[k] = var < 0 ? 0 : var;
    }
    return SG_OK;
}

/* Appends column (l; pivot) to U, l = tau^1/2 m_j with m_j the row's stub: then U'U is I + Pi^1/2
 * K_I Pi^1/2 with the new row in it. Its coordinate of beta follows from mean = m'beta:
 *   beta_d = (nu - tau mean_j) / (tau^1/2 pivot)
 * The site need not be that of the last score: an exchange that fails puts the old one back. */
void sg_active_include_site(sg_active *active, sg_candidates *c, int j, double tau, double nu,
                            const double *kernel_column, const sg_ws *ws)
{
    enum { GRAIN = 4096 };
    const int d = active->d, m = c->m;
    const double root = sqrt(tau), pivot = sqrt(1 + tau * c->var[j]);
    /* Column d of U: the stub of the row itself, and under it the pivot. */
    double *l = active->U + (size_t) active->size * d;
    for (int k = 0; k < d; k++) l[k] = root * c->M[j + (size_t) m * k];
    l[d] = pivot;
    active->beta[d] = (nu - tau * c->mean[j]) / (root * pivot);
    inclusion new = {c, kernel_column, l, d, root, pivot, active->beta[d]};
    sg_par_products(m, GRAIN, move_some, &new, &c->inclusions, ws);
    active->row[d] = c->row[j];
    active->tau[d] = tau;
    active->nu[d] = nu;
    active->gain[d] = c->gain[j];
    active->d++;
    c->taken[j] = 1;
    c->gain[j] = -HUGE_VAL;
}

/* Includes the row with the site that its last score has found. */
void sg_active_include(sg_active *active, sg_candidates *c, int j, const double *kernel_column,
                       const sg_ws *ws)
{
    sg_active_include_site(active, c, j, c->tau[j], c->nu[j], kernel_column, ws);
}

/* Mends U by rotations (sg_chol_drop()), which turn the coordinates of stubs and of beta as well;
 * m'beta and |m|^2 do not change by a rotation. The last coordinate is then what the site
 * contributed (notes eqs 8, 9):
 *   mean -= beta_d m_d,   var += m_d^2
 * The row becomes a candidate again. */
void sg_active_remove(sg_active *active, sg_candidates *c, int k, const sg_ws *ws)
{
    const int d = active->d, m = c->m;
    void *mark = sg_mark(ws);
    double *cos = sg_doubles(ws, d), *sin = sg_doubles(ws, d);
    sg_chol_drop(d, k, active->U, active->size, active->U, cos, sin);
    for (int j = k; j < d - 1; j++) {
        double *left = c->M + (size_t) m * j, *right = left + m;
        sg_rotate(cos[j], sin[j], active->beta + j, active->beta + j + 1);
        for (int i = 0; i < m; i++) sg_rotate(cos[j], sin[j], left + i, right + i);
    }
    /* The last column is all that depends on the site. */
    const double *gone = c->M + (size_t) m * (d - 1), beta = active->beta[d - 1];
    for (int i = 0; i < m; i++) {
        c->mean[i] -= beta * gone[i];
        c->var[i] += gone[i] * gone[i];
        if (c->row[i] == active->row[k]) c->taken[i] = 0;
    }
    /* Later positions move up by one. */
    double *const each[] = {active->tau, active->nu, active->gain};
    for (int l = 0; l < 3; l++) sg_copy(d - 1 - k, each[l] + k + 1, each[l] + k);
    for (int j = k; j < d - 1; j++) active->row[j] = active->row[j + 1];
    active->d--;
    sg_release(ws, mark);
}

/* Returns the fall of log|U| without each position. Without position k the determinant of U'U is
 * that of U'U times [(U'U)^{-1}]_kk, and
 *   [(U'U)^{-1}]_kk = sum_j (U^{-1})_kj^2,
 * a row norm of U^{-1}: one inversion, O(d^3), serves all positions. */
sg_status sg_active_worth(const sg_active *active, double *out, const sg_ws *ws)
{
    const int d = active->d;
    void *mark = sg_mark(ws);
    double *inverse = sg_doubles(ws, (size_t) d * d);
    const sg_status status = sg_inverse_upper(d, active->U, active->size, inverse);
    sg_row_norms(d, inverse, out);
    for (int k = 0; k < d; k++) out[k] = -log(out[k]) / 2;
    sg_release(ws, mark);
    return status;
}

/* Derives the stored form (posterior.h). With the stub m(x) = U^{-T} Pi^1/2 k(x),
 *   |m|^2 = |G'k|^2 for G = Pi^1/2 U^{-1},   m'beta = k'alpha for alpha = G beta. */
sg_status sg_active_stored(const sg_active *active, double *alpha, double *G)
{
    const int d = active->d;
    const sg_status status = sg_inverse_upper(d, active->U, active->size, G);
    for (int j = 0; j < d; j++) {
        for (int i = 0; i <= j; i++) G[i + (size_t) d * j] *= sqrt(active->tau[i]);
    }
    sg_gemv('N', d, d, 1, G, d, active->beta, 0, alpha);
    return status;
}
