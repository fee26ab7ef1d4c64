/* glue_custom.c: kernels that are R functions. The core calls what is below, and that calls
 * evaluate_kernel() of the package (kernel-custom.R), which checks the answer's shape and turns
 * R's errors into those of the package: they jump, which is safe because the core owns nothing. */
#include "glue.h"

/* Carries what a host's functions are called with: the part of the specification that has the
 * function. */
typedef struct {
    SEXP custom;
    int ntheta;
} r_kernel;

/* A vector of R's own. */
static SEXP vector_of(size_t n, const double *from)
{
    SEXP out = Rf_allocVector(REALSXP, (R_xlen_t) n);
    sg_copy(n, from, REAL(out));
    return out;
}

/* Points as R has them, a row each. */
static SEXP rows_of(int p, int n, const double *u)
{
    SEXP out = Rf_allocMatrix(REALSXP, n, p);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < p; k++) REAL(out)[i + (size_t) n * k] = u[k + (size_t) p * i];
    }
    return out;
}

/* Calls evaluate_kernel(custom, what, theta, x, z, Kbar) and copies its `size` numbers. Pairs: v
 * is NULL for what is of points with themselves; Kbar[weights] is NULL for values. */
static void evaluate(const r_kernel *own, const char *what, const double *theta, int p, int n,
                     const double *u, int m, const double *v, size_t weights, const double *Kbar,
                     size_t size, double *out)
{
    SEXP name = PROTECT(Rf_mkString("sparsegp")), home = PROTECT(R_FindNamespace(name));
    SEXP kind = PROTECT(Rf_mkString(what)), at = PROTECT(vector_of(own->ntheta, theta));
    SEXP x = PROTECT(rows_of(p, n, u));
    SEXP z = PROTECT(v ? rows_of(p, m, v) : R_NilValue);
    SEXP bar = PROTECT(Kbar ? vector_of(weights, Kbar) : R_NilValue);
    SEXP rest = PROTECT(Rf_list4(at, x, z, bar));
    SEXP fun = Rf_install("evaluate_kernel"); /* a symbol needs no protection */
    SEXP call = PROTECT(Rf_lcons(fun, Rf_cons(own->custom, Rf_cons(kind, rest))));
    SEXP values = PROTECT(Rf_eval(call, home));
    sg_copy(size, sg_doubles_of(values, size, what), out);
    UNPROTECT(10);
}

static void r_cross(void *self, const double *theta, int p, int n, const double *u, int m,
                    const double *v, double *K)
{
    evaluate(self, "cross", theta, p, n, u, m, v, 0, NULL, (size_t) n * m, K);
}

static void r_diag(void *self, const double *theta, int p, int n, const double *u, double *k)
{
    evaluate(self, "diag", theta, p, n, u, 0, NULL, 0, NULL, n, k);
}

static void r_adjoint(void *self, const double *theta, int p, int n, const double *u, int m,
                      const double *v, const double *Kbar, double *slope)
{
    const r_kernel *own = self;
    evaluate(own, "adjoint", theta, p, n, u, m, v, (size_t) n * m, Kbar, own->ntheta, slope);
}

static void r_adjoint_diag(void *self, const double *theta, int p, int n, const double *u,
                           const double *kbar, double *slope)
{
    const r_kernel *own = self;
    evaluate(own, "adjoint", theta, p, n, u, 0, NULL, n, kbar, own->ntheta, slope);
}

/* custom: list(fun, names, ...), see kernel-custom.R. It is reached from the arguments of the
 * entry, so R keeps it as long as the call lasts. */
const sg_kernel_host *sg_kernel_host_of(SEXP custom)
{
    r_kernel *own = sg_structs(1, sizeof(r_kernel), &sg_r_workspace);
    sg_kernel_host *host = sg_structs(1, sizeof(sg_kernel_host), &sg_r_workspace);
    own->custom = custom;
    own->ntheta = Rf_length(sg_field(custom, "names"));
    *host = (sg_kernel_host) {own, own->ntheta, r_cross, r_diag, r_adjoint, r_adjoint_diag};
    return host;
}
