/* glue_predict.c: latent moments at new inputs from a stored posterior. */
#include <limits.h>
#include "glue.h"
#include "slopes.h"

/* Returns matrices of which the upper triangles stand one after the other, column by column. */
static const double *unpacked(const double *triangles, int d, int count)
{
    double *full = (double *) R_alloc((size_t) d * d * count, sizeof(double));
    for (size_t column = 0; column < (size_t) d * count; column++) {
        const int own = (int) (column % d) + 1;
        for (int i = 0; i < d; i++) full[column * d + i] = i < own ? triangles[i] : 0;
        triangles += own;
    }
    return full;
}

/* A factor, or one for each class; *count says how many. Without dimensions: upper triangles. */
static const double *optional_factor(SEXP posterior, const char *name, int d, int *count)
{
    SEXP factor = sg_field(posterior, name);
    *count = 1;
    if (Rf_isNull(factor)) return NULL;
    sg_numbers_of(factor, name);
    const int packed = Rf_isNull(Rf_getAttrib(factor, R_DimSymbol));
    const size_t each = packed ? (size_t) d * (d + 1) / 2 : (size_t) d * d;
    if (d > 0) *count = (int) (XLENGTH(factor) / each);
    const double *values = sg_doubles_of(factor, each * *count, name);
    return packed ? unpacked(values, d, *count) : values;
}

/* trend: NULL, or list(coef, J, root, phi), the last at the points to be predicted. */
static sg_posterior_trend trend_of(SEXP trend, int d, int n, int C)
{
    if (Rf_isNull(trend)) return (sg_posterior_trend) {0};
    const sg_matrix phi = sg_matrix_with(sg_field(trend, "phi"), n, -1, "phi");
    const size_t q = phi.ncol;
    return (sg_posterior_trend) {
        (int) q, phi.values, sg_doubles_of(sg_field(trend, "coef"), q * C, "coef"),
        sg_doubles_of(sg_field(trend, "J"), d * q * C, "J"),
        sg_doubles_of(sg_field(trend, "root"), q * q * C, "root")
    };
}

/* Reads list(basis, alpha, G, H, trend): alpha d numbers for each of C processes, G and H one
 * factor or C each, or NULL. points: of which the trend has functions. */
static sg_posterior posterior_of(SEXP kernel, SEXP ktheta, SEXP layout, SEXP posterior, int points)
{
    SEXP given = sg_field(posterior, "basis");
    const int D = sg_matrix_of(given, "basis").ncol;
    const sg_kernel *kern = sg_kernel_of(kernel, ktheta, D);
    const sg_matrix basis = sg_points_of(given, kern, D, 0, "basis");
    const int C = sg_field_int(layout, "processes", 1, SG_LIK_MAX_CLASSES), d = basis.nrow;
    const int w = sg_field_int(layout, "width", 1, SG_LIK_MAX_WIDTH);
    const double *alpha = sg_doubles_of(sg_field(posterior, "alpha"), (size_t) d * C, "alpha");
    int nG, nH;
    const double *G = optional_factor(posterior, "G", d, &nG);
    const double *H = optional_factor(posterior, "H", d, &nH);
    if (d > 0 && ((nG != 1 && nG != C) || (nH != 1 && nH != C))) {
        sg_stop_damaged("its `G` and `H` are of %d and %d functions, and not %d", nG, nH, C);
    }
    return (sg_posterior) {kern, d, basis.values, C, alpha, w, nG == 1, nH == 1, G, H,
                           trend_of(sg_field(posterior, "trend"), d, points, C)};
}

/* Points to be predicted: those of whole rows and, jointly, of one process. */
static sg_matrix targets_of(const sg_posterior *post, SEXP x, SEXP posterior, int joint)
{
    const int D = sg_matrix_of(sg_field(posterior, "basis"), "basis").ncol;
    const sg_matrix out = sg_points_of(x, post->kernel, D, 1, "x");
    if (out.nrow % post->w != 0) sg_stop_damaged("its `x` is not of whole rows");
    if (joint && post->C != 1) sg_stop_damaged("it has %d functions, and not one", post->C);
    return out;
}

/* layout: processes and width, as sg_layout has them. The answers are a number for each point and
 * process, and a block for each row and process. joint: the full covariance of one process at all
 * points instead of blocks. */
SEXP sg_r_predict(SEXP kernel, SEXP ktheta, SEXP layout, SEXP posterior, SEXP x, SEXP joint)
{
    const char *fields[] = {"mean", "var", ""};
    const int n = sg_matrix_of(x, "x").nrow, all = sg_int_of(joint, 0, 1, "joint");
    const sg_posterior post = posterior_of(kernel, ktheta, layout, posterior, n);
    const sg_matrix at = targets_of(&post, x, posterior, all);
    const int C = post.C, w = post.w;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    if (all) {
        double *mean = sg_new_vector(out, 0, n);
        sg_posterior_joint(&post, n, at.values, mean, sg_new_matrix(out, 1, n, n),
                           &sg_r_workspace);
    } else {
        double *mean = sg_new_latents(out, 0, n, C);
        double *var = sg_new_latents(out, 1, (size_t) n * w, C);
        sg_posterior_predict(&post, n / w, at.ncol, at.values, mean, var, &sg_r_workspace);
    }
    UNPROTECT(1);
    return out;
}

/* The same of values and their derivatives along v, of the size of x: twice as many numbers for
 * each row, as slopes.h has them. */
SEXP sg_r_slopes(SEXP kernel, SEXP ktheta, SEXP layout, SEXP posterior, SEXP x, SEXP v, SEXP joint)
{
    const char *fields[] = {"mean", "var", ""};
    const int n = sg_matrix_of(x, "x").nrow, all = sg_int_of(joint, 0, 1, "joint");
    if (n > INT_MAX / 2) sg_stop_damaged("its `x` has more rows than slopes can be had at");
    const sg_posterior post = posterior_of(kernel, ktheta, layout, posterior, 2 * n);
    const sg_matrix at = targets_of(&post, x, posterior, all);
    const double *along = sg_matrix_with(v, n, at.ncol, "v").values;
    const size_t values = 2 * (size_t) n, numbers = 4 * (size_t) n * (all ? n : post.w);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *mean = sg_new_latents(out, 0, values, post.C);
    double *var = sg_new_latents(out, 1, numbers, post.C);
    if (all) sg_slopes_joint(&post, n, at.values, along, mean, var, &sg_r_workspace);
    else sg_slopes_rows(&post, n / post.w, at.ncol, at.values, along, mean, var, &sg_r_workspace);
    UNPROTECT(1);
    return out;
}

/* The upper triangles of square matrices side by side, column by column, a matrix of triangles; R's
 * NULL if there are numbers below a diagonal. */
SEXP sg_r_triangles(SEXP factors)
{
    const sg_matrix given = sg_matrix_of(factors, "factors");
    const int d = given.nrow, count = d ? given.ncol / d : 0;
    const double *from = given.values;
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, d * (d + 1) / 2, count));
    double *to = REAL(out);
    for (int k = 0; k < count * d; k++, from += d) {
        const int size = k % d + 1;
        for (int i = size; i < d; i++) {
            if (from[i] == 0) continue;
            UNPROTECT(1);
            return R_NilValue;
        }
        sg_copy(size, from, to);
        to += size;
    }
    UNPROTECT(1);
    return out;
}
