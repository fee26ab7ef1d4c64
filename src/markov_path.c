/* markov_path.c: times in order, and the coefficients of a linear mean from the filter. */
#include <math.h>
#include "la.h"
#include "markov_path.h"

sg_markov_path sg_markov_path_new(int rows, const double *t, const int *order, const sg_ws *ws)
{
    sg_markov_path path = {rows, 0, sg_doubles(ws, rows), sg_ints(rows, ws), sg_ints(rows, ws)};
    for (int k = 0; k < rows; k++) {
        const int i = order[k];
        if (path.n == 0 || t[i] > path.t[path.n - 1]) {
            path.t[path.n] = t[i];
            path.size[path.n++] = 0;
        }
        path.node[i] = path.n - 1;
        path.size[path.n - 1]++;
    }
    return path;
}

sg_markov_trend sg_markov_trend_new(const sg_markov_path *path, int q, const double *phi,
                                    const sg_ws *ws)
{
    sg_markov_trend trend = {q, sg_doubles(ws, (size_t) q * path->n), sg_zeros((size_t) q * q, ws),
                             sg_zeros((size_t) q * q, ws), sg_zeros(q, ws)};
    for (int j = 0; j < q; j++) {
        for (int i = 0; i < path->rows; i++) {
            trend.phi[j + (size_t) q * path->node[i]] = phi[i + (size_t) path->rows * j];
        }
    }
    return trend;
}

void sg_markov_gather(const sg_markov_path *path, const sg_markov_trend *trend, const double *tau,
                      const double *nu, double *tau_of, double *nu_of)
{
    const size_t count = 1 + trend->q;
    sg_zero(path->n, tau_of);
    sg_zero(count * path->n, nu_of);
    for (int i = 0; i < path->rows; i++) {
        tau_of[path->node[i]] += tau[i];
        nu_of[count * path->node[i]] += nu[i];
    }
    for (int k = 0; k < path->n; k++) {
        for (int j = 0; j < trend->q; j++) {
            nu_of[1 + j + count * k] = tau_of[k] * trend->phi[j + (size_t) trend->q * k];
        }
    }
}

/* The product I + phi'W phi = I + sum (tau / c) w w', w = phi - mu, upper triangle into L, and
 * phi'b = sum w e, e of nu. */
static void normal_equations(const sg_markov_path *path, const sg_markov_trace *trace,
                             const double *tau_of, sg_markov_trend *trend)
{
    const int q = trend->q;
    for (int j = 0; j < q; j++) {
        trend->coef[j] = 0;
        for (int i = 0; i < q; i++) trend->L[i + q * j] = i == j;
    }
    for (int k = 0; k < path->n; k++) {
        const double *phi = trend->phi + (size_t) q * k;
        const size_t at = (size_t) (1 + q) * k;
        const double *mu = trace->mu + at + 1, by = tau_of[k] / trace->c[k];
        for (int j = 0; j < q; j++) {
            const double w = phi[j] - mu[j];
            trend->coef[j] += w * trace->e[at];
            for (int i = 0; i <= j; i++) trend->L[i + q * j] += by * w * (phi[i] - mu[i]);
        }
    }
}

sg_status sg_markov_trend_solve(const sg_markov_path *path, const sg_markov_trace *trace,
                                const double *tau_of, sg_markov_trend *trend, double *log_det)
{
    const int q = trend->q;
    if (q == 0) return SG_OK;
    normal_equations(path, trace, tau_of, trend);
    sg_status status = sg_potrf(q, trend->L, q);
    if (status != SG_OK) return status;
    for (int j = 0; j < q; j++) {
        for (int i = 0; i < q; i++) {
            if (i > j) trend->L[i + q * j] = 0;
            trend->root[i + q * j] = trend->L[i + q * j];
        }
        *log_det += log(trend->L[j + q * j]);
    }
    status = sg_trtri(q, trend->root);
    if (status != SG_OK) return status;
    sg_trmv('T', q, trend->root, trend->coef);
    sg_trmv('N', q, trend->root, trend->coef);
    return SG_OK;
}

void sg_markov_trend_add(const sg_markov_path *path, const sg_markov_trend *trend,
                         const double *tau_of, double *mean, double *alpha, double *var,
                         double *share)
{
    const int q = trend->q;
    for (int k = 0; q > 0 && k < path->n; k++) {
        const double *phi = trend->phi + (size_t) q * k;
        double *own = mean + (size_t) (1 + q) * k, *a = alpha ? alpha + (size_t) (1 + q) * k : NULL;
        double wide = 0;
        for (int j = 0; j < q; j++) {
            own[1 + j] = phi[j] - own[1 + j];
            own[0] += trend->coef[j] * own[1 + j];
            if (a) a[0] -= trend->coef[j] * a[1 + j];
        }
        sg_trmv('T', q, trend->root, own + 1);
        if (a) sg_trmv('T', q, trend->root, a + 1);
        for (int j = 0; j < q; j++) wide += own[1 + j] * own[1 + j];
        var[k] += wide;
        if (share) share[k] -= tau_of[k] * wide;
    }
}
