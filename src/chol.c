/* chol.c: the factorisation that EP rests on, and what is read off triangular factors. */
#include <math.h>
#include "chol.h"

/* Of the sites of negative precision there remains I - T_2 Sigma T_2, Sigma the posterior
 * covariance under the others: A_22'A_22 = I - X_22 + A_12'A_12 with X = |T|^1/2 K |T|^1/2. */
static sg_status chol_negative(int n, int m, double *A)
{
    double *right = A + (size_t) n * m, *corner = right + m;
    sg_trsm('T', m, n - m, A, n, right, n);
    for (int j = 0; j < n - m; j++) {
        for (int i = 0; i <= j; i++) corner[i + (size_t) n * j] *= -1;
    }
    sg_gemm('T', 'N', n - m, n - m, m, 1, right, n, right, n, 1, corner, n);
    for (int j = 0; j < n - m; j++) {
        sg_zero(n - m - 1 - j, corner + j + 1 + (size_t) n * j);
    }
    return sg_potrf(n - m, corner, n);
}

sg_status sg_chol_sites(int n, int m, const int *order, const double *K, const double *rt,
                        double *A)
{
    for (int j = 0; j < n; j++) {
        const double *k = K + (size_t) n * (order ? order[j] : j);
        double *a = A + (size_t) n * j;
        for (int i = 0; i <= j; i++) a[i] = rt[i] * k[order ? order[i] : i] * rt[j];
        a[j] += j < m ? 1 : -1;
    }
    const sg_status status = sg_potrf(m, A, n);
    return status == SG_OK && m < n ? chol_negative(n, m, A) : status;
}

void sg_chol_drop(int d, int k, const double *U, int ldu, double *out, double *cos, double *sin)
{
    for (int c = k; c < d - 1; c++) {
        const double *from = U + (size_t) ldu * (c + 1);
        double *column = out + (size_t) ldu * c;
        sg_copy(c + 2, from, column);
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
        sg_zero(n - 1 - j, U + j + 1 + (size_t) n * j);
    }
}

void sg_copy_upper(int n, const double *U, int ldu, double *out)
{
    for (int j = 0; j < n; j++) sg_copy(j + 1, U + (size_t) ldu * j, out + (size_t) n * j);
    sg_clear_below(n, out);
}

sg_status sg_inverse_upper(int n, const double *U, int ldu, double *out)
{
    sg_copy_upper(n, U, ldu, out);
    return sg_trtri(n, out);
}

double sg_log_diag(int n, const double *U)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += log(U[i + (size_t) n * i]);
    return sum;
}

void sg_row_norms(int n, const double *U, double *out)
{
    sg_zero(n, out);
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
    sg_zero(n, out);
    for (int j = 0; j < d; j++) {
        const double *x = X + (size_t) n * j;
        for (int i = 0; i < n; i++) out[i] += x[i] * x[i];
    }
}

void sg_block_squares(int w, int m, int d, const double *X, double *out)
{
    const size_t rows = (size_t) m * w;
    if (w == 1) {
        sg_row_squares(m, d, X, out);
        return;
    }
    sg_zero(rows * w, out);
    for (int j = 0; j < d; j++) {
        const double *x = X + rows * j;
        double *block = out;
        for (int i = 0; i < m; i++, x += w) {
            for (int b = 0; b < w; b++) {
                for (int a = 0; a < w; a++) *block++ += x[a] * x[b];
            }
        }
    }
}
