#include <math.h>
#include "la.h"
#include "dist.h"

static const double *own_centre(const sg_kernel *self, int n, const double *x, const sg_ws *ws)
{
    double *centre = sg_doubles(ws, self->p);
    for (int k = 0; k < self->p; k++) {
        const double *col = x + (size_t) n * self->vars[k];
        double sum = 0;
        for (int i = 0; i < n; i++) sum += col[i] / n;
        centre[k] = sum;
    }
    return centre;
}

/* Columns of x become rows of u, a few points at a time, so that both stay in cache. */
sg_points sg_points_scaled(const sg_kernel *self, int n, const double *x, const double *log_ell,
                           int step, const sg_points *like, const sg_ws *ws)
{
    enum { TILE = 16 };
    const int q = self->p;
    sg_points out = sg_points_new(n, q, ws);
    out.centre = like ? like->centre : own_centre(self, n, x, ws);
    double *ell = sg_doubles(ws, q);
    for (int k = 0; k < q; k++) ell[k] = exp(log_ell[k * step]);
    for (int i0 = 0; i0 < n; i0 += TILE) {
        const int end = n - i0 < TILE ? n : i0 + TILE;
        for (int k = 0; k < q; k++) {
            const double *col = x + (size_t) n * self->vars[k];
            for (int i = i0; i < end; i++) {
                out.u[k + (size_t) q * i] = (col[i] - out.centre[k]) / ell[k];
            }
        }
    }
    sg_points_norms(&out, ws);
    return out;
}

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

static double sqdist_direct(const sg_points *a, int i, const sg_points *b, int j)
{
    const double *u = a->u + (size_t) a->q * i, *v = b->u + (size_t) b->q * j;
    double sum = 0;
    for (int k = 0; k < a->q; k++) sum += (u[k] - v[k]) * (u[k] - v[k]);
    return sum;
}

/* Negated, so that Inf - Inf from huge inputs counts as close and is computed from differences. */
int sg_pair_is_close(const sg_points *a, int i, const sg_points *b, int j, double r2)
{
    const double CLOSE = 1e-4;
    return !(r2 >= CLOSE * (a->norm[i] + b->norm[j]));
}

void sg_sqdist(const sg_points *a, const sg_points *b, const sg_block *block, double *r2, int ld)
{
    const int q = a->q;
    sg_gemm('T', 'N', block->ni, block->nj, q, -2, a->u + (size_t) q * block->i0, q,
            b->u + (size_t) q * block->j0, q, 0, r2, ld);
    for (int jj = 0; jj < block->nj; jj++) {
        const int j = block->j0 + jj;
        double *col = r2 + (size_t) ld * jj;
        for (int ii = 0; ii < block->ni; ii++) {
            const int i = block->i0 + ii;
            col[ii] += a->norm[i] + b->norm[j];
            if (sg_pair_is_close(a, i, b, j, col[ii])) col[ii] = sqdist_direct(a, i, b, j);
        }
    }
}
