/* block.h: algebra of the small symmetric blocks of sites that see w latent values at once, w up to
 * SG_BLOCK_MAX. Blocks are w x w, column-major, both triangles. Covariances S may be singular: none
 * is ever inverted. What has to hold for a distribution to exist is judged by the eigenvalues of
 * symmetric matrices, as a determinant may be positive where two of them are not. */
#ifndef SG_BLOCK_H
#define SG_BLOCK_H

enum { SG_BLOCK_MAX = 8, SG_BLOCK_SIZE = SG_BLOCK_MAX * SG_BLOCK_MAX };

/* A = U diag(lambda) U', U orthogonal, by Jacobi's rotations. */
void sg_block_eigen(int w, const double *A, double *U, double *lambda);

/* L with L L' = S for a positive semidefinite S; not triangular. */
void sg_block_root(int w, const double *S, double *L);

/* out = A B; out = A x; out is neither operand. */
void sg_block_multiply(int w, const double *A, const double *B, double *out);
void sg_block_mv(int w, const double *A, const double *x, double *out);

/* B[w x columns] = A^{-1} B, A any square matrix; returns 0 where it is singular, or a number is
 * not finite. */
int sg_block_solve(int w, const double *A, int columns, double *B);

/* Site of a tilt at the marginal N(mu, S): T = -(I + d2 S)^{-1} d2, nu = (I + d2 S)^{-1} (d1 - d2
 * mu) (formulas 81-83 for blocks). Returns 0, and writes nothing, unless all eigenvalues of
 * I + L'd2 L are positive, S = LL': there is no such site. */
int sg_block_site(int w, const double *mu, const double *S, const double *d1, const double *d2,
                  double *T, double *nu);

/* The marginal N(m, S) without its site: G = I - S T, cov = G^{-1} S, mean = m - cov (nu - T m)
 * (formulas 78-79), log_det = log|G|. Returns 0 unless the eigenvalues of I - L'T L are positive. */
int sg_block_cavity(int w, const double *m, const double *S, const double *T, const double *nu,
                    double *mean, double *cov, double *log_det);

/* d2 without what would widen N(., S): the eigenvalues of L'd2 L above 0 become 0. */
void sg_block_narrow(int w, const double *S, double *d2);

/* T without its negative eigenvalues. */
void sg_block_clip(int w, double *T);

/* Both KL divergences of a step (thesis 3.16): kl[0] new against old, kl[1] old against new. */
void sg_block_step_kl(int w, const double *S, const double *d1, const double *d2, double kl[2]);

/* A site exp(-f'T f / 2 + nu'f) on f = u + offset + residual, residual ~ N(0, gamma), as one on u:
 * (I + T gamma)^{-1} T and (I + T gamma)^{-1} (nu - T offset), in place. gamma NULL: 0. T >= 0. */
void sg_block_soften(int w, const double *offset, const double *gamma, double *T, double *nu);

/* sqrt(x'S x) and the Frobenius norm of L'B L, S = LL'. */
double sg_block_norm(int w, const double *S, const double *x);
double sg_block_size(int w, const double *S, const double *B);

#endif
