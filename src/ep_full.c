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

/* b = B^{-1} b with A^{-1} in hand */
static void solve_B(int n, const double *Ainv, double *b)
{
    sg_trmv('T', n, Ainv, b);
    sg_trmv('N', n, Ainv, b);
}

/* x -= T^1/2 B^{-1} T^1/2 K b, so that x = b on entry gives (I + T K)^{-1} b */
static void subtract_filtered(int n, const double *K, const sg_full_factor *f, const double *b,
                              double *x, double *work)
{
    sg_symv(n, K, b, work);
    for (int i = 0; i < n; i++) work[i] *= f->rt[i];
    solve_B(n, f->A, work);
    for (int i = 0; i < n; i++) x[i] -= f->rt[i] * work[i];
}

/* alpha = (I + T K)^{-1} nu and mean = K alpha. The first answer loses digits when the sites are
 * sharp (noise far below the kernel's variance): the residual nu - alpha - T mean costs nothing
 * and tells; then refine. O(n^2). */
static void posterior_mean(int n, const double *K, const sg_sites *sites, const sg_full_factor *f,
                           sg_marginals *marg, workspace *work)
{
    enum { ROUNDS = 3 };
    const double ENOUGH = 1e-13;
    double *filtered = work->V, *res = work->V + n, *alpha = marg->alpha;
    for (int i = 0; i < n; i++) alpha[i] = sites->nu[i];
    subtract_filtered(n, K, f, sites->nu, alpha, filtered);
    for (int round = 0;; round++) {
        double largest = 0, size = 0;
        sg_symv(n, K, alpha, marg->mean);
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

/* var[i] = K_ii - |A^{-T} T^1/2 K_i|^2 for the m rows listed, by blocks of columns */
static void variances_direct(int n, const double *K, const sg_full_factor *f, int m,
                             const int *rows, double *var, double *V)
{
    for (int from = 0; from < m; from += BLOCK) {
        const int width = m - from < BLOCK ? m - from : BLOCK;
        for (int c = 0; c < width; c++) {
            const double *k = K + (size_t) n * rows[from + c];
            for (int i = 0; i < n; i++) V[i + (size_t) n * c] = f->rt[i] * k[i];
        }
        sg_trmm('L', 'T', n, width, f->A, V);
        for (int c = 0; c < width; c++) {
            const int i = rows[from + c];
            const double *v = V + (size_t) n * c;
            var[i] = fmax2(K[i + (size_t) n * i] - sg_dot(n, v, v), 0);
        }
    }
}

/* g = diag(B^{-1}) keeps its digits however sharp a site is; var = (1 - g)/tau keeps them unless
 * the site hardly matters. Where it does not, the direct form takes over, for those rows only. */
static void posterior_variances(int n, const double *K, const sg_sites *sites,
                                const sg_full_factor *f, sg_marginals *marg, workspace *work)
{
    const double WEAK = 1e-5;
    int m = 0;
    sg_row_norms(n, f->A, marg->g);
    for (int i = 0; i < n; i++) {
        const double share = 1 - marg->g[i];
        if (share > WEAK) marg->var[i] = share / sites->tau[i];
        else work->weak[m++] = i;
    }
    variances_direct(n, K, f, m, work->weak, marg->var, work->V);
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
        f->rt[j] = 0;
        marg->g[j] = 1;
        marg->var[j] = K[j + (size_t) n * j];
        marg->mean[j] = marg->alpha[j] = 0;
    }
    f->log_det = 0;
}

/* From sites to factor and marginals, from scratch. */
static sg_status refresh(int n, const double *K, const sg_sites *sites, sg_full_factor *f,
                         sg_marginals *marg, workspace *work)
{
    if (is_prior(sites)) {
        prior_marginals(n, K, f, marg);
        return SG_OK;
    }
    for (int i = 0; i < n; i++) f->rt[i] = sqrt(sites->tau[i]);
    sg_status status = sg_chol_sites(n, K, f->rt, f->A);
    if (status != SG_OK) return status;
    f->log_det = sg_log_diag(n, f->A);
    status = sg_trtri(n, f->A);
    if (status != SG_OK) return status;
    posterior_variances(n, K, sites, f, marg, work);
    posterior_mean(n, K, sites, f, marg, work);
    return SG_OK;
}

/* Sigma = K - K T^1/2 B^{-1} T^1/2 K, lower triangle. O(n^3). */
static void posterior_covariance(int n, const double *K, const sg_full_factor *f, double *Sigma,
                                 const sg_ws *ws)
{
    const size_t size = (size_t) n * n;
    void *mark = ws->mark();
    double *V = ws->doubles(size);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            V[i + (size_t) n * j] = f->rt[i] * K[i + (size_t) n * j];
        }
    }
    sg_trmm('L', 'T', n, n, f->A, V);
    for (size_t i = 0; i < size; i++) Sigma[i] = K[i];
    sg_syrk('T', n, n, -1, V, 1, Sigma);
    ws->release(mark);
}

/* One row's update (formulas 78-85): cavity, tilt, site, then a rank-one change of Sigma and mean.
 * Returns 0 when the change is refused. */
static int sequential_update(int i, const sg_rows *rows, sg_sites *sites, double *mean,
                             double *Sigma, double *col)
{
    const int n = rows->n;
    const double s = Sigma[i + (size_t) n * i], m = mean[i], g = 1 - sites->tau[i] * s;
    double logz, d1, d2, tau, nu;
    if (!(g > 0)) return 0;
    const double cav_var = s / g, cav_mean = m - cav_var * (sites->nu[i] - sites->tau[i] * m);
    const double mu = cav_mean + rows->offset[i];
    sg_lik_tilt(rows->lik, rows->y + (size_t) rows->lik->type->q * i, &mu, &cav_var, &logz, &d1,
                &d2);
    if (!sg_site_from_tilt(cav_mean, cav_var, d1, d2, &tau, &nu)) return 0;
    const double dtau = fmax2(tau, 0) - sites->tau[i], dnu = nu - sites->nu[i];
    if (!(1 + dtau * s > 0)) return 0;
    for (int j = 0; j < n; j++) col[j] = Sigma[j < i ? i + (size_t) n * j : j + (size_t) n * i];
    for (int j = 0; j < n; j++) mean[j] += (dnu - dtau * m) / (1 + dtau * s) * col[j];
    sg_syr(n, -dtau / (1 + dtau * s), col, Sigma);
    sites->tau[i] += dtau;
    sites->nu[i] += dnu;
    return 1;
}

/* One pass over the rows; `marg` must belong to the sites on entry. Returns the rows refused. */
static int sequential_sweep(const sg_rows *rows, const double *K, const sg_full_factor *f,
                            sg_sites *sites, const sg_marginals *marg, const sg_ws *ws)
{
    enum { BETWEEN_TICKS = 100 };
    const int n = rows->n;
    int skipped = 0;
    void *mark = ws->mark();
    double *Sigma = ws->doubles((size_t) n * n), *mean = ws->doubles(n), *col = ws->doubles(n);
    posterior_covariance(n, K, f, Sigma, ws);
    for (int i = 0; i < n; i++) mean[i] = marg->mean[i];
    for (int i = 0; i < n; i++) {
        skipped += !sequential_update(i, rows, sites, mean, Sigma, col);
        if (i % BETWEEN_TICKS == 0) ws->tick();
    }
    ws->release(mark);
    return skipped;
}

/* Likelihoods with exact sites need no iteration. Returns 0 for the others. */
static int exact_sites(const sg_rows *rows, sg_sites *sites)
{
    const sg_lik_type *type = rows->lik->type;
    if (!type->site) return 0;
    for (int i = 0; i < rows->n; i++) {
        type->site(rows->lik, rows->y + (size_t) type->q * i, sites->tau + i, sites->nu + i);
        sites->nu[i] -= sites->tau[i] * rows->offset[i];
    }
    return 1;
}

/* The state of the sites is judged: posterior, cavities, tilts, evidence, residual. */
static sg_status evaluate(const sg_rows *rows, const double *K, const sg_sites *sites,
                          sg_marginals *marg, sg_full_factor *factor, sg_ep_report *report,
                          workspace *work)
{
    sg_status status = refresh(rows->n, K, sites, factor, marg, work);
    if (status != SG_OK) return status;
    sg_cavities(marg);
    status = sg_tilt_rows(rows, marg);
    if (status != SG_OK) return status;
    report->logz = sg_log_evidence(marg, factor->log_det);
    report->change = sg_sites_residual(sites, marg);
    if (report->sweeps < SG_TRACE) {
        report->trace[2 * report->sweeps] = report->logz;
        report->trace[2 * report->sweeps + 1] = report->change;
    }
    report->sweeps++;
    return isfinite(report->logz) ? SG_OK : SG_NOT_FINITE;
}

/* One batch step. The EP energy is a saddle, not a minimum, at the fixed point: it may rightly get
 * worse on the way. The residual has no such excuse: when it grows well beyond the best so far, the
 * past is forgotten and the step halved. */
typedef struct {
    sg_stepper stepper;
    double damping, best;
} batch_state;

static int batch_sweep(batch_state *batch, const sg_ep_options *options, sg_sites *sites,
                       const sg_marginals *marg, sg_ep_report *report)
{
    const double WORSE = 2;
    if (report->change > WORSE * batch->best) {
        sg_anderson_reset(&batch->stepper.mixing);
        batch->damping = fmax2(batch->damping / 2, 1.0 / 16);
        batch->best = report->change;
    } else {
        batch->damping = fmin2(batch->damping * 1.25, options->damping);
        batch->best = fmin2(batch->best, report->change);
    }
    report->damped += batch->damping < options->damping;
    return sg_sites_step(&batch->stepper, sites, marg, batch->damping);
}

sg_status sg_ep_full_run(const sg_rows *rows, const double *K, const sg_ep_options *options,
                         sg_sites *sites, sg_marginals *marg, sg_full_factor *factor,
                         sg_ep_report *report, const sg_ws *ws)
{
    const int exact = exact_sites(rows, sites), n = rows->n;
    double *prior_var = ws->doubles(n);
    for (int i = 0; i < n; i++) prior_var[i] = K[i + (size_t) n * i];
    workspace work = {ws->doubles((size_t) n * BLOCK), (int *) ws->doubles(n)};
    batch_state batch = {sg_stepper_new(n, prior_var, ws), options->damping, HUGE_VAL};
    for (;;) {
        const sg_status status = evaluate(rows, K, sites, marg, factor, report, &work);
        if (status != SG_OK) return status;
        report->converged = exact || report->change <= options->tol;
        if (report->converged || report->sweeps >= options->sweeps) return SG_OK;
        if (report->sweeps > options->batch) {
            report->skipped += sequential_sweep(rows, K, factor, sites, marg, ws);
            report->sequential++;
        } else {
            report->skipped += batch_sweep(&batch, options, sites, marg, report);
        }
        ws->tick();
    }
}
