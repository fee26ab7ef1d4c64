/* ep_sparse.c: sequential EP in which rows come back (ep_sparse.h): a row's site is taken out of
 * the posterior, the row is judged and applied as in a stream (exchange.h), its new site kept. */
#include <math.h>
#include <Rmath.h>
#include "ep_sparse.h"
#include "tolerances.h"

sg_sparse_rows sg_sparse_rows_new(int n, int w, int cap, const sg_ws *ws)
{
    const size_t points = (size_t) n * w;
    const sg_sparse_rows sparse = {.n = n, .V = sg_zeros(points * cap, ws),
                                   .prior = sg_zeros(points * w, ws)};
    return sparse;
}

/* Returns row i as it was last projected: cap x w. */
static double *row_of(const sg_process *gp, const sg_sparse_rows *sparse, int i)
{
    return sparse->V + (size_t) gp->basis.cap * gp->w * i;
}

/* Returns where the site of row i and process c stands: times w in nu, times w w in tau. */
static size_t site_at(const sg_sparse_rows *sparse, int i, int c)
{
    return i + (size_t) sparse->n * c;
}

/* Sums S and t up from all sites, so rounding of a sweep's sums and differences does not pile up.
 * O(C n w d^2). */
static sg_status rebuild(sg_process *gp, const sg_sparse_rows *sparse, const sg_sites *sites,
                         const sg_ws *ws)
{
    enum { BLOCK = 512 };
    const int cap = gp->basis.cap, n = sparse->n, w = gp->w, most = n < BLOCK ? n : BLOCK;
    void *mark = sg_mark(ws);
    double *work = sg_doubles(ws, sg_absorb_scratch(gp, most));
    for (int c = 0; c < gp->C; c++) {
        sg_weights *weights = gp->each + c;
        sg_zero((size_t) cap * cap, weights->S);
        sg_zero(cap, weights->t);
        sg_span span = {0, 0};
        while (sg_next_span(n, BLOCK, &span)) {
            const size_t at = w * site_at(sparse, span.from, c);
            sg_process_absorb(gp, c, span.m, row_of(gp, sparse, span.from), cap,
                              sites->tau + w * at, sites->nu + at, 1, work);
        }
    }
    sg_release(ws, mark);
    return sg_process_refresh(gp, ws);
}

/* A sweep under way */
typedef struct {
    const sg_row_rules *rules;
    sg_process *gp;
    sg_sparse_rows *sparse;
    sg_sites *sites;
    sg_view view;
    sg_row_tilt tilt; /* of the present row */
    sg_row_tilt back; /* of its old sites, taken out or put back */
    sg_sweep_report *report;
} sweep;

/* ---- Sites out of the posterior ---- */

/* Computes q = R^{-1} V into gp->V, for P; NULL when no score asks for it. O(w d^2 / 2). */
static const double *in_weights(sg_process *gp, const double *V, const sg_row_rules *rules)
{
    const int d = gp->basis.d, cap = gp->basis.cap;
    if (rules->frozen || rules->score != SG_SCORE_KL) return NULL;
    for (int a = 0; a < gp->w; a++) {
        double *q = gp->V + (size_t) cap * a;
        sg_copy(d, V + (size_t) cap * a, q);
        sg_basis_to_weights(&gp->basis, 1, q);
    }
    return gp->V;
}

/* The step that divides by the sites of row i, which is seen as V, sign 1, or multiplies with
 * them, -1: with T and nu times sign it is
 *   bend = (I - T V'G)^{-1} T,  shift = (I - T V'G)^{-1} (T V'a - nu)
 * (thesis 4.36, App. G's sign mended), -T and nu of a tilt (d1, d2) = (-nu, -T)'s site. P gains
 * -T. Returns 0 when what is left would not be a distribution. O(C w d^2) for the gains V'G. */
static int find_back(const sweep *s, int i, const double *V, int sign)
{
    sg_process *gp = s->gp;
    const sg_row_tilt *back = &s->back;
    const int w = gp->w, ww = w * w;
    for (int c = 0; c < gp->C; c++) {
        const size_t at = site_at(s->sparse, i, c);
        double *mean = back->mean + w * c, *carried = back->carried + ww * c;
        double *d1 = back->d1 + w * c, *d2 = back->d2 + ww * c;
        sg_row_gains(gp, c, V, gp->basis.cap, mean, carried);
        for (int a = 0; a < w; a++) d1[a] = -sign * s->sites->nu[a + w * at];
        for (int k = 0; k < ww; k++) {
            d2[k] = back->tau[k + ww * c] = -sign * s->sites->tau[k + ww * at];
        }
        double *bend = back->bend + ww * c;
        if (!sg_row_site(w, mean, carried, d1, d2, bend, back->shift + w * c)) return 0;
    }
    return 1;
}

/* Has row i a site other than 0? In the first sweep no row has. */
static int has_sites(const sweep *s, int i)
{
    const int w = s->gp->w, ww = w * w;
    for (int c = 0; c < s->gp->C; c++) {
        const size_t at = site_at(s->sparse, i, c);
        for (int k = 0; k < ww; k++) {
            if (s->sites->tau[k + ww * at] != 0) return 1;
        }
        for (int a = 0; a < w; a++) {
            if (s->sites->nu[a + w * at] != 0) return 1;
        }
    }
    return 0;
}

/* Takes the sites of row i out of posteriors, scores and sums, or puts them back (sg_row_memory).
 * O(C w d^2), and O(C w^2 d) for scores. */
static int divide(void *self, int i, int sign)
{
    const sweep *s = self;
    sg_process *gp = s->gp;
    const int w = gp->w, cap = gp->basis.cap, keeps_scores = !s->rules->frozen;
    const double *V = row_of(gp, s->sparse, i);
    if (!has_sites(s, i)) return 1;
    if (!find_back(s, i, V, sign)) return 0;
    const double *q = in_weights(gp, V, s->rules);
    if (keeps_scores) sg_row_gains_in_weights(gp);
    for (int c = 0; c < gp->C; c++) {
        const size_t at = site_at(s->sparse, i, c);
        sg_row_move(gp, c, &s->back);
        if (keeps_scores) {
            sg_row_move_parts(gp, c, &s->back, gp->basis.d, &gp->each[c].parts,
                              sg_gains_in_weights(gp, c), q, cap);
        }
        sg_process_absorb(gp, c, 1, V, cap, s->sites->tau + w * w * at, s->sites->nu + w * at,
                          -sign, gp->work);
    }
    return 1;
}

/* ---- Sites that are kept ---- */

/* Returns how far a site moves where the basis carries a covariance, in its standard deviations. */
static double change_of(int w, const double *carried, const double *tau, const double *nu,
                        const double *old_tau, const double *old_nu)
{
    double by_tau[SG_BLOCK_SIZE], by_nu[SG_BLOCK_MAX];
    for (int k = 0; k < w * w; k++) by_tau[k] = tau[k] - old_tau[k];
    for (int a = 0; a < w; a++) by_nu[a] = nu[a] - old_nu[a];
    return w == 1 ? fmax2(fabs(*by_tau) * *carried, fabs(*by_nu) * sqrt(*carried))
                  : fmax2(sg_block_size(w, carried, by_tau), sg_block_norm(w, carried, by_nu));
}

/* Keeps row i as the basis sees it, V[ldv x w]. */
static void keep_view(const sweep *s, int i, const double *K, const double *V, int ldv)
{
    const int w = s->gp->w, cap = s->gp->basis.cap;
    double *kept = row_of(s->gp, s->sparse, i);
    sg_zero((size_t) cap * w, kept);
    sg_copy_columns(s->gp->basis.d, w, V, ldv, kept, cap);
    sg_copy(w * w, K, s->sparse->prior + (size_t) w * w * i);
}

/* Keeps how a skipped row is seen, for its marginals. Where it has a site, S and t hold this as the
 * row was last projected. */
static void skip(void *self, int i, const sg_seen *seen)
{
    const sweep *s = self;
    if (!has_sites(s, i)) keep_view(s, i, seen->K, seen->V, s->gp->basis.d);
}

/* Keeps row i as it is projected, and its new sites, which go into S and t unless they are in
 * them. Marks how far the sites have moved in the report. */
static void keep(void *self, int i, const sg_seen *seen, int joined)
{
    const sweep *s = self;
    sg_process *gp = s->gp;
    const int w = gp->w, ww = w * w, ldv = joined ? gp->basis.cap : gp->basis.d;
    const double *V = joined ? gp->V : seen->V;
    keep_view(s, i, seen->K, V, ldv);
    for (int c = 0; c < gp->C; c++) {
        const size_t at = site_at(s->sparse, i, c);
        const double *new_tau = s->tilt.tau + ww * c, *new_nu = s->tilt.nu + w * c;
        double *tau = s->sites->tau + ww * at, *nu = s->sites->nu + w * at;
        const double change = change_of(w, s->tilt.carried + ww * c, new_tau, new_nu, tau, nu);
        s->report->change = fmax2(s->report->change, change);
        sg_copy(ww, new_tau, tau);
        sg_copy(w, new_nu, nu);
        if (!joined) sg_process_absorb(gp, c, 1, V, ldv, tau, nu, 1, gp->work);
    }
}

/* One sweep over the rows of x[n w x p] in turn: a row's site is taken out of the posterior, the
 * row is seen anew as in the online algorithm, and its new site kept. The first sweep, from no
 * sites, is the online algorithm. O(n w d^2), and O(n w d) for every point that leaves. */
static sg_status sweep_rows(const sg_kernel *kernel, const sg_rows *rows, const double *x,
                            const sg_row_rules *rules, sg_process *gp, sg_sparse_rows *sparse,
                            sg_sites *sites, sg_sweep_report *report, const sg_ws *ws)
{
    enum { BLOCK = 64 };
    const int n = rows->n, w = gp->w;
    int size = 1, stale = 0;
    void *mark = sg_mark(ws);
    sweep s = {.rules = rules, .gp = gp, .sparse = sparse, .sites = sites,
               .view = sg_view_new(BLOCK, w, gp, ws), .tilt = sg_row_tilt_new(gp, ws),
               .back = sg_row_tilt_new(gp, ws), .report = report};
    const sg_row_memory memory = {.self = &s, .divide = divide, .keep = keep,
                                  .skip = skip, .m = sparse->n * w, .X = sparse->V};
    sg_status status = rebuild(gp, sparse, sites, ws);
    for (int from = 0; from < n && status == SG_OK;) {
        const int m = n - from < size ? n - from : size;
        int taken = 0, changed = 0;
        s.view.m = m;
        sg_copy_columns(m * w, gp->p, x + (size_t) w * from, (size_t) n * w, s.view.x, m * w);
        sg_view_look(kernel, gp, rules->frozen, &s.view, ws);
        while (!changed && taken < m) {
            const int i = from + taken;
            const sg_seen seen = sg_view_row(&s.view, gp->basis.d, taken++);
            const sg_row_outcome outcome = sg_row_take(gp, rows, rules, i, w * (double) i + 1,
                                                       &seen, &memory, &s.tilt);
            report->outcome[outcome]++;
            changed = sg_changes_basis(outcome);
        }
        from += taken;
        stale += taken * w;
        size = 2 * taken < BLOCK ? 2 * taken : BLOCK;
        if (sg_is_stale(stale, gp->basis.d)) status = sg_process_refresh(gp, ws), stale = 0;
        sg_tick(ws);
    }
    sg_release(ws, mark);
    return status == SG_OK ? rebuild(gp, sparse, sites, ws) : status;
}

/* Computes the marginals of what the basis carries of process c, from M and a. O(n w d^2). */
static void marginals(sg_process *gp, int c, const sg_sparse_rows *sparse, sg_marginals *marg,
                      const sg_ws *ws)
{
    const int w = gp->w;
    for (int i = 0; i < sparse->n; i++) {
        const size_t at = w * site_at(sparse, i, c);
        sg_row_gains(gp, c, row_of(gp, sparse, i), gp->basis.cap, marg->mean + at,
                     marg->var + w * at);
        if (i % SG_BETWEEN_TICKS == 0) sg_tick(ws);
    }
}

/* Marginals, cavities and tilts of all rows under the sites, marginals of the carried part, and the
 * log evidence at the sites (moments matched, whatever the projection). gamma[n blocks] on return:
 * what the basis leaves of the rows, K - V'V, of all processes. O(n w d^2). */
static sg_status evidence(const sg_rows *rows, sg_process *gp, const sg_sparse_rows *sparse,
                          const sg_sites *sites, sg_marginals *marg, double *gamma, double *logz,
                          const sg_ws *ws)
{
    const sg_span all = {0, rows->n};
    sg_rows seen = *rows;
    seen.gamma = gamma;
    seen.shared = 1;
    double log_det = 0, own_log_det;
    sg_residuals(gp, gp->w, sparse->n, sparse->prior, sparse->V, gp->basis.cap, gamma);
    for (int c = 0; c < gp->C; c++) {
        const sg_status status = sg_weights_log_det(gp->each + c, &gp->basis, &own_log_det, ws);
        if (status != SG_OK) return status;
        marginals(gp, c, sparse, marg, ws);
        log_det += own_log_det;
    }
    sg_shares(sites, marg, all);
    if (!sg_cavities(&seen, sites, marg, all)) return SG_NOT_PD;
    const sg_status status = sg_tilt_rows(&seen, marg, all, ws);
    *logz = sg_log_evidence(sites, marg, all) - log_det;
    return status;
}

sg_status sg_ep_sparse_run(const sg_kernel *kernel, const sg_rows *rows, const double *x,
                           const sg_row_rules *rules, int freeze, int sweeps, double tol,
                           sg_process *gp, sg_sparse_rows *sparse, sg_sites *sites,
                           sg_marginals *marg, double *gamma, sg_sweep_report *reports,
                           int *done, const sg_ws *ws)
{
    sg_row_rules now = *rules;
    sg_status known = SG_OK;
    for (*done = 0; *done < sweeps;) {
        sg_sweep_report report = {{0}, 0, 0};
        now.frozen = rules->frozen || *done >= freeze;
        sg_status status = sweep_rows(kernel, rows, x, &now, gp, sparse, sites, &report, ws);
        if (status != SG_OK) return status;
        known = evidence(rows, gp, sparse, sites, marg, gamma, &report.logz, ws);
        /* A row that this sweep had to skip may have a tilt, and a site, after the next. */
        const int skipped = report.outcome[SG_ROW_SKIPPED] > 0;
        if (known != SG_OK && !(known == SG_NOT_FINITE && skipped)) return known;
        if (known != SG_OK) report.logz = NAN;
        if (*done < SG_SWEEPS_TRACED) reports[*done] = report;
        ++*done;
        if (report.change <= tol) break;
    }
    return known;
}
