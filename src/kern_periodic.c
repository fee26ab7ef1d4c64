/* kern_periodic.c: periodic kernels of one input, delta = x - z.
 *
 *   periodic  variance * exp(-2 sin^2(pi delta / period) / lengthscale^2)
 *                                    theta: log variance, log lengthscale, log period
 *   trig      variance * (1 + 2 sum_{n=1}^{k0} cos(2 pi n delta / period)), k0 = self->degree
 *                                    theta: log variance, log period */
#include <math.h>
#include <Rmath.h>
#include "la.h"
#include "dist.h"

/* ---- periodic ----
 *
 * With u(x) = (cos, sin)(2 pi x / period) this is the rbf kernel of u: |u(x) - u(z)|^2 =
 * 4 sin^2(pi (x - z) / period). So distances come from the same dgemm as everybody's. */

/* Reads one input. */
static int periodic_valid(const sg_kernel *self)
{
    return self->p > 0 && self->nchild == 0;
}

/* Counts theta: variance, length scale, period. */
static int periodic_ntheta(const sg_kernel *self)
{
    (void) self;
    return 3;
}

/* Embeds x as u / lengthscale on a circle about the origin, the same for all points: nothing to
 * centre. */
static sg_points periodic_prepare(const sg_kernel *self, int n, const double *x,
                                  const sg_points *like, const sg_ws *ws)
{
    (void) like;
    const double ell = exp(self->theta[1]), freq = 2 * M_PI / exp(self->theta[2]);
    const double *col = x + (size_t) n * self->vars[0];
    sg_points out = sg_points_new(n, 2, ws);
    for (int i = 0; i < n; i++) {
        out.u[2 * (size_t) i] = cos(freq * col[i]) / ell;
        out.u[2 * (size_t) i + 1] = sin(freq * col[i]) / ell;
    }
    sg_points_norms(&out, ws);
    return out;
}

/* Turns a column of squared distances into kernel values; ctx: the variance. */
static void cross_column(void *ctx, const sg_block *block, int jj, double *column)
{
    (void) jj;
    const double variance = *(const double *) ctx;
    for (int i = 0; i < block->ni; i++) column[i] = variance * exp(-0.5 * column[i]);
}

/* Fills K block by block from squared distances in the plane, O(n m) exponentials. */
static void periodic_cross(const sg_kernel *self, const sg_points *a, const sg_points *b,
                           int symmetric, double *K, const sg_ws *ws)
{
    (void) symmetric;
    double variance = exp(self->theta[0]);
    sg_block block = {0};
    while (sg_next_block(a->n, b->n, 0, &block)) {
        double *out = K + (size_t) a->n * block.j0;
        sg_sqdist(a, b, &block, cross_column, &variance, out, a->n, ws);
        sg_tick(ws);
    }
}

/* Fills in the variance. */
static void periodic_diag(const sg_kernel *self, int n, const double *x, double *k,
                          const sg_ws *ws)
{
    (void) x, (void) ws;
    sg_fill(n, exp(self->theta[0]), k);
}

/* With W = Kbar o K and delta = x_i - z_j:
 *   d/dlog lengthscale = sum W r2,
 *   d/dlog period      = sum W (2 pi delta / period) sin(2 pi delta / period) / lengthscale^2,
 * and sin(a - b) = sin a cos b - cos a sin b is in the embedding already. */
typedef struct {
    sg_points a, b;
    const double *x, *z, *K, *Kbar;
    double sums[SG_BLOCK][3]; /* of a block's columns: W, W r2, W delta sin() / lengthscale^2 */
} adjoint_job;

/* Sums W, W r2 and W delta sin() over a column; the cross product of u and v is sin(2 pi delta /
 * period) / lengthscale^2. */
static void adjoint_column(void *ctx, const sg_block *block, int jj, double *r2)
{
    adjoint_job *job = ctx;
    const int n = block->ni, j = block->j0 + jj;
    const double *v = job->b.u + 2 * (size_t) j;
    const double *K = job->K + (size_t) n * j, *Kbar = job->Kbar + (size_t) n * j;
    double dvariance = 0, dell = 0, dperiod = 0;
    for (int i = 0; i < n; i++) {
        const double w = Kbar[i] * K[i], *u = job->a.u + 2 * (size_t) i;
        dvariance += w;
        dell += w * r2[i];
        dperiod += w * (job->x[i] - job->z[j]) * (u[1] * v[0] - u[0] * v[1]);
    }
    job->sums[jj][0] = dvariance, job->sums[jj][1] = dell, job->sums[jj][2] = dperiod;
}

/* Adds the gradient in the three logarithms, the columns' sums in their order. O(n m). */
static void periodic_adjoint(const sg_kernel *self, int n, const double *x, int m,
                             const double *z, const double *K, const double *Kbar,
                             double *dtheta, const sg_ws *ws)
{
    const double freq = 2 * M_PI / exp(self->theta[2]);
    adjoint_job job = {.a = periodic_prepare(self, n, x, NULL, ws),
                       .b = periodic_prepare(self, m, z ? z : x, NULL, ws),
                       .x = x + (size_t) n * self->vars[0],
                       .z = (z ? z : x) + (size_t) m * self->vars[0],
                       .K = K, .Kbar = Kbar};
    double *r2 = sg_doubles(ws, (size_t) n * (m < SG_BLOCK ? m : SG_BLOCK)), sum[3] = {0};
    sg_block block = {0};
    while (sg_next_block(n, m, 0, &block)) {
        sg_sqdist(&job.a, &job.b, &block, adjoint_column, &job, r2, n, ws);
        for (int jj = 0; jj < block.nj; jj++) {
            for (int t = 0; t < 3; t++) sum[t] += job.sums[jj][t];
        }
        sg_tick(ws);
    }
    dtheta[0] += sum[0];
    dtheta[1] += sum[1];
    dtheta[2] += freq * sum[2];
}

/* Adds variance sum_i kbar_i: the diagonal depends on the variance alone. */
static void periodic_adjoint_diag(const sg_kernel *self, int n, const double *x,
                                  const double *kbar, double *dtheta, const sg_ws *ws)
{
    (void) x, (void) ws;
    for (int i = 0; i < n; i++) dtheta[0] += exp(self->theta[0]) * kbar[i];
}

/* With a = 2 pi / period, K = variance exp((cos(a delta) - 1) / lengthscale^2):
 *   dK/dx = -K a sin(a delta) / lengthscale^2 = -dK/dz,
 *   d2K/dxdz = K a^2 (cos(a delta) - sin(a delta)^2 / lengthscale^2) / lengthscale^2 */
static void periodic_jet(const sg_kernel *self, int n, const double *x, const double *v, int m,
                         const double *z, const double *w, const sg_jet *out, const sg_ws *ws)
{
    const double variance = exp(self->theta[0]), scale = exp(-2 * self->theta[1]);
    const double freq = 2 * M_PI / exp(self->theta[2]);
    const size_t own = (size_t) n * self->vars[0], other = (size_t) m * self->vars[0];
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < n; i++) {
            const double delta = x[own + i] - z[other + j], half = sin(freq * delta / 2);
            const double s = sin(freq * delta), c = cos(freq * delta);
            const double k = variance * exp(-2 * half * half * scale);
            const size_t at = i + (size_t) n * j;
            out->K[at] = k;
            out->dx[at] = -k * freq * s * scale * v[own + i];
            if (!out->dz) continue;
            out->dz[at] = k * freq * s * scale * w[other + j];
            out->dxdz[at] = k * freq * freq * scale * (c - s * s * scale) * v[own + i] *
                w[other + j];
        }
        sg_tick(ws);
    }
}

/* ---- trig ----
 *
 * The kernel of trigonometric polynomials with 2 k0 + 1 coefficients N(0, variance) (thesis 5.28;
 * its 5.29 with cos(2 pi k0 delta) + sin(2 pi k0 delta) cot(pi delta), the sign mended). An inner
 * product of these many features has that rank to rounding, which the closed form has not. */

enum { MOST_PAIRS = 1 << 24 }; /* of features, whose number is an int */

/* Reads one input, by a number of pairs whose features can be counted. */
static int trig_valid(const sg_kernel *self)
{
    return self->p > 0 && self->nchild == 0 && self->ndegree > 0 && self->degree[0] >= 0 &&
        self->degree[0] <= MOST_PAIRS;
}

/* Counts theta: variance and period. */
static int trig_ntheta(const sg_kernel *self)
{
    (void) self;
    return 2;
}

/* u = (1, sqrt2 cos t, sqrt2 sin t, sqrt2 cos 2t, ...), t = 2 pi x / period; the angles by
 * rotation */
static sg_points trig_prepare(const sg_kernel *self, int n, const double *x, const sg_points *like,
                              const sg_ws *ws)
{
    (void) like;
    const int q = 2 * self->degree[0] + 1;
    const double freq = 2 * M_PI / exp(self->theta[1]), *col = x + (size_t) n * self->vars[0];
    sg_points out = sg_points_new(n, q, ws);
    for (int i = 0; i < n; i++) {
        double *u = out.u + (size_t) q * i;
        const double cos1 = cos(freq * col[i]), sin1 = sin(freq * col[i]);
        double c = M_SQRT2, s = 0;
        u[0] = 1;
        for (int k = 1; k < q; k += 2) {
            const double next = c * cos1 - s * sin1;
            u[k + 1] = s = s * cos1 + c * sin1;
            u[k] = c = next;
        }
    }
    return out;
}

/* Multiplies features, O(n m k0): K = variance u(x)'u(z). */
static void trig_cross(const sg_kernel *self, const sg_points *a, const sg_points *b,
                       int symmetric, double *K, const sg_ws *ws)
{
    (void) symmetric, (void) ws;
    sg_gemm('T', 'N', a->n, b->n, a->q, exp(self->theta[0]), a->u, a->q, b->u, b->q, 0, K, a->n);
}

/* Fills in variance (2 k0 + 1), the squared length of every feature vector. */
static void trig_diag(const sg_kernel *self, int n, const double *x, double *k, const sg_ws *ws)
{
    (void) x, (void) ws;
    for (int i = 0; i < n; i++) k[i] = exp(self->theta[0]) * (2 * self->degree[0] + 1);
}

/* Replaces the features by their derivatives in the phase: n (sqrt2 sin nt, -sqrt2 cos nt) for the
 * n-th pair, 0 for the first. P = u_turned(x)'u(z). */
static void turn_features(sg_points *a)
{
    for (int i = 0; i < a->n; i++) {
        double *u = a->u + (size_t) a->q * i;
        u[0] = 0;
        for (int k = 1; k < a->q; k += 2) {
            const double c = u[k], order = (k + 1) / 2;
            u[k] = order * u[k + 1];
            u[k + 1] = -order * c;
        }
    }
}

/* d/dlog period = sum Kbar variance freq delta P,  P = 2 sum_n n sin(n freq delta) */
static void trig_adjoint(const sg_kernel *self, int n, const double *x, int m, const double *z,
                         const double *K, const double *Kbar, double *dtheta, const sg_ws *ws)
{
    const double *xc = x + (size_t) n * self->vars[0];
    const double *zc = (z ? z : x) + (size_t) m * self->vars[0];
    sg_points a = trig_prepare(self, n, x, NULL, ws);
    const sg_points b = trig_prepare(self, m, z ? z : x, NULL, ws);
    double *P = sg_doubles(ws, (size_t) n * (m < SG_BLOCK ? m : SG_BLOCK));
    double dvariance = 0, dperiod = 0;
    turn_features(&a);
    sg_block block = {0};
    while (sg_next_block(n, m, 0, &block)) {
        sg_gemm('T', 'N', n, block.nj, a.q, 1, a.u, a.q, b.u + (size_t) b.q * block.j0, b.q, 0, P,
                n);
        for (int jj = 0; jj < block.nj; jj++) {
            const int j = block.j0 + jj;
            for (int i = 0; i < n; i++) {
                const size_t at = i + (size_t) n * j;
                dvariance += Kbar[at] * K[at];
                dperiod += Kbar[at] * (xc[i] - zc[j]) * P[i + (size_t) n * jj];
            }
        }
        sg_tick(ws);
    }
    dtheta[0] += dvariance;
    dtheta[1] += exp(self->theta[0]) * 2 * M_PI / exp(self->theta[1]) * dperiod;
}

/* Adds the diagonal's derivative in log variance; the period does not move it. */
static void trig_adjoint_diag(const sg_kernel *self, int n, const double *x, const double *kbar,
                              double *dtheta, const sg_ws *ws)
{
    (void) x, (void) ws;
    const double k = exp(self->theta[0]) * (2 * self->degree[0] + 1);
    for (int i = 0; i < n; i++) dtheta[0] += k * kbar[i];
}

/* Sums the series: dK/dx = -2 variance sum_k k a sin(k a delta), d2K/dxdz = 2 variance sum_k
 * (k a)^2 cos(k a delta), a = 2 pi / period. O(n m k0). */
static void trig_jet(const sg_kernel *self, int n, const double *x, const double *v, int m,
                     const double *z, const double *w, const sg_jet *out, const sg_ws *ws)
{
    const double variance = exp(self->theta[0]), freq = 2 * M_PI / exp(self->theta[1]);
    const size_t own = (size_t) n * self->vars[0], other = (size_t) m * self->vars[0];
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < n; i++) {
            const double angle = freq * (x[own + i] - z[other + j]);
            double value = 1, slope = 0, curve = 0;
            for (int k = 1; k <= self->degree[0]; k++) {
                const double c = cos(k * angle), s = sin(k * angle);
                value += 2 * c, slope -= 2 * k * s, curve += 2.0 * k * k * c;
            }
            const size_t at = i + (size_t) n * j;
            out->K[at] = variance * value;
            out->dx[at] = variance * freq * slope * v[own + i];
            if (!out->dz) continue;
            out->dz[at] = -variance * freq * slope * w[other + j];
            out->dxdz[at] = variance * freq * freq * curve * v[own + i] * w[other + j];
        }
        sg_tick(ws);
    }
}

const sg_kernel_type sg_kernels_periodic[] = {
    {.name = "periodic", .valid = periodic_valid, .ntheta = periodic_ntheta,
     .prepare = periodic_prepare, .cross = periodic_cross, .diag = periodic_diag,
     .adjoint = periodic_adjoint,
     .adjoint_diag = periodic_adjoint_diag, .jet = periodic_jet},
    {.name = "trig", .valid = trig_valid, .ntheta = trig_ntheta, .prepare = trig_prepare,
     .cross = trig_cross, .diag = trig_diag, .adjoint = trig_adjoint,
     .adjoint_diag = trig_adjoint_diag,
     .jet = trig_jet},
    {0}
};
