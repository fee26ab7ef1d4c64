/* glue_host.c: likelihoods that are R functions. The core asks for log p at points, and the
 * package's logps_of_custom() and slopes_of_custom() (lik-custom-hosted.R) call the user's one.
 * They jump where that does or integrals are lost, which is safe because the core owns nothing. */
#include "glue.h"
#include "la.h"

static SEXP matrix_of(int nrow, int ncol, const double *from)
{
    SEXP out = Rf_allocMatrix(REALSXP, nrow, ncol);
    sg_copy((size_t) nrow * ncol, from, REAL(out));
    return out;
}

/* Calls fun(custom, theta, rows, f), which returns `each` numbers for each of m points. */
static void call_r(const char *fun, void *self, const sg_lik *lik, int m, const double *y,
                   const double *f, int each, double *out)
{
    SEXP name = PROTECT(Rf_mkString("sparsegp")), home = PROTECT(R_FindNamespace(name));
    SEXP theta = PROTECT(matrix_of(lik->npar, 1, lik->theta));
    SEXP rows = PROTECT(matrix_of(sg_lik_q(lik), m, y)), at = PROTECT(matrix_of(m, lik->w, f));
    SEXP call = PROTECT(Rf_lang5(Rf_install(fun), (SEXP) self, theta, rows, at));
    SEXP answer = PROTECT(Rf_eval(call, home));
    sg_copy((size_t) each * m, sg_doubles_of(answer, (size_t) each * m, fun), out);
    UNPROTECT(7);
}

static void r_logps(void *self, const sg_lik *lik, int m, const double *y, const double *f,
                    double *out)
{
    call_r("logps_of_custom", self, lik, m, y, f, 1, out);
}

static void r_slopes(void *self, const sg_lik *lik, int m, const double *y, const double *f,
                     double *out)
{
    call_r("slopes_of_custom", self, lik, m, y, f, lik->npar, out);
}

/* Calls refuse_lost(error), which stops. */
static void r_lost(void *self, double error)
{
    SEXP name = PROTECT(Rf_mkString("sparsegp")), home = PROTECT(R_FindNamespace(name));
    SEXP number = PROTECT(Rf_ScalarReal(error));
    SEXP call = PROTECT(Rf_lang2(Rf_install("refuse_lost_integrals"), number));
    (void) self;
    Rf_eval(call, home);
    UNPROTECT(4);
}

/* custom is reached from the arguments of the entry, so R keeps it as long as the call lasts. */
const sg_lik_host *sg_lik_host_of(SEXP custom)
{
    sg_lik_host *host = sg_structs(1, sizeof(sg_lik_host), &sg_r_workspace);
    host->self = custom;
    host->ws = &sg_r_workspace;
    host->logps = r_logps, host->slopes = r_slopes, host->lost = r_lost;
    return host;
}
