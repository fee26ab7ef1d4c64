/* glue_fit.c: what the entries for EP of all rows share, and full EP. */
#include <limits.h>
#include <Rmath.h>
#include "ep_full.h"
#include "evidence.h"
#include "full_trend.h"
#include "glue_fit.h"

static const char *const RUN_FIELDS[] = {
    "status", "logz", "gradient", "tau", "nu", "mean", "var", "cav_mean",
    "cav_var", "lpd", "alpha", "G", "H", "order", "state", "jitter", "sweeps",
    "converged", "change", "damped", "sequential", "skipped", "flat", "trace",
    "gamma", "prior", "weights", "side", "trend",
    "points", ""
};

SEXP sg_new_run(void)
{
    return Rf_mkNamed(VECSXP, (const char **) RUN_FIELDS);
}

sg_marginals sg_marginals_in(SEXP out, sg_layout layout)
{
    const size_t values = (size_t) layout.n * layout.w, blocks = values * layout.w;
    const int C = layout.C;
    sg_marginals marg = {
        .layout = layout,
        .mean = sg_new_latents(out, OUT_MEAN, values, C),
        .var = sg_new_latents(out, OUT_VAR, blocks, C),
        .g = sg_doubles(&sg_r_workspace, sg_sites_of(layout)),
        .alpha = sg_doubles(&sg_r_workspace, sg_values_of(layout)),
        .cav_mean = sg_new_latents(out, OUT_CAV_MEAN, values, C),
        .cav_var = sg_new_latents(out, OUT_CAV_VAR, blocks, C),
        .logz = sg_new_vector(out, OUT_LPD, layout.n),
        .d1 = sg_doubles(&sg_r_workspace, sg_values_of(layout)),
        .d2 = sg_doubles(&sg_r_workspace, sg_blocks_of(layout))
    };
    return marg;
}

sg_sites sg_sites_in(SEXP out, SEXP start, sg_layout layout)
{
    const size_t values = (size_t) layout.n * layout.w;
    const sg_sites sites = {.layout = layout,
                            .tau = sg_new_latents(out, OUT_TAU, values * layout.w, layout.C),
                            .nu = sg_new_latents(out, OUT_NU, values, layout.C)};
    const size_t blocks = sg_blocks_of(layout), all = sg_values_of(layout);
    if (Rf_isNull(start)) {
        sg_zero(blocks, sites.tau);
        sg_zero(all, sites.nu);
        return sites;
    }
    sg_copy_field(start, "tau", blocks, sites.tau);
    sg_copy_field(start, "nu", all, sites.nu);
    return sites;
}

double *sg_gradient_in(SEXP out, const sg_problem *p)
{
    const int size = p->nk + sg_lik_npar(&p->lik);
    double *gradient = sg_new_vector(out, OUT_GRADIENT, size);
    sg_zero(size, gradient);
    return gradient;
}

sg_ep_options sg_ep_options_of(SEXP options)
{
    const sg_ep_options opt = {
        .sweeps = sg_field_int(options, "sweeps", 0, INT_MAX),
        .batch = sg_field_int(options, "batch", 0, INT_MAX),
        .mixing = sg_field_int(options, "mixing", 0, SG_MOST_MIXED),
        .damping = sg_field_double(options, "damping", 0, 1),
        .tol = sg_field_double(options, "tol", 0, HUGE_VAL)
    };
    return opt;
}

sg_ep_report sg_new_report(void)
{
    const sg_ep_report report = {.trace = sg_doubles(&sg_r_workspace, 2 * SG_TRACE)};
    return report;
}

void sg_report_in(SEXP out, sg_status status, const sg_ep_report *report)
{
    SET_VECTOR_ELT(out, OUT_STATUS, Rf_ScalarInteger(status));
    SET_VECTOR_ELT(out, OUT_LOGZ, Rf_ScalarReal(report->logz));
    SET_VECTOR_ELT(out, OUT_SWEEPS, Rf_ScalarInteger(report->sweeps));
    SET_VECTOR_ELT(out, OUT_CONVERGED, Rf_ScalarLogical(report->converged));
    SET_VECTOR_ELT(out, OUT_CHANGE, Rf_ScalarReal(report->change));
    SET_VECTOR_ELT(out, OUT_DAMPED, Rf_ScalarInteger(report->damped));
    SET_VECTOR_ELT(out, OUT_SEQUENTIAL, Rf_ScalarInteger(report->sequential));
    SET_VECTOR_ELT(out, OUT_SKIPPED, Rf_ScalarInteger(report->skipped));
    SET_VECTOR_ELT(out, OUT_FLAT, Rf_ScalarInteger(report->n_clipped));
    const int traced = report->sweeps < SG_TRACE ? report->sweeps : SG_TRACE;
    double *trace = sg_new_matrix(out, OUT_TRACE, 2, traced);
    sg_copy(2 * (size_t) traced, report->trace, trace);
}

void sg_add_gamma(const sg_rows *rows, sg_marginals *marg)
{
    const sg_layout l = marg->layout;
    const size_t ww = (size_t) l.w * l.w;
    for (int c = 0; c < l.C; c++) {
        for (int i = 0; i < l.n; i++) {
            const double *gamma = sg_gamma_of(rows, i, c);
            const size_t at = ww * (i + (size_t) l.n * c);
            for (size_t k = 0; k < ww; k++) {
                marg->var[at + k] += gamma[k];
                marg->cav_var[at + k] += gamma[k];
            }
        }
    }
}

/* ---- Full EP ---- */

/* G is in place; H only where a process has sites of negative precision. */
static void store_full(SEXP out, sg_layout layout, sg_full_factor *factor)
{
    const int N = layout.n * layout.w;
    int negative = 0;
    for (int c = 0; c < layout.C; c++) negative = negative || factor->plain[c] < N;
    double *H = negative ? sg_new_matrix(out, OUT_H, N, (size_t) N * layout.C) : NULL;
    for (int c = 0; c < layout.C; c++) {
        sg_full_factor own = sg_full_factor_of(factor, layout, c);
        sg_full_stored(layout, &own, H ? H + (size_t) N * N * c : NULL, &sg_r_workspace);
    }
    SET_VECTOR_ELT(out, OUT_ORDER, sg_row_numbers(N * layout.C, factor->order));
}

/* The functions of a linear mean at all values, N x q, each times the prior standard deviation of
 * its coefficient; NULL: the mean is known. */
static sg_full_trend *trend_of(SEXP options, sg_layout layout)
{
    SEXP phi = sg_field(options, "trend");
    const int N = layout.n * layout.w;
    if (Rf_isNull(phi)) return NULL;
    const sg_matrix given = sg_matrix_with(phi, N, -1, "trend");
    if (given.ncol < 1 || given.ncol > SG_TREND_MAX) {
        sg_stop_damaged("it has a mean of %d functions", given.ncol);
    }
    return sg_full_trend_new(layout, given.ncol, REAL(phi), &sg_r_workspace);
}

/* Coefficients (q x C), J (N x q C) and L^{-1} (q x q C) of all processes, see full_trend.h. */
static void trend_in(SEXP out, sg_layout layout, const sg_full_factor *factor)
{
    const char *fields[] = {"coef", "J", "root", ""};
    const size_t N = (size_t) layout.n * layout.w, q = factor->trend->q, C = layout.C;
    SEXP stored = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *coef = sg_new_matrix(stored, 0, q, C), *J = sg_new_matrix(stored, 1, N, q * C);
    double *root = sg_new_matrix(stored, 2, q, q * C);
    for (size_t c = 0; c < C; c++) {
        const sg_full_factor own = sg_full_factor_of(factor, layout, (int) c);
        sg_copy(q, own.trend->coef, coef + q * c);
        sg_full_trend_stored(layout, &own, J + N * q * c, root + q * q * c);
    }
    SET_VECTOR_ELT(out, OUT_TREND, stored);
    UNPROTECT(1);
}

/* ktheta: of one kernel, or of one for each process. options: sweeps, batch, mixing, damping, tol,
 * gradient, posterior, trend (functions of a linear mean, or NULL). With several processes what is
 * said of latent values are matrices with a column for each, and G and H are N x (N C), N = n w. H,
 * which is NULL without sites of negative precision, and order, of all processes one after the
 * other: the rows, from 1, that the factors' rows belong to. Memory: K of every kernel, a factor
 * for every process, and Kbar when the gradient is wanted (two with several processes, or with
 * sites of negative precision): N^2 doubles each, and blocks of 128 columns; with w > 1 another N^2
 * for every process. options room: an environment with memory for calls of this problem, or NULL
 * (sg_room_open()). */
SEXP sg_r_ep_full(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                  SEXP sites, SEXP options)
{
    sg_room room;
    const sg_ws own = sg_room_open(&room, sg_optional_field(options, "room")), *ws = &own;
    sg_problem p;
    sg_read_problem(kernel, ktheta, x, lik, ltheta, y, offset, &p);
    const int N = p.layout.n * p.layout.w, C = p.layout.C;
    const int keep = sg_field_flag(options, "posterior");
    const size_t N2 = (size_t) N * N;
    const sg_span all = {0, p.layout.n};
    const sg_ep_options opt = sg_ep_options_of(options);
    SEXP out = PROTECT(sg_new_run());
    sg_sites start = sg_sites_in(out, sites, p.layout);
    sg_marginals marg = sg_marginals_in(out, p.layout);
    marg.alpha = sg_new_latents(out, OUT_ALPHA, N, C);
    double *G = keep ? sg_new_matrix(out, OUT_G, N, (size_t) N * C) : sg_doubles(ws, N2 * C);
    sg_full_factor factor = sg_full_factor_new(p.layout, G, trend_of(options, p.layout), ws);
    sg_ep_report report = sg_new_report();
    double *K = sg_doubles(ws, N2 * p.kernels);
    for (int k = 0; k < p.kernels; k++) {
        sg_kernel_cross(p.kernel[k], N, p.x.values, N, NULL, K + N2 * k, ws);
    }
    const sg_status status = sg_ep_full_run(&p.rows, K, p.kernels, &opt, &start, &marg, &factor,
                                            &report, ws);
    if (status == SG_OK && sg_field_flag(options, "gradient")) {
        double *gradient = sg_gradient_in(out, &p);
        sg_evidence_gradient_full(p.layout, p.kernels, p.kernel, p.x.values, K, &marg, &factor,
                                  sg_doubles(ws, N2), gradient, ws);
        sg_tilt_rows_dpar(&p.rows, &marg, all, gradient + p.nk, ws);
    }
    if (status == SG_OK) sg_leave_out(&p.rows, &start, &marg, ws);
    if (keep && status == SG_OK && factor.trend) trend_in(out, p.layout, &factor);
    if (keep && status == SG_OK) store_full(out, p.layout, &factor);
    SET_VECTOR_ELT(out, OUT_JITTER, Rf_ScalarReal(0));
    sg_report_in(out, status, &report);
    sg_room_close(&room);
    UNPROTECT(1);
    return out;
}
