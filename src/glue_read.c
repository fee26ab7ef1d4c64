/* glue_read.c: what R gives, read as the type and size that it must have.
 *
 * Values may come from a file that somebody has changed, and R's own checks may have asked methods
 * of a class: here nothing that is an object counts as numbers, and types, sizes and bounds are
 * looked at where memory is read. What is wrong stops with R's words for a fit that is damaged, and
 * with the name of what is. */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "glue.h"

void sg_stop_damaged(const char *format, ...)
{
    char fault[200];
    va_list values;
    va_start(values, format);
    vsnprintf(fault, sizeof fault, format, values);
    va_end(values);
    SEXP name = PROTECT(Rf_mkString("sparsegp")), home = PROTECT(R_FindNamespace(name));
    SEXP words = PROTECT(Rf_mkString(fault));
    SEXP call = PROTECT(Rf_lang2(Rf_install("stop_damaged"), words));
    Rf_eval(call, home);
    Rf_error("internal error: %s", fault); /* stop_damaged() does not return */
}

/* ---- Elements of lists ---- */

/* Returns the place of an element of that name, or -1. Attributes of a file may be of any type and
 * length. */
static int place_of(SEXP list, const char *name)
{
    if (TYPEOF(list) != VECSXP) sg_stop_damaged("what should have its `%s` is no list", name);
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    if (TYPEOF(names) != STRSXP || XLENGTH(names) != XLENGTH(list)) return -1;
    for (int i = 0; i < Rf_length(names); i++) {
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return i;
    }
    return -1;
}

SEXP sg_optional_field(SEXP list, const char *name)
{
    const int at = place_of(list, name);
    return at < 0 ? R_NilValue : VECTOR_ELT(list, at);
}

SEXP sg_field(SEXP list, const char *name)
{
    const int at = place_of(list, name);
    if (at < 0) sg_stop_damaged("it has no `%s`", name);
    return VECTOR_ELT(list, at);
}

SEXP sg_list_of(SEXP x, int size, const char *what)
{
    if (TYPEOF(x) != VECSXP || XLENGTH(x) != size) {
        sg_stop_damaged("its `%s` is no list of %d", what, size);
    }
    return x;
}

/* ---- Single values ---- */

/* Returns a number of any type, or NaN. */
static double number_of(SEXP x)
{
    if (OBJECT(x) || XLENGTH(x) != 1) return NAN;
    switch (TYPEOF(x)) {
    case REALSXP: return REAL(x)[0];
    case INTSXP: return INTEGER(x)[0] == NA_INTEGER ? NAN : INTEGER(x)[0];
    case LGLSXP: return LOGICAL(x)[0] == NA_LOGICAL ? NAN : LOGICAL(x)[0];
    default: return NAN;
    }
}

double sg_number_of(SEXP x, double least, double most, const char *what)
{
    const double value = Rf_isVectorAtomic(x) ? number_of(x) : NAN;
    if (!(value >= least && value <= most)) {
        sg_stop_damaged("its `%s` is no number from %g to %g", what, least, most);
    }
    return value;
}

int sg_int_of(SEXP x, int least, int most, const char *what)
{
    const double value = sg_number_of(x, least, most, what);
    if (value != floor(value)) sg_stop_damaged("its `%s` is no whole number", what);
    return (int) value;
}

int sg_field_int(SEXP list, const char *name, int least, int most)
{
    return sg_int_of(sg_field(list, name), least, most, name);
}

int sg_field_flag(SEXP list, const char *name)
{
    return sg_field_int(list, name, 0, 1);
}

double sg_field_double(SEXP list, const char *name, double least, double most)
{
    return sg_number_of(sg_field(list, name), least, most, name);
}

const char *sg_text_of(SEXP x, int at, const char *what)
{
    if (TYPEOF(x) != STRSXP || XLENGTH(x) <= at || STRING_ELT(x, at) == NA_STRING) {
        sg_stop_damaged("its `%s` is no text", what);
    }
    return CHAR(STRING_ELT(x, at));
}

/* ---- Vectors and matrices ---- */

const double *sg_numbers_of(SEXP x, const char *what)
{
    if (TYPEOF(x) != REALSXP || OBJECT(x)) sg_stop_damaged("its `%s` is not of numbers", what);
    return REAL(x);
}

const double *sg_doubles_of(SEXP x, size_t size, const char *what)
{
    const double *values = sg_numbers_of(x, what);
    if ((size_t) XLENGTH(x) != size) {
        sg_stop_damaged("its `%s` has %.0f numbers and not %.0f", what, (double) XLENGTH(x),
                        (double) size);
    }
    return values;
}

void sg_copy_field(SEXP list, const char *name, size_t n, double *to)
{
    sg_copy(n, sg_doubles_of(sg_field(list, name), n, name), to);
}

const int *sg_whole_of(SEXP x, int size, int least, int most, const char *what)
{
    const int logical = TYPEOF(x) == LGLSXP;
    if ((TYPEOF(x) != INTSXP && !logical) || OBJECT(x) || (size >= 0 && XLENGTH(x) != size)) {
        sg_stop_damaged("its `%s` is not of whole numbers", what);
    }
    if (XLENGTH(x) > INT_MAX) sg_stop_damaged("its `%s` is too long", what);
    const int *values = logical ? LOGICAL(x) : INTEGER(x), count = (int) XLENGTH(x);
    for (int i = 0; i < count; i++) {
        if (values[i] < least || values[i] > most) { /* a missing one is the least int */
            sg_stop_damaged("its `%s` has numbers that are not from %d to %d", what, least, most);
        }
    }
    return values;
}

sg_matrix sg_matrix_of(SEXP x, const char *what)
{
    const double *values = sg_numbers_of(x, what);
    SEXP dim = Rf_getAttrib(x, R_DimSymbol);
    if (TYPEOF(dim) != INTSXP || XLENGTH(dim) != 2) sg_stop_damaged("its `%s` is no matrix", what);
    const int nrow = INTEGER(dim)[0], ncol = INTEGER(dim)[1];
    if (nrow < 0 || ncol < 0 || (double) nrow * ncol != (double) XLENGTH(x)) {
        sg_stop_damaged("its `%s` is no matrix of its size", what);
    }
    return (sg_matrix) {nrow, ncol, values};
}

sg_matrix sg_matrix_with(SEXP x, int nrow, int ncol, const char *what)
{
    const sg_matrix out = sg_matrix_of(x, what);
    if ((nrow >= 0 && out.nrow != nrow) || (ncol >= 0 && out.ncol != ncol)) {
        sg_stop_damaged("its `%s` is %d x %d, and does not fit the rest", what, out.nrow, out.ncol);
    }
    return out;
}
