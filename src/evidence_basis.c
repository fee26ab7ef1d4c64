/* evidence_basis.c: the gradient of the log evidence on frozen bases, a window of rows at a time
 * (formulas in evidence.h).
 *
 * For one basis V is m w x d in a span of m rows, K_B and R are d x d, T and t blocks of w x w. A
 * window costs O(C m w d^2) in matrix products and an adjoint of K_nB; memory is that of a
 * window. */
#include "evidence.h"
#include "la.h"
#include "par.h"

/* Computes B^{-1} R^{-T}, full, from the inverse factors of B and K_B. O(d^3). */
static void weights_of_sites(const sg_basis_rows *b, const double *Ainv, double *BR)
{
    const size_t dd = (size_t) b->d * b->d;
    if (BR != Ainv) sg_copy(dd, Ainv, BR);
    sg_lauum(b->d, BR);
    sg_mirror('U', b->d, BR, b->d);
    sg_trmm('R', 'T', b->d, b->d, b->Rinv, BR);
}

/* Computes what all rows share of each process: B^{-1} R^{-T} and q = R^{-1} m. O(C d^3). */
sg_basis_adjoint sg_basis_adjoint_new(const sg_bases *bases, const sg_batch_factor *factor,
                                      int spent, double *dkernel, const sg_ws *ws)
{
    const int C = bases->C;
    sg_basis_adjoint adjoint = {.bases = bases, .dkernel = dkernel, .ws = ws};
    adjoint.BR = sg_structs(C, sizeof(double *), ws);
    adjoint.q = sg_structs(C, sizeof(double *), ws);
    for (int c = 0; c < C; c++) {
        const sg_basis_rows *b = sg_basis_of(bases, c);
        adjoint.BR[c] = spent ? factor[c].Ainv : sg_doubles(ws, (size_t) b->d * b->d);
        adjoint.q[c] = sg_doubles(ws, b->d);
        weights_of_sites(b, factor[c].Ainv, adjoint.BR[c]);
        sg_copy(b->d, factor[c].m, adjoint.q[c]);
        sg_trmv('N', b->d, b->Rinv, adjoint.q[c]);
    }
    adjoint.N = sg_structs(bases->count, sizeof(double *), ws);
    for (int g = 0; g < bases->count; g++) {
        const size_t dd = (size_t) bases->each[g].d * bases->each[g].d;
        adjoint.N[g] = sg_zeros(dd, ws);
    }
    return adjoint;
}

/* Returns the part of the gradient where that of basis g's kernel begins. */
static double *gradient_of(const sg_basis_adjoint *adjoint, int g)
{
    const sg_bases *bases = adjoint->bases;
    const size_t own = bases->kernels > 1 ? sg_kernel_ntheta(bases->each[g].kernel) : 0;
    return adjoint->dkernel + own * g;
}

/* Adds a process's -(q q' + R^{-1} (B^{-1} - I) R^{-T}) / 2 to G0, the part that is no sum over
 * rows. BR is overwritten. O(d^3). */
static void add_own_weights(const sg_basis_rows *b, double *BR, const double *q, double *G0)
{
    const int d = b->d;
    for (int j = 0; j < d; j++) {
        for (int i = j; i < d; i++) BR[i + (size_t) d * j] -= b->Rinv[j + (size_t) d * i];
    }
    sg_trmm('L', 'N', d, d, b->Rinv, BR);
    for (int j = 0; j < d; j++) {
        for (int i = 0; i < d; i++) {
            const size_t at = i + (size_t) d * j;
            G0[at] -= 0.5 * (q[i] * q[j] + BR[at]);
        }
    }
}

/* Adds G0's part to the gradient in the points, each of which is in a row and a column of K_B:
 * weights G0 + G0'. sums[points x points]: scratch. */
static void points_from_gram(const sg_basis_adjoint *adjoint, int g, const double *G0,
                             double *sums)
{
    const sg_basis_rows *b = adjoint->bases->each + g;
    const int points = sg_basis_points(b);
    if (!adjoint->dbasis) return;
    for (int j = 0; j < points; j++) {
        for (int i = 0; i < points; i++) {
            const size_t at = i + (size_t) points * j, mirrored = j + (size_t) points * i;
            sums[at] = G0[at] + G0[mirrored];
        }
    }
    sg_kernel_adjoint_inputs(b->kernel, points, b->basis, points, b->basis, sums,
                             adjoint->dbasis[g], adjoint->ws);
}

/* Hands G0 of one basis to the adjoint of K_B. The jitter is a proportion of K_B's diagonal and
 * moves with it. N is sum V' t V over all rows; R^{-1} N R^{-T} / 2 is its part of G0. Both take
 * the place of what is not needed any more. */
static void end_basis(const sg_basis_adjoint *adjoint, int g, int own)
{
    const sg_bases *bases = adjoint->bases;
    const sg_basis_rows *b = bases->each + g;
    const int d = b->d, points = sg_basis_points(b), first = sg_first_process(bases, g);
    const size_t dd = (size_t) d * d;
    double *G0 = adjoint->N[g], *K = adjoint->BR[first];
    for (size_t k = 0; k < dd; k++) G0[k] *= 0.5;
    sg_trmm('L', 'N', d, d, b->Rinv, G0);
    sg_trmm('R', 'T', d, d, b->Rinv, G0);
    for (int c = first; own && c < sg_last_process(bases, g); c++) {
        add_own_weights(b, adjoint->BR[c], adjoint->q[c], G0);
    }
    for (int j = 0; j < d; j++) G0[j + (size_t) d * j] *= 1 + b->jitter;
    sg_basis_gram(b, K);
    /* Moves the part of the points together in place: a mean's coefficients have no kernel. */
    sg_copy_columns(points, points, G0, d, G0, points);
    sg_kernel_adjoint(b->kernel, points, b->basis, points, NULL, K, G0, gradient_of(adjoint, g),
                      adjoint->ws);
    points_from_gram(adjoint, g, G0, K);
}

/* Ends every basis in turn; with `own` 0 only sums over rows are handed on, as a chunk's are. */
void sg_basis_adjoint_end(const sg_basis_adjoint *adjoint, int own)
{
    for (int g = 0; g < adjoint->bases->count; g++) end_basis(adjoint, g, own);
}

/* ---- A span ---- */

/* A span as the processes of one basis see it; arrays are the span's. */
typedef struct {
    const sg_basis_rows *b;
    int first, last;      /* its processes */
    sg_span span;
    const double *V;      /* m w x d */
    double *t;            /* blocks: d1 d1' + d2, summed over the processes */
    double *G, *work;     /* m w x d */
} span_weights;

/* Computes t = p d1 d1' + d2 in blocks, summed over the basis's processes (p: the power of the
 * tilts, whose derivatives have been divided by it). This is minus what row i
 * adds to the weight of K_ii, twice. O(C m w^2). */
static void add_squares(const span_weights *s, const sg_marginals *marg)
{
    const int w = s->b->w, ww = w * w;
    const size_t size = (size_t) ww * s->span.m;
    const double p = marg->power;
    sg_zero(size, s->t);
    for (int c = s->first; c < s->last; c++) {
        for (int i = 0; i < s->span.m; i++) {
            const size_t at = s->span.from + i + (size_t) s->b->n * c;
            const double *d1 = marg->d1 + w * at, *d2 = marg->d2 + ww * at;
            double *t = s->t + (size_t) ww * i;
            for (int k = 0; k < ww; k++) t[k] += p * d1[k % w] * d1[k / w] + d2[k];
        }
    }
}

/* N += V' t V. On return work is t V. O(m w d^2). */
static void add_bends(const span_weights *s, double *N)
{
    const int d = s->b->d, rows = s->span.m * s->b->w;
    sg_apply_blocks(s->b->w, s->span.m, d, s->t, s->V, s->work);
    sg_gemm('T', 'N', d, d, rows, 1, s->V, rows, s->work, rows, 1, N, d);
}

/* Computes G = sum over the processes of rho q' - T V B^{-1} R^{-T}, less t P, from work = t V.
 * O(m w d^2) for each process. */
static void kernel_weights(const sg_basis_adjoint *adjoint, const span_weights *s,
                           const sg_sites *sites, const sg_marginals *marg)
{
    const int d = s->b->d, w = s->b->w, rows = s->span.m * w;
    const size_t size = (size_t) rows * d;
    for (size_t k = 0; k < size; k++) s->G[k] = -s->work[k];
    sg_trmm('R', 'T', rows, d, s->b->Rinv, s->G);
    for (int c = s->first; c < s->last; c++) {
        const size_t at = s->span.from + (size_t) s->b->n * c;
        const double *rho = marg->d1 + w * at, *q = adjoint->q[c];
        sg_apply_blocks(w, s->span.m, d, sites->tau + (size_t) w * w * at, s->V, s->work);
        sg_gemm('N', 'N', rows, d, d, -1, s->work, rows, adjoint->BR[c], d, 1, s->G, rows);
        for (int j = 0; j < d; j++) {
            double *column = s->G + (size_t) rows * j;
            for (int i = 0; i < rows; i++) column[i] += rho[i] * q[j];
        }
    }
}

/* Hands G to the adjoint of K_nB, and t / 2 to that of the prior blocks. K_nB of the span is
 * computed again, O(m w d p), instead of kept: n w d numbers would be. dbasis: NULL, or the
 * gradient in the points. */
static void to_rows(const span_weights *s, double *dkernel, double *dbasis, const sg_ws *ws)
{
    const sg_basis_rows *b = s->b;
    const int rows = s->span.m * b->w;
    const size_t blocks = (size_t) s->span.m * b->w * b->w;
    double *K = s->work, *x = sg_doubles(ws, (size_t) rows * b->D);
    sg_basis_kernel(b, s->span, x, K, ws);
    sg_kernel_adjoint(b->kernel, rows, x, sg_basis_points(b), b->basis, K, s->G, dkernel, ws);
    if (dbasis) {
        sg_kernel_adjoint_inputs(b->kernel, rows, x, sg_basis_points(b), b->basis, s->G, dbasis,
                                 ws);
    }
    for (size_t k = 0; k < blocks; k++) s->t[k] /= 2;
    if (b->w == 1) sg_kernel_adjoint_diag(b->kernel, rows, x, s->t, dkernel, ws);
    else sg_kernel_adjoint_blocks(b->kernel, b->w, s->span.m, b->D, x, s->t, dkernel, ws);
}

/* Rows of a window in parts, each with sums of its own, of one basis. */
typedef struct {
    const sg_basis_adjoint *adjoint;
    const sg_sites *sites;
    const sg_marginals *marg;
    int g;           /* the basis */
    sg_span window;
    int grain;       /* rows of a part */
    double *N;       /* of each part: of the adjoint's N, d x d, */
    double *dkernel; /* and of the gradient, ntheta */
    double *dbasis;  /* and of that in the points, if it is wanted */
} window_job;

/* Adds a span's part to N and to the gradient. V, G and work are m w x d, of one span at a time. */
static void add_span(const window_job *job, sg_span span, double *N, double *dkernel,
                     double *dbasis, const sg_ws *ws)
{
    const sg_bases *bases = job->adjoint->bases;
    const sg_basis_rows *b = bases->each + job->g;
    const size_t rows = (size_t) span.m * b->w;
    const span_weights s = {
        .b = b, .first = sg_first_process(bases, job->g), .last = sg_last_process(bases, job->g),
        .span = span, .V = sg_basis_seen(b, span), .t = sg_doubles(ws, rows * b->w),
        .G = sg_doubles(ws, rows * b->d), .work = sg_doubles(ws, rows * b->d)
    };
    add_squares(&s, job->marg);
    add_bends(&s, N);
    kernel_weights(job->adjoint, &s, job->sites, job->marg);
    to_rows(&s, dkernel, dbasis, ws);
}

/* Returns how many numbers the points of basis g are. */
static size_t points_size(const sg_basis_rows *b)
{
    return (size_t) sg_basis_points(b) * b->D;
}

/* Adds the spans of a part, in order, to sums of its own. */
static sg_status add_part(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    const window_job *job = ctx;
    const sg_basis_rows *b = job->adjoint->bases->each + job->g;
    const size_t part = from / job->grain, dd = (size_t) b->d * b->d;
    const int ntheta = sg_kernel_ntheta(b->kernel);
    double *N = job->N + dd * part, *dkernel = job->dkernel + ntheta * part;
    double *dbasis = job->dbasis ? job->dbasis + points_size(b) * part : NULL;
    sg_span span = {0, 0};
    (void) slot;
    sg_zero(dd, N);
    sg_zero(ntheta, dkernel);
    sg_zero(dbasis ? points_size(b) : 0, dbasis);
    while (sg_next_span(to - from, SG_SPAN, &span)) {
        void *mark = sg_mark(ws);
        add_span(job, (sg_span) {job->window.from + from + span.from, span.m}, N, dkernel,
                 dbasis, ws);
        sg_release(ws, mark);
    }
    return SG_OK;
}

/* Adds each of `parts` sums to to[size], in order. */
static void add_up(int parts, size_t size, const double *sums, double *to)
{
    for (size_t k = 0; k < size * parts; k++) to[k % size] += sums[k];
}

/* Adds a window's part of basis g. Parts are as many as memory allows (sg_basis_parts()), and do
 * not depend on the threads. A single part of the first window is the adjoint's N itself. */
static void add_window(const sg_basis_adjoint *adjoint, int g, const sg_sites *sites,
                       const sg_marginals *marg, sg_span window)
{
    const sg_bases *bases = adjoint->bases;
    const sg_ws *ws = adjoint->ws;
    sg_basis_rows *b = bases->each + g;
    const size_t dd = (size_t) b->d * b->d, ntheta = sg_kernel_ntheta(b->kernel);
    const int grain = sg_par_grain(window.m, SG_SPAN, sg_basis_parts(bases, 1));
    const int parts = sg_par_chunks(window.m, grain);
    const int alone = parts == 1 && window.from == 0;
    window_job job = {.adjoint = adjoint, .sites = sites, .marg = marg, .g = g, .window = window,
                      .grain = grain, .N = alone ? adjoint->N[g] : sg_doubles(ws, dd * parts),
                      .dkernel = sg_doubles(ws, ntheta * parts)};
    if (adjoint->dbasis) job.dbasis = sg_doubles(ws, points_size(b) * parts);
    sg_basis_look(b, window, ws);
    const sg_ws own = sg_kernel_workspace(b->kernel, ws);
    sg_par_products(window.m, grain, add_part, &job, NULL, &own);
    if (!alone) add_up(parts, dd, job.N, adjoint->N[g]);
    add_up(parts, ntheta, job.dkernel, gradient_of(adjoint, g));
    if (adjoint->dbasis) add_up(parts, points_size(b), job.dbasis, adjoint->dbasis[g]);
}

/* Divides the window's rows among parts, basis by basis, and adds these up. */
void sg_basis_adjoint_window(const sg_basis_adjoint *adjoint, const sg_sites *sites,
                             const sg_marginals *marg, sg_span window)
{
    for (int g = 0; g < adjoint->bases->count; g++) {
        void *mark = sg_mark(adjoint->ws);
        add_window(adjoint, g, sites, marg, window);
        sg_release(adjoint->ws, mark);
        sg_tick(adjoint->ws);
    }
}
