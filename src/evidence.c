#include "evidence.h"
#include "la.h"

static void lik_gradient(const sg_rows *rows, const sg_marginals *marg, double *dlik,
                         const sg_ws *ws)
{
    const int q = rows->lik->type->q;
    for (int i = 0; i < rows->n; i++) {
        const double mu = marg->cav_mean[i] + rows->offset[i];
        const double s2 = marg->cav_var[i] + sg_extra_var(rows, i);
        sg_lik_tilt_dpar(rows->lik, rows->y + (size_t) q * i, &mu, &s2, dlik);
        if (i % SG_BETWEEN_TICKS == 0) ws->tick();
    }
}

void sg_evidence_gradient_full(const sg_rows *rows, const sg_kernel *kernel, const double *x,
                               const double *K, const sg_marginals *marg,
                               const sg_full_factor *factor, double *Kbar, double *dkernel,
                               double *dlik, const sg_ws *ws)
{
    const int n = rows->n;
    const double *alpha = marg->alpha, *rt = factor->rt;
    for (int j = 0; j < n; j++) {
        const double *from = factor->A + (size_t) n * j;
        for (int i = 0; i <= j; i++) Kbar[i + (size_t) n * j] = from[i];
    }
    sg_lauum(n, Kbar);
    for (int j = 0; j < n; j++) {
        double *kbar = Kbar + (size_t) n * j;
        for (int i = 0; i <= j; i++) {
            kbar[i] = 0.5 * (alpha[i] * alpha[j] - rt[i] * kbar[i] * rt[j]);
        }
    }
    sg_mirror('U', n, Kbar, n);
    sg_kernel_adjoint(kernel, n, x, n, x, K, Kbar, dkernel, ws);
    lik_gradient(rows, marg, dlik, ws);
}

static double *copy_of(const double *x, size_t size, const sg_ws *ws)
{
    double *out = ws->doubles(size);
    for (size_t i = 0; i < size; i++) out[i] = x[i];
    return out;
}

/* B^{-1} = A^{-1} A^{-T}, full */
static double *inverse_of_B(int d, const double *Ainv, const sg_ws *ws)
{
    double *out = copy_of(Ainv, (size_t) d * d, ws);
    sg_lauum(d, out);
    sg_mirror('U', d, out, d);
    return out;
}

/* rows of X[n x d] times w[i], copied */
static double *scaled_rows(int n, int d, const double *X, const double *w, const sg_ws *ws)
{
    double *out = ws->doubles((size_t) n * d);
    for (int j = 0; j < d; j++) {
        const double *from = X + (size_t) n * j;
        double *to = out + (size_t) n * j;
        for (int i = 0; i < n; i++) to[i] = w[i] * from[i];
    }
    return out;
}

/* G0 from M = B^{-1} R^{-T}, q and P' diag(t) P (in G0 on entry). The jitter is a share of K_B's
 * diagonal and moves with it. */
static void basis_weights(const sg_basis_rows *b, const double *M, const double *q, double *G0,
                          const sg_ws *ws)
{
    const int d = b->d;
    double *N = copy_of(M, (size_t) d * d, ws);
    for (int j = 0; j < d; j++) {
        for (int i = j; i < d; i++) N[i + (size_t) d * j] -= b->Rinv[j + (size_t) d * i];
    }
    sg_trmm('L', 'N', d, d, b->Rinv, N);
    for (int j = 0; j < d; j++) {
        for (int i = 0; i < d; i++) {
            const size_t at = i + (size_t) d * j;
            G0[at] = -0.5 * (q[i] * q[j] + N[at] - G0[at]);
        }
        G0[j + (size_t) d * j] *= 1 + b->jitter;
    }
}

void sg_evidence_gradient_basis(const sg_rows *rows, const sg_kernel *kernel, const double *x,
                                const double *basis, const sg_basis_rows *b,
                                const sg_sites *sites, const sg_marginals *marg,
                                const sg_batch_factor *factor, double *dkernel, double *dlik,
                                const sg_ws *ws)
{
    const int n = b->n, d = b->d;
    double *t = ws->doubles(n), *q = ws->doubles(d), *G0 = ws->doubles((size_t) d * d);
    for (int i = 0; i < n; i++) t[i] = marg->d1[i] * marg->d1[i] + marg->d2[i];
    double *P = copy_of(b->V, (size_t) n * d, ws);
    sg_trmm('R', 'T', n, d, b->Rinv, P);
    sg_gemv('T', n, d, 1, P, marg->d1, 0, q);
    double *M = inverse_of_B(d, factor->A, ws);
    sg_trmm('R', 'T', d, d, b->Rinv, M);
    double *G = scaled_rows(n, d, P, t, ws);
    sg_gemm('T', 'N', d, d, n, 1, P, n, G, n, 0, G0, d);
    const double *TV = scaled_rows(n, d, b->V, sites->tau, ws);
    sg_gemm('N', 'N', n, d, d, -1, TV, n, M, d, -1, G, n);
    for (int j = 0; j < d; j++) {
        for (int i = 0; i < n; i++) G[i + (size_t) n * j] += marg->d1[i] * q[j];
    }
    basis_weights(b, M, q, G0, ws);
    sg_kernel_adjoint(kernel, n, x, d, basis, b->KnB, G, dkernel, ws);
    sg_kernel_adjoint(kernel, d, basis, d, basis, b->KB, G0, dkernel, ws);
    for (int i = 0; i < n; i++) t[i] *= 0.5;
    sg_kernel_adjoint_diag(kernel, n, x, t, dkernel, ws);
    lik_gradient(rows, marg, dlik, ws);
}
