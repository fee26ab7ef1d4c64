/* glue_catalogue.c: all kernels, likelihoods and constants in C's words and C's order, so R
 * repeats nothing of it: kernels, likelihoods with their parameters, what becomes of rows, what
 * runs return. */
#include "glue.h"
#include "ivm.h"
#include "online.h"

static const char *const OUTCOMES[SG_ROW_OUTCOMES] = {
    [SG_ROW_PROJECTED] = "projected", [SG_ROW_REJECTED] = "declined", [SG_ROW_ADDED] = "added",
    [SG_ROW_EXCHANGED] = "exchanged", [SG_ROW_SKIPPED] = "skipped"
};
static const char *const RECORD[SG_RECORD - SG_ROW_OUTCOMES] = {
    [SG_REC_ROWS - SG_ROW_OUTCOMES] = "rows", [SG_REC_LOGZ - SG_ROW_OUTCOMES] = "logz",
    [SG_REC_STALE - SG_ROW_OUTCOMES] = "stale", [SG_REC_STRIDE - SG_ROW_OUTCOMES] = "stride",
    [SG_REC_TRACED - SG_ROW_OUTCOMES] = "traced"
};
static const char *const SCORES[] = {
    [SG_SCORE_MEAN] = "mean", [SG_SCORE_KL] = "kl", [SG_SCORE_ERROR] = "error"
};
static const char *const SELECTIONS[] = {
    [SG_SELECT_INFORMATION] = "information", [SG_SELECT_ENTROPY] = "entropy",
    [SG_SELECT_RANDOM] = "random"
};
static const char *const STOPS[] = {
    [SG_IVM_SIZE] = "size", [SG_IVM_GAIN] = "min_gain", [SG_IVM_NO_ROW] = "no row left"
};
static const char *const STATUSES[] = {
    [-SG_OK] = "ok", [-SG_NOT_PD] = "not_pd", [-SG_NOT_FINITE] = "not_finite",
    [-SG_NO_SITE] = "no_site"
};

#define COUNT(table) ((int) (sizeof(table) / sizeof *(table)))

static SEXP words(int count, const char *const *word)
{
    SEXP out = PROTECT(Rf_allocVector(STRSXP, count));
    for (int i = 0; i < count; i++) SET_STRING_ELT(out, i, Rf_mkChar(word[i]));
    UNPROTECT(1);
    return out;
}

/* Names of codes that go down from 0 */
static SEXP statuses(void)
{
    const int count = COUNT(STATUSES);
    SEXP out = PROTECT(Rf_allocVector(INTSXP, count));
    for (int i = 0; i < count; i++) INTEGER(out)[i] = -i;
    Rf_setAttrib(out, R_NamesSymbol, words(count, STATUSES));
    UNPROTECT(1);
    return out;
}

static SEXP kernels(void)
{
    int count = 0;
    while (sg_kernel_type_at(count)) count++;
    SEXP out = PROTECT(Rf_allocVector(STRSXP, count));
    for (int i = 0; i < count; i++) {
        SET_STRING_ELT(out, i, Rf_mkChar(sg_kernel_type_at(i)->name));
    }
    UNPROTECT(1);
    return out;
}

/* One likelihood: q, npar and width as in lik.h, classes, its parameters' names, whether its
 * sites are exact, and whether its responses have an order, and so quantiles. */
static SEXP likelihood(const sg_lik_type *type)
{
    const char *fields[] = {"q", "npar", "width", "classes", "par", "exact", "ordered", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    int names = 0;
    while (type->par[names]) names++;
    SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(type->q));
    SET_VECTOR_ELT(out, 1, Rf_ScalarInteger(type->npar));
    SET_VECTOR_ELT(out, 2, Rf_ScalarInteger(type->width));
    SET_VECTOR_ELT(out, 3, Rf_ScalarLogical(type->classes));
    SET_VECTOR_ELT(out, 4, words(names, type->par));
    SET_VECTOR_ELT(out, 5, Rf_ScalarLogical(type->site != NULL));
    SET_VECTOR_ELT(out, 6, Rf_ScalarLogical(type->tails != NULL));
    UNPROTECT(1);
    return out;
}

static SEXP likelihoods(void)
{
    int count = 0;
    while (sg_lik_type_at(count)) count++;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, count));
    SEXP names = PROTECT(Rf_allocVector(STRSXP, count));
    for (int i = 0; i < count; i++) {
        SET_VECTOR_ELT(out, i, likelihood(sg_lik_type_at(i)));
        SET_STRING_ELT(names, i, Rf_mkChar(sg_lik_type_at(i)->name));
    }
    Rf_setAttrib(out, R_NamesSymbol, names);
    UNPROTECT(2);
    return out;
}

SEXP sg_r_catalogue(void)
{
    const char *fields[] = {"kernels", "likelihoods", "fates", "record", "scores", "selections",
                            "stops", "statuses", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, kernels());
    SET_VECTOR_ELT(out, 1, likelihoods());
    SET_VECTOR_ELT(out, 2, words(SG_ROW_OUTCOMES, OUTCOMES));
    SET_VECTOR_ELT(out, 3, words(COUNT(RECORD), RECORD));
    SET_VECTOR_ELT(out, 4, words(COUNT(SCORES), SCORES));
    SET_VECTOR_ELT(out, 5, words(COUNT(SELECTIONS), SELECTIONS));
    SET_VECTOR_ELT(out, 6, words(COUNT(STOPS), STOPS));
    SET_VECTOR_ELT(out, 7, statuses());
    UNPROTECT(1);
    return out;
}
