/* kernel.c: what every kernel is called through, and the catalogue of them.
 *
 * Slots take memory from the workspace and do not give it back; the functions here mark it before
 * a slot is called and release it afterwards. They resolve NULL for "the same points" into the
 * arguments of the slots, so no kernel has to compare pointers. */
#include <string.h>
#include "kernel.h"

/* Asks the type, whose slots trust what it answers. The host that a type needs is a part of it. */
int sg_kernel_is_valid(const sg_kernel *self)
{
    return self->type->valid ? self->type->valid(self) : self->nchild == 0;
}

/* Returns how many components the first input numbers, 0 where it is a number. */
int sg_kernel_components(const sg_kernel *self)
{
    return self->type->components ? self->type->components(self) : 0;
}

/* Asks the type: the number depends on the inputs (ARD), and a composite counts its children's. */
int sg_kernel_ntheta(const sg_kernel *self)
{
    return self->type->ntheta(self);
}

/* A factor has a positive distance between its levels. */
int sg_kernel_is_factor(const sg_kernel *self, int k)
{
    return self->levels[k] > 0;
}

/* Checks the degree of a kernel that has no parts. */
int sg_kernel_has_degree(const sg_kernel *self)
{
    return self->nchild == 0 && self->ndegree > 0 && self->degree[0] >= 0;
}

/* Counts the inputs that are factors: the others are features of points. */
int sg_kernel_nfactors(const sg_kernel *self)
{
    int count = 0;
    for (int k = 0; k < self->p; k++) count += sg_kernel_is_factor(self, k);
    return count;
}

/* Looks for a part that the host evaluates. */
static int is_hosted(const sg_kernel *self)
{
    int found = self->host != NULL;
    for (int c = 0; c < self->nchild; c++) found = found || is_hosted(self->child[c]);
    return found;
}

static int one_thread(void *self, int products)
{
    (void) self, (void) products;
    return 1;
}

/* The host's functions are for the calling thread alone. */
sg_ws sg_kernel_workspace(const sg_kernel *self, const sg_ws *ws)
{
    sg_ws own = *ws;
    if (is_hosted(self)) own.threads = one_thread;
    return own;
}

/* Points stay in the workspace, so the caller marks and releases it. */
sg_points sg_kernel_prepare(const sg_kernel *self, int n, const double *x, const sg_points *like,
                            const sg_ws *ws)
{
    return self->type->prepare(self, n, x, like, ws);
}

/* Gives working memory back, as every call below does: a loop over blocks does not grow. */
void sg_kernel_between(const sg_kernel *self, const sg_points *a, const sg_points *b, double *K,
                       const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    self->type->cross(self, a, b ? b : a, b == NULL, K, ws);
    sg_release(ws, mark);
}

/* Prepares z by itself and x like z, because an origin common to both keeps the digits of distances
 * (points.h: centre). One preparation serves x with itself. */
void sg_kernel_cross(const sg_kernel *self, int n, const double *x, int m, const double *z,
                     double *K, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    const sg_points b = sg_kernel_prepare(self, m, z ? z : x, NULL, ws);
    if (z) {
        const sg_points a = sg_kernel_prepare(self, n, x, &b, ws);
        self->type->cross(self, &a, &b, 0, K, ws);
    } else {
        self->type->cross(self, &b, &b, 1, K, ws);
    }
    sg_release(ws, mark);
}

/* Copies the m points instead of preparing them again: O(m q) beside O(n m p). Copies have the same
 * origin as the others, so the columns are those of the full matrix. */
void sg_kernel_columns(const sg_kernel *self, const sg_points *points, int m, const int *row,
                       double *K, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    const sg_points some = sg_points_rows(points, m, row, ws);
    self->type->cross(self, points, &some, 0, K, ws);
    sg_release(ws, mark);
}

/* Returns the kernel at each point with itself, k_i = K(x_i, x_i): O(n p), and for stationary
 * kernels the variance. */
void sg_kernel_diag(const sg_kernel *self, int n, const double *x, double *k, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    self->type->diag(self, n, x, k, ws);
    sg_release(ws, mark);
}

/* Adds the gradient of any scalar f(K) whose derivatives Kbar_ij = df / dK_ij are given:
 *   df / dtheta_t = sum_ij Kbar_ij dK_ij / dtheta_t
 * (reverse mode: all of theta in one pass, whatever its length). */
void sg_kernel_adjoint(const sg_kernel *self, int n, const double *x, int m, const double *z,
                       const double *K, const double *Kbar, double *dtheta, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    self->type->adjoint(self, n, x, m, z, K, Kbar, dtheta, ws);
    sg_release(ws, mark);
}

/* The same for a function of the diagonal, Kbar diagonal. */
void sg_kernel_adjoint_diag(const sg_kernel *self, int n, const double *x, const double *kbar,
                            double *dtheta, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    self->type->adjoint_diag(self, n, x, kbar, dtheta, ws);
    sg_release(ws, mark);
}

/* Leaves derivatives at 0 where the type has none: it does not depend on the directions. */
void sg_kernel_jet(const sg_kernel *self, int n, const double *x, const double *v, int m,
                   const double *z, const double *w, const sg_jet *out, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    if (self->type->jet) {
        self->type->jet(self, n, x, v, m, z, w, out, ws);
    } else {
        const size_t size = (size_t) n * m;
        sg_kernel_cross(self, n, x, m, z, out->K, ws);
        sg_zero(size, out->dx);
        sg_zero(w ? size : 0, out->dz);
        sg_zero(w ? size : 0, out->dxdz);
    }
    sg_release(ws, mark);
}

/* Adds the gradient along one input after the other: with unit directions of z,
 *   dz_jk = sum_i Kbar_ij dk(x_i, z_j)/dz_jk. */
static void adjoint_by_jets(const sg_kernel *self, int n, const double *x, int m, const double *z,
                            const double *Kbar, double *dz, const sg_ws *ws)
{
    int D = 0;
    for (int k = 0; k < self->p; k++) D = self->vars[k] < D ? D : self->vars[k] + 1;
    const size_t size = (size_t) n * m;
    const double *still = sg_zeros((size_t) n * D, ws);
    double *along = sg_zeros((size_t) m * D, ws);
    const sg_jet jet = {sg_doubles(ws, size), sg_doubles(ws, size), sg_doubles(ws, size),
                        sg_doubles(ws, size)};
    for (int k = 0; k < self->p; k++) {
        if (sg_kernel_is_factor(self, k)) continue;
        const size_t column = (size_t) m * self->vars[k];
        sg_fill(m, 1, along + column);
        sg_kernel_jet(self, n, x, still, m, z, along, &jet, ws);
        sg_fill(m, 0, along + column);
        for (size_t i = 0; i < size; i++) dz[column + i / n] += Kbar[i] * jet.dz[i];
        sg_tick(ws);
    }
}

/* Leaves dz as it is where the type has no derivative along inputs, as sg_kernel_jet() does. */
void sg_kernel_adjoint_inputs(const sg_kernel *self, int n, const double *x, int m,
                              const double *z, const double *Kbar, double *dz, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    if (self->type->adjoint_inputs) {
        self->type->adjoint_inputs(self, n, x, m, z, Kbar, dz, ws);
    } else if (self->type->jet) {
        adjoint_by_jets(self, n, x, m, z, Kbar, dz, ws);
    }
    sg_release(ws, mark);
}

/* Computes the w x w matrix among each row's own points: the diagonal blocks of the w n x w n
 * matrix, O(n w^2 p) instead of O(n^2 w^2 p). */
void sg_kernel_blocks(const sg_kernel *self, int w, int n, int D, const double *x, double *out,
                      const sg_ws *ws)
{
    for (int i = 0; i < n; i++) {
        void *mark = sg_mark(ws);
        /* Kernels take contiguous inputs: the rows are copied. */
        double *own = sg_doubles(ws, (size_t) w * D);
        sg_copy_columns(w, D, x + (size_t) w * i, (size_t) n * w, own, w);
        sg_kernel_cross(self, w, own, w, NULL, out + (size_t) w * w * i, ws);
        sg_release(ws, mark);
    }
}

/* Computes each block again, as adjoints take the matrix that they differentiate, and adds up the
 * gradients of the rows in their order. */
void sg_kernel_adjoint_blocks(const sg_kernel *self, int w, int n, int D, const double *x,
                              const double *Kbar, double *dtheta, const sg_ws *ws)
{
    for (int i = 0; i < n; i++) {
        void *mark = sg_mark(ws);
        double *own = sg_doubles(ws, (size_t) w * D), *K = sg_doubles(ws, (size_t) w * w);
        sg_copy_columns(w, D, x + (size_t) w * i, (size_t) n * w, own, w);
        sg_kernel_cross(self, w, own, w, NULL, K, ws);
        sg_kernel_adjoint(self, w, own, w, NULL, K, Kbar + (size_t) w * w * i, dtheta, ws);
        sg_release(ws, mark);
    }
}

/* Counts through the families in order. The order of the catalogue is that of this list. */
const sg_kernel_type *sg_kernel_type_at(int i)
{
    const sg_kernel_type *const families[] = {sg_kernels_stationary, sg_kernels_periodic,
                                              sg_kernels_dot, sg_kernels_factor,
                                              sg_kernels_vector, sg_kernels_coregion,
                                              sg_kernels_combine, sg_kernels_custom};
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        for (const sg_kernel_type *type = families[f]; type->name; type++) {
            /* Position i of the catalogue, counted down */
            if (i-- == 0) return type;
        }
    }
    return NULL;
}

/* Compares names, the only place where that is done: everything else goes by the slots of a
 * type. */
const sg_kernel_type *sg_kernel_type_find(const char *name)
{
    const sg_kernel_type *type;
    for (int i = 0; (type = sg_kernel_type_at(i)) != NULL; i++) {
        if (strcmp(type->name, name) == 0) return type;
    }
    return NULL;
}
