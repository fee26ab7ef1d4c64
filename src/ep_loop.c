#include <math.h>
#include <Rmath.h>
#include "ep_loop.h"

/* Likelihoods with exact sites need no iteration. Returns 0 for the others. */
static int exact_sites(const sg_rows *rows, sg_sites *sites)
{
    const sg_lik_type *type = rows->lik->type;
    if (!type->site) return 0;
    for (int i = 0; i < rows->n; i++) {
        type->site(rows->lik, rows->y + (size_t) type->q * i, sites->tau + i, sites->nu + i);
        sites->nu[i] -= sites->tau[i] * rows->offset[i];
        /* what the marginal does not carry is noise between it and the likelihood */
        const double shrink = 1 + sg_extra_var(rows, i) * sites->tau[i];
        sites->tau[i] /= shrink;
        sites->nu[i] /= shrink;
    }
    return 1;
}

/* The state of the sites is judged: posterior, cavities, tilts, evidence, residual. */
static sg_status evaluate(const sg_rows *rows, const sg_ep_model *model, const sg_sites *sites,
                          sg_marginals *marg, sg_ep_report *report, const sg_ws *ws)
{
    double log_det;
    sg_status status = model->refresh(model->self, sites, marg, &log_det);
    if (status != SG_OK) return status;
    sg_cavities(marg);
    status = sg_tilt_rows(rows, marg, ws);
    if (status != SG_OK) return status;
    report->logz = sg_log_evidence(marg, log_det);
    report->change = sg_sites_residual(sites, marg);
    if (report->sweeps < SG_TRACE) {
        report->trace[2 * report->sweeps] = report->logz;
        report->trace[2 * report->sweeps + 1] = report->change;
    }
    report->sweeps++;
    return isfinite(report->logz) ? SG_OK : SG_NOT_FINITE;
}

/* One batch step. The EP energy is a saddle, not a minimum, at the fixed point: it may rightly get
 * worse on the way. The residual has no such excuse: when it grows well beyond the best so far, the
 * past is forgotten and the step halved. */
typedef struct {
    sg_stepper stepper;
    double damping, best;
    double least;             /* the smallest residual so far, and the sites it was of */
    double *tau_least, *nu_least;
    double *tau, *nu;     /* n x C: where the sites are to go */
    sg_coupling coupling; /* of classes with a likelihood in common */
} batch_state;

static batch_state new_batch(const sg_rows *rows, const sg_ep_model *model,
                             const double *prior_var, double damping, const sg_ws *ws)
{
    const int n = sg_latents(rows);
    batch_state batch = {sg_stepper_new(n, prior_var, ws), damping, HUGE_VAL, HUGE_VAL,
                         ws->doubles(n), ws->doubles(n), ws->doubles(n), ws->doubles(n), {0}};
    if (sg_is_coupled(rows)) {
        batch.coupling = sg_coupling_new(rows->n, rows->lik->C, model->carrier.size, ws);
    }
    return batch;
}

static void copy(int n, const double *from, double *to)
{
    for (int i = 0; i < n; i++) to[i] = from[i];
}

/* An extrapolation that went astray may not come back: far from the best sites so far, these are
 * taken up again. Returns 1 when they are. */
static int return_to_best(batch_state *batch, sg_sites *sites, const sg_ep_report *report)
{
    const double ASTRAY = 20;
    if (report->change > ASTRAY * batch->least) {
        copy(sites->n, batch->tau_least, sites->tau);
        copy(sites->n, batch->nu_least, sites->nu);
        return 1;
    }
    if (report->change < batch->least) {
        batch->least = report->change;
        copy(sites->n, sites->tau, batch->tau_least);
        copy(sites->n, sites->nu, batch->nu_least);
    }
    return 0;
}

static int batch_sweep(batch_state *batch, const sg_rows *rows, const sg_ep_model *model,
                       const sg_ep_options *options, sg_sites *sites, const sg_marginals *marg,
                       sg_ep_report *report, const sg_ws *ws)
{
    const double WORSE = 2;
    if (report->change > WORSE * batch->best) {
        sg_anderson_reset(&batch->stepper.mixing);
        batch->damping = fmax2(batch->damping / 2, 1.0 / 16);
        batch->best = report->change;
    } else {
        batch->damping = fmin2(batch->damping * 1.25, options->damping);
        batch->best = fmin2(batch->best, report->change);
    }
    report->damped += batch->damping < options->damping;
    if (return_to_best(batch, sites, report)) return 0;
    const int skipped = sg_sites_of_tilts(sites, marg, batch->tau, batch->nu);
    if (sg_is_coupled(rows)) {
        sg_coupled_shifts(marg, rows->lik->C, &model->carrier, model->self, batch->tau, batch->nu,
                          &batch->coupling, ws);
    }
    sg_sites_step(&batch->stepper, sites, batch->tau, batch->nu, batch->damping);
    return skipped;
}

sg_status sg_ep_loop(const sg_rows *rows, const sg_ep_model *model, const sg_ep_options *options,
                     const double *prior_var, sg_sites *sites, sg_marginals *marg,
                     sg_ep_report *report, const sg_ws *ws)
{
    const int exact = exact_sites(rows, sites);
    batch_state batch = new_batch(rows, model, prior_var, options->damping, ws);
    for (;;) {
        const sg_status status = evaluate(rows, model, sites, marg, report, ws);
        if (status != SG_OK) return status;
        report->converged = exact || report->change <= options->tol;
        if (report->converged || report->sweeps >= options->sweeps) return SG_OK;
        if (model->sequential && report->sweeps > options->batch) {
            report->skipped += model->sequential(model->self, rows, sites, marg);
            report->sequential++;
        } else {
            report->skipped += batch_sweep(&batch, rows, model, options, sites, marg, report, ws);
        }
        ws->tick();
    }
}
