#include <math.h>
#include <Rmath.h>
#include <R_ext/Utils.h>
#include "columns.h"
#include "ivm.h"

/* log Z of what is included, each given those before it, and of the rest given all of them: an
 * approximation of the log evidence (minus paper eq. 11) of the rows still at hand. */
static double evidence(const sg_candidates *c, double included)
{
    for (int j = 0; j < c->m; j++) {
        if (!c->taken[j]) included += c->logz[j];
    }
    return included;
}

static int best_of(const sg_candidates *c)
{
    const double TIE = 1e-10;
    int best = -1;
    for (int j = 0; j < c->m; j++) {
        if (c->gain[j] == -HUGE_VAL) continue;
        if (best < 0 || c->gain[j] > c->gain[best] + TIE * fabs(c->gain[best])) best = j;
    }
    return best;
}

/* ---- Randomised greedy selection: fewer candidates as their stubs grow (paper 3.2) ---- */

/* Most candidates whose stubs fit into the pool until the next shrinking. */
static double most_candidates(const sg_ivm_options *options, int d)
{
    const int end = d + options->block < options->size ? d + options->block : options->size;
    return floor(options->pool / end);
}

/* Marks the first `count` of the free candidates by increasing key. */
static void mark_smallest(const sg_candidates *c, const double *key, int count, int *kept,
                          const sg_ws *ws)
{
    void *mark = ws->mark();
    double *keys = ws->doubles(c->m);
    int *which = sg_ints(c->m, ws), free = 0;
    for (int j = 0; j < c->m; j++) {
        if (!c->taken[j] && !kept[j]) keys[free] = key[j], which[free++] = j;
    }
    rsort_with_index(keys, which, free);
    for (int k = 0; k < count && k < free; k++) kept[which[k]] = 1;
    ws->release(mark);
}

/* Leaves `left` candidates, a share `keep` of them by gain and the rest by luck. */
static void shrink(const sg_ivm_options *options, int left, int d, sg_candidates *c,
                   const sg_ws *ws)
{
    void *mark = ws->mark();
    double *key = ws->doubles(c->m);
    int *kept = sg_ints(c->m, ws), count = 0;
    for (int j = 0; j < c->m; j++) kept[j] = 0, key[j] = -c->gain[j];
    mark_smallest(c, key, (int) (options->keep * left), kept, ws);
    for (int j = 0; j < c->m; j++) key[j] = options->luck[c->row[j]], count += kept[j];
    mark_smallest(c, key, left - count, kept, ws);
    sg_candidates_keep(c, d, kept);
    ws->release(mark);
}

/* Everything the passes share. */
typedef struct {
    const sg_rows *rows;
    const sg_ivm_options *options;
    sg_candidates c;
    sg_columns columns;
    sg_active *active;
    const sg_ws *ws;
} selection;

static void shrink_if_due(selection *s)
{
    const int d = s->active->d;
    const double most = most_candidates(s->options, d);
    if (d % s->options->block != 0 || s->c.m <= most) return;
    shrink(s->options, (int) most, d, &s->c, s->ws);
    sg_columns_reset(&s->columns, &s->c);
}

static const double *kernel_column(selection *s, int j)
{
    return sg_columns_get(&s->columns, &s->c, s->active->d, j, s->ws);
}

/* Inclusions until the set is full, or nothing is left that is worth one. */
static sg_status select_rows(selection *s, sg_ivm_report *report)
{
    const sg_ivm_options *options = s->options;
    sg_active *active = s->active;
    double included = 0;
    for (;;) {
        sg_candidates_score(s->rows, options->select, options->luck, &s->c, s->ws);
        if (active->d > 0) active->logz[active->d - 1] = evidence(&s->c, included);
        report->stop = SG_IVM_SIZE;
        if (active->d == options->size) return SG_OK;
        shrink_if_due(s);
        const int best = best_of(&s->c);
        report->stop = best < 0 ? SG_IVM_NO_ROW : SG_IVM_GAIN;
        if (best < 0) return SG_OK;
        if (options->select != SG_SELECT_LUCK && s->c.gain[best] < options->min_gain) return SG_OK;
        included += s->c.logz[best];
        sg_active_include(active, &s->c, best, kernel_column(s, best));
        if (!isfinite(active->beta[active->d - 1])) return SG_NOT_FINITE;
    }
}

static int candidate_of(const sg_candidates *c, int row)
{
    for (int j = 0; j < c->m; j++) {
        if (c->row[j] == row) return j;
    }
    return -1;
}

/* The position worth least among those whose rows are still candidates; -1: none. */
static int least_worth(const selection *s, const double *worth)
{
    int least = -1;
    for (int k = 0; k < s->active->d; k++) {
        if (candidate_of(&s->c, s->active->row[k]) < 0) continue;
        if (least < 0 || worth[k] < worth[least]) least = k;
    }
    return least;
}

/* One exchange (notes 2.3). Returns 1 when the entropy fell; else all is as it was. */
static int exchange(selection *s, double *worth)
{
    const double ROUNDING = 1e-10;
    sg_active *active = s->active;
    sg_candidates *c = &s->c;
    if (active->d == 0 || sg_active_worth(active, worth, s->ws) != SG_OK) return 0;
    const int k = least_worth(s, worth);
    if (k < 0) return 0;
    const int back = candidate_of(c, active->row[k]);
    const double tau = active->tau[k], nu = active->nu[k], gain = active->gain[k], cost = worth[k];
    sg_active_remove(active, c, k, s->ws);
    sg_candidates_score(s->rows, SG_SELECT_ENTROPY, NULL, c, s->ws);
    const int best = best_of(c);
    const int falls = best >= 0 && c->gain[best] > cost + ROUNDING * (1 + cost);
    if (falls) sg_active_include(active, c, best, kernel_column(s, best));
    else {
        sg_active_include_site(active, c, back, tau, nu, kernel_column(s, back));
        active->gain[active->d - 1] = gain;
    }
    return falls;
}

sg_status sg_ivm_run(const sg_kernel *kernel, const sg_rows *rows, int p, const double *x,
                     const sg_ivm_options *options, sg_active *active, sg_ivm_report *report,
                     const sg_ws *ws)
{
    (void) p; /* the kernel knows its columns */
    const int n = rows->n;
    const double stubs = fmin2((double) n * options->size, options->pool);
    selection s = {rows, options, sg_candidates_new(kernel, n, x, stubs, ws), {0}, active, ws};
    s.columns = sg_columns_new(kernel, &s.c, options->size, ws);
    const sg_status status = select_rows(&s, report);
    double *worth = ws->doubles(options->size);
    report->exchanged = 0;
    while (status == SG_OK && report->exchanged < options->exchange && exchange(&s, worth)) {
        report->exchanged++;
        ws->tick();
    }
    report->left = s.c.m;
    report->row = s.c.row;
    return status;
}
