/* ivm.c: the selection: who is included next, who stays a candidate, who is exchanged. */
#include <float.h>
#include <math.h>
#include <Rmath.h>
#include <R_ext/Utils.h>
#include "columns.h"
#include "ivm.h"
#include "tolerances.h"

/* Returns log Z of what is included, each given those before it, and of the rest given all of them:
 * an approximation of the log evidence (minus paper eq. 11) of the rows that are still
 * candidates. */
static double evidence(const sg_candidates *c, double included)
{
    for (int j = 0; j < c->m; j++) {
        if (!c->taken[j]) included += c->logz[j];
    }
    return included;
}

/* Everything the passes share; arrays are over latent functions. */
typedef struct {
    const sg_rows *rows;
    const sg_ivm_options *options;
    int C;
    sg_candidates *c;
    sg_columns *columns;
    sg_active *active;
    const sg_ws *ws;
} selection;

/* Returns what including candidate j would gain for latent function k; -infinity if its set is
 * full. */
static double gain_at(const selection *s, int k, int j)
{
    return s->active[k].d < s->options->size ? s->c[k].gain[j] : -HUGE_VAL;
}

/* Returns the candidate of largest gain, and for which latent function; -1 if there is no such. Of
 * ties the earliest, so rounding does not choose. */
static int best_of(const selection *s, int *whose)
{
    int best = -1;
    double most = -HUGE_VAL;
    for (int j = 0; j < s->c->m; j++) {
        for (int k = 0; k < s->C; k++) {
            const double gain = gain_at(s, k, j);
            if (gain == -HUGE_VAL || (best >= 0 && !(gain > most + SG_TIE * fabs(most)))) continue;
            best = j, *whose = k, most = gain;
        }
    }
    return best;
}

/* ---- Randomised greedy selection: fewer candidates as their stubs grow (paper 3.2) ---- */

/* Returns the size of the largest active set. */
static int largest_set(const selection *s)
{
    int d = 0;
    for (int k = 0; k < s->C; k++) d = imax2(d, s->active[k].d);
    return d;
}

/* Returns the most candidates whose stubs fit into the pool until the next shrinking. */
static double most_candidates(const selection *s)
{
    const sg_ivm_options *options = s->options;
    const double end = fmin2((double) largest_set(s) + options->block, options->size);
    return floor(s->c->room / end);
}

/* Marks the first `count` of the candidates with key < infinity by increasing key. */
static void mark_smallest(int m, const double *key, int count, int *kept, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    double *keys = sg_doubles(ws, m);
    int *which = sg_ints(m, ws), free = 0;
    for (int j = 0; j < m; j++) {
        if (key[j] < HUGE_VAL && !kept[j]) keys[free] = key[j], which[free++] = j;
    }
    rsort_with_index(keys, which, free);
    for (int k = 0; k < count && k < free; k++) kept[which[k]] = 1;
    sg_release(ws, mark);
}

/* Is the row in all active sets already? */
static int is_used_up(const selection *s, int j)
{
    for (int k = 0; k < s->C; k++) {
        if (!s->c[k].taken[j]) return 0;
    }
    return 1;
}

/* Leaves `left` candidates, a proportion `keep` of them by their best gain, the rest at random. */
static void shrink(selection *s, int left)
{
    const sg_ws *ws = s->ws;
    const int m = s->c->m;
    void *mark = sg_mark(ws);
    double *key = sg_doubles(ws, m);
    int *kept = sg_ints(m, ws), count = 0;
    for (int j = 0; j < m; j++) {
        double most = -DBL_MAX; /* has none, and may get one */
        for (int k = 0; k < s->C; k++) most = fmax2(most, s->c[k].gain[j]);
        kept[j] = 0;
        key[j] = is_used_up(s, j) ? HUGE_VAL : -most;
    }
    mark_smallest(m, key, (int) (s->options->keep * left), kept, ws);
    for (int j = 0; j < m; j++) {
        if (key[j] < HUGE_VAL) key[j] = s->options->tie_break[s->c->row[j]];
        count += kept[j];
    }
    mark_smallest(m, key, left - count, kept, ws);
    for (int k = 0; k < s->C; k++) sg_candidates_keep(s->c + k, s->active[k].d, kept);
    for (int k = 0; k < s->C; k++) sg_columns_reset(s->columns + k, s->c + k);
    sg_release(ws, mark);
}

/* Counts the rows of all active sets. */
static int inclusions(const selection *s)
{
    int sum = 0;
    for (int k = 0; k < s->C; k++) sum += s->active[k].d;
    return sum;
}

/* Shrinks the candidate set every `block` inclusions, if its stubs no longer fit. */
static void shrink_if_due(selection *s)
{
    const double most = most_candidates(s);
    if (inclusions(s) % s->options->block == 0 && s->c->m > most) shrink(s, (int) most);
}

/* Returns the kernel between candidate j and all others, computed ahead if it was likely
 * (columns.h). */
static const double *kernel_column(selection *s, int k, int j)
{
    return sg_columns_get(s->columns + k, s->c + k, s->active[k].d, j, s->ws);
}

/* Scores all candidates that are due. */
static void score(selection *s, sg_select select)
{
    sg_candidates_score(s->rows, select, s->options->tie_break, s->C, s->c, s->ws);
}

/* Records the log evidence after an inclusion; with several latent functions it is not known on the
 * way. */
static void note_evidence(selection *s, int whose, double included)
{
    sg_active *active = s->active + whose;
    active->logz[active->d - 1] = s->C == 1 ? evidence(s->c, included) : NAN;
}

/* Includes row after row until the sets are full, all together have what they may, or no row is
 * left that is worth it. */
static sg_status select_rows(selection *s, sg_ivm_report *report)
{
    const sg_ivm_options *options = s->options;
    double included = 0;
    for (int count = 0, whose = 0, last = 0;; count++) {
        score(s, options->select);
        if (count > 0) note_evidence(s, last, included);
        report->stop = SG_IVM_SIZE;
        if (count >= fmin2((double) options->size * s->C, options->total)) return SG_OK;
        shrink_if_due(s);
        const int best = best_of(s, &whose);
        report->stop = best < 0 ? SG_IVM_NO_ROW : SG_IVM_GAIN;
        if (best < 0) return SG_OK;
        sg_candidates *c = s->c + whose;
        if (options->select != SG_SELECT_RANDOM && c->gain[best] < options->min_gain) return SG_OK;
        if (s->C > 1) { /* what is known of it may be a little out of date */
            sg_candidates_score_row(s->rows, options->select, options->tie_break, s->C, s->c, best);
            if (c->gain[best] == -HUGE_VAL) {
                count--;
                continue;
            }
        }
        included += s->c->logz[best];
        report->sequence[count] = last = whose;
        sg_active_include(s->active + whose, c, best, kernel_column(s, whose, best), s->ws);
        if (!isfinite(s->active[whose].beta[s->active[whose].d - 1])) return SG_NOT_FINITE;
    }
}

/* Returns the candidate of this row number, or -1. */
static int candidate_of(const sg_candidates *c, int row)
{
    for (int j = 0; j < c->m; j++) {
        if (c->row[j] == row) return j;
    }
    return -1;
}

/* Returns the position worth least among those whose rows are still candidates; -1 if there is no
 * such. */
static int least_worth(const selection *s, const double *worth)
{
    int least = -1;
    for (int k = 0; k < s->active->d; k++) {
        if (candidate_of(s->c, s->active->row[k]) < 0) continue;
        if (least < 0 || worth[k] < worth[least]) least = k;
    }
    return least;
}

/* Tries one exchange (notes 2.3), of one latent function: takes out the position worth least and
 * includes the best candidate, or puts the old one back with its site. Returns whether the entropy
 * fell. */
static int exchange(selection *s, double *worth)
{
    sg_active *active = s->active;
    sg_candidates *c = s->c;
    int whose = 0;
    if (active->d == 0 || sg_active_worth(active, worth, s->ws) != SG_OK) return 0;
    const int k = least_worth(s, worth);
    if (k < 0) return 0;
    const int back = candidate_of(c, active->row[k]);
    const double tau = active->tau[k], nu = active->nu[k], gain = active->gain[k], cost = worth[k];
    sg_active_remove(active, c, k, s->ws);
    score(s, SG_SELECT_ENTROPY);
    const int best = best_of(s, &whose);
    const int falls = best >= 0 && c->gain[best] > cost + SG_TIE * (1 + cost);
    if (falls) sg_active_include(active, c, best, kernel_column(s, 0, best), s->ws);
    else {
        sg_active_include_site(active, c, back, tau, nu, kernel_column(s, 0, back), s->ws);
        active->gain[active->d - 1] = gain;
    }
    return falls;
}

/* Divides the pool among the latent functions; those with one kernel share its points. */
static selection new_selection(int kernels, const sg_kernel *const *kernel, const sg_rows *rows,
                               const double *x, const sg_ivm_options *options, sg_active *active,
                               const sg_ws *ws)
{
    const int n = rows->n, C = rows->lik->C;
    const double stubs = fmin2((double) n * options->size, floor(options->pool / C));
    selection s = {.rows = rows, .options = options, .C = C, .active = active, .ws = ws};
    s.c = sg_structs(C, sizeof(sg_candidates), ws);
    s.columns = sg_structs(C, sizeof(sg_columns), ws);
    for (int k = 0; k < C; k++) {
        const sg_kernel *own = kernel[kernels == 1 ? 0 : k];
        const sg_candidates *like = kernels == 1 && k > 0 ? s.c : NULL;
        s.c[k] = sg_candidates_new(own, n, x, like, stubs, ws);
        s.columns[k] = sg_columns_new(own, s.c + k, options->size, ws);
    }
    return s;
}

sg_status sg_ivm_run(int kernels, const sg_kernel *const *kernel, const sg_rows *rows,
                     const double *x, const sg_ivm_options *options, sg_active *active,
                     sg_ivm_report *report, const sg_ws *ws)
{
    selection s = new_selection(kernels, kernel, rows, x, options, active, ws);
    report->sequence = sg_ints((size_t) options->size * s.C, ws);
    const sg_status status = select_rows(&s, report);
    double *worth = sg_doubles(ws, options->size);
    report->exchanged = 0;
    while (status == SG_OK && report->exchanged < options->exchange && exchange(&s, worth)) {
        report->exchanged++;
        sg_tick(ws);
    }
    report->left = s.c->m;
    report->row = s.c->row;
    return status;
}
