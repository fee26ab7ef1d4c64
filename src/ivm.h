/* ivm.h: selection by the informative vector machine (IVM paper, section 3; notes 2.3): rows join
 * the active set one at a time, each the one that would teach the posterior most. */
#ifndef SG_IVM_H
#define SG_IVM_H

#include "active.h"

typedef struct {
    int size;           /* most rows in the active set (of each latent function) */
    double total;       /* most inclusions of all latent functions together */
    sg_select select;
    double min_gain;    /* stop when no candidate gains more */
    double pool;        /* most doubles in the stubs M of all; at least size for each */
    int block;          /* inclusions between shrinkings of the candidate set */
    double keep;        /* share of the candidates kept for their gain; the rest at random */
    int exchange;       /* most exchange moves after the selection; one latent function only */
    const double *tie_break; /* n: distinct numbers in random order; the smallest goes first */
} sg_ivm_options;

typedef enum { SG_IVM_SIZE, SG_IVM_GAIN, SG_IVM_NO_ROW } sg_ivm_stop;

typedef struct {
    sg_ivm_stop stop;  /* why the selection ended */
    int exchanged;     /* exchange moves accepted */
    int left;          /* candidates left in the end, those in the active set included */
    const int *row;    /* left: their row numbers, increasing, from 0 */
    int *sequence;     /* whose set each inclusion went into, in order: room for size C */
} sg_ivm_report;

/* Runs the selection over x[n x p]. Of ties (SG_TIE) the earliest row is taken. Memory: M, min(n
 * size, pool) doubles, the prepared inputs, and about 30 n. An inclusion is one kernel column
 * (columns.h), one product of M with a vector, and a tilt for every candidate. An exchange takes
 * out the row whose loss costs the posterior's entropy least and puts in the one that lowers it
 * most, if the entropy falls; the first that fails is the last. O(n d).
 *
 * With C latent functions, one kernel for all (kernels = 1) or one each, an inclusion puts a row
 * into one of the active sets active[C] (paper 4.2); the candidates are common to all, and shrink
 * by their best gain. There is no log evidence along the way then (NaN). */
sg_status sg_ivm_run(int kernels, const sg_kernel *const *kernel, const sg_rows *rows,
                     const double *x, const sg_ivm_options *options, sg_active *active,
                     sg_ivm_report *report, const sg_ws *ws);

#endif
