/* state.c: posteriors from the sums of their sites. */
#include "chol.h"
#include "state.h"

sg_status sg_state_factor(int d, const double *S, int lds, const double *t, double *Ainv, double *m,
                          double *log_det)
{
    for (int j = 0; j < d; j++) {
        m[j] = t[j];
        for (int i = j; i < d; i++) Ainv[j + (size_t) d * i] = S[i + (size_t) lds * j] + (i == j);
    }
    sg_clear_below(d, Ainv);
    sg_status status = sg_potrf(d, Ainv, d);
    if (status != SG_OK) return status;
    *log_det += sg_log_diag(d, Ainv);
    status = sg_trtri(d, Ainv);
    if (status != SG_OK) return status;
    sg_trmv('T', d, Ainv, m);
    sg_trmv('N', d, Ainv, m);
    return SG_OK;
}

sg_status sg_state_stored(int d, int C, const double *R, const double *S, const double *t,
                          double *alpha, double *G, double *H)
{
    const size_t dd = (size_t) d * d;
    sg_status status = sg_inverse_upper(d, R, d, G);
    for (int c = 0; c < C && status == SG_OK; c++) {
        double log_det = 0, *own_alpha = alpha + (size_t) d * c, *own_H = H + dd * c;
        status = sg_state_factor(d, S + dd * c, d, t + (size_t) d * c, own_H, own_alpha, &log_det);
        sg_trmv('N', d, G, own_alpha);
        sg_trmm('L', 'N', d, d, G, own_H);
    }
    return status;
}
