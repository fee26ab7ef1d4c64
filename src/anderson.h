/* anderson.h: Anderson mixing of a fixed-point iteration x <- g(x).
 *
 * From the last few iterates and residuals f = g(x) - x, the combination whose residual would
 * vanish if g were linear. It turns EP's linear convergence into something close to a Krylov
 * method's at the price of a few vectors. (Walker and Ni, SIAM J. Numer. Anal. 49, 2011.) */
#ifndef SG_ANDERSON_H
#define SG_ANDERSON_H

#include "types.h"

typedef struct {
    size_t n;         /* length of x */
    int depth;        /* most differences of iterates that are mixed */
    int at;           /* place of the present iterate among depth + 1 */
    double *x, *f;    /* n x (depth + 1): iterates and residuals, in turn */
    double *next;     /* n */
    double *gram;     /* (depth + 1)^2: products of differences of residuals, by later place */
    double *A, *gamma; /* the same in order, and what is solved for */
} sg_anderson;

/* 2 n (depth + 1) + n doubles. depth > 0. */
sg_anderson sg_anderson_new(size_t n, int depth, const sg_ws *ws);

/* Returns where to write the present iterate and its residual, n each. */
static inline double *sg_anderson_x(const sg_anderson *a) { return a->x + a->n * a->at; }
static inline double *sg_anderson_f(const sg_anderson *a) { return a->f + a->n * a->at; }

/* gamma = argmin |f - dF gamma| from A = dF'dF[m x m], of which the upper triangle counts and
 * which is overwritten, and gamma = dF'f on entry. Returns 0 when there is no solution. */
int sg_anderson_solve(int m, double *A, double *gamma);

/* The next iterate from the present one and the `past` last ones before it, at most depth and all
 * given by calls in a row,
 *   next = x + beta f - (dX + beta dF) gamma,
 * beta in (0, 1] the length of the step. x and f of the present iterate stay readable until the
 * next call, by the pointers had before this one. O(n depth). */
double *sg_anderson_step(sg_anderson *a, int past, double beta);

#endif
