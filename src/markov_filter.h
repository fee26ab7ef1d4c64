/* markov_filter.h: the posterior of a Markov process (markov_form.h) given sites at times in order,
 * O(n m^2) time and O(n m) memory where O(n^3) and O(n^2) are full EP's.
 *
 * A site at t is exp(-tau f^2 / 2 + nu f). Forwards (Kalman), with moments m, P of the state before
 * the site and v = h'Ph:
 *   c = 1 + tau v,   e = (nu - tau h'm) / c,
 *   m += P h e,   P -= (tau / c) P h (P h)',   log|I + K T| = sum log |c|.
 * Where tau is negative, the sites so far need not have a posterior, though all of them have one:
 * c < 0, P is indefinite, and later sites mend it. The pivots c / tau of K + T^-1 tell: there is a
 * posterior if and only if as many of them are negative as of the tau (Haynsworth 1968), that is,
 * if c < 0 at as many sites of positive tau as of negative (`turned`).
 * Backwards, r and N are the derivatives in m, and minus twice those in P, of the log density of
 * the sites to come (de Jong 1989), with g = P h / c the gain of the site:
 *   mean = h'm + g'r,   var = v / c - g'N g,   1 - tau var = 1 / c + tau g'N g,
 *   alpha = e - tau g'r,
 *   N = (I - tau g h')' N (I - tau g h') + (tau / c) h h',   r = h e + (I - tau g h')' r
 * and between times r = A'r, N = A'N A. Nothing is inverted: P may be singular, gaps 0 or endless.
 *
 * Several vectors nu may share the precisions tau: all that is of means has `count` of them. */
#ifndef SG_MARKOV_FILTER_H
#define SG_MARKOV_FILTER_H

#include "markov_form.h"

/* Moments of the state at a time, behind sites that are forgotten. */
typedef struct {
    double t;
    const double *m; /* m */
    const double *P; /* m x m */
} sg_markov_start;

/* Sites at n times in order. */
typedef struct {
    int n, count;
    const double *t;   /* n, not decreasing */
    const double *tau; /* n */
    const double *nu;  /* count x n */
    const sg_markov_start *start; /* no later than t[0], of the first vector; NULL: stationary */
} sg_markov_sites;

/* Keeps what the way back needs of each time. */
typedef struct {
    double *h;       /* m x n: the functional of the site, with waves that take long */
    double *Ph;      /* m x n: P h before the site */
    double *v, *c;   /* n */
    double *mu, *e;  /* count x n: h'm before the site; e */
} sg_markov_trace;

/* The state on its way forwards: moments behind the last site. */
typedef struct {
    double *P;  /* m x m */
    double *m;  /* m x count */
    const double *h; /* m: of the last site, in the trace */
    sg_markov_step step;
    int turned; /* sites with c < 0: those of positive tau less those of negative */
} sg_markov_ahead;

/* The state on its way back: derivatives before or behind a site. */
typedef struct {
    double *N; /* m x m */
    double *r; /* m x count */
    double *u; /* m: N g */
    double *g; /* m */
    const double *h; /* m: of the site, in the trace */
    sg_markov_step step;
} sg_markov_back;

sg_markov_trace sg_markov_trace_new(const sg_markov_form *form, int n, int count,
                                    const sg_ws *ws);
sg_markov_ahead sg_markov_ahead_new(const sg_markov_form *form, int count, const sg_ws *ws);
sg_markov_back sg_markov_back_new(const sg_markov_form *form, int count, const sg_ws *ws);

/* Moves the state to the i-th time (0: it begins there, or at the start) and takes its site; writes
 * what the way back needs into place k of the trace. SG_NOT_PD: c is zero to rounding. O(m^2). */
sg_status sg_markov_forward(const sg_markov_form *form, const sg_markov_sites *sites, int i, int k,
                            sg_markov_ahead *ahead, sg_markov_trace *trace);

/* SG_NOT_PD if the sites up to the last have no posterior. */
sg_status sg_markov_ended(const sg_markov_ahead *ahead);

/* All of them; *log_det = log|I + K T| / 2. O(n m^2). */
sg_status sg_markov_filter(const sg_markov_form *form, const sg_markov_sites *sites,
                           sg_markov_trace *trace, double *log_det, const sg_ws *ws);

/* Moves the way back from the time i + 1 to behind the site of time i (i = n - 1: to the end); then
 * h, g and u = N g are those of the site. O(m^2). */
void sg_markov_behind(const sg_markov_form *form, const sg_markov_sites *sites, int i, int k,
                      const sg_markov_trace *trace, sg_markov_back *back);

/* Takes the site of time i: to before it. O(m^2). */
void sg_markov_before(const sg_markov_form *form, const sg_markov_sites *sites, int i, int k,
                      const sg_markov_trace *trace, sg_markov_back *back);

/* Marginals at all times, of count vectors: mean and alpha [count x n], var and share = 1 - tau var
 * [n]. alpha NULL: not wanted. O(n m^2). */
void sg_markov_smooth(const sg_markov_form *form, const sg_markov_sites *sites,
                      const sg_markov_trace *trace, double *mean, double *alpha, double *var,
                      double *share, const sg_ws *ws);

/* x'y of m numbers */
static inline double sg_markov_dot(int m, const double *x, const double *y)
{
    double sum = 0;
    SG_SUM_SIDE_BY_SIDE
    for (int k = 0; k < m; k++) sum += x[k] * y[k];
    return sum;
}

#endif
