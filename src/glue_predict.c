/* glue_predict.c: latent moments at new inputs from a stored posterior. */
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
    const int packed = Rf_isNull(Rf_getAttrib(factor, R_DimSymbol));
    const size_t each = packed ? (size_t) d * (d + 1) / 2 : (size_t) d * d;
    *count = 1;
    if (Rf_isNull(factor)) return NULL;
    if (d > 0) *count = (int) (XLENGTH(factor) / each);
    const double *values = sg_doubles_of(factor, each * *count, name);
    return packed ? unpacked(values, d, *count) : values;
}

/* trend: NULL, or list(coef, J, root, phi), the last at the points to be predicted. */
static sg_posterior_trend trend_of(SEXP trend, int d, int n, int C)
{
    if (Rf_isNull(trend)) return (sg_posterior_trend) {0};
    const size_t q = sg_cols_of(sg_field(trend, "phi"));
    return (sg_posterior_trend) {
        (int) q, sg_doubles_of(sg_field(trend, "phi"), n * q, "phi"),
        sg_doubles_of(sg_field(trend, "coef"), q * C, "coef"),
        sg_doubles_of(sg_field(trend, "J"), d * q * C, "J"),
        sg_doubles_of(sg_field(trend, "root"), q * q * C, "root")
    };
}

/* Reads list(basis, alpha, G, H, trend): alpha d numbers for each of C processes, G and H one
 * factor or C each, or NULL. points: of which the trend has functions. */
static sg_posterior posterior_of(SEXP kernel, SEXP ktheta, SEXP layout, SEXP posterior, int points)
{
    SEXP basis = sg_field(posterior, "basis"), alpha = sg_field(posterior, "alpha");
    const int d = sg_rows_of(basis);
    const int C = sg_field_int(layout, "processes"), w = sg_field_int(layout, "width");
    int nG, nH;
    const double *G = optional_factor(posterior, "G", d, &nG);
    const double *H = optional_factor(posterior, "H", d, &nH);
    if (d > 0 && ((nG != 1 && nG != C) || (nH != 1 && nH != C))) {
        Rf_error("internal error: %d classes, but %d and %d factors", C, nG, nH);
    }
    return (sg_posterior) {sg_kernel_of(kernel, ktheta), d, REAL(basis), C,
                           sg_doubles_of(alpha, (size_t) d * C, "alpha"), w, nG == 1, nH == 1,
                           G, H, trend_of(sg_field(posterior, "trend"), d, points, C)};
}

/* Stops unless the points are those of whole rows and, jointly, of one process. */
static void check_points(const sg_posterior *post, int n, int joint)
{
    if (post->w < 1 || n % post->w != 0) {
        Rf_error("internal error: %d points in rows of %d", n, post->w);
    }
    if (joint && post->C != 1) {
        Rf_error("internal error: a joint covariance of %d classes", post->C);
    }
}

/* layout: processes and width, as sg_layout has them. The answers are a number for each point and
 * process, and a block for each row and process. joint: the full covariance of one process at all
 * points instead of blocks. */
SEXP sg_r_predict(SEXP kernel, SEXP ktheta, SEXP layout, SEXP posterior, SEXP x, SEXP joint)
{
    const char *fields[] = {"mean", "var", ""};
    const int n = sg_rows_of(x), D = sg_cols_of(x);
    const sg_posterior post = posterior_of(kernel, ktheta, layout, posterior, n);
    const int C = post.C, w = post.w;
    check_points(&post, n, Rf_asLogical(joint));
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    if (Rf_asLogical(joint)) {
        double *mean = sg_new_vector(out, 0, n);
        sg_posterior_joint(&post, n, REAL(x), mean, sg_new_matrix(out, 1, n, n), &sg_r_workspace);
    } else {
        double *mean = sg_new_latents(out, 0, n, C);
        double *var = sg_new_latents(out, 1, (size_t) n * w, C);
        sg_posterior_predict(&post, n / w, D, REAL(x), mean, var, &sg_r_workspace);
    }
    UNPROTECT(1);
    return out;
}

/* The same of values and their derivatives along v, of the size of x: twice as many numbers for
 * each row, as slopes.h has them. */
SEXP sg_r_slopes(SEXP kernel, SEXP ktheta, SEXP layout, SEXP posterior, SEXP x, SEXP v, SEXP joint)
{
    const char *fields[] = {"mean", "var", ""};
    const int n = sg_rows_of(x), D = sg_cols_of(x), all = Rf_asLogical(joint);
    const sg_posterior post = posterior_of(kernel, ktheta, layout, posterior, 2 * n);
    const double *along = sg_doubles_of(v, (size_t) n * D, "v");
    check_points(&post, n, all);
    const size_t values = 2 * (size_t) n, numbers = 4 * (size_t) n * (all ? n : post.w);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *mean = sg_new_latents(out, 0, values, post.C);
    double *var = sg_new_latents(out, 1, numbers, post.C);
    if (all) sg_slopes_joint(&post, n, REAL(x), along, mean, var, &sg_r_workspace);
    else sg_slopes_rows(&post, n / post.w, D, REAL(x), along, mean, var, &sg_r_workspace);
    UNPROTECT(1);
    return out;
}
