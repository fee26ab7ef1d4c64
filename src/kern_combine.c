/* kern_combine.c: sums and products of kernels. theta: the children's, one after the other. */
#include "kernel.h"

static int combine_ntheta(const sg_kernel *self)
{
    int sum = 0;
    for (int c = 0; c < self->nchild; c++) sum += sg_kernel_ntheta(self->child[c]);
    return sum;
}

static void add(double *to, const double *from, size_t size)
{
    for (size_t i = 0; i < size; i++) to[i] += from[i];
}

static void multiply(double *to, const double *from, size_t size)
{
    for (size_t i = 0; i < size; i++) to[i] *= from[i];
}

/* What tells the two composites apart: the neutral element and the operation. */
typedef struct {
    double neutral;
    void (*combine)(double *to, const double *from, size_t size);
} combination;

static const combination SUM = {0, add}, PRODUCT = {1, multiply};

static sg_points combine_prepare(const sg_kernel *self, int n, const double *x,
                                 const sg_points *like, const sg_ws *ws)
{
    sg_points out = sg_points_new(n, 0, ws);
    out.nparts = self->nchild;
    out.part = sg_points_array(self->nchild, ws);
    for (int c = 0; c < self->nchild; c++) {
        out.part[c] = sg_kernel_prepare(self->child[c], n, x, like ? like->part + c : NULL, ws);
    }
    return out;
}

static void combine_cross(const sg_kernel *self, const sg_points *a, const sg_points *b,
                          int symmetric, double *K, const sg_ws *ws)
{
    const combination *op = self->type->family;
    const size_t size = (size_t) a->n * b->n;
    double *part = sg_doubles(ws, size);
    sg_fill(size, op->neutral, K);
    for (int c = 0; c < self->nchild; c++) {
        const sg_points *other = symmetric ? NULL : b->part + c;
        sg_kernel_between(self->child[c], a->part + c, other, part, ws);
        op->combine(K, part, size);
    }
}

static void combine_diag(const sg_kernel *self, int n, const double *x, double *k,
                         const sg_ws *ws)
{
    const combination *op = self->type->family;
    double *part = sg_doubles(ws, n);
    sg_fill(n, op->neutral, k);
    for (int c = 0; c < self->nchild; c++) {
        sg_kernel_diag(self->child[c], n, x, part, ws);
        op->combine(k, part, n);
    }
}

static void sum_adjoint(const sg_kernel *self, int n, const double *x, int m, const double *z,
                        const double *K, const double *Kbar, double *dtheta, const sg_ws *ws)
{
    (void) K;
    double *part = sg_doubles(ws, (size_t) n * m);
    for (int c = 0; c < self->nchild; c++) {
        sg_kernel_cross(self->child[c], n, x, m, z, part, ws);
        sg_kernel_adjoint(self->child[c], n, x, m, z, part, Kbar, dtheta, ws);
        dtheta += sg_kernel_ntheta(self->child[c]);
    }
}

static void sum_adjoint_diag(const sg_kernel *self, int n, const double *x, const double *kbar,
                             double *dtheta, const sg_ws *ws)
{
    for (int c = 0; c < self->nchild; c++) {
        sg_kernel_adjoint_diag(self->child[c], n, x, kbar, dtheta, ws);
        dtheta += sg_kernel_ntheta(self->child[c]);
    }
}

/* Child c sees Kbar times the product of its siblings. The siblings are multiplied out anew for
 * each child: a division by the child's own K would fail where it is zero. */
static void product_adjoint(const sg_kernel *self, int n, const double *x, int m, const double *z,
                            const double *K, const double *Kbar, double *dtheta, const sg_ws *ws)
{
    (void) K;
    const size_t size = (size_t) n * m;
    double *part = sg_doubles(ws, size), *weight = sg_doubles(ws, size);
    for (int c = 0; c < self->nchild; c++) {
        sg_copy(size, Kbar, weight);
        for (int s = 0; s < self->nchild; s++) {
            if (s == c) continue;
            sg_kernel_cross(self->child[s], n, x, m, z, part, ws);
            multiply(weight, part, size);
        }
        sg_kernel_cross(self->child[c], n, x, m, z, part, ws);
        sg_kernel_adjoint(self->child[c], n, x, m, z, part, weight, dtheta, ws);
        dtheta += sg_kernel_ntheta(self->child[c]);
    }
}

static void product_adjoint_diag(const sg_kernel *self, int n, const double *x,
                                 const double *kbar, double *dtheta, const sg_ws *ws)
{
    double *part = sg_doubles(ws, n), *weight = sg_doubles(ws, n);
    for (int c = 0; c < self->nchild; c++) {
        sg_copy(n, kbar, weight);
        for (int s = 0; s < self->nchild; s++) {
            if (s == c) continue;
            sg_kernel_diag(self->child[s], n, x, part, ws);
            multiply(weight, part, n);
        }
        sg_kernel_adjoint_diag(self->child[c], n, x, weight, dtheta, ws);
        dtheta += sg_kernel_ntheta(self->child[c]);
    }
}

const sg_kernel_type sg_kernels_combine[] = {
    {.name = "sum", .ntheta = combine_ntheta, .prepare = combine_prepare, .cross = combine_cross,
     .diag = combine_diag, .adjoint = sum_adjoint, .adjoint_diag = sum_adjoint_diag,
     .family = &SUM},
    {.name = "product", .ntheta = combine_ntheta, .prepare = combine_prepare,
     .cross = combine_cross, .diag = combine_diag, .adjoint = product_adjoint,
     .adjoint_diag = product_adjoint_diag, .family = &PRODUCT},
    {0}
};
