/* glue_kernel.c: kernels and likelihoods one at a time, and the catalogue of both. */
#include "glue.h"

static SEXP names_of(const char *(*name_at)(int))
{
    int count = 0;
    while (name_at(count)) count++;
    SEXP names = PROTECT(Rf_allocVector(STRSXP, count));
    for (int i = 0; i < count; i++) SET_STRING_ELT(names, i, Rf_mkChar(name_at(i)));
    UNPROTECT(1);
    return names;
}

static const char *kernel_name(int i)
{
    const sg_kernel_type *type = sg_kernel_type_at(i);
    return type ? type->name : NULL;
}

static const char *lik_name(int i)
{
    const sg_lik_type *type = sg_lik_type_at(i);
    return type ? type->name : NULL;
}

SEXP sg_r_catalogue(void)
{
    const char *fields[] = {"kernels", "likelihoods", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, names_of(kernel_name));
    SET_VECTOR_ELT(out, 1, names_of(lik_name));
    UNPROTECT(1);
    return out;
}

SEXP sg_r_kernel_cross(SEXP spec, SEXP theta, SEXP x, SEXP z)
{
    const sg_kernel *kernel = sg_kernel_of(spec, theta);
    const int n = sg_rows_of(x), m = sg_rows_of(z);
    SEXP K = PROTECT(Rf_allocMatrix(REALSXP, n, m));
    sg_kernel_cross(kernel, n, REAL(x), m, REAL(z), REAL(K), &sg_r_workspace);
    UNPROTECT(1);
    return K;
}

/* Columns `which` (from 1) of the matrix of the prepared rows of x that kept[] leaves. */
SEXP sg_r_kernel_columns(SEXP spec, SEXP theta, SEXP x, SEXP kept, SEXP which)
{
    const sg_kernel *kernel = sg_kernel_of(spec, theta);
    const int m = Rf_length(which);
    sg_points points = sg_kernel_prepare(kernel, sg_rows_of(x), REAL(x), NULL, &sg_r_workspace);
    sg_points_keep(&points, LOGICAL(kept));
    int *row = sg_ints(m, &sg_r_workspace);
    for (int j = 0; j < m; j++) row[j] = INTEGER(which)[j] - 1;
    SEXP K = PROTECT(Rf_allocMatrix(REALSXP, points.n, m));
    sg_kernel_columns(kernel, &points, m, row, REAL(K), &sg_r_workspace);
    UNPROTECT(1);
    return K;
}

SEXP sg_r_kernel_diag(SEXP spec, SEXP theta, SEXP x)
{
    const sg_kernel *kernel = sg_kernel_of(spec, theta);
    const int n = sg_rows_of(x);
    SEXP k = PROTECT(Rf_allocVector(REALSXP, n));
    sg_kernel_diag(kernel, n, REAL(x), REAL(k), &sg_r_workspace);
    UNPROTECT(1);
    return k;
}

static SEXP zeros(R_xlen_t n)
{
    SEXP out = Rf_allocVector(REALSXP, n);
    Memzero(REAL(out), n);
    return out;
}

SEXP sg_r_kernel_adjoint(SEXP spec, SEXP theta, SEXP x, SEXP z, SEXP Kbar)
{
    const sg_kernel *kernel = sg_kernel_of(spec, theta);
    const int n = sg_rows_of(x), m = sg_rows_of(z);
    const size_t size = (size_t) n * m;
    SEXP dtheta = PROTECT(zeros(XLENGTH(theta)));
    double *K = sg_doubles(&sg_r_workspace, size);
    sg_kernel_cross(kernel, n, REAL(x), m, REAL(z), K, &sg_r_workspace);
    sg_kernel_adjoint(kernel, n, REAL(x), m, REAL(z), K, sg_doubles_of(Kbar, size, "Kbar"),
                      REAL(dtheta), &sg_r_workspace);
    UNPROTECT(1);
    return dtheta;
}

SEXP sg_r_kernel_adjoint_diag(SEXP spec, SEXP theta, SEXP x, SEXP kbar)
{
    const sg_kernel *kernel = sg_kernel_of(spec, theta);
    const int n = sg_rows_of(x);
    SEXP dtheta = PROTECT(zeros(XLENGTH(theta)));
    sg_kernel_adjoint_diag(kernel, n, REAL(x), sg_doubles_of(kbar, n, "kbar"), REAL(dtheta),
                           &sg_r_workspace);
    UNPROTECT(1);
    return dtheta;
}

/* Latent values, marginals and what comes of them are n x C; a likelihood sees a row at a time. */
static void gather(const double *from, size_t n, size_t i, int C, double *row)
{
    for (int c = 0; c < C; c++) row[c] = from[i + n * c];
}

static void scatter(const double *row, size_t n, size_t i, int C, double *to)
{
    for (int c = 0; c < C; c++) to[i + n * c] = row[c];
}

static int rows_for(const sg_lik *lik, SEXP values)
{
    if (Rf_length(values) % lik->C != 0) Rf_error("internal error: not one value per class");
    return Rf_length(values) / lik->C;
}

SEXP sg_r_lik_tilt(SEXP spec, SEXP theta, SEXP y, SEXP mu, SEXP s2, SEXP quadrature)
{
    const char *fields[] = {"logz", "d1", "d2", "dpar", ""};
    const sg_lik lik = sg_lik_of(spec, theta);
    const int C = lik.C, n = rows_for(&lik, mu), npar = sg_lik_npar(&lik);
    const int quad = Rf_asLogical(quadrature) && C == 1 && !lik.type->classes;
    const double *rows = sg_doubles_of(y, (size_t) lik.type->q * n, "y");
    const double *m = REAL(mu), *v = sg_doubles_of(s2, (size_t) n * C, "s2");
    double mi[SG_LIK_MAX_CLASSES], vi[SG_LIK_MAX_CLASSES];
    double d1i[SG_LIK_MAX_CLASSES], d2i[SG_LIK_MAX_CLASSES];
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *logz = sg_new_vector(out, 0, n), *d1 = sg_new_latents(out, 1, n, C);
    double *d2 = sg_new_latents(out, 2, n, C), *dpar = sg_new_matrix(out, 3, npar, n);
    Memzero(dpar, (size_t) npar * n);
    for (int i = 0; i < n; i++) {
        const double *row = rows + (size_t) lik.type->q * i;
        double *dp = dpar + (size_t) npar * i;
        gather(m, n, i, C, mi), gather(v, n, i, C, vi);
        (quad ? sg_lik_tilt_quad : sg_lik_tilt)(&lik, row, mi, vi, logz + i, d1i, d2i);
        (quad ? sg_lik_tilt_dpar_quad : sg_lik_tilt_dpar)(&lik, row, mi, vi, dp);
        scatter(d1i, n, i, C, d1), scatter(d2i, n, i, C, d2);
        if (i % SG_BETWEEN_TICKS == 0) sg_tick(&sg_r_workspace);
    }
    UNPROTECT(1);
    return out;
}

/* quadrature: by quadrature in any case, and then with the spread of E(y|f); one latent function
 * only. */
SEXP sg_r_lik_predict(SEXP spec, SEXP theta, SEXP mu, SEXP s2, SEXP quadrature)
{
    const char *fields[] = {"mean", "var", "spread", ""};
    const sg_lik lik = sg_lik_of(spec, theta);
    const int C = lik.C, n = rows_for(&lik, mu);
    const int quad = Rf_asLogical(quadrature) && C == 1 && !lik.type->classes;
    const double *m = REAL(mu), *v = sg_doubles_of(s2, (size_t) n * C, "s2");
    double mi[SG_LIK_MAX_CLASSES], vi[SG_LIK_MAX_CLASSES];
    double mean_i[SG_LIK_MAX_CLASSES], var_i[SG_LIK_MAX_CLASSES];
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *mean = sg_new_latents(out, 0, n, C), *var = sg_new_latents(out, 1, n, C);
    double *spread = sg_new_vector(out, 2, quad ? n : 0);
    for (int i = 0; i < n; i++) {
        gather(m, n, i, C, mi), gather(v, n, i, C, vi);
        if (quad) sg_lik_predict_quad(&lik, mi, vi, mean_i, var_i, spread + i);
        else sg_lik_predict(&lik, mi, vi, mean_i, var_i);
        scatter(mean_i, n, i, C, mean), scatter(var_i, n, i, C, var);
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
    const int C = lik.C, n = rows_for(&lik, f), with_y = !Rf_isNull(y);
    const double *u = REAL(f);
    const double *rows = with_y ? sg_doubles_of(y, (size_t) lik.type->q * n, "y") : NULL;
    double ui[SG_LIK_MAX_CLASSES], mean_i[SG_LIK_MAX_CLASSES], var_i[SG_LIK_MAX_CLASSES];
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *logp = sg_new_vector(out, 0, with_y ? n : 0);
    double *mean = sg_new_latents(out, 1, n, C), *var = sg_new_latents(out, 2, n, C);
    for (int i = 0; i < n; i++) {
        gather(u, n, i, C, ui);
        if (with_y) logp[i] = lik.type->logp(&lik, rows + (size_t) lik.type->q * i, ui);
        lik.type->moments(&lik, ui, mean_i, var_i);
        scatter(mean_i, n, i, C, mean), scatter(var_i, n, i, C, var);
    }
    UNPROTECT(1);
    return out;
}
