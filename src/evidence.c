#include "evidence.h"
#include "la.h"

static void lik_gradient(const sg_rows *rows, const sg_marginals *marg, double *dlik)
{
    const int q = rows->lik->type->q;
    for (int i = 0; i < rows->n; i++) {
        const double mu = marg->cav_mean[i] + rows->offset[i];
        sg_lik_tilt_dpar(rows->lik, rows->y + (size_t) q * i, &mu, marg->cav_var + i, dlik);
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
    sg_mirror('U', n, Kbar);
    sg_kernel_adjoint(kernel, n, x, n, x, K, Kbar, dkernel, ws);
    lik_gradient(rows, marg, dlik);
}
