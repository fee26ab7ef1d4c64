/* ep_markov.c: filter and smoother as the posterior that the loop of EP asks for. */
#include <math.h>
#include "ep_markov.h"

/* The model that the loop hands back. */
typedef struct {
    sg_layout layout;
    const sg_markov_path *path;
    sg_markov_process *process; /* C */
    double *mean, *alpha;       /* 1 + q x n: of one process at all times */
    double *var, *share;        /* n */
    double *J;
    const sg_ws *ws;
} markov_model;

sg_markov_process *sg_markov_processes(const sg_markov_path *path, int C, int kernels,
                                       const sg_markov_form *forms, int q, const double *phi,
                                       const sg_ws *ws)
{
    sg_markov_process *all = sg_structs(C, sizeof(sg_markov_process), ws);
    for (int c = 0; c < C; c++) {
        const sg_markov_form *form = forms + (kernels == 1 ? 0 : c);
        all[c] = (sg_markov_process) {
            form, NULL, sg_markov_trend_new(path, q, phi, ws),
            sg_markov_trace_new(form, path->n, 1 + q, ws), sg_doubles(ws, path->n),
            sg_doubles(ws, (size_t) path->n * (1 + q))
        };
    }
    return all;
}

/* The sites of a process as the filter takes them. */
static sg_markov_sites sites_of(const markov_model *model, const sg_markov_process *own)
{
    return (sg_markov_sites) {model->path->n, 1 + own->trend.q, model->path->t, own->tau, own->nu,
                              own->start};
}

/* Filters all processes. */
static sg_status begin(void *self, const sg_sites *sites, const double *sums, double *log_det)
{
    const markov_model *model = self;
    sg_status status = SG_OK;
    (void) sums;
    *log_det = 0;
    for (int c = 0; c < model->layout.C && status == SG_OK; c++) {
        sg_markov_process *own = model->process + c;
        const size_t at = (size_t) model->layout.n * c;
        sg_markov_gather(model->path, &own->trend, sites->tau + at, sites->nu + at, own->tau,
                         own->nu);
        const sg_markov_sites all = sites_of(model, own);
        status = sg_markov_filter(own->form, &all, &own->trace, log_det, model->ws);
        if (status != SG_OK) break;
        status = sg_markov_trend_solve(model->path, &own->trace, own->tau, &own->trend, log_det);
    }
    return status;
}

/* Gives each row the moments of its time. Of several rows at one time, a row's own share
 * 1 - tau_i var is that of all with what the others' precision adds: no digits cancel. */
static void hand_out(const markov_model *model, int c, const sg_sites *sites, sg_marginals *marg)
{
    const sg_markov_path *path = model->path;
    const sg_markov_process *own = model->process + c;
    const int n = path->rows, q = own->trend.q;
    const size_t first = (size_t) n * c;
    for (int i = 0; i < n; i++) {
        const int k = path->node[i], alone = path->size[k] == 1;
        const size_t at = first + i, of = (size_t) (1 + q) * k;
        marg->mean[at] = model->mean[of];
        marg->var[at] = model->var[k];
        marg->g[at] = model->share[k];
        if (!alone) marg->g[at] += (own->tau[k] - sites->tau[at]) * model->var[k];
        marg->alpha[at] = alone ? model->alpha[of]
            : sites->nu[at] - sites->tau[at] * model->mean[of];
        for (int j = 0; model->J && j < q; j++) {
            model->J[i + (size_t) n * (j + q * c)] = alone ? model->alpha[of + 1 + j]
                : sites->tau[at] * model->mean[of + 1 + j];
        }
    }
}

/* Smooths each process, and hands out its moments. */
static void marginals(void *self, const sg_sites *sites, sg_span span, sg_marginals *marg)
{
    const markov_model *model = self;
    (void) span;
    for (int c = 0; c < model->layout.C; c++) {
        const sg_markov_process *own = model->process + c;
        const sg_markov_sites all = sites_of(model, own);
        sg_markov_smooth(own->form, &all, &own->trace, model->mean, model->alpha, model->var,
                         model->share, model->ws);
        sg_markov_trend_add(model->path, &own->trend, own->tau, model->mean, model->alpha,
                            model->var, model->share);
        hand_out(model, c, sites, marg);
    }
}

/* Returns the prior variances of all rows, those of a linear mean added, for rows->prior. */
static double *prior_of(const markov_model *model, int kernels)
{
    const sg_markov_path *path = model->path;
    const size_t n = path->rows;
    double *prior = sg_doubles(model->ws, n * kernels);
    void *mark = sg_mark(model->ws);
    for (int k = 0; k < kernels; k++) {
        const sg_markov_form *form = model->process[k].form;
        const sg_markov_trend *trend = &model->process[k].trend;
        const int m = form->m;
        double *P = sg_doubles(model->ws, (size_t) m * m), *h = sg_doubles(model->ws, m);
        sg_markov_stationary(form, P);
        for (int i = 0; i < path->n; i++) {
            double sum = 0;
            sg_markov_observe(form, path->t[i], h);
            for (int s = 0; s < m; s++) sum += P[s + m * s] * h[s] * h[s];
            for (int j = 0; j < trend->q; j++) {
                const double phi = trend->phi[j + (size_t) trend->q * i];
                sum += phi * phi;
            }
            model->var[i] = sum;
        }
        for (size_t i = 0; i < n; i++) prior[i + n * k] = model->var[path->node[i]];
    }
    sg_release(model->ws, mark);
    return prior;
}

sg_status sg_ep_markov_run(const sg_rows *rows, const sg_markov_path *path,
                           sg_markov_process *processes, int kernels,
                           const sg_ep_options *options, sg_sites *sites, sg_marginals *marg,
                           double *J, sg_ep_report *report, const sg_ws *ws)
{
    const size_t all = (size_t) path->n * (1 + processes->trend.q);
    markov_model markov = {sg_layout_of(rows), path, processes, sg_doubles(ws, all),
                           sg_doubles(ws, all), sg_doubles(ws, path->n), sg_doubles(ws, path->n),
                           J, ws};
    const sg_ep_model model = {.self = &markov, .window = rows->n, .parts = 1, .begin = begin,
                               .marginals = marginals};
    sg_rows known = *rows;
    known.prior = prior_of(&markov, kernels);
    known.shared = kernels == 1;
    return sg_ep_loop(&known, &model, options, sites, NULL, marg, report, ws);
}
