/* ep_iteration.h: the iteration of EP without its rows: how long a step is, when it is mixed with
 * past ones and when it is taken back, when negative site precisions are given up, when it ends.
 *
 * A driver has the sites. It evaluates them (a sweep, ep_fold.h), gives the outcome to
 * sg_iteration_next() and takes the step that this returns, until there is no further step.
 * ep_loop.c drives it over rows in memory, R over rows that it reads in chunks
 * (R/chunked-iterate.R). */
#ifndef SG_EP_ITERATION_H
#define SG_EP_ITERATION_H

#include "types.h"

typedef struct {
    int sweeps;     /* most sweeps */
    int batch;      /* sweeps before the sequential fall-back takes over */
    int mixing;     /* past sweeps that a step is mixed from; 0: not mixed */
    double damping; /* length of a batch step at first, relative to the plain one, in (0, 1] */
    double tol;     /* convergence: sg_sites_residual() at most this */
    int climbs;     /* is the log evidence a bound that each step has to raise? (ep_loop.c) */
} sg_ep_options;

typedef enum {
    SG_STEP_DONE,       /* converged, out of sweeps, or the last evaluation has failed */
    SG_STEP_HALVE,      /* half of the way back to the last valid sites */
    SG_STEP_RETREAT,    /* back to the last valid sites */
    SG_STEP_CLIP,       /* the sites to start from lose their negative precisions */
    SG_STEP_BEST,       /* back to the best sites */
    SG_STEP_PLAIN,      /* `damping` of the way to the tilts' sites */
    SG_STEP_MIXED,      /* the same, mixed with the `past` last ones */
    SG_STEP_SEQUENTIAL, /* row after row, each `damping` of its way */
    SG_STEPS
} sg_step;

/* Sites are valid where they have a posterior and every row a cavity. All are numbers of one type:
 * R keeps them as a vector. */
typedef struct {
    double sweeps, sequential; /* evaluations of valid sites; sequential sweeps */
    double converged;          /* is the residual small enough? */
    double damped;             /* sweeps with a step below options.damping, or halved on its way */
    double damping, longest;   /* length of the next step, and the longest allowed */
    double past;               /* mixed steps before the next one that are remembered */
    double best;               /* least residual since the step was shortened */
    double least;              /* least residual of all; the sites that have it are the best */
    double last;               /* residual before this one, of mixed steps */
    double mixes;              /* has mixing begun? */
    double extrapolates;       /* may a step go beyond the tilts' sites? */
    double overshoots;         /* steps that were too long */
    double waited;             /* sweeps since the least residual */
    double lowest;             /* residual that was clearly less than all before it */
    double stalled;            /* sweeps since then */
    double adrift;             /* sweeps since then that are far from any fixed point */
    double valid;              /* are there last valid sites? */
    double retreats;           /* steps taken back since then */
    double troubles;           /* steps that went astray, or where there was no posterior */
    double stuck;              /* steps on end that were taken back altogether */
    double lost;               /* does it look as if negative precisions led nowhere? */
    double narrow;             /* have they been given up? */
} sg_ep_iteration;

/* coupled: are the shifts of classes from one Newton step (coupled.h)? */
sg_ep_iteration sg_iteration_new(const sg_ep_options *options, int coupled);

/* The next step, from the status of an evaluation and, with SG_OK, its residual. The driver keeps
 * the sites last evaluated with SG_OK as the last valid ones, and those where `change` is `least`
 * as the best. Where `lost` is set and the step leads to negative precisions the driver clips them,
 * and calls sg_iteration_narrow(). */
sg_step sg_iteration_next(sg_ep_iteration *it, const sg_ep_options *options, sg_status status,
                          double change);

/* Begins again with sites that have no negative precisions, and are not to have any. */
void sg_iteration_narrow(sg_ep_iteration *it, const sg_ep_options *options);

#endif
