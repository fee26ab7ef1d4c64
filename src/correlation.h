/* correlation.h: covariances of a few components by parameters that are free of each other.
 *
 * Sigma = LL', L lower with zeros above, of w components (w <= SG_BLOCK_MAX): component i has the
 * variance exp(theta_i), and any two of them, j < i, the correlation z_ij = tanh(theta_ij / 2)
 * given those before j:
 *
 *   L_ij = sd_i z_ij q_ij,  L_ii = sd_i q_ii,  q_i1 = 1,  q_i,j+1 = q_ij sqrt(1 - z_ij^2)
 *
 * so every theta gives a covariance. Of a smaller rank r only pairs with j <= r have a
 * correlation, and Sigma is of r columns and a diagonal; r = 0: independent components. theta: w
 * log variances, then pairs (1, 2), (1, 3), .., (1, w), (2, 3), .. */
#ifndef SG_CORRELATION_H
#define SG_CORRELATION_H

/* How many parameters there are. */
int sg_correlation_npar(int w, int rank);

/* L[w x w] */
void sg_correlation_factor(int w, int rank, const double *theta, double *L);

/* Adds sum_ij dL_ij dL_ij/dtheta to dtheta, over the lower triangle. */
void sg_correlation_adjoint(int w, int rank, const double *theta, const double *L,
                            const double *dL, double *dtheta);

/* out[w x w] = LL' */
void sg_correlation_product(int w, const double *L, double *out);

#endif
