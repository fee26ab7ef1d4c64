/* block.c: algebra of w x w blocks (block.h): factors and eigenvalues of small symmetric matrices,
 * sites of tilts, cavities, and how far a step goes.
 *
 * Formulas for w = 1 carry over in the frame that whitens the covariance S = LL': B becomes L'BL =
 * V diag(lambda) V', and with F = L V
 *   (I + B S)^{-1} B = B - sum_k z_k z_k' / (1 + lambda_k),   z_k = B f_k,
 *   (I - S B)^{-1} S = sum_k f_k f_k' / (1 - lambda_k),
 * f_k the columns of F. So S may be singular, and terms of one sign do not cancel. */
#include <float.h>
#include <math.h>
#include "block.h"
#include "tolerances.h"
#include "types.h"

/* Are all n numbers finite? */
static int all_finite(int n, const double *x)
{
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) return 0;
    }
    return 1;
}

/* Returns A x; out must not be x. */
void sg_block_mv(int w, const double *A, const double *x, double *out)
{
    for (int i = 0; i < w; i++) {
        out[i] = 0;
        for (int j = 0; j < w; j++) out[i] += A[i + w * j] * x[j];
    }
}

/* Returns A B, column by column. */
void sg_block_multiply(int w, const double *A, const double *B, double *out)
{
    for (int j = 0; j < w; j++) sg_block_mv(w, A, B + w * j, out + w * j);
}

/* Returns A'B. */
static void multiply_t(int w, const double *A, const double *B, double *C)
{
    for (int j = 0; j < w; j++) {
        for (int i = 0; i < w; i++) {
            C[i + w * j] = 0;
            for (int k = 0; k < w; k++) C[i + w * j] += A[k + w * i] * B[k + w * j];
        }
    }
}

/* ---- Factors ---- */

/* Factors column by column; the first pivot that is not positive, or NaN, ends it. O(w^3 / 3);
 * upper entries of L become 0. */
int sg_block_cholesky(int w, const double *A, double *L)
{
    for (int j = 0; j < w; j++) {
        for (int i = 0; i < w; i++) {
            double left = A[i + w * j];
            for (int k = 0; k < j; k++) left -= L[i + w * k] * L[j + w * k];
            L[i + w * j] = i < j ? 0 : i == j ? sqrt(left) : left / L[j + w * j];
            if (i == j && !(left > 0)) return 0;
        }
    }
    return 1;
}

/* Solves L x = b from the top. */
void sg_block_forward(int w, const double *L, double *x)
{
    for (int i = 0; i < w; i++) {
        for (int k = 0; k < i; k++) x[i] -= L[i + w * k] * x[k];
        x[i] /= L[i + w * i];
    }
}

/* Solves L'x = b from the bottom. */
void sg_block_backward(int w, const double *L, double *x)
{
    for (int i = w - 1; i >= 0; i--) {
        for (int k = i + 1; k < w; k++) x[i] -= L[k + w * i] * x[k];
        x[i] /= L[i + w * i];
    }
}

/* Solves for each unit vector, forward and backward. */
void sg_block_inverse(int w, const double *L, double *inverse)
{
    for (int j = 0; j < w; j++) {
        double *column = inverse + w * j;
        for (int i = 0; i < w; i++) column[i] = i == j;
        sg_block_forward(w, L, column);
        sg_block_backward(w, L, column);
    }
}

/* Factors with pivots: each is the largest proportion of a diagonal entry that is left, as
 * proportions have no units. Below the rounding of the entries nothing is left, and the rest of L
 * stays 0. LL' = S for a semidefinite S; L is not triangular. O(w^3). */
void sg_block_root(int w, const double *S, double *L)
{
    const double NOTHING = w * DBL_EPSILON;
    double left[SG_BLOCK_MAX];
    int taken[SG_BLOCK_MAX] = {0};
    for (int i = 0; i < w; i++) left[i] = S[i + w * i];
    for (int i = 0; i < w * w; i++) L[i] = S[i] - S[i]; /* 0, or NaN stays */
    for (int step = 0; step < w; step++) {
        double *column = L + w * step, most = NOTHING;
        int p = -1;
        for (int i = 0; i < w; i++) {
            if (taken[i] || !(left[i] > most * S[i + w * i])) continue;
            most = left[i] / S[i + w * i], p = i;
        }
        if (p < 0) return;
        taken[p] = 1;
        column[p] = sqrt(left[p]);
        for (int i = 0; i < w; i++) {
            if (taken[i]) continue;
            double rest = S[i + w * p];
            for (int k = 0; k < step; k++) rest -= L[i + w * k] * L[p + w * k];
            column[i] = rest / column[p];
            left[i] -= column[i] * column[i];
        }
    }
}

/* ---- Eigenvalues ---- */

/* Rotates rows and columns p < q of A such that A_pq becomes 0, and U with them (Golub and Van Loan
 * 8.5; the smaller of the two angles). */
static void rotate(int w, int p, int q, double *A, double *U)
{
    const double off = A[p + w * q];
    if (off == 0) return;
    const double theta = (A[q + w * q] - A[p + w * p]) / (2 * off);
    const double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1));
    const double c = 1 / hypot(t, 1), s = t * c;
    for (int k = 0; k < w; k++) {
        const double up = U[k + w * p], uq = U[k + w * q];
        U[k + w * p] = c * up - s * uq, U[k + w * q] = s * up + c * uq;
        if (k == p || k == q) continue;
        const double ap = A[k + w * p], aq = A[k + w * q];
        A[k + w * p] = A[p + w * k] = c * ap - s * aq;
        A[k + w * q] = A[q + w * k] = s * ap + c * aq;
    }
    A[p + w * p] -= t * off, A[q + w * q] += t * off;
    A[p + w * q] = A[q + w * p] = 0;
}

/* Is A_pq more than rounding beside what it would be rotated into? */
static int is_off(int w, const double *A, int p, int q)
{
    return fabs(A[p + w * q]) > DBL_EPSILON * sqrt(fabs(A[p + w * p])) * sqrt(fabs(A[q + w * q]));
}

/* Sorts ascending, the vectors with their values. */
static void sort_values(int w, double *A, double *U, double *lambda)
{
    for (int j = 0; j < w; j++) lambda[j] = A[j + w * j];
    for (int j = 0; j < w; j++) {
        int least = j;
        for (int k = j + 1; k < w; k++) least = lambda[k] < lambda[least] ? k : least;
        const double value = lambda[j];
        lambda[j] = lambda[least], lambda[least] = value;
        for (int i = 0; i < w && least != j; i++) {
            const double u = U[i + w * j];
            U[i + w * j] = U[i + w * least], U[i + w * least] = u;
        }
    }
}

/* Sweeps over all pairs by Jacobi rotations until nothing is left off the diagonal: quadratic
 * convergence, four to eight sweeps. A = U diag(lambda) U', lambda ascending. O(w^3) a sweep. */
void sg_block_eigen(int w, const double *A, double *U, double *lambda)
{
    enum { SWEEPS = 30 }; /* four to eight do */
    double B[SG_BLOCK_SIZE];
    sg_copy(w * w, A, B);
    for (int i = 0; i < w * w; i++) U[i] = i % (w + 1) == 0;
    int turned = 1;
    for (int sweep = 0; sweep < SWEEPS && turned; sweep++) {
        turned = 0;
        for (int p = 0; p < w - 1; p++) {
            for (int q = p + 1; q < w; q++) {
                if (!is_off(w, B, p, q)) continue;
                rotate(w, p, q, B, U);
                turned = 1;
            }
        }
    }
    sort_values(w, B, U, lambda);
}

/* ---- The whitened frame ---- */

/* N(., S) and a symmetric block B seen in its frame: L, L'BL = V diag(lambda) V', and F = L V. */
typedef struct {
    double L[SG_BLOCK_SIZE], V[SG_BLOCK_SIZE], F[SG_BLOCK_SIZE], lambda[SG_BLOCK_MAX];
} frame;

/* Returns L'BL. */
static void congruence(int w, const double *L, const double *B, double *out)
{
    double BL[SG_BLOCK_SIZE];
    sg_block_multiply(w, B, L, BL);
    multiply_t(w, L, BL, out);
}

/* Finds the frame of S and B. Returns 0 when a number is not finite. */
static int whiten(int w, const double *S, const double *B, frame *in)
{
    double seen[SG_BLOCK_SIZE];
    sg_block_root(w, S, in->L);
    congruence(w, in->L, B, seen);
    if (!all_finite(w * w, seen)) return 0;
    sg_block_eigen(w, seen, in->V, in->lambda);
    sg_block_multiply(w, in->L, in->V, in->F);
    return 1;
}

/* Adds sum_k share_k z_k z_k' to out, z_k the columns of Z. */
static void add_squares(int w, const double *Z, const double *share, double *out)
{
    for (int k = 0; k < w; k++) {
        const double *z = Z + w * k;
        for (int j = 0; j < w; j++) {
            for (int i = 0; i < w; i++) out[i + w * j] += share[k] * (z[i] * z[j]);
        }
    }
}

/* Adds A diag(share) B'y to x. */
static void add_through(int w, const double *A, const double *share, const double *B,
                        const double *y, double *x)
{
    for (int k = 0; k < w; k++) {
        double along = 0;
        for (int i = 0; i < w; i++) along += B[i + w * k] * y[i];
        for (int i = 0; i < w; i++) x[i] += share[k] * along * A[i + w * k];
    }
}

/* With (I + d2 LL')^{-1} = I - d2 L (I + L'd2 L)^{-1} L' and Z = d2 F:
 *   T = -d2 + Z diag(1 / (1 + lambda)) Z',
 *   nu = x - Z diag(1 / (1 + lambda)) F'x,   x = d1 - d2 mu,
 * sums of two terms of one sign where d2 narrows. mu, d1, nu: w; S, d2, T: w x w. Returns 0, and
 * writes nothing, where 1 + lambda is not positive: there is no tilted distribution. O(w^3). */
int sg_block_site(int w, const double *mu, const double *S, const double *d1, const double *d2,
                  double *T, double *nu)
{
    frame in;
    double Z[SG_BLOCK_SIZE], site[SG_BLOCK_SIZE];
    double x[SG_BLOCK_MAX], y[SG_BLOCK_MAX], share[SG_BLOCK_MAX];
    if (!whiten(w, S, d2, &in) || !(in.lambda[0] > -1)) return 0;
    sg_block_multiply(w, d2, in.F, Z);
    sg_block_mv(w, d2, mu, x);
    for (int i = 0; i < w; i++) x[i] = y[i] = d1[i] - x[i];
    for (int i = 0; i < w * w; i++) site[i] = -d2[i];
    for (int k = 0; k < w; k++) share[k] = 1 / (1 + in.lambda[k]);
    add_squares(w, Z, share, site);
    for (int k = 0; k < w; k++) share[k] = -share[k];
    add_through(w, Z, share, in.F, y, x);
    if (!all_finite(w * w, site) || !all_finite(w, x)) return 0;
    sg_copy(w * w, site, T);
    sg_copy(w, x, nu);
    return 1;
}

/* G = I - S T has the eigenvalues g = 1 - lambda of I - L'TL, and
 *   cov = G^{-1} S = F diag(1 / g) F',   mean = m - cov (nu - T m),   log|G| = sum log g.
 * The scalar formulas 78 and 79 in the frame. Returns 0 where the cavity is not a distribution.
 * O(w^3). */
int sg_block_cavity(int w, const double *m, const double *S, const double *T, const double *nu,
                    double *mean, double *cov, double *log_det_G)
{
    frame in;
    double a[SG_BLOCK_MAX], share[SG_BLOCK_MAX];
    if (!whiten(w, S, T, &in) || !(in.lambda[w - 1] < 1)) return 0;
    sg_block_mv(w, T, m, a);
    *log_det_G = 0;
    for (int k = 0; k < w; k++) {
        a[k] = nu[k] - a[k];
        share[k] = 1 / (1 - in.lambda[k]);
        *log_det_G += log1p(-in.lambda[k]);
        mean[k] = m[k];
    }
    sg_zero(w * w, cov);
    add_squares(w, in.F, share, cov);
    for (int k = 0; k < w; k++) share[k] = -share[k];
    add_through(w, in.F, share, in.F, a, mean);
    return 1;
}

/* Takes off the eigenvalues above 0: with z = d2 L v of an eigenvector v, L'z = lambda v, so d2 -
 * z z' / lambda has eigenvalue 0 there and the others unchanged. d2 stays as it was where a number
 * is not finite. */
void sg_block_clip_tilt(int w, const double *S, double *d2)
{
    frame in;
    double Z[SG_BLOCK_SIZE], share[SG_BLOCK_MAX];
    if (!whiten(w, S, d2, &in)) return;
    sg_block_multiply(w, d2, in.F, Z);
    for (int k = 0; k < w; k++) share[k] = in.lambda[k] > SG_NO_BEND ? -1 / in.lambda[k] : 0;
    add_squares(w, Z, share, d2);
}

/* Adds up the scalar formula (sg_step_kl()) over the frame's directions. With b = V'L'd1:
 *   kl[0] = 1/2 sum b^2 + lambda - log(1 + lambda)
 *   kl[1] = 1/2 sum (b^2 - lambda) / (1 + lambda) + log(1 + lambda)
 * Both are sums of scalar divergences, as the frame makes the directions independent. */
void sg_block_step_kl(int w, const double *S, const double *d1, const double *d2, double kl[2])
{
    frame in;
    kl[0] = kl[1] = 0;
    if (!whiten(w, S, d2, &in)) {
        kl[0] = kl[1] = NAN;
        return;
    }
    for (int k = 0; k < w; k++) {
        double b = 0;
        for (int i = 0; i < w; i++) b += in.F[i + w * k] * d1[i];
        const double lambda = in.lambda[k], logs = log1p(lambda);
        kl[0] += 0.5 * (b * b + lambda - logs);
        kl[1] += 0.5 * ((b * b - lambda) / (1 + lambda) + logs);
    }
}

/* ---- Blocks in other frames ---- */

/* Subtracts lambda u u' for each eigenvalue below 0. */
void sg_block_clip(int w, double *T)
{
    double U[SG_BLOCK_SIZE], lambda[SG_BLOCK_MAX];
    sg_block_eigen(w, T, U, lambda);
    for (int k = 0; k < w; k++) {
        if (!(lambda[k] < 0)) continue;
        for (int j = 0; j < w; j++) {
            for (int i = 0; i < w; i++) T[i + w * j] -= lambda[k] * U[i + w * k] * U[j + w * k];
        }
    }
}

/* A = (A + A') / 2, where rounding has made A unsymmetric */
static void symmetrise(int w, double *A)
{
    for (int j = 0; j < w; j++) {
        for (int i = 0; i < j; i++) {
            A[i + w * j] = A[j + w * i] = 0.5 * (A[i + w * j] + A[j + w * i]);
        }
    }
}

/* I + A */
static void add_identity(int w, double *A)
{
    for (int a = 0; a < w; a++) A[a * (w + 1)] += 1;
}

/* Exchanges rows i and j of A[w x columns]. */
static void swap_rows(int w, int columns, int i, int j, double *A)
{
    for (int k = 0; k < columns; k++) {
        const double kept = A[i + w * k];
        A[i + w * k] = A[j + w * k];
        A[j + w * k] = kept;
    }
}

/* B[w x columns] := A^{-1} B by Gaussian elimination with partial pivoting; where A is singular B
 * becomes NaN or infinite, which callers test. O(w^2 (w + columns)). */
static void solve(int w, const double *A, int columns, double *B)
{
    double LU[SG_BLOCK_SIZE];
    sg_copy(w * w, A, LU);
    for (int p = 0; p < w; p++) {
        int best = p;
        for (int i = p + 1; i < w; i++) {
            if (fabs(LU[i + w * p]) > fabs(LU[best + w * p])) best = i;
        }
        swap_rows(w, w, p, best, LU);
        swap_rows(w, columns, p, best, B);
        for (int i = p + 1; i < w; i++) {
            const double share = LU[i + w * p] / LU[p + w * p];
            for (int k = p + 1; k < w; k++) LU[i + w * k] -= share * LU[p + w * k];
            for (int k = 0; k < columns; k++) B[i + w * k] -= share * B[p + w * k];
        }
    }
    for (int k = 0; k < columns; k++) {
        for (int i = w - 1; i >= 0; i--) {
            for (int j = i + 1; j < w; j++) B[i + w * k] -= LU[i + w * j] * B[j + w * k];
            B[i + w * k] /= LU[i + w * i];
        }
    }
}

/* Solves (I + T gamma) (T_new, nu_new) = (T, nu - T offset) for all w + 1 columns at once. gamma
 * NULL: 0. O(w^3). */
void sg_block_soften(int w, const double *offset, const double *gamma, double *T, double *nu)
{
    double D[SG_BLOCK_SIZE], right[SG_BLOCK_SIZE + SG_BLOCK_MAX];
    sg_block_mv(w, T, offset, right + w * w);
    sg_copy(w * w, T, right);
    for (int a = 0; a < w; a++) right[w * w + a] = nu[a] - right[w * w + a];
    if (gamma) {
        sg_block_multiply(w, T, gamma, D);
        add_identity(w, D);
        solve(w, D, w + 1, right);
        symmetrise(w, right);
    }
    sg_copy(w * w, right, T);
    sg_copy(w, right + w * w, nu);
}

/* Returns sqrt(x'S x), the length of L'x. */
double sg_block_norm(int w, const double *S, const double *x)
{
    double Sx[SG_BLOCK_MAX], sum = 0;
    sg_block_mv(w, S, x, Sx);
    for (int a = 0; a < w; a++) sum += x[a] * Sx[a];
    return sum < 0 ? 0 : sqrt(sum); /* below 0 is rounding; NaN stays */
}

/* Returns the Frobenius norm of L'BL. */
double sg_block_size(int w, const double *S, const double *B)
{
    double L[SG_BLOCK_SIZE], C[SG_BLOCK_SIZE], sum = 0;
    sg_block_root(w, S, L);
    congruence(w, L, B, C);
    for (int k = 0; k < w * w; k++) sum += C[k] * C[k];
    return sqrt(sum);
}
