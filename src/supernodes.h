/* supernodes.h: a sparse Cholesky factor P A P' = L L' in supernodes, as CHOLMOD has it, and what
 * is read off it. The factorisation itself is the host's.
 *
 * Supernode j has the columns super[j] .. super[j + 1] - 1 of L and the rows s[pi[j]] ..
 * s[pi[j + 1] - 1], in increasing order, its columns first; its numbers are a dense matrix, column
 * by column, from px[j] on. Row and column p of P A P' are row perm[p] of A. */
#ifndef SG_SUPERNODES_H
#define SG_SUPERNODES_H

#include "types.h"

typedef struct {
    int n, count;      /* rows; supernodes */
    const int *super;  /* count + 1 */
    const int *pi, *px, *s;
    const int *perm;   /* n */
    int *place;        /* n: the row of L that a row of A is */
    int *node;         /* n: the supernode of a column of L */
    int most;          /* rows of a supernode, at most */
    const double *x;   /* the numbers of L */
} sg_supernodes;

/* Fills in place, node and most. */
void sg_supernodes_look(sg_supernodes *L, const sg_ws *ws);

/* Returns log|A| / 2, and NaN if a pivot is not positive. */
double sg_supernodes_log_det(const sg_supernodes *L);

/* x = A^{-1} b, both in the order of A. O(numbers of L) */
void sg_supernodes_solve(const sg_supernodes *L, const double *b, double *x, const sg_ws *ws);

/* Z, of the size of L's numbers: the elements of P A^{-1} P' that L has a place for, lower triangle
 * (Takahashi 1973). About twice the work of the factorisation, by matrix products. */
sg_status sg_supernodes_inverse(const sg_supernodes *L, double *Z, const sg_ws *ws);

/* Returns element (i, j) of A^{-1} from Z, NaN if L has no place for it. */
double sg_supernodes_element(const sg_supernodes *L, const double *Z, int i, int j);

/* out[w x w x m] = B_k' A^{-1} B_k of sparse B_k, w columns of r numbers each at rows row[r x m] of
 * A, from 0, -1: none; weights[r x w x m]. Only supernodes on the way from these rows to the root
 * are gone through. Over threads. */
sg_status sg_supernodes_squares(const sg_supernodes *L, int m, int r, int w, const int *row,
                                const double *weights, double *out, const sg_ws *ws);

/* Sparse columns B, m of r numbers each as above, and the supernodes on the ways from their rows to
 * the root: columns which[start[j]] .. pass supernode j, and their numbers of L^{-1} P B begin at
 * from[j]. */
typedef struct {
    int m, r;
    const int *row;        /* r x m */
    const double *weights; /* r x m */
    size_t *start, *from;  /* count + 1 */
    int *which;
} sg_sparse_columns;

/* Fills in start, from and which: from[count] numbers are taken by what follows, beside those of
 * one supernode. */
void sg_supernodes_follow(const sg_supernodes *L, sg_sparse_columns *B, const sg_ws *ws);

/* out[m x m] = B'A^{-1}B, by matrix products in supernodes. */
void sg_supernodes_products(const sg_supernodes *L, const sg_sparse_columns *B, double *out,
                            const sg_ws *ws);

#endif
