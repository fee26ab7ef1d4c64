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

/* Divides A^{-1}[D x D] among points and coefficients. With A^{-1} = [F, E; 0, L] and v(x), phi(x),
 *   |A^{-T} (v, phi)|^2 = |F'v|^2 + |L'phi + E'v|^2,
 * so that H = R^{-1} F, J = -R^{-1} E and the root is L (posterior.h). O(d^3 + d^2 q). */
static void divide_factor(int d, int D, const double *Ainv, const double *G, double *H, double *J,
                          double *root)
{
    const int q = D - d;
    sg_copy_columns(d, d, Ainv, D, H, d);
    sg_trmm('L', 'N', d, d, G, H);
    if (q == 0) return;
    sg_copy_columns(d, q, Ainv + (size_t) D * d, D, J, d);
    sg_trmm('L', 'N', d, q, G, J);
    for (size_t k = 0; k < (size_t) d * q; k++) J[k] *= -1;
    sg_copy_columns(q, q, Ainv + d + (size_t) D * d, D, root, q);
}

/* Derives the stored form (posterior.h). With v(x) = R^{-T} k(x),
 *   mean(x) = v'm = k'R^{-1} m,   var(x) = K(x,x) - v'v + v'M v = K(x,x) - |G'k|^2 + |H'k|^2
 * for alpha = R^{-1} m, G = R^{-1} and H = R^{-1} A^{-1}. */
sg_status sg_state_stored(int d, int C, const double *R, const double *S, const double *t,
                          double *alpha, double *G, double *H, const sg_state_mean *mean,
                          const sg_ws *ws)
{
    const int q = mean->q, D = d + q;
    double *Ainv = sg_doubles(ws, (size_t) D * D), *m = sg_doubles(ws, D);
    sg_status status = sg_inverse_upper(d, R, d, G);
    for (int c = 0; c < C && status == SG_OK; c++) {
        const size_t dq = (size_t) d * q * c, qq = (size_t) q * q * c;
        double log_det = 0, *own = alpha + (size_t) d * c;
        status = sg_state_factor(D, S + (size_t) D * D * c, D, t + (size_t) D * c, Ainv, m,
                                 &log_det);
        sg_copy(d, m, own);
        sg_trmv('N', d, G, own);
        divide_factor(d, D, Ainv, G, H + (size_t) d * d * c, q ? mean->J + dq : NULL,
                      q ? mean->root + qq : NULL);
        if (q) sg_copy(q, m + d, mean->coef + (size_t) q * c);
    }
    return status;
}
