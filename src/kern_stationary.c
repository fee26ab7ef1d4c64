/* kern_stationary.c: variance * k(r2), r2 = |x - z|^2 / lengthscale^2 (ARD: one lengthscale per
 * input; a factor adds levels[k] / lengthscale^2 where x and z are of different levels). Distances,
 * ARD, diagonal, cross and adjoint are written once; a member is its radial functions
 * (kern_radial.c) and a row in the table at the end.
 *
 * theta: log variance, log lengthscale (1 or p of them), log shape where the member has one. */
#include <math.h>
#include "la.h"
#include "dist.h"

/* Returns the member's radial functions. */
static const sg_radial *radial_of(const sg_kernel *self)
{
    return self->type->family;
}

static int n_lengthscales(const sg_kernel *self)
{
    return self->ard ? self->p : 1;
}

/* Returns the shape, the last hyperparameter of members that have one. */
static double shape_of(const sg_kernel *self)
{
    return radial_of(self)->dshape ? exp(self->theta[1 + n_lengthscales(self)]) : 0;
}

static int stationary_ntheta(const sg_kernel *self)
{
    return 1 + n_lengthscales(self) + (radial_of(self)->dshape != NULL);
}

static sg_points stationary_prepare(const sg_kernel *self, int n, const double *x,
                                    const sg_points *like, const sg_ws *ws)
{
    return sg_points_scaled(self, n, x, self->theta + 1, self->ard, like, ws);
}

typedef struct {
    const sg_kernel *self;
    double variance, shape;
} cross_job;

/* column = variance k(r2) */
static void cross_column(void *ctx, const sg_block *block, int jj, double *column)
{
    (void) jj;
    const cross_job *job = ctx;
    radial_of(job->self)->value(block->ni, column, job->shape, column);
    for (int i = 0; i < block->ni; i++) column[i] *= job->variance;
}

static void stationary_cross(const sg_kernel *self, const sg_points *a, const sg_points *b,
                             int symmetric, double *K, const sg_ws *ws)
{
    cross_job job = {self, exp(self->theta[0]), shape_of(self)};
    const int n = a->n;
    sg_block block = {0};
    while (sg_next_block(n, b->n, symmetric, &block)) {
        double *out = K + block.i0 + (size_t) n * block.j0;
        sg_sqdist(a, b, &block, cross_column, &job, out, n, ws);
        sg_tick(ws);
    }
    if (symmetric) sg_mirror('L', n, K, n);
}

static void stationary_diag(const sg_kernel *self, int n, const double *x, double *k,
                            const sg_ws *ws)
{
    (void) x, (void) ws;
    sg_fill(n, exp(self->theta[0]), k);
}

/* The points of both sides. */
typedef struct {
    sg_points a, b;
} sides;

/* Sums that the adjoint accumulates. With W = Kbar o dK/dr2:
 *   isotropic  sum_ij W_ij r2_ij
 *   ARD        row and column sums of W, and W b by dgemm, since
 *              sum_ij W_ij (a_ik - b_jk)^2 = a_k^2'rows + b_k^2'cols - 2 a_k'(W b_k)
 * Close pairs would cancel there, and a Matern 1/2 slope grows without bound as they close in: they
 * are summed from their differences into near[k] and left out of W. Of a factor
 *   sum_ij W_ij weight_k [levels differ]
 * is summed pair by pair into differ[k]. */
typedef struct {
    double variance, shape, iso;
    double *rows, *cols, *Wb, *near, *differ;
} adjoint_sums;

/* One column's part of it, in a block. */
typedef struct {
    const sg_kernel *self;
    const sides *s;
    const double *K, *kbar; /* n x m, and the block's part of Kbar or what stands for it */
    double variance, shape; /* hyperparameters */
    double *W;              /* n x nj */
    double *dvariance, *dshape, *iso; /* SG_BLOCK */
    double *cols;                     /* m: all columns' */
    double *near;                     /* q x SG_BLOCK */
    double *differ;                   /* nlevel x SG_BLOCK */
} adjoint_job;

static void add_close_pair(const sides *s, int i, int j, double w, double *near)
{
    const size_t q = s->a.q;
    const double *u = s->a.u + q * i, *v = s->b.u + q * j;
    for (size_t k = 0; k < q; k++) near[k] += w * (u[k] - v[k]) * (u[k] - v[k]);
}

/* Gives each pair below the block on the diagonal the weight of its two entries in Kbar, so that
 * the other is never visited. out: as the block's columns of Kbar, from the row of its diagonal.
 * A few rows at a time, so that what is read across stays in cache. */
static void fold_block(int n, const sg_block *block, const double *Kbar, double *out)
{
    enum { TILE = 16 };
    for (int from = 0; from < block->ni; from += TILE) {
        const int to = block->ni - from < TILE ? block->ni : from + TILE;
        for (int jj = 0; jj < block->nj; jj++) {
            const size_t j = block->j0 + jj, first = block->i0;
            const double *column = Kbar + first + n * j, *across = Kbar + j + n * first;
            double *folded = out + (size_t) n * jj;
            for (int i = from; i < to; i++) {
                folded[i] = column[i] + (i < block->nj ? 0 : across[(size_t) n * i]);
            }
        }
    }
}

/* w[ni]: dK/dr2 of column j, by a factor, becomes W's; its sums are left in the job. */
static void weigh_column(const adjoint_job *job, const sg_block *block, int jj, double factor,
                         const double *kbar, const double *r2, double *w)
{
    const int n = block->ni, i0 = block->i0, j = block->j0 + jj;
    double *near = job->near + (size_t) job->s->a.q * jj;
    double *differ = job->differ + (size_t) job->s->a.nlevel * jj;
    double col = 0, iso = 0;
    sg_zero(job->s->a.q, near);
    for (int i = 0; i < n; i++) w[i] *= factor * kbar[i];
    for (int k = 0; job->self->ard && k < job->s->a.nlevel; k++) {
        differ[k] = sg_sum_differing(&job->s->a, k, i0, i0 + n, &job->s->b, j, w);
    }
    for (int i = 0; i < n; i++) {
        if (w[i] == 0) continue; /* r2 may be Inf where the kernel vanished */
        iso += w[i] * r2[i];
        if (job->self->ard && sg_pair_is_close(&job->s->a, i0 + i, &job->s->b, j, r2[i])) {
            add_close_pair(job->s, i0 + i, j, w[i], near);
            w[i] = 0;
        }
        col += w[i];
    }
    job->iso[jj] = iso;
    job->cols[j] = col;
}

static void adjoint_column(void *ctx, const sg_block *block, int jj, double *r2)
{
    const adjoint_job *job = ctx;
    const sg_radial *rad = radial_of(job->self);
    const int n = block->ni;
    const size_t rows = job->s->a.n, j = block->j0 + jj;
    const double *kbar = job->kbar + rows * jj, *K = job->K + block->i0 + rows * j;
    double *w = job->W + rows * jj;
    job->dvariance[jj] = sg_dot(n, kbar, K);
    if (rad->dshape) {
        rad->dshape(n, r2, job->shape, w);
        job->dshape[jj] = job->variance * sg_dot(n, kbar, w);
    }
    if (rad->ratio == 0) rad->slope(n, r2, job->shape, w);
    else sg_copy(n, K, w);
    weigh_column(job, block, jj, rad->ratio == 0 ? job->variance : rad->ratio, kbar, r2, w);
}

/* A block's columns, in order. */
static void add_block(const adjoint_job *job, const sg_block *block, adjoint_sums *sums)
{
    const int n = block->ni, i0 = block->i0, q = job->s->a.q, rows = job->s->a.n;
    for (int jj = 0; jj < block->nj; jj++) {
        sums->variance += job->dvariance[jj];
        sums->iso += job->iso[jj];
        if (radial_of(job->self)->dshape) sums->shape += job->dshape[jj];
        if (!job->self->ard) continue;
        const double *w = job->W + (size_t) rows * jj, *near = job->near + (size_t) q * jj;
        for (int i = 0; i < n; i++) sums->rows[i0 + i] += w[i];
        for (int k = 0; k < q; k++) sums->near[k] += near[k];
        const int factors = job->s->a.nlevel;
        for (int k = 0; k < factors; k++) sums->differ[k] += job->differ[k + factors * jj];
    }
    if (job->self->ard) {
        sg_gemm('N', 'T', n, q, block->nj, 1, job->W, rows, job->s->b.u + (size_t) q * block->j0,
                q, 1, sums->Wb + i0, rows);
    }
}

/* sum[k] += w_i u_ik^2 over the points */
static void add_squares(const sg_points *points, const double *w, double *sum)
{
    for (int i = 0; i < points->n; i++) {
        const double *u = points->u + (size_t) points->q * i;
        for (int k = 0; k < points->q; k++) sum[k] += w[i] * u[k] * u[k];
    }
}

/* Adds the sums of numbers and of factors to the length scales of the inputs that they are. */
static void add_ard(const sg_kernel *self, const sides *s, adjoint_sums *sums, double *dlog_ell)
{
    const size_t n = s->a.n, q = s->a.q;
    double *sum = sums->near;
    add_squares(&s->a, sums->rows, sum);
    add_squares(&s->b, sums->cols, sum);
    for (size_t k = 0; k < q; k++) {
        for (size_t i = 0; i < n; i++) sum[k] -= 2 * s->a.u[k + q * i] * sums->Wb[i + n * k];
    }
    const double *number = sum, *factor = sums->differ;
    for (int k = 0; k < self->p; k++) {
        dlog_ell[k] -= 2 * (sg_kernel_is_factor(self, k) ? *factor++ : *number++);
    }
}

static void stationary_adjoint(const sg_kernel *self, int n, const double *x, int m,
                               const double *z, const double *K, const double *Kbar,
                               double *dtheta, const sg_ws *ws)
{
    sides s;
    s.b = stationary_prepare(self, m, z ? z : x, NULL, ws);
    s.a = stationary_prepare(self, n, x, &s.b, ws);
    const size_t room = (size_t) n * (m < SG_BLOCK ? m : SG_BLOCK);
    double *r2 = sg_doubles(ws, room);
    adjoint_sums sums = {0, 0, 0, sg_zeros(n, ws), sg_doubles(ws, m),
                         sg_zeros(self->ard ? (size_t) n * self->p : 0, ws), sg_zeros(self->p, ws),
                         sg_zeros(self->p, ws)};
    adjoint_job job = {.self = self, .s = &s, .K = K, .cols = sums.cols,
                       .variance = exp(self->theta[0]), .shape = shape_of(self)};
    job.W = sg_doubles(ws, room), job.near = sg_doubles(ws, (size_t) self->p * SG_BLOCK);
    job.differ = sg_doubles(ws, (size_t) self->p * SG_BLOCK);
    job.dvariance = sg_doubles(ws, SG_BLOCK), job.dshape = sg_doubles(ws, SG_BLOCK);
    job.iso = sg_doubles(ws, SG_BLOCK);
    double *folded = z ? NULL : sg_doubles(ws, room);
    sg_block block = {0};
    while (sg_next_block(n, m, z == NULL, &block)) {
        if (folded) fold_block(n, &block, Kbar, folded); /* Kbar need not be symmetric */
        job.kbar = folded ? folded : Kbar + (size_t) n * block.j0;
        sg_sqdist(&s.a, &s.b, &block, adjoint_column, &job, r2, n, ws);
        add_block(&job, &block, &sums);
        sg_tick(ws);
    }
    dtheta[0] += sums.variance;
    if (self->ard) add_ard(self, &s, &sums, dtheta + 1);
    else dtheta[1] -= 2 * sums.iso;
    if (radial_of(self)->dshape) dtheta[1 + n_lengthscales(self)] += sums.shape;
}

static void stationary_adjoint_diag(const sg_kernel *self, int n, const double *x,
                                    const double *kbar, double *dtheta, const sg_ws *ws)
{
    (void) x, (void) ws;
    const double variance = exp(self->theta[0]);
    for (int i = 0; i < n; i++) dtheta[0] += variance * kbar[i];
}

/* ---- Derivatives along directions ---- */

/* Writes column j from k, k' = dk/dr2 and k'': with delta = (x - z) / lengthscale,
 *   dx = 2 k' delta'v,   dz = -2 k' delta'w,   dxdz = -4 k'' delta'v delta'w - 2 k' v'w,
 * times the variance. Without a derivative they are 0. */
static void jet_column(const sg_kernel *self, int n, size_t at, const sg_pair_products *p,
                       double *work, const sg_jet *out)
{
    const sg_radial *rad = radial_of(self);
    const double variance = exp(self->theta[0]), shape = shape_of(self);
    double *slope = work, *curve = work + n;
    rad->value(n, p->r2, shape, out->K + at);
    sg_zero(2 * (size_t) n, work);
    if (rad->curve) {
        rad->slope(n, p->r2, shape, slope);
        rad->curve(n, p->r2, shape, curve);
    }
    for (int i = 0; i < n; i++) {
        const double twice = 2 * variance * slope[i];
        out->K[at + i] *= variance;
        out->dx[at + i] = twice * p->dv[i];
        if (!out->dz) continue;
        out->dz[at + i] = -twice * p->dw[i];
        out->dxdz[at + i] = -4 * variance * curve[i] * p->dv[i] * p->dw[i] - twice * p->vw[i];
    }
}

/* Goes column by column from differences, as slopes are wanted where points are close. O(n m p). */
static void stationary_jet(const sg_kernel *self, int n, const double *x, const double *v, int m,
                           const double *z, const double *w, const sg_jet *out, const sg_ws *ws)
{
    const double *log_ell = self->theta + 1;
    const sg_points b = stationary_prepare(self, m, z, NULL, ws);
    const sg_points a = stationary_prepare(self, n, x, &b, ws);
    const double *along = sg_directions_scaled(self, n, v, log_ell, self->ard, ws);
    const double *other = w ? sg_directions_scaled(self, m, w, log_ell, self->ard, ws) : NULL;
    const sg_pair_products products = {sg_doubles(ws, n), sg_doubles(ws, n), sg_doubles(ws, n),
                                       sg_doubles(ws, n)};
    double *work = sg_doubles(ws, 2 * (size_t) n);
    for (int j = 0; j < m; j++) {
        sg_multiply_pairs(&a, along, &b, other, j, &products);
        jet_column(self, n, (size_t) n * j, &products, work, out);
        if (j % SG_BLOCK == 0) sg_tick(ws);
    }
}

/* ---- Gradient in the points ---- */

/* Keeps what a column of W = Kbar o dK/dr2 is made of. */
typedef struct {
    const sg_kernel *self;
    const double *Kbar;
    double variance, shape;
} pull_job;

/* Turns a column of squared distances into one of W, in place. */
static void pull_column(void *ctx, const sg_block *block, int jj, double *column)
{
    const pull_job *job = ctx;
    const double *kbar = job->Kbar + (size_t) block->ni * (block->j0 + jj);
    radial_of(job->self)->slope(block->ni, column, job->shape, column);
    for (int i = 0; i < block->ni; i++) column[i] *= job->variance * kbar[i];
}

/* Adds -2 (sum_i W_ij u_ik - v_jk sum_i W_ij) / lengthscale_k to every input of point j. pulled[q]:
 * the sums over u. */
static void add_pull(const sg_kernel *self, const sg_points *b, int j, double weight,
                     const double *pulled, double *dz)
{
    const double *v = b->u + (size_t) b->q * j;
    for (int k = 0, number = 0; k < self->p; k++) {
        if (sg_kernel_is_factor(self, k)) continue;
        const double ell = exp(self->theta[1 + (self->ard ? k : 0)]);
        dz[j + (size_t) b->n * self->vars[k]] -= 2 * (pulled[number] - weight * v[number]) / ell;
        number++;
    }
}

/* Multiplies W with the features by dgemm, block by block: with delta = (x - z) / lengthscale,
 * dr2/dz_k = -2 delta_k / lengthscale_k. Nothing cancels but what is small beside W, as slopes are
 * bounded where there is a derivative. O(n m p). */
static void stationary_adjoint_inputs(const sg_kernel *self, int n, const double *x, int m,
                                      const double *z, const double *Kbar, double *dz,
                                      const sg_ws *ws)
{
    const sg_points b = stationary_prepare(self, m, z, NULL, ws);
    const sg_points a = stationary_prepare(self, n, x, &b, ws);
    pull_job job = {self, Kbar, exp(self->theta[0]), shape_of(self)};
    if (!radial_of(self)->curve || a.q == 0) return;
    double *W = sg_doubles(ws, (size_t) n * (m < SG_BLOCK ? m : SG_BLOCK));
    double *pulled = sg_doubles(ws, (size_t) a.q * SG_BLOCK);
    sg_block block = {0};
    while (sg_next_block(n, m, 0, &block)) {
        sg_sqdist(&a, &b, &block, pull_column, &job, W, n, ws);
        sg_gemm('N', 'N', a.q, block.nj, n, 1, a.u, a.q, W, n, 0, pulled, a.q);
        for (int jj = 0; jj < block.nj; jj++) {
            double weight = 0;
            for (int i = 0; i < n; i++) weight += W[i + (size_t) n * jj];
            add_pull(self, &b, block.j0 + jj, weight, pulled + (size_t) a.q * jj, dz);
        }
        sg_tick(ws);
    }
}

/* ---- As a Markov process ---- */

/* Writes the term of a Matern function of one input, lambda = (2 order - 1)^1/2 / lengthscale. */
static int stationary_terms(const sg_kernel *self, int harmonics, sg_markov_term *term)
{
    (void) harmonics;
    const int order = radial_of(self)->order;
    if (order == 0 || self->p != 1 || sg_kernel_is_factor(self, 0)) return 0;
    *term = (sg_markov_term) {.order = order, .variance = exp(self->theta[0]),
                              .lambda = sqrt(2.0 * order - 1) / exp(self->theta[1])};
    return 1;
}

/* dlambda / dlog lengthscale = -lambda */
static void stationary_terms_adjoint(const sg_kernel *self, int harmonics,
                                     const sg_markov_slope *slope, double *dtheta)
{
    sg_markov_term term;
    if (stationary_terms(self, harmonics, &term) == 0) return;
    dtheta[0] += slope->variance;
    dtheta[1] -= slope->lambda * term.lambda;
}

#define STATIONARY(id, member)                                                                  \
    {.name = id, .ntheta = stationary_ntheta, .prepare = stationary_prepare,                    \
     .cross = stationary_cross, .diag = stationary_diag, .adjoint = stationary_adjoint,         \
     .adjoint_diag = stationary_adjoint_diag, .jet = stationary_jet,                            \
     .adjoint_inputs = stationary_adjoint_inputs, .terms = stationary_terms,                    \
     .terms_adjoint = stationary_terms_adjoint, .family = member}

/* Members of other packages are no part of the table. */
sg_kernel_type sg_stationary_type(const sg_radial *radial)
{
    return (sg_kernel_type) STATIONARY("extension", radial);
}

const sg_kernel_type sg_kernels_stationary[] = {
    STATIONARY("rbf", &sg_radial_rbf),
    STATIONARY("matern12", &sg_radial_matern12),
    STATIONARY("matern32", &sg_radial_matern32),
    STATIONARY("matern52", &sg_radial_matern52),
    STATIONARY("rq", &sg_radial_rq),
    {0}
};
