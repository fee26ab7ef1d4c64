/* basis_rows.c: the factor of a basis, and rows as it sees them. */
#include <float.h>
#include <math.h>
#include <Rmath.h>
#include "basis_rows.h"
#include "chol.h"
#include "tolerances.h"

/* Is every pivot well above rounding? A singular matrix may pass the factorisation by accident,
 * with pivots that are noise. */
static int pivots_matter(int d, const double *variance, const double *R)
{
    for (int j = 0; j < d; j++) {
        const double pivot = R[j + (size_t) d * j];
        if (!(pivot * pivot > SG_NO_PIVOT * variance[j])) return 0;
    }
    return 1;
}

/* Factors KB + jitter diag(KB), KB below the diagonal of R, into R's upper triangle. A point of
 * variance 0, such as 0 under a linear kernel, has covariances of 0 only: with a pivot of 1 its
 * column of V is 0, and it carries nothing. O(d^3 / 3) */
static sg_status factor_with(int d, const double *variance, double jitter, double *R)
{
    sg_mirror('L', d, R, d);
    for (int j = 0; j < d; j++) {
        R[j + (size_t) d * j] = variance[j] == 0 ? 1 : variance[j] * (1 + jitter);
    }
    return sg_potrf(d, R, d);
}

/* Finds R for the smallest jitter of the ladder that has one. It is relative to the diagonal, so
 * units do not matter. O(d^3 / 3) for each step of the ladder. */
static sg_status factor_basis(int d, const double *variance, double *R, double *jitter)
{
    const double LADDER[] = {0, 1e-12, 1e-10, 1e-8, 1e-6};
    for (size_t step = 0; step < sizeof LADDER / sizeof *LADDER; step++) {
        *jitter = LADDER[step];
        if (factor_with(d, variance, *jitter, R) == SG_OK && pivots_matter(d, variance, R)) {
            return SG_OK;
        }
    }
    return SG_NOT_PD;
}

/* Bounds the rounding of a number of V = K_nB R^{-1}: K_nB, of variances up to the largest of KB,
 * is off by eps times that, and the product multiplies it by the largest column sum of |R^{-1}|. */
static double rounding_of(int d, const double *variance, const double *Rinv)
{
    double largest = 0, widest = 0;
    for (int j = 0; j < d; j++) {
        double sum = 0;
        for (int i = 0; i <= j; i++) sum += fabs(Rinv[i + (size_t) d * j]);
        largest = fmax2(largest, variance[j]);
        widest = fmax2(widest, sum);
    }
    return DBL_EPSILON * largest * widest;
}

void sg_basis_gram(const sg_basis_rows *b, double *out)
{
    const int points = sg_basis_points(b);
    sg_copy_columns(points, points, b->Rinv, b->d, out, points);
    for (int j = 0; j < points; j++) out[j + (size_t) points * j] = b->variance[j];
    sg_mirror('L', points, out, points);
}

/* The same steps, on the same numbers, as when the basis was factored. */
void sg_basis_factor(const sg_basis_rows *b, double *all, double *out)
{
    const int points = sg_basis_points(b);
    sg_copy((size_t) b->d * b->d, b->Rinv, all);
    factor_with(b->d, b->variance, b->jitter, all);
    sg_copy_columns(points, points, all, b->d, out, points);
    sg_clear_below(points, out);
}

/* Prepares the span's inputs like the basis, whose points were prepared once. x_span: room for m w
 * x D; out[m w x d]. O(m w d D). */
void sg_basis_kernel(const sg_basis_rows *b, sg_span span, double *x_span, double *out,
                     const sg_ws *ws)
{
    const int rows = span.m * b->w;
    void *mark = sg_mark(ws);
    sg_copy_columns(rows, b->D, b->x + (size_t) b->w * span.from, (size_t) b->n * b->w, x_span,
                    rows);
    const sg_points own = sg_kernel_prepare(b->kernel, rows, x_span, &b->points, ws);
    sg_kernel_between(b->kernel, &own, &b->points, out, ws);
    sg_copy_columns(rows, b->q, b->phi + (size_t) b->w * span.from, (size_t) b->n * b->w,
                    out + (size_t) rows * sg_basis_points(b), rows);
    sg_release(ws, mark);
}

/* Adds |phi|^2 of rows from .. from + m - 1, of w values each, to prior[m w]. O(m w q). */
static void add_mean_prior(const sg_basis_rows *b, int from, int m, double *prior)
{
    const size_t all = (size_t) b->n * b->w;
    for (int j = 0; j < b->q; j++) {
        const double *phi = b->phi + all * j + (size_t) b->w * from;
        for (int i = 0; i < m * b->w; i++) prior[i] += phi[i] * phi[i];
    }
}

/* With w = 1: prior = |v|^2 by rows, gamma = K(x,x) - |v|^2 and at least 0, v of the points alone;
 * a negative difference is rounding, NaN stays NaN. prior + gamma is K(x,x), without a mean. x, V:
 * the span's inputs and its rows of V, m x d. O(m d). */
static void scalar_residuals(sg_basis_rows *b, sg_span span, const double *x, const double *V,
                             const sg_ws *ws)
{
    double *gamma = b->gamma + span.from, *prior = b->prior + span.from;
    sg_kernel_diag(b->kernel, span.m, x, gamma, ws);
    sg_row_squares(span.m, sg_basis_points(b), V, prior);
    for (int i = 0; i < span.m; i++) {
        prior[i] = fmin2(prior[i], gamma[i]);
        gamma[i] -= prior[i];
    }
    add_mean_prior(b, span.from, span.m, prior);
}

/* The same in blocks: gamma = K_ii - V_i V_i'. O(m w^2 d). */
static void block_residuals(sg_basis_rows *b, sg_span span, const double *x, const double *V,
                            const sg_ws *ws)
{
    const int w = b->w, ww = w * w;
    double *gamma = b->gamma + (size_t) ww * span.from;
    double *prior = b->prior + (size_t) w * span.from;
    double *known = sg_doubles(ws, (size_t) ww * span.m);
    sg_kernel_blocks(b->kernel, w, span.m, b->D, x, gamma, ws);
    sg_block_squares(w, span.m, sg_basis_points(b), V, known);
    for (int i = 0; i < span.m; i++, gamma += ww, known += ww) {
        for (int k = 0; k < ww; k++) gamma[k] -= known[k];
        for (int a = 0; a < w; a++) prior[w * i + a] = known[a + w * a];
    }
    add_mean_prior(b, span.from, span.m, prior);
}

/* Rows on their way into `out`, span after span. */
typedef struct {
    sg_basis_rows *b;
    sg_span window;
    const double *posterior; /* A^{-1}, for V A^{-1} out of V; NULL: not so */
    int again;               /* is V A^{-1} had at once, of rows that were looked at before? */
    double *out;
} sight;

/* Computes V = K_nB R^{-1} of a span, with gamma and prior of its rows; then V A^{-1} if a
 * posterior asks for it, or that at once, K_nB (R^{-1} A^{-1}), if gamma is known. O(m w d^2 / 2)
 * for each triangular product. */
static sg_status see_span(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    const sight *s = ctx;
    sg_basis_rows *b = s->b;
    const sg_span span = {s->window.from + from, to - from};
    const int rows = span.m * b->w;
    double *x = sg_doubles(ws, (size_t) rows * b->D), *out = s->out + (size_t) from * b->w * b->d;
    (void) slot;
    sg_basis_kernel(b, span, x, out, ws);
    sg_trmm('R', 'N', rows, b->d, s->again ? b->RAinv : b->Rinv, out);
    if (!s->again) (b->w == 1 ? scalar_residuals : block_residuals)(b, span, x, out, ws);
    if (s->posterior) sg_trmm('R', 'N', rows, b->d, s->posterior, out);
    return SG_OK;
}

/* Sees a window, span by span on several threads; each span writes its own part. */
static void see(sight s, const sg_ws *ws)
{
    const sg_ws own = sg_kernel_workspace(s.b->kernel, ws);
    sg_par_products(s.window.m, SG_SPAN, see_span, &s, &s.b->looks, &own);
    s.b->first = s.window.from;
    s.b->known = imax2(s.b->known, s.window.from + s.window.m);
    sg_tick(ws);
}

/* Computes V of the window unless it is held. */
void sg_basis_look(sg_basis_rows *b, sg_span window, const sg_ws *ws)
{
    const sight s = {.b = b, .window = window, .out = b->scratch};
    if (!b->V) see(s, ws);
}

/* Multiplies R^{-1} A^{-1} once, O(d^3), which spares a product of n w d^2 at every look. */
void sg_basis_set_posterior(sg_basis_rows *b, const double *Ainv)
{
    const size_t dd = (size_t) b->d * b->d;
    b->Ainv = Ainv;
    if (!Ainv) return;
    sg_copy(dd, Ainv, b->RAinv);
    sg_trmm('L', 'N', b->d, b->d, b->Rinv, b->RAinv);
}

/* Takes gamma and derives prior = diag K(x,x) - gamma from it, O(n w p) without V. */
void sg_basis_know(sg_basis_rows *b, const double *gamma, const sg_ws *ws)
{
    const size_t w = b->w, rows = (size_t) b->n * w;
    sg_kernel_diag(b->kernel, (int) rows, b->x, b->prior, ws);
    sg_copy(rows * w, gamma, b->gamma);
    for (size_t k = 0; k < rows; k++) {
        b->prior[k] -= gamma[w * w * (k / w) + (w + 1) * (k % w)];
    }
    add_mean_prior(b, 0, b->n, b->prior);
    b->known = b->n;
}

/* Goes the short way if all rows of the window have had their first look. */
void sg_basis_look_posterior(sg_basis_rows *b, sg_span window, const sg_ws *ws)
{
    const int again = b->Ainv && window.from + window.m <= b->known;
    const sight s = {.b = b, .window = window, .posterior = again ? NULL : b->Ainv,
                     .again = again, .out = b->scratch};
    if (!b->V) see(s, ws);
}

/* Fills in K_B, and beside it the identity of a mean's coefficients. O(d^2) after the kernel. */
static void fill_gram(sg_basis_rows *b, const sg_ws *ws)
{
    const int points = sg_basis_points(b), d = b->d;
    void *mark = sg_mark(ws);
    double *own = b->q ? sg_doubles(ws, (size_t) points * points) : b->Rinv;
    sg_kernel_between(b->kernel, &b->points, NULL, own, ws);
    if (b->q) {
        sg_zero((size_t) d * d, b->Rinv);
        sg_copy_columns(points, points, own, points, b->Rinv, d);
    }
    for (int j = 0; j < d; j++) b->variance[j] = j < points ? own[j + (size_t) points * j] : 1;
    sg_release(ws, mark);
}

/* Factors the basis and sees all rows if their V may be held; else lends a window. pool: numbers
 * of V that may be held. O(d^3), and O(n w d^2) if V is. */
sg_status sg_basis_rows_new(const sg_kernel *kernel, sg_layout layout, int D, const double *x,
                            int points, const double *basis, sg_basis_mean mean, double pool,
                            double *gamma, double *prior, sg_basis_rows *b, const sg_ws *ws)
{
    const int d = points + mean.q;
    const size_t seen = (size_t) layout.n * layout.w * d, dd = (size_t) d * d;
    const int hold = (double) seen <= pool;
    *b = (sg_basis_rows) {
        .kernel = kernel, .n = layout.n, .w = layout.w, .D = D, .d = d, .x = x, .basis = basis,
        .q = mean.q, .phi = mean.phi,
        .Rinv = sg_doubles(ws, dd), .variance = sg_doubles(ws, d), .gamma = gamma, .prior = prior
    };
    b->points = sg_kernel_prepare(kernel, points, basis, NULL, ws);
    fill_gram(b, ws);
    sg_status status = factor_basis(d, b->variance, b->Rinv, &b->jitter);
    /* The prior of coefficients needs no jitter. */
    for (int j = points; j < d; j++) b->Rinv[j + (size_t) d * j] = 1;
    if (status == SG_OK) status = sg_trtri(d, b->Rinv);
    if (status != SG_OK) return status;
    b->rounding = rounding_of(d, b->variance, b->Rinv);
    if (hold) {
        b->V = sg_doubles(ws, seen);
        see((sight) {.b = b, .window = {0, b->n}, .out = b->V}, ws);
    } else {
        b->scratch = sg_doubles(ws, (size_t) imin2(b->n, SG_WINDOW) * b->w * d);
        b->RAinv = sg_doubles(ws, dd);
    }
    return SG_OK;
}

/* Is V of every basis held? */
static int all_held(const sg_bases *b)
{
    int held = 1;
    for (int g = 0; g < b->count; g++) held = held && b->each[g].V;
    return held;
}

/* A single window if all is held: there is nothing to be seen again. */
int sg_window_of(const sg_bases *b)
{
    const int n = b->each->n;
    return all_held(b) ? n : imin2(n, SG_WINDOW);
}

/* Bounds the number of parts by memory (half of a window's rows) and by what keeps threads busy. */
int sg_basis_parts(const sg_bases *b, int processes)
{
    enum { BUSY = 8 };
    int widest = 1;
    for (int g = 0; g < b->count; g++) widest = imax2(widest, b->each[g].d);
    const double fit = 0.5 * sg_window_of(b) * b->each->w / widest / processes;
    return imax2(1, (int) fmin2(fit, (BUSY + processes - 1) / processes));
}

/* Multiplies each row's block with its w rows of X, column by column of X. blocks: m of w x w; X,
 * out: m w x d. O(m w^2 d). */
void sg_apply_blocks(int w, int m, int d, const double *blocks, const double *X, double *out)
{
    const int rows = m * w;
    for (int j = 0; j < d; j++) {
        const double *x = X + (size_t) rows * j;
        double *y = out + (size_t) rows * j;
        for (int i = 0; i < m; i++) {
            for (int a = 0; a < w; a++) {
                double sum = 0;
                for (int k = 0; k < w; k++) {
                    sum += blocks[a + w * (k + (size_t) w * i)] * x[w * i + k];
                }
                y[w * i + a] = sum;
            }
        }
    }
}
