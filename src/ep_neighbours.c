/* ep_neighbours.c: a sparse factor and its selected inverse as the posterior that the loop of EP
 * asks for. */
#include <math.h>
#include "chol.h"
#include "ep_neighbours.h"

typedef struct {
    sg_neighbour_process *process;
    double *work;     /* n */
    const sg_ws *ws;
} neighbour_model;

void sg_neighbour_process_new(sg_neighbour_process *process, size_t numbers, const sg_ws *ws)
{
    const size_t n = process->n, q = process->q;
    sg_supernodes_look(&process->L, ws);
    process->tau = sg_doubles(ws, n);
    process->nu = sg_doubles(ws, n);
    process->Z = sg_doubles(ws, numbers);
    process->mu = sg_doubles(ws, n);
    process->s = sg_doubles(ws, n * q);
    process->U = sg_doubles(ws, n * q);
    process->root = sg_doubles(ws, q * q);
    process->coef = sg_doubles(ws, q);
}

/* X[n x q] = X R, R upper. */
static void times_upper(int n, int q, const double *R, double *X)
{
    for (int j = q - 1; j >= 0; j--) {
        double *column = X + (size_t) n * j;
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int k = 0; k <= j; k++) sum += X[i + (size_t) n * k] * R[k + q * j];
            column[i] = sum;
        }
    }
}

/* Computes s and U = phi - s, phi'b into coef, and P = I + phi'W phi, upper triangle, into root. */
static void normal_equations(neighbour_model *model)
{
    sg_neighbour_process *own = model->process;
    const int n = own->n, q = own->q;
    for (int j = 0; j < q; j++) {
        const double *phi = own->phi + (size_t) n * j;
        double *s = own->s + (size_t) n * j, *U = own->U + (size_t) n * j;
        for (int i = 0; i < n; i++) model->work[i] = own->tau[i] * phi[i];
        sg_supernodes_solve(&own->L, model->work, s, model->ws);
        own->coef[j] = 0;
        for (int i = 0; i < n; i++) {
            U[i] = phi[i] - s[i];
            own->coef[j] += phi[i] * (own->nu[i] - own->tau[i] * own->mu[i]);
        }
        for (int k = 0; k < q; k++) {
            double sum = k == j;
            for (int i = 0; k <= j && i < n; i++) {
                sum += own->phi[i + (size_t) n * k] * own->tau[i] * U[i];
            }
            own->root[k + q * j] = sum;
        }
    }
}

/* Computes U L^{-1}, s L^{-1}, coefficients and the mean of the process; adds log|L|. mu has
 * (Q + T)^{-1} nu. */
static sg_status solve_mean(neighbour_model *model, double *log_det)
{
    sg_neighbour_process *own = model->process;
    const int n = own->n, q = own->q;
    normal_equations(model);
    sg_status status = sg_potrf(q, own->root, q);
    if (status != SG_OK) return status;
    *log_det += sg_log_diag(q, own->root);
    status = sg_trtri(q, own->root);
    if (status != SG_OK) return status;
    sg_trmv('T', q, own->root, own->coef);
    sg_trmv('N', q, own->root, own->coef);
    for (int j = 0; j < q; j++) {
        for (int i = 0; i < n; i++) own->mu[i] -= own->s[i + (size_t) n * j] * own->coef[j];
    }
    times_upper(n, q, own->root, own->s);
    times_upper(n, q, own->root, own->U);
    return SG_OK;
}

/* Factors at the sites, solves for the means and inverts. */
static sg_status begin(void *self, const sg_sites *sites, const double *sums, double *log_det)
{
    neighbour_model *model = self;
    sg_neighbour_process *own = model->process;
    (void) sums;
    sg_zero(own->n, own->tau);
    sg_zero(own->n, own->nu);
    for (int i = 0; i < sites->layout.n; i++) {
        own->tau[own->node[i]] += sites->tau[i];
        own->nu[own->node[i]] += sites->nu[i];
    }
    own->L.x = own->host.factor(own->host.self, own->tau);
    if (!own->L.x) return SG_NOT_PD;
    *log_det = sg_supernodes_log_det(&own->L) + own->log_d / 2;
    if (!isfinite(*log_det)) return SG_NOT_PD;
    sg_supernodes_solve(&own->L, own->nu, own->mu, model->ws);
    const sg_status status = own->q > 0 ? solve_mean(model, log_det) : SG_OK;
    return status == SG_OK ? sg_supernodes_inverse(&own->L, own->Z, model->ws) : status;
}

/* Gives each row the moments of its node. */
static void marginals(void *self, const sg_sites *sites, sg_span span, sg_marginals *marg)
{
    const neighbour_model *model = self;
    const sg_neighbour_process *own = model->process;
    const size_t n = own->n;
    for (int i = span.from; i < span.from + span.m; i++) {
        const int k = own->node[i];
        double mean = own->mu[k], var = sg_supernodes_element(&own->L, own->Z, k, k);
        for (int j = 0; j < own->q; j++) {
            const double u = own->U[k + n * j];
            mean += own->phi[k + n * j] * own->coef[j];
            var += u * u;
        }
        marg->mean[i] = mean;
        marg->var[i] = var;
    }
    sg_shares(sites, marg, span);
}

/* Prior variances of the rows, those of the linear mean added, for rows->prior. */
static double *prior_of(const sg_neighbour_process *own, int rows, const sg_ws *ws)
{
    double *prior = sg_doubles(ws, rows);
    for (int i = 0; i < rows; i++) {
        prior[i] = own->diag[own->node[i]];
        for (int j = 0; j < own->q; j++) {
            const double phi = own->phi[own->node[i] + (size_t) own->n * j];
            prior[i] += phi * phi;
        }
    }
    return prior;
}

sg_status sg_ep_neighbours_run(const sg_rows *rows, sg_neighbour_process *process,
                               const sg_ep_options *options, sg_sites *sites, sg_marginals *marg,
                               double *J, sg_ep_report *report, const sg_ws *ws)
{
    neighbour_model own = {process, sg_doubles(ws, process->n), ws};
    const sg_ep_model model = {.self = &own, .window = rows->n, .parts = 1, .begin = begin,
                               .marginals = marginals};
    sg_rows known = *rows;
    known.prior = prior_of(process, rows->n, ws);
    known.shared = 1;
    const sg_status status = sg_ep_loop(&known, &model, options, sites, NULL, marg, report, ws);
    for (int j = 0; J && status == SG_OK && j < process->q; j++) {
        for (int i = 0; i < rows->n; i++) {
            J[i + (size_t) rows->n * j] = sites->tau[i] *
                process->U[process->node[i] + (size_t) process->n * j];
        }
    }
    return status;
}

void sg_neighbour_moments(const sg_neighbour_process *own, int k, const int *near, double *M)
{
    const size_t n = own->n, all = (size_t) k + 1;
    for (size_t i = 0; i < n; i++) {
        double *block = M + all * all * i;
        for (size_t b = 0; b < all; b++) {
            const int to = b < all - 1 ? near[b + k * i] : (int) i;
            for (size_t a = 0; a <= b; a++) {
                const int from = a < all - 1 ? near[a + k * i] : (int) i;
                double sum = 0;
                if (from >= 0 && to >= 0) {
                    sum = sg_supernodes_element(&own->L, own->Z, from, to) +
                        own->mu[from] * own->mu[to];
                    for (int j = 0; j < own->q; j++) {
                        sum += own->s[from + n * j] * own->s[to + n * j];
                    }
                }
                block[a + all * b] = block[b + all * a] = sum;
            }
        }
    }
}
