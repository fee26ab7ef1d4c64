/* posterior.c: latent moments at new rows from a stored posterior; blocks of rows on threads. */
#include <float.h>
#include <Rmath.h>
#include "chol.h"
#include "par.h"
#include "posterior.h"

enum { BLOCK = 256 }; /* rows whose kernel with the basis is in memory, for each thread */

/* Computes work[w m x d] = Kx U and sums, m blocks of w x w: the inner products of each row's
 * points. O(m w d^2), as U is triangular, and O(m w^2 d) for the blocks. */
static void factor_products(int m, int w, int d, const double *Kx, const double *U, double *work,
                            double *sums)
{
    const size_t size = (size_t) m * w * d;
    sg_copy(size, Kx, work);
    sg_trmm('R', 'N', m * w, d, U, work);
    sg_block_squares(w, m, d, work, sums);
}

/* Returns K(x,x) - |G'k(x)|^2. The sum of d squares is known to about d rounding units of K(x,x),
 * and so is the difference: if it is less than that, that is returned, because a difference of 0
 * would claim certainty. prior: K(x,x); explained: |G'k|^2. */
static double unexplained(int d, double prior, double explained)
{
    return fmax2(prior - explained, d * DBL_EPSILON * prior);
}

/* Gathers the rows of phi that are the points', and multiplies. */
double *sg_trend_residuals(const sg_posterior *post, int c, size_t from, int m, size_t all,
                           const double *Kx, double *mean, const sg_ws *ws)
{
    const sg_posterior_trend *t = &post->trend;
    const int q = t->q, d = post->d;
    double *phi = sg_doubles(ws, (size_t) m * q), *u = sg_doubles(ws, (size_t) m * q);
    sg_copy_columns(m, q, t->phi + from, all, phi, m);
    sg_gemv('N', m, q, 1, phi, m, t->coef + (size_t) q * c, 1, mean);
    sg_gemm('N', 'N', m, q, q, 1, phi, m, t->root + (size_t) q * q * c, q, 0, u, m);
    sg_gemm('N', 'N', m, q, d, -1, Kx, m, t->J + (size_t) d * q * c, d, 1, u, m);
    return u;
}

/* New rows x[n w x D] on their way through the threads; mean[n w C] and var[blocks] are theirs. */
typedef struct {
    const sg_posterior *post;
    sg_points basis;
    int n, D;
    const double *x;
    double *mean, *var;
    double *scratch;     /* of all slots (par.h) */
    size_t scratch_size; /* of one */
} prediction;

/* Writes var, m blocks of w x w: prior - explained + left. The diagonal is kept above rounding, as
 * a variance of 0 would claim certainty. */
static void block_variances(const sg_posterior *post, int m, const double *prior,
                            const double *explained, const double *left, double *var)
{
    const int w = post->w, ww = w * w;
    for (int i = 0; i < m * ww; i++) {
        const int own = i % ww % (w + 1) == 0;
        var[i] = left[i] + (own ? unexplained(post->d, prior[i], explained[i])
                                : prior[i] - explained[i]);
    }
}

/* Adds a linear mean to the moments of rows from .. to - 1, of process c. */
static void add_trend(const prediction *p, int c, int from, int m, const double *Kx, double *mean,
                      double *var, const sg_ws *ws)
{
    const int w = p->post->w, ww = w * w;
    void *mark = sg_mark(ws);
    const size_t first = (size_t) w * from, all = (size_t) w * p->n;
    const double *u = sg_trend_residuals(p->post, c, first, w * m, all, Kx, mean, ws);
    double *squares = sg_zeros((size_t) m * ww, ws);
    sg_block_squares(w, m, p->post->trend.q, u, squares);
    for (int i = 0; i < m * ww; i++) var[i] += squares[i];
    sg_release(ws, mark);
}

/* Writes the moments of rows from .. to - 1 into those of all rows: mean = k'alpha, var = K -
 * |G'k|^2 + |H'k|^2. Processes that share a factor share its product. Kx is w m x d; blocks of a
 * row are w x w. O(m w d^2) for each process with a factor of its own. */
static sg_status predict_block(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    const prediction *p = ctx;
    const sg_posterior *post = p->post;
    const int m = to - from, d = post->d, w = post->w, points = m * w, ww = w * w;
    const size_t dd = (size_t) d * d, n = p->n;
    double *Kx = p->scratch + p->scratch_size * slot, *work = Kx + (size_t) points * d;
    double *x = work + (size_t) points * d, *prior = x + (size_t) points * p->D;
    double *explained = prior + (size_t) m * ww, *left = explained + (size_t) m * ww;
    sg_copy_columns(points, p->D, p->x + (size_t) w * from, w * n, x, points);
    const sg_points rows = sg_kernel_prepare(post->kernel, points, x, &p->basis, ws);
    sg_kernel_between(post->kernel, &rows, &p->basis, Kx, ws);
    if (w == 1) sg_kernel_diag(post->kernel, m, x, prior, ws);
    else sg_kernel_blocks(post->kernel, w, m, p->D, x, prior, ws);
    sg_zero(m * ww, explained);
    sg_zero(m * ww, left);
    for (int c = 0; c < post->C; c++) {
        double *mean = p->mean + w * (from + n * c), *var = p->var + ww * (from + n * c);
        sg_gemv('N', points, d, 1, Kx, points, post->alpha + (size_t) d * c, 0, mean);
        if (post->G && (c == 0 || !post->shared)) {
            factor_products(m, w, d, Kx, post->G + dd * c, work, explained);
        }
        if (post->H && (c == 0 || !post->alike)) {
            factor_products(m, w, d, Kx, post->H + dd * c, work, left);
        }
        block_variances(post, m, prior, explained, left, var);
        if (post->trend.q) add_trend(p, c, from, m, Kx, mean, var, ws);
    }
    return SG_OK;
}

/* Goes over blocks of rows on threads, each with scratch memory of its own. Memory: 256 rows of
 * kernel for each thread, whatever n is. O(C n w d^2). */
void sg_posterior_predict(const sg_posterior *post, int n, int D, const double *x, double *mean,
                          double *var, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    const sg_ws own = sg_kernel_workspace(post->kernel, ws);
    const size_t w = post->w;
    prediction p = {.post = post, .n = n, .D = D, .x = x, .mean = mean, .var = var};
    p.scratch_size = (size_t) (n < BLOCK ? n : BLOCK) * w * (2 * (size_t) post->d + D + 3 * w);
    p.scratch = sg_doubles(ws, p.scratch_size * (n > BLOCK ? sg_par_slots(1, &own) : 1));
    p.basis = sg_kernel_prepare(post->kernel, post->d, post->basis, NULL, ws);
    sg_par_products(n, BLOCK, predict_block, &p, NULL, &own);
    sg_release(ws, mark);
}

/* Subtracts what G explains, and adds what H leaves and a linear mean's own uncertainty. */
void sg_posterior_condition(const sg_posterior *post, int n, const double *Kx, double *mean,
                            double *cov, const sg_ws *ws)
{
    const int d = post->d;
    const size_t size = (size_t) n * d;
    const double *factors[2] = {post->G, post->H}, signs[2] = {-1, 1};
    double *work = sg_doubles(ws, size);
    sg_gemv('N', n, d, 1, Kx, n, post->alpha, 0, mean);
    for (int f = 0; f < 2; f++) {
        if (!factors[f]) continue;
        sg_copy(size, Kx, work);
        sg_trmm('R', 'N', n, d, factors[f], work);
        sg_syrk('N', n, d, signs[f], work, n, cov, n);
    }
    if (post->trend.q) {
        const double *u = sg_trend_residuals(post, 0, 0, n, n, Kx, mean, ws);
        sg_syrk('N', n, post->trend.q, 1, u, n, cov, n);
    }
    sg_mirror('L', n, cov, n);
}

/* cov = K - (Kx G)(Kx G)' + (Kx H)(Kx H)'. mean[n], cov[n x n]; C = 1. O(n d^2 + n^2 d). */
void sg_posterior_joint(const sg_posterior *post, int n, const double *x, double *mean,
                        double *cov, const sg_ws *ws)
{
    if (n == 0) return;
    double *Kx = sg_doubles(ws, (size_t) n * post->d);
    sg_kernel_cross(post->kernel, n, x, post->d, post->basis, Kx, ws);
    sg_kernel_cross(post->kernel, n, x, n, NULL, cov, ws);
    sg_posterior_condition(post, n, Kx, mean, cov, ws);
}
