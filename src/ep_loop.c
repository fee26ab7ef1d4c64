/* ep_loop.c: sweeps of EP as folds over windows of rows, and the steps between them.
 *
 * A run costs one sweep (ep_fold.h) for each step; steps that do not go to the tilts' sites
 * (mixed, coupled, sequential) cost a second reading of the rows for their sums. Memory: the sites
 * four times, and 2 (depth + 1) times more with mixing. */
#include <limits.h>
#include <math.h>
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

/* to += part (from - to) */
static void blend(size_t n, double part, const double *from, double *to)
{
    for (size_t i = 0; i < n; i++) to[i] += part * (from[i] - to[i]);
}

/* ---- Where the iteration is ---- */

/* Sites, and their sums where the model has any. */
typedef struct {
    sg_sites sites;
    double *sums;
} iterate;

typedef struct {
    const sg_rows *rows;
    const sg_ep_model *model;
    sg_ep_options options;
    double tol; /* that was asked for; options.tol is no less than rounding */
    sg_ep_iteration it;
    sg_marginals *marg;
    sg_ep_report *report;
    const sg_ws *ws;
    iterate at, last_valid;  /* evaluated, or to be evaluated; and the last that was valid */
    size_t sums;             /* numbers of sums that steps go between: none where sites are exact */
    double *next;            /* sums of the sites that the tilts at `at` ask for */
    double *parts;           /* what sums are put together from */
    int couples;             /* do shifts of classes come from one step for all? (coupled.h) */
    int rereads;             /* are the new sites others than the tilts'? then sums are read anew */
    int stale;               /* have the sites changed, and not their sums? */
    sg_sites best;           /* with rereads: those of the least residual, */
    double *tau, *nu;        /* where the sites are to go, */
    sg_stepper stepper;      /* and past steps */
    sg_coupling coupling;    /* of classes with a likelihood in common */
} ep_run;

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

/* Copies sites and sums, which belong together. */
static void copy_iterate(size_t sums, const iterate *from, iterate *to)
{
    copy_sites(&from->sites, &to->sites);
    copy(sums, from->sums, to->sums);
}

/* Adds part (target - to) to all sites: damping of natural parameters. */
static void move_sites(double part, const double *tau, const double *nu, sg_sites *to)
{
    blend(sg_blocks_of(to->layout), part, tau, to->tau);
    blend(sg_values_of(to->layout), part, nu, to->nu);
}

/* ---- Steps ---- */

/* Is the bound lower than at the last valid sites, by more than the quadratures' rounding? */
static int falls(const ep_run *go, double logz)
{
    const double ROUNDING = 1e-9, before = go->report->logz;
    return go->it.valid && logz < before - ROUNDING * (fabs(before) + go->rows->n);
}

/* Returns the tolerance, or the rounding of the residual where that is larger: B = I + S K S has at
 * most the condition 1 + sum tau k_ii, and means have so many digits less. With noise of 1e-9 of
 * the prior variance, as of counts of 1e9, it is 1e-4 for 40 rows. Beyond LARGEST EP has not
 * converged. */
static double tolerance_of(const ep_run *go)
{
    const double ROUNDING = 10 * 2.2e-16, LARGEST = 0.01;
    const sg_rows *rows = go->rows;
    double condition = 1;
    if (rows->lik->w > 1 || !rows->prior) return go->tol;
    for (int i = 0; i < rows->n; i++) {
        for (int c = 0; c < rows->lik->C; c++) {
            const double share = go->at.sites.tau[i + (size_t) rows->n * c] *
                *sg_prior_of(rows, i, c);
            if (share > 0) condition += share;
        }
    }
    return fmax2(go->tol, fmin2(ROUNDING * condition, LARGEST));
}

/* Sweeps at `at`, and writes log evidence, residual and trace into the report. */
static sg_status evaluate(ep_run *go)
{
    sg_tally tally;
    const sg_ep_model *model = go->model;
    sg_ep_report *report = go->report;
    const int sweep = (int) go->it.sweeps, collects = go->sums > 0 && !go->rereads;
    if (go->stale) sg_ep_read_sums(go->rows, model, &go->at.sites, go->parts, go->at.sums,
                                   go->ws);
    go->stale = 0;
    const sg_status status = sg_ep_sweep(go->rows, model, &go->at.sites, go->at.sums, go->marg,
                                         &tally, go->parts, collects ? go->next : NULL, NULL, NULL,
                                         go->ws);
    if (status != SG_OK) return status;
    const double logz = tally.logz - tally.log_det;
    if (!isfinite(logz) || !isfinite(tally.residual)) return SG_NOT_FINITE;
    if (go->options.climbs && falls(go, logz)) return SG_NOT_PD;
    report->logz = logz;
    report->change = tally.residual;
    go->options.tol = tolerance_of(go);
    if (sweep < SG_TRACE) {
        report->trace[2 * sweep] = report->logz;
        report->trace[2 * sweep + 1] = report->change;
    }
    return SG_OK;
}

/* Goes half the way back to the last valid sites; sums are linear in sites, so no row is read. */
static void halve_step(ep_run *go)
{
    move_sites(0.5, go->last_valid.sites.tau, go->last_valid.sites.nu, &go->at.sites);
    blend(go->sums, 0.5, go->last_valid.sums, go->at.sums);
}

/* Goes towards the tilts' sites, whose sums the sweep has collected: no row is read. */
static int plain_step(ep_run *go)
{
    const sg_sites *from = &go->last_valid.sites; /* the same as at `at` */
    sg_sites *to = &go->at.sites;
    const int skipped = sg_sites_of_all_tilts(from, go->marg, to->tau, to->nu);
    move_sites(1 - go->it.damping, from->tau, from->nu, to);
    blend(go->sums, go->it.damping, go->next, go->at.sums);
    return skipped;
}

/* Goes to mixed sites, or to those of coupled classes: their sums have to be read anew. */
static int free_step(ep_run *go, int mixed)
{
    go->stale = 1;
    const int skipped = sg_sites_of_all_tilts(&go->at.sites, go->marg, go->tau, go->nu);
    if (go->couples) {
        sg_coupled_shifts(go->marg, &go->model->carrier, go->model->self, go->tau, go->nu,
                          &go->coupling, go->ws);
    }
    if (mixed) {
        sg_sites_mix(&go->stepper, (int) go->it.past, &go->at.sites, go->tau, go->nu,
                     go->it.damping);
    } else {
        move_sites(go->it.damping, go->tau, go->nu, &go->at.sites);
    }
    return skipped;
}

/* Passes over the rows one by one (full EP of one process). */
static int sequential_step(ep_run *go)
{
    go->stale = 1;
    return go->model->sequential(go->model->self, go->rows, go->it.damping, &go->at.sites,
                                 go->marg);
}

/* Clips negative precisions; returns 0 when there were no such. */
static int clip(ep_run *go)
{
    const int clipped = sg_sites_clip(&go->at.sites);
    go->stale = go->stale || clipped;
    return clipped;
}

/* Takes the step that the iteration asks for; returns whether there is something to evaluate. */
static int take_step(ep_run *go, sg_step step)
{
    int *skipped = &go->report->skipped;
    switch (step) {
    case SG_STEP_DONE: return 0;
    case SG_STEP_CLIP: return clip(go);
    case SG_STEP_HALVE: halve_step(go); break;
    case SG_STEP_RETREAT: copy_iterate(go->sums, &go->last_valid, &go->at); break;
    case SG_STEP_BEST: copy_sites(&go->best, &go->at.sites), go->stale = 1; break;
    case SG_STEP_PLAIN: *skipped += go->rereads ? free_step(go, 0) : plain_step(go); break;
    case SG_STEP_MIXED: *skipped += free_step(go, 1); break;
    default: *skipped += sequential_step(go);
    }
    return 1;
}

/* Keeps the valid iterate, and with rereads the sites of least residual: steps may go back to
 * them. */
static void keep(ep_run *go)
{
    copy_iterate(go->sums, &go->at, &go->last_valid);
    if (go->rereads && go->report->change <= go->it.least) copy_sites(&go->at.sites, &go->best);
}

/* Not every likelihood that is not log-concave has a fixed point where the posterior and all
 * cavities are distributions, or one that the iteration finds. Where there seems to be no fixed
 * point the sites are made to narrow from now on. */
static void narrow_if_lost(ep_run *go)
{
    if (go->it.lost == 0 || go->options.climbs || !clip(go)) return;
    go->at.sites.nonnegative = go->last_valid.sites.nonnegative = 1;
    sg_iteration_narrow(&go->it, &go->options);
}

/* ---- The whole ---- */

/* Are all sites 0? Then sums need not be read. */
static int all_zero(const sg_sites *sites)
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

/* Prepares what steps need that do not go straight to the tilts' sites. */
static void prepare_rereads(ep_run *go)
{
    const sg_layout layout = go->at.sites.layout;
    go->best = new_sites(layout, go->ws);
    go->tau = sg_doubles(go->ws, sg_blocks_of(layout));
    go->nu = sg_doubles(go->ws, sg_values_of(layout));
    go->stepper = sg_stepper_new(go->rows, go->options.mixing, go->ws);
    if (go->couples) {
        go->marg->W = sg_doubles(go->ws, layout.n * sg_coupled_size(layout.C));
        go->coupling = sg_coupling_new(layout.n, layout.C, go->model->carrier.size, go->ws);
    }
}

/* Allocates a run. With an exact likelihood the first sweep is the last; where the model
 * has no sequential pass all sweeps are in parallel. */
static ep_run new_run(const sg_rows *rows, const sg_ep_model *model, const sg_ep_options *options,
                      sg_sites *sites, double *sums, sg_marginals *marg, sg_ep_report *report,
                      const sg_ws *ws)
{
    const int exact = rows->lik->type->site != NULL; /* no iteration is needed then */
    const size_t steps = exact ? 0 : model->sums;
    ep_run go = {.rows = rows, .model = model, .options = *options, .marg = marg,
                 .report = report, .ws = ws, .at = {*sites, sums},
                 .last_valid = {new_sites(sites->layout, ws), sg_doubles(ws, steps)},
                 .sums = steps, .next = sg_doubles(ws, steps),
                 .parts = sg_doubles(ws, sg_ep_parts(model))};
    go.tol = exact ? HUGE_VAL : options->tol;
    go.options.climbs = rows->lik->power == 0;
    if (go.options.climbs) go.options.batch = INT_MAX;
    if (!model->sequential) go.options.batch = INT_MAX;
    go.last_valid.sites.nonnegative = sites->nonnegative;
    go.couples = sg_is_coupled(rows) && !model->base; /* its prior is that of no rows */
    go.rereads = !exact && (go.options.mixing > 0 || go.couples);
    go.it = sg_iteration_new(&go.options, go.couples);
    if (go.rereads) prepare_rereads(&go);
    go.stale = exact || !all_zero(sites);
    sg_ep_no_sums(model, go.parts, sums);
    return go;
}

/* Copies the counts of the iteration to the report. */
static void report_in(const ep_run *go)
{
    sg_ep_report *report = go->report;
    report->sweeps = (int) go->it.sweeps;
    report->converged = go->it.converged != 0;
    report->damped = (int) go->it.damped;
    report->sequential = (int) go->it.sequential;
    report->n_clipped = go->at.sites.nonnegative ? sg_n_clipped(go->marg, all_rows(go->rows)) : 0;
}

/* Iterates to the tolerance: sweep, ask for the next step, take it. On return the sites are those
 * of the last valid sweep. */
sg_status sg_ep_loop(const sg_rows *rows, const sg_ep_model *model, const sg_ep_options *options,
                     sg_sites *sites, double *sums, sg_marginals *marg, sg_ep_report *report,
                     const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    ep_run go = new_run(rows, model, options, sites, sums, marg, report, ws);
    sg_status status;
    for (;;) {
        status = evaluate(&go);
        const sg_step step = sg_iteration_next(&go.it, &go.options, status, report->change);
        if (status == SG_OK) keep(&go);
        if (!take_step(&go, step)) break;
        if (status == SG_OK) narrow_if_lost(&go);
        sg_tick(ws);
    }
    marg->W = NULL;
    sites->nonnegative = go.at.sites.nonnegative;
    report_in(&go);
    sg_release(ws, mark);
    return status;
}
