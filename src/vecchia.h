/* vecchia.h: a Gaussian process by conditional distributions given few neighbours (Vecchia 1988).
 *
 * Of a point i and the points N that it is given, with K their kernel matrix and r the variances of
 * the noise of those that are known with noise, C = K_NN + diag(r):
 *   b_i = C^{-1} k_Ni,   d_i = k_ii - k_Ni' b_i.
 * A point that is known without noise counts with SG_VECCHIA_JITTER of its variance as noise, as do
 * rows with less noise in weights, so that points that nearly coincide leave a factor. */
#ifndef SG_VECCHIA_H
#define SG_VECCHIA_H

#include "kernel.h"

/* The rows that points are given. */
typedef struct {
    const sg_kernel *kernel;
    int n, D;
    const double *x;     /* n x D */
    const double *noise; /* n; NULL: their values are known */
} sg_vecchia;

/* Points, each given `r` rows and `s` of the points before it: values, w = 1, or with directions v
 * values and derivatives along them, w = 2. */
typedef struct {
    int m, r, s;
    const double *x, *v; /* m x D; v may be NULL */
    const int *rows;     /* r x m, from 0; -1: there is none */
    const int *points;   /* s x m */
} sg_vecchia_points;

/* Copies point i of x[n x D] to point k of out[p x D]. */
void sg_take_point(int D, const double *x, int n, int i, double *out, int p, int k);

/* weights[r + w s, w, m]: b of each value, 0 where there is no row or point; a point's value stands
 * before its derivative. root[w x w x m]: upper factors of d. SG_NOT_PD: a kernel matrix has no
 * factor, not even with more jitter. O(m (r + w s)^3 / 3) over threads. */
sg_status sg_vecchia_weights(const sg_vecchia *rows, const sg_vecchia_points *points,
                             double *weights, double *root, const sg_ws *ws);

/* Conditional densities of vectors z[n x columns] known with noise at rows `row[m]`, each given
 * near[k x m] others: with e = z_i - b_i'z_N and v = d_i + r_i, logv[m] = log v and
 * scaled[columns x m] = e / sqrt(v). near: from 0, -1: there is none.
 * gradient[ntheta + 1], or NULL: adds the derivatives of
 *   -sum_i (log v_i + sum_j e_ij^2 / v_i) / 2
 * in the kernel's hyperparameters and in a factor of all r. O(m k^3 / 3) over threads. */
typedef struct {
    int m, k, columns;
    const int *row, *near;
    const double *z;
} sg_vecchia_responses;

sg_status sg_vecchia_densities(const sg_vecchia *rows, const sg_vecchia_responses *given,
                               double *logv, double *scaled, double *gradient, const sg_ws *ws);

/* Adds to gradient[ntheta] that of sum_i [-log d_i / 2 - M_i . (c_i c_i') / (2 d_i)] in the
 * kernel's hyperparameters, c_i = (-b_i, 1), of a prior whose row i is given near[k x n] others.
 * M: of each row the second moments of its neighbours and itself, (k + 1) x (k + 1) x n; of missing
 * neighbours they are not read. least: d_i is no smaller share of the row's variance than this. */
sg_status sg_vecchia_prior_gradient(const sg_vecchia *rows, int k, const int *near, const double *M,
                                    double least, double *gradient, const sg_ws *ws);

#endif
