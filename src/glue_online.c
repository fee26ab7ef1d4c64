/* glue_online.c: what changes its basis on the way. A stream's state in, the state after some rows
 * out, nothing changed in place; and sparse EP with basis exchange. */
#include <limits.h>
#include <math.h>
#include "chol.h"
#include "glue.h"
#include "ep_sparse.h"
#include "online.h"
#include "state.h"

/* A state in R, for d points and C processes:
 *   points p x d, id d (rows of x, from 1; with w points to a row those of row i are w (i - 1) + 1
 *   .. w i), R d x d, S d x d x C, t d x C, count SG_RECORD, trace, a row per entry. */
enum {
    STREAM_STATUS, STREAM_POINTS, STREAM_ID, STREAM_COUNT, STREAM_TRACE, STREAM_SUMS
};

static const char *const STATE_FIELDS[] = {
    "status", "points", "id", "count", "trace", "R", "S", "t", "alpha", "G", "H", ""
};

/* Points of a row stand together, and are at most as many as it has. */
static void check_ids(const double *id, int d, int w)
{
    const double most = 9007199254740992; /* 2^53 */
    for (int i = 0, run = 0; i < d; i++) {
        if (!(id[i] >= 1 && id[i] <= most && id[i] == floor(id[i]))) {
            sg_stop_damaged("its `id` are no numbers of points");
        }
        const double row = floor((id[i] - 1) / w);
        run = i > 0 && floor((id[i - 1] - 1) / w) == row ? run + 1 : 1;
        if (run > w) sg_stop_damaged("its `id` have more points of a row than there are");
    }
}

static sg_status read_process(SEXP state, const sg_kernel *kernel, sg_process *gp)
{
    const sg_matrix R = sg_matrix_of(sg_field(state, "R"), "R");
    const int d = R.nrow, cap = gp->basis.cap, C = gp->C;
    const double *S = sg_doubles_of(sg_field(state, "S"), (size_t) d * d * C, "S");
    const double *t = sg_doubles_of(sg_field(state, "t"), (size_t) d * C, "t");
    const sg_matrix points = sg_matrix_with(sg_field(state, "points"), gp->p, d, "points");
    if (R.ncol != d || d + gp->w > cap) sg_stop_damaged("its `R` has more points than its size");
    check_ids(sg_doubles_of(sg_field(state, "id"), d, "id"), d, gp->w);
    sg_check_columns(kernel, points, "points");
    gp->basis.d = d;
    sg_copy_columns(d, d, R.values, d, gp->basis.R, cap);
    sg_col_squares(d, gp->basis.R, cap, gp->basis.K);
    sg_copy((size_t) d * gp->p, points.values, gp->points);
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
    sg_copy_field(state, "count", SG_RECORD, record.count);
    for (int k = 0; k < SG_RECORD; k++) {
        const int sum = k == SG_REC_LOGZ; /* all others are counts */
        if (!isfinite(record.count[k]) || (!sum && record.count[k] < 0)) {
            sg_stop_damaged("its `count` has numbers that are none");
        }
    }
    const double traced = record.count[SG_REC_TRACED];
    if (traced > SG_TRACE_ROWS || traced != floor(traced) || record.count[SG_REC_STRIDE] < 1) {
        sg_stop_damaged("its `count` has a trace that there is not");
    }
    const sg_matrix trace = sg_matrix_with(sg_field(state, "trace"), SG_TRACE_COLUMNS,
                                           (int) traced, "trace");
    record.trace = sg_doubles(&sg_r_workspace, SG_TRACE_COLUMNS * SG_TRACE_ROWS);
    sg_copy((size_t) SG_TRACE_COLUMNS * trace.ncol, trace.values, record.trace);
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
    sg_copy((size_t) d * gp->p, gp->points, sg_new_matrix(out, STREAM_POINTS, gp->p, d));
    sg_vector_in(out, STREAM_ID, d, gp->id);
    return write_sums(out, STREAM_SUMS, gp);
}

static void write_record(SEXP out, const sg_online_record *record)
{
    const int traced = (int) record->count[SG_REC_TRACED];
    sg_vector_in(out, STREAM_COUNT, SG_RECORD, record->count);
    double *trace = sg_new_matrix(out, STREAM_TRACE, SG_TRACE_COLUMNS, traced);
    sg_copy((size_t) SG_TRACE_COLUMNS * traced, record->trace, trace);
}

/* w: points of a row, which a basis may have beyond its size on the way. */
static sg_row_rules rules_of(SEXP options, int w)
{
    const sg_row_rules rules = {
        .size = sg_field_int(options, "size", 0, INT_MAX - w),
        .frozen = sg_field_flag(options, "frozen"),
        .projection = sg_field_flag(options, "kl") ? SG_KL : SG_MOMENT,
        .nonnegative = sg_field_flag(options, "narrow"),
        .novelty = sg_field_double(options, "novelty", 0, HUGE_VAL),
        .score = (sg_score) sg_field_int(options, "score", SG_SCORE_MEAN, SG_SCORE_ERROR)
    };
    return rules;
}

/* Points to begin with, NULL: none. */
static void predefine(const sg_problem *p, SEXP basis, double novelty, sg_process *gp)
{
    if (Rf_isNull(basis)) return;
    const sg_kernel *kern = sg_only_kernel(p);
    const sg_matrix points = sg_points_of(basis, kern, p->x.ncol, 0, "basis");
    if (points.nrow + gp->w > gp->basis.cap) sg_stop_damaged("its `basis` exceeds its size");
    sg_process_predefine(kern, points.nrow, points.values, novelty, gp, &sg_r_workspace);
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
    sg_problem p;
    sg_read_problem(kernel, ktheta, x, lik, ltheta, y, offset, &p);
    const sg_kernel *kern = sg_only_kernel(&p);
    const int C = p.lik.C, w = p.lik.w;
    const sg_online_options opt = {.rules = rules_of(options, w),
                                   .informative = sg_field_flag(options, "informative"),
                                   .by_row = sg_field_flag(options, "by_row")};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **) STATE_FIELDS));
    /* room for what these rows can bring, not for all that options allow */
    const double most = (double) sg_matrix_of(sg_field(state, "R"), "R").nrow + p.x.nrow +
                        (Rf_isNull(basis) ? 0 : sg_matrix_of(basis, "basis").nrow);
    const int size = opt.rules.size < most ? opt.rules.size : (int) most;
    sg_process gp = sg_process_new(size + w, p.x.ncol, C, w, ws);
    sg_online_record record = read_record(state);
    sg_status status = read_process(state, kern, &gp);
    if (status == SG_OK) predefine(&p, basis, opt.rules.novelty, &gp);
    if (status == SG_OK) {
        status = sg_online_run(kern, p.x.values, &p.rows, &opt, &gp, &record, ws);
    }
    if (status == SG_OK) status = write_process(out, &gp);
    write_record(out, &record);
    SET_VECTOR_ELT(out, STREAM_STATUS, Rf_ScalarInteger(status));
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
 * tol, posterior (R, S, t, alpha, G and H are wanted). tau and cav_var are n blocks of w x w, nu
 * and cav_mean n w values; with several processes matrices with a column for each. Memory: n w d
 * doubles, about 30 n w^2 for each process, and some d^2. */
SEXP sg_r_ep_sparse(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                    SEXP basis, SEXP options)
{
    const sg_ws *ws = &sg_r_workspace;
    sg_problem p;
    sg_read_problem(kernel, ktheta, x, lik, ltheta, y, offset, &p);
    const sg_kernel *kern = sg_only_kernel(&p);
    const sg_row_rules rules = rules_of(options, p.lik.w);
    const sg_layout layout = p.layout;
    const int n = layout.n, C = layout.C, w = layout.w, cap = rules.size + w;
    const size_t values = (size_t) n * w, blocks = values * w;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **) EP_FIELDS));
    sg_process gp = sg_process_new(cap, p.x.ncol, C, w, ws);
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
    predefine(&p, basis, rules.novelty, &gp);
    sg_status status = sg_ep_sparse_run(kern, &p.rows, p.x.values, &rules,
                                        sg_field_int(options, "freeze", 0, INT_MAX),
                                        sg_field_int(options, "sweeps", 0, INT_MAX),
                                        sg_field_double(options, "tol", 0, HUGE_VAL), &gp,
                                        &sparse, &sites, &marg, gamma, reports, &sweeps, ws);
    for (size_t k = 0; k < sg_blocks_of(layout); k++) {
        marg.cav_var[k] += gamma[k % blocks]; /* of all of u */
    }
    write_sweeps(out, reports, sweeps);
    const int d = gp.basis.d;
    sg_vector_in(out, EP_ID, d, gp.id);
    if (status == SG_OK && sg_field_flag(options, "posterior")) {
        status = write_sums(out, EP_SUMS, &gp);
    }
    SET_VECTOR_ELT(out, EP_STATUS, Rf_ScalarInteger(status));
    UNPROTECT(1);
    return out;
}
