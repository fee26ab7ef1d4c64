/* online.h: the sparse online algorithm (thesis 3.6): one pass over rows in fixed memory. */
#ifndef SG_ONLINE_H
#define SG_ONLINE_H

#include "exchange.h"
#include "kernel.h"

/* Numbers that a stream keeps of its past besides the process; plain, so it resumes from them.
 * Outcomes of rows come first, under the numbers of sg_row_outcome. */
enum {
    SG_REC_ROWS = SG_ROW_OUTCOMES, /* rows seen */
    SG_REC_LOGZ,                /* sum of log Z, each row given those before it */
    SG_REC_STALE,               /* work since M and a were last rebuilt from S and t */
    SG_REC_STRIDE,              /* rows between entries of the trace */
    SG_REC_TRACED,              /* entries in the trace */
    SG_RECORD
};

/* One entry of the trace: row, basis size, sum of log Z, both KL divergences of the row's step, and
 * how many rows were not skipped. */
enum { SG_TRACE_COLUMNS = 6, SG_TRACE_ROWS = 256 };

typedef struct {
    double count[SG_RECORD];
    double *trace; /* SG_TRACE_COLUMNS x SG_TRACE_ROWS */
} sg_online_record;

typedef struct {
    sg_row_rules rules;
    int informative; /* of the rows of a pool first the one of largest KL gain (thesis 3.8.1) */
    int by_row; /* one row after the other even on a basis that stays: for tests */
} sg_online_options;

/* Takes the rows of x[n w x p] into the process; gp's layout is the likelihood's. Rows are seen in
 * blocks, so kernels and their triangular solves are matrix products while the basis stands still;
 * blocks shrink where it changes. On a predefined basis the posterior moves by blocks, too
 * (row_block.h): matrix products of about 3.5 w d^2 multiplications for each process, for the
 * numbers of one row after the other. Rows whose tilt has no site are skipped and counted. One row
 * after the other costs about 4 w d^2 multiplications, and w d kernel values; where the basis
 * changes about five times that. On a status other than SG_OK the process is of no use. */
sg_status sg_online_run(const sg_kernel *kernel, const double *x, const sg_rows *rows,
                        const sg_online_options *options, sg_process *gp,
                        sg_online_record *record, const sg_ws *ws);

#endif
