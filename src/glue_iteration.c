/* glue_iteration.c: the iteration of EP for sweeps over rows that R reads in chunks. */
#include <limits.h>
#include <math.h>
#include "anderson.h"
#include "glue_fit.h"

static const char *const STEPS[SG_STEPS] = {
    [SG_STEP_DONE] = "done", [SG_STEP_HALVE] = "halve", [SG_STEP_RETREAT] = "retreat",
    [SG_STEP_CLIP] = "clip", [SG_STEP_BEST] = "best", [SG_STEP_PLAIN] = "plain",
    [SG_STEP_MIXED] = "mixed", [SG_STEP_SEQUENTIAL] = "sequential"
};

enum { NUMBERS = sizeof(sg_ep_iteration) / sizeof(double) };

enum { NEXT_STATE, NEXT_STEP, NEXT_LENGTH, NEXT_GAMMA, NEXT_BEST, NEXT_NARROW, NEXT_CONVERGED,
       NEXT_DAMPED };

static const char *const NEXT_FIELDS[] = {"state", "step", "length", "gamma", "best", "narrow",
                                          "converged", "damped", ""};

static sg_ep_iteration iteration_of(SEXP state, const sg_ep_options *options, int coupled)
{
    if (Rf_isNull(state)) return sg_iteration_new(options, coupled);
    sg_ep_iteration it;
    const double *numbers = sg_doubles_of(state, NUMBERS, "iteration");
    memcpy(&it, numbers, sizeof(it));
    if (!(it.sweeps >= 0 && it.sweeps < INT_MAX && it.damped >= 0 && it.damped < INT_MAX &&
          it.past >= -1 && it.past <= SG_MOST_MIXED)) { /* -1: none, see ep_iteration.c */
        sg_stop_damaged("its `iteration` has counts that none has");
    }
    return it;
}

/* anderson.h's gamma, from products[(m + 1) x (m + 1)] of the residual and the last m differences
 * of residuals, newest first, of which the first it->past count; R's NULL: m = 0. */
static void gamma_in(SEXP out, const sg_ep_iteration *it, SEXP products)
{
    sg_matrix of = {1, 1, NULL};
    if (!Rf_isNull(products)) of = sg_matrix_of(products, "products");
    const int past = (int) it->past, rows = of.nrow;
    if (past >= rows || past >= of.ncol) sg_stop_damaged("its `products` are too few");
    double *A = sg_doubles(&sg_r_workspace, (size_t) past * past);
    double *gamma = sg_new_vector(out, NEXT_GAMMA, past);
    for (int j = 0; j < past; j++) {
        const double *column = of.values + (size_t) rows * (j + 1);
        gamma[j] = column[0];
        Memcpy(A + (size_t) past * j, column + 1, past);
    }
    if (!sg_anderson_solve(past, A, gamma)) Memzero(gamma, past);
}

/* The step after an evaluation of all rows (ep_iteration.h). options: sweeps, mixing, damping,
 * tol, coupled (are the shifts of classes from one step for all?). state: NULL for the first
 * evaluation, else as the last call has left it. outcome: status; with status 0 change, widening
 * (how many sites have negative precisions) and products, see gamma_in(). Out: the step by its
 * name; its length; gamma of a mixed one; best: were these sites the best so far? narrow: are
 * negative precisions excluded from now on? Sites of chunks are mixed unseen, so no steps are
 * mixed then. */
SEXP sg_r_ep_iterate(SEXP options, SEXP state, SEXP outcome)
{
    const sg_status status = sg_field_int(outcome, "status", SG_NO_SITE, SG_OK);
    const double change = status == SG_OK ? Rf_asReal(sg_field(outcome, "change")) : 0;
    sg_ep_options opt = {
        .sweeps = sg_field_int(options, "sweeps", 0, INT_MAX), .batch = INT_MAX,
        .mixing = sg_field_int(options, "mixing", 0, SG_MOST_MIXED),
        .damping = sg_field_double(options, "damping", 0, 1),
        .tol = sg_field_double(options, "tol", 0, HUGE_VAL)
    };
    sg_ep_iteration it = iteration_of(state, &opt, sg_field_flag(options, "coupled"));
    if (it.narrow) opt.mixing = 0;
    sg_step step = sg_iteration_next(&it, &opt, status, change);
    const int lost = status == SG_OK && step != SG_STEP_DONE && it.lost && !it.narrow;
    if (lost && sg_field_double(outcome, "widening", 0, HUGE_VAL) > 0) {
        sg_iteration_narrow(&it, &opt);
        step = SG_STEP_CLIP;
    }
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **) NEXT_FIELDS));
    memcpy(sg_new_vector(out, NEXT_STATE, NUMBERS), &it, sizeof(it));
    SET_VECTOR_ELT(out, NEXT_STEP, Rf_mkString(STEPS[step]));
    SET_VECTOR_ELT(out, NEXT_LENGTH, Rf_ScalarReal(it.damping));
    if (step == SG_STEP_MIXED) gamma_in(out, &it, sg_field(outcome, "products"));
    SET_VECTOR_ELT(out, NEXT_BEST, Rf_ScalarLogical(status == SG_OK && change <= it.least));
    SET_VECTOR_ELT(out, NEXT_NARROW, Rf_ScalarLogical(it.narrow != 0));
    SET_VECTOR_ELT(out, NEXT_CONVERGED, Rf_ScalarLogical(it.converged != 0));
    SET_VECTOR_ELT(out, NEXT_DAMPED, Rf_ScalarInteger((int) it.damped));
    UNPROTECT(1);
    return out;
}
