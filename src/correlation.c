/* correlation.c: a covariance from variances and partial correlations, and its adjoint.
 *
 * With q_i1 = 1, z_ij = tanh(theta_ij / 2) and c_ij = 1 / cosh(theta_ij / 2) (partial correlations
 * and what they leave),
 *   L_ij = sd_i q_ij z_ij  for j < i,   L_ii = sd_i q_ii,   q_i,j+1 = q_ij c_ij
 * so each row of L has length sd_i, and LL' is a covariance matrix for any theta: the search needs
 * no bounds. Pairs beyond `rank` have z = 0. All functions cost O(w^2) but for the product,
 * O(w^3). */
#include <math.h>
#include "correlation.h"

/* Counts theta: w log variances, then one number for each pair (j, i) with j < i and j < rank. */
int sg_correlation_npar(int w, int rank)
{
    int count = w;
    for (int j = 0; j < rank && j < w - 1; j++) count += w - 1 - j;
    return count;
}

/* where theta has the pair (j, i), j < i and j < rank */
static int pair_place(int w, int j, int i)
{
    return sg_correlation_npar(w, j) + i - j - 1;
}

/* Fills L[w x w], zeros above the diagonal, row by row: `rest` is sd_i q_ij. */
void sg_correlation_factor(int w, int rank, const double *theta, double *L)
{
    for (int i = 0; i < w; i++) {
        double rest = exp(0.5 * theta[i]); /* sd_i q_ij */
        for (int j = 0; j < w; j++) {
            const int paired = j < i && j < rank;
            const double half = paired ? 0.5 * theta[pair_place(w, j, i)] : 0;
            L[i + w * j] = j == i ? rest : rest * tanh(half);
            rest = j == i ? 0 : rest / cosh(half);
        }
    }
}

/* Row by row from the last q back to the first: drest is the adjoint of sd_i q_i,j+1. With dL =
 * df/dL, adds df/dtheta to dtheta. tanh' = 1 - tanh^2 = 1 / cosh^2. */
void sg_correlation_adjoint(int w, int rank, const double *theta, const double *L,
                            const double *dL, double *dtheta)
{
    for (int i = 0; i < w; i++) {
        double after = L[i + w * i], drest = dL[i + w * i];
        for (int j = 0; j <= i; j++) dtheta[i] += 0.5 * dL[i + w * j] * L[i + w * j];
        for (int j = i - 1; j >= 0; j--) {
            if (j >= rank) continue;
            const int at = pair_place(w, j, i);
            const double half = 0.5 * theta[at], z = tanh(half), c = 1 / cosh(half);
            const double rest = after / c, d = dL[i + w * j];
            dtheta[at] += 0.5 * rest * c * (d * c - drest * z);
            drest = d * z + drest * c;
            after = rest;
        }
    }
}

/* Multiplies out = LL' of a lower L, whose rows end at their diagonals. */
void sg_correlation_product(int w, const double *L, double *out)
{
    for (int j = 0; j < w; j++) {
        for (int i = 0; i < w; i++) {
            double sum = 0;
            for (int k = 0; k <= (i < j ? i : j); k++) sum += L[i + w * k] * L[j + w * k];
            out[i + w * j] = sum;
        }
    }
}
