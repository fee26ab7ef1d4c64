#include <math.h>
#include <Rmath.h>
#include "coupled.h"
#include "la.h"

sg_coupling sg_coupling_new(int rows, int C, const sg_ws *ws)
{
    const size_t n = (size_t) rows * C;
    sg_coupling c = {ws->doubles(n), ws->doubles(rows), ws->doubles(n), ws->doubles(n),
                     ws->doubles(n), ws->doubles(n), ws->doubles(n), ws->doubles(n),
                     ws->doubles(n), ws->doubles(n)};
    return c;
}

/* ---- W of a row ---- */

/* With q = D / s and s = 1'D1: q_c (1 - q_c) = tau_c / s. The smaller root for all classes but
 * `top`, which takes the larger one if `above`. Returns sum q. */
static double shares(int C, const double *tau, double s, int top, int above, double *q)
{
    double sum = 0;
    for (int c = 0; c < C; c++) {
        const double root = sqrt(fmax2(1 - 4 * tau[c] / s, 0));
        q[c] = c == top && above ? (1 + root) / 2 : 2 * tau[c] / s / (1 + root);
        sum += q[c];
    }
    return sum;
}

double sg_coupling_weights(int C, const double *tau, double *D)
{
    enum { HALVINGS = 30 };
    const double FAR = 1e4; /* times the largest tau: W is that of the limit by now */
    int top = 0;
    for (int c = 1; c < C; c++) {
        if (tau[c] > tau[top]) top = c;
    }
    if (!(tau[top] > 0)) return 0;
    double low = 4 * tau[top], high = FAR * tau[top];
    /* sum q falls with s where all roots are the smaller ones, and grows to 1 otherwise */
    const int above = shares(C, tau, low, top, 0, D) < 1;
    for (int k = 0; k < HALVINGS && high > 1.0001 * low; k++) {
        const double s = sqrt(low * high), sum = shares(C, tau, s, top, above, D);
        if ((sum > 1) != above) low = s;
        else high = s;
    }
    shares(C, tau, high, top, above, D);
    double total = 0;
    for (int c = 0; c < C; c++) total += D[c] *= high;
    return total;
}

static void weigh_rows(const sg_marginals *marg, int C, const double *tau, sg_coupling *coupling)
{
    const int n = marg->rows;
    double own[SG_LIK_MAX_CLASSES] = {0}, D[SG_LIK_MAX_CLASSES];
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < C; c++) own[c] = fmax2(tau[i + (size_t) n * c], 0);
        coupling->sum[i] = sg_coupling_weights(C, own, D);
        for (int c = 0; c < C; c++) coupling->D[i + (size_t) n * c] = D[c];
    }
}

/* out += W x; out may be x */
static void add_W(const sg_coupling *coupling, int n, int C, const double *x, double *out)
{
    for (int i = 0; i < n; i++) {
        double shift = 0;
        if (coupling->sum[i] == 0) continue;
        for (int c = 0; c < C; c++) {
            shift += coupling->D[i + (size_t) n * c] * x[i + (size_t) n * c];
        }
        shift /= coupling->sum[i];
        for (int c = 0; c < C; c++) {
            const size_t at = i + (size_t) n * c;
            out[at] += coupling->D[at] * (x[at] - shift);
        }
    }
}

/* ---- The Newton step ---- */

/* The right hand side r + W cav_var r, into c->r. */
static void residuals(const sg_marginals *marg, int C, sg_coupling *c)
{
    for (int k = 0; k < marg->n; k++) {
        c->r[k] = marg->d1[k] - marg->alpha[k];
        c->z[k] = marg->cav_var[k] * c->r[k];
    }
    add_W(c, marg->rows, C, c->z, c->r);
}

/* (I + W K) x = r by conjugate gradients in the inner product of K, preconditioned by (I + T K):
 * z = (I + T K)^{-1} r and K z = (K^{-1} + T)^{-1} r come from one product. */
static void solve(int rows, int C, const double *tau, sg_covariance covariance, void *self,
                  sg_coupling *c, const sg_ws *ws)
{
    enum { MOST = 50 };
    const double ENOUGH = 1e-3; /* of the first residual's length */
    const int n = rows * C;
    double before = 0, first = 0;
    for (int k = 0; k < n; k++) c->x[k] = c->Kx[k] = 0;
    for (int step = 0; step < MOST; step++) {
        covariance(self, c->r, c->Kz);
        for (int k = 0; k < n; k++) c->z[k] = c->r[k] - tau[k] * c->Kz[k];
        const double length = sg_dot(n, c->r, c->Kz);
        if (step == 0) first = length;
        if (!(length > ENOUGH * ENOUGH * first)) return;
        const double share = step == 0 ? 0 : length / before;
        for (int k = 0; k < n; k++) {
            c->p[k] = c->z[k] + (step == 0 ? 0 : share * c->p[k]);
            c->Kp[k] = c->Kz[k] + (step == 0 ? 0 : share * c->Kp[k]);
            c->Ap[k] = c->p[k];
        }
        add_W(c, rows, C, c->Kp, c->Ap);
        const double move = length / sg_dot(n, c->Kp, c->Ap);
        for (int k = 0; k < n; k++) {
            c->x[k] += move * c->p[k];
            c->Kx[k] += move * c->Kp[k];
            c->r[k] -= move * c->Ap[k];
        }
        before = length;
        ws->tick();
    }
}

void sg_coupled_shifts(const sg_marginals *marg, int C, const double *sites_tau,
                       sg_covariance covariance, void *self, const double *tau, double *nu,
                       sg_coupling *c, const sg_ws *ws)
{
    weigh_rows(marg, C, tau, c);
    residuals(marg, C, c);
    solve(marg->rows, C, sites_tau, covariance, self, c, ws);
    for (int k = 0; k < marg->n; k++) {
        nu[k] = marg->alpha[k] + c->x[k] + tau[k] * (marg->mean[k] + c->Kx[k]);
    }
}
