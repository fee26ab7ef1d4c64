/* full_trend.c: the part of a linear mean in the posterior of full EP (full_trend.h). */
#include <math.h>
#include "chol.h"
#include "full_trend.h"
#include "la.h"
#include "tolerances.h"

/* Lends arrays for each process; with w = 1 phi needs no copy. */
sg_full_trend *sg_full_trend_new(sg_layout layout, int q, double *phi, const sg_ws *ws)
{
    const size_t Nq = (size_t) layout.n * layout.w * q;
    sg_full_trend *each = sg_structs(layout.C, sizeof(sg_full_trend), ws);
    for (int c = 0; c < layout.C; c++) {
        each[c] = (sg_full_trend) {
            .q = q, .given = phi, .phi = layout.w > 1 ? sg_doubles(ws, Nq) : phi,
            .J = sg_doubles(ws, Nq), .U = sg_doubles(ws, Nq),
            .L = sg_doubles(ws, (size_t) q * q), .coef = sg_zeros(q, ws)
        };
    }
    return each;
}

/* Takes phi to the coordinates of the factor, U_i' phi_i row by row. */
static void turn_phi(sg_layout layout, const sg_full_factor *f)
{
    const size_t N = (size_t) layout.n * layout.w;
    const sg_full_trend *t = f->trend;
    for (int j = 0; layout.w > 1 && j < t->q; j++) {
        sg_full_turn(f, layout, 1, t->given + N * j, t->phi + N * j);
    }
}

/* Writes (I + K T)^{-1} phi, from W phi. It is phi - K W phi, and T^{-1} W phi where a site has a
 * precision that matters: that is no difference of large numbers. */
static void unexplained(int N, const double *K, const double *tau, const double *phi,
                        const double *Wphi, double *out)
{
    sg_symv(N, K, N, Wphi, out);
    for (int i = 0; i < N; i++) {
        const int matters = fabs(tau[i]) * K[i + (size_t) N * i] > SG_WEAK_SITE;
        out[i] = matters ? Wphi[i] / tau[i] : phi[i] - out[i];
    }
}

/* Applies W to one column of phi after the other; P is their inner products with phi. */
sg_status sg_full_trend_factor(sg_layout layout, const double *K, const double *tau,
                               const sg_full_factor *f, double *log_det, double *work)
{
    const int N = layout.n * layout.w;
    sg_full_trend *t = f->trend;
    const int q = t->q;
    turn_phi(layout, f);
    for (int j = 0; j < q; j++) {
        const double *phi = t->phi + (size_t) N * j;
        sg_full_apply_W(N, f, phi, t->J + (size_t) N * j, work);
        unexplained(N, K, tau, phi, t->J + (size_t) N * j, t->U + (size_t) N * j);
    }
    sg_gemm('T', 'N', q, q, N, 1, t->phi, N, t->J, N, 0, t->L, q);
    for (int j = 0; j < q; j++) t->L[j + (size_t) q * j] += 1;
    const sg_status status = sg_potrf(q, t->L, q);
    if (status != SG_OK) return status;
    *log_det += sg_log_diag(q, t->L);
    /* X L^{-1} column by column, as L is upper */
    for (int j = 0; j < q; j++) {
        const double *l = t->L + (size_t) q * j;
        for (int side = 0; side < 2; side++) {
            double *X = side ? t->U : t->J, *x = X + (size_t) N * j;
            for (int k = 0; k < j; k++) {
                for (int i = 0; i < N; i++) x[i] -= l[k] * X[i + (size_t) N * k];
            }
            for (int i = 0; i < N; i++) x[i] /= l[j];
        }
    }
    return SG_OK;
}

/* W is 0, so that J is 0, L the identity and U phi itself. */
void sg_full_trend_prior(sg_layout layout, const sg_full_factor *f)
{
    const size_t N = (size_t) layout.n * layout.w;
    sg_full_trend *t = f->trend;
    turn_phi(layout, f);
    sg_zero(N * t->q, t->J);
    sg_copy(N * t->q, t->phi, t->U);
    sg_zero((size_t) t->q * t->q, t->L);
    for (int j = 0; j < t->q; j++) t->L[j + t->q * j] = 1;
    sg_zero(t->q, t->coef);
}

/* E c = L^{-1} h with h = L^{-T} phi'b, and W phi E c = J h. */
void sg_full_trend_filter(int N, sg_full_trend *trend, double *b)
{
    const int q = trend->q;
    double h[SG_TREND_MAX];
    sg_gemv('T', N, q, 1, trend->phi, N, b, 0, h);
    sg_trsv('T', q, trend->L, q, h);
    sg_gemv('N', N, q, -1, trend->J, N, h, 1, b);
    sg_trsv('N', q, trend->L, q, h);
    for (int j = 0; j < q; j++) trend->coef[j] += h[j];
}

/* One product of phi and its coefficients */
void sg_full_trend_add_mean(int N, const sg_full_trend *trend, double *mean)
{
    sg_gemv('N', N, trend->q, 1, trend->phi, N, trend->coef, 1, mean);
}

/* Adds squares, function by function. */
void sg_full_trend_add_prior(int N, const sg_full_trend *trend, double *prior)
{
    for (int j = 0; j < trend->q; j++) {
        const double *phi = trend->given + (size_t) N * j;
        for (int i = 0; i < N; i++) prior[i] += phi[i] * phi[i];
    }
}

/* Adds u_i u_i' of every row, function by function. */
void sg_full_trend_add_vars(sg_layout layout, const sg_full_factor *f, const double *tau,
                            double *g, double *var, const sg_ws *ws)
{
    const int w = layout.w, N = layout.n * w;
    const sg_full_trend *t = f->trend;
    void *mark = sg_mark(ws);
    double *own = sg_doubles(ws, N);
    for (int j = 0; j < t->q; j++) {
        sg_copy(N, t->U + (size_t) N * j, own);
        if (w > 1) sg_full_turn(f, layout, 0, own, own);
        for (int i = 0; w == 1 && i < N; i++) g[i] -= tau[i] * own[i] * own[i];
        for (int k = 0; k < N * w; k++) {
            const int row = k / (w * w), a = k % w, b = k / w % w;
            var[k] += own[w * row + a] * own[w * row + b];
        }
    }
    sg_release(ws, mark);
}

/* J is in the order of the rows already, whatever that of the factor is. */
void sg_full_trend_stored(sg_layout layout, const sg_full_factor *f, double *J, double *root)
{
    const size_t N = (size_t) layout.n * layout.w;
    const sg_full_trend *t = f->trend;
    sg_copy(N * t->q, t->J, J);
    for (int j = 0; layout.w > 1 && j < t->q; j++) {
        sg_full_turn(f, layout, 0, J + N * j, J + N * j);
    }
    sg_inverse_upper(t->q, t->L, t->q, root);
}
