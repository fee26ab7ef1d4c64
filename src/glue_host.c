/* glue_host.c: likelihoods that are R functions. The core calls r_tilts(), and that the package's
 * tilts_of_custom() (lik-custom-tilts.R), which does the quadrature for all rows at once. It jumps
 * where the user's function does, which is safe because the core owns nothing. */
#include <string.h>
#include "glue.h"
#include "la.h"

static SEXP matrix_of(int nrow, int ncol, const double *from)
{
    SEXP out = Rf_allocMatrix(REALSXP, nrow, ncol);
    sg_copy((size_t) nrow * ncol, from, REAL(out));
    return out;
}

/* The answer is a matrix with a row for each of log Z, d1, d2 and the hyperparameters. */
static void spread_answer(const double *answer, int n, int npar, double *logz, double *d1,
                          double *d2, double *dpar)
{
    const int size = 3 + (dpar ? npar : 0);
    for (int i = 0; i < n; i++) {
        const double *own = answer + (size_t) size * i;
        logz[i] = own[0], d1[i] = own[1], d2[i] = own[2];
        if (dpar) sg_copy(npar, own + 3, dpar + (size_t) npar * i);
    }
}

static void r_tilts(void *self, const sg_lik *lik, int n, const double *y, const double *mu,
                    const double *s2, double *logz, double *d1, double *d2, double *dpar)
{
    const size_t size = 3 + (dpar ? lik->npar : 0);
    SEXP name = PROTECT(Rf_mkString("sparsegp")), home = PROTECT(R_FindNamespace(name));
    SEXP theta = PROTECT(matrix_of(lik->npar, 1, lik->theta));
    SEXP rows = PROTECT(matrix_of(sg_lik_q(lik), n, y));
    SEXP mean = PROTECT(matrix_of(n, 1, mu)), var = PROTECT(matrix_of(n, 1, s2));
    SEXP slopes = PROTECT(Rf_ScalarLogical(dpar != NULL));
    SEXP power = PROTECT(Rf_ScalarReal(lik->power));
    SEXP rest = PROTECT(Rf_cons(theta, Rf_list5(rows, mean, var, slopes, power)));
    SEXP call = PROTECT(Rf_lcons(Rf_install("tilts_of_custom"), Rf_cons((SEXP) self, rest)));
    SEXP answer = PROTECT(Rf_eval(call, home));
    spread_answer(sg_doubles_of(answer, size * n, "tilts"), n, lik->npar, logz, d1, d2, dpar);
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
