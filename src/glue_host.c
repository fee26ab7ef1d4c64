/* glue_host.c: likelihoods that are R functions. The core calls r_tilts(), and that the package's
 * tilts_of_custom() (lik-custom-hosted.R), which does the quadrature for all rows at once. It jumps
 * where the user's function does, which is safe because the core owns nothing. */
#include "glue.h"
#include "la.h"

static SEXP matrix_of(int nrow, int ncol, const double *from)
{
    SEXP out = Rf_allocMatrix(REALSXP, nrow, ncol);
    sg_copy((size_t) nrow * ncol, from, REAL(out));
    return out;
}

/* Copies `count` numbers of each of n columns, from row `at` on. */
static void take_rows(const double *answer, int size, int n, int at, int count, double *out)
{
    for (int i = 0; i < n; i++) sg_copy(count, answer + at + (size_t) size * i,
                                        out + (size_t) count * i);
}

/* Calls tilts_of_custom(custom, theta, rows, mean, var, slopes, power), whose answer has a row for
 * each number of log Z, d1, d2 and, if slopes are asked for, of the hyperparameters. */
static void r_tilts(void *self, const sg_lik *lik, int n, const double *y, const double *mu,
                    const double *S, double *logz, double *d1, double *d2, double *dpar)
{
    const int w = lik->w, size = 1 + w + w * w + (dpar ? lik->npar : 0);
    SEXP name = PROTECT(Rf_mkString("sparsegp")), home = PROTECT(R_FindNamespace(name));
    SEXP theta = PROTECT(matrix_of(lik->npar, 1, lik->theta));
    SEXP rows = PROTECT(matrix_of(sg_lik_q(lik), n, y));
    SEXP mean = PROTECT(matrix_of(w * n, 1, mu)), var = PROTECT(matrix_of(w * w * n, 1, S));
    SEXP slopes = PROTECT(Rf_ScalarLogical(dpar != NULL));
    SEXP power = PROTECT(Rf_ScalarReal(lik->power));
    SEXP rest = PROTECT(Rf_cons(theta, Rf_list5(rows, mean, var, slopes, power)));
    SEXP fun = Rf_install("tilts_of_custom"); /* a symbol needs no protection */
    SEXP call = PROTECT(Rf_lcons(fun, Rf_cons((SEXP) self, rest)));
    SEXP answer = PROTECT(Rf_eval(call, home));
    const double *values = sg_doubles_of(answer, (size_t) size * n, "tilts");
    take_rows(values, size, n, 0, 1, logz);
    take_rows(values, size, n, 1, w, d1);
    take_rows(values, size, n, 1 + w, w * w, d2);
    if (dpar) take_rows(values, size, n, 1 + w + w * w, lik->npar, dpar);
    UNPROTECT(11);
}

/* custom is reached from the arguments of the entry, so R keeps it as long as the call lasts. */
const sg_lik_host *sg_lik_host_of(SEXP custom)
{
    sg_lik_host *host = sg_structs(1, sizeof(sg_lik_host), &sg_r_workspace);
    host->self = custom;
    host->tilts = r_tilts;
    return host;
}
