/* lik_mvnormal.c: w responses at once, y ~ N(f, Sigma) with a full w x w covariance Sigma = LL', L
 * lower. y: the w responses. theta: L column by column, w (w + 1) / 2 numbers, the logarithm on the
 * diagonal and what stands below it as it is: log L_11, L_21, .., L_w1, log L_22, L_32, ...
 *
 * Exact: with A = S + Sigma and r = y - mu,
 *   log Z = -(w log 2 pi + log|A| + r'A^{-1}r) / 2,  d1 = A^{-1}r,  d2 = -A^{-1},
 *   dlogZ/dSigma = (d1 d1' - A^{-1}) / 2, hence dlogZ/dL = (d1 d1' - A^{-1}) L,
 * and the site is that of the response: T = Sigma^{-1}, nu = T y. A new response is N(f, Sigma). */
#include <math.h>
#include <Rmath.h>
#include "block.h"
#include "lik.h"

/* L of Sigma, zeros above */
static void factor_of(const sg_lik *self, double *L)
{
    const int w = self->w;
    const double *theta = self->theta;
    for (int j = 0; j < w; j++) {
        for (int i = 0; i < w; i++) L[i + w * j] = i < j ? 0 : i == j ? exp(*theta++) : *theta++;
    }
}

/* S + Sigma; S may be NULL, for zero */
static void total_covariance(const sg_lik *self, const double *S, double *A)
{
    const int w = self->w;
    double L[SG_BLOCK_SIZE];
    factor_of(self, L);
    for (int j = 0; j < w; j++) {
        for (int i = 0; i < w; i++) {
            double sum = S ? S[i + w * j] : 0;
            for (int k = 0; k <= (i < j ? i : j); k++) sum += L[i + w * k] * L[j + w * k];
            A[i + w * j] = sum;
        }
    }
}

/* d1[w] = A^{-1} (y - mu), and A^{-1} unless NULL; returns log Z. */
static double solve_row(const sg_lik *self, const double *y, const double *mu, const double *S,
                        double *d1, double *inverse)
{
    const int w = self->w;
    double A[SG_BLOCK_SIZE], L[SG_BLOCK_SIZE], logz = -w * M_LN_SQRT_2PI;
    if (S) total_covariance(self, S, A);
    else factor_of(self, L);
    if (S && !sg_block_cholesky(w, A, L)) {
        for (int i = 0; i < w * w; i++) L[i] = NAN; /* S is no covariance */
    }
    for (int i = 0; i < w; i++) d1[i] = y[i] - mu[i];
    sg_block_forward(w, L, d1);
    for (int i = 0; i < w; i++) logz -= log(L[i + w * i]) + 0.5 * d1[i] * d1[i];
    sg_block_backward(w, L, d1);
    if (inverse) sg_block_inverse(w, L, inverse);
    return logz;
}

static double mvnormal_logp(const sg_lik *self, const double *y, const double *f)
{
    double d1[SG_LIK_MAX_WIDTH];
    return solve_row(self, y, f, 0, d1, 0);
}

static void mvnormal_tilt(const sg_lik *self, const double *y, const double *mu, const double *S,
                          sg_tilt *out)
{
    out->logz = solve_row(self, y, mu, S, out->d1, out->d2);
    for (int i = 0; i < self->w * self->w; i++) out->d2[i] = -out->d2[i];
}

static void mvnormal_tilt_dpar(const sg_lik *self, const double *y, const double *mu,
                               const double *S, double *dpar)
{
    const int w = self->w;
    double L[SG_BLOCK_SIZE], d1[SG_LIK_MAX_WIDTH], G[SG_BLOCK_SIZE], dL[SG_BLOCK_SIZE];
    factor_of(self, L);
    solve_row(self, y, mu, S, d1, G);
    for (int j = 0; j < w; j++) {
        for (int i = 0; i < w; i++) G[i + w * j] = d1[i] * d1[j] - G[i + w * j];
    }
    sg_block_multiply(w, G, L, dL);
    for (int j = 0; j < w; j++) {
        for (int i = j; i < w; i++) *dpar++ += dL[i + w * j] * (i == j ? L[i + w * j] : 1);
    }
}

static void mvnormal_predict(const sg_lik *self, const double *mu, const double *S, double *mean,
                             double *var)
{
    for (int i = 0; i < self->w; i++) mean[i] = mu[i];
    total_covariance(self, S, var);
}

static void mvnormal_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    mvnormal_predict(self, f, 0, mean, var);
}

static void mvnormal_site(const sg_lik *self, const double *y, double *tau, double *nu)
{
    double L[SG_BLOCK_SIZE];
    factor_of(self, L);
    sg_block_inverse(self->w, L, tau);
    sg_block_mv(self->w, tau, y, nu);
}

const sg_lik_type sg_lik_mvnormal = {
    .name = "mvnormal",
    .par = {"root"},
    .logp = mvnormal_logp, .moments = mvnormal_moments, .site = mvnormal_site,
    .tilt = mvnormal_tilt, .tilt_dpar = mvnormal_tilt_dpar, .predict = mvnormal_predict
};
