#include <math.h>
#include <Rmath.h>
#include <R_ext/Utils.h>
#include "ivm.h"
#include "la.h"

sg_active sg_active_new(int size, const sg_ws *ws)
{
    sg_active active = {0, (int *) ws->doubles(size / 2 + 1), ws->doubles(size),
                        ws->doubles(size), ws->doubles((size_t) size * size), ws->doubles(size),
                        ws->doubles(size), ws->doubles(size), SG_IVM_SIZE};
    return active;
}

/* The candidates, row numbers increasing; every array has an entry for each of the m. */
typedef struct {
    int m;
    int *row, *taken;   /* row number; in the active set already? */
    double *mean, *var; /* posterior marginals (paper: h, a) */
    double *logz, *d1, *tau, *nu, *gain;
    const double *x;    /* m x p */
    double *M;          /* m x d stubs: row i is U^{-T} Pi^1/2 K_I,i */
} candidates;

static candidates all_rows(const sg_kernel *kernel, int n, const double *x, double pool, int size,
                           const sg_ws *ws)
{
    const size_t room = (size_t) fmin2((double) n * size, pool);
    int *numbers = (int *) ws->doubles((size_t) n + 1);
    candidates c = {n, numbers, numbers + n, ws->doubles(n), ws->doubles(n), ws->doubles(n),
                    ws->doubles(n), ws->doubles(n), ws->doubles(n), ws->doubles(n), x,
                    ws->doubles(room)};
    sg_kernel_diag(kernel, n, x, c.var, ws);
    for (int i = 0; i < n; i++) c.row[i] = i, c.taken[i] = 0, c.mean[i] = 0;
    return c;
}

/* What an inclusion gains by the criterion; s2 and the tilt's derivatives are the row's. */
static double gain_of(sg_select select, double s2, double d1, double d2)
{
    const double logs = log1p(s2 * d2);
    return select == SG_SELECT_ENTROPY ? -logs / 2 : ((d1 * d1 + d2) * s2 - logs) / 2;
}

/* Sites and gains of all candidates as they stand. A row whose site would say nothing, or that has
 * none, gains -infinity: it cannot be included. */
static void score(const sg_rows *rows, const sg_ivm_options *options, candidates *c,
                  const sg_ws *ws)
{
    const double NOTHING = 1e-14;
    const int q = rows->lik->type->q;
    for (int j = 0; j < c->m; j++) {
        const int i = c->row[j];
        const double mu = c->mean[j] + rows->offset[i], s2 = c->var[j];
        double d2;
        c->gain[j] = -HUGE_VAL;
        if (j % SG_BETWEEN_TICKS == 0) ws->tick();
        if (c->taken[j]) continue;
        sg_lik_tilt(rows->lik, rows->y + (size_t) q * i, &mu, &s2, c->logz + j,
                    c->d1 + j, &d2);
        if (!sg_site_from_tilt(c->mean[j], s2, c->d1[j], d2, c->tau + j, c->nu + j)) continue;
        if (!(c->tau[j] * s2 > NOTHING)) continue;
        c->gain[j] = options->select == SG_SELECT_LUCK ? -options->luck[i]
                                                       : gain_of(options->select, s2, c->d1[j], d2);
    }
}

/* log Z of what is included, each given those before it, and of the rest given all of them: an
 * approximation of the log evidence (minus paper eq. 11) of the rows still at hand. */
static double evidence(const candidates *c, double included)
{
    for (int j = 0; j < c->m; j++) {
        if (!c->taken[j]) included += c->logz[j];
    }
    return included;
}

static int best_of(const candidates *c)
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
static int likeliest(const candidates *c, int best, int *which, double *sorted)
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
static const double *column_of(const sg_kernel *kernel, int p, const candidates *c, int j,
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

/* Candidate j joins (paper C.1): a row of U', a column of M, new marginals for all. O(m d). */
static void include(const double *kernel_column, int j, candidates *c, sg_active *active, int size)
{
    const int d = active->d, m = c->m, i = c->row[j];
    const double root = sqrt(c->tau[j]), pivot = sqrt(1 + c->tau[j] * c->var[j]);
    double *l = active->U + (size_t) size * d, *column = c->M + (size_t) m * d;
    for (int k = 0; k < d; k++) l[k] = root * c->M[j + (size_t) m * k];
    l[d] = pivot;
    for (int k = 0; k < m; k++) column[k] = root / pivot * kernel_column[k];
    if (d > 0) sg_gemv('N', m, d, -1 / pivot, c->M, l, 1, column);
    const double beta = c->d1[j] * pivot / root;
    for (int k = 0; k < m; k++) {
        c->mean[k] += beta * column[k];
        c->var[k] = fmax2(c->var[k] - column[k] * column[k], 0);
    }
    active->row[d] = i;
    active->tau[d] = c->tau[j];
    active->nu[d] = c->nu[j];
    active->beta[d] = beta;
    active->gain[d] = c->gain[j];
    active->d++;
    c->taken[j] = 1;
}

/* ---- Randomised greedy selection: fewer candidates as their stubs grow (paper 3.2) ---- */

/* Most candidates whose stubs fit into the pool until the next shrinking. */
static double most_candidates(const sg_ivm_options *options, int d)
{
    const int end = d + options->block < options->size ? d + options->block : options->size;
    return floor(options->pool / end);
}

/* Marks the first `count` of the free candidates by increasing key. */
static void mark_smallest(const candidates *c, const double *key, int count, int *kept,
                          const sg_ws *ws)
{
    void *mark = ws->mark();
    double *keys = ws->doubles(c->m);
    int *which = (int *) ws->doubles((size_t) c->m / 2 + 1), free = 0;
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
static void shrink(const sg_ivm_options *options, int left, int d, int p, candidates *c, double *X,
                   const sg_ws *ws)
{
    void *mark = ws->mark();
    double *key = ws->doubles(c->m);
    int *kept = (int *) ws->doubles((size_t) c->m / 2 + 1), count = 0;
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

static int shrink_if_due(const sg_ivm_options *options, int d, int p, candidates *c, double **X,
                         const sg_ws *ws)
{
    const double most = most_candidates(options, d);
    if (d % options->block != 0 || c->m <= most) return 0;
    if (!*X) *X = ws->doubles((size_t) most * p);
    shrink(options, (int) most, d, p, c, *X, ws);
    return 1;
}

sg_status sg_ivm_run(const sg_kernel *kernel, const sg_rows *rows, int p, const double *x,
                     const sg_ivm_options *options, sg_active *active, const sg_ws *ws)
{
    const int n = rows->n;
    double *X = NULL;
    columns store = {0, {0}, ws->doubles((size_t) n * AHEAD), ws->doubles((size_t) p * AHEAD),
                     ws->doubles(n)};
    candidates c = all_rows(kernel, n, x, options->pool, options->size, ws);
    double included = 0;
    for (active->stop = SG_IVM_SIZE;;) {
        score(rows, options, &c, ws);
        if (active->d > 0) active->logz[active->d - 1] = evidence(&c, included);
        if (active->d == options->size) break;
        if (shrink_if_due(options, active->d, p, &c, &X, ws)) store.count = 0;
        const int best = best_of(&c);
        if (best < 0) active->stop = SG_IVM_NO_ROW;
        else if (options->select != SG_SELECT_LUCK && c.gain[best] < options->min_gain) {
            active->stop = SG_IVM_GAIN;
        } else {
            included += c.logz[best];
            include(column_of(kernel, p, &c, best, &store, ws), best, &c, active, options->size);
            if (!isfinite(active->beta[active->d - 1])) return SG_NOT_FINITE;
        }
        if (active->stop != SG_IVM_SIZE) break;
    }
    return SG_OK;
}

sg_status sg_active_stored(const sg_active *active, int size, double *alpha, double *G)
{
    const int d = active->d;
    for (int j = 0; j < d; j++) {
        for (int i = 0; i < d; i++) {
            G[i + (size_t) d * j] = i <= j ? active->U[i + (size_t) size * j] : 0;
        }
    }
    const sg_status status = d > 0 ? sg_trtri(d, G) : SG_OK;
    for (int j = 0; j < d; j++) {
        for (int i = 0; i <= j; i++) G[i + (size_t) d * j] *= sqrt(active->tau[i]);
    }
    if (d > 0) sg_gemv('N', d, d, 1, G, active->beta, 0, alpha);
    return status;
}
