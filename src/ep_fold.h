/* ep_fold.h: a sweep of EP as a fold over windows of rows: a model is begun at what the last sweep
 * has left of the sites, and then each window goes through marginals, cavities, tilts, new sites,
 * and the new sites' part of the next sums. So rows are read once a sweep. */
#ifndef SG_EP_FOLD_H
#define SG_EP_FOLD_H

#include "coupled.h"
#include "par.h"
#include "sites.h"

/* Turns sites into marginals. A model that is given the sites by their sums (S = sum V_i'T_i
 * V_i, t = sum V_i'nu_i on a basis) has them collected by absorb(); one that reads the sites
 * themselves has no sums (sums 0, absorb NULL). */
typedef struct {
    void *self;
    int window;  /* rows that go through at once */
    int at_hand; /* may those of any number of windows? */
    int span;    /* rows that go into sums at once: of each window the first ones, and so on */
    int parts;   /* how many sums those of all rows are put together from, at least 1: each has its
                  * share of every window. One is the sums themselves */
    sg_par_memo *memo; /* of the loops that absorb() is in; NULL: nothing is kept */
    size_t sums; /* numbers in the sums of the sites of all rows */
    const double *base; /* sums of rows of other chunks, whose sites stand; NULL: absent */
    /* the posterior of the sites, or of their sums; *log_det = log|A|. SG_NOT_PD when with these
     * there is none */
    sg_status (*begin)(void *self, const sg_sites *sites, const double *sums, double *log_det);
    /* looks at the rows of a window, which the next two are about; may be NULL */
    void (*look)(void *self, sg_span window);
    /* mean, var, g (w = 1) and alpha of a window */
    void (*marginals)(void *self, const sg_sites *sites, sg_span window, sg_marginals *marg);
    /* adds the part of a span's sites of process c, tau[m blocks] and nu[m values], to the sums,
     * on as many slots (par.h) as products have; it takes no memory */
    void (*absorb)(void *self, int c, sg_span span, const double *tau, const double *nu,
                   double *sums, int slot);
    /* turns sums that were zero before all that absorb() has added since begin(), or since ever,
     * into those that begin() takes */
    void (*finish)(void *self, double *sums);
    /* one pass over the rows in turn, starting where marg belongs to the sites, each site going a
     * share `damping` of its way; returns the rows refused. NULL: batch sweeps only. */
    int (*sequential)(void *self, const sg_rows *rows, double damping, sg_sites *sites,
                      const sg_marginals *marg);
    sg_carrier carrier; /* at the posterior last begun; for several classes */
} sg_ep_model;

/* Collects what a sweep adds up. */
typedef struct {
    double logz;     /* sg_log_evidence() of the rows so far; log|A| comes off it */
    double log_det;  /* log|A| */
    double residual; /* sg_sites_residual() of the rows so far */
} sg_tally;

/* The numbers of `parts` in what follows */
static inline size_t sg_ep_parts(const sg_ep_model *model)
{
    return model->parts > 1 ? model->sums * model->parts : 0;
}

/* Called for each window of a sweep once it has marginals and tilts. */
typedef void (*sg_each_window)(void *ctx, sg_span window);

/* A sweep: begins the model at the sites and their sums; then marginals, cavities and tilts of all
 * rows, window by window, into marg and tally, each followed by each(ctx, window) unless that is
 * NULL. next: the sums of the sites that the tilts ask for; NULL: not wanted. Where the
 * likelihood's sites are exact they are written to `sites` first, and no others are asked for:
 * next is then of no sites. parts: room. SG_NOT_PD: no posterior, or a site leaves no cavity. */
sg_status sg_ep_sweep(const sg_rows *rows, const sg_ep_model *model, sg_sites *sites,
                      const double *sums, sg_marginals *marg, sg_tally *tally, double *parts,
                      double *next, sg_each_window each, void *ctx, const sg_ws *ws);

/* The sums of given sites, from nothing; where the likelihood's are exact, of those, which are
 * written to `sites` first. One read of the rows. parts: room. */
void sg_ep_read_sums(const sg_rows *rows, const sg_ep_model *model, sg_sites *sites, double *parts,
                     double *sums, const sg_ws *ws);

/* The sums of no sites. */
void sg_ep_no_sums(const sg_ep_model *model, double *parts, double *sums);

#endif
