/* la.c: the only file that calls BLAS or LAPACK, and the only one that knows FCONE, the hidden
 * length that Fortran's character arguments have.
 *
 * BLAS and LAPACK take no leading dimension of 0, and gemv leaves y alone when A has no columns:
 * matrices of no rows or columns stop here, so callers need no special case for an empty basis. */
#include <R_ext/BLAS.h>
#include <R_ext/Lapack.h>
#include "la.h"

#ifndef FCONE
#define FCONE
#endif

/* The stride of contiguous vectors */
static const int ONE = 1;

/* Returns x'y. */
double sg_dot(int n, const double *x, const double *y)
{
    return F77_CALL(ddot)(&n, x, &ONE, y, &ONE);
}

/* y = a op(A) x + b y; with b = 0 y is not read, as it may be NaN. */
void sg_gemv(char trans, int m, int n, double a, const double *A, int lda, const double *x,
             double b, double *y)
{
    const int out = trans == 'N' ? m : n, in = trans == 'N' ? n : m;
    for (int i = 0; in == 0 && i < out; i++) y[i] = b == 0 ? 0 : b * y[i];
    if (out == 0 || in == 0) return;
    F77_CALL(dgemv)(&trans, &m, &n, &a, A, &lda, x, &ONE, &b, y, &ONE FCONE);
}

/* Computes y = A x of a symmetric A, which is read below its diagonal. */
void sg_symv(int n, const double *A, int lda, const double *x, double *y)
{
    if (n == 0) return;
    const double one = 1, zero = 0;
    F77_CALL(dsymv)("L", &n, &one, A, &lda, x, &ONE, &zero, y, &ONE FCONE);
}

/* Adds a x x' to A, below the diagonal alone: half the work of a general update. */
void sg_syr(int n, double a, const double *x, double *A, int lda)
{
    if (n == 0) return;
    F77_CALL(dsyr)("L", &n, &a, x, &ONE, A, &lda FCONE);
}

/* The same for C = a op(A) op(B) + b C: an inner size of 0 leaves b C. O(m n k). */
void sg_gemm(char ta, char tb, int m, int n, int k, double a, const double *A, int lda,
             const double *B, int ldb, double b, double *C, int ldc)
{
    if (m == 0 || n == 0) return;
    if (k == 0) {
        for (int j = 0; j < n; j++) {
            double *col = C + (size_t) ldc * j;
            for (int i = 0; i < m; i++) col[i] = b == 0 ? 0 : b * col[i];
        }
        return;
    }
    F77_CALL(dgemm)(&ta, &tb, &m, &n, &k, &a, A, &lda, B, &ldb, &b, C, &ldc FCONE FCONE);
}

/* Adds a op(A) op(A)' to C[n x n], below the diagonal alone. O(n^2 k). */
void sg_syrk(char trans, int n, int k, double a, const double *A, int lda, double *C, int ldc)
{
    if (n == 0 || k == 0) return;
    const double one = 1;
    F77_CALL(dsyrk)("L", &trans, &n, &k, &a, A, &lda, &one, C, &ldc FCONE FCONE);
}

/* Replaces x by op(U) x, U upper. O(n^2). */
void sg_trmv(char trans, int n, const double *U, double *x)
{
    if (n == 0) return;
    F77_CALL(dtrmv)("U", &trans, "N", &n, U, &n, x, &ONE FCONE FCONE FCONE);
}

/* Replaces x by op(U)^{-1} x. */
void sg_trsv(char trans, int n, const double *U, int ldu, double *x)
{
    if (n == 0) return;
    F77_CALL(dtrsv)("U", &trans, "N", &n, U, &ldu, x, &ONE FCONE FCONE FCONE);
}

/* Replaces B[m x n] by op(U)^{-1} B. O(m^2 n). */
void sg_trsm(char trans, int m, int n, const double *U, int ldu, double *B, int ldb)
{
    if (m == 0 || n == 0) return;
    const double one = 1;
    F77_CALL(dtrsm)("L", "U", &trans, "N", &m, &n, &one, U, &ldu, B, &ldb
                    FCONE FCONE FCONE FCONE);
}

/* Replaces B[m x n] by op(U) B or B op(U). O(m^2 n), or O(m n^2). */
void sg_trmm(char side, char trans, int m, int n, const double *U, double *B)
{
    if (m == 0 || n == 0) return;
    const int ldu = side == 'L' ? m : n;
    const double one = 1;
    F77_CALL(dtrmm)(&side, "U", &trans, "N", &m, &n, &one, U, &ldu, B, &m
                    FCONE FCONE FCONE FCONE);
}

/* Factors A = U'U in place; SG_NOT_PD at the first pivot that is not positive. O(n^3 / 3). */
sg_status sg_potrf(int n, double *A, int lda)
{
    if (n == 0) return SG_OK;
    int info;
    F77_CALL(dpotrf)("U", &n, A, &lda, &info FCONE);
    return info == 0 ? SG_OK : SG_NOT_PD;
}

/* Inverts the leading n x n part of U in place, by halves:
 *   [U V; 0 W]^{-1} = [U^{-1}  -U^{-1} V W^{-1}; 0  W^{-1}].
 * Products take all but small blocks, and half the time of a dtrtri that solves for the same. */
static sg_status invert_halves(int n, double *U, int ldu)
{
    enum { SMALL = 64 };
    if (n <= SMALL) {
        int info;
        F77_CALL(dtrtri)("U", "N", &n, U, &ldu, &info FCONE FCONE);
        return info == 0 ? SG_OK : SG_NOT_PD;
    }
    const int half = n / 2, rest = n - half;
    double *V = U + (size_t) ldu * half, *W = V + half;
    const double one = 1, minus = -1;
    sg_status status = invert_halves(half, U, ldu);
    if (status == SG_OK) status = invert_halves(rest, W, ldu);
    if (status != SG_OK) return status;
    F77_CALL(dtrmm)("L", "U", "N", "N", &half, &rest, &minus, U, &ldu, V, &ldu
                    FCONE FCONE FCONE FCONE);
    F77_CALL(dtrmm)("R", "U", "N", "N", &half, &rest, &one, W, &ldu, V, &ldu
                    FCONE FCONE FCONE FCONE);
    return SG_OK;
}

/* Inverts U in place. O(n^3 / 3). */
sg_status sg_trtri(int n, double *U)
{
    return n == 0 ? SG_OK : invert_halves(n, U, n);
}

/* Replaces the upper triangle U by that of U U'. O(n^3 / 3). */
void sg_lauum(int n, double *U)
{
    if (n == 0) return;
    int info; /* reports illegal arguments only */
    F77_CALL(dlauum)("U", &n, U, &n, &info FCONE);
}

/* Copies or exchanges in blocks of 32 x 32, so the rows and the columns of both triangles stay in
 * cache. */
void sg_mirror(char from, int n, double *A, int lda)
{
    enum { BLOCK = 32 };
    for (int jb = 0; jb < n; jb += BLOCK) {
        for (int ib = jb; ib < n; ib += BLOCK) {
            const int jend = jb + BLOCK < n ? jb + BLOCK : n;
            const int iend = ib + BLOCK < n ? ib + BLOCK : n;
            for (int j = jb; j < jend; j++) {
                for (int i = ib > j ? ib : j + 1; i < iend; i++) {
                    double *lower = A + i + (size_t) lda * j, *upper = A + j + (size_t) lda * i;
                    const double kept = *upper;
                    if (from != 'U') *upper = *lower;
                    if (from != 'L') *lower = kept;
                }
            }
        }
    }
}

/* X = U Q by dgerqf, which leaves the reflectors of Q below the diagonal of U: they are overwritten
 * by zeros. */
void sg_rq(int n, double *X, double *work)
{
    if (n == 0) return;
    const int lwork = SG_RQ_COLUMNS * n - n;
    int info; /* reports illegal arguments only */
    F77_CALL(dgerqf)(&n, &n, X, &n, work, work + n, &lwork, &info);
    for (int j = 0; j < n; j++) {
        sg_zero(n - 1 - j, X + j + 1 + (size_t) n * j);
    }
}
