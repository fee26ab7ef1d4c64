/* glue_convert.c: R values to and from what the core takes. */
#include <limits.h>
#include <math.h>
#include <string.h>
#include <R_ext/Utils.h>
#include "glue.h"

#ifndef SG_POISON

static double *r_doubles(void *self, size_t n)
{
    return (double *) R_alloc(n > 0 ? n : 1, sizeof(double));
}

#else /* tools/memcheck builds this one: R's memory has no borders that a sanitizer would see */

#include <sanitizer/asan_interface.h>

/* NaN, between two borders that are poisoned. A block of this size is of malloc(), for itself, and
 * goes back through free(): the poison is gone before anybody else has that memory. */
static double *r_doubles(void *self, size_t n)
{
    enum { BORDER = 64 };
    double *all = (double *) R_alloc(n + 2 * BORDER, sizeof(double)), *out = all + BORDER;
    sg_fill(n, R_NaN, out);
    __asan_poison_memory_region(all, BORDER * sizeof(double));
    __asan_poison_memory_region(out + n, BORDER * sizeof(double));
    return out;
}

#endif

static void *r_mark(void *self)
{
    return vmaxget();
}

static void r_release(void *self, void *mark)
{
    vmaxset(mark);
}

static void r_tick(void *self)
{
    R_CheckUserInterrupt();
}

/* R knows the user's option, and whether process and BLAS allow it (util-threads.R). */
static int r_threads(void *self, int products)
{
    SEXP name = PROTECT(Rf_mkString("sparsegp")), home = PROTECT(R_FindNamespace(name));
    SEXP kind = PROTECT(Rf_ScalarLogical(products));
    SEXP call = PROTECT(Rf_lang2(Rf_install("threads_wanted"), kind));
    const int threads = Rf_asInteger(Rf_eval(call, home));
    UNPROTECT(4);
    return threads;
}

const sg_ws sg_r_workspace = {.doubles = r_doubles, .mark = r_mark, .release = r_release,
                              .tick = r_tick, .threads = r_threads};

SEXP sg_field(SEXP list, const char *name)
{
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (int i = 0; i < Rf_length(names); i++) {
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
    }
    Rf_error("internal error: no field '%s'", name);
}

int sg_field_int(SEXP list, const char *name)
{
    return Rf_asInteger(sg_field(list, name));
}

double sg_field_double(SEXP list, const char *name)
{
    return Rf_asReal(sg_field(list, name));
}

const double *sg_doubles_of(SEXP x, size_t size, const char *what)
{
    if (TYPEOF(x) != REALSXP || (size_t) XLENGTH(x) != size) {
        Rf_error("internal error: '%s' must be %lu doubles", what, (unsigned long) size);
    }
    return REAL(x);
}

void sg_copy_field(SEXP list, const char *name, size_t n, double *to)
{
    sg_copy(n, sg_doubles_of(sg_field(list, name), n, name), to);
}

int sg_rows_of(SEXP matrix)
{
    if (TYPEOF(matrix) != REALSXP || !Rf_isMatrix(matrix)) {
        Rf_error("internal error: not a double matrix");
    }
    return Rf_nrows(matrix);
}

int sg_cols_of(SEXP matrix)
{
    return Rf_ncols(matrix);
}

/* Returns an element of a list, or NULL where it has none of that name. */
SEXP sg_optional_field(SEXP list, const char *name)
{
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (int i = 0; i < Rf_length(names); i++) {
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
    }
    return R_NilValue;
}

/* Builds a node and its children over theta from *at on; *at moves past what the node takes. */
static const sg_kernel *build_kernel(SEXP spec, const double *theta, int *at)
{
    const char *name = CHAR(STRING_ELT(sg_field(spec, "type"), 0));
    SEXP vars = sg_field(spec, "vars"), parts = sg_field(spec, "parts");
    sg_kernel *node = sg_structs(1, sizeof(sg_kernel), &sg_r_workspace);
    SEXP extension = sg_optional_field(spec, "extension");
    node->type = Rf_isNull(extension) ? sg_kernel_type_find(name)
                                      : sg_extension_kernel(extension);
    if (!node->type) Rf_error("internal error: no kernel '%s'", name);
    node->theta = theta + *at;
    node->p = Rf_length(vars);
    node->vars = INTEGER(vars);
    node->levels = sg_doubles_of(sg_field(spec, "levels"), node->p, "levels");
    node->ard = sg_field_int(spec, "ard");
    node->degree = INTEGER(sg_field(spec, "degree"));
    node->nchild = Rf_length(parts);
    SEXP custom = sg_optional_field(spec, "custom");
    node->host = Rf_isNull(custom) ? NULL : sg_kernel_host_of(custom);
    const sg_kernel **child = sg_structs(node->nchild + 1, sizeof(sg_kernel *), &sg_r_workspace);
    for (int c = 0; c < node->nchild; c++) {
        child[c] = build_kernel(VECTOR_ELT(parts, c), theta, at);
    }
    node->child = child;
    if (node->nchild == 0) *at += sg_kernel_ntheta(node);
    return node;
}

const sg_kernel *const *sg_kernels_of(SEXP spec, SEXP theta, int *count)
{
    const int given = Rf_length(theta);
    int used = 0;
    const sg_kernel *first = build_kernel(spec, REAL(theta), &used);
    if (used == 0 || given == 0 || given % used != 0) {
        Rf_error("internal error: kernel wants %d hyperparameters, got %d", used, given);
    }
    *count = given / used;
    const sg_kernel **each = sg_structs(*count, sizeof(sg_kernel *), &sg_r_workspace);
    each[0] = first;
    for (int k = 1; k < *count; k++) each[k] = build_kernel(spec, REAL(theta), &used);
    return each;
}

const sg_kernel *sg_kernel_of(SEXP spec, SEXP theta)
{
    int count;
    const sg_kernel *const *each = sg_kernels_of(spec, theta, &count);
    if (count != 1) Rf_error("internal error: hyperparameters of %d kernels, not of one", count);
    return each[0];
}

/* Is an R function, whose host the last element of the specification gives. */
static int is_hosted(const char *name) { return strcmp(name, sg_lik_custom.name) == 0; }

sg_lik sg_lik_of(SEXP spec, SEXP theta)
{
    const char *name = CHAR(STRING_ELT(sg_field(spec, "type"), 0));
    const int hosted = is_hosted(name);
    const int C = sg_field_int(spec, "processes"), w = sg_field_int(spec, "width");
    if (C < 1 || C > SG_LIK_MAX_CLASSES) Rf_error("internal error: %d processes", C);
    if (w < 1 || w > SG_LIK_MAX_WIDTH) Rf_error("internal error: sites of width %d", w);
    const double *values = sg_doubles_of(theta, Rf_length(theta), "likelihood theta");
    SEXP extension = sg_optional_field(spec, "extension");
    const sg_lik_type *type = hosted ? &sg_lik_custom
        : Rf_isNull(extension) ? sg_lik_type_find(name)
        : sg_extension_lik(extension, sg_field_int(spec, "support"));
    const sg_lik lik = {.type = type, .theta = values, .C = C, .w = w,
                        .host = hosted ? sg_lik_host_of(sg_field(spec, "custom")) : NULL,
                        .npar = Rf_length(theta) / C, .q = sg_field_int(spec, "q"),
                        .power = sg_field_double(spec, "power")};
    if (!lik.type) Rf_error("internal error: no likelihood '%s'", name);
    if (lik.type->width ? w != lik.type->width : C > 1) {
        Rf_error("internal error: %d blocks of width %d", C, w);
    }
    if (lik.host && w > SG_HOST_WIDTH) Rf_error("internal error: a host's sites of width %d", w);
    if (lik.npar > SG_LIK_MAX_PAR) Rf_error("internal error: %d hyperparameters", lik.npar);
    if ((lik.type->npar > 0 && lik.npar != lik.type->npar) || lik.npar * C != Rf_length(theta)) {
        Rf_error("internal error: %d hyperparameters of the likelihood", Rf_length(theta));
    }
    return lik;
}

/* Stops with R's words for a fit that is not what was written. */
static void stop_damaged(const char *fault)
{
    SEXP name = PROTECT(Rf_mkString("sparsegp")), home = PROTECT(R_FindNamespace(name));
    SEXP words = PROTECT(Rf_mkString(fault));
    SEXP call = PROTECT(Rf_lang2(Rf_install("stop_damaged"), words));
    Rf_eval(call, home);
    UNPROTECT(4);
}

const double *sg_data_rows_of(const sg_lik *lik, SEXP y, int n)
{
    const double *rows = sg_doubles_of(y, (size_t) sg_lik_q(lik) * n, "y");
    for (int i = 0; lik->type->classes && i < n; i++) {
        const double class = *sg_lik_row(lik, rows, i);
        const int known = class >= 1 && class <= lik->C && class == floor(class);
        if (!known) stop_damaged("a row's label is none of its classes");
    }
    return rows;
}

/* The rows of x as a likelihood sees them; offset has one entry for each. */
sg_rows sg_rows_from(const sg_lik *lik, SEXP x, SEXP y, SEXP offset)
{
    const int n = Rf_length(offset) / lik->w;
    if (sg_rows_of(x) != Rf_length(offset) || n * lik->w != Rf_length(offset)) {
        Rf_error("internal error: x has not one row per offset");
    }
    const sg_rows rows = {.n = n, .lik = lik, .offset = REAL(offset),
                          .y = sg_data_rows_of(lik, y, n)};
    return rows;
}

double *sg_new_vector(SEXP list, int at, size_t n)
{
    SET_VECTOR_ELT(list, at, Rf_allocVector(REALSXP, (R_xlen_t) n));
    return REAL(VECTOR_ELT(list, at));
}

void sg_vector_in(SEXP list, int at, size_t n, const double *from)
{
    sg_copy(n, from, sg_new_vector(list, at, n));
}

double *sg_new_matrix(SEXP list, int at, size_t nrow, size_t ncol)
{
    if (nrow > INT_MAX || ncol > INT_MAX) {
        Rf_error("internal error: a matrix of more than 2^31 - 1 rows or columns");
    }
    SET_VECTOR_ELT(list, at, Rf_allocMatrix(REALSXP, (int) nrow, (int) ncol));
    return REAL(VECTOR_ELT(list, at));
}

double *sg_new_latents(SEXP list, int at, size_t n, int C)
{
    return C == 1 ? sg_new_vector(list, at, n) : sg_new_matrix(list, at, n, C);
}

SEXP sg_row_numbers(int count, const int *row)
{
    SEXP out = PROTECT(Rf_allocVector(INTSXP, count));
    for (int i = 0; i < count; i++) INTEGER(out)[i] = row[i] + 1;
    UNPROTECT(1);
    return out;
}
