/* row_block.c: rows that a basis projects, by blocks (row_block.h). */
#include <math.h>
#include <Rmath.h>
#include "row_block.h"

/* Lends 2 C (cap + rows w) rows w doubles. */
sg_row_block sg_row_block_new(const sg_process *gp, int rows, const sg_ws *ws)
{
    const int cap = rows * gp->w, ld = gp->basis.cap + cap;
    const size_t points = (size_t) gp->C * cap;
    const sg_row_block b = {.cap = cap, .ld = ld, .X = sg_doubles(ws, ld * points),
                            .Y = sg_doubles(ws, ld * points), .mean = sg_doubles(ws, points),
                            .shift = sg_doubles(ws, points), .coef = sg_doubles(ws, cap)};
    return b;
}

/* Columns of process c that begin with point `at` */
static inline double *columns(const sg_row_block *b, double *X, int c, int at)
{
    return X + (size_t) b->ld * (at + (size_t) b->cap * c);
}

/* Computes G = M V, C = V'G and V'a of every process. */
void sg_row_block_begin(sg_row_block *b, const sg_process *gp, int m, const double *V)
{
    const int d = gp->basis.d;
    b->m = m;
    for (int c = 0; c < gp->C; c++) {
        const sg_weights *w = gp->each + c;
        double *G = columns(b, b->X, c, 0);
        sg_gemm('N', 'N', d, m, d, 1, w->M, gp->basis.cap, V, d, 0, G, b->ld);
        sg_gemm('T', 'N', m, m, d, 1, V, d, G, b->ld, 0, G + d, b->ld);
        sg_gemv('T', d, m, 1, V, d, w->a, 0, b->mean + (size_t) b->cap * c);
    }
}

/* Adds to the columns of a row what the rows before it have changed, and fills in its mean and
 * carried variance under process c: for each of its points the coefficients are its covariances
 * with the points before, c_ji. */
static void catch_up(sg_row_block *b, const sg_process *gp, int c, int at, sg_row_tilt *tilt)
{
    const int d = gp->basis.d, w = gp->w, ld = b->ld;
    const double *before = columns(b, b->X, c, 0) + d + at, *Y = columns(b, b->Y, c, 0);
    const double *shift = b->shift + (size_t) b->cap * c;
    double *x = columns(b, b->X, c, at), *carried = tilt->carried + w * w * c;
    for (int p = 0; p < w; p++) {
        double mean = b->mean[at + p + (size_t) b->cap * c];
        for (int k = 0; k < at; k++) {
            b->coef[k] = before[p + (size_t) ld * k];
            mean += b->coef[k] * shift[k];
        }
        sg_gemv('N', d + b->m, at, 1, Y, ld, b->coef, 1, x + (size_t) ld * p);
        tilt->mean[p + w * c] = mean;
    }
    for (int p = 0; p < w; p++) {
        const double *own = x + d + at + (size_t) ld * p;
        for (int q = 0; q < p; q++) carried[q + w * p] = carried[p + w * q] = own[q];
        carried[p * (w + 1)] = fmax2(own[p], 0); /* below 0 is rounding */
    }
}

/* Keeps the row's step of process c: shift, and (x; c) bend. */
static void keep_step(sg_row_block *b, const sg_process *gp, int c, int at,
                      const sg_row_tilt *tilt)
{
    const int w = gp->w, rows = gp->basis.d + b->m;
    const double *x = columns(b, b->X, c, at), *bend = tilt->bend + w * w * c;
    double *y = columns(b, b->Y, c, at);
    sg_copy(w, tilt->shift + w * c, b->shift + at + (size_t) b->cap * c);
    for (int p = 0; p < w; p++, y += b->ld, bend += w) {
        for (int i = 0; i < rows; i++) y[i] = bend[0] * x[i];
        for (int q = 1; q < w; q++) {
            const double *other = x + (size_t) b->ld * q;
            for (int i = 0; i < rows; i++) y[i] += bend[q] * other[i];
        }
    }
}

/* Leaves a row of process c out: its columns, which may be NaN, become 0, and so does its site. */
static void leave_out(sg_row_block *b, const sg_process *gp, int c, int at, sg_row_tilt *tilt)
{
    const size_t w = gp->w, size = w * b->ld;
    sg_zero(w, b->shift + at + (size_t) b->cap * c);
    sg_zero(size, columns(b, b->X, c, at));
    sg_zero(size, columns(b, b->Y, c, at));
    sg_zero(w, tilt->nu + w * c);
    sg_zero(w * w, tilt->tau + w * w * c);
}

int sg_row_block_take(sg_row_block *b, const sg_process *gp, const sg_rows *rows, int nonnegative,
                      sg_projection projection, int i, int at, const double *gamma,
                      sg_row_tilt *tilt)
{
    for (int c = 0; c < gp->C; c++) catch_up(b, gp, c, at, tilt);
    const int valid = sg_row_tilt_there(gp, rows, i, nonnegative, gamma, tilt) &&
                      sg_row_steps(gp, gamma, gamma, projection, tilt);
    for (int c = 0; c < gp->C; c++) {
        if (valid) keep_step(b, gp, c, at, tilt);
        else leave_out(b, gp, c, at, tilt);
    }
    return valid;
}

/* M += sum_j (x_j bend_j) x_j',   a += sum_j x_j shift_j. */
void sg_row_block_end(const sg_row_block *b, sg_process *gp)
{
    const int d = gp->basis.d;
    for (int c = 0; c < gp->C; c++) {
        const sg_weights *w = gp->each + c;
        const double *X = columns(b, b->X, c, 0);
        sg_gemm('N', 'T', d, d, b->m, 1, columns(b, b->Y, c, 0), b->ld, X, b->ld, 1, w->M,
                gp->basis.cap);
        sg_gemv('N', d, b->m, 1, X, b->ld, b->shift + (size_t) b->cap * c, 1, w->a);
    }
}
