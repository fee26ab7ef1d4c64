/* kern_dot.c: kernels of the inner product.
 *
 *   linear    sum_k variance_k x_k z_k            theta: log variance (1, or p with ARD)
 *   poly      variance (1 + x'z / (p lengthscale))^degree      (thesis 5.1)
 *                                                 theta: log variance, log lengthscale
 *   constant  variance                            theta: log variance
 *
 * For a factor, x_k z_k is levels[k] / 2 where x and z are of the same level, else 0.
 * All three have features u with K = u_i'u_j, or a power of it: cross() is one matrix product of n
 * x q and m x q, O(n m q). */
#include <math.h>
#include "kernel.h"
#include "la.h"
#include "par.h"

/* Multiplies the kernel's columns of x by weight[k * step]: the kernel is made of the inner
 * products of what comes out. Factors have weights levels[k] weight[k * step]^2, as indicators
 * times that have (points.h). */
static sg_points weighted_points(const sg_kernel *self, int n, const double *x,
                                 const double *weight, int step, const sg_ws *ws)
{
    enum { TILE = 16 }; /* points at a time, so both layouts stay in cache */
    const int factors = sg_kernel_nfactors(self), q = self->p - factors;
    sg_points out = sg_points_new(n, q, ws);
    double *levels = sg_points_factors(&out, factors, ws);
    for (int k = 0, f = 0; k < self->p; k++) {
        if (!sg_kernel_is_factor(self, k)) continue;
        levels[f] = self->levels[k] * weight[k * step] * weight[k * step];
        sg_points_levels(&out, f++, x + (size_t) n * self->vars[k]);
    }
    for (int i0 = 0; i0 < n; i0 += TILE) {
        const int end = n - i0 < TILE ? n : i0 + TILE;
        for (int k = 0, at = 0; k < self->p; k++) {
            if (sg_kernel_is_factor(self, k)) continue;
            const double *col = x + (size_t) n * self->vars[k], w = weight[k * step];
            for (int i = i0; i < end; i++) out.u[at + (size_t) q * i] = w * col[i];
            at++;
        }
    }
    return out;
}

/* K[a->n x b->n] = u_i'u_j, one matrix product, and what factors add where levels agree */
static void inner_products(const sg_points *a, const sg_points *b, double *K)
{
    sg_gemm('T', 'N', a->n, b->n, a->q, 1, a->u, a->q, b->u, b->q, 0, K, a->n);
    for (int j = 0; a->nlevel && j < b->n; j++) {
        sg_add_agreeing(a, 0, a->n, b, j, K + (size_t) a->n * j);
    }
}

/* Returns the square of input k of a point: of a factor levels[k] / 2, whatever the level. */
static double square(const sg_kernel *self, int k, double x)
{
    return sg_kernel_is_factor(self, k) ? self->levels[k] / 2 : x * x;
}

/* Returns `count` hyperparameters on their natural scale. */
static double *exp_theta(const sg_kernel *self, int count, const sg_ws *ws)
{
    double *out = sg_doubles(ws, count);
    for (int k = 0; k < count; k++) out[k] = exp(self->theta[k]);
    return out;
}

/* Computes the inner products that derivatives are made of: s = u'u (factors, too), v'u, u'w and
 * v'w of points and of directions, which factors have no part in. O(n m q). */
static void directed_products(const sg_points *a, const sg_points *v, const sg_points *b,
                              const sg_points *w, const sg_jet *out)
{
    const int n = a->n, m = b->n, q = a->q;
    inner_products(a, b, out->K);
    sg_gemm('T', 'N', n, m, q, 1, v->u, q, b->u, q, 0, out->dx, n);
    if (!out->dz) return;
    sg_gemm('T', 'N', n, m, q, 1, a->u, q, w->u, q, 0, out->dz, n);
    sg_gemm('T', 'N', n, m, q, 1, v->u, q, w->u, q, 0, out->dxdz, n);
}

/* Adds weight_k sum_i u_ik W_ij to every input that is a number: of K_ij a function of u_i'v_j,
 * with v = weight z. weight[k * step] as weighted_points() had it; factors do not move. One matrix
 * product of q x n and n x m. */
static void add_to_inputs(const sg_kernel *self, const sg_points *a, int m, const double *W,
                          const double *weight, int step, double *dz, const sg_ws *ws)
{
    const int q = a->q;
    double *sums = sg_doubles(ws, (size_t) q * m);
    sg_gemm('N', 'N', q, m, a->n, 1, a->u, q, W, a->n, 0, sums, q);
    for (int k = 0, number = 0; k < self->p; k++) {
        if (sg_kernel_is_factor(self, k)) continue;
        double *column = dz + (size_t) m * self->vars[k];
        for (int j = 0; j < m; j++) {
            column[j] += weight[k * step] * sums[number + (size_t) q * j];
        }
        number++;
    }
}

/* ---- linear ---- */

/* Counts theta: one variance, or one for each input with ARD. */
static int linear_ntheta(const sg_kernel *self)
{
    return self->ard ? self->p : 1;
}

/* Multiplies input k by variance_k^1/2, so the kernel is an inner product. */
static sg_points linear_prepare(const sg_kernel *self, int n, const double *x,
                                const sg_points *like, const sg_ws *ws)
{
    (void) like;
    const int count = linear_ntheta(self);
    double *weight = sg_doubles(ws, count);
    for (int k = 0; k < count; k++) weight[k] = exp(self->theta[k] / 2);
    return weighted_points(self, n, x, weight, self->ard, ws);
}

/* Multiplies the features: K = sum_k variance_k x_k z_k. */
static void linear_cross(const sg_kernel *self, const sg_points *a, const sg_points *b,
                         int symmetric, double *K, const sg_ws *ws)
{
    (void) self, (void) symmetric, (void) ws;
    inner_products(a, b, K);
}

/* k_i = sum_k variance_k x_ik^2 */
static void linear_diag(const sg_kernel *self, int n, const double *x, double *k, const sg_ws *ws)
{
    const double *variance = exp_theta(self, linear_ntheta(self), ws);
    sg_zero(n, k);
    for (int c = 0; c < self->p; c++) {
        const double *col = x + (size_t) n * self->vars[c], v = variance[c * self->ard];
        for (int i = 0; i < n; i++) k[i] += v * square(self, c, col[i]);
    }
}

/* Returns sum_ij Kbar_ij weight_f / 2 [levels of factor f agree]. */
static double agreeing(const sg_points *a, const sg_points *b, int f, const double *Kbar)
{
    double sum = 0;
    for (int j = 0; j < b->n; j++) sum += sg_sum_agreeing(a, f, b, j, Kbar + (size_t) a->n * j);
    return sum;
}

/* Returns sum_i u_ik (Kbar v)_ik of feature k. */
static double product_with(const sg_points *a, int k, const double *Kb)
{
    double sum = 0;
    for (int i = 0; i < a->n; i++) sum += a->u[k + (size_t) a->q * i] * Kb[i + (size_t) a->n * k];
    return sum;
}

/* d/dlog variance_k = variance_k x_k' Kbar z_k; u and weights of levels carry the variance.
 * O(n m p), as one matrix product. */
static void linear_adjoint(const sg_kernel *self, int n, const double *x, int m, const double *z,
                           const double *K, const double *Kbar, double *dtheta, const sg_ws *ws)
{
    (void) K;
    const sg_points a = linear_prepare(self, n, x, NULL, ws);
    const sg_points b = linear_prepare(self, m, z ? z : x, NULL, ws);
    const int q = a.q;
    double *Kb = sg_doubles(ws, (size_t) n * q);
    sg_gemm('N', 'T', n, q, m, 1, Kbar, n, b.u, q, 0, Kb, n);
    for (int k = 0, number = 0, factor = 0; k < self->p; k++) {
        dtheta[k * self->ard] += sg_kernel_is_factor(self, k)
            ? agreeing(&a, &b, factor++, Kbar) : product_with(&a, number++, Kb);
    }
}

/* d/dlog variance_k = variance_k sum_i kbar_i x_ik^2 */
static void linear_adjoint_diag(const sg_kernel *self, int n, const double *x, const double *kbar,
                                double *dtheta, const sg_ws *ws)
{
    const double *variance = exp_theta(self, linear_ntheta(self), ws);
    for (int k = 0; k < self->p; k++) {
        const double *col = x + (size_t) n * self->vars[k];
        double sum = 0;
        for (int i = 0; i < n; i++) sum += kbar[i] * square(self, k, col[i]);
        dtheta[k * self->ard] += variance[k * self->ard] * sum;
    }
}

/* Differentiates a bilinear form: a direction takes the place of its point. */
static void linear_jet(const sg_kernel *self, int n, const double *x, const double *v, int m,
                       const double *z, const double *w, const sg_jet *out, const sg_ws *ws)
{
    const sg_points a = linear_prepare(self, n, x, NULL, ws);
    const sg_points b = linear_prepare(self, m, z, NULL, ws);
    const sg_points av = linear_prepare(self, n, v, NULL, ws);
    const sg_points bw = w ? linear_prepare(self, m, w, NULL, ws) : b;
    directed_products(&a, &av, &b, &bw, out);
}

/* dK_ij/dz_jk = variance_k x_ik */
static void linear_adjoint_inputs(const sg_kernel *self, int n, const double *x, int m,
                                  const double *z, const double *Kbar, double *dz,
                                  const sg_ws *ws)
{
    (void) z;
    const sg_points a = linear_prepare(self, n, x, NULL, ws);
    const int count = linear_ntheta(self);
    double *weight = sg_doubles(ws, count);
    for (int k = 0; k < count; k++) weight[k] = exp(self->theta[k] / 2);
    add_to_inputs(self, &a, m, Kbar, weight, self->ard, dz, ws);
}

/* Writes the term variance s t of one input; a constant, which sees none, has variance. */
static int plain_terms(const sg_kernel *self, int harmonics, sg_markov_term *term)
{
    (void) harmonics;
    if (self->p > 1 || sg_kernel_nfactors(self) > 0) return 0;
    *term = (sg_markov_term) {.power = self->p, .variance = exp(self->theta[0])};
    return 1;
}

/* ---- poly ---- */

/* Counts theta: variance and length scale. */
static int poly_ntheta(const sg_kernel *self)
{
    (void) self;
    return 2;
}

/* Returns 1 / (p lengthscale). */
static double poly_weight(const sg_kernel *self)
{
    return exp(-self->theta[1]) / self->p;
}

/* Scales all inputs by (p lengthscale)^-1/2, so u_i'u_j = x'z / (p lengthscale). */
static sg_points poly_prepare(const sg_kernel *self, int n, const double *x,
                              const sg_points *like, const sg_ws *ws)
{
    (void) like;
    const double w = sqrt(poly_weight(self));
    return weighted_points(self, n, x, &w, 0, ws);
}

typedef struct {
    int n;
    double power, factor;
    double *K; /* n x m: x'z / (p lengthscale) at first */
} power_job;

/* Raises some columns to the power; pow() takes most of the time. */
static sg_status power_columns(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    (void) slot, (void) ws;
    const power_job *job = ctx;
    const size_t end = (size_t) job->n * to;
    for (size_t i = (size_t) job->n * from; i < end; i++) {
        job->K[i] = pow(1 + job->K[i], job->power) * job->factor;
    }
    return SG_OK;
}

/* K = factor (1 + x'z / (p lengthscale))^power */
static void poly_power(double power, double factor, const sg_points *a, const sg_points *b,
                       double *K, const sg_ws *ws)
{
    power_job job = {.n = a->n, .power = power, .factor = factor, .K = K};
    inner_products(a, b, K);
    sg_par_rows(b->n, sg_par_columns(a->n), power_columns, &job, ws);
}

/* Raises the inner products to `degree` (thesis 5.1). */
static void poly_cross(const sg_kernel *self, const sg_points *a, const sg_points *b,
                       int symmetric, double *K, const sg_ws *ws)
{
    (void) symmetric;
    poly_power(self->degree[0], exp(self->theta[0]), a, b, K, ws);
}

/* Computes s[n] = x_i'x_i / (p lengthscale), the diagonal of the inner products. */
static double *poly_norms(const sg_kernel *self, int n, const double *x, const sg_ws *ws)
{
    double *s = sg_zeros(n, ws);
    for (int k = 0; k < self->p; k++) {
        const double *col = x + (size_t) n * self->vars[k];
        for (int i = 0; i < n; i++) s[i] += poly_weight(self) * square(self, k, col[i]);
    }
    return s;
}

/* k_i = variance (1 + s_i)^degree */
static void poly_diag(const sg_kernel *self, int n, const double *x, double *k, const sg_ws *ws)
{
    const double *s = poly_norms(self, n, x, ws);
    for (int i = 0; i < n; i++) k[i] = exp(self->theta[0]) * pow(1 + s[i], self->degree[0]);
}

/* dK / dlog lengthscale = -degree variance (b^degree - b^(degree - 1)), b = 1 + x'z / (p
 * lengthscale); dK / dlog variance = K Both come from one further matrix, b^(degree - 1). */
static void poly_adjoint(const sg_kernel *self, int n, const double *x, int m, const double *z,
                         const double *K, const double *Kbar, double *dtheta, const sg_ws *ws)
{
    const size_t size = (size_t) n * m;
    double *lower = sg_doubles(ws, size), dvariance = 0, dell = 0;
    const sg_points a = poly_prepare(self, n, x, NULL, ws);
    const sg_points b = poly_prepare(self, m, z ? z : x, NULL, ws);
    poly_power(self->degree[0] - 1, exp(self->theta[0]), &a, &b, lower, ws);
    for (size_t i = 0; i < size; i++) {
        dvariance += Kbar[i] * K[i];
        dell += Kbar[i] * (K[i] - lower[i]);
    }
    dtheta[0] += dvariance;
    dtheta[1] -= self->degree[0] * dell;
}

/* The same with b = 1 + s_i. */
static void poly_adjoint_diag(const sg_kernel *self, int n, const double *x, const double *kbar,
                              double *dtheta, const sg_ws *ws)
{
    const double *s = poly_norms(self, n, x, ws), variance = exp(self->theta[0]);
    for (int i = 0; i < n; i++) {
        const double lower = variance * pow(1 + s[i], self->degree[0] - 1);
        dtheta[0] += kbar[i] * lower * (1 + s[i]);
        dtheta[1] -= kbar[i] * self->degree[0] * lower * s[i];
    }
}

/* With s = x'z / (p lengthscale), b = 1 + s and degree r:
 *   dx = r b^(r - 1) v's,   dxdz = r (r - 1) b^(r - 2) v's s'w + r b^(r - 1) v'w,
 * times the variance; v's etc. are inner products of the scaled directions and points. */
static void poly_jet(const sg_kernel *self, int n, const double *x, const double *v, int m,
                     const double *z, const double *w, const sg_jet *out, const sg_ws *ws)
{
    const sg_points a = poly_prepare(self, n, x, NULL, ws), b = poly_prepare(self, m, z, NULL, ws);
    const sg_points av = poly_prepare(self, n, v, NULL, ws);
    const sg_points bw = w ? poly_prepare(self, m, w, NULL, ws) : b;
    const double variance = exp(self->theta[0]), r = self->degree[0];
    const size_t size = (size_t) n * m;
    directed_products(&a, &av, &b, &bw, out);
    for (size_t i = 0; i < size; i++) {
        const double base = 1 + out->K[i], slope = variance * r * pow(base, r - 1);
        const double curve = r > 1 ? variance * r * (r - 1) * pow(base, r - 2) : 0;
        out->K[i] = variance * pow(base, r);
        if (out->dz) {
            out->dxdz[i] = curve * out->dx[i] * out->dz[i] + slope * out->dxdz[i];
            out->dz[i] *= slope;
        }
        out->dx[i] *= slope;
    }
}

/* dK_ij/dz_jk = degree variance (1 + s)^(degree - 1) x_ik / (p lengthscale) */
static void poly_adjoint_inputs(const sg_kernel *self, int n, const double *x, int m,
                                const double *z, const double *Kbar, double *dz, const sg_ws *ws)
{
    const sg_points a = poly_prepare(self, n, x, NULL, ws), b = poly_prepare(self, m, z, NULL, ws);
    const double weight = sqrt(poly_weight(self)), r = self->degree[0];
    const size_t size = (size_t) n * m;
    double *W = sg_doubles(ws, size);
    poly_power(r - 1, r * exp(self->theta[0]), &a, &b, W, ws);
    for (size_t i = 0; i < size; i++) W[i] *= Kbar[i];
    add_to_inputs(self, &a, m, W, &weight, 0, dz, ws);
}

/* Writes the terms variance choose(degree, k) (s t / lengthscale)^k, k = 0 .. degree. */
static int poly_terms(const sg_kernel *self, int harmonics, sg_markov_term *term)
{
    (void) harmonics;
    const int degree = self->degree[0];
    if (self->p != 1 || sg_kernel_is_factor(self, 0) || degree >= SG_MARKOV_TERMS) return 0;
    double variance = exp(self->theta[0]);
    for (int k = 0; k <= degree; k++) {
        term[k] = (sg_markov_term) {.power = k, .variance = variance};
        variance *= poly_weight(self) * (degree - k) / (k + 1);
    }
    return degree + 1;
}

/* dlog variance_k / dlog lengthscale = -k; the others have degree 0, that is one term. */
static void dot_terms_adjoint(const sg_kernel *self, int harmonics, const sg_markov_slope *slope,
                              double *dtheta)
{
    (void) harmonics;
    for (int k = 0; k <= self->degree[0]; k++) {
        dtheta[0] += slope[k].variance;
        if (k > 0) dtheta[1] -= k * slope[k].variance;
    }
}

/* ---- constant ---- */

/* Counts theta: the variance alone. */
static int constant_ntheta(const sg_kernel *self)
{
    (void) self;
    return 1;
}

/* No input matters: points of no features. */
static sg_points constant_prepare(const sg_kernel *self, int n, const double *x,
                                  const sg_points *like, const sg_ws *ws)
{
    (void) self, (void) x, (void) like;
    return sg_points_new(n, 0, ws);
}

/* Fills in the variance: the kernel of one random intercept. */
static void constant_cross(const sg_kernel *self, const sg_points *a, const sg_points *b,
                           int symmetric, double *K, const sg_ws *ws)
{
    (void) symmetric, (void) ws;
    sg_fill((size_t) a->n * b->n, exp(self->theta[0]), K);
}

/* Fills in the variance. */
static void constant_diag(const sg_kernel *self, int n, const double *x, double *k,
                          const sg_ws *ws)
{
    (void) x, (void) ws;
    sg_fill(n, exp(self->theta[0]), k);
}

/* Adds variance sum_i kbar_i. */
static void constant_adjoint_diag(const sg_kernel *self, int n, const double *x,
                                  const double *kbar, double *dtheta, const sg_ws *ws)
{
    (void) x, (void) ws;
    for (int i = 0; i < n; i++) dtheta[0] += exp(self->theta[0]) * kbar[i];
}

/* Adds variance sum_ij Kbar_ij, column by column. */
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
    {.name = "linear", .ntheta = linear_ntheta, .prepare = linear_prepare, .cross = linear_cross,
     .diag = linear_diag, .adjoint = linear_adjoint, .adjoint_diag = linear_adjoint_diag,
     .jet = linear_jet, .adjoint_inputs = linear_adjoint_inputs, .terms = plain_terms,
     .terms_adjoint = dot_terms_adjoint},
    {.name = "poly", .valid = sg_kernel_has_degree, .ntheta = poly_ntheta, .prepare = poly_prepare,
     .cross = poly_cross, .diag = poly_diag, .adjoint = poly_adjoint,
     .adjoint_diag = poly_adjoint_diag, .jet = poly_jet, .adjoint_inputs = poly_adjoint_inputs,
     .terms = poly_terms, .terms_adjoint = dot_terms_adjoint},
    {.name = "constant", .ntheta = constant_ntheta, .prepare = constant_prepare,
     .cross = constant_cross, .diag = constant_diag, .adjoint = constant_adjoint,
     .adjoint_diag = constant_adjoint_diag, .terms = plain_terms,
     .terms_adjoint = dot_terms_adjoint},
    {0}
};
