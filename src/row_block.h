/* row_block.h: rows that a basis projects, a block of them at a time: the numbers of row_step.h, by
 * matrix products.
 *
 * The m points of a block are seen as V[d x m]. Row by row each is multiplied by the M of its turn
 * and moves M, which is two products of matrix and vector. M has a short history within a block,
 *   M_i = M_0 + sum_{j<i} x_j bend_j x_j',   x_j = M_j V_j,
 * and so the gains of row i and its covariances c with the points of the block are
 *   (x_i; c_i) = (G_i; C_i) + sum_{j<i} (x_j; c_j) bend_j c_ji',   G = M_0 V,  C = V'G,
 *   mean_i = V_i'a_0 + sum_{j<i} c_ji shift_j,
 * where c_ji are the rows of c_j that belong to row i. G, C and the sum for M are level 3; the sum
 * over j is a product with d + m rows and half of m columns. Every row is tilted at its marginal
 * given all rows before it, as one by one: what differs is rounding, for any likelihood. */
#ifndef SG_ROW_BLOCK_H
#define SG_ROW_BLOCK_H

#include "row_step.h"

/* Points of a block: products of so many columns cost a row nearly as little as those of more, and
 * the history is short. */
enum { SG_ROW_BLOCK = 16 };

typedef struct {
    int m, cap, ld;    /* points; room for points; basis.cap + cap */
    double *X;         /* C times ld x cap: (x; c) of the rows taken, (G; C) of those to come */
    double *Y;         /* C times ld x cap: (x; c) bend of the rows taken */
    double *mean;      /* C times cap: V'a_0 */
    double *shift;     /* C times cap, of the rows taken */
    double *coef;      /* cap */
} sg_row_block;

/* Room for blocks of `rows` rows. */
sg_row_block sg_row_block_new(const sg_process *gp, int rows, const sg_ws *ws);

/* Begins a block of m points, V[d x m]. Reads both triangles of M. O(C d^2) a point. */
void sg_row_block_begin(sg_row_block *b, const sg_process *gp, int m, const double *V);

/* Takes the row whose points begin at number `at`, after all before it: its tilt, step and sites.
 * Returns 0 where its tilt has no site, and the row is skipped: its sites are 0.
 * O(C w (d + m) m / 2). */
int sg_row_block_take(sg_row_block *b, const sg_process *gp, const sg_rows *rows, int nonnegative,
                      sg_projection projection, int i, int at, const double *gamma,
                      sg_row_tilt *tilt);

/* Moves M, both triangles, and a by all rows taken. S and t are left to sg_process_absorb().
 * O(C d^2) a point. */
void sg_row_block_end(const sg_row_block *b, sg_process *gp);

#endif
