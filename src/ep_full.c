#include <math.h>
#include <Rmath.h>
#include "chol.h"
#include "ep_full.h"

enum { BLOCK = 64 }; /* columns treated at a time where memory should stay O(n) */

/* Room that every sweep uses again. */
typedef struct {
    double *V; /* n x BLOCK */
    int *weak; /* n */
} workspace;

/* out = W x, W = |T|^1/2 B^{-1} |T|^1/2, with A^{-1} in hand. work[n], not x or out. */
static void apply_W(int n, const sg_full_factor *f, const double *x, double *out, double *work)
{
    for (int i = 0; i < n; i++) work[i] = f->rt[i] * x[f->order[i]];
    sg_trmv('T', n, f->A, work);
    for (int i = *f->plain; i < n; i++) work[i] *= -1;
    sg_trmv('N', n, f->A, work);
    for (int i = 0; i < n; i++) out[f->order[i]] = f->rt[i] * work[i];
}

/* x -= W K b, so that x = b on entry gives (I + T K)^{-1} b. work[2n] */
static void subtract_filtered(int n, const double *K, const sg_full_factor *f, const double *b,
                              double *x, double *work)
{
    double *Kb = work + n;
    sg_symv(n, K, n, b, Kb);
    apply_W(n, f, Kb, Kb, work);
    for (int i = 0; i < n; i++) x[i] -= Kb[i];
}

/* alpha = (I + T K)^{-1} nu and mean = K alpha. The first answer loses digits when the sites are
 * sharp (noise far below the kernel's variance): the residual nu - alpha - T mean costs nothing
 * and tells; then refine. O(n^2). */
static void posterior_mean(int n, const double *K, const sg_sites *sites, const sg_full_factor *f,
                           sg_marginals *marg, workspace *work)
{
    enum { ROUNDS = 3 };
    const double ENOUGH = 1e-13;
    double *res = work->V, *filtered = work->V + n, *alpha = marg->alpha;
    for (int i = 0; i < n; i++) alpha[i] = sites->nu[i];
    subtract_filtered(n, K, f, sites->nu, alpha, filtered);
    for (int round = 0;; round++) {
        double largest = 0, size = 0;
        sg_symv(n, K, n, alpha, marg->mean);
        for (int i = 0; i < n; i++) {
            res[i] = sites->nu[i] - alpha[i] - sites->tau[i] * marg->mean[i];
            largest = fmax2(largest, fabs(res[i]));
            size = fmax2(size, fabs(alpha[i]));
        }
        if (round == ROUNDS || largest <= ENOUGH * size) break;
        for (int i = 0; i < n; i++) alpha[i] += res[i];
        subtract_filtered(n, K, f, res, alpha, filtered);
    }
}

/* V[n x width] = A^{-T} |T|^1/2 K for the columns of K listed */
static void filtered_columns(int n, const double *K, const sg_full_factor *f, int width,
                             const int *rows, double *V)
{
    for (int c = 0; c < width; c++) {
        const double *k = K + (size_t) n * rows[c];
        double *v = V + (size_t) n * c;
        for (int i = 0; i < n; i++) v[i] = f->rt[i] * k[f->order[i]];
    }
    sg_trmm('L', 'T', n, width, f->A, V);
}

/* x'S x */
static double signed_square(int n, int plain, const double *x)
{
    return sg_dot(plain, x, x) - sg_dot(n - plain, x + plain, x + plain);
}

/* var[i] = K_ii - (K W K)_ii for the m rows listed, by blocks of columns */
static void variances_direct(int n, const double *K, const sg_full_factor *f, int m,
                             const int *rows, double *var, double *V)
{
    for (int from = 0; from < m; from += BLOCK) {
        const int width = m - from < BLOCK ? m - from : BLOCK;
        filtered_columns(n, K, f, width, rows + from, V);
        for (int c = 0; c < width; c++) {
            const int i = rows[from + c];
            const double known = signed_square(n, *f->plain, V + (size_t) n * c);
            var[i] = fmax2(K[i + (size_t) n * i] - known, 0);
        }
    }
}

/* g = diag(S B^{-1}) */
static void cavity_shares(int n, const sg_full_factor *f, double *g, double *work)
{
    for (int i = 0; i < n; i++) work[i] = 0;
    for (int j = 0; j < n; j++) {
        const double *a = f->A + (size_t) n * j, sign = j < *f->plain ? 1 : -1;
        for (int i = 0; i <= j; i++) work[i] += sign * a[i] * a[i];
    }
    for (int i = 0; i < n; i++) g[f->order[i]] = i < *f->plain ? work[i] : -work[i];
}

/* g = diag(S B^{-1}) keeps its digits however sharp a site is; var = (1 - g)/tau keeps them unless
 * the site hardly matters. Where it does not, the direct form takes over, for those rows only. */
static void posterior_variances(int n, const double *K, const sg_sites *sites,
                                const sg_full_factor *f, sg_marginals *marg, workspace *work)
{
    const double WEAK = 1e-5;
    int m = 0;
    cavity_shares(n, f, marg->g, work->V);
    for (int i = 0; i < n; i++) {
        const double share = 1 - marg->g[i];
        if (fabs(share) > WEAK) marg->var[i] = share / sites->tau[i];
        else work->weak[m++] = i;
    }
    variances_direct(n, K, f, m, work->weak, marg->var, work->V);
}

/* The order of the factor: sites of negative precision last. */
static void arrange(int n, const double *tau, sg_full_factor *f)
{
    int plain = 0, at = 0;
    for (int i = 0; i < n; i++) plain += !(tau[i] < 0);
    for (int i = 0, last = plain; i < n; i++) f->order[tau[i] < 0 ? last++ : at++] = i;
    for (int k = 0; k < n; k++) f->rt[k] = sqrt(fabs(tau[f->order[k]]));
    *f->plain = plain;
}

/* No site says anything yet: the posterior is the prior, and A the identity. */
static int is_prior(const sg_sites *sites)
{
    for (int i = 0; i < sites->n; i++) {
        if (sites->tau[i] != 0 || sites->nu[i] != 0) return 0;
    }
    return 1;
}

static void prior_marginals(int n, const double *K, sg_full_factor *f, sg_marginals *marg)
{
    for (int j = 0; j < n; j++) {
        double *a = f->A + (size_t) n * j;
        for (int i = 0; i < j; i++) a[i] = 0;
        a[j] = 1;
        marg->g[j] = 1;
        marg->var[j] = K[j + (size_t) n * j];
        marg->mean[j] = marg->alpha[j] = 0;
    }
}

/* What the loop hands back to refresh() and sequential_sweep(). */
typedef struct {
    int n, C, kernels;
    const double *K;
    sg_full_factor *factor;
    workspace work;
    double *R; /* as K: its factors, where classes are coupled */
    const sg_ws *ws;
} full_model;

static const double *gram_of_class(const full_model *full, int c)
{
    return full->K + (full->kernels == 1 ? 0 : (size_t) full->n * full->n * c);
}

sg_full_factor sg_full_factor_of_class(const sg_full_factor *factor, int n, int c)
{
    const size_t at = (size_t) n * c;
    const sg_full_factor own = {factor->A + n * at, factor->rt + at, factor->order + at,
                                factor->plain + c};
    return own;
}

sg_full_factor sg_full_factor_new(int n, int C, double *A, const sg_ws *ws)
{
    const size_t size = (size_t) n * C;
    const sg_full_factor factor = {A, sg_doubles(ws, size), sg_ints(size, ws), sg_ints(C, ws)};
    return factor;
}

/* Adds log|A| to *log_det. */
static sg_status refresh_class(full_model *full, const double *K, const sg_sites *sites,
                               sg_full_factor *f, sg_marginals *marg, double *log_det)
{
    const int n = full->n;
    arrange(n, sites->tau, f);
    if (is_prior(sites)) {
        prior_marginals(n, K, f, marg);
        return SG_OK;
    }
    sg_status status = sg_chol_sites(n, *f->plain, f->order, K, f->rt, f->A);
    if (status != SG_OK) return status;
    *log_det += sg_log_diag(n, f->A);
    status = sg_trtri(n, f->A);
    if (status != SG_OK) return status;
    posterior_variances(n, K, sites, f, marg, &full->work);
    posterior_mean(n, K, sites, f, marg, &full->work);
    return SG_OK;
}

static sg_status refresh(void *self, const sg_sites *sites, sg_marginals *marg, double *log_det)
{
    full_model *full = self;
    sg_status status = SG_OK;
    *log_det = 0;
    for (int c = 0; c < full->C && status == SG_OK; c++) {
        const sg_sites own = sg_sites_of_class(sites, full->n, c);
        sg_marginals mine = sg_marginals_of_class(marg, c);
        sg_full_factor factor = sg_full_factor_of_class(full->factor, full->n, c);
        status = refresh_class(full, gram_of_class(full, c), &own, &factor, &mine, log_det);
        sg_tick(full->ws);
    }
    return status;
}

/* ---- Coordinates for the coupled step: K = R'R, x = R'a ---- */

/* R of each kernel. A jitter stands in where K is singular: the step it is for need not be
 * exact. */
static sg_status factor_grams(full_model *full)
{
    const int n = full->n;
    const size_t n2 = (size_t) n * n;
    full->R = sg_doubles(full->ws, n2 * full->kernels);
    for (int k = 0; k < full->kernels; k++) {
        sg_status status = SG_NOT_PD;
        double largest = 0;
        for (int i = 0; i < n; i++) largest = fmax2(largest, full->K[n2 * k + i + (size_t) n * i]);
        if (largest == 0) largest = 1;
        for (double jitter = 1e-10; status != SG_OK && jitter < 1e-2; jitter *= 100) {
            double *R = full->R + n2 * k;
            for (size_t i = 0; i < n2; i++) R[i] = full->K[n2 * k + i];
            for (int i = 0; i < n; i++) R[i + (size_t) n * i] += jitter * largest;
            status = sg_potrf(n, R, n);
        }
        if (status != SG_OK) return status;
    }
    return SG_OK;
}

static const double *root_of_class(const full_model *full, int c)
{
    return full->R + (full->kernels == 1 ? 0 : (size_t) full->n * full->n * c);
}

static void forward(void *self, const double *a, double *x)
{
    const full_model *full = self;
    const int n = full->n;
    for (int k = 0; k < n * full->C; k++) x[k] = a[k];
    for (int c = 0; c < full->C; c++) sg_trmv('T', n, root_of_class(full, c), x + (size_t) n * c);
}

static void backward(void *self, const double *x, double *a)
{
    const full_model *full = self;
    const int n = full->n;
    for (int k = 0; k < n * full->C; k++) a[k] = x[k];
    for (int c = 0; c < full->C; c++) sg_trmv('N', n, root_of_class(full, c), a + (size_t) n * c);
}

/* (I + R T R')^{-1} = I - R W R' */
static void smooth(void *self, double *a)
{
    full_model *full = self;
    const int n = full->n;
    double *seen = full->work.V, *work = seen + n;
    for (int c = 0; c < full->C; c++) {
        const sg_full_factor f = sg_full_factor_of_class(full->factor, n, c);
        const double *R = root_of_class(full, c);
        double *own = a + (size_t) n * c;
        for (int i = 0; i < n; i++) seen[i] = own[i];
        sg_trmv('T', n, R, seen);
        apply_W(n, &f, seen, seen, work);
        sg_trmv('N', n, R, seen);
        for (int i = 0; i < n; i++) own[i] -= seen[i];
    }
}

/* Sigma = K - K W K, lower triangle. O(n^3). */
static void posterior_covariance(int n, const double *K, const sg_full_factor *f, double *Sigma,
                                 const sg_ws *ws)
{
    const size_t size = (size_t) n * n;
    void *mark = sg_mark(ws);
    double *V = sg_doubles(ws, size);
    int *all = sg_ints(n, ws);
    for (int i = 0; i < n; i++) all[i] = i;
    filtered_columns(n, K, f, n, all, V);
    for (size_t i = 0; i < size; i++) Sigma[i] = K[i];
    sg_syrk('T', n, *f->plain, -1, V, n, Sigma);
    sg_syrk('T', n, n - *f->plain, 1, V + *f->plain, n, Sigma);
    sg_release(ws, mark);
}

/* One row's update (formulas 78-85): cavity, tilt, site, then a rank-one change of Sigma and mean.
 * Returns 0 when the change is refused. */
static int sequential_update(int i, const sg_rows *rows, double damping, sg_sites *sites,
                             double *mean, double *Sigma, double *col)
{
    const int n = rows->n;
    const double s = Sigma[i + (size_t) n * i], m = mean[i], g = 1 - sites->tau[i] * s;
    double d1, d2, tau, nu;
    sg_tilt tilt = {.d1 = &d1, .d2 = &d2};
    if (!(g > 0)) return 0;
    const double cav_var = s / g, cav_mean = m - cav_var * (sites->nu[i] - sites->tau[i] * m);
    const double mu = cav_mean + rows->offset[i];
    sg_lik_tilt(rows->lik, sg_lik_row(rows->lik, rows->y, i), &mu, &cav_var, &tilt);
    d2 = sg_site_bend(sites, cav_var, d2);
    if (!sg_site_from_tilt(cav_mean, cav_var, d1, d2, &tau, &nu)) return 0;
    const double dtau = damping * (tau - sites->tau[i]), dnu = damping * (nu - sites->nu[i]);
    if (!(1 + dtau * s > 0)) return 0;
    for (int j = 0; j < n; j++) col[j] = Sigma[j < i ? i + (size_t) n * j : j + (size_t) n * i];
    for (int j = 0; j < n; j++) mean[j] += (dnu - dtau * m) / (1 + dtau * s) * col[j];
    sg_syr(n, -dtau / (1 + dtau * s), col, Sigma, n);
    sites->tau[i] += dtau;
    sites->nu[i] += dnu;
    return 1;
}

/* One pass over the rows; `marg` must belong to the sites on entry. Returns the rows refused. */
static int sequential_sweep(void *self, const sg_rows *rows, double damping, sg_sites *sites,
                            const sg_marginals *marg)
{
    enum { BETWEEN_TICKS = 100 };
    const full_model *full = self;
    const sg_ws *ws = full->ws;
    const int n = rows->n;
    int skipped = 0;
    void *mark = sg_mark(ws);
    double *Sigma = sg_doubles(ws, (size_t) n * n), *mean = sg_doubles(ws, n), *col = sg_doubles(ws, n);
    posterior_covariance(n, full->K, full->factor, Sigma, ws);
    for (int i = 0; i < n; i++) mean[i] = marg->mean[i];
    for (int i = 0; i < n; i++) {
        skipped += !sequential_update(i, rows, damping, sites, mean, Sigma, col);
        if (i % BETWEEN_TICKS == 0) sg_tick(ws);
    }
    sg_release(ws, mark);
    return skipped;
}

sg_status sg_ep_full_run(const sg_rows *rows, const double *K, int kernels,
                         const sg_ep_options *options, sg_sites *sites, sg_marginals *marg,
                         sg_full_factor *factor, sg_ep_report *report, const sg_ws *ws)
{
    const int n = rows->n, C = rows->lik->C;
    double *prior_var = sg_doubles(ws, sg_latents(rows));
    full_model full = {n, C, kernels, K, factor,
                       {sg_doubles(ws, (size_t) n * BLOCK), sg_ints(n, ws)}, NULL, ws};
    for (int c = 0; c < C; c++) {
        const double *own = gram_of_class(&full, c);
        for (int i = 0; i < n; i++) prior_var[i + n * c] = own[i + (size_t) n * i];
    }
    const sg_carrier carrier = {n * C, forward, backward, smooth};
    const sg_ep_model model = {&full, refresh, C == 1 ? sequential_sweep : NULL, carrier};
    if (sg_is_coupled(rows)) {
        const sg_status status = factor_grams(&full);
        if (status != SG_OK) return status;
    }
    return sg_ep_loop(rows, &model, options, prior_var, sites, marg, report, ws);
}
