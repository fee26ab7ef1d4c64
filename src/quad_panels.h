/* quad_panels.h: integrals of many rows at once (quad_rows.h), of rows that equidistant nodes are
 * not enough for: a corner, a jump to 0, a peak much narrower than the rest. Jumps are found by
 * bisection and the peak by golden section; panels between these are bisected until Gauss-Kronrod
 * 7-15 agrees with itself. g(t) is the logarithm of the integrand without the constant of the
 * normal density. */
#ifndef SG_QUAD_PANELS_H
#define SG_QUAD_PANELS_H

#include "quad_rows.h"

enum { SG_LOOK_NODES = 65, SG_PLACES = 65 + 40 + 85 };

/* A look at a row: g at equidistant nodes, from + step k, and its largest value; good: these
 * suffice; jumps: g is -Inf at some. The next look, if there is one, begins at next_from. */
typedef struct {
    int row, nodes, good, jumps;
    double from, step, next_from, next_step, top, g[SG_LOOK_NODES], *extra;
} sg_look;

/* A row that no look is good for: g at sorted places, the best of which is highest; edge[k]: where
 * it jumps to 0 between places k and k + 1, NaN if it does not; a bracket of its peak, and g there.
 * Then its panels: how many, the largest g, and integrals of 1, x and x^2, x = t - peak, relative
 * to exp(top); open: some of them are new. */
typedef struct {
    int row, jumps, places, best, panels, open;
    double t[SG_PLACES], g[SG_PLACES], edge[SG_PLACES], longest;
    double low, high, peak, at_peak, top, total[3];
} sg_search;

/* A stretch of a row with g at its Gauss-Kronrod nodes, and relative to exp(top) its integrals of
 * 1, x and x^2 and how far the two rules are apart in these. */
typedef struct {
    int of; /* number of the search */
    double a, b, top, whole[3], error[3], g[15], *extra;
} sg_panel;

/* The panels of all rows; fresh: those that have no g yet. */
typedef struct {
    const sg_row_integrands *in;
    const sg_ws *ws;
    sg_search *all;
    sg_panel *panels;
    int n, count, size, *fresh, nfresh;
} sg_panels;

/* Asks for g at m points. */
void sg_ask_rows(const sg_row_integrands *in, int m, const int *row, const double *t, double *g,
                 double *extra);

/* Integrates the rows whose looks are not good. */
sg_panels sg_panels_of(const sg_row_integrands *in, int n, const sg_look *looks, const sg_ws *ws);

#endif
