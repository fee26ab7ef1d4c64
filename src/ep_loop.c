#include <math.h>
#include <Rmath.h>
#include "ep_loop.h"

/* Likelihoods with exact sites need no iteration. Returns 0 for the others. */
static int exact_sites(const sg_rows *rows, sg_sites *sites)
{
    const sg_lik_type *type = rows->lik->type;
    if (!type->site) return 0;
    for (int i = 0; i < rows->n; i++) {
        type->site(rows->lik, sg_lik_row(rows->lik, rows->y, i), sites->tau + i, sites->nu + i);
        sites->nu[i] -= sites->tau[i] * rows->offset[i];
        /* what the marginal does not carry is noise between it and the likelihood */
        const double shrink = 1 + sg_extra_var(rows, i) * sites->tau[i];
        sites->tau[i] /= shrink;
        sites->nu[i] /= shrink;
    }
    return 1;
}

/* Are the cavities distributions, and not far wider than the prior? Without sites of negative
 * precision they cannot be. */
static int are_cavities_sane(const sg_rows *rows, const sg_marginals *marg,
                             const double *prior_var)
{
    const double WIDE = 100;
    for (int k = 0; k < marg->n; k++) {
        const double prior = prior_var[k] + sg_extra_var(rows, k);
        if (!(marg->g[k] > 0) || marg->var[k] > WIDE * prior * marg->g[k]) return 0;
    }
    return 1;
}

/* The state of the sites is judged: posterior, cavities, tilts, evidence, residual. */
static sg_status evaluate(const sg_rows *rows, const sg_ep_model *model, const double *prior_var,
                          const sg_sites *sites, sg_marginals *marg, sg_ep_report *report,
                          const sg_ws *ws)
{
    double log_det;
    sg_status status = model->refresh(model->self, sites, marg, &log_det);
    if (status != SG_OK) return status;
    if (!are_cavities_sane(rows, marg, prior_var)) return SG_NOT_PD;
    sg_cavities(marg);
    status = sg_tilt_rows(rows, marg, ws);
    if (status != SG_OK) return status;
    report->logz = sg_log_evidence(marg, log_det);
    if (!isfinite(report->logz)) return SG_NOT_FINITE;
    report->change = sg_sites_residual(sites, marg);
    if (report->sweeps < SG_TRACE) {
        report->trace[2 * report->sweeps] = report->logz;
        report->trace[2 * report->sweeps + 1] = report->change;
    }
    report->sweeps++;
    return SG_OK;
}

/* One step of all sites. The EP energy is a saddle, not a minimum, at the fixed point: it may
 * rightly get worse on the way. The residual has no such excuse: when it grows well beyond the best
 * so far, the past is forgotten and the step halved. */
typedef struct {
    sg_stepper stepper;
    double damping, best;     /* share of the plain step; least residual since it shrank */
    double least;             /* the smallest residual so far, and the sites it was of */
    double *tau_least, *nu_least;
    int is_legal;             /* has there been a posterior? the sites of the last one */
    double *tau_legal, *nu_legal;
    int troubles;             /* steps that went astray, or where there was no posterior */
    double *tau, *nu;     /* n x C: where the sites are to go */
    sg_coupling coupling; /* of classes with a likelihood in common */
} ep_course;

static ep_course new_course(const sg_rows *rows, const sg_ep_model *model,
                            const double *prior_var, double damping, const sg_ws *ws)
{
    const int n = sg_latents(rows);
    ep_course course = {.stepper = sg_stepper_new(n, prior_var, ws), .damping = damping,
                        .best = HUGE_VAL, .least = HUGE_VAL};
    course.tau_least = sg_doubles(ws, n), course.nu_least = sg_doubles(ws, n);
    course.tau_legal = sg_doubles(ws, n), course.nu_legal = sg_doubles(ws, n);
    course.tau = sg_doubles(ws, n), course.nu = sg_doubles(ws, n);
    if (sg_is_coupled(rows)) {
        course.coupling = sg_coupling_new(rows->n, rows->lik->C, model->carrier.size, ws);
    }
    return course;
}

static void copy(int n, const double *from, double *to)
{
    for (int i = 0; i < n; i++) to[i] = from[i];
}

static void shorten(ep_course *course)
{
    sg_anderson_reset(&course->stepper.mixing);
    course->damping = fmax2(course->damping / 2, 1.0 / 16);
}

/* Sites without a posterior go back half the way to those of the last one, in the end all of it
 * (from what is no number, too); sites to start from lose their negative precisions. Returns 0 when
 * there is nowhere left to go. */
static int retreat(const ep_course *course, int tries, sg_sites *sites)
{
    enum { HALVINGS = 10 };
    int moved = 0;
    if (tries > HALVINGS) return 0;
    if (course->is_legal && tries == HALVINGS) {
        copy(sites->n, course->tau_legal, sites->tau);
        copy(sites->n, course->nu_legal, sites->nu);
        return 1;
    }
    for (int k = 0; k < sites->n; k++) {
        const double tau = sites->tau[k], nu = sites->nu[k];
        if (course->is_legal) {
            sites->tau[k] += (course->tau_legal[k] - tau) / 2;
            sites->nu[k] += (course->nu_legal[k] - nu) / 2;
        } else if (tau < 0) {
            sites->tau[k] = 0;
        }
        moved = moved || sites->tau[k] != tau || sites->nu[k] != nu;
    }
    return moved;
}

/* evaluate() where there is something to evaluate: with sites of negative precision the posterior,
 * or a cavity, need not be a distribution. Then the step that led there is halved. */
static sg_status settle(ep_course *course, const sg_rows *rows, const sg_ep_model *model,
                        sg_sites *sites, sg_marginals *marg, sg_ep_report *report,
                        const sg_ws *ws)
{
    const double *prior_var = course->stepper.scale;
    sg_status status = evaluate(rows, model, prior_var, sites, marg, report, ws);
    if (status != SG_OK && course->is_legal) {
        shorten(course);
        course->troubles++;
        report->damped++;
    }
    for (int tries = 0; status != SG_OK && retreat(course, tries, sites); tries++) {
        status = evaluate(rows, model, prior_var, sites, marg, report, ws);
        sg_tick(ws);
    }
    course->is_legal = status == SG_OK;
    copy(sites->n, sites->tau, course->tau_legal);
    copy(sites->n, sites->nu, course->nu_legal);
    return status;
}

/* The share of the next step. */
static void pace(ep_course *course, const sg_ep_options *options, sg_ep_report *report)
{
    const double WORSE = 2;
    if (report->change > WORSE * course->best) {
        shorten(course);
        course->best = report->change;
    } else {
        course->damping = fmin2(course->damping * 1.25, options->damping);
        course->best = fmin2(course->best, report->change);
    }
    report->damped += course->damping < options->damping;
}

/* An extrapolation that went astray may not come back: far from the best sites so far, these are
 * taken up again. Returns 1 when they are. */
static int return_to_best(ep_course *course, sg_sites *sites, const sg_ep_report *report)
{
    const double ASTRAY = 20;
    if (report->change > ASTRAY * course->least) {
        copy(sites->n, course->tau_least, sites->tau);
        copy(sites->n, course->nu_least, sites->nu);
        course->troubles++;
        return 1;
    }
    if (report->change < course->least) {
        course->least = report->change;
        copy(sites->n, sites->tau, course->tau_least);
        copy(sites->n, sites->nu, course->nu_least);
    }
    return 0;
}

static int batch_sweep(ep_course *course, const sg_rows *rows, const sg_ep_model *model,
                       sg_sites *sites, const sg_marginals *marg, const sg_ep_report *report,
                       const sg_ws *ws)
{
    if (return_to_best(course, sites, report)) return 0;
    const int skipped = sg_sites_of_tilts(sites, marg, course->tau, course->nu);
    if (sg_is_coupled(rows)) {
        sg_coupled_shifts(marg, rows->lik->C, &model->carrier, model->self, course->tau,
                          course->nu, &course->coupling, ws);
    }
    sg_sites_step(&course->stepper, sites, course->tau, course->nu, course->damping);
    return skipped;
}

/* Not every likelihood that is not log-concave has a fixed point where the posterior and all
 * cavities are distributions, or one that the iteration finds. Where it looks as if there were none
 * the sites are made to narrow from now on. */
static void narrow_if_lost(ep_course *course, const sg_ep_options *options, sg_sites *sites,
                           const sg_ep_report *report)
{
    enum { PATIENCE = 10 };
    int widening = 0;
    if (course->troubles < PATIENCE && 3 * report->sweeps <= options->sweeps) return;
    for (int k = 0; k < sites->n; k++) {
        widening = widening || sites->tau[k] < 0;
        sites->tau[k] = fmax2(sites->tau[k], 0);
    }
    if (!widening) return;
    sites->narrow = 1;
    sg_anderson_reset(&course->stepper.mixing);
    course->damping = options->damping;
    course->best = course->least = HUGE_VAL;
}

sg_status sg_ep_loop(const sg_rows *rows, const sg_ep_model *model, const sg_ep_options *options,
                     const double *prior_var, sg_sites *sites, sg_marginals *marg,
                     sg_ep_report *report, const sg_ws *ws)
{
    const int exact = exact_sites(rows, sites);
    ep_course course = new_course(rows, model, prior_var, options->damping, ws);
    for (;;) {
        const sg_status status = settle(&course, rows, model, sites, marg, report, ws);
        if (status != SG_OK) return status;
        report->converged = exact || report->change <= options->tol;
        if (report->converged || report->sweeps >= options->sweeps) break;
        pace(&course, options, report);
        if (model->sequential && report->sweeps > options->batch) {
            if (report->sequential == 0) course.damping = options->damping; /* another iteration */
            report->skipped += model->sequential(model->self, rows, course.damping, sites, marg);
            report->sequential++;
        } else {
            report->skipped += batch_sweep(&course, rows, model, sites, marg, report, ws);
        }
        narrow_if_lost(&course, options, sites, report);
        sg_tick(ws);
    }
    report->flat = 0;
    for (int k = 0; k < sites->n; k++) report->flat += sites->narrow && marg->d2[k] > 0;
    return SG_OK;
}
