/* columns.c: kernel columns that are computed ahead and wait in spare columns of the candidates. */
#include <math.h>
#include "columns.h"

sg_columns sg_columns_new(const sg_kernel *kernel, const sg_candidates *c, int size,
                          const sg_ws *ws)
{
    sg_columns store = {.kernel = kernel, .size = size, .holds = sg_ints(size, ws),
                        .slot = sg_ints(c->m, ws),
                        .K = sg_doubles(ws, (size_t) c->m * SG_AHEAD)};
    sg_columns_reset(&store, c);
    return store;
}

/* Forgets all columns: numbers of candidates have changed, and the room behind the stubs with
 * them. */
void sg_columns_reset(sg_columns *store, const sg_candidates *c)
{
    const double columns = sg_candidates_columns(c);
    store->slots = columns < store->size ? (int) columns : store->size;
    for (int s = 0; s < store->size; s++) store->holds[s] = -1;
    for (int j = 0; j < c->m; j++) store->slot[j] = -1;
}

/* Empties slot s. */
static void forget(sg_columns *store, int s)
{
    if (store->holds[s] >= 0) store->slot[store->holds[s]] = -1;
    store->holds[s] = -1;
}

/* Keeps column j[m] in the last free slot behind column d; if there is none, in that of the column
 * least likely to be used, unless j is less likely still. */
static void keep(sg_columns *store, sg_candidates *c, int d, int j, const double *column)
{
    int at = -1;
    for (int s = store->slots - 1; s > d; s--) {
        if (store->holds[s] < 0) {
            at = s;
            break;
        }
        if (at < 0 || c->gain[store->holds[s]] < c->gain[store->holds[at]]) at = s;
    }
    if (at < 0) return;
    if (store->holds[at] >= 0 && !(c->gain[store->holds[at]] < c->gain[j])) return;
    forget(store, at);
    sg_copy(c->m, column, sg_candidates_spare(c, at));
    store->holds[at] = j;
    store->slot[j] = at;
}

/* Lists candidate `best` and those of largest gain whose columns do not wait already, at most
 * `want` in all, in order; returns how many. Gains change little from one inclusion to the next. */
static int likeliest(const sg_columns *store, const sg_candidates *c, int best, int want,
                     int *which)
{
    int count = 1;
    which[0] = best;
    for (int j = 0; j < c->m && want > 1; j++) {
        if (count == want && !(c->gain[j] > c->gain[which[count - 1]])) continue;
        if (c->gain[j] == -HUGE_VAL || j == best || store->slot[j] >= 0) continue;
        int at = count < want ? count++ : count - 1;
        for (; at > 1 && c->gain[j] > c->gain[which[at - 1]]; at--) which[at] = which[at - 1];
        which[at] = j;
    }
    return count;
}

/* Computes the columns of the likeliest candidates together, and keeps all but the first. */
static const double *compute(sg_columns *store, sg_candidates *c, int d, int j, const sg_ws *ws)
{
    int which[SG_AHEAD];
    const int room = store->slots - d, want = room < SG_AHEAD ? room : SG_AHEAD;
    const int count = likeliest(store, c, j, want, which);
    sg_kernel_columns(store->kernel, &c->points, count, which, store->K, ws);
    for (int k = 1; k < count; k++) keep(store, c, d, which[k], store->K + (size_t) c->m * k);
    return store->K;
}

/* Moves the column in the way of the next stub first; then returns the one that waits, or computes
 * it. */
const double *sg_columns_get(sg_columns *store, sg_candidates *c, int d, int j, const sg_ws *ws)
{
    const int front = store->holds[d];
    if (front >= 0 && front != j) { /* the stub needs the place */
        forget(store, d);
        keep(store, c, d, front, sg_candidates_spare(c, d));
    }
    const int waits = store->slot[j];
    if (waits < 0) return compute(store, c, d, j, ws);
    forget(store, waits);
    return sg_candidates_spare(c, waits);
}
