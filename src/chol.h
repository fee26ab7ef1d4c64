/* chol.h: the one dense matrix EP factors, and what is read off its factor. */
#ifndef SG_CHOL_H
#define SG_CHOL_H

#include "la.h"

/* A = chol(I + T^1/2 K T^1/2), upper: A'A is that matrix (formulas 74; its eigenvalues are >= 1,
 * so K needs neither an inverse nor jitter). With sites of negative precision, which stand last, it
 * is A'SA = S + |T|^1/2 K |T|^1/2, S = diag(1 .. 1, -1 .. -1), and log|I + T K| = 2 log|A| as ever.
 * The first m of the n sites have no negative precision; order[n]: which rows of K the sites belong
 * to, NULL: as they stand. K[n x n], rt[n] = sqrt|tau| as the sites stand, A[n x n] written; its
 * strict lower triangle is zero under the last n - m columns and else undefined. SG_NOT_PD: with
 * these sites K^{-1} + T is not positive definite. O(n^3/3). */
sg_status sg_chol_sites(int n, int m, const int *order, const double *K, const double *rt,
                        double *A);

/* U'U loses row and column k: columns k .. d - 2 of its factor go to out, which may be U and has
 * the same leading dimension. What the factor is multiplied with turns along by sg_rotate() of
 * coordinates (j, j + 1), j = k .. d - 2, with cos[j], sin[j]. O((d - k)^2). */
void sg_chol_drop(int d, int k, const double *U, int ldu, double *out, double *cos, double *sin);

static inline void sg_rotate(double cos, double sin, double *x, double *y)
{
    const double turned = cos * *x + sin * *y;
    *y = cos * *y - sin * *x;
    *x = turned;
}

/* zeros below the diagonal of U[n x n] */
void sg_clear_below(int n, double *U);

/* out[n x n] = U of leading dimension ldu, or U^{-1}, upper with zeros below. O(n^2), O(n^3 / 3) */
void sg_copy_upper(int n, const double *U, int ldu, double *out);
sg_status sg_inverse_upper(int n, const double *U, int ldu, double *out);

/* sum of the logarithms of the diagonal of U[n x n] */
double sg_log_diag(int n, const double *U);

/* out[i] = sum_j U[i,j]^2, rows of an upper triangular U[n x n]: the diagonal of U U' */
void sg_row_norms(int n, const double *U, double *out);

/* out[j] = sum_i U[i,j]^2, columns of an upper triangular U[n x n]: the diagonal of U'U */
void sg_col_squares(int n, const double *U, int ldu, double *out);

/* out[i] = sum_j X[i,j]^2, rows of any X[n x d] */
void sg_row_squares(int n, int d, const double *X, double *out);

/* out: blocks X_i X_i' of w x w, of m rows of w each of X[w m x d]; w = 1: sg_row_squares() */
void sg_block_squares(int w, int m, int d, const double *X, double *out);

#endif
