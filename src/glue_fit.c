/* glue_fit.c: EP of all rows: problem in, everything a fit keeps out. */
#include <Rmath.h>
#include "glue.h"
#include "chol.h"
#include "ep_batch.h"
#include "ep_full.h"
#include "evidence.h"

enum {
    OUT_STATUS, OUT_LOGZ, OUT_GRADIENT, OUT_TAU, OUT_NU, OUT_MEAN, OUT_VAR, OUT_CAV_MEAN,
    OUT_CAV_VAR, OUT_LPD, OUT_ALPHA, OUT_G, OUT_H, OUT_ORDER, OUT_JITTER, OUT_SWEEPS,
    OUT_CONVERGED, OUT_CHANGE, OUT_DAMPED, OUT_SEQUENTIAL, OUT_SKIPPED, OUT_FLAT, OUT_TRACE
};

static const char *const FIT_FIELDS[] = {
    "status", "logz", "gradient", "tau", "nu", "mean", "var", "cav_mean",
    "cav_var", "lpd", "alpha", "G", "H", "order", "jitter", "sweeps", "converged", "change",
    "damped", "sequential", "skipped", "flat", "trace", ""
};

static sg_ep_options options_of(SEXP options)
{
    const sg_ep_options opt = {sg_field_int(options, "sweeps"), sg_field_int(options, "batch"),
                               sg_field_double(options, "damping"),
                               sg_field_double(options, "tol")};
    return opt;
}

/* Kernels (one, or one for each class), likelihood and rows, as both entries take them. */
typedef struct {
    int kernels, nk; /* how many; hyperparameters of all of them */
    const sg_kernel *const *kernel;
    sg_lik lik;
    sg_rows rows;
} problem;

static void read_problem(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y,
                         SEXP offset, problem *p)
{
    p->kernel = sg_kernels_of(kernel, ktheta, &p->kernels);
    p->nk = Rf_length(ktheta);
    p->lik = sg_lik_of(lik, ltheta);
    p->rows = sg_rows_from(&p->lik, x, y, offset);
}

/* The marginals' arrays that the fit keeps are R vectors; the rest is working memory. */
static sg_marginals marginals_in(SEXP out, const sg_rows *rows)
{
    const int C = rows->lik->C;
    sg_marginals marg = sg_marginals_new(rows->n, C, &sg_r_workspace);
    marg.mean = sg_new_latents(out, OUT_MEAN, rows->n, C);
    marg.var = sg_new_latents(out, OUT_VAR, rows->n, C);
    marg.cav_mean = sg_new_latents(out, OUT_CAV_MEAN, rows->n, C);
    marg.cav_var = sg_new_latents(out, OUT_CAV_VAR, rows->n, C);
    marg.logz = sg_new_vector(out, OUT_LPD, rows->n);
    return marg;
}

/* Warm or cold start: copied, because an argument is never written to. */
static sg_sites sites_in(SEXP out, SEXP start, const sg_rows *rows)
{
    const int n = sg_latents(rows), C = rows->lik->C;
    sg_sites sites = {n, sg_new_latents(out, OUT_TAU, rows->n, C),
                      sg_new_latents(out, OUT_NU, rows->n, C), 0};
    Memcpy(sites.tau, sg_doubles_of(sg_field(start, "tau"), n, "tau"), n);
    Memcpy(sites.nu, sg_doubles_of(sg_field(start, "nu"), n, "nu"), n);
    return sites;
}

static double *gradient_in(SEXP out, const problem *p)
{
    const int size = p->nk + sg_lik_npar(&p->lik);
    double *gradient = sg_new_vector(out, OUT_GRADIENT, size);
    Memzero(gradient, size);
    return gradient;
}

static sg_ep_report new_report(void)
{
    sg_ep_report report = {0};
    report.trace = sg_doubles(&sg_r_workspace, 2 * SG_TRACE);
    return report;
}

/* Of the factor's rows in their order: G = |T|^1/2 A^{-1}, in place, and the columns of sites of
 * negative precision moved to H, which may be NULL where there are none: var(x) = K(x,x) - |G'k|^2
 * + |H'k|^2 (posterior.h). */
static void store_factor(int n, const sg_full_factor *factor, double *H)
{
    const size_t plain = (size_t) n * *factor->plain, rest = (size_t) n * n - plain;
    sg_clear_below(n, factor->A);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i <= j; i++) factor->A[i + (size_t) n * j] *= factor->rt[i];
    }
    if (!H) return;
    Memzero(H, plain);
    Memcpy(H + plain, factor->A + plain, rest);
    Memzero(factor->A + plain, rest);
}

/* G is in place; H only where a class has sites of negative precision. */
static void store_full(SEXP out, int n, int C, const sg_full_factor *factor)
{
    int widening = 0;
    for (int c = 0; c < C; c++) widening = widening || factor->plain[c] < n;
    double *H = widening ? sg_new_matrix(out, OUT_H, n, n * C) : NULL;
    for (int c = 0; c < C; c++) {
        const sg_full_factor own = sg_full_factor_of_class(factor, n, c);
        store_factor(n, &own, H ? H + (size_t) n * n * c : NULL);
    }
    SET_VECTOR_ELT(out, OUT_ORDER, sg_row_numbers(n * C, factor->order));
}

static void report_in(SEXP out, sg_status status, const sg_ep_report *report)
{
    SET_VECTOR_ELT(out, OUT_STATUS, Rf_ScalarInteger(status));
    SET_VECTOR_ELT(out, OUT_LOGZ, Rf_ScalarReal(report->logz));
    SET_VECTOR_ELT(out, OUT_SWEEPS, Rf_ScalarInteger(report->sweeps));
    SET_VECTOR_ELT(out, OUT_CONVERGED, Rf_ScalarLogical(report->converged));
    SET_VECTOR_ELT(out, OUT_CHANGE, Rf_ScalarReal(report->change));
    SET_VECTOR_ELT(out, OUT_DAMPED, Rf_ScalarInteger(report->damped));
    SET_VECTOR_ELT(out, OUT_SEQUENTIAL, Rf_ScalarInteger(report->sequential));
    SET_VECTOR_ELT(out, OUT_SKIPPED, Rf_ScalarInteger(report->skipped));
    SET_VECTOR_ELT(out, OUT_FLAT, Rf_ScalarInteger(report->flat));
    const int traced = report->sweeps < SG_TRACE ? report->sweeps : SG_TRACE;
    double *trace = sg_new_matrix(out, OUT_TRACE, 2, traced);
    Memcpy(trace, report->trace, 2 * (size_t) traced);
}

/* ktheta: of one kernel, or of one for each class. options: sweeps, batch, damping, tol, gradient,
 * posterior. With several classes what is said of latent values are n x C matrices, and G and H are
 * n x (n C). H, which is NULL without sites of negative precision, and order, of all classes one
 * after the other: the rows, from 1, that the factors' rows belong to. Memory: K of every kernel, a
 * factor for every class, and Kbar when the gradient is wanted (two with several classes, or with
 * sites of negative precision): n^2 doubles each, and blocks of 128 columns. */
SEXP sg_r_ep_full(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                  SEXP sites, SEXP options)
{
    const sg_ws *ws = &sg_r_workspace;
    problem p;
    read_problem(kernel, ktheta, x, lik, ltheta, y, offset, &p);
    const int n = p.rows.n, C = p.lik.C, keep = sg_field_int(options, "posterior");
    const size_t n2 = (size_t) n * n;
    const sg_ep_options opt = options_of(options);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **) FIT_FIELDS));
    sg_sites start = sites_in(out, sites, &p.rows);
    sg_marginals marg = marginals_in(out, &p.rows);
    marg.alpha = sg_new_latents(out, OUT_ALPHA, n, C);
    sg_full_factor factor = sg_full_factor_new(
        n, C, keep ? sg_new_matrix(out, OUT_G, n, n * C) : sg_doubles(ws, n2 * C), ws);
    sg_ep_report report = new_report();
    double *K = sg_doubles(ws, n2 * p.kernels);
    for (int k = 0; k < p.kernels; k++) {
        sg_kernel_cross(p.kernel[k], n, REAL(x), n, REAL(x), K + n2 * k, ws);
    }
    const sg_status status = sg_ep_full_run(&p.rows, K, p.kernels, &opt, &start, &marg, &factor,
                                            &report, ws);
    if (status == SG_OK && sg_field_int(options, "gradient")) {
        double *gradient = gradient_in(out, &p);
        sg_evidence_gradient_full(&p.rows, p.kernels, p.kernel, REAL(x), K, &marg, &factor,
                                  sg_doubles(ws, n2), gradient, gradient + p.nk, ws);
    }
    if (keep && status == SG_OK) store_full(out, n, C, &factor);
    SET_VECTOR_ELT(out, OUT_JITTER, Rf_ScalarReal(0));
    report_in(out, status, &report);
    UNPROTECT(1);
    return out;
}

/* Stored form of one class: alpha = R^{-1} m and H = R^{-1} A^{-1} (posterior.h). */
static void store_class(const sg_basis_rows *b, const sg_batch_factor *factor, double *alpha,
                        double *H)
{
    const int d = b->d;
    Memcpy(alpha, factor->m, d);
    sg_trmv('N', d, b->Rinv, alpha);
    Memcpy(H, factor->A, (size_t) d * d);
    sg_clear_below(d, H);
    sg_trmm('L', 'N', d, d, b->Rinv, H);
}

/* One basis for all classes: alpha, G = R^{-1} and H as sg_r_predict() takes them. */
static void store_shared(SEXP out, const sg_bases *bases, const sg_batch_factor *factor)
{
    const int d = bases->each->d, C = bases->C;
    const size_t dd = (size_t) d * d;
    double *alpha = sg_new_latents(out, OUT_ALPHA, d, C), *G = sg_new_matrix(out, OUT_G, d, d);
    double *H = sg_new_matrix(out, OUT_H, d, d * C);
    Memcpy(G, bases->each->Rinv, dd);
    sg_clear_below(d, G);
    for (int c = 0; c < C; c++) {
        store_class(bases->each, factor + c, alpha + (size_t) d * c, H + dd * c);
    }
}

/* A basis for each: their numbers end to end. */
static void store_own(SEXP out, const sg_bases *bases, const sg_batch_factor *factor)
{
    int points = 0, squares = 0;
    for (int g = 0; g < bases->count; g++) {
        points += bases->each[g].d;
        squares += bases->each[g].d * bases->each[g].d;
    }
    double *alpha = sg_new_vector(out, OUT_ALPHA, points);
    double *G = sg_new_vector(out, OUT_G, squares), *H = sg_new_vector(out, OUT_H, squares);
    for (int g = 0; g < bases->count; g++) {
        const int d = bases->each[g].d;
        Memcpy(G, bases->each[g].Rinv, (size_t) d * d);
        sg_clear_below(d, G);
        store_class(bases->each + g, factor + g, alpha, H);
        alpha += d, G += (size_t) d * d, H += (size_t) d * d;
    }
}

/* basis: a matrix, or a list of one for each class. */
static SEXP basis_of(SEXP basis, int g)
{
    return TYPEOF(basis) == VECSXP ? VECTOR_ELT(basis, g) : basis;
}

/* One basis for all, or with kernels or points of their own one for each class. gamma[n x C]. */
static sg_status bases_of(const problem *p, SEXP x, SEXP basis, double pool, double *gamma,
                          sg_bases *bases)
{
    const int n = p->rows.n, own = p->kernels > 1 || TYPEOF(basis) == VECSXP;
    bases->C = p->lik.C, bases->count = own ? p->lik.C : 1, bases->kernels = p->kernels;
    bases->each = (sg_basis_rows *) R_alloc(bases->count, sizeof(sg_basis_rows));
    sg_status status = SG_OK;
    for (int g = 0; g < bases->count && status == SG_OK; g++) {
        SEXP points = basis_of(basis, g);
        status = sg_basis_rows_new(p->kernel[p->kernels == 1 ? 0 : g], n, sg_cols_of(x), REAL(x),
                                   sg_rows_of(points), REAL(points), pool / bases->count,
                                   gamma + (size_t) n * g, bases->each + g, &sg_r_workspace);
    }
    for (int c = bases->count; c < p->lik.C; c++) Memcpy(gamma + (size_t) n * c, gamma, n);
    return status;
}

static sg_batch_factor *new_factors(int C, SEXP basis)
{
    sg_batch_factor *factor = (sg_batch_factor *) R_alloc(C, sizeof(sg_batch_factor));
    for (int c = 0; c < C; c++) {
        const int d = sg_rows_of(basis_of(basis, c));
        factor[c].A = sg_doubles(&sg_r_workspace, (size_t) d * d);
        factor[c].m = sg_doubles(&sg_r_workspace, d);
    }
    return factor;
}

/* As sg_r_ep_full, on a basis; options also: pool. Memory: V, n d doubles for each kernel if pool
 * allows; blocks of 1024 rows of the basis and of x; some d^2 for each class. */
SEXP sg_r_ep_batch(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                   SEXP sites, SEXP options, SEXP basis)
{
    const sg_ws *ws = &sg_r_workspace;
    problem p;
    read_problem(kernel, ktheta, x, lik, ltheta, y, offset, &p);
    const sg_ep_options opt = options_of(options);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **) FIT_FIELDS));
    sg_sites start = sites_in(out, sites, &p.rows);
    sg_marginals marg = marginals_in(out, &p.rows);
    sg_batch_factor *factor = new_factors(p.lik.C, basis);
    sg_ep_report report = new_report();
    double *gamma = sg_doubles(ws, marg.n);
    sg_bases bases;
    sg_status status = bases_of(&p, x, basis, sg_field_double(options, "pool"), gamma, &bases);
    p.rows.gamma = gamma;
    if (status == SG_OK) {
        status = sg_ep_batch_run(&p.rows, &bases, &opt, &start, &marg, factor, &report, ws);
    }
    if (status == SG_OK && sg_field_int(options, "gradient")) {
        double *gradient = gradient_in(out, &p);
        sg_evidence_gradient_basis(&p.rows, &bases, &start, &marg, factor, gradient,
                                   gradient + p.nk, ws);
    }
    if (status == SG_OK && sg_field_int(options, "posterior")) {
        (bases.count == 1 ? store_shared : store_own)(out, &bases, factor);
    }
    for (int k = 0; status == SG_OK && k < marg.n; k++) { /* of u, not of what a basis carries */
        marg.var[k] += gamma[k];
        marg.cav_var[k] += gamma[k];
    }
    double jitter = 0;
    for (int g = 0; g < bases.count; g++) jitter = fmax2(jitter, bases.each[g].jitter);
    SET_VECTOR_ELT(out, OUT_JITTER, Rf_ScalarReal(jitter));
    report_in(out, status, &report);
    UNPROTECT(1);
    return out;
}
