/* evidence_full.c: the gradient of full EP's log evidence in the kernel's hyperparameters.
 *
 * With B = I + |T|^1/2 K |T|^1/2 and alpha = K^{-1} mean, dlogZ/dK at fixed sites is (alpha alpha'
 * - W) / 2 (Rasmussen and Williams 2006, 5.9, with the sites' precisions for the noise), one N x N
 * matrix for each process, N = n w. With a linear mean W - JJ' stands for W (full_trend.h). */
#include "evidence.h"
#include "chol.h"
#include "full_trend.h"

/* Computes B^{-1} = A^{-1} S A^{-T} of a process, in the factor's order; upper triangle. S makes
 * it A^{-1} A^{-T} less twice the part of the last columns. O(n^3 / 3). */
static void inverse_of_sites(int n, const sg_full_factor *f, double *inverse)
{
    const int plain = *f->plain;
    const double *last = f->Ainv + (size_t) n * plain;
    sg_copy_upper(n, f->Ainv, n, inverse);
    sg_lauum(n, inverse);
    if (plain < n) sg_gemm('N', 'T', n, n, n - plain, -2, last, n, last, n, 1, inverse, n);
}

/* Adds a process's weights (alpha alpha' - W) / 2 to Kbar, upper triangle. With inverse == Kbar,
 * which takes a factor in the rows' own order, they are written over it. inverse[n x n]: memory
 * for B^{-1}. O(n^2) after the inverse. */
static void gram_weights(int n, const double *alpha, const sg_full_factor *f, double *inverse,
                         double *Kbar)
{
    inverse_of_sites(n, f, inverse);
    for (int j = 0; j < n; j++) {
        const double *b = inverse + (size_t) n * j;
        const int col = f->order[j];
        for (int i = 0; i <= j; i++) {
            const int row = f->order[i];
            double *kbar = Kbar + (row < col ? row + (size_t) n * col : col + (size_t) n * row);
            const double w = 0.5 * (alpha[row] * alpha[col] - f->rt[i] * b[i] * f->rt[j]);
            *kbar = inverse == Kbar ? w : *kbar + w;
        }
    }
}

/* Adds JJ' / 2, upper triangle. O(n^2 q). */
static void trend_weights(int n, const sg_full_trend *trend, double *Kbar)
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < trend->q; k++) {
            const double *J = trend->J + (size_t) n * k, own = J[j] / 2;
            for (int i = 0; i <= j; i++) Kbar[i + (size_t) n * j] += J[i] * own;
        }
    }
}

/* The same with w > 1: adds U (weights in turned coordinates) U' to Kbar, both triangles. O(N^2 w)
 * for the turns. */
static void block_weights(sg_layout layout, const double *alpha, const sg_full_factor *f,
                          double *Kbar, const sg_ws *ws)
{
    const int N = layout.n * layout.w;
    const size_t size = (size_t) N * N;
    void *mark = sg_mark(ws);
    double *turned = sg_zeros(size, ws), *inverse = sg_doubles(ws, size);
    double *own = sg_doubles(ws, N);
    sg_full_turn(f, layout, 1, alpha, own);
    gram_weights(N, own, f, inverse, turned);
    if (f->trend) trend_weights(N, f->trend, turned);
    sg_mirror('U', N, turned, N);
    for (int side = 0; side < 2; side++) {
        for (int j = 0; j < N; j++) {
            double *column = turned + (size_t) N * j;
            sg_full_turn(f, layout, 0, column, column);
        }
        sg_mirror('T', N, turned, N);
    }
    for (size_t k = 0; k < size; k++) Kbar[k] += turned[k];
    sg_release(ws, mark);
}

/* Are all factors in the rows' own order? */
static int in_row_order(sg_layout layout, const sg_full_factor *factor)
{
    for (int c = 0; c < layout.C; c++) {
        if (factor->plain[c] < layout.n * layout.w) return 0;
    }
    return layout.w == 1;
}

/* Adds up the weights of all processes of a kernel and hands them to its adjoint at once. One
 * process with one kernel needs no second matrix. K holds `count` matrices N x N, and dkernel each
 * kernel's theta in turn. */
void sg_evidence_gradient_full(sg_layout layout, int count, const sg_kernel *const *kernels,
                               const double *x, const double *K, const sg_marginals *marg,
                               const sg_full_factor *factor, double *Kbar, double *dkernel,
                               const sg_ws *ws)
{
    const int N = layout.n * layout.w, share = layout.C / count;
    const size_t N2 = (size_t) N * N;
    const int in_place = share == 1 && in_row_order(layout, factor);
    double *inverse = in_place ? Kbar : sg_doubles(ws, N2);
    for (int k = 0; k < count; k++) {
        if (!in_place) sg_zero(N2, Kbar);
        for (int c = k * share; c < (k + 1) * share; c++) {
            const sg_full_factor own = sg_full_factor_of(factor, layout, c);
            const double *alpha = marg->alpha + (size_t) N * c;
            if (layout.w == 1) gram_weights(N, alpha, &own, inverse, Kbar);
            else block_weights(layout, alpha, &own, Kbar, ws);
            if (layout.w == 1 && own.trend) trend_weights(N, own.trend, Kbar);
            sg_tick(ws);
        }
        if (layout.w == 1) sg_mirror('U', N, Kbar, N);
        sg_kernel_adjoint(kernels[k], N, x, N, NULL, K + N2 * k, Kbar, dkernel, ws);
        dkernel += sg_kernel_ntheta(kernels[k]);
    }
}
