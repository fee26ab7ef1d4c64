/* kern_combine.c: sums and products of kernels. theta: the children's, one after the other.
 *
 * A composite prepares its children's points and asks each child for its own matrix, so any kernel
 * may be a child, another composite too. It costs what the children cost, and one matrix of the
 * same size to hold a child's; adjoints compute the children's matrices again, because nothing is
 * kept from the matrix to its gradient. */
#include "kernel.h"

/* Has a child at least. */
static int combine_valid(const sg_kernel *self)
{
    return self->nchild > 0;
}

/* Adds up the children's: theta is theirs, one after the other, without any of its own. */
static int combine_ntheta(const sg_kernel *self)
{
    int sum = 0;
    for (int c = 0; c < self->nchild; c++) sum += sg_kernel_ntheta(self->child[c]);
    return sum;
}

/* to += from, element by element */
static void add(double *to, const double *from, size_t size)
{
    for (size_t i = 0; i < size; i++) to[i] += from[i];
}

/* to *= from, element by element */
static void multiply(double *to, const double *from, size_t size)
{
    for (size_t i = 0; i < size; i++) to[i] *= from[i];
}

/* Adds up all of two jets. */
static void add_jet(const sg_jet *to, const sg_jet *from, size_t size)
{
    add(to->K, from->K, size);
    add(to->dx, from->dx, size);
    if (!to->dz) return;
    add(to->dz, from->dz, size);
    add(to->dxdz, from->dxdz, size);
}

/* Applies the product rule, the mixed derivative first, as it reads the others:
 *   (k l)_xz = k_xz l + k_x l_z + k_z l_x + k l_xz */
static void multiply_jet(const sg_jet *to, const sg_jet *from, size_t size)
{
    for (size_t i = 0; to->dz && i < size; i++) {
        to->dxdz[i] = to->dxdz[i] * from->K[i] + to->dx[i] * from->dz[i] +
            to->dz[i] * from->dx[i] + to->K[i] * from->dxdz[i];
        to->dz[i] = to->dz[i] * from->K[i] + to->K[i] * from->dz[i];
    }
    for (size_t i = 0; i < size; i++) {
        to->dx[i] = to->dx[i] * from->K[i] + to->K[i] * from->dx[i];
        to->K[i] *= from->K[i];
    }
}

/* Holds what distinguishes the two composites: the neutral element, and the operation on
 * elements and on their derivatives. */
typedef struct {
    double neutral;
    void (*combine)(double *to, const double *from, size_t size);
    void (*combine_jets)(const sg_jet *to, const sg_jet *from, size_t size);
} combination;

static const combination SUM = {0, add, add_jet}, PRODUCT = {1, multiply, multiply_jet};

/* Prepares the same points for every child; the composite itself has no features. */
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

/* Combines the children's matrices one after the other:
 *   sum  K = sum_c K_c,   product  K = K_1 o K_2 o ..., element by element.
 * Both are kernels if the children are (for the product: Schur). */
static void combine_cross(const sg_kernel *self, const sg_points *a, const sg_points *b,
                          int symmetric, double *K, const sg_ws *ws)
{
    const combination *op = self->type->family;
    const size_t size = (size_t) a->n * b->n;
    double *part = sg_doubles(ws, size);
    /* K starts at 0 for a sum and at 1 for a product. */
    sg_fill(size, op->neutral, K);
    for (int c = 0; c < self->nchild; c++) {
        /* A child may save half of a symmetric matrix, too. */
        const sg_points *other = symmetric ? NULL : b->part + c;
        sg_kernel_between(self->child[c], a->part + c, other, part, ws);
        op->combine(K, part, size);
    }
}

/* The same for the diagonals, O(n) for each child: the diagonal of a product is the product of the
 * diagonals. */
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

/* Hands Kbar to every child: with K = sum_c K_c,
 *   dK / dtheta_c = dK_c / dtheta_c.
 * A child's own matrix is computed anew, as its adjoint wants it and the sum no longer has it. The
 * slices of theta do not overlap, so each child adds to its own part of dtheta. */
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

/* Hands kbar to every child, as sum_adjoint() does. dtheta moves on by each child's number of
 * hyperparameters. */
static void sum_adjoint_diag(const sg_kernel *self, int n, const double *x, const double *kbar,
                             double *dtheta, const sg_ws *ws)
{
    for (int c = 0; c < self->nchild; c++) {
        sg_kernel_adjoint_diag(self->child[c], n, x, kbar, dtheta, ws);
        dtheta += sg_kernel_ntheta(self->child[c]);
    }
}

/* Computes weight = Kbar o P_c, P_c = prod_{s != c} K_s. It is multiplied out anew for each child,
 * O(children^2) matrices: K / K_c would fail where K_c is 0. part: scratch. */
static void weigh_by_siblings(const sg_kernel *self, int c, int n, const double *x, int m,
                              const double *z, const double *Kbar, double *part, double *weight,
                              const sg_ws *ws)
{
    const size_t size = (size_t) n * m;
    sg_copy(size, Kbar, weight);
    for (int s = 0; s < self->nchild; s++) {
        if (s == c) continue;
        sg_kernel_cross(self->child[s], n, x, m, z, part, ws);
        multiply(weight, part, size);
    }
}

/* Hands Kbar times its siblings to every child: with K = K_c o P_c,
 *   sum_ij Kbar_ij dK_ij / dtheta_c = sum_ij (Kbar o P_c)_ij dK_c,ij / dtheta_c. */
static void product_adjoint(const sg_kernel *self, int n, const double *x, int m, const double *z,
                            const double *K, const double *Kbar, double *dtheta, const sg_ws *ws)
{
    (void) K;
    const size_t size = (size_t) n * m;
    double *part = sg_doubles(ws, size), *weight = sg_doubles(ws, size);
    for (int c = 0; c < self->nchild; c++) {
        weigh_by_siblings(self, c, n, x, m, z, Kbar, part, weight, ws);
        sg_kernel_cross(self->child[c], n, x, m, z, part, ws);
        sg_kernel_adjoint(self->child[c], n, x, m, z, part, weight, dtheta, ws);
        dtheta += sg_kernel_ntheta(self->child[c]);
    }
}

/* Hands kbar times the siblings' diagonals to every child. No child is divided by here either: a
 * linear kernel is 0 at the origin. */
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

/* Hands Kbar to every child: their inputs are the same ones. */
static void sum_adjoint_inputs(const sg_kernel *self, int n, const double *x, int m,
                               const double *z, const double *Kbar, double *dz, const sg_ws *ws)
{
    for (int c = 0; c < self->nchild; c++) {
        sg_kernel_adjoint_inputs(self->child[c], n, x, m, z, Kbar, dz, ws);
    }
}

/* Hands Kbar times its siblings to every child, by the product rule. */
static void product_adjoint_inputs(const sg_kernel *self, int n, const double *x, int m,
                                   const double *z, const double *Kbar, double *dz,
                                   const sg_ws *ws)
{
    const size_t size = (size_t) n * m;
    double *part = sg_doubles(ws, size), *weight = sg_doubles(ws, size);
    for (int c = 0; c < self->nchild; c++) {
        weigh_by_siblings(self, c, n, x, m, z, Kbar, part, weight, ws);
        sg_kernel_adjoint_inputs(self->child[c], n, x, m, z, weight, dz, ws);
    }
}

/* Combines the children's matrices and derivatives one after the other. */
static void combine_jet(const sg_kernel *self, int n, const double *x, const double *v, int m,
                        const double *z, const double *w, const sg_jet *out, const sg_ws *ws)
{
    const combination *op = self->type->family;
    const size_t size = (size_t) n * m, mixed = w ? size : 0;
    const sg_jet part = {sg_doubles(ws, size), sg_doubles(ws, size),
                         w ? sg_doubles(ws, size) : NULL, w ? sg_doubles(ws, size) : NULL};
    sg_fill(size, op->neutral, out->K);
    sg_zero(size, out->dx);
    sg_zero(mixed, out->dz);
    sg_zero(mixed, out->dxdz);
    for (int c = 0; c < self->nchild; c++) {
        sg_kernel_jet(self->child[c], n, x, v, m, z, w, &part, ws);
        op->combine_jets(out, &part, size);
    }
}

const sg_kernel_type sg_kernels_combine[] = {
    {.name = "sum", .valid = combine_valid, .ntheta = combine_ntheta, .prepare = combine_prepare,
     .cross = combine_cross, .diag = combine_diag, .adjoint = sum_adjoint,
     .adjoint_diag = sum_adjoint_diag,
     .jet = combine_jet, .adjoint_inputs = sum_adjoint_inputs, .family = &SUM},
    {.name = "product", .valid = combine_valid, .ntheta = combine_ntheta,
     .prepare = combine_prepare, .cross = combine_cross, .diag = combine_diag,
     .adjoint = product_adjoint,
     .adjoint_diag = product_adjoint_diag, .jet = combine_jet,
     .adjoint_inputs = product_adjoint_inputs, .family = &PRODUCT},
    {0}
};
