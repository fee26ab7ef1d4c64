/* markov_predict.c: functionals of the state at points among the rows. */
#include <math.h>
#include "la.h"
#include "markov_predict.h"

enum { BETWEEN_TICKS = 4096 };

/* All functionals of all points, in the order of points; those of a point stand together. */
typedef struct {
    const sg_markov_query *query;
    int each, count, m;  /* functionals of a point; vectors of the filter; states */
    sg_markov_sites sites;
    sg_markov_trace trace;
    int *first;          /* of each time its first point, -1: it has none */
    int *next;           /* points: the next one at the same time, -1: there is none */
    double *w, *z;       /* m x functionals */
    double *mean;        /* count x functionals: b'm at first */
    double *Phi;         /* joint: m x m for each time that has a point, from the one before */
    int *place;          /* joint: of each time its place among those */
} run;

/* The functional of a point: its value, or its derivative. */
static void functional(const run *go, int point, int which, double t, double *b)
{
    const sg_markov_query *query = go->query;
    if (which == 0) sg_markov_observe(query->form, t, b);
    else sg_markov_observe_slope(query->form, t, b);
    for (int s = 0; which > 0 && s < go->m; s++) b[s] *= query->along[point];
    for (int c = 0; query->terms && c < query->form->cells; c++) {
        const sg_markov_cell *cell = query->form->cell + c;
        if (query->terms[cell->term]) continue;
        for (int s = 0; s < cell->size; s++) b[cell->at + s] = 0;
    }
}

/* Lists the points of each time. */
static void list_points(run *go)
{
    const sg_markov_query *query = go->query;
    for (int k = 0; k < query->path->n; k++) go->first[k] = -1;
    for (int i = query->points - 1; i >= 0; i--) {
        const int k = query->path->node[query->rows + i];
        go->next[i] = go->first[k];
        go->first[k] = i;
    }
}

/* Lends a run's memory, and gathers the sites. */
static run new_run(const sg_markov_query *query, const sg_ws *ws)
{
    const size_t n = query->path->n, points = query->points, m = query->form->m;
    const int count = 1 + query->trend->q;
    double *tau = sg_doubles(ws, n), *nu = sg_doubles(ws, n * count);
    run go = {.query = query, .each = query->slopes ? 2 : 1, .count = count, .m = (int) m,
              .sites = {query->path->n, count, query->path->t, tau, nu, query->start},
              .trace = sg_markov_trace_new(query->form, (int) n, count, ws),
              .first = sg_ints(n, ws), .next = sg_ints(points, ws)};
    go.w = sg_doubles(ws, m * points * go.each), go.z = sg_doubles(ws, m * points * go.each);
    go.mean = sg_doubles(ws, points * go.each * count);
    sg_markov_gather(query->path, query->trend, query->tau, query->nu, tau, nu);
    list_points(&go);
    return go;
}

/* w = P b and b'm of all points of a time, behind its sites. */
static void look_ahead(run *go, int k, const sg_markov_ahead *ahead)
{
    const int m = go->m;
    double b[SG_MARKOV_STATES];
    for (int i = go->first[k]; i >= 0; i = go->next[i]) {
        for (int which = 0; which < go->each; which++) {
            const size_t at = which + (size_t) go->each * i;
            functional(go, i, which, go->sites.t[k], b);
            for (int a = 0; a < m; a++) {
                go->w[a + m * at] = sg_markov_dot(m, ahead->P + m * a, b);
            }
            for (int v = 0; v < go->count; v++) {
                go->mean[v + go->count * at] = sg_markov_dot(m, ahead->m + (size_t) m * v, b);
            }
        }
    }
}

/* z = b - N w and the mean's other part, behind the sites of a time. */
static void look_back(run *go, int k, const sg_markov_back *back)
{
    const int m = go->m;
    for (int i = go->first[k]; i >= 0; i = go->next[i]) {
        for (int which = 0; which < go->each; which++) {
            const size_t at = which + (size_t) go->each * i;
            double *z = go->z + m * at;
            const double *w = go->w + m * at;
            functional(go, i, which, go->sites.t[k], z);
            for (int a = 0; a < m; a++) z[a] -= sg_markov_dot(m, back->N + m * a, w);
            for (int v = 0; v < go->count; v++) {
                go->mean[v + go->count * at] += sg_markov_dot(m, back->r + (size_t) m * v, w);
            }
        }
    }
}

/* Phi = (I - (tau / c) P h h') A Phi over the gap before time k and its site. */
static void carry(run *go, int k, const sg_markov_ahead *ahead, double *Phi)
{
    const int m = go->m;
    const double *Ph = go->trace.Ph + (size_t) m * k, by = go->sites.tau[k] / go->trace.c[k];
    sg_markov_move(go->query->form, &ahead->step, 0, m, Phi);
    for (int a = 0; by != 0 && a < m; a++) {
        const double seen = by * sg_markov_dot(m, ahead->h, Phi + m * a);
        for (int s = 0; s < m; s++) Phi[s + m * a] -= seen * Ph[s];
    }
}

static void identity(int m, double *Phi)
{
    for (int k = 0; k < m * m; k++) Phi[k] = k % (m + 1) == 0;
}

/* Forwards over rows and points; with Phi, also the products between points. */
static sg_status go_ahead(run *go, const sg_ws *ws)
{
    const sg_markov_form *form = go->query->form;
    const size_t m2 = (size_t) go->m * go->m;
    sg_markov_ahead ahead = sg_markov_ahead_new(form, go->count, ws);
    double *Phi = sg_zeros(m2, ws);
    int places = 0;
    for (int k = 0; k < go->sites.n; k++) {
        const sg_status status = sg_markov_forward(form, &go->sites, k, k, &ahead, &go->trace);
        if (status != SG_OK) return status;
        if (go->Phi && places > 0) carry(go, k, &ahead, Phi);
        if (go->first[k] >= 0) {
            look_ahead(go, k, &ahead);
            if (go->Phi) {
                sg_copy(m2, Phi, go->Phi + m2 * places);
                go->place[places] = k;
                identity(go->m, Phi);
            }
            places++;
        }
        if (k % BETWEEN_TICKS == 0) sg_tick(ws);
    }
    return sg_markov_ended(&ahead);
}

/* Back to the first time; the rows after the last point matter, those before the first do not. */
static void go_back(run *go, const sg_ws *ws)
{
    const sg_markov_form *form = go->query->form;
    sg_markov_back back = sg_markov_back_new(form, go->count, ws);
    for (int k = go->sites.n - 1; k >= 0; k--) {
        sg_markov_behind(form, &go->sites, k, k, &go->trace, &back);
        look_back(go, k, &back);
        sg_markov_before(form, &go->sites, k, k, &go->trace, &back);
        if (k % BETWEEN_TICKS == 0) sg_tick(ws);
    }
}

/* Turns the means of functional `which` of a point into that with a linear mean, the first, and u =
 * L^{-T} (phi - K W phi). */
static void add_trend(const run *go, int point, int which, double *mean)
{
    const sg_markov_query *query = go->query;
    const sg_markov_trend *trend = query->trend;
    const int q = trend->q;
    const double *phi = trend->phi + (size_t) q * query->path->node[query->rows + point];
    for (int j = 0; j < q; j++) {
        const double own = query->terms ? 0 : which == 0 ? phi[j]
            : query->phi_slope[point + (size_t) query->points * j];
        mean[1 + j] = own - mean[1 + j];
        mean[0] += trend->coef[j] * mean[1 + j];
    }
    if (q > 0) sg_trmv('T', q, trend->root, mean + 1);
}

/* Both ways, and the linear mean. */
static sg_status both_ways(run *go, const sg_ws *ws)
{
    const sg_status status = go_ahead(go, ws);
    if (status != SG_OK) return status;
    go_back(go, ws);
    for (int i = 0; i < go->query->points; i++) {
        for (int which = 0; which < go->each; which++) {
            add_trend(go, i, which, go->mean + go->count * (which + (size_t) go->each * i));
        }
    }
    return SG_OK;
}

/* Returns what the linear mean adds to the covariance of two functionals. */
static double of_trend(const run *go, size_t a, size_t b)
{
    return sg_markov_dot(go->count - 1, go->mean + go->count * a + 1,
                         go->mean + go->count * b + 1);
}

sg_status sg_markov_moments(const sg_markov_query *query, double *mean, double *var,
                            const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    run go = new_run(query, ws);
    const int each = go.each, m = go.m;
    const sg_status status = both_ways(&go, ws);
    for (size_t i = 0; status == SG_OK && i < (size_t) query->points; i++) {
        for (int a = 0; a < each; a++) {
            const size_t at = a + each * i;
            mean[at] = go.mean[go.count * at];
            for (int b = 0; b <= a; b++) {
                const size_t other = b + each * i;
                double *to = var + each * each * i;
                double own = sg_markov_dot(m, go.w + m * at, go.z + m * other);
                if (a == b && own < 0) own = 0;
                to[a + each * b] = to[b + each * a] = own + of_trend(&go, at, other);
            }
        }
    }
    sg_release(ws, mark);
    return status;
}

/* w = Phi w of all functionals of the times before. */
static void carry_all(const run *go, const double *Phi, int before, const int *order)
{
    const int m = go->m;
    double old[SG_MARKOV_STATES];
    for (int p = 0; p < before; p++) {
        double *w = go->w + (size_t) m * order[p];
        sg_copy(m, w, old);
        for (int a = 0; a < m; a++) {
            w[a] = 0;
            for (int b = 0; b < m; b++) w[a] += Phi[a + m * b] * old[b];
        }
    }
}

/* Fills in the covariances of all functionals, time by time, with those before. */
static void covariances(const run *go, int places, double *cov, const sg_ws *ws)
{
    const int m = go->m, all = go->query->points * go->each;
    int *order = sg_ints(all, ws), before = 0;
    for (int p = 0; p < places; p++) {
        const int k = go->place[p];
        if (p > 0) carry_all(go, go->Phi + (size_t) m * m * p, before, order);
        for (int i = go->first[k]; i >= 0; i = go->next[i]) {
            for (int which = 0; which < go->each; which++) order[before++] = which + go->each * i;
            for (int which = 0; which < go->each; which++) {
                const int at = which + go->each * i;
                for (int b = 0; b < before; b++) {
                    const size_t other = order[b];
                    const double own = sg_markov_dot(m, go->w + m * other, go->z + (size_t) m * at);
                    cov[at + all * other] = cov[other + (size_t) all * at] =
                        own + of_trend(go, at, other);
                }
            }
        }
        sg_tick(ws);
    }
}

sg_status sg_markov_joint(const sg_markov_query *query, double *mean, double *cov,
                          const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    run go = new_run(query, ws);
    int places = 0;
    for (int k = 0; k < go.sites.n; k++) places += go.first[k] >= 0;
    go.Phi = sg_doubles(ws, (size_t) go.m * go.m * places);
    go.place = sg_ints(places, ws);
    const sg_status status = both_ways(&go, ws);
    if (status == SG_OK) {
        covariances(&go, places, cov, ws);
        for (int f = 0; f < query->points * go.each; f++) mean[f] = go.mean[(size_t) go.count * f];
    }
    sg_release(ws, mark);
    return status;
}

sg_status sg_markov_end(const sg_markov_query *query, double *m, double *P, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    const size_t n = query->path->n, states = query->form->m;
    double *tau = sg_doubles(ws, n), *nu = sg_doubles(ws, n);
    const sg_markov_sites sites = {(int) n, 1, query->path->t, tau, nu, query->start};
    sg_markov_trace trace = sg_markov_trace_new(query->form, 1, 1, ws);
    sg_markov_ahead ahead = sg_markov_ahead_new(query->form, 1, ws);
    sg_status status = SG_OK;
    sg_markov_gather(query->path, query->trend, query->tau, query->nu, tau, nu);
    for (int k = 0; k < (int) n && status == SG_OK; k++) {
        status = sg_markov_forward(query->form, &sites, k, 0, &ahead, &trace);
        if (k % BETWEEN_TICKS == 0) sg_tick(ws);
    }
    sg_copy(states, ahead.m, m);
    sg_copy(states * states, ahead.P, P);
    sg_release(ws, mark);
    return status == SG_OK ? sg_markov_ended(&ahead) : status;
}
