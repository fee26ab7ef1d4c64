#include <math.h>
#include <Rmath.h>
#include "chol.h"
#include "ep_sparse.h"

sg_sparse_rows sg_sparse_rows_new(int n, int cap, const sg_ws *ws)
{
    const size_t size = (size_t) cap * n;
    sg_sparse_rows sparse = {n, sg_doubles(ws, size), sg_doubles(ws, n)};
    for (size_t i = 0; i < size; i++) sparse.V[i] = 0;
    for (int i = 0; i < n; i++) sparse.prior[i] = 0;
    return sparse;
}

/* S and t from all sites, so that sums and differences of a sweep do not pile up. */
static sg_status rebuild(sg_process *gp, const sg_sparse_rows *sparse, const sg_sites *sites,
                         const sg_ws *ws)
{
    enum { BLOCK = 512 };
    const int cap = gp->basis.cap, n = sparse->n;
    void *mark = sg_mark(ws);
    double *work = sg_doubles(ws, (size_t) cap * BLOCK);
    for (int c = 0; c < gp->C; c++) {
        const double *tau = sites->tau + (size_t) n * c, *nu = sites->nu + (size_t) n * c;
        sg_weights *w = gp->w + c;
        for (size_t i = 0; i < (size_t) cap * cap; i++) w->S[i] = 0;
        for (int i = 0; i < cap; i++) w->t[i] = 0;
        for (int from = 0; from < n; from += BLOCK) {
            const int m = n - from < BLOCK ? n - from : BLOCK;
            sg_weights_absorb(w, &gp->basis, m, sparse->V + (size_t) cap * from, cap,
                              tau + from, nu + from, 1, work);
        }
    }
    sg_release(ws, mark);
    return sg_process_refresh(gp, ws);
}

/* What a site's change does to the scores' parts; q = R^{-1} v when the score asks for it. */
static void move_scores(sg_process *gp, int c, const double *q, const sg_step *step)
{
    const int d = gp->basis.d;
    const double *gain = sg_process_gain(gp, c);
    for (int i = 0; i < d; i++) gp->s[i] = gain[i];
    sg_basis_to_weights(&gp->basis, 1, gp->s);
    sg_weights_move_scores(gp->w + c, d, gp->s, q, step);
}

/* Takes the sites of a row, seen as v, out of the posteriors (thesis 4.36, App. G's sign mended),
 * or with sign -1 puts them back. Returns 0, and changes nothing, when what is left would not be a
 * distribution. */
static int take_out(sg_process *gp, const double *v, const sg_sites *sites, int i, int n, int sign,
                    const sg_row_rules *rules)
{
    const sg_basis *b = &gp->basis;
    const double *q = NULL;
    for (int c = 0; c < gp->C; c++) {
        const double tau = sign * sites->tau[i + n * c];
        gp->var[c] = sg_weights_gain(gp->w + c, b, v, sg_process_gain(gp, c));
        if (!(1 - tau * gp->var[c] > 0)) return 0;
    }
    if (!rules->frozen && rules->score == SG_SCORE_KL) {
        for (int k = 0; k < b->d; k++) gp->v[k] = v[k];
        sg_basis_to_weights(b, 1, gp->v);
        q = gp->v;
    }
    for (int c = 0; c < gp->C; c++) {
        const double tau = sites->tau[i + n * c], nu = sites->nu[i + n * c];
        const double mean = sg_dot(b->d, v, gp->w[c].a), g = 1 - sign * tau * gp->var[c];
        const sg_step back = {sign * (tau * mean - nu) / g, sign * tau / g, -sign * tau,
                              -sign * nu};
        sg_weights_move(gp->w + c, b, sg_process_gain(gp, c), &back);
        if (!rules->frozen) move_scores(gp, c, q, &back);
        sg_weights_absorb(gp->w + c, b, 1, v, b->cap, &tau, &nu, -sign, gp->score);
    }
    return 1;
}

/* What a sweep carries along. */
typedef struct {
    const sg_rows *rows;
    const sg_row_rules *rules;
    sg_process *gp;
    sg_sparse_rows *sparse;
    sg_sites *sites;
    sg_view view;
    sg_row_tilt *tilt; /* C: of the row at hand */
    sg_sweep_report *report;
} sweep;

/* Row i's new site, on v: in the basis before, or for a point that joined, in the grown one. */
static void keep_site(const sweep *s, int i, const double *v, int d, double prior)
{
    double *kept = s->sparse->V + (size_t) s->gp->basis.cap * i, change = s->report->change;
    for (int k = 0; k < s->gp->basis.cap; k++) kept[k] = k < d ? v[k] : 0;
    s->sparse->prior[i] = prior;
    for (int c = 0; c < s->gp->C; c++) {
        const sg_row_tilt *tilt = s->tilt + c;
        double *tau = s->sites->tau + i + s->rows->n * c, *nu = s->sites->nu + i + s->rows->n * c;
        change = fmax2(change, fabs(tilt->step.tau - *tau) * tilt->carried);
        change = fmax2(change, fabs(tilt->step.nu - *nu) * sqrt(tilt->carried));
        *tau = tilt->step.tau;
        *nu = tilt->step.nu;
    }
    s->report->change = change;
}

static int has_sites(const sweep *s, int i)
{
    for (int c = 0; c < s->gp->C; c++) {
        const int at = i + s->rows->n * c;
        if (s->sites->tau[at] != 0 || s->sites->nu[at] != 0) return 1;
    }
    return 0;
}

/* A removal turns the coordinates of every row. */
static void exchange(const sweep *s, int leaver)
{
    for (; leaver >= 0; leaver = sg_basis_redundant(&s->gp->basis, NULL, s->rules->novelty)) {
        sg_row_remove(s->gp, leaver);
        sg_removal_rotate(&s->gp->removal, s->sparse->n, s->sparse->V, s->gp->basis.cap);
    }
}

/* Row i, number `at` of the view. Returns 1 when the basis has changed. */
static int take(const sweep *s, int i, int at)
{
    sg_process *gp = s->gp;
    const int d = gp->basis.d;
    const double *old = s->sparse->V + (size_t) gp->basis.cap * i;
    const int n = s->rows->n, had = has_sites(s, i);
    const sg_seen seen = sg_view_row(&s->view, d, at);
    sg_row_fate fate = SG_ROW_SKIPPED;
    int leaver = -1;
    double logz;
    if (!had || take_out(gp, old, s->sites, i, n, 1, s->rules)) {
        if (sg_row_marginals(gp, s->rows, i, &seen, s->tilt, &logz)) {
            fate = sg_row_judge(gp, &seen, s->view.prior[at], s->rules, s->tilt, &leaver);
        }
        if (had && fate == SG_ROW_SKIPPED) take_out(gp, old, s->sites, i, n, -1, s->rules);
    }
    s->report->fate[fate]++;
    if (fate == SG_ROW_PROJECTED || fate == SG_ROW_DECLINED) {
        sg_row_project(gp, &seen, s->rules, s->tilt);
        keep_site(s, i, seen.v, d, s->view.prior[at]);
        for (int c = 0; c < gp->C; c++) {
            const sg_step *step = &s->tilt[c].step;
            sg_weights_absorb(gp->w + c, &gp->basis, 1, seen.v, d, &step->tau, &step->nu, 1,
                              gp->score);
        }
    } else if (fate != SG_ROW_SKIPPED) {
        sg_row_include(gp, &s->view, at, i + 1.0, s->tilt);
        keep_site(s, i, gp->v, d + 1, s->view.prior[at]);
        if (fate == SG_ROW_EXCHANGED) exchange(s, leaver);
        return 1;
    }
    return 0;
}

sg_status sg_ep_sparse_sweep(const sg_kernel *kernel, const sg_rows *rows, const double *x,
                             const sg_row_rules *rules, sg_process *gp, sg_sparse_rows *sparse,
                             sg_sites *sites, sg_sweep_report *report, const sg_ws *ws)
{
    enum { BLOCK = 64 };
    const int n = rows->n;
    int size = 1, stale = 0;
    void *mark = sg_mark(ws);
    const size_t room = gp->C * (sizeof(sg_row_tilt) / sizeof(double) + 1);
    sweep s = {rows, rules, gp, sparse, sites, sg_view_new(BLOCK, gp, ws),
               (sg_row_tilt *) sg_doubles(ws, room), report};
    sg_status status = rebuild(gp, sparse, sites, ws);
    for (int from = 0; from < n && status == SG_OK;) {
        const int m = n - from < size ? n - from : size;
        int taken = 0, changed = 0;
        s.view.m = m;
        sg_copy_rows(n, gp->p, x, from, m, s.view.x);
        sg_view_look(kernel, gp, rules->frozen, &s.view, ws);
        while (!changed && taken < m) {
            changed = take(&s, from + taken, taken);
            taken++;
        }
        from += taken;
        stale += taken;
        size = 2 * taken < BLOCK ? 2 * taken : BLOCK;
        if (stale >= 10 * gp->basis.d + 100) status = sg_process_refresh(gp, ws), stale = 0;
        sg_tick(ws);
    }
    sg_release(ws, mark);
    return status == SG_OK ? rebuild(gp, sparse, sites, ws) : status;
}

/* Marginals of what the basis carries of process c, from M and a. */
static void marginals(const sg_process *gp, int c, const sg_sparse_rows *sparse,
                      sg_marginals *marg, const sg_ws *ws)
{
    const int d = gp->basis.d;
    const size_t first = (size_t) sparse->n * c;
    for (int i = 0; i < sparse->n; i++) {
        const double *v = sparse->V + (size_t) gp->basis.cap * i;
        marg->var[first + i] = fmax2(sg_weights_gain(gp->w + c, &gp->basis, v, gp->g), 0);
        marg->mean[first + i] = sg_dot(d, v, gp->w[c].a);
        if (i % SG_BETWEEN_TICKS == 0) sg_tick(ws);
    }
}

/* K(x,x) - |v|^2 at all rows. */
static void residuals(const sg_process *gp, const sg_sparse_rows *sparse, double *gamma)
{
    for (int i = 0; i < sparse->n; i++) {
        const double *v = sparse->V + (size_t) gp->basis.cap * i;
        gamma[i] = fmax2(sparse->prior[i] - sg_dot(gp->basis.d, v, v), 0);
    }
}

sg_status sg_ep_sparse_evidence(const sg_rows *rows, const sg_process *gp,
                                const sg_sparse_rows *sparse, const sg_sites *sites,
                                sg_marginals *marg, double *gamma, double *logz,
                                const sg_ws *ws)
{
    const sg_span all = {0, rows->n};
    sg_rows seen = *rows;
    seen.gamma = gamma;
    seen.shared = 1;
    double log_det = 0, own_log_det;
    residuals(gp, sparse, gamma);
    for (int c = 0; c < gp->C; c++) {
        const sg_status status = sg_weights_log_det(gp->w + c, &gp->basis, &own_log_det, ws);
        if (status != SG_OK) return status;
        marginals(gp, c, sparse, marg, ws);
        log_det += own_log_det;
    }
    sg_shares(sites, marg, all);
    if (!sg_cavities(&seen, sites, marg, all)) return SG_NOT_PD;
    const sg_status status = sg_tilt_rows(&seen, marg, all, ws);
    *logz = sg_log_evidence(marg, all) - log_det;
    return status;
}

sg_status sg_ep_sparse_run(const sg_kernel *kernel, const sg_rows *rows, const double *x,
                           const sg_row_rules *rules, int freeze, int sweeps, double tol,
                           sg_process *gp, sg_sparse_rows *sparse, sg_sites *sites,
                           sg_marginals *marg, double *gamma, sg_sweep_report *reports,
                           int *done, const sg_ws *ws)
{
    sg_row_rules now = *rules;
    for (*done = 0; *done < sweeps;) {
        sg_sweep_report report = {{0}, 0, 0};
        now.frozen = rules->frozen || *done >= freeze;
        sg_status status = sg_ep_sparse_sweep(kernel, rows, x, &now, gp, sparse, sites, &report,
                                              ws);
        if (status != SG_OK) return status;
        status = sg_ep_sparse_evidence(rows, gp, sparse, sites, marg, gamma, &report.logz, ws);
        if (status != SG_OK) return status;
        if (*done < SG_SWEEPS_TRACED) reports[*done] = report;
        ++*done;
        if (report.change <= tol) break;
    }
    return SG_OK;
}
