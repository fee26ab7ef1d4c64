/* kern_dot.c: kernels of the inner product.
 *
 *   linear    sum_k variance_k x_k z_k            theta: log variance (1, or p with ARD)
 *   poly      variance (1 + x'z / (p lengthscale))^degree      (thesis 5.1)
 *                                                 theta: log variance, log lengthscale
 *   constant  variance                            theta: log variance */
#include <math.h>
#include "la.h"
#include "kernel.h"

/* out[n x p]: the kernel's columns of x, column k times weight[k * step] */
static double *weighted_columns(const sg_kernel *self, int n, const double *x,
                                const double *weight, int step, const sg_ws *ws)
{
    double *out = ws->doubles((size_t) n * self->p);
    for (int k = 0; k < self->p; k++) {
        const double *from = x + (size_t) n * self->vars[k], w = weight[k * step];
        double *to = out + (size_t) n * k;
        for (int i = 0; i < n; i++) to[i] = w * from[i];
    }
    return out;
}

static double *exp_theta(const sg_kernel *self, int count, const sg_ws *ws)
{
    double *out = ws->doubles(count);
    for (int k = 0; k < count; k++) out[k] = exp(self->theta[k]);
    return out;
}

static const double UNIT = 1;

/* ---- linear ---- */

static int linear_ntheta(const sg_kernel *self)
{
    return self->ard ? self->p : 1;
}

static void linear_cross(const sg_kernel *self, int n, const double *x, int m, const double *z,
                         double *K, const sg_ws *ws)
{
    const double *variance = exp_theta(self, linear_ntheta(self), ws);
    const double *a = weighted_columns(self, n, x, &UNIT, 0, ws);
    const double *b = weighted_columns(self, m, z, variance, self->ard, ws);
    sg_gemm('N', 'T', n, m, self->p, 1, a, n, b, m, 0, K, n);
}

static void linear_diag(const sg_kernel *self, int n, const double *x, double *k, const sg_ws *ws)
{
    const double *variance = exp_theta(self, linear_ntheta(self), ws);
    for (int i = 0; i < n; i++) k[i] = 0;
    for (int c = 0; c < self->p; c++) {
        const double *col = x + (size_t) n * self->vars[c], v = variance[c * self->ard];
        for (int i = 0; i < n; i++) k[i] += v * col[i] * col[i];
    }
}

/* d/dlog variance_k = variance_k x_k' Kbar z_k */
static void linear_adjoint(const sg_kernel *self, int n, const double *x, int m, const double *z,
                           const double *K, const double *Kbar, double *dtheta, const sg_ws *ws)
{
    (void) K;
    const double *variance = exp_theta(self, linear_ntheta(self), ws);
    const double *b = weighted_columns(self, m, z, variance, self->ard, ws);
    double *Kb = ws->doubles((size_t) n * self->p);
    sg_gemm('N', 'N', n, self->p, m, 1, Kbar, n, b, m, 0, Kb, n);
    for (int k = 0; k < self->p; k++) {
        dtheta[k * self->ard] += sg_dot(n, x + (size_t) n * self->vars[k], Kb + (size_t) n * k);
    }
}

static void linear_adjoint_diag(const sg_kernel *self, int n, const double *x, const double *kbar,
                                double *dtheta, const sg_ws *ws)
{
    const double *variance = exp_theta(self, linear_ntheta(self), ws);
    for (int k = 0; k < self->p; k++) {
        const double *col = x + (size_t) n * self->vars[k];
        double sum = 0;
        for (int i = 0; i < n; i++) sum += kbar[i] * col[i] * col[i];
        dtheta[k * self->ard] += variance[k * self->ard] * sum;
    }
}

/* ---- poly ---- */

static int poly_ntheta(const sg_kernel *self)
{
    (void) self;
    return 2;
}

static double poly_weight(const sg_kernel *self)
{
    return exp(-self->theta[1]) / self->p;
}

/* K = (1 + x'z / (p lengthscale))^power, without the variance */
static void poly_power(const sg_kernel *self, double power, int n, const double *x, int m,
                       const double *z, double *K, const sg_ws *ws)
{
    const double w = poly_weight(self);
    const double *a = weighted_columns(self, n, x, &UNIT, 0, ws);
    const double *b = weighted_columns(self, m, z, &w, 0, ws);
    const size_t size = (size_t) n * m;
    sg_gemm('N', 'T', n, m, self->p, 1, a, n, b, m, 0, K, n);
    for (size_t i = 0; i < size; i++) K[i] = pow(1 + K[i], power);
}

static void poly_cross(const sg_kernel *self, int n, const double *x, int m, const double *z,
                       double *K, const sg_ws *ws)
{
    const double variance = exp(self->theta[0]);
    const size_t size = (size_t) n * m;
    poly_power(self, self->degree, n, x, m, z, K, ws);
    for (size_t i = 0; i < size; i++) K[i] *= variance;
}

/* s[n] = x_i'x_i / (p lengthscale) */
static double *poly_norms(const sg_kernel *self, int n, const double *x, const sg_ws *ws)
{
    double *s = ws->doubles(n);
    for (int i = 0; i < n; i++) s[i] = 0;
    for (int k = 0; k < self->p; k++) {
        const double *col = x + (size_t) n * self->vars[k];
        for (int i = 0; i < n; i++) s[i] += poly_weight(self) * col[i] * col[i];
    }
    return s;
}

static void poly_diag(const sg_kernel *self, int n, const double *x, double *k, const sg_ws *ws)
{
    const double *s = poly_norms(self, n, x, ws);
    for (int i = 0; i < n; i++) k[i] = exp(self->theta[0]) * pow(1 + s[i], self->degree);
}

/* dK/dlog lengthscale = -degree variance (b^degree - b^(degree - 1)), b = 1 + x'z/(p
 * lengthscale) */
static void poly_adjoint(const sg_kernel *self, int n, const double *x, int m, const double *z,
                         const double *K, const double *Kbar, double *dtheta, const sg_ws *ws)
{
    const size_t size = (size_t) n * m;
    const double variance = exp(self->theta[0]);
    double *lower = ws->doubles(size), dvariance = 0, dell = 0;
    poly_power(self, self->degree - 1, n, x, m, z, lower, ws);
    for (size_t i = 0; i < size; i++) {
        dvariance += Kbar[i] * K[i];
        dell += Kbar[i] * (K[i] - variance * lower[i]);
    }
    dtheta[0] += dvariance;
    dtheta[1] -= self->degree * dell;
}

static void poly_adjoint_diag(const sg_kernel *self, int n, const double *x, const double *kbar,
                              double *dtheta, const sg_ws *ws)
{
    const double *s = poly_norms(self, n, x, ws), variance = exp(self->theta[0]);
    for (int i = 0; i < n; i++) {
        const double lower = variance * pow(1 + s[i], self->degree - 1);
        dtheta[0] += kbar[i] * lower * (1 + s[i]);
        dtheta[1] -= kbar[i] * self->degree * lower * s[i];
    }
}

/* ---- constant ---- */

static int constant_ntheta(const sg_kernel *self)
{
    (void) self;
    return 1;
}

static void constant_cross(const sg_kernel *self, int n, const double *x, int m, const double *z,
                           double *K, const sg_ws *ws)
{
    (void) x, (void) z, (void) ws;
    const double variance = exp(self->theta[0]);
    const size_t size = (size_t) n * m;
    for (size_t i = 0; i < size; i++) K[i] = variance;
}

static void constant_diag(const sg_kernel *self, int n, const double *x, double *k,
                          const sg_ws *ws)
{
    constant_cross(self, n, x, 1, x, k, ws);
}

static void constant_adjoint_diag(const sg_kernel *self, int n, const double *x,
                                  const double *kbar, double *dtheta, const sg_ws *ws)
{
    (void) x, (void) ws;
    for (int i = 0; i < n; i++) dtheta[0] += exp(self->theta[0]) * kbar[i];
}

static void constant_adjoint(const sg_kernel *self, int n, const double *x, int m,
                             const double *z, const double *K, const double *Kbar,
                             double *dtheta, const sg_ws *ws)
{
    (void) z, (void) K;
    for (int j = 0; j < m; j++) {
        constant_adjoint_diag(self, n, x, Kbar + (size_t) n * j, dtheta, ws);
    }
}

const sg_kernel_type sg_kernels_dot[] = {
    {"linear", linear_ntheta, linear_cross, linear_diag, linear_adjoint, linear_adjoint_diag, NULL},
    {"poly", poly_ntheta, poly_cross, poly_diag, poly_adjoint, poly_adjoint_diag, NULL},
    {"constant", constant_ntheta, constant_cross, constant_diag, constant_adjoint,
     constant_adjoint_diag, NULL},
    {0}
};
