/* block.h: algebra of w x w blocks, w the latent values that a site sees at once (w <= 8).
 *
 * Blocks are column-major and contiguous; a symmetric one is given and returned whole. Nothing is
 * allocated. Outputs may not overlap inputs. With w = 1 callers do without these. Cost: O(w^3), and
 * some ten times w^3 where eigenvalues are had.
 *
 * All of it is done in the frame that the covariance S = LL' whitens: S may be
 * singular, L then has columns of zeros, and neither L nor S nor anything else is inverted that is
 * not I + something. */
#ifndef SG_BLOCK_H
#define SG_BLOCK_H

enum { SG_BLOCK_MAX = 8, SG_BLOCK_SIZE = SG_BLOCK_MAX * SG_BLOCK_MAX }; /* of w, and of w w */

/* out = A x;  out = A B */
void sg_block_mv(int w, const double *A, const double *x, double *out);
void sg_block_multiply(int w, const double *A, const double *B, double *out);

/* A = LL', L lower with zeros above. Returns 0 when A is not positive definite. */
int sg_block_cholesky(int w, const double *A, double *L);

/* x := L^{-1} x and x := L^{-T} x of a lower L */
void sg_block_forward(int w, const double *L, double *x);
void sg_block_backward(int w, const double *L, double *x);

/* A^{-1} from L of A = LL' */
void sg_block_inverse(int w, const double *L, double *inverse);

/* A = U diag(lambda) U' of a symmetric A, U orthogonal, lambda ascending. Jacobi rotations: small
 * eigenvalues keep the digits that A has of them. */
void sg_block_eigen(int w, const double *A, double *U, double *lambda);

/* S = LL' of a semidefinite S, by Cholesky with pivots: L is lower but for the order of its rows,
 * and has a column of zeros for every dimension that S lacks. */
void sg_block_root(int w, const double *S, double *L);

/* Site of a tilt (d1, d2) at the cavity N(mu, S):
 *   T = -(I + d2 S)^{-1} d2,   nu = (I + d2 S)^{-1} (d1 - d2 mu)
 * Returns 0, and writes nothing, unless all eigenvalues of I + d2 S are positive and all numbers
 * are finite: then there is no such site. */
int sg_block_site(int w, const double *mu, const double *S, const double *d1, const double *d2,
                  double *T, double *nu);

/* The cavity that is left of N(m, S) without the site (T, nu): with G = I - S T,
 *   cov = G^{-1} S,   mean = m - cov a,   a = nu - T m,   *log_det_G = log|G|
 * Returns 0, and writes nothing, unless all eigenvalues of G are positive. */
int sg_block_cavity(int w, const double *m, const double *S, const double *T, const double *nu,
                    double *mean, double *cov, double *log_det_G);

/* d2 without what would widen N(., S): eigenvalues of L'd2 L above 0 become 0, so the tilt only
 * shifts the marginal along their directions. */
void sg_block_clip_tilt(int w, const double *S, double *d2);

/* Both KL divergences of a step (d1, d2) along N(., S) (thesis 3.16): kl[0] new against old, kl[1]
 * old against new. NaN where I + d2 S has an eigenvalue that is not positive. */
void sg_block_step_kl(int w, const double *S, const double *d1, const double *d2, double kl[2]);

/* T without its negative eigenvalues. */
void sg_block_clip(int w, double *T);

/* A site exp(-f'T f / 2 + nu'f) on f = u + offset + residual, residual ~ N(0, gamma), as one on u:
 * (I + T gamma)^{-1} T and (I + T gamma)^{-1} (nu - T offset), in place. gamma NULL: 0. T may have
 * negative eigenvalues if I + T gamma has none. */
void sg_block_soften(int w, const double *offset, const double *gamma, double *T, double *nu);

/* sqrt(x'S x) and the Frobenius norm of L'B L, S = LL'. */
double sg_block_norm(int w, const double *S, const double *x);
double sg_block_size(int w, const double *S, const double *B);

#endif
