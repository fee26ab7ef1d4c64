/* glue_neighbours.c: nearest neighbours, and distributions of rows and points given theirs. Row
 * numbers are as R counts them, from 1, and 0 where there is none. */
#include <limits.h>
#include "glue.h"
#include "informative.h"
#include "neighbours.h"
#include "vecchia.h"

/* The numbers of a point together, D x n. */
static const double *turned(sg_matrix x)
{
    double *u = sg_doubles(&sg_r_workspace, (size_t) x.nrow * x.ncol);
    for (int i = 0; i < x.nrow; i++) {
        for (int d = 0; d < x.ncol; d++) {
            u[d + (size_t) x.ncol * i] = x.values[i + (size_t) x.nrow * d];
        }
    }
    return u;
}

/* Numbers from 0 as R counts them, of `count` rows. */
static SEXP as_row_numbers(int nrow, int ncol, const int *from)
{
    SEXP out = Rf_allocMatrix(INTSXP, nrow, ncol);
    for (size_t k = 0; k < (size_t) nrow * ncol; k++) INTEGER(out)[k] = from[k] + 1;
    return out;
}

/* A matrix nrow x ncol of row numbers from `least` to n, one less in C. */
static const int *row_numbers_of(SEXP x, int nrow, int ncol, int least, int n, const char *what)
{
    const size_t count = (size_t) nrow * ncol;
    if (count > INT_MAX) sg_stop_damaged("its `%s` has too many numbers", what);
    const int *given = sg_whole_of(x, (int) count, least, n, what);
    int *out = sg_ints(count, &sg_r_workspace);
    for (size_t k = 0; k < count; k++) out[k] = given[k] - 1;
    return out;
}

/* Returns list(order, near[k x n]): the maximin order of the rows of x, and of each row the nearest
 * of those before it. */
SEXP sg_r_neighbours_before(SEXP x, SEXP k)
{
    const char *fields[] = {"order", "near", ""};
    const sg_ws *ws = &sg_r_workspace;
    const sg_matrix points = sg_matrix_of(x, "x");
    const int n = points.nrow, most = sg_int_of(k, 0, INT_MAX, "k");
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    const sg_tree tree = sg_tree_new(n, points.ncol, turned(points), ws);
    int *order = sg_ints(n, ws), *near = sg_ints((size_t) most * n, ws);
    sg_maximin_order(&tree, order, ws);
    sg_nearest_before(&tree, order, most, near, ws);
    SET_VECTOR_ELT(out, 0, sg_row_numbers(n, order));
    SET_VECTOR_ELT(out, 1, as_row_numbers(most, n, near));
    UNPROTECT(1);
    return out;
}

/* Returns the k rows of x that are nearest to each of points among the first prefix[l] of `order`,
 * for each l, k length(prefix) x m, as sg_nearest_levels() has them. */
SEXP sg_r_neighbours_at_levels(SEXP x, SEXP order, SEXP points, SEXP k, SEXP prefix)
{
    const sg_ws *ws = &sg_r_workspace;
    const sg_matrix rows = sg_matrix_of(x, "x"), at = sg_matrix_with(points, -1, rows.ncol, "x");
    const int n = rows.nrow, levels = Rf_length(prefix);
    const int most = sg_int_of(k, 0, INT_MAX / (levels + 1), "k");
    const int *first = sg_whole_of(prefix, levels, 1, n, "prefix");
    const int *in_order = row_numbers_of(order, n, 1, 1, n, "order");
    const sg_points_in_order points_in_order = {n, rows.ncol, turned(rows), in_order};
    int *near = sg_ints((size_t) most * levels * at.nrow, ws);
    sg_nearest_levels(&points_in_order, levels, first, at.nrow, turned(at), most, near, ws);
    return as_row_numbers(most * levels, at.nrow, near);
}

/* The rows of x with the variances of their noise, or NULL. */
static sg_vecchia vecchia_of(SEXP kernel, SEXP ktheta, SEXP x, SEXP noise)
{
    const int D = sg_matrix_of(x, "x").ncol;
    const sg_kernel *self = sg_kernel_of(kernel, ktheta, D);
    const sg_matrix rows = sg_points_of(x, self, D, 0, "x");
    const sg_vecchia out = {self, rows.nrow, D, rows.values,
                            Rf_isNull(noise) ? NULL : sg_doubles_of(noise, rows.nrow, "noise")};
    return out;
}

/* points: list(x, v (or NULL), rows (r x m), points (s x m), from 1 and 0 where there is none). */
static sg_vecchia_points points_of(SEXP points, const sg_vecchia *rows)
{
    const sg_matrix at = sg_points_of(sg_field(points, "x"), rows->kernel, rows->D, 0, "x");
    SEXP along = sg_field(points, "v"), near = sg_field(points, "rows");
    SEXP before = sg_field(points, "points");
    const int m = at.nrow, r = m ? Rf_length(near) / m : 0, s = m ? Rf_length(before) / m : 0;
    const sg_vecchia_points out = {
        m, r, s, at.values,
        Rf_isNull(along) ? NULL : sg_matrix_with(along, m, rows->D, "v").values,
        row_numbers_of(near, r, m, 0, rows->n, "rows"),
        row_numbers_of(before, s, m, 0, m, "points")
    };
    return out;
}

/* Returns the k most informative of the rows of each point, k x m, as informative.h has them. */
SEXP sg_r_informative_rows(SEXP kernel, SEXP ktheta, SEXP x, SEXP noise, SEXP points, SEXP k)
{
    const sg_vecchia rows = vecchia_of(kernel, ktheta, x, noise);
    const sg_vecchia_points given = points_of(points, &rows);
    const int most = sg_int_of(k, 0, INT_MAX / (given.m + 1), "k");
    int *chosen = sg_ints((size_t) most * given.m, &sg_r_workspace);
    sg_informative_rows(&rows, &given, most, chosen, &sg_r_workspace);
    return as_row_numbers(most, given.m, chosen);
}

/* Returns list(status, weights, root) of points, see points_of(), as vecchia.h has them. */
SEXP sg_r_vecchia_weights(SEXP kernel, SEXP ktheta, SEXP x, SEXP noise, SEXP points)
{
    const char *fields[] = {"status", "weights", "root", ""};
    const sg_vecchia rows = vecchia_of(kernel, ktheta, x, noise);
    const sg_vecchia_points given = points_of(points, &rows);
    const int m = given.m, r = given.r, s = given.s, w = given.v ? 2 : 1;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *weights = sg_new_matrix(out, 1, (size_t) r + (size_t) w * s, (size_t) w * m);
    double *root = sg_new_matrix(out, 2, (size_t) w * w, m);
    const sg_status status = sg_vecchia_weights(&rows, &given, weights, root, &sg_r_workspace);
    SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(status));
    UNPROTECT(1);
    return out;
}

/* given: list(row, near (k x rows), z (a row for each of x), gradient). Returns list(status, logv,
 * scaled, gradient) as vecchia.h has them. */
SEXP sg_r_vecchia_densities(SEXP kernel, SEXP ktheta, SEXP x, SEXP noise, SEXP given)
{
    const char *fields[] = {"status", "logv", "scaled", "gradient", ""};
    const sg_vecchia rows = vecchia_of(kernel, ktheta, x, noise);
    if (!rows.noise) sg_stop_damaged("it has no `noise`");
    SEXP row = sg_field(given, "row"), near = sg_field(given, "near");
    const int m = Rf_length(row), k = m ? Rf_length(near) / m : 0;
    const sg_matrix z = sg_matrix_with(sg_field(given, "z"), rows.n, -1, "z");
    const int size = sg_kernel_ntheta(rows.kernel) + 1;
    const sg_vecchia_responses responses = {
        m, k, z.ncol, row_numbers_of(row, m, 1, 1, rows.n, "row"),
        row_numbers_of(near, k, m, 0, rows.n, "near"), z.values
    };
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *logv = sg_new_vector(out, 1, m), *scaled = sg_new_matrix(out, 2, z.ncol, m);
    double *gradient = NULL;
    if (sg_field_flag(given, "gradient")) {
        gradient = sg_new_vector(out, 3, size);
        sg_zero(size, gradient);
    }
    const sg_status status = sg_vecchia_densities(&rows, &responses, logv, scaled, gradient,
                                                  &sg_r_workspace);
    SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(status));
    UNPROTECT(1);
    return out;
}
