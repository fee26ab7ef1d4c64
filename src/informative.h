/* informative.h: the rows that leave the least variance of points given them (forward selection).
 *
 * Rows of which one nearly has the value of another tell little, so the nearest ones of a point are
 * of little use where rows lie in clusters or twins: each row that is chosen takes off the most of
 * the variance that those before it leave. */
#ifndef SG_INFORMATIVE_H
#define SG_INFORMATIVE_H

#include "vecchia.h"

/* chosen[k x m]: the rows of each point, among the candidates `points->rows` (r x m), of which all
 * are taken if there are no more than k; -1: there is none, or it is known by those before it.
 * points->s is 0; with directions it is the sum of the proportions of the value's and of the
 * derivative's variance that counts. Of rows that take off as much the first counts.
 * O(m k r (k + D)) over threads. */
sg_status sg_informative_rows(const sg_vecchia *rows, const sg_vecchia_points *points, int k,
                              int *chosen, const sg_ws *ws);

#endif
