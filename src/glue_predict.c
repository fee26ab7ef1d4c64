/* glue_predict.c: latent moments at new inputs from a stored posterior. */
#include "glue.h"

static const double *optional_factor(SEXP posterior, const char *name, int d)
{
    SEXP factor = sg_field(posterior, name);
    return Rf_isNull(factor) ? NULL : sg_doubles_of(factor, (size_t) d * d, name);
}

/* posterior: list(basis, alpha, G, H). joint: the full covariance instead of variances. */
SEXP sg_r_predict(SEXP kernel, SEXP ktheta, SEXP posterior, SEXP x, SEXP joint)
{
    const char *fields[] = {"mean", "var", ""};
    SEXP basis = sg_field(posterior, "basis");
    const int d = sg_rows_of(basis), n = sg_rows_of(x), D = sg_cols_of(x);
    const sg_posterior post = {sg_kernel_of(kernel, ktheta), d, REAL(basis),
                               sg_doubles_of(sg_field(posterior, "alpha"), d, "alpha"),
                               optional_factor(posterior, "G", d),
                               optional_factor(posterior, "H", d)};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *mean = sg_new_vector(out, 0, n);
    if (Rf_asLogical(joint)) {
        sg_posterior_joint(&post, n, REAL(x), mean, sg_new_matrix(out, 1, n, n), &sg_r_workspace);
    } else {
        sg_posterior_predict(&post, n, D, REAL(x), mean, sg_new_vector(out, 1, n),
                             &sg_r_workspace);
    }
    UNPROTECT(1);
    return out;
}
