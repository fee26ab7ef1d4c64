/* ep_batch.h: expectation propagation of all rows on a frozen basis (EP-FITC).
 *
 * The latent function is split into the part a basis B of d points carries and a residual:
 *   u = v'w + residual,  v = R^{-T} k(x),  w ~ N(0, I) a priori,
 *   residual variance gamma = K(x,x) - |v|^2, K_B = R'R.
 * A site is on the carried part v'w; gamma joins the cavity's variance when the likelihood is
 * asked. Fixed point and evidence are those of dense EP with K_nB K_B^{-1} K_Bn + diag(gamma).
 *
 * Several classes are as many latent functions, on one basis with one kernel, or each on a basis
 * with a kernel of its own. */
#ifndef SG_EP_BATCH_H
#define SG_EP_BATCH_H

#include "ep_loop.h"
#include "kernel.h"

/* The rows seen through a basis, a block of them at a time. */
typedef struct {
    const sg_kernel *kernel;
    int n, D, d;
    const double *x, *basis; /* n x D, d x D */
    double *KB;              /* d x d */
    double *Rinv;     /* d x d upper: inverse of the factor of K_B + jitter diag(K_B) */
    double *gamma;    /* n, >= 0 */
    double *V;        /* block after block of rows, m x d each; NULL: computed at every look */
    double jitter;    /* relative to K_B's diagonal; 0 unless K_B could not be factored without */
} sg_basis_rows;

/* Factor and residuals for x[n x D] and basis[d x D]; V is held if n d <= pool. gamma[n] is the
 * caller's. O(n d^2). SG_NOT_PD when even a jitter of 1e-6 does not help. */
sg_status sg_basis_rows_new(const sg_kernel *kernel, int n, int D, const double *x, int d,
                            const double *basis, double pool, double *gamma, sg_basis_rows *b,
                            const sg_ws *ws);

typedef struct {
    int from, m; /* rows from .. from + m - 1 */
} sg_row_block;

/* The blocks of n rows in order: call with *block zeroed until it returns 0. */
int sg_next_rows(int n, sg_row_block *block);

/* Room for a block of `width` columns. */
double *sg_block_room(int n, int width, const sg_ws *ws);

/* V of a block, m x d: as held, or computed into room[m x d]. */
const double *sg_basis_block(const sg_basis_rows *b, const sg_row_block *block, double *room,
                             const sg_ws *ws);

/* K_nB of a block into out[m x d]; x_block[m x D], its inputs, is filled on the way. */
void sg_basis_kernel_block(const sg_basis_rows *b, const sg_row_block *block, double *x_block,
                           double *out, const sg_ws *ws);

/* Bases of C latent functions: one they share (count 1), or one each (count C). */
typedef struct {
    int count, C;
    int kernels;         /* 1, or one for each basis */
    sg_basis_rows *each;
} sg_bases;

/* The classes on basis g are first .. last - 1. */
static inline int sg_first_class(const sg_bases *b, int g) { return b->count == 1 ? 0 : g; }
static inline int sg_last_class(const sg_bases *b, int g) { return b->count == 1 ? b->C : g + 1; }

/* The posterior of w of one class: N(m, (A'A)^{-1}), A'A = I + V' diag(tau) V. */
typedef struct {
    double *A; /* d x d; on return A^{-1}, upper triangular; strict lower triangle undefined */
    double *m; /* d */
} sg_batch_factor;

/* sg_ep_loop() on the bases. rows->gamma[n x C] holds theirs, class by class. Marginals are of the
 * carried part; factor[C]. A sweep is one dsyrk and one dtrmm of n x d for every class, O(C n d^2),
 * and where V is not held twice its computation, O(n d (d + p)) for every basis. */
sg_status sg_ep_batch_run(const sg_rows *rows, const sg_bases *bases,
                          const sg_ep_options *options, sg_sites *sites, sg_marginals *marg,
                          sg_batch_factor *factor, sg_ep_report *report, const sg_ws *ws);

#endif
