/* ep_iteration.c: the steps of EP from the residuals of its sweeps alone.
 *
 * The EP energy is a saddle, not a minimum, at the fixed point: it may rightly get worse on the
 * way. The residual has no such excuse: when it grows well beyond the best so far, the past is
 * forgotten and the step halved. Where the energy is a bound, and each step has to raise it
 * (climbs), the residual may grow until the bound is flat to rounding. */
#include <math.h>
#include <Rmath.h>
#include "ep_iteration.h"

static const double SHORTEST = 1.0 / 16; /* length of a step, relative to the plain one */
static const double LONGER = 1.25;       /* growth of a step's length with each sweep that helps */
static const double WORSE = 2;           /* times the best residual: the step was too long */
static const double LOWER = 0.8;         /* of a step too long again: the longest from then on */
static const double ASTRAY = 20;         /* times the least residual: back to the best sites */
static const double NEAR = 0.1;          /* residual at which mixing begins */
static const double FINE = 0.01;       /* residual below which a bound is flat to rounding */
static const double CLEAR = 0.9;         /* of the lowest residual: clearly less */
static const double SLOW = 0.9;          /* or times the residual before */
static const double ASUNDER = 1e3;       /* residual of an iteration that goes nowhere */

enum {
    STALL = 150,    /* sweeps without a clearly smaller residual below FINE: that is rounding */
    ADRIFT = 10,   /* sweeps that far from a fixed point, after which there is none */
    WAIT = 8,      /* sweeps without a smaller residual, after which a step counts as too long */
    HALVINGS = 10, /* of a step that has led to sites that are not valid */
    PATIENCE = 10, /* such steps before negative precisions are given up */
    PARTS = 3,     /* so they are after one of so many parts of all sweeps */
    FORGOTTEN = -1 /* it->past: the next mixed step is the first */
};

sg_ep_iteration sg_iteration_new(const sg_ep_options *options, int coupled)
{
    const sg_ep_iteration it = {
        .damping = options->damping, .longest = options->damping, .past = FORGOTTEN,
        .best = HUGE_VAL, .least = HUGE_VAL, .last = HUGE_VAL, .lowest = HUGE_VAL,
        .extrapolates = options->mixing > 0 || coupled
    };
    return it;
}

static void shorten(sg_ep_iteration *it)
{
    it->past = FORGOTTEN;
    it->damping = fmax2(it->damping / 2, SHORTEST);
}

/* Sites that are not valid go back half the way to the last ones that were, in the end all of it
 * (from what is no number, too); sites to start from lose their negative precisions. */
static sg_step take_back(sg_ep_iteration *it)
{
    if (it->valid && it->retreats == 0) {
        shorten(it);
        it->troubles++;
        it->damped++;
    }
    it->retreats++;
    if (!it->valid) return it->retreats > 1 ? SG_STEP_DONE : SG_STEP_CLIP;
    if (it->retreats <= HALVINGS) return SG_STEP_HALVE;
    return it->retreats > HALVINGS + 1 ? SG_STEP_DONE : SG_STEP_RETREAT;
}

/* Sets the length of the next step. One at which the iteration overshoots near the fixed point does
 * so each time that it is reached, and without a limit the same few sweeps would come again for
 * ever: from the second time on lengths stay below. So they do where the iteration goes to and fro
 * without coming nearer. */
static void pace(sg_ep_iteration *it, const sg_ep_options *options, double change)
{
    it->waited = change < it->best ? 0 : it->waited + 1;
    const int overshoots = change > WORSE * it->best, swings = it->waited >= WAIT;
    const int judges = !options->climbs || change < FINE; /* or the bound alone does */
    if (judges && (overshoots || swings)) {
        if (it->overshoots++ > 0 || swings) it->longest = fmax2(LOWER * it->damping, SHORTEST);
        shorten(it);
        it->best = change;
        it->waited = 0;
    } else {
        it->damping = fmin2(LONGER * it->damping, it->longest);
        it->best = fmin2(it->best, change);
    }
    it->damped += it->damping < options->damping;
}

/* Notes whether the residual still falls; returns whether it has stalled at what rounding leaves of
 * it. */
static int has_stalled(sg_ep_iteration *it, const sg_ep_options *options, double change)
{
    const int falls = change < CLEAR * it->lowest;
    if (falls) it->lowest = change;
    it->stalled = falls ? 0 : it->stalled + 1;
    return !options->climbs && it->lowest < FINE && it->stalled >= STALL;
}

/* Notes whether the residual is beyond anything from which sites come back; returns whether it has
 * been too often since it last fell to a new low, as where the best sites are taken up again and
 * lead there again. Quadrature takes long at wild sites, too. */
static int diverges(sg_ep_iteration *it, const sg_ep_options *options, double change)
{
    if (it->stalled == 0) it->adrift = 0;
    else if (change > ASUNDER) it->adrift++;
    return !options->climbs && it->adrift >= ADRIFT;
}

static sg_step sequential_step(sg_ep_iteration *it, const sg_ep_options *options)
{
    if (it->sequential == 0) it->damping = it->longest = options->damping; /* another iteration */
    it->sequential++;
    return SG_STEP_SEQUENTIAL;
}

/* An extrapolation that went astray may not come back: far from the best sites so far, these are
 * taken up again. Far from the fixed point past steps are a poor guide, and plain steps get on
 * faster: mixing begins near it, or where they slow down, and then continues. */
static sg_step batch_step(sg_ep_iteration *it, const sg_ep_options *options, double change)
{
    if (!it->extrapolates) return SG_STEP_PLAIN;
    if (!options->climbs && change > ASTRAY * it->least) {
        it->troubles++;
        return SG_STEP_BEST;
    }
    it->least = fmin2(it->least, change);
    it->mixes = it->mixes || change < NEAR || (!options->climbs && change > SLOW * it->last);
    it->last = change;
    if (options->mixing == 0 || !it->mixes) return SG_STEP_PLAIN;
    it->past = fmin2(it->past + 1, options->mixing);
    return SG_STEP_MIXED;
}

sg_step sg_iteration_next(sg_ep_iteration *it, const sg_ep_options *options, sg_status status,
                          double change)
{
    if (status != SG_OK) return take_back(it);
    it->stuck = it->retreats > HALVINGS ? it->stuck + 1 : 0;
    it->retreats = 0;
    it->valid = 1;
    it->sweeps++;
    it->converged = change <= options->tol;
    if (it->converged || it->sweeps >= options->sweeps) return SG_STEP_DONE;
    if (it->stuck > 2 * PATIENCE) return SG_STEP_DONE; /* narrower sites were tried, too */
    const int rounding = has_stalled(it, options, change);
    const int stalled = diverges(it, options, change) || rounding;
    if (stalled && (it->sequential > 0 || options->batch >= options->sweeps)) return SG_STEP_DONE;
    if (stalled) it->stalled = it->adrift = 0;
    pace(it, options, change);
    const int sequential = stalled || it->sequential > 0 || it->sweeps > options->batch;
    const sg_step step = sequential ? sequential_step(it, options)
                                    : batch_step(it, options, change);
    it->lost = it->troubles >= PATIENCE || PARTS * it->sweeps > options->sweeps;
    return step;
}

void sg_iteration_narrow(sg_ep_iteration *it, const sg_ep_options *options)
{
    it->narrow = 1;
    it->past = FORGOTTEN;
    it->damping = it->longest = options->damping;
    it->overshoots = it->waited = it->stuck = it->adrift = 0;
    it->best = it->least = HUGE_VAL;
}
