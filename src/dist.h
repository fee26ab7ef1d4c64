/* dist.h: squared distances between two sets of points, by dgemm, block by block. */
#ifndef SG_DIST_H
#define SG_DIST_H

#include "kernel.h"

/* Columns self->vars of x that are numbers, less their centre, divided by exp(log_ell[k * step]),
 * step 0 (one lengthscale) or 1; with norms. The centre is that of `like`, or with like NULL the
 * points' own mean: a shift leaves distances alone and lets inner products give them with fewer
 * digits lost. Factors have weights levels[k] / exp(log_ell[k * step])^2. O(n p). */
sg_points sg_points_scaled(const sg_kernel *self, int n, const double *x, const double *log_ell,
                           int step, const sg_points *like, const sg_ws *ws);

/* A block of columns of an n x m matrix of pairs: rows i0..i0+ni-1, columns j0..j0+nj-1. */
typedef struct {
    int i0, ni, j0, nj;
} sg_block;

/* The blocks of an n x m matrix in order: call with *block zeroed until it returns 0. Of a
 * symmetric matrix a block starts at its diagonal row: the part above is never visited. */
int sg_next_block(int n, int m, int symmetric, sg_block *block);

/* Turns column jj of a block, squared distances r2[block->ni], into the kernel's column, in place
 * or elsewhere. Columns go to several threads: a map writes only what belongs to its column. */
typedef void (*sg_distance_map)(void *ctx, const sg_block *block, int jj, double *r2);

/* r2[ni x nj], leading dimension ld: squared distances of one block between a and b, both with
 * norms, and the map of each column of them. O(ni nj q). Pairs so close that |a|^2 + |b|^2 - 2 a'b
 * would lose more than four digits are computed from differences. */
void sg_sqdist(const sg_points *a, const sg_points *b, const sg_block *block, sg_distance_map map,
               void *ctx, double *r2, int ld, const sg_ws *ws);

/* Is the pair (point i of a, point j of b) at squared distance r2 so close that sums of its inner
 * products say little about its differences? */
int sg_pair_is_close(const sg_points *a, int i, const sg_points *b, int j, double r2);

/* Directions v[n x D] at points, divided by the length scales without the shift that points have:
 * q x n, those of a point together. O(n p). */
double *sg_directions_scaled(const sg_kernel *self, int n, const double *v, const double *log_ell,
                             int step, const sg_ws *ws);

/* Products of the difference delta of two points with their directions, n of each: delta'delta,
 * delta'v, delta'w and v'w. */
typedef struct {
    double *r2, *dv, *dw, *vw;
} sg_pair_products;

/* Computes them between all points of a, of directions v, and point j of b, of directions w (NULL:
 * it has none, and dw and vw are 0). Factors add to r2 alone. O(n q). */
void sg_multiply_pairs(const sg_points *a, const double *v, const sg_points *b, const double *w,
                       int j, const sg_pair_products *out);

/* widest block sg_next_block() makes */
enum { SG_BLOCK = 128 };

#endif
