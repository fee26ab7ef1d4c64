/* points.h: inputs as one kernel sees them, prepared once for any number of matrices.
 *
 * A kernel's matrix between two sets comes from features u of each point: inputs shifted and
 * divided by their lengthscales, or embedded, or weighted. They cost O(n q), as much as a column of
 * the matrix, so who needs column after column between the same points prepares them once. */
#ifndef SG_POINTS_H
#define SG_POINTS_H

#include "types.h"

typedef struct sg_points sg_points;

struct sg_points {
    int n, q;
    double *u;            /* q x n: the features of a point lie together */
    double *norm;         /* n: |u_i|^2; NULL for kernels that need no distances */
    const double *centre; /* what was taken off each input; NULL: nothing */
    int nparts;
    sg_points *part;      /* of a composite: the same points as each child sees them */
};

/* n points of q features to be filled in; no norms, no parts. */
sg_points sg_points_new(int n, int q, const sg_ws *ws);

/* Room for the parts of a composite, to be filled in. */
sg_points *sg_points_array(int count, const sg_ws *ws);

/* Adds the norms. O(n q). */
void sg_points_norms(sg_points *points, const sg_ws *ws);

/* A copy of m of the points, of all parts too: row[] numbers them from 0. O(m q). */
sg_points sg_points_rows(const sg_points *points, int m, const int *row, const sg_ws *ws);

/* Leaves the points whose kept[i] is not 0, moved together in place. O(n q). */
void sg_points_keep(sg_points *points, const int *kept);

#endif
