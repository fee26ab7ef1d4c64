/* kern_coregion.c: coregionalisation of the components of a vector, of which one input column says
 * which a point is of, 1 .. w (kern_vector.c).
 *
 *   coregion           B[c, c'] of any w components, whatever x: times a kernel of x it makes
 *       components out of one function each, correlated or not. degree: w and the rank; theta: as
 *       correlation.h has it; none for a rank below 0, where B is the identity. */
#include "block.h"
#include "correlation.h"
#include "kernel.h"

/* Is B the identity? */
static int is_identity(const sg_kernel *self)
{
    return self->degree[1] < 0;
}

/* Reads a component, and has a number of them and a rank below it. */
static int coregion_valid(const sg_kernel *self)
{
    return self->p > 0 && self->nchild == 0 && self->ndegree == 2 && self->degree[0] >= 1 &&
        self->degree[0] <= SG_BLOCK_MAX && self->degree[1] >= -1 &&
        self->degree[1] < self->degree[0];
}

/* Counts the components. */
static int coregion_components(const sg_kernel *self)
{
    return self->degree[0];
}

/* Counts theta: w variances and the partial correlations up to the rank. */
static int coregion_ntheta(const sg_kernel *self)
{
    return is_identity(self) ? 0 : sg_correlation_npar(self->degree[0], self->degree[1]);
}

static sg_points coregion_prepare(const sg_kernel *self, int n, const double *x,
                                  const sg_points *like, const sg_ws *ws)
{
    (void) like;
    return sg_points_of_inputs(n, x, 1, self->vars, ws);
}

/* Computes L and B = LL', w x w. */
static void coregion_matrix(const sg_kernel *self, double *L, double *B)
{
    const int w = self->degree[0];
    if (is_identity(self)) {
        for (int i = 0; i < w * w; i++) B[i] = i % (w + 1) == 0;
        return;
    }
    sg_correlation_factor(w, self->degree[1], self->theta, L);
    sg_correlation_product(w, L, B);
}

/* Returns where B has components ci and cj; derived fields have no part in it. */
static int place_in(int w, double ci, double cj)
{
    return ci < 1 || cj < 1 ? -1 : (int) ci - 1 + w * ((int) cj - 1);
}

/* Looks each pair of components up in B. O(n m). */
static void coregion_cross(const sg_kernel *self, const sg_points *a, const sg_points *b,
                           int symmetric, double *K, const sg_ws *ws)
{
    (void) symmetric, (void) ws;
    double L[SG_BLOCK_SIZE], B[SG_BLOCK_SIZE];
    coregion_matrix(self, L, B);
    for (int j = 0; j < b->n; j++) {
        for (int i = 0; i < a->n; i++) {
            const int at = place_in(self->degree[0], a->u[i], b->u[j]);
            K[i + (size_t) a->n * j] = at < 0 ? 0 : B[at];
        }
    }
}

/* Looks up B's diagonal. */
static void coregion_diag(const sg_kernel *self, int n, const double *x, double *k,
                          const sg_ws *ws)
{
    (void) ws;
    double L[SG_BLOCK_SIZE], B[SG_BLOCK_SIZE];
    const double *component = x + (size_t) n * self->vars[0];
    coregion_matrix(self, L, B);
    for (int i = 0; i < n; i++) {
        const int at = place_in(self->degree[0], component[i], component[i]);
        k[i] = at < 0 ? 0 : B[at];
    }
}

/* Adds what Bbar = sum Kbar over the pairs of two components makes of theta: dL = (Bbar + Bbar')
 * L. */
static void add_correlation(const sg_kernel *self, const double *Bbar, double *dtheta)
{
    const int w = self->degree[0], rank = self->degree[1];
    double L[SG_BLOCK_SIZE], twice[SG_BLOCK_SIZE], dL[SG_BLOCK_SIZE];
    if (is_identity(self)) return;
    sg_correlation_factor(w, rank, self->theta, L);
    for (int j = 0; j < w; j++) {
        for (int i = 0; i < w; i++) twice[i + w * j] = Bbar[i + w * j] + Bbar[j + w * i];
    }
    sg_block_multiply(w, twice, L, dL);
    sg_correlation_adjoint(w, rank, self->theta, L, dL, dtheta);
}

/* Sums Kbar over the pairs of each two components, O(n m), and goes on from there in w x w. */
static void coregion_adjoint(const sg_kernel *self, int n, const double *x, int m,
                             const double *z, const double *K, const double *Kbar,
                             double *dtheta, const sg_ws *ws)
{
    (void) K, (void) ws;
    double Bbar[SG_BLOCK_SIZE] = {0};
    const double *ci = x + (size_t) n * self->vars[0];
    const double *cj = (z ? z : x) + (size_t) m * self->vars[0];
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < n; i++) {
            Bbar[place_in(self->degree[0], ci[i], cj[j])] += Kbar[i + (size_t) n * j];
        }
    }
    add_correlation(self, Bbar, dtheta);
}

/* Does the same for the diagonal of Kbar. */
static void coregion_adjoint_diag(const sg_kernel *self, int n, const double *x,
                                  const double *kbar, double *dtheta, const sg_ws *ws)
{
    (void) ws;
    double Bbar[SG_BLOCK_SIZE] = {0};
    const double *c = x + (size_t) n * self->vars[0];
    for (int i = 0; i < n; i++) Bbar[place_in(self->degree[0], c[i], c[i])] += kbar[i];
    add_correlation(self, Bbar, dtheta);
}

const sg_kernel_type sg_kernels_coregion[] = {
    {.name = "coregion", .valid = coregion_valid, .components = coregion_components,
     .ntheta = coregion_ntheta, .prepare = coregion_prepare, .cross = coregion_cross,
     .diag = coregion_diag, .adjoint = coregion_adjoint,
     .adjoint_diag = coregion_adjoint_diag},
    {0}
};
