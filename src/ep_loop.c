/* ep_loop.c: sweeps of EP as folds over windows of rows, and the course they take: how long a step
 * is, when it is taken back, when sites that widen are given up. */
#include <math.h>
#include <Rmath.h>
#include "ep_loop.h"

static sg_span all_rows(const sg_rows *rows)
{
    const sg_span all = {0, rows->n};
    return all;
}

static void copy(size_t n, const double *from, double *to)
{
    for (size_t i = 0; i < n; i++) to[i] = from[i];
}

/* to += share (from - to) */
static void blend(size_t n, double share, const double *from, double *to)
{
    for (size_t i = 0; i < n; i++) to[i] += share * (from[i] - to[i]);
}

/* ---- Where the iteration is ---- */

static const sg_ep_pacing PACE = {.least = 1.0 / 16, .longer = 1.25, .worse = 2, .lower = 0.8,
                                  .wait = 8, .halvings = 10, .patience = 10, .parts = 3};

sg_ep_pacing sg_ep_pace(void)
{
    return PACE;
}

/* Sites, and their sums where the model has any. */
typedef struct {
    sg_sites sites;
    double *sums;
} station;

/* The EP energy is a saddle, not a minimum, at the fixed point: it may rightly get worse on the
 * way. The residual has no such excuse: when it grows well beyond the best so far, the past is
 * forgotten and the step halved. */
typedef struct {
    const sg_rows *rows;
    const sg_ep_model *model;
    const sg_ep_options *options;
    sg_marginals *marg;
    sg_ep_report *report;
    const sg_ws *ws;
    station at;              /* judged, or to be judged */
    station legal;           /* the last one that has a posterior and all cavities */
    int is_legal;            /* is there one? */
    double *next;            /* sums of the sites that the tilts at `at` ask for */
    double *parts;           /* what sums are put together from */
    double damping, best;    /* share of the plain step; least residual since it shrank */
    double longest;          /* share that a step may have */
    int overshoots;          /* steps that were too long */
    int waited;              /* sweeps since the least residual */
    int troubles;            /* steps that went astray, or where there was no posterior */
    int stuck;               /* steps on end that were taken back altogether */
    int couples;             /* do shifts of classes come from one step for all? (coupled.h) */
    int rereads;             /* are the new sites others than the tilts'? then sums are read anew */
    int stale;               /* have the sites changed, and not their sums? */
    double least;            /* with mixing: the smallest residual so far, and its sites */
    sg_sites best_sites;
    double *tau, *nu;        /* with mixing or coupled classes: where the sites are to go */
    sg_stepper stepper;
    int mixes;               /* is the stepper at work? */
    double last;             /* residual before this one, of mixed steps */
    sg_coupling coupling;    /* of classes with a likelihood in common */
} course;

static sg_sites new_sites(sg_layout layout, const sg_ws *ws)
{
    const sg_sites sites = {.layout = layout, .tau = sg_doubles(ws, sg_blocks_of(layout)),
                            .nu = sg_doubles(ws, sg_values_of(layout))};
    return sites;
}

static void copy_sites(const sg_sites *from, sg_sites *to)
{
    copy(sg_blocks_of(from->layout), from->tau, to->tau);
    copy(sg_values_of(from->layout), from->nu, to->nu);
}

static void copy_station(const sg_ep_model *model, const station *from, station *to)
{
    copy_sites(&from->sites, &to->sites);
    copy(model->sums, from->sums, to->sums);
}

/* What steps need that do not go straight to the tilts' sites. */
static void prepare_rereads(course *go)
{
    const sg_layout layout = go->at.sites.layout;
    go->best_sites = new_sites(layout, go->ws);
    go->tau = sg_doubles(go->ws, sg_blocks_of(layout));
    go->nu = sg_doubles(go->ws, sg_values_of(layout));
    go->stepper = sg_stepper_new(go->rows, go->options->mixing, go->ws);
    if (go->couples) {
        go->marg->W = sg_doubles(go->ws, layout.n * sg_coupled_size(layout.C));
        go->coupling = sg_coupling_new(layout.n, layout.C, go->model->carrier.size, go->ws);
    }
}

static void forget_past(course *go)
{
    if (go->options->mixing > 0) sg_stepper_reset(&go->stepper);
}

static void shorten(course *go)
{
    forget_past(go);
    go->damping = fmax2(go->damping / 2, PACE.least);
}

/* ---- Judgement ---- */

/* The sweep: posterior, then all rows. */
static sg_status evaluate(course *go)
{
    double log_det;
    sg_tally tally = {0};
    sg_span window = {0, 0};
    const sg_ep_model *model = go->model;
    const int n = go->rows->n;
    if (go->stale) sg_ep_read_sums(go->rows, model, &go->at.sites, go->parts, go->at.sums,
                                   go->ws);
    go->stale = 0;
    double *parts = model->sums > 0 && !go->rereads ? go->parts : NULL;
    const int size = model->at_hand && !parts ? n : model->window; /* else rows are read once */
    if (parts) sg_ep_begin_sums(model, parts);
    sg_status status = model->begin(model->self, &go->at.sites, go->at.sums, &log_det);
    while (status == SG_OK && sg_next_span(n, size, &window)) {
        status = sg_ep_pass(go->rows, model, &go->at.sites, window, go->marg, &tally, parts,
                            go->ws);
        sg_tick(go->ws);
    }
    if (status != SG_OK) return status;
    if (parts) sg_ep_end_sums(model, parts, go->next);
    sg_ep_report *report = go->report;
    report->logz = tally.logz - log_det;
    if (!isfinite(report->logz) || !isfinite(tally.residual)) return SG_NOT_FINITE;
    report->change = tally.residual;
    if (report->sweeps < SG_TRACE) {
        report->trace[2 * report->sweeps] = report->logz;
        report->trace[2 * report->sweeps + 1] = report->change;
    }
    report->sweeps++;
    return SG_OK;
}

/* Sites without a posterior go back half the way to those of the last one, in the end all of it
 * (from what is no number, too); sites to start from lose their negative precisions. Returns 0 when
 * there is nowhere left to go. */
static int retreat(course *go, int tries)
{
    const sg_layout layout = go->at.sites.layout;
    if (tries > PACE.halvings) return 0;
    if (!go->is_legal) {
        go->stale = 1;
        return sg_sites_clip(&go->at.sites);
    }
    if (tries == PACE.halvings) {
        copy_station(go->model, &go->legal, &go->at);
        return 1;
    }
    blend(sg_blocks_of(layout), 0.5, go->legal.sites.tau, go->at.sites.tau);
    blend(sg_values_of(layout), 0.5, go->legal.sites.nu, go->at.sites.nu);
    blend(go->model->sums, 0.5, go->legal.sums, go->at.sums);
    return 1;
}

/* evaluate() where there is something to evaluate: with sites of negative precision the posterior,
 * or a cavity, need not be a distribution. Then the step that led there is halved. */
static sg_status settle(course *go)
{
    sg_status status = evaluate(go);
    if (status != SG_OK && go->is_legal) {
        shorten(go);
        go->troubles++;
        go->report->damped++;
    }
    int tries = 0;
    for (; status != SG_OK && retreat(go, tries); tries++) {
        status = evaluate(go);
        sg_tick(go->ws);
    }
    go->stuck = tries > PACE.halvings ? go->stuck + 1 : 0;
    go->is_legal = status == SG_OK;
    copy_station(go->model, &go->at, &go->legal);
    return status;
}

/* Sets the share of the next step. A share at which the iteration overshoots near the fixed point
 * does so each time that it is reached, and without a limit the same few sweeps would come again
 * for ever: from the second time on shares stay below. So they do where the iteration goes to and
 * fro without coming nearer. */
static void pace(course *go)
{
    const double change = go->report->change;
    go->waited = change < go->best ? 0 : go->waited + 1;
    const int overshoots = change > PACE.worse * go->best, swings = go->waited >= PACE.wait;
    if (overshoots || swings) {
        if (go->overshoots++ || swings) {
            go->longest = fmax2(PACE.lower * go->damping, PACE.least);
        }
        shorten(go);
        go->best = change;
        go->waited = 0;
    } else {
        go->damping = fmin2(PACE.longer * go->damping, go->longest);
        go->best = fmin2(go->best, change);
    }
    go->report->damped += go->damping < go->options->damping;
}

/* ---- Steps ---- */

/* An extrapolation that went astray may not come back: far from the best sites so far, these are
 * taken up again. Returns 1 when they are. */
static int return_to_best(course *go)
{
    const double ASTRAY = 20;
    if (go->report->change > ASTRAY * go->least) {
        copy_sites(&go->best_sites, &go->at.sites);
        go->troubles++;
        return 1;
    }
    if (go->report->change < go->least) {
        go->least = go->report->change;
        copy_sites(&go->at.sites, &go->best_sites);
    }
    return 0;
}

/* Towards the tilts' sites, whose sums the sweep has collected: no row is read. */
static int plain_step(course *go)
{
    const sg_layout l = go->at.sites.layout;
    const sg_sites *from = &go->legal.sites; /* the same as at `at` */
    sg_sites *to = &go->at.sites;
    const int skipped = sg_sites_of_all_tilts(from, go->marg, to->tau, to->nu);
    blend(sg_blocks_of(l), 1 - go->damping, from->tau, to->tau);
    blend(sg_values_of(l), 1 - go->damping, from->nu, to->nu);
    blend(go->model->sums, go->damping, go->next, go->at.sums);
    return skipped;
}

/* Is the step to be mixed with past ones? Far from the fixed point these say little of the way, and
 * plain steps get on faster: mixing begins near it, or where they slow down, and goes on. */
static int judge_mixing(course *go)
{
    const double NEAR = 0.1, SLOW = 0.9;
    const double change = go->report->change;
    go->mixes = go->mixes || change < NEAR || change > SLOW * go->last;
    go->last = change;
    return go->options->mixing > 0 && go->mixes;
}

/* Mixed with past steps, or where classes are coupled: the sums have to be read anew. */
static int mixed_step(course *go)
{
    const sg_layout l = go->at.sites.layout;
    go->stale = 1;
    if (return_to_best(go)) return 0;
    const int skipped = sg_sites_of_all_tilts(&go->at.sites, go->marg, go->tau, go->nu);
    if (go->couples) {
        sg_coupled_shifts(go->marg, &go->model->carrier, go->model->self, go->tau, go->nu,
                          &go->coupling, go->ws);
    }
    if (judge_mixing(go)) {
        sg_sites_mix(&go->stepper, &go->at.sites, go->tau, go->nu, go->damping);
    } else {
        blend(sg_blocks_of(l), go->damping, go->tau, go->at.sites.tau);
        blend(sg_values_of(l), go->damping, go->nu, go->at.sites.nu);
    }
    return skipped;
}

static void take_step(course *go)
{
    const sg_ep_model *model = go->model;
    sg_ep_report *report = go->report;
    if (model->sequential && report->sweeps > go->options->batch) {
        if (report->sequential == 0) { /* another iteration */
            go->damping = go->longest = go->options->damping;
        }
        report->skipped += model->sequential(model->self, go->rows, go->damping, &go->at.sites,
                                             go->marg);
        report->sequential++;
        go->stale = 1;
    } else {
        report->skipped += (go->rereads ? mixed_step : plain_step)(go);
    }
}

/* Not every likelihood that is not log-concave has a fixed point where the posterior and all
 * cavities are distributions, or one that the iteration finds. Where it looks as if there were none
 * the sites are made to narrow from now on. */
static void narrow_if_lost(course *go)
{
    const int late = PACE.parts * go->report->sweeps > go->options->sweeps;
    if (go->troubles < PACE.patience && !late) return;
    if (!sg_sites_clip(&go->at.sites)) return;
    go->at.sites.nonnegative = go->legal.sites.nonnegative = 1;
    go->stale = 1;
    forget_past(go);
    go->damping = go->longest = go->options->damping;
    go->overshoots = go->waited = go->stuck = 0;
    go->best = go->least = HUGE_VAL;
}

/* ---- The whole ---- */

static int says_nothing(const sg_sites *sites)
{
    const size_t blocks = sg_blocks_of(sites->layout), values = sg_values_of(sites->layout);
    for (size_t k = 0; k < blocks; k++) {
        if (sites->tau[k] != 0) return 0;
    }
    for (size_t k = 0; k < values; k++) {
        if (sites->nu[k] != 0) return 0;
    }
    return 1;
}

static course new_course(const sg_rows *rows, const sg_ep_model *model,
                         const sg_ep_options *options, sg_sites *sites,
                         double *sums, sg_marginals *marg, sg_ep_report *report, int exact,
                         const sg_ws *ws)
{
    course go = {.rows = rows, .model = model, .options = options, .marg = marg,
                 .report = report, .ws = ws, .at = {*sites, sums},
                 .legal = {new_sites(sites->layout, ws), sg_doubles(ws, model->sums)},
                 .next = sg_doubles(ws, model->sums),
                 .parts = sg_doubles(ws, model->sums * model->parts), .damping = options->damping,
                 .longest = options->damping,
                 .best = HUGE_VAL, .least = HUGE_VAL, .last = HUGE_VAL};
    go.legal.sites.nonnegative = sites->nonnegative;
    go.couples = sg_is_coupled(rows) && !model->base; /* its prior is that of no rows */
    go.rereads = !exact && (options->mixing > 0 || go.couples);
    if (go.rereads) prepare_rereads(&go);
    return go;
}

sg_status sg_ep_loop(const sg_rows *rows, const sg_ep_model *model, const sg_ep_options *options,
                     sg_sites *sites, double *sums, sg_marginals *marg, sg_ep_report *report,
                     const sg_ws *ws)
{
    const int exact = rows->lik->type->site != NULL; /* no iteration is needed then */
    course go = new_course(rows, model, options, sites, sums, marg, report, exact, ws);
    sg_ep_begin_sums(model, go.parts);
    sg_ep_end_sums(model, go.parts, sums);
    go.stale = exact || !says_nothing(sites);
    sg_status status;
    for (;;) {
        status = settle(&go);
        if (status != SG_OK) break;
        report->converged = exact || report->change <= options->tol;
        if (report->converged || report->sweeps >= options->sweeps) break;
        if (go.stuck > 2 * PACE.patience) break; /* narrower sites were tried, too */
        pace(&go);
        take_step(&go);
        narrow_if_lost(&go);
        sg_tick(ws);
    }
    marg->W = NULL;
    sites->nonnegative = go.at.sites.nonnegative;
    report->n_clipped = sites->nonnegative ? sg_n_clipped(marg, all_rows(rows)) : 0;
    return status;
}
