/* chol.c: the factorisation that EP rests on, and what is read off triangular factors.
 *
 * B = I + T^1/2 K T^1/2 is factored instead of K + T^{-1} (formulas 74): its eigenvalues lie
 * between 1 and 1 + max tau times K's largest, so K may be singular and sites may have no
 * precision (tau = 0). Sums over rows and columns run down columns, as matrices lie in memory. */
#include <math.h>
#include "chol.h"

/* Factors the trailing block, of the sites of negative precision, in place. With X = |T|^1/2 K
 * |T|^1/2 and A_12 = A_11^{-T} X_12,
 *   A_22'A_22 = I - X_22 + A_12'A_12,
 * which is I - |T_2|^1/2 Sigma |T_2|^1/2, Sigma the posterior covariance under the other sites:
 * positive definite exactly if K^{-1} + T is. The corner holds X_22 - I on entry. */
static sg_status chol_negative(int n, int m, double *A)
{
    double *right = A + (size_t) n * m, *corner = right + m;
    /* A_12, in place of X_12 */
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

/* Writes the upper triangle of S + |T|^1/2 K |T|^1/2 column by column and factors its leading
 * block, I + |T_1|^1/2 K_11 |T_1|^1/2, whose eigenvalues are at least 1. */
sg_status sg_chol_sites(int n, int m, const int *order, const double *K, const double *rt,
                        double *A)
{
    for (int j = 0; j < n; j++) {
        const double *k = K + (size_t) n * (order ? order[j] : j);
        double *a = A + (size_t) n * j;
        for (int i = 0; i <= j; i++) a[i] = rt[i] * k[order ? order[i] : i] * rt[j];
        /* S is 1 for the first m sites and -1 for those of negative precision. */
        a[j] += j < m ? 1 : -1;
    }
    const sg_status status = sg_potrf(m, A, n);
    return status == SG_OK && m < n ? chol_negative(n, m, A) : status;
}

/* Makes the factor triangular again. Without column k it is upper Hessenberg from there on: the
 * new column c is the old column c + 1, with one entry below the diagonal, which the rotation of
 * rows (c, c + 1) makes 0. A column is rotated by all earlier pairs first, so each is read once. */
void sg_chol_drop(int d, int k, const double *U, int ldu, double *out, double *cos, double *sin)
{
    for (int c = k; c < d - 1; c++) {
        const double *from = U + (size_t) ldu * (c + 1);
        double *column = out + (size_t) ldu * c;
        sg_copy(c + 2, from, column);
        for (int j = k; j < c; j++) sg_rotate(cos[j], sin[j], column + j, column + j + 1);
        /* The rotation takes (a, b) to (length, 0); hypot() does not overflow on the way. */
        const double length = hypot(column[c], column[c + 1]);
        cos[c] = column[c] / length;
        sin[c] = column[c + 1] / length;
        column[c] = length;
    }
}

/* Writes zeros where LAPACK left what was there, for products that read all of U. */
void sg_clear_below(int n, double *U)
{
    for (int j = 0; j < n; j++) {
        sg_zero(n - 1 - j, U + j + 1 + (size_t) n * j);
    }
}

/* Copies the upper triangle alone: below the diagonal U may be undefined. */
void sg_copy_upper(int n, const double *U, int ldu, double *out)
{
    for (int j = 0; j < n; j++) sg_copy(j + 1, U + (size_t) ldu * j, out + (size_t) n * j);
    sg_clear_below(n, out);
}

/* Inverts the copy in place; U stays. */
sg_status sg_inverse_upper(int n, const double *U, int ldu, double *out)
{
    sg_copy_upper(n, U, ldu, out);
    return sg_trtri(n, out);
}

/* Returns log|U|, half of log|U'U|. Logarithms are added, as the product of many pivots could
 * overflow. */
double sg_log_diag(int n, const double *U)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += log(U[i + (size_t) n * i]);
    return sum;
}

/* Adds column after column, as memory lies; the innermost loop has no sum to wait for. */
void sg_row_norms(int n, const double *U, double *out)
{
    sg_zero(n, out);
    for (int j = 0; j < n; j++) {
        const double *u = U + (size_t) n * j;
        for (int i = 0; i <= j; i++) out[i] += u[i] * u[i];
    }
}

/* Stops each column at its diagonal: below it U may be undefined. */
void sg_col_squares(int n, const double *U, int ldu, double *out)
{
    for (int j = 0; j < n; j++) {
        const double *u = U + (size_t) ldu * j;
        out[j] = sg_dot(j + 1, u, u);
    }
}

/* Adds column after column, as sg_row_norms() does. */
void sg_row_squares(int n, int d, const double *X, double *out)
{
    sg_zero(n, out);
    for (int j = 0; j < d; j++) {
        const double *x = X + (size_t) n * j;
        for (int i = 0; i < n; i++) out[i] += x[i] * x[i];
    }
}

/* Adds the outer product x x' of every row's w numbers, column after column of X: the blocks of XX'
 * on the diagonal, in O(m w^2 d) instead of O(m^2 w^2 d). */
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
        /* The same w x w blocks again for every column of X */
        double *block = out;
        for (int i = 0; i < m; i++, x += w) {
            for (int b = 0; b < w; b++) {
                for (int a = 0; a < w; a++) *block++ += x[a] * x[b];
            }
        }
    }
}
