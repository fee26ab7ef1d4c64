/* glue.h: the border. Only glue_*.c and init.c see R objects; no mathematics here. R has checked
 * what it could, but numbers are read here alone: glue_read.c looks at all of them. */
#ifndef SG_GLUE_H
#define SG_GLUE_H

#include <R.h>
#include <Rinternals.h>
#include "kernel.h"
#include "sites.h"
#include "posterior.h"
#include "types.h"

/* ---- glue_read.c: what R gives. Each stops where it is not that, and names `what`. ---- */

/* Stops with R's words for a fit that is damaged; as printf(), for up to 200 characters. */
void NORET sg_stop_damaged(const char *format, ...);

/* A matrix of numbers, R's memory. */
typedef struct {
    int nrow, ncol;
    const double *values;
} sg_matrix;

SEXP sg_field(SEXP list, const char *name);
/* The same, NULL where there is none. */
SEXP sg_optional_field(SEXP list, const char *name);
/* A list of `size` elements. */
SEXP sg_list_of(SEXP x, int size, const char *what);
/* One number, or whole number, from `least` to `most`, of any type of R's. */
double sg_number_of(SEXP x, double least, double most, const char *what);
int sg_int_of(SEXP x, int least, int most, const char *what);
int sg_field_int(SEXP list, const char *name, int least, int most);
int sg_field_flag(SEXP list, const char *name);
double sg_field_double(SEXP list, const char *name, double least, double most);
const char *sg_text_of(SEXP x, int at, const char *what);
/* Doubles, any number of them, or `size`. */
const double *sg_numbers_of(SEXP x, const char *what);
const double *sg_doubles_of(SEXP x, size_t size, const char *what);
/* to[n] = the numbers of a list's element, n of them. */
void sg_copy_field(SEXP list, const char *name, size_t n, double *to);
/* Integers or logicals from `least` to `most`; size -1: any number of them. */
const int *sg_whole_of(SEXP x, int size, int least, int most, const char *what);
/* A matrix, of any size, or of that; -1: any number of rows or columns. */
sg_matrix sg_matrix_of(SEXP x, const char *what);
sg_matrix sg_matrix_with(SEXP x, int nrow, int ncol, const char *what);

/* ---- glue_workspace.c ---- */

extern const sg_ws sg_r_workspace;

/* Memory that calls of one problem use again: a new page costs as much as thousands of operations,
 * and R gives pages back whenever it collects garbage. It is a vector in an environment of R's, of
 * as many numbers as a call before has taken, so the first call has none. */
typedef struct {
    SEXP home;
    double *next, *end; /* what is not lent */
    size_t size;        /* numbers that there are */
    size_t taken, most; /* numbers that are lent here and elsewhere, and have been at most */
} sg_room;

/* A workspace that lends from the room of `home` and then from R; home R_NilValue: from R alone.
 * close: notes what the next call needs, at the end of a call that has ended well. */
sg_ws sg_room_open(sg_room *room, SEXP home);
void sg_room_close(const sg_room *room);

/* ---- glue_convert.c ---- */

/* A kernel of points of D numbers. */
const sg_kernel *sg_kernel_of(SEXP spec, SEXP theta, int D);
/* One kernel, or as many of one specification as theta has hyperparameters for. */
const sg_kernel *const *sg_kernels_of(SEXP spec, SEXP theta, int D, int *count);
/* Points of D numbers as the kernel reads them: numbers of components are among its own, or where
 * `derived` of fields that are derived from them. */
sg_matrix sg_points_of(SEXP x, const sg_kernel *kernel, int D, int derived, const char *what);
/* Stops where points that are columns have a component that is none of the kernel's. */
void sg_check_columns(const sg_kernel *kernel, sg_matrix points, const char *what);
/* glue_custom.c: the R function of a kernel, for the core */
const sg_kernel_host *sg_kernel_host_of(SEXP custom);
/* glue_extension.c: types that other packages have registered; extension: their names */
const sg_kernel_type *sg_extension_kernel(SEXP extension);
const sg_lik_type *sg_extension_lik(SEXP extension, int support);
/* spec: type; processes and width, as sg_layout has them. theta: of each process. */
sg_lik sg_lik_of(SEXP spec, SEXP theta);
/* glue_host.c: custom: a likelihood that is an R function, see lik-custom.R. */
const sg_lik_host *sg_lik_host_of(SEXP custom);
/* Data rows of n rows; labels of classes, which index, are whole and among them. */
const double *sg_data_rows_of(const sg_lik *lik, SEXP y, int n);
/* Kernels (one, or one for each process), likelihood and rows. */
typedef struct {
    int kernels, nk; /* how many; hyperparameters of all of them */
    const sg_kernel *const *kernel;
    sg_matrix x;     /* a row for each latent value of a process */
    sg_lik lik;
    sg_rows rows;
    sg_layout layout;
} sg_problem;

void sg_read_problem(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                     sg_problem *p);

/* The kernel of a problem that is to have one. */
const sg_kernel *sg_only_kernel(const sg_problem *p);
/* A fresh numeric vector of list element `at`, and its data. A matrix has at most 2^31 - 1 rows and
 * columns; its sizes are given as size_t, products in it, too. */
double *sg_new_vector(SEXP list, int at, size_t n);
double *sg_new_matrix(SEXP list, int at, size_t nrow, size_t ncol);
/* The same of numbers that are there. */
void sg_vector_in(SEXP list, int at, size_t n, const double *from);
/* n numbers for each of C latent functions: a vector, or with several of them a matrix. */
double *sg_new_latents(SEXP list, int at, size_t n, int C);
/* Row numbers as R counts them, from 1. */
SEXP sg_row_numbers(int count, const int *row);

#define SG_ENTRY(name, arity, arguments) SEXP sg_r_##name arguments;
#include "glue_list.h"
#undef SG_ENTRY

#endif
