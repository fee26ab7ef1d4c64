/* dist.c: points as kernels of distances see them, and their squared distances,
 *   r2_ij = |a_i|^2 + |b_j|^2 - 2 a_i'b_j,
 * the inner products by dgemm. The sum cancels for pairs that lie close together compared with
 * their distance from the origin; such pairs are computed from differences, and the origin is in
 * the points' middle, so that there are few of them. */
#include <math.h>
#include "dist.h"
#include "la.h"
#include "par.h"

/* Returns the median of some values of an input, evenly spread. With the mean in its place one
 * value that is far from all others would leave these without their digits. */
static double own_centre(int n, const double *col)
{
    enum { MOST = 31 };
    double sorted[MOST];
    const int m = n < MOST ? n : MOST;
    if (m == 0) return 0;
    for (int i = 0; i < m; i++) {
        const double value = col[(size_t) i * n / m];
        int at = i;
        for (; at > 0 && sorted[at - 1] > value; at--) sorted[at] = sorted[at - 1];
        sorted[at] = value;
    }
    return sorted[m / 2];
}

/* Writes (col - centre) / lengthscale for points i0 .. end - 1 as feature k. */
static void scale_feature(sg_points *out, int k, int i0, int end, const double *col, double ell)
{
    for (int i = i0; i < end; i++) {
        out->u[k + (size_t) out->q * i] = (col[i] - out->centre[k]) / ell;
    }
}

/* Tells an input's columns from its features: inputs k that are numbers, in order. */
static int *number_inputs(const sg_kernel *self, const sg_ws *ws)
{
    int *input = sg_ints(self->p, ws), count = 0;
    for (int k = 0; k < self->p; k++) {
        if (!sg_kernel_is_factor(self, k)) input[count++] = k;
    }
    return input;
}

/* Copies the levels of the factors, with weights levels[k] / lengthscale^2. */
static void scale_factors(const sg_kernel *self, const double *x, const double *log_ell, int step,
                          sg_points *out, const sg_ws *ws)
{
    double *weight = sg_points_factors(out, self->p - out->q, ws);
    int f = 0;
    for (int k = 0; k < self->p; k++) {
        if (!sg_kernel_is_factor(self, k)) continue;
        weight[f] = self->levels[k] * exp(-2 * log_ell[k * step]);
        sg_points_levels(out, f++, x + (size_t) out->n * self->vars[k]);
    }
}

/* Writes u = (x - centre) / lengthscale. Columns of x become rows of u, a few points at a time, so
 * that both stay in cache. */
sg_points sg_points_scaled(const sg_kernel *self, int n, const double *x, const double *log_ell,
                           int step, const sg_points *like, const sg_ws *ws)
{
    enum { TILE = 16 };
    const int q = self->p - sg_kernel_nfactors(self), *input = number_inputs(self, ws);
    sg_points out = sg_points_new(n, q, ws);
    double *ell = sg_doubles(ws, q), *centre = sg_doubles(ws, q);
    for (int k = 0; k < q; k++) {
        ell[k] = exp(log_ell[input[k] * step]);
        if (!like) centre[k] = own_centre(n, x + (size_t) n * self->vars[input[k]]);
    }
    out.centre = like ? like->centre : centre;
    for (int i0 = 0; i0 < n; i0 += TILE) {
        const int end = n - i0 < TILE ? n : i0 + TILE;
        for (int k = 0; k < q; k++) {
            scale_feature(&out, k, i0, end, x + (size_t) n * self->vars[input[k]], ell[k]);
        }
    }
    scale_factors(self, x, log_ell, step, &out, ws);
    sg_points_norms(&out, ws);
    return out;
}

/* A block of a symmetric matrix begins at its own diagonal: the upper part is never computed. */
int sg_next_block(int n, int m, int symmetric, sg_block *block)
{
    const int j0 = block->j0 + block->nj, left = m - j0;
    if (left <= 0) return 0;
    block->j0 = j0;
    block->nj = left < SG_BLOCK ? left : SG_BLOCK;
    block->i0 = symmetric ? j0 : 0;
    block->ni = n - block->i0;
    return 1;
}

/* Returns |a_i - b_j|^2 from differences, O(q), without cancellation. */
static double sqdist_direct(const sg_points *a, int i, const sg_points *b, int j)
{
    const double *u = a->u + (size_t) a->q * i, *v = b->u + (size_t) b->q * j;
    double sum = 0;
    for (int k = 0; k < a->q; k++) sum += (u[k] - v[k]) * (u[k] - v[k]);
    return sum;
}

/* Compares with the terms that cancel. Negated, so that Inf - Inf from huge inputs counts as close
 * and is computed from differences. */
int sg_pair_is_close(const sg_points *a, int i, const sg_points *b, int j, double r2)
{
    const double CLOSE = 1e-4;
    return !(r2 >= CLOSE * (a->norm[i] + b->norm[j]));
}

typedef struct {
    const sg_points *a, *b;
    const sg_block *block;
    sg_distance_map map;
    void *ctx;
    double *r2; /* -2 a'b at first */
    int ld;
} distance_job;

/* Computes -2 a_i'b_j for some rows of the block, which a thread multiplies by itself. */
static sg_status some_products(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    (void) slot, (void) ws;
    const distance_job *job = ctx;
    const size_t q = job->a->q;
    sg_gemm('T', 'N', to - from, job->block->nj, job->a->q, -2,
            job->a->u + q * (job->block->i0 + from), job->a->q, job->b->u + q * job->block->j0,
            job->a->q, 0, job->r2 + from, job->ld);
    return SG_OK;
}

/* Completes column jj to |a_i|^2 + |b_j|^2 - 2 a_i'b_j, replaces close pairs, and adds the
 * distances between levels. */
static void mend_column(const distance_job *job, int jj, double *column)
{
    const sg_points *a = job->a, *b = job->b;
    const int i0 = job->block->i0, j = job->block->j0 + jj;
    for (int ii = 0; ii < job->block->ni; ii++) {
        const int i = i0 + ii;
        column[ii] += a->norm[i] + b->norm[j];
        if (sg_pair_is_close(a, i, b, j, column[ii])) column[ii] = sqdist_direct(a, i, b, j);
    }
    if (a->nlevel) sg_add_differing(a, i0, i0 + job->block->ni, b, j, column);
}

/* Completes some columns and hands them to the kernel while they are in cache. */
static sg_status some_columns(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    (void) slot, (void) ws;
    const distance_job *job = ctx;
    for (int jj = from; jj < to; jj++) {
        double *column = job->r2 + (size_t) job->ld * jj;
        mend_column(job, jj, column);
        job->map(job->ctx, job->block, jj, column);
    }
    return SG_OK;
}

/* Takes two loops, one over rows for the product (if the BLAS has no threads itself) and one over
 * columns for the elementwise part. */
void sg_sqdist(const sg_points *a, const sg_points *b, const sg_block *block, sg_distance_map map,
               void *ctx, double *r2, int ld, const sg_ws *ws)
{
    enum { TALL = 2048 };
    distance_job job = {.a = a, .b = b, .block = block, .map = map, .ctx = ctx, .r2 = r2, .ld = ld};
    sg_par_products(block->ni, TALL, some_products, &job, NULL, ws);
    sg_par_rows(block->nj, sg_par_columns(block->ni), some_columns, &job, ws);
}

/* Divides column by column; factors have no directions. */
double *sg_directions_scaled(const sg_kernel *self, int n, const double *v, const double *log_ell,
                             int step, const sg_ws *ws)
{
    const int q = self->p - sg_kernel_nfactors(self), *input = number_inputs(self, ws);
    double *out = sg_doubles(ws, (size_t) q * n);
    for (int k = 0; k < q; k++) {
        const double *column = v + (size_t) n * self->vars[input[k]];
        const double ell = exp(log_ell[input[k] * step]);
        for (int i = 0; i < n; i++) out[k + (size_t) q * i] = column[i] / ell;
    }
    return out;
}

/* Goes from differences: slopes are wanted where points are close, too. */
void sg_multiply_pairs(const sg_points *a, const double *v, const sg_points *b, const double *w,
                       int j, const sg_pair_products *out)
{
    const size_t q = a->q;
    const double *z = b->u + q * j, *other = w ? w + q * j : NULL;
    for (int i = 0; i < a->n; i++) {
        const double *x = a->u + q * i, *own = v + q * i;
        double r2 = 0, dv = 0, dw = 0, vw = 0;
        for (size_t k = 0; k < q; k++) {
            const double delta = x[k] - z[k];
            r2 += delta * delta;
            dv += delta * own[k];
            if (other) dw += delta * other[k], vw += own[k] * other[k];
        }
        out->r2[i] = r2, out->dv[i] = dv, out->dw[i] = dw, out->vw[i] = vw;
    }
    sg_add_differing(a, 0, a->n, b, j, out->r2);
}
