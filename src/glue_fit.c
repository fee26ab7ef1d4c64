/* glue_fit.c: one entry per method: problem in, everything a fit keeps out. */
#include "glue.h"
#include "chol.h"
#include "ep_batch.h"
#include "ep_full.h"
#include "evidence.h"

enum {
    OUT_STATUS, OUT_LOGZ, OUT_GRADIENT, OUT_TAU, OUT_NU, OUT_MEAN, OUT_VAR, OUT_CAV_MEAN,
    OUT_CAV_VAR, OUT_LPD, OUT_ALPHA, OUT_G, OUT_H, OUT_JITTER, OUT_SWEEPS, OUT_CONVERGED,
    OUT_CHANGE, OUT_DAMPED, OUT_SEQUENTIAL, OUT_SKIPPED, OUT_TRACE
};

static const char *const FIT_FIELDS[] = {
    "status", "logz", "gradient", "tau", "nu", "mean", "var", "cav_mean",
    "cav_var", "lpd", "alpha", "G", "H", "jitter", "sweeps", "converged", "change", "damped",
    "sequential", "skipped", "trace", ""
};

static sg_ep_options options_of(SEXP options)
{
    const sg_ep_options opt = {sg_field_int(options, "sweeps"), sg_field_int(options, "batch"),
                               sg_field_double(options, "damping"),
                               sg_field_double(options, "tol")};
    return opt;
}

/* The marginals' arrays that the fit keeps are R vectors; the rest is working memory. */
static sg_marginals marginals_in(SEXP out, int n)
{
    sg_marginals marg = sg_marginals_new(n, &sg_r_workspace);
    marg.mean = sg_new_vector(out, OUT_MEAN, n);
    marg.var = sg_new_vector(out, OUT_VAR, n);
    marg.cav_mean = sg_new_vector(out, OUT_CAV_MEAN, n);
    marg.cav_var = sg_new_vector(out, OUT_CAV_VAR, n);
    marg.logz = sg_new_vector(out, OUT_LPD, n);
    return marg;
}

/* Warm or cold start: copied, because an argument is never written to. */
static sg_sites sites_in(SEXP out, SEXP start, int n)
{
    sg_sites sites = {n, sg_new_vector(out, OUT_TAU, n), sg_new_vector(out, OUT_NU, n)};
    Memcpy(sites.tau, sg_doubles_of(sg_field(start, "tau"), n, "tau"), n);
    Memcpy(sites.nu, sg_doubles_of(sg_field(start, "nu"), n, "nu"), n);
    return sites;
}

/* G = T^1/2 A^{-1}, in place: var(x) = K(x,x) - |G'k|^2 (posterior.h) */
static void finish_factor(int n, sg_full_factor *factor)
{
    sg_clear_below(n, factor->A);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i <= j; i++) factor->A[i + (size_t) n * j] *= factor->rt[i];
    }
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
    const int traced = report->sweeps < SG_TRACE ? report->sweeps : SG_TRACE;
    double *trace = sg_new_matrix(out, OUT_TRACE, 2, traced);
    Memcpy(trace, report->trace, 2 * (size_t) traced);
}

/* options: sweeps, batch, damping, tol, gradient, posterior. Memory: K, the factor, and Kbar when
 * the gradient is wanted: 3 n^2 doubles, and blocks of 128 columns. */
SEXP sg_r_ep_full(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                  SEXP sites, SEXP options)
{
    const sg_ws *ws = &sg_r_workspace;
    const sg_kernel *kern = sg_kernel_of(kernel, ktheta);
    const sg_lik likelihood = sg_lik_of(lik, ltheta);
    const sg_rows rows = sg_rows_from(&likelihood, x, y, offset);
    const int n = rows.n, nk = Rf_length(ktheta), keep = sg_field_int(options, "posterior");
    const size_t n2 = (size_t) n * n;
    const sg_ep_options opt = options_of(options);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **) FIT_FIELDS));
    sg_sites start = sites_in(out, sites, n);
    sg_marginals marg = marginals_in(out, n);
    marg.alpha = sg_new_vector(out, OUT_ALPHA, n);
    sg_full_factor factor = {keep ? sg_new_matrix(out, OUT_G, n, n) : ws->doubles(n2),
                             ws->doubles(n)};
    sg_ep_report report = {0};
    report.trace = ws->doubles(2 * SG_TRACE);
    double *K = ws->doubles(n2);
    sg_kernel_cross(kern, n, REAL(x), n, REAL(x), K, ws);
    const sg_status status = sg_ep_full_run(&rows, K, &opt, &start, &marg, &factor, &report, ws);
    if (status == SG_OK && sg_field_int(options, "gradient")) {
        double *gradient = sg_new_vector(out, OUT_GRADIENT, nk + likelihood.type->npar);
        Memzero(gradient, nk + likelihood.type->npar);
        sg_evidence_gradient_full(&rows, kern, REAL(x), K, &marg, &factor, ws->doubles(n2),
                                  gradient, gradient + nk, ws);
    }
    if (keep) finish_factor(n, &factor);
    SET_VECTOR_ELT(out, OUT_JITTER, Rf_ScalarReal(0));
    report_in(out, status, &report);
    UNPROTECT(1);
    return out;
}

/* Stored form on a basis: G = R^{-1}, H = R^{-1} A^{-1}, alpha = R^{-1} m (posterior.h). */
static void store_batch(SEXP out, const sg_basis_rows *b, const sg_batch_factor *factor)
{
    const int d = b->d;
    double *alpha = sg_new_vector(out, OUT_ALPHA, d);
    double *G = sg_new_matrix(out, OUT_G, d, d), *H = sg_new_matrix(out, OUT_H, d, d);
    Memcpy(alpha, factor->m, d);
    sg_trmv('N', d, b->Rinv, alpha);
    Memcpy(G, b->Rinv, (size_t) d * d);
    sg_clear_below(d, G);
    Memcpy(H, factor->A, (size_t) d * d);
    sg_clear_below(d, H);
    sg_trmm('L', 'N', d, d, b->Rinv, H);
}

/* As sg_r_ep_full, on a basis. Memory: K_nB, V and one more n x d; with the gradient three more. */
SEXP sg_r_ep_batch(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                   SEXP sites, SEXP options, SEXP basis)
{
    const sg_ws *ws = &sg_r_workspace;
    const sg_kernel *kern = sg_kernel_of(kernel, ktheta);
    const sg_lik likelihood = sg_lik_of(lik, ltheta);
    sg_rows rows = sg_rows_from(&likelihood, x, y, offset);
    const int n = rows.n, d = sg_rows_of(basis), nk = Rf_length(ktheta);
    const sg_ep_options opt = options_of(options);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **) FIT_FIELDS));
    sg_sites start = sites_in(out, sites, n);
    sg_marginals marg = marginals_in(out, n);
    sg_batch_factor factor = {ws->doubles((size_t) d * d), ws->doubles(d)};
    sg_ep_report report = {0};
    report.trace = ws->doubles(2 * SG_TRACE);
    sg_basis_rows b;
    sg_status status = sg_basis_rows_new(kern, n, REAL(x), d, REAL(basis), &b, ws);
    rows.gamma = b.gamma;
    if (status == SG_OK) {
        status = sg_ep_batch_run(&rows, &b, &opt, &start, &marg, &factor, &report, ws);
    }
    if (status == SG_OK && sg_field_int(options, "gradient")) {
        double *gradient = sg_new_vector(out, OUT_GRADIENT, nk + likelihood.type->npar);
        Memzero(gradient, nk + likelihood.type->npar);
        sg_evidence_gradient_basis(&rows, kern, REAL(x), REAL(basis), &b, &start, &marg, &factor,
                                   gradient, gradient + nk, ws);
    }
    if (status == SG_OK && sg_field_int(options, "posterior")) store_batch(out, &b, &factor);
    for (int i = 0; status == SG_OK && i < n; i++) { /* of u, not of what the basis carries */
        marg.var[i] += b.gamma[i];
        marg.cav_var[i] += b.gamma[i];
    }
    SET_VECTOR_ELT(out, OUT_JITTER, Rf_ScalarReal(b.jitter));
    report_in(out, status, &report);
    UNPROTECT(1);
    return out;
}
