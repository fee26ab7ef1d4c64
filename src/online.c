#include <math.h>
#include <Rmath.h>
#include "online.h"

enum {
    BLOCK = 64, /* most rows seen at once in the given order */
    POOL = 1000 /* and when the most informative of them goes first */
};

/* Rows at hand. */
typedef struct {
    int cap;           /* room */
    double before;     /* rows of the stream before row 0 */
    sg_view view;
    int *row, *done;   /* m: row numbers; taken already? */
    sg_row_tilt *tilt; /* C x cap */
    int *pending;      /* rows projected whose sites are not yet in S and t */
    int npending;
    double *V, *tau, *nu, *work; /* room to absorb them: d x m, m, m, d x m */
} block;

static block new_block(int cap, double before, const sg_process *gp, const sg_ws *ws)
{
    const size_t size = (size_t) gp->basis.cap * cap;
    const size_t tilts = (size_t) gp->C * cap * (sizeof(sg_row_tilt) / sizeof(double));
    block b = {.cap = cap, .before = before, .view = sg_view_new(cap, gp, ws),
               .row = sg_ints(cap, ws), .done = sg_ints(cap, ws),
               .tilt = (sg_row_tilt *) sg_doubles(ws, tilts), .pending = sg_ints(cap, ws),
               .V = sg_doubles(ws, size), .tau = sg_doubles(ws, cap), .nu = sg_doubles(ws, cap),
               .work = sg_doubles(ws, size)};
    return b;
}

/* The next rows: those waiting, then rows *next, *next + 1, ... of x[n x p] */
static void fill(block *b, int waiting, int m, int n, int p, const double *x, int *next)
{
    for (int i = waiting; i < m; i++) b->row[i] = (*next)++;
    b->view.m = m;
    b->npending = 0;
    for (int i = 0; i < m; i++) {
        b->done[i] = 0;
        for (int k = 0; k < p; k++) {
            b->view.x[i + (size_t) m * k] = x[b->row[i] + (size_t) n * k];
        }
    }
}

/* Keeps the rows not done, in order; returns how many. */
static int keep_waiting(block *b)
{
    int kept = 0;
    for (int i = 0; i < b->view.m; i++) {
        if (!b->done[i]) b->row[kept++] = b->row[i];
    }
    return kept;
}

/* Sites of the rows projected so far into S and t. */
static void absorb(sg_process *gp, block *b)
{
    const int d = gp->basis.d;
    for (int c = 0; c < gp->C; c++) {
        for (int k = 0; k < b->npending; k++) {
            const int i = b->pending[k];
            const double *v = b->view.V + (size_t) d * i;
            for (int l = 0; l < d; l++) b->V[l + (size_t) d * k] = v[l];
            b->tau[k] = b->tilt[c + (size_t) gp->C * i].step.tau;
            b->nu[k] = b->tilt[c + (size_t) gp->C * i].step.nu;
        }
        sg_weights_absorb(gp->w + c, &gp->basis, b->npending, b->V, d, b->tau, b->nu, 1, b->work);
    }
    b->npending = 0;
}

/* ---- The record ---- */

/* Thins the trace when it is full: its entries are at the multiples of the stride. */
static void thin_trace(sg_online_record *record)
{
    const double stride = 2 * record->count[SG_REC_STRIDE];
    int kept = 0;
    for (int i = 0; i < SG_TRACE_ROWS; i++) {
        const double *from = record->trace + (size_t) SG_TRACE_COLUMNS * i;
        double *to = record->trace + (size_t) SG_TRACE_COLUMNS * kept;
        if (fmod(from[0], stride) != 0) continue;
        for (int k = 0; k < SG_TRACE_COLUMNS; k++) to[k] = from[k];
        kept++;
    }
    record->count[SG_REC_STRIDE] = stride;
    record->count[SG_REC_TRACED] = kept;
}

static void note(sg_online_record *record, const sg_process *gp, double gamma,
                 const sg_row_tilt *tilt, double logz, sg_row_fate fate)
{
    double *count = record->count;
    count[fate]++;
    count[SG_REC_ROWS]++;
    count[SG_REC_STALE] += fate == SG_ROW_ADDED || fate == SG_ROW_EXCHANGED ? 10 : 1;
    if (fate != SG_ROW_SKIPPED) count[SG_REC_LOGZ] += logz;
    if (fmod(count[SG_REC_ROWS], count[SG_REC_STRIDE]) != 0) return;
    if (count[SG_REC_TRACED] == SG_TRACE_ROWS) {
        thin_trace(record);
        if (fmod(count[SG_REC_ROWS], count[SG_REC_STRIDE]) != 0) return;
    }
    double *entry = record->trace + SG_TRACE_COLUMNS * (size_t) count[SG_REC_TRACED]++;
    entry[0] = count[SG_REC_ROWS];
    entry[1] = gp->basis.d;
    entry[2] = count[SG_REC_LOGZ];
    entry[3] = entry[4] = 0;
    entry[5] = count[SG_REC_ROWS] - count[SG_ROW_SKIPPED];
    if (fate != SG_ROW_SKIPPED) sg_row_kl(gp, gamma, tilt, entry + 3);
}

/* ---- Informative order ---- */

/* Marginals and gains of all rows at hand, from scratch; returns the row of largest KL gain.
 * Tilts that are not finite come last. O(m d^2). */
static int most_informative(sg_process *gp, const sg_rows *rows, block *b)
{
    int best = -1;
    double largest = -HUGE_VAL;
    for (int i = 0; i < b->view.m; i++) {
        if (b->done[i]) continue;
        const sg_seen seen = sg_view_row(&b->view, gp->basis.d, i);
        double kl[2] = {-HUGE_VAL, 0}, logz;
        sg_row_tilt *tilt = b->tilt + (size_t) gp->C * i;
        if (sg_row_marginals(gp, rows, b->row[i], &seen, tilt, &logz)) {
            sg_row_kl(gp, seen.gamma, tilt, kl);
        }
        if (best < 0 || kl[0] > largest) best = i, largest = kl[0];
    }
    return best;
}

/* ---- The pass ---- */

/* One row. Returns 1 when the basis has changed, and what the block knows with it. */
static int take(sg_process *gp, const sg_rows *rows, const sg_online_options *options, block *b,
                int i, sg_online_record *record)
{
    const sg_seen seen = sg_view_row(&b->view, gp->basis.d, i);
    sg_row_tilt *tilt = b->tilt + (size_t) gp->C * i;
    sg_row_fate fate = SG_ROW_SKIPPED;
    int leaver = -1;
    double logz;
    if (sg_row_marginals(gp, rows, b->row[i], &seen, tilt, &logz)) {
        fate = sg_row_judge(gp, &seen, b->view.prior[i], &options->rules, tilt, &leaver);
    }
    b->done[i] = 1;
    if (fate == SG_ROW_PROJECTED || fate == SG_ROW_DECLINED) {
        sg_row_project(gp, &seen, &options->rules, tilt);
        b->pending[b->npending++] = i;
    }
    if (fate == SG_ROW_ADDED || fate == SG_ROW_EXCHANGED) {
        absorb(gp, b);
        sg_row_include(gp, &b->view, i, b->before + b->row[i] + 1, tilt);
        const double novelty = options->rules.novelty;
        for (; fate == SG_ROW_EXCHANGED && leaver >= 0;
             leaver = sg_basis_redundant(&gp->basis, NULL, novelty)) {
            sg_row_remove(gp, leaver);
        }
    }
    note(record, gp, seen.gamma, tilt, logz, fate);
    return fate == SG_ROW_ADDED || fate == SG_ROW_EXCHANGED;
}

/* Takes rows of the block until the basis changes or none is left; returns how many. */
static int take_block(sg_process *gp, const sg_rows *rows, const sg_online_options *options,
                      block *b, sg_online_record *record, const sg_ws *ws)
{
    int taken = 0, changed = 0;
    while (!changed && taken < b->view.m) {
        const int i = options->informative ? most_informative(gp, rows, b) : taken;
        if (options->informative) sg_tick(ws);
        changed = take(gp, rows, options, b, i, record);
        taken++;
    }
    absorb(gp, b);
    return taken;
}

sg_status sg_online_run(const sg_kernel *kernel, int n, const double *x, const sg_rows *rows,
                        const sg_online_options *options, sg_process *gp,
                        sg_online_record *record, const sg_ws *ws)
{
    const int cap = options->informative ? POOL : BLOCK;
    block b = new_block(cap < n ? cap : n, record->count[SG_REC_ROWS], gp, ws);
    int next = 0, waiting = 0, size = options->informative ? b.cap : 1;
    while (next < n || waiting > 0) {
        const int left = waiting + n - next;
        fill(&b, waiting, left < size ? left : size, n, gp->p, x, &next);
        sg_view_look(kernel, gp, options->rules.frozen, &b.view, ws);
        const int taken = take_block(gp, rows, options, &b, record, ws);
        if (options->informative) waiting = keep_waiting(&b);
        else next -= b.view.m - taken, size = 2 * taken < b.cap ? 2 * taken : b.cap;
        if (record->count[SG_REC_STALE] >= 10 * gp->basis.d + 100) {
            const sg_status status = sg_process_refresh(gp, ws);
            if (status != SG_OK) return status;
            record->count[SG_REC_STALE] = 0;
        }
        sg_tick(ws);
    }
    return isfinite(record->count[SG_REC_LOGZ]) ? SG_OK : SG_NOT_FINITE;
}
