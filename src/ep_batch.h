/* ep_batch.h: expectation propagation of all rows on a frozen basis (EP-FITC).
 *
 * A site is on the part that the basis carries (basis_rows.h); gamma joins the cavity's variance
 * when the likelihood is asked. Fixed point and evidence are those of dense EP with the kernel
 * matrix K_nB K_B^{-1} K_Bn + diag(gamma).
 *
 * Several processes are on one basis with one kernel, or each on a basis, with or without a kernel
 * of its own. */
#ifndef SG_EP_BATCH_H
#define SG_EP_BATCH_H

#include "basis_rows.h"
#include "ep_loop.h"

/* The posterior of z of one process: N(m, (A'A)^{-1}), A'A = I + S. */
typedef struct {
    double *Ainv; /* d x d: A^{-1}, upper triangular, zero below */
    double *m;    /* d */
    double *Am;   /* d: A m = A^{-T} t */
} sg_batch_factor;

sg_batch_factor *sg_batch_factors_new(const sg_bases *bases, const sg_ws *ws);

/* How many numbers the sums have, and where those of process c begin: S[d x d], of which the lower
 * triangle counts, and after it t[d]. */
size_t sg_batch_sums(const sg_bases *bases);
double *sg_batch_sums_of(const sg_bases *bases, int c, double *sums);

/* A model for sg_ep_loop() and sg_ep_sweep(), rows->gamma and rows->prior being those of the
 * bases. Marginals are of what a basis carries, without gamma. self stays in ws. A sweep costs two
 * products of n w d^2 for each process; where V is not held, K_nB and a third one. The third one
 * is spared, but in the first sweep, for a basis that one process has for itself, unless sites are
 * sharp. rows_in_all: that the sums are of, with those read in other chunks. */
sg_ep_model sg_batch_model(const sg_rows *rows, double rows_in_all, const sg_bases *bases,
                           sg_batch_factor *factor, const sg_ws *ws);

#endif
