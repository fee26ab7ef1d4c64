#include <float.h>
#include <math.h>
#include <Rmath.h>
#include "coupled.h"
#include "la.h"

sg_coupling sg_coupling_new(int rows, int C, int coordinates, const sg_ws *ws)
{
    const size_t n = (size_t) rows * C;
    sg_coupling c = {sg_doubles(ws, n), sg_doubles(ws, rows), sg_doubles(ws, n),
                     sg_doubles(ws, 2 * n), sg_doubles(ws, coordinates),
                     sg_doubles(ws, coordinates), sg_doubles(ws, coordinates),
                     sg_doubles(ws, coordinates), sg_doubles(ws, coordinates)};
    return c;
}

/* ---- W of a row ---- */

/* With q = D / s and s = 1'D1: q_c (1 - q_c) = w_c / s. The smaller root for all classes but
 * `top`, which takes the larger one if `above`. Returns sum q. */
static double shares(int C, const double *w, double s, int top, int above, double *q)
{
    double sum = 0;
    for (int c = 0; c < C; c++) {
        const double root = sqrt(fmax2(1 - 4 * w[c] / s, 0));
        q[c] = c == top && above ? (1 + root) / 2 : 2 * w[c] / s / (1 + root);
        sum += q[c];
    }
    return sum;
}

/* D with D_c - D_c^2 / 1'D1 = w_c >= 0; returns 1'D1 (0: all w are zero). Where there is none, the
 * class of the largest w is coupled to the others, and they not to each other. */
static double weights_of_diagonal(int C, const double *w, double *D)
{
    enum { HALVINGS = 30 };
    const double FAR = 1e4; /* times the largest w: W is that of the limit by now */
    int top = 0;
    for (int c = 1; c < C; c++) {
        if (w[c] > w[top]) top = c;
    }
    if (!(w[top] > DBL_MIN * FAR)) return 0;
    double low = 4 * w[top], high = FAR * w[top];
    /* sum q falls with s where all roots are the smaller ones, and grows to 1 otherwise */
    const int above = shares(C, w, low, top, 0, D) < 1;
    for (int k = 0; k < HALVINGS && high > 1.0001 * low; k++) {
        const double s = sqrt(low) * sqrt(high), sum = shares(C, w, s, top, above, D);
        if ((sum > 1) != above) low = s;
        else high = s;
    }
    shares(C, w, high, top, above, D);
    double total = 0;
    for (int c = 0; c < C; c++) total += D[c] *= high;
    return total;
}

/* From D to that of W: D / (1 - s D), s[C] the cavities' variances. Returns the new sum. One of
 * them may turn negative, and the sum with it. */
static double without_cavity(int C, const double *s, double *D)
{
    const double TINY = 1e-6; /* of 1: no D is infinite */
    double sum = 0;
    int below = -1;
    for (int c = 0; c < C; c++) {
        double left = 1 - s[c] * D[c];
        if (fabs(left) < TINY) left = left < 0 ? -TINY : TINY;
        if (left < 0 && (below < 0 || D[c] / left > D[below])) below = c;
        D[c] /= left;
        sum += D[c];
    }
    if (below < 0 || sum < 0) return sum;
    /* no W has such a D; a large one couples its class to all others */
    sum = 0;
    for (int c = 0; c < C; c++) {
        if (D[c] < 0) D[c] *= -1 / TINY;
        sum += D[c];
    }
    return sum;
}

static void weigh_rows(const sg_marginals *marg, int C, sg_coupling *coupling)
{
    const int n = marg->layout.n;
    double w[SG_LIK_MAX_CLASSES] = {0}, s[SG_LIK_MAX_CLASSES] = {0}, D[SG_LIK_MAX_CLASSES];
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < C; c++) {
            w[c] = fmax2(-marg->d2[i + (size_t) n * c], 0);
            s[c] = marg->cav_var[i + (size_t) n * c];
        }
        coupling->sum[i] = weights_of_diagonal(C, w, D);
        if (coupling->sum[i] > 0) coupling->sum[i] = without_cavity(C, s, D);
        for (int c = 0; c < C; c++) coupling->D[i + (size_t) n * c] = D[c];
    }
}

/* out += W x */
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

/* r + W S r into c->b */
static void right_hand_side(const sg_marginals *marg, int C, sg_coupling *c)
{
    for (size_t k = 0; k < sg_values_of(marg->layout); k++) {
        c->b[k] = marg->d1[k] - marg->alpha[k];
        c->x[k] = marg->cav_var[k] * c->b[k];
    }
    add_W(c, marg->layout.n, C, c->x, c->b);
}

/* out = (I + V'WV) a; c->x is work space */
static void multiply(int rows, int C, const sg_carrier *carrier, void *self, sg_coupling *c,
                     const double *a, double *out)
{
    double *Wx = c->x + (size_t) rows * C; /* x has room for two */
    carrier->forward(self, a, c->x);
    for (int k = 0; k < rows * C; k++) Wx[k] = 0;
    add_W(c, rows, C, c->x, Wx);
    carrier->backward(self, Wx, out);
    for (int j = 0; j < carrier->size; j++) out[j] += a[j];
}

/* The solution into c->a, preconditioned by what the sites of the moment know. */
static void solve(int rows, int C, const sg_carrier *carrier, void *self, sg_coupling *c,
                  const sg_ws *ws)
{
    enum { MOST = 50 };
    const double ENOUGH = 1e-3; /* of the first residual's length */
    const int n = carrier->size;
    double before = 1, first = 0;
    carrier->backward(self, c->b, c->r);
    for (int j = 0; j < n; j++) c->a[j] = c->p[j] = 0;
    for (int step = 0; step < MOST; step++) {
        for (int j = 0; j < n; j++) c->z[j] = c->r[j];
        carrier->smooth(self, c->z);
        const double length = sg_dot(n, c->r, c->z);
        if (step == 0) first = length;
        if (!(length > ENOUGH * ENOUGH * first)) return;
        for (int j = 0; j < n; j++) c->p[j] = c->z[j] + length / before * c->p[j];
        multiply(rows, C, carrier, self, c, c->p, c->Ap);
        const double move = length / sg_dot(n, c->p, c->Ap);
        for (int j = 0; j < n; j++) {
            c->a[j] += move * c->p[j];
            c->r[j] -= move * c->Ap[j];
        }
        before = length;
        sg_tick(ws);
    }
}

/* With dmean = V a: dalpha = b - W dmean. */
void sg_coupled_shifts(const sg_marginals *marg, int C, const sg_carrier *carrier, void *self,
                       const double *tau, double *nu, sg_coupling *c, const sg_ws *ws)
{
    weigh_rows(marg, C, c);
    right_hand_side(marg, C, c);
    solve(marg->layout.n, C, carrier, self, c, ws);
    carrier->forward(self, c->a, c->x);
    for (size_t k = 0; k < sg_values_of(marg->layout); k++) {
        nu[k] = marg->alpha[k] + c->b[k] + tau[k] * (marg->mean[k] + c->x[k]);
        c->x[k] *= -1;
    }
    add_W(c, marg->layout.n, C, c->x, nu);
}
