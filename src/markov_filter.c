/* markov_filter.c: forwards over the sites, and back. */
#include <math.h>
#include "markov_filter.h"

enum { BETWEEN_TICKS = 4096 };
static const double NEAR_ZERO = 1e-6; /* |c| from which on moments keep some ten digits */

sg_markov_trace sg_markov_trace_new(const sg_markov_form *form, int n, int count, const sg_ws *ws)
{
    const size_t N = n;
    return (sg_markov_trace) {
        .h = sg_doubles(ws, form->m * N), .Ph = sg_doubles(ws, form->m * N),
        .v = sg_doubles(ws, N), .c = sg_doubles(ws, N),
        .mu = sg_doubles(ws, count * N), .e = sg_doubles(ws, count * N)
    };
}

/* A gap that no step has. */
static sg_markov_step no_step(void)
{
    sg_markov_step step;
    memset(&step, 0, sizeof step);
    step.gap = -1;
    return step;
}

sg_markov_ahead sg_markov_ahead_new(const sg_markov_form *form, int count, const sg_ws *ws)
{
    const size_t m = form->m;
    return (sg_markov_ahead) {sg_doubles(ws, m * m), sg_zeros(m * count, ws), NULL, no_step(), 0};
}

sg_markov_back sg_markov_back_new(const sg_markov_form *form, int count, const sg_ws *ws)
{
    const size_t m = form->m;
    return (sg_markov_back) {sg_zeros(m * m, ws), sg_zeros(m * count, ws), sg_doubles(ws, m),
                             sg_doubles(ws, m), NULL, no_step()};
}

/* y = S x for a symmetric S[m x m]. */
static void multiply(int m, const double *S, const double *x, double *y)
{
    sg_zero(m, y);
    for (int j = 0; j < m; j++) {
        const double by = x[j], *column = S + (size_t) m * j;
        if (by == 0) continue;
        SG_SIDE_BY_SIDE
        for (int i = 0; i < m; i++) y[i] += column[i] * by;
    }
}

/* The moments that the way begins with. */
static void begin(const sg_markov_form *form, const sg_markov_sites *sites, sg_markov_ahead *ahead)
{
    const size_t m = form->m;
    sg_zero(m * sites->count, ahead->m);
    if (sites->start) {
        sg_copy(m, sites->start->m, ahead->m);
        sg_copy(m * m, sites->start->P, ahead->P);
    } else {
        sg_markov_stationary(form, ahead->P);
    }
}

/* Moves the moments over the gap before time i. */
static void advance(const sg_markov_form *form, const sg_markov_sites *sites, int i,
                    sg_markov_ahead *ahead)
{
    if (i == 0) begin(form, sites, ahead);
    if (i == 0 && !sites->start) return;
    const double gap = sites->t[i] - (i == 0 ? sites->start->t : sites->t[i - 1]);
    if (gap == 0) return;
    sg_markov_step_over(form, gap, &ahead->step);
    sg_markov_move(form, &ahead->step, 0, sites->count, ahead->m);
    sg_markov_predict(form, &ahead->step, ahead->P);
}

sg_status sg_markov_forward(const sg_markov_form *form, const sg_markov_sites *sites, int i, int k,
                            sg_markov_ahead *ahead, sg_markov_trace *trace)
{
    const int m = form->m;
    const double tau = sites->tau[i];
    double *h = trace->h + (size_t) m * k, *Ph = trace->Ph + (size_t) m * k;
    advance(form, sites, i, ahead);
    sg_markov_observe(form, sites->t[i], h);
    ahead->h = h;
    multiply(m, ahead->P, h, Ph);
    const double v = sg_markov_dot(m, h, Ph), c = 1 + tau * v;
    if (!(fabs(c) > NEAR_ZERO)) return isnan(c) ? SG_NOT_FINITE : SG_NOT_PD;
    if (c < 0) ahead->turned += tau > 0 ? 1 : -1;
    trace->v[k] = v, trace->c[k] = c;
    for (int a = 0; a < sites->count; a++) {
        double *own = ahead->m + (size_t) m * a;
        const size_t at = a + (size_t) sites->count * k;
        const double mu = sg_markov_dot(m, h, own);
        const double e = (sites->nu[a + (size_t) sites->count * i] - tau * mu) / c;
        trace->mu[at] = mu, trace->e[at] = e;
        for (int s = 0; s < m; s++) own[s] += Ph[s] * e;
    }
    if (tau == 0) return SG_OK;
    for (int b = 0; b < m; b++) {
        const double by = tau / c, own = Ph[b];
        double *column = ahead->P + (size_t) m * b;
        SG_SIDE_BY_SIDE
        for (int a = 0; a < m; a++) column[a] -= by * (Ph[a] * own); /* symmetric to the digit */
    }
    return SG_OK;
}

sg_status sg_markov_ended(const sg_markov_ahead *ahead)
{
    return ahead->turned == 0 ? SG_OK : SG_NOT_PD;
}

sg_status sg_markov_filter(const sg_markov_form *form, const sg_markov_sites *sites,
                           sg_markov_trace *trace, double *log_det, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    sg_markov_ahead ahead = sg_markov_ahead_new(form, sites->count, ws);
    sg_status status = SG_OK;
    double sum = 0;
    for (int i = 0; i < sites->n && status == SG_OK; i++) {
        status = sg_markov_forward(form, sites, i, i, &ahead, trace);
        if (status == SG_OK) sum += log(fabs(trace->c[i]));
        if (i % BETWEEN_TICKS == 0) sg_tick(ws);
    }
    *log_det += sum / 2;
    sg_release(ws, mark);
    return status == SG_OK ? sg_markov_ended(&ahead) : status;
}

void sg_markov_behind(const sg_markov_form *form, const sg_markov_sites *sites, int i, int k,
                      const sg_markov_trace *trace, sg_markov_back *back)
{
    const int m = form->m;
    const double gap = i + 1 < sites->n ? sites->t[i + 1] - sites->t[i] : 0;
    if (gap > 0) {
        sg_markov_step_over(form, gap, &back->step);
        sg_markov_move(form, &back->step, 1, sites->count, back->r);
        sg_markov_pull(form, &back->step, back->N);
    }
    back->h = trace->h + (size_t) m * k;
    for (int s = 0; s < m; s++) back->g[s] = trace->Ph[s + (size_t) m * k] / trace->c[k];
    multiply(m, back->N, back->g, back->u);
}

void sg_markov_before(const sg_markov_form *form, const sg_markov_sites *sites, int i, int k,
                      const sg_markov_trace *trace, sg_markov_back *back)
{
    const int m = form->m;
    const double tau = sites->tau[i], *h = back->h, *u = back->u;
    const double own = tau * tau * sg_markov_dot(m, back->g, u) + tau / trace->c[k];
    for (int a = 0; a < sites->count; a++) {
        double *r = back->r + (size_t) m * a;
        const double by = trace->e[a + (size_t) sites->count * k] -
            tau * sg_markov_dot(m, back->g, r);
        for (int s = 0; s < m; s++) r[s] += by * h[s];
    }
    if (tau == 0) return;
    for (int b = 0; b < m; b++) {
        const double of_h = own * h[b] - tau * u[b], of_u = tau * h[b];
        double *column = back->N + (size_t) m * b;
        SG_SIDE_BY_SIDE
        for (int a = 0; a < m; a++) column[a] += h[a] * of_h - u[a] * of_u;
    }
}

void sg_markov_smooth(const sg_markov_form *form, const sg_markov_sites *sites,
                      const sg_markov_trace *trace, double *mean, double *alpha, double *var,
                      double *share, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    const int m = form->m, count = sites->count;
    sg_markov_back back = sg_markov_back_new(form, count, ws);
    for (int i = sites->n - 1; i >= 0; i--) {
        const double tau = sites->tau[i];
        sg_markov_behind(form, sites, i, i, trace, &back);
        const double known = sg_markov_dot(m, back.g, back.u);
        var[i] = trace->v[i] / trace->c[i] - known;
        if (var[i] < 0) var[i] = 0;
        share[i] = 1 / trace->c[i] + tau * known;
        for (int a = 0; a < count; a++) {
            const size_t at = a + (size_t) count * i;
            const double pull = sg_markov_dot(m, back.g, back.r + (size_t) m * a);
            mean[at] = trace->mu[at] + trace->v[i] * trace->e[at] + pull;
            if (alpha) alpha[at] = trace->e[at] - tau * pull;
        }
        sg_markov_before(form, sites, i, i, trace, &back);
        if (i % BETWEEN_TICKS == 0) sg_tick(ws);
    }
    sg_release(ws, mark);
}
