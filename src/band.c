/* band.c: bands of symmetric matrices (band.h). The innermost loops run down a diagonal, whose
 * entries lie together. Diagonal b holds entries (i, i + b), i < d - b. */
#include "band.h"

/* Returns the diagonal of entries (i, i + b). */
static double *diagonal(sg_band X, int b)
{
    return X.at + (size_t) X.ld * b;
}

/* Lends a band of zeros for matrices of up to cap rows. */
sg_band sg_band_new(int cap, int width, const sg_ws *ws)
{
    const sg_band X = {.ld = cap, .width = width, .at = sg_zeros((size_t) cap * width, ws)};
    return X;
}

/* Adds the band of scale x x'. O(d width). */
void sg_band_add(sg_band X, int d, double scale, const double *x)
{
    for (int b = 0; b < X.width; b++) {
        double *to = diagonal(X, b);
        for (int i = 0; i < d - b; i++) to[i] += scale * (x[i] * x[i + b]);
    }
}

/* Adds the band of scale (x y' + y x'). */
void sg_band_add_pair(sg_band X, int d, double scale, const double *x, const double *y)
{
    for (int b = 0; b < X.width; b++) {
        double *to = diagonal(X, b);
        for (int i = 0; i < d - b; i++) to[i] += scale * (x[i] * y[i + b] + y[i] * x[i + b]);
    }
}

/* Borders by a row and column of zeros. */
void sg_band_border(sg_band X, int d, sg_band to)
{
    for (int b = 0; b < X.width && b <= d; b++) {
        const double *from = diagonal(X, b);
        double *out = diagonal(to, b);
        sg_copy(d - b, from, out);
        out[d - b] = 0;
    }
}

/* Borders and adds scale e e', e = (x; -1), in one pass: the new entries are those of e e'
 * alone. */
void sg_band_grow(sg_band X, int d, double scale, const double *x, sg_band to)
{
    for (int b = 0; b < X.width && b <= d; b++) {
        const double *from = diagonal(X, b);
        double *out = diagonal(to, b);
        for (int i = 0; i < d - b; i++) out[i] = from[i] + scale * (x[i] * x[i + b]);
        out[d - b] = b == 0 ? scale : -scale * x[d - b];
    }
}

/* Takes row and column j out. Of points i < j < i + b + 1 those b + 1 apart are b apart now, so
 * their entries come from the next diagonal; beyond the band they are not known, and 0. O(d
 * width). */
void sg_band_drop(sg_band X, int d, int j)
{
    for (int b = 0; b < X.width; b++) {
        double *to = diagonal(X, b);
        for (int i = j - b < 0 ? 0 : j - b; i < j && i + b < d - 1; i++) {
            to[i] = b + 1 < X.width ? diagonal(X, b + 1)[i] : 0;
        }
        for (int i = j; i < d - 1 - b; i++) to[i] = to[i + 1];
    }
}

/* Reads a block of m points off the diagonals: m is at most the band's width. */
void sg_band_block(sg_band X, int i, int m, double *out)
{
    for (int k = 0; k < m; k++) {
        for (int l = 0; l <= k; l++) out[l + m * k] = out[k + m * l] = diagonal(X, k - l)[i + l];
    }
}

/* Computes the band of A B' of upper triangular A and B: (A B')_(i, i + b) = sum_j A_ij B_(i + b,
 * j), in which j >= i + b. O(d^2 width / 2). */
void sg_band_product(sg_band X, int d, const double *A, const double *B)
{
    for (int b = 0; b < X.width && b < d; b++) {
        double *to = diagonal(X, b);
        sg_zero(d - b, to);
        for (int j = b; j < d; j++) {
            const double *p = A + (size_t) d * j, *q = B + (size_t) d * j + b;
            for (int i = 0; i <= j - b; i++) to[i] += p[i] * q[i];
        }
    }
}
