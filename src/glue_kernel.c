/* glue_kernel.c: kernels one at a time, at points that R gives: how R and tests see a kernel. */
#include "glue.h"

/* A kernel and the points x and z that its matrix is of; z without values: of x with itself. */
typedef struct {
    const sg_kernel *kernel;
    sg_matrix x, z;
} pair;

/* derived: may a point of x be of a field that is derived from the components? */
static pair pair_of(SEXP spec, SEXP theta, SEXP x, SEXP z, int derived)
{
    const int D = sg_matrix_of(x, "x").ncol;
    pair out = {.kernel = sg_kernel_of(spec, theta, D)};
    out.x = out.z = sg_points_of(x, out.kernel, D, derived, "x");
    if (Rf_isNull(z)) out.z.values = NULL;
    else out.z = sg_points_of(z, out.kernel, D, derived, "basis");
    return out;
}

SEXP sg_r_kernel_cross(SEXP spec, SEXP theta, SEXP x, SEXP z)
{
    const pair p = pair_of(spec, theta, x, z, 1);
    SEXP K = PROTECT(Rf_allocMatrix(REALSXP, p.x.nrow, p.z.nrow));
    sg_kernel_cross(p.kernel, p.x.nrow, p.x.values, p.z.nrow, p.z.values, REAL(K),
                    &sg_r_workspace);
    UNPROTECT(1);
    return K;
}

/* Columns `which` (from 1) of the matrix of the prepared rows of x that kept[] leaves. */
SEXP sg_r_kernel_columns(SEXP spec, SEXP theta, SEXP x, SEXP kept, SEXP which)
{
    const pair p = pair_of(spec, theta, x, R_NilValue, 0);
    const int *keep = sg_whole_of(kept, p.x.nrow, 0, 1, "kept"), m = Rf_length(which);
    sg_points points = sg_kernel_prepare(p.kernel, p.x.nrow, p.x.values, NULL, &sg_r_workspace);
    sg_points_keep(&points, keep);
    const int *numbers = sg_whole_of(which, m, 1, points.n, "which");
    int *row = sg_ints(m, &sg_r_workspace);
    for (int j = 0; j < m; j++) row[j] = numbers[j] - 1;
    SEXP K = PROTECT(Rf_allocMatrix(REALSXP, points.n, m));
    sg_kernel_columns(p.kernel, &points, m, row, REAL(K), &sg_r_workspace);
    UNPROTECT(1);
    return K;
}

SEXP sg_r_kernel_diag(SEXP spec, SEXP theta, SEXP x)
{
    const pair p = pair_of(spec, theta, x, R_NilValue, 1);
    SEXP k = PROTECT(Rf_allocVector(REALSXP, p.x.nrow));
    sg_kernel_diag(p.kernel, p.x.nrow, p.x.values, REAL(k), &sg_r_workspace);
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
    const pair p = pair_of(spec, theta, x, z, 0);
    const int n = p.x.nrow, m = p.z.nrow;
    const size_t size = (size_t) n * m;
    const double *weights = sg_doubles_of(Kbar, size, "Kbar");
    SEXP dtheta = PROTECT(zeros(XLENGTH(theta)));
    double *K = sg_doubles(&sg_r_workspace, size);
    sg_kernel_cross(p.kernel, n, p.x.values, m, p.z.values, K, &sg_r_workspace);
    sg_kernel_adjoint(p.kernel, n, p.x.values, m, p.z.values, K, weights, REAL(dtheta),
                      &sg_r_workspace);
    UNPROTECT(1);
    return dtheta;
}

SEXP sg_r_kernel_adjoint_diag(SEXP spec, SEXP theta, SEXP x, SEXP kbar)
{
    const pair p = pair_of(spec, theta, x, R_NilValue, 0);
    const double *weights = sg_doubles_of(kbar, p.x.nrow, "kbar");
    SEXP dtheta = PROTECT(zeros(XLENGTH(theta)));
    sg_kernel_adjoint_diag(p.kernel, p.x.nrow, p.x.values, weights, REAL(dtheta),
                           &sg_r_workspace);
    UNPROTECT(1);
    return dtheta;
}

/* The matrix and its derivatives along directions: v of x, w of z; w NULL: along v alone. */
SEXP sg_r_kernel_jet(SEXP spec, SEXP theta, SEXP x, SEXP v, SEXP z, SEXP w)
{
    const char *fields[] = {"K", "dx", "dz", "dxdz", ""};
    const pair p = pair_of(spec, theta, x, z, 1);
    const int n = p.x.nrow, m = p.z.nrow, D = p.x.ncol, mixed = !Rf_isNull(w);
    const double *along = sg_matrix_with(v, n, D, "v").values;
    const double *other = mixed ? sg_matrix_with(w, m, D, "w").values : NULL;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    const sg_jet jet = {sg_new_matrix(out, 0, n, m), sg_new_matrix(out, 1, n, m),
                        mixed ? sg_new_matrix(out, 2, n, m) : NULL,
                        mixed ? sg_new_matrix(out, 3, n, m) : NULL};
    sg_kernel_jet(p.kernel, n, p.x.values, along, m, p.z.values, other, &jet, &sg_r_workspace);
    UNPROTECT(1);
    return out;
}

/* The gradient in the points z of a function of K with derivatives Kbar, m x D, x held. */
SEXP sg_r_kernel_adjoint_inputs(SEXP spec, SEXP theta, SEXP x, SEXP z, SEXP Kbar)
{
    const pair p = pair_of(spec, theta, x, z, 0);
    const int n = p.x.nrow, m = p.z.nrow, D = p.z.ncol;
    const double *weights = sg_doubles_of(Kbar, (size_t) n * m, "Kbar");
    SEXP dz = PROTECT(Rf_allocMatrix(REALSXP, m, D));
    sg_zero((size_t) m * D, REAL(dz));
    sg_kernel_adjoint_inputs(p.kernel, n, p.x.values, m, p.z.values, weights, REAL(dz),
                             &sg_r_workspace);
    UNPROTECT(1);
    return dz;
}
