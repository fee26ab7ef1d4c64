/* ep_markov.h: expectation propagation of a process of one input that is Markov: the posterior of
 * full EP (ep_full.h), by a filter and a smoother (markov_filter.h). */
#ifndef SG_EP_MARKOV_H
#define SG_EP_MARKOV_H

#include "ep_loop.h"
#include "markov_path.h"

/* A process and its posterior. */
typedef struct {
    const sg_markov_form *form;
    const sg_markov_start *start; /* markov_filter.h; NULL: there is none */
    sg_markov_trend trend;
    sg_markov_trace trace;
    double *tau, *nu; /* n, 1 + q x n: the sites of times */
} sg_markov_process;

/* Processes, C of them, with room for their filters; forms: of the kernel that all share, or one
 * each. They have no start. phi[rows x q]: functions of a linear mean. */
sg_markov_process *sg_markov_processes(const sg_markov_path *path, int C, int kernels,
                                       const sg_markov_form *forms, int q, const double *phi,
                                       const sg_ws *ws);

/* Runs sg_ep_loop() for these processes, w = 1, of classes that have no likelihood in common.
 * J[n x q C], or NULL: alpha of the mean's functions times L^{-1} (full_trend.h). A sweep costs
 * O(C n m^2). Where a process has a start with a mean, mu at the rows, report->logz lacks
 * sum mu alpha / 2.
 * Memory: (m + 6) numbers a time and process besides what the loop takes. */
sg_status sg_ep_markov_run(const sg_rows *rows, const sg_markov_path *path,
                           sg_markov_process *processes, int kernels,
                           const sg_ep_options *options, sg_sites *sites, sg_marginals *marg,
                           double *J, sg_ep_report *report, const sg_ws *ws);

#endif
