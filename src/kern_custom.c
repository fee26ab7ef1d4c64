/* kern_custom.c: a kernel that the host evaluates (kernel.h).
 *
 *   custom    variance k(x, z; theta)      theta: log variance, then the host's own
 *
 * Points are handed over as they came, without length scales of the core's. The host is called once
 * for each block of columns, on the thread of the call (sg_kernel_workspace()), and answers in
 * memory of the core's. Only the variance is the core's own, because its unit is the response's. */
#include <math.h>
#include <Rmath.h>
#include "kernel.h"

enum { ELEMENTS = 1 << 20 }; /* numbers of a block, so that the host's own copies stay small */

/* Has a host. */
static int custom_valid(const sg_kernel *self)
{
    return self->nchild == 0 && self->host != NULL;
}

/* Counts the variance, and what the host's function takes. */
static int custom_ntheta(const sg_kernel *self)
{
    return 1 + self->host->ntheta;
}

/* Copies the inputs. */
static sg_points custom_prepare(const sg_kernel *self, int n, const double *x,
                                const sg_points *like, const sg_ws *ws)
{
    (void) like;
    return sg_points_of_inputs(n, x, self->p, self->vars, ws);
}

/* Returns how many columns of n numbers make a block. */
static int columns_of_block(int n)
{
    return n < ELEMENTS ? ELEMENTS / imax2(n, 1) : 1;
}

/* K = variance k(a_i, b_j), a block of columns at a time; an empty matrix asks nobody. */
static void custom_cross(const sg_kernel *self, const sg_points *a, const sg_points *b,
                         int symmetric, double *K, const sg_ws *ws)
{
    (void) symmetric;
    const sg_kernel_host *host = self->host;
    const double variance = exp(self->theta[0]);
    const int step = columns_of_block(a->n);
    for (int j = 0; a->n > 0 && j < b->n; j += step) {
        const int m = imin2(step, b->n - j);
        const size_t size = (size_t) a->n * m;
        double *block = K + (size_t) a->n * j;
        host->cross(host->self, self->theta + 1, self->p, a->n, a->u, m, b->u + (size_t) b->q * j,
                    block);
        for (size_t k = 0; k < size; k++) block[k] *= variance;
        sg_tick(ws);
    }
}

/* k_i = variance k(x_i, x_i) */
static void custom_diag(const sg_kernel *self, int n, const double *x, double *k, const sg_ws *ws)
{
    const sg_kernel_host *host = self->host;
    const sg_points points = custom_prepare(self, n, x, NULL, ws);
    const double variance = exp(self->theta[0]);
    if (n == 0) return;
    host->diag(host->self, self->theta + 1, self->p, n, points.u, k);
    for (int i = 0; i < n; i++) k[i] *= variance;
}

/* Adds the host's sums over weights times the variance to those of its own hyperparameters. */
static void add_slopes(const sg_kernel *self, const double *slope, double *dtheta)
{
    const double variance = exp(self->theta[0]);
    for (int t = 0; t < self->host->ntheta; t++) dtheta[1 + t] += variance * slope[t];
}

/* d/dlog variance = sum_ij Kbar_ij K_ij; the host sums Kbar_ij dk_ij/dtheta block by block. */
static void custom_adjoint(const sg_kernel *self, int n, const double *x, int m, const double *z,
                           const double *K, const double *Kbar, double *dtheta, const sg_ws *ws)
{
    const sg_kernel_host *host = self->host;
    const sg_points a = custom_prepare(self, n, x, NULL, ws);
    const sg_points b = z ? custom_prepare(self, m, z, NULL, ws) : a;
    const size_t size = (size_t) n * m;
    double *slope = sg_doubles(ws, host->ntheta);
    for (size_t k = 0; k < size; k++) dtheta[0] += Kbar[k] * K[k];
    const int step = columns_of_block(n);
    for (int j = 0; n > 0 && host->ntheta > 0 && j < m; j += step) {
        host->adjoint(host->self, self->theta + 1, self->p, n, a.u, imin2(step, m - j),
                      b.u + (size_t) b.q * j, Kbar + (size_t) n * j, slope);
        add_slopes(self, slope, dtheta);
        sg_tick(ws);
    }
}

/* The same of the diagonal. */
static void custom_adjoint_diag(const sg_kernel *self, int n, const double *x, const double *kbar,
                                double *dtheta, const sg_ws *ws)
{
    const sg_kernel_host *host = self->host;
    double *k = sg_doubles(ws, n), *slope = sg_doubles(ws, host->ntheta);
    if (n == 0) return;
    custom_diag(self, n, x, k, ws);
    for (int i = 0; i < n; i++) dtheta[0] += kbar[i] * k[i];
    if (host->ntheta == 0) return;
    const sg_points points = custom_prepare(self, n, x, NULL, ws);
    host->adjoint_diag(host->self, self->theta + 1, self->p, n, points.u, kbar, slope);
    add_slopes(self, slope, dtheta);
}

const sg_kernel_type sg_kernels_custom[] = {
    {.name = "custom", .valid = custom_valid, .ntheta = custom_ntheta,
     .prepare = custom_prepare, .cross = custom_cross,
     .diag = custom_diag, .adjoint = custom_adjoint, .adjoint_diag = custom_adjoint_diag},
    {0}
};
