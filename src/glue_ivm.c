/* glue_ivm.c: selection by the informative vector machine. */
#include "glue.h"
#include "ivm.h"

enum {
    OUT_STATUS, OUT_ID, OUT_TAU, OUT_NU, OUT_GAIN, OUT_LOGZ, OUT_STOP, OUT_EXCHANGED, OUT_ALPHA,
    OUT_G, OUT_H
};

static const char *const IVM_FIELDS[] = {
    "status", "id", "tau", "nu", "gain", "logz", "stop", "exchanged", "alpha", "G", "H", ""
};

static void write_active(SEXP out, const sg_active *active, sg_status *status)
{
    const int d = active->d;
    double *id = sg_new_vector(out, OUT_ID, d);
    for (int i = 0; i < d; i++) id[i] = active->row[i] + 1.0;
    Memcpy(sg_new_vector(out, OUT_TAU, d), active->tau, d);
    Memcpy(sg_new_vector(out, OUT_NU, d), active->nu, d);
    Memcpy(sg_new_vector(out, OUT_GAIN, d), active->gain, d);
    Memcpy(sg_new_vector(out, OUT_LOGZ, d), active->logz, d);
    double *alpha = sg_new_vector(out, OUT_ALPHA, d), *G = sg_new_matrix(out, OUT_G, d, d);
    if (*status == SG_OK) *status = sg_active_stored(active, alpha, G);
}

/* luck: n distinct numbers in random order. options: size, select (0 information, 1 entropy, 2 by
 * luck), min_gain, pool, block, keep, exchange. tau and nu are of the active rows, in order of
 * inclusion.
 * Memory: min(n size, pool) doubles, size^2, and about 10 n. */
SEXP sg_r_ivm(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
              SEXP luck, SEXP options)
{
    const sg_ws *ws = &sg_r_workspace;
    const sg_kernel *kern = sg_kernel_of(kernel, ktheta);
    const sg_lik likelihood = sg_lik_of(lik, ltheta);
    const sg_rows rows = sg_rows_from(&likelihood, x, y, offset);
    const sg_ivm_options opt = {sg_field_int(options, "size"),
                                (sg_select) sg_field_int(options, "select"),
                                sg_field_double(options, "min_gain"),
                                sg_field_double(options, "pool"), sg_field_int(options, "block"),
                                sg_field_double(options, "keep"),
                                sg_field_int(options, "exchange"),
                                sg_doubles_of(luck, rows.n, "luck")};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **) IVM_FIELDS));
    sg_active active = sg_active_new(opt.size, ws);
    sg_ivm_report report = {SG_IVM_SIZE, 0};
    sg_status status = sg_ivm_run(kern, &rows, sg_cols_of(x), REAL(x), &opt, &active, &report, ws);
    write_active(out, &active, &status);
    SET_VECTOR_ELT(out, OUT_STOP, Rf_ScalarInteger(report.stop));
    SET_VECTOR_ELT(out, OUT_EXCHANGED, Rf_ScalarInteger(report.exchanged));
    SET_VECTOR_ELT(out, OUT_STATUS, Rf_ScalarInteger(status));
    UNPROTECT(1);
    return out;
}
