/* glue_kernel.c: kernels one at a time, at points that R gives: how R and tests see a kernel. */
#include "glue.h"

/* The points x are paired with; NULL: with each other. */
static const double *others(SEXP x, SEXP z, int *m)
{
    *m = sg_rows_of(Rf_isNull(z) ? x : z);
    return Rf_isNull(z) ? NULL : REAL(z);
}

SEXP sg_r_kernel_cross(SEXP spec, SEXP theta, SEXP x, SEXP z)
{
    const sg_kernel *kernel = sg_kernel_of(spec, theta);
    int m;
    const double *other = others(x, z, &m);
    const int n = sg_rows_of(x);
    SEXP K = PROTECT(Rf_allocMatrix(REALSXP, n, m));
    sg_kernel_cross(kernel, n, REAL(x), m, other, REAL(K), &sg_r_workspace);
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
    sg_zero(n, REAL(out));
    return out;
}

SEXP sg_r_kernel_adjoint(SEXP spec, SEXP theta, SEXP x, SEXP z, SEXP Kbar)
{
    const sg_kernel *kernel = sg_kernel_of(spec, theta);
    int m;
    const double *other = others(x, z, &m);
    const int n = sg_rows_of(x);
    const size_t size = (size_t) n * m;
    SEXP dtheta = PROTECT(zeros(XLENGTH(theta)));
    double *K = sg_doubles(&sg_r_workspace, size);
    sg_kernel_cross(kernel, n, REAL(x), m, other, K, &sg_r_workspace);
    sg_kernel_adjoint(kernel, n, REAL(x), m, other, K, sg_doubles_of(Kbar, size, "Kbar"),
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

/* The matrix and its derivatives along directions: v of x, w of z; w NULL: along v alone. */
SEXP sg_r_kernel_jet(SEXP spec, SEXP theta, SEXP x, SEXP v, SEXP z, SEXP w)
{
    const char *fields[] = {"K", "dx", "dz", "dxdz", ""};
    const sg_kernel *kernel = sg_kernel_of(spec, theta);
    const int n = sg_rows_of(x), m = sg_rows_of(z), mixed = !Rf_isNull(w);
    const double *along = sg_doubles_of(v, (size_t) n * sg_cols_of(x), "v");
    const double *other = mixed ? sg_doubles_of(w, (size_t) m * sg_cols_of(z), "w") : NULL;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    const sg_jet jet = {sg_new_matrix(out, 0, n, m), sg_new_matrix(out, 1, n, m),
                        mixed ? sg_new_matrix(out, 2, n, m) : NULL,
                        mixed ? sg_new_matrix(out, 3, n, m) : NULL};
    sg_kernel_jet(kernel, n, REAL(x), along, m, REAL(z), other, &jet, &sg_r_workspace);
    UNPROTECT(1);
    return out;
}

/* The gradient in the points z of a function of K with derivatives Kbar, m x D, x held. */
SEXP sg_r_kernel_adjoint_inputs(SEXP spec, SEXP theta, SEXP x, SEXP z, SEXP Kbar)
{
    const sg_kernel *kernel = sg_kernel_of(spec, theta);
    const int n = sg_rows_of(x), m = sg_rows_of(z), D = sg_cols_of(z);
    const double *weights = sg_doubles_of(Kbar, (size_t) n * m, "Kbar");
    SEXP dz = PROTECT(Rf_allocMatrix(REALSXP, m, D));
    sg_zero((size_t) m * D, REAL(dz));
    sg_kernel_adjoint_inputs(kernel, n, REAL(x), m, REAL(z), weights, REAL(dz), &sg_r_workspace);
    UNPROTECT(1);
    return dz;
}
