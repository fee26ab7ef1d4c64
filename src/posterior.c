#include <Rmath.h>
#include "chol.h"
#include "posterior.h"

/* work[m x d] = Kx U; then sums[i] = sum_j work[i,j]^2 */
static void factor_norms(int m, int d, const double *Kx, const double *U, double *work,
                         double *sums)
{
    const size_t size = (size_t) m * d;
    for (size_t i = 0; i < size; i++) work[i] = Kx[i];
    sg_trmm('R', 'N', m, d, U, work);
    sg_row_squares(m, d, work, sums);
}

/* Moments of a block of m rows into rows from .. of mean[n x C], var[n x C]. */
static void predict_block(const sg_posterior *post, int n, int from, int m, const double *x,
                          double *mean, double *var, const sg_ws *ws)
{
    const int d = post->d;
    const size_t dd = (size_t) d * d;
    double *Kx = sg_doubles(ws, (size_t) m * d), *work = sg_doubles(ws, (size_t) m * d);
    double *prior = sg_doubles(ws, m), *explained = sg_doubles(ws, m), *left = sg_doubles(ws, m);
    sg_kernel_cross(post->kernel, m, x, d, post->basis, Kx, ws);
    sg_kernel_diag(post->kernel, m, x, prior, ws);
    for (int i = 0; i < m; i++) explained[i] = left[i] = 0;
    for (int c = 0; c < post->C; c++) {
        double *mu = mean + from + (size_t) n * c, *s2 = var + from + (size_t) n * c;
        sg_gemv('N', m, d, 1, Kx, post->alpha + (size_t) d * c, 0, mu);
        if (post->G && (c == 0 || !post->shared)) {
            factor_norms(m, d, Kx, post->G + dd * c, work, explained);
        }
        if (post->H) factor_norms(m, d, Kx, post->H + dd * c, work, left);
        for (int i = 0; i < m; i++) s2[i] = fmax2(prior[i] - explained[i], 0) + left[i];
    }
}

void sg_posterior_predict(const sg_posterior *post, int n, int D, const double *x, double *mean,
                          double *var, const sg_ws *ws)
{
    enum { BLOCK = 512 };
    for (int from = 0; from < n; from += BLOCK) {
        const int m = n - from < BLOCK ? n - from : BLOCK;
        void *mark = sg_mark(ws);
        double *rows = sg_doubles(ws, (size_t) m * D);
        sg_copy_rows(n, D, x, from, m, rows);
        predict_block(post, n, from, m, rows, mean, var, ws);
        sg_release(ws, mark);
        sg_tick(ws);
    }
}

void sg_posterior_joint(const sg_posterior *post, int n, const double *x, double *mean,
                        double *cov, const sg_ws *ws)
{
    const int d = post->d;
    const size_t size = (size_t) n * d;
    const double *factors[2] = {post->G, post->H}, signs[2] = {-1, 1};
    if (n == 0) return;
    double *Kx = sg_doubles(ws, size), *work = sg_doubles(ws, size);
    sg_kernel_cross(post->kernel, n, x, d, post->basis, Kx, ws);
    sg_kernel_cross(post->kernel, n, x, n, x, cov, ws);
    sg_gemv('N', n, d, 1, Kx, post->alpha, 0, mean);
    for (int f = 0; f < 2; f++) {
        if (!factors[f]) continue;
        for (size_t i = 0; i < size; i++) work[i] = Kx[i];
        sg_trmm('R', 'N', n, d, factors[f], work);
        sg_syrk('N', n, d, signs[f], work, n, cov);
    }
    sg_mirror('L', n, cov, n);
}
