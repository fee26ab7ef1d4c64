/* kern_factor.c: the kernel of groups.
 *
 *   factor    variance where x and z are of the same level of every input, else 0
 *                                    theta: log variance
 *
 * A level is a number. Inputs come shifted and scaled: equal ones may differ by rounding.
 *
 * The kernel of a random effect: a priori independent N(0, variance) values, one for each
 * combination of levels. O(n m p) comparisons. */
#include <math.h>
#include "kernel.h"

static const double SAME = 1e-10; /* numbers of levels lie 1 / sd apart: at least 1e-6 */

/* Counts theta: the variance alone. */
static int factor_ntheta(const sg_kernel *self)
{
    (void) self;
    return 1;
}

/* Copies the inputs: a level is its number. */
static sg_points factor_prepare(const sg_kernel *self, int n, const double *x,
                                const sg_points *like, const sg_ws *ws)
{
    (void) like;
    return sg_points_of_inputs(n, x, self->p, self->vars, ws);
}

/* Are all inputs of two points of the same level, but for rounding? */
static int same_level(int q, const double *u, const double *v)
{
    for (int k = 0; k < q; k++) {
        if (!(fabs(u[k] - v[k]) <= SAME)) return 0;
    }
    return 1;
}

/* K_ij = variance if point i is of the same levels as point j, else 0 */
static void factor_cross(const sg_kernel *self, const sg_points *a, const sg_points *b,
                         int symmetric, double *K, const sg_ws *ws)
{
    (void) symmetric;
    const double variance = exp(self->theta[0]);
    const int q = self->p;
    for (int j = 0; j < b->n; j++) {
        const double *v = b->u + (size_t) q * j;
        double *column = K + (size_t) a->n * j;
        for (int i = 0; i < a->n; i++) {
            column[i] = same_level(q, a->u + (size_t) q * i, v) ? variance : 0;
        }
        sg_tick(ws);
    }
}

/* Writes the variance: a point is of its own levels. */
static void factor_diag(const sg_kernel *self, int n, const double *x, double *k,
                        const sg_ws *ws)
{
    (void) x, (void) ws;
    sg_fill(n, exp(self->theta[0]), k);
}

/* dK/dlog variance = K */
static void factor_adjoint(const sg_kernel *self, int n, const double *x, int m, const double *z,
                           const double *K, const double *Kbar, double *dtheta, const sg_ws *ws)
{
    (void) self, (void) x, (void) z, (void) ws;
    const size_t size = (size_t) n * m;
    for (size_t i = 0; i < size; i++) dtheta[0] += Kbar[i] * K[i];
}

/* Adds variance sum_i kbar_i to the derivative in log variance. */
static void factor_adjoint_diag(const sg_kernel *self, int n, const double *x,
                                const double *kbar, double *dtheta, const sg_ws *ws)
{
    (void) x, (void) ws;
    for (int i = 0; i < n; i++) dtheta[0] += exp(self->theta[0]) * kbar[i];
}

const sg_kernel_type sg_kernels_factor[] = {
    {.name = "factor", .ntheta = factor_ntheta, .prepare = factor_prepare, .cross = factor_cross,
     .diag = factor_diag, .adjoint = factor_adjoint, .adjoint_diag = factor_adjoint_diag},
    {0}
};
