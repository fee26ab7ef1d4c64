/* glue_convert.c: R values to and from what the core takes. */
#include <limits.h>
#include <math.h>
#include <string.h>
#include <R_ext/Utils.h>
#include "glue.h"

/* Fills in a node's own numbers, of points of D numbers; its theta and children come later. */
static void read_node(SEXP spec, int D, sg_kernel *node)
{
    SEXP vars = sg_field(spec, "vars"), degree = sg_field(spec, "degree");
    SEXP extension = sg_optional_field(spec, "extension");
    SEXP custom = sg_optional_field(spec, "custom");
    const char *name = sg_text_of(sg_field(spec, "type"), 0, "type");
    node->type = Rf_isNull(extension) ? sg_kernel_type_find(name)
                                      : sg_extension_kernel(extension);
    if (!node->type) sg_stop_damaged("its kernel has an unknown type");
    node->vars = sg_whole_of(vars, -1, 0, D - 1, "vars");
    node->p = Rf_length(vars);
    node->levels = sg_doubles_of(sg_field(spec, "levels"), node->p, "levels");
    node->ard = sg_field_flag(spec, "ard");
    node->degree = sg_whole_of(degree, -1, -INT_MAX, INT_MAX, "degree");
    node->ndegree = Rf_length(degree);
    node->host = Rf_isNull(custom) ? NULL : sg_kernel_host_of(custom);
}

/* Builds a node and its children over theta from *at on; *at moves past what the node takes. */
static const sg_kernel *build_kernel(SEXP spec, const double *theta, int D, int *at)
{
    R_CheckStack();
    sg_kernel *node = sg_structs(1, sizeof(sg_kernel), &sg_r_workspace);
    read_node(spec, D, node);
    SEXP parts = sg_field(spec, "parts");
    node->nchild = Rf_length(parts);
    sg_list_of(parts, node->nchild, "parts");
    node->theta = theta + *at;
    const sg_kernel **child = sg_structs(node->nchild + 1, sizeof(sg_kernel *), &sg_r_workspace);
    for (int c = 0; c < node->nchild; c++) {
        child[c] = build_kernel(VECTOR_ELT(parts, c), theta, D, at);
    }
    node->child = child;
    if (!sg_kernel_is_valid(node)) {
        sg_stop_damaged("its kernel has an invalid part, %s", node->type->name);
    }
    if (node->nchild == 0) *at += sg_kernel_ntheta(node);
    return node;
}

const sg_kernel *const *sg_kernels_of(SEXP spec, SEXP theta, int D, int *count)
{
    const double *values = sg_numbers_of(theta, "theta");
    const int given = Rf_length(theta);
    int used = 0;
    const sg_kernel *first = build_kernel(spec, values, D, &used);
    *count = used > 0 ? given / used : 0;
    if (*count == 0 || *count * used != given) {
        sg_stop_damaged("its kernel has %d hyperparameters, and not %d", given, used);
    }
    const sg_kernel **each = sg_structs(*count, sizeof(sg_kernel *), &sg_r_workspace);
    each[0] = first;
    for (int k = 1; k < *count; k++) each[k] = build_kernel(spec, values, D, &used);
    return each;
}

const sg_kernel *sg_kernel_of(SEXP spec, SEXP theta, int D)
{
    int count;
    const sg_kernel *const *each = sg_kernels_of(spec, theta, D, &count);
    if (count != 1) sg_stop_damaged("its hyperparameters are those of %d kernels", count);
    return each[0];
}

/* Stops unless all numbers of components are those of the kernel. Number k of point i stands at
 * i * point + k * number. */
static void check_components(const sg_kernel *kernel, const double *x, int n, size_t point,
                             size_t number, int least, const char *what)
{
    const int components = sg_kernel_components(kernel);
    for (int i = 0; components > 0 && i < n; i++) {
        const double c = x[i * point + kernel->vars[0] * number];
        const int known = c <= components && c >= least && c == floor(c);
        if (!known) sg_stop_damaged("its `%s` has an invalid component", what);
    }
    for (int k = 0; k < kernel->nchild; k++) {
        check_components(kernel->child[k], x, n, point, number, least, what);
    }
}

sg_matrix sg_points_of(SEXP x, const sg_kernel *kernel, int D, int derived, const char *what)
{
    const sg_matrix points = sg_matrix_with(x, -1, D, what);
    check_components(kernel, points.values, points.nrow, 1, points.nrow,
                     derived ? -SG_DERIVED : 1, what);
    return points;
}

void sg_check_columns(const sg_kernel *kernel, sg_matrix points, const char *what)
{
    check_components(kernel, points.values, points.ncol, points.nrow, 1, 1, what);
}

/* Is an R function, whose host the last element of the specification gives. */
static int is_hosted(const char *name) { return strcmp(name, sg_lik_custom.name) == 0; }

/* Stops where numbers do not go together: processes and width with each other and with the type,
 * hyperparameters and numbers of a data row with these. */
static void check_lik(const sg_lik *lik, int given)
{
    if (lik->C * lik->w * lik->w > SG_LIK_MAX_BLOCKS ||
        (lik->type->width ? lik->w != lik->type->width : lik->C > 1)) {
        sg_stop_damaged("its likelihood is not of %d blocks of width %d", lik->C, lik->w);
    }
    if (lik->host && lik->w > SG_HOST_WIDTH) {
        sg_stop_damaged("its likelihood is not of width %d", lik->w);
    }
    if (lik->npar > SG_LIK_MAX_PAR || lik->npar * lik->C != given ||
        (lik->type->npar > 0 && lik->npar != lik->type->npar)) {
        sg_stop_damaged("its likelihood does not have %d hyperparameters", given);
    }
    if (lik->type->valid && !lik->type->valid(lik)) {
        sg_stop_damaged("its likelihood does not fit its data rows and hyperparameters");
    }
}

sg_lik sg_lik_of(SEXP spec, SEXP theta)
{
    const char *name = sg_text_of(sg_field(spec, "type"), 0, "type");
    const int hosted = is_hosted(name);
    const int C = sg_field_int(spec, "processes", 1, SG_LIK_MAX_CLASSES);
    const int w = sg_field_int(spec, "width", 1, SG_LIK_MAX_WIDTH);
    const double *values = sg_numbers_of(theta, "theta");
    SEXP extension = sg_optional_field(spec, "extension");
    const sg_lik_type *type = hosted ? &sg_lik_custom
        : Rf_isNull(extension) ? sg_lik_type_find(name)
        : sg_extension_lik(extension, sg_field_int(spec, "support", SG_REAL, SG_UNIT));
    if (!type) sg_stop_damaged("its likelihood has an unknown type");
    const sg_lik lik = {.type = type, .theta = values, .C = C, .w = w,
                        .host = hosted ? sg_lik_host_of(sg_field(spec, "custom")) : NULL,
                        .npar = Rf_length(theta) / C,
                        .q = sg_field_int(spec, "q", 0, INT_MAX),
                        .power = sg_field_double(spec, "power", 0, 1)};
    check_lik(&lik, Rf_length(theta));
    return lik;
}

const double *sg_data_rows_of(const sg_lik *lik, SEXP y, int n)
{
    const double *rows = sg_doubles_of(y, (size_t) sg_lik_q(lik) * n, "data_rows");
    const int labels = sg_lik_labels(lik);
    for (int i = 0; labels > 0 && i < n; i++) {
        const double class = *sg_lik_row(lik, rows, i);
        const int known = class >= 1 && class <= labels && class == floor(class);
        if (!known) sg_stop_damaged("the label of a row is not one of its classes");
    }
    return rows;
}

/* Rows of `points` points, w to a row; offset has one entry for each point. */
static sg_rows rows_from(const sg_lik *lik, int points, SEXP y, SEXP offset)
{
    const int n = points / lik->w;
    if (n * lik->w != points) sg_stop_damaged("its `x` is not of whole rows");
    const sg_rows rows = {.n = n, .lik = lik, .offset = sg_doubles_of(offset, points, "offset"),
                          .y = sg_data_rows_of(lik, y, n)};
    return rows;
}

void sg_read_problem(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                     sg_problem *p)
{
    const int D = sg_matrix_of(x, "x").ncol;
    p->kernel = sg_kernels_of(kernel, ktheta, D, &p->kernels);
    p->x = sg_points_of(x, p->kernel[0], D, 0, "x");
    p->nk = Rf_length(ktheta);
    p->lik = sg_lik_of(lik, ltheta);
    p->rows = rows_from(&p->lik, p->x.nrow, y, offset);
    p->layout = sg_layout_of(&p->rows);
    if (p->kernels != 1 && p->kernels != p->lik.C) {
        sg_stop_damaged("it has %d kernels for %d functions", p->kernels, p->lik.C);
    }
}

const sg_kernel *sg_only_kernel(const sg_problem *p)
{
    if (p->kernels != 1) sg_stop_damaged("its hyperparameters are those of %d kernels", p->kernels);
    return p->kernel[0];
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
        Rf_error("a matrix would have more than 2^31 - 1 rows or columns");
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
