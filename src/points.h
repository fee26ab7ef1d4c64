/* points.h: inputs as one kernel sees them, prepared once for any number of matrices.
 *
 * A kernel's matrix between two sets comes from features u of each point: inputs shifted and
 * divided by their lengthscales, or embedded, or weighted. They cost O(n q), as much as a column of
 * the matrix, so who needs column after column between the same points prepares them once.
 *
 * A factor is no feature: its points carry the numbers of their levels, which are compared. With an
 * indicator for each level, times (weight / 2)^1/2, two points are at squared distance
 *   sum_k weight_k [levels differ],
 * and their inner product is sum_k weight_k / 2 [levels agree]. */
#ifndef SG_POINTS_H
#define SG_POINTS_H

#include "types.h"

typedef struct sg_points sg_points;

struct sg_points {
    int n, q;
    double *u;            /* q x n: the features of a point lie together */
    double *norm;         /* n: |u_i|^2; NULL for kernels that need no distances */
    int nlevel;           /* number of factors */
    int ld;               /* as many points as there is room for */
    double *level;        /* ld x nlevel: their levels, those of a factor together */
    const double *weight; /* nlevel */
    const double *centre; /* what was taken off each input; NULL: nothing */
    int nparts;
    sg_points *part;      /* of a composite: the same points as each child sees them */
};

/* n points of q features to be filled in; no norms, no parts. */
sg_points sg_points_new(int n, int q, const sg_ws *ws);

/* n points whose features are the inputs vars[q], columns of x, as they are. O(n q). */
sg_points sg_points_of_inputs(int n, const double *x, int q, const int *vars, const sg_ws *ws);

/* Adds nlevel factors, their levels and weights to be filled in; returns the weights. */
double *sg_points_factors(sg_points *points, int nlevel, const sg_ws *ws);

/* Fills in the levels of factor f: x[n] has their numbers. */
void sg_points_levels(sg_points *points, int f, const double *x);

/* out[to - from] += sum_k weight_k [levels of point i of a and j of b differ], i = from .. to-1;
 * or sum_k weight_k / 2 [they agree]. O((to - from) nlevel). */
void sg_add_differing(const sg_points *a, int from, int to, const sg_points *b, int j, double *out);
void sg_add_agreeing(const sg_points *a, int from, int to, const sg_points *b, int j, double *out);

/* Returns weight_k sum_i w_i [levels of factor k of point i of a and j of b differ]; or
 * weight_k / 2 sum_i w_i [they agree]. */
double sg_sum_differing(const sg_points *a, int k, int from, int to, const sg_points *b, int j,
                        const double *w);
double sg_sum_agreeing(const sg_points *a, int k, const sg_points *b, int j, const double *w);

/* Room for the parts of a composite, to be filled in. */
sg_points *sg_points_array(int count, const sg_ws *ws);

/* Adds the norms. O(n q). */
void sg_points_norms(sg_points *points, const sg_ws *ws);

/* A copy of m of the points, of all parts too: row[] numbers them from 0. O(m q). */
sg_points sg_points_rows(const sg_points *points, int m, const int *row, const sg_ws *ws);

/* Leaves the points whose kept[i] is not 0, moved together in place. O(n q). */
void sg_points_keep(sg_points *points, const int *kept);

#endif
