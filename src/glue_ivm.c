/* glue_ivm.c: the informative vector machine: selection, and what it learns by. */
#include <limits.h>
#include "glue.h"
#include "ivm.h"
#include "ivm_criterion.h"

enum { IVM_OUT_STATUS, IVM_OUT_STOP, IVM_OUT_EXCHANGED, IVM_OUT_AT_HAND, IVM_OUT_SEQUENCE,
       IVM_OUT_EACH };

static const char *const IVM_FIELDS[] = {
    "status", "stop", "exchanged", "at_hand", "sequence", "each", ""
};

enum { ACT_ID, ACT_TAU, ACT_NU, ACT_GAIN, ACT_LOGZ, ACT_ALPHA, ACT_G, ACT_H };

static const char *const ACTIVE_FIELDS[] = {
    "id", "tau", "nu", "gain", "logz", "alpha", "G", "H", ""
};

/* The active set of one latent function. */
static SEXP new_active_list(const sg_active *active, sg_status *status)
{
    const int d = active->d;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **) ACTIVE_FIELDS));
    double *id = sg_new_vector(out, ACT_ID, d);
    for (int i = 0; i < d; i++) id[i] = active->row[i] + 1.0;
    sg_vector_in(out, ACT_TAU, d, active->tau);
    sg_vector_in(out, ACT_NU, d, active->nu);
    sg_vector_in(out, ACT_GAIN, d, active->gain);
    sg_vector_in(out, ACT_LOGZ, d, active->logz);
    double *alpha = sg_new_vector(out, ACT_ALPHA, d), *G = sg_new_matrix(out, ACT_G, d, d);
    if (*status == SG_OK) *status = sg_active_stored(active, alpha, G);
    UNPROTECT(1);
    return out;
}

/* How an active set of n rows is selected. */
static sg_ivm_options options_of(SEXP options, int n, SEXP tie_break)
{
    return (sg_ivm_options) {
        sg_field_int(options, "size", 0, n), sg_field_double(options, "total", 0, HUGE_VAL),
        (sg_select) sg_field_int(options, "select", SG_SELECT_INFORMATION, SG_SELECT_RANDOM),
        sg_field_double(options, "min_gain", -HUGE_VAL, HUGE_VAL),
        sg_field_double(options, "pool", 0, HUGE_VAL),
        sg_field_int(options, "block", 1, INT_MAX), sg_field_double(options, "keep", 0, 1),
        sg_field_int(options, "exchange", 0, INT_MAX), sg_doubles_of(tie_break, n, "tie_break")
    };
}

/* ktheta: of one kernel, or of one for each class. tie_break: n distinct numbers in random order.
 * options: size, total, select (0 information, 1 entropy, 2 random), min_gain, pool, block, keep,
 * exchange. each: the active sets of all latent functions, tau and nu of their rows in order
 * of inclusion; sequence: whose set each inclusion went into; at_hand: the candidates in the end.
 * Memory: min(n size, pool / C) doubles for each, its size^2, the prepared inputs, about 50 n. */
SEXP sg_r_ivm(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
              SEXP tie_break, SEXP options)
{
    const sg_ws *ws = &sg_r_workspace;
    sg_problem p;
    sg_read_problem(kernel, ktheta, x, lik, ltheta, y, offset, &p);
    const int C = p.lik.C;
    const sg_ivm_options opt = options_of(options, p.rows.n, tie_break);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **) IVM_FIELDS));
    sg_active *active = sg_structs(C, sizeof(sg_active), ws);
    for (int c = 0; c < C; c++) active[c] = sg_active_new(opt.size, ws);
    sg_ivm_report report = {SG_IVM_SIZE, 0, 0, NULL, NULL};
    sg_status status = sg_ivm_run(p.kernels, p.kernel, &p.rows, p.x.values, &opt, active, &report,
                                  ws);
    SET_VECTOR_ELT(out, IVM_OUT_EACH, Rf_allocVector(VECSXP, C));
    int total = 0;
    for (int c = 0; c < C; c++) {
        SET_VECTOR_ELT(VECTOR_ELT(out, IVM_OUT_EACH), c, new_active_list(active + c, &status));
        total += active[c].d;
    }
    SET_VECTOR_ELT(out, IVM_OUT_SEQUENCE, sg_row_numbers(total, report.sequence));
    SET_VECTOR_ELT(out, IVM_OUT_STOP, Rf_ScalarInteger(report.stop));
    SET_VECTOR_ELT(out, IVM_OUT_EXCHANGED, Rf_ScalarInteger(report.exchanged));
    SET_VECTOR_ELT(out, IVM_OUT_AT_HAND, sg_row_numbers(report.left, report.row));
    SET_VECTOR_ELT(out, IVM_OUT_STATUS, Rf_ScalarInteger(status));
    UNPROTECT(1);
    return out;
}

enum { CRITERION_STATUS, CRITERION_LOGZ, CRITERION_GRADIENT, CRITERION_TAU, CRITERION_NU };

static const char *const CRITERION_FIELDS[] = {"status", "logz", "gradient", "tau", "nu", ""};

/* Row numbers from 1 to n, as the core counts them. */
static int *rows_from_zero(SEXP numbers, int n, const char *what)
{
    const int *number = sg_whole_of(numbers, -1, 1, n, what), count = Rf_length(numbers);
    int *out = sg_ints(count, &sg_r_workspace);
    for (int i = 0; i < count; i++) out[i] = number[i] - 1;
    return out;
}

/* active: rows in order of inclusion, at_hand: all that count, integers from 1; sites: tau and nu
 * of the active rows. options: renew (the sites, in the order of the active rows), gradient. */
SEXP sg_r_ivm_criterion(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y,
                        SEXP offset, SEXP active, SEXP at_hand, SEXP sites, SEXP options)
{
    const sg_ws *ws = &sg_r_workspace;
    sg_problem p;
    sg_read_problem(kernel, ktheta, x, lik, ltheta, y, offset, &p);
    const sg_kernel *kern = sg_only_kernel(&p);
    const int d = Rf_length(active), npar = sg_lik_npar(&p.lik), n = p.rows.n;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **) CRITERION_FIELDS));
    sg_ivm_set set = {d, rows_from_zero(active, n, "active"), sg_new_vector(out, CRITERION_TAU, d),
                      sg_new_vector(out, CRITERION_NU, d), Rf_length(at_hand),
                      rows_from_zero(at_hand, n, "at_hand")};
    sg_copy_field(sites, "tau", d, set.tau);
    sg_copy_field(sites, "nu", d, set.nu);
    double logz = NA_REAL, *gradient = NULL;
    if (sg_field_flag(options, "gradient")) {
        gradient = sg_new_vector(out, CRITERION_GRADIENT, p.nk + npar);
        sg_zero(p.nk + npar, gradient);
    }
    sg_status status = SG_OK;
    if (sg_field_flag(options, "renew")) {
        status = sg_ivm_sites(kern, &p.rows, p.x.ncol, p.x.values, &set, ws);
    }
    if (status == SG_OK) {
        status = sg_ivm_criterion(kern, &p.rows, p.x.ncol, p.x.values, &set, &logz,
                                  gradient, gradient ? gradient + p.nk : NULL, ws);
    }
    SET_VECTOR_ELT(out, CRITERION_LOGZ, Rf_ScalarReal(logz));
    SET_VECTOR_ELT(out, CRITERION_STATUS, Rf_ScalarInteger(status));
    UNPROTECT(1);
    return out;
}
