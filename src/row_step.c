#include <math.h>
#include <Rmath.h>
#include "row_step.h"

sg_process sg_process_new(int cap, int p, int C, const sg_ws *ws)
{
    sg_process gp = {.basis = sg_basis_new(cap, ws), .C = C, .p = p,
                     .removal = sg_removal_new(cap, ws)};
    /* the workspace lends doubles; a struct of pointers is aligned no more strictly */
    gp.w = (sg_weights *) sg_doubles(ws, C * (sizeof(sg_weights) / sizeof(double) + 1));
    for (int c = 0; c < C; c++) gp.w[c] = sg_weights_new(cap, ws);
    gp.points = sg_doubles(ws, (size_t) p * cap);
    gp.id = sg_doubles(ws, cap);
    gp.v = sg_doubles(ws, cap);
    gp.g = sg_doubles(ws, (size_t) cap * C);
    gp.s = sg_doubles(ws, (size_t) cap * C);
    gp.score = sg_doubles(ws, cap);
    gp.worst = sg_doubles(ws, cap);
    gp.var = sg_doubles(ws, C);
    return gp;
}

/* ---- Rows at hand ---- */

sg_view sg_view_new(int rows, const sg_process *gp, const sg_ws *ws)
{
    const size_t size = (size_t) gp->basis.cap * rows;
    const sg_view view = {0, sg_doubles(ws, (size_t) rows * gp->p), sg_doubles(ws, rows),
                          sg_doubles(ws, size), sg_doubles(ws, size), sg_doubles(ws, rows)};
    return view;
}

/* The points as the kernel wants them: d x p */
static const double *points_by_column(const sg_process *gp, const sg_ws *ws)
{
    const int d = gp->basis.d, p = gp->p;
    double *out = sg_doubles(ws, (size_t) d * p);
    for (int i = 0; i < d; i++) {
        for (int k = 0; k < p; k++) out[i + (size_t) d * k] = gp->points[k + (size_t) p * i];
    }
    return out;
}

void sg_view_look(const sg_kernel *kernel, const sg_process *gp, int frozen, sg_view *view,
                  const sg_ws *ws)
{
    const int d = gp->basis.d, m = view->m;
    sg_kernel_diag(kernel, m, view->x, view->prior, ws);
    if (d > 0) {
        void *mark = sg_mark(ws);
        sg_kernel_cross(kernel, d, points_by_column(gp, ws), m, view->x, view->V, ws);
        sg_release(ws, mark);
    }
    sg_basis_whiten(&gp->basis, m, view->V);
    for (int i = 0; i < m; i++) {
        const double *v = view->V + (size_t) d * i;
        view->gamma[i] = fmax2(view->prior[i] - sg_dot(d, v, v), 0);
    }
    if (frozen) return;
    for (size_t i = 0; i < (size_t) d * m; i++) view->q[i] = view->V[i];
    sg_basis_to_weights(&gp->basis, m, view->q);
}

/* ---- One row ---- */

/* s of all latent functions, computed once a row. */
static void find_s(sg_process *gp)
{
    const int d = gp->basis.d;
    for (int c = 0; c < gp->C && !gp->knows_s; c++) {
        double *s = gp->s + (size_t) gp->basis.cap * c;
        for (int i = 0; i < d; i++) s[i] = sg_process_gain(gp, c)[i];
        sg_basis_to_weights(&gp->basis, 1, s);
    }
    gp->knows_s = 1;
}

int sg_row_marginals(sg_process *gp, const sg_rows *rows, int i, const sg_seen *seen,
                     sg_row_tilt *tilt, double *logz)
{
    double mu[SG_LIK_MAX_BLOCKS], s2[SG_LIK_MAX_BLOCKS];
    double d1[SG_LIK_MAX_BLOCKS], d2[SG_LIK_MAX_BLOCKS];
    sg_tilt out = {.d1 = d1, .d2 = d2};
    gp->knows_s = 0;
    for (int c = 0; c < gp->C; c++) {
        sg_row_tilt *t = tilt + c;
        t->mean = sg_dot(gp->basis.d, seen->v, gp->w[c].a);
        double *gain = sg_process_gain(gp, c);
        t->carried = fmax2(sg_weights_gain(gp->w + c, &gp->basis, seen->v, gain), 0);
        mu[c] = t->mean + rows->offset[i];
        s2[c] = t->carried + seen->gamma;
    }
    sg_lik_tilt(rows->lik, sg_lik_row(rows->lik, rows->y, i), mu, s2, &out);
    *logz = out.logz;
    double sum = out.logz;
    for (int c = 0; c < gp->C; c++) {
        tilt[c].d1 = d1[c], tilt[c].d2 = d2[c];
        sum += d1[c] + d2[c];
    }
    return isfinite(sum);
}

void sg_row_kl(const sg_process *gp, double gamma, const sg_row_tilt *tilt, double kl[2])
{
    kl[0] = kl[1] = 0;
    for (int c = 0; c < gp->C; c++) {
        double one[2];
        sg_step_kl(tilt[c].d1, tilt[c].d2, tilt[c].carried + gamma, one);
        kl[0] += one[0];
        kl[1] += one[1];
    }
}

/* The site on the whole of u (thesis 2.46): the row's point will be in the basis. */
static int whole_step(double gamma, sg_row_tilt *t)
{
    t->step.mean = t->d1;
    t->step.var = t->d2;
    return sg_site_from_tilt(t->mean, t->carried + gamma, t->d1, t->d2, &t->step.tau,
                             &t->step.nu);
}

/* The site on the part the basis carries: KL-optimal (thesis 3.29), or of matching moments. */
static int projected_step(double gamma, int kl, sg_row_tilt *t)
{
    const double eta = kl ? 1 / (1 + gamma * t->d2) : 1;
    t->step.mean = t->d1 * eta;
    t->step.var = t->d2 * eta;
    return sg_site_from_tilt(t->mean, kl ? t->carried + gamma : t->carried, t->d1, t->d2,
                             &t->step.tau, &t->step.nu);
}

static int projected_steps(const sg_process *gp, double gamma, int kl, sg_row_tilt *tilt)
{
    int legal = 1;
    for (int c = 0; c < gp->C; c++) legal = projected_step(gamma, kl, tilt + c) && legal;
    return legal;
}

static int whole_steps(const sg_process *gp, double gamma, sg_row_tilt *tilt)
{
    int legal = 1;
    for (int c = 0; c < gp->C; c++) legal = whole_step(gamma, tilt + c) && legal;
    return legal;
}

/* The point of least score among the basis and the newcomer (number d); with several latent
 * functions the least of the largest (thesis 5.10). Ties within 1e-10 go to the earliest point. */
static int least_point(sg_process *gp, const sg_seen *seen, sg_score kind, const sg_row_tilt *tilt)
{
    const double TIE = 1e-10;
    const int d = gp->basis.d;
    int least = 0;
    find_s(gp);
    for (int c = 0; c < gp->C; c++) {
        double *score = c == 0 ? gp->worst : gp->score;
        const double *s = gp->s + (size_t) gp->basis.cap * c;
        sg_weights_scores(gp->w + c, &gp->basis, seen, s, &tilt[c].step, kind, score);
        for (int i = 0; c > 0 && i <= d; i++) gp->worst[i] = fmax2(gp->worst[i], score[i]);
    }
    for (int i = 1; i <= d; i++) {
        if (gp->worst[i] < gp->worst[least] - TIE * fabs(gp->worst[least])) least = i;
    }
    return least;
}

sg_row_fate sg_row_judge(sg_process *gp, const sg_seen *seen, double prior_var,
                         const sg_row_rules *rules, sg_row_tilt *tilt, int *leaver)
{
    sg_row_fate fate = SG_ROW_PROJECTED;
    for (int c = 0; rules->narrow && c < gp->C; c++) tilt[c].d2 = fmin2(tilt[c].d2, 0);
    if (!rules->frozen && seen->gamma > rules->novelty * prior_var) {
        if (!whole_steps(gp, seen->gamma, tilt)) return SG_ROW_SKIPPED;
        *leaver = sg_basis_redundant(&gp->basis, seen, rules->novelty);
        if (*leaver >= 0) return SG_ROW_EXCHANGED;
        if (gp->basis.d < rules->size) return SG_ROW_ADDED;
        *leaver = least_point(gp, seen, rules->score, tilt);
        if (*leaver < gp->basis.d) return SG_ROW_EXCHANGED;
        fate = SG_ROW_DECLINED;
    }
    return projected_steps(gp, seen->gamma, rules->kl, tilt) ? fate : SG_ROW_SKIPPED;
}

void sg_row_project(sg_process *gp, const sg_seen *seen, const sg_row_rules *rules,
                    const sg_row_tilt *tilt)
{
    const double *q = rules->score == SG_SCORE_KL ? seen->q : NULL;
    if (!rules->frozen) find_s(gp);
    for (int c = 0; c < gp->C; c++) {
        const sg_step *step = &tilt[c].step;
        const double *s = gp->s + (size_t) gp->basis.cap * c;
        sg_weights_move(gp->w + c, &gp->basis, sg_process_gain(gp, c), step);
        if (!rules->frozen) sg_weights_move_scores(gp->w + c, gp->basis.d, s, q, step);
    }
}

/* A point without its row's response. */
static void join(sg_process *gp, const sg_view *view, int i, double id)
{
    sg_basis *b = &gp->basis;
    const int d = b->d;
    const sg_seen seen = sg_view_row(view, d, i);
    for (int c = 0; c < gp->C; c++) sg_weights_grow(gp->w + c, b, &seen);
    sg_basis_grow(b, &seen);
    for (int k = 0; k < gp->p; k++) {
        gp->points[k + (size_t) gp->p * d] = view->x[i + (size_t) view->m * k];
    }
    gp->id[d] = id;
    for (int k = 0; k < d; k++) gp->v[k] = seen.v[k];
    gp->v[d] = sqrt(seen.gamma);
}

void sg_row_include(sg_process *gp, const sg_view *view, int i, double id,
                    const sg_row_tilt *tilt)
{
    sg_basis *b = &gp->basis;
    const int d = b->d;
    const double *q = view->q + (size_t) d * i;
    find_s(gp);
    join(gp, view, i, id);
    for (int c = 0; c < gp->C; c++) {
        const sg_step *step = &tilt[c].step;
        double *g = sg_process_gain(gp, c), *s = gp->s + (size_t) b->cap * c;
        g[d] = gp->v[d];
        for (int k = 0; k < d; k++) s[k] -= q[k]; /* thesis 2.46: s = Ck + e */
        s[d] = 1;
        sg_weights_move(gp->w + c, b, g, step);
        sg_weights_move_scores(gp->w + c, b->d, s, NULL, step);
        gp->w[c].P[d] = step->tau; /* in weights the row is e_d */
        sg_weights_absorb(gp->w + c, b, 1, gp->v, b->cap, &step->tau, &step->nu, 1, gp->score);
    }
}

void sg_process_predefine(const sg_kernel *kernel, int n, const double *x, double novelty,
                          sg_process *gp, const sg_ws *ws)
{
    sg_view view = sg_view_new(1, gp, ws);
    view.m = 1;
    for (int i = 0; i < n; i++) {
        sg_copy_rows(n, gp->p, x, i, 1, view.x);
        sg_view_look(kernel, gp, 0, &view, ws);
        if (view.gamma[0] > novelty * view.prior[0]) join(gp, &view, 0, i + 1.0);
        sg_tick(ws);
    }
}

void sg_row_remove(sg_process *gp, int j)
{
    sg_basis *b = &gp->basis;
    sg_removal_begin(&gp->removal, b, j);
    for (int c = 0; c < gp->C; c++) sg_weights_remove(gp->w + c, b, &gp->removal);
    sg_removal_end(&gp->removal, b);
    for (int i = j; i < b->d; i++) {
        gp->id[i] = gp->id[i + 1];
        for (int k = 0; k < gp->p; k++) {
            gp->points[k + (size_t) gp->p * i] = gp->points[k + (size_t) gp->p * (i + 1)];
        }
    }
}

sg_status sg_process_refresh(sg_process *gp, const sg_ws *ws)
{
    sg_status status = SG_OK;
    for (int c = 0; c < gp->C && status == SG_OK; c++) {
        status = sg_weights_refresh(gp->w + c, &gp->basis, ws);
    }
    return status;
}
