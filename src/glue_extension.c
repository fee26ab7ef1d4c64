/* glue_extension.c: likelihoods and kernels that other packages have registered
 * (inst/include/sparsegp.h). They are found by the names of the package and of what it registered,
 * anew with every call: nothing of them is kept. */
#include <R_ext/Rdynload.h>
#include "glue.h"
#include "sparsegp.h"

/* Begins both structs. */
typedef struct {
    int version, what;
} head;

typedef const void *(*getter)(void);

/* Has R load the package: load_extension() (util-extension.R) stops where it cannot. */
static void load(SEXP extension)
{
    SEXP name = PROTECT(Rf_mkString("sparsegp")), home = PROTECT(R_FindNamespace(name));
    SEXP call = PROTECT(Rf_lang2(Rf_install("load_extension"), extension));
    Rf_eval(call, home);
    UNPROTECT(3);
}

/* extension: the names of the package and of what it registered. Returns the struct. */
static const void *registered(SEXP extension)
{
    load(extension);
    const char *package = CHAR(STRING_ELT(extension, 0)), *name = CHAR(STRING_ELT(extension, 1));
    const getter get = (getter) R_GetCCallable(package, name);
    return get();
}

/* The same, of this version and of the kind that is wanted. R has checked both when the value was
 * made, but the package may have been installed anew since. */
static const void *struct_of(SEXP extension, int what)
{
    const head *found = registered(extension);
    if (found->version != SPARSEGP_VERSION || found->what != what) {
        Rf_error("`package` %s was built for another version of sparsegp.\n"
                 "Install it again, so that it is built for this one.",
                 CHAR(STRING_ELT(extension, 0)));
    }
    return found;
}

const sg_kernel_type *sg_extension_kernel(SEXP extension)
{
    const sparsegp_kernel *given = struct_of(extension, SPARSEGP_KERNEL);
    sg_radial *radial = sg_structs(1, sizeof(sg_radial), &sg_r_workspace);
    sg_kernel_type *type = sg_structs(1, sizeof(sg_kernel_type), &sg_r_workspace);
    *radial = (sg_radial) {.value = given->value, .slope = given->slope, .dshape = given->dshape};
    *type = sg_stationary_type(radial);
    return type;
}

/* ---- Likelihoods: the core's slots, each of which calls the package's ---- */

static const sparsegp_likelihood *given_of(const sg_lik *self)
{
    return self->type->family;
}

static double ext_logp(const sg_lik *self, const double *y, const double *f)
{
    double out;
    given_of(self)->logp(self->theta, *y, 1, f, &out);
    return out;
}

static void ext_logps(const sg_lik *self, const double *y, int n, const double *f, double *out)
{
    given_of(self)->logp(self->theta, *y, n, f, out);
}

static void ext_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    given_of(self)->moments(self->theta, *f, mean, var);
}

static void ext_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    given_of(self)->locate(self->theta, y, centre, width);
}

static void ext_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    given_of(self)->slopes(self->theta, *y, f, out);
}

static void ext_tails(const sg_lik *self, const double *y, const double *mu, const double *S,
                      double *out)
{
    given_of(self)->tails(self->theta, *y, *mu, *S, out);
}

static void ext_tilt(const sg_lik *self, const double *y, const double *mu, const double *S,
                     sg_tilt *out)
{
    double all[3];
    given_of(self)->tilt(self->theta, *y, *mu, *S, all);
    out->logz = all[0], *out->d1 = all[1], *out->d2 = all[2];
}

static void ext_tilt_dpar(const sg_lik *self, const double *y, const double *mu, const double *S,
                          double *dpar)
{
    given_of(self)->tilt_dpar(self->theta, *y, *mu, *S, dpar);
}

static void ext_predict(const sg_lik *self, const double *mu, const double *S, double *mean,
                        double *var)
{
    given_of(self)->predict(self->theta, *mu, *S, mean, var);
}

/* support: which numbers responses may be, as R has it of their kind */
const sg_lik_type *sg_extension_lik(SEXP extension, int support)
{
    const sparsegp_likelihood *given = struct_of(extension, SPARSEGP_LIKELIHOOD);
    sg_lik_type *type = sg_structs(1, sizeof(sg_lik_type), &sg_r_workspace);
    *type = (sg_lik_type) {
        .name = "extension", .q = 1, .npar = given->npar, .width = 1, .kinked = given->kinked,
        .concave = given->concave, .logp = ext_logp, .logps = ext_logps, .moments = ext_moments,
        .locate = ext_locate, .slopes = given->slopes ? ext_slopes : NULL,
        .tails = given->tails ? ext_tails : NULL, .tilt = given->tilt ? ext_tilt : NULL,
        .tilt_dpar = given->tilt_dpar ? ext_tilt_dpar : NULL,
        .predict = given->predict ? ext_predict : NULL, .support = (sg_support) support,
        .family = given
    };
    return type;
}

/* Returns what R has to know: version, what it is, npar of a likelihood or whether a kernel has a
 * shape, whether a likelihood has quantiles, and whether it has what is required. */
SEXP sg_r_extension(SEXP extension)
{
    enum { VERSION, WHAT, COUNT, ORDERED, WHOLE, FIELDS };
    const head *found = registered(extension);
    SEXP out = PROTECT(Rf_allocVector(INTSXP, FIELDS));
    int *fact = INTEGER(out);
    for (int k = 0; k < FIELDS; k++) fact[k] = 0;
    fact[VERSION] = found->version == SPARSEGP_VERSION;
    fact[WHAT] = found->what;
    if (fact[VERSION] && found->what == SPARSEGP_KERNEL) {
        const sparsegp_kernel *kernel = registered(extension);
        fact[COUNT] = kernel->dshape != NULL;
        fact[WHOLE] = kernel->value && kernel->slope;
    }
    if (fact[VERSION] && found->what == SPARSEGP_LIKELIHOOD) {
        const sparsegp_likelihood *lik = registered(extension);
        fact[COUNT] = lik->npar;
        fact[ORDERED] = lik->tails != NULL;
        fact[WHOLE] = lik->logp && lik->moments && lik->locate && (lik->slopes || !lik->kinked);
    }
    UNPROTECT(1);
    return out;
}
