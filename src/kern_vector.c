/* kern_vector.c: kernels of vectors. A vector's kernel is a scalar one of (x, component): one input
 * column says which component, 1 .. w, a point is of, and only these kernels and kern_coregion.c
 * read it.
 *
 *   divfree, curlfree  of a stationary kernel g(s), s = |eta|^2, eta = (x - z) / lengthscale, of D
 *       inputs and as many components: fields without divergence, and gradients of a potential.
 *       Between components i and j of the two points
 *         variance (A [i = j] + B eta_i eta_j),  a = g'(s) / g'(0),  b = 2 a'(s):
 *         curlfree  A = a,                   B = b             (-grad grad' g, normalised)
 *         divfree   A = a + s b / (D - 1),   B = -b / (D - 1)  ((grad grad' - Laplacian I) g)
 *       The variance is that of one component at a point. With e = d(s b) / ds the derivative in
 *       log lengthscale is the same form with a -> -s b, b -> -2 e. theta: that of g's kernel.
 *
 * A negative component is a field derived from the vectors (`derived`). Derived fields are seen at
 * points a of cross(), components at b; diag() has the variances of both. */
#include <math.h>
#include <string.h>
#include "block.h"
#include "dist.h"
#include "la.h"

enum derived { DIVERGENCE = -1, VORTICITY = -2, STREAM = -3, POTENTIAL = -4 };

/* ---- What becomes of g ---- */

/* a, b, e at s, and the derivatives of a and b in log shape. Where b has no limit at s = 0 it is 0:
 * it only meets eta eta'. */
typedef struct {
    double a, b, e, da, db;
} bend;

static const bend VANISHED = {0, 0, 0, 0, 0};

/* Computes the bend of g = exp(-s / 2): all derivatives are multiples of g. */
static bend rbf_bend(double s, double shape)
{
    (void) shape;
    const double E = exp(-0.5 * s);
    const bend out = {.a = E, .b = -E, .e = (0.5 * s - 1) * E};
    return E > 0 ? out : VANISHED;
}

/* Computes the bend of g = (1 + r) exp(-r), r = sqrt(3 s). g has no third derivative at 0, where b
 * and e are left out. */
static bend matern32_bend(double s, double shape)
{
    (void) shape;
    const double r = sqrt(3 * s), E = exp(-r);
    const bend at_0 = {.a = 1}, out = {.a = E, .b = -3 * E / r, .e = 1.5 * (r - 1) * E / r};
    return E > 0 ? (r > 0 ? out : at_0) : VANISHED;
}

/* Computes the bend of g = (1 + r + r^2 / 3) exp(-r), r = sqrt(5 s). */
static bend matern52_bend(double s, double shape)
{
    (void) shape;
    const double r = sqrt(5 * s), E = exp(-r);
    const bend out = {.a = (1 + r) * E, .b = -5 * E, .e = 5 * (0.5 * r - 1) * E};
    return E > 0 ? out : VANISHED;
}

/* Computes the bend of g = (1 + t)^-shape, t = s / (2 shape). */
static bend rq_bend(double s, double shape)
{
    const double t = s / (2 * shape), log_t = log1p(t), part = t / (1 + t);
    const double a = exp(-(shape + 1) * log_t), b = -(1 + 1 / shape) * exp(-(shape + 2) * log_t);
    const bend out = {.a = a, .b = b, .e = b * (1 - (shape + 2) * part),
                      .da = a * ((shape + 1) * part - shape * log_t),
                      .db = b * ((shape + 2) * part - shape * log_t - 1 / (shape + 1))};
    return isfinite(t) ? out : VANISHED;
}

/* A stationary kernel with a gradient; slope: -g'(0). */
typedef struct {
    const char *name;
    bend (*bend_of)(double s, double shape);
    double slope;
    int shaped;
} radial;

static const radial RADIALS[] = {
    {"rbf", rbf_bend, 0.5, 0},
    {"matern32", matern32_bend, 1.5, 0},
    {"matern52", matern52_bend, 5.0 / 6, 0},
    {"rq", rq_bend, 0.5, 1},
};

/* Finds the entry of the child's type by its name. */
static const radial *radial_of(const sg_kernel *child)
{
    for (size_t k = 0; k < sizeof RADIALS / sizeof *RADIALS; k++) {
        if (strcmp(RADIALS[k].name, child->type->name) == 0) return RADIALS + k;
    }
    return NULL; /* R refuses other kernels */
}

/* The difference between the two kernels: A and B of D inputs from a, b and s b, and which derived
 * fields a part has, which the other part lacks. */
typedef struct {
    double trace, outer; /* A = a + trace s b / (D - 1); B = outer b, of divfree over D - 1 */
    enum derived source, flux;
} structure;

static const structure CURLFREE = {0, 1, POTENTIAL, DIVERGENCE};
static const structure DIVFREE = {1, -1, STREAM, VORTICITY};

/* One kernel with its numbers on their natural scale. */
typedef struct {
    const structure *kind;
    const radial *rad;
    int D;
    double variance, ell, shape;
    double A_of_sb, B_of_b; /* A = a + A_of_sb s b, B = B_of_b b */
} field;

/* Collects the numbers that every entry needs, on their natural scale. */
static field field_of(const sg_kernel *self)
{
    const sg_kernel *child = self->child[0];
    field f = {.kind = self->type->family, .rad = radial_of(child), .D = child->p,
               .variance = exp(child->theta[0]), .ell = exp(child->theta[1])};
    const double others = f.kind->trace ? f.D - 1 : 1;
    f.A_of_sb = f.kind->trace / others;
    f.B_of_b = f.kind->outer / others;
    f.shape = f.rad->shaped ? exp(child->theta[2]) : 0;
    return f;
}

/* ---- Between two points ---- */

/* Computes eta[D]: features of point i, less those of point j. */
static void differences(const sg_points *a, int i, const sg_points *b, int j, double *eta)
{
    const double *u = a->part->u + (size_t) a->part->q * i;
    const double *v = b->part->u + (size_t) b->part->q * j;
    for (int k = 0; k < a->part->q; k++) eta[k] = u[k] - v[k];
}

/* Returns A [i = j] + B eta_i eta_j from a and b there, or from their derivatives. */
static double entry(const field *f, double s, double a, double b, const double *eta, int i, int j)
{
    const double diagonal = i == j ? a + f->A_of_sb * (b == 0 ? 0 : s * b) : 0;
    return diagonal + f->B_of_b * (b == 0 ? 0 : b * eta[i - 1] * eta[j - 1]);
}

/* Returns the covariance of a derived field at the first point with component j at the second. The
 * source is ell a eta_j, its flux (D b + 2 e) eta_j / ell; of the part without divergence rotated
 * by a right angle. A second derived field at the second point is never asked for. */
static double derived_entry(const field *f, const bend *at, const double *eta, int field, int j)
{
    const int source = field == (int) f->kind->source, flux = field == (int) f->kind->flux;
    const double along = f->kind->trace ? (j == 1 ? -eta[1] : eta[0]) : eta[j - 1];
    if (source) return f->ell * at->a * along;
    return flux ? (f->D * at->b + 2 * at->e) * along / f->ell : 0;
}

/* ---- Matrices ---- */

/* Prepares the inputs as the child does, and keeps the components beside them. */
static sg_points field_prepare(const sg_kernel *self, int n, const double *x,
                               const sg_points *like, const sg_ws *ws)
{
    sg_points out = sg_points_of_inputs(n, x, 1, self->vars, ws);
    out.nparts = 1;
    out.part = sg_points_array(1, ws);
    out.part[0] = sg_kernel_prepare(self->child[0], n, x, like ? like->part : NULL, ws);
    return out;
}

/* Has one child, a stationary kernel with a gradient and one length scale for its inputs, which are
 * numbers, and a component for each of these. */
static int field_valid(const sg_kernel *self)
{
    const structure *kind = self->type->family;
    if (self->p < 1 || self->nchild != 1) return 0;
    const sg_kernel *child = self->child[0];
    return radial_of(child) != NULL && !child->ard && sg_kernel_nfactors(child) == 0 &&
        child->p >= (kind->trace ? 2 : 1) && child->p <= SG_BLOCK_MAX;
}

/* Counts the components. */
static int field_components(const sg_kernel *self)
{
    return self->child[0]->p;
}

/* Counts theta: that of g's kernel. */
static int field_ntheta(const sg_kernel *self)
{
    return sg_kernel_ntheta(self->child[0]);
}

typedef struct {
    field f;
    const sg_points *a, *b;
} cross_job;

/* Turns a column of squared distances into covariances of components, or of a derived field with a
 * component. */
static void cross_column(void *ctx, const sg_block *block, int jj, double *column)
{
    const cross_job *job = ctx;
    const int j = block->j0 + jj, cj = (int) job->b->u[j];
    double eta[SG_BLOCK_MAX], s = NAN;
    bend at = VANISHED;
    for (int ii = 0; ii < block->ni; ii++) {
        const int i = block->i0 + ii, ci = (int) job->a->u[i];
        if (cj < 1) { /* a derived field at the second point */
            column[ii] = NAN;
            continue;
        }
        if (column[ii] != s) { /* a location's components follow each other */
            s = column[ii];
            at = job->f.rad->bend_of(s, job->f.shape);
        }
        differences(job->a, i, job->b, j, eta);
        column[ii] = job->f.variance * (ci > 0 ? entry(&job->f, s, at.a, at.b, eta, ci, cj)
                                               : derived_entry(&job->f, &at, eta, ci, cj));
    }
}

/* Fills K block by block from squared distances, O(n m D). Symmetric matrices are filled below the
 * diagonal and mirrored. */
static void field_cross(const sg_kernel *self, const sg_points *a, const sg_points *b,
                        int symmetric, double *K, const sg_ws *ws)
{
    cross_job job = {field_of(self), a, b};
    sg_block block = {0};
    while (sg_next_block(a->n, b->n, symmetric, &block)) {
        double *out = K + block.i0 + (size_t) a->n * block.j0;
        sg_sqdist(a->part, b->part, &block, cross_column, &job, out, a->n, ws);
        sg_tick(ws);
    }
    if (symmetric) sg_mirror('L', a->n, K, a->n);
}

/* Fills in the variance: of a component `variance`; of the source ell^2 / (-2 g'(0)) times that,
 * of its flux -D (D + 2) b(0) / ell^2 times that. The variances of derived fields are limits of
 * the derivatives of derived_entry() at s = 0. */
static void field_diag(const sg_kernel *self, int n, const double *x, double *k, const sg_ws *ws)
{
    (void) ws;
    const field f = field_of(self);
    const double *component = x + (size_t) n * self->vars[0];
    const double source = f.variance * f.ell * f.ell / (2 * f.rad->slope);
    const double flux = -f.D * (f.D + 2) * f.rad->bend_of(0, f.shape).b * f.variance /
        (f.ell * f.ell);
    for (int i = 0; i < n; i++) {
        const int c = (int) component[i];
        k[i] = c > 0 ? f.variance
            : c == (int) f.kind->source ? source : c == (int) f.kind->flux ? flux : 0;
    }
}

/* ---- Adjoints ---- */

/* A block of an adjoint, each column with sums of its own, so threads do not meet. */
typedef struct {
    field f;
    const sg_points *a, *b;
    const double *K, *Kbar;
    double sums[SG_BLOCK][3]; /* of a block's columns: log variance, log lengthscale, log shape */
} adjoint_job;

/* Sums Kbar times the derivative of each entry over a column. */
static void adjoint_column(void *ctx, const sg_block *block, int jj, double *r2)
{
    adjoint_job *job = ctx;
    const field *f = &job->f;
    const int n = block->ni, j = block->j0 + jj, cj = (int) job->b->u[j];
    const double *K = job->K + (size_t) n * j, *Kbar = job->Kbar + (size_t) n * j;
    double eta[SG_BLOCK_MAX], s = NAN, *sums = job->sums[jj];
    bend at = VANISHED;
    sg_zero(3, sums);
    for (int i = 0; i < n; i++) {
        const int ci = (int) job->a->u[i];
        if (r2[i] != s) {
            s = r2[i];
            at = f->rad->bend_of(s, f->shape);
        }
        differences(job->a, i, job->b, j, eta);
        const double weight = f->variance * Kbar[i], sb = at.b == 0 ? 0 : s * at.b;
        sums[0] += Kbar[i] * K[i];
        sums[1] += weight * entry(f, s, -sb, -2 * at.e, eta, ci, cj);
        if (f->rad->shaped) sums[2] += weight * entry(f, s, at.da, at.db, eta, ci, cj);
    }
}

/* Adds the gradient in g's hyperparameters. O(n m D). */
static void field_adjoint(const sg_kernel *self, int n, const double *x, int m, const double *z,
                          const double *K, const double *Kbar, double *dtheta, const sg_ws *ws)
{
    const sg_points b = field_prepare(self, m, z ? z : x, NULL, ws);
    const sg_points a = field_prepare(self, n, x, &b, ws);
    adjoint_job job = {.f = field_of(self), .a = &a, .b = &b, .K = K, .Kbar = Kbar};
    double *r2 = sg_doubles(ws, (size_t) n * (m < SG_BLOCK ? m : SG_BLOCK));
    sg_block block = {0};
    while (sg_next_block(n, m, 0, &block)) {
        sg_sqdist(a.part, b.part, &block, adjoint_column, &job, r2, n, ws);
        for (int jj = 0; jj < block.nj; jj++) {
            for (int t = 0; t < field_ntheta(self); t++) dtheta[t] += job.sums[jj][t];
        }
        sg_tick(ws);
    }
}

/* Adds variance sum_i kbar_i, as no component's variance depends on anything else. */
static void field_adjoint_diag(const sg_kernel *self, int n, const double *x, const double *kbar,
                               double *dtheta, const sg_ws *ws)
{
    (void) x, (void) ws;
    const double variance = exp(self->child[0]->theta[0]);
    for (int i = 0; i < n; i++) dtheta[0] += variance * kbar[i];
}

#define FIELD(id, kind)                                                                         \
    {.name = id, .valid = field_valid, .components = field_components, .ntheta = field_ntheta,  \
     .prepare = field_prepare, .cross = field_cross, .diag = field_diag,                        \
     .adjoint = field_adjoint, .adjoint_diag = field_adjoint_diag, .family = &kind}

const sg_kernel_type sg_kernels_vector[] = {
    FIELD("divfree", DIVFREE),
    FIELD("curlfree", CURLFREE),
    {0}
};
