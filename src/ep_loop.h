/* ep_loop.h: EP of rows in memory, whatever holds the posterior.
 *
 * ep_iteration.h decides which steps are taken. A sweep is a fold over rows (ep_fold.h). A step
 * that is shortened reads no row: it is a convex combination of two sets of sites and of their
 * sums. */
#ifndef SG_EP_LOOP_H
#define SG_EP_LOOP_H

#include "ep_fold.h"
#include "ep_iteration.h"
#include "ep_step.h"

enum { SG_TRACE = 1000 }; /* sweeps that are traced */

typedef struct {
    int sweeps;     /* done */
    int converged;
    int damped;     /* sweeps with a step below options.damping, or halved on its way */
    int sequential; /* sequential sweeps */
    int skipped;    /* site updates refused, over all sweeps */
    int n_clipped;  /* rows that would widen the posterior and were not allowed to */
    double change;  /* last residual */
    double logz;    /* log evidence at the returned sites */
    double *trace;  /* [2 x SG_TRACE]: log evidence and residual of each of the first sweeps */
} sg_ep_report;

/* Runs EP from the sites given (zeros: from scratch) to a residual of options->tol. rows->prior is
 * the scale of the mixing. On return sites, sums[model->sums], marginals, report and what the model
 * keeps belong together. A status other than SG_OK means that the sites given, or the model, led to
 * numbers that are not finite. A step is taken only as far as there are a posterior and a cavity of
 * every row: it is halved until there are. Where that happens time and again, and where a third of
 * the sweeps has been of no avail, sites with negative precisions are given up (sites->nonnegative
 * on return): the evidence is then not stationary in the sites, and its gradient not exact.
 *
 * A sweep reads the rows once, and a second time where the new sites are not those of the tilts:
 * with mixing, and for classes with a likelihood in common. Memory besides the arguments: 2 numbers
 * a latent value and two sets of sums; with mixing 4 options->mixing + 10 more a latent value. */
sg_status sg_ep_loop(const sg_rows *rows, const sg_ep_model *model, const sg_ep_options *options,
                     sg_sites *sites, double *sums, sg_marginals *marg, sg_ep_report *report,
                     const sg_ws *ws);

#endif
