/* full_factor.h: the dense matrix of full EP, and what is read off its factor.
 *
 * The dense matrix is B = I + T^1/2 K T^1/2 = A'A (formulas 74, 84 without an inverse of K): K may
 * be singular and is never inverted or jittered. Sites of negative precision (likelihoods that are
 * not log-concave) turn it into B = S + |T|^1/2 K |T|^1/2 = A'SA, S = diag(1 .. 1, -1 .. -1), the
 * rows in an order in which these sites stand last; all else is as it was:
 *   Sigma = K - K W K,   W = |T|^1/2 B^{-1} |T|^1/2,   B^{-1} = A^{-1} S A^{-T}. */
#ifndef SG_FULL_FACTOR_H
#define SG_FULL_FACTOR_H

#include "types.h"

/* The coefficients of a linear mean, where it has one (full_trend.h). */
typedef struct sg_full_trend sg_full_trend;
enum { SG_TREND_MAX = 64 }; /* of them */

/* The factored posterior at the rows, process by process; N = n w latent values each, C N^2 doubles
 * in A. With w > 1 all of it is in coordinates turned by the eigenvectors of the rows' sites,
 * T_i = U_i diag(tau) U_i', in which sites are scalar. */
typedef struct {
    double *Ainv; /* C times N x N: A^{-1}, upper; strict lower triangle undefined */
    double *rt;   /* N x C: sqrt|tau|, in the order of A */
    int *order;   /* N x C: the row of K that each row of A belongs to, from 0 */
    int *plain;   /* C: the sites that stand first, of no negative precision */
    double *turn; /* C n blocks: U_i; NULL with w = 1 */
    sg_full_trend *trend; /* C of them; NULL: the mean is known */
} sg_full_factor;

/* A and trend are the caller's. */
sg_full_factor sg_full_factor_new(sg_layout layout, double *A, sg_full_trend *trend,
                                  const sg_ws *ws);
sg_full_factor sg_full_factor_of(const sg_full_factor *factor, sg_layout layout, int c);

/* out[N] = diag(U_i) x, or with trans diag(U_i') x; x and out may be the same. */
void sg_full_turn(const sg_full_factor *factor, sg_layout layout, int trans, const double *x,
                  double *out);

/* K = U'K U of K[N x N]. O(N^2 w) */
void sg_full_turn_gram(const sg_full_factor *factor, sg_layout layout, double *K);

/* Covariance blocks of all rows: out_i = U_i (turned block) U_i', for turned K, tau and g. O(N^2 w)
 * and O(N^2 w) more for every row that has a value whose site is weak. */
void sg_full_blocks(const sg_full_factor *factor, sg_layout layout, const double *K,
                    const double *tau, const double *g, double *out, const sg_ws *ws);

/* The order of the factor and rt, from sites tau[n]: those of negative precision stand last. */
void sg_full_arrange(int n, const double *tau, sg_full_factor *f);

/* With A^{-1} in hand: out = W x (work[n], neither x nor out); V[n x width] = A^{-T} |T|^1/2 K for
 * the columns of K listed; g = diag(S B^{-1}) (work[n]). O(n^2), O(n^2 width), O(n^2). */
void sg_full_apply_W(int n, const sg_full_factor *f, const double *x, double *out, double *work);
void sg_full_columns(int n, const double *K, const sg_full_factor *f, int width, const int *rows,
                     double *V);
void sg_full_shares(int n, const sg_full_factor *f, double *g, double *work);

/* The stored form (posterior.h) of one process: G in place of its factor, and H where it has sites
 * of negative precision (H NULL: it has none); both N x N upper, zero below. Rows of both are in
 * the order of the factor, or with w > 1 in that of the rows. O(N^2), with w > 1 O(N^3). */
void sg_full_stored(sg_layout layout, sg_full_factor *factor, double *H, const sg_ws *ws);

#endif
