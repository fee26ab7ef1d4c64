/* neighbours.h: points of few dimensions by a k-d tree: an order in which each point is as far as
 * can be from those before it (maximin; Guinness 2018), and nearest neighbours.
 *
 * u[D x n] has the numbers of a point together. Distances are computed from differences, so they do
 * not depend on the order of the points; of points that are equally far the first one counts. */
#ifndef SG_NEIGHBOURS_H
#define SG_NEIGHBOURS_H

#include "types.h"

typedef struct {
    int n, D, depth;
    const double *u;
    int *point;  /* n: the points in the order of the leaves */
    double *box; /* 2 D for each node: least and largest numbers of its points */
} sg_tree;

/* Memory: n / 2 + D n / 2 numbers. O(D n log n) */
sg_tree sg_tree_new(int n, int D, const double *u, const sg_ws *ws);

/* Writes the maximin order: order[0] is the point nearest to the mean, order[q] the one that is
 * farthest from the nearest of those before it. O(n log n) with a factor that grows with D. */
void sg_maximin_order(const sg_tree *tree, int *order, const sg_ws *ws);

/* near[k x n]: of each point the k nearest of those before it in `order`, the nearest first; -1
 * where there are fewer. O(n (k + log n)) over threads. */
sg_status sg_nearest_before(const sg_tree *tree, const int *order, int k, int *near,
                            const sg_ws *ws);

/* Points u[D x n] with an order of them. */
typedef struct {
    int n, D;
    const double *u;
    const int *order;
} sg_points_in_order;

/* near[k levels x m]: of each of v[D x m], for each level l, the k nearest of the first `prefix[l]`
 * points of their order, prefix falling: near points, and farther ones on all sides of a maximin
 * order. A point stands in the last of its levels; -1: there is none. Each level has a tree. */
sg_status sg_nearest_levels(const sg_points_in_order *points, int levels, const int *prefix,
                            int m, const double *v, int k, int *near, const sg_ws *ws);

#endif
