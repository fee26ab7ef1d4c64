/* glue_fit.c: one entry per method: problem in, everything a fit keeps out. */
#include "glue.h"
#include "ep_full.h"
#include "evidence.h"

enum {
    OUT_STATUS, OUT_LOGZ, OUT_GRADIENT, OUT_TAU, OUT_NU, OUT_MEAN, OUT_VAR, OUT_CAV_MEAN,
    OUT_CAV_VAR, OUT_LPD, OUT_ALPHA, OUT_G, OUT_SWEEPS, OUT_CONVERGED, OUT_CHANGE, OUT_DAMPED,
    OUT_SEQUENTIAL, OUT_SKIPPED, OUT_TRACE
};

static const char *const FIT_FIELDS[] = {
    "status", "logz", "gradient", "tau", "nu", "mean", "var", "cav_mean",
    "cav_var", "lpd", "alpha", "G", "sweeps", "converged", "change", "damped",
    "sequential", "skipped", "trace", ""
};

static sg_rows rows_of(const sg_lik *lik, SEXP y, SEXP offset)
{
    const int n = Rf_length(offset);
    sg_rows rows = {n, lik, sg_doubles_of(y, (size_t) lik->type->q * n, "y"), REAL(offset)};
    return rows;
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
    marg.alpha = sg_new_vector(out, OUT_ALPHA, n);
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

/* G = T^1/2 A^{-1}, in place, zeros below: var(x) = K(x,x) - |G'k|^2 (posterior.h) */
static void finish_factor(int n, sg_full_factor *factor)
{
    for (int j = 0; j < n; j++) {
        double *col = factor->A + (size_t) n * j;
        for (int i = 0; i <= j; i++) col[i] *= factor->rt[i];
        for (int i = j + 1; i < n; i++) col[i] = 0;
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
    const sg_rows rows = rows_of(&likelihood, y, offset);
    const int n = rows.n, nk = Rf_length(ktheta), keep = sg_field_int(options, "posterior");
    const size_t n2 = (size_t) n * n;
    if (sg_rows_of(x) != n) Rf_error("internal error: x has not one row per offset");
    const sg_ep_options opt = {sg_field_int(options, "sweeps"), sg_field_int(options, "batch"),
                               sg_field_double(options, "damping"),
                               sg_field_double(options, "tol")};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **) FIT_FIELDS));
    sg_sites start = sites_in(out, sites, n);
    sg_marginals marg = marginals_in(out, n);
    sg_full_factor factor = {keep ? sg_new_matrix(out, OUT_G, n, n) : ws->doubles(n2),
                             ws->doubles(n), 0};
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
    report_in(out, status, &report);
    UNPROTECT(1);
    return out;
}
