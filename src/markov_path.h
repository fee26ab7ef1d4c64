/* markov_path.h: rows in the order of time, those of equal times as one; a linear mean on it. */
#ifndef SG_MARKOV_PATH_H
#define SG_MARKOV_PATH_H

#include "markov_filter.h"

typedef struct {
    int rows, n;      /* rows; different times */
    double *t;        /* n, increasing */
    int *node;        /* rows: the time of a row, from 0 */
    int *size;        /* n: rows of a time */
} sg_markov_path;

/* order: the rows from 0 in the order of their times t[rows]. */
sg_markov_path sg_markov_path_new(int rows, const double *t, const int *order, const sg_ws *ws);

/* A linear mean of q functions whose coefficients are N(0, 1) a priori (full_trend.h), on a path:
 * the vectors T phi go with nu through the filter, which gives phi'W phi and K W phi. */
typedef struct {
    int q;
    double *phi;  /* q x n */
    double *L;    /* q x q, upper: I + phi'W phi = L'L */
    double *root; /* q x q: L^{-1} */
    double *coef; /* q: E c */
} sg_markov_trend;

/* The same functions at rows, phi[rows x q]; q = 0: the mean is known. */
sg_markov_trend sg_markov_trend_new(const sg_markov_path *path, int q, const double *phi,
                                    const sg_ws *ws);

/* Adds up the sites of each time: tau[n], and the vectors of the filter nu[1 + q x n], of which the
 * first is nu and the others T phi. O(rows + n q). */
void sg_markov_gather(const sg_markov_path *path, const sg_markov_trend *trend, const double *tau,
                      const double *nu, double *tau_of, double *nu_of);

/* L, root and coef from the filter; adds log|L| to *log_det. O(n q^2). */
sg_status sg_markov_trend_solve(const sg_markov_path *path, const sg_markov_trace *trace,
                                const double *tau_of, sg_markov_trend *trend, double *log_det);

/* Turns smoothed moments of the vectors (mean and alpha[1 + q x n], var and share[n]) into those
 * with the mean: the first of each, and u = L^{-T} (phi - K W phi) and alpha_j L^{-1} in the places
 * of the others. alpha may be NULL. O(n q^2). */
void sg_markov_trend_add(const sg_markov_path *path, const sg_markov_trend *trend,
                         const double *tau_of, double *mean, double *alpha, double *var,
                         double *share);

#endif
