#include <math.h>
#include "la.h"
#include "dist.h"

static void scaled_copy(const sg_kernel *self, int n, const double *x, const double *log_ell,
                        int step, const double *centre, sg_points *pts)
{
    for (int k = 0; k < self->p; k++) {
        const double *from = x + (size_t) n * self->vars[k];
        const double ell = exp(log_ell[k * step]);
        double *to = pts->x + (size_t) n * k;
        for (int i = 0; i < n; i++) to[i] = (from[i] - centre[k]) / ell;
    }
    sg_points_norms(pts);
}

static sg_points new_points(int n, int q, const sg_ws *ws)
{
    sg_points pts = {n, q, ws->doubles((size_t) n * q), ws->doubles(n)};
    return pts;
}

void sg_points_norms(sg_points *pts)
{
    for (int i = 0; i < pts->n; i++) pts->norm[i] = 0;
    for (int k = 0; k < pts->q; k++) {
        const double *x = pts->x + (size_t) pts->n * k;
        for (int i = 0; i < pts->n; i++) pts->norm[i] += x[i] * x[i];
    }
}

void sg_pairs_scaled(const sg_kernel *self, int n, const double *x, int m, const double *z,
                     const double *log_ell, int step, sg_pairs *pairs, const sg_ws *ws)
{
    double *centre = ws->doubles(self->p);
    for (int k = 0; k < self->p; k++) {
        const double *col = z + (size_t) m * self->vars[k];
        double sum = 0;
        for (int j = 0; j < m; j++) sum += col[j] / m;
        centre[k] = sum;
    }
    pairs->symmetric = x == z && n == m;
    pairs->b = new_points(m, self->p, ws);
    scaled_copy(self, m, z, log_ell, step, centre, &pairs->b);
    if (pairs->symmetric) {
        pairs->a = pairs->b;
    } else {
        pairs->a = new_points(n, self->p, ws);
        scaled_copy(self, n, x, log_ell, step, centre, &pairs->a);
    }
}

int sg_next_block(const sg_pairs *pairs, sg_block *block)
{
    const int j0 = block->j0 + block->nj, left = pairs->b.n - j0;
    if (left <= 0) return 0;
    block->j0 = j0;
    block->nj = left < SG_BLOCK ? left : SG_BLOCK;
    block->i0 = pairs->symmetric ? j0 : 0;
    block->ni = pairs->a.n - block->i0;
    return 1;
}

static double sqdist_direct(const sg_points *a, int i, const sg_points *b, int j)
{
    double sum = 0;
    for (int k = 0; k < a->q; k++) {
        const double diff = a->x[i + (size_t) a->n * k] - b->x[j + (size_t) b->n * k];
        sum += diff * diff;
    }
    return sum;
}

/* Negated, so that Inf - Inf from huge inputs counts as close and is computed from differences. */
int sg_pair_is_close(const sg_pairs *pairs, int i, int j, double r2)
{
    const double CLOSE = 1e-4;
    return !(r2 >= CLOSE * (pairs->a.norm[i] + pairs->b.norm[j]));
}

void sg_sqdist(const sg_pairs *pairs, const sg_block *block, double *r2, int ld)
{
    const sg_points *a = &pairs->a, *b = &pairs->b;
    sg_gemm('N', 'T', block->ni, block->nj, a->q, -2, a->x + block->i0, a->n, b->x + block->j0,
            b->n, 0, r2, ld);
    for (int jj = 0; jj < block->nj; jj++) {
        const int j = block->j0 + jj;
        double *col = r2 + (size_t) ld * jj;
        for (int ii = 0; ii < block->ni; ii++) {
            const int i = block->i0 + ii;
            col[ii] += a->norm[i] + b->norm[j];
            if (sg_pair_is_close(pairs, i, j, col[ii])) col[ii] = sqdist_direct(a, i, b, j);
        }
    }
}
