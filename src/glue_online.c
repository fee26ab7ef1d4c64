/* glue_online.c: what changes its basis on the way. A stream's state in, the state after some rows
 * out, nothing changed in place; and sparse EP with basis exchange. */
#include "chol.h"
#include "glue.h"
#include "ep_sparse.h"
#include "online.h"
#include "state.h"

/* A state in R, for d points and C processes:
 *   points p x d, id d (rows of x, from 1; with w points to a row those of row i are w (i - 1) + 1
 *   .. w i), R d x d, S d x d x C, t d x C, count SG_RECORD, trace, a row per entry. */
enum {
    OUT_STATUS, OUT_POINTS, OUT_ID, OUT_COUNT, OUT_TRACE, OUT_SUMS
};

static const char *const STATE_FIELDS[] = {
    "status", "points", "id", "count", "trace", "R", "S", "t", "alpha", "G", "H", ""
};

static sg_status read_process(SEXP state, sg_process *gp)
{
    const int d = sg_rows_of(sg_field(state, "R")), cap = gp->basis.cap, C = gp->C;
    const double *S = sg_doubles_of(sg_field(state, "S"), (size_t) d * d * C, "S");
    const double *t = sg_doubles_of(sg_field(state, "t"), (size_t) d * C, "t");
    if (d + gp->w > cap) Rf_error("internal error: a state of more points than its size");
    gp->basis.d = d;
    sg_copy_columns(d, d, REAL(sg_field(state, "R")), d, gp->basis.R, cap);
    sg_col_squares(d, gp->basis.R, cap, gp->basis.K);
    sg_copy_field(state, "points", (size_t) d * gp->p, gp->points);
    sg_copy_field(state, "id", d, gp->id);
    for (int c = 0; c < C; c++) {
        sg_copy_columns(d, d, S + (size_t) d * d * c, d, gp->each[c].S, cap);
        sg_copy(d, t + (size_t) d * c, gp->each[c].t);
    }
    sg_process_locate(gp);
    return sg_process_refresh(gp, &sg_r_workspace);
}

static sg_online_record read_record(SEXP state)
{
    sg_online_record record;
    SEXP trace = sg_field(state, "trace");
    sg_copy_field(state, "count", SG_RECORD, record.count);
    record.trace = sg_doubles(&sg_r_workspace, SG_TRACE_COLUMNS * SG_TRACE_ROWS);
    if (XLENGTH(trace) > SG_TRACE_COLUMNS * SG_TRACE_ROWS) Rf_error("internal error: trace");
    sg_copy(XLENGTH(trace), REAL(trace), record.trace);
    return record;
}

/* R, S, t and the stored form alpha, G, H of a process, in fields `at` and the five after it; S has
 * the processes' matrices side by side. */
static sg_status write_sums(SEXP out, int at, const sg_process *gp)
{
    const int d = gp->basis.d, cap = gp->basis.cap, C = gp->C;
    const size_t dd = (size_t) d * d;
    double *R = sg_new_matrix(out, at, d, d);
    const size_t columns = (size_t) d * C;
    double *S = sg_new_matrix(out, at + 1, d, columns), *t = sg_new_matrix(out, at + 2, d, C);
    double *alpha = sg_new_latents(out, at + 3, d, C), *G = sg_new_matrix(out, at + 4, d, d);
    double *H = sg_new_matrix(out, at + 5, d, columns);
    sg_copy_upper(d, gp->basis.R, cap, R);
    for (int c = 0; c < C; c++) {
        sg_copy_columns(d, d, gp->each[c].S, cap, S + dd * c, d);
        sg_copy(d, gp->each[c].t, t + (size_t) d * c);
    }
    const sg_state_mean none = {0};
    return sg_state_stored(d, C, R, S, t, alpha, G, H, &none, &sg_r_workspace);
}

/* The whole state. */
static sg_status write_process(SEXP out, const sg_process *gp)
{
    const int d = gp->basis.d;
    sg_copy((size_t) d * gp->p, gp->points, sg_new_matrix(out, OUT_POINTS, gp->p, d));
    sg_vector_in(out, OUT_ID, d, gp->id);
    return write_sums(out, OUT_SUMS, gp);
}

static void write_record(SEXP out, const sg_online_record *record)
{
    const int traced = (int) record->count[SG_REC_TRACED];
    sg_vector_in(out, OUT_COUNT, SG_RECORD, record->count);
    double *trace = sg_new_matrix(out, OUT_TRACE, SG_TRACE_COLUMNS, traced);
    sg_copy((size_t) SG_TRACE_COLUMNS * traced, record->trace, trace);
}

static sg_row_rules rules_of(SEXP options)
{
    const sg_row_rules rules = {
        .size = sg_field_int(options, "size"), .frozen = sg_field_int(options, "frozen"),
        .projection = sg_field_int(options, "kl") ? SG_KL : SG_MOMENT,
        .nonnegative = sg_field_int(options, "narrow"),
        .novelty = sg_field_double(options, "novelty"),
        .score = (sg_score) sg_field_int(options, "score")
    };
    return rules;
}

/* state: as above, or with no points; basis: NULL, or points of a predefined basis to begin with.
 * x: a row for each latent value, w to a data row. ltheta: of C processes. options: size (of
 * points), frozen, kl, narrow, novelty, score (0, 1, 2), informative, by_row. Memory: about
 * 4 (C + 1) d^2 doubles, and blocks of 64 w d (128 on a predefined basis, 1000 w d for the
 * informative order). */
SEXP sg_r_online(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                 SEXP state, SEXP basis, SEXP options)
{
    const sg_ws *ws = &sg_r_workspace;
    const sg_kernel *kern = sg_kernel_of(kernel, ktheta);
    const sg_lik likelihood = sg_lik_of(lik, ltheta);
    const sg_rows rows = sg_rows_from(&likelihood, x, y, offset);
    const int C = likelihood.C, w = likelihood.w;
    const sg_online_options opt = {.rules = rules_of(options),
                                   .informative = sg_field_int(options, "informative"),
                                   .by_row = sg_field_int(options, "by_row")};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **) STATE_FIELDS));
    /* room for what these rows can bring, not for all that options allow */
    const double most = (double) sg_rows_of(sg_field(state, "R")) + sg_rows_of(x) +
                        (Rf_isNull(basis) ? 0 : sg_rows_of(basis));
    const int size = opt.rules.size < most ? opt.rules.size : (int) most;
    sg_process gp = sg_process_new(size + w, sg_cols_of(x), C, w, ws);
    sg_online_record record = read_record(state);
    sg_status status = read_process(state, &gp);
    if (status == SG_OK && !Rf_isNull(basis)) {
        sg_process_predefine(kern, sg_rows_of(basis), REAL(basis), opt.rules.novelty, &gp, ws);
    }
    if (status == SG_OK) status = sg_online_run(kern, REAL(x), &rows, &opt, &gp, &record, ws);
    if (status == SG_OK) status = write_process(out, &gp);
    write_record(out, &record);
    SET_VECTOR_ELT(out, OUT_STATUS, Rf_ScalarInteger(status));
    UNPROTECT(1);
    return out;
}

enum { EP_STATUS, EP_ID, EP_TAU, EP_NU, EP_CAV_MEAN, EP_CAV_VAR, EP_LPD, EP_TRACE, EP_SUMS };

static const char *const EP_FIELDS[] = {
    "status", "id", "tau", "nu", "cav_mean", "cav_var", "lpd", "trace",
    "R", "S", "t", "alpha", "G", "H", ""
};

/* trace: a column per sweep: outcomes, change, log evidence */
static void write_sweeps(SEXP out, const sg_sweep_report *reports, int sweeps)
{
    const int traced = sweeps < SG_SWEEPS_TRACED ? sweeps : SG_SWEEPS_TRACED;
    double *trace = sg_new_matrix(out, EP_TRACE, SG_ROW_OUTCOMES + 2, traced);
    for (int i = 0; i < traced; i++) {
        sg_copy(SG_ROW_OUTCOMES, reports[i].outcome, trace);
        trace[SG_ROW_OUTCOMES] = reports[i].change;
        trace[SG_ROW_OUTCOMES + 1] = reports[i].logz;
        trace += SG_ROW_OUTCOMES + 2;
    }
}

/* basis: NULL, or a predefined one (then frozen from the start). x: a row for each latent value, w
 * to a data row. options: size (of points), frozen, kl, narrow, novelty, score, freeze, sweeps,
 * tol. tau and cav_var are n blocks of w x w, nu and cav_mean n w values; with several processes
 * matrices with a column for each. Memory: n w d doubles, about 30 n w^2 for each process, and some
 * d^2. */
SEXP sg_r_ep_sparse(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                    SEXP basis, SEXP options)
{
    const sg_ws *ws = &sg_r_workspace;
    const sg_kernel *kern = sg_kernel_of(kernel, ktheta);
    const sg_lik likelihood = sg_lik_of(lik, ltheta);
    const sg_rows rows = sg_rows_from(&likelihood, x, y, offset);
    const sg_row_rules rules = rules_of(options);
    const sg_layout layout = sg_layout_of(&rows);
    const int n = layout.n, C = layout.C, w = layout.w, cap = rules.size + w;
    const size_t values = (size_t) n * w, blocks = values * w;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **) EP_FIELDS));
    sg_process gp = sg_process_new(cap, sg_cols_of(x), C, w, ws);
    sg_sparse_rows sparse = sg_sparse_rows_new(n, w, cap, ws);
    sg_sites sites = {.layout = layout,
                      .tau = sg_new_latents(out, EP_TAU, blocks, C),
                      .nu = sg_new_latents(out, EP_NU, values, C)};
    sg_zero(sg_blocks_of(layout), sites.tau);
    sg_zero(sg_values_of(layout), sites.nu);
    sg_marginals marg = sg_marginals_new(layout, ws);
    marg.cav_mean = sg_new_latents(out, EP_CAV_MEAN, values, C);
    marg.cav_var = sg_new_latents(out, EP_CAV_VAR, blocks, C);
    marg.logz = sg_new_vector(out, EP_LPD, n);
    double *gamma = sg_doubles(ws, blocks);
    sg_sweep_report *reports = sg_structs(SG_SWEEPS_TRACED, sizeof(sg_sweep_report), ws);
    int sweeps = 0;
    if (!Rf_isNull(basis)) {
        sg_process_predefine(kern, sg_rows_of(basis), REAL(basis), rules.novelty, &gp, ws);
    }
    sg_status status = sg_ep_sparse_run(kern, &rows, REAL(x), &rules,
                                        sg_field_int(options, "freeze"),
                                        sg_field_int(options, "sweeps"),
                                        sg_field_double(options, "tol"), &gp, &sparse, &sites,
                                        &marg, gamma, reports, &sweeps, ws);
    for (size_t k = 0; k < sg_blocks_of(layout); k++) {
        marg.cav_var[k] += gamma[k % blocks]; /* of all of u */
    }
    write_sweeps(out, reports, sweeps);
    const int d = gp.basis.d;
    sg_vector_in(out, EP_ID, d, gp.id);
    if (status == SG_OK) status = write_sums(out, EP_SUMS, &gp);
    SET_VECTOR_ELT(out, EP_STATUS, Rf_ScalarInteger(status));
    UNPROTECT(1);
    return out;
}
