/* exchange.c: points that join a basis and locations that leave it (exchange.h). */
#include <math.h>
#include <Rmath.h>
#include "exchange.h"
#include "tolerances.h"

/* Compares the rows of x[n x w p] that two neighbours came from: ids count points, w to a row. */
static int is_first(const sg_process *gp, int i)
{
    return i == 0 || floor((gp->id[i] - 1) / gp->w) != floor((gp->id[i - 1] - 1) / gp->w);
}

/* Points of one row that stand together make a location. */
void sg_process_locate(sg_process *gp)
{
    for (int i = 0; i < gp->basis.d; i++) gp->first[i] = is_first(gp, i);
}

/* ---- Points that join ---- */

/* Lets point a of the row join as number k. In the basis with those before it v = (v_a; L_a.) and q
 * = R^{-1} v; beside it
 *   Gamma -= l l',                       l = Gamma_.a / sqrt(Gamma_aa),
 *   q_b = (q_b - share_b q_a; share_b),  share = Gamma_.a / Gamma_aa,
 * which is a Cholesky step of Gamma and the bordering of K_B^{-1}. */
static void add_point(sg_process *gp, const sg_seen *seen, int a)
{
    sg_joining *j = &gp->joining;
    const int w = seen->w, k = j->count++, d = gp->basis.d + k;
    const size_t cap = gp->basis.cap, ldq = k == 0 ? (size_t) d : cap;
    const double *old = k == 0 ? seen->q : j->q, pivot = j->left[a * (w + 1)];
    double *before = j->before + cap * k;
    sg_copy(d, old + ldq * a, before);
    j->which[k] = a;
    j->gamma[k] = pivot;
    for (int b = 0; b < w; b++) {
        const double share = j->left[b + w * a] / pivot;
        double *q = j->q + cap * b;
        j->L[b + w * k] = j->left[b + w * a] / sqrt(pivot);
        for (int i = 0; i < d; i++) q[i] = b == a ? 0 : old[i + ldq * b] - share * before[i];
        q[d] = share;
    }
    for (int b = 0; b < w; b++) {
        for (int c = 0; c < w; c++) {
            double *left = j->left + b + w * c;
            *left = b == a || c == a ? 0 : *left - j->L[b + w * k] * j->L[c + w * k];
        }
    }
}

/* Adds each point whose residual variance exceeds `novelty`; returns how many. Nothing is copied
 * where there are none. */
static int find_joining(sg_process *gp, const sg_seen *seen, double novelty)
{
    sg_joining *j = &gp->joining;
    const int w = seen->w;
    j->count = 0;
    sg_copy(w * w, seen->gamma, j->left);
    for (int a = 0; a < w; a++) {
        if (!(j->left[a * (w + 1)] > novelty * seen->K[a * (w + 1)])) continue;
        add_point(gp, seen, a);
    }
    return j->count;
}

/* Returns number k of those that join; v begins its column of gp->V, once that is filled in. */
static sg_point joining_point(const sg_process *gp, int k)
{
    const sg_joining *j = &gp->joining;
    const sg_point point = {.v = gp->V + (size_t) gp->basis.cap * j->which[k],
                            .q = j->before + (size_t) gp->basis.cap * k, .gamma = j->gamma[k]};
    return point;
}

/* Extends X[cap x w] of d coordinates by those that the joining points add: rows of L. */
static void extend(const sg_process *gp, int w, int d, double *X)
{
    const sg_joining *j = &gp->joining;
    for (int a = 0; a < w; a++) {
        for (int k = 0; k < j->count; k++) X[d + k + (size_t) gp->basis.cap * a] = j->L[a + w * k];
    }
}

/* Borders the basis and all posteriors by the points, without their row's response (id: of the
 * row's first). */
static void join(sg_process *gp, const sg_seen *seen, double id)
{
    sg_basis *b = &gp->basis;
    const int d = b->d;
    for (int a = 0; a < seen->w; a++) {
        double *v = gp->V + (size_t) b->cap * a;
        sg_copy(d, seen->V + (size_t) d * a, v);
    }
    extend(gp, seen->w, d, gp->V);
    for (int k = 0; k < gp->joining.count; k++) {
        const int a = gp->joining.which[k];
        const sg_point point = joining_point(gp, k);
        double *x = gp->points + (size_t) gp->p * b->d;
        sg_copy_columns(1, gp->p, seen->x + a, seen->ldx, x, 1);
        gp->id[b->d] = id + a;
        gp->first[b->d] = k == 0;
        for (int c = 0; c < gp->C; c++) sg_weights_grow(gp->each + c, b, &point);
        sg_basis_grow(b, &point);
    }
}

/* Lets the points join one by one, each if it is novel beside those before it. */
void sg_process_predefine(const sg_kernel *kernel, int n, const double *x, double novelty,
                          sg_process *gp, const sg_ws *ws)
{
    sg_view view = sg_view_new(1, 1, gp, ws);
    view.m = 1;
    for (int i = 0; i < n; i++) {
        sg_copy_columns(1, gp->p, x + i, n, view.x, 1);
        sg_view_look(kernel, gp, 0, &view, ws);
        const sg_seen seen = sg_view_row(&view, gp->basis.d, 0);
        if (find_joining(gp, &seen, novelty)) join(gp, &seen, i + 1.0);
        sg_tick(ws);
    }
    sg_process_locate(gp);
}

/* ---- Locations and their scores ---- */

/* Points at .. at + count - 1, which are to leave; count 0: no point. */
typedef struct {
    int at, count;
} leaver;

/* Scores the locations of d points under process c, at their first points; over the processes the
 * largest counts (thesis 5.10). */
static void score_locations(sg_process *gp, int c, int d, const sg_parts *parts, sg_band Q,
                            sg_score kind)
{
    sg_parts_scores(parts, Q, d, gp->first, kind, c == 0 ? gp->worst : gp->score);
    for (int i = 0; c > 0 && i < d; i += sg_group_size(d, gp->first, i)) {
        gp->worst[i] = fmax2(gp->worst[i], gp->score[i]);
    }
}

/* Returns the location of least score; of ties the earliest. */
static leaver least_location(const sg_process *gp, int d)
{
    const double *worst = gp->worst;
    double below = *worst - SG_TIE * fabs(*worst);
    int least = 0;
    for (int i = 0; i < d; i++) {
        if (!gp->first[i] || !(worst[i] < below)) continue;
        least = i;
        below = worst[i] - SG_TIE * fabs(worst[i]);
    }
    return (leaver) {least, sg_group_size(d, gp->first, least)};
}

/* Computes what the basis would be with the points that join: Q, and beyond its end, where nothing
 * is yet, K and first. So far nothing has changed that could not be left. */
static void foresee_basis(sg_process *gp, const sg_seen *seen)
{
    sg_joining *j = &gp->joining;
    const int d = gp->basis.d;
    for (int k = 0; k < j->count; k++) {
        const sg_point point = joining_point(gp, k);
        sg_band_grow(k == 0 ? gp->basis.Q : j->Q, d + k, 1 / point.gamma, point.q, j->Q);
        gp->basis.K[d + k] = seen->K[j->which[k] * (seen->w + 1)];
        gp->first[d + k] = k == 0;
    }
}

/* Computes R^{-1} G of process c in the basis with the points that join (thesis 2.46: s = Ck + e):
 *   ((R^{-1} M V - q); 0) + q there. */
static void joined_gains(sg_process *gp, int c, const sg_seen *seen, int d)
{
    const sg_joining *j = &gp->joining;
    const size_t cap = gp->basis.cap;
    const double *old = sg_gains_in_weights(gp, c);
    for (int a = 0; a < gp->w; a++) {
        const double *q = j->q + cap * a;
        double *s = j->s + cap * a;
        for (int i = 0; i < d; i++) s[i] = old[i + cap * a] - seen->q[i + (size_t) d * a] + q[i];
        sg_copy(j->count, q + d, s + d);
    }
}

/* Returns the location of least score among the basis and the newcomer, which would be the last
 * one: the scores after the step, found without taking it. */
static leaver least_with_newcomer(sg_process *gp, const sg_seen *seen, sg_score kind,
                                     const sg_row_tilt *tilt)
{
    sg_joining *j = &gp->joining;
    const int d = gp->basis.d, grown = d + j->count;
    sg_row_gains_in_weights(gp);
    for (int c = 0; c < gp->C; c++) {
        for (int k = 0; k < j->count; k++) {
            const sg_point point = joining_point(gp, k);
            sg_parts_grow(k == 0 ? &gp->each[c].parts : &j->parts, d + k, &point, kind, &j->parts);
        }
        joined_gains(gp, c, seen, d);
        sg_row_move_parts(gp, c, tilt, grown, &j->parts, j->s, kind == SG_SCORE_KL ? j->q : NULL,
                          gp->basis.cap);
        score_locations(gp, c, grown, &j->parts, j->Q, kind);
    }
    return least_location(gp, grown);
}

/* ---- Points that leave ---- */

/* Moves the points after j one place up; the next one leads the location if j did. */
static void drop_point(sg_process *gp, int j)
{
    if (gp->first[j] && j + 1 < gp->basis.d) gp->first[j + 1] = 1;
    const size_t after = gp->basis.d - 1 - j;
    double *point = gp->points + (size_t) gp->p * j;
    sg_copy(after, gp->id + j + 1, gp->id + j);
    sg_copy(after * gp->p, point + gp->p, point);
    for (int i = j; i < gp->basis.d - 1; i++) gp->first[i] = gp->first[i + 1];
}

/* Removes point j from the basis and from all posteriors, and turns the rows outside. */
static void leave(sg_process *gp, int j, int m, double *X)
{
    sg_basis *b = &gp->basis;
    drop_point(gp, j);
    sg_removal_begin(&gp->removal, b, j);
    for (int c = 0; c < gp->C; c++) sg_weights_remove(gp->each + c, b, &gp->removal);
    sg_removal_end(&gp->removal, b);
    sg_removal_rotate(&gp->removal, m, X, b->cap);
}

/* Returns a redundant point if there is one, else the least location if the basis is too large. */
static leaver next_leaver(sg_process *gp, const sg_row_rules *rules)
{
    const sg_basis *b = &gp->basis;
    const int redundant = sg_basis_redundant(b->d, b->K, b->Q, rules->novelty);
    if (redundant >= 0) return (leaver) {redundant, 1};
    if (b->d <= rules->size) return (leaver) {0, 0};
    for (int c = 0; c < gp->C; c++) {
        score_locations(gp, c, b->d, &gp->each[c].parts, b->Q, rules->score);
    }
    return least_location(gp, b->d);
}

/* The first leaves; then points that have become redundant beside those that joined later; then
 * locations of least score until the basis is no larger than its size. A location's points leave
 * one after the other (thesis 3.19-3.22), which comes to the same as all at once. The columns of
 * X[cap x m], rows outside, turn along. O(C d^2 + m d) a point. */
static void exchange(sg_process *gp, const sg_row_rules *rules, leaver first, int m, double *X)
{
    for (leaver out = first; out.count > 0; out = next_leaver(gp, rules)) {
        for (int k = out.count; k-- > 0;) leave(gp, out.at + k, m, X);
    }
}

/* ---- A row ---- */

/* Decides what becomes of the row and fills in the tilt's step and site; nothing changes yet.
 * *out: who is to leave first in an exchange. After sg_row_marginals() for the same row. The scores
 * of all locations take O(C w^2 d). */
static sg_row_outcome judge(sg_process *gp, const sg_seen *seen, const sg_row_rules *rules,
                         sg_row_tilt *tilt, leaver *out)
{
    const sg_joining *j = &gp->joining;
    const int d = gp->basis.d;
    sg_row_outcome outcome = SG_ROW_PROJECTED;
    if (!rules->frozen && find_joining(gp, seen, rules->novelty)) {
        /* The step on the basis with the points that join */
        if (!sg_row_steps(gp, seen->gamma, j->left, rules->projection, tilt)) return SG_ROW_SKIPPED;
        foresee_basis(gp, seen);
        const int redundant = sg_basis_redundant(d + j->count, gp->basis.K, j->Q, rules->novelty);
        if (redundant >= 0) {
            *out = (leaver) {redundant, 1};
            return SG_ROW_EXCHANGED;
        }
        if (d + j->count <= rules->size) return SG_ROW_ADDED;
        *out = least_with_newcomer(gp, seen, rules->score, tilt);
        if (out->at < d) return SG_ROW_EXCHANGED;
        outcome = SG_ROW_REJECTED;
    }
    /* Projected onto the unchanged basis, all of Gamma is left. */
    const int valid = sg_row_steps(gp, seen->gamma, seen->gamma, rules->projection, tilt);
    return valid ? outcome : SG_ROW_SKIPPED;
}

/* Moves the posteriors by the steps; the row's sites are not yet in S and t. O(C w d^2). */
static void project(sg_process *gp, const sg_seen *seen, const sg_row_rules *rules,
                    const sg_row_tilt *tilt)
{
    const double *q = rules->score == SG_SCORE_KL ? seen->q : NULL;
    if (!rules->frozen) sg_row_gains_in_weights(gp);
    for (int c = 0; c < gp->C; c++) {
        sg_row_move(gp, c, tilt);
        if (rules->frozen) continue;
        sg_row_move_parts(gp, c, tilt, gp->basis.d, &gp->each[c].parts, sg_gains_in_weights(gp, c),
                          q, gp->basis.d);
    }
}

/* The row's novel points join, all posteriors move and absorb its sites. Every other row's sites
 * must be in S and t by now. Leaves the row as the new basis sees it in gp->V. O(C w d^2). */
static void include(sg_process *gp, const sg_seen *seen, double id, const sg_row_tilt *tilt)
{
    const int d = gp->basis.d, cap = gp->basis.cap, w = gp->w;
    const sg_joining *j = &gp->joining;
    sg_row_gains_in_weights(gp);
    join(gp, seen, id);
    for (int c = 0; c < gp->C; c++) {
        extend(gp, w, d, sg_gains(gp, c));
        sg_row_move(gp, c, tilt);
        joined_gains(gp, c, seen, d);
        sg_row_move_parts(gp, c, tilt, gp->basis.d, &gp->each[c].parts, j->s, j->q, cap);
        sg_process_absorb(gp, c, 1, gp->V, cap, tilt->tau + w * w * c, tilt->nu + w * c, 1,
                          gp->work);
    }
}

sg_row_outcome sg_row_take(sg_process *gp, const sg_rows *rows, const sg_row_rules *rules, int i,
                        double id, const sg_seen *seen, const sg_row_memory *memory,
                        sg_row_tilt *tilt)
{
    sg_row_outcome outcome = SG_ROW_SKIPPED;
    leaver first = {0, 0};
    if (memory->divide && !memory->divide(memory->self, i, 1)) return SG_ROW_SKIPPED;
    if (sg_row_marginals(gp, rows, i, rules->nonnegative, seen, tilt)) {
        outcome = judge(gp, seen, rules, tilt, &first);
    }
    if (outcome == SG_ROW_SKIPPED) {
        if (memory->divide) memory->divide(memory->self, i, -1);
        if (memory->skip) memory->skip(memory->self, i, seen);
    } else if (!sg_changes_basis(outcome)) {
        project(gp, seen, rules, tilt);
        memory->keep(memory->self, i, seen, 0);
    } else {
        if (memory->complete) memory->complete(memory->self);
        include(gp, seen, id, tilt);
        memory->keep(memory->self, i, seen, 1);
        if (outcome == SG_ROW_EXCHANGED) exchange(gp, rules, first, memory->m, memory->X);
    }
    return outcome;
}
