/* ep_full.h: expectation propagation with every row in the basis.
 *
 * The dense matrix and its factor are full_factor.h's. */
#ifndef SG_EP_FULL_H
#define SG_EP_FULL_H

#include "ep_loop.h"
#include "full_factor.h"

/* sg_ep_loop() for K[N x N], full symmetric: the one that all processes share (kernels = 1), or one
 * after the other for each (kernels = C). rows->prior is filled in here. A sweep costs 2 C N^3 / 3
 * in LAPACK. Sequential sweeps for C = 1 and w = 1 only. */
sg_status sg_ep_full_run(const sg_rows *rows, const double *K, int kernels,
                         const sg_ep_options *options, sg_sites *sites, sg_marginals *marg,
                         sg_full_factor *factor, sg_ep_report *report, const sg_ws *ws);

#endif
