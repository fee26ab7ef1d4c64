/* anderson.h: Anderson mixing of a fixed-point iteration x <- g(x).
 *
 * From the last few iterates and residuals f = g(x) - x, the combination whose residual would
 * vanish if g were linear. It turns EP's linear convergence into something close to a Krylov
 * method's at the price of a few vectors. (Walker and Ni, SIAM J. Numer. Anal. 49, 2011.) */
#ifndef SG_ANDERSON_H
#define SG_ANDERSON_H

#include "types.h"

typedef struct {
    int n, depth;     /* length of x; most differences kept */
    int count;        /* differences kept so far, at most depth */
    int at;           /* where the next one goes */
    int have_last;    /* last_x, last_f hold the previous iterate */
    double *last_x, *last_f;
    double *dx, *df;  /* n x depth */
    double *gram, *gamma;
} sg_anderson;

sg_anderson sg_anderson_new(int n, int depth, const sg_ws *ws);

/* Forgets the past, after a step that did not come from here or a change of g. */
void sg_anderson_reset(sg_anderson *a);

/* next[n] from the iterate x[n] and its residual f[n]:
 *   next = x + beta f - (dX + beta dF) gamma,  gamma = argmin |f - dF gamma|
 * beta in (0, 1] is the share of the plain step. O(n depth). */
void sg_anderson_step(sg_anderson *a, const double *x, const double *f, double beta,
                      double *next);

#endif
