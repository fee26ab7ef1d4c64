/* ep_sparse.h: expectation propagation with basis exchange (thesis 4.6 and appendix G). */
#ifndef SG_EP_SPARSE_H
#define SG_EP_SPARSE_H

#include "exchange.h"
#include "kernel.h"

/* Room for n rows of w points: their sites are on V_i'z, V_i as the row was last projected. */
typedef struct {
    int n;
    double *V;     /* cap x n w; coordinates beyond the basis are 0 */
    double *prior; /* n blocks: K among the row's points */
} sg_sparse_rows;

sg_sparse_rows sg_sparse_rows_new(int n, int w, int cap, const sg_ws *ws);

enum { SG_SWEEPS_TRACED = 1000 };

/* One sweep: rows by what became of them, the largest change of a site (in standard deviations of
 * what the basis carries of its cavity), the log evidence at the sites after it, NaN where a row
 * that was skipped has none. */
typedef struct {
    double outcome[SG_ROW_OUTCOMES];
    double change, logz;
} sg_sweep_report;

/* Sweeps until no site changes by more than tol, at most `sweeps` of them; after `freeze` of them
 * the basis stays unchanged. reports[SG_SWEEPS_TRACED] of the first ones, *done of them in all.
 * SG_NOT_PD when sites of negative precision have made I + S indefinite: a row's are seen through
 * the basis of the day, and what was a distribution on one basis need not be on the next.
 * rules->nonnegative does without them; the online algorithm, which takes no site out, needs no
 * such thing. */
sg_status sg_ep_sparse_run(const sg_kernel *kernel, const sg_rows *rows, const double *x,
                           const sg_row_rules *rules, int freeze, int sweeps, double tol,
                           sg_process *gp, sg_sparse_rows *sparse, sg_sites *sites,
                           sg_marginals *marg, double *gamma, sg_sweep_report *reports,
                           int *done, const sg_ws *ws);

#endif
