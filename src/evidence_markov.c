/* evidence_markov.c: the gradient of the log evidence of Markov EP in the kernel's hyperparameters.
 *
 * At fixed sites it is that of -log|I + K T| / 2 + sum_a nu_a'(K^{-1} + T)^{-1} nu_a / 2, where the
 * vectors are nu - T phi E c and, with a linear mean, the columns of T phi L^{-1}: each adds
 * alpha_a'dK alpha_a / 2 (evidence_full.c). One way back has the derivatives in everything: before
 * a time r_a and N give
 *   in m_a: r_a,   in P: Pbar = (sum r_a r_a' - N) / 2   (Koopman and Shephard 1992),
 *   in Q: Pbar,   in A: sum r_a m_a' + 2 Pbar A P,   in h: sum (nu_a - tau f_a) s_a - tau S h,
 * with m, P behind the time before and s, S the smoothed moments of the state. The way back wants P
 * of every time, so it goes through segments, each filtered anew from where it begins. */
#include <math.h>
#include "evidence.h"
#include "ep_markov.h"

enum { SEGMENT_NUMBERS = 1 << 16 }; /* that P and m of a segment take: the cache holds them */

/* All that the way back needs. */
typedef struct {
    const sg_markov_form *form;
    sg_markov_sites sites;
    int from;            /* first time of the segment */
    double *P, *m;       /* of each time of it, behind its site */
    double *P0, *m0;     /* of the time before it */
    sg_markov_trace trace; /* of the segment */
    sg_markov_ahead ahead;
    sg_markov_back back;
    double *W, *s, *dh;  /* m x m, m x count, m */
    sg_markov_slope *slope;
} adjoint_run;

/* Filters the segment [from, to) from the state behind the time before it, and keeps its states. */
static sg_status filter_segment(adjoint_run *run, int from, int to)
{
    const size_t m = run->form->m, count = run->sites.count;
    sg_copy(m * m, run->P0, run->ahead.P);
    sg_copy(m * count, run->m0, run->ahead.m);
    run->from = from;
    for (int i = from; i < to; i++) {
        const int k = i - from;
        const sg_status status = sg_markov_forward(run->form, &run->sites, i, k, &run->ahead,
                                                   &run->trace);
        if (status != SG_OK) return status;
        sg_copy(m * m, run->ahead.P, run->P + m * m * k);
        sg_copy(m * count, run->ahead.m, run->m + m * count * k);
    }
    return SG_OK;
}

/* Adds the derivatives in the frequencies, by those in h, from behind the site of time i. */
static void add_omega(adjoint_run *run, int i)
{
    const sg_markov_form *form = run->form;
    const sg_markov_back *back = &run->back;
    const int m = form->m, k = i - run->from;
    const double *P = run->P + (size_t) m * m * k, tau = run->sites.tau[i];
    for (int a = 0; a < m; a++) {
        run->dh[a] = tau * (sg_markov_dot(m, P + m * a, back->u) - back->g[a]);
    }
    for (int v = 0; v < run->sites.count; v++) {
        double *s = run->s;
        const double *r = back->r + m * v;
        for (int a = 0; a < m; a++) {
            s[a] = run->m[a + (size_t) m * (v + (size_t) run->sites.count * k)] +
                sg_markov_dot(m, P + m * a, r);
        }
        const double by = run->sites.nu[v + (size_t) run->sites.count * i] -
            tau * sg_markov_dot(m, back->h, s);
        for (int a = 0; a < m; a++) run->dh[a] += by * s[a];
    }
    for (int c = 0; c < form->cells; c++) {
        const sg_markov_cell *cell = form->cell + c;
        if (!(form->term[cell->term].omega > 0)) continue;
        run->slope[cell->term].omega += run->dh[cell->at] *
            sg_markov_observe_omega(form, c, run->sites.t[i]);
    }
}

/* Pbar_ab before a time. */
static double pbar(const adjoint_run *run, int a, int b)
{
    const int m = run->form->m;
    double sum = -run->back.N[a + m * b];
    for (int v = 0; v < run->sites.count; v++) {
        sum += run->back.r[a + m * v] * run->back.r[b + m * v];
    }
    return sum / 2;
}

/* Adds the derivatives in the P that all begins with: every term's variance. */
static void add_beginning(adjoint_run *run)
{
    const sg_markov_form *form = run->form;
    const int m = form->m;
    sg_markov_stationary(form, run->W);
    for (int c = 0; c < form->cells; c++) {
        const sg_markov_cell *cell = form->cell + c;
        for (int a = cell->at; a < cell->at + cell->size; a++) {
            for (int b = cell->at; b < cell->at + cell->size; b++) {
                run->slope[cell->term].variance += pbar(run, a, b) * run->W[a + m * b];
            }
        }
    }
}

/* Adds the derivatives of one cell's A and Q over the gap before a time; m behind the time before,
 * W = A P. */
static void add_cell(adjoint_run *run, const sg_markov_cell *cell, const sg_markov_step *step,
                     const double *before)
{
    const int m = run->form->m, size = cell->size, j = cell->term;
    sg_markov_slope *slope = run->slope + j;
    for (int a = 0; a < size; a++) {
        double row[SG_MARKOV_STATES];
        for (int b = 0; b < m; b++) row[b] = pbar(run, cell->at + a, b);
        for (int b = 0; b < size; b++) {
            const int at = a + size * b, col = cell->at + b;
            double abar = 2 * sg_markov_dot(m, row, run->W + m * col);
            for (int v = 0; v < run->sites.count; v++) {
                abar += run->back.r[cell->at + a + m * v] * before[col + m * v];
            }
            slope->variance += row[col] * step->Q[j][at];
            slope->lambda += row[col] * step->dQ[j][at] + abar * step->dA[j][at];
        }
    }
}

/* Adds the derivatives of the step to time i. */
static void add_step(adjoint_run *run, int i)
{
    const sg_markov_form *form = run->form;
    const size_t m = form->m, count = run->sites.count;
    const int k = i - run->from - 1; /* the time before */
    const double *P = k < 0 ? run->P0 : run->P + m * m * k;
    const double *before = k < 0 ? run->m0 : run->m + m * count * k;
    if (!form->moves) return;
    sg_markov_step *step = &run->back.step;
    sg_markov_step_over(form, run->sites.t[i] - run->sites.t[i - 1], step);
    sg_copy(m * m, P, run->W);
    sg_markov_move(form, step, 0, form->m, run->W);
    for (int c = 0; c < form->cells; c++) {
        const sg_markov_cell *cell = form->cell + c;
        if (form->term[cell->term].order > 0) add_cell(run, cell, step, before);
    }
}

/* Goes back through the segment that has been filtered last. */
static void go_back(adjoint_run *run, int to, int waves)
{
    for (int i = to - 1; i >= run->from; i--) {
        const int k = i - run->from;
        sg_markov_behind(run->form, &run->sites, i, k, &run->trace, &run->back);
        if (waves) add_omega(run, i);
        sg_markov_before(run->form, &run->sites, i, k, &run->trace, &run->back);
        if (i == 0) add_beginning(run);
        else add_step(run, i);
    }
}

/* Lends what a run of segments of so many times takes. */
static adjoint_run new_run(const sg_markov_process *own, const sg_markov_path *path, double *nu,
                           int size, sg_markov_slope *slope, const sg_ws *ws)
{
    const int count = 1 + own->trend.q;
    const size_t m = own->form->m;
    return (adjoint_run) {
        .form = own->form, .sites = {path->n, count, path->t, own->tau, nu},
        .P = sg_doubles(ws, m * m * size), .m = sg_doubles(ws, m * count * size),
        .trace = sg_markov_trace_new(own->form, size, count, ws),
        .ahead = sg_markov_ahead_new(own->form, count, ws),
        .back = sg_markov_back_new(own->form, count, ws),
        .W = sg_doubles(ws, m * m), .s = sg_doubles(ws, m), .dh = sg_doubles(ws, m),
        .slope = slope
    };
}

/* The vectors nu - T phi E c and T phi L^{-1} of all times. */
static double *vectors_of(const sg_markov_process *own, int n, const sg_ws *ws)
{
    const int q = own->trend.q, count = 1 + q;
    double *nu = sg_doubles(ws, (size_t) count * n), turned[SG_TREND_MAX];
    sg_copy((size_t) count * n, own->nu, nu);
    for (int k = 0; k < n; k++) {
        double *at = nu + (size_t) count * k;
        for (int j = 0; j < q; j++) {
            at[0] -= at[1 + j] * own->trend.coef[j];
            turned[j] = 0;
            for (int i = 0; i <= j; i++) turned[j] += at[1 + i] * own->trend.root[i + q * j];
        }
        sg_copy(q, turned, at + 1);
    }
    return nu;
}

/* Adds one process's slopes. Checkpoints: the states that segments begin with. */
static void process_slopes(const sg_markov_process *own, const sg_markov_path *path,
                           sg_markov_slope *slope, const sg_ws *ws)
{
    const size_t m = own->form->m, count = 1 + own->trend.q, each = m * m + m * count;
    const int n = path->n, room = (int) (SEGMENT_NUMBERS / each), size = room < n ? room : n;
    const int segments = (n - 1) / size + 1;
    int waves = 0;
    for (int j = 0; j < own->form->terms; j++) waves = waves || own->form->term[j].omega > 0;
    adjoint_run run = new_run(own, path, vectors_of(own, n, ws), size, slope, ws);
    double *kept = sg_zeros(each * segments, ws);
    for (int s = 0; s < segments; s++) {
        const int from = s * size, to = from + size < n ? from + size : n;
        run.P0 = kept + each * s, run.m0 = run.P0 + m * m;
        if (filter_segment(&run, from, to) != SG_OK) return;
        if (s + 1 == segments) break;
        sg_copy(m * m, run.ahead.P, kept + each * (s + 1));
        sg_copy(m * count, run.ahead.m, kept + each * (s + 1) + m * m);
        sg_tick(ws);
    }
    for (int s = segments - 1; s >= 0; s--) {
        const int from = s * size, to = from + size < n ? from + size : n;
        run.P0 = kept + each * s, run.m0 = run.P0 + m * m;
        if (s + 1 < segments && filter_segment(&run, from, to) != SG_OK) return;
        go_back(&run, to, waves);
        sg_tick(ws);
    }
}

/* Processes that share a kernel add up. The filter has succeeded with these sites, so it does
 * again. */
void sg_evidence_gradient_markov(const sg_markov_path *path, const sg_markov_process *processes,
                                 int C, int count, const sg_kernel *const *kernels,
                                 double *dkernel, const sg_ws *ws)
{
    for (int k = 0; k < count; k++) {
        const int share = C / count;
        sg_markov_slope slope[SG_MARKOV_TERMS];
        memset(slope, 0, sizeof slope);
        for (int c = k * share; c < (k + 1) * share; c++) {
            void *mark = sg_mark(ws);
            process_slopes(processes + c, path, slope, ws);
            sg_release(ws, mark);
        }
        sg_markov_adjoint(kernels[k], processes[k * share].form, slope, dkernel);
        dkernel += sg_kernel_ntheta(kernels[k]);
    }
}
