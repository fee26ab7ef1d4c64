/* ep_fold.c: windows of rows through a sweep, and their sites into sums, in parts for threads.
 *
 * A part is a range of rows with sums of its own: threads add into different parts, and these are
 * added up in order, so results do not depend on how many threads there are. */
#include <math.h>
#include <Rmath.h>
#include "ep_fold.h"

/* Returns where rows are added, all zeros: the parts, or where there is but one the sums
 * themselves. */
static double *begin_sums(const sg_ep_model *model, double *parts, double *sums)
{
    const size_t size = model->sums * model->parts;
    double *to = model->parts == 1 ? sums : parts;
    for (size_t k = 0; k < size; k++) to[k] = 0;
    return to;
}

/* Adds the parts up once all rows of the fold are in them, lets the model finish (turn back,
 * symmetrise), and adds what stands for rows outside. */
static void end_sums(const sg_ep_model *model, const double *parts, double *sums)
{
    for (size_t k = 0; model->parts > 1 && k < model->sums; k++) sums[k] = parts[k];
    for (int part = 1; part < model->parts; part++) {
        const double *own = parts + model->sums * part;
        for (size_t k = 0; k < model->sums; k++) sums[k] += own[k];
    }
    if (model->finish) model->finish(model->self, sums);
    for (size_t k = 0; model->base && k < model->sums; k++) sums[k] += model->base[k];
}

/* Computes the sums of no sites: the model's base alone. */
void sg_ep_no_sums(const sg_ep_model *model, double *parts, double *sums)
{
    end_sums(model, begin_sums(model, parts, sums), sums);
}

/* Sites of a window on their way into sums: the rows in parts, each with sums of its own. */
typedef struct {
    const sg_ep_model *model;
    const sg_sites *sites;
    const sg_marginals *marg; /* whose tilts ask for others; NULL: the sites given */
    sg_span window;
    int grain;                /* rows of a part */
    double *parts;            /* sums of each part */
} absorb_job;

/* A span of process c. tau, nu: room for its sites. O(span w d^2) on a basis. */
static void absorb_one(const absorb_job *job, int c, sg_span span, double *tau, double *nu,
                       double *sums, int slot)
{
    const sg_ep_model *model = job->model;
    const sg_sites *sites = job->sites;
    const size_t w = sites->layout.w, at = span.from + (size_t) sites->layout.n * c;
    if (job->marg) {
        sg_sites_of_tilts(sites, job->marg, c, span, tau, nu);
        model->absorb(model->self, c, span, tau, nu, sums, slot);
    } else {
        model->absorb(model->self, c, span, sites->tau + w * w * at, sites->nu + w * at, sums,
                      slot);
    }
}

/* Goes part by part, process by process: item k is process k mod C of part k / C. */
static sg_status absorb_some(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    const absorb_job *job = ctx;
    const sg_layout l = job->sites->layout;
    const size_t rows = (size_t) job->model->span * l.w;
    double *tau = sg_doubles(ws, rows * l.w), *nu = sg_doubles(ws, rows);
    for (int k = from; k < to; k++) {
        const int part = k / l.C, before = part * job->grain;
        const int m = imin2(job->window.m - before, job->grain);
        sg_span span = {0, 0};
        while (sg_next_span(m, job->model->span, &span)) {
            absorb_one(job, k % l.C, (sg_span) {job->window.from + before + span.from, span.m},
                       tau, nu, job->parts + job->model->sums * part, slot);
        }
    }
    return SG_OK;
}

/* Adds a window's sites to the sums, those that the tilts of marg ask for or, with marg NULL,
 * those there are. A part has sums of its own, so its size depends on the window and not on the
 * threads. */
static void absorb_window(const sg_ep_model *model, const sg_sites *sites, const sg_marginals *marg,
                          sg_span window, double *parts, const sg_ws *ws)
{
    absorb_job job = {model, sites, marg, window, sg_par_grain(window.m, model->span, model->parts),
                      parts};
    const int count = sg_par_chunks(window.m, job.grain);
    sg_par_products(count * sites->layout.C, 1, absorb_some, &job, model->memo, ws);
}

/* Goes through a window that the model has looked at: marginals, cavities, tilts, and the tally of
 * residual and log evidence. A residual that is NaN stays. */
static sg_status pass(const sg_rows *rows, const sg_ep_model *model, const sg_sites *sites,
                      sg_span window, sg_marginals *marg, sg_tally *tally, const sg_ws *ws)
{
    model->marginals(model->self, sites, window, marg);
    if (!sg_cavities(rows, sites, marg, window)) return SG_NOT_PD;
    const sg_status status = sg_tilt_rows(rows, marg, window, ws);
    if (status != SG_OK) return status;
    const double residual = sg_sites_residual(sites, marg, window);
    tally->logz += sg_log_evidence(sites, marg, window);
    if (!isnan(tally->residual) && !(residual <= tally->residual)) tally->residual = residual;
    return SG_OK;
}

/* Sweeps over all rows with the sites of `sums`; with `next`, also collects the sums of the sites
 * that the tilts ask for, so a plain step reads no row again. Stops at the first window that
 * fails. */
sg_status sg_ep_sweep(const sg_rows *rows, const sg_ep_model *model, sg_sites *sites,
                      const double *sums, sg_marginals *marg, sg_tally *tally, double *parts,
                      double *next, sg_each_window each, void *ctx, const sg_ws *ws)
{
    const int exact = rows->lik->type->site != NULL, absorbs = next && !exact;
    /* all rows at once, unless their sums are wanted: then each is read once */
    const int size = model->at_hand && !absorbs && !each ? rows->n : model->window;
    sg_span window = {0, 0};
    *tally = (sg_tally) {0};
    if (next) parts = begin_sums(model, parts, next);
    sg_status status = model->begin(model->self, sites, sums, &tally->log_det);
    while (status == SG_OK && sg_next_span(rows->n, size, &window)) {
        if (model->look) model->look(model->self, window);
        if (exact) sg_exact_sites(rows, window, sites);
        status = pass(rows, model, sites, window, marg, tally, ws);
        if (status != SG_OK) break;
        if (absorbs) absorb_window(model, sites, marg, window, parts, ws);
        if (each) each(ctx, window);
        sg_tick(ws);
    }
    if (status == SG_OK && next) end_sums(model, parts, next);
    return status;
}

/* Reads the sums of the sites as given: for steps whose sites are not the tilts'. */
void sg_ep_read_sums(const sg_rows *rows, const sg_ep_model *model, sg_sites *sites, double *parts,
                     double *sums, const sg_ws *ws)
{
    sg_span window = {0, 0};
    parts = begin_sums(model, parts, sums);
    while (sg_next_span(rows->n, model->at_hand ? rows->n : model->window, &window)) {
        if (model->look) model->look(model->self, window);
        if (rows->lik->type->site) sg_exact_sites(rows, window, sites);
        if (model->absorb) absorb_window(model, sites, NULL, window, parts, ws);
        sg_tick(ws);
    }
    end_sums(model, parts, sums);
}
