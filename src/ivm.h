/* ivm.h: the informative vector machine (IVM paper, section 3 and appendix C.1): rows join the
 * active set one at a time, each the one that would teach the posterior most. */
#ifndef SG_IVM_H
#define SG_IVM_H

#include "kernel.h"
#include "sites.h"

typedef enum {
    SG_SELECT_INFORMATION, /* KL divergence of the posterior after from that before (eq. 5) */
    SG_SELECT_ENTROPY,     /* fall of the entropy of the row's own marginal */
    SG_SELECT_LUCK         /* by options.luck alone */
} sg_select;

typedef struct {
    int size;           /* most rows in the active set */
    sg_select select;
    double min_gain;    /* stop when no candidate gains more */
    double pool;        /* most doubles in the stubs M; at least size */
    int block;          /* inclusions between shrinkings of the candidate set */
    double keep;        /* share of the candidates kept for their gain; the rest by luck */
    const double *luck; /* n: distinct numbers in random order; small is lucky */
} sg_ivm_options;

typedef enum { SG_IVM_SIZE, SG_IVM_GAIN, SG_IVM_NO_ROW } sg_ivm_stop;

/* What remains of a run. With Pi = diag(tau) over the active set and U'U = I + Pi^1/2 K_I Pi^1/2
 * (paper: U = L'), mean(x) = m'beta and var(x) = K(x,x) - |m|^2, m = U^{-T} Pi^1/2 k(x). */
typedef struct {
    int d;
    int *row;          /* size: active rows in order of inclusion, from 0 */
    double *tau, *nu;  /* size: their sites */
    double *U;         /* size x size upper, leading dimension size */
    double *beta;      /* size */
    double *gain;      /* size: of each inclusion */
    double *logz;      /* size: log evidence after each inclusion, up to candidates given up */
    sg_ivm_stop stop;
} sg_active;

sg_active sg_active_new(int size, const sg_ws *ws);

/* Runs the selection over x[n x p]. Ties within 1e-10 go to the earliest row. Memory: M, min(n
 * size, pool) doubles, and about 75 n. An inclusion is one kernel column (64 computed at a time,
 * for the likeliest candidates), one product of M with a vector, and a tilt for every candidate. */
sg_status sg_ivm_run(const sg_kernel *kernel, const sg_rows *rows, int p, const double *x,
                     const sg_ivm_options *options, sg_active *active, const sg_ws *ws);

/* The stored form (posterior.h): alpha = Pi^1/2 U^{-1} beta and G = Pi^1/2 U^{-1}, d and d x d,
 * zero below the diagonal. */
sg_status sg_active_stored(const sg_active *active, int size, double *alpha, double *G);

#endif
