/* dist.h: squared distances between two sets of scaled inputs, by dgemm, block by block. */
#ifndef SG_DIST_H
#define SG_DIST_H

#include "kernel.h"

/* Points as a kernel sees them: x[n x q], its own columns divided by their lengthscales, and
 * norm[i] = |x_i|^2. */
typedef struct {
    int n, q;
    double *x, *norm;
} sg_points;

/* Two sets prepared together: both are shifted by the column means of z, which leaves distances
 * alone and makes their computation from inner products lose fewer digits. */
typedef struct {
    sg_points a, b;
    int symmetric; /* x and z were the same pointer */
} sg_pairs;

/* A block of columns of the n x m matrix of pairs: rows i0..i0+ni-1, columns j0..j0+nj-1. */
typedef struct {
    int i0, ni, j0, nj;
} sg_block;

/* Columns self->vars of x and z divided by exp(log_ell[k * step]), step 0 (one lengthscale) or
 * 1. */
void sg_pairs_scaled(const sg_kernel *self, int n, const double *x, int m, const double *z,
                     const double *log_ell, int step, sg_pairs *pairs, const sg_ws *ws);

/* From points the caller filled (x[n x q]); adds the norms. */
void sg_points_norms(sg_points *pts);

/* The blocks of `pairs` in order: call with *block zeroed until it returns 0. In the symmetric
 * case a block starts at its diagonal row: the part above is never visited. */
int sg_next_block(const sg_pairs *pairs, sg_block *block);

/* r2[ni x nj], leading dimension ld: squared distances of one block. O(ni nj q). Pairs so close
 * that |a|^2 + |b|^2 - 2 a'b would lose more than four digits are computed from differences. */
void sg_sqdist(const sg_pairs *pairs, const sg_block *block, double *r2, int ld);

/* Is the pair (row i of a, row j of b) at squared distance r2 so close that sums of its inner
 * products say little about its differences? */
int sg_pair_is_close(const sg_pairs *pairs, int i, int j, double r2);

/* widest block sg_next_block() makes */
enum { SG_BLOCK = 128 };

#endif
