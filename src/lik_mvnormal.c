/* lik_mvnormal.c: w responses at once, y ~ N(f, Sigma). y: the w responses, NaN where one is not
 * there. The length of theta determines how Sigma is made: the log variance that all have in
 * common; w log variances; or these and correlations, as correlation.h has them.
 *
 * Exact: with A = S + Sigma and r = y - mu, both of the responses that are there,
 *   log Z = -(w log 2 pi + log|A| + r'A^{-1}r) / 2,  d1 = A^{-1}r,  d2 = -A^{-1},
 *   dlogZ/dSigma = (d1 d1' - A^{-1}) / 2, hence dlogZ/dL = (d1 d1' - A^{-1}) L,
 * all 0 at the others, and the site is that of the response: T = Sigma^{-1}, nu = T y. A new
 * response is N(f, Sigma). */
#include <math.h>
#include <Rmath.h>
#include "block.h"
#include "correlation.h"
#include "lik.h"

/* Has one variance, or one for each component, or these and correlations of all pairs. */
static int mvnormal_valid(const sg_lik *self)
{
    return self->npar == 1 || self->npar == self->w ||
        self->npar == sg_correlation_npar(self->w, self->w - 1);
}

/* Is there one variance for all components? For w = 1 there is no difference. */
static int is_spherical(const sg_lik *self)
{
    return self->npar == 1;
}

/* Returns the rank of the correlations in theta: all pairs, or 0. */
static int rank_of(const sg_lik *self)
{
    return self->npar > self->w ? self->w - 1 : 0;
}

/* Computes L of Sigma = LL', zeros above the diagonal; all[w]: scratch for the repeated
 * variance. */
static void factor_of(const sg_lik *self, double *all, double *L)
{
    const double *theta = self->theta;
    if (is_spherical(self)) {
        sg_fill(self->w, self->theta[0], all);
        theta = all;
    }
    sg_correlation_factor(self->w, rank_of(self), theta, L);
}

/* Computes A = S + Sigma, w x w; S may be NULL, for zero. O(w^3). */
static void total_covariance(const sg_lik *self, const double *S, double *A)
{
    const int w = self->w;
    double all[SG_LIK_MAX_WIDTH], L[SG_BLOCK_SIZE];
    factor_of(self, all, L);
    sg_correlation_product(w, L, A);
    for (int i = 0; S && i < w * w; i++) A[i] += S[i];
}

/* Lists the responses that are not missing in at[]; returns their number m. */
static int responses_of(const sg_lik *self, const double *y, int *at)
{
    int m = 0;
    for (int i = 0; i < self->w; i++) {
        if (!isnan(y[i])) at[m++] = i;
    }
    return m;
}

/* Fills out[w x w] with few[m x m] at the responses that are present, 0 at the others. O(w^2). */
static void spread_block(int w, int m, const int *at, const double *few, double *out)
{
    sg_zero(w * w, out);
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < m; i++) out[at[i] + w * at[j]] = few[i + m * j];
    }
}

/* Computes the lower factor of S + Sigma at m responses: marginals of a Gaussian are
 * submatrices. */
static void factor_at(const sg_lik *self, int m, const int *at, const double *S, double *L)
{
    double A[SG_BLOCK_SIZE], few[SG_BLOCK_SIZE];
    total_covariance(self, S, A);
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < m; i++) few[i + m * j] = A[at[i] + self->w * at[j]];
    }
    if (!sg_block_cholesky(m, few, L)) {
        sg_fill(m * m, NAN, L); /* S is no covariance */
    }
}

/* Computes d1[w] = A^{-1} (y - mu), and A^{-1} unless NULL; returns log Z. Entries of missing
 * responses are 0, as these leave the marginal as it was. O(m^3). */
static double solve_row(const sg_lik *self, const double *y, const double *mu, const double *S,
                        double *d1, double *inverse)
{
    int at[SG_LIK_MAX_WIDTH];
    const int w = self->w, m = responses_of(self, y, at);
    double L[SG_BLOCK_SIZE], few[SG_BLOCK_SIZE], r[SG_LIK_MAX_WIDTH];
    double logz = -m * M_LN_SQRT_2PI;
    factor_at(self, m, at, S, L);
    for (int i = 0; i < m; i++) r[i] = y[at[i]] - mu[at[i]];
    sg_block_forward(m, L, r);
    for (int i = 0; i < m; i++) logz -= log(L[i + m * i]) + 0.5 * r[i] * r[i];
    sg_block_backward(m, L, r);
    sg_zero(w, d1);
    for (int i = 0; i < m; i++) d1[at[i]] = r[i];
    if (inverse) {
        sg_block_inverse(m, L, few);
        spread_block(w, m, at, few, inverse);
    }
    return logz;
}

/* Returns log N(y; f, Sigma) of the responses present: log Z at S = 0. */
static double mvnormal_logp(const sg_lik *self, const double *y, const double *f)
{
    double d1[SG_LIK_MAX_WIDTH];
    return solve_row(self, y, f, 0, d1, 0);
}

/* Computes log Z, d1 and d2 = -A^{-1}. */
static void mvnormal_tilt(const sg_lik *self, const double *y, const double *mu, const double *S,
                          sg_tilt *out)
{
    out->logz = solve_row(self, y, mu, S, out->d1, out->d2);
    for (int i = 0; i < self->w * self->w; i++) out->d2[i] = -out->d2[i];
}

/* Adds dlogZ/dtheta: dL = (d1 d1' - A^{-1}) L goes through the adjoint of the factor; one common
 * variance gets the sum over the components. O(w^3). */
static void mvnormal_tilt_dpar(const sg_lik *self, const double *y, const double *mu,
                               const double *S, double *dpar)
{
    const int w = self->w;
    double all[SG_LIK_MAX_WIDTH], sums[SG_LIK_MAX_WIDTH] = {0};
    double L[SG_BLOCK_SIZE], d1[SG_LIK_MAX_WIDTH], G[SG_BLOCK_SIZE], dL[SG_BLOCK_SIZE];
    factor_of(self, all, L);
    solve_row(self, y, mu, S, d1, G);
    for (int j = 0; j < w; j++) {
        for (int i = 0; i < w; i++) G[i + w * j] = d1[i] * d1[j] - G[i + w * j];
    }
    sg_block_multiply(w, G, L, dL);
    if (!is_spherical(self)) {
        sg_correlation_adjoint(w, rank_of(self), self->theta, L, dL, dpar);
        return;
    }
    sg_correlation_adjoint(w, 0, all, L, dL, sums);
    for (int i = 0; i < w; i++) *dpar += sums[i];
}

/* Computes the moments of a new vector, mu and S + Sigma. */
static void mvnormal_predict(const sg_lik *self, const double *mu, const double *S, double *mean,
                             double *var)
{
    sg_copy(self->w, mu, mean);
    total_covariance(self, S, var);
}

/* Computes the moments of a new vector given f, which are those at S = 0. */
static void mvnormal_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    mvnormal_predict(self, f, 0, mean, var);
}

/* Writes the exact site, T = Sigma^{-1} of the responses present and nu = T y. */
static void mvnormal_site(const sg_lik *self, const double *y, double *tau, double *nu)
{
    int at[SG_LIK_MAX_WIDTH];
    const int w = self->w, m = responses_of(self, y, at);
    double L[SG_BLOCK_SIZE], few[SG_BLOCK_SIZE], there[SG_LIK_MAX_WIDTH];
    factor_at(self, m, at, 0, L);
    sg_block_inverse(m, L, few);
    spread_block(w, m, at, few, tau);
    for (int i = 0; i < w; i++) there[i] = isnan(y[i]) ? 0 : y[i];
    sg_block_mv(w, tau, there, nu);
}

const sg_lik_type sg_lik_mvnormal = {
    .name = "mvnormal", .valid = mvnormal_valid,
    .par = {"noise", "correlation"},
    .logp = mvnormal_logp, .moments = mvnormal_moments, .site = mvnormal_site,
    .tilt = mvnormal_tilt, .tilt_dpar = mvnormal_tilt_dpar, .predict = mvnormal_predict
};
