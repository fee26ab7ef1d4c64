/* glue_lik.c: likelihoods one at a time, at rows and marginals that R gives: what predictions and
 * residuals are made of, and how tests see a tilt. */
#include "glue.h"

/* Latent values lie as sg_layout says, and a likelihood sees a row at a time: `size` numbers of
 * each process, w values or the w x w of their block. */
static void gather(const double *from, const sg_lik *lik, int n, int i, int size, double *row)
{
    for (int c = 0; c < lik->C; c++) {
        const double *at = from + size * (i + (size_t) n * c);
        for (int k = 0; k < size; k++) row[k + size * c] = at[k];
    }
}

static void scatter(const double *row, const sg_lik *lik, int n, int i, int size, double *to)
{
    for (int c = 0; c < lik->C; c++) {
        double *at = to + size * (i + (size_t) n * c);
        for (int k = 0; k < size; k++) at[k] = row[k + size * c];
    }
}

static int rows_for(const sg_lik *lik, SEXP values)
{
    const int each = lik->C * lik->w;
    if (Rf_length(values) % each != 0) Rf_error("internal error: not %d values a row", each);
    return Rf_length(values) / each;
}

/* Room for `size` numbers of each row and process: as sg_new_latents(), or with wider sites a
 * column for each. */
static double *new_numbers(SEXP out, int at, const sg_lik *lik, int n, int size)
{
    if (lik->w == 1) return sg_new_latents(out, at, n, lik->C);
    return sg_new_matrix(out, at, size, n * lik->C);
}

static int can_quadrature(const sg_lik *lik)
{
    return lik->C == 1 && lik->w == 1 && !lik->type->classes;
}

/* quadrature: of log p in any case, where that can be */
SEXP sg_r_lik_tilt(SEXP spec, SEXP theta, SEXP y, SEXP mu, SEXP S, SEXP quadrature)
{
    const char *fields[] = {"logz", "d1", "d2", "dpar", ""};
    const sg_lik lik = sg_lik_of(spec, theta);
    const int n = rows_for(&lik, mu), npar = sg_lik_npar(&lik), w = lik.w;
    const int quad = Rf_asLogical(quadrature) && can_quadrature(&lik);
    const double *rows = sg_doubles_of(y, (size_t) sg_lik_q(&lik) * n, "y");
    const double *all_S = sg_doubles_of(S, (size_t) n * lik.C * w * w, "S");
    double mi[SG_LIK_MAX_BLOCKS], Si[SG_LIK_MAX_BLOCKS];
    double d1i[SG_LIK_MAX_BLOCKS], d2i[SG_LIK_MAX_BLOCKS];
    sg_tilt tilt = {.d1 = d1i, .d2 = d2i};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *logz = sg_new_vector(out, 0, n), *d1 = new_numbers(out, 1, &lik, n, w);
    double *d2 = new_numbers(out, 2, &lik, n, w * w), *dpar = sg_new_matrix(out, 3, npar, n);
    Memzero(dpar, (size_t) npar * n);
    for (int i = 0; i < n; i++) {
        const double *row = sg_lik_row(&lik, rows, i);
        gather(REAL(mu), &lik, n, i, w, mi), gather(all_S, &lik, n, i, w * w, Si);
        (quad ? sg_lik_tilt_quad : sg_lik_tilt)(&lik, row, mi, Si, &tilt);
        (quad ? sg_lik_tilt_dpar_quad : sg_lik_tilt_dpar)(&lik, row, mi, Si,
                                                           dpar + (size_t) npar * i);
        logz[i] = tilt.logz;
        scatter(d1i, &lik, n, i, w, d1), scatter(d2i, &lik, n, i, w * w, d2);
        if (i % SG_BETWEEN_TICKS == 0) sg_tick(&sg_r_workspace);
    }
    UNPROTECT(1);
    return out;
}

/* quadrature: by quadrature in any case, where that can be, and then with the spread of E(y|f) */
SEXP sg_r_lik_predict(SEXP spec, SEXP theta, SEXP mu, SEXP S, SEXP quadrature)
{
    const char *fields[] = {"mean", "var", "spread", ""};
    const sg_lik lik = sg_lik_of(spec, theta);
    const int n = rows_for(&lik, mu), w = lik.w;
    const int quad = Rf_asLogical(quadrature) && can_quadrature(&lik);
    const double *all_S = sg_doubles_of(S, (size_t) n * lik.C * w * w, "S");
    double mi[SG_LIK_MAX_BLOCKS], Si[SG_LIK_MAX_BLOCKS];
    double mean_i[SG_LIK_MAX_BLOCKS], var_i[SG_LIK_MAX_BLOCKS];
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *mean = new_numbers(out, 0, &lik, n, w), *var = new_numbers(out, 1, &lik, n, w * w);
    double *spread = sg_new_vector(out, 2, quad ? n : 0);
    for (int i = 0; i < n; i++) {
        gather(REAL(mu), &lik, n, i, w, mi), gather(all_S, &lik, n, i, w * w, Si);
        if (quad) sg_lik_predict_quad(&lik, mi, Si, mean_i, var_i, spread + i);
        else sg_lik_predict(&lik, mi, Si, mean_i, var_i);
        scatter(mean_i, &lik, n, i, w, mean), scatter(var_i, &lik, n, i, w * w, var);
        if (i % SG_BETWEEN_TICKS == 0) sg_tick(&sg_r_workspace);
    }
    UNPROTECT(1);
    return out;
}

/* log p(y|f), and mean and variance of a new response given f; y may be NULL for the latter
 * alone */
SEXP sg_r_lik_eval(SEXP spec, SEXP theta, SEXP y, SEXP f)
{
    const char *fields[] = {"logp", "mean", "var", ""};
    const sg_lik lik = sg_lik_of(spec, theta);
    const int n = rows_for(&lik, f), w = lik.w, with_y = !Rf_isNull(y);
    const double *rows = with_y ? sg_doubles_of(y, (size_t) sg_lik_q(&lik) * n, "y") : NULL;
    double fi[SG_LIK_MAX_BLOCKS], mean_i[SG_LIK_MAX_BLOCKS], var_i[SG_LIK_MAX_BLOCKS];
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *logp = sg_new_vector(out, 0, with_y ? n : 0);
    double *mean = new_numbers(out, 1, &lik, n, w), *var = new_numbers(out, 2, &lik, n, w * w);
    for (int i = 0; i < n; i++) {
        gather(REAL(f), &lik, n, i, w, fi);
        if (with_y) logp[i] = lik.type->logp(&lik, sg_lik_row(&lik, rows, i), fi);
        lik.type->moments(&lik, fi, mean_i, var_i);
        scatter(mean_i, &lik, n, i, w, mean), scatter(var_i, &lik, n, i, w * w, var);
    }
    UNPROTECT(1);
    return out;
}

/* The exact sites of rows y[q x n]: tau and nu; empty for a type that has none. For tests: EP asks
 * for them itself. */
SEXP sg_r_lik_site(SEXP spec, SEXP theta, SEXP y)
{
    const char *fields[] = {"tau", "nu", ""};
    const sg_lik lik = sg_lik_of(spec, theta);
    const int q = sg_lik_q(&lik), n = lik.type->site ? Rf_length(y) / q : 0, w = lik.w;
    const double *rows = sg_doubles_of(y, XLENGTH(y), "y");
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *tau = sg_new_matrix(out, 0, w * w, n), *nu = sg_new_matrix(out, 1, w, n);
    for (int i = 0; i < n; i++) {
        lik.type->site(&lik, sg_lik_row(&lik, rows, i), tau + (size_t) w * w * i,
                       nu + (size_t) w * i);
    }
    UNPROTECT(1);
    return out;
}
