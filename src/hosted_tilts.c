/* hosted_tilts.c: tilts of rows whose log p the host has (hosted_tilts.h), of one latent value.
 * With t = (f - mu) / sd, and means under the tilted distribution,
 *   d1 = E t / sd,   d2 = (Var t - 1) / s2,   dlogZ/dtheta = E dlogp/dtheta. */
#include <math.h>
#include <Rmath.h>
#include "hosted_tilts.h"

static const double STEP = 1e-4; /* of differences in theta */

/* Rows under N(mean, sd^2). */
typedef struct {
    const sg_lik *lik;
    int n;
    const double *y;
    double *mean, *sd;
} rows;

/* The latent values at m points, lent. */
static double *values_at(const rows *r, int m, const int *row, const double *t)
{
    double *f = sg_doubles(r->lik->host->ws, m);
    for (int k = 0; k < m; k++) f[k] = r->mean[row[k]] + r->sd[row[k]] * t[k];
    return f;
}

/* Writes power log p, as quad_rows.h asks for it. */
static void power_logs(void *ctx, int m, const int *row, const double *t, double *log,
                       double *extra)
{
    const rows *r = ctx;
    void *mark = sg_mark(r->lik->host->ws);
    (void) extra;
    const double *at = sg_hosted_ask(r->lik, 0, m, r->y, row, values_at(r, m, row, t));
    for (int k = 0; k < m; k++) log[k] = r->lik->power * at[k];
    sg_release(r->lik->host->ws, mark);
}

/* Integrates all rows. An integrand that is 0 at most places is looked for near the response. */
static sg_row_nodes integrate(const rows *r, double *logz, int *jumps)
{
    const sg_ws *ws = r->lik->host->ws;
    double *around = sg_doubles(ws, r->n), *unit = sg_doubles(ws, r->n);
    for (int i = 0; i < r->n; i++) {
        const double y = *sg_lik_row(r->lik, r->y, i);
        around[i] = (y - r->mean[i]) / r->sd[i], unit[i] = (fabs(y) + 1) / r->sd[i];
    }
    const sg_row_integrands in = {.ctx = (void *) r, .logs = power_logs, .around = around,
                                  .unit = unit, .tolerance = SG_HOSTED_TOLERANCE,
                                  .lost = r->lik->host->lost, .of = r->lik->host->self};
    return sg_quad_rows(&in, r->n, logz, jumps, ws);
}

/* Writes d1 and d2 from mean and variance of t. */
static void derivatives(const rows *r, const sg_row_nodes *nodes, const double *logz, double *d1,
                        double *d2)
{
    sg_zero(r->n, d1), sg_zero(r->n, d2);
    for (int k = 0; k < nodes->count; k++) d1[nodes->row[k]] += nodes->weight[k] * nodes->t[k];
    for (int k = 0; k < nodes->count; k++) {
        const double x = nodes->t[k] - d1[nodes->row[k]];
        d2[nodes->row[k]] += nodes->weight[k] * x * x;
    }
    for (int i = 0; i < r->n; i++) {
        const double power = r->lik->power, sd = r->sd[i];
        d1[i] = logz[i] > -HUGE_VAL ? d1[i] / sd / power : NAN;
        d2[i] = logz[i] > -HUGE_VAL ? (d2[i] - 1) / (sd * sd) / power : NAN;
    }
}

/* Writes the means of dlogp/dtheta over the nodes. */
static void mean_slopes(const rows *r, const sg_row_nodes *nodes, double *dpar)
{
    const int npar = r->lik->npar;
    const double *f = values_at(r, nodes->count, nodes->row, nodes->t);
    const double *at = sg_hosted_ask(r->lik, 1, nodes->count, r->y, nodes->row, f);
    sg_zero((size_t) npar * r->n, dpar);
    for (size_t k = 0; k < (size_t) npar * nodes->count; k++) {
        dpar[k % npar + (size_t) npar * nodes->row[k / npar]] += nodes->weight[k / npar] * at[k];
    }
}

/* Returns those of the rows that are chosen. */
static rows some_rows(const rows *r, const int *chosen)
{
    const sg_ws *ws = r->lik->host->ws;
    const int q = sg_lik_q(r->lik);
    double *y = sg_doubles(ws, (size_t) q * r->n);
    rows some = {.lik = r->lik, .y = y, .mean = sg_doubles(ws, r->n), .sd = sg_doubles(ws, r->n)};
    for (int i = 0; i < r->n; i++) {
        if (!chosen[i]) continue;
        sg_copy(q, sg_lik_row(r->lik, r->y, i), y + (size_t) q * some.n);
        some.mean[some.n] = r->mean[i], some.sd[some.n++] = r->sd[i];
    }
    return some;
}

/* Overwrites dlogZ/dtheta of rows whose density is 0 somewhere by differences of log Z: where a
 * bound moves with theta the mean of dlogp/dtheta is not all of it. */
static void jump_slopes(const rows *r, const int *jumps, double *dpar)
{
    const sg_ws *ws = r->lik->host->ws;
    const int npar = r->lik->npar;
    double theta[SG_LIK_MAX_PAR], *low = sg_doubles(ws, r->n), *high = sg_doubles(ws, r->n);
    int *ignored = sg_ints(r->n, ws);
    rows some = some_rows(r, jumps);
    sg_lik moved = *r->lik;
    moved.theta = theta, some.lik = &moved;
    for (int j = 0; j < npar && some.n > 0; j++) {
        void *mark = sg_mark(ws);
        sg_copy(npar, r->lik->theta, theta);
        theta[j] = r->lik->theta[j] + STEP;
        integrate(&some, high, ignored);
        theta[j] = r->lik->theta[j] - STEP;
        integrate(&some, low, ignored);
        for (int i = 0, k = 0; i < r->n; i++) {
            if (!jumps[i]) continue;
            dpar[j + (size_t) npar * i] = (high[k] - low[k]) / (2 * STEP * r->lik->power);
            k++;
        }
        sg_release(ws, mark);
    }
}

/* Tilts of a positive power. */
static void tilt_rows(const rows *r, double *logz, double *d1, double *d2, double *dpar)
{
    int *jumps = sg_ints(r->n, r->lik->host->ws);
    const sg_row_nodes nodes = integrate(r, logz, jumps);
    derivatives(r, &nodes, logz, d1, d2);
    for (int i = 0; i < r->n; i++) logz[i] /= r->lik->power;
    if (dpar) mean_slopes(r, &nodes, dpar), jump_slopes(r, jumps, dpar);
}

/* ---- The limit of power EP, means of l = log p under N(mu, s2) itself (power.h) ---- */

/* Equidistant nodes on the standard scale. They reach so far that an exponential rate with a
 * deviation of 3 has its mean there. */
static double limit_node(int nodes, int k, double *weight)
{
    const double REACH = 12, t = REACH * (2.0 * k / (nodes - 1) - 1);
    *weight = dnorm4(t, 0, 1, 0) * 2 * REACH / (nodes - 1);
    return t;
}

/* Writes E l, E l t and E l (t^2 - 1) by every `stride`-th node. The value in the middle is taken
 * off before: a constant has no slope. */
static void limit_means(int nodes, int stride, const double *l, double *mean)
{
    const double level = isfinite(l[nodes / 2]) ? l[nodes / 2] : 0;
    double weight;
    sg_zero(3, mean);
    for (int k = 0; k < nodes; k += stride) {
        const double t = limit_node(nodes, k, &weight), x = stride * weight * (l[k] - level);
        mean[0] += x, mean[1] += x * t, mean[2] += x * (t * t - 1);
    }
    mean[0] += level;
}

/* Does the rule with every second node agree? Rows that are not finite will not get better. */
static int limit_agrees(int nodes, const double *l, const double *mean)
{
    const double AGREE = 3e-7;
    double half[3], off = 0, size = 1;
    limit_means(nodes, 2, l, half);
    for (int c = 0; c < 3; c++) off += fabs(half[c] - mean[c]), size += fabs(mean[c]);
    return !(off >= AGREE * size);
}

/* Adds dlogZ/dtheta of some rows: means under N(mu, s2) itself. */
static void limit_slopes(const rows *r, int nodes, int count, const int *which, double *dpar)
{
    const int npar = r->lik->npar, m = count * nodes;
    int *row = sg_ints(m, r->lik->host->ws);
    double *t = sg_doubles(r->lik->host->ws, m), *weight = sg_doubles(r->lik->host->ws, m);
    for (int k = 0; k < m; k++) {
        row[k] = which[k / nodes], t[k] = limit_node(nodes, k % nodes, weight + k);
    }
    const double *at = sg_hosted_ask(r->lik, 1, m, r->y, row, values_at(r, m, row, t));
    for (size_t k = 0; k < (size_t) npar * m; k++) {
        dpar[k % npar + (size_t) npar * row[k / npar]] += weight[k / npar] * at[k];
    }
}

/* Computes the limit of the rows which[count] by `nodes` nodes, unless these are too few: returns
 * how many rows are left, which come first then. A density of 0 within reach makes a row's numbers
 * infinite, which is refused later. */
static int limit_by(const rows *r, int nodes, int count, int *which, double *logz, double *d1,
                    double *d2, double *dpar)
{
    enum { MOST = 1025 };
    const sg_ws *ws = r->lik->host->ws;
    const int m = count * nodes;
    int left = 0, good = 0, *row = sg_ints(m, ws), *done = sg_ints(count, ws);
    double *t = sg_doubles(ws, m), weight, mean[3];
    for (int k = 0; k < m; k++) {
        row[k] = which[k / nodes], t[k] = limit_node(nodes, k % nodes, &weight);
    }
    const double *l = sg_hosted_ask(r->lik, 0, m, r->y, row, values_at(r, m, row, t));
    for (int k = 0; k < count; k++) {
        const int i = which[k];
        limit_means(nodes, 1, l + (size_t) nodes * k, mean);
        if (nodes < MOST && !limit_agrees(nodes, l + (size_t) nodes * k, mean)) {
            which[left++] = i;
            continue;
        }
        logz[i] = mean[0], d1[i] = mean[1] / r->sd[i], d2[i] = mean[2] / (r->sd[i] * r->sd[i]);
        done[good++] = i;
    }
    if (dpar && good > 0) limit_slopes(r, nodes, good, done, dpar);
    return left;
}

static void limit_rows(const rows *r, double *logz, double *d1, double *d2, double *dpar)
{
    const sg_ws *ws = r->lik->host->ws;
    int *open = sg_ints(r->n, ws), count = r->n;
    for (int i = 0; i < r->n; i++) open[i] = i;
    if (dpar) sg_zero((size_t) r->lik->npar * r->n, dpar);
    for (int nodes = 33; count > 0; nodes = 2 * nodes - 1) {
        void *mark = sg_mark(ws);
        count = limit_by(r, nodes, count, open, logz, d1, d2, dpar);
        sg_release(ws, mark);
    }
}

/* ---- All rows ---- */

/* Tilts at most SG_HOSTED_ROWS rows of one latent value. */
static void tilt_block(const sg_lik *lik, int n, const double *y, const double *mu, const double *S,
                       double *logz, double *d1, double *d2, double *dpar)
{
    rows r = {lik, n, y, sg_doubles(lik->host->ws, n), sg_doubles(lik->host->ws, n)};
    for (int i = 0; i < n; i++) {
        r.mean[i] = mu[i], r.sd[i] = sqrt(sg_hosted_variance(S[i], mu[i]));
    }
    (lik->power > 0 ? tilt_rows : limit_rows)(&r, logz, d1, d2, dpar);
}

void sg_hosted_tilts(const sg_lik *lik, int n, const double *y, const double *mu, const double *S,
                     double *logz, double *d1, double *d2, double *dpar)
{
    const size_t w = lik->w, npar = lik->npar;
    if (npar == 0) dpar = NULL;
    for (int i = 0; i < n; i += SG_HOSTED_ROWS) {
        void *mark = sg_mark(lik->host->ws);
        const int m = n - i < SG_HOSTED_ROWS ? n - i : SG_HOSTED_ROWS;
        (w == 1 ? tilt_block : sg_hosted_pairs)(lik, m, sg_lik_row(lik, y, i), mu + w * i,
                                                S + w * w * i, logz + i, d1 + w * i,
                                                d2 + w * w * i, dpar ? dpar + npar * i : NULL);
        sg_release(lik->host->ws, mark);
    }
}
