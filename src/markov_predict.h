/* markov_predict.h: posterior moments of a Markov process and of its derivative at any times, from
 * the sites alone.
 *
 * Points take their places among the rows, as rows without a site, and a functional b's (f, f', or
 * those of some terms) of the state behind a point's time has
 *   mean = b'm + (P b)'r,   cov(b, d) = w'z,   w = P b,   z = d - N P d,
 * with m, P, r, N behind the sites of that time. From time to time w goes forwards by
 *   w = (I - (tau / c) P h h') A w,
 * so the covariances of far points are products of few matrices, one for each pair of points that
 * are neighbours. */
#ifndef SG_MARKOV_PREDICT_H
#define SG_MARKOV_PREDICT_H

#include "markov_path.h"

typedef struct {
    const sg_markov_form *form;
    const sg_markov_path *path;    /* of rows, and of points after them */
    const sg_markov_trend *trend;  /* its phi at all times; q = 0: the mean is known */
    const double *tau, *nu;        /* rows and points: 0 at points */
    const sg_markov_start *start;  /* no later than rows and points; NULL: there is none */
    int rows, points;
    int slopes;                    /* have points a derivative besides, after the value? */
    const double *along;           /* points: by which their derivatives are multiplied */
    const double *phi_slope;       /* points x q: derivatives of the mean's functions */
    const int *terms;              /* of the form, that values are of; NULL: all, and the mean */
} sg_markov_query;

/* mean and var of the values of all points or, with slopes, mean[2 x points] and var[4 x points],
 * blocks of value and derivative. O((n + points) m^2). */
sg_status sg_markov_moments(const sg_markov_query *query, double *mean, double *var,
                            const sg_ws *ws);

/* mean[F] and the joint covariance cov[F x F] of all F = points, or 2 points, functionals, those of
 * a point together. O(n m^3 + points^2 m^2). */
sg_status sg_markov_joint(const sg_markov_query *query, double *mean, double *cov,
                          const sg_ws *ws);

/* Moments m[m] and P[m x m] of the state behind the sites of the last time. There is no linear
 * mean. SG_NOT_PD: these sites have no posterior without later ones. O(n m^2). */
sg_status sg_markov_end(const sg_markov_query *query, double *m, double *P, const sg_ws *ws);

#endif
