/* glue_block.c: the algebra of w x w blocks (block.h), for tests alone. */
#include "block.h"
#include "glue.h"

enum { ROOT, VALUES, VECTORS, SITE, CAVITY, NARROW, KL, CLIP, SOFTEN, NORM, SIZE };

static double *copy_of(SEXP block, SEXP list, int at, int w)
{
    double *out = sg_new_matrix(list, at, w, w);
    sg_copy((size_t) w * w, sg_doubles_of(block, (size_t) w * w, "block"), out);
    return out;
}

/* list(T, nu) of the tilt (d1, d2), NULL where it has no site */
static SEXP site(int w, const double *mu, const double *S, const double *d1, const double *d2)
{
    const char *fields[] = {"T", "nu", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *T = sg_new_matrix(out, 0, w, w), *nu = sg_new_vector(out, 1, w);
    const int valid = sg_block_site(w, mu, S, d1, d2, T, nu);
    UNPROTECT(1);
    return valid ? out : R_NilValue;
}

/* list(mean, cov, log_det) without the site (T, nu), NULL where there is no cavity */
static SEXP cavity(int w, const double *m, const double *S, const double *T, const double *nu)
{
    const char *fields[] = {"mean", "cov", "log_det", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *mean = sg_new_vector(out, 0, w), *cov = sg_new_matrix(out, 1, w, w);
    const int valid = sg_block_cavity(w, m, S, T, nu, mean, cov, sg_new_vector(out, 2, 1));
    UNPROTECT(1);
    return valid ? out : R_NilValue;
}

/* list(T, nu) of the site (T, nu) on u + m + N(0, S), as one on u */
static SEXP soften(int w, SEXP T, SEXP nu, const double *m, const double *S)
{
    const char *fields[] = {"T", "nu", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *soft = copy_of(T, out, 0, w), *shift = sg_new_vector(out, 1, w);
    sg_copy(w, sg_doubles_of(nu, w, "nu"), shift);
    sg_block_soften(w, m, S, soft, shift);
    UNPROTECT(1);
    return out;
}

/* S[w x w]: a covariance; B[w x w]: d2 or T; a[w]: d1 or nu; m[w]: a mean. */
SEXP sg_r_block(SEXP S, SEXP B, SEXP a, SEXP m)
{
    const char *fields[] = {"root", "values", "vectors", "site", "cavity", "narrow", "kl", "clip",
                            "soften", "norm", "size", ""};
    const int w = Rf_length(m);
    if (w < 1 || w > SG_BLOCK_MAX) sg_stop_damaged("it has blocks of width %d", w);
    const size_t size = (size_t) w * w;
    const double *s = sg_doubles_of(S, size, "S"), *b = sg_doubles_of(B, size, "B");
    const double *v = sg_doubles_of(a, w, "a"), *mean = sg_doubles_of(m, w, "m");
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    sg_block_root(w, s, sg_new_matrix(out, ROOT, w, w));
    double *values = sg_new_vector(out, VALUES, w);
    sg_block_eigen(w, b, sg_new_matrix(out, VECTORS, w, w), values);
    SET_VECTOR_ELT(out, SITE, site(w, mean, s, v, b));
    SET_VECTOR_ELT(out, CAVITY, cavity(w, mean, s, b, v));
    sg_block_clip_tilt(w, s, copy_of(B, out, NARROW, w));
    sg_block_step_kl(w, s, v, b, sg_new_vector(out, KL, 2));
    sg_block_clip(w, copy_of(B, out, CLIP, w));
    SET_VECTOR_ELT(out, SOFTEN, soften(w, B, a, mean, s));
    sg_new_vector(out, NORM, 1)[0] = sg_block_norm(w, s, v);
    sg_new_vector(out, SIZE, 1)[0] = sg_block_size(w, s, b);
    UNPROTECT(1);
    return out;
}
