/* la.h: the BLAS and LAPACK routines the package uses, and nothing else calls them. All matrices
 * are column-major; triangular means upper unless a letter gives the other side. */
#ifndef SG_LA_H
#define SG_LA_H

#include "types.h"

/* x'y */
double sg_dot(int n, const double *x, const double *y);
/* y = a op(A) x + b y, A[m x n]; lda is its leading dimension */
void sg_gemv(char trans, int m, int n, double a, const double *A, int lda, const double *x,
             double b, double *y);
/* y = A x, A[n x n] symmetric, lower triangle read; lda is its leading dimension */
void sg_symv(int n, const double *A, int lda, const double *x, double *y);
/* A += a x x', lower triangle written */
void sg_syr(int n, double a, const double *x, double *A, int lda);
/* C[m x n] = a op(A) op(B) + b C, inner size k; ld* are leading dimensions */
void sg_gemm(char ta, char tb, int m, int n, int k, double a, const double *A, int lda,
             const double *B, int ldb, double b, double *C, int ldc);
/* C[n x n] += a A A' (trans 'N', A[n x k]) or a A'A ('T', A[k x n]); lower triangle; ld* are
 * leading dimensions */
void sg_syrk(char trans, int n, int k, double a, const double *A, int lda, double *C, int ldc);
/* x = op(U) x, U[n x n] upper */
void sg_trmv(char trans, int n, const double *U, double *x);
/* x = op(U)^{-1} x, U[n x n] upper */
void sg_trsv(char trans, int n, const double *U, int ldu, double *x);
/* B[m x n] = op(U)^{-1} B, U upper */
void sg_trsm(char trans, int m, int n, const double *U, int ldu, double *B, int ldb);
/* B[m x n] = op(U) B (side 'L') or B op(U) ('R'), U upper */
void sg_trmm(char side, char trans, int m, int n, const double *U, double *B);
/* A = U'U in place, A[n x n], upper triangle read and written; SG_NOT_PD leaves A undefined */
sg_status sg_potrf(int n, double *A, int lda);
/* U = U^{-1} in place, U upper with a non-zero diagonal */
sg_status sg_trtri(int n, double *U);
/* U = U U' in place: upper triangle of the product */
void sg_lauum(int n, double *U);
/* copy one triangle of A[n x n] onto the other: 'L' copies the lower up, 'U' the upper down; 'T'
 * exchanges them, which transposes A */
void sg_mirror(char from, int n, double *A, int lda);
/* X = U Q in place: X[n x n] becomes U, upper with zeros below, Q orthogonal, so XX' = UU'.
 * work[SG_RQ_COLUMNS n]. O(4 n^3 / 3) */
enum { SG_RQ_COLUMNS = 33 };
void sg_rq(int n, double *X, double *work);

#endif
