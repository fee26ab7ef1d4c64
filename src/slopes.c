/* slopes.c: moments of latent functions with their derivatives (slopes.h). Rows go one block after
 * the other on the calling thread: slopes are asked for at few rows. */
#include <float.h>
#include <Rmath.h>
#include "chol.h"
#include "la.h"
#include "slopes.h"

enum { BLOCK = 256 }; /* rows whose kernel with the basis is in memory */

/* Lends a jet of n x m. */
static sg_jet new_jet(int n, int m, int mixed, const sg_ws *ws)
{
    const size_t size = (size_t) n * m;
    const sg_jet jet = {sg_doubles(ws, size), sg_doubles(ws, size),
                        mixed ? sg_doubles(ws, size) : NULL, mixed ? sg_doubles(ws, size) : NULL};
    return jet;
}

/* Writes R[2 w m x d]: of each row the kernel of its w points with the basis, then the derivatives.
 * With m = 1 and w = n all values stand before all derivatives. */
static void kernel_rows(const sg_posterior *post, int w, int m, const double *x, const double *v,
                        double *R, const sg_ws *ws)
{
    const int points = w * m;
    const sg_jet jet = new_jet(points, post->d, 0, ws);
    sg_kernel_jet(post->kernel, points, x, v, post->d, post->basis, NULL, &jet, ws);
    for (int j = 0; j < post->d; j++) {
        for (int i = 0; i < m; i++, R += 2 * w) {
            const size_t at = (size_t) points * j + (size_t) w * i;
            sg_copy(w, jet.K + at, R);
            sg_copy(w, jet.dx + at, R + w);
        }
    }
}

/* Writes P[2 w x 2 w], the prior covariance of w points and their derivatives. */
static void prior_block(const sg_kernel *kernel, int w, const double *x, const double *v, double *P,
                        const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    const sg_jet jet = new_jet(w, w, 1, ws);
    const size_t half = (size_t) 2 * w * w;
    sg_kernel_jet(kernel, w, x, v, w, x, v, &jet, ws);
    sg_copy_columns(w, w, jet.K, w, P, 2 * w);
    sg_copy_columns(w, w, jet.dx, w, P + w, 2 * w);
    sg_copy_columns(w, w, jet.dz, w, P + half, 2 * w);
    sg_copy_columns(w, w, jet.dxdz, w, P + half + w, 2 * w);
    sg_release(ws, mark);
}

/* Adds sign X X' to m blocks of p x p, X[p m x d]. A variance stays above rounding, as 0 would
 * claim certainty: |X|^2 is known to about d rounding units of what it is taken off. */
static void add_blocks(int p, int m, int d, double sign, const double *X, double *var,
                       const sg_ws *ws)
{
    const size_t size = (size_t) m * p * p;
    double *squares = sg_doubles(ws, size);
    sg_block_squares(p, m, d, X, squares);
    for (size_t i = 0; i < size; i++) {
        const int own = i % ((size_t) p * p) % (p + 1) == 0;
        const double floor = own && sign < 0 ? d * DBL_EPSILON * var[i] : -INFINITY;
        var[i] = fmax2(var[i] + sign * squares[i], floor);
    }
}

/* Adds the posterior of process c to mean[p m] and var, m blocks of p x p that hold the prior. */
static void add_known(const sg_posterior *post, int c, int p, size_t from, int m, size_t all,
                      const double *R, double *mean, double *var, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    const int d = post->d, points = p * m;
    const size_t dd = (size_t) d * d, size = (size_t) points * d;
    const double *G = post->G ? post->G + (post->shared ? 0 : dd * c) : NULL;
    const double *H = post->H ? post->H + (post->alike ? 0 : dd * c) : NULL;
    const double *factors[2] = {G, H}, signs[2] = {-1, 1};
    double *work = sg_doubles(ws, size);
    sg_gemv('N', points, d, 1, R, points, post->alpha + (size_t) d * c, 0, mean);
    for (int f = 0; f < 2; f++) {
        if (!factors[f]) continue;
        sg_copy(size, R, work);
        sg_trmm('R', 'N', points, d, factors[f], work);
        add_blocks(p, m, d, signs[f], work, var, ws);
    }
    if (post->trend.q) {
        const double *u = sg_trend_residuals(post, c, from, points, all, R, mean, ws);
        add_blocks(p, m, post->trend.q, 1, u, var, ws);
    }
    sg_release(ws, mark);
}

/* Does rows from .. from + m - 1 of all processes. */
static void rows_block(const sg_posterior *post, int n, int D, int from, int m, const double *x,
                       const double *v, double *mean, double *var, const sg_ws *ws)
{
    const int w = post->w, p = 2 * w, points = w * m;
    const size_t own = (size_t) w * D, all = (size_t) w * n, pp = (size_t) p * p;
    double *at = sg_doubles(ws, own * m), *along = sg_doubles(ws, own * m);
    double *x1 = sg_doubles(ws, own), *v1 = sg_doubles(ws, own);
    double *R = sg_doubles(ws, (size_t) p * m * post->d), *prior = sg_doubles(ws, pp * m);
    sg_copy_columns(points, D, x + (size_t) w * from, all, at, points);
    sg_copy_columns(points, D, v + (size_t) w * from, all, along, points);
    kernel_rows(post, w, m, at, along, R, ws);
    for (int i = 0; i < m; i++) {
        sg_copy_columns(w, D, at + (size_t) w * i, points, x1, w);
        sg_copy_columns(w, D, along + (size_t) w * i, points, v1, w);
        prior_block(post->kernel, w, x1, v1, prior + pp * i, ws);
    }
    for (int c = 0; c < post->C; c++) {
        const size_t row = from + (size_t) n * c;
        sg_copy(pp * m, prior, var + pp * row);
        add_known(post, c, p, (size_t) p * from, m, (size_t) p * n, R, mean + p * row,
                  var + pp * row, ws);
    }
}

/* Goes block after block and gives memory back. O(C n w d^2). */
void sg_slopes_rows(const sg_posterior *post, int n, int D, const double *x, const double *v,
                    double *mean, double *var, const sg_ws *ws)
{
    for (int from = 0; from < n; from += BLOCK) {
        void *mark = sg_mark(ws);
        const int m = n - from < BLOCK ? n - from : BLOCK;
        rows_block(post, n, D, from, m, x, v, mean, var, ws);
        sg_release(ws, mark);
        sg_tick(ws);
    }
}

/* Treats all points as one row. O(n^2 d + n d^2). */
void sg_slopes_joint(const sg_posterior *post, int n, const double *x, const double *v,
                     double *mean, double *cov, const sg_ws *ws)
{
    const int p = 2 * n;
    if (n == 0) return;
    double *R = sg_doubles(ws, (size_t) p * post->d);
    kernel_rows(post, n, 1, x, v, R, ws);
    prior_block(post->kernel, n, x, v, cov, ws);
    sg_posterior_condition(post, p, R, mean, cov, ws);
}
