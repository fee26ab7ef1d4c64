/* glue_fit.h: what the entries for EP of all rows share: the problem in, and the list that a run
 * comes back as. */
#ifndef SG_GLUE_FIT_H
#define SG_GLUE_FIT_H

#include "ep_loop.h"
#include "glue.h"

/* Fields of a run, in the order of their names in glue_fit.c. */
enum {
    OUT_STATUS, OUT_LOGZ, OUT_GRADIENT, OUT_TAU, OUT_NU, OUT_MEAN, OUT_VAR, OUT_CAV_MEAN,
    OUT_CAV_VAR, OUT_LPD, OUT_ALPHA, OUT_G, OUT_H, OUT_ORDER, OUT_STATE, OUT_JITTER, OUT_SWEEPS,
    OUT_CONVERGED, OUT_CHANGE, OUT_DAMPED, OUT_SEQUENTIAL, OUT_SKIPPED, OUT_FLAT, OUT_TRACE,
    OUT_GAMMA, OUT_PRIOR, OUT_WEIGHTS, OUT_SIDE, OUT_TREND,
    OUT_POINTS
};

/* An empty run, to be protected. */
SEXP sg_new_run(void);

/* Sites to start from, list(tau, nu), copied into the run (an argument is never written to); NULL:
 * sites of 0. */
sg_sites sg_sites_in(SEXP out, SEXP start, sg_layout layout);

/* The marginals' arrays that a fit keeps are R vectors of the run; the rest is working memory. */
sg_marginals sg_marginals_in(SEXP out, sg_layout layout);

/* Zeros, for the gradient of all hyperparameters. */
double *sg_gradient_in(SEXP out, const sg_problem *p);

enum { SG_MOST_MIXED = 100 }; /* past sweeps, as MOST_MIXED of method-ep.R */

sg_ep_options sg_ep_options_of(SEXP options);
sg_ep_report sg_new_report(void);
void sg_report_in(SEXP out, sg_status status, const sg_ep_report *report);

/* The variance of u, where marginals are of what a basis carries: adds the diagonals of gamma to
 * var and cav_var (blocks). */
void sg_add_gamma(const sg_rows *rows, sg_marginals *marg);

#endif
