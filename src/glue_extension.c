/* glue_extension.c: likelihoods and kernels that other packages have registered
 * (inst/include/sparsegp.h). They are found by the names of the package and of what it registered,
 * anew with every call: nothing of them is kept. */
#include <stdio.h>
#include <R_ext/Rdynload.h>
#include "glue.h"
#include "sparsegp.h"

/* Begins both structs. */
typedef struct {
    unsigned long long magic;
    int version, what;
} head;

typedef const void *(*getter)(void);

/* Faults of what a package has registered, in the order of EXTENSION_FAULTS
 * (util-extension.R). */
typedef enum { SOUND, UNREGISTERED, FOREIGN, OTHER_VERSION, INCOMPLETE } fault;

/* Calls an R function of the package with `extension` and, unless it is NULL, another argument. */
static void ask_r(const char *function, SEXP extension, SEXP more)
{
    SEXP name = PROTECT(Rf_mkString("sparsegp")), home = PROTECT(R_FindNamespace(name));
    SEXP fun = Rf_install(function); /* a symbol needs no protection */
    SEXP call = PROTECT(more ? Rf_lang3(fun, extension, more) : Rf_lang2(fun, extension));
    Rf_eval(call, home);
    UNPROTECT(3);
}

/* A name that is looked for, and the function of that name. */
typedef struct {
    const char *package;
    char name[256];
    getter found;
} search;

static SEXP look(void *ctx)
{
    search *s = ctx;
    s->found = (getter) R_GetCCallable(s->package, s->name);
    return R_NilValue;
}

static SEXP not_found(SEXP condition, void *ctx)
{
    (void) condition;
    ((search *) ctx)->found = NULL;
    return R_NilValue;
}

/* Has what is required, of a kernel or a likelihood. */
static int is_complete(const head *found)
{
    if (found->what == SPARSEGP_KERNEL) {
        const sparsegp_kernel *kernel = (const sparsegp_kernel *) found;
        return kernel->value && kernel->slope;
    }
    const sparsegp_likelihood *lik = (const sparsegp_likelihood *) found;
    return lik->npar >= 0 && lik->npar <= SPARSEGP_MAX_PAR && lik->logp && lik->moments &&
        lik->locate && (lik->slopes || !lik->kinked);
}

static fault fault_of(const void *found, int what)
{
    const head *at = found;
    if (!at || at->magic != SPARSEGP_MAGIC) return FOREIGN;
    if (at->version != SPARSEGP_VERSION) return OTHER_VERSION;
    return at->what == what && is_complete(at) ? SOUND : INCOMPLETE;
}

/* Returns the struct that a package has registered, as `what`. Has R load the package, which stops
 * where it cannot or may not (util-extension.R); nothing is called whose name is without the
 * prefix, which no other function has. The package may have been installed anew since the last
 * call, so all is checked again. extension: the names of the package and of what it registered. */
static const void *registered(SEXP extension, int what)
{
    ask_r("load_extension", extension, NULL);
    search s = {.package = sg_text_of(extension, 0, "extension")};
    const void *out = NULL;
    snprintf(s.name, sizeof s.name, SPARSEGP_PREFIX "%s", sg_text_of(extension, 1, "extension"));
    R_tryCatchError(look, &s, not_found, &s);
    if (s.found) out = s.found();
    const fault wrong = s.found ? fault_of(out, what) : UNREGISTERED;
    if (wrong == SOUND) return out;
    SEXP more = PROTECT(Rf_allocVector(INTSXP, 2));
    INTEGER(more)[0] = wrong, INTEGER(more)[1] = what;
    ask_r("stop_extension", extension, more);
    Rf_error("internal error: an extension"); /* stop_extension() does not return */
}

const sg_kernel_type *sg_extension_kernel(SEXP extension)
{
    const sparsegp_kernel *given = registered(extension, SPARSEGP_KERNEL);
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
    const sparsegp_likelihood *given = registered(extension, SPARSEGP_LIKELIHOOD);
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

/* Returns what R needs of a valid one: npar of a likelihood or whether a kernel has a shape,
 * and whether a likelihood has quantiles. */
SEXP sg_r_extension(SEXP extension, SEXP what)
{
    const int kind = sg_int_of(what, SPARSEGP_LIKELIHOOD, SPARSEGP_KERNEL, "what");
    const void *found = registered(extension, kind);
    const sparsegp_kernel *kernel = found;
    const sparsegp_likelihood *lik = found;
    SEXP out = PROTECT(Rf_allocVector(INTSXP, 2));
    INTEGER(out)[0] = kind == SPARSEGP_KERNEL ? kernel->dshape != NULL : lik->npar;
    INTEGER(out)[1] = kind == SPARSEGP_LIKELIHOOD && lik->tails != NULL;
    UNPROTECT(1);
    return out;
}
