/* block.c: algebra of w x w blocks (block.h). */
#include <math.h>
#include "block.h"

void sg_block_multiply(int w, const double *A, const double *B, double *out)
{
    for (int j = 0; j < w; j++) sg_block_mv(w, A, B + w * j, out + w * j);
}

void sg_block_mv(int w, const double *A, const double *x, double *out)
{
    for (int i = 0; i < w; i++) {
        out[i] = 0;
        for (int k = 0; k < w; k++) out[i] += A[i + w * k] * x[k];
    }
}

/* out = L'B L */
static void congruence(int w, const double *L, const double *B, double *out)
{
    double BL[SG_BLOCK_SIZE];
    sg_block_multiply(w, B, L, BL);
    for (int j = 0; j < w; j++) {
        for (int i = 0; i < w; i++) {
            double sum = 0;
            for (int k = 0; k < w; k++) sum += L[k + w * i] * BL[k + w * j];
            out[i + w * j] = sum;
        }
    }
}

static void symmetrise(int w, double *A)
{
    for (int j = 0; j < w; j++) {
        for (int i = 0; i < j; i++) {
            A[i + w * j] = A[j + w * i] = 0.5 * (A[i + w * j] + A[j + w * i]);
        }
    }
}

/* ---- Eigenvalues ---- */

/* Rotates coordinates p and q of A and the columns of U so that A_pq = 0. */
static void rotate(int w, int p, int q, double *A, double *U)
{
    const double off = A[p + w * q];
    if (off == 0) return;
    const double theta = (A[q + w * q] - A[p + w * p]) / (2 * off);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < w; k++) {
        const double x = A[k + w * p], y = A[k + w * q];
        A[k + w * p] = c * x - s * y;
        A[k + w * q] = s * x + c * y;
    }
    for (int k = 0; k < w; k++) {
        const double x = A[p + w * k], y = A[q + w * k];
        A[p + w * k] = c * x - s * y;
        A[q + w * k] = s * x + c * y;
        const double u = U[k + w * p], v = U[k + w * q];
        U[k + w * p] = c * u - s * v;
        U[k + w * q] = s * u + c * v;
    }
    A[p + w * q] = A[q + w * p] = 0;
}

void sg_block_eigen(int w, const double *A, double *U, double *lambda)
{
    enum { ROUNDS = 30 }; /* convergence is quadratic: some six are needed */
    double B[SG_BLOCK_SIZE];
    for (int k = 0; k < w * w; k++) {
        B[k] = A[k];
        U[k] = k % (w + 1) == 0;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double off = 0, all = 0;
        for (int k = 0; k < w * w; k++) {
            all += B[k] * B[k];
            off += k % (w + 1) == 0 ? 0 : B[k] * B[k];
        }
        if (!(off > 1e-34 * all)) break; /* less than the rounding of an eigenvalue */
        for (int p = 0; p < w; p++) {
            for (int q = p + 1; q < w; q++) rotate(w, p, q, B, U);
        }
    }
    for (int a = 0; a < w; a++) lambda[a] = B[a * (w + 1)];
}

void sg_block_root(int w, const double *S, double *L)
{
    double lambda[SG_BLOCK_MAX];
    sg_block_eigen(w, S, L, lambda);
    for (int j = 0; j < w; j++) {
        /* below 0 is rounding; NaN stays */
        const double root = lambda[j] < 0 ? 0 : sqrt(lambda[j]);
        for (int i = 0; i < w; i++) L[i + w * j] *= root;
    }
}

/* Eigenvalues of I + sign L'B L, S = LL', sorted as they come. */
static void shares(int w, const double *S, double sign, const double *B, double *lambda)
{
    double L[SG_BLOCK_SIZE], C[SG_BLOCK_SIZE], U[SG_BLOCK_SIZE];
    sg_block_root(w, S, L);
    congruence(w, L, B, C);
    sg_block_eigen(w, C, U, lambda);
    for (int a = 0; a < w; a++) lambda[a] = 1 + sign * lambda[a];
}

static int all_positive(int w, const double *lambda)
{
    for (int a = 0; a < w; a++) {
        if (!(lambda[a] > 0)) return 0;
    }
    return 1;
}

/* ---- Solving ---- */

static void swap_rows(int w, int columns, int i, int j, double *A)
{
    for (int k = 0; k < columns; k++) {
        const double kept = A[i + w * k];
        A[i + w * k] = A[j + w * k];
        A[j + w * k] = kept;
    }
}

/* Gaussian elimination with partial pivoting. */
int sg_block_solve(int w, const double *A, int columns, double *B)
{
    double LU[SG_BLOCK_SIZE];
    for (int k = 0; k < w * w; k++) LU[k] = A[k];
    for (int p = 0; p < w; p++) {
        int best = p;
        for (int i = p + 1; i < w; i++) {
            if (fabs(LU[i + w * p]) > fabs(LU[best + w * p])) best = i;
        }
        if (!(fabs(LU[best + w * p]) > 0)) return 0;
        swap_rows(w, w, p, best, LU);
        swap_rows(w, columns, p, best, B);
        for (int i = p + 1; i < w; i++) {
            const double share = LU[i + w * p] / LU[p + w * p];
            for (int k = p + 1; k < w; k++) LU[i + w * k] -= share * LU[p + w * k];
            for (int k = 0; k < columns; k++) B[i + w * k] -= share * B[p + w * k];
        }
    }
    double sum = 0;
    for (int k = 0; k < columns; k++) {
        for (int i = w - 1; i >= 0; i--) {
            for (int j = i + 1; j < w; j++) B[i + w * k] -= LU[i + w * j] * B[j + w * k];
            B[i + w * k] /= LU[i + w * i];
            sum += B[i + w * k];
        }
    }
    return isfinite(sum);
}

/* I + A */
static void add_identity(int w, double *A)
{
    for (int a = 0; a < w; a++) A[a * (w + 1)] += 1;
}

/* ---- Sites and cavities ---- */

int sg_block_site(int w, const double *mu, const double *S, const double *d1, const double *d2,
                  double *T, double *nu)
{
    double lambda[SG_BLOCK_MAX], D[SG_BLOCK_SIZE], right[SG_BLOCK_SIZE + SG_BLOCK_MAX];
    shares(w, S, 1, d2, lambda);
    if (!all_positive(w, lambda)) return 0;
    sg_block_multiply(w, d2, S, D);
    add_identity(w, D);
    sg_block_mv(w, d2, mu, right + w * w);
    for (int k = 0; k < w * w; k++) right[k] = -d2[k];
    for (int a = 0; a < w; a++) right[w * w + a] = d1[a] - right[w * w + a];
    if (!sg_block_solve(w, D, w + 1, right)) return 0;
    symmetrise(w, right);
    for (int k = 0; k < w * w; k++) T[k] = right[k];
    for (int a = 0; a < w; a++) nu[a] = right[w * w + a];
    return 1;
}

int sg_block_cavity(int w, const double *m, const double *S, const double *T, const double *nu,
                    double *mean, double *cov, double *log_det)
{
    double lambda[SG_BLOCK_MAX], G[SG_BLOCK_SIZE], alpha[SG_BLOCK_MAX], shift[SG_BLOCK_MAX];
    shares(w, S, -1, T, lambda);
    if (!all_positive(w, lambda)) return 0;
    *log_det = 0;
    for (int a = 0; a < w; a++) *log_det += log(lambda[a]);
    sg_block_multiply(w, S, T, G);
    for (int k = 0; k < w * w; k++) G[k] *= -1, cov[k] = S[k];
    add_identity(w, G);
    if (!sg_block_solve(w, G, w, cov)) return 0;
    symmetrise(w, cov);
    sg_block_mv(w, T, m, alpha);
    for (int a = 0; a < w; a++) alpha[a] = nu[a] - alpha[a];
    sg_block_mv(w, cov, alpha, shift);
    for (int a = 0; a < w; a++) mean[a] = m[a] - shift[a];
    return 1;
}

/* With L'd2 L = W diag(lambda) W' and x = d2 L w_k, what the eigenvalue lambda_k contributes to d2
 * is x x' / lambda_k, without an inverse of L. */
void sg_block_narrow(int w, const double *S, double *d2)
{
    double L[SG_BLOCK_SIZE], C[SG_BLOCK_SIZE], W[SG_BLOCK_SIZE], lambda[SG_BLOCK_MAX];
    double old[SG_BLOCK_SIZE], Lw[SG_BLOCK_MAX], x[SG_BLOCK_MAX];
    sg_block_root(w, S, L);
    congruence(w, L, d2, C);
    sg_block_eigen(w, C, W, lambda);
    for (int k = 0; k < w * w; k++) old[k] = d2[k];
    for (int k = 0; k < w; k++) {
        if (!(lambda[k] > 0)) continue;
        sg_block_mv(w, L, W + w * k, Lw);
        sg_block_mv(w, old, Lw, x);
        for (int j = 0; j < w; j++) {
            for (int i = 0; i < w; i++) d2[i + w * j] -= x[i] * x[j] / lambda[k];
        }
    }
}

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

/* With lambda the eigenvalues of L'd2 L and y = W'L'd1:
 *   kl[0] = (|y|^2 + sum lambda - sum log(1 + lambda)) / 2
 *   kl[1] = (sum y^2 / (1 + lambda) - sum lambda / (1 + lambda) + sum log(1 + lambda)) / 2 */
void sg_block_step_kl(int w, const double *S, const double *d1, const double *d2, double kl[2])
{
    double L[SG_BLOCK_SIZE], C[SG_BLOCK_SIZE], W[SG_BLOCK_SIZE], lambda[SG_BLOCK_MAX];
    sg_block_root(w, S, L);
    congruence(w, L, d2, C);
    sg_block_eigen(w, C, W, lambda);
    kl[0] = kl[1] = 0;
    for (int k = 0; k < w; k++) {
        double Lw[SG_BLOCK_MAX], y = 0;
        sg_block_mv(w, L, W + w * k, Lw);
        for (int a = 0; a < w; a++) y += Lw[a] * d1[a];
        const double shrink = lambda[k], logs = log1p(shrink);
        kl[0] += (y * y + shrink - logs) / 2;
        kl[1] += ((y * y - shrink) / (1 + shrink) + logs) / 2;
    }
}

void sg_block_soften(int w, const double *offset, const double *gamma, double *T, double *nu)
{
    double D[SG_BLOCK_SIZE], right[SG_BLOCK_SIZE + SG_BLOCK_MAX];
    sg_block_mv(w, T, offset, right + w * w);
    for (int k = 0; k < w * w; k++) right[k] = T[k];
    for (int a = 0; a < w; a++) right[w * w + a] = nu[a] - right[w * w + a];
    if (gamma) {
        sg_block_multiply(w, T, gamma, D);
        add_identity(w, D);
        sg_block_solve(w, D, w + 1, right);
        symmetrise(w, right);
    }
    for (int k = 0; k < w * w; k++) T[k] = right[k];
    for (int a = 0; a < w; a++) nu[a] = right[w * w + a];
}

double sg_block_norm(int w, const double *S, const double *x)
{
    double Sx[SG_BLOCK_MAX], sum = 0;
    sg_block_mv(w, S, x, Sx);
    for (int a = 0; a < w; a++) sum += x[a] * Sx[a];
    return sum < 0 ? 0 : sqrt(sum); /* below 0 is rounding; NaN stays */
}

double sg_block_size(int w, const double *S, const double *B)
{
    double L[SG_BLOCK_SIZE], C[SG_BLOCK_SIZE], sum = 0;
    sg_block_root(w, S, L);
    congruence(w, L, B, C);
    for (int k = 0; k < w * w; k++) sum += C[k] * C[k];
    return sqrt(sum);
}
