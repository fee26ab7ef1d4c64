/* ep_batch.c: the posterior of EP on frozen bases, from the sums S and t of the sites.
 *
 * Rows go through as V F for an upper triangular F, in which
 *   mean = V m = (V A^{-1}) A m,   var = |V A^{-1}|^2 by rows,   V'TV = F^{-T} (VF)'T(VF) F^{-1},
 * so any F will do: I where V is held, or shared by several processes, else A^{-1}, which spares a
 * product (basis_rows.h). */
#include <math.h>
#include <Rmath.h>
#include "block.h"
#include "chol.h"
#include "ep_batch.h"
#include "par.h"
#include "state.h"
#include "tolerances.h"

/* The memory in which a thread slot (par.h) works on a span of rows of the widest basis. */
typedef struct {
    double *rows;             /* m w x d */
    int *which;               /* m w: rows of one sign */
    double *root;             /* m w: of their precisions */
    double *U;                 /* m blocks of w x w: eigenvectors of the sites; for w > 1 only, */
    double *turned, *tau, *nu; /* m w x d, m w, m w: and sites in their coordinates */
} scratch;

/* The model that the loop hands back */
typedef struct {
    const sg_bases *bases;
    sg_batch_factor *factor; /* C */
    sg_layout layout;
    double rows_in_all;
    scratch *scratch;              /* slots */
    sg_par_memo moments, passages, absorbs; /* of loops */
    const sg_ws *ws;
} batch_model;

sg_batch_factor *sg_batch_factors_new(const sg_bases *bases, const sg_ws *ws)
{
    sg_batch_factor *factor = sg_structs(bases->C, sizeof(sg_batch_factor), ws);
    for (int c = 0; c < bases->C; c++) {
        const size_t d = sg_basis_of(bases, c)->d;
        factor[c].Ainv = sg_doubles(ws, d * d);
        factor[c].m = sg_doubles(ws, d);
        factor[c].Am = sg_doubles(ws, d);
    }
    return factor;
}

/* Counts the numbers of S and t of the processes before c. */
static size_t sums_before(const sg_bases *bases, int c)
{
    size_t sum = 0;
    for (int k = 0; k < c; k++) {
        const size_t d = sg_basis_of(bases, k)->d;
        sum += d * d + d;
    }
    return sum;
}

size_t sg_batch_sums(const sg_bases *bases)
{
    return sums_before(bases, bases->C);
}

double *sg_batch_sums_of(const sg_bases *bases, int c, double *sums)
{
    return sums + sums_before(bases, c);
}

/* ---- Sums ---- */

/* Adds V' diag(tau) V over the rows whose tau has this sign to S, lower triangle: a symmetric
 * product of rows scaled by |tau|^1/2, half the work of a general one. V: m x d; S: d x d, the
 * lower triangle alone. O(m d^2). */
static void add_precisions(int m, int d, const double *V, const double *tau, int sign,
                           const scratch *at, double *S)
{
    int count = 0;
    for (int i = 0; i < m; i++) {
        if (sign * tau[i] > 0) at->root[count] = sqrt(sign * tau[i]), at->which[count++] = i;
    }
    for (int j = 0; j < d && count > 0; j++) {
        const double *v = V + (size_t) m * j;
        double *x = at->rows + (size_t) count * j;
        for (int k = 0; k < count; k++) x[k] = at->root[k] * v[at->which[k]];
    }
    sg_syrk('T', d, count, sign, at->rows, count, S, d);
}

/* Computes out_i = U_i' x_i for the w numbers of each of m rows. */
static void turn_column(int w, int m, const double *U, const double *x, double *out)
{
    for (int i = 0; i < m; i++, x += w, U += w * w) {
        for (int a = 0; a < w; a++) {
            double sum = 0;
            for (int k = 0; k < w; k++) sum += U[k + w * a] * x[k];
            *out++ = sum;
        }
    }
}

/* Turns block sites into w scalar ones in the coordinates of their eigenvectors: with T = U
 * diag(tau) U' the rows U'V_i have precisions tau and shifts U'nu. */
static void turn_sites(int w, int m, int d, const double *V, const double *T, const double *nu,
                       const scratch *out)
{
    const int ww = w * w;
    for (int i = 0; i < m; i++) {
        double *U = out->U + (size_t) ww * i;
        sg_block_eigen(w, T + (size_t) ww * i, U, out->tau + (size_t) w * i);
    }
    turn_column(w, m, out->U, nu, out->nu);
    for (int j = 0; j < d; j++) {
        const size_t at = (size_t) w * m * j;
        turn_column(w, m, out->U, V + at, out->turned + at);
    }
}

/* S += (VF)'T(VF) (lower triangle), t += (VF)'nu over a span */
static void absorb(void *self, int c, sg_span span, const double *tau, const double *nu,
                   double *sums, int slot)
{
    const batch_model *batch = self;
    const sg_basis_rows *b = sg_basis_of(batch->bases, c);
    const int d = b->d, w = batch->layout.w, m = span.m * w;
    const scratch *at = batch->scratch + slot;
    const double *V = sg_basis_seen(b, span);
    double *S = sg_batch_sums_of(batch->bases, c, sums);
    if (w > 1) {
        turn_sites(w, span.m, d, V, tau, nu, at);
        V = at->turned, tau = at->tau, nu = at->nu;
    }
    sg_gemv('T', m, d, 1, V, m, nu, 1, S + (size_t) d * d);
    add_precisions(m, d, V, tau, 1, at, S);
    add_precisions(m, d, V, tau, -1, at, S);
}

/* S := F^{-T} S F^{-1}, symmetric, of which the lower triangle is given; t := F^{-T} t O(d^3). */
static void turn_back(int d, const double *F, double *S)
{
    sg_mirror('L', d, S, d);
    sg_trsm('T', d, d, F, d, S, d);
    sg_mirror('T', d, S, d);
    sg_trsm('T', d, d, F, d, S, d);
    sg_trsv('T', d, F, d, S + (size_t) d * d);
}

/* Turns sums over rows V A^{-1} back into those over V. */
static void finish(void *self, double *sums)
{
    const batch_model *batch = self;
    for (int c = 0; c < batch->bases->C; c++) {
        const sg_basis_rows *b = sg_basis_of(batch->bases, c);
        if (b->Ainv) turn_back(b->d, b->Ainv, sg_batch_sums_of(batch->bases, c, sums));
    }
}

/* ---- Posterior ---- */

/* Factors I + S and computes m = M t and A m = A^{-T} t. O(d^3): S and t stand one after the
 * other, d d + d numbers. */
static sg_status factorise(int d, const double *S, sg_batch_factor *f, double *log_det)
{
    const double *t = S + (size_t) d * d;
    sg_copy(d, t, f->Am);
    const sg_status status = sg_state_factor(d, S, d, t, f->Ainv, f->m, log_det);
    if (status == SG_OK) sg_trmv('T', d, f->Ainv, f->Am);
    return status;
}

/* Are rows to be seen as the posterior of S sees them? V of one sweep's sums and of the next one's
 * marginals are then rounded apart, by dv, say. With sharp sites that costs digits of the log
 * evidence, which may be off by sum tau |v| dv nats: found to be 40 to 3000 times less. It is safe
 * by itself, or beside a log evidence of some nats for each row that S is a sum over. A trace that
 * is no number is not safe. */
static int spares_product(const batch_model *batch, const sg_basis_rows *b, const double *S)
{
    const double safe = fmax2(SG_EVIDENCE_ERROR, SG_EVIDENCE_ERROR_A_ROW * batch->rows_in_all);
    double trace = 0;
    for (int j = 0; j < b->d; j++) trace += fabs(S[j * (b->d + (size_t) 1)]);
    return !b->V && batch->bases->count == batch->bases->C && trace * b->rounding < safe;
}

/* Factors all processes, and chooses for each basis how its rows are seen. */
static sg_status begin(void *self, const sg_sites *sites, const double *sums, double *log_det)
{
    const batch_model *batch = self;
    const sg_bases *bases = batch->bases;
    (void) sites;
    *log_det = 0;
    for (int g = 0; g < bases->count; g++) sg_basis_set_posterior(bases->each + g, NULL);
    for (int c = 0; c < bases->C; c++) {
        sg_basis_rows *b = sg_basis_of(bases, c);
        const double *S = sums + sums_before(bases, c);
        const sg_status status = factorise(b->d, S, batch->factor + c, log_det);
        if (status != SG_OK) return status;
        if (spares_product(batch, b, S)) sg_basis_set_posterior(b, batch->factor[c].Ainv);
    }
    return SG_OK;
}

/* Computes the kernel of a window with all bases, unless it is held: O(m w p d), and O(m w d^2) to
 * whiten it. */
static void look(void *self, sg_span window)
{
    const batch_model *batch = self;
    for (int g = 0; g < batch->bases->count; g++) {
        sg_basis_look_posterior(batch->bases->each + g, window, batch->ws);
    }
}

/* Returns V A^{-1} of a span for process c; work[m w x d] may be used. */
static const double *posterior_rows(const batch_model *batch, int c, sg_span span, double *work)
{
    const sg_basis_rows *b = sg_basis_of(batch->bases, c);
    const int m = span.m * b->w;
    const size_t size = (size_t) m * b->d;
    const double *rows = sg_basis_seen(b, span);
    if (b->Ainv) return rows;
    sg_copy(size, rows, work);
    sg_trmm('R', 'N', m, b->d, batch->factor[c].Ainv, work);
    return work;
}

/* Computes mean = V m = (V A^{-1}) A m and var = V (A'A)^{-1} V' in blocks. O(m w d^2) unless rows
 * are seen through the posterior, then O(m w^2 d). */
static void carried_moments(const batch_model *batch, int c, sg_span span, double *work,
                            const sg_marginals *marg)
{
    const size_t w = batch->layout.w, at = span.from + (size_t) batch->layout.n * c;
    const int m = span.m * batch->layout.w, d = sg_basis_of(batch->bases, c)->d;
    const double *X = posterior_rows(batch, c, span, work);
    double *var = marg->var + w * w * at;
    sg_block_squares(batch->layout.w, span.m, d, X, var);
    sg_gemv('N', m, d, 1, X, m, batch->factor[c].Am, 0, marg->mean + w * at);
}

typedef struct {
    const batch_model *batch;
    sg_span rows;
    const sg_marginals *marg;
} moments_job;

/* Goes span by span, process by process: the k-th is process k mod C of a span. */
static sg_status moments_of_some(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    (void) ws;
    const moments_job *job = ctx;
    const int C = job->batch->layout.C;
    for (int k = from; k < to; k++) {
        const int before = k / C * SG_SPAN;
        const sg_span span = {job->rows.from + before, imin2(job->rows.m - before, SG_SPAN)};
        carried_moments(job->batch, k % C, span, job->batch->scratch[slot].rows, job->marg);
    }
    return SG_OK;
}

/* Writes mean and var of the window's rows for all processes, and the proportions g and alpha. */
static void marginals(void *self, const sg_sites *sites, sg_span window, sg_marginals *marg)
{
    batch_model *batch = self;
    const int spans = sg_par_chunks(window.m, SG_SPAN);
    moments_job job = {.batch = batch, .rows = window, .marg = marg};
    sg_par_products(spans * batch->layout.C, 1, moments_of_some, &job, &batch->moments,
                    batch->ws);
    sg_shares(sites, marg, window);
}

/* ---- Coordinates of the coupled step: each process has as many as its basis has points ---- */

static int processes_of(const sg_bases *bases, int g)
{
    return sg_last_process(bases, g) - sg_first_process(bases, g);
}

/* Counts the coordinates of the bases before g. */
static size_t coordinates(const sg_bases *bases, int g)
{
    size_t sum = 0;
    for (int k = 0; k < g; k++) sum += (size_t) bases->each[k].d * processes_of(bases, k);
    return sum;
}

typedef struct {
    const batch_model *batch;
    sg_span window;
    const double *a;
    sg_between between;
    void *ctx;
    int grain;     /* rows of a part */
    double *parts; /* coordinates for each part of the window; NULL: not wanted */
} through_job;

/* Computes x = V a of a span, lets `between` replace it, and adds V'x to `part` unless that is
 * NULL. O(m d) for each process. */
static void through_span(const through_job *job, sg_span span, double *x, double *part)
{
    const sg_bases *bases = job->batch->bases;
    const int m = span.m;
    for (int g = 0; job->a && g < bases->count; g++) {
        const sg_basis_rows *b = bases->each + g;
        double *own = x + (size_t) m * sg_first_process(bases, g);
        sg_gemm('N', 'N', m, processes_of(bases, g), b->d, 1, sg_basis_seen(b, span), m,
                job->a + coordinates(bases, g), b->d, 0, own, m);
    }
    job->between(job->ctx, span.from, m, x);
    for (int g = 0; part && g < bases->count; g++) {
        const sg_basis_rows *b = bases->each + g;
        const double *own = x + (size_t) m * sg_first_process(bases, g);
        sg_gemm('T', 'N', b->d, processes_of(bases, g), m, 1, sg_basis_seen(b, span), m, own, m,
                1, part + coordinates(bases, g), b->d);
    }
}

/* Goes through a part of the window, span by span, into sums of its own. */
static sg_status through_part(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    const through_job *job = ctx;
    const sg_bases *bases = job->batch->bases;
    const size_t size = coordinates(bases, bases->count);
    double *x = sg_doubles(ws, (size_t) SG_SPAN * bases->C);
    double *part = job->parts ? job->parts + size * (from / job->grain) : NULL;
    sg_span span = {0, 0};
    (void) slot;
    if (part) sg_zero(size, part);
    while (sg_next_span(to - from, SG_SPAN, &span)) {
        through_span(job, (sg_span) {job->window.from + from + span.from, span.m}, x, part);
    }
    return SG_OK;
}

/* Takes coordinates a to the rows' values x = V a, lets `between` replace these, and sums V'x into
 * out, window by window; parts are added up in their order, whatever the number of threads. */
static void through(void *self, const double *a, sg_between between, void *ctx, double *out)
{
    enum { PARTS = 16 };
    batch_model *batch = self;
    const sg_bases *bases = batch->bases;
    const size_t size = coordinates(bases, bases->count);
    const int rows = sg_window_of(bases);
    void *mark = sg_mark(batch->ws);
    through_job job = {batch, {0, 0}, a, between, ctx, sg_par_grain(rows, SG_SPAN, PARTS),
                       out ? sg_doubles(batch->ws, size * PARTS) : NULL};
    if (out) sg_zero(size, out);
    while (sg_next_span(batch->layout.n, rows, &job.window)) {
        const size_t parts = size * sg_par_chunks(job.window.m, job.grain);
        for (int g = 0; g < bases->count; g++) {
            sg_basis_look(bases->each + g, job.window, batch->ws);
        }
        sg_par_products(job.window.m, job.grain, through_part, &job, &batch->passages, batch->ws);
        for (size_t k = 0; out && k < parts; k++) out[k % size] += job.parts[k];
    }
    sg_release(batch->ws, mark);
}

/* Applies (I + S)^{-1} = A^{-1} A^{-T} to each process's coordinates. */
static void smooth(void *self, double *a)
{
    const batch_model *batch = self;
    for (int c = 0; c < batch->bases->C; c++) {
        const int d = sg_basis_of(batch->bases, c)->d;
        sg_trmv('T', d, batch->factor[c].Ainv, a);
        sg_trmv('N', d, batch->factor[c].Ainv, a);
        a += d;
    }
}

/* Adds V_c' diag(W_ce) V_e of a span to the block of M of processes c and e. rows: room for a
 * span. O(m d^2). */
static void weigh_block(const batch_model *batch, sg_span span, const double *W, int c, int e,
                        double *rows, double *M)
{
    const sg_bases *bases = batch->bases;
    const sg_basis_rows *one = sg_basis_of(bases, c), *other = sg_basis_of(bases, e);
    const int m = span.m, own = bases->count > 1;
    const size_t size = coordinates(bases, bases->count);
    const size_t i = own ? coordinates(bases, c) : (size_t) c * one->d;
    const size_t j = own ? coordinates(bases, e) : (size_t) e * one->d;
    const double *V = sg_basis_seen(other, span);
    for (int r = 0; r < m; r++) {
        const double *of_row = W + sg_coupled_size(bases->C) * (span.from + r);
        const double weight = sg_coupled_weight(bases->C, of_row, c, e);
        for (size_t k = r; k < (size_t) m * other->d; k += m) rows[k] = weight * V[k];
    }
    sg_gemm('T', 'N', one->d, other->d, m, 1, sg_basis_seen(one, span), m, rows, m, 1,
            M + i + size * j, size);
}

/* Adds V'W V over all rows to M, blocks on and below the diagonal of processes. O(n C^2 d^2 /
 * 2). */
static void weigh(void *self, const double *W, double *M)
{
    batch_model *batch = self;
    const sg_bases *bases = batch->bases;
    sg_span window = {0, 0};
    while (sg_next_span(batch->layout.n, sg_window_of(bases), &window)) {
        for (int g = 0; g < bases->count; g++) {
            sg_basis_look(bases->each + g, window, batch->ws);
        }
        sg_span span = {0, 0};
        while (sg_next_span(window.m, SG_SPAN, &span)) {
            const sg_span at = {window.from + span.from, span.m};
            for (int k = 0; k < bases->C * bases->C; k++) {
                const int c = k % bases->C, e = k / bases->C;
                if (c >= e) weigh_block(batch, at, W, c, e, batch->scratch[0].rows, M);
            }
        }
    }
}

/* ---- The model ---- */

static scratch *new_scratch(const sg_bases *bases, sg_layout layout, const sg_ws *ws)
{
    const int slots = sg_par_slots(1, ws);
    scratch *all = sg_structs(slots, sizeof(scratch), ws);
    int widest = 0;
    for (int g = 0; g < bases->count; g++) widest = imax2(widest, bases->each[g].d);
    const size_t rows = (size_t) SG_SPAN * layout.w;
    for (scratch *own = all; own < all + slots; own++) {
        own->rows = sg_doubles(ws, rows * widest), own->root = sg_doubles(ws, rows);
        own->which = sg_ints(rows, ws);
        if (layout.w == 1) continue;
        own->U = sg_doubles(ws, rows * layout.w), own->turned = sg_doubles(ws, rows * widest);
        own->tau = sg_doubles(ws, rows), own->nu = sg_doubles(ws, rows);
    }
    return all;
}

/* Builds the model that ep_loop.c drives: windows of rows where V is not held, and spans for
 * threads. */
sg_ep_model sg_batch_model(const sg_rows *rows, double rows_in_all, const sg_bases *bases,
                           sg_batch_factor *factor, const sg_ws *ws)
{
    const sg_layout layout = sg_layout_of(rows);
    batch_model *batch = sg_structs(1, sizeof(batch_model), ws);
    *batch = (batch_model) {.bases = bases, .factor = factor, .layout = layout,
                            .rows_in_all = rows_in_all, .ws = ws};
    batch->scratch = new_scratch(bases, layout, ws);
    const sg_ep_model model = {
        .self = batch, .window = imin2(layout.n, SG_WINDOW),
        .at_hand = sg_window_of(bases) == layout.n, .span = SG_SPAN,
        .parts = sg_basis_parts(bases, bases->C), .memo = &batch->absorbs,
        .sums = sg_batch_sums(bases), .begin = begin,
        .look = look, .marginals = marginals, .absorb = absorb, .finish = finish,
        .carrier = {(int) coordinates(bases, bases->count), through, smooth, weigh}
    };
    return model;
}
