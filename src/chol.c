#include <math.h>
#include "chol.h"

sg_status sg_chol_sites(int n, const double *K, const double *rt, double *A)
{
    for (int j = 0; j < n; j++) {
        const double *k = K + (size_t) n * j;
        double *a = A + (size_t) n * j;
        for (int i = 0; i <= j; i++) a[i] = rt[i] * k[i] * rt[j];
        a[j] += 1;
    }
    return sg_potrf(n, A);
}

void sg_chol_drop(int d, int k, const double *U, int ldu, double *out, double *cos, double *sin)
{
    for (int c = k; c < d - 1; c++) {
        const double *from = U + (size_t) ldu * (c + 1);
        double *column = out + (size_t) ldu * c;
        for (int i = 0; i <= c + 1; i++) column[i] = from[i];
        for (int j = k; j < c; j++) sg_rotate(cos[j], sin[j], column + j, column + j + 1);
        const double length = hypot(column[c], column[c + 1]);
        cos[c] = column[c] / length;
        sin[c] = column[c + 1] / length;
        column[c] = length;
    }
}

void sg_clear_below(int n, double *U)
{
    for (int j = 0; j < n; j++) {
        for (int i = j + 1; i < n; i++) U[i + (size_t) n * j] = 0;
    }
}

double sg_log_diag(int n, const double *U)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += log(U[i + (size_t) n * i]);
    return sum;
}

void sg_row_norms(int n, const double *U, double *out)
{
    for (int i = 0; i < n; i++) out[i] = 0;
    for (int j = 0; j < n; j++) {
        const double *u = U + (size_t) n * j;
        for (int i = 0; i <= j; i++) out[i] += u[i] * u[i];
    }
}

void sg_col_squares(int n, const double *U, int ldu, double *out)
{
    for (int j = 0; j < n; j++) {
        const double *u = U + (size_t) ldu * j;
        out[j] = sg_dot(j + 1, u, u);
    }
}

void sg_row_squares(int n, int d, const double *X, double *out)
{
    for (int i = 0; i < n; i++) out[i] = 0;
    for (int j = 0; j < d; j++) {
        const double *x = X + (size_t) n * j;
        for (int i = 0; i < n; i++) out[i] += x[i] * x[i];
    }
}
