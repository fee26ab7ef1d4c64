/* band.h: the entries near the diagonal of a symmetric matrix that grows and shrinks by points and
 * gains squares.
 *
 * Entry (i, i + b), 0 <= b < width, stands at at[i + ld b]; with width 1 a band is the diagonal.
 * Points of a basis that joined together stand together, at most `width` of them, so a band has
 * the block of each such group. Other entries of a band mean nothing once a point between their
 * two has left. */
#ifndef SG_BAND_H
#define SG_BAND_H

#include "types.h"

typedef struct {
    int ld, width;
    double *at;
} sg_band;

/* Zeros, room for cap points. */
sg_band sg_band_new(int cap, int width, const sg_ws *ws);

/* X += scale x x', x[d]. O(d width), as all below. */
void sg_band_add(sg_band X, int d, double scale, const double *x);

/* X += scale (x y' + y x'), x[d], y[d]. */
void sg_band_add_pair(sg_band X, int d, double scale, const double *x, const double *y);

/* to = X with a point d more, whose row and column are 0; to[d + 1] may be X. */
void sg_band_border(sg_band X, int d, sg_band to);

/* to = the same + scale (x; -1)(x; -1)', x[d]. */
void sg_band_grow(sg_band X, int d, double scale, const double *x, sg_band to);

/* Point j of d leaves. */
void sg_band_drop(sg_band X, int d, int j);

/* out[m x m]: the block of points i .. i + m - 1, m <= width. */
void sg_band_block(sg_band X, int i, int m, double *out);

/* X = the band of A B', B[d x d] upper triangular, A[d x d]. O(d^2 width). */
void sg_band_product(sg_band X, int d, const double *A, const double *B);

#endif
