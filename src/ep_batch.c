#include <math.h>
#include <Rmath.h>
#include "chol.h"
#include "ep_batch.h"

/* Is every pivot well above rounding? A singular matrix may pass the factorisation by luck, with
 * pivots that are noise. */
static int pivots_matter(int d, const double *KB, const double *R)
{
    const double ROUNDING = 1e-14;
    for (int j = 0; j < d; j++) {
        const size_t jj = j + (size_t) d * j;
        if (!(R[jj] * R[jj] > ROUNDING * KB[jj])) return 0;
    }
    return 1;
}

/* R with R'R = KB + jitter diag(KB), for the smallest jitter of the ladder that has one. */
static sg_status factor_basis(int d, const double *KB, double *R, double *jitter)
{
    const double LADDER[] = {0, 1e-12, 1e-10, 1e-8, 1e-6};
    const size_t size = (size_t) d * d;
    for (size_t step = 0; step < sizeof LADDER / sizeof *LADDER; step++) {
        for (size_t i = 0; i < size; i++) R[i] = KB[i];
        for (int j = 0; j < d; j++) R[j + (size_t) d * j] *= 1 + LADDER[step];
        *jitter = LADDER[step];
        if (sg_potrf(d, R) == SG_OK && pivots_matter(d, KB, R)) return SG_OK;
    }
    return SG_NOT_PD;
}

sg_status sg_basis_rows_new(const sg_kernel *kernel, int n, const double *x, int d,
                            const double *basis, sg_basis_rows *b, const sg_ws *ws)
{
    const size_t nd = (size_t) n * d, dd = (size_t) d * d;
    b->n = n, b->d = d;
    b->KB = ws->doubles(dd), b->Rinv = ws->doubles(dd);
    b->KnB = ws->doubles(nd), b->V = ws->doubles(nd), b->gamma = ws->doubles(n);
    sg_kernel_cross(kernel, d, basis, d, basis, b->KB, ws);
    sg_kernel_cross(kernel, n, x, d, basis, b->KnB, ws);
    sg_status status = factor_basis(d, b->KB, b->Rinv, &b->jitter);
    if (status != SG_OK) return status;
    status = sg_trtri(d, b->Rinv);
    if (status != SG_OK) return status;
    for (size_t i = 0; i < nd; i++) b->V[i] = b->KnB[i];
    sg_trmm('R', 'N', n, d, b->Rinv, b->V);
    double *prior = ws->doubles(n);
    sg_kernel_diag(kernel, n, x, prior, ws);
    sg_row_squares(n, d, b->V, b->gamma);
    for (int i = 0; i < n; i++) b->gamma[i] = fmax2(prior[i] - b->gamma[i], 0);
    return SG_OK;
}

/* What the loop hands back to refresh(). */
typedef struct {
    const sg_basis_rows *b;
    sg_batch_factor *factor;
    double *work; /* n x d */
} batch_model;

/* A = chol(I + V' T V), inverted; *log_det = log|A| */
static sg_status factor_sites(const batch_model *batch, const double *tau, double *log_det)
{
    const sg_basis_rows *b = batch->b;
    const int n = b->n, d = b->d;
    double *A = batch->factor->A;
    for (int j = 0; j < d; j++) {
        const double *v = b->V + (size_t) n * j;
        double *w = batch->work + (size_t) n * j;
        for (int i = 0; i < n; i++) w[i] = sqrt(tau[i]) * v[i];
    }
    sg_syrk('T', d, n, 1, batch->work, 0, A);
    for (int j = 0; j < d; j++) A[j + (size_t) d * j] += 1;
    sg_mirror('L', d, A, d);
    const sg_status status = sg_potrf(d, A);
    if (status != SG_OK) return status;
    *log_det = sg_log_diag(d, A);
    return sg_trtri(d, A);
}

static sg_status refresh(void *self, const sg_sites *sites, sg_marginals *marg, double *log_det)
{
    const batch_model *batch = self;
    const sg_basis_rows *b = batch->b;
    const int n = b->n, d = b->d;
    const size_t nd = (size_t) n * d;
    double *Ainv = batch->factor->A, *m = batch->factor->m;
    const sg_status status = factor_sites(batch, sites->tau, log_det);
    if (status != SG_OK) return status;
    for (size_t i = 0; i < nd; i++) batch->work[i] = b->V[i];
    sg_trmm('R', 'N', n, d, Ainv, batch->work);
    sg_row_squares(n, d, batch->work, marg->var);
    sg_gemv('T', n, d, 1, b->V, sites->nu, 0, m);
    sg_trmv('T', d, Ainv, m);
    sg_trmv('N', d, Ainv, m);
    sg_gemv('N', n, d, 1, b->V, m, 0, marg->mean);
    for (int i = 0; i < n; i++) {
        marg->g[i] = 1 - sites->tau[i] * marg->var[i];
        marg->alpha[i] = sites->nu[i] - sites->tau[i] * marg->mean[i];
        if (!(marg->g[i] > 0)) return SG_NOT_FINITE;
    }
    return SG_OK;
}

sg_status sg_ep_batch_run(const sg_rows *rows, const sg_basis_rows *b,
                          const sg_ep_options *options, sg_sites *sites, sg_marginals *marg,
                          sg_batch_factor *factor, sg_ep_report *report, const sg_ws *ws)
{
    double *prior_var = ws->doubles(b->n);
    sg_row_squares(b->n, b->d, b->V, prior_var);
    batch_model batch = {b, factor, ws->doubles((size_t) b->n * b->d)};
    const sg_ep_model model = {&batch, refresh, NULL};
    return sg_ep_loop(rows, &model, options, prior_var, sites, marg, report, ws);
}
