/* state.c: posteriors from the sums of their sites, S = sum T v v' and t = sum nu v (state.h). */
#include "chol.h"
#include "state.h"

/* Factors I + S = A'A and inverts A. With M = (I + S)^{-1} = A^{-1} A^{-T},
 *   m = M t = A^{-1} (A^{-T} t).
 * S is read below its diagonal and written above that of A. Where no site has a negative precision
 * all eigenvalues of I + S are at least 1: no jitter is needed, whatever the condition of K_B.
 * Otherwise a failure means that these sites leave no posterior. */
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

/* Derives the stored form (posterior.h). With v(x) = R^{-T} k(x),
 *   mean(x) = v'm = k'R^{-1} m,   var(x) = K(x,x) - v'v + v'M v = K(x,x) - |G'k|^2 + |H'k|^2
 * for alpha = R^{-1} m, G = R^{-1} and H = R^{-1} A^{-1}. */
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
