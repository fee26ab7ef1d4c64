/* ep_loop.h: the iteration of EP, whatever holds the posterior.
 *
 * A model turns sites into marginals; this loop does the rest: cavities, tilts, evidence, residual,
 * damped and mixed steps, and the record of how it went. */
#ifndef SG_EP_LOOP_H
#define SG_EP_LOOP_H

#include "coupled.h"
#include "sites.h"

typedef struct {
    int sweeps;     /* most sweeps */
    int batch;      /* sweeps before the sequential fall-back takes over */
    double damping; /* share of a batch step taken at first, in (0, 1] */
    double tol;     /* convergence: sg_sites_residual() at most this */
} sg_ep_options;

enum { SG_TRACE = 1000 }; /* sweeps that are traced */

typedef struct {
    int sweeps;     /* done */
    int converged;
    int damped;     /* sweeps with a step below options.damping, or halved on its way */
    int sequential; /* sequential sweeps */
    int skipped;    /* site updates refused, over all sweeps */
    int flat;       /* rows that would widen the posterior and were not allowed to */
    double change;  /* last residual */
    double logz;    /* log evidence at the returned sites */
    double *trace;  /* [2 x SG_TRACE]: log evidence and residual of each of the first sweeps */
} sg_ep_report;

typedef struct {
    void *self;
    /* mean, var, g, alpha of marg and *log_det = log|A| from the sites, from scratch; SG_NOT_PD
     * when with these sites there is no posterior */
    sg_status (*refresh)(void *self, const sg_sites *sites, sg_marginals *marg, double *log_det);
    /* one pass over the rows in turn, starting where marg belongs to the sites, each site going a
     * share `damping` of its way; returns the rows refused. NULL: batch sweeps only. */
    int (*sequential)(void *self, const sg_rows *rows, double damping, sg_sites *sites,
                      const sg_marginals *marg);
    sg_carrier carrier; /* at the sites last refreshed; for several classes */
} sg_ep_model;

/* Runs EP from the sites given (zeros: from scratch) to a residual of options->tol.
 * prior_var[n x C] is the scale of the mixing. On return sites, marginals, report and what the
 * model keeps belong together. A status other than SG_OK means that the sites given, or the model,
 * led to numbers that are not finite. A step is taken only as far as there are a posterior and a
 * cavity of every row (1 - tau var > 0): it is halved until there are. Where that happens time and
 * again, and where a third of the sweeps has been of no avail, sites with negative precisions are
 * given up (sites->narrow on return): the evidence is then not stationary in the sites, and its
 * gradient not exact. */
sg_status sg_ep_loop(const sg_rows *rows, const sg_ep_model *model, const sg_ep_options *options,
                     const double *prior_var, sg_sites *sites, sg_marginals *marg,
                     sg_ep_report *report, const sg_ws *ws);

#endif
