#include <math.h>
#include <Rmath.h>
#include "chol.h"
#include "ep_sparse.h"

sg_sparse_rows sg_sparse_rows_new(int n, int cap, const sg_ws *ws)
{
    const size_t size = (size_t) cap * n;
    sg_sparse_rows sparse = {n, ws->doubles(size), ws->doubles(n)};
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
    sg_weights *w = gp->w;
    for (size_t i = 0; i < (size_t) cap * cap; i++) w->S[i] = 0;
    for (int i = 0; i < cap; i++) w->t[i] = 0;
    void *mark = ws->mark();
    double *work = ws->doubles((size_t) cap * BLOCK);
    for (int from = 0; from < n; from += BLOCK) {
        const int m = n - from < BLOCK ? n - from : BLOCK;
        sg_weights_absorb(w, &gp->basis, m, sparse->V + (size_t) cap * from, cap,
                          sites->tau + from, sites->nu + from, 1, work);
    }
    ws->release(mark);
    return sg_process_refresh(gp, ws);
}

/* What a site's change does to the scores' parts; nothing where no score is asked for again. */
static void move_scores(sg_process *gp, const double *v, const sg_step *step,
                        const sg_row_rules *rules)
{
    const int d = gp->basis.d, wants_P = rules->score == SG_SCORE_KL;
    if (rules->frozen) return;
    for (int i = 0; wants_P && i < d; i++) gp->v[i] = v[i];
    if (wants_P) sg_basis_to_weights(&gp->basis, 1, gp->v);
    for (int i = 0; i < d; i++) gp->s[i] = gp->g[i];
    sg_basis_to_weights(&gp->basis, 1, gp->s);
    sg_weights_move_scores(gp->w, d, gp->s, wants_P ? gp->v : NULL, step);
}

/* Takes a row's site out of the posterior (thesis 4.36, App. G's sign mended). Returns 0, and
 * changes nothing, when what is left would not be a distribution. */
static int remove_site(sg_process *gp, const double *v, double tau, double nu,
                       const sg_row_rules *rules)
{
    sg_weights *w = gp->w;
    const sg_basis *b = &gp->basis;
    const double var = sg_weights_gain(w, b, v, gp->g), mean = sg_dot(b->d, v, w->a);
    const double g = 1 - tau * var;
    if (!(g > 0)) return 0;
    const sg_step back = {(tau * mean - nu) / g, tau / g, -tau, -nu};
    sg_weights_move(w, b, gp->g, &back);
    move_scores(gp, v, &back, rules);
    sg_weights_absorb(w, b, 1, v, b->cap, &tau, &nu, -1, gp->score);
    return 1;
}

/* Puts a site back whose row cannot be seen anew. */
static void restore_site(sg_process *gp, const double *v, double tau, double nu,
                         const sg_row_rules *rules)
{
    sg_weights *w = gp->w;
    const sg_basis *b = &gp->basis;
    const double var = sg_weights_gain(w, b, v, gp->g), mean = sg_dot(b->d, v, w->a);
    const double g = 1 + tau * var;
    const sg_step step = {(nu - tau * mean) / g, -tau / g, tau, nu};
    sg_weights_move(w, b, gp->g, &step);
    move_scores(gp, v, &step, rules);
    sg_weights_absorb(w, b, 1, v, b->cap, &tau, &nu, 1, gp->score);
}

/* What a sweep carries along. */
typedef struct {
    const sg_rows *rows;
    const sg_row_rules *rules;
    sg_process *gp;
    sg_sparse_rows *sparse;
    sg_sites *sites;
    sg_view view;
    sg_sweep_report *report;
} sweep;

/* Row i's new site, on v: in the basis before, or for a point that joined, in the grown one. */
static void keep_site(const sweep *s, int i, const double *v, int d, double prior,
                      const sg_row_tilt *tilt)
{
    double *kept = s->sparse->V + (size_t) s->gp->basis.cap * i;
    const double var = tilt->carried, step = tilt->step.tau - s->sites->tau[i];
    const double shift = tilt->step.nu - s->sites->nu[i];
    for (int k = 0; k < s->gp->basis.cap; k++) kept[k] = k < d ? v[k] : 0;
    s->sparse->prior[i] = prior;
    s->report->change = fmax2(s->report->change, fmax2(fabs(step) * var, fabs(shift) * sqrt(var)));
    s->sites->tau[i] = tilt->step.tau;
    s->sites->nu[i] = tilt->step.nu;
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
    const double tau = s->sites->tau[i], nu = s->sites->nu[i];
    const int had = tau != 0 || nu != 0;
    const sg_seen seen = sg_view_row(&s->view, d, at);
    sg_row_tilt tilt;
    sg_row_fate fate = SG_ROW_SKIPPED;
    int leaver = -1;
    if (!had || remove_site(gp, old, tau, nu, s->rules)) {
        if (sg_row_marginals(gp, s->rows, i, &seen, &tilt)) {
            fate = sg_row_judge(gp, &seen, s->view.prior[at], s->rules, &tilt, &leaver);
        }
        if (had && fate == SG_ROW_SKIPPED) restore_site(gp, old, tau, nu, s->rules);
    }
    s->report->fate[fate]++;
    if (fate == SG_ROW_PROJECTED || fate == SG_ROW_DECLINED) {
        sg_row_project(gp, &seen, s->rules, &tilt);
        keep_site(s, i, seen.v, d, s->view.prior[at], &tilt);
        sg_weights_absorb(gp->w, &gp->basis, 1, seen.v, d, &tilt.step.tau, &tilt.step.nu, 1,
                          gp->score);
    } else if (fate != SG_ROW_SKIPPED) {
        sg_row_include(gp, &s->view, at, i + 1.0, &tilt);
        keep_site(s, i, gp->v, d + 1, s->view.prior[at], &tilt);
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
    void *mark = ws->mark();
    sweep s = {rows, rules, gp, sparse, sites, sg_view_new(BLOCK, gp, ws), report};
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
        ws->tick();
    }
    ws->release(mark);
    return status == SG_OK ? rebuild(gp, sparse, sites, ws) : status;
}

/* Marginals of the carried part with g and alpha, and the residual variances, from M and a. */
static sg_status marginals(const sg_process *gp, const sg_sparse_rows *sparse,
                           const sg_sites *sites, sg_marginals *marg, double *gamma,
                           const sg_ws *ws)
{
    const int d = gp->basis.d;
    for (int i = 0; i < sparse->n; i++) {
        const double *v = sparse->V + (size_t) gp->basis.cap * i;
        gamma[i] = fmax2(sparse->prior[i] - sg_dot(d, v, v), 0);
        marg->var[i] = fmax2(sg_weights_gain(gp->w, &gp->basis, v, gp->g), 0);
        marg->mean[i] = sg_dot(d, v, gp->w->a);
        marg->g[i] = 1 - sites->tau[i] * marg->var[i];
        marg->alpha[i] = sites->nu[i] - sites->tau[i] * marg->mean[i];
        if (!(marg->g[i] > 0)) return SG_NOT_FINITE;
        if (i % SG_BETWEEN_TICKS == 0) ws->tick();
    }
    return SG_OK;
}

sg_status sg_ep_sparse_evidence(const sg_rows *rows, const sg_process *gp,
                                const sg_sparse_rows *sparse, const sg_sites *sites,
                                sg_marginals *marg, double *gamma, double *logz,
                                const sg_ws *ws)
{
    sg_rows with_residual = *rows;
    with_residual.gamma = gamma;
    double log_det_A;
    sg_status status = sg_weights_log_det(gp->w, &gp->basis, &log_det_A, ws);
    if (status == SG_OK) status = marginals(gp, sparse, sites, marg, gamma, ws);
    if (status != SG_OK) return status;
    sg_cavities(marg);
    status = sg_tilt_rows(&with_residual, marg, ws);
    *logz = sg_log_evidence(marg, log_det_A);
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
