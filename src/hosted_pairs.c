/* hosted_pairs.c: tilts of rows whose log p the host has (hosted_tilts.h), of two latent values:
 * integrals over the second, of integrals over the first given the second. Each looks for its own
 * nodes: a density may be narrow in the first for some values of the second. With
 *   f2 = m2 + sd2 t2,   f1 = m1 + b (f2 - m2) + sd1 t1,
 * mean e and covariance C of t under the tilted distribution give d1 = L^-T e and
 * d2 = L^-T (C - I) L^-1, L' = (sd1, 0; b sd2, sd2). */
#include <math.h>
#include "hosted_tilts.h"

/* The normal distribution of the second value, and of the first given the second. */
typedef struct {
    double m1, m2, b, sd1, sd2;
} normal;

/* Rows under their distributions. */
typedef struct {
    const sg_lik *lik;
    const double *y;
    const normal *of;
} rows;

/* Integrals over the first value, under N(mean, sd^2) at a second value f2 of a row. */
typedef struct {
    const rows *rows;
    const int *row;
    const double *f2;
    double *mean;
} inner;

static normal given_second(const double *mu, const double *S)
{
    const double s2 = sg_hosted_variance(S[3], mu[1]), b = S[1] / s2;
    const double s1 = sg_hosted_variance(S[0] - b * S[1], mu[0]);
    const normal out = {mu[0], mu[1], b, sqrt(s1), sqrt(s2)};
    return out;
}

/* Returns points of inner integrals as points of rows: their f[m x 2], and the row of each. */
static double *inner_points(const inner *in, int m, const int *which, const double *t, int *row)
{
    double *f = sg_doubles(in->rows->lik->host->ws, 2 * (size_t) m);
    for (int k = 0; k < m; k++) {
        const int i = which[k];
        row[k] = in->row[i];
        f[k] = in->mean[i] + in->rows->of[row[k]].sd1 * t[k], f[m + k] = in->f2[i];
    }
    return f;
}

static void inner_logs(void *ctx, int m, const int *which, const double *t, double *log,
                       double *extra)
{
    const inner *in = ctx;
    const sg_ws *ws = in->rows->lik->host->ws;
    void *mark = sg_mark(ws);
    (void) extra;
    int *row = sg_ints(m, ws);
    const double *f = inner_points(in, m, which, t, row);
    sg_copy(m, sg_hosted_ask(in->rows->lik, 0, m, in->rows->y, row, f), log);
    sg_release(ws, mark);
}

/* Integrates over the first value at m second values t2 of rows. */
static sg_row_nodes integrate_first(inner *in, int m, const double *t2, double *logz)
{
    const sg_ws *ws = in->rows->lik->host->ws;
    double *f2 = sg_doubles(ws, m);
    int *jumps = sg_ints(m, ws);
    in->mean = sg_doubles(ws, m);
    for (int k = 0; k < m; k++) {
        const normal *of = in->rows->of + in->row[k];
        f2[k] = of->m2 + of->sd2 * t2[k], in->mean[k] = of->m1 + of->b * of->sd2 * t2[k];
    }
    in->f2 = f2;
    const sg_row_integrands problem = {.ctx = in, .logs = inner_logs,
                                       .tolerance = SG_HOSTED_TOLERANCE,
                                       .lost = in->rows->lik->host->lost,
                                       .of = in->rows->lik->host->self};
    return sg_quad_rows(&problem, m, logz, jumps, ws);
}

/* Writes the logarithms of inner integrals, and mean and variance of t1 as their extras. */
static void first_moments(const rows *r, int m, const int *row, const double *t2, double *logz,
                          double *extra)
{
    inner in = {.rows = r, .row = row};
    const sg_row_nodes nodes = integrate_first(&in, m, t2, logz);
    if (!extra) return;
    sg_zero(2 * (size_t) m, extra);
    for (int k = 0; k < nodes.count; k++) {
        extra[2 * nodes.row[k]] += nodes.weight[k] * nodes.t[k];
    }
    for (int k = 0; k < nodes.count; k++) {
        double *own = extra + 2 * nodes.row[k];
        const double x = nodes.t[k] - own[0];
        own[1] += nodes.weight[k] * x * x;
    }
}

/* As quad_rows.h asks for it; inner integrals are made in blocks, too. */
static void outer_logs(void *ctx, int m, const int *row, const double *t2, double *log,
                       double *extra)
{
    const rows *r = ctx;
    for (int k = 0; k < m; k += SG_HOSTED_ROWS) {
        void *mark = sg_mark(r->lik->host->ws);
        const int count = m - k < SG_HOSTED_ROWS ? m - k : SG_HOSTED_ROWS;
        first_moments(r, count, row + k, t2 + k, log + k, extra ? extra + 2 * (size_t) k : NULL);
        sg_release(r->lik->host->ws, mark);
    }
}

/* Adds the means of dlogp/dtheta over both values, for some of the outer nodes. */
static void add_slopes(const rows *r, const sg_row_nodes *outer, int from, int count, double *dpar)
{
    const sg_ws *ws = r->lik->host->ws;
    const size_t npar = r->lik->npar;
    inner in = {.rows = r, .row = outer->row + from};
    const sg_row_nodes nodes = integrate_first(&in, count, outer->t + from, sg_doubles(ws, count));
    int *row = sg_ints(nodes.count, ws);
    const double *f = inner_points(&in, nodes.count, nodes.row, nodes.t, row);
    const double *at = sg_hosted_ask(r->lik, 1, nodes.count, r->y, row, f);
    for (int k = 0; k < nodes.count; k++) {
        const double weight = nodes.weight[k] * outer->weight[from + nodes.row[k]];
        for (size_t j = 0; j < npar; j++) dpar[j + npar * row[k]] += weight * at[j + npar * k];
    }
}

static void mean_slopes(const rows *r, int n, const sg_row_nodes *outer, double *dpar)
{
    sg_zero((size_t) r->lik->npar * n, dpar);
    for (int k = 0; k < outer->count; k += SG_HOSTED_ROWS) {
        void *mark = sg_mark(r->lik->host->ws);
        const int left = outer->count - k;
        add_slopes(r, outer, k, left < SG_HOSTED_ROWS ? left : SG_HOSTED_ROWS, dpar);
        sg_release(r->lik->host->ws, mark);
    }
}

/* Mean of t, and covariance less I: 11, 12, 22. */
typedef struct {
    double e[2], c[3];
} moments;

static void moments_of(int n, const sg_row_nodes *nodes, moments *all)
{
    for (int i = 0; i < n; i++) all[i] = (moments) {{0, 0}, {-1, 0, -1}};
    for (int k = 0; k < nodes->count; k++) {
        moments *m = all + nodes->row[k];
        m->e[0] += nodes->weight[k] * nodes->extra[2 * k];
        m->e[1] += nodes->weight[k] * nodes->t[k];
    }
    for (int k = 0; k < nodes->count; k++) {
        moments *m = all + nodes->row[k];
        const double x = nodes->extra[2 * k] - m->e[0], y = nodes->t[k] - m->e[1];
        m->c[0] += nodes->weight[k] * (nodes->extra[2 * k + 1] + x * x);
        m->c[1] += nodes->weight[k] * x * y, m->c[2] += nodes->weight[k] * y * y;
    }
}

static void derivatives(const normal *of, const moments *m, double *d1, double *d2)
{
    const double p = 1 / of->sd1, q = -of->b * p, r = 1 / of->sd2;
    d1[0] = p * m->e[0], d1[1] = q * m->e[0] + r * m->e[1];
    d2[0] = p * p * m->c[0];
    d2[1] = d2[2] = p * (q * m->c[0] + r * m->c[1]);
    d2[3] = q * q * m->c[0] + 2 * q * r * m->c[1] + r * r * m->c[2];
}

void sg_hosted_pairs(const sg_lik *lik, int n, const double *y, const double *mu, const double *S,
                     double *logz, double *d1, double *d2, double *dpar)
{
    const sg_ws *ws = lik->host->ws;
    normal *of = sg_structs(n, sizeof(normal), ws);
    moments *all = sg_structs(n, sizeof(moments), ws);
    int *jumps = sg_ints(n, ws);
    rows r = {lik, y, of};
    for (int i = 0; i < n; i++) of[i] = given_second(mu + 2 * i, S + 4 * i);
    const sg_row_integrands in = {.ctx = &r, .logs = outer_logs, .nextra = 2,
                                  .tolerance = 10 * SG_HOSTED_TOLERANCE,
                                  .lost = lik->host->lost,
                                  .of = lik->host->self};
    const sg_row_nodes nodes = sg_quad_rows(&in, n, logz, jumps, ws);
    moments_of(n, &nodes, all);
    for (int i = 0; i < n; i++) {
        derivatives(of + i, all + i, d1 + 2 * i, d2 + 4 * i);
        if (logz[i] > -HUGE_VAL) continue;
        sg_fill(2, NAN, d1 + 2 * i), sg_fill(4, NAN, d2 + 4 * i);
    }
    if (dpar) mean_slopes(&r, n, &nodes, dpar);
}
