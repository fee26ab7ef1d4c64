#include <math.h>
#include <Rmath.h>
#include <R_ext/Utils.h>
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

/* ---- Kernel columns, for the likeliest next rows together: one read of the inputs for many. */

enum { AHEAD = 64 };

typedef struct {
    int count, row[AHEAD]; /* columns in store; their rows */
    double *K;             /* m x AHEAD */
    double *points;        /* AHEAD x p */
    double *sorted;        /* m */
} columns;

/* The `count` candidates of largest gain; returns how many there are. The best comes first. */
static int likeliest(const sg_candidates *c, int best, int *which, double *sorted)
{
    const int want = AHEAD < c->m ? AHEAD : c->m;
    int count = 1;
    for (int j = 0; j < c->m; j++) sorted[j] = -c->gain[j];
    rPsort(sorted, c->m, want - 1);
    const double least = -sorted[want - 1];
    which[0] = best;
    for (int j = 0; j < c->m && count < want; j++) {
        if (j != best && !c->taken[j] && c->gain[j] >= least) which[count++] = j;
    }
    return count;
}

/* The kernel between all candidates and candidate j. */
static const double *column_of(const sg_kernel *kernel, int p, const sg_candidates *c, int j,
                               columns *store, const sg_ws *ws)
{
    for (int k = 0; k < store->count; k++) {
        if (store->row[k] == c->row[j]) return store->K + (size_t) c->m * k;
    }
    int which[AHEAD];
    const int count = likeliest(c, j, which, store->sorted);
    for (int a = 0; a < count; a++) {
        store->row[a] = c->row[which[a]];
        for (int k = 0; k < p; k++) {
            store->points[a + (size_t) count * k] = c->x[which[a] + (size_t) c->m * k];
        }
    }
    sg_kernel_cross(kernel, c->m, c->x, count, store->points, store->K, ws);
    store->count = count;
    return store->K;
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

/* x[m x ncol], its rows kept[] moved together; to may be x itself. */
static void compact(int m, int ncol, const double *x, const int *kept, int left, double *to)
{
    for (int k = 0; k < ncol; k++) {
        const double *from = x + (size_t) m * k;
        double *column = to + (size_t) left * k;
        for (int j = 0, at = 0; j < m; j++) {
            if (kept[j]) column[at++] = from[j];
        }
    }
}

static void compact_ints(int m, int *x, const int *kept)
{
    for (int j = 0, at = 0; j < m; j++) {
        if (kept[j]) x[at++] = x[j];
    }
}

/* Leaves `left` candidates, a share `keep` of them by gain and the rest by luck. X: room for their
 * inputs. */
static void shrink(const sg_ivm_options *options, int left, int d, int p, sg_candidates *c,
                   double *X, const sg_ws *ws)
{
    void *mark = ws->mark();
    double *key = ws->doubles(c->m);
    int *kept = sg_ints(c->m, ws), count = 0;
    for (int j = 0; j < c->m; j++) kept[j] = 0, key[j] = -c->gain[j];
    mark_smallest(c, key, (int) (options->keep * left), kept, ws);
    for (int j = 0; j < c->m; j++) key[j] = options->luck[c->row[j]], count += kept[j];
    mark_smallest(c, key, left - count, kept, ws);
    count = 0;
    for (int j = 0; j < c->m; j++) count += kept[j];
    double *const each[] = {c->mean, c->var, c->logz, c->d1, c->tau, c->nu, c->gain};
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
        compact(c->m, 1, each[k], kept, count, each[k]);
    }
    compact(c->m, d, c->M, kept, count, c->M);
    compact(c->m, p, c->x, kept, count, X);
    compact_ints(c->m, c->row, kept);
    compact_ints(c->m, c->taken, kept);
    c->x = X;
    c->m = count;
    ws->release(mark);
}

static int shrink_if_due(const sg_ivm_options *options, int d, int p, sg_candidates *c, double **X,
                         const sg_ws *ws)
{
    const double most = most_candidates(options, d);
    if (d % options->block != 0 || c->m <= most) return 0;
    if (!*X) *X = ws->doubles((size_t) most * p);
    shrink(options, (int) most, d, p, c, *X, ws);
    return 1;
}

/* Everything the passes share. */
typedef struct {
    const sg_kernel *kernel;
    const sg_rows *rows;
    const sg_ivm_options *options;
    int p;
    sg_candidates c;
    columns store;
    double *X; /* inputs of the candidates once they are fewer than the rows */
    sg_active *active;
    const sg_ws *ws;
} selection;

static const double *kernel_column(selection *s, int j)
{
    return column_of(s->kernel, s->p, &s->c, j, &s->store, s->ws);
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
        if (shrink_if_due(options, active->d, s->p, &s->c, &s->X, s->ws)) s->store.count = 0;
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
    const int n = rows->n;
    const double stubs = fmin2((double) n * options->size, options->pool);
    selection s = {kernel, rows, options, p, sg_candidates_new(kernel, n, x, stubs, ws),
                   {0, {0}, ws->doubles((size_t) n * AHEAD), ws->doubles((size_t) p * AHEAD),
                    ws->doubles(n)},
                   NULL, active, ws};
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
