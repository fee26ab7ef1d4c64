/* glue.h: the border. Only glue_*.c and init.c see R objects; no mathematics here. R has checked
 * every argument before the call, so an error raised below means a fault of the package. */
#ifndef SG_GLUE_H
#define SG_GLUE_H

#include <R.h>
#include <Rinternals.h>
#include "kernel.h"
#include "sites.h"
#include "posterior.h"
#include "types.h"

/* glue_convert.c */
extern const sg_ws sg_r_workspace;
SEXP sg_field(SEXP list, const char *name);
/* The same, NULL where there is none. */
SEXP sg_optional_field(SEXP list, const char *name);
int sg_field_int(SEXP list, const char *name);
double sg_field_double(SEXP list, const char *name);
const double *sg_doubles_of(SEXP x, size_t size, const char *what);
/* to[n] = the numbers of a list's element, n of them. */
void sg_copy_field(SEXP list, const char *name, size_t n, double *to);
const sg_kernel *sg_kernel_of(SEXP spec, SEXP theta);
/* One kernel, or as many of one specification as theta has hyperparameters for. */
const sg_kernel *const *sg_kernels_of(SEXP spec, SEXP theta, int *count);
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
sg_rows sg_rows_from(const sg_lik *lik, SEXP x, SEXP y, SEXP offset);
int sg_rows_of(SEXP matrix);
int sg_cols_of(SEXP matrix);
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
