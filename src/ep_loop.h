/* ep_loop.h: the iteration of EP, whatever holds the posterior.
 *
 * A sweep is a fold over spans of rows: a model is begun at what the last sweep has left of the
 * sites, and then each span goes through marginals, cavities, tilts, new sites, and the new sites'
 * part of the next sums. So rows are read once a sweep, and a step that is shortened reads none: it
 * is a convex combination of two sets of sites and of their sums. */
#ifndef SG_EP_LOOP_H
#define SG_EP_LOOP_H

#include "coupled.h"
#include "ep_step.h"
#include "sites.h"

typedef struct {
    int sweeps;     /* most sweeps */
    int batch;      /* sweeps before the sequential fall-back takes over */
    int mixing;     /* past sweeps that a step is mixed from; 0: none */
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

/* What turns sites into marginals. A model that knows the sites by their sums (S = sum V_i'T_i V_i,
 * t = sum V_i'nu_i on a basis) has them collected by absorb(); one that reads the sites themselves
 * has none (sums 0, absorb NULL). */
typedef struct {
    void *self;
    int span;    /* rows that go through at once */
    int at_hand; /* may marginals() be of any number of spans at once? */
    size_t sums; /* numbers in the sums of the sites of all rows */
    const double *base; /* sums of rows that are not at hand, whose sites stand; NULL: none */
    /* the posterior of the sites, or of their sums; *log_det = log|A|. SG_NOT_PD when with these
     * there is none */
    sg_status (*begin)(void *self, const sg_sites *sites, const double *sums, double *log_det);
    /* looks at the rows of a span, which the next two are about; may be NULL */
    void (*look)(void *self, sg_span span);
    /* mean, var, g (w = 1) and alpha of a span */
    void (*marginals)(void *self, const sg_sites *sites, sg_span span, sg_marginals *marg);
    /* adds the part of a span's sites of process c, tau[m blocks] and nu[m values], to the sums;
     * processes are on as many lanes (par.h) as products have, and it takes no memory */
    void (*absorb)(void *self, int c, sg_span span, const double *tau, const double *nu,
                   double *sums, int lane);
    /* turns sums that were zero before all that absorb() has added since begin(), or since ever,
     * into those that begin() takes */
    void (*finish)(void *self, double *sums);
    /* one pass over the rows in turn, starting where marg belongs to the sites, each site going a
     * share `damping` of its way; returns the rows refused. NULL: batch sweeps only. */
    int (*sequential)(void *self, const sg_rows *rows, double damping, sg_sites *sites,
                      const sg_marginals *marg);
    sg_carrier carrier; /* at the posterior last begun; for several classes */
} sg_ep_model;

/* What a fold over spans collects. */
typedef struct {
    double logz;     /* sg_log_evidence() of the rows so far; log|A| comes off it */
    double residual; /* sg_sites_residual() of the rows so far */
} sg_tally;

/* One span of a sweep, after model->begin(): its marginals, cavities and tilts into marg, its part
 * of the tally and, unless next is NULL, its tilts' sites' part into the sums next, which are for
 * model->finish() after the last span. SG_NOT_PD: a cavity is none. */
sg_status sg_ep_pass(const sg_rows *rows, const sg_ep_model *model, const sg_sites *sites,
                     sg_span span, sg_marginals *marg, sg_tally *tally,
                     double *next, const sg_ws *ws);

/* The same of a span that the model has looked at. */
sg_status sg_ep_pass_seen(const sg_rows *rows, const sg_ep_model *model, const sg_sites *sites,
                          sg_span span, sg_marginals *marg, sg_tally *tally,
                          double *next, const sg_ws *ws);

/* One span of a read without marginals: adds its sites to the sums, which are for model->finish()
 * after the last span. Where the likelihood's sites are exact they are set first. */
void sg_ep_collect(const sg_rows *rows, const sg_ep_model *model, sg_sites *sites, sg_span span,
                   double *sums, const sg_ws *ws);

/* Runs EP from the sites given (zeros: from scratch) to a residual of options->tol. rows->prior is
 * the scale of the mixing. On return sites, sums[model->sums], marginals, report and what the model
 * keeps belong together. A status other than SG_OK means that the sites given, or the model, led to
 * numbers that are not finite. A step is taken only as far as there are a posterior and a cavity of
 * every row: it is halved until there are. Where that happens time and again, and where a third of
 * the sweeps has been of no avail, sites with negative precisions are given up (sites->narrow on
 * return): the evidence is then not stationary in the sites, and its gradient not exact.
 *
 * A sweep reads the rows once, and a second time where the new sites are not those of the tilts:
 * with mixing, and for classes with a likelihood in common. Memory besides the arguments: 2 numbers
 * a latent value and two sets of sums; with mixing 4 options->mixing + 10 more a latent value. */
sg_status sg_ep_loop(const sg_rows *rows, const sg_ep_model *model, const sg_ep_options *options,
                     sg_sites *sites, double *sums, sg_marginals *marg, sg_ep_report *report,
                     const sg_ws *ws);

#endif
