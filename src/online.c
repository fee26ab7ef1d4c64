/* online.c: one pass over rows in fixed memory (online.h). A row is judged and applied by
 * exchange.h, or on a basis that stays by row_block.h; here are the blocks in which rows are seen,
 * and the record of what became of them. Sites of rows that leave the basis unchanged wait, and
 * enter S and t together. */
#include <math.h>
#include <stdint.h>
#include <Rmath.h>
#include "online.h"
#include "row_block.h"
#include "tolerances.h"

enum {
    BLOCK = 64, /* most rows seen at once in the given order */
    STILL = 128, /* and where the basis stays */
    POOL = 1000 /* and when the most informative of them goes first */
};

/* Rows of the block. */
typedef struct {
    sg_process *gp;
    int cap;               /* room */
    double before;         /* rows of the stream before row 0 */
    sg_view view;
    int *row, *done;       /* m: row numbers; taken already? */
    sg_row_tilt tilt;      /* of the present row */
    sg_row_block part;     /* of the block, which moves the posterior at once */
    int npending;          /* rows projected whose sites are not yet in S and t: */
    double *V, *tau, *nu;  /* d x npending w, or the view's; C x cap blocks; C x cap w */
    double *work;
} block;

/* Rows of a part: points enough, and of more points a row one at least. */
static int part_rows(const sg_process *gp)
{
    return imax2(SG_ROW_BLOCK / gp->w, 1);
}

/* Allocates `cap` rows seen at once, and for as many sites that wait. On a basis that stays
 * the rows wait in the view. */
static block new_block(int cap, int stays, double before, sg_process *gp, const sg_ws *ws)
{
    const size_t points = (size_t) gp->w * cap, values = points * gp->C;
    block b = {.gp = gp, .cap = cap, .before = before,
                     .view = sg_view_new(cap, gp->w, gp, ws),
                     .row = sg_ints(cap, ws), .done = sg_ints(cap, ws),
                     .tilt = sg_row_tilt_new(gp, ws),
                     .part = sg_row_block_new(gp, part_rows(gp), ws),
                     .tau = sg_doubles(ws, values * gp->w), .nu = sg_doubles(ws, values),
                     .work = sg_doubles(ws, sg_absorb_scratch(gp, cap))};
    b.V = stays ? b.view.V : sg_doubles(ws, points * gp->basis.cap);
    return b;
}

/* Fills the block with the next rows: those waiting, then rows *next, *next + 1, ... of x[n w x
 * p]. */
static void fill(block *b, int waiting, int m, int n, int p, const double *x, int *next)
{
    const size_t w = b->view.w;
    for (int i = waiting; i < m; i++) b->row[i] = (*next)++;
    b->view.m = m;
    b->npending = 0;
    for (int i = 0; i < m; i++) {
        b->done[i] = 0;
        sg_copy_columns(w, p, x + w * b->row[i], w * n, b->view.x + w * i, w * m);
    }
}

/* Fills the block with rows `next`, next + 1, ..., all of which are to be taken. */
static void fill_in_order(block *b, int m, int n, int p, const double *x, int next)
{
    const size_t w = b->view.w;
    b->view.m = m;
    b->npending = 0;
    for (int i = 0; i < m; i++) b->row[i] = next + i;
    sg_copy_columns(w * m, p, x + w * next, w * n, b->view.x, w * m);
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

/* Lets the present row's sites wait; returns for which of the rows that wait. */
static size_t keep_sites(block *b)
{
    const sg_process *gp = b->gp;
    const size_t w = gp->w, ww = w * w, at = b->npending++;
    for (size_t c = 0; c < (size_t) gp->C; c++) {
        sg_copy(ww, b->tilt.tau + ww * c, b->tau + ww * (at + b->cap * c));
        sg_copy(w, b->tilt.nu + w * c, b->nu + w * (at + b->cap * c));
    }
    return at;
}

/* Lets a row that was projected, as the basis sees it, wait with its sites; those of a row that
 * joined are in S and t. */
static void keep_pending(void *self, int i, const sg_seen *seen, int joined)
{
    block *b = self;
    (void) i;
    if (joined) return;
    const size_t size = (size_t) b->gp->w * b->gp->basis.d;
    sg_copy(size, seen->V, b->V + size * keep_sites(b));
}

/* Adds the sites of the rows projected so far to S and t, as one matrix product. */
static void absorb(void *self)
{
    block *b = self;
    sg_process *gp = b->gp;
    for (int c = 0; c < gp->C; c++) {
        const size_t at = (size_t) b->cap * gp->w * c;
        sg_process_absorb(gp, c, b->npending, b->V, gp->basis.d, b->tau + gp->w * at, b->nu + at,
                          1, b->work);
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
        sg_copy(SG_TRACE_COLUMNS, from, to);
        kept++;
    }
    record->count[SG_REC_STRIDE] = stride;
    record->count[SG_REC_TRACED] = kept;
}

/* Is a count of rows a multiple of the stride, a power of 2? The quotient is exact. */
static int is_at_stride(const double *count)
{
    const double quotient = count[SG_REC_ROWS] / count[SG_REC_STRIDE];
    return quotient == (double) (int64_t) quotient;
}

/* Counts the row's outcome, and adds an entry to the trace at every stride. */
static void note(sg_online_record *record, const sg_process *gp, const sg_row_tilt *tilt,
                 sg_row_outcome outcome)
{
    double *count = record->count;
    count[outcome]++;
    count[SG_REC_ROWS]++;
    if (outcome != SG_ROW_SKIPPED) count[SG_REC_LOGZ] += tilt->logz;
    if (!is_at_stride(count)) return;
    if (count[SG_REC_TRACED] == SG_TRACE_ROWS) {
        thin_trace(record);
        if (!is_at_stride(count)) return;
    }
    double *entry = record->trace + SG_TRACE_COLUMNS * (size_t) count[SG_REC_TRACED]++;
    entry[0] = count[SG_REC_ROWS];
    entry[1] = gp->basis.d;
    entry[2] = count[SG_REC_LOGZ];
    entry[3] = entry[4] = 0;
    entry[5] = count[SG_REC_ROWS] - count[SG_ROW_SKIPPED];
    if (outcome != SG_ROW_SKIPPED) sg_row_kl(gp, tilt, entry + 3);
}

/* ---- Informative order ---- */

/* Computes the marginals and KL gains of all rows left, from scratch; returns the row of largest
 * gain. Tilts that are not finite come last. O(m w d^2). */
static int most_informative(sg_process *gp, const sg_rows *rows, block *b)
{
    int best = -1;
    double largest = -HUGE_VAL;
    for (int i = 0; i < b->view.m; i++) {
        if (b->done[i]) continue;
        const sg_seen seen = sg_view_row(&b->view, gp->basis.d, i);
        double kl[2] = {-HUGE_VAL, 0};
        if (sg_row_marginals(gp, rows, b->row[i], 0, &seen, &b->tilt)) sg_row_kl(gp, &b->tilt, kl);
        if (best < 0 || kl[0] > largest) best = i, largest = kl[0];
    }
    return best;
}

/* ---- The pass ---- */

/* Takes rows of the block until the basis changes or no row is left; returns how many. A change
 * makes stale what the block knows of its rows. */
static int take_block(sg_process *gp, const sg_rows *rows, const sg_online_options *options,
                      block *b, sg_online_record *record, const sg_ws *ws)
{
    const sg_row_memory memory = {.self = b, .complete = absorb, .keep = keep_pending};
    int taken = 0, changed = 0;
    while (!changed && taken < b->view.m) {
        const int i = options->informative ? most_informative(gp, rows, b) : taken, row = b->row[i];
        const sg_seen seen = sg_view_row(&b->view, gp->basis.d, i);
        if (options->informative) sg_tick(ws);
        const sg_row_outcome outcome = sg_row_take(gp, rows, &options->rules, row,
                                             gp->w * (b->before + row) + 1, &seen, &memory,
                                             &b->tilt);
        note(record, gp, &b->tilt, outcome);
        changed = sg_changes_basis(outcome);
        record->count[SG_REC_STALE] += (changed ? 10 : 1) * gp->w;
        b->done[i] = 1;
        taken++;
    }
    absorb(b);
    return taken;
}

/* Takes all rows of the block on a basis that stays, part by part. */
static void project_block(sg_process *gp, const sg_rows *rows, const sg_online_options *options,
                          block *b, sg_online_record *record)
{
    const sg_row_rules *rules = &options->rules;
    const int w = gp->w, d = gp->basis.d, m = b->view.m, most = part_rows(gp);
    for (int from = 0; from < m; from += most) {
        const int end = imin2(from + most, m);
        sg_row_block_begin(&b->part, gp, (end - from) * w, b->view.V + (size_t) d * w * from);
        for (int i = from; i < end; i++) {
            const sg_seen seen = sg_view_row(&b->view, d, i);
            const int valid = sg_row_block_take(&b->part, gp, rows, rules->nonnegative,
                                                rules->projection, b->row[i], (i - from) * w,
                                                seen.gamma, &b->tilt);
            note(record, gp, &b->tilt, valid ? SG_ROW_PROJECTED : SG_ROW_SKIPPED);
            keep_sites(b);
        }
        sg_row_block_end(&b->part, gp);
        record->count[SG_REC_STALE] += w; /* one step of M */
    }
    absorb(b);
}

/* Rebuilds the posterior when it is time. */
static sg_status keep_digits(sg_process *gp, sg_online_record *record, const sg_ws *ws)
{
    if (!sg_is_stale(record->count[SG_REC_STALE], gp->basis.d)) return SG_OK;
    record->count[SG_REC_STALE] = 0;
    return sg_process_refresh(gp, ws);
}

/* Takes all rows on a basis that stays. */
static sg_status run_projected(const sg_kernel *kernel, const double *x, const sg_rows *rows,
                               const sg_online_options *options, sg_process *gp,
                               sg_online_record *record, const sg_ws *ws)
{
    const int n = rows->n;
    block b = new_block(imin2(STILL, n), 1, record->count[SG_REC_ROWS], gp, ws);
    /* the inverse of R costs as much as d / 3 rows */
    const int many = (double) n * gp->w > gp->basis.d;
    sg_status status = many ? sg_view_freeze(kernel, gp, &b.view, ws) : SG_OK;
    for (int next = 0; next < n && status == SG_OK; next += b.view.m) {
        fill_in_order(&b, imin2(b.cap, n - next), n, gp->p, x, next);
        sg_view_look(kernel, gp, 1, &b.view, ws);
        project_block(gp, rows, options, &b, record);
        status = keep_digits(gp, record, ws);
        sg_tick(ws);
    }
    return status;
}

/* Takes rows one by one, in blocks that are seen at once and that end where the basis changes. */
static sg_status run_by_row(const sg_kernel *kernel, const double *x, const sg_rows *rows,
                            const sg_online_options *options, sg_process *gp,
                            sg_online_record *record, const sg_ws *ws)
{
    const int n = rows->n, cap = options->informative ? POOL : BLOCK;
    block b = new_block(cap < n ? cap : n, 0, record->count[SG_REC_ROWS], gp, ws);
    int next = 0, waiting = 0, size = options->informative ? b.cap : 1;
    while (next < n || waiting > 0) {
        const int left = waiting + n - next;
        fill(&b, waiting, left < size ? left : size, n, gp->p, x, &next);
        sg_view_look(kernel, gp, options->rules.frozen, &b.view, ws);
        const int taken = take_block(gp, rows, options, &b, record, ws);
        if (options->informative) waiting = keep_waiting(&b);
        else next -= b.view.m - taken, size = 2 * taken < b.cap ? 2 * taken : b.cap;
        const sg_status status = keep_digits(gp, record, ws);
        if (status != SG_OK) return status;
        sg_tick(ws);
    }
    return SG_OK;
}

sg_status sg_online_run(const sg_kernel *kernel, const double *x, const sg_rows *rows,
                        const sg_online_options *options, sg_process *gp,
                        sg_online_record *record, const sg_ws *ws)
{
    const int stays = options->rules.frozen && !options->informative && !options->by_row;
    const sg_status status = (stays ? run_projected : run_by_row)(kernel, x, rows, options, gp,
                                                                  record, ws);
    if (status != SG_OK) return status;
    return isfinite(record->count[SG_REC_LOGZ]) ? SG_OK : SG_NOT_FINITE;
}
