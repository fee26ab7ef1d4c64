/* ep_full.c: the posterior of EP with every row in the basis, from the factor of B
 * (full_factor.h).
 *
 *   alpha = (I + T K)^{-1} nu,   mean = K alpha,   var = diag(K - K W K)
 * Everything is scalar: blocks of sites are turned into their eigenvectors' coordinates first.
 *
 * The rows of a process are N = n w values; a sweep costs 2 N^3 / 3 operations in LAPACK, half of
 * them for A and half for its inverse, and O(N^2) for means and variances where sites are
 * strong. */
#include <math.h>
#include <Rmath.h>
#include "block.h"
#include "chol.h"
#include "ep_full.h"
#include "full_trend.h"
#include "power.h"
#include "tolerances.h"

enum { BLOCK = 64 }; /* columns treated at a time where memory should stay O(n) */

/* Room that every sweep uses again. */
typedef struct {
    double *V; /* n x BLOCK */
    int *weak; /* n */
} workspace;

/* Adds the answer for the shifts b to alpha, (I + T K)^{-1} b, and that of a linear mean's
 * coefficients to theirs. With b = T a + r, where a = b / tau of strong sites and 0 elsewhere, it
 * is r + W (a - K r), as W = (I + T K)^{-1} T. Of strong sites W K b is nearly b: in b - W K b
 * nothing would be left but rounding.
 * own[n], work[2n]. O(n^2). */
static void add_solution(int n, const double *K, const double *tau, const sg_full_factor *f,
                         const double *b, double *alpha, double *own, double *work)
{
    double *seen = work + n;
    for (int i = 0; i < n; i++) {
        own[i] = tau[i] * K[i + (size_t) n * i] > 1 ? 0 : b[i];
    }
    sg_symv(n, K, n, own, seen);
    for (int i = 0; i < n; i++) {
        seen[i] = (tau[i] * K[i + (size_t) n * i] > 1 ? b[i] / tau[i] : 0) - seen[i];
    }
    sg_full_apply_W(n, f, seen, seen, work);
    for (int i = 0; i < n; i++) own[i] += seen[i];
    if (f->trend) sg_full_trend_filter(n, f->trend, own);
    for (int i = 0; i < n; i++) alpha[i] += own[i];
}

/* Solves alpha = (I + T K)^{-1} nu and mean = K alpha, plus a linear mean. The first answer loses
 * digits when the sites are sharp (noise far below the kernel's variance); its residual nu - alpha
 * - T mean is exact and cheap, and corrects it (iterative refinement). O(n^2). */
static void posterior_mean(int n, const double *K, const sg_sites *sites, const sg_full_factor *f,
                           sg_marginals *marg, const workspace *work)
{
    enum { ROUNDS = 3 };
    double *res = work->V, *own = res + n, *filtered = own + n, *alpha = marg->alpha;
    sg_zero(n, alpha);
    if (f->trend) sg_zero(f->trend->q, f->trend->coef);
    add_solution(n, K, sites->tau, f, sites->nu, alpha, own, filtered);
    for (int round = 0;; round++) {
        double largest = 0, size = 0;
        sg_symv(n, K, n, alpha, marg->mean);
        if (f->trend) sg_full_trend_add_mean(n, f->trend, marg->mean);
        for (int i = 0; i < n; i++) {
            res[i] = sites->nu[i] - alpha[i] - sites->tau[i] * marg->mean[i];
            largest = fmax2(largest, fabs(res[i]));
            size = fmax2(size, fabs(alpha[i]));
        }
        if (round == ROUNDS || largest <= SG_REFINED * size) break;
        add_solution(n, K, sites->tau, f, res, alpha, own, filtered);
    }
}

/* Returns x'S x. */
static double signed_square(int n, int plain, const double *x)
{
    return sg_dot(plain, x, x) - sg_dot(n - plain, x + plain, x + plain);
}

/* var[i] = K_ii - (K W K)_ii for the m rows listed, by blocks of columns. O(n^2) a row. */
static void variances_direct(int n, const double *K, const sg_full_factor *f, int m,
                             const int *rows, double *var, double *V)
{
    for (int from = 0; from < m; from += BLOCK) {
        const int width = m - from < BLOCK ? m - from : BLOCK;
        sg_full_columns(n, K, f, width, rows + from, V);
        for (int c = 0; c < width; c++) {
            const int i = rows[from + c];
            const double known = signed_square(n, *f->plain, V + (size_t) n * c);
            var[i] = fmax2(K[i + (size_t) n * i] - known, 0);
        }
    }
}

/* g = diag(S B^{-1}) keeps its digits however sharp a site is, and var = (1 - g) / tau keeps them
 * unless the site is weak. The direct form takes over for those rows only. */
static void posterior_variances(int n, const double *K, const sg_sites *sites,
                                const sg_full_factor *f, sg_marginals *marg,
                                const workspace *work)
{
    int m = 0;
    sg_full_shares(n, f, marg->g, work->V);
    if (f->turn) return; /* turn_back() finds them in whole blocks */
    for (int i = 0; i < n; i++) {
        const double share = 1 - marg->g[i];
        if (fabs(share) > SG_WEAK_SITE) marg->var[i] = share / sites->tau[i];
        else work->weak[m++] = i;
    }
    variances_direct(n, K, f, m, work->weak, marg->var, work->V);
}

/* Are all sites 0? Then the posterior is the prior, and A the identity. */
static int is_prior(int n, const double *tau, const double *nu)
{
    for (int i = 0; i < n; i++) if (tau[i] != 0 || nu[i] != 0) return 0;
    return 1;
}

/* Writes the upper triangle alone, as a factorisation would. */
static void identity(int n, double *A)
{
    for (int j = 0; j < n; j++) {
        for (int i = 0; i <= j; i++) A[i + (size_t) n * j] = i == j;
    }
}

/* Writes the marginals of no sites: variances K_ii, means 0. */
static void prior_marginals(int n, const double *K, sg_marginals *marg)
{
    for (int j = 0; j < n; j++) {
        marg->g[j] = 1;
        marg->var[j] = K[j + (size_t) n * j];
        marg->mean[j] = marg->alpha[j] = 0;
    }
}

/* The model that the loop hands back */
typedef struct {
    sg_layout layout;
    int N, kernels; /* values of a process */
    const double *K;
    sg_full_factor *factor;
    workspace work;
    double *R; /* as K: its factors, where classes are coupled */
    double *turned_K, *turned; /* w > 1: C times N x N; 6 N: one process in turned coordinates */
    const sg_ws *ws;
} full_model;

/* Returns the kernel matrix of process c. */
static const double *gram_of(const full_model *full, int c)
{
    return full->K + (full->kernels == 1 ? 0 : (size_t) full->N * full->N * c);
}

/* One process as scalar sites and marginals: its own arrays, or with w > 1 turned ones. */
typedef struct {
    const double *K;
    sg_full_factor factor;
    sg_sites sites;
    sg_marginals marg;
} process;

/* Collects one process's arrays, or with w > 1 those in turned coordinates. */
static process process_of(const full_model *full, const sg_sites *sites, sg_marginals *marg, int c)
{
    const size_t w = full->layout.w, at = (size_t) full->layout.n * c, N = full->N;
    process own = {.K = gram_of(full, c),
                   .factor = sg_full_factor_of(full->factor, full->layout, c)};
    own.sites.tau = sites->tau + w * w * at, own.sites.nu = sites->nu + w * at;
    if (w > 1) {
        double *turned = full->turned;
        own.K = full->turned_K + N * N * c;
        own.sites.tau = turned, own.sites.nu = turned + N;
        own.marg.mean = turned + 2 * N, own.marg.var = turned + 3 * N;
        own.marg.g = turned + 4 * N, own.marg.alpha = turned + 5 * N;
    } else if (marg) {
        own.marg.mean = marg->mean + at, own.marg.var = marg->var + at;
        own.marg.g = marg->g + at, own.marg.alpha = marg->alpha + at;
    }
    return own;
}

/* Turns tau and nu of a process into the coordinates of its sites' eigenvectors; anew: finds U and
 * U'K U, too. */
static void turn_sites(const full_model *full, const sg_sites *sites, int c, int anew,
                       process *own)
{
    const int w = full->layout.w, ww = w * w, N = full->N;
    const size_t first = (size_t) full->layout.n * c;
    double U[SG_LIK_MAX_WIDTH * SG_LIK_MAX_WIDTH];
    for (int i = 0; i < full->layout.n; i++) {
        double *kept = own->factor.turn + (size_t) ww * i;
        sg_block_eigen(w, sites->tau + ww * (first + i), anew ? kept : U,
                       own->sites.tau + (size_t) w * i);
    }
    sg_full_turn(&own->factor, full->layout, 1, sites->nu + w * first, own->sites.nu);
    if (!anew) return;
    double *K = full->turned_K + (size_t) N * N * c;
    for (size_t k = 0; k < (size_t) N * N; k++) K[k] = gram_of(full, c)[k];
    sg_full_turn_gram(&own->factor, full->layout, K);
}

/* Turns the marginals back, the covariances as whole blocks. */
static void turn_back(const full_model *full, const process *own, int c, sg_marginals *marg)
{
    const size_t w = full->layout.w, first = (size_t) full->layout.n * c;
    sg_full_turn(&own->factor, full->layout, 0, own->marg.mean, marg->mean + w * first);
    sg_full_turn(&own->factor, full->layout, 0, own->marg.alpha, marg->alpha + w * first);
    sg_full_blocks(&own->factor, full->layout, own->K, own->sites.tau, own->marg.g,
                   marg->var + w * w * first, full->ws);
}

/* ---- What the loop asks for ---- */

/* Factors B and inverts A. Adds log|A| to *log_det. O(N^3), or O(N^2) without sites. */
static sg_status factor_process(const full_model *full, process *own, double *log_det)
{
    const int N = full->N;
    sg_full_factor *f = &own->factor;
    sg_full_arrange(N, own->sites.tau, f);
    if (is_prior(N, own->sites.tau, own->sites.nu)) {
        identity(N, f->Ainv);
        if (f->trend) sg_full_trend_prior(full->layout, f);
        return SG_OK;
    }
    sg_status status = sg_chol_sites(N, *f->plain, f->order, own->K, f->rt, f->Ainv);
    if (status != SG_OK) return status;
    *log_det += sg_log_diag(N, f->Ainv);
    status = sg_trtri(N, f->Ainv);
    if (status != SG_OK || !f->trend) return status;
    return sg_full_trend_factor(full->layout, own->K, own->sites.tau, f, log_det, full->work.V);
}

/* Factors all processes; with w > 1 in coordinates of the new sites. */
static sg_status begin(void *self, const sg_sites *sites, const double *sums, double *log_det)
{
    const full_model *full = self;
    sg_status status = SG_OK;
    (void) sums;
    *log_det = 0;
    for (int c = 0; c < full->layout.C && status == SG_OK; c++) {
        process own = process_of(full, sites, NULL, c);
        if (full->layout.w > 1) turn_sites(full, sites, c, 1, &own);
        status = factor_process(full, &own, log_det);
        sg_tick(full->ws);
    }
    return status;
}

/* Computes g, var, alpha and mean of all rows, which are one span. */
static void marginals(void *self, const sg_sites *sites, sg_span span, sg_marginals *marg)
{
    const full_model *full = self;
    const int N = full->N;
    (void) span;
    for (int c = 0; c < full->layout.C; c++) {
        process own = process_of(full, sites, marg, c);
        if (full->layout.w > 1) turn_sites(full, sites, c, 0, &own);
        if (is_prior(N, own.sites.tau, own.sites.nu)) {
            prior_marginals(N, own.K, &own.marg);
        } else {
            posterior_variances(N, own.K, &own.sites, &own.factor, &own.marg, &full->work);
            posterior_mean(N, own.K, &own.sites, &own.factor, &own.marg, &full->work);
        }
        if (full->layout.w > 1) turn_back(full, &own, c, marg);
        if (own.factor.trend) {
            sg_full_trend_add_vars(full->layout, &own.factor, own.sites.tau, own.marg.g,
                                   marg->var + (size_t) full->layout.w * N * c, full->ws);
        }
        sg_tick(full->ws);
    }
}

/* ---- Coordinates for the coupled step: K = R'R, x = R'a ---- */

/* Factors each kernel matrix, K = R'R. A jitter stands in where K is singular: it preconditions a
 * step that need not be exact. */
static sg_status factor_grams(full_model *full)
{
    const int n = full->N;
    const size_t n2 = (size_t) n * n;
    full->R = sg_doubles(full->ws, n2 * full->kernels);
    for (int k = 0; k < full->kernels; k++) {
        sg_status status = SG_NOT_PD;
        double largest = 0;
        for (int i = 0; i < n; i++) largest = fmax2(largest, full->K[n2 * k + i + (size_t) n * i]);
        if (largest == 0) largest = 1;
        for (double jitter = 1e-10; status != SG_OK && jitter < 1e-2; jitter *= 100) {
            double *R = full->R + n2 * k;
            sg_copy(n2, full->K + n2 * k, R);
            for (int i = 0; i < n; i++) R[i + (size_t) n * i] += jitter * largest;
            status = sg_potrf(n, R, n);
        }
        if (status != SG_OK) return status;
    }
    return SG_OK;
}

/* Returns R of process c. */
static const double *root_of(const full_model *full, int c)
{
    return full->R + (full->kernels == 1 ? 0 : (size_t) full->N * full->N * c);
}

/* Takes coordinates a to values x = R'a, lets `between` replace these, and goes back by R x. a,
 * out: N C coordinates. O(C N^2). */
static void through(void *self, const double *a, sg_between between, void *ctx, double *out)
{
    const full_model *full = self;
    const size_t values = sg_values_of(full->layout), N = full->N;
    const int n = full->N;
    void *mark = sg_mark(full->ws);
    double *x = sg_doubles(full->ws, values);
    if (a) sg_copy(values, a, x);
    for (int c = 0; a && c < full->layout.C; c++) sg_trmv('T', n, root_of(full, c), x + N * c);
    between(ctx, 0, full->N, x);
    if (out) sg_copy(values, x, out);
    for (int c = 0; out && c < full->layout.C; c++) sg_trmv('N', n, root_of(full, c), out + N * c);
    sg_release(full->ws, mark);
}

/* Applies (I + R T R')^{-1} = I - R W R', the posterior covariance in these coordinates. O(N^2) a
 * process. */
static void smooth(void *self, double *a)
{
    full_model *full = self;
    const int n = full->N;
    double *seen = full->work.V, *work = seen + n;
    for (int c = 0; c < full->layout.C; c++) {
        const sg_full_factor f = sg_full_factor_of(full->factor, full->layout, c);
        const double *R = root_of(full, c);
        double *own = a + (size_t) n * c;
        sg_copy(n, own, seen);
        sg_trmv('T', n, R, seen);
        sg_full_apply_W(n, &f, seen, seen, work);
        sg_trmv('N', n, R, seen);
        for (int i = 0; i < n; i++) own[i] -= seen[i];
    }
}

/* Computes Sigma = K - K W K, lower triangle, by symmetric products of A^{-T} |T|^1/2 K. O(n^3). */
static void posterior_covariance(int n, const double *K, const sg_full_factor *f, double *Sigma,
                                 const sg_ws *ws)
{
    const size_t size = (size_t) n * n;
    void *mark = sg_mark(ws);
    double *V = sg_doubles(ws, size);
    int *all = sg_ints(n, ws);
    for (int i = 0; i < n; i++) all[i] = i;
    sg_full_columns(n, K, f, n, all, V);
    sg_copy(size, K, Sigma);
    sg_syrk('T', n, *f->plain, -1, V, n, Sigma, n);
    sg_syrk('T', n, n - *f->plain, 1, V + *f->plain, n, Sigma, n);
    if (f->trend) sg_syrk('N', n, f->trend->q, 1, f->trend->U, n, Sigma, n);
    sg_release(ws, mark);
}

/* Updates one row's site (formulas 78-85): cavity, tilt, site, and the rank-one change
 *   Sigma -= dtau / (1 + dtau s) Sigma_.i Sigma_.i',
 *   mean += (dnu - dtau m) / (1 + dtau s) Sigma_.i.
 * Returns 0 when the change is refused. O(n^2). Sigma is n x n with the lower triangle kept, mean
 * and col are n. */
static int sequential_update(int i, const sg_rows *rows, double damping, sg_sites *sites,
                             double *mean, double *Sigma, double *col)
{
    const int n = rows->n;
    const double s = Sigma[i + (size_t) n * i], m = mean[i], p = rows->lik->power;
    double d1, d2, tau, nu, g = 1 - p * sites->tau[i] * s;
    sg_tilt tilt = {.d1 = &d1, .d2 = &d2};
    if (!(g > 0)) return 0;
    const double cav_var = s / g, cav_mean = m - cav_var * (p * (sites->nu[i] - sites->tau[i] * m));
    const double mu = cav_mean + rows->offset[i];
    sg_lik_power_tilt(rows->lik, sg_lik_row(rows->lik, rows->y, i), &mu, &cav_var, &tilt);
    d2 = sg_site_bend(sites, cav_var, d2);
    if (!sg_site_of_power(p, cav_mean, cav_var, d1, d2, &tau, &nu)) return 0;
    const double dtau = damping * (tau - sites->tau[i]), dnu = damping * (nu - sites->nu[i]);
    if (!(1 + dtau * s > 0)) return 0;
    for (int j = 0; j < n; j++) col[j] = Sigma[j < i ? i + (size_t) n * j : j + (size_t) n * i];
    for (int j = 0; j < n; j++) mean[j] += (dnu - dtau * m) / (1 + dtau * s) * col[j];
    sg_syr(n, -dtau / (1 + dtau * s), col, Sigma, n);
    sites->tau[i] += dtau, sites->nu[i] += dnu;
    return 1;
}

/* Passes once over the rows; `marg` must belong to the sites on entry. Returns the rows refused.
 * O(n^3), as a batch sweep is, but in level 2 products. */
static int sequential_sweep(void *self, const sg_rows *rows, double damping, sg_sites *sites,
                            const sg_marginals *marg)
{
    enum { BETWEEN_TICKS = 100 };
    const full_model *full = self;
    const sg_ws *ws = full->ws;
    const int n = rows->n;
    int skipped = 0;
    void *mark = sg_mark(ws);
    double *Sigma = sg_doubles(ws, (size_t) n * n);
    double *mean = sg_doubles(ws, n), *col = sg_doubles(ws, n);
    posterior_covariance(n, full->K, full->factor, Sigma, ws);
    sg_copy(n, marg->mean, mean);
    for (int i = 0; i < n; i++) {
        skipped += !sequential_update(i, rows, damping, sites, mean, Sigma, col);
        if (i % BETWEEN_TICKS == 0) sg_tick(ws);
    }
    sg_release(ws, mark);
    return skipped;
}

/* Returns the diagonals of K, or K + phi phi', for rows->prior. */
static double *prior_of(const full_model *full)
{
    const int N = full->N;
    double *prior = sg_doubles(full->ws, (size_t) N * full->kernels);
    for (int k = 0; k < full->kernels; k++) {
        const double *K = gram_of(full, k);
        const sg_full_trend *trend = full->factor->trend;
        for (int i = 0; i < N; i++) prior[i + (size_t) N * k] = K[i + (size_t) N * i];
        if (trend) sg_full_trend_add_prior(N, trend, prior + (size_t) N * k);
    }
    return prior;
}

sg_status sg_ep_full_run(const sg_rows *rows, const double *K, int kernels,
                         const sg_ep_options *options, sg_sites *sites, sg_marginals *marg,
                         sg_full_factor *factor, sg_ep_report *report, const sg_ws *ws)
{
    const sg_layout layout = sg_layout_of(rows);
    const int N = layout.n * layout.w;
    const size_t values = N;
    full_model full = {.layout = layout, .N = N, .kernels = kernels, .K = K, .factor = factor,
                       .work = {sg_doubles(ws, values * BLOCK), sg_ints(N, ws)}, .ws = ws};
    if (layout.w > 1) {
        full.turned_K = sg_doubles(ws, values * values * layout.C);
        full.turned = sg_doubles(ws, 6 * values);
    }
    const int in_turn = layout.C == 1 && layout.w == 1;
    const sg_ep_model model = {
        .self = &full, .window = layout.n, .parts = 1, .begin = begin, .marginals = marginals,
        .sequential = in_turn ? sequential_sweep : NULL,
        .carrier = {(int) (values * layout.C), through, smooth, NULL}
    };
    sg_rows known = *rows;
    known.prior = prior_of(&full);
    known.shared = kernels == 1;
    if (sg_is_coupled(rows)) {
        const sg_status status = factor_grams(&full);
        if (status != SG_OK) return status;
    }
    return sg_ep_loop(&known, &model, options, sites, NULL, marg, report, ws);
}

