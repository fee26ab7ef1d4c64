#include "evidence.h"
#include "la.h"

static void lik_gradient(const sg_rows *rows, const sg_marginals *marg, double *dlik,
                         const sg_ws *ws)
{
    double mu[SG_LIK_MAX_BLOCKS], s2[SG_LIK_MAX_BLOCKS];
    for (int i = 0; i < rows->n; i++) {
        sg_cavities_of_row(rows, marg, i, mu, s2);
        sg_lik_tilt_dpar(rows->lik, sg_lik_row(rows->lik, rows->y, i), mu, s2, dlik);
        if (i % SG_BETWEEN_TICKS == 0) sg_tick(ws);
    }
}

/* ---- Full EP ---- */

/* B^{-1} = A^{-1} S A^{-T} of a class, in the factor's order; upper triangle */
static void inverse_of_sites(int n, const sg_full_factor *f, double *inverse)
{
    const int plain = *f->plain;
    const double *last = f->A + (size_t) n * plain;
    for (int j = 0; j < n; j++) {
        const double *from = f->A + (size_t) n * j;
        for (int i = 0; i <= j; i++) inverse[i + (size_t) n * j] = from[i];
    }
    sg_lauum(n, inverse);
    if (plain < n) sg_gemm('N', 'T', n, n, n - plain, -2, last, n, last, n, 1, inverse, n);
}

/* A class's weights added to Kbar, upper triangle. With inverse == Kbar, which takes a factor in
 * the rows' own order, written over it. inverse[n x n]: room for B^{-1}. */
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

/* Are all factors in the rows' own order? */
static int in_row_order(int n, int C, const sg_full_factor *factor)
{
    for (int c = 0; c < C; c++) {
        if (factor->plain[c] < n) return 0;
    }
    return 1;
}

void sg_evidence_gradient_full(const sg_rows *rows, int count, const sg_kernel *const *kernels,
                               const double *x, const double *K, const sg_marginals *marg,
                               const sg_full_factor *factor, double *Kbar, double *dkernel,
                               double *dlik, const sg_ws *ws)
{
    const int n = rows->n, C = rows->lik->C, share = C / count;
    const size_t n2 = (size_t) n * n;
    const int in_place = share == 1 && in_row_order(n, C, factor);
    double *inverse = in_place ? Kbar : sg_doubles(ws, n2);
    for (int k = 0; k < count; k++) {
        for (size_t i = 0; i < n2 && !in_place; i++) Kbar[i] = 0;
        for (int c = k * share; c < (k + 1) * share; c++) {
            const sg_full_factor own = sg_full_factor_of_class(factor, n, c);
            gram_weights(n, marg->alpha + (size_t) n * c, &own, inverse, Kbar);
            sg_tick(ws);
        }
        sg_mirror('U', n, Kbar, n);
        sg_kernel_adjoint(kernels[k], n, x, n, x, K + n2 * k, Kbar, dkernel, ws);
        dkernel += sg_kernel_ntheta(kernels[k]);
    }
    lik_gradient(rows, marg, dlik, ws);
}

/* ---- On bases ---- */

/* B^{-1} R^{-T}, full, from the inverse factors of B and K_B */
static void weights_of_sites(const sg_basis_rows *b, const double *Ainv, double *M)
{
    const size_t dd = (size_t) b->d * b->d;
    for (size_t k = 0; k < dd; k++) M[k] = Ainv[k];
    sg_lauum(b->d, M);
    sg_mirror('U', b->d, M, b->d);
    sg_trmm('R', 'T', b->d, b->d, b->Rinv, M);
}

/* A class's own part of G0: -(q q' + R^{-1} (B^{-1} - I) R^{-T}) / 2, added. N[d x d]: room. */
static void add_own_weights(const sg_basis_rows *b, const double *M, const double *q, double *N,
                            double *G0)
{
    const int d = b->d;
    const size_t dd = (size_t) d * d;
    for (size_t k = 0; k < dd; k++) N[k] = M[k];
    for (int j = 0; j < d; j++) {
        for (int i = j; i < d; i++) N[i + (size_t) d * j] -= b->Rinv[j + (size_t) d * i];
    }
    sg_trmm('L', 'N', d, d, b->Rinv, N);
    for (int j = 0; j < d; j++) {
        for (int i = 0; i < d; i++) {
            const size_t at = i + (size_t) d * j;
            G0[at] -= 0.5 * (q[i] * q[j] + N[at]);
        }
    }
}

/* What the passes over the rows of one basis share. */
typedef struct {
    const sg_basis_rows *b;
    int first, last;       /* its classes */
    const sg_sites *sites;
    const sg_marginals *marg;
    double *t;             /* n: d1^2 + d2, summed over the classes */
    double *q, *M;         /* d and d x d of each class */
    double *room, *work;   /* blocks of width d */
    const sg_ws *ws;
} gradient_pass;

/* Pass 1: V'rho of each class into q, V' diag(t) V into G0. */
static void first_pass(gradient_pass *pass, double *G0)
{
    const sg_basis_rows *b = pass->b;
    const int d = b->d;
    sg_row_block block = {0, 0};
    while (sg_next_rows(b->n, &block)) {
        const double *V = sg_basis_block(b, &block, pass->room, pass->ws);
        const double *t = pass->t + block.from;
        for (int c = pass->first; c < pass->last; c++) {
            const double *rho = pass->marg->d1 + (size_t) b->n * c + block.from;
            sg_gemv('T', block.m, d, 1, V, rho, 1, pass->q + (size_t) d * (c - pass->first));
        }
        for (int j = 0; j < d; j++) {
            const size_t at = (size_t) block.m * j;
            for (int i = 0; i < block.m; i++) pass->work[at + i] = t[i] * V[at + i];
        }
        sg_gemm('T', 'N', d, d, block.m, 1, V, block.m, pass->work, block.m, 1, G0, d);
        sg_tick(pass->ws);
    }
}

/* G of a block, all classes of the basis added up, into pass->work. */
static void block_weights(const gradient_pass *pass, const sg_row_block *block, const double *V,
                          double *TV)
{
    const sg_basis_rows *b = pass->b;
    const int d = b->d, m = block->m;
    double *G = pass->work;
    for (size_t k = 0; k < (size_t) m * d; k++) G[k] = V[k];
    sg_trmm('R', 'T', m, d, b->Rinv, G);
    for (int j = 0; j < d; j++) {
        for (int i = 0; i < m; i++) G[i + (size_t) m * j] *= -pass->t[block->from + i];
    }
    for (int c = pass->first; c < pass->last; c++) {
        const size_t at = (size_t) b->n * c + block->from;
        const double *tau = pass->sites->tau + at, *rho = pass->marg->d1 + at;
        const double *q = pass->q + (size_t) d * (c - pass->first);
        for (int j = 0; j < d; j++) {
            for (int i = 0; i < m; i++) {
                TV[i + (size_t) m * j] = tau[i] * V[i + (size_t) m * j];
                G[i + (size_t) m * j] += rho[i] * q[j];
            }
        }
        sg_gemm('N', 'N', m, d, d, -1, TV, m, pass->M + (size_t) d * d * (c - pass->first), d, 1,
                G, m);
    }
}

/* Pass 2: G of every block to the kernel's adjoint. */
static void second_pass(gradient_pass *pass, double *dkernel)
{
    const sg_basis_rows *b = pass->b;
    const sg_ws *ws = pass->ws;
    double *K = sg_block_room(b->n, b->d, ws), *x = sg_block_room(b->n, b->D, ws);
    sg_row_block block = {0, 0};
    while (sg_next_rows(b->n, &block)) {
        const double *V = sg_basis_block(b, &block, pass->room, ws);
        block_weights(pass, &block, V, K);
        sg_basis_kernel_block(b, &block, x, K, ws);
        sg_kernel_adjoint(b->kernel, block.m, x, b->d, b->basis, K, pass->work, dkernel, ws);
        sg_tick(ws);
    }
}

/* t of all rows, and with them the gradient through the prior variances */
static void row_weights(gradient_pass *pass, double *dkernel)
{
    const sg_basis_rows *b = pass->b;
    double *half = sg_doubles(pass->ws, b->n);
    for (int i = 0; i < b->n; i++) {
        pass->t[i] = 0;
        for (int c = pass->first; c < pass->last; c++) {
            const size_t at = i + (size_t) b->n * c;
            pass->t[i] += pass->marg->d1[at] * pass->marg->d1[at] + pass->marg->d2[at];
        }
        half[i] = pass->t[i] / 2;
    }
    sg_kernel_adjoint_diag(b->kernel, b->n, b->x, half, dkernel, pass->ws);
}

/* The jitter is a share of K_B's diagonal and moves with it. */
static void basis_gradient(gradient_pass *pass, const sg_batch_factor *factor, double *dkernel)
{
    const sg_basis_rows *b = pass->b;
    const int d = b->d, classes = pass->last - pass->first;
    const size_t dd = (size_t) d * d;
    double *G0 = sg_doubles(pass->ws, dd), *N = sg_doubles(pass->ws, dd);
    for (size_t k = 0; k < dd; k++) G0[k] = 0;
    for (int k = 0; k < d * classes; k++) pass->q[k] = 0;
    row_weights(pass, dkernel);
    first_pass(pass, G0);
    for (size_t k = 0; k < dd; k++) G0[k] *= 0.5;
    sg_trmm('L', 'N', d, d, b->Rinv, G0);
    sg_trmm('R', 'T', d, d, b->Rinv, G0);
    for (int c = 0; c < classes; c++) {
        double *q = pass->q + (size_t) d * c, *M = pass->M + dd * c;
        sg_trmv('N', d, b->Rinv, q);
        weights_of_sites(b, factor[pass->first + c].A, M);
        add_own_weights(b, M, q, N, G0);
    }
    for (int j = 0; j < d; j++) G0[j + (size_t) d * j] *= 1 + b->jitter;
    sg_kernel_adjoint(b->kernel, d, b->basis, d, b->basis, b->KB, G0, dkernel, pass->ws);
    second_pass(pass, dkernel);
}

void sg_evidence_gradient_basis(const sg_rows *rows, const sg_bases *bases,
                                const sg_sites *sites, const sg_marginals *marg,
                                const sg_batch_factor *factor, double *dkernel, double *dlik,
                                const sg_ws *ws)
{
    for (int g = 0; g < bases->count; g++) {
        void *mark = sg_mark(ws);
        const sg_basis_rows *b = bases->each + g;
        const int first = sg_first_class(bases, g), last = sg_last_class(bases, g);
        const size_t d = b->d, classes = last - first;
        gradient_pass pass = {b, first, last, sites, marg, sg_doubles(ws, rows->n),
                              sg_doubles(ws, d * classes), sg_doubles(ws, d * d * classes),
                              sg_block_room(rows->n, b->d, ws), sg_block_room(rows->n, b->d, ws),
                              ws};
        basis_gradient(&pass, factor, dkernel);
        if (bases->kernels > 1) dkernel += sg_kernel_ntheta(b->kernel);
        sg_release(ws, mark);
    }
    lik_gradient(rows, marg, dlik, ws);
}
